"""Lesson 4's rules on arrays, and every fault of the lesson as a wrong function in the right place.

`make_rules()` gives right functions by the names of lesson 4, which call each other through one namespace;
`make_rules(softmax=...)` puts another function in the place of one of them. A `Fault` is a set of such replacements,
with its name and what to say to a learner who holds it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np

from autograder.exercises.model import Misconception
from autograder.references import ngram

Array = Any  # NumPy arrays, of shapes that differ from fault to fault
Rules = SimpleNamespace
Replacement = Callable[[Rules], Any]  # made for a set of rules, so that wrong functions can call the others
Overrides = Mapping[str, Replacement]

ROWS = ("z", "h", "u", "x", "W2", "b2", "W1", "b1", "C")
ARGUMENTS = {
    "4.1": ("logsumexp", "softmax"),
    "4.2": ("cross_entropy",),
    "4.3": ("cross_entropy_grad",),
    "4.4": ("affine_vjp",),
    "4.5": ("tanh_vjp",),
    "4.6": ("embedding_vjp",),
    "4.7": ("ngram_forward", "ngram_backward"),
    "4.8": ("compare",),
}


def make_rules(**overrides: Replacement) -> Rules:
    """Right rules, some of them replaced."""
    rules = SimpleNamespace()

    def logsumexp(z: Array) -> Array:
        m = z.max(axis=-1, keepdims=True)
        return (m + np.log(np.exp(z - m).sum(axis=-1, keepdims=True)))[..., 0]

    def softmax(z: Array) -> Array:
        e = np.exp(z - z.max(axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True)

    def cross_entropy(z: Array, y: Array) -> Array:
        return rules.logsumexp(z) - picked(z, y)

    def cross_entropy_grad(z: Array, y: Array) -> Array:
        return rules.softmax(z) - one_hot(y, z.shape[-1])

    def affine_vjp(W: Array, r: Array, q_bar: Array) -> tuple[Array, Array, Array]:
        return rules.affine_r(W, r, q_bar), rules.affine_W(W, r, q_bar), rules.affine_b(W, r, q_bar)

    def affine_r(W: Array, r: Array, q_bar: Array) -> Array:
        return q_bar @ W

    def affine_W(W: Array, r: Array, q_bar: Array) -> Array:
        return rows(q_bar).T @ rows(r)

    def affine_b(W: Array, r: Array, q_bar: Array) -> Array:
        return rows(q_bar).sum(axis=0)

    def tanh_vjp(h: Array, h_bar: Array) -> Array:
        return h_bar * (1 - h * h)

    def embedding_vjp(vocab_size: int, context: Array, x_bar: Array) -> Array:
        C_bar = np.zeros((vocab_size, x_bar.shape[-1] // context.shape[-1]))
        np.add.at(C_bar, context, blocks(context, x_bar))
        return C_bar

    def embed(C: Array, contexts: Array) -> Array:
        return C[contexts].reshape(len(contexts), -1)

    def ngram_forward(params: Any, contexts: Array) -> dict[str, Array]:
        x = rules.embed(params["C"], contexts)
        u = x @ params["W1"].T + params["b1"]
        h = rules.activation(u)
        return {"x": x, "u": u, "h": h, "z": h @ params["W2"].T + params["b2"]}

    def mean_loss(z: Array, targets: Array) -> float:
        return float(rules.cross_entropy(z, targets).mean())

    def logit_adjoint(z: Array, targets: Array) -> Array:
        return rules.cross_entropy_grad(z, targets) / len(targets)

    def backward_pass(params: Any, contexts: Array, targets: Array) -> tuple[float, dict[str, Array]]:
        f = rules.ngram_forward(params, contexts)
        bar = {"z": rules.logit_adjoint(f["z"], targets)}
        bar["h"], bar["W2"], bar["b2"] = rules.affine_vjp(params["W2"], f["h"], bar["z"])
        bar["u"] = rules.tanh_vjp(f["h"], bar["h"])
        bar["x"], bar["W1"], bar["b1"] = rules.affine_vjp(params["W1"], f["x"], bar["u"])
        bar["C"] = rules.embedding_vjp(len(params["C"]), contexts, bar["x"])
        return rules.mean_loss(f["z"], targets), bar

    def compare(params: Any, contexts: Array, targets: Array) -> list[dict[str, Any]]:
        _, mine = ngram_backward(params, contexts, targets)
        theirs = torch_gradients(params, contexts, targets)
        return [
            {
                "name": name,
                "exact": rules.is_exact(mine[name], theirs[name]),
                "close": rules.is_close(mine[name], theirs[name]),
                "max_difference": rules.distance(mine[name], theirs[name]),
            }
            for name in rules.names
        ]

    rules.__dict__.update(
        logsumexp=logsumexp,
        softmax=softmax,
        cross_entropy=cross_entropy,
        cross_entropy_grad=cross_entropy_grad,
        affine_vjp=affine_vjp,
        affine_r=affine_r,
        affine_W=affine_W,
        affine_b=affine_b,
        right_affine_r=affine_r,
        right_affine_W=affine_W,
        right_affine_b=affine_b,
        tanh_vjp=tanh_vjp,
        embedding_vjp=embedding_vjp,
        embed=embed,
        activation=np.tanh,
        ngram_forward=ngram_forward,
        mean_loss=mean_loss,
        logit_adjoint=logit_adjoint,
        ngram_backward=backward_pass,
        compare=compare,
        is_exact=lambda a, b: bool(np.array_equal(a, b)),
        is_close=lambda a, b: bool(np.allclose(a, b)),
        distance=lambda a, b: float(np.abs(a - b).max()),
        names=ROWS,
    )
    for name, make in overrides.items():
        setattr(rules, name, make(rules))
    return rules


@cache
def right_rules() -> Rules:
    return make_rules()


# `compare` calls these two by name, as the learner's own does, so that a probe can put given arrays in their place.


def ngram_backward(params: Any, contexts: Array, targets: Array) -> tuple[float, dict[str, Array]]:
    found: tuple[float, dict[str, Array]] = right_rules().ngram_backward(params, contexts, targets)
    return found


def torch_gradients(params: Any, contexts: Array, targets: Array) -> dict[str, Array]:
    return ngram.gradients(params, contexts, targets)[1]


# ---- pieces ---------------------------------------------------------------------------------------------------------


def rows(a: Array) -> Array:
    """All leading axes as one."""
    return a.reshape(-1, a.shape[-1])


def picked(z: Array, y: Array) -> Array:
    """z_y for each vector along the last axis."""
    return np.take_along_axis(z, np.asarray(y)[..., None], axis=-1)[..., 0]


def one_hot(y: Array, n: int) -> Array:
    return np.eye(n)[y]


def blocks(context: Array, x_bar: Array) -> Array:
    """x̄ cut into one block for each position: (..., k, d)."""
    return x_bar.reshape(*context.shape, -1)


def log_softmax(rules: Rules, z: Array) -> Array:
    return z - np.expand_dims(rules.logsumexp(z), -1)


# ---- wrong functions ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Variant:
    """One form of a fault: what it replaces, and the exercises in which it shows."""

    overrides: Overrides
    exercises: tuple[str, ...]


def instead(name: str, function: Callable[..., Any]) -> dict[str, Replacement]:
    return {name: lambda rules: function}


def through(name: str, function: Callable[..., Any]) -> dict[str, Replacement]:
    """As `instead`, for a function that takes the rules first, to call the others."""
    return {name: lambda rules: partial(function, rules)}


def in_softmax(
    logsumexp: Callable[[Array], Array] | None = None,
    softmax: Callable[[Array], Array] | None = None,
    later: tuple[str, ...] = ("4.2", "4.3"),
) -> Iterator[Variant]:
    """The same mistake in logsumexp, in softmax and in both; later exercises inherit one of them."""
    one = instead("logsumexp", logsumexp) if logsumexp else {}
    other = instead("softmax", softmax) if softmax else {}
    if one and other:
        yield Variant(one | other, ("4.1",))
    if one:
        yield Variant(one, ("4.1", *(e for e in later if e == "4.2")))
    if other:
        yield Variant(other, ("4.1", *(e for e in later if e == "4.3")))


def along(axis: int | None) -> tuple[Callable[[Array], Array], Callable[[Array], Array]]:
    """(logsumexp, softmax) along another axis than the last; None is the whole array."""

    def logsumexp(z: Array) -> Array:
        m = z.max(axis=axis, keepdims=True)
        return (m + np.log(np.exp(z - m).sum(axis=axis, keepdims=True))).squeeze(axis=axis)

    def softmax(z: Array) -> Array:
        e = np.exp(z - z.max(axis=axis, keepdims=True))
        return e / e.sum(axis=axis, keepdims=True)

    return logsumexp, softmax


def summed(axis: int | None) -> tuple[Callable[[Array], Array], Callable[[Array], Array]]:
    """(logsumexp, softmax) with each row's own maximum, but summed along another axis."""

    def logsumexp(z: Array) -> Array:
        m = z.max(axis=-1, keepdims=True)
        return m[..., 0] + np.log(np.exp(z - m).sum(axis=axis))

    def softmax(z: Array) -> Array:
        e = np.exp(z - z.max(axis=-1, keepdims=True))
        return e / e.sum(axis=axis, keepdims=True)

    return logsumexp, softmax


