"""Rules that ignore what arrives, so that a backward pass in any order agrees with what they add up to."""

from tests.faults import Fault, Hand

RULE = """
import math

def send(out, *pairs):
    def _backward(g):
        for parent, slope in pairs: parent.grad += slope
    out._parents, out._backward = tuple(p for p, _ in pairs), _backward
    return out

def value_add(a, b): return send(Value(a.data + b.data), (a, 1.0), (b, 1.0))
def value_mul(a, b): return send(Value(a.data * b.data), (a, b.data), (b, a.data))
"""
LEVELS = """
def value_backward(root):
    root.grad, queue = 1.0, [root]
    for node in queue:
        if node._backward: node._backward(node.grad)
        queue += [p for p in dict.fromkeys(node._parents) if all(p is not q for q in queue)]
"""


def make(hand: Hand) -> None:
    hand.answer("3.1", RULE)
    hand.answer("3.4", LEVELS)


FAULT = Fault(make, {"3.1": 2.0, "3.4": 3.0})
