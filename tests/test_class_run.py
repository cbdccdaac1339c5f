"""`autograder autograde`: what is wrong with a course is said with the next step, and no interruption loses a mark."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
import pytest
from typer.testing import CliRunner

from autograder.cli import app
from autograder.grading.batch import autograde
from autograder.grading.course import release_path
from autograder.grading.demo import LESSON, filled
from autograder.lessons import find
from tests.faults import NAME
from tests.test_faults import lesson_in

pytestmark = pytest.mark.bubblewrap
ROOT = Path(__file__).resolve().parents[1]
ONE_RIGHT = 'def my_prediction():\n    return {"passes": [6, 12, 18], "detached": 3}\n'
COMMAND = [sys.executable, "-c", "from autograder.cli import main; main()", "autograde", LESSON, "--workers", "1"]


def hand_in(course: Path, *students: str, texts: dict[str, str] | None = None) -> None:
    release = nbformat.read(release_path(ROOT, find(LESSON)), as_version=4)
    for student in students:
        path = course / "submitted" / student / LESSON / NAME
        path.parent.mkdir(parents=True)
        nbformat.write(filled(release, texts or {"3.11-solution": ONE_RIGHT}), path)


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course whose gradebook knows lesson 3 and one student."""
    folder: Path = tmp_path_factory.mktemp("known") / "course"
    lesson_in(folder)
    hand_in(folder, "ada")
    autograde(folder, LESSON, workers=1)
    return folder


