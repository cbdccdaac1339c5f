"""How evidence is taken from any engine: build an expression, let gradients flow, read what arrived.

Nothing here asks for more than `data`, `grad` and operators. Gradients are taken in two ways, and both are evidence:
"driven" fires the nodes' own `_backward` along their own parents, in a right order; "own" calls the engine's own
`backward()`. Nodes are told apart by identity; they need not be hashable.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from autograder.evidence import Missing, NotANumber, number

Graph = Mapping[str, Sequence[Any]]  # name: [op, parents, n]; parents stand before their children
Numbers = dict[str, float]

PARENT_NAMES = (
    "_parents", "_prev", "parents", "prev", "_children", "children", "_inputs", "inputs", "_deps", "_args",
)  # fmt: skip

_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
_METHOD = {"+": "add", "-": "sub", "*": "mul", "/": "truediv", "neg": "neg", "pow": "pow"}


class NotDrivable(Exception):
    """This engine keeps its rules where only its own backward can reach them."""


def class_named(x: Any, name: str = "Value") -> Any:
    """`x`, if it can be called to make a value."""
    if not callable(x):
        raise Missing(f"{name} is {short(x)}, not a class; run the cell that defines {name} again")
    return x


def function_named(x: Any, name: str) -> Any:
    if not callable(x):
        raise Missing(f"{name} is {short(x)}, not a function; run the cell that defines {name} again")
    return x


def short(x: Any) -> str:
    """`x` and its type in a few words; whatever its `__repr__` does."""
    try:
        text = repr(x)
    except Exception:
        text = "an object"
    return f"{text[:60]} ({type(x).__name__})"


def not_a(kind: str, found: Any, function: str) -> str:
    """The sentence about an answer that is not `kind`; most often a return is missing."""
    if found is None:
        return f"{function} returned None, not {kind}; does every way through it end in return?"
    return f"{function} returned {short(found)}, not {kind}"


# ---- building -------------------------------------------------------------------------------------------------------


def build(Value: Any, graph: Graph, inputs: Mapping[str, float]) -> dict[str, Any]:
    """Every node of `graph` as an object of the student's engine (plain numbers stay numbers)."""
    objects: dict[str, Any] = {}
    for name, (op, parents, n) in graph.items():
        if op == "input":
            objects[name] = Value(float(inputs[name]))
        elif op == "number":
            objects[name] = int(n) if n == int(n) else n
        else:
            objects[name] = apply(op, [objects[p] for p in parents], n, name)
    return objects


def apply(op: str, operands: Sequence[Any], n: float, text: str) -> Any:
    """The result of one operation on the student's objects."""
    if op in _BINARY:
        result = _or_missing(lambda: _BINARY[op](*operands), op, operands, text)
    elif op == "neg":
        result = _or_missing(lambda: -operands[0], op, operands, text)
    elif op == "pow":
        exponent = int(n) if n == int(n) else n
        result = _or_missing(lambda: operands[0] ** exponent, op, operands, text)
    else:
        method = getattr(operands[0], op, None)
        if method is None:
            raise Missing(f"{text} is not possible: your class {type(operands[0]).__name__} has no method {op}")
        result = method()
    if result is None or result is NotImplemented:
        raise NotANumber(f"{text} gave {result}; does your function return the new Value?")
    return result


def _or_missing(compute: Callable[[], Any], op: str, operands: Sequence[Any], text: str) -> Any:
    """What `compute` returns; a TypeError that Python itself raised, for want of an operator, becomes Missing."""
    try:
        return compute()
    except TypeError as error:
        inner = error.__traceback__
        depth = 0
        while inner is not None:
            depth, inner = depth + 1, inner.tb_next
        if depth > 2:  # this frame, the lambda, and then the student's code
            raise
        plain = isinstance(operands[0], (int, float))
        wanted = f"__{'r' if plain else ''}{_METHOD[op]}__"
        owner = type(operands[-1] if plain else operands[0]).__name__
        raise Missing(
            f"{text} is not possible yet: Python looks for the method {wanted} of your class {owner}"
        ) from None


# ---- reading --------------------------------------------------------------------------------------------------------


def data_of(x: Any, text: str = "the result") -> float:
    if isinstance(x, (int, float)):
        return float(x)
    if not hasattr(x, "data"):
        raise Missing(f"{text} is {short(x)} and has no attribute data")
    found = number(x.data, f"data of {text}")
    if found is None:
        raise NotANumber(f"data of {text} is None")
    return found


