"""The warmed process: imports what submissions import, once, and forks for each of them.

Started by kernel.py as `python -I warm.py` with an almost empty environment. It holds no secret, reads no
submission and runs no student code: it starts a box, and a fork of it joins the box, confines itself and only then
talks to the grader over a socket that this process handed on unread. It has one thread and answers one request at a
time; bubblewrap's --die-with-parent and fork itself need that.

Requests are lines of JSON on standard input, which is a socket; file descriptors travel beside them.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import importlib
import importlib.util
import json
import os
import pkgutil
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING, Any

PID = os.getpid()
HERE = os.path.dirname(os.path.abspath(__file__))
_SIGNALLED = 128  # with the signal's number added: exit status of a stand-in whose child was killed by a signal
TRUSTED = [f"autograder.{name}" for name in ("authoring", "cli", "exercises", "grading", "references")]


def _sibling(name: str) -> Any:
    """A module of this folder, loaded without importing the package that it lies in."""
    spec = importlib.util.spec_from_file_location(f"autograder_{name}", os.path.join(HERE, f"{name}.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


if TYPE_CHECKING:
    from autograder.grading import warm_cells, warm_confine
else:
    warm_confine = _sibling("warm_confine")


def import_student_half(package: str) -> None:
    """`autograder` from its folder, however it is installed."""
    sys.meta_path[:] = [f for f in sys.meta_path if not getattr(f, "__module__", "").startswith("__editable__")]
    spec = importlib.util.spec_from_file_location(
        "autograder", os.path.join(package, "__init__.py"), submodule_search_locations=[package]
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["autograder"] = module
    spec.loader.exec_module(module)


def import_all_of_student_half() -> None:
    """What every fork would otherwise import for itself: probes, pictures, and what lessons import beside them."""
    import graphlib  # noqa: F401
    import tracemalloc  # noqa: F401

    import autograder.student

    for module in pkgutil.walk_packages(autograder.student.__path__, "autograder.student."):
        importlib.import_module(module.name)


def _readable(data: bytes) -> int:
    """A descriptor from which `data` can be read, once; small enough for a pipe."""
    reader, writer = os.pipe()
    os.write(writer, data)
    os.close(writer)
    return reader


class Box:
    """A running bubblewrap: its namespaces, and the process whose end ends them all."""

    def __init__(self, arguments: list[str], files: dict[str, str], scratch: str) -> None:
        info_r, info_w = os.pipe()
        passed, extra = [info_w], []
        for path, text in files.items():
            passed.append(_readable(text.encode()))
            extra += ["--file", str(passed[-1]), path]
        # bubblewrap's own processes are in the student's reach: they get no more rights than the student's.
        if refused := warm_confine.filter_program(os.uname().machine):
            passed.append(_readable(refused))
            extra += ["--seccomp", str(passed[-1])]
        try:
            # `cat` answers once the box stands (--info-fd speaks too early) and then waits for its input to end.
            self.process = subprocess.Popen(
                [*arguments, *extra, "--remount-ro", "/", "--chdir", scratch, "--info-fd", str(info_w), "--", "cat"],
                pass_fds=passed, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                env={"PATH": "/usr/bin:/bin"}, cwd="/", bufsize=0,
            )  # fmt: skip
        finally:
            for fd in passed:
                os.close(fd)
        self.init = 0
        self.namespaces: dict[str, int] = {}
        try:
            info = b""
            while not info.rstrip().endswith(b"}") and (more := os.read(info_r, 4096)):
                info += more
            assert self.process.stdin is not None and self.process.stdout is not None
            if info:
                self.init = json.loads(info)["child-pid"]
                with contextlib.suppress(BrokenPipeError):
                    self.process.stdin.write(b"r")
            if not info or self.process.stdout.read(1) != b"r":
                assert self.process.stderr is not None
                raise OSError(self.process.stderr.read(4096).decode(errors="replace").strip() or "bwrap said nothing")
            for name in warm_confine.NAMESPACES:
                self.namespaces[name] = os.open(f"/proc/{self.init}/ns/{name}", os.O_RDONLY | os.O_CLOEXEC)
        except BaseException:
            self.close([])
            raise
        finally:
            os.close(info_r)

    def close(self, children: list[int]) -> list[int]:
        """Kill everything in the box and wait until it is gone; returns how `children`, our own forks in it, ended."""
        if self.init:
            _send(self.init, signal.SIGKILL)
        else:
            self.process.kill()
        # The box's first process cannot go before its namespace is empty, and our forks leave it when we wait.
        ended = [os.waitpid(child, 0)[1] for child in children]
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()
        for fd in self.namespaces.values():
            os.close(fd)
        self.namespaces = {}
        return ended


def descendants(root: int) -> list[int]:
    """All processes below `root`, from /proc; empty where there is none."""
    children: dict[int, list[int]] = {}
    try:
        entries = [int(e) for e in os.listdir("/proc") if e.isdigit()]
    except OSError:
        return []
    for pid in entries:
        try:
            with open(f"/proc/{pid}/stat", "rb") as stat:
                parent = int(stat.read().rpartition(b")")[2].split()[1])
        except (OSError, IndexError, ValueError):
            continue
        children.setdefault(parent, []).append(pid)
    found, todo = [], [root]
    while todo:
        below = children.get(todo.pop(), [])
        found += below
        todo += below
    return found


def _memory(pid: int) -> tuple[int, int]:
    """(anonymous and swapped, shared) resident bytes of a process."""
    own = shared = 0
    try:
        with open(f"/proc/{pid}/status", "rb") as status:
            for line in status:
                if line.startswith((b"RssAnon:", b"VmSwap:")):
                    own += int(line.split()[1]) << 10
                elif line.startswith(b"RssShmem:"):
                    shared += int(line.split()[1]) << 10
    except (OSError, IndexError, ValueError):
        pass
    return own, shared


class Warm:
    """The warmed process's state between requests."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.config = config
        self.limits = config["limits"]
        self.boxed = config["sandbox"] == "bwrap"
        self.uid: int | None = None
        self.arguments: list[str] = config.get("arguments", [])
        self.box: Box | None = None
        self.runner = 0
        self.scratch = ""
        self.inside = False  # a fork, on its way into the box
        self.linux = sys.platform == "linux"
        if self.boxed:
            self._prepare_boxes()
        elif self.linux:
            warm_confine.adopt_orphans()
        os.environ.update(config["environment"])
        sys.path += [folder for folder in config["library_folders"] if folder not in sys.path]
        import_student_half(config["package"])
        if not self.boxed:
            sys.modules.update(dict.fromkeys(TRUSTED))  # type: ignore[arg-type]  # None: cannot be imported
        self._import_libraries()
        gc.collect()
        gc.freeze()
        gc.disable()
        warm_confine.use_huge_pages()
        self.baseline = _memory(os.getpid())[0] if self.linux else 0

    def _prepare_boxes(self) -> None:
        if os.geteuid() == 0 and warm_confine.has_admin_rights():
            # A user id of its own for each warmed process, which runs one submission at a time: the system counts
            # processes by user.
            highest = warm_confine.highest_uid()
            self.uid = highest // 2 + int.from_bytes(os.urandom(4), "big") % (highest // 2)
        elif os.geteuid() == 0:
            # Limits on processes do not bind root, and this root cannot become somebody else inside a box.
            raise OSError("this is root without the right to make namespaces (CAP_SYS_ADMIN)")
        else:
            warm_confine.become_root_of_own_user_namespace()
        uid = self.uid if self.uid is not None else 0
        self.files = {path: text.replace("UID", str(uid)) for path, text in self.config["files"].items()}
        self.own_pids = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)

    def _import_libraries(self) -> None:
        with tempfile.TemporaryDirectory(prefix="autograder-") as folder:
            # matplotlib and IPython want folders of their own; a user without a home has no other to give.
            if not os.access(os.path.expanduser("~"), os.W_OK):
                os.environ["MPLCONFIGDIR"] = folder
            import matplotlib.pyplot
            import numpy
            import torch

            torch.set_num_threads(1)
            # What numpy and torch import only when it is first used.
            numpy.random.default_rng(0).standard_normal(1)
            numpy.linalg.norm(numpy.ones(2))
            (torch.tensor(2.0, requires_grad=True) ** 2).backward()  # type: ignore[no-untyped-call]
            matplotlib.pyplot.switch_backend("agg")
            # A graphical backend asked for by name would stop the cell; there is no screen either way.
            for module, name in ((matplotlib, "use"), (matplotlib.pyplot, "switch_backend")):
                setattr(module, name, lambda *args, **kwargs: None)
            import_all_of_student_half()
            globals()["warm_cells"] = _sibling("warm_cells")
            self.outputs = warm_cells.Outputs(self.limits["output_bytes"], self.limits["evidence_bytes"])
            self.shell = warm_cells.make_shell(self.outputs, folder)

    # requests

    def open(self, request: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        """Start a box, if boxes are asked for, and a runner in it that talks on fds = [channel, stdout, stderr]."""
        self.close({}, [])
        scratch = self.scratch = str(request["scratch"])
        try:
            if self.boxed:
                self.box = Box(self.arguments, self.files, scratch)
            inside = self._fork()
        except BaseException:
            self.close({}, [])
            raise
        finally:
            if not self.inside:
                for fd in fds:
                    os.close(fd)
        if inside:
            self._run(scratch, *fds)
        return {"runner": self.runner}

    def _fork(self) -> bool:
        """Fork a runner whose process ids are the box's, if there is one; True in the runner."""
        if self.box is not None and self.uid is not None:
            # Root can fork into the box and come back.
            warm_confine.join(self.box.namespaces["pid"], "pid")
            try:
                self.runner = os.fork()
                self.inside = self.runner == 0
            finally:
                if not self.inside:
                    warm_confine.join(self.own_pids, "pid")
            return self.inside
        self.runner = os.fork()
        if self.runner or self.box is None:
            self.inside = self.runner == 0
            return self.inside
        # An ordinary user has no way back to the machine's own process ids, so a fork goes in and forks again.
        self.inside = True
        try:
            warm_confine.die_with_parent()
            warm_confine.join(self.box.namespaces["pid"], "pid")
            child = os.fork()
        except OSError:
            os._exit(71)
        if child:
            os.closerange(3, 4096)
            ended = os.waitpid(child, 0)[1]
            os._exit(_SIGNALLED + os.WTERMSIG(ended) if os.WIFSIGNALED(ended) else os.WEXITSTATUS(ended))
        return True

    def _run(self, scratch: str, channel_fd: int, out: int, err: int) -> None:
        """In the fork: confine, then serve. Never returns."""
        channel = None
        try:
            os.dup2(out, 1)
            os.dup2(err, 2)
            fd = fcntl.fcntl(channel_fd, fcntl.F_DUPFD_CLOEXEC, 700 + os.urandom(1)[0])
            spaces = dict(self.box.namespaces) if self.box else {}
            channel = socket.socket(fileno=fd)
            os.setsid()
            if self.boxed:
                for name in ("net", "ipc", "uts", "mnt"):
                    warm_confine.join(spaces[name], name)
                os.chdir("/")
                for folder in self.config["writable"]:
                    warm_confine.bound(folder, self.limits["disk_bytes"])
                    os.chmod(folder, 0o1777)
                if self.uid is not None:
                    os.chown(scratch, self.uid, self.uid)
            null = os.open(os.devnull, os.O_RDWR)
            os.dup2(null, 0)
            os.closerange(3, fd)
            os.closerange(fd + 1, 4096)
            if self.linux:
                with open("/proc/self/oom_score_adj", "w") as score:
                    score.write("1000")
            others = warm_confine.processes_beside(self.uid is not None, self.boxed)
            if self.boxed:
                warm_confine.drop_privileges(self.uid)
            if self.linux:
                warm_confine.die_with_parent()
            os.chdir(scratch)
            warm_confine.set_limits(self.limits, others)
            if self.boxed:
                warm_confine.refuse_system_calls()
            self._forget(scratch)
            channel.sendall(b"+")
        except BaseException as error:
            message = f"{type(error).__name__}: {error}".encode()[:2000]
            if channel is not None:
                channel.sendall(b"-" + message)
            os._exit(71)
        warm_cells.Runner(self.shell, self.outputs, channel).serve()
        os._exit(0)

    def _forget(self, scratch: str) -> None:
        """A new process's own environment, random numbers and import path."""
        import random

        import numpy
        import torch

        environment = self.config["environment"]
        os.environ.clear()
        os.environ.update(environment | {"HOME": scratch, "TMPDIR": scratch, "PWD": scratch})
        random.seed()
        numpy.random.seed()
        torch.default_generator.manual_seed(random.getrandbits(63))
        tempfile.tempdir = None
        sys.path.insert(0, "")
        sys.argv = [""]
        # What was frozen does not count as long-lived, and Python would look through all that is new again and again.
        gc.set_threshold(50_000, 20, 100)
        gc.enable()

    def usage(self, request: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        """Bytes of memory that the submission's processes hold beyond what they inherited."""
        pids = descendants(os.getpid())
        used = [_memory(pid) for pid in pids]
        own = sum(max(0, anonymous - self.baseline) for anonymous, _ in used)
        return {"bytes": own + max((shared for _, shared in used), default=0)}

    def close(self, request: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        """End everything that the submission started; `ended` is the runner's wait status."""
        runner, self.runner = self.runner, 0
        box, self.box = self.box, None
        ended: list[int] = []
        if box is not None:
            ended = box.close([runner] if runner else [])
            if ended and self.uid is None and os.WIFEXITED(ended[0]) and os.WEXITSTATUS(ended[0]) > _SIGNALLED:
                ended = [os.WEXITSTATUS(ended[0]) - _SIGNALLED]
        elif runner:
            ended = [self._kill_plain(runner)]
        self._reap()
        return {"ended": ended[0] if ended else None}

    def tidy(self) -> None:
        """The grader is gone, perhaps killed: remove what it would have removed."""
        if not self.boxed and self.scratch:
            shutil.rmtree(self.scratch, ignore_errors=True)

    def _kill_plain(self, runner: int) -> int:
        """Without a box there is no namespace that ends with its first process: hunt until nothing is left."""
        status = None
        for attempt in range(300):
            targets = descendants(PID)
            if attempt == 0:
                targets = [*targets, runner]
            for pid in targets:
                _send(pid, signal.SIGSTOP if attempt == 0 and self.linux else signal.SIGKILL)
            if attempt == 0:
                with contextlib.suppress(OSError):
                    os.killpg(runner, signal.SIGKILL)
                _send(runner, signal.SIGKILL)
                status = os.waitpid(runner, 0)[1]
            self._reap()
            if attempt and not targets:
                break
            time.sleep(0.0 if attempt < 3 else 0.01)
        assert status is not None
        return status

    @staticmethod
    def _reap() -> None:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass


def _send(pid: int, what: int) -> None:
    with contextlib.suppress(OSError):
        os.kill(pid, what)


def main() -> None:
    control = socket.socket(fileno=os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    pending = b""
    fds: list[int] = []
    warm: Warm | None = None
    while True:
        while b"\n" not in pending:
            data, new, _, _ = socket.recv_fds(control, 65536, 8, getattr(socket, "MSG_CMSG_CLOEXEC", 0))
            fds += new
            if not data:
                if warm is not None:
                    warm.close({}, [])
                    warm.tidy()
                os._exit(0)
            pending += data
        line, _, pending = pending.partition(b"\n")
        request = json.loads(line)
        try:
            if request["do"] == "start":
                warm = Warm(request)
                answer: dict[str, Any] = {"pid": PID}
            else:
                assert warm is not None
                handed, fds = fds, []
                answer = {"open": warm.open, "usage": warm.usage, "close": warm.close}[request["do"]](request, handed)
        except Exception as error:
            answer = {"error": str(error) or type(error).__name__}
        control.sendall(json.dumps(answer).encode() + b"\n")


if __name__ == "__main__":
    main()
