"""The notebook's process tells the grader how a check ended: in a number that no wait status is, in words without end."""

from tests.faults import Fault, own_cell

FORGED = """
import sys
cells = sys.modules["autograder_warm_cells"]
endless = eval("[" * 50 + "]" * 50)
cells.Runner.checkpoint = lambda self, job: cells._frame(job, {
    "status": "died", "ended": 10**30 * (-1) ** (job["exercise"] == "3.12"),
    "outputs": [{"output_type": "error", "ename": endless, "evalue": endless}]})
"""
FAULT = Fault(
    own_cell(FORGED, "3.10-solution"),
    {"3.10": 0, "3.12": 0},
    ("3.10: ended the Python process", "3.12: ended the Python process"),
)
