"""Running cells: real outputs, limits that hold, and faults that cost their own cell alone."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest

from autograder.evidence import EVIDENCE_MIME, VERDICT_MIME
from autograder.grading.kernel import CellJob, CellRun, Kernel, Limits

pytestmark = pytest.mark.bubblewrap

LIMITS = Limits(
    seconds_per_cell=30.0,  # a busy machine is no fault of the cell's; what is meant to time out says so itself
    seconds_total=90.0,
    memory_bytes=400 << 20,
    output_bytes=20_000,
    evidence_bytes=50_000,
    processes=24,
    disk_bytes=16 << 20,
)


@pytest.fixture(scope="module")
def kernel() -> Iterator[Kernel]:
    with Kernel(limits=LIMITS) as kernel:
        yield kernel


@pytest.fixture(scope="module")
def plain() -> Iterator[Kernel]:
    with Kernel(sandbox="none", limits=LIMITS) as kernel:
        yield kernel


@pytest.fixture(scope="module", params=["bwrap", "none"])
def either(request: pytest.FixtureRequest) -> Kernel:
    found: Kernel = request.getfixturevalue("kernel" if request.param == "bwrap" else "plain")
    return found


def jobs(*sources: str | CellJob) -> list[CellJob]:
    return [s if isinstance(s, CellJob) else cell(s, f"c{i}") for i, s in enumerate(sources)]


def cell(source: str, id: str = "cell", seconds: float | None = None) -> CellJob:
    return CellJob(id, textwrap.dedent(source), seconds=seconds)


def check(
    source: str,
    cases: list[dict] | None = None,
    exercise: str = "3.1",
    id: str = "check",
    seconds: float | None = None,
) -> CellJob:
    return CellJob(id, textwrap.dedent(source), exercise, cases if cases is not None else [{"x": 1}], seconds)


def text(run: CellRun, name: str = "stdout") -> str:
    return "".join(o["text"] for o in run.outputs if o["output_type"] == "stream" and o["name"] == name)


def evidence(run: CellRun) -> list[str]:
    return [o["data"][EVIDENCE_MIME] for o in run.outputs if EVIDENCE_MIME in o.get("data", {})]


# A check cell as the course has it, with a probe of the test's own.
GRADE = f"""
from IPython.display import display
from autograder.student import channel
display({{"{EVIDENCE_MIME}": repr([f(case["x"]) for case in channel.take("3.1")])}}, raw=True)
0.0
"""


def test_outputs_are_what_a_notebook_would_hold(either: Kernel) -> None:
    """In order: printed text, a display, more text, a result; then an error with the student's own lines."""
    runs = either.run(
        jobs(
            """
            import sys
            from IPython.display import HTML, display
            print("one")
            display(HTML("<b>two</b>"))
            print("three", file=sys.stderr)
            40 + 2
            """,
            """
            def f(x):
                return 1 / x
            f(0)
            """,
            "1 +",
            "x = 5; x;",
        )
    )
    first, second, third, fourth = runs
    assert [o["output_type"] for o in first.outputs] == ["stream", "display_data", "stream", "execute_result"]
    assert first.outputs[1]["data"]["text/html"] == "<b>two</b>"
    assert first.outputs[3]["data"] == {"text/plain": "42"}
    assert second.status == "error" and second.detail == "stopped with ZeroDivisionError: division by zero"
    shown = "\n".join(second.outputs[0]["traceback"])
    assert "return 1 / x" in shown and "warm" not in shown and "IPython" not in shown
    assert third.status == "error" and third.outputs[0]["ename"] == "SyntaxError"
    assert fourth == CellRun("c3", "ok", [], "")
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell("", outputs=[nbformat.from_dict(o) for o in run.outputs]) for run in runs]
    )
    nbformat.validate(notebook)


def test_cells_share_names_within_a_submission_and_not_beyond(either: Kernel) -> None:
    assert either.run(jobs("x = 1", "print(x)"))[1].status == "ok"
    assert either.run(jobs("print(x)"))[0].outputs[0]["ename"] == "NameError"


