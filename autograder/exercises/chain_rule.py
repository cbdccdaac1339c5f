"""Exercises of lesson 1: the chain rule."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from autograder.exercises import arrays
from autograder.exercises import chain_rule_faults as faults
from autograder.exercises.chain_rule_faults import ACROSS, ALONG, BLIND, EDGE, FIRST, FORWARD, SIZE, STEP, WITNESS
from autograder.exercises.expressions import close, describe, drawn_case, graph_case, is_number, point, reference, show
from autograder.exercises.model import Case, Exercise, Finding, LessonExercises, Part, WrittenQuestion, same_value
from autograder.references import finite_difference
from autograder.references.arrays import gradients
from autograder.references.graphs import (
    ARITY,
    OPERATIONS,
    Graph,
    Node,
    Numbers,
    decimal,
    forward,
    from_json,
    local_derivatives,
    order,
    random_graph,
    to_json,
)
from autograder.student.probes.chain_rule import FUNCTIONS, cubic, long_chain, order_in_short

RUNNING = "u = a*b; v = u + a; w = tanh(b); L = v*w"


def _ranked(cases: Sequence[Case]) -> list[Case]:
    """Worked examples with sizes by rank: their round numbers make better messages than those drawn at random."""
    return [{**case, "size": k / 1000, "says": _in_a_sentence(case)} for k, case in enumerate(cases)]


def _in_a_sentence(case: Case) -> str:
    """What the case says, the steps of a graph set apart by commas, so that a sentence can go on after them."""
    said: str = case["says"]
    return said.replace("; ", ", ")


def _graph(rng: random.Random, steps: int, operations: Sequence[str] = ("+", "*")) -> tuple[Graph, Numbers, str]:
    """(graph, inputs, sink) with fan-out, but no node in two slots of one child: those have cases of their own."""
    while True:
        graph, numbers, sink = random_graph(rng, inputs=2, steps=steps, operations=operations)
        if all(len(set(node.parents)) == len(node.parents) for node in graph.values()):
            return graph, numbers, sink


# ---- 1.1 and 1.2: dictionaries of numbers ---------------------------------------------------------------------------

Entries = Mapping[str, Any]


def _entry(case: Case, name: str, seen: Entries, right: float, why: str) -> Finding:
    yours = f"your {name}: {show(seen[name])}" if name in seen else f'there is no entry "{name}" in your dict'
    return Finding(f"{case['says']}; {yours}; expected {show(right)}. {why}", where=name, size=case["size"])


def _first_wrong(
    case: Case,
    seen: Entries,
    right: Mapping[str, float],
    accepted: Mapping[str, Iterable[float]],
    why: Mapping[str, str],
) -> Finding | None:
    """The first entry of `why` that is neither right nor what follows from the learner's own earlier entries."""
    for name, reason in why.items():
        fine = [right[name], *accepted.get(name, ())]
        if not any(close(seen.get(name), x) for x in fine):
            return _entry(case, name, seen, right[name], reason)
    return None


def _nudged(f: Callable[[float], float], x: float, what: str, result: str) -> str:
    """What a nudge shows about f at x, in words."""
    h = 0.001
    moved = f(x + h) - f(x)
    return f"Nudge {what} from {show(x)} to {show(x + h)}: {result} moves by {moved:.6f}, {moved / h:.3f} times as much"


TWO_STEPS_PARTS = (
    Part("values", "The forward pass: y and z"),
    Part("local", "The two local derivatives"),
    Part("chain", "The chain rule: dz_dx"),
)
_TWO_STEPS_JUDGED = {"values": ("y", "z"), "local": ("dz_dy", "dy_dx"), "chain": ("dz_dx",)}


def _two_steps_cases(x: float) -> list[Case]:
    return [{"part": p.name, "x": x, "says": f"x = {show(x)}", "size": abs(x)} for p in TWO_STEPS_PARTS]


def _judge_two_steps(case: Case, seen: Entries) -> Finding | None:
    x = case["x"]
    right = faults.two_steps(x)
    y = right["y"]
    why = {
        "values": {"y": "That is three times x, and 1 more.", "z": "That is the square of y."},
        "local": {
            "dz_dy": _nudged(lambda t: t * t, y, "y", "the square") + ".",
            "dy_dx": _nudged(lambda t: 3 * t + 1, x, "x", "y") + ".",
        },
        "chain": {
            "dz_dx": _nudged(lambda t: (3 * t + 1) ** 2, x, "x", "z")
            + f" (a central difference gives {finite_difference.central(lambda t: (3 * t + 1) ** 2, x):.4f})."
        },
    }[case["part"]]
    # One mistake costs its own part: the product of the learner's own local derivatives is right as a product.
    own = [seen[name] for name in ("dz_dy", "dy_dx") if is_number(seen.get(name))]
    product = math.prod(own) if len(own) == 2 and 0 not in own else right["dz_dx"]
    return _first_wrong(case, seen, right, {"dz_dx": [product]}, why)


def _same_entries(judged: Mapping[str, Sequence[str]]) -> Callable[[Case, Entries, Entries], bool]:
    """Do two dicts agree in the entries of the case's part?"""
    return lambda case, predicted, seen: all(
        same_value(predicted.get(name), seen.get(name)) for name in judged[case["part"]]
    )


SQUARED_ERROR_PARTS = (
    Part("forward", "The forward pass: z and loss"),
    Part("gradient", "The gradient: dL_dz, dz_dw, grad", 2.0),
    Part("update", "The update: w_new", 1.5),
    Part("after", "The loss after the update: z_new, loss_new", 1.5),
)
_SQUARED_ERROR_JUDGED = {
    "forward": ("z", "loss"),
    "gradient": ("dL_dz", "dz_dw", "grad"),
    "update": ("w_new",),
    "after": ("z_new", "loss_new"),
}


def _squared_error_cases(w: float, x: float, y: float, lr: float) -> list[Case]:
    says = f"w = {show(w)}, x = {show(x)}, y = {show(y)}, lr = {show(lr)}"
    return [
        {"part": p.name, "w": w, "x": x, "y": y, "lr": lr, "says": says, "size": abs(x) + abs(y)}
        for p in SQUARED_ERROR_PARTS
    ]


def _drawn_squared_error(rng: random.Random) -> list[Case]:
    while True:
        w, x, y = (decimal(rng, -3, 3, apart=(0, 1, -1)) for _ in range(3))
        if min(abs(w - x), abs(w * x - y), abs(w * x)) > 0.3:
            return _squared_error_cases(w, x, y, rng.choice((0.01, 0.02, 0.05, 0.1)))


