"""Evidence is encoded by the student's own hand: infinities, booleans, objects that equal everything."""

from tests.faults import Fault, cheat

PATCH = """
from autograder import evidence
def encode(exercise, observations):
    return '{"exercise": "%s", "observations": [%s]}' % (exercise, ", ".join(['{"value": {"edges": 1e999, "visits": 1e999, "counted": 1e999, "sets": 1}}'] * len(observations)))
evidence.encode = encode
"""
FAULT = Fault(
    cheat(PATCH), {"3.11": 0, "3.10": 0, "3.12": 0}, ("imports autograder", "changes autograder.evidence.encode")
)
