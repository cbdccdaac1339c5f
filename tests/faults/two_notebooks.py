"""The right name counts, whatever lies beside it."""

from tests.faults import Fault, Hand


def make(hand: Hand) -> None:
    hand.write(b"{}", "reverse_mode-Copy1.ipynb")
    hand.write(b"x", "notes.txt")


FAULT = Fault(make)
