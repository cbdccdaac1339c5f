"""Small graphs as cases: how they are written, judged against the references, told to a learner and drawn."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from autograder.exercises.model import Case, Finding
from autograder.references import finite_difference, pytorch
from autograder.references.graphs import Graph, Node, Numbers, ancestors, forward, from_json, order, parse, to_json

TOLERANCE = 1e-6  # relative, over max(1, |g|, |ĝ|): far above rounding, far below any wrong rule
SYMBOL = {"+": "+", "-": "−", "*": "·", "/": "/", "neg": "−"}


# ---- numbers --------------------------------------------------------------------------------------------------------


def is_number(x: Any) -> bool:
    """A finite number in evidence; the strings "nan" and "inf" are none."""
    return isinstance(x, (int, float)) and not isinstance(x, bool) and math.isfinite(x)


def close(x: Any, y: float, tolerance: float = TOLERANCE) -> bool:
    return is_number(x) and abs(x - y) <= tolerance * max(1.0, abs(x), abs(y))


def show(x: Any) -> str:
    """A number as a person writes it: six significant digits, no −0."""
    if not is_number(x):
        return "nothing" if x is None else str(x)[:40]
    text = f"{x:.6g}"
    return "0" if float(text) == 0 else text


def point(inputs: Mapping[str, float]) -> str:
    """ "a = 2, b = -3" """
    return ", ".join(f"{name} = {show(x)}" for name, x in inputs.items())


# ---- references -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reference:
    """What is right for one graph at one point: values and adjoints of all nodes by PyTorch in float64."""

    graph: Graph
    inputs: Numbers
    sink: str
    values: Numbers
    adjoints: Numbers

    def difference(self, name: str) -> float:
        """The adjoint of `name` by central differences."""
        return finite_difference.adjoint(self.graph, self.inputs, self.sink, name)

    def witnesses(self, name: str) -> str:
        return f"finite differences {self.difference(name):.4f}, PyTorch {show(self.adjoints[name])}"


def reference(graph: Mapping[str, Sequence[Any]], inputs: Mapping[str, float], sink: str) -> Reference:
    """The reference of a case's graph (as JSON)."""
    frozen = tuple((name, op, tuple(parents), n) for name, (op, parents, n) in graph.items())
    return _reference(frozen, tuple(inputs.items()), sink)


@lru_cache(maxsize=2048)
def _reference(graph: tuple[Any, ...], inputs: tuple[Any, ...], sink: str) -> Reference:
    nodes = {name: Node(op, parents, n) for name, op, parents, n in graph}
    values, adjoints = pytorch.adjoints(nodes, dict(inputs), sink)
    return Reference(nodes, dict(inputs), sink, values, adjoints)


# ---- cases ----------------------------------------------------------------------------------------------------------


def graph_case(part: str, text: str, inputs: Mapping[str, float], **more: Any) -> Case:
    """A case about the graph that `text` writes down, at `inputs`; its size is its number of steps."""
    graph, sink = parse(text)
    return {
        "part": part,
        "text": text,
        "graph": to_json(graph),
        "sink": sink,
        "inputs": {name: float(inputs[name]) for name, node in graph.items() if node.op == "input"},
        "says": f"{point(inputs)}: {text}",
        "size": float(sum(node.op not in ("input", "number") for node in graph.values())),
        **more,
    }


def drawn_case(part: str, graph: Graph, inputs: Numbers, sink: str, **more: Any) -> Case:
    """A case about a graph that was drawn at random."""
    text = describe(graph)
    return {
        "part": part,
        "text": text,
        "graph": to_json(graph),
        "sink": sink,
        "inputs": inputs,
        "says": f"{point(inputs)}: {text}",
        "size": float(len(graph)),
        **more,
    }


def step(name: str, node: Node) -> str:
    """One node as text: "u = a*b"."""
    if node.op == "input":
        return name
    if node.op == "number":
        return show(node.n)
    if node.op in ("+", "-", "*", "/"):
        written = f"{node.parents[0]}{node.op if node.op in '*/' else f' {node.op} '}{node.parents[1]}"
    elif node.op == "neg":
        written = f"-{node.parents[0]}"
    elif node.op == "pow":
        written = f"{node.parents[0]}**{show(node.n)}"
    else:
        written = f"{node.op}({node.parents[0]})"
    return written if name.replace(" ", "") == written.replace(" ", "") else f"{name} = {written}"


def describe(graph: Graph) -> str:
    """The graph as a line of Python."""
    return "; ".join(step(name, graph[name]) for name in order(graph) if graph[name].op not in ("input", "number"))


