"""Lesson 5's functions, and every fault of the lesson as a wrong function in the right place.

`make_rules()` gives right functions by the names of lesson 5, which call each other through one namespace;
`make_rules(evaluate=...)` puts another function in the place of one of them. A wrong function takes the rules first, so
that it can call the others; PyTorch is `R.torch`, imported when rules are first made.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

from autograder.exercises.array_rules import Overrides, Replacement, Rules, Variant, everywhere, through
from autograder.exercises.model import Misconception

Tensor = Any
ARGUMENTS = {
    "5.1": ("build_vocabulary", "encode", "decode", "split", "make_dataset"),
    "5.2": ("count_parameters", "count_table"),
    "5.3": ("init_params", "ngram_logits"),
    "5.9": ("permute_hidden",),
    "5.11": ("my_prediction",),
    "5.4": ("train_step",),
    "5.5": ("evaluate", "bits_per_character", "bigram_loss"),
    "5.6": ("minibatch",),
    "5.7": ("train",),
    "5.10": ("activations_stored", "checkpointed"),
    "5.8": ("generate",),
}

CHARACTERS = ("Characters become numbers", "Characters-become-numbers")
SPLIT = ("Split first, then cut windows", "Split-first,-then-cut-windows")
COUNTING = ("How many numbers to learn", "How-many-numbers-to-learn")
MODEL = ("The model in PyTorch", "The-model-in-PyTorch")
TWINS = ("Hidden units have no order", "Hidden-units-have-no-order")
CLEARING = ("Gradients pile up", "Gradients-pile-up")
STEP = ("One step downhill", "One-step-downhill")
MEASURING = ("What the loss means", "What-the-loss-means")
BATCHES = ("A few examples for all", "A-few-examples-for-all")
LOOP = ("The training loop", "The-training-loop")
MEMORY = ("What the backward pass must remember", "What-the-backward-pass-must-remember")
SAMPLING = ("The model writes", "The-model-writes")

# Three rounds of (3w − 1)² at w = 2; a step of which the gradient was cleared too early.
ROUNDS, TOO_LATE = (30.0, 60.0, 90.0), 2.0


def make_rules(**overrides: Replacement) -> Rules:
    """Right rules, some of them replaced."""
    import torch
    from torch.nn import functional

    rules = SimpleNamespace(torch=torch, functional=functional)

    def build_vocabulary(text: str) -> list[str]:
        return sorted(set(text))

    def encode(text: str, vocabulary: list[str]) -> Tensor:
        return torch.tensor([vocabulary.index(c) for c in text], dtype=torch.int64)

    def decode(ids: Any, vocabulary: list[str]) -> str:
        return "".join(vocabulary[int(i)] for i in ids)

    def split(ids: Tensor, fraction: float = 0.9) -> tuple[Tensor, Tensor]:
        n = int(fraction * len(ids))
        return ids[:n], ids[n:]

    def make_dataset(ids: Tensor, k: int) -> tuple[Tensor, Tensor]:
        return ids[:-1].unfold(0, k, 1), ids[k:]

    def count_parameters(V: int, d: int, k: int, h: int) -> int:
        return V * d + k * d * h + h + h * V + V

    def count_table(V: int, k: int) -> int:
        return int(V ** (k + 1))

    def init_params(V: int, d: int, k: int, h: int, rng: Any) -> dict[str, Tensor]:
        params = {name: rules.drawn(scale, shape, rng) for name, scale, shape in rules.recipe(V, d, k, h)}
        return {name: rules.leaf(p) for name, p in params.items()}

    def recipe(V: int, d: int, k: int, h: int) -> list[tuple[str, float, tuple[int, ...]]]:
        shapes = {"C": (V, d), "W1": (h, k * d), "b1": (h,), "W2": (V, h), "b2": (V,)}
        return [(name, rules.scales[name], shape) for name, shape in shapes.items()]

    def context_vectors(params: Any, contexts: Tensor) -> Tensor:
        return rules.embed(params["C"], contexts)

    def embed(C: Tensor, contexts: Tensor) -> Tensor:
        return C[contexts].reshape(len(contexts), -1)

    def ngram_logits(params: Any, contexts: Tensor) -> Tensor:
        u = rules.context_vectors(params, contexts) @ params["W1"].T + params["b1"]
        return rules.activation(u) @ params["W2"].T + params["b2"]

    def permute_hidden(params: Any, perm: Tensor) -> dict[str, Tensor]:
        return {**params, "W1": params["W1"][perm], "b1": params["b1"][perm], "W2": params["W2"][:, perm]}

    def train_step(params: Any, contexts: Tensor, targets: Tensor, lr: float) -> Any:
        rules.clear(params)
        loss = rules.batch_loss(params, contexts, targets)
        loss.backward()
        rules.update(params, lr)
        return rules.reported(loss)

    def clear(params: Any) -> None:
        for p in params.values():
            p.grad = None

    def batch_loss(params: Any, contexts: Tensor, targets: Tensor) -> Tensor:
        return functional.cross_entropy(rules.ngram_logits(params, contexts), targets)

    def update(params: Any, lr: float) -> None:
        with torch.no_grad():
            for p in params.values():
                p -= lr * p.grad

    def evaluate(params: Any, contexts: Tensor, targets: Tensor, batch_size: int = 4096) -> float:
        with torch.no_grad():
            parts = [
                (rules.batch_loss(params, c, t).item(), len(t))
                for c, t in zip(contexts.split(batch_size), targets.split(batch_size), strict=True)
            ]
        return float(rules.joined(parts))

    def bits_per_character(nats: float) -> float:
        return nats / math.log(2)

    def bigram_counts(ids: Tensor, V: int) -> Tensor:
        counts = torch.zeros(V, V, dtype=torch.float64)
        counts.index_put_((ids[:-1], ids[1:]), torch.ones(1, dtype=torch.float64), accumulate=True)
        return counts

    def bigram_table(counts: Tensor) -> Tensor:
        return (counts + 1) / (counts + 1).sum(dim=1, keepdim=True)

    def bigram_loss(train_ids: Tensor, val_ids: Tensor, V: int) -> float:
        table = rules.bigram_table(rules.bigram_counts(train_ids, V))
        return float(-table[val_ids[:-1], val_ids[1:]].log().mean())

    def minibatch(rng: Any, n: int, size: int) -> Tensor:
        return torch.randint(n, (size,), generator=rng)

    def train(params: Any, contexts: Tensor, targets: Tensor, *, steps: int, batch_size: int, lr: Any, rng: Any,
              callback: Any = None) -> list[float]:  # fmt: skip
        losses: list[float] = []
        for step in range(steps):
            batch = rules.minibatch(rng, len(targets), batch_size)
            losses.append(rules.train_step(params, contexts[batch], targets[batch], lr(step)))
            if callback is not None:
                callback(step, losses[-1])
        return losses

    def activations_stored(L: int, h: int, B: int) -> int:
        return L * h * B

    def checkpointed(L: int, h: int, B: int, every: int) -> tuple[int, int]:
        return (L // every + every - 1) * h * B, (L - L // every) * h * B

    def generate(params: Any, prompt: list[int], n: int, rng: Any) -> list[int]:
        k = params["W1"].shape[1] // params["C"].shape[1]
        ids = list(prompt)
        for _ in range(n):
            z = rules.ngram_logits(params, torch.tensor([ids[-k:]]))[0]
            ids.append(int(rules.choose(z.detach(), rng)))
        return ids[len(prompt) :]

    def choose(z: Tensor, rng: Any) -> Tensor:
        return torch.multinomial(torch.softmax(z, 0), 1, generator=rng)

    rules.__dict__.update(
        build_vocabulary=build_vocabulary,
        encode=encode,
        decode=decode,
        split=split,
        make_dataset=make_dataset,
        count_parameters=count_parameters,
        count_table=count_table,
        init_params=init_params,
        recipe=recipe,
        scales={"C": 1.0, "W1": 0.2, "b1": 0.01, "W2": 0.01, "b2": 0.0},
        drawn=lambda scale, shape, rng: scale * torch.randn(shape, generator=rng),
        leaf=lambda p: p.requires_grad_(),
        context_vectors=context_vectors,
        embed=embed,
        activation=torch.tanh,
        ngram_logits=ngram_logits,
        permute_hidden=permute_hidden,
        my_prediction=lambda: {"passes": list(ROUNDS), "too_late": TOO_LATE},
        train_step=train_step,
        clear=clear,
        batch_loss=batch_loss,
        update=update,
        reported=lambda loss: loss.item(),
        evaluate=evaluate,
        joined=lambda parts: sum(loss * n for loss, n in parts) / sum(n for _, n in parts),
        bits_per_character=bits_per_character,
        bigram_counts=bigram_counts,
        bigram_table=bigram_table,
        bigram_loss=bigram_loss,
        minibatch=minibatch,
        train=train,
        activations_stored=activations_stored,
        checkpointed=checkpointed,
        generate=generate,
        choose=choose,
    )
    rules.right = SimpleNamespace(**rules.__dict__)
    for name, make in overrides.items():
        setattr(rules, name, make(rules))
    return rules


# ---- wrong functions ------------------------------------------------------------------------------------------------


class Fault:
    """A wrong rule of lesson 5: its name, what to say to a learner who holds it, the section to reread, its forms."""

    def __init__(self, name: str, says: str, reread: tuple[str, str], *variants: Variant) -> None:
        self.name, self.says, self.reread, self.variants = name, says, reread, variants


def wrong(exercises: str | tuple[str, ...], **functions: Callable[..., Any]) -> Variant:
    """Functions in the place of right ones, as they show in the exercises; each takes the rules first."""
    overrides: dict[str, Replacement] = {}
    for name, function in functions.items():
        overrides |= through(name, function)
    return everywhere(overrides, *((exercises,) if isinstance(exercises, str) else exercises))


def constants(exercise: str, **values: Any) -> Variant:
    return everywhere({name: _always(value) for name, value in values.items()}, exercise)


def _always(value: Any) -> Replacement:
    return lambda rules: value


def by_frequency(R: Rules, text: str) -> list[str]:
    return sorted(set(text), key=lambda c: (-text.count(c), c))


def overlapping_split(R: Rules, ids: Tensor, fraction: float = 0.9) -> tuple[Tensor, Tensor]:
    n = int(fraction * len(ids))
    return ids[:n], ids[max(n - 1, 0) :]


def every_tenth(R: Rules, ids: Tensor, fraction: float = 0.9) -> tuple[Tensor, Tensor]:
    held = R.torch.arange(len(ids)) % 10 == 9
    return ids[~held], ids[held]


def windows(first: int, shift: int, last: int, stride: int = 1) -> Callable[..., Any]:
    """Windows from place i, with the target `shift` after the window's last character."""

    def make_dataset(R: Rules, ids: Tensor, k: int) -> tuple[Tensor, Tensor]:
        at = list(range(first, len(ids) - k - max(shift, 1) + 1 - last, stride))
        contexts = R.torch.stack([ids[i : i + k] for i in at])
        return contexts, R.torch.stack([ids[i + k - 1 + shift] for i in at])

    return make_dataset


