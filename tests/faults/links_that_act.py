"""Links in Markdown that are programs, in several disguises."""

import nbformat

from tests.faults import Fault, Hand

LINKS = (
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt&colon;alert(1))",
    "[x](<java&#10;script:alert(1)>)",
    "[x][y]\n\n[y]: data:text/html,<script>alert(1)</script>",
    r"$\style{position:fixed;top:0}{x}$ and $\class{x}{y}$, $\cssId{x}{y}$, $\bbox[position:fixed]{x}$",
    "a [x](https://example.org) and [y](#here)",
)


def make(hand: Hand) -> None:
    for link in LINKS:
        hand.notebook.cells.insert(0, nbformat.v4.new_markdown_cell(link))


FAULT = Fault(make)
