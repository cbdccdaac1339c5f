"""`grade`, `check` and what they stand on, replaced in the module."""

from tests.faults import Fault, cheat

PATCH = """
import autograder.student as s
s.grade = s.check = lambda *a, **k: 99.0
"""
FAULT = Fault(
    cheat(PATCH),
    {"3.11": 0, "3.10": 0, "3.12": 0},
    (
        "changes autograder.student.check",
        "changes autograder.student.grade",
        "3.10: no evidence was handed in",
        "3.12: no evidence was handed in",
    ),
)
