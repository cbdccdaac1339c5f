"""The box: what a submission tries to read, change, reach, use up or leave behind, it cannot."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import textwrap
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

import autograder
from autograder.grading import box
from autograder.grading.kernel import BoxUnavailable, CellJob, CellRun, Kernel, Limits

pytestmark = pytest.mark.bubblewrap

REPOSITORY = Path(__file__).resolve().parents[1]
LIMITS = Limits(seconds_per_cell=30.0, seconds_total=60.0, memory_bytes=300 << 20, processes=24, disk_bytes=16 << 20)


@pytest.fixture(scope="module")
def kernel() -> Iterator[Kernel]:
    os.environ["AUTOGRADER_TEST_SECRET"] = "environment-secret"
    with Kernel(limits=LIMITS) as kernel:
        kernel.run([CellJob("warm", "1")])
        yield kernel


def run(kernel: Kernel, source: str) -> CellRun:
    return kernel.run([CellJob("c", textwrap.dedent(source))])[0]


def said(run: CellRun) -> str:
    return "".join(o["text"] for o in run.outputs if o["output_type"] == "stream" and o["name"] == "stdout")


def error(run: CellRun) -> str:
    return next((f"{o['ename']}: {o['evalue']}" for o in run.outputs if o["output_type"] == "error"), "")


# Reading


@pytest.mark.parametrize(
    "path",
    [
        REPOSITORY / "source",
        REPOSITORY / "pyproject.toml",
        REPOSITORY / ".git",
        REPOSITORY / "tests",
        box.PACKAGE / "exercises",
        box.PACKAGE / "references",
        box.PACKAGE / "grading",
        box.PACKAGE / "authoring",
        box.PACKAGE / "__pycache__",
        Path("/etc/shadow"),
        Path("/etc/hostname"),
        Path("/home"),
        Path("/run"),
        Path("/sys"),
        Path("/var/log"),
        Path("/proc/kcore"),
    ],
    ids=str,
)
def test_files_of_the_machine_are_not_there_to_read(kernel: Kernel, path: Path) -> None:
    shown = run(
        kernel,
        f"""
        import os
        path = {str(path)!r}
        try:
            print(os.listdir(path) if os.path.isdir(path) else open(path, "rb").read(100))
        except OSError as error:
            print(type(error).__name__)
        """,
    )
    assert said(shown).strip() in ("FileNotFoundError", "PermissionError"), shown


def test_course_files_and_other_submissions_are_not_there(kernel: Kernel, tmp_path: Path) -> None:
    """Not by their path, not by a descriptor, not anywhere in the box's file tree."""
    name = f"gradebook-{uuid.uuid4().hex}.db"
    (tmp_path / name).write_text("marks")
    shown = run(
        kernel,
        f"""
        import os
        print(os.path.exists({str(tmp_path / name)!r}))
        !find / /tmp /dev -xdev -name 'gradebook-*'
        print(sorted(os.listdir("/tmp/home")))
        """,
    )
    assert said(shown).splitlines() == ["False", "[]"], shown


def test_a_hidden_folder_inside_what_is_shown_is_empty(tmp_path: Path) -> None:
    """A course kept under the interpreter's own folder, say /usr/local, is hidden when it is named."""
    arguments = box.arguments(hide=[Path("/usr/share")])
    at = arguments.index("/usr/share")
    assert arguments[at - 1] == "--tmpfs"
    assert arguments.index("/usr") < at


def test_environment_and_memory_hold_nothing_of_the_graders(kernel: Kernel) -> None:
    shown = run(
        kernel,
        """
        import os, subprocess, sys
        print("environment-secret" in str(os.environ))
        for pid in ["self", *filter(str.isdigit, os.listdir("/proc"))]:
            for name in ("environ", "cmdline", "mem", "maps"):
                try: data = open(f"/proc/{pid}/{name}", "rb").read(1 << 20)
                except (OSError, OverflowError): continue
                if b"environment-secret" in data: print("found in", pid, name)
        print([m for m in sys.modules if m.startswith("autograder.") and m.split(".")[1] not in
               ("student", "evidence", "verdict", "lessons")])
        print(subprocess.run("env", capture_output=True, text=True).stdout.count("SECRET"))
        """,
    )
    assert said(shown).splitlines() == ["False", "[]", "0"], shown


