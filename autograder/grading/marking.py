"""Mark one repaired submission: which cells run with which cases, and what the evidence is worth.

This is the engine behind every door (`autograder grade`, stock `nbgrader autograde`, the formgrader's button).
"""

from __future__ import annotations

import functools
import re
import symtable
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape, unescape
from pathlib import Path
from random import Random
from typing import Any

import nbformat
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat.notebooknode import NotebookNode

from autograder.evidence import EVIDENCE_MIME, VERDICT_MIME, EvidenceError, decode
from autograder.exercises import exercises_of
from autograder.exercises.judging import judge
from autograder.exercises.model import Case, Exercise
from autograder.grading import methods
from autograder.grading.kernel import CellJob, CellRun
from autograder.grading.repair import NOTES_ID
from autograder.lessons import tag_of
from autograder.student.cards import card_html
from autograder.student.missing_names import explain
from autograder.verdict import ERROR, FAILED, MANUAL, UNANSWERED, PartVerdict, Verdict, clamp

Seed = Callable[[str], Random]  # exercise id -> the generator of its cases

PASSIVE = {"text/plain", "text/latex", "image/png", "image/jpeg", EVIDENCE_MIME}
# What begins an HTML tag, or a formula that is a link or brings CSS along, in a student's text.
ACTIVE = re.compile(r"<(?=[a-zA-Z/!?])|\\(?=href|class|style|cssId|bbox)")
# What Markdown is made of: as an entity it is a character like others.
MARKS = re.compile(r"[\\`*_{}\[\]()#+\-.!|$~:]")
LINK = re.compile(r'href="([^"]*)"')
# Characters of a student's own text that are kept of a cell, and of a notebook: what makes pages of it takes a time
# that grows with the square of the length.
LONGEST, ALTOGETHER = 20_000, 200_000
EMPTY = (  # one transparent point
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="
)
CUT = "[cut here; the rest is in the file that was handed in]"


@dataclass
class Marked:
    """Outcome of one exercise's check cell: what to write into the notebook and the verdict behind it."""

    cell_id: str
    verdict: Verdict


def checks(notebook: NotebookNode, lesson: str) -> dict[str, Exercise]:
    """The check cells of `notebook`: cell id -> exercise."""
    known = {exercise.id: exercise for exercise in exercises_of(lesson).exercises}
    found: dict[str, Exercise] = {}
    for cell in notebook.cells:
        data = cell.metadata.get("nbgrader", {})
        tag = tag_of(str(data.get("grade_id", "")))
        if cell.cell_type == "code" and data.get("grade") and tag in known:
            found[cell.id] = known[tag]
    return found


def check_source(exercise: Exercise) -> str:
    """What a check cell runs under the grader; never taken from the submission."""
    arguments = "".join(f", {name}" for name in exercise.names)
    return f'from autograder.student import grade\ngrade("{exercise.id}"{arguments})'


def jobs(notebook: NotebookNode, pattern: NotebookNode, lesson: str, seed: Seed) -> list[CellJob]:
    """The cells to run, in order; a check cell with its own fresh cases.

    The lesson's own cells that the student left as they were run only where something later needs what they define:
    experiments, plots and quizzes have no reader here.
    """
    found = checks(notebook, lesson)
    released = {cell.id: cell.source for cell in pattern.cells if cell.cell_type == "code"}
    made: list[CellJob] = []
    wanted: set[str] | None = set()  # names that later cells read; None once a cell may read any name
    left = methods.ALTOGETHER
    for cell in reversed(notebook.cells):
        if cell.cell_type != "code" or not cell.source.strip():
            continue
        exercise = found.get(cell.id)
        if exercise is not None:
            job = CellJob(cell.id, check_source(exercise), exercise.id, cases_of(exercise, seed))
        else:
            job = CellJob(cell.id, cell.source)
            ours = released.get(cell.id) == cell.source and not cell.metadata.get("nbgrader", {}).get("solution")
            if ours and wanted is not None and not names(cell.source)[0] & wanted:
                continue
        made.append(job)
        left -= len(job.source)
        if wanted is not None:
            read = names(job.source)[1] if left >= 0 else None
            wanted = None if read is None else wanted | read
    return made[::-1]


_INDIRECT = {"globals", "locals", "vars", "exec", "eval", "get_ipython"}


