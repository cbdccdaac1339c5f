"""Lesson 2's exercises: right answers in any style pass, each mistake is named and costs its part only."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from autograder.authoring.source import SOLUTION, read
from autograder.exercises import exercise, exercises_of
from autograder.exercises.forward_mode import nested_by_pytorch, right_tangents
from autograder.exercises.forward_mode_faults import make_dual
from autograder.references import finite_difference
from autograder.references.graphs import from_json
from autograder.student import cards, data_graph, pictures
from autograder.student.probes.forward_mode import NESTED
from tests.checking import cases_of, failed_parts, graded
from tests.duals import STYLES
from tests.lesson_run import learners_names

SOURCE = Path(__file__).parent.parent / "source" / "2-forward-mode" / "forward_mode.py"
EXERCISES = exercises_of("2-forward-mode").exercises
IDS = [e.id for e in EXERCISES]
GIVEN = ("given-graphs", "dual-class", "tagged-class")


notebook = partial(learners_names, "2-forward-mode")


def given(id: str) -> tuple[Any, ...]:
    return tuple(notebook()[name] for name in exercise(id).names)


# ---- references -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("id", [id for id in IDS if id not in ("2.7", "2.8")])
def test_both_references_agree_on_every_case(id: str) -> None:
    for seed in range(3):
        for case in cases_of(id, seed):
            seed_at = case.get("seed") or dict(zip(case["names"], case.get("direction") or _ones(case), strict=True))
            _, right = right_tangents(case["graph"], case["inputs"], seed_at)
            h = case.get("h", 1e-6)
            moved = finite_difference.tangents(from_json(case["graph"]), case["inputs"], seed_at, h)
            for name, t in right.items():
                assert moved[name] == pytest.approx(t, rel=1e-5, abs=1e-5), (case["says"], name)


def _ones(case: Mapping[str, Any]) -> list[float]:
    return [1.0] * len(case["names"])


@pytest.mark.parametrize("text", NESTED)
def test_nested_references_agree(text: str) -> None:
    def difference(f: Callable[[float], float], x: float) -> float:
        h = 2e-2
        return (8 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12 * h)

    assert NESTED[text](difference, 0.8, -1.3) == pytest.approx(nested_by_pytorch(text, 0.8, -1.3), rel=1e-5, abs=1e-5)


# ---- right in other styles ------------------------------------------------------------------------------------------


def by_recursion(graph: Any, values: Any, seed: Any) -> dict[str, float]:
    slopes_of = notebook()["local_derivatives"]

    @cache
    def tangent(name: str) -> float:
        node = graph[name]
        slopes = slopes_of(node.op, tuple(values[p] for p in node.parents), values[name], node.n)
        return seed.get(name, 0) + sum(s * tangent(p) for s, p in zip(slopes, node.parents, strict=True))

    return {name: tangent(name) for name in graph}


def by_pushing(graph: Any, values: Any, seed: Any) -> dict[str, float]:
    """Each node sends its tangent on to its children, once it is complete."""
    found = dict.fromkeys(graph, 0.0) | dict(seed)
    for name in notebook()["topological_order"]({n: node.parents for n, node in graph.items()}):
        for child, node in graph.items():
            slopes = notebook()["local_derivatives"](
                node.op, tuple(values[p] for p in node.parents), values[child], node.n
            )
            for slope, parent in zip(slopes, node.parents, strict=True):
                if parent == name:
                    found[child] += slope * found[name]
    return found


def by_linear_algebra(graph: Any, values: Any, seed: Any) -> dict[str, Any]:
    """(1 − A) ẋ = seed, with A the matrix of local derivatives; NumPy numbers come out."""
    names = list(graph)
    A = np.zeros((len(names), len(names)))
    for child, node in graph.items():
        slopes = notebook()["local_derivatives"](node.op, tuple(values[p] for p in node.parents), values[child], node.n)
        for slope, parent in zip(slopes, node.parents, strict=True):
            A[names.index(child), names.index(parent)] += slope
    solved = np.linalg.solve(np.eye(len(names)) - A, [seed.get(name, 0.0) for name in names])
    return dict(zip(names, solved, strict=True))


class Own:
    """Lends a learner's functions a class of their own."""

    Dual = STYLES["WithOwnStorage"][0]

    @classmethod
    def run(cls, f: Callable[[Any], Any], xs: Sequence[float], seed: Sequence[float]) -> Any:
        return f([cls.Dual(x, t) for x, t in zip(xs, seed, strict=True)])