def test_the_warmed_process_has_one_thread_and_no_environment(kernel: Kernel) -> None:
    """Fork and bubblewrap's --die-with-parent need the one, and /proc/self/environ shows every fork the other."""
    assert kernel._helper is not None
    assert len(os.listdir(f"/proc/{kernel._helper.process.pid}/task")) == 1
    shown = run(kernel, "!cat /proc/*/environ | tr '\\0' '\\n' | grep -v SECRET | cut -d= -f1 | sort -u")
    allowed = {"PATH", "LANG", "USER", "LOGNAME", "HOME", "TMPDIR", "PWD", "TERM", "MPLBACKEND", "NBGRADER_EXECUTION",
               "LD_LIBRARY_PATH", "MALLOC_ARENA_MAX", "LC_CTYPE", "OLDPWD", "SHLVL", "_"}  # fmt: skip
    seen = {name for name in said(shown).split() if not name.startswith(("PIP_", "OMP_", "MKL_", "OPENBLAS_"))}
    assert seen <= allowed


@pytest.mark.parametrize("name", ["exercises", "references", "grading", "grading.kernel", "authoring", "cli"])
def test_the_trusted_half_cannot_be_imported(kernel: Kernel, name: str) -> None:
    direct = run(kernel, f"import autograder.{name}")
    assert error(direct).startswith("ModuleNotFoundError"), direct
    fresh = run(
        kernel,
        f"""
        import subprocess, sys
        print(subprocess.run([sys.executable, "-c", "import autograder.{name}"], capture_output=True, text=True).stderr)
        """,
    )
    assert "ModuleNotFoundError" in said(fresh)


def test_the_student_half_can(kernel: Kernel) -> None:
    assert (
        run(kernel, "import autograder.student, autograder.evidence, autograder.verdict, autograder.lessons").status
        == "ok"
    )


def test_no_descriptor_is_inherited_but_the_channel(kernel: Kernel) -> None:
    shown = run(
        kernel,
        """
        import os
        for fd in range(2000):
            try: os.fstat(fd)
            except OSError: continue
            print(fd, os.readlink(f"/proc/self/fd/{fd}") if os.access(f"/proc/self/fd/{fd}", os.F_OK) else "?")
        """,
    )
    numbers = [int(line.split()[0]) for line in said(shown).splitlines()]
    assert numbers[:3] == [0, 1, 2] and len(numbers) == 4, shown


# Changing


@pytest.mark.parametrize(
    "path",
    [
        "/x",
        "/etc/x",
        "/etc/passwd",
        "/usr/x",
        "/dev/x",
        "/home/x",
        str(box.PACKAGE / "student" / "check.py"),
        str(box.PACKAGE / "x.py"),
        str(Path(os.__file__)),
        os.path.join(sys.prefix, "lib", "x"),
        "/proc/sys/kernel/hostname",
        "/proc/sys/kernel/core_pattern",
    ],
)
def test_nothing_but_the_scratch_folder_can_be_written(kernel: Kernel, path: str) -> None:
    shown = run(kernel, f"open({path!r}, 'a').write('x')")
    assert error(shown).split(":")[0] in ("OSError", "PermissionError", "FileNotFoundError"), shown
    if path != "/etc/passwd":
        assert not os.path.exists("/x") and not os.path.exists(os.path.join(sys.prefix, "lib", "x"))


@pytest.mark.parametrize("folder", ["/tmp", "/var/tmp", "/tmp/home", "/dev/shm"])
def test_what_one_submission_leaves_the_next_does_not_find(kernel: Kernel, folder: str) -> None:
    left = run(kernel, f"import os; open({folder!r} + '/left', 'w').write('x'); print(os.listdir({folder!r}))")
    assert "left" in said(left), left
    assert "left" not in said(run(kernel, f"import os; print(os.listdir({folder!r}))"))
    assert not os.path.exists("/tmp/left")


