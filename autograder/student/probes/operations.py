"""Right operations in the place of lesson 3's where a learner's gives no Value, or one that holds a wrong number.

What is built on an operation keeps its marks then. By PyTorch: this file lies on learners' machines, and their exercise
is to find the rules themselves.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Collection, Mapping
from typing import Any

from autograder.student.probes import engines as en
from autograder.student.probes.stand_ins import Wrap

# operation of a case's graph: (the lesson's function, the same for numbers, PyTorch's name for it)
OPERATIONS: dict[str, tuple[str, Callable[..., float], str]] = {
    "+": ("value_add", operator.add, "add"),
    "*": ("value_mul", operator.mul, "mul"),
    "-": ("value_sub", operator.sub, "sub"),
    "/": ("value_div", operator.truediv, "div"),
    "neg": ("value_neg", operator.neg, "neg"),
    "pow": ("value_pow", operator.pow, "pow"),
    "tanh": ("value_tanh", math.tanh, "tanh"),
    "exp": ("value_exp", math.exp, "exp"),
    "log": ("value_log", math.log, "log"),
    "relu": ("value_relu", lambda x: max(x, 0.0), "relu"),
}


def _right_node(name: str, operands: tuple[Any, ...]) -> Any:
    """PyTorch's function `name` of the operands, as a node of their own class."""
    import torch

    nodes = [x for x in operands if en.is_node(x)]
    leaves = [torch.tensor(float(x.data), dtype=torch.float64, requires_grad=True) for x in nodes]
    at = iter(leaves)
    result = getattr(torch, name)(*(next(at) if en.is_node(x) else x for x in operands))
    slopes = [g.item() for g in torch.autograd.grad(result, leaves)]

    def rule(g: float) -> None:
        for node, slope in zip(nodes, slopes, strict=True):
            en.set_grad(node, en.grad_of(node, "a parent") + g * slope)

    return type(nodes[0])(result.item(), tuple(nodes), rule)


def _fits(found: Any, wanted: float, operand: Any) -> bool:
    """Is `found` a node that holds `wanted`, whose parents and rule, if it has any, can be told as those of `operand`?"""
    return (
        en.is_node(found)
        and math.isclose(en.data_of(found), wanted, rel_tol=1e-6, abs_tol=1e-9)
        and (en.parents_of(found) is None) is (en.parents_of(operand) is None)
        and (callable(rule := getattr(found, "_backward", None)) or rule is None)
    )


def _as_asked(found: Any, wanted: float, operand: Any) -> bool:
    """Is `found` what the lesson's own solution would give? Nearly always, so this is quick; if not, ask `_fits`."""
    try:
        return (
            type(found) is type(operand)
            and found.data == wanted
            and type(found._parents) is tuple
            and callable(found._backward)
        )
    except AttributeError:
        return False


def _where_wrong(value: Callable[..., float], name: str, kept: tuple[type[Exception], ...]) -> Wrap:
    def wrap(own: Any) -> Any:
        @functools.wraps(own)
        def called(*operands: Any) -> Any:
            found, error = None, None
            try:
                found = own(*operands)
            except kept:
                raise
            except Exception as raised:
                error = raised
            try:
                wanted = value(*[getattr(x, "data", x) for x in operands])
                if error is None and (_as_asked(found, wanted, operands[0]) or _fits(found, wanted, operands[0])):
                    return found
                # Called with a number where a node belongs, it is the caller's mistake.
                if all(map(en.is_node, operands[:1] if name == "pow" else operands)) and math.isfinite(wanted):
                    return _right_node(name, operands)
            except Exception:  # the operation has no value there, or the class is of another kind
                pass
            if error is not None:
                raise error
            return found

        return called

    return wrap


def where_backward_raises(own: Any) -> Any:
    """The learner's value_backward; where it raises on a node and a leaf, one that fires the nodes' rules in order."""
    try:
        Value = own.__globals__["Value"]
        own(Value(1.0, (Value(1.0),), lambda *given: None))
    except NotImplementedError:
        return own
    except Exception:
        return functools.wraps(own)(_passed_back)
    return own


def _passed_back(root: Any) -> None:
    for node in en.children_first(root):
        if en.parents_of(node):
            en.set_grad(node, 0.0)
    en.drive(root, 1.0)


def right_operations(asked: Collection[str] = ()) -> Mapping[str, Wrap]:
    """For `standing_in`: all of the lesson's operations but those `asked` for in a case.

    Stubs stay stubs; and where something is asked for, operations made out of each other stay endless.
    """
    kept = (NotImplementedError, RecursionError) if asked else (NotImplementedError,)
    return {own: _where_wrong(value, name, kept) for op, (own, value, name) in OPERATIONS.items() if op not in asked}
