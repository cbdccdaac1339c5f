"""Two right answers as learners write them, and the edits that turn them into wrong ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
Edit = tuple[str, str]


def written(style: str, *edits: Edit) -> dict[str, Any]:
    """The names that a learner's file defines, after replacing text in it; each text must be there."""
    source = (HERE / f"{style}.py").read_text(encoding="utf-8")
    for old, new in edits:
        assert old in source, f"{style}.py has no {old!r}"
        source = source.replace(old, new)
    namespace: dict[str, Any] = {"__name__": f"learner_{style}"}
    exec(compile(source, f"<{style}>", "exec"), namespace)
    return namespace
