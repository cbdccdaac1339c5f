"""Run a notebook's cells in IPython and answer with their outputs. This is where a student's code runs.

Part of the warmed process: of `autograder` it imports the student half and the protocol only. Nothing here is a
security boundary: the student's code shares this process and may patch all of it. What it answers is checked on the
trusted side, and names are bound at import so that a patched `json.dumps` or `os.fork` spoils less by accident.
"""

from __future__ import annotations

import ast
import base64
import builtins
import contextlib
import gc
import getpass
import io
import json
import os
import select
import signal
import socket
import struct
import sys
import time
import traceback
import warnings
from typing import Any, cast

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.error import StdinNotImplementedError
from IPython.core.interactiveshell import InteractiveShell, InteractiveShellABC
from traitlets import Type
from traitlets.config import Config

import autograder.student
from autograder import evidence
from autograder.student import channel as case_channel

OUT_OF_MEMORY = 77  # exit status that says so
MAX_OUTPUTS = 500  # per cell
MAX_TRACEBACK = 12  # frames

_dumps, _loads, _pack, _unpack = json.dumps, json.loads, struct.pack, struct.unpack
_fork, _exit, _kill, _killpg, _waitpid, _getpid = os.fork, os._exit, os.kill, os.killpg, os.waitpid, os.getpid
_pipe, _read, _write, _close, _setsid = os.pipe, os.read, os.write, os.close, os.setsid
_select, _now, _parse = select.select, time.monotonic, ast.parse
_run_cell: Any = InteractiveShell.run_cell
_ours = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "autograder"}


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


class Outputs:
    """What a cell has put out, in order, as nbformat outputs under a limit of bytes; evidence has a limit of its own."""

    def __init__(self, output_bytes: int, evidence_bytes: int) -> None:
        self.output_bytes, self.evidence_bytes = output_bytes, evidence_bytes
        self.begin()

    def begin(self) -> None:
        self.items: list[dict[str, Any]] = []
        self.left, self.evidence_left, self.cut = self.output_bytes, self.evidence_bytes, False
        self.shown: dict[str, dict[str, Any]] = {}

    def _take(self, size: int) -> bool:
        if size > self.left or len(self.items) >= MAX_OUTPUTS:
            self.cut = True
            return False
        self.left -= size
        return True

    def stream(self, name: str, text: str) -> None:
        if self.cut or not text:
            return
        size = _size(text)
        if size > self.left:
            text = text.encode("utf-8", "replace")[: self.left].decode("utf-8", "ignore")
            self.left, self.cut = 0, True
        else:
            self.left -= size
        last = self.items[-1] if self.items else None
        if last and last["output_type"] == "stream" and last["name"] == name:
            last["text"].append(text)
        elif len(self.items) < MAX_OUTPUTS:
            self.items.append({"output_type": "stream", "name": name, "text": [text]})

    def _bundle(self, data: Any, metadata: Any) -> dict[str, Any] | None:
        """A MIME bundle that fits, or a note in its place."""
        clean = {
            str(mime): base64.b64encode(value).decode() if isinstance(value, bytes) else value
            for mime, value in dict(data).items()
        }
        size = len(_dumps([clean, metadata], default=str))
        if evidence.EVIDENCE_MIME in clean:
            size = len(str(clean[evidence.EVIDENCE_MIME]))
            if size > self.evidence_left:
                self.stream("stderr", f"[evidence of {size:,} bytes left out: the limit is {self.evidence_bytes:,}]\n")
                return None
            self.evidence_left -= size
        elif not self._take(size):
            self.cut = False
            self.stream("stderr", f"[an output of {size:,} bytes was left out]\n")
            return None
        return {"data": clean, "metadata": dict(metadata or {})}

    def display(self, data: Any, metadata: Any = None, display_id: Any = None, update: bool = False) -> None:
        bundle = self._bundle(data, metadata)
        if bundle is None:
            return
        if update:
            if display_id in self.shown:
                self.shown[display_id].update(bundle)
            return
        item = {"output_type": "display_data", **bundle}
        self.items.append(item)
        if display_id is not None:
            self.shown[display_id] = item

    def result(self, data: Any, metadata: Any = None) -> None:
        bundle = self._bundle(data, metadata)
        if bundle is not None:
            self.items.append({"output_type": "execute_result", "execution_count": None, **bundle})

    def error(self, error: BaseException) -> None:
        lines = describe(error)
        name, value = type(error).__name__, "".join(lines[-1:]).strip()
        self.items.append({
            "output_type": "error", "ename": name, "evalue": value.removeprefix(f"{name}: ")[:2000],
            "traceback": [line.rstrip("\n")[:2000] for line in lines],
        })  # fmt: skip

    def clear(self) -> None:
        self.items = [item for item in self.items if evidence.EVIDENCE_MIME in item.get("data", ())]

    def finish(self) -> list[dict[str, Any]]:
        for item in self.items:
            if item["output_type"] == "stream":
                item["text"] = "".join(item["text"])
        if self.cut:
            note = f"\n[output cut at {self.output_bytes:,} bytes]\n"
            self.items.append({"output_type": "stream", "name": "stderr", "text": note})
        return self.items


