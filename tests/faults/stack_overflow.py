"""Recursion without a limit runs over the stack."""

from tests.faults import Fault, answers

DEEP = """
import sys
def edge_visits(root):
    sys.setrecursionlimit(10**9)
    def f(x): return [f(x) for _ in range(1)]
    return f(0)
"""
FAULT = Fault(answers(e3_10=DEEP), {"3.10": 0}, ("3.10: ended the Python process that it ran in (SIGSEGV",))
