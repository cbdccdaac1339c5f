"""What holds for every exercise of every lesson, whatever it asks for."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from autograder.exercises import exercises_of
from autograder.exercises.model import Exercise
from autograder.lessons import LESSONS
from autograder.verdict import PASSED, UNANSWERED
from tests.checking import graded, objects_of
from tests.lesson_run import learners_names, source_of

EXERCISES = [(lesson.name, e) for lesson in LESSONS for e in exercises_of(lesson.name).exercises]
EVERY = pytest.mark.parametrize(("lesson", "exercise"), EXERCISES, ids=[e.id for _, e in EXERCISES])
NO_RANDOM_CASES = {"3.8", "3.9", "3.11", "3.12", "5.11"}  # the answer is one thing, or is chosen by the learner


@EVERY
def test_the_lessons_own_solution_passes_on_twenty_draws(lesson: str, exercise: Exercise, one_thread: None) -> None:
    for seed in range(20):
        verdict = graded(exercise.id, *objects_of(exercise, learners_names(lesson)), seed=seed)
        assert verdict.status == PASSED, f"seed {seed}\n{verdict.text()}"
        assert verdict.score == pytest.approx(exercise.points)
        assert verdict.message == "" and verdict.misconceptions == []


@EVERY
def test_a_stub_is_unanswered(lesson: str, exercise: Exercise) -> None:
    verdict = graded(exercise.id, *objects_of(exercise, learners_names(lesson, filled=False)))
    assert (verdict.status, verdict.score) == (UNANSWERED, 0.0)
    assert exercise.id in verdict.message and "not been filled in" in verdict.message


@EVERY
def test_cases_are_plain_data_for_known_parts_and_follow_from_the_seed_alone(lesson: str, exercise: Exercise) -> None:
    first, second = (exercise.cases(random.Random(seed)) for seed in (1, 2))
    assert json.loads(json.dumps(first, allow_nan=False)) == first == exercise.cases(random.Random(1))
    assert (first != second) == (exercise.id not in NO_RANDOM_CASES)
    parts = {part.name for part in exercise.parts}
    assert {case["part"] for case in first} <= parts
    assert {case["part"] for case in exercise.worked()} == parts


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_points_are_what_the_source_says(lesson: Any) -> None:
    points = {c.grade_id: c.nbgrader["points"] for c in source_of(lesson).cells if c.is_check or c.is_answer}
    known = exercises_of(lesson.name)
    named = {e.id.replace(".", "_"): e.points for e in known.exercises} | {
        w.id.replace(".", "_"): w.points for w in known.written
    }
    assert {name.replace(".", "_"): x for name, x in points.items()} == named
    assert 40 <= sum(points.values()) <= 60
