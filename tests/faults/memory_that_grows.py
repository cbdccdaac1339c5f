"""Memory that grows until the limit, with every error caught."""

from tests.faults import Fault, answers

GROW = """
def edge_visits(root):
    kept = []
    while True:
        try:
            kept.append(bytearray(10 << 20))
        except BaseException: pass
"""
FAULT = Fault(answers(e3_10=GROW), {"3.10": 0}, ("3.10: ",))
