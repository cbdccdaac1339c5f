"""Probes of lesson 1: what the checks compute with a learner's functions on numbers, graphs as data and arrays."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from graphlib import TopologicalSorter
from typing import Any

import numpy as np

from autograder.evidence import NotANumber, number
from autograder.student.probes import Probe, arrays
from autograder.student.probes.apart import run_apart
from autograder.student.probes.data import nodes
from autograder.student.probes.engines import function_named, not_a, short
from autograder.student.probes.stand_ins import needs_parents

Case = dict[str, Any]

# Seconds that a call in a process of its own may take: a right answer needs a tenth of the one, a hundredth of the other.
SECONDS_FOR_A_CHAIN = 5.0
SECONDS_FOR_A_CYCLE = 1.0


# ---- dictionaries of numbers: 1.1, 1.2 ------------------------------------------------------------------------------


def affine_then_square(case: Case, function: Any) -> Any:
    function = function_named(function, "affine_then_square")
    return _entries(function(case["x"]), ("y", "z", "dz_dy", "dy_dx", "dz_dx"), "affine_then_square")


def squared_error_step(case: Case, function: Any) -> Any:
    function = function_named(function, "squared_error_step")
    names = ("z", "loss", "dL_dz", "dz_dw", "grad", "w_new", "z_new", "loss_new")
    return _entries(function(case["w"], case["x"], case["y"], case["lr"]), names, "squared_error_step")


def _entries(found: Any, names: Iterable[str], function: str) -> dict[str, float | None]:
    """The entries of the dict that a function returned, those of `names` that are there."""
    if not isinstance(found, Mapping):
        raise NotANumber(not_a("a dict", found, function))
    return {name: number(found[name], f'the entry "{name}"') for name in names if name in found}


# ---- order: 1.3 -----------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=1)
def long_chain(length: int) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """A chain of `length` nodes, and its only topological order. Neither listing nor names tell what comes when."""
    factor = 41_389
    while math.gcd(factor, length) > 1:
        factor += 1
    order = [f"n{k * factor % length}" for k in range(length)]
    parents = [(), *((parent,) for parent in order[:-1])]
    # Listed in short runs from the far end: no order either way, the first node met has nearly all others behind it, and
    # neighbours stay near in memory, which is quick.
    listed = [k for run in reversed(range(0, length, 8)) for k in range(run, min(run + 8, length))]
    return {order[k]: parents[k] for k in listed}, order


def order_in_short(order: Sequence[str]) -> dict[str, Any]:
    """A long order, as evidence: how many names, and a digest of them all."""
    return {"count": len(order), "digest": hashlib.sha256("\n".join(order).encode()).hexdigest()}


def topological_order(case: Case, function: Any) -> Any:
    """The order that the function lists; or, for graphs that have none, what it did instead."""
    function = function_named(function, "topological_order")
    if "chain" in case:
        parents, _ = long_chain(case["chain"])
        return run_apart(lambda: order_in_short(_names(function(dict(parents)))), SECONDS_FOR_A_CHAIN)
    parents = {name: tuple(slots) for name, slots in case["parents"].items()}
    if case["part"] == "cycle":
        return run_apart(lambda: _names(function(parents)), SECONDS_FOR_A_CYCLE)
    return _names(function(parents))


def _names(found: Any) -> list[str]:
    if found is None or isinstance(found, (str, Mapping)) or not hasattr(found, "__iter__"):
        raise NotANumber(f"topological_order returned {short(found)}, not a list of names")
    return [name if isinstance(name, str) else f"({short(name)})" for name in found]


# ---- graphs: 1.4, 1.5, 1.6 ------------------------------------------------------------------------------------------


def local_derivatives(case: Case, function: Any) -> Any:
    """{"slopes": one number a slot}, or {"bare": a number} where no tuple came back."""
    function = function_named(function, "local_derivatives")
    found = function(case["op"], tuple(case["inputs"]), case["output"], case["n"])
    what = f"the local derivative of {case['op']}"
    if found is None:
        raise NotANumber(f'local_derivatives("{case["op"]}", …) returned None; does that branch end in return?')
    if isinstance(found, (str, Mapping)):
        raise NotANumber(f'local_derivatives("{case["op"]}", …) returned {short(found)}, not a tuple of numbers')
    if not _is_sequence(found):
        return {"bare": number(found, what)}
    return {"slopes": [number(slope, what) for slope in found]}


@contextlib.contextmanager
def standing_in(function: Any, name: str, wrap: Callable[[Any], Any]) -> Iterator[Any]:
    """While `function` runs, its notebook's function `name` is wrapped; yields the learner's own, None if there is none.

    So that a mistake in one exercise does not count again in the next one, which calls it.
    """
    names = getattr(function, "__globals__", {})
    own = names.get(name)
    if not callable(own):
        yield None
        return
    names[name] = wrap(own)
    try:
        yield own
    finally:
        names[name] = own


def _in_order(own: Any) -> Any:
    """The learner's topological_order; where what it gives is no order, one that is takes its place. Stubs stay stubs."""

    def topological_order(parents: Any) -> Any:
        needs_parents(parents, "topological_order")
        try:
            found = list(own(parents))
            place = {name: k for k, name in enumerate(found)}
            if len(found) == len(place) == len(parents) and all(
                place[p] < place[c] for c in parents for p in parents[c]
            ):
                return found
        except NotImplementedError:
            raise
        except Exception:
            pass
        return list(TopologicalSorter(parents).static_order())

    return topological_order


