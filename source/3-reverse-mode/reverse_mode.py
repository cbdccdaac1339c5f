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
# **Time.** About 75 minutes for the core; [the reunion table](#The-reunion-table) is a good place for a break. Exercises marked *(more)* and ★ lie beyond the core. Skip them freely.
#
# **Before this.** Lesson 1 (the chain rule as a sum over paths) and lesson 2 (forward mode). What they built is given below, so you need no other notebook.
#
# **Where this sits.** The course ends with a language model that you train yourself. One step of training needs the derivative of one number, the loss, with respect to every weight. Lesson 1 got there by walking all paths, of which there are too many. Lesson 2 got there with one pass per weight, which is too slow. This lesson gets all of them in one pass. It is the step that makes training possible.

# %%
import gc
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
    show_data_graph,
    show_graph,
    start,
    when_ready,
)

start("3-reverse-mode", edition="classroom")

# %% [markdown]
# Under every exercise stands one cell that calls `check`. Run it as often as you like. Below it are drawers with hints, each titled with a complaint; open the one that sounds like yours. When you are stuck for ten minutes, move on: every section can be read without the exercises before it.
#
# The next two cells are folded. The first holds what lessons 1 and 2 built: graphs as data, the forward pass, local derivatives, tangents, finite differences. The second prints numbers neatly. Run them; unfold them when you are curious.

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
    """Lesson 1's topological order: every parent before its child.

    ValueError on a cycle, KeyError for an unknown parent.
    Lesson 1 calls it `topological_order`. Here that name is kept for exercise 3.3, which does the same for Values.
    """
    for name in {p for slots in parents.values() for p in slots} - parents.keys():
        raise KeyError(name)
    return list(TopologicalSorter(parents).static_order())


def local_derivatives(
    op: str, inputs: tuple[float, ...], output: float, n: float = 1.0
) -> tuple[float, ...]:
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
    beyond = (sum_over_paths(graph, values, source, parent) * slope for parent, slope in steps)
    return sum(beyond, 0.0)


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
# Helpers that print. Given: run it and go on.
def shown(x: float) -> str:
    """x to six places, with 0 instead of Python's −0."""
    return f"{round(x, 6) + 0.0:.6f}"


def listed(adjoints: dict[str, float]) -> str:
    """Adjoints in one line."""
    return "   ".join(f"{name}: {round(x, 6) + 0.0:g}" for name, x in adjoints.items())


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
            rule = "(adjoint of the child) · (local derivative)" if "→" in name else "the sum of what it receives"
            print(f"{name}   {shown(yours):>9}   not yet: {rule}")

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
( ) 2,000,000 :: That is what central differences need: two evaluations for each parameter. Forward mode needs one pass each, and is exact.
( ) As many as the graph has nodes :: A forward pass visits every node already. What has to be repeated is the seed, once for each input.
(x) 1,000,000 :: One seed for each parameter. Each pass is cheap, but there are $P$ of them. This lesson brings that down to one.

? Input $a$ reaches the loss along two paths. The products of local derivatives along them are $+3$ and $-3$. What is $\partial L/\partial a$?
(x) 0 :: Contributions of paths are added: $3 + (-3) = 0$. Each path carries something; the sum may still vanish. You will meet exactly this twice in the lesson.
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
#
# Here is the example as data, in the form of lesson 1: a dict in which every name stands for `Node(operation, parents)`.

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
show_data_graph(running, values, slopes=True)

# %% [markdown]
# *Each arrow leads from a parent to its child, and values run from left to right. On the arrow stands its [local derivative](../glossary.ipynb#local-derivative): how fast the child moves when this parent alone is nudged. Both $a$ and $b$ have [fan-out](../glossary.ipynb#fan-out): two arrows leave each of them, so each reaches $L$ in two ways.*
#
# Now go from right to left. Every node sends each of its parents one [message](../glossary.ipynb#message):
#
# $$\underbrace{\text{message from child } c \text{ to parent } p}_{\text{one number for each edge}} \;=\; \underbrace{\bar c}_{\text{adjoint of the child}}\cdot\underbrace{\frac{\partial c}{\partial p}}_{\text{local derivative on the edge}}$$
#
# And the adjoint of a node is **the sum of the messages that it receives**. That is the whole method. It is the chain rule of lesson 1, with the paths from $p$ to $L$ sorted by their first step: whatever way the influence of $p$ takes, it leaves $p$ through one of its children.
#
# $v$ and $w$ have one child each, so one message is the whole adjoint. $a$ receives two, one from $u$ and one from $v$.

# %% [markdown]
# ### By hand first
#
# Fill in the seven messages at $(1.5, -0.7)$, in the order in which a backward pass sends them, then the two sums. The first is done. Write arithmetic if you like: `1.0 * w` is a fine entry. The local derivatives are the ones you wrote in lesson 1.
#
# | edge | local derivative | message |
# |---|---|---|
# | *L*&nbsp;→&nbsp;*v* | $\partial L/\partial v = w$ | *L̄*&nbsp;·&nbsp;*w*&nbsp;=&nbsp;−0.604368 |
# | *L*&nbsp;→&nbsp;*w* | $\partial L/\partial w = v$ | |
# | *w*&nbsp;→&nbsp;*b* | $\partial w/\partial b = 1 - w^2$ | |
# | *v*&nbsp;→&nbsp;*u* | $\partial v/\partial u = 1$ | |
# | *v*&nbsp;→&nbsp;*a* | $\partial v/\partial a = 1$ | |
# | *u*&nbsp;→&nbsp;*a* | $\partial u/\partial a = b$ | |
# | *u*&nbsp;→&nbsp;*b* | $\partial u/\partial b = a$ | |

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
# | *L*&nbsp;→&nbsp;*v* | 1&nbsp;·&nbsp;*w*&nbsp;=&nbsp;−0.604368 |
# | *L*&nbsp;→&nbsp;*w* | 1&nbsp;·&nbsp;*v*&nbsp;=&nbsp;0.450000 |
# | *w*&nbsp;→&nbsp;*b* | 0.45&nbsp;·&nbsp;(1&nbsp;−&nbsp;*w*²)&nbsp;=&nbsp;0.285633 |
# | *v*&nbsp;→&nbsp;*u* | *v̄*&nbsp;·&nbsp;1&nbsp;=&nbsp;−0.604368 |
# | *v*&nbsp;→&nbsp;*a* | *v̄*&nbsp;·&nbsp;1&nbsp;=&nbsp;−0.604368 |
# | *u*&nbsp;→&nbsp;*a* | *ū*&nbsp;·&nbsp;*b*&nbsp;=&nbsp;0.423057 |
# | *u*&nbsp;→&nbsp;*b* | *ū*&nbsp;·&nbsp;*a*&nbsp;=&nbsp;−0.906552 |
#
# $\bar a = -0.604368 + 0.423057 = -0.181310$ and $\bar b = 0.285633 - 0.906552 = -0.620919$ (sums taken before rounding).
#
# Seven edges, seven messages, two derivatives.
#
# </details>

# %% [markdown]
# ### Exercise 3.0 The backward pass on data
#
# ●●○○○ · 8 minutes
#
# What you did by hand, as a program on graphs as data.
#
# Write **`adjoint_pass(graph, values, sink)`**.
#
# - `graph`: `dict[str, Node]`, its nodes in any order; `values`: the value of every node, as `forward_pass` returns them; `sink`: the name of the node to differentiate.
# - Returns a `dict` with an entry for **every** node of the graph: the float $\partial\,\text{sink}/\partial\,\text{node}$. The sink's own entry is 1.0. A node on which the sink does not depend gets 0.0.
# - No errors to raise.
#
# Two functions from lesson 1 are given:
#
# - `graph_order(parents)` takes a dict from each name to the names of its parents, such as `{"x": (), "y": ("x", "x")}`, and lists the names, parents before children. In a graph the parents of `name` are `graph[name].parents`.
# - `local_derivatives(op, inputs, output, n)` takes a node's `op`, its parents' values in order, its own value and its `n`, and returns one number for each slot (for an input: none).
#
# Example: on the running example at $(1.5, -0.7)$ it returns $-0.181310$ for `"a"` and $-0.620919$ for `"b"`. On `{"x": Node("input"), "y": Node("*", ("x", "x"))}` at $x = 3$ it returns $6$ for `"x"`: two slots, two messages of 3.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "3_0-solution", "locked": false, "solution": true, "task": false}
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

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "3_0", "locked": true, "points": 4, "solution": false, "task": false}
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
# <details><summary>graph_order raises KeyError: 1.0</summary>
#
# You gave it the graph itself. It wants a dict of tuples of names: for each name only the `parents` of its Node, without `op` and `n`.
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
    show_data_graph(running, values, adjoints=adjoints, slopes=True)

# %% [markdown]
# *Every node now shows two numbers: its value, made on the way forward, and its adjoint, made on the way back. Check one edge: adjoint of the child, times the number on the arrow, is what the parent got. One forward pass and one backward pass, and no variable was singled out.*

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
( ) 3 :: The local derivative is still 3, but a message is the local derivative *times the upstream*.
(x) 33 :: The new message is $3\cdot 10 = 30$, and `+=` adds it to the 3 from before.
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
# ●●○○○ · 6 minutes
#
# Write **`value_add(r, s)`** and **`value_mul(r, s)`**.
#
# - `r`, `s`: Values, possibly the *same* Value twice.
# - Return a new Value: its `data` is the sum (the product), its parents are `(r, s)`, and its third argument is a function `backward(g)` that adds the right message to `r.grad` and to `s.grad`.
# - `backward` uses `r` and `s` only, and takes the adjoint of its own node as the argument `g`. A closure that also held its own node would make a loop of references, and Python could not free the graph the moment you are done with it.
# - No errors to raise.
#
# Example: with `a = Value(2.0)`, `b = Value(-3.0)` and `c = a * b`, calling `c._backward(1.0)` leaves `a.grad` at −3 and `b.grad` at 2. With `d = a + a` (from fresh leaves), `d._backward(1.0)` leaves `a.grad` at 2.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "3_1-solution", "locked": false, "solution": true, "task": false}
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

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "3_1", "locked": true, "points": 4, "solution": false, "task": false}
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
# <details><summary>RecursionError: maximum recursion depth exceeded</summary>
#
# Inside `value_add`, `r + s` asks Python to add two Values, and for that Python calls `value_add` again, and so on. Add their numbers instead, `r.data` and `s.data`.
#
# </details>
# <details><summary>TypeError: backward() takes 0 positional arguments but 1 was given</summary>
#
# Some engines write `backward()` and read the adjoint from the node itself. Here it comes as an argument: `def backward(g)`, and no rule needs its own node.
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
    v.grad = 1.0
    v._backward(v.grad)  # v sends 1 to u and 1 to a
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
# That leaves $-a$, $a - b$ and $a/b$, and they need no calculus at all. $-a$ is $a\cdot(-1)$. $a - b$ is $a + (-b)$. $a/b$ is $a\cdot b^{-1}$. Built that way, they inherit their backward rules from the operations that they are made of. The graph grows by a node or two; the chain rule does the rest.

# %% tags=["quiz"]
quiz("3.predict-upstream", r"""
? $y = e^{x}$ at $x = 0$, so $y = 1$ and the local derivative is 1. The node $y$ is somewhere inside a larger graph, and its adjoint is $\bar y = -5$. Which message does $y$ send to $x$?
(x) −5 :: $\bar y\cdot 1 = -5$. Nudge $x$ by $\varepsilon$: $y$ moves by $\varepsilon$, the loss by $-5\,\varepsilon$.
( ) 1 :: That is the local derivative. It says how $y$ answers to $x$. The loss answers to $y$ with $-5$, and the two have to be multiplied.
( ) −4 :: That is $-5 + 1$. Along a path the chain rule multiplies; it adds only across paths.
( ) 0, because the exponent is 0 :: The local derivative of $e^x$ is its output, not its input. At $x = 0$ the output is 1.
""")

