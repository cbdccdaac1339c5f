"""An id that looks like a way up."""

from tests.faults import Fault, void

FAULT = Fault(void, failed="begins with a dot", student="...")
