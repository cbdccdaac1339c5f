"""Rules take the upstream as an argument and close over parents only; `_parents` is a tuple."""

import math


class Value:
    def __init__(self, data, _parents=(), _backward=None):
        self.data, self.grad = data, 0.0
        self._parents, self._backward = _parents, _backward

    @classmethod
    def of(cls, x):
        return x if isinstance(x, cls) else cls(x)

    def __add__(self, other):
        other = Value.of(other)

        def send(upstream):
            for parent in (self, other):
                parent.grad += upstream

        return Value(self.data + other.data, (self, other), send)

    def __mul__(self, other):
        other = Value.of(other)

        def send(upstream):
            self.grad, other_data = self.grad + upstream * other.data, self.data
            other.grad += upstream * other_data

        return Value(self.data * other.data, (self, other), send)

    def _through(self, y, slope):
        def send(upstream):
            self.grad += upstream * slope

        return Value(y, (self,), send)

    def __pow__(self, n):
        return self._through(self.data**n, 0.0 if n == 0 else n * self.data ** (n - 1))

    def exp(self):
        return self._through(math.exp(self.data), math.exp(self.data))

    def log(self):
        return self._through(math.log(self.data), 1 / self.data)

    def tanh(self):
        return self._through(math.tanh(self.data), 1 - math.tanh(self.data) ** 2)

    def relu(self):
        return self._through(self.data * (self.data > 0), float(self.data >= 0))

    def __neg__(self):
        return self._through(-self.data, -1)

    def __sub__(self, other):
        return self + -Value.of(other)

    def __truediv__(self, other):
        return self * Value.of(other) ** -1

    def __radd__(self, other):
        return self + other

    def __rmul__(self, other):
        return self * other

    def __rsub__(self, other):
        return -self + other

    def __rtruediv__(self, other):
        return self**-1 * other

    def backward(self):
        order, seen = [], set()

        def visit(node):
            if id(node) in seen:
                return
            seen.add(id(node))
            for parent in node._parents:
                visit(parent)
            order.append(node)

        visit(self)
        self.grad = 1.0
        for node in order[::-1]:
            if node._backward is not None:
                node._backward(node.grad)
