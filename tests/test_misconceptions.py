"""Every listed wrong rule, written down once more as learners write it, is named, and costs only its own parts."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from autograder.exercises import bug_hunt, exercises_of
from autograder.exercises.engines import FAULTS
from autograder.student.broken import broken_engine
from autograder.verdict import PASSED
from tests.checking import failed_parts, graded
from tests.learners import Edit, written

ADD, MUL, SUB, DIV = ("+= 1.0 * out.grad  # add, left", "+= 1.0 * out.grad  # add, right"), (
    "+= other.data * out.grad  # mul, left",
    "+= self.data * out.grad  # mul, right",
), ("+= 1.0 * out.grad  # sub, left", "+= -1.0 * out.grad  # sub, right"), (
    "+= 1.0 / other.data * out.grad  # div, left",
    "+= -self.data / other.data**2 * out.grad  # div, right",
)  # fmt: skip
F_ADD, F_MUL = (
    ("+= g  # add, left", "+= g  # add, right"),
    ("+= s.data * g  # mul, left", "+= r.data * g  # mul, right"),
)
TANH, EXP, LOG, RELU, POW, NEG = (
    "+= (1 - t**2) * out.grad", "+= out.data * out.grad  # exp", "+= 1 / self.data * out.grad", "+= (self.data > 0) * out.grad",
    "+= n * self.data ** (n - 1) * out.grad", "+= -1.0 * out.grad  # neg",
)  # fmt: skip
F_TANH, F_EXP, F_LOG, F_POW = "+= g * (1 - t * t)", "+= g * y", "+= g / r.data", "+= g * n * r.data ** (n - 1)"
F_RELU = "        if r.data > 0:\n            r.grad += g  # relu"
ONE_BACKWARD = """        visit(self)
        for node in order:
            if node._parents:
                node.grad = 0.0
        self.grad = 1.0
        for node in reversed(order):
            node._backward()
"""
F_BACKWARD = """    order = topological_order(root)
    for node in order:
        if node._backward:
            node.grad = 0.0
    root.grad = 1.0
    for node in reversed(order):
        if node._backward:
            node._backward(node.grad)
"""
F_ROOT = "root.grad = 1.0\n    for node in reversed(order)"


def instead(*lines: str) -> str:
    return "".join(f"{line}\n" for line in lines)


@dataclass(frozen=True)
class Wrong:
    """A wrong answer to `exercise`: what it is called, the parts that it costs, and how two learners write it."""

    name: str
    exercise: str
    parts: tuple[str, ...]
    whole: tuple[Edit, ...] = ()
    functions: tuple[Edit, ...] = ()
    label: str = ""


def assigned(*rules: str) -> tuple[Edit, ...]:
    return tuple((rule, rule.replace("+=", "=", 1)) for rule in rules)


def nothing(rule: str) -> Edit:
    """The message goes to a name of the rule's own."""
    return rule, rule.replace("+=", "+ 0.0; message =", 1)