def test_torch_numpy_and_figures_work(either: Kernel) -> None:
    (run,) = either.run(
        jobs(
            """
            import numpy as np, torch, matplotlib.pyplot as plt
            x = torch.tensor(2.0, requires_grad=True)
            (x ** 3).backward()
            plt.plot(np.arange(3)); plt.savefig("curve.png"); plt.show()
            import os
            print(x.grad.item(), os.path.exists("curve.png"))
            """
        )
    )
    assert text(run) == "12.0 True\n"
    assert text(run, "stderr") == ""


def test_a_check_cell_runs_in_a_copy_with_its_own_cases(either: Kernel) -> None:
    runs = either.run(
        jobs(
            "f = lambda x: x * 10",
            check(GRADE + "\nf = None\n0.0", [{"x": 1}, {"x": 2}]),
            check(GRADE, [{"x": 3}], id="again"),
            "print(f(5))",
        )
    )
    assert [run.status for run in runs] == ["ok"] * 4
    assert evidence(runs[1]) == ["[10, 20]"] and evidence(runs[2]) == ["[30]"]
    # Silence would be full marks to nbgrader: a check cell that grade() ends returns 0.0 for all to see.
    assert runs[1].outputs[-1]["data"] == {"text/plain": "0.0"}
    assert text(runs[3]) == "50\n"


DEADLY = {
    "loop": ("while True: pass", "timeout", "timed out after 1 s"),
    "loop that catches everything": (
        """
        while True:
            try:
                while True: pass
            except BaseException: pass
        """,
        "timeout",
        "timed out after 1 s",
    ),
    "exit past Python": ("import os; os._exit(0)", "died", "ended the Python process that it ran in (exit status 0)"),
    "kill itself": (
        "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
        "died",
        "ended the Python process that it ran in (SIGKILL: Killed)",
    ),
    "wild pointer": (
        "import ctypes; ctypes.string_at(8)",
        "died",
        "ended the Python process that it ran in (SIGSEGV: Segmentation fault)",
    ),
    "closes every descriptor": (
        "import os; os.closerange(0, 4096)",
        "died",
        "ended the Python process that it ran in",
    ),
    "20 GiB": ("a = bytearray(20 << 30)", "memory", "ran out of memory (limit 400 MiB)"),
    "20 GiB, numpy": ("import numpy as np; a = np.ones(20 << 27)", "memory", "ran out of memory (limit 400 MiB)"),
    "20 GiB, torch": ("import torch; a = torch.ones(20 << 27)", "memory", "ran out of memory (limit 400 MiB)"),
    "list of 10^10": ("a = [0] * 10**10", "memory", "ran out of memory (limit 400 MiB)"),
    "growing list": ("a = []\nwhile True: a.append('x' * 100_000)", "memory", "ran out of memory (limit 400 MiB)"),
}


@pytest.mark.parametrize("name", DEADLY)
def test_a_deadly_cell_costs_itself_alone(either: Kernel, name: str) -> None:
    """The cells before it are run again without it, so that the cells after it find their names."""
    source, status, detail = DEADLY[name]
    bad = cell(source, seconds=1.0 if status == "timeout" else None)
    runs = either.run(jobs("print('before'); x = [1]", bad, "x.append(2); print(x)"))
    assert [run.status for run in runs] == ["ok", status, "ok"]
    assert runs[1].detail.startswith(detail)
    assert runs[1].outputs[-1]["output_type"] == "error"
    assert text(runs[0]) == "before\n" and text(runs[2]) == "[1, 2]\n"


@pytest.mark.parametrize("name", DEADLY)
def test_a_deadly_function_costs_its_check_alone(kernel: Kernel, name: str) -> None:
    """In a check cell nothing is run again: the names of the notebook are as they were, its randomness too."""
    source, status, detail = DEADLY[name]
    runs = kernel.run(
        jobs(
            "import os; pid = os.getpid(); f = lambda x: x",
            check(source, id="bad", seconds=1.0 if status == "timeout" else None),
            check(GRADE, id="good"),
            "print(os.getpid() == pid)",
        )
    )
    assert [run.status for run in runs] == ["ok", status, "ok", "ok"]
    assert runs[1].detail.startswith(detail)
    assert evidence(runs[2]) == ["[1]"]
    assert text(runs[3]) == "True\n"