# %% [markdown]
# ### Exercise 3.2 Eight more operations
#
# ●●●○○ · 10 minutes
#
# Write, in the first cell, **`value_tanh(r)`, `value_exp(r)`, `value_log(r)`, `value_relu(r)`** and **`value_pow(r, n)`**, where `n` is a plain int or float. In the second cell write **`value_neg(r)`, `value_sub(r, s)`** and **`value_div(r, s)`** out of the operations that you have.
#
# - `r`, `s`: Values. Each function returns a new Value. Use `math.tanh`, `math.exp`, `math.log` on `r.data`.
# - Every rule adds to the parent's `grad`, and multiplies by the upstream.
# - Errors: leave them to Python. `math.log(0.0)` raises ValueError by itself, and dividing by 0 raises ZeroDivisionError.
#
# Examples, each fired with upstream 1: `exp(Value(0.7))` sends 2.013753. `relu` of −1 sends 0, of 2 sends 1. `Value(-3.0) ** 2` is 9 and sends −6. `a - a` is 0 and leaves `a.grad` at 0 once the whole graph has fired. `2 / Value(4.0)` is 0.5 and its derivative is −0.125.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "3_2-solution", "locked": false, "solution": true, "task": false}
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

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "3_2-solution-2", "locked": false, "solution": true, "task": false}
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

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "3_2", "locked": true, "points": 10, "solution": false, "task": false}
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
    y.grad = 1.0
    y._backward(y.grad)
    p._backward(p.grad)
    e._backward(e.grad)
    print(f"engine      {x.grad:.6f}")
    print(f"difference  {central_difference(lambda t: t * math.exp(t) + t, 0.7):.6f}")
    show_graph(y)

