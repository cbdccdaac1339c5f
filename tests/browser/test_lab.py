"""In a real JupyterLab: outputs come to life, and keys meant for them do not reach the notebook."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.pages import Lab, open_page

pytestmark = pytest.mark.chromium


def test_every_piece_works_in_jupyterlab(browser: Browser, lab: Lab) -> None:
    page = open_page(browser, f"{lab.address}/lab/tree/pieces.ipynb", offline=False)
    page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=40_000)
    expect(page.get_by_text("Python 3 (ipykernel) | Idle")).to_be_visible(timeout=40_000)
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_text("Run All Cells", exact=True).click()
    page.wait_for_selector(".bp-note", timeout=40_000, state="attached")
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
    page.context.close()
