"""The exercises of every lesson, on the trusted side. One module a lesson, named like its notebook, with `LESSON`."""

from __future__ import annotations

import importlib

from autograder.exercises.model import Exercise, LessonExercises
from autograder.lessons import find, lesson_of


def exercises_of(lesson: str) -> LessonExercises:
    """All exercises and written questions of `lesson`."""
    module = importlib.import_module(f"autograder.exercises.{find(lesson).module}")
    found: LessonExercises = module.LESSON
    return found


def exercise(id: str) -> Exercise:
    """Exercise `id` ("3.2"); KeyError if there is none."""
    return exercises_of(lesson_of(id).name)[id]