def describe(error: BaseException) -> list[str]:
    """The traceback of `error` in plain text, without our own frames, the student's cells called by that name."""
    tb, first = error.__traceback__, error.__traceback__
    while tb is not None:
        if tb.tb_frame.f_code.co_filename.startswith(("<ipython-input", "<check")):
            first = tb
            break
        tb = tb.tb_next
    if isinstance(error, (SyntaxError, SystemExit)):
        first = None
    try:
        report = traceback.TracebackException(type(error), error, first, limit=-MAX_TRACEBACK)
        text = "".join(report.format(chain=False))
    except Exception:
        text = f"{type(error).__name__}\n"
    lines = text.splitlines(keepends=True)
    return ["  Cell, " + x.split(", ", 1)[1] if x.startswith('  File "<ipython-input') else x for x in lines]


class _Sink(io.RawIOBase):
    """The binary half of sys.stdout and sys.stderr."""

    def __init__(self, outputs: Outputs, name: str, fd: int) -> None:
        super().__init__()
        self._outputs, self._name, self._fd = outputs, name, fd

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._fd

    def write(self, data: Any) -> int:
        data = bytes(data)
        self._outputs.stream(self._name, data.decode("utf-8", "replace"))
        return len(data)


def _text_stream(outputs: Outputs, name: str, fd: int) -> io.TextIOWrapper:
    sink: Any = _Sink(outputs, name, fd)
    return io.TextIOWrapper(sink, encoding="utf-8", errors="backslashreplace", newline="", write_through=True)


class _Publisher(DisplayPublisher):
    outputs: Outputs

    def publish(
        self, data: Any, metadata: Any = None, source: Any = None, *, transient: Any = None, update: bool = False,
        **kwargs: Any,
    ) -> None:  # fmt: skip
        self.outputs.display(data, metadata, (transient or {}).get("display_id"), update)

    def clear_output(self, wait: bool = False) -> None:
        self.outputs.clear()


class _Hook(DisplayHook):
    outputs: Outputs
    source = ""

    def quiet(self) -> bool:
        return self.source.rstrip().endswith(";")

    def write_output_prompt(self) -> None:
        pass

    def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
        self.outputs.result(format_dict, md_dict)

    def log_output(self, format_dict: Any) -> None:
        pass

    def finish_displayhook(self) -> None:
        self._is_active = False


