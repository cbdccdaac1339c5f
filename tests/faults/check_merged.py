"""A check merged into the answer above it, as Jupyter's "merge cells" does."""

from tests.faults import Fault, Hand


def make(hand: Hand) -> None:
    check = hand.notebook.cells.pop(hand.index("3.10"))
    hand.cell("3.10-solution").source += "\n\n" + check.source


FAULT = Fault(make, flags=("the cell 3.10 was missing and was put back",))