OPS = ("tanh", "exp", "log", "relu", "pow")
WRONG = (
    # 3.1
    Wrong("overwrites-gradient", "3.1", ("accumulate",), assigned(*ADD, *MUL), assigned(*F_ADD, *F_MUL)),
    Wrong("overwrites-in-one-operation", "3.1", ("accumulate",), assigned(*ADD), assigned(*F_ADD), "add"),
    Wrong("overwrites-in-one-operation", "3.1", ("accumulate",), assigned(*MUL), assigned(*F_MUL), "mul"),
    Wrong(
        "swaps-add-and-multiply", "3.1", ("add", "mul"),
        ((ADD[0], "+= other.data * out.grad"), (ADD[1], "+= self.data * out.grad"),
         (MUL[0], "+= out.grad"), (MUL[1], "+= out.grad")),
        ((F_ADD[0], "+= s.data * g"), (F_ADD[1], "+= r.data * g"), (F_MUL[0], "+= g"), (F_MUL[1], "+= g")),
    ),
    Wrong("multiplies-like-add", "3.1", ("mul",), ((MUL[0], "+= out.grad"), (MUL[1], "+= out.grad")),
          ((F_MUL[0], "+= g"), (F_MUL[1], "+= g"))),
    Wrong("adds-like-multiply", "3.1", ("add",),
          ((ADD[0], "+= other.data * out.grad"), (ADD[1], "+= self.data * out.grad")),
          ((F_ADD[0], "+= s.data * g"), (F_ADD[1], "+= r.data * g"))),
    Wrong("wrong-closure-target", "3.1", ("add",), (nothing(ADD[0]), nothing(ADD[1])),
          (nothing(F_ADD[0]), nothing(F_ADD[1])), "add"),
    Wrong("wrong-closure-target", "3.1", ("mul",), (nothing(MUL[0]), nothing(MUL[1])),
          (nothing(F_MUL[0]), nothing(F_MUL[1])), "mul"),
    Wrong("ignores-upstream", "3.1", ("mul",), ((MUL[0], "+= other.data"), (MUL[1], "+= self.data")),
          ((F_MUL[0], "+= s.data"), (F_MUL[1], "+= r.data"))),
    Wrong("ignores-upstream", "3.1", ("add", "mul"),
          ((ADD[0], "+= 1"), (ADD[1], "+= 1"), (MUL[0], "+= other.data"), (MUL[1], "+= self.data")),
          ((F_ADD[0], "+= 1"), (F_ADD[1], "+= 1"), (F_MUL[0], "+= s.data"), (F_MUL[1], "+= r.data")), "both"),
    Wrong("adds-instead-of-multiplies", "3.1", ("mul",),
          ((MUL[0], "+= other.data + out.grad"), (MUL[1], "+= self.data + out.grad")),
          ((F_MUL[0], "+= s.data + g"), (F_MUL[1], "+= r.data + g"))),
    Wrong("uses-sibling-gradient", "3.1", ("mul",),
          ((MUL[0], "+= other.grad * out.grad"), (MUL[1], "+= self.grad * out.grad")),
          ((F_MUL[0], "+= s.grad * g"), (F_MUL[1], "+= r.grad * g"))),
    Wrong("uses-own-data", "3.1", ("mul",),
          ((MUL[0], "+= self.data * out.grad"), (MUL[1], "+= other.data * out.grad ")),
          ((F_MUL[0], "+= r.data * g"), (F_MUL[1], "+= s.data * g "))),
    Wrong("uses-output-data", "3.1", ("mul",),
          ((MUL[0], "+= out.data * out.grad"), (MUL[1], "+= out.data * out.grad")),
          ((F_MUL[0], "+= r.data * s.data * g"), (F_MUL[1], "+= r.data * s.data * g"))),
    Wrong("parents-not-recorded", "3.1", ("add",),
          (("out = Value(self.data + other.data, (self, other))", "out = Value(self.data + other.data)"),),
          (("Value(r.data + s.data, (r, s), back)", "Value(r.data + s.data, (), back)"),)),
    # 3.2
    Wrong("overwrites-gradient", "3.2", OPS, assigned(TANH, EXP, LOG, RELU, POW),
          (*assigned(F_TANH, F_EXP, F_LOG, F_POW), (F_RELU, "        r.grad = g if r.data > 0 else 0.0"))),
    Wrong("overwrites-in-one-operation", "3.2", ("tanh",), assigned(TANH), assigned(F_TANH), "tanh"),
    Wrong("overwrites-in-one-operation", "3.2", ("exp",), assigned(EXP), assigned(F_EXP), "exp"),
    Wrong("overwrites-in-one-operation", "3.2", ("pow",), assigned(POW), assigned(F_POW), "pow"),
    Wrong("overwrites-in-one-operation", "3.2", ("sub",), assigned(*SUB), (), "sub"),
    Wrong("overwrites-in-one-operation", "3.2", ("div",), assigned(*DIV), (), "div"),
    Wrong("wrong-closure-target", "3.2", ("exp",), (nothing(EXP),), (nothing(F_EXP),)),
    Wrong("ignores-upstream", "3.2", OPS,
          ((TANH, "+= 1 - t**2"), (EXP, "+= out.data"), (LOG, "+= 1 / self.data"), (RELU, "+= self.data > 0"),
           (POW, "+= n * self.data ** (n - 1)")),
          ((F_TANH, "+= 1 - t * t"), (F_EXP, "+= y"), (F_LOG, "+= 1 / r.data"),
           (F_RELU, "        r.grad += 1.0 * (r.data > 0)"), (F_POW, "+= n * r.data ** (n - 1)"))),
    Wrong("ignores-upstream", "3.2", ("log",), ((LOG, "+= 1 / self.data"),), ((F_LOG, "+= 1 / r.data"),), "log"),
    Wrong("adds-instead-of-multiplies", "3.2", ("exp",), ((EXP, "+= out.data + out.grad"),), ((F_EXP, "+= g + y"),)),
    Wrong("tanh-from-input", "3.2", ("tanh",), ((TANH, "+= (1 - self.data**2) * out.grad"),),
          ((F_TANH, "+= g * (1 - r.data * r.data)"),)),
    Wrong("tanh-one-minus", "3.2", ("tanh",), ((TANH, "+= (1 - t) * out.grad"),), ((F_TANH, "+= g * (1 - t)"),)),
    Wrong("tanh-one-plus", "3.2", ("tanh",), ((TANH, "+= (1 + t**2) * out.grad"),), ((F_TANH, "+= g * (1 + t * t)"),)),
    Wrong("exp-is-input", "3.2", ("exp",), ((EXP, "+= self.data * out.grad"),), ((F_EXP, "+= g * r.data"),)),
    Wrong("exp-power-rule", "3.2", ("exp",), ((EXP, "+= self.data * math.exp(self.data - 1) * out.grad"),),
          ((F_EXP, "+= g * r.data * math.exp(r.data - 1)"),)),
    Wrong("log-from-output", "3.2", ("log",), ((LOG, "+= 1 / out.data * out.grad"),),
          ((F_LOG, "+= g / math.log(r.data)"),)),
    Wrong("log-is-input", "3.2", ("log",), ((LOG, "+= self.data * out.grad"),), ((F_LOG, "+= g * r.data"),)),
    Wrong("relu-passes-value", "3.2", ("relu",), ((RELU, "+= out.data * out.grad"),),
          ((F_RELU, "        r.grad += max(r.data, 0.0) * g"),)),
    Wrong("relu-always-one", "3.2", ("relu",), ((RELU, "+= out.grad"),), ((F_RELU, "        r.grad += g"),)),
    Wrong("relu-mask-from-gradient", "3.2", ("relu",), ((RELU, "+= (out.grad > 0) * out.grad"),),
          ((F_RELU, "        r.grad += max(g, 0.0)"),)),
    Wrong("relu-mask-inverted", "3.2", ("relu",), ((RELU, "+= (self.data < 0) * out.grad"),),
          ((F_RELU, "        if r.data < 0:\n            r.grad += g"),)),
    Wrong("power-rule-missing-n", "3.2", ("pow",), ((POW, "+= self.data ** (n - 1) * out.grad"),),
          ((F_POW, "+= g * r.data ** (n - 1)"),)),
    Wrong("power-rule-missing-minus-one", "3.2", ("pow",), ((POW, "+= n * self.data**n * out.grad"),),
          ((F_POW, "+= g * n * r.data**n"),)),
    Wrong("power-rule-minus-outside", "3.2", ("pow",), ((POW, "+= n * (self.data**n - 1) * out.grad"),),
          ((F_POW, "+= g * n * (r.data**n - 1)"),)),
    Wrong("negation-plus", "3.2", ("neg",), ((NEG, "+= out.grad"),)),
    Wrong("subtraction-plus", "3.2", ("sub",), ((SUB[1], "+= 1.0 * out.grad"),)),
    Wrong("division-plus", "3.2", ("div",), ((DIV[1], "+= self.data / other.data**2 * out.grad"),)),
    Wrong("division-wrong-denominator", "3.2", ("div",), ((DIV[1], "+= -self.data / other.data * out.grad"),)),
    Wrong("graph-cut", "3.2", ("sub",),
          (("out = Value(self.data - other.data, (self, other))", "return self + Value(-other.data)"),),
          (("return r + (-s)", "return r + -s.data"),), "sub"),
    Wrong("graph-cut", "3.2", ("neg",), (("out = Value(-self.data, (self,))", "return Value(-self.data)"),),
          (("return r * -1.0", "return Value(-r.data)"),), "neg"),
    Wrong("graph-cut", "3.2", ("div",),
          (("out = Value(self.data / other.data, (self, other))", "return self * (1 / other.data)"),),
          (("return r * s**-1", "return r * (1 / s.data)"),), "div"),
    Wrong("local-gradient-keyed-by-parent", "3.2", ("sub", "div"),
          ((f"self.grad {SUB[0]}", "slopes = {id(self): 1.0}; slopes[id(other)] = -1.0"),
           (f"other.grad {SUB[1]}", "for p in (self, other): p.grad += slopes[id(p)] * out.grad"),
           (f"self.grad {DIV[0]}", "slopes = {id(self): 1 / other.data}; slopes[id(other)] = -self.data / other.data**2"),
           (f"other.grad {DIV[1]}", "for p in (self, other): p.grad += slopes[id(p)] * out.grad"))),
    Wrong("reflected-swapped", "3.2", ("sub",), (("return Value(other) - self", "return self - other"),),
          (("return value_sub(lift(other), self)", "return value_sub(self, lift(other))"),), "sub"),
    Wrong("reflected-swapped", "3.2", ("sub", "div"),
          (("return Value(other) - self", "return self - other"), ("return Value(other) / self", "return self / other")),
          (("return value_sub(lift(other), self)", "return value_sub(self, lift(other))"),
           ("return value_div(lift(other), self)", "return value_div(self, lift(other))"))),
    Wrong("reflected-missing", "3.2", ("div",), (("__rtruediv__", "__reflected_division__"),),
          (("__rtruediv__", "reflected_division"),)),
    # 3.4
    Wrong("seed-missing", "3.4", ("chain", "paths", "fan-out", "example"), (("self.grad = 1.0\n", "pass\n"),),
          (("root.grad = 1.0\n", "pass\n"),)),
    Wrong("seed-not-one", "3.4", ("chain", "paths", "fan-out", "example"),
          (("self.grad = 1.0\n", "self.grad = self.data\n"),), (("root.grad = 1.0\n", "root.grad = 2.0\n"),)),
    Wrong("forward-order", "3.4", ("chain", "paths", "fan-out", "example"),
          ((ONE_BACKWARD, instead("        visit(self)", "        self.grad = 1.0", "        for node in order:",
                                  "            node._backward()")),),
          ((F_BACKWARD, instead("    root.grad = 1.0", "    for node in topological_order(root):",
                                "        if node._backward:", "            node._backward(node.grad)")),)),
    Wrong("one-level-only", "3.4", ("chain", "paths", "fan-out", "example"),
          ((ONE_BACKWARD, instead("        self.grad = 1.0", "        self._backward()")),),
          ((F_BACKWARD, instead("    root.grad = 1.0", "    root._backward(1.0)")),)),
    Wrong("recursion-fires-every-path", "3.4", ("paths", "fan-out"),
          (("        order = []\n        seen = set()\n", ""),
           ("            if id(node) not in seen:\n                seen.add(id(node))\n                for parent in "
            "node._parents:\n                    visit(parent)\n                order.append(node)\n",
            "            node._backward()\n            for parent in node._parents:\n                visit(parent)\n"),
           (ONE_BACKWARD, instead("        self.grad = 1.0", "        visit(self)"))),
          ((F_BACKWARD, instead("    root.grad = 1.0", "    def visit(node):", "        if node._backward:",
                                "            node._backward(node.grad)", "        for parent in node._parents:",
                                "            visit(parent)", "    visit(root)")),)),
    Wrong("fires-too-early", "3.4", ("paths", "fan-out"),
          (("                for parent in node._parents:\n                    visit(parent)\n                order.append(node)\n",
            "                node._backward()\n                for parent in node._parents:\n                    visit(parent)\n"),
           (ONE_BACKWARD, instead("        self.grad = 1.0", "        visit(self)"))),
          ((F_BACKWARD, instead("    root.grad, met, stack = 1.0, {id(root)}, [root]", "    while stack:",
                                "        node = stack.pop()", "        if node._backward:",
                                "            node._backward(node.grad)",
                                "        for parent in reversed(node._parents):",
                                "            if id(parent) not in met:", "                met.add(id(parent))",
                                "                stack.append(parent)")),)),
    Wrong("level-order", "3.4", ("paths", "fan-out"),
          ((ONE_BACKWARD, instead("        self.grad, queue, met = 1.0, [self], {id(self)}", "        for node in queue:",
                                  "            node._backward()", "            for parent in node._parents:",
                                  "                if id(parent) not in met:", "                    met.add(id(parent))",
                                  "                    queue.append(parent)")),),
          ((F_BACKWARD, instead("    root.grad, queue, met = 1.0, [root], [root]", "    while queue:",
                                "        node = queue.pop(0)", "        if node._backward:",
                                "            node._backward(node.grad)", "        for parent in node._parents:",
                                "            if parent not in met:", "                met.append(parent)",
                                "                queue.append(parent)")),)),
    Wrong("resends-accumulated", "3.4", ("paths", "fan-out"),
          ((ONE_BACKWARD, instead(
              "        def send(node):", "            before = [p.grad for p in node._parents]", "            node._backward()",
              "            after = [p.grad for p in node._parents]",
              "            for p, x in zip(node._parents, before, strict=True): p.grad = x",
              "            for p, x, y in zip(node._parents, before, after, strict=True):",
              "                p.grad += (y - x) / sum(q is p for q in node._parents)", "                send(p)",
              "        self.grad = 1.0", "        send(self)")),)),
    Wrong("visited-by-value", "3.4", ("paths", "example"),
          (("if id(node) not in seen:\n                seen.add(id(node))",
            "if node.data not in seen:\n                seen.add(node.data)"),)),
    # 3.5
    Wrong("stale-intermediates", "3.5", ("stale",),
          (("        for node in order:\n            if node._parents:\n                node.grad = 0.0\n", ""),),
          (("    for node in order:\n        if node._backward:\n            node.grad = 0.0\n", ""),)),
    Wrong("seed-added", "3.5", ("second-backward",),
          (("if node._parents:\n                node.grad", "if node._parents and node is not self:\n                node.grad"),
           ("self.grad = 1.0\n", "self.grad += 1.0\n"),)),
    Wrong("clears-leaves", "3.5", ("second-backward",),
          (("            if node._parents:\n                node.grad = 0.0\n", "            node.grad = 0.0\n"),),
          (("        if node._backward:\n            node.grad = 0.0\n", "        node.grad = 0.0\n"),)),
    Wrong("zero-grad-does-nothing", "3.5", ("zero-grad",), (("v.grad = 0.0", "v = 0.0"),),
          (("        value.grad = 0.0", "        value = 0.0"),)),
    Wrong("zero-grad-clears-data", "3.5", ("zero-grad",), (("v.grad = 0.0", "v.data = 0.0"),),
          (("        value.grad = 0.0", "        value.data = 0.0"),)),
    Wrong("zero-grad-first-only", "3.5", ("zero-grad",), (("v.grad = 0.0", "v.grad = 0.0\n        return"),)),
)  # fmt: skip
SUBMISSIONS = [(wrong, style) for wrong in WRONG for style in ("whole", "functions") if getattr(wrong, style)]


