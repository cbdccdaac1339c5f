"""Cases come from a secret: the same file gives the same cases, and nobody else can know them."""

import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from autograder.grading.seeds import course_secret, digest, rng


def test_the_secret_is_made_once_and_readable_by_its_owner_only(tmp_path):
    secret = course_secret(tmp_path)
    assert len(secret) == 32
    assert course_secret(tmp_path) == secret
    assert stat.S_IMODE((tmp_path / ".autograder" / "secret").stat().st_mode) == 0o600


def test_two_runs_at_once_agree_on_one_secret(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(lambda _: course_secret(tmp_path), range(16)))) == 1


def test_a_damaged_secret_is_reported_and_not_replaced(tmp_path):
    (tmp_path / ".autograder").mkdir()
    (tmp_path / ".autograder" / "secret").write_text("not hex")
    with pytest.raises(RuntimeError, match="damaged"):
        course_secret(tmp_path)
    assert (tmp_path / ".autograder" / "secret").read_text() == "not hex"


def test_cases_depend_on_every_part_of_the_seed_and_on_nothing_else():
    def draw(*parts):
        return rng(*parts).random()

    base = (b"k" * 32, "ada", "3-reverse-mode", digest(["x"]), "3.1")
    changed = [
        (b"l" * 32, *base[1:]),
        (base[0], "bob", *base[2:]),
        (*base[:2], "2-forward-mode", *base[3:]),
        (*base[:3], digest(["y"]), base[4]),
        (*base[:4], "3.2"),
    ]
    assert draw(*base) == draw(*base)
    assert len({draw(*parts) for parts in [base, *changed]}) == 6


def test_the_digest_tells_where_one_cell_ends():
    assert digest(["ab", "c"]) != digest(["a", "bc"])
