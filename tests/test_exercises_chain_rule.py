"""Lesson 1's exercises: right answers in any style pass, each mistake is named and costs its part only."""

from __future__ import annotations

import dataclasses
import math
import os
import sys
from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from graphlib import TopologicalSorter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

from autograder.authoring.source import SOLUTION, read
from autograder.exercises import chain_rule, exercise, exercises_of
from autograder.exercises import chain_rule_faults as faults
from autograder.references import finite_difference, pytorch
from autograder.references.graphs import from_json, order
from autograder.student.probes import apart
from autograder.student.probes.chain_rule import long_chain
from tests.checking import cases_of, failed_parts, graded
from tests.lesson_run import learners_names

SOURCE = Path(__file__).parent.parent / "source" / "1-chain-rule" / "chain_rule.py"
EXERCISES = exercises_of("1-chain-rule").exercises
IDS = [e.id for e in EXERCISES]


@pytest.fixture(autouse=True)
def light_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long enough to be too deep for recursion; the full length is tried where it matters."""
    monkeypatch.setattr(chain_rule, "CHAIN", 12_000)
    # A fork of a process that holds torch is slow; it is used where death and endless loops are tried.
    monkeypatch.setattr(apart, "_in_a_fork", lambda told, seconds: told())


notebook = partial(learners_names, "1-chain-rule")


def given(id: str) -> tuple[Any, ...]:
    return tuple(notebook()[name] for name in exercise(id).names)


# ---- the lesson's own answers ---------------------------------------------------------------------------------------


def test_an_exercise_that_needs_an_unfilled_one_says_which() -> None:
    names = dict(notebook(filled=False))
    exec("\n".join(c.without_markers(SOLUTION) for c in read(SOURCE).cells if c.grade_id == "1.5-solution"), names)
    verdict = graded("1.5", names["forward_pass"])
    assert (verdict.status, verdict.score) == ("unanswered", 0.0)
    assert "1.5 builds on 1.3" in verdict.message


# ---- other right answers --------------------------------------------------------------------------------------------


def _torch_two_steps(x: float) -> dict[str, Any]:
    leaf = torch.tensor(x, dtype=torch.float64, requires_grad=True)
    y = 3 * leaf + 1
    y.retain_grad()
    z = y * y
    z.backward()
    return {"z": z, "y": y, "dz_dx": leaf.grad, "dz_dy": y.grad, "dy_dx": 3}


def _named_in_one(x: float) -> dict[str, float]:
    return dict(dz_dx=6 * (3 * x + 1), dy_dx=3, dz_dy=6 * x + 2, y=3 * x + 1, z=9 * x * x + 6 * x + 1, note="whatever")


def _step_in_numpy(w: float, x: float, y: float, lr: float) -> dict[str, Any]:
    z = np.float64(w) * x
    error = z - y
    grad = np.array([2 * error * x])
    new = (w - lr * grad)[0]
    return defaultdict(
        float, z=z, loss=np.square(error), dL_dz=2 * error, dz_dw=x, grad=grad, w_new=new, z_new=new * x,
        loss_new=(new * x - y) ** 2,
    )  # fmt: skip


def _step_twice(w: float, x: float, y: float, lr: float) -> dict[str, float]:
    def forward(w: float) -> tuple[float, float]:
        return w * x, (w * x - y) * (w * x - y)

    z, loss = forward(w)
    grad = 2 * x * x * w - 2 * x * y
    z_new, loss_new = forward(w - grad * lr)
    return {"z": z, "loss": loss, "dL_dz": -2 * (y - z), "dz_dw": x, "grad": grad, "w_new": w - grad * lr} | {
        "z_new": z_new, "loss_new": loss_new,
    }  # fmt: skip


def _step_exactly(w: float, x: float, y: float, lr: float) -> dict[str, Any]:
    return {k: Fraction(v) for k, v in faults.one_step(w, x, y, lr).items()}


def _recursive_order(parents: dict[str, Any]) -> list[str]:
    done: dict[str, bool] = {}
    found: list[str] = []

    def visit(name: str) -> None:
        if name in done:
            if not done[name]:
                raise ValueError("cycle")
            return
        done[name] = False
        for parent in parents[name]:
            visit(parent)
        done[name] = True
        found.append(name)

    for name in parents:
        visit(name)
    return found


def _library_order(parents: dict[str, Any]) -> list[str]:
    for slots in parents.values():
        for parent in slots:
            parents[parent]
    return list(TopologicalSorter(parents).static_order())  # its CycleError is a ValueError


def _stack_order(parents: dict[str, Any]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for start in parents:
        path, on_path = [start], set()
        while path:
            name = path[-1]
            waiting = [p for p in parents[name] if p not in found]
            if not waiting:
                found.setdefault(path.pop())
                on_path.discard(name)
                continue
            if name in on_path and waiting[0] in on_path:
                raise ValueError("cycle")
            on_path.add(name)
            path.append(waiting[0])
    return tuple(found)


def _generations(parents: dict[str, Any]) -> Any:
    """By the longest way from an input; as a generator."""
    left = {name: set(slots) for name, slots in parents.items()}
    children: dict[str, set[str]] = {name: set() for name in parents}
    for name, slots in left.items():
        for parent in slots:
            children[parent].add(name)
    ready = sorted(name for name in left if not left[name])
    count = 0
    while ready:
        yield from ready
        count += len(ready)
        freed = set()
        for name in ready:
            for child in children[name]:
                left[child].discard(name)
                if not left[child]:
                    freed.add(child)
        ready = sorted(freed)
    if count < len(parents):
        raise ValueError("there is a cycle")


def _slopes_by_ifs(op: str, inputs: Any, output: float, n: float = 1.0) -> Any:
    if op == "input":
        return []
    if op in ("+", "-"):
        return [1, 1 if op == "+" else -1]
    a = inputs[0]
    if op == "*":
        return inputs[::-1]
    if op == "/":
        return [output / a, -output / inputs[1]]
    table = {"neg": -1, "tanh": (1 - output) * (1 + output), "exp": math.exp(a) if op == "exp" else 0}
    table |= {"log": 1 / a if a else 0, "relu": int(a >= 0)}
    return [table[op]] if op in table else [n * output / a]


def _slopes_by_match(op: str, inputs: Any, output: float, n: float = 1.0) -> Any:
    match op, *inputs:
        case ["input"]:
            return np.array([])
        case ["+", _, _]:
            return np.ones(2)
        case ["-", _, _]:
            return np.array([1, -1])
        case ["*", a, b]:
            return np.array([b, a])
        case ["/", a, b]:
            return np.array([1 / b, -a / b**2])
        case ["neg", _]:
            return np.array([-1])
        case ["tanh", x]:
            return 1 / np.cosh([x]) ** 2
        case ["exp", _]:
            return np.array([output])
        case ["log", x]:
            return np.array([1 / x])
        case ["relu", x]:
            return np.heaviside([x], 0.5)
        case ["pow", x]:
            return np.array([n * np.power(x, n - 1)])
    raise AssertionError(op)


def _slopes_by_torch(op: str, inputs: Any, output: float, n: float = 1.0) -> Any:
    compute = {
        "+": lambda x: x[0] + x[1], "-": lambda x: x[0] - x[1], "*": lambda x: x[0] * x[1], "/": lambda x: x[0] / x[1],
        "neg": lambda x: -x[0], "tanh": lambda x: x[0].tanh(), "exp": lambda x: x[0].exp(), "log": lambda x: x[0].log(),
        "relu": lambda x: x[0].relu(), "pow": lambda x: x[0] ** n,
    }  # fmt: skip
    if not inputs:
        return ()
    leaves = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in inputs]
    return torch.autograd.grad(compute[op](leaves), leaves)


def _forward_by_asking(graph: dict[str, Any], inputs: dict[str, float]) -> dict[str, float]:
    values = {name: inputs[name] for name in graph if graph[name].op == "input"}

    def value(name: str) -> float:
        if name not in values:
            node = graph[name]
            values[name] = faults.RIGHT_VALUES[node.op]([value(p) for p in node.parents], node.n)
        return values[name]

    return {name: value(name) for name in graph}


def _forward_by_sweeps(graph: dict[str, Any], inputs: dict[str, float]) -> dict[str, Any]:
    """Sweep over the graph until nothing is left; results as NumPy scalars."""
    values: dict[str, Any] = {}
    while len(values) < len(graph):
        for name, (op, parents, n) in graph.items():
            if op == "input":
                values[name] = np.float64(inputs[name])
            elif name not in values and all(p in values for p in parents):
                values[name] = np.float64(faults.RIGHT_VALUES[op]([values[p] for p in parents], n))
    return values


def _forward_by_matching(Node: Any) -> Callable[..., Any]:
    """isinstance and `match` on the notebook's own class."""
    source = """
def forward_pass(graph, inputs):
    values = {}
    for name in TopologicalSorter({name: node.parents for name, node in graph.items()}).static_order():
        match graph[name]:
            case Node("input"):
                values[name] = inputs[name]
            case Node("pow", (x,), n):
                values[name] = values[x] ** n
            case Node(op, parents):
                values[name] = right[op]([values[p] for p in parents], 1.0)
            case _:
                raise TypeError("that is no Node of mine")
    return values
"""
    names = {"Node": Node, "TopologicalSorter": TopologicalSorter, "right": faults.RIGHT_VALUES}
    exec(source, names)
    made: Callable[..., Any] = names["forward_pass"]  # type: ignore[assignment]
    return made