def verdict_on(wrong: Wrong, style: str, exercise: str, seed: int = 0) -> Any:
    learner = written({"whole": "whole_class", "functions": "functions"}[style], *getattr(wrong, style))
    objects = (learner["Value"], learner["zero_grad"]) if exercise == "3.5" else (learner["Value"],)
    return graded(exercise, *objects, seed=seed)


@pytest.mark.parametrize(
    ("wrong", "style"), SUBMISSIONS, ids=[f"{w.exercise}-{w.name}-{w.label or 'all'}-{s}" for w, s in SUBMISSIONS]
)
def test_a_wrong_engine_is_named_and_costs_only_its_parts(wrong: Wrong, style: str) -> None:
    for seed in range(2):
        verdict = verdict_on(wrong, style, wrong.exercise, seed)
        assert verdict.misconceptions == [wrong.name], verdict.text()
        assert failed_parts(verdict) == list(wrong.parts), verdict.text()


RULES = [(wrong, style) for wrong, style in SUBMISSIONS if wrong.exercise in ("3.1", "3.2")]


@pytest.mark.parametrize(
    ("wrong", "style"), RULES, ids=[f"{w.exercise}-{w.name}-{w.label or 'all'}-{s}" for w, s in RULES]
)
def test_a_wrong_rule_costs_nothing_elsewhere(wrong: Wrong, style: str) -> None:
    for exercise in {"3.1": ("3.4", "3.5"), "3.2": ("3.1", "3.4", "3.5")}[wrong.exercise]:
        verdict = verdict_on(wrong, style, exercise)
        assert verdict.status == PASSED, verdict.text()


