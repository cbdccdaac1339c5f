"""None, text, and too many numbers."""

from tests.faults import Fault, answers

OTHER = """
def my_prediction():
    return {"passes": ["6", "12", "18"], "detached": np.ones((2, 2))}
"""
FAULT = Fault(answers(e3_10="def edge_visits(root): pass", e3_11=OTHER), {"3.10": 0, "3.11": 0}, (), {"3.10": "None"})
