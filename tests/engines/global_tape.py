"""One tape for everything: operations are recorded in the order in which they happen, and played backward."""

import math

TAPE = []


class Value:
    def __init__(self, data):
        self.data = float(data)
        self.grad = 0.0
        self.position = len(TAPE)

    def __add__(self, other):
        return record(lambda x, y: x + y, lambda x, y, z: (1, 1), self, other)

    def __radd__(self, other):
        return record(lambda x, y: x + y, lambda x, y, z: (1, 1), other, self)

    def __mul__(self, other):
        return record(lambda x, y: x * y, lambda x, y, z: (y, x), self, other)

    def __rmul__(self, other):
        return record(lambda x, y: x * y, lambda x, y, z: (y, x), other, self)

    def __sub__(self, other):
        return record(lambda x, y: x - y, lambda x, y, z: (1, -1), self, other)

    def __rsub__(self, other):
        return record(lambda x, y: x - y, lambda x, y, z: (1, -1), other, self)

    def __truediv__(self, other):
        return record(lambda x, y: x / y, lambda x, y, z: (1 / y, -z / y), self, other)

    def __rtruediv__(self, other):
        return record(lambda x, y: x / y, lambda x, y, z: (1 / y, -z / y), other, self)

    def __pow__(self, n):
        return record(lambda x: x**n, lambda x, z: (n * x ** (n - 1),), self)

    def __neg__(self):
        return record(lambda x: -x, lambda x, z: (-1,), self)

    def tanh(self):
        return record(math.tanh, lambda x, z: (1 - z * z,), self)

    def exp(self):
        return record(math.exp, lambda x, z: (z,), self)

    def log(self):
        return record(math.log, lambda x, z: (1 / x,), self)

    def relu(self):
        return record(lambda x: max(x, 0.0), lambda x, z: (float(x > 0),), self)

    def backward(self):
        last = next((i for i in reversed(range(len(TAPE))) if TAPE[i][0] is self), -1)
        for out, _, _ in TAPE[: last + 1]:
            out.grad = 0.0
        self.grad = 1.0
        for out, inputs, slopes in reversed(TAPE[: last + 1]):
            for x, slope in zip(inputs, slopes, strict=True):
                x.grad += slope * out.grad


def record(compute, differentiate, *inputs):
    inputs = [x if isinstance(x, Value) else Value(x) for x in inputs]
    numbers = [x.data for x in inputs]
    out = Value(compute(*numbers))
    TAPE.append((out, inputs, differentiate(*numbers, out.data)))
    return out
