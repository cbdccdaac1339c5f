"""Where random cases come from: a secret of the course, and an HMAC over who handed in what."""

from __future__ import annotations

import hashlib
import hmac
import os
import random
import secrets
from pathlib import Path

from autograder.grading.course import CourseError

_NAME = Path(".autograder") / "secret"


def course_secret(root: Path) -> bytes:
    """The secret of the course at `root`, made at first use and readable by its owner only."""
    path = root / _NAME
    try:
        return bytes.fromhex(path.read_text().strip())
    except FileNotFoundError:
        pass
    except ValueError:
        raise CourseError(
            f"{path} is damaged. Restore it from a backup, or delete it: new cases will be drawn."
        ) from None
    path.parent.mkdir(mode=0o700, exist_ok=True)
    fresh = secrets.token_bytes(32)
    # Written aside and linked into place, so that two runs at once agree on one secret.
    aside = path.with_name(f"secret.{os.getpid()}.{secrets.token_hex(8)}")
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(fresh.hex() + "\n")
    try:
        os.link(aside, path)
    except FileExistsError:
        pass
    finally:
        aside.unlink()
    return bytes.fromhex(path.read_text().strip())


def digest(sources: list[str]) -> str:
    """A hash of a submission: of its cells' text, so that outputs and file names make no difference."""
    sha = hashlib.sha256()
    for source in sources:
        data = source.encode("utf-8", "surrogatepass")
        sha.update(len(data).to_bytes(8, "big") + data)
    return sha.hexdigest()


def rng(secret: bytes, student: str, lesson: str, submission: str, exercise: str) -> random.Random:
    """The generator of one exercise's cases: the same for the same file, unknown to everybody without `secret`."""
    message = "\0".join((student, lesson, submission, exercise)).encode("utf-8", "surrogatepass")
    return random.Random(int.from_bytes(hmac.digest(secret, message, "sha256"), "big"))
