"""A dataclass that compares by identity, with an operation name in each node and one table of rules."""

import math
from dataclasses import dataclass, field

SLOPES = {
    "+": lambda x, y: (1, 1),
    "*": lambda x, y: (x[1], x[0]),
    "neg": lambda x, y: (-1,),
    "exp": lambda x, y: (y,),
    "log": lambda x, y: (1 / x[0],),
    "tanh": lambda x, y: (1 - y**2,),
    "relu": lambda x, y: (1 if x[0] > 0 else 0,),
}


@dataclass(eq=False)
class Value:
    data: float
    grad: float = 0.0
    op: str = ""
    _parents: list = field(default_factory=list, repr=False)
    n: float = 1

    def slopes(self):
        x = [p.data for p in self._parents]
        if self.op == "pow":
            return (self.n * x[0] ** (self.n - 1),)
        return SLOPES[self.op](x, self.data) if self.op else ()

    def __add__(self, other):
        other = wrap(other)
        return Value(self.data + other.data, op="+", _parents=[self, other])

    def __mul__(self, other):
        other = wrap(other)
        return Value(self.data * other.data, op="*", _parents=[self, other])

    def __neg__(self):
        return Value(-self.data, op="neg", _parents=[self])

    def __pow__(self, n):
        return Value(self.data**n, op="pow", _parents=[self], n=n)

    def __sub__(self, other):
        return self + -wrap(other)

    def __truediv__(self, other):
        return self * wrap(other) ** -1

    def __rsub__(self, other):
        return wrap(other) - self

    def __rtruediv__(self, other):
        return wrap(other) / self

    __radd__, __rmul__ = __add__, __mul__

    def tanh(self):
        return Value(math.tanh(self.data), op="tanh", _parents=[self])

    def exp(self):
        return Value(math.exp(self.data), op="exp", _parents=[self])

    def log(self):
        return Value(math.log(self.data), op="log", _parents=[self])

    def relu(self):
        return Value(max(self.data, 0.0), op="relu", _parents=[self])

    def backward(self):
        order = {}

        def visit(node):
            if node not in order:
                for parent in node._parents:
                    visit(parent)
                order[node] = None

        visit(self)
        self.grad = 1.0
        for node in reversed(order):
            for parent, slope in zip(node._parents, node.slopes(), strict=True):
                parent.grad += node.grad * slope


def wrap(x):
    return x if isinstance(x, Value) else Value(x)
