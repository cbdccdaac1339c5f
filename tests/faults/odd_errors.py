"""Errors with surrogates, markup, 10 MB of text, or a text that cannot be had."""

from tests.faults import Fault, void

ODD = """
def edge_visits(root):
    raise type("<img src=x onerror=alert(1)>", (Exception,), {})("\\ud800 <script>alert(1)</script>" + "x" * 10_000_000)
"""
OTHER = """
class Bad(Exception):
    def __str__(self): raise ValueError
def my_prediction():
    raise Bad
"""
FAULT = Fault(
    lambda hand: void(hand.answer("3.10", ODD), hand.answer("3.11", OTHER), hand.own("raise Bad" if 0 else "1/0")),
    {"3.10": 0, "3.11": 0},
    (),
    {"3.10": "raised <img src=x", "3.11": "raised Bad"},
    never=("<img src", "<script>alert"),
)
