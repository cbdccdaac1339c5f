"""`autograder audit`: do the checks let every right answer through, catch every wrong one, and call it by its name?

For each exercise the answers below go through the same steps as a submission (probe, evidence as JSON, judge): the
lesson's own solution, right answers in other styles, the unfilled stub, every listed misconception, and systematic
mutants of the solution. Answers run in forks of this process, so that endless loops and deaths cost nothing else; it
is our own code that runs here, so no box is needed.
"""

from __future__ import annotations

import ast
import contextlib
import faulthandler
import io
import json
import os
import random
import resource
import select
import signal
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from autograder import evidence
from autograder.authoring.source import SOLUTION, Source, SourceCell, read
from autograder.authoring.stubs import stubbed
from autograder.exercises import exercises_of
from autograder.exercises.judging import judge, predictions
from autograder.exercises.model import Case, Exercise
from autograder.grading.mutants import Mutant, mutants
from autograder.lessons import find
from autograder.student.observe import observe
from autograder.student.probes import probe_for
from autograder.verdict import PASSED, UNANSWERED, Verdict

REVIEWED = Path(__file__).with_name("equivalent_mutants.toml")
RIGHT_ANSWERS = Path("tests") / "right_answers.py"
MUTANT_DRAWS = 3  # at most so many draws are used on mutants
SECONDS = 10.0  # for one answer to one exercise, beyond five times what the lesson's solution takes
MEMORY = 2 * 2**30  # beyond what this process has

Objects = Callable[[], Sequence[Any]]
# label -> objects, by exercise
RightAnswers = Mapping[str, Mapping[str, Objects]]


@dataclass(frozen=True)
class Reviewed:
    """A mutant that its own check does not catch, and why that is right.

    `caught_by` is the exercise that asks for what the mutant gets wrong, "" if the mutant is right as well.
    """

    reason: str
    caught_by: str = ""


@dataclass
class Findings:
    """What the audit found out about one exercise."""

    exercise: str
    title: str
    draws: int = 0  # of random cases
    judged: int = 0  # verdicts on right answers and misconceptions, over all draws
    right: int = 0  # right answers that passed
    refused: list[str] = field(default_factory=list)  # right answers that did not, with the message
    stub: str = ""  # "" if the unfilled stub was unanswered, else what it got
    mutants: int = 0
    caught: int = 0
    equivalent: dict[str, str] = field(default_factory=dict)  # mutant -> reason
    elsewhere: dict[str, str] = field(default_factory=dict)  # mutant -> the exercise that catches it, and the reason
    open: list[str] = field(default_factory=list)  # mutants that pass and are in no list
    outdated: list[str] = field(default_factory=list)  # reviewed mutants that are caught, or are none any more
    named: int = 0  # misconceptions called by their own name and no other
    misnamed: dict[str, list[str]] = field(default_factory=dict)
    unnamed: list[str] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)  # misconceptions that pass here and that no exercise catches

    @property
    def sound(self) -> bool:
        """Nothing is left to mend."""
        faults = (self.refused, self.stub, self.open, self.outdated, self.misnamed, self.unnamed, self.unseen)
        return not any(faults)


# ---- answers --------------------------------------------------------------------------------------------------------


def _needed(cells: Sequence[SourceCell]) -> set[str]:
    """The names that solutions and given cells read."""
    trees = [ast.parse(cell.source) for cell in cells]
    return {n.id for tree in trees for n in ast.walk(tree) if isinstance(n, ast.Name)}


def _kept(cell: SourceCell, needed: set[str]) -> str:
    """Of a cell between exercises: its imports, and the plain assignments of `needed` names."""

    def wanted(statement: ast.stmt) -> bool:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            return True
        return isinstance(statement, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id in needed for target in statement.targets
        )

    return "\n".join(ast.unparse(statement) for statement in ast.parse(cell.source).body if wanted(statement))


