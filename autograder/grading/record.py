"""The one writer of a class run: a marked notebook goes into nbgrader's gradebook and folders, all of it or nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from nbformat.notebooknode import NotebookNode
from nbgrader.api import (
    Assignment,
    Comment,
    Grade,
    Gradebook,
    Notebook,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
)
from nbgrader.coursedir import CourseDirectory
from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.utils import compute_checksum, determine_grade, is_grade, is_solution, is_task
from traitlets.config import Config

from autograder.grading.export import points
from autograder.lessons import Lesson


@dataclass(frozen=True)
class Change:
    """A mark that differs from the one in the gradebook."""

    student: str
    exercise: str
    before: float | None
    after: float | None

    def text(self) -> str:
        """3 -> 4.5; a mark that is not given yet is a –."""
        before, after = ("–" if mark is None else points(mark) for mark in (self.before, self.after))
        return f"{before} -> {after}"


@dataclass(frozen=True)
class _Source:
    """A cell as the gradebook knows it."""

    checksum: str
    locked: bool
    source: str


@dataclass(frozen=True)
class _Master:
    """A notebook of the lesson in the gradebook: its id, and its cells' names by id, graded and commented ones."""

    id: str
    graded: dict[str, str]
    commented: dict[str, str]

    @classmethod
    def of(cls, notebook: Notebook) -> _Master:
        def names(*groups: Iterable[Any]) -> dict[str, str]:
            return {cell.id: cell.name for group in groups for cell in group}

        return cls(
            notebook.id,
            names(notebook.grade_cells, notebook.task_cells),
            names(notebook.solution_cells, notebook.task_cells),
        )


