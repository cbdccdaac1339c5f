"""Right engines in any style get full marks; what another exercise asks for costs nothing here."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from autograder.exercises.engines import make_engine
from tests.checking import failed_parts, graded
from tests.learners import written

STYLES = sorted(path.stem for path in (Path(__file__).parent / "engines").glob("[a-z]*.py"))
RIGHT = [style for style in STYLES if style != "no_reflected_operators"]


def engine(style: str) -> ModuleType:
    return importlib.import_module(f"tests.engines.{style}")


def test_there_are_many_styles() -> None:
    assert len(RIGHT) >= 15


@pytest.mark.parametrize("exercise", ["3.1", "3.2", "3.4"])
@pytest.mark.parametrize("style", RIGHT)
def test_a_right_engine_in_any_style_passes(style: str, exercise: str) -> None:
    for seed in range(5):
        verdict = graded(exercise, engine(style).Value, seed=seed)
        assert verdict.score == verdict.max_score, f"seed {seed}\n{verdict.text()}"


@pytest.mark.parametrize("style", ["whole_class", "functions"])
@pytest.mark.parametrize("exercise", ["3.1", "3.2", "3.4"])
def test_the_learners_of_these_tests_are_right_before_they_are_edited(style: str, exercise: str) -> None:
    verdict = graded(exercise, written(style)["Value"])
    assert verdict.score == verdict.max_score, verdict.text()


@pytest.mark.parametrize("exercise", ["3.1", "3.4"])
def test_missing_reflected_operators_cost_nothing_where_they_are_not_asked_for(exercise: str) -> None:
    verdict = graded(exercise, engine("no_reflected_operators").Value)
    assert verdict.score == verdict.max_score, verdict.text()


def test_a_missing_operator_is_called_missing_where_it_is_asked_for() -> None:
    verdict = graded("3.2", engine("no_reflected_operators").Value)
    assert failed_parts(verdict) == ["sub", "div"]
    assert verdict.misconceptions == ["reflected-missing"]
    assert "__rsub__" in verdict.message and "expected" not in verdict.message


def test_an_engine_without_tanh_passes_the_backward_exercise() -> None:
    """3.4 is about the pass; its running example does without tanh where there is none."""
    Value = written("whole_class", ("    def tanh(self)", "    def hyperbolic_tangent(self)"))["Value"]
    assert graded("3.4", Value).score == 6
    verdict = graded("3.2", Value)
    assert failed_parts(verdict) == ["tanh"]
    assert "has no method tanh" in verdict.message


def test_a_stale_second_backward_costs_only_exercise_5() -> None:
    naive = ("        for node in order:\n            if node._parents:\n                node.grad = 0.0\n", "")
    learner = written("whole_class", naive)
    assert graded("3.4", learner["Value"]).score == 6
    assert failed_parts(graded("3.5", learner["Value"], learner["zero_grad"])) == ["stale"]


def _passes_that_add_one(seed: float, extra: float) -> Any:
    def value_backward(root: Any) -> None:
        order = engine.topological_order(root)
        for node in order:
            if node._parents:
                node.grad = 0.0
        root.grad = seed
        for node in reversed(order):
            if node._backward is not None:
                node._backward(node.grad)
        for node in order:
            if not node._parents:
                node.grad += extra

    engine = make_engine(value_backward=lambda _: value_backward)
    return engine.Value


def test_a_pass_that_adds_what_nobody_sent_fails_the_second_call_too() -> None:
    verdict = graded("3.5", _passes_that_add_one(seed=1.0, extra=1.0), make_engine().zero_grad)
    assert failed_parts(verdict) == ["second-backward"]
    assert "nothing else" in verdict.message


def test_a_wrong_seed_is_a_matter_of_3_4_alone() -> None:
    Value = _passes_that_add_one(seed=2.0, extra=0.0)
    assert graded("3.4", Value).score < 6
    assert graded("3.5", Value, make_engine().zero_grad).score == 4


def test_zero_to_the_power_zero_and_large_tanh_are_not_asked_for() -> None:
    """Many right engines raise at 0**0 and overflow at tanh(400); no case goes there."""
    Value = engine("set_of_parents").Value
    with pytest.raises(OverflowError):
        Value(400.0).tanh()
    assert graded("3.2", Value).score == 10
