"""Recursion without a limit, in C, runs over the stack."""

from tests.faults import Fault, answers

DEEP = """
import sys
def edge_visits(root):
    sys.setrecursionlimit(10**9)
    x = []
    for _ in range(10**6): x = [x]
    return repr(x), 1
"""
FAULT = Fault(answers(e3_10=DEEP), {"3.10": 0}, ("3.10: ended the Python process that it ran in (SIGSEGV",))
