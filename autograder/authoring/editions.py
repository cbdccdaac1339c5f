"""From a lesson's source cells to its editions: instructor's, classroom (made by nbgrader), self-study."""

from __future__ import annotations

import ast
import hashlib
import json
import re
from collections.abc import Iterable
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.authoring.source import (
    CLASSROOM_ONLY,
    HIDDEN_TESTS,
    MARK_SCHEME,
    QUIZ,
    SELF_STUDY_ONLY,
    SOLUTION_REFERENCE,
    Source,
    SourceCell,
)
from autograder.authoring.stubs import stubbed
from autograder.lessons import grade_id
from autograder.student.quiz import encode

INSTRUCTOR = "instructor"
CLASSROOM = "classroom"
SELF_STUDY = "self-study"
PAGE = "page"

WRITTEN_ANSWER = "*Write your answer here, in place of this line.*"

_KERNEL = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "nbconvert_exporter": "python",
        "pygments_lexer": "ipython3",
    },
}
_PACKED_NOTE = (
    "# Run this cell to see the questions. They are packed, so that the answers do not stand here to be read."
)
# [text](../page.ipynb#anchor): a page beside the lessons, which only the self-study edition has
_LINK_TO_PAGE = re.compile(r"(?<!!)\[([^\]]+)\]\(\.\./[^)\s]+\.ipynb(?:#[^)\s]*)?\)")


def instructor(source: Source, lesson: str) -> NotebookNode:
    """The edition from which nbgrader makes the classroom edition: with solutions, hidden tests and mark schemes."""
    cells = [_cell(c, _links_as_text(c), c.metadata) for c in source.cells if SELF_STUDY_ONLY not in c.tags]
    return seal(_notebook(cells), lesson, INSTRUCTOR)


def self_study(source: Source, lesson: str) -> NotebookNode:
    """The edition for somebody who learns alone: stubs, every check, solution drawers, no nbgrader metadata."""
    cells = []
    for cell in source.cells:
        if CLASSROOM_ONLY in cell.tags:
            continue
        metadata = {key: value for key, value in cell.metadata.items() if key != "nbgrader"}
        cells.append(_cell(cell, _self_study_text(cell, source), metadata))
    notebook = _notebook(cells)
    pack_quizzes(notebook)
    return seal(notebook, lesson, SELF_STUDY)


def page(source: Source, name: str) -> NotebookNode:
    """A page beside the lessons: the start page, the glossary, the resources."""
    notebook = _notebook([_cell(cell, cell.source, cell.metadata) for cell in source.cells])
    pack_quizzes(notebook)
    return seal(notebook, name, PAGE)


def _self_study_text(cell: SourceCell, source: Source) -> str:
    if cell.is_answer:
        return WRITTEN_ANSWER
    text = cell.without_regions(HIDDEN_TESTS, MARK_SCHEME)
    if cell.kind == "code":
        return stubbed(text, cell.metadata)[0].replace('edition="classroom"', 'edition="self-study"')
    filled = SOLUTION_REFERENCE.sub(lambda found: f"```python\n{source.solution_of(found.group(1))}\n```", text)
    if filled == text or "<details" in filled:
        return filled
    named = ", ".join(found.group(1) for found in SOLUTION_REFERENCE.finditer(text))
    return f"<details>\n<summary>A solution to {named}, and why it works</summary>\n\n{filled.strip()}\n\n</details>"


def _links_as_text(cell: SourceCell) -> str:
    return _LINK_TO_PAGE.sub(r"\1", cell.source) if cell.kind == "markdown" else cell.source


def _cell(cell: SourceCell, text: str, metadata: dict[str, Any]) -> NotebookNode:
    metadata = dict(metadata)
    if cell.grade_id and "nbgrader" in metadata:
        metadata["nbgrader"] = {**metadata["nbgrader"], "grade_id": grade_id(cell.grade_id)}
    if cell.kind == "code":
        return new_code_cell(text, metadata=metadata, id=cell.id)
    return new_markdown_cell(text, metadata=metadata, id=cell.id)


def _notebook(cells: Iterable[NotebookNode]) -> NotebookNode:
    return new_notebook(cells=list(cells), metadata=json.loads(json.dumps(_KERNEL)))


def quiz_call(code: str) -> tuple[str, str] | None:
    """(id, text) of the one `quiz(id, text)` call that a quiz cell consists of; None if it is anything else."""
    try:
        body = ast.parse(code).body
    except SyntaxError:
        return None
    match body:
        case [
            ast.Expr(
                ast.Call(
                    func=ast.Name("quiz"), args=[ast.Constant(str() as id), ast.Constant(str() as text)], keywords=[]
                )
            )
        ]:
            return id, text
    return None


def pack_quizzes(notebook: NotebookNode) -> None:
    """Pack the text of every quiz cell, so that its right answers cannot be read at a glance, and fold the cell."""
    for cell in notebook.cells:
        call = quiz_call(cell.source) if cell.cell_type == "code" and QUIZ in cell.metadata.get("tags", []) else None
        if call is None:
            continue
        id, text = call
        cell.source = f'{_PACKED_NOTE}\nquiz({json.dumps(id)}, """{encode(text)}""")'
        cell.metadata.setdefault("jupyter", {})["source_hidden"] = True


def fingerprint(notebook: NotebookNode) -> str:
    """A hash of what a person sees in the cells: their kinds and texts."""
    content = [[cell.cell_type, cell.source] for cell in notebook.cells]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def seal(notebook: NotebookNode, name: str, edition: str) -> NotebookNode:
    """Write into the notebook what it is and what it held when it was built."""
    notebook.metadata["autograder"] = {"built": fingerprint(notebook), "edition": edition, "lesson": name}
    return notebook


def built_as(text: str) -> tuple[str, bool]:
    """(fingerprint recorded by the build, True if somebody has worked in the notebook since then).

    A notebook that no build made counts as worked in. Opening, saving, or running cells that print nothing does not.
    """
    try:
        notebook = nbformat.reads(text, as_version=4)
        sealed = str(notebook.metadata["autograder"]["built"])
    except Exception:
        return "", True
    untouched = fingerprint(notebook) == sealed and not any(cell.get("outputs") for cell in notebook.cells)
    return sealed, not untouched


def dumps(notebook: NotebookNode) -> str:
    """The notebook as text: sorted keys, final newline, the same bytes every time (and nbgrader's own)."""
    nbformat.validate(notebook)
    text: str = nbformat.writes(notebook, version=4)
    return text + "\n"