def naive_softmax(z: Array) -> Array:
    e = np.exp(z)
    return e / e.sum(axis=-1, keepdims=True)


def lse_in_place(z: Array) -> Array:
    m = z.max(axis=-1)
    z -= z.max(axis=-1, keepdims=True)
    return m + np.log(np.exp(z).sum(axis=-1))


def softmax_in_place(z: Array) -> Array:
    z -= z.max(axis=-1, keepdims=True)
    np.exp(z, out=z)
    z /= z.sum(axis=-1, keepdims=True)
    return z


def softmax_shifted_in_place(z: Array) -> Array:
    z -= z.max(axis=-1, keepdims=True)
    e = np.exp(z)
    return e / e.sum(axis=-1, keepdims=True)


def lse_without_keepdims(z: Array) -> Array:
    m = z.max(axis=-1)
    return m + np.log(np.exp(z - m).sum(axis=-1))


def softmax_without_keepdims(maximum: bool, total: bool) -> Callable[[Array], Array]:
    """softmax that keeps the axis of its maximum, of its sum, of both or of none."""

    def softmax(z: Array) -> Array:
        e = np.exp(z - z.max(axis=-1, keepdims=maximum))
        return e / e.sum(axis=-1, keepdims=total)

    return softmax


def lse_one_maximum(z: Array) -> Array:
    return z.max() + np.log(np.exp(z - z.max()).sum(axis=-1))


def softmax_one_maximum(z: Array) -> Array:
    return naive_softmax(z - z.max())


def clipped(limit: float) -> Iterator[Variant]:
    yield from in_softmax(
        lambda z: np.log(np.exp(np.clip(z, -limit, limit)).sum(axis=-1)),
        lambda z: naive_softmax(np.clip(z, -limit, limit)),
        later=(),
    )


def of_loss(name: str, function: Callable[..., Any], *exercises: str) -> Variant:
    return Variant(through(name, function), exercises)


def saturating(eps: float) -> Iterator[Variant]:
    """The two usual ways to keep log away from 0."""
    yield of_loss("cross_entropy", lambda R, z, y: -np.log(picked(R.softmax(z), y) + eps), "4.2")
    yield of_loss("cross_entropy", lambda R, z, y: -np.log(np.maximum(picked(R.softmax(z), y), eps)), "4.2")


