"""Powers of powers, cycles, and a graph of 100,000 nodes."""

from tests.faults import Fault, answers

ODD = """
def smallest_counterexample():
    graph = {"a": Node("input"), **{f"p{k}": Node("pow", (f"p{k-1}" if k else "a",), 1e9) for k in range(100)}}
    return graph, {"a": 9.0}, "p99"
"""
OTHER = """
def order_matters():
    graph = {"a": Node("+", ("b", "b")), "b": Node("+", ("a", "a"))}
    return {"graph": graph, "inputs": {}, "sink": "a", "order_1": ["a", "b"], "order_2": ["b", "a"],
            "bad_reverse_order": ["a", "b"], "lost": ("a", "b")}
"""
FAULT = Fault(answers(e3_8=ODD, e3_9=OTHER), {"3.8": 0, "3.9": 0}, (), {"3.8": "no value", "3.9": "cycle"})
