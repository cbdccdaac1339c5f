"""PyTorch in float64: the reference that answers are judged against."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autograder.references.graphs import Graph, Numbers, order


@functools.cache
def _operations() -> dict[str, Callable[..., Any]]:
    """op: its value from the inputs x and the exponent n."""
    import torch

    return {
        "+": lambda x, n: x[0] + x[1],
        "-": lambda x, n: x[0] - x[1],
        "*": lambda x, n: x[0] * x[1],
        "/": lambda x, n: x[0] / x[1],
        "neg": lambda x, n: -x[0],
        "tanh": lambda x, n: torch.tanh(x[0]),
        "exp": lambda x, n: torch.exp(x[0]),
        "log": lambda x, n: torch.log(x[0]),
        "relu": lambda x, n: torch.relu(x[0]),
        "pow": lambda x, n: x[0] ** n,
    }


def adjoints(graph: Graph, inputs: Mapping[str, float], sink: str) -> tuple[Numbers, Numbers]:
    """(value of every node, ∂sink/∂node of every node but plain numbers)."""
    import torch

    operations = _operations()
    tensors: dict[str, Any] = {}
    with torch.enable_grad():
        for name in order(graph):
            node = graph[name]
            if node.op == "input":
                tensors[name] = torch.tensor(inputs[name], dtype=torch.float64, requires_grad=True)
            elif node.op == "number":
                tensors[name] = node.n
            else:
                tensors[name] = operations[node.op]([tensors[p] for p in node.parents], node.n)
        values = {name: float(t.detach()) if hasattr(t, "detach") else t for name, t in tensors.items()}
        names = [name for name, t in tensors.items() if hasattr(t, "requires_grad") and t.requires_grad]
        grads = torch.autograd.grad(tensors[sink], [tensors[name] for name in names], allow_unused=True)
    found = {name: 0.0 if g is None else float(g) for name, g in zip(names, grads, strict=True)}
    return values, found


@functools.cache
def _forward_mode() -> Any:
    """PyTorch's forward mode, which warns of parts of itself when it is first used."""
    import torch
    from torch.autograd import forward_ad

    module: Any = forward_ad  # untyped in PyTorch
    with warnings.catch_warnings(), module.dual_level():
        warnings.simplefilter("ignore", DeprecationWarning)
        module.make_dual(torch.tensor(1.0), torch.tensor(1.0))
    return module


def tangents(graph: Graph, inputs: Mapping[str, float], seed: Mapping[str, float]) -> tuple[Numbers, Numbers]:
    """(value of every node, tangent of every node), by PyTorch's own forward mode; inputs not in `seed` stand still."""
    import torch

    dual = _forward_mode()
    operations = _operations()
    nodes: dict[str, Any] = {}
    values: Numbers = {}
    found: Numbers = {}
    with dual.dual_level():
        for name in order(graph):
            node = graph[name]
            if node.op == "input":
                value, tangent = (torch.tensor(x, dtype=torch.float64) for x in (inputs[name], seed.get(name, 0.0)))
                nodes[name] = dual.make_dual(value, tangent)
            elif node.op == "number":
                nodes[name] = torch.tensor(node.n, dtype=torch.float64)
            else:
                nodes[name] = operations[node.op]([nodes[p] for p in node.parents], node.n)
            primal, moving = dual.unpack_dual(nodes[name])
            values[name], found[name] = float(primal), 0.0 if moving is None else float(moving)
    return values, found


def gradient(f: Callable[..., Any], point: Sequence[float]) -> tuple[float, list[float]]:
    """(value, gradient) of f, a function of one sequence of scalars, at `point`."""
    import torch

    with torch.enable_grad():
        x = [torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in point]
        y = f(x)
        grads = torch.autograd.grad(y, x, allow_unused=True)
    return float(y.detach()), [0.0 if g is None else float(g) for g in grads]
