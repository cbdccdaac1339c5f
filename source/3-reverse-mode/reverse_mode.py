# %% [markdown]
# # Lesson 3. Reverse mode: the backward pass
#
# > **The idea to hold on to.** Send one number back along every edge, add up what arrives, and a single pass gives you the derivative of the loss with respect to everything.
#
# **After this lesson you can**
#
# - work out every derivative of a small computation by hand, one message at a time;
# - write the engine that does it: operations that remember, an order to visit them in, one backward pass;
# - say why messages are added, why the order matters, and why gradients have to be cleared;
# - test a gradient with three independent witnesses, and name the fault in an engine from its symptoms;
# - say what a gradient costs, in time and in memory.
#
# **Time.** About 75 minutes for the core. Exercises marked *(more)* and ★ lie beyond it; skip them freely.
#
# **Before this.** Lesson 1 (the chain rule as a sum over paths) and lesson 2 (forward mode). What they built is given below, so you need no other notebook.
#
# **Where this sits.** The course ends with a language model that you train yourself. One step of training needs the derivative of one number, the loss, with respect to every weight. Lesson 1 got there by walking all paths, of which there are too many. Lesson 2 got there with one pass per weight, which is too slow. This lesson gets all of them in one pass. It is the step that makes training possible.

# %%
import math
import time
import tracemalloc
from typing import NamedTuple

import numpy as np
import torch

from autograder.student import (
    broken_engine,
    check,
    plot_style,
    quiet,
    quiz,
    show_backward,
    show_graph,
    start,
    when_ready,
)

start("3-reverse-mode", edition="classroom")

# %% [markdown]
# Under every exercise stands one cell that calls `check`. Run it as often as you like. Below it are drawers with hints, each titled with a complaint; open the one that sounds like yours. When you are stuck for ten minutes, move on: every section can be read without the exercises before it.
#
# The next two cells are folded. The first holds what lessons 1 and 2 built: graphs as data, the forward pass, local derivatives, tangents, finite differences. The second prepares a picture and a table. Run them; unfold them when you are curious.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "given-graphs", "locked": true, "solution": false, "task": false} jupyter={"source_hidden": true}
# What lessons 1 and 2 built. Given: run it and go on.
from graphlib import TopologicalSorter


class Node(NamedTuple):
    """One step of a computation: an operation and the names of its parents, one for each slot."""

    op: str  # "input" + - * / neg tanh exp log relu pow
    parents: tuple[str, ...] = ()  # a*a is ("a", "a"): two slots, two edges
    n: float = 1.0  # the constant exponent of pow


Graph = dict[str, Node]

OPERATIONS = {  # op: (its value, its local derivatives); x holds the inputs, y is the output
    "+": (lambda x, n: x[0] + x[1], lambda x, y, n: (1.0, 1.0)),
    "-": (lambda x, n: x[0] - x[1], lambda x, y, n: (1.0, -1.0)),
    "*": (lambda x, n: x[0] * x[1], lambda x, y, n: (x[1], x[0])),
    "/": (lambda x, n: x[0] / x[1], lambda x, y, n: (1 / x[1], -y / x[1])),
    "neg": (lambda x, n: -x[0], lambda x, y, n: (-1.0,)),
    "tanh": (lambda x, n: math.tanh(x[0]), lambda x, y, n: (1 - y * y,)),
    "exp": (lambda x, n: math.exp(x[0]), lambda x, y, n: (y,)),
    "log": (lambda x, n: math.log(x[0]), lambda x, y, n: (1 / x[0],)),
    "relu": (lambda x, n: max(x[0], 0.0), lambda x, y, n: (1.0 if x[0] > 0 else 0.0,)),
    "pow": (lambda x, n: x[0] ** n, lambda x, y, n: (n * x[0] ** (n - 1) if n else 0.0,)),
    "input": (lambda x, n: math.nan, lambda x, y, n: ()),
}


def graph_order(parents: dict[str, tuple[str, ...]]) -> list[str]:
    """Lesson 1's topological order: every parent before its child. ValueError on a cycle, KeyError for an unknown parent.

    Lesson 1 calls it `topological_order`. Here that name is kept for exercise 3.3, which does the same for Values.
    """
    for name in {p for slots in parents.values() for p in slots} - parents.keys():
        raise KeyError(name)
    return list(TopologicalSorter(parents).static_order())


def local_derivatives(op: str, inputs: tuple[float, ...], output: float, n: float = 1.0) -> tuple[float, ...]:
    """∂output/∂input for each slot, in order. For "input": ()."""
    return OPERATIONS[op][1](inputs, output, n)


def forward_pass(graph: Graph, inputs: dict[str, float]) -> dict[str, float]:
    """The value of every node, inputs included."""
    values = dict(inputs)
    for name in graph_order({name: node.parents for name, node in graph.items()}):
        node = graph[name]
        if node.op != "input":
            values[name] = OPERATIONS[node.op][0](tuple(values[p] for p in node.parents), node.n)
    return values


def slopes_of(graph: Graph, values: dict[str, float], name: str) -> tuple[float, ...]:
    """The local derivatives of node `name`, one for each slot."""
    node = graph[name]
    return local_derivatives(node.op, tuple(values[p] for p in node.parents), values[name], node.n)


def sum_over_paths(graph: Graph, values: dict[str, float], source: str, sink: str) -> float:
    """Lesson 1: the sum over all paths from source to sink of the product of the local derivatives."""
    if source == sink:
        return 1.0
    steps = zip(graph[sink].parents, slopes_of(graph, values, sink), strict=True)
    return sum((sum_over_paths(graph, values, source, parent) * slope for parent, slope in steps), 0.0)


