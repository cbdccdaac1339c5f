"""Cells of the student's own with the ids of checks, and with the ids that the grader would give."""

import copy

import nbformat

from tests.faults import Fault, Hand


def make(hand: Hand) -> None:
    hand.notebook.cells.insert(0, copy.deepcopy(hand.cell("3.2-solution")))
    hand.notebook.cells[0].id, hand.notebook.cells[0].source = "3_1", "x = 1"
    for k in range(160):
        hand.notebook.cells.insert(0, nbformat.v4.new_code_cell("y = 2", id=f"own-{k}"))
    hand.own("kept = 1", id="autograder-notes")


FAULT = Fault(make, flags=("2 cells claim to be 3.2-solution; the last one counts",))
