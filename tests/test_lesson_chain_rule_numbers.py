"""Every number that lesson 1 states is computed by the lesson, and recomputed here by other means."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable
from functools import reduce

import numpy as np
import pytest
import torch

from autograder.authoring.source import Source
from tests.lesson_run import Run, filled, gradient, plain, running, source_of


@pytest.fixture(scope="module")
def source() -> Source:
    return source_of("1-chain-rule")


@pytest.fixture(scope="module")
def lesson(source: Source) -> Run:
    return filled(source)


def text_of(source: Source) -> str:
    return plain("\n".join(c.source for c in source.cells if c.kind == "markdown" or "quiz" in c.tags))


AT, ALSO = running(1.5, -0.7), running(2.0, -1.0)
ERRORS = {
    (h, rows): abs(quotient - math.e)
    for h in (0.1, 0.01)
    for rows, quotient in (
        ("central", (math.exp(1 + h) - math.exp(1 - h)) / (2 * h)),
        ("one-sided", (math.exp(1 + h) - math.exp(1)) / h),
    )
}
RECOMPUTED: dict[str, float] = {
    **{f"{name} at (1.5, -0.7)": x for name, x in AT.items()},
    **{f"{name} at (2, -1)": x for name, x in ALSO.items()},
    "slope of tanh at -0.7": gradient(torch.tanh, -0.7)[0],
    "1 - t": 1 - math.tanh(-0.7),
    "1 + t²": 1 + math.tanh(-0.7) ** 2,
    "t²": math.tanh(-0.7) ** 2,
    "loss after the step": (1.16 * 2 - 6) ** 2,
    "e": math.e,
    "relative error of 1000 and 1001": 1 / 1001,
    **{f"error {key}": x for key, x in ERRORS.items()},
    "0.0001, a nudge squared": 0.01**2,
    "ten layers of slope 0.1": 0.1**10,
    "3.01 squared, less 9": 3.01**2 - 9,
}


def test_every_long_number_in_the_text_is_one_that_was_recomputed(source: Source) -> None:
    found = set(re.findall(r"\d+\.\d{4,}", text_of(source))) - {"1502.05767"}  # a paper's number
    assert len(found) > 12
    for number in found:
        digits = len(number.split(".")[1])
        known = (abs(x) for x in RECOMPUTED.values())
        assert any(
            number in (f"{x:.{digits}f}", f"{math.trunc(x * 10**digits) / 10**digits:.{digits}f}") for x in known
        ), f"{number} comes from nowhere"


@pytest.mark.parametrize(
    "stated",
    [
        "−8\\cdot 2 = −16", "1.16", "2.32", "13.5424", "14\\cdot 3 = 42", "y = 7", "z = 49",  # seeds 000 and 003
        "−15.6", "1,048,576", "40 edges", "−0.761594", "−1.523188", "u = −2", "v = 0", "L = 0",
        "−1/p", "−1000", "0.001",
    ],
)  # fmt: skip
def test_the_text_states_what_the_sources_state(source: Source, stated: str) -> None:
    assert plain(stated) in text_of(source)


def test_two_steps(lesson: Run) -> None:
    assert lesson.names["affine_then_square"](2.0) == {"y": 7, "z": 49, "dz_dy": 14, "dy_dx": 3, "dz_dx": 42}
    leaf = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.grad((3 * leaf + 1) ** 2, leaf)[0].item() == 42
    said = lesson.said_by('print(f"y moves')
    assert [float(x) for x in re.findall(r"moves ([\d.]+)", said)] == pytest.approx([3, 14, 42], rel=1e-3)


def test_the_first_graph_does_not_move(lesson: Run) -> None:
    assert lesson.said_by("def v_of(a, b)") == "v moves by 0.000000\n"
    assert gradient(lambda a, b: a * b + a, 2.0, -1.0)[0] == 0.0


def test_one_step_of_learning(lesson: Run) -> None:
    found = lesson.names["squared_error_step"](1.0, 2.0, 6.0, 0.01)
    expected = (2, 16, -8, 2, -16, 1.16, 2.32, 13.5424)
    assert list(found) == ["z", "loss", "dL_dz", "dz_dw", "grad", "w_new", "z_new", "loss_new"]
    assert tuple(found.values()) == pytest.approx(expected)
    assert gradient(lambda w: (2 * w - 6) ** 2, 1.0) == [-16]
    said = lesson.said_by("for rate in (0.01, 0.1, 0.125, 0.25, 0.5)")
    rows = [[float(x) for x in line.split()] for line in said.strip().split("\n")[1:]]
    for rate, w_new, loss in rows:
        assert w_new == pytest.approx(1 + 16 * rate) and loss == pytest.approx((2 * w_new - 6) ** 2, abs=1e-4)
    assert rows[-1] == [0.5, 9, 144] and rows[0] == [0.01, 1.16, 13.5424]


def test_the_running_example_at_both_points(lesson: Run) -> None:
    said = lesson.said_by('for point in ({"a": 2.0, "b": -1.0}')
    for line, at in zip(said.strip().split("\n"), (ALSO, AT), strict=True):
        shown = dict(re.findall(r"(\w) = (-?[\d.]+)", line))
        assert {name: float(x) for name, x in shown.items()} == pytest.approx({k: at[k] for k in "abuvwL"}, abs=1e-6)
    assert "-0.000000" not in said


def test_the_four_paths(source: Source, lesson: Run) -> None:
    said = lesson.said_by("a_direct, a_through_u =")
    direct, through_u = AT["v→a"], AT["u→a"]
    assert said.split("\n")[0] == f"dL/da = {direct:.6f} + {through_u:.6f} = {AT['a-bar']:.6f}"
    assert said.split("\n")[1] == f"dL/db = {AT['w→b']:.6f} + {AT['u→b']:.6f} = {AT['b-bar']:.6f}"
    rows = re.findall(r"^\|.*\| (?:\+)?(-?[\d.]{8,}) \|$", text_of(source), re.MULTILINE)
    expected = [AT[k] for k in ("v→a", "u→a", "a-bar", "w→b", "u→b", "b-bar")]
    assert [float(x) for x in rows[:6]] == pytest.approx(expected, abs=1e-6)
    path_sum = lesson.names["sum_over_paths"]
    for at, right in (({"a": 1.5, "b": -0.7}, AT), ({"a": 2.0, "b": -1.0}, ALSO)):
        values = lesson.names["forward_pass"](lesson.names["running"], at)
        for name in "abuvwL":
            assert path_sum(lesson.names["running"], values, name, "L") == pytest.approx(
                right[f"{name}-bar"], abs=1e-12
            )


def test_local_derivatives_by_nudging(lesson: Run) -> None:
    said = lesson.said_by("def slopes_by_nudging")
    rows = [[float(x) for x in row.split(",")] for row in re.findall(r"slopes \[(.*)\]", said)]
    right: list[tuple[Callable[..., torch.Tensor], tuple[float, ...]]] = [
        (lambda a, b: a * b, (2.0, -3.0)),
        (lambda a, b: a / b, (3.0, 4.0)),
        (torch.tanh, (-0.7,)),
        (torch.exp, (0.7,)),
        (torch.relu, (-1.0,)),
    ]
    for row, (f, at) in zip(rows, right, strict=True):
        assert row == pytest.approx(gradient(f, *at), abs=1e-4)


def test_the_identity_path(lesson: Run) -> None:
    stack, first, second = lesson.said_by("through_S = sum_over_paths").strip().split("\n")

    def ten_layers(layer: Callable[[torch.Tensor], torch.Tensor]) -> float:
        return gradient(lambda x: reduce(lambda y, _: layer(y), range(10), x), 0.5)[0]

    alone, together = re.findall(r"(\d\.\d+) (?:by|with)", stack)
    assert alone == f"{ten_layers(lambda x: 0.1 * x):.10f}" == "0.0000000001"
    assert together == f"{ten_layers(lambda x: x + 0.1 * x):.2f}" == "2.59"
    assert "identity path 1, through S 0.001, together 1.001" in first
    assert "identity path 1, through S -1, together 0" in second


def test_the_ladder(lesson: Run) -> None:
    said = lesson.said_by("taken.append(")
    rows = re.findall(r"(\d+) rungs: +(\d+) edges, +([\d,]+) paths", said)
    assert [int(n) for n, _, _ in rows] == [2, 4, 6, 8, 10, 12, 14]
    assert all(int(edges) == 2 * int(n) and int(paths.replace(",", "")) == 2 ** int(n) for n, edges, paths in rows)
    assert "Paths on 20 rungs: 1,048,576, over 40 edges." in said
    graph = lesson.names["ladder"](20)
    assert sum(len(node.parents) for node in graph.values()) == 40


def test_a_formula_explodes_and_a_graph_does_not(lesson: Run) -> None:
    said = lesson.said_by("formula, operations =")
    assert "after 10 rounds: 20 operations in the graph, 10,231 characters" in said
    assert len(lesson.names["formula"]) == 10_231
    assert "after  2 rounds:  4 operations" in said and "((x * x + a) * (x * x + a) + a)" in said


def test_central_differences_of_a_parabola_are_exact(lesson: Run) -> None:
    said = lesson.said_by("one_sided = (f(w + h) - f(w)) / h\n    central")
    rows = [[float(x) for x in line.split()] for line in said.strip().split("\n")[1:]]
    assert all(central == -16 for _, _, central in rows)
    assert [one for _, one, _ in rows] == [-12, -15.6, -15.96, -15.996]
    f = lesson.names["f"]
    assert (f(1.1), f(0.9)) == pytest.approx((14.44, 17.64))


def test_step_sizes(lesson: Run) -> None:
    hs = 10.0 ** -np.arange(1, 14)
    central, one_sided = lesson.names["step_size_errors"](math.exp, math.exp, 1.0, hs)
    assert (central[0], one_sided[0]) == pytest.approx((ERRORS[0.1, "central"], ERRORS[0.1, "one-sided"]))
    slope = np.log10(central[0] / central[2]) / 2, np.log10(one_sided[0] / one_sided[4]) / 4
    assert slope == pytest.approx((2, 1), abs=0.02)
    assert central[0] == pytest.approx(math.e * 0.1**2 / 6, rel=0.01)
    assert 1e-7 <= hs[central.argmin()] <= 1e-4 and 1e-9 <= hs[one_sided.argmin()] <= 1e-7
    assert central.min() < 1e-9 and min(central[-3:].max(), one_sided[-3:].max()) > 1e-5
    epsilon = sys.float_info.epsilon
    assert max(central[8:] * hs[8:]) < 10 * epsilon * math.e  # rises like ε/h
    assert "derivative: 2.718281828459" in lesson.said_by("np.float32(2.0)")
    assert "7.15 (right: 12)" in lesson.said_by("np.float32(2.0)")


def test_the_reunion_table(lesson: Run) -> None:
    said = lesson.said_by('"1  differences"')
    rows = said.strip().split("\n")[1:3]
    assert [row[:26].strip() for row in rows] == ["1  paths", "1  differences"]
    for row in rows:
        assert row[26:].split() == [f"{AT['a-bar']:.6f}", f"{AT['b-bar']:.6f}"] == ["-0.181310", "-0.620919"]
    assert float(re.findall(r"largest relative error between the two: (\S+)", said)[0]) < 1e-8


def test_a_point_that_sees_nothing(lesson: Run) -> None:
    said = lesson.said_by("difference = (expression((a, b + 1e-5))")
    blind, seeing = said.split("at (1.5")
    assert blind.count(f"= {ALSO['b-bar']:.6f}") == 3
    assert seeing.count(f"= {AT['b-bar']:.6f}") == 1


def test_the_wrong_loss_passes_its_check(source: Source, lesson: Run) -> None:
    said = lesson.said_by("def loss_meant")
    xs, ys = torch.tensor([2.0, 1.0, 1.0]), torch.tensor([6.0, 2.0, 0.0])
    written = gradient(lambda w: ((w * xs - ys) ** 2).mean(), 1.0)[0]
    meant = gradient(lambda w: ((w * xs - ys) ** 2)[:2].mean(), 1.0)[0]
    assert said.count(f"{written:.6f}") == 2 and said.count(f"{meant:.6f}") == 1
    (task,) = [plain(c.source) for c in source.cells if c.is_task]
    assert f"{written:.2f}" in task and f"{meant:g}" in task


def test_the_wrong_rule_of_the_solution_is_wrong_and_unseen(lesson: Run) -> None:
    rule, (a, b) = lesson.names["wrong_tanh_rule"], lesson.names["exposing_point"]()
    assert ALSO["v"] * rule(-1.0, math.tanh(-1.0)) + ALSO["u→b"] == pytest.approx(ALSO["b-bar"])
    at = running(a, b)
    assert abs(at["v"] * rule(b, math.tanh(b)) + at["u→b"] - at["b-bar"]) > 0.01


def test_warm_up_on_penalties() -> None:
    assert gradient(lambda p: -torch.log(p), 0.001)[0] == pytest.approx(-1000)
    assert gradient(lambda p: 1 - p, 0.001)[0] == -1
    assert -math.log(0.001) == pytest.approx(6.9, abs=0.01)


def test_cells_may_be_run_again_in_any_order(source: Source, lesson: Run) -> None:
    """Twice, and backward: no cell breaks what another needs. (Run last in this file: it leaves other names behind.)"""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NBGRADER_EXECUTION", "autograde")
        code = [text for text, _ in lesson.printed]
        for text in [*reversed(code), *code]:
            lesson.run(text)


def test_between_two_things_to_do_there_are_at_most_two_hundred_words(source: Source) -> None:
    words = 0
    for cell in source.cells:
        if cell.kind == "code":
            words = 0
            continue
        if (
            {"hints", "solution-drawer"} & set(cell.tags)
            or cell.is_task
            or cell.is_answer
            or "### Exercise" in cell.source
        ):
            continue
        if cell.source.startswith("## In your own words"):
            break
        words += len(re.sub(r"\$\$.*?\$\$|\|.*", "", cell.source, flags=re.DOTALL).split())
        assert words < 240, cell.source[:80]
