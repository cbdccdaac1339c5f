"""What all tests share: on CI nothing may be left out for want of a component."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from tests.tiny_course import course

ROOT = Path(__file__).resolve().parents[1]
ON_CI = bool(os.environ.get("CI"))

__all__ = ["course"]


def _bubblewrap() -> str:
    """Why student code cannot be boxed here; "" if it can."""
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed (Debian, Ubuntu: sudo apt-get install bubblewrap)"
    tried = subprocess.run(
        ["bwrap", "--ro-bind", "/", "/", "--unshare-all", "--", "/bin/true"],
        capture_output=True,
        text=True,
        check=False,
    )
    return f"bubblewrap does not work here: {tried.stderr.strip()}" if tried.returncode else ""


def _chromium() -> str:
    """Why no browser can be driven here; "" if one can."""
    if any(shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome")):
        return ""
    return "Chromium is not installed (Debian: sudo apt-get install chromium)"


# What whole files need; a single test says it with @pytest.mark.bubblewrap or @pytest.mark.chromium.
NEEDS = {
    "bubblewrap": (_bubblewrap, ("test_box.py", "test_cluster.py", "test_kernel.py", "test_round.py")),
    "chromium": (_chromium, ("browser/",)),
}


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """As in the lessons and under the grader, in silence: arrays this small are slower with two threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NBGRADER_EXECUTION", "autograde")
        yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module", autouse=True)
def no_progress_beside_the_sources() -> Iterator[None]:
    """A test that lets `check` run belongs into a folder of its own: progress is kept where a notebook runs."""
    kept = ROOT / "progress.json"
    before = kept.exists()
    yield
    assert kept.exists() == before, f"{kept} was written by a test of this file"


def pytest_configure(config: pytest.Config) -> None:
    for name in NEEDS:
        config.addinivalue_line("markers", f"{name}: needs {name}; left out where it is missing, never on CI")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if ON_CI:
        return
    for name, (why_not, files) in NEEDS.items():
        places = tuple((ROOT / "tests" / file).as_posix() for file in files)
        needy = [item for item in items if item.get_closest_marker(name) or item.path.as_posix().startswith(places)]
        reason = why_not() if needy else ""
        for item in needy if reason else ():
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):  # type: ignore[no-untyped-def]
    """On CI a test that would be left out fails."""
    report = yield
    if ON_CI and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped; on CI every test runs. {report.longrepr}"
    return report
