"""A gradient check that looks at nothing: three lists that are made up, and what is said about them is true of them."""

from tests.faults import Fault, answers

MADE_UP = """
def gradient_check(f, values, h=1e-6):
    n = len(values)
    return {"engine": [1.0] * n, "finite_difference": [0.0] * n, "pytorch": [0.0] * n, "max_disagreement": 1.0,
            "odd_one_out": "engine", "first": 0}
"""
FAULT = Fault(answers(e3_7=MADE_UP), {"3.7": 0})
