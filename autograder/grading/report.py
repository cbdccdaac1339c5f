"""`autograder report`: what a class made of a lesson, as one page, from the gradebook and the autograded notebooks."""

from __future__ import annotations

import ast
import csv
import io
import json
import math
import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from importlib import resources
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.coursedir import CourseDirectory

from autograder.evidence import VERDICT_MIME
from autograder.exercises import exercises_of
from autograder.grading.course import CourseError
from autograder.grading.export import harmless, points
from autograder.grading.marks import Mark, Marks, marks_of
from autograder.lessons import Lesson, find, tag_of
from autograder.verdict import ERROR, FAILED, PARTIAL, PASSED, UNANSWERED

SHOWN = (PASSED, PARTIAL, FAILED, ERROR, UNANSWERED)  # the order of a bar's pieces
LOW = 0.4  # who has less than this share of the points may need help
LONGEST_EXAMPLE = 16  # lines
WITH_EXAMPLE = 8  # misconceptions that get an example on the page


@dataclass
class Paper:
    """One student's autograded notebook, as far as the report reads it."""

    verdicts: dict[str, dict[str, Any]] = field(default_factory=dict)  # exercise -> verdict
    code: dict[str, str] = field(default_factory=dict)  # exercise -> what the student wrote
    flags: list[str] = field(default_factory=list)


@dataclass
class ExerciseReport:
    """How one exercise went. Shares are in [0, 1]."""

    id: str
    title: str
    points: float
    counts: dict[str, int]  # by status
    gained: float  # mean share of the points
    discrimination: float | None  # of full marks against the points elsewhere; None where it cannot be told
    timeouts: int
    parts: list[tuple[str, float]]  # title, share of those who tried that have it right
    unnamed: int  # wrong in a way that no misconception predicts

    @property
    def tried(self) -> int:
        return sum(self.counts.values()) - self.counts.get(UNANSWERED, 0)


@dataclass
class MisconceptionReport:
    """A misconception wherever it shows, with one student's example, whose name is not told."""

    name: str
    count: int  # students
    share: float  # of those who tried one of its exercises
    exercises: dict[str, int]  # exercise -> students
    example_of: str  # the exercise that the example answers
    says: str
    seen: str
    code: str
    reread: str


@dataclass
class Waiting:
    """A written question: how many answers wait for a reader, are read, are empty."""

    id: str
    title: str
    points: float
    waiting: int
    read: int
    empty: int


@dataclass
class Person:
    """A student about whom there is something to say."""

    student: str
    name: str
    score: float
    says: list[str]


@dataclass
class Report:
    """All that the page shows."""

    lesson: str
    title: str
    made: str
    max_score: float
    scores: list[float]  # of those who handed in, ascending
    absent: list[Person]
    ungraded: int  # handed in, and not in the gradebook yet
    exercises: list[ExerciseReport]
    misconceptions: list[MisconceptionReport]
    written: list[Waiting]
    flagged: list[Person]
    help: list[Person]
    students: list[dict[str, Any]] = field(repr=False, default_factory=list)

    @property
    def median(self) -> float:
        return statistics.median(self.scores) if self.scores else 0.0

    @property
    def mean(self) -> float:
        return statistics.fmean(self.scores) if self.scores else 0.0

    @property
    def waiting(self) -> int:
        return sum(question.waiting for question in self.written)


# ---- Reading -------------------------------------------------------------------------------------------------------


def report(root: Path, lesson_name: str) -> Report:
    """The report on a lesson. CourseError if nothing of it has been graded."""
    from autograder.grading.course import load_config

    lesson = find(lesson_name)
    directory = CourseDirectory(config=load_config(root))
    database = Path(directory.db_url.removeprefix("sqlite:///"))
    nothing = CourseError(
        f"No submission of {lesson.name} has been graded yet. Run: autograder autograde {lesson.name}"
    )
    if directory.db_url.startswith("sqlite:///") and not database.exists():
        raise nothing
    try:
        with Gradebook(directory.db_url, directory.course_id) as gradebook:
            marks = marks_of(gradebook, lesson.name)
    except MissingEntry:
        raise nothing from None
    if not marks.handed_in:
        raise nothing
    papers = {mark.student: read_paper(_path(directory, mark.student, lesson)) for mark in marks.handed_in}
    known = {mark.student for mark in marks.handed_in}
    submitted = Path(directory.root) / directory.submitted_directory
    ungraded = sum(p.is_dir() and p.parent.name not in known for p in submitted.glob(f"*/{lesson.name}"))
    return summarize(lesson, marks, papers, ungraded)