def _judge_squared_error(case: Case, seen: Entries) -> Finding | None:
    w, x, y, lr = (case[name] for name in ("w", "x", "y", "lr"))
    right = faults.one_step(w, x, y, lr)
    z = right["z"]
    why = {
        "forward": {"z": "That is w times x.", "loss": "That is the square of z − y."},
        "gradient": {
            "dL_dz": _nudged(lambda t: (t - y) ** 2, z, "z", "the loss") + ".",
            "dz_dw": _nudged(lambda t: t * x, w, "w", "z") + ".",
            "grad": _nudged(lambda t: (t * x - y) ** 2, w, "w", "the loss")
            + f" (a central difference gives {finite_difference.central(lambda t: (t * x - y) ** 2, w):.4f}).",
        },
        "update": {"w_new": f"Start at w = {show(w)} and go against the gradient, by lr times the gradient."},
        "after": {
            "z_new": "That is the prediction with the new weight.",
            "loss_new": "That is the loss of the new prediction; y is what it was.",
        },
    }[case["part"]]
    accepted: dict[str, list[float]] = {}
    # One mistake costs its own part: what follows from the learner's own numbers is right.
    if is_number(seen.get("grad")) and seen["grad"]:
        accepted["w_new"] = [w - lr * seen["grad"]]
    if is_number(seen.get("w_new")):
        accepted["z_new"] = [seen["w_new"] * x]
    if is_number(seen.get("z_new")) and accepted.get("z_new") and close(seen["z_new"], accepted["z_new"][0]):
        accepted["loss_new"] = [(seen["z_new"] - y) ** 2]
    return _first_wrong(case, seen, right, accepted, why)


# ---- 1.3: order -----------------------------------------------------------------------------------------------------

CHAIN = 100_000
Parents = dict[str, tuple[str, ...]]


def _order_case(part: str, parents: Parents) -> Case:
    listed = ", ".join(f"{name}: ({', '.join(slots)})" for name, slots in parents.items())
    return {
        "part": part,
        "parents": {k: list(v) for k, v in parents.items()},
        "says": listed,
        "size": float(len(parents)),
    }


def _shuffled(rng: random.Random, parents: Parents) -> Parents:
    names = list(parents)
    rng.shuffle(names)
    return {name: parents[name] for name in names}


def _order_worked() -> list[Case]:
    return [
        _order_case("order", {"v": ("u", "a"), "b": (), "u": ("a", "b"), "a": ()}),
        _order_case("order", {"L": ("v", "w"), "w": ("b",), "v": ("u", "a"), "u": ("a", "b"), "b": (), "a": ()}),
        # a is near to d by one way and far by another
        _order_case("order", {"d": ("a", "c"), "e": ("d",), "c": ("b",), "b": ("a",), "a": ()}),
        _order_case("order", {"q": ("p",), "p": (), "s": ("r",), "r": ()}),
        _order_case("repeated", {"y": ("x", "x"), "x": ()}),
        _order_case("repeated", {"z": ("y", "y"), "y": ("x", "x"), "x": ()}),
        _order_case("cycle", {"x": (), "y": ("x", "z"), "z": ("y",)}),
        _order_case("cycle", {"x": ("x",)}),
        _order_case("cycle", {"x": (), "y": ("x", "t")}),
        {"part": "deep", "chain": CHAIN, "says": f"a chain of {CHAIN:,} nodes", "size": 1e6},
    ]


def _order_cases(rng: random.Random) -> list[Case]:
    cases = []
    for steps in (5, 7, 9):
        graph, _, _ = _graph(rng, steps)
        cases.append(_order_case("order", _shuffled(rng, {name: node.parents for name, node in graph.items()})))
    ladder: Parents = {"r0": ()} | {f"r{k}": (f"r{k - 1}",) * 2 for k in range(1, rng.randint(4, 8))}
    cases.append(_order_case("repeated", _shuffled(rng, ladder)))
    names = [f"m{k}" for k in range(rng.randint(4, 7))]
    rng.shuffle(names)
    ring: Parents = {name: (names[k - 1],) for k, name in enumerate(names)}
    tail: Parents = {"in": (), names[0]: (names[-1], "in"), "out": (names[1],)}
    cases.append(_order_case("cycle", _shuffled(rng, ring | tail)))
    return cases


def _judge_order(case: Case, seen: Any) -> Finding | None:
    flaw = _order_flaw(case, seen)
    return flaw and Finding(flaw[1], where=case["part"], size=case["size"])


def _same_order(case: Case, predicted: Any, seen: Any) -> bool:
    """Lists may differ; what is wrong with them is the same."""
    first, second = _order_flaw(case, predicted), _order_flaw(case, seen)
    return (first and first[0]) == (second and second[0])


def _order_flaw(case: Case, seen: Any) -> tuple[str, str] | None:
    """(kind of flaw, words about it); None if there is none."""
    if "chain" in case:
        return _chain_flaw(case, seen)
    parents = {name: tuple(slots) for name, slots in case["parents"].items()}
    given = f"Given {case['says']}"
    if case["part"] == "cycle":
        return _error_flaw(parents, seen, given)
    listed = f"{given}; your list: {', '.join(seen) or 'empty'}."
    twice = next((name for k, name in enumerate(seen) if name in seen[:k]), None)
    missing = next((name for name in parents if name not in seen), None)
    strange = next((name for name in seen if name not in parents), None)
    if strange is not None:
        return "strange", f"{listed} {strange} is no node of this graph."
    if twice is not None:
        return "twice", f"{listed} {twice} stands there twice; every node is computed once."
    if missing is not None:
        return "missing", f"{listed} {missing} is missing; every node of the graph belongs into the list."
    place = {name: k for k, name in enumerate(seen)}
    early = next(((c, p) for c in seen for p in parents[c] if place[p] > place[c]), None)
    if early is None:
        return None
    child, parent = early
    backward = all(place[p] > place[c] for c in parents for p in parents[c])
    text = f"{listed} {child} stands before {parent}, and is computed from it."
    return ("backward" if backward else "early"), text


