"""Every cell of the student's is empty."""

from tests.faults import NOTHING, Fault, Hand


def make(hand: Hand) -> None:
    for cell in hand.notebook.cells:
        cell.source = ""


FAULT = Fault(make, NOTHING, ("locked cells had been changed and were restored",))
