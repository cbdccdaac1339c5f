"""Lesson 3, the engine (3.0 to 3.5): cases, judges and misconceptions."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from autograder.exercises.engines import ALGORITHM, CLEARING, FAULTS, MESSAGES, ORDER, make_engine
from autograder.exercises.expressions import (
    Reference,
    close,
    drawn_case,
    graph_case,
    held,
    is_number,
    picture,
    point,
    reference,
    rule_case,
    show,
)
from autograder.exercises.model import Case, Finding, Misconception
from autograder.references.graphs import ancestors, decimal, forward, from_json, local_derivatives, order, random_graph
from autograder.student.probes.stand_ins import needs_parents

Rng = random.Random
POLYNOMIAL = ("+", "*")
RUNNING = "u = a*b; v = u + a; w = tanh(b); L = v*w"


def engine_faults(
    select: Callable[[Any], tuple[Any, ...]], names: Iterable[str] | None = None
) -> tuple[Misconception, ...]:
    """Every fault of an engine as a misconception of an exercise whose check takes `select(engine)`."""
    wanted = set(names) if names is not None else None
    return tuple(
        Misconception(f.name, f.says, lambda f=f, v=v: select(f.engine(v)), f.reread)  # type: ignore[misc]
        for f in FAULTS
        if wanted is None or f.name in wanted
        for v in range(len(f.variants))
    )


def without_aids(case: Case) -> Case:
    """A case without the runs that only help to be fair: what tells misconceptions apart is the expression itself."""
    return {key: x for key, x in case.items() if key not in ("peers", "alive", "slopes")}


def of_value(engine: Any) -> tuple[Any, ...]:
    return (engine.Value,)


def numbers(rng: Rng, names: str, *apart: float) -> dict[str, float]:
    """A number for each letter, away from 0, ±1, each other and whatever else is named."""
    found: dict[str, float] = {}
    for name in names:
        found[name] = decimal(rng, -3, 3, (0.0, 1.0, -1.0, *apart, *found.values()), 0.25)
    return found


def factor(rng: Rng) -> float:
    """An upstream gradient that cannot be taken for 1."""
    return rng.choice((1, -1)) * decimal(rng, 1.5, 4)


# ---- 3.0 The backward pass on data ----------------------------------------------------------------------------------


def wrong_pass(
    firing: Callable[[dict[str, Any], str], Iterable[str]] | None = None,
    message: Callable[[float, float], float] = lambda g, slope: g * slope,
    assign: bool = False,
    seed: Callable[[dict[str, Any], str], dict[str, float]] = lambda graph, sink: {sink: 1.0},
    per_slot: bool = True,
) -> Callable[[], tuple[Any, ...]]:
    """An adjoint_pass with one step of Algorithm 3.1 done otherwise."""

    def adjoint_pass(graph: dict[str, Any], values: dict[str, float], sink: str) -> dict[str, float]:
        graph = from_json(graph)
        found = {**dict.fromkeys(graph, 0.0), **seed(graph, sink)}
        for child in firing(graph, sink) if firing else reversed(order(graph)):
            slopes = dict(enumerate(local_derivatives(graph, values, child)))
            slots = dict(enumerate(graph[child].parents))
            if not per_slot:
                slots = {slot: parent for parent, slot in {p: s for s, p in slots.items()}.items()}
            for slot, parent in slots.items():
                sent = message(found[child], slopes[slot])
                found[parent] = sent if assign else found[parent] + sent
        return found

    return lambda: (adjoint_pass,)


def _every_path(graph: dict[str, Any], sink: str) -> Iterable[str]:
    yield sink
    for parent in graph[sink].parents:
        yield from _every_path(graph, parent)


def _depth_first(graph: dict[str, Any], sink: str) -> Iterable[str]:
    return dict.fromkeys(_every_path(graph, sink))


def _by_level(graph: dict[str, Any], sink: str) -> Iterable[str]:
    queue = [sink]
    for name in queue:
        queue += [p for p in dict.fromkeys(graph[name].parents) if p not in queue]
    return queue


def _order_of_the_graph(graph: Any, *_: Any) -> Any:
    """What happens to who asks for the order of the graph itself."""
    needs_parents(graph, "graph_order")


PASS_MISCONCEPTIONS = (
    Misconception(
        "graph-for-parents",
        "graph_order looks at parents alone. It takes a dict from each node's name to the tuple of its parents' names.",
        lambda: (_order_of_the_graph,),
        MESSAGES,
    ),
    Misconception(
        "overwrites-gradient",
        "You overwrote an adjoint: a node that is used twice gets two messages, and both must be added.",
        wrong_pass(assign=True),
        MESSAGES,
    ),
    Misconception(
        "one-message-per-parent",
        "A node that fills both slots of an operation gets one message from each slot: a*a has two edges.",
        wrong_pass(per_slot=False),
        MESSAGES,
    ),
    Misconception(
        "seed-missing",
        "All adjoints are 0: nothing was put in at the sink. Which adjoint is known before the walk begins?",
        wrong_pass(seed=lambda graph, sink: {}),
        MESSAGES,
    ),
    Misconception(
        "seeds-last-node",
        "The walk starts from the last node of the dict. It must start from the node called sink, wherever it stands.",
        wrong_pass(seed=lambda graph, sink: {list(graph)[-1]: 1.0}),
        MESSAGES,
    ),
    Misconception(
        "trusts-dict-order",
        "The nodes fire in the order in which the dict happens to list them. A graph comes in any order.",
        wrong_pass(firing=lambda graph, sink: list(graph)[::-1]),
        MESSAGES,
    ),
    # On data these two leave the same numbers: nobody but the sink has anything to send.
    *(
        Misconception(
            "only-the-sink-sends",
            "Only the sink's own messages arrive. Either nobody asks its parents to send in turn, or the nodes fire from "
            "the inputs onward, when all but the last have nothing to send yet.",
            wrong_pass(firing=firing),
            MESSAGES,
        )
        for firing in (lambda graph, sink: order(graph), lambda graph, sink: [sink])
    ),
    Misconception(
        "ignores-upstream",
        "A message is the child's adjoint times the local derivative; the child's adjoint is missing.",
        wrong_pass(message=lambda g, slope: slope),
        MESSAGES,
    ),
    Misconception(
        "adds-instead-of-multiplies",
        "You added the child's adjoint to the local derivative. Along a path the chain rule multiplies.",
        wrong_pass(message=lambda g, slope: g + slope),
        MESSAGES,
    ),
    Misconception(
        "recursion-fires-every-path",
        "A node sends once for each path that leads to it. It must send once, when all its children have sent.",
        wrong_pass(firing=_every_path),
        MESSAGES,
    ),
    Misconception(
        "fires-too-early",
        "A node sends before all its children have sent: messages that come later are not passed on.",
        wrong_pass(firing=_depth_first),
        MESSAGES,
    ),
    Misconception(
        "level-order",
        "Nodes send level by level, by their distance from the sink. A node with a short and a long path to the sink "
        "sends before the long one has arrived.",
        wrong_pass(firing=_by_level),
        MESSAGES,
    ),
)


def with_values(case: Case) -> Case:
    return {**case, "values": held(case)}


def pass_worked() -> list[Case]:
    shuffled = graph_case("order", "u = x*y; v = tanh(u); L = v*z", {"x": 1.5, "y": -0.4, "z": 2.0})
    shuffled["graph"] = {name: shuffled["graph"][name] for name in ("L", "u", "z", "v", "x", "y")}
    return [
        with_values(case)
        for case in (
            graph_case("example", RUNNING, {"a": 1.5, "b": -0.7}),
            graph_case("example", RUNNING, {"a": 2.0, "b": -1.0}),
            graph_case("chain", "y = x*c; z = exp(y)", {"x": 0.5, "c": 3.0}),
            graph_case("fan-out", "y = x*x", {"x": 3.0}),
            graph_case("fan-out", "u = a*c; t = u*u; L = u + t", {"a": 1.5, "c": 2.0}),
            shuffled,
        )
    ]


def pass_cases(rng: Rng) -> list[Case]:
    unary = ("tanh", "exp", "neg", "log", "relu")
    cases = [
        graph_case("example", RUNNING, {"a": decimal(rng, 0.5, 2), "b": rng.choice((1, -1)) * decimal(rng, 0.4, 1.5)}),
    ]
    for steps in (3, 5):
        cases.append(drawn_case("chain", *random_graph(rng, 2, steps, ("+", "-", "*", "/", *unary), fan_out=False)))
    n = numbers(rng, "abc")
    cases.append(graph_case("chain", "y = x**3; z = y*c", {"x": decimal(rng, 0.5, 1.5, (1.0,)), "c": n["c"]}))
    for text in (
        "b = a + a; c = b + b", "b = a*a; c = b*b", "u = a*c; t = c*u; L = u + t", "u = a*c; t = c*u; L = t + u",
        "u = a*c; s = c*u; t = c*s; L = u + t", "u = a*c; s = c*u; t = c*s; L = t + u",
    ):  # fmt: skip
        cases.append(graph_case("fan-out", text, n))
    for steps in (4, 7):
        cases.append(drawn_case("fan-out", *random_graph(rng, 2, steps, ("+", "-", "*", "tanh", "relu"))))
    for steps in (4, 6):
        # A tree in any order, with a further node that the sink does not need.
        graph, inputs, sink = random_graph(rng, 3, steps, ("+", "*", "tanh", "neg"), fan_out=False)
        case = drawn_case("order", graph, inputs, sink)
        aside = {**case["graph"], "aside": ["*", [sink, rng.choice(list(inputs))], 1.0]}
        names = list(aside)
        while names == list(aside) or names[-1] == sink or _is_ordered(aside, names):
            rng.shuffle(names)
        case["graph"] = {name: aside[name] for name in names}
        cases.append(case)
    return [with_values(case) for case in cases]


def _is_ordered(graph: Mapping[str, Any], names: Sequence[str]) -> bool:
    """Does this listing happen to put every parent before its child?"""
    return all(names.index(p) < names.index(name) for name in names for p in graph[name][1])


# ---- 3.1 Add and multiply -------------------------------------------------------------------------------------------

ALIVE = ("a + b", "a * b")


def twice(op: str) -> list[tuple[str, Mapping[str, str | float]]]:
    """a op a, written with two leaves of the same value: what the rule sends when nothing has to be added up."""
    return [(f"x {op} y", {"x": "a", "y": "a"})]


def alone(text: str) -> list[tuple[str, Mapping[str, str | float]]]:
    """The same expression with nothing there before."""
    return [(text, {})]


def with_number(text: str, c: float) -> Case:
    """An operation with a plain number on one side; its peer is the same with a Value in the number's place."""
    op = "add" if "+" in text else "mul"
    return rule_case("numbers", op, text.replace("c", show(c)), {"a": 1.5}, peers=[(text, {"c": c})], alive=ALIVE)


