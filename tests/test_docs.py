"""The docs, followed: what they tell to do can be done, and does what they show."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import nbformat
import pytest

from autograder.grading.demo import filled
from tests.following import ROOT, copy_of_the_course, follow, pattern, run

DOCS = ROOT / "docs"

SIGMOID = "import math\n\ndef sigmoid_slope(x):\n    s = 1 / (1 + math.exp(-x))\n    return {}\n"
NEWTON = "def newton_step(x, value, slope):\n    return {}\n"
ANSWERS = {  # name of the file: notebook, tag, answer, its exercise, score, misconceptions
    "s": ("1-chain-rule/chain_rule", "1.10-solution", SIGMOID.format("s - s * s"), 4, []),
    "x": ("1-chain-rule/chain_rule", "1.10-solution", SIGMOID.format("x * (1 - x)"), 0, ["sigmoid-slope-from-input"]),
    "step": ("6-newton/newton", "6.1-solution", NEWTON.format("x + -1 / slope * value"), 4, []),
    "away": ("6-newton/newton", "6.1-solution", NEWTON.format("x + value / slope"), 0, ["steps-away-from-the-root"]),
}


@pytest.mark.bubblewrap
def test_an_exercise_can_be_changed_one_added_and_a_lesson_added_as_the_docs_say(tmp_path: Path) -> None:
    """Right answers to what was added get full marks then, and the listed wrong ones their names."""
    course = copy_of_the_course(tmp_path / "course")
    follow(DOCS / "changing.md", course)
    for name, (notebook, tag, text, _, _) in ANSWERS.items():
        like = nbformat.read(course / "release" / f"{notebook}.ipynb", as_version=4)
        nbformat.write(filled(like, {tag: text}), course / f"{name}.ipynb")
    reports = json.loads(run("autograder grade --json " + " ".join(f"{name}.ipynb" for name in ANSWERS), course))
    for report, (_, tag, _, score, misconceptions) in zip(reports, ANSWERS.values(), strict=True):
        (found,) = [e for e in report["exercises"] if e["id"] == tag.removesuffix("-solution")]
        assert (found["score"], found["misconceptions"]) == (score, misconceptions), report["notebook"]
        points = {e["id"]: e["max_score"] for e in report["exercises"]}
        assert points.get("1.2", 8) == 8
    assert "Exercise 1.10" in (course / "notebooks" / "1-chain-rule" / "chain_rule.ipynb").read_text("utf-8")


# What another test does: test_doctor.py, and test_round.py, test_feedback.py.
ELSEWHERE = ("autograder doctor", "nbgrader generate_feedback")


@pytest.mark.bubblewrap
def test_an_instructors_week_goes_as_the_docs_say(tmp_path: Path) -> None:
    """One class: graded, exported; a penalty and an extension; an exercise corrected, whose marks change told before."""
    course = copy_of_the_course(tmp_path / "course")
    follow(DOCS / "instructors.md", course, but=ELSEWHERE)
    with open(course / "marks.csv", encoding="utf-8", newline="") as file:
        excused, late = csv.DictReader(file)
    assert float(late["raw_score"]) == 49.25 and float(late["late_submission_penalty"]) == pytest.approx(
        4.925, abs=0.01
    )
    assert float(excused["late_submission_penalty"]) == 0 and float(excused["score"]) == 53


@pytest.mark.parametrize(
    ("shown", "real", "fits"),
    [
        ("a\nb\n", "a\nb\n", True), ("a\nb\n", "a\nc\n", False), ("a\n", "a\nb\n", False), ("a\n…\n", "a\nb\nc\n", True),
        ("a … c\n", "a b c\n", True), ("a … c\n", "a b d\n", False), ("…\nc\n", "a\nb\nc\n", True), ("a (1)\n", "a 1\n", False),
    ],
)  # fmt: skip
def test_shown_output_is_held_against_the_real_one(shown: str, real: str, fits: bool) -> None:
    assert bool(pattern(shown).fullmatch(real)) is fits
