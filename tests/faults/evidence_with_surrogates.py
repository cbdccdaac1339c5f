"""Names and texts with lone surrogates in answers that travel as evidence."""

from tests.faults import Fault, answers

ANSWER = """
def diagnoses():
    return {1: "\\ud800", 2: "a" * 100_000, 3: "<script>"}
"""
FAULT = Fault(answers(e3_12=ANSWER), {"3.12": 0}, (), {"3.12": "is not the name of a fault"})
