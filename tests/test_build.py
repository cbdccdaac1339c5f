"""The build makes the same bytes every time, gives nothing away, and never loses what somebody wrote in a notebook."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_output

from autograder.authoring.build import build, compose
from autograder.authoring.source import enclosing_def, read
from autograder.authoring.stubs import stubbed
from autograder.lessons import LESSONS
from tests.tiny_course import LESSON, ROOT

RELEASE = f"release/{LESSON.name}/tiny.ipynb"
NOTEBOOK = f"notebooks/{LESSON.name}/tiny.ipynb"
INSTRUCTOR = f"source/{LESSON.name}/tiny.ipynb"


def contents(root: Path) -> dict[str, bytes]:
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}


def cells(path: Path) -> dict[str, nbformat.NotebookNode]:
    return {cell.id: cell for cell in nbformat.read(path, as_version=4).cells}


@pytest.fixture
def built(course: Path) -> Path:
    assert build([LESSON.name], course) == 0
    return course


# ------------------------------------------------------------------------------------------------- what is made


def test_a_build_makes_three_editions_and_nothing_else(built: Path) -> None:
    made = set(contents(built)) - {"nbgrader_config.py", f"source/{LESSON.name}/tiny.py"}
    assert made == {INSTRUCTOR, RELEASE, NOTEBOOK}


def test_builds_are_the_same_bytes_every_time(built: Path) -> None:
    first = contents(built)
    for folder in ("release", "notebooks"):
        shutil.rmtree(built / folder)
    (built / INSTRUCTOR).unlink()
    assert build([LESSON.name], built) == 0
    assert contents(built) == first


def test_the_committed_notebooks_are_what_their_sources_give() -> None:
    assert build([lesson.name for lesson in LESSONS], root=ROOT, check=True) == 0


def test_stock_nbgrader_makes_the_same_release_from_the_instructors_notebook(built: Path) -> None:
    expected = (built / RELEASE).read_bytes()
    shutil.rmtree(built / "release")
    run = subprocess.run(
        [sys.executable, "-m", "nbgrader", "generate_assignment", LESSON.name],
        cwd=built,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert (built / RELEASE).read_bytes() == expected
    assert [p.name for p in (built / "release" / LESSON.name).iterdir()] == ["tiny.ipynb"]


def test_stubs_name_exercise_and_function(built: Path) -> None:
    for path in (RELEASE, NOTEBOOK):
        assert cells(built / path)["9-1-solution"].source.split("\n") == [
            "def square(x):",
            '    """The square of x."""',
            "    # YOUR CODE HERE",
            '    raise NotImplementedError("9.1 square")',
        ]


def test_learners_get_no_solution_no_hidden_test_and_no_mark_scheme(built: Path) -> None:
    release, notebook = (built / RELEASE).read_text(), (built / NOTEBOOK).read_text()
    for text in (release, notebook):
        assert "Model answer" not in text
        assert "grade(" not in text
        assert "22 :: That puts" not in text
    assert "x * x" not in release
    assert notebook.count("x * x") == 1  # in the solution drawer


def test_the_solution_drawer_of_the_self_study_edition_holds_the_code_that_answers_the_exercise(built: Path) -> None:
    (drawer,) = [c for c in cells(built / NOTEBOOK).values() if "solution-drawer" in c.metadata.get("tags", [])]
    assert drawer.source.startswith("<details>\n<summary>")
    code = drawer.source.split("```python\n")[1].split("\n```")[0]
    scope: dict[str, object] = {}
    exec(code, scope)
    assert scope["square"](7) == 49  # type: ignore[operator]


def test_each_edition_says_which_it_is(built: Path) -> None:
    assert 'start("9-tiny", edition="classroom")' in cells(built / RELEASE)["tiny-001"].source
    assert 'start("9-tiny", edition="self-study")' in cells(built / NOTEBOOK)["tiny-001"].source
    assert "Hand this in" in (built / RELEASE).read_text()
    assert "Hand this in" not in (built / NOTEBOOK).read_text()


def test_cell_ids_are_the_same_in_all_editions(built: Path) -> None:
    ids = {path: set(cells(built / path)) for path in (INSTRUCTOR, RELEASE, NOTEBOOK)}
    assert ids[INSTRUCTOR] == ids[RELEASE]
    assert {"9-1", "9-1-solution", "9-written"} <= ids[NOTEBOOK] & ids[RELEASE]


def test_the_self_study_edition_has_no_grading_metadata(built: Path) -> None:
    assert not any("nbgrader" in cell.metadata for cell in cells(built / NOTEBOOK).values())
    assert cells(built / RELEASE)["9-1"].metadata.nbgrader.points == 2


def test_quizzes_are_packed_and_folded_and_unpack_to_what_was_written(built: Path) -> None:
    from autograder.student.quiz import decode, parse

    (quiz,) = [c for c in cells(built / RELEASE).values() if "quiz" in c.metadata.get("tags", [])]
    assert quiz.metadata.jupyter.source_hidden
    packed = quiz.source.split('"""')[1]
    assert packed != decode(packed)
    (question,) = parse(decode(packed))
    assert "2^2" in question.text


