"""An id of wildcards and braces."""

from tests.faults import Fault, void

FAULT = Fault(void, student="{student_id}[a-z]*?%s$HOME`ls`")
