"""Every link inside the course leads somewhere: in both editions, on the pages beside the lessons, and from verdicts.

`autograder build` lints the text of the links; here the notebooks that were built are rendered, as nbconvert does it.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat
import pytest
from nbconvert.filters import markdown2html
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_notebook

from autograder.authoring.editions import quiz_call
from autograder.exercises import exercises_of
from autograder.lessons import LESSONS, Lesson
from autograder.student.progress import map_html
from autograder.student.quiz import decode, parse, quiz_html
from tests.lesson_run import ROOT

EDITIONS = ("notebooks", "release")
PAGES = sorted(path.relative_to(ROOT).as_posix() for folder in EDITIONS for path in (ROOT / folder).rglob("*.ipynb"))


class Page(HTMLParser):
    """The links and the anchors of some HTML, without the marks that nbconvert puts beside headings."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: Counter[str] = Counter()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if found.get("id"):
            self.anchors[found["id"] or ""] += 1
        if found.get("class") != "anchor-link":
            self.links += [found[name] or "" for name in ("href", "src") if name in found]


def rendered(notebook: NotebookNode) -> Page:
    pieces = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            pieces.append(markdown2html(cell.source))
        elif "quiz" in cell.metadata.get("tags", []):
            name, text = quiz_call(cell.source) or ("", "")
            pieces.append(quiz_html(name, parse(decode(text))))
    return Page("\n".join(pieces))


@cache
def page(path: str) -> Page:
    return rendered(nbformat.read(ROOT / path, as_version=4))


def broken(links: list[str], at: str, here: Page) -> list[str]:
    """Those of `links` on the page `here`, which lies at `at`, that lead to no file, or to no or two places in a page."""
    found = []
    for link in links:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = (ROOT / at).parent / unquote(parts.path) if parts.path else ROOT / at
        inside = target.resolve().is_relative_to(
            ROOT / Path(at).parts[0]
        )  # editions are handed out one without the other
        if not inside or not (target.is_file() or not parts.path):
            found.append(link)
        elif parts.fragment:
            there = page(target.resolve().relative_to(ROOT).as_posix()) if parts.path else here
            # JupyterLab looks for an anchor as the browser spells it in a link: outside ASCII that is another spelling.
            if there.anchors[parts.fragment] != 1 or unquote(parts.fragment) != parts.fragment:
                found.append(link)
    return found


def test_both_editions_and_all_pages_are_here() -> None:
    lessons = {f"{folder}/{x.name}/{x.notebook}.ipynb" for folder in EDITIONS for x in LESSONS}
    assert lessons | {f"notebooks/{name}.ipynb" for name in ("start", "glossary", "resources")} <= set(PAGES)


@pytest.mark.parametrize("at", PAGES)
def test_every_link_of_a_page_leads_somewhere(at: str) -> None:
    here = page(at)
    assert here.anchors
    assert broken(here.links, at, here) == []


def test_the_map_of_the_course_leads_to_every_lesson() -> None:
    start = "notebooks/start.ipynb"
    links = Page(map_html({lesson.number: (lesson, None) for lesson in LESSONS})).links
    assert len(links) == len(LESSONS)
    assert broken(links, start, page(start)) == []


def test_links_are_seen() -> None:
    """As many as there are: a renderer that shows none would make the test above say nothing."""
    of = {at: [link for link in page(at).links if not urlsplit(link).scheme] for at in PAGES}
    for lesson in LESSONS:
        assert sum("glossary.ipynb#" in link for link in of[f"notebooks/{lesson.name}/{lesson.notebook}.ipynb"]) > 10
    assert len([link for link in of["notebooks/start.ipynb"] if link.endswith(".ipynb")]) == len(LESSONS) + 2
    assert [link for link in page("notebooks/resources.ipynb").links if urlsplit(link).scheme == "https"]


@pytest.mark.parametrize(
    "link",
    (
        "nowhere.ipynb", "../nowhere.ipynb#node", "../glossary.ipynb#no-such-term", "#No-such-heading", "#Twice", "#Two-%CE%98",
        "../../release/1-chain-rule/chain_rule.ipynb", "images/none.svg",
    ),
)  # fmt: skip
def test_a_link_that_leads_nowhere_is_found(link: str) -> None:
    texts = [
        "# Once",
        "## Twice",
        "## Twice",
        "## Two Θ",
        "[this](#Once), [that](../glossary.ipynb#node)",
        f"[here]({link})",
    ]
    here = rendered(new_notebook(cells=[new_markdown_cell(text) for text in texts]))
    assert broken(here.links, "notebooks/1-chain-rule/chain_rule.ipynb", here) == [link]


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_a_verdict_sends_the_reader_to_a_section_that_is_there(lesson: Lesson, edition: str) -> None:
    anchors = page(f"{edition}/{lesson.name}/{lesson.notebook}.ipynb").anchors
    exercises = exercises_of(lesson.name).exercises
    rereads = [e.reread for e in exercises] + [m.reread for e in exercises for m in e.misconceptions]
    sent = {reread[1].lstrip("#") for reread in rereads if reread}
    assert sent
    assert {anchor for anchor in sent if anchors[anchor] != 1 or not anchor.isascii()} == set()
