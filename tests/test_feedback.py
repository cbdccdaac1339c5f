"""Feedback of every lesson: for students with ids of every kind, graders' comments in full, nothing that is not for them."""

from __future__ import annotations

import csv
import html
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest
from nbconvert import HTMLExporter
from nbgrader.apps import NbGraderAPI

from autograder.authoring import editions
from autograder.authoring.source import MARK_SCHEME, SOLUTION, read, regions
from autograder.evidence import EVIDENCE_MIME, VERDICT_MIME
from autograder.exercises import exercises_of
from autograder.grading.batch import autograde
from autograder.grading.course import load_config, release_path
from autograder.grading.demo import open_gradebook
from autograder.grading.feedback import mathml, ready_comments
from autograder.grading.marking import ACTIVE
from autograder.lessons import LESSONS, Lesson, grade_id, tag_of
from tests.faults import all_faults

pytestmark = pytest.mark.bubblewrap
ROOT = Path(__file__).resolve().parents[1]
ODD = [fault.student for fault in all_faults().values() if fault.student and not fault.failed]
# What the docs show of the log, whoever the student and the lesson are.
SHOWN = [
    re.sub(r"sking|#\S+|/3\S+|\b\d\S*|…", ".*", line)
    for line in re.findall(
        r"^\[GenerateFeedbackApp \| \w+\] (.+)$", (ROOT / "docs/instructors.md").read_text("utf-8"), re.M
    )
]
WAITING = ODD[1]  # whose answer to the first lesson's written question nobody has read
COMMENTED = ODD[0]  # this one gets every comment that is ready to use, and a code that there is not
STUDENTS = {lesson.name: ODD if lesson is LESSONS[0] else ODD[:1] for lesson in LESSONS}


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Unfilled notebooks of every lesson, graded, with comments as typed in the formgrader, and their feedback."""
    folder: Path = tmp_path_factory.mktemp("feedback") / "course"
    for name in ("source", "release"):
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy(ROOT / "nbgrader_config.py", folder)
    for lesson in LESSONS:
        for student in STUDENTS[lesson.name]:
            where = folder / "submitted" / student / lesson.name
            where.mkdir(parents=True)
            shutil.copy(release_path(ROOT, lesson), where)
        outcome = autograde(folder, lesson.name, workers=1)
        assert not outcome.failed and not outcome.flagged
        with open_gradebook(folder) as gradebook:
            question = grade_id(exercises_of(lesson.name).written[0].id)
            comment = gradebook.find_comment(question, lesson.notebook, lesson.name, COMMENTED)
            codes = " ".join(f"#{code}" for code in [*ready(lesson), "why", "nobody-knows"])
            comment.manual_comment = f"Thank you, {COMMENTED[:4]}: {codes}"
            if lesson is LESSONS[0]:
                gradebook.find_grade(question, lesson.notebook, lesson.name, WAITING).needs_manual_grade = True
            gradebook.db.commit()
        done = NbGraderAPI(config=load_config(folder)).generate_feedback(lesson.name)
        assert done["success"], done["log"]
        (unknown,) = [line for line in done["log"].splitlines() if "there is no comment" in line]
        assert f"{COMMENTED}, {tag_of(question)}: there is no comment #nobody-knows" in unknown
        for line in SHOWN:
            assert re.search(line, done["log"]), done["log"]
    return folder


def ready(lesson: Lesson) -> dict[str, str]:
    """Code → comment of a lesson's written question."""
    cells = read(ROOT / "source" / lesson.name / f"{lesson.notebook}.py").cells
    return ready_comments("\n".join(cell.source for cell in cells if cell.is_task))


def page_of(course: Path, student: str, lesson: Lesson) -> str:
    return (course / "feedback" / student / lesson.name / f"{lesson.notebook}.html").read_text("utf-8")


