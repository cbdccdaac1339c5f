"""Graphs as data are drawn with their values and local derivatives, and what is no graph gets a sentence."""

from __future__ import annotations

import re
from typing import Any, NamedTuple
from xml.etree import ElementTree

import pytest

from autograder.references import graphs, pytorch
from autograder.student import data_graph
from autograder.student.data_graph import NotAGraph, figure, in_words, picture_of, show_data_graph


class Node(NamedTuple):
    op: str
    parents: tuple[str, ...] = ()
    n: float = 1.0


RUNNING = {
    "L": Node("*", ("v", "w")),
    "w": Node("tanh", ("b",)),
    "v": Node("+", ("u", "a")),
    "u": Node("*", ("a", "b")),
    "b": Node("input"),
    "a": Node("input"),
}
AT = {"a": 1.5, "b": -0.7}


def test_values_and_slopes_are_those_of_pytorch() -> None:
    graph, _ = graphs.parse("u = a*b; v = u - a; w = tanh(b); x = exp(v)/w; y = relu(x) + log(a); z = -y; L = z**3")
    picture = picture_of(graph, AT, slopes=True)
    for node in picture["nodes"]:
        values, _ = pytorch.adjoints(graph, AT, node["id"])
        assert node["value"] == pytest.approx(values[node["id"]])
    drawn = [e for e in picture["edges"] if e["to"] not in AT]
    assert len(drawn) == sum(len(node.parents) for node in graph.values())
    for edge in drawn:
        # One step alone: its parents become inputs.
        node = graph[edge["to"]]
        slots = [f"s{k}" for k in range(len(node.parents))]
        step: graphs.Graph = {s: graphs.Node("input") for s in slots} | {
            "y": graphs.Node(node.op, tuple(slots), node.n)
        }
        held = dict(zip(slots, (values[p] for p in node.parents), strict=True))
        _, slopes = pytorch.adjoints(step, held, "y")
        assert edge["slope"] == pytest.approx(slopes[slots[edge["slot"]]])


def test_nodes_are_drawn_in_the_order_of_their_slots_however_the_dict_is_listed() -> None:
    assert [node["id"] for node in picture_of(RUNNING, AT)["nodes"]] == ["a", "b", "u", "v", "w", "L"]


def test_only_what_the_sink_needs_is_drawn() -> None:
    assert [node["id"] for node in picture_of(RUNNING, AT, "v")["nodes"]] == ["a", "b", "u", "v"]


def test_a_picture_is_one_self_contained_piece_with_a_number_on_every_edge() -> None:
    html = figure(picture_of(RUNNING, AT, slopes=True, title="The running example"), along=("b", "u", "v", "L"))
    assert html.count('class="slope on"') == 3 and html.count('class="slope') == 7 and html.count('class="along"') == 3
    assert "The running example" in html and "http://" not in html.replace("http://www.w3.org", "")
    svg = re.search(r"<svg.*</svg>", html, re.DOTALL)
    assert svg is not None
    ElementTree.fromstring(svg.group())
    for number in ("−0.7", "1.5", "0.6347", "−0.6044", "0.45"):
        assert f">{number}<" in html


def test_numbers_on_edges_do_not_move_the_nodes_past_one_another() -> None:
    def rows(slopes: bool) -> list[str]:
        html = figure(picture_of(RUNNING, AT, slopes=slopes))
        boxes = re.findall(r'class="name" x="[\d.]+" y="([\d.]+)">(\w)<', html)
        return [name for _, name in sorted(boxes, key=lambda box: float(box[0]))]

    assert rows(slopes=False) == rows(slopes=True)


def test_the_picture_in_words() -> None:
    said = in_words(picture_of(RUNNING, AT, adjoints={"a": -0.18131}, slopes=True))
    assert "v = u plus a: value 0.45" in said and "grad −0.18131" in said and "b to w: 0.6347" in said


def test_a_step_without_values_is_drawn_without_numbers() -> None:
    picture = picture_of(RUNNING, {}, slopes=True)
    assert all(node["value"] is None for node in picture["nodes"])
    assert "slope" not in str(picture["edges"]) and "<svg" in figure(picture)


@pytest.mark.parametrize(
    ("graph", "said"),
    [
        (3, "not a dict"),
        ({"a": 3}, "no Node"),
        ({"y": Node("+", ("x", "x"))}, "no such node"),
        ({"a": Node("tanh", ("b",)), "b": Node("tanh", ("a",))}, "cycle"),
        ({"a": Node("input"), "b": Node("tangent", ("a",))}, "no operation 'tangent'"),
        ({"a": Node("input"), "b": Node("+", ("a",))}, "with 1 parent"),
        ({"b": Node("input"), "a": Node("tanh", "b")}, "with a comma"),  # type: ignore[arg-type]
        ({"a": Node("input"), "y": Node("log", ("a",))}, "has no value"),
        ({f"x{k}": Node("input") for k in range(61)}, "61 nodes"),
    ],
)
def test_what_is_no_graph_gets_a_sentence(graph: Any, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotAGraph, match=re.escape(said)):
        picture_of(graph, {"a": -1.0})
    notes: list[str] = []
    monkeypatch.setattr("autograder.student.cards.show_note", notes.append)
    show_data_graph(graph, {"a": -1.0})
    assert len(notes) == 1 and said in notes[0]


def test_an_unknown_sink_gets_a_sentence() -> None:
    with pytest.raises(NotAGraph, match="no node called 'M'"):
        picture_of(RUNNING, AT, "M")


def test_nothing_is_drawn_under_the_grader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    monkeypatch.setattr(data_graph.theme, "show", lambda *_: pytest.fail("something was shown"))
    show_data_graph(RUNNING, AT)
    show_data_graph(3)  # type: ignore[arg-type]
