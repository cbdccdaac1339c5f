"""Lesson 3, what the engine is good for (3.6 to 3.12): cases, judges and misconceptions."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from autograder.exercises import bug_hunt
from autograder.exercises.engines import Engine, make_engine
from autograder.exercises.expressions import (
    close,
    drawn_case,
    graph_case,
    is_number,
    picture,
    point,
    reference,
    show,
    step,
)
from autograder.exercises.model import Case, Finding, Misconception, same_value
from autograder.references import finite_difference, pytorch
from autograder.references.graphs import (
    ARITY,
    LEAVES,
    OPERATIONS,
    Graph,
    Node,
    Numbers,
    adjoints,
    ancestors,
    decimal,
    forward,
    from_json,
    order,
    parse,
    random_graph,
    to_json,
)

Rng = random.Random

DIAMOND = ("A network taken apart", "A-network-taken-apart")
WITNESSES = ("Three witnesses", "Three-witnesses")
ADDITION = ("Addition, not assignment", "Addition,-not-assignment")
DEPENDENCY = ("Order is a dependency", "Order-is-a-dependency")
COST = ("What a gradient costs", "What-a-gradient-costs")
OUTSIDE = ("Outside the graph", "Outside-the-graph")
HUNT = ("Bug hunt", "Bug-hunt")


# ---- 3.6 The diamond ------------------------------------------------------------------------------------------------


# Where each operation of an engine is asked for its value.
VALUES_ASKED: tuple[tuple[str, tuple[float, ...]], ...] = (
    ("+", (1.5, -0.7)), ("-", (1.5, -0.7)), ("*", (1.5, -0.7)), ("/", (1.5, -0.7)), ("neg", (1.5,)), ("neg", (-0.7,)),
    ("exp", (1.5,)), ("exp", (-0.7,)), ("log", (1.5,)), ("log", (0.4,)), ("relu", (1.5,)), ("relu", (-0.7,)),
)  # fmt: skip


def diamond_case(part: str, x1: float, x2: float, gamma: float) -> Case:
    return {
        "part": part,
        "operations": [[op, list(operands)] for op, operands in VALUES_ASKED],
        "x": [x1, x2],
        "gamma": gamma,
        "says": f"diamond_loss at x1 = {show(x1)}, x2 = {show(x2)}, gamma = {show(gamma)}",
        "size": abs(x1) + abs(x2) + gamma,
    }


def diamond_worked() -> list[Case]:
    return [
        diamond_case("loss", 0.5, 0.25, 4.0),
        diamond_case("gradient", 0.5, 0.25, 4.0),
        diamond_case("quadrants", -0.5, 0.25, 2.0),
        diamond_case("quadrants", -0.5, -0.25, 2.0),
        diamond_case("quadrants", 0.5, -0.25, 2.0),
    ]


def diamond_cases(rng: Rng) -> list[Case]:
    def draw(part: str, sign1: int, sign2: int) -> Case:
        x1, x2 = (decimal(rng, 0.1, 1.2, (0.5,), 0.05) for _ in range(2))
        return diamond_case(part, sign1 * x1, sign2 * x2, decimal(rng, 0.6, 4.0, (1.0,), 0.1))

    cases = [draw("loss", 1, 1) for _ in range(3)] + [draw("gradient", 1, 1) for _ in range(3)]
    return cases + [draw("quadrants", *signs) for signs in ((-1, 1), (-1, -1), (1, -1)) for _ in range(2)]


def _right_diamond(x: Sequence[Any], gamma: float) -> Any:
    """−log softmax(γs, −γs)[inside] in PyTorch, by its own relu and logsumexp."""
    import torch

    s: Any = 1 - sum(torch.relu(v) + torch.relu(-v) for v in x)
    return torch.logsumexp(torch.stack([gamma * s, -gamma * s]), 0) - gamma * s


def judge_diamond(case: Case, seen: Any) -> Finding | None:
    (x1, x2), gamma = case["x"], case["gamma"]
    loss, right = pytorch.gradient(lambda x: _right_diamond(x, gamma), (x1, x2))
    told = f"{case['says']}: "
    # Over an engine with a wrong value the same function is right if it is so in PyTorch: the value belongs to 3.1 or 3.2.
    through_torch = close(seen["torch_loss"], loss) and not _values_are_right(seen["operations"])
    if not close(seen["loss"], loss) and not through_torch:
        return Finding(
            f"{told}your loss is {show(seen['loss'])}; expected {show(loss)} (PyTorch). "
            "Check it against −log p(inside), with p from the two logits.",
            where="loss",
            size=case["size"],
        )
    if case["part"] == "loss" or any(
        grads is not None and all(close(g, r) for g, r in zip(grads, right, strict=True))
        for grads in (seen["value"], seen["torch"])
    ):
        return None
    yours = seen["value"] or seen["torch"]
    i = next(i for i in (0, 1) if not close(yours[i], right[i]))
    s = 1 - abs(x1) - abs(x2)
    difference = finite_difference.gradient(lambda x: _plain_diamond(x, gamma), (x1, x2))[i]
    return Finding(
        f"{told}your gradient of x{i + 1} is {show(yours[i])}; expected {show(right[i])} (finite differences "
        f"{difference:.4f}, PyTorch {show(right[i])}; 2·gamma·p(outside) is "
        f"{show(2 * gamma / (1 + math.exp(2 * gamma * s)))}).",
        where=f"x{i + 1}",
        size=case["size"],
    )


def _values_are_right(found: Sequence[Any]) -> bool:
    def right(op: str, operands: Sequence[float]) -> float:
        inputs = {f"x{i}": x for i, x in enumerate(operands)}
        return forward({**{name: Node("input") for name in inputs}, "y": Node(op, tuple(inputs))}, inputs)["y"]

    return all(close(value, right(*asked)) for value, asked in zip(found, VALUES_ASKED, strict=True))


def _plain_diamond(x: Sequence[float], gamma: float) -> float:
    s = 1 - abs(x[0]) - abs(x[1])
    return math.log(1 + math.exp(-2 * gamma * s))


def same_diamond(case: Case, predicted: Any, seen: Any) -> bool:
    return close(seen["loss"], predicted["loss"]) and (
        case["part"] == "loss"
        or any(
            seen[way] is not None
            and predicted[way] is not None
            and all(close(s, p) for s, p in zip(seen[way], predicted[way], strict=True))
            for way in ("value", "torch")
        )
    )


def wrong_diamond(
    name: str,
    says: str,
    size: Callable[[Any], Any] = lambda x: x.relu() + (-x).relu(),
    finish: Callable[[Any, float], Any] = lambda s, gamma: _log_sum(gamma * s, -gamma * s) - gamma * s,
) -> Misconception:
    """diamond_loss with another idea of |x| or of the loss."""

    def objects() -> tuple[Any, ...]:
        def diamond_loss(x1: Any, x2: Any, gamma: float) -> Any:
            return finish(1.0 - (size(x1) + size(x2)), gamma)

        return diamond_loss, make_engine().Value

    return Misconception(name, says, objects, DIAMOND)


def _log_sum(p: Any, q: Any) -> Any:
    return (p.exp() + q.exp()).log()


DIAMOND_MISCONCEPTIONS = (
    wrong_diamond(
        "target-outside",
        'This is the loss for the target "outside". Which logit belongs to the target?',
        finish=lambda s, gamma: _log_sum(gamma * s, -gamma * s) + gamma * s,
    ),
    wrong_diamond(
        "log-without-minus",
        "This is log p, which is negative. A loss is small when p is near 1 and grows as p falls.",
        finish=lambda s, gamma: gamma * s - _log_sum(gamma * s, -gamma * s),
    ),
    wrong_diamond(
        "one-logit",
        "Here only one of the two logits depends on x. The network has two, +γs and −γs.",
        finish=lambda s, gamma: ((gamma * s).exp() + 1.0).log() - gamma * s,
    ),
    wrong_diamond(
        "probability-not-log",
        "This is 1 − p(inside), not −log p(inside).",
        finish=lambda s, gamma: 1.0 - (gamma * s).exp() / ((gamma * s).exp() + (-gamma * s).exp()),
    ),
    wrong_diamond(
        "positive-inputs-only",
        "Right for positive inputs only: |x| needs two ReLU units, one for each sign.",
        size=lambda x: x.relu(),
    ),
    wrong_diamond(
        "positive-inputs-only",
        "Right for positive inputs only: |x| needs two ReLU units, one for each sign.",
        size=lambda x: x,
    ),
    wrong_diamond(
        "graph-cut",
        "The loss is right, but no gradient reaches the inputs: somewhere you went on with a plain number.",
        size=lambda x: (
            type(x)(x.data).relu() + type(x)(-x.data).relu() if hasattr(x, "_backward") else x * 0.0 + abs(x.item())
        ),
    ),
)


# ---- 3.7 A gradient check -------------------------------------------------------------------------------------------

NAMES = ("engine", "finite_difference", "pytorch")
APART = 1e-5  # relative: more than this and two witnesses disagree


def check_case(part: str, text: str, values: Sequence[float], cuts: Mapping[str, Sequence[str]] | None = None) -> Case:
    """A function of x0, x1, …, for the probe to make.

    `cuts` maps a name like "k0" to the witnesses that see it as a constant copy of x0; the others see x0 itself.
    """
    graph, sink = parse(text)
    cuts = {k: list(who) for k, who in (cuts or {}).items()}
    x = ", ".join(show(v) for v in values)
    shown = text
    for k in cuts:
        shown = shown.replace(k, f"x{k[1:]}")
    return {
        "part": part,
        "graph": to_json(graph),
        "sink": sink,
        "values": list(values),
        "cuts": cuts,
        "says": f"gradient_check of {shown} at [{x}]",
        "size": float(len(graph)),
        "text": shown,
    }


def check_worked() -> list[Case]:
    return [
        check_case("witnesses", "x0*x1", (2.0, 3.0)),
        check_case("agreement", "x0*x1 + x2", (2.0, 3.0, -1.0)),
        check_case("agreement", "k0*x0 + x1", (3.0, 1.0), {"k0": ("engine", "pytorch")}),
        check_case("odd-one-out", "k0*x0 + x1", (3.0, 1.0), {"k0": ("engine", "pytorch")}),
        check_case("first", "x0 + k1*x1", (3.0, 1.5), {"k1": ("engine",)}),
    ]


def check_cases(rng: Rng) -> list[Case]:
    def draw(count: int) -> list[float]:
        found: list[float] = []
        for _ in range(count):
            found.append(decimal(rng, -3, 3, (0.0, 1.0, -1.0, *found), 0.3))
        return found

    i = rng.randrange(3)
    j, k = (n for n in range(3) if n != i)
    cases = [
        check_case("witnesses", "x0*x1 + x0", draw(2)),
        check_case("witnesses", "x0*x2", draw(3)),
        # A bend, so that a wide step shows; and witnesses who differ, so that each must stand under its own name.
        check_case("witnesses", "x0*x0*x0*x1", draw(2)),
        check_case("witnesses", "k0*x0 + x1", draw(2), {"k0": ("engine",)}),
        check_case("witnesses", "k0*x0 + x1", draw(2), {"k0": ("pytorch",)}),
        check_case("agreement", "(x0 + x1)*x2", draw(3)),
        check_case("agreement", "7", draw(2)),
        check_case("agreement", "k0*x0 + x1", (decimal(rng, 1.5, 3), 1.0), {"k0": ("engine",)}),
        # Two inputs are off: the larger disagreement counts, not their sum or their mean.
        check_case("agreement", "k0*x0 + k1*x1", (decimal(rng, 1.5, 3), 1.2), {"k0": ("engine",), "k1": ("engine",)}),
    ]
    for who in (("engine",), ("pytorch",), ("engine", "pytorch")):
        cases.append(check_case("odd-one-out", f"k{i}*x{i} + x{j}*x{k}", draw(3), {f"k{i}": who}))
    # The engine is cut at one input and PyTorch at another: nobody can be singled out.
    cases.append(check_case("odd-one-out", "k0*x0 + k1*x1 + x2", draw(3), {"k0": ("engine",), "k1": ("pytorch",)}))
    for n in (1, 2):
        cases.append(check_case("first", f"x0 + x1 + x2 + k{n}*x{n}", draw(3), {f"k{n}": ("engine",)}))
    # All three inputs are off: the disagreement at input 0 is the first, the one at input 1 the largest, 2 the last.
    x = [decimal(rng, 0.4, 1.2), decimal(rng, 1.5, 3), decimal(rng, 0.4, 1.2)]
    cuts = {"k0": ("pytorch",), "k1": ("engine",), "k2": ("engine",)}
    cases.append(check_case("first", "x0*5 + k0*x0 + k1*x1 + x2*5 + k2*x2", x, cuts))
    # Input 0 agrees, input 1 is off a little, input 2 most.
    x = [decimal(rng, 1.5, 3), decimal(rng, 0.4, 1.2), decimal(rng, 1.5, 3)]
    cases.append(check_case("first", "x0 + k1*x1 + x1*5 + k2*x2", x, {"k1": ("pytorch",), "k2": ("engine",)}))
    return cases


def _witness(case: Case, name: str) -> list[float]:
    """What this witness has to say of the function: its derivative with the cut copies held still."""
    graph = from_json(case["graph"])
    inputs = {n: case["values"][int(n[1:])] for n, node in graph.items() if node.op == "input"}
    if graph[case["sink"]].op == "number":
        return [0.0] * len(case["values"])
    right = reference(case["graph"], inputs, case["sink"]).adjoints
    found = [0.0] * len(case["values"])
    for leaf in inputs:
        if name not in case["cuts"].get(leaf, ()):
            found[int(leaf[1:])] += right[leaf]
    return found


def relative(g: float, g_hat: float) -> float:
    return abs(g - g_hat) / max(1.0, abs(g), abs(g_hat))


def judge_check(case: Case, seen: Any) -> Finding | None:
    """The lists are judged in one part; what is said about them is judged by the lists themselves."""
    part, count = case["part"], len(case["values"])

    def finding(text: str, where: str) -> Finding:
        return Finding(f"{case['says']}: {text}", where=where, size=case["size"])

    lists = {name: seen[name] for name in NAMES}
    for name, found in lists.items():
        if not isinstance(found, list) or len(found) != count or not all(is_number(g) for g in found):
            return finding(f'"{name}" should be a list of {count} numbers.', name)
        right = _witness(case, name)
        tolerance = 1e-4 if name == "finite_difference" else 1e-6
        if part == "witnesses" or (name != "engine" and not case["cuts"]):
            for i, (g, r) in enumerate(zip(found, right, strict=True)):
                # A wrong rule or pass belongs to 3.1 to 3.4; here the engine has to be asked, and its answer reported.
                by_itself = name == "engine" and seen["own"] is not None and close(g, seen["own"][i])
                if not close(g, r, tolerance) and not by_itself:
                    return finding(f'"{name}" gives {show(g)} for input {i}; expected {show(r)}.', name)
    apart = {
        name: [relative(g, k) for g, k in zip(*(lists[n] for n in NAMES if n != name), strict=True)] for name in NAMES
    }
    worst = [max(errors) for errors in zip(*apart.values(), strict=True)]
    if part == "agreement" and not close(seen["max_disagreement"], max(worst)):
        return finding(
            f'"max_disagreement" is {show(seen["max_disagreement"])}; your three lists are at most '
            f"{show(max(worst))} apart (relative error).",
            "max_disagreement",
        )
    first = next((i for i, error in enumerate(worst) if error > APART), None)
    alone = [name for name in NAMES if first is not None and max(apart[name]) <= APART]
    odd = alone[0] if len(alone) == 1 else None
    if part == "agreement" and case["cuts"]:  # here for the size of a disagreement; other parts ask who and where
        return None
    if part in ("odd-one-out", "first") and not _shows_something(case, lists, first, seen["own"]):
        return finding(
            f"your three lists are {_lists(lists)}. Here the witnesses do not agree, and at least one of them has to be "
            "right for a comparison to say something.",
            part,
        )
    if part in ("odd-one-out", "agreement") and seen["odd_one_out"] != odd:
        return finding(
            f'"odd_one_out" is {seen["odd_one_out"]!r}; by your own three lists it should be {odd!r}: '
            + (f"without {odd} the other two agree at every input." if odd else _nobody(first)),
            "odd_one_out",
        )
    if part in ("first", "agreement") and (isinstance(seen["first"], bool) or seen["first"] != first):
        return finding(
            f'"first" is {None if seen["first"] is None else show(seen["first"])}; by your own three lists it should be '
            f"{first!r}"
            + (f", the first input at which two of them are more than {APART:g} apart." if first is not None else "."),
            "first",
        )
    return None


def same_check(case: Case, predicted: Any, seen: Any) -> bool:
    """As reports; a misconception has no notebook whose engine could speak by itself."""
    return same_value({**predicted, "own": None}, {**seen, "own": None})


def _shows_something(
    case: Case, lists: Mapping[str, list[float]], first: int | None, own: Sequence[float] | None
) -> bool:
    """Whether a comparison of these lists is one: numbers that were made up can agree with what is said about them.

    `own` is what the engine says by itself. A wrong one may happen to agree where a right one would not.
    """

    def agree(name: str, wanted: Sequence[float]) -> bool:
        return all(close(g, w, 1e-4) for g, w in zip(lists[name], wanted, strict=True))

    right = {name: agree(name, _witness(case, name)) for name in NAMES}
    if first is not None:
        return any(right.values())
    return own is not None and agree("engine", own) and all(right[name] for name in NAMES if name != "engine")


def _lists(lists: Mapping[str, list[float]]) -> str:
    return "; ".join(f"{name}: {', '.join(map(show, found))}" for name, found in lists.items())


def _nobody(first: int | None) -> str:
    return "all three agree." if first is None else "there is nobody without whom the other two agree at every input."


def unchanged(report: dict[str, Any], lists: list[list[float]]) -> None:
    pass


def wrong_check(
    name: str, says: str, change: Callable[[dict[str, Any], list[list[float]]], None] = unchanged, width: float = 2.0
) -> Misconception:
    """gradient_check with one entry of its report made otherwise, or with another width than 2h below the quotient."""

    def objects() -> tuple[Any, ...]:
        engine = make_engine()

        def gradient_check(f: Any, values: Sequence[float], h: float = 1e-6) -> dict[str, Any]:
            report = right_check(engine, f, values, h, width)
            change(report, [report[n] for n in NAMES])
            return report

        return (gradient_check,)

    return Misconception(name, says, objects, WITNESSES)


def right_check(engine: Engine, f: Any, values: Sequence[float], h: float = 1e-6, width: float = 2.0) -> dict[str, Any]:
    """What 3.7 asks for."""
    import torch

    leaves = [engine.Value(float(x)) for x in values]
    result = f(leaves)
    if hasattr(result, "backward"):
        result.backward()
    difference = []
    for i, x in enumerate(values):
        up, down = ([*values[:i], x + s * h, *values[i + 1 :]] for s in (1, -1))
        difference.append((f(up) - f(down)) / (width * h))
    tensors = [torch.tensor(float(x), dtype=torch.float64, requires_grad=True) for x in values]
    result = f(tensors)
    if getattr(result, "requires_grad", False):
        result.backward()
    report: dict[str, Any] = {
        "engine": [leaf.grad for leaf in leaves],
        "finite_difference": difference,
        "pytorch": [0.0 if t.grad is None else t.grad.item() for t in tensors],
    }
    apart = {n: [relative(*pair) for pair in zip(*(report[m] for m in NAMES if m != n), strict=True)] for n in NAMES}
    worst = [max(errors) for errors in zip(*apart.values(), strict=True)]
    first = next((i for i, error in enumerate(worst) if error > APART), None)
    alone = [n for n in NAMES if first is not None and max(apart[n]) <= APART]
    odd = alone[0] if len(alone) == 1 else None
    return report | {"max_disagreement": max(worst), "first": first, "odd_one_out": odd}


def _always_engine(report: dict[str, Any], lists: list[list[float]]) -> None:
    if report["first"] is not None:
        report["odd_one_out"] = "engine"


def _always_difference(report: dict[str, Any], lists: list[list[float]]) -> None:
    if report["first"] is not None:
        report["odd_one_out"] = "finite_difference"


def _worst_not_first(report: dict[str, Any], lists: list[list[float]]) -> None:
    if report["first"] is not None:
        worst = [max(relative(g, k) for g in at for k in at) for at in zip(*lists, strict=True)]
        report["first"] = worst.index(max(worst))


def _from_one(report: dict[str, Any], lists: list[list[float]]) -> None:
    if report["first"] is not None:
        report["first"] += 1


def _absolute(report: dict[str, Any], lists: list[list[float]]) -> None:
    report["max_disagreement"] = max(abs(g - k) for at in zip(*lists, strict=True) for g in at for k in at)


CHECK_MISCONCEPTIONS = (
    wrong_check(
        "absolute-not-relative",
        'Your "max_disagreement" is a plain distance. The relative error divides it by the larger number, if that is '
        "above 1.",
        _absolute,
    ),
    wrong_check(
        "missing-two-in-difference",
        "Your finite differences are twice what they should be: from x − h to x + h it is a distance of 2h.",
        width=1.0,
    ),
    wrong_check(
        "blames-the-engine",
        "Whenever there is disagreement you name the engine. The odd one out is the witness without whom the other two "
        "agree.",
        _always_engine,
    ),
    wrong_check(
        "blames-the-differences",
        "Whenever there is disagreement you name finite differences. The odd one out is the witness without whom the "
        "other two agree.",
        _always_difference,
    ),
    wrong_check(
        "largest-not-first",
        'You give the input with the largest disagreement. "first" asks for the first one that is too large.',
        _worst_not_first,
    ),
    wrong_check("counts-from-one", 'Inputs are counted from 0, and your "first" counts from 1.', _from_one),
)


# ---- 3.8 The smallest counterexample --------------------------------------------------------------------------------

MOST_NODES = 200


def read_graph(data: Any, inputs: Any, sink: Any) -> tuple[Graph, Numbers, str] | Finding:
    """A graph that a learner constructed, or why it is none."""

    def finding(text: str, where: str = "graph") -> Finding:
        return Finding(text, where=where)

    if not isinstance(data, dict) or not data:
        return finding("The graph should be a dict from names to Nodes, with at least one.")
    if len(data) > MOST_NODES:
        return finding(f"The graph has {len(data)} nodes; {MOST_NODES} are more than enough here.")
    graph: Graph = {}
    for name, (op, parents, n) in data.items():
        if op not in ("input", *OPERATIONS):
            return finding(f'Node {name} has the operation {op!r}. The operations are "input" {" ".join(OPERATIONS)}.')
        wanted = 0 if op == "input" else ARITY[op]
        if len(parents) != wanted:
            return finding(f"Node {name}: {op} has {wanted} slot{'s' * (wanted != 1)}, not {len(parents)}.")
        graph[name] = Node(op, tuple(parents), float(n))
    try:
        order(graph)
    except KeyError as error:
        return finding(f"The graph has no node {error.args[0]!r}, but another node has it as a parent.")
    except ValueError:
        return finding("The graph has a cycle: a node depends on itself.")
    if sink not in graph:
        return finding(f"The sink {sink!r} is not a node of the graph.", "sink")
    wanted_inputs = [name for name, node in graph.items() if node.op == "input"]
    missing = [name for name in wanted_inputs if not is_number(inputs.get(name))]
    if missing:
        return finding(f"The input {missing[0]} has no number.", "inputs")
    numbers = {name: float(inputs[name]) for name in wanted_inputs}
    try:
        values = forward(graph, numbers)
    except (ValueError, OverflowError, ZeroDivisionError):
        return finding(f"The graph has no value at {point(numbers)}.", "inputs")
    if not all(isinstance(v, float) and math.isfinite(v) for v in values.values()):
        return finding(f"The graph has no finite value at {point(numbers)}.", "inputs")
    return graph, numbers, str(sink)


def judge_counterexample(case: Case, seen: Any) -> Finding | None:
    read = read_graph(seen["graph"], seen["inputs"], seen["sink"])
    if isinstance(read, Finding):
        return read
    graph, inputs, sink = read
    steps = [name for name in graph if graph[name].op not in LEAVES]
    if case["part"] == "small":
        if len(steps) != 1:
            return Finding(f"Your graph has {len(steps)} operations; one is enough.", where="graph", size=len(steps))
        if _shared(graph, sink):
            return None
    values = forward(graph, inputs)
    right = reference(to_json(graph), inputs, sink).adjoints
    backward = list(reversed(order(graph)))
    # Where messages come from different children, which one is last depends on the order: look at two of them.
    heights = _heights(graph)
    other = sorted(backward, key=lambda name: (-heights[name], -backward.index(name)))
    faulty = [adjoints(graph, values, sink, firing=firing, assign=True) for firing in (backward, other)]
    if any(not close(wrong[name], right[name]) for wrong in faulty for name in inputs):
        return None
    told = "; ".join(step(name, graph[name]) for name in order(graph) if name in steps)
    shown = ", ".join(f"{name}: {show(right[name])}" for name in inputs)
    why = (
        "Every node there receives one message only."
        if not _shared(graph, sink)
        else "At these values the messages that get lost are 0."
    )
    return Finding(
        f"{point(inputs)}: {told}; adding and assigning give the same derivatives ({shown}). {why}",
        where="inputs" if _shared(graph, sink) else "graph",
        picture=picture(to_json(graph), values, faulty[0], right, None, told),
    )


def _heights(graph: Graph) -> dict[str, int]:
    """The longest way down from each node, each node looked at once: a ladder has more paths than anybody can walk."""
    heights: dict[str, int] = {}
    for name in order(graph):
        heights[name] = 1 + max((heights[parent] for parent in graph[name].parents), default=0)
    return heights


def _shared(graph: Graph, sink: str) -> list[str]:
    used = [parent for name in ancestors(graph, sink) for parent in graph[name].parents]
    return [name for name in graph if used.count(name) > 1]


def counterexample_worked() -> list[Case]:
    says = "smallest_counterexample()"
    return [{"part": "wrong", "says": says, "size": 1.0}, {"part": "small", "says": says, "size": 1.0}]


def constructed(name: str, says: str, text: str, **inputs: float) -> Misconception:
    return Misconception(name, says, lambda: (lambda: (*parse(text)[:1], inputs, parse(text)[1]),), ADDITION)


COUNTEREXAMPLE_MISCONCEPTIONS = (
    constructed(
        "hidden-at-zero",
        "The graph is right, but at 0 both messages are 0, and the fault cannot be seen.",
        "y = a*a",
        a=0.0,
    ),
)


# ---- 3.9 Order matters ----------------------------------------------------------------------------------------------


def judge_orders(case: Case, seen: Any) -> Finding | None:
    read = read_graph(seen["graph"], seen["inputs"], seen["sink"])
    if isinstance(read, Finding):
        return read
    graph, inputs, sink = read
    told = "; ".join(step(name, graph[name]) for name in order(graph) if graph[name].op not in LEAVES)
    judge = {"orders": _judge_two_orders, "bad-order": _judge_bad_order, "lost": _judge_lost}[case["part"]]
    text = judge(graph, inputs, sink, seen)
    return Finding(f"{told}: {text}", where=case["part"]) if text else None


def _listing(name: str, found: Any, graph: Graph) -> str | None:
    if not isinstance(found, list) or sorted(map(str, found)) != sorted(graph):
        return f'"{name}" should list all {len(graph)} nodes of the graph, each once.'
    return None


def _judge_two_orders(graph: Graph, inputs: Numbers, sink: str, seen: Any) -> str | None:
    for name in ("order_1", "order_2"):
        found = seen[name]
        text = _listing(name, found, graph)
        if text:
            return text
        for node in found:
            for parent in graph[node].parents:
                if found.index(parent) > found.index(node):
                    return f'in "{name}" {node} stands before its parent {parent}.'
    return "the two orders are the same list." if seen["order_1"] == seen["order_2"] else None


def _too_early(graph: Graph, firing: Sequence[str]) -> list[tuple[str, str]]:
    """(child, parent) for every parent that fires before its child."""
    return [
        (child, parent)
        for child in firing
        for parent in graph[child].parents
        if firing.index(parent) < firing.index(child)
    ]


def _judge_bad_order(graph: Graph, inputs: Numbers, sink: str, seen: Any) -> str | None:
    firing = seen["bad_reverse_order"]
    text = _listing("bad_reverse_order", firing, graph)
    if text:
        return text
    if firing[0] != sink:
        return f'"bad_reverse_order" begins with {firing[0]}. It is the order of firing: the sink, {sink}, comes first.'
    if not _too_early(graph, firing):
        return '"bad_reverse_order" is a valid one: every node fires after all its children.'
    values = forward(graph, inputs)
    right = reference(to_json(graph), inputs, sink).adjoints
    yours = adjoints(graph, values, sink, firing=firing)
    if all(close(yours[name], right[name]) for name in inputs):
        shown = ", ".join(f"{name}: {show(yours[name])}" for name in inputs)
        return f"firing in your bad order still gives the right derivatives ({shown}). Nothing that mattered was lost."
    return None


def _judge_lost(graph: Graph, inputs: Numbers, sink: str, seen: Any) -> str | None:
    firing, lost = seen["bad_reverse_order"], seen["lost"]
    text = _listing("bad_reverse_order", firing, graph)
    if text:
        return text
    if not isinstance(lost, list) or len(lost) != 2:
        return '"lost" should be a pair (child, parent).'
    child, parent = lost
    if child not in graph or parent not in graph[child].parents:
        swapped = parent in graph and child in graph[parent].parents
        return f"there is no edge from {parent} to {child}." + (
            " The pair is (child, parent): the message goes from the child to the parent." if swapped else ""
        )
    if (child, parent) not in _too_early(graph, firing):
        return f"{child} fires before {parent} in your bad order, so its message is passed on."
    if not graph[parent].parents:
        return f"{parent} is an input: it passes nothing on, so a late message to it is not lost."
    return None


def orders_worked() -> list[Case]:
    return [
        {"part": part, "says": "order_matters()", "size": float(i)}
        for i, part in enumerate(("orders", "bad-order", "lost"))
    ]


def wrong_orders(name: str, says: str, **change: Any) -> Misconception:
    graph, sink = parse("u = a*b; v = u + a; w = tanh(b); L = v*w")
    right = {
        "graph": graph,
        "inputs": {"a": 1.5, "b": -0.7},
        "sink": sink,
        "order_1": ["a", "b", "u", "v", "w", "L"],
        "order_2": ["b", "a", "w", "u", "v", "L"],
        "bad_reverse_order": ["L", "u", "v", "w", "a", "b"],
        "lost": ("v", "u"),
    }
    return Misconception(name, says, lambda: (lambda: {**right, **change},), DEPENDENCY)


ORDERS_MISCONCEPTIONS = (
    wrong_orders("pair-reversed", '"lost" is a pair (child, parent), in this order.', lost=("u", "v")),
)


# ---- 3.10 Edges and visits ------------------------------------------------------------------------------------------


def visits_worked() -> list[Case]:
    return [
        graph_case("edges", "L = a*b + a", {"a": 2.0, "b": -3.0}),
        graph_case("edges", "y = a*a", {"a": 3.0}),
        graph_case("visits", "L = a*b + a", {"a": 2.0, "b": -3.0}),
        graph_case("visits", "y = a*a", {"a": 3.0}),
        {**graph_case("visits", "L = a*b + a", {"a": 2.0, "b": -3.0}), "again": True},
    ]


def visits_cases(rng: Rng) -> list[Case]:
    rungs = 12
    ladder = "; ".join(
        f"{'abcdefghijklmnop'[k + 1]} = {'abcdefghijklmnop'[k]} + {'abcdefghijklmnop'[k]}" for k in range(rungs)
    )
    cases = []
    for part in ("edges", "visits"):
        cases.append(graph_case(part, ladder, {"a": 1.5}))
        cases += [drawn_case(part, *random_graph(rng, 2, steps, ("+", "*"))) for steps in (4, 9)]
    return [*cases, {**drawn_case("visits", *random_graph(rng, 2, 5, ("+", "*"))), "again": True}]


def judge_visits(case: Case, seen: Any) -> Finding | None:
    graph = from_json(case["graph"])
    slots = sum(len(node.parents) for node in graph.values())
    # An engine that keeps parents in a set knows a*a as one edge.
    accepted = {slots, sum(len(set(node.parents)) for node in graph.values())} if seen["sets"] else {slots}
    told = f"{case['text']}: "
    if case["part"] == "edges":
        if seen["edges"] in accepted:
            return None
        return Finding(
            f"{told}you count {_counted(seen['edges'], 'edge')}; expected {slots}, one for each slot of each operation.",
            where="edges",
            size=case["size"],
        )
    if seen["passes"] == 0:
        return Finding(
            f"{told}you say {_counted(seen['visits'], 'message')}, but your function never called root.backward(), so "
            "nothing was counted. Messages are counted while a pass runs.",
            where="visits",
            size=case["size"],
        )
    # What the probe itself counted serves an engine whose backward fires more than it should.
    if is_number(seen["counted"]):
        accepted = accepted | {seen["counted"]}
    if case.get("again") and seen["passes"]:
        at_root = graph[case["sink"]].parents
        accepted = {n + k for n in accepted for k in (len(at_root), len(set(at_root)))}
        if seen["visits"] not in accepted:
            return Finding(
                f"{told}here the check let the rule of {case['sink']} run once more at the end of root.backward(), so "
                f"{slots + len(at_root)} messages were sent; you count {show(seen['visits'])}. Count in each rule, while "
                "it runs, and read off the count after the pass.",
                where="visits",
                size=case["size"] + 0.5,
            )
    if seen["visits"] in accepted:
        return None
    return Finding(
        f"{told}you count {_counted(seen['visits'], 'message')} in one backward pass; expected {slots}: every node fires "
        "once and sends one message for each slot.",
        where="visits",
        size=case["size"],
    )


def _counted(n: Any, what: str) -> str:
    return f"{show(n)} {what}{'' if n == 1 else 's'}"


def same_visits(case: Case, predicted: Any, seen: Any) -> bool:
    """Equal in the number that the case's part asks for, and in whether a pass was run for it."""
    part = case["part"]
    return bool(predicted[part] == seen[part]) and (
        part == "edges" or bool(predicted["passes"]) == bool(seen["passes"])
    )


