"""Other processes' memory, by /proc, ptrace and the kernel."""

from tests.faults import Fault, own_cell

HUNT = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for pid in (os.getppid(), 1, 2):
    try: open(f"/proc/{pid}/mem", "rb"); print("opened", pid)
    except OSError: pass
print("traced", libc.ptrace(16, os.getppid(), 0, 0), libc.ptrace(16, 1, 0, 0))
fd = os.open("/proc/self/mem", os.O_RDONLY)
"""
FAULT = Fault(own_cell(HUNT), flags=("imports ctypes",), shows=("traced -1 -1",), never=("opened",))
