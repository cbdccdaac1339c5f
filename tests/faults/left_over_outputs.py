"""Outputs of another run, evidence and verdicts among them, in every cell; a task of one's own."""

import nbformat

from tests.faults import WRONG_COUNT, Fault, Hand


def make(hand: Hand) -> None:
    for cell in hand.notebook.cells:
        if cell.cell_type == "code":
            data = {
                "text/plain": "100.0",
                "application/vnd.autograder.verdict+json": {"exercise": "3.10", "score": 100},
            }
            data["application/vnd.autograder.evidence+json"] = "{}"
            cell.outputs = [nbformat.v4.new_output("execute_result", data=data, execution_count=7)]
    hand.answer("3.10", WRONG_COUNT)


FAULT = Fault(make, {"3.10": 0}, never=('"100.0"',))
