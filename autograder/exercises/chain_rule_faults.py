"""Lesson 1's misconceptions: wrong functions that can be run, what they are called, and what to say to who holds one."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from autograder.exercises.model import Misconception
from autograder.references.graphs import Graph, Numbers, order
from autograder.student.probes.chain_rule import long_chain
from autograder.student.probes.stand_ins import needs_parents

Parents = Mapping[str, Sequence[str]]
Place = tuple[str, str]


def section(heading: str) -> Place:
    return heading, heading.replace(" ", "-")


ALONG = section("Along a path, multiply")
STEP = section("A gradient is not a step")
FIRST = section("Which step comes first")
EDGE = section("A number on every edge")
FORWARD = section("The forward pass")
ACROSS = section("Across paths, add")
WITNESS = section("A witness that knows no calculus")
SIZE = section("Too large, too small")
BLIND = section("A point that sees nothing")


def held(name: str, message: str, reread: Place, *objects: Any) -> Misconception:
    """A misconception whose holder hands these objects to the check."""
    return Misconception(name, message, lambda: objects, reread)


# ---- 1.1 ------------------------------------------------------------------------------------------------------------


def two_steps(x: float, **wrong: Callable[[float, float], float]) -> dict[str, float]:
    """The right dict of 1.1, with some entries by other rules of (x, y); dz_dx stays the product unless it is given."""
    y = 3 * x + 1
    found = {"y": y, "z": y * y, "dz_dy": 2 * y, "dy_dx": 3.0}
    found |= {name: rule(x, y) for name, rule in wrong.items()}
    found.setdefault("dz_dx", found["dz_dy"] * found["dy_dx"])
    return found


TWO_STEPS = (
    held(
        "adds-along-a-path",
        "Your dz_dx is the sum of the two local derivatives. But a nudge of x passes through both steps, one after the "
        "other, and the second stretches what the first has already stretched.",
        ALONG,
        lambda x: two_steps(x, dz_dx=lambda x, y: 2 * y + 3),
    ),
    held(
        "stops-at-the-outer-step",
        "Your dz_dx says how z answers to y. The question was how z answers to x, and between x and y there is one "
        "more step.",
        ALONG,
        lambda x: two_steps(x, dz_dx=lambda x, y: 2 * y),
    ),
    held(
        "slope-at-the-wrong-place",
        "Your dz_dy is the slope of the square at x. What is squared in this step is not x.",
        ALONG,
        lambda x: two_steps(x, dz_dy=lambda x, y: 2 * x),
    ),
    held(
        "square-loses-its-two",
        "Your dz_dy is y itself. Nudge y by a little, say from 7 to 7.001, and see by how much the square moves.",
        ALONG,
        lambda x: two_steps(x, dz_dy=lambda x, y: y),
    ),
    held(
        "constant-has-a-slope",
        "Your dy_dx counts the + 1 as well. Adding 1 shifts y, but does it change how fast y moves?",
        ALONG,
        lambda x: two_steps(x, dy_dx=lambda x, y: 4.0),
    ),
)

# ---- 1.2 ------------------------------------------------------------------------------------------------------------


def one_step(
    w: float,
    x: float,
    y: float,
    lr: float,
    *,
    outer: Callable[[float, float], float] = lambda z, y: 2 * (z - y),
    inner: Callable[[float, float], float] = lambda w, x: x,
    chain: Callable[[float, float], float] = lambda outer, inner: outer * inner,
    update: Callable[[float, float, float], float] = lambda w, lr, grad: w - lr * grad,
    again: Callable[[float, float, float], float] = lambda w, w_new, x: w_new * x,
) -> dict[str, float]:
    """The right dict of 1.2, with some of its rules replaced."""
    z = w * x
    dL_dz, dz_dw = outer(z, y), inner(w, x)
    grad = chain(dL_dz, dz_dw)
    w_new = update(w, lr, grad)
    z_new = again(w, w_new, x)
    return {
        "z": z,
        "loss": (z - y) ** 2,
        "dL_dz": dL_dz,
        "dz_dw": dz_dw,
        "grad": grad,
        "w_new": w_new,
        "z_new": z_new,
        "loss_new": (z_new - y) ** 2,
    }


def _stepping(name: str, message: str, reread: Place, **rules: Any) -> Misconception:
    return held(name, message, reread, lambda w, x, y, lr: one_step(w, x, y, lr, **rules))


def _scaled(w: float, x: float, y: float, lr: float) -> dict[str, float]:
    return one_step(w, x, y, lr, chain=lambda o, i: lr * o * i, update=lambda w, lr, grad: w - grad)


SQUARED_ERROR = (
    _stepping(
        "square-loses-its-two",
        "Your dL_dz is z − y. That is what is squared, not the slope of the square.",
        ALONG,
        outer=lambda z, y: z - y,
    ),
    _stepping(
        "error-turned-round",
        "Your dL_dz has the opposite sign. The loss is (z − y)²: when z is below y, does raising z raise the loss?",
        STEP,
        outer=lambda z, y: 2 * (y - z),
    ),
    _stepping(
        "slope-is-the-weight",
        "Your dz_dw is w. In z = w·x it is w that is nudged: by how much does z move for each unit of it?",
        ALONG,
        inner=lambda w, x: w,
    ),
    _stepping(
        "adds-along-a-path",
        "Your grad is the sum of the two local derivatives. Along a path the steps stretch one after the other.",
        ALONG,
        chain=lambda outer, inner: outer + inner,
    ),
    _stepping(
        "stops-at-the-outer-step",
        "Your grad says how the loss answers to z. The question was how it answers to w, one step further back.",
        ALONG,
        chain=lambda outer, inner: outer,
    ),
    held(
        "learning-rate-in-the-gradient",
        "Your grad has the learning rate in it. The gradient is a property of the loss; how far to go is a decision "
        "that comes after it.",
        STEP,
        _scaled,
    ),
    _stepping(
        "steps-uphill",
        "Your w_new lies on the other side of w: the step goes where the loss rises. The gradient points uphill.",
        STEP,
        update=lambda w, lr, grad: w + lr * grad,
    ),
    _stepping(
        "step-without-learning-rate",
        "Your step is the whole gradient. The learning rate says which part of it to take.",
        STEP,
        update=lambda w, lr, grad: w - grad,
    ),
    _stepping(
        "step-instead-of-place",
        "Your w_new is the step alone. The step is taken from somewhere.",
        STEP,
        update=lambda w, lr, grad: -lr * grad,
    ),
    _stepping(
        "nothing-recomputed",
        "Your z_new and loss_new are the old ones. A changed weight changes nothing before a new forward pass.",
        STEP,
        again=lambda w, w_new, x: w * x,
    ),
)

# ---- 1.3 ------------------------------------------------------------------------------------------------------------


MANY = 10_000  # only the long chain of 1.3 has more nodes


def sorted_steps(parents: Parents) -> list[str]:
    """A right topological order: Kahn's, by counting the slots that are still open."""
    if len(parents) > MANY:
        return list(long_chain(len(parents))[1])  # known; many wrong rules start from it, and each is tried
    children: dict[str, list[str]] = {name: [] for name in parents}
    for name, slots in parents.items():
        for parent in slots:
            children[parent].append(name)
    missing = {name: len(slots) for name, slots in parents.items()}
    ready = deque(name for name, count in missing.items() if not count)
    found = []
    while ready:
        name = ready.popleft()
        found.append(name)
        for child in children[name]:
            missing[child] -= 1
            if not missing[child]:
                ready.append(child)
    if len(found) < len(parents):
        raise ValueError("there is a cycle")
    return found