def test_the_warmed_process_cannot_be_poisoned(kernel: Kernel) -> None:
    run(
        kernel,
        """
        import builtins, json, numpy, os, sys, torch
        builtins.poison = numpy.poison = True
        numpy.ones = torch.tensor = json.dumps = None
        os.environ["POISON"] = "1"
        import autograder.student
        autograder.student.grade = None
        """,
    )
    shown = run(
        kernel,
        """
        import builtins, numpy, os, torch
        import autograder.student
        print(hasattr(builtins, "poison"), hasattr(numpy, "poison"), "POISON" in os.environ, torch.tensor(numpy.ones(1)).sum())
        print(autograder.student.grade)
        """,
    )
    assert said(shown).startswith("False False False tensor(1.") and "None" not in said(shown)


# Reaching


@pytest.mark.parametrize(
    "source",
    [
        "s = socket.create_connection(('127.0.0.1', PORT), timeout=1)",
        "s = socket.create_connection(('198.51.100.7', 80), timeout=1)",
        "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b'x', ('198.51.100.7', 53))",
        "s = socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)",
        "s = socket.getaddrinfo('example.com', 80)",
        "s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
        "s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
        "s = socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)",
        "s = socket.socket(socket.AF_UNIX); s.connect(ABSTRACT)",
        "s = socket.socket(socket.AF_UNIX); s.connect('/var/run/docker.sock')",
    ],
)
def test_there_is_no_network(kernel: Kernel, source: str) -> None:
    import socket

    abstract = f"\0autograder-{uuid.uuid4().hex}"
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        local.bind(abstract)
        local.listen()
        port = server.getsockname()[1]
        shown = run(kernel, f"import socket\nPORT, ABSTRACT = {port}, {abstract!r}\n{source}")
    assert shown.status == "error" and error(shown).split(":")[0] in (
        "ConnectionRefusedError", "OSError", "PermissionError", "gaierror", "FileNotFoundError",
    ), shown  # fmt: skip


def test_other_processes_are_neither_seen_nor_signalled(kernel: Kernel) -> None:
    """The grader, the warmed process and everybody else are outside the box's process tree."""
    assert kernel._helper is not None
    helper = kernel._helper.process.pid
    # In a container our own numbers may be as small as those in the box.
    outside = [pid for pid in (helper, os.getpid(), os.getppid()) if pid > 9]
    shown = run(
        kernel,
        f"""
        import os, signal
        print(sorted(p for p in os.listdir("/proc") if p.isdigit()), os.getpid(), os.getppid())
        for pid in {outside}:
            try: os.kill(pid, signal.SIGKILL); print("signalled", pid)
            except OSError as e: print(type(e).__name__)
        """,
    )
    first, *others = said(shown).splitlines()
    assert len(first.split("]")[0].split(",")) <= 3 and first.endswith(" 0")
    assert others == ["ProcessLookupError"] * len(outside) and outside
    run(
        kernel,
        "import os, signal\nfor pid in (0, -1, 1, os.getppid()):\n  try: os.kill(pid, signal.SIGKILL)\n  except OSError: pass",
    )
    assert kernel._helper.process.pid == helper and kernel._helper.process.poll() is None
    assert said(run(kernel, "print('alive')")) == "alive\n"


@pytest.mark.parametrize(
    "source",
    [
        "check(libc.ptrace(16, os.getppid() or 1, 0, 0))",
        "check(libc.unshare(0x10000000))",
        "check(libc.mount(b'none', b'/tmp', b'tmpfs', 0, None))",
        "check(libc.umount2(b'/proc', 2))",
        "check(libc.chroot(b'/tmp'))",
        "check(libc.setuid(0) if os.getuid() else -1)",
        "check(libc.setgroups(0, None))",
        "check(libc.syscall(272, 0x10000000) if os.uname().machine == 'x86_64' else -1)",
        "check(libc.memfd_create(b'x', 0))",
        "check(libc.shmget(0, 1 << 30, 0o1600))",
        "check(libc.sethostname(b'x', 1))",
        "import resource; resource.setrlimit(resource.RLIMIT_NPROC, (4000, 4000)); check(0)",
    ],
)
def test_privileges_are_gone(kernel: Kernel, source: str) -> None:
    shown = run(
        kernel,
        "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        "def check(result):\n    if result < 0: raise PermissionError\n" + source,
    )
    assert error(shown).split(":")[0] in ("PermissionError", "ValueError"), shown