FAILS_ALONE = {
    "sys.exit": ("import sys; sys.exit()", "SystemExit"),
    "quit": ("quit()", "SystemExit"),
    "exit without parentheses": ("exit", None),
    "raise SystemExit": ("raise SystemExit(3)", "SystemExit"),
    "deep recursion": ("def f(): f()\nf()", "RecursionError"),
    "deeper recursion": ("import sys; sys.setrecursionlimit(20_000)\ndef f(): f()\nf()", "RecursionError"),
    "KeyboardInterrupt": ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    "input": ("input('your name? ')", "StdinNotImplementedError"),
    "getpass": ("import getpass; getpass.getpass()", "StdinNotImplementedError"),
    "reading standard input": ("import sys; print(repr(sys.stdin.read()))", None),
    "unknown magic": ("%no_such_magic", None),
    "network": ("import urllib.request; urllib.request.urlopen('http://example.com', timeout=1)", "URLError"),
    "error whose text fails": (
        "class E(Exception):\n  def __str__(s): raise ValueError\nraise E",
        "E",
    ),
    "error of 10 MB": ("raise ValueError('x' * 10**7)", "ValueError"),
}


@pytest.mark.parametrize("name", FAILS_ALONE)
def test_a_cell_that_fails_leaves_the_process_as_it_is(kernel: Kernel, name: str) -> None:
    source, ename = FAILS_ALONE[name]
    runs = kernel.run(jobs("import os; pid = os.getpid()", source, "print(os.getpid() == pid)"))
    assert runs[1].status in (("error",) if ename else ("ok", "error"))
    if ename:
        assert runs[1].outputs[-1]["ename"] == ename
    assert len(json.dumps(runs[1].outputs)) < 20_000 and len(runs[1].detail) < 400
    assert text(runs[2]) == "True\n"


def test_what_cannot_work_here_says_so(kernel: Kernel) -> None:
    asked, network = kernel.run(
        jobs("input()", "import socket; socket.create_connection(('198.51.100.1', 80), timeout=0.5)")
    )
    assert "nobody to ask" in asked.outputs[-1]["evalue"]
    assert network.detail == "tried to reach the network; there is none while a notebook is graded"


HARMLESS = {
    "warning": ("import warnings; warnings.warn('careful')", "careful"),
    "magic": ("%matplotlib inline", ""),
    "widget backend": ("%matplotlib widget", ""),
    "graphical backend": ("import matplotlib; matplotlib.use('TkAgg')\nimport matplotlib.pyplot as plt; plt.show()", ""),
    "autoreload": ("%load_ext autoreload\n%autoreload 2", ""),
    "shell": ("!echo from the shell", "from the shell"),
    "shell into a name": ("listed = !echo a b\nprint(listed)", "['a b']"),
    "bash": ("%%bash\necho from bash", "from bash"),
    "time": ("%time x = 1", "Wall time"),
    "await": ("import asyncio\nawait asyncio.sleep(0)\nprint('awaited')", "awaited"),
    "progress bar": ("from tqdm.auto import tqdm\nfor _ in tqdm(range(3)): pass", "3/3"),
    "thread": ("import threading\nt = threading.Thread(target=print, args=('hi',)); t.start(); t.join()", "hi"),
    "threads left over": ("import threading, time\nfor _ in range(8): threading.Thread(target=time.sleep, args=(60,)).start()", ""),
    "fork that returns": ("import os\nchild = os.fork()\nif child: print('parent')", "parent"),
    "logging": ("import logging; logging.warning('logged')", "logged"),
    "closed stdout": ("import sys; sys.stdout.close()", ""),
    "replaced stdout": ("import sys, io; sys.stdout = io.StringIO(); print('lost')", ""),
    "raw descriptors": ("import os; os.write(1, b'raw'); os.write(2, b'err')", "raw"),
    "surrogates": ("print('a\\ud800b'); '\\udfff'", "a\\ud800b"),
    "nan in json": ("from IPython.display import display\ndisplay({'application/json': {'x': float('nan')}}, raw=True)", ""),
    "set as json": ("from IPython.display import display\ndisplay({'application/json': {1, 2}}, raw=True)", ""),
    "bytes as png": ("from IPython.display import display\ndisplay({'image/png': b'\\x89PNG'}, raw=True)", ""),
    "repr that raises": ("class R:\n  def __repr__(s): raise ValueError('no')\nR()", None),
    "widget": ("import ipywidgets; ipywidgets.IntSlider()", ""),
}  # fmt: skip


