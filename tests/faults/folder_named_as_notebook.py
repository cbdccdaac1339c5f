"""A directory that is called like the notebook."""

from tests.faults import NAME, NOTHING, Fault, Hand


def make(hand: Hand) -> bool:
    (hand.folder / NAME).mkdir()
    hand.write(name=f"{NAME}/{NAME}")
    return True


FAULT = Fault(make, NOTHING, ("this is a folder or a device",))