def _searched(
    parents: Parents, starts: Iterable[str], *, remember: bool = True, early: bool = False, cycles: bool = True
) -> list[str]:
    """A depth-first search without recursion, and what may go wrong in one."""
    if len(parents) > MANY and not early and starts is parents:
        return sorted_steps(parents)
    found: list[str] = []
    open_, done = set[str](), set[str]()
    for start in starts:
        stack = [(start, False)]
        while stack:
            name, ready = stack.pop()
            if ready:
                open_.discard(name)
                done.add(name)
                if not early:
                    found.append(name)
            elif not (remember and name in done):
                if name in open_:
                    if cycles:
                        raise ValueError(f"a cycle through {name}")
                    continue
                open_.add(name)
                if early:
                    found.append(name)
                stack.append((name, True))
                stack += [(p, False) for p in parents[name]]
    return found


def _children_first(parents: Parents) -> list[str]:
    return sorted_steps(parents)[::-1]


def _as_listed(parents: Parents) -> list[str]:
    sorted_steps(parents)
    return list(parents)


def _by_name(parents: Parents) -> list[str]:
    sorted_steps(parents)
    return sorted(parents)


def _by_level(parents: Parents) -> list[str]:
    """By the shortest way from an input."""
    level: dict[str, int] = {}
    for name in sorted_steps(parents):
        level[name] = 1 + min((level[p] for p in parents[name]), default=-1)
    return sorted(level, key=lambda name: level[name])


def _nothing_shared(parents: Parents) -> list[str]:
    sorted_steps(parents)
    if len(parents) > MANY:
        return sorted_steps(parents)
    used = {p for slots in parents.values() for p in slots}
    return _searched(parents, [n for n in parents if n not in used], remember=False)


def _last_only(parents: Parents) -> list[str]:
    sorted_steps(parents)
    return _searched(parents, [list(parents)[-1]])


