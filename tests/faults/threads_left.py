"""Hundreds of threads that never end."""

from tests.faults import Fault, own_cell

THREADS = """
import threading, time
try:
    for _ in range(500): threading.Thread(target=time.sleep, args=(600,)).start()
except RuntimeError as problem: print(problem)
"""
FAULT = Fault(own_cell(THREADS), shows=("can't start new thread",))
