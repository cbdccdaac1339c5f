"""One cell of 5 MB, and one nested deeper than any parser goes."""

from tests.faults import Fault, Hand


def make(hand: Hand) -> None:
    hand.own('x = "' + "1" * 5_000_000 + '"')
    hand.own("(" * 1_000)
    hand.own("x = " + "-" * 1_000 + "1")
    hand.own("x" + ".y" * 5_000)


FAULT = Fault(make, flags=("a cell of the student's own is 5,000,006 characters long",))
