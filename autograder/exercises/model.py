"""Exercises as data: cases, references, judge, misconceptions.

Everything here is on the trusted side: it never runs in a process that has run a student's code, except when somebody
who studies alone asks for it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


def same_value(a: Any, b: Any, tolerance: float = 1e-7) -> bool:
    """Equal up to rounding: numbers to a relative `tolerance` (over max(1, |a|, |b|)), the rest exactly.

    inf and nan equal themselves and nothing else, as floats and as the words that stand for them in evidence.
    """
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    a, b = (str(x) if isinstance(x, float) and not math.isfinite(x) else x for x in (a, b))
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return abs(a - b) <= tolerance * max(1.0, abs(a), abs(b))
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(same_value(x, y, tolerance) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same_value(a[k], b[k], tolerance) for k in a)
    return bool(a == b)


def same_entries(predicted: Any, seen: Any) -> bool:
    """Equal in every entry that `predicted` has."""
    if isinstance(predicted, dict) and isinstance(seen, dict):
        return all(key in seen and same_value(x, seen[key]) for key, x in predicted.items())
    return same_value(predicted, seen)


Case = dict[str, Any]  # JSON; "part" names the part that it speaks for
Value = Any  # what a probe returned for a case


@dataclass(frozen=True)
class Part:
    """A separately marked part of an exercise."""

    name: str
    title: str
    weight: float = 1.0


@dataclass(frozen=True)
class Finding:
    """Why one observation is wrong.

    `message` is for the learner and complete in itself. `where` names the operation or part at fault. `size` orders
    failing cases: the smallest one is shown. `picture` is the failing graph as data, in which the first node that
    departs from the references is marked:

        {"title": "a*b at a = 2, b = -3",
         "nodes": [{"id": "a", "label": "a", "op": "input", "value": 2.0, "yours": 2.0, "right": -3.0, "first": True}],
         "edges": [{"from": "a", "to": "a*b", "slot": 0}]}

    `value` is the forward value, `yours` and `right` are adjoints; each of them is a number or None (not known).
    Edges lead from parent to child, one per slot.
    """

    message: str
    where: str | None = None
    size: float = 0.0
    picture: dict[str, Any] | None = None


@dataclass(frozen=True)
class Misconception:
    """A wrong rule that can be executed.

    `objects()` gives the objects that a student who holds it would hand to the check; running the probe on them gives
    the evidence that it predicts. `message` speaks to the learner, in words, without the solution. `reread` is
    (heading, anchor) of the section to go back to.
    """

    name: str
    message: str
    objects: Callable[[], tuple[Any, ...]]
    reread: tuple[str, str] | None = None


@dataclass(frozen=True)
class Exercise:
    """One exercise. `judge(case, value)` returns None when the value is right."""

    id: str
    title: str
    points: float
    names: tuple[str, ...]  # what the check is called with, in order
    parts: tuple[Part, ...]
    worked: Callable[[], Sequence[Case]]
    cases: Callable[[random.Random], Sequence[Case]]
    judge: Callable[[Case, Value], Finding | None]
    misconceptions: tuple[Misconception, ...] = ()
    reread: tuple[str, str] | None = None
    # one line for the learner when something the check needs is absent, beyond the name itself
    needs: str = ""
    # the part of a case that tells misconceptions apart (the rest only helps to judge; None if all of it does), and how:
    # does a misconception's evidence (second argument) agree with what was seen (third)?
    essential: Callable[[Case], Case | None] = field(default=lambda case: case)
    same: Callable[[Case, Value, Value], bool] = field(
        default=lambda case, predicted, seen: same_value(predicted, seen)
    )
    # the same, more strictly, where several misconceptions agree; by default in every entry of the evidence
    same_closely: Callable[[Case, Value, Value], bool] = field(
        default=lambda case, predicted, seen: same_entries(predicted, seen)
    )
    # modules that the exercise text itself asks for; others that compute derivatives are flagged for the instructor
    may_import: tuple[str, ...] = ()

    def part_points(self) -> Mapping[str, float]:
        total = sum(part.weight for part in self.parts)
        return {part.name: self.points * part.weight / total for part in self.parts}


@dataclass(frozen=True)
class WrittenQuestion:
    """A question that a person marks; its rubric stands in the lesson's text."""

    id: str
    title: str
    points: float


@dataclass(frozen=True)
class LessonExercises:
    """All that is marked in one lesson, in order."""

    exercises: tuple[Exercise, ...]
    written: tuple[WrittenQuestion, ...] = field(default=())

    def __getitem__(self, id: str) -> Exercise:
        for exercise in self.exercises:
            if exercise.id == id:
                return exercise
        raise KeyError(id)