@dataclasses.dataclass(frozen=True)
class OwnNode:
    """A learner's own class in place of the given one."""

    op: str
    parents: tuple[str, ...] = ()
    n: float = 1.0


def _slope(graph: Any, values: Any, name: str) -> Any:
    node = graph[name]
    if node.op == "input":
        return ()
    return faults.RIGHT_SLOPES[node.op]([values[p] for p in node.parents], values[name], node.n)


def _paths_from_the_source(graph: Any, values: Any, source: str, sink: str) -> float:
    """Walk forward from the source, slot by slot."""
    if source == sink:
        return 1.0
    total = 0.0
    for child, node in graph.items():
        for slot, parent in enumerate(node.parents):
            if parent == source:
                total += _slope(graph, values, child)[slot] * _paths_from_the_source(graph, values, child, sink)
    return total


def _paths_listed(graph: Any, values: Any, source: str, sink: str) -> Any:
    """Every path as a list, with a stack; a NumPy product of each."""
    finished, stack = [], [(sink, [])]
    while stack:
        name, slopes = stack.pop()
        if name == source:
            finished.append(np.prod(slopes))
            continue
        stack += [(p, [*slopes, s]) for p, s in zip(graph[name].parents, _slope(graph, values, name), strict=True)]
    return np.sum(finished)