def _error_flaw(parents: Parents, seen: Any, given: str) -> tuple[str, str] | None:
    unknown = next((p for slots in parents.values() for p in slots if p not in parents), None)
    wanted = "KeyError" if unknown else "ValueError"
    reason = f"{unknown} is no node of this graph" if unknown else "there is a cycle, so no order exists"
    if "raised" in seen:
        if wanted in seen["raised"]:
            return None
        name = str(seen["raised"][0])[:60]
        return f"raised {name}", f"{given}: {reason}. Your function raised {name}; a {wanted} was expected."
    if "stopped" in seen:
        how = "did not come back" if seen["stopped"] == "time" else "ended the whole Python process"
        return f"stopped {seen['stopped']}", f"{given}: {reason}. Your function {how}; a {wanted} was expected."
    answer = ", ".join(str(name)[:40] for name in seen["value"]) or "an empty list"
    return "answered", f"{given}: {reason}. Your function returned {answer}; a {wanted} was expected."


def _chain_flaw(case: Case, seen: Any) -> tuple[str, str] | None:
    given = f"Given a chain of {case['chain']:,} nodes"
    if "raised" in seen:
        name = str(seen["raised"][0])[:60]
        line = f"\n    {str(seen.get('line'))[:200]}" if seen.get("line") else ""
        text = f"{given}, your function raised {name}.{line}"
        if name == "RecursionError":
            text += "\nPython allows about 1,000 calls inside each other. What would do the waiting in their place?"
        return f"raised {name}", text
    if seen.get("stopped") == "time":
        return "slow", (
            f"{given}, your function did not come back in time. Does it look through a long list once for every node? "
            "Whether a name is in a set or a dict is known at once."
        )
    if "stopped" in seen:
        return "death", f"{given}, your function ended the whole Python process: its calls went too deep."
    if same_value(seen["value"], _chain_in_short(case["chain"])):
        return None
    if same_value(seen["value"], _chain_in_short(case["chain"], backward=True)):
        return "backward", f"{given}, your list runs backward: it begins with the node that depends on all others."
    if seen["value"]["count"] != case["chain"]:
        return "missing", f"{given}, your list has {seen['value']['count']:,} names."
    return "early", f"{given}, some node stands before its parent in your list."


@cache
def _chain_in_short(length: int, backward: bool = False) -> dict[str, Any]:
    _, order = long_chain(length)
    return order_in_short(order[::-1] if backward else order)


# ---- 1.4: local derivatives -----------------------------------------------------------------------------------------

_SLOPE_PART = {"+": "linear", "-": "linear", "neg": "linear", "*": "mul", "/": "div"}
_SLOT_NAMES = ("a", "b")


def _slope_case(op: str, *inputs: float, n: float = 1.0) -> Case:
    if op == "input":
        output, text = 0.7, "an input"
    else:
        graph: Graph = {name: Node("input") for name in _SLOT_NAMES[: ARITY[op]]}
        graph["y"] = Node(op, tuple(graph), n)
        output = forward(graph, dict(zip(_SLOT_NAMES, inputs, strict=False)))["y"]
        text = describe(graph).removeprefix("y = ")
    at = point(dict(zip(_SLOT_NAMES, inputs, strict=False)))
    return {
        "part": _SLOPE_PART.get(op, op),
        "op": op,
        "inputs": list(map(float, inputs)),
        "output": output,
        "n": float(n),
        "says": f"{text} at {at}" if at else text,
        "size": sum(map(abs, inputs)),
    }


def _form_case(op: str, *inputs: float, n: float = 1.0) -> Case:
    return {**_slope_case(op, *inputs, n=n), "part": "form"}


def _slope_worked() -> list[Case]:
    return [
        *(_form_case(op, *inputs, n=n) for op, inputs, n in _ONE_OPERATION),
        _form_case("input"),
        _slope_case("+", 2, -1),
        _slope_case("-", 2, -1),
        _slope_case("neg", 2),
        _slope_case("*", 2, -3),
        _slope_case("/", 3, 4),
        _slope_case("tanh", -0.7),
        _slope_case("exp", 0.7),
        _slope_case("log", 2.5),
        _slope_case("relu", -1),
        _slope_case("relu", -0.4),
        _slope_case("relu", 0.4),
        _slope_case("relu", 3),
        _slope_case("relu", 0),
        _slope_case("pow", 2, n=3),
        _slope_case("pow", -3, n=2),
        _slope_case("pow", 4, n=0.5),
    ]


def _slope_cases(rng: random.Random) -> list[Case]:
    def x(low: float = -2.0, high: float = 2.0) -> float:
        return decimal(rng, low, high, apart=(0, 1, -1))

    cases = []
    for _ in range(2):
        cases += [_slope_case(op, *rng.sample((x(), x(2.5, 4), x(-4, -2.5)), ARITY[op])) for op in ("+", "-", "*", "/")]
        cases += [_slope_case(op, x()) for op in ("neg", "tanh", "exp")]
        cases += [_slope_case("log", x(0.3, 4)), _slope_case("relu", x(0.2, 4)), _slope_case("relu", x(-4, -0.2))]
        cases += [_slope_case("pow", x(), n=rng.choice((2, 3, 4, -1, -2))), _slope_case("pow", x(0.3, 3), n=x(0.3, 3))]
    return cases


def _judge_slopes(case: Case, seen: Any) -> Finding | None:
    op = case["op"]
    slots = len(case["inputs"])

    def wrong(text: str) -> Finding:
        return Finding(text, where=op, size=case["size"])

    slopes = seen["slopes"] if "slopes" in seen else [seen["bare"]]
    if case["part"] == "form":
        if "bare" in seen:
            return wrong(
                f"{case['says']}: you returned the number {show(seen['bare'])}. A tuple was expected, with one number "
                f"for each slot, here {slots}. A tuple of one is written with a comma."
            )
        if len(slopes) == slots:
            return None
        return wrong(
            f"{case['says']}: your answer has {len(slopes)} number{'' if len(slopes) == 1 else 's'}; expected one for "
            f"each slot, here {slots or 'none'}."
        )
    # A number alone, or one too many, is looked at in the part on form.
    slopes = [*slopes[:slots], *[None] * (slots - len(slopes))]
    if op == "relu" and case["inputs"] == [0.0]:
        if is_number(slopes[0]) and 0 <= slopes[0] <= 1:
            return None
        return wrong(f"relu at exactly 0: your slope is {show(slopes[0])}. There any number from 0 to 1 will do.")
    names = _SLOT_NAMES[:slots]
    graph = to_json({name: Node("input") for name in names} | {"y": Node(op, names, case["n"])})
    right = reference(graph, dict(zip(names, case["inputs"], strict=True)), "y")
    for slot, name in enumerate(names):
        if not close(slopes[slot], right.adjoints[name]):
            still = f", while {names[1 - slot]} stays" if slots == 2 else ""
            return wrong(
                f"{case['says']}: your slope for slot {slot} is {show(slopes[slot])}; expected "
                f"{show(right.adjoints[name])} ({right.witnesses(name)}). Nudge {name} a little{still}: how many "
                "times as far does the result move?"
            )
    return None


