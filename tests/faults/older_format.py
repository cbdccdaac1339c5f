"""nbformat 3: worksheets."""

import nbformat

from tests.faults import Fault, Hand


def make(hand: Hand) -> bytes:
    return nbformat.writes(hand.notebook, version=3).encode()


FAULT = Fault(make)
