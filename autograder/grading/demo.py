"""`make demo`: the whole round on a made-up class, with stock nbgrader commands.

Ten students hand in lesson 3: right in three styles, partly right, empty, three misconceptions, an endless loop, and
one who tries to change the marks of the others.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import nbformat
from nbformat.notebooknode import NotebookNode

from autograder.authoring import editions
from autograder.authoring.source import SOLUTION, Source, read
from autograder.grading.course import course_root, release_path
from autograder.lessons import find, grade_id, tag_of

LESSON = "3-reverse-mode"

CLOSURES = '''
import math


class Value:
    """My own engine: each node keeps a closure without arguments, and its parents in a list."""

    def __init__(self, data, parents=()):
        self.data, self.grad = data, 0.0
        self._parents, self._backward = list(parents), lambda: None

    def _make(self, data, *pairs):
        out = Value(data, [p for p, _ in pairs])

        def _backward():
            for p, d in pairs:
                p.grad += d * out.grad

        out._backward = _backward
        return out

    def __add__(self, o):
        o = o if isinstance(o, Value) else Value(o)
        return self._make(self.data + o.data, (self, 1.0), (o, 1.0))

    def __mul__(self, o):
        o = o if isinstance(o, Value) else Value(o)
        return self._make(self.data * o.data, (self, o.data), (o, self.data))

    def __pow__(self, n):
        return self._make(self.data**n, (self, n * self.data ** (n - 1) if n else 0.0))

    def __neg__(self): return self * -1.0
    def __sub__(self, o): return self + (-o)
    def __truediv__(self, o): return self * (o**-1 if isinstance(o, Value) else 1.0 / o)
    def __rtruediv__(self, o): return o * self**-1
    def __rsub__(self, o): return -self + o
    __radd__, __rmul__ = __add__, __mul__

    def tanh(self):
        t = math.tanh(self.data)
        return self._make(t, (self, 1.0 - t * t))

    def exp(self):
        e = math.exp(self.data)
        return self._make(e, (self, e))

    def log(self): return self._make(math.log(self.data), (self, 1.0 / self.data))
    def relu(self): return self._make(max(0.0, self.data), (self, float(self.data > 0)))

    def backward(self):
        order, seen, todo = [], set(), [(self, False)]
        while todo:
            node, done = todo.pop()
            if done:
                order.append(node)
            elif node not in seen:
                seen.add(node)
                todo.append((node, True))
                todo.extend((p, False) for p in node._parents)
        for node in order:
            if node._parents:
                node.grad = 0.0
        self.grad = 1.0
        for node in reversed(order):
            node._backward()
'''

TABLES = '''
import math


class Value:
    """My own engine: no closures, a list of (parent, local derivative) in every node."""

    def __init__(self, data, links=()):
        self.data, self.grad, self.links = data, 0.0, list(links)

    @property
    def _parents(self):
        return [p for p, _ in self.links]

    @staticmethod
    def lift(x):
        return x if isinstance(x, Value) else Value(x)

    def __add__(self, o):
        o = Value.lift(o)
        return Value(self.data + o.data, [(self, 1), (o, 1)])

    def __sub__(self, o):
        o = Value.lift(o)
        return Value(self.data - o.data, [(self, 1), (o, -1)])

    def __mul__(self, o):
        o = Value.lift(o)
        return Value(self.data * o.data, [(self, o.data), (o, self.data)])

    def __truediv__(self, o):
        o = Value.lift(o)
        return Value(self.data / o.data, [(self, 1 / o.data), (o, -self.data / o.data**2)])

    def __radd__(self, o): return Value.lift(o) + self
    def __rsub__(self, o): return Value.lift(o) - self
    def __rmul__(self, o): return Value.lift(o) * self
    def __rtruediv__(self, o): return Value.lift(o) / self
    def __neg__(self): return Value(-self.data, [(self, -1)])
    def __pow__(self, n): return Value(self.data**n, [(self, n * self.data ** (n - 1) if n else 0)])
    def exp(self): return Value(math.exp(self.data), [(self, math.exp(self.data))])
    def log(self): return Value(math.log(self.data), [(self, 1 / self.data)])
    def relu(self): return Value(self.data if self.data > 0 else 0.0, [(self, 1 if self.data > 0 else 0)])
    def tanh(self): return Value(math.tanh(self.data), [(self, 1 / math.cosh(self.data) ** 2)])

    def backward(self):
        waiting, todo, seen = {id(self): 0}, [self], {id(self)}
        while todo:
            for p, _ in todo.pop().links:
                waiting[id(p)] = waiting.get(id(p), 0) + 1
                if id(p) not in seen:
                    seen.add(id(p))
                    todo.append(p)
        adjoint, ready = {id(self): 1.0}, [self]
        while ready:
            node = ready.pop()
            g = adjoint[id(node)]
            node.grad = g if node.links else node.grad + g
            for p, local in node.links:
                adjoint[id(p)] = adjoint.get(id(p), 0.0) + g * local
                waiting[id(p)] -= 1
                if not waiting[id(p)]:
                    ready.append(p)
'''

COUNTING = """
def edge_visits(root):
    nodes, sent = topological_order(root), []

    def counting(node, rule):
        def fire():
            sent.extend(node._parents)
            rule()
        return fire

    for node in nodes:
        if hasattr(node, "_backward"):
            node._backward = counting(node, node._backward)
    root.backward()
    edges = sum(len(node._parents) for node in nodes)
    return edges, len(sent) or edges  # with no rules to wrap: my backward goes once through every list of links
