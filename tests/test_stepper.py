"""The stepper's numbers and words; how it behaves in a browser is in tests/browser."""

from __future__ import annotations

import math
import re
from html import unescape
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.references import graphs, pytorch
from autograder.student import expression, passes, show_backward, show_forward
from autograder.student.backward import Backward
from autograder.student.forward import Forward, forward_of


class Value:
    """An engine in the familiar style, with rules that can be made wrong or left out."""

    def __init__(self, data: float, parents: tuple[Any, ...] = (), op: str = "", rule: Any = None) -> None:
        self.data, self.grad, self._parents, self._op, self._backward = data, 0.0, parents, op, rule


def make(op: str, *parents: Value) -> Value:
    functions: dict[str, Any] = {
        "+": lambda a, b: a + b,
        "*": lambda a, b: a * b,
        "tanh": math.tanh,
        "-": lambda a, b: a - b,
    }
    return Value(functions[op](*(p.data for p in parents)), parents, op)


def running_example(a: float, b: float) -> tuple[dict[str, Value], Value]:
    x, y = Value(a), Value(b)
    u = make("*", x, y)
    v = make("+", u, x)
    w = make("tanh", y)
    L = make("*", v, w)
    return {"a": x, "b": y, "u": u, "v": v, "w": w, "L": L}, L


def stepper(root: Value, names: dict[str, Value] | None = None, predict: bool = False) -> Backward:
    return Backward(expression.read(root, {id(x): name for name, x in (names or {}).items()}), predict)


def test_the_seven_messages_of_the_running_example() -> None:
    names, root = running_example(1.5, -0.7)
    told = stepper(root, names)
    messages = {(told.names[m.sender], told.names[m.receiver]): round(m.value, 6) for m in told.messages}
    assert messages == {
        ("L", "v"): -0.604368, ("L", "w"): 0.45, ("w", "b"): 0.285633, ("v", "u"): -0.604368,
        ("v", "a"): -0.604368, ("u", "a"): 0.423057, ("u", "b"): -0.906552,
    }  # fmt: skip
    adjoint = dict(zip(told.names, told.adjoints, strict=True))
    assert round(adjoint["a"], 6) == -0.18131 and round(adjoint["b"], 6) == -0.620919


@settings(deadline=None)
@given(st.integers(0, 2**31))
def test_adjoints_agree_with_pytorch_on_random_graphs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    nodes = [Value(float(x)) for x in rng.uniform(-2, 2, 3)]
    twins = [torch.tensor(x.data, dtype=torch.float64, requires_grad=True) for x in nodes]
    for _ in range(int(rng.integers(1, 12))):
        op = str(rng.choice(["+", "*", "-", "tanh"]))
        chosen = rng.integers(len(nodes), size=1 if op == "tanh" else 2)
        nodes.append(make(op, *(nodes[i] for i in chosen)))
        one, *other = (twins[i] for i in chosen)
        twins.append({"+": torch.add, "*": torch.mul, "-": torch.sub, "tanh": torch.tanh}[op](one, *other))
    twins[-1].backward()
    told = stepper(nodes[-1])
    for node, adjoint in zip(told.read.nodes, told.adjoints, strict=True):
        twin = twins[next(i for i, x in enumerate(nodes) if x is node)]
        if twin.is_leaf:
            assert adjoint == pytest.approx(float(twin.grad), rel=1e-9, abs=1e-12)


@given(st.integers(0, 2**31))
def test_every_edge_carries_one_message_and_no_node_sends_before_it_is_complete(seed: int) -> None:
    rng = np.random.default_rng(seed)
    nodes = [Value(1.0)]
    for _ in range(int(rng.integers(1, 15))):
        nodes.append(make("+", *(nodes[i] for i in rng.integers(len(nodes), size=2))))
    read = expression.read(nodes[-1], {})
    _, sent = passes.reverse(read)
    assert len(sent) == sum(map(len, read.parents))
    open_messages = {m.receiver: m.awaited for m in sent}
    for m in sent:
        assert open_messages.get(m.sender, 0) == 0
        open_messages[m.receiver] -= 1
    assert not any(open_messages.values())