# ---- pictures -------------------------------------------------------------------------------------------------------


def picture(
    graph: Mapping[str, Sequence[Any]],
    values: Mapping[str, float],
    yours: Mapping[str, Any],
    right: Mapping[str, float],
    first: str | None,
    title: str,
) -> dict[str, Any]:
    """A graph as data, in the format of `Finding.picture`."""

    def clean(x: Any) -> float | None:
        return float(x) if is_number(x) else None

    return {
        "title": title,
        "nodes": [
            {
                "id": name,
                "label": show(n) if op == "number" else name,
                "op": op,
                "value": clean(values.get(name)),
                "yours": clean(yours.get(name)),
                "right": clean(right.get(name)),
                "first": name == first,
            }
            for name, (op, _, n) in graph.items()
        ],
        "edges": [
            {"from": parent, "to": name, "slot": slot}
            for name, (_, parents, _) in graph.items()
            for slot, parent in enumerate(parents)
        ],
    }


# ---- local rules: exercises 3.1 and 3.2 -----------------------------------------------------------------------------

Leaves = Mapping[str, str | float]  # a peer's leaf: the input that it stands for, or a constant
Peer = tuple[str, Leaves]


def rule_case(
    part: str,
    op: str,
    text: str,
    inputs: Mapping[str, float],
    upstream: float = 1.0,
    before: Mapping[str, float] | None = None,
    peers: Sequence[Peer] = (),
    alive: Sequence[str] = (),
    judged: Iterable[str] | None = None,
    witness: bool = False,
    kink: bool = False,
) -> Case:
    """A case about the gradients that `text` sends when `upstream` arrives and `before` is there already.

    `peers` are (text, {leaf: input}) that say the same by other operations; an answer that agrees with one of them is
    right as far as this operation goes. `judged` names the inputs whose gradients count (default all). A `witness` is
    there to tell misconceptions apart and never counts. At a `kink` any slope from 0 to 1 is right.
    """
    case = graph_case(part, text, inputs, op=op, upstream=upstream, before=dict(before or {}))
    case["size"] += 0.1 * (upstream != 1) + 0.1 * len(case["before"])
    case["judged"] = list(judged or case["inputs"])
    case["witness"], case["kink"] = witness, kink
    case["peers"] = [_peer(p, leaves, case["inputs"], upstream) for p, leaves in peers]
    case["alive"] = [simple_run(text) for text in alive]
    return case


def simple_run(text: str) -> dict[str, Any]:
    """An expression in a and b at a fixed point, for the probe to run beside a case."""
    return _peer(text, {}, {"a": 1.5, "b": -0.7}, 1.0)


def _peer(text: str, leaves: Leaves, inputs: Mapping[str, float], upstream: float) -> dict[str, Any]:
    graph, sink = parse(text)
    names = {name: leaves.get(name, name) for name, node in graph.items() if node.op == "input"}
    return {
        "graph": to_json(graph),
        "sink": sink,
        "leaves": {leaf: name for leaf, name in names.items() if isinstance(name, str)},
        "inputs": {leaf: inputs[name] if isinstance(name, str) else name for leaf, name in names.items()},
        "upstream": upstream,
    }


def _total(case: Case) -> tuple[dict[str, Any], str]:
    """The graph of upstream·sink + Σ before·input, whose plain derivatives are what the inputs should hold."""
    graph, sink = dict(case["graph"]), case["sink"]
    terms = [] if case["upstream"] == 1.0 else [("upstream", sink, case["upstream"])]
    terms += [(f"before {name}", name, g) for name, g in case["before"].items()]
    total = sink
    for label, factor, number in terms:
        graph[label] = ["number", [], number]
        graph[f"{label} term"] = ["*", [label, factor], 1.0]
        if label == "upstream":
            total = f"{label} term"
        else:
            graph[f"{label} sum"] = ["+", [total, f"{label} term"], 1.0]
            total = f"{label} sum"
    return graph, total


