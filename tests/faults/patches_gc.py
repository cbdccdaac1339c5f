"""A collector that cannot be turned off, and hooks on every frame."""

from tests.faults import Fault, cheat

PATCH = """
import gc, sys, threading
gc.disable = gc.enable = gc.isenabled = lambda: 1 / 0
sys.settrace(lambda *a: 1 / 0)
sys.setprofile(lambda *a: None)
"""
FAULT = Fault(
    cheat(PATCH),
    {"3.11": 0, "3.10": 0, "3.12": 0},
    (
        "imports gc",
        "changes gc.disable",
        "changes gc.enable",
        "changes gc.isenabled",
        "3.10: ended the Python process that it ran in",
        "3.12: ended the Python process that it ran in",
    ),
)