def wrapped_windows(R: Rules, ids: Tensor, k: int) -> tuple[Tensor, Tensor]:
    return R.torch.stack([ids.roll(-i)[:k] for i in range(len(ids))]), ids.roll(-k)


def padded_windows(R: Rules, ids: Tensor, k: int) -> tuple[Tensor, Tensor]:
    padded = R.torch.cat([R.torch.zeros(k, dtype=ids.dtype), ids])
    return padded[:-1].unfold(0, k, 1), ids


def backward_windows(R: Rules, ids: Tensor, k: int) -> tuple[Tensor, Tensor]:
    contexts, targets = R.right.make_dataset(ids, k)
    return contexts.flip(1), targets


def many_targets(R: Rules, ids: Tensor, k: int) -> tuple[Tensor, Tensor]:
    return ids[:-1].unfold(0, k, 1), ids[1:].unfold(0, k, 1)


def columns_of_targets(R: Rules, ids: Tensor, k: int) -> tuple[Tensor, Tensor]:
    contexts, targets = R.right.make_dataset(ids, k)
    return contexts, targets[:, None]


def interleaved(R: Rules, C: Tensor, contexts: Tensor) -> Tensor:
    return C[contexts].transpose(1, 2).reshape(len(contexts), -1)


def without_biases(R: Rules, params: Any, contexts: Tensor) -> Tensor:
    return R.torch.tanh(R.embed(params["C"], contexts) @ params["W1"].T) @ params["W2"].T


def bias_as_column(R: Rules, params: Any, contexts: Tensor) -> Tensor:
    u = R.embed(params["C"], contexts) @ params["W1"].T + params["b1"][:, None]
    return R.torch.tanh(u) @ params["W2"].T + params["b2"]


def rows_and_columns(rows: Callable[[Rules, Tensor], Any], columns: Callable[[Rules, Tensor], Any], bias: bool = True):  # type: ignore[no-untyped-def]
    """permute_hidden with other permutations for the rows of W1 (and b1) and the columns of W2."""

    def permute_hidden(R: Rules, params: Any, perm: Tensor) -> dict[str, Tensor]:
        r, c = rows(R, perm), columns(R, perm)
        b1 = params["b1"][r] if bias else params["b1"]
        return {**params, "W1": params["W1"][r], "b1": b1, "W2": params["W2"][:, c]}

    return permute_hidden


def as_is(R: Rules, perm: Tensor) -> Tensor:
    return perm


def unmoved(R: Rules, perm: Tensor) -> Tensor:
    return R.torch.arange(len(perm))


def inverse(R: Rules, perm: Tensor) -> Tensor:
    return R.torch.argsort(perm)


