"""From evidence to verdict: points, names and messages; and whatever evidence claims, the judge keeps its head."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.exercises.engines import make_engine
from autograder.exercises.judging import judge
from autograder.exercises.model import Exercise, Finding, Misconception, Part, same_value
from autograder.exercises.reverse_mode import LESSON
from autograder.references import graphs
from autograder.student import probes
from autograder.verdict import FAILED, PARTIAL, PASSED, STATUSES, UNANSWERED, clamp
from tests.checking import cases_of, evidence_of

IDS = [exercise.id for exercise in LESSON.exercises]
HOSTILE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.sampled_from(["nan", "inf", "-inf", ""]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    "data",
                    "ways",
                    "own",
                    "driven",
                    "peers",
                    "alive",
                    "graph",
                    "inputs",
                    "sink",
                    "order",
                    "passes",
                    "a",
                    "b",
                    "x",
                ]
            )
            | st.text(max_size=4),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@pytest.mark.parametrize("id", IDS)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(value=HOSTILE)
def test_no_evidence_upsets_the_judge_and_none_passes_by_chance(id: str, value: Any) -> None:
    cases = cases_of(id)
    verdict = judge(LESSON[id], cases, [{"value": value} for _ in cases])
    assert verdict.status in STATUSES and verdict.status != PASSED
    assert 0 <= verdict.score < verdict.max_score
    assert math.isfinite(verdict.score)
    verdict.text()


@pytest.mark.parametrize("id", IDS)
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(error=st.dictionaries(st.sampled_from(["kind", "type", "message", "line", "name"]), HOSTILE))
def test_no_claimed_error_upsets_the_judge(id: str, error: dict[str, Any]) -> None:
    cases = cases_of(id)
    verdict = judge(LESSON[id], cases, [{"error": error} for _ in cases])
    assert verdict.score == 0
    verdict.text()


def adjoint_pass(graph: Any, values: Any, sink: str) -> dict[str, float]:
    return graphs.adjoints(graphs.from_json(graph), values, sink)


ENGINE = make_engine()
RIGHT: dict[str, tuple[Any, ...]] = {
    "3.0": (adjoint_pass,),
    "3.1": (ENGINE.Value,),
    "3.2": (ENGINE.Value,),
    "3.4": (ENGINE.Value,),
    "3.5": (ENGINE.Value, ENGINE.zero_grad),
}


def numbers_in(x: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(x, float):
        yield path
    elif isinstance(x, dict):
        for key, y in x.items():
            yield from numbers_in(y, (*path, key))
    elif isinstance(x, list):
        for i, y in enumerate(x):
            yield from numbers_in(y, (*path, i))


@pytest.mark.parametrize("id", RIGHT)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_part_fails_when_all_the_numbers_of_one_case_are_off(id: str, data: Any) -> None:
    """A check that cannot fail is none: shift everything that one case shows, and its part is lost."""
    cases = cases_of(id)
    observations = evidence_of(id, RIGHT[id], cases)
    assert judge(LESSON[id], cases, observations).status == PASSED
    judged = [i for i, case in enumerate(cases) if not case.get("witness") and not case.get("kink")]
    i = data.draw(st.sampled_from(judged))
    spoilt = copy.deepcopy(observations)
    off = data.draw(st.sampled_from([0.3, -0.7, "nan", "inf", None, True]))
    for path in list(numbers_in(spoilt[i])):
        if "summed" in path or "peer_values" in path:  # what the engine's other operations say: agreement is right
            continue
        place = spoilt[i]
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = place[path[-1]] + off if isinstance(off, float) else off
    verdict = judge(LESSON[id], cases, spoilt)
    assert [part.name for part in verdict.parts if not part.passed] == [cases[i]["part"]], verdict.text()


# ---- points, status, names ------------------------------------------------------------------------------------------


def tiny(
    judgement: Any = lambda case, value: None if value == case["x"] else Finding(f"{value}", size=case["x"]),
    **more: Any,
) -> Exercise:
    return Exercise(
        "3.0",
        "Tiny",
        3,
        ("f",),
        (Part("one", "one"), Part("two", "two", weight=2)),
        lambda: [{"part": "one", "x": 1.0}, {"part": "two", "x": 2.0}, {"part": "two", "x": 3.0}],
        lambda rng: [],
        judgement,
        **more,
    )


def verdict_on(*values: Any, exercise: Exercise | None = None) -> Any:
    exercise = exercise or tiny()
    return judge(exercise, exercise.worked(), [{"value": v} if not isinstance(v, dict) else v for v in values])


@pytest.mark.parametrize(
    ("values", "status", "score"),
    [((1, 2, 3), PASSED, 3), ((0, 2, 3), PARTIAL, 2), ((1, 2, 0), PARTIAL, 1), ((0, 0, 0), FAILED, 0)],
)
def test_points_follow_the_weights_of_the_parts(values: tuple[float, ...], status: str, score: float) -> None:
    verdict = verdict_on(*values)
    assert (verdict.status, verdict.score) == (status, pytest.approx(score))


def test_the_smallest_failing_case_speaks() -> None:
    assert verdict_on(7, 8, 9).message == "7"
    assert verdict_on(1, 8, 9).message == "8"


def test_a_stub_in_every_case_is_unanswered_and_one_among_others_is_not() -> None:
    stub = {"error": {"kind": "unanswered", "type": "NotImplementedError", "message": "3.0 f", "line": "raise X"}}
    verdict = verdict_on(stub, stub, stub)
    assert verdict.status == UNANSWERED
    assert "    raise X" in verdict.message
    assert verdict_on(stub, 2, 3).status == PARTIAL


def test_a_judge_that_stumbles_fails_closed() -> None:
    def stumbles(case: Any, value: Any) -> Finding | None:
        raise RuntimeError("surprise")

    verdict = verdict_on(1, 2, 3, exercise=tiny(stumbles))
    assert verdict.score == 0
    assert "could not read this answer" in verdict.message and "surprise" not in verdict.text()


def named(*misconceptions: Misconception, values: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names given to `values` when the probe of the tiny exercise just calls its function."""
    monkeypatch.setattr("autograder.exercises.judging.probe_for", lambda id: lambda case, f: f(case["x"]))
    names: list[str] = verdict_on(*values, exercise=tiny(misconceptions=misconceptions)).misconceptions
    return names


