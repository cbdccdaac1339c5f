"""Right answers in other styles, by exercise and label: what `autograder audit` runs beside the lessons' solutions."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from tests.learners import written

Answer = tuple[Any, ...]
ENGINES = Path(__file__).parent / "engines"


def _numbered(answers: Any) -> dict[str, Answer]:
    return {f"style {n}": objects for n, objects in enumerate(answers, 1)}


# ---- lesson 3 -------------------------------------------------------------------------------------------------------


def engines() -> dict[str, Any]:
    """Right engines, by file name."""
    styles = sorted(p.stem for p in ENGINES.glob("[a-z]*.py") if p.stem != "no_reflected_operators")
    return {style: importlib.import_module(f"tests.engines.{style}").Value for style in styles}


SLOPES: dict[str, Callable[..., tuple[Any, ...]]] = {
    "+": lambda x, n: (1, 1),
    "-": lambda x, n: (1, -1),
    "*": lambda x, n: (x[1], x[0]),
    "/": lambda x, n: (1 / x[1], -x[0] / x[1] / x[1]),
    "neg": lambda x, n: (-1,),
    "tanh": lambda x, n: (1 / math.cosh(x[0]) ** 2,),
    "exp": lambda x, n: (math.exp(x[0]),),
    "log": lambda x, n: (x[0] ** -1,),
    "relu": lambda x, n: (int(x[0] > 0),),
    "pow": lambda x, n: (n * x[0] ** (n - 1) if n else 0,),
    "input": lambda x, n: (),
}


def _slopes(graph: Any, values: Any, name: str) -> tuple[Any, ...]:
    node = graph[name]
    return SLOPES[node.op]([values[p] for p in node.parents], node.n)


def pass_by_asking_children(graph: Any, values: Any, sink: str) -> dict[str, float]:
    """Each node asks its children, and remembers."""
    known: dict[str, float] = {sink: 1.0}

    def adjoint(name: str) -> float:
        if name not in known:
            known[name] = sum(
                adjoint(child) * slope
                for child in graph
                for parent, slope in zip(graph[child].parents, _slopes(graph, values, child), strict=True)
                if parent == name
            )
        return known[name]

    return {name: adjoint(name) for name in graph}


def pass_by_counting(graph: Any, values: Any, sink: str) -> dict[str, Any]:
    """A node sends when all the edges that leave it have been heard; what the sink does not need is left out."""
    needed, todo = {sink}, [sink]
    while todo:
        for parent in graph[todo.pop()].parents:
            if parent not in needed:
                needed.add(parent)
                todo.append(parent)
    waiting = dict.fromkeys(needed, 0)
    for name in needed:
        for parent in graph[name].parents:
            waiting[parent] += 1
    found, ready = {name: np.float64(0) for name in needed}, [sink]
    found[sink] = np.float64(1)
    while ready:
        name = ready.pop()
        for parent, slope in zip(graph[name].parents, _slopes(graph, values, name), strict=True):
            found[parent] = found[parent] + slope * found[name]
            waiting[parent] -= 1
            if not waiting[parent]:
                ready.append(parent)
    return found


def pass_by_algebra(graph: Any, values: Any, sink: str) -> dict[str, Any]:
    """Adjoints solve a linear system: bar = seed + Aᵀ bar."""
    names = list(graph)
    A = np.zeros((len(names), len(names)))
    for child in names:
        for parent, slope in zip(graph[child].parents, _slopes(graph, values, child), strict=True):
            A[names.index(child), names.index(parent)] += slope
    seed = np.array([float(name == sink) for name in names])
    return dict(zip(names, np.linalg.solve(np.eye(len(names)) - A.T, seed), strict=True))


def order_by_generators(root: Any) -> list[Any]:
    seen, order = {id(root)}, []
    walk = [(root, iter(root._parents))]
    while walk:
        node, parents = walk[-1]
        for parent in parents:
            if id(parent) not in seen:
                seen.add(id(parent))
                walk.append((parent, iter(parent._parents)))
                break
        else:
            order.append(node)
            walk.pop()
    return order


def order_by_counting(root: Any) -> tuple[Any, ...]:
    """Kahn's algorithm from the root down, turned round."""
    children: dict[int, int] = {}
    met, todo = {id(root): root}, [root]
    while todo:
        for parent in todo.pop()._parents:
            children[id(parent)] = children.get(id(parent), 0) + 1
            if id(parent) not in met:
                met[id(parent)] = parent
                todo.append(parent)
    order, ready = [], [root]
    while ready:
        node = ready.pop(0)
        order.append(node)
        for parent in node._parents:
            children[id(parent)] -= 1
            if not children[id(parent)]:
                ready.append(parent)
    return tuple(reversed(order))


