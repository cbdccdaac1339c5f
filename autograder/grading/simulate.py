"""`autograder simulate`: a made-up class that has handed in a lesson, the same for the same seed.

Students differ in skill; what they get wrong are the mistakes of wrong_answers.py, and some hand in notebooks that
came to harm on the way. Nobody real is described here.
"""

from __future__ import annotations

import copy
import csv
import hashlib
import json
import math
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from autograder.authoring.source import read
from autograder.exercises import exercises_of
from autograder.grading.course import CourseError, pattern
from autograder.grading.demo import CLOSURES, TABLES, _own_engine, answers
from autograder.grading.wrong_answers import slipped, wrong_answers
from autograder.lessons import Lesson, find, tag_of

ROSTER = "simulated-students.csv"  # for: nbgrader db student import
CANVAS = "simulated-canvas.csv"  # what Canvas would export of this class, no marks in it yet
DEADLINE = datetime(2027, 2, 5, 17, 0, tzinfo=UTC)  # a Friday; some hand in after it

FIRST = (
    "Ada", "Zoë", "Séan", "Łukasz", "Nuño", "Ragnhildur", "Björn", "Chloé", "Anna Sofie", "İpek", "Đức", "Thảo", "Miloš",
    "Noor", "Amara", "Kwame", "Sakura", "Ji-woo", "Leilani", "Mateus", "Fatima Zahra", "Priya", "Tomáš", "Ngozi", "Oisín",
    "Jürgen", "Søren", "Ximena", "Yusuf", "Grace", "Alan", "Emmy", "Srinivasa", "Maryam", "Blaise", "Sofía",
)  # fmt: skip
LAST = (
    "Müller", "O'Brien", "de la Cruz", "Núñez Ibáñez", "Kowalczyk", "Çelik", "Nguyễn", "Þórsdóttir", "Østergård", "Dvořák",
    "King, Jr.", "van den Berg", "Okonkwo", "Tanaka", "Kim", "Kealoha", "Gonçalves", "El Amrani", "Iyer", "Smith-Jones",
    "Hernández", "Ó Súilleabháin", "Weiß", "Yılmaz", "Hopper", "Noether", "Mirzakhani", "Pascal", "García", "Mensah",
)  # fmt: skip
OTHER_SCRIPTS = (  # (first names, last names), a row a script
    (("明", "伟", "静"), ("李", "王", "张")), (("さくら", "陽菜", "蓮"), ("田中", "佐藤")), (("지우", "민준"), ("김", "박", "이")),
    (("Мария", "Анна"), ("Иванова", "Соколова")), (("Олександр", "Тарас"), ("Шевченко", "Бондаренко")),
    (("Ελένη", "Νίκος"), ("Παππά", "Ιωάννου")), (("نور", "ليلى", "سامي"), ("حسن", "منصور")), (("נועה", "יעל"), ("לוי", "כהן")),
    (("प्रिया", "आरव"), ("शर्मा", "वर्मा")), (("சுதா", "அருண்"), ("ராமன்",)), (("สมชาย", "มาลี"), ("ใจดี", "บุญมา")),
    (("თამარ", "გიორგი"), ("ბერიძე",)), (("Աննա", "Արամ"), ("Պետրոսյան",)), (("ሰላም", "አበበ"), ("ተስፋዬ", "ከበደ")),
)  # fmt: skip
WRITTEN = (
    "Every rule keeps what its derivative needs, a product both factors, tanh its output. So memory grows with the number "
    "of operations, and it can be freed once the message has been sent.",
    "It has to remember the values from the forward pass because the local derivatives are made of them.",
    "You need to store things.\n\nI think mostly the inputs, but I am not sure about exp.",
    "Because of the chain rule, see lecture 4, slide 12.",
    "I ran out of time here, sorry!",
)


@dataclass
class Student:
    """A made-up student and what becomes of their notebook. `skill` is about normal: 0 in the middle, 1 is good."""

    id: str
    first: str
    last: str
    email: str
    number: int  # in the learning management system
    skill: float
    answers: dict[str, str] = field(default_factory=dict)  # tag -> source
    mangled: str = ""
    stamp: datetime = DEADLINE


