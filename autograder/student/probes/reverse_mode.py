"""Probes of lesson 3: what the checks compute with a learner's functions and classes."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from autograder.evidence import NotANumber, number
from autograder.student.probes import Probe
from autograder.student.probes import engines as en
from autograder.student.probes.operations import right_operations, where_backward_raises
from autograder.student.probes.stand_ins import Wrap, asking_for_parents, standing_in

Case = dict[str, Any]


class Node(NamedTuple):
    """The lesson's Node, for functions that take graphs as data."""

    op: str
    parents: tuple[str, ...] = ()
    n: float = 1.0


def nodes(graph: Mapping[str, Any]) -> dict[str, Node]:
    return {name: Node(op, tuple(parents), n) for name, (op, parents, n) in graph.items()}


def adjoint_pass(case: Case, function: Any) -> Any:
    """{node: adjoint} as the function returns it, for the nodes that the graph has."""
    function = en.function_named(function, "adjoint_pass")
    with standing_in(function, asking_for_parents("graph_order")):
        found = function(nodes(case["graph"]), dict(case["values"]), case["sink"])
    if not isinstance(found, Mapping):
        raise NotANumber(f"adjoint_pass returned {en.short(found)}, not a dict from node names to numbers")
    return {name: number(found[name], f"the adjoint of {name}") for name in case["graph"] if name in found}


def local_rule(case: Case, Value: Any) -> Any:
    """One small expression: its value, and the gradients that its own rules send (3.1, 3.2).

    `peers` are other ways to write the same, so that an operation made out of others can be told from those others;
    `alive` are expressions of which at least one must send something for `peers` to mean anything.
    """
    Value = en.class_named(Value)
    seen: dict[str, Any] = {"data": None}
    sink = case["sink"]
    seen["data"] = en.data_of(en.build(Value, case["graph"], case["inputs"])[sink], sink)
    seen["ways"] = en.gradients(
        Value, case["graph"], sink, case["inputs"], upstream=case["upstream"], before=case["before"]
    )
    for role in ("peers", "alive"):
        if role in case:
            seen[role] = [_quietly(Value, run) for run in case[role]]
    if "peers" in case:
        seen["peer_values"] = [_value_quietly(Value, run) for run in case["peers"]]
    return seen


def operation(case: Case, Value: Any) -> Any:
    """`local_rule` with right operations beside the one that is asked for, which may be made out of them (3.2)."""
    asked = {op for op, _, _ in case["graph"].values()} - {"+", "*"}  # those are 3.1's
    with standing_in(getattr(Value, "backward", None), right_operations(asked)):
        return local_rule(case, Value)


