"""`__builtins__` of the notebook is emptied."""

from tests.faults import CHEATED, Fault, cheat

FAULT = Fault(
    cheat("__builtins__ = {}"),
    {**CHEATED, "3.12": 0},
    ("3.10: no evidence was handed in (ImportError)", "3.12: no evidence was handed in (ImportError)"),
)
