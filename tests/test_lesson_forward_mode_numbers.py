"""Every number that lesson 2 states is computed by the lesson, and recomputed here by other means (PyTorch, float64)."""

from __future__ import annotations

import math
import re

import pytest
import torch

from autograder.authoring.source import Source
from tests.lesson_run import Run, filled, plain, source_of


@pytest.fixture(scope="module")
def source() -> Source:
    return source_of("2-forward-mode")


@pytest.fixture(scope="module")
def lesson(source: Source) -> Run:
    return filled(source)


def tangents(a: float, b: float, da: float, db: float) -> dict[str, float]:
    """The running example's tangents from PyTorch's reverse mode: the dot product of each node's gradient with the seed."""
    ta, tb = (torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in (a, b))
    u = ta * tb
    v = u + ta
    w = torch.tanh(tb)
    found = {}
    for name, node in {"u": u, "v": v, "w": w, "L": v * w}.items():
        slopes = torch.autograd.grad(node, (ta, tb), retain_graph=True, allow_unused=True)
        found[name] = sum(float(s) * d for s, d in zip(slopes, (da, db), strict=True) if s is not None)
    return found


AT_A, AT_B = tangents(1.5, -0.7, 1, 0), tangents(1.5, -0.7, 0, 1)
ALSO_A, ALSO_B, ALSO_R = tangents(2, -1, 1, 0), tangents(2, -1, 0, 1), tangents(2, -1, 3, -2)
W = math.tanh(-0.7)
GRADIENT_LENGTH = math.hypot(AT_A["L"], AT_B["L"])

RECOMPUTED: dict[str, float] = {
    **{f"seed a, {name}": x for name, x in AT_A.items()},
    **{f"seed b, {name}": x for name, x in AT_B.items()},
    **{f"(2, -1), seed b, {name}": x for name, x in ALSO_B.items()},
    **{f"(2, -1), seed r, {name}": x for name, x in ALSO_R.items()},
    "w": W,
    "w at -1": math.tanh(-1.0),
    "L": (1.5 * -0.7 + 1.5) * W,
    "ten times seed a": 10 * AT_A["L"],
    "length of the gradient": GRADIENT_LENGTH,
    "tanh of Dual(-0.7, 2)": 2 * (1 - W * W),
    "x/(1 + x²) at 7": -48 / 2500,
    "directional derivative, cut off": math.floor(ALSO_R["L"] * 1e6) / 1e6,
}


def test_every_long_number_in_the_text_is_one_that_was_recomputed(source: Source) -> None:
    texts = [plain(c.source) for c in source.cells if c.kind == "markdown" or "quiz" in c.tags]
    found = {number for text in texts for number in re.findall(r"\d+\.\d{4,}", text)}
    found -= {"1502.05767"}  # a paper's number
    assert len(found) > 8
    for number in found:
        digits = len(number.split(".")[1])
        assert any(f"{abs(x):.{digits}f}" == number for x in RECOMPUTED.values()), f"{number} comes from nowhere"


@pytest.mark.parametrize(
    "stated",
    ["-1.523188", "0.419974", "3.046376", "-0.181310", "-0.620919", "-0.0192", "0.634740", "0.646849", "15,697"],
)
def test_the_text_states_the_number(source: Source, stated: str) -> None:
    assert stated in plain("\n".join(cell.source for cell in source.cells if cell.kind == "markdown"))


def test_a_real_nudge_comes_close(lesson: Run) -> None:
    said = lesson.said_by("epsilon = 0.001")
    moves = {row.split()[0]: float(row.split()[-1]) for row in said.strip().split("\n")[1:]}
    for name, tangent in ALSO_B.items():
        assert moves[name] == pytest.approx(tangent, abs=2e-3)


