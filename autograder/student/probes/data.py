"""Graphs as data, handed to a learner's function in the kind of node that the learner's notebook knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class Node(NamedTuple):
    """The course's Node: an operation and one parent per slot; a*a has the parents ("a", "a")."""

    op: str
    parents: tuple[str, ...] = ()
    n: float = 1.0


def nodes(graph: Mapping[str, Sequence[Any]], function: Any = None) -> dict[str, Any]:
    """The graph of a case (name → [op, parents, n]) as a dict of Nodes, in the case's order.

    They are the `Node` of the notebook in which `function` was written, where it has one that works, so that
    `match node: case Node(...)` and isinstance hold.
    """
    kind = _kind(function)
    return {name: kind(op, tuple(parents), float(n)) for name, (op, parents, n) in graph.items()}


def _kind(function: Any) -> Any:
    found: Any = getattr(function, "__globals__", {}).get("Node")
    try:
        node = found("pow", ("x",), 3.0)
        return found if (node.op, node.parents, node.n) == ("pow", ("x",), 3.0) else Node
    except Exception:
        return Node
