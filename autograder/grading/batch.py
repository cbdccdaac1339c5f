"""`autograder autograde`: grade a whole class in parallel, into nbgrader's gradebook and folders.

Submissions are read, repaired and judged here, by one writer; workers only run cells in boxes and return outputs.
Dask hands out the work: in this process unless a scheduler's address is given. Work in flight is bounded.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import gc
import hashlib
import json
import logging
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import nbformat
from nbformat.notebooknode import NotebookNode
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import LimitOutput
from nbgrader.utils import is_grade
from traitlets.config import Config

import autograder
from autograder.exercises.model import Case
from autograder.grading import marking, seeds
from autograder.grading.course import CourseError, load_config, pattern, trouble_with_id
from autograder.grading.kernel import BoxUnavailable, CellJob, CellRun, Kernel, Limits
from autograder.grading.nbgrader_steps import Execute
from autograder.grading.reading import Unreadable, read_file
from autograder.grading.record import Change, Recorder, stamp_in
from autograder.grading.repair import clone, lesson_in, repair
from autograder.lessons import Lesson, find, tag_of

Progress = Callable[[int, int, str], None]  # done, of, student


@dataclass
class Outcome:
    """What a run did."""

    graded: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    flagged: dict[str, list[str]] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)


@dataclass
class Submission:
    """One student's submission on its way through the run."""

    student: str
    folder: Path
    timestamp: datetime | None
    fingerprint: str
    notebook: NotebookNode | None  # repaired; None where nothing was handed in
    digest: str = ""
    jobs: list[CellJob] = field(default_factory=list)
    drawn: dict[str, list[Case]] = field(default_factory=dict)


# ---- Workers -------------------------------------------------------------------------------------------------------

_worker = threading.local()
_kernels: list[Kernel] = []


def execute(jobs: str, sandbox: str, limits: dict[str, Any]) -> str:
    """Run cells in a box, on whatever machine and thread this is; one warmed kernel a thread. JSON in, JSON out."""
    key = (sandbox, json.dumps(limits, sort_keys=True))
    if getattr(_worker, "key", None) != key:
        if getattr(_worker, "kernel", None) is not None:
            _worker.kernel.close()
        _worker.kernel, _worker.key = Kernel(sandbox=sandbox, limits=Limits(**limits)), key
        _kernels.append(_worker.kernel)
    runs = _worker.kernel.run([CellJob(**job) for job in json.loads(jobs)])
    return json.dumps([vars(run) for run in runs])


def _version() -> str:
    return autograder.__version__


@contextlib.contextmanager
def _client(workers: int, scheduler: str | None) -> Iterator[Any]:
    """A Dask client: of a cluster in this process without ports, or of the scheduler at that address."""
    import dask
    from distributed import Client, LocalCluster

    if scheduler:
        try:
            client = Client(scheduler, timeout="10s")
        except (OSError, TimeoutError) as error:
            raise CourseError(f"No Dask scheduler answers at {scheduler}: {error}. Start one: dask scheduler") from None
        try:
            versions = client.run(_version)
            if not versions:
                raise CourseError(f"The scheduler at {scheduler} has no workers. Start some: dask worker {scheduler}")
            wrong = {address: version for address, version in versions.items() if version != autograder.__version__}
            if wrong:
                raise CourseError(
                    f"These workers run another version of autograder than {autograder.__version__}: {wrong}"
                )
            yield client
        finally:
            client.close()
        return
    # Nobody looks at an in-process cluster from outside: its status pages, which Dask insists on, close at once.
    nowhere = "127.0.0.1:0"
    # Nor does anybody read what it would write down about itself a hundred times a second.
    silent = {"distributed.worker.profile.enabled": False, "distributed.admin.tick.interval": "1s"}
    with (
        dask.config.set(silent),
        LocalCluster(
            n_workers=1,
            threads_per_worker=workers,
            processes=False,
            dashboard_address=nowhere,
            worker_dashboard_address=nowhere,
            memory_limit=None,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster) as client,
    ):
        for server in (cluster.scheduler, *cluster.workers.values()):
            server.http_server.stop()
        try:
            yield client
        finally:
            while _kernels:
                _kernels.pop().close()


# ---- The run -------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _alone(root: Path) -> Iterator[None]:
    """Only one run at a time writes into a course."""
    path = root / ".autograder" / "lock"
    path.parent.mkdir(mode=0o700, exist_ok=True)
    with open(path, "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CourseError(
                "Another `autograder autograde` is at work in this course. Wait for it, or stop it."
            ) from None
        yield


