"""The exercises of lesson 5, training the neural n-gram: parts, cases, judges and misconceptions.

Everything is judged on tiny data. What is drawn at random is judged by what any right draw has: its range, its
frequencies (bounds that a right answer oversteps once in a hundred million), and that it comes from the generator.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise, zip_longest
from typing import Any

import numpy as np

from autograder.exercises import arrays
from autograder.exercises.arrays import Index
from autograder.exercises.model import Case, Exercise, Finding, LessonExercises, Part, WrittenQuestion, same_value
from autograder.exercises.ngram_rules import (
    BATCHES,
    CHARACTERS,
    CLEARING,
    COUNTING,
    LOOP,
    MEASURING,
    MEMORY,
    MODEL,
    ROUNDS,
    SAMPLING,
    STEP,
    TOO_LATE,
    TWINS,
    misconceptions,
)
from autograder.exercises.softmax_backprop import Right, decimals, finding, floats, once_a_case, random_params, tokens
from autograder.references import arrays as reference
from autograder.references import ngram

Rng = random.Random
LOOSE = 1e-5  # a learner may compute in float32
SIGMAS = 6.0  # how far a frequency may lie from its expectation


def case_of(part: str, op: str, says: str, size: float, **given: Any) -> Case:
    return {"part": part, "op": op, "says": says, "size": size, **given}


def _wrong_number(case: Case, seen: Any, right: float, hint: str, witnesses: str = "") -> Finding | None:
    """What is wrong with one number; None if nothing is."""
    yours = float("nan") if seen is None else float(seen)
    if not arrays.off(np.float64(yours), np.float64(right), LOOSE).any():
        return None
    a, b = arrays.distinct(yours, right)
    said = f"{case['says']} is {a}, and should be {b}."
    lines = [f"The{said[3:]}" if said.startswith("the ") else said, witnesses, hint]
    return Finding("\n".join(filter(None, lines)), where=case["op"], size=case["size"])


def _not_whole(case: Case, name: str, seen: Mapping[str, Any]) -> Finding | None:
    """Token numbers that are not int64: they name rows, and PyTorch takes nothing else."""
    if str(seen["dtype"]) == "int64":
        return None
    return Finding(
        f"{name} has the right values, but as {str(seen['dtype'])[:20]}. Token numbers name rows of a table, and for that "
        "PyTorch wants int64, its default for whole numbers.",
        where=case["op"],
        size=case["size"],
    )


def _shown_params(case: Case) -> str:
    shapes = ", ".join(f"{name} {np.shape(x)}" for name, x in case["params"].items())
    return f"The parameters have shapes {shapes}."


# ---- 5.1 Characters, split, windows ---------------------------------------------------------------------------------

_LETTERS = "zebra quilt\nXY?!"


def _texts(rng: Rng) -> str:
    """A short text in which order of appearance, order of frequency and alphabetical order all differ."""
    while True:
        text = "".join(rng.choice(_LETTERS) for _ in range(rng.randint(12, 20)))
        appearance, alphabet = list(dict.fromkeys(text)), sorted(set(text))
        frequency = sorted(set(text), key=lambda c: (-text.count(c), c))
        if alphabet not in (appearance, frequency) and len(alphabet) < len(text):
            return text


def _vocabulary(text: str) -> Case:
    return case_of("vocabulary", "build_vocabulary", f"build_vocabulary({text!r})", len(text), text=text)


def _encode(text: str) -> Case:
    vocabulary = sorted(set(text))
    return case_of("encode", "encode", f"encode({text!r}, {vocabulary})", len(text), text=text, vocabulary=vocabulary)


def _decode(text: str) -> Case:
    vocabulary = sorted(set(text))
    ids = [vocabulary.index(c) for c in text]
    return case_of("decode", "decode", f"decode({ids}, {vocabulary})", len(text), ids=ids, vocabulary=vocabulary)


def _split(ids: list[int], fraction: float | None) -> Case:
    says = f"split of {len(ids)} ids" + ("" if fraction is None else f" with fraction {fraction}")
    return case_of("split", "split", says, len(ids), ids=ids, fraction=fraction)


def _windows(ids: list[int], k: int) -> Case:
    return case_of("windows", "make_dataset", f"make_dataset({ids}, {k})", len(ids) + k / 10, ids=ids, k=k)


def data_worked() -> list[Case]:
    word = "abracadabra"
    return [
        *(_vocabulary(text) for text in ("hello world", word)),
        *(make(text) for make in (_encode, _decode) for text in (word, "to be\nor not")),
        _split(list(range(5, 25)), None),
        _split(list(range(8)), 0.75),
        _split(list(range(11, 26)), 0.9),
        _windows([3, 1, 4, 1, 5, 9, 2], 3),
        _windows([2, 7, 1, 8, 0], 1),
    ]


def data_cases(rng: Rng) -> list[Case]:
    cases = [make(_texts(rng)) for make in (_vocabulary, _encode, _decode) for _ in range(2)]
    for n, fraction in (
        (rng.choice((24, 26, 28)), None),
        (rng.choice((21, 22, 23)), 0.75),
        (rng.randint(30, 39), 0.62),
    ):
        cases.append(_split([rng.randrange(40) for _ in range(n)], fraction))
    cases += [_windows(rng.sample(range(20), n), k) for n, k in ((7, 1), (8, 2), (9, 3), (11, 4))]
    return cases


def right_split(case: Case) -> dict[str, list[int]]:
    ids = case["ids"]
    n = int((0.9 if case["fraction"] is None else case["fraction"]) * len(ids))
    return {"train": ids[:n], "validation": ids[n:]}


def judge_data(case: Case, seen: Any) -> Finding | None:
    return _DATA[case["part"]](case, seen)


def _judge_vocabulary(case: Case, seen: Any) -> Finding | None:
    right = sorted(set(case["text"]))
    if list(seen) == right:
        return None
    lines = [
        f"{case['says']} is {seen}, and should be {right}.",
        "Each character that occurs stands in it once, sorted.",
    ]
    missing = sorted(set(right) - set(seen))
    lines += [f"Not there: {missing}."] if missing else []
    return Finding("\n".join(lines), where="build_vocabulary", size=case["size"])


def _judge_encode(case: Case, seen: Any) -> Finding | None:
    right = np.array([case["vocabulary"].index(c) for c in case["text"]])
    departure = arrays.departure("encode(…)", seen["ids"], right, shape_because="one number for each character")
    if departure is not None:
        at = departure.index
        place = f"The character there is {case['text'][at[0]]!r}. " if at else ""
        text = f"{departure.text}\nThis is {case['says']}.\n{place}Its number is its place in the vocabulary."
        return Finding(text, where="encode", size=case["size"])
    if seen["tensor"] is not True:
        return Finding("encode returned the right numbers, but not as a tensor: torch.tensor makes one.", "encode")
    return _not_whole(case, "encode(…)", seen["ids"])


def _judge_decode(case: Case, seen: Any) -> Finding | None:
    right = "".join(case["vocabulary"][i] for i in case["ids"])
    if seen == right:
        return None
    return Finding(
        f"{case['says']} is {seen!r}, and should be {right!r}.\ndecode undoes encode.", "decode", case["size"]
    )


def _judge_split(case: Case, seen: Any) -> Finding | None:
    right, ids = right_split(case), case["ids"]
    n = len(right["train"])
    for name, own in right.items():
        departure = arrays.departure(
            name, seen[name], np.array(own), shape_because=f"{n} of {len(ids)} ids are trained on"
        )
        if departure is not None:
            lines = [
                departure.text,
                f"This is {case['says']}: the first int(fraction · {len(ids)}) = {n} ids, then the other {len(ids) - n}.",
                arrays.shown("ids", ids),
            ]
            yours = arrays.read(seen[name])
            lines += (
                [arrays.shown("yours", yours.astype(int))] if yours is not None and np.isfinite(yours).all() else []
            )
            lines.append("Both parts are contiguous, in the order of the text, and together they are the whole of it.")
            return Finding("\n".join(lines), where="split", size=case["size"])
    return None


def right_windows(case: Case) -> dict[str, np.ndarray]:
    ids, k = case["ids"], case["k"]
    at = range(len(ids) - k)
    return {"contexts": np.array([ids[i : i + k] for i in at]), "targets": np.array([ids[i + k] for i in at])}


def _beside_each_other(yours: Mapping[str, Any], right: Mapping[str, np.ndarray]) -> list[str]:
    """The first window, or target, that is otherwise than it should be; the last ones where one list goes on longer."""
    pairs = [
        list(zip_longest(*(np.asarray(of[name]).astype(int).tolist() for name in right), fillvalue="none"))
        for of in (yours, right)
    ]
    i = next((i for i, (a, b) in enumerate(zip(*pairs, strict=False)) if a != b), -1)
    which = {0: "first window", -1: "last window"}.get(i, f"window {i}, counted from 0,")
    mine, wanted = (pair[i] for pair in pairs)
    return [f"Your {which} and its target: {mine[0]} → {mine[1]}.", f"The right ones: {wanted[0]} → {wanted[1]}."]


def _judge_windows(case: Case, seen: Any) -> Finding | None:
    right, n, k = right_windows(case), len(case["ids"]), case["k"]
    because = {
        "contexts": f"{n} ids have {n - k} windows of {k} with an id after them",
        "targets": f"one target for each of the {n - k} windows",
    }
    for name, own in right.items():
        departure = arrays.departure(name, seen[name], own, shape_because=because[name])
        if departure is not None:
            yours = {w: arrays.read(seen[w]) for w in right}
            lines = [departure.text, f"This is {case['says']}."]
            if all(a is not None and a.size and np.isfinite(a).all() for a in yours.values()):
                lines += _beside_each_other(yours, right)
            lines.append(
                "A window is k ids in a row, its target the id right after it. The next window begins one id later."
            )
            return Finding("\n".join(lines), where="make_dataset", size=case["size"])
    return _not_whole(case, "contexts", seen["contexts"]) or _not_whole(case, "targets", seen["targets"])


_DATA = {
    "vocabulary": _judge_vocabulary,
    "encode": _judge_encode,
    "decode": _judge_decode,
    "split": _judge_split,
    "windows": _judge_windows,
}

# ---- 5.2 Counting ---------------------------------------------------------------------------------------------------


def _parameters(V: int, d: int, k: int, h: int) -> Case:
    return case_of("parameters", "count_parameters", f"count_parameters({V}, {d}, {k}, {h})", V * k, V=V, d=d, k=k, h=h)


def _table(V: int, k: int) -> Case:
    return case_of("table", "count_table", f"count_table({V}, {k})", V * k, V=V, k=k)


def counts_worked() -> list[Case]:
    return [*(_parameters(65, 16, k, 128) for k in (1, 3, 5, 8)), *(_table(65, k) for k in (1, 3))]


def counts_cases(rng: Rng) -> list[Case]:
    cases = [_parameters(rng.randint(3, 9), rng.randint(2, 4), rng.randint(2, 5), rng.randint(6, 11)) for _ in range(3)]
    return [*cases, *(_table(rng.randint(3, 40), k) for k in (2, 3, 4))]


def judge_counts(case: Case, seen: Any) -> Finding | None:
    if case["part"] == "table":
        V, k = case["V"], case["k"]
        hint = f"One row for each of the {V}^{k} contexts, one column for each of the {V} next characters."
        return _wrong_number(case, seen, float(V ** (k + 1)), hint)
    V, d, k, h = (case[name] for name in ("V", "d", "k", "h"))
    shapes = {"C": (V, d), "W1": (h, k * d), "b1": (h,), "W2": (V, h), "b2": (V,)}
    right = float(sum(math.prod(shape) for shape in shapes.values()))
    listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
    return _wrong_number(case, seen, right, f"The arrays are {listed}. Each entry is one parameter.")


# ---- 5.3 Parameters and logits --------------------------------------------------------------------------------------

SPREAD = {"C": 1.0, "W1": 0.2, "b1": 0.01, "W2": 0.01, "b2": 0.0}
_BIASES_AT_MOST = 0.1


def shapes_of(V: int, d: int, k: int, h: int) -> dict[str, tuple[int, ...]]:
    return {"C": (V, d), "W1": (h, k * d), "b1": (h,), "W2": (V, h), "b2": (V,)}


def _init(part: str, seed: int, V: int, d: int, k: int, h: int) -> Case:
    says = f"init_params({V}, {d}, {k}, {h}, rng)"
    return case_of(part, "init_params", says, V * h, V=V, d=d, k=k, h=h, seed=seed)


def _logits(rng: Rng, part: str, B: int, V: int, d: int, k: int, h: int) -> Case:
    return case_of(
        part,
        "ngram_logits",
        f"ngram_logits with V = {V}, d = {d}, k = {k}, h = {h} and B = {B} contexts",
        float(B * V * d * k * h),
        params=random_params(rng, V, d, k, h),
        contexts=tokens(rng, V, B, k),
        weights=decimals(rng, B, V),
    )


def model_worked() -> list[Case]:
    rng = Rng("5.3")
    return [
        _init("leaves", 5, 6, 2, 3, 4),
        _init("scale", 5, 40, 8, 3, 30),
        _init("symmetry", 5, 6, 2, 3, 4),
        _init("rng", 5, 6, 2, 3, 4),
        _logits(rng, "logits", 1, 4, 2, 2, 3),
        _logits(rng, "logits", 3, 4, 2, 2, 3),
        _logits(rng, "graph", 2, 4, 2, 2, 3),
    ]


def model_cases(rng: Rng) -> list[Case]:
    sizes = rng.randint(5, 9), rng.randint(2, 4), rng.randint(2, 4), rng.randint(4, 7)
    cases = [_init(part, rng.randrange(10**6), *sizes) for part in ("leaves", "symmetry", "rng")]
    cases.append(_init("scale", rng.randrange(10**6), 40, 8, rng.randint(3, 4), 30))
    cases += [_logits(rng, "logits", *s) for s in ((3, 5, 3, 2, 3), (4, 5, 2, 3, 3), (2, 6, 3, 4, 5))]
    return [*cases, _logits(rng, "graph", 3, 5, 2, 3, 4)]


def judge_model(case: Case, seen: Any) -> Finding | None:
    return _MODEL[case["part"]](case, seen)


def _judge_logits(case: Case, seen: Any) -> Finding | None:
    params = {name: floats(x) for name, x in case["params"].items()}
    contexts = np.array(case["contexts"], dtype=np.int64)
    right = Right(_torch_logits(case))
    by_numpy = ngram.forward(params, contexts)["z"]
    assert not arrays.off(right.array, by_numpy).any()
    return finding(
        case,
        "ngram_logits(…)",
        seen,
        right,
        "This is lesson 4's forward pass: rows of C end to end, an affine map, tanh, another affine map.",
        where="ngram_logits",
        given=("contexts",),
        after=f"This is {case['says']}. PyTorch and NumPy, written apart, agree on what is right.",
        tolerance=LOOSE,
        shape_because="one score for each character, one row for each context",
    )


@once_a_case
def _torch_logits(case: Case) -> np.ndarray:
    import torch
    from torch.nn.functional import embedding, linear

    t = {name: torch.tensor(x, dtype=torch.float64) for name, x in case["params"].items()}
    x = embedding(torch.tensor(case["contexts"]), t["C"]).flatten(1)
    found: np.ndarray = linear(torch.tanh(linear(x, t["W1"], t["b1"])), t["W2"], t["b2"]).numpy()
    return found


@once_a_case
def _slopes(case: Case) -> dict[str, np.ndarray]:
    """∂ Σ weights · z / ∂ parameter, by PyTorch."""
    from torch import tensor
    from torch.nn.functional import embedding, linear

    def f(a: dict[str, Any]) -> Any:
        x = embedding(tensor(case["contexts"]), a["C"]).flatten(1)
        z = linear(linear(x, a["W1"], a["b1"]).tanh(), a["W2"], a["b2"])
        return (z * tensor(case["weights"], dtype=z.dtype)).sum()

    return reference.gradients(f, {name: floats(x) for name, x in case["params"].items()})


def _judge_graph(case: Case, seen: Any) -> Finding | None:
    right = _slopes(case)
    empty = [name for name in ngram.PARAMETERS if seen[name] is None or not np.any(arrays.read(seen[name]))]
    if not empty:
        return None
    name = empty[0]
    index: Index = tuple(int(i) for i in np.unravel_index(np.abs(right[name]).argmax(), right[name].shape))
    weights, contexts = floats(case["weights"]), np.array(case["contexts"], dtype=np.int64)
    slope = reference.difference(
        lambda a: float((ngram.forward(a, contexts)["z"] * weights).sum()),
        {n: floats(x) for n, x in case["params"].items()},
        name,
        index,
    )
    return Finding(
        f"No gradient arrives at {arrays.listed(empty)}.\n"
        f"The check called backward on a weighted sum of your scores. Nudging {name}[{', '.join(map(str, index))}] moves "
        f"that sum: a central difference gives {arrays.number(slope)}, PyTorch {arrays.number(float(right[name][index]))}.\n"
        "Between the parameter and the scores the recording must not be interrupted.",
        where="ngram_logits",
        size=case["size"],
    )


def _judge_leaves(case: Case, seen: Any) -> Finding | None:
    right = shapes_of(*(case[name] for name in ("V", "d", "k", "h")))
    if set(seen) != set(right):
        text = f"{case['says']} has entries {sorted(seen)}, and should have {sorted(right)}."
        return Finding(text, where="init_params", size=case["size"])
    for name, shape in right.items():
        state = seen[name]
        if list(state["shape"]) != list(shape):
            text = (
                f"{name} has shape {arrays.shown_shape(state['shape'])}, and should have shape {shape}: {case['says']}."
            )
            return Finding(text, where=f"init_params: {name}", size=case["size"])
        if state["floating"] is not True:
            return Finding(f"{name} holds whole numbers. Parameters move by fractions.", f"init_params: {name}")
        if state["requires_grad"] is not True:
            return _no_parameter(case, name, "does not ask for a gradient (requires_grad is False)")
        if state["leaf"] is not True:
            return _no_parameter(
                case, name, "is the result of an operation on something that asks for one (is_leaf is False)"
            )
    return None


def _no_parameter(case: Case, name: str, why: str) -> Finding:
    return Finding(
        f"{name} {why}. PyTorch keeps gradients only in leaves that ask for them.\n"
        "Make the numbers first, all of them; ask for gradients last.",
        where=f"init_params: {name}",
        size=case["size"],
    )


def _alike(params: Mapping[str, Any]) -> tuple[bool, bool]:
    """(are two hidden units alike, are two rows of C alike)?"""
    found = {name: arrays.read(params[name]) for name in ("C", "W1", "b1", "W2")}
    C, W1, b1, W2 = (np.zeros((1, 1)) if a is None else a for a in found.values())
    units = {(*W1[i], b1[i], *W2[:, i]) for i in range(len(W1))}
    return len(units) < len(W1), len({tuple(row) for row in C}) < len(C)


def _judge_symmetry(case: Case, seen: Any) -> Finding | None:
    units, rows = _alike(seen)
    if not units and not rows:
        return None
    what = "Two hidden units start alike: same row of W1, same bias, same column of W2." if units else ""
    also = "Two rows of C start alike: two characters that the model cannot tell apart." if rows else ""
    why = "What starts alike and is used alike gets the same gradient, and stays alike. Draw the numbers at random."
    return Finding("\n".join(filter(None, [what, also, why])), where="init_params", size=case["size"])


def _off_scale(params: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    """The arrays whose spread is not that of the recipe: name → (found, wanted). What is all alike is told elsewhere."""
    if _alike(params)[0]:
        return {}
    found = {}
    for name, wanted in SPREAD.items():
        a = arrays.read(params[name])
        if a is None or not a.size:
            continue
        spread = float(np.sqrt(np.mean(a * a)))
        if name.startswith("b"):
            if not np.abs(a).max() <= _BIASES_AT_MOST:
                found[name] = spread, wanted
        elif not abs(spread / wanted - 1) <= SIGMAS / math.sqrt(2 * a.size):
            found[name] = spread, wanted
    return found


def _judge_scale(case: Case, seen: Any) -> Finding | None:
    for name, (spread, wanted) in _off_scale(seen).items():
        return Finding(
            f"The numbers in {name} have a standard deviation of about {arrays.number(spread, 3)}, and the recipe says "
            f"{arrays.number(wanted)}: {case['says']}.\n"
            "With this recipe the first loss is near log V, and your sweep can be held against the reference table.",
            where=f"init_params: {name}",
            size=case["size"],
        )
    return None


def _repeats(seen: Any, *names: str) -> tuple[bool, bool]:
    """(does the same seed give the same, does the next call give the same)?"""
    first, again, later = (seen[name] for name in names)
    return arrays.same(first, again), arrays.same(first, later)


def _judge_rng(case: Case, seen: Any) -> Finding | None:
    again, later = _repeats(seen, "first", "again", "next")
    if not again:
        text = "Two generators with the same seed gave different parameters. Draw everything with generator=rng."
        return Finding(text, where="init_params: rng", size=case["size"])
    if later and not _alike(seen["first"])[0]:
        text = "Two calls with one generator gave the same parameters. Each call should draw anew; seed nothing inside."
        return Finding(text, where="init_params: rng", size=case["size"])
    return None


_MODEL = {
    "leaves": _judge_leaves,
    "scale": _judge_scale,
    "symmetry": _judge_symmetry,
    "rng": _judge_rng,
    "logits": _judge_logits,
    "graph": _judge_graph,
}


def same_model(case: Case, predicted: Any, seen: Any) -> bool:
    """Random numbers agree in what is asked of them."""
    part = case["part"]
    if part == "scale":
        return _off_scale(predicted).keys() == _off_scale(seen).keys()
    if part == "symmetry":
        return _alike(predicted) == _alike(seen)
    if part == "rng":
        return _repeats(predicted, "first", "again", "next") == _repeats(seen, "first", "again", "next")
    if part == "graph":
        return [predicted[n] is None for n in ngram.PARAMETERS] == [seen[n] is None for n in ngram.PARAMETERS]
    return arrays.same(predicted, seen)


# ---- 5.9 Permuting hidden units -------------------------------------------------------------------------------------


def _permutation(rng: Rng, part: str, V: int, d: int, k: int, h: int, perm: list[int]) -> Case:
    says = f"permute_hidden(params, {perm}) with h = {h} hidden units"
    params = random_params(rng, V, d, k, h)
    contexts = tokens(rng, V, 3, k)
    return case_of(part, "permute_hidden", says, V * h, params=params, perm=perm, contexts=contexts)


def _not_its_inverse(rng: Rng, h: int) -> list[int]:
    while True:
        perm = rng.sample(range(h), h)
        if any(perm[perm[i]] != i for i in range(h)):
            return perm


def permute_worked() -> list[Case]:
    rng = Rng("5.9")
    return [_permutation(rng, part, 5, 2, 2, 3, [1, 2, 0]) for part in ("hidden", "output", "untouched")]


def permute_cases(rng: Rng) -> list[Case]:
    return [
        _permutation(rng, part, h + 1, 2, 2, h, _not_its_inverse(rng, h))
        for part in ("hidden", "output", "untouched")
        for h in (3, 4)
    ]


def judge_permutation(case: Case, seen: Any) -> Finding | None:
    params = {name: floats(x) for name, x in case["params"].items()}
    if case["part"] == "untouched":
        for name, before in params.items():
            if arrays.departure(name, seen[name], before) is not None:
                text = (
                    f"permute_hidden changed {name} of the network that it was given. Make a new dict with new tensors."
                )
                return Finding(text, where="permute_hidden", size=case["size"])
        return None
    perm = np.array(case["perm"])
    right = {**params, "W1": params["W1"][perm], "b1": params["b1"][perm], "W2": params["W2"][:, perm]}
    for name in ("W1", "b1") if case["part"] == "hidden" else ("W2", "C", "b2"):
        if name not in seen:
            return Finding(f"The new dict has no entry {name!r}.", where="permute_hidden", size=case["size"])
        departure = arrays.departure(name, seen[name], right[name], tolerance=LOOSE, shape_because=f"that of {name}")
        if departure is not None:
            lines = [
                departure.text,
                f"This is {case['says']}: new unit 0 is old unit {perm[0]}.",
                *_same_function(case, seen),
            ]
            lines.append("Where does a hidden unit have its numbers? Follow one of them through both layers.")
            return Finding("\n".join(lines), where=f"permute_hidden: {name}", size=case["size"])
    return None


def _same_function(case: Case, seen: Any) -> list[str]:
    """Whether the new network still computes the old scores, if it computes any."""
    old = {name: floats(x) for name, x in case["params"].items()}
    new = {name: arrays.read(seen[name]) for name in old if name in seen}
    complete = {name: a for name, a in new.items() if a is not None and a.shape == old[name].shape}
    if len(complete) < len(old):
        return []
    contexts = np.array(case["contexts"], dtype=np.int64)
    before, after = ngram.forward(old, contexts)["z"], ngram.forward(complete, contexts)["z"]
    if not arrays.off(before, after, LOOSE).any():
        return [
            "The new network computes the same scores as the old one, but its units stand in another order than asked."
        ]
    return [
        f"It should compute the same scores; they differ by up to {arrays.number(float(np.abs(before - after).max()), 3)}."
    ]


# ---- 5.11 Predict, then run -----------------------------------------------------------------------------------------


def prediction_worked() -> list[Case]:
    return [case_of(p, "my_prediction", "my_prediction()", float(i)) for i, p in enumerate(("passes", "too-late"))]


def no_cases(rng: Rng) -> list[Case]:
    """The answer is one object: the worked cases say all about it."""
    return []


def judge_prediction(case: Case, seen: Any) -> Finding | None:
    if case["part"] == "too-late":
        if seen is not None and same_value(float(seen), TOO_LATE):
            return None
        w = arrays.number(float("nan") if seen is None else float(seen))
        text = (
            f"You predict that w is {w} after that step. Run the cell below and see. What stands in w.grad at the "
            "moment of the update?"
        )
        return Finding(text, where="too-late", size=1)
    yours = [float("nan") if g is None else float(g) for g in seen]
    if len(yours) == 3 and all(same_value(g, p) for g, p in zip(yours, ROUNDS, strict=True)):
        return None
    shown = ", ".join(arrays.number(g) for g in yours[:6])
    text = (
        f"You predict {shown} for three rounds of (3w − 1)² at w = 2. Run the cell below and compare. One round alone "
        "gives 30; what is there when the next one begins?"
    )
    return Finding(text, where="passes")


# ---- 5.4 One step ---------------------------------------------------------------------------------------------------


def _batch(rng: Rng, V: int, k: int, B: int) -> dict[str, Any]:
    return {"contexts": tokens(rng, V, B, k), "targets": tokens(rng, V, B)}


def _step(rng: Rng, part: str, B: int, lr: float, V: int = 4, d: int = 2, k: int = 2, h: int = 3) -> Case:
    # Every parameter gets a gradient: all characters occur in the contexts.
    batches = [_batch(rng, V, k, B) for _ in range(3 if part == "fresh" else 1)]
    says = f"train_step with V = {V}, d = {d}, k = {k}, h = {h}, B = {B} examples and learning rate {lr}"
    stale = rng.choice((-2.0, 2.0, 3.0))
    return case_of(
        part, "train_step", says, B * V * h, params=random_params(rng, V, d, k, h), batches=batches, lr=lr, stale=stale
    )


def step_worked() -> list[Case]:
    rng = Rng("5.4")
    return [
        _step(rng, part, B, 0.5) for part, B in (("loss", 2), ("plain", 2), ("update", 2), ("fresh", 2), ("leaves", 2))
    ]


def step_cases(rng: Rng) -> list[Case]:
    lr = rng.choice((0.2, 0.3, 0.7))
    cases = [_step(rng, part, 3, lr, 5, 2, 2, 4) for part in ("loss", "plain", "update", "fresh", "leaves")]
    return [*cases, _step(rng, "update", 4, 0.1), _step(rng, "loss", 5, 0.1)]


def _given(case: Case, batch: Mapping[str, Any]) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    params = {name: floats(x) for name, x in case["params"].items()}
    return params, np.array(batch["contexts"], dtype=np.int64), np.array(batch["targets"], dtype=np.int64)


@once_a_case
def _reference_step(case: Case) -> tuple[float, dict[str, np.ndarray]]:
    return ngram.gradients(*_given(case, case["batches"][0]))


def judge_step(case: Case, seen: Any) -> Finding | None:
    return _STEP[case["part"]](case, seen)


def _judge_step_loss(case: Case, seen: Any) -> Finding | None:
    right, B = _reference_step(case)[0], len(case["batches"][0]["targets"])
    by_numpy = ngram.mean_loss(*_given(case, case["batches"][0]))
    yours = float("nan") if seen["loss"] is None else float(seen["loss"])
    sum_ = f"Yours is {B} times that, and {B} is the number of examples.\n" if same_value(yours, B * right) else ""
    return _wrong_number(
        {**case, "says": "the loss that train_step returns"},
        seen["loss"],
        right,
        f"{sum_}It is the mean cross-entropy of the batch, with the parameters from before the update.",
        f"PyTorch gives {arrays.number(right)}, a plain computation with logarithms {arrays.number(by_numpy)}.",
    )


def _judge_plain(case: Case, seen: Any) -> Finding | None:
    if seen["float"] is True:
        return None
    text = (
        f"train_step returns the loss as a {str(seen['type'])[:40]}. Asked for is a plain Python float.\n"
        "A tensor may hold on to the graph that made it. Which method of a tensor gives its number?"
    )
    return Finding(text, where="train_step: what it returns", size=case["size"])


def _judge_update(case: Case, seen: Any) -> Finding | None:
    params, contexts, targets = _given(case, case["batches"][0])
    _, gradients = _reference_step(case)
    lr = case["lr"]
    moved = [
        n for n in ngram.PARAMETERS if arrays.departure(n, seen["params"][n], params[n], tolerance=1e-12) is not None
    ]
    for name in ngram.PARAMETERS:

        def stepped(index: Index, name: str = name) -> float:
            slope = reference.difference(lambda a: ngram.mean_loss(a, contexts, targets), params, name, index)
            return float(params[name][index] - lr * slope)

        right = Right(params[name] - lr * gradients[name], stepped, "the mean loss, stepped by hand,")
        found = finding(
            case,
            f"params[{name!r}]",
            seen["params"][name],
            right,
            "new parameter = old parameter − learning rate · gradient of the mean loss.",
            where=f"train_step: {name}",
            after=f"This is {case['says']}."
            + ("" if moved else " After the step every parameter is what it was before."),
            tolerance=LOOSE,
            shape_because=f"that of {name}",
        )
        if found is not None:
            return found
    return None


def _judge_fresh(case: Case, seen: Any) -> Finding | None:
    start = {name: floats(x) for name, x in case["params"].items()}
    if all(arrays.departure(n, seen["renewed"][n], start[n], tolerance=1e-12) is None for n in ngram.PARAMETERS):
        return Finding(
            "Three steps left every parameter where it was, so there is nothing to compare.", "train_step", 1e6
        )
    for name in ngram.PARAMETERS:
        renewed = arrays.read(seen["renewed"][name])
        assert renewed is not None
        departure = arrays.departure(name, seen["kept"][name], renewed, tolerance=LOOSE)
        if departure is None:
            continue
        index = departure.index or (0,) * renewed.ndim
        kept = arrays.read(seen["kept"][name])
        a = arrays.number(float(kept[index])) if kept is not None and kept.shape == renewed.shape else "another shape"
        place = f"{name}[{', '.join(map(str, index))}]"
        text = (
            f"Three steps were taken twice. On tensors that had {arrays.number(case['stale'])} in every .grad beforehand, "
            f"and were then left alone, {place} ended at {a}. On tensors made anew before each step it ended at "
            f"{arrays.number(float(renewed[index]))}.\n"
            "What stands in .grad when train_step is called must not matter. When is it cleared?"
        )
        return Finding(text, where="train_step: fresh gradients", size=case["size"])
    return None


def _judge_still_leaves(case: Case, seen: Any) -> Finding | None:
    for name in ngram.PARAMETERS:
        state = seen[name]
        if state["leaf"] is True and state["requires_grad"] is True:
            continue
        what = "is a result, not a leaf" if state["leaf"] is not True else "no longer asks for a gradient"
        text = (
            f"After the step params[{name!r}] {what}: the next backward pass will leave no gradient in it.\n"
            "The tensor should stay the same one, with other numbers in it."
        )
        return Finding(text, where=f"train_step: {name}", size=case["size"])
    return None


_STEP = {
    "loss": _judge_step_loss,
    "plain": _judge_plain,
    "update": _judge_update,
    "fresh": _judge_fresh,
    "leaves": _judge_still_leaves,
}


def same_step(case: Case, predicted: Any, seen: Any) -> bool:
    if case["part"] == "update":  # gradients left behind tell apart only what the parameters do not
        return arrays.same(predicted["params"], seen["params"])
    if case["part"] == "plain":
        return bool(predicted["float"] is seen["float"])
    return arrays.same(predicted, seen)


# ---- 5.5 Measuring --------------------------------------------------------------------------------------------------


def _evaluation(rng: Rng, part: str, n: int, batch_size: int) -> Case:
    V, d, k, h = 4, 2, 2, 3
    says = f"evaluate on {n} examples with batch_size = {batch_size}"
    return case_of(
        part, "evaluate", says, n, params=random_params(rng, V, d, k, h), batch_size=batch_size, **_batch(rng, V, k, n)
    )


def _bits(nats: float) -> Case:
    return case_of("bits", "bits_per_character", f"bits_per_character({nats})", nats, nats=nats)


def _bigram(train_ids: list[int], val_ids: list[int], V: int) -> Case:
    says = (
        f"bigram_loss({train_ids}, {val_ids}, {V})" if len(train_ids) < 12 else f"bigram_loss on {len(train_ids)} ids"
    )
    return case_of("bigram", "bigram_loss", says, len(train_ids), train_ids=train_ids, val_ids=val_ids, V=V)


def evaluation_worked() -> list[Case]:
    rng = Rng("5.5")
    return [
        _evaluation(rng, "mean", 6, 3),
        _evaluation(rng, "ragged", 6, 5),
        _evaluation(rng, "ragged", 7, 3),
        _evaluation(rng, "harmless", 5, 2),
        _bits(1.9821),
        _bits(math.log(2)),
        _bigram([0, 1, 0, 1, 0], [0, 1, 1], 2),
        _bigram([0, 0, 1, 2, 0, 1], [0, 1, 0, 2], 3),
    ]


def evaluation_cases(rng: Rng) -> list[Case]:
    cases = [_evaluation(rng, "mean", 8, 4), _evaluation(rng, "mean", 3, 4096), _evaluation(rng, "harmless", 7, 3)]
    cases += [_evaluation(rng, "ragged", n, size) for n, size in ((9, 4), (11, 3), (7, 6))]
    cases += [_bits(round(rng.uniform(1.1, 4.5), 4)) for _ in range(2)]
    for V in (3, 5):
        train_ids = [rng.randrange(V - 1) for _ in range(rng.randint(16, 24))]
        cases.append(_bigram(train_ids, [rng.randrange(V) for _ in range(9)] + [V - 1, V - 1], V))
    return cases


def right_bigram(case: Case) -> tuple[float, float]:
    """Add-one bigram loss, counted with NumPy arrays and once more with plain Python."""
    train_ids, val_ids, V = case["train_ids"], case["val_ids"], case["V"]
    counts = np.ones((V, V))
    np.add.at(counts, (train_ids[:-1], train_ids[1:]), 1)
    table = counts / counts.sum(axis=1, keepdims=True)
    by_numpy = float(-np.log(table[val_ids[:-1], val_ids[1:]]).mean())
    pairs = Counter(pairwise(train_ids))
    firsts = Counter(train_ids[:-1])
    seen = list(pairwise(val_ids))
    by_hand = sum(math.log((firsts[a] + V) / (pairs[a, b] + 1)) for a, b in seen) / len(seen)
    return by_numpy, by_hand


def judge_evaluation(case: Case, seen: Any) -> Finding | None:
    part = case["part"]
    if part == "bits":
        hint = "One bit is log 2 = 0.693147 nats. How many of them fit into the loss?"
        return _wrong_number(case, seen, case["nats"] / math.log(2), hint)
    if part == "bigram":
        right, by_hand = right_bigram(case)
        hint = (
            "Count pairs in the training ids, add 1 to every count, divide each row by its sum; then take the mean of −log "
            "of the probabilities of the pairs in the validation ids."
        )
        twice = f"Counted twice, with arrays and pair by pair: {arrays.number(right)} and {arrays.number(by_hand)}."
        return _wrong_number(case, seen, right, hint, twice)
    params, contexts, targets = _given(case, case)
    if part == "harmless":
        return _judge_harmless(case, seen, params)
    by_torch = _evaluated(case)
    by_numpy = ngram.mean_loss(params, contexts, targets)
    n, size = len(targets), case["batch_size"]
    sizes = arrays.listed([str(min(size, n - i)) for i in range(0, n, size)])
    batches = f"The batches have {sizes} examples." if n > size else "All examples fit into one batch."
    return _wrong_number(
        case,
        seen,
        by_torch,
        f"{batches} Every one of the {n} examples counts the same.",
        f"PyTorch on all at once gives {arrays.number(by_torch)}, NumPy {arrays.number(by_numpy)}.",
    )


@once_a_case
def _evaluated(case: Case) -> float:
    return ngram.gradients(*_given(case, case))[0]


def _judge_harmless(case: Case, seen: Any, params: Mapping[str, np.ndarray]) -> Finding | None:
    for name, before in params.items():
        if arrays.departure(name, seen["params"][name], before) is not None:
            text = f"evaluate changed {name}. It measures; parameters are changed in train_step only."
            return Finding(text, where="evaluate", size=case["size"])
    if seen["grads"]:
        names = arrays.listed([str(name)[:20] for name in seen["grads"]])
        text = f"After evaluate there are gradients in {names}. To measure a loss no backward pass is needed."
        return Finding(text, where="evaluate", size=case["size"])
    return None


# ---- 5.6 Minibatches ------------------------------------------------------------------------------------------------


def _draw(part: str, n: int, size: int, seed: int) -> Case:
    return case_of(part, "minibatch", f"minibatch(rng, {n}, {size})", size, n=n, size_asked=size, seed=seed) | {
        "size": size
    }


# Among so many examples 30 draws hit one twice in 1 of 2,300 cases, and do so twice in a row in 1 of 5 million.
MANY = 1_000_000


def draw_worked() -> list[Case]:
    return [
        _draw("indices", 5, 200, 1),
        _draw("independent", 20, 20, 2),
        _draw("independent", 4, 12, 3),
        _draw("independent", MANY, 30, 6),
        _draw("uniform", 4, 600, 4),
        _draw("rng", 1000, 8, 5),
    ]


def draw_cases(rng: Rng) -> list[Case]:
    seeds = [rng.randrange(10**6) for _ in range(4)]
    n = rng.randint(3, 6)
    return [
        _draw("indices", n, 200, seeds[0]),
        _draw("independent", rng.randint(20, 30), 30, seeds[1]),
        _draw("independent", MANY, 30, seeds[1]),
        _draw("uniform", n, 600, seeds[2]),
        _draw("rng", rng.randint(500, 2000), 16, seeds[3]),
    ]


def _ids(seen: Mapping[str, Any]) -> np.ndarray:
    found = arrays.read(seen)
    return np.zeros(0) if found is None else found.reshape(-1)


def _has_repeats(ids: np.ndarray) -> bool:
    return len(set(ids.tolist())) < len(ids)


def _in_a_row(ids: np.ndarray, n: int) -> bool:
    """Is each index the one before plus 1, from the start again at the end?"""
    return len(ids) > 1 and bool(np.all((np.diff(ids) - 1) % n == 0))


def judge_draw(case: Case, seen: Any) -> Finding | None:
    n, size, first = case["n"], case["size"], _ids(seen["first"])
    where = "minibatch"
    shape = tuple(seen["first"]["shape"])
    if case["part"] == "rng":
        again, later = _repeats(seen, "first", "again", "second")
        if not again:
            text = "Two generators with the same seed gave different indices. Draw with generator=rng."
            return Finding(text, where=f"{where}: rng", size=size)
        if later:
            return Finding("Two draws from one generator gave the same indices.", where=f"{where}: rng", size=size)
        return None
    if shape != (size,):
        if case["part"] == "uniform":
            return None  # the other parts tell
        text = f"{case['says']} has shape {arrays.shown_shape(shape)}, and should have shape ({size},)."
        if shape == (min(n, size),):
            text += f"\nThere are {n} examples, and {size} draws were asked for. Drawing with replacement allows that."
        return Finding(text, where=where, size=size)
    if case["part"] == "indices":
        outside = [int(i) for i in first if not 0 <= i < n]
        if outside:
            text = f"{case['says']} has the index {outside[0]} in it. With {n} examples they run from 0 to {n - 1}."
            return Finding(text, where=where, size=size)
        return _not_whole(case, case["says"], seen["first"])
    if case["part"] == "independent":
        if _in_a_row(first, n):
            some = ", ".join(str(int(i)) for i in first[:6])
            text = f"{case['says']} began {some}: one after the other. Draw each index by itself."
            return Finding(text, where=where, size=size)
        second = _ids(seen["second"])
        if len(first) > 10 and bool(np.all(np.diff(first) >= 0)):
            text = f"{case['says']} came sorted. Draw each index by itself, whatever came before."
            return Finding(text, where=where, size=size)
        if n == MANY:
            if _has_repeats(first) and _has_repeats(second):
                repeated = next(int(i) for k, i in enumerate(first) if i in first[:k])
                text = (
                    f"{case['says']}, twice, and in each draw an index came more than once, {repeated} for one. With {size} "
                    f"independent draws among {n:,} examples that is all but impossible."
                )
                return Finding(text, where=where, size=size)
            return None
        if not _has_repeats(first) and not _has_repeats(second):
            text = (
                f"{case['says']}, twice, and no index came twice in a draw. With {size} independent draws among {n} "
                "that is all but impossible."
            )
            return Finding(text, where=where, size=size)
        return None
    inside = first[(first >= 0) & (first < n)].astype(int)
    counts = np.bincount(inside, minlength=n)
    expected, spread = size / n, math.sqrt(size / n * (1 - 1 / n))
    for i in np.flatnonzero(np.abs(counts - expected) > SIGMAS * spread):
        text = (
            f"In {size} draws from {n} examples, index {i} came {counts[i]} times. About {expected:.0f} is to be "
            "expected: every example has the same chance."
        )
        return Finding(text, where=where, size=size)
    return None


def same_draw(case: Case, predicted: Any, seen: Any) -> bool:
    """Draws agree in what is asked of them."""

    def features(found: Any) -> tuple[Any, ...]:
        first, n = _ids(found["first"]), case["n"]
        if case["part"] == "rng":
            return _repeats(found, "first", "again", "second")
        if case["part"] == "uniform":
            return (set(first.tolist()),)
        shape = tuple(found["first"]["shape"])
        if case["part"] == "independent":
            return shape, _has_repeats(first), _in_a_row(first, n)
        return shape, float(first.min(initial=n)) >= 0, float(first.max(initial=0)) < n

    return features(predicted) == features(seen)


# ---- 5.7 The loop ---------------------------------------------------------------------------------------------------

_DRAWS = 45  # of 3 examples: that one of them never comes happens once in thirty million draws


def _training(rng: Rng, part: str) -> Case:
    V, d, k, h, n = 5, 2, 2, 3, 3
    params = random_params(rng, V, d, k, h)
    if part == "batches":
        contexts = rng.sample([[a, b] for a in range(V) for b in range(V)], n)
        targets = tokens(rng, V, n)
        given = {"steps": _DRAWS, "batch_size": 1, "rates": [0.0]}
        says = f"train for {_DRAWS} steps with one example each and a learning rate of 0"
    else:
        # All examples are the same one, so that chance decides nothing.
        contexts, targets = [tokens(rng, V, k)] * n, [rng.randrange(V)] * n
        rates = rng.sample((0.2, 0.4, 0.6, 0.8, 1.0), 4) if part == "schedule" else [rng.choice((0.3, 0.5))]
        given = {"steps": 4, "batch_size": 3, "rates": rates}
        told = "with lr(0), lr(1), … = " + ", ".join(map(str, rates)) if part == "schedule" else f"with lr = {rates[0]}"
        says = f"train for 4 steps {told}, on copies of a single example"
    return case_of(
        part, "train", says, float(len(part)), params=params, contexts=contexts, targets=targets, seed=rng.randrange(10**6),
        **given,
    )  # fmt: skip


_TRAIN_PARTS = ("losses", "schedule", "batches", "callback")


def training_worked() -> list[Case]:
    return [_training(Rng(f"5.7 {part}"), part) for part in _TRAIN_PARTS]


def training_cases(rng: Rng) -> list[Case]:
    return [_training(rng, part) for part in _TRAIN_PARTS]


@once_a_case
def right_losses(case: Case) -> list[float]:
    """The losses of gradient descent on the case's one example, by PyTorch's gradients."""
    params, contexts, targets = _given(case, case)
    losses = []
    for step in range(case["steps"]):
        loss, gradients = ngram.gradients(params, contexts, targets)
        rate = case["rates"][min(step, len(case["rates"]) - 1)]
        params = {name: p - rate * gradients[name] for name, p in params.items()}
        losses.append(loss)
    return losses


@once_a_case
def single_losses(case: Case) -> list[float]:
    """The loss of each example by itself, in NumPy."""
    params, contexts, targets = _given(case, case)
    return [ngram.mean_loss(params, contexts[i : i + 1], targets[i : i + 1]) for i in range(len(targets))]


def _numbers(seen: Sequence[Any]) -> list[float]:
    return [float("nan") if x is None else float(x) for x in seen]


def judge_training(case: Case, seen: Any) -> Finding | None:
    losses = _numbers(seen["losses"])
    if case["part"] == "callback":
        return _judge_callback(case, seen["calls"], losses)
    if case["part"] == "batches":
        return _judge_batches(case, losses, _numbers(seen["again"]))
    right = right_losses(case)
    if case["part"] == "losses" and len(losses) != len(right):
        text = (
            f"{case['says']}: the list has {len(losses)} losses. One for each of the {len(right)} steps is asked for."
        )
        return Finding(text, where="train", size=case["size"])
    if len(losses) < 2:
        return Finding("There are too few losses to look at.", where="train", size=99.0)
    for i, (yours, wanted) in enumerate(zip(losses, right, strict=False)):
        if arrays.off(np.float64(yours), np.float64(wanted), LOOSE):
            a, b = arrays.distinct(yours, wanted)
            text = (
                f"{case['says']}: the loss of step {i} is {a}, and should be {b}.\n"
                "Each step takes lr(step), counted from 0, and gives the loss of its own batch before its update.\n"
                "Where your train_step is not right yet, this check calls one of its own, so look at train itself."
            )
            return Finding(text, where="train: lr" if case["part"] == "schedule" else "train", size=case["size"])
    return None


def _drawn(case: Case, losses: Sequence[float]) -> list[int]:
    """Which example each step used, told from its loss; −1 for none. A list without end is looked at so far only."""
    single = single_losses(case)
    return [next((i for i, own in enumerate(single) if same_value(x, own, LOOSE)), -1) for x in losses[:1000]]


def _judge_batches(case: Case, losses: list[float], again: list[float]) -> Finding | None:
    drawn, n = _drawn(case, losses), len(case["targets"])
    if len(drawn) < 2:
        return Finding("There are too few losses to look at.", where="train", size=99.0)
    if -1 in drawn:
        i = drawn.index(-1)
        single = ", ".join(arrays.number(x) for x in single_losses(case))
        text = (
            f"{case['says']}: step {i} gave the loss {arrays.number(losses[i])}. Nothing moves, so each loss should be that "
            f"of one of the {n} examples: {single}."
        )
        return Finding(text, where="train: minibatches", size=case["size"])
    if len(set(drawn)) < n and len(drawn) >= 30:
        text = (
            f"{case['says']}, among {n} examples: only {len(set(drawn))} of them ever came up. Draw a new minibatch at "
            "every step."
        )
        return Finding(text, where="train: minibatches", size=case["size"])
    if _in_a_row(np.array(drawn), n):
        text = f"{case['says']}: the examples came one after the other, in order. Draw them at random."
        return Finding(text, where="train: minibatches", size=case["size"])
    if not same_value(losses, again):
        text = "Two runs with generators of the same seed used different minibatches. Hand rng on to minibatch."
        return Finding(text, where="train: rng", size=case["size"])
    return None


def _judge_callback(case: Case, calls: list[list[float]], losses: list[float]) -> Finding | None:
    wanted = [[float(i), x] for i, x in enumerate(losses)]
    if len(losses) >= 2 and len(calls) == len(wanted) and same_value([_numbers(c) for c in calls], wanted, LOOSE):
        return None
    shown = ", ".join(f"({arrays.number(float(s))}, {arrays.number(float(x), 4)})" for s, x in calls[:4]) or "no call"
    text = (
        f"{case['says']}: the callback got {shown}.\n"
        f"After each of the {case['steps']} steps it should be called with (step, loss), steps counted from 0, and the loss "
        "that goes into the list."
    )
    return Finding(text, where="train: callback", size=case["size"])


def same_training(case: Case, predicted: Any, seen: Any) -> bool:
    if case["part"] != "batches":
        return arrays.same(predicted, seen)

    def features(found: Any) -> tuple[Any, ...]:
        losses, again = _numbers(found["losses"]), _numbers(found["again"])
        drawn = _drawn(case, losses)
        return (
            len(losses), -1 in drawn, len(set(drawn)), _in_a_row(np.array(drawn), len(case["targets"])),
            same_value(losses, again),
        )  # fmt: skip

    return features(predicted) == features(seen)


# ---- 5.10 Memory ----------------------------------------------------------------------------------------------------


def _stored(L: int, h: int, B: int) -> Case:
    return case_of("stored", "activations_stored", f"activations_stored({L}, {h}, {B})", L, L=L, h=h, B=B)


def _checkpoints(part: str, L: int, h: int, B: int, every: int) -> Case:
    which = {"peak": "the first number", "recomputed": "the second number"}[part]
    says = f"{which} of checkpointed({L}, {h}, {B}, {every})"
    return case_of(part, f"checkpointed: {part}", says, L, L=L, h=h, B=B, every=every)


def memory_worked() -> list[Case]:
    return [_stored(16, 128, 64), *(_checkpoints(part, 16, 1, 1, 4) for part in ("peak", "recomputed")),
            *(_checkpoints(part, 16, 128, 64, 4) for part in ("peak", "recomputed"))]  # fmt: skip


def memory_cases(rng: Rng) -> list[Case]:
    every, segments = rng.randint(2, 5), rng.randint(3, 6)
    h, B = rng.randint(3, 50), rng.randint(3, 20)
    sizes = every * segments, h, B
    return [_stored(*sizes), *(_checkpoints(part, *sizes, every) for part in ("peak", "recomputed"))]


def walked(L: int, every: int) -> tuple[int, int]:
    """(most layers in memory at once, layers recomputed): a backward pass walked through layer by layer."""
    memory = {layer for layer in range(1, L + 1) if layer % every == 0}
    most, recomputed = len(memory), 0
    for end in range(L, 0, -every):
        segment = {layer for layer in range(end - every + 1, end + 1) if layer not in memory}
        recomputed += len(segment)
        most = max(most, len(memory | segment))
    return most, recomputed


def judge_memory(case: Case, seen: Any) -> Finding | None:
    L, h, B = case["L"], case["h"], case["B"]
    if case["part"] == "stored":
        return _wrong_number(
            case, seen, float(L * h * B), f"{L} layers, each with {h} outputs for each of {B} examples."
        )
    every = case["every"]
    formula = {"peak": L // every + every - 1, "recomputed": L - L // every}[case["part"]]
    layers = walked(L, every)[("peak", "recomputed").index(case["part"])]
    assert layers == formula
    hint = {
        "peak": f"Kept are the outputs of layers {every}, {2 * every}, …, {L}. Going back, one segment at a time is there in "
        "full, in addition to the checkpoints.",
        "recomputed": "Every layer that was not kept is computed once more.",
    }[case["part"]]
    walk = f"Walked through layer by layer: {layers} layers of {h * B} output{'' if h * B == 1 else 's'}."
    return _wrong_number(case, seen, float(layers * h * B), hint, walk)


# ---- 5.8 Sampling ---------------------------------------------------------------------------------------------------


def sure_of(V: int, k: int, place: int, perm: Sequence[int]) -> dict[str, Any]:
    """A network that is sure: after a context whose entry `place` is a comes perm[a], with odds of e^100."""
    d = 2 * V  # another size than V: a mix-up of the two must show
    W1 = np.zeros((V, k * d))
    W1[:, place * d : (place + 1) * d] = 20 * np.eye(V, d)
    W2 = np.zeros((V, V))
    W2[list(perm), range(V)] = 50.0
    params = {"C": np.eye(V, d), "W1": W1, "b1": np.full(V, -10.0), "W2": W2, "b2": np.zeros(V)}
    return {name: a.tolist() for name, a in params.items()}


def odds_of(p: Sequence[float], k: int) -> dict[str, Any]:
    """A network that gives the probabilities p after every context."""
    V = len(p)
    params = {"C": np.eye(V), "W1": np.zeros((2, k * V)), "b1": np.zeros(2), "W2": np.zeros((V, 2)), "b2": np.log(p)}
    return {name: a.tolist() for name, a in params.items()}


def _sequence(part: str, k: int, prompt: list[int], n: int, perm: list[int], seed: int) -> Case:
    says = f"generate with a context of k = {k}, the prompt {prompt} and n = {n}"
    return case_of(
        part, "generate", says, len(prompt) + n, params=sure_of(len(perm), k, 0, perm), prompt=prompt, n=n, k=k,
        perm=perm, seed=seed,
    )  # fmt: skip


def _sampling(part: str, p: list[float], n: int, seed: int) -> Case:
    says = f"generate, {n} ids from a model that always gives the probabilities {p}"
    return case_of(part, "generate", says, n, params=odds_of(p, 2), prompt=[0, 1], n=n, p=p, seed=seed)


def _writing(rng: Rng, n: int) -> list[Case]:
    perm = [1, 2, 3, 4, 0] if rng.random() < 0.5 else [2, 4, 1, 0, 3]
    prompt = rng.sample(range(5), 3)
    longer = [*rng.choices(range(5), k=2), *rng.sample([0, 1, 2, 3, 4], 3)]
    p = rng.choice(([0.5, 0.3, 0.15, 0.05], [0.1, 0.6, 0.05, 0.25]))
    seeds = [rng.randrange(10**6) for _ in range(6)]
    return [
        _sampling("length", p, n, seeds[0]),
        _sequence("window", 3, prompt, 7, perm, seeds[1]),
        _sequence("long-prompt", 3, longer, 6, perm, seeds[2]),
        _sampling("sampling", p, 250, seeds[3]),
        _sampling("rng", p, 30, seeds[4]),
        _sampling("untouched", p, 3, seeds[5]),
    ]


def writing_worked() -> list[Case]:
    return _writing(Rng("5.8"), 5)


def writing_cases(rng: Rng) -> list[Case]:
    return _writing(rng, rng.randint(4, 9))


def _new(case: Case, ids: np.ndarray) -> list[int]:
    """The new ids, whether or not the prompt stands in front of them."""
    if len(ids) == len(case["prompt"]) + case["n"]:
        ids = ids[len(case["prompt"]) :]
    return [int(i) for i in ids[: case["n"]] if math.isfinite(i)]


def _frequencies(case: Case, ids: Sequence[int]) -> np.ndarray:
    inside = [i for i in ids if 0 <= i < len(case["p"])]
    return np.bincount(inside, minlength=len(case["p"])) / max(len(ids), 1)


def _far(case: Case, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.abs(a - b) > SIGMAS * np.sqrt(b * (1 - b) / case["n"]) + 1e-9


def judge_writing(case: Case, seen: Any) -> Finding | None:
    part, where = case["part"], "generate"
    if part == "untouched":
        after = _ids(seen["prompt"]).tolist()
        if after == case["prompt"]:
            return None
        return Finding(
            f"The prompt was {case['prompt']}, and afterwards it is {[int(i) for i in after]}.", where, case["size"]
        )
    ids = _ids(seen["ids"])
    if part == "length":
        if tuple(seen["ids"]["shape"]) == (case["n"],):
            return None
        text = f"{case['says']}: {len(ids)} ids came back, and {case['n']} are asked for, the new ones only."
        return Finding(text, where, case["size"])
    if part == "rng":
        again, later = _repeats(seen, "ids", "again", "later")
        if not again:
            text = "Two generators with the same seed gave different ids. Draw with generator=rng."
            return Finding(text, f"{where}: rng", case["size"])
        if later and len(set(ids.tolist()[-case["n"] :])) > 1:
            return Finding(
                "Two calls with one generator gave the same ids. Seed nothing inside.", f"{where}: rng", case["size"]
            )
        return None
    yours = _new(case, ids)
    if part == "sampling":
        if len(yours) < case["n"] // 2:
            return Finding("There are too few ids to look at.", where, 999.0)
        frequencies = _frequencies(case, yours)
        far = np.flatnonzero(_far(case, frequencies, np.array(case["p"])))
        if not len(far):
            return None
        i = int(far[0])
        text = (
            f"{case['says']}: id {i} came in {100 * frequencies[i]:.0f} of 100 draws, and its probability is {case['p'][i]}.\n"
            "Softmax makes probabilities of the scores; draw with them."
        )
        return Finding(text, f"{where}: sampling", case["size"])
    right = list(case["prompt"][-case["k"] :])
    for _ in range(case["n"]):
        right.append(case["perm"][right[-case["k"]]])
    right = right[case["k"] :]
    if len(yours) >= 3 and yours == right[: len(yours)]:
        return None
    text = (
        f"{case['says']}: yours goes on {yours}, and should go on {right}.\n"
        f"In this model the next id depends on the oldest of the last {case['k']} ids, and on nothing else: if that one "
        f"is a, the next is {case['perm']}[a], practically always."
    )
    return Finding(text, f"{where}: context", case["size"])


def same_writing(case: Case, predicted: Any, seen: Any) -> bool:
    part = case["part"]
    if part == "rng":
        return _repeats(predicted, "ids", "again", "later") == _repeats(seen, "ids", "again", "later")
    if part == "length":
        return bool(predicted["ids"]["shape"] == seen["ids"]["shape"])
    if part == "sampling":
        new = [_new(case, _ids(x["ids"])) for x in (predicted, seen)]
        a, b = (_frequencies(case, ids) for ids in new)
        certain = [bool(f.max() > 0.999) for f in (a, b)]
        repeats = [any(i == j for i, j in pairwise(ids)) for ids in new]
        alike = certain[0] == certain[1] and repeats[0] == repeats[1]
        return alike and not _far(case, b, np.clip(a, 0.02, 0.98)).any()
    return arrays.same(predicted, seen)


# ---- the lesson -----------------------------------------------------------------------------------------------------


def _same(case: Case, predicted: Any, seen: Any) -> bool:
    return arrays.same(predicted, seen)


_exercise: Callable[..., Exercise] = partial(Exercise, same=_same, may_import=("torch",))

LESSON = LessonExercises(
    exercises=(
        _exercise(
            id="5.1",
            title="From text to examples",
            points=7,
            names=("build_vocabulary", "encode", "decode", "split", "make_dataset"),
            parts=(
                Part("vocabulary", "The vocabulary", 1),
                Part("encode", "From text to token numbers", 1),
                Part("decode", "And back", 1),
                Part("split", "Two contiguous parts", 2),
                Part("windows", "Contexts and targets", 2),
            ),
            worked=data_worked,
            cases=data_cases,
            judge=judge_data,
            misconceptions=misconceptions("5.1"),
            reread=CHARACTERS,
        ),
        _exercise(
            id="5.2",
            title="Counting parameters",
            points=3,
            names=("count_parameters", "count_table"),
            parts=(Part("parameters", "Parameters of the network", 2), Part("table", "Entries of the table", 1)),
            worked=counts_worked,
            cases=counts_cases,
            judge=judge_counts,
            misconceptions=misconceptions("5.2"),
            reread=COUNTING,
        ),
        _exercise(
            id="5.3",
            title="Parameters and logits",
            points=6,
            names=("init_params", "ngram_logits"),
            parts=(
                Part("leaves", "Five leaf tensors of the right shapes"),
                Part("symmetry", "No two units start alike"),
                Part("scale", "The spread of the recipe", 0.5),
                Part("rng", "All chance comes from rng", 0.5),
                Part("logits", "The scores", 2),
                Part("graph", "A way back to every parameter"),
            ),
            worked=model_worked,
            cases=model_cases,
            judge=judge_model,
            misconceptions=misconceptions("5.3"),
            reread=MODEL,
            same=same_model,
        ),
        _exercise(
            id="5.9",
            title="Permuting hidden units",
            points=3,
            names=("permute_hidden",),
            parts=(
                Part("hidden", "The units: W1 and b1"),
                Part("output", "What listens to them: W2, and nothing else"),
                Part("untouched", "The old network stays as it is"),
            ),
            worked=permute_worked,
            cases=permute_cases,
            judge=judge_permutation,
            misconceptions=misconceptions("5.9"),
            reread=TWINS,
        ),
        _exercise(
            id="5.11",
            title="Predict, then run",
            points=2,
            names=("my_prediction",),
            parts=(
                Part("passes", "Three rounds without clearing"),
                Part("too-late", "Cleared between backward and update"),
            ),
            worked=prediction_worked,
            cases=no_cases,
            judge=judge_prediction,
            misconceptions=misconceptions("5.11"),
            reread=CLEARING,
        ),
        _exercise(
            id="5.4",
            title="One training step",
            points=7,
            names=("train_step",),
            parts=(
                Part("loss", "The mean loss", 1),
                Part("plain", "Returned as a plain number", 1),
                Part("update", "The update", 2),
                Part("fresh", "A fresh gradient each step", 2),
                Part("leaves", "Parameters stay parameters", 1),
            ),
            worked=step_worked,
            cases=step_cases,
            judge=judge_step,
            misconceptions=misconceptions("5.4"),
            reread=STEP,
            same=same_step,
        ),
        _exercise(
            id="5.5",
            title="Measuring",
            points=7,
            names=("evaluate", "bits_per_character", "bigram_loss"),
            parts=(
                Part("mean", "The mean over all examples", 1),
                Part("ragged", "A last batch that is smaller", 2),
                Part("harmless", "Nothing is changed by measuring", 1),
                Part("bits", "Bits per character", 1),
                Part("bigram", "The counted bigram", 2),
            ),
            worked=evaluation_worked,
            cases=evaluation_cases,
            judge=judge_evaluation,
            misconceptions=misconceptions("5.5"),
            reread=MEASURING,
        ),
        _exercise(
            id="5.6",
            title="A minibatch",
            points=3,
            names=("minibatch",),
            parts=(
                Part("indices", "Indices of examples"),
                Part("independent", "Each drawn by itself, with replacement"),
                Part("uniform", "Every example has the same chance"),
                Part("rng", "All chance comes from rng"),
            ),
            worked=draw_worked,
            cases=draw_cases,
            judge=judge_draw,
            misconceptions=misconceptions("5.6"),
            reread=BATCHES,
            same=same_draw,
        ),
        _exercise(
            id="5.7",
            title="The training loop",
            points=6,
            names=("train",),
            parts=(
                Part("losses", "A loss for every step", 2),
                Part("schedule", "The learning rate follows its schedule", 1),
                Part("batches", "A new minibatch at every step", 2),
                Part("callback", "The callback hears of every step", 1),
            ),
            worked=training_worked,
            cases=training_cases,
            judge=judge_training,
            misconceptions=misconceptions("5.7"),
            reread=LOOP,
            same=same_training,
        ),
        _exercise(
            id="5.10",
            title="What is stored",
            points=3,
            names=("activations_stored", "checkpointed"),
            parts=(
                Part("stored", "All activations"),
                Part("peak", "With checkpoints: stored at the peak"),
                Part("recomputed", "With checkpoints: recomputed"),
            ),
            worked=memory_worked,
            cases=memory_cases,
            judge=judge_memory,
            misconceptions=misconceptions("5.10"),
            reread=MEMORY,
        ),
        _exercise(
            id="5.8",
            title="Sampling text",
            points=5,
            names=("generate",),
            parts=(
                Part("length", "As many new ids as asked for", 0.5),
                Part("window", "The context moves on", 1.5),
                Part("long-prompt", "Of a longer prompt the last k count", 0.5),
                Part("sampling", "Drawn with the model's probabilities", 1.5),
                Part("rng", "All chance comes from rng", 0.5),
                Part("untouched", "The prompt stays as it is", 0.5),
            ),
            worked=writing_worked,
            cases=writing_cases,
            judge=judge_writing,
            misconceptions=misconceptions("5.8"),
            reread=SAMPLING,
            same=same_writing,
        ),
    ),
    written=(WrittenQuestion("5.written", "In your own words", 8),),
)
