"""A check that stops with an error whose name is Markdown, and a file that is called so and turns its line round."""

from tests.faults import Fault, Hand

STOPS = """
import sys
def edge_visits(root):
    frame = sys._getframe()
    while not hasattr(frame.f_locals.get("self"), "outputs"): frame = frame.f_back
    outputs = frame.f_locals["self"].outputs
    outputs.error(type("![x](//elsewhere.example)", (Exception,), {})("$x$"))
    outputs.display = lambda *args, **more: None
    return 1, 1
"""


def make(hand: Hand) -> bool:
    hand.answer("3.10", STOPS)
    hand.write(name="[x](javascript:alert(1)) ![x](y)\u202e.ipynb")
    return True


FAULT = Fault(
    make,
    {"3.10": 0},
    (
        "the file is called [x](javascript:alert(1)) ![x](y)",
        "uses _getframe, f_back, f_locals",
        "3.10: no evidence was handed in (![x]",
    ),
    never=("**Notes of the grader**\n\n- the", "](y", "\u202e"),
)
