"""Draws computational graphs: a reader's own expression, or the graph on which a check failed.

A picture is data, so that it can travel in a verdict:

    {"title": str,
     "nodes": [{"id": str, "label": "v", "op": "×", "value": 1.5,
                "grad": -0.6}]                                   # an expression
               ... or "yours": -0.6, "right": 1.2, "first": True}]   # a failing graph
     "edges": [{"from": id of the input, "to": id of the result, "slot": 0}]}

`yours` is the adjoint that the learner's code computed (None: not computed), `right` the reference's, `first` marks
the first node that departs. Where values are compared instead, "compared" is "value" and `value` is left out; where
tangents are, it is "tangent". In forward mode nodes have "tangent" for "grad". "row" is what a node calls its value,
"data" by default. "cut" marks a node whose inputs are not all drawn. Edges point the way values flow. Extra keys are
ignored.
"""

from __future__ import annotations

import inspect
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from autograder.student import expression, layout, operations, session, theme
from autograder.student.layout import Point, Wire

ROW = 17.0
HEADER = 25.0
MOST_DOTS = 5
SMALLEST = 0.7  # a drawing wider than its column is made smaller, down to this
MANY = 24  # nodes above which a drawing is made smaller
FLAG, FLAG_WIDTH = 20.0, 118.0  # the words above the node that departs first
MONO = 7.25  # width of a character of 12 px monospace
SANS = 6.2


def show_graph(root: Any, names: Mapping[Any, Any] | None = None, title: str | None = None) -> None:
    """Draw the expression that ends in `root`, with data and grad in every node.

    Works on any engine whose nodes know their parents. Nodes carry the names of your variables where one variable
    holds the node; `names` (name → node) says otherwise. Draws at most 60 nodes, the nearest to `root`.
    """
    if session.quiet():
        return
    if not expression.is_node(root):
        from autograder.student.cards import show_note

        show_note(f"show_graph draws an expression made of Values, and this is a {type(root).__name__}: {root!r:.80}")
        return
    frame = inspect.currentframe()
    read = expression.read(root, expression.names_in(frame.f_back if frame else None, names))
    picture = read.picture(title or "")
    said = hidden_words(read)
    theme.show(figure(picture, said), describe(picture) + (f"\n{said}" if said else ""))


def hidden_words(read: expression.Expression) -> str:
    if not read.hidden:
        return ""
    total = len(read.nodes) + read.hidden
    count = f"{total:,}" if read.counted_all else f"more than {total:,}"
    return f"This expression has {count} nodes. Drawn are the {len(read.nodes)} nearest to its root."


def figure(picture: Mapping[str, Any], said: str = "") -> str:
    """A picture as a self-contained piece of HTML."""
    caption = f"<figcaption>{escape(str(picture.get('title') or ''))}</figcaption>" if picture.get("title") else ""
    note = f'<p class="bp-said">{escape(said)}</p>' if said else ""
    drawing = draw(picture)
    body = f"<figure>{caption}{drawing.svg()}{note}</figure>"
    return theme.piece("graph", body, ("graph",), attributes=drawing.window)


# numbers


def number(x: Any, digits: int = 6) -> str:
    """A number as the course writes it: at most `digits` significant digits, a true minus, no negative zero."""
    if x is None:
        return "–"
    if isinstance(x, str):
        x = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}.get(x, x)
    if isinstance(x, bool) or not isinstance(x, (int, float)):
        return str(x)[:16]
    if math.isnan(x):
        return "not a number"
    if math.isinf(x):
        return "∞" if x > 0 else "−∞"
    text = f"{x:.{digits}g}"
    if float(text) == 0:
        return "0"
    mantissa, _, exponent = text.partition("e")
    if abs(x) < 1e-12:
        return "≈ 0"
    return (mantissa + (f"e{int(exponent)}" if exponent else "")).replace("-", "−")


def close(a: Any, b: Any) -> bool:
    """Do two adjoints agree as the judge would have it?"""
    if not isinstance(a, (int, float)) or not isinstance(b, (int, float)):
        return a == b
    return abs(a - b) <= 1e-6 * max(1.0, abs(a), abs(b))


def apart(a: Any, b: Any) -> tuple[str, str]:
    """Two different numbers with as many digits as it takes to tell them apart."""
    for digits in (6, 9, 12, 17):
        pair = number(a, digits), number(b, digits)
        if pair[0] != pair[1] or close(a, b):
            return pair
    return pair


# drawing


