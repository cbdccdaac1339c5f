"""Finite differences in float64: a witness that knows no derivative rule at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from autograder.references.graphs import Graph, Numbers, forward


def central(f: Callable[[float], float], x: float, h: float = 1e-5) -> float:
    """[f(x + h) − f(x − h)] / 2h, with a step relative to max(1, |x|)."""
    h *= max(1.0, abs(x))
    return (f(x + h) - f(x - h)) / (2 * h)


def adjoint(graph: Graph, inputs: Mapping[str, float], sink: str, name: str) -> float:
    """∂sink/∂name: node `name`, input or not, is moved a little both ways and all that follows is computed anew."""
    x = forward(graph, inputs)[name]
    return central(lambda moved: forward(graph, inputs, {name: moved})[sink], x)


def adjoints(graph: Graph, inputs: Mapping[str, float], sink: str) -> Numbers:
    """∂sink/∂node for every node but plain numbers."""
    return {name: adjoint(graph, inputs, sink, name) for name, node in graph.items() if node.op != "number"}


def tangents(graph: Graph, inputs: Mapping[str, float], seed: Mapping[str, float], h: float = 1e-5) -> Numbers:
    """The tangent of every node: all inputs are moved a little along `seed`, both ways."""

    def moved(t: float) -> Numbers:
        return forward(graph, {name: x + t * seed.get(name, 0.0) for name, x in inputs.items()})

    up, down = moved(h), moved(-h)
    return {name: (up[name] - down[name]) / (2 * h) for name in graph}


def gradient(f: Callable[[Sequence[float]], float], point: Sequence[float]) -> list[float]:
    """One central difference for each coordinate of `point`."""

    def along(i: int) -> Callable[[float], float]:
        return lambda x: f([*point[:i], x, *point[i + 1 :]])

    return [central(along(i), x) for i, x in enumerate(point)]
