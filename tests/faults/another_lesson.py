"""Another lesson's notebook under this one's name."""

import json

from tests.faults import NOTHING, Fault, Hand


def make(hand: Hand) -> bytes:
    return json.dumps(
        {
            "cells": [{"cell_type": "code", "source": 'check("1.1", f)', "metadata": {}, "outputs": []}],
            "nbformat": 4,
            "nbformat_minor": 5,
            "metadata": {},
        }
    ).encode()


FAULT = Fault(
    make, NOTHING, ("this is a notebook of 1-chain-rule", "locked cells were missing", "answer cells were missing")
)