# ---- People --------------------------------------------------------------------------------------------------------


def people(number: int, rng: Random) -> Iterator[Student]:
    """`number` students with ids of every kind: accounts, numbers, names with accents, spaces and other scripts."""
    taken: set[str] = set()

    def free(wanted: str, domain: str = "") -> str:
        """`wanted` at `domain`, with a number behind it if somebody has it already."""
        tried = (f"{wanted}{n}{domain}" for n in ("", *range(2, number + 2)))
        found = next(x for x in tried if x.casefold() not in taken)
        taken.add(found.casefold())
        return found

    for place in range(number):
        firsts, lasts = rng.choice(OTHER_SCRIPTS) if rng.random() < 0.15 else (FIRST, LAST)
        first, last = rng.choice(firsts), rng.choice(lasts)
        surname = last.split(",")[0]
        wanted = rng.choice(
            (
                f"{first[0]}{surname}".lower().replace(" ", ""),
                f"{first}.{surname}".lower().replace(" ", ""),
                f"s{rng.randrange(10**7):07d}",
                f"{first} {surname}",
            )
        )
        # Other scripts stand in an address as they are; nobody will write there.
        address = re.sub(r"[^\w.]+", ".", f"{first}.{last}").strip(".").lower()
        yield Student(free(wanted), first, last, free(address, "@example.org"), 40_001 + place, rng.gauss(0, 1))


# ---- Answers -------------------------------------------------------------------------------------------------------


def answer(student: Student, right: Mapping[str, str], written: list[str], rng: Random) -> None:
    """Fill in what this student writes: in order, as far as skill and patience carry."""
    exercises = list(dict.fromkeys(tag.split("-")[0] for tag in right))
    if "3.1-solution" in right and student.skill > 1 and rng.random() < 0.3:
        student.answers = _own_engine(right, rng.choice((CLOSURES, TABLES)))
        student.answers |= {tag: WRITTEN[0] for tag in written}
        return
    texts = {}
    for place, exercise in enumerate(exercises):
        later = place / max(len(exercises) - 1, 1)
        if rng.random() < _logistic(3.0 * later - 3.6 - 1.2 * student.skill):
            if rng.random() < 0.4:
                break  # gives up here
            continue
        cells = {tag: text for tag, text in right.items() if tag.split("-")[0] == exercise}
        texts.update(cells)
        if rng.random() < _logistic(1.3 * later - 1.7 - 1.1 * student.skill):
            _make_wrong(texts, exercise, cells, rng)
    student.answers = texts
    for tag in written:
        if rng.random() < _logistic(0.8 + student.skill):
            best = min(max(round(2 - 1.2 * student.skill + rng.gauss(0, 0.8)), 0), len(WRITTEN) - 1)
            student.answers[tag] = WRITTEN[best]


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def _make_wrong(texts: dict[str, str], exercise: str, cells: Mapping[str, str], rng: Random) -> None:
    known = [wrong for wrong in wrong_answers(exercise) if wrong.applied(texts)]
    if known and rng.random() < 0.85:
        (chosen,) = rng.choices(known, [wrong.weight for wrong in known])
        texts.update(chosen.applied(texts))
    else:
        tag = rng.choice(list(cells))
        texts[tag] = slipped(texts[tag], rng.random())


def _endless(text: str) -> str:
    """`text` with a loop that never ends at the top of its first function."""
    loop = "    steps = 0\n    while steps >= 0:\n        steps += 1\n"
    return re.sub(
        r'(^def [^\n]*:\n(?:    """.*?"""\n)?)', lambda found: found[0] + loop, text, count=1, flags=re.M | re.S
    )


# ---- Manglings -----------------------------------------------------------------------------------------------------

Notebook = dict[str, Any]


def _checks(notebook: Notebook) -> list[int]:
    return [i for i, c in enumerate(notebook["cells"]) if c["cell_type"] == "code" and _data(c).get("grade")]


def _data(cell: dict[str, Any]) -> dict[str, Any]:
    return dict(cell["metadata"].get("nbgrader", {}))


