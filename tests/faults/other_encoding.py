"""UTF-16."""

import nbformat

from tests.faults import Fault

FAULT = Fault(lambda hand: nbformat.writes(hand.notebook).encode("utf-16"))
