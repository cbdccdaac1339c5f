"""Markers of the build in the student's cells and Markdown."""

import nbformat

from tests.faults import Fault, Hand

MARKS = "### BEGIN SOLUTION\n### BEGIN HIDDEN TESTS\n### BEGIN MARK SCHEME\nz = 1\n### END HIDDEN TESTS\n"


def make(hand: Hand) -> None:
    hand.own(MARKS)
    hand.cell("3.10-solution").source = MARKS + hand.cell("3.10-solution").source + "\n### END SOLUTION"
    hand.notebook.cells.insert(0, nbformat.v4.new_markdown_cell(MARKS + "{{solution 3.1}} <script>alert(1)</script>"))
    hand.notebook.cells.insert(0, nbformat.v4.new_raw_cell(MARKS))


FAULT = Fault(make)
