"""`_backward(g)` is itself the whole pass: it sends a message, and the parent passes that message on at once."""

import math


class Value:
    def __init__(self, data, _parents=(), slopes=()):
        self.data = data
        self.grad = 0.0
        self._parents = _parents
        self.slopes = slopes

    def _backward(self, g):
        self.grad += g
        for parent, slope in zip(self._parents, self.slopes, strict=True):
            parent._backward(g * slope)

    def backward(self):
        self._backward(1.0)

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.data + other.data, (self, other), (1, 1))

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.data * other.data, (self, other), (other.data, self.data))

    def __pow__(self, n):
        return Value(self.data**n, (self,), (n * self.data ** (n - 1),))

    def __neg__(self):
        return Value(-self.data, (self,), (-1,))

    def __sub__(self, other):
        return self + (-other)

    def __rsub__(self, other):
        return -self + other

    def __truediv__(self, other):
        return self * other**-1

    def __rtruediv__(self, other):
        return self**-1 * other

    __radd__, __rmul__ = __add__, __mul__

    def tanh(self):
        t = math.tanh(self.data)
        return Value(t, (self,), (1 - t * t,))

    def exp(self):
        e = math.exp(self.data)
        return Value(e, (self,), (e,))

    def log(self):
        return Value(math.log(self.data), (self,), (1 / self.data,))

    def relu(self):
        return Value(max(0.0, self.data), (self,), (1.0 if self.data > 0 else 0.0,))
