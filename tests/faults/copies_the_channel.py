"""A copy of the grader's channel from an earlier cell, read and written during a later check."""

from tests.faults import Fault, void

COPY = """
import os, socket, threading
fds = []
for fd in range(3, 1100):
    try:
        if socket.socket(fileno=os.dup(fd)).family == socket.AF_UNIX: fds.append(os.dup(fd))
    except OSError: pass
"""
SPEAK = """
def edge_visits(root):
    for fd in fds: os.write(fd, b"\\x00\\x00\\x00\\x02{}")
    return 1, 1
"""
FAULT = Fault(
    lambda hand: void(hand.own(COPY), hand.answer("3.10", SPEAK)),
    {"3.10": 0},
    ("imports socket", "3.10: interfered with the grader"),
)
