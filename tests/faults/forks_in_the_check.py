"""The child answers, the parent too."""

from tests.faults import Fault, answers

FORK = """
import os
def edge_visits(root):
    os.fork()
    return 1, 1
"""
FAULT = Fault(answers(e3_10=FORK), {"3.10": 0})
