"""Pictures: any engine's expression is read and drawn, by either Graphviz, and says in words what it shows."""

from __future__ import annotations

import math
import os
import re
import shutil
import subprocess
import sys
import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.student import expression, layout, operations, pictures, show_graph

SVG = "{http://www.w3.org/2000/svg}"


@dataclass(eq=False)
class Node:
    data: Any
    parents: Any = ()
    _backward: Any = None
    _op: str = ""
    grad: Any = 0.0


def read(root: Any, **names: Any) -> expression.Expression:
    return expression.read(root, {id(x): name for name, x in names.items()})


def drawn(picture: dict[str, Any]) -> ElementTree.Element:
    return ElementTree.fromstring(pictures.graph_svg(picture))


# reading an engine


def value_mul(r: Node, s: Node) -> Node:
    def _backward(g: float) -> None:
        r.grad += g * s.data
        s.grad += g * r.data

    return Node(r.data * s.data, (r, s), _backward)


def by_class_name() -> Node:
    """An engine whose closures are named after the operators of a class."""

    class Value:
        def __init__(self, data: float) -> None:
            self.data, self.grad, self._prev, self._backward = data, 0.0, set(), lambda: None

        def __add__(self, other: Value) -> Value:
            out = Value(self.data + other.data)
            out._prev = {self, other}
            out._backward = lambda: (self, other, out)
            return out

    a, b = Value(2.0), Value(3.0)
    return a + b


A, B = Node(2.0), Node(-3.0)
STYLES = {
    "tuple and closure": (value_mul(A, B), "×"),
    "operation written down": (Node(-6.0, [A, B], _op="*"), "×"),
    "set of parents": (Node(-6.0, {A, B}, _op="*"), "×"),
    "pairs of parent and slope": (Node(-6.0, [(A, -3.0), (B, 2.0)], _op="mul"), "×"),
    "pairs the other way round": (Node(-6.0, [(-3.0, A), (2.0, B)], _op="mul"), "×"),
    "operation from the numbers alone": (Node(-6.0, (A, B)), "×"),
    "class method": (by_class_name(), "+"),
    "plain namespace": (SimpleNamespace(data=-6.0, grad=None, parents=(A, B), op="*"), "×"),
    "numpy scalars": (Node(np.float64(-6.0), (Node(np.array(2.0)), Node(np.float32(-3.0))), _op="*"), "×"),
}


@pytest.mark.parametrize("style", STYLES)
def test_any_style_of_engine_is_read(style: str) -> None:
    root, sign = STYLES[style]
    found = read(root)
    assert found.operations[-1] == sign
    assert len(found.nodes) == 3 and len(found.parents[-1]) == 2


def test_parents_that_only_the_closure_knows_are_found() -> None:
    a = Node(3.0)

    def tanh_backward(g: float) -> None:
        a.grad += g * (1 - math.tanh(a.data) ** 2)

    root = SimpleNamespace(data=math.tanh(3.0), grad=0.0, _backward=tanh_backward)
    assert read(root).operations == ["", "tanh"]


@pytest.mark.parametrize("parents", [lambda a: (a, a), lambda a: {a}], ids=["tuple", "set"])
def test_a_times_a_has_two_edges(parents: Any) -> None:
    a = Node(3.0)
    picture = read(Node(9.0, parents(a), _op="*"), a=a).picture()
    assert [(e["from"], e["to"], e["slot"]) for e in picture["edges"]] == [("0", "1", 0), ("0", "1", 1)]
    assert len(drawn(picture).findall(f".//{SVG}g[@class='edge']")) == 2


def test_one_parent_in_a_set_stays_one_edge_where_the_numbers_say_so() -> None:
    a = Node(3.0)
    assert read(Node(15.0, {a}, _op="*")).parents[-1] == (0,)  # 3 · 5, the 5 not lifted


@pytest.mark.parametrize(
    ("text", "sign"),
    [("value_sub.<locals>._backward", "−"), ("Value.__rtruediv__.<locals>.<lambda>", "÷"), ("**3", "^3"), ("ReLU", "relu"),
     ("**-0.5", "^-0.5"), ("Value.__pow__.<locals>._backward", "^"), ("f.<locals>._backward", ""), ("input", "")],
)  # fmt: skip
def test_operations_are_recognised_by_what_engines_call_them(text: str, sign: str) -> None:
    assert operations.sign_of(text) == sign


def test_the_exponent_of_a_power_is_read_from_its_closure() -> None:
    a = Node(2.0)

    def value_pow(r: Node, n: float) -> Node:
        def _backward(g: float) -> None:
            r.grad += g * n * r.data ** (n - 1)

        return Node(r.data**n, (r,), _backward)

    assert read(value_pow(a, 2.5)).operations[-1] == "^2.5"


