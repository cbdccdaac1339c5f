"""Probes of lesson 4: what the checks compute with a learner's functions on arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from autograder.evidence import Missing, NotANumber, number
from autograder.student.probes import Probe
from autograder.student.probes import arrays as ar
from autograder.student.probes.engines import function_named, short
from autograder.student.probes.stand_ins import standing_in, where_wrong

Case = dict[str, Any]
ANSWERS = ("r", "W", "b")


# ---- what earlier exercises should have given ------------------------------------------------------------------------
# By PyTorch: this file lies on learners' machines, and their exercise is to find the rules themselves.


def _by_torch(f: Callable[..., Any]) -> Callable[..., np.ndarray]:
    """`f`, from tensors to a tensor, for arrays."""

    @functools.wraps(f)
    def called(*arrays: Any) -> np.ndarray:
        return np.asarray(f(*(torch.as_tensor(np.asarray(x)) for x in arrays)).detach().numpy())

    return called


def _back(f: Callable[..., Any], arrived: Any, *at: Any) -> tuple[np.ndarray, ...]:
    """The adjoints of `at`, arrays, when `arrived` is the adjoint of f(*at)."""
    leaves = [torch.tensor(np.asarray(x, dtype=float), requires_grad=True) for x in at]
    adjoint = torch.as_tensor(np.asarray(arrived, dtype=float))
    value = f(*leaves)
    if adjoint.shape != value.shape:
        raise ValueError(f"the adjoint has shape {tuple(adjoint.shape)}, its array has {tuple(value.shape)}")
    # Of a number: for the adjoints of an array PyTorch first imports SymPy, half a second in each process.
    return tuple(g.numpy() for g in torch.autograd.grad((value * adjoint).sum(), leaves))


def _cross_entropies(z: Any, y: Any) -> Any:
    rows = torch.nn.functional.cross_entropy(z.reshape(-1, z.shape[-1]), y.reshape(-1), reduction="none")
    return rows.reshape(y.shape)


def _cross_entropy_grad(z: Any, y: Any) -> np.ndarray:
    y = np.asarray(y)
    return _back(lambda scores: _cross_entropies(scores, torch.as_tensor(y)), np.ones(y.shape), z)[0]


def _affine_vjp(W: Any, r: Any, q_bar: Any) -> tuple[np.ndarray, ...]:
    return _back(torch.nn.functional.linear, q_bar, r, W, np.zeros(len(W)))


def _embedding_vjp(vocab_size: int, context: Any, x_bar: Any) -> np.ndarray:
    ids, x_bar = torch.as_tensor(np.asarray(context)), np.asarray(x_bar)
    C = np.zeros((vocab_size, x_bar.shape[-1] // ids.shape[-1]))
    return _back(lambda C: torch.nn.functional.embedding(ids, C).flatten(-2), x_bar, C)[0]


def _ngram_forward(params: Mapping[str, Any], contexts: Any) -> dict[str, np.ndarray]:
    of = {name: torch.as_tensor(np.asarray(array)) for name, array in params.items()}
    x = torch.nn.functional.embedding(torch.as_tensor(np.asarray(contexts)), of["C"]).flatten(-2)
    u = torch.nn.functional.linear(x, of["W1"], of["b1"])
    h = torch.tanh(u)
    z = torch.nn.functional.linear(h, of["W2"], of["b2"])
    return {"x": x.numpy(), "u": u.numpy(), "h": h.numpy(), "z": z.numpy()}


_logsumexp = _by_torch(lambda z: torch.logsumexp(z, -1))
_softmax = _by_torch(lambda z: torch.softmax(z, -1))
_tanh_vjp = _by_torch(lambda h, h_bar: torch.ops.aten.tanh_backward(h_bar, h))


def _and_arguments(result: Any, *args: Any) -> Any:
    """For exercises with a part about it: who changes an argument is as wrong as who returns something else."""
    return result, args


_OF_SCORES = {"logsumexp": where_wrong(_logsumexp, _and_arguments), "softmax": where_wrong(_softmax, _and_arguments)}
_OF_THE_NETWORK = _OF_SCORES | {
    "cross_entropy": where_wrong(_by_torch(_cross_entropies)),
    "cross_entropy_grad": where_wrong(_cross_entropy_grad),
    "affine_vjp": where_wrong(_affine_vjp),
    "tanh_vjp": where_wrong(_tanh_vjp, _and_arguments),
    "embedding_vjp": where_wrong(_embedding_vjp),
    "ngram_forward": where_wrong(_ngram_forward),
}


# ---- probes -----------------------------------------------------------------------------------------------------------


def _quietly(probe: Probe) -> Probe:
    """Overflow shows in the numbers; NumPy need not warn of it too."""

    def run(case: Case, *functions: Any) -> Any:
        with np.errstate(all="ignore"):
            return probe(case, *functions)

    return run


def softmax(case: Case, logsumexp: Any, softmax: Any) -> Any:
    """What one of the two functions returns, or, for the part "untouched", what it leaves of its argument."""
    name = case["function"]
    function = function_named({"logsumexp": logsumexp, "softmax": softmax}[name], name)
    z = ar.floats(case["z"])
    found = function(z)
    if case["part"] == "untouched":
        return ar.array(z, "z")
    return ar.array(found, name)


def of_scores(name: str) -> Probe:
    """The probe of a function of scores z and targets y."""

    def probe(case: Case, function: Any) -> Any:
        function = function_named(function, name)
        with standing_in(function, _OF_SCORES):
            return ar.array(function(ar.floats(case["z"]), ar.whole(case["y"])), name)

    return probe


def affine_vjp(case: Case, function: Any) -> Any:
    """One of the three arrays that affine_vjp returns: the one that the case's part asks about."""
    function = function_named(function, "affine_vjp")
    found = function(*(ar.floats(case[name]) for name in ("W", "r", "q_bar")))
    if not isinstance(found, (tuple, list)) or len(found) != 3:
        raise NotANumber(f"affine_vjp returned {short(found)}, not three arrays: r_bar, W_bar, b_bar")
    output = case["output"]
    return ar.array(found[ANSWERS.index(output)], f"{output}_bar")