# %% [markdown]
# *Three messages arrive at $x$: one from the sum, one from the product, one through $e^x$ with an upstream of $0.7$. Try another operation in place of `exp`, in the second line and in the `difference`.*

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
( ) 0 :: $u$ does send something: it already holds the message from $L$.
(x) 2 :: When $u$ fires it holds only the 1 from $L$, and sends $1 + 1 = 2$ to $a$. Later $s$ sends 6 to $u$. That makes $\bar u = 7$, correctly, but $u$ has already fired.
( ) 7 :: That is $\bar u$. $a$ fills both slots of $u = a + a$, so it receives what $u$ sends twice.
( ) 14: in the end all messages have been sent :: They have been sent, but $u$ could only pass on what it held when it fired. The 6 from $s$ reaches $u$ too late to go on to $a$.
""")

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "given-fire", "locked": true, "solution": false, "task": false} jupyter={"source_hidden": true}
# A backward pass in any firing order that you like. Given: run it and go on.
def fire(
    graph: Graph,
    inputs: dict[str, float],
    sink: str,
    order: list[str],
    assign: bool = False,
    silent: bool = False,
) -> dict[str, float]:
    """Let the nodes send their messages in the given order; returns the adjoints.

    With `assign`, a message overwrites what was there. Prints every message unless `silent`, and marks those that
    come too late: after their receiver has fired.
    """
    values = forward_pass(graph, inputs)
    adjoints = {name: 0.0 for name in graph} | {sink: 1.0}
    fired: set[str] = set()
    for child in order:
        fired.add(child)
        slopes = slopes_of(graph, values, child)
        for parent, slope in zip(graph[child].parents, slopes, strict=True):
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
show_data_graph(early, {"a": 1.5}, slopes=True)
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
# ●●●○○ · 10 minutes
#
# Write **`topological_order(root)`**.
#
# - `root`: a Value. Returns a `list` of Values: every node that can be reached from `root` through `_parents`, `root` included, **each exactly once, every parent before its child**. Any valid order will do; `root` is always last.
# - Two *different* leaves that hold the same number are two nodes. Tell nodes apart by identity, not by value.
# - No errors to raise. A chain of 100,000 nodes must work, in about a second. This is a part of its own: Python allows about 1,000 calls inside each other, so a recursive answer loses that part, and only that part. Begin with recursion if it comes easier.
#
# Example: for `b = a + a; c = b * a` the answer is `[a, b, c]`.
#
# (This name replaces lesson 1's function for graphs as data. Here that one is called `graph_order`.)

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "3_3-solution", "locked": false, "solution": true, "task": false}
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

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "3_3", "locked": true, "points": 3, "solution": false, "task": false}
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
# <details><summary>The check runs and runs (■ stops it)</summary>
#
# Do you ask `node in order`, with `order` a list? Python then walks through the list from the front, every time: for 100,000 nodes that makes billions of steps. Remember the nodes that you have met in a *set*; a set knows at once.
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
# ●●○○○ · 5 minutes
#
# Write **`value_backward(root)`**, the four steps above.
#
# - `root`: a Value. Returns `None`. Afterwards `grad` of every node that `root` depends on holds $\partial\,\text{root}/\partial\,\text{node}$ (for leaves that were at 0.0 before; [more on that](#Two-kinds-of-accumulation) in 3.5).
# - Leaves have `_backward` = `None`: there is nobody to send to.
# - No errors to raise.
#
# Example: `a, b = Value(1.5), Value(-0.7)`, then `L = (a * b + a) * tanh(b)` and `L.backward()` leave `a.grad` at −0.181310 and `b.grad` at −0.620919.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "3_4-solution", "locked": false, "solution": true, "task": false}
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

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "3_4", "locked": true, "points": 6, "solution": false, "task": false}
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
# Does a node fire once for each child, or before all its children have fired? Each node fires exactly once, in reverse topological order. (Rules that overwrite are not it: this check does not hold them against your pass, 3.1 and 3.2 do. In graphs of your own they give the same picture.)
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

# %% [markdown]
# ## The running example, message by message
#
# Now the point $(a, b) = (2, -1)$. The forward pass gives $u = -2$, $v = 0$, $w = -0.761594\ldots$ and $L = 0$. (Python prints −0.0, which is a zero that remembers a sign. We show 0.)
#
# Before you run anything: $L = v\cdot w$ with $v = 0$. Which of the seven messages are zero for that reason alone?

# %% tags=["quiz"]
quiz("3.predict-zero", r"""
? At $(2, -1)$ we have $v = 0$. Tick every message that is 0 because of it.
[ ] $L \to v$ :: This message is $\bar L\cdot w = -0.761594$. It carries the *other* factor.
[x] $L \to w$ :: $\bar L\cdot v = 1\cdot 0 = 0$.
[x] $w \to b$ :: $\bar w\,(1 - w^2)$, and $\bar w = 0$. Whatever the rule of tanh says is multiplied by 0: at this point a wrong tanh rule goes unseen.
[ ] $u \to b$ :: $\bar u\cdot a = -0.761594\cdot 2 = -1.523188$. All of $b$'s gradient comes this way.
[ ] $v \to a$ :: A sum passes its adjoint on unchanged: $\bar v = -0.761594$.
""")

# %%
def steps(a, b):
    """u, v, w and L of the running example."""
    u = a * b
    v = u + a
    w = tanh(b)
    return u, v, w, v * w


with when_ready("3.1", "3.2", "3.3", "3.4"):
    a, b = Value(2.0), Value(-1.0)  # change the point
    u, v, w, L = steps(a, b)
    L.backward()
    show_backward(L)

# %% [markdown]
# *Step with the buttons, the slider or the arrow keys. Values appear from left to right; then the messages run back, one edge a step. Press Predict, and it waits at each fan-out until you have entered the next message.*
#
# The same as numbers:

# %%
with when_ready("3.1", "3.2", "3.3", "3.4"):
    a, b = Value(2.0), Value(-1.0)
    u, v, w, L = steps(a, b)
    L.backward()
    messages = {
        "L → v": L.grad * w.data,
        "L → w": L.grad * v.data,
        "w → b": w.grad * (1 - w.data**2),
        "v → u": v.grad,
        "v → a": v.grad,
        "u → a": u.grad * b.data,
        "u → b": u.grad * a.data,
    }
    for edge, message in messages.items():
        print(f"{edge}   {shown(message):>9}")
    for node, one, other in (a, "v → a", "u → a"), (b, "w → b", "u → b"):
        second = shown(messages[other])
        sum_ = f"{shown(messages[one])} + {f'({second})' if messages[other] < 0 else second}"
        print(f"adjoint of {one[-1]} = {sum_} = {shown(node.grad)}")

# %% [markdown]
# $\bar a = -0.761594\ldots + 0.761594\ldots = 0$: two messages that cancel. $a$ matters along both paths, and the two effects undo each other. A gradient of 0 does not say that nothing flowed. And $\bar b = 0 + (-1.523188\ldots) = -1.523188\ldots$
#
# Forward mode gives the same two numbers, in two passes, one for each input:

# %%
at = forward_pass(running, {"a": 2.0, "b": -1.0})
print("seed a:", shown(tangent_pass(running, at, {"a": 1.0})["L"]))
print("seed b:", shown(tangent_pass(running, at, {"b": 1.0})["L"]))

# %% [markdown]
# ## The reunion table
#
# The course keeps one table. Each lesson adds its rows: the two derivatives of the running example at $(1.5, -0.7)$, each time in another way. Lesson 2's row for `Dual` stands in your notebook of lesson 2. Here are the others; the last four are this lesson's.

# %%
def expression(a, b):
    return (a * b + a) * tanh(b)


with when_ready("3.0", "3.1", "3.2", "3.3", "3.4"):
    at = forward_pass(running, {"a": 1.5, "b": -0.7})
    w, v = at["w"], at["v"]
    differences = numerical_gradient(lambda x: expression(*x), [1.5, -0.7])
    adjoints = adjoint_pass(running, at, "L")

    a, b = Value(1.5), Value(-0.7)
    L = expression(a, b)
    L.backward()

    at_torch = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in (1.5, -0.7)]
    expression(*at_torch).backward()

    reunion = {
        "1  paths": [sum_over_paths(running, at, x, "L") for x in "ab"],
        "1  differences": list(differences),
        "2  tangents, two passes": [tangent_pass(running, at, {x: 1.0})["L"] for x in "ab"],
        "3  adjoints by hand": [w * 1 + w * -0.7, v * (1 - w**2) + w * 1.5],
        "3  adjoint_pass": [adjoints["a"], adjoints["b"]],
        "3  Value": [a.grad, b.grad],
        "3  PyTorch": [x.grad.item() for x in at_torch],
    }
    print(f"{'lesson, way':<26}{'∂L/∂a':>12}{'∂L/∂b':>12}")
    for way, (da, db) in reunion.items():
        print(f"{way:<26}{shown(da):>12}{shown(db):>12}")

# %% [markdown]
# *One pair of numbers: −0.181310 and −0.620919. The ways differ only in what they cost. That comes [later](#What-a-gradient-costs).*
#
# ## Two kinds of accumulation
#
# Within one pass, messages add up, because a node may have several children. There is a second kind. **From one call of `backward` to the next, the gradients of the leaves add up too.** Nothing clears them by itself. PyTorch does the same, by design: with losses $L_1$ and $L_2$, two calls leave the gradient of $L_1 + L_2$, and nobody has to hold both graphs in memory at once. Large batches are cut into [microbatches](../glossary.ipynb#microbatch) that way.
#
# Take $f = ab + a$ at $(2, 3)$. The derivative with respect to $a$ is $b + 1 = 4$.

# %% tags=["quiz"]
quiz("3.predict-twice", r"""
? We call `f.backward()` twice on the same graph and clear nothing. Two calls should leave the gradient of $f + f$. What should `a.grad` be?
( ) 4 :: That would be so if the second call replaced the first. By default gradients accumulate.
(x) 8 :: $4 + 4$. A second call adds exactly one more gradient. Run the next cell: does *your* engine say so?
( ) 11 :: Many engines say 11, and it is not the gradient of $2f$. The reason is worth knowing: read on below.
( ) 16 :: Calls add. They do not multiply.
""")

# %%
with when_ready("3.1", "3.3", "3.4"):
    a, b = Value(2.0), Value(3.0)
    u = a * b
    f = u + a
    f.backward()
    print("after one call: ", a.grad)
    f.backward()
    print("after two calls:", a.grad)
    show_graph(f)

# %% [markdown]
# If it says 11, look at $u = ab$. After the first call it still holds $\bar u = 1$. In the second call $f$ sends it another 1, which makes 2, and $u$ passes on $2\cdot b = 6$ instead of 3. With the 1 that comes straight from $f$, the second call adds 7, and $4 + 7 = 11$. A stale number was sent a second time.
#
# So the two kinds want different treatment:
#
# - **Leaves** keep what they have from call to call. That is wanted.
# - **Nodes in between** must start each pass at 0. Their adjoint belongs to one pass only.
#
# PyTorch does not even keep the numbers that a second pass on the same graph would need: it frees them as it goes, and raises an error unless you ask for them to be kept.

# %%
a = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
b = torch.tensor(3.0, dtype=torch.float64, requires_grad=True)
f = a * b + a
f.backward()
try:
    f.backward()
except RuntimeError as error:
    print("RuntimeError:", str(error).split(" (")[0])

a.grad = None
f = a * b + a
f.backward(retain_graph=True)
print("after one call: ", a.grad.item())
f.backward()
print("after two calls:", a.grad.item())

# %% [markdown]
# ### Exercise 3.5 A second backward
#
# ●●○○○ · 4 minutes
#
# Two things.
#
# 1. **Go back to your `value_backward` in [3.4](#Exercise-3.4-The-backward-pass)** and amend it there, so that a second call on the same graph adds exactly one more gradient to every leaf. Run that cell again. It stays the one home of `value_backward`. (Do not call `zero_grad` there: it stands further down, and when the notebook runs from the top it does not exist yet.)
# 2. Write **`zero_grad(values)`** here. `values` is any iterable of Values (a list, a generator, …). It sets the `grad` of each to 0.0 and returns `None`.
#
# No errors to raise.
#
# Example: with $f = ab + a$ at $(2, 3)$, `a.grad` is 4 after one call and 8 after two. After `zero_grad([a, b])` and another call it is 4 again.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "3_5-solution", "locked": false, "solution": true, "task": false}
def zero_grad(values) -> None:
    """Set the gradient of each of the values to 0.0."""
    ### BEGIN SOLUTION
    for value in values:
        value.grad = 0.0
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "3_5", "locked": true, "points": 4, "solution": false, "task": false}
check("3.5", Value, zero_grad)
### BEGIN HIDDEN TESTS
from autograder.student import grade
grade("3.5", Value, zero_grad)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>Two calls give 11</summary>
#
# A node in between still holds its adjoint from the first call when the second begins. At the start of a pass you have a list of all nodes. Which of them have to start from 0?
#
# </details>
# <details><summary>Two calls give 4</summary>
#
# Then the leaves were cleared as well. A leaf is a node without parents. Leave it alone: only whoever owns the leaves clears them, with `zero_grad`.
#
# </details>
# <details><summary>NameError in 3.4: name 'zero_grad' is not defined</summary>
#
# `value_backward` calls a function that is defined further down. It worked only because you had run that cell already. In 3.4, set each `grad` to 0.0 in a loop of your own.
#
# </details>
# <details><summary>I changed value_backward and the check does not notice</summary>
#
# Run the cell of 3.4 once more: a function changes only when its cell runs.
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# At the start of a pass, every node that has a rule, and so is no leaf, is set to 0. The leaves are left as they are. `zero_grad` is a loop.
#
# {{solution 3.5}}
#
# And `value_backward`, at home in 3.4:
#
# {{solution 3.4}}
#
# Another way, just as good: keep the adjoints of a pass in a dictionary of its own, and add them to `grad` at the end.

# %% [markdown]
# ## Outside the graph
#
# Not all arithmetic should be recorded. Take one step of training, small enough to follow. The model predicts $z = w\,x$, the loss is $L = (z - y)^2$, and $w = 1$, $x = 2$, $y = 6$.

# %%
with when_ready("3.1", "3.2", "3.3", "3.4"):
    w = Value(1.0)
    z = w * 2.0
    L = (z - 6.0) ** 2
    L.backward()
    print(f"prediction {z.data:g}, loss {L.data:g}, dL/dz {z.grad:g}, dL/dw {w.grad:g}")

    w.data = w.data - 0.01 * w.grad  # the update: plain numbers, nothing is recorded
    z_new = w.data * 2.0
    print(f"new w {w.data:g}, new prediction {z_new:g}, new loss {(z_new - 6.0) ** 2:.4f}")

# %% [markdown]
# The backward pass said $-16$. It did not change $w$. The update did, in a step of its own, with a [learning rate](../glossary.ipynb#learning-rate) of 0.01: $1 - 0.01\cdot(-16) = 1.16$, and the loss fell from 16 to 13.5424. **Backpropagation computes a gradient. An [optimizer](../glossary.ipynb#optimizer) decides what to do with it.**
#
# The update must not become part of the graph: the new $w$ would be a node hanging on last step's graph instead of a leaf, and so on, step after step. We worked on `w.data`. PyTorch has a switch, `torch.no_grad()`:

# %%
w = torch.tensor(1.0, requires_grad=True)
((w * 2.0 - 6.0) ** 2).backward()

recorded = w - 0.01 * w.grad
print("recorded update:  leaf?", recorded.is_leaf, "  made by", type(recorded.grad_fn).__name__)

with torch.no_grad():
    w -= 0.01 * w.grad
print("inside no_grad:   leaf?", w.is_leaf, "  w =", round(w.item(), 4))

# %% [markdown]
# The second tool is to [detach](../glossary.ipynb#detach) one number: go on with its value, but without its history. In PyTorch that is `x.detach()`; in our engine it is a new leaf, `Value(x.data)`. It is the right thing when you note a loss for a plot. In the middle of a model, by accident, it cuts a path, and nobody complains: the loss is the same, the gradient is not.

# %% [markdown]
# ### Exercise 3.11 Predict, then run
#
# ●●○○○ · 3 minutes · (3.6 to 3.10 come after it)
#
# Predict two things. Write down your answers before you run anything.
#
# 1. Three identical rounds: build `y = x * x` anew at $x = 3$, call `y.backward()`, clear nothing. What is `x.grad` after the first, the second, the third round?
# 2. From a fresh `x = Value(3.0)`, build `y = x * Value(x.data)` and call `y.backward()`. What is `x.grad`?
#
# Write **`my_prediction()`**. It returns the dict `{"passes": [g1, g2, g3], "detached": g}` with plain numbers. No errors to raise.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "3_11-solution", "locked": false, "solution": true, "task": false}
def my_prediction() -> dict:
    """What x.grad will be: after each of three rounds, and with one factor detached."""
    ### BEGIN SOLUTION
    return {"passes": [6.0, 12.0, 18.0], "detached": 3.0}
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "3_11", "locked": true, "points": 2, "solution": false, "task": false}
check("3.11", my_prediction)
### BEGIN HIDDEN TESTS
from autograder.student import grade
grade("3.11", my_prediction)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>I said 6, 6, 6</summary>
#
# That would be true if each call replaced the last. What does `+=` do to a leaf that nobody has cleared?
#
# </details>
# <details><summary>But y is built anew each round, so is there anything stale?</summary>
#
# `y` is new, and so is its gradient of 0. Which Value is *not* new?
#
# </details>
# <details><summary>I said 6 for the detached one</summary>
#
# Draw the edges. `Value(x.data)` is a leaf of its own: it has no parents, so nothing that it receives travels on to `x`. How many messages reach `x`?
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# $x^2$ at 3 has slope 6. Each round adds 6 to the same leaf: 6, 12, 18. "My gradients grow with the number of steps" is the symptom of a missing `zero_grad`.
#
# With one factor detached, only one of the two slots leads to `x`. It sends the other factor's data: 3.
#
# {{solution 3.11}}

# %%
with when_ready("3.1", "3.3", "3.4", "3.11"):
    prediction = my_prediction()
    x, x_torch = Value(3.0), torch.tensor(3.0, requires_grad=True)
    print(f"{'round':<10}{'predicted':>10}{'Value':>10}{'PyTorch':>10}")
    for i, predicted in enumerate(prediction["passes"], 1):
        (x * x).backward()
        (x_torch * x_torch).backward()
        print(f"{i:<10}{predicted!s:>10}{x.grad:>10g}{x_torch.grad.item():>10g}")

    x, x_torch = Value(3.0), torch.tensor(3.0, requires_grad=True)
    cut = x * Value(x.data)
    cut.backward()
    (x_torch * x_torch.detach()).backward()
    predicted = prediction["detached"]
    print(f"{'detached':<10}{predicted!s:>10}{x.grad:>10g}{x_torch.grad.item():>10g}")
    print(f"difference quotient of x·x: {central_difference(lambda t: t * t, 3.0):.6f}")
    show_graph(cut)

# %% [markdown]
# *Both engines say 3 for the detached product, and finite differences say 6. Nobody is wrong. The engines differentiate the graph that was recorded; finite differences rerun the program. When they part, ask whether the graph is the one you meant.*
#
# In a training loop the nodes in between are built anew at every step, so they need no clearing. The parameters live on. They are the ones to clear.

# %% [markdown]
# ## A network taken apart
#
# Time for something that deserves the name network: two inputs, four ReLU units, two [logits](../glossary.ipynb#logit). It was wired by hand to tell whether a point lies in the diamond $|x_1| + |x_2| < 1$.
#
# $$h_1 = \mathrm{relu}(x_1),\quad h_2 = \mathrm{relu}(-x_1),\quad h_3 = \mathrm{relu}(x_2),\quad h_4 = \mathrm{relu}(-x_2)$$
#
# Of $h_1$ and $h_2$ one is always 0, and the other is $|x_1|$. So $s = 1 - (h_1 + h_2 + h_3 + h_4)$ is $1 - |x_1| - |x_2|$: positive inside, negative outside. The logits are
#
# $$z_{\text{inside}} = \gamma s,\qquad z_{\text{outside}} = -\gamma s,$$
#
# where $\gamma$ says how sharply the network decides. [Softmax](../glossary.ipynb#softmax) turns them into probabilities,
#
# $$p(\text{inside}) = \frac{e^{z_{\text{inside}}}}{e^{z_{\text{inside}}} + e^{z_{\text{outside}}}},$$
#
# and with "inside" as the right answer the loss is $\ell = -\log p(\text{inside})$.
#
# At $(0.5, 0.25)$ with $\gamma = 4$: $s = 0.25$, the logits are $1$ and $-1$, $p(\text{outside}) = 0.119203$ and $\ell = 0.126928$. In plain numbers:

# %%
x1, x2, gamma = 0.5, 0.25, 4.0  # move the point outside, to (1.0, 0.5), and see the loss rise
hidden = [max(x1, 0.0), max(-x1, 0.0), max(x2, 0.0), max(-x2, 0.0)]
s = 1 - sum(hidden)
odds = {"inside": math.exp(gamma * s), "outside": math.exp(-gamma * s)}
p = {name: odd / sum(odds.values()) for name, odd in odds.items()}
print("hidden units:", hidden, "  s:", s, "  logits:", gamma * s, -gamma * s)
print(f"p(inside) {shown(p['inside'])}   p(outside) {shown(p['outside'])}")
print(f"loss {shown(-math.log(p['inside']))}")

# %% [markdown]
# ### Exercise 3.6 The diamond
#
# ●●●○○ · 8 minutes
#
# Write **`diamond_loss(x1, x2, gamma)`**, the loss above with target "inside".
#
# - `x1`, `x2`: Values (or torch scalars, or floats); `gamma`: a positive float. Returns a scalar of the same kind, in nats (that is, with the natural logarithm).
# - Build the four ReLU units from `relu(x)`, and the rest from `exp(x)`, `log(x)` and operators. Those call your rules for a Value, PyTorch's for a tensor and `math`'s for a float, so one function serves all three.
# - No errors to raise; $\gamma s$ stays small enough for `exp`.
#
# Example: `diamond_loss(0.5, 0.25, 4.0)` is 0.126928. With Values, `backward()` leaves 0.953623 in both `x1.grad` and `x2.grad`.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "3_6-solution", "locked": false, "solution": true, "task": false}
def diamond_loss(x1: Value, x2: Value, gamma: float) -> Value:
    """−log p(inside) of the diamond network with sharpness gamma, in nats."""
    ### BEGIN SOLUTION
    s = 1.0 - (relu(x1) + relu(-x1) + relu(x2) + relu(-x2))
    z_inside, z_outside = gamma * s, -gamma * s
    return log(exp(z_inside) + exp(z_outside)) - z_inside
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "3_6", "locked": true, "points": 4, "solution": false, "task": false}
check("3.6", diamond_loss, Value)
### BEGIN HIDDEN TESTS
from autograder.student import grade
grade("3.6", diamond_loss, Value)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>My loss is 2.126928 or −0.126928</summary>
#
# The first is $-\log p(\text{outside})$: the target is "inside". The second has lost its minus sign: the logarithm of a probability is negative, the loss is not.
#
# </details>
# <details><summary>I do not get the loss into few operations</summary>
#
# $-\log\dfrac{e^{p}}{e^{p} + e^{q}} = \log(e^{p} + e^{q}) - p$. Three operations you have.
#
# </details>
# <details><summary>It works for positive inputs only</summary>
#
# All four units are needed: `relu(x1)` sees positive values, `relu(-x1)` negative ones.
#
# </details>
# <details><summary>'float' object has no attribute 'backward'</summary>
#
# Somewhere a Value became a plain number: `max(x1, 0)`, `abs(...)`, `math.exp(x.data)`. Use `relu`, `exp` and `log` from the given cell.
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# {{solution 3.6}}
#
# $|x| = \mathrm{relu}(x) + \mathrm{relu}(-x)$, and $-\log$ of a softmax probability is log-sum-exp minus the target's logit. Dividing first and taking the logarithm afterwards gives the same numbers here; for large logits the quotient overflows sooner.

# %% [markdown]
# Now let four independent ways speak about the same two numbers. The closed form, which you will derive in the written question, is $\partial\ell/\partial x_1 = \partial\ell/\partial x_2 = 2\gamma\cdot p(\text{outside})$ for positive inputs.

# %%
with when_ready("3.1", "3.2", "3.3", "3.4", "3.6"):
    at, gamma = (0.5, 0.25), 4.0  # any point in the first quadrant
    s = 1 - abs(at[0]) - abs(at[1])
    p_outside = math.exp(-gamma * s) / (math.exp(gamma * s) + math.exp(-gamma * s))

    x1, x2 = Value(at[0]), Value(at[1])
    loss = diamond_loss(x1, x2, gamma)
    loss.backward()
    t1, t2 = (torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in at)
    diamond_loss(t1, t2, gamma).backward()

    ways = {
        "closed form": [2 * gamma * p_outside] * 2,
        "differences": list(numerical_gradient(lambda x: diamond_loss(x[0], x[1], gamma), at)),
        "Value": [x1.grad, x2.grad],
        "PyTorch": [t1.grad.item(), t2.grad.item()],
    }
    print(f"loss {shown(loss.data)}   p(outside) {shown(p_outside)}")
    for way, (d1, d2) in ways.items():
        print(f"{way:<14}{shown(d1):>10}{shown(d2):>10}")
    rows = np.array(list(ways.values()))
    print(f"largest absolute disagreement: {np.max(rows.max(axis=0) - rows.min(axis=0)):.1e}")
    show_graph(loss)

# %% [markdown]
# *Find the four ReLU nodes. Two of them have value 0 and send nothing back; the other two pass on what they get. The largest disagreement is that of the finite differences, which are approximate. The other three agree to the last places.*
#
# And the same engine at 225 points. Each arrow is $-\nabla\ell$ from *your* `backward`, the direction in which the loss falls fastest.

# %%
with when_ready("3.1", "3.2", "3.3", "3.4", "3.6"):
    if not quiet():
        import matplotlib.pyplot as plt

        gamma, side = 2.0, np.linspace(-1.4, 1.4, 15)
        arrows = []
        for p in side:
            for q in side:
                x1, x2 = Value(p), Value(q)
                diamond_loss(x1, x2, gamma).backward()
                arrows.append((p, q, -x1.grad, -x2.grad))
        fine = np.linspace(-1.6, 1.6, 200)
        inside = 1 / (1 + np.exp(-2 * gamma * (1 - abs(fine)[None, :] - abs(fine)[:, None])))

        plot_style()
        fig, ax = plt.subplots(figsize=(5.6, 4.6))
        shade = ax.pcolormesh(fine, fine, inside, cmap="cividis", vmin=0, vmax=1, shading="auto")
        fig.colorbar(shade, label="p(inside)")
        ax.plot([1, 0, -1, 0, 1], [0, 1, 0, -1, 0], "w--", linewidth=1.5, marker="")
        ax.quiver(*np.array(arrows).T, color="white", scale=75, width=0.004)
        ax.set(xlabel="$x_1$ (input)", ylabel="$x_2$ (input)", aspect="equal")
        ax.set_title("Downhill is inward, along one of four directions")
        ax.grid(False)
        plt.show()

# %% [markdown]
# *The dashed line is the edge of the diamond. Within a quadrant all arrows are parallel, because the loss depends on $|x_1| + |x_2|$ only. They are long where the network is wrong and shrink to nothing where it is right and sure. On the axes one input sits exactly at ReLU's kink: there your rule for 0 decides.*

# %% [markdown]
# ## Three witnesses
#
# How sure are you of a gradient? As sure as the independent ways that agree on it:
#
# 1. **By hand**, on a graph small enough.
# 2. **[Finite differences](../glossary.ipynb#finite-differences)**: nudge each input both ways, rerun, divide. They know nothing of your rules.
# 3. **Another system**: the same function in PyTorch.
#
# When do two numbers $g$ and $\hat g$ "agree"? The absolute error $|g - \hat g|$ is too strict for large numbers. The usual compromise is the [relative error](../glossary.ipynb#relative-error)
#
# $$\frac{|g - \hat g|}{\max(1, |g|, |\hat g|)},$$
#
# whose 1 in the denominator keeps two tiny harmless numbers from looking wildly different. No one threshold fits all: with float64 and small graphs $10^{-5}$ is generous, with float32 and a large network it may be harsh.
#
# And finite differences have limits of their own. First a gentle case, $L = (2w - 6)^2$ at $w = 1$, then the running example.

# %%
print(f"{'h':>8}{'(2w−6)² at 1':>16}{'error for ∂L/∂b at (1.5, −0.7)':>36}")
exact = sum_over_paths(running, forward_pass(running, {"a": 1.5, "b": -0.7}), "b", "L")
for h in (1e-1, 1e-3, 1e-5, 1e-7, 1e-9, 1e-11, 1e-13, 1e-15):
    gentle = central_difference(lambda w: (2 * w - 6) ** 2, 1.0, h)
    error = abs(central_difference(lambda b: expression(1.5, b), -0.7, h) - exact)
    print(f"{h:>8.0e}{gentle:>16.6f}{error:>36.1e}")

# %% [markdown]
# *The derivative of $(2w-6)^2$ at 1 is −16, and a central difference has no truncation error on a parabola, so only rounding disturbs it. In the other column the error first falls with $h^2$, then rises again: the difference of two nearly equal numbers has few correct digits left.*
#
# If a gradient disagrees with finite differences **only at extreme step sizes**, the chain rule is innocent. And when all three agree, you know that the derivative is right. You do not know that the loss is the one you should have written.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "given-pytorch", "locked": true, "solution": false, "task": false} jupyter={"source_hidden": true}
# PyTorch as a witness. Given: run it and go on.
def pytorch_gradient(f, values) -> list[float]:
    """The gradient of f at the list `values`, in float64; 0.0 for an input that f does not use."""
    tensors = [torch.tensor(float(x), dtype=torch.float64, requires_grad=True) for x in values]
    result = f(tensors)
    if getattr(result, "requires_grad", False):
        result.backward()
    return [0.0 if t.grad is None else t.grad.item() for t in tensors]

# %% [markdown]
# ### Exercise 3.7 A gradient check
#
# ●●●○○ · 15 minutes · *(more)*
#
# Write **`gradient_check(f, values, h=1e-6)`**, which asks all three witnesses.
#
# - `f` takes **one list** of $P$ scalars (Values, floats or torch scalars) and returns one scalar; `values`: $P$ floats; `h`: the step of the central difference.
# - Returns a dict:
#   - `"engine"`, `"finite_difference"`, `"pytorch"`: each a list of $P$ floats. An input that `f` does not use, and every input when `f` returns a plain number, has gradient 0.0.
#   - `"max_disagreement"`: the largest relative error between any two witnesses at any input, a float.
#   - `"first"`: the index of the first input at which any two witnesses are more than $10^{-5}$ (relative error) apart; `None` if there is none.
#   - `"odd_one_out"`: if they are not all agreed, the name of the witness without whom the other two agree at every input; `None` if all agree, or if nobody can be singled out.
# - No errors to raise.
#
# Given: `numerical_gradient(f, values, h)`, `pytorch_gradient(f, values)`, `relative_error(g, g_hat)`.
#
# Example: for `f = lambda x: x[0] * x[1]` at `[2.0, 3.0]` all three lists are about `[3.0, 2.0]`, and `first` and `odd_one_out` are `None`. For `f = lambda x: x[1] + x[0] * getattr(x[0], "data", x[0])` at `[3.0, 1.0]` both engines say `[3.0, 1.0]` and finite differences `[6.0, 1.0]`: `first` is 0, `odd_one_out` is `"finite_difference"`.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "3_7-solution", "locked": false, "solution": true, "task": false}
def gradient_check(f, values, h: float = 1e-6) -> dict:
    """The gradient of f by three witnesses, and where they part."""
    ### BEGIN SOLUTION
    leaves = [Value(x) for x in values]
    result = f(leaves)
    if hasattr(result, "backward"):
        result.backward()
    witnesses = {
        "engine": [leaf.grad for leaf in leaves],
        "finite_difference": [float(g) for g in numerical_gradient(f, values, h)],
        "pytorch": pytorch_gradient(f, values),
    }
    apart = {}  # for each witness: how far the other two are apart, input by input
    for name in witnesses:
        one, other = (witnesses[n] for n in witnesses if n != name)
        apart[name] = [relative_error(g, k) for g, k in zip(one, other, strict=True)]
    worst = [max(errors) for errors in zip(*apart.values(), strict=True)]
    first = next((i for i, error in enumerate(worst) if error > 1e-5), None)
    without = [name for name in witnesses if first is not None and max(apart[name]) <= 1e-5]
    return {
        **witnesses,
        "max_disagreement": max(worst),
        "first": first,
        "odd_one_out": without[0] if len(without) == 1 else None,
    }
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "3_7", "locked": true, "points": 3, "solution": false, "task": false}
check("3.7", gradient_check)
### BEGIN HIDDEN TESTS
from autograder.student import grade
grade("3.7", gradient_check)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>'float' object has no attribute 'backward'</summary>
#
# `f` may return a plain number, a constant. Then there is nothing to call, and every gradient is 0.0.
#
# </details>
# <details><summary>TypeError: f takes one argument</summary>
#
# Hand over the whole list: `f(leaves)`, not `f(*leaves)`.
#
# </details>
# <details><summary>I do not see how to find the odd one out</summary>
#
# Three witnesses, three pairs. Leave one witness out and look at the pair that remains: does it agree at *every* input? If that holds for exactly one choice, you have found who stands alone.
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# For each witness look at the *other two*. If they agree everywhere although not everybody does, this witness stands alone.
#
# {{solution 3.7}}
#
# Mind what "odd one out" does not mean. In the second example finite differences stand alone, and they describe the program truly; both engines were cut off by the same detached value. A majority is a clue, not a proof.

# %%
with when_ready("3.1", "3.2", "3.3", "3.4", "3.7"):

    def friendly(x):
        return x[0] * tanh(x[1]) + exp(x[2]) / x[0]

    def with_a_cut(x):
        return x[1] + x[0] * getattr(x[0], "data", x[0])  # one factor is detached

    for name, f in {"friendly": friendly, "with a cut": with_a_cut}.items():
        report = gradient_check(f, [3.0, 1.0, 0.5])
        apart, odd, first = (report[key] for key in ("max_disagreement", "odd_one_out", "first"))
        print(f"{name}: furthest apart {apart:.1e}, odd one out: {odd}, first at: {first}")
    report = gradient_check(friendly, [3.0, 1.0, 0.5], h=1e-13)
    apart, odd = report["max_disagreement"], report["odd_one_out"]
    print(f"friendly, h = 1e-13: furthest apart {apart:.1e}, odd one out: {odd}")

# %% [markdown]
# *Same function, other step size, and suddenly finite differences stand alone. That is failure by rounding, not by rule.*

# %% [markdown]
# ## Addition, not assignment
#
# The most common fault in a first engine is one character long: `=` where `+=` belongs. Each message then replaces what came before it. On a chain nothing is lost, because every node has one child. It takes fan-out to show the fault, and even then a test can look away.
#
# Here is the faulty rule on the running example, in the folded `fire` from before, with `assign=True`:

# %%
at = {"a": 1.5, "b": -0.7}
faulty = fire(running, at, "L", ["L", "w", "v", "u", "a", "b"], assign=True)
print("adjoint of a:", shown(faulty["a"]))
print("right:       ", shown(sum_over_paths(running, forward_pass(running, at), "a", "L")))

# %% [markdown]
# *Only the message that came last is left: $u \to a$.*
#
# A good counterexample is small. If a bug shows on one operation, you need not look for it in twenty. And its numbers are chosen so that the wrong answer cannot come out right by accident.

# %% [markdown]
# ### Exercise 3.8 The smallest counterexample
#
# ●●○○○ · 4 minutes
#
# Construct the smallest graph on which assigning instead of adding gives a wrong derivative.
#
# Write **`smallest_counterexample()`**. It returns a tuple `(graph, inputs, sink)`:
#
# - `graph`: `dict[str, Node]` with **one** operation beside its input nodes;
# - `inputs`: `dict[str, float]`, a value for each input node, at which the derivative under the faulty rule *differs* from the right one;
# - `sink`: the name of the node to differentiate.
#
# No errors to raise.
#
# For the shape of the answer, an example that is *not* a counterexample: `({"a": Node("input"), "y": Node("tanh", ("a",))}, {"a": 0.5}, "y")`. One operation, but only one message.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "3_8-solution", "locked": false, "solution": true, "task": false}
def smallest_counterexample() -> tuple[Graph, dict[str, float], str]:
    """A graph with one operation, a value for each input, and the sink."""
    ### BEGIN SOLUTION
    graph = {"a": Node("input"), "y": Node("*", ("a", "a"))}
    return graph, {"a": 3.0}, "y"
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "3_8", "locked": true, "points": 3, "solution": false, "task": false}
check("3.8", smallest_counterexample)
### BEGIN HIDDEN TESTS
from autograder.student import grade
grade("3.8", smallest_counterexample)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>With one operation, how can two messages meet?</summary>
#
# An operation with two slots sends two messages. Nothing says that the slots hold different nodes.
#
# </details>
# <details><summary>The check says that both rules agree at my values</summary>
#
# Work out both messages. If the first message is 0, forgetting it does no harm. Choose values at which every message counts.
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# {{solution 3.8}}
#
# $a\cdot a$ at 3: the right derivative is $3 + 3 = 6$, and the faulty rule keeps 3. At $a = 0$ both messages are 0 and the fault hides. $a + a$ works everywhere: 2 against 1. One operation with one slot cannot do it, since it sends one message only; so this is as small as it gets.

# %%
with when_ready("3.8"):
    graph, inputs, sink = smallest_counterexample()
    order = graph_order({name: node.parents for name, node in graph.items()})[::-1]
    print("adding:   ", listed(fire(graph, inputs, sink, order, silent=True)))
    print("assigning:", listed(fire(graph, inputs, sink, order, assign=True, silent=True)))

# %% [markdown]
# ## Order is a dependency
#
# A graph usually has several topological orders. In the running example $v$ and $w$ do not depend on each other, so either may come first. Every valid order, reversed, gives the same adjoints. What is *not* free is that a node waits for all its children.
#
# So the reverse order is a dependency requirement, not a matter of taste: a parent's adjoint depends on its children's adjoints. Break it and a particular message is lost. This exercise asks you to say which.

# %% [markdown]
# ### Exercise 3.9 Order matters
#
# ●●●○○ · 10 minutes · *(more)*
#
# Write **`order_matters()`**. It returns a dict:
#
# - `"graph"`: a `dict[str, Node]` of your choice; `"inputs"`: a float for each of its inputs; `"sink"`: the node to differentiate;
# - `"order_1"`, `"order_2"`: two **different** topological orders of all its nodes (lists of names, parents before children);
# - `"bad_reverse_order"`: all its nodes once, in the order in which they fire, the sink first, such that some node fires **before** one of its children and the adjoint of some input comes out **wrong**;
# - `"lost"`: a pair `(child, parent)`: a message that reaches `parent` only after it has fired, and so is never passed on.
#
# No errors to raise.
#
# For the shape of the answer: in the section [Whoever fires early loses a message](#Whoever-fires-early-loses-a-message) the bad reverse order was `["L", "u", "s", "a"]`, and `("s", "u")` was lost. That graph has only one topological order, so it will not do as it is.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "3_9-solution", "locked": false, "solution": true, "task": false}
def order_matters() -> dict:
    """Two valid orders of one graph, and a firing order that loses a message."""
    ### BEGIN SOLUTION
    return {
        "graph": running,
        "inputs": {"a": 1.5, "b": -0.7},
        "sink": "L",
        "order_1": ["a", "b", "u", "v", "w", "L"],
        "order_2": ["b", "a", "w", "u", "v", "L"],
        "bad_reverse_order": ["L", "u", "v", "w", "a", "b"],
        "lost": ("v", "u"),
    }
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "3_9", "locked": true, "points": 3, "solution": false, "task": false}
check("3.9", order_matters)
### BEGIN HIDDEN TESTS
from autograder.student import grade
grade("3.9", order_matters)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>My graph has only one order</summary>
#
# It needs two nodes neither of which depends on the other. Two inputs will do; so will two branches.
#
# </details>
# <details><summary>My bad order still gives the right adjoints</summary>
#
# Let a node fire before one of its children, a node that has *parents of its own* to pass something on to. An input that fires early loses nothing: it sends nothing.
#
# </details>
# <details><summary>Which message is the lost one?</summary>
#
# Run `fire(graph, inputs, sink, order)` on your bad order. It marks the messages that come too late.
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# {{solution 3.9}}
#
# $u$ fires before $v$ has sent, so it has nothing to pass on. When $v$'s message reaches it, its turn is over: both $\bar a$ and $\bar b$ lack what should have come through $u$.

# %%
with when_ready("3.9"):
    case = order_matters()
    given = case["graph"], case["inputs"], case["sink"]
    for key in ("order_1", "order_2"):
        print(key, "reversed:", listed(fire(*given, case[key][::-1], silent=True)))
    print("bad reverse order:")
    print(listed(fire(*given, case["bad_reverse_order"])))

# %% [markdown]
# ## What a gradient costs
#
# Count. A backward pass visits every edge once: one multiplication, one addition. A forward pass visits every edge once too, since each operation reads its parents. So a backward pass costs a fixed small multiple of a forward pass, **however many inputs there are**. This is the [cheap-gradient principle](../glossary.ipynb#cheap-gradient-principle). Baur and Strassen proved it in 1983 for computations made of $+$, $-$, $\times$ and $/$. Exponentials and tanh behave the same way, because their local derivatives take a fixed amount of work as well.
#
# Set the four ways side by side, for a loss with $P$ parameters and $E$ edges:
#
# | way | work for all $P$ derivatives |
# |---|---|
# | paths (lesson 1) | one product for each path: can double with every layer |
# | finite differences | $2P$ evaluations, and only approximate |
# | forward mode (lesson 2) | $P$ passes of $E$ edges each |
# | reverse mode | **one** pass of $E$ edges |
#
# The price is paid in another currency, as you will see.

# %% tags=["quiz"]
quiz("3.predict-cost", r"""
? A loss has $P = 1000$ parameters. Roughly how many times as many edge visits does forward mode need as reverse mode, for the whole gradient?
( ) half as many :: There is a case where forward mode wins: few inputs and many outputs. A loss has it the other way round.
( ) about as many :: One forward pass visits as many edges as one backward pass. But it follows a single seed. How many passes are needed?
(x) 1000 times as many :: One pass over all edges for each parameter, against one pass in all.
( ) $2^{1000}$ times as many :: That is the trouble with walking paths one by one. Forward mode stores the tangent of every node and shares the work within a pass.
""")

# %% [markdown]
# ### Exercise 3.10 Edges and visits
#
# ●●●○○ · 10 minutes · *(more)*
#
# Do not take the word of a table. Count.
#
# Write **`edge_visits(root)`**. It returns a tuple `(edges, visits)` of two ints:
#
# - `edges`: the number of edges among the nodes that `root` depends on, one for each slot, so that $a\cdot a$ counts two;
# - `visits`: the number of messages that **one** call of `root.backward()` really sends. Each time a node's rule runs it sends one message for each slot. Count while it happens: put a counting function in the place of each node's `_backward`, call `root.backward()`, and put the old ones back.
#
# No errors to raise. Gradients may be left behind. Counting twice in a row gives the same answer.
#
# Example: for `L = (a * b + a) * tanh(b)` it is `(7, 7)`; for `y = a * a` it is `(2, 2)`.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "3_10-solution", "locked": false, "solution": true, "task": false}
def edge_visits(root: Value) -> tuple[int, int]:
    """How many edges the graph of root has, and how many messages one backward pass sends."""
    ### BEGIN SOLUTION
    nodes = [node for node in topological_order(root) if node._backward is not None]
    rules = [node._backward for node in nodes]
    visits = 0

    def counting(rule, slots):
        def backward(g):
            nonlocal visits
            visits += slots
            rule(g)

        return backward

    for node, rule in zip(nodes, rules, strict=True):
        node._backward = counting(rule, len(node._parents))
    root.backward()
    for node, rule in zip(nodes, rules, strict=True):
        node._backward = rule
    return sum(len(node._parents) for node in nodes), visits
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "3_10", "locked": true, "points": 2, "solution": false, "task": false}
check("3.10", edge_visits, Value)
### BEGIN HIDDEN TESTS
from autograder.student import grade
grade("3.10", edge_visits, Value)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>Every wrapper counts the slots of the last node</summary>
#
# A function made in a loop looks up the loop's variable when it *runs*, not when it is made. Make the wrapper in a function of its own, which gets the rule and the number of slots as arguments.
#
# </details>
# <details><summary>UnboundLocalError: visits</summary>
#
# To change a variable of the enclosing function, the inner one has to say `nonlocal visits`. Or count in a list: `visits.append(...)`.
#
# </details>
# <details><summary>My visits are more than my edges</summary>
#
# Then some node fires more than once in a pass. That is a finding about `value_backward`, not about your counting.
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# Every node with a rule gets a wrapper that counts its slots and then calls the rule. After the pass the rules go back to their places.
#
# {{solution 3.10}}
#
# Equal numbers mean: every edge was visited exactly once.

# %% [markdown]
# Now the experiment. A loss with $P$ parameters, $\ell(\theta) = \sum_i \tanh(\theta_i)\,\theta_{i+1}$, beside the ladder $u \leftarrow u + u$.

# %%
def chained_loss(theta):
    """Σ tanh(θ_i)·θ_{i+1}, around in a ring."""
    total = 0.0
    for x, y in zip(theta, [*theta[1:], theta[0]], strict=True):
        total = total + tanh(x) * y
    return total


def ladder(x, rungs):
    for _ in range(rungs):
        x = x + x
    return x


with when_ready("3.1", "3.2", "3.3", "3.4", "3.10"):
    counts = {}
    for P in (2, 5, 10, 30, 100, 300, 1000):
        counts[P] = edge_visits(chained_loss([Value(0.1 * i) for i in range(P)]))
    print(f"{'P':>6}{'edges':>8}{'reverse':>10}{'forward':>12}")
    for P, (edges, visits) in counts.items():
        print(f"{P:>6}{edges:>8}{visits:>10}{P * edges:>12,}")

    heights, climbs = range(1, 21), []
    for rungs in heights:
        x = Value(1.0)
        edges, visits = edge_visits(ladder(x, rungs))
        climbs.append((x.grad, edges, visits))  # each path's product is 1: the gradient counts paths
    paths, edges, visits = climbs[-1]
    print(f"ladder of {heights[-1]} rungs: {paths:,.0f} paths, {edges} edges, {visits} visits")

    if not quiet():
        import matplotlib.pyplot as plt

        plot_style()
        fig, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.9))
        Ps = list(counts)
        left.loglog(Ps, [P * counts[P][0] for P in Ps], label="forward mode: P passes")
        left.loglog(Ps, [counts[P][1] for P in Ps], label="reverse mode: 1 pass")
        left.set(xlabel="parameters P", ylabel="edge visits for the whole gradient")
        left.set_title("One pass, whatever P is")
        left.legend()
        right.semilogy(heights, [c[0] for c in climbs], label="paths")
        right.semilogy(heights, [c[2] for c in climbs], label="edge visits, reverse mode")
        right.set(xlabel="rungs of the ladder", ylabel="count", xticks=range(0, 21, 5))
        right.set_title("Paths explode, edges do not")
        right.legend()
        plt.show()

# %% [markdown]
# *Left: on these logarithmic axes forward mode climbs twice as steeply as reverse mode; the gap is the factor $P$. Right: 20 rungs have 1,048,576 paths over 40 edges, and your engine added up all those paths with 40 messages.*
#
# Visits are a count. What about seconds? We time building the graph (forward) and `backward()` for larger and larger losses.

# %%
def seconds(P, repeats=7):
    """The best of some timings: building the loss, and its backward pass."""
    best = [math.inf, math.inf]
    gc.disable()  # Python's garbage collector would add its own time, here and there
    for _ in range(repeats):
        theta = [Value(0.001 * i) for i in range(P)]
        start_time = time.perf_counter()
        loss = chained_loss(theta)
        middle = time.perf_counter()
        loss.backward()
        best = [min(best[0], middle - start_time), min(best[1], time.perf_counter() - middle)]
    gc.enable()
    return best


with when_ready("3.1", "3.2", "3.3", "3.4"):
    if not quiet():
        import matplotlib.pyplot as plt

        sizes = [30, 100, 300, 1000, 3000, 10000]
        ratios = [backward / forward for forward, backward in map(seconds, sizes)]
        plot_style()
        fig, ax = plt.subplots()
        ax.semilogx([3 * P for P in sizes], ratios)
        ax.set(xlabel="operations in the graph", ylabel="seconds backward / seconds forward")
        ax.set_ylim(0, 2 * max(ratios))
        ax.set_title(f"Backward costs about {np.median(ratios):.1f} times forward, at every size")
        plt.show()

# %% [markdown]
# *How high the line runs depends on your machine and on how your functions are written, and timings wobble. But it does not climb, while the graph grows more than 300 times. That is the point.*
#
# ### And what it costs in memory
#
# The backward rule of $\tanh$ needs $t$. That of a product needs both factors. So forward values must **wait**, from the moment they are computed until the backward pass comes by. Forward mode and plain evaluation can forget a value as soon as it has been used; reverse mode cannot. The stored values are called [activations](../glossary.ipynb#activation). They are why training needs so much more memory than running a model, beyond the weights themselves.

# %%
def kept_by(build) -> tuple[float, float]:
    """Megabytes in use while the result of build() is held, and after it has been let go."""
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    result = build()
    held = tracemalloc.get_traced_memory()[0] - before
    del result
    after = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    return held / 1e6, after / 1e6


with when_ready("3.1", "3.2"):
    rows = []
    for P in (1000, 3000, 9000):
        plain, _ = kept_by(lambda P=P: chained_loss([0.001 * i for i in range(P)]))
        recorded, released = kept_by(lambda P=P: chained_loss([Value(0.001 * i) for i in range(P)]))
        rows.append((3 * P, plain, recorded, released))
    print(f"{'operations':>12}{'numbers only':>16}{'with a graph':>16}{'graph let go':>16}")
    for operations, plain, recorded, released in rows:
        print(f"{operations:>12,}{plain:>13.3f} MB{recorded:>13.3f} MB{released:>13.3f} MB")

# %% [markdown]
# *Three times the operations, three times the memory; without a graph next to nothing stays. And when you let go of the loss, practically everything is freed at once. That is what you gained in 3.1 by not letting a rule refer to its own node.*
#
# There is a trade. Store only every few values, and recompute the others from them when the backward pass arrives: less memory, more work. It is called [checkpointing](../glossary.ipynb#checkpointing), and lesson 5 counts it out. And where no gradient is wanted, record nothing: that is what `no_grad` saves.

# %% [markdown]
# ## From numbers to vectors
#
# Real networks send whole arrays along an edge. Let $y = \varphi(x)$ with $x \in \mathbb R^m$ and $y \in \mathbb R^q$. All local derivatives together form the [Jacobian](../glossary.ipynb#Jacobian), the $q \times m$ table $J_{ij} = \partial y_i/\partial x_j$. Nothing new happens: $x_j$ receives a message from every $y_i$, and adds them up,
#
# $$\bar x_j = \sum_i \bar y_i\,\frac{\partial y_i}{\partial x_j},\qquad\text{that is}\qquad \bar x = J^\top \bar y.$$
#
# This is a [vector–Jacobian product](../glossary.ipynb#VJP), VJP for short. Forward mode sends a tangent the other way, $\dot y = J\dot x$: lesson 2's JVP.
#
# Take $y = (x_1 x_2,\; x_1 + x_2)$ at $x = (2, -1)$ and let $\bar y = (3, -2)$ arrive. Then
#
# $$J = \begin{pmatrix} -1 & 2 \\ 1 & 1\end{pmatrix},\qquad \bar x = J^\top\bar y = \begin{pmatrix} -1\cdot 3 + 1\cdot(-2) \\ 2\cdot 3 + 1\cdot(-2)\end{pmatrix} = \begin{pmatrix} -5 \\ 4\end{pmatrix}.$$
#
# Your engine does the same without ever writing down $J$:

# %%
J = np.array([[-1.0, 2.0], [1.0, 1.0]])
y_bar = np.array([3.0, -2.0])
print("J^T y_bar:      ", J.T @ y_bar)

with when_ready("3.1", "3.3", "3.4"):
    x1, x2 = Value(2.0), Value(-1.0)
    y1, y2 = x1 * x2, x1 + x2
    mixed = y_bar[0] * y1 + y_bar[1] * y2  # a scalar whose adjoints at y1, y2 are 3 and −2
    mixed.backward()
    print("your engine:    ", [x1.grad, x2.grad])
    show_graph(mixed)

x = torch.tensor([2.0, -1.0], dtype=torch.float64, requires_grad=True)
y = torch.stack([x[0] * x[1], x[0] + x[1]])
y.backward(torch.tensor(y_bar))
print("PyTorch:        ", x.grad.tolist())

# %% [markdown]
# *That is why a library hands you one VJP rule for each operation, not one Jacobian. Your `_backward(g)` functions are VJPs already, with $q = 1$.*
#
# How much does it save? A coordinatewise tanh of 1,000 numbers has a Jacobian with 1,000,000 entries, of which 999,000 are zero. Its VJP is one line with 1,000 products: $\bar x_i = \bar y_i\,(1 - y_i^2)$.

# %%
x = torch.linspace(-2, 2, 1000, dtype=torch.float64)
y = torch.tanh(x)
y_bar = torch.cos(x)  # some upstream

J = torch.autograd.functional.jacobian(torch.tanh, x)
difference = (J.T @ y_bar - y_bar * (1 - y**2)).abs().max().item()
print(f"entries of J: {J.numel():,}, of them zero: {(J == 0).sum().item():,}")
print(f"largest difference between J^T y_bar and the one-line rule: {difference:.1e}")

# %% [markdown]
# *Same numbers, a thousandth of the memory. Lesson 4 builds a language model's whole backward pass out of such lines.*

# %% [markdown]
# ## The residual path
#
# Back to the question of the warm-up: why does $y = x + S(x)$ help to train deep stacks? Read the answer off the graph. $y$ has two edges that lead back to $x$, one direct and one through $S$, so $x$ receives two messages:
#
# $$\bar x \;=\; \underbrace{\bar y\cdot 1}_{\text{identity path}} \;+\; \underbrace{\bar y\cdot S'(x)}_{\text{through } S}.$$
#
# The local derivative on the identity path is exactly 1. So $\bar y$ reaches $x$ undiminished, however small $S'(x)$ is. Without the identity path twenty layers in a row multiply twenty factors $S'$; if each is 0.1, that leaves $10^{-20}$. With it each factor is $1 + S'$.

# %%
stacks = {"plain": lambda x: 0.1 * tanh(x), "residual": lambda x: x + 0.1 * tanh(x)}

with when_ready("3.1", "3.2", "3.3", "3.4"):
    depths = range(1, 21)
    reaching = {}
    for name, layer in stacks.items():
        reaching[name] = []
        for depth in depths:
            x = Value(0.5)
            y = x
            for _ in range(depth):
                y = layer(y)
            y.backward()
            reaching[name].append(x.grad)
        first, last = reaching[name][0], reaching[name][-1]
        print(f"{name:<9} after 1 layer {first:.4f}, after {depths[-1]} layers {last:.3g}")

    if not quiet():
        import matplotlib.pyplot as plt

        plot_style()
        fig, ax = plt.subplots()
        for name, gradients in reaching.items():
            ax.semilogy(depths, gradients, label=f"{name} stack")
        ax.set(xlabel="layers", ylabel="gradient that reaches the first input", xticks=range(0, 21, 5))
        ax.set_title("The identity path keeps the signal alive")
        ax.legend()
        plt.show()

# %% [markdown]
# *The axis is logarithmic: the plain stack loses a factor of ten or more with each layer. Change 0.1 and see what happens; with large negative factors the residual stack fades too.*
#
# That last remark matters. One often reads that a residual connection *guarantees* a gradient. It guarantees a **message**: the identity path always sends exactly $\bar y$. The **sum** can still be anything.

# %% tags=["quiz"]
quiz("3.predict-residual", r"""
? Let $S(x) = -x$, so $y = x + S(x)$, and let $\bar y = 1$. What does $x$ receive, and what is $\bar x$?
( ) One message, 1; $\bar x = 1$ :: There are two edges back to $x$. The one through $S$ sends $\bar y\cdot S'(x) = -1$.
( ) No message; $\bar x = 0$ :: The sum is 0, but not because nothing came. Two messages came, and they cancelled, just as for $\bar a$ at $(2, -1)$.
( ) Messages 1 and −1; $\bar x = -1$ :: The messages are right. Messages are added, not multiplied.
(x) Messages 1 and −1; $\bar x = 0$ :: The identity path sends its 1 as always. The other path cancels it. Of course: $y = x - x = 0$ whatever $x$ is.
""")

# %%
with when_ready("3.1", "3.2", "3.3", "3.4"):
    for name, S in {"0.001·tanh(x)": lambda x: 0.001 * tanh(x), "−x": lambda x: -x}.items():
        x = Value(0.5)
        y = x + S(x)
        y.backward()
        print(f"S(x) = {name:<14} identity path sends {y.grad:g}, in all x receives {shown(x.grad)}")

# %% [markdown]
# *So: an open path, always; a gradient of a certain size, no. In practice $S'$ is rarely so unkind as to cancel the 1, and that is why residual stacks train. Compare with your guess from the warm-up.*

# %% [markdown]
# ## Bug hunt
#
# Symptoms are how you meet bugs in life: the loss does not fall, a number is off by a factor. Four patterns come up again and again, and each points somewhere.
#
# | you see | suspect |
# |---|---|
# | chains are right, graphs with fan-out are wrong | assignment where addition belongs |
# | an early node gets no gradient, or too little | wrong order of firing, or a path cut by a detached value |
# | gradients are exactly 2, 3, 4 … times too large | old gradients were never cleared |
# | disagreement with finite differences at extreme step sizes only | rounding in the differences; the chain rule is innocent |
#
# A good test is a *small* expression on which the suspects give different numbers.

# %% [markdown]
# ### Exercise 3.12 Name the fault
#
# ●●●●○ · 15 minutes · ★
#
# `broken_engine(seed)` hands you an engine that looks like yours and has **one** sealed fault. Engines 1, 2 and 3 grow harder. Find the fault of each, with as few operations as you can.
#
# - `engine.Value(2.5)` makes a leaf. Operators, `tanh`, `exp`, `log`, `relu` and `backward()` work as usual, or nearly so.
# - `engine.suspects()` lists the faults that it may have, by name; `engine.suspects("tanh")` only those that mention tanh.
# - `engine.accuse(name)` tells you whether you are right; a wrong name costs three operations.
# - `print(engine)` shows how many operations you have used (a backward pass counts as one), and par: how few suffice.
#
# Then write **`diagnoses()`**, which returns a dict from 1, 2 and 3 to the name of each engine's fault, such as `{1: "tanh-one-plus", 2: "level-order", 3: "subtraction-plus"}`. (Those three are not the answer.) No errors to raise.

# %%
engine = broken_engine(1)  # change the number, and the experiment
a, b = engine.Value(2.5), engine.Value(-3.0)
y = a + b
y.backward()
print("a.grad, b.grad:", a.grad, b.grad)
print(engine)

# %%
engine.suspects("level")  # without a word: all of them

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "3_12-solution", "locked": false, "solution": true, "task": false}
def diagnoses() -> dict[int, str]:
    """The fault of each of the three engines, by name."""
    ### BEGIN SOLUTION
    return {1: "uses-sibling-gradient", 2: "overwrites-gradient", 3: "recursion-fires-every-path"}
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "3_12", "locked": true, "points": 3, "solution": false, "task": false}
check("3.12", diagnoses)
### BEGIN HIDDEN TESTS
from autograder.student import grade
grade("3.12", diagnoses)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>I do not know which expression to try</summary>
#
# Start with a single operation and its derivative, which you know. Then use one node twice. Then put the operation inside something, so that the upstream is not 1. Choose numbers that are all different: at $(2, 2)$ a product cannot tell its factors apart, and at 0 or 1 many faults hide.
#
# </details>
# <details><summary>Everything looks right</summary>
#
# Then the fault needs fan-out, depth or a special sign to show. Try a node that is used at two different depths, in both operand orders. Try a negative upstream.
#
# </details>
# <details><summary>Two suspects fit all that I have seen</summary>
#
# Work out on paper what each of them would give for one more expression, and choose the expression so that the two numbers differ. That is the whole art.
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# *Engine 1.* With $a = 2.5$ and $b = -3$, the product $a\cdot b$ leaves both gradients at 0. Does it send nothing at all, or is it scaled by something that happens to be 0? Give the operands a gradient first: in $a\cdot b + a$, $a$ holds 1 by the time the product fires, and suddenly $b$ gets 1 instead of 2.5. So the product looks at its neighbour's gradient where it should look at its value. One experiment, three steps: par.
#
# *Engine 2.* $a + a$ gives 1 instead of 2: somebody overwrites. One operation or all? $a\cdot a$ gives 2.5 instead of 5, so more than the sum is concerned.
#
# *Engine 3.* Single operations are fine, even with the same operand twice. So it is not a rule, it is the pass. $u = a + a$, $L = u + u$ should give 4, and gives 8. Too much, so something was sent too often: $\bar u = 2$ is right, but $u$ sent it twice, once for each of the two paths that lead to it. Had it sent 1 first and then 2, the sum so far, $a$ would hold 6.
#
# {{solution 3.12}}

# %% [markdown]
# ## In your own words
#
# Two questions, marked by a person against a rubric. Write as if to a classmate who missed this lesson: full sentences, formulas where they help. Half a page each is plenty.

# %% [markdown] nbgrader={"schema_version": 3, "grade": false, "grade_id": "3_written-rubric", "locked": true, "points": 0, "solution": false, "task": true}
# **(a) What must wait.** For each of $+$, $\cdot$, $\tanh$, $\exp$, $\log$, $\mathrm{relu}$ and $x^n$: which forward values does its backward rule need, and where do they come from? What follows for the memory that a backward pass costs, compared with running the model once without gradients? Name one way to pay less, and its price.
#
# **(b) The diamond by hand.** For the diamond network with target "inside" and $x_1, x_2 > 0$, derive
#
# $$\frac{\partial\ell}{\partial x_1} = \frac{\partial\ell}{\partial x_2} = 2\gamma\cdot p(\text{outside}).$$
#
# Then say which sign $\partial\ell/\partial x_1$ has in the other three quadrants, and why.
#
# ### BEGIN MARK SCHEME
# **Rubric, 6 points.**
#
# (a), 3 points
#
# - 1: the table is right: $+$ needs no value; $\cdot$ both factors; tanh and exp their output (their input would do); log its input; relu only whether the input was positive; $x^n$ its input and the constant $n$. One slip allowed.
# - 1: the values have to be kept from the forward to the backward pass, so memory grows with the number of operations carried out (activations), not only with the number of parameters; without gradients a value can be dropped once it has been used.
# - 1: a way to pay less and its price: checkpointing, that is storing some values and recomputing the others (more forward work); or smaller batches in turn (more passes); or lower precision (accuracy).
#
# (b), 3 points
#
# - 1: a sound route from $\ell$ to $s$: either $\ell = \log(1 + e^{-2\gamma s})$, or adjoints at the logits.
# - 1: $\partial\ell/\partial s = -2\gamma\,p(\text{outside})$ and $\partial s/\partial x_i = -1$, combined by the chain rule.
# - 1: in the other quadrants the factor is $-\operatorname{sign}(x_1)$ in place of $-1$: positive wherever $x_1 > 0$, negative wherever $x_1 < 0$; the sign of $x_2$ plays no part. A remark on $x_1 = 0$ is welcome, not required.
#
# **Comments ready to use.** Type a code, `#local-first` say, into the comment box under the answer, several if you like, with words of your own around them. The student's feedback shows the whole text instead.
#
# - `#local-first` There are slips in your table. Write down the local derivative of each operation first, then mark the numbers that it is made of. Reread *One rule beside each operation*.
# - `#what-grows` Say with what the memory grows. Count the numbers that wait in a small network, then change one thing at a time: the parameters, the operations, the examples. Reread *And what it costs in memory*.
# - `#without-gradients` Say also what becomes of these numbers when nobody asks for gradients: how long is each of them needed? Reread *And what it costs in memory*.
# - `#price` You name a way to use less memory; its price is missing. What has to be done more often, or less exactly? Reread *And what it costs in memory*.
# - `#way-there` The result stands there, and the way to it does not. Name the quantities between ℓ and x₁, and give one derivative for each step. Reread *A network taken apart*.
# - `#one-product` The single steps are there. Say how they become one derivative, and which factor each step contributes. Reread *Messages along edges*.
# - `#quadrants` The other three quadrants are missing, or stand there without a reason. Ask how s answers to x₁ on either side of 0, and whether x₂ has a say in that. Reread *A network taken apart*.
#
# **Model answer.**
#
# (a) A rule multiplies the upstream by a local derivative, so it needs whatever that derivative is made of. A sum has local derivatives 1: nothing is kept. For $q = rs$ they are $s$ and $r$: both factors. tanh gives $1 - t^2$ and exp gives $y$: the output. log gives $1/x$: the input. relu gives 1 or 0: one bit, was the input positive. $x^n$ gives $n\,x^{n-1}$: the input, and the constant. Subtraction, negation and division are built from these, and keep what their parts keep. All these numbers are made on the way forward and used on the way back, the first one last. So nearly every value of the forward pass has to stay until the backward pass has come by, and memory grows with the amount of computation: for a network of $L$ layers of width $h$ on a batch of $B$ examples, with $L\cdot h\cdot B$ activations. Running the model alone needs only the layer at hand. To pay less, keep only every fourth layer's activations and recompute the three between them when the backward pass arrives. With 16 layers that is $7\,hB$ at the peak (4 kept, and 3 at a time recomputed) instead of $16\,hB$, for $12\,hB$ recomputed, three quarters of a forward pass.
#
# (b) With $s = 1 - |x_1| - |x_2|$ the logits are $\gamma s$ and $-\gamma s$, so $p(\text{inside}) = e^{\gamma s}/(e^{\gamma s} + e^{-\gamma s})$ and $\ell = -\log p(\text{inside}) = \log(1 + e^{-2\gamma s})$. Hence
# $$\frac{\partial\ell}{\partial s} = \frac{-2\gamma\,e^{-2\gamma s}}{1 + e^{-2\gamma s}} = -2\gamma\,p(\text{outside}),$$
# because $p(\text{outside}) = e^{-\gamma s}/(e^{\gamma s} + e^{-\gamma s}) = e^{-2\gamma s}/(1 + e^{-2\gamma s})$. For $x_1, x_2 > 0$ we have $s = 1 - x_1 - x_2$, so $\partial s/\partial x_i = -1$, and the product is $2\gamma\,p(\text{outside})$. (By adjoints: $\bar z_{\text{inside}} = p(\text{inside}) - 1 = -p(\text{outside})$ and $\bar z_{\text{outside}} = p(\text{outside})$; $s$ receives $\gamma\cdot(-p(\text{outside}))$ and $-\gamma\cdot p(\text{outside})$, together $-2\gamma\,p(\text{outside})$.) In general $\partial|x_1|/\partial x_1 = \operatorname{sign}(x_1)$, so $\partial\ell/\partial x_1 = \operatorname{sign}(x_1)\cdot 2\gamma\,p(\text{outside})$: positive where $x_1 > 0$, that is also in the quadrant with $x_2 < 0$, and negative in the two quadrants with $x_1 < 0$. Moving away from the centre always raises the loss. At $x_1 = 0$ there is a kink, and the engine's answer depends on its rule for relu at 0.
# ### END MARK SCHEME

# %% [markdown] nbgrader={"schema_version": 3, "grade": true, "grade_id": "3_written", "locked": false, "points": 6, "solution": true, "task": false}
# *Write your answer here, in place of this line.*

# %% [markdown]
# ## Check yourself
#
# Every option has something to say, the right ones too. Try as often as you like; nothing is stored or sent.

# %% tags=["quiz"]
quiz("3.quiz", r"""
? Gradients of an engine are right on every chain, and wrong as soon as one value is used twice. What do you suspect first?
(x) Assignment where addition belongs :: A chain gives every node one message, so there is nothing to lose. Fan-out is what shows the fault.
( ) Gradients that were not cleared :: That makes a chain wrong as well, from the second pass on.
( ) A wrong local derivative of tanh :: That would be wrong on a chain too, wherever tanh occurs.
( ) A step size that is too small :: Your engine has no step size. Only finite differences do.

