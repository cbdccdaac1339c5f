"""A flag for each would bury the others."""

from tests.faults import Fault, own_cell

FAULT = Fault(
    own_cell("try:\n" + "".join(f"    import autograder.x{k}\n" for k in range(500)) + "except ImportError: pass"),
    flags=("imports autograder.x",) * 20 + ("and 480 more",),
)
