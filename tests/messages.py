"""Golden messages: what a student reads for every (exercise, misconception) of a lesson, as files under tests/messages/.

    python -m tests.messages            # do the files say what the checks say?
    python -m tests.messages --write    # write them anew; then read what changed (git diff)

Each entry has the parts that are lost and the message with the section to reread, on the worked examples and the random
cases of one seed. Where a misconception has several forms, the first one speaks.
"""

from __future__ import annotations

import difflib
import sys
from pathlib import Path

from autograder.exercises import exercises_of
from autograder.exercises.judging import judge, predictions
from autograder.lessons import LESSONS, Lesson
from autograder.verdict import PASSED
from tests.checking import cases_of, evidence_of

FOLDER = Path(__file__).with_name("messages")
SEED = 0


def path_of(lesson: Lesson) -> Path:
    return FOLDER / f"{lesson.name}.txt"


def messages_of(lesson: Lesson) -> str:
    """All messages of a lesson, one after the other, each below the name of its exercise and misconception."""
    found: dict[str, str] = {}
    for exercise in exercises_of(lesson.name).exercises:
        cases = cases_of(exercise.id, SEED)
        known = predictions(exercise, cases)
        for misconception in exercise.misconceptions:
            heading = f"==== {exercise.id} {misconception.name}"
            if heading in found:
                continue
            observations = evidence_of(exercise.id, misconception.objects(), cases)
            verdict = judge(exercise, cases, observations, predictions=known)
            if verdict.status == PASSED:  # another exercise's affair
                continue
            lost = ", ".join(part.title for part in verdict.parts if not part.passed)
            reread = f"\nReread: {verdict.reread[0]}" if verdict.reread else ""
            lines = f"{verdict.status}, lost: {lost or 'nothing'}\n{verdict.message}{reread}".splitlines()
            found[heading] = "\n".join(line.rstrip() for line in lines)
    return "".join(f"{heading}\n{text}\n\n" for heading, text in found.items())


def difference(lesson: Lesson) -> str:
    """What the file says otherwise than the checks; "" if nothing."""
    path = path_of(lesson)
    held = path.read_text(encoding="utf-8") if path.is_file() else ""
    lines = difflib.unified_diff(
        held.splitlines(), messages_of(lesson).splitlines(), path.name, "the checks", lineterm=""
    )
    return "\n".join(lines)


def main() -> int:
    apart = ""
    for lesson in LESSONS:
        if "--write" in sys.argv:
            FOLDER.mkdir(exist_ok=True)
            path_of(lesson).write_text(messages_of(lesson), encoding="utf-8")
        else:
            apart += difference(lesson)
    print(apart or "The messages are as they are written down.")
    return 1 if apart else 0


if __name__ == "__main__":
    sys.exit(main())
