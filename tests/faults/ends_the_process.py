"""`os._exit(0)` in an answer."""

from tests.faults import Fault, answers

FAULT = Fault(
    answers(e3_10="import os\ndef edge_visits(root):\n    os._exit(0)"),
    {"3.10": 0},
    ("3.10: ended the Python process that it ran in (exit status 0)",),
    {"3.10": "ended the Python process"},
)
