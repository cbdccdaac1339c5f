"""A real Chromium, a page that nbconvert made, and a running JupyterLab."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbconvert import HTMLExporter
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.pages import Lab, notebook, open_page

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


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """JupyterLab on a folder with the notebook, with nothing of the machine's own settings."""
    folder, home = tmp_path_factory.mktemp("notebooks"), tmp_path_factory.mktemp("home")
    nbformat.write(notebook(), folder / "pieces.ipynb")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {"HOME": home, "JUPYTER_CONFIG_DIR": home / "config", "JUPYTER_DATA_DIR": home / "data"}
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ServerApp.ip=127.0.0.1"]
    command += [f"--ServerApp.port={port}", "--IdentityProvider.token=", "--LabApp.news_url=", str(folder)]
    log = (home / "log").open("wb")
    server = subprocess.Popen(
        command, env={**os.environ, **{k: str(v) for k, v in settings.items()}}, stdout=log, stderr=log
    )
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
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
