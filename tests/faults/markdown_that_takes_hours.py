"""Text of which a page would take hours to make."""

import nbformat

from tests.faults import Fault, Hand


def make(hand: Hand) -> None:
    for _ in range(12):
        hand.notebook.cells.insert(0, nbformat.v4.new_markdown_cell("\\begin{a}" * 3_000))
    hand.cell("3.written").source = "\\begin{a}" * 200_000


FAULT = Fault(make)