def test_every_engine_fault_of_the_table_is_tried() -> None:
    assert {f.name for f in FAULTS} <= {w.name for w in WRONG}


# ---- functions ------------------------------------------------------------------------------------------------------


def wrong_adjoint_pass(fault: str) -> Callable[..., dict[str, float]]:
    """An adjoint_pass that a learner might write, with one fault."""
    slopes = {
        "+": lambda x, y, n: (1, 1), "-": lambda x, y, n: (1, -1), "*": lambda x, y, n: (x[1], x[0]),
        "/": lambda x, y, n: (1 / x[1], -x[0] / x[1] ** 2), "neg": lambda x, y, n: (-1,),
        "tanh": lambda x, y, n: (1 - y**2,), "exp": lambda x, y, n: (y,), "log": lambda x, y, n: (1 / x[0],),
        "relu": lambda x, y, n: (float(x[0] > 0),), "pow": lambda x, y, n: (n * x[0] ** (n - 1),),
        "input": lambda x, y, n: (),
    }  # fmt: skip

    def adjoint_pass(graph: Any, values: Any, sink: str) -> dict[str, float]:
        def local(name: str) -> Any:
            node = graph[name]
            return slopes[node.op]([values[p] for p in node.parents], values[name], node.n)

        order: list[str] = []

        def visit(name: str) -> None:
            if name not in order:
                for parent in graph[name].parents:
                    visit(parent)
                order.append(name)

        visit(sink)
        bar = dict.fromkeys(graph, 0.0)
        if fault == "seeds-last-node":
            bar[list(graph)[-1]] = 1.0
        elif fault != "seed-missing":
            bar[sink] = 1.0
        firing = {
            "forward-order": order,
            "trusts-dict-order": list(graph)[::-1],
            "one-level-only": [sink],
        }.get(fault, order[::-1])
        if fault == "seeds-last-node":
            for name in graph:
                visit(name)
            firing = order[::-1]
        if fault in ("recursion-fires-every-path", "fires-too-early", "level-order"):
            firing = [sink]
            if fault == "level-order":
                for name in firing:
                    firing += [p for p in dict.fromkeys(graph[name].parents) if p not in firing]
            else:

                def go(name: str) -> None:
                    for parent in graph[name].parents:
                        if fault == "recursion-fires-every-path" or parent not in firing:
                            firing.append(parent)
                            go(parent)

                go(sink)
        for name in firing:
            pairs = zip(graph[name].parents, local(name), strict=True)
            if fault == "one-message-per-parent":
                pairs = dict(pairs).items()  # type: ignore[assignment]
            for parent, slope in pairs:
                if fault == "overwrites-gradient":
                    bar[parent] = bar[name] * slope
                elif fault == "ignores-upstream":
                    bar[parent] += slope
                elif fault == "adds-instead-of-multiplies":
                    bar[parent] += bar[name] + slope
                else:
                    bar[parent] += bar[name] * slope
        return bar

    return adjoint_pass