? An input's gradient is missing, though the loss clearly depends on it. Which causes fit? Tick all.
[x] A value was detached between this input and the loss :: The path is cut: no edge, no message.
[ ] Old gradients were not cleared :: That gives too much, not nothing.
[x] The nodes fire in the wrong order :: If a node fires before its gradient has arrived it passes on 0, and everything before it stays empty.
[ ] The learning rate is too small :: The learning rate belongs to the update. It has no influence on the gradient.

? The gradients at step $n$ of a training loop are exactly $n$ times what they should be (with the parameters held fixed). What happened?
( ) The loss was summed, not averaged :: That gives a constant factor, the same at every step.
( ) backward overwrites what was there :: Then every step would show exactly one gradient.
( ) The graph has fan-out :: Fan-out is handled within a pass. It knows nothing of step numbers.
(x) Nobody cleared the old gradients :: Each pass adds one more gradient to the leaves: once, twice, three times.

? Automatic gradients and finite differences agree nicely for $h = 10^{-5}$ and disagree for $h = 10^{-13}$. What is wrong?
( ) The backward rule of one operation: a small error, which only a small $h$ can show :: A wrong rule would be wrong at $h = 10^{-5}$ too.
(x) Nothing in the engine: the differences drown in rounding error :: For tiny $h$ two nearly equal numbers are subtracted, and the few digits left are divided by $2h$.
( ) The topological order :: A wrong order would be wrong at $h = 10^{-5}$ too. The engine's answer does not depend on $h$ at all.
( ) $h$ should be smaller still :: That makes it worse. Around $10^{-5}$ truncation and rounding are balanced.

