"""Marks for other places, as nbgrader ExportPlugins: Canvas, Moodle, plain CSV, JSON.

    nbgrader export --exporter autograder.grading.export.CanvasExport --CanvasExport.file=canvas.csv

Numbers are written as numbers. Text that a spreadsheet would take for a formula gets an apostrophe in front.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook
from nbgrader.plugins import ExportPlugin
from traitlets import Unicode

from autograder.grading.marks import Mark, Marks, marks_of
from autograder.lessons import find

FORMULA = ("=", "+", "-", "@", "\t", "\r")


class ExportError(SystemExit):
    """An export that cannot be made. nbgrader ends on it with the message alone, and exit status 1."""


def harmless(text: str) -> str:
    """`text` as a cell that no spreadsheet takes for a formula."""
    return "'" + text if text.startswith(FORMULA) else text


def points(score: float) -> str:
    """A score as a plain number without needless digits: 7, 7.5, 6.67."""
    return f"{round(score, 2):.2f}".rstrip("0").rstrip(".") or "0"


class _Export(ExportPlugin):
    """What all exports share: which assignments, which students, where to."""

    default = "marks.csv"

    def chosen(self, gradebook: Gradebook) -> list[Marks]:
        """The marks of the wanted assignments; students reduced to the wanted ones."""
        known = [assignment.name for assignment in gradebook.assignments]
        wanted = [str(name) for name in self.assignment] or known
        unknown = [name for name in wanted if name not in known]
        if unknown or not wanted:
            raise ExportError(
                f"The gradebook knows no assignment {', '.join(unknown) or 'at all'}. It knows: {', '.join(known) or 'none'}."
            )
        every = [marks_of(gradebook, name) for name in wanted]
        ids = {str(student) for student in self.student}
        for marks in every:
            marks.students = [mark for mark in marks.students if not ids or mark.student in ids]
        return every

    def write(self, text: str) -> None:
        destination = Path(self.to or self.default)
        # newline="": the csv module has put the line ends already
        with open(destination, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        self.log.info("Wrote %s", destination)


def _title(assignment: str) -> str:
    try:
        return find(assignment).title
    except KeyError:
        return assignment


# ---- Plain ---------------------------------------------------------------------------------------------------------

COLUMNS = (
    "assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email", "raw_score",
    "late_submission_penalty", "score", "max_score", "needs_manual_grade", "flagged",
)  # fmt: skip


class PlainExport(_Export):
    """Every student's marks of every assignment, one row each: the columns of nbgrader's own export and two more."""

    default = "marks.csv"

    def export(self, gradebook: Gradebook) -> None:
        text = io.StringIO()
        table = csv.writer(text)
        table.writerow(COLUMNS)
        for marks in self.chosen(gradebook):
            for mark in marks.students:
                table.writerow(
                    (
                        harmless(marks.assignment), mark.duedate or "", mark.timestamp or "", harmless(mark.student),
                        harmless(mark.last_name), harmless(mark.first_name), harmless(mark.email), points(mark.raw_score),
                        points(mark.penalty), points(mark.score), points(marks.max_score), len(mark.waiting), int(mark.flagged),
                    )
                )  # fmt: skip
        self.write(text.getvalue())


class JsonExport(_Export):
    """The same as JSON, with the points of each exercise."""

    default = "marks.json"

    def export(self, gradebook: Gradebook) -> None:
        data = [_as_json(marks) for marks in self.chosen(gradebook)]
        self.write(json.dumps(data, indent=2, ensure_ascii=False) + "\n")


def _as_json(marks: Marks) -> dict[str, Any]:
    return {
        "assignment": marks.assignment,
        "max_score": marks.max_score,
        "exercises": marks.worth,
        "students": [
            {
                "id": mark.student, "first_name": mark.first_name, "last_name": mark.last_name, "email": mark.email,
                "lms_user_id": mark.lms_user_id, "handed_in": mark.handed_in,
                "timestamp": mark.timestamp.isoformat() if mark.timestamp else None,
                "duedate": mark.duedate.isoformat() if mark.duedate else None,
                "raw_score": mark.raw_score, "late_submission_penalty": mark.penalty, "score": mark.score,
                "scores": mark.scores, "needs_manual_grade": mark.waiting, "flagged": mark.flagged,
            }
            for mark in marks.students
        ],
    }  # fmt: skip


# ---- Files of a learning management system, filled in --------------------------------------------------------------


@dataclass
class Sheet:
    """A CSV file as somebody else's program wrote it: what is not filled in goes back as it came."""

    header: list[str]
    rows: list[list[str]]
    delimiter: str
    bom: bool

    @classmethod
    def read(cls, path: Path) -> Sheet:
        """ExportError if there is no such file, or it is no table in UTF-8."""
        try:
            content = path.read_bytes()
            text = content.decode("utf-8-sig")
        except FileNotFoundError:
            raise ExportError(f"{path}: there is no such file.") from None
        except UnicodeDecodeError:
            raise ExportError(f"{path} is not UTF-8. Export it anew, and do not save it from a spreadsheet.") from None
        first = text.split("\n", 1)[0]
        delimiter = max(",;\t", key=first.count)
        table = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
        if not table:
            raise ExportError(f"{path} is empty.")
        return cls(table[0], table[1:], delimiter, content.startswith(b"\xef\xbb\xbf"))

    def text(self) -> str:
        out = io.StringIO()
        table = csv.writer(out, delimiter=self.delimiter)
        table.writerow(self.header)
        table.writerows(self.rows)
        return ("\ufeff" if self.bom else "") + out.getvalue()

    def column(self, *names: str) -> int | None:
        """The place of the first of `names` in the header, whatever its capitals."""
        header = [name.strip().casefold() for name in self.header]
        return next((header.index(name.casefold()) for name in names if name.casefold() in header), None)

    def put(self, row: list[str], column: int, value: str) -> None:
        row.extend([""] * (len(self.header) - len(row)))
        row[column] = value


