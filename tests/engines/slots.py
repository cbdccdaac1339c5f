"""__slots__ throughout, and rules as bound methods of small rule objects."""

import math


class Rule:
    __slots__ = ("out", "pairs")

    def __init__(self, out, pairs):
        self.out, self.pairs = out, pairs

    def fire(self):
        for parent, slope in self.pairs:
            parent.grad += self.out.grad * slope


class Value:
    __slots__ = ("_backward", "_parents", "data", "grad")

    def __init__(self, data, *pairs):
        self.data = data
        self.grad = 0.0
        self._parents = tuple(parent for parent, _ in pairs)
        self._backward = Rule(self, pairs).fire

    def __add__(self, other):
        other = value(other)
        return Value(self.data + other.data, (self, 1.0), (other, 1.0))

    def __mul__(self, other):
        other = value(other)
        return Value(self.data * other.data, (self, other.data), (other, self.data))

    def __sub__(self, other):
        other = value(other)
        return Value(self.data - other.data, (self, 1.0), (other, -1.0))

    def __truediv__(self, other):
        other = value(other)
        return Value(self.data / other.data, (self, 1.0 / other.data), (other, -self.data / other.data**2))

    def __pow__(self, n):
        return Value(self.data**n, (self, n * self.data ** (n - 1)))

    def __neg__(self):
        return Value(-self.data, (self, -1.0))

    def __radd__(self, other):
        return value(other) + self

    def __rmul__(self, other):
        return value(other) * self

    def __rsub__(self, other):
        return value(other) - self

    def __rtruediv__(self, other):
        return value(other) / self

    def tanh(self):
        t = math.tanh(self.data)
        return Value(t, (self, 1.0 - t * t))

    def exp(self):
        e = math.exp(self.data)
        return Value(e, (self, e))

    def log(self):
        return Value(math.log(self.data), (self, 1.0 / self.data))

    def relu(self):
        return Value(max(self.data, 0.0), (self, 1.0 if self.data > 0 else 0.0))

    def backward(self):
        order = []
        _visit(self, set(), order)
        self.grad = 1.0
        for node in reversed(order):
            node._backward()


def _visit(node, seen, order):
    if id(node) in seen:
        return
    seen.add(id(node))
    for parent in node._parents:
        _visit(parent, seen, order)
    order.append(node)


def value(x):
    return x if isinstance(x, Value) else Value(x)
