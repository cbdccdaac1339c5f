"""SIGKILL to itself in an answer."""

from tests.faults import Fault, answers

FAULT = Fault(
    answers(e3_10="import os\ndef edge_visits(root):\n    os.kill(os.getpid(), 9)"),
    {"3.10": 0},
    ("3.10: ended the Python process that it ran in (SIGKILL: Killed)",),
)