def _told_slopes(case: Case) -> Callable[[Any], Any]:
    """The learner's local_derivatives; at the nodes of the case's graph its answer is the one that the case tells.

    Stubs stay stubs.
    """
    told: dict[Any, tuple[float, ...]] = {}
    for name, (op, parents, n) in case["graph"].items():
        inputs = tuple(case["values"][parent] for parent in parents)
        told[op, inputs, case["values"][name], n if op == "pow" else None] = tuple(case["slopes"][name])

    def wrap(own: Any) -> Any:
        def local_derivatives(op: Any, inputs: Any, output: Any, n: Any = 1.0) -> Any:
            try:
                found = own(op, inputs, output, n)
            except NotImplementedError:
                raise
            except Exception:
                found = None
            try:
                return told.get((op, tuple(inputs), output, n if op == "pow" else None), found)
            except TypeError:  # called with something else: no answer of 1.4 serves that
                return own(op, inputs, output, n)

        return local_derivatives

    return wrap


def _is_sequence(x: Any) -> bool:
    return hasattr(x, "__iter__") and getattr(x, "shape", None) != ()


def forward_pass(case: Case, function: Any) -> Any:
    """The value of every node that the function names and the graph has."""
    function = function_named(function, "forward_pass")
    with standing_in(function, "topological_order", _in_order):
        found = function(nodes(case["graph"], function), dict(case["inputs"]))
    if not isinstance(found, Mapping):
        raise NotANumber(not_a("a dict from node names to numbers", found, "forward_pass"))
    return {name: number(found[name], f"the value of {name}") for name in case["graph"] if name in found}


def sum_over_paths(case: Case, function: Any) -> Any:
    """What the function returns, with local derivatives as the case tells them: wrong ones are marked in 1.4."""
    function = function_named(function, "sum_over_paths")
    graph, values = nodes(case["graph"], function), case["values"]
    with standing_in(function, "local_derivatives", _told_slopes(case)):
        found = function(graph, dict(values), case["source"], case["sink"])
    if found is None:
        raise NotANumber("sum_over_paths returned None; does every way through it end in return?")
    return {"sum": number(found, "what sum_over_paths returned")}


# ---- finite differences: 1.7, 1.8 -----------------------------------------------------------------------------------

# name → (f, its derivative), for floats and arrays alike
FUNCTIONS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "exp(x)": (np.exp, np.exp),
    "x**3": (lambda x: x**3, lambda x: 3 * x**2),
    "(2*x - 6)**2": (lambda x: (2 * x - 6) ** 2, lambda x: 4 * (2 * x - 6)),
    "tanh(x)": (np.tanh, lambda x: 1 - np.tanh(x) ** 2),
    "1/x": (lambda x: 1 / x, lambda x: -1 / x**2),
    "x*exp(x)": (lambda x: x * np.exp(x), lambda x: (1 + x) * np.exp(x)),
}