def with_jacobian(R: Rules, z: Array, y: Array) -> Array:
    p = R.softmax(z)
    e = p - one_hot(y, z.shape[-1])
    return p * (e - (p * e).sum(axis=-1, keepdims=True))


def with_diagonal(R: Rules, z: Array, y: Array) -> Array:
    p = R.softmax(z)
    return -one_hot(y, z.shape[-1]) * (1 - p)


def one_hot_in_every_row(R: Rules, z: Array, y: Array) -> Array:
    p = R.softmax(z)
    p[..., y] -= 1
    return p


def batch_size(z: Array) -> int:
    return int(np.prod(z.shape[:-1], dtype=int))


def backward_with_new_weights(lr: float, in_place: bool, at_once: bool) -> Callable[..., Any]:
    """A backward pass that takes the update along: as soon as a gradient is known, or when all are."""

    def update(params: Any, bar: dict[str, Array], *names: str) -> None:
        for name in names:
            if in_place:
                params[name] -= lr * bar[name]
            else:
                params[name] = params[name] - lr * bar[name]

    def backward(R: Rules, params: Any, contexts: Array, targets: Array) -> tuple[float, dict[str, Array]]:
        f = R.ngram_forward(params, contexts)
        params = params if in_place else dict(params)
        bar = {"z": R.logit_adjoint(f["z"], targets)}
        bar["W2"], bar["b2"] = R.affine_W(None, f["h"], bar["z"]), R.affine_b(None, f["h"], bar["z"])
        if at_once:
            update(params, bar, "W2", "b2")
        bar["h"] = R.affine_r(params["W2"], f["h"], bar["z"])
        bar["u"] = R.tanh_vjp(f["h"], bar["h"])
        bar["W1"], bar["b1"] = R.affine_W(None, f["x"], bar["u"]), R.affine_b(None, f["x"], bar["u"])
        if at_once:
            update(params, bar, "W1", "b1")
        bar["x"] = R.affine_r(params["W1"], f["x"], bar["u"])
        bar["C"] = R.embedding_vjp(len(params["C"]), contexts, bar["x"])
        update(params, bar, *(("C",) if at_once else ("C", "W1", "b1", "W2", "b2")))
        return R.mean_loss(f["z"], targets), bar

    return backward


def backward_after(change: Callable[[dict[str, Array]], dict[str, Array]]) -> Callable[..., Any]:
    """A backward pass that takes other forward values than it should."""

    def backward(R: Rules, params: Any, contexts: Array, targets: Array) -> tuple[float, dict[str, Array]]:
        changed = make_rules(ngram_forward=lambda _: lambda p, c: change(R.ngram_forward(p, c)))
        _, bar = changed.ngram_backward(params, contexts, targets)
        return R.mean_loss(R.ngram_forward(params, contexts)["z"], targets), bar

    return backward


def forward_without_biases(R: Rules, params: Any, contexts: Array) -> dict[str, Array]:
    x = R.embed(params["C"], contexts)
    u = x @ params["W1"].T
    h = np.tanh(u)
    return {"x": x, "u": u, "h": h, "z": h @ params["W2"].T}


def vectors_only(W: Array, r: Array, q_bar: Array) -> tuple[Array, Array, Array]:
    return W.T @ q_bar, np.outer(q_bar, r), q_bar


def batches_only(W: Array, r: Array, q_bar: Array) -> tuple[Array, Array, Array]:
    return q_bar @ W, q_bar.T @ r, q_bar.sum(axis=0)


def first_axis_only(W: Array, r: Array, q_bar: Array) -> tuple[Array, Array, Array]:
    if r.ndim == 1:
        return W.T @ q_bar, np.outer(q_bar, r), q_bar
    return q_bar @ W, (q_bar[..., :, None] * r[..., None, :]).sum(axis=0), q_bar.sum(axis=0)


def last_index_wins(vocab_size: int, context: Array, x_bar: Array) -> Array:
    parts = blocks(context, x_bar)
    C_bar = np.zeros((vocab_size, parts.shape[-1]))
    C_bar[context] += parts
    return C_bar


def last_index_wins_in_example(vocab_size: int, context: Array, x_bar: Array) -> Array:
    parts = blocks(context, x_bar)
    C_bar = np.zeros((vocab_size, parts.shape[-1]))
    for tokens, part in zip(rows(context), parts.reshape(-1, *parts.shape[-2:]), strict=True):
        C_bar[tokens] += part
    return C_bar


def averaged_repeats(R: Rules, vocab_size: int, context: Array, x_bar: Array) -> Array:
    C_bar = scattered(vocab_size, context, blocks(context, x_bar))
    return C_bar / np.maximum(np.bincount(context.reshape(-1), minlength=vocab_size), 1)[:, None]


def scattered(vocab_size: int, context: Array, parts: Array) -> Array:
    C_bar = np.zeros((vocab_size, parts.shape[-1]))
    np.add.at(C_bar, context, parts)
    return C_bar


def crosswise(context: Array, x_bar: Array) -> Array:
    """x̄ cut as if the first coordinates of all positions came first."""
    return np.swapaxes(x_bar.reshape(*context.shape[:-1], -1, context.shape[-1]), -1, -2)


def by_position(R: Rules, vocab_size: int, context: Array, x_bar: Array) -> Array:
    positions = np.broadcast_to(np.arange(context.shape[-1]), context.shape)
    return scattered(vocab_size, positions, blocks(context, x_bar))


def one_for_each_example(R: Rules, vocab_size: int, context: Array, x_bar: Array) -> Array:
    found = [scattered(vocab_size, t, p) for t, p in zip(rows(context), _examples(context, x_bar), strict=True)]
    return np.reshape(found, (*context.shape[:-1], vocab_size, -1))


def _examples(context: Array, x_bar: Array) -> Array:
    parts = blocks(context, x_bar)
    return parts.reshape(-1, *parts.shape[-2:])


