"""In a real JupyterLab: a reader works in lesson 3; outputs come to life; their keys do not reach the notebook."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from autograder.exercises import exercises_of
from tests.browser.pages import Lab, open_page

pytestmark = pytest.mark.chromium


OVERWRITES = """
def value_add(r, s):
    def backward(g):
        r.grad = g
        s.grad = g
    return Value(r.data + s.data, (r, s), backward)


def value_mul(r, s):
    def backward(g):
        r.grad = g * s.data
        s.grad = g * r.data
    return Value(r.data * s.data, (r, s), backward)
"""


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    """One page for all tests here: what JupyterLab is made of is loaded once."""
    opened = open_page(browser, "about:blank", offline=False)
    yield opened
    opened.context.close()


def run_all(page: Page, lab: Lab, path: str) -> None:
    """Open the notebook at `path`, in a workspace of its own, and run all its cells."""
    page.goto(f"{lab.address}/lab/workspaces/{Path(path).stem}/tree/{path}")
    page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=40_000)
    expect(page.get_by_text("Python 3 (ipykernel) | Idle")).to_be_visible(timeout=40_000)
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_text("Run All Cells", exact=True).click()
    last = page.locator(".jp-CodeCell").last.locator(".jp-InputPrompt")
    expect(last).to_have_text(re.compile(r"\[\d+\]:"), timeout=90_000)


def write(page: Page, cell: Locator, code: str) -> None:
    """Put `code` into `cell`, run it, and run the next cell, its check."""
    cell.locator(".cm-content").click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(code.strip())
    page.keyboard.press("Shift+Enter")
    page.keyboard.press("Shift+Enter")


def test_a_reader_runs_lesson_3_answers_wrongly_then_rightly_and_sees_it_on_the_start_page(
    page: Page, lab: Lab
) -> None:
    run_all(page, lab, "3-reverse-mode/reverse_mode.ipynb")
    expect(page.locator(".bp-card.unanswered")).to_have_count(len(exercises_of("3-reverse-mode").exercises))
    assert page.locator("[data-mime-type='application/vnd.jupyter.error']").count() == 0

    stub = page.locator(".jp-CodeCell").filter(has_text="def value_add(r: Value, s: Value)")
    place = stub.evaluate("cell => [...document.querySelectorAll('.jp-CodeCell')].indexOf(cell)")
    answer, check = (page.locator(".jp-CodeCell").nth(place + k) for k in (0, 1))
    write(page, answer, OVERWRITES)
    card = check.locator(".bp-card")
    expect(card).to_contain_text("overwr", timeout=30_000)
    expect(card.locator(".bp-word")).to_have_text("Partly right")
    expect(card.locator("g.node.first")).to_contain_text("first difference")
    expect(card.locator("li", has_text="✗")).not_to_have_count(0)
    card.get_by_role("link").click()
    expect(page.get_by_role("heading", name=card.get_by_role("link").inner_text())).to_be_in_viewport()

    write(page, answer, OVERWRITES.replace(".grad =", ".grad +="))
    expect(card.locator(".bp-word")).to_have_text("Passed", timeout=30_000)
    expect(card.locator(".bp-done")).to_have_text(
        f"1 of {len(exercises_of('3-reverse-mode').exercises)} exercises done"
    )
    assert page.errors == []  # type: ignore[attr-defined]

    run_all(page, lab, "start.ipynb")
    here = page.locator(".bp-map details[open]")
    expect(here.locator("li.passed")).to_contain_text("3.1")
    expect(page.locator(".bp-way li[aria-current]")).to_contain_text("Reverse mode")


def test_every_piece_works_in_jupyterlab(page: Page, lab: Lab) -> None:
    run_all(page, lab, "pieces.ipynb")
    cells = page.locator(".jp-CodeCell").count()

    card = page.locator(".bp-card.failed")
    expect(card).to_contain_text("You overwrote a gradient.")
    expect(card.locator("svg[role=img] title")).to_have_text("a · a at 3")

    stepper = page.locator(".bp-stepper").nth(1)
    stepper.get_by_role("button", name="To the end").click()
    field = stepper.get_by_label("Message")
    expect(field).to_be_focused()
    field.press_sequentially("abd")  # notebook commands: insert above, insert below, delete
    field.fill("0.285633")
    field.press("Enter")
    expect(stepper.locator(".bp-caption")).to_contain_text("Right.")

    quiz = page.locator(".bp-quiz")
    quiz.get_by_role("radio").nth(1).click()
    expect(quiz).to_contain_text("SECRET-TWO")
    assert page.locator(".jp-CodeCell").count() == cells

    card.get_by_role("link", name="Adding up what arrives").click()
    expect(page.get_by_role("heading", name="Adding up what arrives")).to_be_in_viewport()
    assert page.errors == []  # type: ignore[attr-defined]


def test_keys_belong_to_stepper_and_quiz_in_notebook_7(page: Page, lab: Lab) -> None:
    """Notebook 7 takes keys as commands before they come down to an output: dd would delete the cell."""
    page.goto(f"{lab.address}/notebooks/pieces.ipynb")
    page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=40_000)
    expect(page.locator(".jp-KernelName")).to_contain_text("Python 3", timeout=40_000)
    page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]", timeout=40_000, state="attached")
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_text("Run All Cells", exact=True).click()
    page.wait_for_selector(".bp-note", timeout=40_000, state="attached")
    cells = page.locator(".jp-CodeCell").count()

    stage = page.locator(".bp-stepper").nth(0).locator(".bp-stage")
    stage.focus()
    for key in ("d", "d", "a", "End"):
        page.keyboard.press(key)
    expect(page.locator(".bp-stepper").nth(0).locator(".bp-caption")).to_contain_text("every adjoint is complete")
    first = page.locator(".bp-quiz fieldset").nth(0)
    first.get_by_role("radio").first.focus()
    for key in ("d", "d", "a", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    expect(first.get_by_role("radio").nth(1)).to_be_checked()
    expect(first).to_contain_text("Yes. SECRET-TWO")
    assert page.locator(".jp-CodeCell").count() == cells
