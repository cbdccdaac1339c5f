"""nbgrader's exchange on one machine: an instructor releases, two students fetch and hand in, and get their feedback."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from autograder.authoring import editions
from autograder.authoring.source import read
from autograder.grading.demo import answers, filled

ROOT = Path(__file__).resolve().parents[1]
LESSON, NOTEBOOK = "3-reverse-mode", "reverse_mode.ipynb"
pytestmark = pytest.mark.bubblewrap


# One process that has imported everything, and forks for each command: a person's home and name, and nbgrader as started
# from a shell. nbgrader asks the system who it is, but a hub where everybody is called jovyan; so are these three people.
HUB = """
import json, os, sys
import nbgrader.utils
from nbgrader.apps.nbgraderapp import main
import autograder.authoring.release, autograder.grading.feedback, autograder.grading.nbgrader_steps
nbgrader.utils.get_osusername = lambda: "jovyan"
for line in sys.stdin:
    todo = json.loads(line)
    child = os.fork()
    if not child:
        os.environ.clear()
        os.environ.update(todo["environment"])
        os.chdir(todo["folder"])
        log = os.open(todo["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 1)
        os.dup2(log, 2)
        sys.argv[1:] = todo["arguments"]
        sys.exit(main())
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@pytest.fixture
def hub() -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", HUB], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


class User:
    """A person of this machine: a name, a home, a folder to work in."""

    def __init__(self, name: str, base: Path, hub: subprocess.Popen[str]) -> None:
        self.name, self.home, self.exchange, self.hub = name, base / name, base / "exchange", hub
        self.home.mkdir()

    def nbgrader(self, *arguments: str) -> str:
        environment = {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "HOME": str(self.home),
            "USER": self.name, "LOGNAME": self.name, "JUPYTERHUB_USER": self.name, "LANG": "C.UTF-8",
        }  # fmt: skip
        log = self.home.with_suffix(".log")
        command = [*arguments, f"--Exchange.root={self.exchange}", "--course=backward-pass"]
        todo = {"arguments": command, "environment": environment, "folder": str(self.home), "log": str(log)}
        print(json.dumps(todo), file=self.hub.stdin, flush=True)
        assert self.hub.stdout is not None
        status, said = self.hub.stdout.readline().strip(), log.read_text("utf-8")
        assert status == "0", f"{self.name}: nbgrader {arguments[0]}\n{said}"
        return said


def test_an_assignment_goes_out_and_feedback_comes_back(tmp_path, hub):
    exchange = tmp_path / "exchange"
    exchange.mkdir()
    exchange.chmod(0o777)
    teacher, ada, zoe = (User(name, tmp_path, hub) for name in ("teacher", "ada", "zoe"))
    shutil.copy(ROOT / "nbgrader_config.py", teacher.home)
    source = read(ROOT / "source" / LESSON / "reverse_mode.py")
    (teacher.home / "source" / LESSON).mkdir(parents=True)
    (teacher.home / "source" / LESSON / NOTEBOOK).write_text(editions.dumps(editions.instructor(source, LESSON)))
    teacher.nbgrader("generate_assignment", LESSON)
    teacher.nbgrader("release_assignment", LESSON)

    assert LESSON in ada.nbgrader("list")
    for student, upto in ((ada, "3.1-solution"), (zoe, "3.0-solution")):
        student.nbgrader("fetch_assignment", LESSON)
        got = student.home / LESSON / NOTEBOOK
        assert not list(got.parent.glob("*.py"))
        notebook = nbformat.read(got, as_version=4)
        right = {tag: text for tag, text in answers(source).items() if tag <= upto}
        got.chmod(0o644)
        nbformat.write(filled(notebook, right), got)
        student.nbgrader("submit", LESSON)

    teacher.nbgrader("collect", LESSON)
    assert sorted(p.name for p in (teacher.home / "submitted").iterdir()) == ["ada", "zoe"]
    graded = subprocess.run(
        [sys.executable, "-m", "autograder", "autograde", LESSON, "--workers", "1"],
        cwd=teacher.home, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert graded.returncode == 0 and "2 submissions graded" in graded.stdout, graded.stdout + graded.stderr
    teacher.nbgrader("generate_feedback", LESSON)
    teacher.nbgrader("release_feedback", LESSON)
    pages = {}
    for student in (ada, zoe):
        student.nbgrader("fetch_feedback", LESSON)
        (page,) = (student.home / LESSON / "feedback").rglob("*.html")
        pages[student.name] = page.read_text()
    assert pages["ada"] != pages["zoe"]
    assert "MARK SCHEME" not in "".join(pages.values())
