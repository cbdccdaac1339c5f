"""Reads a reader's own expression, whatever engine built it: nodes, parents by slot, operations, names, numbers."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import FrameType
from typing import Any

from autograder import evidence
from autograder.student import operations

MOST_NODES = 60
COUNT_TO = 200_000

_PARENTS = ("_parents", "_prev", "parents", "prev", "_children", "children", "_inputs", "inputs")
_DATA = ("data", "value", "_data")
_GRAD = ("grad", "_grad", "gradient", "adjoint")
_OPERATION = ("_op", "op", "operation")


@dataclass
class Expression:
    """The part of an expression nearest to its root, parents before children.

    `parents[i]` has one index per slot of node i, so a·a names a twice. `hidden` is how many nodes are left out.
    """

    nodes: list[Any]
    parents: list[tuple[int, ...]]
    operations: list[str]
    labels: list[str]
    hidden: int = 0
    counted_all: bool = True
    cut: frozenset[int] = frozenset()  # nodes with a parent that is left out

    def value(self, i: int) -> float | None:
        return read_number(self.nodes[i], _DATA)

    def grad(self, i: int) -> float | None:
        return read_number(self.nodes[i], _GRAD)

    def picture(self, title: str = "") -> dict[str, Any]:
        """The expression as picture data (see pictures.py)."""
        return {
            "title": title,
            "nodes": [
                {"id": str(i), "label": self.labels[i], "op": self.operations[i], "value": self.value(i), "grad": self.grad(i),
                 "cut": i in self.cut}
                for i in range(len(self.nodes))
            ],
            "edges": [
                {"from": str(p), "to": str(i), "slot": slot}
                for i, parents in enumerate(self.parents)
                for slot, p in enumerate(parents)
            ],
        }  # fmt: skip


def read_number(node: Any, names: Iterable[str]) -> float | None:
    """The first of the attributes `names` as a float; None where there is none or it is no number."""
    for name in names:
        x = getattr(node, name, None)
        if x is None or callable(x):
            continue
        try:
            return evidence.number(x)
        except Exception:
            return None
    return None


def is_node(x: Any) -> bool:
    """Does `x` carry a number and a gradient, as a node of an engine does?"""
    kind = type(x)
    if x is None or kind in (int, float, str, bool, tuple, list, dict, set) or isinstance(x, type):
        return False
    if kind.__module__.partition(".")[0] == "torch":  # its graph is another one, and looking at .grad may warn
        return False
    try:
        return any(hasattr(x, n) for n in _DATA) and any(hasattr(x, n) for n in _GRAD)
    except Exception:
        return False


def _from_container(container: Any) -> list[Any] | None:
    if isinstance(container, Mapping):
        container = list(container)
    if not isinstance(container, (tuple, list, set, frozenset)):
        return None
    found = []
    for item in container:
        if is_node(item):
            found.append(item)
        elif isinstance(item, (tuple, list)):  # (parent, local derivative) pairs, either way round
            found += [x for x in item if is_node(x)][:1]
    return found


def closure_of(node: Any) -> dict[str, Any]:
    """What the node's `_backward` closes over, by variable name."""
    function = getattr(node, "_backward", None)
    function = getattr(function, "__func__", function)
    names = getattr(getattr(function, "__code__", None), "co_freevars", ())
    held: dict[str, Any] = {}
    for name, cell in zip(names, getattr(function, "__closure__", None) or (), strict=False):
        try:
            held[name] = cell.cell_contents
        except ValueError:
            continue
    return held


def parents_of(node: Any) -> tuple[Any, ...]:
    """The node's parents, one entry per slot where the engine keeps slots."""
    for name in _PARENTS:
        container = getattr(node, name, None)
        found = _from_container(container)
        if found is None:
            continue
        if len(found) == 1 and isinstance(container, (set, frozenset)):
            return tuple(found * _times_used(node, found[0]))
        if found or not closure_of(node):
            return tuple(found)
    return tuple(x for x in closure_of(node).values() if is_node(x) and x is not node)


def _times_used(node: Any, parent: Any) -> int:
    """A set keeps one entry for a·a; two when the numbers say that the operation has two slots."""
    candidate = operations.operation(_written_operation(node))
    value, output = read_number(parent, _DATA), read_number(node, _DATA)
    if candidate is None or candidate.arity != 2 or value is None or output is None:
        return 1
    return 2 if operations.computes(candidate, (value, value), output) else 1


