"""Cases of another kind, easier ones, none, or the worked ones only."""

from tests.faults import Fault, cheat

PATCH = """
from autograder.student import channel
take = channel.take
channel.take = lambda exercise: (take(exercise) or [])[:4]
"""
FAULT = Fault(
    cheat(PATCH),
    {"3.11": 0, "3.10": 0},
    ("changes autograder.student.channel.take", "3.10: the evidence does not have one observation per case"),
    {"3.10": "interferes"},
)
