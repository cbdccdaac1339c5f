"""10,000 cells of the student's own."""

import nbformat

from tests.faults import Fault, Hand


def make(hand: Hand) -> None:
    hand.notebook.cells[3:3] = [nbformat.v4.new_markdown_cell("x") for _ in range(9_000)] + [
        nbformat.v4.new_code_cell("x = 1") for _ in range(1_000)
    ]


FAULT = Fault(make)