def _slots_as_set(parents: Parents, cycles: bool = True) -> list[str]:
    """Counts every slot, but crosses off each child once; says that there is a cycle, or says nothing."""
    if len(parents) > MANY:
        return sorted_steps(parents)
    children: dict[str, set[str]] = {name: set() for name in parents}
    for name, slots in parents.items():
        for parent in slots:
            children[parent].add(name)
    missing = {name: len(slots) for name, slots in parents.items()}
    ready = deque(name for name, count in missing.items() if not count)
    found = []
    while ready:
        found.append(ready.popleft())
        for child in sorted(children[found[-1]]):
            missing[child] -= 1
            if not missing[child]:
                ready.append(child)
    if cycles and len(found) < len(parents):
        raise ValueError("there is a cycle")
    return found


def _makes_up_parents(parents: Parents) -> list[str]:
    if len(parents) > MANY:
        return sorted_steps(parents)
    known = {name: tuple(slots) for name, slots in parents.items()}
    for slots in parents.values():
        for parent in slots:
            known.setdefault(parent, ())
    return sorted_steps(known)


def _calls_itself(parents: Parents) -> list[str]:
    found: list[str] = []
    open_, done = set[str](), set[str]()

    def visit(name: str) -> None:
        if name in done:
            return
        if name in open_:
            raise ValueError(f"a cycle through {name}")
        open_.add(name)
        for parent in parents[name]:
            visit(parent)
        open_.discard(name)
        done.add(name)
        found.append(name)

    for name in parents:
        visit(name)
    return found


def _walks_round(parents: Parents) -> list[str]:
    found: dict[str, None] = {}

    def visit(name: str) -> None:
        if name in found:
            return
        for parent in parents[name]:
            visit(parent)
        found.setdefault(name)

    for name in parents:
        visit(name)
    return list(found)


ORDER = (
    held(
        "children-first",
        "Your list runs backward: every child stands before its parents. A step can only be computed when what it is "
        "computed from is there.",
        FIRST,
        _children_first,
    ),
    held(
        "as-listed",
        "Your list has the order in which the dict names the nodes. They may be written down in any order.",
        FIRST,
        _as_listed,
    ),
    held(
        "sorted-by-name",
        "Your list is in alphabetical order. What a node is called says nothing about when it can be computed.",
        FIRST,
        _by_name,
    ),
    held(
        "level-order",
        "Your list goes by how near a node is to an input. A node has to wait for the slowest of its parents, not for "
        "the quickest.",
        FIRST,
        _by_level,
    ),
    held(
        "appends-before-its-parents",
        "Your list takes in a node when it is met, and looks at its parents afterwards. They have to be in the list "
        "before it.",
        FIRST,
        lambda parents: _searched(parents, parents, early=True),
    ),
    held(
        "visits-shared-nodes-again",
        "Your list has a node once for each way that leads to it. It is computed once, however many use it.",
        FIRST,
        _nothing_shared,
    ),
    held(
        "one-node-and-what-it-needs",
        "Your list holds one node and all that it depends on. Nodes that nothing else uses are part of the graph too.",
        FIRST,
        _last_only,
    ),
    held(
        "counts-a-slot-once",
        "Your answer sees a cycle in a*a. A node that fills two slots of another is one parent and two entries: count "
        "both when you wait, and cross off both.",
        FIRST,
        _slots_as_set,
    ),
    held(
        "crosses-off-a-slot-once",
        "In a*a your answer waits for two slots and crosses off one, so that node is never free and is left out. Count "
        "both when you wait, and cross off both. On a cycle, too, nodes are left out: there that deserves an error.",
        FIRST,
        lambda parents: _slots_as_set(parents, cycles=False),
    ),
    held(
        "no-eye-for-cycles",
        "Your function returns a list for a graph with a cycle. No list has every parent before its child there.",
        FIRST,
        lambda parents: _searched(parents, parents, cycles=False),
    ),
    held(
        "makes-up-parents",
        "Your function takes a name that stands nowhere in the graph for a node. A misspelt name would pass unnoticed.",
        FIRST,
        _makes_up_parents,
    ),
    held(
        "walks-round-the-cycle",
        "On a cycle your function asks for the parents of the parents without end, until Python stops it. Notice when "
        "you meet a node again whose own parents are still being looked at. And a function that calls itself for every "
        "step is too deep for a long chain.",
        FIRST,
        _walks_round,
    ),
    held(
        "calls-itself",
        "Your function calls itself once for each step of a chain, so a long chain needs very many calls inside each "
        "other. Keep a list of your own of what is still to be done.",
        FIRST,
        _calls_itself,
    ),
)

# ---- 1.4 ------------------------------------------------------------------------------------------------------------

Slopes = Callable[[Sequence[float], float, float], Any]  # (inputs x, output y, exponent n)

