"""Saved by an editor that keeps neither metadata nor ids."""

import json

from tests.faults import Fault, Hand


def make(hand: Hand) -> bytes:
    data = hand.json()
    for cell in data["cells"]:
        cell["metadata"] = {}
        cell.pop("id")
    return json.dumps(data).encode()


FAULT = Fault(make, flags=("had lost their grading metadata and were recognized by their content",))
