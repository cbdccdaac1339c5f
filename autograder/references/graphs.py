"""Computations as data: graphs of named nodes, their values and their adjoints, and random graphs to draw cases from.

A graph is a dict from a node's name to its `Node`, inputs included, in any order. As JSON a node is the list
`[op, parents, n]`. Besides the operations of the course there is "number": a plain Python number, held in `n`, that
stands as an operand (`2 + x`); it has no adjoint.
"""

from __future__ import annotations

import ast
import functools
import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any, NamedTuple


class Node(NamedTuple):
    """One step of a computation; one parent per slot, so that a*a has the parents ("a", "a")."""

    op: str
    parents: tuple[str, ...] = ()
    n: float = 1.0


Graph = dict[str, Node]
Numbers = dict[str, float]

LEAVES = ("input", "number")

_FORWARD: dict[str, Callable[[Sequence[float], float], float]] = {
    "+": lambda x, n: x[0] + x[1],
    "-": lambda x, n: x[0] - x[1],
    "*": lambda x, n: x[0] * x[1],
    "/": lambda x, n: x[0] / x[1],
    "neg": lambda x, n: -x[0],
    "tanh": lambda x, n: math.tanh(x[0]),
    "exp": lambda x, n: math.exp(x[0]),
    "log": lambda x, n: math.log(x[0]),
    "relu": lambda x, n: max(x[0], 0.0),
    "pow": lambda x, n: x[0] ** n,
}
# op: one local derivative per slot, from the inputs x, the output y and the exponent n
_LOCAL: dict[str, Callable[[Sequence[float], float, float], tuple[float, ...]]] = {
    "+": lambda x, y, n: (1.0, 1.0),
    "-": lambda x, y, n: (1.0, -1.0),
    "*": lambda x, y, n: (x[1], x[0]),
    "/": lambda x, y, n: (1 / x[1], -y / x[1]),
    "neg": lambda x, y, n: (-1.0,),
    "tanh": lambda x, y, n: (1 - y * y,),
    "exp": lambda x, y, n: (y,),
    "log": lambda x, y, n: (1 / x[0],),
    "relu": lambda x, y, n: (1.0 if x[0] > 0 else 0.0,),
    "pow": lambda x, y, n: (n * x[0] ** (n - 1) if n else 0.0,),
}
OPERATIONS = tuple(_FORWARD)
ARITY = {op: 2 if op in "+-*/" else 1 for op in OPERATIONS}


def to_json(graph: Graph) -> dict[str, list[Any]]:
    return {name: [node.op, list(node.parents), node.n] for name, node in graph.items()}


def from_json(data: Mapping[str, Sequence[Any]]) -> Graph:
    return {name: Node(op, tuple(parents), n) for name, (op, parents, n) in data.items()}


def order(graph: Graph) -> list[str]:
    """Every node, parents before children.

    Raises:
        ValueError: there is a cycle.
        KeyError: a parent is not in the graph.
    """
    return list(_order(tuple((name, node.parents) for name, node in graph.items())))


# A case's graph is walked again for its value, its text, its reference and every wrong rule that is tried on it.
@functools.lru_cache(maxsize=2048)
def _order(graph: tuple[tuple[str, tuple[str, ...]], ...]) -> tuple[str, ...]:
    known = {name for name, _ in graph}
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for name, parents in graph:
        for parent in parents:
            if parent not in known:
                raise KeyError(parent)
        sorter.add(name, *parents)
    try:
        return tuple(sorter.static_order())
    except CycleError as error:
        raise ValueError("the graph has a cycle") from error


def ancestors(graph: Graph, sink: str) -> set[str]:
    """The nodes that `sink` depends on, itself included."""
    found, todo = {sink}, [sink]
    while todo:
        for parent in graph[todo.pop()].parents:
            if parent not in found:
                found.add(parent)
                todo.append(parent)
    return found


def forward(
    graph: Graph,
    inputs: Mapping[str, float],
    held: Mapping[str, float] | None = None,
    names: Iterable[str] | None = None,
) -> Numbers:
    """The value of every node. A node named in `held` keeps that value, whatever its parents say.

    `names` are the nodes, parents before children, where that order is known.
    """
    values: Numbers = {}
    held = held or {}
    for name in order(graph) if names is None else names:
        node = graph[name]
        if name in held:
            values[name] = held[name]
        elif node.op == "input":
            values[name] = inputs[name]
        elif node.op == "number":
            values[name] = node.n
        else:
            values[name] = _FORWARD[node.op]([values[p] for p in node.parents], node.n)
    return values


def local_derivatives(graph: Graph, values: Numbers, name: str) -> tuple[float, ...]:
    """∂name/∂parent for every slot of node `name`."""
    node = graph[name]
    if node.op in LEAVES:
        return ()
    return _LOCAL[node.op]([values[p] for p in node.parents], values[name], node.n)


def adjoints(
    graph: Graph,
    values: Numbers,
    sink: str,
    *,
    firing: Iterable[str] | None = None,
    assign: bool = False,
) -> Numbers:
    """Algorithm 3.1: ∂sink/∂node for every node.

    `firing` is the order in which nodes send their messages (default: a reverse topological order); with `assign`
    messages overwrite instead of adding up. Both are here to compute what a mistake would give.
    """
    found = dict.fromkeys(graph, 0.0)
    found[sink] = 1.0
    for child in firing if firing is not None else reversed(order(graph)):
        for parent, slope in zip(graph[child].parents, local_derivatives(graph, values, child), strict=True):
            message = found[child] * slope
            found[parent] = message if assign else found[parent] + message
    return found


