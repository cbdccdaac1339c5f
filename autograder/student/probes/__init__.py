"""Probes: how a check looks at a student's objects. One module a lesson, with a table PROBES.

A probe is called as `probe(case, *objects)` for one case and returns plain JSON values that the student's code
computed. It decides nothing: what is right is known elsewhere.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from autograder.lessons import lesson_of

Probe = Callable[..., Any]


def probe_for(exercise: str) -> Probe:
    """The probe of `exercise`; KeyError if there is none."""
    module = importlib.import_module(f"autograder.student.probes.{lesson_of(exercise).module}")
    probes: dict[str, Probe] = module.PROBES
    return probes[exercise]
