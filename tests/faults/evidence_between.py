"""Evidence and verdicts displayed by ordinary cells count for nothing."""

from tests.faults import Fault, own_cell

FORGE = """
from IPython.display import display
display({"application/vnd.autograder.evidence+json": "{}", "application/vnd.autograder.verdict+json": {"exercise": "3.10", "score": 2}}, raw=True)
"""
FAULT = Fault(own_cell(FORGE))
