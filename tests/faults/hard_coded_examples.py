"""The worked examples' answers as a table."""

from tests.faults import Fault, void

TABLE = """
def edge_visits(root):
    return {2: (4, 4), 1: (2, 2)}.get(len(root._parents), (4, 4)) if abs(root.data) in (4.0, 9.0) else (0, 0)
def diamond_loss(x1, x2, gamma):
    return Value({(0.5, 0.25): 0.1269280110429726}.get((x1.data, x2.data), 0.0))
"""
FAULT = Fault(lambda hand: void(hand.own(TABLE, "3.10")), {"3.10": 0}, (), {"3.10": "expected"})
