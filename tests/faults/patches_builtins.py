"""abs, float, isinstance, len, print, AssertionError and the exceptions."""

from tests.faults import Fault, cheat

PATCH = """
import builtins
builtins.abs = lambda x: 0.0
builtins.isinstance = lambda x, kind: True
builtins.max = builtins.sum = lambda *a, **k: 0.0
builtins.AssertionError = builtins.Exception
builtins.print = lambda *a, **k: None
"""
CHANGED = ("AssertionError", "abs", "isinstance", "max", "print", "sum")
FAULT = Fault(
    cheat(PATCH),
    {"3.11": 0, "3.10": 0},
    (*(f"changes builtins.{name}" for name in CHANGED), "a cell of the student's own ended the Python process"),
)
