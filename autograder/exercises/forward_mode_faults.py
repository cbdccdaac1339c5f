"""Lesson 2's misconceptions: wrong rules that can be run, what they are called, and what to say to who holds one.

`make_dual()` is a right class Dual with functions `tanh, exp, log, relu` beside it; `make_dual({"mul": ...})` puts
another rule in the place of one. A rule takes the operands as pairs (value, tangent) and gives the result's tangent alone:
values stay right, as they do in the mistakes that people make.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from types import SimpleNamespace
from typing import Any

import numpy as np

from autograder.exercises.model import Misconception
from autograder.references.graphs import Graph, Numbers, from_json, local_derivatives, order
from autograder.student.probes.stand_ins import needs_parents

Place = tuple[str, str]
Pair = tuple[float, float]  # value, tangent
Rule = Callable[..., float]
Rules = Mapping[str, Rule]


def section(heading: str) -> Place:
    return heading, heading.replace(" ", "-")


TRAVEL = section("A nudge that travels along")
DIRECTION = section("Any direction is a seed")
TWO = section("Two numbers in one")
STRETCH = section("A function stretches the tangent")
PYTHON = section("Ordinary Python, differentiated")
ALONG = section("One direction at a time")
PASSES = section("One pass for each input")
OUTPUTS = section("All outputs at once")
COST = section("What it costs")
NOT_NUMERICAL = section("Not differences, not formulas")
NESTED = section("A derivative inside a derivative")


def held(name: str, message: str, reread: Place, *objects: Any) -> Misconception:
    """A misconception whose holder hands these objects to the check."""
    return Misconception(name, message, lambda: objects, reread)


# ---- 2.0 ------------------------------------------------------------------------------------------------------------


def wrong_pass(
    combine: Callable[[Sequence[float]], float] = sum,
    product: Callable[[float, float], float] = lambda slope, tangent: slope * tangent,
    seeded: Callable[[Mapping[str, float], str], float] = lambda seed, name: seed.get(name, 0.0),
    per_slot: bool = True,
    visit: Callable[[Graph], Sequence[str]] = order,
    missing: Callable[[Numbers, str], float] = lambda tangents, name: tangents[name],
) -> Callable[..., Numbers]:
    """A tangent_pass with one step done otherwise. `missing` is how a parent's tangent is looked up."""

    def tangent_pass(graph: Any, values: Numbers, seed: Mapping[str, float]) -> Numbers:
        graph = from_json(dict(graph.items()))
        tangents: Numbers = {}
        for name in visit(graph):
            if graph[name].op == "input":
                tangents[name] = seeded(seed, name)
                continue
            slopes = zip(graph[name].parents, local_derivatives(graph, dict(values.items()), name), strict=True)
            slots = list(slopes) if per_slot else list(dict(slopes).items())
            tangents[name] = combine([product(slope, missing(tangents, parent)) for parent, slope in slots])
        return tangents

    return tangent_pass


def every_path(graph: Any, values: Numbers, seed: Mapping[str, float]) -> Numbers:
    """Right, but a shared node is worked out again for each node that asks for it."""

    def tangent(name: str) -> float:
        op, parents, n = graph[name]
        if op == "input":
            return seed.get(name, 0.0)
        node = from_json({name: (op, parents, n)})
        slopes = local_derivatives(node, {p: values[p] for p in (*parents, name)}, name)
        return sum(slope * tangent(p) for p, slope in zip(parents, slopes, strict=True))

    return {name: tangent(name) for name in graph}


def order_of_the_graph(graph: Any, *_: Any) -> Any:
    """What happens to who asks for the order of the graph itself."""
    needs_parents(graph, "topological_order")


