"""One class per operation, each with its own `_backward` method; numbers become constants."""

import math


class Value:
    _parents: tuple = ()

    def __init__(self, data):
        self.data, self.grad = data, 0.0

    def _backward(self):
        pass

    def backward(self):
        chain, seen = [], set()
        stack = [self]
        while stack:
            node = stack.pop()
            if isinstance(node, tuple):
                chain.append(node[0])
            elif id(node) not in seen:
                seen.add(id(node))
                stack.append((node,))
                stack.extend(node._parents)
        self.grad = 1.0
        for node in chain[::-1]:
            node._backward()

    def __add__(self, other):
        return Add(self, other)

    def __radd__(self, other):
        return Add(other, self)

    def __mul__(self, other):
        return Multiply(self, other)

    def __rmul__(self, other):
        return Multiply(other, self)

    def __sub__(self, other):
        return Add(self, Multiply(other, -1.0))

    def __rsub__(self, other):
        return Add(other, Multiply(self, -1.0))

    def __truediv__(self, other):
        return Multiply(self, Power(other, -1))

    def __rtruediv__(self, other):
        return Multiply(other, Power(self, -1))

    def __neg__(self):
        return Multiply(-1.0, self)

    def __pow__(self, n):
        return Power(self, n)

    def tanh(self):
        return Tanh(self)

    def exp(self):
        return Exp(self)

    def log(self):
        return Log(self)

    def relu(self):
        return Relu(self)


class Operation(Value):
    def __init__(self, *operands):
        self._parents = tuple(x if isinstance(x, Value) else Value(x) for x in operands)
        super().__init__(self.forward(*(p.data for p in self._parents)))

    def _backward(self):
        for parent, slope in zip(self._parents, self.slopes(*(p.data for p in self._parents)), strict=True):
            parent.grad += self.grad * slope


class Add(Operation):
    def forward(self, x, y):
        return x + y

    def slopes(self, x, y):
        return 1, 1


class Multiply(Operation):
    def forward(self, x, y):
        return x * y

    def slopes(self, x, y):
        return y, x


class Power(Operation):
    def __init__(self, x, n):
        self.n = n
        super().__init__(x)

    def forward(self, x):
        return x**self.n

    def slopes(self, x):
        return (self.n * x ** (self.n - 1),)


class Tanh(Operation):
    def forward(self, x):
        return math.tanh(x)

    def slopes(self, x):
        return (1 - self.data**2,)


class Exp(Operation):
    def forward(self, x):
        return math.exp(x)

    def slopes(self, x):
        return (self.data,)


class Log(Operation):
    def forward(self, x):
        return math.log(x)

    def slopes(self, x):
        return (1 / x,)


class Relu(Operation):
    def forward(self, x):
        return max(x, 0.0)

    def slopes(self, x):
        return (float(x > 0),)
