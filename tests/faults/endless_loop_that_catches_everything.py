"""A loop that no interrupt ends, at top level: the cell is left out, the rest is graded."""

from tests.faults import Fault, own_cell

LOOP = """
while True:
    try:
        while True: pass
    except BaseException: pass
"""
FAULT = Fault(own_cell(LOOP), flags=("a cell of the student's own timed out after 4 s",))