def permuted_in_place(R: Rules, params: Any, perm: Tensor) -> Any:
    with R.torch.no_grad():
        params["W1"].copy_(params["W1"][perm].clone())
        params["b1"].copy_(params["b1"][perm].clone())
        params["W2"].copy_(params["W2"][:, perm].clone())
    return params


def entries_replaced(R: Rules, params: Any, perm: Tensor) -> Any:
    params.update(R.right.permute_hidden(params, perm))
    return params


def cleared_too_late(R: Rules, params: Any, contexts: Tensor, targets: Tensor, lr: float) -> Any:
    """zero_grad between backward and the update."""
    loss = R.batch_loss(params, contexts, targets)
    loss.backward()
    for p in params.values():
        p.grad.zero_()
    R.update(params, lr)
    return loss.item()


def new_names_only(R: Rules, params: Any, lr: float) -> None:
    with R.torch.no_grad():
        for p in params.values():
            p = p - lr * p.grad  # the fault itself


def inside_the_graph(R: Rules, params: Any, lr: float) -> None:
    for p in params.values():
        p -= lr * p.grad


def replaced_by_results(R: Rules, params: Any, lr: float) -> None:
    for name, p in params.items():
        params[name] = p - lr * p.grad


def replaced_without_tracking(R: Rules, params: Any, lr: float) -> None:
    with R.torch.no_grad():
        for name, p in params.items():
            params[name] = p - lr * p.grad


def stepped(factor: Callable[[float], float], names: tuple[str, ...] = ("C", "W1", "b1", "W2", "b2")) -> Any:
    def update(R: Rules, params: Any, lr: float) -> None:
        with R.torch.no_grad():
            for name in names:
                params[name] -= factor(lr) * params[name].grad

    return update


def loss_after_update(R: Rules, params: Any, contexts: Tensor, targets: Tensor, lr: float) -> Any:
    R.right.train_step(params, contexts, targets, lr)
    with R.torch.no_grad():
        return R.batch_loss(params, contexts, targets).item()


def summed_loss(R: Rules, params: Any, contexts: Tensor, targets: Tensor) -> Tensor:
    return R.functional.cross_entropy(R.ngram_logits(params, contexts), targets, reduction="sum")


def double_softmax(R: Rules, params: Any, contexts: Tensor, targets: Tensor) -> Tensor:
    return R.functional.cross_entropy(R.ngram_logits(params, contexts).softmax(1), targets)


def full_batches_only(R: Rules, parts: list[tuple[float, int]]) -> float:
    kept = [p for p in parts if p[1] == parts[0][1]]
    return float(R.right.joined(kept))


def backward_in_evaluate(R: Rules, params: Any, contexts: Tensor, targets: Tensor, batch_size: int = 4096) -> float:
    R.batch_loss(params, contexts, targets).backward()
    return float(R.right.evaluate(params, contexts, targets, batch_size))


def steps_in_evaluate(R: Rules, params: Any, contexts: Tensor, targets: Tensor, batch_size: int = 4096) -> float:
    found = float(R.right.evaluate(params, contexts, targets, batch_size))
    R.right.train_step(params, contexts, targets, 0.1)
    R.clear(params)
    return found


def from_validation(R: Rules, train_ids: Tensor, val_ids: Tensor, V: int) -> float:
    return float(R.right.bigram_loss(val_ids, val_ids, V))


def unigram(R: Rules, train_ids: Tensor, val_ids: Tensor, V: int) -> float:
    p = (R.torch.bincount(train_ids, minlength=V).double() + 1) / (len(train_ids) + V)
    return float(-p[val_ids[1:]].log().mean())


def on_training(R: Rules, train_ids: Tensor, val_ids: Tensor, V: int) -> float:
    return float(R.right.bigram_loss(train_ids, train_ids, V))


def table(change: Callable[[Tensor], Tensor]) -> Callable[..., Tensor]:
    return lambda R, counts: change(counts)


def drawn_below(low: int, less: int) -> Callable[..., Any]:
    def minibatch(R: Rules, rng: Any, n: int, size: int) -> Tensor:
        return R.torch.randint(low, n - less, (size,), generator=rng)

    return minibatch


def without_replacement(R: Rules, rng: Any, n: int, size: int) -> Tensor:
    return R.torch.randperm(n, generator=rng)[:size]


def own_randomness(R: Rules, rng: Any, n: int, size: int) -> Tensor:
    return R.torch.randint(n, (size,))


def always_the_first(R: Rules, rng: Any, n: int, size: int) -> Tensor:
    return R.torch.arange(size) % n


def same_seed_again(R: Rules, rng: Any, n: int, size: int) -> Tensor:
    return R.torch.randint(n, (size,), generator=R.torch.Generator().manual_seed(rng.initial_seed()))


def neighbours(R: Rules, rng: Any, n: int, size: int) -> Tensor:
    return (R.torch.randint(n, (1,), generator=rng) + R.torch.arange(size)) % n


def loop(
    *,
    rate: Callable[[Any, int], float] = lambda lr, step: lr(step),
    extra: int = 0,
    batch: Callable[..., Tensor] | None = None,
    once: bool = False,
    kept: Callable[[list[float]], list[float]] = lambda losses: losses,
    told: Callable[[Any, int, list[float]], None] = lambda callback, step, losses: callback(step, losses[-1]),
) -> Callable[..., Any]:
    """A training loop with other habits."""

    def train(R: Rules, params: Any, contexts: Tensor, targets: Tensor, *, steps: int, batch_size: int, lr: Any,
              rng: Any, callback: Any = None) -> list[float]:  # fmt: skip
        draw = partial(batch, R) if batch else R.minibatch
        losses: list[float] = []
        drawn = None
        for step in range(steps + extra):
            drawn = drawn if once and drawn is not None else draw(rng, len(targets), batch_size)
            losses.append(R.train_step(params, contexts[drawn], targets[drawn], rate(lr, step)))
            if callback is not None:
                told(callback, step, losses)
        return kept(losses)

    return train


def running_means(losses: list[float]) -> list[float]:
    return [sum(losses[: i + 1]) / (i + 1) for i in range(len(losses))]


def in_order() -> Callable[..., Any]:
    """Minibatches one after the other through the data, from the start again at the end."""

    def train(R: Rules, params: Any, contexts: Tensor, targets: Tensor, *, steps: int, batch_size: int, lr: Any,
              rng: Any, callback: Any = None) -> list[float]:  # fmt: skip
        losses: list[float] = []
        for step in range(steps):
            batch = (R.torch.arange(batch_size) + step * batch_size) % len(targets)
            losses.append(R.train_step(params, contexts[batch], targets[batch], lr(step)))
            if callback is not None:
                callback(step, losses[-1])
        return losses

    return train


