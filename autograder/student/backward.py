"""Plays the forward and the reverse pass over a reader's own expression, one message an edge a step."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from html import escape
from typing import Any

from autograder.student import expression, passes, ready, session, theme
from autograder.student.expression import Expression
from autograder.student.passes import Message
from autograder.student.pictures import number
from autograder.student.stepper import Stepper, bracketed, chain, summed, told, variable


def show_backward(
    root: Any, predict: bool = False, names: Mapping[Any, Any] | None = None, title: str | None = None
) -> None:
    """Play the backward pass from `root`: buttons, a slider and the arrow keys step through it.

    The messages are computed here, by the rules of the course; your gradients are neither used nor changed. With
    `predict=True` the pass halts at every node that is used more than once, until you have entered the next message.
    The button *Predict* switches that on and off. At most 60 nodes are drawn, the nearest to `root`.
    """
    if session.quiet():
        return
    from autograder.student.cards import show_note

    if not expression.is_node(root):
        show_note(
            f"show_backward plays an expression made of Values, and this is a {type(root).__name__}: {root!r:.80}"
        )
        return
    frame = inspect.currentframe()
    names_found = expression.names_in(frame.f_back if frame else None, names)
    try:
        played = Backward(expression.read(root, names_found), predict, title or "")
    except NotImplementedError as stub:
        show_note(ready.waiting((), str(stub)))
        return
    except (ArithmeticError, ValueError) as error:
        show_note(f"This backward pass cannot be played: a local derivative does not exist here ({error}).")
        return
    theme.show(played.html(), played.text())


class Backward(Stepper):
    """The reverse pass: values first, then adjoints against the edges."""

    kind = "backward"
    label = "Backward pass, step by step"
    carried, sent = "adjoint", "message"
    phases = ("forward", "reverse")
    dotted = "use"

    def __init__(self, read: Expression, predict: bool = False, title: str = "") -> None:
        self.adjoints, messages = passes.reverse(read)
        picture = read.picture(title or "The backward pass")
        names = _named(read)
        for node, name, adjoint in zip(picture["nodes"], names, self.adjoints, strict=True):
            node["label"] = "" if read.labels[int(node["id"])] == "" and not read.parents[int(node["id"])] else name
            node["grad"] = adjoint
        super().__init__(read, names, messages, picture, title, predict)

    def later(self, message: Message) -> int:
        return message.sender

    def headline(self) -> str:
        return f"The backward pass from {self.names[-1]} = {number(self.read.value(len(self.names) - 1))}"

    def events(self) -> list[dict[str, Any]]:
        read, names = self.read, self.names
        inputs = [i for i in range(len(read.nodes)) if not read.parents[i]]
        named = [i for i in inputs if read.labels[i]] or inputs
        listed = ", ".join(f"{names[i]} = {number(read.value(i))}" if read.labels[i] else names[i] for i in named)
        events: list[dict[str, Any]] = [
            {"kind": "start", "say": f"<p>Forward pass. The inputs are known: {escape(listed)}.</p>",
             "aloud": f"Forward pass. Inputs: {listed}."}
        ]  # fmt: skip
        events += [self.value_event(i) for i in range(len(read.nodes)) if read.parents[i]]
        root = len(read.nodes) - 1
        events.append(
            {
                "kind": "seed",
                "node": root,
                "say": f"<p>Reverse pass. It starts at the end with the seed: {variable(names[root])} changes by as much as "
                f'itself.</p><p class="sum">{chain(variable(names[root], "bar"), "<b>1</b>")}</p>',
                "aloud": f"Reverse pass. Seed: the adjoint of {names[root]} is 1.",
            }
        )
        arrived: dict[int, list[str]] = {}
        for message in self.messages:
            arrived.setdefault(message.receiver, []).append(number(message.value))
            events.append(self._told(message, arrived[message.receiver]))
        ends = [f"∂{names[root]}/∂{names[i]} = {number(self.adjoints[i])}" for i in named]
        events.append(
            {
                "kind": "end",
                "say": "<p>Every edge has carried one message, and every adjoint is complete.</p>"
                f'<p class="sum">{", ".join(f"<span>{escape(end)}</span>" for end in ends)}</p>',
                "aloud": f"Done: {', '.join(ends)}.",
            }
        )
        return events

    def _told(self, message: Message, arrived: list[str]) -> dict[str, Any]:
        sender, receiver = self.names[message.sender], self.names[message.receiver]
        total = number(message.sum)
        slope, rule = self.slope(message)
        event = self.message_event(message)
        product = chain(
            f"{variable(sender, 'bar')} · {escape(slope)}",
            f"{number(message.carried)} · {bracketed(number(message.slope))}",
            f"<b>{event['value']}</b>",
        )
        because = f" Here {escape(slope)} = {escape(rule)}." if rule else ""
        # A plain number goes by its value: with a bar, "0.5 = 2" would be read as an equation.
        plain = not self.read.labels[message.receiver] and not self.read.parents[message.receiver]
        bar = f"the adjoint of {variable(receiver)}" if plain else variable(receiver, "bar")
        if message.awaited == 1:
            arrival = f"It is the only one, so {bar} = {total}."
            aloud = f"The adjoint of {receiver} is {total}."
        else:
            ending = "complete" if event["done"] else f"{message.awaited - message.number} more to come"
            so_far = f"Message {message.number} of {message.awaited}:"
            arrival = f"{so_far} {bar} = {summed(arrived, total)}, {ending}."
            aloud = f"{so_far} the adjoint of {receiver} is {total}, {ending}."
        event |= {
            "say": f"<p>{variable(sender)} sends {variable(receiver)} a message: its own adjoint times the slope of that "
            f'edge.{because}</p><p class="sum">{product}</p><p>{told(arrival)}</p>',
            "aloud": f"{sender} sends {receiver} the message {number(message.carried)} times {number(message.slope)}, "
            f"which is {event['value']}. {aloud}",
        }
        if message.awaited > 1:
            formula = f"{variable(sender, 'bar')} · {escape(slope)}"
            event["ask"] = self.question(message, "Which message does {sender} send to {receiver}?", formula)
        return event


def _named(read: Expression) -> list[str]:
    """A name for every node, so that it can be talked about: t1, t2, … where the reader gave none."""
    names, taken, k = [], set(read.labels), 0
    for i, label in enumerate(read.labels):
        if not label and read.parents[i]:
            k += 1
            while f"t{k}" in taken:
                k += 1
            label = f"t{k}"
        names.append(label or number(read.value(i)))
    return names
