# %% [markdown]
# # Lesson 2. Forward mode: derivatives that travel along
#
# > **The idea to hold on to.** Let every number carry its own rate of change. Then one run of a program gives its result and a derivative of that result, exactly.
#
# **After this lesson you can**
#
# - push a tangent through a small computation by hand;
# - build dual numbers, with which ordinary Python differentiates itself while it runs;
# - get a directional derivative, a gradient and a Jacobian out of nothing but runs of the program;
# - say what forward mode costs, when it is the right tool, and when it is not;
# - say how it differs from finite differences and from formulas.
#
# **Time.** About 75 minutes for the core; an hour of it goes to the exercises. What is marked ★ lies beyond it, skip it freely. So do the written question and the quiz at the end.
#
# **Before this.** Lesson 1 (the chain rule as a sum over paths). What it built is given below, so you need no other notebook. You will use a Python class, and need not write one.
#
# **Where this sits.** The course ends with a language model that you train yourself. One step of training needs the derivative of one number, the loss, with respect to every weight. Lesson 1 got there by walking all paths, of which there are too many. This lesson needs no paths: one pass for each weight will do. That is exact, it is simple, and for a program with few inputs it is all you will ever need. For a model with 15,697 weights it is still 15,697 passes a step. Lesson 3 turns the direction round.

# %%
import itertools
import math
import time
from typing import NamedTuple

import numpy as np

from autograder.student import check, plot_style, quiet, quiz, show_data_graph, show_forward, start, when_ready

start("2-forward-mode", edition="classroom")

# %% [markdown]
# Under every exercise stands one cell that calls `check`. Run it as often as you like. Below it are drawers with hints, each titled with a complaint; open the one that sounds like yours. When you are stuck for ten minutes, move on: every section can be read without the exercises before it.
#
# The next two cells are folded. The first holds what lesson 1 built: graphs as data, topological order, local derivatives, the forward pass, the sum over paths, finite differences. The second prepares tables and pictures. Run them; unfold them when you are curious.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "given-graphs", "locked": true, "solution": false, "task": false} jupyter={"source_hidden": true}
# What lesson 1 built. Given: run it and go on.
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


def topological_order(parents: dict[str, tuple[str, ...]]) -> list[str]:
    """Every parent before its child. ValueError on a cycle, KeyError for an unknown parent."""
    for name in {p for slots in parents.values() for p in slots} - parents.keys():
        raise KeyError(name)
    return list(TopologicalSorter(parents).static_order())


def local_derivatives(op: str, inputs: tuple[float, ...], output: float, n: float = 1.0) -> tuple[float, ...]:
    """∂output/∂input for each slot, in order. For "input": ()."""
    return OPERATIONS[op][1](inputs, output, n)


def forward_pass(graph: Graph, inputs: dict[str, float]) -> dict[str, float]:
    """The value of every node, inputs included."""
    values = dict(inputs)
    for name in topological_order({name: node.parents for name, node in graph.items()}):
        node = graph[name]
        if node.op != "input":
            values[name] = OPERATIONS[node.op][0](tuple(values[p] for p in node.parents), node.n)
    return values


def sum_over_paths(graph: Graph, values: dict[str, float], source: str, sink: str) -> float:
    """The sum over all paths from source to sink of the product of the local derivatives."""
    if source == sink:
        return 1.0
    node = graph[sink]
    slopes = local_derivatives(node.op, tuple(values[p] for p in node.parents), values[sink], node.n)
    steps = zip(node.parents, slopes, strict=True)
    return sum((sum_over_paths(graph, values, source, parent) * slope for parent, slope in steps), 0.0)


def central_difference(f, x: float, h: float = 1e-5) -> float:
    """[f(x + h) − f(x − h)] / 2h."""
    return (f(x + h) - f(x - h)) / (2 * h)


def numerical_gradient(f, theta, h: float = 1e-5) -> np.ndarray:
    """One central difference for each entry of theta; theta is left as it was."""
    theta = np.array(theta, dtype=float)
    gradient = np.zeros_like(theta)
    for i in np.ndindex(theta.shape):
        up, down = theta.copy(), theta.copy()
        up[i] += h
        down[i] -= h
        gradient[i] = (f(up) - f(down)) / (2 * h)
    return gradient

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "given-display", "locked": true, "solution": false, "task": false} jupyter={"source_hidden": true}
# Helpers that draw and print. Given: run it and go on.
if not quiet():
    import matplotlib.pyplot as plt

    plot_style()


def shown(x: float) -> str:
    """x to six places, with 0 instead of Python's −0."""
    return f"{round(float(x), 6) + 0.0:.6f}"


def compare_tangents(mine: dict[str, dict[str, float | None]]) -> None:
    """Set your tangents for the running example at (1.5, −0.7) beside the right ones."""
    a, b = 1.5, -0.7
    v, w = a * b + a, math.tanh(b)
    right = {
        "seed a": {"u": b, "v": b + 1, "w": 0.0, "L": w * (b + 1)},
        "seed b": {"u": a, "v": a, "w": 1 - w * w, "L": w * a + v * (1 - w * w)},
    }
    for seed, tangents in right.items():
        print(seed)
        for name, number in tangents.items():
            yours = mine[seed].get(name)
            if yours is None:
                print(f"    tangent of {name}   still to fill in")
            elif abs(yours - number) < 5e-4:
                print(f"    tangent of {name}   {shown(yours):>9}   right")
            elif number and abs(yours + number) < 5e-4:
                print(f"    tangent of {name}   {shown(yours):>9}   right but for its sign")
            else:
                todo = "for each parent (local derivative) · (its tangent), then add"
                print(f"    tangent of {name}   {shown(yours):>9}   not yet: {todo}")


