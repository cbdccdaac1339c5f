"""Modules of the harness taken out, or replaced by others."""

from tests.faults import CHEATED, Fault, cheat

PATCH = """
import sys, types
for name in list(sys.modules):
    if name.startswith("autograder"): sys.modules[name] = types.ModuleType(name)
sys.modules["torch"] = None
"""
FAULT = Fault(cheat(PATCH), CHEATED, ("changes sys.modules",))
