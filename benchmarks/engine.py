"""What it saves that `_backward` holds on to parents only: the course's engine beside one of the familiar style.

In the familiar style the rule of a node refers to the node itself, so every node is part of a reference cycle. Python
then cannot free a graph when the loss goes away, and its garbage collector walks through all the graphs that have
piled up, again and again. Times are processor time in one process, the engines taking turns, the collector working as
it always does.

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
WARM_UP = 4


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
    """A loss with about `nodes` nodes: neurons tanh(w·x + b) of 16 inputs, x plain numbers, added up in pairs."""
    weights, bias = [Value(0.01 * i) for i in range(16)], Value(0.1)
    terms = []
    while 50 * len(terms) < nodes:  # 16 inputs, products and sums each, one tanh, one sum of neurons
        z = bias
        for i, w in enumerate(weights):
            z = z + w * (0.1 * i)
        terms.append(z.tanh())
    while len(terms) > 1:
        terms = [a + b for a, b in zip(terms[::2], terms[1::2], strict=False)] + terms[len(terms) // 2 * 2 :]
    return terms[0]


def timed(Value: Any, rounds: int) -> tuple[float, float]:
    """Seconds of (forward, backward) for a loss, in the mean of `rounds`, each let go before the next as in training.

    The mean, not the best or the median: the collector works in some rounds more than in others, and all of it counts.
    The first few rounds do not: it takes some until as many dead graphs lie about as ever will.
    """
    forward, backward = [], []
    for _ in range(WARM_UP + rounds):
        start = time.process_time()
        loss = loss_of(Value)
        middle = time.process_time()
        loss.backward()
        backward.append(time.process_time() - middle)
        forward.append(middle - start)
        del loss
    return statistics.mean(forward[WARM_UP:]), statistics.mean(backward[WARM_UP:])


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
    parser.add_argument("--blocks", type=int, default=4, help="times that both engines take turns")
    parser.add_argument("--rounds", type=int, default=15, help="losses that an engine builds in its turn")
    args = parser.parse_args()
    assert gc.isenabled()
    engines = {"holds its parents": make_engine().Value, "closes over itself": Familiar}
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in engines}
    for _ in range(args.blocks):
        for name, Value in engines.items():
            gc.collect()
            times[name].append(timed(Value, args.rounds))
    print(f"a loss of {NODES:,} nodes, {args.blocks} x {args.rounds} times, Python {sys.version.split()[0]}")
    print(f"{'':<22}{'forward':>20}{'backward':>20}")
    for name, rows in times.items():
        medians = (statistics.median(column) for column in zip(*rows, strict=True))
        cells = "".join(f"{1e3 * t:>9.1f} ms{1e9 * t / NODES:>5.0f} ns" for t in medians)
        print(f"{name:<22}{cells}")
    forward, backward, freed = chain(engines["holds its parents"])
    print(f"a chain of {CHAIN:,} nodes: forward {forward:.2f} s, backward {backward:.2f} s, freed in {freed:.2f} s")
    # Turn by turn, so that whatever else the machine does weighs on both.
    ours, theirs = times.values()
    ratios = [statistics.median(b[i] / a[i] for a, b in zip(ours, theirs, strict=True)) for i in (0, 1)]
    print(f"backward: {ratios[1]:.2f} times as long in the familiar style")
    print(f"ratio: {ratios[0]:.2f}")


if __name__ == "__main__":
    main()
