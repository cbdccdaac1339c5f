"""Every number that lesson 4 states is computed by the lesson, and recomputed here by other means."""

from __future__ import annotations

import math
import re
from decimal import Decimal, getcontext
from typing import Any

import numpy as np
import pytest
import torch

from autograder.authoring.source import Source
from tests.lesson_run import Run, filled, plain, source_of

V, D, K, H = 65, 16, 3, 128  # lesson 5's network at k = 3


@pytest.fixture(scope="module")
def source() -> Source:
    return source_of("4-softmax-backprop")


@pytest.fixture(scope="module")
def lesson(source: Source) -> Run:
    return filled(source)


def running_example() -> list[float]:
    a, b = (torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in (1.5, -0.7))
    ((a * b + a) * torch.tanh(b)).backward()
    assert a.grad is not None and b.grad is not None
    return [a.grad.item(), b.grad.item()]


def softmax(*scores: float) -> list[float]:
    return torch.softmax(torch.tensor(scores, dtype=torch.float64), 0).tolist()


def double_softmax_floor(tokens: int) -> float:
    """The loss of a model that is right beyond doubt, when softmax is applied once more."""
    p = torch.softmax(torch.tensor([1e4] + [0.0] * (tokens - 1), dtype=torch.float64), 0)
    return torch.nn.functional.cross_entropy(p[None], torch.tensor([0])).item()


EXAMPLE = running_example()
RECOMPUTED = {
    "log 6": math.log(6),
    "log 3": math.log(3),
    "softmax of a gap of 1": softmax(0.0, 1.0)[0],
    "its other entry": softmax(0.0, 1.0)[1],
    "e to the −1": math.exp(-1),
    "lse of the shifted scores": math.log(1 + math.exp(-1)),
    "and of the scores themselves": 1001 + math.log(1 + math.exp(-1)),
    "floor for 3 tokens": double_softmax_floor(3),
    "tanh 1": math.tanh(1),
    "slope of tanh at 1": 1 - math.tanh(1) ** 2,
    "slope at h = −0.99": 1 - 0.99**2,
    "0.99 squared": 0.99**2,
    "∂L/∂a": EXAMPLE[0],
    "∂L/∂b": EXAMPLE[1],
}


def test_every_long_number_in_the_text_is_one_that_was_recomputed(source: Source) -> None:
    texts = [plain(c.source) for c in source.cells if c.kind == "markdown" or "quiz" in c.tags]
    found = {number for text in texts for number in re.findall(r"\d+\.\d{4,}", text)}
    assert len(found) > 8
    for number in found:
        digits = len(number.split(".")[1])
        assert any(f"{abs(x):.{digits}f}" == number for x in RECOMPUTED.values()), f"{number} comes from nowhere"


@pytest.mark.parametrize(
    "stated",
    [
        "786,432", "6,144", "15,697", "1.098612", "1.791759", "0.551445", "16.1", "-0.181310", "-0.620919",
        r"(\tfrac{1}{6}, -\tfrac{2}{3}, \tfrac{1}{2})", r"\log(1 + (V-1)/e)", "A gap of 1000 costs 1000",
    ],
)  # fmt: skip
def test_the_text_states_the_number(source: Source, stated: str) -> None:
    text = plain("\n".join(cell.source for cell in source.cells if cell.kind == "markdown" or "quiz" in cell.tags))
    assert stated in text


def test_the_first_softmax_and_the_shift(lesson: Run) -> None:
    said = lesson.said_by("for shift in (0.0, 5.0):\n    e = np.exp(z + shift)")
    assert said.count("p = [0.166667 0.333333 0.5     ]") == 2
    assert "lse = 1.791759" in said and f"lse = {math.log(6) + 5:.6f}" in said
    assert softmax(0.0, math.log(2), math.log(3)) == pytest.approx([1 / 6, 1 / 3, 1 / 2])


def test_the_formula_as_it_stands_overflows(lesson: Run) -> None:
    said = lesson.said_by("for scores in ([0.0, 1.0], [1000.0, 1001.0], [-1000.0, -1001.0])").strip().split("\n")
    assert "nan" not in said[0] and said[1].count("nan") == 2 and said[2].count("nan") == 2