RIGHT_SLOPES: dict[str, Slopes] = {
    "input": lambda x, y, n: (),
    "+": lambda x, y, n: (1.0, 1.0),
    "-": lambda x, y, n: (1.0, -1.0),
    "*": lambda x, y, n: (x[1], x[0]),
    "/": lambda x, y, n: (1 / x[1], -x[0] / x[1] ** 2),
    "neg": lambda x, y, n: (-1.0,),
    "tanh": lambda x, y, n: (1 - y * y,),
    "exp": lambda x, y, n: (y,),
    "log": lambda x, y, n: (1 / x[0],),
    "relu": lambda x, y, n: (1.0 if x[0] > 0 else 0.0,),
    "pow": lambda x, y, n: (n * x[0] ** (n - 1) if n else 0.0,),
}


def slopes_with(**wrong: Slopes) -> Callable[..., Any]:
    """A local_derivatives that is right but for the operations named, by their names in `_OPS`."""
    rules = RIGHT_SLOPES | {_OPS.get(name, name): rule for name, rule in wrong.items()}

    def local_derivatives(op: str, inputs: tuple[float, ...], output: float, n: float = 1.0) -> Any:
        return rules[op](inputs, output, n)

    return local_derivatives


_OPS = {"input_": "input", "add": "+", "sub": "-", "mul": "*", "div": "/"}


def _slope(name: str, message: str, **wrong: Slopes) -> Misconception:
    return held(name, message, EDGE, slopes_with(**wrong))


def _bare(rule: Slopes) -> Slopes:
    return lambda x, y, n: rule(x, y, n)[0]


_ONE_SLOT = ("neg", "tanh", "exp", "log", "relu", "pow")

SLOPES = (
    _slope(
        "difference-sends-plus",
        "In a − b your second slot has slope 1. Raise b a little: does a − b rise?",
        sub=lambda x, y, n: (1.0, 1.0),
    ),
    _slope(
        "minus-forgotten",
        "Your slope of −a is 1. Raise a a little: does −a rise?",
        neg=lambda x, y, n: (1.0,),
    ),
    _slope(
        "input-has-a-slope",
        'An "input" has no parents, so no edge leads into it, and there is no number to give.',
        input_=lambda x, y, n: (1.0,),
    ),
    _slope(
        "own-factor",
        "In a·b each of your slots has its own factor as slope. Nudge a by 1 and keep b: by how much does a·b move?",
        mul=lambda x, y, n: (x[0], x[1]),
    ),
    _slope(
        "product-like-a-sum",
        "Your slopes of a·b are 1 and 1: those of a sum.",
        mul=lambda x, y, n: (1.0, 1.0),
    ),
    _slope(
        "quotient-keeps-its-sign",
        "In a/b your second slot has a positive slope. Divide by more, and is the result larger?",
        div=lambda x, y, n: (1 / x[1], x[0] / x[1] ** 2),
    ),
    _slope(
        "quotient-denominator-not-squared",
        "In a/b the slope toward b has b in the denominator once in your rule. Write a/b as a·b⁻¹ and differentiate "
        "b⁻¹.",
        div=lambda x, y, n: (1 / x[1], -x[0] / x[1]),
    ),
    _slope(
        "quotient-slots-swapped",
        "Your two slopes of a/b stand in each other's place: slot 0 is what is divided, slot 1 what it is divided by.",
        div=lambda x, y, n: (-x[0] / x[1] ** 2, 1 / x[1]),
    ),
    _slope(
        "tanh-from-the-input",
        "Your slope of tanh uses the input x where the rule uses the output t.",
        tanh=lambda x, y, n: (1 - x[0] ** 2,),
    ),
    _slope(
        "tanh-not-squared",
        "Your slope of tanh is 1 − t. At t = −0.6 that is more than 1, and tanh is never that steep.",
        tanh=lambda x, y, n: (1 - y,),
    ),
    _slope(
        "tanh-with-plus",
        "Your slope of tanh is 1 + t². It grows where tanh flattens out.",
        tanh=lambda x, y, n: (1 + y * y,),
    ),
    _slope(
        "exp-slope-is-its-input",
        "Your slope of exp is its input. At x = 0 that would make the curve flat.",
        exp=lambda x, y, n: (x[0],),
    ),
    _slope(
        "exp-like-a-power",
        "Your slope of exp treats eˣ like xⁿ. Here x is the exponent, not the base.",
        exp=lambda x, y, n: (x[0] * math.exp(x[0] - 1),),
    ),
    _slope(
        "log-from-the-output",
        "Your slope of log is one over its output. Where log x is 0, at x = 1, that would be infinitely steep.",
        log=lambda x, y, n: (1 / y,),
    ),
    _slope(
        "log-slope-is-its-input",
        "Your slope of log is its input. The curve gets flatter with growing x, not steeper.",
        log=lambda x, y, n: (x[0],),
    ),
    _slope(
        "relu-always-open",
        "Your relu has slope 1 everywhere. To the left of 0 its output stays 0, whatever the input does.",
        relu=lambda x, y, n: (1.0,),
    ),
    _slope(
        "relu-hands-on-its-value",
        "Your slope of relu is its value. On the right the output moves exactly as fast as the input.",
        relu=lambda x, y, n: (max(x[0], 0.0),),
    ),
    _slope(
        "power-without-its-factor",
        "Your slope of xⁿ is xⁿ⁻¹. The factor n is missing.",
        pow=lambda x, y, n: (x[0] ** (n - 1),),
    ),
    _slope(
        "power-keeps-its-exponent",
        "Your slope of xⁿ is n·xⁿ. The exponent goes down by one.",
        pow=lambda x, y, n: (n * x[0] ** n,),
    ),
    _slope(
        "power-minus-one-outside",
        "Your slope of xⁿ is n·(xⁿ − 1): the − 1 belongs to the exponent. In Python, where do the brackets go?",
        pow=lambda x, y, n: (n * (x[0] ** n - 1),),
    ),
    _slope(
        "no-comma",
        "For operations with one slot you return a bare number. In Python (x) is just x; a tuple of one has a comma.",
        **{op: _bare(RIGHT_SLOPES[op]) for op in _ONE_SLOT},
    ),
)