def test_the_table_by_hand(source: Source, lesson: Run) -> None:
    (drawer,) = [c.source for c in source.cells if "want to see the whole table" in c.source]
    rows = re.findall(r"^\| (\w) \| (.*?) \| (.*?) \|$", plain(drawer), re.MULTILINE)
    assert [name for name, _, _ in rows] == ["u", "v", "w", "L"]
    for name, *cells in rows:
        for cell, right in zip(cells, (AT_A[name], AT_B[name]), strict=True):
            assert float(cell.split("=")[-1]) == pytest.approx(right, abs=5e-7)
    lesson.names["mine"] = {"seed a": AT_A, "seed b": AT_B}
    assert lesson.run("compare_tangents(mine)").count("right") == 8
    lesson.names["mine"] = {"seed a": {**AT_A, "u": 0.7, "w": 1.0}, "seed b": {"u": None}}
    said = lesson.run("compare_tangents(mine)")
    assert "sign" in said and "still" in said and "not yet" in said


def test_three_seeds(lesson: Run) -> None:
    said = lesson.said_by('for seed in ({"a": 1.0}')
    for row, right in zip(said.strip().split("\n"), (ALSO_A, ALSO_B, ALSO_R), strict=True):
        for name, tangent in right.items():
            assert f"'{name}': '{round(tangent, 6) + 0.0:.6f}'" in row
    assert [ALSO_A[name] for name in "uvw"] == [-1, 0, 0] and f"{ALSO_R['L']:.6f}" == "3.046377"
    assert "-7.000000" in said and "-4.000000" in said and "-0.839949" in said


def test_the_slope_along_a_direction(lesson: Run) -> None:
    said = lesson.said_by("slope along r:")
    assert f"slope along r: {ALSO_R['L']:.6f}" in said
    assert said.endswith(f"(1.5, −0.7): {10 * AT_A['L']:.6f}\n")
    assert 3 * ALSO_A["L"] - 2 * ALSO_B["L"] == pytest.approx(ALSO_R["L"], abs=1e-12)
    said = lesson.said_by("slope along it")
    assert f"gradient ({AT_A['L']:.6f}, {AT_B['L']:.6f}), length {GRADIENT_LENGTH:.6f}\n" in said
    assert f"slope along it {GRADIENT_LENGTH:.6f}" in said
    assert re.match(r"\(-?0\.0, 3\.0463766", said)


def test_a_flat_place_of_tanh(source: Source, lesson: Run) -> None:
    t, slope = math.tanh(2.0), 1 - math.tanh(2.0) ** 2
    text = plain("\n".join(cell.source for cell in source.cells if cell.kind == "markdown"))
    assert f"2 = {t:.3f}. There" in text and f"1 - t^2 = {slope:.3f}. So" in text
    assert f"0.4 = {0.4 * slope:.3f}: the result is {t:.3f} + {0.4 * slope:.3f}" in text
    assert f"2.0 + 0.4ε   becomes    {t:.3f} + {0.4 * slope:.3f}ε" in lesson.said_by("incoming = 0.4")


def test_two_outputs_along_one_direction(lesson: Run) -> None:
    at, along = (torch.tensor(x, dtype=torch.float64) for x in ([2.0, 3.0], [1.0, -1.0]))
    _, moves = torch.autograd.functional.jvp(lambda x: torch.stack([x[0] * x[1], x[0] + x[1]]), at, along)
    assert moves.tolist() == [1, 0]
    assert "the two outputs above: Dual(6, 1) Dual(5, 0)\n" in lesson.said_by("the two outputs above")


def test_the_rectangle(lesson: Run) -> None:
    said = lesson.said_by("two strips: ")
    moved, strips, corner = (float(line.split()[-1]) for line in said.strip().split("\n"))
    assert moved == pytest.approx(strips + corner) and corner == pytest.approx(0.24)


def test_a_quotient(lesson: Run) -> None:
    said = lesson.said_by("x = Dual(7.0, 1.0)")
    assert "Dual(0.14, -0.0192)" in said and "tangent    -0.0192000000" in said
    assert float(said.split("difference ")[1]) == pytest.approx(-0.0192, abs=1e-9)


