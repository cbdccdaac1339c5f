"""The ways in and out beside nbgrader: Gradescope, GitHub Classroom, ZIPs of Canvas and Moodle, late penalties."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import nbformat
import pytest
import yaml
from nbgrader.api import Gradebook

from autograder.authoring.source import read
from autograder.grading.course import release_path
from autograder.grading.demo import answers, filled
from autograder.grading.late import PerDay
from autograder.grading.other_graders import DID_NOT_RUN, NOTHING, classroom, gradescope
from autograder.lessons import find

ROOT = Path(__file__).resolve().parents[1]
LESSON = "3-reverse-mode"


def exercise(id: str, score: float, worth: float, status: str, message: str = "") -> dict:
    parts = [{"name": "tanh", "passed": score == worth, "score": score, "max_score": worth}]
    return {
        "id": id, "score": score, "max_score": worth, "status": status, "misconceptions": [], "where": None,
        "message": message, "parts": parts,
    }  # fmt: skip


REPORT = {
    "notebook": "x.ipynb", "lesson": LESSON, "score": 5.25, "max_score": 20, "flags": ["the cell 3.1 was missing"],
    "exercises": [
        exercise("3.1", 4, 4, "passed"),
        exercise("3.2", 1.25, 10, "partial", "tanh: look again.\n::error::not mine"),
        exercise("3.written", 0, 6, "manual", "A person will read this answer."),
    ],
}  # fmt: skip


# ---- Gradescope and GitHub Classroom ---------------------------------------------------------------------------------


def test_gradescope_gets_a_test_an_exercise_and_the_flags_out_of_the_students_sight():
    results = json.loads(gradescope([REPORT]))
    assert results["score"] == 5.25
    first, second, flags = results["tests"]
    assert (first["number"], first["score"], first["max_score"], first["status"]) == ("3.1", 4, 4, "passed")
    assert (second["score"], second["status"], second["visibility"]) == (1.25, "failed", "visible")
    assert "tanh: look again." in second["output"]
    assert flags["visibility"] == "hidden" and "missing" in flags["output"]
    assert sum(test.get("score", 0) for test in results["tests"]) == results["score"]


def test_classroom_gets_points_as_annotations_and_a_students_text_is_no_command():
    lines = classroom([REPORT]).splitlines()
    commands = [line for line in lines if line.startswith("::")]
    assert commands == [
        "::notice title=Autograding complete::Points 5.25/14",
        '::notice title=Autograding report::{"totalPoints": 5.25, "maxPoints": 14}',
    ]


def test_where_nothing_could_be_graded_both_say_so():
    assert json.loads(gradescope([])) == {"score": 0, "output": NOTHING, "tests": []}
    assert classroom([]).startswith("::error")


def test_where_the_grader_could_not_run_no_student_is_blamed():
    done = subprocess.run(
        [sys.executable, "-m", "autograder.grading.other_graders", "gradescope"],
        input="", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert json.loads(done.stdout) == {"score": 0, "output": DID_NOT_RUN, "tests": []}
    assert classroom(None) == f"::error title=Autograding::{DID_NOT_RUN}"


BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
PAGE = (ROOT / "docs" / "other-graders.md").read_text()
SETUP, RUN, WORKFLOW = (found[2] for found in BLOCK.finditer(PAGE) if found[1] in ("bash", "yaml"))


def container(folder: Path) -> Path:
    """Folders as both services lay them out: the course in course/, an environment in venv/."""
    for name in ("submission", "results", "venv/bin", "course/release"):
        (folder / name).mkdir(parents=True)
    shutil.copytree(ROOT / "release" / LESSON, folder / "course" / "release" / LESSON)
    shutil.copy(ROOT / "nbgrader_config.py", folder / "course")
    (folder / "venv" / "bin" / "activate").write_text(f'PATH="{Path(sys.executable).parent}:$PATH"\n')
    return folder


def notebook_at(path: Path) -> None:
    """A notebook in which 3.0 and 3.1 are right and the rest is empty."""
    right = answers(read(ROOT / "source" / LESSON / "reverse_mode.py"))
    release = nbformat.read(release_path(ROOT, find(LESSON)), as_version=4)
    nbformat.write(filled(release, {k: right[k] for k in ("3.0-solution", "3.1-solution")}), path)


def bash(script: str, folder: Path) -> str:
    done = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.bubblewrap
def test_gradescopes_script_in_the_docs_writes_results_json(tmp_path):
    """As it stands there, but for the place of /autograder: with a notebook of any name, and with none."""
    root = container(tmp_path / "autograder")
    script = RUN.replace("/autograder/", f"{root}/")
    assert script.count(str(root)) == 4
    bash(script, tmp_path)
    assert json.loads((root / "results" / "results.json").read_text())["output"] == NOTHING
    notebook_at(root / "submission" / "my homework (1).ipynb")
    bash(script, tmp_path)
    results = json.loads((root / "results" / "results.json").read_text())
    scores = {test["number"]: test["score"] for test in results["tests"] if "number" in test}
    assert scores["3.0"] == 4 and scores["3.1"] == 4 and scores["3.2"] == 0 and "3.written" not in scores
    assert results["score"] == sum(scores.values())


def test_gradescopes_set_up_in_the_docs_is_a_script_that_makes_what_the_other_one_uses():
    bash(f"bash -n <<'EOF'\n{SETUP}\nEOF", ROOT)
    for place in ("/autograder/course", "/autograder/venv"):
        assert place in SETUP and place in RUN


@pytest.mark.bubblewrap
def test_classrooms_last_step_in_the_docs_prints_points_as_annotations(tmp_path):
    root = container(tmp_path)
    notebook_at(root / "reverse_mode.ipynb")
    (job,) = yaml.safe_load(WORKFLOW)["jobs"].values()
    step = job["steps"][-1]
    said = bash(f"source venv/bin/activate; cd {step['working-directory']}\n{step['run']}", root)
    assert "3.1: 4 of 4. Right." in said
    assert said.splitlines()[-1].startswith("::notice title=Autograding report::{")


# ---- ZIPs of a learning management system ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("collect")
    shutil.copy(ROOT / "nbgrader_config.py", folder)
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # nbgrader starts alembic
    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}", "backward-pass") as gradebook:
        gradebook.add_student("ada", first_name="Ada", last_name="Lovelace", lms_user_id="101")
        gradebook.add_student("zoë müller", first_name="Zoë", last_name="Müller", email="zoe@example.org")
        gradebook.add_student("sking", first_name="Stephen", last_name="King")
    return folder


def collect(course: Path, names: list[str], *arguments: str) -> dict[str, list[str]]:
    """student → files, after nbgrader zip_collect of a ZIP with `names` in it."""
    for name in ("downloaded", "submitted"):
        shutil.rmtree(course / name, ignore_errors=True)
    archive = course / "downloaded" / LESSON / "archive"
    archive.mkdir(parents=True)
    with zipfile.ZipFile(archive / "submissions.zip", "w") as file:
        for name in names:
            file.writestr(name, "{}")
    command = [
        sys.executable,
        "-m",
        "nbgrader",
        "zip_collect",
        LESSON,
        "--collector=autograder.grading.collect.LmsCollector",
    ]
    done = subprocess.run([*command, *arguments], cwd=course, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {
        path.name: sorted(p.name for p in (path / LESSON).iterdir() if p.suffix == ".ipynb")
        for path in (course / "submitted").iterdir()
    }


def test_canvas_names_are_understood_by_number_by_name_and_by_roster(course):
    names = [
        "lovelaceada_101_9001_reverse_mode-2.ipynb",
        "kingstephen_LATE_102_9002_my notebook.ipynb",
        "mllerzo_103_9003_reverse_mode (1).ipynb",
        "nobody_999_9004_reverse_mode.ipynb",
        "kingstephen_LATE_102_9002_picture.png",
    ]
    without = collect(course, names)
    assert without == {"ada": ["reverse_mode.ipynb"], "sking": ["my notebook.ipynb"]}
    roster = course / "canvas.csv"
    with open(roster, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(
            [["Student", "ID", "SIS User ID", "SIS Login ID", "Section"], ["Müller, Zoë", "103", "", "zoë müller", "1"]]
        )
    found = collect(course, names, f"--LmsCollector.roster={roster}")
    assert found == {**without, "zoë müller": ["reverse_mode.ipynb"]}


def test_moodle_folders_and_flat_names_are_understood(course):
    roster = course / "worksheet.csv"
    with open(roster, "w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file).writerows(
            [["Identifier", "Full name", "Email address", "Status"], ["Participant 7002", "?", "zoe@example.org", ""]]
        )
    names = [
        "Ada Lovelace_7001_assignsubmission_file_/reverse_mode.ipynb",
        "Zoe M_7002_assignsubmission_file/Reverse_Mode.ipynb",
        "Stephen King_7003_assignsubmission_file_reverse_mode.ipynb",
        "Ada Lovelace_7001_assignsubmission_file_/__MACOSX/reverse_mode.ipynb",
    ]
    assert collect(course, names, f"--LmsCollector.roster={roster}") == {
        "ada": ["reverse_mode.ipynb"], "zoë müller": ["reverse_mode.ipynb"], "sking": ["reverse_mode.ipynb"],
    }  # fmt: skip


def test_what_a_student_calls_a_file_makes_nobody_elses_of_it(course):
    """Of these the system wrote the beginning: Stephen handed in all three, and the third could be Ada's as well."""
    names = [
        "kingstephen_102_9002_x_101_assignsubmission_file_reverse_mode.ipynb",
        "Stephen King_7003_assignsubmission_file_/Ada Lovelace_101_assignsubmission_file_/one.ipynb",
        "Stephen King_7003_assignsubmission_file_x_101_assignsubmission_file_two.ipynb",
    ]
    assert collect(course, names) == {"sking": ["one.ipynb", "x_101_assignsubmission_file_reverse_mode.ipynb"]}


# ---- Late penalties --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hours, lost", [(0, 0), (0.1, 0), (2.1, 2), (25, 2), (26.1, 4), (24 * 30, 20)])
def test_each_day_begun_after_the_grace_costs_its_share(hours, lost):
    assert PerDay(share=0.1, grace_hours=2).late_submission_penalty("ada", 20, hours * 3600) == pytest.approx(lost)