def _paths_as_adjoints(graph: Any, values: Any, source: str, sink: str) -> float:
    """Not by paths at all: lesson 3's way."""
    adjoints = dict.fromkeys(graph, 0.0) | {sink: 1.0}
    for name in reversed(list(TopologicalSorter({k: n.parents for k, n in graph.items()}).static_order())):
        for parent, slope in zip(graph[name].parents, _slope(graph, values, name), strict=True):
            adjoints[parent] += adjoints[name] * slope
    return adjoints[source]


def _in_place(f: Any, theta: Any, h: float = 1e-5) -> Any:
    found = np.empty_like(theta)
    for i in np.ndindex(*theta.shape):
        before = theta[i]
        theta[i] = before + h
        up = f(theta)
        theta[i] = before - h
        down = f(theta)
        theta[i] = before
        found[i] = (up - down) / 2 / h
    return found


def _flat_steps(f: Any, theta: Any, h: float = 1e-5) -> Any:
    steps = h * np.eye(theta.size).reshape(theta.size, *theta.shape)
    return np.array([(f(theta + s) - f(theta - s)) / (2 * h) for s in steps]).reshape(theta.shape)


def _through_the_other(f: Any, theta: Any, h: float = 1e-5) -> Any:
    def along(i: Any) -> Callable[[float], float]:
        def moved(x: float) -> float:
            copy = np.array(theta)
            copy[i] = x
            return float(f(copy))

        return moved

    entries = [_as_mean(along(i), theta[i], h) for i in np.ndindex(theta.shape)]
    return torch.tensor(entries).reshape(theta.shape)


