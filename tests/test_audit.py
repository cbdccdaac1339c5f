"""The audit: mutants are real and all of them programs, a hole is reported, and it is clean."""

from __future__ import annotations

import ast
import itertools
import os
import re
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from autograder.authoring.source import SOLUTION as MARKERS
from autograder.cli import app
from autograder.exercises import exercises_of
from autograder.grading import audit
from autograder.grading.audit import RIGHT_ANSWERS, LessonAudit, as_text, in_fork, right_answers
from autograder.grading.mutants import mutants
from autograder.grading.wrong_answers import wrong_answers
from autograder.lessons import LESSONS
from autograder.verdict import FAILED, PARTIAL
from tests.right_answers import RIGHT
from tests.unlisted_rules import UNLISTED

ROOT = Path(__file__).resolve().parents[1]

SOLUTION = '''
def f(a, b):
    """a + b, at least 0."""
    total = 0.0
    total += a[0] + b
    return max(total, 0.0) if total > 0 else -1.0 * a[1:].T
'''


pytestmark = pytest.mark.usefixtures("one_thread")


# ---- mutants --------------------------------------------------------------------------------------------------------


def test_mutants_are_programs_that_differ_from_the_answer_and_from_each_other() -> None:
    made = mutants(SOLUTION)
    programs = {ast.dump(ast.parse(mutant.text)) for mutant in made}
    assert len(programs) == len(made) > 25
    assert ast.dump(ast.parse(SOLUTION)) not in programs
    assert len({mutant.change for mutant in made}) == len(made)


@pytest.mark.parametrize(
    "change",
    [
        "f: total += a[0] + b => total = a[0] + b",
        "f: total += a[0] + b => total += (a[0] - b)",
        "f: total += a[0] + b => total += a[1] + b",
        "f: total += a[0] + b => total += b",
        "f: total += a[0] + b => pass",
    ],
)
def test_the_usual_slips_are_among_them(change: str) -> None:
    assert change in {mutant.change for mutant in mutants(SOLUTION)}


def test_signature_and_docstring_are_left_alone() -> None:
    for mutant in mutants(SOLUTION):
        (f,) = ast.parse(mutant.text).body
        assert isinstance(f, ast.FunctionDef)
        assert [a.arg for a in f.args.args] == ["a", "b"] and ast.get_docstring(f) == "a + b, at least 0."


# ---- forks ----------------------------------------------------------------------------------------------------------


def test_endless_loops_deaths_and_floods_of_memory_are_no_evidence() -> None:
    def loop() -> str:
        while True:
            pass

    def flood() -> str:
        return "x" * len(bytearray(16 * 2**30))

    begun = time.monotonic()
    assert in_fork(loop, 0.3) is None
    assert time.monotonic() - begun < 30
    assert in_fork(os.abort, 20) is None
    assert in_fork(flood, 20) is None
    assert in_fork(lambda: "fine", 20) == "fine"


# ---- the audit notices ----------------------------------------------------------------------------------------------


def test_a_check_that_passes_everything_is_found_out() -> None:
    lesson = exercises_of("4-softmax-backprop")
    blind = replace(lesson["4.5"], judge=lambda case, value: None)
    found = LessonAudit("4-softmax-backprop", ROOT, {}, 12)
    found.exercises["4.5"] = blind
    seen = found.audit(blind)
    assert not seen.sound and seen.open and seen.unseen
    assert "! not caught: tanh_vjp" in as_text(seen)


def test_a_check_that_refuses_a_right_answer_is_found_out() -> None:
    others = {"4.5": {"in other words": lambda: (lambda h, h_bar: h_bar - h_bar * h,)}}
    seen = LessonAudit("4-softmax-backprop", ROOT, others, 0)
    findings = seen.audit(seen.exercises["4.5"])
    assert not findings.sound and findings.refused[0].startswith("in other words: partial")


def test_a_misconception_under_a_wrong_name_is_found_out() -> None:
    exercise = exercises_of("4-softmax-backprop")["4.5"]
    first, *rest = exercise.misconceptions
    twin = replace(first, name="another-name")
    found = LessonAudit("4-softmax-backprop", ROOT, {}, 0).audit(replace(exercise, misconceptions=(first, twin, *rest)))
    assert not found.sound and found.misnamed == {"another-name": [first.name]}


