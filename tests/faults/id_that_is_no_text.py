"""A folder's name that is not UTF-8: said, and the class goes on."""

import os

from tests.faults import Fault, void

FAULT = Fault(void, failed="not text in UTF-8", student=os.fsdecode(b"caf\xe9-name"))
