"""Seconds that `autograder report` takes for a large class: a small one is graded, then copied over and over.

    python benchmarks/report.py [--students 1000] [--lesson 3-reverse-mode]

The copies are made in the gradebook and in autograded/, as another grading would leave them; only the report is timed,
as the command, from its start to the page on disk.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from nbgrader.api import Comment, Grade, Gradebook, Student, SubmittedAssignment, SubmittedNotebook

from autograder.grading.batch import autograde
from autograder.grading.course import course_root
from autograder.grading.simulate import simulate
from autograder.lessons import find

GRADED = 12  # submissions that are really graded


def small_class(folder: Path, lesson: str) -> None:
    root = course_root()
    for name in ("source", "release"):
        shutil.copytree(root / name / lesson, folder / name / lesson)
    shutil.copy(root / "nbgrader_config.py", folder)
    simulate(folder, lesson, GRADED, seed=4)
    autograde(folder, lesson)


def copies(folder: Path, lesson: str, number: int) -> None:
    """Bring the class to `number` students, each further one with the marks and the notebook of one who is there."""
    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}", "backward-pass") as gradebook:
        db = gradebook.db
        db.autoflush = False
        there = gradebook.assignment_submissions(lesson)
        for place in range(len(there), number):
            like = there[place % len(there)]
            db.add(Student(id=f"copy{place}", first_name="Ada", last_name=f"Copy {place}"))
            copy = SubmittedAssignment(assignment=like.assignment, student_id=f"copy{place}", timestamp=like.timestamp)
            for notebook in like.notebooks:
                own = SubmittedNotebook(notebook=notebook.notebook, assignment=copy, flagged=notebook.flagged)
                for grade in notebook.grades:
                    Grade(
                        cell_id=grade.cell_id, notebook=own, auto_score=grade.auto_score, manual_score=grade.manual_score,
                        needs_manual_grade=grade.needs_manual_grade,
                    )  # fmt: skip
                for comment in notebook.comments:
                    Comment(cell_id=comment.cell_id, notebook=own, auto_comment=comment.auto_comment)
            db.add(copy)
            autograded = folder / "autograded"
            shutil.copytree(autograded / like.student_id / lesson, autograded / f"copy{place}" / lesson)
        db.commit()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--students", type=int, default=1000)
    parser.add_argument("--lesson", default="3-reverse-mode")
    options = parser.parse_args()
    lesson = find(options.lesson).name
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        small_class(folder, lesson)
        copies(folder, lesson, options.students)
        begun = time.perf_counter()
        subprocess.run([sys.executable, "-m", "autograder", "report", lesson], cwd=folder, check=True)
        print(f"{time.perf_counter() - begun:.1f} s for {options.students} students")


if __name__ == "__main__":
    main()
