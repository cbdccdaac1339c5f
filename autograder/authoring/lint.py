"""What must hold of a lesson's source and of what was built from it. Every fault is reported, with its place."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import unquote

from nbformat import NotebookNode

from autograder.authoring.editions import quiz_call
from autograder.authoring.source import (
    HIDDEN_TESTS,
    HINTS,
    MARK_SCHEME,
    QUIZ,
    SOLUTION,
    SOLUTION_DRAWER,
    SOLUTION_REFERENCE,
    Source,
    SourceCell,
    SourceError,
    marker,
    regions,
)
from autograder.authoring.stubs import stubbed
from autograder.exercises.model import Exercise, LessonExercises
from autograder.student.quiz import parse


@dataclass(frozen=True, order=True)
class Fault:
    """Something wrong at `line` of `path`; line 0 is the file as a whole."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}" if self.line else f"{self.path}: {self.message}"


def canonical_check(exercise: Exercise) -> str:
    """The text that the check cell of `exercise` has in the source."""
    arguments = ", ".join([f'"{exercise.id}"', *exercise.names])
    return (
        f"check({arguments})\n"
        f"### BEGIN {HIDDEN_TESTS}\n"
        "from autograder.student import grade\n"
        f"grade({arguments})\n"
        f"### END {HIDDEN_TESTS}"
    )


# ---------------------------------------------------------------------------------------------------------- source


def lint_source(source: Source, lesson: LessonExercises, path: str) -> list[Fault]:
    """The faults of a lesson's source text, in order of lines."""
    paired = [cell for cell in source.cells if _markers_are_paired(cell)]
    found = [Fault(path, line, message) for rule in _CELL_RULES for cell in paired for line, message in rule(cell)]
    found += [Fault(path, line, message) for cell in source.cells for line, message in _unpaired(cell)]
    found += [Fault(path, line, message) for rule in _LESSON_RULES for line, message in rule(source, lesson)]
    return sorted(set(found))


Finding = tuple[int, str]


def _markers_are_paired(cell: SourceCell) -> bool:
    return not list(_unpaired(cell))


def _unpaired(cell: SourceCell) -> Iterator[Finding]:
    try:
        regions(cell.source)
    except SourceError as error:
        offset, message = str(error).split(": ", 1)
        yield cell.line + int(offset), message


def _regions_in_the_right_cells(cell: SourceCell) -> Iterator[Finding]:
    allowed = {SOLUTION: cell.is_solution, HIDDEN_TESTS: cell.is_check, MARK_SCHEME: cell.is_task}
    kinds = {SOLUTION: "a solution cell", HIDDEN_TESTS: "a check cell", MARK_SCHEME: "a task cell"}
    for region in regions(cell.source):
        if not allowed[region.name]:
            yield cell.line + region.begin, f"{region.name} region outside {kinds[region.name]}"


def _points_given(cell: SourceCell) -> Iterator[Finding]:
    if cell.nbgrader.get("grade") and "points" not in cell.nbgrader:
        yield cell.line, f"{cell.grade_id} has no points"


def _grade_id_given(cell: SourceCell) -> Iterator[Finding]:
    if cell.nbgrader and not cell.grade_id:
        yield cell.line, "nbgrader metadata without a grade_id"


def _stubs(cell: SourceCell) -> Iterator[Finding]:
    """Each stub leaves a function to fill in, and each solution region holds a solution."""
    if not cell.is_solution:
        return
    try:
        ast.parse(cell.source)
    except SyntaxError as error:
        yield cell.line + (error.lineno or 1) - 1, f"{cell.grade_id} is not Python: {error.msg}"
        return
    own = [region for region in regions(cell.source) if region.name == SOLUTION]
    if not own:
        yield cell.line, f"{cell.grade_id} has no solution region: its stub would be empty"
        return
    lines = cell.source.split("\n")
    for region in own:
        code = [
            line for line in lines[region.begin + 1 : region.end] if line.strip() and not line.strip().startswith("#")
        ]
        if not code:
            yield cell.line + region.begin, f"{cell.grade_id}: the solution region is empty"
    try:
        body = ast.parse(stubbed(cell.source, cell.metadata)[0])
    except SyntaxError as error:
        yield cell.line + own[0].begin, f"{cell.grade_id}: with its stub the cell is no longer Python: {error.msg}"
        return
    if not any(isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) for node in ast.walk(body)):
        yield cell.line, f"{cell.grade_id}: no function is left around the stub: its stub would be empty"


def _quiz_text(cell: SourceCell) -> Iterator[Finding]:
    if QUIZ not in cell.tags:
        if cell.kind == "code" and quiz_call(cell.source):
            yield cell.line, 'a quiz cell without the tag "quiz": its answers would stand in plain view'
        return
    call = quiz_call(cell.source)
    if call is None:
        yield cell.line, 'a quiz cell holds one call, quiz("ID", """TEXT"""), and nothing else'
        return
    try:
        parse(call[1])
    except ValueError as error:
        yield cell.line, f"quiz {call[0]}: {error}"


