"""Nodes in between give up their gradients as soon as they have sent them."""

import math


class Value:
    def __init__(self, data, _parents=(), _backward=None):
        self.data, self.grad = float(data), 0.0
        self._parents, self._backward = _parents, _backward

    def make(self, data, *pairs):
        def send(g):
            for parent, slope in pairs:
                parent.grad += g * slope

        return Value(data, tuple(parent for parent, _ in pairs), send)

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        return self.make(self.data + other.data, (self, 1.0), (other, 1.0))

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        return self.make(self.data * other.data, (self, other.data), (other, self.data))

    def __pow__(self, n):
        return self.make(self.data**n, (self, n * self.data ** (n - 1)))

    def __neg__(self):
        return self.make(-self.data, (self, -1.0))

    def __sub__(self, other):
        return self + -(other if isinstance(other, Value) else Value(other))

    def __truediv__(self, other):
        return self * (other if isinstance(other, Value) else Value(other)) ** -1

    def __radd__(self, other):
        return Value(other) + self

    def __rmul__(self, other):
        return Value(other) * self

    def __rsub__(self, other):
        return Value(other) - self

    def __rtruediv__(self, other):
        return Value(other) / self

    def tanh(self):
        t = math.tanh(self.data)
        return self.make(t, (self, 1 - t * t))

    def exp(self):
        e = math.exp(self.data)
        return self.make(e, (self, e))

    def log(self):
        return self.make(math.log(self.data), (self, 1 / self.data))

    def relu(self):
        return self.make(max(self.data, 0.0), (self, float(self.data > 0)))

    def backward(self):
        order, seen = [], set()

        def visit(node):
            if id(node) not in seen:
                seen.add(id(node))
                for parent in node._parents:
                    visit(parent)
                order.append(node)

        visit(self)
        self.grad = 1.0
        while order:
            node = order.pop()
            if node._backward:
                g, node.grad = node.grad, 0.0
                node._backward(g)