def parse(text: str) -> tuple[Graph, str]:
    """A graph written as Python: "u = a*b; L = u + a" gives nodes a, b, u, L; the sink is the last one.

    Names that are never assigned are inputs; numbers are "number" nodes; tanh, exp, log, relu are calls. A step without
    a name of its own is called by its text; the same text twice makes two nodes.
    """
    nodes, sink = _parse(text)
    return dict(nodes), sink


@functools.lru_cache(maxsize=2048)
def _parse(text: str) -> tuple[tuple[tuple[str, Node], ...], str]:
    graph: Graph = {}

    def fresh(text: str) -> str:
        while text in graph:
            text += "′"
        return text

    def add(tree: ast.expr, name: str | None = None) -> str:
        n = 1.0
        parents: tuple[str, ...]
        if isinstance(tree, ast.Name) and name is None:
            if tree.id not in graph:
                graph[tree.id] = Node("input")
            return tree.id
        if isinstance(tree, ast.Constant):
            op, parents, n = "number", (), float(tree.value)  # type: ignore[arg-type]
        elif isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Pow):
            op, parents, n = "pow", (add(tree.left),), float(ast.literal_eval(tree.right))
        elif isinstance(tree, ast.BinOp):
            symbols: dict[type, str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
            op, parents = symbols[type(tree.op)], (add(tree.left), add(tree.right))
        elif isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
            op, parents = "neg", (add(tree.operand),)
        elif isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name):
            op, parents = tree.func.id, (add(tree.args[0]),)
        else:
            raise ValueError(f"cannot read {ast.unparse(tree)!r}")
        name = name or fresh(ast.unparse(tree))
        graph[name] = Node(op, parents, n)
        return name

    sink = ""
    for statement in ast.parse(text).body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            sink = add(statement.value, statement.targets[0].id)
        elif isinstance(statement, ast.Expr):
            sink = add(statement.value)
        else:
            raise ValueError(f"cannot read {ast.unparse(statement)!r}")
    return tuple(graph.items()), sink


def inputs_of(graph: Graph) -> list[str]:
    return [name for name, node in graph.items() if node.op == "input"]


def decimal(rng: random.Random, low: float, high: float, apart: Iterable[float] = (), gap: float = 0.2) -> float:
    """A number with two decimals in [low, high], at least `gap` away from each number in `apart`.

    Where those leave no room, or hardly any, half the gap has to do, and so on.
    """
    apart = tuple(apart)
    while True:
        for _ in range(500):
            x = round(rng.uniform(low, high), 2)
            if all(abs(x - y) >= gap for y in apart):
                return x
        gap /= 2


def random_graph(
    rng: random.Random, inputs: int = 2, steps: int = 6, operations: Sequence[str] = ("+", "*"), fan_out: bool = True
) -> tuple[Graph, Numbers, str]:
    """(graph, inputs, sink) with `steps` operations, all of which the sink depends on.

    With `fan_out` some node is used more than once; without it the graph is a tree. Values are different
    from node to node, values and adjoints of moderate size and away from kinks, and no adjoint of an input is close to 0.
    """
    while True:
        graph: Graph = {}
        loose: list[str] = []  # nodes that nothing uses yet
        numbers: Numbers = {}

        def new_input(graph: Graph = graph, loose: list[str] = loose, numbers: Numbers = numbers) -> None:
            name = "abcdefghijklmnopqrst"[len(numbers)]
            graph[name] = Node("input")
            numbers[name] = decimal(rng, -2, 2, apart=(0.0, 1.0, -1.0, *numbers.values()))
            loose.append(name)

        for _ in range(inputs):
            new_input()
        for step in range(steps):
            op = rng.choice(operations)
            parents: list[str] = []
            for _ in range(ARITY[op]):
                used = [name for name in graph if name not in loose]
                if fan_out and used and (not loose or rng.random() < 0.4):
                    parents.append(rng.choice(used))
                else:
                    if not loose:
                        new_input()
                    parents.append(loose.pop(rng.randrange(len(loose))))
            name = f"v{step + 1}"
            graph[name] = Node(op, tuple(parents))
            loose.append(name)
        while len(loose) > 1:
            left, right = loose.pop(0), loose.pop(0)
            name = f"v{len(graph) - len(numbers) + 1}"
            graph[name] = Node("+", (left, right))
            loose.append(name)
        (sink,) = loose
        uses = [parent for node in graph.values() for parent in node.parents]
        if fan_out == (len(uses) > len(set(uses))) and _is_tame(graph, numbers, sink):
            return graph, numbers, sink


def _is_tame(graph: Graph, numbers: Numbers, sink: str) -> bool:
    """Whether a graph that was built parents first has values and adjoints to work with."""
    try:
        values = forward(graph, numbers, names=graph)
    except (ValueError, OverflowError, ZeroDivisionError):
        return False
    if any(isinstance(v, complex) or not 0.02 < abs(v) < 50 for v in values.values()):
        return False
    if len({round(v, 6) for v in values.values()}) < len(values):
        return False
    found = adjoints(graph, values, sink, firing=reversed(graph))
    return all(abs(found[name]) < 200 for name in graph) and all(abs(found[name]) > 0.02 for name in numbers)
