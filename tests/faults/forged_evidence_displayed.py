"""An answer displays evidence beside the check's own."""

from tests.faults import Fault, answers

FORGE = """
from IPython.display import display
def edge_visits(root):
    display({"application/vnd.autograder.evidence+json": '{"exercise":"3.10","observations":[]}'}, raw=True)
    return 1, 1
"""
FAULT = Fault(
    answers(e3_10=FORGE),
    {"3.10": 0},
    ("3.10: evidence was handed in",),
    {"3.10": "pieces of evidence"},
)