PASSES = {
    "overwrites-gradient": ["example", "fan-out"],
    "one-message-per-parent": ["fan-out"],
    "seed-missing": ["example", "chain", "fan-out", "order"],
    "seeds-last-node": ["order"],
    "trusts-dict-order": ["order"],
    "forward-order": ["example", "chain", "fan-out", "order"],
    "one-level-only": ["example", "chain", "fan-out", "order"],
    "ignores-upstream": ["example", "chain", "fan-out", "order"],
    "adds-instead-of-multiplies": ["example", "chain", "fan-out", "order"],
    "recursion-fires-every-path": ["fan-out"],
    "fires-too-early": ["fan-out"],
    "level-order": ["fan-out"],
}


@pytest.mark.parametrize(("fault", "parts"), PASSES.items())
def test_a_wrong_adjoint_pass_is_named(fault: str, parts: list[str]) -> None:
    for seed in range(2):
        verdict = graded("3.0", wrong_adjoint_pass(fault), seed=seed)
        # On data the two give the same numbers.
        name = "only-the-sink-sends" if fault in ("forward-order", "one-level-only") else fault
        assert verdict.misconceptions == [name], verdict.text()
        assert failed_parts(verdict) == parts, verdict.text()


def children_first(root: Any) -> list[Any]:
    return post_order(root)[::-1]


def post_order(root: Any, key: Callable[[Any], Any] = id, once: bool = True) -> list[Any]:
    order: list[Any] = []
    seen = set()

    def visit(node: Any) -> None:
        if once and key(node) in seen:
            return
        seen.add(key(node))
        for parent in node._parents:
            visit(parent)
        order.append(node)

    visit(root)
    return order