@pytest.mark.parametrize("takes_adjoint", [True, False])
def test_an_unknown_operation_is_asked_for_its_own_rule_and_gradients_are_put_back(takes_adjoint: bool) -> None:
    a, out = Value(3.0), Value(30.0)

    def with_adjoint(g: float) -> None:
        a.grad += g * 20.0

    def without() -> None:
        a.grad += out.grad * 20.0

    out._parents, out._backward = (a,), with_adjoint if takes_adjoint else without
    a.grad, out.grad = 5.0, 7.0
    told = stepper(out, {"a": a, "f": out})
    assert told.messages[0].value == 20.0 and (a.grad, out.grad) == (5.0, 7.0)


def test_a_wrong_engine_does_not_spoil_the_right_messages() -> None:
    a = Value(3.0)
    root = Value(9.0, (a, a), "*", lambda g: setattr(a, "grad", g))
    assert stepper(root).adjoints == [6.0, 1.0]


def steps(html: str) -> str:
    found = re.search(r'data-steps="([^"]*)"', html)
    assert found
    return unescape(found[1])


def test_each_message_is_written_out_with_its_rule_its_factors_and_the_sum() -> None:
    names, root = running_example(1.5, -0.7)
    told = stepper(root, names)
    said = re.sub(r"<[^>]+>", "", steps(told.html()))
    assert "u · ∂u/∂b = −0.604368 · 1.5 = −0.906552" in said
    assert "Here ∂w/∂b = 1 − w²." in said
    assert "Message 2 of 2: b = 0.285633 + (−0.906552) = −0.620919, complete." in said
    assert "b sends" not in said


def test_nodes_without_a_name_get_one_to_be_talked_about() -> None:
    t1 = Value(2.0)
    told = stepper(make("+", make("*", t1, Value(4.0)), Value(1.0)), {"t1": t1})
    assert told.names == ["t1", "4", "t2", "1", "t3"]
    said = re.sub(r"<[^>]+>", "", steps(told.html()))
    assert "so the adjoint of 4 = 2." in said and "so t1 = 4." in said


def test_plain_text_has_every_message() -> None:
    names, root = running_example(1.5, -0.7)
    text = stepper(root, names).text()
    assert text.count("→") == 7 and "L → w: 1 · 0.45 = 0.45" in text


def test_predicting_asks_at_fan_out_only() -> None:
    names, root = running_example(1.5, -0.7)
    halting, running = stepper(root, names, predict=True).html(), stepper(root, names).html()
    asked = re.findall(r"Which message does <var>(\w)</var> send to <var>(\w)</var>", steps(halting))
    assert asked == [("w", "b"), ("v", "a"), ("u", "a"), ("u", "b")]
    assert steps(running) == steps(halting) and " data-predict " in halting and " data-predict " not in running


def test_the_degenerate_point_shows_no_negative_zero() -> None:
    names, root = running_example(2.0, -1.0)
    page = stepper(root, names).html()
    assert not re.search(r"[-−]0(?![.\d])", page.partition("</style>")[2].partition("<script>")[0])


class Shown(list[dict[str, str]]):
    def __call__(self, data: dict[str, str], raw: bool = False) -> None:
        self.append(data)


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Shown:
    pieces = Shown()
    monkeypatch.setattr("IPython.display.display", pieces)
    return pieces


def stub(g: float) -> None:
    raise NotImplementedError("3.1 value_add")


NOT_PLAYED = {
    "a number": (lambda: 3.0, "made of Values"),
    "a stub": (lambda: Value(5.0, (Value(1.0), Value(2.0)), "", stub), "It got as far as value_add (exercise 3.1)"),
    "log of nothing": (lambda: Value(0.0, (Value(0.0),), "log"), "does not exist"),
    "no rule at all": (lambda: Value(5.0, (Value(1.0),), "secret"), "cannot be played"),
}


@pytest.mark.parametrize("what", NOT_PLAYED)
def test_what_cannot_be_played_gets_a_sentence(what: str, shown: Shown) -> None:
    root, words = NOT_PLAYED[what]
    show_backward(root())
    assert words in shown[0]["text/plain"] and "\n" not in shown[0]["text/plain"]


