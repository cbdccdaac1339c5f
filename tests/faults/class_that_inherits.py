"""A class that inherits its backward, with a count that never lets a pass run."""

from tests.faults import Fault, Hand

INHERITS = """
class Value(Value):
    pass

def edge_visits(root):
    edges = sum(len(node._parents) for node in topological_order(root))
    return edges, edges
"""


def make(hand: Hand) -> None:
    hand.answer("3.10", INHERITS)


FAULT = Fault(make, {"3.10": 1}, says={"3.10": "never called root.backward()"})
