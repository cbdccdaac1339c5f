"""Checks and answers copied and pasted, ids and all; the last answer counts."""

import copy

from tests.faults import WRONG_COUNT, Fault, Hand


def make(hand: Hand) -> None:
    for tag in ("3.10", "3.10-solution", "3.2", "3.written"):
        hand.notebook.cells.insert(hand.index(tag), copy.deepcopy(hand.cell(tag)))
    hand.cell("3.10-solution").source = WRONG_COUNT


FAULT = Fault(
    make,
    flags=(
        "2 cells claim to be 3.2;",
        "2 cells claim to be 3.10-solution; the last one counts",
        "2 cells claim to be 3.10;",
        "2 cells claim to be 3.written",
    ),
)