? What does automatic differentiation, as in PyTorch's autograd, do?
(x) It records the operations of the forward pass, and combines their built-in local rules by the chain rule :: Recorded graph, local rules, chain rule: exact up to rounding, one pass.
( ) It asks the user for the derivative formula of each operation that a model uses :: Those formulas exist, but they come with the library: each operation brings its backward rule. You wrote such rules in 3.1 and 3.2, once and for all.
( ) It nudges each parameter a little and estimates the derivative from the change :: That is numerical differentiation: approximate, and two evaluations for each parameter. We use it as a witness.
( ) It finds derivatives for the last layer only; for each earlier layer the user has to supply another method :: The pass goes on to every leaf. Reaching early layers is the whole point.

? "Backpropagation" means that …
( ) … the network undoes its answer, step by step :: No value is undone. The forward values stay as they are, and they are needed, unchanged, for the local derivatives.
( ) … the text is read from right to left :: The direction is that of differentiation, from the loss to the inputs. It has nothing to do with reading.
( ) … a second model criticizes the first, which is corrected by what it hears :: There is one model. The same computation that made the prediction provides the derivatives.
(x) … sensitivities of the loss are computed from the output back to the inputs :: Each node's adjoint is put together from those of its children.

? Is backpropagation the same as gradient descent?
( ) Yes, both make the loss smaller :: A backward pass changes no parameter. By itself it makes nothing smaller.
( ) Yes, for networks with one output :: Neither the number of outputs nor their kind makes one into the other.
(x) No: one computes a gradient, the other uses it :: $\partial L/\partial w = -16$ was the one; $w \leftarrow 1.16$ was the other. The same gradient could feed a different update.
( ) No: backpropagation is an approximation to gradient descent :: It is exact, and it computes something else.