PASS = (
    held(
        "graph-for-parents",
        "topological_order looks at parents alone. It takes a dict from each node's name to the tuple of its parents' "
        "names.",
        TRAVEL,
        order_of_the_graph,
    ),
    held(
        "overwrites-tangent",
        "Your tangent of a node with two parents is the product from one slot only; the other was replaced. Both "
        "parents move the node, and the two moves are added.",
        TRAVEL,
        wrong_pass(combine=lambda products: products[-1]),
    ),
    held(
        "one-slot-per-parent",
        "A node that fills both slots of an operation counts twice: x·x has two edges from x. Yours has counted one.",
        TRAVEL,
        wrong_pass(per_slot=False),
    ),
    held(
        "multiplies-across-slots",
        "You multiplied what comes in through the two slots. Along one edge you multiply; across edges you add.",
        TRAVEL,
        wrong_pass(combine=math.prod),
    ),
    held(
        "ignores-incoming-tangent",
        "Your tangents are sums of local derivatives. A local derivative says how far a move is passed on; it has to "
        "be multiplied by how fast the parent moves.",
        TRAVEL,
        wrong_pass(product=lambda slope, tangent: slope),
        wrong_pass(product=lambda slope, tangent: slope if tangent else 0.0),
    ),
    held(
        "adds-instead-of-multiplies",
        "You added the local derivative to the parent's tangent. Along an edge the chain rule multiplies.",
        TRAVEL,
        wrong_pass(product=lambda slope, tangent: slope + tangent),
    ),
    held(
        "seed-dropped",
        "Seeds 1 and 2 give you the same. The seed is not only a choice of input: its number is that input's tangent.",
        DIRECTION,
        wrong_pass(seeded=lambda seed, name: float(name in seed)),
        wrong_pass(seeded=lambda seed, name: float(seed.get(name, 0.0) != 0)),
    ),
    held(
        "constants-move",
        "An input that the seed does not name has the tangent 1 in your pass. It stands still: its tangent is 0.",
        TRAVEL,
        wrong_pass(seeded=lambda seed, name: seed.get(name, 1.0)),
    ),
    held(
        "trusts-dict-order",
        "You visit the nodes in the order in which the dict happens to list them. A graph comes in any order, and a "
        "node's turn may come before its parents'.",
        TRAVEL,
        wrong_pass(visit=list, missing=lambda tangents, name: tangents.get(name, 0.0)),
    ),
    held(
        "trusts-dict-order",
        "You visit the nodes in the order in which the dict happens to list them. A graph comes in any order, and a "
        "node's turn may come before its parents'.",
        TRAVEL,
        wrong_pass(visit=list),
    ),
    held(
        "walks-every-path",
        "Your values are right, but a shared node is worked out again on every path that leads through it. Store each "
        "tangent when it is made, and look it up from then on.",
        TRAVEL,
        every_path,
    ),
)


def _each(misconceptions: Sequence[Misconception]) -> Iterator[Misconception]:
    """One for every object where `held` was given several variants of a single function."""
    for m in misconceptions:
        for variant in m.objects():
            yield Misconception(m.name, m.message, lambda variant=variant: (variant,), m.reread)  # type: ignore[misc]


PASS_MISCONCEPTIONS = tuple(_each(PASS))


# ---- 2.1 and 2.2: a Dual with one rule replaced ---------------------------------------------------------------------

_VALUES: dict[str, Callable[..., float]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "neg": operator.neg,
    "pow": operator.pow,
    "tanh": math.tanh,
    "exp": math.exp,
    "log": math.log,
    "relu": lambda x: max(x, 0.0),
}

# r, s: (value, tangent); for pow s is the exponent
_TANGENTS: dict[str, Rule] = {
    "add": lambda r, s: r[1] + s[1],
    "sub": lambda r, s: r[1] - s[1],
    "mul": lambda r, s: r[1] * s[0] + r[0] * s[1],
    "div": lambda r, s: (r[1] * s[0] - r[0] * s[1]) / s[0] ** 2,
    "neg": lambda r: -r[1],
    "pow": lambda r, n: (n * r[0] ** (n - 1) if n else 0.0) * r[1],
    "tanh": lambda r: (1 - math.tanh(r[0]) ** 2) * r[1],
    "exp": lambda r: math.exp(r[0]) * r[1],
    "log": lambda r: r[1] / r[0],
    "relu": lambda r: r[1] if r[0] > 0 else 0.0,
}
FUNCTIONS = ("tanh", "exp", "log", "relu")


