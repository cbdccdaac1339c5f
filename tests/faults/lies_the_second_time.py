"""Objects whose number changes, and that claim to equal everything."""

from tests.faults import Fault, answers

LIAR = """
class Liar(float):
    calls = 0
    def __float__(self):
        Liar.calls += 1
        return 1.0 if Liar.calls % 2 else 2.0
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __sub__(self, other): return 0.0
    __rsub__ = __lt__ = __le__ = __gt__ = __ge__ = __sub__
    def __abs__(self): return 0.0
    def __hash__(self): return 0
    def __repr__(self): return "3.0"
def edge_visits(root):
    return Liar(1), Liar(1)
"""
OTHER = """
class Always(dict):
    def get(self, *_): return "yes"
    def __getitem__(self, key): return [6.0, 12.0, 18.0] if key == "x" else [True] * 3
    def __contains__(self, key): return True
    def __iter__(self): return iter(())
def my_prediction(): return Always()
"""
FAULT = Fault(answers(e3_10=LIAR, e3_11=OTHER), {"3.10": 0, "3.11": 0})
