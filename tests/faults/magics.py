"""Magics and shell lines run in the box or fail alone."""

from tests.faults import Fault, Hand

MAGIC = """
!echo from the shell
%matplotlib widget
%load_ext autoreload
%autoreload 2
%timeit -n1 -r1 1
%no_such_magic
"""


def make(hand: Hand) -> None:
    hand.own(MAGIC)
    hand.own("%%bash\necho from bash; rm -rf / 2>/dev/null; exit 3")
    hand.own("import matplotlib; matplotlib.use('TkAgg')\nimport matplotlib.pyplot as plt; plt.plot([1]); plt.show()")


FAULT = Fault(make, shows=("from the shell", "from bash"))