def tangent_pass(graph: Graph, values: dict[str, float], seed: dict[str, float]) -> dict[str, float]:
    """Lesson 2: every node's tangent, for one seed."""
    tangents: dict[str, float] = {}
    for name in graph_order({name: node.parents for name, node in graph.items()}):
        steps = zip(graph[name].parents, slopes_of(graph, values, name), strict=True)
        tangents[name] = sum((tangents[parent] * slope for parent, slope in steps), seed.get(name, 0.0))
    return tangents


def central_difference(f, x: float, h: float = 1e-5) -> float:
    """Lesson 1: [f(x + h) − f(x − h)] / 2h."""
    return (f(x + h) - f(x - h)) / (2 * h)


def numerical_gradient(f, theta, h: float = 1e-5) -> np.ndarray:
    """Lesson 1: one central difference for each entry of theta; theta is left as it was."""
    theta = np.array(theta, dtype=float)
    gradient = np.zeros_like(theta)
    for i in np.ndindex(theta.shape):
        up, down = theta.copy(), theta.copy()
        up[i] += h
        down[i] -= h
        gradient[i] = (f(up) - f(down)) / (2 * h)
    return gradient


def relative_error(g: float, g_hat: float) -> float:
    """|g − ĝ| / max(1, |g|, |ĝ|): for numbers below 1 simply their distance."""
    return abs(g - g_hat) / max(1.0, abs(g), abs(g_hat))

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "given-display", "locked": true, "solution": false, "task": false} jupyter={"source_hidden": true}
# Helpers that draw and print. Given: run it and go on.
from types import SimpleNamespace


def shown(x: float) -> str:
    """x to six places, with 0 instead of Python's −0."""
    return f"{round(x, 6) + 0.0:.6f}"


def show_data_graph(graph: Graph, values: dict[str, float], sink: str, adjoints: dict[str, float] | None = None) -> None:
    """Draw a graph as data up to `sink`, with what is known at each node."""
    drawn: dict[str, SimpleNamespace] = {}
    for name in graph_order({name: node.parents for name, node in graph.items()}):
        node = graph[name]
        drawn[name] = SimpleNamespace(
            name=name,
            op=node.op,
            parents=tuple(drawn[p] for p in node.parents),
            data=values[name],
            grad=(adjoints or {}).get(name),
        )
    show_graph(drawn[sink])


def compare_messages(mine: dict[str, float | None]) -> None:
    """Set your numbers for the running example at (1.5, −0.7) beside the right ones."""
    a, b = 1.5, -0.7
    v, w = a * b + a, math.tanh(b)
    right = {"L → v": w, "L → w": v, "w → b": v * (1 - w * w)}
    right |= {"v → u": w, "v → a": w, "u → a": w * b, "u → b": w * a}
    right |= {"ā": right["v → a"] + right["u → a"], "b̄": right["w → b"] + right["u → b"]}
    for name, number in right.items():
        yours = mine.get(name)
        if yours is None:
            print(f"{name}   still to fill in")
        elif abs(yours - number) < 5e-4:
            print(f"{name}   {shown(yours):>9}   right")
        elif abs(yours + number) < 5e-4:
            print(f"{name}   {shown(yours):>9}   right but for its sign")
        else:
            print(f"{name}   {shown(yours):>9}   not yet: (adjoint of the child) · (local derivative on this edge)")

# %% [markdown]
# ## Warm-up
#
# Three questions on what you already know. Answer from memory first; that is what makes them work.

# %% tags=["quiz"]
quiz("3.warm-up", r"""
? A ladder doubles its value again and again, $u \leftarrow u + u$, for 20 rungs. Lesson 1 summed products over paths. How many paths lead from the bottom to the top, and over how many edges?
( ) 20 paths over 20 edges :: Each rung uses the value below it twice, so it has two edges, not one: 40 edges. And the choice between two edges is made anew at each rung.
( ) 40 paths over 40 edges :: 40 edges is right. But a path chooses one of two edges at every rung, so the number of paths doubles at every rung.
(x) 1,048,576 paths over 40 edges :: Two choices at each of 20 rungs: $2^{20}$ paths. The edges number only 40. A method whose work grows with edges, not paths, is what we are after.
( ) 1,048,576 paths over 1,048,576 edges :: The paths are right. They share their edges, though: there are only two at each rung, 40 in all.

? A loss depends on $P = 1{,}000{,}000$ parameters. How many forward-mode passes give its whole gradient?
( ) One :: One forward pass follows one seed: one input, or one fixed mixture of inputs. It gives a single number about the loss.
(x) 1,000,000 :: One seed for each parameter. Each pass is cheap, but there are $P$ of them. This lesson brings that down to one.
( ) 2,000,000 :: That is what central differences need: two evaluations for each parameter. Forward mode needs one pass each, and is exact.
( ) As many as the graph has nodes :: A forward pass visits every node already. What has to be repeated is the seed, once for each input.

? Input $a$ reaches the loss along two paths. The products of local derivatives along them are $+3$ and $-3$. What is $\partial L/\partial a$?
(x) 0 :: Contributions of paths are added: $3 + (-3) = 0$. Each path carries something; the sum may still vanish. You will meet exactly this at the end of the lesson.
( ) −9 :: Along a path you multiply. Across paths you add.
( ) 3, the larger one :: No path wins. Nudging $a$ moves the loss along both paths at once, and the movements add.
( ) It does not exist :: It does. Two movements that cancel to first order make a derivative of 0.
""")

# %% [markdown]
# One more question, without options, because its answer needs this lesson. **Why do residual connections, $y = x + S(x)$, help to train a deep stack of layers?** Write one sentence here, now. The section [The residual path](#The-residual-path) comes back to it.
#
# *My guess: …*