def written(sign: str) -> str:
    """An operation's sign as a drawing shows it: powers with a raised exponent."""
    if not sign.startswith("^"):
        return sign
    raised = str.maketrans("0123456789-−.", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁻·")
    return f"( ){(sign[1:] or 'n').translate(raised)}"


@dataclass(frozen=True)
class Row:
    """One line of a node: a word, a number and, where it is compared, a mark."""

    key: str
    number: str
    kind: str
    mark: str = ""


@dataclass
class Box:
    """One node, measured: what it says and how large it is."""

    node: Mapping[str, Any]
    rows: list[Row]
    kinds: list[str]
    sign: str
    name: str
    first: bool = False
    inbox: int = 0  # messages that the node waits for, shown as dots
    width: float = 0.0
    height: float = 0.0
    gutter: float = 0.0  # room for the marks
    header: float = 0.0

    def __post_init__(self) -> None:
        widest = max((len(r.key) * SANS + 12 + len(r.number) * MONO for r in self.rows), default=0.0)
        header = len(self.name) * 8.6 + (self.badge + 10 if self.sign else 0) + min(self.inbox, MOST_DOTS) * 11
        self.gutter = 16.0 if any(r.mark for r in self.rows) else 0.0
        self.width = max(widest + self.gutter, header, FLAG_WIDTH - 14 if self.first else 0, 76.0) + 20
        self.header = HEADER if self.sign or self.name or self.inbox else 4.0
        self.height = self.header + ROW * len(self.rows) + 6

    @property
    def badge(self) -> float:
        return max(22.0, len(written(self.sign)) * 7.4 + 12)


def _box(node: Mapping[str, Any], is_leaf: bool, is_root: bool, inbox: int) -> Box:
    # Where values themselves are compared there is no third number to show.
    only_compared = "value" not in node and "right" in node
    rows = [] if only_compared else [Row(str(node.get("row", "data")), number(node.get("value")), "data")]
    kinds = ["leaf"] if is_leaf and not node.get("cut") else []
    kinds += ["root"] if is_root else []
    if "yours" in node or "right" in node:
        yours, right = node.get("yours"), node.get("right")
        same = close(yours, right)
        words = apart(yours, right)
        # What the learner's code did not compute is neither right nor wrong, unless all turns on it.
        known = yours is not None or bool(node.get("first"))
        mark = ("✓" if same else "✗") if known else ""
        if known or right is not None:
            rows += [Row("yours", words[0], "yours", mark), Row("right", words[1], "right")]
        if known:
            kinds.append("agrees" if same else "differs")
    elif "grad" in node:
        rows.append(Row("grad", number(node.get("grad")), "grad"))
    elif node.get("tangent") is not None:
        rows.append(Row("tangent", number(node.get("tangent")), "grad"))
    if node.get("cut"):
        rows.append(Row("⋯ not all inputs drawn", "", "more"))
    first = bool(node.get("first"))
    kinds += ["first"] if first else []
    sign = str(node.get("op") or "")
    sign = "" if sign in operations.INPUTS else operations.sign_of(sign) or sign
    return Box(node, rows, kinds, sign, str(node.get("label") or ""), first, inbox)


def _f(x: float) -> str:
    return f"{round(x, 1) + 0.0:g}"


def dots(received: int, awaited: int) -> str:
    """The inbox of a node: one dot a message, filled when it has arrived."""
    if awaited > MOST_DOTS:
        return f"{received}/{awaited}"
    return "●" * received + "○" * (awaited - received)


def _draw_box(i: int, box: Box, centre: Point) -> str:
    x, y = centre[0] - box.width / 2, centre[1] - box.height / 2 + (FLAG / 2 if box.first else 0)
    corner = 13 if "leaf" in box.kinds else 5
    parts = [
        f'<rect class="box" x="{_f(x)}" y="{_f(y)}" width="{_f(box.width)}" height="{_f(box.height)}" rx="{corner}"'
        ' fill="none" stroke="currentColor"/>'
    ]
    if box.first:
        parts.append(
            f'<rect class="flag" x="{_f(centre[0] - FLAG_WIDTH / 2)}" y="{_f(y - FLAG + 2)}" width="{_f(FLAG_WIDTH)}" height="{_f(FLAG)}" rx="4"/>'
            f'<text class="flag-text" x="{_f(centre[0])}" y="{_f(y - 4)}">▼ first difference</text>'
        )
    if box.sign:
        parts.append(
            f'<rect class="badge" x="{_f(x + 6)}" y="{_f(y + 4)}" width="{_f(box.badge)}" height="19" rx="9.5" fill="none"/>'
            f'<text class="sign" x="{_f(x + 6 + box.badge / 2)}" y="{_f(y + 18)}">{escape(written(box.sign))}</text>'
        )
    if box.name:
        left = x + (box.badge + 13 if box.sign else 10)
        parts.append(f'<text class="name" x="{_f(left)}" y="{_f(y + 18.5)}">{escape(box.name)}</text>')
    line = _f(y + box.header + 1)
    if box.sign or box.name:
        parts.append(f'<line class="rule" x1="{_f(x)}" x2="{_f(x + box.width)}" y1="{line}" y2="{line}"/>')
    right = x + box.width - 10
    if box.inbox:
        text = dots(box.inbox, box.inbox)
        parts.append(f'<text class="inbox" x="{_f(right)}" y="{_f(y + 17.5)}" text-anchor="end">{text}</text>')
    for k, row in enumerate(box.rows):
        base = _f(y + box.header + ROW * (k + 1) - 2)
        parts.append(
            f'<text class="key" x="{_f(x + 10)}" y="{base}">{row.key}</text>'
            f'<text class="{row.kind}" x="{_f(right - box.gutter)}" y="{base}" text-anchor="end">{escape(row.number)}</text>'
        )
        if row.mark:
            parts.append(f'<text class="mark" x="{_f(right)}" y="{base}" text-anchor="end">{row.mark}</text>')
    return f'<g class="node {" ".join(box.kinds)}" data-node="{i}">{"".join(parts)}</g>'


def path(wire: Wire) -> str:
    """A wire as SVG path data."""
    (x, y), rest = wire.points[0], wire.points[1:]
    return f"M{_f(x)} {_f(y)}C" + " ".join(f"{_f(a)} {_f(b)}" for a, b in rest)


def arrow_head(wire: Wire) -> str:
    """The points of a wire's arrow head; no <marker>, whose id would collide between outputs."""
    return _triangle(wire.points[-1], wire.tip, 3.6)


def back_head(wire: Wire) -> str:
    """The arrow head at a wire's other end, where a message arrives."""
    (sx, sy), (x, y) = wire.points[0], wire.at(0.08 if len(wire.points) < 5 else 0.03)
    length = math.hypot(x - sx, y - sy) or 1.0
    return _triangle((sx + (x - sx) / length * 10, sy + (y - sy) / length * 10), wire.points[0], 4.4)


def _triangle(base: Point, tip: Point, half: float) -> str:
    (bx, by), (tx, ty) = base, tip
    length = math.hypot(tx - bx, ty - by) or 1.0
    nx, ny = -(ty - by) / length * half, (tx - bx) / length * half
    return f"{_f(bx + nx)},{_f(by + ny)} {_f(tx)},{_f(ty)} {_f(bx - nx)},{_f(by - ny)}"


def seats(drawing: Drawing, widths: Sequence[float], height: float) -> list[Point]:
    """A place on each wire for a label of the given width: off the nodes and off the labels seated before."""
    taken = [
        (x - b.width / 2 - 2, y - b.height / 2 - 2, x + b.width / 2 + 2, y + b.height / 2 + 2)
        for b, (x, y) in zip(drawing.boxes, drawing.centres, strict=True)
    ]
    places = []
    for wire, width in zip(drawing.wires, widths, strict=True):

        def cover(point: Point, width: float = width) -> tuple[float, float, float, float]:
            return point[0] - width / 2, point[1] - height / 2, point[0] + width / 2, point[1] + height / 2

        def cost(point: Point, wire: Wire = wire) -> tuple[float, float]:
            mine = cover(point)
            overlap = sum(
                max(0.0, min(mine[2], t[2]) - max(mine[0], t[0])) * max(0.0, min(mine[3], t[3]) - max(mine[1], t[1]))
                for t in taken
            )
            return overlap, math.dist(point, wire.label or wire.at(0.5))

        best = min((wire.at(k / 40) for k in range(5, 36)), key=cost)
        taken.append(cover(best))
        places.append(best)
    return places


@dataclass
class Drawing:
    """A picture, placed."""

    boxes: list[Box]
    centres: Sequence[Point]
    wires: Sequence[Wire]
    edges: list[tuple[int, int, int]]  # from, to, slot
    width: float
    height: float
    picture: Mapping[str, Any] = field(default_factory=dict)

    @property
    def scale(self) -> float:
        return 1.0 if len(self.boxes) <= MANY else 0.78

    @property
    def window(self) -> str:
        """Attributes of the block around the drawing: where it scrolls, keys must be able to scroll it too."""
        fits = self.width * SMALLEST <= 800
        return "" if fits else ' tabindex="0" role="group" aria-label="Graph"'

    def svg(self, over_edges: str = "") -> str:
        """The drawing; `over_edges` is laid over the edges and under the nodes."""
        margin = 5.0
        wires = []
        for k, (wire, (_, to, slot)) in enumerate(zip(self.wires, self.edges, strict=True)):
            mark = ""
            operation = operations.operation(self.boxes[to].sign)
            if operation and operation.slots_matter:
                x, y = wire.points[-1]
                mark = f'<text class="slot" x="{_f(x - 5)}" y="{_f(y - 6)}">{slot + 1}</text>'
            wires.append(
                f'<g class="edge" data-edge="{k}"><path class="wire" d="{path(wire)}" fill="none" stroke="currentColor"/>'
                f'<polygon class="head" points="{arrow_head(wire)}"/>{mark}</g>'
            )
        nodes = [
            _draw_box(i, box, centre) for i, (box, centre) in enumerate(zip(self.boxes, self.centres, strict=True))
        ]
        width, height = self.width + 2 * margin, self.height + 2 * margin
        title = escape(str(self.picture.get("title") or "Computational graph"))
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{_f(width * self.scale)}" height="{_f(height * self.scale)}" '
            f'style="min-width:{_f(width * SMALLEST)}px" '
            f'viewBox="{_f(-margin)} {_f(-margin)} {_f(width)} {_f(height)}"><title>{title}</title>'
            f"<desc>{escape(describe(self.picture))}</desc>{''.join(wires)}{over_edges}{''.join(nodes)}</svg>"
        )