_CELL_RULES: tuple[Callable[[SourceCell], Iterator[Finding]], ...] = (
    _regions_in_the_right_cells,
    _points_given,
    _grade_id_given,
    _stubs,
    _quiz_text,
)


def _unique_grade_ids(source: Source, lesson: LessonExercises) -> Iterator[Finding]:
    seen: dict[str, int] = {}
    for cell in source.cells:
        if not cell.grade_id:
            continue
        if cell.grade_id in seen:
            yield cell.line, f"grade id {cell.grade_id} stands at line {seen[cell.grade_id]} already"
        seen.setdefault(cell.grade_id, cell.line)
    owners: dict[str, str] = {}
    for cell in source.cells:
        if owners.setdefault(cell.id, cell.grade_id) != cell.grade_id:
            yield cell.line, f"grade id {cell.grade_id} gives the cell id of {owners[cell.id]}: choose another"


def _known_exercises(source: Source, lesson: LessonExercises) -> Iterator[Finding]:
    known = {e.id for e in lesson.exercises} | {w.id for w in lesson.written}
    for cell in source.cells:
        if (cell.is_solution or cell.is_check or cell.is_answer) and cell.exercise not in known:
            yield cell.line, f"{cell.exercise} is no exercise in autograder.exercises"
        for found in SOLUTION_REFERENCE.finditer(cell.source):
            if found.group(1) not in known:
                yield _line_of(cell, found.start()), f"{found.group(1)} is no exercise in autograder.exercises"


def _points_agree(source: Source, lesson: LessonExercises) -> Iterator[Finding]:
    points: dict[str, float] = {e.id: e.points for e in lesson.exercises} | {w.id: w.points for w in lesson.written}
    for cell in source.cells:
        given = cell.nbgrader.get("points")
        if (cell.is_check or cell.is_answer) and given is not None and points.get(cell.grade_id, given) != given:
            yield (
                cell.line,
                f"{cell.grade_id} has {given:g} points here, {points[cell.grade_id]:g} in autograder.exercises",
            )


def _check_cells_canonical(source: Source, lesson: LessonExercises) -> Iterator[Finding]:
    canonical = {exercise.id: canonical_check(exercise) for exercise in lesson.exercises}
    for cell in source.cells:
        expected = canonical.get(cell.grade_id)
        if not cell.is_check or expected is None or cell.source == expected or not _markers_are_paired(cell):
            continue
        here, there = cell.source.split("\n"), expected.split("\n")
        number = next(
            (i for i, (a, b) in enumerate(zip(here, there, strict=False)) if a != b), min(len(here), len(there))
        )
        wanted = there[number] if number < len(there) else "nothing more"
        yield cell.line + number, f"the check cell of {cell.grade_id} should have here: {wanted}"


def _exercises_complete(source: Source, lesson: LessonExercises) -> Iterator[Finding]:
    cells = source.cells
    checks = {cell.grade_id: index for index, cell in enumerate(cells) if cell.is_check}
    solutions = {cell.exercise for cell in cells if cell.is_solution}
    drawers = {
        found.group(1)
        for cell in cells
        if SOLUTION_DRAWER in cell.tags
        for found in SOLUTION_REFERENCE.finditer(cell.source)
    }
    for exercise in lesson.exercises:
        index = checks.get(exercise.id)
        line = cells[index].line if index is not None else 0
        if index is None:
            yield line, f"{exercise.id} has no check cell"
        if exercise.id not in solutions:
            yield line, f"{exercise.id} has no solution cell"
        if index is not None and not (index + 1 < len(cells) and _is_hints(cells[index + 1])):
            yield line, f"{exercise.id} has no hint drawers in the cell after its check"
        if exercise.id not in drawers:
            yield line, f"{exercise.id} has no solution drawer with a line {{{{solution {exercise.id}}}}}"


def _is_hints(cell: SourceCell) -> bool:
    return cell.kind == "markdown" and HINTS in cell.tags and "<summary>" in cell.source


def _written_complete(source: Source, lesson: LessonExercises) -> Iterator[Finding]:
    cells = source.cells
    for question in lesson.written:
        index = next((i for i, cell in enumerate(cells) if cell.is_answer and cell.grade_id == question.id), None)
        if index is None:
            yield 0, f"{question.id} has no answer cell"
            continue
        task = cells[index - 1]
        if not (index and task.is_task and f"BEGIN {MARK_SCHEME}" in task.source):
            yield cells[index].line, f"{question.id} has no task cell with a mark scheme in front of its answer cell"


_LESSON_RULES: tuple[Callable[[Source, LessonExercises], Iterator[Finding]], ...] = (
    _unique_grade_ids,
    _known_exercises,
    _points_agree,
    _check_cells_canonical,
    _exercises_complete,
    _written_complete,
)


