"""Two that answer the lesson: nobody can know which."""

from tests.faults import NOTHING, Fault, Hand


def make(hand: Hand) -> bool:
    hand.write(name="a.ipynb")
    hand.write(name="b.ipynb")
    return True


FAULT = Fault(make, NOTHING, ("2 notebooks were handed in",))