def test_the_instructors_notebook_can_be_read_in_the_clear(built: Path) -> None:
    text = (built / INSTRUCTOR).read_text()
    for words in ("22 :: That puts", "BEGIN SOLUTION", "BEGIN HIDDEN TESTS", "Model answer"):
        assert words in text


def test_pictures_beside_a_source_go_along_into_both_editions(course: Path) -> None:
    (course / "source" / LESSON.name / "images").mkdir()
    (course / "source" / LESSON.name / "images" / "graph.svg").write_text("<svg/>")
    assert build([LESSON.name], course) == 0
    for folder in ("release", "notebooks"):
        assert (course / folder / LESSON.name / "images" / "graph.svg").read_text() == "<svg/>"


def test_links_to_the_glossary_are_plain_words_in_the_classroom_edition(course: Path) -> None:
    source = course / "source" / LESSON.name / "tiny.py"
    source.write_text(source.read_text() + "\n# %% [markdown]\n# A [square](../glossary.ipynb#square) is a product.\n")
    (course / "source" / "glossary.py").write_text('# %% [markdown]\n# <a id="square"></a> **Square.** A product.\n')
    assert build([LESSON.name], course) == 0
    assert "A square is a product." in (course / RELEASE).read_text()
    assert "A [square](../glossary.ipynb#square) is" in (course / NOTEBOOK).read_text()


# ------------------------------------------------------------------------------------------------- stubs


def test_the_stub_is_named_for_the_innermost_function_and_the_class_of_a_method() -> None:
    code = "def outer():\n    def inner():\n        return 1\n    return inner\n\nclass A:\n    def f(self):\n        return 2\n"
    names = [enclosing_def(code, line) for line in range(9)]
    assert names == ["outer", "inner", "inner", "outer", "", "", "A.f", "A.f", ""]


def test_each_region_of_a_cell_gets_its_own_stub() -> None:
    code = (
        "def f(x):\n    ### BEGIN SOLUTION\n    return x\n    ### END SOLUTION\n\n\n"
        "def g(x):\n    if x:\n        ### BEGIN SOLUTION\n        return 1\n        ### END SOLUTION\n    return 0"
    )
    stub, replaced = stubbed(code, {"nbgrader": {"grade_id": "9_2-solution-2"}})
    assert replaced
    assert stub == (
        'def f(x):\n    # YOUR CODE HERE\n    raise NotImplementedError("9.2 f")\n\n\n'
        'def g(x):\n    if x:\n        # YOUR CODE HERE\n        raise NotImplementedError("9.2 g")\n    return 0'
    )


def test_every_stub_of_the_course_is_its_solution_with_lines_left_out() -> None:
    """No stub holds a line that its solution has not, the stub's own two lines aside."""
    for lesson in LESSONS:
        for cell in read(ROOT / "source" / lesson.name / f"{lesson.notebook}.py").cells:
            if not cell.is_solution:
                continue
            kept = [line for line in stubbed(cell.source, cell.metadata)[0].split("\n") if "YOUR CODE HERE" not in line]
            kept = [line for line in kept if "raise NotImplementedError" not in line]
            rest = iter(cell.source.split("\n"))
            assert all(line in rest for line in kept), cell.grade_id
            compile(stubbed(cell.source, cell.metadata)[0], cell.grade_id, "exec")


# ------------------------------------------------------------------------------------------------- faults and --check