def arrow(axes, start, step, colour: str) -> None:
    """An arrow in a plot, from start to start + step."""
    tip = (start[0] + step[0], start[1] + step[1])
    style = {"arrowstyle": "-|>", "color": colour, "lw": 2.2, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", tip, start, arrowprops=style)


def counted(f):
    """f, and a list whose length is the number of its calls."""
    calls = []
    return (lambda x: (calls.append(1), f(x))[1]), calls


def seconds(work) -> float:
    """The shortest of three measurements."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)

# %% [markdown]
# ## Warm-up
#
# Three questions on lesson 1. Answer from memory first; that is what makes them work.

# %% tags=["quiz"]
quiz("2.warm-up", r"""
? $y = 3x + 1$ and $z = y^2$. What is $dz/dx$ at $x = 2$?
( ) 12 :: That is $2y\cdot 3$ with $y = 2$. But 2 is $x$. The local derivative is taken at the value that the node has, and $y = 7$.
( ) 14 :: That is $dz/dy = 2y$ at $y = 7$, the slope of the last step alone. It still has to be multiplied by the slope of the first.
( ) 17 :: That is $14 + 3$. Along a path the chain rule multiplies; it adds only across paths.
(x) 42 :: $dz/dy\cdot dy/dx = 14\cdot 3$. Nudge $x$ by $\varepsilon$: $y$ moves by $3\varepsilon$, and $z$ by 14 times as much.

? You differentiate $\tanh$ by a central difference with step $h$, and make $h$ smaller and smaller. What becomes of the error?
( ) It keeps falling :: So it would with exact arithmetic. But $f(x+h)$ and $f(x-h)$ share ever more of their digits, and what is left of the difference is round-off.
( ) It falls in proportion to $h$ until the two points coincide :: A central difference does better than that at first: its error falls with $h^2$. And it turns long before the points coincide.
(x) It falls, reaches a least value, and then rises :: Truncation falls with $h^2$, round-off grows with $1/h$. No choice of $h$ makes both vanish. This lesson has no $h$ at all.
( ) It is 0 for every $h$, because the difference is central :: That holds for straight lines and parabolas, such as $(2w-6)^2$ (up to round-off). $\tanh$ is neither.

? In the running example $u = ab$, $v = u + a$, $w = \tanh b$, $L = vw$. Which of these are topological orders? Tick all.
[x] a, b, u, v, w, L :: Every parent stands before its child.
[ ] a, u, b, v, w, L :: $u = ab$ needs $b$, and here $b$ comes after it.
[x] b, w, a, u, v, L :: $w$ needs only $b$, so it may come early. Every parent stands before its child.
[ ] L, w, v, u, b, a :: This is a valid order read backward: every child before its parents. You will want it in lesson 3.
""")

# %% [markdown]
# ## A nudge that travels along
#
# Our running example is $L = (ab + a)\cdot\tanh b$, in single steps:
#
# $$u = a\cdot b,\qquad v = u + a,\qquad w = \tanh b,\qquad L = v\cdot w.$$
#
# At $(a, b) = (2, -1)$ the values are $u = -2$, $v = 0$, $w = -0.761594\ldots$, $L = 0$.
#
# Lesson 1 asked for every path from $b$ to $L$. Now ask less, of one node after the other. **Nudge $b$ by a tiny $\varepsilon$. How much does this node move?**
#
# - $u = ab$ with $a = 2$: it moves by $2\,\varepsilon$.
# - $v = u + a$: $a$ stands still, $u$ moves by $2\,\varepsilon$, so $v$ moves by $2\,\varepsilon$.
# - $w = \tanh b$: its slope is $1 - w^2 = 0.419974$, so it moves by $0.419974\,\varepsilon$.
# - $L = vw$: a move of $v$ counts $w$ times, a move of $w$ counts $v$ times. Together $-0.761594\cdot 2\,\varepsilon + 0\cdot 0.419974\,\varepsilon = -1.523188\,\varepsilon$.
#
# So $\partial L/\partial b = -1.523188$. No path was listed. Each node looked at its parents, and at nothing else.
#
# The cell below really nudges $b$, and divides every move by the nudge.

# %%
running = {
    "a": Node("input"),
    "b": Node("input"),
    "u": Node("*", ("a", "b")),
    "v": Node("+", ("u", "a")),
    "w": Node("tanh", ("b",)),
    "L": Node("*", ("v", "w")),
}
epsilon = 0.001  # make it smaller, or nudge a instead of b
before = forward_pass(running, {"a": 2.0, "b": -1.0})
after = forward_pass(running, {"a": 2.0, "b": -1.0 + epsilon})

print(f"{'node':<6}{'before':>12}{'after':>12}{'move / ε':>12}")
for name in running:
    move = (after[name] - before[name]) / epsilon
    print(f"{name:<6}{shown(before[name]):>12}{shown(after[name]):>12}{shown(move):>12}")
show_data_graph(running, before, "L", slopes=True)

# %% [markdown]
# *The last column comes close to 2, 2, 0.419974 and −1.523188, the closer the smaller ε is. Forward mode gets those numbers without nudging anything. In the picture every arrow carries its local derivative, the factor by which a move is passed on.*
#
# The number in front of $\varepsilon$ is the node's [tangent](../glossary.ipynb#tangent), written with a dot: $\dot u = 2$. It is the derivative of that node with respect to whatever was nudged. One rule makes them all:
#
# $$\dot c \;=\; \sum_{\text{slots}} \underbrace{\frac{\partial c}{\partial p}}_{\text{local derivative}}\cdot\underbrace{\dot p}_{\text{tangent of the parent in that slot}}$$
#
# It starts with the inputs. The one that you nudge gets the tangent 1, the others 0: here $\dot a = 0$, $\dot b = 1$. This choice is called the [seed](../glossary.ipynb#seed).

# %% tags=["quiz"]
quiz("2.predict-v", r"""
? Same point, $(2, -1)$, but now nudge $a$: $\dot a = 1$, $\dot b = 0$. Then $\dot u = b = -1$. What is the tangent of $v = u + a$?
(x) 0: $\dot u + \dot a = -1 + 1$ :: One product for each slot, then the sum. The two moves cancel, and $v$ stands still.
( ) −1: only $u$ has anything to do with it :: $a$ fills a slot of $v$ too, and $a$ is moving: $\dot a = 1$.
( ) 1: $a$ moves by 1 :: That is what arrives through the slot of $a$. Something else arrives through the slot of $u$.
( ) −1 · 1 = −1 :: Products are for one slot: local derivative times tangent. Across slots you add.
""")

# %% [markdown]
# ### By hand first
#
# Now the point $(1.5, -0.7)$, where nothing is zero: $v = 0.45$, $w = -0.604368$. Fill in the tangents for both seeds. Write arithmetic if you like: `1.0 * b` is a fine entry.
#
# | node | rule | seed $a$: $\dot a = 1,\ \dot b = 0$ | seed $b$: $\dot a = 0,\ \dot b = 1$ |
# |---|---|---|---|
# | $u = ab$ | $\dot u = b\,\dot a + a\,\dot b$ | | |
# | $v = u + a$ | $\dot v = \dot u + \dot a$ | | |
# | $w = \tanh b$ | $\dot w = (1 - w^2)\,\dot b$ | | |
# | $L = vw$ | $\dot L = w\,\dot v + v\,\dot w$ | | |

# %%
a, b = 1.5, -0.7
u, v, w = a * b, a * b + a, math.tanh(b)

mine = {
    "seed a": {"u": 1.0 * b, "v": None, "w": None, "L": None},
    "seed b": {"u": None, "v": None, "w": None, "L": None},
}
compare_tangents(mine)

# %% [markdown] tags=["hints"]
# <details><summary>I do not know where to begin</summary>
#
# Begin with the inputs: their tangents are given by the seed. Then go down the table. When a node's turn comes, the tangents of its parents are already there. For seed $b$: $\dot u = b\cdot 0 + a\cdot 1 = 1.5$.
#
# </details>
# <details><summary>I have filled in mine and want to see the whole table</summary>
#
# | node | seed $a$ | seed $b$ |
# |---|---|---|
# | $u$ | $-0.7$ | $1.5$ |
# | $v$ | $-0.7 + 1 = 0.3$ | $1.5 + 0 = 1.5$ |
# | $w$ | $0$ | $1 - w^2 = 0.634740$ |
# | $L$ | $0.3\,w = -0.181310$ | $1.5\,w + 0.45\cdot 0.634740 = -0.620919$ |
#
# Two seeds, two columns, two derivatives. Each column visits every edge once.
#
# </details>

# %% [markdown]
# ### Exercise 2.0 The tangent pass
#
# ●●○○○ · 10 minutes
#
# What you did by hand, as a program on graphs as data.
#
# Write **`tangent_pass(graph, values, seed)`**.
#
# - `graph`: `dict[str, Node]`, its nodes in any order; `values`: the value of every node, as `forward_pass` returns them; `seed`: a `dict` from names of inputs to their tangents. Any numbers may stand there, not only 1. An input that is not named has the tangent 0.0.
# - Returns a `dict` with the tangent, a float, of **every** node of the graph, inputs included.
# - **One visit an edge**: each tangent is computed once and used again wherever it is needed.
# - No errors to raise.
#
# You have `topological_order(parents)`, which lists parents before children; it takes `{name: node.parents for name, node in graph.items()}`. And you have `local_derivatives(op, inputs, output, n)`, which returns one number for each slot (for an input: none).
#
# Example: on the running example at $(2, -1)$ the seed `{"b": 1.0}` gives 2, 2, 0.419974 and −1.523188 for `"u"`, `"v"`, `"w"`, `"L"`. On `{"x": Node("input"), "y": Node("*", ("x", "x"))}` at $x = 3$ the seed `{"x": 1.0}` gives 6 for `"y"`: two slots, 3 from each.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "2_0-solution", "locked": false, "solution": true, "task": false}
def tangent_pass(graph: Graph, values: dict[str, float], seed: dict[str, float]) -> dict[str, float]:
    """The tangent of every node of the graph, in one pass from the inputs forward."""
    ### BEGIN SOLUTION
    tangents: dict[str, float] = {}
    for name in topological_order({name: node.parents for name, node in graph.items()}):
        node = graph[name]
        if node.op == "input":
            tangents[name] = seed.get(name, 0.0)
            continue
        inputs = tuple(values[parent] for parent in node.parents)
        slopes = local_derivatives(node.op, inputs, values[name], node.n)
        steps = zip(node.parents, slopes, strict=True)
        tangents[name] = sum(slope * tangents[parent] for parent, slope in steps)
    return tangents
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "2_0", "locked": true, "points": 4, "solution": false, "task": false}
check("2.0", tangent_pass)
### BEGIN HIDDEN TESTS
from autograder.student import grade
grade("2.0", tangent_pass)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>KeyError: a tangent that I need is not there yet</summary>
#
# Look at the name in the message. Is it a node that is computed? The nodes of `graph` stand in any order, so a node's turn may come before its parents'. In which order must they be visited? Is it an input? Then the seed does not name it: what is its tangent?
#
# </details>
# <details><summary>For y = x · x I get 3 instead of 6</summary>
#
# `y` has two slots, and both hold `x`. Go through the slots one by one, not through the set of different parents. Each slot adds its own product.
#
# </details>
# <details><summary>The seed 3 gives me the same as the seed 1</summary>
#
# The seed is not only a choice of input. Its number is that input's tangent, and it goes through the rule like any other tangent.
#
# </details>
# <details><summary>All is well on small graphs, but the ladder never ends</summary>
#
# Then tangents are computed again for each node that asks for them, which is once for each path. Store every tangent in a dict when it is made. The ladder has 40 edges and a million paths.
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# Visit parents before children. An input takes its tangent from the seed. Every other node adds up, slot by slot, local derivative times the tangent of what fills the slot. All it needs has been stored by then.
#
# {{solution 2.0}}
#
# Compare this with lesson 1's sum over paths. The chain rule is the same. What is new is the dict: a shared part of two paths is worked out once, and its result stored.

# %%
with when_ready("2.0"):
    values = forward_pass(running, {"a": 2.0, "b": -1.0})
    for seed in ({"a": 1.0}, {"b": 1.0}, {"a": 3.0, "b": -2.0}):
        tangents = tangent_pass(running, values, seed)
        print(seed, {name: shown(tangents[name]) for name in "uvwL"})
    show_data_graph(running, values, "L", tangents=tangents, slopes=True)

# %% [markdown]
# *Every node shows two numbers: its value and its tangent, here for the last seed. Both were made on the way forward, one beside the other. Check one node by hand: each incoming arrow's number times the tangent at its tail, then the sum.*
#
# The same pass, slowed down: one edge a step. Before each step into $L$, say the product that is about to travel.

# %%
with when_ready("2.0"):
    values = forward_pass(running, {"a": 1.5, "b": -0.7})
    show_forward(running, values, {"b": 1.0}, "L")  # change the seed, or the point above

# %% [markdown]
# *Use the buttons, the slider or the arrow keys. See how $u$, $v$ and $L$ have two slots each, so two products arrive there and are added. From $a$, which stands still, every product is 0. After seven steps, one for each edge, the number in $L$ is the one you worked out by hand: −0.620919.*

# %% [markdown]
# ## Any direction is a seed
#
# The third seed above was $(3, -2)$. It is not a choice of one input: $a$ moves three times as fast as the nudge, and $b$ twice as fast, downward. What does the tangent of $L$ mean then?
#
# Tangents come from multiplying and adding, so they are *linear* in the seed. The seed $(3, -2)$ is 3 times the seed $a$ plus $-2$ times the seed $b$, and every tangent follows suit. At $(2, -1)$, where the two derivatives are $0$ and $-1.523188\ldots$:
#
# $$\dot L = 3\cdot 0 + (-2)\cdot(-1.523188\ldots) = 3.046376\ldots$$
#
# Each derivative is multiplied by how fast its input moves, and the products are added. The list of the derivatives is the [gradient](../glossary.ipynb#gradient), here $(0, -1.523188\ldots)$; it is written $\nabla L$. Such a sum of products is a dot product, and with $r = (3, -2)$ the line above reads $\dot L = r\cdot\nabla L$.
#
# It is the [directional derivative](../glossary.ipynb#directional-derivative): the slope of $L$ when you walk through the point along $r$. It took one pass, not two, and the gradient itself was never computed.

# %% tags=["quiz"]
quiz("2.predict-direction", r"""
? At $(1.5, -0.7)$ the two derivatives are $-0.181310$ and $-0.620919$. You seed with $(10, 0)$. What is $\dot L$?
( ) −0.181310: the seed chooses $a$ :: That is the answer to the seed $(1, 0)$. Moving ten times as fast along $a$ moves $L$ ten times as fast.
(x) −1.813103 :: Ten times the seed gives ten times the tangent, at every node.
( ) An error: a seed consists of one 1 and otherwise zeros :: Any numbers will do. The two basis vectors are only the seeds that single out one input.
( ) Something near −1.8, but not exactly: 10 is a large nudge :: Nothing is nudged by 10. A tangent is a rate. The rate is multiplied by 10, exactly.
""")

# %%
with when_ready("2.0"):
    values = forward_pass(running, {"a": 2.0, "b": -1.0})
    r = {"a": 3.0, "b": -2.0}  # try another direction
    slope = tangent_pass(running, values, r)["L"]
    print("slope along r:", shown(slope))
    elsewhere = forward_pass(running, {"a": 1.5, "b": -0.7})
    print("seed (10, 0) at (1.5, −0.7):", shown(tangent_pass(running, elsewhere, {"a": 10.0})["L"]))
    if not quiet():
        t = np.linspace(-0.35, 0.35, 141)
        along = [forward_pass(running, {"a": 2.0 + r["a"] * s, "b": -1.0 + r["b"] * s})["L"] for s in t]
        figure, axes = plt.subplots()
        axes.plot(t, along, marker="", label="L at (2, −1) + t·r")
        axes.plot(t, slope * t, marker="", label=f"the tangent line, slope {slope:.6f}")
        axes.plot([0], [0], "o", color="black", label="where we stand")
        axes.set(xlabel="t, steps along r", ylabel="L", title="One pass gives the slope along any line")
        axes.legend()
        plt.show()

# %% [markdown]
# *See how the straight line touches the curve where we stand. Its slope is the tangent of $L$; hence the name. The curve was drawn with 141 forward passes; the line needed one.*

# %% [markdown]
# ## Two numbers in one
#
# A graph as data must be typed in by hand. We want to write ordinary Python and have the tangents come along by themselves. So we put the two numbers of a node into one object, a [dual number](../glossary.ipynb#dual-number):
#
# $$x = 3 + 2\,\varepsilon \qquad\text{in Python: } \texttt{Dual(3.0, 2.0)}$$
#
# The first number is the `value`, the second the `tangent`. Calculate with it as with any sum, and drop whatever has $\varepsilon^2$:
#
# $$(3 + 2\varepsilon)(5 - \varepsilon) = 15 - 3\varepsilon + 10\varepsilon - 2\varepsilon^2 = 15 + 7\,\varepsilon.$$
#
# Why may $\varepsilon^2$ go? For a nudge of $0.001$ it is a millionth, and a derivative is about the part that is proportional to the nudge. The picture shows what has been left out.

# %%
r, s = 3.0, 5.0  # the two factors
dr, ds = 0.6, 0.4  # how far each moves; make both ten times smaller

print(f"the product moves by     {(r + dr) * (s + ds) - r * s:.6f}")
print(f"two strips: ds·r + dr·s  {ds * r + dr * s:.6f}")
print(f"the corner: dr·ds        {dr * ds:.6f}")
if not quiet():
    figure, axes = plt.subplots(figsize=(5.4, 3.6))
    axes.add_patch(plt.Rectangle((0, 0), r, s, facecolor="#dfe3e7", edgecolor="#1a1f26"))
    axes.add_patch(plt.Rectangle((r, 0), dr, s, facecolor="#56B4E9", edgecolor="#1a1f26", hatch="//"))
    axes.add_patch(plt.Rectangle((0, s), r, ds, facecolor="#E69F00", edgecolor="#1a1f26", hatch=".."))
    axes.add_patch(plt.Rectangle((r, s), dr, ds, facecolor="white", edgecolor="#1a1f26"))
    axes.text(r / 2, s / 2, "r · s", ha="center", va="center")
    axes.text(r + dr + 0.1, s / 2, "dr · s", va="center")
    axes.text(r / 2, s + ds + 0.12, "r · ds", ha="center")
    axes.text(r + dr + 0.1, s + ds / 2, "dr · ds", va="center")
    axes.set(xlim=(0, r + dr + 1.2), ylim=(0, s + ds + 0.6), xlabel="first factor", ylabel="second factor")
    axes.set_title("A product grows by two strips and a corner")
    axes.grid(False)
    plt.show()

# %% [markdown]
# *The two strips are **added**. The corner shrinks with the square of the nudge: make both nudges ten times smaller, and the strips become ten times smaller, the corner a hundred times.*
#
# Here is the class. It is given, and folded, because there is nothing to fill in. Where Python meets `x * y` and `x` is a Dual, it calls a method of that class. Each such method turns plain numbers into Duals (a constant does not move, so its tangent is 0) and then calls **a function that you will write**.
#
# | you write | Python calls |
# |---|---|
# | `x + y`, `x + 2`, `2 + x` | `dual_add(r, s)` |
# | `x - y`, `1 - x`, `-x` | `dual_sub(r, s)`, `dual_neg(r)` |
# | `x * y`, `2 * x` | `dual_mul(r, s)` |
# | `x / y`, `2 / x` | `dual_div(r, s)` |
# | `x ** 3` | `dual_pow(r, n)` |

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "dual-class", "locked": true, "solution": false, "task": false} jupyter={"source_hidden": true}
# The class Dual. Given: run it and go on. Running it again is safe; your functions stay as they are.
def number_or_dual(x):
    """x itself if it carries a tangent, else a constant: Dual(x, 0.0)."""
    return x if hasattr(x, "tangent") else Dual(x)


class Dual:
    """A number together with its rate of change: value + tangent·ε."""

    __slots__ = ("tangent", "value")
    __array_ufunc__ = None  # NumPy's numbers leave the operators to this class

    def __init__(self, value, tangent=0.0):
        self.value = float(value)
        self.tangent = float(tangent)

    def __add__(self, other):
        return dual_add(self, number_or_dual(other))

    def __radd__(self, other):
        return dual_add(number_or_dual(other), self)

    def __sub__(self, other):
        return dual_sub(self, number_or_dual(other))

    def __rsub__(self, other):
        return dual_sub(number_or_dual(other), self)

    def __mul__(self, other):
        return dual_mul(self, number_or_dual(other))

    def __rmul__(self, other):
        return dual_mul(number_or_dual(other), self)

    def __truediv__(self, other):
        return dual_div(self, number_or_dual(other))

    def __rtruediv__(self, other):
        return dual_div(number_or_dual(other), self)

    def __neg__(self):
        return dual_neg(self)

    def __pow__(self, n):
        return dual_pow(self, n)

    def __repr__(self):
        return f"Dual({self.value + 0.0:g}, {self.tangent + 0.0:g})"

# %% [markdown]
# A rule for an operation that you do *not* have to write: three times its input. If $r$ moves by $\dot r\,\varepsilon$, then $3r$ moves by $3\,\dot r\,\varepsilon$.

# %%
def dual_triple(r):
    return Dual(3.0 * r.value, 3.0 * r.tangent)


dual_triple(Dual(2.0, 1.0)), dual_triple(Dual(2.0, 10.0))

# %% tags=["quiz"]
quiz("2.predict-constant", r"""
? `x = Dual(4.0, 1.0)` and `y = x + 5`. The 5 is a plain number. Which Dual is it turned into, and what is `y`?
(x) `Dual(5, 0)`, and y is `Dual(9, 1)` :: A constant does not move when $x$ is nudged: tangent 0. The sum moves exactly as fast as $x$.
( ) `Dual(5, 1)`, and y is `Dual(9, 2)` :: That would say that 5 moves along with $x$. Then $x + 5$ would have the slope 2.
( ) `Dual(5, 5)`, and y is `Dual(9, 6)` :: The tangent is how fast a number moves, not how large it is. 5 does not move.
( ) It cannot be added: 5 has no tangent :: The class gives it one. A number that does not depend on the input has the tangent 0.

? `x = Dual(3.0, 2.0)`, so $x$ moves twice as fast as the nudge. What is the tangent of `x * x`?
( ) 4 :: That is $2\cdot 2$, the tangents multiplied: the corner of the picture, which is dropped.
( ) 6 :: That is the derivative of $x^2$ at 3, which answers to the tangent 1. Here $x$ moves twice as fast.
(x) 12 :: Two strips of $3\cdot 2$, added. Twice the tangent in, twice the tangent out.
( ) 36 :: That is $(3\cdot 2)\cdot(3\cdot 2)$, the two strips multiplied. Strips are added.
""")

# %% [markdown]
# ### Exercise 2.1 Arithmetic with two numbers
#
# ●●○○○ · 12 minutes
#
# Write **`dual_add(r, s)`, `dual_sub(r, s)`, `dual_neg(r)`, `dual_mul(r, s)`, `dual_div(r, s)`** and **`dual_pow(r, n)`**.
#
# - `r`, `s`: Duals, possibly the *same* Dual twice, with any tangents. `n`: a plain int or float; 0 and negative numbers too.
# - Each returns a new Dual and leaves `r` and `s` as they are.
# - Errors: leave them to Python. Dividing by a value of 0 raises ZeroDivisionError by itself.
#
# The quotient needs no new rule. Call it $q = r/s$. Then $q\cdot s = r$, and both sides move at the same rate. Write down the product rule for the left side and solve for $\dot q$.
#
# Examples: `Dual(3, 2) * Dual(5, -1)` is `Dual(15, 7)`. `Dual(6, 1) / Dual(2, 0)` is `Dual(3, 0.5)`. `2 / Dual(4, 1)` is `Dual(0.5, -0.125)`. `Dual(-3, 1) ** 2` is `Dual(9, -6)`, and `Dual(-3, 2) ** 2` is `Dual(9, -12)`.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "2_1-solution", "locked": false, "solution": true, "task": false}
def dual_add(r: Dual, s: Dual) -> Dual:
    """r + s."""
    ### BEGIN SOLUTION
    return Dual(r.value + s.value, r.tangent + s.tangent)
    ### END SOLUTION


def dual_sub(r: Dual, s: Dual) -> Dual:
    """r − s."""
    ### BEGIN SOLUTION
    return Dual(r.value - s.value, r.tangent - s.tangent)
    ### END SOLUTION


def dual_neg(r: Dual) -> Dual:
    """−r."""
    ### BEGIN SOLUTION
    return Dual(-r.value, -r.tangent)
    ### END SOLUTION


def dual_mul(r: Dual, s: Dual) -> Dual:
    """r · s."""
    ### BEGIN SOLUTION
    return Dual(r.value * s.value, r.tangent * s.value + r.value * s.tangent)
    ### END SOLUTION


def dual_div(r: Dual, s: Dual) -> Dual:
    """r / s."""
    ### BEGIN SOLUTION
    q = r.value / s.value
    return Dual(q, (r.tangent - q * s.tangent) / s.value)
    ### END SOLUTION


def dual_pow(r: Dual, n: float) -> Dual:
    """r to the power n, a plain number."""
    ### BEGIN SOLUTION
    slope = n * r.value ** (n - 1) if n else 0.0
    return Dual(r.value**n, slope * r.tangent)
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "2_1", "locked": true, "points": 10, "solution": false, "task": false}
check("2.1", Dual)
### BEGIN HIDDEN TESTS
from autograder.student import grade
grade("2.1", Dual)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>For x · x at 3 I get 9, or 1, instead of 6</summary>
#
# 9 is $(3\cdot 1)\cdot(3\cdot 1)$: the two strips multiplied. 1 is $1\cdot 1$: the corner. Look at the picture above. Which parts does the product gain, and how do they go together?
#
# </details>
# <details><summary>My quotient is right only when the denominator does not move</summary>
#
# Then the part of $\dot s$ is missing, or has the wrong sign. Begin from $q\cdot s = r$ and write the product rule for its left side: $\dot q\,s + q\,\dot s = \dot r$. What is left to do is to solve for $\dot q$.
#
# </details>
# <details><summary>My power is right for tangent 1 and wrong for any other</summary>
#
# $n\,x^{n-1}$ is the slope of the power. The tangent that comes in has to be multiplied by it.
#
# </details>
# <details><summary>(−3) ** 2 fails, or x ** 0 does</summary>
#
# Do not go through the logarithm: it does not exist for negative numbers. `r.value ** n` does. For $n = 0$ the result is the constant 1, and a constant has the tangent 0.
#
# </details>
# <details><summary>2 / x or 1 − x comes out upside down, or with the wrong sign</summary>
#
# `2 / x` calls `dual_div(r, s)` with `r` = 2 and `s` = x. Keep that order.
#
# </details>
# <details><summary>After my operation one of the operands has changed</summary>
#
# Do not write to `r.tangent` or `s.tangent`. The same Dual may be used again later. Make a new one.
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# Sums and differences move by the sum and the difference of the moves. A product gains two strips. For the quotient, $\dot q\,s + q\,\dot s = \dot r$ gives $\dot q = (\dot r - q\,\dot s)/s$; put $q = r/s$ into it and you have the rule from school, $(\dot r\,s - r\,\dot s)/s^2$.
#
# {{solution 2.1}}
#
# With `x * x` both operands are the same object, and $x\,\dot x + \dot x\,x = 2x\,\dot x$ comes out by itself. No special case was needed.

# %%
with when_ready("2.1"):
    x = Dual(7.0, 1.0)
    y = x / (1 + x**2)
    print(y)
    print(f"tangent    {y.tangent:.10f}")
    print(f"difference {central_difference(lambda t: t / (1 + t**2), 7.0):.10f}")

# %% [markdown]
# *$x/(1+x^2)$ at 7: the slope is $-48/2500 = -0.0192$. The program never saw a formula for it. The last digits of the difference are its error. Try other points, and a tangent of 2.*

# %% [markdown]
# ## A function stretches the tangent
#
# What does $\tanh$ do to $2 + 0.4\,\varepsilon$? The value becomes $t = \tanh 2 = 0.964$. There the curve is nearly flat, with slope $1 - t^2 = 0.071$. So a move that comes in at rate 0.4 goes out at rate $0.071\cdot 0.4 = 0.028$: the result is $0.964 + 0.028\,\varepsilon$. In general
#
# $$\tanh(x + \dot x\,\varepsilon) = t + (1 - t^2)\,\dot x\,\varepsilon.$$
#
# That is the chain rule: slope of the function, *times the tangent that comes in*. The slopes are those of lesson 1.
#
# | function | slope | worth noticing |
# |---|---|---|
# | $t = \tanh x$ | $1 - t^2$ | from the *output* $t$ |
# | $y = e^x$ | $y$ | the output itself |
# | $y = \log x$ | $1/x$ | from the input |
# | $y = \mathrm{relu}(x)$ | $1$ if $x > 0$, else $0$ | at exactly $0$, any number from 0 to 1 will do |

# %%
incoming = 0.4  # the tangent that comes in, the same at every point
points = [-2.0, -1.2, -0.6, 0.0, 0.6, 1.2, 2.0]
for x in points:
    t = math.tanh(x)
    print(f"tanh: {x:5.1f} + {incoming}ε   becomes   {t:6.3f} + {(1 - t * t) * incoming:.3f}ε")
if not quiet():
    figure, axes = plt.subplots(figsize=(6.4, 2.6))
    for x in points:
        t = math.tanh(x)
        axes.plot([x, t], [1, 0], color="#dfe3e7", marker="", linestyle="-", zorder=0)
        arrow(axes, (x, 1), (incoming, 0), "#0072B2")
        arrow(axes, (t, 0), ((1 - t * t) * incoming, 0), "#D55E00")
        axes.plot([x, t], [1, 0], "o", color="#1a1f26", markersize=4)
    axes.set(yticks=[0, 1], yticklabels=["tanh x", "x"], xlim=(-2.3, 2.7), ylim=(-0.4, 1.4), xlabel="value")
    axes.set_title("tanh squeezes a tangent, the more the farther from 0")
    plt.show()

# %% [markdown]
# *Above, seven inputs with tangents of equal length. Below, what $\tanh$ makes of them. At 0 the arrow keeps its length; at $\pm 2$ about a fourteenth of it is left.*

# %% tags=["quiz"]
quiz("2.predict-exp", r"""
? $x$ has the value 0 and the tangent $-5$. What is the tangent of $e^x$?
( ) 1 :: That is the slope of $e^x$ at 0. The tangent that comes in has to be multiplied by it.
( ) 0, because the exponent is 0 :: The slope of $e^x$ is its output, not its input. At $x = 0$ the output is 1.
( ) −4 :: That is $1 + (-5)$. Along a chain of steps slopes are multiplied.
(x) −5 :: Slope 1, times the incoming $-5$.
( ) $e^{-5}$ :: The tangent is not fed through the function. It is multiplied by the function's slope at the value.
""")

# %% [markdown]
# ### Exercise 2.2 Four functions
#
# ●●○○○ · 8 minutes
#
# Write **`tanh(x)`, `exp(x)`, `log(x)`** and **`relu(x)`**, each for two kinds of input.
#
# - `x` a Dual: return a new Dual. The incoming tangent may be any number.
# - `x` a plain number: return a plain number, `math.tanh(x)` and so on. **Floats stay floats**, so that one and the same program runs on numbers and on Duals.
# - Errors: leave them to Python. `math.log(0.0)` raises ValueError by itself.
#
# `hasattr(x, "tangent")` tells the two kinds apart.
#
# Examples: `exp(Dual(0.0, -5.0))` is `Dual(1, -5)`. `tanh(Dual(-0.7, 2.0))` has the value −0.604368 and the tangent 1.269479. `relu(Dual(-1.0, 3.0))` is `Dual(0, 0)`, `relu(Dual(2.0, 3.0))` is `Dual(2, 3)`, and `relu(-1.0)` is the number 0.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "2_2-solution", "locked": false, "solution": true, "task": false}
def tanh(x):
    """tanh of a Dual or a number."""
    ### BEGIN SOLUTION
    if not hasattr(x, "tangent"):
        return math.tanh(x)
    t = math.tanh(x.value)
    return Dual(t, (1.0 - t * t) * x.tangent)
    ### END SOLUTION


def exp(x):
    """e to the power of a Dual or a number."""
    ### BEGIN SOLUTION
    if not hasattr(x, "tangent"):
        return math.exp(x)
    y = math.exp(x.value)
    return Dual(y, y * x.tangent)
    ### END SOLUTION


def log(x):
    """The natural logarithm of a Dual or a number."""
    ### BEGIN SOLUTION
    if not hasattr(x, "tangent"):
        return math.log(x)
    return Dual(math.log(x.value), x.tangent / x.value)
    ### END SOLUTION


def relu(x):
    """A Dual or a number where it is positive, else 0."""
    ### BEGIN SOLUTION
    if not hasattr(x, "tangent"):
        return max(x, 0.0)
    return Dual(x.value, x.tangent) if x.value > 0 else Dual(0.0, 0.0)
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "2_2", "locked": true, "points": 6, "solution": false, "task": false}
check("2.2", Dual, tanh, exp, log, relu)
### BEGIN HIDDEN TESTS
from autograder.student import grade
grade("2.2", Dual, tanh, exp, log, relu)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>It is right for tangent 1 and wrong for any other</summary>
#
# You return the slope of the function. What comes in may move at any rate: multiply the slope by `x.tangent`.
#
# </details>
# <details><summary>My tanh has the wrong slope</summary>
#
# The slope is $1 - t^2$ with $t$ the *output*, squared, and with a minus sign.
#
# </details>
# <details><summary>My exp or log has the wrong slope</summary>
#
# $e^x$ is its own slope: use the output, not the input. The slope of $\log x$ is one over the *input*.
#
# </details>
# <details><summary>relu lets something through that it should stop, or stops what should pass</summary>
#
# Which way relu goes is decided by `x.value` alone. A negative tangent is a perfectly good tangent, and must pass when the value is positive.
#
# </details>
# <details><summary>tanh(0.5) gives me a Dual, or an AttributeError about 'tangent'</summary>
#
# A plain number has no tangent and wants none. Look which kind of input you have before anything else.
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# Four times the same pattern: a number in, a number out; otherwise value by the function, tangent by slope times incoming tangent.
#
# {{solution 2.2}}
#
# It might seem simpler to turn every number into `Dual(x, 0.0)` and return a Dual always. Then a program run on floats would return Duals, and whatever it is handed to next, `math.floor` or a plot, would fail.

# %% [markdown]
# ## Ordinary Python, differentiated
#
# Now nothing more is needed. Any program made of these pieces differentiates itself when it is fed a Dual: with loops, with functions that call functions, with an `if`.
#
# Take Heron's way to a square root. Begin with $y = x$, then replace $y$ again and again by the mean of $y$ and $x/y$. There is no formula for the square root in this loop. Feed it $2 + 1\varepsilon$, and out comes $\sqrt 2$ together with the slope of the square root at 2.

# %%
def heron(x):
    y = x
    for _ in range(6):
        y = (y + x / y) / 2
    return y


print("on a number:", heron(2.0))
with when_ready("2.1"):
    y = heron(Dual(2.0, 1.0))
    print("on a Dual:  ", y.value, y.tangent)
    print("expected:   ", math.sqrt(2), 1 / (2 * math.sqrt(2)))

# %% [markdown]
# *The tangent went round the loop six times, beside the value. Print `y` inside the loop to watch both converge.*
#
# ### Exercise 2.3 A derivative
#
# ●○○○○ · 4 minutes
#
# Write **`derivative(f, x)`**. One line will do.
#
# - `f`: a function of one number, made of `+ − * / **` and `tanh, exp, log, relu`; `x`: a float.
# - Returns the float $f'(x)$.
# - `f` may return a plain number, for instance when it ignores its input. A plain number is a constant: its derivative is 0.0. (`number_or_dual`, from the folded cell, turns it into a Dual.)
# - No errors to raise.
#
# Examples: `derivative(lambda x: x * x, 3.0)` is 6. `derivative(lambda x: 5.0, 3.0)` is 0.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "2_3-solution", "locked": false, "solution": true, "task": false}
def derivative(f, x: float) -> float:
    """f′(x), by one run of f."""
    ### BEGIN SOLUTION
    return number_or_dual(f(Dual(x, 1.0))).tangent
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "2_3", "locked": true, "points": 3, "solution": false, "task": false}
check("2.3", derivative)
### BEGIN HIDDEN TESTS
from autograder.student import grade
grade("2.3", derivative)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>I get the value, not the derivative, or a Dual</summary>
#
# What `f` returns for a Dual holds both numbers. You want one of them.
#
# </details>
# <details><summary>Every derivative is 0</summary>
#
# Then nothing was moving. Which tangent does the input have to start with?
#
# </details>
# <details><summary>AttributeError: 'float' object has no attribute 'tangent'</summary>
#
# `f` has returned a plain number, a constant. Turn the result into a Dual before you ask for its tangent.
#
# </details>
# <details><summary>The check says: close, but not equal</summary>
#
# A difference quotient is close. Forward mode is exact up to rounding, and needs no step.
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# Seed the input with 1, run `f`, read off the tangent.
#
# {{solution 2.3}}
#
# All the work was done in 2.1 and 2.2, rule by rule. `f` itself knows nothing of it.

# %%
def wave(x):
    return tanh(3 * x) * exp(-x * x) + 0.2 * relu(x - 1)


with when_ready("2.1", "2.2", "2.3"):
    for x in (-1.0, 0.0, 0.5, 1.5):
        print(f"x = {x:4.1f}   value {shown(wave(x)):>9}   derivative {shown(derivative(wave, x)):>9}")
    if not quiet():
        grid = np.linspace(-2, 2.5, 226)
        figure, axes = plt.subplots()
        axes.plot(grid, [wave(x) for x in grid], marker="", label="f")
        axes.plot(grid, [derivative(wave, x) for x in grid], marker="", label="f′, by forward mode")
        axes.axhline(0, color="#56606b", linewidth=0.8)
        axes.set(xlabel="x", ylabel="value, slope", title="One program, run on floats and on Duals")
        axes.legend()
        plt.show()

# %% [markdown]
# *Where $f$ has a peak or a trough, $f'$ crosses zero. At $x = 1$ relu has its kink: $f$ is continuous, and $f'$ jumps by 0.2. Put in a function of your own.*
#
# One thing to know about `if`: the derivative is that of the branch that was taken. Right at the border between two branches nobody warns you.

# %% [markdown]
# ## One direction at a time
#
# Most programs have more than one input. Collect them in one list, and give each its own tangent: a *direction*. One run then gives the value and the slope along that direction.
#
# And with several outputs? Take $y = (ab,\ a + b)$ at $(2, 3)$. The derivatives of the first output are 3 and 2, those of the second 1 and 1. Now let $a$ move at rate 1 and $b$ at rate $-1$. The outputs move at
#
# $$\begin{pmatrix} 3 & 2\\ 1 & 1\end{pmatrix}\begin{pmatrix} 1\\ -1\end{pmatrix} = \begin{pmatrix} 1\\ 0\end{pmatrix},\qquad\text{in general}\qquad \dot y = J\,\dot x.$$
#
# The matrix $J$ of all derivatives (row: output, column: input) is the [Jacobian](../glossary.ipynb#Jacobian). One run makes the product of that matrix with the direction. Hence its name, [Jacobian–vector product](../glossary.ipynb#JVP), JVP for short. The matrix itself is never built.
#
# In this lesson and the next `f` takes **one sequence** of scalars:

# %%
def running_example(x):
    a, b = x
    return (a * b + a) * tanh(b)


with when_ready("2.1"):
    a, b = Dual(2.0, 1.0), Dual(3.0, -1.0)
    print("the two outputs above:", a * b, a + b)
with when_ready("2.2"):
    print("on floats:", shown(running_example([2.0, -1.0])), shown(running_example([1.5, -0.7])))

# %% [markdown]
# ### Exercise 2.4 A Jacobian–vector product
#
# ●●○○○ · 5 minutes
#
# Write **`jvp(f, primals, tangents)`**.
#
# - `f`: takes one sequence of $P$ scalars, returns one scalar. `primals`: the $P$ values ([primal](../glossary.ipynb#primal) is the word for a value that has a tangent beside it); `tangents`: the $P$ tangents that go with them, any numbers.
# - Returns a pair of floats: $f$ at the primals, and its tangent.
# - `f` may return a plain number: a constant.
# - No errors to raise. `primals` and `tangents` stay as they are.
#
# Example: `jvp(running_example, [2.0, -1.0], [3.0, -2.0])` is `(0.0, 3.046376…)`. (Python may print the 0 as −0.0.)

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "2_4-solution", "locked": false, "solution": true, "task": false}
def jvp(f, primals, tangents) -> tuple[float, float]:
    """(f, r·∇f) at the primals, with r the tangents, by one run of f."""
    ### BEGIN SOLUTION
    y = number_or_dual(f([Dual(x, r) for x, r in zip(primals, tangents, strict=True)]))
    return y.value, y.tangent
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "2_4", "locked": true, "points": 4, "solution": false, "task": false}
check("2.4", jvp)
### BEGIN HIDDEN TESTS
from autograder.student import grade
grade("2.4", jvp)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>TypeError: f takes 1 positional argument but 2 were given</summary>
#
# `f` takes one list that holds all the inputs: `f([…])`, not `f(…, …)`.
#
# </details>
# <details><summary>The direction (3, −2) gives the same as (1, 1)</summary>
#
# Then the tangents that you were given do not reach the Duals. Each primal goes together with its own tangent.
#
# </details>
# <details><summary>How do I walk through two lists at once?</summary>
#
# `zip(primals, tangents)` gives you pairs.
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# Put each value together with its tangent, run `f` once, read off both numbers.
#
# {{solution 2.4}}
#
# `derivative` is the special case with one input and the tangent 1.

# %%
with when_ready("2.1", "2.2", "2.4"):
    print(jvp(running_example, [2.0, -1.0], [3.0, -2.0]))
    angles = np.linspace(0, 2 * math.pi, 145)
    slopes = [jvp(running_example, [1.5, -0.7], [math.cos(t), math.sin(t)])[1] for t in angles]
    gradient = [jvp(running_example, [1.5, -0.7], seed)[1] for seed in ([1.0, 0.0], [0.0, 1.0])]
    length = math.hypot(*gradient)
    along_gradient = jvp(running_example, [1.5, -0.7], [g / length for g in gradient])[1]
    print(f"gradient ({gradient[0]:.6f}, {gradient[1]:.6f}), length {length:.6f}")
    print(f"slope along it {along_gradient:.6f}")
    if not quiet():
        figure, axes = plt.subplots()
        axes.plot(np.degrees(angles), slopes, marker="", label="slope of L along the direction")
        for degrees, name, slope in ((0, "a", gradient[0]), (90, "b", gradient[1])):
            axes.plot([degrees], [slope], "s", color="black")
            axes.text(degrees + 12, slope + 0.03, f"along {name}: {slope:.6f}".replace("-", "−"))
        axes.axhline(0, color="#56606b", linewidth=0.8)
        axes.set(xlabel="direction of the seed, in degrees from the a axis", xticks=range(0, 361, 45))
        axes.set(ylabel="slope of L at (1.5, −0.7)", title="Each direction costs one pass")
        plt.show()

# %% [markdown]
# *All slopes lie on one wave, because the slope is linear in the direction. Two numbers settle the whole wave: those along $a$ and along $b$. They are the gradient, its direction is where the wave is highest, and its length, 0.646849, is the height.*

# %% [markdown]
# ## One pass for each input
#
# The whole [gradient](../glossary.ipynb#gradient) of a function of $P$ inputs has $P$ entries. Seed the first input with 1 and the others with 0: a pass gives the first entry. Then the second input, and so on. $P$ seeds, $P$ passes.

# %% tags=["quiz"]
quiz("2.predict-all-ones", r"""
? Why not save passes and seed *all* inputs with 1 at once?
( ) It works: each input finds its own derivative :: A Dual holds one tangent. All influences flow into that one number.
( ) It gives the largest entry :: Nothing is compared. The tangents are added.
( ) The seed must be a basis vector, else the pass fails :: Any seed will do. The question is what its answer means.
(x) One pass gives one number: here the sum of all entries of the gradient :: The seed $(1, \dots, 1)$ is a direction like any other, and $\dot L = 1\cdot\partial_1 L + \dots + 1\cdot\partial_P L$. The sum does not tell its summands apart.
""")

# %% [markdown]
# ### Exercise 2.5 The gradient, one entry a pass
#
# ●●○○○ · 6 minutes
#
# Write **`forward_gradient(f, theta)`**.
#
# - `f`: takes one sequence of $P$ scalars, returns one scalar (or a plain number: a constant). `theta`: a list or a one-dimensional array of $P$ floats.
# - Returns a NumPy array of shape `(P,)`: the gradient of `f` at `theta`. An input that `f` does not use has the derivative 0.0.
# - **Exactly $P$ calls of `f`**, and `theta` stays as it is.
# - No errors to raise.
#
# Example: `forward_gradient(running_example, [1.5, -0.7])` is `array([-0.181310, -0.620919])`, to six places.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "2_5-solution", "locked": false, "solution": true, "task": false}
def forward_gradient(f, theta) -> np.ndarray:
    """The gradient of f at theta, shape (P,), in P passes."""
    ### BEGIN SOLUTION
    P = len(theta)
    return np.array([jvp(f, theta, [float(i == j) for j in range(P)])[1] for i in range(P)])
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "2_5", "locked": true, "points": 4, "solution": false, "task": false}
check("2.5", forward_gradient)
### BEGIN HIDDEN TESTS
from autograder.student import grade
grade("2.5", forward_gradient)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>All my entries are the same number</summary>
#
# Then every pass had the same seed, perhaps all ones. Each pass must single out one input.
#
# </details>
# <details><summary>Each entry is the sum of all entries up to there</summary>
#
# A seed of 1 from an earlier pass is still there. Start each pass with fresh Duals.
#
# </details>
# <details><summary>The check says that f was called too often</summary>
#
# Look for a call outside the loop, or for two calls in it. One pass gives the value *and* the tangent.
#
# </details>
# <details><summary>How do I make a basis vector?</summary>
#
# Its entry number `j` is 1.0 where `i == j` and 0.0 elsewhere. `float(True)` is 1.0. Or take a row of `np.eye(P)`.
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# One JVP for each [basis vector](../glossary.ipynb#basis-vector).
#
# {{solution 2.5}}
#
# With lists, `[Dual(x, float(i == j)) for j, x in enumerate(theta)]` says the same without `jvp`.

# %%
def network(theta):
    """A tiny network: two tanh units on the input (0.5, −1), squared distance from the target 0.3. P = 9."""
    w1, w2, b1, w3, w4, b2, v1, v2, c = theta
    h1 = tanh(w1 * 0.5 + w2 * -1.0 + b1)
    h2 = tanh(w3 * 0.5 + w4 * -1.0 + b2)
    return (v1 * h1 + v2 * h2 + c - 0.3) ** 2


with when_ready("2.1", "2.2", "2.4", "2.5"):
    theta = np.array([0.1, -0.4, 0.2, 0.7, 0.3, -0.5, 0.9, -0.6, 0.05])
    by_tangents = forward_gradient(network, theta)
    by_differences = numerical_gradient(network, theta)
    for entry in zip("w1 w2 b1 w3 w4 b2 v1 v2 c".split(), by_tangents, by_differences, strict=True):
        print("{:<3} forward mode {:12.9f}   difference {:12.9f}".format(*entry))
    print(f"largest disagreement: {max(abs(by_tangents - by_differences)):.1e}")
    print(f"seeded with all ones at once: {jvp(network, theta, np.ones(9))[1]:.9f}")
    print(f"the sum of all nine:          {by_tangents.sum():.9f}")

# %% [markdown]
# *Nine parameters, nine passes. Where the two disagree, the difference quotient is at fault. The last two lines answer the question from above: one pass with all ones gives one number, the sum.*

# %% [markdown]
# ## All outputs at once
#
# A pass computes the tangent of *every* node. So if a program has many outputs, one pass answers for all of them: how each output moves when this one input is nudged. That is a whole **column** of the Jacobian.

# %% tags=["quiz"]
quiz("2.predict-jacobian", r"""
? A simulation has 2 inputs and 500 outputs. How many forward passes give its Jacobian, a matrix of 500 rows and 2 columns?
( ) 1 :: One pass follows one seed, and gives one column, or a mixture of both.
(x) 2, one for each input :: Each pass gives a column of 500 entries. The number of outputs does not matter at all.
( ) 500, one for each output :: Outputs are not seeded. Inputs are.
( ) 1000, one for each entry :: One pass gives more than one entry: all 500 outputs move when an input is nudged, and all their tangents come along.
""")

# %% [markdown]
# ### Exercise 2.6 A column a pass
#
# ●●●○○ · 7 minutes
#
# Write **`jacobian(f, x)`**.
#
# - `f`: takes one sequence of $P$ scalars, returns a **list of $m$ scalars**, some of which may be plain numbers (constants). `x`: a list or a one-dimensional array of $P$ floats.
# - Returns a NumPy array of shape `(m, P)`: the entry in row `i` and column `j` is $\partial f_i/\partial x_j$.
# - **One pass for each input**: each column comes from a single call of `f`.
# - No errors to raise.
#
# Example: with `f = lambda x: [x[0] * x[1], x[0] + x[1], 5.0]` at `[2.0, 3.0]` the result is `[[3, 2], [1, 1], [0, 0]]`.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "2_6-solution", "locked": false, "solution": true, "task": false}
def jacobian(f, x) -> np.ndarray:
    """∂f_i/∂x_j in row i and column j, shape (m, P), one pass a column."""
    ### BEGIN SOLUTION
    columns = []
    for j in range(len(x)):
        outputs = f([Dual(value, float(i == j)) for i, value in enumerate(x)])
        columns.append([number_or_dual(y).tangent for y in outputs])
    return np.array(columns).T
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "2_6", "locked": true, "points": 4, "solution": false, "task": false}
check("2.6", jacobian)
### BEGIN HIDDEN TESTS
from autograder.student import grade
grade("2.6", jacobian)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>My matrix lies on its side</summary>
#
# Each pass gives a column. If you collect the passes in a list, they become rows. `.T` turns rows into columns.
#
# </details>
# <details><summary>AttributeError: 'float' object has no attribute 'tangent'</summary>
#
# One of the outputs is a plain number. It is a constant: `number_or_dual` makes a Dual of it.
#
# </details>
# <details><summary>The check says that a column is made of several calls</summary>
#
# Do you call `f` inside the loop over the outputs? Call it once for each input, and read all outputs off that one result.
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# Seed input $j$, run `f` once, and read off the tangents of all outputs: column $j$.
#
# {{solution 2.6}}

# %%
def warp(p):
    x, y = p
    return [x + 0.25 * y * y, y * (1 + 0.4 * tanh(x))]


with when_ready("2.1", "2.2", "2.6"):
    f, calls = counted(lambda x: [k * x[0] + x[1] ** 2 / k for k in range(1, 501)])
    print("shape", jacobian(f, [1.0, 2.0]).shape, "in", len(calls), "passes")

    point = [0.8, 1.2]
    J = jacobian(warp, point)
    print(J)
    if not quiet():
        figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.6))
        lines = np.linspace(0, 2, 41)
        for c in np.linspace(0, 2, 11):
            for path in ([[c, t] for t in lines], [[t, c] for t in lines]):
                for axes, corners in ((left, path), (right, [warp(p) for p in path])):
                    across, up = zip(*corners, strict=True)
                    axes.plot(across, up, color="#c5cbd3", marker="", linestyle="-", linewidth=1)
        for axes, start, arrows in ((left, point, np.eye(2)), (right, warp(point), J)):
            for j, colour in enumerate(("#0072B2", "#D55E00")):
                arrow(axes, start, 0.5 * arrows[:, j], colour)
                name = f"seed {'xy'[j]}" if axes is left else f"column {j + 1}"
                axes.text(*(np.array(start) + 0.5 * arrows[:, j] + 0.05), name, color=colour)
            axes.plot(*start, "o", color="black")
            axes.set_aspect("equal")
        left.set(xlabel="x", ylabel="y", title="Two seeds …")
        right.set(xlabel="first output", ylabel="second output", title="… become two columns")
        plt.show()

# %% [markdown]
# *On the left a grid of inputs, with the two basis vectors at one point. On the right what `warp` makes of them. Each column of the Jacobian is where a basis vector goes: it touches the bent grid line. (All arrows are drawn at half their length.)*

# %% [markdown]
# ## The reunion table
#
# The course keeps one table, in which all its methods meet. A row is a method; it holds the two derivatives of the running example at $(1.5, -0.7)$. The first two rows are lesson 1's.

# %%
with when_ready("2.0", "2.1", "2.2", "2.4", "2.5"):
    values = forward_pass(running, {"a": 1.5, "b": -0.7})
    reunion = {
        "1  paths": [sum_over_paths(running, values, x, "L") for x in "ab"],
        "1  differences": list(numerical_gradient(running_example, [1.5, -0.7])),
        "2  tangents, two passes": [tangent_pass(running, values, {x: 1.0})["L"] for x in "ab"],
        "2  Dual": list(forward_gradient(running_example, [1.5, -0.7])),
    }
    print(f"{'lesson, way':<26}{'∂L/∂a':>12}{'∂L/∂b':>12}")
    for way, (da, db) in reunion.items():
        print(f"{way:<26}{shown(da):>12}{shown(db):>12}")

# %% [markdown]
# *One pair of numbers: −0.181310 and −0.620919. The ways differ in what they cost.*

# %% [markdown]
# ## What it costs
#
# Take one run of $f$ on plain numbers as the unit. A forward-mode pass does, beside each operation of that run, a fixed amount of extra work: a product or two, and a sum. So a pass costs a constant number of units, whatever $f$ is. The gradient takes $P$ passes: **its cost grows in proportion to $P$**, in symbols [$\Theta(P)$](../glossary.ipynb#O-and-Theta).
#
# Memory is a good side of it. A tangent is needed only as long as its value is; no graph is kept. (Remember that when lesson 3 presents its bill.)
#
# How do the other ways compare? A one-sided difference for each input, $[f(\theta + h e_i) - f(\theta)]/h$, where $e_i$ has a 1 in place $i$ and zeros elsewhere, uses $f(\theta)$ again and again but computes it once. A central difference shares nothing. Both cost $\Theta(P)$ as well, and are only approximate. A sum over paths may take $2^P$ steps, as you will see below.
#
# ### Exercise 2.7 Count before you run
#
# ●●○○○ · 5 minutes
#
# Predict, then run. Write **`calls_needed(P, m)`**: how often must `f` be called?
#
# - `P`: the number of inputs, `m`: the number of outputs, both at least 1.
# - Returns a `dict` of five ints:
#
# | key | what is wanted |
# |---|---|
# | `"jvp"` | the slope of one scalar output along one direction, by forward mode |
# | `"forward_gradient"` | the gradient of one scalar output, by forward mode |
# | `"jacobian"` | the Jacobian of all `m` outputs, by forward mode |
# | `"one_sided"` | the gradient of one scalar output, by one-sided differences |
# | `"central"` | the gradient of one scalar output, by central differences |

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "2_7-solution", "locked": false, "solution": true, "task": false}
def calls_needed(P: int, m: int) -> dict[str, int]:
    """Calls of f for each of five tasks."""
    ### BEGIN SOLUTION
    return {"jvp": 1, "forward_gradient": P, "jacobian": P, "one_sided": P + 1, "central": 2 * P}
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "2_7", "locked": true, "points": 3, "solution": false, "task": false}
check("2.7", calls_needed)
### BEGIN HIDDEN TESTS
from autograder.student import grade
grade("2.7", calls_needed)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>Does the number of outputs not matter?</summary>
#
# What does one pass compute? Go back to [All outputs at once](#All-outputs-at-once).
#
# </details>
# <details><summary>I am off by one for the differences</summary>
#
# Write out the quotients for $P = 2$, and underline each different call of $f$. How many lines have you drawn?
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# One direction: one pass. A gradient: one pass for each input. A Jacobian: the same, since a pass answers for all outputs. One-sided differences: $f(\theta)$ once, and one more call for each input. Central differences: two calls for each input.
#
# {{solution 2.7}}

# %% [markdown]
# Now count, and time. The function has $P$ inputs: begin with $s = 1$; then, for each input, $s \leftarrow s\,\theta_i + s$. It uses $s$ twice in every step, so the number of paths doubles from step to step. What it computes is $(1+\theta_1)\cdots(1+\theta_P)$.

# %%
def doubling(theta):
    s = 1.0
    for t in theta:
        s = s * t + s
    return s


def doubling_graph(P):
    graph = {"s0": Node("input")}
    for i in range(1, P + 1):
        graph[f"t{i}"] = Node("input")
        graph[f"p{i}"] = Node("*", (f"s{i - 1}", f"t{i}"))
        graph[f"s{i}"] = Node("+", (f"p{i}", f"s{i - 1}"))
    return graph


with when_ready("2.1", "2.4", "2.5", "2.7"):
    for P in (3, 10):
        theta = [0.1] * P
        f, calls = counted(doubling)
        forward_gradient(f, theta)
        g, more_calls = counted(doubling)
        numerical_gradient(g, theta)
        expected = calls_needed(P, 1)
        print(f"P = {P:2}: forward mode {len(calls)} calls (you said {expected['forward_gradient']}),", end=" ")
        print(f"central differences {len(more_calls)} (you said {expected['central']})")

# %%
with when_ready("2.1", "2.4", "2.5"):
    costs = {"forward mode": {}, "central differences": {}, "sum over paths": {}}
    for P in (2, 4, 6, 8, 10, 16, 32, 64, 128):
        theta = [0.1 + 0.001 * i for i in range(P)]
        unit = max(seconds(lambda: [doubling(theta) for _ in range(20)]) / 20, 1e-9)
        costs["forward mode"][P] = seconds(lambda: forward_gradient(doubling, theta)) / unit
        costs["central differences"][P] = seconds(lambda: numerical_gradient(doubling, theta)) / unit
        if P <= 10:
            graph = doubling_graph(P)
            values = forward_pass(graph, {"s0": 1.0} | {f"t{i + 1}": t for i, t in enumerate(theta)})
            ends = [f"t{i}" for i in range(1, P + 1)]
            walk = lambda: [sum_over_paths(graph, values, end, f"s{P}") for end in ends]
            costs["sum over paths"][P] = seconds(walk) / unit
    print(f"{'inputs P':>8}" + "".join(f"{way:>22}" for way in costs) + "   (in runs of f)")
    for P in costs["forward mode"]:
        row = [f"{cost[P]:22,.0f}" if P in cost else f"{'–':>22}" for cost in costs.values()]
        print(f"{P:8}" + "".join(row))
    if not quiet():
        figure, axes = plt.subplots()
        for way, cost in costs.items():
            axes.loglog(list(cost), list(cost.values()), label=way)
        sizes = list(costs["forward mode"])
        guide = costs["forward mode"][16] / 16
        axes.loglog(sizes, [guide * P for P in sizes], ":", color="#56606b", marker="", label="in proportion to P")
        axes.set(xlabel="inputs P", ylabel="time for a gradient, in runs of f")
        axes.set_title("Forward mode grows with P, paths with $2^P$")
        axes.legend()
        plt.show()

# %% [markdown]
# *Both scales are logarithmic. Forward mode and central differences rise side by side, in proportion to $P$ like the dotted line (times are measured, so expect some wobble; a `Dual` written in Python is tens of times slower than a float, which moves the whole line up and leaves its slope alone). The sum over paths leaves the picture at once.*
#
# At $P = 15{,}697$, the size of a small model in lesson 5, a gradient by forward mode is as dear as 15,697 passes. And training wants thousands of gradients.

# %% [markdown]
# ## Not differences, not formulas
#
# Forward mode is [automatic differentiation](../glossary.ipynb#automatic-differentiation). It is often taken for one of two other things.
#
# **It is not [numerical](../glossary.ipynb#numerical-differentiation).** Nothing is nudged, and there is no step size to choose. Each rule is exact, so the result is exact up to the rounding of floating point. The experiment compares $\partial L/\partial b$ at $(1.5, -0.7)$ with the closed form.

# %%
with when_ready("2.1", "2.2", "2.4"):
    a, b = 1.5, -0.7
    exact = a * math.tanh(b) + (a * b + a) * (1 - math.tanh(b) ** 2)
    forward_error = abs(jvp(running_example, [a, b], [0.0, 1.0])[1] - exact)
    steps = [10.0**-k for k in range(1, 14)]
    errors = [abs(central_difference(lambda t: running_example([a, t]), b, h) - exact) for h in steps]
    print(f"forward mode: error {forward_error:.1e}")
    best = min(errors)
    print(f"central difference: error {best:.1e} at the best h, {steps[errors.index(best)]:.0e}")
    if not quiet():
        figure, axes = plt.subplots()
        axes.loglog(steps, [max(e, 1e-17) for e in errors], label="central difference")
        axes.axhline(max(forward_error, 1e-17), color="#D55E00", linestyle="--", label="forward mode (no h)")
        axes.invert_xaxis()
        axes.set(xlabel="step h", ylabel="error of ∂L/∂b", title="Forward mode has no step to get wrong")
        axes.legend()
        plt.show()

# %% [markdown]
# *The curve falls, then rises: too large a step, then too few digits. (An error of 0 is drawn at $10^{-17}$.)*
#
# **It is not [symbolic](../glossary.ipynb#symbolic-differentiation).** No formula is written down anywhere; `Dual` stores two numbers. That matters more than it seems. Here is a program of $n$ lines:
#
# $$u \leftarrow x,\qquad\text{then } n \text{ times: } u \leftarrow u\cdot u + x.$$
#
# As a program it does $2n$ operations. As a *formula in $x$* it doubles with every line, for $u$ stands in it twice. The formula for its derivative is larger still. The cell counts symbols (numbers, variables, signs) when both are written out by the rules from school.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "given-formulas", "locked": true, "solution": false, "task": false} jupyter={"source_hidden": true}
# Formulas as trees, differentiated by the rules from school. Given: run it and go on.
def plus(f, g):
    return g if f == 0 else f if g == 0 else ("+", f, g)


def times(f, g):
    return 0 if 0 in (f, g) else g if f == 1 else f if g == 1 else ("·", f, g)


def formula_derivative(f, known=None):
    """The formula for df/dx. Sums and products only; factors 1 and summands 0 are left out."""
    known = {} if known is None else known
    if not isinstance(f, tuple):
        return 1 if f == "x" else 0
    if id(f) not in known:
        sign, g, h = f
        dg, dh = formula_derivative(g, known), formula_derivative(h, known)
        known[id(f)] = plus(dg, dh) if sign == "+" else plus(times(dg, h), times(g, dh))
    return known[id(f)]


def symbols(f, known=None):
    """How many symbols it takes to write f down, without brackets."""
    known = {} if known is None else known
    if not isinstance(f, tuple):
        return 1
    if id(f) not in known:
        known[id(f)] = 1 + symbols(f[1], known) + symbols(f[2], known)
    return known[id(f)]


def written_out(f):
    """f as text, with brackets around sums inside products."""
    if not isinstance(f, tuple):
        return str(f)
    sign, *parts = f
    in_brackets = [sign == "·" and isinstance(part, tuple) and part[0] == "+" for part in parts]
    texts = [written_out(part) for part in parts]
    return f" {sign} ".join(f"({t})" if inside else t for t, inside in zip(texts, in_brackets, strict=True))

# %%
u = "x"
print(f"{'n':>3}{'operations':>12}{'formula':>12}{'its derivative':>16}   (symbols)")
sizes = []
for n in range(1, 21):
    u = plus(times(u, u), "x")
    sizes.append((n, 2 * n, symbols(u), symbols(formula_derivative(u))))
    if n in (1, 2, 3, 5, 10, 20):
        print(f"{n:3}{2 * n:12,}{sizes[-1][2]:12,}{sizes[-1][3]:16,}")
    if n <= 2:
        print(f"      u  = {written_out(u)}")
        print(f"      u' = {written_out(formula_derivative(u))}")
if not quiet():
    figure, axes = plt.subplots()
    n, operations, formula, slope = zip(*sizes, strict=True)
    axes.semilogy(n, slope, label="symbols in the derivative's formula")
    axes.semilogy(n, formula, label="symbols in the formula")
    axes.semilogy(n, operations, label="operations in the program")
    axes.set(xlabel="lines n of the program", ylabel="size", xticks=range(0, 21, 5))
    axes.set_title("A formula explodes where a program stays short")
    axes.legend()
    plt.show()

# %% [markdown]
# *At $n = 20$ the program does 40 operations. Its derivative, written out, has more than 80 million symbols. Forward mode runs the 40 operations on Duals.*
#
# To be fair: a good computer algebra system names a shared part once and refers to it afterwards. Then the explosion, called [expression swell](../glossary.ipynb#expression-swell), does not happen. But a list of named steps, each computed once from earlier ones, *is* a program. Sharing is exactly what the tangent pass does. What is explosive is a formula without names.

# %% [markdown]
# ## A derivative inside a derivative
#
# *This section is the challenge of the lesson. Nothing later needs it.*
#
# What is
#
# $$\frac{d}{dx}\left[x\cdot\frac{d}{dy}(x + y)\Big|_{y=3}\right] \quad\text{at } x = 2\,?$$
#
# The inner derivative is 1, whatever $x$ is. So the outer function is $x\cdot 1$, and its derivative is **1**. What does `derivative` say?

# %%
with when_ready("2.1", "2.3"):
    print(derivative(lambda x: x * derivative(lambda y: x + y, 3.0), 2.0))

# %% [markdown]
# It says 2. Inside, $x$ carries the tangent 1 of the *outer* nudge and $y$ the tangent 1 of the *inner* nudge. The sum adds them up as if both were one and the same $\varepsilon$: $1 + 1 = 2$. This fault has a name, [perturbation confusion](../glossary.ipynb#perturbation-confusion). Early systems had it, and it comes back wherever derivatives are nested and nobody keeps the nudges apart.
#
# The cure is a **tag**. Each derivative takes a new one, $\varepsilon_1$, $\varepsilon_2$, …; the inner derivative starts later and has the *larger* tag. A number with tag 2 may hold numbers with tag 1 as its value and its tangent:
#
# $$y = 3 + 1\,\varepsilon_2,\qquad x = 2 + 1\,\varepsilon_1 \quad\text{is, seen from inside, a constant: } (2 + 1\,\varepsilon_1) + 0\,\varepsilon_2.$$
#
# So $x + y = (5 + 1\,\varepsilon_1) + 1\,\varepsilon_2$. The inner derivative reads off the part with $\varepsilon_2$: 1. The outer nudge is still there, inside the value, where it belongs.
#
# Here is the skeleton. Its operators ask `lift(a, b)` for two numbers that speak of the *same* nudge, and then do what your Duals do.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "tagged-class", "locked": true, "solution": false, "task": false}
# Numbers with a tag. Given: run it and go on.
class Tagged:
    """value + tangent·ε_tag. Value and tangent are plain numbers, or Tagged with smaller tags."""

    def __init__(self, value, tangent, tag):
        self.value, self.tangent, self.tag = value, tangent, tag

    def __add__(self, other):
        r, s = lift(self, other)
        return Tagged(r.value + s.value, r.tangent + s.tangent, r.tag)

    def __radd__(self, other):
        return self + other

    def __mul__(self, other):
        r, s = lift(self, other)
        return Tagged(r.value * s.value, r.value * s.tangent + r.tangent * s.value, r.tag)

    def __rmul__(self, other):
        return self * other

    def __repr__(self):
        return f"({self.value!r} + {self.tangent!r}·ε{self.tag})"


def tag_of(x) -> int:
    """The tag of x; 0 for a plain number."""
    return getattr(x, "tag", 0)


tags = itertools.count(1)


def nested_derivative(f, x):
    """f′(x) for an f made of + and ·, in which other derivatives may be taken."""
    tag = next(tags)
    y = f(Tagged(x, 1.0, tag))
    return y.tangent if tag_of(y) == tag else 0.0

# %% [markdown]
# ### Exercise 2.8 Whose nudge is it? ★
#
# ●●●●○ · 15 minutes
#
# Write **`lift(a, b)`**.
#
# - `a`, `b`: Tagged or plain numbers, at least one of them Tagged; their tags may differ. `tag_of(x)` gives the tag, 0 for a plain number.
# - Returns a pair of Tagged with **the same tag**, which stand for the same two numbers as before.
# - No errors to raise.
#
# Examples: `lift(Tagged(3.0, 1.0, 2), 5.0)` returns a pair that prints as `((3.0 + 1.0·ε2), (5.0 + 0.0·ε2))`. And then `nested_derivative(lambda x: x * nested_derivative(lambda y: x + y, 3.0), 2.0)` is 1, not 2.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "2_8-solution", "locked": false, "solution": true, "task": false}
def lift(a, b):
    """The numbers a and b as two Tagged with one and the same tag."""
    ### BEGIN SOLUTION
    tag = max(tag_of(a), tag_of(b))

    def seen_from(x):
        return x if tag_of(x) == tag else Tagged(x, 0.0, tag)

    return seen_from(a), seen_from(b)
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "2_8", "locked": true, "points": 3, "solution": false, "task": false}
check("2.8", nested_derivative)
### BEGIN HIDDEN TESTS
from autograder.student import grade
grade("2.8", nested_derivative)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>I still get 2</summary>
#
# Then two numbers with different tags were added as if their tags were equal. If one has tag 1 and the other tag 2, the one with tag 1 is a constant for $\varepsilon_2$.
#
# </details>
# <details><summary>I get 0</summary>
#
# Did you look at plain numbers only? Both numbers may be Tagged, with different tags. Which of the two tags should win? Inside the inner derivative everything has to be seen as a number with the *inner* tag, the one that was given out last. Otherwise it finds nothing with its own tag in the result.
#
# </details>
# <details><summary>Sums are right, but second derivatives are too small</summary>
#
# When you wrap a number with the smaller tag, wrap all of it, not only its value. Its own tangent is needed again outside.
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# The larger tag wins, for it belongs to the derivative that is being taken right now. A number that does not have it is a constant for that nudge: it becomes the *value* of a new Tagged with tangent 0, whole as it is, with whatever it carries for the nudges outside.
#
# {{solution 2.8}}
#
# A plain number has tag 0, so it needs no case of its own.

# %%
with when_ready("2.8"):
    print(nested_derivative(lambda x: x * nested_derivative(lambda y: x + y, 3.0), 2.0))
    cube = lambda x: x * x * x
    print(nested_derivative(lambda x: nested_derivative(cube, x), 2.0))  # the second derivative: 6x

# %% [markdown]
# *1, and $6x = 12$ at $x = 2$. With tags, derivatives nest as deep as you like.*

# %% [markdown] nbgrader={"schema_version": 3, "grade": false, "grade_id": "2_written-rubric", "locked": true, "points": 0, "solution": false, "task": true}
# ## In your own words
#
# *Written question, 6 points, read by a person.*
#
# **(a)** For each of these, would you take forward mode? How many passes would it need? Give the reason in one sentence each.
#
# 1. A model of a bridge with 3 design parameters computes the stress at 10,000 points. You want the derivative of every stress with respect to every parameter.
# 2. A loss depends on 10,000,000 weights. You want its gradient.
# 3. The same loss. You want to know how fast it changes along one given direction, for instance along the last update.
#
# **(b)** Why is a symbolic gradient "explosive"? Take $u \leftarrow u\cdot u + x$, repeated $n$ times, as your example, and say what forward mode does differently, so that the same chain rule costs it so little.
#
# ### BEGIN MARK SCHEME
# **(a), 3 points, one for each case: choice, number, reason**
#
# 1. Forward mode: 3 passes. A pass gives one column of the Jacobian, the derivatives of all 10,000 outputs with respect to one input; the number of outputs does not matter.
# 2. Not forward mode: it would need 10,000,000 passes for one gradient, one for each input. (That a reverse pass does it at a constant multiple of one evaluation is lesson 3; not asked for.)
# 3. Forward mode: 1 pass, with the direction as the seed. The tangent of the loss is the directional derivative $r\cdot\nabla L$, and the gradient is never needed. Half a point for "10,000,000 passes, then the dot product".
#
# **(b), 3 points**
#
# - 1 point: the formula grows exponentially because a shared part is written out at every place where it is used: $u$ stands twice in $u\cdot u + x$, so each line at least doubles the formula; about $2^n$ symbols after $n$ lines. The product rule makes the derivative's formula larger still.
# - 1 point: forward mode does not write formulas. It computes with numbers: each intermediate value and each intermediate tangent is one number, computed once, stored, and used again.
# - 1 point: hence its cost is a constant for each operation of the program, here proportional to $n$, not to $2^n$. Also accepted: naming shared parts would save the symbolic way too, because it turns the formula back into a program.
#
# **Comments ready to use.** Type a code, `#reason` say, into the comment box under the answer, several if you like, with words of your own around them. The student's feedback shows the whole text instead.
#
# - `#reason` The choice needs its reason: say what one pass delivers, and on what the number of passes depends. Reread *All outputs at once*.
# - `#inputs-or-outputs` You counted passes by outputs. Look at what is chosen before a pass begins, and at how much one pass then answers. Reread *All outputs at once*.
# - `#pass-an-input` Count again for the gradient: how many of its entries does one forward pass tell? Reread *One pass for each input*.
# - `#direction` You go by way of the gradient. Ask what else a seed may be than a single 1 among zeros. Reread *Any direction is a seed*.
# - `#write-it-out` You say that the formula grows; show what makes it grow. Write the first two lines out in x alone and look for what stands there more than once. Reread *Not differences, not formulas*.
# - `#numbers` Say what forward mode keeps of each line, in place of a formula, and how often it works that out. Reread *Two numbers in one*.
# - `#cost` Put the two costs beside each other, as functions of n, and say where each comes from. Reread *What it costs*.
#
# *Model answer.* (a) 1. Yes, 3 passes: each seeds one parameter and gives the derivatives of all 10,000 stresses at once. 2. No: one pass for each weight, so 10,000,000 passes for a single gradient. 3. Yes, 1 pass: use the direction as the seed, and the tangent of the loss is the slope along it. (b) In $u\cdot u + x$ the previous $u$ stands twice. As a formula in $x$, line 1 has 5 symbols, and each further line takes two copies of the line before and three more symbols, so after 20 lines there are millions; the derivative repeats the formula inside itself and is longer again. Forward mode keeps, for each line, two numbers: the value of $u$ and its tangent. The next line uses them twice, but does not compute them twice. That is $2n$ operations on pairs of numbers instead of $2^n$ symbols.
# ### END MARK SCHEME

# %% [markdown] nbgrader={"schema_version": 3, "grade": true, "grade_id": "2_written", "locked": false, "points": 6, "solution": true, "task": false}
# *Write your answer here, in place of this line.*

# %% [markdown]
# ## Check yourself
#
# Choose an answer and read what is said about it, about the others too. Try again as often as you like. Nothing is stored or sent.

# %% tags=["quiz"]
quiz("2.check-yourself", r"""
? What does forward mode store for an intermediate result?
(x) Two numbers: its value and its tangent :: That is all. The rule of each operation turns two numbers into two numbers.
( ) A formula for it in terms of the inputs :: That would be symbolic differentiation. A `Dual` holds no formula, and could not say which program it came from.
( ) The list of the operations that led to it :: Reverse mode, in lesson 3, records something of the kind. Forward mode needs no record: it is done with an operation when the operation is done.
( ) Its value at the point and at a point nearby :: That would be a finite difference. Nothing nearby is ever evaluated.

? Which of these are seeds for a function of three inputs? Tick all.
[x] $(1, 0, 0)$ :: A basis vector. It singles out the first input, and gives one entry of the gradient.
[x] $(3, -2, 0)$ :: Any direction. It gives the slope along that direction.
[ ] $(1, 0)$ :: A seed has one number for each input: three inputs, three numbers. An input that should not move gets a 0.
[x] $(0.5, 0.5, 0.5)$ :: It gives half the sum of the gradient's entries. Whether you want that is another question.
[x] $(0, 0, 0)$ :: Nothing moves, and every tangent is 0. Of no use, but allowed.

? A pass of forward mode with the seed $(1, 0, \dots, 0)$ at a point gives $\dot L = 0.7$. What do you know?
( ) The gradient :: Only its first entry. The others need passes of their own.
( ) $L$ grows by 0.7 when $\theta_1$ grows by 1 :: Only roughly, and only if $L$ is nearly straight over that distance. The derivative is the limit of tiny moves.
(x) $\partial L/\partial\theta_1 = 0.7$ at this point :: A derivative is local. At another point it may be anything.
( ) $\theta_1$ accounts for 70 percent of $L$ :: A derivative is a rate of change. It does not divide $L$ into shares.

? How exact is forward mode?
( ) As exact as a central difference with a well-chosen step :: Better. A central difference still has truncation and cancellation at its best step.
( ) Exact only for polynomials :: Products and powers are not special. $\tanh$, $\exp$ and $\log$ have exact rules too.
( ) It depends on the tangent: small tangents are more exact :: Tangents are rates, not steps. Scaling the seed scales the answer, and nothing else.
(x) Exact, up to the rounding of floating point :: Each rule is the exact derivative of its operation, and the chain rule is no approximation.

? Your forward mode gives the same answer for the seed 1 and for the seed 2. Which mistake fits?
(x) Some rule returns its local slope and leaves out the incoming tangent :: Then whatever comes in is forgotten at that step. Tests with the tangent 1 alone do not see it.
( ) The product rule adds instead of multiplying :: The error would change with the seed like everything else.
( ) Constants have the tangent 1 :: Then the answer is off by something that does not depend on the seed. It still changes with the seed.
( ) The step size is too large :: There is no step.

? Could a Dual carry a whole vector of $P$ tangents, so that one run gives the gradient?
( ) No: a tangent is a single number by definition :: The rules work just as well when the tangent is a vector. It has been done, and is called vector forward mode.
(x) Yes, but each operation then does $P$ times the work on tangents :: The number of runs falls to 1, and the arithmetic stays proportional to $P$. The cost has moved, not gone.
( ) Yes, and then a gradient costs as much as one pass :: One run, yes. But each operation now works on $P$ numbers.
""")

# %% [markdown]
# ## Common mix-ups
#
# - **"Forward mode is the forward pass."** The forward pass computes values. Forward mode is a way to differentiate, which runs along with it.
# - **"Automatic differentiation is symbolic", or "is numerical".** It writes no formulas, and it nudges nothing. It applies exact rules to numbers.
# - **"$\varepsilon$ is a very small number."** In a Dual it is not a number at all, but the mark of the second entry. No value is ever put in for it.
# - **"A tangent is a small change."** It is a rate. A tangent of 1000 is as exact as one of 0.001.
# - **"The seed has to be a basis vector."** Only if you want one entry of the gradient.
# - **"More outputs, more passes."** More *inputs*, more passes.
# - **"A local slope is a derivative of the loss."** It says how one step answers to its input. The incoming tangent makes it part of a chain.
#
# ## What it can and cannot explain
#
# A tangent answers a precise local question: how fast does this number change, at this point, along this direction? It says nothing about points farther away, and it does not say why.
#
# Forward mode differentiates the program that *runs*. With an `if`, that is the branch that was taken. With a loop that stops when a result is good enough, it is the number of rounds that were made. If the program cuts a connection, by going on with `x.value` instead of `x`, the tangent is lost without a word. And an exact derivative of the wrong program is still wrong: check values before slopes.
#
# ## Real-world reps
#
# - [ ] Let PyTorch do the directional derivative: `torch.func.jvp` on the running example at $(2, -1)$ along $(3, -2)$. Compare all digits.
# - [ ] Solve $x e^x = 1$ by Newton's method, $x \leftarrow x - f(x)/f'(x)$, with `derivative` for $f'$. Start at 1. How many steps until nothing changes?
# - [ ] Take a formula from a laboratory course and the uncertainties of what was measured. One pass for each measured number tells how much each contributes to the uncertainty of the result.
# - [ ] Add `sqrt` and `sin` to your functions. Test each with the tangents 1 and 2, and against a central difference.
# - [ ] Write `Dual` with a NumPy array of $P$ tangents. Measure the gradient again. What changed, and what did not?
#
# ## Take it with you
#
# - Every number carries its tangent along. A rule turns values and tangents into a value and a tangent, and the chain rule does the rest.
# - A seed is a direction. One pass gives the slope along it, for all outputs at once.
# - Cost: one pass for each *input*, however many outputs. Exact, and with next to no memory.
# - Few inputs: forward mode. One loss and a million weights: wait for lesson 3.
#
# ## Going further
#
# - Baydin, Pearlmutter, Radul and Siskind, [*Automatic Differentiation in Machine Learning: a Survey*](https://arxiv.org/abs/1502.05767). Section 3.1 is forward mode, section 2 says what automatic differentiation is not.
# - Griewank and Walther, *Evaluating Derivatives*. Chapter 3 has both modes, chapter 4 what they cost.
# - PyTorch, [*Forward-mode automatic differentiation*](https://docs.pytorch.org/tutorials/intermediate/forward_ad_usage.html), a tutorial. Look for the word "dual".
# - Siskind and Pearlmutter, *Perturbation Confusion and Referential Transparency* (2005), where the trouble of the last section was first taken apart.

# %% [markdown] tags=["self-study"]
# Words that felt slippery: the [glossary](../glossary.ipynb) has [tangent](../glossary.ipynb#tangent), [seed](../glossary.ipynb#seed), [dual number](../glossary.ipynb#dual-number), [Jacobian–vector product](../glossary.ipynb#JVP). More to read: the [resources page](../resources.ipynb).

# %% [markdown]
# ## Not landing?
#
# Reread section 3.1 of the survey above; a short lesson leaves things out, and you may be missing just those. If the lesson itself is unclear, that is a defect: open an issue and say where you stopped.
