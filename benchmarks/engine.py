"""What it saves that `_backward` closes over parents only: the course's engine beside one of the familiar style.

In the familiar style the rule of a node refers to the node itself, so every node is part of a reference cycle. Python
then cannot free a graph when the loss goes away, and its garbage collector walks through all the graphs that have
piled up, again and again. Times are medians of processor time over several runs in one process, the collector working as it always does.

    python benchmarks/engine.py

Prints a table; the last line is `ratio: X`, how many times as long the familiar style takes forward.
"""

from __future__ import annotations

import argparse
import gc
import math
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from autograder.exercises.engines import make_engine

NODES = 34_000
CHAIN = 1_000_000


class Familiar:
    """A scalar engine in the style of most first ones: a rule is a closure over its own node."""

    def __init__(self, data: float, children: tuple[Any, ...] = ()) -> None:
        self.data = data
        self.grad = 0.0
        self._prev = set(children)
        self._backward: Callable[[], None] = lambda: None

    def __add__(self, other: Any) -> Familiar:
        other = other if isinstance(other, Familiar) else Familiar(other)
        out = Familiar(self.data + other.data, (self, other))

        def _backward() -> None:
            self.grad += out.grad
            other.grad += out.grad

        out._backward = _backward
        return out

    def __mul__(self, other: Any) -> Familiar:
        other = other if isinstance(other, Familiar) else Familiar(other)
        out = Familiar(self.data * other.data, (self, other))

        def _backward() -> None:
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad

        out._backward = _backward
        return out

    def tanh(self) -> Familiar:
        t = math.tanh(self.data)
        out = Familiar(t, (self,))

        def _backward() -> None:
            self.grad += (1 - t**2) * out.grad

        out._backward = _backward
        return out

    def backward(self) -> None:
        topo: list[Familiar] = []
        visited = set()

        def build(v: Familiar) -> None:
            if v not in visited:
                visited.add(v)
                for child in v._prev:
                    build(child)
                topo.append(v)

        build(self)
        self.grad = 1.0
        for v in reversed(topo):
            v._backward()


def loss_of(Value: Any, nodes: int = NODES) -> Any:
    """A loss with about `nodes` operations and no long path: Σ tanh(w·x + b), added up in pairs."""
    weights = [Value(0.001 * i) for i in range(100)]
    bias = Value(0.1)
    terms = []
    while 4 * len(terms) < nodes:
        w = weights[len(terms) % 100]
        terms.append((w * Value(0.5) + bias).tanh())
    while len(terms) > 1:
        terms = [a + b for a, b in zip(terms[::2], terms[1::2], strict=False)] + terms[len(terms) // 2 * 2 :]
    return terms[0]


def timed(Value: Any, rounds: int) -> tuple[float, float]:
    """Median seconds of (forward, backward) over `rounds` losses, each let go before the next, as in training."""
    forward, backward = [], []
    for _ in range(rounds):
        start = time.process_time()
        loss = loss_of(Value)
        middle = time.process_time()
        loss.backward()
        backward.append(time.process_time() - middle)
        forward.append(middle - start)
        del loss
    return statistics.median(forward), statistics.median(backward)


def chain(Value: Any, length: int = CHAIN) -> tuple[float, float, float]:
    """Seconds (forward, backward, freeing) of one chain of `length` nodes."""
    x = node = Value(1.0)
    one = Value(1e-6)
    start = time.process_time()
    for _ in range(length):
        node = node + one
    built = time.process_time()
    node.backward()
    done = time.process_time()
    if x.grad != 1.0:
        raise AssertionError(f"the chain's gradient is {x.grad}, not 1")
    del node
    return built - start, done - built, time.process_time() - done


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15, help="losses to build for each engine")
    rounds = parser.parse_args().rounds
    assert gc.isenabled()
    rows = {}
    for name, Value in (("closes over parents", make_engine().Value), ("closes over itself", Familiar)):
        gc.collect()
        rows[name] = timed(Value, rounds)
    gc.collect()
    print(f"a loss of {NODES:,} operations, {rounds} times, Python {sys.version.split()[0]}")
    print(f"{'':<22}{'forward':>22}{'backward':>22}")
    for name, (forward, backward) in rows.items():
        cells = "".join(f"{1e3 * t:>10.1f} ms{1e9 * t / NODES:>6.0f} ns" for t in (forward, backward))
        print(f"{name:<22}{cells}")
    (f1, b1), (f2, b2) = rows.values()
    forward, backward, freed = chain(make_engine().Value)
    print(f"a chain of {CHAIN:,} nodes: forward {forward:.2f} s, backward {backward:.2f} s, freed in {freed:.2f} s")
    print(f"backward: {b2 / b1:.2f} times as long in the familiar style")
    print(f"ratio: {f2 / f1:.2f}")


if __name__ == "__main__":
    main()
