"""Answers of words without end."""

from tests.faults import Fault, answers

CHECK = """
def gradient_check(f, values, h=1e-6):
    n = len(values)
    return {"engine": [0.0] * n, "finite_difference": [0.0] * n, "pytorch": [0.0] * n, "max_disagreement": 0.0,
            "odd_one_out": "<b>" * 10_000, "first": None}
"""
SMALLEST = """
def smallest_counterexample():
    n = "x" * 100_000
    return {n: Node("input"), "y": Node("+", (n, n))}, {n: 1.0}, "y" * 100_000
"""
FAULT = Fault(answers(e3_7=CHECK, e3_8=SMALLEST), {"3.7": 0, "3.8": 0})