# ---- 1.5 ------------------------------------------------------------------------------------------------------------

Values = Callable[[Sequence[float], float], float]

RIGHT_VALUES: dict[str, Values] = {
    "+": lambda x, n: x[0] + x[1],
    "-": lambda x, n: x[0] - x[1],
    "*": lambda x, n: x[0] * x[1],
    "/": lambda x, n: x[0] / x[1],
    "neg": lambda x, n: -x[0],
    "tanh": lambda x, n: math.tanh(x[0]),
    "exp": lambda x, n: math.exp(x[0]),
    "log": lambda x, n: math.log(x[0]),
    "relu": lambda x, n: max(x[0], 0.0),
    "pow": lambda x, n: x[0] ** n,
}


def values_with(
    *,
    listed: bool = False,
    by_name: bool = False,
    without_inputs: bool = False,
    slots_as_set: bool = False,
    used_only: bool = False,
    **wrong: Values,
) -> Callable[..., Any]:
    """A forward_pass that is right but for what is named."""
    rules = RIGHT_VALUES | {_OPS.get(name, name): rule for name, rule in wrong.items()}

    def forward_pass(graph: Graph, inputs: Numbers) -> Numbers:
        values = dict(inputs)
        for name in graph if listed else sorted(graph) if by_name else order(graph):
            node = graph[name]
            if node.op == "input":
                continue
            slots: Iterable[str] = dict.fromkeys(node.parents) if slots_as_set else node.parents
            values[name] = rules[node.op]([values[p] for p in slots], node.n)
        if without_inputs:
            return {name: value for name, value in values.items() if name not in inputs}
        if used_only:
            used = {p for node in graph.values() for p in node.parents}
            last = order(graph)[-1]
            return {name: value for name, value in values.items() if name in used or name == last}
        return values

    return forward_pass


def order_of_the_graph(graph: Graph, *_: Any) -> Any:
    """What happens to who asks for the order of the graph itself."""
    needs_parents(graph, "topological_order")


FORWARD_PASS = (
    held(
        "graph-for-parents",
        "topological_order looks at parents alone. It takes a dict from each node's name to the tuple of its parents' "
        "names.",
        FIRST,
        order_of_the_graph,
    ),
    held(
        "computes-as-listed",
        "Your pass goes through the dict in the order in which it is written, and meets a step whose parents have no "
        "value yet.",
        FIRST,
        values_with(listed=True),
    ),
    held(
        "computes-by-name",
        "Your pass goes through the nodes in alphabetical order. What a node is called says nothing about when it can "
        "be computed.",
        FIRST,
        values_with(by_name=True),
    ),
    held(
        "inputs-left-out",
        "Your answer has the computed nodes only. The inputs are nodes too, and later passes look their values up.",
        FORWARD,
        values_with(without_inputs=True),
    ),
    held(
        "two-slots-one-value",
        "Where a node fills both slots of an operation, your operation gets it once.",
        FORWARD,
        values_with(slots_as_set=True),
    ),
    held(
        "unused-nodes-left-out",
        "Your answer leaves out nodes that nothing else uses. They have values too.",
        FORWARD,
        values_with(used_only=True),
    ),
    held(
        "power-without-exponent",
        "Your pow squares, whatever the node says. The exponent stands in the node, as n.",
        FORWARD,
        values_with(pow=lambda x, n: x[0] ** 2),
    ),
    held(
        "minus-turned-round",
        "Your - takes its first slot from its second.",
        FORWARD,
        values_with(sub=lambda x, n: x[1] - x[0]),
    ),
    held(
        "quotient-upside-down",
        "Your / divides its second slot by its first.",
        FORWARD,
        values_with(div=lambda x, n: x[1] / x[0]),
    ),
    held(
        "relu-as-absolute-value",
        "Your relu turns negative numbers round. It lets nothing of them through.",
        FORWARD,
        values_with(relu=lambda x, n: abs(x[0])),
    ),
    held(
        "logarithm-to-base-ten",
        "Your log is the logarithm to base 10. Here, as in math.log, log means the natural one.",
        FORWARD,
        values_with(log=lambda x, n: math.log10(x[0])),
    ),
)

