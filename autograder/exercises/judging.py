"""From evidence to verdict, the same way for every exercise."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from autograder import evidence as ev
from autograder.exercises.model import Case, Exercise, Finding, Misconception
from autograder.student.observe import observe
from autograder.student.probes import Probe, probe_for
from autograder.verdict import ERROR, FAILED, PARTIAL, PASSED, UNANSWERED, PartVerdict, Verdict

Observation = dict[str, Any]


def judge(
    exercise: Exercise,
    cases: Sequence[Case],
    observations: Sequence[Observation],
    worked_only: bool = False,
    predictions: Sequence[Prediction] | None = None,
) -> Verdict:
    """The verdict on `exercise`, from one observation per case.

    `predictions` are what `predictions(exercise, cases)` gave; who judges many answers on the same cases hands them over.
    """
    points = exercise.part_points()
    findings = [_judge_one(exercise, case, seen) for case, seen in zip(cases, observations, strict=True)]
    parts = []
    for part in exercise.parts:
        if all(case["part"] != part.name for case in cases):
            continue
        own = [f for case, f in zip(cases, findings, strict=True) if case["part"] == part.name and f is not None]
        message = _smallest(own).message if own else ""
        score = 0.0 if own else points[part.name]
        parts.append(PartVerdict(part.name, part.title, not own, score, points[part.name], message))
    failing = {part.name for part in parts if not part.passed}
    verdict = Verdict(
        exercise.id,
        exercise.title,
        PASSED if not failing else FAILED if len(failing) == len(parts) else PARTIAL,
        sum(p.score for p in parts),
        exercise.points,
        parts,
        worked_only=worked_only,
    )
    if not failing:
        return verdict

    errors = [seen["error"] for seen in observations if "error" in seen]
    kinds = {_text(error.get("kind")) for error in errors}
    if len(errors) == len(observations) and kinds == {ev.UNANSWERED}:
        other = stub_of_another(exercise, errors[0])
        verdict.status = UNANSWERED
        for blank in parts:
            blank.message = ""
        verdict.message = needs_other(exercise, other, errors[0]) if other else unanswered(exercise, errors[0])
        return verdict
    if len(errors) == len(observations) and kinds == {ev.MISSING}:
        verdict.status = ERROR

    smallest = _smallest([f for f in findings if f is not None])
    verdict.where, verdict.message, verdict.picture = smallest.where, smallest.message, smallest.picture
    verdict.reread = exercise.reread
    named = name_misconceptions(exercise, cases, observations, findings, predictions)
    if named:
        verdict.misconceptions = [m.name for m in named]
        verdict.message = "\n".join([*(m.message for m in named), smallest.message])
        verdict.reread = next((m.reread for m in named if m.reread), exercise.reread)
    return verdict


def _smallest(findings: Sequence[Finding]) -> Finding:
    return min(findings, key=lambda f: f.size)


# ---- errors in the student's code -----------------------------------------------------------------------------------


def _shown(error: Observation) -> str:
    return f"\n    {_text(error['line'])}" if error.get("line") else ""


def stub_of_another(exercise: Exercise, error: Observation) -> str | None:
    """The id of another exercise whose stub was met, from the stub's own words ("3.1 value_add")."""
    found = re.match(r"\d+\.\d+", _text(error.get("message")))
    return found.group() if found and found.group() != exercise.id else None


def unanswered(exercise: Exercise, error: Observation) -> str:
    return (
        f"Exercise {exercise.id} has not been filled in yet.{_shown(error)}\n"
        "Replace that line by your own code, run the cell, then run this check again."
    )


def needs_other(exercise: Exercise, other: str, error: Observation) -> str:
    return (
        f"Exercise {exercise.id} builds on {other}, which has not been filled in yet.{_shown(error)}\n"
        f"Fill in {other} first, run its cell, then run this check again."
    )