def _path(directory: CourseDirectory, student: str, lesson: Lesson) -> Path:
    folder = directory.format_path(directory.autograded_directory, student, lesson.name)
    return Path(directory.root) / folder / f"{lesson.notebook}.ipynb"


def read_paper(path: Path) -> Paper:
    """What an autograded notebook says; an empty paper if there is none."""
    paper = Paper()
    try:
        notebook = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return paper
    paper.flags = list(notebook.get("metadata", {}).get("autograder", {}).get("flags", []))
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        data = cell["metadata"].get("nbgrader", {})
        if data.get("solution"):
            exercise = tag_of(str(data["grade_id"])).split("-")[0]
            paper.code[exercise] = paper.code.get(exercise, "") + "".join(cell["source"]) + "\n\n"
        elif data.get("grade"):
            for output in cell.get("outputs", []):
                verdict = output.get("data", {}).get(VERDICT_MIME)
                if verdict:
                    paper.verdicts[verdict["exercise"]] = verdict
    return paper


# ---- Counting ------------------------------------------------------------------------------------------------------


def summarize(lesson: Lesson, marks: Marks, papers: Mapping[str, Paper], ungraded: int = 0) -> Report:
    """The report from marks and papers alone."""
    wanted = exercises_of(lesson.name)
    here = marks.handed_in
    titles = {exercise.id: exercise.title for exercise in wanted.exercises if exercise.id in marks.worth}
    # In the notebook's order, which the fullest paper shows; exercises that no paper has come last.
    fullest = max((paper.verdicts for paper in papers.values()), key=len, default={})
    ids = [*(id for id in fullest if id in titles), *(id for id in titles if id not in fullest)]
    exercises = [_exercise(id, titles[id], here, papers, marks.worth) for id in ids]
    return Report(
        lesson=lesson.name,
        title=lesson.title,
        made=date.today().isoformat(),
        max_score=marks.max_score,
        scores=sorted(mark.score for mark in here),
        absent=[Person(m.student, m.name, 0.0, []) for m in marks.students if not m.handed_in],
        ungraded=ungraded,
        exercises=exercises,
        misconceptions=_misconceptions(here, papers, exercises),
        written=[_written(q.id, q.title, here, marks.worth) for q in wanted.written if q.id in marks.worth],
        flagged=[
            Person(m.student, m.name, m.score, papers[m.student].flags or ["no notebook was handed in"])
            for m in here
            if papers[m.student].flags or m.flagged or not papers[m.student].verdicts
        ],
        help=_help(marks, papers, ids),
        students=[_row(m, marks, papers.get(m.student, Paper())) for m in marks.students],
    )


def _exercise(
    id: str, title: str, here: Sequence[Mark], papers: Mapping[str, Paper], worth: Mapping[str, float]
) -> ExerciseReport:
    verdicts = [v for mark in here if (v := papers[mark.student].verdicts.get(id))]
    counts = Counter(verdict["status"] for verdict in verdicts)
    right: defaultdict[str, list[bool]] = defaultdict(list)
    for verdict in verdicts:
        if verdict["status"] != UNANSWERED:
            for part in verdict["parts"]:
                right[part["title"]].append(part["passed"])
    full = [float(mark.scores.get(id, 0.0) >= worth[id] - 1e-9) for mark in here]
    elsewhere = [mark.raw_score - mark.scores.get(id, 0.0) for mark in here]
    return ExerciseReport(
        id=id,
        title=title,
        points=worth[id],
        counts={status: counts[status] for status in SHOWN if counts[status]},
        gained=statistics.fmean(mark.scores.get(id, 0.0) / worth[id] for mark in here),
        discrimination=correlation(full, elsewhere),
        timeouts=sum(any("timed out" in flag for flag in verdict["flags"]) for verdict in verdicts),
        parts=[(part, sum(passed) / len(passed)) for part, passed in right.items()],
        unnamed=sum(v["status"] in (FAILED, PARTIAL) and not v["misconceptions"] for v in verdicts),
    )


