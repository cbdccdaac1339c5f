"""The lint tells every fault of a source and of what is built from it: one tiny file a fault in tests/authoring/bad."""

from __future__ import annotations

from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.authoring import lint
from autograder.authoring.source import SourceError, read
from tests.tiny_course import EXERCISES, SOURCES

# file in tests/authoring/bad → the line and the words of the one fault that it has (line 0: the file as a whole)
BAD = {
    "altered_check": (34, 'the check cell of 9.1 should have here: grade("9.1", square)'),
    "colliding_cell_ids": (59, "grade id 9-1-solution gives the cell id of 9.1-solution"),
    "duplicate_grade_id": (59, "grade id 9.1-solution stands at line 22 already"),
    "empty_solution": (24, "the solution region is empty"),
    "hidden_tests_outside_a_check": (10, "HIDDEN TESTS region outside a check cell"),
    "hidden_tests_without_end": (32, "BEGIN HIDDEN TESTS without END HIDDEN TESTS"),
    "longer_check": (32, "the check cell of 9.1 should have here: ### BEGIN HIDDEN TESTS"),
    "mark_scheme_outside_a_task": (47, "MARK SCHEME region outside a task cell"),
    "mark_scheme_without_end": (51, "BEGIN MARK SCHEME without END MARK SCHEME"),
    "missing_points": (31, "9.1 has no points"),
    "nested_regions": (26, "BEGIN SOLUTION inside SOLUTION"),
    "no_answer_cell": (0, "9.written has no answer cell"),
    "no_check": (0, "9.1 has no check cell"),
    "no_grade_id": (59, "nbgrader metadata without a grade_id"),
    "no_hints": (31, "9.1 has no hint drawers in the cell after its check"),
    "no_mark_scheme": (52, "9.written has no task cell with a mark scheme"),
    "no_solution_cell": (22, "9.1 has no solution cell"),
    "no_solution_drawer": (31, "9.1 has no solution drawer with a line {{solution 9.1}}"),
    "other_points": (31, "9.1 has 3 points here, 2 in autograder.exercises"),
    "other_points_written": (56, "9.written has 5 points here, 6 in autograder.exercises"),
    "quiz_with_other_code": (12, "a quiz cell holds one call"),
    "quiz_without_right_answer": (12, "quiz 9.warm-up:"),
    "quiz_without_tag": (12, 'a quiz cell without the tag "quiz"'),
    "solution_is_not_python": (25, "9.1-solution is not Python"),
    "solution_outside_its_cell": (10, "SOLUTION region outside a solution cell"),
    "solution_without_begin": (26, "END SOLUTION without BEGIN SOLUTION"),
    "solution_without_end": (24, "BEGIN SOLUTION without END SOLUTION"),
    "stub_without_function": (22, "no function is left around the stub: its stub would be empty"),
    "stub_without_region": (22, "9.1-solution has no solution region: its stub would be empty"),
    "unknown_exercise": (59, "9.7 is no exercise in autograder.exercises"),
    "unknown_solution_reference": (45, "9.8 is no exercise in autograder.exercises"),
}


def faults_of(path: Path) -> list[lint.Fault]:
    return lint.lint_source(read(path), EXERCISES, path.name)


def test_a_good_source_has_no_fault() -> None:
    assert faults_of(SOURCES / "good.py") == []


@pytest.mark.parametrize("name", BAD)
def test_a_fault_is_told_alone_and_at_its_line(name: str) -> None:
    line, words = BAD[name]
    (fault,) = faults_of(SOURCES / "bad" / f"{name}.py")
    assert words in fault.message
    assert fault.line == line
    assert str(fault).startswith(f"{name}.py:{line}: " if line else f"{name}.py: ")


def test_every_bad_source_is_tested() -> None:
    assert {path.stem for path in (SOURCES / "bad").glob("*.py")} == BAD.keys()


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    text = (SOURCES / "good.py").read_text()
    text = text.replace('"points": 2', '"points": 3').replace("    ### END SOLUTION\n", "").replace("(x) 4", "( ) 4")
    (tmp_path / "three.py").write_text(text)
    assert len(faults_of(tmp_path / "three.py")) == 3