def pre_order(root: Any) -> list[Any]:
    order: list[Any] = []
    todo = [root]
    while todo:
        node = todo.pop()
        if not any(node is other for other in order):
            order.append(node)
            todo.extend(reversed(node._parents))
    return order[::-1]


def levels(root: Any) -> list[Any]:
    order = [root]
    for node in order:
        for parent in node._parents:
            if not any(parent is other for other in order):
                order.append(parent)
    return order[::-1]


ORDERS: dict[str, tuple[Callable[[Any], list[Any]], list[str]]] = {
    "children-first": (children_first, ["order", "shared", "deep"]),
    "appends-before-parents": (pre_order, ["shared", "deep"]),
    "level-order": (levels, ["shared"]),
    "visits-shared-twice": (lambda root: post_order(root, once=False), ["shared", "deep"]),
    "visited-by-value": (lambda root: post_order(root, key=lambda node: node.data), ["shared", "deep"]),
    "leaves-missing": (lambda root: [v for v in post_order(root) if v._parents], ["order", "shared", "deep"]),
    "root-missing": (lambda root: post_order(root)[:-1], ["order", "shared", "deep"]),
}


@pytest.mark.parametrize("name", ORDERS)
def test_a_wrong_topological_order_is_named(name: str) -> None:
    function, parts = ORDERS[name]

    # Quadratic look-ups would take minutes on the deep chain, and recursion does not get there anyway.
    def shallow(root: Any) -> list[Any]:
        if root.data == 99_999.0:
            raise RecursionError("maximum recursion depth exceeded")
        return function(root)

    for seed in range(2):
        verdict = graded("3.3", shallow, written("functions")["Value"], seed=seed)
        assert verdict.misconceptions == [name], verdict.text()
        assert [p for p in failed_parts(verdict) if p != "deep"] == [p for p in parts if p != "deep"], verdict.text()


def test_a_recursive_order_loses_only_the_deep_chain() -> None:
    verdict = graded("3.3", post_order, written("functions")["Value"])
    assert failed_parts(verdict) == ["deep"]
    assert verdict.misconceptions == []
    assert "RecursionError" in verdict.message and "100,000" in verdict.message


def diamond(fault: str) -> Callable[[Any, Any, float], Any]:
    def diamond_loss(x1: Any, x2: Any, gamma: float) -> Any:
        if fault == "positive-inputs-only":
            s = 1 - x1.relu() - x2.relu()
        elif fault == "graph-cut" and not hasattr(x1, "requires_grad"):
            s = 1 - (x1 * 0 + abs(x1.data)) - (x2 * 0 + abs(x2.data))
        elif fault == "graph-cut":
            s = 1 - (x1 * 0 + abs(x1.item())) - (x2 * 0 + abs(x2.item()))
        else:
            s = 1 - (x1.relu() + (-x1).relu()) - (x2.relu() + (-x2).relu())
        a, b = s * gamma, s * -gamma
        p = a.exp() / (a.exp() + b.exp())
        return {
            "target-outside": lambda: -(b.exp() / (a.exp() + b.exp())).log(),
            "log-without-minus": p.log,
            "one-logit": lambda: -(a.exp() / (a.exp() + 1)).log(),
            "probability-not-log": lambda: 1 - p,
        }.get(fault, lambda: -p.log())()

    return diamond_loss


DIAMONDS = {
    "target-outside": ["loss", "gradient", "quadrants"],
    "log-without-minus": ["loss", "gradient", "quadrants"],
    "one-logit": ["loss", "gradient", "quadrants"],
    "probability-not-log": ["loss", "gradient", "quadrants"],
    "positive-inputs-only": ["quadrants"],
    "graph-cut": ["gradient", "quadrants"],
}


@pytest.mark.parametrize(("fault", "parts"), DIAMONDS.items())
def test_a_wrong_diamond_loss_is_named(fault: str, parts: list[str]) -> None:
    for seed in range(2):
        verdict = graded("3.6", diamond(fault), written("functions")["Value"], seed=seed)
        assert verdict.misconceptions == [fault], verdict.text()
        assert failed_parts(verdict) == parts


def test_a_wrong_rule_of_the_engine_is_not_held_against_the_diamond() -> None:
    Value = written("whole_class", (EXP, "+= self.data * out.grad"))["Value"]
    assert graded("3.6", diamond(""), Value).status == PASSED