def _extra(y: Array) -> tuple[int, ...]:
    """The axes that z[..., y] has and logsumexp(z) has not."""
    return tuple(range(-np.ndim(y), 0))


_PARTS = ("affine_r", "affine_W", "affine_b")


def _without_upstream(part: str) -> Callable[..., Array]:
    def wrong(R: Rules, W: Array, r: Array, q_bar: Array) -> Array:
        return getattr(R, f"right_{part}")(W, r, np.ones_like(q_bar))

    return wrong


def _reordered(rules: Rules, order: tuple[int, ...]) -> Callable[..., Any]:
    right = rules.affine_vjp
    return lambda W, r, q_bar: tuple(right(W, r, q_bar)[i] for i in order)


def backward_with_preactivation(R: Rules, params: Any, contexts: Array, targets: Array) -> tuple[float, Any]:
    u = R.ngram_forward(params, contexts)["u"]
    changed = make_rules(tanh_vjp=lambda _: lambda h, h_bar: h_bar * (1 - u * u))
    found: tuple[float, Any] = changed.ngram_backward(params, contexts, targets)
    return found


# An affine rule that takes the mean over the examples where it should add.
_AVERAGING = {
    **through("affine_W", lambda R, W, r, q: rows(q).T @ rows(r) / len(rows(q))),
    **through("affine_b", lambda R, W, r, q: rows(q).mean(axis=0)),
}


# ---- the table ------------------------------------------------------------------------------------------------------

SOFTMAX, LOSS, ERROR_SIGNAL, AFFINE, TANH, EMBEDDING, NETWORK, BATCH, COMPARE = (
    ("From scores to probabilities", "From-scores-to-probabilities"),
    ("The price of a surprise", "The-price-of-a-surprise"),
    ("The output error signal", "The-output-error-signal"),
    ("Shapes tell you the rule", "Shapes-tell-you-the-rule"),
    ("Back through the tanh", "Back-through-the-tanh"),
    ("A row that is read twice", "A-row-that-is-read-twice"),
    ("One complete backward pass", "One-complete-backward-pass"),
    ("The batch coordinate", "The-batch-coordinate"),
    ("Which rows break", "Which-rows-break"),
)


@dataclass(frozen=True)
class Fault:
    """A wrong rule of lesson 4. `says` speaks to a learner who holds it; `variants` are the forms that it takes.

    Without `reread` the section of the exercise at hand is the one to go back to.
    """

    name: str
    says: str
    variants: tuple[Variant, ...]
    reread: tuple[str, str] | None = None

    def rules(self, variant: int = 0) -> Rules:
        """Rules that have this fault."""
        return make_rules(**self.variants[variant].overrides)


def everywhere(overrides: Overrides, *exercises: str) -> Variant:
    return Variant(overrides, exercises)


