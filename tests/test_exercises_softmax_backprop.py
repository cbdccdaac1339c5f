"""Lesson 4's checks: right answers in any style pass, every wrong rule is told by its own name."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from autograder.authoring.source import SOLUTION, read
from autograder.exercises import arrays
from autograder.exercises.array_rules import FAULTS, make_rules
from autograder.exercises.judging import judge
from autograder.exercises.softmax_backprop import LESSON
from autograder.references import arrays as reference
from autograder.references import ngram
from autograder.student.probes.arrays import array as array_evidence
from autograder.verdict import FAILED, PARTIAL, PASSED, UNANSWERED
from tests.checking import objects_of, verdict_on
from tests.lesson_run import learners_names

SOURCE = Path(__file__).parent.parent / "source" / "4-softmax-backprop" / "softmax_backprop.py"
EXERCISES = {exercise.id: exercise for exercise in LESSON.exercises}
IDS = list(EXERCISES)


@pytest.fixture(scope="module")
def solved() -> dict[str, Any]:
    return learners_names("4-softmax-backprop")


# ---- right answers in other styles ----------------------------------------------------------------------------------


def lse_by_loops(z: np.ndarray) -> np.ndarray:
    def one(v: np.ndarray) -> float:
        top = max(v)
        return top + math.log(math.fsum(math.exp(x - top) for x in v))

    return np.apply_along_axis(one, -1, z)


def softmax_by_loops(z: np.ndarray) -> list[Any]:
    if z.ndim > 1:
        return [softmax_by_loops(row) for row in z]
    e = [math.exp(x - max(z)) for x in z]
    return [x / sum(e) for x in e]


def by_torch(name: str) -> Callable[[np.ndarray], Any]:
    return lambda z: getattr(torch, name)(torch.from_numpy(z), -1)


def shifted_softmax(z: np.ndarray) -> np.ndarray:
    e = np.exp(z - np.max(z, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def loss_by_loops(z: np.ndarray, y: Any) -> Any:
    if z.ndim == 1:
        return np.log(np.exp(z - z[y]).sum()) if max(z - z[y]) < 100 else max(z) - z[y]
    return np.array([loss_by_loops(row, target) for row, target in zip(z, y, strict=True)])


def loss_by_torch(z: np.ndarray, y: Any) -> Any:
    flat = torch.from_numpy(z.reshape(-1, z.shape[-1])), torch.from_numpy(np.reshape(y, -1))
    return torch.nn.functional.cross_entropy(*flat, reduction="none").reshape(np.shape(y))


def loss_with_a_mask(z: np.ndarray, y: Any) -> np.ndarray:
    mask = np.arange(z.shape[-1]) == np.expand_dims(y, -1)
    return np.logaddexp.reduce(z, axis=-1) - np.where(mask, z, 0.0).sum(axis=-1)


def signal_in_place(z: np.ndarray, y: Any) -> np.ndarray:
    p = shifted_softmax(z)
    at = np.expand_dims(y, -1)
    np.put_along_axis(p, at, np.take_along_axis(p, at, -1) - 1, -1)
    return p


def signal_by_loops(z: np.ndarray, y: Any) -> Any:
    if z.ndim > 1:
        return [signal_by_loops(row, target) for row, target in zip(z, y, strict=True)]
    p = shifted_softmax(z)
    p[y] -= 1
    return p.tolist()


def signal_by_autograd(z: np.ndarray, y: Any) -> np.ndarray:
    t = torch.tensor(z, requires_grad=True)
    torch.nn.functional.cross_entropy(
        t.reshape(-1, z.shape[-1]), torch.from_numpy(np.reshape(y, -1)), reduction="sum"
    ).backward()
    assert t.grad is not None
    return t.grad.numpy()


def affine_einsum(W: np.ndarray, r: np.ndarray, q_bar: np.ndarray) -> Any:
    summed = tuple(range(q_bar.ndim - 1))
    W_bar = np.einsum("bi,bj->ij", q_bar.reshape(-1, len(W)), r.reshape(-1, W.shape[1]))
    return np.einsum("ij,...i->...j", W, q_bar), W_bar, q_bar.sum(axis=summed)


def affine_by_loops(W: np.ndarray, r: np.ndarray, q_bar: np.ndarray) -> Any:
    W_bar, b_bar = np.zeros_like(W), np.zeros(len(W))
    r_bar = np.empty_like(r)
    for place in np.ndindex(r.shape[:-1]):
        r_bar[place] = W.T @ q_bar[place]
        W_bar += np.outer(q_bar[place], r[place])
        b_bar += q_bar[place]
    return [r_bar, W_bar, b_bar]


def affine_tensordot(W: np.ndarray, r: np.ndarray, q_bar: np.ndarray) -> Any:
    leading = list(range(r.ndim - 1))
    W_bar = np.tensordot(q_bar, r, axes=(leading, leading))
    return (W.T @ q_bar[..., None])[..., 0], W_bar, np.add.reduce(q_bar.reshape(-1, len(W)))


def embed_by_loops(V: int, context: np.ndarray, x_bar: np.ndarray) -> np.ndarray:
    d = x_bar.shape[-1] // context.shape[-1]
    C_bar = np.zeros((V, d))
    for token, block in zip(context.ravel(), x_bar.reshape(-1, d), strict=True):
        C_bar[token] += block
    return C_bar


def embed_by_one_hot(V: int, context: np.ndarray, x_bar: np.ndarray) -> np.ndarray:
    tokens = context.reshape(-1)
    return np.eye(V)[tokens].T @ x_bar.reshape(len(tokens), -1)


def embed_by_counts(V: int, context: np.ndarray, x_bar: np.ndarray) -> np.ndarray:
    blocks = x_bar.reshape(context.size, -1)
    columns = [np.bincount(context.ravel(), weights=column, minlength=V) for column in blocks.T]
    return np.stack(columns, axis=1)


def forward_by_examples(params: Any, contexts: np.ndarray) -> dict[str, Any]:
    rows: dict[str, list[np.ndarray]] = {"x": [], "u": [], "h": [], "z": []}
    for context in contexts:
        rows["x"].append(np.concatenate([params["C"][token] for token in context]))
        rows["u"].append(params["W1"] @ rows["x"][-1] + params["b1"])
        rows["h"].append(np.tanh(rows["u"][-1]))
        rows["z"].append(params["W2"] @ rows["h"][-1] + params["b2"])
    return {name: np.stack(row) for name, row in rows.items()}


def backward_by_examples(params: Any, contexts: np.ndarray, targets: np.ndarray) -> Any:
    B, f = len(contexts), forward_by_examples(params, contexts)
    bar: dict[str, Any] = {name: np.zeros_like(array) for name, array in (params | f).items()}
    loss = 0.0
    for i, (context, y) in enumerate(zip(contexts, targets, strict=True)):
        p = shifted_softmax(f["z"][i])
        loss -= math.log(p[y]) / B
        bar["z"][i] = (p - np.eye(len(p))[y]) / B
        bar["W2"] += np.outer(bar["z"][i], f["h"][i])
        bar["b2"] += bar["z"][i]
        bar["h"][i] = params["W2"].T @ bar["z"][i]
        bar["u"][i] = bar["h"][i] * (1 - f["h"][i] ** 2)
        bar["W1"] += np.outer(bar["u"][i], f["x"][i])
        bar["b1"] += bar["u"][i]
        bar["x"][i] = params["W1"].T @ bar["u"][i]
        for token, block in zip(context, np.split(bar["x"][i], len(context)), strict=True):
            bar["C"][token] += block
    return np.float64(loss), bar


def backward_in_columns(params: Any, contexts: np.ndarray, targets: np.ndarray) -> Any:
    """Examples as columns, everything written out, nothing from the exercises before."""
    B, X = len(contexts), forward_by_examples(params, contexts)["x"].T
    H = np.tanh(params["W1"] @ X + params["b1"][:, None])
    Z = params["W2"] @ H + params["b2"][:, None]
    P = np.exp(Z - Z.max(0)) / np.exp(Z - Z.max(0)).sum(0)
    loss = -np.log(P[targets, range(B)]).mean()
    Zb = P.copy()
    Zb[targets, range(B)] -= 1
    Zb /= B
    Hb = params["W2"].T @ Zb
    Ub = Hb * (1 - H * H)
    Xb = params["W1"].T @ Ub
    C = embed_by_one_hot(len(params["C"]), contexts, Xb.T)
    return [loss, {"z": Zb.T, "h": Hb.T, "u": Ub.T, "x": Xb.T, "W2": Zb @ H.T, "b2": Zb.sum(1),
                   "W1": Ub @ X.T, "b1": Ub.sum(1), "C": C, "more": None}]  # fmt: skip


def forward_by_torch(params: Any, contexts: np.ndarray) -> dict[str, Any]:
    t = {name: torch.from_numpy(array) for name, array in params.items()}
    x = t["C"][torch.from_numpy(contexts)].flatten(1)
    u = torch.nn.functional.linear(x, t["W1"], t["b1"])
    return {"x": x, "u": u, "h": u.tanh(), "z": torch.nn.functional.linear(u.tanh(), t["W2"], t["b2"])}


def backward_by_torch(params: Any, contexts: np.ndarray, targets: np.ndarray) -> Any:
    loss, gradients = ngram.gradients(params, contexts, targets)
    return torch.tensor(loss), {name: torch.from_numpy(g.copy()) for name, g in gradients.items()}


def compare_in_words(params: Any, contexts: Any, targets: Any) -> Any:
    mine = ngram_backward(params, contexts, targets)[1]
    other = torch_gradients(params, contexts, targets)
    rows = []
    for name in ("C", "b1", "W1", "b2", "W2", "x", "u", "h", "z"):  # any order
        d = np.abs(np.asarray(mine[name]) - np.asarray(other[name]))
        rows.append(
            dict(name=name, exact=(d == 0).all(), close=bool(d.max() < 1e-9), max_difference=np.max(d), mean=d.mean())
        )
    return rows


def compare_with_helpers(params: Any, contexts: Any, targets: Any) -> Any:
    pairs = both_sides(params, contexts, targets)
    return tuple(
        {
            "name": name,
            "exact": mine.tolist() == other.tolist(),
            "close": np.isclose(mine, other, rtol=1e-6).all(),
            "max_difference": max(abs(x - y) for x, y in zip(mine.flat, other.flat, strict=True)),
        }
        for name, (mine, other) in pairs.items()
    )


def both_sides(*args: Any) -> dict[str, Any]:
    _, mine = ngram_backward(*args)
    other = torch_gradients(*args)
    return {name: (mine[name], other[name]) for name in ("z", "h", "u", "x", "W2", "b2", "W1", "b1", "C")}


def compare_by_torch(params: Any, contexts: Any, targets: Any) -> Any:
    _, mine = ngram_backward(params, contexts, targets)
    theirs = torch_gradients(params=params, contexts=contexts, targets=targets)
    rows = []
    for name in theirs:
        a, b = torch.tensor(mine[name]), torch.tensor(theirs[name])
        rows.append({"name": name, "exact": torch.equal(a, b), "close": torch.allclose(a, b),
                     "max_difference": (a - b).abs().max()})  # fmt: skip
    return rows


def ngram_backward(*args: Any) -> Any:
    raise AssertionError("the check puts its own in this place")


torch_gradients = ngram_backward

OTHERS: dict[str, list[tuple[Any, ...]]] = {
    "4.1": [
        (lse_by_loops, softmax_by_loops),
        (lambda z: np.logaddexp.reduce(z, axis=-1), shifted_softmax),
        (by_torch("logsumexp"), by_torch("softmax")),
    ],
    "4.2": [(loss_by_loops,), (loss_by_torch,), (loss_with_a_mask,)],
    "4.3": [(signal_in_place,), (signal_by_loops,), (signal_by_autograd,)],
    "4.4": [(affine_einsum,), (affine_by_loops,), (affine_tensordot,)],
    "4.5": [
        (lambda h, h_bar: h_bar * (1 - h**2),),
        (lambda h, h_bar: (h_bar - h_bar * h) * (1 + h),),
        (lambda h, h_bar: h_bar / np.cosh(np.arctanh(h)) ** 2,),
    ],
    "4.6": [(embed_by_loops,), (embed_by_one_hot,), (embed_by_counts,)],
    "4.7": [
        (forward_by_examples, backward_by_examples),
        (forward_by_examples, backward_in_columns),
        (forward_by_torch, backward_by_torch),
    ],
    "4.8": [(compare_in_words,), (compare_with_helpers,), (compare_by_torch,)],
}


@pytest.mark.parametrize(("id", "k"), [(id, k) for id, some in OTHERS.items() for k in range(len(some))])
def test_right_answers_in_other_styles_pass(id: str, k: int) -> None:
    for nonce in range(5):
        verdict = verdict_on(EXERCISES[id], OTHERS[id][k], nonce)
        assert verdict.status == PASSED, verdict.text()


# ---- wrong answers --------------------------------------------------------------------------------------------------

# The same mistakes once more, as edits of the lesson's solution: (exercise, what was there, what stands there, name).
EDITS = [
    ("4.1", "m = z.max(axis=-1, keepdims=True)", "m = 0.0 * z[..., :1]", "overflow"),
    ("4.1", "e = np.exp(z - z.max(axis=-1, keepdims=True))", "e = np.exp(z)", "overflow"),
    ("4.1", "e = np.exp(z - z.max(axis=-1, keepdims=True))", "e = np.exp(z - z.max())", "one-maximum-for-batch"),
    ("4.1", "return e / e.sum(axis=-1, keepdims=True)", "return e / e.sum()", "one-sum-for-batch"),
    ("4.1", "return e / e.sum(axis=-1, keepdims=True)", "return e / e.sum(axis=-1)", "missing-keepdims"),
    ("4.1", "return m[..., 0] + np.log(", "return np.log(", "maximum-not-added-back"),
    ("4.1", "return e / e.sum(axis=-1, keepdims=True)", "return e / e.sum(0)", "wrong-axis"),
    ("4.2", "return logsumexp(z) - pick(z, y)", "return -np.log(pick(softmax(z), y) + 1e-12)", "epsilon-saturates"),
    ("4.2", "return logsumexp(z) - pick(z, y)", "return -np.log(pick(softmax(z), y).clip(1e-15, 1))", "epsilon-saturates"),
    ("4.2", "return logsumexp(z) - pick(z, y)", "return -(np.log(softmax(z)) * one_hot(y, z.shape[-1])).sum(-1)", None),
    ("4.2", "return logsumexp(z) - pick(z, y)", "return -np.log(pick(softmax(z), y))", "log-of-zero"),
    ("4.2", "return logsumexp(z) - pick(z, y)", "z = softmax(z); return logsumexp(z) - pick(z, y)", "double-softmax"),
    ("4.2", "return logsumexp(z) - pick(z, y)", "return np.mean(logsumexp(z) - pick(z, y))", "mean-instead-of-each"),
    ("4.3", "- one_hot(y, z.shape[-1])", "", "one-hot-not-subtracted"),
    ("4.3", "return softmax(z) - one_hot", "return -softmax(z) + one_hot", "sign-flipped"),
    ("4.3", "return softmax(z) -", "z = softmax(z); return softmax(z) -", "double-softmax"),
    ("4.3", "return softmax(z) - one_hot(y, z.shape[-1])",
     "s = softmax(z); s[..., y] = s[..., y] - 1.0; return s", "one-hot-in-every-row"),
    ("4.4", "examples_q_bar.T @ examples_r", "examples_r.T @ examples_q_bar", "transposed-weight-gradient"),
    ("4.4", "examples_q_bar.sum(axis=0)", "examples_q_bar.mean(0)", "bias-averaged"),
    ("4.4", "examples_q_bar.sum(axis=0)", "q_bar", "bias-not-summed"),
    ("4.4", "return q_bar @ W,", "return q_bar @ W.T,", "weight-not-transposed"),
    ("4.5", "(1 - h * h)", "(1 - np.tanh(h) ** 2)", "tanh-from-preactivation"),
    ("4.5", "h_bar * (1 - h * h)", "h_bar.__imul__(1 - h**2)", "changes-its-argument"),
    ("4.6", "np.add.at(C_bar, context, x_bar.reshape(*context.shape, d))",
     "for position in range(context.shape[-1]): C_bar[context[..., position]] = x_bar.reshape(*context.shape, d)[..., position, :]",
     "last-index-wins"),
    ("4.6", "x_bar.reshape(*context.shape, d)", "x_bar.reshape(*context.shape[:-1], d, -1).swapaxes(-1, -2)",
     "blocks-cut-crosswise"),
    ("4.7", " / len(targets)", "", "missing-batch-mean"),
    ("4.7", "cross_entropy_grad(values[\"z\"], targets) / len(targets)",
     "cross_entropy_grad(values[\"z\"], targets) / len(targets) / len(contexts)", "double-batch-mean"),
    ("4.7", "tanh_vjp(values[\"h\"], bar[\"h\"])", "tanh_vjp(values[\"u\"], bar[\"h\"])", "tanh-from-preactivation"),
    ("4.7", "bar[\"u\"] = tanh_vjp", "params[\"W2\"] -= 0.1 * bar[\"W2\"]; bar[\"u\"] = tanh_vjp", None),
    ("4.7", ", targets).mean())", ", targets).sum())", "loss-summed"),
    ("4.8", "np.abs(mine[name] - theirs[name]).max()", "(mine[name] - theirs[name]).max()", "signed-difference"),
    ("4.8", "np.array_equal(mine[name], theirs[name])", "np.allclose(mine[name], theirs[name])", "exact-means-close"),
]  # fmt: skip


@pytest.mark.parametrize(("id", "there", "here", "name"), EDITS)
def test_mistakes_as_learners_make_them_are_named(id: str, there: str, here: str, name: str | None) -> None:
    names = dict(learners_names("4-softmax-backprop"))
    cells = [c for c in read(SOURCE).cells if c.is_solution and c.exercise == id]
    code = "\n\n".join(cell.without_markers(SOLUTION) for cell in cells)
    assert code.count(there) == 1
    exec(compile(code.replace(there, here), "<lesson>", "exec"), names)
    verdict = verdict_on(EXERCISES[id], objects_of(EXERCISES[id], names), here)
    assert verdict.status in (FAILED, PARTIAL)
    # None: no listed rule gives just this evidence. Then no name is better than a wrong one.
    assert verdict.misconceptions == ([name] if name else []), verdict.text()


def test_every_fault_shows_somewhere() -> None:
    named = {m.name for e in LESSON.exercises for m in e.misconceptions}
    assert named == {fault.name for fault in FAULTS}
    assert len(named) == len(FAULTS)


def test_the_listed_misconceptions_are_all_here() -> None:
    wanted = """missing-batch-mean double-batch-mean extra-softmax-jacobian softmax-jacobian-diagonal-only
        one-hot-not-subtracted double-softmax wrong-axis missing-keepdims overflow one-maximum-for-batch log-of-zero
        epsilon-saturates transposed-weight-gradient bias-averaged bias-not-summed updated-weights last-index-wins
        tanh-from-preactivation"""
    assert set(wanted.split()) <= {fault.name for fault in FAULTS}


@pytest.mark.parametrize(
    ("id", "overrides", "kept"),
    [
        ("4.4", {"affine_b": lambda R: lambda W, r, q: q.reshape(-1, len(W)).mean(0)}, 5),
        ("4.6", {"embedding_vjp": lambda R: last_wins}, 3),
        ("4.1", {"softmax": lambda R: lambda z: np.exp(z) / np.exp(z).sum(-1, keepdims=True)}, 5),
        ("4.2", {"cross_entropy": lambda R: lambda z, y: -np.log(np.take_along_axis(R.softmax(z), np.asarray(y)[..., None], -1)[..., 0])}, 2),
        ("4.7", {"embedding_vjp": lambda R: last_wins}, 8),
        ("4.7", {"mean_loss": lambda R: lambda z, y: 0.5 * float(R.cross_entropy(z, y).sum())}, 9),
    ],
)  # fmt: skip
def test_one_mistake_costs_only_its_part(id: str, overrides: Any, kept: float) -> None:
    rules = make_rules(**overrides)
    exercise = EXERCISES[id]
    verdict = verdict_on(exercise, tuple(getattr(rules, name) for name in exercise.names))
    assert verdict.score == pytest.approx(kept)


def last_wins(V: int, context: np.ndarray, x_bar: np.ndarray) -> np.ndarray:
    C_bar = np.zeros((V, x_bar.shape[-1] // context.shape[-1]))
    C_bar[context] += x_bar.reshape(*context.shape, -1)
    return C_bar


def test_two_mistakes_in_two_places_are_both_named() -> None:
    def affine(W: Any, r: Any, q_bar: Any) -> Any:
        r_bar, W_bar, b_bar = affine_einsum(W, r, q_bar)
        return r_bar, W_bar.T, b_bar / q_bar.reshape(-1, len(W)).shape[0]

    verdict = verdict_on(EXERCISES["4.4"], (affine,))
    assert set(verdict.misconceptions) == {"transposed-weight-gradient", "bias-averaged"}


@pytest.mark.parametrize("id", IDS)
def test_what_nobody_listed_is_located(id: str) -> None:
    """A wrong rule without a name: no name is given, and the message says where, with both numbers."""
    rules = make_rules(
        softmax=lambda R: lambda z: shifted_softmax(z) + 0.01,
        logsumexp=lambda R: lambda z: np.logaddexp.reduce(z, axis=-1) + 0.25,
        affine_W=lambda R: lambda W, r, q: affine_einsum(W, r, q)[1] + 0.125,
        tanh_vjp=lambda R: lambda h, h_bar: h_bar * (1.5 - h * h),
        embedding_vjp=lambda R: lambda V, c, x: embed_by_loops(V, c, x) * 1.75,
        distance=lambda R: lambda a, b: float(np.abs(a - b).max()) + 0.375,
    )
    exercise = EXERCISES[id]
    verdict = verdict_on(exercise, tuple(getattr(rules, name) for name in exercise.names))
    assert verdict.status in (FAILED, PARTIAL)
    assert verdict.misconceptions == []
    assert verdict.where and "should be" in verdict.message


@pytest.mark.parametrize("id", IDS)
@pytest.mark.parametrize(
    "answer",
    [None, "0.5", [[1.0], [1.0, 2.0]], np.zeros((0, 3)), {"x": 1}, np.full((2, 2), np.nan), 1j, object(), True],
    ids=["none", "text", "ragged", "empty", "dict", "nan", "complex", "object", "bool"],
)
def test_answers_of_odd_types_fail_with_a_message(id: str, answer: Any) -> None:
    exercise = EXERCISES[id]
    verdict = verdict_on(exercise, (lambda *args: answer,) * len(exercise.names))
    assert verdict.status not in (PASSED, UNANSWERED)
    assert verdict.score <= 1.0  # "the arguments stay as they are" holds for a function that does nothing
    assert verdict.message and "Traceback" not in verdict.message


@pytest.mark.parametrize("id", IDS)
@pytest.mark.parametrize(
    "value",
    [None, [], {}, 7, {"shape": [2], "dtype": "float64"}, {"shape": [2], "dtype": "f", "values": [1.0, "x"]},
     {"shape": ["a"], "dtype": 3, "values": []}, {"shape": [10**9], "dtype": "", "values": None},
     {"z": {"shape": [], "values": {}}, "loss": "much", "h": None, "C": 3}],
)  # fmt: skip
def test_evidence_that_no_probe_gives_fails(id: str, value: Any) -> None:
    exercise = EXERCISES[id]
    cases = [*exercise.worked(), *exercise.cases(random.Random(1))]
    verdict = judge(exercise, cases, [{"value": value} for _ in cases])
    assert verdict.status in (FAILED, PARTIAL)
    assert verdict.score <= exercise.points / 4  # an empty set of changed parameters is no evidence of harm done


def test_a_function_that_is_not_there_is_reported_as_missing() -> None:
    verdict = verdict_on(EXERCISES["4.5"], (3.0,))
    assert "tanh_vjp" in verdict.message and "not a function" in verdict.message


def test_a_stub_further_back_is_named() -> None:
    names = dict(learners_names("4-softmax-backprop", filled=False))
    solved = dict(learners_names("4-softmax-backprop"))
    names["ngram_backward"] = solved["ngram_backward"]
    exec("def cross_entropy(z, y):\n    return logsumexp(z) - pick(z, y)", names)
    verdict = verdict_on(EXERCISES["4.2"], (names["cross_entropy"],))
    assert "builds on 4.1" in verdict.message


def test_compare_leaves_the_notebook_as_it_was(solved: dict[str, Any]) -> None:
    before = solved["ngram_backward"], solved["torch_gradients"]
    verdict_on(EXERCISES["4.8"], (solved["compare"],))
    assert (solved["ngram_backward"], solved["torch_gradients"]) == before


# ---- cases and references -------------------------------------------------------------------------------------------


def test_both_witnesses_agree_on_the_network() -> None:
    rng = np.random.default_rng(0)
    shapes = {"C": (4, 2), "W1": (3, 4), "b1": (3,), "W2": (4, 3), "b2": (4,)}
    params = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    contexts, targets = rng.integers(4, size=(3, 2)), rng.integers(4, size=3)
    loss, gradients = ngram.gradients(params, contexts, targets)
    assert loss == pytest.approx(ngram.mean_loss(params, contexts, targets), abs=1e-13)
    for name, array in params.items():
        for index in np.ndindex(array.shape):
            slope = reference.difference(lambda a: ngram.mean_loss(a, contexts, targets), params, name, index)
            assert gradients[name][index] == pytest.approx(slope, abs=1e-8)


def test_contexts_with_a_repeated_token_are_always_among_the_cases() -> None:
    for nonce in range(20):
        cases = EXERCISES["4.7"].cases(random.Random(nonce))
        assert all(any(len(set(c)) < len(c) for c in case["contexts"]) for case in cases)
        repeated = [c for c in EXERCISES["4.6"].cases(random.Random(nonce)) if c["part"] == "repeated"]
        assert any(c["context"][0] == c["context"][-1] for c in repeated if np.ndim(c["context"]) == 1)


# ---- arrays in words ------------------------------------------------------------------------------------------------


def said(yours: Any, right: Any, **how: Any) -> str:
    found = arrays.departure(
        "A", array_evidence(np.array(yours, dtype=float), "A"), np.array(right, dtype=float), **how
    )
    return found.text if found else ""


GRID = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


@pytest.mark.parametrize(
    ("yours", "right", "how", "words"),
    [
        (GRID, GRID, {}, []),
        (np.transpose(GRID), GRID, {}, ["shape (3, 2)", "should have shape (2, 3)", "rows and columns exchanged"]),
        (np.ravel(GRID), GRID, {}, ["shape (6,)", "arrangement"]),
        (GRID, np.sum(GRID, axis=0), {}, ["shape (2, 3)", "Summed over its first axis"]),
        ([1.0], 1.0, {"shape_because": "one loss"}, ["() (a single number): one loss"]),
        ([[1, 2, 3], [4, 5, 7]], GRID, {}, ["right shape", "1 of its 6 entries is wrong", "A[1, 2]: 7", "row 1"]),
        (np.multiply(GRID, 4), GRID, {"factors": {"the batch size B": 4}}, ["every entry", "4 times", "4 is the batch size B"]),
        (np.divide(GRID, 4), GRID, {"factors": {"the batch size B": 4}}, ["1/4 of what", "4 is the batch size B"]),
        (np.multiply(GRID, 2.5), GRID, {}, ["2.5 times what it should be"]),
        (np.negative(GRID), GRID, {}, ["wrong sign"]),
        ([[0.5, 0.5], [0.2, 0.8]], [[0.5, -0.5], [-0.8, 0.8]], {}, ["each row should sum to 0. Yours sum to 1"]),
        ([[0.4, -0.4], [-0.7, 0.7]], [[0.5, -0.5], [-0.8, 0.8]], {}, ["sum to 0, as they should"]),
        ([1.0, np.nan, 3.0], [1.0, 2.0, 3.0], {}, ["A[1]: nan, and should be 2"]),
        ([1.0, np.inf, 3.0], [1.0, 2.0, 3.0], {}, ["A[1]: inf"]),
        (0.25, 0.5, {}, ["A is 0.25, and should be 0.5"]),
        ([1.0, 1.00000049], [1.0, 1.0], {}, ["1.00000049"]),
    ],
)  # fmt: skip
def test_a_departure_is_put_into_words(yours: Any, right: Any, how: dict[str, Any], words: list[str]) -> None:
    text = said(yours, right, **how)
    assert bool(text) == bool(words)
    for word in words:
        assert word in text


def test_whole_numbers_and_float32_are_recognized() -> None:
    right = np.array([0.3, 1.7])
    whole = arrays.departure("A", array_evidence(np.array([0, 1]), "A"), right)
    single = arrays.departure("A", array_evidence(np.array([0.30001, 1.70001], dtype=np.float32), "A"), right)
    assert whole and "whole numbers (int64)" in whole.text
    assert single and "float32" in single.text


def test_an_enormous_array_is_evidence_by_its_shape_alone() -> None:
    seen = array_evidence(np.zeros((1000, 1000)), "A")
    assert seen["values"] is None
    found = arrays.departure("A", seen, np.zeros(3))
    assert found and "(1000, 1000)" in found.text
