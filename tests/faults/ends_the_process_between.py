"""`os._exit(0)` in a cell of the student's own; later exercises are graded in a fresh process."""

from tests.faults import Fault, own_cell

FAULT = Fault(
    own_cell("kept = 1\nimport os\nos._exit(0)"), flags=("a cell of the student's own ended the Python process",)
)
