"""The command `autograder`."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from autograder.lessons import tag_of

app = typer.Typer(
    help="The Backward Pass: build the course, grade notebooks, run a class.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Sandbox = Annotated[str, typer.Option(help="How student code is held: bwrap, or none (see docs/security.md).")]


def _stop(message: str) -> typer.Exit:
    """Say `message` on stderr; exit status 2: it could not be done."""
    typer.echo(message, err=True)
    return typer.Exit(2)


def _known(lessons: list[str]) -> list[str]:
    from autograder.lessons import LESSONS, find

    try:
        return [find(name).name for name in lessons] or [lesson.name for lesson in LESSONS]
    except KeyError as error:
        raise _stop(str(error.args[0])) from None


@app.command()
def build(
    lessons: Annotated[list[str] | None, typer.Argument(help="Lessons to build; all if none is named.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Build nothing; fail if what is committed differs.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite notebooks that somebody has worked in.")] = False,
    instructor_only: Annotated[
        bool, typer.Option("--instructor-only", help="Make the instructor's notebooks in source/ alone.")
    ] = False,
) -> None:
    """Make the notebooks from source/: the instructor's, release/ and notebooks/."""
    from autograder.authoring.build import build as run
    from autograder.grading.course import CourseError, course_root

    try:
        raise typer.Exit(
            run(_known(lessons or []), course_root(), check=check, force=force, instructor_only=instructor_only)
        )
    except CourseError as error:
        raise _stop(str(error)) from None


@app.command()
def grade(
    notebooks: Annotated[list[Path], typer.Argument(help="Notebooks to grade, whatever their names.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list, one object a notebook.")] = False,
    sandbox: Sandbox = "bwrap",
) -> None:
    """Grade notebooks without a gradebook. Exit status 0 when grading worked, whatever the marks; 2 when it could not."""
    if sandbox not in ("bwrap", "none"):
        raise _stop(f"--sandbox is bwrap or none, not {sandbox}.")
    from autograder.grading.course import CourseError
    from autograder.grading.kernel import BoxUnavailable, Kernel
    from autograder.grading.single import CannotGrade, as_text, grade_file, limits

    reports, failed = [], False
    try:
        with Kernel(sandbox=sandbox, limits=limits()) as kernel:
            for notebook in notebooks:
                try:
                    reports.append(grade_file(notebook, kernel))
                except CannotGrade as error:
                    typer.echo(str(error), err=True)
                    failed = True
    except (BoxUnavailable, CourseError) as error:
        raise _stop(str(error)) from None
    if as_json:
        typer.echo(json.dumps([report.summary() for report in reports], indent=2, ensure_ascii=False))
    elif reports:
        typer.echo(as_text(reports))
    if failed:
        raise typer.Exit(2)


@app.command()
def autograde(
    lesson: Annotated[str, typer.Argument(help="The lesson to grade, like 3-reverse-mode.")],
    student: Annotated[list[str] | None, typer.Option(help="Grade this student only; may be given again.")] = None,
    workers: Annotated[int, typer.Option(min=1, help="Submissions at a time in this process.")] = os.cpu_count() or 2,
    scheduler: Annotated[str | None, typer.Option(help="Address of a Dask scheduler to use instead.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Grade again what has not changed.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Write nothing; list the marks that would change.")
    ] = False,
    sandbox: Annotated[str | None, typer.Option(help="bwrap or none; the course's setting if not given.")] = None,
) -> None:
    """Grade a class into nbgrader's gradebook: in parallel, resumable, only what changed unless --force."""
    from autograder.grading.course import CourseError, course_root
    from autograder.grading.kernel import BoxUnavailable

    (name,) = _known([lesson])
    if sandbox not in (None, "bwrap", "none"):
        raise _stop(f"--sandbox is bwrap or none, not {sandbox}.")
    from sqlalchemy.exc import DatabaseError, OperationalError
    from tqdm import tqdm

    from autograder.grading.batch import autograde as run

    with tqdm(unit=" submissions", disable=None, leave=False) as bar:

        def progress(done: int, of: int, who: str) -> None:
            bar.total = of
            bar.update(done - bar.n)
            bar.set_postfix_str(who, refresh=False)

        try:
            outcome = run(
                course_root(),
                name,
                students=student or [],
                workers=workers,
                scheduler=scheduler,
                force=force,
                dry_run=dry_run,
                sandbox=sandbox,
                progress=progress,
            )
        except (BoxUnavailable, CourseError) as error:
            raise _stop(str(error)) from None
        except OperationalError as error:
            raise _stop(
                f"The gradebook could not be written ({error.orig}). What was finished is kept; run this again."
            ) from None
        except DatabaseError as error:
            raise _stop(f"The gradebook cannot be used ({error.orig}). Restore gradebook.db from a backup.") from None
        except KeyboardInterrupt:
            typer.echo("Stopped. What was finished is kept; run this again for the rest.", err=True)
            raise typer.Exit(130) from None
        except OSError as error:
            raise _stop(
                f"{error.strerror}: {error.filename or 'the course folder'}. What was finished is kept; run this again."
            ) from None
    from autograder.grading.batch import printable

    would = "would be " if dry_run else ""
    for who, flags in sorted(outcome.flagged.items()):
        for flag in flags:
            typer.echo(printable(f"! {who}: {flag}"))
    for change in sorted(outcome.changes, key=lambda change: change.student):
        typer.echo(f"~ {printable(change.student)} {tag_of(change.exercise)}: {change.text()}")
    for who, reason in sorted(outcome.failed.items()):
        typer.echo(printable(f"✗ {who}: {reason}"), err=True)
    typer.echo(
        f"{len(outcome.graded)} submissions {would}graded, {len(outcome.unchanged)} unchanged, "
        f"{len(outcome.flagged)} flagged, {len(outcome.changes)} marks {would}changed."
    )
    if outcome.failed:
        raise typer.Exit(2)


