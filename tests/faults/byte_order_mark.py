"""UTF-8 with a mark in front, and NUL bytes within."""

import nbformat

from tests.faults import Fault

FAULT = Fault(
    lambda hand: nbformat.writes(hand.notebook).encode("utf-8-sig").replace(b'"cells"', b'"ce\0lls"') + b"\0" * 512
)