class Notebook:
    """A lesson's notebook with the solutions filled in, as far as the checks need it."""

    def __init__(self, source: Source) -> None:
        code = [cell for cell in source.cells if cell.kind == "code" and not cell.is_check and "quiz" not in cell.tags]
        fixed = [cell for cell in code if cell.nbgrader.get("locked") or cell.is_solution]
        self.solutions = [cell for cell in code if cell.is_solution]
        self.names: dict[str, Any] = {"__name__": "lesson"}
        needed = _needed(fixed)
        for cell in code:
            if cell in fixed:
                self.run(cell.without_markers(SOLUTION))
            else:  # experiments are not run; what they show is no part of an answer
                with contextlib.suppress(Exception):
                    self.run(_kept(cell, needed))

    def run(self, text: str) -> None:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(text, "<answer>", "exec"), self.names)

    def cells(self, exercise: str) -> list[SourceCell]:
        return [cell for cell in self.solutions if cell.exercise == exercise]

    def objects(self, exercise: Exercise, *texts: str) -> Objects:
        """What the check is called with, once `texts` have replaced what stood in those cells."""

        def made() -> list[Any]:
            for text in texts:
                self.run(text)
            return [self.names[name] for name in exercise.names]

        return made


def _objects(answer: Sequence[Any]) -> Objects:
    return lambda: answer


