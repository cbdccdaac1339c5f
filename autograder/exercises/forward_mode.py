"""The exercises of lesson 2, forward mode: parts, cases, judges and misconceptions."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from autograder.exercises.expressions import (
    close,
    drawn_case,
    graph_case,
    held,
    is_number,
    picture,
    point,
    show,
    step,
)
from autograder.exercises.forward_mode_faults import (
    ALONG,
    COST,
    COUNT_MISCONCEPTIONS,
    DERIVATIVE_MISCONCEPTIONS,
    DUAL_MISCONCEPTIONS,
    FUNCTION_MISCONCEPTIONS,
    GRADIENT_MISCONCEPTIONS,
    JACOBIAN_MISCONCEPTIONS,
    JVP_MISCONCEPTIONS,
    NESTED,
    NESTED_MISCONCEPTIONS,
    OUTPUTS,
    PASS_MISCONCEPTIONS,
    PASSES,
    PYTHON,
    STRETCH,
    TRAVEL,
    TWO,
)
from autograder.exercises.model import Case, Exercise, Finding, LessonExercises, Part, WrittenQuestion
from autograder.references import finite_difference, pytorch
from autograder.references.graphs import Node, Numbers, decimal, from_json, order, parse, random_graph, to_json
from autograder.student.probes.forward_mode import COUNTS
from autograder.student.probes.forward_mode import NESTED as NESTED_EXPRESSIONS

Rng = random.Random
RUNNING = "u = a*b; v = u + a; w = tanh(b); L = v*w"
RUNNING_AS_PYTHON = "(a*b + a) * tanh(b)"
UNARY = ("tanh", "exp", "log", "relu", "neg")
EXACT = 1e-9  # what a difference quotient does not reach on a steep function


def number(rng: Rng, low: float = 0.4, high: float = 3.0, apart: Iterable[float] = (1.0,)) -> float:
    """A number of either sign, away from 0, 1 and −1."""
    return rng.choice((1, -1)) * decimal(rng, low, high, apart)


def rate(rng: Rng, apart: Iterable[float] = ()) -> float:
    """A tangent that cannot be taken for 0, 1, or one of `apart`."""
    while True:
        t = rng.choice((1, -1)) * decimal(rng, 1.5, 4, (2.0,))
        if all(abs(t - x) > 0.2 for x in apart):
            return t


# ---- references -----------------------------------------------------------------------------------------------------


def right_tangents(
    graph: Mapping[str, Sequence[Any]], inputs: Mapping[str, float], seed: Mapping[str, float]
) -> tuple[Numbers, Numbers]:
    """(values, tangents) of all nodes of a case's graph by PyTorch's own forward mode, in float64."""
    frozen = tuple((name, op, tuple(parents), n) for name, (op, parents, n) in graph.items())
    return _right(frozen, tuple(inputs.items()), tuple(seed.items()))


@lru_cache(maxsize=4096)
def _right(graph: tuple[Any, ...], inputs: tuple[Any, ...], seed: tuple[Any, ...]) -> tuple[Numbers, Numbers]:
    nodes = {name: Node(op, parents, n) for name, op, parents, n in graph}
    return pytorch.tangents(nodes, dict(inputs), dict(seed))


def witnesses(case: Case, seed: Mapping[str, float], node: str, right: float) -> str:
    by_difference = finite_difference.tangents(from_json(case["graph"]), case["inputs"], seed, case.get("h", 1e-5))
    return f"finite differences {by_difference[node]:.4f}, PyTorch {show(right)}"


def tangent_picture(
    case: Case, values: Numbers, yours: Mapping[str, Any], right: Numbers, first: str | None, title: str
) -> dict[str, Any]:
    """A picture in which tangents are compared."""
    drawn = picture(case["graph"], values, yours, right, first, title)
    for node in drawn["nodes"]:
        node |= {"compared": "tangent", "row": "value"}
    return drawn


# ---- 2.0 The tangent pass -------------------------------------------------------------------------------------------

RUNGS = 30


def seeded(case: Case, seed: Mapping[str, float]) -> Case:
    """A case of 2.0: graph, values and a seed."""
    says = f"{point(case['inputs'])}, seed {point(seed)}: {case['text']}"
    return {**case, "values": held(case), "seed": dict(seed), "says": says}


def ladder() -> Case:
    """u ← u + u, many times: few edges, endlessly many paths."""
    graph = {"u0": ["input", [], 1.0]} | {f"u{i}": ["+", [f"u{i - 1}"] * 2, 1.0] for i in range(1, RUNGS + 1)}
    case = {"part": "work", "text": f"{RUNGS} times u ← u + u", "graph": graph, "sink": f"u{RUNGS}",
            "inputs": {"u0": 1.5}, "size": 100.0}  # fmt: skip
    return seeded(case, {"u0": 1.0})


def chain(rng: Rng, steps: int) -> Case:
    """Functions of one input after one another, listed in a wrong order; values and tangents of moderate size."""
    names = [f"v{k}" for k in range(1, steps + 1)]
    inner = ["x", *names[:-1]]
    while True:
        functions = [rng.choice(("tanh", "neg", "exp")) for _ in names]
        text = "; ".join(
            f"{n} = -{p}" if op == "neg" else f"{n} = {op}({p})"
            for n, p, op in zip(names, inner, functions, strict=True)
        )
        case = graph_case("order", text, {"x": decimal(rng, 0.3, 0.9)})
        values, rates = pytorch.tangents(from_json(case["graph"]), case["inputs"], {"x": 1.0})
        # exp after exp after exp leaves the range of floats, and tanh after it is flat.
        if all(abs(values[n]) < 30 and 0.01 < abs(rates[n]) < 100 for n in names):
            return shuffled(rng, case)


def shuffled(rng: Rng, case: Case) -> Case:
    names = list(case["graph"])
    while _is_ordered(case["graph"], names):
        rng.shuffle(names)
    return {**case, "graph": {name: case["graph"][name] for name in names}}


def pass_worked() -> list[Case]:
    at = graph_case("example", RUNNING, {"a": 2.0, "b": -1.0})
    other = graph_case("example", RUNNING, {"a": 1.5, "b": -0.7})
    return [
        *(seeded(case, {"a": a, "b": 1.0 - a}) for case in (at, other) for a in (1.0, 0.0)),
        seeded(graph_case("example", "y = x**3; z = y*c", {"x": 1.5, "c": -2.0}), {"x": 1.0}),
        seeded({**at, "part": "seed"}, {"b": 1.0}),
        seeded({**at, "part": "seed"}, {"a": 3.0, "b": -2.0}),
        seeded(graph_case("slots", "y = x*x", {"x": 3.0}), {"x": 1.0}),
        seeded(graph_case("slots", "u = a + a; v = u*u; L = v - u", {"a": 1.5}), {"a": 1.0}),
        seeded(chain(random.Random(2), 4), {"x": 1.0}),
        ladder(),
    ]


def pass_cases(rng: Rng) -> list[Case]:
    def one(case: Case) -> Case:
        """Seeded at one input, the others named and at rest."""
        chosen = rng.choice(list(case["inputs"]))
        return seeded(case, {name: float(name == chosen) for name in case["inputs"]})

    def any_seed(case: Case) -> Case:
        rates: dict[str, float] = {}
        for name in case["inputs"]:
            rates[name] = rate(rng, rates.values())
        if rng.random() < 0.5:
            del rates[rng.choice(list(rates))]
        return seeded(case, rates)

    at = {"a": decimal(rng, 0.5, 2), "b": rng.choice((1, -1)) * decimal(rng, 0.4, 1.5)}
    all_operations = ("+", "-", "*", "/", *UNARY)
    trees = [drawn_case("example", *random_graph(rng, 2, n, all_operations, fan_out=False)) for n in (3, 5)]
    directions = [drawn_case("seed", *random_graph(rng, n, 4, all_operations, fan_out=False)) for n in (2, 3)]
    twice = [drawn_case("slots", *random_graph(rng, 2, n, ("+", "-", "*", "tanh", "relu"))) for n in (4, 6, 9)]
    cases = [graph_case("example", RUNNING, at), *trees, graph_case("slots", "u = a*b; v = u*u; L = v + u", at), *twice]
    return [
        *(one(case) for case in cases),
        *(any_seed(case) for case in (graph_case("seed", RUNNING, at), *directions)),
        *(one(chain(rng, steps)) for steps in (4, 6)),
    ]


def _is_ordered(graph: Mapping[str, Any], names: Sequence[str]) -> bool:
    return all(names.index(p) < names.index(name) for name in names for p in graph[name][1])


def judge_pass(case: Case, seen: Any) -> Finding | None:
    """The dict of tangents; the first node, coming from the inputs, that is missing or wrong."""
    if "stopped" in seen:
        return Finding(
            f"{case['text']}: {2 * RUNGS} edges, but more than a thousand million paths. Your function was stopped: it "
            "reads the graph again and again. One visit an edge is enough, if each tangent is stored when it is made.",
            where="work",
            size=case["size"],
        )
    if "raised" in seen:
        line = f"\n    {seen['line']}" if seen["line"] else ""
        return Finding(f"{case['says']}: your function raised {seen['raised']}.{line}", where="work", size=case["size"])
    if case["part"] == "work" and all(is_number(seen.get(name)) and seen[name] != 0 for name in case["graph"]):
        return None  # whether the numbers are right, the other parts say
    values, right = right_tangents(case["graph"], case["inputs"], case["seed"])
    graph = from_json(case["graph"])
    for name in order(graph):
        if close(seen.get(name), right[name]):
            continue
        told = f"{case['says']}; "
        if name not in seen:
            told += f"there is no entry for {name}. Every node of the graph has a tangent, inputs included."
        else:
            told += (
                f"your tangent of {name}: {show(seen[name])}; expected {show(right[name])} "
                f"({witnesses(case, case['seed'], name, right[name])})."
            )
            parents = dict.fromkeys(graph[name].parents)
            if parents:
                moves = ", ".join(f"{p} moves at {show(right[p])}" for p in parents)
                told += f" Up to there all is right: {moves}."
            elif name not in case["seed"]:
                told += f" The seed does not name {name}."
        title = f"{case['text']}, seed {point(case['seed'])}"
        drawn = tangent_picture(case, values, seen, right, name, title) if case["part"] != "work" else None
        return Finding(told, where=step(name, graph[name]), size=case["size"], picture=drawn)
    return None


# ---- 2.1 Arithmetic with two numbers --------------------------------------------------------------------------------

Dual = tuple[float, float]  # value, tangent
Peers = Sequence[tuple[str, Mapping[str, float]]]  # (text, {name: the constant that it stands for})

MINUS: Mapping[str, float] = {"k": -1.0}
ALIVE = ("x + x", "x * x", "a + a", "a * a")  # of the operand that a case has


def dual_case(part: str, text: str, duals: Mapping[str, Dual], peers: Peers = ()) -> Case:
    """A case about one operation on Duals. An answer that agrees with a peer is right as far as this part goes."""
    case = graph_case(part, text, {name: v for name, (v, _) in duals.items()}, op=part)
    case["seed"] = {name: duals[name][1] for name in case["inputs"]}
    case["says"] = f"{_duals(case)}: {text}"
    # For a learner the plainest case is the one with tangents 1 and 0.
    case["size"] += 0.1 * sum(t not in (0.0, 1.0) for t in case["seed"].values())
    case["peers"] = [{**_expression(text), "constants": dict(constants)} for text, constants in peers]
    case["alive"] = [_expression(text) for text in ALIVE] if peers else []
    return case


@lru_cache(maxsize=128)
def _expression(text: str) -> dict[str, Any]:
    graph, sink = parse(text)
    return {"graph": to_json(graph), "sink": sink}


def _duals(case: Case) -> str:
    return ", ".join(f"{n} = Dual({show(x)}, {show(case['seed'][n])})" for n, x in case["inputs"].items())


COMPOSED: dict[str, tuple[str, Peers]] = {
    "sub": ("a - b", [("a + -b", {}), ("a + b*k", MINUS), ("a + k*b", MINUS)]),
    # not by way of a - b, which may lean on -b: two wrong rules would excuse each other
    "neg": ("-a", [("a*k", MINUS), ("k*a", MINUS)]),
    "div": ("a / b", [("a * b**-1", {}), ("b**-1 * a", {})]),
}


def with_number(text: str, c: float, dual: Dual) -> Case:
    """An operation with the plain number c on one side; its peer has a Dual that stands still in its place."""
    return dual_case("numbers", text.replace("c", show(c)), {"x": dual}, [(text, {"c": c})])


WITH_NUMBER = ("x + c", "c + x", "x - c", "c - x", "x*c", "c*x", "x / c", "c / x")


def arithmetic_worked() -> list[Case]:
    ab = {"a": (3.0, 2.0), "b": (5.0, -1.0)}
    return [
        dual_case("add", "a + b", ab),
        dual_case("sub", COMPOSED["sub"][0], ab, COMPOSED["sub"][1]),
        dual_case("neg", COMPOSED["neg"][0], ab, COMPOSED["neg"][1]),
        dual_case("mul", "a * b", ab),
        *(dual_case("mul", "x * x", {"x": (3.0, t)}) for t in (1.0, 2.0)),
        *(
            dual_case("div", COMPOSED["div"][0], {"a": a, "b": b}, COMPOSED["div"][1])
            for a, b in (((6.0, 1.0), (2.0, 0.0)), ((7.0, 1.0), (50.0, 14.0)))
        ),
        *(dual_case("pow", "x**2", {"x": (-3.0, t)}) for t in (1.0, 2.0)),
        dual_case("pow", "x**3", {"x": (2.0, 1.0)}),
        *(with_number(text, 2.0, (4.0, 1.0)) for text in WITH_NUMBER),
    ]


def arithmetic_cases(rng: Rng) -> list[Case]:
    def dual(low: float = 0.4) -> Dual:
        return number(rng, low), rate(rng)

    cases = []
    for part, text in (("add", "a + b"), ("sub", "a - b"), ("neg", "-a"), ("mul", "a * b"), ("div", "a / b")):
        peers = COMPOSED[part][1] if part in COMPOSED else ()
        cases += [dual_case(part, text, {"a": dual(), "b": dual()}, peers) for _ in range(2)]
    cases += [dual_case("add", "x + x", {"x": dual()}), dual_case("mul", "x * x", {"x": dual()})]
    cases.append(dual_case("sub", "x - x", {"x": dual()}, [("x + -x", {}), ("x + x*k", MINUS), ("x + k*x", MINUS)]))
    cases.append(dual_case("div", "x / x", {"x": dual()}, [("x * x**-1", {}), ("x**-1 * x", {})]))
    for n in ("2", "3", "-1", "-2", "0"):
        cases.append(dual_case("pow", f"x**{n}", {"x": dual()}))
    cases.append(
        dual_case("pow", f"x**{rng.choice((0.5, 1.5, 2.5))}", {"x": (decimal(rng, 0.4, 3, (1.0,)), rate(rng))})
    )
    c = decimal(rng, 1.5, 4)
    return cases + [with_number(text, c, dual()) for text in WITH_NUMBER]


def judge_dual(case: Case, seen: Any) -> Finding | None:
    """Value and tangent of an operation, and its operands as they were."""
    values, right = right_tangents(case["graph"], case["inputs"], case["seed"])
    value, tangent = values[case["sink"]], right[case["sink"]]
    for name, (v, t) in seen["after"].items():
        if not (close(v, case["inputs"][name]) and close(t, case["seed"][name])):
            return Finding(
                f"{case['says']}; afterwards {name} is Dual({show(v)}, {show(t)}). An operation makes a new Dual and "
                "leaves its operands as they are.",
                where=case["op"],
                size=case["size"],
            )
    if close(seen["value"], value) and close(seen["tangent"], tangent):
        return None
    if any(found and is_number(found[1]) and abs(found[1]) > EXACT for found in seen.get("alive", ())):
        for peer in seen["peers"]:
            if peer and _agrees(peer, (seen["value"], seen["tangent"])):
                return None
    if not close(seen["value"], value):
        what, yours, expected, said = "value", seen["value"], value, ""
    else:
        what, yours, expected = "tangent", seen["tangent"], tangent
        said = f" ({witnesses(case, case['seed'], case['sink'], tangent)})"
    return Finding(
        f"{case['says']}; your {what}: {show(yours)}; expected {show(expected)}{said}.",
        where=case["op"],
        size=case["size"],
        picture=tangent_picture(
            case,
            values,
            {**case["seed"], case["sink"]: seen["tangent"]},
            right,
            case["sink"],
            f"{case['text']} at {_duals(case)}",
        ),
    )


def _agrees(peer: Sequence[Any], yours: Sequence[Any]) -> bool:
    return all(is_number(y) and close(p, y) for p, y in zip(peer, yours, strict=True))


def same_dual(case: Case, predicted: Any, seen: Any) -> bool:
    """Equal in value and tangent, and in what the operands hold."""
    pairs = [([predicted["value"], predicted["tangent"]], [seen["value"], seen["tangent"]])]
    pairs += [(predicted["after"][name], seen["after"][name]) for name in case["inputs"]]
    return all(_agrees(p, s) for p, s in pairs)


# ---- 2.2 Four functions ---------------------------------------------------------------------------------------------


def function_case(op: str, x: float, tangent: float | None) -> Case:
    """One function of a Dual, or of a plain number where there is no tangent."""
    part = "numbers" if tangent is None else op
    case = graph_case(part, f"{op}(x)", {"x": x}, op=op, x=x, tangent=tangent, seed={"x": tangent or 0.0})
    case["says"] = f"{op}({show(x)})" if tangent is None else f"x = Dual({show(x)}, {show(tangent)}): {op}(x)"
    case["size"] += 0.1 * (tangent not in (None, 1.0))
    return case


def functions_worked() -> list[Case]:
    cases = [
        function_case("tanh", -0.7, 2.0),
        function_case("tanh", 1.5, 1.0),
        function_case("exp", 0.0, -5.0),
        function_case("exp", 0.7, 1.0),
        function_case("log", 2.0, 1.0),
        function_case("log", 2.0, 3.0),
        function_case("relu", -1.0, 3.0),
        function_case("relu", -0.4, 3.0),
        function_case("relu", 0.4, 3.0),
        function_case("relu", 2.0, 3.0),
        function_case("relu", 2.0, -3.0),
    ]
    return cases + [function_case(op, 0.5, None) for op in ("tanh", "exp", "log", "relu")] + [
        function_case("relu", -1.0, None)
    ]  # fmt: skip


def functions_cases(rng: Rng) -> list[Case]:
    draw: dict[str, Callable[[], float]] = {
        "tanh": lambda: rng.choice((1, -1)) * decimal(rng, 0.3, 1.6),
        "exp": lambda: decimal(rng, -1.5, 1.5, (0.0, 1.0)),
        "log": lambda: decimal(rng, 0.3, 4, (1.0, 2.71)),
        "relu": lambda: decimal(rng, 0.3, 3, (1.0,)),
    }
    cases = []
    for op, x in draw.items():
        cases += [function_case(op, x(), sign * abs(rate(rng))) for sign in (1, -1)]
        cases += [function_case(op, x(), None)]
    cases += [function_case("relu", -draw["relu"](), sign * abs(rate(rng))) for sign in (1, -1)]
    return cases


def judge_function(case: Case, seen: Any) -> Finding | None:
    if case["tangent"] is not None:
        return judge_dual(case, seen)
    if seen["dual"]:
        return Finding(
            f"{case['says']}: a plain number went in, and Dual({show(seen['value'])}, {show(seen['tangent'])}) came "
            "out. Floats stay floats.",
            where="numbers",
            size=case["size"],
        )
    values, _ = right_tangents(case["graph"], case["inputs"], case["seed"])
    if close(seen["value"], values[case["sink"]]):
        return None
    return Finding(
        f"{case['says']}: your function gives {show(seen['value'])}; expected {show(values[case['sink']])}.",
        where="numbers",
        size=case["size"],
    )


def same_function(case: Case, predicted: Any, seen: Any) -> bool:
    if case["tangent"] is not None:
        return same_dual(case, predicted, seen)
    return predicted["dual"] == seen["dual"] and close(seen["value"], predicted["value"])


# ---- programs: 2.3 to 2.6 -------------------------------------------------------------------------------------------


def program_case(part: str, text: str, at: Mapping[str, float], **more: Any) -> Case:
    """A program f of the inputs `at`, in that order, some of which it may not use."""
    return _program(graph_case(part, text, at, **more), at)


def _program(case: Case, at: Mapping[str, float]) -> Case:
    returns = f": {case['text']}, returns {case['sink']}" if ";" in case["text"] else f" = {case['text']}"
    one = list(at) == ["x"]
    called = (
        f"f(x){returns} at x = {show(at['x'])}" if one else f"f([{', '.join(at)}]){returns} at {_list(at.values())}"
    )
    return {**case, "names": list(at), "at": list(at.values()), "inputs": dict(at), "says": called}


def drawn_program(part: str, rng: Rng, inputs: int, steps: int, **more: Any) -> Case:
    graph, at, sink = random_graph(rng, inputs, steps, ("+", "-", "*", "/", *UNARY))
    if inputs == 1 and list(at) == ["a"]:
        graph = {_as_x(n): Node(op, tuple(map(_as_x, parents)), c) for n, (op, parents, c) in graph.items()}
        at = {"x": at["a"]}
    return _program(drawn_case(part, graph, at, sink, **more), at)


def _as_x(name: str) -> str:
    return "x" if name == "a" else name


def _list(xs: Iterable[float]) -> str:
    return f"[{', '.join(show(x) for x in xs)}]"


def one_input_texts(rng: Rng) -> list[tuple[str, float]]:
    """Programs of one input at a point where they are smooth and tame."""
    c, d = decimal(rng, 1.5, 3), decimal(rng, 1.5, 3)
    x = rng.choice((1, -1)) * decimal(rng, 0.4, 1.4, (1.0,))
    return [
        (f"x*tanh(x) + {c}*x", x),
        (f"{c}*exp(-x*x) - x**3", x),
        (f"log(x**2 + {c}) / (x**2 + 1)", x),
        (f"({c} - x) / (1 + exp(-{d}*x))", x),
        (f"relu({c}*x) + x**-2", x),
        (f"tanh({c}*x) * exp(x) * log({d} + x*x)", x),
    ]


def steep(rng: Rng, others: str = "") -> tuple[str, float]:
    """A program whose slope changes within a hundred-thousandth: no difference quotient of usual step sees it."""
    k, near = rng.choice((15000, 20000, 25000)), decimal(rng, 1.1, 1.9)
    return f"{decimal(rng, 1.5, 2.5)}*tanh({k}*(x - {near})){others} + x", round(near + rng.uniform(2e-5, 4e-5), 7)


def derivative_worked() -> list[Case]:
    return [
        program_case("expressions", "x*x", {"x": 3.0}),
        program_case("expressions", "x**3 - 2*x", {"x": 2.0}),
        program_case("expressions", "x*tanh(x) + exp(-x)", {"x": -0.7}),
        program_case("exact", "2*tanh(20000*(x - 1.5)) + x", {"x": 1.50003}, h=1e-9),
        program_case("constants", "5", {"x": 3.0}),
    ]


def derivative_cases(rng: Rng) -> list[Case]:
    cases = [program_case("expressions", text, {"x": x}) for text, x in one_input_texts(rng)]
    while len(cases) < 9:
        case = drawn_program("expressions", rng, 1, rng.choice((4, 6)))
        if case["names"] == ["x"]:
            cases.append(case)
    for _ in range(2):
        text, x = steep(rng)
        cases.append(program_case("exact", text, {"x": x}, h=1e-9))
    return [*cases, program_case("constants", show(decimal(rng, 2, 9)), {"x": number(rng)})]


def judge_derivative(case: Case, seen: Any) -> Finding | None:
    _, right = right_tangents(case["graph"], case["inputs"], {"x": 1.0})
    expected = right[case["sink"]]
    return _judge_slope(case, "derivative", seen, expected, {"x": 1.0})


def _judge_slope(case: Case, what: str, yours: Any, expected: float, seed: Mapping[str, float]) -> Finding | None:
    if close(yours, expected, EXACT if "h" in case else 1e-6):
        return None
    told = f"{case['says']}; your {what}: {show(yours)}; "
    if case["part"] == "constants" and case["graph"][case["sink"]][0] == "number":
        told += "expected 0: f returns a plain number, which does not move."
    elif is_number(yours) and show(yours) == show(expected):
        told += f"expected {expected!r}, and yours is {yours!r}. Close, but not equal up to rounding."
    else:
        told += f"expected {show(expected)} ({witnesses(case, seed, case['sink'], expected)})."
        if close(yours, expected, 0.05):
            told += " Close, but not equal. Forward mode is exact up to rounding, however steep f is."
    return Finding(told, where=case["part"], size=case["size"])


# ---- 2.4 A Jacobian–vector product ----------------------------------------------------------------------------------


def along(case: Case, direction: Sequence[float]) -> Case:
    says = f"jvp(f, {_list(case['at'])}, {_list(direction)}) with {case['says'].rsplit(' at ', 1)[0]}"
    return {**case, "direction": list(direction), "says": says}


def jvp_worked() -> list[Case]:
    at = {"a": 1.5, "b": -0.7}
    return [
        along(program_case("directions", RUNNING_AS_PYTHON, {"a": 2.0, "b": -1.0}), [3.0, -2.0]),
        along(program_case("directions", RUNNING_AS_PYTHON, at), [1.0, 0.0]),
        along(program_case("directions", RUNNING_AS_PYTHON, at), [0.0, 1.0]),
        along(program_case("directions", "2*tanh(20000*(a - 1.5)) + b", {"a": 1.50003, "b": 2.0}, h=1e-9), [1.0, 3.0]),
        along(program_case("constants", "5", at), [3.0, -2.0]),
    ]


def several_inputs(rng: Rng, part: str) -> list[Case]:
    """Programs of two to four inputs."""
    c = decimal(rng, 1.5, 3)
    a, b, d, e = (number(rng, 0.4, 1.8) for _ in range(4))
    return [
        program_case(part, RUNNING_AS_PYTHON, {"a": abs(a), "b": b}),
        program_case(part, f"a*b*c + {c}*tanh(a)*c", {"a": a, "b": b, "c": d}),
        program_case(part, "exp(a*b) / (1 + c**2) - relu(d)*a", {"a": a, "b": b / 2, "c": d, "d": abs(e)}),
        drawn_program(part, rng, 2, 5),
        drawn_program(part, rng, 3, 7),
    ]


def directions(rng: Rng, case: Case) -> list[float]:
    found: list[float] = []
    for _ in case["names"]:
        found.append(rate(rng, found))
    return found


def jvp_cases(rng: Rng) -> list[Case]:
    cases = [along(case, directions(rng, case)) for case in several_inputs(rng, "directions")]
    text, x = steep(rng, "*y")
    y = number(rng)
    cases.append(along(program_case("directions", text, {"x": x, "y": y}, h=1e-9), [rate(rng), rate(rng)]))
    at = {"a": number(rng), "b": number(rng)}
    unused = program_case("directions", "a*a", at)
    constant = program_case("constants", show(decimal(rng, 2, 9)), at)
    return [*cases, *(along(case, [rate(rng), rate(rng)]) for case in (unused, constant))]


def judge_jvp(case: Case, seen: Any) -> Finding | None:
    primals, tangents = seen["after"]
    if not (_same_list(primals, case["at"]) and _same_list(tangents, case["direction"])):
        return Finding(
            f"{case['says']}; afterwards primals or tangents are no longer what they were. Make new objects, and leave "
            "the lists alone.",
            where=case["part"],
            size=case["size"],
        )
    seed = dict(zip(case["names"], case["direction"], strict=True))
    values, right = right_tangents(case["graph"], case["inputs"], seed)
    value, tangent = seen["pair"]
    expected = values[case["sink"]]
    if not close(value, expected):
        return Finding(
            f"{case['says']}; the first number of your pair: {show(value)}; expected {show(expected)}, the value of f.",
            where=case["part"],
            size=case["size"],
        )
    return _judge_slope(case, "tangent", tangent, right[case["sink"]], seed)


def _same_list(yours: Any, given: Sequence[float]) -> bool:
    return isinstance(yours, list) and len(yours) == len(given) and all(map(close, yours, given))


# ---- 2.5 The gradient, one entry a pass -----------------------------------------------------------------------------


def telling_scales(rng: Rng, calls: int) -> list[float]:
    """A factor for each call of f, all different: what is returned then says which calls it was made from."""
    found = [1.5]
    while len(found) < calls:
        found.append(round(found[-1] + rng.uniform(0.3, 0.9), 3))
    return found


def with_scales(rng: Rng, case: Case) -> Case:
    return {**case, "scales": telling_scales(rng, 8 * len(case["names"]) + 8)}


CALLS = "a*b + a*tanh(b) + c*exp(a) - b/c"


def gradient_worked() -> list[Case]:
    at = {"a": 1.5, "b": -0.7}
    calls = program_case("calls", CALLS, {"a": 0.6, "b": -0.7, "c": 1.5})
    return [
        program_case("gradient", RUNNING_AS_PYTHON, at),
        program_case("gradient", "a*b*c", {"a": 2.0, "b": 3.0, "c": 5.0}, array=True),
        with_scales(random.Random(2), calls),
        program_case("gradient", "a*a", {"a": 3.0, "b": 2.0}),
        program_case("constants", "5", at),
    ]


def gradient_cases(rng: Rng) -> list[Case]:
    cases = [{**case, "array": rng.random() < 0.5} for case in several_inputs(rng, "gradient")]
    a, b, c = (number(rng, 0.5, 1.8) for _ in range(3))
    calls = [
        with_scales(rng, program_case("calls", CALLS, {"a": a, "b": b, "c": c}, array=array)) for array in (True, False)
    ]
    at = {"a": number(rng), "b": number(rng), "c": number(rng)}
    unused = [program_case("gradient", text, at) for text in ("a*c", "b*b*b")]
    return [*cases, *unused, *calls, program_case("constants", show(decimal(rng, 2, 9)), at)]


def judge_gradient(case: Case, seen: Any) -> Finding | None:
    P = len(case["names"])
    if case["part"] == "calls":
        return judge_calls(case, seen, [[i] for i in range(P)], P)
    kept = _judge_kept(case, seen)
    if kept:
        return kept
    found = seen["found"]
    if found["shape"] != [P]:
        return Finding(
            f"{case['says']}; your gradient has the shape {_shape(found)}; expected ({P},): one number for each input.",
            where=case["part"],
            size=case["size"],
        )
    for i, name in enumerate(case["names"]):
        _, right = right_tangents(case["graph"], case["inputs"], {name: 1.0})
        wrong = _judge_slope(case, f"∂f/∂{name}", found["values"][i], right[case["sink"]], {name: 1.0})
        if wrong:
            return wrong
    return None


def _judge_kept(case: Case, seen: Any) -> Finding | None:
    if case["part"] == "constants" or _same_list(seen["after"], case["at"]):
        return None
    return Finding(
        f"{case['says']}; after the call the point is {_list(seen['after'])}. It should stay {_list(case['at'])}.",
        where=case["part"],
        size=case["size"],
    )


def _shape(found: Mapping[str, Any]) -> str:
    sizes = found["shape"]
    return f"({sizes[0]},)" if len(sizes) == 1 else f"({', '.join(map(str, sizes))})"


def judge_calls(case: Case, seen: Any, groups: Sequence[Sequence[int]], exactly: int | None) -> Finding | None:
    """Each group of entries must come from one call of f, each from another; `exactly` so many calls in a row.

    f multiplies what its call number k returns by scales[k], so the quotient of an entry by the same entry with equal
    calls is the scale of the call that it came from. A second gradient shows how many calls the first one took.
    """

    def finding(why: str) -> Finding:
        return Finding(f"{case['says']}. {why}", where=case["part"], size=case["size"])

    plain, *runs = (_flat(seen[key], case) for key in ("plain", "first", "second"))
    if plain is None or None in runs:
        return finding("What came back has not one entry for each derivative, so its calls cannot be told.")
    if any(not is_number(x) or abs(x) < EXACT for x in plain):
        return finding("An entry is 0 or no number, where every input moves every output; so its calls cannot be told.")
    calls = []
    for run in runs:
        found = [
            _call_of(y / x if is_number(y) else None, case["scales"]) for x, y in zip(plain, run or (), strict=True)
        ]
        for group in groups:
            numbers = {found[i] for i in group}
            if None in numbers:
                return finding(
                    "An entry of your result mixes several calls of f. Each entry is the tangent of one call."
                )
            if len(numbers) > 1:
                return finding(
                    f"One column of your result is made from {len(numbers)} different calls of f. One call moves all "
                    "outputs at once: read the whole column off it."
                )
        calls.append([found[group[0]] for group in groups])
    if len(set(calls[0])) < len(groups):
        return finding("Two inputs got their derivative from the same call of f. Each input has a pass of its own.")
    if exactly is None:
        return None
    if sorted(calls[0]) != list(range(exactly)):  # type: ignore[type-var]
        used = ", ".join(str(k + 1) for k in sorted(calls[0]))  # type: ignore[type-var, operator]
        return finding(
            f"The {exactly} entries come from calls number {used} of f. In between, or before, f was called without "
            f"need: {exactly} inputs, {exactly} calls."
        )
    if sorted(calls[1]) != list(range(exactly, 2 * exactly)):  # type: ignore[type-var]
        begins = min(calls[1])  # type: ignore[type-var]
        return finding(
            f"A second gradient begins with call number {begins + 1} of f, so the first one took {begins} calls; "  # type: ignore[operator]
            f"expected {exactly}, one for each input."
        )
    return None


def _flat(found: Mapping[str, Any], case: Case) -> list[Any] | None:
    """The entries in reading order; a Jacobian that lies on its side is put upright, for 2.6 marks that elsewhere."""
    values, shape = found["values"], found["shape"]
    if "sinks" not in case:
        values = values if len(shape) == 1 else _unnested(values)
        return values if isinstance(values, list) and len(values) == len(case["names"]) else None
    m, P = len(case["sinks"]), len(case["names"])
    if shape == [P, m] and m != P:
        values = [list(row) for row in zip(*values, strict=True)]
    elif shape != [m, P]:
        return None
    return _unnested(values)


def _unnested(values: Any) -> list[Any]:
    return [x for part in values for x in _unnested(part)] if isinstance(values, list) else [values]


def _call_of(quotient: float | None, scales: Sequence[float]) -> int | None:
    return next((k for k, scale in enumerate(scales) if close(quotient, scale)), None)


# ---- 2.6 A column a pass --------------------------------------------------------------------------------------------


def outputs_case(part: str, texts: Sequence[str], at: Mapping[str, float], **more: Any) -> Case:
    """A program with a list of outputs."""
    sinks = [f"y{i}" for i in range(len(texts))]
    graph, _ = parse("; ".join(f"{sink} = {text}" for sink, text in zip(sinks, texts, strict=True)))
    return {
        "part": part,
        "text": f"[{', '.join(texts)}]",
        "graph": to_json(graph),
        "sinks": sinks,
        "names": list(at),
        "at": list(at.values()),
        "inputs": dict(at),
        "says": f"f([{', '.join(at)}]) = [{', '.join(texts)}] at {_list(at.values())}",
        "size": float(len(texts) * len(at)),
        **more,
    }


COLUMNS = ("a*b", "tanh(a) + b", "a*a*b", "exp(a) - b*b")


def jacobian_worked() -> list[Case]:
    return [
        outputs_case("jacobian", ("a*b", "a + b"), {"a": 2.0, "b": 3.0}),
        outputs_case("jacobian", ("a*b", "b*c", "a*c", "a + b*c"), {"a": 2.0, "b": 3.0, "c": 5.0}),
        with_scales(random.Random(2), outputs_case("columns", COLUMNS, {"a": 1.5, "b": -0.7})),
        outputs_case("constants", ("a*b", "a + b", "5"), {"a": 2.0, "b": 3.0}),
    ]


def jacobian_cases(rng: Rng) -> list[Case]:
    n = dict(zip("abcd", (number(rng, 0.4, 1.8) for _ in range(4)), strict=True))
    ab, abc = ({name: n[name] for name in names} for names in ("ab", "abc"))
    c = decimal(rng, 1.5, 3)
    cases = [
        outputs_case("jacobian", (f"tanh(a*b) + {c}*a", "a/b", "a**2 - b**3"), ab, array=rng.random() < 0.5),
        outputs_case("jacobian", ("a*tanh(b) - c", f"exp(c)*b + {c}*a"), abc, array=rng.random() < 0.5),
        outputs_case("jacobian", (f"a*b + {c}*b", "a*exp(b)"), ab),
        outputs_case("jacobian", ("a*b*c*d",), n),
        outputs_case("jacobian", ("a**3", f"{c}*tanh(a)", "1/a"), {"a": n["a"]}),
    ]
    columns = [
        with_scales(rng, outputs_case("columns", texts, ab, array=array))
        for texts, array in ((COLUMNS, True), (COLUMNS[:3], False))
    ]
    constants = [
        outputs_case("constants", ("a*a", show(c), "c*a"), abc),
        outputs_case("constants", (show(c), "b + a"), abc),
    ]
    return [*cases, *columns, *constants]


def judge_jacobian(case: Case, seen: Any) -> Finding | None:
    m, P = len(case["sinks"]), len(case["names"])
    if case["part"] == "columns":
        return judge_calls(case, seen, [[i * P + j for i in range(m)] for j in range(P)], None)
    kept = _judge_kept(case, seen)
    if kept:
        return kept
    found = seen["found"]
    if case["part"] == "constants":
        return _judge_constant_rows(case, _flat(found, case), m, P)
    if found["shape"] != [m, P]:
        return Finding(
            f"{case['says']}; your Jacobian has the shape {_shape(found)}; expected ({m}, {P}): a row for each output, "
            "a column for each input.",
            where=case["part"],
            size=case["size"],
        )
    for j, name in enumerate(case["names"]):
        _, right = right_tangents(case["graph"], case["inputs"], {name: 1.0})
        for i, sink in enumerate(case["sinks"]):
            yours, expected = found["values"][i][j], right[sink]
            if close(yours, expected):
                continue
            said = witnesses(case, {name: 1.0}, sink, expected)
            return Finding(
                f"{case['says']}; your entry in row {i + 1}, column {j + 1}, the derivative of output {i + 1} with "
                f"respect to {name}: {show(yours)}; expected {show(expected)} ({said}).",
                where=f"row {i + 1}, column {j + 1}",
                size=case["size"],
            )
    return None


def _judge_constant_rows(case: Case, entries: list[Any] | None, m: int, P: int) -> Finding | None:
    """The rows of outputs that are plain numbers; the others count elsewhere, and so does the matrix's shape."""
    if entries is None:
        return Finding(
            f"{case['says']}; what came back has not {m} times {P} entries.", where="constants", size=case["size"]
        )
    for i, sink in enumerate(case["sinks"]):
        row = entries[i * P : i * P + P]
        if case["graph"][sink][0] == "number" and not all(close(x, 0.0) for x in row):
            return Finding(
                f"{case['says']}; your row {i + 1}: {_list(row)}; expected zeros: that output is a plain number, which "
                "does not move.",
                where=f"row {i + 1}",
                size=case["size"],
            )
    return None


