"""Every number that lesson 3 states is computed by the lesson, and recomputed here by other means (PyTorch, float64)."""

from __future__ import annotations

import gc
import math
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
import torch

from autograder.authoring.source import Source
from autograder.exercises.bug_hunt import BrokenEngine, judged
from tests.checking import living
from tests.lesson_run import Run, filled, gradient, plain, running, source_of


@pytest.fixture(scope="module")
def source() -> Source:
    return source_of("3-reverse-mode")


@pytest.fixture(scope="module")
def lesson(source: Source) -> Run:
    return filled(source)


def diamond(x1: torch.Tensor, x2: torch.Tensor, gamma: float = 4.0) -> torch.Tensor:
    score = gamma * (1 - x1.abs() - x2.abs())
    return torch.nn.functional.cross_entropy(torch.stack([score, -score]), torch.tensor(0))


AT, ALSO = running(1.5, -0.7), running(2.0, -1.0)
DIAMOND_SCORE = 4.0 * (1 - 0.5 - 0.25)
P_OUTSIDE = torch.softmax(torch.tensor([DIAMOND_SCORE, -DIAMOND_SCORE], dtype=torch.float64), 0)[1].item()
RECOMPUTED: dict[str, float] = {
    **{f"{name} at (1.5, -0.7)": x for name, x in AT.items()},
    **{f"{name} at (2, -1)": x for name, x in ALSO.items()},
    "p(outside)": P_OUTSIDE,
    "diamond loss": -math.log(1 - P_OUTSIDE),
    "diamond loss for the wrong target": -math.log(P_OUTSIDE),
    "diamond gradient": gradient(diamond, 0.5, 0.25)[0],
    "exp at 0.7": gradient(torch.exp, 0.7)[0],
    "loss after the step": (1.16 * 2 - 6) ** 2,
}


def test_every_long_number_in_the_text_is_one_that_was_recomputed(source: Source) -> None:
    texts = [plain(c.source) for c in source.cells if c.kind == "markdown" or "quiz" in c.tags]
    found = {number for text in texts for number in re.findall(r"\d+\.\d{4,}", text)}
    assert len(found) > 10
    for number in found:
        digits = len(number.split(".")[1])
        assert any(f"{abs(x):.{digits}f}" == number for x in RECOMPUTED.values()), f"{number} comes from nowhere"


@pytest.mark.parametrize(
    "stated",
    [
        *(AT[m] for m in ("L→v", "w→b", "u→a", "u→b", "a-bar", "b-bar", "L")),
        *(ALSO[m] for m in ("w", "b-bar")),
        *(RECOMPUTED[k] for k in ("p(outside)", "diamond loss", "diamond gradient", "loss after the step")),
    ],
)
def test_the_text_states_the_number(source: Source, stated: float) -> None:
    text = plain("\n".join(cell.source for cell in source.cells if cell.kind == "markdown"))
    shown = f"{stated:.4f}" if stated > 10 else f"{stated:.6f}"
    assert shown in text


def test_the_table_by_hand_shows_the_seven_messages(source: Source, lesson: Run) -> None:
    (drawer,) = [c.source for c in source.cells if "want to see the whole table" in c.source]
    rows = re.findall(r"^\| (\w) → (\w) \| .*= (-?[\d.]+) \|$", plain(drawer), re.MULTILINE)
    assert [(child, parent) for child, parent, _ in rows] == [
        tuple(m) for m in ("Lv", "Lw", "wb", "vu", "va", "ua", "ub")
    ]
    for child, parent, number in rows:
        assert number == f"{AT[f'{child}→{parent}']:.6f}"
    mine = {f"{child} → {parent}": float(number) for child, parent, number in rows}
    mine |= {"ā": AT["a-bar"], "b̄": AT["b-bar"]}
    lesson.names["mine"] = mine
    said = lesson.run("compare_messages(mine)")
    assert said.count("right") == 9
    lesson.names["mine"] = {**mine, "u → a": -mine["u → a"], "w → b": None, "b̄": 1.0}
    said = lesson.run("compare_messages(mine)")
    assert "sign" in said and "still" in said and "not yet" in said


def test_adjoint_pass_prints_every_adjoint(lesson: Run) -> None:
    said = lesson.said_by('for name in running:\n        print(f"adjoint of {name}')
    for name in "abuvwL":
        assert re.search(rf"adjoint of {name}: +{AT[f'{name}-bar']:.6f}\n", said)


