"""`reverse_mode (1).ipynb`, as browsers save it."""

from tests.faults import Fault

FAULT = Fault(
    lambda hand: hand.write(name="reverse_mode (1).ipynb") or True, flags=("the file is called reverse_mode (1).ipynb",)
)
