"""Spaces, accents and quotes in a student's id."""

from tests.faults import Fault, void

FAULT = Fault(void, student='Zoë O\'Brien "x" ; -- 山')
