"""Pictures pasted into Markdown: one that came along, one that was lost on the way, one that is no picture."""

import nbformat

from tests.faults import Fault, Hand


def make(hand: Hand) -> None:
    text = "![here](attachment:a.png) ![lost](attachment:b.png)\n\n![other][x]\n\n[x]: &#97;ttachment:c.svg"
    cell = nbformat.v4.new_markdown_cell(text)
    cell["attachments"] = {"a.png": {"image/png": "iVBORw0KGgo="}, "c.svg": {"image/svg+xml": "PHN2Zz4="}}
    hand.notebook.cells.insert(0, cell)


FAULT = Fault(make)