@pytest.mark.parametrize("name", HARMLESS)
def test_what_a_notebook_may_do_does_no_harm(kernel: Kernel, name: str) -> None:
    source, expected = HARMLESS[name]
    runs = kernel.run([*jobs("f = lambda x: x", source), *jobs(check(GRADE)), CellJob("z", "print('still here')")])
    if expected is not None:
        assert runs[1].status == "ok", runs[1]
        assert expected in text(runs[1]) + text(runs[1], "stderr")
    assert evidence(runs[2]) == ["[1]"], runs[2]
    assert text(runs[3]) == "still here\n"
    for run in runs:
        json.dumps(run.outputs, allow_nan=False, ensure_ascii=False).encode()
        nbformat.validate(
            nbformat.v4.new_notebook(
                cells=[nbformat.v4.new_code_cell("", outputs=[nbformat.from_dict(o) for o in run.outputs])]
            )
        )


def test_pip_gives_up_at_once(kernel: Kernel) -> None:
    """It would retry for longer than a cell may take."""
    runs = kernel.run([CellJob("a", "!pip install nothing-at-all-here", seconds=30.0), CellJob("b", "print(1)")])
    assert runs[0].status == "ok" and "ERROR: " in text(runs[0], "stderr")  # each pip has its own words


FLOODS = {
    "endless print": ("while True: print('spam ' * 100)", "timeout"),
    "endless write past Python": ("import os\nwhile True: os.write(1, b'x' * 65536)", "timeout"),
    "endless shell": ("!yes", "timeout"),
    "one line of 20 MB": ("print('x' * 20_000_000)", "ok"),
    "20 MB to the descriptor": ("import os\nfor _ in range(200): os.write(2, b'x' * 100_000)", "ok"),
    "a million short prints": ("for i in range(100_000): print(i)", "ok"),
    "thousands of displays": ("from IPython.display import display\nfor i in range(3_000): display(i)", "ok"),
    "one display of 20 MB": ("from IPython.display import HTML\nHTML('x' * 20_000_000)", "ok"),
    "alternating streams": (
        "import sys\nfor i in range(20_000): print(i, file=(sys.stdout, sys.stderr)[i % 2])",
        "ok",
    ),
    "nested json": (
        "from IPython.display import display\nx = []\nfor _ in range(500): x = [x]\n"
        "display({'application/json': x}, raw=True)",
        "ok",
    ),
}


@pytest.mark.parametrize("name", FLOODS)
def test_a_flood_is_cut_and_said_to_be(kernel: Kernel, name: str) -> None:
    source, status = FLOODS[name]
    seconds = 1.0 if status == "timeout" else None
    again = check(source + "\n0.0" if "!" not in source else "0.0", seconds=seconds)
    runs = kernel.run(jobs(cell(source, seconds=seconds), "print('next')", again))
    assert runs[0].status == status, runs[0].detail
    assert len(json.dumps(runs[0].outputs)) < 4 * LIMITS.output_bytes
    if status == "ok" and name != "nested json":
        said = text(runs[0], "stderr")
        assert "output cut at 20,000 bytes" in said or "was left out" in said
    assert text(runs[1]) == "next\n"


def test_a_flood_does_not_wash_evidence_away(kernel: Kernel) -> None:
    runs = kernel.run(jobs("f = lambda x: print('x' * 100_000) or x", check(GRADE)))
    assert evidence(runs[1]) == ["[1]"]


def test_evidence_has_a_limit_of_its_own(kernel: Kernel) -> None:
    (run,) = kernel.run(
        [check(f"from IPython.display import display\ndisplay({{'{EVIDENCE_MIME}': 'x' * 60_000}}, raw=True)")]
    )
    assert evidence(run) == [] and "left out" in text(run, "stderr")


def test_only_a_check_cell_hands_in_evidence_and_nobody_a_verdict(kernel: Kernel) -> None:
    show = (
        f"from IPython.display import display\ndisplay({{'{EVIDENCE_MIME}': '[]', '{VERDICT_MIME}': {{}}}}, raw=True)"
    )
    runs = kernel.run(jobs(show, check(show)))
    assert runs[0].outputs == []
    assert [list(o["data"]) for o in runs[1].outputs] == [[EVIDENCE_MIME]]


