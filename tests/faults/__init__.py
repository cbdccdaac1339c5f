"""Faults that a grader meets: one small module each, with the exact outcome. tests/test_faults.py grades them as a class.

A module says how a submission of lesson 3, right in everything else, is spoiled, and what must become of it.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from nbformat.notebooknode import NotebookNode

from autograder.exercises import exercises_of
from autograder.grading.demo import LESSON
from autograder.lessons import find, tag_of

NAME = f"{find(LESSON).notebook}.ipynb"
POINTS: dict[str, float] = {exercise.id: exercise.points for exercise in exercises_of(LESSON).exercises}
NOTHING = dict.fromkeys(POINTS, 0.0)
SECONDS = 4.0  # a cell may take; the course that grades these is set to it


@dataclass
class Hand:
    """A student's hand: the notebook with every answer right, and the folder that will be handed in."""

    folder: Path
    notebook: NotebookNode

    def index(self, tag: str) -> int:
        return next(i for i, c in enumerate(self.notebook.cells) if _tag(c) == tag)

    def cell(self, tag: str) -> NotebookNode:
        return self.notebook.cells[self.index(tag)]

    def answer(self, exercise: str, source: str) -> None:
        self.cell(f"{exercise}-solution").source = source

    def own(self, source: str, before: str = "3.4-solution", **more: Any) -> NotebookNode:
        """A cell of the student's own, above the cell `before`."""
        cell = nbformat.v4.new_code_cell(source, **more)
        self.notebook.cells.insert(self.index(before), cell)
        return cell

    def json(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(nbformat.writes(self.notebook))
        return found

    def write(self, data: bytes | None = None, name: str = NAME) -> None:
        text = nbformat.writes(self.notebook).encode() if data is None else data
        (self.folder / name).write_bytes(text)


Maker = Callable[[Hand], "bytes | bool | None"]  # None: the notebook is written; bytes: they are; True: it is all there


@dataclass(frozen=True)
class Fault:
    """How a submission is spoiled, and its outcome: whatever is not named in `marks` has full marks."""

    make: Maker
    marks: Mapping[str, float] = field(default_factory=dict)
    flags: tuple[str, ...] = ()  # a part of each flag, in order
    says: Mapping[str, str] = field(default_factory=dict)  # exercise: a part of its verdict's message
    shows: tuple[str, ...] = ()  # parts of what the student's own cells put out
    never: tuple[str, ...] = ()  # what must not stand in that, nor in the cards and notes that the grader writes
    failed: str = ""  # a part of the reason, where it cannot be graded at all
    student: str = ""  # where the student's id is the fault


def _tag(cell: NotebookNode) -> str:
    return tag_of(str(cell.metadata.get("nbgrader", {}).get("grade_id", "")))


def own_cell(source: str, before: str = "3.4-solution") -> Maker:
    """A right submission with a cell of the student's own."""
    return lambda hand: void(hand.own(source, before))


def answers(**sources: str) -> Maker:
    """Another answer: answers(e3_10="...") replaces the one to 3.10."""

    def make(hand: Hand) -> None:
        for exercise, source in sources.items():
            hand.answer(tag_of(exercise.removeprefix("e")), source)

    return make


def void(*anything: Any) -> None:
    pass


WRONG_COUNT = "def edge_visits(root):\n    return 1, 1\n"
WRONG_PREDICTION = 'def my_prediction():\n    return {"passes": [1, 1, 1], "detached": 1}\n'
CHEATED = {"3.10": 0.0, "3.11": 0.0}


def cheat(patch: str, before: str = "3.10-solution") -> Maker:
    """Two wrong answers, and a cell that is to make them pass: the outcome is CHEATED at best."""

    def make(hand: Hand) -> None:
        hand.answer("3.10", WRONG_COUNT)
        hand.answer("3.11", WRONG_PREDICTION)
        hand.own(patch, before)

    return make


def all_faults() -> dict[str, Fault]:
    """Name of the module: its fault."""
    modules = [importlib.import_module(f"{__name__}.{m.name}") for m in pkgutil.iter_modules(__path__)]
    return {m.__name__.rpartition(".")[2]: m.FAULT for m in modules}