# ---- 2.7 Count before you run ---------------------------------------------------------------------------------------

COUNT_PARTS = {
    "jvp": "direction", "forward_gradient": "gradient", "jacobian": "jacobian", "one_sided": "differences",
    "central": "differences",
}  # fmt: skip
COUNTED = {
    "jvp": "the slope of one output along one direction, by forward mode",
    "forward_gradient": "the gradient of one output, by forward mode",
    "jacobian": "the Jacobian of all outputs, by forward mode",
    "one_sided": "the gradient of one output, by one-sided differences",
    "central": "the gradient of one output, by central differences",
}


def count_cases_at(sizes: Iterable[tuple[int, int]]) -> list[Case]:
    return [
        {"part": part, "P": P, "m": m, "size": float(P), "says": f"calls_needed({P}, {m})"}
        for P, m in sizes
        for part in dict.fromkeys(COUNT_PARTS.values())
    ]


def judge_counts(case: Case, seen: Any) -> Finding | None:
    P = case["P"]
    right = dict(zip(COUNTS, (1, P, P, P + 1, 2 * P), strict=True))
    for key in (key for key, part in COUNT_PARTS.items() if part == case["part"]):
        if key in seen and close(seen[key], right[key]):
            continue
        yours = f"your count: {show(seen[key])}" if key in seen else f'there is no entry "{key}"'
        return Finding(
            f"{_counted(P, 'input')}, {_counted(case['m'], 'output')}; {COUNTED[key]}; {yours}; expected {right[key]} "
            f"{'call' if right[key] == 1 else 'calls'} of f.",
            where=key,
            size=case["size"],
        )
    return None