def _lose_metadata(notebook: Notebook, rng: Random) -> None:
    """As an editor that knows nothing of nbgrader saves it."""
    notebook["metadata"] = {}
    for cell in notebook["cells"]:
        cell["metadata"] = {}


def _delete_checks(notebook: Notebook, rng: Random) -> None:
    for index in sorted(rng.sample(_checks(notebook), min(2, len(_checks(notebook)))), reverse=True):
        del notebook["cells"][index]


def _edit_check(notebook: Notebook, rng: Random) -> None:
    notebook["cells"][rng.choice(_checks(notebook))]["source"] = 'print("all tests passed")\n1000'


def _duplicate(notebook: Notebook, rng: Random) -> None:
    places = [i for i, c in enumerate(notebook["cells"]) if _data(c).get("solution") and c["cell_type"] == "code"]
    index = rng.choice(places)
    notebook["cells"].insert(index, copy.deepcopy(notebook["cells"][index]))


def _flood(notebook: Notebook, rng: Random) -> None:
    cell: dict[str, Any] = {"cell_type": "code", "execution_count": None, "id": "my-debugging", "metadata": {}}
    notebook["cells"].insert(
        rng.choice(_checks(notebook)),
        cell | {"outputs": [], "source": "for i in range(300_000):\n    print('step', i)"},
    )


@dataclass(frozen=True)
class Mangling:
    """What happens to a notebook on its way: to its cells, its bytes or its name; `weight` is how common it is."""

    name: str
    weight: float
    cells: Callable[[Notebook, Random], None] | None = None
    bytes: Callable[[bytes], bytes] = lambda content: content
    file: str = "{}.ipynb"