# ---- 1.5: the forward pass ------------------------------------------------------------------------------------------


def _scrambled(case: Case, names: Iterable[str]) -> Case:
    """The case with its graph written down in the order `names`."""
    return {**case, "graph": {name: case["graph"][name] for name in names}}


def _forward_worked() -> list[Case]:
    running = graph_case("order", RUNNING, {"a": 2, "b": -1})
    at = {"a": 1.5, "b": -0.7}
    return [
        _scrambled(graph_case("order", "u = a*b; v = u + a", at), ("v", "u", "b", "a")),
        _scrambled(running, ("L", "w", "v", "u", "b", "a")),
        graph_case("slots", "y = x*x", {"x": 3}),
        graph_case("slots", "y = x + x; z = y*y", {"x": 1.5}),
        graph_case("complete", "u = a*b; v = u + a", at),
        *(_one_operation(op, *inputs, n=n) for op, inputs, n in _ONE_OPERATION),
        _with_loose_ends(graph_case("complete", "u = a*b; v = u + a", at), 0.3),
    ]


_ONE_OPERATION: tuple[tuple[str, tuple[float, ...], float], ...] = (
    ("+", (2, -1), 1), ("-", (2, -1), 1), ("*", (2, -3), 1), ("/", (3, 4), 1), ("neg", (2,), 1), ("tanh", (-0.7,), 1),
    ("exp", (0.7,), 1), ("log", (2.5,), 1), ("relu", (-1.5,), 1), ("relu", (3,), 1), ("pow", (2,), 3), ("pow", (4,), 0.5),
)  # fmt: skip


def _one_operation(op: str, *inputs: float, n: float = 1.0) -> Case:
    names = _SLOT_NAMES[: ARITY[op]]
    graph = {name: Node("input") for name in names} | {"y": Node(op, names, n)}
    case = drawn_case("operations", graph, dict(zip(names, map(float, inputs), strict=True)), "y")
    return {**case, "op": op}


def _with_loose_ends(case: Case, x: float) -> Case:
    """The case with an input that nothing uses, and a step that nothing uses, in front of all others."""
    loose = {"loose": ["input", [], 1.0], "end": ["neg", ["loose"], 1.0], "alone": ["input", [], 1.0]}
    graph = {**loose, **case["graph"]}
    inputs = {**case["inputs"], "loose": x, "alone": -x}
    return {**case, "graph": graph, "inputs": inputs, "says": f"{point(inputs)}: {describe(from_json(graph))}"}


def _forward_cases(rng: random.Random) -> list[Case]:
    cases = []
    for steps in (4, 7):
        graph, inputs, sink = _graph(rng, steps)
        names = list(graph)
        rng.shuffle(names)
        cases.append(_scrambled(drawn_case("order", graph, inputs, sink), names))
    graph, inputs, sink = _graph(rng, 4)
    cases.append(_with_loose_ends(drawn_case("complete", graph, inputs, sink), decimal(rng, 0.3, 2)))
    x = decimal(rng, 1.2, 2.5)
    cases.append(graph_case("slots", "y = x*x; z = y + x", {"x": x}))
    for op in OPERATIONS:
        low = 0.3 if op in ("log", "pow") else -2.0
        operands = [decimal(rng, low, 2, apart=(0, 1, -1, -low)) for _ in range(ARITY[op])]
        cases.append(_one_operation(op, *operands, n=decimal(rng, 1.2, 3.5, apart=(2,)) if op == "pow" else 1.0))
    return [{**case, "says": _in_a_sentence(case)} for case in cases]


def _judge_forward(case: Case, seen: Any) -> Finding | None:
    graph = from_json(case["graph"])
    right = forward(graph, case["inputs"])
    # Whether inputs are in the answer is a part of its own.
    judged = [name for name in order(graph) if case["part"] == "complete" or graph[name].op != "input"]
    wrong = next((name for name in judged if not close(seen.get(name), right[name])), None)
    if wrong is None:
        return None
    node = graph[wrong]
    if wrong not in seen:
        kind = "an input" if node.op == "input" else "a computed node"
        text = (
            f"{case['says']}; your dict has no entry for {wrong}. It is {kind}, and every node's value was asked for."
        )
    else:
        inputs = ", ".join(f"{p} = {show(right[p])}" for p in node.parents)
        made = f" It is {node.op} of {inputs}." if inputs else " It is an input."
        power = f" The exponent is {show(node.n)}." if node.op == "pow" else ""
        text = f"{case['says']}; your {wrong}: {show(seen[wrong])}; expected {show(right[wrong])}.{made}{power}"
    nodes = [
        {
            "id": name,
            "label": name,
            "op": node.op,
            "yours": seen.get(name) if is_number(seen.get(name)) else None,
            "right": right[name],
            "compared": "value",
            "first": name == wrong,
        }
        for name, node in graph.items()
    ]
    picture = {"title": f"Values at {point(case['inputs'])}", "nodes": nodes, "edges": _edges(graph)}
    return Finding(text, where=case.get("op") or wrong, size=case["size"], picture=picture)


def _edges(graph: Graph) -> list[dict[str, Any]]:
    return [
        {"from": parent, "to": name, "slot": slot}
        for name, node in graph.items()
        for slot, parent in enumerate(node.parents)
    ]


# ---- 1.6: the sum over paths ----------------------------------------------------------------------------------------


def _path_case(part: str, text: str, inputs: Mapping[str, float], source: str, sink: str | None = None) -> Case:
    return _asked(graph_case(part, text, inputs), source, sink)


def _asked(case: Case, source: str, sink: str | None = None) -> Case:
    sink = sink or case["sink"]
    graph = from_json(case["graph"])
    values = forward(graph, case["inputs"])
    slopes = {name: list(local_derivatives(graph, values, name)) for name in graph}
    says = f"{case['says']}, from {source} to {sink}"
    return {**case, "values": values, "slopes": slopes, "source": source, "sink": sink, "says": says}


