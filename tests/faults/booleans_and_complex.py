"""Neither is a number."""

from tests.faults import Fault, answers

BOOL = """
def edge_visits(root):
    return True, np.bool_(True)
"""
OTHER = """
def my_prediction():
    return {"passes": [6 + 0j, 12, 18], "detached": np.complex128(3)}
"""
FAULT = Fault(
    answers(e3_10=BOOL, e3_11=OTHER), {"3.10": 0, "3.11": 0}, (), {"3.10": "not a number", "3.11": "not a number"}
)
