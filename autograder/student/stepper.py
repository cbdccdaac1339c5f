"""Plays a pass over a graph, one message an edge a step, in the browser: what backward and forward mode share."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from html import escape
from typing import Any, ClassVar

from autograder.student import operations, pictures, theme
from autograder.student.expression import Expression
from autograder.student.passes import Message
from autograder.student.pictures import number


class Stepper(ABC):
    """A pass, told: the steps as data for the script, and a picture and a table that hold every number without it.

    Each step is a dict of "kind" (start, value, seed, message, end), "say" (HTML), "aloud" (plain words), and what its
    kind needs: a value its "node" and its "edges"; a message its "node", that sends, "to", its "edge", "value", "sum",
    "dots" and whether it is the last one, "done". A message that is one of several has "ask": the question that halts
    the pass while the reader predicts.
    """

    kind: ClassVar[str]  # as a class of its HTML
    label: ClassVar[str]
    carried: ClassVar[str]  # what a node has and sends on
    sent: ClassVar[str]  # what travels along an edge
    phases: ClassVar[tuple[str, ...]]
    dotted: ClassVar[str]

    def __init__(
        self,
        read: Expression,
        names: Sequence[str],
        messages: Sequence[Message],
        picture: dict[str, Any],
        title: str,
        predict: bool,
    ) -> None:
        self.read, self.names, self.messages, self.picture, self.title = read, names, messages, picture, title
        self.predict = predict

    @abstractmethod
    def later(self, message: Message) -> int:
        """The node at the later end of the message's edge, among whose inputs the edge has its slot."""

    @abstractmethod
    def events(self) -> list[dict[str, Any]]:
        """The steps."""

    @abstractmethod
    def headline(self) -> str:
        """The pass in a line of plain text."""

    # words

    def _formula(self, i: int, parts: list[str]) -> str:
        """Node i as its operation writes it, with `parts` in the slots."""
        sign = self.read.operations[i]
        if sign.startswith("^"):
            return f"{parts[0]}{pictures.written(sign).removeprefix('( )')}"
        if sign == "neg":
            return f"−{bracketed(parts[0])}"
        if len(parts) == 2:
            dot = "·" if sign == "×" else "/" if sign == "÷" else sign
            return f"{parts[0]} {dot} {bracketed(parts[1])}"
        return f"{sign}({', '.join(parts)})"

    def slope(self, message: Message) -> tuple[str, str]:
        """The slope of a message's edge: its name, "∂w/∂b", and the rule behind it where that says more than the number."""
        later = self.later(message)
        names = [self.names[p] for p in self.read.parents[later]]
        name = f"∂{self.names[later]}/∂{names[message.slot]}"
        operation = operations.operation(self.read.operations[later])
        if operation is None:
            return name, ""
        rule = operation.words[message.slot].format(*names, out=self.names[later])
        return name, "" if rule.replace("−", "").isdigit() else rule

    def value_event(self, i: int) -> dict[str, Any]:
        """Node i computes its value."""
        words = self._formula(i, [self.names[p] for p in self.read.parents[i]])
        numbers = self._formula(i, [number(self.read.value(p)) for p in self.read.parents[i]])
        value = number(self.read.value(i))
        return {
            "kind": "value",
            "node": i,
            "edges": [k for k, (_, to, _) in enumerate(self._edges()) if to == i],
            "say": f"<p>Each node computes its value from its inputs’ values.</p>"
            f'<p class="sum">{chain(variable(self.names[i]), escape(words), escape(numbers), f"<b>{value}</b>")}</p>',
            "aloud": f"{self.names[i]} = {words} = {value}.",
        }

    def message_event(self, message: Message) -> dict[str, Any]:
        """What the script needs to know of a message, without its words."""
        return {
            "kind": "message",
            "node": message.sender,
            "to": message.receiver,
            "edge": next(k for k, e in enumerate(self._edges()) if e[1:] == (self.later(message), message.slot)),
            "value": number(message.value),
            "sum": number(message.sum),
            "dots": pictures.dots(message.number, message.awaited),
            "done": message.number == message.awaited,
        }

    def question(self, message: Message, asked: str, formula: str) -> dict[str, Any]:
        """What the reader is asked in place of `message`, and the numbers by which a slip is recognized.

        `asked` is a sentence with places for {sender} and {receiver}.
        """
        slope, rule = self.slope(message)
        sender, receiver = self.names[message.sender], self.names[message.receiver]
        words = asked.format(sender=variable(sender), receiver=variable(receiver))
        return {
            "say": f'<p>Your turn. {words}</p><p class="sum">{formula} = ?</p>',
            "aloud": f"Your turn. {asked.format(sender=sender, receiver=receiver)}",
            "sender": sender,
            "value": message.value,
            "carried": message.carried,
            "slope": message.slope,
            "sum": message.sum,
            "first": message.number == 1,
            "hint": f"{sender} has the {self.carried} {number(message.carried)}; {slope} = "
            + (f"{rule} = {number(message.slope)}." if rule else f"{number(message.slope)}."),
        }

    # drawing

    def _edges(self) -> list[tuple[int, int, int]]:
        """The edges in the order in which the picture draws them."""
        return [(p, i, slot) for i, parents in enumerate(self.read.parents) for slot, p in enumerate(parents)]

    def html(self) -> str:
        """The stepper as one self-contained piece of HTML; without scripts, a picture and a table with every number."""
        by_edge = {(self.later(m), m.slot): number(m.value) for m in self.messages}
        texts = [by_edge[to, slot] for _, to, slot in self._edges()]
        room = max((len(text) for text in texts), default=0) * pictures.MONO + 10
        drawing = pictures.draw(self.picture, label_width=room, dotted=self.dotted)
        chips = _chips(drawing, texts)
        events = self.events()
        turn = next((k for k, event in enumerate(events) if event["kind"] == "seed"), len(events))
        said = pictures.hidden_words(self.read)
        data = escape(json.dumps(events, ensure_ascii=False, separators=(",", ":")), quote=True)
        caption = f"<p class='bp-name'>{escape(self.title)}</p>" if self.title else ""
        body = (
            f"{caption}"
            f'<div class="bp-graph bp-stage" tabindex="0" role="group" aria-label="The graph; arrow keys step through the pass">'
            f"{drawing.svg(chips)}</div>"
            + (f'<p class="bp-said">{escape(said)}</p>' if said else "")
            + _controls(len(events), turn, self.phases, any("ask" in event for event in events))
            + '<div class="bp-caption" aria-hidden="true"></div><div class="bp-ask" hidden></div>'
            '<div class="bp-live bp-hidden" role="status" aria-live="polite"></div>' + self._table()
        )
        return theme.piece(
            f"stepper {self.kind}",
            body,
            ("graph", "buttons", "stepper"),
            script="stepper.js",
            attributes=f' role="group" aria-label="{self.label}" data-carried="{self.carried}" data-sent="{self.sent}"'
            f'{" data-predict" if self.predict else ""} data-steps="{data}"',
        )

    def _table(self) -> str:
        rows = "".join(
            f"<tr><td>{k}</td><td>{escape(self.names[m.sender])} → {escape(self.names[m.receiver])}</td>"
            f"<td>{number(m.carried)}</td><td>{number(m.slope)}</td><td>{number(m.value)}</td><td>{number(m.sum)}</td></tr>"
            for k, m in enumerate(self.messages, 1)
        )
        titles = ("#", "edge", self.carried, "slope", self.sent, "sum so far")
        head = "".join(f"<th scope='col'>{title}</th>" for title in titles)
        return (
            f"<details><summary>All {self.sent}s as a table</summary><table><thead><tr>{head}</tr></thead>"
            f"<tbody>{rows}</tbody></table></details>"
        )

    def text(self) -> str:
        """The pass in plain text."""
        lines = [self.headline()]
        for m in self.messages:
            receiver = self.names[m.receiver]
            lines.append(
                f"  {self.names[m.sender]} → {receiver}: {number(m.carried)} · {bracketed(number(m.slope))} = "
                f"{number(m.value)}   {self.carried} of {receiver} so far: {number(m.sum)}"
            )
        return "\n".join(lines)