MANGLINGS = (
    Mangling("copy's name", 4, file="{} (1).ipynb"),
    Mangling("own name", 2, file="Abgabe – endgültig.ipynb"),
    Mangling("lost metadata", 2, cells=_lose_metadata),
    Mangling("deleted checks", 3, cells=_delete_checks),
    Mangling("edited check", 2, cells=_edit_check),
    Mangling("duplicated answer", 2, cells=_duplicate),
    Mangling("flood", 1, cells=_flood),
    Mangling("empty file", 1, bytes=lambda content: b""),
    Mangling("cut short", 1, bytes=lambda content: content[: len(content) // 2]),
    Mangling("unfilled", 3),
    Mangling("endless loop", 2),
)
MANGLED = 0.09  # of a class


# ---- A class -------------------------------------------------------------------------------------------------------


def make_class(lesson: Lesson, number: int, seed: int, right: Mapping[str, str], written: list[str]) -> list[Student]:
    """The students of `seed` and what they answer. The first students of a class do not depend on its size."""
    students = list(people(number, Random(f"{seed}/people")))
    for place, student in enumerate(students):
        rng = Random(f"{seed}/{lesson.name}/{place}")
        answer(student, right, written, rng)
        early = rng.expovariate(1 / 20) if rng.random() < 0.9 else -rng.expovariate(1 / 9)  # hours
        student.stamp = DEADLINE - timedelta(seconds=int(3600 * min(early, 140)))
        if rng.random() < MANGLED:
            (mangling,) = rng.choices(MANGLINGS, [m.weight for m in MANGLINGS])
            student.mangled = mangling.name
            if mangling.name == "unfilled":
                student.answers = {}
            elif mangling.name == "endless loop" and student.answers:
                tag = rng.choice([tag for tag in student.answers if tag not in written] or [next(iter(right))])
                student.answers[tag] = _endless(right[tag])
    return students


def handed_in(student: Student, release: Notebook, lesson: Lesson, seed: int) -> tuple[str, bytes]:
    """(file name, content) of what `student` hands in."""
    notebook = {**release, "cells": [dict(cell) for cell in release["cells"]]}
    for cell in notebook["cells"]:
        tag = tag_of(str(_data(cell).get("grade_id", "")))
        if tag in student.answers:
            cell["source"] = student.answers[tag]
    mangling = next((m for m in MANGLINGS if m.name == student.mangled), MANGLINGS[-1])
    if mangling.cells:
        mangling.cells(notebook, Random(f"{seed}/{student.id}"))
    text = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
    return mangling.file.format(lesson.notebook), mangling.bytes(text.encode())


def simulate(root: Path, lesson_name: str, number: int, seed: int = 0) -> list[Student]:
    """Write a class of `number` into submitted/ of the course in `root`, in place of an earlier made-up one.

    Raises:
        CourseError: there are submissions of the lesson that were not made up, or the lesson has not been built.
    """
    lesson = find(lesson_name)
    release: Notebook = json.loads(json.dumps(pattern(root, lesson.name)))
    path = root / "source" / lesson.name / f"{lesson.notebook}.py"
    if not path.is_file():
        raise CourseError(f"There is no source/{lesson.name}/{path.name} here, from which answers are made.")
    book = _Book(root, lesson)
    book.clear()
    written = [
        tag_of(str(_data(cell)["grade_id"]))
        for cell in release["cells"]
        if cell["cell_type"] == "markdown" and _data(cell).get("grade") and not _data(cell).get("task")
    ]
    students = make_class(lesson, number, seed, answers(read(path)), written)
    try:
        for student in students:
            name, content = handed_in(student, release, lesson, seed)
            book.write(student, name, content)
    finally:
        book.save()
    _write(
        root / ROSTER,
        ("id", "first_name", "last_name", "email", "lms_user_id"),
        ((s.id, s.first, s.last, s.email, s.number) for s in students),
    )
    wanted = exercises_of(lesson.name)
    worth = sum(exercise.points for exercise in wanted.exercises) + sum(question.points for question in wanted.written)
    _write(
        root / CANVAS,
        ("Student", "ID", "SIS User ID", "SIS Login ID", "Section", f"{lesson.title} (4711)"),
        [
            ("    Points Possible", "", "", "", "", f"{worth:g}"),
            *((f"{s.last}, {s.first}", s.number, "", s.id, "Made up", "") for s in students),
        ],
    )
    return students


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(header)
        table.writerows(rows)


class _Book:
    """Which submissions of a lesson were made up, and what was in them: those alone may be overwritten."""

    def __init__(self, root: Path, lesson: Lesson) -> None:
        self.submitted, self.lesson = root / "submitted", lesson
        self.path = root / ".autograder" / "simulated.json"
        try:
            self.all: dict[str, dict[str, str]] = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            self.all = {}
        self.ours: dict[str, str] = {}

    def clear(self) -> None:
        """Remove the made-up submissions that are still as they were made; CourseError if there are any others."""
        known = self.all.get(self.lesson.name, {})
        there = sorted(self.submitted.glob(f"*/{self.lesson.name}"))
        real = [folder.parent.name for folder in there if known.get(folder.parent.name) != _contents(folder)]
        if real:
            shown = ", ".join(real[:3]) + (", …" if len(real) > 3 else "")
            raise CourseError(
                f"submitted/ holds {len(real)} submissions of {self.lesson.name} that were not made up ({shown}). They stay "
                "as they are: make up a class in another copy of the course, where nobody has handed anything in."
            )
        for folder in there:
            shutil.rmtree(folder)
            if not any(folder.parent.iterdir()):
                folder.parent.rmdir()

    def write(self, student: Student, name: str, content: bytes) -> None:
        folder = self.submitted / student.id / self.lesson.name
        folder.mkdir(parents=True)
        (folder / name).write_bytes(content)
        (folder / "timestamp.txt").write_text(f"{student.stamp:%Y-%m-%d %H:%M:%S} UTC\n")
        self.ours[student.id] = _contents(folder)

    def save(self) -> None:
        self.path.parent.mkdir(mode=0o700, exist_ok=True)
        self.all[self.lesson.name] = self.ours
        self.path.write_text(json.dumps(self.all, indent=1, ensure_ascii=False), encoding="utf-8")


def _contents(folder: Path) -> str:
    sha = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        sha.update(f"{path.relative_to(folder)}\0".encode())
        if path.is_file():
            sha.update(path.read_bytes())
    return sha.hexdigest()
