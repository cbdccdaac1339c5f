"""Probes of lesson 5: what the checks compute with a learner's data pipeline, model and training loop.

Everything is tiny: a few characters, a few parameters in float64, a few steps. The sweep is never run here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from autograder.evidence import NotANumber, number
from autograder.student.probes import Probe
from autograder.student.probes import arrays as ar
from autograder.student.probes.engines import function_named, short
from autograder.student.probes.stand_ins import always, standing_in, where_wrong

Case = dict[str, Any]


def _torch() -> Any:
    import torch

    return torch


def _ids(nested: Any) -> Any:
    """A fresh int64 tensor."""
    return _torch().tensor(nested, dtype=_torch().int64)


def _generator(seed: int) -> Any:
    return _torch().Generator().manual_seed(seed)


def _leaves(params: Mapping[str, Any]) -> dict[str, Any]:
    """Fresh leaf tensors, float64."""
    torch = _torch()
    return {name: torch.tensor(x, dtype=torch.float64, requires_grad=True) for name, x in params.items()}


def _arrays(found: Any, what: str) -> dict[str, Any]:
    if not isinstance(found, Mapping):
        raise NotANumber(f"{what} returned {short(found)}, where a dict of tensors is asked for")
    return {str(name)[:20]: ar.array(x, f"{what}: entry {name!r}") for name, x in found.items()}


def _pair(found: Any, what: str, names: str) -> tuple[Any, Any]:
    if not isinstance(found, (tuple, list)) or len(found) != 2:
        raise NotANumber(f"{what} returned {short(found)}, not two things: {names}")
    return found[0], found[1]


def _text(x: Any, what: str) -> str:
    if not isinstance(x, str):
        raise NotANumber(f"{what} is {short(x)}, not a string")
    return str(x)[:2000]


# ---- what earlier exercises should have given -------------------------------------------------------------------------


def _ngram_logits(params: Mapping[str, Any], contexts: Any) -> Any:
    torch = _torch()
    h = torch.tanh(params["C"][contexts].flatten(1) @ params["W1"].T + params["b1"])
    return h @ params["W2"].T + params["b2"]


def _shown_logits(z: Any, params: Mapping[str, Any], contexts: Any) -> list[Any]:
    """The logits, and what flows back from their sum to each parameter that asks for it."""
    torch = _torch()
    if torch.is_grad_enabled():
        asking = [p for p in params.values() if p.requires_grad]
        slopes = torch.autograd.grad(z.sum(), asking, allow_unused=True) if z.requires_grad else [None] * len(asking)
        return [z.detach().numpy(), *(None if g is None else g.numpy() for g in slopes)]
    return [z.detach().numpy()]


def _train_step(params: Mapping[str, Any], contexts: Any, targets: Any, lr: float) -> float:
    torch = _torch()
    with torch.enable_grad():
        loss = torch.nn.functional.cross_entropy(_ngram_logits(params, contexts), targets)
        gradients = torch.autograd.grad(loss, list(params.values()))
    with torch.no_grad():
        for p, g in zip(params.values(), gradients, strict=True):
            p -= lr * g
            p.grad = g
    return float(loss.detach())


def _shown_step(loss: Any, params: Mapping[str, Any], *rest: Any) -> list[Any]:
    """The loss, and what the parameters are now: their numbers, and whether the next step can ask them for gradients."""
    return [float(loss), *((p.detach().numpy(), p.is_leaf and p.requires_grad) for p in params.values())]


def _minibatch(rng: Any, n: int, size: int) -> Any:
    return _torch().randint(n, (size,), generator=rng)


_LOGITS = {"ngram_logits": where_wrong(_ngram_logits, _shown_logits)}
_STEPS = _LOGITS | {"train_step": where_wrong(_train_step, _shown_step), "minibatch": always(_minibatch)}


# ---- 5.1, 5.2 -------------------------------------------------------------------------------------------------------


def data(case: Case, build_vocabulary: Any, encode: Any, decode: Any, split: Any, make_dataset: Any) -> Any:
    """What the one function that the case's part asks about makes of the case's text or ids."""
    part = case["part"]
    if part == "vocabulary":
        found = function_named(build_vocabulary, "build_vocabulary")(case["text"])
        if isinstance(found, str) or not isinstance(found, (list, tuple)):
            raise NotANumber(f"build_vocabulary returned {short(found)}, not a list of characters")
        return [_text(c, "an entry of the vocabulary") for c in found[:200]]
    if part == "encode":
        found = function_named(encode, "encode")(case["text"], list(case["vocabulary"]))
        return {"ids": ar.array(found, "encode"), "tensor": isinstance(found, _torch().Tensor)}
    if part == "decode":
        found = function_named(decode, "decode")(_ids(case["ids"]), list(case["vocabulary"]))
        return _text(found, "what decode returned")
    if part == "split":
        more = () if case["fraction"] is None else (case["fraction"],)
        train, validation = _pair(
            function_named(split, "split")(_ids(case["ids"]), *more), "split", "the training ids, the validation ids"
        )
        return {"train": ar.array(train, "train"), "validation": ar.array(validation, "validation")}
    contexts, targets = _pair(
        function_named(make_dataset, "make_dataset")(_ids(case["ids"]), case["k"]), "make_dataset", "contexts, targets"
    )
    return {"contexts": ar.array(contexts, "contexts"), "targets": ar.array(targets, "targets")}


def counts(case: Case, count_parameters: Any, count_table: Any) -> Any:
    if case["part"] == "table":
        return number(function_named(count_table, "count_table")(case["V"], case["k"]), "count_table")
    function = function_named(count_parameters, "count_parameters")
    return number(function(*(case[name] for name in ("V", "d", "k", "h"))), "count_parameters")


# ---- 5.3, 5.9 -------------------------------------------------------------------------------------------------------


def model(case: Case, init_params: Any, ngram_logits: Any) -> Any:
    """The parameters that init_params makes, or what ngram_logits computes and what flows back through it."""
    torch = _torch()
    part = case["part"]
    if part in ("logits", "graph"):
        params = _leaves(case["params"])
        z = function_named(ngram_logits, "ngram_logits")(params, _ids(case["contexts"]))
        if part == "logits":
            return ar.array(z, "ngram_logits")
        if not isinstance(z, torch.Tensor):
            raise NotANumber(f"ngram_logits returned {short(z)}, not a tensor")
        if z.requires_grad:
            (z * torch.tensor(case["weights"], dtype=z.dtype)).sum().backward()
        return {n: None if p.grad is None else ar.array(p.grad, f"the gradient of {n}") for n, p in params.items()}
    function = function_named(init_params, "init_params")
    sizes = [case[name] for name in ("V", "d", "k", "h")]
    if part == "rng":
        rng = _generator(case["seed"])
        draws = {
            "first": function(*sizes, rng),
            "next": function(*sizes, rng),
            "again": function(*sizes, _generator(case["seed"])),
        }
        return {which: _arrays(found, "init_params") for which, found in draws.items()}
    found = function(*sizes, _generator(case["seed"]))
    if part != "leaves":
        return _arrays(found, "init_params")
    if not isinstance(found, Mapping):
        raise NotANumber(f"init_params returned {short(found)}, where a dict of tensors is asked for")
    return {str(name)[:20]: _state(x, f"entry {name!r} of init_params") for name, x in found.items()}


def _state(x: Any, what: str) -> dict[str, Any]:
    """Shape of a tensor, and whether PyTorch would keep a gradient for it."""
    if not isinstance(x, _torch().Tensor):
        raise NotANumber(f"{what} is {short(x)}, not a tensor")
    return {
        "shape": [int(n) for n in x.shape],
        "leaf": bool(x.is_leaf),
        "requires_grad": bool(x.requires_grad),
        "floating": bool(x.is_floating_point()),
    }


def permute_hidden(case: Case, function: Any) -> Any:
    """The new dict, or, for the part "untouched", what is left of the old one."""
    params = _leaves(case["params"])
    found = function_named(function, "permute_hidden")(params, _ids(case["perm"]))
    return _arrays(params if case["part"] == "untouched" else found, "permute_hidden")


# ---- 5.11 -----------------------------------------------------------------------------------------------------------


def my_prediction(case: Case, function: Any) -> Any:
    found = function_named(function, "my_prediction")()
    if not isinstance(found, Mapping) or not {"passes", "too_late"} <= found.keys():
        raise NotANumber(f"my_prediction returned {short(found)}, not a dict with the keys 'passes' and 'too_late'")
    if case["part"] == "too-late":
        return number(found["too_late"], "too_late")
    passes = found["passes"]
    if isinstance(passes, str) or not hasattr(passes, "__iter__"):
        raise NotANumber(f'"passes" is {short(passes)}, not a list of three numbers')
    return [number(g, "a number in passes") for g in passes][:10]


# ---- 5.4, 5.7 -------------------------------------------------------------------------------------------------------


def train_step(case: Case, function: Any) -> Any:
    """What one or a few steps return and leave behind."""
    function = function_named(function, "train_step")
    batches = [(_ids(b["contexts"]), _ids(b["targets"])) for b in case["batches"]]
    params, part = _leaves(case["params"]), case["part"]
    if part == "fresh":
        with standing_in(function, _LOGITS):
            return _kept_and_renewed(function, case, batches)
    with standing_in(function, _LOGITS):
        loss = function(params, *batches[0], case["lr"])
    if part == "loss":
        return {"loss": number(loss, "the loss")}
    if part == "plain":
        return {"type": type(loss).__name__[:40], "float": isinstance(loss, float), "loss": number(loss, "the loss")}
    if part == "leaves":
        return {name: _state(x, f"params[{name!r}]") for name, x in params.items()}
    grads = {n: None if p.grad is None else ar.array(p.grad, f"the gradient of {n}") for n, p in params.items()}
    return {"params": _arrays(params, "params"), "grads": grads}


def _kept_and_renewed(function: Any, case: Case, batches: list[tuple[Any, Any]]) -> dict[str, Any]:
    """The same steps twice: on parameters that keep what is in .grad, and on ones made anew before each step."""
    torch = _torch()
    kept, renewed = _leaves(case["params"]), _leaves(case["params"])
    for p in kept.values():
        p.grad = torch.full_like(p, case["stale"])
    for contexts, targets in batches:
        function(kept, contexts, targets, case["lr"])
        renewed = _leaves({name: p.detach().numpy() for name, p in renewed.items()})
        function(renewed, contexts, targets, case["lr"])
    return {"kept": _arrays(kept, "params"), "renewed": _arrays(renewed, "params")}


def train(case: Case, function: Any) -> Any:
    """The losses that a few steps return, or the calls that they make."""
    calls: list[list[Any]] = []

    def note(step: Any, loss: Any) -> None:
        calls.append([number(step, "the step"), number(loss, "the loss")])

    rates = case["rates"]

    def lr(step: Any) -> float:
        return float(rates[min(int(step), len(rates) - 1)])

    def losses() -> list[float | None]:
        with standing_in(function_named(function, "train"), _STEPS):
            found = function(
                _leaves(case["params"]),
                _ids(case["contexts"]),
                _ids(case["targets"]),
                steps=case["steps"],
                batch_size=case["batch_size"],
                lr=lr,
                rng=_generator(case["seed"]),
                callback=note if case["part"] == "callback" else None,
            )
        if isinstance(found, str) or not hasattr(found, "__iter__"):
            raise NotANumber(f"train returned {short(found)}, not a list of losses")
        return [number(x, "a loss") for x in found][:1000]

    if case["part"] == "batches":
        return {"losses": losses(), "again": losses()}
    found = losses()
    return {"losses": found, "calls": calls} if case["part"] == "callback" else {"losses": found}


# ---- 5.5, 5.6 -------------------------------------------------------------------------------------------------------


def evaluation(case: Case, evaluate: Any, bits_per_character: Any, bigram_loss: Any) -> Any:
    part = case["part"]
    if part == "bits":
        return number(function_named(bits_per_character, "bits_per_character")(case["nats"]), "bits_per_character")
    if part == "bigram":
        function = function_named(bigram_loss, "bigram_loss")
        with np.errstate(all="ignore"):
            found = function(_ids(case["train_ids"]), _ids(case["val_ids"]), case["V"])
        return number(found, "bigram_loss")
    params = _leaves(case["params"])
    contexts, targets = _ids(case["contexts"]), _ids(case["targets"])
    evaluate = function_named(evaluate, "evaluate")
    with standing_in(evaluate, _LOGITS):
        loss = evaluate(params, contexts, targets, case["batch_size"])
    if part != "harmless":
        return number(loss, "evaluate")
    return {
        "params": _arrays(params, "params"),
        "grads": [name for name, p in params.items() if p.grad is not None and bool((p.grad != 0).any())],
    }


def minibatch(case: Case, function: Any) -> Any:
    """Two draws from one generator, and the first one again from a new generator with the same seed."""
    function = function_named(function, "minibatch")
    rng = _generator(case["seed"])
    draws = {
        "first": function(rng, case["n"], case["size"]),
        "second": function(rng, case["n"], case["size"]),
        "again": function(_generator(case["seed"]), case["n"], case["size"]),
    }
    return {which: ar.array(ids, "minibatch") for which, ids in draws.items()}


# ---- 5.10, 5.8 ------------------------------------------------------------------------------------------------------


def memory(case: Case, activations_stored: Any, checkpointed: Any) -> Any:
    L, h, B = case["L"], case["h"], case["B"]
    if case["part"] == "stored":
        return number(function_named(activations_stored, "activations_stored")(L, h, B), "activations_stored")
    found = function_named(checkpointed, "checkpointed")(L, h, B, case["every"])
    pair = _pair(found, "checkpointed", "what is stored at the peak, what is recomputed")
    return number(pair[("peak", "recomputed").index(case["part"])], case["part"])


def generate(case: Case, function: Any) -> Any:
    """The ids that a small model with known odds goes on with."""
    function = function_named(function, "generate")
    with standing_in(function, _LOGITS):
        return _generated(case, function)


def _generated(case: Case, function: Any) -> Any:
    params, prompt = _leaves(case["params"]), list(case["prompt"])
    rng = _generator(case["seed"])
    found = function(params, prompt, case["n"], rng)
    if case["part"] == "untouched":
        return {"prompt": ar.array(prompt, "the prompt")}
    if case["part"] != "rng":
        return {"ids": ar.array(found, "what generate returned")}
    again = function(params, list(case["prompt"]), case["n"], _generator(case["seed"]))
    later = function(params, list(case["prompt"]), case["n"], rng)
    return {w: ar.array(x, "what generate returned") for w, x in (("ids", found), ("again", again), ("later", later))}


def _quietly(probe: Probe) -> Probe:
    """Reading the .grad of a tensor that has none makes PyTorch warn; the evidence says it already."""
    import warnings

    def run(case: Case, *functions: Any) -> Any:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return probe(case, *functions)

    return run


_ALL: dict[str, Callable[..., Any]] = {
    "5.1": data,
    "5.2": counts,
    "5.3": model,
    "5.9": permute_hidden,
    "5.11": my_prediction,
    "5.4": train_step,
    "5.5": evaluation,
    "5.6": minibatch,
    "5.7": train,
    "5.10": memory,
    "5.8": generate,
}
PROBES: dict[str, Probe] = {id: _quietly(probe) for id, probe in _ALL.items()}