# %% [markdown]
# ## Messages along edges
#
# Our running example is $L = (ab + a)\cdot\tanh b$, taken apart into single steps:
#
# $$u = a\cdot b,\qquad v = u + a,\qquad w = \tanh b,\qquad L = v\cdot w.$$
#
# Take $a = 1.5$ and $b = -0.7$. The forward pass gives $u = -1.05$, $v = 0.45$, $w = -0.604368$ and $L = -0.271965$.
#
# Forward mode asked: *if I nudge this input, how does each node move?* Turn the question round and ask of each node: ***if I nudge this node, how does the loss move?*** For $v$ that is easy. $L = v\cdot w$, so a nudge of $v$ by $\varepsilon$ moves $L$ by $w\,\varepsilon$. The answer for $v$ is $w = -0.604368$.
#
# This number is called the [adjoint](../glossary.ipynb#adjoint) of the node and written with a bar:
#
# $$\bar v = \frac{\partial L}{\partial v}.$$
#
# PyTorch calls it the node's `grad`. One adjoint is free: nudging $L$ moves $L$ by just as much, so $\bar L = 1$. That is the [seed](../glossary.ipynb#seed) of reverse mode, and there is only one.

# %%
running = {
    "a": Node("input"),
    "b": Node("input"),
    "u": Node("*", ("a", "b")),
    "v": Node("+", ("u", "a")),
    "w": Node("tanh", ("b",)),
    "L": Node("*", ("v", "w")),
}
values = forward_pass(running, {"a": 1.5, "b": -0.7})  # change the point and run again

for name, value in values.items():
    print(f"{name} = {shown(value)}")
show_data_graph(running, values, "L")

# %% [markdown]
# *Read it from left to right. Both $a$ and $b$ have [fan-out](../glossary.ipynb#fan-out): two arrows leave each of them, so each reaches $L$ in two ways.*
#
# Now go from right to left. Every node sends each of its parents one [message](../glossary.ipynb#message):
#
# $$\underbrace{\text{message from child } c \text{ to parent } p}_{\text{one number for each edge}} \;=\; \underbrace{\bar c}_{\text{adjoint of the child}}\cdot\underbrace{\frac{\partial c}{\partial p}}_{\text{local derivative on the edge}}$$
#
# And the adjoint of a node is **the sum of the messages that it receives**. That is the whole method. It is the chain rule of lesson 1, with the paths sorted by their last steps: whatever way the influence of $p$ takes, it leaves $p$ through one of its children.
#
# $v$ and $w$ have one child each, so one message is the whole adjoint. $a$ receives two, one from $u$ and one from $v$.

# %% [markdown]
# ### By hand first
#
# Fill in the seven messages at $(1.5, -0.7)$, in the order in which a backward pass sends them, then the two sums. The first is done. Write arithmetic if you like: `1.0 * w` is a fine entry. The local derivatives are the ones you wrote in lesson 1.
#
# | edge | local derivative | message |
# |---|---|---|
# | $L \to v$ | $\partial L/\partial v = w$ | $\bar L\cdot w = -0.604368$ |
# | $L \to w$ | $\partial L/\partial w = v$ | |
# | $w \to b$ | $\partial w/\partial b = 1 - w^2$ | |
# | $v \to u$ | $\partial v/\partial u = 1$ | |
# | $v \to a$ | $\partial v/\partial a = 1$ | |
# | $u \to a$ | $\partial u/\partial a = b$ | |
# | $u \to b$ | $\partial u/\partial b = a$ | |

# %%
a, b = 1.5, -0.7
u, v, w = a * b, a * b + a, math.tanh(b)

mine = {
    "L → v": 1.0 * w,
    "L → w": None,
    "w → b": None,
    "v → u": None,
    "v → a": None,
    "u → a": None,
    "u → b": None,
    "ā": None,  # the sum of the messages that a receives
    "b̄": None,  # the sum of the messages that b receives
}
compare_messages(mine)

# %% [markdown] tags=["hints"]
# <details><summary>I do not know where to begin</summary>
#
# Begin at $L$, where the adjoint is 1. $L$ has two parents, so it sends two messages: 1 times the local derivative on each edge. What $v$ has received is then $\bar v$, and $v$ can send in its turn.
#
# </details>
# <details><summary>I have filled in mine and want to see the whole table</summary>
#
# | edge | message |
# |---|---|
# | $L \to v$ | $1\cdot w = -0.604368$ |
# | $L \to w$ | $1\cdot v = 0.450000$ |
# | $w \to b$ | $0.45\cdot(1 - w^2) = 0.285633$ |
# | $v \to u$ | $\bar v\cdot 1 = -0.604368$ |
# | $v \to a$ | $\bar v\cdot 1 = -0.604368$ |
# | $u \to a$ | $\bar u\cdot b = 0.423057$ |
# | $u \to b$ | $\bar u\cdot a = -0.906552$ |
#
# $\bar a = -0.604368 + 0.423057 = -0.181310$ and $\bar b = 0.285633 - 0.906552 = -0.620919$ (sums taken before rounding).
#
# Seven edges, seven messages, two derivatives.
#
# </details>

# %% [markdown]
# ### Exercise 3.0 The backward pass on data
#
# ●●○○○ · 10 minutes
#
# What you did by hand, as a program on graphs as data.
#
# Write **`adjoint_pass(graph, values, sink)`**.
#
# - `graph`: `dict[str, Node]`, its nodes in any order; `values`: the value of every node, as `forward_pass` returns them; `sink`: the name of the node to differentiate.
# - Returns a `dict` with an entry for **every** node of the graph: the float $\partial\,\text{sink}/\partial\,\text{node}$. The sink's own entry is 1.0. A node on which the sink does not depend gets 0.0.
# - No errors to raise.
#
# You have `graph_order(parents)`, which lists parents before children, and `local_derivatives(op, inputs, output, n)`, which returns one number for each slot (for an input: none).
#
# Example: on the running example at $(1.5, -0.7)$ it returns $-0.181310$ for `"a"` and $-0.620919$ for `"b"`. On `{"x": Node("input"), "y": Node("*", ("x", "x"))}` at $x = 3$ it returns $6$ for `"x"`: two slots, two messages of 3.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "3.0-solution", "locked": false, "solution": true, "task": false}
def adjoint_pass(graph: Graph, values: dict[str, float], sink: str) -> dict[str, float]:
    """∂sink/∂node for every node of the graph, in one pass from the sink back to the inputs."""
    ### BEGIN SOLUTION
    adjoints = {name: 0.0 for name in graph}
    adjoints[sink] = 1.0
    for child in reversed(graph_order({name: node.parents for name, node in graph.items()})):
        node = graph[child]
        inputs = tuple(values[parent] for parent in node.parents)
        slopes = local_derivatives(node.op, inputs, values[child], node.n)
        for parent, slope in zip(node.parents, slopes, strict=True):
            adjoints[parent] += adjoints[child] * slope
    return adjoints
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "3.0", "locked": true, "points": 4, "solution": false, "task": false}
check("3.0", adjoint_pass)
### BEGIN HIDDEN TESTS
from autograder.student import grade