def _judge_one(exercise: Exercise, case: Case, seen: Observation) -> Finding | None:
    try:
        if "error" in seen:
            return _error_finding(exercise, case, seen["error"])
        found = exercise.judge(case, seen["value"])
        if found is not None and len(found.message) > LONGEST:  # a name or a list of the student's own, without end
            found = replace(found, message=f"{found.message[:LONGEST]} …", where=case["part"], picture=None)
        return found
    except Exception:
        # Evidence of a shape that no honest probe gives, from a process that may be hostile. Fail closed.
        return Finding(f"{exercise.id}: the check could not read this answer.", where=case["part"])


def _text(x: Any, limit: int = 300) -> str:
    return str(x)[:limit] if x is not None else ""


LONGEST = 3_000  # characters of a message; a long one has 600
BY_HAND = "Run that line by hand with these numbers to see it happen, then check again."
CALL_BY_HAND = "Make that call by hand, with these numbers, to see it happen, then check again."
TOO_DEEP = (
    "A function calls itself there, directly or by way of another, and does so deeper than Python allows (about 1,000 "
    "calls). Does each call come closer to an end, and how many does it take?"
)


def _error_finding(exercise: Exercise, case: Case, error: Observation) -> Finding:
    kind, name, message = (_text(error.get(k)) for k in ("kind", "type", "message"))
    asked = f"{case['says']}: " if case.get("says") else ""
    if kind == ev.UNANSWERED:
        other = stub_of_another(exercise, error)
        text = (
            needs_other(exercise, other, error)
            if other
            else f"A part of exercise {exercise.id} still raises NotImplementedError.{_shown(error)}\n"
            "Fill it in, run its cell, then check again."
        )
    elif kind in (ev.MISSING, ev.WRONG_TYPE):
        end = "" if message.endswith("?") else "."
        text = f"Exercise {exercise.id}: {message}{end}{_shown(error)}"
        if kind == ev.MISSING and exercise.needs:
            text += f"\n{exercise.needs}"
    else:
        advice = TOO_DEEP if name == "RecursionError" else BY_HAND if error.get("line") else CALL_BY_HAND
        text = f"Exercise {exercise.id}, {asked}your code raised {name}: {message}{_shown(error)}\n{advice}"
    return Finding(text, where=case.get("op") or case["part"], size=case.get("size", 0.0))


# ---- naming what was thought ----------------------------------------------------------------------------------------


def name_misconceptions(
    exercise: Exercise,
    cases: Sequence[Case],
    observations: Sequence[Observation],
    findings: Sequence[Finding | None],
    known: Sequence[Prediction] | None = None,
) -> list[Misconception]:
    """The misconceptions whose predicted evidence is what was seen.

    One that explains every failing part and leaves the others right is named alone. Otherwise each failing part is
    looked at for itself, so that two mistakes in two operations are both named; a rule that predicts other evidence than
    was seen in more failing parts than it explains is not what was thought. Where several names explain the same
    evidence, the ones that agree with all of it to the last entry are kept; if that leaves more than one name, none is
    given, since the cases did not tell them apart.
    """
    known = predictions(exercise, cases) if known is None else known
    telling = [i for i, case in enumerate(cases) if exercise.essential(case) is not None]
    wrong = {cases[i]["part"] for i in telling if findings[i] is not None}
    failing = [part.name for part in exercise.parts if part.name in wrong]
    # Within a part the cases that went wrong come first: they rule out most candidates at once.
    indices = {
        part: sorted((i for i in telling if cases[i]["part"] == part), key=lambda i: findings[i] is None)
        for part in failing
    }
    rest = [i for i in telling if cases[i]["part"] not in failing]
    explained = {
        p: [q for q in known if q.explains(indices[p], observations) and q.fails(indices[p], findings)] for p in failing
    }

    everywhere = [q for q in known if all(q in explained[p] for p in failing) and all(q.is_right(i) for i in rest)]
    if failing and everywhere:
        return _agreed(everywhere, [i for p in failing for i in indices[p]], observations)

    def margin(q: Prediction) -> int:
        """Of the failing parts in which it predicts a failure: those that it explains, less those that it does not."""
        explains = sum(q in explained[part] for part in failing)
        against = sum(q not in explained[part] and not all(map(q.is_right, indices[part])) for part in failing)
        return explains - against

    found: dict[str, tuple[Misconception, int]] = {}
    for part in failing:
        candidates = [q for q in explained[part] if margin(q) >= 0]
        for m in _agreed(candidates, indices[part], observations):
            found.setdefault(m.name, (m, max(margin(q) for q in candidates if q.misconception.name == m.name)))
    # Several names at once must each stand for themselves.
    return [m for m, by in found.values() if by > 0 or len(found) == 1]


