"""An answer cut in two cells, the second without metadata."""

from tests.faults import Fault, Hand


def make(hand: Hand) -> None:
    cell = hand.cell("3.2-solution")
    at = cell.source.index("\ndef ", len(cell.source) // 2)
    rest = cell.source[at:]
    cell.source = cell.source[:at]
    hand.own(rest, "3.2-solution-2")


FAULT = Fault(make)