FAULTS: tuple[Fault, ...] = (
    # 4.1
    Fault(
        "overflow",
        "exp of a large number leaves the range of float64 (above about 709 it is inf), and exp of a very negative "
        "one is 0. Shift the scores first: which number may be taken off all of them without changing the result?",
        tuple(in_softmax(lambda z: np.log(np.exp(z).sum(axis=-1)), naive_softmax)),
        SOFTMAX,
    ),
    Fault(
        "wrong-axis",
        "You sum down the columns: across the examples of the batch instead of across the scores of one example. The "
        "scores of one example lie along the last axis.",
        (*in_softmax(*along(0)), *in_softmax(None, summed(0)[1])),
        SOFTMAX,
    ),
    Fault(
        "one-sum-for-batch",
        "You sum over the whole array, so all examples share one sum. Each vector along the last axis needs a sum of "
        "its own.",
        (*in_softmax(*along(None)), *in_softmax(*summed(None))),
        SOFTMAX,
    ),
    Fault(
        "axis-counted-from-front",
        "You sum along axis 1. That is the last axis of a matrix, but a single vector has no axis 1, and in an array "
        "with three axes it is another one. Count from the end.",
        tuple(in_softmax(*along(1))),
        SOFTMAX,
    ),
    Fault(
        "missing-keepdims",
        "max or sum along an axis removes that axis. What is left no longer lines up with the rows it came from: NumPy "
        "lines shapes up from the right, so it raises an error, or, when the array is square, silently uses another "
        "row's number.",
        (
            *in_softmax(lse_without_keepdims, softmax_without_keepdims(False, True)),
            *in_softmax(None, softmax_without_keepdims(True, False)),
            *in_softmax(None, softmax_without_keepdims(False, False)),
            *(
                Variant(v.overrides, ("4.1",))
                for total in (True, False)
                for v in in_softmax(lse_without_keepdims, softmax_without_keepdims(total, False))
                if len(v.overrides) == 2
            ),
        ),
        SOFTMAX,
    ),
    Fault(
        "one-maximum-for-batch",
        "You take off one maximum, that of the whole array. A row that lies far below it then underflows: all its "
        "exponentials are 0. Each row needs its own maximum.",
        tuple(in_softmax(lse_one_maximum, softmax_one_maximum, later=())),
        SOFTMAX,
    ),
    Fault(
        "maximum-not-added-back",
        "Your logsumexp is that of the shifted scores: what was taken off inside the sum has to come back, "
        "outside the logarithm.",
        tuple(in_softmax(lambda z: np.log(np.exp(z - z.max(axis=-1, keepdims=True)).sum(axis=-1)))),
        SOFTMAX,
    ),
    Fault(
        "clips-the-logits",
        "Cutting large scores down keeps exp finite, but it changes the scores: two that are cut to the same limit "
        "become equal. A shift changes nothing.",
        tuple(v for limit in (700.0, 709.0, 500.0, 100.0, 50.0, 30.0, 20.0) for v in clipped(limit)),
        SOFTMAX,
    ),
    Fault(
        "changes-its-argument",
        "The result is right, but the array you were given is no longer what it was: operators like -= and *= write "
        "into it, and whoever called you still needs it.",
        (
            *in_softmax(lse_in_place, softmax_shifted_in_place, later=()),
            *in_softmax(None, softmax_in_place, later=()),
            everywhere(instead("logsumexp", lse_in_place) | instead("softmax", softmax_in_place), "4.1"),
            everywhere(instead("tanh_vjp", lambda h, h_bar: np.multiply(h_bar, 1 - h * h, out=h_bar)), "4.5"),
        ),
    ),
    Fault(
        "log-softmax-instead",
        "These are the logarithms of the probabilities. softmax itself returns numbers between 0 and 1 that sum to 1.",
        (everywhere(through("softmax", log_softmax), "4.1"),),
        SOFTMAX,
    ),
    Fault(
        "scores-without-exponential",
        "You divided the scores by their sum. Scores may be negative, and so would such probabilities be. The "
        "exponential comes first.",
        (everywhere(instead("softmax", lambda z: z / z.sum(axis=-1, keepdims=True)), "4.1"),),
        SOFTMAX,
    ),
    # 4.2
    Fault(
        "log-of-zero",
        "You compute the probability first and then its logarithm. When the probability is below the smallest float64 "
        "it becomes 0, and the logarithm is −inf. The loss can be had from the scores without that detour.",
        (of_loss("cross_entropy", lambda R, z, y: -np.log(picked(R.softmax(z), y)), "4.2"),),
        LOSS,
    ),
    Fault(
        "epsilon-saturates",
        "A small number added inside the logarithm (or a floor under the probability) keeps it finite, but then the "
        "loss cannot rise above −log of that number: 16.1 for 1e-7, where 1000 is right, and with no slope there is "
        "nothing to learn from. From the scores directly no such help is needed.",
        tuple(
            v
            for eps in (1e-7, 1e-8, 1e-6, 1e-9, 1e-10, 1e-12, 1e-15, 1e-16, 1e-20, 1e-30, 1e-100, 1e-300, 2.0**-52)
            for v in saturating(eps)
        ),
        LOSS,
    ),
    Fault(
        "sign-flipped",
        "The sign is turned round. A loss falls when the target's score rises: its derivative by that score is "
        "negative.",
        (
            of_loss("cross_entropy", lambda R, z, y: picked(z, y) - R.logsumexp(z), "4.2", "4.7"),
            of_loss("cross_entropy_grad", lambda R, z, y: one_hot(y, z.shape[-1]) - R.softmax(z), "4.3", "4.7"),
            everywhere(
                through("cross_entropy", lambda R, z, y: picked(z, y) - R.logsumexp(z))
                | through("cross_entropy_grad", lambda R, z, y: one_hot(y, z.shape[-1]) - R.softmax(z)),
                "4.7",
            ),
        ),
    ),
    Fault(
        "double-softmax",
        "softmax is applied twice: to the scores, and once more to the probabilities that came out. Probabilities lie "
        "between 0 and 1, so a second softmax can never be sure of anything: with V tokens its loss cannot fall below "
        "log(1 + (V − 1)/e).",
        (
            of_loss("cross_entropy", lambda R, z, y: R.logsumexp(R.softmax(z)) - picked(R.softmax(z), y), "4.2", "4.7"),
            of_loss(
                "cross_entropy_grad",
                lambda R, z, y: R.softmax(R.softmax(z)) - one_hot(y, z.shape[-1]),
                "4.3",
                "4.7",
            ),
            everywhere(
                through("cross_entropy", lambda R, z, y: R.logsumexp(R.softmax(z)) - picked(R.softmax(z), y))
                | through("cross_entropy_grad", lambda R, z, y: R.softmax(R.softmax(z)) - one_hot(y, z.shape[-1])),
                "4.7",
            ),
        ),
    ),
    Fault(
        "rows-crossed-with-targets",
        "For every example you picked the scores of all the targets, not of its own: z[..., y] crosses every row with "
        "every entry of y. Each row needs one score.",
        (of_loss("cross_entropy", lambda R, z, y: np.expand_dims(R.logsumexp(z), _extra(y)) - z[..., y], "4.2"),),
        LOSS,
    ),
    Fault(
        "predicted-instead-of-target",
        "You took the token with the highest score. The loss asks about the token that actually came, y, however "
        "unlikely it was.",
        (
            of_loss("cross_entropy", lambda R, z, y: R.logsumexp(z) - z.max(axis=-1), "4.2"),
            of_loss(
                "cross_entropy_grad",
                lambda R, z, y: R.softmax(z) - one_hot(z.argmax(axis=-1), z.shape[-1]),
                "4.3",
            ),
        ),
    ),
    Fault(
        "counts-from-one",
        "You look one place to the left of the target. Token numbers count from 0 here, as Python's indices do.",
        (
            of_loss("cross_entropy", lambda R, z, y: R.logsumexp(z) - picked(z, y - 1), "4.2"),
            of_loss("cross_entropy_grad", lambda R, z, y: R.softmax(z) - one_hot(y - 1, z.shape[-1]), "4.3"),
        ),
    ),
    Fault(
        "bits-instead-of-nats",
        "This is the loss in bits, with logarithms to base 2. The course measures it in nats: natural logarithms.",
        (of_loss("cross_entropy", lambda R, z, y: (R.logsumexp(z) - picked(z, y)) / np.log(2), "4.2"),),
        LOSS,
    ),
    Fault(
        "mean-instead-of-each",
        "You averaged over the batch. Here every example keeps its own loss; the mean comes later, once, in 4.7.",
        (of_loss("cross_entropy", lambda R, z, y: (R.logsumexp(z) - picked(z, y)).mean(), "4.2"),),
        LOSS,
    ),
    Fault(
        "one-minus-p",
        "This is 1 − p of the target. It is never more than 1, however surprised the model should be. The loss is "
        "−log p.",
        (of_loss("cross_entropy", lambda R, z, y: 1 - picked(R.softmax(z), y), "4.2"),),
        LOSS,
    ),
    Fault(
        "normalizer-forgotten",
        "This is −z_y alone. A score means nothing by itself; it counts against the other scores, which enter through "
        "logsumexp.",
        (of_loss("cross_entropy", lambda R, z, y: -picked(z, y), "4.2"),),
        LOSS,
    ),
    # 4.3
    Fault(
        "one-hot-not-subtracted",
        "These are the probabilities themselves: each row sums to 1, not 0. What does the term −z_y of the loss add to "
        "the derivative by z_y?",
        (of_loss("cross_entropy_grad", lambda R, z, y: R.softmax(z), "4.3", "4.7"),),
        ERROR_SIGNAL,
    ),
    Fault(
        "extra-softmax-jacobian",
        "You multiplied by the derivative of softmax once more. p − e_y is already the derivative by the scores, with "
        "softmax done; the rows still sum to 0, so only the values give it away.",
        (of_loss("cross_entropy_grad", with_jacobian, "4.3", "4.7"),),
        ERROR_SIGNAL,
    ),
    Fault(
        "softmax-jacobian-diagonal-only",
        "You went through softmax by p(1 − p) alone. That is how p_y answers to its own score; it answers to every "
        "other score too, because they share one sum. That is why the other entries came out 0.",
        (of_loss("cross_entropy_grad", with_diagonal, "4.3", "4.7"),),
        ERROR_SIGNAL,
    ),
    Fault(
        "derivative-by-probability",
        "This is the derivative of the loss by the probabilities, −1/p_y at the target. One step is left: from the "
        "probabilities back to the scores.",
        (of_loss("cross_entropy_grad", lambda R, z, y: -one_hot(y, z.shape[-1]) / R.softmax(z), "4.3"),),
        ERROR_SIGNAL,
    ),
    Fault(
        "subtracts-token-number",
        "You subtracted the number of the target token from every entry. Token numbers are names, they have no size. "
        "What is subtracted is the one-hot vector: 1 in place y, 0 elsewhere.",
        (of_loss("cross_entropy_grad", lambda R, z, y: R.softmax(z) - np.expand_dims(y, -1), "4.3"),),
        ERROR_SIGNAL,
    ),
    Fault(
        "one-hot-in-every-row",
        "p[:, y] -= 1 takes the column of every target in every row. Each row loses 1 in one place: its own target's.",
        (of_loss("cross_entropy_grad", one_hot_in_every_row, "4.3", "4.7"),),
        ERROR_SIGNAL,
    ),
    Fault(
        "batch-mean-too-early",
        "You divided by the batch size already. cross_entropy_grad is for each example by itself; the mean enters "
        "once, in 4.7.",
        (
            of_loss(
                "cross_entropy_grad",
                lambda R, z, y: (R.softmax(z) - one_hot(y, z.shape[-1])) / batch_size(z),
                "4.3",
            ),
            of_loss("cross_entropy_grad", lambda R, z, y: (R.softmax(z) - one_hot(y, z.shape[-1])) / len(z), "4.3"),
        ),
        ERROR_SIGNAL,
    ),
    # 4.4
    Fault(
        "transposed-weight-gradient",
        "The gradient of W has its rows and columns exchanged. It should have the shape of W, (m, n): entry (i, j) says how the "
        "loss answers to W_ij, which leads from input j to output i.",
        (everywhere(through("affine_W", lambda R, W, r, q: rows(r).T @ rows(q)), "4.4", "4.7"),),
        AFFINE,
    ),
    Fault(
        "weight-not-transposed",
        "On the way back you used W as on the way forward. It maps n inputs to m outputs; the adjoint travels from the "
        "m outputs to the n inputs. With a square W the shapes fit either way and nothing but the numbers tells.",
        (everywhere(through("affine_r", lambda R, W, r, q: q @ W.T), "4.4"),),
        AFFINE,
    ),
    Fault(
        "bias-averaged",
        "You averaged the bias gradient over the examples. The bias is used once for each example, and contributions "
        "of all uses are added. (A mean over the batch, if one is wanted, comes with the loss, not here.)",
        (everywhere(through("affine_b", lambda R, W, r, q: rows(q).mean(axis=0)), "4.4", "4.7"),),
        AFFINE,
    ),
    Fault(
        "weight-averaged",
        "You averaged the weight gradient over the examples. Every example uses W, and contributions of all uses are "
        "added.",
        (everywhere(through("affine_W", lambda R, W, r, q: rows(q).T @ rows(r) / len(rows(q))), "4.4", "4.7"),),
        AFFINE,
    ),
    Fault(
        "bias-not-summed",
        "You return one bias gradient for each example. There is a single b, used by every example: its contributions "
        "are added until the shape is that of b.",
        (everywhere(through("affine_b", lambda R, W, r, q: q + 0.0), "4.4", "4.7"),),
        AFFINE,
    ),
    Fault(
        "weight-not-summed",
        "You return one weight gradient for each example. There is a single W, used by every example: its "
        "contributions are added until the shape is that of W.",
        (everywhere(through("affine_W", lambda R, W, r, q: q[..., :, None] * r[..., None, :]), "4.4", "4.7"),),
        AFFINE,
    ),
    Fault(
        "bias-summed-over-all",
        "You summed the bias gradient over everything. Sum over the examples only; each of the m outputs has a bias of "
        "its own.",
        (everywhere(through("affine_b", lambda R, W, r, q: q.sum()), "4.4", "4.7"),),
        AFFINE,
    ),
    Fault(
        "ignores-upstream",
        "The local derivative is right, but it is not multiplied by the adjoint that arrives from above.",
        (
            *(
                everywhere(
                    {
                        k: v
                        for name, part in zip(_PARTS, chosen, strict=True)
                        if part
                        for k, v in through(name, _without_upstream(name)).items()
                    },
                    "4.4",
                )
                for chosen in product((True, False), repeat=3)
                if any(chosen)
            ),
            everywhere(instead("tanh_vjp", lambda h, h_bar: 1 - h * h), "4.5"),
        ),
    ),
    Fault(
        "vectors-only",
        "This is right for one vector, but raises an error or mixes the examples up when there are axes in front. "
        "Write the rule with the last axis, and sum W's and b's gradients over all axes in front of it.",
        (everywhere(instead("affine_vjp", vectors_only), "4.4"),),
        AFFINE,
    ),
    Fault(
        "batches-only",
        "This is right for a batch with one axis in front, and for nothing else. A single vector has no axis to sum "
        "over, and an array may have two. Bring all of them to one form first.",
        (everywhere(instead("affine_vjp", batches_only), "4.4"),),
        AFFINE,
    ),
    Fault(
        "first-axis-only",
        "You sum over the first axis only. Every axis in front of the last counts examples; sum over all of them.",
        (everywhere(instead("affine_vjp", first_axis_only), "4.4"),),
        AFFINE,
    ),
    Fault(
        "answers-in-another-order",
        "The three arrays come back in another order than asked for: r_bar, W_bar, b_bar.",
        tuple(
            everywhere({"affine_vjp": partial(_reordered, order=order)}, "4.4")
            for order in ((1, 2, 0), (1, 0, 2), (0, 2, 1), (2, 1, 0), (2, 0, 1))
        ),
        AFFINE,
    ),
    # 4.5
    Fault(
        "tanh-from-preactivation",
        "You took tanh once more of what is already the output, or put the preactivation u where h belongs. The slope "
        "comes from the output h as it is.",
        (
            everywhere(instead("tanh_vjp", lambda h, h_bar: h_bar * (1 - np.tanh(h) ** 2)), "4.5", "4.7"),
            everywhere(through("ngram_backward", backward_with_preactivation), "4.7"),
        ),
        TANH,
    ),
    Fault(
        "slope-without-square",
        "You used 1 − h. The curve of tanh is as steep at h as it is at −h.",
        (everywhere(instead("tanh_vjp", lambda h, h_bar: h_bar * (1 - h)), "4.5", "4.7"),),
        TANH,
    ),
    Fault(
        "slope-plus-square",
        "You used 1 + h². Where tanh is flat, h is near ±1 and the slope should be near 0.",
        (everywhere(instead("tanh_vjp", lambda h, h_bar: h_bar * (1 + h * h)), "4.5", "4.7"),),
        TANH,
    ),
    Fault(
        "adds-instead-of-multiplies",
        "You added the upstream adjoint and the local derivative. Along a path the chain rule multiplies.",
        (everywhere(instead("tanh_vjp", lambda h, h_bar: h_bar + (1 - h * h)), "4.5"),),
        TANH,
    ),
    Fault(
        "slope-inverted",
        "You divided by the slope. That is how u answers to h; asked is how h answers to u.",
        (everywhere(instead("tanh_vjp", lambda h, h_bar: h_bar / (1 - h * h)), "4.5", "4.7"),),
        TANH,
    ),
    Fault(
        "slope-missing",
        "The adjoint went through tanh unchanged, as if its slope were 1 everywhere.",
        (everywhere(instead("tanh_vjp", lambda h, h_bar: h_bar * 1.0), "4.5", "4.7"),),
        TANH,
    ),
    # 4.6
    Fault(
        "last-index-wins",
        "When a token stands in the context twice, only its last block arrived. `C_bar[context] += blocks` reads the "
        "row once, and of several numbers written to one place the last one stays. Every occurrence has to be added.",
        (
            everywhere(instead("embedding_vjp", last_index_wins), "4.6", "4.7"),
            everywhere(instead("embedding_vjp", last_index_wins_in_example), "4.6", "4.7"),
        ),
        EMBEDDING,
    ),
    Fault(
        "averages-repeats",
        "You averaged the blocks of a token that occurs several times. It is one row, read several times, and the "
        "contributions of all readings are added.",
        (everywhere(through("embedding_vjp", averaged_repeats), "4.6", "4.7"),),
        EMBEDDING,
    ),
    Fault(
        "blocks-cut-crosswise",
        "x̄ is cut in the wrong places. The first d entries belong to the first position, the next d to the second, "
        "and so on.",
        (
            everywhere(
                instead("embedding_vjp", lambda V, context, x_bar: scattered(V, context, crosswise(context, x_bar))),
                "4.6",
                "4.7",
            ),
        ),
        EMBEDDING,
    ),
    Fault(
        "blocks-not-scattered",
        "You return the blocks in the order of the positions. What is asked for has the shape of C: one row for every "
        "token of the vocabulary.",
        (everywhere(instead("embedding_vjp", lambda V, context, x_bar: blocks(context, x_bar)), "4.6"),),
        EMBEDDING,
    ),
    Fault(
        "rows-by-position",
        "Position r's block went to row r. It belongs to the row of the token that stands at position r.",
        (everywhere(through("embedding_vjp", by_position), "4.6"),),
        EMBEDDING,
    ),
    Fault(
        "examples-not-added",
        "You return one gradient of C for each example. There is a single C: the contributions of all examples are "
        "added.",
        (everywhere(through("embedding_vjp", one_for_each_example), "4.6"),),
        EMBEDDING,
    ),
    Fault(
        "embedding-averaged",
        "You averaged over the examples. The rule adds; the mean over the batch has entered at the logits already.",
        (
            everywhere(
                instead(
                    "embedding_vjp",
                    lambda V, context, x_bar: scattered(V, context, blocks(context, x_bar)) / len(rows(context)),
                ),
                "4.6",
                "4.7",
            ),
        ),
        EMBEDDING,
    ),
    # 4.7
    Fault(
        "missing-batch-mean",
        "The factor 1/B is missing: your gradient is that of the sum of the losses, B times too large. The loss is "
        "their mean, so 1/B has to enter, once, at the logits.",
        (
            everywhere(through("logit_adjoint", lambda R, z, y: R.cross_entropy_grad(z, y)), "4.7"),
            everywhere(
                through("logit_adjoint", lambda R, z, y: R.cross_entropy_grad(z, y))
                | through("mean_loss", lambda R, z, y: float(R.cross_entropy(z, y).sum())),
                "4.7",
            ),
        ),
        BATCH,
    ),
    Fault(
        "double-batch-mean",
        "The factor 1/B has entered twice, and your gradient is B times too small. Look for it at the logits, in the "
        "affine rule, in the embedding rule: it belongs in one place.",
        (
            everywhere(through("logit_adjoint", lambda R, z, y: R.cross_entropy_grad(z, y) / len(y) ** 2), "4.7"),
            everywhere(_AVERAGING, "4.7"),
            everywhere(
                _AVERAGING | through("embedding_vjp", lambda R, V, c, x: scattered(V, c, blocks(c, x)) / len(rows(c))),
                "4.7",
            ),
        ),
        BATCH,
    ),
    Fault(
        "loss-summed",
        "Your gradient is that of the mean, but the loss you return is the sum over the batch.",
        (everywhere(through("mean_loss", lambda R, z, y: float(R.cross_entropy(z, y).sum())), "4.7"),),
        BATCH,
    ),
    Fault(
        "updated-weights",
        "You change parameters inside the backward pass. What comes further back is then computed with weights that "
        "the forward pass never used. First all gradients, then, elsewhere, the update.",
        tuple(
            everywhere(through("ngram_backward", backward_with_new_weights(lr, in_place, at_once)), "4.7")
            for lr in (1.0, 0.1, 0.01, 0.5)
            for in_place, at_once in ((True, True), (False, True), (True, False))
        ),
        NETWORK,
    ),
    Fault(
        "biases-forgotten",
        "Your forward pass leaves the biases out: u = W1 x + b1, and z = W2 h + b2.",
        (everywhere(through("ngram_forward", forward_without_biases), "4.7"),),
        NETWORK,
    ),
    Fault(
        "embeddings-interleaved",
        "The embeddings are woven into each other. x holds the whole row of the first token, then the whole row of "
        "the second, and so on.",
        (
            everywhere(
                instead("embed", lambda C, contexts: np.swapaxes(C[contexts], 1, 2).reshape(len(contexts), -1)), "4.7"
            ),
        ),
        NETWORK,
    ),
    Fault(
        "activation-missing",
        "The hidden layer has lost its tanh: h came out equal to u.",
        (everywhere(instead("activation", lambda u: u + 0.0), "4.7"),),
        NETWORK,
    ),
    Fault(
        "weights-see-preactivation",
        "The gradient of W2 was made with u. What W2 was multiplied with on the way forward is h = tanh u.",
        (everywhere(through("ngram_backward", backward_after(lambda f: {**f, "h": f["u"]})), "4.7"),),
        NETWORK,
    ),
    # 4.8
    Fault(
        "signed-difference",
        "You took the largest difference with its sign. Where yours lies below, the differences are negative and the "
        "largest of them says nothing. Take sizes first.",
        (
            everywhere(instead("distance", lambda a, b: float((a - b).max())), "4.8"),
            everywhere(instead("distance", lambda a, b: float((b - a).max())), "4.8"),
        ),
        COMPARE,
    ),
    Fault(
        "mean-difference",
        "You took the mean of the differences. One wrong entry among many right ones then looks harmless. The largest "
        "one counts.",
        (
            everywhere(instead("distance", lambda a, b: float(np.abs(a - b).mean())), "4.8"),
            everywhere(instead("distance", lambda a, b: float((a - b).mean())), "4.8"),
        ),
        COMPARE,
    ),
    Fault(
        "exact-means-close",
        "Your `exact` is true for arrays that differ in their last digits. Exact means: equal in every bit.",
        (everywhere(instead("is_exact", lambda a, b: bool(np.allclose(a, b))), "4.8"),),
        COMPARE,
    ),
    Fault(
        "close-means-exact",
        "Your `close` is false for arrays that differ only by rounding. Two orders of the same additions give "
        "different last digits.",
        (everywhere(instead("is_close", lambda a, b: bool(np.array_equal(a, b))), "4.8"),),
        COMPARE,
    ),
    Fault(
        "any-entry-counts",
        "One agreeing entry is enough for you. All entries have to agree.",
        (
            everywhere(instead("is_exact", lambda a, b: bool((a == b).any())), "4.8"),
            everywhere(instead("is_close", lambda a, b: bool(np.isclose(a, b).any())), "4.8"),
            everywhere(
                instead("is_exact", lambda a, b: bool((a == b).any()))
                | instead("is_close", lambda a, b: bool(np.isclose(a, b).any())),
                "4.8",
            ),
        ),
        COMPARE,
    ),
    Fault(
        "rows-missing",
        "Some rows are not there. Nine are asked for: z, h, u, x, W2, b2, W1, b1, C.",
        (
            everywhere({"names": lambda rules: ROWS[4:]}, "4.8"),
            everywhere({"names": lambda rules: ROWS[:4]}, "4.8"),
        ),
        COMPARE,
    ),
)


def misconceptions(exercise: str) -> tuple[Misconception, ...]:
    """The misconceptions of `exercise` ("4.4"): one for each variant that shows there."""
    return tuple(
        Misconception(fault.name, fault.says, partial(_objects, exercise, variant), fault.reread)
        for fault in FAULTS
        for variant in fault.variants
        if exercise in variant.exercises
    )


def _objects(exercise: str, variant: Variant) -> tuple[Any, ...]:
    rules = make_rules(**variant.overrides)
    return tuple(getattr(rules, name) for name in ARGUMENTS[exercise])