def cubic(coefficients: Sequence[float]) -> Callable[[Any], float]:
    """θ ↦ Σ cᵢ θᵢ³ + Σ θᵢ θᵢ₊₁ over the entries of θ, an array of any shape, in reading order."""

    def f(theta: Any) -> float:
        t = np.asarray(theta, dtype=np.float64).ravel()
        return float(np.dot(coefficients, t**3) + np.dot(t[:-1], t[1:]))

    return f


def _difference(case: Case, function: Callable[..., Any], *, h: float | None) -> float | None:
    f, _ = FUNCTIONS[case["f"]]
    found = function(f, case["x"]) if h is None else function(f, case["x"], h)
    if found is None:
        raise NotANumber("central_difference returned None; does it end in return?")
    return number(found, "what central_difference returned")


def differences(case: Case, central_difference: Any, numerical_gradient: Any, relative_error: Any) -> Any:
    """What one of the three functions gives, by the case's part."""
    part = case["part"]
    if part == "central":
        function = function_named(central_difference, "central_difference")
        if "hs" in case:
            return [_difference(case, function, h=h) for h in case["hs"]]
        return _difference(case, function, h=case["h"])
    if part == "relative-error":
        function = function_named(relative_error, "relative_error")
        return number(function(case["g"], case["g_hat"]), "what relative_error returned")
    function = function_named(numerical_gradient, "numerical_gradient")
    theta = np.array(case["theta"], dtype=np.float64)
    f = cubic(case["coefficients"])
    found = function(f, theta) if case["h"] is None else function(f, theta, case["h"])
    seen = {"gradient": arrays.array(found, "the gradient"), "theta": arrays.array(theta, "theta after the call")}
    if part == "gradient":
        seen["own"] = _by_own_quotient(f, np.array(case["theta"], dtype=np.float64), case["h"], central_difference)
    return seen


def _by_own_quotient(f: Any, theta: np.ndarray, h: float | None, central_difference: Any) -> Any:
    """The gradient that the learner's own central_difference gives, entry by entry; None if it gives none."""
    found = []
    try:
        for i in np.ndindex(theta.shape):

            def along(x: float, i: Any = i) -> float:
                moved = theta.copy()
                moved[i] = x
                return float(f(moved))

            x = float(theta[i])
            found.append(number(central_difference(along, x) if h is None else central_difference(along, x, h)))
    except Exception:
        return None
    return found


def step_size_errors(case: Case, function: Any) -> Any:
    """The array of errors as the function returns it."""
    function = function_named(function, "step_size_errors")
    f, df = FUNCTIONS[case["f"]]
    found = function(f, df, case["x"], np.array(case["hs"], dtype=np.float64))
    return arrays.array(found, "what step_size_errors returned")


# ---- fool the point: 1.9 --------------------------------------------------------------------------------------------


def fool_the_point(case: Case, wrong_tanh_rule: Any, exposing_point: Any) -> Any:
    """What the rule says at the points that the case names, and, if asked for, at the learner's own point."""
    rule = function_named(wrong_tanh_rule, "wrong_tanh_rule")

    def at(x: float) -> float | None:
        found = rule(x, math.tanh(x))
        if found is None:
            raise NotANumber("wrong_tanh_rule returned None; does it end in return?")
        return number(found, "what wrong_tanh_rule returned")

    if case["part"] != "exposed":
        return {"slopes": [at(x) for x in case["xs"]]}
    point = function_named(exposing_point, "exposing_point")()
    if isinstance(point, (str, Mapping)) or not hasattr(point, "__iter__") or len(found := list(point)) != 2:
        raise NotANumber(f"exposing_point returned {short(point)}, not two numbers (a, b)")
    a, b = (number(x, "a coordinate of exposing_point") for x in found)
    if a is None or b is None:
        raise NotANumber("a coordinate of exposing_point is None, not a number")
    return {"point": [a, b], "slope": at(b)}


PROBES: dict[str, Probe] = {
    "1.1": affine_then_square,
    "1.2": squared_error_step,
    "1.3": topological_order,
    "1.4": local_derivatives,
    "1.5": forward_pass,
    "1.6": sum_over_paths,
    "1.7": differences,
    "1.8": step_size_errors,
    "1.9": fool_the_point,
}
