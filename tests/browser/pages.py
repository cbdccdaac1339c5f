"""What the browser tests look at: a notebook with every piece that a reader sees, and how it is opened."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import nbformat
from playwright.sync_api import Browser, Page

ELSEWHERE = re.compile(r"https?://(?!127\.0\.0\.1[:/])")

ENGINE = """
import math

class Value:
    def __init__(self, data, parents=(), rule=None):
        self.data, self.grad, self._parents, self._backward = data, 0.0, parents, rule
    def __add__(self, other): return value_add(self, other)
    def __mul__(self, other): return value_mul(self, other)
    def tanh(self): return value_tanh(self)

def value_add(r, s):
    def rule(g):
        r.grad += g
        s.grad += g
    return Value(r.data + s.data, (r, s), rule)

def value_mul(r, s):
    def rule(g):
        r.grad += g * s.data
        s.grad += g * r.data
    return Value(r.data * s.data, (r, s), rule)

def value_tanh(r):
    t = math.tanh(r.data)
    def rule(g):
        r.grad += g * (1 - t * t)
    return Value(t, (r,), rule)

a, b = Value(1.5), Value(-0.7)
u = a * b
v = u + a
w = b.tanh()
L = v * w
"""

FORWARD = """
from typing import NamedTuple

class Node(NamedTuple):
    op: str
    parents: tuple = ()
    n: float = 1.0

graph = {"a": Node("input"), "b": Node("input"), "u": Node("*", ("a", "b")), "v": Node("+", ("u", "a")),
         "w": Node("tanh", ("b",)), "L": Node("*", ("v", "w"))}
show_forward(graph, {"a": 1.5, "b": -0.7}, {"b": 1.0}, "L")
"""

QUIZ = r'''
quiz("3.warm-up", r"""
? What is $\\bar a$ for `b = a + a` when $\\bar b = 1$?
( ) 1 :: SECRET-ONE is one message only.
(x) 2 :: SECRET-TWO messages of $\\bar b \\cdot 1$.

? Which hold?
[x] $a$ has fan-out :: It is used twice.
[x] So has $b$ :: It is used twice too.
[ ] Backpropagation is gradient descent :: It only computes the gradient.
""")
'''.replace("\\\\", "\\")

CARD = """
show(Verdict(
    "3.1", "Add and multiply", "failed", 3, 4,
    [PartVerdict("add", "Addition", True, 1, 1), PartVerdict("accumulate", "A value used twice", False, 0, 1, "a + a: 1 for 2.")],
    ["overwrites-gradient"], "mul", "You overwrote a gradient. Two messages arrive.",
    ("Adding up what arrives", "Adding-up-what-arrives"),
    {"title": "a · a at 3",
     "nodes": [{"id": "a", "label": "a", "op": "input", "value": 3.0, "yours": 3.0, "right": 6.0, "first": True},
               {"id": "c", "label": "c", "op": "*", "value": 9.0, "yours": 1.0, "right": 1.0}],
     "edges": [{"from": "a", "to": "c", "slot": 0}, {"from": "a", "to": "c", "slot": 1}]}))
"""

CELLS = (
    "from autograder.student import quiz, show_backward, show_forward, show_graph, when_ready\n"
    "from autograder.student.cards import show\nfrom autograder.verdict import PartVerdict, Verdict\n" + ENGINE,
    "show_graph(L, title='Before the backward pass')",
    "show_backward(L)",
    "show_backward(L, predict=True)",
    FORWARD,
    QUIZ,
    CARD,
    'with when_ready("3.1", "3.4"):\n    raise NotImplementedError("3.1 value_add")',
)


def notebook() -> nbformat.NotebookNode:
    """The notebook, not run yet."""
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    page = nbformat.v4.new_notebook(metadata={"kernelspec": kernel})
    page.cells = [
        nbformat.v4.new_markdown_cell("# Pieces\n\n## Adding up what arrives\n\n" + "More text.\n\n" * 40),
        *(nbformat.v4.new_code_cell(source.strip("\n")) for source in CELLS),
    ]
    return page


@dataclass
class Lab:
    """A running JupyterLab."""

    address: str
    folder: Path


def open_page(browser: Browser, address: str, *, scripts: bool = True, offline: bool = True) -> Page:
    """A page of its own at `address`; `page.errors` collects exceptions of its scripts."""
    context = browser.new_context(viewport={"width": 1100, "height": 900}, java_script_enabled=scripts)
    page = context.new_page()
    page.set_default_timeout(15_000)
    # What a reader sees must not need the network, and a server's page waits for nobody but its server.
    page.route("http*://**" if offline else ELSEWHERE, lambda route: route.abort())
    page.errors = []  # type: ignore[attr-defined]
    page.on("pageerror", lambda error: page.errors.append(str(error)))  # type: ignore[attr-defined]
    page.goto(address)
    return page