def _quietly(Value: Any, run: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return en.gradients(Value, run["graph"], run["sink"], run["inputs"], upstream=run["upstream"])
    except Exception:
        return {}


def _value_quietly(Value: Any, run: Mapping[str, Any]) -> float | None:
    try:
        return en.data_of(en.build(Value, run["graph"], run["inputs"])[run["sink"]])
    except Exception:
        return None


def topological_order(case: Case, function: Any, Value: Any) -> Any:
    """The positions in the graph of the nodes that the function lists; -1 for an object that is not in it."""
    function = en.function_named(function, "topological_order")
    Value = en.class_named(Value)
    if "chain" in case:
        return _order_of_chain(case, function, Value)
    try:
        objects = en.build(Value, case["graph"], case["inputs"])
        en.record_parents(objects, case["graph"])
    except NotImplementedError:
        objects = _wire(Value, case["graph"], case["inputs"])
    names = {id(x): name for name, x in objects.items()}
    listed = _listed(function(objects[case["sink"]]))
    return {"order": [names.get(id(x), "?") for x in listed]}


def _listed(found: Any) -> list[Any]:
    if found is None or isinstance(found, (str, Mapping)) or not hasattr(found, "__iter__"):
        raise NotANumber(f"topological_order returned {en.short(found)}, not a list of Values")
    return list(found)


def _wire(Value: Any, graph: en.Graph, inputs: Mapping[str, float]) -> dict[str, Any]:
    """The given class, its nodes connected by hand: exercise 3.3 does not need 3.1."""
    objects: dict[str, Any] = {}
    for name, (op, parents, _) in graph.items():
        node = objects[name] = Value(float(inputs[name]) if op == "input" else 0.0)
        node._parents = tuple(objects[p] for p in parents)
    return objects


def _order_of_chain(case: Case, function: Any, Value: Any) -> Any:
    length = case["chain"]
    one = Value(1.0)
    node = Value(0.0)
    chain = [node]
    if getattr(node, "_parents", None) == () and type(node._parents) is tuple:
        for k in range(1, length):
            parent, node = node, Value(float(k))
            node._parents = (parent,)
            chain.append(node)
    else:
        for _ in range(1, length):
            node = node + one
            chain.append(node)
    listed = [x for x in _listed(function(node)) if x is not one]
    at = [k for k in case["at"] if k < len(listed)]
    return {"length": len(listed), "at": {str(k): en.data_of(listed[k]) for k in at}}


def backward_pass(case: Case, Value: Any) -> Any:
    """The engine's own backward on a graph: the gradient of every node (3.4).

    `planted` is what the same backward gives with right rules in all nodes, so that a wrong local rule is not held
    against it, nor one that raises; `summed` is what the engine's own messages add up to when they are sent in a right
    order, which tells one fault from another; `again` is what the gradients are after a second call. Where the case has a graph
    `instead`, that one is run as well: it says the same without an operation that another exercise asks for.
    """
    Value = en.class_named(Value)
    seen: dict[str, Any] = {}
    error: BaseException | None = None
    for run in ("graph", "instead"):
        if run in case:
            planted = _planted(case, case[run], case["slopes"][run], Value) if "slopes" in case else None
            try:
                seen[run] = {**_backward_of(case, case[run], Value), "planted": planted}
            except Exception as failed:
                if planted is not None:
                    seen[run] = {"own": {}, "summed": None, "planted": planted}
                error = error or failed
    if error is not None and not seen:
        raise error
    return seen


def _backward_of(case: Case, graph: en.Graph, Value: Any) -> dict[str, Any]:
    objects = en.build(Value, graph, case["inputs"])
    root = objects[case["sink"]]
    seen: dict[str, Any] = {"data": en.data_of(root, case["sink"])}

    def grads() -> en.Numbers:
        return {name: en.grad_of(x, name) for name, x in objects.items()}

    en.run_backward(root)
    seen["own"] = grads()
    if case.get("twice"):
        en.run_backward(root)
        seen["again"] = grads()
    seen["summed"] = _summed(Value, graph, case)
    return seen


def _planted(case: Case, graph: en.Graph, slopes: Mapping[str, list[float]], Value: Any) -> en.Numbers | None:
    """The inputs' gradients by the engine's own backward over right rules; None if they cannot be put into its nodes."""
    try:
        objects = en.build(Value, graph, case["inputs"])
        en.plant(objects, graph, slopes)
        en.run_backward(objects[case["sink"]])
        return {name: en.grad_of(objects[name], name) for name in case["inputs"]}
    except Exception:
        return None


def _summed(Value: Any, graph: en.Graph, case: Case) -> en.Numbers | None:
    """What the messages of an engine add up to when they are sent in a right order; None if they cannot be driven."""
    objects = en.build(Value, graph, case["inputs"])
    try:
        adjoints = en.drive_and_add(objects[case["sink"]])
    except Exception:
        return None
    return {name: adjoints.get(id(x), 0.0) for name, x in objects.items()}


def second_backward(case: Case, Value: Any, zero_grad: Any) -> Any:
    """Gradients of the inputs after one, two, three backward calls on one graph; or what zero_grad leaves (3.5).

    `summed` is what its own messages add up to, so that a wrong local rule is not held against these calls. `planted`
    is what the same calls give every node with right rules in their place, and with the seed that 3.4 asks for where
    nothing flows without: "passes" on the case's graph, "plain" on its plain one. Where a rule raises, that is all.
    """
    Value = en.class_named(Value)
    if case["part"] == "zero-grad":
        return _zeroed(case, Value, en.function_named(zero_grad, "zero_grad"))

    def passes(graph: en.Graph, sink: str, inputs: Mapping[str, float]) -> list[en.Numbers]:
        objects = en.build(Value, graph, inputs)
        found = []
        for _ in range(3):
            en.run_backward(objects[sink])
            found.append({name: en.grad_of(objects[name], name) for name in inputs})
        return found

    seen: dict[str, Any] = {"planted": None, "passes": None}
    if "slopes" in case:
        with contextlib.suppress(Exception):  # nodes that take no other rules: what they do by themselves counts
            seen["planted"] = {
                name: _planted_passes(run, case["slopes"][name], Value)
                for name, run in (("passes", case), ("plain", case.get("plain")))
                if run is not None
            }
    try:
        seen["passes"] = passes(case["graph"], case["sink"], case["inputs"])
        seen["summed"] = _summed(Value, case["graph"], case)
        if "plain" in case:
            plain = case["plain"]
            seen["plain"] = passes(plain["graph"], plain["sink"], plain["inputs"])
    except Exception:
        if seen["planted"] is None:
            raise
        seen["passes"] = None
    return seen


def _planted_passes(run: Mapping[str, Any], slopes: Mapping[str, list[float]], Value: Any) -> list[en.Numbers]:
    """The gradient of every node after one, two, three calls of the engine's own backward over right rules."""

    def passes(seeded: str | None) -> list[en.Numbers]:
        objects = en.build(Value, run["graph"], run["inputs"])
        en.plant(objects, run["graph"], slopes, seeded)
        found = []
        for _ in range(3):
            en.run_backward(objects[run["sink"]])
            found.append({name: en.grad_of(x, name) for name, x in objects.items()})
        return found

    found = passes(None)
    return found if any(found[0].values()) else passes(run["sink"])


def _zeroed(case: Case, Value: Any, zero_grad: Any) -> Any:
    values = [Value(float(x)) for x in case["data"]]
    for value, g in zip(values, case["grads"], strict=True):
        en.set_grad(value, g)
    chosen = [values[i] for i in case["clear"]]
    zero_grad(iter(chosen) if case["iterator"] else chosen)
    # None counts as 0 only where that is what this class begins with.
    begins_with_none = getattr(Value(0.0), "grad", 0.0) is None
    return {
        "grads": [
            None if getattr(v, "grad", 0.0) is None and not begins_with_none else en.grad_of(v, f"value {i}")
            for i, v in enumerate(values)
        ],
        "data": [en.data_of(v) for v in values],
    }


def diamond_loss(case: Case, function: Any, Value: Any) -> Any:
    """The loss, and its gradient by the engine's own backward and by PyTorch on the same function (3.6).

    PyTorch stands in so that a wrong rule of the engine is not held against the function, nor a wrong value:
    "torch_loss" is its loss, and "operations" what the engine's operations give where the right value is known.
    """
    function, Value = en.function_named(function, "diamond_loss"), en.class_named(Value)
    (x1, x2), gamma = case["x"], case["gamma"]
    inputs = [Value(x1), Value(x2)]
    loss = function(*inputs, gamma)
    seen: dict[str, Any] = {"loss": en.data_of(loss, "the loss"), "value": None, "torch": None, "torch_loss": None}
    seen["operations"] = [_value_of(Value, op, operands) for op, operands in case.get("operations", ())]
    asked = case["part"] != "loss"
    error: BaseException | None = None
    try:
        if asked:
            en.run_backward(loss)
            seen["value"] = [en.grad_of(x, f"x{i}") for i, x in enumerate(inputs, 1)]
    except Exception as failed:
        error = failed
    try:
        import torch

        tensors = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in (x1, x2)]
        torch_loss = function(*tensors, gamma)
        seen["torch_loss"] = number(torch_loss, "the loss")
        if asked:
            torch_loss.backward()
            seen["torch"] = [number(t.grad, "grad") or 0.0 for t in tensors]
    except Exception:
        if error is not None:
            raise error from None
    return seen


