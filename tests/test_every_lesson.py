"""What holds for each of the five lessons."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pytest

from autograder.exercises import exercises_of
from autograder.lessons import LESSONS, Lesson
from tests.lesson_run import Run, source_of


@pytest.mark.parametrize("under_the_grader", (True, False))
@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_unfilled_a_lesson_runs_to_its_end(
    lesson: Lesson, under_the_grader: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde" if under_the_grader else "")
    # Checks have tests of their own; here only the text's own cells are looked at.
    monkeypatch.setattr("autograder.student.check", lambda *args: None)
    run = Run(source_of(lesson), filled=False)
    plt.close("all")
    asked_for = {name for exercise in exercises_of(lesson.name).exercises for name in exercise.names}
    assert asked_for and asked_for <= run.names.keys()