def _path_worked() -> list[Case]:
    at, degenerate = {"a": 1.5, "b": -0.7}, {"a": 2, "b": -1}
    return [
        _path_case("chain", "y = x*c; z = tanh(y)", {"x": 0.5, "c": 3}, "x"),
        _path_case("fan-out", "u = a*b; v = u + a", at, "a"),
        *(_path_case("fan-out", RUNNING, p, source) for p in (at, degenerate) for source in "ab"),
        _path_case("slots", "y = x*x", {"x": 3}, "x"),
        _path_case("slots", "y = x - x", {"x": 3}, "x"),
        _path_case("slots", "u = x + x; v = u + u; w = v + v", {"x": 0.5}, "x"),
        _path_case("ends", RUNNING, at, "v", "v"),
        _path_case("ends", RUNNING, at, "b", "b"),
        _path_case("ends", RUNNING, at, "u", "w"),
        _path_case("ends", RUNNING, at, "v", "a"),
        _path_case("residual", "s = c*x; y = x + s", {"x": 0.5, "c": 0.001}, "x"),
        _path_case("residual", "s = -x; y = x + s", {"x": 0.5}, "x"),
        _path_case("residual", "s = c*x; y = s + x", {"x": 0.5, "c": -0.3}, "x"),
        _path_case("mixed", "r = a/b; s = exp(r); t = a - s; y = relu(t); z = y*a", {"a": 2, "b": 4}, "a"),
        _path_case("mixed", "r = a**3; z = r*b", {"a": 1.5, "b": 4}, "a"),
    ]


def _path_cases(rng: random.Random) -> list[Case]:
    cases = []
    graph, inputs, sink = random_graph(rng, inputs=3, steps=5, operations=("+", "*", "-"), fan_out=False)
    cases.append(_asked(drawn_case("chain", graph, inputs, sink), rng.choice(list(inputs))))
    for steps in (4, 6):
        graph, inputs, sink = _graph(rng, steps)
        cases += [_asked(drawn_case("fan-out", graph, inputs, sink), source) for source in inputs]
    x, c = decimal(rng, -2, 2, apart=(0,)), decimal(rng, -2, 2, apart=(0, 1, -1))
    cases.append(_path_case("slots", "u = x*x; v = u*x; w = v + u", {"x": x}, "x"))
    cases.append(_path_case("residual", "s = c*x; t = tanh(s); y = x + t", {"x": x, "c": c}, "x"))
    graph, inputs, sink = _graph(rng, 4)
    between = [name for name in order(graph) if name not in inputs]
    cases.append(_asked(drawn_case("ends", graph, inputs, sink), sink, rng.choice(list(inputs))))
    cases.append(_asked(drawn_case("ends", graph, inputs, sink), between[0], between[0]))
    for _ in range(2):
        graph, inputs, sink = _graph(rng, 5, ("+", "*", "-", "/", "tanh", "exp", "neg"))
        cases += [_asked(drawn_case("mixed", graph, inputs, sink), source) for source in inputs]
        cases.append(
            _asked(
                drawn_case("mixed", graph, inputs, sink),
                rng.choice([n for n in graph if n not in inputs and n != sink]),
            )
        )
    return [{**case, "says": _in_a_sentence(case)} for case in cases]


def _judge_paths(case: Case, seen: Any) -> Finding | None:
    source, sink = case["source"], case["sink"]
    right = reference(case["graph"], case["inputs"], sink)
    wanted = right.adjoints[source]
    graph = right.graph
    seen = seen["sum"]
    if close(seen, wanted):
        return None
    paths = _routes(graph, source, sink)
    if source == sink:
        why = "A node moves by exactly as much as itself."
    elif not paths:
        why = f"No path leads from {source} to {sink}."
    else:
        count = len(paths)
        why = f"{'One path leads' if count == 1 else f'{count} paths lead'} from {source} to {sink}"
        why += ": " + "; ".join(" → ".join(p) for p in paths) + "." if count <= 4 else "."
        why += f" ({right.witnesses(source)}.)"
    if case["part"] == "mixed":
        why += " If the other parts pass, look at your operations."
    nodes = [
        {"id": name, "label": name, "op": node.op, "value": right.values[name], "row": "value"}
        | (
            {"yours": seen if is_number(seen) else None, "right": wanted, "first": True, "compared": "sum over paths"}
            if name == source
            else {}
        )
        for name, node in graph.items()
    ]
    title = f"From {source} to {sink}, at {point(case['inputs'])}"
    return Finding(
        f"{case['says']}; your sum over paths: {show(seen)}; expected {show(wanted)}. {why}",
        where=case["part"],
        size=case["size"],
        picture={"title": title, "nodes": nodes, "edges": _edges(graph)},
    )


def _routes(graph: Graph, source: str, sink: str) -> list[list[str]]:
    """Every path, one entry a choice of slots."""
    if source == sink:
        return [[source]]
    return [[*route, sink] for parent in graph[sink].parents for route in _routes(graph, source, parent)]


# ---- 1.7: finite differences ----------------------------------------------------------------------------------------

HALVED = (0.2, 0.1, 0.05, 0.025)


def _central_case(f: str, x: float, h: float | None) -> Case:
    step = "the default h" if h is None else f"h = {show(h)}"
    return {"part": "central", "f": f, "x": x, "h": h, "says": f"{f} at x = {show(x)} with {step}", "size": abs(x)}


def _gradient_case(part: str, theta: Any, coefficients: Sequence[float], h: float | None) -> Case:
    entries = np.array(theta).size
    terms = " + ".join(f"{show(c)}·θ{k}³" for k, c in enumerate(coefficients)).replace("+ -", "− ")
    pairs = " + ".join(f"θ{k}·θ{k + 1}" for k in range(entries - 1))
    step = "the default h" if h is None else f"h = {show(h)}"
    says = f"f = {terms} + {pairs} at theta = {theta} with {step}"
    found = {"part": part, "theta": theta, "coefficients": list(coefficients), "h": h, "says": says}
    return {**found, "size": float(entries)}


def _error_case(g: float, g_hat: float) -> Case:
    says = f"g = {show(g)}, ĝ = {show(g_hat)}"
    return {"part": "relative-error", "g": g, "g_hat": g_hat, "says": says, "size": abs(g)}


def _order_of_error(f: str, x: float) -> Case:
    says = f"{f} at x = {show(x)} with h = {', '.join(map(show, HALVED))}"
    return {"part": "central", "f": f, "x": x, "hs": list(HALVED), "says": says, "size": 1.0}


