"""Right classes Dual in many styles, with their functions tanh, exp, log and relu."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

# Written as learners would write them: untyped, and each in its own way.


class AsTuple(NamedTuple):
    value: float
    tangent: float = 0.0

    def __add__(self, other):
        other = other if isinstance(other, AsTuple) else AsTuple(other)
        return AsTuple(self.value + other.value, self.tangent + other.tangent)

    __radd__ = __add__

    def __neg__(self):
        return AsTuple(-self.value, -self.tangent)

    def __sub__(self, other):
        return self + -other

    def __rsub__(self, other):
        return -self + other

    def __mul__(self, other):
        other = other if isinstance(other, AsTuple) else AsTuple(other)
        return AsTuple(self.value * other.value, self.tangent * other.value + self.value * other.tangent)

    __rmul__ = __mul__

    def __pow__(self, n):
        return AsTuple(self.value**n, n * self.value ** (n - 1) * self.tangent)

    def __truediv__(self, other):
        return self * other**-1

    def __rtruediv__(self, other):
        return other * self**-1


@dataclass(frozen=True)
class AsDataclass:
    """Frozen, equal by value, subtraction and division made out of other operations."""

    value: float
    tangent: float = 0.0

    @staticmethod
    def of(x):
        return x if isinstance(x, AsDataclass) else AsDataclass(x)

    def __add__(self, other):
        o = self.of(other)
        return AsDataclass(self.value + o.value, self.tangent + o.tangent)

    def __mul__(self, other):
        o = self.of(other)
        return AsDataclass(self.value * o.value, self.value * o.tangent + o.value * self.tangent)

    __radd__, __rmul__ = __add__, __mul__

    def __sub__(self, other):
        return self + (-1) * self.of(other)

    def __rsub__(self, other):
        return self.of(other) - self

    def __neg__(self):
        return -1 * self

    def __truediv__(self, other):
        o = self.of(other)
        return AsDataclass(self.value / o.value, (self.tangent * o.value - self.value * o.tangent) / o.value**2)

    def __rtruediv__(self, other):
        return self.of(other) / self

    def __pow__(self, n):
        if n == 0:
            return 1.0  # a plain number counts as a constant
        return AsDataclass(self.value**n, n * self.value ** (n - 1) * self.tangent)


class WithOwnStorage:
    """A pair in a list; value and tangent can be read."""

    def __init__(self, a, b=0):
        self._pair = [a, b]

    value = property(lambda self: self._pair[0])
    tangent = property(lambda self: self._pair[1])

    def _with(self, other, rule):
        (a, b), (c, d) = self._pair, other._pair if isinstance(other, WithOwnStorage) else (other, 0)
        return WithOwnStorage(*rule(a, b, c, d))

    def __add__(self, other):
        return self._with(other, lambda a, b, c, d: (a + c, b + d))

    def __sub__(self, other):
        return self._with(other, lambda a, b, c, d: (a - c, b - d))

    def __rsub__(self, other):
        return self._with(other, lambda a, b, c, d: (c - a, d - b))

    def __mul__(self, other):
        return self._with(other, lambda a, b, c, d: (a * c, b * c + a * d))

    def __truediv__(self, other):
        return self._with(other, lambda a, b, c, d: (a / c, b / c - a * d / (c * c)))

    def __rtruediv__(self, other):
        return self._with(other, lambda a, b, c, d: (c / a, d / a - c * b / (a * a)))

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self):
        return 0 - self

    def __pow__(self, n):
        a, b = self._pair
        return WithOwnStorage(a**n, n * a ** (n - 1) * b if n != 0 else 0)


class WithNumPy:
    """NumPy scalars inside, slots outside."""

    __slots__ = ("tangent", "value")

    def __init__(self, value, tangent=0.0):
        self.value, self.tangent = np.float64(value), np.float64(tangent)

    def __add__(self, other):
        o = lifted(other)
        return WithNumPy(self.value + o.value, self.tangent + o.tangent)

    def __mul__(self, other):
        o = lifted(other)
        return WithNumPy(self.value * o.value, np.dot([self.tangent, o.tangent], [o.value, self.value]))

    def __truediv__(self, other):
        o = lifted(other)
        q = self.value / o.value
        return WithNumPy(q, (self.tangent - q * o.tangent) / o.value)

    def __neg__(self):
        return WithNumPy(-self.value, -self.tangent)

    def __pow__(self, n):
        return WithNumPy(np.power(self.value, n * 1.0), n * np.power(self.value, n - 1.0) * self.tangent)

    __radd__, __rmul__ = __add__, __mul__

    def __sub__(self, other):
        return self + -lifted(other)

    def __rsub__(self, other):
        return lifted(other) + -self

    def __rtruediv__(self, other):
        return lifted(other) / self


def lifted(x: Any) -> Any:
    return x if isinstance(x, WithNumPy) else WithNumPy(x)


class WithMethods:
    """Numbers in 0-d arrays, functions as methods, powers by multiplication and division."""

    def __init__(self, value, tangent=0.0):
        self.value, self.tangent = np.array(value, dtype=float), np.array(tangent, dtype=float)

    def __add__(self, other):
        if not isinstance(other, WithMethods):
            return WithMethods(self.value + other, self.tangent)
        return WithMethods(self.value + other.value, self.tangent + other.tangent)

    def __mul__(self, other):
        if not isinstance(other, WithMethods):
            return WithMethods(self.value * other, self.tangent * other)
        return WithMethods(self.value * other.value, self.tangent * other.value + other.tangent * self.value)

    def inverse(self):
        return WithMethods(1 / self.value, -self.tangent / self.value**2)

    def __truediv__(self, other):
        return self * (other.inverse() if isinstance(other, WithMethods) else 1 / other)

    def __rtruediv__(self, other):
        return other * self.inverse()

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + -other

    def __rsub__(self, other):
        return -self + other

    def __pow__(self, n):
        if n != int(n):
            return (self.log() * n).exp()
        result = WithMethods(1.0)
        for _ in range(abs(int(n))):
            result = result * self
        return result if n >= 0 else result.inverse()

    __radd__, __rmul__ = __add__, __mul__

    def tanh(self):
        e = (self * 2).exp()
        return (e - 1) / (e + 1)

    def exp(self):
        return WithMethods(np.exp(self.value), np.exp(self.value) * self.tangent)

    def log(self):
        return WithMethods(np.log(self.value), self.tangent / self.value)

    def relu(self):
        return self * (self.value > 0)


def functions_for(Dual: type) -> tuple[Callable[[Any], Any], ...]:
    """tanh, exp, log and relu by isinstance."""

    def tanh(x: Any) -> Any:
        if isinstance(x, Dual):
            return Dual(math.tanh(x.value), x.tangent / math.cosh(x.value) ** 2)
        return math.tanh(x)

    def exp(x: Any) -> Any:
        return Dual(math.exp(x.value), x.tangent * math.exp(x.value)) if isinstance(x, Dual) else math.exp(x)

    def log(x: Any) -> Any:
        return Dual(math.log(x.value), x.tangent / x.value) if isinstance(x, Dual) else math.log(x)

    def relu(x: Any) -> Any:
        if not isinstance(x, Dual):
            return x if x > 0 else 0  # an int is a number too
        return x if x.value > 0 else Dual(0.0)

    return tanh, exp, log, relu


def by_method(name: str, otherwise: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: getattr(x, name)() if hasattr(x, name) else otherwise(x)


STYLES: dict[str, tuple[Any, ...]] = {
    Dual.__name__: (Dual, *functions_for(Dual)) for Dual in (AsTuple, AsDataclass, WithOwnStorage, WithNumPy)
} | {
    "WithMethods": (
        WithMethods,
        by_method("tanh", np.tanh),
        by_method("exp", np.exp),
        by_method("log", np.log),
        by_method("relu", lambda x: np.maximum(x, 0.0)),
    )
}
