"""Plays the forward and the reverse pass over a reader's own expression, one message an edge a step, in the browser."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from html import escape
from typing import Any

from autograder.student import expression, operations, passes, pictures, ready, session, theme
from autograder.student.expression import Expression
from autograder.student.passes import Message
from autograder.student.pictures import number


def show_backward(
    root: Any, predict: bool = False, names: Mapping[Any, Any] | None = None, title: str | None = None
) -> None:
    """Play the backward pass from `root`: buttons, a slider and the arrow keys step through it.

    The messages are computed here, by the rules of the course; your gradients are neither used nor changed. With
    `predict=True` the pass halts at every node that is used more than once, until you have entered the next message.
    At most 60 nodes are drawn, the nearest to `root`.
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
        stepper = Stepper(expression.read(root, names_found), predict, title or "")
    except NotImplementedError as stub:
        show_note(ready.waiting((), str(stub)))
        return
    except (ArithmeticError, ValueError) as error:
        show_note(f"This backward pass cannot be played: a local derivative does not exist here ({error}).")
        return
    theme.show(stepper.html(), stepper.text())


class Stepper:
    """A pass, told: the steps as data for the script, and a picture and a table that hold every number without it."""

    def __init__(self, read: Expression, predict: bool = False, title: str = "") -> None:
        self.read = read
        self.predict = predict
        self.adjoints, self.messages = passes.messages(read)
        self.names = self._named()
        picture = read.picture(title or "The backward pass")
        for node, name, adjoint in zip(picture["nodes"], self.names, self.adjoints, strict=True):
            node["label"] = "" if read.labels[int(node["id"])] == "" and not read.parents[int(node["id"])] else name
            node["grad"] = adjoint
        self.picture = picture
        self.title = title

    def _named(self) -> list[str]:
        """A name for every node, so that it can be talked about: t1, t2, … where the reader gave none."""
        names, taken, k = [], set(self.read.labels), 0
        for i, label in enumerate(self.read.labels):
            if not label and self.read.parents[i]:
                k += 1
                while f"t{k}" in taken:
                    k += 1
                label = f"t{k}"
            names.append(label or number(self.read.value(i)))
        return names

    # words

    def _formula(self, i: int, parts: list[str]) -> str:
        """Node i as its operation writes it, with `parts` in the slots."""
        sign = self.read.operations[i]
        if sign.startswith("^"):
            return f"{parts[0]}{pictures.written(sign).removeprefix('( )')}"
        if sign == "neg":
            return f"−{_bracketed(parts[0])}"
        if len(parts) == 2:
            dot = "·" if sign == "×" else "/" if sign == "÷" else sign
            return f"{parts[0]} {dot} {_bracketed(parts[1])}"
        return f"{sign}({', '.join(parts)})"

    def _slope_rule(self, message: Message) -> str:
        """The rule behind a slope, where it says more than the number: "1 − w²"."""
        operation = operations.operation(self.read.operations[message.child])
        if operation is None:
            return ""
        names = [self.names[p] for p in self.read.parents[message.child]]
        rule = operation.words[message.slot].format(*names, out=self.names[message.child])
        return "" if rule.replace("−", "").isdigit() else rule

    def _events(self) -> list[dict[str, Any]]:
        read, names = self.read, self.names
        inputs = [i for i in range(len(read.nodes)) if not read.parents[i]]
        named = [i for i in inputs if read.labels[i]] or inputs
        listed = ", ".join(f"{names[i]} = {number(read.value(i))}" if read.labels[i] else names[i] for i in named)
        events: list[dict[str, Any]] = [
            {"kind": "start", "say": f"<p>Forward pass. The inputs are known: {escape(listed)}.</p>",
             "aloud": f"Forward pass. Inputs: {listed}."}
        ]  # fmt: skip
        for i in range(len(read.nodes)):
            if not read.parents[i]:
                continue
            words = self._formula(i, [names[p] for p in read.parents[i]])
            numbers = self._formula(i, [number(read.value(p)) for p in read.parents[i]])
            value = number(read.value(i))
            events.append(
                {
                    "kind": "value",
                    "node": i,
                    "say": f"<p>Each node computes its value from its inputs’ values.</p>"
                    f'<p class="sum">{_chain(_v(names[i]), escape(words), escape(numbers), f"<b>{value}</b>")}</p>',
                    "aloud": f"{names[i]} = {words} = {value}.",
                }
            )
        root = len(read.nodes) - 1
        events.append(
            {
                "kind": "seed",
                "node": root,
                "say": f"<p>Reverse pass. It starts at the end with the seed: {_v(names[root])} changes by as much as "
                f'itself.</p><p class="sum">{_chain(_bar(names[root]), "<b>1</b>")}</p>',
                "aloud": f"Reverse pass. Seed: the adjoint of {names[root]} is 1.",
            }
        )
        order = {(e[1], e[2]): k for k, e in enumerate(self._edges())}
        parts: dict[int, list[str]] = {}
        for message in self.messages:
            parts.setdefault(message.parent, []).append(number(message.value))
            events.append(self._message_event(message, order[message.child, message.slot], parts[message.parent]))
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

    def _message_event(self, message: Message, edge: int, arrived: list[str]) -> dict[str, Any]:
        child, parent = self.names[message.child], self.names[message.parent]
        value, total = number(message.value), number(message.sum)
        rule = self._slope_rule(message)
        slope_name = f"∂{child}/∂{parent}"
        product = _chain(
            f"{_bar(child)} · {escape(slope_name)}",
            f"{number(message.adjoint)} · {_bracketed(number(message.slope))}",
            f"<b>{value}</b>",
        )
        because = f" Here {escape(slope_name)} = {escape(rule)}." if rule else ""
        left = message.awaited - message.number
        if message.awaited == 1:
            arrival = f"It is the only one, so {_bar(parent)} = {total}."
            aloud = f"The adjoint of {parent} is {total}."
        else:
            so_far = " + ".join([arrived[0], *(_bracketed(x) for x in arrived[1:])])
            summed = so_far if len(arrived) == 1 else f"{so_far} = {total}"
            ending = "complete" if not left else f"{left} more to come"
            arrival = f"Message {message.number} of {message.awaited}: {_bar(parent)} = {summed}, {ending}."
            aloud = f"Message {message.number} of {message.awaited}: the adjoint of {parent} is {total}, {ending}."
        event = {
            "kind": "message",
            "node": message.child,
            "parent": message.parent,
            "edge": edge,
            "value": value,
            "sum": total,
            "dots": pictures.dots(message.number, message.awaited),
            "done": left == 0,
            "say": f'<p>{_v(child)} sends {_v(parent)} a message: its own adjoint times the slope of that edge.{because}</p>'
            f'<p class="sum">{product}</p><p>{arrival}</p>',
            "aloud": f"{child} sends {parent} the message {number(message.adjoint)} times {number(message.slope)}, "
            f"which is {value}. {aloud}",
        }  # fmt: skip
        if self.predict and message.awaited > 1:
            event["ask"] = {
                "say": f"<p>Your turn. Which message does {_v(child)} send to {_v(parent)}?</p>"
                f'<p class="sum">{_bar(child)} · {escape(slope_name)} = ?</p>',
                "aloud": f"Your turn: which message does {child} send to {parent}?",
                "value": message.value,
                "adjoint": message.adjoint,
                "slope": message.slope,
                "sum": message.sum,
                "first": message.number == 1,
                "hint": f"{child} has the adjoint {number(message.adjoint)}; {slope_name} = "
                + (f"{rule} = {number(message.slope)}." if rule else f"{number(message.slope)}."),
            }
        return event

    # drawing

    def _edges(self) -> list[tuple[int, int, int]]:
        """The edges in the order in which the picture draws them."""
        return sorted(
            ((p, i, slot) for i, parents in enumerate(self.read.parents) for slot, p in enumerate(parents)),
            key=lambda e: (e[1], e[2]),
        )

    def html(self) -> str:
        """The stepper as one self-contained piece of HTML; without scripts, a picture and a table with every number."""
        by_edge = {(m.child, m.slot): number(m.value) for m in self.messages}
        texts = [by_edge[to, slot] for _, to, slot in self._edges()]
        room = max((len(text) for text in texts), default=0) * pictures.MONO + 10
        drawing = pictures.draw(self.picture, label_width=room, inboxes=True)
        chips = _chips(drawing, texts)
        events = self._events()
        turn = next(k for k, event in enumerate(events) if event["kind"] == "seed")
        said = pictures.hidden_words(self.read)
        data = escape(json.dumps(events, ensure_ascii=False, separators=(",", ":")), quote=True)
        caption = f"<p class='bp-name'>{escape(self.title)}</p>" if self.title else ""
        body = (
            f"{caption}"
            f'<div class="bp-graph bp-stage" tabindex="0" role="group" aria-label="The graph; arrow keys step through the pass">'
            f"{drawing.svg(chips)}</div>"
            + (f'<p class="bp-said">{escape(said)}</p>' if said else "")
            + _controls(len(events), turn)
            + '<div class="bp-caption" aria-hidden="true"></div><div class="bp-ask" hidden></div>'
            '<div class="bp-live bp-hidden" role="status" aria-live="polite"></div>' + self._table()
        )
        return theme.piece(
            "stepper",
            body,
            ("graph", "buttons", "stepper"),
            script="stepper.js",
            attributes=f' role="group" aria-label="Backward pass, step by step" data-steps="{data}"',
        )

    def _table(self) -> str:
        rows = "".join(
            f"<tr><td>{k}</td><td>{escape(self.names[m.child])} → {escape(self.names[m.parent])}</td>"
            f"<td>{number(m.adjoint)}</td><td>{number(m.slope)}</td><td>{number(m.value)}</td><td>{number(m.sum)}</td></tr>"
            for k, m in enumerate(self.messages, 1)
        )
        return (
            "<details><summary>All messages as a table</summary><table><thead><tr><th scope='col'>#</th>"
            "<th scope='col'>edge</th><th scope='col'>adjoint</th><th scope='col'>slope</th>"
            f"<th scope='col'>message</th><th scope='col'>sum so far</th></tr></thead><tbody>{rows}</tbody></table></details>"
        )

    def text(self) -> str:
        """The reverse pass in plain text."""
        root = self.names[-1]
        lines = [f"The backward pass from {root} = {number(self.read.value(len(self.names) - 1))}"]
        for m in self.messages:
            lines.append(
                f"  {self.names[m.child]} → {self.names[m.parent]}: {number(m.adjoint)} · {_bracketed(number(m.slope))} = "
                f"{number(m.value)}   adjoint of {self.names[m.parent]} so far: {number(m.sum)}"
            )
        return "\n".join(lines)