class Shell(InteractiveShell):
    """IPython without a terminal, a history, a graphical interface or anybody to ask."""

    displayhook_class = Type(_Hook)
    display_pub_class = Type(_Publisher)
    outputs: Outputs
    usual_transformers: tuple[int, ...] = ()

    def init_io(self) -> None:
        pass

    def transform_cell(self, raw_cell: str) -> str:
        """As IPython does it; plain Python, which its transformers leave as it is, is spared the way through them."""
        if self.transformers() == self.usual_transformers:
            try:
                _parse(raw_cell)
            except Exception:  # a magic, a shell line, or broken: IPython knows
                pass
            else:
                return raw_cell if raw_cell.endswith("\n") else f"{raw_cell}\n"
        transformed: str = super().transform_cell(raw_cell)  # type: ignore[no-untyped-call]
        return transformed

    def transformers(self) -> tuple[int, ...]:
        """How many transformers there are of each kind: a student's cell may add its own."""
        own = self.input_transformer_manager
        return tuple(
            map(
                len, (own.cleanup_transforms, own.line_transforms, own.token_transformers, self.input_transformers_post)
            )
        )

    def enable_gui(self, gui: Any = None) -> None:
        pass

    def enable_matplotlib(self, gui: Any = None) -> tuple[Any, str]:
        return gui, "agg"

    def system(self, cmd: str) -> None:
        """`!cmd`: its output goes to the process's own stdout and stderr, which the grader reads under a limit."""
        import subprocess

        expand: Any = self.var_expand
        self.user_ns["_exit_code"] = subprocess.call(expand(cmd, depth=1), shell=True)

    system_piped = system_raw = system

    def ask_exit(self) -> None:
        raise SystemExit

    def showtraceback(self, exc_tuple: Any = None, *args: Any, **kwargs: Any) -> None:
        error = exc_tuple[1] if exc_tuple else sys.exc_info()[1]
        if isinstance(error, BaseException):
            self.outputs.error(error)

    def showsyntaxerror(self, filename: Any = None, running_compiled_code: bool = False) -> None:
        self.showtraceback()

    def showindentationerror(self) -> None:
        self.showtraceback()

    def _showtraceback(self, etype: Any, evalue: Any, stb: Any) -> None:
        self.outputs.error(evalue)


def _nobody_to_ask(*args: Any, **kwargs: Any) -> str:
    raise StdinNotImplementedError(
        "input() has nobody to ask while a notebook is graded. Put the value into a variable instead."
    )


def make_shell(outputs: Outputs, folder: str) -> Shell:
    """The shell that every fork inherits; `folder` stands in for IPython's own folder and may go away afterwards."""
    config = Config()
    config.HistoryManager.enabled = False
    config.HistoryManager.hist_file = ":memory:"
    config.InteractiveShell.autocall = 0
    shell: Shell = Shell.instance(config=config, ipython_dir=folder)
    InteractiveShellABC.register(Shell)
    for part in (shell, shell.displayhook, shell.display_pub):
        setattr(part, "outputs", outputs)  # noqa: B010
    shell.usual_transformers = shell.transformers()
    warnings.filterwarnings("ignore", message="To exit: use")
    warnings.filterwarnings("ignore", message=".*is non-interactive, and thus cannot be shown")
    builtins.input = getpass.getpass = _nobody_to_ask
    # A first cell of ours fills the caches that every fork would otherwise fill for itself.
    _run_cell(shell, "class _First: pass\n1 / 0", store_history=False)
    del shell.user_ns["_First"]
    outputs.begin()
    return shell


