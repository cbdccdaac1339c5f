"""The kernel: runs a submission's cells in a fresh box, in forks of a warmed process, and returns their outputs.

The grader's process never runs a student's code and takes nothing from a box on trust: what comes back is read under
a limit of bytes and time, rebuilt from its known parts, and belongs to the cell that was asked for, whatever it says.
Design and promises: docs/security.md. The other ends of the wires are warm.py and warm_cells.py.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import selectors
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from autograder.evidence import EVIDENCE_MIME, VERDICT_MIME
from autograder.grading import box
from autograder.grading.box import BoxUnavailable

__all__ = ["BoxUnavailable", "CellJob", "CellRun", "Kernel", "Limits"]

OK, ERROR, TIMEOUT, DIED, MEMORY, SKIPPED = "ok", "error", "timeout", "died", "memory", "skipped"

_START_SECONDS = 180.0  # importing torch from a cold disk
_OPEN_SECONDS = 30.0
_GRACE = 1.5  # a check cell's own fork is stopped inside the box; this much later the box is
_WATCH = 0.2  # seconds between looks at the memory of the box
_INTERFERED = "interfered with the grader"
_DRAIN = 64 << 20  # bytes of flood that are read and thrown away before the writer is left waiting


# All that a cell finds in os.environ, apart from HOME, TMPDIR and PWD.
_ENVIRONMENT = {
    "PATH": os.pathsep.join(dict.fromkeys((os.path.dirname(sys.executable), "/usr/bin", "/bin"))),
    "LANG": "C.UTF-8",
    "USER": "student",
    "LOGNAME": "student",
    "TERM": "dumb",
    "MPLBACKEND": "agg",
    "NBGRADER_EXECUTION": "autograde",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    # Without a network pip would retry for longer than a cell may take.
    "PIP_RETRIES": "0",
    "PIP_NO_INPUT": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
}


@dataclass(frozen=True)
class CellJob:
    """One cell to run. `exercise` and `cases` make it a check cell; `cases` reach the box just before it runs.

    `seconds`, `memory_bytes` and `output_bytes` stand in place of the submission's limits for this cell; the last two
    cannot allow more than the box as a whole is allowed.
    """

    id: str
    source: str
    exercise: str | None = None
    cases: list[dict[str, Any]] | str | None = None  # a string is the same as JSON
    seconds: float | None = None
    memory_bytes: int | None = None
    output_bytes: int | None = None


@dataclass
class CellRun:
    """What became of a cell. `detail` continues a sentence that begins with "the cell": "timed out after 10 s".

    `status` is ok, error, timeout, died, memory or skipped. `outputs` are nbformat 4 outputs, limited in size; every
    status but ok comes with an output of type error, so that nothing downstream takes silence for success.
    """

    id: str
    status: str
    outputs: list[dict[str, Any]] = field(default_factory=list)
    detail: str = ""


@dataclass(frozen=True)
class Limits:
    """What a submission may use: seconds of wall time, bytes, counts."""

    seconds_per_cell: float = 10.0
    seconds_total: float = 180.0
    memory_bytes: int = 2 << 30  # beyond what the interpreter with its libraries takes
    output_bytes: int = 200_000  # per cell, without evidence
    evidence_bytes: int = 2_500_000  # per check cell
    processes: int = 64  # threads count
    disk_bytes: int = 256 << 20
    restarts: int = 10  # after a cell that ended the process, the cells before it are run again without it


class _HelperLost(Exception):
    """The warmed process has gone."""


class _Helper:
    """The warmed process, and the socket on which it takes requests."""

    def __init__(self, sandbox: str, limits: Limits, hide: Iterable[Path]) -> None:
        ours, theirs = socket.socketpair()
        self.control = ours
        self.log = tempfile.TemporaryFile()  # noqa: SIM115
        # Names only where libraries are: some clusters' interpreters do not start without it.
        search = {k: os.environ[k] for k in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH") if k in os.environ}
        search["MALLOC_ARENA_MAX"] = "2"  # each thread's own arena would count against the limit of address space
        if sys.platform == "darwin":
            search["OBJC_DISABLE_INITIALIZE_FORK_SAFETY"] = "YES"
        config: dict[str, Any] = {
            "do": "start", "sandbox": sandbox, "limits": asdict(limits), "environment": _ENVIRONMENT,
            "package": str(box.PACKAGE), "library_folders": box.library_folders(),
        }  # fmt: skip
        if sandbox == "bwrap":
            config |= {"arguments": box.arguments(hide), "files": box.FILES, "writable": box.WRITABLE}
        self.process = subprocess.Popen(
            [sys.executable, "-I", str(Path(__file__).with_name("warm.py"))],
            stdin=theirs.fileno(), stdout=self.log, stderr=self.log, env=search, cwd="/",
        )  # fmt: skip
        theirs.close()
        try:
            self.request(config, seconds=_START_SECONDS)
        except _HelperLost:
            said = self.said()
            self.close()
            raise BoxUnavailable(
                f"The process that runs submissions did not start: {said or 'it said nothing'}."
            ) from None
        except OSError as error:
            self.close()
            raise box.refused(str(error)) from None

    def said(self) -> str:
        self.log.seek(0)
        return self.log.read()[-2000:].decode(errors="replace").strip()

    def request(self, what: dict[str, Any], fds: Sequence[int] = (), seconds: float = _OPEN_SECONDS) -> dict[str, Any]:
        """The answer to one request. OSError with what went wrong over there; _HelperLost if nobody answers."""
        try:
            self.control.settimeout(seconds)
            data = json.dumps(what).encode() + b"\n"
            if fds:
                socket.send_fds(self.control, [data], list(fds))
            else:
                self.control.sendall(data)
            answer = b""
            while not answer.endswith(b"\n"):
                more = self.control.recv(65536)
                if not more:
                    raise _HelperLost
                answer += more
        except (OSError, _HelperLost) as error:
            # An answer that comes late must not be taken for the next one's.
            self.process.kill()
            self.process.wait()
            raise _HelperLost from error
        found: dict[str, Any] = json.loads(answer)
        if "error" in found:
            raise OSError(found["error"])
        return found

    def close(self) -> None:
        self.control.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()


@dataclass
class _Lost:
    """Why a runner is no longer to be used."""

    status: str
    detail: str = ""


class _Runner:
    """A fork of the warmed process in a box of its own, that runs cells one after the other."""

    def __init__(self, helper: _Helper, sandbox: str, limits: Limits) -> None:
        self.helper, self.limits = helper, limits
        self.folder = None if sandbox == "bwrap" else tempfile.TemporaryDirectory(prefix="autograder-")
        scratch = box.SCRATCH if self.folder is None else os.path.realpath(self.folder.name)
        self.channel, theirs = socket.socketpair()
        self.unread = bytearray()
        self.spent: set[str] = set()
        out, out_w = os.pipe()
        err, err_w = os.pipe()
        self.pipes = {"stdout": out, "stderr": err}
        self.selector = selectors.DefaultSelector()
        try:
            try:
                helper.request({"do": "open", "scratch": scratch}, [theirs.fileno(), out_w, err_w])
            finally:
                theirs.close()
                os.close(out_w)
                os.close(err_w)
            self.channel.settimeout(_OPEN_SECONDS)
            hello = self.channel.recv(4096)
            if hello != b"+":
                raise OSError(hello[1:].decode(errors="replace") or "the box ended at once")
        except BaseException:
            self.close()
            raise
        self.selector.register(self.channel, selectors.EVENT_READ)
        for name, fd in self.pipes.items():
            os.set_blocking(fd, False)
            self.selector.register(fd, selectors.EVENT_READ, name)

    def close(self) -> int | None:
        """End the box and all that is in it; how the runner ended, as a wait status."""
        ended = None
        with contextlib.suppress(_HelperLost, OSError):
            ended = self.helper.request({"do": "close"})["ended"]
        self.selector.close()
        self.channel.close()
        for fd in self.pipes.values():
            os.close(fd)
        if self.folder is not None:
            self.folder.cleanup()
        return ended

    def ask(self, job: CellJob, seconds: float) -> tuple[dict[str, Any] | _Lost, dict[str, bytes]]:
        """The runner's answer to `job`, as it came, and what the cell's processes wrote to stdout and stderr."""
        nonce = secrets.token_hex(8)
        cases = job.cases if isinstance(job.cases, str) else json.dumps(job.cases)
        rest = json.dumps({"nonce": nonce, "source": job.source, "exercise": job.exercise, "seconds": seconds})
        request = f'{rest[:-1]}, "cases": {cases}}}'.encode()
        raw: dict[str, bytes] = {"stdout": b"", "stderr": b""}
        thrown = 0
        memory_bytes = job.memory_bytes or self.limits.memory_bytes
        deadline = time.monotonic() + seconds + (_GRACE if job.exercise is not None else 0.0)
        try:
            self.channel.settimeout(max(seconds, 0.01))
            self.channel.sendall(struct.pack("!I", len(request)) + request)
        except TimeoutError:
            return _Lost(TIMEOUT), raw
        except OSError:
            return _Lost(DIED), raw
        # JSON escapes make six bytes of one at worst, of evidence, which is JSON itself, two.
        largest = 6 * self.limits.output_bytes + 200_000
        largest += 2 * self.limits.evidence_bytes if job.exercise is not None else 0
        look = time.monotonic() + _WATCH
        while True:
            now = time.monotonic()
            if now >= deadline:
                return _Lost(TIMEOUT), raw
            if now >= look:
                try:
                    if self.memory() > memory_bytes:
                        return _Lost(MEMORY), raw
                except (_HelperLost, OSError):
                    return _Lost(DIED), raw
                look = time.monotonic() + _WATCH
            for key, _ in self.selector.select(max(0.0, min(deadline, look) - now)):
                if key.data is not None:
                    thrown += self._drain(key.data, raw, once=True)
                    if thrown > _DRAIN:
                        self.selector.unregister(key.fd)
                    continue
                try:
                    more = self.channel.recv(1 << 20)
                except OSError:
                    more = b""
                if not more:
                    self._drain_all(raw)
                    return _Lost(DIED), raw
                self.unread += more
            while len(self.unread) >= 4:
                size = struct.unpack_from("!I", self.unread)[0]
                if size > largest:
                    return _Lost(DIED, _INTERFERED), raw
                if len(self.unread) < size + 4:
                    break
                answer = _decoded(bytes(self.unread[4 : size + 4]))
                del self.unread[: size + 4]
                if answer.get("nonce") == nonce:
                    self._drain_all(raw)
                    self.spent.add(nonce)
                    return answer, raw
                # A second answer to an earlier cell was forged there or then, and is none of this one's business.
                if answer.get("nonce") not in self.spent:
                    return _Lost(DIED, _INTERFERED), raw

    def memory(self) -> int:
        """Bytes that the submission's processes hold together."""
        return int(self.helper.request({"do": "usage"})["bytes"])

    def short_of_memory(self) -> bool:
        """Whether memory is still short after a cell that ran out of it; one huge array that failed leaves none."""
        try:
            return self.memory() > self.limits.memory_bytes // 4
        except (_HelperLost, OSError):
            return True

    def _drain(self, name: str, raw: dict[str, bytes], once: bool = False) -> int:
        """Read a pipe, keep what the limit allows; how much was thrown away."""
        thrown = 0
        for _ in range(1 if once else 32):
            try:
                data = os.read(self.pipes[name], 1 << 16)
            except OSError:
                break
            if not data:
                if once:
                    self.selector.unregister(self.pipes[name])
                break
            room = self.limits.output_bytes + 1 - len(raw[name])
            raw[name] += data[: max(room, 0)]
            thrown += max(len(data) - max(room, 0), 0)
        return thrown

    def _drain_all(self, raw: dict[str, bytes]) -> None:
        for name in self.pipes:
            self._drain(name, raw)


