"""A line of 20 MB and a million prints, at top level and inside an answer."""

from tests.faults import Fault, own_cell

FLOOD = """
old_visits = edge_visits
print("x" * 20_000_000)
def edge_visits(root):
    print("y" * 20_000_000)
    for _ in range(10_000): print("spam")
    return old_visits(root)
"""
FAULT = Fault(own_cell(FLOOD, "3.10"), shows=("[output cut at 200,000 bytes]",))
