"""An id of wildcards and braces."""

from tests.faults import Fault, void

FAULT = Fault(void, failed="takes for a pattern", student="{student_id}[a-z]*?%s$HOME`ls`")
