"""`autograder grade`, and what a learner is told: from the file to the message, through the real box and real kernels."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.notebooknode import NotebookNode
from nbgrader.validator import Validator

from autograder.authoring.source import read
from autograder.exercises import exercises_of
from autograder.grading.course import release_path
from autograder.grading.demo import answers, filled
from autograder.grading.kernel import Kernel
from autograder.grading.single import CannotGrade, Report, grade_file
from autograder.lessons import LESSONS, Lesson, find

ROOT = Path(__file__).resolve().parents[1]
LESSON = find("3-reverse-mode")
RELEASE = nbformat.read(release_path(ROOT, LESSON), as_version=4)
POINTS = {exercise.id: exercise.points for exercise in exercises_of(LESSON.name).exercises}


@pytest.fixture(scope="module")
def kernel() -> Iterator[Kernel]:
    with Kernel() as kernel:
        yield kernel


@pytest.fixture
def graded(kernel: Kernel, tmp_path: Path) -> Callable[..., Report]:
    def run(texts: dict[str, str], change: Callable[[NotebookNode], None] = lambda notebook: None) -> Report:
        notebook = filled(RELEASE, texts)
        change(notebook)
        path = tmp_path / "a name of my own.ipynb"
        nbformat.write(notebook, path)
        return grade_file(path, kernel)

    return run


def _reference(lesson: Lesson) -> dict[str, str]:
    return answers(read(ROOT / "source" / lesson.name / f"{lesson.notebook}.py"))


RIGHT = _reference(LESSON)


def _grade(kernel: Kernel, folder: Path, lesson: Lesson, texts: dict[str, str]) -> Report:
    path = folder / f"{lesson.notebook}.ipynb"
    nbformat.write(filled(nbformat.read(release_path(ROOT, lesson), as_version=4), texts), path)
    return grade_file(path, kernel)


def messages(report: Report) -> dict[str, str]:
    return {verdict.exercise: verdict.message for verdict in report.verdicts}


def statuses(report: Report) -> dict[str, str]:
    return {verdict.exercise: verdict.status for verdict in report.verdicts}


pytestmark = pytest.mark.bubblewrap


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_the_reference_answers_get_full_marks_and_the_written_question_waits(kernel, tmp_path, lesson):
    report = _grade(kernel, tmp_path, lesson, _reference(lesson) | {f"{lesson.number}.written": "In my own words."})
    points = {exercise.id: exercise.points for exercise in exercises_of(lesson.name).exercises}
    assert {v.exercise: v.score for v in report.verdicts if v.exercise in points} == points
    assert statuses(report)[f"{lesson.number}.written"] == "manual"
    assert report.flags == []


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_an_unfilled_lesson_gets_nothing(kernel, tmp_path, lesson):
    report = _grade(kernel, tmp_path, lesson, {})
    assert report.score == 0
    assert set(statuses(report).values()) == {"unanswered"}


def test_the_unfilled_notebook_gets_nothing(graded):
    report = graded({})
    assert report.score == 0
    assert set(statuses(report).values()) == {"unanswered"}
    assert "has not been filled in yet" in messages(report)["3.1"]
    assert 'raise NotImplementedError("3.1 value_add")' in messages(report)["3.1"]


def test_a_missing_name_is_named_with_what_to_do(graded):
    report = graded({**RIGHT, "3.9-solution": "def order_does_matter():\n    return {}\n"})
    message = messages(report)["3.9"]
    assert message.startswith("Exercise 3.9 needs order_matters")
    assert 'check("3.9", order_matters)' in message
    assert "Run the cell that defines order_matters" in message
    assert statuses(report)["3.9"] == "error"
    assert [id for id in POINTS if statuses(report)[id] != "passed"] == ["3.9"]


def test_a_class_without_backward_is_told_what_is_missing(graded):
    bare = "class Value:\n    def __init__(self, data):\n        self.data, self.grad = data, 0.0\n" + "".join(
        f"    def {name}(self, other):\n        return Value(0.0)\n    __r{name.strip('_')}__ = {name}\n"
        for name in ("__add__", "__mul__")
    )
    report = graded({**RIGHT, "3.1-solution": bare})
    message = messages(report)["3.1"]
    assert "3.1" in message and "backward" in message
    assert "Traceback" not in message


def test_an_exception_shows_the_students_own_line(graded):
    broken = "def value_add(r, s):\n    return r.data + undefined_thing\n\n\ndef value_mul(r, s):\n    return 1 / 0\n"
    report = graded({**RIGHT, "3.1-solution": broken})
    message = messages(report)["3.1"]
    assert "3.1" in message
    assert "return r.data + undefined_thing" in message or "return 1 / 0" in message
    assert "observe" not in message and "probe" not in message


def test_warnings_cost_nothing(graded):
    noisy = "import sys, warnings\nwarnings.warn('careful')\nprint('note', file=sys.stderr)\n" + RIGHT["3.0-solution"]
    assert graded({**RIGHT, "3.0-solution": noisy}).score == sum(POINTS.values())


def test_an_engine_that_calls_torch_is_flagged_for_the_instructor(graded):
    report = graded({**RIGHT, "3.4-solution": "import torch\n" + RIGHT["3.4-solution"]})
    assert any("torch" in flag and "3.4" in flag for flag in report.flags)


def test_nothing_active_of_a_students_reaches_the_pages_that_graders_open(kernel):
    """HTML in outputs and texts would run with the rights of whoever looks at it in the formgrader."""
    from autograder.grading import marking, seeds
    from autograder.grading.repair import repair

    show = "from IPython.display import HTML, display\ndisplay(HTML('<script>steal()</script>'))\nHTML('<b>x</b>')"
    notebook = filled(RELEASE, {"3.written": "If a<b then <script>steal()</script> <img src=x onerror=steal()>"})
    notebook.cells.append(nbformat.v4.new_code_cell(show))
    repaired = repair(notebook, RELEASE).notebook

    def seed(exercise):
        return seeds.rng(b"", "", LESSON.name, "", exercise)

    marking.put_outputs(repaired, kernel.run(marking.jobs(repaired, RELEASE, LESSON.name, seed)))
    marking.put_verdicts(repaired, RELEASE, LESSON.name, seed)
    released = {cell.source for cell in RELEASE.cells}
    for cell in repaired.cells:
        if cell.cell_type == "markdown" and cell.source not in released:
            assert "<script" not in cell.source and "<img" not in cell.source
        if cell.cell_type == "code" and not cell.metadata.get("nbgrader", {}).get("grade"):
            for output in cell.outputs:
                assert not {"text/html", "application/javascript", "image/svg+xml"} & output.get("data", {}).keys()


def test_the_same_file_is_marked_the_same_way_again(graded):
    texts = {**RIGHT, "3.1-solution": RIGHT["3.1-solution"].replace("+=", "=")}
    assert [v.to_json() for v in graded(texts).verdicts] == [v.to_json() for v in graded(texts).verdicts]


@pytest.mark.parametrize(
    ("content", "reason"),
    [("", "empty"), ("{", "not valid JSON"), ('{"cells": [], "nbformat": 4, "nbformat_minor": 5}', "no lesson")],
)
def test_a_file_that_cannot_be_graded_says_why(kernel, tmp_path, content, reason):
    path = tmp_path / "x.ipynb"
    path.write_text(content)
    with pytest.raises(CannotGrade, match=reason):
        grade_file(path, kernel)


def test_the_command_prints_the_documented_json_and_its_exit_status_tells(tmp_path):
    good, missing = tmp_path / "good.ipynb", tmp_path / "missing.ipynb"
    nbformat.write(filled(RELEASE, RIGHT), good)
    command = [sys.executable, "-m", "autograder", "grade", "--json"]
    done = subprocess.run([*command, str(good)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (report,) = json.loads(done.stdout)
    assert set(report) == {"notebook", "lesson", "score", "max_score", "flags", "exercises"}
    assert report["lesson"] == LESSON.name and report["score"] == sum(POINTS.values())
    for exercise in report["exercises"]:
        assert set(exercise) == {
            "id", "score", "max_score", "status", "misconceptions", "where", "message", "parts",
        }  # fmt: skip
        for part in exercise["parts"]:
            assert set(part) == {"name", "passed", "score", "max_score"}

    done = subprocess.run([*command, str(missing), str(good)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "there is no such file" in done.stderr
    assert len(json.loads(done.stdout)) == 1  # the other one was graded all the same


def executed(notebook: NotebookNode, folder: Path) -> NotebookNode:
    where = {"metadata": {"path": str(folder)}}  # `check` keeps its progress there
    NotebookClient(notebook, kernel_name="python3", timeout=120, allow_errors=True, resources=where).execute()
    return notebook


def said(notebook: NotebookNode, grade_id: str) -> str:
    (cell,) = (c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == grade_id)
    assert not any(output.output_type == "error" for output in cell.outputs)
    return "\n".join(output.get("data", {}).get("text/plain", "") + output.get("text", "") for output in cell.outputs)


def test_in_a_students_kernel_check_answers_at_once(tmp_path):
    """A wrong answer, a right one, an unfilled one and a missing name, in the classroom edition."""
    wrong = RIGHT["3.1-solution"].replace("+=", "=")
    notebook = filled(RELEASE, {"3.0-solution": RIGHT["3.0-solution"], "3.1-solution": wrong, "3.9-solution": "pass"})
    executed(notebook, tmp_path)
    assert "✓ 3.0" in said(notebook, "3_0")
    assert "further checks run at grading" in said(notebook, "3_0").lower()
    assert "You overwrote a gradient" in said(notebook, "3_1")
    assert "has not been filled in yet" in said(notebook, "3_3")
    assert "needs order_matters" in said(notebook, "3_9")
    assert (tmp_path / "progress.json").is_file()


@pytest.mark.parametrize(
    ("texts", "succeeds"), [({}, False), ({**RIGHT, "3.written": "Both factors."}, True)], ids=["unfilled", "right"]
)
def test_validate_tells_the_truth(tmp_path, texts, succeeds):
    path = tmp_path / f"{LESSON.notebook}.ipynb"
    noisy = {k: ("import warnings\nwarnings.warn('x')\n" + v if k == "3.0-solution" else v) for k, v in texts.items()}
    nbformat.write(filled(RELEASE, noisy), path)
    result = Validator().validate(str(path))
    assert ("failed" not in result) == succeeds, result
    if not succeeds:
        assert "3.1 unanswered" in json.dumps(result)
