"""The steps that stand in nbgrader's pipeline: read and repair, execute in a box, write verdicts, save, scrub.

nbgrader_config.py puts them in place, so that stock `nbgrader autograde`, the formgrader's button and
`nbgrader generate_feedback` work as their users know them.
"""

from __future__ import annotations

import atexit
import copy
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from nbconvert.exporters import NotebookExporter
from nbconvert.preprocessors import Preprocessor
from nbformat.notebooknode import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor, SaveAutoGrades
from nbgrader.utils import is_grade, is_solution, is_task
from traitlets import Bool, Dict, Enum, Float, Integer, Unicode

from autograder.grading import marking, seeds
from autograder.grading.course import CourseError, course_root, pattern
from autograder.grading.kernel import CellJob, Kernel, Limits
from autograder.grading.reading import Unreadable, read_file
from autograder.grading.repair import repair
from autograder.lessons import find

HIDDEN_MARK = "### BEGIN HIDDEN TESTS"

_kernels: dict[tuple[str, Limits], Kernel] = {}


def shared_kernel(sandbox: str, limits: Limits) -> Kernel:
    """One warmed kernel a process and setting, closed when the process ends."""
    key = (sandbox, limits)
    if key not in _kernels:
        _kernels[key] = Kernel(sandbox=sandbox, limits=limits)
        atexit.register(_kernels[key].close)
    return _kernels[key]


def _lesson(resources: dict[str, Any]) -> str | None:
    """The lesson being graded, or None for an assignment that is not one of the course's lessons."""
    try:
        return find(resources["nbgrader"]["assignment"]).name
    except KeyError:
        return None


def root_of(resources: dict[str, Any]) -> Path:
    """The course folder: where the gradebook is, if a course is there, else the nearest one from here."""
    url = str(resources["nbgrader"]["db_url"])
    if url.startswith("sqlite:///"):
        folder = Path(url.removeprefix("sqlite:///")).resolve().parent
        if (folder / "nbgrader_config.py").is_file():
            return folder
    return course_root()


class RepairingExporter(NotebookExporter):
    """Reads a submission whatever its state, and brings it back into its lesson's shape.

    A file that is no notebook becomes the unfilled lesson with a note that says why: zero, flagged, and the class goes
    on. The second pass over an already repaired notebook reads it as it is.
    """

    def from_filename(self, filename: str, resources: Any = None, **kw: Any) -> Any:
        lesson = _lesson(resources) if resources else None
        if lesson is None or not getattr(self.parent, "_sanitizing", True):
            return super().from_filename(filename, resources=resources, **kw)
        like = pattern(root_of(resources), lesson)
        try:
            repaired = repair(read_file(Path(filename)), like)
            notebook, flags, digest = repaired.notebook, repaired.flags, repaired.digest
        except (Unreadable, OSError) as error:
            reason = str(error) if isinstance(error, Unreadable) else f"the file could not be read ({error.strerror})"
            notebook, flags, digest = copy.deepcopy(like), [f"no notebook was handed in: {reason}"], ""
        notebook.metadata["autograder"] = {"flags": flags, "digest": digest}
        resources["metadata"] = {"name": Path(filename).stem, "path": str(Path(filename).parent)}
        return self.from_notebook_node(notebook, resources=resources, **kw)  # type: ignore[no-untyped-call]


class Execute(NbGraderPreprocessor):
    """Runs a repaired submission in a box, each check cell with its own fresh cases."""

    sandbox = Enum(
        ["bwrap", "none"],
        "bwrap",
        help="How student code is held: bubblewrap, or nothing at all (see docs/security.md).",
    ).tag(config=True)
    seconds_per_cell = Float(Limits.seconds_per_cell, help="Time limit of one cell, in seconds.").tag(config=True)
    seconds_total = Float(Limits.seconds_total, help="Time limit of one submission, in seconds.").tag(config=True)
    memory_bytes = Integer(Limits.memory_bytes, help="Memory limit of one submission, in bytes.").tag(config=True)
    output_bytes = Integer(Limits.output_bytes, help="Output kept of one cell, in bytes.").tag(config=True)
    seconds = Dict(
        value_trait=Float(), key_trait=Unicode(), help='Seconds for the checks of single exercises: {"5.7": 60}.'
    ).tag(config=True)
    memory = Dict(
        value_trait=Integer(), key_trait=Unicode(), help='Bytes of memory for single exercises: {"5.7": 4 << 30}.'
    ).tag(config=True)
    output = Dict(
        value_trait=Integer(), key_trait=Unicode(), help='Bytes of output for single exercises: {"5.7": 1_000_000}.'
    ).tag(config=True)

    def limits(self) -> Limits:
        """The limits of the box as a whole: room for the exercise that may use most."""
        return Limits(
            seconds_per_cell=self.seconds_per_cell,
            seconds_total=self.seconds_total,
            memory_bytes=max(self.memory_bytes, *self.memory.values()) if self.memory else self.memory_bytes,
            output_bytes=max(self.output_bytes, *self.output.values()) if self.output else self.output_bytes,
        )

    def limited(self, jobs: Sequence[CellJob]) -> list[CellJob]:
        """`jobs`, each check with its own exercise's limits, every other cell with the usual ones."""
        return [
            replace(
                job,
                seconds=self.seconds.get(job.exercise or "", job.seconds),
                memory_bytes=self.memory.get(job.exercise or "", self.memory_bytes),
                output_bytes=self.output.get(job.exercise or "", self.output_bytes),
            )
            for job in jobs
        ]

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        lesson = _lesson(resources)
        if lesson is None:
            raise CourseError(
                f"{resources['nbgrader']['assignment']} is not a lesson of this course, so there are no checks to run. "
                "Keep other assignments in a course folder of their own, with their own nbgrader_config.py."
            )
        kernel = shared_kernel(self.sandbox, self.limits())
        jobs = marking.jobs(nb, pattern(root_of(resources), lesson), lesson, seed_for(nb, resources))
        marking.put_outputs(nb, kernel.run(self.limited(jobs)))
        return nb, resources


