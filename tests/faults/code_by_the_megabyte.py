"""More code than anybody writes, in cells that are each short enough to be looked at."""

from tests.faults import Fault, Hand


def make(hand: Hand) -> None:
    for k in range(20):
        hand.own(f"x{k} = '" + "1" * 90_000 + "'", "3.12-solution")


FAULT = Fault(make, flags=("the student's code is longer than 300,000 characters; the rest was not looked at",))
