"""NumPy scalars for data, a dict of adjoints during the pass, and gradients written only at its end."""

import numpy as np


class Value:
    def __init__(self, data, parents=(), vjp=None):
        self.data = np.float64(data)
        self.grad = np.float64(0)
        self.parents = parents
        self.vjp = vjp  # adjoint -> one message per parent

    def __add__(self, other):
        other = _v(other)
        return Value(self.data + other.data, (self, other), lambda g: (g, g))

    def __mul__(self, other):
        other = _v(other)
        return Value(self.data * other.data, (self, other), lambda g: (g * other.data, g * self.data))

    def __sub__(self, other):
        other = _v(other)
        return Value(self.data - other.data, (self, other), lambda g: (g, -g))

    def __truediv__(self, other):
        other = _v(other)
        out = self.data / other.data
        return Value(out, (self, other), lambda g: (g / other.data, -g * out / other.data))

    def __pow__(self, n):
        return Value(self.data**n, (self,), lambda g: (g * n * self.data ** (n - 1),))

    def __neg__(self):
        return Value(-self.data, (self,), lambda g: (-g,))

    def __radd__(self, other):
        return _v(other) + self

    def __rmul__(self, other):
        return _v(other) * self

    def __rsub__(self, other):
        return _v(other) - self

    def __rtruediv__(self, other):
        return _v(other) / self

    def tanh(self):
        t = np.tanh(self.data)
        return Value(t, (self,), lambda g: (g * (1 - t * t),))

    def exp(self):
        e = np.exp(self.data)
        return Value(e, (self,), lambda g: (g * e,))

    def log(self):
        return Value(np.log(self.data), (self,), lambda g: (g / self.data,))

    def relu(self):
        return Value(np.maximum(self.data, 0), (self,), lambda g: (g * (self.data > 0),))

    def backward(self):
        nodes = []
        stack, seen = [self], set()
        while stack:
            node = stack[-1]
            fresh = [p for p in node.parents if id(p) not in seen]
            if fresh:
                stack.append(fresh[0])
                continue
            stack.pop()
            if id(node) not in seen:
                seen.add(id(node))
                nodes.append(node)
        adjoint = dict.fromkeys(map(id, nodes), np.float64(0))
        adjoint[id(self)] = np.float64(1)
        for node in reversed(nodes):
            if node.vjp:
                for parent, message in zip(node.parents, node.vjp(adjoint[id(node)]), strict=True):
                    adjoint[id(parent)] += message
        for node in nodes:
            node.grad = node.grad + adjoint[id(node)]


def _v(x):
    return x if isinstance(x, Value) else Value(x)
