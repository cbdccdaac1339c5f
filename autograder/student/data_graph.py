"""Draws a graph as data: a dict from a node's name to its operation, parents and exponent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from html import escape
from itertools import pairwise
from typing import Any

from autograder.student import operations, pictures, session, theme

MOST_NODES = 60
CHIP = 18.0  # height of the number on an edge


def show_data_graph(
    graph: Mapping[str, Any],
    values: Mapping[str, float] | None = None,
    sink: str | None = None,
    adjoints: Mapping[str, float] | None = None,
    *,
    tangents: Mapping[str, float] | None = None,
    slopes: bool = False,
    along: Sequence[str] = (),
    title: str | None = None,
) -> None:
    """Draw a graph as data, up to `sink` if one is named.

    Args:
        graph: name → Node(op, parents, n), in any order.
        values: name → value; the inputs' are enough, the others follow from them for the drawing.
        adjoints: name → adjoint, shown in the nodes.
        tangents: name → tangent, shown instead.
        slopes: put the local derivative on every edge.
        along: a path, node by node, to be drawn stronger.
    """
    if session.quiet():
        return
    try:
        picture = picture_of(graph, values or {}, sink, adjoints, tangents=tangents, slopes=slopes, title=title or "")
    except NotAGraph as problem:
        from autograder.student.cards import show_note

        show_note(f"show_data_graph cannot draw this: {problem}")
        return
    theme.show(figure(picture, along), in_words(picture))


class NotAGraph(ValueError):
    """What was given is no graph; the message says what is wrong with it."""


def picture_of(
    graph: Mapping[str, Any],
    values: Mapping[str, float],
    sink: str | None = None,
    adjoints: Mapping[str, float] | None = None,
    *,
    tangents: Mapping[str, float] | None = None,
    slopes: bool = False,
    title: str = "",
) -> dict[str, Any]:
    """The graph as picture data (see pictures.py); an edge has a "slope" where one is asked for and known.

    Raises:
        NotAGraph: a node that is none, an unknown parent or operation, a cycle, a missing value, too many nodes.
    """
    nodes = {name: _node(name, node) for name, node in _items(graph)}
    order = _order(nodes)
    if sink is not None:
        if sink not in nodes:
            raise NotAGraph(f"there is no node called {sink!r}")
        order = [name for name in order if name in _below(nodes, sink)]
    if len(order) > MOST_NODES:
        raise NotAGraph(f"it has {len(order)} nodes, and {MOST_NODES} is the most that stays readable")
    known = {name: float(values[name]) for name in order if name in values}
    shown = []
    edges = []
    for name in order:
        op, parents, n = nodes[name]
        operation = None
        if op != "input":
            operation = operations.power(n) if op == "pow" else operations.operation(operations.sign_of(op))
            if operation is None or operation.arity != len(parents):
                count = f"{len(parents)} parent{'' if len(parents) == 1 else 's'}"
                raise NotAGraph(f"node {name!r}: no operation {op!r} with {count}")
        inputs = tuple(known[p] for p in parents if p in known)
        if operation and len(inputs) == len(parents) and name not in known:
            try:
                known[name] = float(operation.value(*inputs))
            except (ArithmeticError, ValueError, TypeError) as error:
                raise NotAGraph(f"node {name!r} has no value: {error}") from None
        node: dict[str, Any] = {
            "id": name,
            "label": name,
            "op": operation.sign if operation else "input",
            "row": "value",
        }
        node["value"] = known.get(name)
        if adjoints is not None:
            node["grad"] = adjoints.get(name)
        elif tangents is not None:
            node["tangent"] = tangents.get(name)
        shown.append(node)
        computed: tuple[float, ...] = ()
        if slopes and operation and len(inputs) == len(parents):
            computed = _slopes(operation, inputs, known[name])
        for slot, parent in enumerate(parents):
            edge: dict[str, Any] = {"from": parent, "to": name, "slot": slot}
            if computed:
                edge["slope"] = computed[slot]
            edges.append(edge)
    return {"title": title, "nodes": shown, "edges": edges}


def _items(graph: Any) -> list[tuple[str, Any]]:
    if not isinstance(graph, Mapping):
        raise NotAGraph(f"it is a {type(graph).__name__}, not a dict from names to Nodes")
    return [(str(name), node) for name, node in graph.items()]


def _node(name: str, node: Any) -> tuple[str, tuple[str, ...], float]:
    try:
        op, parents, n = node.op, node.parents, float(node.n)
    except (AttributeError, TypeError, ValueError):
        raise NotAGraph(f"{name!r} stands for {node!r:.60}, which is no Node") from None
    if isinstance(parents, str):
        raise NotAGraph(
            f"the parents of {name!r} are {parents!r}: one parent alone is written ({parents!r},), with a comma"
        )
    return str(op), tuple(str(p) for p in parents), n


def _order(nodes: Mapping[str, tuple[str, tuple[str, ...], float]]) -> list[str]:
    for name, (_, parents, _) in nodes.items():
        for parent in parents:
            if parent not in nodes:
                raise NotAGraph(f"node {name!r} has the parent {parent!r}, and there is no such node")
    try:
        TopologicalSorter({name: node[1] for name, node in nodes.items()}).prepare()
    except CycleError as error:
        raise NotAGraph(f"it has a cycle: {' → '.join(error.args[1])}") from None
    # Parents in the order of their slots, before their child: a stands above b in a·b, however the dict is listed.
    order: list[str] = []
    met: set[str] = set()
    stack = [(name, False) for name in reversed(list(nodes))]
    while stack:
        name, ready = stack.pop()
        if ready:
            order.append(name)
        elif name not in met:
            met.add(name)
            stack.append((name, True))
            stack += [(parent, False) for parent in reversed(nodes[name][1])]
    return order


def _below(nodes: Mapping[str, tuple[str, tuple[str, ...], float]], sink: str) -> set[str]:
    found, todo = {sink}, [sink]
    while todo:
        new = set(nodes[todo.pop()][1]) - found
        found |= new
        todo += new
    return found


def _slopes(operation: operations.Operation, inputs: tuple[float, ...], output: float) -> tuple[float, ...]:
    try:
        return operation.slopes(inputs, output)
    except (ArithmeticError, ValueError):
        return ()


def figure(picture: Mapping[str, Any], along: Sequence[str] = ()) -> str:
    """The picture as a self-contained piece of HTML, with slopes on the edges and the path `along` drawn stronger."""
    slopes = {(e["from"], e["to"], e["slot"]): e["slope"] for e in picture["edges"] if "slope" in e}
    steps = set(pairwise(along))
    widest = max((len(pictures.number(s, 4)) for s in slopes.values()), default=0)
    drawing = pictures.draw(picture, gap=widest * pictures.MONO + 40 if slopes else 0.0)
    ids = [str(box.node["id"]) for box in drawing.boxes]
    texts = [pictures.number(slopes.get((ids[a], ids[b], slot)), 4) for a, b, slot in drawing.edges]
    strong = [(ids[a], ids[b]) in steps for a, b, _ in drawing.edges]
    over = [
        f'<path class="along" d="{pictures.path(wire)}" fill="none" stroke="currentColor"/>'
        for wire, on in zip(drawing.wires, strong, strict=True)
        if on
    ]
    if slopes:
        widths = [len(text) * pictures.MONO + 10 for text in texts]
        for (x, y), width, text, on in zip(pictures.seats(drawing, widths, CHIP), widths, texts, strong, strict=True):
            over.append(
                f'<g class="slope{" on" if on else ""}"><rect x="{x - width / 2:.1f}" y="{y - CHIP / 2:.1f}" '
                f'width="{width:.1f}" height="{CHIP:g}" rx="4" fill="none" stroke="currentColor"/>'
                f'<text x="{x:.1f}" y="{y + 4.2:.1f}" text-anchor="middle">{escape(text)}</text></g>'
            )
    caption = f"<figcaption>{escape(picture['title'])}</figcaption>" if picture["title"] else ""
    svg = drawing.svg("".join(over)) if picture["nodes"] else ""
    return theme.piece("graph", f"<figure>{caption}{svg}</figure>", ("graph", "data_graph"))


def in_words(picture: Mapping[str, Any]) -> str:
    """The picture for those who do not see it: nodes, then the numbers on the edges."""
    edges = [
        f"{e['from']} to {e['to']}: {pictures.number(e['slope'], 4)}"
        for e in picture["edges"]
        if e.get("slope") is not None
    ]
    return pictures.describe(picture) + (f". Local derivatives: {', '.join(edges)}" if edges else "")