def test_logsumexp_and_softmax_at_plus_and_minus_a_thousand(lesson: Run) -> None:
    logsumexp, softmax_ = lesson.names["logsumexp"], lesson.names["softmax"]
    z = np.array([[0.0, 1.0], [1000.0, 1001.0], [-1000.0, -1001.0]])
    assert softmax_(z)[0].tolist() == softmax_(z)[1].tolist()
    assert softmax_(z)[2].tolist() == softmax_(z)[0][::-1].tolist()
    assert logsumexp(z[1]) - logsumexp(z[0]) == pytest.approx(1000, abs=1e-12)
    said = lesson.said_by("batch = np.array([[0.0, 1.0], [1000.0, 1001.0]")
    assert "lse  1001.313262" in said and said.count(f"{softmax(0.0, 1.0)[1]:.6f}") == 3


def test_a_gap_of_a_thousand_costs_a_thousand(lesson: Run) -> None:
    said = lesson.said_by('print("probability first:')
    assert re.search(r"probability first: +inf", said)
    assert re.search(r"for safety: +16\.118", said) and f"{-math.log(1e-7):.1f}" == "16.1"
    assert re.search(r"from the scores: +1000\.0\n", said)
    getcontext().prec = 500
    exact = (Decimal(1000).exp() + 1).ln()
    assert exact > 1000 and exact - 1000 < Decimal(10) ** -434
    assert lesson.names["cross_entropy"](np.array([1000.0, 0.0]), 1) == 1000.0
    assert lesson.names["cross_entropy"](np.array([0.0, 800.0]), 0) == 800.0


def test_how_probabilities_answer_to_a_score() -> None:
    """The column of softmax's Jacobian that the text works out: −1/12, −1/6, 1/4."""
    z = torch.log(torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64))
    J: Any = torch.autograd.functional.jacobian(lambda z: torch.softmax(z, 0), z)  # type: ignore[no-untyped-call]
    assert J[:, 2].tolist() == pytest.approx([-1 / 12, -1 / 6, 1 / 4])


@pytest.mark.parametrize("tokens", (2, 3, 65))
def test_the_floor_of_a_double_softmax(lesson: Run, tokens: int) -> None:
    floor = double_softmax_floor(tokens)
    assert floor == pytest.approx(math.log(1 + (tokens - 1) / math.e), abs=1e-12)
    assert f"{tokens:>2} tokens: {floor:.6f}" in lesson.said_by('print("probability first:')


def test_the_curves_that_go_flat(lesson: Run) -> None:
    said = lesson.said_by("capped = -np.log(softmax(scores)")
    assert "costs 60.0000" in said and "1e-7 16.1181" in said
    assert f"two softmaxes {math.log(1 + math.e):.4f}" in said


def test_the_error_signal_of_the_three_tokens(lesson: Run) -> None:
    z = torch.log(torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)).requires_grad_()
    loss = torch.nn.functional.cross_entropy(z[None], torch.tensor([1]))
    loss.backward()
    assert z.grad is not None and loss.item() == pytest.approx(math.log(3))
    assert z.grad.tolist() == pytest.approx([1 / 6, -2 / 3, 1 / 2])
    assert lesson.names["cross_entropy_grad"](np.log([1.0, 2, 3]), 1) == pytest.approx(z.grad.numpy())
    said = lesson.said_by("signal = p - one_hot(y, 3)")
    assert said.count("[ 0.166667 -0.666667  0.5     ]") == 2 and "sum 0.000000" in said
    said = lesson.said_by("through the whole Jacobian").split("\n")
    assert "[-0.083333 -0.166667  0.25    ]" in said[0]
    assert "[ 0.166667 -0.666667  0.5     ]" in said[1]
    assert "[ 0.       -0.666667  0.      ]" in said[2]
    numbers = [float(x) for x in re.findall(r"-?\d\.\d+", said[3])]
    assert sum(numbers) == pytest.approx(0, abs=2e-6) and numbers[0] != pytest.approx(1 / 6, abs=0.01)


def test_four_witnesses_for_five_scores(lesson: Run) -> None:
    said = lesson.said_by("powers = [leaf.exp() for leaf in leaves]")
    rows = [line.split("[")[1].split("]")[0].split() for line in said.split("\n")[1:5]]
    assert len(rows) == 4 and all(len(row) == 5 for row in rows)
    for row in rows:
        assert [float(x) for x in row] == pytest.approx([float(x) for x in rows[0]], abs=2e-6)
    assert float(said.split("largest disagreement: ")[1]) < 1e-8


