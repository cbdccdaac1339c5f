"""Lesson 3's exercises: the solutions in its source pass on any cases, cases keep their promises, messages say enough."""

from __future__ import annotations

import gc
import itertools
import math
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.authoring.source import read
from autograder.exercises.engines import make_engine
from autograder.exercises.expressions import reference
from autograder.exercises.reverse_mode import LESSON
from autograder.references import finite_difference, graphs, pytorch
from autograder.verdict import ERROR, PASSED, UNANSWERED
from tests.checking import cases_of, failed_parts, graded, living
from tests.learners import written

SOURCE = Path(__file__).resolve().parents[1] / "source" / "3-reverse-mode" / "reverse_mode.py"
NONCES = 20
IDS = [exercise.id for exercise in LESSON.exercises]


def test_the_reference_engine_passes() -> None:
    engine = make_engine()
    for nonce in range(NONCES):
        for exercise in ("3.1", "3.2", "3.4"):
            assert graded(exercise, engine.Value, seed=nonce).status == PASSED
        assert graded("3.5", engine.Value, engine.zero_grad, seed=nonce).status == PASSED


def test_a_graph_of_the_reference_engine_is_freed_without_the_collector() -> None:
    Value = make_engine().Value
    gc.collect()
    gc.disable()
    try:
        x = Value(0.5)
        before = living(Value)
        L = (x * x + x).tanh() * x.exp() - 2 / (x**3 + 4.0).log()
        L.backward()
        node = x
        for _ in range(200_000):
            node = node + x
        assert living(Value) > before + 200_000
        del L, node
        assert living(Value) == before
    finally:
        gc.enable()


def test_points_are_those_of_the_course() -> None:
    points = {"3.0": 4, "3.1": 4, "3.2": 10, "3.3": 3, "3.4": 6, "3.5": 4, "3.6": 4, "3.7": 3, "3.8": 3, "3.9": 3}
    points |= {"3.10": 2, "3.11": 2, "3.12": 3}
    assert {e.id: e.points for e in LESSON.exercises} == points
    assert [(q.id, q.points) for q in LESSON.written] == [("3.written", 6)]


# ---- cases ----------------------------------------------------------------------------------------------------------


def test_graphs_for_engines_stay_shallow() -> None:
    for id in ("3.0", "3.1", "3.2", "3.4", "3.5", "3.10"):
        for seed in range(NONCES):
            for case in cases_of(id, seed):
                assert len(case.get("graph", ())) < 60


# ---- references -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("id", ["3.0", "3.1", "3.2", "3.4", "3.5"])
def test_the_references_agree_on_every_case(id: str) -> None:
    """PyTorch, finite differences and Algorithm 3.1 on data: three roads to every number that is judged."""
    for seed in range(NONCES):
        for case in cases_of(id, seed):
            if "graph" not in case or case.get("kink"):
                continue
            right = reference(case["graph"], case["inputs"], case["sink"])
            by_hand = graphs.adjoints(right.graph, graphs.forward(right.graph, right.inputs), right.sink)
            for name, adjoint in right.adjoints.items():
                assert adjoint == pytest.approx(by_hand[name], rel=1e-9, abs=1e-9)
                assert right.difference(name) == pytest.approx(adjoint, rel=1e-5, abs=1e-6)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**9), st.booleans(), st.integers(1, 8))
def test_random_graphs_are_tame_and_of_the_kind_that_was_asked_for(seed: int, fan_out: bool, steps: int) -> None:
    if fan_out and steps < 2:
        steps = 2
    rng = random.Random(seed)
    graph, inputs, sink = graphs.random_graph(rng, 2, steps, ("+", "*", "tanh"), fan_out)
    uses = [parent for node in graph.values() for parent in node.parents]
    assert (len(uses) > len(set(uses))) == fan_out
    assert graphs.ancestors(graph, sink) == set(graph)
    values = graphs.forward(graph, inputs)
    assert len({round(v, 6) for v in values.values()}) == len(graph)
    _, adjoints = pytorch.adjoints(graph, inputs, sink)
    assert all(abs(adjoints[name]) > 0.02 for name in inputs)
    assert finite_difference.adjoints(graph, inputs, sink) == pytest.approx(adjoints, rel=1e-5, abs=1e-5)