def wrong_count(
    name: str, says: str, count: Callable[[list[Any]], tuple[int, int]], runs: bool = True
) -> Misconception:
    def objects() -> tuple[Any, ...]:
        engine = make_engine()

        def edge_visits(root: Any) -> tuple[int, int]:
            if runs:
                root.backward()
            return count(engine.topological_order(root))

        return edge_visits, engine.Value

    return Misconception(name, says, objects, COST)


def _paths(nodes: list[Any]) -> int:
    """Visits when every path is walked by itself."""
    paths = {id(nodes[-1]): 1}
    for node in reversed(nodes):
        for parent in node._parents:
            paths[id(parent)] = paths.get(id(parent), 0) + paths[id(node)]
    return sum(len(node._parents) * paths[id(node)] for node in nodes)


def _edges(nodes: list[Any]) -> int:
    return sum(len(node._parents) for node in nodes)


def _distinct(nodes: list[Any]) -> int:
    return sum(len(set(node._parents)) for node in nodes)


COUNT_MISCONCEPTIONS = (
    wrong_count(
        "counts-nodes",
        "You counted nodes. An edge leads from a parent into one slot of a child; an operation with two slots has two.",
        lambda nodes: (len(nodes), _edges(nodes)),
    ),
    wrong_count(
        "counts-nodes",
        "You counted the nodes that fire. Each of them sends one message for each slot.",
        lambda nodes: (_edges(nodes), sum(bool(node._parents) for node in nodes)),
    ),
    wrong_count(
        "counts-nodes",
        "You counted nodes. An edge leads from a parent into one slot of a child; an operation with two slots has two.",
        lambda nodes: (len(nodes), len(nodes)),
    ),
    wrong_count(
        "one-message-per-parent",
        "a*a has two slots, both filled by a: two edges, two messages.",
        lambda nodes: (_distinct(nodes), _distinct(nodes)),
    ),
    wrong_count(
        "counts-paths",
        "You counted along every path. Edges that paths share are visited once.",
        lambda nodes: (_edges(nodes), _paths(nodes)),
    ),
    wrong_count(
        "counts-paths",
        "You counted along every path. Edges that paths share are counted once.",
        lambda nodes: (_paths(nodes), _paths(nodes)),
    ),
    wrong_count(
        "visits-not-counted",
        "Your number of messages comes from the graph alone. That it equals the number of edges is what the count is to "
        "show.",
        lambda nodes: (_edges(nodes), _edges(nodes)),
        runs=False,
    ),
)