def draw(picture: Mapping[str, Any], label_width: float = 0.0, dotted: str = "", gap: float = 0.0) -> Drawing:
    """Measure and place a picture of at most 60 nodes, with room for labels on edges if asked.

    `dotted` puts dots into the nodes, one a message to come: one for each "use" of the node, or for each "input".
    """
    nodes = list(picture.get("nodes", ()))
    ids = {str(node["id"]): i for i, node in enumerate(nodes)}
    edges = [
        (ids[str(e["from"])], ids[str(e["to"])], int(e.get("slot", 0)))
        for e in picture.get("edges", ())
        if str(e.get("from")) in ids and str(e.get("to")) in ids
    ]
    edges.sort(key=lambda e: (e[1], e[2]))
    has_input, has_output = {to for _, to, _ in edges}, {start for start, _, _ in edges}
    awaited = Counter({"use": start, "input": to}.get(dotted) for start, to, _ in edges)
    boxes = [_box(node, i not in has_input, i not in has_output, awaited[i]) for i, node in enumerate(nodes)]
    sizes = [(b.width, b.height + (FLAG if b.first else 0)) for b in boxes]
    placed = layout.place(sizes, [(a, b) for a, b, _ in edges], label_width, gap)
    return Drawing(boxes, placed.centres, placed.wires, edges, placed.width, placed.height, picture)


