"""Forks that fork; and what it started is gone afterwards."""

from tests.faults import Fault, own_cell

BOMB = """
import os, time
for _ in range(200):
    try:
        if os.fork() == 0:
            while True:
                try: os.fork()
                except OSError: time.sleep(60)
    except OSError: pass
"""
FAULT = Fault(
    own_cell(BOMB, "3.12-solution"), {"3.12": 0}, ("3.12: could not run: the notebook's own processes fill the box",)
)