def test_the_running_example_message_by_message(lesson: Run) -> None:
    said = lesson.said_by("for edge, message in messages.items()")
    for edge in ("L → v", "L → w", "w → b", "v → u", "v → a", "u → a", "u → b"):
        assert re.search(rf"{edge} +{ALSO[edge.replace(' ', '')] + 0.0:.6f}\n", said)
    assert "adjoint of a = -0.761594 + 0.761594 = 0.000000" in said
    assert "adjoint of b = 0.000000 + (-1.523188) = -1.523188" in said
    assert "-0.000000" not in said


def test_forward_mode_reaches_the_same_two_numbers(lesson: Run) -> None:
    said = lesson.said_by('print("seed a:"')
    assert said.split() == ["seed", "a:", "0.000000", "seed", "b:", f"{ALSO['b-bar']:.6f}"]


def test_the_reunion_table_agrees_in_every_row(lesson: Run) -> None:
    rows = lesson.said_by("reunion = {").strip().split("\n")[1:]
    assert [row[:26].strip() for row in rows if row.startswith("3")] == [
        "3  adjoints by hand", "3  adjoint_pass", "3  Value", "3  PyTorch",
    ]  # fmt: skip
    for row in rows:
        assert row[26:].split() == [f"{AT['a-bar']:.6f}", f"{AT['b-bar']:.6f}"]


def test_firing_early_loses_a_message(lesson: Run) -> None:
    said = lesson.said_by('print("u before s")')
    right = gradient(lambda a: 2 * a + (2 * a) ** 2, 1.5)[0]
    early, late = said.split("s before u")
    assert "too late" in early and "too late" not in late
    assert float(early.split("adjoint of a: ")[1]) == 2.0
    assert float(late.split("adjoint of a: ")[1]) == right == 14.0


def test_a_second_call_adds_one_more_gradient(lesson: Run) -> None:
    once = gradient(lambda a, b: a * b + a, 2.0, 3.0)[0]
    said = lesson.said_by("f = u + a\n    f.backward()")
    assert [float(x) for x in re.findall(r"calls?: +([\d.]+)", said)] == [once, 2 * once] == [4.0, 8.0]
    said = lesson.said_by("f.backward(retain_graph=True)")
    assert "second time" in said
    assert [float(x) for x in re.findall(r"calls?: +([\d.]+)", said)] == [4.0, 8.0]


def test_without_the_amendment_the_second_call_gives_eleven(lesson: Run) -> None:
    amended = lesson.names["value_backward"]
    exec(
        "def value_backward(root):\n"
        "    root.grad = 1.0\n"
        "    for node in reversed(topological_order(root)):\n"
        "        if node._backward is not None:\n"
        "            node._backward(node.grad)\n",
        lesson.names,
    )
    try:
        a, b = lesson.names["Value"](2.0), lesson.names["Value"](3.0)
        f = a * b + a
        f.backward()
        f.backward()
        assert a.grad == 11.0
    finally:
        lesson.names["value_backward"] = amended


def test_one_step_of_training(lesson: Run) -> None:
    slope = gradient(lambda w: (2 * w - 6) ** 2, 1.0)[0]
    assert slope == -16.0
    new = 1.0 - 0.01 * slope
    said = lesson.said_by("w.data = w.data - 0.01 * w.grad")
    assert "prediction 2, loss 16, dL/dz -8, dL/dw -16" in said
    assert f"new w {new:g}, new prediction {2 * new:g}, new loss {(2 * new - 6) ** 2:.4f}" in said
    assert f"{new:g} {2 * new:g} {(2 * new - 6) ** 2:.4f}" == "1.16 2.32 13.5424"
    said = lesson.said_by("recorded = w - 0.01 * w.grad")
    assert "recorded update:  leaf? False" in said and "inside no_grad:   leaf? True   w = 1.16" in said


def test_three_rounds_and_a_detached_factor(lesson: Run) -> None:
    slope = gradient(lambda x: x * x, 3.0)[0]
    said = lesson.said_by("difference quotient of x·x")
    rows = [[float(x) for x in line.split()[1:]] for line in said.split("\n")[1:5]]
    assert rows == [[k * slope] * 3 for k in (1, 2, 3)] + [gradient(lambda x: x * x.detach(), 3.0) * 3]
    assert "difference quotient of x·x: 6.000000" in said


