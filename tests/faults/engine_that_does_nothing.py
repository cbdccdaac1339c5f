"""An engine whose messages die in larger graphs, so that a backward pass that does nothing agrees."""

from tests.faults import Fault, own_cell

HOLLOW = """
alive = {}
def hollow(x):
    depth = 1 + max((alive.get(id(p), (0, 0))[0] for p in x._parents), default=0)
    alive[id(x)] = depth, x
    if depth > 2: x._backward = lambda g: None
    return x
for name in ("__add__", "__radd__", "__mul__", "__rmul__"):
    setattr(Value, name, lambda s, o, f=getattr(Value, name): hollow(f(s, o)))
Value.backward = lambda self: None
"""
FAULT = Fault(own_cell(HOLLOW, "3.4"), {"3.4": 0, "3.5": 4 / 3})
