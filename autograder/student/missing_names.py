"""A check cell that names something undefined gets a sentence, not a traceback."""

from __future__ import annotations

import re
from typing import Any

_CALL = re.compile(r"""\b(?:check|grade)\(\s*["'](\d+\.\d+)["']""")


def explain(source: str, name: str) -> str | None:
    """What to say when running `source` failed because `name` is undefined; None if `source` is no check cell."""
    found = _CALL.search(source)
    if not found:
        return None
    exercise = found.group(1)
    line = next((line.strip() for line in source.splitlines() if _CALL.search(line)), "")
    if name in ("check", "grade", "start"):
        todo = "Run the first code cell of this notebook (it imports check), then run this check again."
    else:
        todo = (
            f"Run the cell that defines {name}, then run this check again. If you renamed or deleted it, "
            f"give it back the name {name}: the check looks for exactly that."
        )
    return f"Exercise {exercise} needs {name}, and there is no {name} in this notebook yet.\n    {line}\n{todo}"


def install() -> None:
    """Let the running IPython shell, if there is one, explain undefined names in check cells."""
    try:
        from IPython.core.getipython import get_ipython
    except ImportError:
        return
    shell = get_ipython()
    if shell is None:
        return

    def handler(shell: Any, etype: type, value: BaseException, tb: Any, tb_offset: int | None = None) -> Any:
        import linecache

        name = getattr(value, "name", None)
        last = tb
        while last is not None and last.tb_next is not None:
            last = last.tb_next
        # Only an undefined name in the check cell itself, not one inside the student's functions.
        if name and last is not None and last.tb_frame.f_code.co_name == "<module>":
            text = explain("".join(linecache.getlines(last.tb_frame.f_code.co_filename)), name)
            if text:
                from autograder.student import cards

                cards.show_note(text)
                return []
        shell.showtraceback((etype, value, tb), tb_offset=tb_offset)
        return None

    shell.set_custom_exc((NameError,), handler)
