"""What students read for each misconception is what was written down and read, and it is not the solution."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.authoring.source import read
from autograder.lessons import LESSONS, Lesson
from tests import messages

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_messages_are_those_that_were_read(lesson: Lesson) -> None:
    apart = messages.difference(lesson)
    assert not apart, f"{apart}\n\nIf that is meant: python -m tests.messages --write, then read what changed."


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_no_message_holds_a_line_of_the_solution(lesson: Lesson) -> None:
    said = messages.path_of(lesson).read_text(encoding="utf-8")
    source = read(ROOT / "source" / lesson.name / f"{lesson.notebook}.py")
    for cell in source.cells:
        if cell.is_solution:
            body = cell.source.split("### BEGIN SOLUTION")[1].split("### END SOLUTION")[0]
            lines = [line.strip().removeprefix("return ") for line in body.splitlines()]
            assert not [line for line in lines if len(line) > 15 and line in said]
