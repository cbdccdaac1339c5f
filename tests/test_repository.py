"""What holds of the repository as a whole: layers, package lists, set-up scripts, documents that say what is true."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import distributions
from pathlib import Path

import nbformat
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from tests.tiny_course import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def tracked(*patterns: str) -> list[Path]:
    """The files of the repository; where it is no git clone, all files that look like its own."""
    listed = subprocess.run(["git", "ls-files", "-z", *patterns], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("this folder is no git clone")
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()]


# ------------------------------------------------------------------------------------------------- layers

BOTTOM = {"evidence", "verdict", "lessons"}
# layer → the layers that it may import, itself aside
LAYERS = {
    "evidence": set(),
    "verdict": set(),
    "lessons": set(),
    "student": BOTTOM,
    "references": BOTTOM,
    "exercises": BOTTOM | {"references", "student"},
    "authoring": BOTTOM | {"references", "student", "exercises"},
    "grading": BOTTOM | {"references", "student", "exercises", "authoring"},
    "cli": BOTTOM | {"references", "student", "exercises", "grading", "authoring"},
    "__main__": {"cli"},
}
OURS = [
    path
    for path in sorted((ROOT / "autograder").rglob("*.py"))
    if path.parent.name != "autograder" or path.stem != "__init__"
]


def layer_of(path: Path) -> str:
    return path.relative_to(ROOT / "autograder").parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    """The layers of `autograder` that the module at `path` names in an import statement, anywhere in it."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name.split(".")[1] for name in names if name.startswith("autograder.")} & LAYERS.keys()


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_imports_go_down_only(path: Path) -> None:
    layer = layer_of(path)
    assert imported(path) <= LAYERS[layer] | {layer}


def test_the_student_half_asks_for_the_trusted_half_at_two_doors_only() -> None:
    trusted = re.compile(r"autograder\.(exercises|references|grading|authoring)\b")
    lines = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "autograder" / "student").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and any(isinstance(a, ast.Constant) and isinstance(a.value, str) and trusted.match(a.value) for a in node.args)
    }
    assert lines == {"autograder/student/broken.py", "autograder/student/check.py"}


def test_importing_the_package_brings_nothing_heavy() -> None:
    code = "import sys, autograder, autograder.student; print(*sorted({'torch', 'matplotlib', 'numpy', 'jupyterlab', 'nbformat'} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert run.stdout.strip() == ""


def test_every_module_says_in_its_first_line_what_it_is_for() -> None:
    silent = [
        p.relative_to(ROOT).as_posix() for p in OURS if not ast.get_docstring(ast.parse(p.read_text(encoding="utf-8")))
    ]
    assert silent == []


# ------------------------------------------------------------------------------------------------- package lists

CONDA_NAMES = {  # conda-forge's name → PyPI's
    "dask": "dask",
    "distributed": "dask",  # pyproject.toml asks for dask[distributed]
    "matplotlib-base": "matplotlib",
    "python-graphviz": "graphviz",
    "pytorch-cpu": "torch",
}
CONDA_ONLY = {"python", "pip", "graphviz"}  # the last: Graphviz itself, the program


def conda_requirements() -> set[tuple[str, str]]:
    found = set()
    for entry in yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]:
        for line in entry["pip"] if isinstance(entry, dict) else [entry]:
            name, ranges = re.fullmatch(r"([A-Za-z0-9_-]+)\s*(.*)", line).groups()  # type: ignore[union-attr]
            if isinstance(entry, dict) or name not in CONDA_ONLY:
                found.add((CONDA_NAMES.get(name, name), ranges))
    return found


def test_environment_and_pyproject_ask_for_the_same_packages() -> None:
    wanted = [Requirement(line) for line in PROJECT["dependencies"]]
    in_order = {(r.name, ",".join(sorted(str(r.specifier).split(",")))) for r in wanted}
    assert {(name, ",".join(sorted(ranges.split(",")))) for name, ranges in conda_requirements()} == in_order


def test_environment_asks_for_one_python_that_the_course_runs_on() -> None:
    entries = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    (python,) = [entry for entry in entries if str(entry).startswith("python ")]
    # As repo2docker reads it, which looks for one "x.y" behind an equals sign and else takes a version of its own.
    found = re.fullmatch(r"python =(\d+\.\d+)", python)
    assert found, python
    assert SpecifierSet(PROJECT["requires-python"]).contains(found[1])


def test_every_package_that_is_asked_for_is_pinned_within_its_range() -> None:
    lines = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if line and not line.startswith("#")]
    pinned = {canonicalize_name(name): version for name, version in (line.split("==") for line in lines)}
    for line in [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["test"]]:
        requirement = Requirement(line)
        assert requirement.specifier.contains(pinned[canonicalize_name(requirement.name)]), line


def test_every_pinned_package_installs_on_the_oldest_python() -> None:
    """3.11.0, not the 3.11 of this machine: Debian 12 has 3.11.2, and some packages ask for more."""
    oldest = min(s.version for s in SpecifierSet(PROJECT["requires-python"]) if s.operator == ">=") + ".0"
    asked = {dist.metadata["Name"]: dist.metadata.get("Requires-Python") for dist in distributions()}
    assert len(asked) > 100
    assert {name: spec for name, spec in asked.items() if spec and not SpecifierSet(spec).contains(oldest)} == {}