def text_of(page: str) -> str:
    """What can be read in a page or its source, in one line."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", page)).split())


def secrets_of(lesson: Lesson) -> list[str]:
    """Model answers: every line of a mark scheme, and every solution of more than one line, without its comments."""
    found = []
    for cell in read(ROOT / "source" / lesson.name / f"{lesson.notebook}.py").cells:
        lines = cell.source.split("\n")
        for region in regions(cell.source):
            own = [line.split("  #")[0].strip() for line in lines[region.begin + 1 : region.end]]
            own = [line for line in own if line and not line.startswith("#")]
            if region.name == MARK_SCHEME:
                found += [re.split(r"[*$`_\\]", line)[0][:60].strip("- ") for line in own]
            elif region.name == SOLUTION and len(own) > 1:
                found.append(" ".join(own))
    return [secret for secret in found if len(secret) > 20]


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_a_page_for_everybody_and_nothing_in_it_that_is_not_for_students(course: Path, lesson: Lesson) -> None:
    secrets = secrets_of(lesson)
    assert len(secrets) > 8
    for student in STUDENTS[lesson.name]:
        page = page_of(course, student, lesson)
        text = text_of(page)
        assert [secret for secret in secrets if secret in text] == []
        for word in (
            "HIDDEN TESTS",
            "MARK SCHEME",
            EVIDENCE_MIME,
            VERDICT_MIME,
            "import grade",
            str(course),
            str(ROOT),
        ):
            assert word not in page
        assert "has not been filled in yet" in text


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_a_page_is_light_and_needs_no_network_and_no_script(course: Path, lesson: Lesson) -> None:
    """With its formulas set, its questions in it, and a row of points for each exercise."""
    page = page_of(course, COMMENTED, lesson)
    assert len(page.encode()) < 250_000
    assert not re.search(r"<script|<link|@import|src=.https?:", page)
    assert page.count("<math") > 50 and not re.search(r"\$[^$<]*\\[a-z]", page)
    asked = next(c for c in read(ROOT / "source" / lesson.name / f"{lesson.notebook}.py").cells if c.is_task)
    assert re.split(r"[*$`\n]", asked.source.strip("#* \n"))[0] in text_of(page)
    wanted = exercises_of(lesson.name)
    for exercise in wanted.exercises:
        assert f'href="#{grade_id(exercise.id)}">{exercise.id} ' in page
    assert wanted.written[0].title in page


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_a_code_in_a_comment_becomes_its_text_and_no_text_is_anywhere_else(course: Path, lesson: Lesson) -> None:
    texts = [text_of(comment.replace("*", "")) for comment in ready(lesson).values()]
    page = text_of(page_of(course, COMMENTED, lesson))
    assert len(texts) >= 5 and [text for text in texts if text not in page] == []
    assert "Why it is so is still missing." in page and "#nobody-knows" in page
    assert not re.search("|".join(f"#{code}\\b" for code in ready(lesson)), page)
    others = [page_of(course, student, lesson) for student in STUDENTS[lesson.name] if student != COMMENTED]
    others += [path.read_text("utf-8") for path in ROOT.glob(f"[nr]*/{lesson.name}/*.ipynb")]
    assert len(others) >= 2
    for other in others:
        assert [comment for comment in ready(lesson).values() if comment[:40] in other] == []


def test_an_answer_that_nobody_has_read_is_not_called_a_zero(course: Path) -> None:
    assert page_of(course, WAITING, LESSONS[0]).count("not read yet") == 2  # in the table, above the answer
    assert "not read yet" not in page_of(course, COMMENTED, LESSONS[0])


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_a_comment_names_a_section_to_reread(lesson: Lesson) -> None:
    text = (ROOT / "source" / lesson.name / f"{lesson.notebook}.py").read_text("utf-8")
    headings = re.findall(r"^# #{2,3} (.+)$", text, re.MULTILINE)
    for code, comment in ready(lesson).items():
        (section,) = re.findall(r"Reread \*(.+?)\*\.$", comment)
        assert section in headings, code


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_model_answers_would_be_found_in_a_page_that_held_them(lesson: Lesson) -> None:
    source = read(ROOT / "source" / lesson.name / f"{lesson.notebook}.py")
    page, _ = HTMLExporter().from_notebook_node(nbformat.from_dict(editions.instructor(source, lesson.name)))
    secrets, text = secrets_of(lesson), text_of(page)
    assert sum(secret in text for secret in secrets) > 0.7 * len(secrets)  # comments stand between some lines


def test_nobodys_id_is_a_formula_in_an_export(course: Path) -> None:
    command = [sys.executable, "-m", "nbgrader", "export", "--exporter=autograder.grading.export.PlainExport"]
    subprocess.run(command, cwd=course, check=True, capture_output=True)
    with open(course / "marks.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert len(rows) == 1 + len(ODD) * len(LESSONS) and any("cmd" in cell for row in rows for cell in row)
    assert not [cell for row in rows for cell in row if cell.startswith(("=", "+", "-", "@"))]


class _Parts(HTMLParser):
    """Names of the tags and attributes of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


HOSTILE = (
    r"\unicode{;<meta/http-equiv=refresh/content=0>}",
    r"\colorbox{red}{<img/src=x/onerror=alert(1)>}",
    r"\fcolorbox{red}{<a/href=x>}{<form/action=x>}",
    r"\text{<img src=x>} \hbox{<b>} \tag{<b>} \verb|<b>|",
    r"\operatorname{<b>} \mathrm{<b>} \left<b>a \right>",
    r"\begin{array}{<b>} <b> & </math> \end{array} <!-- ",
    r"\text{&lt;b&gt;} \text{&#60;b&#62;} \unicode{3c;b&gt}",
    r"\color{red\" onclick=\"alert(1)}x",
    r"\href{javascript:alert(1)}{x}",
    r"\style{position:fixed}{x} \class{answer}{x}",
    r"\def\h{\href}\h{javascript:alert(1)}{x}",
    r"\DeclareMathOperator{\a}{<img/src=x>}\a",
)
ENDLESS = (
    r"\newcommand{\a}[1]{\frac{#1}{#1}}" + r"\a{" * 60 + "x" + "}" * 60,
    r"\sideset{_1}{_2}" * 60 + "x",
    r"\def\a{\a\a}\a",
    r"\frac{" * 250 + "x",
)


@pytest.mark.parametrize("latex", [*HOSTILE, *ENDLESS])
def test_a_students_formula_is_a_formula_or_stays_as_it_was_typed(latex: str) -> None:
    """Nothing else comes into the page with it, also where the tag was not taken apart before; and it is made at once."""
    for text in (latex, ACTIVE.sub(r"\g<0> ", latex)):
        for display in ("inline", "block"):
            parts = _Parts(mathml(text, display) or "")
            assert all(re.fullmatch("math|m[a-z]+", tag) for tag in parts.tags) and "meta" not in parts.tags
            assert not parts.attributes & {"href", "style", "class", "id", "src", "onclick", "onerror"}


def test_comparisons_in_a_formula_are_shown() -> None:
    for latex in ("a < b", "a<b", r"\text{if } x<0 \text{ or a < b}", r"\hbox{a > b}", "a & b"):
        page = mathml(latex, "inline")
        assert page is not None
        assert re.sub(r"\s|[a-z]|or", "", text_of(page)) in ("<", ">", "&", "<0<"), page