class Runner:
    """Answers the grader's requests on `channel`, one cell each, until the channel closes."""

    def __init__(self, shell: Shell, outputs: Outputs, channel: socket.socket) -> None:
        self.shell, self.outputs = shell, outputs
        self.receive, self.send = channel.recv, channel.sendall
        self.close_channel = channel.close
        self.publisher, self.hook = shell.display_pub, cast(_Hook, shell.displayhook)
        self.streams = {name: _text_stream(outputs, name, fd) for name, fd in (("stdout", 1), ("stderr", 2))}
        self.me = _getpid()

    def _exactly(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            more = self.receive(min(count - len(data), 1 << 20))
            if not more:
                _exit(0)
            data += more
        return data

    def serve(self) -> None:
        try:
            while True:
                job = _loads(self._exactly(_unpack("!I", self._exactly(4))[0]))
                answer = self.checkpoint(job) if job["exercise"] is not None else _frame(job, self.cell(job["source"]))
                if _getpid() != self.me:  # a copy that the student's code forked and let return
                    _exit(0)
                self.send(answer)
        except MemoryError:
            _exit(OUT_OF_MEMORY)
        except BaseException:
            _exit(70)

    def _begin(self) -> None:
        self.outputs.begin()
        for name, fd in (("stdout", 1), ("stderr", 2)):
            if self.streams[name].closed:
                self.streams[name] = _text_stream(self.outputs, name, fd)
            setattr(sys, name, self.streams[name])

    def _answer(self, error: Any) -> dict[str, Any]:
        items = self.outputs.items
        if isinstance(error, BaseException) and not any(item["output_type"] == "error" for item in items):
            self.outputs.error(error)
        return {"status": _status(error), "outputs": self.outputs.finish()}

    def cell(self, source: str) -> dict[str, Any]:
        """A cell of the notebook, run as Jupyter would."""
        self._begin()
        self.hook.source = source
        error: Any = None
        try:
            result = _run_cell(self.shell, source, store_history=False)
            error = result.error_before_exec or result.error_in_exec
        except BaseException as raised:
            error = raised
        return self._answer(error)

    def check(self, source: str, exercise: str, cases: Any) -> dict[str, Any]:
        """A check cell, run without IPython's transformers and hooks, which may be the student's by now."""
        self._begin()
        self.shell.display_pub = self.publisher
        sys.modules.update(_ours)
        os.environ["NBGRADER_EXECUTION"] = "autograde"
        names = self.shell.user_ns
        names.update(check=autograder.student.check, grade=autograder.student.grade)
        if cases is not None:
            case_channel.deliver(exercise, cases)
        error: BaseException | None = None
        try:
            tree = ast.parse(source)
            last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
            exec(compile(tree, f"<check {exercise}>", "exec"), names)
            if isinstance(last, ast.Expr):
                value = eval(compile(ast.Expression(last.value), f"<check {exercise}>", "eval"), names)
                if value is not None:
                    self.outputs.result({"text/plain": repr(value)})
        except BaseException as raised:
            error = raised
        return self._answer(error)

    def checkpoint(self, job: dict[str, Any]) -> bytes:
        """Run a check cell in a fork: what happens there happens to that exercise alone."""
        reader, writer = _pipe()
        try:
            child = _fork()
        except OSError:
            _close(reader)
            _close(writer)
            return _frame(job, {"status": "cannot-fork", "outputs": []})
        if child == 0:
            try:
                _setsid()
                _close(reader)
                self.close_channel()
                gc.disable()
                me = _getpid()
                answer = _frame(job, self.check(job["source"], job["exercise"], job["cases"]))
                while answer and _getpid() == me:
                    answer = answer[_write(writer, answer) :]
            except MemoryError:
                _exit(OUT_OF_MEMORY)
            except BaseException:
                _exit(70)
            _exit(0)
        _close(writer)
        return self._watch(job, child, reader)

    def _watch(self, job: dict[str, Any], child: int, reader: int) -> bytes:
        """The child's answer, or ours in its place when it dies or takes too long."""
        deadline, answer, ended = _now() + job["seconds"], b"", None
        answered = False
        while not answered:
            left = deadline - _now()
            if left <= 0:
                break
            if _select([reader], [], [], min(left, 0.05))[0]:
                more = _read(reader, 1 << 20)
                answer += more
                answered = len(answer) >= 4 and len(answer) >= 4 + _unpack("!I", answer[:4])[0]
                if more:
                    continue
                ended = _waitpid(child, 0)[1]
                break
            if ended is not None:  # dead, and what it wrote is read; somebody else may still hold the pipe
                break
            pid, status = _waitpid(child, os.WNOHANG)
            ended = status if pid else None
        for end, target in ((_killpg, child), (_kill, child)):
            with contextlib.suppress(OSError):
                end(target, signal.SIGKILL)
        if ended is None:
            status = _waitpid(child, 0)[1]
            ended = None if not answered and _now() >= deadline else status
        _close(reader)
        if answered:
            return answer
        if ended is None:
            return _frame(job, {"status": "timeout", "outputs": []})
        if os.WIFEXITED(ended) and os.WEXITSTATUS(ended) == OUT_OF_MEMORY:
            return _frame(job, {"status": "memory", "outputs": []})
        return _frame(job, {"status": "died", "outputs": [], "ended": ended})


def _frame(job: dict[str, Any], answer: dict[str, Any]) -> bytes:
    body = _dumps({"nonce": job["nonce"], **answer}, default=str).encode()
    return _pack("!I", len(body)) + body


def _status(error: Any) -> str:
    if error is None:
        return "ok"
    out_of_memory = isinstance(error, MemoryError) or (
        type(error) is RuntimeError and "can't allocate memory" in "".join(map(str, error.args))[:400]
    )
    return "memory" if out_of_memory else "error"