def _line_of(cell: SourceCell, offset: int) -> int:
    return cell.line + cell.source[:offset].count("\n")


# ------------------------------------------------------------------------------------------------- what was built

_HIDDEN_CALL = re.compile(r"\bfrom autograder\.student import grade\b")


def lint_built(path: str, notebook: NotebookNode) -> list[Fault]:
    """Traces of solutions, hidden tests and mark schemes in a notebook that learners get."""
    found = []
    for number, cell in enumerate(notebook.cells, 1):
        for line in cell.source.split("\n"):
            mark = marker(line)
            if mark:
                found.append(Fault(path, 0, f"cell {number} holds {mark[0]} {mark[1]}"))
            if _HIDDEN_CALL.search(line):
                found.append(Fault(path, 0, f"cell {number} holds a hidden test: {line.strip()}"))
    return found


def lint_solutions(path: str, notebook: NotebookNode, source: Source) -> list[Fault]:
    """Solution text in the classroom edition: the code of a whole solution region in any of its cells."""
    found = []
    texts = [(number, _bare(cell.source)) for number, cell in enumerate(notebook.cells, 1)]
    for cell in source.cells:
        if not cell.is_solution:
            continue
        lines = cell.source.split("\n")
        for region in regions(cell.source):
            solution = _bare("\n".join(lines[region.begin + 1 : region.end]))
            if solution.count("\n") == 1 and len(solution) < _TELLTALE:
                continue  # a line as short as `return -x` stands in honest places too
            found += [
                Fault(path, 0, f"cell {number} holds the solution of {cell.exercise}")
                for number, text in texts
                if solution in text
            ]
    return found


_TELLTALE = 30


def _bare(code: str) -> str:
    """The lines of `code` without indentation, comments and blank lines, each ended by a newline."""
    lines = (line.split(" #")[0].strip() for line in code.split("\n"))
    return "".join(f"{line}\n" for line in lines if line and not line.startswith("#"))


def lint_files(paths: list[str]) -> list[Fault]:
    """Python files where students' copies are made: sources with their solutions."""
    return [Fault(path, 0, "a .py in release: sources hold the solutions") for path in paths if path.endswith(".py")]


# ------------------------------------------------------------------------------------------------------------ links

_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)|(?:href|src)=\"([^\"]+)\"")
_ID = re.compile(r"\bid=\"([^\"]+)\"")
_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*\s*$", re.MULTILINE)
_FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_ELSEWHERE = re.compile(r"^(?:[a-z][a-z0-9+.-]*:|//)", re.IGNORECASE)


def anchors(notebook: NotebookNode) -> set[str]:
    """The anchors of a notebook as JupyterLab makes them: explicit ids, and headings with spaces as hyphens."""
    found: set[str] = set()
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            text = _FENCE.sub("", cell.source)
            found.update(_ID.findall(text))
            found.update(
                re.sub(r"[*`]|<[^>]+>", "", heading).strip().replace(" ", "-") for heading in _HEADING.findall(text)
            )
    return found


def lint_links(notebooks: Mapping[str, NotebookNode], files: set[str]) -> list[Fault]:
    """Relative links of `notebooks` (path → notebook) to files that are not in `files`, or to anchors that are not there."""
    found = []
    places = {path: anchors(notebook) for path, notebook in notebooks.items()}
    for path, notebook in notebooks.items():
        broken: dict[str, set[int]] = defaultdict(set)
        for number, cell in enumerate(notebook.cells, 1):
            if cell.cell_type != "markdown":
                continue
            for match in _LINK.finditer(_FENCE.sub("", cell.source)):
                link = match.group(1) or match.group(2)
                if _ELSEWHERE.match(link) or link.startswith("attachment:"):
                    continue
                file, _, anchor = unquote(link).partition("#")
                target = _join(path, file) if file else path
                if target not in files:
                    broken[f"link to {link}: there is no {target}"].add(number)
                elif anchor and target in places and anchor not in places[target]:
                    broken[f"link to {link}: {target} has no anchor {anchor}"].add(number)
        found += [
            Fault(path, 0, f"cell {n}: {message}") for message, numbers in broken.items() for n in sorted(numbers)
        ]
    return found


def lint_rereads(path: str, notebook: NotebookNode, lesson: LessonExercises) -> list[Fault]:
    """Sections that a verdict sends a learner back to and that are not in the lesson."""
    there = anchors(notebook)
    rereads = {(e.id, e.reread) for e in lesson.exercises} | {
        (f"{e.id} {m.name}", m.reread) for e in lesson.exercises for m in e.misconceptions
    }
    return [
        Fault(path, 0, f"{who} sends the reader to #{reread[1].lstrip('#')}, and there is no such anchor")
        for who, reread in sorted(rereads, key=str)
        if reread and reread[1].lstrip("#") not in there
    ]


def _join(page: str, link: str) -> str:
    parts: list[str] = []
    for part in (PurePosixPath(page).parent / link).parts:
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)