def order_by_library(root: Any) -> list[Any]:
    from graphlib import TopologicalSorter

    nodes, todo = {id(root): root}, [root]
    while todo:
        for parent in todo.pop()._parents:
            if id(parent) not in nodes:
                nodes[id(parent)] = parent
                todo.append(parent)
    edges = {key: [id(p) for p in node._parents] for key, node in nodes.items()}
    return [nodes[key] for key in TopologicalSorter(edges).static_order()]


def _clear_by_list(values: Any) -> None:
    for value in list(values):
        value.grad = 0


def _clear_by_map(values: Any) -> Any:
    return [setattr(value, "grad", 0.0 * value.data) for value in values]


def _clear_by_while(values: Any) -> None:
    todo = [*values]
    while todo:
        todo.pop().grad -= 0.0
    for value in values:
        value.grad = 0.0


def _function(x: Any, name: str) -> Any:
    if hasattr(x, name):
        return getattr(x, name)()
    return max(x, 0.0) if name == "relu" else getattr(math, name)(x)


def _abs(x: Any) -> Any:
    return _function(x, "relu") + _function(-1 * x, "relu")


def diamond_by_softplus(x1: Any, x2: Any, gamma: float) -> Any:
    """−log p = log(1 + exp(−2γs))."""
    s = 1 - _abs(x1) - _abs(x2)
    return _function(1 + _function(-2 * gamma * s, "exp"), "log")


def diamond_by_probability(x1: Any, x2: Any, gamma: float) -> Any:
    score = (_abs(x1) + _abs(x2) - 1) * -gamma
    inside, outside = _function(score, "exp"), _function(-score, "exp")
    return -_function(inside / (inside + outside), "log")


def diamond_by_sigmoid(x1: Any, x2: Any, gamma: float) -> Any:
    s = 1.0 - (_abs(x1) + _abs(x2))
    return -_function(1 / (1 + _function(s * (-2 * gamma), "exp")), "log")


def _pytorch(f: Any, values: Any) -> list[float]:
    leaves = [torch.tensor(float(x), dtype=torch.float64, requires_grad=True) for x in values]
    result = f(leaves)
    if getattr(result, "requires_grad", False):
        result.backward()
    return [0.0 if leaf.grad is None else leaf.grad.item() for leaf in leaves]


def _differences(f: Any, values: Any, h: float) -> list[float]:
    found = []
    for i in range(len(values)):
        x = [float(v) for v in values]
        x[i] = values[i] + h
        up = f(x)
        x[i] = values[i] - h
        found.append((up - f(x)) / (2 * h))
    return found


def _engine(Value: Any, f: Any, values: Any) -> list[float]:
    leaves = [Value(x) for x in values]
    result = f(leaves)
    if hasattr(result, "backward"):
        result.backward()
    return [float(leaf.grad or 0.0) for leaf in leaves]


def _apart(g: float, k: float) -> float:
    return abs(g - k) / max(1.0, abs(g), abs(k))


