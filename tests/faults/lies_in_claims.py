"""The check's own tables are changed: whatever evidence says of the engine beside the gradients agrees with them."""

from tests.faults import Fault, own_cell

LIES = """
table = check.__globals__["probe_for"].__globals__["importlib"].import_module("autograder.student.probes.reverse_mode").PROBES
def backward(case, Value):
    made_up = dict.fromkeys(case["graph"], 7.0)
    return {run: {"data": 1.0, "own": made_up, "again": made_up, "summed": made_up, "planted": made_up}
            for run in ("graph", "instead") if run in case} | {"alive": [{"driven": made_up}]}
def visits(case, function, Value):
    return {"edges": 1, "visits": 1, "counted": 1, "sets": True, "passes": 1}
table["3.4"], table["3.10"] = backward, visits
"""
FAULT = Fault(own_cell(LIES, "3.4"), {"3.4": 0, "3.10": 0}, ("uses __globals__: a way into other code",))