? A neuron's activation has a large derivative of the loss. What does that tell you?
( ) It names the concept that the neuron stands for :: A derivative is a number, not a name. To find out what a neuron responds to takes other experiments.
(x) A tiny change of this activation, here, would change the loss a lot :: Local, and about this one loss at this one point. No less, and no more.
( ) The neuron caused this answer :: It says what a tiny change *would* do here. That is not a full causal account of an answer.
( ) The neuron has to be trained with a larger learning rate :: How to step is the optimizer's affair.

? In a training loop the graph is built anew at every step. What has to be cleared between the steps?
(x) The gradients of the parameters :: They are the leaves that live on from step to step.
( ) Everything, leaves and nodes in between :: The nodes in between are new objects, with fresh gradients of 0. There is nothing to clear in them.
( ) Nothing, a new graph starts from 0 :: The graph is new. Its leaves are not.
( ) Only the gradient of the loss :: The loss of the last step is gone, and its gradient is set to 1 in every pass anyway.

? By default, calling `backward` a second time, on a graph built anew, …
( ) … overwrites the gradients of the first call :: A widely held belief. Both PyTorch and your engine add, so that several losses can be summed.
( ) … does nothing, the gradient is known already :: It computes again, and adds.
(x) … adds to the gradients of the leaves :: Hence `zero_grad` in every training loop.
( ) … raises an error :: PyTorch raises one when a second call *on the same graph* needs numbers that the first one freed; `retain_graph=True` keeps them. On a new graph it goes ahead, and adds.

