"""What the gradebook holds of one assignment, as plain data, in two queries whatever the size of the class."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from nbgrader.api import (
    Assignment,
    BaseCell,
    Grade,
    Gradebook,
    GradeCell,
    Notebook,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
    TaskCell,
)

from autograder.lessons import tag_of


@dataclass
class Mark:
    """One student's marks of one assignment. `scores` are by tag ("3.1"); points by hand count where they are given."""

    student: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_user_id: str = ""
    handed_in: bool = False
    timestamp: datetime | None = None
    duedate: datetime | None = None  # with the student's own extension
    scores: dict[str, float] = field(default_factory=dict)
    waiting: list[str] = field(default_factory=list)  # tags that wait for a person
    penalty: float = 0.0
    flagged: bool = False

    @property
    def raw_score(self) -> float:
        return sum(self.scores.values())

    @property
    def score(self) -> float:
        """What counts: the points without the late penalty, never below 0."""
        return max(0.0, self.raw_score - self.penalty)

    @property
    def name(self) -> str:
        return " ".join(filter(None, (self.first_name, self.last_name)))


@dataclass
class Marks:
    """An assignment's marks: every student of the gradebook, those who handed nothing in too."""

    assignment: str
    worth: dict[str, float]  # tag -> points, of all that can give any, in the notebook's order
    students: list[Mark]

    @property
    def max_score(self) -> float:
        return sum(self.worth.values())

    @property
    def handed_in(self) -> list[Mark]:
        return [mark for mark in self.students if mark.handed_in]


def marks_of(gradebook: Gradebook, assignment_name: str) -> Marks:
    """The marks of an assignment. nbgrader.api.MissingEntry if the gradebook does not know it."""
    assignment = gradebook.find_assignment(assignment_name)
    db = gradebook.db
    worth: dict[str, float] = {}
    for kind in (GradeCell, TaskCell):
        cells = db.query(kind.name, kind.max_score).join(Notebook).filter(Notebook.assignment_id == assignment.id)
        worth |= {tag_of(name): float(points) for name, points in cells if points}
    worth = dict(sorted(worth.items(), key=lambda item: _order(item[0])))

    by_id = {
        s.id: Mark(s.id, s.first_name or "", s.last_name or "", s.email or "", s.lms_user_id or "", duedate=assignment.duedate)
        for s in db.query(Student).order_by(Student.id)
    }  # fmt: skip
    submitted = (
        db.query(
            SubmittedAssignment.student_id,
            SubmittedAssignment.timestamp,
            SubmittedAssignment.extension,
            SubmittedNotebook.flagged,
            SubmittedNotebook.late_submission_penalty,
        )
        .join(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .filter(SubmittedAssignment.assignment_id == assignment.id)
    )
    for student, timestamp, extension, flagged, penalty in submitted:
        mark = by_id[student]
        mark.handed_in, mark.timestamp = True, timestamp
        mark.flagged |= bool(flagged)
        mark.penalty += float(penalty or 0.0)
        if mark.duedate is not None and extension is not None:
            mark.duedate = assignment.duedate + extension
    grades = (
        db.query(
            SubmittedAssignment.student_id,
            BaseCell.name,
            Grade.auto_score,
            Grade.manual_score,
            Grade.extra_credit,
            Grade.needs_manual_grade,
        )
        .select_from(Grade)
        .join(SubmittedNotebook, Grade.notebook_id == SubmittedNotebook.id)
        .join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .join(BaseCell, Grade.cell_id == BaseCell.id)
        .join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)
        .filter(Assignment.id == assignment.id)
    )
    for student, cell, automatic, manual, extra, waits in grades:
        tag, mark = tag_of(cell), by_id[student]
        points = manual if manual is not None else automatic if automatic is not None else 0.0
        if tag in worth or points or extra:
            mark.scores[tag] = float(points) + float(extra or 0.0)
        if waits:
            mark.waiting.append(tag)
    return Marks(assignment_name, worth, list(by_id.values()))


def _order(tag: str) -> tuple[int, int, str]:
    """Exercises by number, then what has none: 3.2, 3.10, 3.written."""
    number = tag.partition(".")[2]
    return (0, int(number), tag) if number.isdigit() else (1, 0, tag)