def _value_of(Value: Any, op: str, operands: list[float]) -> float | None:
    """The value of one operation of the engine; None if it cannot be had."""
    try:
        return en.data_of(en.apply(op, [Value(x) for x in operands], 1.0, op))
    except Exception:
        return None


def gradient_check(case: Case, function: Any) -> Any:
    """The report on a function that is made here (3.7).

    "own" is the gradient by the notebook's engine without gradient_check, so that a wrong engine is not held against it.
    """
    function = en.function_named(function, "gradient_check")
    report = function(scalar_function(case), list(case["values"]))
    if not isinstance(report, Mapping):
        raise NotANumber(f"gradient_check returned {en.short(report)}, not a dict")
    seen: dict[str, Any] = {}
    for name in ("engine", "finite_difference", "pytorch"):
        found = _entry(report, name)
        if isinstance(found, str) or not hasattr(found, "__iter__"):
            raise NotANumber(f'report["{name}"] is {en.short(found)}, not a list of numbers')
        seen[name] = [number(g, f"a number in {name}") for g in found]
    seen["max_disagreement"] = number(_entry(report, "max_disagreement"), "max_disagreement")
    odd, first = _entry(report, "odd_one_out"), _entry(report, "first")
    seen["odd_one_out"] = odd if odd is None else str(odd)
    seen["first"] = first if first is None else number(first, "first")
    seen["own"] = _own_gradient(case, getattr(function, "__globals__", {}).get("Value"))
    return seen


