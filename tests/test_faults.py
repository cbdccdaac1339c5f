"""Every fault in tests/faults/, graded as one class among good submissions: each has its exact outcome, the good keep theirs."""

from __future__ import annotations

import json
import os
import re
import shutil
from html import unescape
from pathlib import Path

import nbformat
import pytest
from nbconvert import HTMLExporter

from autograder.authoring.source import read
from autograder.evidence import EVIDENCE_MIME, VERDICT_MIME
from autograder.grading.batch import Outcome, autograde, printable
from autograder.grading.course import release_path
from autograder.grading.demo import CLOSURES, LESSON, TABLES, _own_engine, answers, filled, open_gradebook
from autograder.grading.repair import NOTES_ID
from autograder.lessons import find, tag_of
from tests.faults import NAME, POINTS, SECONDS, Fault, Hand, all_faults

pytestmark = pytest.mark.bubblewrap
ROOT = Path(__file__).resolve().parents[1]
FAULTS = all_faults()
GOOD = ("a good one", "m-good", "z-good")
STUDENTS = {name: fault.student or name for name, fault in FAULTS.items()}


def lesson_in(folder: Path) -> None:
    """A course with lesson 3 and nobody in it."""
    lesson = find(LESSON)
    for where in ("source", "release"):
        (folder / where / lesson.name).mkdir(parents=True)
    shutil.copy(release_path(ROOT, lesson), folder / "release" / lesson.name)
    shutil.copy(ROOT / "source" / lesson.name / f"{lesson.notebook}.py", folder / "source" / lesson.name)
    config = (ROOT / "nbgrader_config.py").read_text()
    assert "seconds_per_cell = 10.0" in config
    (folder / "nbgrader_config.py").write_text(
        config.replace("seconds_per_cell = 10.0", f"seconds_per_cell = {SECONDS}")
        + "c.Execute.seconds_total = 40.0\nc.Execute.memory_bytes = 500 << 20\n"
    )


def hand_in(folder: Path, student: str, fault: Fault | None, texts: dict[str, str]) -> None:
    where = folder / "submitted" / student / LESSON
    where.mkdir(parents=True)
    hand = Hand(where, filled(nbformat.read(release_path(ROOT, find(LESSON)), as_version=4), texts))
    made = fault.make(hand) if fault else None
    if made is not True:
        hand.write(made or None if not isinstance(made, bytes) else made)


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Outcome]:
    folder: Path = tmp_path_factory.mktemp("faults") / "course"
    lesson_in(folder)
    right = answers(read(ROOT / "source" / LESSON / NAME.replace(".ipynb", ".py")))
    styles = (right, _own_engine(right, CLOSURES), _own_engine(right, TABLES))
    for student, texts in zip(GOOD, styles, strict=True):
        hand_in(folder, student, None, texts)
    only = os.environ.get("FAULTS")
    for name, fault in FAULTS.items():
        if not only or name in only.split(","):
            hand_in(folder, STUDENTS[name], fault, right)
    return folder, autograde(folder, LESSON, workers=2)


@pytest.fixture(scope="module")
def marks(course: tuple[Path, Outcome]) -> dict[str, dict[str, float]]:
    with open_gradebook(course[0]) as gradebook:
        return {
            submission.student.id: {
                tag_of(g.name): g.auto_score for n in submission.notebooks for g in n.grades if tag_of(g.name) in POINTS
            }
            for submission in gradebook.assignment_submissions(LESSON)
        }


def graded(course: tuple[Path, Outcome], student: str) -> nbformat.NotebookNode:
    return nbformat.read(course[0] / "autograded" / student / LESSON / NAME, as_version=4)


