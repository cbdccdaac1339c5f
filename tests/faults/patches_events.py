"""IPython's events, run before and after each cell."""

from tests.faults import CHEATED, Fault, cheat

PATCH = """
from IPython.display import display
def late(*a):
    display({"application/vnd.autograder.evidence+json": "{}", "text/plain": "2.0"}, raw=True)
for event in ("pre_execute", "post_execute", "pre_run_cell", "post_run_cell"):
    get_ipython().events.register(event, late)
"""
FAULT = Fault(cheat(PATCH), CHEATED, ())