def _as_mean(f: Any, x: float, h: float = 1e-5) -> float:
    return 0.5 * ((f(x + h) - f(x)) / h + (f(x) - f(x - h)) / h)


def _errors_at_once(f: Any, df: Any, x: float, hs: Any) -> Any:
    return np.abs(np.stack([(f(x + hs) - f(x - hs)) / hs / 2, (f(x + hs) - f(x)) / hs]) - df(x))


def _errors_filled_in(f: Any, df: Any, x: float, hs: Any) -> Any:
    found = np.zeros((2, len(hs)), dtype=np.float32)
    for k, h in enumerate(hs.tolist()):
        found[0, k] = math.fabs(df(x) - 0.5 * (f(x + h) - f(x - h)) / h)
        found[1, k] = math.fabs(df(x) - (f(x + h) - f(x)) / h)
    return found


def _errors_as_lists(f: Any, df: Any, x: float, hs: Any) -> Any:
    rows: list[list[float]] = [[], []]
    for h in hs:
        rows[0].append(abs(_as_mean(f, x, h) - df(x)))
        rows[1].append(abs((f(x + h) - f(x)) / h - df(x)))
    return rows


ALTERNATIVES: dict[str, tuple[tuple[Any, ...], ...]] = {
    "1.1": ((_torch_two_steps,), (_named_in_one,), (lambda x: {k: Fraction(v) for k, v in faults.two_steps(x).items()},)),
    "1.2": ((_step_in_numpy,), (_step_twice,), (_step_exactly,)),
    "1.3": ((_library_order,), (_stack_order,), (_generations,), (faults.sorted_steps,)),
    "1.4": ((_slopes_by_ifs,), (_slopes_by_match,), (_slopes_by_torch,)),
    "1.5": (
        (_forward_by_asking,), (_forward_by_sweeps,), (_forward_by_matching(notebook()["Node"]),),
        (_forward_by_matching(OwnNode),), (faults.values_with(),),
    ),
    "1.6": ((_paths_from_the_source,), (_paths_listed,), (_paths_as_adjoints,)),
    "1.7": (
        (_as_mean, _in_place, lambda g, h: abs(h - g) / np.max([1, abs(g), abs(h)])),
        (lambda f, x, h=1e-5: np.diff([f(x - h), f(x + h)]) / (2 * h), _flat_steps, faults.relative),
        (faults.central, _through_the_other, lambda g, h: min(abs(g - h), abs(g - h) / max(abs(g), abs(h), 1e-9))),
    ),
    "1.8": ((_errors_at_once,), (_errors_filled_in,), (_errors_as_lists,)),
    "1.9": (
        (lambda x, t: 1 + t * t, lambda: (1.5, -0.7)),
        (lambda x, t: np.float64(100), lambda: np.array([-2.0, 3.0])),
        (lambda x, t: 1 / math.cosh(x), lambda: [1, 2]),
        (lambda x, t: 0 if x == -1 else 1 - t * t + 0.01, lambda: (10.0, 0.0)),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("id", "k"), [(id, k) for id, styles in ALTERNATIVES.items() for k in range(len(styles))])
def test_right_answers_in_other_styles_pass(id: str, k: int) -> None:
    for seed in range(3):
        verdict = graded(id, *ALTERNATIVES[id][k], seed=seed)
        assert verdict.score == verdict.max_score, verdict.text()


def test_every_exercise_has_at_least_three_other_styles() -> None:
    assert all(len(ALTERNATIVES[id]) >= 3 for id in IDS)


# ---- misconceptions -------------------------------------------------------------------------------------------------

LISTED = {
    "1.4": {
        "product-like-a-sum", "difference-sends-plus", "power-minus-one-outside", "power-without-its-factor",
        "power-keeps-its-exponent", "tanh-from-the-input", "tanh-not-squared", "tanh-with-plus", "exp-slope-is-its-input",
        "exp-like-a-power", "relu-always-open", "own-factor",
    },
    "1.7": {"two-h-missing", "one-sided", "single-precision", "not-put-back", "both-copies-moved"},
}  # fmt: skip


@pytest.mark.parametrize("id", list(LISTED))
def test_what_learners_are_known_to_get_wrong_is_there(id: str) -> None:
    assert {m.name for m in exercise(id).misconceptions} >= LISTED[id]


def test_a_graph_handed_on_where_its_parents_are_asked_for_is_told_in_words() -> None:
    names: dict[str, Any] = {"topological_order": lambda parents: [p for p in parents]}
    exec("def forward_pass(graph, inputs):\n    return {name: 0.0 for name in topological_order(graph)}", names)
    verdict = graded("1.5", names["forward_pass"])
    assert verdict.score == 0 and verdict.misconceptions == ["graph-for-parents"]
    assert "topological_order was handed the graph itself" in verdict.message


def test_names_are_unique_within_an_exercise() -> None:
    for spec in EXERCISES:
        names = [m.name for m in spec.misconceptions]
        assert len(names) == len(set(names))


# ---- one mistake costs its part -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("id", "name", "parts"),
    [
        ("1.1", "square-loses-its-two", ["local"]),
        ("1.1", "slope-at-the-wrong-place", ["local"]),
        ("1.1", "adds-along-a-path", ["chain"]),
        ("1.2", "slope-is-the-weight", ["gradient"]),
        ("1.2", "learning-rate-in-the-gradient", ["gradient"]),
        ("1.2", "steps-uphill", ["update"]),
        ("1.2", "nothing-recomputed", ["after"]),
        ("1.3", "counts-a-slot-once", ["repeated"]),
        ("1.3", "level-order", ["order"]),
        ("1.3", "no-eye-for-cycles", ["cycle"]),
        ("1.3", "makes-up-parents", ["cycle"]),
        ("1.3", "calls-itself", ["deep"]),
        ("1.4", "no-comma", ["form"]),
        ("1.4", "tanh-from-the-input", ["tanh"]),
        ("1.5", "computes-as-listed", ["order"]),
        ("1.5", "inputs-left-out", ["complete"]),
        ("1.5", "two-slots-one-value", ["slots"]),
        ("1.5", "logarithm-to-base-ten", ["operations"]),
        ("1.6", "two-slots-one-edge", ["slots"]),
        ("1.6", "nothing-moves-itself", ["ends"]),
        ("1.7", "two-h-missing", ["central"]),
        ("1.7", "one-sided", ["central"]),
        ("1.7", "flattened", ["gradient"]),
        ("1.7", "no-floor", ["relative-error"]),
        ("1.8", "signed-errors", ["form"]),
        ("1.8", "columns-for-rows", ["form"]),
        ("1.8", "one-sided-twice", ["central"]),
        ("1.9", "a-blind-point", ["exposed"]),
    ],
)
def test_one_mistake_costs_its_part_only(id: str, name: str, parts: list[str]) -> None:
    (held,) = [m for m in exercise(id).misconceptions if m.name == name]
    assert failed_parts(graded(id, *held.objects())) == parts