def graph_svg(picture: Mapping[str, Any]) -> str:
    """A picture as SVG. Colours come from the surrounding piece's style sheet ("graph"); shapes stand without it."""
    return draw(picture).svg() if picture.get("nodes") else ""


def describe(picture: Mapping[str, Any]) -> str:
    """The picture in words, node by node, for those who do not see it."""
    nodes = {str(node["id"]): node for node in picture.get("nodes", ())}
    inputs: dict[str, list[str]] = {}
    for edge in sorted(picture.get("edges", ()), key=lambda e: int(e.get("slot", 0))):
        inputs.setdefault(str(edge["to"]), []).append(str(edge["from"]))
    called: dict[str, str] = {}
    for i, (key, node) in enumerate(nodes.items(), 1):
        called[key] = str(node.get("label") or f"node {i}")
    lines = []
    for key, node in nodes.items():
        made = ""
        if key in inputs:
            operation = operations.operation(operations.sign_of(str(node.get("op") or "")) or str(node.get("op")))
            words = [called.get(p, "an input") for p in inputs[key]]
            sign = operation.spoken if operation else str(node.get("op") or "an operation on")
            made = " = " + (f" {sign} ".join(words) if len(words) == 2 else f"{sign} {', '.join(words)}")
        said = [f"{node.get('row', 'data')} {number(node.get('value'))}"] if "value" in node else []
        if "yours" in node or "right" in node:
            words2 = apart(node.get("yours"), node.get("right"))
            said.append(f"your {node.get('compared', 'adjoint')} {words2[0]}, right {words2[1]}")
        text = f"{called[key]}{made}: {', '.join(said)}"
        if "yours" in node or "right" in node:
            text += " (the first that differs)" if node.get("first") else ""
        elif "grad" in node:
            text += f", grad {number(node.get('grad'))}"
        elif node.get("tangent") is not None:
            text += f", tangent {number(node.get('tangent'))}"
        lines.append(text)
    return ". ".join(lines)