SAMPLES = {"+": (1.3, -0.4), "×": (1.3, -0.4), "−": (1.3, -0.4), "÷": (1.3, -0.4)}


@pytest.mark.parametrize("sign", [*operations.OPERATIONS, "^3", "^-1", "^0.5"])
def test_the_slopes_of_every_operation_are_those_of_its_values(sign: str) -> None:
    operation = operations.operation(sign)
    assert operation is not None
    inputs = SAMPLES.get(sign, (0.7,))
    h = 1e-6
    for slot, slope in enumerate(operation.slopes(inputs, operation.value(*inputs))):
        high, low = (tuple(x + d * (i == slot) for i, x in enumerate(inputs)) for d in (h, -h))
        assert slope == pytest.approx((operation.value(*high) - operation.value(*low)) / (2 * h), abs=1e-7)


# names


def test_names_come_from_the_callers_variables_where_only_one_holds_the_node() -> None:
    a, xs = Node(1.0), [Node(2.0), Node(3.0)]
    twice = same = Node(5.0)
    names = expression.names_in(sys._getframe())
    assert names[id(a)] == "a" and names[id(xs[1])] == "xs[1]" and id(twice) not in names and same is twice
    assert expression.names_in(None, {"first": a})[id(a)] == expression.names_in(None, {a: "first"})[id(a)] == "first"


# drawing


def running_example() -> dict[str, Any]:
    a, b = Node(1.5), Node(-0.7)
    u = Node(-1.05, (a, b), _op="*")
    v = Node(0.45, (u, a), _op="+")
    return read(Node(-0.0, (v,), _op="relu"), a=a, b=b, u=u, v=v).picture("Title & more")


def test_a_drawing_has_title_and_description_and_no_ids() -> None:
    svg = drawn(running_example())
    assert svg.get("role") == "img"
    assert svg.findtext(f"{SVG}title") == "Title & more"
    assert "u = a times b: data −1.05, grad 0" in (svg.findtext(f"{SVG}desc") or "")
    assert not [e for e in svg.iter() if e.get("id")]
    assert "-0" not in "".join(svg.itertext())


def test_colour_is_never_alone() -> None:
    nodes = [{"id": "a", "op": "input", "label": "a", "value": 3.0, "yours": 3.0, "right": 6.0, "first": True},
             {"id": "z", "op": "input", "label": "z", "value": 3.0, "yours": None, "right": 6.0, "first": False},
             {"id": "b", "op": "*", "label": "b", "value": 9.0, "yours": 1.0, "right": 1.0, "first": False}]  # fmt: skip
    svg = drawn(
        {
            "title": "",
            "nodes": nodes,
            "edges": [{"from": "a", "to": "b", "slot": 0}, {"from": "z", "to": "b", "slot": 1}],
        }
    )
    a, z, b = ("".join(g.itertext()) for g in svg.findall(f".//{SVG}g") if "node" in g.get("class", "").split())
    assert "first difference" in a and "✗" in a and "✓" in b
    assert "✗" not in z  # not computed is not wrong


def test_two_different_numbers_are_shown_with_enough_digits() -> None:
    assert pictures.apart(0.123456789, 0.123458) == ("0.123457", "0.123458")
    assert pictures.apart(1.0, 1.00001) == ("1", "1.00001")
    assert pictures.apart(1000000.1, 1000002.2) == ("1000000.1", "1000002.2")


@pytest.mark.parametrize(
    ("x", "text"),
    [(-0.0, "0"), (-1.5, "−1.5"), (1e-17, "≈ 0"), (None, "–"), ("nan", "not a number"), (math.inf, "∞"), (1e10, "1e10"),
     (-2.5e-7, "−2.5e−7"), (-1e-9, "−1e−9")],
)  # fmt: skip
def test_numbers_are_written_as_the_course_writes_them(x: Any, text: str) -> None:
    assert pictures.number(x) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_reads_back_to_six_digits(x: float) -> None:
    text = pictures.number(x).replace("−", "-")
    assert float(text) == pytest.approx(x, rel=1e-5, abs=1e-12) if text != "≈ 0" else abs(x) < 1e-12


def test_large_expressions_are_cut_to_the_part_nearest_to_the_root_and_say_so() -> None:
    x = Node(1.0)
    for _ in range(5000):
        x = Node(x.data + 1.0, (x, Node(1.0)), _op="+")
    found = read(x)
    assert len(found.nodes) == 60 and found.nodes[-1] is x
    assert pictures.hidden_words(found) == "This expression has 10,001 nodes. Drawn are the 60 nearest to its root."
    assert found.nodes.index(x) == 59 and "svg" in pictures.figure(found.picture())


