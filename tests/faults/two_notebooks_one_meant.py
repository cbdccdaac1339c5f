"""Of two wrong names one answers the lesson."""

from tests.faults import Fault, Hand


def make(hand: Hand) -> bool:
    hand.write(name="mine.ipynb")
    hand.write(b'{"cells": []}', "scratch.ipynb")
    return True


FAULT = Fault(make, flags=("the file is called mine.ipynb",))