def test_the_stepper_is_silent_under_the_grader(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    show_backward(3.0)
    show_forward(3, {}, {})  # type: ignore[arg-type]
    assert shown == []


# forward mode


class Node(NamedTuple):
    op: str
    parents: tuple[str, ...] = ()
    n: float = 1.0


RUNNING = {"L": Node("*", ("v", "w")), "w": Node("tanh", ("b",)), "v": Node("+", ("u", "a")), "u": Node("*", ("a", "b")),
           "b": Node("input"), "a": Node("input")}  # fmt: skip


def forward(seed: dict[str, float], a: float = 2.0, b: float = -1.0, sink: str | None = None) -> Forward:
    return forward_of(RUNNING, {"a": a, "b": b}, seed, sink, "")


def test_tangents_travel_from_the_seed_one_product_an_edge() -> None:
    told = forward({"b": 1.0})
    sent = [(told.names[m.sender], told.names[m.receiver], round(m.value, 6), round(m.sum, 6)) for m in told.messages]
    assert sent == [
        ("a", "u", 0.0, 0.0), ("b", "u", 2.0, 2.0), ("u", "v", 2.0, 2.0), ("a", "v", 0.0, 2.0), ("b", "w", 0.419974, 0.419974),
        ("v", "L", -1.523188, -1.523188), ("w", "L", 0.0, -1.523188),
    ]  # fmt: skip


def test_a_tangent_is_the_seed_times_the_gradient_of_pytorch() -> None:
    graph, _ = graphs.parse("u = a*b; v = u - a; w = tanh(b); x = exp(v)/w; y = relu(x) + log(a); z = -y; L = z**3")
    at, seed = {"a": 1.5, "b": -0.7}, {"a": 3.0, "b": -2.0}
    _, adjoints = pytorch.adjoints(graph, at, "L")
    told = forward_of(graph, at, seed, "L", "")
    assert told.tangents[-1] == pytest.approx(sum(adjoints[name] * x for name, x in seed.items()))


def test_a_product_is_written_out_with_its_rule_and_the_sum_over_the_slots() -> None:
    said = re.sub(r"<[^>]+>", "", steps(forward({"a": 1.0}, 1.5, -0.7).html()))
    assert "∂u/∂a · a = −0.7 · 1 = −0.7" in said and "Here ∂u/∂a = b." in said
    assert "Slot 2 of 2: v = −0.7 + 1 = 0.3, complete." in said
    assert "w has one slot, so w = 0." in said


def test_predicting_forward_asks_where_products_are_added() -> None:
    asked = [event["ask"] for event in forward({"a": 1.0}, 1.5, -0.7).events() if "ask" in event]
    assert len(asked) == 6  # two slots each of u, v and L; tanh has one
    assert asked[0]["aloud"] == "Your turn. Which product does u get from a, in slot 1?"
    assert (asked[0]["carried"], asked[0]["slope"], asked[0]["value"]) == (1.0, -0.7, -0.7)
    assert asked[0]["hint"] == "a has the tangent 1; ∂u/∂a = b = −0.7."


def test_a_node_in_both_slots_is_told_twice() -> None:
    told = forward_of({"x": Node("input"), "y": Node("*", ("x", "x"))}, {"x": 3.0}, {"x": 1.0}, "y", "")
    assert [(m.value, m.sum) for m in told.messages] == [(3.0, 3.0), (3.0, 6.0)]


def test_only_what_the_sink_needs_is_played() -> None:
    assert forward({"b": 1.0}, sink="w").names == ["b", "w"]


def test_forward_mode_in_plain_text() -> None:
    text = forward({"b": 1.0}).text()
    assert text.startswith("Forward mode, seeded with tangent of a = 0, tangent of b = 1")
    assert text.count("→") == 7 and "b → u: 1 · 2 = 2   tangent of u so far: 2" in text


FORWARD_NOT_PLAYED = {
    "no graph": ((3, {}, {}), "not a dict"),
    "no values": ((RUNNING, {"a": 1.0}, {"a": 1.0}), "has no value"),
    "a seed inside": ((RUNNING, {"a": 1.0, "b": 1.0}, {"u": 1.0}), "'u', which is no input"),
    "a seed that is no number": ((RUNNING, {"a": 1.0, "b": 1.0}, {"a": "one"}), "no number"),
    "a corner": (({"a": Node("input"), "y": Node("pow", ("a",), 0.5)}, {"a": 0.0}, {"a": 1.0}), "does not exist here"),
}


@pytest.mark.parametrize("what", FORWARD_NOT_PLAYED)
def test_what_forward_mode_cannot_play_gets_a_sentence(what: str, shown: Shown) -> None:
    given, words = FORWARD_NOT_PLAYED[what]
    show_forward(*given)  # type: ignore[arg-type]
    assert words in shown[0]["text/plain"] and "\n" not in shown[0]["text/plain"]
