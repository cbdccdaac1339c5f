"""`check`, which answers a learner at once, and `grade`, which hands evidence to the grader."""

from __future__ import annotations

import contextlib
import importlib
import random
import sys
from typing import Any

from autograder import evidence
from autograder.student import channel, session
from autograder.student.observe import observe
from autograder.student.probes import probe_for
from autograder.verdict import PASSED, Verdict


def check(exercise: str, *objects: Any) -> None:
    """Check your answer to `exercise` ("3.2") and show the verdict.

    In the classroom edition this runs the worked examples; further checks run at grading. In the self-study edition
    it runs everything, on fresh random cases each time. Under nbgrader's Validate a failed check raises
    AssertionError; under the grader nothing happens here.
    """
    if session.execution() == "autograde":
        return
    if session.execution() == "validate":
        _validate(exercise, *objects)
        return
    from autograder.student import cards, progress

    try:
        verdict = verdict_on(exercise, *objects)
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("autograder."):
            raise
        cards.show_note(f"{exercise}: the checks are not installed here; they run at grading.")
        return
    except KeyError:
        cards.show_note(f"There is no exercise {exercise}. The heading above the check gives its number.")
        return
    cards.show(verdict, progress.record(verdict))


class NotPassed(AssertionError):
    """What Validate is told of a failed check. IPython shows it as it stands, without the lines of our code."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def _validate(exercise: str, *objects: Any) -> None:
    """Raise if the check fails. nbgrader takes any word on stderr for a failure, so warnings go to stdout here."""
    with contextlib.redirect_stderr(sys.stdout):
        verdict = verdict_on(exercise, *objects)
    if verdict.status != PASSED:
        raise NotPassed(f"{exercise} {verdict.status}: {verdict.message.splitlines()[0]}")


def outline(lesson: str) -> list[tuple[str, str]]:
    """(id, title) of the exercises of `lesson`, in order; empty where the trusted half is not installed."""
    try:
        exercises = importlib.import_module("autograder.exercises").exercises_of(lesson).exercises
    except ImportError:
        return []
    return [(exercise.id, exercise.title) for exercise in exercises]


def verdict_on(exercise: str, *objects: Any) -> Verdict:
    """The verdict that `check` shows, reached in this process.

    This is the one place where the student half asks for the trusted half: by name, and only where a learner and
    nobody else looks at the result.
    """
    exercises = importlib.import_module("autograder.exercises")
    judging = importlib.import_module("autograder.exercises.judging")
    spec = exercises.exercise(exercise)
    everything = session.current.edition == session.SELF_STUDY
    cases = list(spec.worked())
    if everything:
        cases += spec.cases(random.Random())
    observations = observe(probe_for(exercise), cases, objects)
    verdict: Verdict = judging.judge(spec, cases, observations, worked_only=not everything)
    return verdict


def grade(exercise: str, *objects: Any) -> float | None:
    """Run the grader's cases and hand in what your code computed.

    The verdict is reached elsewhere, so under the grader this returns 0.0: should that step be missing, nobody gets
    marks for nothing. Elsewhere there are no cases to run, and None is returned.
    """
    from IPython.display import display

    cases = channel.take(exercise)
    if cases is None:
        print(f"{exercise}: hidden checks run at grading.")
        return 0.0 if session.execution() == "autograde" else None
    observations = observe(probe_for(exercise), cases, objects)
    try:
        text = evidence.encode(exercise, observations)
    except evidence.EvidenceError as error:
        print(f"{exercise}: {error}.")
        return 0.0
    display({evidence.EVIDENCE_MIME: text}, raw=True)
    return 0.0