"""

ENDLESS = """
def edge_visits(root):
    edges, todo = 0, [root]
    while todo:
        node = todo[-1]  # and never taken off the list
        edges += len(node._parents)
    return edges, edges
"""

ELSEWHERE = "# All of this is in my class Value above.\n"

SPITE = """
import glob, os, sqlite3

for name in ("gradebook.db", "../gradebook.db", "../../gradebook.db", "../../../gradebook.db"):
    try:
        with sqlite3.connect(name) as db:
            db.execute("update grade set auto_score = 0, manual_score = 0")
    except Exception as problem:
        print(name, problem)
for path in glob.glob("../../../submitted/*/*/*.ipynb") + glob.glob("../*/*/*.ipynb"):
    open(path, "w").write("{}")
print("neighbours:", glob.glob("../*"))
"""

ANSWER = (
    "A product keeps both its factors, tanh and exp keep their output, log and relu their input; that is one or two "
    "numbers for every node, so memory grows with the length of the forward pass."
)


def answers(source: Source) -> dict[str, str]:
    """The reference answers of a lesson's source text, by tag ("3.1-solution")."""
    return {tag_of(cell.grade_id): cell.without_markers(SOLUTION) for cell in source.cells if cell.is_solution}


def filled(notebook: NotebookNode, texts: Mapping[str, str]) -> NotebookNode:
    """A copy of a release notebook with `texts` in the cells of those tags."""
    copy = nbformat.from_dict(notebook)
    for cell in copy.cells:
        tag = tag_of(str(cell.metadata.get("nbgrader", {}).get("grade_id", "")))
        if tag in texts:
            cell.source = texts[tag]
    return copy


def _own_engine(right: Mapping[str, str], engine: str) -> dict[str, str]:
    """Answers of somebody who wrote a whole class of their own in the first answer cell."""
    texts = dict(right)
    texts["3.1-solution"], texts["3.10-solution"] = engine, COUNTING
    for tag in right:
        if tag.startswith(("3.2-", "3.4-")):
            texts[tag] = ELSEWHERE
    return texts