# ---- 1.6 ------------------------------------------------------------------------------------------------------------


def _paths(graph: Graph, values: Numbers, source: str, sink: str, slots_as_set: bool = False) -> list[list[float]]:
    """The local derivatives along every path, from the sink back."""
    if source == sink:
        return [[]]
    node = graph[sink]
    slopes = (
        () if node.op == "input" else RIGHT_SLOPES[node.op]([values[p] for p in node.parents], values[sink], node.n)
    )
    steps = list(zip(node.parents, slopes, strict=True))
    if slots_as_set:
        steps = list(dict(steps).items())
    return [[slope, *rest] for p, slope in steps for rest in _paths(graph, values, source, p, slots_as_set)]


def paths_with(combine: Callable[[list[list[float]]], float], slots_as_set: bool = False) -> Callable[..., float]:
    """A sum_over_paths that makes something else of the slopes along the paths."""

    def sum_over_paths(graph: Graph, values: Numbers, source: str, sink: str) -> float:
        return combine(_paths(graph, values, source, sink, slots_as_set))

    return sum_over_paths


def _sum_of_products(paths: list[list[float]]) -> float:
    return float(sum(math.prod(path) for path in paths))


def _visits_once(graph: Graph, values: Numbers, source: str, sink: str) -> float:
    met: set[str] = set()

    def walk(name: str) -> float:
        if name == source:
            return 1.0
        if name in met:
            return 0.0
        met.add(name)
        node = graph[name]
        if node.op == "input":
            return 0.0
        slopes = RIGHT_SLOPES[node.op]([values[p] for p in node.parents], values[name], node.n)
        return float(sum(walk(p) * slope for p, slope in zip(node.parents, slopes, strict=True)))

    return walk(sink)


def _first_slope(graph: Graph, values: Numbers, source: str, sink: str) -> float:
    if source == sink:
        return 1.0
    node = graph[sink]
    if node.op == "input":
        return 0.0
    slope = RIGHT_SLOPES[node.op]([values[p] for p in node.parents], values[sink], node.n)[0]
    return float(sum(_first_slope(graph, values, source, p) * slope for p in node.parents))


def _stops_at_inputs(graph: Graph, values: Numbers, source: str, sink: str) -> float:
    """Every input counts as the source."""
    node = graph[sink]
    if source == sink or node.op == "input":
        return 1.0
    slopes = RIGHT_SLOPES[node.op]([values[p] for p in node.parents], values[sink], node.n)
    steps = zip(node.parents, slopes, strict=True)
    return float(sum(_stops_at_inputs(graph, values, source, p) * slope for p, slope in steps))


PATHS = (
    held(
        "adds-along-a-path",
        "Your answer adds the local derivatives along a path. One step stretches what the step before it has stretched.",
        ALONG,
        paths_with(lambda paths: sum(sum(path) if path else 1.0 for path in paths)),
    ),
    held(
        "multiplies-across-paths",
        "Your answer multiplies what different paths bring. They act side by side: the sink moves by the one and by "
        "the other.",
        ACROSS,
        paths_with(lambda paths: math.prod(math.prod(path) for path in paths) if paths else 0.0),
    ),
    held(
        "one-path-only",
        "Your answer is that of one path: the first that you found. Every path counts.",
        ACROSS,
        paths_with(lambda paths: _sum_of_products(paths[:1])),
    ),
    held(
        "last-path-only",
        "Your answer is that of one path: each new one replaced what was there. Contributions are added.",
        ACROSS,
        paths_with(lambda paths: _sum_of_products(paths[-1:])),
    ),
    held(
        "largest-path-only",
        "Your answer is that of the path that brings most. No path wins; every one of them moves the sink.",
        ACROSS,
        paths_with(lambda paths: max((math.prod(path) for path in paths), default=0.0)),
    ),
    held(
        "average-of-paths",
        "Your answer is the mean over the paths. They do not share one nudge among them; each carries all of it.",
        ACROSS,
        paths_with(lambda paths: _sum_of_products(paths) / max(1, len(paths))),
    ),
    held(
        "visits-a-node-once",
        "Your search skips a node that it has met before. But several paths may run through one node, and each counts.",
        ACROSS,
        _visits_once,
    ),
    held(
        "two-slots-one-edge",
        "In a*a your answer counts one edge. Each slot has its own.",
        ACROSS,
        paths_with(_sum_of_products, slots_as_set=True),
    ),
    held(
        "first-slope-for-all",
        "Your answer uses the first local derivative of an operation for all its slots.",
        EDGE,
        _first_slope,
    ),
    held(
        "every-input-is-the-source",
        "Your answer counts the paths from all inputs. Only those that begin at the source belong to the sum.",
        ACROSS,
        _stops_at_inputs,
    ),
    held(
        "nothing-moves-itself",
        "You give 0 where source and sink are one node. Nudge it, and it moves by exactly that nudge.",
        ACROSS,
        lambda graph, values, source, sink: (
            0.0 if source == sink else _sum_of_products(_paths(graph, values, source, sink))
        ),
    ),
    held(
        "no-path-counts-as-one",
        "You give 1 where no path leads from source to sink. Then nudging the source moves nothing.",
        ACROSS,
        paths_with(lambda paths: _sum_of_products(paths) if paths else 1.0),
    ),
)

