"""Lesson 5's checks: right answers in any style pass, every wrong rule is told by its own name."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from autograder.authoring.source import SOLUTION, read
from autograder.exercises.judging import judge
from autograder.exercises.ngram_rules import FAULTS, make_rules
from autograder.exercises.ngram_training import LESSON, walked
from autograder.exercises.ngram_training import _drawn as drawn
from autograder.verdict import FAILED, PARTIAL, PASSED, UNANSWERED
from tests.checking import verdict_on
from tests.lesson_run import learners_names

SOURCE = Path(__file__).parent.parent / "source" / "5-ngram-training" / "ngram_training.py"
EXERCISES = {exercise.id: exercise for exercise in LESSON.exercises}
IDS = list(EXERCISES)


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """As in the lesson and under the grader: arrays this small are slower with two."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def solved() -> dict[str, Any]:
    return learners_names("5-ngram-training")


# ---- right answers in other styles ----------------------------------------------------------------------------------


def vocabulary_by_loop(text: str) -> list[str]:
    found: list[str] = []
    for c in text:
        if c not in found:
            found.append(c)
    found.sort()
    return found


def split_by_torch(ids: Any, fraction: float = 0.9) -> Any:
    n = int(fraction * len(ids))
    return torch.split(ids, [n, len(ids) - n])


def windows_by_loop(ids: Any, k: int) -> Any:
    rows = [ids[i : i + k].tolist() for i in range(len(ids) - k)]
    return torch.tensor(rows), torch.tensor([int(ids[i + k]) for i in range(len(ids) - k)])


def windows_by_index(ids: Any, k: int) -> Any:
    at = torch.arange(len(ids) - k)[:, None] + torch.arange(k + 1)
    both = ids[at]
    return [both[:, :-1], both[:, -1]]


def windows_by_numpy(ids: Any, k: int) -> Any:
    both = np.lib.stride_tricks.sliding_window_view(ids.numpy(), k + 1).copy()
    return torch.from_numpy(both[:, :k]), torch.from_numpy(both[:, k])


def init_by_normal(V: int, d: int, k: int, h: int, rng: Any) -> dict[str, Any]:
    def normal(std: float, *shape: int) -> Any:
        return torch.nn.Parameter(torch.empty(shape).normal_(0, std, generator=rng))

    return {"W2": normal(0.01, V, h), "C": normal(1, V, d), "b2": torch.nn.Parameter(torch.zeros(V)),
            "W1": normal(0.2, h, k * d), "b1": normal(0.01, h)}  # fmt: skip


def init_in_float64(V: int, d: int, k: int, h: int, rng: Any) -> dict[str, Any]:
    shapes = {"C": (V, d), "W1": (h, k * d), "b1": (h,), "W2": (V, h), "b2": (V,)}
    scales = {"C": 1, "W1": 0.2, "b1": 0.01, "W2": 0.01, "b2": 0}
    made = {n: torch.randn(s, generator=rng, dtype=torch.float64) * scales[n] for n, s in shapes.items()}
    for p in made.values():
        p.requires_grad = True
    return made


def init_without_hidden_bias(V: int, d: int, k: int, h: int, rng: Any) -> dict[str, Any]:
    made = init_in_float64(V, d, k, h, rng)
    made["b1"] = torch.zeros(h, requires_grad=True)
    return made


def logits_by_linear(params: Any, contexts: Any) -> Any:
    x = F.embedding(contexts, params["C"]).reshape(len(contexts), -1)
    return F.linear(torch.tanh(F.linear(x, params["W1"], params["b1"])), params["W2"], params["b2"])


def logits_by_blocks(params: Any, contexts: Any) -> Any:
    """W1 x as a sum over places: no x is ever built."""
    d = params["C"].shape[1]
    u = params["b1"]
    for r in range(contexts.shape[1]):
        u = u + params["C"][contexts[:, r]] @ params["W1"][:, r * d : (r + 1) * d].T
    return torch.einsum("vh,bh->bv", params["W2"], u.tanh()) + params["b2"]


def logits_one_by_one(params: Any, contexts: Any) -> Any:
    rows = []
    for context in contexts:
        x = torch.cat([params["C"][a] for a in context])
        rows.append(params["W2"] @ torch.tanh(params["W1"] @ x + params["b1"]) + params["b2"])
    return torch.stack(rows)


def permuted_by_matrix(params: Any, perm: Any) -> dict[str, Any]:
    P = torch.eye(len(perm), dtype=params["W1"].dtype)[perm]
    return {
        "C": params["C"],
        "W1": P @ params["W1"],
        "b1": P @ params["b1"],
        "W2": params["W2"] @ P.T,
        "b2": params["b2"],
    }


