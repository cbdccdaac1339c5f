"""The course for nbgrader: stock `nbgrader` commands and the formgrader work in this folder."""

# ruff: noqa: F821 (traitlets gives this file its get_config)

import os
import sysconfig
from pathlib import Path

from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbgrader.preprocessors import (
    AssignLatePenalties,
    CheckCellMetadata,
    ClearHiddenTests,
    ClearMarkScheme,
    ClearOutput,
    ComputeChecksums,
    LimitOutput,
    LockCells,
    SaveCells,
)

try:
    from autograder.authoring.editions import WRITTEN_ANSWER
    from autograder.authoring.release import PackQuizzes, Seal
    from autograder.authoring.stubs import NamedStubs
    from autograder.grading.feedback import Comments, FeedbackPage
    from autograder.grading.nbgrader_steps import Execute, RepairingExporter, SaveGrades, ScrubFeedback, WriteVerdicts
except ImportError as error:
    # nbgrader would go on with its own steps: without the sandbox, and with hidden tests in the feedback.
    raise SystemExit(f"nbgrader_config.py: {error}. Use the course's environment: source .venv/bin/activate") from error

c = get_config()

# nbgrader starts `alembic` by name when it makes a gradebook: it must be found where the environment is not activated.
os.environ["PATH"] = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)])

# The course. The gradebook is gradebook.db in this folder, and the exchange is off as long as its folder does not
# exist: both are nbgrader's own defaults.
c.CourseDirectory.course_id = "backward-pass"
c.CourseDirectory.root = str(Path(__file__).resolve().parent)
# Stock nbgrader copies everything beside a source notebook to students: the .py there is the lesson with its solutions.
c.CourseDirectory.ignore = [".ipynb_checkpoints", "*.pyc", "__pycache__", "feedback", "*.py", "* (yours*).ipynb"]

# source/ → release/
c.GenerateAssignment.preprocessors = [
    LockCells,
    NamedStubs,
    ClearOutput,
    CheckCellMetadata,
    ComputeChecksums,
    SaveCells,
    ClearHiddenTests,
    ClearMarkScheme,
    ComputeChecksums,
    CheckCellMetadata,
    PackQuizzes,
    Seal,
]
c.ClearSolutions.text_stub = WRITTEN_ANSWER

# submitted/ → autograded/: students' code runs in a box, verdicts are reached outside it (docs/architecture.md).
c.Autograde.exporter_class = RepairingExporter
c.Autograde.autograde_preprocessors = [
    Execute,
    WriteVerdicts,
    LimitOutput,
    SaveGrades,
    AssignLatePenalties,
    CheckCellMetadata,
]
# What a submission may use. These are the defaults; a cell that goes over costs its own exercise alone.
c.Execute.sandbox = "bwrap"  # "none" gives up its walls: docs/security.md
c.Execute.seconds_per_cell = 10.0
c.Execute.seconds_total = 180.0  # one submission, all its cells
c.Execute.memory_bytes = 2 << 30  # one submission, beyond Python and its libraries
c.Execute.output_bytes = 200_000  # kept of one cell
# The check of a single exercise may have limits of its own, for instance one that trains a network:
# c.Execute.seconds = {"5.7": 60}
# c.Execute.memory = {"5.7": 4 << 30}
# c.Execute.output = {"5.7": 1_000_000}

# autograded/ → feedback/
c.GenerateFeedback.exporter_class = FeedbackPage
c.GenerateFeedback.preprocessors = [Comments, ScrubFeedback, CSSHTMLHeaderPreprocessor]
# Comments for every written answer: who types #why in the formgrader gets the text. Each question has its own beside its
# rubric.
c.Comments.own = {
    "well-argued": "Well argued: every step has its reason.",
    "why": "What you say is right. Why it is so is still missing.",
}