def correlation(a: Sequence[float], b: Sequence[float]) -> float | None:
    """Pearson's r; with `a` of zeros and ones that is the point-biserial. None below five pairs or without spread."""
    if len(a) < 5 or len(set(a)) < 2 or len(set(b)) < 2:
        return None
    r = statistics.correlation(a, b)
    return r if math.isfinite(r) else None


def _misconceptions(
    here: Sequence[Mark], papers: Mapping[str, Paper], exercises: Sequence[ExerciseReport]
) -> list[MisconceptionReport]:
    seen: defaultdict[str, defaultdict[str, list[Mark]]] = defaultdict(lambda: defaultdict(list))
    for mark in here:
        for verdict in papers[mark.student].verdicts.values():
            for name in verdict["misconceptions"]:
                seen[name][verdict["exercise"]].append(mark)
    found = []
    for name, where in seen.items():
        most = max(where, key=lambda exercise: len(where[exercise]))
        # The shortest example of somebody who has no other misconception there tells most.
        examples = [(papers[m.student].verdicts[most], _example(papers[m.student], most, m)) for m in where[most]]
        verdict, code = min(examples, key=lambda x: (len(x[0]["misconceptions"]), not x[1], len(x[1]), x[0]["message"]))
        says, _, observed = verdict["message"].partition("\n")
        who = {mark.student for marks in where.values() for mark in marks}
        tried = sum(
            any(papers[m.student].verdicts.get(id, {}).get("status", UNANSWERED) != UNANSWERED for id in where)
            for m in here
        )
        found.append(
            MisconceptionReport(
                name=name,
                count=len(who),
                share=len(who) / max(tried, 1),
                exercises={e.id: len(where[e.id]) for e in exercises if e.id in where},
                example_of=most,
                says=says,
                seen=observed.split("\n")[-1] if observed else "",
                code=code,
                reread=verdict["reread"][0] if verdict["reread"] else "",
            )
        )
    return sorted(found, key=lambda m: (-m.count, -m.share, m.name))


def _example(paper: Paper, exercise: str, mark: Mark) -> str:
    """The function of the student's at which the verdict points, without comments, docstrings and anything like a name."""
    where = str(paper.verdicts[exercise].get("where") or "")
    try:
        tree = ast.parse(paper.code.get(exercise, ""))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    top = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    meant = [node for node in functions if where and re.sub(r"^\w+_|_", "", node.name) == where.replace("_", "")]
    chosen = meant[-1:] or ([node for node in functions if node.name == where][-1:]) or (top if len(top) == 1 else [])
    if not chosen:
        return ""
    (function,) = chosen
    if ast.get_docstring(function) is not None and len(function.body) > 1:
        function.body = function.body[1:]
    code = ast.unparse(function)
    words = [
        w for text in (mark.student, mark.first_name, mark.last_name) for w in re.split(r"\W+", text) if len(w) > 2
    ]
    if len(code.splitlines()) > LONGEST_EXAMPLE or any(word.casefold() in code.casefold() for word in words):
        return ""
    return code


def _written(id: str, title: str, here: Sequence[Mark], worth: Mapping[str, float]) -> Waiting:
    waiting = sum(id in mark.waiting for mark in here)
    read = sum(id not in mark.waiting and mark.scores.get(id, 0.0) > 0 for mark in here)
    return Waiting(id, title, worth[id], waiting, read, len(here) - waiting - read)


