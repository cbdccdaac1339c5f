"""Run a check as the grader does: cases, probe, evidence through JSON, judge."""

from __future__ import annotations

import gc
import json
import random
from collections.abc import Mapping, Sequence
from typing import Any

from autograder import evidence
from autograder.exercises import exercise
from autograder.exercises.judging import judge
from autograder.exercises.model import Case, Exercise
from autograder.student.observe import observe
from autograder.student.probes import probe_for
from autograder.verdict import Verdict


def cases_of(id: str, seed: int | str = 0) -> list[Case]:
    """Worked and random cases, as they arrive on the other side."""
    spec = exercise(id)
    cases: list[Case] = json.loads(json.dumps([*spec.worked(), *spec.cases(random.Random(seed))], allow_nan=False))
    return cases


def evidence_of(id: str, objects: Sequence[Any], cases: Sequence[Case]) -> list[dict[str, Any]]:
    return evidence.decode(evidence.encode(id, observe(probe_for(id), cases, objects)), id, len(cases))


def graded(id: str, *objects: Any, seed: int | str = 0) -> Verdict:
    """The verdict on `objects` with the cases of `seed`."""
    cases = cases_of(id, seed)
    return judge(exercise(id), cases, evidence_of(id, objects, cases))


def verdict_on(exercise: Exercise, objects: Sequence[Any], nonce: object = 0) -> Verdict:
    """As `graded`, the cases drawn by anything that can be told apart."""
    return graded(exercise.id, *objects, seed=f"{nonce}")


def objects_of(exercise: Exercise, names: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(names[name] for name in exercise.names)


def failed_parts(verdict: Verdict) -> list[str]:
    return [part.name for part in verdict.parts if not part.passed]


def living(kind: type) -> int:
    """How many objects of a class are alive. (What `gc.collect` counts may come from other tests.)"""
    return sum(type(x) is kind for x in gc.get_objects())