def make_dual(
    rules: Rules | None = None,
    *,
    constant: float = 0.0,
    start: Callable[[float], float] = float,
    reflected: str = "right",
    in_place: bool = False,
    lifts_floats: bool = False,
) -> Any:
    """A class Dual and its functions, with some tangent rules replaced.

    `constant` is the tangent that plain numbers get; `start` makes a Dual's tangent from the one it is given;
    `reflected` is "right", "swapped" or "missing"; `in_place` writes the result of + and − into the left operand;
    `lifts_floats` lets the functions make Duals of plain numbers.
    """
    found = SimpleNamespace()
    tangents = {**_TANGENTS, **(rules or {})}

    class Dual:
        def __init__(self, value: float, tangent: float = 0.0, *, made: bool = False) -> None:
            self.value, self.tangent = float(value), float(tangent if made else start(tangent))

        def __add__(self, other: Any) -> Any:
            return calculate("add", self, other, keep=in_place)

        def __sub__(self, other: Any) -> Any:
            return calculate("sub", self, other, keep=in_place)

        def __mul__(self, other: Any) -> Any:
            return calculate("mul", self, other)

        def __truediv__(self, other: Any) -> Any:
            return calculate("div", self, other)

        def __radd__(self, other: Any) -> Any:
            return calculate("add", other, self)

        def __rmul__(self, other: Any) -> Any:
            return calculate("mul", other, self)

        if reflected != "missing":

            def __rsub__(self, other: Any) -> Any:
                return calculate("sub", *((self, other) if reflected == "swapped" else (other, self)))

            def __rtruediv__(self, other: Any) -> Any:
                return calculate("div", *((self, other) if reflected == "swapped" else (other, self)))

        def __neg__(self) -> Any:
            return Dual(-self.value, tangents["neg"](pair(self)), made=True)

        def __pow__(self, n: float) -> Any:
            return Dual(self.value**n, tangents["pow"](pair(self), n), made=True)

    def pair(x: Any) -> Pair:
        return (x.value, x.tangent) if isinstance(x, Dual) else (float(x), constant)

    def calculate(op: str, r: Any, s: Any, keep: bool = False) -> Any:
        first, second = pair(r), pair(s)
        value, tangent = _VALUES[op](first[0], second[0]), tangents[op](first, second)
        if keep:
            r.value, r.tangent = value, tangent
            return r
        return Dual(value, tangent, made=True)

    def function(op: str) -> Callable[[Any], Any]:
        def apply(x: Any) -> Any:
            if not isinstance(x, Dual) and not lifts_floats:
                return _VALUES[op](x)
            x = x if isinstance(x, Dual) else Dual(x)
            return Dual(_VALUES[op](x.value), tangents[op](pair(x)), made=True)

        return apply

    found.Dual = Dual
    found.functions = tuple(function(op) for op in FUNCTIONS)
    return found


def wrong_dual(
    name: str, message: str, rules: Rules | None = None, *, reread: Place = TWO, **made: Any
) -> Misconception:
    return Misconception(name, message, lambda: (make_dual(rules, **made).Dual,), reread)


def wrong_function(
    name: str, message: str, rules: Rules | None = None, *, reread: Place = STRETCH, **made: Any
) -> Misconception:
    def objects() -> tuple[Any, ...]:
        dual = make_dual(rules, **made)
        return dual.Dual, *dual.functions

    return Misconception(name, message, objects, reread)


IGNORES = (
    "The tangent that comes in is missing from your rule: it gives the same for every incoming tangent. The slope of "
    "the operation has to be multiplied by it."
)

