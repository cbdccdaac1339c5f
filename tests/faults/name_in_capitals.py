"""Another case, accents, spaces, markup and control characters."""

from tests.faults import Fault

FAULT = Fault(
    lambda hand: hand.write(name="Réverse\n<b>Mode\x1b[2J.IPYNB") or True,
    flags=("the file is called Réverse�<b>Mode�[2J.IPYNB",),
    never=("<b>Mode",),
)
