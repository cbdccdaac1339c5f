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
    **dict.fromkeys(("http", "requests", "socket", "urllib"), "opens connections"),
    **dict.fromkeys(("multiprocessing", "subprocess"), "starts programs"),
    **dict.fromkeys(("glob", "shutil"), "looks for files or changes them"),
    **dict.fromkeys(("nbgrader", "sqlalchemy", "sqlite3"), "opens databases, such as a gradebook"),
}
_HARNESS = ("autograder", "IPython")
_FOR_STUDENTS = ("autograder.student", "IPython.display")
# What a cell may change without being asked why: settings of plots.
_SETTINGS = {"matplotlib", "plt"}
# Modules that the lesson itself imports, so that a cell of the student's can change them without importing them.
_AT_HAND = {name: name for name in ("builtins", "gc", "json", "math", "np", "os", "sys", "time", "torch")}
_MOST_FLAGS = 20
LONGEST = 100_000  # characters of a cell that are parsed here; a person writes less
ALTOGETHER = 300_000  # characters of a notebook
# Attributes that lead from one piece of code to another's inside.
_INSIDES = {
    "__builtins__", "__closure__", "__code__", "__globals__", "__subclasses__", "_getframe", "f_back", "f_globals",
    "f_locals", "tb_frame",
}  # fmt: skip
_PATCHED = {"check", "grade", "display", "print", "abs"}


def look(cells: list[NotebookNode], allowed: dict[str, frozenset[str]]) -> list[str]:
    """Flags for what a student's own cells import or replace.

    Args:
        cells: code cells that the student may write in.
        allowed: modules that an exercise's text asks for, by exercise id.
    """
    flags: list[str] = []
    left = ALTOGETHER
    for cell in cells:
        exercise = tag_of(str(cell.metadata.get("nbgrader", {}).get("grade_id", ""))).split("-")[0]
        where = f"the answer to {exercise}" if exercise else "a cell of the student's own"
        if len(cell.source) > LONGEST:
            flags.append(f"{where} is {len(cell.source):,} characters long and was not looked at")
            continue
        left -= len(cell.source)
        if left < 0:
            flags.append(f"the student's code is longer than {ALTOGETHER:,} characters; the rest was not looked at")
            break
        try:
            tree = ast.parse("\n".join(x for x in cell.source.splitlines() if not x.lstrip().startswith(("%", "!"))))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        nodes = list(ast.walk(tree))
        for name in sorted(_imports(nodes)):
            top = name.split(".")[0]
            if top in _SUSPECT and top not in allowed.get(exercise, frozenset()):
                flags.append(f"{where} imports {top}, which {_SUSPECT[top]}")
            elif top in _HARNESS and name not in _FOR_STUDENTS:
                flags.append(f"{where} imports {name}, a part of the notebook's own machinery")
        insides = {node.attr for node in nodes if isinstance(node, ast.Attribute)} & _INSIDES
        if insides:
            flags.append(f"{where} uses {', '.join(sorted(insides))}: a way into other code")
        flags += [f"{where} changes {name}, which other code relies on" for name in sorted(_changes(nodes))]
        if not CHECK_CALL.search(cell.source):
            for name in sorted(_defines(tree) & _PATCHED):
                flags.append(f"{where} redefines {name}")
    flags = list(dict.fromkeys(flags))
    more = len(flags) - _MOST_FLAGS
    return [*flags[:_MOST_FLAGS], f"and {more} more of this kind"] if more > 0 else flags


def _changes(nodes: list[ast.AST]) -> set[str]:
    """Attributes of modules, and entries of sys.modules, that are assigned to, set or deleted."""
    modules = dict(_AT_HAND)
    for node in nodes:
        if isinstance(node, ast.Import):
            modules |= {
                (a.asname or a.name.split(".")[0]): (a.name if a.asname else a.name.split(".")[0]) for a in node.names
            }
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
    found: set[str] = set()
    for node in nodes:
        targets: list[ast.expr] = []
        if isinstance(node, (ast.Assign, ast.Delete)):
            targets = node.targets
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
            targets = [node.target]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("setattr", "delattr"):
            names = [str(a.value) for a in node.args[1:2] if isinstance(a, ast.Constant)]
            targets = [ast.Attribute(node.args[0], name) for name in names]
        for target in targets:
            name = _dotted(target, modules)
            if name and name.split(".")[0] not in _SETTINGS:
                found.add(name[:100])
    return found


def _dotted(target: ast.expr, modules: dict[str, str]) -> str:
    """ "json.dumps" for that attribute of an imported module; "" for anything else."""
    if isinstance(target, ast.Subscript):
        whole = _dotted(target.value, modules)
        return whole if whole == "sys.modules" else ""
    parts: list[str] = []
    while isinstance(target, ast.Attribute):
        parts.append(target.attr)
        target = target.value
    if not parts or not isinstance(target, ast.Name) or target.id not in modules:
        return ""
    return ".".join([modules[target.id], *reversed(parts)])


def _imports(nodes: list[ast.AST]) -> set[str]:
    found: set[str] = set()
    for node in nodes:
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