DUAL_MISCONCEPTIONS = (
    wrong_dual(
        "sum-keeps-one-tangent",
        "The tangent of your sum is that of one operand only. Both operands move, and their moves are added.",
        {"add": lambda r, s: r[1]},
    ),
    wrong_dual(
        "subtraction-adds",
        "Your difference adds the tangents. When the second operand grows, the difference falls.",
        {"sub": lambda r, s: r[1] + s[1]},
    ),
    wrong_dual(
        "negation-keeps-the-tangent",
        "Your −x has the tangent of x itself. When x grows, −x falls.",
        {"neg": lambda r: r[1]},
    ),
    wrong_dual(
        "product-multiplies-its-two-terms",
        "The two strips by which a product grows are added. You multiplied them.",
        {"mul": lambda r, s: r[1] * s[0] * r[0] * s[1]},
    ),
    wrong_dual(
        "product-of-tangents",
        "You multiplied the two tangents. That is the corner of the picture, the part that is dropped; the two strips "
        "are missing.",
        {"mul": lambda r, s: r[1] * s[1]},
    ),
    wrong_dual(
        "product-keeps-one-strip",
        "Your product counts the move of one factor only. The other factor moves too.",
        {"mul": lambda r, s: r[1] * s[0]},
    ),
    wrong_dual(
        "product-keeps-one-strip",
        "Your product counts the move of one factor only. The other factor moves too.",
        {"mul": lambda r, s: r[0] * s[1]},
    ),
    wrong_dual(
        "product-takes-its-own-factor",
        "Each tangent is multiplied by the value of its own factor. How long is the strip that grows when one factor "
        "moves?",
        {"mul": lambda r, s: r[1] * r[0] + s[1] * s[0]},
    ),
    wrong_dual(
        "product-adds-tangents",
        "Your product has the tangent of a sum. A strip is as long as the other factor is large.",
        {"mul": lambda r, s: r[1] + s[1]},
    ),
    wrong_dual(
        "quotient-without-denominator",
        "Your quotient's tangent is not divided by anything. Solve q·s = r, with both sides moving, for the tangent "
        "of q.",
        {"div": lambda r, s: r[1] * s[0] - r[0] * s[1]},
    ),
    wrong_dual(
        "quotient-wrong-denominator",
        "Your quotient's tangent has the wrong denominator: s where s² belongs, or s² where s belongs. Solve q·s = r, "
        "with both sides moving, for the tangent of q.",
        {"div": lambda r, s: (r[1] * s[0] - r[0] * s[1]) / s[0]},
    ),
    wrong_dual(
        "quotient-wrong-denominator",
        "Your quotient's tangent has the wrong denominator: s where s² belongs, or s² where s belongs. Solve q·s = r, "
        "with both sides moving, for the tangent of q.",
        {"div": lambda r, s: (r[1] - r[0] / s[0] * s[1]) / s[0] ** 2},
    ),
    wrong_dual(
        "quotient-adds",
        "In your quotient the move of the denominator counts with a plus. When the denominator grows, a positive "
        "quotient falls.",
        {"div": lambda r, s: (r[1] * s[0] + r[0] * s[1]) / s[0] ** 2},
    ),
    wrong_dual(
        "quotient-upside-down",
        "The two terms of your quotient's tangent stand in the wrong order: its sign is flipped.",
        {"div": lambda r, s: (r[0] * s[1] - r[1] * s[0]) / s[0] ** 2},
    ),
    wrong_dual(
        "quotient-of-tangents",
        "You divided the tangents. A quotient has a rule of its own; it follows from the product rule.",
        {"div": lambda r, s: r[1] / s[1]},
    ),
    wrong_dual(
        "quotient-ignores-the-denominator",
        "Your quotient moves with its numerator only. The denominator moves too.",
        {"div": lambda r, s: r[1] / s[0]},
    ),
    wrong_dual(
        "ignores-incoming-tangent",
        IGNORES,
        {"pow": lambda r, n: n * r[0] ** (n - 1) if n else 0.0},
        reread=STRETCH,
    ),
    wrong_dual(
        "power-rule-without-n",
        "Your power has lost its factor n.",
        {"pow": lambda r, n: r[0] ** (n - 1) * r[1]},
    ),
    wrong_dual(
        "power-rule-keeps-the-exponent",
        "The exponent in your power's slope is still n. It goes down by one.",
        {"pow": lambda r, n: n * r[0] ** n * r[1]},
    ),
    wrong_dual(
        "power-rule-subtracts-outside",
        "You took 1 from the power, not from its exponent.",
        {"pow": lambda r, n: n * (r[0] ** n - 1) * r[1]},
    ),
    wrong_dual(
        "constants-move",
        "A plain number has the tangent 1 in your class. A constant stands still: its tangent is 0.",
        constant=1.0,
    ),
    wrong_dual(
        "constants-move",
        "A plain number has its own value as tangent, or some other number but 0. A constant stands still.",
        constant=2.0,
    ),
    wrong_dual(
        "reflected-operands-swapped",
        "2 / x and 1 − x come out with their operands swapped: upside down, or with the wrong sign.",
        reflected="swapped",
    ),
    wrong_dual(
        "reflected-operator-missing",
        "x − 1 works, and 1 − x does not. For a number on the left Python looks for __rsub__ and __rtruediv__.",
        reflected="missing",
    ),
    wrong_dual(
        "seed-dropped",
        "A Dual made with the tangent 2 has the tangent 1 in your class. What is given has to be kept.",
        start=lambda tangent: float(tangent != 0),
    ),
    wrong_dual(
        "tangent-lost",
        "Your Duals have the tangent 0 whatever they were made with, so nothing moves.",
        start=lambda tangent: 0.0,
    ),
    wrong_dual(
        "changes-its-operand",
        "Your operation writes its result into one of its operands. The same Dual may be used again; make a new one.",
        in_place=True,
    ),
)


def _slopes(op: str, rules: Mapping[str, tuple[str, Callable[[float], float]]]) -> Iterator[Misconception]:
    """Wrong slopes of one function, each times the incoming tangent."""
    for name, (message, slope) in rules.items():
        yield wrong_function(name, message, {op: lambda r, slope=slope: slope(r[0]) * r[1]})


