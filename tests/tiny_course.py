"""A lesson of one exercise, and a course folder that holds it: for tests of build and lint."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

import autograder.lessons
from autograder.exercises.model import Exercise, LessonExercises, Part, WrittenQuestion
from autograder.lessons import Lesson

ROOT = Path(__file__).resolve().parents[1]
SOURCES = Path(__file__).resolve().parent / "authoring"

LESSON = Lesson("9-tiny", "tiny", "A lesson of one exercise")
EXERCISES = LessonExercises(
    exercises=(
        Exercise(
            id="9.1",
            title="Squares",
            points=2,
            names=("square",),
            parts=(Part("square", "the square of a number"),),
            worked=lambda: [{"part": "square", "x": 3.0}],
            cases=lambda rng: [{"part": "square", "x": rng.uniform(-2, 2)}],
            judge=lambda case, value: None,
            reread=("Nine", "squares"),
        ),
    ),
    written=(WrittenQuestion("9.written", "Signs", 6),),
)


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course folder with the tiny lesson alone, known to `autograder` while the test runs."""
    module = ModuleType("autograder.exercises.tiny")
    module.LESSON = EXERCISES  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(autograder.lessons, "LESSONS", (LESSON,))
    source = tmp_path / "source" / LESSON.name
    source.mkdir(parents=True)
    shutil.copy(SOURCES / "good.py", source / "tiny.py")
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    return tmp_path