def grad_of(x: Any, name: str) -> float:
    """The gradient of `x` as a float; None counts as nothing yet, that is 0."""
    if not hasattr(x, "grad"):
        raise Missing(f"{short(x)} has no attribute grad")
    grad = x.grad
    if is_node(grad):  # engines that differentiate twice keep gradients as nodes
        grad = grad.data
    found = number(grad, f"grad of {name}")
    return 0.0 if found is None else found


def set_grad(x: Any, g: float) -> None:
    """Put `g` where the gradient of `x` stands, as the kind of number that stands there."""
    now: Any = getattr(x, "grad", None)
    if hasattr(now, "shape") and hasattr(now, "dtype"):
        now = now * 0
        x.grad = now + g
    else:
        x.grad = g


def is_node(x: Any) -> bool:
    """Is `x` a value of some engine? Arrays have data but no grad."""
    return hasattr(x, "data") and hasattr(x, "grad") and not hasattr(x, "dtype")


def parents_of(x: Any) -> list[Any] | None:
    """The parents that `x` itself records, one per slot where it keeps slots; None where it records none.

    Takes sets, tuples, lists and dicts, of nodes or of pairs (node, local derivative).
    """
    for name in PARENT_NAMES:
        found = getattr(x, name, None)
        if found is None or callable(found):
            continue
        if isinstance(found, (str, bytes)) or not isinstance(found, Iterable):
            continue
        parents: list[Any] = []
        for item in found:
            if is_node(item):
                parents.append(item)
            elif isinstance(item, (tuple, list)):
                parents += [part for part in item if is_node(part)]
        return parents
    return None


def keeps_parents_in_a_set(x: Any) -> bool:
    return any(isinstance(getattr(x, name, None), (set, frozenset)) for name in PARENT_NAMES)


def record_parents(objects: Mapping[str, Any], graph: Graph) -> None:
    """Give its parents to every node of `graph` that does not know them all: what 3.1 has marked is not marked again.

    A node that is its own parent, since an operation returned one of its operands, stays as it is: there is no order.
    """
    for name, (_, parents, _) in graph.items():
        node = objects[name]
        own = [objects[parent] for parent in parents if is_node(objects[parent])]
        if not own or not hasattr(node, "_parents") or any(parent is node for parent in own):
            continue
        known = [id(parent) for parent in parents_of(node) or ()]
        slots = {id(p) for p in own} if keeps_parents_in_a_set(node) else own
        if len(known) < len(slots) or not {id(p) for p in own} <= set(known):
            node._parents = tuple(own)


def children_first(root: Any) -> list[Any]:
    """Every node below `root`, each once, children before parents."""
    order: list[Any] = []
    met: set[int] = set()
    todo: list[tuple[Any, bool]] = [(root, False)]
    while todo:
        node, done = todo.pop()
        if done:
            order.append(node)
        elif id(node) not in met:
            met.add(id(node))
            parents = parents_of(node)
            if parents is None:
                raise NotDrivable
            todo.append((node, True))
            todo += [(parent, False) for parent in parents]
    return order[::-1]


# ---- letting gradients flow -----------------------------------------------------------------------------------------


def _takes_gradient(rule: Any) -> bool:
    """Does `_backward` ask for the node's adjoint (one argument without default), or for nothing?"""
    function = getattr(rule, "__func__", rule)
    code = getattr(function, "__code__", None)
    if code is None:
        return _signature_asks(rule)
    required = code.co_argcount - len(getattr(function, "__defaults__", None) or ())
    return required - (function is not rule) >= 1


def _signature_asks(rule: Any) -> bool:
    try:
        parameters = inspect.signature(rule).parameters.values()
    except (TypeError, ValueError):
        return False
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return any(p.kind in positional and p.default is p.empty for p in parameters)


def _fire(node: Any) -> None:
    rule = getattr(node, "_backward", None)
    if rule is None:
        return
    if not callable(rule):
        raise NotDrivable
    if _takes_gradient(rule):
        if node.grad is not None:
            rule(node.grad)
    else:
        rule()


def _drivable(root: Any) -> list[Any]:
    if not hasattr(root, "_backward"):
        raise NotDrivable
    return children_first(root)


def drive(root: Any, seed: float) -> None:
    """Fire every node below `root` once, children first, with `seed` as the root's adjoint."""
    order = _drivable(root)
    set_grad(root, seed)
    for node in order:
        _fire(node)


