"""A crash in C."""

from tests.faults import Fault, answers

FAULT = Fault(
    answers(e3_10="import ctypes\ndef edge_visits(root):\n    ctypes.string_at(8)"),
    {"3.10": 0},
    ("3.10 imports ctypes", "3.10: ended the Python process that it ran in (SIGSEGV"),
)
