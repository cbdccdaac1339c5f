"""Verdicts: what the judge says of one exercise. Data only; cards and text are made from it elsewhere."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

PASSED = "passed"
PARTIAL = "partial"
FAILED = "failed"
UNANSWERED = "unanswered"
MANUAL = "manual"
ERROR = "error"
WORKED_ONLY = "These are the worked examples. Further checks run at grading."
STATUSES = (PASSED, PARTIAL, FAILED, UNANSWERED, MANUAL, ERROR)


def clamp(points: float, highest: float) -> float:
    """`points` as a plain finite float in [0, highest]; anything non-finite is 0."""
    points = float(points)
    return min(max(points, 0.0), float(highest)) if math.isfinite(points) else 0.0


@dataclass
class PartVerdict:
    """One named part of an exercise: did it hold, what is it worth, and what was seen."""

    name: str
    title: str
    passed: bool
    score: float
    max_score: float
    message: str = ""


@dataclass
class Verdict:
    """The verdict on one exercise.

    `message` is for the learner: what was computed, with which numbers, what was expected and why, what to look at
    next. `where` names the operation or part that departs first. `reread` is (heading, anchor) in the lesson.
    `picture` is the smallest failing graph as data, see autograder.student.pictures. `worked_only` is True when only
    the worked examples were run (classroom edition): then there are no points yet.
    """

    exercise: str
    title: str
    status: str
    score: float
    max_score: float
    parts: list[PartVerdict] = field(default_factory=list)
    misconceptions: list[str] = field(default_factory=list)
    where: str | None = None
    message: str = ""
    reread: tuple[str, str] | None = None
    picture: dict[str, Any] | None = None
    flags: list[str] = field(default_factory=list)
    worked_only: bool = False

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise ValueError(f"unknown status {self.status!r}")
        self.score = clamp(self.score, self.max_score)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Verdict:
        fields = dict(data)
        fields["parts"] = [PartVerdict(**part) for part in fields.get("parts", [])]
        if fields.get("reread") is not None:
            fields["reread"] = tuple(fields["reread"])
        return cls(**fields)

    def summary(self) -> dict[str, Any]:
        """The fields that `autograder grade --json` prints for an exercise."""
        return {
            "id": self.exercise,
            "score": self.score,
            "max_score": self.max_score,
            "status": self.status,
            "misconceptions": self.misconceptions,
            "where": self.where,
            "message": self.message,
            "parts": [
                {"name": p.name, "passed": p.passed, "score": p.score, "max_score": p.max_score} for p in self.parts
            ],
        }

    def text(self) -> str:
        """The verdict as plain text, for terminals, screen readers and notebooks without HTML."""
        mark = {PASSED: "✓", PARTIAL: "◐", FAILED: "✗", UNANSWERED: "○", MANUAL: "…", ERROR: "!"}[self.status]
        words = {
            PASSED: "passed", PARTIAL: "partly right", FAILED: "not yet right", UNANSWERED: "unanswered",
            MANUAL: "waiting for a reader", ERROR: "could not be checked",
        }[self.status]  # fmt: skip
        points = "" if self.worked_only else f"  {round(self.score, 2):g} / {self.max_score:g}"
        lines = [f"{mark} {self.exercise} {self.title}: {words}{points}"]
        for part in self.parts:
            lines.append(f"   {'✓' if part.passed else '✗'} {part.title}")
            if part.message and not part.passed and part.message not in self.message:
                lines += [f"       {line}" for line in part.message.splitlines()]
        lines += [f"   {line}" for line in self.message.splitlines()]
        if self.reread:
            lines.append(f"   Reread: {self.reread[0]}")
        if self.worked_only:
            lines.append(f"   {WORKED_ONLY}")
        return "\n".join(lines)