grade("3.0", adjoint_pass)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>My adjoint of a is only one of its two messages</summary>
#
# The second message replaced the first. A node's adjoint is the *sum* of what it receives. Start every adjoint at 0.0 and add.
#
# </details>
# <details><summary>For y = x · x I get 3 instead of 6</summary>
#
# `y` has two slots, and both hold `x`. Go through the slots one by one, not through the set of different parents. Each slot sends its own message.
#
# </details>
# <details><summary>My inputs all come out as 0</summary>
#
# Then messages were sent before there was anything to send. In which order do you visit the nodes? `graph_order` gives parents first. Who has to speak first on the way back?
#
# </details>
# <details><summary>I get a KeyError for a node that the sink does not need</summary>
#
# Give every node of the graph an entry before you begin, and let it stay 0.0 if nothing arrives.
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# Put 1 at the sink and 0 everywhere else. Then visit the nodes, children before parents. When a node's turn comes, all its children have already sent, so its adjoint is complete, and it can send in turn: its adjoint times the local derivative, once for each slot, **added** to what the parent has.
#
# {{solution 3.0}}
#
# Nodes on which the sink does not depend still take their turn. They send $0\cdot$ something, which changes nothing.

# %%
with when_ready("3.0"):
    values = forward_pass(running, {"a": 1.5, "b": -0.7})
    adjoints = adjoint_pass(running, values, "L")
    for name in running:
        print(f"adjoint of {name}: {shown(adjoints[name]):>9}")
    show_data_graph(running, values, "L", adjoints)

# %% [markdown]
# *Every node now shows two numbers: its value, made on the way forward, and its adjoint, made on the way back. One forward pass and one backward pass, and no variable was singled out.*

# %% [markdown]
# ## A value that remembers
#
# A graph as data must be typed in by hand. Nobody types in a language model. We want to write ordinary Python, `(a * b + a) * tanh(b)`, and have the graph record itself while the program runs.
#
# So we wrap each number in an object, a `Value`, that stores four things:
#
# | attribute | what it is |
# |---|---|
# | `data` | the number, from the forward pass |
# | `grad` | its adjoint, 0.0 to begin with |
# | `_parents` | the Values it was computed from, one for each slot; `()` for a [leaf](../glossary.ipynb#leaf) |
# | `_backward` | a function that sends this node's messages; `None` for a leaf |
#
# `_backward(g)` is called with `g`, the adjoint of its own node (people call it the *[upstream](../glossary.ipynb#upstream) gradient*), and adds the right message to each parent's `grad`.
#
# How does that function know its parents? It is a [closure](../glossary.ipynb#closure): a function that remembers the variables of the place where it was made.

# %%
def make_adder(n):
    def add(x):
        return x + n  # n is remembered, long after make_adder has returned

    return add


add_three = make_adder(3)
add_three(4)

# %% [markdown]
# Here is the class. It is given, and folded, because there is nothing to fill in: every operator turns plain numbers into Values and then calls **a function that you will write**.
#
# | you write | Python calls |
# |---|---|
# | `a + b`, `a + 2`, `2 + a` | `value_add(r, s)` |
# | `a * b`, `a * 2`, `2 * a` | `value_mul(r, s)` |
# | `a - b`, `-a`, `a / b`, `a ** 3` | `value_sub(r, s)`, `value_neg(r)`, `value_div(r, s)`, `value_pow(r, n)` |
# | `tanh(a)` or `a.tanh()`, and so for `exp`, `log`, `relu` | `value_tanh(r)`, `value_exp(r)`, `value_log(r)`, `value_relu(r)` |
# | `a.backward()` | `value_backward(root)` |
#
# `Value(data, parents, backward)` makes a new node. `r` and `s` are always Values by the time they reach you.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "value-class", "locked": true, "solution": false, "task": false} jupyter={"source_hidden": true}
# The class Value. Given: run it and go on. Running it again is safe; your functions stay as they are.
def number_or_value(x):
    return x if hasattr(x, "_backward") else Value(x)


class Value:
    """A number that remembers how it was computed."""

    __slots__ = ("_backward", "_parents", "data", "grad")

    def __init__(self, data, parents=(), backward=None):
        self.data = float(data)
        self.grad = 0.0
        self._parents = parents
        self._backward = backward

    def __add__(self, other):
        return value_add(self, number_or_value(other))

    def __radd__(self, other):
        return value_add(number_or_value(other), self)

    def __mul__(self, other):
        return value_mul(self, number_or_value(other))

    def __rmul__(self, other):
        return value_mul(number_or_value(other), self)

    def __sub__(self, other):
        return value_sub(self, number_or_value(other))

    def __rsub__(self, other):
        return value_sub(number_or_value(other), self)

    def __truediv__(self, other):
        return value_div(self, number_or_value(other))

    def __rtruediv__(self, other):
        return value_div(number_or_value(other), self)

    def __neg__(self):
        return value_neg(self)

    def __pow__(self, n):
        return value_pow(self, n)

    def tanh(self):
        return value_tanh(self)

    def exp(self):
        return value_exp(self)

    def log(self):
        return value_log(self)

    def relu(self):
        return value_relu(self)

    def backward(self):
        value_backward(self)

    def __repr__(self):
        return f"Value(data={self.data + 0.0:g}, grad={self.grad + 0.0:g})"