def permuted_by_lists(params: Any, perm: Any) -> dict[str, Any]:
    order = [int(i) for i in perm]
    new = {name: p.detach().clone() for name, p in params.items()}
    new["W1"] = torch.stack([params["W1"][i] for i in order])
    new["b1"] = torch.stack([params["b1"][i] for i in order])
    new["W2"] = torch.stack([params["W2"][:, i] for i in order], dim=1)
    return new


def permuted_by_select(params: Any, perm: Any) -> dict[str, Any]:
    new = dict(params)
    new.update(W1=params["W1"].index_select(0, perm), b1=params["b1"].index_select(0, perm),
               W2=params["W2"].index_select(1, perm))  # fmt: skip
    return {name: p.detach().numpy() for name, p in new.items()}


def step_by_grad(params: Any, contexts: Any, targets: Any, lr: float) -> float:
    loss = F.cross_entropy(logits_by_linear(params, contexts), targets)
    gradients = torch.autograd.grad(loss, list(params.values()))
    with torch.no_grad():
        for p, g in zip(params.values(), gradients, strict=True):
            p.sub_(lr * g)
    return float(loss)


def step_by_data(params: Any, contexts: Any, targets: Any, lr: float) -> Any:
    z = logits_by_blocks(params, contexts)
    loss = (torch.logsumexp(z, 1) - z[torch.arange(len(z)), targets]).mean()
    for p in params.values():
        if p.grad is not None:
            p.grad.zero_()
    loss.backward()
    for p in params.values():
        p.data -= lr * p.grad
    return np.float64(loss.item())


def step_with_new_leaves(params: Any, contexts: Any, targets: Any, lr: float) -> float:
    for p in params.values():
        p.grad = None
    loss = -F.log_softmax(logits_by_linear(params, contexts), 1).gather(1, targets[:, None]).mean()
    loss.backward()
    for name, p in list(params.items()):
        params[name] = (p - lr * p.grad).detach().requires_grad_()
    return loss.item()


def evaluate_at_once(params: Any, contexts: Any, targets: Any, batch_size: int = 4096) -> Any:
    with torch.inference_mode():
        return F.cross_entropy(logits_by_linear(params, contexts), targets)


def evaluate_weighted(params: Any, contexts: Any, targets: Any, batch_size: int = 4096) -> float:
    total, n = 0.0, len(targets)
    for i in range(0, n, batch_size):
        z = logits_by_linear(params, contexts[i : i + batch_size]).detach()
        some = targets[i : i + batch_size]
        total += F.cross_entropy(z, some).item() * len(some) / n
    return total


def evaluate_listed(params: Any, contexts: Any, targets: Any, batch_size: int = 4096) -> float:
    losses: list[float] = []
    with torch.no_grad():
        for c, t in zip(contexts.split(batch_size), targets.split(batch_size), strict=True):
            losses += F.cross_entropy(logits_by_blocks(params, c), t, reduction="none").tolist()
    return sum(losses) / len(losses)


def bigram_by_counter(train_ids: Any, val_ids: Any, V: int) -> float:
    a, b = train_ids.tolist(), val_ids.tolist()
    pairs, firsts = Counter(pairwise(a)), Counter(a[:-1])
    losses = [-math.log((pairs[x, y] + 1) / (firsts[x] + V)) for x, y in pairwise(b)]
    return sum(losses) / len(losses)


def bigram_by_numpy(train_ids: Any, val_ids: Any, V: int) -> Any:
    counts = np.ones((V, V))
    np.add.at(counts, (train_ids[:-1].numpy(), train_ids[1:].numpy()), 1)
    log_p = np.log(counts) - np.log(counts.sum(1, keepdims=True))
    return -log_p[val_ids[:-1].numpy(), val_ids[1:].numpy()].mean()


def bigram_by_loop(train_ids: Any, val_ids: Any, V: int) -> Any:
    counts = torch.ones(V, V)
    for i in range(len(train_ids) - 1):
        counts[train_ids[i], train_ids[i + 1]] += 1
    return F.nll_loss(counts.log()[val_ids[:-1]] - counts.sum(1).log()[val_ids[:-1], None], val_ids[1:])


def batch_by_rand(rng: Any, n: int, size: int) -> Any:
    return (torch.rand(size, generator=rng) * n).long()


def batch_by_multinomial(rng: Any, n: int, size: int) -> Any:
    return torch.multinomial(torch.ones(n), size, replacement=True, generator=rng)


