"""Warnings and logs on stderr cost nothing."""

from tests.faults import Fault, own_cell

WARN = """
import logging, sys, warnings
old_visits = edge_visits
def edge_visits(root):
    warnings.warn("careful"); logging.error("log"); print("note", file=sys.stderr)
    torch.tensor([1.0]).to_sparse().to_dense(); np.log(np.float64(-1))
    return old_visits(root)
"""
FAULT = Fault(own_cell(WARN, "3.10"))
