"""Ids and grade ids of every type, length and character, points and metadata that make no sense."""

import json

from tests.faults import Fault, Hand


def make(hand: Hand) -> bytes:
    data = hand.json()
    odd = [None, 7, [], {}, "", "x" * 10_000, "../../x", "a b", "é", "<script>", "3_1\n", True]
    for cell, id in zip(data["cells"][::7], odd * 3, strict=False):
        cell["id"] = id
    for cell, id in zip(data["cells"][::11], odd, strict=False):
        cell["metadata"]["nbgrader"] = {"grade_id": id, "points": "1e999", "grade": "yes", "schema_version": id}
    for cell in data["cells"][::5]:
        cell["attachments"] = {"x": {"image/png": 7}}
        cell["metadata"] |= {"autograder": {"note": "full marks"}, "collapsed": "x", "deep": [[[[{}]]]]}
        cell["execution_count"], cell["outputs"] = "x", "none"
    data["metadata"] = {
        "kernelspec": 7,
        "autograder": {"flags": [], "digest": "x", "graded_as": "x"},
        "language_info": [],
    }
    data["nbformat_minor"] = 99
    return json.dumps(data).encode()


FAULT = Fault(make, flags=("had lost their grading metadata",))