def right_answers(path: Path) -> RightAnswers:
    """Right answers in other styles: `RIGHT` of the Python file at `path`, {exercise: {label: objects}}."""
    import importlib.util
    import sys

    sys.path.insert(0, str(path.resolve().parent.parent))
    spec = importlib.util.spec_from_file_location("right_answers", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {id: {label: _objects(o) for label, o in many.items()} for id, many in module.RIGHT.items()}


@cache
def reviewed() -> dict[str, dict[str, Reviewed]]:
    """Exercise -> change -> why the check need not catch it."""
    entries = tomllib.loads(REVIEWED.read_text(encoding="utf-8")).get("mutant", [])
    found: dict[str, dict[str, Reviewed]] = {}
    for entry in entries:
        for change in entry["changes"]:
            found.setdefault(entry["exercise"], {})[change] = Reviewed(entry["reason"], entry.get("caught_by", ""))
    return found


# ---- in a fork ------------------------------------------------------------------------------------------------------


def in_fork(work: Callable[[], str], seconds: float) -> str | None:
    """What `work` returned in a fork of this process; None if it raised, died or was not done after `seconds`."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
            faulthandler.disable()
            os.close(reading)
            _limit_memory()
            silence = os.open(os.devnull, os.O_WRONLY)
            os.dup2(silence, 1)
            os.dup2(silence, 2)
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                text = "=" + work()
            with os.fdopen(writing, "wb") as pipe:
                pipe.write(text.encode("utf-8", "replace"))
        finally:
            os._exit(0)
    os.close(writing)
    try:
        text = _read(reading, time.monotonic() + seconds)
    finally:
        os.close(reading)
        for kill in (os.killpg, os.kill):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return text[1:] if text.startswith("=") else None


def _limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0]) if Path("/proc/self/statm").exists() else 0
    if pages:
        most = pages * resource.getpagesize() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _read(pipe: int, until: float) -> str:
    found = b""
    while True:
        left = until - time.monotonic()
        if left <= 0 or not select.select([pipe], [], [], left)[0]:
            return ""
        part = os.read(pipe, 1 << 16)
        if not part:
            return found.decode("utf-8", "replace")
        found += part


# ---- one exercise ---------------------------------------------------------------------------------------------------


class Check:
    """The check of one exercise on the cases of one nonce."""

    def __init__(self, exercise: Exercise, nonce: int) -> None:
        self.exercise = exercise
        drawn = [*exercise.worked(), *exercise.cases(random.Random(nonce))]
        self.cases: list[Case] = json.loads(json.dumps(drawn, allow_nan=False))
        self.seconds = SECONDS
        self.predictions = predictions(exercise, self.cases)

    def _observed(self, objects: Objects) -> str:
        return evidence.encode(self.exercise.id, observe(probe_for(self.exercise.id), self.cases, objects()))

    def evidence(self, objects: Objects) -> str | None:
        """The evidence of an answer; None if it never came."""
        return in_fork(lambda: self._observed(objects), self.seconds)

    def verdict(self, objects: Objects, naming: bool = True) -> Verdict | None:
        """The verdict on an answer; None if there was no evidence."""
        return self._judged(self.evidence(objects), naming)

    def verdicts(self, answers: Sequence[Objects]) -> list[Verdict | None]:
        """The verdicts on answers that leave each other alone: one fork for all, and one for each if that one dies."""
        together = in_fork(lambda: json.dumps([self._observed(a) for a in answers]), self.seconds * len(answers))
        found = [self.evidence(a) for a in answers] if together is None else json.loads(together)
        return [self._judged(text) for text in found]

    def _judged(self, text: str | None, naming: bool = True) -> Verdict | None:
        if text is None:
            return None
        # A mutant need not be named, and naming takes the longest.
        exercise = self.exercise if naming else replace(self.exercise, misconceptions=())
        try:
            seen = evidence.decode(text, exercise.id, len(self.cases))
        except evidence.EvidenceError:
            return None
        return judge(exercise, self.cases, seen, predictions=self.predictions if naming else ())

    def passes(self, objects: Objects) -> bool:
        verdict = self.verdict(objects, naming=False)
        return verdict is not None and verdict.status == PASSED


def _told(verdict: Verdict | None) -> str:
    return "no evidence" if verdict is None else f"{verdict.status}: {verdict.message.splitlines()[0]}"


class LessonAudit:
    """The audit of one lesson."""

    def __init__(
        self, lesson: str, root: Path, others: RightAnswers, sample: int | None = None, nonces: Sequence[int] = (0,)
    ) -> None:
        found = find(lesson)
        self.exercises = {e.id: e for e in exercises_of(found.name).exercises}
        self.notebook = Notebook(read(root / "source" / found.name / f"{found.notebook}.py"))
        self.others, self.sample, self.nonces = others, sample, nonces
        self._checks: dict[tuple[str, int], Check] = {}

    def check(self, id: str, nonce: int) -> Check:
        """The check of exercise `id`; cases and references are made once."""
        if (id, nonce) not in self._checks:
            made = self._checks[id, nonce] = Check(self.exercises[id], nonce)
            begun = time.monotonic()
            made.evidence(self.notebook.objects(made.exercise))
            made.seconds += 5 * (time.monotonic() - begun)
        return self._checks[id, nonce]

    def run(self, only: Sequence[str] = ()) -> Iterator[Findings]:
        """The findings on each exercise of the lesson, or on those in `only`."""
        for exercise in self.exercises.values():
            if not only or exercise.id in only:
                yield self.audit(exercise)

    def audit(self, exercise: Exercise) -> Findings:
        found = Findings(exercise.id, exercise.title)
        for nonce in self.nonces:
            found.draws += 1
            self._right(exercise, nonce, found)
            self._misconceptions(exercise, nonce, found)
            if found.draws > MUTANT_DRAWS:  # hundreds of draws need not stay in memory
                self._checks = {key: check for key, check in self._checks.items() if key[1] != nonce}
        self._stub(exercise, found)
        self._mutants(exercise, found)
        return found

    def _right(self, exercise: Exercise, nonce: int, found: Findings) -> None:
        answers = {"the lesson's solution": self.notebook.objects(exercise), **self.others.get(exercise.id, {})}
        verdicts = self.check(exercise.id, nonce).verdicts(list(answers.values()))
        found.judged += len(verdicts)
        for label, verdict in zip(answers, verdicts, strict=True):
            if verdict is not None and verdict.status == PASSED and verdict.score == exercise.points:
                found.right += nonce == self.nonces[0]
            else:
                found.refused.append(f"{label}: {_told(verdict)}")

    def _stub(self, exercise: Exercise, found: Findings) -> None:
        check = self.check(exercise.id, self.nonces[0])

        def left_open(cells: Sequence[SourceCell]) -> Verdict | None:
            return check.verdict(
                self.notebook.objects(exercise, *(stubbed(cell.source, cell.metadata)[0] for cell in cells))
            )

        empty = left_open(self.notebook.solutions)
        if empty is None or empty.status != UNANSWERED or empty.score:
            found.stub = _told(empty)
        # With the other exercises filled in, parts may hold that rest on those alone.
        own = left_open(self.notebook.cells(exercise.id))
        if own is None or (own.status != UNANSWERED and "NotImplementedError" not in own.message):
            found.stub = found.stub or _told(own)

    def _misconceptions(self, exercise: Exercise, nonce: int, found: Findings) -> None:
        verdicts = self.check(exercise.id, nonce).verdicts([m.objects for m in exercise.misconceptions])
        found.judged += len(verdicts)
        for misconception, verdict in zip(exercise.misconceptions, verdicts, strict=True):
            if verdict is not None and verdict.status == PASSED:
                if not self._seen_elsewhere(exercise, misconception, nonce):
                    found.unseen.append(misconception.name)
            elif verdict is None or not verdict.misconceptions:
                found.unnamed.append(misconception.name)
            elif verdict.misconceptions != [misconception.name]:
                found.misnamed[misconception.name] = verdict.misconceptions
            else:
                found.named += nonce == self.nonces[0]

    def _seen_elsewhere(self, exercise: Exercise, misconception: Any, nonce: int) -> bool:
        """Is it one of a family that several exercises list, and does another of them catch it or a namesake?"""
        return any(
            not self.check(other.id, nonce).passes(m.objects)
            for other in self.exercises.values()
            if other is not exercise
            for m in other.misconceptions
            if m is misconception
            or (m.name == misconception.name and exercise.misconceptions is not other.misconceptions)
        )

    def _mutants(self, exercise: Exercise, found: Findings) -> None:
        known = dict(reviewed().get(exercise.id, {}))
        made: list[Mutant] = []
        for cell in self.notebook.cells(exercise.id):
            made += mutants(cell.without_markers(SOLUTION))
        found.outdated += sorted(known.keys() - {mutant.change for mutant in made})
        if self.sample is not None and self.sample < len(made):
            chosen = set(random.Random(exercise.id).sample(range(len(made)), self.sample))
            made = [mutant for i, mutant in enumerate(made) if i in chosen]
        found.mutants = len(made)
        nonces = self.nonces[:MUTANT_DRAWS]
        for mutant in made:
            survived = [n for n in nonces if self.check(exercise.id, n).passes(self._mutated(exercise, mutant))]
            note = known.get(mutant.change)
            if note is None:
                found.caught += not survived
                found.open += [mutant.change] if survived else []
            elif len(survived) < len(nonces):
                found.outdated.append(mutant.change)
            elif not note.caught_by:
                found.equivalent[mutant.change] = note.reason
            elif self.check(note.caught_by, self.nonces[0]).passes(
                self._mutated(self.exercises[note.caught_by], mutant)
            ):
                found.open.append(mutant.change)
            else:
                found.elsewhere[mutant.change] = f"{note.caught_by}: {note.reason}"

    def _mutated(self, exercise: Exercise, mutant: Mutant) -> Objects:
        return self.notebook.objects(exercise, mutant.text)


# ---- the command ----------------------------------------------------------------------------------------------------


def as_text(found: Findings) -> str:
    """The findings on one exercise in a few lines; what needs mending is marked with !."""
    others = f", {len(found.elsewhere)} caught by another exercise" if found.elsewhere else ""
    lines = [
        f"{'✓' if found.sound else '✗'} {found.exercise} {found.title}",
        f"    right answers: {found.right} pass, {len(found.refused)} do not",
        f"    mutants: {found.caught} of {found.mutants} caught, {len(found.equivalent)} equivalent{others}",
        f"    misconceptions: {found.named} named rightly, {len(found.misnamed)} wrongly, {len(found.unnamed)} not named",
    ]
    if found.draws > 1:
        otherwise = len(found.refused) + len(found.misnamed) + len(found.unnamed) + len(found.unseen)
        lines.append(
            f"    {found.draws} draws: {found.judged} verdicts on these answers, {otherwise} otherwise than they should be"
        )
    lines += [f"  ! a right answer does not pass: {x}" for x in found.refused]
    lines += [f"  ! the unfilled stub: {found.stub}"] if found.stub else []
    lines += [f"  ! {name} is called {', '.join(wrong)}" for name, wrong in found.misnamed.items()]
    lines += [f"  ! {name} is caught but not named" for name in found.unnamed]
    lines += [f"  ! {name} passes" for name in found.unseen]
    lines += [f"  ! not caught: {change}" for change in found.open]
    lines += [f"  ! listed as equivalent, but caught or not made any more: {change}" for change in found.outdated]
    lines += [f"    = {change}\n      {reason}" for change, reason in found.equivalent.items()]
    lines += [f"    > {change}\n      {reason}" for change, reason in found.elsewhere.items()]
    return "\n".join(lines)


def as_json(found: Findings) -> dict[str, Any]:
    return {**asdict(found), "sound": found.sound}


def run(
    lessons: Sequence[str],
    root: Path,
    right: Path | None = None,
    sample: int | None = None,
    nonces: int = 1,
    only: Sequence[str] = (),
) -> Iterator[Findings]:
    """The findings on every exercise of `lessons`, as they come."""
    import torch

    torch.set_num_threads(1)  # threads do not outlive a fork
    os.environ["NBGRADER_EXECUTION"] = "autograde"  # the setup cell shows nothing
    path = right or root / RIGHT_ANSWERS
    others = right_answers(path) if path.is_file() else {}
    for lesson in lessons:
        yield from LessonAudit(lesson, root, others, sample, range(nonces)).run(only)
