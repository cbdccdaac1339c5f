"""Data and gradients are 0-d NumPy arrays, made ready for tensors."""

import numpy as np


class Value:
    def __init__(self, data, _prev=(), _op=""):
        self.data = np.asarray(data, dtype=np.float64)
        self.grad = np.zeros_like(self.data)
        self._prev = _prev
        self._backward = lambda: None

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data + other.data, (self, other))

        def _backward():
            self.grad = self.grad + out.grad
            other.grad = other.grad + out.grad

        out._backward = _backward
        return out

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data * other.data, (self, other))

        def _backward():
            self.grad = self.grad + other.data * out.grad
            other.grad = other.grad + self.data * out.grad

        out._backward = _backward
        return out

    def _apply(self, y, slope):
        out = Value(y, (self,))

        def _backward():
            self.grad = self.grad + slope * out.grad

        out._backward = _backward
        return out

    def __pow__(self, n):
        return self._apply(self.data**n, n * self.data ** (n - 1.0))

    def __neg__(self):
        return self._apply(-self.data, -1.0)

    def __sub__(self, other):
        return self + (-other)

    def __truediv__(self, other):
        return self * (other**-1.0)

    def __radd__(self, other):
        return Value(other) + self

    def __rmul__(self, other):
        return Value(other) * self

    def __rsub__(self, other):
        return Value(other) - self

    def __rtruediv__(self, other):
        return Value(other) / self

    def tanh(self):
        t = np.tanh(self.data)
        return self._apply(t, 1 - t**2)

    def exp(self):
        return self._apply(np.exp(self.data), np.exp(self.data))

    def log(self):
        return self._apply(np.log(self.data), 1 / self.data)

    def relu(self):
        return self._apply(np.maximum(self.data, 0), (self.data > 0).astype(float))

    def backward(self):
        topo, seen = [], set()

        def build(v):
            if v not in seen:
                seen.add(v)
                for parent in v._prev:
                    build(parent)
                topo.append(v)

        build(self)
        self.grad = np.ones_like(self.data)
        for v in reversed(topo):
            v._backward()