def _own_gradient(case: Case, Value: Any) -> list[float] | None:
    try:
        leaves = [Value(x) for x in case["values"]]
        en.run_backward(scalar_function(case)(leaves))
        return [en.grad_of(leaf, "an input") for leaf in leaves]
    except Exception:
        return None


def _entry(report: Mapping[str, Any], name: str) -> Any:
    if name not in report:
        raise NotANumber(f'the dict has no entry "{name}"')
    return report[name]


def scalar_function(case: Case) -> Any:
    """f(x) of one sequence of scalars of any kind, from a graph over x0, x1, …

    A leaf k0 in `cuts` is x0 too, but a constant for the witnesses named there.
    """
    graph, sink, cuts = case["graph"], case["sink"], case["cuts"]

    def f(x: Any) -> Any:
        objects: dict[str, Any] = {}
        for name, (op, parents, n) in graph.items():
            if op == "input":
                scalar = x[int(name[1:])]
                objects[name] = _constant(scalar) if _witness(scalar) in cuts.get(name, ()) else scalar
            elif op == "number":
                objects[name] = n
            else:
                objects[name] = en.apply(op, [objects[p] for p in parents], n, name)
        return objects[sink]

    return f


def _witness(scalar: Any) -> str:
    if hasattr(scalar, "detach"):
        return "pytorch"
    return "finite_difference" if isinstance(scalar, (int, float)) or hasattr(scalar, "dtype") else "engine"


def _constant(scalar: Any) -> Any:
    return scalar.detach() if hasattr(scalar, "detach") else scalar.data


def plain_graph(graph: Any) -> dict[str, list[Any]]:
    """A graph that a learner constructed, as JSON."""
    if not isinstance(graph, Mapping):
        raise NotANumber(f"the graph is {en.short(graph)}, not a dict from names to Nodes")
    found: dict[str, list[Any]] = {}
    for name, node in graph.items():
        if not isinstance(node, tuple) or not node or isinstance(node[0], tuple):
            raise NotANumber(f"node {name} is {en.short(node)}, not a Node")
        op, parents, n = (*node, *((), 1.0)[len(node) - 1 :])[:3]
        if isinstance(parents, str) or not hasattr(parents, "__iter__"):
            raise NotANumber(f"the parents of node {name} are {en.short(parents)}, not a tuple of names")
        found[str(name)] = [str(op), [str(p) for p in parents], number(n, f"n of node {name}")]
    return found


def plain_inputs(inputs: Any) -> dict[str, float | None]:
    if not isinstance(inputs, Mapping):
        raise NotANumber(f"the inputs are {en.short(inputs)}, not a dict from names to numbers")
    return {str(name): number(x, f"input {name}") for name, x in inputs.items()}


def smallest_counterexample(case: Case, function: Any) -> Any:
    found = en.function_named(function, "smallest_counterexample")()
    if not isinstance(found, (tuple, list)) or len(found) != 3:
        raise NotANumber(f"smallest_counterexample returned {en.short(found)}, not (graph, inputs, sink)")
    graph, inputs, sink = found
    return {"graph": plain_graph(graph), "inputs": plain_inputs(inputs), "sink": str(sink)}


def order_matters(case: Case, function: Any) -> Any:
    found = en.function_named(function, "order_matters")()
    if not isinstance(found, Mapping):
        raise NotANumber(f"order_matters returned {en.short(found)}, not a dict")
    seen: dict[str, Any] = {
        "graph": plain_graph(_entry(found, "graph")),
        "inputs": plain_inputs(_entry(found, "inputs")),
        "sink": str(_entry(found, "sink")),
    }
    wanted = {"orders": ("order_1", "order_2"), "bad-order": ("bad_reverse_order",)}
    for name in wanted.get(case["part"], ("bad_reverse_order", "lost")):
        names = _entry(found, name)
        if isinstance(names, str) or not hasattr(names, "__iter__"):
            wanted_kind = "a pair (child, parent)" if name == "lost" else "a list of names"
            raise NotANumber(f'"{name}" is {en.short(names)}, not {wanted_kind}')
        seen[name] = [str(x) for x in names]
    return seen


@contextlib.contextmanager
def _watched(root: Any, again: bool) -> Iterator[list[int | None]]:
    """Counts the calls of root.backward() in the list's one entry."""
    kind, rule = type(root), getattr(root, "_backward", None)
    own, inherited = getattr(kind, "backward", None), "backward" not in vars(kind)
    if not callable(own) or not callable(rule):
        yield [None]
        return
    takes_gradient = bool(inspect.signature(rule).parameters)
    passes: list[int | None] = [0]

    def backward(self: Any, *args: Any, **more: Any) -> Any:
        found = own(self, *args, **more)
        if self is root:
            passes[0] = (passes[0] or 0) + 1
            if again:
                self._backward(*(self.grad,) * takes_gradient)
        return found

    kind.backward = backward
    try:
        yield passes
    finally:
        if inherited:
            del kind.backward
        else:
            kind.backward = own