PATCHES = {
    "transformer": "get_ipython().input_transformers_cleanup.append(lambda lines: ['f = lambda x: 99\\n'])",
    "ast": "get_ipython().ast_transformers.append(None)",
    "run_cell": "type(get_ipython()).run_cell = lambda *a, **k: None",
    "run_cell_async": "type(get_ipython()).run_cell_async = lambda *a, **k: None",
    "showtraceback": "type(get_ipython()).showtraceback = lambda *a, **k: 1 / 0",
    "custom_exc": "get_ipython().set_custom_exc((Exception,), lambda *a, **k: 1 / 0)",
    "publisher": "get_ipython().display_pub = None",
    "formatter": "get_ipython().display_formatter.format = lambda *a, **k: 1 / 0",
    "hook": "import sys; sys.displayhook = lambda x: 1 / 0",
    "json": "import json; json.dumps = json.loads = lambda *a, **k: 1 / 0",
    "os": "import os; os.fork = os.write = os.read = os._exit = os.waitpid = os.getpid = lambda *a: 1 / 0",
    "builtins": "import builtins; builtins.compile = builtins.exec = builtins.print = builtins.len = None",
    "modules": "import sys; sys.modules['autograder'] = sys.modules['autograder.student'] = None",
    "own names": "check = grade = 7",
    "signals": "import signal\nsignal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)\n"
    "def bang(*a): raise RuntimeError\nsignal.signal(signal.SIGALRM, bang)",
    "excepthook": "import sys; sys.excepthook = sys.unraisablehook = sys.settrace = None",
    "deleted names": "import IPython, sys\nfor name in list(globals()):\n    if name != 'name': del globals()[name]",
}


@pytest.mark.parametrize("name", PATCHES)
def test_a_patched_harness_gives_nothing_and_stops_nothing(kernel: Kernel, name: str) -> None:
    """Every cell gets its answer; evidence, if there is any, is what the function computes."""
    runs = kernel.run(jobs(PATCHES[name], "def f(x): return x + 1", check(GRADE), "y = 1"))
    assert [run.id for run in runs] == ["c0", "c1", "check", "c3"]
    # A transformer may rewrite the student's own cells; then the rewritten function is what is judged.
    assert evidence(runs[2]) in ([], ["[2]"], ["[99]"] if name == "transformer" else [])
    if name in (
        "own names",
        "modules",
        "json",
        "os",
        "showtraceback",
        "custom_exc",
        "publisher",
        "ast",
        "deleted names",
    ):
        assert evidence(runs[2]) == ["[2]"], runs
    after = kernel.run(jobs("def f(x): return x + 1", check(GRADE)))
    assert evidence(after[1]) == ["[2]"]


