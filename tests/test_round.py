"""The classroom round with stock nbgrader commands: a class hands in, is graded in boxes, and gets its feedback."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import nbformat
import pytest

from autograder.evidence import EVIDENCE_MIME, VERDICT_MIME
from autograder.exercises import exercises_of
from autograder.grading.batch import autograde
from autograder.grading.demo import LESSON, make_course, mark_written, nbgrader, open_gradebook
from autograder.lessons import find, tag_of

pytestmark = pytest.mark.bubblewrap
ROOT = Path(__file__).resolve().parents[1]
NOTEBOOK = find(LESSON).notebook
POINTS = {exercise.id: exercise.points for exercise in exercises_of(LESSON).exercises}


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's class, graded by stock nbgrader with the course's configuration."""
    folder: Path = tmp_path_factory.mktemp("round") / "course"
    make_course(folder, ROOT)
    nbgrader(folder, "autograde", LESSON, "--Execute.seconds_per_cell=3")
    mark_written(folder, "ada")
    nbgrader(folder, "generate_feedback", LESSON)
    nbgrader(folder, "export")
    return folder


@pytest.fixture(scope="module")
def verdicts(course: Path) -> dict[str, dict[str, dict]]:
    """student -> exercise -> verdict, as the autograded notebooks hold them."""
    found: dict[str, dict[str, dict]] = {}
    for path in course.glob(f"autograded/*/{LESSON}/*.ipynb"):
        cells = nbformat.read(path, as_version=4).cells
        data = [o["data"] for c in cells for o in c.get("outputs", []) if VERDICT_MIME in o.get("data", {})]
        found[path.parts[-3]] = {d[VERDICT_MIME]["exercise"]: d[VERDICT_MIME] for d in data}
    return found


def marks(course: Path) -> dict[str, dict[str, float]]:
    with open_gradebook(course) as gradebook:
        return {
            submission.student.id: {tag_of(g.name): g.auto_score for n in submission.notebooks for g in n.grades}
            for submission in gradebook.assignment_submissions(LESSON)
        }


def test_right_answers_in_three_styles_get_full_marks(course):
    for student in ("ada", "blaise", "chen"):
        assert {id: marks(course)[student][id] for id in POINTS} == POINTS, student


def test_an_unfilled_notebook_gets_nothing_and_is_called_unanswered(course, verdicts):
    assert all(score == 0 for score in marks(course)["emil"].values())
    assert {verdict["status"] for verdict in verdicts["emil"].values()} == {"unanswered"}


@pytest.mark.parametrize(
    ("student", "exercise", "misconception"),
    [("fatima", "3.1", "overwrites-gradient"), ("grace", "3.2", "tanh-one-minus"), ("hiro", "3.4", "recursion-fires-every-path")],
)  # fmt: skip
def test_a_misconception_is_named(verdicts, student, exercise, misconception):
    assert verdicts[student][exercise]["misconceptions"] == [misconception]
    assert verdicts[student][exercise]["status"] == "partial"


def test_an_endless_loop_costs_its_own_exercise_alone(course, verdicts):
    assert {id: marks(course)["ines"][id] for id in POINTS} == {**POINTS, "3.10": 0}
    assert "timed out after 3 s" in verdicts["ines"]["3.10"]["message"]
    assert flagged(course)["ines"]


def flagged(course: Path) -> dict[str, bool]:
    with open_gradebook(course) as gradebook:
        return {
            submission.student.id: any(notebook.flagged for notebook in submission.notebooks)
            for submission in gradebook.assignment_submissions(LESSON)
        }


def test_an_attempt_on_the_neighbours_marks_changes_nothing(course, verdicts):
    """What jonas got right is kept; nobody else's notebook or mark is touched."""
    assert marks(course)["jonas"]["3.1"] == POINTS["3.1"]
    for path in course.glob(f"submitted/*/{LESSON}/*.ipynb"):
        assert len(nbformat.read(path, as_version=4).cells) > 50
    cells = nbformat.read(course / "autograded" / "jonas" / LESSON / f"{NOTEBOOK}.ipynb", as_version=4).cells
    said = "".join(o.get("text", "") for c in cells for o in c.get("outputs", []))
    assert "unable to open database file" in said or "no such table" in said
    assert "neighbours:" in said and "submitted" not in said and "ada" not in said


