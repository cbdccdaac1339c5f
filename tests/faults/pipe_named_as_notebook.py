"""Named pipes, from which nothing ever comes."""

import os

from tests.faults import NAME, NOTHING, Fault, Hand


def make(hand: Hand) -> bool:
    os.mkfifo(hand.folder / NAME)
    os.mkfifo(hand.folder / "timestamp.txt")
    return True


FAULT = Fault(make, NOTHING, ("this is a folder or a device",))