def tanh(x):
    """tanh of a Value, a torch tensor or a number; so for the three below."""
    return x.tanh() if hasattr(x, "tanh") else math.tanh(x)


def exp(x):
    return x.exp() if hasattr(x, "exp") else math.exp(x)


def log(x):
    return x.log() if hasattr(x, "log") else math.log(x)


def relu(x):
    return x.relu() if hasattr(x, "relu") else max(x, 0.0)

# %% [markdown]
# A rule for an operation that you do *not* have to write: three times its input. The local derivative is 3, so the message is $3\,g$.

# %%
def value_triple(r):
    def backward(g):
        r.grad += 3.0 * g

    return Value(3.0 * r.data, (r,), backward)


x = Value(2.0)
y = value_triple(x)
y._backward(1.0)  # fire by hand, as if y were the loss
print(x)
show_graph(y)

# %% tags=["quiz"]
quiz("3.predict-fire", r"""
? `x.grad` is now 3. Without clearing anything, we fire the same node once more, this time with an upstream of 10: `y._backward(10.0)`. What is `x.grad` then?
( ) 30 :: $3\cdot 10 = 30$ is the new message. It does not replace what was there.
(x) 33 :: The new message is $3\cdot 10 = 30$, and `+=` adds it to the 3 from before.
( ) 3 :: The local derivative is still 3, but a message is the local derivative *times the upstream*.
( ) 13 :: Upstream and local derivative are multiplied: along a path the chain rule multiplies. Only messages from different children are added.
""")

# %%
y._backward(10.0)
x.grad

# %% [markdown]
# *Firing by hand is how the next two checks look at your rules, before there is a whole backward pass.*
#
# ### Exercise 3.1 Add and multiply
#
# ●●○○○ · 8 minutes
#
# Write **`value_add(r, s)`** and **`value_mul(r, s)`**.
#
# - `r`, `s`: Values, possibly the *same* Value twice.
# - Return a new Value: its `data` is the sum (the product), its parents are `(r, s)`, and its third argument is a function `backward(g)` that adds the right message to `r.grad` and to `s.grad`.
# - `backward` uses `r` and `s` only, and takes the adjoint of its own node as the argument `g`. A closure that also held its own node would make a loop of references, and Python could not free the graph the moment you are done with it.
# - No errors to raise.
#
# Example: with `a = Value(2.0)`, `b = Value(-3.0)` and `c = a * b`, calling `c._backward(1.0)` leaves `a.grad` at −3 and `b.grad` at 2. With `d = a + a` (from fresh leaves), `d._backward(1.0)` leaves `a.grad` at 2.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "3.1-solution", "locked": false, "solution": true, "task": false}
def value_add(r: Value, s: Value) -> Value:
    """r + s."""
    ### BEGIN SOLUTION
    def backward(g):
        r.grad += g
        s.grad += g

    return Value(r.data + s.data, (r, s), backward)
    ### END SOLUTION


def value_mul(r: Value, s: Value) -> Value:
    """r · s."""
    ### BEGIN SOLUTION
    def backward(g):
        r.grad += g * s.data
        s.grad += g * r.data

    return Value(r.data * s.data, (r, s), backward)
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "3.1", "locked": true, "points": 4, "solution": false, "task": false}
check("3.1", Value)
### BEGIN HIDDEN TESTS
from autograder.student import grade

grade("3.1", Value)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>My gradient for a + a is 1, not 2, and for a · a it is half of what it should be</summary>
#
# You replace instead of adding. When `r` and `s` are the same Value, the second line overwrites what the first one wrote. Each message is added to what is there.
#
# </details>
# <details><summary>My gradient of a product is right for one factor only</summary>
#
# How much does $r\cdot s$ move when $r$ moves a little and $s$ stays? By $s$ times as much. Each factor's slope is the *other* factor's data.
#
# </details>
# <details><summary>TypeError: 'NoneType' object is not callable, or has no attribute 'data'</summary>
#
# The function has to `return` the new Value, and the inner function has to be handed over as the third argument, without brackets: `backward`, not `backward()`.
#
# </details>
# <details><summary>It is right when I fire with 1.0 but wrong for another number</summary>
#
# The message is `g` times the local derivative. `g` is missing somewhere.
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# Nudge $r$ by $\varepsilon$ and keep $s$ still. A sum moves by $\varepsilon$: local derivative 1 toward both. A product moves by $s\,\varepsilon$: local derivative $s$ toward $r$, and $r$ toward $s$. Each message is the upstream `g` times that number, and it is added.
#
# {{solution 3.1}}
#
# With `a * a` both lines speak of the same object: $a\,g$ is added twice, which is the $2a\,g$ that you expect of $a^2$. No special case was needed. `+=` did it.

# %%
with when_ready("3.1"):
    a, b = Value(1.5), Value(-0.7)
    u = a * b
    v = u + a
    v._backward(1.0)  # v sends 1 to u and 1 to a
    u._backward(u.grad)  # u sends b to a and a to b
    print("a:", a, "  b:", b)
    show_graph(v)

# %% [markdown]
# *This is $v = ab + a$, fired by hand from the end to the beginning. $a$ has received two messages, $1$ and $b = -0.7$: together $0.3$. The derivative of $ab + a$ with respect to $a$ is $b + 1$.*