class Prediction:
    """The evidence that one misconception predicts, computed case by case as it is asked for."""

    def __init__(self, exercise: Exercise, probe: Probe, cases: Sequence[Case], misconception: Misconception) -> None:
        self.exercise, self.probe, self.cases, self.misconception = exercise, probe, cases, misconception
        self._objects: tuple[Any, ...] | None = None
        self._made: dict[int, Observation] = {}
        self._right: dict[int, bool] = {}

    def is_right(self, i: int) -> bool:
        """Would the judge find nothing wrong with all its evidence on case `i`?"""
        if i not in self._right:
            case = self.cases[i]
            self._right[i] = _judge_one(self.exercise, case, self._observe(case)) is None
        return self._right[i]

    def observation(self, i: int) -> Observation:
        """The evidence on case `i`, as far as it tells misconceptions apart."""
        if i not in self._made:
            self._made[i] = self._observe(self.exercise.essential(self.cases[i]) or self.cases[i])
        return self._made[i]

    def _observe(self, case: Case) -> Observation:
        if self._objects is None:
            self._objects = self.misconception.objects()
        (seen,) = observe(self.probe, [case], self._objects)
        return seen

    def explains(self, indices: Iterable[int], observations: Sequence[Observation], closely: bool = False) -> bool:
        same = self.exercise.same_closely if closely else self.exercise.same
        return all(self._agrees(i, observations[i], same) for i in indices)

    def fails(self, indices: Iterable[int], findings: Sequence[Finding | None]) -> bool:
        """Would the judge mark it down where it marked the answer down? Some parts forgive what others mark."""
        return all(not self.is_right(i) for i in indices if findings[i] is not None)

    def _agrees(self, i: int, seen: Observation, same: Callable[[Case, Any, Any], bool]) -> bool:
        predicted = self.observation(i)
        if "error" in predicted or "error" in seen:
            p, s = predicted.get("error", {}), seen.get("error", {})
            alike = bool(p) and all(p.get(key) == s.get(key) for key in ("kind", "type"))
            return alike and _names_a_node(self.cases[i], p) == _names_a_node(self.cases[i], s)
        try:
            return same(self.cases[i], predicted["value"], seen["value"])
        except Exception:  # evidence of a strange shape: not what was predicted
            return False


def _names_a_node(case: Case, error: Observation) -> bool:
    """Is it a node of the case's graph that was looked up in vain? Other keys have other reasons."""
    return error.get("type") == "KeyError" and _text(error.get("message")).strip("'\"") in case.get("graph", ())


def predictions(exercise: Exercise, cases: Sequence[Case]) -> list[Prediction]:
    """What each listed misconception predicts on `cases`; nothing is computed yet."""
    probe = probe_for(exercise.id)
    return [Prediction(exercise, probe, cases, m) for m in exercise.misconceptions]


def _agreed(
    candidates: Sequence[Prediction], indices: Sequence[int], observations: Sequence[Observation]
) -> list[Misconception]:
    """The one name among `candidates`, told apart by every entry of the evidence if need be; else nothing."""
    if len({q.misconception.name for q in candidates}) > 1:
        candidates = [q for q in candidates if q.explains(indices, observations, closely=True)]
    names = {q.misconception.name for q in candidates}
    return [candidates[0].misconception] if len(names) == 1 else []
