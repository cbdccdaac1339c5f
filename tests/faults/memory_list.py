"""A list of 10^10, in a function and at top level."""

from tests.faults import Fault, void

FAULT = Fault(
    lambda hand: void(
        hand.answer("3.10", "def edge_visits(root):\n    return [0] * 10**10, 1"), hand.own("[0] * 10**10")
    ),
    {"3.10": 0},
    ("a cell of the student's own ran out of memory (limit 500 MiB)",),
    {"3.10": "MemoryError"},
)
