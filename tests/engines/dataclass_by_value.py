"""A plain dataclass: equal when its fields are equal, and therefore not hashable. Nodes are kept apart by id."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Value:
    data: float
    grad: float = 0.0
    _parents: tuple = field(default=(), repr=False)
    _backward: Callable[[float], Any] | None = field(default=None, repr=False)

    def _plus(self, g):
        self.grad = self.grad + g

    def __add__(self, other):
        other = to(other)
        return Value(self.data + other.data, 0.0, (self, other), lambda g: (self._plus(g), other._plus(g)))

    def __mul__(self, other):
        other = to(other)

        def send(g):
            self._plus(g * other.data)
            other._plus(g * self.data)

        return Value(self.data * other.data, 0.0, (self, other), send)

    def __pow__(self, n):
        return Value(self.data**n, 0.0, (self,), lambda g: self._plus(g * n * self.data ** (n - 1)))

    def __neg__(self):
        return to(0.0) - self

    def __sub__(self, other):
        other = to(other)
        return Value(self.data - other.data, 0.0, (self, other), lambda g: (self._plus(g), other._plus(-g)))

    def __truediv__(self, other):
        other = to(other)

        def send(g):
            self._plus(g / other.data)
            other._plus(-g * self.data / other.data**2)

        return Value(self.data / other.data, 0.0, (self, other), send)

    def __radd__(self, other):
        return to(other) + self

    def __rmul__(self, other):
        return to(other) * self

    def __rsub__(self, other):
        return to(other) - self

    def __rtruediv__(self, other):
        return to(other) / self

    def tanh(self):
        t = math.tanh(self.data)
        return Value(t, 0.0, (self,), lambda g: self._plus(g * (1 - t * t)))

    def exp(self):
        e = math.exp(self.data)
        return Value(e, 0.0, (self,), lambda g: self._plus(g * e))

    def log(self):
        return Value(math.log(self.data), 0.0, (self,), lambda g: self._plus(g / self.data))

    def relu(self):
        return Value(max(self.data, 0.0), 0.0, (self,), lambda g: self._plus(g if self.data > 0 else 0.0))

    def backward(self):
        order: dict[int, Value] = {}

        def visit(node):
            if id(node) not in order:
                for parent in node._parents:
                    visit(parent)
                order[id(node)] = node

        visit(self)
        self.grad = 1.0
        for node in reversed(order.values()):
            if node._backward:
                node._backward(node.grad)


def to(x):
    return x if isinstance(x, Value) else Value(x)