def test_no_process_in_the_box_has_rights(kernel: Kernel) -> None:
    """bubblewrap's own processes included: an ordinary user's submission could get at their memory."""
    shown = run(
        kernel,
        """
        import os
        for pid in sorted(filter(str.isdigit, os.listdir("/proc"))):
            fields = dict(line.split(":", 1) for line in open(f"/proc/{pid}/status") if ":" in line)
            print(*(fields[name].strip() for name in ("CapInh", "CapPrm", "CapEff", "CapAmb", "NoNewPrivs", "Seccomp")))
        """,
    )
    filtered = "2" if os.uname().machine in ("x86_64", "aarch64") else "0"
    lines = said(shown).splitlines()
    assert len(lines) == 3 and set(lines) == {" ".join(["0" * 16] * 4 + ["1", filtered])}, shown


def test_setuid_programs_gain_nothing(kernel: Kernel) -> None:
    shown = run(kernel, "print([line for line in open('/proc/mounts') if 'nosuid' not in line.split()[3]])")
    assert said(shown) == "[]\n"


# Using up


def test_a_fork_bomb_is_bounded_and_ends(kernel: Kernel) -> None:
    marker = f"bomb{uuid.uuid4().hex}"
    shown = run(
        kernel,
        f"""
        import os, subprocess
        started = 0
        try:
            while started < 500:
                subprocess.Popen(["sh", "-c", "sleep 60; : {marker}"], start_new_session=True); started += 1
        except OSError as error:
            print(started, type(error).__name__)
        """,
    )
    started, kind = said(shown).split()
    assert 0 < int(started) <= LIMITS.processes and kind == "BlockingIOError"
    assert not _running(marker)
    bomb = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"
    (exploding,) = kernel.run([CellJob("c", bomb, seconds=1.5)])
    assert exploding.status in ("timeout", "memory")
    assert said(run(kernel, "print('fine')")) == "fine\n"


def test_a_box_full_of_processes_cannot_check(kernel: Kernel) -> None:
    """Said so, and of that submission alone."""
    fill = "import subprocess\ntry:\n    while True: subprocess.Popen(['sleep', '60'])\nexcept OSError: pass"
    filled, checked = kernel.run([CellJob("a", fill), CellJob("b", "0.0", "3.1", [])])
    assert filled.status == "ok"
    assert (checked.status, checked.detail) == ("died", "could not run: the notebook's own processes fill the box")
    assert kernel.run([CellJob("b", "0.0", "3.1", [])])[0].status == "ok"


def _running(marker: str) -> list[str]:
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            line = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        if marker.encode() in line:
            found.append(line.decode(errors="replace"))
    return found


@pytest.mark.parametrize(
    "source",
    [
        "subprocess.Popen(['sh', '-c', 'sleep 60; : MARKER'], start_new_session=True)",
        "subprocess.Popen(['sh', '-c', 'nohup setsid sh -c \"sleep 60; : MARKER\" &'])",
        "if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n"
        "        os.execvp('sh', ['sh', '-c', 'sleep 60; : MARKER'])\n    os._exit(0)",
        "if os.fork() == 0:\n    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\n"
        "    os.execvp('sh', ['sh', '-c', 'trap \"\" TERM HUP INT; sleep 60; : MARKER'])",
    ],
    ids=["new session", "nohup", "daemon", "deaf"],
)
@pytest.mark.parametrize("where", ["cell", "check"])
def test_a_detached_child_is_gone_when_the_run_is(kernel: Kernel, source: str, where: str) -> None:
    marker = f"child{uuid.uuid4().hex}"
    text = f"""
import os, signal, subprocess, time
{source.replace("MARKER", marker)}
def runs():
    return {marker!r} in "".join(open(f"/proc/{{p}}/cmdline").read() for p in os.listdir("/proc") if p.isdigit())
for _ in range(2_000):  # once is enough: a process has no command line while it becomes another program
    if runs():
        print("it runs")
        break
    time.sleep(0.01)
"""
    job = CellJob("c", text) if where == "cell" else CellJob("c", text, "3.1", [])
    (done,) = kernel.run([job])
    assert done.status == "ok" and said(done) == "it runs\n", done
    assert not _running(marker)


def test_memory_is_bounded_over_all_processes_together(kernel: Kernel) -> None:
    """Each of these takes less than the limit; together they take five times as much."""
    shown = run(
        kernel,
        """
        import os, time
        for _ in range(10):
            if os.fork() == 0:
                block = bytearray(b"x") * (150 << 20)
                time.sleep(60)
        time.sleep(60)
        """,
    )
    assert shown.status == "memory" and shown.detail == "ran out of memory (limit 300 MiB)"
    assert said(run(kernel, "print('fine')")) == "fine\n"


