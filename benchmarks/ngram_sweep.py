"""Lesson 5's sweep with the lesson's own code: does it reproduce the reference table, seed after seed?

    python benchmarks/ngram_sweep.py [--seeds 0 1 2] [--contrast]

On tiny Shakespeare each validation loss should lie within 0.03 nats of the reference run's, with k = 3 best and k = 8
worse than k = 3 on training too. With --contrast the better-trained runs as well: Adam, which the lesson runs, and
30,000 steps, which it leaves to be switched on. Says what holds, and exits with 1 if something does not. The text is what
the lesson would use: set AUTOGRADER_CORPUS to a file to be sure which.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any

os.environ["NBGRADER_EXECUTION"] = "autograde"  # no pictures, no bars

from autograder.authoring.source import HIDDEN_TESTS, SOLUTION, read
from autograder.student.corpus import find_corpus

SOURCE = Path(__file__).parents[1] / "source" / "5-ngram-training" / "ngram_training.py"
WITHIN = 0.03


def lesson(text: str) -> dict[str, Any]:
    """The names that the lesson's setup, solution and given cells define, with `text` as its text."""
    names: dict[str, Any] = {"__name__": "lesson", "text": text}
    for cell in read(SOURCE).cells:
        wanted = cell.is_solution or cell.grade_id.startswith("given") or "start(" in cell.source
        if cell.kind == "code" and wanted and not cell.is_check:
            code = cell.without_regions(HIDDEN_TESTS)
            exec(compile("\n".join(x for x in code.split("\n") if SOLUTION not in x), "<lesson>", "exec"), names)
    return names


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--contrast", action="store_true")
    arguments = parser.parse_args()
    corpus = find_corpus()
    print(f"{corpus.name}: {corpus.why}")
    names = lesson(corpus.text)
    run, reference = names["run"], names["REFERENCE"]
    failed: list[str] = []
    for seed in arguments.seeds:
        began = time.perf_counter()
        runs = {k: run(k, seed=seed) for k in names["KS"]}
        print(f"\nseed {seed}: {time.perf_counter() - began:.1f} s")
        names["print_sweep"](runs)
        validation = {k: r["validation"] for k, r in runs.items()}
        holds = {
            f"seed {seed}: k = 3 is best": min(validation, key=lambda k: validation[k]) == 3,
            f"seed {seed}: k = 3 < k = 5 < k = 8": validation[3] < validation[5] < validation[8],
            f"seed {seed}: k = 8 is worse than k = 3 on training": runs[8]["train"] > runs[3]["train"],
        }
        if corpus.reference:
            far = {k: abs(v - reference[k][2]) for k, v in validation.items()}
            holds[f"seed {seed}: within {WITHIN} nats of the reference run"] = max(far.values()) <= WITHIN
        failed += [what for what, yes in holds.items() if not yes]
    if arguments.contrast:
        began = time.perf_counter()
        sgd = {k: run(k, steps=30_000) for k in (3, 5)}
        adam = {
            k: run(k, steps=20_000, trainer=names["with_adam"], lr=lambda step: 0.003 * (1 - step / 20_000))
            for k in (3, 5, 8)
        }
        print(f"\nbetter trained: {time.perf_counter() - began:.1f} s")
        for name, runs in (("SGD, 30,000 steps", sgd), ("Adam, 20,000 steps", adam)):
            print(name, {k: (round(r["train"], 4), round(r["validation"], 4)) for k, r in runs.items()})
        holds = {
            "30,000 steps: k = 5 passes k = 3": sgd[5]["validation"] < sgd[3]["validation"],
            "Adam: k = 5 passes k = 3": adam[5]["validation"] < adam[3]["validation"],
            "Adam: k = 8 passes k = 3": adam[8]["validation"] < adam[3]["validation"],
            "Adam: k = 8 is better than k = 3 on training": adam[8]["train"] < adam[3]["train"],
        }
        failed += [what for what, yes in holds.items() if not yes]
    print("\n" + ("everything holds" if not failed else "does not hold:\n  " + "\n  ".join(failed)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
