"""Exercise 3.12: engines with one sealed fault each, a count of the operations spent on them, and par."""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from autograder.exercises.engines import FAULTS, Engine, Fault, fault, make_engine
from autograder.exercises.expressions import point, show
from autograder.references.graphs import Graph, parse, to_json
from autograder.student.probes import engines as probe

WRONG_NAME_COSTS = 3
SUSPECTS: tuple[Fault, ...] = tuple(sorted((f for f in FAULTS if f.level), key=lambda f: f.name))
POINT = {"a": 2.5, "b": -3.0, "c": 1.5}
# Small expressions of which some sequence gives every suspect away; par is computed from these.
EXPERIMENTS = (
    "a + b", "a*b", "a + a", "a*a", "tanh(c)", "exp(c)", "log(a)", "relu(a)", "relu(b)", "a**3", "-a", "a - b", "a - a",
    "a / b", "a / a", "2 / a", "1 - a", "(a*b)*c", "(a + b)*c", "tanh(c)*b", "exp(c)*b", "log(a)*b", "relu(a)*b",
    "a**2*b", "tanh(c) + c", "exp(c) + c", "log(a) + a", "relu(a) + a", "a**2 + a", "c + tanh(c)", "c + exp(c)",
    "a + log(a)", "a + relu(a)", "a + a**2", "a*b + a", "a + a*b", "-a + a", "a + -a", "u = a + b; L = u + u",
    "u = a + a; L = u + u", "u = a*b; L = u + u*c", "u = a*b; L = u*c + u", "u = a*b; L = u + u*c*c",
    "u = a*b; L = u*c*c + u", "u = a*a; L = u*u", "u = a*c; v = c*a; L = u*v",
)  # fmt: skip


@dataclass(frozen=True)
class Experiment:
    """An expression at POINT; it costs one for each operation and one for the backward pass."""

    text: str
    graph: Graph
    sink: str

    @property
    def cost(self) -> int:
        return 1 + sum(node.op not in ("input", "number") for node in self.graph.values())

    def run(self, engine: Engine) -> tuple[Any, ...]:
        """(name, value, gradient) of every node, to nine digits; or the kind of error that was raised."""
        inputs = {name: POINT[name] for name, node in self.graph.items() if node.op == "input"}
        try:
            objects = probe.build(engine.Value, to_json(self.graph), inputs)
            objects[self.sink].backward()
        except Exception as error:
            return (type(error).__name__,)
        nodes = {name: x for name, x in objects.items() if hasattr(x, "grad")}
        return tuple((name, float(f"{x.data:.9g}"), float(f"{x.grad:.9g}")) for name, x in nodes.items())


@cache
def experiments() -> tuple[Experiment, ...]:
    return tuple(Experiment(text, *parse(text)) for text in EXPERIMENTS)


@cache
def outcomes(name: str, variant: int) -> tuple[tuple[Any, ...], ...]:
    """What every experiment shows on an engine with this fault."""
    engine = fault(name).engine(variant)
    return tuple(experiment.run(engine) for experiment in experiments())


@cache
def par(name: str) -> int:
    """The fewest operations that tell this fault from all other suspects in any form, in up to three experiments."""
    mine = outcomes(name, 0)
    others = [(f.name, v) for f in SUSPECTS for v in range(len(f.variants)) if f.name != name]
    ruled_out = [
        frozenset(o for o, theirs in ((o, outcomes(*o)) for o in others) if theirs[i] != mine[i])
        for i in range(len(mine))
    ]
    costs = [e.cost for e in experiments()]
    best = None
    for count in (1, 2, 3):
        for chosen in itertools.combinations(range(len(costs)), count):
            cost = sum(costs[i] for i in chosen)
            if best is not None and cost >= best:
                continue
            if len(frozenset().union(*(ruled_out[i] for i in chosen))) == len(others):
                best = cost
    if best is None:
        raise LookupError(f"{name} cannot be told from the other suspects in three experiments")
    return best


@cache
def sealed(seed: int) -> str:
    """The name of the fault behind `seed`. Seeds 1, 2, 3 are of rising difficulty; others are of any."""
    pool = [f.name for f in SUSPECTS if seed not in (1, 2, 3) or f.level == seed]
    # By hash, so that the answers are not to be read here, and a new fault hardly ever changes an old seed's.
    return min(pool, key=lambda name: hashlib.sha256(f"2753 {seed} {name}".encode()).digest())


def normal(name: Any) -> str:
    """A fault's name however it was typed: "Overwrites gradient" is overwrites-gradient."""
    return re.sub(r"[\s_–—-]+", "-", str(name).strip().lower())


