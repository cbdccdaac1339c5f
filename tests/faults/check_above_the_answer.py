"""A check stands above what it checks."""

from tests.faults import Fault, Hand


def make(hand: Hand) -> None:
    check = hand.notebook.cells.pop(hand.index("3.10"))
    hand.notebook.cells.insert(hand.index("3.10-solution"), check)


FAULT = Fault(make, flags=("the check of 3.10 stood above its answer and was moved back",))
