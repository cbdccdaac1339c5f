"""`autograder build`: from source/ to the instructor's notebook, release/ and notebooks/, the same bytes every time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.authoring import editions, lint
from autograder.authoring.lint import Fault
from autograder.authoring.source import Source, SourceError, read
from autograder.exercises import exercises_of
from autograder.exercises.model import LessonExercises
from autograder.lessons import Lesson, find

PAGES = ("start", "glossary", "resources")  # source/start.py becomes notebooks/start.ipynb
BUILT_FOLDERS = ("release", "notebooks")  # committed; nothing stands there that was not built
# What people leave in those folders, and what is no part of a source folder
_NOT_BUILT = ("*.ipynb_checkpoints*", "*(yours*).ipynb", "*/progress.json", "*.DS_Store", "*__pycache__*")
_YOURS = " (yours{})"


@dataclass
class Built:
    """What a build makes: path below the course's root → content, and the faults that were found on the way."""

    files: dict[str, bytes] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)


def build(
    lessons: Sequence[str], root: Path, check: bool = False, force: bool = False, instructor_only: bool = False
) -> int:
    """Build `lessons` (names) of the course at `root`, and the pages beside them, and say what was done.

    Returns the exit status: 0 if all is well, else 1.

    A fault stops the build: nothing is written. With `check` nothing is written either; what is committed and would
    be written otherwise is a difference. A notebook that somebody has worked in is never lost: in notebooks/ it is kept
    beside the new one; in source/ and release/, which nbgrader reads whole, the build stops. `force` overwrites.
    With `instructor_only` just the notebooks in source/, which are not committed, are made.
    """
    built = compose(lessons, root)
    if built.faults:
        for fault in sorted(set(built.faults)):
            print(fault)
        print(f"Nothing was built: {len(set(built.faults))} {'fault' if len(set(built.faults)) == 1 else 'faults'}.")
        return 1
    if instructor_only:
        built.files = {path: content for path, content in built.files.items() if path.startswith("source/")}
    return _compare(built, lessons, root) if check else _write(built, root, force)


def compose(lessons: Sequence[str], root: Path) -> Built:
    """Everything that belongs to `lessons` and the pages, made in memory and in a temporary folder, and linted."""
    built = Built()
    for name in lessons:
        _compose_lesson(find(name), root, built)
    for name in PAGES:
        _compose_page(name, root, built)
    built.files |= {f"notebooks/{path.name}": path.read_bytes() for path in sorted((root / "source").glob("*.svg"))}
    if not built.faults:
        _lint_links(built, root, lessons)
    return built


def _compose_lesson(lesson: Lesson, root: Path, built: Built) -> None:
    folder = root / "source" / lesson.name
    path = folder / f"{lesson.notebook}.py"
    shown = path.relative_to(root).as_posix()
    source = _read(path, shown, built)
    exercises = _exercises(lesson, built)
    if source is None or exercises is None:
        return
    faults = lint.lint_source(source, exercises, shown)
    if faults:
        built.faults += faults
        return

    from autograder.authoring.release import ReleaseError, generate

    notebook = f"{lesson.notebook}.ipynb"
    assets = _assets(folder)
    instructor = editions.dumps(editions.instructor(source, lesson.name)).encode()
    self_study = editions.self_study(source, lesson.name)
    try:
        released = generate(lesson.name, {**assets, notebook: instructor}, root / "nbgrader_config.py")
    except ReleaseError as error:
        built.faults.append(Fault(shown, 0, f"nbgrader generate_assignment failed:\n{error}"))
        return
    classroom: NotebookNode = nbformat.reads(released[notebook].decode(), as_version=4)
    released[notebook] = editions.dumps(classroom).encode()

    built.files[f"source/{lesson.name}/{notebook}"] = instructor
    built.files |= {f"release/{lesson.name}/{name}": content for name, content in released.items()}
    built.files |= {f"notebooks/{lesson.name}/{name}": content for name, content in assets.items()}
    built.files[f"notebooks/{lesson.name}/{notebook}"] = editions.dumps(self_study).encode()
    built.faults += lint.lint_built(f"release/{lesson.name}/{notebook}", classroom)
    built.faults += lint.lint_solutions(f"release/{lesson.name}/{notebook}", classroom, source)
    built.faults += lint.lint_files([path for path in built.files if path.startswith("release/")])
    built.faults += lint.lint_built(f"notebooks/{lesson.name}/{notebook}", self_study)
    built.faults += lint.lint_rereads(f"notebooks/{lesson.name}/{notebook}", self_study, exercises)


def _compose_page(name: str, root: Path, built: Built) -> None:
    path = root / "source" / f"{name}.py"
    source = _read(path, f"source/{name}.py", built) if path.is_file() else None
    if source is not None:
        built.files[f"notebooks/{name}.ipynb"] = editions.dumps(editions.page(source, name)).encode()


