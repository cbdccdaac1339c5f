"""A page of the docs, followed: its diffs applied, its files written, its commands run, their output compared."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# A fenced block, with the line `path/of/a/file`: above it where it is the whole of that file.
BLOCK = re.compile(r"(?:^`(?P<path>[^`\n]+)`:\n\n)?^ *```(?P<kind>\w*)\n(?P<body>.*?)^ *```$", re.MULTILINE | re.DOTALL)
LEFT_OUT = {".git", ".venv", ".ci", ".autograder", "autograded", "feedback", "submitted", "gradebook.db", "demo"}


def copy_of_the_course(folder: Path) -> Path:
    """The repository's working files in `folder`, without anything of a class or of the machine."""

    def left_out(path: str, names: list[str]) -> set[str]:
        here = LEFT_OUT if Path(path) == ROOT else set()
        return {name for name in names if name in here or name.endswith((".egg-info", "_cache", "__pycache__"))}

    shutil.copytree(ROOT, folder, ignore=left_out)
    return folder


def run(command: str, folder: Path) -> str:
    """What a shell command says in `folder`, with the code that stands there instead of what is installed."""
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(folder),
    }
    done = subprocess.run(
        command, shell=True, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )  # fmt: skip
    return done.stdout


def follow(page: Path, folder: Path, but: tuple[str, ...] = ()) -> dict[str, str]:
    """Do in `folder` what the blocks of `page` say, in order; command → what it said.

    In a block, a line that begins with `$ ` is a command and those below are its output, in which … stands for anything.
    Commands that begin with one of `but` are left out.
    """
    said: dict[str, str] = {}
    for block in BLOCK.finditer(page.read_text("utf-8")):
        path, kind, body = block["path"], block["kind"], block["body"]
        if kind == "diff":
            _apply(body, folder)
        elif path:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(body, "utf-8")
        elif body.lstrip().startswith("$ "):
            for step in re.split(r"^ *\$ ", body, flags=re.MULTILINE)[1:]:
                command, _, shown = step.partition("\n")
                if command.startswith(but):
                    continue
                said[command] = run(command, folder)
                assert pattern(shown).fullmatch(said[command]), (
                    f"{page.name}: {command}\n\nshown:\n{shown}\nreal:\n{said[command]}"
                )
    return said


def _apply(diff: str, folder: Path) -> None:
    done = subprocess.run(
        ["git", "apply", "--recount", "-"], input=diff, cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{done.stderr}\n{diff}"


def pattern(shown: str) -> re.Pattern[str]:
    """What output looks like that is shown so: … on a line of its own is any number of lines, elsewhere any text."""
    lines = [line.strip() for line in shown.strip("\n").splitlines()]
    return re.compile(
        "".join(
            r"(?:.*\n)*?" if line == "…" else r" *" + re.escape(line).replace("…", ".*") + r" *\n" for line in lines
        ),
    )