class Recorder:
    """Writes marks of one lesson. One session, one commit a submission; manual marks are kept.

    What it leaves in the gradebook is what stock `nbgrader autograde` with the course's configuration leaves there;
    a test holds the two equal.
    """

    def __init__(self, config: Config, lesson: Lesson) -> None:
        self.lesson = lesson
        self.directory = CourseDirectory(config=config)
        self.late: LateSubmissionPlugin = config.AssignLatePenalties.get("plugin_class", LateSubmissionPlugin)(
            config=config
        )
        self.gradebook = Gradebook(self.directory.db_url, self.directory.course_id)
        self.db = self.gradebook.db
        # As plain data: after each commit the session would read every one of these rows again.
        assignment: Assignment = self.gradebook.find_assignment(lesson.name)
        self.assignment_id: str = assignment.id
        self.masters = [_Master.of(notebook) for notebook in assignment.notebooks]
        notebook: Notebook = self.gradebook.find_notebook(lesson.notebook, lesson.name)
        self.master = _Master.of(notebook)
        self.sources = {c.name: _Source(c.checksum, c.locked, c.source) for c in notebook.source_cells}
        self.worth: dict[str, float] = {cell.name: float(cell.max_score) for cell in notebook.grade_cells}

    def close(self) -> None:
        self.gradebook.close()

    def master_cells(self, notebook: NotebookNode) -> None:
        """Put the gradebook's own text, checksum and points into the cells of `notebook` that students may not change."""
        for cell in notebook.cells:
            data = cell.metadata.get("nbgrader")
            source = self.sources.get(data["grade_id"]) if data else None
            if data is None or source is None:
                continue
            data["checksum"] = source.checksum
            if is_grade(cell):
                data["points"] = self.worth.get(data["grade_id"], data["points"])
            if source.locked:
                cell.source = source.source

    def changes(self, student: str, notebook: NotebookNode | None) -> list[Change]:
        """The marks that recording `notebook` would change; none is written."""
        graded = (
            self.db.query(Grade.cell_id, Grade.auto_score)
            .join(SubmittedNotebook, Grade.notebook_id == SubmittedNotebook.id)
            .join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
            .filter(SubmittedAssignment.assignment_id == self.assignment_id)
            .filter(SubmittedAssignment.student_id == student, SubmittedNotebook.notebook_id == self.master.id)
        )
        before: dict[str, float | None] = {self.master.graded[cell]: score for cell, score in graded}
        after = self._scores(notebook)
        return [
            Change(student, name, before.get(name), score)
            for name, score in after.items()
            if name in before and before[name] != score
        ]

    def _scores(self, notebook: NotebookNode | None) -> dict[str, float | None]:
        if notebook is None:
            return dict.fromkeys(self.worth, 0.0)
        return {c.metadata.nbgrader["grade_id"]: determine_grade(c)[0] for c in notebook.cells if is_grade(c)}

    def record(self, student: str, notebook: NotebookNode | None, timestamp: datetime | None) -> None:
        """Write the marks of `student`, then the autograded notebook. `notebook` None: nothing was handed in."""
        try:
            submission = self._submission(student, timestamp)
            (submitted,) = (n for n in submission.notebooks if n.notebook_id == self.master.id)
            if notebook is None:
                for grade in submitted.grades:
                    grade.auto_score, grade.needs_manual_grade = 0.0, False
            else:
                self._marks(submitted, notebook)
            self.db.flush()
            self._late_penalty(submission, submitted)
            self.db.commit()
        except BaseException:
            self.db.rollback()
            raise

    def _submission(self, student: str, timestamp: datetime | None) -> SubmittedAssignment:
        if self.db.get(Student, student) is None:
            self.db.add(Student(id=student))
        found: SubmittedAssignment | None = (
            self.db.query(SubmittedAssignment)
            .filter_by(assignment_id=self.assignment_id, student_id=student)
            .one_or_none()
        )
        if found is None:
            with self.db.no_autoflush:
                found = SubmittedAssignment(assignment_id=self.assignment_id, student_id=student, timestamp=timestamp)
                for master in self.masters:
                    submitted = SubmittedNotebook(notebook_id=master.id, assignment=found)
                    for cell_id in master.graded:
                        Grade(cell_id=cell_id, notebook=submitted)
                    for cell_id in master.commented:
                        Comment(cell_id=cell_id, notebook=submitted)
            self.db.add(found)
            self.db.flush()
        elif timestamp is not None:
            found.timestamp = timestamp
        return found

    def _marks(self, submitted: SubmittedNotebook, notebook: NotebookNode) -> None:
        """As nbgrader's SaveAutoGrades does it, and the step SaveGrades beside it."""
        grades: dict[str, Grade] = {self.master.graded[grade.cell_id]: grade for grade in submitted.grades}
        comments: dict[str, Comment] = {self.master.commented[c.cell_id]: c for c in submitted.comments}
        for cell in notebook.cells:
            if is_grade(cell):
                grade = grades[cell.metadata.nbgrader["grade_id"]]
                grade.auto_score, _ = determine_grade(cell)
                grade.needs_manual_grade = grade.manual_score is not None or grade.auto_score is None
            if is_solution(cell) or is_task(cell):
                untouched = cell.metadata.nbgrader.get("checksum") == compute_checksum(cell) and not is_task(cell)
                comments[cell.metadata.nbgrader["grade_id"]].auto_comment = "No response." if untouched else None
            if is_task(cell) and not float(cell.metadata.nbgrader.get("points", 0)):
                grade = grades[cell.metadata.nbgrader["grade_id"]]
                grade.auto_score, grade.needs_manual_grade = 0.0, False
        submitted.flagged = bool(notebook.metadata.get("autograder", {}).get("flags"))

    def _late_penalty(self, submission: SubmittedAssignment, submitted: SubmittedNotebook) -> None:
        submitted.late_submission_penalty = None
        late = submission.total_seconds_late
        if late > 0:
            self.db.refresh(submitted)
            penalty = self.late.late_submission_penalty(submission.student_id, submitted.score, late)
            if penalty is not None:
                submitted.late_submission_penalty = min(max(penalty, 0), submitted.score)

    def score(self, student: str) -> tuple[float, float]:
        """(score, highest score) of `student`, manual marks and penalties included."""
        submission = self.gradebook.find_submission(self.lesson.name, student)
        return submission.score, submission.max_score

    def write_folder(self, student: str, notebook: NotebookNode, submitted: Path) -> None:
        """Put the autograded notebook, and what was handed in beside it, where nbgrader keeps them."""
        folder = Path(self.directory.format_path(self.directory.autograded_directory, student, self.lesson.name))
        folder = Path(self.directory.root) / folder if not folder.is_absolute() else folder
        folder.mkdir(parents=True, exist_ok=True)
        # The secret is nbgrader's: by it the exchange finds whose feedback is whose.
        for name in ("timestamp.txt", "submission_secret.txt"):
            beside = _small_text(submitted / name)
            if beside is not None:
                _replace(folder / name, beside.read_text(errors="replace"))
        # In one line: laying it out for people, whom nothing brings here, takes ten times as long.
        _replace(folder / f"{self.lesson.notebook}.ipynb", json.dumps(notebook, ensure_ascii=False) + "\n")

    def autograded(self, student: str) -> Path:
        folder = Path(self.directory.format_path(self.directory.autograded_directory, student, self.lesson.name))
        return Path(self.directory.root) / folder / f"{self.lesson.notebook}.ipynb"


def stamp_in(submitted: Path) -> Path | None:
    """The time stamp beside a submission, if there is one that can be read without surprise."""
    return _small_text(submitted / "timestamp.txt")


def _small_text(path: Path) -> Path | None:
    return path if path.is_file() and not path.is_symlink() and path.stat().st_size < 1000 else None


def _replace(path: Path, text: str) -> None:
    """Write a file whole or not at all, read-only as nbgrader leaves it."""
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        aside.write_text(text, encoding="utf-8")
        aside.chmod(0o444)
        os.replace(aside, path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