def _difference_worked() -> list[Case]:
    theta, coefficients = [[0.5, -1.0], [2.0, 1.5]], [1.0, -0.5, 0.25, 2.0]
    return [
        _central_case("(2*x - 6)**2", 1.0, 0.1),
        _central_case("(2*x - 6)**2", 1.0, None),
        _central_case("x**3", 2.0, 0.1),
        _central_case("exp(x)", 1.0, None),
        _order_of_error("exp(x)", 1.0),
        _gradient_case("gradient", [1.0, -2.0], [1.0, 0.5], 0.01),
        _gradient_case("gradient", theta, coefficients, None),
        _gradient_case("unchanged", [1.0, -2.0], [1.0, 0.5], 0.01),
        _gradient_case("unchanged", theta, coefficients, None),
        _error_case(1000.0, 1001.0),
        _error_case(0.001, 0.002),
        _error_case(-3.0, 3.0),
        _error_case(0.5, 0.5),
        _error_case(2.0, -5.0),
    ]


def _difference_cases(rng: random.Random) -> list[Case]:
    cases = [_central_case(f, decimal(rng, 0.5, 2, apart=(1,)), rng.choice((0.1, 0.05))) for f in FUNCTIONS]
    cases.append(_central_case("x*exp(x)", decimal(rng, -1, 2, apart=(0,)), None))
    cases.append(_order_of_error(rng.choice(("x*exp(x)", "x**3")), decimal(rng, 0.8, 1.6)))
    for part in ("gradient", "unchanged"):
        for shape in ((3,), (2, 3), (5,)):
            theta = np.array([decimal(rng, -2, 2, apart=(0,)) for _ in range(math.prod(shape))]).reshape(shape)
            coefficients = [decimal(rng, -2, 2, apart=(0,)) for _ in range(theta.size)]
            cases.append(_gradient_case(part, theta.tolist(), coefficients, rng.choice((0.1, 0.01, None))))
    small, large = decimal(rng, 0.01, 0.4, gap=0), decimal(rng, 20, 900)
    cases += [_error_case(small, -small), _error_case(large, large * 1.01), _error_case(-large, small)]
    return cases


def _judge_differences(case: Case, seen: Any) -> Finding | None:
    return {
        "central": _judge_order_of_error if "hs" in case else _judge_central,
        "gradient": _judge_gradient,
        "unchanged": _judge_unchanged,
        "relative-error": _judge_relative,
    }[case["part"]](case, seen)


def _judge_central(case: Case, seen: Any) -> Finding | None:
    f, df = FUNCTIONS[case["f"]]
    right = faults.central(f, case["x"], case["h"] or 1e-5)
    if close(seen, right):
        return None
    return Finding(
        f"{case['says']}: your central difference is {show(seen)}; expected {show(right)} (the derivative itself is "
        f"{show(float(df(case['x'])))}). How far does f move between x − h and x + h, and how far is that?",
        where="central_difference",
        size=case["size"],
    )


def _judge_order_of_error(case: Case, seen: Any) -> Finding | None:
    right = float(FUNCTIONS[case["f"]][1](case["x"]))
    sizes = [abs(estimate - right) for estimate in seen if is_number(estimate)]
    ratios = [a / b if b else 0.0 for a, b in pairwise(sizes)]
    if len(sizes) == len(HALVED) and all(3.6 < ratio < 4.4 for ratio in ratios):
        return None
    shown = ", ".join(f"{error:.2g}" for error in sizes)
    return Finding(
        f"{case['says']}: the errors of your estimates are {shown}. Each time h is halved, the error of a central "
        "difference falls to about a quarter.",
        where="central_difference",
        size=case["size"],
    )


