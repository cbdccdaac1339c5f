"""Arrays in verdicts: an array a learner computed against the right one, and the difference in words.

Evidence of an array is {"shape", "dtype", "values"} (autograder.student.probes.arrays). It comes from a process that
may be hostile: whatever does not read as an array of numbers raises, and the judge fails closed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.exercises.model import same_value

TOLERANCE = 1e-7  # relative, over max(1, |a|, |b|)
WITNESSED = 1e-5  # as far as a central difference can see
MOST_SHOWN = 24  # entries of an array that a message prints

Index = tuple[int, ...]


@dataclass(frozen=True)
class Departure:
    """How an array departs from the right one. `index` is its first wrong entry, None where the shape is wrong."""

    text: str
    index: Index | None = None


def read(seen: Mapping[str, Any]) -> np.ndarray | None:
    """The array in evidence `seen`; None where it was too large to be handed in.

    Raises:
        ValueError, TypeError, KeyError: the evidence is not that of an array.
    """
    if seen["values"] is None:
        return None
    array = np.array(seen["values"], dtype=np.float64)
    if list(array.shape) != seen["shape"]:
        # An axis of length 0 does not show in nested lists.
        array = array.reshape([int(n) for n in seen["shape"]])
    return array


def same(predicted: Any, seen: Any) -> bool:
    """Do two pieces of evidence agree up to rounding? What kind of numbers an array holds is left out."""
    if isinstance(predicted, dict) and isinstance(seen, dict):
        keys = predicted.keys() - {"dtype"}
        return keys == seen.keys() - {"dtype"} and all(same(predicted[key], seen[key]) for key in keys)
    return same_value(predicted, seen)


def off(a: Any, b: Any, tolerance: float = TOLERANCE) -> np.ndarray:
    """Where a and b, of one shape, differ by more than the relative `tolerance`; nan and inf differ from everything."""
    with np.errstate(invalid="ignore", over="ignore"):
        scale = np.maximum(1.0, np.maximum(np.abs(a), np.abs(b)))
        return np.asarray(~((np.abs(a - b) <= tolerance * scale) & np.isfinite(a) & np.isfinite(b)))


def departure(
    name: str,
    seen: Mapping[str, Any],
    right: np.ndarray,
    *,
    tolerance: float = TOLERANCE,
    factors: Mapping[str, float] | None = None,
    shape_because: str = "",
) -> Departure | None:
    """What is wrong with the array `name` in evidence `seen`; None if nothing is.

    A wrong shape is told from a right shape with wrong values. Of wrong values the first entry is named; a constant
    ratio, the rows they lie in and row sums are named where they tell. `factors` are numbers to recognize in a ratio
    ({"the batch size": 4}); `shape_because` says where the right shape comes from.
    """
    right = np.asarray(right, dtype=np.float64)
    shape = tuple(int(n) for n in seen["shape"])
    if shape != right.shape:
        return Departure(_wrong_shape(name, shape, read(seen), right, shape_because))
    yours = read(seen)
    if yours is None:
        raise ValueError("no values")
    wrong = off(yours, right, tolerance)
    if not wrong.any():
        return None
    index = tuple(int(i) for i in np.argwhere(wrong)[0])
    lines = [_first(name, yours, right, wrong, index)]
    if np.isfinite(yours).all():
        lines += [
            _ratio(yours, right, tolerance, factors or {}),
            _sums(yours, right, tolerance),
            _rows(wrong),
            _kind(str(seen["dtype"]), yours, right),
        ]
    return Departure("\n".join(filter(None, lines)), index)


def _wrong_shape(name: str, shape: Index, yours: np.ndarray | None, right: np.ndarray, because: str) -> str:
    text = f"{name} has shape {shown_shape(shape)}, and should have shape {shown_shape(right.shape)}"
    text += f": {because}." if because else "."
    if yours is None or yours.size == 0:
        return text
    if len(shape) > 1 and yours.T.shape == right.shape and not off(yours.T, right).any():
        return text + "\nThe numbers are right, with rows and columns exchanged."
    if yours.size == right.size and not off(yours.reshape(right.shape), right).any():
        return text + "\nThe numbers are right; only their arrangement is not."
    if yours.ndim > right.ndim:
        extra = tuple(range(yours.ndim - right.ndim))
        if yours.sum(axis=extra).shape == right.shape and not off(yours.sum(axis=extra), right).any():
            which = "first axis" if len(extra) == 1 else f"first {len(extra)} axes"
            return text + f"\nSummed over its {which} it would be right."
    return text


def _first(name: str, yours: np.ndarray, right: np.ndarray, wrong: np.ndarray, index: Index) -> str:
    at = f"{name}[{', '.join(map(str, index))}]" if index else name
    a, b = distinct(float(yours[index]), float(right[index]))
    if right.size == 1:
        return f"{at} is {a}, and should be {b}."
    count = int(wrong.sum())
    how_many = (
        "every entry is wrong" if count == right.size else f"{count} of its {right.size} entries {_are(count)} wrong"
    )
    return f"{name} has the right shape, {shown_shape(right.shape)}, but {how_many}. The first is {at}: {a}, and should be {b}."


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _ratio(yours: np.ndarray, right: np.ndarray, tolerance: float, factors: Mapping[str, float]) -> str:
    """One number by which every entry of `right` would have to be multiplied, if there is one."""
    large = np.abs(right) > 1e-4 * max(1e-4, float(np.abs(right).max(initial=0.0)))
    if int(large.sum()) < 2:
        return ""
    ratio = float(np.median(yours[large] / right[large]))
    if off(yours, ratio * right, max(tolerance, 1e-9)).any() or abs(ratio) < 1e-9:
        return ""
    if abs(ratio + 1) < 1e-6:
        return "Each entry has the right size and the wrong sign."
    for what, factor in factors.items():
        if factor != 1 and abs(ratio - factor) < 1e-6 * factor:
            return f"Each entry is {fraction(ratio)} times what it should be, and {fraction(ratio)} is {what}."
        if factor != 1 and abs(ratio * factor - 1) < 1e-6:
            return f"Each entry is {fraction(ratio)} of what it should be, and {fraction(factor)} is {what}."
    of = "of" if "/" in fraction(ratio) and 0 < ratio < 1 else "times"
    return f"Each entry is {fraction(ratio)} {of} what it should be."


def _sums(yours: np.ndarray, right: np.ndarray, tolerance: float) -> str:
    """What the sums along the last axis tell, where the right ones are all 0 or all 1."""
    if right.ndim == 0 or right.shape[-1] < 2:
        return ""
    sums, wanted = yours.sum(axis=-1).reshape(-1), right.sum(axis=-1).reshape(-1)
    target = round(float(wanted[0]))
    if target not in (0, 1) or off(wanted, np.full_like(wanted, target), 1e-9).any():
        return ""
    whose = "Its entries" if right.ndim == 1 else "The entries of each row"
    if not off(sums, wanted, tolerance).any():
        return f"{whose} sum to {target}, as they should; it is the single values that are off."
    if not off(sums, np.full_like(sums, sums[0]), tolerance).any():
        return f"{whose} should sum to {target}. Yours sum to {number(float(sums[0]))}."
    some = ", ".join(number(float(s)) for s in sums[:4]) + (", …" if sums.size > 4 else "")
    return f"{whose} should sum to {target}. Yours sum to {some}."


def _rows(wrong: np.ndarray) -> str:
    """The rows or columns in which all wrong entries lie, if they are few."""
    if wrong.ndim != 2 or min(wrong.shape) < 2:
        return ""
    for axis, word in ((1, "row"), (0, "column")):
        where = np.flatnonzero(wrong.any(axis=axis))
        if len(where) <= min(3, wrong.shape[1 - axis] - 1):
            named = listed([str(i) for i in where])
            return f"All wrong entries lie in {word}{'s' if len(where) > 1 else ''} {named}."
    return ""


def _kind(dtype: str, yours: np.ndarray, right: np.ndarray) -> str:
    if dtype.startswith(("int", "uint")) and (right % 1).any():  # token numbers are whole
        return f"Your array holds whole numbers ({dtype}), so fractions are cut off. It should be float64."
    if dtype in ("float32", "float16") and not off(yours, right, 1e-2).any():
        return f"Your array is {dtype}, which keeps about {7 if dtype == 'float32' else 3} digits. Compute in float64."
    return ""


# ---- saying numbers and arrays --------------------------------------------------------------------------------------


def number(x: float, digits: int = 6) -> str:
    """A number as the course writes it: few digits, a true minus, no negative zero."""
    if math.isnan(x):
        return "nan"
    if math.isinf(x):
        return "inf" if x > 0 else "−inf"
    text = f"{x:.{digits}g}"
    return "0" if float(text) == 0 else text.replace("-", "−")


def distinct(a: float, b: float) -> tuple[str, str]:
    """Two numbers with as many digits as it takes to tell them apart."""
    pair = number(a), number(b)
    for digits in (9, 12, 17):
        if pair[0] != pair[1]:
            break
        pair = number(a, digits), number(b, digits)
    return pair


def fraction(x: float) -> str:
    """A number, as a whole number or one over a whole number where it is one."""
    if abs(x) >= 1 or x == 0 or abs(1 / x - round(1 / x)) > 1e-6:
        return number(x)
    return f"{'−' if x < 0 else ''}1/{abs(round(1 / x))}"


def listed(words: Sequence[str]) -> str:
    """ "a", "a and b", "a, b and c"."""
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def shown_shape(shape: Sequence[int]) -> str:
    return str(tuple(int(n) for n in shape)) if shape else "() (a single number)"


def shown(name: str, array: Any, digits: int = 4) -> str:
    """`name = [[…]]` as lines of code, or its shape alone where it is large."""
    array = np.asarray(array)
    if array.size > MOST_SHOWN:
        return f"    {name} of shape {shown_shape(array.shape)}"
    if array.dtype.kind == "f":
        array = array + 0.0  # no negative zeros
    text = np.array2string(array, precision=digits, suppress_small=True, separator=", ", max_line_width=96)
    indent = " " * (len(name) + 7)
    return f"    {name} = " + text.replace("\n", "\n" + indent)
