"""An id that a spreadsheet would run."""

from tests.faults import Fault, void

FAULT = Fault(void, student="=cmd|' ! 'A0")
