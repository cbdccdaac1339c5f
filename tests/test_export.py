"""Exports: what Canvas and Moodle gave comes back filled in, nothing in it is a formula, and every format can be read."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbgrader.api import Gradebook

from autograder.grading import export
from autograder.grading.export import CanvasExport, ExportError, JsonExport, MoodleExport, PlainExport
from autograder.grading.marks import marks_of

ROOT = Path(__file__).resolve().parents[1]
LESSON, TITLE = "3-reverse-mode", "Reverse mode: the backward pass"
STUDENTS = {  # id: first name, last name, email, lms_user_id, points of 3.1 and 3.2 (None: handed nothing in)
    "zoë müller": ("Zoë", "Müller", "zoe@example.org", "101", (4, 7.5)),
    "sking": ("Stephen", "King, Jr.", "SK@example.org", "102", (4, 10)),
    "obrien": ('Seán "Shay"', "O'Brien", "ob@example.org", "", (1, 2 / 3)),
    "明": ("明", "李", "", "104", (0, 0)),
    '=cmd|"/c calc"!A1': ("=1+1", "@SUM(A1)", "+x@example.org", "", (2, 3)),
    "absent": ("Nobody", "-There", "n@example.org", "106", None),
}
MARKS = {"zoë müller": "11.5", "sking": "14", "obrien": "1.67", "明": "0", '=cmd|"/c calc"!A1': "5", "absent": ""}


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("export")
    shutil.copy(ROOT / "nbgrader_config.py", folder)
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # nbgrader starts alembic
    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}", "backward-pass") as gradebook:
        gradebook.add_assignment(LESSON, duedate="2027-02-05 17:00:00 UTC")
        gradebook.add_notebook("reverse_mode", LESSON)
        for name, worth in (("3_1", 4), ("3_2", 10), ("3_written", 6)):
            kind = "markdown" if name == "3_written" else "code"
            gradebook.add_grade_cell(name, "reverse_mode", LESSON, max_score=worth, cell_type=kind)
        for id, (first, last, email, lms, scores) in STUDENTS.items():
            gradebook.add_student(id, first_name=first, last_name=last, email=email, lms_user_id=lms or None)
            if scores:
                gradebook.add_submission(LESSON, id, timestamp="2027-02-05 16:00:00 UTC")
                for name, score in zip(("3_1", "3_2"), scores, strict=True):
                    grade = gradebook.find_grade(name, "reverse_mode", LESSON, id)
                    grade.auto_score, grade.needs_manual_grade = score, False
                gradebook.find_grade("3_written", "reverse_mode", LESSON, id).needs_manual_grade = id == "sking"
        gradebook.db.commit()
    return folder


@pytest.fixture
def gradebook(course: Path):
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}", "backward-pass") as opened:
        yield opened


def table(path: Path) -> list[list[str]]:
    with open(path, encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


def run(kind, gradebook, tmp_path: Path, **settings) -> Path:
    plugin = kind(**settings)
    plugin.to = str(tmp_path / "out")
    plugin.export(gradebook)
    return tmp_path / "out"


# ---- Formulas ------------------------------------------------------------------------------------------------------


@given(st.text())
def test_no_text_is_a_formula_and_all_of_it_is_still_there(text):
    safe = export.harmless(text)
    assert not safe.startswith(("=", "+", "-", "@", "\t", "\r"))
    assert safe.removeprefix("'") == text.removeprefix("'")


@given(st.floats(0, 1e6))
def test_points_are_plain_numbers_of_two_digits(score):
    text = export.points(score)
    assert abs(float(text) - score) <= 0.005 + 1e-9 * score and "e" not in text


@pytest.mark.parametrize("kind", [PlainExport, MoodleExport])
def test_ids_and_names_like_formulas_are_defused_and_numbers_stay_numbers(kind, gradebook, tmp_path):
    rows = table(run(kind, gradebook, tmp_path))
    cells = [cell for row in rows for cell in row]
    assert '\'=cmd|"/c calc"!A1' in cells and "'@SUM(A1)" in cells and "'-There" in cells
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]


# ---- Plain ---------------------------------------------------------------------------------------------------------


def test_plain_csv_has_nbgraders_columns_and_every_student(gradebook, tmp_path):
    rows = table(run(PlainExport, gradebook, tmp_path))
    assert rows[0][:11] == [
        "assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email", "raw_score",
        "late_submission_penalty", "score", "max_score",
    ]  # fmt: skip
    by_id = {row[3]: dict(zip(rows[0], row, strict=True)) for row in rows[1:]}
    assert by_id.keys() == {export.harmless(id) for id in STUDENTS}
    assert by_id["sking"]["last_name"] == "King, Jr." and by_id["obrien"]["first_name"] == 'Seán "Shay"'
    assert {id: by_id[export.harmless(id)]["score"] for id in MARKS} == {**MARKS, "absent": "0"}
    assert by_id["sking"]["needs_manual_grade"] == "1" and by_id["sking"]["max_score"] == "20"


def test_json_has_the_points_of_each_exercise(gradebook, tmp_path):
    (data,) = json.loads(run(JsonExport, gradebook, tmp_path).read_text(encoding="utf-8"))
    assert data["exercises"] == {"3.1": 4, "3.2": 10, "3.written": 6}
    by_id = {student["id"]: student for student in data["students"]}
    assert by_id["zoë müller"]["scores"] == {"3.1": 4, "3.2": 7.5, "3.written": 0}
    assert by_id['=cmd|"/c calc"!A1']["first_name"] == "=1+1"  # JSON has no formulas
    assert not by_id["absent"]["handed_in"] and by_id["sking"]["needs_manual_grade"] == ["3.written"]


def test_late_penalties_extensions_and_marks_by_hand_count(gradebook, tmp_path):
    submission = gradebook.find_submission(LESSON, "sking")
    submission.notebooks[0].late_submission_penalty = 3
    gradebook.find_grade("3_written", "reverse_mode", LESSON, "sking").manual_score = 5.5
    gradebook.find_grade("3_2", "reverse_mode", LESSON, "sking").manual_score = 9
    gradebook.find_grade("3_1", "reverse_mode", LESSON, "sking").extra_credit = 1
    gradebook.db.flush()
    try:
        (mark,) = (m for m in marks_of(gradebook, LESSON).students if m.student == "sking")
        assert (mark.raw_score, mark.penalty, mark.score) == (4 + 1 + 9 + 5.5, 3, 16.5)
        assert mark.raw_score == submission.score  # as nbgrader counts
    finally:
        gradebook.db.rollback()


# ---- Canvas --------------------------------------------------------------------------------------------------------

CANVAS_HEADER = [
    "Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Essay (88)", f"{TITLE} (123456)",
    "Assignments Current Points", "Current Score",
]  # fmt: skip
CANVAS_ROWS = [
    ["", "", "", "", "", "Manual Posting", "", "(read only)", "(read only)"],
    ["    Points Possible", "", "", "", "", "10.0", "20.0", "(read only)", "(read only)"],
    ["Müller, Zoë", "101", "U1", "zoë müller", "Section 1, Mon", "8", "", "8", "80"],
    ["King, Jr., Stephen", "102", "U2", "SKing", "Section 1, Mon", "", "", "", ""],
    ['O\'Brien, Seán "Shay"', "103", "U3", "ob@example.org", "S2", "-", "3", "", ""],
    ["李, 明", "104", "U4", "ming", "S2", "", "", "", ""],
    ["=HYPERLINK(1)", "105", "U5", "stranger", "S2", "7", "6", "", ""],
    ["There, Nobody", "106", "U6", "absent", "S2", "", "", "", ""],
    ["Student, Test", "999", "", "sking", "S2", "", "", "", ""],
]


def canvas_file(folder: Path, delimiter: str = ",", bom: bool = False) -> Path:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows([CANVAS_HEADER, *CANVAS_ROWS])
    path = folder / "canvas.csv"
    path.write_bytes(text.getvalue().encode("utf-8-sig" if bom else "utf-8"))
    return path


def test_canvas_gets_its_own_file_back_with_one_column_filled(gradebook, tmp_path):
    out = table(run(CanvasExport, gradebook, tmp_path, file=str(canvas_file(tmp_path))))
    assert out[0] == CANVAS_HEADER
    place = 6
    for before, after in zip(CANVAS_ROWS, out[1:], strict=True):
        assert after[1:place] + after[place + 1 :] == before[1:place] + before[place + 1 :]
        assert after[0] == export.harmless(before[0])
    filled = {row[3]: row[place] for row in out[1:]}
    # found by login, by login in other capitals, by email, by Canvas's own number; who is unknown or absent stays
    assert [row[place] for row in out[3:]] == ["11.5", "14", "1.67", "0", "6", "", ""]
    assert filled["stranger"] == "6"
    assert out[1][place] == "" and out[2][place] == "20.0"


def test_absent_students_get_a_zero_where_that_is_asked(gradebook, tmp_path):
    out = table(run(CanvasExport, gradebook, tmp_path, file=str(canvas_file(tmp_path)), absent="0"))
    assert [row[6] for row in out[3:]] == ["11.5", "14", "1.67", "0", "6", "0", ""]


def test_a_byte_order_mark_and_semicolons_stay(gradebook, tmp_path):
    path = run(CanvasExport, gradebook, tmp_path, file=str(canvas_file(tmp_path, ";", bom=True)))
    content = path.read_bytes()
    assert content.startswith(b"\xef\xbb\xbf")
    assert content.decode("utf-8-sig").split("\r\n")[0] == ";".join(CANVAS_HEADER)


def test_a_column_of_another_name_can_be_named_and_a_missing_one_is_said(gradebook, tmp_path):
    path = canvas_file(tmp_path)
    out = table(run(CanvasExport, gradebook, tmp_path, file=str(path), column="Essay"))
    assert out[3][5] == "11.5" and out[3][6] == ""
    with pytest.raises(ExportError, match="no column for Quiz"):
        run(CanvasExport, gradebook, tmp_path, file=str(path), column="Quiz")
    with pytest.raises(ExportError, match="no such file"):
        run(CanvasExport, gradebook, tmp_path, file=str(tmp_path / "nothing.csv"))


# ---- Moodle --------------------------------------------------------------------------------------------------------


def test_moodles_import_table_has_the_columns_that_moodle_maps(gradebook, tmp_path):
    rows = table(run(MoodleExport, gradebook, tmp_path))
    assert rows[0] == ["Username", "First name", "Last name", "ID number", "Email address", TITLE]
    by_name = {row[0].removeprefix("'"): row for row in rows[1:]}
    assert {id: by_name[id][5] for id in MARKS} == MARKS
    assert by_name["明"][3] == "104" and by_name["obrien"][3] == "obrien"


def test_a_grading_worksheet_of_moodle_is_filled(gradebook, tmp_path):
    header = ["Identifier", "Full name", "Email address", "Status", "Grade", "Maximum Grade", "Grade can be changed",
              "Last modified (grade)", "Feedback comments"]  # fmt: skip
    rows = [
        [
            "Participant 7",
            "Zoë Müller",
            "ZOE@example.org",
            "Submitted, for grading",
            "",
            "20.00",
            "Yes",
            "-",
            "Good, but",
        ],
        ["Participant 8", "@evil", "other@example.org", "", "3", "20.00", "Yes", "-", ""],
    ]
    path = tmp_path / "worksheet.csv"
    with open(path, "w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    out = table(run(MoodleExport, gradebook, tmp_path, file=str(path)))
    assert out[0] == header
    assert out[1] == [*rows[0][:4], "11.5", *rows[0][5:]]
    assert out[2] == ["Participant 8", "'@evil", *rows[1][2:]]


def test_a_grade_export_of_moodle_is_filled(gradebook, tmp_path):
    path = tmp_path / "grades.csv"
    header = [
        "First name",
        "Last name",
        "ID number",
        "Email address",
        f"Assignment: {TITLE} (Real)",
        "Course total (Real)",
    ]
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, ["Stephen", "King, Jr.", "sking", "", "-", "12"]])
    out = table(run(MoodleExport, gradebook, tmp_path, file=str(path)))
    assert out == [header, ["Stephen", "King, Jr.", "sking", "", "14", "12"]]


# ---- With nbgrader's own command -----------------------------------------------------------------------------------


def nbgrader_export(course: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "nbgrader", "export", *arguments]
    return subprocess.run(command, cwd=course, capture_output=True, text=True, check=False)


def test_nbgrader_export_takes_the_exporters_by_name(course, tmp_path):
    canvas = canvas_file(tmp_path)
    done = nbgrader_export(
        course, "--exporter=autograder.grading.export.CanvasExport", f"--CanvasExport.file={canvas}",
        f"--to={tmp_path / 'filled.csv'}", f"--assignment={LESSON}",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert [row[6] for row in table(tmp_path / "filled.csv")[3:]] == ["11.5", "14", "1.67", "0", "6", "", ""]
    assert "not in" in done.stderr and "=cmd" in done.stderr


def test_an_export_that_cannot_be_made_says_why_without_a_traceback(course):
    done = nbgrader_export(course, "--exporter=autograder.grading.export.CanvasExport")
    assert done.returncode == 1
    assert "Export the gradebook in Canvas first" in done.stderr and "Traceback" not in done.stderr