def batch_one_by_one(rng: Any, n: int, size: int) -> Any:
    return torch.cat([torch.randint(0, n, (1,), generator=rng) for _ in range(size)])


def train_by_while(params, contexts, targets, *, steps, batch_size, lr, rng, callback=None):  # type: ignore[no-untyped-def]
    losses: list[float] = []
    while len(losses) < steps:
        i = batch_by_rand(rng, len(contexts), batch_size)
        losses += [step_by_grad(params, contexts[i], targets[i], lr(len(losses)))]
        if callback:
            callback(len(losses) - 1, losses[-1])
    return losses


def train_inline(params, contexts, targets, *, steps, batch_size, lr, rng, callback=None):  # type: ignore[no-untyped-def]
    callback = callback or (lambda step, loss: None)
    losses = torch.zeros(steps, dtype=torch.float64)
    batches = torch.randint(len(targets), (steps, batch_size), generator=rng)
    for step, batch in enumerate(batches):
        losses[step] = step_by_data(params, contexts[batch], targets[batch], lr(step))
        callback(step, losses[step].item())
    return losses


def train_with_sgd(params, contexts, targets, *, steps, batch_size, lr, rng, callback=None):  # type: ignore[no-untyped-def]
    optimizer = torch.optim.SGD(params.values(), lr=1.0)

    def one(step: int) -> float:
        optimizer.param_groups[0]["lr"] = lr(step)
        batch = batch_one_by_one(rng, len(targets), batch_size)
        optimizer.zero_grad()
        loss = F.cross_entropy(logits_by_linear(params, contexts[batch]), targets[batch])
        loss.backward()
        optimizer.step()
        if callback is not None:
            callback(step, loss.item())
        return loss.item()

    return [one(step) for step in range(steps)]


def checkpoints_by_walking(L: int, h: int, B: int, every: int) -> list[int]:
    return [layers * h * B for layers in walked(L, every)]


def generate_by_window(params: Any, prompt: list[int], n: int, rng: Any) -> list[int]:
    k = params["W1"].shape[1] // params["C"].shape[1]
    window, new = prompt[-k:], []
    for _ in range(n):
        p = F.softmax(logits_by_linear(params, torch.tensor(window)[None]), -1)
        new.append(int(torch.multinomial(p[0].detach(), 1, generator=rng)))
        window = [*window[1:], new[-1]]
    return new


def generate_by_gumbel(params: Any, prompt: list[int], n: int, rng: Any) -> Any:
    k = params["W1"].shape[1] // params["C"].shape[1]
    ids = torch.tensor(prompt)
    with torch.no_grad():
        for _ in range(n):
            z = logits_by_blocks(params, ids[None, -k:])[0]
            noise = -torch.log(-torch.log(torch.rand(len(z), generator=rng, dtype=torch.float64)))
            ids = torch.cat([ids, (z + noise).argmax()[None]])
    return ids[len(prompt) :]


def generate_by_cumulation(params: Any, prompt: list[int], n: int, rng: Any) -> list[int]:
    k = params["W1"].shape[1] // params["C"].shape[1]
    ids = prompt[:]
    for _ in range(n):
        p = torch.exp(F.log_softmax(logits_by_linear(params, torch.tensor([ids[-k:]])), 1))[0]
        ids += [int((p.cumsum(0) < torch.rand(1, generator=rng)).sum().clamp(max=len(p) - 1))]
    return ids[-n:]