# ---- 1.7 ------------------------------------------------------------------------------------------------------------

F = Callable[[Any], Any]


def central(f: F, x: float, h: float = 1e-5) -> float:
    return float((f(x + h) - f(x - h)) / (2 * h))


def gradient(f: F, theta: np.ndarray, h: float = 1e-5) -> np.ndarray:
    found = np.zeros(theta.shape)
    for i in np.ndindex(theta.shape):
        up, down = theta.copy(), theta.copy()
        up[i] += h
        down[i] -= h
        found[i] = (f(up) - f(down)) / (2 * h)
    return found


def relative(g: float, g_hat: float) -> float:
    return abs(g - g_hat) / max(1.0, abs(g), abs(g_hat))


def _quotients(name: str, message: str, place: Place, quotient: Callable[[F, float, float], Any]) -> Misconception:
    """The same wrong quotient in both functions."""

    def wrong_central(f: F, x: float, h: float = 1e-5) -> float:
        return float(quotient(f, x, h))

    def wrong_gradient(f: F, theta: np.ndarray, h: float = 1e-5) -> np.ndarray:
        found = np.zeros(theta.shape)
        for i in np.ndindex(theta.shape):

            def along(x: float, i: Any = i) -> Any:
                moved = theta.copy()
                moved[i] = x
                return f(moved)

            found[i] = quotient(along, float(theta[i]), h)
        return found

    return held(name, message, place, wrong_central, wrong_gradient, relative)


def _both_move(f: F, theta: np.ndarray, h: float = 1e-5) -> np.ndarray:
    theta = theta.copy()
    found = np.zeros(theta.shape)
    for i in np.ndindex(theta.shape):
        up = down = theta
        up[i] += h
        down[i] -= h
        found[i] = (f(up) - f(down)) / (2 * h)
    return found


def _not_put_back(f: F, theta: np.ndarray, h: float = 1e-5) -> np.ndarray:
    found = np.zeros(theta.shape)
    for i in np.ndindex(theta.shape):
        theta[i] += h
        up = f(theta)
        theta[i] -= 2 * h
        found[i] = (up - f(theta)) / (2 * h)
    return found


def _moves_all(f: F, theta: np.ndarray, h: float = 1e-5) -> np.ndarray:
    up, down = theta + h, theta - h
    return np.full(theta.shape, float(f(up) - f(down)) / (2 * h))


def _flat(f: F, theta: np.ndarray, h: float = 1e-5) -> np.ndarray:
    return gradient(f, theta, h).ravel()


def _error(name: str, message: str, rule: Callable[[float, float], float]) -> Misconception:
    return held(name, message, WITNESS, central, gradient, rule)


def _gradient(name: str, message: str, rule: Callable[..., np.ndarray]) -> Misconception:
    return held(name, message, WITNESS, central, rule, relative)


def _single(f: F, x: float, h: float) -> float:
    x32, h32 = np.float32(x), np.float32(h)
    return float((np.float32(f(x32 + h32)) - np.float32(f(x32 - h32))) / (np.float32(2) * h32))