def check_by(Value: Any, as_arrays: bool) -> Callable[..., dict[str, Any]]:
    """gradient_check with an engine of one's own."""

    def gradient_check(f: Any, values: Any, h: float = 1e-6) -> dict[str, Any]:
        E, D, T = _engine(Value, f, values), _differences(f, values, h), _pytorch(f, values)
        ed, et, dt = ([_apart(g, k) for g, k in zip(*pair, strict=True)] for pair in ((E, D), (E, T), (D, T)))
        worst = [max(row) for row in zip(ed, et, dt, strict=True)]
        bad = [i for i, error in enumerate(worst) if error > 1e-5]
        agree = {"engine": max(dt) <= 1e-5, "finite_difference": max(et) <= 1e-5, "pytorch": max(ed) <= 1e-5}
        alone = [name for name, others_agree in agree.items() if others_agree]
        odd = alone[0] if bad and len(alone) == 1 else None
        kind: Any = np.array if as_arrays else list
        return {
            "engine": kind(E), "finite_difference": kind(D), "pytorch": kind(T), "max_disagreement": max(worst),
            "first": bad[0] if bad else None, "odd_one_out": odd,
        }  # fmt: skip

    return gradient_check


class Node(NamedTuple):
    op: str
    parents: tuple[str, ...] = ()
    n: float = 1.0


def _sum_with_itself() -> Any:
    return {"x": Node("input"), "L": Node("+", ("x", "x"))}, {"x": 1.25}, "L"


def _difference_with_itself() -> Any:
    return {"q": Node("-", ("p", "p")), "p": Node("input")}, {"p": -2}, "q"


def _square() -> Any:
    return {"t": Node("input"), "y": Node("*", ("t", "t"))}, {"t": -0.5}, "y"


def _orders_of(graph: Any, inputs: Any, sink: str, one: str, two: str, bad: str, lost: Any) -> Any:
    return lambda: {
        "graph": graph, "inputs": inputs, "sink": sink, "order_1": one.split(), "order_2": tuple(two.split()),
        "bad_reverse_order": bad.split(), "lost": lost,
    }  # fmt: skip


_DIAMOND = {"a": Node("input"), "u": Node("exp", ("a",)), "p": Node("tanh", ("u",)), "q": Node("log", ("u",)),
            "L": Node("*", ("p", "q"))}  # fmt: skip
_SKIP = {"a": Node("input"), "u": Node("*", ("a", "a")), "v": Node("neg", ("u",)), "w": Node("tanh", ("u",)),
         "L": Node("+", ("v", "w"))}  # fmt: skip
_TWO = {"a": Node("input"), "b": Node("input"), "u": Node("+", ("a", "b")), "t": Node("*", ("u", "u")),
        "L": Node("*", ("t", "u"))}  # fmt: skip


def visits_by_list(root: Any) -> tuple[int, int]:
    """Every message leaves an entry in a list."""
    sent: list[Any] = []
    nodes = [node for node in order_by_generators(root) if node._parents]
    rules = [node._backward for node in nodes]
    for node, rule in zip(nodes, rules, strict=True):
        node._backward = lambda *g, node=node, rule=rule: (sent.extend(node._parents), rule(*g))
    root.backward()
    for node, rule in zip(nodes, rules, strict=True):
        node._backward = rule
    return sum(len(node._parents) for node in nodes), len(sent)


def visits_by_pairs(root: Any) -> list[int]:
    """A counter for each node."""
    nodes = order_by_counting(root)
    fired = dict.fromkeys(map(id, nodes), 0)
    before = {}

    def counted(node: Any, rule: Any) -> Any:
        def fire(*g: Any) -> None:
            fired[id(node)] += 1
            rule(*g)

        return fire

    for node in nodes:
        if node._parents:
            before[id(node)] = node._backward
            node._backward = counted(node, node._backward)
    root.backward()
    for node in nodes:
        node._backward = before.get(id(node), node._backward)
    return [sum(len(node._parents) for node in nodes), sum(len(node._parents) * fired[id(node)] for node in nodes)]


