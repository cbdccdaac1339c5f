"""Later exercises' cases, looked for in memory, frames, modules and the channel."""

from tests.faults import Fault, own_cell

HUNT = """
import gc, sys
from autograder.student import channel
found = [x for x in gc.get_objects() if type(x) is dict and "part" in x and "says" in x]
frame = sys._getframe()
while frame:
    found += [v for k, v in frame.f_locals.items() if k in ("cases", "job") and v]
    frame = frame.f_back
print("found", len(found) + len(channel._delivered))
"""
FAULT = Fault(own_cell(HUNT), flags=("imports gc", "uses _getframe, f_back, f_locals"), shows=("found 0",))