def _counted(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"


def same_counts(case: Case, predicted: Any, seen: Any) -> bool:
    keys = [key for key, part in COUNT_PARTS.items() if part == case["part"]]
    return all(seen.get(key) == predicted.get(key) for key in keys)


# ---- 2.8 Whose nudge is it? -----------------------------------------------------------------------------------------


def nested_case(text: str, x: float, c: float) -> Case:
    depth = text.count("D(")
    part = "example" if text == EXAMPLE else "nested" if "c)" in text or depth == 1 else "higher"
    return {"part": part, "text": text, "x": x, "c": c, "size": float(depth) + 0.01 * len(text),
            "says": f"{text} at x = {show(x)}" + (f", c = {show(c)}" if "c" in text else "")}  # fmt: skip


EXAMPLE = "D(x ↦ x · D(y ↦ x + y, c), x)"


@lru_cache(maxsize=512)
def nested_by_pytorch(text: str, x: float, c: float) -> float:
    """The expression with PyTorch's own derivatives of derivatives, in float64."""
    import torch

    def derive(f: Callable[[Any], Any], at: Any) -> Any:
        at = at.clone() if isinstance(at, torch.Tensor) else torch.tensor(at, dtype=torch.float64, requires_grad=True)
        y = f(at)
        if not isinstance(y, torch.Tensor) or not y.requires_grad:
            return 0.0
        (slope,) = torch.autograd.grad(y, at, create_graph=True, allow_unused=True)
        return 0.0 if slope is None else slope

    with torch.enable_grad():
        found = NESTED_EXPRESSIONS[text](derive, x, c)
    return float(found.detach()) if isinstance(found, torch.Tensor) else float(found)


def nested_worked() -> list[Case]:
    return [nested_case(EXAMPLE, 2.0, 3.0), *(nested_case(text, 2.0, 3.0) for text in list(NESTED_EXPRESSIONS)[3:9])]


def nested_cases(rng: Rng) -> list[Case]:
    return [
        nested_case(text, number(rng, 0.5, 2.5, (1.0, 2.0)), number(rng, 0.5, 2.5, (1.0, 2.0)))
        for text in NESTED_EXPRESSIONS
    ]


def judge_nested(case: Case, seen: Any) -> Finding | None:
    expected = nested_by_pytorch(case["text"], case["x"], case["c"])
    if close(seen, expected):
        return None
    return Finding(
        f"{case['says']}, where D stands for nested_derivative: yours is {show(seen)}; expected {show(expected)} "
        "(PyTorch).",
        where=case["part"],
        size=case["size"],
    )


# ---- the lesson -----------------------------------------------------------------------------------------------------

LESSON = LessonExercises(
    exercises=(
        Exercise(
            id="2.0",
            title="The tangent pass",
            points=4,
            names=("tangent_pass",),
            parts=(
                Part("example", "The running example and other small graphs"),
                Part("seed", "Any numbers as seed; inputs that it does not name"),
                Part("slots", "Nodes that are used twice"),
                Part("order", "Nodes listed in any order"),
                Part("work", "One visit an edge"),
            ),
            worked=pass_worked,
            cases=pass_cases,
            judge=judge_pass,
            misconceptions=PASS_MISCONCEPTIONS,
            reread=TRAVEL,
        ),
        Exercise(
            id="2.1",
            title="Arithmetic with two numbers",
            points=10,
            names=("Dual",),
            parts=(
                Part("add", "Sum"),
                Part("sub", "Difference"),
                Part("neg", "−x"),
                Part("mul", "Product", 2),
                Part("div", "Quotient", 2),
                Part("pow", "Power", 2),
                Part("numbers", "Plain numbers on either side"),
            ),
            worked=arithmetic_worked,
            cases=arithmetic_cases,
            judge=judge_dual,
            misconceptions=DUAL_MISCONCEPTIONS,
            reread=TWO,
            needs="A Dual is made as Dual(value, tangent) and shows both as attributes.",
            essential=lambda case: {key: x for key, x in case.items() if key not in ("peers", "alive")},
            same=same_dual,
        ),
        Exercise(
            id="2.2",
            title="Four functions",
            points=6,
            names=("Dual", "tanh", "exp", "log", "relu"),
            parts=(
                Part("tanh", "tanh", 1.25),
                Part("exp", "exp", 1.25),
                Part("log", "log", 1.25),
                Part("relu", "relu", 1.25),
                Part("numbers", "Floats stay floats"),
            ),
            worked=functions_worked,
            cases=functions_cases,
            judge=judge_function,
            misconceptions=FUNCTION_MISCONCEPTIONS,
            reread=STRETCH,
            needs="Each function returns a Dual for a Dual.",
            same=same_function,
        ),
        Exercise(
            id="2.3",
            title="A derivative",
            points=3,
            names=("derivative",),
            parts=(
                Part("expressions", "Expressions of every kind", 1.5),
                Part("exact", "Exact, however steep the function"),
                Part("constants", "A program that returns a plain number", 0.5),
            ),
            worked=derivative_worked,
            cases=derivative_cases,
            judge=judge_derivative,
            misconceptions=DERIVATIVE_MISCONCEPTIONS,
            reread=PYTHON,
        ),
        Exercise(
            id="2.4",
            title="A Jacobian–vector product",
            points=4,
            names=("jvp",),
            parts=(
                Part("directions", "Value and slope along any direction", 3.5),
                Part("constants", "A program that returns a plain number", 0.5),
            ),
            worked=jvp_worked,
            cases=jvp_cases,
            judge=judge_jvp,
            misconceptions=JVP_MISCONCEPTIONS,
            reread=ALONG,
        ),
        Exercise(
            id="2.5",
            title="The gradient, one entry a pass",
            points=4,
            names=("forward_gradient",),
            parts=(
                Part("gradient", "Every entry, in an array of shape (P,)", 2.5),
                Part("calls", "Exactly P calls of f"),
                Part("constants", "A program that returns a plain number", 0.5),
            ),
            worked=gradient_worked,
            cases=gradient_cases,
            judge=judge_gradient,
            misconceptions=GRADIENT_MISCONCEPTIONS,
            reread=PASSES,
        ),
        Exercise(
            id="2.6",
            title="A column a pass",
            points=4,
            names=("jacobian",),
            parts=(
                Part("jacobian", "Every entry, in an array of shape (m, P)", 2.5),
                Part("columns", "Each column from one call of f"),
                Part("constants", "Outputs that are plain numbers", 0.5),
            ),
            worked=jacobian_worked,
            cases=jacobian_cases,
            judge=judge_jacobian,
            misconceptions=JACOBIAN_MISCONCEPTIONS,
            reread=OUTPUTS,
        ),
        Exercise(
            id="2.7",
            title="Count before you run",
            points=3,
            names=("calls_needed",),
            parts=(
                Part("direction", "One direction"),
                Part("gradient", "A gradient"),
                Part("jacobian", "A Jacobian"),
                Part("differences", "Differences, one-sided and central"),
            ),
            worked=lambda: count_cases_at([(3, 2)]),
            cases=lambda rng: count_cases_at([(1, 4), (rng.randint(5, 40), 3), (4, rng.randint(5, 40))]),
            judge=judge_counts,
            misconceptions=COUNT_MISCONCEPTIONS,
            reread=COST,
            same=same_counts,
        ),
        Exercise(
            id="2.8",
            title="Whose nudge is it?",
            points=3,
            names=("nested_derivative",),
            parts=(
                Part("example", "The example: 1, not 2"),
                Part("nested", "A derivative inside another"),
                Part("higher", "Second and third derivatives"),
            ),
            worked=nested_worked,
            cases=nested_cases,
            judge=judge_nested,
            misconceptions=NESTED_MISCONCEPTIONS,
            reread=NESTED,
        ),
    ),
    written=(WrittenQuestion("2.written", "When forward mode, and why formulas explode", 6),),
)