# %% [markdown]
# ## One rule beside each operation
#
# Every operation follows one pattern. Compute the number. Write down a function that multiplies the upstream `g` by the local derivative and adds it to the parent. Return both in a new Value. A *backward rule* knows nothing of the rest of the graph: not what came before, not what the loss is. All it ever sees of the loss is `g`.
#
# The local derivatives are old friends:
#
# | operation | local derivative | worth noticing |
# |---|---|---|
# | $t = \tanh x$ | $1 - t^2$ | from the *output* $t$ |
# | $y = e^x$ | $y$ | the output itself |
# | $y = \log x$ | $1/x$ | from the input |
# | $y = \mathrm{relu}(x)$ | $1$ if $x > 0$, else $0$ | at exactly $0$, any number from 0 to 1 will do |
# | $y = x^n$ | $n\,x^{n-1}$ | $n$ is a constant, not a Value |
#
# The last three operations need no calculus at all. $-a$ is $a\cdot(-1)$. $a - b$ is $a + (-b)$. $a/b$ is $a\cdot b^{-1}$. Built that way, they inherit their backward rules from the operations that they are made of. The graph grows by a node or two; the chain rule does the rest.

# %% tags=["quiz"]
quiz("3.predict-upstream", r"""
? $y = e^{x}$ at $x = 0$, so $y = 1$ and the local derivative is 1. The node $y$ is somewhere inside a larger graph, and its adjoint is $\bar y = -5$. Which message does $y$ send to $x$?
( ) 1 :: That is the local derivative. It says how $y$ answers to $x$. The loss answers to $y$ with $-5$, and the two have to be multiplied.
(x) −5 :: $\bar y\cdot 1 = -5$. Nudge $x$ by $\varepsilon$: $y$ moves by $\varepsilon$, the loss by $-5\,\varepsilon$.
( ) −4 :: That is $-5 + 1$. Along a path the chain rule multiplies; it adds only across paths.
( ) 0, because the exponent is 0 :: The local derivative of $e^x$ is its output, not its input. At $x = 0$ the output is 1.
""")

# %% [markdown]
# ### Exercise 3.2 Eight more operations
#
# ●●●○○ · 15 minutes
#
# Write, in the first cell, **`value_tanh(r)`, `value_exp(r)`, `value_log(r)`, `value_relu(r)`** and **`value_pow(r, n)`**, where `n` is a plain int or float. In the second cell write **`value_neg(r)`, `value_sub(r, s)`** and **`value_div(r, s)`** out of the operations that you have.
#
# - `r`, `s`: Values. Each function returns a new Value. Use `math.tanh`, `math.exp`, `math.log` on `r.data`.
# - Every rule adds to the parent's `grad`, and multiplies by the upstream.
# - Errors: leave them to Python. `math.log(0.0)` raises ValueError by itself, and dividing by 0 raises ZeroDivisionError.
#
# Examples, each fired with upstream 1: `exp(Value(0.7))` sends 2.013753. `relu` of −1 sends 0, of 2 sends 1. `Value(-3.0) ** 2` is 9 and sends −6. `a - a` is 0 and leaves `a.grad` at 0 once the whole graph has fired. `2 / Value(4.0)` is 0.5 and its derivative is −0.125.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "3.2-solution", "locked": false, "solution": true, "task": false}
def value_tanh(r: Value) -> Value:
    """tanh r."""
    ### BEGIN SOLUTION
    t = math.tanh(r.data)

    def backward(g):
        r.grad += g * (1.0 - t * t)

    return Value(t, (r,), backward)
    ### END SOLUTION


def value_exp(r: Value) -> Value:
    """e to the power r."""
    ### BEGIN SOLUTION
    y = math.exp(r.data)

    def backward(g):
        r.grad += g * y

    return Value(y, (r,), backward)
    ### END SOLUTION


def value_log(r: Value) -> Value:
    """The natural logarithm of r."""
    ### BEGIN SOLUTION
    def backward(g):
        r.grad += g / r.data

    return Value(math.log(r.data), (r,), backward)
    ### END SOLUTION


def value_relu(r: Value) -> Value:
    """r where r is positive, else 0."""
    ### BEGIN SOLUTION
    def backward(g):
        if r.data > 0:
            r.grad += g

    return Value(max(r.data, 0.0), (r,), backward)
    ### END SOLUTION


def value_pow(r: Value, n: float) -> Value:
    """r to the power n, a plain number."""
    ### BEGIN SOLUTION
    def backward(g):
        if n:
            r.grad += g * n * r.data ** (n - 1)

    return Value(r.data**n, (r,), backward)
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "3.2-solution-2", "locked": false, "solution": true, "task": false}
def value_neg(r: Value) -> Value:
    """−r."""
    ### BEGIN SOLUTION
    return value_mul(r, Value(-1.0))
    ### END SOLUTION


def value_sub(r: Value, s: Value) -> Value:
    """r − s."""
    ### BEGIN SOLUTION
    return value_add(r, value_neg(s))
    ### END SOLUTION


def value_div(r: Value, s: Value) -> Value:
    """r / s."""
    ### BEGIN SOLUTION
    return value_mul(r, value_pow(s, -1.0))
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "3.2", "locked": true, "points": 10, "solution": false, "task": false}
check("3.2", Value)
### BEGIN HIDDEN TESTS
from autograder.student import grade

