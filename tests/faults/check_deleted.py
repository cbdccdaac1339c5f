"""A check cell is gone: it is put back at its place."""

from tests.faults import Fault, Hand


def make(hand: Hand) -> None:
    del hand.notebook.cells[hand.index("3.2")]


FAULT = Fault(make, flags=("the cell 3.2 was missing and was put back",))