SPEAKS = """
import gc, json, os, socket, struct
def sockets():
    for fd in range(3, 1100):
        try:
            if socket.socket(fileno=os.dup(fd)).family == socket.AF_UNIX: yield fd
        except OSError: pass
def say(body):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    for fd in sockets(): os.write(fd, struct.pack("!I", len(data)) + data)
def nonces():
    import sys
    frame = sys._getframe()
    while frame:
        for value in list(frame.f_locals.values()):
            if isinstance(value, dict) and "nonce" in value: yield value["nonce"]
        frame = frame.f_back
"""
FORGERIES = {
    "noise": "for fd in sockets(): os.write(fd, b'\\xff' * 100)",
    "a frame of 4 GB": "for fd in sockets(): os.write(fd, b'\\xff\\xff\\xff\\xff')",
    "half a frame": "for fd in sockets(): os.write(fd, b'\\x00\\x00\\x01\\x00x')",
    "no json": "say(b'{')",
    "deep json": "say(b'[' * 100_000)",
    "a list": "say([])",
    "another cell's id": "say({'id': 'c2', 'nonce': 'guess', 'status': 'ok', 'outputs': []})",
    "its own answer twice": "say({'nonce': next(nonces()), 'status': 'ok', 'outputs': [5, {'output_type': {}}, None]})",
    "an answer of strange types": "say({'nonce': next(nonces()), 'status': ['ok'], 'outputs': {'a': 1}})",
    "strange outputs": "say({'nonce': next(nonces()), 'status': 'ok', 'outputs': [{'output_type': 'display_data', 'data': "
    "{'text/plain': {'a': [1]}}, 'metadata': 7, 'points': 99}, {'output_type': 'stream', 'name': 'x', 'text': 5}, "
    "{'output_type': 'error', 'ename': [], 'traceback': 'x'}]})",
    "reads the requests": "import threading\nfor fd in sockets():\n"
    "    threading.Thread(target=lambda: [os.read(fd, 10) for _ in range(100)], daemon=True).start()",
    "closes the channel": "for fd in sockets(): os.close(fd)",
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_answers_spoil_their_own_submission_at_most(kernel: Kernel, name: str) -> None:
    runs = kernel.run(
        jobs(
            SPEAKS + "\ndef f(x): return x",
            cell(FORGERIES[name], "c1", seconds=3.0),
            cell("print('after')", "c2", seconds=3.0),
            check(GRADE, seconds=3.0),
            cell("print('end')", "c4", seconds=3.0),
        )
    )
    assert [run.id for run in runs] == ["c0", "c1", "c2", "check", "c4"]
    assert evidence(runs[3]) in ([], ["[1]"])
    if name != "reads the requests":
        assert text(runs[2]) == "after\n" and evidence(runs[3]) == ["[1]"] and text(runs[4]) == "end\n"
    for run in runs:
        nbformat.validate(
            nbformat.v4.new_notebook(
                cells=[nbformat.v4.new_code_cell("", outputs=[nbformat.from_dict(o) for o in run.outputs])]
            )
        )
        assert all("points" not in o for o in run.outputs)
    assert text(kernel.run(jobs("print('fine')"))[0]) == "fine\n"


def test_a_check_cell_cannot_answer_for_the_next(kernel: Kernel) -> None:
    speak = (
        SPEAKS
        + f"""
for nonce in list(nonces()) + ["x"]:
    say({{"nonce": nonce, "status": "ok", "outputs": [{{"output_type": "display_data", "metadata": {{}},
         "data": {{"{EVIDENCE_MIME}": "forged"}}}}]}})
"""
    )
    runs = kernel.run(jobs("def f(x): return x", check(speak, id="a"), check(GRADE, id="b")))
    assert evidence(runs[2]) == ["[1]"]


def test_later_cases_are_not_there_earlier(kernel: Kernel) -> None:
    """Neither in an earlier cell nor in an earlier exercise's check is there anything of a later exercise's cases."""
    look = """
import gc, os, sys
from autograder.student import channel
found = dict(channel._delivered)
found.update({k: v for x in gc.get_objects() if type(x) is dict for k, v in list(x.items()) if k == "cases" and v})
frame = sys._getframe()
while frame:
    found.update({k: v for k, v in frame.f_locals.items() if k == "cases"})
    frame = frame.f_back
print(found)
"""
    runs = kernel.run(jobs(look, check(look, [{"x": 1234}], "3.1", "a"), look, check("0.0", [{"x": 5678}], "3.2", "b")))
    assert "1234" not in text(runs[0]) + text(runs[2])
    assert "1234" in text(runs[1])
    assert "5678" not in text(runs[0]) + text(runs[1]) + text(runs[2])


def test_the_time_of_a_submission_is_bounded(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "limits", replace(LIMITS, seconds_total=1.5))
    loop = cell("while True: pass", seconds=1.0)
    runs = kernel.run(jobs(loop, loop, "print('late')", check("0.0")))
    assert [run.status for run in runs] == ["timeout", "timeout", "skipped", "skipped"]
    assert runs[1].detail == "was stopped: the notebook had used up its 1.5 s"
    assert runs[2].detail == "was not run: the notebook had used up its 1.5 s"
    assert all(run.outputs[-1]["output_type"] == "error" for run in runs)


def test_restarts_are_bounded(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "limits", replace(LIMITS, restarts=2))
    runs = kernel.run(jobs(*["import os; os._exit(1)"] * 4))
    assert [run.status for run in runs] == ["died", "died", "died", "skipped"]


def test_a_cell_may_have_a_time_limit_of_its_own(kernel: Kernel) -> None:
    slow = "import time; time.sleep(1.3)"
    runs = kernel.run([cell(slow), cell(slow, seconds=1.0), check(slow, seconds=1.0)])
    assert [run.status for run in runs] == ["ok", "timeout", "timeout"]


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counts descriptors in /proc")
def test_many_submissions_leave_nothing_behind(either: Kernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No process, descriptor, file or memory more after thirty-six submissions than after the first few."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def state() -> tuple[int, int, int, int, list[str]]:
        assert either._helper is not None
        helper = either._helper.process.pid
        with open(f"/proc/{helper}/statm") as statm:
            pages = int(statm.read().split()[1])
        below = Path(f"/proc/{helper}/task/{helper}/children").read_text().split()
        ours, theirs = len(os.listdir("/proc/self/fd")), len(os.listdir(f"/proc/{helper}/fd"))
        return pages, ours, theirs, len(below), os.listdir(tmp_path)

    def go(count: int) -> None:
        for i in range(count):
            bad = ("import os; os._exit(3)", "print(1)", "open('x', 'w').write('x' * 1000)")[i % 3]
            either.run(jobs("def f(x): return x", bad, check(GRADE)))

    go(6)
    before = state()
    go(30)
    after = state()
    assert after[1:] == before[1:] and after[3] == 0
    assert after[0] - before[0] < 1000  # pages


ORPHANS = """
import sys, textwrap
from autograder.grading.kernel import CellJob, Kernel
kernel = Kernel(sys.argv[1])
kernel.run([CellJob("a", "1")])
print(kernel._helper.process.pid, flush=True)
kernel.run([CellJob("b", f'''
import subprocess, time
subprocess.Popen(["sh", "-c", "sleep 60; : {sys.argv[2]}"], start_new_session=True)
time.sleep(60)
''')])
"""


@pytest.mark.parametrize(("sandbox", "victim"), [("bwrap", "grader"), ("bwrap", "helper"), ("none", "grader")])
def test_nothing_outlives_a_grader_that_is_killed(sandbox: str, victim: str, tmp_path: Path) -> None:
    """However the grader or its helper end, the submission's processes end with them."""
    marker = f"orphan{uuid.uuid4().hex}"
    with subprocess.Popen(
        [sys.executable, "-c", ORPHANS, sandbox, marker],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=os.environ | {"TMPDIR": str(tmp_path)},
    ) as grader:
        assert grader.stdout is not None
        helper = int(grader.stdout.readline())
        try:
            assert _within(30.0, lambda: len(_running(marker)) == 2)
            os.kill(helper if victim == "helper" else grader.pid, signal.SIGKILL)
            assert _within(30.0, lambda: set(_running(marker)) <= {grader.pid})
        finally:
            for pid in _running(marker):
                os.kill(pid, signal.SIGKILL)
    assert _within(30.0, lambda: not os.listdir(tmp_path))


def _within(seconds: float, holds: Callable[[], bool]) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.02)
    return holds()


def _running(marker: str) -> list[int]:
    """Processes that carry `marker` in their command line."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if marker in Path(f"/proc/{pid}/cmdline").read_text(errors="replace"):
                found.append(int(pid))
    return found


def test_a_lost_helper_is_replaced(kernel: Kernel) -> None:
    kernel.run(jobs("1"))
    assert kernel._helper is not None
    kernel._helper.process.kill()
    assert text(kernel.run(jobs("print('back')"))[0]) == "back\n"


def test_a_kernel_can_be_shared_between_threads(kernel: Kernel) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(4) as pool:
        runs = list(pool.map(lambda i: kernel.run(jobs(f"print({i})"))[0], range(12)))
    assert [text(run) for run in runs] == [f"{i}\n" for i in range(12)]


def test_an_unknown_sandbox_is_refused() -> None:
    with pytest.raises(ValueError, match="bwrap"):
        Kernel(sandbox="docker")


def test_close_ends_the_helper_and_the_next_run_starts_another(kernel: Kernel) -> None:
    kernel.run(jobs("1"))
    assert kernel._helper is not None
    process = kernel._helper.process
    kernel.close()
    assert process.poll() == 0
    assert text(kernel.run(jobs("print('again')"))[0]) == "again\n"