def add_mul_worked() -> list[Case]:
    ab = {"a": 2.0, "b": -3.0}
    return [
        rule_case("add", "add", "a + b", ab),
        rule_case("mul", "mul", "a*b", ab),
        rule_case("add", "add", "a + b", ab, 5.0),
        rule_case("mul", "mul", "a*b", ab, 5.0),
        rule_case("accumulate", "add", "a + a", {"a": 3.0}, peers=twice("+"), alive=ALIVE),
        rule_case("accumulate", "mul", "a*a", {"a": 3.0}, peers=twice("*"), alive=ALIVE),
        *(with_number(text, 2.0) for text in ("a + c", "c + a", "a*c", "c*a")),
    ]


def add_mul_cases(rng: Rng) -> list[Case]:
    n = numbers(rng, "abc", 2.0)
    ab, g, h = {"a": n["a"], "b": n["b"]}, factor(rng), factor(rng)
    cases = []
    for part, op in (("add", "+"), ("mul", "*")):
        cases += [
            rule_case(part, part, f"a {op} b", ab),
            rule_case(part, part, f"a {op} b", ab, upstream=g),
            rule_case(part, part, f"(a {op} b) {op} c", n),
            rule_case(part, part, f"a {op} (b {op} c)", n, upstream=h),
            rule_case(part, part, f"a {op} b", ab, before={"a": h, "b": g}, witness=True),
            rule_case("accumulate", part, f"a {op} a", {"a": n["c"]}, upstream=g, peers=twice(op), alive=ALIVE),
        ]
        cases.append(
            rule_case("accumulate", part, f"a {op} b", ab, g, {"a": h}, alone(f"a {op} b"), ALIVE, judged=["a"])
        )
    c = decimal(rng, 1.5, 4)
    cases += [with_number(text, c) for text in ("a + c", "c + a", "a*c", "c*a")]
    cases.append(rule_case("numbers", "add", "0 + a + b", ab, peers=[("z + a + b", {"z": 0.0})], alive=ALIVE))
    return cases


