"""All that may run in a student's process. Never imports the trusted half (see check.verdict_on).

Pictures, plots and quizzes are imported when they are first used, so that importing this package stays cheap.
"""

from __future__ import annotations

import importlib
from typing import Any

from autograder.student.check import check, grade
from autograder.student.quiz import quiz  # named like its module, so it cannot come late
from autograder.student.session import quiet, start

_LATER = {
    "broken_engine": "broken",
    "load_corpus": "corpus",
    "plot_style": "plots",
    "show_backward": "backward",
    "show_data_graph": "data_graph",
    "show_forward": "forward",
    "show_graph": "pictures",
    "show_progress": "progress",
    "when_ready": "ready",
}

__all__ = ["check", "grade", "quiet", "quiz", "start"]
__all__ += list(_LATER)


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(f"{__name__}.{_LATER[name]}"), name)
    globals()[name] = found
    return found
