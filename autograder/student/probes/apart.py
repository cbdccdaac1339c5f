"""Run one call in a process of its own, so that its death or its endless loop costs that one case and no other."""

from __future__ import annotations

import contextlib
import faulthandler
import io
import json
import os
import select
import signal
import time
import warnings
from collections.abc import Callable
from typing import Any

from autograder import evidence

_MOST = 1_000_000  # bytes of an answer


def run_apart(function: Callable[[], Any], seconds: float) -> dict[str, Any]:
    """What `function` did, in a fork of this process.

    {"value": what it returned, as JSON}, or {"raised": names of the exception's classes, "message", "line"}, or
    {"stopped": "time"} after `seconds`, or {"stopped": "death"} when the process ended by itself. Where processes
    cannot fork, the call runs here.

    Raises:
        evidence.Unanswered: the function is a stub.
    """
    from autograder.student.observe import describe

    def told() -> dict[str, Any]:
        try:
            return {"value": function()}
        except (NotImplementedError, evidence.Unanswered) as stub:
            return {"stub": str(stub)}
        except Exception as error:
            said = describe(error)
            names = [kind.__name__ for kind in type(error).__mro__]
            return {"raised": names, "message": said["message"], "line": said["line"]}

    answer = _in_a_fork(told, seconds) if hasattr(os, "fork") else told()
    if "stub" in answer:
        raise evidence.Unanswered(answer["stub"])
    return answer


def _in_a_fork(told: Callable[[], dict[str, Any]], seconds: float) -> dict[str, Any]:
    reading, writing = os.pipe()
    try:
        with warnings.catch_warnings():
            # A notebook's kernel has threads; Python 3.12 warns. The fork runs plain Python and ends without clean-up.
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
    except OSError:
        os.close(reading)
        os.close(writing)
        return told()
    if child == 0:
        try:
            faulthandler.disable()  # what this process dies of is told in a sentence, not in pages on stderr
            os.close(reading)
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                text = json.dumps(told())
            with os.fdopen(writing, "w", encoding="utf-8", errors="replace") as pipe:
                pipe.write(text)
        finally:
            os._exit(0)
    os.close(writing)
    try:
        text, in_time = _read(reading, time.monotonic() + seconds)
    finally:
        os.close(reading)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(child, 0)
    if not in_time:
        return {"stopped": "time"}
    try:
        answer = json.loads(text)
    except ValueError:
        return {"stopped": "death"}
    return answer if isinstance(answer, dict) else {"stopped": "death"}


def _read(pipe: int, until: float) -> tuple[str, bool]:
    """What comes through `pipe` before it is closed, and whether that was in time."""
    found = b""
    while len(found) < _MOST:
        left = until - time.monotonic()
        if left <= 0 or not select.select([pipe], [], [], left)[0]:
            return "", False
        part = os.read(pipe, 65536)
        if not part:
            break
        found += part
    return found.decode("utf-8", "replace"), True