def _keys(mark: Mark) -> set[str]:
    """All that a student may be known by elsewhere."""
    return {key.strip().casefold() for key in (mark.student, mark.lms_user_id, mark.email) if key.strip()}


class _Filled(_Export):
    """An export that fills one column an assignment in a file that the other side gave."""

    file = Unicode("", help="The file that is to be filled in, as the learning management system gave it.").tag(
        config=True
    )
    column = Unicode("", help="Header of the column to fill, where it is not found by the assignment's name.").tag(
        config=True
    )
    absent = Unicode("", help='What stands for a student who handed nothing in: nothing at all, or "0".').tag(
        config=True
    )
    identity: Sequence[str] = ()  # headers of the columns by which a student is known

    def is_student(self, row: Sequence[str]) -> bool:
        return any(cell.strip() for cell in row)

    def fill(self, sheet: Sheet, marks: Marks, column: int) -> None:
        places = [place for name in self.identity if (place := sheet.column(name)) is not None]
        if not places:
            raise ExportError(
                f"{self.file} has none of the columns {', '.join(self.identity)}: whose marks are these rows?"
            )
        by_key: dict[str, Mark] = {}
        twice: set[str] = set()
        for mark in marks.students:
            for key in _keys(mark):
                if by_key.setdefault(key, mark) is not mark:
                    twice.add(key)
        met = set()
        for row in filter(self.is_student, sheet.rows):
            keys = [row[place].strip().removeprefix("'").casefold() for place in places if place < len(row)]
            found = {by_key[key].student: by_key[key] for key in keys if key in by_key and key not in twice}
            if len(found) != 1:
                if found:
                    self.log.warning("%s: more than one student of the gradebook; left as it is", row)
                continue
            (mark,) = found.values()
            met.add(mark.student)
            value = points(mark.score) if mark.handed_in else self.absent
            if value:
                sheet.put(row, column, value)
        lost = [mark.student for mark in marks.handed_in if mark.student not in met]
        if lost:
            self.log.warning("%s: not in %s: %s", marks.assignment, self.file, ", ".join(lost))
        self.log.info("%s: %d marks in column %r", marks.assignment, len(met), sheet.header[column])


def _bare(header: str) -> str:
    """A column's name without the number that Canvas puts behind it, or the words that Moodle puts around it."""
    header = re.sub(r"\s*\((\d+|Real|Points?|Percentage|Letter)\)\s*$", "", header.strip())
    return re.sub(r"^(Assignment|Quiz|Manual item|External tool)\s*:\s*", "", header).casefold()