def test_text_before_the_first_cell_marker_is_refused(tmp_path: Path) -> None:
    (tmp_path / "loose.py").write_text("import math\n\n# %%\nmath.pi\n")
    with pytest.raises(SourceError, match="Begin every cell"):
        read(tmp_path / "loose.py")


@pytest.mark.parametrize(
    "text",
    [
        "x = 1\n### BEGIN SOLUTION",
        "### BEGIN HIDDEN TESTS\n### END HIDDEN TESTS",
        "### BEGIN MARK SCHEME",
        'from autograder.student import grade\ngrade("9.1", square)',
    ],
)
def test_traces_of_solutions_and_hidden_tests_are_found_in_what_was_built(text: str) -> None:
    notebook = new_notebook(cells=[new_code_cell("x = 1"), new_code_cell(text)])
    faults = lint.lint_built("release/tiny.ipynb", notebook)
    assert faults
    assert all("cell 2" in fault.message for fault in faults)


def test_solution_text_is_found_wherever_it_stands_in_the_classroom_edition() -> None:
    source = read(SOURCES / "good.py")
    leak = "For example:\n\n```python\ndef f(x):\n        product = x * x\n\n        return product  # done\n```"
    notebook = new_notebook(cells=[new_markdown_cell("# Nine"), new_markdown_cell(leak)])
    (fault,) = lint.lint_solutions("release/tiny.ipynb", notebook, source)
    assert "cell 2 holds the solution of 9.1" in fault.message
    assert (
        lint.lint_solutions("r", new_notebook(cells=[new_code_cell("product = x * x\nprint(product)")]), source) == []
    )


def test_a_python_file_in_release_is_a_fault() -> None:
    (fault,) = lint.lint_files(["release/9-tiny/tiny.ipynb", "release/9-tiny/tiny.py"])
    assert fault.path == "release/9-tiny/tiny.py"


GLOSSARY = '# Glossary\n\n<a id="adjoint"></a>\n**Adjoint.** The derivative of the loss by a node.\n\n## Wengert list'
LINKS = {
    "[adjoint](../glossary.ipynb#adjoint)": "",
    "[list](../glossary.ipynb#Wengert-list)": "",
    "[here](#Nine-lives)": "",
    "[elsewhere](https://example.org/none)": "",
    "![a picture](images/graph.svg)": "",
    '<a href="../glossary.ipynb">all words</a>': "",
    "```\n[code](nowhere.ipynb)\n```": "",
    "[tangent](../glossary.ipynb#tangent)": "../glossary.ipynb#tangent",
    "[other](../other.ipynb)": "../other.ipynb",
    "[here](#ten)": "#ten",
    "![gone](images/gone.svg)": "images/gone.svg",
    '<img src="images/gone.svg">': "images/gone.svg",
}


@pytest.mark.parametrize("text", LINKS)
def test_broken_links_between_pages_are_told(text: str) -> None:
    page, glossary = "notebooks/9-tiny/tiny.ipynb", "notebooks/glossary.ipynb"
    notebooks = {
        page: new_notebook(cells=[new_markdown_cell(f"## Nine lives\n\n{text}")]),
        glossary: new_notebook(cells=[new_markdown_cell(GLOSSARY)]),
    }
    faults = lint.lint_links(notebooks, {page, glossary, "notebooks/9-tiny/images/graph.svg"})
    assert [bool(LINKS[text])] * len(faults) == [True] * bool(LINKS[text])
    assert all(LINKS[text] in fault.message for fault in faults)


def test_a_section_that_verdicts_send_to_must_be_there() -> None:
    assert lint.lint_rereads("n", new_notebook(cells=[new_markdown_cell('<a id="squares"></a>')]), EXERCISES) == []
    (fault,) = lint.lint_rereads("n", new_notebook(cells=[new_markdown_cell("# Other")]), EXERCISES)
    assert "9.1 sends the reader to #squares" in fault.message


def test_the_canonical_check_cell_is_what_the_good_source_has() -> None:
    (cell,) = [cell for cell in read(SOURCES / "good.py").cells if cell.is_check]
    assert cell.source == lint.canonical_check(EXERCISES["9.1"])
