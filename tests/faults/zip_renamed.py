"""An archive under the notebook's name."""

from tests.faults import NOTHING, Fault

FAULT = Fault(lambda hand: b"PK\x03\x04" + bytes(1000), NOTHING, ("this is a ZIP archive",))
