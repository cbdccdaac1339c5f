"""A log-in page saved under the notebook's name."""

from tests.faults import NOTHING, Fault

FAULT = Fault(lambda hand: b"<!DOCTYPE html><html>Log in</html>", NOTHING, ("this is a web page",))
