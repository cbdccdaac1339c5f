"""The operations of the course: how each is written, what it computes, its derivative in each slot."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Operation:
    """`value(*inputs)` computes it; `slopes(inputs, output)` gives the derivative in each slot, as does `words`.

    `words[i]` is the rule of slot i for a reader: {0}, {1} stand for the inputs' names, {out} for the output's.
    """

    sign: str
    value: Callable[..., float]
    slopes: Callable[[tuple[float, ...], float], tuple[float, ...]]
    words: tuple[str, ...]
    spoken: str

    @property
    def arity(self) -> int:
        return len(self.words)

    @property
    def slots_matter(self) -> bool:
        return self.sign in ("−", "÷")


OPERATIONS: dict[str, Operation] = {
    o.sign: o
    for o in (
        Operation("+", lambda a, b: a + b, lambda x, y: (1.0, 1.0), ("1", "1"), "plus"),
        Operation("×", lambda a, b: a * b, lambda x, y: (x[1], x[0]), ("{1}", "{0}"), "times"),
        Operation("−", lambda a, b: a - b, lambda x, y: (1.0, -1.0), ("1", "−1"), "minus"),
        Operation(
            "÷", lambda a, b: a / b, lambda x, y: (1 / x[1], -x[0] / x[1] ** 2), ("1/{1}", "−{0}/{1}²"), "divided by"
        ),
        Operation("neg", lambda a: -a, lambda x, y: (-1.0,), ("−1",), "minus"),
        Operation("tanh", math.tanh, lambda x, y: (1 - y * y,), ("1 − {out}²",), "tanh of"),
        Operation("exp", math.exp, lambda x, y: (y,), ("{out}",), "exp of"),
        Operation("log", math.log, lambda x, y: (1 / x[0],), ("1/{0}",), "log of"),
        Operation(
            "relu",
            lambda a: max(a, 0.0),
            lambda x, y: (1.0 if x[0] > 0 else 0.0,),
            ("1 where {0} > 0, else 0",),
            "relu of",
        ),
        Operation("sqrt", math.sqrt, lambda x, y: (0.5 / y,), ("1/(2·{out})",), "square root of"),
        Operation("sin", math.sin, lambda x, y: (math.cos(x[0]),), ("cos {0}",), "sine of"),
        Operation("cos", math.cos, lambda x, y: (-math.sin(x[0]),), ("−sin {0}",), "cosine of"),
        Operation(
            "sigmoid",
            lambda a: 1 / (1 + math.exp(-a)),
            lambda x, y: (y * (1 - y),),
            ("{out}(1 − {out})",),
            "sigmoid of",
        ),
    )
}

_NAMES = {
    "+": "+", "add": "+", "radd": "+", "iadd": "+", "plus": "+", "sum": "+",
    "*": "×", "×": "×", "·": "×", "mul": "×", "rmul": "×", "imul": "×", "times": "×", "multiply": "×",
    "-": "−", "−": "−", "sub": "−", "rsub": "−", "isub": "−", "minus": "−",
    "/": "÷", "÷": "÷", "div": "÷", "truediv": "÷", "rtruediv": "÷", "itruediv": "÷", "divide": "÷",
    "neg": "neg", "negative": "neg", "negate": "neg",
    "tanh": "tanh", "exp": "exp", "log": "log", "ln": "log", "relu": "relu",
    "sqrt": "sqrt", "sin": "sin", "cos": "cos", "sigmoid": "sigmoid",
    "**": "^", "^": "^", "pow": "^", "rpow": "^", "power": "^",
}  # fmt: skip
INPUTS = ("", "input", "leaf", "const", "constant", "none", "var", "param")
_POWER = re.compile(r"(?:\*\*|\^|pow)\s*\(?(-?[\d.]+)\)?$")


def sign_of(text: str) -> str:
    """The sign of the operation that an engine calls `text` ("*", "value_mul.<locals>._backward"); "" if unknown.

    A power comes back as "^", or "^3" where the text carries the exponent.
    """
    text = text.strip().lower()
    if text in INPUTS:
        return ""
    if text in _NAMES:
        return _NAMES[text]
    power = _POWER.match(text)
    if power:
        return f"^{power.group(1)}"
    for word in re.findall(r"[a-z]+", text):
        if word in _NAMES:
            return _NAMES[word]
    return ""


def power(n: float) -> Operation:
    """x^n for the constant `n`."""
    exponent = f"{n:g}".replace("-", "−")
    return Operation(
        f"^{exponent}",
        lambda a: a**n,
        lambda x, y: (n * x[0] ** (n - 1),),
        (f"{exponent}·{{0}}^{f'{n - 1:g}'.replace('-', '−')}",),
        f"to the power {exponent} of",
    )


def operation(sign: str) -> Operation | None:
    """The operation written `sign`, powers included; None if it is not one of the course's."""
    if sign.startswith("^") and len(sign) > 1:
        try:
            return power(float(sign[1:].replace("−", "-")))
        except ValueError:
            return None
    return OPERATIONS.get(sign)


def computes(candidate: Operation, inputs: tuple[float, ...], output: float) -> bool:
    """Does `candidate` of `inputs` give `output`?"""
    if candidate.arity != len(inputs):
        return False
    try:
        got = candidate.value(*inputs)
        return isinstance(got, (int, float)) and math.isclose(got, output, rel_tol=1e-6, abs_tol=1e-9)
    except (ArithmeticError, ValueError):
        return False


def recognise(inputs: tuple[float, ...], output: float) -> str:
    """The one operation that takes `inputs` to `output`; "" if none does, or several."""
    found = [o.sign for o in OPERATIONS.values() if computes(o, inputs, output)]
    return found[0] if len(found) == 1 else ""
