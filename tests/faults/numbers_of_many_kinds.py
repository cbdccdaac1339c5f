"""What is a number is taken as one."""

from tests.faults import Fault, answers

KINDS = """
from fractions import Fraction
from decimal import Decimal
def my_prediction():
    class Six(float): pass
    return {"passes": (np.float64(6), Fraction(12), torch.tensor(18.0, requires_grad=True)), "detached": np.array([[3]], dtype=object)}
"""
FAULT = Fault(answers(e3_11=KINDS))
