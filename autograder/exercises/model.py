"""Exercises as data: cases, references, judge, misconceptions.

Everything here is on the trusted side: it never runs in a process that has run a student's code, except when somebody
who studies alone asks for it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

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
    failing cases: the smallest one is shown. `picture` is a graph as data (autograder.student.pictures) in which the
    first departing node is marked.
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
