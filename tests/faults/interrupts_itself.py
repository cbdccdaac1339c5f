"""KeyboardInterrupt and GeneratorExit from an answer are wrong answers like any other."""

from tests.faults import Fault, void

FAULT = Fault(
    lambda hand: void(
        hand.answer("3.10", "def edge_visits(root):\n    raise KeyboardInterrupt"),
        hand.answer("3.11", "def my_prediction():\n    raise GeneratorExit"),
    ),
    {"3.10": 0, "3.11": 0},
    ("3.11: no evidence was handed in (GeneratorExit)", "3.10: no evidence was handed in (KeyboardInterrupt)"),
    {"3.10": "KeyboardInterrupt"},
)