def gradient_check(fault: str) -> Callable[..., dict[str, Any]]:
    def check(f: Any, values: Any, h: float = 1e-6) -> dict[str, Any]:
        import torch

        Value = written("functions")["Value"]
        leaves = [Value(x) for x in values]
        y = f(leaves)
        if isinstance(y, Value):
            y.backward()
        width = h if fault == "missing-two-in-difference" else 2 * h
        quotients = []
        for i in range(len(values)):
            up, down = list(values), list(values)
            up[i] += h
            down[i] -= h
            quotients.append((f(up) - f(down)) / width)
        x = [torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in values]
        y = f(x)
        if isinstance(y, torch.Tensor):
            y.backward()
        found = {
            "engine": [v.grad for v in leaves],
            "finite_difference": quotients,
            "pytorch": [0.0 if t.grad is None else float(t.grad) for t in x],
        }

        def error(one: str, other: str) -> list[float]:
            return [abs(g - k) / max(1, abs(g), abs(k)) for g, k in zip(found[one], found[other], strict=True)]

        pairs = {
            "pytorch": error("engine", "finite_difference"),
            "finite_difference": error("engine", "pytorch"),
            "engine": error("finite_difference", "pytorch"),
        }
        worst = [max(column) for column in zip(*pairs.values(), strict=True)]
        apart = [i for i, e in enumerate(worst) if e > 1e-5]
        alone = [name for name, errors in pairs.items() if apart and max(errors) <= 1e-5]
        odd = alone[0] if len(alone) == 1 else None
        first = apart[0] if apart else None
        if apart and fault == "blames-the-engine":
            odd = "engine"
        if apart and fault == "blames-the-differences":
            odd = "finite_difference"
        if apart and fault == "largest-not-first":
            first = max(range(len(worst)), key=worst.__getitem__)
        if apart and fault == "counts-from-one":
            first = apart[0] + 1
        return {**found, "max_disagreement": max(worst), "odd_one_out": odd, "first": first}

    return check


CHECKS = {
    "": [],
    "missing-two-in-difference": ["witnesses", "agreement"],
    "blames-the-engine": ["odd-one-out"],
    "blames-the-differences": ["odd-one-out"],
    "largest-not-first": ["first"],
    "counts-from-one": ["first"],
}


@pytest.mark.parametrize(("fault", "parts"), CHECKS.items())
def test_a_wrong_gradient_check_is_named(fault: str, parts: list[str]) -> None:
    for seed in range(3):
        verdict = graded("3.7", gradient_check(fault), seed=seed)
        assert failed_parts(verdict) == parts, verdict.text()
        if fault != "largest-not-first" or verdict.misconceptions:
            assert verdict.misconceptions == ([fault] if fault else []), verdict.text()


def edges_and_visits(fault: str) -> Callable[[Any], tuple[int, int]]:
    def count(root: Any) -> tuple[int, int]:
        nodes = post_order(root)
        edges = sum(len(v._parents) for v in nodes)
        if fault == "visits-not-counted":
            return edges, edges
        root.backward()
        if fault == "counts-nodes":
            return len(nodes), edges
        if fault == "one-message-per-parent":
            distinct = sum(len({id(p) for p in v._parents}) for v in nodes)
            return distinct, distinct
        if fault == "counts-paths":
            return edges, sum(len(v._parents) for v in post_order(root, once=False))
        return edges, edges

    return count


@pytest.mark.parametrize(
    ("fault", "parts"),
    [
        ("counts-nodes", ["edges", "visits"]),
        ("visits-not-counted", ["visits"]),
        ("one-message-per-parent", ["edges", "visits"]),
        ("counts-paths", ["visits"]),
    ],
)
def test_a_wrong_count_is_named(fault: str, parts: list[str]) -> None:
    for seed in range(2):
        verdict = graded("3.10", edges_and_visits(fault), written("functions")["Value"], seed=seed)
        assert failed_parts(verdict) == parts, verdict.text()
        assert verdict.misconceptions == [fault]


@pytest.mark.parametrize(
    ("passes", "detached", "name"),
    [
        ([6, 12, 18], 3, None),
        ([6.0, 6.0, 6.0], 3, "gradients-overwrite-by-default"),
        ([6, 12, 24], 3, "doubles-each-pass"),
        ([6, 18, 36], 3, "sums-accumulated"),
        ((6, 12, 18), 6, "detach-ignored"),
        ([6, 12, 18], 0.0, "detach-cuts-everything"),
        ([6, 12, 18], 9, "detach-keeps-value"),
    ],
)
def test_a_wrong_prediction_is_named(passes: Any, detached: float, name: str | None) -> None:
    verdict = graded("3.11", lambda: {"passes": passes, "detached": detached})
    assert verdict.misconceptions == ([name] if name else [])


def test_two_wrong_predictions_are_both_named() -> None:
    verdict = graded("3.11", lambda: {"passes": [6, 6, 6], "detached": 6})
    assert verdict.misconceptions == ["gradients-overwrite-by-default", "detach-ignored"]


# ---- more than one mistake, and mistakes that nobody listed -----------------------------------------------------------


def test_two_wrong_rules_are_both_named() -> None:
    Value = written("whole_class", (TANH, "+= (1 - t) * out.grad"), (POW, "+= n * self.data**n * out.grad"))["Value"]
    verdict = graded("3.2", Value)
    assert verdict.misconceptions == ["tanh-one-minus", "power-rule-missing-minus-one"]
    assert failed_parts(verdict) == ["tanh", "pow"]
    assert verdict.score == pytest.approx(7.5)


@pytest.mark.parametrize(
    ("operation", "edit"),
    [
        ("tanh", (TANH, "+= (2 - t**2) * out.grad")),
        ("exp", (EXP, "+= (out.data + 0.01) * out.grad")),
        ("log", (LOG, "+= 2 / self.data * out.grad")),
        ("relu", (RELU, "+= 0.5 * (self.data > 0) * out.grad")),
        ("pow", (POW, "+= n * self.data ** (n - 2) * out.grad")),
        ("neg", (NEG, "+= -2 * out.grad")),
        ("sub", (SUB[1], "+= -3.0 * out.grad")),
        ("div", (DIV[0], "+= 1.0 / other.data**2 * out.grad")),
    ],
)
def test_a_wrong_rule_that_nobody_listed_is_located(operation: str, edit: Edit) -> None:
    verdict = graded("3.2", written("whole_class", edit)["Value"])
    assert verdict.where == operation
    assert failed_parts(verdict) == [operation]
    assert verdict.misconceptions == []


