"""The trusted reference engine, and every engine fault of the course as a wrong function in the right place.

`make_engine()` is a right engine in the style of lesson 3: functions by name behind a class `Value`, a `_backward(g)`
that holds on to parents only (no reference cycle), an iterative topological order. `make_engine(value_mul=...)` puts
another function in the place of one of them; a `Fault` is such a set of replacements, with its name and what to say to
a learner who holds it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MethodType, SimpleNamespace
from typing import Any

Engine = SimpleNamespace  # Value, value_add … value_backward, topological_order, zero_grad
Replacement = Callable[[Engine], Any]  # made for an engine, so that wrong functions can call right ones
Overrides = Mapping[str, Replacement]


def _send_to_terms(parents: tuple[Any, Any], g: float) -> None:
    r, s = parents
    r.grad += g
    s.grad += g


def _send_to_factors(parents: tuple[Any, Any], g: float) -> None:
    r, s = parents
    r.grad += g * s.data
    s.grad += g * r.data


def make_engine(**overrides: Replacement) -> Engine:
    """An engine: the class `Value` and the functions behind it, by the names of lesson 3.

    `overrides` maps a function's name to a maker of another one. The names "reflected_sub" and "reflected_div" stand
    for what `number - Value` and `number / Value` do; None made for one of them takes that operator away.
    """
    engine = SimpleNamespace()

    # The rule of a node is a method bound to the tuple of its parents, and the node takes that very tuple for its
    # parents: three small objects a node, where cells would make it six. The garbage collector's time, most of all
    # that a forward pass takes, goes with their number and size.
    def value_add(r: Any, s: Any) -> Any:
        parents = (r, s)
        return Value(r.data + s.data, parents, MethodType(_send_to_terms, parents))

    def value_mul(r: Any, s: Any) -> Any:
        parents = (r, s)
        return Value(r.data * s.data, parents, MethodType(_send_to_factors, parents))

    def value_tanh(r: Any) -> Any:
        t = math.tanh(r.data)

        def backward(g: float) -> None:
            r.grad += g * (1.0 - t * t)

        return Value(t, (r,), backward)

    def value_exp(r: Any) -> Any:
        y = math.exp(r.data)

        def backward(g: float) -> None:
            r.grad += g * y

        return Value(y, (r,), backward)

    def value_log(r: Any) -> Any:
        def backward(g: float) -> None:
            r.grad += g / r.data

        return Value(math.log(r.data), (r,), backward)

    def value_relu(r: Any) -> Any:
        def backward(g: float) -> None:
            if r.data > 0.0:
                r.grad += g

        return Value(max(r.data, 0.0), (r,), backward)

    def value_pow(r: Any, n: float) -> Any:
        def backward(g: float) -> None:
            if n:
                r.grad += g * n * r.data ** (n - 1)

        return Value(r.data**n, (r,), backward)

    def value_neg(r: Any) -> Any:
        return engine.value_mul(r, Value(-1.0))

    def value_sub(r: Any, s: Any) -> Any:
        return engine.value_add(r, engine.value_neg(s))

    def value_div(r: Any, s: Any) -> Any:
        return engine.value_mul(r, engine.value_pow(s, -1))

    def topological_order(root: Any) -> list[Any]:
        order: list[Any] = []
        met: set[Any] = set()
        todo: list[Any] = [root]
        while todo:
            node = todo.pop()
            if node is None:  # below this mark lies a node whose parents are all in the list
                order.append(todo.pop())
            elif node not in met:
                met.add(node)
                todo += (node, None)
                for parent in node._parents:
                    if parent not in met:
                        if parent._parents:
                            todo.append(parent)
                        else:
                            met.add(parent)
                            order.append(parent)
        return order

    def value_backward(root: Any) -> None:
        firing = [node for node in engine.topological_order(root) if node._backward is not None]
        for node in firing:
            node.grad = 0.0
        root.grad = 1.0
        for node in reversed(firing):
            node._backward(node.grad)

    def zero_grad(values: Iterable[Any]) -> None:
        for value in values:
            value.grad = 0.0

    for function in (
        value_add, value_mul, value_tanh, value_exp, value_log, value_relu, value_pow, value_neg, value_sub, value_div,
        topological_order, value_backward, zero_grad,
    ):  # fmt: skip
        setattr(engine, function.__name__, function)
    for name, make in overrides.items():
        setattr(engine, name, make(engine))
    # Looked up here once: an operator is called for every node.
    add, mul, sub, div = engine.value_add, engine.value_mul, engine.value_sub, engine.value_div
    reflected_sub, reflected_div = getattr(engine, "reflected_sub", sub), getattr(engine, "reflected_div", div)

    class Value:
        __slots__ = ("_backward", "_parents", "data", "grad")

        def __init__(self, data: float, parents: Any = (), backward: Any = None) -> None:
            self.data, self.grad = data, 0.0
            self._parents, self._backward = parents, backward

        def __add__(self, other: Any) -> Any:
            return add(self, other if isinstance(other, Value) else Value(other))

        def __mul__(self, other: Any) -> Any:
            return mul(self, other if isinstance(other, Value) else Value(other))

        def __sub__(self, other: Any) -> Any:
            return sub(self, other if isinstance(other, Value) else Value(other))

        def __truediv__(self, other: Any) -> Any:
            return div(self, other if isinstance(other, Value) else Value(other))

        def __radd__(self, other: float) -> Any:
            return add(Value(other), self)

        def __rmul__(self, other: float) -> Any:
            return mul(Value(other), self)

        def __rsub__(self, other: float) -> Any:
            return reflected_sub(Value(other), self)

        def __rtruediv__(self, other: float) -> Any:
            return reflected_div(Value(other), self)

        def __pow__(self, n: float) -> Any:
            return engine.value_pow(self, n)

        def __neg__(self) -> Any:
            return engine.value_neg(self)

        def tanh(self) -> Any:
            return engine.value_tanh(self)

        def exp(self) -> Any:
            return engine.value_exp(self)

        def log(self) -> Any:
            return engine.value_log(self)

        def relu(self) -> Any:
            return engine.value_relu(self)

        def backward(self) -> None:
            engine.value_backward(self)

    for operator, function in (("__rsub__", reflected_sub), ("__rtruediv__", reflected_div)):
        if function is None:
            delattr(Value, operator)
    engine.Value = Value
    return engine


# ---- wrong local rules ----------------------------------------------------------------------------------------------

Send = Callable[[Any, float, float], None]  # (parent, upstream g, local derivative)


def add_up(parent: Any, g: float, slope: float) -> None:
    parent.grad += g * slope


def overwrite(parent: Any, g: float, slope: float) -> None:
    parent.grad = g * slope


def without_upstream(parent: Any, g: float, slope: float) -> None:
    parent.grad += slope


def add_upstream(parent: Any, g: float, slope: float) -> None:
    parent.grad += g + slope


def drop(parent: Any, g: float, slope: float) -> None:
    """What a closure over the wrong object does: nothing that its parents could see."""


def only_positive(parent: Any, g: float, slope: float) -> None:
    parent.grad += max(g, 0.0) * slope


# operation: (value, local derivatives from (x, y, n) with the inputs x and the output y)
RULES: dict[str, tuple[Callable[..., float], Callable[..., tuple[float, ...]]]] = {
    "add": (lambda x, n: x[0] + x[1], lambda x, y, n: (1.0, 1.0)),
    "mul": (lambda x, n: x[0] * x[1], lambda x, y, n: (x[1], x[0])),
    "tanh": (lambda x, n: math.tanh(x[0]), lambda x, y, n: (1.0 - y * y,)),
    "exp": (lambda x, n: math.exp(x[0]), lambda x, y, n: (y,)),
    "log": (lambda x, n: math.log(x[0]), lambda x, y, n: (1.0 / x[0],)),
    "relu": (lambda x, n: max(x[0], 0.0), lambda x, y, n: (1.0 if x[0] > 0 else 0.0,)),
    "pow": (lambda x, n: x[0] ** n, lambda x, y, n: (n * x[0] ** (n - 1) if n else 0.0,)),
    "neg": (lambda x, n: -x[0], lambda x, y, n: (-1.0,)),
    "sub": (lambda x, n: x[0] - x[1], lambda x, y, n: (1.0, -1.0)),
    "div": (lambda x, n: x[0] / x[1], lambda x, y, n: (1.0 / x[1], -x[0] / x[1] ** 2)),
}
PRIMITIVES = ("add", "mul", "tanh", "exp", "log", "relu", "pow")


def rule(
    operation: str,
    slopes: Callable[..., tuple[float, ...]] | None = None,
    send: Send = add_up,
    value: Callable[..., float] | None = None,
) -> Overrides:
    """One operation with other local derivatives, another way to send them, or another value."""
    right_value, right_slopes = RULES[operation]
    compute, differentiate = value or right_value, slopes or right_slopes

    def make(engine: Engine) -> Any:
        def apply(*args: Any) -> Any:
            n = args[1] if operation == "pow" else None
            parents = args[:1] if operation == "pow" else args
            x = tuple(p.data for p in parents)
            y = compute(x, n)

            def backward(g: float) -> None:
                for parent, slope in zip(parents, differentiate(x, y, n), strict=True):
                    send(parent, g, slope)

            return engine.Value(y, tuple(parents), backward)

        return apply

    return {f"value_{operation}": make}


def rules(operations: Iterable[str], send: Send) -> Overrides:
    """Several operations that send their messages in another way."""
    return {name: make for operation in operations for name, make in rule(operation, send=send).items()}


def _sibling(engine: Engine) -> Any:
    def value_mul(r: Any, s: Any) -> Any:
        def backward(g: float) -> None:
            r.grad += g * s.grad
            s.grad += g * r.grad

        return engine.Value(r.data * s.data, (r, s), backward)

    return value_mul


def _slopes_by_parent(operation: str) -> Overrides:
    """Local derivatives kept in a dict from parent to number: the second slot of a - a replaces the first."""

    def make(engine: Engine) -> Any:
        compute, differentiate = RULES[operation]

        def apply(r: Any, s: Any) -> Any:
            x = (r.data, s.data)
            y = compute(x, None)
            slopes = {id(p): d for p, d in zip((r, s), differentiate(x, y, None), strict=True)}

            def backward(g: float) -> None:
                r.grad += g * slopes[id(r)]
                s.grad += g * slopes[id(s)]

            return engine.Value(y, (r, s), backward)

        return apply

    return {f"value_{operation}": make}


# Operations that go on with a raw number, so that one operand is no longer in the graph.
CUT: dict[str, Overrides] = {
    "neg": {"value_neg": lambda e: lambda r: e.Value(-r.data)},
    "sub": {"value_sub": lambda e: lambda r, s: e.value_add(r, e.Value(-s.data))},
    "div": {"value_div": lambda e: lambda r, s: e.value_mul(r, e.Value(1.0 / s.data))},
}


def _forgets_parents(operations: Iterable[str]) -> Overrides:
    def make(name: str, engine: Engine) -> Any:
        right = getattr(engine, name)

        def apply(*args: Any) -> Any:
            out = right(*args)
            out._parents = ()
            return out

        return apply

    return {f"value_{op}": lambda engine, name=f"value_{op}": make(name, engine) for op in operations}  # type: ignore[misc]


# ---- wrong backward passes ------------------------------------------------------------------------------------------


def _fire(node: Any) -> None:
    if node._backward is not None:
        node._backward(node.grad)


def _every_path(engine: Engine) -> Any:
    def visit(node: Any) -> None:
        _fire(node)
        for parent in node._parents:
            visit(parent)

    def value_backward(root: Any) -> None:
        root.grad = 1.0
        visit(root)

    return value_backward


def _resends(engine: Engine) -> Any:
    """Each message is passed on as soon as it arrives, but together with all that had arrived before."""

    def visit(node: Any) -> None:
        if node._backward is None:
            return
        before = [p.grad for p in node._parents]
        node._backward(node.grad)
        # Undo, then deliver slot by slot, so that parents react to each message at once.
        total = {id(p): p.grad - b for p, b in zip(node._parents, before, strict=True)}
        slots: dict[int, int] = {}
        for p in node._parents:
            slots[id(p)] = slots.get(id(p), 0) + 1
        for p, b in zip(node._parents, before, strict=True):
            p.grad = b
        for p in node._parents:
            p.grad += total[id(p)] / slots[id(p)]
            visit(p)

    def value_backward(root: Any) -> None:
        root.grad = 1.0
        visit(root)

    return value_backward


def _depth_first_once(engine: Engine) -> Any:
    def visit(node: Any, met: set[int]) -> None:
        met.add(id(node))
        _fire(node)
        for parent in node._parents:
            if id(parent) not in met:
                visit(parent, met)

    def value_backward(root: Any) -> None:
        root.grad = 1.0
        visit(root, set())

    return value_backward


def _level_order(engine: Engine) -> Any:
    def value_backward(root: Any) -> None:
        root.grad = 1.0
        queue, met = [root], {id(root)}
        for node in queue:
            _fire(node)
            for parent in node._parents:
                if id(parent) not in met:
                    met.add(id(parent))
                    queue.append(parent)

    return value_backward


def _forward_order(engine: Engine) -> Any:
    def value_backward(root: Any) -> None:
        root.grad = 1.0
        for node in engine.topological_order(root):
            _fire(node)

    return value_backward


def _one_level(engine: Engine) -> Any:
    def value_backward(root: Any) -> None:
        root.grad = 1.0
        _fire(root)

    return value_backward


def _seeded(seed: Callable[[Any], float | None], clear: bool = True) -> Overrides:
    def make(engine: Engine) -> Any:
        def value_backward(root: Any) -> None:
            order = engine.topological_order(root)
            if clear:
                for node in order:
                    if node._backward is not None:
                        node.grad = 0.0
            first = seed(root)
            if first is not None:
                root.grad = first
            for node in reversed(order):
                _fire(node)

        return value_backward

    return {"value_backward": make}


def _by_value(engine: Engine) -> Any:
    def topological_order(root: Any) -> list[Any]:
        order: list[Any] = []
        met: set[float] = set()

        def visit(node: Any) -> None:
            if node.data not in met:
                met.add(node.data)
                for parent in node._parents:
                    visit(parent)
                order.append(node)

        visit(root)
        return order

    return topological_order


def _adds_seed(engine: Engine) -> Any:
    def value_backward(root: Any) -> None:
        order = engine.topological_order(root)
        for node in order:
            if node._backward is not None and node is not root:
                node.grad = 0.0
        root.grad += 1.0
        for node in reversed(order):
            _fire(node)

    return value_backward


def _clears_all(engine: Engine) -> Any:
    def value_backward(root: Any) -> None:
        order = engine.topological_order(root)
        for node in order:
            node.grad = 0.0
        root.grad = 1.0
        for node in reversed(order):
            _fire(node)

    return value_backward


def _naive(engine: Engine) -> Any:
    def value_backward(root: Any) -> None:
        root.grad = 1.0
        for node in reversed(engine.topological_order(root)):
            _fire(node)

    return value_backward


def _first_parent_first(engine: Engine) -> Any:
    def topological_order(root: Any) -> list[Any]:
        order: list[Any] = []
        met: set[int] = set()

        def visit(node: Any) -> None:
            if id(node) not in met:
                met.add(id(node))
                for parent in node._parents:
                    visit(parent)
                order.append(node)

        visit(root)
        return order

    return topological_order


def in_both_orders(*variants: Overrides) -> tuple[Overrides, ...]:
    """Faults whose result depends on which of two valid orders is taken, in the two that engines usually take."""
    return (*variants, *({**variant, "topological_order": _first_parent_first} for variant in variants))


# ---- the table ------------------------------------------------------------------------------------------------------

MESSAGES, VALUES, RULE, ORDER, ALGORITHM, CLEARING = (
    ("Messages along edges", "Messages-along-edges"),
    ("A value that remembers", "A-value-that-remembers"),
    ("One rule beside each operation", "One-rule-beside-each-operation"),
    ("Whoever fires early loses a message", "Whoever-fires-early-loses-a-message"),
    ("Algorithm 3.1", "Algorithm-3.1"),
    ("Two kinds of accumulation", "Two-kinds-of-accumulation"),
)


@dataclass(frozen=True)
class Fault:
    """A wrong rule of an engine.

    `says` speaks to a learner who holds it; `sign` is how it shows, for the list of exercise 3.12. `variants` are the
    forms that it takes, each a set of replacements. `level` is how hard it is to find from outside (1 to 3), 0 where
    it cannot be told by operations and backward passes.
    """

    name: str
    says: str
    sign: str
    variants: tuple[Overrides, ...]
    reread: tuple[str, str] = RULE
    level: int = 1

    def engine(self, variant: int = 0) -> Engine:
        """An engine that has this fault. Engines keep no state, so one of each is enough."""
        return _engine_with(self.name, variant)


@cache
def _engine_with(name: str, variant: int) -> Engine:
    return make_engine(**fault(name).variants[variant])


FAULTS: tuple[Fault, ...] = (
    Fault(
        "overwrites-gradient",
        "You overwrote a gradient: a node that is used twice gets two messages, and both must be added to what is "
        "already there.",
        "a message replaces what the parent had, in every operation",
        in_both_orders(
            rules(PRIMITIVES, overwrite), rules(("add", "mul"), overwrite), rules(PRIMITIVES[2:], overwrite)
        ),
        MESSAGES,
        2,
    ),
    Fault(
        "overwrites-in-one-operation",
        "One operation overwrites a gradient where the others add: its message replaces what other children had sent "
        "to the same parent.",
        "a message replaces what the parent had, in a single operation",
        in_both_orders(*(rule(op, send=overwrite) for op in (*PRIMITIVES, "neg", "sub", "div"))),
        MESSAGES,
        2,
    ),
    Fault(
        "swaps-add-and-multiply",
        "The rules of + and * are exchanged: a sum hands its gradient on unchanged, a product scales it.",
        "+ has the backward rule of *, and * that of +",
        ({**rule("add", lambda x, y, n: (x[1], x[0])), **rule("mul", lambda x, y, n: (1.0, 1.0))},),
        VALUES,
    ),
    Fault(
        "multiplies-like-add",
        "Your product hands its gradient on unchanged, as a sum does. How much does a*b move when a moves a little?",
        "* has the backward rule of +",
        (rule("mul", lambda x, y, n: (1.0, 1.0)),),
        VALUES,
    ),
    Fault(
        "adds-like-multiply",
        "Your sum scales its gradient by the other operand, as a product does. How much does a+b move when a moves a "
        "little?",
        "+ has the backward rule of *",
        (rule("add", lambda x, y, n: (x[1], x[0])),),
        VALUES,
    ),
    Fault(
        "wrong-closure-target",
        "Nothing arrives: the backward rule runs, but what it changes is not the gradient of a parent. On which "
        "object, and on which attribute, does it write?",
        "an operation sends its message nowhere",
        (
            *(rule(op, send=drop) for op in PRIMITIVES),
            rules(("add", "mul"), drop),
            rules(PRIMITIVES[2:], drop),
            rules(PRIMITIVES, drop),
        ),
        VALUES,
    ),
    Fault(
        "ignores-upstream",
        "The local derivative is right, but it is not multiplied by the gradient that arrives from above: right at the "
        "root, wrong everywhere below.",
        "messages are local derivatives alone, without the gradient from above",
        (
            rules(PRIMITIVES, without_upstream),
            rules(("add", "mul"), without_upstream),
            rules(PRIMITIVES[2:], without_upstream),
            *(rule(op, send=without_upstream) for op in PRIMITIVES),
        ),
        RULE,
        2,
    ),
    Fault(
        "adds-instead-of-multiplies",
        "You added the gradient from above to the local derivative. Along a path the chain rule multiplies; it adds "
        "only across paths.",
        "messages are gradient from above plus local derivative",
        (
            rules(PRIMITIVES, add_upstream),
            rules(("add", "mul"), add_upstream),
            rules(PRIMITIVES[2:], add_upstream),
            *(rule(op, send=add_upstream) for op in PRIMITIVES),
        ),
        RULE,
    ),
    Fault(
        "uses-sibling-gradient",
        "Your product multiplies by the other operand's gradient where its value belongs (grad for data).",
        "* scales by the other operand's gradient",
        in_both_orders({"value_mul": _sibling}),
        VALUES,
    ),
    Fault(
        "uses-own-data",
        "Your product scales each operand's message by that operand's own value. Which value stays still while this "
        "one moves?",
        "* scales by the operand's own value",
        (rule("mul", lambda x, y, n: (x[0], x[1])),),
        VALUES,
    ),
    Fault(
        "uses-output-data",
        "Your product scales its messages by the product itself.",
        "* scales by its own result",
        (rule("mul", lambda x, y, n: (y, y)),),
        VALUES,
    ),
    Fault(
        "parents-not-recorded",
        "The new Value does not know what it was computed from: without its parents nothing further down can be "
        "reached.",
        "a result does not record its parents",
        (
            _forgets_parents(PRIMITIVES),
            _forgets_parents(("add", "mul")),
            _forgets_parents(("add",)),
            _forgets_parents(("mul",)),
        ),
        VALUES,
        0,
    ),
    Fault(
        "tanh-from-input",
        "Your slope of tanh is made from its input. The rule is written in terms of another number, which you have already.",
        "tanh uses its input where its output belongs",
        (rule("tanh", lambda x, y, n: (1.0 - x[0] * x[0],)),),
        RULE,
        1,
    ),
    Fault(
        "tanh-one-minus",
        "Your slope of tanh is one minus its output. Where the output is negative that is more than 1, and tanh is never that "
        "steep.",
        "tanh has the slope 1 − t",
        (rule("tanh", lambda x, y, n: (1.0 - y,)),),
        RULE,
        1,
    ),
    Fault(
        "tanh-one-plus",
        "Your slope of tanh is larger than one, and tanh is nowhere steeper than at 0, where its slope is one. Look at "
        "the sign.",
        "tanh has the slope 1 + t²",
        (rule("tanh", lambda x, y, n: (1.0 + y * y,)),),
        RULE,
        1,
    ),
    Fault(
        "exp-is-input",
        "Your slope of exp is its input. At 0 that would make the curve flat, and it rises there.",
        "exp has its input as slope",
        (rule("exp", lambda x, y, n: (x[0],)),),
        RULE,
    ),
    Fault(
        "exp-power-rule",
        "You used the power rule on exp. There the base moves and the exponent stays; here it is the other way round.",
        "exp is differentiated like a power",
        (rule("exp", lambda x, y, n: (x[0] * math.exp(x[0] - 1.0),)),),
        RULE,
    ),
    Fault(
        "log-from-output",
        "Your slope of log is one over its output. At input 1 the output is 0: is the curve infinitely steep there?",
        "log has one over its output as slope",
        (rule("log", lambda x, y, n: (1.0 / y,)),),
        RULE,
    ),
    Fault(
        "log-is-input",
        "Your slope of log grows with its input. Does log become steeper or flatter to the right?",
        "log has its input as slope",
        (rule("log", lambda x, y, n: (x[0],)), rule("log", lambda x, y, n: (y,))),
        RULE,
    ),
    Fault(
        "relu-passes-value",
        "relu scales the gradient by its own output. Where it passes, it passes the gradient unchanged.",
        "relu scales by its output",
        (rule("relu", lambda x, y, n: (y,)), rule("relu", lambda x, y, n: (x[0],))),
        RULE,
    ),
    Fault(
        "relu-always-one",
        "relu passes the gradient where its input is negative. There its output does not move at all.",
        "relu passes the gradient everywhere",
        (rule("relu", lambda x, y, n: (1.0,)),),
        RULE,
    ),
    Fault(
        "relu-mask-from-gradient",
        "Your relu looks at the sign of the gradient from above. Only the sign of its input decides; a negative "
        "gradient may pass.",
        "relu lets only positive gradients pass",
        (
            rule("relu", send=only_positive),
            rule("relu", lambda x, y, n: (1.0,), send=only_positive),
        ),
        RULE,
        2,
    ),
    Fault(
        "relu-mask-inverted",
        "Your relu passes the gradient where its input is negative and stops it where it is positive.",
        "relu passes where it should stop",
        (rule("relu", lambda x, y, n: (1.0 if x[0] < 0 else 0.0,)),),
        RULE,
    ),
    Fault(
        "power-rule-missing-n",
        "In the power rule the exponent comes down as a factor; in yours it is missing.",
        "the power rule without the factor n",
        (rule("pow", lambda x, y, n: (x[0] ** (n - 1),)),),
        RULE,
    ),
    Fault(
        "power-rule-missing-minus-one",
        "In the power rule the exponent goes down by one; in yours it stays.",
        "the power rule with the exponent n",
        (rule("pow", lambda x, y, n: (n * x[0] ** n,)),),
        RULE,
    ),
    Fault(
        "power-rule-minus-outside",
        "In your power rule the one is taken from the power. It is taken from the exponent.",
        "the power rule with the 1 taken from the power",
        (rule("pow", lambda x, y, n: (n * (x[0] ** n - 1.0),)),),
        RULE,
    ),
    Fault(
        "negation-plus",
        "−a sends its gradient on with the same sign.",
        "−a passes its gradient with the same sign",
        (rule("neg", lambda x, y, n: (1.0,)),),
        RULE,
    ),
    Fault(
        "subtraction-plus",
        "a − b sends the same sign to both. When b grows, which way does a − b move?",
        "a − b sends a plus to b as well",
        (rule("sub", lambda x, y, n: (1.0, 1.0)),),
        RULE,
    ),
    Fault(
        "division-plus",
        "a / b sends b a gradient of the wrong sign. When b grows, which way does a / b move?",
        "a / b sends b the wrong sign",
        (rule("div", lambda x, y, n: (1.0 / x[1], x[0] / x[1] ** 2)),),
        RULE,
    ),
    Fault(
        "division-wrong-denominator",
        "The gradient that a / b sends to b has the wrong denominator. Write a / b as a product and look again.",
        "a / b sends b a message with the wrong denominator",
        (
            rule("div", lambda x, y, n: (1.0 / x[1], -x[0] / x[1])),
            rule("div", lambda x, y, n: (1.0 / x[1], -1.0 / x[1] ** 2)),
        ),
        RULE,
        2,
    ),
    Fault(
        "graph-cut",
        "An operand gets no gradient: somewhere you went on with its plain number (its data), and a plain number has "
        "no place in the graph.",
        "an operand is replaced by its plain number",
        (
            CUT["sub"],
            CUT["neg"],
            CUT["div"],
            {**CUT["neg"], **CUT["sub"], **CUT["div"]},
            {**CUT["sub"], **CUT["div"]},
        ),
        RULE,
    ),
    Fault(
        "local-gradient-keyed-by-parent",
        "Local derivatives are kept by parent. In a − a and a / a one parent stands in both slots, and the second "
        "entry replaces the first: keep one for each slot.",
        "local derivatives are looked up by parent, not by slot",
        (
            {**_slopes_by_parent("sub"), **_slopes_by_parent("div")},
            _slopes_by_parent("sub"),
            _slopes_by_parent("div"),
        ),
        MESSAGES,
        2,
    ),
    Fault(
        "reflected-swapped",
        "With a number on the left the operands change places: 1 − x is not x − 1, and 2 / x is not x / 2.",
        "number − Value and number / Value have their operands exchanged",
        (
            {
                "reflected_sub": lambda e: lambda r, s: e.value_sub(s, r),
                "reflected_div": lambda e: lambda r, s: e.value_div(s, r),
            },
            {"reflected_sub": lambda e: lambda r, s: e.value_sub(s, r)},
            {"reflected_div": lambda e: lambda r, s: e.value_div(s, r)},
        ),
        VALUES,
    ),
    Fault(
        "reflected-missing",
        "A number on the left does not work: for 1 - x and 2 / x Python looks for the methods __rsub__ and "
        "__rtruediv__ of your class.",
        "number − Value or number / Value raises TypeError",
        (
            {"reflected_sub": lambda e: None, "reflected_div": lambda e: None},
            {"reflected_sub": lambda e: None},
            {"reflected_div": lambda e: None},
        ),
        VALUES,
        0,
    ),
    Fault(
        "seed-missing",
        "All gradients are 0: nothing was put in at the root. Which derivative is known before the walk begins?",
        "the root's own gradient is never set",
        (_seeded(lambda root: None),),
        ALGORITHM,
    ),
    Fault(
        "seed-not-one",
        "All gradients are off by one common factor: the root does not start from its derivative with respect to "
        "itself.",
        "the root starts from another number than 1",
        (
            _seeded(lambda root: root.data),
            _seeded(lambda root: 2.0),
            _seeded(lambda root: -1.0),
            _seeded(lambda root: 0.5),
            _seeded(lambda root: 1.0 - root.data),
        ),
        ALGORITHM,
    ),
    Fault(
        "forward-order",
        "The nodes fire from the inputs to the root, so all but the last have nothing to send yet.",
        "nodes fire in forward order",
        ({"value_backward": _forward_order},),
        ORDER,
        2,
    ),
    Fault(
        "one-level-only",
        "Only the root fires. Its parents hold their gradients, but nobody asks them to send in turn.",
        "only the root fires",
        ({"value_backward": _one_level},),
        ALGORITHM,
        0,
    ),
    Fault(
        "recursion-fires-every-path",
        "A node fires once for each path that leads to it. It must fire once, when all its children have sent.",
        "a node fires again on every path",
        ({"value_backward": _every_path},),
        ORDER,
        3,
    ),
    Fault(
        "resends-accumulated",
        "A node passes each message on as it arrives, together with those that it had passed on already.",
        "a node sends its accumulated gradient anew with each message",
        ({"value_backward": _resends},),
        ORDER,
        3,
    ),
    Fault(
        "fires-too-early",
        "A node fires before all its children have sent: messages that come later are not passed on.",
        "depth first: a node fires as soon as it is reached",
        ({"value_backward": _depth_first_once},),
        ORDER,
        3,
    ),
    Fault(
        "level-order",
        "Nodes fire level by level, by their distance from the root. A node with a short and a long path to the root "
        "fires before the long one has arrived.",
        "level by level: nodes fire by their distance from the root",
        ({"value_backward": _level_order},),
        ORDER,
        3,
    ),
    Fault(
        "visited-by-value",
        "Two different nodes with equal values are taken for one, and one of them never fires. Tell nodes apart by "
        "identity.",
        "nodes with equal values are taken for one",
        ({"topological_order": _by_value, "value_backward": _naive}, {"topological_order": _by_value}),
        ORDER,
        3,
    ),
    Fault(
        "stale-intermediates",
        "The second pass counts again what the first had left in the nodes between inputs and root.",
        "a second backward counts old gradients in between again",
        ({"value_backward": _naive},),
        CLEARING,
        0,
    ),
    Fault(
        "seed-added",
        "The second pass starts from 2 at the root: its gradient of 1 was added to the one from the first pass.",
        "the root's gradient of 1 is added to what it had",
        ({"value_backward": _adds_seed},),
        CLEARING,
        0,
    ),
    Fault(
        "clears-leaves",
        "The second pass wipes out what the first had given to the inputs. Leaves keep adding up until somebody clears "
        "them on purpose.",
        "backward clears the inputs' gradients first",
        ({"value_backward": _clears_all},),
        CLEARING,
        0,
    ),
)


_BY_NAME = {f.name: f for f in FAULTS}


def fault(name: str) -> Fault:
    """The fault called `name`; KeyError if there is none."""
    return _BY_NAME[name]