def test_the_graph_of_five_scores_has_as_many_nodes_as_the_text_says(source: Source, lesson: Run) -> None:
    met: set[int] = set()
    todo = [lesson.names["loss_of_five"]] if "loss_of_five" in lesson.names else [_five(lesson.names["Value"])]
    while todo:
        node = todo.pop()
        if id(node) not in met:
            met.add(id(node))
            todo += node._parents
    assert any(f"The engine needed {len(met)} nodes" in cell.source for cell in source.cells)


def _five(Value: Any) -> Any:
    leaves = [Value(x) for x in (0.1, 0.2, 0.3, 0.4, 0.5)]
    powers = [leaf.exp() for leaf in leaves]
    return sum(powers[1:], powers[0]).log() - leaves[2]


def test_the_affine_example(source: Source, lesson: Run) -> None:
    W, r = np.array([[1.0, 2.0], [0.0, -1.0], [3.0, 1.0]]), np.array([1.0, 2.0])
    q_bar = np.array([1.0, -1.0, 2.0])
    t = {"W": torch.tensor(W, requires_grad=True), "r": torch.tensor(r, requires_grad=True)}
    b = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    q = t["W"] @ t["r"] + b
    q.backward(torch.tensor(q_bar))
    assert q.tolist() == [5, -2, 5]
    assert t["r"].grad.tolist() == [7, 5] and b.grad.tolist() == q_bar.tolist()
    assert t["W"].grad.tolist() == [[1, 2], [-1, -2], [2, 4]]
    for mine, theirs in zip(lesson.names["affine_vjp"](W, r, q_bar), (t["r"], t["W"], b), strict=True):
        assert mine == pytest.approx(theirs.grad.numpy())
    said = lesson.said_by('print("r_bar =", W.T @ q_bar)')
    assert "r_bar = [7. 5.]" in said and said.count("[[1.0, 2.0], [-1.0, -2.0], [2.0, 4.0]]") == 2


def test_the_adjoint_identity(lesson: Run) -> None:
    assert lesson.said_by('print("forward: W r_dot').split("\n")[:2] == [
        "forward: W r_dot = [-1.  1.  2.]   dot product with q_bar: 2.0",
        "back:    r_bar   = [7. 5.]   dot product with r_dot: 2.0",
    ]
    said = lesson.said_by("forward, back = q_bar @ (W @ r_dot)").strip().split("\n")
    assert len(said) == 3
    for line in said:
        forward, back = re.findall(r"= ([+-][\d.]+)", line)
        assert float(forward) == pytest.approx(float(back), abs=1e-11)


def test_the_jacobian_that_is_never_built(lesson: Run) -> None:
    W = torch.zeros(H, K * D, dtype=torch.float64)
    r = torch.ones(K * D, dtype=torch.float64)
    J = torch.autograd.functional.jacobian(lambda W: W @ r, W)
    assert (J.numel(), W.numel()) == (786_432, 6_144)
    said = lesson.said_by("def jacobian_by_weights")
    assert "gradient: 6,144 entries" in said
    assert f"Jacobian: 786,432 entries, of them zero: {(J == 0).sum().item():,}" in said
    assert float(re.findall(r"largest difference (\S+)", said)[0]) < 1e-12


def test_a_repeated_index_is_written_once(lesson: Run) -> None:
    said = lesson.said_by("a[[0, 1, 0]] += 1\nprint")
    assert "[1. 1. 0.]" in said and "[2. 1. 0.]" in said


def test_both_blocks_of_a_token_are_added(lesson: Run) -> None:
    C = torch.zeros(3, 2, dtype=torch.float64, requires_grad=True)
    C[torch.tensor([0, 1, 0])].flatten().backward(torch.arange(1.0, 7.0, dtype=torch.float64))
    assert C.grad is not None and C.grad.tolist() == [[6, 8], [3, 4], [0, 0]]
    found = lesson.names["embedding_vjp"](3, np.array([0, 1, 0]), np.arange(1.0, 7.0))
    assert found.tolist() == C.grad.tolist()
    assert lesson.said_by("print(embedding_vjp(3, np.array([1, 1, 1])").split() == [
        "[[",
        "0.",
        "0.]",
        "[",
        "9.",
        "12.]",
        "[",
        "0.",
        "0.]]",
    ]


