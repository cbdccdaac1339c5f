"""A bare class; every operation goes through two helper functions, and operators are attached from outside."""

import math


class Value:
    def __init__(self, data):
        self.data = data
        self.grad = 0.0
        self._prev = []
        self._backward = lambda: None

    def backward(self):
        propagate(self)


def node(data, *links):
    out = Value(data)
    out._prev = [x for x, _ in links]

    def _backward(out=out, links=links):
        for x, d in links:
            x.grad += d * out.grad

    out._backward = _backward
    return out


def constant(x):
    return x if isinstance(x, Value) else Value(float(x))


def add(x, y):
    x, y = constant(x), constant(y)
    return node(x.data + y.data, (x, 1.0), (y, 1.0))


def mul(x, y):
    x, y = constant(x), constant(y)
    return node(x.data * y.data, (x, y.data), (y, x.data))


def power(x, n):
    return node(x.data**n, (x, n * x.data ** (n - 1)))


def propagate(root):
    order, seen = [], []

    def walk(x):
        if not any(x is other for other in seen):
            seen.append(x)
            for parent in x._prev:
                walk(parent)
            order.insert(0, x)

    walk(root)
    root.grad = 1.0
    for x in order:
        x._backward()


Value.__add__ = Value.__radd__ = add
Value.__mul__ = Value.__rmul__ = mul
Value.__pow__ = power
Value.__neg__ = lambda x: mul(x, -1.0)
Value.__sub__ = lambda x, y: add(x, mul(y, -1.0))
Value.__rsub__ = lambda x, y: add(y, mul(x, -1.0))
Value.__truediv__ = lambda x, y: mul(x, power(constant(y), -1))
Value.__rtruediv__ = lambda x, y: mul(y, power(x, -1))
Value.tanh = lambda x: node(math.tanh(x.data), (x, 1.0 - math.tanh(x.data) ** 2))
Value.exp = lambda x: node(math.exp(x.data), (x, math.exp(x.data)))
Value.log = lambda x: node(math.log(x.data), (x, 1.0 / x.data))
Value.relu = lambda x: node(max(x.data, 0.0), (x, 1.0 if x.data > 0 else 0.0))
