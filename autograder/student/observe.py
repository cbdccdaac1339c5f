"""Run a probe on cases and write down what happened, errors included, in the student's own terms."""

from __future__ import annotations

import gc
import linecache
import os
import sys
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Any

from autograder import evidence
from autograder.student.probes import Probe

_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_LIBRARIES = (sys.prefix, sys.base_prefix, os.path.dirname(os.__file__))


def students_line(traceback: TracebackType | None) -> tuple[str, str]:
    """(source line, function name) of the innermost frame that is the student's own; empty when there is none."""
    line, name = "", ""
    while traceback is not None:
        code = traceback.tb_frame.f_code
        path = code.co_filename
        # Looked up by file name alone: a traceback that runs through the student's objects must not call them.
        if not path.startswith((_OURS, *_LIBRARIES, "<frozen")):
            text = linecache.getline(path, traceback.tb_lineno).strip()
            if text:
                line, name = text, code.co_name
        traceback = traceback.tb_next
    return line, name


def describe(error: BaseException) -> dict[str, Any]:
    """An exception as the `error` of an observation."""
    line, name = students_line(error.__traceback__)
    kind = evidence.EXCEPTION
    # A subclass is somebody else's: IPython's input() raises one where there is nobody to ask.
    if type(error) is NotImplementedError or isinstance(error, evidence.Unanswered):
        kind = evidence.UNANSWERED
    elif isinstance(error, evidence.Missing):
        kind = evidence.MISSING
    elif isinstance(error, evidence.NotANumber):
        kind = evidence.WRONG_TYPE
    try:
        message = str(error)[:500]
    except Exception:
        message = ""
    return {"kind": kind, "type": type(error).__name__[:80], "message": message, "line": line[:300], "name": name[:80]}


def observe(probe: Probe, cases: Iterable[dict[str, Any]], objects: Sequence[Any]) -> list[dict[str, Any]]:
    """One observation per case. Garbage collection is off meanwhile: large graphs of closures would dominate."""
    collecting = gc.isenabled()
    gc.disable()
    observations: list[dict[str, Any]] = []
    try:
        for case in cases:
            try:
                observations.append({"value": probe(case, *objects)})
            except (KeyboardInterrupt, GeneratorExit):
                raise
            except BaseException as error:  # SystemExit and friends: a wrong answer like any other
                observations.append({"error": describe(error)})
    finally:
        if collecting:
            gc.enable()
    return observations
