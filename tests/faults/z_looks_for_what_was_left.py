"""What another submission left behind."""

from tests.faults import Fault, own_cell

LOOK = """
import os
print("left", [p for d in ("/tmp", "/dev/shm", "/var/tmp", ".") for p in os.listdir(d) if "neighbour" in p])
"""
FAULT = Fault(own_cell(LOOK), shows=("left []",))
