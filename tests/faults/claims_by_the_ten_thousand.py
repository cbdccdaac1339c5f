"""Cells without number, all of which claim to be one answer."""

import json

from tests.faults import NOTHING, Fault, Hand


def make(hand: Hand) -> bytes:
    data = hand.json()
    claim = {"cell_type": "code", "source": "1", "metadata": hand.cell("3.10-solution").metadata}
    return json.dumps({**data, "cells": [claim] * 20_000 + data["cells"]}).encode()


FAULT = Fault(make, NOTHING, ("more than 20,000",))
