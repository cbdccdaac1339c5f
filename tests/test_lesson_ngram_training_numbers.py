"""Every number that lesson 5 states is computed by the lesson, and recomputed here by other means."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
import torch

from autograder.authoring.source import Source
from tests.lesson_run import Run, plain, source_of
from tests.texts import TINY_SHAKESPEARE, best_text


@pytest.fixture(scope="module")
def source() -> Source:
    return source_of("5-ngram-training")


@pytest.fixture(scope="module")
def lesson(source: Source) -> Iterator[Run]:
    before = torch.get_num_threads()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NBGRADER_EXECUTION", "autograde")  # pictures, plots, checks and the sweep are left out
        run = Run(source, filled=True)
        run.names["text"] = best_text()
        yield run
    torch.set_num_threads(before)


# The reference run of the course's sources: k: parameters, training, validation, bits.
REFERENCE = {
    1: (11_601, 2.4706, 2.4805, 3.579),
    3: (15_697, 1.9171, 1.9821, 2.860),
    5: (19_793, 1.9054, 2.0018, 2.888),
    8: (25_937, 1.9372, 2.0329, 2.933),
}
RECOMPUTED = {
    "uniform": math.log(65),
    "a third": math.log(3),  # held by test_the_example_of_a_step
    "bigram": 2.4819,  # held by test_the_counted_bigram
    **{f"training, k = {k}": row[1] for k, row in REFERENCE.items()},
    **{f"validation, k = {k}": row[2] for k, row in REFERENCE.items()},
    "bigram of the example": -(math.log(3 / 4) + math.log(1 / 4)) / 2,
}


def test_every_long_number_in_the_text_is_one_that_was_recomputed(source: Source) -> None:
    texts = [plain(c.source) for c in source.cells if c.kind == "markdown" or "quiz" in c.tags]
    found = {number for text in texts for number in re.findall(r"\d+\.\d{4,}", text)}
    assert len(found) >= 7
    for number in found:
        digits = len(number.split(".")[1])
        assert any(f"{abs(x):.{digits}f}" == number for x in RECOMPUTED.values()), f"{number} comes from nowhere"


@pytest.mark.parametrize(
    "stated",
    [
        "4.1744",
        "2.4819",
        "2.860",
        "11,601",
        "4,225",
        "17,850,625",
        "1.9171",
        "1.9372",
        "2.0329",
        "1.333",
        "7hB",
        "12hB",
        "15,697",
        "131,072",
        "1.098612",
    ],
)
def test_the_text_states_the_number(source: Source, stated: str) -> None:
    assert stated in plain(
        "\n".join(cell.source for cell in source.cells if cell.kind == "markdown" or "quiz" in cell.tags)
    )


def test_the_reference_table(lesson: Run) -> None:
    assert lesson.names["REFERENCE"] == REFERENCE
    for k, (parameters, _, validation, bits) in REFERENCE.items():
        shapes = [(65, 16), (128, k * 16), (128,), (65, 128), (65,)]
        assert sum(math.prod(shape) for shape in shapes) == parameters
        assert lesson.names["count_parameters"](65, 16, k, 128) == parameters
        assert lesson.names["bits_per_character"](validation) == pytest.approx(bits, abs=5e-4)
        params = lesson.names["init_params"](65, 16, k, 128, torch.Generator())
        assert sum(p.numel() for p in params.values()) == parameters


def test_tables_of_contexts(lesson: Run) -> None:
    assert [lesson.names["count_table"](65, k) for k in (1, 3)] == [4_225, 17_850_625]


def test_the_counted_bigram(lesson: Run) -> None:
    """By hand on the text at hand; on tiny Shakespeare it is the number that the lesson states."""
    vocabulary, train_ids, val_ids = lesson.names["token_ids"]()
    text = best_text()
    border = int(0.9 * len(text))
    pairs, firsts = Counter(pairwise(text[:border])), Counter(text[: border - 1])
    seen = Counter(pairwise(text[border:]))
    by_hand = sum(n * math.log((firsts[a] + 65) / (pairs[a, b] + 1)) for (a, b), n in seen.items()) / seen.total()
    assert lesson.names["bigram_loss"](train_ids, val_ids, len(vocabulary)) == pytest.approx(by_hand, abs=1e-4)
    if TINY_SHAKESPEARE.is_file():
        assert len(text) == 1_115_394
        assert (len(train_ids), len(val_ids)) == (1_003_854, 111_540)
        assert by_hand == pytest.approx(RECOMPUTED["bigram"], abs=5e-5)


def test_no_window_crosses_the_split(lesson: Run) -> None:
    """Each window of either part is found, with its target, in the text of that part."""
    (train_contexts, train_targets), (contexts, targets) = lesson.names["data"](3)
    text = best_text()
    border = int(0.9 * len(text))
    assert len(train_targets) == border - 3 and len(targets) == len(text) - border - 3
    vocabulary = lesson.names["token_ids"]()[0]
    last = "".join(vocabulary[i] for i in [*train_contexts[-1].tolist(), int(train_targets[-1])])
    first = "".join(vocabulary[i] for i in [*contexts[0].tolist(), int(targets[0])])
    assert last == text[border - 4 : border] and first == text[border : border + 4]


def test_prints_of_the_examples(lesson: Run) -> None:
    assert "vocabulary: ['a', 'b', 'c', 'd', 'r']" in lesson.said_by('word = "abracadabra"')
    assert "[30.0, 60.0, 90.0]" in lesson.said_by("piled = []")
    assert "w = 2.0" in lesson.said_by("piled = []")
    assert "learning rate 0.01: w = 1.70, loss 16.81" in lesson.said_by("for rate in (0.01")
    assert "loss 169.00" in lesson.said_by("for rate in (0.01")
    measured = lesson.said_by("batches = [(1.0, 5)")
    assert "mean of the means 2.000, mean over the examples 1.333" in measured and "0.836988" in measured
    assert "every  4: kept  4 layers, at the peak  7, recomputed 12" in lesson.said_by("for every in (1, 2, 4")


def test_units_that_start_alike_stay_alike(lesson: Run) -> None:
    W1 = lesson.names["twins"]["W1"]
    assert torch.equal(W1[0], W1[1]) and not torch.equal(W1[0], W1[2])


def test_the_example_of_a_step(lesson: Run) -> None:
    shapes = {"C": (3, 2), "W1": (4, 4), "b1": (4,), "W2": (3, 4), "b2": (3,)}
    params = {name: torch.zeros(shape, requires_grad=True) for name, shape in shapes.items()}
    loss = lesson.names["train_step"](params, torch.tensor([[0, 2]]), torch.tensor([1]), 0.3)
    assert loss == pytest.approx(math.log(3))
    assert params.pop("b2").tolist() == pytest.approx([-0.1, 0.2, -0.1])
    assert not any(p.any() for p in params.values())


def test_the_example_of_scores(lesson: Run) -> None:
    params = lesson.names["init_params"](65, 16, 3, 128, torch.Generator())
    assert lesson.names["ngram_logits"](params, torch.zeros((4, 3), dtype=torch.int64)).shape == (4, 65)
    params = {name: torch.zeros(2, 2) for name in ("C", "W1")} | {"b1": torch.zeros(2), "W2": torch.zeros(3, 2)}
    params["b2"] = torch.tensor([1.0, 2.0, 3.0])
    assert lesson.names["ngram_logits"](params, torch.tensor([[0], [1]])).tolist() == [[1, 2, 3]] * 2


def test_the_spread_of_the_three_derivatives(lesson: Run) -> None:
    """Their variance is 6, and 1.5 for means of four; the lesson's draws come out near both."""
    spreads = lesson.names["spreads"]
    assert torch.tensor([1.0, 4, 7]).var(unbiased=False).item() == 6
    assert spreads[1] == pytest.approx(6, rel=0.05) and spreads[4] == pytest.approx(1.5, rel=0.1)


