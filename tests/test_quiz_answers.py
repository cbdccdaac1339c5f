"""Every quiz of the lessons: the right options are marked, each option is explained, and form alone betrays no answer."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable

import pytest

from autograder.authoring.editions import quiz_call
from autograder.lessons import LESSONS, Lesson
from autograder.student.quiz import Question, parse
from tests.lesson_run import ROOT, source_of

KEY: dict[str, list[dict[str, str]]] = tomllib.loads((ROOT / "tests" / "quiz_answers.toml").read_text("utf-8"))
EVERY_LESSON = pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)


def quizzes(lesson: Lesson) -> dict[str, list[Question]]:
    found: dict[str, list[Question]] = {}
    for cell in source_of(lesson).cells:
        if "quiz" in cell.tags:
            call = quiz_call(cell.source)
            assert call and call[0] not in found, cell.source.split("\n")[0]
            found[call[0]] = parse(call[1])
    return found


def questions(lesson: Lesson) -> list[tuple[str, Question]]:
    return [(f"{name}, {n}", q) for name, asked in quizzes(lesson).items() for n, q in enumerate(asked, 1)]


def test_the_key_knows_every_quiz_and_no_other() -> None:
    assert sorted(KEY) == sorted(name for lesson in LESSONS for name in quizzes(lesson))


@EVERY_LESSON
def test_exactly_the_right_options_are_marked(lesson: Lesson) -> None:
    for name, asked in quizzes(lesson).items():
        for n, (question, right) in enumerate(zip(asked, KEY[name], strict=True), 1):
            marked = [number for number, option in enumerate(question.options, 1) if option.right]
            assert marked == [int(number) for number in right], f"{name}, {n}"
            for number, beginning in right.items():
                beginners = [i for i, option in enumerate(question.options, 1) if option.text.startswith(beginning)]
                assert beginners == [int(number)], f"{name}, {n}: {beginning}"


@EVERY_LESSON
def test_options_differ_are_explained_and_leave_a_choice(lesson: Lesson) -> None:
    for where, question in questions(lesson):
        right = sum(option.right for option in question.options)
        assert right >= 1 if question.several else right == 1, where
        assert right < len(question.options), f"{where}: nothing to leave out"
        assert all(option.why.strip() for option in question.options), where
        for part in ([o.text for o in question.options], [o.why for o in question.options]):
            assert len({" ".join(text.split()) for text in part}) == len(part), f"{where}: two that are alike"


def length(text: str) -> int:
    """About how long a reader sees `text`: a command of TeX is one sign, marks that set type are none."""
    return len(re.sub(r"[$\\{}*`]", "", re.sub(r"\\[a-zA-Z]+", "x", text)))


def place(number: int) -> Callable[[list[int]], int]:
    return lambda lengths: number


# How somebody might answer who does not read: from the lengths of the options to the place of one.
GUESSES: dict[str, Callable[[list[int]], int]] = {
    **{f"always the {name}": place(n) for n, name in enumerate(("first", "second", "third", "fourth"))},
    "the longest": lambda lengths: lengths.index(max(lengths)),
    "the shortest": lambda lengths: lengths.index(min(lengths)),
}
MOST = 0.4  # among four options blind luck finds 0.25


@EVERY_LESSON
def test_no_way_of_guessing_beats_reading(lesson: Lesson) -> None:
    single = [question for _, question in questions(lesson) if not question.several]
    found = dict.fromkeys(GUESSES, 0)
    for question in single:
        lengths = [length(option.text) for option in question.options]
        for name, guess in GUESSES.items():
            at = guess(lengths)
            found[name] += at < len(lengths) and question.options[at].right
    shares = {name: round(hits / len(single), 2) for name, hits in found.items()}
    print(lesson.name, len(single), shares)
    assert max(shares.values()) <= MOST, shares
