"""An import hook that answers for the harness."""

from tests.faults import Fault, cheat

PATCH = """
import sys, types, builtins
real = builtins.__import__
def fake(name, *a, **k):
    if name.startswith("autograder"):
        m = types.ModuleType(name); m.grade = m.check = lambda *a: 99.0
        return m
    return real(name, *a, **k)
builtins.__import__ = fake
class Finder:
    def find_spec(self, name, *a): return 1 / 0 if name.startswith("autograder") else None
sys.meta_path.insert(0, Finder())
"""
FAULT = Fault(
    cheat(PATCH), {"3.11": 0, "3.10": 0, "3.12": 0}, ("changes builtins.__import__", "no evidence", "no evidence")
)