# ---- 3.2 Eight more operations --------------------------------------------------------------------------------------

UNARY: dict[str, tuple[str, Sequence[float], Callable[[Rng], float]]] = {
    # operation: expression, worked points, how to draw others
    "tanh": ("tanh(x)", (-0.7, 1.5), lambda rng: decimal(rng, -1.6, 1.6, (0.0,), 0.3)),
    "exp": ("exp(x)", (0.7,), lambda rng: decimal(rng, -1.5, 1.5, (0.0, 1.0))),
    "log": ("log(x)", (2.0,), lambda rng: decimal(rng, 0.3, 4, (1.0, 2.71))),
    "relu": ("relu(x)", (-1.0, -0.4, 0.4, 2.0), lambda rng: rng.choice((1, -1)) * decimal(rng, 0.3, 3, (1.0,))),
    "pow": ("x**3", (2.0,), lambda rng: decimal(rng, 0.4, 2.5, (1.0,))),
}
# Each operation on its own result: does the new Value say where it came from?
NESTED: dict[str, tuple[str, float, float]] = {
    # operation: expression, between which points to draw
    "tanh": ("tanh(tanh(x))", 0.3, 1.6),
    "exp": ("exp(exp(x))", -1.5, 0.6),
    "log": ("log(log(x))", 1.4, 2.5),
    "relu": ("relu(relu(x))", 0.3, 3.0),
    "pow": ("(x**3)**2", 0.6, 1.3),
}
COMPOSED_ALIVE = (*ALIVE, "a**3")
# operation: [(expression, names, other ways to write it)]
COMPOSED: dict[str, list[tuple[str, str, list[tuple[str, Mapping[str, str | float]]]]]] = {
    "neg": [
        ("-a", "a", [("a * c", {"c": -1.0}), ("c * a", {"c": -1.0})]),
        ("-a + a", "a", [("a * c + a", {"c": -1.0}), ("c * a + a", {"c": -1.0})]),
    ],
    "sub": [
        ("a - b", "ab", [("a + -b", {}), ("-b + a", {}), ("a + b*c", {"c": -1.0}), ("a + c*b", {"c": -1.0})]),
        ("a - a", "a", [("a + -a", {}), ("-a + a", {}), ("a + a*c", {"c": -1.0}), ("a + c*a", {"c": -1.0})]),
        ("1 - a", "a", [("k + -a", {"k": 1.0}), ("-a + k", {"k": 1.0}), ("k + a*c", {"k": 1.0, "c": -1.0})]),
        ("a - 1", "a", [("a + c", {"c": -1.0}), ("a + -k", {"k": 1.0})]),
    ],
    "div": [
        ("a / b", "ab", [("a * b**-1", {}), ("b**-1 * a", {})]),
        ("a / a", "a", [("a * a**-1", {}), ("a**-1 * a", {})]),
        ("2 / a", "a", [("k * a**-1", {"k": 2.0}), ("a**-1 * k", {"k": 2.0})]),
        ("a / 2", "a", [("a * h", {"h": 0.5}), ("a * k**-1", {"k": 2.0})]),
    ],
}


