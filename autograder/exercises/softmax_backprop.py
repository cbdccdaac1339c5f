"""The exercises of lesson 4, softmax and the n-gram network: parts, cases, judges and misconceptions."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, TypeVar

import numpy as np

from autograder.exercises import arrays
from autograder.exercises.array_rules import (
    AFFINE,
    BATCH,
    COMPARE,
    EMBEDDING,
    ERROR_SIGNAL,
    LOSS,
    ROWS,
    SOFTMAX,
    TANH,
    misconceptions,
)
from autograder.exercises.arrays import Index
from autograder.exercises.model import Case, Exercise, Finding, LessonExercises, Part, WrittenQuestion
from autograder.references import arrays as reference
from autograder.references import ngram

Rng = random.Random
T = TypeVar("T")
COORDINATES = 2  # entries of a gradient, drawn at random, that a central difference is asked about too
LOOSE = 1e-5  # where 1e-7 inside a logarithm must not show: it has a part of its own

# ---- cases ----------------------------------------------------------------------------------------------------------


def decimals(rng: Rng, *shape: int, low: float = -2.0, high: float = 2.0) -> Any:
    """A nested list of numbers with two decimals, none of them near 0."""
    if shape:
        return [decimals(rng, *shape[1:], low=low, high=high) for _ in range(shape[0])]
    while True:
        x = round(rng.uniform(low, high), 2)
        if abs(x) >= 0.1:
            return x


def tokens(rng: Rng, n: int, *shape: int) -> Any:
    """Token numbers below n, nested; the vectors along the last axis differ among each other."""
    if not shape:
        return rng.randrange(n)
    if len(shape) == 1:
        return [rng.randrange(n) for _ in range(shape[0])]
    found: list[Any] = []
    while len(found) < shape[0]:
        one = tokens(rng, n, *shape[1:])
        if one not in found:
            found.append(one)
    return found


def different(rng: Rng, n: int, *shape: int) -> Any:
    """Token numbers below n, no two alike."""
    flat = rng.sample(range(n), int(np.prod(shape)))
    return np.reshape(flat, shape).tolist()


def case_of(part: str, call: str, op: str, given: Mapping[str, Any], **more: Any) -> Case:
    """A case about `call`, "affine_vjp(W, r, q_bar)", with the given arrays; small cases are shown first.

    But a batch of one tells less than a larger one, and a batch of large scores mixes two things: they come last.
    """
    size = sum(np.asarray(x).size for x in given.values())
    if size <= 12:
        inside = ", ".join(f"{name} = {np.asarray(x).tolist()}" for name, x in given.items())
    else:
        inside = ", ".join(f"{name} of shape {np.asarray(x).shape}" for name, x in given.items())
    alone = any(np.ndim(x) > 1 and len(x) == 1 for x in given.values())
    mixed = part == "large" and any(np.ndim(x) > 1 for x in given.values())
    shown_at = float(size + 1000 * alone + 100 * mixed)
    return {"part": part, "op": op, "says": f"{call} with {inside}", "size": shown_at, **given, **more}


def at(case: Case, shape: Index, name: str) -> list[Index]:
    """The coordinates at which the central difference is asked: the same whenever the case is judged."""
    rng = random.Random(f"{case['says']} {name}")
    count = int(np.prod(shape, dtype=int))
    flat = rng.sample(range(count), min(COORDINATES, count))
    return [tuple(int(i) for i in np.unravel_index(k, shape)) for k in flat]


# ---- findings -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Right:
    """What an answer should be: every entry by PyTorch, any one entry by a central difference where there is one."""

    array: np.ndarray
    difference: Callable[[Index], float] | None = None
    of: str = "the loss"


def once_a_case(build: Callable[[Case], T]) -> Callable[[Case], T]:
    """`build`, remembered: to name a misconception, one case is judged again and again."""

    @lru_cache(maxsize=256)
    def from_text(text: str) -> T:
        return build(json.loads(text))

    return lambda case: from_text(json.dumps(case, sort_keys=True))


def finding(
    case: Case,
    name: str,
    seen: Mapping[str, Any],
    right: Right,
    hint: str,
    *,
    where: str | None = None,
    given: Sequence[str] = (),
    after: str = "",
    **how: Any,
) -> Finding | None:
    """What is wrong with the array `name` of a case, against both witnesses; None if nothing is.

    `given` are the arrays of the case that the message shows, `after` is a line about this answer, `hint` what to look
    at next, `how` goes on to arrays.departure.
    """
    departure = arrays.departure(name, seen, right.array, **how)
    if departure is None and right.difference is not None:
        departure = _against_difference(case, name, seen, right)
    if departure is None:
        return None
    lines = [departure.text, after]
    lines += [arrays.shown(key, case[key]) for key in given]
    yours = arrays.read(seen)
    if yours is not None and yours.size > 1 and right.array.size <= arrays.MOST_SHOWN:
        lines += [arrays.shown("yours", yours), arrays.shown("right", right.array)]
    if departure.index is not None and right.difference is not None:
        lines.append(_witnesses(right, departure.index))
    lines.append(hint)
    return Finding("\n".join(filter(None, lines)), where=where or name, size=case["size"])


def _against_difference(case: Case, name: str, seen: Mapping[str, Any], right: Right) -> arrays.Departure | None:
    yours = arrays.read(seen)
    assert yours is not None and right.difference is not None
    for index in at(case, right.array.shape, name):
        slope = right.difference(index)
        if arrays.off(yours[index], np.float64(slope), arrays.WITNESSED):
            return arrays.Departure(
                f"{name}[{', '.join(map(str, index))}] is {arrays.number(float(yours[index]))}, and a central "
                f"difference gives {arrays.number(slope)}.",
                index,
            )
    return None


def _witnesses(right: Right, index: Index) -> str:
    assert right.difference is not None
    place = f"entry {list(index)}" if index else "it"
    return (
        f"Two witnesses for {place}: a central difference of {right.of} gives "
        f"{arrays.number(right.difference(index))}, PyTorch gives {arrays.number(float(right.array[index]))}."
    )


def floats(nested: Any) -> np.ndarray:
    return np.array(nested, dtype=np.float64)


def stable_lse(z: np.ndarray) -> np.ndarray:
    """log Σ exp z along the last axis."""
    m = np.max(z, axis=-1, keepdims=True)
    found: np.ndarray = np.squeeze(m, -1) + np.log(np.sum(np.exp(z - m), axis=-1))
    return found


def gradient_of(
    f: Callable[[dict[str, Any]], Any],
    by_torch: Callable[[dict[str, Any]], Any],
    given: Mapping[str, np.ndarray],
    name: str,
    of: str = "the loss",
) -> Right:
    """∂f/∂given[name]; f is written with NumPy, by_torch is the same with torch."""
    return Right(
        reference.gradients(by_torch, given)[name], lambda index: reference.difference(f, given, name, index), of
    )


# ---- 4.1 Log-sum-exp and softmax ------------------------------------------------------------------------------------

_TWO = ("logsumexp", "softmax")


def _scores(part: str, function: str, z: Any) -> Case:
    return case_of(part, f"{function}(z)", function, {"z": z}, function=function)


def softmax_worked() -> list[Case]:
    thirds = [0.0, float(np.log(2)), float(np.log(3))]
    cases = [_scores(f, f, z) for f in _TWO for z in (thirds, [1.0, 2.0, 3.0, 4.0])]
    cases += [_scores("batch", f, [[1.0, 2.0, 3.0], [0.0, 0.0, 1.0]]) for f in _TWO]
    cases += [_scores("large", f, z) for f in _TWO for z in ([1000.0, 1001.0], [-1000.0, -1001.0])]
    cases += [_scores("large", f, [[0.0, 1.0], [1000.0, 1001.0]]) for f in _TWO]
    return cases + [_scores("untouched", f, [1.0, 2.0, 3.0]) for f in _TWO]


def softmax_cases(rng: Rng) -> list[Case]:
    cases = []
    for function in _TWO:
        n = rng.randint(3, 5)
        cases += [_scores(function, function, decimals(rng, size)) for size in (2, n)]
        cases += [
            _scores("batch", function, decimals(rng, *shape)) for shape in ((2, 3), (4, 3), (3, 3), (2, 3, 4), (1, 3))
        ]
        far = rng.choice((-1, 1)) * rng.randint(900, 1100)
        cases.append(_scores("large", function, [x + far for x in decimals(rng, 3)]))
        apart = [[x + shift for x in decimals(rng, 3)] for shift in (rng.randint(900, 1100), 0.0, -far)]
        cases.append(_scores("large", function, apart))
        cases.append(_scores("large", function, [0.0, round(rng.uniform(5, 9), 2), -1000.0]))
        cases.append(_scores("untouched", function, decimals(rng, 2, 3)))
    return cases


@once_a_case
def right_softmax(case: Case) -> Right:
    import torch

    z = floats(case["z"])
    with reference.one_thread():
        lse, p = torch.logsumexp(torch.tensor(z), -1).numpy(), torch.softmax(torch.tensor(z), -1).numpy()
    if case["function"] == "logsumexp":
        return Right(lse)
    # The derivative of logsumexp is softmax.
    return Right(
        p,
        lambda index: reference.difference(lambda a: float(stable_lse(a["z"]).sum()), {"z": z}, "z", index),
        "logsumexp",
    )


def judge_softmax(case: Case, seen: Any) -> Finding | None:
    function = case["function"]
    if case["part"] == "untouched":
        return unchanged(case, "z", seen, function)
    hints = {
        "batch": "Each vector along the last axis is treated by itself: its own maximum, its own sum.",
        "large": "A shift of all scores of one vector must not change softmax, and moves logsumexp by just as much. "
        "Which shift makes the largest exponent 0?",
    }
    through = f"Go through your {function} with these numbers, line by line, and look at the values and the shapes."
    hint = hints.get(case["part"], through)
    because = {
        "softmax": "one probability for each score",
        "logsumexp": "one number for each vector along the last axis",
    }[function]
    right = right_softmax(case)
    return finding(case, f"{function}(z)", seen, right, hint, where=function, given=("z",), shape_because=because)


def unchanged(case: Case, name: str, seen: Any, function: str) -> Finding | None:
    """Is the array `name` after the call what it was before?"""
    departure = arrays.departure(name, seen, floats(case[name]))
    if departure is None:
        return None
    after = arrays.read(seen)
    lines = [
        f"{function} changed the array that it was given.",
        arrays.shown("before", case[name]),
        arrays.shown("after", np.nan if after is None else after),
        f"Look for an operator that writes into {name}, like -= or *=, and let it make a new array.",
    ]
    return Finding("\n".join(lines), where=function, size=case["size"])


# ---- 4.2 and 4.3 Cross-entropy and its gradient ---------------------------------------------------------------------


def _labelled(function: str, part: str, z: Any, y: Any) -> Case:
    return case_of(part, f"{function}(z, y)", function, {"z": z, "y": y})


def _drawn(rng: Rng, function: str, part: str, *shape: int) -> Case:
    *leading, n = shape
    while True:
        y = tokens(rng, n, *leading)
        if not leading or len(set(np.ravel(y).tolist())) > 1:
            z = decimals(rng, *shape, low=-1.2, high=1.2)
            if np.any(np.argmax(z, axis=-1) != y) and np.any(np.asarray(y) != n - 1):
                return _labelled(function, part, z, y)


def _gaps(function: str, part: str) -> list[Case]:
    return [
        _labelled(function, part, [1000.0, 0.0], 1),
        _labelled(function, part, [1000.0, 0.0], 0),
        _labelled(function, part, [0.0, -1000.0], 1),
        _labelled(function, part, [[0.0, 1.0], [1000.0, 1001.0]], [0, 1]),
    ]


def _random_gaps(rng: Rng, function: str, part: str) -> list[Case]:
    n, gap = rng.randint(3, 4), rng.randint(900, 1100)
    z = decimals(rng, n, low=-1.0, high=1.0)
    top, y = rng.sample(range(n), 2)
    z[top] += gap
    return [_labelled(function, part, z, y), _labelled(function, part, z, top)]


_BATCHES = ((2, 3), (4, 3), (3, 3), (2, 3, 4))


def loss_worked() -> list[Case]:
    thirds = [0.0, float(np.log(2)), float(np.log(3))]
    single = [_labelled("cross_entropy", "single", thirds, y) for y in (1, 2)]
    batch = [_labelled("cross_entropy", "batch", [[1.0, 2.0, 3.0], [0.0, 0.0, 1.0]], [0, 1])]
    return single + batch + _gaps("cross_entropy", "gap")


def loss_cases(rng: Rng) -> list[Case]:
    single = [_drawn(rng, "cross_entropy", "single", n) for n in (2, 3, rng.randint(4, 5))]
    batch = [_drawn(rng, "cross_entropy", "batch", *shape) for shape in _BATCHES]
    return single + batch + _random_gaps(rng, "cross_entropy", "gap")


def total_loss(y: np.ndarray) -> tuple[Callable[[dict[str, Any]], Any], Callable[[dict[str, Any]], Any]]:
    """The sum of all cross-entropies as a function of {"z": …}, with NumPy and with torch."""

    def with_numpy(a: dict[str, Any]) -> float:
        z = a["z"]
        return float((stable_lse(z) - np.take_along_axis(z, y[..., None], -1)[..., 0]).sum())

    def with_torch(a: dict[str, Any]) -> Any:
        import torch
        from torch.nn.functional import cross_entropy

        z = a["z"]
        return cross_entropy(z.reshape(-1, z.shape[-1]), torch.tensor(y.reshape(-1)), reduction="sum")

    return with_numpy, with_torch


@once_a_case
def right_loss(case: Case) -> Right:
    import torch
    from torch.nn.functional import cross_entropy

    z, y = floats(case["z"]), np.array(case["y"], dtype=np.int64)
    with reference.one_thread():
        flat = cross_entropy(torch.tensor(z.reshape(-1, z.shape[-1])), torch.tensor(y.reshape(-1)), reduction="none")
    return Right(flat.numpy().reshape(y.shape))


def judge_loss(case: Case, seen: Any) -> Finding | None:
    hint = {
        "gap": "Write the loss with the scores alone, so that no probability is in it that could become 0.",
    }.get(case["part"], "One number for each example, from its own scores and the place of its own target.")
    return finding(
        case,
        "cross_entropy(z, y)",
        seen,
        right_loss(case),
        hint,
        where="cross_entropy",
        given=("z", "y"),
        tolerance=LOOSE,
        shape_because="one loss for each target",
    )


def signal_worked() -> list[Case]:
    name, thirds = "cross_entropy_grad", [0.0, float(np.log(2)), float(np.log(3))]
    cases = [_labelled(name, "example", thirds, 1), _labelled(name, "example", [1.0, 2.0], 0)]
    cases += [_labelled(name, "five", [0.5, -1.0, 2.0, 0.0, 1.5], y) for y in (0, 3)]
    cases += [_labelled(name, "batch", [[1.0, 2.0, 3.0], [0.0, 0.0, 1.0]], [0, 1])]
    return cases + _gaps(name, "large")


def signal_cases(rng: Rng) -> list[Case]:
    name = "cross_entropy_grad"
    cases = [_drawn(rng, name, "example", n) for n in (2, 3)]
    cases += [_drawn(rng, name, "five", 5) for _ in range(3)]
    cases += [_drawn(rng, name, "batch", *shape) for shape in _BATCHES]
    return cases + _random_gaps(rng, name, "large")


@once_a_case
def right_signal(case: Case) -> Right:
    z, y = floats(case["z"]), np.array(case["y"], dtype=np.int64)
    return gradient_of(*total_loss(y), {"z": z}, "z", "the loss" if y.size == 1 else "the summed losses")


def judge_signal(case: Case, seen: Any) -> Finding | None:
    right, y = right_signal(case), case["y"]
    return finding(
        case,
        "cross_entropy_grad(z, y)",
        seen,
        right,
        "How does −z_y + logsumexp(z) answer to each score? Differentiate the two terms one by one.",
        where="cross_entropy_grad",
        given=("z", "y"),
        factors={
            "the number of examples": np.size(y),
            f"the number of {'rows' if np.ndim(y) else 'scores'}": len(case["z"]),
        },
        shape_because="one derivative for each score",
    )


# ---- 4.4 The affine rule --------------------------------------------------------------------------------------------

_NAMED = {"r": "r_bar", "W": "W_bar", "b": "b_bar"}
_AFFINE = "affine_vjp(W, r, q_bar)"


def _affine(part: str, output: str, W: Any, r: Any, q_bar: Any) -> Case:
    return case_of(part, _AFFINE, f"affine_vjp: {_NAMED[output]}", {"W": W, "r": r, "q_bar": q_bar}, output=output)


def _affine_drawn(rng: Rng, output: str, m: int, n: int, *leading: int) -> Case:
    part = f"{output}-batch" if leading else output
    return _affine(part, output, decimals(rng, m, n), decimals(rng, *leading, n), decimals(rng, *leading, m))


def affine_worked() -> list[Case]:
    W = [[1.0, 2.0], [0.0, -1.0], [3.0, 1.0]]
    single = [_affine(o, o, W, [1.0, 2.0], [1.0, -1.0, 2.0]) for o in _NAMED]
    batch = [
        _affine(f"{o}-batch", o, W, [[1.0, 2.0], [0.0, 1.0]], [[1.0, -1.0, 2.0], [0.5, 0.0, -1.0]]) for o in _NAMED
    ]
    return single + batch


def affine_cases(rng: Rng) -> list[Case]:
    cases = []
    for output in _NAMED:
        m, n = rng.sample((2, 3, 4), 2)
        cases += [_affine_drawn(rng, output, *shape) for shape in ((m, n), (n, m), (3, 3))]
        cases += [_affine_drawn(rng, output, *shape) for shape in ((3, 2, 4), (2, 4, 3), (3, 3, 2), (3, 2, 2, 3))]
        cases += [_affine_drawn(rng, output, 2, 3, 1)]
    return cases


def _affine_map(case: Case) -> tuple[dict[str, np.ndarray], Callable[[dict[str, Any]], float]]:
    """The arrays W, r, b of a case, and ⟨q̄, W r + b⟩ as a function of them."""
    given = {name: floats(case[name]) for name in ("W", "r")} | {"b": np.zeros(len(case["W"]))}
    q_bar = floats(case["q_bar"])
    return given, lambda a: float((q_bar * (a["r"] @ a["W"].T + a["b"])).sum())


@once_a_case
def right_affine(case: Case) -> Right:
    given, with_numpy = _affine_map(case)

    def with_torch(a: dict[str, Any]) -> Any:
        import torch

        q_bar = torch.tensor(case["q_bar"], dtype=torch.float64)
        return (q_bar * torch.nn.functional.linear(a["r"], a["W"], a["b"])).sum()

    return gradient_of(with_numpy, with_torch, given, case["output"], "⟨q̄, Wr + b⟩")


def judge_affine(case: Case, seen: Any) -> Finding | None:
    right, output = right_affine(case), case["output"]
    because = {"r": "that of r", "W": "that of W", "b": "that of b, one entry for each of the m outputs"}[output]
    hint = {
        "r": "r_j enters every q_i, with the factor W_ij. Add up what comes back from all outputs i.",
        "W": "W_ij enters q_i alone, with the factor r_j. With several examples, add what each of them sends.",
        "b": "b_i enters q_i alone, with the factor 1. With several examples, add what each of them sends.",
    }[output]
    return finding(
        case,
        _NAMED[output],
        seen,
        right,
        hint,
        where=case["op"],
        given=("W", "r", "q_bar"),
        after=_adjoint_identity(case, seen),
        factors={"the number of examples": int(np.prod(np.shape(case["r"])[:-1], dtype=int))},
        shape_because=because,
    )


def _adjoint_identity(case: Case, seen: Any) -> str:
    """⟨q̄, J ṫ⟩ = ⟨t̄, ṫ⟩ for a tangent of the array at hand; the map is affine, so J ṫ is a plain difference."""
    given, f = _affine_map(case)
    name = case["output"]
    primal, yours = given[name], arrays.read(seen)
    if yours is None or yours.shape != primal.shape or not np.isfinite(yours).all():
        return ""
    rng = random.Random(case["says"])
    tangent = floats(np.reshape([rng.choice((-1.0, 1.0, 2.0)) for _ in range(primal.size)], primal.shape))
    forward = f({**given, name: primal + tangent}) - f(dict(given))
    back = float((yours * tangent).sum())
    if not arrays.off(np.float64(forward), np.float64(back)):
        return ""
    dot = {"r": "ṙ", "W": "Ẇ", "b": "ḃ"}[name]
    bar = {"r": "r̄", "W": "W̄", "b": "b̄"}[name]
    return (
        f"The adjoint identity fails for a random tangent {dot}: ⟨q̄, J{dot}⟩ = {arrays.number(forward)} going forward, "
        f"⟨{bar}, {dot}⟩ = {arrays.number(back)} with yours."
    )


# ---- 4.5 The tanh rule ----------------------------------------------------------------------------------------------


def _slopes(part: str, h: Any, h_bar: Any) -> Case:
    return case_of(part, "tanh_vjp(h, h_bar)", "tanh_vjp", {"h": h, "h_bar": h_bar})


def _slopes_drawn(rng: Rng, part: str, *shape: int) -> Case:
    h = np.round(np.tanh(decimals(rng, *shape)), 4).tolist()
    return _slopes(part, h, decimals(rng, *shape, low=-3, high=3))


def tanh_worked() -> list[Case]:
    return [
        _slopes("slope", [0.0, 0.5, -0.8], [1.0, 2.0, -1.0]),
        _slopes("batch", [[0.5, -0.5], [0.9, 0.1]], [[1.0, 2.0], [-3.0, 4.0]]),
        _slopes("untouched", [0.5, -0.8], [2.0, -1.0]),
    ]


def tanh_cases(rng: Rng) -> list[Case]:
    shapes = {"slope": ((2,), (4,)), "batch": ((2, 3), (2, 2, 3)), "untouched": ((3,), (2, 2))}
    return [_slopes_drawn(rng, part, *shape) for part, some in shapes.items() for shape in some]


@once_a_case
def right_tanh(case: Case) -> Right:
    h, h_bar = floats(case["h"]), floats(case["h_bar"])

    def with_torch(a: dict[str, Any]) -> Any:
        import torch

        return (torch.tensor(h_bar) * torch.tanh(a["u"])).sum()

    def with_numpy(a: dict[str, Any]) -> float:
        return float((h_bar * np.tanh(a["u"])).sum())

    return gradient_of(with_numpy, with_torch, {"u": np.arctanh(h)}, "u", "⟨h̄, tanh u⟩")


def judge_tanh(case: Case, seen: Any) -> Finding | None:
    if case["part"] == "untouched":
        return unchanged(case, "h_bar", seen["h_bar"], "tanh_vjp") or unchanged(case, "h", seen["h"], "tanh_vjp")
    right = right_tanh(case)
    return finding(
        case,
        "tanh_vjp(h, h_bar)",
        seen,
        right,
        "Each entry is the adjoint from above times the slope of tanh there, and that slope comes from the output h.",
        where="tanh_vjp",
        given=("h", "h_bar"),
        shape_because="one entry for each hidden unit",
    )


# ---- 4.6 The embedding rule -----------------------------------------------------------------------------------------


def _lookup(part: str, vocab_size: int, context: Any, x_bar: Any) -> Case:
    return case_of(
        part,
        f"embedding_vjp({vocab_size}, context, x_bar)",
        "embedding_vjp",
        {"context": context, "x_bar": x_bar},
        vocab_size=vocab_size,
    )


def _lookup_drawn(rng: Rng, part: str, vocab_size: int, context: Any, d: int) -> Case:
    shape = np.shape(context)
    return _lookup(part, vocab_size, context, decimals(rng, *shape[:-1], shape[-1] * d))


def embedding_worked() -> list[Case]:
    aba = _lookup("repeated", 3, [0, 1, 0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    return [
        _lookup("distinct", 4, [2, 0], [1.0, 2.0, 3.0, 4.0]),
        aba,
        _lookup("absent", 4, [3, 1], [1.0, 2.0, 3.0, 4.0]),
        _lookup("batch", 5, [[0, 1], [3, 4]], [[1.0, 2.0], [3.0, 4.0]]),
    ]


def embedding_cases(rng: Rng) -> list[Case]:
    cases = [
        _lookup_drawn(rng, "distinct", 6, different(rng, 6, 3), 2),
        _lookup_drawn(rng, "distinct", 5, different(rng, 5, 2), 3),
        _lookup_drawn(rng, "absent", 7, different(rng, 7, 3), 2),
        _lookup_drawn(rng, "batch", 7, different(rng, 7, 2, 3), 2),
        _lookup_drawn(rng, "batch", 9, different(rng, 9, 2, 2, 2), 3),
    ]
    a, b, c = different(rng, 5, 3)
    cases += [_lookup_drawn(rng, "repeated", 5, context, 2) for context in ([a, b, a], [a, a, b], [c, c, c])]
    return [*cases, _lookup_drawn(rng, "repeated", 5, [[a, b, a], [b, c, b]], 2)]


@once_a_case
def right_embedding(case: Case) -> Right:
    context, x_bar = np.array(case["context"], dtype=np.int64), floats(case["x_bar"])
    d = x_bar.shape[-1] // context.shape[-1]
    table = {"C": np.zeros((case["vocab_size"], d))}

    def with_numpy(a: dict[str, Any]) -> float:
        looked_up = [np.concatenate([a["C"][t] for t in one]) for one in context.reshape(-1, context.shape[-1])]
        return float((x_bar.reshape(len(looked_up), -1) * np.stack(looked_up)).sum())

    def with_torch(a: dict[str, Any]) -> Any:
        import torch

        looked_up = torch.nn.functional.embedding(torch.tensor(context), a["C"])
        return (torch.tensor(x_bar) * looked_up.reshape(x_bar.shape)).sum()

    return gradient_of(with_numpy, with_torch, table, "C", "⟨x̄, x⟩")


def judge_embedding(case: Case, seen: Any) -> Finding | None:
    right, context = right_embedding(case), np.array(case["context"], dtype=np.int64)
    if case["part"] == "absent":
        return _zero_rows(case, seen, right, context)
    hint = {
        "repeated": "A token that stands in several places reads one and the same row. All its blocks are added there.",
        "batch": "All axes in front of the last count examples. Every example adds its blocks into the same table.",
    }.get(case["part"], "Cut x_bar into k blocks of length d. Block r goes to the row of the token at position r.")
    return finding(
        case,
        "C_bar",
        seen,
        right,
        hint,
        where="embedding_vjp",
        given=("context", "x_bar"),
        factors={"the number of examples": int(np.prod(context.shape[:-1], dtype=int))},
        shape_because="that of C, (V, d)",
    )


def _zero_rows(case: Case, seen: Any, right: Right, context: np.ndarray) -> Finding | None:
    """Rows of tokens that do not occur: not small, but exactly 0."""
    yours = arrays.read(seen)
    if yours is None or yours.shape != right.array.shape:
        return finding(
            case, "C_bar", seen, right, "Start from zeros of the shape of C.", given=("context",),
            shape_because="that of C, (V, d)",
        )  # fmt: skip
    absent = [a for a in range(len(yours)) if a not in context]
    for a in absent:
        if not np.all(yours[a] == 0):
            text = "\n".join([
                f"Row {a} of C_bar should be exactly 0, because token {a} is not in the context.",
                arrays.shown("context", context),
                arrays.shown("row", yours[a]),
                "Nudging a row that nobody reads cannot move the loss. Start from zeros.",
            ])  # fmt: skip
            return Finding(text, where="embedding_vjp", size=case["size"])
    return None


# ---- 4.7 The whole network ------------------------------------------------------------------------------------------

# part: (what is asked for, in the order in which the pass makes it)
_ASKED: dict[str, tuple[str, ...]] = {
    "forward": ("x", "u", "h", "z"),
    "loss": (),
    "output": ("z", "W2", "b2"),
    "hidden": ("h", "u", "W1", "b1"),
    "embedding": ("x", "C"),
    "untouched": ngram.PARAMETERS,
}


def random_params(rng: Rng, V: int, d: int, k: int, h: int) -> dict[str, Any]:
    shapes = {"C": (V, d), "W1": (h, k * d), "b1": (h,), "W2": (V, h), "b2": (V,)}
    return {name: decimals(rng, *shape, low=-1.0, high=1.0) for name, shape in shapes.items()}


def _network(rng: Rng, part: str, B: int, V: int = 4, d: int = 2, k: int = 2, h: int = 3) -> Case:
    function = "ngram_forward" if part == "forward" else "ngram_backward"
    contexts = tokens(rng, V, B, k)
    contexts[0][-1] = contexts[0][0]  # a token that is read twice
    targets = tokens(rng, V, B)
    while B > 1 and len(set(targets)) == 1:
        targets = tokens(rng, V, B)
    case = {
        "part": part,
        "op": function,
        "says": f"{function} with V = {V}, d = {d}, k = {k}, h = {h} and a batch of B = {B}",
        "size": float(B * 100 + V * d * k * h),
        "params": random_params(rng, V, d, k, h),
        "contexts": contexts,
        "targets": targets,
        "asked": list(_ASKED[part]),
    }
    return case


def network_worked() -> list[Case]:
    return [_network(random.Random(f"4.7 {part} {B}"), part, B) for part in _ASKED for B in (1, 2)]


def network_cases(rng: Rng) -> list[Case]:
    return [_network(rng, part, B, *sizes) for part in _ASKED for B, sizes in ((1, (5, 2, 3, 2)), (3, (4, 3, 2, 4)))]


def _given(case: Case) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    params = {name: floats(x) for name, x in case["params"].items()}
    return params, np.array(case["contexts"], dtype=np.int64), np.array(case["targets"], dtype=np.int64)


@once_a_case
def right_network(case: Case) -> tuple[float, dict[str, np.ndarray]]:
    return ngram.gradients(*_given(case))


def judge_network(case: Case, seen: Any) -> Finding | None:
    params, contexts, targets = _given(case)
    part, B = case["part"], len(contexts)
    if part == "untouched":
        return _parameters_changed(case, seen, params)
    loss, gradients = right_network(case)
    if part == "loss":
        return _wrong_loss(case, seen, loss, ngram.mean_loss(params, contexts, targets))
    values = ngram.forward(params, contexts)
    for name in case["asked"]:
        if name not in seen:
            text = (
                f"The dict that {case['op']} returned has no entry {name!r}.\n"
                f"Asked for are {arrays.listed([repr(n) for n in _entries_of(part)])}."
            )
            return Finding(text, where=f"{case['op']}: {name}", size=case["size"])
        if part == "forward":
            right, label, hint = Right(values[name]), name, _FORWARD[name]
        else:
            difference = partial(_loss_moved, params, contexts, targets, name) if name in params else None
            right = Right(gradients[name], difference, "the mean loss")
            label, hint = f"the gradient of {name}", _BACKWARD[name]
        found = finding(
            case,
            label if part == "forward" else f"gradients[{name!r}]",
            seen[name],
            right,
            hint,
            where=f"{case['op']}: {name}",
            after=f"This is {case['says']}: {label}.",
            factors={"the batch size B": B},
            shape_because=f"that of {name}",
        )
        if found is not None:
            return found
    return None


def _loss_moved(
    params: Mapping[str, np.ndarray], contexts: np.ndarray, targets: np.ndarray, name: str, index: Index
) -> float:
    return reference.difference(lambda a: ngram.mean_loss(a, contexts, targets), params, name, index)


def _entries_of(part: str) -> tuple[str, ...]:
    return _ASKED["forward"] if part == "forward" else ROWS


_FORWARD = {
    "x": "x holds, for each example, the rows of C that its context names, one after the other.",
    "u": "u = W1 x + b1 for each example. With examples as rows, which of the two has to be transposed?",
    "h": "h = tanh u, entry by entry.",
    "z": "z = W2 h + b2 for each example.",
}
_BACKWARD = {
    "z": "The pass begins here: the gradient of the mean of the losses by the scores. Is 1/B in it, once?",
    "W2": "The affine rule, with what W2 was multiplied with on the way forward.",
    "b2": "The affine rule for z = W2 h + b2.",
    "h": "The affine rule for z = W2 h + b2 sends this back to h.",
    "u": "The tanh rule takes the adjoint of h to that of u.",
    "W1": "The affine rule, with what W1 was multiplied with on the way forward.",
    "b1": "The affine rule for u = W1 x + b1.",
    "x": "The affine rule for u = W1 x + b1 sends this back to x.",
    "C": "The embedding rule spreads the adjoint of x over the rows of C.",
}


def _parameters_changed(case: Case, seen: Any, params: Mapping[str, np.ndarray]) -> Finding | None:
    for name in ngram.PARAMETERS:
        if arrays.departure(name, seen[name], params[name]) is not None:
            text = (
                f"ngram_backward changed the parameter {name}.\n"
                "It computes gradients; the update is another step. Look for -= or += on something out of params."
            )
            return Finding(text, where=f"ngram_backward: {name}", size=case["size"])
    return None


def _wrong_loss(case: Case, seen: Any, by_torch: float, by_numpy: float) -> Finding | None:
    yours = float("nan") if seen["loss"] is None else float(seen["loss"])
    if not arrays.off(np.float64(yours), np.float64(by_torch), LOOSE):
        return None
    B = len(case["targets"])
    a, b = arrays.distinct(yours, by_torch)
    lines = [f"The loss is {a}, and should be {b}.", f"This is {case['says']}."]
    if B > 1 and abs(yours - B * by_torch) < 1e-6 * B:
        lines.append(f"Yours is {B} times that, and {B} is the batch size: the sum of the losses, not their mean.")
    lines.append(
        f"PyTorch gives {arrays.number(by_torch)}, a plain computation with logarithms {arrays.number(by_numpy)}: the "
        "mean over the batch of the cross-entropies."
    )
    return Finding("\n".join(lines), where="ngram_backward: loss", size=case["size"])


# ---- 4.8 Compare ----------------------------------------------------------------------------------------------------

_KINDS: dict[str, Callable[[Rng, np.ndarray], np.ndarray]] = {
    "same": lambda rng, a: a.copy(),
    "rounding": lambda rng, a: a * (1 + 1e-12),
    "below": lambda rng, a: _one_off(rng, a, -0.25),
    "above": lambda rng, a: _one_off(rng, a, 0.5),
    "all below": lambda rng, a: a - 0.125,
}
_WHAT = {"rows": "", "exact": "exact", "close": "close", "difference": "max_difference"}


_ENOUGH = 4  # rows; what is missing beyond costs the part "rows" alone


def _one_off(rng: Rng, a: np.ndarray, by: float) -> np.ndarray:
    changed = a.copy()
    changed[tuple(rng.randrange(n) for n in a.shape)] += by
    return changed


def _pairs(rng: Rng, part: str) -> Case:
    V, d, k, h, B = 4, 2, 2, 3, 2
    params = random_params(rng, V, d, k, h)
    shapes = {"z": (B, V), "h": (B, h), "u": (B, h), "x": (B, k * d)} | {n: np.shape(x) for n, x in params.items()}
    kinds = [*_KINDS, *rng.choices(list(_KINDS), k=len(ROWS) - len(_KINDS))]
    rng.shuffle(kinds)
    theirs = {name: floats(decimals(rng, *shapes[name])) for name in ROWS}
    mine = {name: _KINDS[kind](rng, theirs[name]) for name, kind in zip(ROWS, kinds, strict=True)}
    return {
        "part": part,
        "op": "compare",
        "says": "compare(params, contexts, targets) on gradients of which some are right and some are not",
        "asked": _WHAT[part],
        "kinds": dict(zip(ROWS, kinds, strict=True)),
        "mine": {name: x.tolist() for name, x in mine.items()},
        "theirs": {name: x.tolist() for name, x in theirs.items()},
        "params": params,
        "contexts": tokens(rng, V, B, k),
        "targets": tokens(rng, V, B),
        "size": 1.0,
    }


def compare_worked() -> list[Case]:
    return [_pairs(random.Random(f"4.8 {part}"), part) for part in _WHAT]


def compare_cases(rng: Rng) -> list[Case]:
    return [_pairs(rng, part) for part in _WHAT for _ in range(2)]


def judge_compare(case: Case, seen: Any) -> Finding | None:
    if case["part"] == "rows":
        return _judge_rows(case, seen)
    for name in ROWS:
        if name not in seen:
            continue  # the part "rows" asks for it
        mine, theirs = floats(case["mine"][name]), floats(case["theirs"][name])
        said, right, why = {
            "exact": lambda: _flag(seen[name], np.array_equal(mine, theirs), "equal in every bit"),  # noqa: B023
            "close": lambda: _flag(seen[name], np.allclose(mine, theirs), "equal up to rounding"),  # noqa: B023
            "difference": lambda: _distance(seen[name], float(np.abs(mine - theirs).max())),  # noqa: B023
        }[case["part"]]()
        if said != right:
            lines = [
                f"{_WHAT[case['part']]} of row {name} is {said}, and should be {right}.",
                f"The check put these two arrays in place of what ngram_backward and torch_gradients return. {why}",
                arrays.shown("mine", mine, 13 if case["kinds"][name] == "rounding" else 4),
                arrays.shown("torch", theirs, 13 if case["kinds"][name] == "rounding" else 4),
            ]
            return Finding("\n".join(lines), where=f"compare: {_WHAT[case['part']]}", size=float(mine.size))
    if len([name for name in ROWS if name in seen]) < _ENOUGH:
        return Finding("There are too few rows to look at.", where="compare", size=99.0)
    return None


def _judge_rows(case: Case, seen: Any) -> Finding | None:
    missing = [name for name in ROWS if name not in seen]
    strange = [str(name) for name in seen if name not in ROWS]
    if not missing and not strange:
        return None
    lines = ["compare should return nine rows, one for each array, in the order z, h, u, x, W2, b2, W1, b1, C."]
    lines += [f"There is no row for {arrays.listed(missing)}."] if missing else []
    lines += [f"There is a row for {arrays.listed(strange)}, which nobody asked for."] if strange else []
    lines.append('The name of a row stands in it under the key "name".')
    return Finding("\n".join(lines), where="compare: name", size=0.0)


def _flag(said: Any, right: bool, meaning: str) -> tuple[str, str, str]:
    return str(said is True), str(right), f"They are {'' if right else 'not '}{meaning}."


def _distance(said: Any, right: float) -> tuple[str, str, str]:
    number = float("nan") if said is None else float(said)
    if abs(number - right) <= 1e-6 * right:
        return "", "", ""
    a, b = arrays.distinct(number, right)
    return a, b, "max_difference is the largest size of a difference between two entries in the same place."


# ---- the lesson -----------------------------------------------------------------------------------------------------


def _same(case: Case, predicted: Any, seen: Any) -> bool:
    return arrays.same(predicted, seen)


LESSON = LessonExercises(
    exercises=(
        Exercise(
            id="4.1",
            title="Log-sum-exp and softmax",
            points=6,
            names=("logsumexp", "softmax"),
            parts=(
                Part("logsumexp", "logsumexp of one vector", 3),
                Part("softmax", "softmax of one vector", 3),
                Part("batch", "Along the last axis, whatever is in front of it", 3),
                Part("large", "Scores around ±1000, without overflow", 2),
                Part("untouched", "The array you are given stays as it is", 1),
            ),
            worked=softmax_worked,
            cases=softmax_cases,
            judge=judge_softmax,
            misconceptions=misconceptions("4.1"),
            reread=SOFTMAX,
            same=_same,
        ),
        Exercise(
            id="4.2",
            title="Cross-entropy",
            points=4,
            names=("cross_entropy",),
            parts=(
                Part("single", "One vector of scores, one target"),
                Part("batch", "A loss for every example"),
                Part("gap", "A gap of 1000 costs 1000", 2),
            ),
            worked=loss_worked,
            cases=loss_cases,
            judge=judge_loss,
            misconceptions=misconceptions("4.2"),
            reread=LOSS,
            same=_same,
        ),
        Exercise(
            id="4.3",
            title="The gradient at the scores",
            points=5,
            names=("cross_entropy_grad",),
            parts=(
                Part("example", "Two or three scores", 1),
                Part("five", "Five random scores", 1),
                Part("batch", "Every example by itself", 2),
                Part("large", "A gap of 1000", 1),
            ),
            worked=signal_worked,
            cases=signal_cases,
            judge=judge_signal,
            misconceptions=misconceptions("4.3"),
            reread=ERROR_SIGNAL,
            same=_same,
        ),
        Exercise(
            id="4.4",
            title="The affine rule",
            points=6,
            names=("affine_vjp",),
            parts=(
                Part("r", "r_bar, one vector"),
                Part("W", "W_bar, one vector"),
                Part("b", "b_bar, one vector"),
                Part("r-batch", "r_bar, several examples"),
                Part("W-batch", "W_bar, several examples"),
                Part("b-batch", "b_bar, several examples"),
            ),
            worked=affine_worked,
            cases=affine_cases,
            judge=judge_affine,
            misconceptions=misconceptions("4.4"),
            reread=AFFINE,
            same=_same,
        ),
        Exercise(
            id="4.5",
            title="The tanh rule",
            points=3,
            names=("tanh_vjp",),
            parts=(
                Part("slope", "The slope, from the output"),
                Part("batch", "Any shape"),
                Part("untouched", "The arrays you are given stay as they are"),
            ),
            worked=tanh_worked,
            cases=tanh_cases,
            judge=judge_tanh,
            misconceptions=misconceptions("4.5"),
            reread=TANH,
            same=_same,
        ),
        Exercise(
            id="4.6",
            title="The embedding rule",
            points=6,
            names=("embedding_vjp",),
            parts=(
                Part("distinct", "Tokens that occur once", 1),
                Part("repeated", "Tokens that occur again: their blocks add up", 3),
                Part("absent", "Rows of absent tokens are exactly 0", 1),
                Part("batch", "Several examples", 1),
            ),
            worked=embedding_worked,
            cases=embedding_cases,
            judge=judge_embedding,
            misconceptions=misconceptions("4.6"),
            reread=EMBEDDING,
            same=_same,
        ),
        Exercise(
            id="4.7",
            title="Forward and backward",
            points=10,
            names=("ngram_forward", "ngram_backward"),
            parts=(
                Part("forward", "The forward pass: x, u, h, z", 2),
                Part("loss", "The mean loss", 1),
                Part("output", "The output layer: z, W2, b2", 2),
                Part("hidden", "The hidden layer: h, u, W1, b1", 2),
                Part("embedding", "The embedding: x, C", 2),
                Part("untouched", "The parameters stay as they are", 1),
            ),
            worked=network_worked,
            cases=network_cases,
            judge=judge_network,
            misconceptions=misconceptions("4.7"),
            reread=BATCH,
            same=_same,
        ),
        Exercise(
            id="4.8",
            title="Compare",
            points=4,
            names=("compare",),
            parts=(
                Part("rows", "Nine rows"),
                Part("exact", "Which rows are equal in every bit"),
                Part("close", "Which rows are equal up to rounding"),
                Part("difference", "The largest difference"),
            ),
            worked=compare_worked,
            cases=compare_cases,
            judge=judge_compare,
            misconceptions=misconceptions("4.8"),
            reread=COMPARE,
            same=_same,
        ),
    ),
    written=(WrittenQuestion("4.written", "In your own words", 8),),
)
