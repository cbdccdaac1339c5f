"""`autograder report`: the page tells what the gradebook and the autograded notebooks hold, and nothing of who erred how."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import pytest
from typer.testing import CliRunner

from autograder.authoring.source import read
from autograder.cli import app
from autograder.grading import report as reports
from autograder.grading.batch import autograde
from autograder.grading.course import CourseError
from autograder.grading.demo import ENDLESS, answers, make_class, open_gradebook
from autograder.grading.marks import Mark, Marks
from autograder.grading.report import Paper, correlation, histogram, summarize
from autograder.lessons import find

ROOT = Path(__file__).resolve().parents[1]
LESSON = "3-reverse-mode"
HOSTILE = "<script>alert(1)</script>"


# ---- Counting, without a class ---------------------------------------------------------------------------------------


def verdict(id: str, status: str, score: float, **more: object) -> dict:
    part = {"name": "p", "title": "a part", "passed": status == "passed", "score": score, "max_score": 4, "message": ""}
    return {
        "exercise": id, "status": status, "score": score, "parts": [part], "misconceptions": [], "where": None,
        "message": "", "reread": None, "flags": [], **more,
    }  # fmt: skip


def lesson_of(*students: tuple[float, str]) -> reports.Report:
    """A report on a class in which exercise 3.1 went as `students` say (score, status), and 3.3 as it pleases."""
    marks, papers = [], {}
    for number, (score, status) in enumerate(students):
        id = f"s{number}"
        marks.append(Mark(id, handed_in=True, scores={"3.1": score, "3.3": 3.0 * (score == 4)}))
        papers[id] = Paper({"3.1": verdict("3.1", status, score), "3.3": verdict("3.3", "unanswered", 0)})
    return summarize(find(LESSON), Marks(LESSON, {"3.1": 4.0, "3.3": 3.0}, marks), papers)


def test_difficulty_is_the_mean_share_of_the_points():
    (first, _) = lesson_of((4, "passed"), (2, "partial"), (0, "failed"), (0, "unanswered")).exercises
    assert first.gained == pytest.approx(6 / 16)
    assert first.counts == {"passed": 1, "partial": 1, "failed": 1, "unanswered": 1} and first.tried == 3


def test_discrimination_is_the_point_biserial_of_full_marks_with_the_points_elsewhere():
    passed, rest = [1, 1, 0, 1, 0, 0], [9.0, 7.0, 3.0, 8.0, 5.0, 1.0]
    n, p = len(rest), 3
    ones = [r for f, r in zip(passed, rest, strict=True) if f]
    zeros = [r for f, r in zip(passed, rest, strict=True) if not f]
    mean = sum(rest) / n
    spread = (sum((r - mean) ** 2 for r in rest) / n) ** 0.5
    expected = (sum(ones) / p - sum(zeros) / (n - p)) / spread * (p * (n - p) / n**2) ** 0.5
    assert correlation(passed, rest) == pytest.approx(expected)


@pytest.mark.parametrize("a, b", [([1, 0], [1, 2]), ([1] * 6, [1, 2, 3, 4, 5, 6]), ([0, 1, 0, 1, 0], [2] * 5)])
def test_discrimination_is_not_told_where_it_cannot_be(a, b):
    assert correlation(a, b) is None


@pytest.mark.parametrize("highest", [0, 4, 7.5, 57, 100, 333])
def test_every_score_is_in_one_bar(highest):
    scores = [highest * i / 40 for i in range(41)]
    bins = histogram(scores, highest)
    assert sum(b.count for b in bins) == 41 and len(bins) <= 15
    assert bins[0].low == 0 and all(a.high == b.low for a, b in pairwise(bins))
    assert bins[-1].high == pytest.approx(highest or 1)


def test_an_example_leaves_out_comments_docstrings_and_whoever_wrote_it():
    code = 'def value_tanh(r):\n    """By Zoë."""\n    return r  # zoe was here\n\n\ndef value_exp(r):\n    return r\n'
    paper = Paper({"3.2": verdict("3.2", "partial", 1, where="tanh")}, {"3.2": code})
    assert reports._example(paper, "3.2", Mark("zoe")) == "def value_tanh(r):\n    return r"
    paper.code["3.2"] = "def value_tanh(r):\n    zoe = 1\n    return zoe"
    assert reports._example(paper, "3.2", Mark("zoe")) == ""
    paper.code["3.2"] = "def value_tanh(r:\n"
    assert reports._example(paper, "3.2", Mark("zoe")) == ""


# ---- A class, graded -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("report") / "course"
    for name in ("source", "release"):
        shutil.copytree(ROOT / name / LESSON, folder / name / LESSON)
    config = (ROOT / "nbgrader_config.py").read_text().replace("seconds_per_cell = 10.0", "seconds_per_cell = 2.0")
    (folder / "nbgrader_config.py").write_text(config)
    right = answers(read(ROOT / "source" / LESSON / "reverse_mode.py"))
    overwrites = right["3.1-solution"].replace("+=", "=") + f"  # by {HOSTILE}\n"
    make_class(
        folder, folder,
        {
            "ada": {**right, "3.written": "It keeps what the rules need."},
            "berta": {**right, "3.1-solution": overwrites, "3.written": "?"},
            "cem": {**right, "3.1-solution": overwrites},
            "dora": {**right, "3.10-solution": ENDLESS},
            "emil": {},
            "=jo": {"3.0-solution": right["3.0-solution"], "3.1-solution": overwrites},
        },
    )  # fmt: skip
    assert not autograde(folder, LESSON, workers=2).failed
    with open_gradebook(folder) as gradebook:
        gradebook.update_or_create_student("absent", first_name="Zoë", last_name=HOSTILE)
        gradebook.update_or_create_student("emil", first_name="Emil", last_name="Weiß")
    make_class(folder, folder, {"late": {}})
    return folder


@pytest.fixture(scope="module")
def found(course: Path) -> reports.Report:
    return reports.report(course, LESSON)


@pytest.mark.bubblewrap
class TestOfAClass:
    def test_all_who_handed_in_are_counted(self, found):
        assert len(found.scores) == 6 and [person.student for person in found.absent] == ["absent"]
        assert found.ungraded == 1 and found.scores[0] == 0

    def test_exercises_come_in_the_notebooks_order_with_their_counts(self, found):
        by_id = {exercise.id: exercise for exercise in found.exercises}
        assert list(by_id)[:7] == ["3.0", "3.1", "3.2", "3.3", "3.4", "3.5", "3.11"]
        assert by_id["3.1"].counts == {"passed": 2, "partial": 3, "unanswered": 1}
        assert by_id["3.10"].timeouts == 1 and by_id["3.9"].timeouts == 0

    def test_a_misconception_is_told_once_with_the_section_to_reteach_and_an_example(self, found):
        first = found.misconceptions[0]
        assert (first.name, first.count, first.exercises["3.1"]) == ("overwrites-gradient", 3, 3)
        assert first.reread and first.says
        assert first.share == pytest.approx(3 / 5)
        assert "grad = g" in first.code and "#" not in first.code

    def test_flags_come_with_their_reasons(self, found):
        (dora,) = found.flagged
        assert dora.student == "dora" and "3.10: timed out after 2 s" in dora.says

    def test_written_answers_wait_until_somebody_read_them(self, found):
        (question,) = found.written
        assert (question.waiting, question.read, question.empty) == (2, 0, 4)

    def test_who_may_need_help_is_told_with_what_the_notebook_shows(self, found):
        assert [(p.student, p.says) for p in found.help] == [
            ("emil", ["nothing was filled in"]),
            ("=jo", ["stopped after 3.1", "tried, not yet right: 3.1"]),
        ]

    def test_the_page_is_self_contained_and_nobodys_name_is_code(self, found):
        page = reports.as_html(found)
        assert "<script" not in page and HOSTILE not in page and "&lt;script&gt;" in page
        assert not re.search(r"""(src|href|url\()\s*=?["']?https?:""", page)
        before_names = page.split('<section class="names', 1)[0]
        for student in ("berta", "cem", "dora", "Emil", "=jo"):
            assert student not in before_names
        assert "Emil Weiß" in page and "=jo" in page

    def test_json_and_csv_hold_the_same(self, course, found, monkeypatch, tmp_path):
        monkeypatch.chdir(course)
        data = json.loads(CliRunner().invoke(app, ["report", LESSON, "--json"]).stdout)
        assert data["scores"] == found.scores and data["misconceptions"][0]["name"] == "overwrites-gradient"
        table = tmp_path / "out.csv"
        assert CliRunner().invoke(app, ["report", LESSON, "--csv", "-o", str(table)]).exit_code == 0
        rows = list(csv.DictReader(io.StringIO(table.read_text(encoding="utf-8"))))
        by_id = {row["student"]: row for row in rows}
        assert by_id.keys() == {"ada", "berta", "cem", "dora", "emil", "'=jo", "absent"}
        assert by_id["cem"]["misconceptions"].startswith("3.1:overwrites-gradient")
        assert by_id["absent"]["handed_in"] == "no" and by_id["absent"]["3.1"] == ""

    def test_the_command_writes_a_page(self, course, monkeypatch):
        monkeypatch.chdir(course)
        done = CliRunner().invoke(app, ["report", LESSON])
        assert done.exit_code == 0 and (course / f"report-{LESSON}.html").stat().st_size > 10_000

    @pytest.mark.chromium
    def test_the_page_fits_a_phone_and_fetches_nothing(self, course, found):
        path = course / "page.html"
        path.write_text(reports.as_html(found), encoding="utf-8")
        # In a thread of its own: where tests in a browser ran before, this thread has a running event loop.
        with ThreadPoolExecutor(1) as pool:
            asked, said, width = pool.submit(opened_on_a_phone, path.as_uri()).result()
        assert asked == [path.as_uri()] and said == []
        assert width <= 390


def opened_on_a_phone(address):
    """(addresses asked for, words on the console, width of the page) in a real browser, 390 pixels wide."""
    from playwright.sync_api import sync_playwright

    browser = next(b for b in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if b)
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=browser, args=["--no-sandbox", "--disable-gpu"])
        page = chromium.new_page(viewport={"width": 390, "height": 800})
        asked, said = [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: said.append(message.text))
        page.goto(address)
        width = page.evaluate("document.documentElement.scrollWidth")
        chromium.close()
    return asked, said, width


def test_before_anything_is_graded_it_says_what_to_do(tmp_path):
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    with pytest.raises(CourseError, match="autograder autograde 3-reverse-mode"):
        reports.report(tmp_path, LESSON)
    assert not (tmp_path / "gradebook.db").exists()
