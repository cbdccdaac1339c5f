"""A shell that prints without end."""

from tests.faults import Fault, own_cell

FAULT = Fault(own_cell("!yes"), flags=("a cell of the student's own timed out after 4 s",))
