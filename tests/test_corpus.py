"""Which text lesson 5 trains on: the reference text, a file of one's own, or what Python carries; and what is said."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from autograder.student import corpus
from autograder.student.corpus import DISTINCT, SHA256, VARIABLE, Corpus, fallback, find_corpus, load_corpus, reduced
from tests.texts import TINY_SHAKESPEARE, best_text


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)


def unreachable() -> Path:
    raise ConnectionError("no route to host")


def test_without_a_network_the_fallback_is_used_and_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(corpus, "_download", unreachable)
    text = load_corpus()
    said = capsys.readouterr().out
    assert text == fallback().text
    assert "could not be fetched (no connection)" in said
    assert "Python's own help texts" in said and f"{len(text):,} characters" in said
    assert "reference table" in said


def test_a_changed_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def changed() -> Path:
        raise ValueError("SHA256 hash of downloaded file does not match the known hash")

    monkeypatch.setattr(corpus, "_download", changed)
    assert "not the one that this course knows" in find_corpus().why


def test_a_file_of_ones_own_is_reduced_and_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    own = tmp_path / "own.txt"
    own.write_text("".join(chr(33 + i % 90) * (i % 7 + 1) for i in range(400)), "utf-8")
    monkeypatch.setenv(VARIABLE, str(own))
    found = find_corpus()
    assert (found.name, found.reference) == ("own.txt", False)
    assert len(set(found.text)) == DISTINCT


def test_a_file_that_is_not_there_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "/nowhere/text.txt")
    monkeypatch.setattr(corpus, "_download", unreachable)
    assert "/nowhere/text.txt, which cannot be read" in find_corpus().why


def test_the_reference_text_is_known_by_its_hash(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text = best_text()
    copy = tmp_path / "copy.txt"
    copy.write_text(text, "utf-8", newline="")
    monkeypatch.setenv(VARIABLE, str(copy))
    found = find_corpus()
    assert found.reference == (hashlib.sha256(text.encode()).hexdigest() == SHA256)
    if TINY_SHAKESPEARE.is_file():
        assert found.reference and len(found.text) == 1_115_394 and len(set(found.text)) == DISTINCT


def test_under_the_grader_nothing_is_fetched_or_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    monkeypatch.setattr(corpus, "find_corpus", unreachable)
    assert load_corpus() == fallback().text
    assert capsys.readouterr().out == ""


def test_the_fallback_is_a_text_of_65_characters() -> None:
    text = fallback().text
    assert len(set(text)) == DISTINCT
    assert len(text) > 400_000
    assert isinstance(fallback(), Corpus)


def test_reduction_keeps_what_is_frequent_and_the_length() -> None:
    assert reduced("aaabbc", 2) == "aaa???"
    assert reduced("aaabbc", 3) == "aaabbc"
    assert reduced("ab?abc", 3) == "ab?ab?"
