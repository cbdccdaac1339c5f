"""axe-core finds no serious barrier on the pages of the course: start page, lesson pieces, feedback.

Judged are our own pieces, and the text of the course as far as it is ours. The frame is nbconvert's, nbgrader's or
JupyterLab's, and so are three things inside the text: the pale ¶ beside a heading, the boxes of a list to tick, which
have no label, and links that only their colour tells from the words around.
"""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbconvert import HTMLExporter
from playwright.sync_api import Browser, Page

from autograder.grading import demo, report
from tests.browser.pages import Lab, open_page

pytestmark = pytest.mark.chromium

ROOT = Path(__file__).resolve().parents[2]
NOT_OURS = [[".anchor-link"], [".task-list-item-checkbox"]]
LINKS = ("link-in-text-block",)


def barriers(page: Page, axe: str, where: str = ".bp", leave_out: tuple[str, ...] = ()) -> list[str]:
    """The serious and critical violations in what the selector `where` finds, but for the rules to `leave_out`."""
    assert page.locator(where).count(), "nothing to look at"
    page.evaluate(axe)
    scope = {"include": [[where]], "exclude": NOT_OURS}
    rules = {rule: {"enabled": False} for rule in leave_out}
    found = page.evaluate("([scope, rules]) => axe.run(scope, {resultTypes: ['violations'], rules})", [scope, rules])
    assert found["passes"], "nothing was looked at"
    return [
        f"{v['impact']} {v['id']}: {node['html'][:200]}"
        for v in found["violations"]
        if v["impact"] in ("serious", "critical")
        for node in v["nodes"]
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_stepper_quiz_card_and_graph(browser: Browser, exported: dict[str, Path], axe: str, theme: str) -> None:
    page = open_page(browser, exported[theme].as_uri())
    assert barriers(page, axe) == []
    for piece in page.locator(".bp-stepper").all():
        piece.get_by_role("button", name="To the end").click()
    page.get_by_label("Message").fill("7")
    page.get_by_label("Message").press("Enter")
    page.locator(".bp-quiz fieldset").nth(0).get_by_role("radio").nth(0).click()
    page.locator(".bp-quiz fieldset").nth(1).get_by_role("checkbox").nth(2).check()
    page.locator(".bp-quiz fieldset").nth(1).get_by_role("button", name="Check my choice").click()
    page.locator(".bp-card details").first.click()
    assert barriers(page, axe) == []
    page.context.close()


def test_the_start_page(browser: Browser, tmp_path: Path, axe: str) -> None:
    start = nbformat.read(ROOT / "notebooks" / "start.ipynb", as_version=4)
    NotebookClient(start, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    for theme in ("light", "dark"):
        (tmp_path / "start.html").write_text(HTMLExporter(theme=theme).from_notebook_node(start)[0], "utf-8")
        page = open_page(browser, (tmp_path / "start.html").as_uri())
        assert barriers(page, axe) == []
        assert barriers(page, axe, ".jp-RenderedMarkdown", leave_out=LINKS) == []
        page.context.close()


def test_the_feedback_page(browser: Browser, autograded: Lab, axe: str) -> None:
    demo.nbgrader(autograded.folder, "generate_feedback", demo.LESSON, "--student=fatima")
    (path,) = (autograded.folder / "feedback").rglob("*.html")
    page = open_page(browser, path.as_uri())
    assert page.locator(".bp-card.failed, .bp-card.partial").count()
    assert barriers(page, axe) == []
    assert barriers(page, axe, "html") == []
    page.context.close()


def test_the_report_page(browser: Browser, autograded: Lab, tmp_path: Path, axe: str) -> None:
    (tmp_path / "report.html").write_text(report.as_html(report.report(autograded.folder, demo.LESSON)), "utf-8")
    for scheme in ("light", "dark"):
        page = open_page(browser, (tmp_path / "report.html").as_uri())
        page.emulate_media(color_scheme=scheme)
        assert barriers(page, axe, "html") == []
        page.context.close()