grade("3.2", Value)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>It is right when the operation stands alone, but wrong inside x · f(x) + x</summary>
#
# Two things are different in there. The upstream is no longer 1: is `g` a factor of your message? And `x` is used three times: does your rule add, or does it replace what the others have sent?
#
# </details>
# <details><summary>My tanh passes at one point and fails at another</summary>
#
# At $b = -1$ in the running example $\bar w = 0$, so *any* rule would do there. Look at the formula: it uses the output $t$, squared, with a minus sign.
#
# </details>
# <details><summary>My exp or log has the wrong slope</summary>
#
# $e^x$ is its own derivative: use the output, not the input. The derivative of $\log x$ is one over the *input*.
#
# </details>
# <details><summary>relu sends something when its input is negative</summary>
#
# The mask comes from the input `r.data`, not from `g`. A negative upstream is a perfectly good message, and must pass when the input is positive.
#
# </details>
# <details><summary>a − b gives the right number, but b gets no gradient</summary>
#
# Somewhere you took `s.data` and went on with a plain number. That cuts the graph. Go on with `s` itself.
#
# </details>
# <details><summary>1 − x or 2 / x has the wrong sign, or is upside down</summary>
#
# `1 - x` calls `value_sub(r, s)` with `r` = 1 and `s` = x. Keep that order.
#
# </details>
# <details><summary>(−3) ** 2 fails, or 0 ** 0 does</summary>
#
# Do not go through $e^{n\log x}$: the logarithm of a negative number does not exist. $x^n$ is `r.data ** n`. For $n = 0$ the result is a constant: nothing has to be sent.
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# Five times the same pattern. Only the local derivative changes.
#
# {{solution 3.2}}
#
# Look at what each closure keeps. `tanh` and `exp` keep their output, `log`, `relu` and `pow` their input. That is no accident of style: those are the numbers that the backward pass will need later, so they have to stay in memory until then. (The written question asks you to think this through.)
#
# For $a - a$ the composition sends $+g$ and $-g$ to the same node: 0. A rule written from scratch that looked up "the" slope of parent $a$ would find only one of the two.

# %%
with when_ready("3.1", "3.2"):
    x = Value(0.7)
    e = exp(x)
    p = x * e
    y = p + x  # y = x·exp(x) + x: x is used three times
    y._backward(1.0)
    p._backward(p.grad)
    e._backward(e.grad)
    print(f"engine      {x.grad:.6f}")
    print(f"difference  {central_difference(lambda t: t * math.exp(t) + t, 0.7):.6f}")
    show_graph(y)

# %% [markdown]
# *Three messages arrive at $x$: one from the sum, one from the product, one through $e^x$ with an upstream of $0.7$. Try other operations in place of `exp`.*

# %% [markdown]
# ## Whoever fires early loses a message
#
# So far you chose by hand who fires when. What happens when the order is wrong?
#
# Take $u = a + a$, $s = u\cdot u$, $L = u + s$ at $a = 1.5$. Then $u = 3$ and $L = 12$. $u$ has two children: $L$ itself, which sends $1$, and $s$, which sends $2u = 6$. So $\bar u = 7$, and since $a$ counts twice, $\bar a = 14$.
#
# $L$ fires first. Now both $u$ and $s$ have received something. Who is next?

# %% tags=["quiz"]
quiz("3.predict-early", r"""
? Suppose $u$ fires right after $L$, before $s$ has fired. Every node fires once. What does $a$ end up with?
( ) 14: in the end all messages have been sent :: They have been sent, but $u$ could only pass on what it held when it fired. The 6 from $s$ reaches $u$ too late to go on to $a$.
(x) 2 :: When $u$ fires it holds only the 1 from $L$, and sends $1 + 1 = 2$ to $a$. Later $s$ sends 6 to $u$. That makes $\bar u = 7$, correctly, but $u$ has already fired.
( ) 7 :: That is $\bar u$. $a$ fills both slots of $u = a + a$, so it receives what $u$ sends twice.
( ) 0 :: $u$ does send something: it already holds the message from $L$.
""")

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "given-fire", "locked": true, "solution": false, "task": false} jupyter={"source_hidden": true}
# A backward pass in any firing order that you like. Given: run it and go on.
def fire(graph: Graph, inputs: dict[str, float], sink: str, order: list[str], assign: bool = False, silent: bool = False):
    """Let the nodes send their messages in the given order; returns the adjoints. With `assign`, messages overwrite.

    Prints every message, and marks the ones that come too late: after their receiver has fired.
    """
    values = forward_pass(graph, inputs)
    adjoints = {name: 0.0 for name in graph} | {sink: 1.0}
    fired: set[str] = set()
    for child in order:
        fired.add(child)
        for parent, slope in zip(graph[child].parents, slopes_of(graph, values, child), strict=True):
            message = adjoints[child] * slope
            adjoints[parent] = message if assign else adjoints[parent] + message
            late = f"   too late: {parent} has already fired" if parent in fired else ""
            if not silent:
                print(f"{child} → {parent}: {message + 0.0:8.4g}{late}")
    return adjoints

# %%
early = {
    "a": Node("input"),
    "u": Node("+", ("a", "a")),
    "s": Node("*", ("u", "u")),
    "L": Node("+", ("u", "s")),
}
print("u before s")
print("adjoint of a:", fire(early, {"a": 1.5}, "L", ["L", "u", "s", "a"])["a"])
print()
print("s before u")
print("adjoint of a:", fire(early, {"a": 1.5}, "L", ["L", "s", "u", "a"])["a"])

# %% [markdown]
# *The numbers in a wrong order look perfectly plausible. Only the sum is short.*
#
# So the rule is: **a node fires when all its children have fired**, not before. Which orders obey it? Recall lesson 1's [topological order](../glossary.ipynb#topological-order): every parent before its child. Read such a list backward and every child comes before its parents. That is the order in which to fire.
#
# In lesson 1 you found such an order for graphs as data. Now the graph is made of Values, and all you hold is one of them, the [root](../glossary.ipynb#root), from which `_parents` leads to all the others. A [depth-first search](../glossary.ipynb#depth-first-search) does it: visit a node's parents, all of them, then append the node itself. A node that you have met before is not visited again.

