"""No closures: every node has a list of (parent, local derivative), and backward does all the sending."""

import math
import operator


class Value:
    def __init__(self, data, parents=()):
        self.data = data
        self.grad = 0.0
        self.parents = list(parents)

    @staticmethod
    def _binary(compute, slopes):
        def method(x, y):
            y = y if isinstance(y, Value) else Value(y)
            dx, dy = slopes(x.data, y.data)
            return Value(compute(x.data, y.data), [(x, dx), (y, dy)])

        def reflected(x, y):
            return method(Value(y), x)

        return method, reflected

    def __neg__(self):
        return Value(-self.data, [(self, -1.0)])

    def __pow__(self, n):
        return Value(self.data**n, [(self, n * self.data ** (n - 1))])

    def tanh(self):
        return Value(math.tanh(self.data), [(self, 1 / math.cosh(self.data) ** 2)])

    def exp(self):
        return Value(math.exp(self.data), [(self, math.exp(self.data))])

    def log(self):
        return Value(math.log(self.data), [(self, 1 / self.data)])

    def relu(self):
        return Value(max(0.0, self.data), [(self, 1.0 if self.data > 0 else 0.0)])

    def backward(self):
        order, seen = [], set()

        def visit(node):
            seen.add(id(node))
            for parent, _ in node.parents:
                if id(parent) not in seen:
                    visit(parent)
            order.append(node)

        visit(self)
        self.grad = 1.0
        for node in reversed(order):
            for parent, slope in node.parents:
                parent.grad += slope * node.grad


Value.__add__, Value.__radd__ = Value._binary(operator.add, lambda x, y: (1.0, 1.0))
Value.__sub__, Value.__rsub__ = Value._binary(operator.sub, lambda x, y: (1.0, -1.0))
Value.__mul__, Value.__rmul__ = Value._binary(operator.mul, lambda x, y: (y, x))
Value.__truediv__, Value.__rtruediv__ = Value._binary(operator.truediv, lambda x, y: (1 / y, -x / (y * y)))
