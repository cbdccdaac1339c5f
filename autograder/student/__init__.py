"""All that may run in a student's process. Never imports the trusted half (see check.verdict_on)."""

from autograder.student.check import check, grade
from autograder.student.session import start

__all__ = ["check", "grade", "start"]