def holding(name: str, f: Any) -> Misconception:
    return Misconception(name, f"You hold {name}.", lambda: (f,))


DOUBLE, NEGATIVE = holding("double", lambda x: 2 * x), holding("negative", lambda x: -x)


def test_one_wrong_rule_that_explains_everything_is_named_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert named(DOUBLE, NEGATIVE, values=(2, 4, 6), monkeypatch=monkeypatch) == ["double"]


def test_two_wrong_rules_in_two_parts_are_both_named(monkeypatch: pytest.MonkeyPatch) -> None:
    small, large = holding("small", lambda x: 2 * x if x < 2 else x), holding("large", lambda x: -x if x > 1 else x)
    assert named(small, large, values=(2, -2, -3), monkeypatch=monkeypatch) == ["small", "large"]


def test_rules_that_speak_against_each_other_are_not_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert named(DOUBLE, NEGATIVE, values=(2, -2, -3), monkeypatch=monkeypatch) == []


def test_a_rule_that_would_break_what_is_right_is_named_for_its_part_only(monkeypatch: pytest.MonkeyPatch) -> None:
    assert named(DOUBLE, values=(1, 4, 6), monkeypatch=monkeypatch) == ["double"]


def test_a_rule_that_explains_only_half_of_a_part_is_not_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert named(DOUBLE, NEGATIVE, values=(1, 4, 7), monkeypatch=monkeypatch) == []


def test_nothing_is_named_where_two_rules_say_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    twin = holding("plus-itself", lambda x: x + x)
    assert named(DOUBLE, twin, values=(2, 4, 6), monkeypatch=monkeypatch) == []


def test_two_forms_of_one_misconception_are_one_name(monkeypatch: pytest.MonkeyPatch) -> None:
    assert named(DOUBLE, holding("double", lambda x: x + x), values=(2, 4, 6), monkeypatch=monkeypatch) == ["double"]


def test_nothing_is_tried_when_everything_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any) -> Any:
        raise AssertionError("no misconception may be run")

    assert named(holding("trap", refuse), values=(1, 2, 3), monkeypatch=monkeypatch) == []


@given(st.floats(-1e300, 1e300))
def test_values_equal_themselves_up_to_rounding(x: float) -> None:
    assert same_value(x, x) and same_value({"a": [x]}, {"a": (x,)})
    assert same_value(x, x * (1 + 1e-12))
    assert not same_value(x, x + max(1.0, abs(x)))


def test_points_are_plain_finite_and_clamped() -> None:
    assert clamp(math.nan, 3) == 0 and clamp(math.inf, 3) == 0 and clamp(5, 3) == 3 and clamp(-1, 3) == 0


def test_every_exercise_of_the_lesson_has_a_probe() -> None:
    for id in IDS:
        assert callable(probes.probe_for(id))
