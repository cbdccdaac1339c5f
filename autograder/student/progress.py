"""What a learner has done so far: a local file beside the notebooks, deletable, never sent."""

from __future__ import annotations

import contextlib
import datetime
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from autograder.lessons import LESSONS, Lesson, lesson_of
from autograder.student import session
from autograder.verdict import PARTIAL, PASSED, STATUSES, UNANSWERED, Verdict

FILE = "progress.json"
START_PAGE = "start.ipynb"
ABOUT = "What the checks of this course have shown on this machine. Never sent. Delete this file to start afresh."

# The way of the whole course; what LESSONS has is open, the rest is coming.
COURSE = (
    "The chain rule",
    "Forward mode",
    "Reverse mode",
    "Softmax and an n‑gram network",
    "Training an n‑gram model",
)


@dataclass(frozen=True)
class Done:
    """How far a learner is in a lesson: (id, title, status) per exercise, in order; "" where nothing was checked yet."""

    exercises: tuple[tuple[str, str, str], ...]

    @property
    def passed(self) -> int:
        return sum(status == PASSED for _, _, status in self.exercises)


def folder() -> Path:
    """The notebooks' folder: the nearest one upwards that has the start page, else the current one."""
    here = Path.cwd()
    return next((f for f in (here, *here.parents) if (f / START_PAGE).is_file()), here)


def statuses() -> dict[str, str]:
    """What is known of each exercise: id → status. Empty when there is no file, or none that can be read."""
    found = _entries(folder() / FILE)
    known = {str(key): entry.get("status") for key, entry in found.items() if isinstance(entry, dict)}
    return {key: status for key, status in known.items() if status in STATUSES}


