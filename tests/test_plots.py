"""The plots' style: lines that everybody can tell apart, and nothing under the grader."""

from __future__ import annotations

import itertools
import subprocess
import sys

import matplotlib
import pytest

from autograder.student import plot_style
from autograder.student.plots import COLOURS, INK, PAPER, SOFT


def luminance(colour: str) -> float:
    parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (v / 12.92 if v <= 0.03928 else ((v + 0.055) / 1.055) ** 2.4 for v in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(a: str, b: str) -> float:
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(("colour", "least"), [(INK, 7), (SOFT, 4.5), *((c, 3) for c in COLOURS)])
def test_ink_and_lines_stand_out_from_the_paper(colour: str, least: float) -> None:
    assert contrast(colour, PAPER) >= least


def test_no_two_lines_differ_by_colour_alone() -> None:
    with matplotlib.rc_context():
        plot_style()
        cycle = list(matplotlib.rcParams["axes.prop_cycle"])
        assert matplotlib.rcParams["figure.facecolor"] == PAPER  # its own paper, so that any theme will do
    for a, b in itertools.combinations(cycle, 2):
        assert a["color"] != b["color"] and a["marker"] != b["marker"]


def test_under_the_grader_matplotlib_is_not_even_imported() -> None:
    script = (
        "import sys; from autograder.student import plot_style; plot_style(); assert 'matplotlib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], env={"NBGRADER_EXECUTION": "autograde"}, check=True)
