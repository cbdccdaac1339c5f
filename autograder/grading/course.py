"""Where the course is, and the lessons' release notebooks, which are the pattern that submissions are held against."""

from __future__ import annotations

import functools
import re
import unicodedata
from pathlib import Path

import nbformat
from nbformat.notebooknode import NotebookNode
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from autograder.lessons import Lesson, find


class CourseError(RuntimeError):
    """Something about the course folder that stops grading; the message says what to do."""


def course_root(start: Path | None = None) -> Path:
    """The nearest folder at or above `start` that holds a course, else the one that this package was installed from."""
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / "nbgrader_config.py").is_file():
            return folder
    own = Path(__file__).resolve().parents[2]
    if (own / "nbgrader_config.py").is_file():
        return own
    raise CourseError(
        "No course was found here: there is no nbgrader_config.py in this folder or above it. "
        "Change into the course's folder and try again."
    )


def load_config(root: Path) -> Config:
    """The course's nbgrader configuration."""
    try:
        config = PyFileConfigLoader("nbgrader_config.py", path=str(root)).load_config()
    except Exception as error:  # it is a program, and may fail as one
        raise CourseError(
            f"nbgrader_config.py cannot be read ({type(error).__name__}: {error}). Mend it first."
        ) from None
    config.CourseDirectory.root = str(root)
    return config


def release_path(root: Path, lesson: Lesson) -> Path:
    return root / "release" / lesson.name / f"{lesson.notebook}.ipynb"


def pattern(root: Path, lesson: str) -> NotebookNode:
    """The release notebook of `lesson`. CourseError if it has not been built."""
    found = find(lesson)
    path = release_path(root, found)
    if not path.is_file():
        raise CourseError(
            f"Lesson {found.name} has not been built: {path.name} is missing from release/. Run: autograder build"
        )
    return _read(path, path.stat().st_mtime_ns)


@functools.lru_cache(maxsize=16)
def _read(path: Path, modified: int) -> NotebookNode:
    try:
        return nbformat.read(path, as_version=4)
    except Exception:  # not JSON, not a notebook, not text
        raise CourseError(f"{path} is damaged. Make it again: autograder build") from None


def trouble_with_id(name: str) -> str:
    """Why nbgrader can have no student called so; "" if it can."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return "is not text in UTF-8"
    # nbgrader's feedback stops, for the whole class, at an id with a line end in it.
    if any(unicodedata.category(c) == "Cc" for c in name):
        return "holds control characters"
    # nbgrader looks for folders with glob, which takes some names for patterns and passes others over.
    if re.search(r"[*?\[]", name):
        return "holds *, ? or [, which nbgrader takes for a pattern"
    return "begins with a dot, and nbgrader passes such folders over" if name.startswith(".") else ""
