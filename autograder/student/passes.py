"""The passes over an expression, adjoints backward and tangents forward, computed by us as steps that can be shown."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from autograder.student import operations
from autograder.student.expression import Expression


@dataclass(frozen=True)
class Message:
    """What one node sends along an edge to another: what it has itself, `carried`, times the `slope` of the edge.

    In the reverse pass a node sends its adjoint to its inputs, in forward mode its tangent to what uses it; `slot` is
    the edge's place among the inputs of the later node. `sum` is what the receiver has with this message added;
    `number` of `awaited` says which of its messages it is.
    """

    sender: int
    receiver: int
    slot: int
    carried: float
    slope: float
    value: float
    sum: float
    number: int
    awaited: int


def slopes(read: Expression, i: int) -> tuple[float, ...]:
    """The local derivatives of node i in its slots: from its operation, else measured on the node's own rule.

    Raises:
        NotImplementedError: the node's rule is a stub and its operation none of the course's.
        ArithmeticError, ValueError: the operation has no derivative here.
    """
    inputs = tuple(read.value(p) or 0.0 for p in read.parents[i])
    operation = operations.operation(read.operations[i])
    if operation is not None and operation.arity == len(inputs):
        return operation.slopes(inputs, read.value(i) or 0.0)
    return _measured(read, i)


def _measured(read: Expression, i: int) -> tuple[float, ...]:
    """What the node's own `_backward` adds to its parents for an upstream of 1, all gradients put back afterwards."""
    node = read.nodes[i]
    parents = read.parents[i]
    rule = getattr(node, "_backward", None)
    if not callable(rule):
        raise ValueError("the node has no rule that could be asked")
    involved = [node, *(read.nodes[p] for p in set(parents))]
    with _grads_kept(involved):
        for x in involved[1:]:
            x.grad = 0.0
        node.grad = 1.0
        takes_adjoint = bool(inspect.signature(rule).parameters)
        rule(1.0) if takes_adjoint else rule()
        found = [read.grad(p) or 0.0 for p in parents]
    # A parent in two slots received both messages at once; the measurement cannot part them.
    seen: set[int] = set()
    result = []
    for p, total in zip(parents, found, strict=True):
        result.append(0.0 if p in seen else total)
        seen.add(p)
    return tuple(result)


@contextmanager
def _grads_kept(nodes: list[Any]) -> Iterator[None]:
    kept = [(x, x.grad.copy() if hasattr(x.grad, "copy") else x.grad) for x in nodes if hasattr(x, "grad")]
    try:
        yield
    finally:
        for x, grad in kept:
            x.grad = grad


def reverse(read: Expression) -> tuple[list[float], list[Message]]:
    """Every node's adjoint, and the messages in an order in which each is sent by a finished node (Algorithm 3.1)."""
    count = len(read.nodes)
    awaited = [0] * count
    for parents in read.parents:
        for p in parents:
            awaited[p] += 1
    adjoint, received = [0.0] * count, [0] * count
    adjoint[-1] = 1.0
    sent: list[Message] = []
    for i in reversed(range(count)):
        if not read.parents[i]:
            continue
        for slot, (p, slope) in enumerate(zip(read.parents[i], slopes(read, i), strict=True)):
            value = adjoint[i] * slope
            adjoint[p] += value
            received[p] += 1
            sent.append(Message(i, p, slot, adjoint[i], slope, value, adjoint[p], received[p], awaited[p]))
    return adjoint, sent


def forward(read: Expression, seed: Sequence[float]) -> tuple[list[float], list[Message]]:
    """Every node's tangent, and the messages node by node; `seed` has one number a node, read for the inputs alone."""
    tangent: list[float] = []
    sent: list[Message] = []
    for i, parents in enumerate(read.parents):
        total = 0.0 if parents else float(seed[i])
        for slot, (p, slope) in enumerate(zip(parents, slopes(read, i) if parents else (), strict=True)):
            value = slope * tangent[p]
            total += value
            sent.append(Message(p, i, slot, tangent[p], slope, value, total, slot + 1, len(parents)))
        tangent.append(total)
    return tangent, sent
