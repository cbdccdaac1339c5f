"""Read whatever a student handed in: a notebook if it can be one, else a reason in words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
from nbformat.notebooknode import NotebookNode

MAX_BYTES = 50_000_000


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
        worksheets = content.get("worksheets")
        try:
            cells = nbformat.convert(nbformat.from_dict(content), 4)["cells"] if worksheets else None
        except Exception:
            cells = None
        if not isinstance(cells, list):
            raise Unreadable("the file is JSON, but not a notebook: it has no cells")
    notebook = nbformat.v4.new_notebook()
    for cell in cells:
        read = _cell(cell)
        if read is not None:
            notebook.cells.append(read)
    return notebook


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
    # nbformat's own makers hold each cell against a schema, which takes longer than all the rest.
    read: NotebookNode = nbformat.from_dict(made)
    return read


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
