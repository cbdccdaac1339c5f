"""A time stamp that is a sparse file of 10 GB."""

from tests.faults import Fault, Hand


def make(hand: Hand) -> None:
    with open(hand.folder / "timestamp.txt", "wb") as file:
        file.truncate(10 << 30)


FAULT = Fault(make)
