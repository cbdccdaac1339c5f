"""The text that lesson 5 trains on: tiny Shakespeare, your own file, or what every Python carries."""

from __future__ import annotations

import logging
import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from autograder.student import session

URL = "https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare/input.txt"
SHA256 = "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed"
VARIABLE = "AUTOGRADER_CORPUS"
DISTINCT = 65  # characters in tiny Shakespeare; other texts are reduced to as many
_SECONDS = 10  # to wait for the network


@dataclass(frozen=True)
class Corpus:
    """A text, its name, and why it is the one in use. `reference` is True for tiny Shakespeare itself."""

    text: str
    name: str
    why: str
    reference: bool = False


def load_corpus() -> str:
    """The text to train on, and a line on screen that says which one it is and why.

    Tiny Shakespeare, from the cache or the network (checked against its SHA-256); before that the file that the
    environment variable AUTOGRADER_CORPUS names; without either the help texts of Python itself. Under the grader
    always the last, and nothing is said.
    """
    if session.quiet():
        return fallback().text
    corpus = find_corpus()
    print(f"Text in use: {corpus.name}, {len(corpus.text):,} characters, {len(set(corpus.text))} distinct.")
    print(corpus.why)
    if not corpus.reference:
        print("The numbers of the reference table belong to tiny Shakespeare; with this text yours will differ.")
    return corpus.text


def find_corpus() -> Corpus:
    """The text in use, without a word on screen."""
    missing = ""
    path = os.environ.get(VARIABLE)
    if path:
        try:
            return _from_file(Path(path).expanduser())
        except (OSError, UnicodeDecodeError) as error:
            missing = f"{VARIABLE} names {path}, which cannot be read ({type(error).__name__}). "
    try:
        text = _download().read_text("utf-8")
    except Exception as error:  # whatever keeps the network away: no route, a proxy, a changed file, no cache folder
        return fallback(f"{missing}Tiny Shakespeare could not be fetched ({_reason(error)}), so ")
    return Corpus(text, "tiny Shakespeare", f"{missing}Fetched once, checked, and kept in your cache.", True)


def _from_file(path: Path) -> Corpus:
    import hashlib

    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() == SHA256:
        return Corpus(data.decode(), "tiny Shakespeare", f"Read from the file that {VARIABLE} names.", True)
    text = data.decode("utf-8")
    return Corpus(reduced(text), path.name, f"Read from the file that {VARIABLE} names.")


def _download() -> Path:
    import pooch

    pooch.get_logger().setLevel(logging.ERROR)
    return Path(
        pooch.retrieve(
            URL,
            known_hash=f"sha256:{SHA256}",
            fname="tinyshakespeare.txt",
            path=pooch.os_cache("autograder"),
            downloader=pooch.HTTPDownloader(timeout=_SECONDS),
        )
    )


def _reason(error: Exception) -> str:
    if "hash" in str(error).lower():
        return "the file there is not the one that this course knows"
    return "no connection" if isinstance(error, OSError) else type(error).__name__


def fallback(because: str = "") -> Corpus:
    """Text that every Python carries: the help on its own language, as one corpus."""
    from pydoc_data.topics import topics

    text = reduced("\n".join(topics[key] for key in sorted(topics)))
    why = f"{because}the lesson uses the help texts that Python carries: English with code in it."
    return Corpus(text, "Python's own help texts", why[:1].upper() + why[1:])


def reduced(text: str, distinct: int = DISTINCT) -> str:
    """`text` with its rarest characters replaced by "?", so that at most `distinct` different ones are left.

    Ties are broken by the character itself, so that the same text is always reduced in the same way.
    """
    counts = Counter(text)
    if len(counts) <= distinct:
        return text
    ranked = sorted((c for c in counts if c != "?"), key=lambda c: (-counts[c], c))
    return text.translate({ord(c): "?" for c in ranked[distinct - 1 :]})