FUNCTION_MISCONCEPTIONS = (
    *(
        wrong_function("ignores-incoming-tangent", IGNORES, {op: lambda r, op=op: _TANGENTS[op]((r[0], 1.0))})
        for op in FUNCTIONS
    ),
    wrong_function(
        "ignores-incoming-tangent",
        IGNORES,
        {op: lambda r, op=op: _TANGENTS[op]((r[0], 1.0)) for op in FUNCTIONS},
    ),
    wrong_function(
        "adds-instead-of-multiplies",
        "You added the slope to the incoming tangent. Along a chain of steps slopes are multiplied.",
        {op: lambda r, op=op: _TANGENTS[op]((r[0], 1.0)) + r[1] for op in FUNCTIONS},
    ),
    *(
        wrong_function(
            "feeds-the-tangent-through",
            "You put the tangent through the function, as if it were a value. It is multiplied by the function's slope.",
            {op: lambda r, op=op: _VALUES[op](r[1])},
        )
        for op in ("tanh", "exp")
    ),
    *_slopes(
        "tanh",
        {
            "tanh-slope-from-the-input": (
                "Your tanh computes its slope from the input. The rule uses the output.",
                lambda x: 1 - x * x,
            ),
            "tanh-slope-not-squared": (
                "Your tanh has the slope 1 − t. Something is missing from it.",
                lambda x: 1 - math.tanh(x),
            ),
            "tanh-slope-wrong-sign": (
                "Your tanh has a slope above 1. But tanh squeezes: its slope is never more than 1.",
                lambda x: 1 + math.tanh(x) ** 2,
            ),
        },
    ),
    *_slopes(
        "exp",
        {
            "exp-slope-is-its-input": (
                "Your exp has its input as slope. At 0 that would make the curve flat, and it rises there.",
                lambda x: x,
            ),
            "exp-by-the-power-rule": (
                "You differentiated exp like a power, x·e^(x−1). Here the variable stands in the exponent.",
                lambda x: x * math.exp(x - 1),
            ),
        },
    ),
    *_slopes(
        "log",
        {
            "log-slope-from-the-output": (
                "Your log computes its slope from the output. At input 1 the output is 0: is the curve infinitely steep there?",
                lambda x: 1 / math.log(x),
            ),
            "log-slope-is-its-input": (
                "Your log has its input as slope. The logarithm grows more slowly the larger its input is.",
                lambda x: x,
            ),
        },
    ),
    wrong_function(
        "relu-always-passes",
        "Your relu lets the tangent pass at a negative input. There relu is flat.",
        {"relu": lambda r: r[1]},
    ),
    wrong_function(
        "relu-mask-from-the-tangent",
        "Your relu decides by the sign of the tangent. It is the value that decides; a negative tangent may pass.",
        {"relu": lambda r: max(r[1], 0.0)},
    ),
    wrong_function(
        "relu-mask-from-the-tangent",
        "Your relu decides by the sign of the tangent. It is the value that decides; a negative tangent may pass.",
        {"relu": lambda r: max(r[1], 0.0) if r[0] > 0 else 0.0},
    ),
    wrong_function(
        "floats-become-duals",
        "A plain number goes in and a Dual comes out. Floats should stay floats, so that the same program still runs "
        "on numbers.",
        lifts_floats=True,
    ),
)


# ---- 2.3 to 2.6: wrong ways to run a program ------------------------------------------------------------------------

RIGHT = make_dual().Dual


def lifted(y: Any) -> Any:
    return y if hasattr(y, "tangent") else RIGHT(y)


def seeded(xs: Sequence[float], seed: Sequence[float]) -> list[Any]:
    return [RIGHT(x, t) for x, t in zip(xs, seed, strict=True)]


def basis(P: int, i: int) -> list[float]:
    return [float(i == j) for j in range(P)]


def central(f: Callable[[Any], Any], xs: Sequence[float], r: Sequence[float], h: float) -> Any:
    up, down = ([x + s * h * t for x, t in zip(xs, r, strict=True)] for s in (1, -1))
    return (np.array(f(up)) - np.array(f(down))) / (2 * h)


def one_sided(f: Callable[[Any], Any], xs: Sequence[float], r: Sequence[float], h: float) -> Any:
    moved = [x + h * t for x, t in zip(xs, r, strict=True)]
    return (np.array(f(moved)) - np.array(f(list(xs)))) / h


DIFFERENCE = (
    "This is a difference quotient. It comes close, but forward mode is exact up to rounding: feed f a Dual, and read "
    "the tangent off what comes back."
)
CONSTANT = (
    "A program may return a plain number, a constant. It carries no tangent: turn what comes back into a Dual before "
    "you ask for one."
)
QUOTIENTS = [(way, h) for way in (central, one_sided) for h in (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)]

DERIVATIVE_MISCONCEPTIONS = (
    *(
        held(
            "finite-difference",
            DIFFERENCE,
            NOT_NUMERICAL,
            lambda f, x, way=way, h=h: float(way(lambda xs: f(xs[0]), [x], [1.0], h)),
        )
        for way, h in QUOTIENTS
    ),
    held(
        "returns-the-value",
        "You returned what f computes, not how fast it moves. The result holds two numbers.",
        PYTHON,
        lambda f, x: lifted(f(RIGHT(x, 1.0))).value,
    ),
    held(
        "seed-missing",
        "Every derivative is 0: the input was not moving. Which tangent must it start with?",
        PYTHON,
        lambda f, x: lifted(f(RIGHT(x, 0.0))).tangent,
    ),
    held(
        "seeds-with-the-value",
        "Your derivative is x times too large: the input started with its own value as tangent.",
        PYTHON,
        lambda f, x: lifted(f(RIGHT(x, x))).tangent,
    ),
    held("constant-not-lifted", CONSTANT, PYTHON, lambda f, x: f(RIGHT(x, 1.0)).tangent),
)