def tanh_vjp(case: Case, function: Any) -> Any:
    """What tanh_vjp returns, or, for the part "untouched", what it leaves of its arguments."""
    function = function_named(function, "tanh_vjp")
    h, h_bar = ar.floats(case["h"]), ar.floats(case["h_bar"])
    found = function(h, h_bar)
    if case["part"] == "untouched":
        return {"h": ar.array(h, "h"), "h_bar": ar.array(h_bar, "h_bar")}
    return ar.array(found, "tanh_vjp")


def embedding_vjp(case: Case, function: Any) -> Any:
    function = function_named(function, "embedding_vjp")
    found = function(case["vocab_size"], ar.whole(case["context"]), ar.floats(case["x_bar"]))
    return ar.array(found, "embedding_vjp")


def network(case: Case, forward: Any, backward: Any) -> Any:
    """The arrays of one part: what ngram_forward or ngram_backward returned, or what is left of the parameters."""
    params = {name: ar.floats(x) for name, x in case["params"].items()}
    contexts, targets = ar.whole(case["contexts"]), ar.whole(case["targets"])
    if case["part"] == "forward":
        found = function_named(forward, "ngram_forward")(params, contexts)
        return _entries(found, case["asked"], "ngram_forward")
    backward = function_named(backward, "ngram_backward")
    with standing_in(backward, _OF_THE_NETWORK):
        found = backward(params, contexts, targets)
    if case["part"] == "untouched":
        return {name: ar.array(params[name], name) for name in case["asked"]}
    loss, gradients = _pair(found)
    if case["part"] == "loss":
        return {"loss": number(loss, "the loss")}
    return _entries(gradients, case["asked"], "ngram_backward")


def _entries(found: Any, asked: list[str], name: str) -> dict[str, Any]:
    if not isinstance(found, Mapping):
        raise NotANumber(f"{name} returned {short(found)}, where a dict of arrays is asked for")
    return {key: ar.array(found[key], f"{name}: entry {key!r}") for key in asked if key in found}


