"""Style sheets and scripts as one self-contained piece of HTML, and the way to display it."""

from __future__ import annotations

import functools
import re
from importlib import resources


@functools.cache
def asset(name: str) -> str:
    """The text of one file in assets/; style sheets without comments and indentation, and made to prevail."""
    text = (resources.files("autograder.student") / "assets" / name).read_text("utf-8")
    if name.endswith(".css"):
        text = re.sub(r"\s*\n\s*", "\n", re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)).strip()
        text = re.sub(r"[^{}@]+(?=\{)", lambda rule: _prevail(rule[0]), text)
    return text


def _prevail(selectors: str) -> str:
    """Selectors with the weight of an id: notebooks style bare lists, tables and headings inside outputs, we more so."""
    return ",".join(re.sub(r"\.bp[\w-]*", r"\g<0>:not(#_)", one, count=1) for one in selectors.split(","))


def piece(kind: str, body: str, styles: tuple[str, ...], *, script: str = "", attributes: str = "") -> str:
    """`body` in a block of class `bp-{kind}` with its style sheets and, where it has one, its script."""
    css = "\n".join(asset(f"{name}.css") for name in ("base", *styles))
    run = f"<script>{asset(script)}</script>" if script else ""
    return f'<div class="bp bp-{kind}"{attributes}><style>{css}</style>{body}{run}</div>'


def show(html: str, text: str) -> None:
    """Display `html`, with `text` for those who see no HTML."""
    from IPython.display import display

    display({"text/plain": text, "text/html": html}, raw=True)
