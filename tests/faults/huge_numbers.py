"""Integers beyond any float, and numbers beyond any integer."""

from tests.faults import Fault, void

HUGE = """
def edge_visits(root):
    return 10**400, 10**300
def my_prediction():
    return {"passes": [10**5000, 1e308, -1e308], "detached": 2**70}
"""
FAULT = Fault(
    lambda hand: void(hand.own(HUGE, "3.10"), hand.answer("3.11", HUGE)),
    {"3.10": 0, "3.11": 0},
    (),
    {"3.10": "not a number"},
)
