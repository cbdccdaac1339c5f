"""A real Chromium, a page that nbconvert made, and a running JupyterLab."""

from __future__ import annotations

import hashlib
import os
import shutil
import socket
import subprocess
import sys
import tarfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
import pooch
import pytest
from nbclient import NotebookClient
from nbconvert import HTMLExporter
from playwright.sync_api import Browser, Page, expect, sync_playwright

from autograder.grading import demo
from tests.browser.pages import Lab, notebook, open_page

ROOT = Path(__file__).resolve().parents[2]
STUDENTS = ("ada", "fatima")
expect.set_options(timeout=30_000)  # a busy machine is no fault of the page's
AXE = "4.14.1"
AXE_SHA256 = "e6b0ce02b84d892e2e33e403485e7f3d6c29e2be6df65daf44d89ba564139745"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = next(filter(None, map(shutil.which, NAMES)), None)
    assert path, f"no browser found; looked for {', '.join(NAMES)}"
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=QUIET)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def exported(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The notebook, run and exported by nbconvert in both themes."""
    folder = tmp_path_factory.mktemp("exported")
    page = notebook()
    NotebookClient(page, timeout=120, resources={"metadata": {"path": str(folder)}}).execute()
    files = {}
    for theme in ("light", "dark"):
        files[theme] = folder / f"{theme}.html"
        files[theme].write_text(HTMLExporter(theme=theme).from_notebook_node(page)[0], "utf-8")
    return files


@pytest.fixture
def page(browser: Browser, exported: dict[str, Path]) -> Iterator[Page]:
    opened = open_page(browser, exported["light"].as_uri())
    yield opened
    assert opened.errors == []  # type: ignore[attr-defined]
    opened.context.close()


@contextmanager
def jupyterlab(folder: Path, home: Path, whole: bool = False) -> Iterator[Lab]:
    """JupyterLab on `folder`, with nothing of the machine's own settings.

    If `whole`, all of a notebook is in the page, not only what is in sight.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    if whole:
        kept = home / "config" / "lab" / "user-settings" / "@jupyterlab" / "notebook-extension"
        kept.mkdir(parents=True)
        (kept / "tracker.jupyterlab-settings").write_text('{"windowingMode": "none"}')
    settings = {"HOME": home, "JUPYTER_CONFIG_DIR": home / "config", "JUPYTER_DATA_DIR": home / "data"}
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ServerApp.ip=127.0.0.1"]
    command += [f"--ServerApp.port={port}", "--IdentityProvider.token=", "--LabApp.news_url=", str(folder)]
    log = (home / "log").open("wb")
    server = subprocess.Popen(
        command,
        cwd=folder,  # where nbgrader looks for nbgrader_config.py
        env={**os.environ, **{k: str(v) for k, v in settings.items()}},
        stdout=log,
        stderr=log,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            try:
                urllib.request.urlopen(f"{address}/api/status", timeout=2).close()
                break
            except OSError:
                assert server.poll() is None, (home / "log").read_text()
                time.sleep(0.1)
        yield Lab(address, folder)
    finally:
        server.terminate()
        try:
            server.wait(15)
        except subprocess.TimeoutExpired:
            server.kill()
        log.close()


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """JupyterLab on a copy of notebooks/, with the notebook of all pieces beside them."""
    folder = tmp_path_factory.mktemp("course") / "notebooks"
    shutil.copytree(ROOT / "notebooks", folder, ignore=shutil.ignore_patterns("progress.json", ".*"))
    nbformat.write(notebook(), folder / "pieces.ipynb")
    with jupyterlab(folder, tmp_path_factory.mktemp("home"), whole=True) as running:
        yield running


@pytest.fixture(scope="session")
def class_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """JupyterLab on a teacher's course folder: lesson 3, handed in by two students of the made-up class."""
    folder = tmp_path_factory.mktemp("class") / "course"
    demo.make_course(folder, ROOT)
    for submission in (folder / "submitted").iterdir():
        if submission.name not in STUDENTS:
            shutil.rmtree(submission)
    with jupyterlab(folder, tmp_path_factory.mktemp("home")) as running:
        yield running


@pytest.fixture(scope="session")
def autograded(browser: Browser, class_lab: Lab) -> Lab:
    """The same folder after a click on the formgrader's autograde button, in fatima's row."""
    page = open_page(browser, f"{class_lab.address}/formgrader/manage_submissions/{demo.LESSON}", offline=False)
    page.locator("tr", has_text="fatima").locator("td.autograde a").click()
    # The whole notebook is run and judged.
    expect(page.get_by_role("dialog")).to_contain_text("Successfully autograded", timeout=180_000)
    page.context.close()
    return class_lab


@pytest.fixture(scope="session")
def axe() -> str:
    """The script of axe-core, which looks for barriers; npm brings it once into the user's cache."""
    kept = Path(pooch.os_cache("autograder")) / f"axe-core-{AXE}.tgz"
    if not kept.is_file():
        if not shutil.which("npm"):
            pytest.skip("npm, which brings axe-core, is not installed (Debian, Ubuntu: sudo apt-get install npm)")
        kept.parent.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(
            ["npm", "pack", f"axe-core@{AXE}", "--silent"], cwd=kept.parent, capture_output=True, text=True, check=False
        )
        if done.returncode:
            pytest.skip(f"axe-core {AXE} cannot be fetched: {done.stderr.strip()}")
    assert hashlib.sha256(kept.read_bytes()).hexdigest() == AXE_SHA256, f"{kept} is damaged; delete it"
    with tarfile.open(kept) as archive:
        script = archive.extractfile("package/axe.min.js")
        assert script is not None
        return script.read().decode()
