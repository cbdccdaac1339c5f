"""A collector for `nbgrader zip_collect` that understands the file names in Canvas's and Moodle's ZIPs of submissions.

    nbgrader zip_collect LESSON --collector=autograder.grading.collect.LmsCollector --LmsCollector.roster=FILE

Canvas: lovelaceada_LATE_101_55501_reverse_mode-1.ipynb. The first number is Canvas's own of the student.
Moodle: Ada Lovelace_7001_assignsubmission_file_/reverse_mode.ipynb, or all of it in the file's name. The number is the
participant's, and stands in the assignment's grading worksheet.
"""

from __future__ import annotations

import re
from functools import cached_property
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.plugins.zipcollect import FileNameCollectorPlugin
from traitlets import Unicode

from autograder.grading.course import trouble_with_id
from autograder.grading.export import Sheet
from autograder.lessons import find

CANVAS = re.compile(r"(?P<name>[^_]+)_(?:LATE_)?(?P<number>\d+)_\d+_(?P<file>.+)\.ipynb", re.IGNORECASE)
MOODLE = re.compile(r"(?P<name>.+?)_(?P<number>\d+)_assignsubmission_file_?(?P<file>.*?)(?:\.ipynb)?", re.IGNORECASE)
_PARTICIPANT = re.compile(r"_\d+_assignsubmission_file", re.IGNORECASE)


class LmsCollector(FileNameCollectorPlugin):
    """Finds out whose each notebook is: by the roster, by the gradebook's lms_user_id, by a full name met only once."""

    roster = Unicode(
        "",
        help="A file that tells whose number is whose: Canvas's gradebook CSV, or Moodle's grading worksheet.",
    ).tag(config=True)

    def collect(self, submitted_file: str) -> dict[str, str] | None:
        """{"student_id", "file_id"}, or None for a file that is no notebook of anybody's."""
        path = Path(submitted_file)
        if path.suffix.lower() != ".ipynb" or "__MACOSX" in path.parts or ".ipynb_checkpoints" in path.parts:
            return None
        # The outermost folder is Moodle's, and of a file's name the beginning; the rest may be the student's words.
        folders = ((MOODLE, folder) for folder in path.parts[:-1])
        for pattern, text in (*folders, (CANVAS, path.name), (MOODLE, path.name)):
            found = pattern.fullmatch(text)
            if found and pattern is MOODLE and len(_PARTICIPANT.findall(text)) > 1:
                self.log.warning("%s: whose is it? It names two participants. Collect it by hand", path.name)
                return None
            if found:
                file = found["file"] or path.stem
                student = self._student(found["number"], found["name"])
                if student is None:
                    self.log.warning(
                        "%s: whose is it? Give --LmsCollector.roster, or lms_user_id in the gradebook", path.name
                    )
                    return None
                if trouble := trouble_with_id(student):
                    self.log.warning("%s: the id %r %s. Give another one", path.name, student, trouble)
                    return None
                return {"student_id": student, "file_id": self._file(file)}
        self.log.warning("%s: neither Canvas nor Moodle names files like this", path.name)
        return None

    def _student(self, number: str, name: str) -> str | None:
        if number in self._numbers:
            return self._numbers[number]
        return self._names.get(_squeeze(name))

    def _file(self, name: str) -> str:
        """The lesson's own name for what is called like it but for Canvas's count of resubmissions or a browser's copies."""
        lesson = find(self.parent.coursedir.assignment_id)
        plain = re.sub(r"(-\d+| ?\(\d+\))+$", "", name)
        return lesson.notebook if plain.casefold() == lesson.notebook else name

    @cached_property
    def _students(self) -> list[tuple[str, str, str, str]]:
        directory = self.parent.coursedir
        with Gradebook(directory.db_url, directory.course_id) as gradebook:
            return [
                (s.id, s.lms_user_id or "", s.email or "", f"{s.first_name} {s.last_name}") for s in gradebook.students
            ]

    @cached_property
    def _numbers(self) -> dict[str, str]:
        """Number in a file's name → student id."""
        numbers = {lms: id for id, lms, _, _ in self._students if lms}
        if not self.roster:
            return numbers
        sheet = Sheet.read(Path(self.roster))
        identifier, login = (
            sheet.column("Identifier"),
            sheet.column("SIS Login ID", "SIS User ID", "Username", "ID number"),
        )
        number = identifier if identifier is not None else sheet.column("ID")
        email = sheet.column("Email address", "Email")
        by_email = {email.casefold(): id for id, _, email, _ in self._students if email}
        for row in sheet.rows:
            cells = {
                place: row[place].strip() for place in (number, login, email) if place is not None and place < len(row)
            }
            key = re.sub(r"\D", "", cells.get(number, "")) if number is not None else ""
            address = cells.get(email, "") if email is not None else ""
            student = cells.get(login, "") if login is not None else ""
            student = student or by_email.get(address.casefold(), "") or address
            if key and student and Path(student).name == student:
                numbers[key] = student
        return numbers

    @cached_property
    def _names(self) -> dict[str, str]:
        """Squeezed full name, either part first → student id; names that two students share tell nothing."""
        names: dict[str, str] = {}
        shared = set()
        for id, _, _, name in self._students:
            first, _, last = name.partition(" ")
            for key in {_squeeze(name), _squeeze(last + first)}:
                if key in names:
                    shared.add(key)
                names[key] = id
        return {key: id for key, id in names.items() if key and key not in shared}


def _squeeze(name: str) -> str:
    """Letters and digits alone, in one case: Canvas leaves nothing else of a name."""
    return "".join(c for c in name.casefold() if c.isalnum())