@functools.lru_cache(maxsize=4096)
def names(source: str) -> tuple[frozenset[str], frozenset[str] | None]:
    """(global names that a cell may define, global names that it may read); None for the second if it may read any."""
    if len(source) > methods.LONGEST:
        return frozenset(), None
    try:
        top = symtable.symtable(source, "cell", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset(), None  # a magic, a shell line, or broken: it may use anything
    defined: set[str] = set()
    read: set[str] = set()
    tables = [top]
    while tables:
        table = tables.pop()
        tables += table.get_children()
        for symbol in table.get_symbols():
            if table is top or symbol.is_global():
                if symbol.is_assigned() or symbol.is_imported():
                    defined.add(symbol.get_name())
                if symbol.is_referenced():
                    read.add(symbol.get_name())
    if read & _INDIRECT:
        return frozenset(defined), None
    return frozenset(defined), frozenset(read)


def cases_of(exercise: Exercise, seed: Seed) -> list[Case]:
    """The worked examples, then the random cases of this submission."""
    return [*exercise.worked(), *exercise.cases(seed(exercise.id))]


def mark(
    notebook: NotebookNode,
    lesson: str,
    seed: Seed,
    outputs: Mapping[str, Sequence[Any]],
    notes: Mapping[str, str],
    drawn: Mapping[str, list[Case]] | None = None,
) -> list[Marked]:
    """Verdicts on all check cells of `notebook`.

    Args:
        outputs: cell id -> the outputs that running the cell gave.
        notes: cell id -> why a cell did not end well ("timed out after 10 s"), where it did not.
        drawn: exercise id -> its cases, where they need not be drawn again.
    """
    drawn = drawn or {}
    return [
        Marked(
            cell_id,
            verdict_on(
                exercise,
                drawn.get(exercise.id) or cases_of(exercise, seed),
                outputs.get(cell_id, ()),
                notes.get(cell_id, ""),
            ),
        )
        for cell_id, exercise in checks(notebook, lesson).items()
    ]


def notes_of(runs: Sequence[CellRun]) -> dict[str, str]:
    return {run.id: run.detail or run.status for run in runs if run.status not in ("ok", "error")}


def verdict_on(exercise: Exercise, cases: Sequence[Case], outputs: Sequence[Any], note: str) -> Verdict:
    """The verdict on one exercise from its check cell's outputs. Whatever is not exactly one piece of evidence is 0."""
    handed_in = [
        output["data"][EVIDENCE_MIME]
        for output in outputs
        if output.get("output_type") in ("display_data", "execute_result") and EVIDENCE_MIME in output.get("data", {})
    ]
    if note:
        return _nothing(
            exercise,
            FAILED,
            f"Exercise {exercise.id}: the check {note}.\n"
            "Run your code on one small input by hand and watch where it does not come back.",
            flag=f"{exercise.id}: {note}",
        )
    if len(handed_in) > 1:
        return _nothing(
            exercise,
            ERROR,
            f"Exercise {exercise.id}: {len(handed_in)} pieces of evidence were handed in, where the check gives one.\n"
            "Remove code that prints or displays things on behalf of the check.",
            flag=f"{exercise.id}: evidence was handed in {len(handed_in)} times",
        )
    if not handed_in:
        return _without_evidence(exercise, outputs)
    try:
        observations = decode(handed_in[0], exercise.id, len(cases))
    except EvidenceError as error:
        return _nothing(
            exercise,
            ERROR,
            f"Exercise {exercise.id}: {error}. Remove code that interferes with the check.",
            flag=f"{exercise.id}: {error}",
        )
    return judge(exercise, cases, observations)


def _without_evidence(exercise: Exercise, outputs: Sequence[Any]) -> Verdict:
    for output in outputs:
        if output.get("output_type") == "error":
            found = re.search(r"name '(\w+)' is not defined", str(output.get("evalue", "")))
            if output.get("ename") == "NameError" and found:
                text = explain(check_source(exercise).replace("grade(", "check("), found.group(1))
                return _nothing(exercise, ERROR, text or "")
            return _nothing(
                exercise,
                ERROR,
                f"Exercise {exercise.id}: the check stopped with {output.get('ename')}: {output.get('evalue')}\n"
                "Restart the kernel, run the notebook from the top, and see which cell fails first.",
                flag=f"{exercise.id}: no evidence was handed in ({str(output.get('ename'))[:40]})",
            )
    return _nothing(
        exercise,
        ERROR,
        f"Exercise {exercise.id}: no evidence was handed in. If your code replaces functions like print, display "
        "or grade, remove that.",
        flag=f"{exercise.id}: no evidence was handed in",
    )


def _nothing(exercise: Exercise, status: str, message: str, flag: str = "") -> Verdict:
    points = exercise.part_points()
    parts = [PartVerdict(part.name, part.title, False, 0.0, points[part.name]) for part in exercise.parts]
    return Verdict(
        exercise.id, exercise.title, status, 0.0, exercise.points, parts, message=message, reread=exercise.reread,
        flags=[flag] if flag else [],
    )  # fmt: skip


def verdict_outputs(verdict: Verdict, worth: float) -> list[NotebookNode]:
    """The outputs that replace a check cell's own: the card, the verdict as data, and the points as a plain float.

    `worth` is what the gradebook gives for the cell; an instructor may have set it apart from the exercise's points.
    """
    points = clamp(verdict.score * worth / verdict.max_score if verdict.max_score else 0.0, worth)
    card = f'<div class="tex2jax_ignore">{card_html(verdict)}</div>'  # no formula of ours is in it
    data = {"text/plain": verdict.text(), "text/html": card, VERDICT_MIME: verdict.to_json()}
    # nbformat's own makers hold each output against a schema, which takes longer than to judge the answer.
    shown = {"output_type": "display_data", "metadata": {}, "data": data}
    result = {
        "output_type": "execute_result", "metadata": {}, "data": {"text/plain": repr(points)}, "execution_count": None,
    }  # fmt: skip
    return [nbformat.from_dict(shown), nbformat.from_dict(result)]


def put_outputs(notebook: NotebookNode, runs: Sequence[CellRun]) -> None:
    """Write what running the cells gave into `notebook`, and nothing else; a cell that did not run has no outputs."""
    ran = {run.id: run for run in runs}
    notes = notes_of(runs)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [_output(x) for x in ran[cell.id].outputs] if cell.id in ran else []
            cell.execution_count = None
            if cell.id in notes:
                cell.metadata["autograder"] = {"note": notes[cell.id]}


def _output(output: dict[str, Any]) -> NotebookNode:
    node = nbformat.from_dict(output)
    if node.get("output_type") == "error":
        node["traceback"] = [without_paths(line) for line in node.get("traceback", [])]
    elif node.get("output_type") == "stream":
        node["text"] = without_paths(node.get("text", ""))
    elif "data" in node:
        # Pages that show this notebook run what is active in it, with the rights of the grader who looks.
        for kind in node["data"].keys() - PASSIVE:
            del node["data"][kind]
        if "text/latex" in node["data"]:
            node["data"]["text/latex"] = ACTIVE.sub(r"\g<0> ", "".join(node["data"]["text/latex"]))
        node["metadata"] = _sizes(node.get("metadata", {}))
        node["data"].setdefault("text/plain", "[shown in the student's notebook; left out here]")
    return node


def _sizes(metadata: Any) -> dict[str, dict[str, int]]:
    """Of an output's metadata, the sizes of its pictures: pages write what stands there into their HTML as it is."""
    found: dict[str, dict[str, int]] = {}
    for kind in PASSIVE & metadata.keys():
        sizes = metadata[kind] if isinstance(metadata[kind], dict) else {}
        kept = {key: int(sizes[key]) for key in ("width", "height") if isinstance(sizes.get(key), (int, float))}
        if kept:
            found[kind] = kept
    return found


def put_verdicts(
    notebook: NotebookNode,
    pattern: NotebookNode,
    lesson: str,
    seed: Seed,
    drawn: Mapping[str, list[Case]] | None = None,
) -> list[Verdict]:
    """Judge the evidence in `notebook` and overwrite the outputs of every check cell; the verdicts, in order.

    `drawn` holds the cases by exercise where they are at hand; otherwise they are drawn again from `seed`. Flags are
    gathered in the notebook's metadata (`autograder.flags`) and in a cell on top.
    """
    outputs = {cell.id: cell.outputs for cell in notebook.cells if cell.cell_type == "code"}
    notes = {
        c.id: c.metadata["autograder"]["note"] for c in notebook.cells if "note" in c.metadata.get("autograder", {})
    }
    verdicts = {m.cell_id: m.verdict for m in mark(notebook, lesson, seed, outputs, notes, drawn)}
    released = {cell.source for cell in pattern.cells}
    flags = [*notebook.metadata.get("autograder", {}).get("flags", []), *look_at(notebook, pattern, lesson)]
    left = ALTOGETHER
    for cell in notebook.cells:
        if cell.source not in released:
            left -= _make_showable(cell, min(LONGEST, left))
        if cell.id in verdicts:
            cell.outputs = verdict_outputs(verdicts[cell.id], float(cell.metadata["nbgrader"]["points"]))
            flags += verdicts[cell.id].flags
        elif cell.cell_type == "code":
            for output in cell.outputs:
                output.get("data", {}).pop(EVIDENCE_MIME, None)
            if cell.id in notes:
                what = (
                    tag_of(str(cell.metadata.get("nbgrader", {}).get("grade_id", ""))) or "a cell of the student's own"
                )
                flags.append(f"{what} {notes[cell.id]}")
        cell.metadata.pop("autograder", None)
    notebook.metadata["autograder"] = {**notebook.metadata.get("autograder", {}), "flags": list(dict.fromkeys(flags))}
    _note_flags(notebook)
    return list(verdicts.values())


class _Pasted(dict[str, Any]):
    """The pictures pasted into a cell. All that are asked for seem to be there; `lost` are those that are not."""

    def __init__(self, found: Mapping[str, Any]) -> None:
        super().__init__(found)
        self.lost: set[str] = set()

    def __contains__(self, name: object) -> bool:
        if not super().__contains__(name):
            self.lost.add(str(name))
        return True

    def __missing__(self, name: str) -> dict[str, str]:
        return {"image/png": ""}


def _make_showable(cell: NotebookNode, room: int) -> int:
    """Make a student's own text safe to show to others, in at most `room` characters; how many it has."""
    if len(cell.source) > room:
        cell.source = f"{cell.source[:room]}\n\n{'# ' if cell.cell_type == 'code' else ''}{CUT}"
    if cell.cell_type != "code":
        cell.source = ACTIVE.sub(r"\g<0> ", cell.source)
        if cell.cell_type == "markdown" and "[" in cell.source:
            pasted = _Pasted(cell.get("attachments", {}))
            page = MarkdownWithMath(IPythonRenderer(escape=False, attachments=pasted)).render(cell.source)
            if pasted.lost:  # for want of one picture the whole page would not be made
                cell["attachments"] = {**pasted, **{name: {"image/png": EMPTY} for name in pasted.lost}}
            if any(_acts(unescape(link)) for link in LINK.findall(page)):
                cell.source = "\n".join(f"    {line}" for line in cell.source.splitlines())  # as code, as it stands
    return min(len(cell.source), room)


def _acts(link: str) -> bool:
    """Whether a link is anything but a way to another page: javascript: and its like run when they are clicked."""
    scheme = re.match(r"([a-z][a-z0-9+.-]*):", re.sub(r"[\0-\x20]", "", link).lower())
    return scheme is not None and scheme.group(1) not in ("http", "https", "mailto")


def _inert(text: str) -> str:
    """`text` for Markdown cells of ours: file names and names of errors are a student's own words."""
    text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)  # some turn a line round
    marked = MARKS.sub(lambda found: f"&#{ord(found.group())};", escape(text, quote=False))
    return f'<span class="tex2jax_ignore">{marked}</span>'  # formulas can be links


