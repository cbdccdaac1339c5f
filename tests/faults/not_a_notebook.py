"""JSON of another kind."""

from tests.faults import NOTHING, Fault

FAULT = Fault(lambda hand: b'{"nbformat": 4, "worksheets": [7]}', NOTHING, ("it has no cells",))
