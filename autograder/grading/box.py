"""The box: what bubblewrap shows to a student's process, and what it hides.

Only the argument list is made here; the warmed process (warm.py) starts the box and joins it. The box holds the
system read-only, the interpreter and its packages read-only, `autograder` reduced to its student half, an empty
network, its own process tree, and one scratch folder of bounded size. Nothing else of the machine exists in it.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

import autograder

SCRATCH = "/tmp/home"  # working directory and HOME in the box
WRITABLE = ("/tmp", "/dev/shm")
PACKAGE = Path(autograder.__file__).resolve().parent
OPEN_TO_STUDENTS = ("__init__.py", "lessons.py", "evidence.py", "verdict.py", "py.typed", "student")
LIBRARIES = ("numpy", "torch", "IPython", "matplotlib")

# Of an interpreter's prefix only what a running Python needs: a virtual environment may have been made in a folder
# that holds other things, and etc/ may hold a server's configuration.
_PREFIX_PARTS = ("bin", "lib", "lib64", "include", "share", "ssl", "pyvenv.cfg")
_SYSTEM = ("/usr", "/nix/store", "/gnu/store")
_SYSTEM_LINKS = ("/bin", "/sbin", "/lib", "/lib64", "/lib32")
_ETC = ("/etc/ld.so.cache", "/etc/localtime", "/etc/fonts", "/etc/alternatives")
_NEVER = ("/usr/etc", "/usr/local/etc")

_NONE_GIVES_UP = (
    "--sandbox none runs submissions as you, with time and memory limits but without walls: a submission can read "
    "and change your files, other submissions and marks, and use the network."
)


class BoxUnavailable(RuntimeError):
    """Submissions cannot be boxed on this machine; the message says what is missing and what to do next."""


def bubblewrap() -> str:
    """Path of `bwrap`. BoxUnavailable if there is none."""
    if platform.system() != "Linux":
        raise BoxUnavailable(
            f"The sandbox needs Linux (bubblewrap); this is {platform.system()}. Grade on Linux, for instance in a "
            f"container or a virtual machine. {_NONE_GIVES_UP}"
        )
    found = shutil.which("bwrap") or shutil.which("bwrap", path="/usr/bin:/usr/local/bin:/bin")
    if not found:
        raise BoxUnavailable(
            "The sandbox needs bubblewrap, and there is no `bwrap` on this machine. Install it: apt-get install "
            f"bubblewrap (Debian, Ubuntu), dnf install bubblewrap (Fedora, RHEL). {_NONE_GIVES_UP}"
        )
    return found


def refused(reason: str) -> BoxUnavailable:
    """The error for a machine that has bubblewrap and still builds no box. `reason` is what the kernel or bwrap said."""
    steps = [f"The sandbox could not be built: {reason.strip() or 'no reason was given'}."]
    if _reads("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1":
        steps.append(
            "This Ubuntu forbids user namespaces to ordinary programs: run as root, or "
            "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0."
        )
    elif _reads("/proc/sys/user/max_user_namespaces") == "0":
        steps.append("User namespaces are switched off: sudo sysctl user.max_user_namespaces=15000.")
    elif os.path.exists("/.dockerenv") or os.path.exists("/run/.containerenv"):
        steps.append(
            "This is a container: start it with --privileged, or grade outside it. If it is not yours to start, as with "
            "Gradescope: docs/other-graders.md."
        )
    steps.append(_NONE_GIVES_UP)
    return BoxUnavailable(" ".join(steps))


def _reads(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""


def library_folders() -> list[str]:
    """The folders from which the student's libraries are imported, found without importing them.

    Raises:
        BoxUnavailable: if one of them is not installed.
    """
    folders: list[str] = []
    for name in LIBRARIES:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            raise BoxUnavailable(f"Submissions need {name}, and it is not installed: pip install {name}.")
        folder = str(Path(spec.origin).parent.parent)
        if folder not in folders:
            folders.append(folder)
    return folders


def _roots() -> list[Path]:
    """What is bound read-only, without what lies inside another root."""
    wanted = [Path(p) for p in _SYSTEM]
    for prefix in (sys.base_prefix, sys.base_exec_prefix, sys.prefix, sys.exec_prefix):
        wanted += [Path(prefix, part) for part in _PREFIX_PARTS]
    wanted += [Path(folder) for folder in library_folders()]
    roots: list[Path] = []
    for path in sorted(wanted, key=lambda p: len(p.parts)):
        for place in dict.fromkeys((path, path.resolve())):  # a link may be looked up by either name
            if place.exists() and not any(place.is_relative_to(root) for root in roots):
                roots.append(place)
    return roots


def _mounts(hide: Iterable[Path]) -> list[tuple[str, Path]]:
    """(operation, path), outer paths first, so that what is bound or hidden inside another mount comes after it."""
    roots = _roots()
    hidden = {Path(p) for p in _NEVER} | {Path(p).absolute() for p in hide}
    if (PACKAGE.parent / "pyproject.toml").exists():
        hidden.add(PACKAGE.parent)
    hidden = {p for p in hidden if p.is_dir() and any(p.is_relative_to(root) for root in roots)}
    mounts = [("ro-bind", p) for p in roots] + [("hide", p) for p in hidden] + [("hide", PACKAGE)]
    # A virtual environment inside a hidden folder comes back.
    kept = [Path(folder) for folder in library_folders()]
    mounts += [("ro-bind", p) for p in kept if any(p.is_relative_to(h) for h in hidden) and p not in roots]
    mounts += [("ro-bind", PACKAGE / name) for name in OPEN_TO_STUDENTS if (PACKAGE / name).exists()]
    return sorted(dict.fromkeys(mounts), key=lambda m: len(m[1].parts))


def arguments(hide: Iterable[Path] = ()) -> list[str]:
    """The bwrap command line, up to and without `--info-fd`; `hide` names folders that must not be seen.

    Only options that bubblewrap 0.4 has (RHEL 9): sizes and permissions of the writable folders, user and user
    namespace are the caller's affair. bwrap is started by root, be it the machine's root or the root of a user
    namespace of ours.
    """
    args = [bubblewrap()]
    args += ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    args += ["--die-with-parent", "--new-session", "--hostname", "box", "--cap-drop", "ALL"]
    args += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]
    args += ["--tmpfs", "/tmp", "--dir", SCRATCH, "--dir", "/var", "--symlink", "/tmp", "/var/tmp"]
    for link in _SYSTEM_LINKS:
        if os.path.islink(link):
            args += ["--symlink", os.readlink(link), link]
        elif os.path.isdir(link):
            args += ["--ro-bind", link, link]
    made = {"/", "/tmp", *_SYSTEM_LINKS}
    args += ["--dir", "/etc"]
    for name in _ETC:
        args += ["--ro-bind-try", name, name]
    masks = []
    for operation, path in _mounts(hide):
        # Of its own accord bubblewrap makes the folders above a mount for root alone.
        for folder in reversed(path.parents):
            if str(folder) not in made:
                made.add(str(folder))
                args += ["--dir", str(folder)]
        if operation == "hide":
            args += ["--tmpfs", str(path)]
            masks.append(path)
        else:
            args += ["--ro-bind", str(path), str(path)]
    for path in masks:
        args += ["--remount-ro", str(path)]
    return args


# Small files that the box has of its own. UID stands for the user id that cells run under.
FILES = {
    "/etc/passwd": f"student:x:UID:UID:student:{SCRATCH}:/bin/sh\n",
    "/etc/group": "student:x:UID:\n",
    "/etc/hosts": "127.0.0.1 localhost box\n::1 localhost\n",
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}
