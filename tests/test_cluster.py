"""A class graded by a real Dask cluster, in processes of its own: the same gradebook, whoever dies on the way."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from autograder.authoring.source import read
from autograder.grading.batch import autograde
from autograder.grading.course import CourseError
from autograder.grading.demo import LESSON, answers, class_of_ten, make_class, make_course
from autograder.lessons import find
from tests.test_round import contents

pytestmark = pytest.mark.bubblewrap
ROOT = Path(__file__).resolve().parents[1]
STUDENTS = ("ada", "emil", "fatima", "grace", "hiro")


class Cluster(NamedTuple):
    """A scheduler's address and its worker processes."""

    address: str
    workers: list[subprocess.Popen[bytes]]


def dask(*arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "dask", *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five submissions, graded in this process by one worker."""
    folder: Path = tmp_path_factory.mktemp("cluster") / "course"
    make_course(folder, ROOT)
    shutil.rmtree(folder / "submitted")
    ten = class_of_ten(answers(read(ROOT / "source" / LESSON / f"{find(LESSON).notebook}.py")))
    make_class(folder, ROOT, {student: ten[student] for student in STUDENTS})
    outcome = autograde(folder, LESSON, workers=1)
    assert sorted(outcome.graded) == list(STUDENTS)
    return folder


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A scheduler and two workers on the loopback interface."""
    from distributed import Client

    folder = tmp_path_factory.mktemp("dask")
    where = folder / "scheduler.json"
    scheduler = dask(
        "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(where)
    )
    workers = []
    try:
        for _ in range(2):
            workers.append(
                dask(
                    "worker", "--scheduler-file", str(where), "--nthreads", "1", "--no-nanny", "--no-dashboard",
                    "--host", "127.0.0.1", "--local-directory", str(folder),
                )
            )  # fmt: skip
        until = time.monotonic() + 120
        while not where.is_file() and time.monotonic() < until:
            time.sleep(0.1)
        with Client(scheduler_file=str(where), timeout="60s") as client:
            client.wait_for_workers(2, timeout=120)
            address = client.scheduler.address
        yield Cluster(address, workers)
    finally:
        for process in (*workers, scheduler):
            process.terminate()
        for process in (*workers, scheduler):
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def ungraded(course: Path, folder: Path) -> Path:
    shutil.copytree(course, folder, ignore=shutil.ignore_patterns("gradebook.db", "autograded"))
    return folder


def test_a_cluster_leaves_the_gradebook_that_one_process_leaves(course: Path, cluster: Cluster, tmp_path: Path) -> None:
    other = ungraded(course, tmp_path / "course")
    outcome = autograde(other, LESSON, scheduler=cluster.address)
    assert sorted(outcome.graded) == list(STUDENTS) and not outcome.failed
    assert contents(other) == contents(course)
    for student in STUDENTS:
        name = Path("autograded", student, LESSON, f"{find(LESSON).notebook}.ipynb")
        assert (other / name).read_bytes() == (course / name).read_bytes()


def test_a_worker_that_is_killed_half_way_loses_nothing(course: Path, cluster: Cluster, tmp_path: Path) -> None:
    other = ungraded(course, tmp_path / "course")
    killed = []

    def kill_one(done: int, of: int, student: str) -> None:
        if not killed:
            killed.append(cluster.workers[0].pid)
            os.kill(cluster.workers[0].pid, signal.SIGKILL)

    outcome = autograde(other, LESSON, scheduler=cluster.address, progress=kill_one)
    assert killed and cluster.workers[0].wait(20) == -signal.SIGKILL
    assert sorted(outcome.graded) == list(STUDENTS) and not outcome.failed
    assert contents(other) == contents(course)


def test_a_scheduler_that_does_not_answer_is_said(course: Path) -> None:
    with pytest.raises(CourseError, match=r"No Dask scheduler answers at tcp://127.0.0.1:9"):
        autograde(course, LESSON, scheduler="tcp://127.0.0.1:9")
