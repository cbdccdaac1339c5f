"""Grade notebooks one at a time, without a gradebook: `autograder grade FILE`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.exercises import exercises_of
from autograder.grading import marking, seeds
from autograder.grading.course import course_root, load_config, pattern
from autograder.grading.kernel import Kernel, Limits
from autograder.grading.nbgrader_steps import Execute
from autograder.grading.reading import Unreadable, read_file
from autograder.grading.repair import lesson_in, repair
from autograder.lessons import find
from autograder.verdict import Verdict


class CannotGrade(RuntimeError):
    """A notebook that cannot be graded at all; the message says why and what to do."""


@dataclass
class Report:
    """The outcome for one notebook."""

    notebook: str
    lesson: str
    verdicts: list[Verdict]
    flags: list[str]

    @property
    def score(self) -> float:
        return sum(verdict.score for verdict in self.verdicts)

    @property
    def max_score(self) -> float:
        return sum(verdict.max_score for verdict in self.verdicts)

    def summary(self) -> dict[str, Any]:
        """What `autograder grade --json` prints for one notebook."""
        return {
            "notebook": self.notebook,
            "lesson": self.lesson,
            "score": self.score,
            "max_score": self.max_score,
            "flags": self.flags,
            "exercises": [verdict.summary() for verdict in self.verdicts],
        }


def limits() -> Limits:
    """What a box may use in the course at hand."""
    return Execute(config=load_config(course_root())).limits()


def grade_file(path: Path, kernel: Kernel, student: str = "") -> Report:
    """Grade the notebook at `path`.

    Raises:
        CannotGrade: the file is missing, is no notebook, or answers none of the course's lessons.
        CourseError: no course is found, or the lesson has not been built.
    """
    try:
        submission = read_file(path)
    except FileNotFoundError:
        raise CannotGrade(f"{path}: there is no such file.") from None
    except PermissionError:
        raise CannotGrade(f"{path}: this file may not be read.") from None
    except Unreadable as error:
        raise CannotGrade(f"{path}: {error}.") from None
    lesson = lesson_in(submission)
    if lesson is None:
        raise CannotGrade(
            f"{path}: this notebook answers no lesson of this course: none of its cells is one of our checks."
        )
    root = course_root(path.parent) if (path.parent / "nbgrader_config.py").exists() else course_root()
    like = pattern(root, lesson)
    repaired = repair(submission, like)
    secret = seeds.course_secret(root)

    def seed(exercise: str) -> Any:
        return seeds.rng(secret, student, lesson, repaired.digest, exercise)

    notebook = repaired.notebook
    notebook.metadata["autograder"] = {"flags": repaired.flags}
    jobs = Execute(config=load_config(root)).limited(marking.jobs(notebook, like, lesson, seed))
    marking.put_outputs(notebook, kernel.run(jobs))
    verdicts = {v.exercise: v for v in marking.put_verdicts(notebook, like, lesson, seed)}
    verdicts |= {v.exercise: v for v in marking.written_verdicts(notebook, like, lesson)}
    wanted = exercises_of(lesson)
    ids = [*(exercise.id for exercise in wanted.exercises), *(question.id for question in wanted.written)]
    ordered = [verdicts[id] for id in ids if id in verdicts]
    return Report(str(path), find(lesson).name, ordered, notebook.metadata["autograder"]["flags"])


def as_text(reports: Sequence[Report]) -> str:
    """Reports for a person at a terminal."""
    blocks = []
    for report in reports:
        lines = [f"{report.notebook}: {report.score:g} of {report.max_score:g} points ({report.lesson})"]
        lines += [verdict.text() for verdict in report.verdicts]
        lines += [f"! {flag}" for flag in report.flags]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)