def test_numbers_are_drawn_closer_together_where_there_is_no_room_for_the_gap() -> None:
    for seed in range(20):
        found: list[float] = []
        for _ in range(60):
            found.append(graphs.decimal(random.Random(seed), -2, 2, (0.0, 1.0, -1.0, *found)))
        assert min(abs(x - y) for x, y in itertools.pairwise(sorted([0.0, 1.0, -1.0, *found]))) > 0.01
        assert min(abs(x - y) for x, y in itertools.pairwise(sorted([0.0, 1.0, -1.0, *found[:5]]))) >= 0.2


def test_a_graph_is_read_from_a_line_of_python() -> None:
    graph, sink = graphs.parse("u = a*b; L = (u + a)*tanh(b) - 2/u")
    assert sink == "L"
    assert graph["u"] == graphs.Node("*", ("a", "b"))
    assert graphs.forward(graph, {"a": 2.0, "b": -1.0})["L"] == pytest.approx(1.0)
    assert graphs.parse("(a + b)*(a + b)")[0]["(a + b) * (a + b)"].parents == ("a + b", "a + b′")


def test_order_refuses_cycles_and_unknown_parents() -> None:
    with pytest.raises(ValueError, match="cycle"):
        graphs.order({"a": graphs.Node("neg", ("b",)), "b": graphs.Node("neg", ("a",))})
    with pytest.raises(KeyError):
        graphs.order({"a": graphs.Node("neg", ("b",))})


# ---- numbers of the lesson ------------------------------------------------------------------------------------------


def test_the_running_example_has_the_numbers_of_the_lesson() -> None:
    text = "u = a*b; v = u + a; w = tanh(b); L = v*w"
    graph, sink = graphs.parse(text)
    values, adjoints = pytorch.adjoints(graph, {"a": 1.5, "b": -0.7}, sink)
    assert values["L"] == pytest.approx(-0.271965, abs=5e-7)
    assert (adjoints["a"], adjoints["b"]) == pytest.approx((-0.181310, -0.620919), abs=5e-7)
    values, adjoints = pytorch.adjoints(graph, {"a": 2.0, "b": -1.0}, sink)
    assert (adjoints["a"], adjoints["b"]) == pytest.approx((0.0, -1.523188), abs=5e-7)


# ---- answers that are not there, or not of the right kind -----------------------------------------------------------


def not_yet(text: str) -> Any:
    def stub(*args: Any) -> Any:
        raise NotImplementedError(text)

    return stub


@pytest.mark.parametrize(
    ("id", "objects"),
    [
        ("3.0", (not_yet("3.0 adjoint_pass"),)),
        ("3.3", (not_yet("3.3 topological_order"), make_engine().Value)),
        ("3.5", (make_engine(value_backward=lambda e: not_yet("3.5 value_backward")).Value, not_yet("3.5 zero_grad"))),
        ("3.6", (not_yet("3.6 diamond_loss"), make_engine().Value)),
        ("3.7", (not_yet("3.7 gradient_check"),)),
        ("3.8", (not_yet("3.8 smallest_counterexample"),)),
        ("3.9", (not_yet("3.9 order_matters"),)),
        ("3.10", (not_yet("3.10 edge_visits"), make_engine().Value)),
        ("3.11", (not_yet("3.11 my_prediction"),)),
        ("3.12", (not_yet("3.12 diagnoses"),)),
        ("3.4", (make_engine(value_backward=lambda e: not_yet("3.4 value_backward")).Value,)),
    ],
)
def test_an_empty_stub_is_unanswered(id: str, objects: tuple[Any, ...]) -> None:
    verdict = graded(id, *objects)
    assert verdict.status == UNANSWERED and verdict.score == 0
    assert verdict.message.startswith(f"Exercise {id} has not been filled in yet.")
    assert "Replace that line" in verdict.message