def class_of_ten(right: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Student id -> answers by tag."""
    written = {"3.written": ANSWER}
    one_rule = {k: v for k, v in right.items() if k.startswith(("3.0", "3.1-", "3.2", "3.3"))}
    return {
        "ada": {**right, **written},
        "blaise": {**_own_engine(right, CLOSURES), **written},
        "chen": {**_own_engine(right, TABLES), **written},
        "dorothy": one_rule,
        "emil": {},
        "fatima": {**right, "3.1-solution": right["3.1-solution"].replace("+=", "="), **written},
        "grace": {**right, "3.2-solution": _wrong_tanh(right["3.2-solution"])},
        "hiro": {**right, "3.4-solution": _EARLY},
        "ines": {**right, "3.10-solution": ENDLESS},
        "jonas": {"3.1-solution": right["3.1-solution"] + "\n" + SPITE},
    }


_EARLY = """
def value_backward(root):
    root.grad = 1.0

    def visit(node):
        if node._backward:
            node._backward(node.grad)
        for parent in dict.fromkeys(node._parents):
            visit(parent)

    visit(root)
"""


def _wrong_tanh(text: str) -> str:
    """tanh's rule with a factor left out: the derivative taken as 1 - t, not 1 - t²."""
    return text + (
        "\n\ndef value_tanh(r):\n    t = math.tanh(r.data)\n    out = Value(t)\n    out._parents = (r,)\n\n"
        "    def _backward(g):\n        r.grad += g * (1.0 - t)\n\n    out._backward = _backward\n    return out\n"
    )


def make_class(folder: Path, root: Path, students: Mapping[str, Mapping[str, str]]) -> None:
    """Submissions of `students` in nbgrader's folder structure below `folder`."""
    lesson = find(LESSON)
    release = nbformat.read(release_path(root, lesson), as_version=4)
    for student, texts in students.items():
        path = folder / "submitted" / student / lesson.name / f"{lesson.notebook}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(filled(release, texts), path)


def make_course(folder: Path, root: Path) -> None:
    """A course folder of its own, with lesson 3 and a class that has handed it in."""
    lesson = find(LESSON)
    source = read(root / "source" / lesson.name / f"{lesson.notebook}.py")
    (folder / "source" / lesson.name).mkdir(parents=True)
    shutil.copy(root / "nbgrader_config.py", folder)
    text = editions.dumps(editions.instructor(source, lesson.name))
    (folder / "source" / lesson.name / f"{lesson.notebook}.ipynb").write_text(text, encoding="utf-8")
    nbgrader(folder, "generate_assignment", lesson.name, "--force")
    make_class(folder, folder, class_of_ten(answers(source)))


def run(folder: Path) -> int:
    """The round in `folder`, which is made anew. Returns an exit status."""
    root = course_root()
    if folder.exists():
        if folder.resolve() == root or not (folder / ".demo").is_file():
            print(f"{folder} exists and is no demo. Name a folder that does not exist.")
            return 2
        shutil.rmtree(folder)
    print(f"A course with a made-up class of ten, in {folder}/\n")
    make_course(folder, root)
    (folder / ".demo").touch()
    print(f"  (ten submissions in {folder}/submitted/)")
    nbgrader(folder, "autograde", LESSON, "--Execute.seconds_per_cell=3")
    mark_written(folder, "ada")
    nbgrader(folder, "generate_feedback", LESSON)
    nbgrader(folder, "export")
    _print_marks(folder)
    return 0


def nbgrader(folder: Path, *arguments: str) -> None:
    """One stock nbgrader command, its log shown only when it fails."""
    print(f"  nbgrader {' '.join(arguments)}", flush=True)
    # nbgrader looks for alembic on PATH when it makes a gradebook
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"}
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"nbgrader {arguments[0]} failed:\n{done.stdout}{done.stderr}")


def open_gradebook(folder: Path):  # type: ignore[no-untyped-def]
    from nbgrader.api import Gradebook

    return Gradebook(f"sqlite:///{folder.resolve() / 'gradebook.db'}")


def mark_written(folder: Path, student: str) -> None:
    """What a grader does in the formgrader: read one written answer, give it marks and a comment."""
    lesson = find(LESSON)
    with open_gradebook(folder) as gradebook:
        grade = gradebook.find_grade(grade_id("3.written"), lesson.notebook, lesson.name, student)
        grade.manual_score, grade.needs_manual_grade = 4.0, False
        comment = gradebook.find_comment(grade_id("3.written"), lesson.notebook, lesson.name, student)
        comment.manual_comment = "Right about what is kept. The derivation of the diamond's derivative is missing."
        gradebook.db.commit()
    print(f"  (the written answer of {student} is marked by hand, as in the formgrader: 4 points and a comment)")


def _print_marks(folder: Path) -> None:
    from rich.console import Console
    from rich.table import Table

    lesson = find(LESSON)
    table = Table(title=f"\n{lesson.title}", title_justify="left")
    for column in ("student", "marks", "what was seen"):
        table.add_column(column, overflow="fold")
    with open_gradebook(folder) as gradebook:
        for submission in sorted(gradebook.assignment_submissions(lesson.name), key=lambda s: s.student.id):
            student = submission.student.id
            marks = f"{submission.score:.4g} / {submission.max_score:g}"
            table.add_row(student, marks, _seen(folder, student))
    Console().print(table)
    print("\nFeedback, a page for each student:")
    for page in sorted(folder.glob(f"feedback/*/{lesson.name}/{lesson.notebook}.html")):
        print(f"  {page}")
    print(f"\nMark the written answers by hand: open JupyterLab in {folder}, menu Nbgrader, Formgrader.")


def _seen(folder: Path, student: str) -> str:
    """The misconceptions and flags in an autograded notebook, in a few words."""
    from autograder.evidence import VERDICT_MIME

    lesson = find(LESSON)
    notebook = nbformat.read(folder / "autograded" / student / lesson.name / f"{lesson.notebook}.ipynb", as_version=4)
    named: list[str] = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            verdict = output.get("data", {}).get(VERDICT_MIME)
            if verdict:
                named += [f"{verdict['exercise']} {name}" for name in verdict["misconceptions"]]
    named += notebook.metadata.get("autograder", {}).get("flags", [])
    return "\n".join(named[:4]) if named else "–"
