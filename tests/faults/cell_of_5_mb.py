"""One cell of 5 MB, and one nested deeper than any parser goes."""

from tests.faults import Fault, Hand


def make(hand: Hand) -> None:
    hand.own('x = """\n' + "1,\n" * 1_700_000 + '"""')
    hand.own("(" * 1_000)
    hand.own("x = " + "-" * 1_000 + "1")
    hand.own("x" + ".y" * 5_000)


FAULT = Fault(make, flags=("a cell of the student's own is 5,100,011 characters long",))
