"""Recursion without a limit runs over the stack."""

from tests.faults import Fault, answers

DEEP = """
import sys
def edge_visits(root):
    sys.setrecursionlimit(10**9)
    class Deep:
        def __repr__(self): return repr(self)
    return repr(Deep()), 1
"""
FAULT = Fault(answers(e3_10=DEEP), {"3.10": 0}, ("3.10: ended the Python process that it ran in (SIGSEGV",))