def _pair(y: Any) -> tuple[float, float]:
    return y.value, y.tangent


JVP_MISCONCEPTIONS = (
    held(
        "seed-dropped",
        "Your answer does not depend on the tangents that were given: all inputs move at rate 1. Each primal goes "
        "together with its own tangent.",
        DIRECTION,
        lambda f, xs, r: _pair(lifted(f(seeded(xs, [1.0] * len(xs))))),
    ),
    held(
        "seed-dropped",
        "Your answer does not depend on how large the given tangents are: every input that moves at all moves at rate "
        "1. Each primal goes together with its own tangent.",
        DIRECTION,
        lambda f, xs, r: _pair(lifted(f(seeded(xs, [float(t != 0) for t in r])))),
    ),
    held(
        "only-the-first-input-moves",
        "Only the first input moves in your pass. A direction moves all of them.",
        DIRECTION,
        lambda f, xs, r: _pair(lifted(f(seeded(xs, [*r[:1], *[0.0] * (len(r) - 1)])))),
    ),
    held(
        "direction-normalised",
        "You scaled the direction to length 1. The tangents are to be taken as they are: twice the direction, twice "
        "the slope.",
        DIRECTION,
        lambda f, xs, r: _pair(lifted(f(seeded(xs, [t / math.hypot(*r) for t in r])))),
    ),
    held(
        "tangent-before-value",
        "The pair is the wrong way round. First what f computes, then how fast it moves.",
        ALONG,
        lambda f, xs, r: _pair(lifted(f(seeded(xs, r))))[::-1],
    ),
    held(
        "primals-and-tangents-exchanged",
        "Values and tangents have changed places on their way into the Duals.",
        ALONG,
        lambda f, xs, r: _pair(lifted(f(seeded(r, xs)))),
    ),
    *(
        held(
            "finite-difference",
            DIFFERENCE,
            NOT_NUMERICAL,
            lambda f, xs, r, way=way, h=h: (f(list(xs)), float(way(f, xs, r, h))),
        )
        for way, h in QUOTIENTS
    ),
    held("constant-not-lifted", CONSTANT, PYTHON, lambda f, xs, r: _pair(f(seeded(xs, r)))),
    held(
        "inputs-not-in-one-list",
        "f takes one list that holds all the inputs: f([…]), not f(…, …).",
        ALONG,
        lambda f, xs, r: _pair(lifted(f(*seeded(xs, r)))),
    ),
)


def _gradient(f: Callable[[Any], Any], xs: Sequence[float], seed: Callable[[int], Sequence[float]]) -> Any:
    return np.array([lifted(f(seeded(xs, seed(i)))).tangent for i in range(len(xs))])


def _calls_first(f: Callable[[Any], Any], xs: Sequence[float]) -> Any:
    f(list(map(float, xs)))
    return _gradient(f, xs, lambda i: basis(len(xs), i))


def _calls_twice(f: Callable[[Any], Any], xs: Sequence[float]) -> Any:
    found = []
    for i in range(len(xs)):
        f(seeded(xs, basis(len(xs), i)))
        found.append(lifted(f(seeded(xs, basis(len(xs), i)))).tangent)
    return np.array(found)


def _moves_theta(f: Callable[[Any], Any], xs: Any) -> Any:
    found = []
    for i in range(len(xs)):
        found.append(lifted(f(seeded(xs, basis(len(xs), i)))).tangent)
        xs[i] += 1e-3
    return np.array(found)


GRADIENT_MISCONCEPTIONS = (
    held(
        "all-seeds-at-once",
        "Every entry is the sum of the whole gradient: all inputs moved in every pass. Each pass must single out one.",
        PASSES,
        lambda f, xs: _gradient(f, xs, lambda i: [1.0] * len(xs)),
    ),
    held(
        "seeds-pile-up",
        "Each entry is the sum of all entries up to there: the 1 of an earlier pass is still in the seed.",
        PASSES,
        lambda f, xs: _gradient(f, xs, lambda i: [float(j <= i) for j in range(len(xs))]),
    ),
    held(
        "seeds-with-the-value",
        "Each entry is multiplied by its own input: the seed held the value instead of 1.",
        PASSES,
        lambda f, xs: _gradient(f, xs, lambda i: [x * b for x, b in zip(xs, basis(len(xs), i), strict=True)]),
    ),
    *(
        held(
            "extra-call",
            "f is called more often than once for each input. One pass gives the value and the tangent together; "
            "nothing else is needed.",
            PASSES,
            wrong,
        )
        for wrong in (_calls_first, _calls_twice)
    ),
    *(
        held(
            "finite-difference",
            DIFFERENCE,
            NOT_NUMERICAL,
            lambda f, xs, way=way, h=h: np.array([way(f, list(xs), basis(len(xs), i), h) for i in range(len(xs))]),
        )
        for way, h in QUOTIENTS
    ),
    held(
        "constant-not-lifted",
        CONSTANT,
        PYTHON,
        lambda f, xs: np.array([f(seeded(xs, basis(len(xs), i))).tangent for i in range(len(xs))]),
    ),
    held(
        "changes-its-input",
        "theta is not the same after the call as before. Build the Duals anew in each pass and leave theta alone.",
        PASSES,
        _moves_theta,
    ),
)


