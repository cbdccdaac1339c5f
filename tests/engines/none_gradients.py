"""Gradients are None until something arrives, as in PyTorch; nodes in between lose theirs when a pass begins."""

import math


class Value:
    def __init__(self, data, _parents=(), _backward=None):
        self.data = data
        self.grad = None
        self._parents = _parents
        self._backward = _backward

    def accumulate(self, g):
        self.grad = g if self.grad is None else self.grad + g

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)

        def _backward(g):
            self.accumulate(g)
            other.accumulate(g)

        return Value(self.data + other.data, (self, other), _backward)

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)

        def _backward(g):
            self.accumulate(g * other.data)
            other.accumulate(g * self.data)

        return Value(self.data * other.data, (self, other), _backward)

    def _map(self, y, slope):
        return Value(y, (self,), lambda g: self.accumulate(g * slope))

    def __pow__(self, n):
        return self._map(self.data**n, n * self.data ** (n - 1))

    def __neg__(self):
        return self * -1.0

    def __sub__(self, other):
        return self + other * -1.0

    def __truediv__(self, other):
        return self * (other**-1.0)

    def __radd__(self, other):
        return self + other

    def __rmul__(self, other):
        return self * other

    def __rsub__(self, other):
        return self * -1.0 + other

    def __rtruediv__(self, other):
        return self**-1.0 * other

    def tanh(self):
        t = math.tanh(self.data)
        return self._map(t, 1 - t * t)

    def exp(self):
        return self._map(math.exp(self.data), math.exp(self.data))

    def log(self):
        return self._map(math.log(self.data), 1 / self.data)

    def relu(self):
        return self._map(max(self.data, 0.0), 1.0 if self.data > 0 else 0.0)

    def backward(self):
        order, seen = [], set()

        def visit(node):
            if id(node) not in seen:
                seen.add(id(node))
                for parent in node._parents:
                    visit(parent)
                order.append(node)

        visit(self)
        for node in order:
            if node._backward is not None:
                node.grad = None
        self.grad = 1.0
        for node in reversed(order):
            if node._backward is not None and node.grad is not None:
                node._backward(node.grad)