def bracketed(text: str) -> str:
    """A number with a sign in brackets, to stand after an operator."""
    return f"({text})" if text.startswith(("−", "≈")) else text


def variable(name: str, mark: str = "") -> str:
    """A node's name; `mark` is "bar" for its adjoint, "dot" for its tangent."""
    return f'<var class="{mark}">{escape(name)}</var>' if mark else f"<var>{escape(name)}</var>"


def chain(*parts: str) -> str:
    """Equal things with equals signs between, each said once."""
    return told(" = ".join(part for k, part in enumerate(parts) if k == 0 or part != parts[k - 1]))


def told(text: str) -> str:
    """An equation in which "≈ 0" stands for a number: one sign is enough."""
    return re.sub(r"= (<b>)?≈", r"\1≈", text)


def summed(arrived: Sequence[str], total: str) -> str:
    """What arrived so far as a sum: "0.4 + (−0.9) = −0.5"."""
    so_far = " + ".join([arrived[0], *(bracketed(x) for x in arrived[1:])])
    return so_far if len(arrived) == 1 else told(f"{so_far} = {total}")


def _chips(drawing: pictures.Drawing, texts: list[str]) -> str:
    """Each message on its edge, and the arrow head at the edge's other end, where the message arrives."""
    widths = [len(text) * pictures.MONO + 10 for text in texts]
    chips = []
    for k, ((x, y), width, text) in enumerate(zip(pictures.seats(drawing, widths, 18), widths, texts, strict=True)):
        chips.append(
            f'<g data-edge="{k}"><polygon class="back" points="{pictures.back_head(drawing.wires[k])}"/><g class="chip">'
            f'<rect x="{x - width / 2:.1f}" y="{y - 9:.1f}" width="{width:.1f}" height="18" rx="9" fill="none" '
            f'stroke="currentColor"/><text x="{x:.1f}" y="{y + 4.2:.1f}" text-anchor="middle">{escape(text)}</text></g></g>'
        )
    return "".join(chips)