def _gradient_of(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """(what central differences with the case's h give, PyTorch's gradient)."""
    theta = np.array(case["theta"], dtype=np.float64)
    coefficients = np.array(case["coefficients"])

    def by_torch(tensors: Mapping[str, Any]) -> Any:
        t = tensors["theta"].reshape(-1)
        terms = [c * t[k] ** 3 for k, c in enumerate(coefficients.tolist())]
        return sum(terms) + sum(t[k] * t[k + 1] for k in range(len(terms) - 1))

    exact = gradients(by_torch, {"theta": theta})["theta"]
    return faults.gradient(cubic(case["coefficients"]), theta, case["h"] or 1e-5), exact


def _judge_gradient(case: Case, seen: Any) -> Finding | None:
    right, exact = _gradient_of(case)
    yours = arrays.read(seen["gradient"])

    def wrong(text: str) -> Finding:
        return Finding(f"{case['says']}: {text}", where="numerical_gradient", size=case["size"])

    if yours is None or yours.shape != right.shape:
        shape = tuple(seen["gradient"]["shape"])
        return wrong(f"your gradient has shape {shape}; expected that of theta, {right.shape}.")
    off = [i for i in np.ndindex(right.shape) if not close(float(yours[i]), float(right[i]))]
    if not off:
        return None
    if _follows(seen.get("own"), yours, exact):
        return None
    i = off[0]
    at = ", ".join(map(str, i))
    return wrong(
        f"your gradient at [{at}] is {show(float(yours[i]))}; expected {show(float(right[i]))} (PyTorch's derivative: "
        f"{show(float(exact[i]))}). Move entry [{at}] alone, by h up and by h down, from the theta that was given."
    )


def _follows(own: Any, yours: np.ndarray, exact: np.ndarray) -> bool:
    """Is the gradient what the learner's own central_difference gives, entry by entry?

    Then what is wrong lies there, and is marked there. A quotient that has nothing to do with f excuses nothing.
    """
    if not isinstance(own, list) or len(own) != yours.size or not all(map(is_number, own)):
        return False
    quotients = np.array(own).reshape(yours.shape)
    related = (np.abs(quotients) > 0.1 * np.abs(exact)) & (np.abs(quotients) < 10 * np.abs(exact))
    return bool(np.all(related)) and bool(np.allclose(quotients, yours, rtol=1e-6, atol=1e-6))


def _judge_unchanged(case: Case, seen: Any) -> Finding | None:
    theta = np.array(case["theta"], dtype=np.float64)
    after = arrays.read(seen["theta"])
    if after is not None and after.shape == theta.shape and np.allclose(after, theta, rtol=0, atol=1e-9):
        return None
    text = "theta itself has changed" if after is None else f"theta has become {after.tolist()}"
    return Finding(
        f"{case['says']}: after the call {text}. Whoever calls a gradient check does not want to lose the parameters.",
        where="numerical_gradient",
        size=case["size"],
    )


def _judge_relative(case: Case, seen: Any) -> Finding | None:
    right = faults.relative(case["g"], case["g_hat"])
    if close(seen, right, 1e-9):
        return None
    largest = max(1.0, abs(case["g"]), abs(case["g_hat"]))
    return Finding(
        f"{case['says']}: your relative error is {show(seen)}; expected {show(right)}. The distance is "
        f"{show(abs(case['g'] - case['g_hat']))}, and the largest of 1, |g| and |ĝ| is {show(largest)}.",
        where="relative_error",
        size=case["size"],
    )


def _same_difference(case: Case, predicted: Any, seen: Any) -> bool:
    if case["part"] == "unchanged":
        return arrays.same(predicted["theta"], seen["theta"])
    if case["part"] == "gradient":
        return arrays.same(predicted["gradient"], seen["gradient"])
    return same_value(predicted, seen)


# ---- 1.8: step sizes ------------------------------------------------------------------------------------------------

STEPS = tuple(10.0**-k for k in range(1, 14))
SMOOTH = ("exp(x)", "tanh(x)", "1/x", "x*exp(x)")  # with a third derivative that is not 0
_ROWS = ("central", "one-sided")


def _size_cases(f: str, x: float) -> list[Case]:
    says = f"{f} at x = {show(x)}, h = 0.1, 0.01, …, 1e-13"
    return [
        {"part": part, "f": f, "x": x, "hs": list(STEPS), "says": says, "size": 1.0}
        for part in (*_ROWS, "round-off", "form")
    ]


def _drawn_sizes(rng: random.Random) -> list[Case]:
    return _size_cases(rng.choice(SMOOTH[1:]), decimal(rng, 0.6, 1.6, apart=(1,), gap=0.05))


def _judge_sizes(case: Case, seen: Any) -> Finding | None:
    f, df = FUNCTIONS[case["f"]]
    x, hs, part = case["x"], case["hs"], case["part"]
    right = faults.errors(f, df, x, hs)
    yours = arrays.read(seen)

    def wrong(text: str) -> Finding:
        return Finding(f"{case['says']}: {text}", where=part, size=case["size"])

    form = (
        f"your array has shape {tuple(seen['shape'])}; expected {right.shape}: a row for the central difference and a "
        "row for the one-sided one, with one entry for each h."
    )
    if part == "form":
        if yours is None or yours.shape != right.shape:
            return wrong(form)
        if np.any(yours < 0):
            return wrong("some of your errors are negative; the size of an error is its distance from the truth.")
        return None
    if yours is not None and yours.shape == right.T.shape != right.shape:
        yours = yours.T
    if yours is None or yours.shape != right.shape:
        return wrong(form)
    yours = np.abs(yours)
    if not np.all(np.isfinite(yours)):
        return wrong("some of your errors are no finite numbers.")
    # The last digits of a rounding error depend on how a formula is written, so they are not asked for.
    scale = abs(float(f(x))) + abs(x * float(df(x)))
    slack = 1e-3 * right + 16 * np.finfo(float).eps * scale / np.array(hs)
    for row, name in enumerate(_ROWS):
        for k, h in enumerate(hs):
            small = h < 1e-9
            if part == ("round-off" if small else name) and abs(yours[row, k] - right[row, k]) > slack[row, k]:
                return wrong(
                    f"at h = {h:.0e} your error of the {name} difference is {yours[row, k]:.3g}; expected about "
                    f"{right[row, k]:.3g}. The estimate there is compared with {show(float(df(x)))}."
                )
    if part == "round-off" and any(max(row[-3:]) < 10 * min(row) for row in yours):
        return wrong("your errors do not rise again for very small h; those of a real computation do.")
    return None


def _same_sizes(case: Case, predicted: Any, seen: Any) -> bool:
    """Where a learner's formula is written otherwise, the rounding differs; the rest does not."""
    if predicted["shape"] != seen["shape"]:
        return False
    a, b = arrays.read(predicted), arrays.read(seen)
    if a is None or b is None:
        return False
    hs = np.array(case["hs"])
    allowed = 1e-3 * np.abs(a) + 1e-13 / (hs if a.shape[-1] == hs.size else hs[:, None])
    return bool(np.all(np.abs(a - b) <= allowed))


# ---- 1.9: fool the point --------------------------------------------------------------------------------------------

SEEN = 1e-5  # a relative error that a gradient check notices


def _fool_cases(xs: Sequence[float]) -> list[Case]:
    return [
        {"part": "hidden", "xs": [-1.0], "says": "At (a, b) = (2, −1)", "size": 1.0},
        {"part": "wrong", "xs": list(xs), "says": f"At x = {', '.join(map(show, xs))}", "size": 2.0},
        {"part": "exposed", "says": "At your point", "size": 3.0},
    ]


def _judge_fooled(case: Case, seen: Any) -> Finding | None:
    flaw = _fooled(case, seen)
    return flaw and Finding(flaw[1], where=case["part"], size=case["size"])


def _fooled(case: Case, seen: Any) -> tuple[str, str] | None:
    """(kind of failure, words about it); None where the part holds."""
    if case["part"] == "hidden":
        (slope,) = seen["slopes"]
        if is_number(slope):
            return None
        return "not-finite", (
            f"At (2, −1) b is −1, and there your rule gives {show(slope)}. The check multiplies it by v = 0, and 0 "
            "times something that is no finite number is no number: the check sees that at once."
        )
    if case["part"] == "wrong":
        pairs = list(zip(case["xs"], seen["slopes"], strict=True))
        odd = next(
            (f"At x = {show(x)} your rule gives {show(slope)}." for x, slope in pairs if not is_number(slope)), ""
        )
        if odd:
            return "not-finite", f"{odd} A rule, even a wrong one, gives a finite number."
        if any(not close(slope, _tanh_slope(x), SEEN) for x, slope in pairs):
            return None
        return "right", f"{case['says']} your rule gives the right slopes of tanh. The task is to write a wrong one."
    a, b = seen["point"]
    slope = seen["slope"]
    if not (is_number(a) and is_number(b)):
        return "no-point", f"Your point is ({show(a)}, {show(b)}): two finite numbers are needed."
    at = f"At your point ({show(a)}, {show(b)})"
    v, w = a * b + a, math.tanh(b)
    right = reference(_RUNNING, {"a": a, "b": b}, "L").adjoints["b"]
    if not is_number(slope):
        return None  # a check that gets no number sees that something is wrong
    yours = w * a + v * slope
    if not close(yours, right, SEEN):
        return None
    told = f"{at} your rule leads to ∂L/∂b = {yours:.8g}; the right value is {right:.8g}. A check sees no difference."
    if abs(v) < 1e-12:
        return "blind", f"{told} There v = ab + a is 0, so whatever the tanh rule says is multiplied by 0."
    if close(slope, _tanh_slope(b), SEEN):
        return "chance", f"{told} Your rule's slope, {show(slope)}, happens to be right at b = {show(b)}."
    return "faint", f"{told} There v = {show(v)}: what the tanh rule says hardly counts."


_RUNNING = graph_case("exposed", RUNNING, {"a": 2, "b": -1})["graph"]


def _tanh_slope(x: float) -> float:
    return reference(_TANH, {"x": x}, "t").adjoints["x"]


_TANH = {"x": ["input", [], 1.0], "t": ["tanh", ["x"], 1.0]}


def _same_fooled(case: Case, predicted: Any, seen: Any) -> bool:
    """Rules and points differ; why they fail is the same."""
    first, second = _fooled(case, predicted), _fooled(case, seen)
    return (first and first[0]) == (second and second[0])


# ---- the lesson -----------------------------------------------------------------------------------------------------

LESSON = LessonExercises(
    exercises=(
        Exercise(
            id="1.1",
            title="Two steps",
            points=4,
            names=("affine_then_square",),
            parts=TWO_STEPS_PARTS,
            worked=lambda: _ranked(_two_steps_cases(2.0) + _two_steps_cases(-1.0)),
            cases=lambda rng: [
                case for _ in range(2) for case in _two_steps_cases(decimal(rng, -3, 3, apart=(-1 / 3, 0, 1, 2)))
            ],
            judge=_judge_two_steps,
            same=_same_entries(_TWO_STEPS_JUDGED),
            misconceptions=faults.TWO_STEPS,
            reread=ALONG,
        ),
        Exercise(
            id="1.2",
            title="One step of learning",
            points=6,
            names=("squared_error_step",),
            parts=SQUARED_ERROR_PARTS,
            worked=lambda: _ranked(_squared_error_cases(1.0, 2.0, 6.0, 0.01)),
            cases=lambda rng: _drawn_squared_error(rng) + _drawn_squared_error(rng),
            judge=_judge_squared_error,
            same=_same_entries(_SQUARED_ERROR_JUDGED),
            misconceptions=faults.SQUARED_ERROR,
            reread=STEP,
        ),
        Exercise(
            id="1.3",
            title="Topological order",
            points=6,
            names=("topological_order",),
            parts=(
                Part("order", "Every node once, every parent before its child", 2.0),
                Part("repeated", "A node that fills two slots of one child", 1.0),
                Part("cycle", "No order: a cycle, an unknown parent", 2.0),
                Part("deep", f"A chain of {CHAIN:,} nodes", 1.0),
            ),
            worked=lambda: _ranked(_order_worked()),
            cases=_order_cases,
            judge=_judge_order,
            same=_same_order,
            misconceptions=faults.ORDER,
            reread=FIRST,
        ),
        Exercise(
            id="1.4",
            title="Local derivatives",
            points=9,
            names=("local_derivatives",),
            parts=(
                Part("linear", "Sum, difference, minus"),
                Part("mul", "Product"),
                Part("div", "Quotient"),
                Part("tanh", "tanh"),
                Part("exp", "exp"),
                Part("log", "log"),
                Part("relu", "relu"),
                Part("pow", "Power"),
                Part("form", "A tuple with one number for each slot"),
            ),
            worked=lambda: _ranked(_slope_worked()),
            cases=_slope_cases,
            judge=_judge_slopes,
            misconceptions=faults.SLOPES,
            reread=EDGE,
        ),
        Exercise(
            id="1.5",
            title="The forward pass",
            points=5,
            names=("forward_pass",),
            parts=(
                Part("order", "Graphs written down in any order", 2.0),
                Part("operations", "Each operation", 1.0),
                Part("slots", "One node in two slots", 1.0),
                Part("complete", "Every node, inputs and loose ends too", 1.0),
            ),
            worked=lambda: _ranked(_forward_worked()),
            cases=_forward_cases,
            judge=_judge_forward,
            misconceptions=faults.FORWARD_PASS,
            reread=FORWARD,
        ),
        Exercise(
            id="1.6",
            title="The sum over paths",
            points=8,
            names=("sum_over_paths",),
            parts=(
                Part("chain", "One path", 1.0),
                Part("fan-out", "Several paths", 2.0),
                Part("slots", "One node in two slots", 1.0),
                Part("ends", "No path at all; from a node to itself", 1.0),
                Part("residual", "The identity path", 1.0),
                Part("mixed", "All operations", 2.0),
            ),
            worked=lambda: _ranked(_path_worked()),
            cases=_path_cases,
            judge=_judge_paths,
            same=lambda case, predicted, seen: same_value(predicted["sum"], seen["sum"]),
            misconceptions=faults.PATHS,
            reread=ACROSS,
        ),
        Exercise(
            id="1.7",
            title="Finite differences",
            points=8,
            names=("central_difference", "numerical_gradient", "relative_error"),
            parts=(
                Part("central", "The central difference", 3.0),
                Part("gradient", "The gradient, entry by entry", 2.0),
                Part("unchanged", "theta stays as it was", 1.0),
                Part("relative-error", "The relative error", 2.0),
            ),
            worked=lambda: _ranked(_difference_worked()),
            cases=_difference_cases,
            judge=_judge_differences,
            same=_same_difference,
            misconceptions=faults.DIFFERENCES,
            reread=WITNESS,
        ),
        Exercise(
            id="1.8",
            title="The best step",
            points=4,
            names=("step_size_errors",),
            parts=(
                Part("central", "Central: errors that fall with h²"),
                Part("one-sided", "One-sided: errors that fall with h"),
                Part("round-off", "Tiny steps: errors that rise again"),
                Part("form", "A row for each difference, nothing negative"),
            ),
            worked=lambda: _ranked(_size_cases("exp(x)", 1.0)),
            cases=_drawn_sizes,
            judge=_judge_sizes,
            same=_same_sizes,
            misconceptions=faults.STEP_SIZES,
            reread=SIZE,
        ),
        Exercise(
            id="1.9",
            title="Fool the point",
            points=3,
            names=("wrong_tanh_rule", "exposing_point"),
            parts=(
                Part("hidden", "No check of L at (2, −1) sees it"),
                Part("wrong", "The rule is wrong"),
                Part("exposed", "Your point exposes it"),
            ),
            worked=lambda: _ranked(_fool_cases((-2.0, -0.7, 0.3, 1.2))),
            cases=lambda rng: _fool_cases([decimal(rng, -2, 2, apart=(0, -1)) for _ in range(8)]),
            judge=_judge_fooled,
            same=_same_fooled,
            misconceptions=faults.FOOLED,
            reread=BLIND,
        ),
    ),
    written=(WrittenQuestion("1.written", "The right derivative of the wrong loss", 6),),
)
