"""Plays forward mode over a graph as data: tangents travel from a seed along the edges, one edge a step."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from types import SimpleNamespace
from typing import Any

from autograder.student import passes, session, theme
from autograder.student.data_graph import NotAGraph, picture_of
from autograder.student.expression import Expression
from autograder.student.passes import Message
from autograder.student.pictures import number
from autograder.student.stepper import Stepper, bracketed, chain, summed, told, variable


def show_forward(
    graph: Mapping[str, Any],
    values: Mapping[str, float],
    seed: Mapping[str, float],
    sink: str | None = None,
    title: str | None = None,
    predict: bool = False,
) -> None:
    """Play forward mode over a graph as data, up to `sink` if one is named: buttons, a slider, the arrow keys.

    The tangents are computed here, by the rules of the course; nothing of yours is called. With `predict=True` the
    pass halts at every node with several slots, until you have entered the next product. The button *Predict* switches
    that on and off.

    Args:
        graph: name → Node(op, parents, n), in any order; at most 60 nodes.
        values: name → value; the inputs' are enough.
        seed: name of an input → its tangent; 0 for inputs that are not named.
    """
    if session.quiet():
        return
    from autograder.student.cards import show_note

    try:
        played = forward_of(graph, values, seed, sink, title or "", predict)
    except NotAGraph as problem:
        show_note(f"show_forward cannot play this: {problem}")
        return
    except (ArithmeticError, ValueError) as error:
        show_note(f"This pass cannot be played: a local derivative does not exist here ({error}).")
        return
    theme.show(played.html(), played.text())


def forward_of(
    graph: Mapping[str, Any],
    values: Mapping[str, float],
    seed: Mapping[str, float],
    sink: str | None,
    title: str,
    predict: bool = False,
) -> Forward:
    """The pass over `graph`.

    Raises:
        NotAGraph: what picture_of finds, a node without a value, or a seed for what is no input or that is no number.
        ArithmeticError, ValueError: an operation has no derivative here.
    """
    picture = picture_of(graph, values, sink, title=title or "The forward pass of tangents")
    nodes = picture["nodes"]
    unknown = [node["label"] for node in nodes if node["value"] is None]
    if unknown:
        raise NotAGraph(f"node {unknown[0]!r} has no value; give the values of all inputs")
    index = {node["id"]: i for i, node in enumerate(nodes)}
    parents: list[tuple[int, ...]] = [()] * len(nodes)
    for edge in picture["edges"]:
        parents[index[edge["to"]]] += (index[edge["from"]],)
    for name, x in seed.items():
        if name not in graph or graph[name].op != "input":
            raise NotAGraph(f"the seed names {name!r}, which is no input; only inputs are seeded")
        try:
            float(x)
        except (TypeError, ValueError):
            raise NotAGraph(f"the seed of {name!r} is {x!r:.40}, which is no number") from None
    read = Expression(
        nodes=[SimpleNamespace(data=node["value"]) for node in nodes],
        parents=parents,
        operations=["" if node["op"] == "input" else node["op"] for node in nodes],
        labels=[node["label"] for node in nodes],
    )
    return Forward(read, picture, [float(seed.get(node["id"], 0.0)) for node in nodes], title, predict)


class Forward(Stepper):
    """Forward mode: every node gets its value, and right after it its tangent, edge by edge."""

    kind = "forward"
    label = "Forward mode, step by step"
    carried, sent = "tangent", "product"
    phases = ("values and tangents, from the inputs forward",)
    dotted = "input"

    def __init__(
        self, read: Expression, picture: dict[str, Any], seed: list[float], title: str = "", predict: bool = False
    ) -> None:
        self.tangents, messages = passes.forward(read, seed)
        for node, tangent in zip(picture["nodes"], self.tangents, strict=True):
            node["tangent"] = tangent
        super().__init__(read, read.labels, messages, picture, title, predict)

    def later(self, message: Message) -> int:
        return message.receiver

    def headline(self) -> str:
        return f"Forward mode, seeded with {self._seed()}"

    def _inputs(self) -> list[int]:
        return [i for i, parents in enumerate(self.read.parents) if not parents]

    def _seed(self) -> str:
        return ", ".join(f"tangent of {self.names[i]} = {number(self.tangents[i])}" for i in self._inputs())

    def events(self) -> list[dict[str, Any]]:
        names, tangents = self.names, self.tangents
        pairs = [
            f"<span>{variable(names[i])} = {number(self.read.value(i))}, {variable(names[i], 'dot')} = "
            f"<b>{number(tangents[i])}</b></span>"
            for i in self._inputs()
        ]
        events: list[dict[str, Any]] = [
            {
                "kind": "start",
                "given": {i: number(tangents[i]) for i in self._inputs()},
                "say": "<p>The inputs are known, each with its value and its tangent. The tangents are the seed.</p>"
                f'<p class="sum">{"; ".join(pairs)}</p>',
                "aloud": f"The inputs are known. Seed: {self._seed()}.",
            }
        ]
        arriving: dict[int, list[Message]] = {}
        for message in self.messages:
            arriving.setdefault(message.receiver, []).append(message)
        for i, messages in arriving.items():
            events.append(self.value_event(i))
            products = [number(m.value) for m in messages]
            events += [self._told(m, products[: m.number]) for m in messages]
        used = {p for parents in self.read.parents for p in parents}
        ends = [i for i in range(len(names)) if i not in used]
        found = ", ".join(f"{variable(names[i], 'dot')} = <b>{number(tangents[i])}</b>" for i in ends)
        events.append(
            {
                "kind": "end",
                "say": "<p>Every edge was used once, and every node has its tangent. Nothing had to be kept but the "
                "tangents that are still needed.</p>"
                f'<p class="sum">{found}</p>',
                "aloud": f"Done: {', '.join(f'the tangent of {names[i]} is {number(tangents[i])}' for i in ends)}.",
            }
        )
        return events

    def _told(self, message: Message, products: list[str]) -> dict[str, Any]:
        sender, receiver = self.names[message.sender], self.names[message.receiver]
        value, total = number(message.value), number(message.sum)
        slope, rule = self.slope(message)
        product = chain(
            f"{escape(slope)} · {variable(sender, 'dot')}",
            f"{number(message.slope)} · {bracketed(number(message.carried))}",
            f"<b>{value}</b>",
        )
        because = f" Here {escape(slope)} = {escape(rule)}." if rule else ""
        if message.awaited == 1:
            arrival = f"{variable(receiver)} has one slot, so {variable(receiver, 'dot')} = {total}."
            aloud = f"The tangent of {receiver} is {total}."
        else:
            left = message.awaited - message.number
            ending = f"{left} more to come" if left else "complete"
            so_far = f"Slot {message.number} of {message.awaited}:"
            arrival = f"{so_far} {variable(receiver, 'dot')} = {summed(products, total)}, {ending}."
            aloud = f"{so_far} the tangent of {receiver} is {total}, {ending}."
        event = self.message_event(message) | {
            "say": f"<p>{variable(sender)} moves {variable(receiver)}: the slope of that edge times the tangent of "
            f'{variable(sender)}.{because}</p><p class="sum">{product}</p><p>{told(arrival)}</p>',
            "aloud": f"{sender} moves {receiver} by {number(message.slope)} times {number(message.carried)}, which is "
            f"{value}. {aloud}",
        }
        if message.awaited > 1:
            asked = f"Which product does {{receiver}} get from {{sender}}, in slot {message.number}?"
            event["ask"] = self.question(message, asked, f"{escape(slope)} · {variable(sender, 'dot')}")
        return event
