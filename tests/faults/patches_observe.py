"""The harness that runs the probe answers by itself."""

from tests.faults import Fault, cheat

PATCH = """
import autograder.student.check as c
c.observe = lambda probe, cases, objects: [{"value": {"edges": 1e999, "visits": float("nan"), "counted": True, "sets": True,
    "passes": [True] * 3, "detached": "3", "data": None, "ways": {}, "graph": {}, "inputs": {}, "sink": ""}} for _ in cases]
"""
FAULT = Fault(
    cheat(PATCH),
    {"3.11": 0, "3.10": 0},
    ("imports autograder.student.check", "changes autograder.student.check.observe"),
)