@given(st.integers(0, 2**31))
def test_every_node_and_edge_of_a_random_graph_is_drawn_inside_the_picture(seed: int) -> None:
    rng = np.random.default_rng(seed)
    nodes = [
        {"id": str(i), "label": f"n{i}", "op": "ƒ", "value": 1.0, "grad": 1.0} for i in range(int(rng.integers(1, 9)))
    ]
    edges = [{"from": str(rng.integers(i)), "to": str(i), "slot": s} for i in range(1, len(nodes)) for s in range(2)]
    placed = pictures.draw({"nodes": nodes, "edges": edges}, label_width=50.0)
    assert len(placed.centres) == len(nodes) and len(placed.wires) == len(edges)
    for (x, y), box in zip(placed.centres, placed.boxes, strict=True):
        assert box.width / 2 - 1 <= x <= placed.width - box.width / 2 + 1
        assert box.height / 2 - 1 <= y <= placed.height - box.height / 2 + 1
    for wire, (start, end, _) in zip(placed.wires, placed.edges, strict=True):
        for point, node in ((wire.points[0], start), (wire.tip, end)):
            box, (x, y) = placed.boxes[node], placed.centres[node]
            assert abs(point[0] - x) <= box.width / 2 + 4 and abs(point[1] - y) <= box.height / 2 + 4


# which Graphviz


def test_the_system_dot_and_the_web_assembly_one_place_alike(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A stand-in `dot` on the PATH that hands its input to the WebAssembly build: the graphviz package must be used."""
    fake = tmp_path / "dot"
    fake.write_text(
        f"#!{sys.executable}\nimport sys\nfrom autograder.student.layout import _webassembly\n"
        "assert '-Tjson0' in sys.argv, sys.argv\nsys.stdout.write(_webassembly()(sys.stdin.read()))\n"
    )
    fake.chmod(0o755)
    picture = running_example()
    wasm = pictures.draw(picture)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    layout.renderer.cache_clear()
    try:
        assert layout.renderer() is layout._system
        system = pictures.draw(picture)
    finally:
        layout.renderer.cache_clear()
    if shutil.which("dot", path=os.defpath) is None:
        assert system.centres == wasm.centres


def test_the_compiled_graphviz_is_kept_between_processes(tmp_path: Path) -> None:
    script = "from autograder.student.layout import place; place([(90, 50), (90, 50)], [(0, 1), (0, 1)])"
    home = {"HOME": str(tmp_path), "PATH": str(tmp_path)}
    subprocess.run([sys.executable, "-c", script], env=home, check=True)
    assert list((tmp_path / ".cache" / "wasmtime").rglob("*.stats"))


def test_without_any_place_to_keep_it_pictures_are_drawn_all_the_same(tmp_path: Path) -> None:
    script = "from autograder.student.layout import place; assert place([(90, 50)], []).width == 90"
    subprocess.run([sys.executable, "-c", script], env={"PATH": str(tmp_path), "HOME": "/proc/none"}, check=True)


# show_graph


@dataclass(eq=False)
class Shown:
    pieces: list[dict[str, str]] = field(default_factory=list)

    def __call__(self, data: dict[str, str], raw: bool = False) -> None:
        self.pieces.append(data)


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Shown:
    """What is displayed, as the notebook's front end gets it."""
    pieces = Shown()
    monkeypatch.setattr("IPython.display.display", pieces)
    return pieces


def test_show_graph_names_nodes_after_the_callers_variables(shown: Shown) -> None:
    a, b = Node(2.0), Node(3.0)
    loss = Node(6.0, (a, b), _op="*")
    show_graph(loss, title="Product")
    (piece,) = shown.pieces
    assert piece["text/plain"] == "a: data 2, grad 0. b: data 3, grad 0. loss = a times b: data 6, grad 0"
    assert {">a<", ">b<", ">loss<"} <= set(re.findall(r">[a-z]+<", piece["text/html"]))


def test_show_graph_of_something_else_says_what_it_is(shown: Shown) -> None:
    show_graph(3.5)
    assert shown.pieces[0]["text/plain"] == "show_graph draws an expression made of Values, and this is a float: 3.5"


def test_show_graph_is_silent_under_the_grader(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    show_graph(Node(2.0))
    assert shown.pieces == []


def test_importing_the_students_half_brings_nothing_heavy() -> None:
    script = textwrap.dedent(
        """
        import sys
        from autograder.student import quiz, quiet, start, check, grade
        heavy = {"torch", "numpy", "matplotlib", "IPython", "graphviz", "wasmtime", "markdown_it", "autograder.exercises"}
        print(sorted(heavy & set(sys.modules)))
        """
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
