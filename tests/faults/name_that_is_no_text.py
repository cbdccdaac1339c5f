"""A file name that is not UTF-8."""

import os

from tests.faults import Fault, Hand


def make(hand: Hand) -> bool:
    hand.write(name=os.fsdecode(b"\xff\xfe.ipynb"))
    return True


FAULT = Fault(make, flags=("the file is called ��.ipynb",))