def tangent_of(y: Any) -> Any:
    return getattr(y, "tangent", 0.0)


def switching_seeds(f: Any, theta: Any) -> Any:
    """One set of Duals, whose seeds are switched on and off."""
    Dual = notebook()["Dual"]
    duals = [Dual(x) for x in theta]
    found = np.empty(len(theta))
    for i, x in enumerate(duals):
        x.tangent = 1.0
        y = f(duals)
        found[i] = y.tangent if isinstance(y, Dual) else 0
        x.tangent = 0.0
    return found


def floats_beside_one_dual(f: Any, theta: Any) -> Any:
    AsTuple = STYLES["AsTuple"][0]
    return [tangent_of(f([AsTuple(x, 1.0) if i == j else x for j, x in enumerate(theta)])) for i in range(len(theta))]


def columns_stacked(f: Any, x: Any) -> Any:
    return np.column_stack([[tangent_of(y) for y in Own.run(f, x, e)] for e in np.eye(len(x))])


def filled_after_a_first_look(f: Any, x: Any) -> Any:
    J = np.zeros((len(f(list(x))), len(x)))
    for j in range(len(x)):
        J[:, j] = [tangent_of(y) for y in Own.run(f, x, np.eye(len(x))[j])]
    return J


def rows_of_lists(f: Any, x: Any) -> Any:
    columns = [[tangent_of(y) for y in Own.run(f, x, e)] for e in np.eye(len(x)).tolist()]
    return [list(row) for row in zip(*columns, strict=True)]


def polynomial_derivative() -> Callable[[Any, Any], Any]:
    """Nested derivatives without pairs: a number is a dict from sets of nudges to coefficients."""
    fresh = itertools.count()

    class Nudged:
        def __init__(self, parts: dict[frozenset[int], float]) -> None:
            self.parts = parts

        @staticmethod
        def of(x: Any) -> dict[frozenset[int], float]:
            return x.parts if isinstance(x, Nudged) else {frozenset(): float(x)}

        def __add__(self, other: Any) -> Any:
            a, b = self.parts, self.of(other)
            return Nudged({k: a.get(k, 0.0) + b.get(k, 0.0) for k in a.keys() | b.keys()})

        def __mul__(self, other: Any) -> Any:
            found: dict[frozenset[int], float] = {}
            for (k, x), (m, y) in itertools.product(self.parts.items(), self.of(other).items()):
                if not k & m:
                    found[k | m] = found.get(k | m, 0.0) + x * y
            return Nudged(found)

        __radd__, __rmul__ = __add__, __mul__

    def derive(f: Any, x: Any) -> Any:
        nudge = next(fresh)
        y = Nudged.of(f(Nudged(dict(Nudged.of(x)) | {frozenset([nudge]): 1.0})))
        rest = {k - {nudge}: c for k, c in y.items() if nudge in k}
        return rest.get(frozenset(), 0.0) if rest.keys() <= {frozenset()} else Nudged(rest)

    return derive


def lifting_one_side_at_a_time() -> Any:
    names = dict(notebook())
    exec(
        "def lift(a, b):\n"
        "    if tag_of(a) < tag_of(b):\n        return Tagged(a, 0, b.tag), b\n"
        "    if tag_of(b) < tag_of(a):\n        return a, Tagged(b, 0, a.tag)\n"
        "    return a, b\n",
        names,
    )
    exec(next(c.source for c in read(SOURCE).cells if c.grade_id == "tagged-class"), names)
    return names["nested_derivative"]


def nested_by_torch(f: Any, x: Any) -> Any:
    at = x.clone() if isinstance(x, torch.Tensor) else torch.tensor(x, dtype=torch.float64, requires_grad=True)
    y = f(at)
    if not isinstance(y, torch.Tensor) or not y.requires_grad:
        return 0.0
    slope = torch.autograd.grad(y, at, create_graph=True, allow_unused=True)[0]
    return 0.0 if slope is None else slope


