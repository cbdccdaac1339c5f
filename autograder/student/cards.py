"""Verdict cards: the verdict as HTML beside its plain text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape

from autograder.student import pictures, progress, theme
from autograder.student.progress import Done
from autograder.verdict import ERROR, FAILED, MANUAL, PARTIAL, PASSED, UNANSWERED, WORKED_ONLY, PartVerdict, Verdict

_CIRCLE = '<circle cx="12" cy="12" r="10.5" fill="none" stroke="currentColor" stroke-width="2"/>'


@dataclass(frozen=True)
class Look:
    """How a status is said: in a word and by a mark whose shape alone tells it from the others."""

    word: str
    mark: str


def _stroke(path: str) -> str:
    return (
        f'<path d="{path}" fill="none" stroke="currentColor" stroke-width="2.6" stroke-linecap="round" '
        'stroke-linejoin="round"/>'
    )


LOOKS = {
    PASSED: Look("Passed", _CIRCLE + _stroke("M7 12.5l3.4 3.5L17 8.6")),
    PARTIAL: Look("Partly right", _CIRCLE + '<path d="M12 4.5a7.5 7.5 0 0 0 0 15z" fill="currentColor"/>'),
    FAILED: Look("Not yet right", _CIRCLE + _stroke("M8.2 8.2l7.6 7.6M15.8 8.2l-7.6 7.6")),
    UNANSWERED: Look(
        "Not answered yet",
        '<circle cx="12" cy="12" r="10.5" fill="none" stroke="currentColor" stroke-width="2" stroke-dasharray="4 3.3"/>',
    ),
    MANUAL: Look("Waiting for a reader", _CIRCLE + _stroke("M12 6.5V12l4 2.5")),
    ERROR: Look("Could not be checked", _stroke("M12 3l9.5 17.5h-19z") + _stroke("M12 9.5v5M12 17.6v.1")),
}


def show(verdict: Verdict, done: Done | None = None) -> None:
    """Display the card of `verdict` in the notebook, with a small bar of what is `done` in the lesson."""
    theme.show(card_html(verdict, done), verdict.text())


def show_note(text: str) -> None:
    """Display a short message that is no verdict."""
    theme.show(note_html(text), text)


def note_html(text: str) -> str:
    return theme.piece("note", f'<div class="bp-says">{_prose(text)}</div>', ("card",), attributes=' role="note"')


def card_html(verdict: Verdict, done: Done | None = None) -> str:
    """The card of `verdict` as one self-contained HTML fragment: no script, nothing fetched, readable on any page.

    Above all stands what went wrong in words; then the graph on which it shows; then the parts with their marks.
    """
    look = LOOKS[verdict.status]
    points = ""
    if not verdict.worked_only:
        points = (
            f'<span class="bp-points" title="points">{_points(verdict.score)} / {_points(verdict.max_score)}</span>'
        )
    top = (
        f'<div class="bp-top"><span class="bp-mark"><svg viewBox="0 0 24 24" width="24" height="24" aria-hidden="true">'
        f'{look.mark}</svg></span><span class="bp-title"><b>{escape(verdict.exercise)}</b> {escape(verdict.title)}</span>'
        f'<span class="bp-end"><span class="bp-word">{look.word}</span>{points}</span></div>'
    )
    body = [_message(verdict), _picture(verdict), _parts(verdict), _reread(verdict)]
    if verdict.worked_only:
        body.append(f'<p class="bp-quiet">{WORKED_ONLY}</p>')
    inside = "".join(filter(None, body))
    label = escape(f"Check {verdict.exercise} {verdict.title}: {look.word}", quote=True)
    return theme.piece(
        f"card {verdict.status}",
        top
        + (f'<div class="bp-body">{inside}</div>' if inside else "")
        + (progress.bar_html([status for *_, status in done.exercises]) if done else ""),
        ("graph", "card") if verdict.picture else ("card",),
        attributes=f' role="group" aria-label="{label}"',
    )


def _points(x: float) -> str:
    return f"{x:.2f}".rstrip("0").rstrip(".")


def _message(verdict: Verdict) -> str:
    if not verdict.message:
        return ""
    # The first sentence says what happened; it is what a learner reads when they read one thing.
    first, rest = _first_sentence(verdict.message)
    return f'<p class="bp-lead">{_inline(first)}</p>' + (f'<div class="bp-says">{_prose(rest)}</div>' if rest else "")


def _first_sentence(text: str) -> tuple[str, str]:
    found = re.match(r"\s*([^\n]{1,180}?[.!?:])(?=\s+[A-Z“\"`(]|\s*\n|\s*$)", text)
    if found:
        return found.group(1), text[found.end() :].strip(" ").strip("\n")
    line, _, rest = text.partition("\n")
    return line, rest


def _picture(verdict: Verdict) -> str:
    if not verdict.picture or not verdict.picture.get("nodes"):
        return ""
    try:
        drawing = pictures.draw(verdict.picture)
    except Exception:  # a card without its picture still tells the verdict
        return ""
    title = str(verdict.picture.get("title") or "")
    caption = f"<figcaption>{escape(title)}</figcaption>" if title else ""
    return f'<figure>{caption}<div class="bp-graph"{drawing.window}>{drawing.svg()}</div></figure>'


def _parts(verdict: Verdict) -> str:
    if len(verdict.parts) == 0 or verdict.status == UNANSWERED:
        return ""
    items = [_part(part, verdict) for part in verdict.parts]
    tall = any("<details" in item for item in items)
    return f'<ul class="bp-parts{" tall" if tall else ""}">{"".join(f"<li>{item}</li>" for item in items)}</ul>'


def _part(part: PartVerdict, verdict: Verdict) -> str:
    mark = (
        '<span class="bp-yes" role="img" aria-label="passed">✓</span>'
        if part.passed
        else '<span class="bp-no" role="img" aria-label="not yet">✗</span>'
    )
    worth = ""
    if not verdict.worked_only and verdict.status != PASSED and len(verdict.parts) > 1:
        worth = f' <span class="bp-worth">{_points(part.score)}/{_points(part.max_score)}</span>'
    title = f"{escape(part.title)}{worth}"
    if part.passed or not part.message or part.message in verdict.message:
        return f"{mark}<span>{title}</span>"
    return f'{mark}<details><summary>{title}</summary><div class="bp-says">{_prose(part.message)}</div></details>'


def _reread(verdict: Verdict) -> str:
    if not verdict.reread or verdict.status == PASSED:
        return ""
    heading, anchor = verdict.reread
    return f'<p>Reread: <a href="#{escape(anchor.lstrip("#"), quote=True)}">{escape(heading)}</a></p>'


def _inline(text: str) -> str:
    """A line of prose: `code` in backticks."""
    pieces = re.split(r"`([^`\n]+)`", text)
    return "".join(f"<code>{escape(p)}</code>" if i % 2 else escape(p) for i, p in enumerate(pieces))


def _prose(text: str) -> str:
    """Lines as paragraphs; lines set in by four spaces as code."""
    blocks: list[str] = []
    code: list[str] = []

    def close() -> None:
        if code:
            blocks.append(f'<pre tabindex="0">{escape(chr(10).join(code))}</pre>')
            code.clear()

    for line in text.split("\n"):
        if line.startswith("    "):
            code.append(line[4:])
        else:
            close()
            if line.strip():
                blocks.append(f"<p>{_inline(line.strip())}</p>")
    close()
    return "".join(blocks)