def test_two_half_batches_make_a_whole_one(lesson: Run) -> None:
    said = lesson.said_by("halves = {name")
    apart = float(re.search(r"of a parameter (\S+)", said)[1])  # type: ignore[index]
    assert apart < 1e-6


def test_variance_falls_like_one_over_the_batch_size(lesson: Run) -> None:
    variance = lesson.names["variance"]
    for size in (4, 16, 64, 256):
        assert variance[size] * size == pytest.approx(variance[1], rel=0.5)
    assert lesson.names["off"][256] < lesson.names["off"][1]


def test_the_first_loss_is_that_of_knowing_nothing(lesson: Run) -> None:
    assert lesson.names["first_loss"] == pytest.approx(math.log(65), abs=0.1)


def test_training_gets_near_the_bigram_and_three_characters_beat_one(lesson: Run) -> None:
    """A tenth of the sweep, for two context lengths; the whole of it is benchmarks/ngram_sweep.py."""
    names: dict[str, Any] = lesson.names
    vocabulary, train_ids, val_ids = names["token_ids"]()
    bigram = names["bigram_loss"](train_ids, val_ids, len(vocabulary))
    one, three = (names["run"](k, steps=1_500) for k in (1, 3))
    assert bigram - 0.02 < one["validation"] < bigram + 0.3
    assert three["validation"] < one["validation"] - 0.1
    assert [p["parameters"] for p in (one, three)] == [11_601, 15_697]
    assert one["curve"][-1][0] == 1_500


def test_adam_is_wired_like_plain_descent(lesson: Run) -> None:
    names = lesson.names
    found = names["run"](3, steps=300, trainer=names["with_adam"], lr=lambda step: 0.003 * (1 - step / 300))
    assert found["validation"] < 3.0