def test_examples_of_the_exercise_texts(lesson: Run) -> None:
    def pair(code: str) -> list[float]:
        y = eval(code, lesson.names)
        return [y.value, y.tangent]

    assert pair("Dual(3, 2) * Dual(5, -1)") == [15, 7]
    assert pair("Dual(6, 1) / Dual(2, 0)") == [3, 0.5]
    assert pair("2 / Dual(4, 1)") == [0.5, -0.125]
    assert pair("Dual(-3, 1) ** 2") == [9, -6] and pair("Dual(-3, 2) ** 2") == [9, -12]
    assert pair("exp(Dual(0.0, -5.0))") == [1, -5]
    assert pair("tanh(Dual(-0.7, 2.0))") == pytest.approx([-0.604368, 1.269479], abs=5e-7)
    assert pair("relu(Dual(-1.0, 3.0))") == [0, 0] and pair("relu(Dual(2.0, 3.0))") == [2, 3]
    assert eval("relu(-1.0)", lesson.names) == 0
    assert eval("derivative(lambda x: x * x, 3.0), derivative(lambda x: 5.0, 3.0)", lesson.names) == (6, 0)
    assert eval("jacobian(lambda x: [x[0] * x[1], x[0] + x[1], 5.0], [2.0, 3.0])", lesson.names).tolist() == [
        [3, 2], [1, 1], [0, 0],
    ]  # fmt: skip
    assert eval("repr(lift(Tagged(3.0, 1.0, 2), 5.0))", lesson.names) == "((3.0 + 1.0·ε2), (5.0 + 0.0·ε2))"


def test_the_square_root_of_two_from_a_loop(lesson: Run) -> None:
    said = lesson.said_by('print("on a Dual:  "')
    on_number, on_dual, expected = ([float(x) for x in line.split(":")[1].split()] for line in said.strip().split("\n"))
    assert on_number == [on_dual[0]] and on_dual == pytest.approx(expected, abs=1e-12)


def test_a_network_of_nine_parameters(lesson: Run) -> None:
    said = lesson.said_by("largest disagreement")
    assert said.count("forward mode") == 9
    assert 0 < float(re.findall(r"disagreement: (\S+)", said)[0]) < 1e-8
    at = torch.tensor([0.1, -0.4, 0.2, 0.7, 0.3, -0.5, 0.9, -0.6, 0.05], dtype=torch.float64, requires_grad=True)
    w1, w2, b1, w3, w4, b2, v1, v2, c = at
    h1, h2 = torch.tanh(w1 * 0.5 - w2 + b1), torch.tanh(w3 * 0.5 - w4 + b2)
    (slopes,) = torch.autograd.grad((v1 * h1 + v2 * h2 + c - 0.3) ** 2, at)
    assert [float(x) for x in re.findall(r"forward mode +(\S+)", said)] == pytest.approx(slopes.tolist(), abs=1e-9)
    at_once, in_all = (float(x) for x in re.findall(r"(?:once|nine): +(\S+)", said))
    assert at_once == in_all == pytest.approx(slopes.sum().item(), abs=1e-9)


def test_columns_of_the_jacobian(lesson: Run) -> None:
    x, y = (torch.tensor(t, dtype=torch.float64) for t in (0.8, 1.2))
    columns = torch.autograd.functional.jacobian(
        lambda x, y: torch.stack([x + 0.25 * y * y, y * (1 + 0.4 * torch.tanh(x))]), (x, y)
    )
    said = lesson.said_by("J = jacobian(warp, point)")
    assert "shape (500, 2) in 2 passes" in said
    numbers = [float(n) for n in re.findall(r"-?\d+\.\d*", said)]
    assert numbers == pytest.approx(torch.stack(columns, dim=1).flatten().tolist(), abs=1e-6)


