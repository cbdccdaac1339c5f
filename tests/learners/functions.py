"""A learner's functions behind the class that the lesson gives."""

import math


def lift(x):
    return x if isinstance(x, Value) else Value(x)


class Value:
    __slots__ = ("_backward", "_parents", "data", "grad")

    def __init__(self, data, parents=(), backward=None):
        self.data, self.grad = float(data), 0.0
        self._parents, self._backward = parents, backward

    def __add__(self, other):
        return value_add(self, lift(other))

    def __radd__(self, other):
        return value_add(lift(other), self)

    def __mul__(self, other):
        return value_mul(self, lift(other))

    def __rmul__(self, other):
        return value_mul(lift(other), self)

    def __sub__(self, other):
        return value_sub(self, lift(other))

    def __rsub__(self, other):
        return value_sub(lift(other), self)

    def __truediv__(self, other):
        return value_div(self, lift(other))

    def __rtruediv__(self, other):
        return value_div(lift(other), self)

    def __neg__(self):
        return value_neg(self)

    def __pow__(self, n):
        return value_pow(self, n)

    def tanh(self):
        return value_tanh(self)

    def exp(self):
        return value_exp(self)

    def log(self):
        return value_log(self)

    def relu(self):
        return value_relu(self)

    def backward(self):
        value_backward(self)


def value_add(r, s):
    def back(g):
        r.grad += g  # add, left
        s.grad += g  # add, right

    return Value(r.data + s.data, (r, s), back)


def value_mul(r, s):
    def back(g):
        r.grad += s.data * g  # mul, left
        s.grad += r.data * g  # mul, right

    return Value(r.data * s.data, (r, s), back)


def value_tanh(r):
    t = math.tanh(r.data)

    def back(g):
        r.grad += g * (1 - t * t)  # tanh

    return Value(t, (r,), back)


def value_exp(r):
    y = math.exp(r.data)

    def back(g):
        r.grad += g * y  # exp

    return Value(y, (r,), back)


def value_log(r):
    def back(g):
        r.grad += g / r.data  # log

    return Value(math.log(r.data), (r,), back)


def value_relu(r):
    def back(g):
        if r.data > 0:
            r.grad += g  # relu

    return Value(max(r.data, 0.0), (r,), back)


def value_pow(r, n):
    def back(g):
        r.grad += g * n * r.data ** (n - 1)  # pow

    return Value(r.data**n, (r,), back)


def value_neg(r):
    return r * -1.0


def value_sub(r, s):
    return r + (-s)


def value_div(r, s):
    return r * s**-1


def topological_order(root):
    order, seen, todo = [], set(), [root]
    while todo:
        node = todo.pop()
        if isinstance(node, tuple):
            order.append(node[0])
        elif id(node) not in seen:
            seen.add(id(node))
            todo.append((node,))
            todo += node._parents
    return order


def value_backward(root):
    order = topological_order(root)
    for node in order:
        if node._backward:
            node.grad = 0.0
    root.grad = 1.0
    for node in reversed(order):
        if node._backward:
            node._backward(node.grad)


def zero_grad(values):
    for value in values:
        value.grad = 0.0
