"""Line feeds and terminal codes in an id."""

from tests.faults import Fault, void

FAULT = Fault(void, failed="holds control characters", student="two\nlines\x1b[2J\t")