OTHER_STYLES: dict[str, list[tuple[Any, ...]]] = {
    "2.0": [(by_recursion,), (by_pushing,), (by_linear_algebra,)],
    "2.1": [(style[0],) for style in STYLES.values()],
    "2.2": list(STYLES.values()),
    "2.3": [
        (lambda f, x: tangent_of(f(Own.Dual(x, 1))),),
        (lambda f, x: np.float64(tangent_of(f(STYLES["WithNumPy"][0](x, 1.0)))),),
        (lambda f, x: tangent_of(f(STYLES["AsDataclass"][0](x, 2.0))) / 2,),
        (notebook()["nested_derivative"],),
    ],
    "2.4": [
        (lambda f, xs, r: tuple(map(float, _pair(Own.run(f, xs, r)))),),
        (lambda f, xs, r: np.array(_pair(f(tuple(map(STYLES["WithNumPy"][0], xs, r))))),),
        (lambda f, xs, r: _pair(f([*map(STYLES["AsTuple"][0], xs, r)])),),
    ],
    "2.5": [
        (switching_seeds,),
        (floats_beside_one_dual,),
        (lambda f, theta: columns_stacked(lambda x: [f(x)], theta)[0],),
    ],
    "2.6": [(columns_stacked,), (filled_after_a_first_look,), (rows_of_lists,)],
    "2.7": [
        (lambda P, m: dict(jvp=1.0, forward_gradient=P, jacobian=P, one_sided=1 + P, central=P + P),),
        (lambda P, m: {k: np.int64(a * P + b) for k, (a, b) in COUNTS.items()},),
        (lambda P, m: {k: a * P + b for k, (a, b) in reversed(COUNTS.items())} | {"more": "besides"},),
    ],
    "2.8": [(polynomial_derivative(),), (lifting_one_side_at_a_time(),), (nested_by_torch,)],
}
COUNTS = {"jvp": (0, 1), "forward_gradient": (1, 0), "jacobian": (1, 0), "one_sided": (1, 1), "central": (2, 0)}


def _pair(y: Any) -> tuple[Any, Any]:
    return (y.value, y.tangent) if hasattr(y, "tangent") else (y, 0.0)


@pytest.mark.parametrize(("id", "objects"), [(id, o) for id, many in OTHER_STYLES.items() for o in many])
def test_right_answers_in_other_styles_pass(id: str, objects: tuple[Any, ...]) -> None:
    for seed in range(3):
        verdict = graded(id, *objects, seed=seed)
        assert verdict.score == verdict.max_score, f"seed {seed}\n{verdict.text()}"


# ---- mistakes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("op", ["add", "sub", "neg", "mul", "div", "pow"])
def test_a_wrong_rule_that_nobody_listed_is_located_and_costs_its_part(op: str) -> None:
    Dual = make_dual({op: lambda *operands: 0.123 * operands[0][1] + 0.7}).Dual
    for seed in range(2):
        verdict = graded("2.1", Dual, seed=seed)
        assert failed_parts(verdict) == [op], verdict.text()
        assert verdict.where == op and verdict.misconceptions == []
        assert "your tangent" in verdict.message and "expected" in verdict.message
        assert verdict.picture and any(node["first"] for node in verdict.picture["nodes"])


def test_a_failing_graph_compares_tangents() -> None:
    (wrong,) = next(m for m in exercise("2.0").misconceptions if m.name == "ignores-incoming-tangent").objects()
    verdict = graded("2.0", wrong)
    assert verdict.picture is not None
    assert "your tangent" in pictures.describe(verdict.picture)
    assert "<svg" in cards.card_html(verdict)


def test_a_graph_as_data_shows_tangents() -> None:
    Node = notebook()["Node"]
    graph = {"x": Node("input"), "y": Node("*", ("x", "x"))}
    picture = data_graph.picture_of(graph, {"x": 3.0}, tangents={"x": 1.0, "y": 6.0})
    assert "y = x times x: value 9, tangent 6" in pictures.describe(picture)
    assert ">tangent<" in data_graph.figure(picture)


def test_two_mistakes_are_both_named() -> None:
    Dual = make_dual({"mul": lambda r, s: r[1] * s[1], "neg": lambda r: r[1]}).Dual
    verdict = graded("2.1", Dual)
    assert failed_parts(verdict) == ["neg", "mul"]
    assert verdict.misconceptions == ["negation-keeps-the-tangent", "product-of-tangents"]


def test_a_wrong_difference_and_a_wrong_minus_do_not_excuse_each_other() -> None:
    """Each of the two may be written by way of the other; the check must not follow that round in a circle."""
    Dual = make_dual({"sub": lambda r, s: r[1] + s[1], "neg": lambda r: r[1]}).Dual
    verdict = graded("2.1", Dual)
    assert "neg" in failed_parts(verdict) and "negation-keeps-the-tangent" in verdict.misconceptions