def _notebook_with(cell: str, *edits: tuple[str, str]) -> dict[str, Any]:
    """The learner's notebook, every answer right but that of one cell, which is edited."""
    names = dict(notebook())
    for source in read(SOURCE).cells:
        if source.is_solution:
            code = source.without_markers(SOLUTION)
            for old, new in edits if source.grade_id == cell else ():
                assert old in code
                code = code.replace(old, new)
            exec(code, names)
    return names


@pytest.mark.parametrize(
    ("cell", "edits", "costs"),
    [
        ("1.3-solution", (("return order", "return order[::-1]"),), ["order", "repeated", "deep"]),
        ("1.3-solution", (("missing[child] -= 1", "missing[child] -= 2"),), ["order", "deep"]),
        ("1.4-solution", (("1 - output**2", "1 - x[0] ** 2"),), ["tanh"]),
        ("1.4-solution", (("(x[1], x[0])", "(x[0], x[1])"),), ["mul"]),
        ("1.4-solution", (("(1.0, -1.0)", "(1.0, 1.0)"), ("(-1.0,)", "(1.0,)")), ["linear"]),
        (
            "1.4-solution",
            (("(1 - output**2,)", "(1 - output**2)"), ("(output,)", "output"), ("(-1.0,)", "-1.0")),
            ["form"],
        ),
    ],
)
def test_a_mistake_does_not_count_again_where_its_function_is_called(
    cell: str, edits: tuple[tuple[str, str], ...], costs: list[str]
) -> None:
    names = _notebook_with(cell, *edits)
    lost = {e.id: failed_parts(graded(e.id, *(names[n] for n in e.names), seed=1)) for e in EXERCISES}
    assert {id: parts for id, parts in lost.items() if parts} == {cell.removesuffix("-solution"): costs}


