"""Read whatever a student handed in: a notebook if it can be one, else a reason in words."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import nbformat
from nbformat.notebooknode import NotebookNode

MAX_BYTES = 50_000_000
MAX_CELLS = 20_000  # a lesson has about 100
MAX_PARTS = 2_000_000  # lists and dicts: each takes up to a hundred times the memory that it takes in the file


class Unreadable(ValueError):
    """A submission that is no notebook; the message tells the student why."""


def read_file(path: Path) -> NotebookNode:
    """The notebook at `path`, upgraded to the current format. Unreadable if it is none."""
    if path.is_symlink():
        raise Unreadable("the file is a symbolic link, not a notebook")
    if not path.exists():
        raise FileNotFoundError(path)
    if not path.is_file():
        raise Unreadable("this is a folder or a device, not a notebook file")
    if path.stat().st_size > MAX_BYTES:
        raise Unreadable(f"the file is larger than {MAX_BYTES // 1_000_000} MB; clear its outputs and hand it in again")
    return read_bytes(path.read_bytes())


def read_bytes(data: bytes) -> NotebookNode:
    """The notebook in `data`, upgraded to the current format. Unreadable if there is none."""
    if not data.strip(b"\0 \t\r\n"):
        raise Unreadable("the file is empty")
    if data.startswith(b"PK\x03\x04"):
        raise Unreadable("this is a ZIP archive, not a notebook")
    try:
        text = data.decode("utf-16") if data.startswith((b"\xff\xfe", b"\xfe\xff")) else data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Unreadable("the file is not text in UTF-8") from None
    text = text.replace("\0", "")
    if text.lstrip()[:1] == "<":
        raise Unreadable("this is a web page, not a notebook; download the notebook file itself")
    if text.count("{") + text.count("[") > MAX_PARTS:
        raise Unreadable(
            "the file holds more lists and tables than any notebook; clear its outputs and hand it in again"
        )
    try:
        content = json.loads(text, parse_constant=lambda name: None)
    except (ValueError, RecursionError):
        raise Unreadable("the file is damaged: it is not valid JSON") from None
    return _notebook(content)


def _notebook(content: Any) -> NotebookNode:
    """A notebook from parsed JSON, keeping of each cell only what has the right type."""
    if not isinstance(content, dict):
        raise Unreadable("the file is JSON, but not a notebook")
    cells = content.get("cells")
    if not isinstance(cells, list):
        cells = _in_worksheets(content.get("worksheets"))
        if cells is None:
            raise Unreadable("the file is JSON, but not a notebook: it has no cells")
    if len(cells) > MAX_CELLS:
        raise Unreadable(f"the notebook has {len(cells):,} cells, more than {MAX_CELLS:,}")
    notebook = nbformat.v4.new_notebook()
    for cell in cells:
        read = _cell(cell)
        if read is not None:
            notebook.cells.append(read)
    return notebook


def _in_worksheets(sheets: Any) -> list[Any] | None:
    """The cells of a notebook in format 3 as format 4 has them; None if there are none.

    nbformat's own conversion takes the whole content through copies and schemas: gigabytes, where it is hostile.
    """
    found = [
        cell
        for sheet in (sheets if isinstance(sheets, list) else ())
        if isinstance(sheet, dict) and isinstance(sheet.get("cells"), list)
        for cell in sheet["cells"]
        if isinstance(cell, dict)
    ]
    made = []
    for cell in found[: MAX_CELLS + 1]:
        kind, source = cell.get("cell_type"), cell.get("input" if cell.get("cell_type") == "code" else "source", "")
        if kind == "heading" and isinstance(cell.get("level"), int):
            source = ["#" * min(max(cell["level"], 1), 6), " ", *(source if isinstance(source, list) else [source])]
        made.append({"cell_type": kind, "source": source, "metadata": cell.get("metadata")})
    return made or None


def _cell(cell: Any) -> NotebookNode | None:
    if not isinstance(cell, dict):
        return None
    source = cell.get("source", "")
    if isinstance(source, list):
        source = "".join(part for part in source if isinstance(part, str))
    if not isinstance(source, str):
        return None
    # Lone surrogates are no text that can be stored; their place is kept.
    source = source.encode("utf-8", "replace").decode("utf-8")
    kind = cell.get("cell_type")
    metadata = cell.get("metadata")
    made = {
        "id": cell["id"] if isinstance(cell.get("id"), str) else "",
        "cell_type": kind if kind in ("code", "markdown", "raw") else "markdown",
        "metadata": _tags(metadata),
        "source": source,
    }
    if made["cell_type"] == "code":
        made |= {"execution_count": None, "outputs": []}
    elif made["cell_type"] == "markdown" and (pictures := _pictures(cell.get("attachments"))):
        made["attachments"] = pictures
    # nbformat's own makers hold each cell against a schema, which takes longer than all the rest.
    read: NotebookNode = nbformat.from_dict(made)
    return read


def _pictures(attachments: Any) -> dict[str, dict[str, str]]:
    """Of a cell's attachments, the pictures that nothing but a picture can be."""
    kept: dict[str, dict[str, str]] = {}
    for name, found in attachments.items() if isinstance(attachments, dict) else ():
        for kind in ("image/png", "image/jpeg"):
            data = found.get(kind) if isinstance(found, dict) else None
            data = "".join(x for x in data if isinstance(x, str)) if isinstance(data, list) else data
            if isinstance(data, str) and re.fullmatch(r"[A-Za-z0-9+/=\s]+", data):
                kept.setdefault(name.encode("utf-8", "replace").decode("utf-8"), {})[kind] = data
    return kept


def _tags(metadata: Any) -> dict[str, Any]:
    """Of a cell's metadata, the tags and nbgrader's part, if they have the right shape; nothing else is needed."""
    kept: dict[str, Any] = {}
    if isinstance(metadata, dict):
        grader = metadata.get("nbgrader")
        if isinstance(grader, dict) and isinstance(grader.get("grade_id"), str):
            kept["nbgrader"] = {"grade_id": grader["grade_id"]}
        tags = metadata.get("tags")
        if isinstance(tags, list):
            kept["tags"] = [tag for tag in tags if isinstance(tag, str)]
    return kept
