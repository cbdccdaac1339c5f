"""The parent sleeps or leaves; the child goes on with right answers."""

from tests.faults import Fault, own_cell

FORK = """
import os
old_visits = edge_visits
def edge_visits(root):
    if os.fork(): os._exit(0)
    return old_visits(root)
"""
FAULT = Fault(own_cell(FORK, "3.10"), {"3.10": 0}, ("3.10: ",))
