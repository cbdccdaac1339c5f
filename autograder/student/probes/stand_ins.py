"""Right functions in the place of a learner's own from earlier exercises: a mistake counts where it was made, and there only."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from autograder.evidence import NotANumber

Wrap = Callable[[Any], Any]
TRIALS = 3


class GraphForParents(NotANumber):
    """A function that takes the parents of each node was handed a graph, whose entries are Nodes."""


def needs_parents(parents: Any, name: str) -> None:
    """GraphForParents if the function `name` has got a graph for `parents`."""
    if isinstance(parents, Mapping) and any(hasattr(slots, "parents") for slots in parents.values()):
        raise GraphForParents(f"{name} was handed the graph itself, whose entries are Nodes")


def asking_for_parents(name: str) -> Mapping[str, Wrap]:
    """For `standing_in`: the function `name` as it is, but where it is handed a graph that is said in a sentence."""

    def wrap(own: Any) -> Any:
        @functools.wraps(own)
        def called(parents: Any, *more: Any, **named: Any) -> Any:
            needs_parents(parents, name)
            return own(parents, *more, **named)

        return called

    return {name: wrap}


@contextmanager
def standing_in(function: Any, wraps: Mapping[str, Wrap]) -> Iterator[None]:
    """While `function` runs, the functions of its notebook that `wraps` names are wrapped, those that are there."""
    names = getattr(function, "__globals__", {})
    own = {name: names[name] for name in wraps if callable(names.get(name))}
    names.update({name: wraps[name](f) for name, f in own.items()})
    try:
        yield
    finally:
        names.update(own)


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return all(key in a and _same(a[key], x) for key, x in b.items())
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        return len(a) == len(b) and all(_same(x, y) for x, y in zip(a, b, strict=True))
    if a is None or b is None:
        return a is b
    a, b = np.asarray(a), np.asarray(b)
    return a.shape == b.shape and bool(np.allclose(a, b, rtol=1e-7, atol=1e-9, equal_nan=True))


def where_wrong(right: Callable[..., Any], shown: Callable[..., Any] = lambda result, *args: result) -> Wrap:
    """The learner's own function as long as it does as `right` does, else `right`. Stubs stay stubs.

    In the first TRIALS calls both are tried on copies; `shown(result, *arguments)` is what is compared. A call that
    `right` cannot answer is the learner's own affair.
    """

    def wrap(own: Any) -> Any:
        trials: list[bool] = []

        @functools.wraps(own)
        def called(*args: Any, **more: Any) -> Any:
            if len(trials) == TRIALS or False in trials:
                return (own if all(trials) else right)(*args, **more)

            def tried(f: Any) -> Any:
                given, named = copy.deepcopy((args, more))
                return shown(f(*given, **named), *given)

            try:
                wanted = tried(right)
            except Exception:
                return own(*args, **more)
            try:
                fits = _same(tried(own), wanted)
            except NotImplementedError:
                raise
            except Exception:
                fits = False
            trials.append(fits)
            return (own if fits else right)(*args, **more)

        return called

    return wrap


def always(right: Callable[..., Any]) -> Wrap:
    """`right`, where trying the learner's own would leave a trace; a stub stays a stub."""

    def wrap(own: Any) -> Any:
        code = getattr(own, "__code__", None)
        return own if code is not None and "NotImplementedError" in code.co_names else functools.wraps(own)(right)

    return wrap
