"""Iterators that never end, where a list is asked for."""

from tests.faults import Fault, answers

ODD = """
import itertools
def my_prediction(): return {"passes": itertools.repeat(6.0), "detached": 3.0}
"""
FAULT = Fault(answers(e3_11=ODD), {"3.11": 0}, ("3.11: ",))
