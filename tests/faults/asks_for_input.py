"""`input()` has nobody to ask."""

from tests.faults import Fault, answers

FAULT = Fault(
    answers(e3_10='def edge_visits(root):\n    return int(input("edges? ")), 1'),
    {"3.10": 0},
    (),
    {"3.10": "nobody to ask"},
)