def test_the_reunion_table_agrees_in_every_row(lesson: Run) -> None:
    rows = lesson.said_by("reunion = {").strip().split("\n")[1:]
    assert [row[:26].strip() for row in rows] == ["1  paths", "1  differences", "2  tangents, two passes", "2  Dual"]
    for row in rows:
        assert row[26:].split() == [f"{AT_A['L']:.6f}", f"{AT_B['L']:.6f}"] == ["-0.181310", "-0.620919"]


def test_calls_are_as_predicted(lesson: Run) -> None:
    said = lesson.said_by("for P in (3, 10):")
    for P in (3, 10):
        assert (
            f"P = {P:2}: forward mode {P} calls (you said {P}), central differences {2 * P} (you said {2 * P})" in said
        )


def test_the_doubling_program_has_the_value_and_the_paths_that_the_text_says(lesson: Run) -> None:
    names = lesson.names
    assert names["doubling"]([0.5, 1.0, 2.0]) == 1.5 * 2 * 3
    graph = names["doubling_graph"](3)

    def paths(source: str, sink: str) -> int:
        return 1 if source == sink else sum(paths(source, p) for p in graph[sink].parents)

    assert paths("s0", "s3") == 2**3 and paths("t1", "s3") == 2**2


def test_forward_mode_is_exact_and_a_difference_is_not(lesson: Run) -> None:
    said = lesson.said_by("forward mode: error")
    forward, central = (float(x) for x in re.findall(r"error (\S+)", said.replace(" at", "")))
    assert forward < 1e-15 and 1e-13 < central < 1e-9


def test_a_formula_explodes(source: Source, lesson: Run) -> None:
    said = lesson.said_by("for n in range(1, 21):")
    rows = {
        int(r.split()[0]): [int(x.replace(",", "")) for x in r.split()[1:]]
        for r in said.split("\n")
        if re.match(r" +\d", r)
    }
    for n, (operations, formula, slope) in rows.items():
        assert operations == 2 * n and formula == 4 * 2**n - 3 and slope >= formula
    assert rows[20] == [40, 4_194_301, 81_788_929]
    assert "more than 80 million symbols" in "\n".join(c.source for c in source.cells)
    assert "u  = x · x + x\n" in said and "u' = x + x + 1\n" in said


@pytest.mark.parametrize("x", (-0.5, 0.3, 1.2))
def test_the_formulas_are_right(lesson: Run, x: float) -> None:
    u = "x"
    for _ in range(4):
        u = lesson.names["plus"](lesson.names["times"](u, u), "x")
    text = lesson.names["written_out"](lesson.names["formula_derivative"](u)).replace("·", "*")
    at = torch.tensor(x, dtype=torch.float64, requires_grad=True)
    value = at
    for _ in range(4):
        value = value * value + at
    (slope,) = torch.autograd.grad(value, at)
    assert eval(text, {"x": x}) == pytest.approx(slope.item(), rel=1e-12)


def test_confusion_and_its_cure(lesson: Run) -> None:
    assert lesson.said_by("derivative(lambda x: x * derivative(lambda y: x + y, 3.0), 2.0)").strip() == "2.0"
    assert lesson.said_by("cube = lambda x").split() == ["1.0", "12.0"]


def test_the_class_may_be_run_again_at_any_time(source: Source, lesson: Run) -> None:
    (cell,) = [c.source for c in source.cells if c.grade_id == "dual-class"]
    old = lesson.names["Dual"](2.0, 1.0)
    lesson.run(cell)
    y = lesson.names["tanh"](old) * lesson.names["Dual"](3.0) + old * 2
    assert y.tangent == pytest.approx((1 - math.tanh(2) ** 2) * 3 + 2)


def test_every_experiment_may_be_run_again_in_another_order(source: Source) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NBGRADER_EXECUTION", "autograde")
        run = Run(source, filled=True)
        cells = [code for code, _ in run.printed]
        for code in reversed(cells):
            run.run(code)
        for code, before in list(run.printed)[: len(cells)]:
            if "reunion = {" in code or "slope along it" in code:
                assert run.run(code) == before
