"""Unseeded random numbers do not change a verdict."""

from tests.faults import Fault, own_cell

FAULT = Fault(own_cell("import random\nnp.random.seed(); random.random()\nif random.random() < 0.5: x = 1"))