def _entries(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text("utf-8"))["exercises"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return found if isinstance(found, dict) else {}


def record(verdict: Verdict) -> Done | None:
    """Remember the status of one exercise and say how far its lesson is. What cannot be written is passed over:
    a check never fails for it."""
    try:
        _write(verdict)
        return done_in(lesson_of(verdict.exercise))
    except Exception:
        return None


def _write(verdict: Verdict) -> None:
    path = folder() / FILE
    exercises = _entries(path)
    exercises[verdict.exercise] = {"status": verdict.status, "on": datetime.date.today().isoformat()}
    text = json.dumps({"about": ABOUT, "exercises": dict(sorted(exercises.items()))}, indent=1, ensure_ascii=False)
    draft = path.with_name(f".{FILE}.{os.getpid()}")
    try:
        draft.write_text(text + "\n", "utf-8")
        os.replace(draft, path)
    finally:
        with contextlib.suppress(OSError):
            draft.unlink()


def done_in(lesson: Lesson) -> Done | None:
    """How far the learner is in `lesson`; None where its list of exercises is not at hand."""
    from autograder.student.check import outline

    known = statuses()
    exercises = tuple((id, title, known.get(id, "")) for id, title in outline(lesson.name))
    return Done(exercises) if exercises else None


def show_progress() -> None:
    """Draw the map of the course, with what the checks have shown so far."""
    if session.quiet():
        return
    from autograder.student import theme

    lessons = {lesson.number: (lesson, done_in(lesson)) for lesson in LESSONS}
    theme.show(map_html(lessons), map_text(lessons))


Map = dict[int, tuple[Lesson, Done | None]]


def map_text(lessons: Map) -> str:
    """The map as plain text."""
    lines = []
    for number, title in enumerate(COURSE, 1):
        lesson, done = lessons.get(number, (None, None))
        said = "coming" if lesson is None else f"{done.passed} of {len(done.exercises)} done" if done else "open"
        lines.append(f"{number} {lesson.title if lesson else title}: {said}")
        marks = {PASSED: "✓", PARTIAL: "◐", "": "·", UNANSWERED: "·"}
        lines += [f"   {marks.get(status, '✗')} {id} {name}" for id, name, status in (done.exercises if done else ())]
    return "\n".join(lines)


def map_html(lessons: Map) -> str:
    """The map as one self-contained piece of HTML: the way through the course, and the open lessons' exercises."""
    from autograder.student import theme

    stops, panels = [], []
    here = _here(lessons)
    for number, title in enumerate(COURSE, 1):
        lesson, done = lessons.get(number, (None, None))
        kind, said = "coming", "coming"
        if lesson is not None:
            whole = done is not None and done.passed == len(done.exercises)
            kind = "whole" if whole else "open"
            said = f"{done.passed} of {len(done.exercises)} done" if done else "open"
            panels.append(_panel(lesson, done, number == here))
        name = escape(title)
        if lesson is not None:
            name = f'<a href="{escape(f"{lesson.name}/{lesson.notebook}.ipynb", quote=True)}">{name}</a>'
        ring = _ring(number, kind, done)
        current = ' aria-current="step"' if number == here else ""
        stops.append(
            f'<li class="{kind}"{current}>{ring}<span class="bp-stop">{name}</span><span class="bp-state">{said}</span></li>'
        )
    body = (
        f'<ol class="bp-way" aria-label="The lessons of the course">{"".join(stops)}</ol>{"".join(panels)}'
        f'<p class="bp-said">Kept in <code>{FILE}</code> beside these notebooks, and nowhere else. Delete that file to '
        "start afresh; run this cell again to see what is new.</p>"
    )
    return theme.piece("map", body, ("card", "map"), attributes=' role="group" aria-label="Your progress"')


def _here(lessons: Map) -> int | None:
    """The lesson a learner is in: the first that is begun and not finished, else the first that is not finished."""
    open_ones = [n for n, (_, done) in sorted(lessons.items()) if done and done.passed < len(done.exercises)]
    begun = [n for n in open_ones if any(status for *_, status in _exercises(lessons[n][1]))]
    return next(iter(begun or open_ones), None)


def _exercises(done: Done | None) -> tuple[tuple[str, str, str], ...]:
    return done.exercises if done else ()


def _ring(number: int, kind: str, done: Done | None) -> str:
    """A lesson's station: a ring that fills with what is done."""
    share = done.passed / len(done.exercises) if done and done.exercises else 0.0
    around = 2 * 3.14159265 * 21
    arc = (
        f'<circle class="arc" cx="25" cy="25" r="21" stroke-dasharray="{share * around:.1f} {around:.1f}" '
        'transform="rotate(-90 25 25)"/>'
        if share
        else ""
    )
    middle = "✓" if kind == "whole" else str(number)
    return (
        f'<svg viewBox="0 0 50 50" width="50" height="50" aria-hidden="true"><circle class="ring" cx="25" cy="25" r="21"/>'
        f'{arc}<text x="25" y="31" text-anchor="middle">{middle}</text></svg>'
    )


def _panel(lesson: Lesson, done: Done | None, here: bool) -> str:
    """The exercises of a lesson: unfolded where the learner is, a line elsewhere."""
    if done is None:
        return ""
    upcoming = next((id for id, _, status in done.exercises if status != PASSED), None)
    from autograder.student.cards import LOOKS

    cells = []
    for id, title, status in done.exercises:
        look = LOOKS.get(status or UNANSWERED, LOOKS[UNANSWERED])
        word = look.word if status else "Not yet checked"
        next_one = ' aria-current="step"' if here and id == upcoming else ""
        cells.append(
            f'<li class="{status or "none"}"{next_one}><svg viewBox="0 0 24 24" width="19" height="19" role="img" '
            f'aria-label="{word}">{look.mark}</svg><b>{escape(id)}</b><span>{escape(title)}</span></li>'
        )
    total = len(done.exercises)
    lead = "All exercises are done." if upcoming is None else f"{done.passed} of {total} done. Next: {upcoming}."
    return (
        f"<details{' open' if here else ''}><summary><b>Lesson {lesson.number} · {escape(lesson.title)}</b> "
        f'<span class="bp-lead">{lead}</span></summary><ul class="bp-cells">{"".join(cells)}</ul></details>'
    )


def bar_html(done: Sequence[str]) -> str:
    """A small bar, one cell an exercise."""
    kinds = {PASSED: "full", PARTIAL: "half"}
    cells = "".join(f'<i class="{kinds.get(status, "")}"></i>' for status in done)
    passed = sum(status == PASSED for status in done)
    return (
        f'<div class="bp-done"><span class="bp-bar" aria-hidden="true">{cells}</span>'
        f"<span>{passed} of {len(done)} exercises done</span></div>"
    )
