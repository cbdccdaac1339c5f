"""nbformat 4.2: no ids, nbgrader schema 2."""

import json

from tests.faults import Fault, Hand


def make(hand: Hand) -> bytes:
    data = hand.json()
    data["nbformat_minor"] = 2
    for cell in data["cells"]:
        cell.pop("id")
        if "nbgrader" in cell["metadata"]:
            cell["metadata"]["nbgrader"] |= {"schema_version": 2}
            cell["metadata"]["nbgrader"].pop("task", None)
    return json.dumps(data).encode()


FAULT = Fault(make)
