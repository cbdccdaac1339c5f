"""60 MB, most of it zeros."""

from tests.faults import NAME, NOTHING, Fault, Hand


def make(hand: Hand) -> bool:
    with open(hand.folder / NAME, "wb") as file:
        file.truncate(60_000_000)
    return True


FAULT = Fault(make, NOTHING, ("the file is larger than 50 MB",))
