"""`autograder doctor`: each part is found as it is, with its mend, and the exit status tells."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.grading import doctor
from autograder.grading.doctor import NOTE, OK, WRONG
from autograder.lessons import LESSONS

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A course folder as it is after a clone."""
    for name in ("nbgrader_config.py", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "release", tmp_path / "release")
    return tmp_path


def configure(folder: Path, line: str) -> None:
    with open(folder / "nbgrader_config.py", "a") as file:
        file.write(line + "\n")


def make_gradebook(folder: Path, version: str | None = None) -> Path:
    from nbgrader.api import Gradebook

    path = folder / "gradebook.db"
    with Gradebook(f"sqlite:///{path}", "backward-pass") as gradebook:
        gradebook.add_student("zoë")
    if version:
        with sqlite3.connect(path) as db:
            db.execute("update alembic_version set version_num = ?", (version,))
    return path


def test_a_course_without_gradebook_is_sound(folder):
    found = doctor.gradebook(folder)
    assert found.level == OK and "none yet" in found.says
    assert not (folder / "gradebook.db").exists()


def test_a_gradebook_is_opened_and_its_schema_compared(folder, monkeypatch):
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    path = make_gradebook(folder)
    found = doctor.gradebook(folder)
    assert found.level == OK and "students: 1" in found.says
    with sqlite3.connect(path) as db:
        db.execute("update alembic_version set version_num = '50a4d84c131a'")
    found = doctor.gradebook(folder)
    assert found.level == WRONG and "50a4d84c131a" in found.says and found.mend == "nbgrader db upgrade"


def test_a_file_that_is_no_gradebook_is_told_and_left_alone(folder):
    (folder / "gradebook.db").write_text("not a database, but long enough to have a header of its own")
    found = doctor.gradebook(folder)
    assert found.level == WRONG and "not a database" in found.says and found.mend
    assert (folder / "gradebook.db").read_text().startswith("not a database")


def test_an_unbuilt_lesson_is_named(folder):
    shutil.rmtree(folder / "release" / LESSONS[-1].name)
    found = doctor.lessons(folder)
    assert found.level == WRONG and LESSONS[-1].name in found.says and found.mend == "autograder build"


def test_instructors_notebooks_are_missed_but_not_needed(folder):
    assert doctor.lessons(folder).level == NOTE


def test_another_version_than_the_pinned_one_is_a_note(folder):
    pins = folder / "constraints.txt"
    pins.write_text("".join("numpy==1.0\n" if x.startswith("numpy==") else x + "\n" for x in pins.read_text().split()))
    found = doctor.packages(folder)
    assert found.level == NOTE and "numpy" in found.says and "(1.0)" in found.says


def test_a_package_that_is_missing_or_too_old_is_wrong(folder, monkeypatch):
    there = doctor._version
    monkeypatch.setattr(doctor, "_version", lambda name: {"tqdm": None, "numpy": "1.26"}.get(name, there(name)))
    found = doctor.packages(folder)
    assert found.level == WRONG and "tqdm is missing" in found.says and "numpy is 1.26" in found.says


def test_the_exchange_is_off_where_there_is_no_folder_and_must_be_open_to_all_where_there_is_one(folder):
    place = folder / "exchange"
    configure(folder, f"c.Exchange.root = {str(place)!r}")
    assert doctor.exchange(folder).level == NOTE
    place.mkdir()
    place.chmod(0o755)
    found = doctor.exchange(folder)
    assert found.level == WRONG and found.mend == f"sudo chmod 777 {place}"
    place.chmod(0o777)
    assert doctor.exchange(folder).level == OK


def test_alembic_is_looked_for_where_nbgrader_will(folder, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert doctor.alembic(folder).level == OK
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path))
    assert doctor.alembic(folder).level == WRONG


def test_what_cannot_be_examined_is_a_finding_too(folder):
    configure(folder, "1 / 0")
    found = {finding.part: finding for finding in doctor.examine(folder)}
    assert found["gradebook"].level == WRONG and "ZeroDivisionError" in found["gradebook"].says
    assert found["disk"].level in (OK, NOTE)


def test_nbgrader_from_another_environment_stops_instead_of_grading_without_a_sandbox(folder):
    program = "import sys; sys.modules['autograder'] = None; from nbgrader.apps.nbgraderapp import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, "autograde", "3-reverse-mode"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "Use the course's environment: source .venv/bin/activate" in done.stderr


@pytest.mark.parametrize("sandbox, level", [("bwrap", WRONG), ("none", NOTE)])
def test_without_bubblewrap_grading_stops_unless_the_course_says_none(folder, monkeypatch, sandbox, level):
    from autograder.grading import box

    configure(folder, f'c.Execute.sandbox = "{sandbox}"')
    monkeypatch.setattr(box.shutil, "which", lambda *args, **more: None)
    found = doctor.box(folder)
    assert found.level == level and "Install it" in found.mend


@pytest.mark.bubblewrap
def test_the_exit_status_tells(folder):
    command = [sys.executable, "-m", "autograder", "doctor"]
    sound = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert sound.returncode == 0, sound.stdout
    assert "a cell ran in one" in sound.stdout
    shown = (ROOT / "docs" / "instructors.md").read_text("utf-8").split("$ autograder doctor\n")[1].split("```")[0]
    parts = [re.findall(r"^\S (.+?):", text, re.MULTILINE) for text in (shown, sound.stdout)]
    assert parts[0] == parts[1]  # what is said of them depends on the machine
    (folder / "gradebook.db").write_text("no database" * 100)
    configure(folder, 'c.Execute.sandbox = "none"')
    ill = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert ill.returncode == 1 and "✗ gradebook" in ill.stdout and not ill.stderr
    assert "– sandbox: works here, and is switched off" in ill.stdout
