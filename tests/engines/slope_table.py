"""A table of local derivatives beside a tuple of parents; nodes fire when the last of their children has sent."""

import math
from collections import Counter, deque


class Value:
    def __init__(self, data, _parents=(), _slopes=()):
        self.data = data
        self.grad = 0.0
        self._parents = _parents
        self._slopes = _slopes

    def __add__(self, other):
        other = as_value(other)
        return Value(self.data + other.data, (self, other), (1.0, 1.0))

    def __mul__(self, other):
        other = as_value(other)
        return Value(self.data * other.data, (self, other), (other.data, self.data))

    def __sub__(self, other):
        other = as_value(other)
        return Value(self.data - other.data, (self, other), (1.0, -1.0))

    def __truediv__(self, other):
        other = as_value(other)
        quotient = self.data / other.data
        return Value(quotient, (self, other), (1.0 / other.data, -quotient / other.data))

    def __pow__(self, n):
        return Value(self.data**n, (self,), (n * self.data ** (n - 1),))

    def __neg__(self):
        return Value(-self.data, (self,), (-1.0,))

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other):
        return as_value(other) - self

    def __rtruediv__(self, other):
        return as_value(other) / self

    def tanh(self):
        t = math.tanh(self.data)
        return Value(t, (self,), ((1 - t) * (1 + t),))

    def exp(self):
        e = math.exp(self.data)
        return Value(e, (self,), (e,))

    def log(self):
        return Value(math.log(self.data), (self,), (1 / self.data,))

    def relu(self):
        return Value(self.data if self.data > 0 else 0.0, (self,), (1.0 if self.data > 0 else 0.0,))

    def backward(self):
        waiting = Counter()
        todo, seen = [self], {id(self)}
        while todo:
            for parent in todo.pop()._parents:
                waiting[id(parent)] += 1
                if id(parent) not in seen:
                    seen.add(id(parent))
                    todo.append(parent)
        self.grad = 1.0
        ready = deque([self])
        while ready:
            node = ready.popleft()
            for parent, slope in zip(node._parents, node._slopes, strict=True):
                parent.grad += node.grad * slope
                waiting[id(parent)] -= 1
                if waiting[id(parent)] == 0:
                    ready.append(parent)


def as_value(x):
    return x if isinstance(x, Value) else Value(x)
