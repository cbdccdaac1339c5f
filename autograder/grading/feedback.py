"""The page that a student gets back: nbgrader's grades and comments on a page of ours, which needs no network.

nbgrader_config.py puts `FeedbackPage` and `Comments` in place; what must not be on the page, ScrubFeedback takes out.
"""

from __future__ import annotations

import functools
import html
import re
from collections.abc import Iterator
from importlib import resources as files
from typing import Any
from xml.etree.ElementTree import Element, tostring

from jinja2 import pass_context
from latex2mathml.converter import convert_to_element
from nbconvert.exporters import HTMLExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat.notebooknode import NotebookNode
from nbgrader.preprocessors import GetGrades
from nbgrader.utils import is_task
from traitlets import Dict, Unicode, default

from autograder.exercises import exercises_of
from autograder.grading.export import points
from autograder.lessons import find, lesson_of, tag_of
from autograder.student.quiz import spaced

_NAME = r"#([a-z][a-z0-9]*(?:-[a-z0-9]+)*)"
_READY = re.compile(rf"^- `{_NAME}` +(\S.*)$", re.MULTILINE)  # one line of a mark scheme
_CODE = re.compile(rf"(?<![\w#&/`]){_NAME}", re.IGNORECASE)
LONGEST_FORMULA = 2000  # characters; the lessons' longest has a quarter of that
# A formula with these shows as it was typed: they lead elsewhere or bring CSS; or they say a thing twice, which twenty of
# them, one in the other, say a million times.
_ACTIVE = re.compile(
    r"\\(?:href|class|style|def|newcommand|renewcommand|newenvironment|DeclareMathOperator|sideset)(?![a-zA-Z])"
)
# What a formula may say about its parts: nothing that leads elsewhere, and no CSS.
_KEPT = re.compile(
    "accent|columnalign|columnlines|columnspacing|depth|display|displaystyle|fence|form|height|largeop|linebreak"
    "|linethickness|lspace|mathbackground|mathcolor|mathsize|mathvariant|maxsize|minsize|movablelimits|notation|rowlines"
    "|rowspacing|rspace|scriptlevel|separator|stretchy|voffset|width|xmlns"
)


def ready_comments(scheme: str) -> dict[str, str]:
    """Code → text of the comments ready to use in a mark scheme: lines like "- `#shapes` Check the shapes: …"."""
    return dict(_READY.findall(scheme))


class Comments(GetGrades):
    """nbgrader's GetGrades, with `#code` in a grader's comment replaced by the text that it stands for.

    It notes too which answers still wait for a reader.

    Codes stand in the mark schemes of the notebook, and in `own`. One that is unknown stays as it was typed, and the
    log says whose comment has it.
    """

    own = Dict(
        value_trait=Unicode(), key_trait=Unicode(), help='Comments for every lesson: {"why": "The reason is missing."}.'
    ).tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        self.ready: dict[str, str] = {}
        for cell in nb.cells:
            if is_task(cell):
                self.ready |= ready_comments(cell.source)
        self.ready |= self.own
        return super().preprocess(nb, resources)

    def _get_comment(self, cell: NotebookNode, resources: Any) -> None:
        super()._get_comment(cell, resources)
        about = cell.metadata.nbgrader

        def text(code: re.Match[str]) -> str:
            found = self.ready.get(code[1].lower())
            if found is None:
                self.log.warning(
                    "%s, %s: there is no comment %s and it stays as it was typed; there are %s",
                    self.student_id,
                    tag_of(about["grade_id"]),
                    code[0],
                    ", ".join(f"#{name}" for name in self.ready) or "none",
                )
            return found or code[0]

        comment = _CODE.sub(text, about["comment"] or "")
        # nbgrader's own words under a stub; the card below says it already.
        about["comment"] = "" if cell.cell_type == "code" and comment == "No response." else comment

    def _get_score(self, cell: NotebookNode, resources: Any) -> None:
        super()._get_score(cell, resources)
        where = (cell.metadata.nbgrader["grade_id"], self.notebook_id, self.assignment_id, self.student_id)
        cell.metadata.nbgrader["waiting"] = bool(self.gradebook.find_grade(*where).needs_manual_grade)


@functools.lru_cache(maxsize=4096)
def mathml(latex: str, display: str) -> str | None:
    """A formula as MathML, which browsers set without a script; None if it cannot be made, and shows as it was typed."""
    if len(latex) > LONGEST_FORMULA or _ACTIVE.search(latex):
        return None
    try:
        return spaced(_written(convert_to_element(latex.strip(), display=display)))
    except Exception:  # a student's formula may be anything
        return None


def _written(formula: Element) -> str:
    """The HTML of a formula, in which a student's characters are characters.

    latex2mathml's own `convert` puts < and > into the page as they were typed, tags among them.
    """
    for part in formula.iter():
        part.text = html.unescape(part.text or "")  # its own characters are entities
        part.attrib = {name: value for name, value in part.attrib.items() if _KEPT.fullmatch(name)}
    text: str = tostring(formula, encoding="us-ascii", short_empty_elements=False).decode()
    return re.sub(r"&#(\d+);", lambda character: f"&#x{int(character[1]):05X};", text)


class _Renderer(IPythonRenderer):
    """nbconvert's Markdown, its formulas as MathML."""

    def inline_math(self, body: str) -> str:
        return mathml(body, "inline") or super().inline_math(body)

    def block_math(self, body: str) -> str:
        return mathml(body, "block") or super().block_math(body)

    def latex_environment(self, name: str, body: str) -> str:
        whole = f"\\begin{{{name}}}{body}\\end{{{name}}}"
        return mathml(whole, "block") or super().latex_environment(name, body)


class FeedbackPage(HTMLExporter):
    """A notebook with its marks as one page of less than 300 kB: no script, nothing fetched (assets/feedback.html)."""

    @default("raw_template")
    def _page(self) -> str:
        return (files.files("autograder.grading") / "assets" / "feedback.html").read_text("utf-8")

    @pass_context
    def markdown2html(self, context: Any, source: str) -> str:
        attachments = context.get("cell", {}).get("attachments", {})
        return MarkdownWithMath(renderer=_Renderer(escape=False, attachments=attachments)).render(source)

    def default_filters(self) -> Iterator[tuple[str, Any]]:
        yield from super().default_filters()  # type: ignore[no-untyped-call]
        yield from (("points", points), ("titled", titled), ("lesson", lesson_title))


def lesson_title(assignment: str) -> str:
    """An assignment's title: a lesson's, or its name where it is no lesson."""
    try:
        lesson = find(assignment)
    except KeyError:
        return assignment
    return f"Lesson {lesson.number}. {lesson.title}"


def titled(grade_id: str) -> str:
    """What a graded cell is called, and the cells with its answers: "3.1 Add and multiply"."""
    tag = tag_of(grade_id).split("-")[0]
    try:
        marked = exercises_of(lesson_of(tag).name)
    except KeyError:
        return tag
    for question in marked.written:
        if question.id == tag:
            return f"Written answer: {question.title}"
    return next((f"{exercise.id} {exercise.title}" for exercise in marked.exercises if exercise.id == tag), tag)
