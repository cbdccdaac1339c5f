"""Where the grader leaves the cases of one exercise, just before its check cell runs."""

from __future__ import annotations

from typing import Any

_delivered: dict[str, list[dict[str, Any]]] = {}


def deliver(exercise: str, cases: list[dict[str, Any]]) -> None:
    _delivered.clear()
    _delivered[exercise] = cases


def take(exercise: str) -> list[dict[str, Any]] | None:
    return _delivered.pop(exercise, None)