# ---- 3.11 Predict, then run -----------------------------------------------------------------------------------------

PASSES, DETACHED = (6.0, 12.0, 18.0), 3.0


def prediction_worked() -> list[Case]:
    return [
        {"part": part, "says": "my_prediction()", "size": float(i)} for i, part in enumerate(("passes", "detached"))
    ]


def judge_prediction(case: Case, seen: Any) -> Finding | None:
    if case["part"] == "detached":
        if close(seen["detached"], DETACHED):
            return None
        return Finding(
            f"You predict {show(seen['detached'])} for x·Value(x.data) at 3. Run the cell below and see what arrives at "
            "x. Which of the two slots leads to x?",
            where="detached",
            size=1,
        )
    if len(seen["passes"]) == 3 and all(close(g, p) for g, p in zip(seen["passes"], PASSES, strict=True)):
        return None
    shown = ", ".join(show(g) for g in seen["passes"][:6])
    return Finding(
        f"You predict {shown} for three rounds of x·x at 3. Run the cell below and compare. One round alone gives 6; "
        "what is there when the next one begins?",
        where="passes",
    )


def predicted(name: str, says: str, passes: Iterable[float] = PASSES, detached: float = DETACHED) -> Misconception:
    answer = {"passes": list(passes), "detached": detached}
    reread = ("Two kinds of accumulation", "Two-kinds-of-accumulation") if tuple(passes) != PASSES else OUTSIDE
    return Misconception(name, says, lambda: (lambda: answer,), reread)


