"""Progress: what is kept, where, and that nothing about it can stop a check."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from autograder.lessons import LESSONS, lesson_of
from autograder.student import progress, show_progress
from autograder.student.check import outline
from autograder.student.progress import Done, map_html, map_text, record, statuses
from autograder.verdict import FAILED, PARTIAL, PASSED, Verdict


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A notebooks folder with its start page; the notebook that runs is in a lesson's folder below."""
    (tmp_path / "start.ipynb").write_text("{}")
    (tmp_path / "3-reverse-mode").mkdir()
    monkeypatch.chdir(tmp_path / "3-reverse-mode")
    return tmp_path


def verdict(exercise: str, status: str) -> Verdict:
    return Verdict(exercise, "Title", status, 1, 1)


def test_status_is_kept_beside_the_start_page_and_says_what_it_is(course: Path) -> None:
    record(verdict("3.1", FAILED))
    record(verdict("3.0", PASSED))
    record(verdict("3.1", PASSED))
    kept = json.loads((course / "progress.json").read_text("utf-8"))
    assert {id: entry["status"] for id, entry in kept["exercises"].items()} == {"3.0": PASSED, "3.1": PASSED}
    assert "Never sent" in kept["about"] and statuses() == {"3.0": PASSED, "3.1": PASSED}
    assert sorted(p.name for p in course.iterdir()) == ["3-reverse-mode", "progress.json", "start.ipynb"]


def test_without_a_start_page_it_is_kept_where_the_notebook_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    record(verdict("3.1", PASSED))
    assert (tmp_path / "progress.json").is_file()


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"exercises": 3}', '{"exercises": {"3.1": 1}}', '{"exercises": {"3.1": {"status": "x"}}}']
)
def test_a_damaged_file_counts_as_none_and_is_written_anew(course: Path, text: str) -> None:
    (course / "progress.json").write_text(text)
    assert statuses() == {}
    record(verdict("3.2", PASSED))
    assert statuses() == {"3.2": PASSED}


def test_deleting_the_file_starts_afresh(course: Path) -> None:
    record(verdict("3.2", PASSED))
    (course / "progress.json").unlink()
    assert statuses() == {}


def test_a_file_that_cannot_be_written_is_passed_over(course: Path) -> None:
    (course / "progress.json").mkdir()
    assert record(verdict("3.1", PASSED)) is None
    assert record(verdict("nonsense", PASSED)) is None
    assert [p.name for p in course.iterdir() if p.name.startswith(".")] == []


def test_a_check_says_how_far_the_lesson_is(course: Path) -> None:
    done = record(verdict("3.1", PASSED))
    assert done is not None and done.passed == 1
    assert [(id, title) for id, title, _ in done.exercises] == outline("3-reverse-mode")
    assert {lesson_of(id).name for id, *_ in done.exercises} == {"3-reverse-mode"}


def test_the_map_shows_every_lesson_and_every_open_exercise() -> None:
    lesson = lesson_of("3.0")
    done = Done((("3.0", "First <one>", PASSED), ("3.1", "Second", PARTIAL), ("3.2", "Third", "")))
    page, text = map_html({lesson.number: (lesson, done)}), map_text({lesson.number: (lesson, done)})
    assert page.count('class="coming"') == 4 and "1 of 3 done. Next: 3.1." in page
    assert (
        "First &lt;one&gt;" in page and 'aria-label="Partly right"' in page and 'aria-label="Not yet checked"' in page
    )
    assert f'href="{lesson.name}/{lesson.notebook}.ipynb"' in page and "<script" not in page
    assert text.splitlines()[2:6] == [
        f"3 {lesson.title}: 1 of 3 done",
        "   ✓ 3.0 First <one>",
        "   ◐ 3.1 Second",
        "   · 3.2 Third",
    ]


def test_every_lesson_has_its_stop_on_the_map() -> None:
    assert {lesson.number for lesson in LESSONS} <= set(range(1, len(progress.COURSE) + 1))


def test_show_progress_draws_and_under_the_grader_does_not(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[dict[str, str]] = []
    monkeypatch.setattr("IPython.display.display", lambda data, raw=False: shown.append(data))
    record(verdict("3.0", PASSED))
    show_progress()
    assert "✓ 3.0" in shown[0]["text/plain"] and "bp-map" in shown[0]["text/html"]
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    show_progress()
    assert len(shown) == 1