def test_slopes_that_are_told_excuse_no_sum_of_nothing() -> None:
    names = _notebook_with("1.4-solution", ("return rules[op]()", "return tuple(0.0 for _ in inputs)"))
    exec("def sum_over_paths(graph, values, source, sink):\n    return float(source == sink)", names)
    assert len(failed_parts(graded("1.6", names["sum_over_paths"]))) == 5


def test_what_stood_in_is_gone_after_the_check() -> None:
    names = _notebook_with("1.3-solution", ("return order", "return order[::-1]"))
    before = names["topological_order"], names["local_derivatives"]
    for id in ("1.5", "1.6"):
        graded(id, names[exercise(id).names[0]])
    assert (names["topological_order"], names["local_derivatives"]) == before


def test_two_mistakes_in_two_operations_are_both_named() -> None:
    wrong = faults.slopes_with(tanh=lambda x, y, n: (1 - y,), pow=lambda x, y, n: (x[0] ** (n - 1),))
    verdict = graded("1.4", wrong)
    assert verdict.misconceptions == ["tanh-not-squared", "power-without-its-factor"]
    assert failed_parts(verdict) == ["tanh", "pow"]


def test_a_wrong_rule_that_nobody_listed_is_located() -> None:
    verdict = graded("1.4", faults.slopes_with(log=lambda x, y, n: (2 / x[0],)))
    assert verdict.misconceptions == [] and verdict.where == "log"
    assert "expected" in verdict.message and "PyTorch" in verdict.message and "finite differences" in verdict.message


def test_a_wrong_value_is_located_in_a_picture() -> None:
    verdict = graded("1.5", faults.values_with(add=lambda x, n: x[0] + x[1] + 1))
    assert verdict.picture is not None
    (first,) = [node for node in verdict.picture["nodes"] if node["first"]]
    assert first["op"] == "+" and first["yours"] == pytest.approx(first["right"] + 1)


def test_all_zeros_earn_nothing() -> None:
    """What follows from a learner's own numbers is right only if there is something that it follows from."""
    names = ("y", "z", "dz_dy", "dy_dx", "dz_dx")
    assert graded("1.1", lambda x: dict.fromkeys(names, 0.0)).score == 0
    names = ("z", "loss", "dL_dz", "dz_dw", "grad", "w_new", "z_new", "loss_new")
    verdict = graded("1.2", lambda w, x, y, lr: dict.fromkeys(names, 0.0))
    assert "gradient" in failed_parts(verdict) and "update" in failed_parts(verdict) and verdict.score <= 1.5


# ---- 1.3: the dangerous ones ----------------------------------------------------------------------------------------

IN_A_FORK = apart._in_a_fork