def autograde(
    root: Path,
    lesson_name: str,
    students: Sequence[str] = (),
    workers: int = 2,
    scheduler: str | None = None,
    force: bool = False,
    dry_run: bool = False,
    sandbox: str | None = None,
    progress: Progress = lambda done, of, student: None,
) -> Outcome:
    """Grade the submissions of a lesson that have changed since they were graded, or all with `force`.

    Args:
        students: grade these only; all who have handed in if empty.
        dry_run: write nothing; the outcome lists the marks that would change.
        progress: called with (done, of how many, student) after each submission.

    Raises:
        CourseError: nothing to grade, or a course that cannot be graded in; nothing has been written then.
        BoxUnavailable: this machine builds no boxes.
    """
    lesson = find(lesson_name)
    like = pattern(root, lesson.name)
    config = load_config(root)
    step = Execute(config=config)
    sandbox = sandbox or step.sandbox
    limits = step.limits()
    folders = submission_folders(config, lesson, students)
    with (
        _alone(root),
        _client(workers, scheduler) as client,
        contextlib.closing(_recorder(root, config, lesson)) as recorder,
    ):
        _hold_points(recorder, like)
        # Workers warm up while this process still imports and prepares; kept, or Dask would drop them.
        _warming = [client.submit(execute, "[]", sandbox, asdict(limits), pure=False) for _ in range(workers)]
        secret = seeds.course_secret(root)
        lessons_state = _lesson_state(like, lesson)
        outcome, todo = Outcome(), []
        for student, folder in folders:
            trouble = trouble_with_id(student)
            if trouble:
                outcome.failed[printable(student)] = f"the folder's name {trouble}; rename it"
                continue
            fingerprint = _fingerprint(folder, lessons_state)
            if not force and fingerprint and _graded_as(recorder.autograded(student)) == fingerprint:
                outcome.unchanged.append(student)
            else:
                todo.append((student, folder, fingerprint))

        def begin(student: str, folder: Path, fingerprint: str) -> tuple[Submission, Any]:
            submission = _prepare(student, folder, fingerprint, lesson, like, recorder.directory, secret)
            if not submission.jobs:
                return submission, None
            submission.drawn = {
                job.exercise: job.cases for job in submission.jobs if job.exercise and isinstance(job.cases, list)
            }
            # As text, which Dask hands on as it is instead of looking for its own futures in every case. The cases are
            # text within the text, which nobody reads before the box does.
            ready = [replace(job, cases=json.dumps(job.cases)) for job in step.limited(submission.jobs)]
            jobs = json.dumps([vars(job) for job in ready])
            submission.jobs = []
            future = client.submit(execute, jobs, sandbox, asdict(limits), pure=False, retries=2)
            return submission, future

        def finish(submission: Submission, runs: list[CellRun]) -> None:
            notebook = submission.notebook
            if notebook is not None:
                recorder.master_cells(notebook)
                marking.put_outputs(notebook, runs)
                seed = _seed(secret, submission, lesson)
                marking.put_verdicts(notebook, like, lesson.name, seed, submission.drawn)
                limit = LimitOutput(config=config)
                for index, cell in enumerate(notebook.cells):
                    limit.preprocess_cell(cell, {}, index)
                notebook.metadata["autograder"]["graded_as"] = submission.fingerprint
                if notebook.metadata["autograder"]["flags"]:
                    outcome.flagged[submission.student] = list(notebook.metadata["autograder"]["flags"])
            else:
                outcome.flagged[submission.student] = ["no notebook was handed in"]
            outcome.changes += recorder.changes(submission.student, notebook)
            if not dry_run:
                recorder.record(submission.student, notebook, submission.timestamp)
                if notebook is not None:
                    recorder.write_folder(submission.student, notebook, submission.folder)
            outcome.graded.append(submission.student)
            if len(outcome.graded) == 1:
                # All libraries are loaded; the collector need not look through them again and again.
                gc.freeze()
                gc.set_threshold(50_000, 20, 100)
            progress(len(outcome.graded) + len(outcome.failed), len(todo), submission.student)

        threshold = gc.get_threshold()
        try:
            _bounded(todo, begin, finish, outcome, ahead=4 * max(workers, 1))
        finally:
            gc.unfreeze()
            gc.set_threshold(*threshold)
    return outcome