def _decoded(data: bytes) -> dict[str, Any]:
    """A frame's content; empty if it is no JSON object."""
    try:
        answer = json.loads(data, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return {}
    return answer if isinstance(answer, dict) and isinstance(answer.get("nonce"), str) else {}


class Kernel:
    """Runs submissions one at a time, each in a fresh box. A context manager; safe to share between threads.

    Args:
        sandbox: "bwrap" for a box; "none" gives up its walls and keeps the limits (docs/security.md).
        hide: folders that the box must not show even if they lie inside what it shows, such as a course folder
            under /usr. Folders outside the system and the interpreter are not there anyway.

    Raises:
        BoxUnavailable: here or in `run`, if this machine cannot build boxes.
    """

    def __init__(self, sandbox: str = "bwrap", limits: Limits | None = None, hide: Iterable[Path] = ()) -> None:
        if sandbox not in ("bwrap", "none"):
            raise ValueError(f'sandbox is "bwrap" or "none", not {sandbox!r}')
        self.sandbox = sandbox
        self.limits = limits or Limits()
        self._hide = tuple(hide)
        self._lock = threading.Lock()
        self._helper: _Helper | None = None
        if sandbox == "bwrap":
            box.bubblewrap()

    def __enter__(self) -> Kernel:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        with self._lock:
            self._discard_helper()

    def _discard_helper(self) -> None:
        helper, self._helper = self._helper, None
        if helper is not None:
            helper.close()

    def _open(self) -> _Runner:
        for attempt in (1, 2):
            if self._helper is not None and self._helper.process.poll() is not None:
                self._discard_helper()
            if self._helper is None:
                self._helper = _Helper(self.sandbox, self.limits, self._hide)
            try:
                return _Runner(self._helper, self.sandbox, self.limits)
            except _HelperLost:
                self._discard_helper()
            except OSError as error:
                # A machine that is short of processes or memory for a moment gets a second chance.
                if attempt == 2:
                    raise box.refused(str(error)) from None
        raise BoxUnavailable("The process that runs submissions ends as soon as it is asked to run one.")

    def run(self, cells: Sequence[CellJob]) -> list[CellRun]:
        """Run the cells of one submission, in order, in a fresh box; one CellRun a cell, in the same order.

        Nothing that a submission does raises here. A check cell runs in a fork, so that what happens there costs that
        exercise alone. Another cell that ends the process is left out, and the cells before it are run again in a
        fresh box.

        Raises:
            BoxUnavailable: if no box can be built.
        """
        with self._lock:
            submission = _Submission(self._open, self.limits)
            submission.begin()
            try:
                return [submission.run(job) for job in cells]
            finally:
                submission.close()


class _Submission:
    """One submission on its way through its cells."""

    def __init__(self, open_runner: Callable[[], _Runner], limits: Limits) -> None:
        self.open_runner, self.limits = open_runner, limits
        self.runner: _Runner | None = None
        self.ran: list[CellJob] = []
        self.restarts = 0
        self.end = 0.0

    def begin(self) -> None:
        """Open the first runner; the submission's time starts when it stands, not when libraries are imported."""
        self.runner = self.open_runner()
        self.end = time.monotonic() + self.limits.seconds_total

    def close(self) -> int | None:
        runner, self.runner = self.runner, None
        return runner.close() if runner is not None else None

    def _seconds(self, job: CellJob) -> float:
        wanted = job.seconds if job.seconds is not None else self.limits.seconds_per_cell
        return max(0.0, min(wanted, self.end - time.monotonic()))

    def _lose(self) -> int | None:
        self.restarts += 1
        return self.close()

    def _ready(self) -> _Runner | None:
        """A runner in which the cells so far have run; None when the submission has used up what it may."""
        while self.restarts <= self.limits.restarts and time.monotonic() < self.end:
            if self.runner is not None:
                return self.runner
            self.runner = self.open_runner()
            for job in list(self.ran):
                answer, _ = self.runner.ask(job, self._seconds(job))
                if isinstance(answer, _Lost) or (answer.get("status") == MEMORY and self.runner.short_of_memory()):
                    self.ran.remove(job)
                    self._lose()
                    break
        return None

    def run(self, job: CellJob) -> CellRun:
        for _ in range(2):
            runner = self._ready()
            if runner is None:
                return self._skipped(job)
            seconds = self._seconds(job)
            answer, raw = runner.ask(job, seconds)
            if isinstance(answer, dict) and answer.get("status") == "cannot-fork":
                self._lose()  # processes left by earlier cells fill the box: a fresh one
                continue
            return self._taken(job, seconds, answer, raw)
        return _failed(job, DIED, "could not run: the notebook's own processes fill the box", [])

    def _skipped(self, job: CellJob) -> CellRun:
        why = (
            f"the notebook had used up its {self.limits.seconds_total:g} s"
            if time.monotonic() >= self.end
            else f"the notebook had ended its process {self.restarts} times"
        )
        return _failed(job, SKIPPED, f"was not run: {why}", [])

    def _taken(self, job: CellJob, seconds: float, answer: dict[str, Any] | _Lost, raw: dict[str, bytes]) -> CellRun:
        limits = self.limits
        if job.output_bytes:
            limits = replace(limits, output_bytes=min(job.output_bytes, limits.output_bytes))
        outputs = _Taken(limits, evidence=job.exercise is not None)
        if isinstance(answer, _Lost):
            ended = self._lose()
            outputs.add_raw(raw)
            status, detail = answer.status, answer.detail
            if status == DIED and ended is not None and os.WIFEXITED(ended) and os.WEXITSTATUS(ended) == 77:
                status = MEMORY
            return _failed(job, status, detail or self._why(job, status, seconds, ended), outputs.items)
        outputs.add(answer.get("outputs"))
        outputs.add_raw(raw)
        said = answer.get("status")
        status = said if isinstance(said, str) else ""
        if status == OK:
            if job.exercise is None:
                self.ran.append(job)
            return CellRun(job.id, OK, outputs.items)
        if status == ERROR:
            if job.exercise is None:
                self.ran.append(job)
            found = next((x for x in outputs.items if x["output_type"] == "error"), None)
            detail = f"stopped with {found['ename']}: {found['evalue']}" if found else "stopped with an error"
            return _failed(job, ERROR, _network(detail) or _line(detail), outputs.items)
        if status == MEMORY and job.exercise is None:
            if self.runner is None or self.runner.short_of_memory():
                self._lose()
            else:
                self.ran.append(job)
        if status in (TIMEOUT, MEMORY, DIED):
            ended = answer.get("ended")
            known = type(ended) is int and 0 <= ended <= 0xFFFF  # what a wait status can be
            return _failed(job, status, self._why(job, status, seconds, ended if known else None), outputs.items)
        self._lose()
        return _failed(job, DIED, _INTERFERED, [])

    def _why(self, job: CellJob, status: str, seconds: float, ended: int | None) -> str:
        if status == TIMEOUT:
            if time.monotonic() >= self.end:
                return f"was stopped: the notebook had used up its {self.limits.seconds_total:g} s"
            return f"timed out after {seconds:g} s"
        if status == MEMORY:
            return f"ran out of memory (limit {_bytes(job.memory_bytes or self.limits.memory_bytes)})"
        return f"ended the Python process that it ran in{_ending(ended)}"


def _ending(ended: int | None) -> str:
    if ended is None:
        return ""
    if os.WIFSIGNALED(ended):
        number = os.WTERMSIG(ended)
        try:
            name = signal.Signals(number).name
        except ValueError:
            name = f"signal {number}"
        return f" ({name}: {signal.strsignal(number)})"
    return f" (exit status {os.WEXITSTATUS(ended)})" if os.WIFEXITED(ended) else ""


def _bytes(count: int) -> str:
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if count >= unit:
            return f"{count / unit:.3g} {name}"
    return f"{count} bytes"


def _line(text: str, longest: int = 300) -> str:
    text = " ".join(text.split())
    return text if len(text) <= longest else text[: longest - 1] + "…"


_NETWORK = ("Network is unreachable", "Temporary failure in name resolution", "Name or service not known", "gaierror")


def _network(detail: str) -> str | None:
    """Said of a cell that failed for want of a network: nothing in it is wrong but that."""
    if any(word in detail for word in _NETWORK):
        return "tried to reach the network; there is none while a notebook is graded"
    return None


def _failed(job: CellJob, status: str, detail: str, outputs: list[dict[str, Any]]) -> CellRun:
    if not any(output["output_type"] == "error" for output in outputs):
        name = {TIMEOUT: "Timeout", DIED: "ProcessEnded", MEMORY: "OutOfMemory", SKIPPED: "NotRun"}.get(status, "Error")
        text = f"This cell {detail}."
        outputs = [*outputs, {"output_type": "error", "ename": name, "evalue": text, "traceback": [text]}]
    return CellRun(job.id, status, outputs, detail)


class _Taken:
    """Outputs rebuilt from what a box sent: known kinds, plain text and JSON, limited in size. Trusted side."""

    def __init__(self, limits: Limits, evidence: bool) -> None:
        self.limits, self.evidence = limits, evidence
        self.left, self.evidence_left = limits.output_bytes, limits.evidence_bytes
        self.items: list[dict[str, Any]] = []
        self.cut = False

    def add(self, outputs: Any) -> None:
        for output in (outputs if isinstance(outputs, list) else [])[:2000]:
            kind = output.get("output_type") if isinstance(output, dict) else None
            build = {
                "stream": self._stream, "display_data": self._display, "execute_result": self._display,
                "error": self._error,
            }.get(kind if isinstance(kind, str) else "")  # fmt: skip
            if build is not None:
                build(output)

    def add_raw(self, raw: dict[str, bytes]) -> None:
        """What processes wrote past Python, after the rest."""
        for name, data in raw.items():
            self._stream({"name": name, "text": data.decode("utf-8", "replace")})
        if self.cut:
            note = f"[output cut at {self.limits.output_bytes:,} bytes]"
            if not any(note in str(item.get("text", ""))[-100:] for item in self.items):
                self.items.append({"output_type": "stream", "name": "stderr", "text": f"\n{note}\n"})

    def _stream(self, output: dict[str, Any]) -> None:
        text, name = output.get("text"), output.get("name")
        if not isinstance(text, str) or not text or name not in ("stdout", "stderr"):
            return
        data = _text(text).encode()
        note = text.startswith("\n[output cut at") and len(data) < 100
        if len(data) > self.left and not note:
            data, self.cut = data[: self.left], True
        self.left -= min(len(data), self.left)
        if data:
            self.items.append({"output_type": "stream", "name": name, "text": data.decode("utf-8", "ignore")})

    def _display(self, output: dict[str, Any]) -> None:
        data, metadata = output.get("data"), output.get("metadata")
        if not isinstance(data, dict):
            return
        kept: dict[str, Any] = {}
        for mime, value in data.items():
            if mime == VERDICT_MIME or len(mime) > 200:
                continue
            if mime == EVIDENCE_MIME:
                if not self.evidence or not isinstance(value, str):
                    continue
                size = len(value)
                if size <= self.evidence_left:
                    self.evidence_left -= size
                    kept[mime] = _text(value)
                continue
            clean = _json(value)
            is_text = isinstance(clean, str) or (isinstance(clean, list) and all(isinstance(x, str) for x in clean))
            if not is_text and not mime.endswith("json"):
                clean = str(clean)
            size = len(json.dumps(clean))
            if size > self.left:
                self.cut = True
                continue
            self.left -= size
            kept[_text(mime)] = clean
        if not kept:
            return
        clean_metadata = _json(metadata) if isinstance(metadata, dict) else {}
        if len(json.dumps(clean_metadata)) > min(self.left, 10_000):
            clean_metadata = {}
        item = {"output_type": output["output_type"], "data": kept, "metadata": clean_metadata}
        if output["output_type"] == "execute_result":
            item["execution_count"] = None
        self.items.append(item)

    def _error(self, output: dict[str, Any]) -> None:
        traceback = output.get("traceback")
        lines = [_text(x)[:2000] for x in traceback if isinstance(x, str)] if isinstance(traceback, list) else []
        self.items.append({
            "output_type": "error", "ename": _line(_word(output.get("ename"))[:400], 100) or "Error",
            "evalue": _word(output.get("evalue"))[:2000], "traceback": lines[:200],
        })  # fmt: skip


def _text(text: str) -> str:
    """`text` with what no UTF-8 file can hold, lone surrogates, replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _word(value: Any) -> str:
    """`value` where a word is expected; what is nested without end has none."""
    return _text(value) if isinstance(value, str) else ""


def _json(value: Any, depth: int = 0) -> Any:
    """Parsed JSON with clean strings, non-finite numbers as null and limited depth."""
    if depth > 20:
        return None
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list):
        return [_json(x, depth + 1) for x in value]
    if isinstance(value, dict):
        return {_text(k): _json(v, depth + 1) for k, v in value.items()}
    if isinstance(value, float) and value - value != 0.0:
        return None
    return value