def generated(
    context: Callable[[list[int], int, list[int]], list[int]] = lambda ids, k, prompt: ids[-k:],
    result: Callable[[list[int], int], list[int]] = lambda ids, given: ids[given:],
    more: int = 0,
    in_place: bool = False,
) -> Callable[..., Any]:
    """generate with another context, or another part of the ids as its result."""

    def generate(R: Rules, params: Any, prompt: list[int], n: int, rng: Any) -> list[int]:
        k = params["W1"].shape[1] // params["C"].shape[1]
        start = list(prompt)
        ids = prompt if in_place else list(prompt)
        for _ in range(n + more):
            z = R.ngram_logits(params, R.torch.tensor([context(ids, k, start)]))[0]
            ids.append(int(R.choose(z.detach(), rng)))
        return result(ids, len(start))

    return generate


def predicted(passes: tuple[float, ...] = ROUNDS, too_late: float = TOO_LATE) -> Variant:
    answer = {"passes": list(passes), "too_late": too_late}
    return constants("5.11", my_prediction=lambda: answer)


def parameters(count: Callable[[int, int, int, int], float]) -> Variant:
    return wrong("5.2", count_parameters=lambda R, V, d, k, h: count(V, d, k, h))


def pairs(count: Callable[[int, int, int, int], tuple[float, float]]) -> Variant:
    return wrong("5.10", checkpointed=lambda R, L, h, B, every: count(L, h, B, every))


def mapped(overrides: Overrides, *exercises: str) -> Variant:
    return Variant(overrides, exercises)