def _bounded(
    todo: Sequence[tuple[str, Path, str]],
    begin: Callable[[str, Path, str], tuple[Submission, Any]],
    finish: Callable[[Submission, list[CellRun]], None],
    outcome: Outcome,
    ahead: int,
) -> None:
    """Keep `ahead` submissions in flight, so that memory stays flat in their number; finish them as they come."""
    from distributed import as_completed

    waiting = iter(todo)
    flying: dict[str, Submission] = {}
    stream = as_completed()

    def launch() -> bool:
        for student, folder, fingerprint in waiting:
            with _alone_in_trouble(student, outcome):
                submission, future = begin(student, folder, fingerprint)
            if student in outcome.failed:
                continue
            if future is None:
                with _alone_in_trouble(student, outcome):
                    finish(submission, [])
                continue
            flying[future.key] = submission
            stream.add(future)
            return True
        return False

    for _ in range(ahead):
        if not launch():
            break
    for future in stream:
        submission = flying.pop(future.key)
        try:
            runs = [CellRun(**run) for run in json.loads(future.result())]
        except BoxUnavailable:
            raise
        except Exception as error:  # a worker that died three times over this submission, or was lost
            outcome.failed[submission.student] = f"its worker was lost ({type(error).__name__}); run the command again"
        else:
            with _alone_in_trouble(submission.student, outcome):
                finish(submission, runs)
        future.release()
        launch()


# Trouble with the disk as a whole; any other trouble with files is one submission's own.
_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EFBIG, errno.EMFILE, errno.ENFILE}