def test_the_given_class_with_empty_stubs_is_unanswered_in_3_1_and_3_2() -> None:
    stubs = {
        f"value_{op}": (lambda e, op=op, id=id: not_yet(f"{id} value_{op}"))
        for id, ops in (("3.1", ("add", "mul")), ("3.2", ("tanh", "exp", "log", "relu", "pow", "neg", "sub", "div")))
        for op in ops
    }
    Value = make_engine(**stubs).Value
    assert graded("3.1", Value).status == UNANSWERED
    assert graded("3.2", Value).status == UNANSWERED


def test_an_exercise_that_builds_on_an_empty_one_says_so() -> None:
    Value = make_engine(
        value_add=lambda e: not_yet("3.1 value_add"), value_mul=lambda e: not_yet("3.1 value_mul")
    ).Value
    verdict = graded("3.4", Value)
    assert verdict.status == UNANSWERED and verdict.score == 0
    assert verdict.message.startswith("Exercise 3.4 builds on 3.1, which has not been filled in yet.")


def test_topological_order_does_not_need_add_and_multiply() -> None:
    engine = make_engine(value_add=lambda e: not_yet("3.1 value_add"), value_mul=lambda e: not_yet("3.1 value_mul"))
    assert graded("3.3", make_engine().topological_order, engine.Value).status == PASSED


def test_some_operations_filled_in_earn_their_parts() -> None:
    Value = make_engine(
        value_log=lambda e: not_yet("3.2 value_log"), value_relu=lambda e: not_yet("3.2 value_relu")
    ).Value
    verdict = graded("3.2", Value)
    assert failed_parts(verdict) == ["log", "relu"]
    assert verdict.score == pytest.approx(7.5)
    assert "still raises NotImplementedError" in verdict.message


def test_a_class_without_backward_is_told_so() -> None:
    Value = written("whole_class", ("def backward(self)", "def walk_back(self)"))["Value"]
    verdict = graded("3.4", Value)
    assert verdict.status == ERROR
    assert verdict.message.startswith("Exercise 3.4: your class Value has no method backward.")
    assert graded("3.1", Value).status == PASSED, "3.1 is marked by the rules alone"