@pytest.fixture
def forks(monkeypatch: pytest.MonkeyPatch) -> None:
    if not hasattr(os, "fork"):
        pytest.skip("this system cannot fork")
    monkeypatch.setattr(apart, "_in_a_fork", IN_A_FORK)


forking = pytest.mark.usefixtures("forks")


@forking
def test_a_recursive_answer_loses_only_the_long_chain() -> None:
    verdict = graded("1.3", _recursive_order)
    assert failed_parts(verdict) == ["deep"] and verdict.misconceptions == ["calls-itself"]


@forking
def test_death_in_the_long_chain_costs_that_part_only() -> None:
    def dies(parents: dict[str, Any]) -> list[str]:
        if len(parents) > 1000:
            os.kill(os.getpid(), 11)
        return faults.sorted_steps(parents)

    verdict = graded("1.3", dies)
    assert failed_parts(verdict) == ["deep"] and "ended the whole Python process" in verdict.message


@forking
def test_an_endless_search_costs_its_part_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autograder.student.probes.chain_rule.SECONDS_FOR_A_CYCLE", 0.3)
    monkeypatch.setattr("autograder.student.probes.chain_rule.SECONDS_FOR_A_CHAIN", 0.3)

    def sweeps(parents: dict[str, Any]) -> list[str]:
        """Sweeps until all are listed, which on a cycle is never, and on the long chain too late."""
        found: list[str] = []
        while len(found) < len(parents):
            found += [
                n for n in parents if n not in found and all(p in found for p in map(parents.get, [n]) for p in p)
            ]
            for slots in parents.values():
                for parent in slots:
                    parents[parent]
        return found

    verdict = graded("1.3", sweeps)
    assert failed_parts(verdict) == ["cycle", "deep"]
    assert "did not come back" in verdict.text()


def test_where_nothing_forks_the_long_chain_runs_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "fork", raising=False)
    assert graded("1.3", *given("1.3")).status == "passed"
    assert apart.run_apart(lambda: 1 / 0, 1.0)["raised"][0] == "ZeroDivisionError"


@forking
def test_what_a_forked_call_prints_and_raises_comes_back_as_data(capfd: pytest.CaptureFixture[str]) -> None:
    def speaks() -> int:
        print("not for the notebook")
        return 3

    assert apart.run_apart(speaks, 5.0) == {"value": 3}
    assert "not for" not in "".join(capfd.readouterr())
    assert apart.run_apart(lambda: sys.exit(2), 5.0) == {"stopped": "death"}


@forking
def test_the_lessons_own_answer_manages_the_full_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain_rule, "CHAIN", 100_000)
    assert graded("1.3", *given("1.3")).status == "passed"


def test_a_chain_has_one_order_and_no_hints_about_it() -> None:
    parents, right = long_chain(1000)
    assert sorted(parents) == sorted(right) and list(parents) != right and sorted(right) != right
    assert all(parents[child] == (parent,) for parent, child in pairwise(right))


# ---- references -----------------------------------------------------------------------------------------------------


@settings(max_examples=15, deadline=None)
@drawn(st.integers(0, 10**6))
def test_references_agree_with_differences_and_pytorch(seed: int) -> None:
    """Forward values and path sums of the cases, by three witnesses that share nothing."""
    for case in cases_of("1.6", seed):
        graph = from_json(case["graph"])
        values, adjoints = pytorch.adjoints(graph, case["inputs"], case["sink"])
        assert values == pytest.approx(case["values"], rel=1e-9)
        path_sum = faults.paths_with(faults._sum_of_products)(graph, values, case["source"], case["sink"])
        assert path_sum == pytest.approx(adjoints[case["source"]], rel=1e-7, abs=1e-9)
        difference = finite_difference.adjoint(graph, case["inputs"], case["sink"], case["source"])
        assert difference == pytest.approx(path_sum, rel=1e-4, abs=1e-5)


