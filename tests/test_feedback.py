"""Feedback of every lesson: a page for students with ids of every kind, with no model answer, rubric or check in it."""

from __future__ import annotations

import csv
import html
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbconvert import HTMLExporter
from nbgrader.apps import NbGraderAPI

from autograder.authoring import editions
from autograder.authoring.source import MARK_SCHEME, SOLUTION, read, regions
from autograder.evidence import EVIDENCE_MIME, VERDICT_MIME
from autograder.grading.batch import autograde
from autograder.grading.course import load_config, release_path
from autograder.lessons import LESSONS, Lesson
from tests.faults import all_faults

pytestmark = pytest.mark.bubblewrap
ROOT = Path(__file__).resolve().parents[1]
# Those that are no name (tests/faults), or that nbgrader takes for a pattern or a hidden file, get no feedback.
ODD = [
    f.student for f in all_faults().values() if f.student and not f.failed and not re.search(r"^\.|[*?\[]", f.student)
]
STUDENTS = {lesson.name: ODD if lesson is LESSONS[0] else ODD[:1] for lesson in LESSONS}


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Unfilled notebooks of every lesson, graded, with their feedback."""
    folder: Path = tmp_path_factory.mktemp("feedback") / "course"
    for name in ("source", "release"):
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy(ROOT / "nbgrader_config.py", folder)
    for lesson in LESSONS:
        for student in STUDENTS[lesson.name]:
            where = folder / "submitted" / student / lesson.name
            where.mkdir(parents=True)
            shutil.copy(release_path(ROOT, lesson), where)
        outcome = autograde(folder, lesson.name, workers=1)
        assert not outcome.failed and not outcome.flagged
        done = NbGraderAPI(config=load_config(folder)).generate_feedback(lesson.name)
        assert done["success"], done["log"]
    return folder


def text_of(page: str) -> str:
    """What can be read in a page or its source, in one line."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", page)).split())


def secrets_of(lesson: Lesson) -> list[str]:
    """Model answers: every line of a mark scheme, and every solution of more than one line, without its comments."""
    found = []
    for cell in read(ROOT / "source" / lesson.name / f"{lesson.notebook}.py").cells:
        lines = cell.source.split("\n")
        for region in regions(cell.source):
            own = [line.split("  #")[0].strip() for line in lines[region.begin + 1 : region.end]]
            own = [line for line in own if line and not line.startswith("#")]
            if region.name == MARK_SCHEME:
                found += [re.split(r"[*$`_\\]", line)[0][:60].strip("- ") for line in own]
            elif region.name == SOLUTION and len(own) > 1:
                found.append(" ".join(own))
    return [secret for secret in found if len(secret) > 20]


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_a_page_for_everybody_and_nothing_in_it_that_is_not_for_students(course: Path, lesson: Lesson) -> None:
    secrets = secrets_of(lesson)
    assert len(secrets) > 8
    for student in STUDENTS[lesson.name]:
        page = (course / "feedback" / student / lesson.name / f"{lesson.notebook}.html").read_text("utf-8")
        text = text_of(page)
        assert [secret for secret in secrets if secret in text] == []
        for word in (
            "HIDDEN TESTS",
            "MARK SCHEME",
            EVIDENCE_MIME,
            VERDICT_MIME,
            "import grade",
            str(course),
            str(ROOT),
        ):
            assert word not in page
        assert "has not been filled in yet" in text


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_model_answers_would_be_found_in_a_page_that_held_them(lesson: Lesson) -> None:
    source = read(ROOT / "source" / lesson.name / f"{lesson.notebook}.py")
    page, _ = HTMLExporter().from_notebook_node(nbformat.from_dict(editions.instructor(source, lesson.name)))
    secrets, text = secrets_of(lesson), text_of(page)
    assert sum(secret in text for secret in secrets) > 0.7 * len(secrets)  # comments stand between some lines


def test_nobodys_id_is_a_formula_in_an_export(course: Path) -> None:
    command = [sys.executable, "-m", "nbgrader", "export", "--exporter=autograder.grading.export.PlainExport"]
    subprocess.run(command, cwd=course, check=True, capture_output=True)
    with open(course / "marks.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert len(rows) == 1 + len(ODD) * len(LESSONS) and any("cmd" in cell for row in rows for cell in row)
    assert not [cell for row in rows for cell in row if cell.startswith(("=", "+", "-", "@"))]
