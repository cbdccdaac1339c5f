"""Results for other graders, from what `autograder grade --json` prints: Gradescope's results.json, GitHub Classroom.

    autograder grade --json NOTEBOOK | python -m autograder.grading.other_graders gradescope > results.json

Formats and set-up: docs/other-graders.md.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from typing import Any

from autograder.exercises import exercise
from autograder.verdict import MANUAL, PASSED, UNANSWERED

NOTHING = (
    "No notebook could be graded. Hand in the lesson's notebook itself, as you saved it from Jupyter, and nothing else."
)

DID_NOT_RUN = (
    "Nothing was graded, because the grader itself could not run. This says nothing about your notebook. "
    "Tell your instructor, who finds the reason in the grader's own output."
)
Reports = Sequence[dict[str, Any]] | None  # None: the grader did not run


def gradescope(reports: Reports) -> str:
    """Gradescope's results.json. Written answers are left to a rubric there; flags are hidden from the student."""
    if reports is None or len(reports) != 1:
        said = DID_NOT_RUN if reports is None else NOTHING
        return json.dumps({"score": 0, "output": said, "tests": []}, ensure_ascii=False)
    (report,) = reports
    automatic = [found for found in report["exercises"] if not _by_hand(found["id"])]
    tests: list[dict[str, Any]] = [
        {
            "number": found["id"],
            "name": exercise(found["id"]).title,
            "score": round(found["score"], 4),
            "max_score": found["max_score"],
            "status": "passed" if found["status"] == PASSED else "failed",
            "output": _says(found),
            "output_format": "text",
            "visibility": "visible",
        }
        for found in automatic
    ]
    if report["flags"]:
        tests.append(
            {
                "name": "For the instructor: what was out of the ordinary",
                "output": "\n".join(report["flags"]),
                "output_format": "text",
                "visibility": "hidden",
            }
        )
    score = round(sum(found["score"] for found in automatic), 4)
    return json.dumps({"score": score, "tests": tests, "extra_data": {"lesson": report["lesson"]}}, ensure_ascii=False)


def classroom(reports: Reports) -> str:
    """Workflow commands whose annotations GitHub Classroom reads as points, after a table for the student to read."""
    if reports is None or len(reports) != 1:
        return f"::error title=Autograding::{DID_NOT_RUN if reports is None else NOTHING}"
    (report,) = reports
    automatic = [found for found in report["exercises"] if not _by_hand(found["id"])]
    lines = [f"{found['id']}: {found['score']:g} of {found['max_score']:g}. {_says(found)}" for found in automatic]
    # A learner's numbers and names must not become workflow commands: these begin a line with two colons.
    shown = "\n".join(line for line in "\n".join(lines).splitlines() if not line.lstrip().startswith("::"))
    total, highest = sum(f["score"] for f in automatic), sum(f["max_score"] for f in automatic)
    points = {"totalPoints": round(total, 2), "maxPoints": highest}
    return (
        f"{shown}\n::notice title=Autograding complete::Points {points['totalPoints']:g}/{highest:g}\n"
        f"::notice title=Autograding report::{json.dumps(points)}"
    )


def _by_hand(id: str) -> bool:
    return not id.rpartition(".")[2].isdigit()


def _says(found: dict[str, Any]) -> str:
    if found["status"] == PASSED:
        return "Right."
    if found["status"] in (MANUAL, UNANSWERED) and not found["message"]:
        return "Not answered yet."
    marks = [f"{'✓' if part['passed'] else '✗'} {part['name']}" for part in found["parts"]]
    return "\n".join(filter(None, (found["message"], "  ".join(marks))))


WRITERS: dict[str, Callable[[Reports], str]] = {"gradescope": gradescope, "classroom": classroom}


def main(arguments: Sequence[str]) -> int:
    if len(arguments) != 1 or arguments[0] not in WRITERS:
        print(f"Say for whom: {' or '.join(WRITERS)}. The output of autograder grade --json is read.", file=sys.stderr)
        return 2
    try:
        reports = json.loads(sys.stdin.read() or "null")
    except ValueError:
        print("What was read is not the output of autograder grade --json.", file=sys.stderr)
        return 2
    print(WRITERS[arguments[0]](reports))
    return int(reports is None)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
