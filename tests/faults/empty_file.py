"""Nothing in it."""

from tests.faults import NOTHING, Fault

FAULT = Fault(lambda hand: b" ", NOTHING, ("no notebook was handed in: the file is empty",))
