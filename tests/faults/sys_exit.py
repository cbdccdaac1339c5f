"""Ways to ask Python to leave."""

from tests.faults import Fault, void

FAULT = Fault(
    lambda hand: void(
        hand.answer("3.10", "import sys\ndef edge_visits(root):\n    sys.exit()"),
        hand.answer("3.11", "def my_prediction():\n    raise SystemExit(3)"),
        hand.own("quit()"),
        hand.own("exit"),
        hand.own("raise KeyboardInterrupt"),
    ),
    {"3.10": 0, "3.11": 0},
    (),
    {"3.10": "SystemExit", "3.11": "SystemExit"},
)
