"""A lesson's cells run in order without a kernel, and what tests of its numbers share."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch

from autograder.authoring.source import HIDDEN_TESTS, SOLUTION, Source, read
from autograder.authoring.stubs import stubbed
from autograder.lessons import Lesson, find

ROOT = Path(__file__).resolve().parents[1]


def source_of(lesson: Lesson | str) -> Source:
    """The source of a lesson, by itself or by name."""
    found = find(lesson) if isinstance(lesson, str) else lesson
    return read(ROOT / "source" / found.name / f"{found.notebook}.py")


class Run:
    """The lesson's code cells run in order, as a notebook would: the namespace, and what each cell printed."""

    def __init__(self, source: Source, filled: bool) -> None:
        self.names: dict[str, Any] = {"__name__": "lesson"}
        self.printed: list[tuple[str, str]] = []
        for cell in source.cells:
            if cell.kind == "code":
                code = cell.without_regions(HIDDEN_TESTS)
                if filled:
                    code = "\n".join(line for line in code.split("\n") if SOLUTION not in line)
                else:
                    code = stubbed(code, cell.metadata)[0]
                self.run(code)

    def run(self, code: str) -> str:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, "<lesson>", "exec"), self.names)
        self.printed.append((code, out.getvalue()))
        return out.getvalue()

    def said_by(self, code: str) -> str:
        """What the one cell that contains `code` printed."""
        (said,) = [printed for text, printed in self.printed if code in text]
        return said


def filled(source: Source) -> Run:
    """The lesson with its solutions; pictures, plots and checks are silent."""
    return in_silence(source, filled=True)


def in_silence(source: Source, filled: bool) -> Run:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NBGRADER_EXECUTION", "autograde")
        return Run(source, filled)


@cache
def learners_names(lesson: str, filled: bool = True) -> dict[str, Any]:
    """The names that a learner's notebook has when it has run, with the solutions or with stubs."""
    return in_silence(source_of(lesson), filled).names


def plain(text: str) -> str:
    """Text with one kind of minus and without what only sets type."""
    for old, new in (("−", "-"), ("&nbsp;", " "), ("{,}", ","), (r"\ldots", ""), ("*", ""), ("$", "")):
        text = text.replace(old, new)
    return text


def gradient(f: Callable[..., torch.Tensor], *at: float) -> list[float]:
    leaves = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in at]
    f(*leaves).backward()  # type: ignore[no-untyped-call]
    return [0.0 if leaf.grad is None else leaf.grad.item() for leaf in leaves]


def running(a: float, b: float) -> dict[str, float]:
    """Every value, adjoint and message of the running example, from PyTorch."""
    ta, tb = (torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in (a, b))
    u = ta * tb
    v = u + ta
    w = torch.tanh(tb)
    loss = v * w
    nodes = {"a": ta, "b": tb, "u": u, "v": v, "w": w, "L": loss}
    adjoints = dict(zip(nodes, torch.autograd.grad(loss, list(nodes.values()), retain_graph=True), strict=True))
    found = {name: node.item() for name, node in nodes.items()}
    found |= {f"{name}-bar": adjoint.item() for name, adjoint in adjoints.items()}
    for child, parent in ("Lv", "Lw", "wb", "vu", "va", "ua", "ub"):
        # Parents held apart, so that a slot's own derivative is seen.
        rules = {"L": lambda v, w: v * w, "w": torch.tanh, "v": lambda u, a: u + a, "u": lambda a, b: a * b}
        slots = {"L": "vw", "w": "b", "v": "ua", "u": "ab"}[child]
        slopes = gradient(rules[child], *(found[name] for name in slots))  # type: ignore[arg-type]
        found[f"{child}→{parent}"] = found[f"{child}-bar"] * slopes[slots.index(parent)]
    return found