def test_the_tanh_example(lesson: Run) -> None:
    u = torch.atanh(torch.tensor([0.0, 0.5, -0.8], dtype=torch.float64)).requires_grad_()
    torch.tanh(u).backward(torch.tensor([1.0, 2.0, -1.0], dtype=torch.float64))
    assert u.grad is not None and u.grad.tolist() == pytest.approx([1, 1.5, -0.36])
    assert lesson.names["tanh_vjp"](np.array([0.0, 0.5, -0.8]), np.array([1.0, 2, -1])) == pytest.approx(
        [1, 1.5, -0.36]
    )


def test_the_whole_network_against_two_witnesses(lesson: Run) -> None:
    assert V * D + K * D * H + H + H * V + V == 15_697
    said = lesson.said_by("P = sum(array.size for array in params.values())")
    assert "15,697 parameters" in said and f"log 65 = {math.log(65):.4f}" in said
    rows = [line.split()[-3:] for line in said.split("\n")[2:7]]
    assert len(rows) == 5
    for mine, difference, theirs in rows:
        assert float(mine) == pytest.approx(float(theirs), abs=2e-9)
        assert float(mine) == pytest.approx(float(difference), abs=1e-8)
    assert f"{2 * 15_697:,} forward passes" in said


def test_every_row_of_compare_is_close(lesson: Run) -> None:
    said = lesson.said_by("def print_rows(rows)").strip().split("\n")[1:]
    assert [line.split()[0] for line in said] == ["z", "h", "u", "x", "W2", "b2", "W1", "b1", "C"]
    for line in said:
        assert line.split()[2] == "yes" and float(line.split()[3]) < 1e-15


def test_which_rows_break(lesson: Run) -> None:
    before = {name: lesson.names[name] for name in ("affine_vjp", "tanh_vjp", "embedding_vjp", "cross_entropy_grad")}
    said = dict(re.findall(r"without (.+?) +breaks: (.+)", lesson.said_by("dropped = {")))
    assert said == {
        "− e_y": "z h u x W2 b2 W1 b1 C",
        "1 − h²": "u x W1 b1 C",
        "sum for b": "b2 b1",
        "repeats": "C",
    }
    assert all(lesson.names[name] is function for name, function in before.items())


def test_the_reunion_table_agrees_in_every_row(lesson: Run) -> None:
    rows = lesson.said_by("reunion = {").strip().split("\n")[1:]
    assert [row[:26].strip() for row in rows] == [
        "1  differences", "3  adjoints by hand", "3  PyTorch", "4  array rules",
    ]  # fmt: skip
    for row in rows:
        assert row[26:].split() == [f"{x:.6f}" for x in EXAMPLE]


def test_the_network_computes_what_the_references_compute(lesson: Run) -> None:
    from autograder.references import ngram

    params, contexts, targets = lesson.names["random_network"](V=6, d=2, k=3, h=4, B=4)
    loss, gradients = lesson.names["ngram_backward"](params, contexts, targets)
    right, theirs = ngram.gradients(params, contexts, targets)
    assert loss == pytest.approx(right)
    for name, array in lesson.names["torch_gradients"](params, contexts, targets).items():
        assert array == pytest.approx(theirs[name], abs=1e-14) and gradients[name] == pytest.approx(array, abs=1e-14)


def test_every_cell_may_be_run_again_in_another_order(source: Source) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NBGRADER_EXECUTION", "autograde")
        run = Run(source, filled=True)
        cells = list(run.printed)
        for code, _ in reversed(cells):
            run.run(code)
        for code, before in cells:
            if "reunion = {" in code or "dropped = {" in code:
                assert run.run(code) == before


def test_every_picture_can_be_drawn(source: Source) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MPLBACKEND", "Agg")
        patch.setenv("NBGRADER_EXECUTION", "")
        patch.setattr("autograder.student.check", lambda *args: None)
        import matplotlib.pyplot as plt

        plt.close("all")
        Run(source, filled=True)
        figures = [plt.figure(number) for number in plt.get_fignums()]
        plt.close("all")
    assert len(figures) == 9
    for figure in figures:
        titled = [ax.get_title(loc=side) for ax in figure.axes for side in ("left", "center")]
        assert figure.get_suptitle() or any(titled)
