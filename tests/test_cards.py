"""Verdict cards: what stands first, what is marked how, and that they carry themselves."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.student import when_ready
from autograder.student.cards import LOOKS, WORKED_ONLY, card_html, note_html, show
from autograder.student.progress import Done
from autograder.verdict import FAILED, PARTIAL, PASSED, STATUSES, PartVerdict, Verdict

VOID = {"br", "img", "input", "hr", "meta", "link"}


class Reader(HTMLParser):
    """The words of a piece, in order; fails on tags that do not match."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words = ""
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        if self.open[-1] not in ("style", "title", "desc"):
            self.words += data


def picture(n: int) -> dict[str, Any]:
    nodes = [{"id": str(i), "label": f"n{i}", "op": "+" if i else "input", "value": 1.0, "yours": 1.0, "right": 2.0,
              "first": i == 0} for i in range(n)]  # fmt: skip
    return {"title": "The smallest graph", "nodes": nodes,
            "edges": [{"from": str(i - 1), "to": str(i), "slot": s} for i in range(1, n) for s in (0, 1)]}  # fmt: skip


def verdict(status: str = FAILED, **changes: Any) -> Verdict:
    parts = [
        PartVerdict("add", "Addition", True, 1, 1),
        PartVerdict("mul", "Product", False, 0, 1, "For a·b: 1, expected 2."),
    ]
    fields = {
        "parts": parts,
        "misconceptions": ["overwrites-gradient"],
        "message": "You overwrote a gradient that was there. Two messages arrive.\n    r.grad = g\nFor `a*a` expected 6.",
        "reread": ("Adding up", "Adding-up"),
        "picture": picture(2),
    }
    return Verdict("3.1", "Add <and> multiply", status, 1.5, 4, **(fields | changes))


@pytest.mark.parametrize("status", STATUSES)
def test_each_status_is_told_by_a_word_and_a_mark_of_its_own(status: str) -> None:
    page = card_html(verdict(status))
    words = Reader(page).words
    assert LOOKS[status].word in words and "Add <and> multiply" in words and "1.5 / 4" in words
    assert LOOKS[status].mark in page
    assert sum(look.mark == LOOKS[status].mark for look in LOOKS.values()) == 1


def test_the_misconception_stands_before_numbers_picture_and_parts() -> None:
    words = Reader(card_html(verdict())).words
    places = [words.index(x) for x in ("You overwrote a gradient that was there.", "Two messages", "expected 6", "The smallest graph",
                                       "Addition", "Reread:")]  # fmt: skip
    assert places == sorted(places)
    assert '<p class="bp-lead">You overwrote a gradient that was there.</p>' in card_html(verdict())


def test_the_headline_is_a_whole_sentence() -> None:
    page = card_html(verdict(message="At a = 2 the adjoint of b is 3; L = a·b gives 2. Look at the slot."))
    assert '<p class="bp-lead">At a = 2 the adjoint of b is 3; L = a·b gives 2.</p>' in page


def test_the_students_line_is_code_and_nothing_is_markup() -> None:
    page = card_html(verdict(message="It raised.\n    x = <b>1</b>\nLook at `<i>`."))
    assert "&lt;b&gt;1&lt;/b&gt;</pre>" in page and "<code>&lt;i&gt;</code>" in page


@given(st.text(max_size=200), st.text(max_size=60))
def test_whatever_a_message_says_the_card_stays_whole_and_says_it(message: str, title: str) -> None:
    page = card_html(
        verdict(message=message, picture=None, parts=[PartVerdict("p", title, False, 0, 1, message + "!")])
    )
    said = re.sub(r"\s", "", Reader(page.replace("\x00", "")).words)
    for word in re.findall(r"\w+", message, re.ASCII):
        assert word in said


def test_a_failed_part_explains_itself_unless_the_message_did() -> None:
    assert "For a·b: 1, expected 2." in Reader(card_html(verdict())).words
    assert "<details>" not in card_html(verdict(message="For a·b: 1, expected 2."))


def test_rereading_is_a_link_to_the_heading() -> None:
    assert '<a href="#Adding-up">Adding up</a>' in card_html(verdict())
    assert "Reread" not in card_html(verdict(PASSED, message=""))


def test_worked_examples_give_no_points_and_say_that_more_is_checked() -> None:
    words = Reader(card_html(verdict(worked_only=True))).words
    assert WORKED_ONLY in words and "1.5" not in words and "/1" not in words


@pytest.mark.parametrize("status", STATUSES)
def test_a_card_carries_itself(status: str) -> None:
    page = card_html(verdict(status, picture=picture(20)))
    names = {name for name, _ in Reader(page).attributes}
    assert len(page) < 40_000
    assert (
        "<script" not in page and not names & {"src", "id", "onclick"} and "url(" not in page and "@import" not in page
    )


def test_a_picture_that_cannot_be_drawn_leaves_the_card() -> None:
    page = card_html(verdict(picture={"nodes": [{"no": "id"}], "edges": []}))
    assert "You overwrote" in page and "bp-graph" not in Reader(page).words


def test_progress_stands_at_the_foot() -> None:
    done = Done((("3.0", "a", PASSED), ("3.1", "b", PARTIAL), ("3.2", "c", "")))
    page = card_html(verdict(), done)
    assert "1 of 3 exercises done" in Reader(page).words
    assert re.findall(r'<i class="(\w*)"', page) == ["full", "half", ""]


class Shown(list[dict[str, str]]):
    def __call__(self, data: dict[str, str], raw: bool = False) -> None:
        self.append(data)


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Shown:
    pieces = Shown()
    monkeypatch.setattr("IPython.display.display", pieces)
    return pieces


def test_plain_text_goes_beside_the_card(shown: Shown) -> None:
    show(verdict())
    assert shown[0]["text/plain"] == verdict().text() and "bp-card" in shown[0]["text/html"]


# when_ready


def test_a_stub_becomes_one_friendly_line(shown: Shown) -> None:
    with when_ready("3.1", "3.2", "3.4"):
        raise NotImplementedError("3.2 value_tanh")
    assert shown[0]["text/plain"] == (
        "This cell comes to life once 3.1, 3.2 and 3.4 are filled in. "
        "It got as far as value_tanh (exercise 3.2), which is still empty."
    )
    assert Reader(note_html(shown[0]["text/plain"])).words == shown[0]["text/plain"]


def test_every_other_exception_passes_and_a_full_cell_says_nothing(shown: Shown) -> None:
    with pytest.raises(ZeroDivisionError), when_ready("3.1"):
        _ = 1 / 0
    with when_ready("3.1"):
        pass
    assert shown == []


def test_under_the_grader_a_stub_is_passed_over_in_silence(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    with when_ready("3.1"):
        raise NotImplementedError
    assert shown == []