DIFFERENCES = (
    _quotients(
        "two-h-missing",
        "Your quotient is twice too large. From x − h to x + h it is how far?",
        WITNESS,
        lambda f, x, h: (f(x + h) - f(x - h)) / h,
    ),
    _quotients(
        "one-sided",
        "Your quotient looks to one side only. Its error shrinks with h; that of the central difference with h².",
        WITNESS,
        lambda f, x, h: (f(x + h) - f(x)) / h,
    ),
    _quotients(
        "one-sided-backward",
        "Your quotient looks back only. Its error shrinks with h; that of the central difference with h².",
        WITNESS,
        lambda f, x, h: (f(x) - f(x - h)) / h,
    ),
    _quotients(
        "wrong-way-round",
        "Your quotient has the opposite sign: later minus earlier, not the other way round.",
        WITNESS,
        lambda f, x, h: (f(x - h) - f(x + h)) / (2 * h),
    ),
    _quotients(
        "single-precision",
        "Your numbers have only about 7 digits (float32). The difference of two nearly equal ones keeps almost none.",
        SIZE,
        _single,
    ),
    _gradient(
        "both-copies-moved",
        "All your entries come out as 0: the two arrays that you compare are one and the same. A second name for an "
        "array is not a second array.",
        _both_move,
    ),
    _gradient(
        "not-put-back",
        "Your function leaves theta changed: an entry that was moved is not put back before the next one is.",
        _not_put_back,
    ),
    _gradient(
        "moves-all-entries",
        "You move all entries at once, so all get the same number. One entry moves at a time, the others stay.",
        _moves_all,
    ),
    _gradient(
        "flattened",
        "Your gradient is a flat list of numbers. It should have the shape of theta, one number for each entry.",
        _flat,
    ),
    _error(
        "no-floor",
        "You divide by the larger of |g| and |ĝ| even where both are tiny. Then 0.001 against 0.002 looks like an "
        "error of one half.",
        lambda g, h: abs(g - h) / max(abs(g), abs(h), 1e-300),
    ),
    _error(
        "absolute-error",
        "Your answer is the plain distance. Between 1000 and 1001 it should be small.",
        lambda g, h: abs(g - h),
    ),
    _error(
        "signed-error",
        "Your answer can be negative. How far apart two numbers are does not depend on which one is larger.",
        lambda g, h: (g - h) / max(1.0, abs(g), abs(h)),
    ),
    _error(
        "floor-added",
        "You add the 1 to the sizes of g and ĝ. It stands beside them: the largest of the three counts.",
        lambda g, h: abs(g - h) / (1 + abs(g) + abs(h)),
    ),
)

# ---- 1.8 ------------------------------------------------------------------------------------------------------------


def errors(
    f: F,
    df: F,
    x: float,
    hs: Sequence[float],
    *,
    two_sided: Callable[[F, float, float], Any] = lambda f, x, h: (f(x + h) - f(x - h)) / (2 * h),
    one_sided: Callable[[F, float, float], Any] = lambda f, x, h: (f(x + h) - f(x)) / h,
    error: Callable[[float, float], float] = lambda estimate, right: abs(estimate - right),
) -> np.ndarray:
    """The right array of 1.8, with some of its rules replaced."""
    right = float(df(x))
    rows = [[error(float(quotient(f, x, h)), right) for h in hs] for quotient in (two_sided, one_sided)]
    return np.array(rows)


def _sized(name: str, message: str, **rules: Any) -> Misconception:
    return held(name, message, SIZE, lambda f, df, x, hs: errors(f, df, x, hs, **rules))


STEP_SIZES = (
    _sized(
        "signed-errors",
        "Some of your errors are negative. On a logarithmic plot they would vanish; the size is what counts.",
        error=lambda estimate, right: estimate - right,
    ),
    _sized(
        "estimates-instead-of-errors",
        "Your array holds the estimates of the derivative. Their distance from df(x) is asked for.",
        error=lambda estimate, right: estimate,
    ),
    _sized(
        "errors-divided",
        "Your errors are divided by the size of the derivative. The plain distance is asked for.",
        error=lambda estimate, right: abs(estimate - right) / abs(right),
    ),
    _sized(
        "two-h-missing",
        "Your central difference is twice too large, so its error does not fall at all. From x − h to x + h it is how "
        "far?",
        two_sided=lambda f, x, h: (f(x + h) - f(x - h)) / h,
    ),
    _sized(
        "one-sided-twice",
        "Both your rows look to one side only. The first belongs to the central difference.",
        two_sided=lambda f, x, h: (f(x + h) - f(x)) / h,
    ),
    held(
        "rows-in-each-others-place",
        "Your first row is that of the one-sided difference. The central one comes first.",
        SIZE,
        lambda f, df, x, hs: errors(f, df, x, hs)[::-1],
    ),
    held(
        "columns-for-rows",
        "Your array has one row for each h. It should have one row for each kind of difference.",
        SIZE,
        lambda f, df, x, hs: errors(f, df, x, hs).T,
    ),
)

# ---- 1.9 ------------------------------------------------------------------------------------------------------------

FOOLED = (
    held(
        "the-rule-is-right",
        "Your rule is the right one, so there is nothing to expose. Write one that is wrong.",
        BLIND,
        lambda x, t: 1 - t * t,
        lambda: (1.5, -0.7),
    ),
    held(
        "a-blind-point",
        "At your point v is 0 again, so whatever the tanh rule says is multiplied by 0. For which a and b is ab + a = 0?",
        BLIND,
        lambda x, t: 1 + t * t,
        lambda: (3.0, -1.0),
    ),
    held(
        "right-by-chance",
        "At your point your wrong rule happens to give the right number.",
        BLIND,
        lambda x, t: 1 - t,
        lambda: (1.5, 0.0),
    ),
    held(
        "not-a-number",
        "At (2, −1) your rule gives no finite number. Zero times infinity is not zero: the check sees that.",
        BLIND,
        lambda x, t: math.inf if x == -1 else 1 + t * t,
        lambda: (1.5, -0.7),
    ),
)
