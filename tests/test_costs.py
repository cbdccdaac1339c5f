"""One mistake costs the marks of its own exercise: whatever is built on it keeps its own.

Measured once in lessons 1 to 3 for all mutants of the solutions as well. What costs twice is in COSTS_TWICE, or is a
value_backward that raises or sends nothing: 3.5 asks what the second call of it does.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.authoring.source import SOLUTION
from autograder.grading.audit import LessonAudit
from autograder.grading.wrong_answers import wrong_answers
from autograder.lessons import lesson_of

ROOT = Path(__file__).resolve().parents[1]
# exercise → the exercises whose solutions call what it asks for
BUILT_ON = {
    "1.3": ("1.5",),
    "1.4": ("1.6",),
    "2.1": ("2.3", "2.6"),
    "2.4": ("2.5",),
    "3.1": ("3.2", "3.3", "3.4", "3.5", "3.6", "3.7", "3.10"),
    "3.2": ("3.1", "3.4", "3.5", "3.6", "3.7"),
    "3.3": ("3.4", "3.5", "3.7", "3.10"),
    "3.4": ("3.5", "3.6", "3.7", "3.10"),
    "4.1": ("4.2", "4.3", "4.7"),
    "4.2": ("4.7",),
    "4.3": ("4.7",),
    "4.4": ("4.7",),
    "4.5": ("4.7",),
    "4.6": ("4.7",),
    "4.7": ("4.8",),
    "5.3": ("5.4", "5.5", "5.7", "5.8"),
    "5.4": ("5.7",),
    "5.6": ("5.7",),
}
# (exercise, wrong answer, other exercise): why the other one loses marks as well. Nothing else may.
COSTS_TWICE = {
    ("3.4", "recursion-fires-every-path", "3.5"): "this way to walk leaves out the clearing that 3.5 asks for",
}
# (exercise, old, new, the exercises that lose marks): what gives nothing that could be built on.
ADD = "return Value(r.data + s.data, (r, s), backward)"
GIVES_NOTHING = [
    ("3.1", ADD, "Value(r.data + s.data, (r, s), backward)", ["3.1"]),
    ("3.1", ADD, "return r.data + s.data", ["3.1"]),
    ("3.1", ADD, "return Value(r.data + s.data, backward, (r, s))", ["3.1"]),
    ("3.1", "r.data * s.data, (r, s), backward)", "r.value * s.value, (r, s), backward)", ["3.1"]),
    ("3.2", "y = math.exp(r.data)", "y = math.log(r.data)", ["3.2"]),
    ("3.2", "return Value(math.log(r.data), (r,), backward)", "Value(math.log(r.data), (r,), backward)", ["3.2"]),
    ("3.2", "return value_mul(r, Value(-1.0))", "return value_sub(Value(0.0), r)", ["3.2"]),  # and back again
    ("3.4", "if node._backward is not None:\n            node._backward", "if True:\n            node._backward", ["3.4", "3.5"]),
]  # fmt: skip


pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def audits() -> dict[str, LessonAudit]:
    return {}


@pytest.mark.parametrize("exercise", BUILT_ON)
def test_a_mistake_costs_nothing_where_its_function_is_called(exercise: str, audits: dict[str, LessonAudit]) -> None:
    lesson = lesson_of(exercise).name
    found = audits.setdefault(lesson, LessonAudit(lesson, ROOT, {}))
    cells = {cell.grade_id: cell.without_markers(SOLUTION) for cell in found.notebook.cells(exercise)}
    for wrong in wrong_answers(exercise):
        edited = [text.replace(wrong.old, wrong.new) for text in cells.values() if wrong.old in text]
        assert edited, wrong
        own = found.check(exercise, 0).verdict(found.notebook.objects(found.exercises[exercise], *edited), naming=False)
        assert own is not None and own.score < own.max_score, wrong
        for other in BUILT_ON[exercise]:
            verdict = found.check(other, 0).verdict(
                found.notebook.objects(found.exercises[other], *edited), naming=False
            )
            assert verdict is not None
            keeps = (exercise, wrong.name, other) not in COSTS_TWICE
            assert (verdict.score == verdict.max_score) is keeps, (wrong, verdict.text())


@pytest.mark.parametrize(("exercise", "old", "new", "loses"), GIVES_NOTHING)
def test_what_gives_nothing_costs_nothing_where_it_is_called(
    exercise: str, old: str, new: str, loses: list[str], audits: dict[str, LessonAudit]
) -> None:
    lesson = lesson_of(exercise).name
    found = audits.setdefault(lesson, LessonAudit(lesson, ROOT, {}))
    cells = [cell.without_markers(SOLUTION) for cell in found.notebook.cells(exercise)]
    (edited,) = [text.replace(old, new) for text in cells if old in text]
    short = []
    for id in (exercise, *BUILT_ON[exercise]):
        verdict = found.check(id, 0).verdict(found.notebook.objects(found.exercises[id], edited), naming=False)
        assert verdict is not None
        short += [id] if verdict.score < verdict.max_score else []
    assert short == loses
