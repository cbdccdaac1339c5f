"""Systematic mutants of a right answer: one small change each, as edits of its text."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

Edit = tuple[ast.AST, str]  # a node and the text that takes its place

_OPERATORS: dict[type[ast.operator], tuple[str, ...]] = {
    ast.Add: ("-", "*"),
    ast.Sub: ("+",),
    ast.Mult: ("+", "/"),
    ast.Div: ("*",),
    ast.FloorDiv: ("/", "%"),
    ast.Mod: ("//",),
    ast.Pow: ("*",),
    ast.BitOr: ("&",),
}
_COMPARISONS: dict[type[ast.cmpop], tuple[str, ...]] = {
    ast.Lt: ("<=", ">"),
    ast.LtE: ("<", ">="),
    ast.Gt: (">=", "<"),
    ast.GtE: (">", "<="),
    ast.Eq: ("!=",),
    ast.NotEq: ("==",),
    ast.Is: ("is not",),
    ast.IsNot: ("is",),
    ast.In: ("not in",),
    ast.NotIn: ("in",),
}
_INSTEAD = {
    "max": "min", "min": "max", "sum": "max", "mean": "sum", "sorted": "list", "reversed": "list", "zeros_like": "ones_like",
    "zeros": "ones", "exp": "log", "log": "exp", "tanh": "exp", "softmax": "tanh", "float": "bool", "any": "all", "all": "any",
    "array_equal": "allclose", "allclose": "array_equal",
}  # fmt: skip
_LEFT_OUT = (ast.Expr, ast.AugAssign, ast.If, ast.For, ast.Raise, ast.Continue, ast.Break, ast.Nonlocal)
_ATTRIBUTES = {"data": "grad", "grad": "data", "value": "tangent", "tangent": "value"}


@dataclass(frozen=True)
class Mutant:
    """A changed answer. `change` says what was changed, without line numbers: "value_mul: old line => new line"."""

    change: str
    text: str


def mutants(text: str) -> list[Mutant]:
    """All mutants of `text` that parse and are another program, in the order of the text."""
    data = text.encode()
    starts = [0]
    for line in data.split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)
    tree = ast.parse(text)
    original = ast.dump(tree)
    found: dict[str, Mutant] = {}
    seen = {original}
    for scope, node, new in _edits(tree):
        begin = starts[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]
        end = starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]
        changed = (data[:begin] + new.encode() + data[end:]).decode()
        try:
            dump = ast.dump(ast.parse(changed))
        except SyntaxError:
            continue
        if dump in seen:
            continue
        seen.add(dump)
        # the lines around the edit, before and after
        first, last = data.rfind(b"\n", 0, begin) + 1, data.find(b"\n", end) % (len(data) + 1)
        before, after = (_flat(x) for x in (data[first:last], data[first:begin] + new.encode() + data[end:last]))
        label = f"{scope}: {before} => {after}"
        key, n = label, 2
        while key in found:
            key, n = f"{label} #{n}", n + 1
        found[key] = Mutant(key, changed)
    return list(found.values())


def _flat(lines: bytes) -> str:
    """Lines as one, without their comments."""
    return " ".join(" ".join(line.split("  # ")[0] for line in lines.decode().split("\n")).split())


def _edits(tree: ast.Module) -> Iterator[tuple[str, ast.AST, str]]:
    for top in tree.body:
        scope = getattr(top, "name", "")
        for node, new in _within(top, []):
            yield scope, node, new


def _within(node: ast.AST, arguments: list[str]) -> Iterator[Edit]:
    """The edits of `node` and of all in it. `arguments` are those of the innermost function."""
    if isinstance(node, ast.FunctionDef):  # its signature and its docstring are given, not the learner's
        own = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
        arguments = own if len(own) > 1 else arguments
        body = node.body[1:] if ast.get_docstring(node) is not None and len(node.body) > 1 else node.body
        yield from _statements(body)
        for statement in body:
            yield from _within(statement, arguments)
        return
    yield from _of(node, arguments)
    if isinstance(node, ast.AnnAssign):
        children: list[ast.AST] = [node.value] if node.value else []
    else:
        children = list(ast.iter_child_nodes(node))
    for name in ("body", "orelse"):
        block = getattr(node, name, None)
        if isinstance(block, list):
            yield from _statements(block)
    for child in children:
        if not (isinstance(child, ast.expr_context) or _is_store(child)):
            yield from _within(child, arguments)


def _is_store(node: ast.AST) -> bool:
    return isinstance(node, (ast.Name, ast.Tuple)) and isinstance(getattr(node, "ctx", None), ast.Store)


def _statements(block: list[ast.stmt]) -> Iterator[Edit]:
    """Statements left out."""
    for statement in block:
        into_something = isinstance(statement, ast.Assign) and not isinstance(
            statement.targets[0], (ast.Name, ast.Tuple)
        )
        if into_something or isinstance(statement, _LEFT_OUT):
            yield statement, "pass"
        elif isinstance(statement, ast.With):
            indent = " " * (statement.col_offset + 4)
            yield (
                statement,
                "if True:\n"
                + "\n".join(indent + line for inner in statement.body for line in ast.unparse(inner).split("\n")),
            )


def _bare(node: ast.AST) -> str:
    """`node` as text that keeps together wherever it stands."""
    text = ast.unparse(node)
    whole = isinstance(node, (ast.Name, ast.Attribute, ast.Constant, ast.Call, ast.Subscript, ast.List, ast.Dict))
    return text if whole else f"({text})"


def _of(node: ast.AST, arguments: list[str]) -> Iterator[Edit]:
    """The edits of one node itself."""
    match node:
        case ast.BinOp(left=left, op=op, right=right):
            a, b = _bare(left), _bare(right)
            for symbol in _OPERATORS.get(type(op), ()):
                yield node, f"({a} {symbol} {b})"
            yield node, a
            yield node, b
            if isinstance(op, (ast.Sub, ast.Div, ast.Pow, ast.FloorDiv, ast.MatMult)):
                yield node, f"({_swapped(node)})"
            if isinstance(op, ast.MatMult):
                yield left, f"{a}.T"
                yield right, f"{b}.T"
        case ast.AugAssign(target=target, op=op, value=value):
            t, v = ast.unparse(target), ast.unparse(value)
            yield node, f"{t} = {v}"
            yield node, f"{t} {'+' if isinstance(op, ast.Sub) else '-'}= {v}"
        case ast.UnaryOp(op=ast.USub() | ast.Not(), operand=operand):
            yield node, _bare(operand)
        case ast.Constant(value=bool(value)):
            yield node, str(not value)
        case ast.Constant(value=int() | float() as value):
            for other in (value + 1, value - 1, 2 * value, -value) if value else (1, -1):
                yield node, f"({other!r})" if other < 0 else repr(other)
        case ast.Constant(value=str(value)):
            yield node, repr(value + "x")
        case ast.Compare(ops=[op], left=left, comparators=[right]):
            for symbol in _COMPARISONS.get(type(op), ()):
                yield node, f"({_bare(left)} {symbol} {_bare(right)})"
        case ast.BoolOp(op=op, values=values):
            symbol = "or" if isinstance(op, ast.And) else "and"
            yield node, f"({f' {symbol} '.join(map(_bare, values))})"
            for left_out in values:
                yield node, f"({f' {_word(op)} '.join(_bare(v) for v in values if v is not left_out)})"
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield node, _bare(body)
            yield node, _bare(orelse)
            yield node, f"({_bare(orelse)} if {_bare(test)} else {_bare(body)})"
        case ast.If(test=test) | ast.While(test=test):
            yield test, "True"
            yield test, "False"
            yield test, f"not {_bare(test)}"
        case ast.Return(value=value) if value is not None:
            yield node, "return None"
        case ast.Tuple(elts=elements, ctx=ast.Load()) | ast.List(elts=elements, ctx=ast.Load()) if len(elements) > 1:
            for i in range(len(elements) - 1):
                yield from _exchanged(elements[i], elements[i + 1], node)
        case ast.Tuple(elts=[_], ctx=ast.Load()):
            yield node, "()"
        case ast.Dict(keys=keys, values=values):
            for i in range(len(keys)):
                rest = copy.copy(node)
                rest.keys, rest.values = keys[:i] + keys[i + 1 :], values[:i] + values[i + 1 :]
                yield node, ast.unparse(rest)
            for i in range(len(keys) - 1):
                yield from _exchanged(values[i], values[i + 1], node)
        case ast.Call():
            yield from _calls(node)
        case ast.Subscript():
            yield from _subscripts(node)
        case ast.Attribute(value=value, attr=attr):
            if attr == "T":
                yield node, _bare(value)
            elif attr in _ATTRIBUTES and isinstance(node.ctx, ast.Load):
                yield node, f"{ast.unparse(value)}.{_ATTRIBUTES[attr]}"
        case ast.Name(id=name, ctx=ast.Load()) if name in arguments:
            yield node, arguments[(arguments.index(name) + 1) % len(arguments)]
        case ast.comprehension(ifs=conditions):
            for condition in conditions:
                yield condition, "True"


def _calls(node: ast.Call) -> Iterator[Edit]:
    """Another function, no function, arguments swapped or left out."""
    arguments = node.args
    if isinstance(node.func, ast.Name) and node.func.id in _INSTEAD:
        yield node.func, _INSTEAD[node.func.id]
    elif isinstance(node.func, ast.Attribute):
        if node.func.attr in _INSTEAD:
            yield node.func, f"{ast.unparse(node.func.value)}.{_INSTEAD[node.func.attr]}"
        yield node, _bare(node.func.value)
    if arguments and not isinstance(arguments[0], (ast.Starred, ast.GeneratorExp)):
        yield node, _bare(arguments[0])
    for i in range(len(arguments) - 1):
        yield from _exchanged(arguments[i], arguments[i + 1], node)
    for left_out in (*arguments[1:], *node.keywords):
        rest = copy.copy(node)
        rest.args = [a for a in arguments if a is not left_out]
        rest.keywords = [k for k in node.keywords if k is not left_out]
        yield node, ast.unparse(rest)


def _subscripts(node: ast.Subscript) -> Iterator[Edit]:
    """Bounds of a slice moved, left out and turned round; an index that is one too large or too small."""
    value = ast.unparse(node.value)
    match node.slice:
        case ast.Slice(lower=lower, upper=upper, step=None):
            low, high = (ast.unparse(x) if x else "" for x in (lower, upper))
            if isinstance(node.ctx, ast.Load):
                yield node, f"{value}[{high}:{low}]"
            if lower:
                yield node, f"{value}[:{high}]"
                yield node, f"{value}[{low} + 1:{high}]"
            if upper:
                yield node, f"{value}[{low}:]"
                yield node, f"{value}[{low}:{high} - 1]"
        case ast.Name() | ast.BinOp() as index:
            yield node, f"{value}[{ast.unparse(index)} - 1]"


def _exchanged(one: ast.expr, other: ast.expr, whole: ast.AST) -> Iterator[Edit]:
    """`whole` with two of its parts in each other's place."""
    if ast.dump(one) == ast.dump(other):
        return

    class Exchange(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            return other if node is one else one if node is other else super().generic_visit(node)

    yield whole, ast.unparse(Exchange().visit(_shallow(whole)))


def _shallow(node: ast.AST) -> ast.AST:
    """A copy of `node` with the same children in lists of its own."""
    twin = copy.copy(node)
    for name, value in ast.iter_fields(node):
        if isinstance(value, list):
            setattr(twin, name, list(value))
    return twin


def _swapped(node: ast.BinOp) -> str:
    return f"{_bare(node.right)} {_symbol(node.op)} {_bare(node.left)}"


def _symbol(op: ast.operator) -> str:
    return {ast.Sub: "-", ast.Div: "/", ast.Pow: "**", ast.FloorDiv: "//", ast.MatMult: "@"}[type(op)]


def _word(op: ast.boolop) -> str:
    return "and" if isinstance(op, ast.And) else "or"