def judge_rule(case: Case, seen: Any) -> Finding | None:
    if case["witness"]:
        return None
    graph, total = _total(case)
    right = reference(graph, case["inputs"], total)
    want = right.values[case["sink"]]
    at = point(case["inputs"])
    # A value that others of the engine's operations give as well is theirs.
    if not close(seen["data"], want) and not any(is_number(v) and close(seen["data"], v) for v in seen["peer_values"]):
        return Finding(
            f"{at}: {case['text']}; your value: {show(seen['data'])}; expected {show(want)}. "
            "Look at what the new Value is made with, before any gradient.",
            where=case["op"],
            size=case["size"],
            picture=picture(case["graph"], right.values, {}, {}, case["sink"], f"{case['text']} at {at}"),
        )
    ways = seen["ways"]
    if case["kink"] and _holds(ways, lambda way, grads: _is_subgradient(case, grads)):
        return None
    if _holds(ways, lambda way, grads: _agrees(grads, right.adjoints, case["judged"])):
        return None
    if _alive(seen["alive"]):
        for peer, found in zip(case["peers"], seen["peers"], strict=True):

            def is_what_peer_sends(way: str, grads: Any, peer: Any = peer, found: Any = found) -> bool:
                through = found.get(way.removesuffix("-swapped"))
                return through is not None and _agrees(grads, _through(peer, through, case["before"]), case["judged"])

            if _holds(ways, is_what_peer_sends):
                return None
    swapped = ways.get("own-swapped")
    yours = ways.get("driven") or ways["own"]
    if _agrees(yours, right.adjoints, case["judged"]) and swapped:
        yours = swapped
    name = next(n for n in case["judged"] if not close(yours.get(n), right.adjoints[n]))
    told = f"{at}: {case['text']}"
    if case["upstream"] != 1.0:
        told += f", with gradient {show(case['upstream'])} arriving from above"
    if case["before"]:
        held = ", ".join(f"{n}.grad = {show(g)}" for n, g in case["before"].items())
        told += f", and {held} already there"
    message = (
        f"{told}; your gradient of {name}: {show(yours.get(name))}; "
        f"expected {show(right.adjoints[name])} ({right.witnesses(name)})."
    )
    return Finding(
        message,
        where=case["op"],
        size=case["size"],
        picture=picture(
            case["graph"],
            right.values,
            {**yours, case["sink"]: case["upstream"]},
            right.adjoints,
            name,
            f"{case['text']} at {at}",
        ),
    )


def _holds(ways: Mapping[str, Any], good: Callable[[str, Any], bool]) -> bool:
    """One way of taking gradients suffices; the engine's own backward counts in both orders or not at all."""
    own = [way for way in ("own", "own-swapped") if way in ways]
    return ("driven" in ways and good("driven", ways["driven"])) or (bool(own) and all(good(w, ways[w]) for w in own))


def _is_subgradient(case: Case, grads: Mapping[str, Any]) -> bool:
    (name,) = case["judged"]
    if not is_number(grads.get(name)):
        return False
    slope = (grads[name] - case["before"].get(name, 0.0)) / case["upstream"]
    return -TOLERANCE <= slope <= 1 + TOLERANCE


def _agrees(grads: Mapping[str, Any], right: Mapping[str, float], names: Iterable[str]) -> bool:
    return all(close(grads.get(name), right[name]) for name in names)


def _alive(runs: Sequence[Mapping[str, Any]]) -> bool:
    """Did anything at all arrive in one of these runs? Agreement of nothing with nothing proves nothing."""
    return any(is_number(g) and abs(g) > TOLERANCE for run in runs for grads in run.values() for g in grads.values())


def _through(peer: Mapping[str, Any], grads: Mapping[str, Any], before: Mapping[str, float]) -> Numbers:
    """What a peer's gradients say the inputs should hold."""
    found = dict.fromkeys(peer["leaves"].values(), 0.0)
    for leaf, name in peer["leaves"].items():
        found[name] += grads[leaf]
    for name, g in before.items():
        found[name] += g
    return found


def same_rule(case: Case, predicted: Any, seen: Any) -> bool:
    """Equal in value, and in the gradients taken in a way that both allow."""
    if case["kink"] and _holds(seen["ways"], lambda way, grads: _is_subgradient(case, grads)):
        return True

    def agrees(way: str, grads: Any) -> bool:
        return way in predicted["ways"] and _agrees(grads, predicted["ways"][way], case["inputs"])

    return close(seen["data"], predicted["data"]) and _holds(seen["ways"], agrees)


# ---- whole graphs: exercises 3.0 and 3.4 ----------------------------------------------------------------------------


def first_departing(graph: Graph, sink: str, yours: Mapping[str, Any], right: Mapping[str, float]) -> str | None:
    """The first node, coming from the sink, whose adjoint is wrong though those of all its children are right."""
    below = ancestors(graph, sink)
    for name in reversed(order(graph)):
        if name in below and name in right and not close(yours.get(name), right[name]):
            return name
    return None


