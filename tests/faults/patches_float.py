"""`float` answers what is asked for; numbers are judged where they cannot be patched."""

from tests.faults import Fault, cheat

PATCH = """
import builtins
builtins.float = lambda *a: 6.0
"""
FAULT = Fault(cheat(PATCH), {"3.11": 0, "3.10": 0}, ("changes builtins.float", "3.10: no evidence was handed in"))
