"""The table of probes."""

from tests.faults import Fault, cheat

PATCH = """
from autograder.student import probes
probes.probe_for = lambda exercise: lambda case, *objects: case
from autograder.student.check import probe_for
import autograder.student.check
autograder.student.check.probe_for = probes.probe_for
"""
FAULT = Fault(
    cheat(PATCH),
    {"3.11": 0, "3.10": 0},
    (
        "imports autograder.student.check",
        "changes autograder.student.check.probe_for",
        "changes autograder.student.probes.probe_for",
    ),
)