@contextlib.contextmanager
def _alone_in_trouble(student: str, outcome: Outcome) -> Iterator[None]:
    """What goes wrong over one submission is said of that student, and the class goes on."""
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except (BoxUnavailable, SQLAlchemyError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _DISK:
            raise
        if isinstance(error, FileNotFoundError):
            reason = "the submission went away while it was being graded; run the command again"
        elif isinstance(error, OSError):
            reason = f"{error.strerror or type(error).__name__}: {error.filename}"
        else:
            reason = (
                f"this submission could not be graded ({type(error).__name__}: {str(error)[:200]}); please report it"
            )
        outcome.failed[student] = printable(reason)


def printable(text: str) -> str:
    """`text` without what a terminal would obey or could not show: names of files and folders are anybody's words."""
    return "".join(c if c.isprintable() else "�" for c in text)


def _recorder(root: Path, config: Config, lesson: Lesson) -> Recorder:
    """The recorder of a lesson; the lesson is registered first where the gradebook does not know it."""
    from nbgrader.api import Gradebook, MissingEntry

    directory = CourseDirectory(config=config)
    with Gradebook(directory.db_url, directory.course_id) as gradebook:
        try:
            gradebook.find_notebook(lesson.notebook, lesson.name)
            known = True
        except MissingEntry:
            known = False
    if not known:
        from autograder.authoring.release import ReleaseError, register

        try:
            register(lesson, root, directory.db_url)
        except ReleaseError as error:
            raise CourseError(str(error)) from None
    return Recorder(config, lesson)


def _hold_points(recorder: Recorder, like: NotebookNode) -> None:
    """CourseError where the gradebook holds other points than the lesson as it was built last: they would be given."""
    built = {
        cell.metadata.nbgrader["grade_id"]: float(cell.metadata.nbgrader["points"])
        for cell in like.cells
        if is_grade(cell)
    }
    for name in {**built, **recorder.worth}:
        here, there = (f"{worth[name]:g}" if name in worth else "no" for worth in (recorder.worth, built))
        if here != there:
            lesson = recorder.lesson.name
            raise CourseError(
                f"The gradebook has {here} points for {tag_of(name)}, the lesson as built {there}. "
                f"Let the gradebook know: nbgrader generate_assignment {lesson} --force"
            )


def submission_folders(config: Config, lesson: Lesson, students: Sequence[str]) -> list[tuple[str, Path]]:
    """(student, folder) of everybody who has handed in `lesson`, in order."""
    directory = CourseDirectory(config=config)
    submitted = Path(directory.root) / directory.submitted_directory
    found = [
        (folder.name, folder / lesson.name)
        for folder in (sorted(submitted.iterdir()) if submitted.is_dir() else [])
        if folder.is_dir() and not folder.is_symlink() and (folder / lesson.name).is_dir()
    ]
    if students:
        missing = sorted(set(students) - {student for student, _ in found})
        if missing:
            raise CourseError(
                f"No submission of {lesson.name} by {', '.join(missing)}. Folders are named submitted/STUDENT/{lesson.name}/."
            )
        found = [(student, folder) for student, folder in found if student in students]
    if not found:
        raise CourseError(
            f"There are no submissions of {lesson.name}. Put them into submitted/STUDENT/{lesson.name}/, or collect them: "
            f"nbgrader collect {lesson.name}"
        )
    return found


def _lesson_state(like: NotebookNode, lesson: Lesson) -> str:
    """What, besides the submission, a mark depends on: the lesson as released, and the code that judges it."""
    from autograder import exercises

    sha = hashlib.sha256(nbformat.writes(like).encode())
    package = Path(autograder.__file__).parent
    for folder in (Path(exercises.__file__).parent, package / "references", package / "student" / "probes"):
        for path in sorted(folder.glob("*.py")):
            sha.update(path.read_bytes())
    return sha.hexdigest()


def _fingerprint(folder: Path, state: str) -> str:
    """What was handed in (every notebook and the time stamp), and what it is held against; "" if it cannot be read."""
    try:
        return _hashed(folder, state)
    except OSError:
        return ""


def _hashed(folder: Path, state: str) -> str:
    sha = hashlib.sha256(state.encode())
    for path in sorted(folder.iterdir()):
        if path.suffix.lower() == ".ipynb" or path.name == "timestamp.txt":
            sha.update(os.fsencode(path.name))
            if path.is_file() and not path.is_symlink():
                with open(path, "rb") as file:
                    sha.update(hashlib.file_digest(file, "sha256").digest())
    return sha.hexdigest()


def _graded_as(path: Path) -> str:
    try:
        return str(json.loads(path.read_bytes())["metadata"]["autograder"]["graded_as"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _prepare(
    student: str,
    folder: Path,
    fingerprint: str,
    lesson: Lesson,
    like: NotebookNode,
    directory: CourseDirectory,
    secret: bytes,
) -> Submission:
    timestamp = None
    if stamp_in(folder) is not None:
        with contextlib.suppress(SystemExit, ValueError, OverflowError):  # a stamp that is no time
            timestamp = directory.get_existing_timestamp(str(folder))
    path, flags = _which(folder, lesson)
    submission = Submission(student, folder, timestamp, fingerprint, None)
    if path is None and not flags:
        return submission
    try:
        if path is None:
            raise Unreadable("; ".join(flags))
        repaired = repair(read_file(path), like)
        notebook, submission.digest = repaired.notebook, repaired.digest
        flags += repaired.flags
    except (Unreadable, OSError) as error:
        reason = str(error) if isinstance(error, Unreadable) else f"the file could not be read ({error.strerror})"
        notebook, flags = clone(like), [f"no notebook was handed in: {reason}"]
    notebook.metadata["autograder"] = {"flags": flags, "digest": submission.digest}
    submission.notebook = notebook
    submission.jobs = marking.jobs(notebook, like, lesson.name, _seed(secret, submission, lesson))
    return submission


def _seed(secret: bytes, submission: Submission, lesson: Lesson) -> marking.Seed:
    return lambda exercise: seeds.rng(secret, submission.student, lesson.name, submission.digest, exercise)


def _which(folder: Path, lesson: Lesson) -> tuple[Path | None, list[str]]:
    """The notebook that is meant, and what is to be said about its name; (None, []) if there is none at all."""
    if folder.is_symlink():
        return None, ["the folder is a symbolic link to another place"]
    wanted = f"{lesson.notebook}.ipynb"
    if (folder / wanted).exists() or (folder / wanted).is_symlink():
        return folder / wanted, []
    others = sorted(p for p in folder.iterdir() if p.suffix.lower() == ".ipynb")
    if not others:
        return None, []
    meant = others if len(others) == 1 else [p for p in others if _answers(p, lesson)]
    if len(meant) == 1:
        return meant[0], [f"the file is called {printable(meant[0].name)}, not {wanted}"]
    return None, [f"{len(others)} notebooks were handed in, none of them called {wanted}"]


def _answers(path: Path, lesson: Lesson) -> bool:
    try:
        return lesson_in(read_file(path)) == lesson.name
    except (Unreadable, OSError):
        return False
