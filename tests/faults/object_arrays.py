"""NumPy arrays of objects that compute."""

from tests.faults import Fault, answers

ODD = """
class Boom:
    def __float__(self): raise SystemExit
    def __array__(self, *a, **k): raise KeyError("no")
def edge_visits(root): return np.array([Boom()], dtype=object), Boom()
"""
FAULT = Fault(answers(e3_10=ODD), {"3.10": 0}, (), {"3.10": "KeyError"})
