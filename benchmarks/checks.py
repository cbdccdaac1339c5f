"""How long a learner waits for a check: every exercise of a lesson, with right and with wrong answers.

Measured is the processor time of what `check` does in a self-study notebook once PyTorch is loaded: cases, probe, judge, and for wrong
answers the search for the misconception behind them. Right answers are the solutions in the lesson's source; wrong
ones are the listed misconceptions of each exercise.

    python benchmarks/checks.py

Prints a table by exercise; the last line is `p95: X s`, over all checks.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import random
import statistics
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from autograder.authoring.source import read
from autograder.exercises import exercises_of
from autograder.exercises.judging import judge
from autograder.exercises.model import Exercise
from autograder.lessons import find
from autograder.student.observe import observe
from autograder.student.probes import probe_for

ROOT = Path(__file__).resolve().parents[1]


def solutions(lesson: str) -> dict[str, Any]:
    """The names that a lesson's given cells and solutions define."""
    found = find(lesson)
    namespace: dict[str, Any] = {"__name__": found.notebook}
    os.environ["NBGRADER_EXECUTION"] = "autograde"  # no pictures, plots or quizzes meanwhile
    for cell in read(ROOT / "source" / found.name / f"{found.notebook}.py").cells:
        if cell.kind == "code" and not cell.is_check and "quiz" not in cell.tags:
            # Experiments need pictures and plots; definitions do not.
            try:
                with contextlib.redirect_stdout(io.StringIO()):
                    exec(compile(cell.source, cell.id, "exec"), namespace)
            except Exception:
                if cell.is_solution:
                    raise
    del os.environ["NBGRADER_EXECUTION"]
    return namespace


def answers(exercise: Exercise, namespace: dict[str, Any], wrong: int) -> Iterator[tuple[str, Sequence[Any]]]:
    """("right", objects), then up to `wrong` different misconceptions."""
    yield "right", [namespace[name] for name in exercise.names]
    by_name = {m.name: m for m in exercise.misconceptions}
    step = max(1, len(by_name) // wrong)
    for misconception in list(by_name.values())[::step][:wrong]:
        yield "wrong", misconception.objects()


def seconds(exercise: Exercise, objects: Sequence[Any]) -> float:
    """One self-study check, in seconds of processor time."""
    start = time.process_time()
    cases = [*exercise.worked(), *exercise.cases(random.Random())]
    judge(exercise, cases, observe(probe_for(exercise.id), cases, objects))
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lesson", nargs="?", default="3-reverse-mode")
    parser.add_argument("--rounds", type=int, default=5, help="checks of each answer")
    parser.add_argument("--wrong", type=int, default=8, help="wrong answers for each exercise")
    args = parser.parse_args()
    torch.ones(1, requires_grad=True).sum().backward()
    namespace = solutions(args.lesson)
    everything: list[float] = []
    print(f"{'exercise':<10}{'right':>12}{'wrong':>12}{'slowest':>12}")
    for exercise in exercises_of(args.lesson).exercises:
        times: dict[str, list[float]] = {"right": [], "wrong": []}
        for kind, objects in answers(exercise, namespace, args.wrong):
            times[kind] += [seconds(exercise, objects) for _ in range(args.rounds)]
        both = times["right"] + times["wrong"]
        everything += both
        cells = [f"{1e3 * statistics.median(ts):>9.0f} ms" if ts else f"{'':>12}" for ts in times.values()]
        print(f"{exercise.id:<10}{''.join(cells)}{1e3 * max(both):>9.0f} ms")
    print(f"{len(everything)} checks, of which {sum(t < 0.2 for t in everything)} answered within 0.2 s")
    print(f"p95: {statistics.quantiles(everything, n=20)[-1]:.3f} s")


if __name__ == "__main__":
    main()
