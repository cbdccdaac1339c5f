"""From evidence to verdict, the same way for every exercise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograder import evidence as ev
from autograder.exercises.model import Case, Exercise, Finding, Misconception
from autograder.student.observe import observe
from autograder.student.probes import probe_for
from autograder.verdict import ERROR, FAILED, PARTIAL, PASSED, UNANSWERED, PartVerdict, Verdict


def judge(
    exercise: Exercise, cases: Sequence[Case], observations: Sequence[dict[str, Any]], worked_only: bool = False
) -> Verdict:
    """The verdict on `exercise`, from one observation per case."""
    points = exercise.part_points()
    findings = [_judge_one(exercise, case, seen) for case, seen in zip(cases, observations, strict=True)]
    failing = {case["part"] for case, finding in zip(cases, findings, strict=True) if finding is not None}
    parts = []
    for part in exercise.parts:
        own = [f for case, f in zip(cases, findings, strict=True) if case["part"] == part.name and f is not None]
        present = any(case["part"] == part.name for case in cases)
        if not present:
            continue
        message = min(own, key=lambda f: f.size).message if own else ""
        score = 0.0 if own else points[part.name]
        parts.append(PartVerdict(part.name, part.title, not own, score, points[part.name], message))
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
    kinds = {error.get("kind") for error in errors}
    if kinds and len(errors) == len(observations):
        if kinds == {ev.UNANSWERED}:
            verdict.status, verdict.score = UNANSWERED, 0.0
            for part in parts:
                part.message = ""
            verdict.message = unanswered(exercise, errors[0])
            return verdict
        if kinds == {ev.MISSING}:
            verdict.status = ERROR

    smallest = min((f for f in findings if f is not None), key=lambda f: f.size)
    verdict.where, verdict.message, verdict.picture = smallest.where, smallest.message, smallest.picture
    verdict.reread = exercise.reread
    named = name_misconceptions(exercise, cases, observations, failing)
    if named:
        verdict.misconceptions = [m.name for m in named]
        verdict.message = "\n".join([*(m.message for m in named), smallest.message])
        verdict.reread = next((m.reread for m in named if m.reread), exercise.reread)
    return verdict


def unanswered(exercise: Exercise, error: dict[str, Any]) -> str:
    line = f"\n    {error['line']}" if error.get("line") else ""
    return (
        f"Exercise {exercise.id} has not been filled in yet.{line}\n"
        "Replace that line by your own code, run the cell, then run this check again."
    )


def _judge_one(exercise: Exercise, case: Case, seen: dict[str, Any]) -> Finding | None:
    if "error" in seen:
        return _error_finding(exercise, case, seen["error"])
    try:
        return exercise.judge(case, seen["value"])
    except (TypeError, KeyError, IndexError, ValueError, AttributeError, ZeroDivisionError, OverflowError):
        # Evidence of a shape that no honest probe gives. Fail closed.
        return Finding(f"{exercise.id}: the check could not read this answer.", where=case["part"])


def _text(x: Any, limit: int = 300) -> str:
    return str(x)[:limit] if x is not None else ""


def _error_finding(exercise: Exercise, case: Case, error: dict[str, Any]) -> Finding:
    kind, name, message, line = (_text(error.get(k)) for k in ("kind", "type", "message", "line"))
    shown = f"\n    {line}" if line else ""
    if kind == ev.UNANSWERED:
        text = f"A part of exercise {exercise.id} still raises NotImplementedError.{shown}\nFill it in, run its cell, then check again."
    elif kind in (ev.MISSING, ev.WRONG_TYPE):
        text = f"Exercise {exercise.id}: {message}.{shown}"
        if kind == ev.MISSING and exercise.needs:
            text += f"\n{exercise.needs}"
    else:
        text = (
            f"Exercise {exercise.id}: your code raised {name}: {message}{shown}\n"
            f"{case.get('says', 'Run your function by hand on a small input to see it happen')}."
        )
    return Finding(text, where=case.get("op") or case["part"], size=case.get("size", 0.0))


def name_misconceptions(
    exercise: Exercise, cases: Sequence[Case], observations: Sequence[dict[str, Any]], failing: set[str]
) -> list[Misconception]:
    """The misconceptions whose predicted evidence is what was seen.

    One that explains every case is named alone. Otherwise those are named that explain every case of a failing part,
    so that two mistakes in two operations are both named; if several explain a part, none is named for it, since the
    cases did not tell them apart.
    """
    probe = probe_for(exercise.id)
    wrong_indices = [i for i, case in enumerate(cases) if case["part"] in failing]
    matches: dict[str, list[Misconception]] = {part: [] for part in failing}
    everywhere: list[Misconception] = []
    for misconception in exercise.misconceptions:
        predicted = observe(probe, [cases[i] for i in wrong_indices], misconception.objects())
        same = {i: _same(p, observations[i]) for i, p in zip(wrong_indices, predicted, strict=True)}
        if all(same.values()):
            # It must also leave alone what the student got right.
            others = [i for i in range(len(cases)) if i not in same]
            rest = observe(probe, [cases[i] for i in others], misconception.objects())
            if all(_judge_one(exercise, cases[i], p) is None for i, p in zip(others, rest, strict=True)):
                everywhere.append(misconception)
        for part in failing:
            indices = [i for i in wrong_indices if cases[i]["part"] == part]
            if all(same[i] for i in indices):
                matches[part].append(misconception)
    if everywhere:
        return everywhere[:1] if len({m.name for m in everywhere}) == 1 else []
    found: list[Misconception] = []
    for part in exercise.parts:
        candidates = {m.name: m for m in matches.get(part.name, [])}
        if len(candidates) == 1:
            (only,) = candidates.values()
            if only not in found:
                found.append(only)
    return found


def _same(predicted: dict[str, Any], seen: dict[str, Any]) -> bool:
    if ("error" in predicted) != ("error" in seen):
        return False
    if "error" in predicted:
        p, s = predicted["error"], seen["error"]
        return p.get("kind") == s.get("kind") and p.get("type") == s.get("type")
    return same_value(predicted["value"], seen["value"])


def same_value(a: Any, b: Any, tolerance: float = 1e-7) -> bool:
    """Equal up to rounding: numbers to a relative `tolerance` (over max(1, |a|, |b|)), the rest exactly."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return abs(a - b) <= tolerance * max(1.0, abs(a), abs(b))
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(same_value(x, y, tolerance) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same_value(a[k], b[k], tolerance) for k in a)
    return bool(a == b)