def contradiction(accused: str, seed: int) -> str:
    """The cheapest experiment on which an engine with the accused fault and the sealed one differ, in words."""
    real = outcomes(sealed(seed), 0)
    found: list[tuple[int, str]] = []
    for variant in range(len(fault(accused).variants)):
        theirs = outcomes(accused, variant)
        apart = [i for i, outcome in enumerate(real) if outcome != theirs[i]]
        i = min(apart, key=lambda i: experiments()[i].cost)
        found.append((experiments()[i].cost, _told(experiments()[i], real[i], theirs[i])))
    # Where the fault takes several forms, the one that is hardest to rule out.
    return max(found)[1]


def _told(experiment: Experiment, real: Sequence[Any], theirs: Sequence[Any]) -> str:
    inputs = {name: POINT[name] for name, node in experiment.graph.items() if node.op == "input"}
    at = f"{experiment.text} at {point(inputs)}"
    if len(real) != len(theirs) or isinstance(real[0], str) or isinstance(theirs[0], str):
        return f"on {at} the two behave differently"
    differing = [(r, t) for r, t in zip(real, theirs, strict=True) if r != t]
    (name, value, grad), (_, other_value, other_grad) = min(differing, key=lambda pair: pair[0][0] not in POINT)
    if value != other_value:
        return f"on {at} it would give the value {show(other_value)}; this engine gives {show(value)}"
    return f"on {at} it would leave {name}.grad at {show(other_grad)}; this engine leaves {show(grad)}"


class BrokenEngine:
    """An engine with one sealed fault.

    `engine.Value(2.0)`, or `engine(2.0)`, makes a leaf. Operations and backward passes are counted in `engine.used`;
    `engine.par` is how few of them suffice. `engine.suspects()` lists the faults that it may have,
    `engine.accuse(name)` tests a diagnosis; a wrong one costs three operations.
    """

    def __init__(self, seed: int) -> None:
        name = sealed(seed)
        self.seed, self.used, self.par = seed, 0, par(name)
        self.solved = False
        overrides = fault(name).variants[0]
        inside = False

        def counted(function: Callable[..., Any]) -> Callable[..., Any]:
            def call(*args: Any) -> Any:
                nonlocal inside
                if inside:
                    return function(*args)
                inside = True
                self.used += 1
                try:
                    return function(*args)
                finally:
                    inside = False

            return call

        def replacement(key: str) -> Callable[[Engine], Any]:
            return lambda engine: counted(overrides[key](engine) if key in overrides else getattr(engine, key))

        operators = [key for key in vars(make_engine()) if key.startswith("value_")]
        keys = dict.fromkeys((*operators, *(key for key in overrides if key.startswith("reflected_"))))
        self.Value = make_engine(**{**overrides, **{key: replacement(key) for key in keys}}).Value

    def __call__(self, data: float) -> Any:
        return self.Value(float(data))

    def __repr__(self) -> str:
        return f"engine {self.seed}: {self.used} operations used, par {self.par}" + (", solved" * self.solved)

    @property
    def names(self) -> list[str]:
        """The names that a fault may have."""
        return [f.name for f in SUSPECTS]

    def suspects(self, word: str = "") -> None:
        """Print the faults that an engine may have, each in a few words; with `word`, those that mention it."""
        width = max(len(name) for name in self.names)
        for f in SUSPECTS:
            if word.lower() in f"{f.name} {f.sign}".lower():
                print(f"{f.name:<{width}}  {f.sign}")

    def accuse(self, name: str) -> bool:
        """Is this the fault? Says so, and returns True or False."""
        accused = normal(name)
        if accused not in self.names:
            print(f"{name!r} is not the name of a fault. engine.suspects() lists them.")
            return False
        if accused == sealed(self.seed):
            self.solved = True
            print(f"Yes: {accused}. You used {self.used} operations; par is {self.par}.")
            return True
        self.used += WRONG_NAME_COSTS
        print(
            f"Not {accused}: {contradiction(accused, self.seed)}. "
            f"A wrong name costs {WRONG_NAME_COSTS} operations; you have used {self.used}."
        )
        return False


def judged(seed: int, answer: Any) -> str | None:
    """None if `answer` names the fault of engine `seed`, else what to say."""
    if answer is None or answer == "":
        return f"Engine {seed} has no diagnosis yet. Run small expressions on broken_engine({seed}) and compare."
    accused = normal(answer)
    if accused == sealed(seed):
        return None
    if accused not in {f.name for f in SUSPECTS}:
        return (
            f"Engine {seed}: {str(answer)[:60]!r} is not the name of a fault. "
            f"broken_engine({seed}).suspects() lists the names."
        )
    return f"Engine {seed}: not {accused}. Like this one: {contradiction(accused, seed)}."
