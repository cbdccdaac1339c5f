"""A mangled submission comes back in its lesson's shape, and every answer in it is kept."""

import copy
import random

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.grading.repair import lesson_in, repair


def _grader(grade_id, **more):
    data = {"schema_version": 3, "grade": False, "solution": False, "locked": True, "task": False, "grade_id": grade_id}
    return {"nbgrader": {**data, **more}}


def _lesson():
    cells = [
        new_markdown_cell("# Lesson", id="text-0"),
        new_code_cell("from autograder.student import check", metadata=_grader("setup"), id="setup"),
    ]
    for number in (0, 1, 2):
        cells += [
            new_markdown_cell(f"## Exercise 3.{number}", id=f"text-{number + 1}"),
            new_code_cell(
                f'def answer_{number}():\n    raise NotImplementedError("3.{number} answer_{number}")',
                metadata=_grader(f"3_{number}-solution", solution=True, locked=False),
                id=f"3_{number}-solution",
            ),
            new_code_cell(
                f'check("3.{number}", answer_{number})',
                metadata=_grader(f"3_{number}", grade=True, points=1),
                id=f"3_{number}",
            ),
        ]
    answer = _grader("3_written", grade=True, solution=True, locked=False, points=2)
    cells.append(new_markdown_cell("*Your answer*", metadata=answer, id="3_written"))
    return new_notebook(cells=cells)


PATTERN = _lesson()
MINE = {f"3_{n}-solution": f"def answer_{n}():\n    return {n}" for n in (0, 1, 2)} | {"3_written": "Because."}


def _answered():
    notebook = copy.deepcopy(PATTERN)
    for cell in notebook.cells:
        cell.source = MINE.get(cell.id, cell.source)
    return notebook


def _index(notebook, grade_id):
    found = [i for i, c in enumerate(notebook.cells) if c.metadata.get("nbgrader", {}).get("grade_id") == grade_id]
    assert len(found) == 1, f"{grade_id} stands {len(found)} times"
    return found[0]


def _holds(repaired):
    """Every check stands once, as released, below its answer; every answer is the student's."""
    notebook = repaired.notebook
    nbformat.validate(notebook)
    for n in (0, 1, 2):
        check, answer = _index(notebook, f"3_{n}"), _index(notebook, f"3_{n}-solution")
        assert answer < check
        assert notebook.cells[check].source == f'check("3.{n}", answer_{n})'
        assert notebook.cells[check].metadata.nbgrader.points == 1
        assert notebook.cells[answer].source == MINE[f"3_{n}-solution"]
    assert notebook.cells[_index(notebook, "3_written")].source == "Because."
    assert len({cell.id for cell in notebook.cells}) == len(notebook.cells)


def _drop(notebook, grade_id):
    del notebook.cells[_index(notebook, grade_id)]


def _check_deleted(nb):
    _drop(nb, "3_1")


def _check_edited(nb):
    nb.cells[_index(nb, "3_1")].source = "1.0"


def _check_emptied(nb):
    nb.cells[_index(nb, "3_1")].source = ""


def _check_as_markdown(nb):
    i = _index(nb, "3_1")
    nb.cells[i] = new_markdown_cell(nb.cells[i].source, metadata=nb.cells[i].metadata, id=nb.cells[i].id)


def _check_above(nb):
    i, j = _index(nb, "3_1"), _index(nb, "3_1-solution")
    nb.cells[i], nb.cells[j] = nb.cells[j], nb.cells[i]


def _points_raised(nb):
    nb.cells[_index(nb, "3_1")].metadata.nbgrader.points = 100


def _metadata_lost(nb):
    for cell in nb.cells:
        cell.metadata = nbformat.from_dict({})


def _metadata_and_ids_lost(nb):
    _metadata_lost(nb)
    for number, cell in enumerate(nb.cells):
        cell.id = f"new-{number}"


def _check_doubled(nb):
    i = _index(nb, "3_1")
    nb.cells.insert(i + 1, copy.deepcopy(nb.cells[i]))


def _setup_deleted(nb):
    _drop(nb, "setup")


def _all_checks_deleted(nb):
    for n in (0, 1, 2):
        _drop(nb, f"3_{n}")


FLAGGED = [
    _check_deleted, _check_edited, _check_emptied, _check_as_markdown, _check_above, _metadata_lost,
    _metadata_and_ids_lost, _check_doubled, _setup_deleted, _all_checks_deleted,
]  # fmt: skip


@pytest.mark.parametrize("mangle", FLAGGED, ids=lambda f: f.__name__)
def test_a_mangled_notebook_is_repaired_and_flagged(mangle):
    notebook = _answered()
    mangle(notebook)
    if mangle is _metadata_and_ids_lost:
        notebook.cells[-1].source = "*Your answer*"  # a written answer without any id cannot be told from other text
    repaired = repair(notebook, PATTERN)
    assert repaired.flags
    if mangle is _metadata_and_ids_lost:
        repaired.notebook.cells[_index(repaired.notebook, "3_written")].source = "Because."
    _holds(repaired)


def test_an_untouched_notebook_needs_no_repair():
    repaired = repair(_answered(), PATTERN)
    assert repaired.flags == []
    _holds(repaired)


def test_points_and_other_grading_metadata_come_from_the_lesson():
    notebook = _answered()
    _points_raised(notebook)
    _holds(repair(notebook, PATTERN))


def test_the_last_of_two_answers_counts():
    notebook = _answered()
    i = _index(notebook, "3_1-solution")
    wrong = copy.deepcopy(notebook.cells[i])
    wrong.source = "def answer_1():\n    return 'first try'"
    notebook.cells.insert(i, wrong)
    repaired = repair(notebook, PATTERN)
    _holds(repaired)
    assert any("last one counts" in flag for flag in repaired.flags)


def test_own_cells_stay_where_they_are():
    notebook = _answered()
    i = _index(notebook, "3_1")
    notebook.cells.insert(i, new_code_cell("helper = 1", id="mine"))
    _drop(notebook, "3_1")
    repaired = repair(notebook, PATTERN)
    _holds(repaired)
    own = next(k for k, cell in enumerate(repaired.notebook.cells) if cell.source == "helper = 1")
    assert _index(repaired.notebook, "3_1-solution") < own < _index(repaired.notebook, "3_1")


def test_an_answer_moved_to_the_end_is_checked_there():
    notebook = _answered()
    i = _index(notebook, "3_0-solution")
    notebook.cells.append(notebook.cells.pop(i))
    _holds(repair(notebook, PATTERN))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(FLAGGED[:5] + FLAGGED[7:]), max_size=4, unique=True), st.integers(0, 2**32))
def test_combined_manglings_are_repaired(mangles, seed):
    notebook = _answered()
    for mangle in random.Random(seed).sample(mangles, len(mangles)):
        try:
            mangle(notebook)
        except AssertionError:
            continue  # an earlier one has taken away what this one would mangle
    _holds(repair(notebook, PATTERN))


def test_repairing_twice_changes_nothing():
    notebook = _answered()
    _check_above(notebook)
    _setup_deleted(notebook)
    once = repair(notebook, PATTERN).notebook
    assert repair(once, PATTERN).notebook == once


def test_the_lesson_is_found_by_content():
    notebook = _answered()
    _metadata_lost(notebook)
    assert lesson_in(notebook) == "3-reverse-mode"
    assert lesson_in(new_notebook(cells=[new_code_cell("x = 1")])) is None
