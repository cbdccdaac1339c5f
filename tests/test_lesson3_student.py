"""Lesson 3 as a student meets it: natural mistakes, and what the check says to them in either edition."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from autograder.exercises import exercise
from autograder.exercises.engines import make_engine
from autograder.exercises.judging import judge
from autograder.exercises.reverse_uses import NAMES, right_check
from autograder.references.graphs import parse
from autograder.student.observe import observe
from autograder.student.probes import probe_for
from autograder.verdict import PASSED, Verdict
from tests.checking import failed_parts, graded


def classroom(id: str, *objects: Any) -> Verdict:
    """The verdict on the worked examples, which are all that a student in a class sees before grading."""
    spec = exercise(id)
    cases = list(spec.worked())
    return judge(spec, cases, observe(probe_for(id), cases, objects), worked_only=True)


BOTH = pytest.mark.parametrize("checked", [classroom, graded], ids=["classroom", "graded"])
Checked = Callable[..., Verdict]


# ---- 3.3 and 3.1: too many calls inside each other -------------------------------------------------------------------


def recursive_order(root: Any) -> list[Any]:
    order: list[Any] = []
    met: set[int] = set()

    def visit(node: Any) -> None:
        if id(node) not in met:
            met.add(id(node))
            for parent in node._parents:
                visit(parent)
            order.append(node)

    visit(root)
    return order


@BOTH
def test_a_recursive_order_loses_the_deep_chain_only_and_is_told_why(checked: Checked) -> None:
    verdict = checked("3.3", recursive_order, make_engine().Value)
    assert failed_parts(verdict) == ["deep"]
    assert "calls itself" in verdict.text() and "by hand" not in verdict.text()


# ---- 3.4 ------------------------------------------------------------------------------------------------------------


def with_pass(firing: Callable[[list[Any]], Iterable[Any]], fire: Callable[[Any], None]) -> Any:
    def make(engine: Any) -> Any:
        def value_backward(root: Any) -> None:
            root.grad = 1.0
            for node in firing(engine.topological_order(root)):
                if node._backward is not None:
                    fire(node)

        return value_backward

    return make_engine(value_backward=make).Value


@BOTH
def test_a_pass_that_fires_every_node_with_one_is_not_told_that_its_seed_is_wrong(checked: Checked) -> None:
    Value = with_pass(reversed, lambda node: node._backward(1.0))
    assert checked("3.4", Value).misconceptions == ["fires-with-one"]


@BOTH
def test_forward_order_is_named(checked: Checked) -> None:
    Value = with_pass(lambda order: order, lambda node: node._backward(node.grad))
    assert checked("3.4", Value).misconceptions == ["forward-order"]


@BOTH
def test_a_root_that_fires_alone_is_named(checked: Checked) -> None:
    Value = with_pass(lambda order: order[-1:], lambda node: node._backward(node.grad))
    assert checked("3.4", Value).misconceptions == ["one-level-only"]


# ---- 3.5 ------------------------------------------------------------------------------------------------------------


def clear_to_none(values: Iterable[Any]) -> None:
    for value in values:
        value.grad = None


@BOTH
def test_zero_grad_that_leaves_none_is_not_zero(checked: Checked) -> None:
    verdict = checked("3.5", make_engine().Value, clear_to_none)
    assert failed_parts(verdict) == ["zero-grad"]
    assert "its grad is None" in verdict.message


def test_none_will_do_where_gradients_begin_with_none() -> None:
    class Value(make_engine().Value):  # type: ignore[misc]
        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            self.grad = None

    spec = exercise("3.5")
    cases = [case for case in spec.worked() if case["part"] == "zero-grad"]
    seen = observe(probe_for("3.5"), cases, (Value, clear_to_none))
    assert [spec.judge(case, found["value"]) for case, found in zip(cases, seen, strict=True)] == [None]


def test_one_node_in_between_is_spoken_of_as_one() -> None:
    Value = with_pass(reversed, lambda node: node._backward(node.grad))
    assert "What does u hold" in classroom("3.5", Value, make_engine().zero_grad).text()


def test_points_are_shown_with_two_places_at_most() -> None:
    assert "2.67 / 4" in graded("3.5", make_engine().Value, clear_to_none).text()


# ---- 3.7 ------------------------------------------------------------------------------------------------------------


def changed_report(change: Callable[[dict[str, Any]], None]) -> Any:
    engine = make_engine()

    def gradient_check(f: Any, values: Any, h: float = 1e-6) -> dict[str, Any]:
        report = right_check(engine, f, values, h)
        change(report)
        return report

    return gradient_check


def plain_distance(report: dict[str, Any]) -> None:
    report["max_disagreement"] = max(
        abs(g - k) for at in zip(*(report[n] for n in NAMES), strict=True) for g in at for k in at
    )


@BOTH
def test_a_plain_distance_is_no_relative_error(checked: Checked) -> None:
    verdict = checked("3.7", changed_report(plain_distance))
    assert failed_parts(verdict) == ["agreement"] and verdict.misconceptions == ["absolute-not-relative"]


@BOTH
def test_blaming_the_wrong_witness_costs_one_part(checked: Checked) -> None:
    verdict = checked(
        "3.7", changed_report(lambda report: report["first"] is not None and report.update(odd_one_out="engine"))
    )
    assert failed_parts(verdict) == ["odd-one-out"]


def test_an_index_is_shown_as_one() -> None:
    text = graded("3.7", changed_report(lambda report: report["first"] is not None and report.update(first=7))).text()
    assert '"first" is 7;' in text


# ---- 3.9 ------------------------------------------------------------------------------------------------------------

ORDERS: dict[str, Any] = {
    "graph": parse("u = a*b; v = u + a; w = tanh(b); L = v*w")[0],
    "inputs": {"a": 1.5, "b": -0.7},
    "sink": "L",
    "order_1": ["a", "b", "u", "v", "w", "L"],
    "order_2": ["b", "a", "w", "u", "v", "L"],
    "bad_reverse_order": ["L", "u", "v", "w", "a", "b"],
    "lost": ("v", "u"),
}


@BOTH
def test_the_sink_fires_first(checked: Checked) -> None:
    assert checked("3.9", lambda: ORDERS).status == PASSED
    verdict = checked("3.9", lambda: {**ORDERS, "bad_reverse_order": ORDERS["order_1"]})
    assert failed_parts(verdict) == ["bad-order"] and "the sink, L, comes first" in verdict.message


def test_a_lost_message_that_is_no_pair_is_told_so() -> None:
    assert "not a pair (child, parent)" in classroom("3.9", lambda: {**ORDERS, "lost": "v → u"}).text()