@pytest.mark.parametrize("op", ["tanh", "exp", "log", "relu"])
def test_a_wrong_function_costs_its_part(op: str) -> None:
    dual = make_dual({op: lambda r: 0.321 * r[1] + 0.1})
    verdict = graded("2.2", dual.Dual, *dual.functions)
    assert failed_parts(verdict) == [op] and verdict.where == op


@pytest.mark.parametrize("id", ["2.3", "2.4", "2.5", "2.6"])
def test_a_wrong_product_rule_costs_nothing_where_programs_are_run(id: str) -> None:
    """The checks of 2.3 to 2.6 bring their own arithmetic."""
    names = dict(notebook())
    exec("def dual_mul(r, s):\n    return Dual(r.value * s.value, r.tangent * s.tangent)", names)
    for cell in read(SOURCE).cells:
        if cell.grade_id == "dual-class" or (cell.is_solution and cell.exercise in ("2.3", "2.4", "2.5", "2.6")):
            exec(cell.without_markers(SOLUTION), names)
    verdict = graded(id, *(names[name] for name in exercise(id).names))
    assert verdict.score == verdict.max_score, verdict.text()


def test_close_is_not_exact() -> None:
    verdict = graded("2.3", lambda f, x: (f(x + 3e-6) - f(x - 3e-6)) / 6e-6)
    assert failed_parts(verdict) == ["exact"]
    assert "exact" in verdict.message


def test_calls_are_told_from_what_comes_back() -> None:
    def with_a_call_at_the_end(f: Any, theta: Any) -> Any:
        found = given("2.5")[0](f, theta)
        f(list(theta))
        return found

    verdict = graded("2.5", with_a_call_at_the_end)
    assert failed_parts(verdict) == ["calls"]
    assert "the first one took 4 calls; expected 3" in verdict.message


def test_a_gradient_may_not_lie_about_its_calls() -> None:
    """Nothing that a learner reports is believed: only what came back from f counts."""

    def with_calls_in_between(f: Any, theta: Any) -> Any:
        found = []
        for i in range(len(theta)):
            found.append(tangent_of(Own.run(f, theta, np.eye(len(theta))[i])))
            f(list(theta))
        return np.array(found)

    verdict = graded("2.5", with_calls_in_between)
    assert failed_parts(verdict) == ["calls"]
    assert "calls number 1, 3, 5" in verdict.message


@pytest.mark.parametrize(
    ("id", "objects", "says"),
    [
        ("2.0", (lambda graph, values, seed: {},), "there is no entry for"),
        ("2.0", (lambda graph, values, seed: 3.0,), "not a dict"),
        ("2.0", (lambda graph, values, seed: None,), "end in return?"),
        ("2.1", (3.0,), "not a class"),
        ("2.3", (lambda f, x: f(STYLES["AsDataclass"][0](x, 1.0)),), "not a number"),
        ("2.3", (lambda f, x: None,), "return"),
        ("2.4", (lambda f, xs, r: 1.0,), "not a pair"),
        ("2.5", (lambda f, theta: np.zeros((1, len(theta))),), "shape"),
        ("2.5", (lambda f, theta: Own.run(f, theta, theta),), "gradient"),
        ("2.6", (lambda f, x: [f([STYLES["AsDataclass"][0](t, 1.0) for t in x])],), "not a number"),
        ("2.7", (lambda P, m: {},), "no entry"),
        ("2.7", (lambda P, m: 4,), "not a dict"),
        ("2.7", (lambda P, m: None,), "end in return?"),
        ("2.8", (None,), "not a function"),
    ],
)
def test_strange_answers_are_told_in_words(id: str, objects: tuple[Any, ...], says: str) -> None:
    verdict = graded(id, *objects)
    assert verdict.score < verdict.max_score
    assert says in verdict.text()
    assert "Traceback" not in verdict.text() and "could not read" not in verdict.text()


def test_endless_walks_are_stopped() -> None:
    (walk,) = next(m for m in exercise("2.0").misconceptions if m.name == "walks-every-path").objects()
    verdict = graded("2.0", walk)
    assert failed_parts(verdict) == ["work"]
    assert "60 edges" in verdict.message


def test_messages_never_show_our_own_names() -> None:
    verdict = graded("2.4", lambda f, xs, r: f(*xs))
    assert "f() takes 1 positional argument" in verdict.text() and "Program" not in verdict.text()