def drive_and_add(root: Any) -> dict[int, float]:
    """The adjoint of every node below `root` (by id) when the nodes' own messages are added up here.

    Tells a fault in how messages are added or ordered from a fault in the messages themselves.
    """
    order = _drivable(root)
    adjoints = {id(node): 0.0 for node in order}
    adjoints[id(root)] = 1.0
    for node in order:
        parents = {id(p): p for p in parents_of(node) or ()}
        for parent in parents.values():
            set_grad(parent, 0.0)
        set_grad(node, adjoints[id(node)])
        _fire(node)
        for key, parent in parents.items():
            adjoints[key] += grad_of(parent, "a parent")
    return adjoints


def plant(
    objects: Mapping[str, Any], graph: Graph, slopes: Mapping[str, Sequence[float]], seeded: str | None = None
) -> None:
    """Put the rule that sends `slopes`, one per slot, into every node of `graph` that they name.

    The node `seeded`, if one is named, sends what a gradient of 1 makes, whatever gradient it has. Nodes that do not
    know their parents get them.
    """
    if not all(hasattr(objects[name], "_backward") for name in slopes):
        raise NotDrivable
    record_parents(objects, graph)

    def rule_of(node: Any, sends: Sequence[tuple[Any, float]], one: bool) -> Callable[..., None]:
        def rule(*given: Any) -> None:
            g = 1.0 if one else number(given[0] if given else node.grad, "a gradient") or 0.0
            for parent, slope in sends:
                set_grad(parent, grad_of(parent, "a parent") + g * slope)

        return rule

    for name, own in slopes.items():
        sends = [(objects[parent], slope) for parent, slope in zip(graph[name][1], own, strict=True)]
        objects[name]._backward = rule_of(objects[name], sends, name == seeded)


def run_backward(root: Any) -> None:
    """The engine's own backward pass from `root`."""
    if not hasattr(root, "backward"):
        if isinstance(root, (int, float)):
            raise Missing(f"the result is the plain number {root}, so no gradient can flow back from it")
        raise Missing(f"your class {type(root).__name__} has no method backward")
    root.backward()


class Ways:
    """Evidence taken in two ways, where one suffices: errors count only if neither way works."""

    def __init__(self) -> None:
        self.found: dict[str, Any] = {}
        self.errors: dict[str, BaseException] = {}

    def take(self, way: str, how: Callable[[], Any]) -> None:
        try:
            self.found[way] = how()
        except Exception as error:
            self.errors[way] = error

    def result(self) -> dict[str, Any]:
        if self.found:
            return self.found
        driven, own = self.errors.get("driven"), self.errors.get("own")
        if driven is not None and not isinstance(driven, NotDrivable):
            raise driven
        assert own is not None
        raise own


def gradients(
    Value: Any,
    graph: Graph,
    sink: str,
    inputs: Mapping[str, float],
    *,
    upstream: float = 1.0,
    before: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    """{"driven": {input: grad}, "own": {input: grad}}, each where it can be had.

    `upstream` is the adjoint of the sink, `before` what the inputs' gradients hold already. The engine's own backward
    always starts from 1, so there the same numbers come from upstream·sink + Σ before·input.
    """
    before = before or {}
    ways = Ways()

    def read(objects: Mapping[str, Any]) -> Numbers:
        return {name: grad_of(objects[name], name) for name in inputs}

    def driven() -> Numbers:
        objects = build(Value, graph, inputs)
        for name, g in before.items():
            set_grad(objects[name], g)
        drive(objects[sink], upstream)
        return read(objects)

    def own(before_first: bool = False) -> Numbers:
        objects = build(Value, graph, inputs)
        total = objects[sink]
        if upstream != 1.0:
            total = total * Value(upstream)
        for name, g in before.items():
            term = objects[name] * Value(g)
            total = term + total if before_first else total + term
        run_backward(total)
        return read(objects)

    ways.take("driven", driven)
    ways.take("own", own)
    if before and "own" in ways.found:
        # Whoever fires last may overwrite: so both get a turn at being last.
        ways.take("own-swapped", lambda: own(before_first=True))
    return ways.result()


def count_messages(root: Any) -> int:
    """The messages that one call of the engine's own backward sends, counted by wrapping every `_backward`."""
    sent = 0

    def counting(rule: Any, slots: int) -> Callable[..., Any]:
        def fire(*args: Any) -> Any:
            nonlocal sent
            sent += slots
            return rule(*args)

        return fire

    for node in children_first(root):
        rule, parents = getattr(node, "_backward", None), parents_of(node)
        if rule is not None and parents:
            node._backward = counting(rule, len(parents))
    run_backward(root)
    return sent