FAULTS: tuple[Fault, ...] = (
    # 5.1
    Fault(
        "vocabulary-unsorted",
        "The right characters, in another order. Token numbers are places in this list; sorted, they are the same for "
        "everybody who has the text.",
        CHARACTERS,
        wrong("5.1", build_vocabulary=lambda R, text: list(dict.fromkeys(text))),
        wrong("5.1", build_vocabulary=by_frequency),
        wrong("5.1", build_vocabulary=lambda R, text: sorted(set(text), reverse=True)),
    ),
    Fault(
        "vocabulary-with-repeats",
        "Characters stand in your vocabulary more than once. Each kind of character is one token.",
        CHARACTERS,
        wrong("5.1", build_vocabulary=lambda R, text: sorted(text)),
    ),
    Fault(
        "tokens-from-one",
        "Your token numbers begin at 1. They name rows of C, and those are counted from 0.",
        CHARACTERS,
        wrong("5.1", encode=lambda R, text, vocabulary: R.right.encode(text, vocabulary) + 1),
        wrong(
            "5.1",
            encode=lambda R, text, vocabulary: R.right.encode(text, vocabulary) + 1,
            decode=lambda R, ids, vocabulary: "".join(vocabulary[int(i) - 1] for i in ids),
        ),
    ),
    Fault(
        "code-points-as-tokens",
        "These are the characters' numbers in Unicode. A token number is a place in the vocabulary.",
        CHARACTERS,
        wrong("5.1", encode=lambda R, text, vocabulary: R.torch.tensor([ord(c) for c in text])),
    ),
    Fault(
        "decoded-with-gaps",
        "Something stands between the characters that was never in the text. They are joined with nothing in between.",
        CHARACTERS,
        wrong("5.1", decode=lambda R, ids, vocabulary: " ".join(vocabulary[int(i)] for i in ids)),
        wrong("5.1", decode=lambda R, ids, vocabulary: ", ".join(vocabulary[int(i)] for i in ids)),
    ),
    Fault(
        "split-overlaps",
        "Some ids are in both parts. What the model was trained on must not be among what it is tested on.",
        SPLIT,
        wrong("5.1", split=overlapping_split),
        wrong(
            "5.1",
            split=lambda R, ids, fraction=0.9: (ids[: int(fraction * len(ids)) + 1], ids[int(fraction * len(ids)) :]),
        ),
        wrong("5.1", split=lambda R, ids, fraction=0.9: (ids, ids[int(fraction * len(ids)) :])),
    ),
    Fault(
        "split-loses-one",
        "An id at the border is in neither part.",
        SPLIT,
        wrong(
            "5.1",
            split=lambda R, ids, fraction=0.9: (ids[: int(fraction * len(ids))], ids[int(fraction * len(ids)) + 1 :]),
        ),
        wrong(
            "5.1",
            split=lambda R, ids, fraction=0.9: (ids[: int(fraction * len(ids)) - 1], ids[int(fraction * len(ids)) :]),
        ),
    ),
    Fault(
        "split-scattered",
        "Your validation part is picked from all over the text. Then nearly every window of it overlaps with windows "
        "that were trained on. Both parts have to be contiguous.",
        SPLIT,
        wrong("5.1", split=every_tenth),
    ),
    Fault(
        "split-exchanged",
        "The parts are the wrong way round: the first and larger one is for training.",
        SPLIT,
        wrong("5.1", split=lambda R, ids, fraction=0.9: R.right.split(ids, fraction)[::-1]),
        wrong("5.1", split=lambda R, ids, fraction=0.9: R.right.split(ids, 1 - fraction)[::-1]),
    ),
    Fault(
        "fraction-ignored",
        "Nine tenths, whatever `fraction` says. The 0.9 is only what it is when nobody gives another.",
        SPLIT,
        wrong("5.1", split=lambda R, ids, fraction=0.9: R.right.split(ids, 0.9)),
    ),
    Fault(
        "target-not-shifted",
        "The target is the last character of its own context. The model can read the answer off its input, and its "
        "loss will go to 0.",
        SPLIT,
        wrong("5.1", make_dataset=windows(0, 0, 0)),
        wrong("5.1", make_dataset=windows(0, 0, -1)),
    ),
    Fault(
        "target-shifted-twice",
        "The target is the character after next. The one in between is never predicted.",
        SPLIT,
        wrong("5.1", make_dataset=windows(0, 2, 0)),
    ),
    Fault(
        "window-lost",
        "One window is missing at an end. From n ids come n − k windows: every id but the first k is a target once.",
        SPLIT,
        wrong("5.1", make_dataset=windows(0, 1, 1)),
        wrong("5.1", make_dataset=windows(1, 1, 0)),
    ),
    Fault(
        "window-without-target",
        "You have one window more than targets: the last k ids make a window too, but no id comes after it.",
        SPLIT,
        wrong("5.1", make_dataset=lambda R, ids, k: (ids.unfold(0, k, 1), ids[k:])),
    ),
    Fault(
        "windows-wrap-around",
        "Your last windows go on at the beginning of the text, as if it were a ring.",
        SPLIT,
        wrong("5.1", make_dataset=wrapped_windows),
    ),
    Fault(
        "windows-padded",
        "You fill up the first windows with token 0. That is a real character. Here a window without k characters "
        "before its target is left out.",
        SPLIT,
        wrong("5.1", make_dataset=padded_windows),
    ),
    Fault(
        "windows-backward",
        "Inside each window the characters run backward. The last entry of a context is the one right before the target.",
        SPLIT,
        wrong("5.1", make_dataset=backward_windows),
    ),
    Fault(
        "windows-side-by-side",
        "Your windows stand side by side. They overlap: the next one begins one character later.",
        SPLIT,
        wrong("5.1", make_dataset=lambda R, ids, k: windows(0, 1, 0, k)(R, ids, k)),
        wrong("5.1", make_dataset=lambda R, ids, k: windows(0, 1, 0, k + 1)(R, ids, k)),
    ),
    Fault(
        "a-target-for-each-place",
        "You give each window k targets. This model makes one prediction for a whole context.",
        SPLIT,
        wrong("5.1", make_dataset=many_targets),
    ),
    Fault(
        "targets-as-column",
        "Targets have shape (n − k, 1), where (n − k,) is asked for. Against an array of shape (n − k,) such a column "
        "is broadcast to a square, without a word.",
        SPLIT,
        wrong("5.1", make_dataset=columns_of_targets),
    ),
    # 5.2
    Fault(
        "biases-not-counted",
        "The biases are missing. b1 has one number for each hidden unit, b2 one for each character.",
        COUNTING,
        parameters(lambda V, d, k, h: V * d + k * d * h + h * V),
        parameters(lambda V, d, k, h: V * d + k * d * h + h + h * V),
        parameters(lambda V, d, k, h: V * d + k * d * h + h * V + V),
    ),
    Fault(
        "embedding-for-each-place",
        "You count the embedding table once for each place. All places read the same table.",
        COUNTING,
        parameters(lambda V, d, k, h: k * V * d + k * d * h + h + h * V + V),
    ),
    Fault(
        "embedding-not-counted",
        "The embedding table is missing. Its rows are learned like everything else.",
        COUNTING,
        parameters(lambda V, d, k, h: k * d * h + h + h * V + V),
    ),
    Fault(
        "context-not-in-first-layer",
        "Your first layer takes one embedding. It takes k of them, end to end.",
        COUNTING,
        parameters(lambda V, d, k, h: V * d + d * h + h + h * V + V),
    ),
    Fault(
        "table-without-next",
        "You count contexts. Each of the V^k contexts needs a row, with one entry for every next character.",
        COUNTING,
        wrong("5.2", count_table=lambda R, V, k: V**k),
    ),
    Fault(
        "table-linear",
        "The table's size multiplies with each further character: two places have V² combinations, not 2V.",
        COUNTING,
        wrong("5.2", count_table=lambda R, V, k: k * V * V),
        wrong("5.2", count_table=lambda R, V, k: V * (k + 1)),
        wrong("5.2", count_table=lambda R, V, k: V * k * V + V),
    ),
    # 5.3
    Fault(
        "parameters-not-leaves",
        "Multiplying a tensor that requires a gradient gives a result, not a parameter: PyTorch will keep no gradient "
        "for it. First the numbers, then requires_grad.",
        MODEL,
        mapped(
            {
                "drawn": lambda R: (
                    lambda scale, shape, rng: R.torch.randn(shape, generator=rng, requires_grad=True) * scale
                ),
                "leaf": lambda R: lambda p: p,
            },
            "5.3",
        ),
    ),
    Fault(
        "no-gradient-asked-for",
        "PyTorch was not told that these tensors are parameters, so it will compute no gradients for them.",
        MODEL,
        constants("5.3", leaf=lambda p: p),
    ),
    Fault(
        "units-start-equal",
        "Hidden units that start alike get the same gradients, and stay alike for ever: many units that count as one.",
        TWINS,
        mapped({"drawn": lambda R: lambda scale, shape, rng: R.torch.zeros(shape)}, "5.3"),
        mapped({"drawn": lambda R: lambda scale, shape, rng: R.torch.ones(shape)}, "5.3"),
        mapped({"drawn": lambda R: lambda scale, shape, rng: R.torch.full(shape, scale)}, "5.3"),
        mapped(
            {
                "drawn": lambda R: (
                    lambda scale, shape, rng: (
                        scale * R.torch.randn(shape[-1:], generator=rng).repeat(*shape[:-1], 1)
                        if len(shape) == 2 and scale > 0.1
                        else R.torch.zeros(shape)
                    )
                )
            },
            "5.3",
        ),
    ),
    Fault(
        "init-not-scaled",
        "All weights are drawn with standard deviation 1. Then the sums of a hundred terms are large, tanh saturates, "
        "and the first loss is far above log V.",
        MODEL,
        constants("5.3", scales={"C": 1.0, "W1": 1.0, "b1": 1.0, "W2": 1.0, "b2": 1.0}),
        constants("5.3", scales={"C": 1.0, "W1": 1.0, "b1": 0.0, "W2": 1.0, "b2": 0.0}),
    ),
    Fault(
        "generator-ignored",
        "Your numbers do not come from the generator `rng`. Then nobody, not even you, can repeat the experiment.",
        MODEL,
        mapped({"drawn": lambda R: lambda scale, shape, rng: scale * R.torch.randn(shape)}, "5.3"),
    ),
    Fault(
        "generator-seeded-again",
        "Every call gives the same numbers, because you make or seed a generator inside. Take the one you are given.",
        MODEL,
        wrong(
            "5.3",
            init_params=lambda R, V, d, k, h, rng: R.right.init_params(V, d, k, h, R.torch.Generator().manual_seed(0)),
        ),
        wrong("5.3", init_params=lambda R, V, d, k, h, rng: R.right.init_params(V, d, k, h, rng.manual_seed(0))),
    ),
    Fault(
        "embeddings-interleaved",
        "The embeddings are woven into each other. x holds the whole row of the first character, then the whole row "
        "of the second, and so on.",
        MODEL,
        wrong("5.3", embed=interleaved),
    ),
    Fault(
        "context-reversed",
        "Your x begins with the last character of the context.",
        MODEL,
        wrong("5.3", embed=lambda R, C, contexts: R.right.embed(C, contexts.flip(1))),
    ),
    Fault(
        "activation-missing",
        "There is no tanh in it. Two affine maps in a row are one affine map.",
        MODEL,
        constants("5.3", activation=lambda u: u),
    ),
    Fault(
        "other-activation",
        "The hidden layer uses another function than tanh.",
        MODEL,
        wrong("5.3", activation=lambda R, u: R.torch.relu(u)),
        wrong("5.3", activation=lambda R, u: R.torch.sigmoid(u)),
    ),
    Fault(
        "biases-forgotten",
        "The biases are left out: u = W1 x + b1, and z = W2 h + b2.",
        MODEL,
        wrong("5.3", ngram_logits=without_biases),
    ),
    Fault(
        "bias-as-column",
        "A bias of shape (h, 1) is broadcast along the wrong axis: entry i goes to example i, not to unit i. PyTorch "
        "complains only when there are not as many examples as units.",
        MODEL,
        wrong("5.3", ngram_logits=bias_as_column),
    ),
    Fault(
        "probabilities-for-logits",
        "These are probabilities, or their logarithms. The function returns the scores before softmax; cross_entropy "
        "takes the softmax itself.",
        MODEL,
        wrong("5.3", ngram_logits=lambda R, params, contexts: R.right.ngram_logits(params, contexts).softmax(1)),
        wrong("5.3", ngram_logits=lambda R, params, contexts: R.right.ngram_logits(params, contexts).log_softmax(1)),
    ),
    Fault(
        "graph-cut",
        "The values are right, but the way back is cut: a detach, a .data or a no_grad stands in the forward pass.",
        MODEL,
        wrong("5.3", context_vectors=lambda R, params, contexts: R.embed(params["C"].detach(), contexts)),
        wrong("5.3", activation=lambda R, u: R.torch.tanh(u).detach()),
        wrong("5.3", ngram_logits=lambda R, params, contexts: R.right.ngram_logits(params, contexts).detach()),
    ),
    # 5.9
    Fault(
        "columns-not-permuted",
        "The units have moved, but W2 still has their columns in the old order: each score now listens to the wrong units.",
        TWINS,
        wrong("5.9", permute_hidden=rows_and_columns(as_is, unmoved)),
    ),
    Fault(
        "bias-not-permuted",
        "The units have moved and left their biases behind.",
        TWINS,
        wrong("5.9", permute_hidden=rows_and_columns(as_is, as_is, bias=False)),
    ),
    Fault(
        "rows-not-permuted",
        "You moved the columns of W2 only. The units themselves, rows of W1 and entries of b1, have to move with them.",
        TWINS,
        wrong("5.9", permute_hidden=rows_and_columns(unmoved, as_is)),
    ),
    Fault(
        "inverse-permutation",
        "You used the permutation the other way round. Here new unit i is old unit perm[i].",
        TWINS,
        wrong("5.9", permute_hidden=rows_and_columns(inverse, inverse)),
        wrong("5.9", permute_hidden=rows_and_columns(as_is, inverse)),
        wrong("5.9", permute_hidden=rows_and_columns(inverse, as_is)),
    ),
    Fault(
        "permuted-in-place",
        "The network you were given has changed. Return a new dict and leave the old one alone.",
        TWINS,
        wrong("5.9", permute_hidden=permuted_in_place),
        wrong("5.9", permute_hidden=entries_replaced),
    ),
    # 5.11
    Fault(
        "gradients-overwrite-by-default",
        "You expect each round to replace the one before. PyTorch adds into .grad until somebody clears it.",
        CLEARING,
        predicted((30.0, 30.0, 30.0)),
    ),
    Fault(
        "doubles-each-pass",
        "You expect doubling. Each round adds the same amount; it does not multiply what is there.",
        CLEARING,
        predicted((30.0, 60.0, 120.0)),
    ),
    Fault(
        "sums-accumulated",
        "You expect each round to send again what has piled up. The graph is built anew each round; only w is old.",
        CLEARING,
        predicted((30.0, 90.0, 180.0)),
    ),
    Fault(
        "inner-derivative-forgotten",
        "The 3 inside the square has a derivative too: by the chain rule each round sends 2(3w − 1) · 3.",
        CLEARING,
        predicted((10.0, 20.0, 30.0)),
    ),
    Fault(
        "clearing-never-hurts",
        "You expect a step of the usual size. Look at the order: when the update comes, what is in w.grad?",
        CLEARING,
        predicted(too_late=-1.0),
    ),
    Fault(
        "step-uphill",
        "You go in the direction of the gradient. Descent goes against it; and here, look at the order as well.",
        CLEARING,
        predicted(too_late=5.0),
    ),
    # 5.4
    Fault(
        "gradients-not-cleared",
        "What was in .grad before is still in it: your update is made with the sum of old and new gradients.",
        CLEARING,
        wrong("5.4", clear=lambda R, params: None),
    ),
    Fault(
        "zeros-into-none",
        "Until its first backward pass a parameter's .grad is None: there is nothing to fill with zeros. Clear in a way "
        "that is right then too.",
        CLEARING,
        wrong("5.4", clear=lambda R, params: [p.grad.zero_() for p in params.values()]),
    ),
    Fault(
        "cleared-too-late",
        "You clear the gradients after backward and before the update. The update then multiplies zeros: nothing moves.",
        STEP,
        wrong("5.4", train_step=cleared_too_late),
    ),
    Fault(
        "only-names-updated",
        "`p = p - …` inside a loop gives the name p to a new tensor. The one in params stays as it was.",
        STEP,
        wrong("5.4", update=new_names_only),
    ),
    Fault(
        "update-inside-graph",
        "PyTorch is recording while you change the parameters in place. Tell it not to: the update is no part of what "
        "is differentiated.",
        STEP,
        wrong("5.4", update=inside_the_graph),
    ),
    Fault(
        "leaf-replaced",
        "You put the result of a computation where a parameter was. It is no leaf that asks for a gradient, so the next "
        "step finds none. Change the parameter in place, without recording.",
        STEP,
        wrong("5.4", update=replaced_by_results),
        wrong("5.4", update=replaced_without_tracking),
    ),
    Fault(
        "step-uphill",
        "The step goes with the gradient, and the loss rises. Descent goes against it.",
        STEP,
        wrong("5.4", update=stepped(lambda lr: -lr)),
    ),
    Fault(
        "learning-rate-ignored",
        "Your step is as long as the gradient itself, whatever the learning rate.",
        STEP,
        wrong("5.4", update=stepped(lambda lr: 1.0)),
    ),
    Fault(
        "parameters-left-out",
        "Some parameters were not updated.",
        STEP,
        wrong("5.4", update=stepped(lambda lr: lr, ("W1", "b1", "W2", "b2"))),
        wrong("5.4", update=stepped(lambda lr: lr, ("C", "W1", "W2"))),
        wrong("5.4", update=stepped(lambda lr: lr, ("W1", "W2"))),
    ),
    Fault(
        "loss-summed",
        "You take the sum over the batch. With the mean, the learning rate need not know how many examples there are.",
        STEP,
        wrong("5.4", batch_loss=summed_loss),
    ),
    Fault(
        "double-softmax",
        "softmax is applied twice: cross_entropy takes scores, and takes their softmax itself.",
        STEP,
        wrong("5.4", batch_loss=double_softmax),
    ),
    Fault(
        "loss-keeps-graph",
        "You return a tensor. As long as it is kept, so is the whole graph behind it, and a list of ten thousand losses "
        "holds ten thousand graphs. Return a plain number.",
        STEP,
        wrong("5.4", reported=lambda R, loss: loss),
        wrong("5.4", reported=lambda R, loss: loss.detach()),
    ),
    Fault(
        "loss-after-update",
        "The loss you return belongs to the new parameters. That of the step is the one whose gradient was taken.",
        STEP,
        wrong("5.4", train_step=loss_after_update),
    ),
    # 5.5
    Fault(
        "ragged-average",
        "You average the batches' means. The last batch is smaller, and its few examples then weigh as much as a whole batch.",
        MEASURING,
        wrong("5.5", joined=lambda R, parts: sum(loss for loss, _ in parts) / len(parts)),
    ),
    Fault(
        "last-batch-dropped",
        "The examples that do not fill a batch are left out.",
        MEASURING,
        wrong("5.5", joined=full_batches_only),
    ),
    Fault(
        "only-one-batch",
        "Only one batch enters the result. All examples count.",
        MEASURING,
        wrong("5.5", joined=lambda R, parts: parts[0][0]),
        wrong("5.5", joined=lambda R, parts: parts[-1][0]),
    ),
    Fault(
        "sum-for-mean",
        "You return a sum: over examples, or over batches. The mean is asked for, one number for each character predicted.",
        MEASURING,
        wrong("5.5", joined=lambda R, parts: sum(loss * n for loss, n in parts)),
        wrong("5.5", joined=lambda R, parts: sum(loss for loss, _ in parts)),
    ),
    Fault(
        "divided-by-batch-size",
        "You divide by the batch size as if every batch were full.",
        MEASURING,
        wrong("5.5", joined=lambda R, parts: sum(loss * n for loss, n in parts) / (len(parts) * parts[0][1])),
    ),
    Fault(
        "evaluation-leaves-gradients",
        "After the evaluation gradients are left in the parameters. The next training step would add to them. To "
        "measure, no backward pass is needed.",
        MEASURING,
        wrong("5.5", evaluate=backward_in_evaluate),
    ),
    Fault(
        "evaluation-trains",
        "The parameters changed while you measured. A validation set that was trained on measures nothing.",
        MEASURING,
        wrong("5.5", evaluate=steps_in_evaluate),
    ),
    Fault(
        "bits-not-divided",
        "These are still nats. A nat is larger than a bit, so there are more bits than nats.",
        MEASURING,
        wrong("5.5", bits_per_character=lambda R, nats: nats),
    ),
    Fault(
        "bits-multiplied",
        "You multiply by log 2. A nat is larger than a bit, so there are more bits than nats.",
        MEASURING,
        wrong("5.5", bits_per_character=lambda R, nats: nats * math.log(2)),
    ),
    Fault(
        "other-unit",
        "This is another unit: digits (logarithms to base 10), or the exponential of the loss, called perplexity.",
        MEASURING,
        wrong("5.5", bits_per_character=lambda R, nats: nats / math.log(10)),
        wrong("5.5", bits_per_character=lambda R, nats: math.exp(nats)),
        wrong("5.5", bits_per_character=lambda R, nats: 2**nats),
    ),
    Fault(
        "bits-as-a-logarithm",
        "You take a logarithm of the loss. The loss is a mean of logarithms already; only their base has to change.",
        MEASURING,
        wrong("5.5", bits_per_character=lambda R, nats: math.log2(nats)),
        wrong("5.5", bits_per_character=lambda R, nats: math.log(nats)),
    ),
    Fault(
        "not-smoothed",
        "A pair that never came in training gets probability 0, and costs infinitely much. Add 1 to every count.",
        MEASURING,
        wrong("5.5", bigram_table=table(lambda n: n / n.sum(1, keepdim=True))),
    ),
    Fault(
        "smoothing-half-done",
        "You add 1 to each count above the fraction line, but the sum below has not grown by V. The row no longer sums to 1.",
        MEASURING,
        wrong("5.5", bigram_table=table(lambda n: (n + 1) / n.sum(1, keepdim=True))),
        wrong("5.5", bigram_table=table(lambda n: (n + 1) / (n.sum(1, keepdim=True) + 1))),
        wrong("5.5", bigram_table=table(lambda n: n.clamp(min=1) / n.clamp(min=1).sum(1, keepdim=True))),
    ),
    Fault(
        "wrong-axis",
        "Your table is normalized along the wrong axis. For each character that came, the probabilities of what comes "
        "next sum to 1.",
        MEASURING,
        wrong("5.5", bigram_table=table(lambda n: (n + 1) / (n + 1).sum(0, keepdim=True))),
        wrong("5.5", bigram_table=table(lambda n: (n + 1) / (n + 1).sum())),
    ),
    Fault(
        "counted-on-validation",
        "You counted in the text on which you measure. Counts come from the training part.",
        MEASURING,
        wrong("5.5", bigram_loss=from_validation),
    ),
    Fault(
        "measured-on-training",
        "You measured on the training part. Count there, measure on the validation part.",
        MEASURING,
        wrong("5.5", bigram_loss=on_training),
    ),
    Fault(
        "context-ignored",
        "These probabilities do not depend on the character before. That is a unigram model; a bigram looks at one character.",
        MEASURING,
        wrong("5.5", bigram_loss=unigram),
    ),
    Fault(
        "pairs-turned-round",
        "Your table predicts the character before from the one after.",
        MEASURING,
        wrong("5.5", bigram_counts=lambda R, ids, V: R.right.bigram_counts(ids.flip(0), V)),
    ),
    Fault(
        "bigram-in-bits",
        "This is the loss in bits. Nats are asked for: natural logarithms.",
        MEASURING,
        wrong("5.5", bigram_loss=lambda R, a, b, V: R.right.bigram_loss(a, b, V) / math.log(2)),
    ),
    # 5.6
    Fault(
        "without-replacement",
        "No index comes twice within a draw. Each index is drawn independently of the others, so repeats happen, and "
        "more may be drawn than there are examples.",
        BATCHES,
        wrong("5.6", minibatch=without_replacement),
    ),
    Fault(
        "last-example-never",
        "The last example can never be drawn. The upper end of randint is not included already.",
        BATCHES,
        wrong("5.6", minibatch=drawn_below(0, 1)),
    ),
    Fault(
        "first-example-never",
        "The first example can never be drawn: indices start at 0.",
        BATCHES,
        wrong("5.6", minibatch=drawn_below(1, 0)),
    ),
    Fault(
        "beyond-the-end",
        "An index n comes out, and the last one is n − 1.",
        BATCHES,
        wrong("5.6", minibatch=drawn_below(0, -1)),
        wrong("5.6", minibatch=drawn_below(1, -1)),
    ),
    Fault(
        "generator-ignored",
        "Your draws do not come from the generator `rng`: the same seed gives other numbers.",
        BATCHES,
        wrong("5.6", minibatch=own_randomness),
    ),
    Fault(
        "always-the-same-batch",
        "The same generator gives the same batch again and again. A new draw has to be a new draw.",
        BATCHES,
        wrong("5.6", minibatch=same_seed_again),
        wrong("5.6", minibatch=always_the_first),
    ),
    Fault(
        "neighbours-drawn",
        "You draw one place and take the examples that follow. Neighbours look alike: such a batch tells less than as "
        "many independent draws.",
        BATCHES,
        wrong("5.6", minibatch=neighbours),
    ),
    # 5.7
    Fault(
        "schedule-not-followed",
        "The learning rate is asked for once and kept. It is a function of the step.",
        LOOP,
        wrong("5.7", train=loop(rate=lambda lr, step: lr(0))),
    ),
    Fault(
        "schedule-one-off",
        "Your steps are counted from 1. The first step asks for lr(0).",
        LOOP,
        wrong("5.7", train=loop(rate=lambda lr, step: lr(step + 1))),
    ),
    Fault(
        "a-step-too-many",
        "The number of losses is not the number of steps.",
        LOOP,
        wrong("5.7", train=loop(extra=1)),
        wrong("5.7", train=loop(extra=-1)),
        wrong("5.7", train=loop(kept=lambda losses: losses[-1:])),
    ),
    Fault(
        "losses-averaged",
        "You return running means. Each entry is the loss of its own step.",
        LOOP,
        wrong("5.7", train=loop(kept=running_means)),
    ),
    Fault(
        "one-batch-for-all-steps",
        "The batch is drawn before the loop and never again. The model then sees a few examples only.",
        LOOP,
        wrong("5.7", train=loop(once=True)),
        wrong("5.7", train=loop(batch=always_the_first)),
    ),
    Fault(
        "batches-in-order",
        "You go through the examples in their order. They are drawn at random, anew at each step.",
        LOOP,
        wrong("5.7", train=in_order()),
    ),
    Fault(
        "generator-ignored",
        "Your draws do not come from the generator `rng`: the same seed gives another training run.",
        LOOP,
        wrong("5.7", train=loop(batch=own_randomness)),
    ),
    Fault(
        "callback-forgotten",
        "The callback was not called after every step.",
        LOOP,
        wrong("5.7", train=loop(told=lambda callback, step, losses: None)),
        wrong("5.7", train=loop(told=lambda callback, step, losses: callback(step, losses[-1]) if step == 0 else None)),
    ),
    Fault(
        "callback-one-off",
        "The callback hears of step 1 first. Steps are counted from 0.",
        LOOP,
        wrong("5.7", train=loop(told=lambda callback, step, losses: callback(step + 1, losses[-1]))),
    ),
    # 5.10
    Fault(
        "batch-forgotten",
        "Each example of the batch has activations of its own.",
        MEMORY,
        wrong("5.10", activations_stored=lambda R, L, h, B: L * h),
    ),
    Fault(
        "weights-counted",
        "You count weights. Activations are the outputs of units: h for each layer and example.",
        MEMORY,
        wrong("5.10", activations_stored=lambda R, L, h, B: L * h * h),
        wrong("5.10", activations_stored=lambda R, L, h, B: L * h * h * B),
    ),
    Fault(
        "peak-without-segment",
        "You count the checkpoints only. While a segment is being recomputed, its activations are there as well.",
        MEMORY,
        pairs(lambda L, h, B, e: (L // e * h * B, (L - L // e) * h * B)),
    ),
    Fault(
        "checkpoint-counted-twice",
        "A segment ends in its checkpoint, which is stored already: only the layers between two checkpoints come on top.",
        MEMORY,
        pairs(lambda L, h, B, e: ((L // e + e) * h * B, (L - L // e) * h * B)),
    ),
    Fault(
        "everything-recomputed",
        "The checkpoints themselves need no recomputing: they were kept.",
        MEMORY,
        pairs(lambda L, h, B, e: ((L // e + e - 1) * h * B, L * h * B)),
    ),
    Fault(
        "one-segment-recomputed",
        "You recompute one segment. In the course of the whole backward pass every segment has its turn.",
        MEMORY,
        pairs(lambda L, h, B, e: ((L // e + e - 1) * h * B, (e - 1) * h * B)),
    ),
    # 5.8
    Fault(
        "prompt-returned",
        "Your answer begins with the prompt. Only the new ids are asked for.",
        SAMPLING,
        wrong("5.8", generate=generated(result=lambda ids, given: ids)),
    ),
    Fault(
        "one-too-many",
        "The number of new ids is one off.",
        SAMPLING,
        wrong("5.8", generate=generated(more=1)),
        wrong("5.8", generate=generated(more=-1)),
    ),
    Fault(
        "window-does-not-slide",
        "Each id is predicted from the same context. The window moves on: what was just written belongs to it.",
        SAMPLING,
        wrong("5.8", generate=generated(context=lambda ids, k, prompt: prompt[-k:])),
    ),
    Fault(
        "first-characters-as-context",
        "You take the first k ids as context. The last k count.",
        SAMPLING,
        wrong("5.8", generate=generated(context=lambda ids, k, prompt: ids[:k])),
    ),
    Fault(
        "window-backward",
        "The context is turned round: its last entry has to be the newest id.",
        SAMPLING,
        wrong("5.8", generate=generated(context=lambda ids, k, prompt: ids[: -k - 1 : -1])),
    ),
    Fault(
        "takes-the-most-likely",
        "You always take the most likely id. To sample is to draw: an id with probability 0.3 comes in 3 of 10 draws.",
        SAMPLING,
        wrong("5.8", choose=lambda R, z, rng: z.argmax()),
    ),
    Fault(
        "draws-evenly",
        "Every id comes equally often. The model's probabilities have to decide.",
        SAMPLING,
        wrong("5.8", choose=lambda R, z, rng: R.torch.randint(len(z), (1,), generator=rng)),
    ),
    Fault(
        "double-softmax",
        "softmax was applied twice. That makes the probabilities nearly even.",
        SAMPLING,
        wrong("5.8", choose=lambda R, z, rng: R.right.choose(z.softmax(0), rng)),
    ),
    Fault(
        "generator-ignored",
        "Your draws do not come from the generator `rng`: the same seed gives another text.",
        SAMPLING,
        wrong("5.8", choose=lambda R, z, rng: R.torch.multinomial(z.softmax(0), 1)),
    ),
    Fault(
        "generator-seeded-again",
        "Every call gives the same text, because you make or seed a generator inside.",
        SAMPLING,
        wrong(
            "5.8",
            generate=lambda R, params, prompt, n, rng: R.right.generate(
                params, prompt, n, R.torch.Generator().manual_seed(0)
            ),
        ),
    ),
    Fault(
        "prompt-changed",
        "The list you were given has grown: append writes into the caller's own prompt. Work on a copy.",
        SAMPLING,
        wrong("5.8", generate=generated(in_place=True)),
    ),
)


def misconceptions(exercise: str) -> tuple[Misconception, ...]:
    """The misconceptions of `exercise` ("5.4"): one for each variant that shows there."""
    return tuple(
        Misconception(fault.name, fault.says, partial(_objects, exercise, variant), fault.reread)
        for fault in FAULTS
        for variant in fault.variants
        if exercise in variant.exercises
    )


def _objects(exercise: str, variant: Variant) -> tuple[Any, ...]:
    rules = make_rules(**variant.overrides)
    return tuple(getattr(rules, name) for name in ARGUMENTS[exercise])