def _jacobian(f: Callable[[Any], Any], xs: Sequence[float], seed: Callable[[int], Sequence[float]]) -> Any:
    return np.array([[lifted(y).tangent for y in f(seeded(xs, seed(j)))] for j in range(len(xs))]).T


def _entry_by_entry(f: Callable[[Any], Any], xs: Sequence[float]) -> Any:
    P, m = len(xs), len(f(list(map(float, xs))))
    return np.array([[lifted(f(seeded(xs, basis(P, j)))[i]).tangent for j in range(P)] for i in range(m)])


def _entry_by_entry_in_columns(f: Callable[[Any], Any], xs: Sequence[float]) -> Any:
    P, m = len(xs), len(f(list(map(float, xs))))
    return np.array([[lifted(f(seeded(xs, basis(P, j)))[i]).tangent for i in range(m)] for j in range(P)]).T


JACOBIAN_MISCONCEPTIONS = (
    held(
        "transposed",
        "Your matrix lies on its side. A pass answers for one input, and belongs in a column; outputs are the rows.",
        OUTPUTS,
        lambda f, xs: _jacobian(f, xs, lambda j: basis(len(xs), j)).T,
    ),
    *(
        held(
            "one-pass-per-entry",
            "f is called again for every output. One pass moves all outputs at once: read the whole column off it.",
            OUTPUTS,
            wrong,
        )
        for wrong in (_entry_by_entry, _entry_by_entry_in_columns)
    ),
    held(
        "all-seeds-at-once",
        "All columns are the same: every input moved in every pass. Each pass must single out one.",
        PASSES,
        lambda f, xs: _jacobian(f, xs, lambda j: [1.0] * len(xs)),
    ),
    held(
        "seeds-pile-up",
        "Each column is the sum of all columns up to there: the 1 of an earlier pass is still in the seed.",
        PASSES,
        lambda f, xs: _jacobian(f, xs, lambda j: [float(k <= j) for k in range(len(xs))]),
    ),
    *(
        held(
            "finite-difference",
            DIFFERENCE,
            NOT_NUMERICAL,
            lambda f, xs, way=way, h=h: np.array([way(f, list(xs), basis(len(xs), j), h) for j in range(len(xs))]).T,
        )
        for way, h in QUOTIENTS
    ),
    held(
        "constant-not-lifted",
        CONSTANT,
        PYTHON,
        lambda f, xs: np.array([[y.tangent for y in f(seeded(xs, basis(len(xs), j)))] for j in range(len(xs))]).T,
    ),
)


# ---- 2.7 ------------------------------------------------------------------------------------------------------------


def counts(**wrong: Callable[[int, int], int]) -> Callable[[int, int], dict[str, int]]:
    """calls_needed with some of its entries counted otherwise."""

    def calls_needed(P: int, m: int) -> dict[str, int]:
        right = {"jvp": 1, "forward_gradient": P, "jacobian": P, "one_sided": P + 1, "central": 2 * P}
        return right | {key: count(P, m) for key, count in wrong.items()}

    return calls_needed


COUNT_MISCONCEPTIONS = (
    held(
        "one-pass-gives-the-gradient",
        "One forward pass follows one seed and gives one number about the loss. A gradient has P of them.",
        PASSES,
        counts(forward_gradient=lambda P, m: 1),
    ),
    held(
        "a-direction-needs-every-input",
        "For the slope along one direction you count a pass for each input. A direction is a seed like any other.",
        DIRECTION,
        counts(jvp=lambda P, m: P),
    ),
    held(
        "jacobian-costs-a-pass-per-output",
        "You count a pass for each output. Outputs are not seeded; they all answer to the same pass.",
        OUTPUTS,
        counts(jacobian=lambda P, m: m),
    ),
    held(
        "jacobian-costs-a-pass-per-entry",
        "You count a pass for each entry of the Jacobian. One pass gives a whole column.",
        OUTPUTS,
        counts(jacobian=lambda P, m: m * P),
    ),
    held(
        "forgets-the-base-point",
        "One-sided differences compare with f at the point itself. That is a call too, one for all inputs.",
        COST,
        counts(one_sided=lambda P, m: P),
    ),
    held(
        "recomputes-the-base-point",
        "In one-sided differences f at the point itself is the same for every input. One call of it will do.",
        COST,
        counts(one_sided=lambda P, m: 2 * P),
    ),
    held(
        "central-shares-a-call",
        "A central difference needs two calls for each input, up and down. None of them can be used for another input.",
        COST,
        counts(central=lambda P, m: P + 1),
    ),
    held(
        "central-costs-one-call",
        "A central difference needs two calls for each input, up and down.",
        COST,
        counts(central=lambda P, m: P),
    ),
)


