"""A symbolic link to another student's notebook."""

from tests.faults import NAME, NOTHING, Fault, Hand


def make(hand: Hand) -> bool:
    (hand.folder / NAME).symlink_to(f"../../m-good/{hand.folder.name}/{NAME}")
    (hand.folder / "timestamp.txt").symlink_to("/etc/passwd")
    return True


FAULT = Fault(make, NOTHING, ("the file is a symbolic link",))