_ICONS = {
    "first": ("To the start", "M6 5v14M19 5l-9 7 9 7z"),
    "back": ("One step back", "M15 5l-7 7 7 7"),
    "play": ("Play", "M7 4l13 8-13 8z"),
    "next": ("One step on", "M9 5l7 7-7 7"),
    "last": ("To the end", "M18 5v14M5 5l9 7-9 7z"),
}


def _controls(count: int, turn: int, phases: Sequence[str], asks: bool) -> str:
    buttons = "".join(
        f'<button type="button" data-do="{name}" aria-label="{label}" title="{label}"'
        f'{" class=bp-main" if name == "next" else ""}><svg viewBox="0 0 24 24" width="16" height="16" aria-hidden="true">'
        f'<path d="{path}" fill="{"none" if name in ("back", "next") else "currentColor"}" stroke="currentColor" '
        f'stroke-width="{3 if name in ("back", "next") else 2}" stroke-linejoin="round" stroke-linecap="round"/></svg></button>'
        for name, (label, path) in _ICONS.items()
    )
    share = 100 * (turn - 0.5) / max(1, count - 1)
    widths = [f' style="width:{share:.1f}%"', ""] if len(phases) > 1 else [""]
    spans = "".join(f"<span{width}>{phase}</span>" for phase, width in zip(phases, widths, strict=True))
    return (
        f'<div class="bp-controls"><div class="bp-buttons">{buttons}</div><div class="bp-slide">'
        f'<input type="range" min="0" max="{count - 1}" value="0" step="1" aria-label="Step">'
        f'<div class="bp-phases" aria-hidden="true">{spans}</div>'
        '</div><span class="bp-count" aria-hidden="true"></span>'
        + ('<button type="button" class="bp-toggle" aria-pressed="false">Predict</button>' if asks else "")
        + "</div>"
    )
