"""100,000 nodes in an answer that is a graph."""

from tests.faults import Fault, answers

BIG = """
def smallest_counterexample():
    return {f"n{k}": Node("input") for k in range(100_000)}, {f"n{k}": 1.0 for k in range(100_000)}, "n0"
"""
FAULT = Fault(answers(e3_8=BIG), {"3.8": 0}, ("3.8: ",))
