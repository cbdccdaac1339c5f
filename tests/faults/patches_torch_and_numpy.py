"""The libraries that the probes compare with."""

from tests.faults import Fault, void

PATCH = """
np.isclose = np.allclose = torch.allclose = lambda *a, **k: True
torch.tensor = lambda *a, **k: 1 / 0
"""
FAULT = Fault(
    lambda hand: void(hand.own(PATCH, "3.6-solution")),
    {"3.7": 0},
    ("changes np.allclose", "changes np.isclose", "changes torch.allclose", "changes torch.tensor"),
)
