"""20 GiB at once."""

from tests.faults import Fault, answers

FAULT = Fault(
    answers(e3_10="import numpy as np\ndef edge_visits(root):\n    return np.ones(20 << 27), 1"),
    {"3.10": 0},
    (),
    {"3.10": "MemoryError"},
)