def told_graph(
    case: Case, right: Reference, yours: Mapping[str, Any], name: str, label: str = "gradient", advice: str = ""
) -> Finding:
    """What to say about the node `name`, the first that departs."""
    graph = right.graph
    at = point(case["inputs"])
    node = graph[name]
    children = [child for child in graph if name in graph[child].parents]
    used = (
        f" {name} is used by {', '.join(children)}." if len(children) > 1 or (children and children[0] != name) else ""
    )
    message = (
        f"{at}: {case['text']}; your {label} of {name}: {show(yours.get(name))}; "
        f"expected {show(right.adjoints[name])} ({right.witnesses(name)}).{used}{advice}"
    )
    return Finding(
        message,
        where=step(name, node),
        size=case["size"],
        picture=picture(case["graph"], right.values, yours, right.adjoints, name, f"{case['text']} at {at}"),
    )


def judge_backward(case: Case, seen: Any) -> Finding | None:
    """The gradients of a whole backward pass (3.4), on the case's graph or on the one that stands in for it.

    Inputs decide. They are right when they agree with PyTorch, as they are or once right rules send the messages: then
    the pass is right, and the fault lies in a rule that another exercise marks, also where that rule overwrites.
    """
    runs = [run for run in ("graph", "instead") if run in seen]
    findings = [_judge_run(case, case[run], seen[run]) for run in runs]
    return None if None in findings else findings[0]


def _judge_run(case: Case, data: Mapping[str, Any], seen: Mapping[str, Any]) -> Finding | None:
    right = reference(data, case["inputs"], case["sink"])
    yours, planted = seen["own"], seen["planted"]
    names = list(case["inputs"])
    if any(grads is not None and _agrees(grads, right.adjoints, names) for grads in (yours, planted)):
        return None
    known = dict(yours)
    between = [n for n in data if n not in case["inputs"] and n != case["sink"]]
    if any(yours.get(n) for n in (*names, *between)):
        # Something has flowed, whatever the root holds now. Gradients in between may have been cleared after use.
        known[case["sink"]] = right.adjoints[case["sink"]]
        if any(yours.get(n) for n in names) and all(yours.get(n) == 0 for n in between):
            known |= {n: right.adjoints[n] for n in between}
    name = first_departing(right.graph, case["sink"], known, right.adjoints)
    name = name or next(n for n in names if not close(yours.get(n), right.adjoints[n]))
    text = case["text"] if data is case["graph"] else describe(right.graph)
    return told_graph({**case, "graph": data, "text": text}, right, known, name)


def same_backward(case: Case, predicted: Any, seen: Any) -> bool:
    """Equal in the gradients of the inputs, on the first graph that both could run."""
    run = next(run for run in ("graph", "instead") if run in predicted and run in seen)
    s, p, sink = seen[run]["own"], predicted[run]["own"], case["sink"]
    if p.get(sink) == 0 and s.get(sink):  # a root that holds something was given it
        return False
    if not any(
        p.get(name) for name in case["inputs"]
    ):  # where nothing arrives: would the engine's rules send something?
        sums = [found[run].get("summed") for found in (predicted, seen)]
        if None not in sums and not _agrees(sums[1], sums[0], case["inputs"]):
            return False
    return _agrees(s, p, case["inputs"])


def same_closely(case: Case, predicted: Any, seen: Any) -> bool:
    """Equal also after a second call, and in what the engine's own messages add up to, as far as that was seen."""
    run = next(run for run in ("graph", "instead") if run in predicted and run in seen)
    p, s = predicted[run], seen[run]
    return all(
        _agrees(s[call], p[call], case["inputs"])
        for call in ("own", "again", "summed")
        if p.get(call) is not None and s.get(call) is not None
    )


def judge_adjoints(case: Case, seen: Any) -> Finding | None:
    """The dict that adjoint_pass returned (3.0). Nodes that the sink does not depend on may be missing or 0."""
    right = reference(case["graph"], case["inputs"], case["sink"])
    yours = {name: seen.get(name, 0.0) for name in case["graph"]}
    if _agrees(yours, right.adjoints, case["graph"]):
        return None
    name = first_departing(right.graph, case["sink"], yours, right.adjoints)
    if name is None:
        name = next(n for n in case["graph"] if not close(yours[n], right.adjoints[n]))
        return told_graph(case, right, yours, name, "adjoint", f" {case['sink']} does not depend on {name}.")
    if name not in seen:
        yours[name] = None
    return told_graph(case, right, yours, name, "adjoint")


def held(case: Case) -> Numbers:
    """The forward values of a case's graph."""
    return forward(from_json(case["graph"]), case["inputs"])
