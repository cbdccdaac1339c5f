"""Probes of lesson 2: what the checks compute with a learner's tangents, Duals and passes.

The functions that the checks of 2.3 to 2.6 hand over calculate with `Witness`, not with the learner's own operators:
they read value and tangent off whatever comes in and hand back an object of the same class. So a wrong product rule
costs its part of 2.1 and nothing in the exercises that run programs.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from autograder.evidence import Missing, NotANumber, number
from autograder.student.probes import Probe, arrays
from autograder.student.probes import engines as en
from autograder.student.probes.apart import run_apart
from autograder.student.probes.data import nodes
from autograder.student.probes.stand_ins import always, asking_for_parents, standing_in

Case = dict[str, Any]
Witness = tuple[float, float]  # value, tangent

FUNCTIONS = ("tanh", "exp", "log", "relu")


# ---- 2.0 the tangent pass -------------------------------------------------------------------------------------------

READS_PER_NODE = (
    400  # a pass reads a node's data a handful of times; whoever walks all paths reads it millions of times
)
SECONDS_APART = 5.0


class _TooMuch(BaseException):
    """More reads than a walk over edges can need."""


class _Counting(dict[str, Any]):
    """A dict that counts how often it is read, and stops whoever reads it far too often."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        super().__init__(content)
        self.left = READS_PER_NODE * len(content)

    def _read(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise _TooMuch

    def __getitem__(self, name: str) -> Any:
        self._read()
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self._read()
        return super().get(name, default)


def tangent_pass(case: Case, function: Any) -> Any:
    """{node: tangent} for the nodes that the function names and the graph has; {"stopped": True} for endless work."""
    function = en.function_named(function, "tangent_pass")
    graph, values = nodes(case["graph"], function), dict(case["values"])
    with standing_in(function, asking_for_parents("topological_order")):
        if case["part"] == "work":
            return _bounded(case, lambda: function(_Counting(graph), _Counting(values), dict(case["seed"])))
        return _tangents(case, function(graph, values, dict(case["seed"])))


def _tangents(case: Case, found: Any) -> dict[str, float | None]:
    if not isinstance(found, Mapping):
        raise NotANumber(en.not_a("a dict from node names to numbers", found, "tangent_pass"))
    return {name: number(found[name], f"the tangent of {name}") for name in case["graph"] if name in found}


def _bounded(case: Case, call: Callable[[], Any]) -> Any:
    def limited() -> Any:
        try:
            return {"tangents": _tangents(case, call())}
        except _TooMuch:
            return {"stopped": True}
        except NotANumber as error:
            return {"not a number": str(error)}

    answer = run_apart(limited, SECONDS_APART)
    if "stopped" in answer:
        return {"stopped": True}
    if "raised" in answer:
        return {"raised": answer["raised"][0], "line": answer["line"]}
    found = answer["value"]
    if "not a number" in found:
        raise NotANumber(found["not a number"])
    return found if "stopped" in found else found["tangents"]


# ---- 2.1 and 2.2: operations on Duals -------------------------------------------------------------------------------


def value_of(x: Any, text: str) -> float | None:
    if isinstance(x, (int, float)):
        return float(x)
    if not hasattr(x, "value"):
        raise Missing(f"{text} is {en.short(x)} and has no attribute value")
    return number(x.value, f"the value of {text}")


def tangent_of(x: Any, text: str) -> float | None:
    """The tangent of `x`; a plain number is a constant, and stands still."""
    if isinstance(x, (int, float)):
        return 0.0
    if not hasattr(x, "tangent"):
        raise Missing(f"{text} is {en.short(x)} and has no attribute tangent")
    return number(x.tangent, f"the tangent of {text}")


def arithmetic(case: Case, Dual: Any) -> Any:
    """Value and tangent of one small expression, and what its operands hold afterwards.

    `peers` are other ways to write the same: an operation that was made out of others can be told from those others.
    `alive` are expressions of which at least one must move for `peers` to mean anything.
    """
    Dual = en.class_named(Dual, "Dual")
    result, objects = _build(Dual, case, case)
    text = case["sink"]
    return {
        "value": value_of(result, text),
        "tangent": tangent_of(result, text),
        "after": {n: [value_of(objects[n], n), tangent_of(objects[n], n)] for n in case["inputs"]},
        "peers": [_quietly(Dual, case, peer) for peer in case.get("peers", ())],
        "alive": [_quietly(Dual, case, expression) for expression in case.get("alive", ())],
    }


def _build(Dual: Any, case: Case, expression: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    objects: dict[str, Any] = {}
    constants: Mapping[str, float] = expression.get("constants", {})
    for name, (op, parents, n) in expression["graph"].items():
        if name in constants:
            objects[name] = Dual(float(constants[name]), 0.0)
        elif op == "input":
            objects[name] = Dual(float(case["inputs"][name]), float(case["seed"][name]))
        elif op == "number":
            objects[name] = int(n) if n == int(n) else n
        else:
            objects[name] = _apply(op, [objects[p] for p in parents], n, name)
    return objects[expression["sink"]], objects


def _quietly(Dual: Any, case: Case, peer: Mapping[str, Any]) -> list[float | None] | None:
    try:
        result, _ = _build(Dual, case, peer)
        return [value_of(result, ""), tangent_of(result, "")]
    except Exception:
        return None


def _apply(op: str, operands: Sequence[Any], n: float, text: str) -> Any:
    try:
        return en.apply(op, operands, n, text)
    except NotANumber as error:  # the other lesson's class is called otherwise
        raise NotANumber(str(error).replace("new Value", "new Dual")) from None


def functions(case: Case, Dual: Any, *given: Any) -> Any:
    """Value and tangent of tanh, exp, log or relu of a Dual; or what it makes of a plain number."""
    op = case["op"]
    function = en.function_named(given[FUNCTIONS.index(op)], op)
    text = f"{op}({case['x']})"
    if case["tangent"] is None:
        found = function(float(case["x"]))
        if found is None:
            raise NotANumber(f"{text} gave None; does every way through {op} end in return?")
        if hasattr(found, "tangent"):
            return {"dual": True, "value": value_of(found, text), "tangent": tangent_of(found, text)}
        return {"dual": False, "value": number(found, text), "tangent": None}
    x = en.class_named(Dual, "Dual")(float(case["x"]), float(case["tangent"]))
    found = function(x)
    if found is None:
        raise NotANumber(f"{op}(x) gave None; does every way through {op} end in return?")
    return {
        "value": value_of(found, f"{op}(x)"),
        "tangent": tangent_of(found, f"{op}(x)"),
        "after": {"x": [value_of(x, "x"), tangent_of(x, "x")]},
    }


# ---- programs to differentiate: 2.3 to 2.6 --------------------------------------------------------------------------

_RULES: dict[str, Callable[[Sequence[Witness], float], Witness]] = {
    "+": lambda x, n: (x[0][0] + x[1][0], x[0][1] + x[1][1]),
    "-": lambda x, n: (x[0][0] - x[1][0], x[0][1] - x[1][1]),
    "*": lambda x, n: (x[0][0] * x[1][0], x[0][1] * x[1][0] + x[0][0] * x[1][1]),
    "/": lambda x, n: (x[0][0] / x[1][0], (x[0][1] - x[0][0] / x[1][0] * x[1][1]) / x[1][0]),
    "neg": lambda x, n: (-x[0][0], -x[0][1]),
    "tanh": lambda x, n: (math.tanh(x[0][0]), (1 - math.tanh(x[0][0]) ** 2) * x[0][1]),
    "exp": lambda x, n: (math.exp(x[0][0]), math.exp(x[0][0]) * x[0][1]),
    "log": lambda x, n: (math.log(x[0][0]), x[0][1] / x[0][0]),
    "relu": lambda x, n: (max(x[0][0], 0.0), x[0][1] if x[0][0] > 0 else 0.0),
    "pow": lambda x, n: (x[0][0] ** n, n * x[0][0] ** (n - 1) * x[0][1] if n else 0.0),
}


class Program:
    """A case's graph as a function of one sequence of scalars, with one output or a list of them.

    It runs on floats and on a learner's Duals of any class. Call number k is multiplied by `scales[k]`, so that what
    is returned says which calls it was made from.
    """

    def __init__(self, case: Case, scales: Sequence[float] = (1.0,)) -> None:
        self.graph: en.Graph = case["graph"]
        self.sinks: list[str] | None = case.get("sinks")
        self.sink: str = case.get("sink", "")
        self.names: list[str] = case["names"]
        self.scales = scales
        self.calls = 0

    def __call__(self, xs: Any) -> Any:
        xs = list(xs)
        if len(xs) != len(self.names):
            raise ValueError(f"f was called with {len(xs)} numbers; it takes {len(self.names)}")
        scale = self.scales[min(self.calls, len(self.scales) - 1)]
        self.calls += 1
        moved = next((x for x in xs if hasattr(x, "tangent")), None)
        moving: set[str] = set()
        nodes: dict[str, Witness] = {}
        for name, (op, parents, n) in self.graph.items():
            if op == "number":
                nodes[name] = (float(n), 0.0)
            elif op == "input":
                x = xs[self.names.index(name)]
                nodes[name] = _witness(x)
                if hasattr(x, "tangent"):
                    moving.add(name)
            else:
                nodes[name] = _RULES[op]([nodes[p] for p in parents], n)
                if moving.intersection(parents):
                    moving.add(name)

        def made(sink: str) -> Any:
            value, tangent = (scale * part for part in nodes[sink])
            return _like(moved, value, tangent) if sink in moving else value

        return made(self.sink) if self.sinks is None else [made(sink) for sink in self.sinks]


def _like(x: Any, value: float, tangent: float) -> Any:
    """A number of the class of `x`, with everything else that `x` carries where its class asks for more."""
    try:
        return type(x)(value, tangent)
    except TypeError:
        made = copy.copy(x)
        made.value, made.tangent = value, tangent
        return made


def function_of(program: Program) -> Callable[[Any], Any]:
    """The program as a plain function f, so that a wrong call is told in terms of f."""

    def f(x: Any) -> Any:
        return program(x)

    f.__qualname__ = "f"
    return f


def _witness(x: Any) -> Witness:
    value = number(getattr(x, "value", x) if hasattr(x, "tangent") else x, "an input of f")
    tangent = number(getattr(x, "tangent", 0.0), "the tangent of an input of f")
    if value is None or tangent is None:
        raise NotANumber("an input of f is None, not a number")
    return value, tangent


def derivative(case: Case, function: Any) -> Any:
    function = en.function_named(function, "derivative")
    program = Program(case)
    (at,) = case["at"]
    found = function(lambda x: program([x]), float(at))
    if found is None:
        raise NotANumber("derivative returned None; does it end in return?")
    return number(found, "what derivative returned")


def jvp(case: Case, function: Any) -> Any:
    """The pair that jvp returned, and the two lists that it was given, as they are afterwards."""
    function = en.function_named(function, "jvp")
    primals, tangents = [float(x) for x in case["at"]], [float(x) for x in case["direction"]]
    found = function(function_of(Program(case)), primals, tangents)
    if isinstance(found, (str, Mapping)) or not hasattr(found, "__iter__") or len(pair := list(found)) != 2:
        raise NotANumber(f"jvp returned {en.short(found)}, not a pair of numbers")
    return {
        "pair": [number(x, what) for x, what in zip(pair, ("the value from jvp", "the tangent from jvp"), strict=True)],
        "after": [_numbers(primals), _numbers(tangents)],
    }


class _Moving:
    """A Dual of the check's own."""

    def __init__(self, value: float, tangent: float) -> None:
        self.value, self.tangent = value, tangent


def _jvp(f: Any, primals: Any, tangents: Any) -> tuple[float, float]:
    """What 2.4 asks for; in 2.5 it stands in for the learner's own."""
    y = f([_Moving(float(x), float(r)) for x, r in zip(primals, tangents, strict=True)])
    return (y.value, y.tangent) if hasattr(y, "tangent") else (y, 0.0)


def _numbers(xs: Sequence[Any]) -> list[float | None]:
    return [number(x, "a number that was handed over") if not hasattr(x, "tangent") else None for x in xs]


def _point(case: Case) -> Any:
    at = [float(x) for x in case["at"]]
    return np.array(at) if case.get("array") else at


def gradient(case: Case, function: Any) -> Any:
    """The gradient and theta afterwards; for "calls": one with equal calls and two in a row whose calls tell."""
    function = en.function_named(function, "forward_gradient")
    with standing_in(function, {"jvp": always(_jvp)}):
        return _passes(case, function, "the gradient")


def jacobian(case: Case, function: Any) -> Any:
    """The Jacobian and the point afterwards; for "columns": the same with equal calls and with calls that tell."""
    function = en.function_named(function, "jacobian")
    return _passes(case, function, "the Jacobian")


def _passes(case: Case, function: Any, what: str) -> Any:
    if "scales" not in case:
        theta = _point(case)
        found = arrays.array(_readable(function(function_of(Program(case)), theta)), what)
        return {"found": found, "after": _numbers(list(theta))}

    def run(f: Callable[[Any], Any]) -> dict[str, Any]:
        return arrays.array(_readable(function(f, _point(case))), what)

    plain = run(function_of(Program(case)))
    f = function_of(Program(case, case["scales"]))
    first, second = run(f), run(f)
    return {"plain": plain, "first": first, "second": second}


def _readable(found: Any) -> Any:
    """Lists of numbers as they are; a Dual among them is told by name, not swallowed by an array."""
    if isinstance(found, (list, tuple)):
        for x in found:
            for y in x if isinstance(x, (list, tuple)) else (x,):
                if hasattr(y, "tangent"):
                    raise NotANumber(f"an entry of the result is {en.short(y)}, not a number")
    return found


# ---- 2.7 counting ---------------------------------------------------------------------------------------------------

COUNTS = ("jvp", "forward_gradient", "jacobian", "one_sided", "central")


def calls_needed(case: Case, function: Any) -> Any:
    """The entries of the dict that are asked for."""
    function = en.function_named(function, "calls_needed")
    found = function(case["P"], case["m"])
    if not isinstance(found, Mapping):
        raise NotANumber(en.not_a("a dict", found, "calls_needed"))
    return {key: number(found[key], f'the entry "{key}"') for key in COUNTS if key in found}


# ---- 2.8 nested derivatives -----------------------------------------------------------------------------------------

Derive = Callable[[Callable[[Any], Any], Any], Any]

# the expression as text → what it is, with D(f, x) for f′(x) and a constant c
NESTED: dict[str, Callable[[Derive, float, float], Any]] = {
    "D(x ↦ x · D(y ↦ x + y, c), x)": lambda D, x, c: D(lambda x: x * D(lambda y: x + y, c), x),
    "D(x ↦ x · D(y ↦ y + x, c), x)": lambda D, x, c: D(lambda x: x * D(lambda y: y + x, c), x),
    "D(x ↦ x·x·x + 2·x, x)": lambda D, x, c: D(lambda x: x * x * x + 2 * x, x),
    "D(x ↦ D(y ↦ x · y, c), x)": lambda D, x, c: D(lambda x: D(lambda y: x * y, c), x),
    "D(x ↦ x · D(y ↦ x · y · y, c), x)": lambda D, x, c: D(lambda x: x * D(lambda y: x * y * y, c), x),
    "D(x ↦ x · D(y ↦ y · y + x · y, c), x)": lambda D, x, c: D(lambda x: x * D(lambda y: y * y + x * y, c), x),
    "D(x ↦ D(y ↦ x · x · x, c), x)": lambda D, x, c: D(lambda x: D(lambda y: x * x * x, c), x),
    "D(x ↦ D(y ↦ x · y · y, x), x)": lambda D, x, c: D(lambda x: D(lambda y: x * y * y, x), x),
    "D(x ↦ D(y ↦ y · y · y, x), x)": lambda D, x, c: D(lambda x: D(lambda y: y * y * y, x), x),
    "D(x ↦ x · D(y ↦ y · D(z ↦ x + y + z, c), c), x)": lambda D, x, c: D(
        lambda x: x * D(lambda y: y * D(lambda z: x + y + z, c), c), x
    ),
    "D(x ↦ D(y ↦ D(z ↦ x · y · z · z, c), x), x)": lambda D, x, c: D(
        lambda x: D(lambda y: D(lambda z: x * y * z * z, c), x), x
    ),
    "D(x ↦ D(y ↦ D(z ↦ z · z · z · z, y), x), x)": lambda D, x, c: D(
        lambda x: D(lambda y: D(lambda z: z * z * z * z, y), x), x
    ),
}


def nested(case: Case, function: Any) -> Any:
    function = en.function_named(function, "nested_derivative")
    found = NESTED[case["text"]](function, float(case["x"]), float(case["c"]))
    if found is None:
        raise NotANumber("nested_derivative returned None; does lift return a pair of Tagged?")
    return number(found, "what nested_derivative returned")


PROBES: dict[str, Probe] = {
    "2.0": tangent_pass,
    "2.1": arithmetic,
    "2.2": functions,
    "2.3": derivative,
    "2.4": jvp,
    "2.5": gradient,
    "2.6": jacobian,
    "2.7": calls_needed,
    "2.8": nested,
}
