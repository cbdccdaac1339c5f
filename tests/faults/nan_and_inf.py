"""Neither equals anything."""

from tests.faults import Fault, answers

NAN = """
def edge_visits(root):
    return float("nan"), float("inf")
"""
OTHER = """
def my_prediction():
    return {"passes": [float("nan")] * 3, "detached": float("inf")}
"""
FAULT = Fault(answers(e3_10=NAN, e3_11=OTHER), {"3.10": 0, "3.11": 0}, (), {"3.10": "nan", "3.11": "nan"})
