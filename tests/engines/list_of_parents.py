"""Parents in a list; the backward pass keeps a stack of its own instead of recursing."""

import math


def lift(x):
    return x if isinstance(x, Value) else Value(x)


class Value:
    def __init__(self, data, parents=None):
        self.data = float(data)
        self.grad = 0.0
        self._parents = parents or []
        self._backward = None

    def _result(self, data, others, rule):
        out = Value(data, [self, *others])
        out._backward = lambda: rule(out.grad)
        return out

    def _receive(self, g):
        self.grad += g

    def __add__(self, other):
        other = lift(other)

        def rule(g):
            self._receive(g)
            other._receive(g)

        return self._result(self.data + other.data, [other], rule)

    def __sub__(self, other):
        other = lift(other)

        def rule(g):
            self._receive(g)
            other._receive(-g)

        return self._result(self.data - other.data, [other], rule)

    def __mul__(self, other):
        other = lift(other)

        def rule(g):
            self._receive(g * other.data)
            other._receive(g * self.data)

        return self._result(self.data * other.data, [other], rule)

    def __truediv__(self, other):
        other = lift(other)

        def rule(g):
            self._receive(g / other.data)
            other._receive(-g * self.data / other.data**2)

        return self._result(self.data / other.data, [other], rule)

    def __pow__(self, n):
        return self._result(self.data**n, [], lambda g: self._receive(g * n * self.data ** (n - 1)))

    def __neg__(self):
        return self._result(-self.data, [], lambda g: self._receive(-g))

    def __radd__(self, other):
        return lift(other) + self

    def __rsub__(self, other):
        return lift(other) - self

    def __rmul__(self, other):
        return lift(other) * self

    def __rtruediv__(self, other):
        return lift(other) / self

    def tanh(self):
        t = math.tanh(self.data)
        return self._result(t, [], lambda g: self._receive(g * (1 - t * t)))

    def exp(self):
        e = math.exp(self.data)
        return self._result(e, [], lambda g: self._receive(g * e))

    def log(self):
        return self._result(math.log(self.data), [], lambda g: self._receive(g / self.data))

    def relu(self):
        return self._result(max(self.data, 0.0), [], lambda g: self._receive(g if self.data > 0 else 0.0))

    def backward(self):
        order, seen, stack = [], set(), [(self, iter(self._parents))]
        seen.add(id(self))
        while stack:
            node, parents = stack[-1]
            for parent in parents:
                if id(parent) not in seen:
                    seen.add(id(parent))
                    stack.append((parent, iter(parent._parents)))
                    break
            else:
                order.append(node)
                stack.pop()
        for node in order:
            if node._backward:
                node.grad = 0.0
        self.grad = 1.0
        while order:
            node = order.pop()
            if node._backward:
                node._backward()
