"""Variables of the student's own called as the harness is."""

from tests.faults import Fault, own_cell

FAULT = Fault(
    own_cell("check = 1\ngrade = 2\ndisplay = print = None"),
    flags=("redefines check", "redefines display", "redefines grade", "redefines print"),
)
