"""Parents live only inside closures: each message travels on at once, to the leaves, and everybody adds up."""

import math


class Value:
    def __init__(self, data, push=None):
        self.data = data
        self.grad = 0.0
        self.push = push or (lambda g: None)

    def receive(self, g):
        self.grad += g
        self.push(g)

    def backward(self):
        self.receive(1.0)

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)

        def push(g):
            self.receive(g)
            other.receive(g)

        return Value(self.data + other.data, push)

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)

        def push(g):
            self.receive(g * other.data)
            other.receive(g * self.data)

        return Value(self.data * other.data, push)

    def __pow__(self, n):
        return Value(self.data**n, lambda g: self.receive(g * n * self.data ** (n - 1)))

    def __neg__(self):
        return Value(-self.data, lambda g: self.receive(-g))

    def __sub__(self, other):
        return self + (-other)

    def __truediv__(self, other):
        return self * (other**-1)

    def __rtruediv__(self, other):
        return (self**-1) * other

    def __rsub__(self, other):
        return (-self) + other

    __radd__ = __add__
    __rmul__ = __mul__

    def tanh(self):
        t = math.tanh(self.data)
        return Value(t, lambda g: self.receive(g * (1 - t * t)))

    def exp(self):
        e = math.exp(self.data)
        return Value(e, lambda g: self.receive(g * e))

    def log(self):
        return Value(math.log(self.data), lambda g: self.receive(g / self.data))

    def relu(self):
        return Value(max(self.data, 0), lambda g: self.receive(g * (self.data > 0)))
