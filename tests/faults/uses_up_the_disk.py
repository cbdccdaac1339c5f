"""As many bytes and files as there is room for."""

from tests.faults import Fault, own_cell

DISK = """
import os
try:
    with open("big", "wb") as file:
        while True: file.write(b"x" * (8 << 20))
except OSError as problem: print(problem)
try:
    for k in range(2_000): open(f"f{k}", "w").close()
except OSError as problem: print(problem)
"""
FAULT = Fault(own_cell(DISK), shows=("File too large",))
