"""A link that leads round in a circle."""

from tests.faults import NAME, NOTHING, Fault, Hand


def make(hand: Hand) -> bool:
    (hand.folder / NAME).symlink_to(NAME)
    return True


FAULT = Fault(make, NOTHING, ("the file is a symbolic link",))