def test_a_mistake_beside_a_listed_one_is_still_located() -> None:
    edits = ((TANH, "+= (1 - t) * out.grad"), (LOG, "+= 2 / self.data * out.grad"))
    verdict = graded("3.2", written("whole_class", *edits)["Value"])
    assert verdict.misconceptions == ["tanh-one-minus"]
    assert failed_parts(verdict) == ["tanh", "log"]
    assert any("log(x)" in part.message for part in verdict.parts)


def test_the_first_node_that_departs_is_pointed_out() -> None:
    """In 3.4 the picture marks the first node, from the root, whose gradient is wrong."""
    Value = written("functions", (F_BACKWARD, F_BACKWARD.replace("reversed(order)", "reversed(order[1:])")))["Value"]
    verdict = graded("3.4", Value)
    assert verdict.status == PASSED  # order[0] is an input: nothing is lost
    dropped = F_BACKWARD.replace(
        "if node._backward:\n            node._backward",
        "if node._backward and len(node._parents) == 2 and node._parents[0] is not node._parents[1]:\n            node._backward",
    )
    verdict = graded("3.4", written("functions", (F_BACKWARD, dropped))["Value"])
    assert verdict.misconceptions == []
    assert verdict.picture is not None
    marked = [node["id"] for node in verdict.picture["nodes"] if node["first"]]
    assert len(marked) == 1 and verdict.where is not None and verdict.where.startswith(marked[0])


# ---- the bug hunt -----------------------------------------------------------------------------------------------------


def test_the_three_engines_of_the_hunt_have_different_faults_of_rising_difficulty() -> None:
    names = [bug_hunt.sealed(seed) for seed in (1, 2, 3)]
    assert len(set(names)) == 3
    assert [next(f.level for f in FAULTS if f.name == name) for name in names] == [1, 2, 3]
    assert graded("3.12", lambda: dict(zip((1, 2, 3), names, strict=True))).score == 3


def test_a_wrong_diagnosis_is_answered_by_an_experiment() -> None:
    suspects = [f.name for f in bug_hunt.SUSPECTS]
    for seed in (1, 2, 3):
        for name in suspects:
            answer = bug_hunt.judged(seed, name)
            if name == bug_hunt.sealed(seed):
                assert answer is None
            else:
                assert (answer is not None and "this engine" in answer) or "differently" in str(answer)


def test_every_suspect_can_be_told_from_all_others() -> None:
    for suspect in bug_hunt.SUSPECTS:
        assert 2 <= bug_hunt.par(suspect.name) <= 12


def test_a_broken_engine_counts_what_is_used() -> None:
    engine = bug_hunt.BrokenEngine(2)
    a, b = engine.Value(2.5), engine(-3.0)
    assert engine.used == 0
    (a - b).backward()
    assert engine.used == 2, "one operation, though it is made of two, and one backward pass"
    assert not engine.accuse("seed missing")
    assert engine.used == 2 + bug_hunt.WRONG_NAME_COSTS
    assert engine.accuse(bug_hunt.sealed(2).upper().replace("-", "_"))


# ---- the lists --------------------------------------------------------------------------------------------------------


def test_misconceptions_have_words_and_a_place_to_reread() -> None:
    for exercise in exercises_of("3-reverse-mode").exercises:
        for misconception in exercise.misconceptions:
            assert misconception.name == misconception.name.lower() and " " not in misconception.name
            assert len(misconception.message) > 30
            assert misconception.reread


def test_a_guess_is_never_named_when_everything_is_right() -> None:
    rng = random.Random(1)
    for _ in range(5):
        verdict = graded("3.2", written("functions")["Value"], seed=rng.randrange(10**6))
        assert verdict.status == PASSED and verdict.misconceptions == [] and math.isclose(verdict.score, 10)


# ---- the door -----------------------------------------------------------------------------------------------------


def test_a_notebook_gets_a_broken_engine() -> None:
    engine = broken_engine(1)
    x = engine.Value(2.0)
    (x * 3.0).backward()
    assert engine.used == 2 and engine.par >= 2 and not engine.solved
    with pytest.raises(TypeError, match="whole number"):
        broken_engine("one")  # type: ignore[arg-type]


def test_under_the_grader_the_door_leads_to_something_that_swallows_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    engine = broken_engine(1)
    a, b = engine.Value(2.0), engine(3.0)
    L = (a * b + a).tanh() - 1 / b**2
    L.backward()
    engine.suspects("tanh")
    engine.anything = 3
    assert not engine.accuse("overwrites-gradient")
    assert f"{a.grad:.3f} {engine.used:>4} {L}" and float(L.data) == 0.0 and list(engine.names) == []
    assert not a.grad > 1 and len(engine.names) == 0 and not isinstance(engine, bug_hunt.BrokenEngine)
