"""Arrays as evidence: shape, kind of number and entries, read off whatever array-like thing a function returned."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.evidence import NotANumber
from autograder.student.probes.engines import short

MOST_ENTRIES = 20_000  # beyond this the shape alone is evidence enough that something is wrong


def array(x: Any, what: str) -> dict[str, Any]:
    """`x` as evidence: {"shape", "dtype", "values"}, values nested as in `x`; None where `x` is far too large.

    Takes NumPy arrays and scalars, Python numbers, nested lists and torch tensors.

    Raises:
        NotANumber: `x` holds anything but real numbers; the message says what `x` is.
    """
    if x is None:
        raise NotANumber(f"{what} is None; does the function end in return?")
    if hasattr(x, "detach"):
        x = x.detach().cpu().numpy()
    try:
        found = np.asarray(x)
    except ValueError:
        raise NotANumber(f"{what} is {short(x)}: its rows have different lengths, so it is no array") from None
    if found.dtype == object:
        try:
            found = found.astype(np.float64)
        except (TypeError, ValueError):
            raise NotANumber(f"{what} is {short(x)}, not an array of numbers") from None
    if found.dtype.kind not in "fiu":
        raise NotANumber(f"{what} holds {found.dtype} entries, not real numbers: {short(x)}")
    values = found.astype(np.float64).tolist() if found.size <= MOST_ENTRIES else None
    return {"shape": [int(n) for n in found.shape], "dtype": str(found.dtype), "values": values}


def floats(nested: Any) -> np.ndarray:
    """A fresh float64 array from a case."""
    return np.array(nested, dtype=np.float64)


def whole(nested: Any) -> Any:
    """A fresh int64 array from a case; for a single number a NumPy scalar, which indexes and broadcasts like both."""
    return np.array(nested, dtype=np.int64)[()]
