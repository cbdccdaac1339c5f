"""Everything in the notebook deleted between two exercises; what needs it says so."""

from tests.faults import Fault, own_cell

FAULT = Fault(
    own_cell(
        "for name in list(globals()):\n    if name[0] != '_' and name != 'name': del globals()[name]", "3.12-solution"
    )
)