@pytest.mark.parametrize("student", GOOD)
def test_a_good_submission_among_them_keeps_full_marks(course, marks, student):
    assert marks[student] == POINTS
    assert student not in course[1].flagged and student not in course[1].failed


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_has_its_exact_outcome(course, marks, name):
    fault, student = FAULTS[name], STUDENTS[name]
    if fault.failed:
        assert fault.failed in course[1].failed[printable(student)]
        return
    notebook = graded(course, student)
    nbformat.validate(notebook)
    cells = [c for c in notebook.cells if c.cell_type == "code"]
    verdicts = {
        o["data"][VERDICT_MIME]["exercise"]: o["data"][VERDICT_MIME]
        for c in cells
        for o in c.outputs
        if VERDICT_MIME in o.get("data", {})
    }
    flags = list(notebook.metadata["autograder"]["flags"])
    seen = {id: x for id, x in marks[student].items() if x != POINTS[id]}
    told = {id: verdicts[id]["message"] for id in {*seen, *fault.says}}
    assert seen == dict(fault.marks), (seen, flags, told)
    assert len(flags) == len(fault.flags) and all(
        part in flag for part, flag in zip(fault.flags, flags, strict=True)
    ), flags
    for exercise, part in fault.says.items():
        assert part in told[exercise], told
    shown = "".join(str(o.get("text", "")) + str(o.get("evalue", "")) for c in cells for o in c.outputs)
    for part in fault.shows:
        assert part in shown, shown[-2000:]
    ours = [o["data"]["text/html"] for c in cells for o in c.outputs if VERDICT_MIME in o.get("data", {})]
    ours += [c.source for c in notebook.cells if c.id == NOTES_ID]
    ours += [json.dumps([o.get("metadata"), o.get("data", {}).get("text/latex")]) for c in cells for o in c.outputs]
    for part in fault.never:
        assert part not in shown + "".join(ours)
    assert EVIDENCE_MIME not in json.dumps([c.outputs for c in cells])
    assert all(len(verdict["message"]) < 10_000 for verdict in verdicts.values())


@pytest.mark.parametrize(
    "name", ["pasted_picture_that_is_gone", "markdown_that_takes_hours", "error_named_as_a_picture", "links_that_act"]
)
def test_a_page_for_the_grader_can_be_made(course, name):
    """What the formgrader and the feedback show; one that cannot be made stops there."""
    page, _ = HTMLExporter(template_name="classic").from_notebook_node(graded(course, STUDENTS[name]))
    assert ("data:image/png;base64,iVBORw0KGgo=" in page) == (name == "pasted_picture_that_is_gone")
    assert ('href="https://example.org"' in page) == (name == "links_that_act")
    links = [re.sub(r"[\0-\x20]", "", unescape(link)).lower() for link in re.findall('href="([^"]*)"', page)]
    assert not [link for link in links if link.startswith(("javascript:", "data:"))]
    for active in ('src="y', 'src="//elsewhere', "attachment:a", "\\style{", "\\class{", "\\cssId{", "\\bbox["):
        assert active not in page


def test_the_run_ends_with_everybody_in_it(course):
    folder, outcome = course
    expected = {f for f in os.listdir(folder / "submitted")}
    assert len(outcome.graded) + len(outcome.failed) == len(expected)
    assert set(outcome.failed) == {printable(STUDENTS[name]) for name, fault in FAULTS.items() if fault.failed}
    assert not outcome.unchanged


def test_nothing_is_left_behind(course):
    """No process of a submission's, no file beside the course."""
    alive = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            alive.append(Path(f"/proc/{pid}/cmdline").read_text(errors="replace"))
        except OSError:
            continue
    assert not [line for line in alive if "left-behind-by-a-fault" in line]
    assert sorted(p.name for p in course[0].iterdir()) == [
        ".autograder", "autograded", "gradebook.db", "nbgrader_config.py", "release", "source", "submitted",
    ]  # fmt: skip
    assert not [p for p in course[0].rglob("*") if p.name.startswith(".reverse_mode")]


def test_what_nobody_changed_is_not_graded_again(course):
    some = ["m-good", "endless_loop", STUDENTS["id_with_spaces"], "cells_doubled"]
    again = autograde(course[0], LESSON, students=some, workers=1)
    assert not again.graded and sorted(again.unchanged) == sorted(some)
