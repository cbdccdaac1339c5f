"""The whole folder is a link to another student's."""

from tests.faults import NOTHING, Fault, Hand


def make(hand: Hand) -> bool:
    hand.folder.rmdir()
    hand.folder.symlink_to(f"../m-good/{hand.folder.name}")
    return True


FAULT = Fault(make, NOTHING, ("the folder is a symbolic link",))
