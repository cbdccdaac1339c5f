"""Limits of single exercises, as nbgrader_config.py sets them."""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat
import pytest

from autograder.authoring.source import read
from autograder.grading.course import load_config
from autograder.grading.demo import answers, filled
from autograder.grading.kernel import CellJob, Kernel
from autograder.grading.nbgrader_steps import Execute
from autograder.grading.single import grade_file
from autograder.lessons import find

ROOT = Path(__file__).resolve().parents[1]
LESSON = find("3-reverse-mode")
LIMITS = """
c.Execute.seconds_per_cell = 4.0
c.Execute.seconds = {"3.7": 60, "3.9": 60}
c.Execute.memory_bytes = 200 << 20
c.Execute.memory = {"3.7": 1 << 30}
c.Execute.output = {"3.9": 1_000_000}
"""
MORE = "\nimport time\n_{0} = {0}\ndef {0}(*args, **more):\n    {1}\n    return _{0}(*args, **more)\n"
LARGE = "bytearray(b'x') * (300 << 20)"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "release" / LESSON.name, tmp_path / "release" / LESSON.name)
    (tmp_path / "nbgrader_config.py").write_text((ROOT / "nbgrader_config.py").read_text() + LIMITS)
    return tmp_path


@pytest.mark.bubblewrap
def test_an_exercise_with_limits_of_its_own_may_use_more(folder):
    texts = answers(read(ROOT / "source" / LESSON.name / f"{LESSON.notebook}.py"))
    for exercise, function, line in (
        ("3.8", "smallest_counterexample", "time.sleep(30)"),
        ("3.9", "order_matters", "time.sleep(6)"),
        ("3.6", "diamond_loss", LARGE),
        ("3.7", "gradient_check", LARGE),
    ):
        texts[f"{exercise}-solution"] += MORE.format(function, line)
    release = nbformat.read(folder / "release" / LESSON.name / f"{LESSON.notebook}.ipynb", as_version=4)
    path = folder / "one.ipynb"
    nbformat.write(filled(release, texts), path)
    with Kernel(limits=Execute(config=load_config(folder)).limits()) as kernel:
        verdicts = {v.exercise: v for v in grade_file(path, kernel).verdicts}
    lost = {id: v.message for id, v in verdicts.items() if v.status not in ("passed", "unanswered")}
    assert sorted(lost) == ["3.6", "3.8"], lost
    assert "timed out" in lost["3.8"] and "memory" in lost["3.6"]


def test_limits_come_from_the_courses_configuration(folder):
    step = Execute(config=load_config(folder))
    jobs = {job.id: job for job in step.limited([CellJob("own", "1"), CellJob("3.9", "0.0", "3.9", [])])}
    assert (step.limits().seconds_per_cell, step.limits().memory_bytes) == (4.0, 1 << 30)
    assert (jobs["3.9"].seconds, jobs["3.9"].output_bytes) == (60, 1_000_000)
    assert jobs["own"].output_bytes == step.output_bytes < 1_000_000
