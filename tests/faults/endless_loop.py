"""A function that never comes back costs its own exercise."""

from tests.faults import Fault, answers

FAULT = Fault(
    answers(e3_10="def edge_visits(root):\n    while True: pass"),
    {"3.10": 0},
    ("3.10: timed out after 4 s",),
    {"3.10": "the check timed out after 4 s"},
)
