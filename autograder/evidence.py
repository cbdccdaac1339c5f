"""Evidence: what a student's process hands in. Plain JSON that the trusted side can read without running anything.

For one exercise the evidence is `{"exercise": id, "observations": [one per case]}`. An observation is either
`{"value": v}`, with v made of numbers, strings, booleans, None, lists and string-keyed dicts that the student's code
computed, or `{"error": {"kind", "type", "message", "line", "name"}}` where `line` is the student's own source line.
Non-finite floats travel as the strings "nan", "inf", "-inf" (strict JSON has no word for them); the judge treats them
as what they are: not numbers.
"""

from __future__ import annotations

import json
import math
import numbers
import re
from typing import Any

EVIDENCE_MIME = "application/vnd.autograder.evidence+json"
VERDICT_MIME = "application/vnd.autograder.verdict+json"

MAX_EVIDENCE_BYTES = 2_000_000
MAX_DEPTH = 12

# error kinds
UNANSWERED = "unanswered"  # the stub's own NotImplementedError
MISSING = "missing"  # a name or attribute that the exercise needs is not there
EXCEPTION = "exception"  # the student's code raised
WRONG_TYPE = "wrong-type"  # a value that is not what the exercise asks for


class EvidenceError(ValueError):
    """Evidence that cannot be accepted; the message says why, in words fit for a student."""


class NotANumber(TypeError):
    """A value that stands where a number is asked for and is none."""


class Missing(AttributeError):
    """Something that the exercise asks for is not there; the message says what and what to do next."""


class Unanswered(Exception):
    """The probe found out that the exercise has not been begun."""


def number(x: Any, what: str = "the answer") -> float | None:
    """`x` as a float: int, float, Fraction, NumPy scalar, 0-d or one-element array, torch scalar; None stays None.

    Calls `float` once, so that an object that answers otherwise the second time gains nothing.

    Raises:
        NotANumber: for booleans, complex numbers, strings and everything else that is no real number.
    """
    if x is None:
        return None
    kind = type(x).__name__
    if isinstance(x, (str, bytes, bool, complex)) or kind in ("bool_", "bool", "complex128", "complex64"):
        raise NotANumber(f"{what} is {x!r} ({kind}), not a number")
    if not isinstance(x, numbers.Real) and hasattr(x, "detach"):
        x = x.detach()
    if hasattr(x, "size") and hasattr(x, "reshape") and not isinstance(x, numbers.Real):
        size = x.size() if callable(x.size) else x.size
        count = math.prod(size) if isinstance(size, tuple) else size
        if count != 1:
            raise NotANumber(f"{what} is an array with {count} entries, not one number")
        x = x.reshape(-1)[0]
    try:
        return float(x)
    except (TypeError, ValueError, OverflowError):
        raise NotANumber(f"{what} is a {kind}, not a number") from None


def _clean(x: Any, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise EvidenceError("the answer is nested too deeply")
    if x is None or x is True or x is False or type(x) is str:
        return x
    if type(x) is int:
        return x if abs(x) < 2**63 else float(x)
    if type(x) is float:
        return x if math.isfinite(x) else str(x)
    if type(x) in (list, tuple):
        return [_clean(y, depth + 1) for y in x]
    if type(x) is dict:
        return {str(k): _clean(v, depth + 1) for k, v in x.items()}
    raise EvidenceError(f"a {type(x).__name__} cannot stand in evidence")


def encode(exercise: str, observations: list[dict[str, Any]]) -> str:
    """Evidence as strict JSON text. EvidenceError if it is too large or holds anything but plain values."""
    text = json.dumps(
        {"exercise": exercise, "observations": _clean(observations, 0)}, allow_nan=False, separators=(",", ":")
    )
    if len(text) > MAX_EVIDENCE_BYTES:
        raise EvidenceError(f"the evidence is larger than {MAX_EVIDENCE_BYTES:,} bytes")
    return text


_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def _storable(x: Any) -> Any:
    """`x` with lone surrogates, which no UTF-8 file can hold, replaced; JSON escapes can spell them."""
    if isinstance(x, str):
        return x.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(x, list):
        return [_storable(y) for y in x]
    return {_storable(k): _storable(v) for k, v in x.items()} if isinstance(x, dict) else x


def _refuse_constant(name: str) -> Any:
    raise EvidenceError(f"{name} is not JSON")


def _check_depth(x: Any, depth: int = 0) -> None:
    if depth > MAX_DEPTH + 2:
        raise EvidenceError("the evidence is nested too deeply")
    children = x.values() if isinstance(x, dict) else x if isinstance(x, list) else ()
    for child in children:
        _check_depth(child, depth + 1)


def decode(text: Any, exercise: str, cases: int) -> list[dict[str, Any]]:
    """The observations in evidence `text` for `exercise`, one per case.

    Raises:
        EvidenceError: not text, too large, not JSON, of another exercise, or not one observation per case.
    """
    if not isinstance(text, str):
        raise EvidenceError("the evidence is not text")
    if len(text) > MAX_EVIDENCE_BYTES:
        raise EvidenceError("the evidence is too large")
    try:
        data = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise EvidenceError("the evidence is not valid JSON") from error
    _check_depth(data)
    if _SURROGATE.search(text):
        data = _storable(data)
    if not isinstance(data, dict) or data.get("exercise") != exercise:
        raise EvidenceError("the evidence belongs to another exercise")
    observations = data.get("observations")
    if not isinstance(observations, list) or len(observations) != cases:
        raise EvidenceError("the evidence does not have one observation per case")
    for observation in observations:
        if not isinstance(observation, dict) or len(observation.keys() & {"value", "error"}) != 1:
            raise EvidenceError("an observation is malformed")
        if "error" in observation and not isinstance(observation["error"], dict):
            raise EvidenceError("an observation is malformed")
    return observations