OTHERS: dict[str, list[tuple[Any, ...]]] = {
    "5.1": [
        (
            vocabulary_by_loop,
            lambda text, v: torch.LongTensor([v.index(c) for c in text]),
            lambda ids, v: "".join([v[i] for i in ids]),
            split_by_torch,
            windows_by_loop,
        ),
        (
            lambda text: sorted(Counter(text)),
            lambda text, v: torch.from_numpy(np.searchsorted(np.array(v), np.array(list(text)))),
            lambda ids, v: "".join(map(v.__getitem__, ids.tolist())),
            lambda ids, fraction=0.9: (ids[: int(len(ids) * fraction)].clone(), ids[int(len(ids) * fraction) :].clone()),
            windows_by_index,
        ),
        (
            lambda text: [chr(i) for i in range(128) if chr(i) in text],
            lambda text, v: torch.tensor([{c: i for i, c in enumerate(v)}[c] for c in text], dtype=torch.long),
            lambda ids, v: "".join(np.array(v)[np.asarray(ids)].tolist()),
            split_by_torch,
            windows_by_numpy,
        ),
        (
            vocabulary_by_loop,
            lambda text, v: torch.tensor([v.index(c) for c in text]),
            lambda ids, v: "".join(v[i] for i in ids),
            split_by_torch,
            lambda ids, k: (ids.unfold(0, k, 1)[:-1], ids[k:]),
        ),
    ],
    "5.2": [
        (lambda V, d, k, h: (V + h * k) * d + h * (1 + V) + V, lambda V, k: V * V**k),
        (lambda V, d, k, h: sum(map(math.prod, ((V, d), (h, k * d), (h,), (V, h), (V,)))), lambda V, k: math.prod([V] * (k + 1))),
        (lambda V, d, k, h: float(V * d + k * d * h + h + h * V + V), lambda V, k: np.int64(V) ** (k + 1)),
    ],
    "5.3": [
        (init_by_normal, logits_by_linear),
        (init_in_float64, logits_by_blocks),
        (init_without_hidden_bias, logits_one_by_one),
    ],
    "5.9": [(permuted_by_matrix,), (permuted_by_lists,), (permuted_by_select,)],
    "5.11": [
        (lambda: {"passes": (30, 60, 90), "too_late": 2},),
        (lambda: {"passes": [30.0 * n for n in (1, 2, 3)], "too_late": 2.0},),
        (lambda: {"passes": torch.tensor([30.0, 60.0, 90.0]), "too_late": np.float32(2), "note": "n times"},),
    ],
    "5.4": [(step_by_grad,), (step_by_data,), (step_with_new_leaves,)],
    "5.5": [
        (evaluate_at_once, lambda nats: nats * math.log2(math.e), bigram_by_counter),
        (evaluate_weighted, lambda nats: nats / np.log(2), bigram_by_numpy),
        (evaluate_listed, lambda nats: math.log2(math.exp(nats)), bigram_by_loop),
    ],
    "5.6": [(batch_by_rand,), (batch_by_multinomial,), (batch_one_by_one,)],
    "5.7": [(train_by_while,), (train_inline,), (train_with_sgd,)],
    "5.10": [
        (lambda L, h, B: sum(h * B for _ in range(L)), checkpoints_by_walking),
        (lambda L, h, B: L * B * h, lambda L, h, B, every: ((L / every + every - 1) * h * B, (L - L / every) * h * B)),
        (lambda L, h, B: np.prod([L, h, B]), lambda L, h, B, every: (h * B * (L // every + every - 1), L // every * (every - 1) * h * B)),
    ],
    "5.8": [(generate_by_window,), (generate_by_gumbel,), (generate_by_cumulation,)],
}  # fmt: skip


@pytest.mark.parametrize(("id", "k"), [(id, k) for id, some in OTHERS.items() for k in range(len(some))])
def test_right_answers_in_other_styles_pass(id: str, k: int) -> None:
    for nonce in range(3):
        verdict = verdict_on(EXERCISES[id], OTHERS[id][k], nonce)
        assert verdict.status == PASSED, verdict.text()


# ---- wrong answers --------------------------------------------------------------------------------------------------


def test_the_listed_misconceptions_are_all_here() -> None:
    wanted = """gradients-not-cleared cleared-too-late update-inside-graph leaf-replaced loss-keeps-graph graph-cut
        targets-as-column ragged-average target-not-shifted target-shifted-twice split-overlaps split-scattered
        step-uphill units-start-equal bits-not-divided"""
    assert set(wanted.split()) <= {fault.name for fault in FAULTS}


def test_every_fault_shows_somewhere() -> None:
    assert {m.name for e in LESSON.exercises for m in e.misconceptions} == {fault.name for fault in FAULTS}


@pytest.mark.parametrize(
    ("id", "overrides", "kept"),
    [
        ("5.1", {"encode": lambda R: lambda text, v: R.right.encode(text, v) + 1}, 6),
        ("5.1", {"make_dataset": lambda R: lambda ids, k: (ids[: 1 - k or None].unfold(0, k, 1), ids[k - 1 :])}, 5),
        ("5.3", {"leaf": lambda R: lambda p: p}, 5),
        ("5.3", {"activation": lambda R: lambda u: u}, 4),
        ("5.4", {"reported": lambda R: lambda loss: loss}, 6),
        ("5.4", {"clear": lambda R: lambda params: None}, 5),
        ("5.5", {"joined": lambda R: lambda parts: sum(x for x, _ in parts) / len(parts)}, 5),
        ("5.5", {"bits_per_character": lambda R: lambda nats: nats}, 6),
        ("5.8", {"choose": lambda R: lambda z, rng: z.argmax()}, 3.5),
    ],
)
def test_one_mistake_costs_only_its_part(id: str, overrides: Any, kept: float) -> None:
    rules = make_rules(**overrides)
    exercise = EXERCISES[id]
    verdict = verdict_on(exercise, tuple(getattr(rules, name) for name in exercise.names))
    assert verdict.score == pytest.approx(kept), verdict.text()


@pytest.mark.parametrize("id", IDS)
def test_what_nobody_listed_is_located(id: str) -> None:
    """A wrong rule without a name: no name is given, and the message says where."""
    rules = make_rules(
        split=lambda R: lambda ids, fraction=0.9: R.right.split(ids, fraction / 2),
        count_parameters=lambda R: lambda V, d, k, h: 7,
        activation=lambda R: lambda u: R.torch.tanh(u) + 0.25,
        permute_hidden=lambda R: lambda params, perm: {n: p * 1.5 for n, p in params.items()},
        my_prediction=lambda R: lambda: {"passes": [1, 2, 3], "too_late": 9},
        bits_per_character=lambda R: lambda nats: nats + 1,
        minibatch=lambda R: lambda rng, n, size: R.right.minibatch(rng, 2, size),
        checkpointed=lambda R: lambda L, h, B, every: (L, 1),
        choose=lambda R: lambda z, rng: R.right.choose(-z, rng),
    )
    exercise = EXERCISES[id]
    verdict = verdict_on(exercise, tuple(getattr(rules, name) for name in exercise.names))
    assert verdict.status in (FAILED, PARTIAL)
    assert verdict.misconceptions == []
    assert verdict.where and verdict.message


@pytest.mark.parametrize("id", IDS)
@pytest.mark.parametrize(
    "answer",
    [None, "0.5", [[1.0], [1.0, 2.0]], {"x": 1}, torch.full((2, 2), torch.nan), 1j, object(), True, (1, 2)],
    ids=["none", "text", "ragged", "dict", "nan", "complex", "object", "bool", "pair"],
)
def test_answers_of_odd_types_fail_with_a_message(id: str, answer: Any) -> None:
    exercise = EXERCISES[id]
    verdict = verdict_on(exercise, (lambda *args, **more: answer,) * len(exercise.names))
    assert verdict.status not in (PASSED, UNANSWERED)
    assert verdict.score <= 1.0  # a function that does nothing also changes nothing
    assert verdict.message and "Traceback" not in verdict.message


@pytest.mark.parametrize("id", IDS)
@pytest.mark.parametrize(
    "value",
    [None, [], {}, 7, "x", {"shape": [2], "dtype": "f", "values": [1.0, "x"]}, {"ids": None, "losses": "abc", "kept": 3},
     {"first": {"shape": ["a"], "values": {}}, "params": [], "loss": "much", "train": {}}],
)  # fmt: skip
def test_evidence_that_no_probe_gives_fails(id: str, value: Any) -> None:
    exercise = EXERCISES[id]
    cases = [*exercise.worked(), *exercise.cases(random.Random(1))]
    verdict = judge(exercise, cases, [{"value": value} for _ in cases])
    assert verdict.status in (FAILED, PARTIAL)
    assert verdict.score <= 1.0


def test_a_function_that_is_not_there_is_reported_as_missing() -> None:
    verdict = verdict_on(EXERCISES["5.6"], (3.0,))
    assert "minibatch" in verdict.message and "not a function" in verdict.message


def test_a_stub_further_back_is_named(solved: dict[str, Any]) -> None:
    names = dict(learners_names("5-ngram-training", filled=False))
    code = next(cell for cell in read(SOURCE).cells if cell.grade_id == "5.7-solution").without_markers(SOLUTION)
    exec(code, names)
    verdict = verdict_on(EXERCISES["5.7"], (names["train"],))
    assert "builds on 5.6" in verdict.message


# ---- cases and references -------------------------------------------------------------------------------------------


def test_the_walk_through_checkpoints_agrees_with_the_formula() -> None:
    for every in range(1, 7):
        for segments in range(1, 7):
            L = every * segments
            assert walked(L, every) == (segments + every - 1, L - segments)


def test_a_list_of_losses_without_end_is_looked_at_so_far_only() -> None:
    """Evidence may hold a million numbers; to look up each would hold up the class for a minute."""
    exercise = EXERCISES["5.7"]
    case = next(case for case in exercise.worked() if case["part"] == "batches")
    assert len(drawn(case, [0.0] * 1_000_000)) == 1000
