"""Read a lesson's source text: jupytext percent format, with the line on which each cell begins."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jupytext
from nbformat import NotebookNode

from autograder.lessons import tag_of

SELF_STUDY_ONLY = "self-study"
CLASSROOM_ONLY = "classroom"
HINTS = "hints"
QUIZ = "quiz"
SOLUTION_DRAWER = "solution-drawer"

SOLUTION = "SOLUTION"
HIDDEN_TESTS = "HIDDEN TESTS"
MARK_SCHEME = "MARK SCHEME"
REGIONS = (SOLUTION, HIDDEN_TESTS, MARK_SCHEME)

SOLUTION_REFERENCE = re.compile(r"^\{\{solution (\S+)\}\}$", re.MULTILINE)
# jupytext's notes on blank lines in the text, of no use in a notebook
_LAYOUT_ONLY = ("lines_to_next_cell", "lines_to_end_of_cell_marker")
_SOLUTION_ID = re.compile(r"^(.+?)-solution(?:-\d+)?$")


class SourceError(ValueError):
    """A source text that cannot be read as a notebook."""


@dataclass(frozen=True)
class Region:
    """A marked region of a cell: `name` and the numbers of its marker lines in the cell, from 0."""

    name: str
    begin: int
    end: int


@dataclass
class SourceCell:
    """One cell of a source text. `line` is the line in the file on which the cell's own text begins."""

    kind: str
    source: str
    metadata: dict[str, Any]
    line: int
    id: str

    @property
    def tags(self) -> list[str]:
        return list(self.metadata.get("tags", []))

    @property
    def nbgrader(self) -> dict[str, Any]:
        return dict(self.metadata.get("nbgrader", {}))

    @property
    def grade_id(self) -> str:
        """The cell's tag, "3.1-solution"; in notebooks nbgrader's own spelling stands for it."""
        return tag_of(str(self.nbgrader.get("grade_id", "")))

    @property
    def is_solution(self) -> bool:
        """A code cell that learners fill in."""
        return self.kind == "code" and bool(self.nbgrader.get("solution"))

    @property
    def is_check(self) -> bool:
        return self.kind == "code" and bool(self.nbgrader.get("grade"))

    @property
    def is_answer(self) -> bool:
        """A cell for a written answer, marked by hand."""
        return self.kind == "markdown" and bool(self.nbgrader.get("grade"))

    @property
    def is_task(self) -> bool:
        return bool(self.nbgrader.get("task"))

    @property
    def exercise(self) -> str:
        """The exercise that a solution or check cell belongs to: "3.1" for "3.1", "3.1-solution", "3.1-solution-2"."""
        found = _SOLUTION_ID.match(self.grade_id)
        return found.group(1) if found else self.grade_id

    def without_regions(self, *names: str) -> str:
        """The cell's text without the marked regions called `names`."""
        lines = self.source.split("\n")
        for region in reversed([r for r in regions(self.source) if r.name in names]):
            del lines[region.begin : region.end + 1]
        return "\n".join(lines).rstrip()

    def without_markers(self, name: str) -> str:
        """The cell's text with the content of its regions called `name`, but not their marker lines."""
        return "\n".join(
            line for line in self.source.split("\n") if marker(line) not in (("BEGIN", name), ("END", name))
        )


@dataclass
class Source:
    """A source text as cells."""

    path: Path
    cells: list[SourceCell]

    def solution_of(self, exercise: str) -> str:
        """The code that answers `exercise`, without markers; "" if there is none."""
        cells = [cell for cell in self.cells if cell.is_solution and cell.exercise == exercise]
        return "\n\n\n".join(cell.without_markers(SOLUTION).strip() for cell in cells)


def marker(line: str) -> tuple[str, str] | None:
    """("BEGIN" or "END", region name) if `line` is a marker, by nbgrader's own rule: the words stand in the line."""
    for name in REGIONS:
        for edge in ("BEGIN", "END"):
            if f"{edge} {name}" in line:
                return edge, name
    return None


def regions(text: str) -> list[Region]:
    """The marked regions of a cell's text, in order.

    Raises:
        SourceError: a marker without its partner, or a region inside another; the message begins with the line, from 0.
    """
    found: list[Region] = []
    open_: tuple[str, int] | None = None
    for number, line in enumerate(text.split("\n")):
        mark = marker(line)
        if mark is None:
            continue
        edge, name = mark
        if edge == "BEGIN":
            if open_:
                raise SourceError(f"{number}: BEGIN {name} inside {open_[0]}")
            open_ = (name, number)
        elif open_ is None or open_[0] != name:
            raise SourceError(f"{number}: END {name} without BEGIN {name}")
        else:
            found.append(Region(name, open_[1], number))
            open_ = None
    if open_:
        raise SourceError(f"{open_[1]}: BEGIN {open_[0]} without END {open_[0]}")
    return found


def enclosing_def(code: str, line: int) -> str:
    """The name of the innermost function around `line` (from 0) of `code`; "Class.method" for a method, else ""."""

    def named(node: ast.AST, owner: str) -> Iterator[tuple[int, str]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                name = child.name
                if isinstance(child, ast.ClassDef):
                    yield from named(child, name)
                    continue
                if child.lineno - 1 <= line <= (child.end_lineno or child.lineno) - 1:
                    yield child.lineno, f"{owner}.{name}" if owner else name
                yield from named(child, "")
            else:
                yield from named(child, owner)

    return max(named(ast.parse(code), ""), default=(0, ""))[1]


def cell_id(lesson: str, metadata: dict[str, Any], position: int) -> str:
    """A cell id that is the same in every build: from the grade id where there is one, else from the position."""
    name = metadata.get("nbgrader", {}).get("grade_id") or f"{lesson}-{position:03d}"
    return re.sub(r"[^A-Za-z0-9_-]", "-", name)[:64]


def read(path: Path, name: str | None = None) -> Source:
    """The source text at `path`.

    Raises:
        SourceError: it cannot be read as percent text.
    """
    text = path.read_text(encoding="utf-8")
    try:
        notebook: NotebookNode = jupytext.reads(text, fmt="py:percent")
    except Exception as error:
        raise SourceError(f"{path}: not readable as jupytext percent text: {error}") from error
    starts = _cell_lines(text, len(notebook.cells), path)
    cells = []
    for position, (cell, line) in enumerate(zip(notebook.cells, starts, strict=True)):
        metadata = {key: value for key, value in cell.metadata.items() if key not in _LAYOUT_ONLY}
        cells.append(
            SourceCell(
                cell.cell_type,
                cell.source.rstrip(),
                metadata,
                line,
                cell_id(name or path.stem.replace("_", "-"), metadata, position),
            )
        )
    return Source(path, cells)


def _cell_lines(text: str, count: int, path: Path) -> list[int]:
    """The line, from 1, on which the text of each cell begins."""
    lines = text.split("\n")
    headers = [number for number, line in enumerate(lines, 1) if re.match(r"# %%", line)]
    starts = []
    for header in headers:
        line = header
        while line < len(lines) and not lines[line].strip():
            line += 1
        starts.append(line + 1)
    if len(starts) != count:
        raise SourceError(
            f"{path}: {count} cells but {len(starts)} lines that begin with '# %%'. Begin every cell, the first one "
            "too, with '# %%', and no line inside a cell."
        )
    return starts