def test_binder_finds_the_environment_and_installs_the_package() -> None:
    assert (ROOT / "binder" / "environment.yml").resolve() == ROOT / "environment.yml"
    post_build = ROOT / "binder" / "postBuild"
    assert os.access(post_build, os.X_OK)
    assert "pip install --no-deps" in post_build.read_text()
    opened = re.findall(r"lab/tree/([^`]+)`", (ROOT / "README.md").read_text())
    assert opened and all((ROOT / path).is_file() for path in opened)


# ------------------------------------------------------------------------------------------------- scripts


def test_both_cis_call_the_same_script() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    assert "bash .ci/run" in [step.get("run") for step in steps]
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def pythons(folder: Path, versions: dict[str, tuple[int, int]]) -> str:
    """Stand-ins in `folder` that answer as Pythons of `versions` would; a PATH with them in front."""
    for name, version in versions.items():
        script = folder / name
        # Runs the real interpreter, which is told to be another version when its version is asked for.
        script.write_text(
            f'#!/bin/sh\nfor a in "$@"; do case "$a" in *version_info*) exec "{sys.executable}" -c '
            f"\"import sys; sys.version_info = {(*version, 0)}; exec('''$2''')\";; esac; done\nexec \"{sys.executable}\" \"$@\"\n"
        )
        script.chmod(0o755)
    return f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin"


def set_up(venv: Path, path: str, *names: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", str(ROOT / ".ci" / "venv"), str(venv), *names],
        capture_output=True, text=True, check=False, env={"PATH": path, "HOME": str(venv.parent)},
    )  # fmt: skip


def test_set_up_says_which_python_to_install_when_none_fits(tmp_path: Path) -> None:
    path = pythons(tmp_path, {"python-old": (3, 9), "python-new": (3, 14)})
    run = set_up(tmp_path / "venv", path, "python-old", "python-new", "python-none")
    assert run.returncode == 1
    assert "3.11, 3.12 or 3.13" in run.stderr
    assert "apt-get install python3" in run.stderr
    assert not (tmp_path / "venv").exists()


def test_set_up_takes_the_first_python_that_fits_and_keeps_what_is_there(tmp_path: Path) -> None:
    path = pythons(tmp_path, {"python-old": (3, 9), "python-fits": (3, 12)})
    first = set_up(tmp_path / "venv", path, "python-none", "python-old", "python-fits")
    assert first.returncode == 0, first.stderr
    assert "Making" in first.stdout
    again = set_up(tmp_path / "venv", path, "python-fits")
    assert (again.returncode, again.stdout) == (0, "")


# ------------------------------------------------------------------------------------------------- what is committed


def test_no_output_is_committed_in_a_notebook() -> None:
    for path in tracked("*.ipynb"):
        if "tests" in path.relative_to(ROOT).parts:
            continue
        cells = nbformat.read(path, as_version=4).cells
        assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells), path


def test_what_belongs_to_one_course_or_machine_is_not_committed() -> None:
    ignored = [
        "gradebook.db",
        "submitted/x/1/a.ipynb",
        ".autograder/secret",
        "notebooks/progress.json",
        ".venv/bin/python",
    ]
    ignored += ["source/3-reverse-mode/reverse_mode.ipynb", "notebooks/3-reverse-mode/reverse_mode (yours).ipynb"]
    run = subprocess.run(["git", "check-ignore", *ignored], cwd=ROOT, capture_output=True, text=True, check=False)
    if run.returncode == 128:
        pytest.skip("this folder is no git clone")
    assert run.stdout.split("\n")[:-1] == [f'"{p}"' if '"' in p else p for p in ignored]


LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


@pytest.mark.parametrize(
    "name", ["README.md", "CONTRIBUTING.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]
)
def test_links_of_a_document_lead_somewhere(name: str) -> None:
    text = (ROOT / name).read_text()
    links = [link for link in LINK.findall(text) if "://" not in link]
    missing = [link for link in links if not ((ROOT / name).parent / link).exists()]
    assert missing == []


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "docs/architecture.md"])
def test_files_commands_and_targets_that_a_document_names_exist(name: str) -> None:
    text = (ROOT / name).read_text()
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert (
        set(
            re.findall(
                r"\bmake ([a-z]+)\b(?= |`|$|,|\.)", "\n".join(re.findall(r"`[^`]+`|^make.*$", text, re.MULTILINE))
            )
        )
        <= targets
    )
    for path in re.findall(r"`((?:[a-z_.]+/)+[a-z_]+\.(?:py|yml|md|txt|svg))`", text):
        places = (ROOT / path, ROOT / "autograder" / path, ROOT / "source" / path, ROOT / "notebooks" / path)
        assert any(place.exists() for place in places), path


def test_the_picture_of_the_architecture_can_be_read_without_seeing_it() -> None:
    svg = (ROOT / "docs" / "images" / "evidence-flow.svg").read_text()
    assert "<title" in svg
    assert "<desc" in svg
    assert 'role="img"' in svg
