"""nbgrader's ClearSolutions, with stubs that say which exercise and which function they stand for."""

from __future__ import annotations

from typing import Any

from nbformat import NotebookNode
from nbgrader.preprocessors import ClearSolutions

from autograder.authoring.source import SOLUTION, SourceCell, enclosing_def, marker, regions


class NamedStubs(ClearSolutions):
    """Replace each solution region by `raise NotImplementedError("3.1 value_add")` under `# YOUR CODE HERE`.

    A region must stand in a cell with nbgrader's solution metadata; a written answer is replaced by `text_stub`, as
    nbgrader does.
    """

    def _replace_solution_region(self, cell: NotebookNode, language: str) -> bool:
        if cell.cell_type != "code" or language != "python":
            replaced: bool = super()._replace_solution_region(cell, language)
            return replaced
        cell.source, replaced = stubbed(cell.source, dict(cell.metadata))
        return replaced


def stubbed(source: str, metadata: dict[str, Any]) -> tuple[str, bool]:
    """A code cell's text with a stub for each solution region, and whether there was one.

    Raises:
        SourceError: markers without partners.
        SyntaxError: the cell is not Python.
    """
    solution_regions = [region for region in regions(source) if region.name == SOLUTION]
    exercise = SourceCell("code", source, metadata, 0, "").exercise
    lines = source.split("\n")
    stubs = {r.begin: f"{exercise} {enclosing_def(source, r.begin)}".strip() for r in solution_regions}
    for region in reversed(solution_regions):
        line = lines[region.begin]
        indent = line[: len(line) - len(line.lstrip())]
        lines[region.begin : region.end + 1] = [
            f"{indent}# YOUR CODE HERE",
            f'{indent}raise NotImplementedError("{stubs[region.begin]}")',
        ]
    assert not any(marker(line) == ("BEGIN", SOLUTION) for line in lines)
    return "\n".join(lines), bool(solution_regions)
