"""The gradebook, the course, the home folder, what the next submission sees."""

from tests.faults import Fault, own_cell

SPITE = """
import os, pathlib
left = []
for p in ("/gradebook.db", "/srv/gradebook.db", "/etc/x", "/usr/x", "/home/x", str(pathlib.Path(os.__file__))):
    try: open(p, "a").write("x"); left.append(p)
    except OSError: pass
open("/tmp/left-by-a-neighbour", "w").write("x")
open("/dev/shm/left-by-a-neighbour", "w").write("x")
print("wrote", left)
"""
FAULT = Fault(own_cell(SPITE), shows=("wrote []",))