def _note_flags(notebook: NotebookNode) -> None:
    """One cell on top that tells a grader, and later the student, what was unusual about this notebook."""
    notebook.cells = [cell for cell in notebook.cells if cell.id != NOTES_ID]
    flags = notebook.metadata["autograder"]["flags"]
    if flags:
        lines = "\n".join(f"- {_inert(' '.join(flag.split())[:500])}" for flag in flags)
        note = nbformat.v4.new_markdown_cell(f"**Notes of the grader**\n\n{lines}")
        note["id"] = NOTES_ID
        notebook.cells.insert(0, note)


def look_at(notebook: NotebookNode, pattern: NotebookNode, lesson: str) -> list[str]:
    """Flags on how the answers were written: only cells that differ from the release notebook are looked at."""
    released = {cell.source for cell in pattern.cells}
    own = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source not in released]
    allowed = {exercise.id: frozenset(exercise.may_import) for exercise in exercises_of(lesson).exercises}
    return methods.look(own, allowed)


def written_verdicts(notebook: NotebookNode, pattern: NotebookNode, lesson: str) -> list[Verdict]:
    """The questions that a person marks: waiting, or unanswered where the answer cell still reads as released."""
    released = {tag_of(str(c.metadata.get("nbgrader", {}).get("grade_id", ""))): c.source for c in pattern.cells}
    answers = {tag_of(str(c.metadata.get("nbgrader", {}).get("grade_id", ""))): c.source for c in notebook.cells}
    verdicts = []
    for question in exercises_of(lesson).written:
        untouched = answers.get(question.id, "").strip() in ("", released.get(question.id, "").strip())
        status, message = (UNANSWERED, "No answer yet.") if untouched else (MANUAL, "A person will read this answer.")
        verdicts.append(Verdict(question.id, question.title, status, 0.0, question.points, message=message))
    return verdicts


_PREFIXES = sorted(
    {sys.prefix, sys.base_prefix, str(Path(__file__).resolve().parents[2]), str(Path.home())}, key=len, reverse=True
)
_PATH = re.compile("|".join(re.escape(prefix) + r"(?=/)" for prefix in _PREFIXES if len(prefix) > 1))


def without_paths(text: str) -> str:
    """`text` with this machine's folders cut from file names."""
    return _PATH.sub("…", text)