# %% [markdown]
# ### Exercise 3.3 Topological order
#
# ●●●○○ · 8 minutes
#
# Write **`topological_order(root)`**.
#
# - `root`: a Value. Returns a `list` of Values: every node that can be reached from `root` through `_parents`, `root` included, **each exactly once, every parent before its child**. Any valid order will do; `root` is always last.
# - Two *different* leaves that hold the same number are two nodes. Tell nodes apart by identity, not by value.
# - No errors to raise. A chain of 100,000 nodes must work (this is a part of its own; a recursive answer loses only that part). Python allows about 1,000 calls inside each other.
#
# Example: for `b = a + a; c = b * a` the answer is `[a, b, c]`.
#
# (This name replaces lesson 1's function for graphs as data. Here that one is called `graph_order`.)

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "3.3-solution", "locked": false, "solution": true, "task": false}
def topological_order(root: Value) -> list[Value]:
    """Every node that root depends on, once, parents before children, root last."""
    ### BEGIN SOLUTION
    order: list[Value] = []
    met: set[int] = set()
    stack = [(root, False)]
    while stack:
        node, parents_are_done = stack.pop()
        if parents_are_done:
            order.append(node)
        elif id(node) not in met:
            met.add(id(node))
            stack.append((node, True))
            stack.extend((parent, False) for parent in node._parents)
    return order
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "3.3", "locked": true, "points": 3, "solution": false, "task": false}
check("3.3", topological_order, Value)
### BEGIN HIDDEN TESTS
from autograder.student import grade

grade("3.3", topological_order, Value)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>RecursionError: maximum recursion depth exceeded</summary>
#
# Your function calls itself once for each step of the chain. Keep your own list of nodes still to be visited, a *stack*, and loop until it is empty: `append` puts on top, `pop()` takes from the top.
#
# </details>
# <details><summary>I have a stack, but nodes come out before their parents</summary>
#
# With recursion, "append the node" happens *after* the calls for its parents. With a stack you need a second visit. Put a node on the stack twice: once to open it, and, underneath its parents, once more to append it. A pair `(node, True or False)` can tell the two visits apart.
#
# </details>
# <details><summary>A shared node appears twice</summary>
#
# It can be put on the stack by each of its children. Decide when you *open* it, not when you put it there: has it been met before? Then skip it.
#
# </details>
# <details><summary>Two leaves with the same number have become one</summary>
#
# Remember `id(node)`, or the nodes themselves in a set. Do not remember their `data`.
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# The search opens a node, puts it back to be appended later, and lays its parents on top. Everything on top is finished before the node comes up again, so its parents are in the list when it is appended.
#
# {{solution 3.3}}
#
# Could a parent be "met" but not yet in the list when its child is appended? Only if it still lay underneath, waiting. But what lies underneath waits for us: it is a descendant of the node at hand. A node that is both a parent and a descendant would be a cycle, and a computation has none.

# %% [markdown]
# ## Algorithm 3.1
#
# Now everything is there. The backward pass, in full:
#
# 1. Put the nodes that the root depends on into topological order.
# 2. Set the root's gradient to 1.
# 3. Go through the order backward.
# 4. At each node call its local backward rule with the node's own gradient.
#
# As a formula, this is one line. For every node $p$,
#
# $$\bar p \;=\; \sum_{c\,\in\,\text{children}(p)} \bar c\cdot\frac{\partial c}{\partial p},\qquad \bar L = 1,$$
#
# with one term for each edge (two for $a\cdot a$). The reverse order makes sure that every $\bar c$ on the right is complete before it is used.
#
# Notice what is passed around: numbers. No formula for the derivative is ever written down, no expression is simplified, nothing is nudged. This is [automatic differentiation](../glossary.ipynb#automatic-differentiation), and it is neither symbolic nor numerical. Its name for neural networks is [backpropagation](../glossary.ipynb#backpropagation).

# %% [markdown]
# ### Exercise 3.4 The backward pass
#
# ●●○○○ · 8 minutes
#
# Write **`value_backward(root)`**, the four steps above.
#
# - `root`: a Value. Returns `None`. Afterwards `grad` of every node that `root` depends on holds $\partial\,\text{root}/\partial\,\text{node}$ (for leaves that were at 0.0 before; [more on that](#Two-kinds-of-accumulation) in 3.5).
# - Leaves have `_backward` = `None`: there is nobody to send to.
# - No errors to raise.
#
# Example: `a, b = Value(1.5), Value(-0.7)`, then `L = (a * b + a) * tanh(b)` and `L.backward()` leave `a.grad` at −0.181310 and `b.grad` at −0.620919.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "3.4-solution", "locked": false, "solution": true, "task": false}
def value_backward(root: Value) -> None:
    """Fill in the gradient of every node that root depends on."""
    ### BEGIN SOLUTION
    order = topological_order(root)
    for node in order:
        if node._backward is not None:
            node.grad = 0.0  # exercise 3.5: what an earlier pass left in between is not sent again
    root.grad = 1.0
    for node in reversed(order):
        if node._backward is not None:
            node._backward(node.grad)
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "3.4", "locked": true, "points": 6, "solution": false, "task": false}
check("3.4", Value)
### BEGIN HIDDEN TESTS
from autograder.student import grade

grade("3.4", Value)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>Every gradient is 0</summary>
#
# Where does the first number come from? The root's own gradient has to be 1 before anything is sent.
#
# </details>
# <details><summary>Only the nodes next to the root get a gradient</summary>
#
# Either the list is read in the wrong direction, or only the root fires. All nodes fire, the root first.
#
# </details>
# <details><summary>Right on chains, wrong when a node is used twice</summary>
#
# Does a node fire once for each child, or before all its children have fired? Each node fires exactly once, in reverse topological order. If that is so, look at your rules of 3.1 and 3.2: do they add?
#
# </details>
# <details><summary>TypeError: 'NoneType' object is not callable</summary>
#
# A leaf has no rule. Skip it.
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# {{solution 3.4}}
#
# The first loop belongs to exercise 3.5; leave it out for now if you like, and everything in 3.4 works. The rest is Algorithm 3.1, line by line. The order does the thinking: when a node comes up, all its children have been, so `node.grad` is final.