@pytest.fixture
def course(known: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, in which the command is run."""
    folder = tmp_path / "course"
    shutil.copytree(known, folder)
    monkeypatch.chdir(folder)
    return folder


def run(*arguments: str, lesson: str = LESSON) -> tuple[int, str]:
    """Exit status and what was said on stderr; no traceback is ever said."""
    result = CliRunner().invoke(app, ["autograde", lesson, "--workers", "1", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert "Traceback" not in result.output
    return result.exit_code, result.stderr


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def scores(course: Path) -> dict[str, float]:
    with sqlite3.connect(course / "gradebook.db") as db:
        return dict(
            db.execute(
                """select a.student_id, sum(g.auto_score) from grade g join submitted_notebook n on g.notebook_id = n.id
                join submitted_assignment a on n.assignment_id = a.id group by a.student_id"""
            )
        )


def whole(course: Path) -> list[str]:
    """The students with an autograded notebook; each is a whole one, and no part of another lies about."""
    found = []
    for path in course.glob(f"autograded/*/{LESSON}/*"):
        nbformat.validate(nbformat.read(path, as_version=4))
        assert path.name == NAME
        found.append(path.parts[-3])
    return sorted(found)


def _no_submissions(course: Path) -> None:
    shutil.rmtree(course / "submitted")


def _not_built(course: Path) -> None:
    shutil.rmtree(course / "release")


def _not_in_source(course: Path) -> None:
    shutil.rmtree(course / "source")
    (course / "gradebook.db").unlink()


def _damaged_secret(course: Path) -> None:
    (course / ".autograder" / "secret").write_text("no secret")


def _damaged_gradebook(course: Path) -> None:
    (course / "gradebook.db").write_bytes(b"no database at all, but some text of a fair length" * 100)


def _damaged_release(course: Path) -> None:
    release_path(course, find(LESSON)).write_text("{")


def _damaged_config(course: Path) -> None:
    (course / "nbgrader_config.py").write_text("c = get_config(\n")


def _other_points(course: Path) -> None:
    """As after a change of an exercise's points and a build, of which the gradebook has not heard."""
    release = release_path(course, find(LESSON))
    release.write_text(release.read_text().replace('"points": 10', '"points": 12'))


BAD_COURSES: dict[str, tuple[Callable[[Path], None], str]] = {
    "no submissions": (_no_submissions, "Put them into submitted/STUDENT/3-reverse-mode/"),
    "lesson not built": (_not_built, "Run: autograder build"),
    "lesson not in source": (_not_in_source, "source/ has no"),
    "damaged secret": (_damaged_secret, "Restore it from a backup"),
    "damaged gradebook": (_damaged_gradebook, "gradebook"),
    "damaged release": (_damaged_release, "autograder build"),
    "damaged config": (_damaged_config, "nbgrader_config.py"),
    "other points": (
        _other_points,
        "has 10 points for 3.2, the lesson as built 12. Let the gradebook know: nbgrader generate_",
    ),
}


@pytest.mark.parametrize("name", BAD_COURSES)
def test_a_course_that_cannot_be_graded_in_says_what_to_do(course: Path, name: str) -> None:
    spoil, says = BAD_COURSES[name]
    spoil(course)
    before = contents(course)
    before.pop(".autograder/lock", None)
    status, said = run("--force")
    assert status == 2 and says in said, said
    after = contents(course)
    after.pop(".autograder/lock", None)
    if name == "lesson not in source":
        after.pop("gradebook.db", None)
    assert after == before


@pytest.mark.parametrize(
    ("arguments", "lesson", "says"),
    [
        ((), "9-nowhere", "Lessons: 1-chain-rule"),
        (("--student", "nobody"), LESSON, "No submission of 3-reverse-mode by nobody"),
        (("--sandbox", "docker"), LESSON, "--sandbox is bwrap or none"),
        (("--force", "--scheduler", "tcp://127.0.0.1:9"), LESSON, "dask scheduler"),
    ],
)
def test_an_order_that_cannot_be_followed_says_what_can(course: Path, arguments, lesson: str, says: str) -> None:
    before = scores(course)
    status, said = run(*arguments, lesson=lesson)
    assert status == 2 and says in said, said
    assert scores(course) == before


def test_a_locked_gradebook_is_said(course: Path) -> None:
    hand_in(course, "blaise")
    with sqlite3.connect(course / "gradebook.db") as other:
        other.execute("begin exclusive")
        status, said = run()
        other.rollback()
    assert status == 2 and "gradebook" in said and "locked" in said and "run this again" in said
    assert whole(course) == ["ada"]
    assert run()[0] == 0 and scores(course) == {"ada": 2.0, "blaise": 2.0}


def test_without_bubblewrap_nothing_runs(course: Path) -> None:
    """On a machine that has none: here, one on which something else lies in its place."""
    hand_in(course, "blaise")
    bwrap = shutil.which("bwrap")
    assert bwrap is not None
    elsewhere = [bwrap, "--dev-bind", "/", "/", "--ro-bind", "/dev/null", os.path.realpath(bwrap), "--", *COMMAND]
    done = subprocess.run(elsewhere, cwd=course, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert "apt-get install bubblewrap" in done.stderr and "--sandbox none" in done.stderr
    assert "Traceback" not in done.stderr
    assert scores(course) == {"ada": 2.0} and whole(course) == ["ada"]


def test_a_bubblewrap_that_may_not_work_is_quoted(
    course: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As where user namespaces are off."""
    hand_in(course, "blaise")
    refuses = tmp_path / "bin" / "bwrap"
    refuses.parent.mkdir()
    refuses.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    refuses.chmod(0o755)
    monkeypatch.setenv("PATH", str(refuses.parent), prepend=os.pathsep)
    status, said = run()
    assert status == 2 and "No permissions to create new namespace" in said, said
    assert scores(course) == {"ada": 2.0} and whole(course) == ["ada"]


def test_a_class_that_nobody_changed_is_left_alone(course: Path) -> None:
    before = contents(course)
    assert run()[0] == 0
    assert contents(course) == before


def test_a_full_disk_stops_the_run_and_loses_nothing(course: Path) -> None:
    """Files may not grow beyond what the gradebook has now; the notebooks of `blaise` are longer."""
    loud = {f"3.{n}-solution": "print('x' * 190_000)" for n in (0, 6, 7, 8, 9)}
    hand_in(course, "blaise", texts={**loud, "3.11-solution": ONE_RIGHT})
    most = (course / "gradebook.db").stat().st_size + 100_000
    done = subprocess.run(
        COMMAND, cwd=course, capture_output=True, text=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)),
    )  # fmt: skip
    assert done.returncode == 2 and "run this again" in done.stderr and "Traceback" not in done.stderr, done.stderr
    assert whole(course) == ["ada"] and scores(course)["ada"] == 2.0
    assert run()[0] == 0
    assert whole(course) == ["ada", "blaise"] and scores(course) == {"ada": 2.0, "blaise": 2.0}


@pytest.fixture
def running(course: Path) -> Iterator[subprocess.Popen[str]]:
    """A run that is at work on a class of twelve, the gradebook already knowing some of them."""
    hand_in(course, *(f"s{k:02}" for k in range(12)))
    # Ctrl-C works in it even where these tests themselves were started in the background, which ignores it.
    with subprocess.Popen(
        COMMAND,
        cwd=course,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    ) as process:
        end = time.monotonic() + 120
        while (
            len(list(course.glob(f"autograded/*/*/{NAME}"))) < 4 and time.monotonic() < end and process.poll() is None
        ):
            time.sleep(0.02)
        yield process
        process.kill()


def test_a_second_run_waits_its_turn_and_a_killed_one_is_resumed(course: Path, running: subprocess.Popen[str]) -> None:
    status, said = run()
    assert status == 2 and "Another `autograder autograde` is at work" in said
    assert running.poll() is None, "the run ended before it could be killed"
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    finished = whole(course)
    assert 4 <= len(finished) < 13
    assert {scores(course)[student] for student in finished} == {2.0}
    stamps = {student: (course / "autograded" / student / LESSON / NAME).stat().st_mtime_ns for student in finished}

    outcome = autograde(course, LESSON, workers=1)
    assert set(finished) <= set(outcome.unchanged) and not outcome.failed
    assert len(outcome.graded) + len(outcome.unchanged) == 13
    assert set(scores(course).values()) == {2.0} and len(scores(course)) == len(whole(course)) == 13
    for student, stamp in stamps.items():
        assert (course / "autograded" / student / LESSON / NAME).stat().st_mtime_ns == stamp


def test_an_interrupt_ends_the_run_in_a_word(course: Path, running: subprocess.Popen[str]) -> None:
    running.send_signal(signal.SIGINT)
    said = running.communicate(timeout=60)[1]
    assert running.returncode == 130 and "Stopped. What was finished is kept" in said and "Traceback" not in said, said
    assert json.loads((course / "autograded" / "s00" / LESSON / NAME).read_text())
