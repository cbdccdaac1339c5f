"""`broken_engine`: the door of exercise 3.12 to engines with one sealed fault each.

The engines live on the trusted side and are reached only from a person's own notebook. Under the grader, where that
side does not exist, an inert object stands in and lets every cell run through.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

from autograder.student import session


def broken_engine(seed: int) -> Any:
    """An engine with one sealed fault; seeds 1, 2, 3 are the three of the exercise.

    `engine.Value(2.0)` makes a leaf, and operators, `tanh()`, `exp()`, `log()`, `relu()` and `backward()` work as
    usual. `engine.suspects()` lists the names that the fault may have, `engine.accuse(name)` tests a diagnosis.
    `engine.used` counts operations and backward passes, `engine.par` says how few suffice.
    """
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise TypeError(f"broken_engine takes a whole number, 1, 2 or 3 for the exercise; not {seed!r}")
    if session.quiet():
        return Inert()
    try:
        trusted = importlib.import_module("autograder.exercises.bug_hunt")
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("autograder."):
            raise
        from autograder.student import cards

        cards.show_note("The broken engines are not installed here.")
        return Inert()
    return trusted.BrokenEngine(seed)


class Inert:
    """Swallows every operation and returns itself; as a number it is 0."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_repr_") or name.startswith("_ipython_") or name == "__array__":
            raise AttributeError(name)  # so that notebooks and arrays do not take it for something to show
        return self

    def __setattr__(self, name: str, value: Any) -> None:
        pass

    def __call__(self, *args: Any, **kwargs: Any) -> Inert:
        return self

    def _same(self, *args: Any) -> Any:
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _same
    __pow__ = __rpow__ = __neg__ = __pos__ = __abs__ = __getitem__ = _same

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __bool__(self) -> bool:
        return False

    def __float__(self) -> float:
        return 0.0

    def __int__(self) -> int:
        return 0

    __index__ = __int__

    def __lt__(self, other: Any) -> bool:
        return False

    __le__ = __gt__ = __ge__ = __lt__

    def __eq__(self, other: Any) -> bool:
        return self is other

    __hash__ = object.__hash__

    def __format__(self, spec: str) -> str:
        return format(0.0, spec) if spec.endswith(tuple("eEfFgG%")) else format("", spec if spec.endswith("s") else "")

    def __repr__(self) -> str:
        return "an engine that is only there in a person's notebook"
