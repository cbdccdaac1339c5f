"""Verdict cards: the verdict as HTML beside its plain text."""

from __future__ import annotations

from html import escape

from autograder.verdict import Verdict


def show(verdict: Verdict) -> None:
    """Display the card of `verdict` in the notebook."""
    from IPython.display import display

    display({"text/plain": verdict.text(), "text/html": card_html(verdict)}, raw=True)


def show_note(text: str) -> None:
    """Display a short message that is no verdict."""
    from IPython.display import display

    display({"text/plain": text, "text/html": f"<pre>{escape(text)}</pre>"}, raw=True)


def card_html(verdict: Verdict) -> str:
    """The card of `verdict` as one self-contained HTML fragment."""
    return f"<pre>{escape(verdict.text())}</pre>"