@settings(max_examples=25, deadline=None)
@drawn(st.floats(-3, 3), st.floats(-3, 3), st.floats(-3, 3), st.floats(0.001, 0.2))
def test_the_two_dictionaries_agree_with_pytorch(w: float, x: float, y: float, rate: float) -> None:
    right = faults.one_step(w, x, y, rate)
    leaf = torch.tensor(w, dtype=torch.float64, requires_grad=True)
    loss = (leaf * x - y) ** 2
    loss.backward()  # type: ignore[no-untyped-call]
    assert leaf.grad is not None
    assert (right["loss"], right["grad"]) == pytest.approx((loss.item(), leaf.grad.item()), abs=1e-9)
    assert right["w_new"] == pytest.approx(w - rate * leaf.grad.item())
    assert finite_difference.central(lambda t: (t * x - y) ** 2, w) == pytest.approx(right["grad"], abs=1e-4)
    two = faults.two_steps(x)
    assert two["dz_dx"] == pytest.approx(finite_difference.central(lambda t: (3 * t + 1) ** 2, x), abs=1e-4)


@settings(max_examples=20, deadline=None)
@drawn(st.integers(0, 10**6))
def test_random_orders_are_judged_by_property(seed: int) -> None:
    """Any valid order passes, and swapping a parent with its child never does."""
    spec = exercise("1.3")
    for case in cases_of("1.3", seed):
        if case["part"] != "order":
            continue
        graph = from_json({name: ["+", slots, 1.0] for name, slots in case["parents"].items()})
        valid = order(graph)
        assert spec.judge(case, valid) is None
        child = next(name for name in valid if graph[name].parents)
        parent = graph[child].parents[0]
        swapped = [{child: parent, parent: child}.get(name, name) for name in valid]
        assert spec.judge(case, swapped) is not None
        assert spec.judge(case, valid[:-1]) is not None
        assert spec.judge(case, [*valid, valid[0]]) is not None


# ---- answers of odd kinds -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("id", "objects", "said"),
    [
        ("1.1", (lambda x: [1, 2, 3],), "not a dict"),
        ("1.1", (lambda x: None,), "returned None, not a dict; does every way through it end in return?"),
        ("1.1", (lambda x: {"y": 3 * x + 1},), 'no entry "'),
        ("1.1", (lambda x: dict.fromkeys(("y", "z", "dz_dy", "dy_dx", "dz_dx"), "7"),), "not a number"),
        ("1.3", (lambda parents: None,), "not a list of names"),
        ("1.3", (lambda parents: list(range(len(parents))),), "is no node of this graph"),
        ("1.4", (lambda op, inputs, output, n: None,), "does that branch end in return"),
        ("1.4", (lambda op, inputs, output, n: (math.nan,) * len(inputs),), "expected"),
        ("1.5", (lambda graph, inputs: list(inputs.values()),), "not a dict"),
        ("1.6", (lambda graph, values, source, sink: None,), "returned None"),
        ("1.7", (None, None, None), "not a function"),
        ("1.8", (lambda f, df, x, hs: [[1], [2, 3]],), "different lengths"),
        ("1.9", (lambda x, t: 1.0, lambda: 3), "not two numbers"),
        ("1.9", (lambda x, t: 1.0, lambda: (math.nan, 1.0)), "two finite numbers"),
        ("1.9", (lambda x, t: 1.0, lambda: (1e-7, 0.5)), "hardly counts"),
    ],
)
def test_strange_answers_get_a_sentence(id: str, objects: tuple[Any, ...], said: str) -> None:
    verdict = graded(id, *objects)
    assert verdict.score < verdict.max_score
    assert said in verdict.text() and "?." not in verdict.text(), verdict.text()


@pytest.mark.parametrize("id", IDS)
def test_evidence_of_strange_shape_earns_nothing_and_breaks_nothing(id: str) -> None:
    spec = exercise(id)
    from autograder.exercises.judging import judge

    cases = cases_of(id)
    for strange in (None, [], {}, "x", 1e308, [None], {"value": 3}, {"raised": []}, {"slopes": "abc"}, {"shape": 3}):
        verdict = judge(spec, cases, [{"value": strange}] * len(cases))
        assert verdict.score == 0, (strange, verdict.text())