PREDICTION_MISCONCEPTIONS = (
    predicted(
        "gradients-overwrite-by-default",
        "You expect each round to replace the one before. By default gradients of leaves add up.",
        (6.0, 6.0, 6.0),
    ),
    predicted(
        "doubles-each-pass",
        "You expect doubling. Each round adds the same amount; it does not multiply what is there.",
        (6.0, 12.0, 24.0),
    ),
    predicted(
        "sums-accumulated",
        "You expect each round to send again what has piled up. The graph is built anew each round; only x is old.",
        (6.0, 18.0, 36.0),
    ),
    predicted(
        "detach-ignored",
        "You differentiate x² as if both factors were x. One of them is a new leaf, with no way back to x.",
        detached=6.0,
    ),
    predicted(
        "detach-cuts-everything",
        "You expect that nothing reaches x. Only one of the two factors is detached.",
        detached=0.0,
    ),
    predicted(
        "detach-keeps-value",
        "You give the value of the product. The question is how much of its derivative reaches x.",
        detached=9.0,
    ),
)


# ---- 3.12 Name the fault --------------------------------------------------------------------------------------------


def diagnoses_worked() -> list[Case]:
    return [{"part": f"case-{n}", "seed": n, "says": f"engine {n}", "size": float(n)} for n in (1, 2, 3)]


def judge_diagnosis(case: Case, seen: Any) -> Finding | None:
    text = bug_hunt.judged(case["seed"], seen["name"])
    return Finding(text, where=case["part"], size=case["size"]) if text else None


def no_cases(rng: Rng) -> list[Case]:
    """The answer is one object: the worked cases say all about it."""
    return []
