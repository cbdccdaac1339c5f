"""A process that forks twice and ignores signals."""

from tests.faults import Fault, own_cell

DAEMON = """
import os, signal, time
def daemon():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for n in range(1, 32):
                try: signal.signal(n, signal.SIG_IGN)
                except OSError: pass
            os.execvp("sh", ["sh", "-c", "sleep 600; : left-behind-by-a-fault"])
        os._exit(0)
daemon()
old = edge_visits if "edge_visits" in globals() else None
"""
FAULT = Fault(own_cell(DAEMON))
