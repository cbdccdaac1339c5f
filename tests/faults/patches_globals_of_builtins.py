"""`__builtins__` of the notebook is emptied."""

from tests.faults import CHEATED, Fault, cheat

FAULT = Fault(cheat("__builtins__ = {}"), CHEATED)
