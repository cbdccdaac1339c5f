"""What a submission's box costs: medians of building it, running cells in it and taking it down.

Run: python benchmarks/box.py [--sandbox bwrap|none] [--runs N]. Compare rows of one run with each other, not with
another machine's.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

from autograder.grading.kernel import CellJob, Kernel

CELLS = [
    CellJob("engine", "class Value:\n    def __init__(self, data): self.data, self.grad = data, 0.0"),
    CellJob("use", "v = Value(2.0); print(v.data)"),
    CellJob(
        "torch", "import torch\nx = torch.tensor(2.0, requires_grad=True); (x * x).backward(); print(x.grad.item())"
    ),
]
CHECKS = [CellJob(f"check-{i}", "0.0", "3.1", []) for i in range(10)]
KILLER = CellJob("killer", "import os; os._exit(1)")


def median(runs: int, work: Callable[[], object]) -> float:
    """Median wall time of `work` in milliseconds."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sandbox", choices=("bwrap", "none"), default="bwrap")
    parser.add_argument("--runs", type=int, default=40)
    options = parser.parse_args()
    fresh = median(3, lambda: subprocess.run([sys.executable, "-c", "import numpy, torch, IPython"], check=True))
    with Kernel(sandbox=options.sandbox) as kernel:
        warming = median(1, lambda: kernel.run([]))
        empty = median(options.runs, lambda: kernel.run([]))
        cells = median(options.runs, lambda: kernel.run(CELLS))
        checks = median(options.runs, lambda: kernel.run(CHECKS))
        killed = median(options.runs, lambda: kernel.run([*CELLS, KILLER, CHECKS[0]]))
    rows = [
        ("once: start the warmed process", warming),
        ("a box, built and taken down", empty),
        ("the same with three cells, one a torch backward", cells),
        ("a check cell in a fork of its own", (checks - empty) / len(CHECKS)),
        ("a cell that kills the process: new box, cells run again", killed - cells - (checks - empty) / len(CHECKS)),
        ("for comparison: a fresh Python that imports the same", fresh),
    ]
    for name, milliseconds in rows:
        print(f"{name:<60}{milliseconds:9.1f} ms")
    print(f"{'a fresh Python costs so many submissions':<60}{fresh / cells:9.1f}")


if __name__ == "__main__":
    main()
