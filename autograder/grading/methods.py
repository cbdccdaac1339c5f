"""A look at how an answer was written, for the instructor: values cannot show the method.

The checks promise right values on inputs never seen before. An engine that calls torch inside computes right values;
this look at the source flags such imports. It never changes a mark.
"""

from __future__ import annotations

import ast

from nbformat.notebooknode import NotebookNode

from autograder.grading.repair import CHECK_CALL
from autograder.lessons import tag_of

# Importing these in an answer is worth a human look, and why.
_SUSPECT = {
    "torch": "computes derivatives itself",
    "jax": "computes derivatives itself",
    "tensorflow": "computes derivatives itself",
    "autograd": "computes derivatives itself",
    "sympy": "differentiates formulas",
    "ctypes": "reaches into the process",
    "gc": "reaches into the process",
    "inspect": "reads other code",
    "socket": "opens connections",
    "subprocess": "starts programs",
}
_HARNESS = ("autograder", "IPython")
_PATCHED = {"check", "grade", "display", "print", "abs"}


def look(cells: list[NotebookNode], allowed: dict[str, frozenset[str]]) -> list[str]:
    """Flags for what a student's own cells import or replace.

    Args:
        cells: code cells that the student may write in.
        allowed: modules that an exercise's text asks for, by exercise id.
    """
    flags: list[str] = []
    for cell in cells:
        exercise = tag_of(str(cell.metadata.get("nbgrader", {}).get("grade_id", ""))).split("-")[0]
        where = f"the answer to {exercise}" if exercise else "a cell of the student's own"
        try:
            tree = ast.parse("\n".join(x for x in cell.source.splitlines() if not x.lstrip().startswith(("%", "!"))))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        for name in sorted(_imports(tree)):
            top = name.split(".")[0]
            if top in _SUSPECT and top not in allowed.get(exercise, frozenset()):
                flags.append(f"{where} imports {top}, which {_SUSPECT[top]}")
            elif top in _HARNESS and name != "autograder.student":
                flags.append(f"{where} imports {name}, a part of the notebook's own machinery")
        if not CHECK_CALL.search(cell.source):
            for name in sorted(_defines(tree) & _PATCHED):
                flags.append(f"{where} redefines {name}")
    return list(dict.fromkeys(flags))


def _imports(tree: ast.AST) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "__import__":
            found |= {a.value for a in node.args[:1] if isinstance(a, ast.Constant) and isinstance(a.value, str)}
    return found


def _defines(tree: ast.Module) -> set[str]:
    found: set[str] = set()
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.Assign):
            found |= {t.id for t in node.targets if isinstance(t, ast.Name)}
    return found