? Which forward value does the backward rule of $y = e^x$ use?
( ) Its input $x$: the local derivative of exp is $x$ :: At $x = 0$ the slope of $e^x$ is 1, not 0.
( ) None; like a sum it passes the upstream on :: That is right only at $x = 0$, by coincidence.
( ) The loss :: A local rule knows nothing of the loss except the upstream.
(x) Its output $y$ :: $e^x$ is its own derivative, so the output is the slope.

? Automatic differentiation is …
( ) symbolic: it derives a formula and evaluates it :: No formula for the derivative is ever built. What is passed around are numbers.
( ) numerical: it approximates with small differences :: It nudges nothing; it is exact up to rounding.
( ) both: symbolic forward, numerical backward :: Both passes compute numbers with exact rules.
(x) neither: it applies the chain rule to numbers :: That is how it escapes both the explosion of formulas and the error of differences.

? The same weight is used at twelve positions of a text. What is its gradient?
(x) The sum of the contributions of all twelve :: A shared weight is a node with fan-out.
( ) Twelve gradients, one for each position :: One value, one gradient. Sharing does not give the weight a different value at each position.
( ) The gradient of the last position :: That would be overwriting.
( ) Their average :: The chain rule adds. If the loss is an average, its factor is inside each contribution already.

? You need the derivatives of 1,000 outputs with respect to 2 inputs. Which mode is cheaper?
( ) Reverse mode: always one pass :: One pass for each *output*: a thousand. A loss is a single output, which is why training uses reverse mode.
(x) Forward mode: two passes :: One pass for each input gives the tangents of all outputs at once.
( ) Both cost the same :: Forward mode scales with inputs, reverse mode with outputs. Here 2 against 1,000.
( ) Finite differences: no graph is needed :: Four evaluations, but approximate. Forward mode is exact for about the same work.
""")

# %% [markdown]
# ## Common mix-ups
#
# - **Backpropagation and gradient descent.** The first computes derivatives. The second is one of many rules that use them.
# - **The computational graph and the network diagram.** A diagram of a network draws neurons and weights on arrows. In the computational graph weights are nodes too, and every single operation is a node.
# - **Upstream and local.** The local derivative is about one operation. The upstream carries everything after it. A message is their product.
# - **Multiply and add.** Along a path multiply; across paths add.
# - **A gradient of 0 and no gradient.** At $(2, -1)$ two messages reached $a$ and cancelled. A detached input receives no message at all.
# - **Clearing and resetting.** Leaves are cleared by you, once a step. Nodes in between begin each pass at 0 by themselves.
# - **A gradient check that passes and a loss that is right.** The check compares derivatives of the loss that you wrote. A wrong mask passes it happily.

# %% [markdown]
# ## What it can and cannot explain
#
# A derivative answers one precise question: how would *this* number change under a tiny change of *that* one, *here*? It does not say what happens under a large change. It does not name a concept that a neuron stands for, and it is no causal account of an answer. Such questions need other experiments, and first of all to be asked clearly.
#
# It also trusts the graph. What was detached, masked wrongly or left out of the loss does not exist for it, and it will return flawless gradients of the wrong problem.

# %% [markdown]
# ## Real-world reps
#
# - [ ] Two chained operations by hand: $y = 3x + 1$ and $z = y^2$ at $x = 2$. Write down $y$, $\partial z/\partial y$, $\partial y/\partial x$ and $\partial z/\partial x$, then let your engine and PyTorch confirm. (You should meet 7, 14, 3 and 42.)
# - [ ] In PyTorch: a forward pass, then `loss.backward()` twice without clearing (with `retain_graph=True` the first time). Look at `.grad` after each call.
# - [ ] In PyTorch's *Autograd mechanics*, read the part on how autograd encodes the history. Then print `loss.grad_fn` and `loss.grad_fn.next_functions`: there is your graph. Do the same inside `torch.no_grad()`.
# - [ ] Draw `show_graph` of something of your own: the length of a vector, a quadratic formula, a small network. Predict one gradient before you look.
# - [ ] Break your engine on purpose: one `+=` to `=`. Which of the checks above notice? Mend it again.

# %%
x = torch.tensor(2.0, requires_grad=True)
y = 3 * x + 1
y.retain_grad()
z = y**2
z.backward()
print(f"y = {y.item():g}, dz/dy = {y.grad.item():g}, dz/dx = {x.grad.item():g}")
print("the recorded graph begins with", z.grad_fn.name())
print("and goes on to", z.grad_fn.next_functions[0][0].name())

# %% [markdown]
# ## Take it with you
#
# - The forward pass supplies values. The backward pass supplies derivatives. The optimizer makes the update.
# - One message for each edge: adjoint of the child times local derivative. A node's adjoint is the sum of its messages.
# - Children before parents. Whoever fires early loses a message.
# - One pass gives every derivative, for a small multiple of the forward work; the price is memory for forward values.
# - Leaves accumulate from call to call, until somebody clears them.
#
# **Next:** lesson 4 takes softmax, affine layers and embeddings, and builds a language model's backward pass by hand, one VJP at a time.

# %% [markdown]
# ## Going further
#
# - Baydin, Pearlmutter, Radul, Siskind: *Automatic Differentiation in Machine Learning: a Survey* (2018). Both modes, their history, and what they are not. The best next thing to read.
# - Griewank, Walther: *Evaluating Derivatives* (2nd edition, 2008). The book: costs, memory and checkpointing worked out with care.
# - Baur, Strassen: *The Complexity of Partial Derivatives* (1983). The cheap-gradient principle as a theorem, in a few pages.
# - Olah: *Calculus on Computational Graphs: Backpropagation* (2015). An essay with pictures; factoring paths explained in ten minutes.
# - PyTorch: *Autograd mechanics*. What happens in the system that you will use: saved tensors, `no_grad`, in-place operations.
# - Karpathy: *nanoGPT*. A small real training loop. Find the three lines where gradients are cleared, computed and used.
#
# More on the [resources page](../resources.ipynb); every term is in the [glossary](../glossary.ipynb).

# %% [markdown]
# ## Not landing?
#
# Go back to the primary source: for this lesson PyTorch's *Autograd mechanics*, or Olah's essay if you prefer pictures. A lesson compresses, and compression is where understanding leaks. Look up the terms that felt slippery in the [glossary](../glossary.ipynb).
#
# And if it is the lesson that is unclear, not the matter: that is a defect. Please open an issue and say where you stopped.