def seed_for(nb: NotebookNode, resources: Any) -> marking.Seed:
    """The seeds of this submission's cases: the same in every pass over the same file."""
    secret = seeds.course_secret(root_of(resources))
    student, lesson = str(resources["nbgrader"]["student"]), str(resources["nbgrader"]["assignment"])
    digest = str(nb.metadata.get("autograder", {}).get("digest", ""))

    def seed(exercise: str) -> Random:
        return seeds.rng(secret, student, lesson, digest, exercise)

    return seed


class WriteVerdicts(NbGraderPreprocessor):
    """Judges the evidence and overwrites the outputs of every check cell: card, verdict, points as a plain float."""

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        lesson = _lesson(resources)
        if lesson is None:
            return nb, resources
        marking.put_verdicts(nb, pattern(root_of(resources), lesson), lesson, seed_for(nb, resources))
        return nb, resources


class SaveGrades(SaveAutoGrades):
    """nbgrader's SaveAutoGrades, plus the flag, and no manual grading for task cells that are worth nothing."""

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        nb, resources = super().preprocess(nb, resources)
        where = resources["nbgrader"]
        with Gradebook(where["db_url"]) as gradebook:
            submitted = gradebook.find_submission_notebook(where["notebook"], where["assignment"], where["student"])
            submitted.flagged = bool(nb.metadata.get("autograder", {}).get("flags"))
            for cell in nb.cells:
                # A rubric worth 0 points asks nobody for a mark.
                if is_task(cell) and not float(cell.metadata.nbgrader.get("points", 0)):
                    grade = gradebook.find_grade(
                        cell.metadata.nbgrader["grade_id"], where["notebook"], where["assignment"], where["student"]
                    )
                    grade.auto_score = 0.0
                    grade.needs_manual_grade = False
            gradebook.db.commit()
        return nb, resources


_STYLE = re.compile(r"<style>.*?</style>", re.DOTALL)
_SCHEME = re.compile(r"^[^\n]*BEGIN MARK SCHEME.*?(?:END MARK SCHEME[^\n]*|\Z)", re.DOTALL | re.MULTILINE)


class ScrubFeedback(Preprocessor):
    """Makes of an autograded notebook what a student gets back: the text, the answers, and the verdict on each.

    Hidden tests, mark schemes, evidence and verdict data are not for students. Hints, and the lesson's own code where
    it was left as released, are left out so that the page stays small.
    """

    enabled = Bool(True).tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        lesson = _lesson(resources)
        released = {c.id: c.source for c in pattern(root_of(resources), lesson).cells} if lesson else {}
        styles: set[str] = set()

        def once(style: re.Match[str]) -> str:
            """Cards bring their style along; one copy serves the page."""
            if style.group() in styles:
                return ""
            styles.add(style.group())
            return style.group()

        def kept(cell: NotebookNode) -> bool:
            if cell.cell_type != "code":
                return "hints" not in cell.metadata.get("tags", [])
            return is_grade(cell) or is_solution(cell) or released.get(cell.id) != cell.source

        nb.cells = [self._scrubbed(cell, once) for cell in nb.cells if kept(cell)]
        return nb, resources

    def _scrubbed(self, cell: NotebookNode, once: Callable[[re.Match[str]], str]) -> NotebookNode:
        if cell.cell_type == "code":
            if is_grade(cell):
                cell.source = cell.source.split(HIDDEN_MARK)[0].rstrip()
                cell.outputs = [o for o in cell.outputs if o.get("output_type") == "display_data"]
            for output in cell.outputs:
                data = output.get("data", {})
                for kind in list(data):
                    if kind.startswith("application/vnd.autograder"):
                        del data[kind]
                if "text/html" in data:
                    data["text/html"] = _STYLE.sub(once, "".join(data["text/html"]))
        elif is_task(cell):
            cell.source = _SCHEME.sub("", cell.source).rstrip()
        return cell