def composed(text: str, names: str, peers: Any, inputs: Mapping[str, float], upstream: float = 1.0) -> Case:
    op = next(op for op, rows in COMPOSED.items() if any(text == row[0] for row in rows))
    return rule_case(op, op, text, {name: inputs[name] for name in names}, upstream, peers=peers, alive=COMPOSED_ALIVE)


def operations_worked() -> list[Case]:
    cases = [rule_case(op, op, text, {"x": x}) for op, (text, points, _) in UNARY.items() for x in points]
    cases.append(rule_case("relu", "relu", "relu(x)", {"x": 0.0}, kink=True))
    cases.append(rule_case("pow", "pow", "x**2", {"x": -3.0}))
    return cases + [composed(*row, {"a": 4.0, "b": -3.0}) for rows in COMPOSED.values() for row in rows]


def operations_cases(rng: Rng) -> list[Case]:
    cases = []
    for op, (text, _, draw) in UNARY.items():
        texts = [text]
        if op == "pow":
            texts += [f"x**{n}" for n in (2, -1, -2, rng.choice((0.5, 1.5, 2.5)))]
        if op == "relu":
            # Both signs of the input, each with both signs of the gradient from above.
            x = abs(draw(rng))
            cases += [rule_case(op, op, text, {"x": s * x}, u * abs(factor(rng))) for s in (1, -1) for u in (1, -1)]
        for written in texts:
            at = {"x": draw(rng)}
            cases += [
                rule_case(op, op, written, at),
                rule_case(op, op, written, at, upstream=factor(rng)),
                rule_case(op, op, written, {"x": draw(rng)}, factor(rng), {"x": factor(rng)}),
            ]
        cases.append(rule_case(op, op, text, {"x": abs(draw(rng))}, factor(rng), {"x": factor(rng)}))
        nested, low, high = NESTED[op]
        cases.append(rule_case(op, op, nested, {"x": decimal(rng, low, high, (0.0, 1.0))}, factor(rng)))
    for rows in COMPOSED.values():
        for row in rows:
            inputs = numbers(rng, "ab", 2.0)
            cases += [composed(*row, inputs), composed(*row, inputs, factor(rng))]
    return cases


# ---- 3.3 Topological order ------------------------------------------------------------------------------------------


def judge_order(case: Case, seen: Any) -> Finding | None:
    """Any list with every node once and every parent before its child."""
    if "chain" in case:
        return _judge_chain(case, seen)
    graph, at = from_json(case["graph"]), point(case["inputs"])
    needed = ancestors(graph, case["sink"])
    listed = [name for name in seen["order"] if name in needed]
    shown = ", ".join(listed) if listed else "nothing"
    told = f"{at}: {case['text']}; topological_order({case['sink']}) lists {shown}"

    def finding(why: str, node: str) -> Finding:
        return Finding(
            f"{told}. {why}",
            where=node,
            size=case["size"],
            picture=picture(case["graph"], held(case), {}, {}, node, f"{case['text']} at {at}"),
        )

    for name in order(graph):
        if name in needed and name not in listed:
            return finding(f"{name} is missing: every node that {case['sink']} depends on belongs in the list.", name)
        if listed.count(name) > 1:
            return finding(
                f"{name} stands there {listed.count(name)} times; every node belongs in the list once.", name
            )
    for name in listed:
        for parent in graph[name].parents:
            if listed.index(parent) > listed.index(name):
                return finding(f"{name} stands before its parent {parent}.", name)
    return None