def test_a_fault_stops_the_build_and_nothing_is_written(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = course / "source" / LESSON.name / "tiny.py"
    source.write_text(source.read_text().replace('"points": 2', '"points": 3'))
    assert build([LESSON.name], course) == 1
    assert f"source/{LESSON.name}/tiny.py:31: 9.1 has 3 points here" in capsys.readouterr().out
    assert not (course / "release").exists()
    assert not (course / "notebooks").exists()


def test_a_missing_source_is_a_fault(course: Path) -> None:
    (course / "source" / LESSON.name / "tiny.py").unlink()
    (fault,) = compose([LESSON.name], course).faults
    assert "missing" in fault.message


def test_a_solution_in_a_hint_is_a_fault(course: Path) -> None:
    source = course / "source" / LESSON.name / "tiny.py"
    leak = "# product = x * x\n# return product"
    source.write_text(source.read_text().replace("Multiply, do not add.</details>", f"So:\n#\n{leak}\n#\n# </details>"))
    faults = compose([LESSON.name], course).faults
    assert any("holds the solution of 9.1" in fault.message for fault in faults)


def test_check_says_what_differs_is_missing_or_is_too_much(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert build([LESSON.name], built, check=True) == 0
    (built / RELEASE).write_text((built / RELEASE).read_text().replace("# Nine", "# Ten"))
    (built / NOTEBOOK).unlink()
    (built / "release" / LESSON.name / "tiny.py").write_text("answer = 42\n")
    before = contents(built)
    capsys.readouterr()
    assert build([LESSON.name], built, check=True) == 1
    said = capsys.readouterr().out
    assert f"{RELEASE} is not what its source gives" in said
    assert f"{NOTEBOOK} is missing" in said
    assert f"release/{LESSON.name}/tiny.py is not built from anything in source/" in said
    assert contents(built) == before


# ------------------------------------------------------------------------------------------------- somebody's work


def answer(path: Path) -> bytes:
    """Write an answer into a notebook and run a cell, as a learner does; return the file."""
    notebook = nbformat.read(path, as_version=4)
    cell = next(cell for cell in notebook.cells if cell.id == "9-1-solution")
    cell.source = "def square(x):\n    return x**2"
    notebook.cells[1].outputs = [new_output("stream", name="stdout", text="welcome\n")]
    nbformat.write(notebook, path)
    return path.read_bytes()


def change_source(course: Path) -> None:
    source = course / "source" / LESSON.name / "tiny.py"
    source.write_text(source.read_text().replace("# # Nine", "# # Nine, again"))


def test_a_notebook_with_work_in_it_is_kept_beside_the_new_one(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    work = answer(built / NOTEBOOK)
    change_source(built)
    assert build([LESSON.name], built) == 0
    kept = built / "notebooks" / LESSON.name / "tiny (yours).ipynb"
    assert kept.read_bytes() == work
    assert "tiny (yours).ipynb" in capsys.readouterr().out
    assert "Nine, again" in (built / NOTEBOOK).read_text()
    assert build([LESSON.name], built, check=True) == 0

    second = answer(built / NOTEBOOK)
    (built / "source" / LESSON.name / "tiny.py").write_text(
        (built / "source" / LESSON.name / "tiny.py").read_text().replace("again", "once more")
    )
    assert build([LESSON.name], built) == 0
    assert kept.read_bytes() == work
    assert (built / "notebooks" / LESSON.name / "tiny (yours 2).ipynb").read_bytes() == second


def test_work_stays_where_it_is_when_there_is_nothing_newer(built: Path) -> None:
    work = answer(built / NOTEBOOK)
    assert build([LESSON.name], built) == 0
    assert (built / NOTEBOOK).read_bytes() == work
    assert not list(built.rglob("*(yours*"))


def test_a_notebook_that_no_build_made_counts_as_work(built: Path) -> None:
    (built / NOTEBOOK).write_text("not even a notebook")
    assert build([LESSON.name], built) == 0
    assert (built / "notebooks" / LESSON.name / "tiny (yours).ipynb").read_text() == "not even a notebook"


def test_opening_and_saving_a_notebook_is_no_work(built: Path) -> None:
    notebook = nbformat.read(built / NOTEBOOK, as_version=4)
    notebook.metadata.language_info["version"] = "3.12.1"
    notebook.cells[1].execution_count = 4
    nbformat.write(notebook, built / NOTEBOOK)
    change_source(built)
    assert build([LESSON.name], built) == 0
    assert not list(built.rglob("*(yours*"))


@pytest.mark.parametrize("path", [RELEASE, INSTRUCTOR])
def test_work_where_nbgrader_reads_stops_the_build(built: Path, path: str, capsys: pytest.CaptureFixture[str]) -> None:
    work = answer(built / path)
    change_source(built)
    before = contents(built)
    assert build([LESSON.name], built) == 1
    assert path in (said := capsys.readouterr().out)
    assert "--force" in said
    assert contents(built) == before
    assert build([LESSON.name], built, force=True) == 0
    assert (built / path).read_bytes() != work