def visits_by_walk(root: Any) -> tuple[Any, Any]:
    """One walk finds the nodes and puts counters in; they stay there, and go on to the rules."""
    seen, todo, edges, visits = set(), [root], np.int64(0), [0.0]

    class Counter:
        def __init__(self, rule: Any, slots: int) -> None:
            self.rule, self.slots = rule, slots

        def __call__(self, *g: Any) -> None:
            visits[0] += self.slots
            self.rule(*g)

    while todo:
        node = todo.pop()
        if id(node) not in seen:
            seen.add(id(node))
            slots = len(tuple(node._parents))
            if slots:
                edges += slots
                node._backward = Counter(node._backward, slots)
            todo += list(node._parents)
    root.backward()
    return edges, visits[0]


def lesson_3() -> dict[str, dict[str, Answer]]:
    whole, functions = written("whole_class"), written("functions")
    own = {name: (Value,) for name, Value in engines().items()}
    local = {**own, "whole class": (whole["Value"],), "functions": (functions["Value"],)}
    V, F = whole["Value"], functions["Value"]
    table = {"passes": (6, 12, 18), "detached": 3}
    return {
        "3.0": _numbered([(pass_by_asking_children,), (pass_by_counting,), (pass_by_algebra,)]),
        "3.1": local,
        "3.2": local,
        "3.3": _numbered([(order_by_generators, V), (order_by_counting, F), (order_by_library, F)]),
        "3.4": local,
        "3.5": _numbered([(V, _clear_by_list), (F, _clear_by_map), (V, whole["zero_grad"]), (F, _clear_by_while)][:3]),
        "3.6": _numbered([(diamond_by_softplus, V), (diamond_by_probability, F), (diamond_by_sigmoid, V)]),
        "3.7": _numbered([(check_by(V, False),), (check_by(F, True),), (check_by(engines()["none_gradients"], False),)]),
        "3.8": _numbered([(_sum_with_itself,), (_difference_with_itself,), (_square,)]),
        "3.9": _numbered([
            (_orders_of(_SKIP, {"a": 0.6}, "L", "a u v w L", "a u w v L", "L v u w a", ("w", "u")),),
            (_orders_of(_TWO, {"a": 2, "b": -3}, "L", "a b u t L", "b a u t L", "L u t a b", ("t", "u")),),
            (_orders_of(_DIAMOND, {"a": 0.6}, "L", "a u p q L", "a u q p L", "L q u p a", ["p", "u"]),),
        ]),
        "3.10": _numbered([(visits_by_list, F), (visits_by_pairs, V), (visits_by_walk, F)]),
        "3.11": _numbered([
            (lambda: table,),
            (lambda: {"passes": np.cumsum([6.0] * 3), "detached": np.float64(3)},),
            (lambda: {"detached": 3.0, "passes": [2 * 3.0 * n for n in (1, 2, 3)]},),
        ]),
        "3.12": _numbered([
            (lambda: {1: "uses-sibling-gradient", 2: "overwrites-gradient", 3: "recursion-fires-every-path"},),
            (lambda: dict(enumerate(("uses-sibling-gradient", "overwrites-gradient", "recursion-fires-every-path"), 1)),),
            (lambda: {"1": "uses-sibling-gradient", "2": "overwrites-gradient", "3": "recursion-fires-every-path"},),
        ]),
    }  # fmt: skip


# ---- the others -----------------------------------------------------------------------------------------------------


def _collected() -> dict[str, dict[str, Answer]]:
    """The other styles that the tests of lessons 1, 2, 4 and 5 are written with."""
    found: dict[str, dict[str, Answer]] = {}
    for module, name in (
        ("chain_rule", "ALTERNATIVES"),
        ("forward_mode", "OTHER_STYLES"),
        ("softmax_backprop", "OTHERS"),
        ("ngram_training", "OTHERS"),
    ):
        styles = getattr(importlib.import_module(f"tests.test_exercises_{module}"), name)
        found |= {id: _numbered(many) for id, many in styles.items()}
    return found


RIGHT: dict[str, dict[str, Answer]] = lesson_3() | _collected()