def edge_visits(case: Case, function: Any, Value: Any) -> Any:
    """(edges, visits) as the function says, and the messages of one backward pass as they are counted here (3.10).

    "passes" is how often the function ran root.backward(), None where that cannot be seen. In a case with "again" the
    root's rule runs once more at the end of each pass, so that only who counts knows how many messages were sent.
    """
    function, Value = en.function_named(function, "edge_visits"), en.class_named(Value)
    root = _recorded(Value, case)
    with _watched(root, bool(case.get("again"))) as passes:
        found = function(root)
    if not isinstance(found, (tuple, list)) or len(found) != 2:
        raise NotANumber(f"edge_visits returned {en.short(found)}, not (edges, visits)")
    edges, visits = (number(x, what) for x, what in zip(found, ("edges", "visits"), strict=True))
    seen = {
        "edges": edges, "visits": visits, "sets": en.keeps_parents_in_a_set(root), "counted": None, "passes": passes[0]
    }  # fmt: skip
    try:
        seen["counted"] = en.count_messages(_recorded(Value, case))
    except Exception:
        seen["counted"] = None
    return seen


def _recorded(Value: Any, case: Case) -> Any:
    """The root of the case's graph; nodes without parents or without a rule have got them, since 3.1 marks that."""
    objects = en.build(Value, case["graph"], case["inputs"])
    en.record_parents(objects, case["graph"])
    for name, (_, parents, _) in case["graph"].items():
        if parents and getattr(objects[name], "_backward", "") is None:
            objects[name]._backward = lambda *given: None
    return objects[case["sink"]]


def my_prediction(case: Case, function: Any) -> Any:
    found = en.function_named(function, "my_prediction")()
    if not isinstance(found, Mapping):
        raise NotANumber(f"my_prediction returned {en.short(found)}, not a dict")
    if case["part"] == "detached":
        return {"detached": number(_entry(found, "detached"), "detached")}
    passes = _entry(found, "passes")
    if isinstance(passes, str) or not hasattr(passes, "__iter__"):
        raise NotANumber(f'"passes" is {en.short(passes)}, not a list of three numbers')
    return {"passes": [number(g, "a number in passes") for g in passes]}


def diagnoses(case: Case, function: Any) -> Any:
    found = en.function_named(function, "diagnoses")()
    if not isinstance(found, Mapping):
        raise NotANumber(f"diagnoses returned {en.short(found)}, not a dict from engine numbers to names")
    name = found.get(case["seed"], found.get(str(case["seed"])))
    return {"name": None if name is None else str(name)[:200]}


def _in_order(own: Any) -> Any:
    """The learner's topological_order of Values; where what it gives is no order, one that is takes its place."""

    def topological_order(root: Any) -> Any:
        right = en.children_first(root)[::-1]
        try:
            found = list(own(root))
        except NotImplementedError:
            raise
        except Exception:
            return right
        place = {id(node): k for k, node in enumerate(found)}
        ordered = len(found) == len(place) == len(right) and all(
            id(parent) in place and place[id(parent)] < place[id(node)]
            for node in found
            for parent in en.parents_of(node) or ()
        )
        return found if ordered else right

    return topological_order


def _on_right_operations(probe: Callable[..., Any], **more: Wrap) -> Probe:
    """`probe`, with right operations where the notebook's own give no such Values; `more` wraps other functions of it."""

    def run(case: Case, *objects: Any) -> Any:
        with standing_in(getattr(objects[0], "backward", objects[0]), {**right_operations(), **more}):
            return probe(case, *objects)

    return run


_ordered = partial(_on_right_operations, topological_order=_in_order)


PROBES: dict[str, Probe] = {
    "3.0": adjoint_pass,
    "3.1": local_rule,
    "3.2": operation,
    "3.3": _on_right_operations(topological_order),
    "3.4": _ordered(backward_pass),
    "3.5": _ordered(second_backward),
    "3.6": _on_right_operations(diamond_loss),
    "3.7": _ordered(gradient_check, value_backward=where_backward_raises),
    "3.8": smallest_counterexample,
    "3.9": order_matters,
    "3.10": _ordered(edge_visits, value_backward=where_backward_raises),
    "3.11": my_prediction,
    "3.12": diagnoses,
}