def test_good_submissions_are_not_flagged(course):
    assert [student for student, flag in flagged(course).items() if flag] == ["ines", "jonas"]


def test_a_written_answer_waits_for_a_person_unless_it_is_unchanged(course):
    with open_gradebook(course) as gradebook:
        waits = {
            s.student.id: gradebook.find_grade("3_written", NOTEBOOK, LESSON, s.student.id).needs_manual_grade
            for s in gradebook.assignment_submissions(LESSON)
        }
        assert gradebook.find_grade("3_written", NOTEBOOK, LESSON, "ada").score == 4.0
        rubric = gradebook.find_grade("3_written-rubric", NOTEBOOK, LESSON, "blaise")
        assert not rubric.needs_manual_grade
    assert waits["blaise"] and not waits["ada"] and not waits["emil"]
    assert marks(course)["emil"]["3.written"] == 0


def test_feedback_shows_cards_and_nothing_that_is_not_for_students(course):
    for path in course.glob(f"feedback/*/{LESSON}/*.html"):
        page = path.read_text()
        for secret in (
            "BEGIN HIDDEN",
            "MARK SCHEME",
            EVIDENCE_MIME,
            VERDICT_MIME,
            str(ROOT),
            str(course),
            "grade(&quot;",
        ):
            assert secret not in page, (path, secret)
    page = (course / "feedback" / "fatima" / LESSON / f"{NOTEBOOK}.html").read_text()
    assert "You overwrote a gradient" in page
    assert "<svg" in page
    ada = (course / "feedback" / "ada" / LESSON / f"{NOTEBOOK}.html").read_text()
    assert "The derivation of the diamond" in ada  # the grader's comment


def test_export_lists_every_student(course):
    rows = (course / "grades.csv").read_text().splitlines()
    assert len(rows) == 11


def test_grading_the_same_file_again_gives_the_same_notebook(course, tmp_path):
    path = course / "autograded" / "fatima" / LESSON / f"{NOTEBOOK}.ipynb"
    before = path.read_bytes()
    nbgrader(course, "autograde", LESSON, "--student=fatima", "--force", "--Execute.seconds_per_cell=3")
    assert path.read_bytes() == before


TABLES = {  # everything in the gradebook that is no primary key and no reference to one
    "grades": """select s.id, b.name, g.auto_score, g.manual_score, g.extra_credit, g.needs_manual_grade
        from grade g join submitted_notebook n on g.notebook_id = n.id join submitted_assignment a on n.assignment_id = a.id
        join student s on a.student_id = s.id join base_cell b on g.cell_id = b.id order by 1, 2""",
    "comments": """select s.id, b.name, c.auto_comment, c.manual_comment
        from comment c join submitted_notebook n on c.notebook_id = n.id join submitted_assignment a on n.assignment_id = a.id
        join student s on a.student_id = s.id join base_cell b on c.cell_id = b.id order by 1, 2""",
    "notebooks": """select s.id, n.flagged, n.late_submission_penalty, a.timestamp, a.extension
        from submitted_notebook n join submitted_assignment a on n.assignment_id = a.id
        join student s on a.student_id = s.id order by 1""",
    "students": "select id, first_name, last_name, email, lms_user_id from student order by 1",
}


def contents(course: Path) -> dict[str, list]:
    with sqlite3.connect(course / "gradebook.db") as db:
        return {name: db.execute(query).fetchall() for name, query in TABLES.items()}


@pytest.mark.parametrize("workers", [1, 3])
def test_the_class_run_leaves_the_gradebook_that_stock_nbgrader_leaves(course, tmp_path, workers):
    other = tmp_path / "course"
    shutil.copytree(course, other, ignore=shutil.ignore_patterns("gradebook.db", "autograded", "feedback"))
    config = other / "nbgrader_config.py"
    config.write_text(config.read_text().replace("seconds_per_cell = 10.0", "seconds_per_cell = 3.0"))
    outcome = autograde(other, LESSON, workers=workers)
    assert sorted(outcome.graded) == sorted(marks(course)) and not outcome.failed
    mark_written(other, "ada")
    ours, stock = contents(other), contents(course)
    for table in TABLES:
        assert ours[table] == stock[table], table

    again = autograde(other, LESSON, workers=workers)
    assert again.graded == [] and len(again.unchanged) == 10
