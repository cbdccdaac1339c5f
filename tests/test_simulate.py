"""`autograder simulate`: a class that looks like one, the same for the same seed, never over real submissions."""

from __future__ import annotations

import contextlib
import csv
import functools
import io
import json
import shutil
from pathlib import Path
from typing import Any

import nbformat
import pytest
from typer.testing import CliRunner

from autograder.authoring.source import read
from autograder.cli import app
from autograder.exercises import exercise
from autograder.grading import marking
from autograder.grading.course import CourseError, pattern
from autograder.grading.demo import answers, filled
from autograder.grading.kernel import Kernel
from autograder.grading.seeds import rng as seeded
from autograder.grading.simulate import MANGLINGS, ROSTER, make_class, simulate
from autograder.grading.single import grade_file
from autograder.grading.wrong_answers import WRONG_ANSWERS, WrongAnswer
from autograder.lessons import LESSONS, Lesson, find, lesson_of
from tests.checking import graded

ROOT = Path(__file__).resolve().parents[1]
LESSON = "3-reverse-mode"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A course folder with lesson 3 in it."""
    for name in ("source", "release"):
        shutil.copytree(ROOT / name / LESSON, tmp_path / name / LESSON)
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    return tmp_path


@functools.cache
def reference(lesson: Lesson) -> dict[str, str]:
    return answers(read(ROOT / "source" / lesson.name / f"{lesson.notebook}.py"))


def everything(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_the_same_seed_makes_the_same_class(folder):
    simulate(folder, LESSON, 12, seed=3)
    first = everything(folder / "submitted")
    simulate(folder, LESSON, 12, seed=3)
    assert everything(folder / "submitted") == first
    simulate(folder, LESSON, 12, seed=4)
    assert everything(folder / "submitted").keys() != first.keys()


def test_a_smaller_class_is_the_beginning_of_a_larger_one():
    right = reference(find(LESSON))
    assert make_class(find(LESSON), 40, 1, right, ["3.written"])[:15] == make_class(
        find(LESSON), 15, 1, right, ["3.written"]
    )


def test_ids_and_names_are_of_every_kind():
    students = make_class(find(LESSON), 400, 1, reference(find(LESSON)), [])
    ids = [student.id for student in students]
    assert len({id.casefold() for id in ids}) == 400
    assert any(" " in id for id in ids) and any("é" in id for id in ids) and any("ن" in id for id in ids)
    assert any("," in student.last for student in students) and any("'" in student.id for student in students)
    assert not any("/" in id or id.startswith(".") for id in ids)


def test_a_class_differs_in_skill_and_in_what_it_gets_wrong():
    right = reference(find(LESSON))
    students = make_class(find(LESSON), 300, 1, right, ["3.written"])
    answered = [sum(tag in s.answers for tag in right) for s in students]
    all_right = [sum(s.answers.get(tag) == text for tag, text in right.items()) for s in students]
    assert min(answered) == 0 and max(all_right) == len(right)
    assert len(right) * 0.4 < sum(all_right) / 300 < len(right) * 0.9
    good, poor = (
        [n for n, s in zip(all_right, students, strict=True) if (s.skill > 0) == high] for high in (True, False)
    )
    assert sum(good) / len(good) > sum(poor) / len(poor) + 2
    assert {s.mangled for s in students} >= {m.name for m in MANGLINGS if m.weight >= 2}
    assert sum(bool(s.mangled) for s in students) < 50


def test_real_submissions_are_never_touched(folder):
    real = folder / "submitted" / "ada" / LESSON / "reverse_mode.ipynb"
    real.parent.mkdir(parents=True)
    real.write_text("{}")
    with pytest.raises(CourseError, match="ada"):
        simulate(folder, LESSON, 3)
    assert everything(folder / "submitted") == {f"ada/{LESSON}/reverse_mode.ipynb": b"{}"}


def test_a_made_up_submission_that_somebody_changed_counts_as_real(folder):
    made = simulate(folder, LESSON, 5)
    path = next((folder / "submitted" / made[2].id).rglob("*.ipynb"))
    path.write_text("mine now")
    before = everything(folder / "submitted")
    with pytest.raises(CourseError, match="not made up"):
        simulate(folder, LESSON, 5, seed=9)
    assert everything(folder / "submitted") == before


def test_the_command_says_what_it_made_and_refuses_with_status_2(folder, monkeypatch):
    monkeypatch.chdir(folder)
    made = CliRunner().invoke(app, ["simulate", LESSON, "--students", "6", "--seed", "2"])
    assert made.exit_code == 0 and "6 made-up submissions" in made.output
    with open(folder / ROSTER, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] and {row["id"] for row in rows} == {
        p.name for p in (folder / "submitted").iterdir()
    }
    (folder / ".autograder" / "simulated.json").unlink()
    refused = CliRunner().invoke(app, ["simulate", LESSON])
    assert refused.exit_code == 2 and "not made up" in refused.output


# ---- What is wrong is wrong in the way that it says -----------------------------------------------------------------


def objects(lesson: Lesson, texts: dict[str, str], wanted: str) -> list[Any]:
    """What the check of exercise `wanted` is called with, when the lesson's cells are run with `texts` filled in."""
    like = pattern(ROOT, lesson.name)
    space: dict[str, Any] = {"__name__": "__main__"}
    with contextlib.redirect_stdout(io.StringIO()):
        for job in marking.jobs(filled(like, texts), like, lesson.name, lambda id: seeded(b"", "", "", "", id)):
            if job.exercise == wanted:
                break
            if job.exercise is None:
                exec(compile(job.source, job.id, "exec"), space)
    return [space[name] for name in exercise(wanted).names]


def _by_lesson() -> list[Any]:
    return [
        pytest.param(lesson, [w for w in WRONG_ANSWERS if lesson_of(w.exercise) == lesson], id=lesson.name)
        for lesson in LESSONS
        if any(lesson_of(w.exercise) == lesson for w in WRONG_ANSWERS)
    ]


@pytest.mark.parametrize("lesson, wrong", _by_lesson())
def test_every_wrong_answer_still_fits_the_reference_answers(lesson: Lesson, wrong: list[WrongAnswer]):
    for one in wrong:
        changed = one.applied(reference(lesson))
        assert changed, one
        for text in changed.values():
            compile(text, "answer", "exec")


@pytest.mark.parametrize("lesson, wrong", _by_lesson())
def test_wrong_answers_in_a_notebook_get_their_names(lesson: Lesson, wrong: list[WrongAnswer], monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    monkeypatch.setenv("MPLBACKEND", "agg")
    right = reference(lesson)
    for one in wrong:
        if one.name:
            verdict = graded(one.exercise, *objects(lesson, right | one.applied(right), one.exercise))
            assert verdict.misconceptions == [one.name], one


@pytest.mark.bubblewrap
def test_a_made_up_notebook_can_be_graded(folder, monkeypatch):
    monkeypatch.chdir(folder)
    best = max(simulate(folder, LESSON, 20, seed=1), key=lambda s: (not s.mangled, s.skill))
    with Kernel(sandbox="bwrap") as kernel:
        report = grade_file(folder / "submitted" / best.id / LESSON / "reverse_mode.ipynb", kernel)
    assert report.score > 0.7 * report.max_score and report.flags == []


def test_made_up_notebooks_are_notebooks_unless_they_came_to_harm(folder):
    for student in simulate(folder, LESSON, 25, seed=1):
        (path,) = (folder / "submitted" / student.id / LESSON).glob("*.ipynb")
        if student.mangled not in ("empty file", "cut short"):
            nbformat.validate(json.loads(path.read_text(encoding="utf-8")))