def test_the_diamond_from_four_sides(lesson: Run) -> None:
    said = lesson.said_by('"closed form": [2 * gamma * p_outside]')
    want = f"{RECOMPUTED['diamond gradient']:.6f}"
    assert want == f"{2 * 4.0 * P_OUTSIDE:.6f}" == "0.953623"
    for way in ("closed form", "differences", "Value", "PyTorch"):
        assert re.search(rf"^{way} +{want} +{want}$", said, re.MULTILINE)
    assert f"loss {RECOMPUTED['diamond loss']:.6f}   p(outside) {P_OUTSIDE:.6f}" in said
    disagreement = float(re.findall(r"largest absolute disagreement: (\S+)", said)[0])
    assert 0 <= disagreement < 1e-8
    said = lesson.said_by('print("hidden units:"')
    assert "logits: 1.0 -1.0" in said and f"{P_OUTSIDE:.6f}" in said


@pytest.mark.parametrize("x1", (0.6, -0.6))
@pytest.mark.parametrize("x2", (0.3, -1.3))
def test_the_diamonds_gradient_has_the_sign_of_the_input(lesson: Run, x1: float, x2: float) -> None:
    a, b = lesson.names["Value"](x1), lesson.names["Value"](x2)
    lesson.names["diamond_loss"](a, b, 2.0).backward()
    assert [a.grad, b.grad] == pytest.approx(gradient(lambda p, q: diamond(p, q, 2.0), x1, x2), abs=1e-12)
    assert math.copysign(1, a.grad) == math.copysign(1, x1) and math.copysign(1, b.grad) == math.copysign(1, x2)


def test_finite_differences_fail_only_at_extreme_steps(lesson: Run) -> None:
    said = lesson.said_by("gentle = central_difference")
    rows = {float(r.split()[0]): [float(x) for x in r.split()[1:]] for r in said.strip().split("\n")[1:]}
    assert rows[0.1][0] == rows[1e-5][0] == gradient(lambda w: (2 * w - 6) ** 2, 1.0)[0] == -16.0
    assert rows[1e-5][1] < rows[1e-1][1] / 1000
    assert rows[1e-5][1] < rows[1e-15][1] / 1000


def test_witnesses_and_the_odd_one_out(lesson: Run) -> None:
    said = lesson.said_by('for name, f in {"friendly"').strip().split("\n")
    assert said[0].endswith("odd one out: None, first at: None")
    assert said[1].endswith("odd one out: finite_difference, first at: 0")
    assert said[2].endswith("odd one out: finite_difference")


def test_assignment_keeps_the_last_message_only(lesson: Run) -> None:
    said = lesson.said_by("faulty = fire(")
    assert f"adjoint of a: {AT['u→a']:.6f}" in said and f"{AT['a-bar']:.6f}" in said
    said = lesson.said_by("smallest_counterexample()\n    order =")
    assert "adding:    a: 6" in said and "assigning: a: 3" in said


def test_order_matters(lesson: Run) -> None:
    said = lesson.said_by("case = order_matters()")
    assert said.count(f"a: {AT['a-bar']:g}") == 2
    assert said.count("too late") == 1 and "v → u" in said


def test_edges_are_visited_once_and_paths_explode(lesson: Run) -> None:
    said = lesson.said_by("counts[P] = edge_visits")
    rows = [[int(x.replace(",", "")) for x in line.split()] for line in said.split("\n")[1:8]]
    assert all(visits == edges and forward == P * edges for P, edges, visits, forward in rows)
    assert rows[-1][0] == 1000
    assert f"ladder of 20 rungs: {2**20:,} paths, 40 edges, 40 visits" in said
    a, b = lesson.names["Value"](2.0), lesson.names["Value"](-1.0)
    assert lesson.names["edge_visits"](lesson.names["expression"](a, b)) == (7, 7)
    assert lesson.names["edge_visits"](a * a) == (2, 2)


def test_a_graph_keeps_memory_and_gives_it_back(lesson: Run) -> None:
    said = lesson.said_by("def kept_by(build)")
    rows = [
        [float(x.replace(",", "")) for x in line.replace("MB", "").split()] for line in said.strip().split("\n")[1:]
    ]
    for (n, plain_, kept, released), (m, _, more, _) in pairwise(rows):
        assert m == 3 * n and 2.5 < more / kept < 3.6
        assert plain_ < kept / 50 and released < kept / 5


