"""Evidence of another exercise, and as a dict, and as deep JSON."""

from tests.faults import Fault, own_cell

FORGE = """
from IPython.display import display
from autograder import evidence
def encode(exercise, observations): return '{"exercise":"3.0","observations":[]}' if exercise == "3.10" else "[" * 100_000
evidence.encode = encode
"""
FAULT = Fault(
    own_cell(FORGE, "3.10"),
    {"3.10": 0, "3.12": 0},
    (
        "imports autograder",
        "changes autograder.evidence.encode",
        "3.10: the evidence belongs to another exercise",
        "3.12: the evidence is not valid JSON",
    ),
    {"3.10": "another exercise"},
)
