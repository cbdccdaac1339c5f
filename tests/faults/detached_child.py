"""A child in a session of its own, holding the output open."""

from tests.faults import Fault, own_cell

CHILD = """
import subprocess
subprocess.Popen(["sh", "-c", "trap '' HUP TERM INT; sleep 600; : left-behind-by-a-fault"], start_new_session=True)
"""
FAULT = Fault(own_cell(CHILD), flags=("a cell of the student's own imports subprocess",))