def _judge_chain(case: Case, seen: Any) -> Finding | None:
    length = case["chain"]
    right = {str(k): float(k) for k in case["at"]}
    if seen["length"] == length and all(close(seen["at"].get(k), x) for k, x in right.items()):
        return None
    return Finding(
        f"A chain of {length:,} nodes: your list has {show(seen['length'])} nodes, or not in the order from the first "
        f"to the last; expected {length:,}, the input first and the root last.",
        where="deep",
        size=float(length),
    )


def wrong_order(visit: Callable[[Any], list[Any]]) -> Callable[[], tuple[Any, ...]]:
    return lambda: (visit, make_engine().Value)


def _post_order(node: Any, met: set[Any] | None, key: Callable[[Any], Any] = id, leaves: bool = True) -> list[Any]:
    """Parents, then the node; without `met` a node comes again on each path."""
    if met is not None:
        if key(node) in met:
            return []
        met.add(key(node))
    below = [x for parent in node._parents for x in _post_order(parent, met, key, leaves)]
    return [*below, node] if leaves or node._parents else below


def _pre_order(node: Any, met: set[int]) -> list[Any]:
    met.add(id(node))
    found = [node]
    for parent in node._parents:
        if id(parent) not in met:
            found += _pre_order(parent, met)
    return found


def _levels(root: Any) -> list[Any]:
    queue, met = [root], {id(root)}
    for node in queue:
        for parent in node._parents:
            if id(parent) not in met:
                met.add(id(parent))
                queue.append(parent)
    return queue


ORDER_MISCONCEPTIONS = (
    Misconception(
        "children-first",
        "Your list runs from the root to the inputs. Each parent has to stand before its child; the root comes last.",
        wrong_order(lambda root: _post_order(root, set())[::-1]),
        ORDER,
    ),
    Misconception(
        "appends-before-parents",
        "A node goes into your list when it is opened. It must wait until all its parents are in.",
        wrong_order(lambda root: _pre_order(root, set())),
        ORDER,
    ),
    Misconception(
        "appends-before-parents",
        "A node goes into your list when it is opened. It must wait until all its parents are in.",
        wrong_order(lambda root: _pre_order(root, set())[::-1]),
        ORDER,
    ),
    Misconception(
        "level-order",
        "Your list goes level by level from the root. A node with a short and a long way to the root lands on the "
        "wrong side of its children.",
        wrong_order(lambda root: _levels(root)[::-1]),
        ORDER,
    ),
    Misconception(
        "level-order",
        "Your list goes level by level from the root, root first. Parents have to stand before their children.",
        wrong_order(_levels),
        ORDER,
    ),
    Misconception(
        "visits-shared-twice",
        "A node that is used twice stands in your list twice. Remember which nodes have been opened.",
        wrong_order(lambda root: _post_order(root, None)),
        ORDER,
    ),
    Misconception(
        "visited-by-value",
        "Two different nodes with equal values are taken for one. Tell nodes apart by identity.",
        wrong_order(lambda root: _post_order(root, set(), lambda node: node.data)),
        ORDER,
    ),
    Misconception(
        "leaves-missing",
        "The inputs are missing from your list. They depend on nothing, but they are nodes too.",
        wrong_order(lambda root: _post_order(root, set(), leaves=False)),
        ORDER,
    ),
    Misconception(
        "root-missing",
        "The root itself is missing from your list.",
        wrong_order(lambda root: _post_order(root, set())[:-1]),
        ORDER,
    ),
)
DEEP = 100_000


def shallow(case: Case) -> Case | None:
    """The deep chain tells recursion from iteration, and no misconception from another."""
    return None if "chain" in case else case


