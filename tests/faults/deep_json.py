"""Brackets without end."""

from tests.faults import NOTHING, Fault

FAULT = Fault(lambda hand: b"[" * 1_000_000, NOTHING, ("it is not valid JSON",))
