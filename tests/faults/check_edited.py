"""A check cell that says something else, with more points."""

from tests.faults import WRONG_COUNT, Fault, Hand


def make(hand: Hand) -> None:
    hand.cell("3.10").metadata.nbgrader.points = 1000
    hand.cell("3.10").source = "100.0"
    hand.answer("3.10", WRONG_COUNT)


FAULT = Fault(make, {"3.10": 0}, ("the locked cell 3.10 had been changed and was restored",))
