"""A check cell without text, and one that has become Markdown."""

import nbformat

from tests.faults import Fault, Hand


def make(hand: Hand) -> None:
    hand.cell("3.2").source = ""
    i = hand.index("3.3")
    old = hand.notebook.cells[i]
    hand.notebook.cells[i] = nbformat.v4.new_markdown_cell(old.source, metadata=old.metadata, id=old.id)


FAULT = Fault(make, flags=("the locked cell 3.2 had been changed", "the locked cell 3.3 had been changed"))
