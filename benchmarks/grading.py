"""Submissions a second: stock nbgrader beside `autograder autograde`, on the same submissions in one run.

    python benchmarks/grading.py [--submissions 100] [--workers 2]

Stock means: our lesson, nbgrader's own preprocessors, no sandbox. Its check cells do nothing (there is nobody to hand
them cases), so what is timed there is the kernel, the lesson's own cells and the recording; judging comes on top in
our arm alone. Plots and pictures are off in both. Both arms start from nothing and end with all marks in a gradebook.
The last line is the ratio of submissions a second, ours over stock.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path

from autograder.authoring.source import read
from autograder.grading.course import course_root
from autograder.grading.demo import LESSON, answers, class_of_ten, make_class, make_course
from autograder.lessons import find

STOCK = """
c = get_config()
c.CourseDirectory.course_id = "backward-pass"
c.CourseDirectory.root = {root!r}
"""
MOSTLY_RIGHT = ("ada", "blaise", "chen", "ada", "blaise", "chen", "fatima", "grace", "hiro", "emil")


def submissions(folder: Path, root: Path, count: int) -> None:
    """A class of `count`: 60% right in three styles, the rest misconceptions, one in ten empty."""
    lesson = find(LESSON)
    source = read(root / "source" / lesson.name / f"{lesson.notebook}.py")
    ten = class_of_ten(answers(source))
    names = islice(cycle(MOSTLY_RIGHT), count)
    shutil.rmtree(folder / "submitted")
    make_class(folder, folder, {f"s{number:04}": ten[name] for number, name in enumerate(names)})


def run(folder: Path, *command: str) -> float:
    """Seconds that a command takes; it must succeed."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    begun = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return time.perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--submissions", type=int, default=100)
    parser.add_argument("--stock", type=int, help="submissions in the stock arm, if fewer are to stand for all")
    parser.add_argument("--workers", type=int, nargs="+", default=[2])
    options = parser.parse_args()
    few = options.stock or options.submissions
    root = course_root()
    with tempfile.TemporaryDirectory(prefix="autograder-benchmark-") as scratch:
        stock, ours = Path(scratch, "stock"), Path(scratch, "ours")
        make_course(ours, root)
        submissions(ours, root, options.submissions)
        shutil.copytree(ours, stock)
        for extra in sorted((stock / "submitted").iterdir())[few:]:
            shutil.rmtree(extra)
        (stock / "nbgrader_config.py").write_text(STOCK.format(root=str(stock)))
        print(f"{'arm':<28}{'submissions':>12}{'seconds':>10}{'a second':>10}")
        seconds = run(stock, "nbgrader", "autograde", LESSON)
        stock_rate = few / seconds
        print(f"{'stock nbgrader, no sandbox':<28}{few:>12}{seconds:>10.1f}{stock_rate:>10.2f}", flush=True)
        rate = 0.0
        for workers in options.workers:
            for leftover in ("gradebook.db", "autograded"):
                path = ours / leftover
                shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
            seconds = run(ours, "autograder", "autograde", LESSON, "--workers", str(workers))
            rate = options.submissions / seconds
            label = f"ours, in boxes, {workers} workers"
            print(f"{label:<28}{options.submissions:>12}{seconds:>10.1f}{rate:>10.2f}", flush=True)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"largest process: {peak:.0f} MiB")
    print(f"ratio: {rate / stock_rate:.1f}")


if __name__ == "__main__":
    main()
