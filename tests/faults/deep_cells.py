"""A notebook whose cells hold lists in lists."""

from tests.faults import NOTHING, Fault

FAULT = Fault(
    lambda hand: b'{"cells": [' + b'{"metadata":' * 900 + b"0" + b"}" * 900 + b"]}",
    NOTHING,
    ("locked cells were missing", "answer cells were missing"),
)
