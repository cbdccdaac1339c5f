"""A file cut off by a full disk."""

import nbformat

from tests.faults import NOTHING, Fault

FAULT = Fault(lambda hand: nbformat.writes(hand.notebook).encode()[:5000], NOTHING, ("it is not valid JSON",))
