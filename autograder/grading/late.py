"""A late penalty for nbgrader: a share of the points for each day begun.

In nbgrader_config.py:

    from autograder.grading.late import PerDay
    c.AssignLatePenalties.plugin_class = PerDay
    c.PerDay.share = 0.1
"""

from __future__ import annotations

import math

from nbgrader.plugins import LateSubmissionPlugin
from traitlets import Float


class PerDay(LateSubmissionPlugin):
    """Takes `share` of the score for each day begun after the deadline, extensions and `grace_hours` allowed for."""

    share = Float(0.1, help="Share of the score that a day costs.").tag(config=True)
    grace_hours = Float(0.0, help="Hours after the deadline that cost nothing.").tag(config=True)

    def late_submission_penalty(self, student_id: str, score: float, total_seconds_late: float) -> float:
        """Points to take off; nbgrader never takes off more than there are."""
        days = math.ceil(max(total_seconds_late / 3600 - self.grace_hours, 0.0) / 24)
        return min(self.share * days, 1.0) * float(score)
