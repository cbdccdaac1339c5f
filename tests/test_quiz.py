"""Quizzes: the mini format, what a page gives away, what a front end without HTML gets."""

from __future__ import annotations

import base64
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.student import quiz as show_quiz
from autograder.student.quiz import decode, encode, parse, plain, quiz_html

TEXT = r"""
? What is $\bar a$ for `a + a`?
  One of two is right.
( ) 1 :: One message only: $\bar b$.
(x) 2 :: Two **messages**
    of one each.

? Which hold in

  ```python
  L = a * b

  L.backward()
  ```
[x] $a > 0$ :: Yes, `a` is.
[X] a \$5 note :: A sign, no formula.
[ ] none :: No.
"""


def test_questions_options_and_explanations_are_read() -> None:
    first, second = parse(TEXT)
    assert first.text == "What is $\\bar a$ for `a + a`?\nOne of two is right."
    assert [(o.text, o.right) for o in first.options] == [("1", False), ("2", True)]
    assert first.options[1].why == "Two **messages**\nof one each." and not first.several
    assert second.several and [o.right for o in second.options] == [True, True, False]
    assert second.text == "Which hold in\n```python\nL = a * b\n\nL.backward()\n```"


MALFORMED = {
    "no question": ("", "no question"),
    "text before a question": ("Hello\n? q\n( ) a :: b\n(x) c :: d", "line 1"),
    "option before a question": ("(x) a :: b", "line 1: an option before"),
    "no explanation": ("? q\n( ) a\n(x) c :: d", "line 2"),
    "empty explanation": ("? q\n( ) a ::\n(x) c :: d", "line 2"),
    "mixed brackets": ("? q\n( ) a :: b\n[x] c :: d", "line 3: round and square"),
    "one option": ("? q\n(x) a :: b", "fewer than two"),
    "no right answer": ("? q\n( ) a :: b\n( ) c :: d", "no right answer"),
    "two right answers in round brackets": ("? q\n(x) a :: b\n(x) c :: d", "2 right answers"),
    "question without text": ("?\n(x) a :: b\n( ) c :: d", "no text"),
    "question without options": ("? q\n? r\n(x) a :: b\n( ) c :: d", "fewer than two"),
}


@pytest.mark.parametrize("fault", MALFORMED)
def test_a_malformed_quiz_says_where(fault: str) -> None:
    text, words = MALFORMED[fault]
    with pytest.raises(ValueError, match=re.escape(words)):
        parse(text)


@given(st.text(st.characters(codec="utf-8")))
def test_encoding_can_be_undone(text: str) -> None:
    assert decode(encode(text)) == text


def test_encoded_text_shows_nothing_and_survives_indentation() -> None:
    packed = encode(TEXT)
    assert "messages" not in packed and "(x)" not in packed
    assert decode("\n    " + packed.replace("\n", "\n    ") + "\n") == TEXT
    assert decode(TEXT) == TEXT


def test_damaged_text_is_named_as_such() -> None:
    with pytest.raises(ValueError, match="changed after it was built"):
        decode(encode(TEXT)[:-9])


def answers(page: str) -> list[list[dict[str, object]]]:
    packed = re.search(r'data-answers="([^"]+)"', page)
    assert packed
    return json.loads(base64.b64decode(packed[1]))  # type: ignore[no-any-return]


def test_the_page_holds_the_answers_only_encoded() -> None:
    page = quiz_html("3.x", parse(TEXT))
    assert "messages" not in page and "One message only" not in page
    assert not re.search(
        r"(?i)right(=|\"|&quot;): ?true|checked|correct", page.partition("<script>")[0].partition("</style>")[2]
    )
    assert [[a["right"] for a in q] for q in answers(page)] == [[False, True], [True, True, False]]
    assert answers(page)[0][1]["why"] == "Two <strong>messages</strong>\nof one each."


def test_formulas_become_mathml_and_code_and_dollars_stay() -> None:
    page = quiz_html("3.x", parse(TEXT))
    assert page.count("<math") == 2 and "$" not in page.partition("<script>")[0].replace("$5", "")
    assert "a $5 note" in page
    assert "<code>a + a</code>" in page and 'class="language-python">L = a * b' in page
    assert "<math" in str(answers(page)[0][0]["why"])


def test_a_minus_that_is_a_sign_stands_close_to_its_number() -> None:
    page = quiz_html("3.x", parse("? $(2, -1)$ and $x = -1$ and $a - b$ and $(a) - b$\n( ) a :: c\n(x) b :: d"))
    assert page.count('<mo form="prefix">&#x02212;</mo>') == 2 and page.count("<mo>&#x02212;</mo>") == 2


def test_an_option_that_is_a_formula_has_a_label_in_words() -> None:
    page = quiz_html("3.x", parse(r"""
        ? q
        ( ) $\frac{\partial L}{\partial v} = \bar w \cdot 2$ :: c
        (x) it is $x$ :: d"""))  # fmt: skip
    assert 'aria-label="∂L over ∂v = w bar times 2"' in page and page.count("<input") == 2
    assert page.count("aria-label") == 2  # the quiz's own, and the formula's


def test_markup_in_a_question_stays_text() -> None:
    page = quiz_html("3.x", parse("? is <img src=x onerror=alert(1)> < 3\n( ) <b>a</b> :: c\n(x) b :: d"))
    assert "<img" not in page and "<b>a" not in page and "&lt;img" in page


def test_every_option_has_a_label_and_every_question_a_legend_and_a_live_region() -> None:
    page = quiz_html("3.x", parse(TEXT)).partition("<script>")[0]
    assert page.count("<fieldset>") == page.count("<legend>") == page.count('role="status"') == 2
    assert page.count("<label><input") == page.count("<input") == 5


def test_two_quizzes_do_not_share_names() -> None:
    names = [set(re.findall(r'name="([^"]+)"', quiz_html(name, parse(TEXT)))) for name in ("3.x", "3.y")]
    assert not names[0] & names[1]
    assert quiz_html("3.x", parse(TEXT)) == quiz_html("3.x", parse(TEXT))


def test_plain_text_asks_without_answering() -> None:
    text = plain(parse(TEXT))
    assert "( ) 2" in text and "messages" not in text and "(x)" not in text


def test_a_quiz_is_silent_under_the_grader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    monkeypatch.setattr("IPython.display.display", lambda *_, **__: pytest.fail("displayed something"))
    show_quiz("3.x", "not even a quiz")
