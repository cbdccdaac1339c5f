"""Signals to every process that it can see."""

from tests.faults import Fault, answers

KILL = "import os, signal\ndef edge_visits(root):\n    signal.signal(15, signal.SIG_IGN)\n    os.kill(-1, 9)\n    return 0, 0"
FAULT = Fault(answers(e3_10=KILL), {"3.10": 0}, ("3.10: ended the Python process",))