@app.command()
def audit(
    lessons: Annotated[list[str] | None, typer.Argument(help="Lessons to audit; all if none is named.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list, one object an exercise.")] = False,
    exercise: Annotated[list[str] | None, typer.Option(help="Audit this exercise only; may be given again.")] = None,
    sample: Annotated[int | None, typer.Option(min=0, help="At most so many mutants an exercise.")] = None,
    nonces: Annotated[int, typer.Option(min=1, help="How many draws of random cases.")] = 1,
    right: Annotated[
        Path | None,
        typer.Option(help="Python file with right answers in other styles; tests/right_answers.py if not given."),
    ] = None,
) -> None:
    """Do the checks pass right answers, catch wrong ones and name them? Exit status 0 if all of them do, else 1."""
    from autograder.grading.audit import as_json as data
    from autograder.grading.audit import as_text, run
    from autograder.grading.course import CourseError, course_root

    findings = []
    try:
        for found in run(_known(lessons or []), course_root(), right, sample, nonces, exercise or []):
            findings.append(found)
            if not as_json:
                typer.echo(as_text(found))
    except CourseError as error:
        raise _stop(str(error)) from None
    if as_json:
        typer.echo(json.dumps([data(found) for found in findings], indent=2, ensure_ascii=False))
    if not all(found.sound for found in findings):
        raise typer.Exit(1)


@app.command()
def doctor() -> None:
    """Is everything here that the course needs? Exit status 0 if so, 1 if a needed part is missing."""
    from autograder.grading.course import CourseError, course_root
    from autograder.grading.doctor import examine, healthy

    try:
        root = course_root()
    except CourseError as error:
        raise _stop(str(error)) from None
    findings = []
    for finding in examine(root):
        typer.echo(finding.text())
        findings.append(finding)
    if not healthy(findings):
        raise typer.Exit(1)


@app.command()
def report(
    lesson: Annotated[str, typer.Argument(help="The lesson to report on.")],
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of a page.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="CSV instead of a page, a row a student.")] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The file; a page goes to report-LESSON.html if not given.")
    ] = None,
) -> None:
    """How a class did: marks, exercises, misconceptions, flags, who may need help. One page, to read or to print."""
    from autograder.grading import report as reports
    from autograder.grading.course import CourseError, course_root

    (name,) = _known([lesson])
    if as_json and as_csv:
        raise _stop("--json and --csv: one of them.")
    try:
        found = reports.report(course_root(), name)
    except CourseError as error:
        raise _stop(str(error)) from None
    text = reports.as_json(found) if as_json else reports.as_csv(found) if as_csv else reports.as_html(found)
    if output is None and (as_json or as_csv):
        typer.echo(text, nl=False)
        return
    path = output or Path(f"report-{name}.html")
    try:
        # The csv module has put the line ends already.
        path.write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise _stop(f"{path}: {error.strerror}") from None
    typer.echo(f"Wrote {path}.")


@app.command()
def simulate(
    lesson: Annotated[str, typer.Argument(help="The lesson that the class hands in.")],
    students: Annotated[int, typer.Option(min=1, help="How many students.")] = 30,
    seed: Annotated[int, typer.Option(help="Another number makes another class.")] = 0,
) -> None:
    """Make up a class that has handed in a lesson: into submitted/, never over real submissions."""
    from autograder.grading.course import CourseError, course_root
    from autograder.grading.simulate import CANVAS, ROSTER
    from autograder.grading.simulate import simulate as run

    (name,) = _known([lesson])
    try:
        made = run(course_root(), name, students, seed)
    except CourseError as error:
        raise _stop(str(error)) from None
    mangled = sum(bool(student.mangled) for student in made)
    typer.echo(f"{len(made)} made-up submissions of {name} in submitted/, {mangled} of them out of shape.")
    typer.echo(f"Their names: nbgrader db student import {ROSTER}")
    typer.echo(f"What Canvas would export of them: {CANVAS}")


@app.command()
def demo(
    folder: Annotated[Path, typer.Argument(help="Where the made-up course goes.")] = Path("demo"),
) -> None:
    """Run the whole round on a made-up class: release, submit, autograde, feedback, export."""
    from autograder.grading.course import CourseError
    from autograder.grading.demo import run
    from autograder.grading.kernel import BoxUnavailable

    try:
        raise typer.Exit(run(folder))
    except (BoxUnavailable, CourseError) as error:
        raise _stop(str(error)) from None


def main() -> None:
    """Entry point of the command; Ctrl-C ends it without a traceback."""
    # jsonschema, which nbformat imports, would build a parser for IRIs at once where it can: a second of work that
    # nothing here asks for. It does without where there is no such module.
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
    try:
        app()
    except KeyboardInterrupt:
        typer.echo("Stopped.", err=True)
        sys.exit(130)