# ---- 2.8 ------------------------------------------------------------------------------------------------------------


def make_nested(lift: Callable[[type, Callable[[Any], int], Any, Any], tuple[Any, Any]]) -> Callable[..., Any]:
    """The lesson's nested_derivative with a lift of one's own: lift(Tagged, tag_of, a, b)."""

    def tag_of(x: Any) -> int:
        return getattr(x, "tag", 0)

    class Tagged:
        def __init__(self, value: Any, tangent: Any, tag: int) -> None:
            self.value, self.tangent, self.tag = value, tangent, tag

        def __add__(self, other: Any) -> Any:
            r, s = lift(Tagged, tag_of, self, other)
            return Tagged(r.value + s.value, r.tangent + s.tangent, r.tag)

        def __mul__(self, other: Any) -> Any:
            r, s = lift(Tagged, tag_of, self, other)
            return Tagged(r.value * s.value, r.value * s.tangent + r.tangent * s.value, r.tag)

        __radd__, __rmul__ = __add__, __mul__

    tags = count(1)

    def nested_derivative(f: Callable[[Any], Any], x: Any) -> Any:
        tag = next(tags)
        y = f(Tagged(x, 1.0, tag))
        return y.tangent if tag_of(y) == tag else 0.0

    return nested_derivative


def _lift(
    choose: Callable[[int, int], int] = max,
    wrap: Callable[[Any], Any] = lambda x: x,
    tangent: float = 0.0,
    same: Callable[[int, int], bool] = lambda own, tag: own == tag,
) -> Callable[..., tuple[Any, Any]]:
    def lift(Tagged: Any, tag_of: Callable[[Any], int], a: Any, b: Any) -> tuple[Any, Any]:
        tag = choose(tag_of(a), tag_of(b))

        def seen_from(x: Any) -> Any:
            return x if same(tag_of(x), tag) else Tagged(wrap(x), tangent, tag)

        return seen_from(a), seen_from(b)

    return lift


def _confused(Tagged: Any, tag_of: Callable[[Any], int], a: Any, b: Any) -> tuple[Any, Any]:
    tag = max(tag_of(a), tag_of(b))

    def any_tag_will_do(x: Any) -> Any:
        return Tagged(x.value, x.tangent, tag) if tag_of(x) else Tagged(x, 0.0, tag)

    return any_tag_will_do(a), any_tag_will_do(b)


def _plain_numbers_only(Tagged: Any, tag_of: Callable[[Any], int], a: Any, b: Any) -> tuple[Any, Any]:
    tag = max(tag_of(a), tag_of(b))
    first, second = (x if tag_of(x) else Tagged(x, 0.0, tag) for x in (a, b))
    return first, second


def _value_only(x: Any) -> Any:
    return getattr(x, "value", x)


NESTED_MISCONCEPTIONS = (
    held(
        "perturbation-confusion",
        "Two nudges are taken for one: a number with another tag is no constant in your lift, so the inner derivative "
        "counts the outer nudge as well. This is perturbation confusion.",
        NESTED,
        make_nested(_confused),
    ),
    held(
        "oldest-tag-wins",
        "Your lift goes by the smaller tag. Inside the inner derivative everything has to be seen as a number with the "
        "inner tag, the one that was given out last.",
        NESTED,
        make_nested(_lift(choose=lambda i, j: min(i, j) or max(i, j))),
    ),
    held(
        "wraps-plain-numbers-only",
        "Where both numbers are Tagged, your lift leaves them as they are, each with a tag of its own. To the nudge with "
        "the larger tag, a number with the smaller one is a constant, like a plain number.",
        NESTED,
        make_nested(_plain_numbers_only),
    ),
    held(
        "wraps-the-value-only",
        "When your lift wraps a number with the smaller tag, only its value gets in. Its own tangent is lost, and the "
        "outer derivative needs it.",
        NESTED,
        make_nested(_lift(wrap=_value_only)),
    ),
    held(
        "constants-move",
        "What your lift wraps gets a tangent other than 0. For a nudge that it does not carry, a number is a constant.",
        NESTED,
        make_nested(_lift(tangent=1.0)),
    ),
)
