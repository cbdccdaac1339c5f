"""What a teacher and a careful student click: the formgrader, its page for marks by hand, the Validate button."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from autograder.grading import demo
from autograder.lessons import find, grade_id
from tests.browser.pages import Lab, open_page

pytestmark = [pytest.mark.chromium, pytest.mark.bubblewrap]

LESSON = find(demo.LESSON)


def test_the_autograde_button_fills_the_gradebook(autograded: Lab) -> None:
    with demo.open_gradebook(autograded.folder) as gradebook:
        submission = gradebook.find_submission(LESSON.name, "fatima")
        grades = {g.name: g for nb in submission.notebooks for g in nb.grades}
        # She assigns where she ought to add up: addition and product are partly right, what needs no engine is right.
        assert grades["3_0"].auto_score == 4
        assert 0 < grades["3_1"].auto_score < 4
        assert grades["3_written"].needs_manual_grade
    assert (autograded.folder / "autograded" / "fatima" / LESSON.name / f"{LESSON.notebook}.ipynb").is_file()


def test_a_mark_given_by_hand_is_in_the_gradebook(browser: Browser, autograded: Lab) -> None:
    address = f"{autograded.address}/formgrader/gradebook/{LESSON.name}/{LESSON.notebook}"
    page = open_page(browser, address, offline=False)
    page.set_default_timeout(120_000)  # the server sets the whole notebook for the page
    page.get_by_role("link", name="Submission #1").click()
    expect(page.locator("input.score[id='3_0']")).to_have_attribute("placeholder", "4")  # the marks so far are there
    box = page.locator(f"input.score[id='{grade_id('3.written')}']")
    with page.expect_response(lambda answer: "/api/grade/" in answer.url and answer.request.method == "PUT"):
        box.fill("4")
        box.press("Tab")
    expect(box).to_have_value("4")
    page.context.close()
    with demo.open_gradebook(autograded.folder) as gradebook:
        grade = gradebook.find_grade(grade_id("3.written"), LESSON.notebook, LESSON.name, "fatima")
        assert (grade.manual_score, grade.needs_manual_grade) == (4, False)


def test_the_validate_button_says_what_is_missing(browser: Browser, class_lab: Lab) -> None:
    path = f"release/{LESSON.name}/{LESSON.notebook}.ipynb"
    page = open_page(browser, f"{class_lab.address}/lab/tree/{path}", offline=False)
    page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=60_000)
    page.get_by_role("button", name="Validate").click()
    dialog = page.locator(".jp-Dialog")
    expect(dialog).to_contain_text("3.0 unanswered: Exercise 3.0 has not been filled in yet.", timeout=180_000)
    expect(dialog).to_contain_text("3.12 unanswered")
    expect(dialog).not_to_contain_text("check.py")  # where in our code that was found is of no use to anybody
    page.context.close()
