"""A counterexample whose paths nobody can walk in a lifetime."""

from tests.faults import Fault, answers

LADDER = """
def smallest_counterexample():
    graph = {"n0": Node("input")}
    for k in range(1, 150):
        graph[f"n{k}"] = Node("+", (f"n{k - 1}", f"n{k - 1}"))
    return graph, {"n0": 1e-9}, "n149"
"""
FAULT = Fault(answers(e3_8=LADDER), {"3.8": 1.5}, (), {"3.8": "149 operations"})
