"""A kernelspec of R, and one that is not there."""

from tests.faults import Fault, Hand


def make(hand: Hand) -> None:
    hand.notebook.metadata = {"kernelspec": {"name": "ir", "display_name": "R", "language": "R"}}


FAULT = Fault(make)