def _written_operation(node: Any) -> str:
    for name in _OPERATION:
        text = getattr(node, name, None)
        if text is not None and not isinstance(text, str):
            text = getattr(text, "__name__", "")
        if text:
            sign = operations.sign_of(text)
            if sign:
                return sign
    function = getattr(node, "_backward", None)
    return operations.sign_of(getattr(function, "__qualname__", "") or getattr(function, "__name__", ""))


def operation_of(node: Any, parents: tuple[Any, ...]) -> str:
    """The sign of the node's operation: as the engine writes it, else from its numbers; "ƒ" when neither tells."""
    if not parents:
        return ""
    sign = _written_operation(node)
    values = tuple(read_number(p, _DATA) for p in parents)
    output = read_number(node, _DATA)
    if output is None or any(v is None for v in values):
        return sign or "ƒ"
    inputs = tuple(float(v) for v in values if v is not None)
    if sign == "^":
        constants = [x for x in closure_of(node).values() if type(x) in (int, float)]
        for n in [*constants, *range(-4, 7), 0.5, -0.5]:
            if operations.computes(operations.power(n), inputs, output):
                return operations.power(n).sign
        return sign
    return sign or operations.recognise(inputs, output) or "ƒ"


def read(root: Any, names: Mapping[int, str], limit: int = MOST_NODES) -> Expression:
    """The at most `limit` nodes of the expression nearest to `root`; `names` maps id(node) to a variable's name."""
    near: dict[int, tuple[Any, tuple[Any, ...]]] = {}
    seen = {id(root)}
    queue = deque([root])
    count = 0
    while queue and count < COUNT_TO:
        node = queue.popleft()
        count += 1
        parents = parents_of(node)
        if len(near) < limit:
            near[id(node)] = (node, parents)
        for parent in parents:
            if id(parent) not in seen:
                seen.add(id(parent))
                queue.append(parent)
    order = _parents_first(root, near)
    index = {id(node): i for i, node in enumerate(order)}
    return Expression(
        nodes=order,
        parents=[tuple(index[id(p)] for p in near[id(n)][1] if id(p) in index) for n in order],
        operations=[operation_of(n, near[id(n)][1]) for n in order],
        labels=[names.get(id(n)) or _own_name(n) for n in order],
        hidden=count - len(order),
        counted_all=not queue,
        cut=frozenset(i for i, n in enumerate(order) if any(id(p) not in index for p in near[id(n)][1])),
    )


def _own_name(node: Any) -> str:
    for attribute in ("name", "label", "_name"):
        text = getattr(node, attribute, None)
        if isinstance(text, str) and 0 < len(text) <= 24:
            return text
    return ""


def _parents_first(root: Any, near: Mapping[int, tuple[Any, tuple[Any, ...]]]) -> list[Any]:
    order: list[Any] = []
    done: set[int] = set()
    stack: list[tuple[Any, bool]] = [(root, False)]
    while stack:
        node, ready = stack.pop()
        if ready:
            order.append(node)
        elif id(node) not in done and id(node) in near:
            done.add(id(node))
            stack.append((node, True))
            stack += [(p, False) for p in reversed(near[id(node)][1])]
    return order


def names_in(frame: FrameType | None, given: Mapping[Any, Any] | None = None) -> dict[int, str]:
    """id(node) → the one variable of the caller that holds it. `given` (name → node, or node → name) goes first.

    A node held by two variables has no name: the picture would have to guess. Lists and dicts are searched one level
    deep, so the third of `xs` is called "xs[2]".
    """
    found: dict[int, set[str]] = {}
    inside: dict[int, set[str]] = {}
    for scope in (frame.f_globals, frame.f_locals) if frame else ():
        for name, x in list(scope.items()):
            if name.startswith("_") or name in ("In", "Out"):
                continue
            if is_node(x):
                found.setdefault(id(x), set()).add(name)
            elif isinstance(x, (list, tuple, dict)) and len(x) <= 200:
                pairs = x.items() if isinstance(x, dict) else enumerate(x)
                for key, item in pairs:
                    if is_node(item):
                        inside.setdefault(id(item), set()).add(f"{name}[{key!r}]")
    names = {key: next(iter(options)) for key, options in inside.items() if len(options) == 1 and key not in found}
    names |= {key: next(iter(options)) for key, options in found.items() if len(options) == 1}
    for key, x in (given or {}).items():
        if isinstance(key, str):
            names[id(x)] = key
        else:
            names[id(key)] = str(x)
    return names