def _bracketed(text: str) -> str:
    return f"({text})" if text.startswith("−") else text


def _v(name: str) -> str:
    return f"<var>{escape(name)}</var>"


def _bar(name: str) -> str:
    return f'<var class="bar">{escape(name)}</var>'


def _chain(*parts: str) -> str:
    return " = ".join(part for k, part in enumerate(parts) if k == 0 or part != parts[k - 1])


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


def _controls(count: int, turn: int) -> str:
    buttons = "".join(
        f'<button type="button" data-do="{name}" aria-label="{label}" title="{label}"'
        f'{" class=bp-main" if name == "next" else ""}><svg viewBox="0 0 24 24" width="16" height="16" aria-hidden="true">'
        f'<path d="{path}" fill="{"none" if name in ("back", "next") else "currentColor"}" stroke="currentColor" '
        f'stroke-width="{3 if name in ("back", "next") else 2}" stroke-linejoin="round" stroke-linecap="round"/></svg></button>'
        for name, (label, path) in _ICONS.items()
    )
    share = 100 * (turn - 0.5) / max(1, count - 1)
    return (
        f'<div class="bp-controls"><div class="bp-buttons">{buttons}</div><div class="bp-slide">'
        f'<input type="range" min="0" max="{count - 1}" value="0" step="1" aria-label="Step">'
        f'<div class="bp-phases" aria-hidden="true"><span style="width:{share:.1f}%">forward</span><span>reverse</span></div>'
        '</div><span class="bp-count" aria-hidden="true"></span></div>'
    )
