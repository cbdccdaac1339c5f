"""Bring a submission back into the shape of its lesson: every check at its place, every answer kept.

The pattern is the lesson's release notebook. Cells are recognized by grade id, then by cell id, then by what they
say, so that metadata lost in another editor costs nothing. Locked cells are restored; a student's own cells stay
where they are; of two answers to one exercise the last counts.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from nbformat.notebooknode import NotebookNode

from autograder.grading.seeds import digest
from autograder.lessons import LESSONS, tag_of

NOTES_ID = "autograder-notes"  # the cell on top that lists the flags
CHECK_CALL = re.compile(r"""^[ \t]*(?:check|grade)\(\s*["'](\d+\.\d+)["']""", re.MULTILINE)
_DEFINES = re.compile(r"^(?:def|class)\s+(\w+)", re.MULTILINE)


@dataclass
class Repaired:
    """A submission in its lesson's shape. `flags` say what had to be mended, for the instructor."""

    notebook: NotebookNode
    digest: str
    flags: list[str] = field(default_factory=list)


def lesson_in(notebook: NotebookNode) -> str | None:
    """The lesson that `notebook` answers, by its content; None if it is none of ours."""
    votes: Counter[str] = Counter()
    for cell in notebook.cells:
        ids = set(CHECK_CALL.findall(cell.source)) if cell.cell_type == "code" else set()
        grade_id = _grade_id(cell)
        if grade_id:
            ids.add(grade_id)
        for one in ids:
            for lesson in LESSONS:
                if one.startswith(f"{lesson.number}."):
                    votes[lesson.name] += 1
    return votes.most_common(1)[0][0] if votes else None


def clone(node: Any) -> Any:
    """A deep copy of a notebook or of a part of it. JSON is all there is in it, so that this is quick."""
    if isinstance(node, dict):
        copied = NotebookNode() if isinstance(node, NotebookNode) else {}
        dict.update(copied, {key: clone(value) for key, value in node.items()})
        return copied
    return [clone(item) for item in node] if isinstance(node, list) else node


def _grade_id(cell: NotebookNode) -> str:
    return tag_of(str(cell.metadata.get("nbgrader", {}).get("grade_id", "")))


def _role(cell: NotebookNode) -> str:
    """What a cell of the pattern is: check, given, answer, task or text."""
    data = cell.metadata.get("nbgrader")
    if not data:
        return "text"
    if data.get("task"):
        return "task"
    if data.get("solution"):
        return "answer"
    return "check" if data.get("grade") else "given"


def _squeeze(source: str) -> str:
    return "".join(source.split())


def repair(submission: NotebookNode, pattern: NotebookNode) -> Repaired:
    """`submission` in the shape of `pattern`; neither is changed."""
    flags: list[str] = []
    matched = _match(submission, pattern, flags)
    cells = _place(submission, pattern, matched, flags)
    notebook = clone(NotebookNode({**pattern, "cells": []}))
    notebook.cells = cells
    _unique_ids(cells)
    return Repaired(
        notebook, digest([cell.source for cell in submission.cells]), _in_few_words(submission, pattern, flags)
    )


_MANY = 6
_KINDS = (  # the flag about one cell, and about many
    (re.compile(r"the cell \S+ was missing and was put back"), "{} locked cells were missing and were put back"),
    (re.compile(r"the answer cell \S+ was missing"), "{} answer cells were missing"),
    (
        re.compile(r"the locked cell \S+ had been changed and was restored"),
        "{} locked cells had been changed and were restored",
    ),
    (
        re.compile(r"\d+ cells claim to be \S+; the last one counts"),
        "{} cells stood there more than once; the last ones count",
    ),
)


def _in_few_words(submission: NotebookNode, pattern: NotebookNode, flags: list[str]) -> list[str]:
    """Where the same is to be said of many cells, it is said once; another lesson's notebook is called by its name."""
    for kind, many in _KINDS:
        alike = [flag for flag in flags if kind.fullmatch(flag)]
        if len(alike) > _MANY:
            at = flags.index(alike[0])
            flags = [flag for flag in flags if flag not in alike]
            flags.insert(at, many.format(len(alike)))
    found = lesson_in(submission) if flags else None  # in another lesson's notebook cells of this one are missing
    if found is not None and found != lesson_in(pattern):
        flags.insert(0, f"this is a notebook of {found}, not of this lesson")
    return flags


def _match(submission: NotebookNode, pattern: NotebookNode, flags: list[str]) -> dict[int, int]:
    """Which submitted cell (by index) stands for which cell of the pattern (by index)."""
    wanted = {_grade_id(cell): i for i, cell in enumerate(pattern.cells) if _grade_id(cell)}
    by_cell_id = {cell.id: i for i, cell in enumerate(pattern.cells)}
    by_text = {_squeeze(cell.source): i for i, cell in enumerate(pattern.cells) if cell.source.strip()}
    checks = {
        found: i
        for i, cell in enumerate(pattern.cells)
        if _role(cell) == "check"
        for found in CHECK_CALL.findall(cell.source)[:1]
    }
    defines = {
        name: i
        for i, cell in enumerate(pattern.cells)
        if _role(cell) == "answer" and cell.cell_type == "code"
        for name in _DEFINES.findall(cell.source)
    }

    claims: dict[int, list[int]] = {}
    anonymous = 0
    for j, cell in enumerate(submission.cells):
        i = wanted.get(_grade_id(cell))
        if i is None:
            found = CHECK_CALL.findall(cell.source) if cell.cell_type == "code" else []
            if cell.id in by_cell_id:
                i = by_cell_id[cell.id]
            elif _squeeze(cell.source) in by_text:
                i = by_text[_squeeze(cell.source)]
            elif len(found) == 1 and len(cell.source.strip().splitlines()) <= 4:
                i = checks.get(found[0])
            if i is not None and _role(pattern.cells[i]) != "text":
                anonymous += 1
        if i is not None:
            claims.setdefault(i, []).append(j)
    # Answers that lost both ids are known by the functions that they define, where nothing better claims the place.
    placed = {j for js in claims.values() for j in js}
    for j, cell in enumerate(submission.cells):
        if cell.cell_type == "code" and j not in placed:
            for name in _DEFINES.findall(cell.source):
                if name in defines and defines[name] not in claims:
                    claims[defines[name]] = [j]
                    anonymous += 1
                    break
    if anonymous:
        flags.append(f"{anonymous} cells had lost their grading metadata and were recognized by their content")

    matched: dict[int, int] = {}
    for i, js in claims.items():
        role = _role(pattern.cells[i])
        if len(js) > 1 and role != "text":
            what = _grade_id(pattern.cells[i])
            flags.append(f"{len(js)} cells claim to be {what}; the last one counts")
        matched[js[-1] if role == "answer" else js[0]] = i
    return matched


def _place(
    submission: NotebookNode, pattern: NotebookNode, matched: dict[int, int], flags: list[str]
) -> list[NotebookNode]:
    """The repaired list of cells."""
    cells: list[NotebookNode] = []
    at: list[int | None] = []  # for each repaired cell the pattern's index, or None for a student's own cell
    roles = [_role(like) for like in pattern.cells]
    spare_checks = {
        found
        for like, role in zip(pattern.cells, roles, strict=True)
        if role == "check"
        for found in CHECK_CALL.findall(like.source)[:1]
    }
    for j, cell in enumerate(submission.cells):
        i = matched.get(j)
        if i is None:
            own = clone(cell)
            own.metadata.pop("nbgrader", None)
            calls = CHECK_CALL.findall(cell.source) if cell.cell_type == "code" else []
            if calls and spare_checks.issuperset(calls) and len(cell.source.strip().splitlines()) <= 4:
                continue  # a copy of a check cell: the original is enough
            cells.append(own)
            at.append(None)
            continue
        cells.append(_restored(cell, pattern.cells[i], flags))
        at.append(i)

    # Checks that stand above their answers go back below them.
    for i, like in enumerate(pattern.cells):
        if roles[i] != "check" or i not in at:
            continue
        before = [k for k in range(i) if roles[k] == "answer" and _belongs(pattern.cells[k], like)]
        if any(k in at and at.index(k) > at.index(i) for k in before):
            spot = at.index(i)
            del at[spot], cells[spot]
            flags.append(f"the check of {_grade_id(like)} stood above its answer and was moved back")

    for i, like in enumerate(pattern.cells):
        if i in at or roles[i] == "text":
            continue
        fresh = clone(like)
        if roles[i] in ("check", "given", "task"):
            moved = any(flag.startswith(f"the check of {_grade_id(like)} stood") for flag in flags)
            if not moved:
                flags.append(f"the cell {_grade_id(like)} was missing and was put back")
        else:
            flags.append(f"the answer cell {_grade_id(like)} was missing")
        spot = _spot(i, at, pattern, like)
        cells.insert(spot, fresh)
        at.insert(spot, i)
    return cells


def _belongs(answer: NotebookNode, check: NotebookNode) -> bool:
    return _grade_id(answer).split("-")[0] == _grade_id(check)


def _spot(i: int, at: list[int | None], pattern: NotebookNode, like: NotebookNode) -> int:
    """Where pattern cell `i` goes: before the next cell of the pattern that is there, but after its own answers."""
    later = [spot for spot, k in enumerate(at) if k is not None and k > i]
    spot = later[0] if later else len(at)
    own = [s for s, k in enumerate(at) if k is not None and _belongs(pattern.cells[k], like)]
    return max(spot, max(own) + 1) if own else spot


def _restored(cell: NotebookNode, like: NotebookNode, flags: list[str]) -> NotebookNode:
    """A cell of the pattern with the student's text where the student may write."""
    role = _role(like)
    fresh = clone(like)
    if role in {"answer", "text"}:
        if role == "answer" and cell.cell_type != like.cell_type:
            flags.append(f"the answer cell {_grade_id(like)} had become a {cell.cell_type} cell")
        fresh.source = cell.source
        if "attachments" in cell and fresh.cell_type == cell.cell_type:
            fresh.attachments = clone(cell.attachments)
        return fresh
    if cell.cell_type != like.cell_type or _squeeze(cell.source) != _squeeze(like.source):
        flags.append(f"the locked cell {_grade_id(like)} had been changed and was restored")
    return fresh


def _unique_ids(cells: list[NotebookNode]) -> None:
    """The lesson's cells keep their ids, whoever else claims them."""
    seen = {NOTES_ID}
    fresh = (f"own-{number}" for number in count())
    for cell in sorted(cells, key=lambda cell: "nbgrader" not in cell.metadata):
        if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", cell.id or "") or cell.id in seen:
            cell.id = next(id for id in fresh if id not in seen)
        seen.add(cell.id)
