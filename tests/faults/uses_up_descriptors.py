"""Every descriptor that a process may have, before the checks."""

from tests.faults import Fault, own_cell

FDS = """
import os
kept = []
try:
    while True: kept.append(os.open("/dev/null", os.O_RDONLY))
except OSError as problem: print(problem)
"""
FAULT = Fault(own_cell(FDS, "3.12-solution"), {"3.12": 0}, ("3.12: ended the Python process that it ran in",))