def _help(marks: Marks, papers: Mapping[str, Paper], exercises: Sequence[str]) -> list[Person]:
    """Those with few points, and what their notebooks tell of it, fewest points first."""
    waiting = {tag for mark in marks.handed_in for tag in mark.waiting}
    found = []
    for mark in marks.handed_in:
        reachable = sum(worth for tag, worth in marks.worth.items() if tag not in waiting)
        if not reachable or mark.score >= LOW * reachable:
            continue
        verdicts = papers[mark.student].verdicts
        statuses = [verdicts[id]["status"] if id in verdicts else UNANSWERED for id in exercises]
        says = []
        if all(status == UNANSWERED for status in statuses):
            says.append("nothing was filled in" if verdicts else "no notebook to read")
        else:
            last = max(place for place, status in enumerate(statuses) if status != UNANSWERED)
            if last + 1 < len(exercises):
                says.append(f"stopped after {exercises[last]}")
            begun = [id for id, status in zip(exercises, statuses, strict=True) if status in (FAILED, PARTIAL, ERROR)]
            if begun:
                says.append(f"tried, not yet right: {', '.join(begun)}")
        found.append(Person(mark.student, mark.name, mark.score, says))
    return sorted(found, key=lambda person: (person.score, person.student))


def _row(mark: Mark, marks: Marks, paper: Paper) -> dict[str, Any]:
    """One student as a row of the CSV."""
    return {
        "student": mark.student,
        "name": mark.name,
        "handed_in": mark.handed_in,
        "score": mark.score,
        "max_score": marks.max_score,
        **{tag: mark.scores.get(tag) if mark.handed_in else None for tag in marks.worth},
        "waiting": " ".join(mark.waiting),
        "unanswered": " ".join(id for id, v in paper.verdicts.items() if v["status"] == UNANSWERED),
        "misconceptions": " ".join(f"{id}:{name}" for id, v in paper.verdicts.items() for name in v["misconceptions"]),
        "flags": "; ".join(paper.flags),
    }


# ---- Writing -------------------------------------------------------------------------------------------------------


def as_json(found: Report) -> str:
    data = asdict(found) | {"median": found.median, "mean": found.mean}
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def as_csv(found: Report) -> str:
    """A row a student; text that a spreadsheet would take for a formula is defused."""
    text = io.StringIO()
    table = csv.writer(text)
    table.writerow(found.students[0])
    for row in found.students:
        table.writerow(_cell(value) for value in row.values())
    return text.getvalue()


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return ""
    return harmless(value) if isinstance(value, str) else points(value)


def as_html(found: Report) -> str:
    """One self-contained page: no script, nothing fetched."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"points": points, "words": lambda name: name.replace("-", " "), "prose": _prose}
    assets = resources.files("autograder.grading") / "assets"
    template = environment.from_string((assets / "report.html").read_text("utf-8"))
    return template.render(
        report=found,
        bins=histogram(found.scores, found.max_score),
        statuses=SHOWN,
        finding=_finding(found),
        low=LOW,
        most=WITH_EXAMPLE,
    )


def _prose(text: str) -> Any:
    """A line of a message, its `code` in backticks marked as such."""
    from markupsafe import Markup, escape

    pieces = re.split(r"`([^`\n]+)`", text)
    return Markup("").join(Markup("<code>{}</code>").format(p) if i % 2 else escape(p) for i, p in enumerate(pieces))


@dataclass
class Bin:
    """A bar of the histogram: scores from `low` up to, and for the last one with, `high`."""

    low: float
    high: float
    count: int


def histogram(scores: Iterable[float], highest: float) -> list[Bin]:
    """About a dozen bins of a round width over [0, highest]."""
    scores, highest = list(scores), highest or 1.0
    width = next(w for w in (0.5, 1, 2, 2.5, 5, 10, 20, 25, 50, 100, highest) if w * 14 >= highest)
    bins = [Bin(i * width, min((i + 1) * width, highest), 0) for i in range(math.ceil(highest / width - 1e-9))]
    for score in scores:
        bins[min(max(int(score / width + 1e-9), 0), len(bins) - 1)].count += 1
    return bins


def _finding(found: Report) -> str:
    """The title of the histogram: what it shows."""
    below = sum(score < LOW * found.max_score for score in found.scores)
    middle = f"Half of the class has {points(found.median)} of {points(found.max_score)} points or more"
    return middle + (f"; {below} of {len(found.scores)} have less than {LOW:.0%}." if below else ".")