def _place(sheet: Sheet, marks: Marks, named: str, file: str) -> int:
    """The column of an assignment: the one named, else the one called like the lesson or its title."""
    if named:
        wanted = {named.casefold(), _bare(named)}
        found = [i for i, name in enumerate(sheet.header) if name.strip().casefold() == named.casefold()] or [
            i for i, name in enumerate(sheet.header) if _bare(name) in wanted
        ]
    else:
        title = _title(marks.assignment).casefold()
        wanted = {marks.assignment.casefold(), title}
        found = [i for i, name in enumerate(sheet.header) if _bare(name) in wanted]
    if len(found) != 1:
        problem = "no column" if not found else f"{len(found)} columns"
        raise ExportError(
            f"{file} has {problem} for {named or marks.assignment}. Its columns: {', '.join(sheet.header)}. "
            f"Name the one that is meant: --{{}}.column=…"
        )
    return found[0]


class CanvasExport(_Filled):
    """Fills the assignment's column in a gradebook CSV that Canvas exported; all its rows and columns stay.

    Students are found by SIS Login ID, SIS User ID, Integration ID or Canvas's own ID, held against the gradebook's id,
    lms_user_id and email. Import the result in Canvas under Grades, Import.
    """

    default = "canvas-marks.csv"
    identity = ("SIS Login ID", "SIS User ID", "Integration ID", "ID")

    def is_student(self, row: Sequence[str]) -> bool:
        """The rows "Points Possible", "Student, Test" and the one on posting hold no student."""
        first = row[0].strip() if row else ""
        return super().is_student(row) and first not in ("", "Points Possible", "Student, Test", "Test Student")

    def export(self, gradebook: Gradebook) -> None:
        if not self.file:
            raise ExportError("Export the gradebook in Canvas first, and name the file: --CanvasExport.file=canvas.csv")
        sheet = Sheet.read(Path(self.file))
        for marks in self.chosen(gradebook):
            place = _place(sheet, marks, self.column, self.file)
            possible = next((row for row in sheet.rows if row and row[0].strip() == "Points Possible"), [])
            if place < len(possible) and _differs(possible[place], marks.max_score):
                self.log.warning(
                    "%s is worth %s points in Canvas and %s here; points are written as they are",
                    sheet.header[place], possible[place].strip(), points(marks.max_score),
                )  # fmt: skip
            self.fill(sheet, marks, place)
        # Canvas takes no notice of names when it reads the file; a spreadsheet does.
        for row in sheet.rows:
            if row and row[0].strip() != "Points Possible":
                row[0] = harmless(row[0])
        self.write(sheet.text())


def _differs(possible: str, here: float) -> bool:
    try:
        return abs(float(possible) - here) > 1e-9
    except ValueError:
        return False


MOODLE_COLUMNS = ("Username", "First name", "Last name", "ID number", "Email address")


class MoodleExport(_Filled):
    """Marks for Moodle: a grading worksheet or grade export of Moodle's filled in, or a table for its grade import.

    With `file`, the worksheet's "Grade", or the column called like the lesson, is filled. Without, a table is written that
    Moodle's Grades, Import, CSV file takes: map it by Username, ID number or Email address.
    """

    default = "moodle-marks.csv"
    identity = ("Username", "ID number", "Email address", "Email")

    def export(self, gradebook: Gradebook) -> None:
        every = self.chosen(gradebook)
        if not self.file:
            self.write(self._table(every))
            return
        sheet = Sheet.read(Path(self.file))
        worksheet = sheet.column("Grade") if sheet.column("Maximum Grade") is not None and not self.column else None
        if worksheet is not None and len(every) > 1:
            raise ExportError(
                "A grading worksheet is of one assignment: say which with --assignment=\"['3-reverse-mode']\"."
            )
        for marks in every:
            self.fill(
                sheet, marks, worksheet if worksheet is not None else _place(sheet, marks, self.column, self.file)
            )
        names = [
            p for name in ("Full name", "First name", "Last name", "Surname") if (p := sheet.column(name)) is not None
        ]
        for row in sheet.rows:
            for place in names:
                if place < len(row):
                    row[place] = harmless(row[place])
        self.write(sheet.text())

    def _table(self, every: Iterable[Marks]) -> str:
        every = list(every)
        text = io.StringIO()
        table = csv.writer(text)
        table.writerow((*MOODLE_COLUMNS, *(_title(marks.assignment) for marks in every)))
        by_student: list[Mapping[str, Mark]] = [{mark.student: mark for mark in marks.students} for marks in every]
        for mark in every[0].students:
            known = (mark.student, mark.first_name, mark.last_name, mark.lms_user_id or mark.student, mark.email)
            own = [students[mark.student] for students in by_student]
            scores = [points(m.score) if m.handed_in else self.absent for m in own]
            table.writerow((*map(harmless, known), *scores))
        return text.getvalue()