@pytest.mark.parametrize("folder", ["/tmp/home", "/tmp", "/dev/shm"])
def test_disk_is_bounded(kernel: Kernel, folder: str) -> None:
    shown = run(
        kernel,
        f"""
        total = 0
        try:
            for i in range(10_000):
                with open(f"{folder}/f{{i}}", "wb") as file: total += file.write(bytes(1 << 20))
        except OSError as error:
            print(type(error).__name__, total >> 20)
        """,
    )
    kind, size = said(shown).split()
    assert kind == "OSError" and int(size) <= LIMITS.disk_bytes >> 20
    many = run(kernel, f"for i in range(1_000_000): open(f'{folder}/f{{i}}', 'w').close()")
    assert error(many).startswith("OSError"), "empty files take memory too"
    assert error(run(kernel, f"import os; os.truncate(open('{folder}/f', 'w').name, 1 << 40)")).startswith("OSError")


# Situations


def test_an_ordinary_user_gets_the_same_box() -> None:
    """All of the above once more, as an ordinary user with user namespaces, if we are root."""
    if os.geteuid() != 0:
        pytest.skip("we are an ordinary user: the tests above were it")
    with tempfile.TemporaryDirectory(prefix="ordinary-") as folder:
        os.chmod(folder, 0o777)
        script = ["set -e"]
        for i, path in enumerate(dict.fromkeys((sys.base_prefix, sys.prefix, str(REPOSITORY)))):
            closed = next((p for p in reversed(Path(path).parents) if p.stat().st_mode & 0o005 != 0o005), None)
            if closed is not None:  # such as /root: show the interpreter alone there
                script += [
                    f"mkdir {folder}/{i} && mount --bind {path} {folder}/{i}",
                    f"mount -t tmpfs -o mode=755 none {closed}",
                    f"mkdir -p {path} && mount --bind {folder}/{i} {path}",
                ]
        script += [
            f"cd {REPOSITORY}",
            f"exec setpriv --reuid 54321 --regid 54321 --clear-groups --inh-caps=-all {sys.executable} -m pytest "
            f"-p no:cacheprovider --basetemp={folder}/tests {__file__}",
        ]
        # Without CI: what only root can try is left out there, and rightly.
        environment = {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            ["unshare", "--mount", "sh", "-c", "\n".join(script)],
            capture_output=True, text=True, env=environment, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout


def test_a_machine_without_bubblewrap_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """Never silently without a sandbox."""
    monkeypatch.setattr(box.shutil, "which", lambda *args, **kwargs: None)
    with pytest.raises(BoxUnavailable, match=r"apt-get install bubblewrap.*--sandbox none"):
        Kernel()
    monkeypatch.setattr(box.platform, "system", lambda: "Darwin")
    with pytest.raises(BoxUnavailable, match=r"needs Linux.*--sandbox none"):
        Kernel()


def test_a_machine_that_refuses_boxes_is_told_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2; exit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(box, "bubblewrap", lambda: str(broken))
    with (
        Kernel(limits=LIMITS) as kernel,
        pytest.raises(BoxUnavailable, match=r"uid map: Permission denied.*--sandbox none"),
    ):
        kernel.run([CellJob("c", "1")])


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be a root with fewer rights")
def test_a_root_that_cannot_make_boxes_is_told_so() -> None:
    """As in a container with default settings."""
    run = "from autograder.grading.kernel import Kernel; Kernel().run([])"
    done = subprocess.run(
        ["setpriv", "--bounding-set=-sys_admin", sys.executable, "-c", run],
        capture_output=True, text=True, check=False, cwd=REPOSITORY,
    )  # fmt: skip
    assert "BoxUnavailable" in done.stderr and "CAP_SYS_ADMIN" in done.stderr and "--sandbox none" in done.stderr


def test_the_package_is_found_wherever_it_is_installed() -> None:
    assert Path(autograder.__file__).parent == box.PACKAGE
    assert all((box.PACKAGE / name).exists() for name in box.OPEN_TO_STUDENTS if name != "py.typed")
