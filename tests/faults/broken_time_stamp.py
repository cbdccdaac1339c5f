"""A time stamp that is no time."""

from tests.faults import Fault, Hand


def make(hand: Hand) -> None:
    (hand.folder / "timestamp.txt").write_bytes(b"\xff\xfe9999-99-99 99:99 !" * 20)


FAULT = Fault(make)