def _read(path: Path, shown: str, built: Built) -> Source | None:
    try:
        return read(path)
    except FileNotFoundError:
        built.faults.append(Fault(shown, 0, "this file is missing"))
    except SourceError as error:
        built.faults.append(Fault(shown, 0, str(error).removeprefix(f"{path}: ")))
    return None


def _exercises(lesson: Lesson, built: Built) -> LessonExercises | None:
    try:
        return exercises_of(lesson.name)
    except ModuleNotFoundError as error:
        if error.name != f"autograder.exercises.{lesson.module}":
            raise
        built.faults.append(Fault(f"autograder/exercises/{lesson.module}.py", 0, "this file is missing"))
    return None


def _assets(folder: Path) -> dict[str, bytes]:
    """Pictures and data beside a source text: they go along into both editions."""
    paths = (p for p in sorted(folder.rglob("*")) if p.is_file() and p.suffix not in (".py", ".ipynb"))
    named = {p.relative_to(folder).as_posix(): p for p in paths}
    return {name: path.read_bytes() for name, path in named.items() if not _left_by_people(f"x/{name}")}


def _left_by_people(path: str) -> bool:
    return any(fnmatch(path, pattern) for pattern in _NOT_BUILT)


def _lint_links(built: Built, root: Path, lessons: Sequence[str]) -> None:
    """Links inside what was built; those from a page to a lesson that is not built now are held against its file."""
    present = {path.as_posix() for path in (p.relative_to(root) for f in BUILT_FOLDERS for p in (root / f).rglob("*"))}
    notebooks = {
        path: nbformat.reads(content.decode(), as_version=4)
        for path, content in built.files.items()
        if path.endswith(".ipynb") and path.startswith(BUILT_FOLDERS)
    }
    built.faults += lint.lint_links(notebooks, present | set(built.files))


def _compare(built: Built, lessons: Sequence[str], root: Path) -> int:
    """Say what differs between `built` and what is there. The instructor's notebook is not committed, so not compared."""
    expected = {path: content for path, content in built.files.items() if path.startswith(BUILT_FOLDERS)}
    differs = []
    for path, content in sorted(expected.items()):
        if not (root / path).is_file():
            differs.append(f"{path} is missing")
        elif (root / path).read_bytes() != content:
            differs.append(f"{path} is not what its source gives")
    differs += [f"{path} is not built from anything in source/" for path in _surplus(expected, lessons, root)]
    for line in differs:
        print(line)
    if differs:
        print("Run: autograder build")
        return 1
    print(f"{len(expected)} files in release/ and notebooks/ are what source/ gives.")
    return 0


def _surplus(expected: dict[str, bytes], lessons: Sequence[str], root: Path) -> list[str]:
    """Files in the built folders that no source gives; folders of lessons that were not built now are left out."""
    from autograder.lessons import LESSONS

    others = tuple(f"{f}/{lesson.name}/" for f in BUILT_FOLDERS for lesson in LESSONS if lesson.name not in lessons)
    there = sorted(p.relative_to(root).as_posix() for f in BUILT_FOLDERS for p in (root / f).rglob("*") if p.is_file())
    return [
        path for path in there if path not in expected and not path.startswith(others) and not _left_by_people(path)
    ]


def _write(built: Built, root: Path, force: bool) -> int:
    """Write what is new. What somebody has worked in is kept, or stops the build before anything is written."""
    new = {p: c for p, c in built.files.items() if not (root / p).is_file() or (root / p).read_bytes() != c}
    worked_in = {path for path in new if not force and _worked_in(root / path)}
    blocked = sorted(path for path in worked_in if not path.startswith("notebooks/"))
    for path in blocked:
        print(f"{path} has been run or changed since it was built.")
    if blocked:
        print(
            "Nothing was built. Changes belong into the .py in source/; carry them over, then run: autograder build --force"
        )
        return 1
    for path, content in sorted(new.items()):
        target = root / path
        if path in worked_in:
            if _same_edition(target, content):
                print(f"{path}: left as it is; your work is in it, and there is nothing newer to put in its place.")
                continue
            kept = _keep(target)
            print(f"{path}: built anew. The one you worked in is now {kept.name}, beside it.")
        else:
            print(f"{path}: built.")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    if not new:
        print("Nothing to do: everything is what source/ gives.")
    return 0


def _worked_in(path: Path) -> bool:
    return path.suffix == ".ipynb" and path.is_file() and editions.built_as(path.read_text(encoding="utf-8"))[1]


def _same_edition(path: Path, content: bytes) -> bool:
    """Whether the notebook at `path`, work aside, was built from the very text that `content` holds."""
    sealed, _ = editions.built_as(path.read_text(encoding="utf-8"))
    return sealed == editions.built_as(content.decode())[0]


def _keep(path: Path) -> Path:
    """Move a notebook aside, under a name that is free."""
    numbers = ["", *(f" {n}" for n in range(2, 1000))]
    free = (path.with_stem(path.stem + _YOURS.format(n)) for n in numbers)
    kept = next(p for p in free if not p.exists())
    path.rename(kept)
    return kept