def order_worked() -> list[Case]:
    n = {"a": 2.0, "b": -3.0, "c": 1.5}
    return [
        graph_case("order", "u = a*b; L = u + c", n),
        graph_case("shared", "b = a + a; c = b*a", {"a": 2.0}),
        graph_case("shared", "u = a + b; v = u*u; L = v + a", n),
        graph_case("shared", "L = a*b", {"a": 2.0, "b": 2.0}),
        {"part": "deep", "chain": DEEP, "at": [0, 1, 2, DEEP // 2, DEEP - 2, DEEP - 1], "size": float(DEEP),
         "says": f"a chain of {DEEP:,} nodes"},
    ]  # fmt: skip


def order_cases(rng: Rng) -> list[Case]:
    n = numbers(rng, "abc")
    cases = [drawn_case("order", *random_graph(rng, 3, steps, POLYNOMIAL, fan_out=False)) for steps in (3, 5, 8)]
    cases += [drawn_case("shared", *random_graph(rng, 2, steps, POLYNOMIAL)) for steps in (5, 8, 12)]
    cases += [
        graph_case("shared", "u = a*b; s = b*u; t = c*s; L = u + t", n),
        graph_case("shared", "u = a*b; s = b*u; t = c*s; L = t + u", n),
        graph_case("shared", "u = a*c; v = b*c; L = u + v", {"a": n["a"], "b": n["a"], "c": n["b"]}),
    ]
    return cases


# ---- 3.4 The backward pass ------------------------------------------------------------------------------------------


def slopes(graph: Mapping[str, Any], inputs: Mapping[str, float]) -> dict[str, list[float]]:
    """The local derivatives of a case's graph, to be put in the place of the engine's own."""
    nodes = from_json(graph)
    values = forward(nodes, inputs)
    return {name: list(local_derivatives(nodes, values, name)) for name, node in nodes.items() if node.parents}


def with_right_rules(cases: Iterable[Case]) -> list[Case]:
    """Cases of 3.4, each with right rules for its graphs."""
    runs = ("graph", "instead")
    return [
        {**case, "slopes": {run: slopes(case[run], case["inputs"]) for run in runs if run in case}} for case in cases
    ]


def backward_worked() -> list[Case]:
    ac = {"a": 1.0, "c": 3.0, "d": 2.0}
    no_tanh = "u = a*b; v = u + a; w = b*b; L = v*w"
    cases = [
        # A second call tells the forward order from a root that fires alone.
        graph_case("chain", "y = c*x; z = y + d; L = z*e", {"x": 2.0, "c": 3.0, "d": 1.0, "e": 2.0}, twice=True),
        graph_case("paths", "u = c*a; t = d*u; L = u + t", ac),
        graph_case("paths", "u = c*a; t = d*u; L = t + u", ac),
        graph_case("fan-out", "b = a + a; c = b + b", {"a": 3.0}),
        *(
            graph_case("example", RUNNING, {"a": a, "b": b}, instead=graph_case("", no_tanh, {"a": a, "b": b})["graph"])
            for a, b in ((1.5, -0.7), (2.0, -1.0))
        ),
    ]
    return with_right_rules(cases)


def backward_cases(rng: Rng) -> list[Case]:
    n = numbers(rng, "abcd", 2.0)
    names = {**n, "x": n["a"]}
    twins = {"a": 2.0, "b": 3.0, "c": 1.0, "d": 5.0}
    cases = [graph_case("chain", "y = c*x; z = y + d; L = z*b", names, twice=True)]
    cases += [drawn_case("chain", *random_graph(rng, 2, steps, POLYNOMIAL, fan_out=False)) for steps in (4, 9)]
    for text in (
        "u = c*a; t = d*u; L = u + t", "u = c*a; t = d*u; L = t + u",
        "u = c*a; s = d*u; t = d*s; L = u + t", "u = c*a; s = d*u; t = d*s; L = t + u",
    ):  # fmt: skip
        cases.append(graph_case("paths", text, n))
    # u and v are two nodes of equal value.
    cases += [
        graph_case("paths", "u = a + b; v = c*d; L = u*v", twins),
        graph_case("paths", "v = c*d; u = a + b; L = v*u", twins),
    ]
    for text in (
        "b = a + a; c = b + b",
        "b = a*a; c = b*b",
        "b = a + a; c = b*b; L = c + b",
        "b = a*a; c = b + b; L = b*c",
    ):
        cases.append(graph_case("fan-out", text, {"a": n["a"]}))
    cases += [drawn_case("fan-out", *random_graph(rng, 2, steps, POLYNOMIAL)) for steps in (5, 8, 12)]
    return with_right_rules(cases)


def _fires_with_one(engine: Any) -> Any:
    def value_backward(root: Any) -> None:
        root.grad = 1.0
        for node in reversed(engine.topological_order(root)):
            if node._backward is not None:
                node._backward(1.0)

    return value_backward


# Not among the engines' faults: from outside it is what rules without the upstream are, and only here can it be told.
BACKWARD_MISCONCEPTIONS = (
    *engine_faults(of_value),
    Misconception(
        "fires-with-one",
        "Every node's rule is called with 1. Only the root's gradient is 1; each other node sends on what it has "
        "received itself.",
        lambda: of_value(make_engine(value_backward=_fires_with_one)),
        ALGORITHM,
    ),
)


# ---- 3.5 A second backward ------------------------------------------------------------------------------------------

PLAIN = graph_case("", "L = a*b", {"a": 2.0, "b": 3.0})


def judge_second(case: Case, seen: Any) -> Finding | None:
    """Three backward passes on one graph, by the engine as it is or over right rules.

    That they add up is asked here. What a single pass has to give is the matter of 3.1 and 3.4, so it may be wrong, and
    even nothing, as long as it is the same three times.
    """
    if case["part"] == "zero-grad":
        return _judge_zeroed(case, seen)
    if _adds_up_when_planted(case, seen["planted"]):
        return None
    if seen["passes"] is None:
        return Finding(
            f"{case['says']}: a rule raises an error in {case['sink']}.backward(), and three calls over right rules do "
            "not add up either. Mend the rule first: run this by hand to see where it stops.",
            where=case["part"],
            size=case["size"],
        )
    return _judge_passes(case, seen)


def _adds_up_when_planted(case: Case, planted: Mapping[str, Any] | None) -> bool:
    """Do three passes over right rules add up, with nothing left in between that is counted again?"""
    if planted is None:
        return False
    first, second, third = planted["passes"]
    names = list(case["inputs"])
    right = reference(case["graph"], case["inputs"], case["sink"])
    between = [name for name in first if name not in names and name != case["sink"]]
    if case["part"] == "second-backward":
        sound = _judge_first(case, first, right.adjoints, right) is None
    else:  # a pass that goes wrong may never show at the inputs what is left in between: so that has to be as it was
        sound = all(close(first[name], right.adjoints[name]) for name in names) or all(
            close(grads[name], first[name]) for grads in (second, third) for name in between
        )
    ratios = _ratios(planted.get("plain"))
    flows = any(first[name] for name in (*names, *between))
    return sound and flows and _adds_up(planted["passes"], ratios, names)


def _ratios(plain: Any) -> tuple[float, float]:
    """How much a second and a third pass add where there is nothing in between: judged by the other part."""
    if plain and is_number(plain[0]["a"]) and abs(plain[0]["a"]) > 1e-6:
        return plain[1]["a"] / plain[0]["a"], plain[2]["a"] / plain[0]["a"]
    return 2.0, 3.0


def _adds_up(passes: Sequence[Mapping[str, Any]], ratios: tuple[float, float], names: Iterable[str]) -> bool:
    first, *more = passes
    return all(
        close(grads[name], ratio * first[name]) for grads, ratio in zip(more, ratios, strict=True) for name in names
    )


def _judge_passes(case: Case, seen: Any) -> Finding | None:
    first, second, _ = seen["passes"]
    at, names = point(case["inputs"]), list(case["inputs"])
    right = reference(case["graph"], case["inputs"], case["sink"])
    ratios = _ratios(seen.get("plain"))
    wrong = [name for name in names if not _adds_up(seen["passes"], ratios, [name])]
    if all(first[name] == 0 for name in names):
        wrong = names
    if not wrong and case["part"] == "second-backward" and seen["summed"] is not None:
        return _judge_first(case, first, seen["summed"], right)
    if not wrong:
        return None
    name = wrong[0]
    seen_text = ", ".join(show(grads[name]) for grads in seen["passes"])
    want = ", ".join(show(k * right.adjoints[name]) for k in (1, 2, 3))
    between = [n for n in case["graph"] if n not in case["inputs"] and n != case["sink"]]
    hint = (
        f" What {'does' if len(between) == 1 else 'do'} {', '.join(between)} hold when the second pass begins?"
        if between and case["part"] == "stale"
        else ""
    )
    return Finding(
        f"{at}: {case['text']}, and {case['sink']}.backward() three times on the same graph; your gradient of {name}: "
        f"{seen_text}; expected {want}: each call adds one more gradient.{hint}",
        where=case["part"],
        size=case["size"],
        picture=picture(
            case["graph"],
            right.values,
            second,
            {k: 2 * v for k, v in right.adjoints.items()},
            name,
            f"{case['text']}, second pass",
        ),
    )


def _judge_first(case: Case, first: Mapping[str, Any], summed: Mapping[str, float], right: Reference) -> Finding | None:
    """Whether the first pass adds what the messages say and nothing else, whatever number it was seeded with (3.4)."""
    names = list(case["inputs"])
    largest = max(names, key=lambda name: abs(summed[name]))
    seed = first[largest] / summed[largest] if summed[largest] else 1.0
    name = next((name for name in names if not close(first[name], seed * summed[name])), None)
    if name is None or all(close(first[n], right.adjoints[n]) for n in names):
        return None
    return Finding(
        f"{point(case['inputs'])}: {case['text']}, and {case['sink']}.backward() once; your gradient of {name}: "
        f"{show(first[name])}; expected {show(right.adjoints[name])}. A pass adds the messages that its operations "
        "send, and nothing else.",
        where=case["part"],
        size=case["size"],
        picture=picture(case["graph"], right.values, first, right.adjoints, name, f"{case['text']}, first pass"),
    )


def _judge_zeroed(case: Case, seen: Any) -> Finding | None:
    for i, (g, x) in enumerate(zip(case["grads"], case["data"], strict=True)):
        cleared = i in case["clear"]
        want = 0.0 if cleared else g
        if not close(seen["grads"][i], want):
            which = "was given to zero_grad" if cleared else "was not given to zero_grad"
            if seen["grads"][i] is None:
                return Finding(
                    f"A Value with grad = {show(g)} {which}; afterwards its grad is None, expected {show(want)}: the "
                    "next message could not be added to None.",
                    where="zero_grad",
                )
            return Finding(
                f"A Value with grad = {show(g)} {which}; afterwards its grad is {show(seen['grads'][i])}, expected "
                f"{show(want)}.",
                where="zero_grad",
            )
        if not close(seen["data"][i], x):
            return Finding(
                f"zero_grad changed the data of a Value from {show(x)} to {show(seen['data'][i])}. Only gradients are "
                "cleared.",
                where="zero_grad",
            )
    return None


def same_second(case: Case, predicted: Any, seen: Any) -> bool:
    if case["part"] == "zero-grad":
        return all(close(s, p) for key in ("grads", "data") for p, s in zip(predicted[key], seen[key], strict=True))
    return seen["passes"] is not None and all(
        close(s[name], p[name])
        for p, s in zip(predicted["passes"], seen["passes"], strict=True)
        for name in case["inputs"]
    )


def _zero(case_data: Sequence[float], grads: Sequence[float], clear: Sequence[int], iterator: bool) -> Case:
    return {"part": "zero-grad", "data": list(case_data), "grads": list(grads), "clear": list(clear),
            "iterator": iterator, "size": 1.0, "says": "zero_grad on a few Values"}  # fmt: skip


def _with_right_rules(cases: Iterable[Case]) -> list[Case]:
    """Cases of passes, each with right rules for its graph and its plain one."""

    def all_slopes(case: Case) -> Case:
        runs = {"passes": case, "plain": case.get("plain")}
        return {name: slopes(run["graph"], run["inputs"]) for name, run in runs.items() if run is not None}

    return [{**case, "slopes": all_slopes(case)} if "graph" in case else case for case in cases]


def second_worked() -> list[Case]:
    return _with_right_rules([
        {**PLAIN, "part": "second-backward"},
        graph_case("stale", "u = a*b; f = u + a", {"a": 2.0, "b": 3.0}, plain=PLAIN),
        _zero((2.0, -3.0), (4.0, 1.5), (0, 1), iterator=False),
    ])  # fmt: skip


def second_cases(rng: Rng) -> list[Case]:
    n = numbers(rng, "abc")
    return _with_right_rules([
        graph_case("second-backward", "L = a*b", n | {}),
        graph_case("second-backward", "L = a + b", n | {}),
        graph_case("second-backward", "L = a*a", n | {}),
        graph_case("stale", "u = a*b; f = u + a", n, plain=PLAIN),
        graph_case("stale", "u = a*b; v = u*u; L = v + u", n, plain=PLAIN),
        *(drawn_case("stale", *random_graph(rng, 2, steps, POLYNOMIAL), plain=PLAIN) for steps in (4, 7)),
        _zero(list(n.values()), [factor(rng) for _ in n], rng.sample(range(3), 2), iterator=False),
        _zero(list(n.values()), [factor(rng) for _ in n], rng.sample(range(3), 2), iterator=True),
    ])  # fmt: skip


def _zero_misconception(name: str, says: str, zero_grad: Callable[[Any], None]) -> Misconception:
    return Misconception(name, says, lambda: (make_engine().Value, zero_grad), CLEARING)


def _set_data(values: Any) -> None:
    for value in values:
        value.data = 0.0


def _both(values: Any) -> None:
    for value in values:
        value.data = value.grad = 0.0


def _first_only(values: Any) -> None:
    for value in values:
        value.grad = 0.0
        break


SECOND_MISCONCEPTIONS = (
    *engine_faults(
        lambda e: (e.Value, e.zero_grad),
        ("stale-intermediates", "seed-added", "clears-leaves"),
    ),
    _zero_misconception(
        "zero-grad-does-nothing",
        "zero_grad leaves every gradient as it was. Assigning to a variable changes the variable, not the Value.",
        lambda values: None,
    ),
    _zero_misconception(
        "zero-grad-clears-data", "zero_grad clears data. It is grad that has to be cleared.", _set_data
    ),
    _zero_misconception("zero-grad-clears-data", "zero_grad clears data as well as grad.", _both),
    _zero_misconception("zero-grad-first-only", "zero_grad stops after the first Value.", _first_only),
)
