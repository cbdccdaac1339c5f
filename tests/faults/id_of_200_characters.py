"""As long as file systems allow."""

from tests.faults import Fault, void

FAULT = Fault(void, student="n" * 200)
