"""nbgrader's exchange on one machine: an instructor releases, two students fetch and hand in, and get their feedback."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.authoring import editions
from autograder.authoring.source import read
from autograder.grading.demo import answers, filled

ROOT = Path(__file__).resolve().parents[1]
LESSON, NOTEBOOK = "3-reverse-mode", "reverse_mode.ipynb"
pytestmark = pytest.mark.bubblewrap


# nbgrader asks the system who it is, but a hub where everybody is called jovyan; so are these three people.
AS_ON_A_HUB = """
import nbgrader.utils
nbgrader.utils.get_osusername = lambda: "jovyan"
from nbgrader.apps.nbgraderapp import main
main()
"""


class User:
    """A person of this machine: a name, a home, a folder to work in."""

    def __init__(self, name: str, base: Path, exchange: Path) -> None:
        self.name, self.home = name, base / name
        self.home.mkdir()
        self.exchange = exchange

    def nbgrader(self, *arguments: str) -> str:
        environment = {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "HOME": str(self.home),
            "USER": self.name, "LOGNAME": self.name, "JUPYTERHUB_USER": self.name, "LANG": "C.UTF-8",
        }  # fmt: skip
        command = [sys.executable, "-c", AS_ON_A_HUB, *arguments, f"--Exchange.root={self.exchange}"]
        command += ["--course=backward-pass"]
        done = subprocess.run(command, cwd=self.home, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{self.name}: nbgrader {arguments[0]}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr


def test_an_assignment_goes_out_and_feedback_comes_back(tmp_path):
    import nbformat

    exchange = tmp_path / "exchange"
    exchange.mkdir()
    exchange.chmod(0o777)
    teacher, ada, zoe = (User(name, tmp_path, exchange) for name in ("teacher", "ada", "zoe"))
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
