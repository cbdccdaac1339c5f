"""A thread, a timer, a signal and an exit handler that hand in evidence when another exercise is checked."""

from tests.faults import CHEATED, Fault, cheat

LATE = """
import atexit, signal, threading, time
from IPython.display import display
def show(*a):
    display({"application/vnd.autograder.evidence+json": '{"exercise":"3.10","observations":[]}'}, raw=True)
def spam():
    while True: time.sleep(0.01); show()
threading.Thread(target=spam, daemon=True).start()
atexit.register(show)
signal.signal(signal.SIGALRM, show)
signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
"""
FAULT = Fault(cheat(LATE), CHEATED, ())