def test_vectors(lesson: Run) -> None:
    jacobian = torch.tensor([[-1.0, 2.0], [1.0, 1.0]])
    want = (jacobian.T @ torch.tensor([3.0, -2.0])).tolist()
    said = lesson.said_by('print("J^T y_bar:')
    assert said.count(str(want)) == 2 and want == [-5.0, 4.0]
    said = lesson.said_by("torch.autograd.functional.jacobian")
    assert "entries of J: 1,000,000, of them zero: 999,000" in said


def test_the_residual_path(lesson: Run) -> None:
    said = lesson.said_by('"0.001·tanh(x)"')
    first, second = said.strip().split("\n")
    assert "identity path sends 1," in first and "identity path sends 1," in second
    assert second.endswith("0.000000")
    assert first.endswith(f"{gradient(lambda x: x + 0.001 * torch.tanh(x), 0.5)[0]:.6f}")
    said = lesson.said_by('stacks = {"plain"')
    weak, strong = (float(line.split()[-1]) for line in said.strip().split("\n"))
    assert weak < 1e-19 and strong > 1


def test_two_chained_operations(lesson: Run) -> None:
    assert gradient(lambda x: (3 * x + 1) ** 2, 2.0) == [42.0]
    said = lesson.said_by("y = 3 * x + 1")
    assert "y = 7, dz/dy = 14, dz/dx = 42" in said


def test_the_engine_keeps_no_reference_cycles(lesson: Run) -> None:
    Value = lesson.names["Value"]
    gc.collect()
    gc.disable()
    try:
        x = Value(0.5)
        before = living(Value)
        loss = lesson.names["chained_loss"]([x / i for i in range(1, 200)])
        loss = (loss / 2 - x) ** 2 + lesson.names["log"](lesson.names["exp"](loss)) + lesson.names["relu"](-loss)
        loss.backward()
        assert living(Value) > before + 200
        del loss
        assert living(Value) == before
    finally:
        gc.enable()


def test_a_chain_of_a_million_nodes_goes_through_and_away(lesson: Run) -> None:
    Value = lesson.names["Value"]
    gc.disable()
    try:
        x = y = Value(1.0)
        one = Value(1e-6)
        for _ in range(1_000_000):
            y = y + one
        y.backward()
        assert x.grad == 1.0 and one.grad == 1_000_000.0
        del y
    finally:
        gc.enable()


def test_the_class_may_be_run_again_at_any_time(source: Source, lesson: Run) -> None:
    (cell,) = [c.source for c in source.cells if c.grade_id == "value-class"]
    old = lesson.names["Value"](2.0)
    product = old * 3.0
    lesson.run(cell)
    new = lesson.names["Value"](5.0)
    total = product + new * old
    total.backward()
    assert (old.grad, new.grad, total.data) == (8.0, 2.0, 16.0)


def test_every_experiment_may_be_run_again_in_another_order(source: Source) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NBGRADER_EXECUTION", "autograde")
        run = Run(source, filled=True)
        cells = [code for code, _ in run.printed]
        for code in reversed(cells):
            run.run(code)
        for code, before in list(run.printed)[: len(cells)]:
            if "reunion = {" in code or "case = order_matters()" in code:
                assert run.run(code) == before


def test_the_bug_hunts_answers_are_the_sealed_faults(lesson: Run) -> None:
    answers = lesson.names["diagnoses"]()
    assert [judged(seed, answers[seed]) for seed in (1, 2, 3)] == [None, None, None]


def test_the_bug_hunts_reasoning_holds(lesson: Run) -> None:
    def seen(seed: int, expression: Callable[..., Any]) -> list[float]:
        engine = BrokenEngine(seed)
        a, b = engine.Value(2.5), engine.Value(-3.0)
        expression(a, b).backward()
        return [a.grad, b.grad]

    assert seen(1, lambda a, b: a * b) == [0.0, 0.0]
    assert seen(1, lambda a, b: a * b + a)[1] == 1.0
    assert seen(2, lambda a, b: a + a)[0] == 1.0 and seen(2, lambda a, b: a * a)[0] == 2.5
    assert seen(3, lambda a, b: a * a)[0] == 5.0

    def nested(a: Any, b: Any) -> Any:
        u = a + a
        return u + u

    assert seen(3, nested)[0] == 8.0
