"""A str, a list and an int that are not what they say."""

from tests.faults import Fault, answers

LIAR = """
class Name(str):
    def __eq__(self, other): return True
    def __hash__(self): return hash("level-order")
    def __getitem__(self, k): return Name("x")
    def __len__(self): return 0
    def __str__(self): return self
def diagnoses():
    return {1: Name("a"), 2: Name("b"), 3: Name("c")}
"""
COUNT = """
class Many(list):
    def __len__(self): return 2
    def __iter__(self):
        while True: yield 1
def edge_visits(root): return Many([1, 2])
"""
FAULT = Fault(answers(e3_12=LIAR, e3_10=COUNT), {"3.12": 0, "3.10": 0}, ("3.12: no evidence was handed in",))
