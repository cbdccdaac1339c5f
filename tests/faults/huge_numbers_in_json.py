"""Numbers longer than Python reads, in a file that is JSON."""

from tests.faults import NOTHING, Fault

FAULT = Fault(lambda hand: b'{"cells": [], "x": ' + b"9" * 100_000 + b"}", NOTHING, ("it is not valid JSON",))
