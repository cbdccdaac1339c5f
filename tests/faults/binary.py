"""Bytes that are no text."""

from tests.faults import NOTHING, Fault

FAULT = Fault(lambda hand: bytes(range(256)) * 40, NOTHING, ("is not text in UTF-8",))
