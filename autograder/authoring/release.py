"""nbgrader's own generate_assignment, run where it touches neither the course's gradebook nor its folders."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor, SaveCells
from traitlets.config.loader import PyFileConfigLoader

from autograder.authoring import editions
from autograder.authoring.source import read
from autograder.lessons import Lesson


class PackQuizzes(NbGraderPreprocessor):
    """Pack the quiz texts of a notebook."""

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        editions.pack_quizzes(nb)
        return nb, resources


class Seal(NbGraderPreprocessor):
    """Write into the classroom edition what it holds, so that work in it is noticed. Comes last."""

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        editions.seal(nb, resources["nbgrader"]["assignment"], editions.CLASSROOM)
        return nb, resources


class ReleaseError(RuntimeError):
    """nbgrader refused to make a classroom edition; the message is its log."""


def generate(
    lesson: str, files: Mapping[str, bytes], config_file: Path, gradebook: str | None = None
) -> dict[str, bytes]:
    """What `nbgrader generate_assignment LESSON` makes of the source folder `files` (name → content).

    It runs in a temporary course, configured by `config_file`, and without a gradebook: SaveCells, which records the
    cells there and changes nothing in the notebook, is left out. With the address of a `gradebook` it stays, and the
    assignment is registered there.
    """
    from nbgrader.converters import GenerateAssignment
    from nbgrader.coursedir import CourseDirectory
    from nbgrader.utils import capture_log

    with tempfile.TemporaryDirectory(prefix="autograder-build-") as folder:
        course = Path(folder).resolve()
        for name, content in files.items():
            path = course / "source" / lesson / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        config = PyFileConfigLoader(config_file.name, path=str(config_file.parent)).load_config()
        config.CourseDirectory.root = str(course)
        config.CourseDirectory.assignment_id = lesson
        if gradebook:
            config.CourseDirectory.db_url = gradebook
        else:
            steps = config.GenerateAssignment.preprocessors
            config.GenerateAssignment.preprocessors = [step for step in steps if step is not SaveCells]
        directory = CourseDirectory(config=config)
        app = GenerateAssignment(coursedir=directory, config=config, no_database=gradebook is None)
        app.log = logging.Logger("autograder.build")
        result = capture_log(app)
        released = course / "release" / lesson
        if not result["success"] or not released.is_dir():
            raise ReleaseError(result.get("log") or result.get("error") or "no reason given")
        return {p.relative_to(released).as_posix(): p.read_bytes() for p in sorted(released.rglob("*")) if p.is_file()}


def register(lesson: Lesson, root: Path, gradebook: str) -> None:
    """Make the gradebook at the address `gradebook` know `lesson` as it stands in source/, as generate_assignment does."""
    path = root / "source" / lesson.name / f"{lesson.notebook}.py"
    notebook = path.with_suffix(".ipynb")
    if path.is_file():
        content = editions.dumps(editions.instructor(read(path), lesson.name)).encode()
    elif notebook.is_file():
        content = notebook.read_bytes()
    else:
        raise ReleaseError(f"{lesson.name} is not in the gradebook, and source/ has no {path.name} to make it from.")
    generate(lesson.name, {notebook.name: content}, root / "nbgrader_config.py", gradebook)