def test_an_exception_shows_the_students_own_line_and_the_numbers(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    text = "def adjoint_pass(graph, values, sink):\n    return {n: values[n] / 0 for n in graph}\n"
    path.write_text(text, encoding="utf-8")
    namespace: dict[str, Any] = {}
    exec(compile(text, str(path), "exec"), namespace)
    verdict = graded("3.0", namespace["adjoint_pass"])
    assert "Exercise 3.0" in verdict.message
    assert "your code raised ZeroDivisionError" in verdict.message
    assert "return {n: values[n] / 0 for n in graph}" in verdict.message
    assert "x = 3: y = x*x" in verdict.message
    assert "autograder" not in verdict.message and "Traceback" not in verdict.message


@pytest.mark.parametrize(
    ("id", "objects", "says"),
    [
        ("3.0", (5,), "adjoint_pass is 5 (int), not a function"),
        ("3.0", (lambda graph, values, sink: [1, 2],), "not a dict from node names to numbers"),
        ("3.0", (lambda graph, values, sink: dict.fromkeys(graph, "1"),), "'1' (str), not a number"),
        ("3.1", (3,), "Value is 3 (int), not a class"),
        ("3.3", (lambda root: None, make_engine().Value), "topological_order returned None"),
        ("3.6", (lambda x1, x2, gamma: None, make_engine().Value), "the loss is None"),
        ("3.7", (lambda f, values, h=1e-6: {"engine": [1.0]},), 'the dict has no entry "finite_difference"'),
        ("3.8", (lambda: {"a": 1},), "not (graph, inputs, sink)"),
        ("3.9", (lambda: {"graph": 3},), "the graph is 3 (int)"),
        ("3.10", (lambda root: 7, make_engine().Value), "not (edges, visits)"),
        ("3.11", (lambda: {"passes": 6, "detached": 3},), '"passes" is 6 (int), not a list'),
        ("3.12", (lambda: "overwrites-gradient",), "not a dict from engine numbers to names"),
    ],
)
def test_an_answer_of_the_wrong_kind_is_told_what_it_is(id: str, objects: tuple[Any, ...], says: str) -> None:
    verdict = graded(id, *objects)
    assert verdict.score < verdict.max_score
    assert says in verdict.text(), verdict.text()


@pytest.mark.parametrize("answer", [math.nan, math.inf, None])
def test_what_is_no_finite_number_is_wrong(answer: float | None) -> None:
    verdict = graded("3.0", lambda graph, values, sink: dict.fromkeys(graph, answer))
    assert verdict.score == 0
    verdict = graded("3.11", lambda: {"passes": [answer] * 3, "detached": answer})
    assert verdict.score == 0


def test_a_function_that_forgets_to_return_is_told_so() -> None:
    Value = make_engine(value_mul=lambda e: lambda r, s: None).Value
    verdict = graded("3.1", Value)
    assert "gave None; does your function return the new Value?" in verdict.message


def test_relu_at_zero_may_have_any_subgradient() -> None:
    for slope in (0.0, 0.5, 1.0):
        edit = ("+= (self.data > 0) * out.grad", f"+= (self.data > 0 or (self.data == 0) * {slope}) * out.grad")
        assert graded("3.2", written("whole_class", edit)["Value"]).status == PASSED
    edit = ("+= (self.data > 0) * out.grad", "+= (self.data > 0 or (self.data == 0) * 1.5) * out.grad")
    assert failed_parts(graded("3.2", written("whole_class", edit)["Value"])) == ["relu"]


# ---- constructions --------------------------------------------------------------------------------------------------


def graph_of(text: str, **inputs: float) -> Any:
    graph, sink = graphs.parse(text)
    return lambda: (graph, inputs, sink)


@pytest.mark.parametrize(
    ("answer", "parts"),
    [
        (graph_of("y = a*a", a=3.0), []),
        (graph_of("y = a + a", a=0.0), []),
        (graph_of("y = a - a", a=1.0), []),
        (graph_of("y = a / a", a=2.0), []),
        (graph_of("y = a*a", a=0.0), ["wrong"]),
        (graph_of("y = tanh(a)", a=0.5), ["wrong", "small"]),
        (graph_of("u = a + a; y = tanh(u)", a=0.5), ["small"]),
        (graph_of("u = a*b; y = u + a", a=0.5, b=2.0), ["small"]),
        (graph_of("u = tanh(a); y = u*b", a=0.5, b=2.0), ["wrong", "small"]),
    ],
)
def test_a_counterexample_is_judged_by_what_it_shows(answer: Any, parts: list[str]) -> None:
    assert failed_parts(graded("3.8", answer)) == parts


def test_a_counterexample_at_zero_is_named() -> None:
    assert graded("3.8", graph_of("y = a*a", a=0.0)).misconceptions == ["hidden-at-zero"]


RIGHT_ORDERS: dict[str, Any] = {
    "graph": graphs.parse("u = a + a; s = u*b; L = u + s")[0],
    "inputs": {"a": 1.5, "b": -2.0},
    "sink": "L",
    "order_1": ["a", "b", "u", "s", "L"],
    "order_2": ["b", "a", "u", "s", "L"],
    "bad_reverse_order": ["L", "u", "s", "a", "b"],
    "lost": ("s", "u"),
}


@pytest.mark.parametrize(
    ("change", "parts", "says"),
    [
        ({}, [], ""),
        ({"order_2": ["a", "b", "u", "s", "L"]}, ["orders"], "the same list"),
        ({"order_1": ["u", "a", "b", "s", "L"]}, ["orders"], "u stands before its parent a"),
        ({"order_1": ["a", "u", "s", "L"]}, ["orders"], "should list all 5 nodes"),
        ({"bad_reverse_order": ["L", "s", "u", "a", "b"]}, ["bad-order", "lost"], "every node fires after"),
        ({"bad_reverse_order": ["L", "s", "b", "a", "u"]}, ["lost"], "before"),
        ({"lost": ("u", "s")}, ["lost"], "the message goes from the child to the parent"),
        ({"lost": ("L", "u")}, ["lost"], "so its message is passed on"),
        (
            {"graph": {"a": graphs.Node("input"), "b": graphs.Node("tanh", ("b",))}},
            ["orders", "bad-order", "lost"],
            "cycle",
        ),
        ({"graph": graphs.parse("L = a*c")[0]}, ["orders", "bad-order", "lost"], "The input c has no number"),
    ],
)
def test_orders_are_judged_by_their_properties(change: dict[str, Any], parts: list[str], says: str) -> None:
    verdict = graded("3.9", lambda: {**RIGHT_ORDERS, **change})
    if change.get("bad_reverse_order") == ["L", "s", "b", "a", "u"]:
        # An input that fires early loses nothing; only a's message from u is late, and a passes nothing on.
        assert failed_parts(verdict) == ["bad-order", "lost"]
        return
    assert failed_parts(verdict) == parts, verdict.text()
    assert says in verdict.text()


# ---- what a learner reads -------------------------------------------------------------------------------------------


def test_a_wrong_gradient_is_told_with_numbers_and_witnesses() -> None:
    edits = (
        ("+= other.data * out.grad  # mul, left", "+= self.data * out.grad  # left"),
        ("+= self.data * out.grad  # mul, right", "+= other.data * out.grad"),
    )
    verdict = graded("3.1", written("whole_class", *edits)["Value"])
    says, numbers = verdict.message.splitlines()
    assert says.startswith("Your product scales each operand's message by that operand's own value.")
    assert numbers == (
        "a = 2, b = -3: a*b; your gradient of a: 2; expected -3 (finite differences -3.0000, PyTorch -3)."
    )
    assert verdict.where == "mul"
    assert verdict.reread == ("A value that remembers", "A-value-that-remembers")


def test_the_picture_is_data_and_marks_the_first_node_that_departs() -> None:
    edits = (("+= 1.0 * out.grad  # add, left", "= 1.0 * out.grad"), ("+= 1.0 * out.grad  # add, right", "= out.grad"))
    verdict = graded("3.1", written("whole_class", *edits)["Value"])
    assert verdict.picture == {
        "title": "a + a at a = 3",
        "nodes": [
            {"id": "a", "label": "a", "op": "input", "value": 3.0, "yours": 1.0, "right": 2.0, "first": True},
            {"id": "a + a", "label": "a + a", "op": "+", "value": 6.0, "yours": 1.0, "right": 1.0, "first": False},
        ],
        "edges": [{"from": "a", "to": "a + a", "slot": 0}, {"from": "a", "to": "a + a", "slot": 1}],
    }


def test_an_upstream_and_what_was_there_before_are_mentioned() -> None:
    edit = ("+= out.data * out.grad  # exp", "= out.data * out.grad")
    verdict = graded("3.2", written("whole_class", edit)["Value"])
    assert "exp(x), with gradient" in verdict.message
    assert "arriving from above, and x.grad = " in verdict.message
    assert "already there" in verdict.message


def test_the_smallest_failing_graph_is_shown() -> None:
    verdict = graded("3.4", make_engine(value_backward=lambda e: lambda root: root._backward(1.0)).Value)
    assert verdict.misconceptions == ["one-level-only"]
    assert "a = 3: b = a + a; c = b + b; your gradient of a: 0; expected 4" in verdict.message


def test_no_message_blames_or_shows_our_insides() -> None:
    for exercise in LESSON.exercises:
        for misconception in exercise.misconceptions:
            words = misconception.message.lower()
            assert not any(word in words for word in ("stupid", "obviously", "simply", "just ", "wrong!", "traceback"))


def test_what_is_to_be_reread_stands_in_the_lesson() -> None:
    headings = {
        line.lstrip("# ").strip()
        for cell in read(SOURCE).cells
        if cell.kind == "markdown"
        for line in cell.source.splitlines()
        if line.startswith("#")
    }
    for exercise in LESSON.exercises:
        for reread in (exercise.reread, *(m.reread for m in exercise.misconceptions)):
            assert reread is not None
            heading, anchor = reread
            assert heading in headings
            assert anchor == heading.replace(" ", "-")


def test_worked_examples_alone_give_no_points_yet() -> None:
    from autograder.exercises.judging import judge
    from tests.checking import evidence_of

    exercise = LESSON["3.1"]
    cases = list(exercise.worked())
    verdict = judge(exercise, cases, evidence_of("3.1", (make_engine().Value,), cases), worked_only=True)
    assert verdict.status == PASSED and verdict.worked_only
    assert "4 / 4" not in verdict.text()
