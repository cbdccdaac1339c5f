"""Evidence: what travels from a student's process, how numbers are read, and what is refused."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from autograder import evidence as ev
from autograder.exercises.engines import make_engine
from autograder.student.observe import describe, observe
from autograder.student.probes import engines as probe
from tests.checking import cases_of, evidence_of
from tests.engines import set_of_parents

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@given(st.lists(st.builds(lambda v: {"value": v}, PLAIN), max_size=4))
def test_plain_values_survive_the_journey(observations: list[dict[str, Any]]) -> None:
    """Strict JSON: non-finite floats arrive as words, all else as it was."""

    def expected(x: Any) -> Any:
        if isinstance(x, float) and not math.isfinite(x):
            return str(x)
        if isinstance(x, list):
            return [expected(y) for y in x]
        return {k: expected(y) for k, y in x.items()} if isinstance(x, dict) else x

    text = ev.encode("3.1", observations)
    json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not strict JSON"))
    if not any(0xD800 <= ord(c) < 0xE000 for c in json.dumps(observations, ensure_ascii=False)):
        assert ev.decode(text, "3.1", len(observations)) == expected(observations)


@pytest.mark.parametrize(
    "x",
    [2, 2.0, Fraction(2), np.float64(2), np.float32(2), np.int64(2), np.array(2.0), np.array([2.0]), torch.tensor(2.0)],
)
def test_whatever_is_a_number_is_read_as_one(x: Any) -> None:
    assert ev.number(x) == 2.0
    assert type(ev.number(x)) is float


def test_a_tensor_that_asks_for_gradients_is_a_number() -> None:
    assert ev.number(torch.tensor(2.0, requires_grad=True)) == 2.0


@pytest.mark.parametrize(
    "x",
    ["2", b"2", True, np.bool_(True), 2j, np.complex128(2), [2.0], {}, object(), np.array([1.0, 2.0]), torch.ones(3)],
)
def test_what_is_no_number_is_refused_with_a_name(x: Any) -> None:
    with pytest.raises(ev.NotANumber, match="the gradient"):
        ev.number(x, "the gradient")


def test_an_object_that_changes_its_mind_is_asked_once() -> None:
    class Liar:
        asked = 0

        def __float__(self) -> float:
            self.asked += 1
            return 6.0 if self.asked == 1 else -1.0

        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = None  # type: ignore[assignment]

    liar = Liar()
    assert ev.number(liar) == 6.0
    assert liar.asked == 1


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "not text"),
        (3, "not text"),
        ("", "not valid JSON"),
        ("{", "not valid JSON"),
        ('{"exercise": "3.1", "observations": [{"value": NaN}]}', "not valid JSON"),
        ('{"exercise": "3.2", "observations": [{"value": 1}]}', "another exercise"),
        ('{"exercise": "3.1", "observations": []}', "one observation per case"),
        ('{"exercise": "3.1", "observations": [{"value": 1}, {"value": 1}]}', "one observation per case"),
        ('{"exercise": "3.1", "observations": [{"value": 1, "error": {}}]}', "malformed"),
        ('{"exercise": "3.1", "observations": [{"points": 10}]}', "malformed"),
        ('{"exercise": "3.1", "observations": [{"error": 1}]}', "malformed"),
        ('{"exercise": "3.1", "observations": [3]}', "malformed"),
        ('{"exercise": "3.1", "observations": [{"value": ' + "[" * 40 + "]" * 40 + "}]}", "nested too deeply"),
        ("[" * 100_000, "not valid JSON"),
        ('"' + "x" * ev.MAX_EVIDENCE_BYTES + '"', "too large"),
    ],
)
def test_evidence_that_is_not_as_agreed_is_refused(text: Any, why: str) -> None:
    with pytest.raises(ev.EvidenceError, match=why):
        ev.decode(text, "3.1", 1)


@pytest.mark.parametrize("x", [object(), {1, 2}, b"bytes", np.float64(1.0), 1j])
def test_only_plain_values_are_handed_in(x: Any) -> None:
    with pytest.raises(ev.EvidenceError):
        ev.encode("3.1", [{"value": x}])


def test_too_much_evidence_is_not_handed_in() -> None:
    with pytest.raises(ev.EvidenceError, match="larger than"):
        ev.encode("3.1", [{"value": "x" * ev.MAX_EVIDENCE_BYTES}])


# ---- observing ------------------------------------------------------------------------------------------------------


def raising(error: BaseException) -> Callable[[dict[str, Any]], Any]:
    def probe_of(case: dict[str, Any]) -> Any:
        raise error

    return probe_of


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (NotImplementedError("3.1 value_add"), ev.UNANSWERED),
        (ev.Missing("no backward"), ev.MISSING),
        (ev.NotANumber("a str"), ev.WRONG_TYPE),
        (ZeroDivisionError("division by zero"), ev.EXCEPTION),
        (AttributeError("x"), ev.EXCEPTION),
        (SystemExit(0), ev.EXCEPTION),
        (MemoryError(), ev.EXCEPTION),
        (RecursionError(), ev.EXCEPTION),
    ],
)
def test_an_error_is_written_down_and_the_next_case_goes_on(error: BaseException, kind: str) -> None:
    seen = observe(raising(error), [{}, {}], ())
    assert len(seen) == 2
    assert all(s["error"]["kind"] == kind and s["error"]["type"] == type(error).__name__ for s in seen)


def test_an_interrupt_is_not_swallowed() -> None:
    with pytest.raises(KeyboardInterrupt):
        observe(raising(KeyboardInterrupt()), [{}], ())


def test_the_students_own_line_is_shown_not_ours(tmp_path: Any) -> None:
    path = tmp_path / "mine.py"
    path.write_text("def f(x):\n    y = x * 2\n    return y / 0  # here\n", encoding="utf-8")
    namespace: dict[str, Any] = {}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), namespace)
    (seen,) = observe(lambda case: namespace["f"](1.0), [{}], ())
    assert seen["error"]["line"] == "return y / 0  # here"
    assert seen["error"]["name"] == "f"


def test_an_exception_that_cannot_be_printed_is_still_written_down() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no")

    assert describe(Mute())["type"] == "Mute"


# ---- probes ---------------------------------------------------------------------------------------------------------


def test_evidence_of_an_engine_is_numbers_alone() -> None:
    cases = cases_of("3.2")
    for seen in evidence_of("3.2", (set_of_parents.Value,), cases):
        assert isinstance(seen["value"]["data"], float)
        assert set(seen["value"]["ways"]) <= {"driven", "own", "own-swapped"}


def test_parents_are_found_wherever_an_engine_keeps_them() -> None:
    Value = make_engine().Value
    a, b = Value(1.0), Value(2.0)

    class Odd:
        data = grad = 0.0

    for kept in ([a, b], (a, b), [(a, 1.0), (b, 2.0)], {a: 1.0, b: 2.0}):
        node = Odd()
        node._prev = kept  # type: ignore[attr-defined]
        found = probe.parents_of(node)
        assert found is not None and [id(x) for x in found] == [id(a), id(b)]
    assert probe.parents_of(Odd()) is None


def test_rules_with_and_without_an_argument_are_told_apart() -> None:
    Value = make_engine().Value
    a = Value(1.0)
    assert probe._takes_gradient(lambda g: None)
    assert not probe._takes_gradient(lambda: None)
    assert not probe._takes_gradient(lambda out=a: None)
    assert probe._takes_gradient(a.__add__) is True

    class Node:
        def rule(self) -> None: ...

        def rule_with(self, g: float) -> None: ...

    assert not probe._takes_gradient(Node().rule)
    assert probe._takes_gradient(Node().rule_with)


@given(st.integers(0, 10**6))
def test_driving_an_engine_and_its_own_backward_say_the_same(seed: int) -> None:
    """For a right engine the two ways of taking gradients, and the sum of its own messages, agree."""
    from autograder.references import graphs

    graph, inputs, sink = graphs.random_graph(random.Random(seed), 2, 5)
    found = probe.gradients(make_engine().Value, graphs.to_json(graph), sink, inputs)
    assert found["driven"] == pytest.approx(found["own"])
    objects = probe.build(make_engine().Value, graphs.to_json(graph), inputs)
    adjoints = probe.drive_and_add(objects[sink])
    assert {name: adjoints[id(objects[name])] for name in inputs} == pytest.approx(found["own"])


def test_a_plain_number_where_a_value_belongs_is_told() -> None:
    class Floats(float):
        pass

    with pytest.raises(ev.Missing, match="no gradient can flow back"):
        probe.run_backward(3.0)
    with pytest.raises(ev.Missing, match="no method tanh"):
        probe.apply("tanh", [Floats(1.0)], 1.0, "tanh(x)")