def _pair(found: Any) -> tuple[Any, Any]:
    if not isinstance(found, (tuple, list)) or len(found) != 2:
        raise NotANumber(f"ngram_backward returned {short(found)}, not two things: the loss and a dict of gradients")
    return found[0], found[1]


def compare(case: Case, function: Any) -> Any:
    """What `compare` says of given arrays, put in the place of the two functions that it calls: the case's part of it."""
    function = function_named(function, "compare")
    mine = {name: ar.floats(x) for name, x in case["mine"].items()}
    theirs = {name: ar.floats(x) for name, x in case["theirs"].items()}
    params = {name: ar.floats(x) for name, x in case["params"].items()}
    contexts, targets = ar.whole(case["contexts"]), ar.whole(case["targets"])

    def stand_in(name: str, answer: Callable[[], Any]) -> Callable[..., Any]:
        def called(params: Any, contexts: Any, targets: Any) -> Any:
            for what, got, given in (("contexts", contexts, case["contexts"]), ("targets", targets, case["targets"])):
                if not np.array_equal(np.asarray(got), ar.whole(given)):
                    raise NotANumber(f"{name} was called with {what} that are not those that compare was called with")
            if not isinstance(params, Mapping) or params.keys() != case["params"].keys():
                raise NotANumber(f"{name} was called with params that are not those that compare was called with")
            return answer()

        called.__name__ = called.__qualname__ = name
        return called

    stand_ins = {
        "ngram_backward": stand_in("ngram_backward", lambda: (1.0, {name: x.copy() for name, x in mine.items()})),
        "torch_gradients": stand_in("torch_gradients", lambda: {name: x.copy() for name, x in theirs.items()}),
    }
    with _instead(function, stand_ins):
        found = function(params, contexts, targets)
    if not isinstance(found, (list, tuple)):
        raise NotANumber(f"compare returned {short(found)}, not a list of dicts")
    rows = [_row(row) for row in found]
    if case["part"] == "rows":
        return sorted(rows_named(rows))
    read: Callable[[Any, str], Any] = _truth if case["asked"] in ("exact", "close") else number
    return {name: read(row[case["asked"]], case["asked"]) for name, row in rows_named(rows).items()}


def rows_named(rows: list[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    return {str(row["name"])[:20]: row for row in rows}


def _row(row: Any) -> Mapping[str, Any]:
    if not isinstance(row, Mapping):
        raise NotANumber(f"compare's list holds {short(row)}, not a dict")
    missing = [key for key in ("name", "exact", "close", "max_difference") if key not in row]
    if missing:
        raise NotANumber(f"a row of compare has no entry {missing[0]!r}: {short(row)}")
    return row


def _truth(x: Any, what: str) -> bool:
    if isinstance(x, (bool, np.bool_)) or str(getattr(x, "dtype", "")).endswith("bool"):
        return bool(x)
    raise NotANumber(f"{what} is {short(x)}, where True or False is asked for")


@contextmanager
def _instead(function: Any, stand_ins: Mapping[str, Any]) -> Iterator[None]:
    """Put `stand_ins` in the place of the functions of those names that `function` sees, and take them away again."""
    names = getattr(getattr(function, "__func__", function), "__globals__", None)
    if names is None:
        raise Missing(f"compare is {short(function)}; write it as a function with def")
    nothing = object()
    before = {name: names.get(name, nothing) for name in stand_ins}
    try:
        names.update(stand_ins)
        yield
    finally:
        for name, old in before.items():
            if old is nothing:
                del names[name]
            else:
                names[name] = old


PROBES: dict[str, Probe] = {
    "4.1": _quietly(softmax),
    "4.2": _quietly(of_scores("cross_entropy")),
    "4.3": _quietly(of_scores("cross_entropy_grad")),
    "4.4": _quietly(affine_vjp),
    "4.5": _quietly(tanh_vjp),
    "4.6": _quietly(embedding_vjp),
    "4.7": _quietly(network),
    "4.8": _quietly(compare),
}