def test_reviewed_mutants_belong_to_exercises_and_have_reasons() -> None:
    known = {e.id for lesson in LESSONS for e in exercises_of(lesson.name).exercises}
    for id, entries in audit.reviewed().items():
        assert id in known
        for note in entries.values():
            assert note.reason.endswith(".") and (not note.caught_by or note.caught_by in known)


# ---- wrong rules that nobody listed ---------------------------------------------------------------------------------


def _says(verdict: Any, word: str) -> bool:
    begin, end = (r"(?<!\w)" if word[0].isalnum() else "", r"(?!\w)" if word[-1].isalnum() else "")
    return re.search(begin + re.escape(word) + end, f"{verdict.where}\n{verdict.message}") is not None


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_wrong_rules_that_nobody_listed_fail_are_located_and_get_no_name(lesson: Any) -> None:
    audit_of = LessonAudit(lesson.name, ROOT, {})
    rules = [rule for rule in UNLISTED if rule.exercise in audit_of.exercises]
    astray = []
    for rule in rules:
        exercise = audit_of.exercises[rule.exercise]
        cells = [cell.without_markers(MARKERS) for cell in audit_of.notebook.cells(rule.exercise)]
        (cell,) = (text for text in cells if rule.old in text)
        assert cell.count(rule.old) == 1, rule
        answer = audit_of.notebook.objects(exercise, cell.replace(rule.old, rule.new))
        verdict = audit_of.check(rule.exercise, 0).verdict(answer)
        assert verdict is not None and verdict.status in (FAILED, PARTIAL), rule
        assert verdict.misconceptions == [], (rule, verdict.text())
        lost = {part.name for part in verdict.parts if not part.passed}
        if not (lost <= set(rule.parts) and any(_says(verdict, word) for word in rule.named)):
            astray.append((rule, verdict.text()))
    assert len(astray) <= 0.05 * len(rules), astray


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_two_mistakes_at_once_are_located(lesson: Any) -> None:
    """Two in parts of their own cost no third part, and the verdict says where. (Two wrong signs may make a right one.)"""
    audit_of = LessonAudit(lesson.name, ROOT, {})

    def verdict_on(exercise: Any, text: str) -> Any:
        return audit_of.check(exercise.id, 0).verdict(audit_of.notebook.objects(exercise, text), naming=False)

    tried = 0
    for exercise in audit_of.exercises.values():
        cells = [cell.without_markers(MARKERS) for cell in audit_of.notebook.cells(exercise.id)]
        for text in cells:
            fitting = [wrong for wrong in wrong_answers(exercise.id) if wrong.old in text]
            pairs = [(a, b, text.replace(a.old, a.new)) for a, b in itertools.combinations(fitting, 2)]
            for a, b, once in [pair for pair in pairs if pair[1].old in pair[2]][:1]:
                lost = [
                    {part.name for part in verdict_on(exercise, edited).parts if not part.passed}
                    for edited in (once, text.replace(b.old, b.new), once.replace(b.old, b.new))
                ]
                assert lost[2] and (lost[2] <= lost[0] | lost[1] or lost[0] & lost[1]), (a, b, lost)
                verdict = verdict_on(exercise, once.replace(b.old, b.new))
                assert verdict.where and verdict.message and verdict.status in (FAILED, PARTIAL), (a, b)
                tried += 1
    assert tried >= 5


def test_every_exercise_has_a_wrong_rule_that_nobody_listed() -> None:
    known = {e.id for lesson in LESSONS for e in exercises_of(lesson.name).exercises}
    assert {rule.exercise for rule in UNLISTED} == known - {"1.9"} and len(UNLISTED) > 100


# ---- the audit itself -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_right_answers_pass_misconceptions_get_their_names_and_all_mutants_are_caught(lesson: Any) -> None:
    others = right_answers(ROOT / RIGHT_ANSWERS)
    for found in LessonAudit(lesson.name, ROOT, others).run():
        assert found.sound, as_text(found)
        assert found.mutants >= 4 and found.right >= 4, as_text(found)


def test_every_exercise_has_three_right_answers_in_other_styles() -> None:
    known = {e.id for lesson in LESSONS for e in exercises_of(lesson.name).exercises}
    assert {id for id in known if len(RIGHT.get(id, {})) < 3} == set()


def test_the_command_prints_one_exercise_and_tells_by_its_status() -> None:
    done = CliRunner().invoke(app, ["audit", "4-softmax-backprop", "--exercise", "4.5", "--sample", "3"])
    assert done.exit_code == 0, done.output
    assert "4.5" in done.output and "mutants: 3 of 3 caught" in done.output
