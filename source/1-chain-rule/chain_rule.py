# %% [markdown]
# # Lesson 1. The chain rule: a sum over paths
#
# > **The idea to hold on to.** Take a computation apart into small steps and put one number on every edge. Then any derivative is a sum over paths of products of those numbers.
#
# **After this lesson you can**
#
# - take a loss apart into a graph of small steps, and draw it;
# - say what the number on an edge means, and work it out for ten operations;
# - compute any derivative as a sum over paths, by hand and by program;
# - check a derivative with a witness that knows no calculus, and say how far to trust it;
# - say what such a check cannot see.
#
# **Time.** About 75 minutes for the core, an hour of it for the exercises. What is marked ★ lies beyond it, and so do the written question and the quiz at the end.
#
# **Before this.** Python: functions, lists, dictionaries, a little NumPy. Calculus: what a derivative is, that the slope of $x^2$ is $2x$, and what $e^x$ and $\log x$ are.
#
# **Where this sits.** The course ends with a language model that you train yourself. Training asks one question again and again: how would the loss move if this weight were a little larger? This lesson answers it for any computation. Lessons 2 and 3 make the answer fast, lessons 4 and 5 use it on a network.

# %%
import math
import time
from typing import NamedTuple

import numpy as np

from autograder.student import check, plot_style, quiet, quiz, show_data_graph, start, when_ready

start("1-chain-rule", edition="classroom")

# %% [markdown]
# **Run each cell with Shift and Enter, from the top.** Change numbers and run again; nothing can break. Under every exercise stands one cell that calls `check`. Run it as often as you like. Below it are drawers with hints, each titled with a complaint; open the one that sounds like yours. When you are stuck for ten minutes, move on: every section can be read without the exercises before it.
#
# The next cell is folded. It holds what a step of a computation is, and what each operation computes. Run it; unfold it when you are curious.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "given-graphs", "locked": true, "solution": false, "task": false} jupyter={"source_hidden": true}
# Graphs as data. Given: run it and go on.
class Node(NamedTuple):
    """One step of a computation: an operation and the names of its parents, one for each slot."""

    op: str  # "input" + - * / neg tanh exp log relu pow
    parents: tuple[str, ...] = ()  # a*a is ("a", "a"): two slots, two edges
    n: float = 1.0  # the constant exponent of pow


Graph = dict[str, Node]

COMPUTE = {
    "+": lambda x, n: x[0] + x[1],
    "-": lambda x, n: x[0] - x[1],
    "*": lambda x, n: x[0] * x[1],
    "/": lambda x, n: x[0] / x[1],
    "neg": lambda x, n: -x[0],
    "tanh": lambda x, n: math.tanh(x[0]),
    "exp": lambda x, n: math.exp(x[0]),
    "log": lambda x, n: math.log(x[0]),
    "relu": lambda x, n: max(x[0], 0.0),
    "pow": lambda x, n: x[0] ** n,
}


def compute(op: str, inputs: tuple[float, ...], n: float = 1.0) -> float:
    """What one operation makes of its inputs: compute("*", (2.0, -1.0)) is -2.0. For every op but "input"."""
    return COMPUTE[op](inputs, n)


def shown(x: float) -> str:
    """x to six places, with 0 instead of Python's −0."""
    return f"{round(x, 6) + 0.0:.6f}"

# %% [markdown]
# ## Warm-up
#
# Three questions on what you may know already. Answer from memory first; that is what makes them work. If all three are new to you, read the explanations and go on.

# %% tags=["quiz"]
quiz("1.warm-up", r"""
? $f(x) = x^2$. You move $x$ from 3 to 3.01. About how far does $f$ move?
( ) 0.01, as far as $x$ :: Only where the slope is 1. At $x = 3$ the curve is steeper than that.
( ) 0.0001, the square of the nudge :: That would be right at $x = 0$. Elsewhere the nudge meets what is there already: $(3 + 0.01)^2 = 9 + 2\cdot 3\cdot 0.01 + 0.0001$.
( ) 0.09, the value times the nudge :: It is the slope that stretches the nudge, not the value. The slope of $x^2$ at 3 is 6.
(x) 0.06 :: Slope times nudge: $6\cdot 0.01$. (Exactly: 0.0601. A derivative describes the part that is proportional to the nudge.)

? $L = a\cdot b$ at $a = 2$, $b = -1$. What is $\partial L/\partial a$, the slope with respect to $a$ while $b$ stays where it is?
(x) −1 :: With $b$ held fixed, $L$ is $-1$ times $a$. The slope with respect to $a$ is the *other* factor.
( ) 2 :: That is $a$ itself. Nudge $a$ from 2 to 2.001: $L$ goes from $-2$ to $-2.001$.
( ) −2 :: That is the value of $L$.
( ) 1 :: That would be so for a sum. Here each unit of $a$ counts $b$ times.

? A language model gave the character that really came next a probability of only $p = 0.001$. Two penalties are proposed: $1 - p$ and $-\log p$. How hard does each of them pull $p$ upward?
( ) About equally: both are 0 at $p = 1$ and large near 0 :: Look at the slopes. $1 - p$ has slope $-1$ everywhere; $-\log p$ gets steeper and steeper.
( ) $1 - p$ pulls harder: 0.999 is nearly the worst that it can be :: How large a penalty *is* says nothing about how fast it *falls*. Its slope is $-1$, at $p = 0.001$ as everywhere.
(x) Slopes $-1$ and $-1000$: $-\log p$ pulls a thousand times harder :: The slope of $-\log p$ is $-1/p$, at $p = 0.001$ that is $-1000$. A confident mistake is felt. It is slopes, not values, that training acts on.
( ) $-\log p$ pulls with $-6.9$, its value turned round :: $-\log 0.001 = 6.9$ is the value. The slope is $-1/p$.
""")

# %% [markdown]
# ## A first graph
#
# Take $v = ab + a$. A computer does not see a formula here. It takes two steps: $u = a\cdot b$, then $v = u + a$. Written down, one line for each step:

# %%
first = {
    "a": Node("input"),
    "b": Node("input"),
    "u": Node("*", ("a", "b")),
    "v": Node("+", ("u", "a")),
    # add a step of your own here, say  "w": Node("*", ("v", "b")),
}
show_data_graph(first, {"a": 2.0, "b": -1.0})

# %% [markdown]
# *Read it from left to right. Each box is a [node](../glossary.ipynb#node): one number. Boxes without an arrow into them are inputs. An [edge](../glossary.ipynb#edge) $a \to v$ says that $v$ is computed directly from $a$.* Add a step of your own, change the inputs, run it again.
#
# This drawing is a [computational graph](../glossary.ipynb#computational-graph). Every model of this course is one, only larger. Now put a number on each edge: *how many times as far does the node at the tip move, when the node at the foot is nudged and whatever else goes into the tip is held still?*

# %%
show_data_graph(first, {"a": 2.0, "b": -1.0}, sink="v", slopes=True)

# %% [markdown]
# *$v = u + a$, so nudging $a$ by 0.001 while $u$ stays still moves $v$ by 0.001: the edge from $a$ to $v$ carries a 1.* Now commit yourself, before you run on.

# %% tags=["quiz"]
quiz("1.predict-nudge", r"""
? $a$ goes from 2 to 2.001, $b$ stays at $-1$, and $u$ and $v$ are **computed anew**. How far does $v$ move?
( ) 0.001: the edge from $a$ to $v$ carries a 1 :: That edge speaks of $v$ while $u$ is held still. But nobody holds $u$: it is computed from $a$ too, and moves by $-0.001$.
( ) −0.001: $a$ first moves $u$, and the edge from $a$ to $u$ carries a −1 :: That is one of two ways. $a$ also goes into $v$ directly.
( ) 0.002: both edges that leave $a$ move by one each :: There are two movements, and they are added. But they have signs: $+0.001$ and $-0.001$.
(x) 0: it does not move at all :: Two paths lead from $a$ to $v$. Along the direct one $v$ moves by $+0.001$, along the one through $u$ by $-0.001$. Together: nothing.
""")

# %%
def v_of(a, b):
    u = a * b
    return u + a


a, b, nudge = 2.0, -1.0, 0.001  # try b = -0.7, or b = 3
print(f"v moves by {v_of(a + nudge, b) - v_of(a, b) + 0.0:.6f}")

# %% [markdown]
# If you said 0.001, you are in good company, and you have met the mistake that this course is about. One edge never tells the whole story. The derivative of $v$ with respect to $a$ is $1 + b$: the 1 from the direct path, the $b$ from the path through $u$. At $b = -1$ the two cancel.
#
# That is the entire lesson in one line: **along a path multiply, across paths add.** The rest of it makes you sure of both halves, and of what they cost.

# %% [markdown]
# ## Along a path, multiply
#
# First a graph with a single path. Let $y = 3x + 1$ and $z = y^2$. At $x = 2$: $y = 7$ and $z = 49$.
#
# Nudge $x$ by 0.001. Then $y$ moves by 0.003, three times as far. And when $y$ moves by 0.003, $z$ moves about 14 times as far as *that*: the slope of the square at $y = 7$ is $2\cdot 7$. In all $0.001\cdot 3\cdot 14 = 0.042$.
#
# The numbers 3 and 14 are [local derivatives](../glossary.ipynb#local-derivative): each belongs to one step alone. A nudge passes through the steps one after the other, and each step stretches what the one before has stretched. So
#
# $$\frac{dz}{dx} = \frac{dz}{dy}\cdot\frac{dy}{dx} = 14\cdot 3 = 42.$$

# %%
chain = {
    "x": Node("input"),
    "three": Node("input"),
    "one": Node("input"),
    "t": Node("*", ("three", "x")),
    "y": Node("+", ("t", "one")),
    "z": Node("pow", ("y",), 2.0),
}
x, h = 2.0, 0.001  # change x and run again


def y_of(x):
    return 3 * x + 1


print(f"y moves {(y_of(x + h) - y_of(x)) / h:.3f} times as far as x")
print(f"z moves {(y_of(x + h) ** 2 - y_of(x) ** 2) / (y_of(x + h) - y_of(x)):.3f} times as far as y")
print(f"z moves {(y_of(x + h) ** 2 - y_of(x) ** 2) / h:.3f} times as far as x")
show_data_graph(chain, {"x": x, "three": 3.0, "one": 1.0}, slopes=True, along=("x", "t", "y", "z"))

# %% [markdown]
# *Multiply along the strong path: $3\cdot 1\cdot 14$. Constants like 3 and 1 are nodes too. The printed numbers are slightly off because a nudge of 0.001 is small, but not infinitely small; we come back to that.*

# %% tags=["quiz"]
quiz("1.predict-chain", r"""
? The same two steps at $x = 0$. What is $dz/dx$ there?
( ) 0, because $2x = 0$ :: It is $y$ that gets squared, not $x$. The slope of the square is taken at $y = 1$.
(x) 6 :: $y = 1$, so $dz/dy = 2$, and $2\cdot 3 = 6$.
( ) 42, as before :: The local derivative of the square depends on where you are: $2y$, and $y$ is 1 now.
( ) 2 :: That is $dz/dy$. Between $x$ and $y$ there is one more step, which stretches by 3.
( ) 5 :: That is $2 + 3$. Along a path the steps act one after the other: multiply.
""")

# %% [markdown]
# ### Exercise 1.1 Two steps
#
# ●○○○○ · 3 minutes
#
# Write **`affine_then_square(x)`** for $y = 3x + 1$, $z = y^2$.
#
# - `x`: a float. Returns a `dict` with five floats: `"y"`, `"z"`, the two local derivatives `"dz_dy"` and `"dy_dx"`, and `"dz_dx"`.
# - No errors to raise.
#
# Example: `affine_then_square(2.0)` returns `{"y": 7.0, "z": 49.0, "dz_dy": 14.0, "dy_dx": 3.0, "dz_dx": 42.0}`.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "1_1-solution", "locked": false, "solution": true, "task": false}
def affine_then_square(x: float) -> dict[str, float]:
    """Values and derivatives of y = 3x + 1, z = y²."""
    ### BEGIN SOLUTION
    y = 3 * x + 1
    z = y**2
    dz_dy = 2 * y
    dy_dx = 3.0
    return {"y": y, "z": z, "dz_dy": dz_dy, "dy_dx": dy_dx, "dz_dx": dz_dy * dy_dx}
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "1_1", "locked": true, "points": 4, "solution": false, "task": false}
check("1.1", affine_then_square)
### BEGIN HIDDEN TESTS
from autograder.student import grade
grade("1.1", affine_then_square)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>I do not know what to put where</summary>
#
# First the forward pass: compute `y`, then `z` from `y`. Then one number for each step: how many times as far does the result of this step move as its input? Then put the two together.
#
# </details>
# <details><summary>It is right at x = 2 and wrong elsewhere</summary>
#
# Did you type in 14 and 42? Those belong to $x = 2$. Which of the five numbers change when $x$ changes?
#
# </details>
# <details><summary>The check says that my function returned None</summary>
#
# `print` shows a value on the screen. `return` hands it back to whoever called the function, here the check. Does yours end in `return`?
#
# </details>
# <details><summary>The check says NotImplementedError</summary>
#
# The line `raise NotImplementedError(...)` is still there. Delete it, write your code in its place, and run that cell before the check.
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# One line for each step on the way forward, one local derivative for each step, and their product. The slope of the square is taken at `y`, because `y` is what gets squared. The slope of $3x + 1$ is 3 everywhere.
#
# {{solution 1.1}}

# %% [markdown]
# ## A gradient is not a step
#
# What are derivatives for? Here is the smallest model there is. (The letters begin anew: $y$ is no longer a step of the graph.) It predicts $z = w\,x$. The right answer is $y$, and the [loss](../glossary.ipynb#loss) $L = (z - y)^2$ says how wrong the prediction is. Only $w$ may be changed; it is the [parameter](../glossary.ipynb#parameter).
#
# Take $w = 1$, $x = 2$, $y = 6$. Forward: $z = 2$ and $L = 16$. Local derivatives: $dL/dz = 2(z - y) = -8$ and $dz/dw = x = 2$. Along the path multiply:
#
# $$\frac{dL}{dw} = -8\cdot 2 = -16.$$
#
# This is the [gradient](../glossary.ipynb#gradient). It says: raise $w$ a little, and the loss falls 16 times as far. (With many parameters, the gradient is the list of all these derivatives, one for each.) **It changes nothing.** Changing $w$ is a second, separate act, and it needs a decision: how far? [Gradient descent](../glossary.ipynb#gradient-descent) decides
#
# $$w_{\text{new}} = w - \eta\cdot\frac{dL}{dw}$$
#
# with a [learning rate](../glossary.ipynb#learning-rate) $\eta$, here 0.01: $w_{\text{new}} = 1 + 0.16 = 1.16$. A new forward pass predicts $z = 2.32$, with loss 13.5424. Less than 16, so the step was a good one.

# %% tags=["quiz"]
quiz("1.predict-step", r"""
? Same model, same gradient of $-16$. Somebody in a hurry takes $\eta = 0.5$ instead of 0.01. What happens to the loss, which is 16 now?
(x) It rises, to 144 :: $w_{\text{new}} = 1 + 0.5\cdot 16 = 9$, $z = 18$, $L = 12^2 = 144$. The gradient was right. The step was too long.
( ) It falls to 0: the step goes downhill, and far :: It does go downhill at first. But the lowest point lies at $w = 3$, and this step lands at $w = 1 + 8 = 9$.
( ) It falls fifty times as much as before :: That would be so if the slope stayed $-16$ all the way. It does not: a gradient speaks of the place where you stand.
( ) It rises, because the gradient is negative :: The sign says on which side downhill is. A short step that way lowers the loss: 16 became 13.5424.
""")

# %%
w, x, y = 1.0, 2.0, 6.0
gradient = 2 * (w * x - y) * x

print("learning rate      new w   new loss")
for rate in (0.01, 0.1, 0.125, 0.25, 0.5):  # the gradient is the same each time
    w_new = w - rate * gradient
    print(f"{rate:<13}{w_new:>11.4g}{(w_new * x - y) ** 2:>11.4f}")

if not quiet():
    import matplotlib.pyplot as plt

    plot_style()
    fig, ax = plt.subplots()
    many = np.linspace(-1, 7, 200)
    ax.plot(many, (many * x - y) ** 2, marker="", label="loss")
    ax.plot(many[:75], 16 - 16 * (many[:75] - 1), marker="", label="slope −16 at w = 1")
    for rate in (0.01, 0.1, 0.25):
        w_new = w - rate * gradient
        ax.plot([w_new], [(w_new * x - y) ** 2], linestyle="", label=f"one step, learning rate {rate}")
    ax.set(xlabel="$w$ (parameter)", ylabel="loss", ylim=(-2, 60))
    ax.set_title("One gradient, three steps: how far is a decision")
    ax.legend()
    plt.show()

# %% [markdown]
# *All three steps use the same gradient, the slope of the straight line. The shortest one lowers the loss a little, the second a lot, the third lands as high on the other side.*

# %% [markdown]
# ### Exercise 1.2 One step of learning
#
# ●●○○○ · 5 minutes
#
# Write **`squared_error_step(w, x, y, lr)`** for $z = wx$ and $L = (z - y)^2$: a forward pass, the gradient, one step of gradient descent, and another forward pass.
#
# - All four arguments are floats; `lr` is the learning rate.
# - Returns a `dict` of floats: `"z"`, `"loss"`, the local derivatives `"dL_dz"` and `"dz_dw"`, `"grad"` for $dL/dw$, then `"w_new"`, and with the new weight `"z_new"` and `"loss_new"`.
# - No errors to raise.
#
# Example: `squared_error_step(1.0, 2.0, 6.0, 0.01)` returns $2$, $16$, $-8$, $2$, $-16$, $1.16$, $2.32$, $13.5424$, in this order.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "1_2-solution", "locked": false, "solution": true, "task": false}
def squared_error_step(w: float, x: float, y: float, lr: float) -> dict[str, float]:
    """One step of gradient descent on (w·x − y)²."""
    ### BEGIN SOLUTION
    z = w * x
    dL_dz = 2 * (z - y)
    dz_dw = x
    grad = dL_dz * dz_dw
    w_new = w - lr * grad
    z_new = w_new * x
    return {
        "z": z,
        "loss": (z - y) ** 2,
        "dL_dz": dL_dz,
        "dz_dw": dz_dw,
        "grad": grad,
        "w_new": w_new,
        "z_new": z_new,
        "loss_new": (z_new - y) ** 2,
    }
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "1_2", "locked": true, "points": 6, "solution": false, "task": false}
check("1.2", squared_error_step)
### BEGIN HIDDEN TESTS
from autograder.student import grade
grade("1.2", squared_error_step)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>My loss goes up</summary>
#
# The gradient points to where the loss *rises*. Which way do you want to go?
#
# </details>
# <details><summary>My gradient is half of what it should be</summary>
#
# The slope of a square has a factor 2 in it. Look at $dL/dz$.
#
# </details>
# <details><summary>My gradient has the wrong sign</summary>
#
# The loss is $(z - y)^2$, and $z$ is what moves. With $z = 2$ and $y = 6$, does raising $z$ make the loss larger or smaller?
#
# </details>
# <details><summary>My gradient is right for w = 1, x = 2 only</summary>
#
# In $z = w\,x$ it is $w$ that is nudged, while $x$ stays. Each unit of $w$ moves $z$ by how much?
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# The gradient comes from the *old* forward pass and is finished before anything is changed. The update is one line. What follows it is an ordinary forward pass with another weight.
#
# {{solution 1.2}}
#
# Keep the two acts apart, here and in every library: computing a gradient is differentiation, using it is optimization. [Backpropagation](../glossary.ipynb#backpropagation), which you will write in lesson 3, does the first. It is not gradient descent.

# %% [markdown]
# ## Which step comes first
#
# From here on we work with graphs as programs do. Here is the running example of the whole course, $L = (ab + a)\cdot\tanh b$:
#
# $$u = a\cdot b,\qquad v = u + a,\qquad w = \tanh b,\qquad L = v\cdot w.$$
#
# ($\tanh$ is a curve in the shape of an S. It turns any number into one between $-1$ and 1: $\tanh 0 = 0$, $\tanh(-1) = -0.761594\ldots$, and $\tanh 5$ is nearly 1. In Python: `math.tanh`.)
#
# Some words. If there is an edge $u \to v$, then $u$ is a [parent](../glossary.ipynb#parent) of $v$ and $v$ a [child](../glossary.ipynb#child) of $u$. A node without parents is a [source](../glossary.ipynb#source), one without children a [sink](../glossary.ipynb#sink). A node with several children has [fan-out](../glossary.ipynb#fan-out). A node has one [slot](../glossary.ipynb#slot) for each thing that goes into it; in $a\cdot a$ the node $a$ fills two slots, and two edges lead from it.
#
# Nobody promises that steps are listed in a useful order. A list in which **every parent stands before its child** is a [topological order](../glossary.ipynb#topological-order). Along such a list, whatever a step needs has been computed when its turn comes.

# %%
running = {
    "L": Node("*", ("v", "w")),
    "w": Node("tanh", ("b",)),
    "v": Node("+", ("u", "a")),
    "u": Node("*", ("a", "b")),
    "b": Node("input"),
    "a": Node("input"),
}
values = {"a": 2.0, "b": -1.0}
steps = ["u", "v", "w", "L"]  # now try ["v", "u", "w", "L"]

for name in steps:
    node = running[name]
    if any(parent not in values for parent in node.parents):
        print(f"{name} = {node.op} of {', '.join(node.parents)}: not all of these are known yet")
        break
    values[name] = compute(node.op, tuple(values[parent] for parent in node.parents))
    print(f"{name} = {shown(values[name])}")
show_data_graph(running, {"a": 2.0, "b": -1.0})

# %% [markdown]
# *At $(2, -1)$: $u = -2$, $v = 0$, $w = -0.761594\ldots$ and $L = 0$. Both $a$ and $b$ have fan-out.*

# %% tags=["quiz"]
quiz("1.predict-order", r"""
? Which of these lists are topological orders of the running example? Tick all.
[ ] a, u, b, v, w, L :: $u = a\cdot b$ stands before $b$.
[x] a, b, u, v, w, L :: Every parent stands before its child.
[ ] L, w, v, u, b, a :: Here every child stands before its parents: exactly the wrong way round for computing. (Remember it. Lesson 3 walks this way.)
[x] b, w, a, u, v, L :: Also fine. $w$ needs only $b$, so it may come early. There can be many topological orders.
[ ] a, b, u, v, L, w :: $L = v\cdot w$ stands before $w$.
""")

# %% [markdown]
# How do you find such an order for any graph? Two ways come naturally. *Forward:* take any node whose parents have all been listed, list it, look which children have become free. *Backward:* before you list a node, list its parents, and before those theirs.
#
# One kind of graph has no order at all. If $y$ is computed from $z$ and $z$ from $y$, neither can come first. That is a [directed cycle](../glossary.ipynb#directed-cycle). A computation has none: its graph is acyclic, a [DAG](../glossary.ipynb#DAG), and every finite DAG has at least one topological order.

# %% [markdown]
# ### Exercise 1.3 Topological order
#
# ●●●○○ · 12 minutes
#
# Write **`topological_order(parents)`**.
#
# - `parents`: a `dict` from each node's name to the tuple of its parents' names, one entry for each slot, the nodes in any order. Returns a `list` of all names, **each exactly once, every parent before its child**. Any valid order will do.
# - The same parent may fill several slots: `("x", "x")`.
# - Errors: `ValueError` if there is a cycle, `KeyError` if a parent's name is not in the dict.
# - A chain of 100,000 nodes must work, within seconds. (That is a part of its own: a function that calls itself for every step loses only this part. Python allows about 1,000 calls inside each other.)
#
# Example: `topological_order({"v": ("u", "a"), "u": ("a", "b"), "a": (), "b": ()})` may return `["a", "b", "u", "v"]` or `["b", "a", "u", "v"]`.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "1_3-solution", "locked": false, "solution": true, "task": false}
def topological_order(parents: dict[str, tuple[str, ...]]) -> list[str]:
    """All nodes, parents before children."""
    ### BEGIN SOLUTION
    children = {name: [] for name in parents}
    for name, slots in parents.items():
        for parent in slots:
            children[parent].append(name)  # an unknown parent raises KeyError by itself
    missing = {name: len(slots) for name, slots in parents.items()}
    order = [name for name, count in missing.items() if count == 0]
    for name in order:  # the list grows while we walk along it
        for child in children[name]:
            missing[child] -= 1
            if missing[child] == 0:
                order.append(child)
    if len(order) < len(parents):
        raise ValueError("there is a cycle")
    return order
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "1_3", "locked": true, "points": 6, "solution": false, "task": false}
check("1.3", topological_order)
### BEGIN HIDDEN TESTS
from autograder.student import grade
grade("1.3", topological_order)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>I do not know where to begin</summary>
#
# Count, for each node, how many of its slots still wait for a parent. Nodes that wait for nothing can be listed at once. Listing a node is good news for its children: each of them waits for one slot less. You need two dictionaries: how many slots are missing, and who the children are.
#
# </details>
# <details><summary>It sees a cycle in x·x, or lists nodes too early there</summary>
#
# `("x", "x")` has two entries. If you count two slots, you must cross off two, so `x` has to have this child twice among its children. Or count each parent once on both sides.
#
# </details>
# <details><summary>RecursionError: maximum recursion depth exceeded</summary>
#
# Your function calls itself once for each step of the chain. Keep your own list of what is still to be done, and loop until it is empty.
#
# </details>
# <details><summary>It takes forever on the long chain</summary>
#
# `name in some_list` walks through the list. Inside a loop over 100,000 nodes that makes billions of comparisons. Use a set or a dict for "have I met this one?", and avoid `list.pop(0)` and `list.insert(0, …)`.
#
# </details>
# <details><summary>On a cycle it never comes back, or returns a list</summary>
#
# In the forward way the nodes of a cycle never become free: compare how many you have listed with how many there are. In the backward way, meeting a node again *while its own parents are still being listed* means that you have walked in a circle.
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# The forward way. Every node waits for its slots. Sources wait for nothing. Each time a node is listed, it is crossed off once for each slot that it fills. What never becomes free lies on a cycle, or behind one.
#
# {{solution 1.3}}
#
# The work is one visit for each edge, so 100,000 nodes are no matter. Python has the backward question answered, too: `graphlib.TopologicalSorter(parents).static_order()`. It is fine to use it, once you could have written it. (It invents nodes for unknown parents, so the `KeyError` would be yours to raise.)

# %% [markdown]
# ## A number on every edge
#
# Each edge leads into one slot of one operation, and that slot has a **local derivative**: the slope of the operation with respect to this slot *while the other slots are held still*. So a product has two of them, one for each edge.
#
# For $+$, $-$, $\cdot$, negation and powers you can work them out with a nudge. The others you may have to look up:
#
# | operation | local derivative | worth noticing |
# |---|---|---|
# | $y = e^x$ | $y$ | the output itself |
# | $y = \log x$ (natural) | $1/x$ | from the input |
# | $t = \tanh x$ | $1 - t^2$ | from the *output* $t$ |
# | $y = \mathrm{relu}(x)$, that is $x$ where positive, else $0$ | a slope that you can see | at exactly $0$ there is a kink: any number from 0 to 1 will do |
# | $y = a/b$ | think of $a\cdot b^{-1}$ | two slots, two numbers |
#
# Such operations, simple enough to differentiate in one's head, are called [primitives](../glossary.ipynb#primitive). Ten are enough for this course.

# %%
def slopes_by_nudging(op, inputs, n=1.0, h=1e-6):
    """Nudge one slot at a time and see how far the result moves."""
    found = []
    for slot in range(len(inputs)):
        moved = [x + h if k == slot else x for k, x in enumerate(inputs)]
        found.append((compute(op, moved, n) - compute(op, inputs, n)) / h)
    return found


for op, inputs in (("*", (2.0, -3.0)), ("/", (3.0, 4.0)), ("tanh", (-0.7,)), ("exp", (0.7,)), ("relu", (-1.0,))):
    print(f"{op:<5} at {inputs!s:<12} slopes {[round(slope, 4) for slope in slopes_by_nudging(op, inputs)]}")

# %% [markdown]
# *Change the inputs and predict what comes. For a product, which slot gets which factor?*

# %% tags=["quiz"]
quiz("1.predict-tanh", r"""
? $t = \tanh x$ at $x = -0.7$, where $t = -0.604368$. What is its local derivative?
( ) 0.51 :: That is $1 - x^2$. The rule uses the output $t$, not the input.
( ) 1.604368 :: That is $1 - t$. No slope of tanh is larger than 1.
(x) 0.634740 :: $1 - t^2 = 1 - 0.365260$.
( ) 1.365260 :: That is $1 + t^2$. It would make tanh steeper the further it flattens out.
""")

# %% [markdown]
# ### Exercise 1.4 Local derivatives
#
# ●●○○○ · 8 minutes
#
# Write **`local_derivatives(op, inputs, output, n)`**.
#
# - `op`: one of `"input"`, `"+"`, `"-"`, `"*"`, `"/"`, `"neg"`, `"tanh"`, `"exp"`, `"log"`, `"relu"`, `"pow"`. `inputs`: the tuple of the values in its slots. `output`: the value that it computed (handy for tanh and exp). `n`: the constant exponent of `"pow"`.
# - Returns a **tuple** with one float for each slot, in order: $\partial\,\text{output}/\partial\,\text{slot}$. For `"input"`, which has no slots: `()`.
# - Errors: none of your own. Dividing by 0 may raise what Python raises.
#
# Examples: `local_derivatives("*", (2.0, -3.0), -6.0)` is `(-3.0, 2.0)`. `local_derivatives("pow", (2.0,), 8.0, 3.0)` is `(12.0,)`; the comma makes it a tuple.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "1_4-solution", "locked": false, "solution": true, "task": false}
def local_derivatives(op: str, inputs: tuple[float, ...], output: float, n: float = 1.0) -> tuple[float, ...]:
    """∂output/∂input for each slot, in order."""
    ### BEGIN SOLUTION
    x = inputs
    rules = {
        "input": lambda: (),
        "+": lambda: (1.0, 1.0),
        "-": lambda: (1.0, -1.0),
        "*": lambda: (x[1], x[0]),
        "/": lambda: (1 / x[1], -x[0] / x[1] ** 2),
        "neg": lambda: (-1.0,),
        "tanh": lambda: (1 - output**2,),
        "exp": lambda: (output,),
        "log": lambda: (1 / x[0],),
        "relu": lambda: (1.0 if x[0] > 0 else 0.0,),
        "pow": lambda: (n * x[0] ** (n - 1),),
    }
    return rules[op]()
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "1_4", "locked": true, "points": 9, "solution": false, "task": false}
check("1.4", local_derivatives)
### BEGIN HIDDEN TESTS
from autograder.student import grade
grade("1.4", local_derivatives)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>I return the right number, and the check wants a tuple</summary>
#
# In Python `(x)` is just `x` in brackets. A tuple of one has a comma: `(x,)`.
#
# </details>
# <details><summary>My quotient is right in the first slot and wrong in the second</summary>
#
# Hold $a$ still: $a/b = a\cdot b^{-1}$, and the slope of $b^{-1}$ follows from the rule for powers, with $n = -1$. Mind the sign: dividing by more gives less.
#
# </details>
# <details><summary>My product has its numbers in the wrong places</summary>
#
# How far does $a\cdot b$ move for each unit of $a$? As far as $b$ says.
#
# </details>
# <details><summary>My power is wrong, or Python complains about a negative number</summary>
#
# $n\,x^{n-1}$, and Python's `**` binds tighter than `*`: write `n * x ** (n - 1)`. Do not go through logarithms; $x$ may be negative.
#
# </details>
# <details><summary>math domain error, though that operation was not asked for</summary>
#
# If you put all results into one dict, all of them are computed each time, also the logarithm of a negative number. Use `if`, or put functions into the dict and call only the one you need.
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# A table with one row for each operation. The rows are little functions (`lambda:`), so that only the one that is asked for is computed.
#
# {{solution 1.4}}
#
# `tanh` and `exp` use their output, the others their inputs. Any of ten `if` lines in a row would be just as right.

# %% [markdown]
# ## The forward pass
#
# An order and an operation for each node: that is all it takes to run a graph. Give the inputs their values, walk along a topological order, compute each node from its parents. This is the [forward pass](../glossary.ipynb#forward-pass), and the numbers on the way from the inputs to the sink are [intermediate values](../glossary.ipynb#intermediate-value). Keep all of them. The local derivatives will need them.
#
# At $(1.5, -0.7)$, step by step: $u = 1.5\cdot(-0.7) = -1.05$, then $v = -1.05 + 1.5 = 0.45$, then $w = \tanh(-0.7) = -0.604368$, and $L = 0.45\cdot(-0.604368) = -0.271965$.
#
# ### Exercise 1.5 The forward pass
#
# ●●○○○ · 6 minutes
#
# Write **`forward_pass(graph, inputs)`**.
#
# - `graph`: a `dict` from names to `Node`s, in any order; a node has `op`, `parents` and `n`. `inputs`: a `dict` with the value of every input.
# - Returns a `dict` with the value of **every** node of the graph, inputs included, used or not.
# - You have `compute(op, inputs, n)`, which carries out one operation, and your `topological_order`, which takes `{name: node.parents for name, node in graph.items()}`.
# - No errors to raise.
#
# Example: `forward_pass(running, {"a": 2.0, "b": -1.0})` holds $u = -2$, $v = 0$, $w = -0.761594$, $L = 0$, and $a$ and $b$ as given.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "1_5-solution", "locked": false, "solution": true, "task": false}
def forward_pass(graph: Graph, inputs: dict[str, float]) -> dict[str, float]:
    """The value of every node."""
    ### BEGIN SOLUTION
    values = dict(inputs)
    for name in topological_order({name: node.parents for name, node in graph.items()}):
        node = graph[name]
        if node.op != "input":
            values[name] = compute(node.op, tuple(values[parent] for parent in node.parents), node.n)
    return values
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "1_5", "locked": true, "points": 5, "solution": false, "task": false}
check("1.5", forward_pass)
### BEGIN HIDDEN TESTS
from autograder.student import grade
grade("1.5", forward_pass)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>I have not finished 1.3</summary>
#
# Borrow Python's: `from graphlib import TopologicalSorter`, then `list(TopologicalSorter(parents).static_order())` gives an order.
#
# </details>
# <details><summary>KeyError: 'u'</summary>
#
# A step was computed before its parents. The dict may list the nodes in any order; walk along a topological order instead.
#
# </details>
# <details><summary>KeyError: 'input'</summary>
#
# Inputs compute nothing. Their values are given.
#
# </details>
# <details><summary>Only the power is wrong</summary>
#
# `compute` takes the exponent as its third argument. It stands in the node, as `node.n`.
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# Start from a copy of the inputs, so that the caller's dict stays as it was. Then one line for each step.
#
# {{solution 1.5}}

# %%
with when_ready("1.3", "1.5"):
    for point in ({"a": 2.0, "b": -1.0}, {"a": 1.5, "b": -0.7}):
        values = forward_pass(running, point)
        print("   ".join(f"{name} = {shown(values[name])}" for name in ("a", "b", "u", "v", "w", "L")))
    show_data_graph(running, values, "L", slopes=True)

# %% [markdown]
# *The whole of our running example in one picture: values in the nodes, local derivatives on the edges. Everything that follows is read off from it.*

# %% [markdown]
# ## Across paths, add
#
# How fast does $L$ move when $a$ is nudged, while $b$ stays? That is $\partial L/\partial a$; the round ∂ says that there are other inputs, which are left alone. $a$ has fan-out: there are two [paths](../glossary.ipynb#directed-path) from $a$ to $L$. Multiply along each, then add. At $(1.5, -0.7)$, with $w = -0.604368$:
#
# | path | product of local derivatives | |
# |---|---|---|
# | $a \to v \to L$ | $1\cdot w$ | $-0.604368$ |
# | $a \to u \to v \to L$ | $b\cdot 1\cdot w$ | $+0.423057$ |
# | | **sum** $= \partial L/\partial a$ | $-0.181310$ |
# | $b \to w \to L$ | $(1 - w^2)\cdot v$ | $+0.285633$ |
# | $b \to u \to v \to L$ | $a\cdot 1\cdot w$ | $-0.906552$ |
# | | **sum** $= \partial L/\partial b$ | $-0.620919$ |
#
# Why add? Each path carries the whole nudge to the sink, stretched by its edges. All of them arrive at the same node, and small movements of one number simply add up. In general
#
# $$\frac{\partial\,\text{sink}}{\partial\,\text{source}} \;=\; \sum_{\text{paths}}\;\;\prod_{\text{edges of the path}} \text{local derivative}.$$
#
# This is the [chain rule](../glossary.ipynb#chain-rule) for any graph.

# %%
a, b = 1.5, -0.7  # change the point and run again
u = a * b
v = u + a
w = math.tanh(b)

a_direct, a_through_u = 1 * w, b * 1 * w
b_through_w, b_through_u = (1 - w**2) * v, a * 1 * w
print(f"dL/da = {shown(a_direct)} + {shown(a_through_u)} = {shown(a_direct + a_through_u)}")
print(f"dL/db = {shown(b_through_w)} + {shown(b_through_u)} = {shown(b_through_w + b_through_u)}")
show_data_graph(running, {"a": a, "b": b}, "L", slopes=True, along=("b", "u", "v", "L"))

# %% [markdown]
# *The strong path is the longer one of the two from $b$. Multiply its three numbers and compare with the table.*

# %% tags=["quiz"]
quiz("1.predict-zero", r"""
? Back to $(2, -1)$, where $v = 0$, $w = -0.761594$ and $L = 0$. What is $\partial L/\partial a$, and why?
( ) 0, because $L = 0$ :: The number is right, the reason is not: a function can be 0 and steep at the same time. Here $\partial L/\partial b = -1.523188$.
( ) −0.761594: the direct path :: And the path through $u$? It brings $b\cdot 1\cdot w = +0.761594$.
( ) −1.523188: two paths, each −0.761594 :: The second path has a factor $b = -1$ in it. That is $\partial L/\partial b$ here, by accident of the numbers.
(x) 0, because two paths cancel: $1\cdot w + b\cdot 1\cdot w$ with $b = -1$ :: $-0.761594 + 0.761594$. You met this at the very beginning, one step earlier in the graph.
""")

# %% [markdown]
# ### Exercise 1.6 The sum over paths
#
# ●●●○○ · 10 minutes
#
# Write **`sum_over_paths(graph, values, source, sink)`**.
#
# - `graph`: a `dict` from names to `Node`s, in any order. `values`: the value of every node, as `forward_pass` returns them. `source`, `sink`: names of two nodes, any two.
# - Returns a float, $\partial\,\text{sink}/\partial\,\text{source}$: the sum over all paths from `source` to `sink` of the product of the local derivatives along each. If no path leads there: 0.0. If both are the same node: 1.0.
# - A parent in two slots means two edges, hence two paths.
# - You have `local_derivatives`. No errors to raise; graphs are small.
#
# Example: for the running example at $(1.5, -0.7)$, `sum_over_paths(running, values, "b", "L")` is $-0.620919$.
#
# Three lines are enough. Stand at the sink and ask: through which slot does the last step of a path come in?

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "1_6-solution", "locked": false, "solution": true, "task": false}
def sum_over_paths(graph: Graph, values: dict[str, float], source: str, sink: str) -> float:
    """∂sink/∂source: over all paths, the sum of the products of local derivatives."""
    ### BEGIN SOLUTION
    if source == sink:
        return 1.0
    node = graph[sink]
    slopes = local_derivatives(node.op, tuple(values[parent] for parent in node.parents), values[sink], node.n)
    steps = zip(node.parents, slopes, strict=True)
    return sum((sum_over_paths(graph, values, source, parent) * slope for parent, slope in steps), 0.0)
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "1_6", "locked": true, "points": 8, "solution": false, "task": false}
check("1.6", sum_over_paths)
### BEGIN HIDDEN TESTS
from autograder.student import grade
grade("1.6", sum_over_paths)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>I do not know how to list all paths</summary>
#
# You do not have to list them. Every path to the sink ends with a step from one of the sink's parents. So the paths to the sink are the paths to its parents, each with one more step. If you knew the answer for each parent, what would you do with it?
#
# </details>
# <details><summary>For x · x at 3 I get 3 instead of 6</summary>
#
# Go through the slots, not through the set of different parents. `("x", "x")` has two slots, each with its own slope.
#
# </details>
# <details><summary>I only get the contribution of one path</summary>
#
# Does a `return` inside your loop end it after the first parent? Or does each new path replace the one before? Start with 0.0 and add.
#
# </details>
# <details><summary>It never ends, or ends with a KeyError</summary>
#
# Walk from the sink back, from children to parents. The walk stops at the source, where the answer is 1.0, and at other inputs, which have no parents: there the sum is empty, 0.0.
#
# </details>
# <details><summary>Everything passes but "All operations"</summary>
#
# Then your paths are fine, and a slope on the way is not. A mistake in 1.4 is not it: this check brings slopes of its own. What do you hand to `local_derivatives`? It wants the values of the parents, the value of the node itself, and for `pow` the exponent `node.n`.
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# Sort the paths by their last step. All paths that come in through one slot share that last edge, so its local derivative can be taken out of the sum: what is left is the sum over all paths to that parent. The function asks itself.
#
# {{solution 1.6}}
#
# At the source itself there is one path, without any edge, and a product without factors is 1. At another input there is nothing to add up: 0.

# %% [markdown]
# ## The identity path
#
# A pattern from modern networks, read off the graph. A network is a stack of layers, functions $S$ with parameters of their own. Let ten of them follow one another, each with slope 0.1. Along that path the derivative is $0.1^{10} = 0.0000000001$: nothing of a nudge arrives.
#
# A [residual connection](../glossary.ipynb#residual-connection) adds the layer to its own input: $y = x + S(x)$. Now two ways lead from $x$ to $y$. One goes straight into the sum, with local derivative 1; it is called the [identity path](../glossary.ipynb#identity-path). The other goes through $S$, with 0.1. Together 1.1, and after ten layers $1.1^{10} \approx 2.59$. In general
#
# $$\frac{dy}{dx} = 1 + S'(x).$$
#
# However small $S'(x)$ may be, the identity path brings its 1. One often reads that it therefore *guarantees* a derivative. What does the formula say for $S(x) = -x$?

# %%
residual = {
    "small S": {"x": Node("input"), "c": Node("input"), "s": Node("*", ("c", "x")), "y": Node("+", ("x", "s"))},
    "S(x) = -x": {"x": Node("input"), "s": Node("neg", ("x",)), "y": Node("+", ("x", "s"))},
}

print(f"ten layers of slope 0.1: {0.1**10:.10f} by the layers alone, {1.1**10:.2f} with the identity path")
with when_ready("1.3", "1.4", "1.5", "1.6"):
    for name, graph in residual.items():
        values = forward_pass(graph, {"x": 0.5, "c": 0.001})
        through_S = sum_over_paths(graph, values, "x", "s")
        total = sum_over_paths(graph, values, "x", "y")
        print(f"{name:<10} identity path 1, through S {through_S:g}, together {total:g}")

# %% [markdown]
# *Two paths, $+1$ and $-1$, together 0. Of course: $y = x - x$ is 0 whatever $x$ is. What is guaranteed is a **path**, not a sum that differs from 0.*

# %% [markdown]
# ## Too many paths
#
# The sum over paths is right, always. Is it fast? Take a ladder: $u_1 = u_0 + u_0$, $u_2 = u_1 + u_1$, and so on. Each rung uses the one below it twice.

# %%
def ladder(rungs: int) -> Graph:
    graph = {"u0": Node("input")}
    for k in range(1, rungs + 1):
        graph[f"u{k}"] = Node("+", (f"u{k - 1}", f"u{k - 1}"))
    return graph


show_data_graph(ladder(4), {"u0": 1.0}, slopes=True)

# %% tags=["quiz"]
quiz("1.predict-ladder", r"""
? A ladder of 20 rungs has 40 edges. How many paths lead from the bottom to the top?
( ) 20, one for each rung :: A path goes through all rungs. At each it has to choose one of two edges.
( ) 40, one for each edge :: An edge belongs to many paths. Count choices, not edges.
( ) 400 :: Choices at different rungs are independent, so they multiply: not $20\cdot 20$, but $2\cdot 2\cdot 2\cdots$
(x) 1,048,576 :: Two choices at each of 20 rungs: $2^{20}$. One rung more, and there are twice as many.
""")

# %%
with when_ready("1.3", "1.4", "1.5", "1.6"):
    taken = []
    for rungs in (2, 4, 6, 8, 10, 12, 14):
        graph = ladder(rungs)
        values = forward_pass(graph, {"u0": 1.0})
        begin = time.perf_counter()
        paths = sum_over_paths(graph, values, "u0", f"u{rungs}")  # every edge is 1, so the sum counts the paths
        taken.append(time.perf_counter() - begin)
        print(f"{rungs:>2} rungs: {2 * rungs:>2} edges, {paths:>7,.0f} paths, {taken[-1] * 1000:8.2f} ms")
    print(f"At this pace 20 rungs take {taken[-1] * 2**6:.0f} s, and 50 rungs {taken[-1] * 2**36 / 31_556_952:,.0f} years.")
print(f"Paths on 20 rungs: {2**20:,}, over {2 * 20} edges.")

if not quiet():
    import matplotlib.pyplot as plt

    plot_style()
    fig, ax = plt.subplots()
    rungs = np.arange(1, 21)
    ax.semilogy(rungs, 2.0**rungs, label="paths")
    ax.semilogy(rungs, 2 * rungs, label="edges")
    ax.set(xlabel="rungs of the ladder", ylabel="count", xticks=range(0, 21, 5))
    ax.set_title("Paths double with every rung, edges do not")
    ax.legend()
    plt.show()

# %% [markdown]
# *The axis is logarithmic: a straight line upward means doubling again and again. The graph of a real network has millions of nodes, with fan-out everywhere.*
#
# Look at the ladder once more. All these paths share 40 edges. We should be able to do with one visit for each **edge**. Lesson 2 does it from the inputs forward, lesson 3 from the loss backward.
#
# Could one not write down the derivative as a formula instead? The next cell unrolls a small loop, $x \leftarrow x\cdot x + a$, into one formula.

# %%
formula, operations = "x", 0
for step in range(1, 11):
    formula, operations = f"({formula} * {formula} + a)", operations + 2
    if step in (1, 2, 3, 10):
        print(f"after {step:>2} rounds: {operations:>2} operations in the graph, {len(formula):>6,} characters in the formula")
print("round 2 in full:", "((x * x + a) * (x * x + a) + a)")

# %% [markdown]
# *Twenty operations, ten thousand characters, and its derivative is longer still. A formula has no way to say "that value again"; a graph has: fan-out. And when the program changes, the formula must be derived anew. So we never ask for the formula of the whole loss. We differentiate the program, step by step.*

# %% [markdown]
# ## A witness that knows no calculus
#
# How do you know that a derivative is right? Ask somebody who knows nothing of your rules. Run the program twice and see.
#
# Take the loss of exercise 1.2 as a function of $w$: $f(w) = (2w - 6)^2$. At $w = 1$ the derivative is $-16$. Run $f$ there, and once more a little to the right, at 1.1:
#
# $$\frac{f(1.1) - f(1)}{0.1} = \frac{14.44 - 16}{0.1} = -15.6.$$
#
# Not bad. The nudge of 0.1 is called $h$. One can look to one side, as here, or to both:
#
# $$\text{one-sided:}\quad \frac{f(x + h) - f(x)}{h}\qquad\qquad \text{central:}\quad \frac{f(x + h) - f(x - h)}{2h}$$
#
# These are [finite differences](../glossary.ipynb#finite-differences). They use nothing but values of $f$, so they cannot share a mistake with your calculus.

# %% tags=["quiz"]
quiz("1.predict-central", r"""
? And the central difference, with the same $h = 0.1$? ($f(1.1) = 14.44$ and $f(0.9) = 17.64$.)
( ) −15.6 as well :: That looks to the right only. The central one looks to both sides.
(x) −16, exactly :: $(14.44 - 17.64)/0.2$. The curve bends the same way on both sides, and the two errors cancel. For a parabola nothing else is left, so the central difference is exact at *every* $h$.
( ) −16.4 :: That is the one-sided quotient to the left: $(16 - 17.64)/0.1$. The central difference is the mean of left and right.
( ) −32 :: From 0.9 to 1.1 is a distance of $2h = 0.2$, not $h$.
""")

# %%
def f(w):
    return (2 * w - 6) ** 2


w = 1.0
print("h          one-sided        central")
for h in (1.0, 0.1, 0.01, 0.001):
    one_sided = (f(w + h) - f(w)) / h
    central = (f(w + h) - f(w - h)) / (2 * h)
    print(f"{h:<8g}{one_sided:>12.4f}{central:>15.4f}")

if not quiet():
    import matplotlib.pyplot as plt

    plot_style()
    fig, ax = plt.subplots()
    many, h = np.linspace(-0.5, 2.5, 100), 1.0
    ax.plot(many, f(many), marker="", label="$f(w) = (2w - 6)^2$")
    ax.plot([w, w + h], [f(w), f(w + h)], label=f"one-sided, h = 1: slope −{abs(f(w + h) - f(w)):.0f}")
    ax.plot([w - h, w + h], [f(w - h), f(w + h)], label=f"central, h = 1: slope −{abs(f(w + h) - f(w - h)) / 2:.0f}")
    ax.plot(many, f(w) - 16 * (many - w), marker="", label="tangent: slope −16")
    ax.set(xlabel="$w$ (parameter)", ylabel="loss")
    ax.set_title("Looking to both sides cancels the bend")
    ax.legend()
    plt.show()

# %% [markdown]
# *The line through both neighbours is parallel to the tangent, even at $h = 1$. The one-sided line is not.*
#
# When are two numbers close enough? Between 1000 and 1001 a difference of 1 is little; between 0.5 and 1.5 it is a lot. And $10^{-9}$ against $2\cdot 10^{-9}$ is harmless, although one is twice the other. The [relative error](../glossary.ipynb#relative-error) that this course uses respects all three:
#
# $$\frac{|g - \hat g|}{\max(1, |g|, |\hat g|)}.$$

# %% [markdown]
# ### Exercise 1.7 Finite differences
#
# ●●●○○ · 10 minutes
#
# Write three functions.
#
# **`central_difference(f, x, h=1e-5)`** · `f` takes one float and returns one; `x`, `h`: floats. Returns the central difference quotient, a float.
#
# **`numerical_gradient(f, theta, h=1e-5)`** · `theta`: a float64 array of any shape; `f` takes such an array and returns a float. Returns a new array **of the same shape**: for each entry the central difference with respect to this entry, while the others stay. **`theta` is left as it was.**
#
# **`relative_error(g, g_hat)`** · two floats; returns the float defined above.
#
# No errors to raise.
#
# Examples: `central_difference(lambda w: (2 * w - 6) ** 2, 1.0, 0.1)` is $-16$. For `f = lambda t: t[0] * t[1]` and `theta = np.array([2.0, -3.0])` the gradient is $(-3, 2)$. `relative_error(1000.0, 1001.0)` is $0.000999$, `relative_error(0.001, 0.002)` is $0.001$.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "1_7-solution", "locked": false, "solution": true, "task": false}
def central_difference(f, x: float, h: float = 1e-5) -> float:
    """[f(x + h) − f(x − h)] / 2h."""
    ### BEGIN SOLUTION
    return (f(x + h) - f(x - h)) / (2 * h)
    ### END SOLUTION


def numerical_gradient(f, theta: np.ndarray, h: float = 1e-5) -> np.ndarray:
    """One central difference for each entry of theta."""
    ### BEGIN SOLUTION
    gradient = np.zeros_like(theta)
    for i in np.ndindex(theta.shape):
        up, down = theta.copy(), theta.copy()
        up[i] += h
        down[i] -= h
        gradient[i] = (f(up) - f(down)) / (2 * h)
    return gradient
    ### END SOLUTION


def relative_error(g: float, g_hat: float) -> float:
    """|g − ĝ| / max(1, |g|, |ĝ|)."""
    ### BEGIN SOLUTION
    return abs(g - g_hat) / max(1.0, abs(g), abs(g_hat))
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "1_7", "locked": true, "points": 8, "solution": false, "task": false}
check("1.7", central_difference, numerical_gradient, relative_error)
### BEGIN HIDDEN TESTS
from autograder.student import grade
grade("1.7", central_difference, numerical_gradient, relative_error)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>My central difference is exactly twice too large</summary>
#
# From $x - h$ to $x + h$ it is $2h$. And in Python `a / 2 * h` divides by 2 and then *multiplies* by $h$; use brackets.
#
# </details>
# <details><summary>All entries of my gradient are 0</summary>
#
# `up = theta` makes no second array. It gives the same array a second name. Use `theta.copy()`.
#
# </details>
# <details><summary>The first entry is right, the later ones are slightly off</summary>
#
# Is the entry that you moved put back before you move the next one? Fresh copies for each entry are the safest way.
#
# </details>
# <details><summary>My gradient is one number, or all its entries are the same</summary>
#
# `theta + h` moves all entries at once. One entry moves at a time, and the others stay where they are.
#
# </details>
# <details><summary>How do I loop over an array of any shape?</summary>
#
# `for i in np.ndindex(theta.shape):` runs through all index tuples, and `theta[i]` is then one entry.
#
# </details>
# <details><summary>My relative error is 0.5 for 0.001 and 0.002</summary>
#
# Three numbers compete for the denominator: $|g|$, $|\hat g|$ and 1.
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# {{solution 1.7}}
#
# Two fresh copies for each entry cost a little time and save a lot of trouble: nothing has to be put back. A gradient with $P$ entries takes $2P$ runs of $f$. For checking that is fine; for training a model with a million parameters it is hopeless.

# %% [markdown]
# ## Too large, too small
#
# Should $h$ not be as small as possible? Try it with a function whose derivative we know: $e^x$ at $x = 1$, with the derivative $e = 2.718281828\ldots$

# %%
for h in (1e-1, 1e-5, 1e-9, 1e-13):
    quotient = (math.exp(1 + h) - math.exp(1 - h)) / (2 * h)
    print(f"h = {h:.0e}: {quotient:.12f}")
print(f"derivative: {math.e:.12f}")

x, h = np.float32(2.0), np.float32(1e-7)  # the same disease, in numbers with 7 digits only
print("x**3 at 2 in float32 with h = 1e-7:", round(float(((x + h) ** 3 - (x - h) ** 3) / (2 * h)), 2), "(right: 12)")

# %% [markdown]
# *Count the correct digits in each line: more at first, then fewer.* Two errors pull in opposite directions.
#
# **[Truncation](../glossary.ipynb#truncation-error).** $f$ is no straight line between the two points. With $h = 0.1$ the central difference is off by 0.004533, and with $h = 0.01$ by a hundredth of that. In general about $\frac{h^2}6 f'''(x)$ is left, for the bend cancels. It does not cancel one-sided: there the error is about $\frac h2 f''(x)$, and with ten times smaller $h$ only ten times smaller.
#
# **[Rounding](../glossary.ipynb#rounding-error).** A float64 has about 16 digits. With $h = 10^{-13}$ the two values of $f$ agree in the first 12 or 13, which cancel when they are subtracted. Three or four are left, and are divided by a tiny number. That error is about $\varepsilon\,|f(x)|/h$ with $\varepsilon \approx 2\cdot 10^{-16}$: ten times smaller $h$, ten times *larger* error.

# %% tags=["quiz"]
quiz("1.predict-h", r"""
? Where will the error of the **one-sided** difference be smallest, compared with the central one?
(x) At a much smaller $h$, and it will not be as small there :: One-sided, truncation is in balance with rounding near $h = 10^{-8}$, centrally near $10^{-5}$ already, and lower down. Two evaluations each, and the central one wins by far.
( ) At the same $h$: rounding is the same for both :: Rounding is about the same. But the one-sided truncation error falls more slowly, so the two errors meet elsewhere.
( ) At a much larger $h$, because it makes larger errors :: Larger truncation errors are a reason to go on shrinking $h$, not to stop early.
( ) At $h = 10^{-13}$, the smallest that we try :: There rounding has taken over for both.
""")

# %% [markdown]
# ### Exercise 1.8 The best step
#
# ●●○○○ · 4 minutes
#
# Write **`step_size_errors(f, df, x, hs)`**.
#
# - `f`, `df`: a function and its derivative, of one float each; `x`: a float; `hs`: a float64 array of shape `(H,)`.
# - Returns a float64 array of shape `(2, H)`. Row 0: for each `h` the error of the central difference, that is its distance from `df(x)`, never negative. Row 1: the same for the one-sided difference $[f(x + h) - f(x)]/h$.
# - No errors to raise.
#
# Example: for `math.exp` at 1 and `hs = np.array([0.1, 0.01])` the rows are about $(0.004533,\ 0.0000453)$ and $(0.14056,\ 0.013637)$.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "1_8-solution", "locked": false, "solution": true, "task": false}
def step_size_errors(f, df, x: float, hs: np.ndarray) -> np.ndarray:
    """Errors of the central (row 0) and the one-sided difference (row 1) for each step size."""
    ### BEGIN SOLUTION
    central = [abs((f(x + h) - f(x - h)) / (2 * h) - df(x)) for h in hs]
    one_sided = [abs((f(x + h) - f(x)) / h - df(x)) for h in hs]
    return np.array([central, one_sided])
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "1_8", "locked": true, "points": 4, "solution": false, "task": false}
check("1.8", step_size_errors)
### BEGIN HIDDEN TESTS
from autograder.student import grade
grade("1.8", step_size_errors)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>TypeError: only length-1 arrays can be converted to Python scalars</summary>
#
# `math.exp` takes one number, not an array. Go through `hs` one by one.
#
# </details>
# <details><summary>My shape is (H, 2)</summary>
#
# One row for each *method*. `np.array([central, one_sided])` with two lists of length H gives it; `.T` turns an array around.
#
# </details>
# <details><summary>My errors are all about 2.7</summary>
#
# Those are the estimates. How far is each of them from `df(x)`?
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# One list for each method, one entry for each $h$.
#
# {{solution 1.8}}

# %%
with when_ready("1.8"):
    hs = 10.0 ** -np.arange(1, 14)
    central, one_sided = step_size_errors(math.exp, math.exp, 1.0, hs)
    print("h          central      one-sided")
    for h, c, o in zip(hs, central, one_sided, strict=True):
        print(f"{h:<8.0e}{c:>11.1e}{o:>15.1e}")

    if not quiet():
        import matplotlib.pyplot as plt

        plot_style()
        fig, ax = plt.subplots(figsize=(6.8, 4.6))
        ax.loglog(hs, one_sided, label="one-sided")
        ax.loglog(hs, central, label="central")
        ax.loglog(hs[:9], hs[:9] * math.e / 2, marker="", linewidth=1, label="$h\\,f''/2$ (slope 1)")
        ax.loglog(hs[:6], hs[:6] ** 2 * math.e / 6, marker="", linewidth=1, label="$h^2 f'''/6$ (slope 2)")
        ax.loglog(hs[4:], 2.2e-16 * math.e / hs[4:], marker="", linewidth=1, label=r"$\varepsilon f/h$ (slope −1)")
        ax.set(xlabel="step size $h$", ylabel="error of the derivative", ylim=(1e-13, 10))
        ax.set_title("Smaller is better, until rounding takes over")
        ax.legend(fontsize=9)
        plt.show()

# %% [markdown]
# *Read it from right to left, as $h$ shrinks. Truncation: ten times smaller $h$ gives a hundred times smaller error centrally (slope 2), ten times one-sided (slope 1). Then rounding, the same rising line for both. The best central step is near $10^{-5}$, with an error near $10^{-10}$; that is why $10^{-5}$ is the default in 1.7. So: a gradient check that fails only at extreme step sizes accuses the differences, not your calculus.*

# %% [markdown]
# ## The reunion table
#
# The course keeps one table, in which all its methods meet. A row is a method; it holds the two derivatives of the running example at $(1.5, -0.7)$. Each lesson adds its rows, and you have two by now.

# %%
def expression(x):
    a, b = x
    return (a * b + a) * math.tanh(b)


with when_ready("1.3", "1.4", "1.5", "1.6", "1.7"):
    at = forward_pass(running, {"a": 1.5, "b": -0.7})
    table = {
        "1  paths": [sum_over_paths(running, at, x, "L") for x in "ab"],
        "1  differences": list(numerical_gradient(expression, np.array([1.5, -0.7]))),
    }
    print(f"{'lesson, way':<26}{'∂L/∂a':>12}{'∂L/∂b':>12}")
    for way, (da, db) in table.items():
        print(f"{way:<26}{shown(da):>12}{shown(db):>12}")
    worst = max(relative_error(g, g_hat) for g, g_hat in zip(*table.values(), strict=True))
    print(f"largest relative error between the two: {worst:.1e}")

# %% [markdown]
# *−0.181310 and −0.620919, by two ways that share nothing but the program. Two independent witnesses that agree: that is how you may believe a derivative.*

# %% [markdown]
# ## A point that sees nothing
#
# May you always believe? Suppose your rule for tanh is wrong. Here are three rules, one right and two wrong, with $\partial L/\partial b$ as each of them gives it, at the two points of this lesson.

# %%
rules = {"1 - t²  (right)": lambda t: 1 - t**2, "1 + t²": lambda t: 1 + t**2, "100": lambda t: 100.0}

for a, b in ((2.0, -1.0), (1.5, -0.7)):
    v, w = a * b + a, math.tanh(b)
    difference = (expression((a, b + 1e-5)) - expression((a, b - 1e-5))) / 2e-5
    print(f"at ({a}, {b}), where v = {shown(v)}; finite difference {shown(difference)}")
    for name, rule in rules.items():
        print(f"    rule {name:<18} dL/db = {shown(rule(w) * v)} + {shown(a * w)} = {shown(rule(w) * v + a * w)}")

# %% [markdown]
# *At $(2, -1)$ all three rules pass the check, even a slope of 100. The path through $w$ ends with the factor $v$, and there $v = 0$: whatever the tanh rule says is multiplied by 0.*
#
# A check sees only what reaches the result. That is why this course uses $(1.5, -0.7)$ beside $(2, -1)$, and why its checks draw random points. Zeros, ones and equal numbers make poor test points.

# %% [markdown]
# ### Exercise 1.9 Fool the point
#
# ●●○○○ · 6 minutes · ★
#
# Play the other side. Write two functions.
#
# **`wrong_tanh_rule(x, t)`** · a *wrong* local derivative of $t = \tanh x$, a float, from input and output. It must be wrong, and yet no check of the derivatives of $L = (ab + a)\tanh b$ at $(2, -1)$ may notice it. Invent your own.
#
# **`exposing_point()`** · returns a pair `(a, b)` of floats at which a check of $L$ *does* notice: $\partial L/\partial b$ with your rule departs from the right value by a relative error of more than $10^{-5}$.
#
# No errors to raise. Example of a point that exposes nothing: $(3, -1)$. Why?

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "1_9-solution", "locked": false, "solution": true, "task": false}
def wrong_tanh_rule(x: float, t: float) -> float:
    """A wrong local derivative of t = tanh x."""
    ### BEGIN SOLUTION
    return 1 - x**2
    ### END SOLUTION


def exposing_point() -> tuple[float, float]:
    """(a, b) at which a gradient check of L notices."""
    ### BEGIN SOLUTION
    return (1.5, -0.7)
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "1_9", "locked": true, "points": 3, "solution": false, "task": false}
check("1.9", wrong_tanh_rule, exposing_point)
### BEGIN HIDDEN TESTS
from autograder.student import grade
grade("1.9", wrong_tanh_rule, exposing_point)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>What does it take to be invisible at (2, −1)?</summary>
#
# Less than you think. Your rule's number is multiplied by $v = 0$ there. Which numbers, multiplied by 0, do *not* give 0?
#
# </details>
# <details><summary>My point exposes nothing</summary>
#
# $v = ab + a = a\,(b + 1)$. Along which two lines in the plane is it 0? Keep away from both. And see to it that your rule is really wrong at this $b$: many wrong rules are right at $b = 0$.
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# Any rule that gives finite numbers is invisible at $(2, -1)$. To be exposed, it needs a point with $v = a(b + 1) \neq 0$, hence $a \neq 0$ and $b \neq -1$, at which the rule's number is wrong.
#
# {{solution 1.9}}
#
# $1 - x^2$ is a real mistake, by the way: input in place of output. It has survived in public code, behind a test at a single point.

# %% [markdown]
# ## The right derivative of the wrong loss
#
# One thing no gradient check can see, at any point. Texts differ in length; to give them one length, short ones are filled up with *padding*, filler that should not count. A *mask*, a list of ones and zeros, says what counts. Below are three examples with prediction $w\,x$. The third is filler, and somebody forgot the mask.

# %%
xs, ys = np.array([2.0, 1.0, 1.0]), np.array([6.0, 2.0, 0.0])
counts = np.array([1.0, 1.0, 0.0])  # the mask: the third example is filler


def loss_meant(w):
    return float(np.sum(counts * (w * xs - ys) ** 2) / counts.sum())


def loss_written(w):  # without the mask
    return float(np.mean((w * xs - ys) ** 2))


w, h = 1.0, 1e-5
gradient_written = float(np.mean(2 * (w * xs - ys) * xs))
gradient_meant = float(np.sum(counts * 2 * (w * xs - ys) * xs) / counts.sum())
difference = (loss_written(w + h) - loss_written(w - h)) / (2 * h)
print(f"gradient of the loss as written:  {shown(gradient_written)}")
print(f"finite difference of the same:    {shown(difference)}   perfect agreement")
print(f"gradient of the loss as meant:    {shown(gradient_meant)}")

# %% [markdown]
# *The check compares two derivatives of the same function. Whether this is the function that you should minimize is a question it was never asked.* Now change the filler, `ys[2]`, and run again. Which of the three numbers should not have moved?
#
# A forgotten mask is one of a kind. A term that was left out of the loss is left out of both derivatives. So is a path that was cut, because a number that depends on $w$ had been computed beforehand and went in as a constant.

# %% [markdown]
# ## In your own words
#
# One question, marked by a person against a rubric. Write as if to a classmate who missed this lesson: full sentences, formulas where they help. Half a page is plenty.

# %% [markdown] nbgrader={"schema_version": 3, "grade": false, "grade_id": "1_written-rubric", "locked": true, "points": 0, "solution": false, "task": true}
# **What a gradient check proves, and what it does not.** A classmate trains a model on sentences of different length. Their gradient agrees with central differences to eight digits at twenty random points. "So the training is right," they say. Explain
#
# 1. what this agreement does show, and why two methods that agree are worth more than one;
# 2. why it does not show that the *loss* is the right one. Give one example of your own in full: say what the loss should be, what was written instead, and why the check passes all the same. Choose among: a wrong or missing mask, a value that was detached (treated as a constant), a term left out of the loss;
# 3. what one could do to find *that* mistake.
#
# ### BEGIN MARK SCHEME
# **Rubric, 6 points.**
#
# - 1: the check compares two derivatives of the same written function; agreement at many random points shows that the local derivatives and the way they are combined are very probably right for this function.
# - 1: independence: differences use only values of the function and no calculus rule, so the two can hardly share a mistake; or: agreement at one special point would show less (zeros hide faults).
# - 1: the central point: both methods differentiate the loss *as written*, so an error in the loss itself enters both alike and cancels from the comparison.
# - 2: a sound example. 1 for saying precisely what is meant and what is written; 1 for saying why the difference quotient does not notice. For a detached value this has to be thought through: if the quotient reruns the computation that was cut, the two disagree and the check *does* notice; it passes only if the value was computed beforehand and enters both as a constant.
# - 1: a fitting remedy: a tiny example with the loss worked out by hand; a test that filler must not matter (change it, the loss must not move); the gradient of a parameter that should matter must not be 0; comparing with an independent implementation of the loss; looking at what the trained model does.
#
# **Comments ready to use.** Type a code, `#which-function` say, into the comment box under the answer, several if you like, with words of your own around them. The student's feedback shows the whole text instead.
#
# - `#which-function` You say that the check compares two derivatives. Say of which function, and who gave that function to both methods. Reread *The right derivative of the wrong loss*.
# - `#independent` Still open: why two methods that agree are worth more than one. Compare what each of them has to know about calculus. Reread *A witness that knows no calculus*.
# - `#random-points` Still open: what twenty random points give that one convenient point does not. Reread *A point that sees nothing*.
# - `#both-losses` Your example needs both losses, the one that was meant and the one that was written, as formulas or as code. Then follow each of the two methods through the second. Reread *The right derivative of the wrong loss*.
# - `#detached` A value treated as a constant is a subtle example. When is it computed: once beforehand, or anew each time the loss is run? Try both with numbers, and see which of them passes the check. Reread *The right derivative of the wrong loss*.
# - `#remedy` The remedy that you name compares derivatives once more, and both would come from the same loss as before. Look for a test that puts a question to the loss itself. Reread *The right derivative of the wrong loss*.
#
# **Model answer.**
#
# 1. The analytic gradient comes from local derivatives multiplied along paths and added across them. The differences come from running the loss at $w + h$ and $w - h$. They share no rule, so a slip in the rule for tanh, or a path left out, would show in one and not in the other. Twenty random points make it unlikely that a fault hides behind a factor that happens to be 0, as every tanh rule does at $(2, -1)$ in our running example. So for the function that was written down, the gradient is right.
# 2. But both methods start from that same function. Suppose sentences are padded to equal length with a filler token, and the loss should be the mean over the real tokens only. What was written is the mean over all positions. This is a perfectly good differentiable function, just not the one that was meant. Its gradient and its difference quotient agree to eight digits, because both are derivatives of it. The model is then trained to predict filler, and short sentences, which have most of it, pull hardest. In the lesson's example the gradient of the written loss is $-5.33$, that of the loss meant is $-9$. The same happens when a penalty term is left out: it is missing from both sides of the comparison. With a detached value one has to look closely. If $c = g(w)$ is computed once, before, and both methods then treat $c$ as a constant, both leave out the path through $c$ and agree. If the quotient recomputes $c$ at $w \pm h$, it sees the path, and the check fails, as it should.
# 3. Work out the loss of two tiny sentences by hand and compare. Change the filler tokens: the loss must not move at all. Set one real token's prediction to something absurd: the loss must move. For a suspected detached value, ask whether the gradient of a parameter that surely matters is 0. None of these tests looks at derivatives, because the mistake is not in the derivatives.
# ### END MARK SCHEME

# %% [markdown] nbgrader={"schema_version": 3, "grade": true, "grade_id": "1_written", "locked": false, "points": 6, "solution": true, "task": false}
# *Your answer:*

# %% [markdown]
# ## Check yourself
#
# Every option has something to say, the right ones too. Try as often as you like; nothing is stored or sent.

# %% tags=["quiz"]
quiz("1.quiz", r"""
? Is the computational graph of a network the same as the diagram in which circles are neurons and lines are weights?
( ) Yes, with the arrows pointing the same way :: In the diagram a weight is written on a line. In the computational graph a weight is a node like any other number, and every single multiplication and addition is a node too.
( ) Yes, except that it shows one layer at a time :: It shows whole computations, with the loss at the end, down to single operations.
(x) No: here every number is a node, weights and inputs too :: One neuron with two inputs, $\tanh(w_1x_1 + w_2x_2)$, is one circle in the diagram, and eight nodes in the graph.
( ) No: the computational graph contains no weights, only what is computed from them :: They are its sources, together with the inputs, and they are the nodes whose derivatives training needs.

? Which nodes of the running example, $u = ab$, $v = u + a$, $w = \tanh b$, $L = vw$, have fan-out? Tick all.
[x] $a$ :: It goes into $u$ and into $v$.
[x] $b$ :: It goes into $u$ and into $w$.
[ ] $u$ :: It has two parents, but only one child, $v$. Fan-out counts what leaves a node.
[ ] $L$ :: Two edges come in, none goes out. It is the sink.

? A weight is shared: the same number is used at ten positions of a text. What about its derivative?
( ) It has ten derivatives, one for each position, and the weight takes a different value at each :: It is one number, with one value. What differs is the contribution that each position makes.
( ) It has one derivative: the mean of the ten :: Nudging it moves the result through all ten uses at once, each to the full.
( ) It has one derivative: that of the last use :: Earlier uses count just as much. Keeping only the last is the most frequent mistake in home-made engines.
(x) It has one derivative: the sum of what the ten uses contribute :: Ten uses are ten ways for its influence to leave. Across paths, add.

? Two paths lead from $x$ to the loss, with products 5 and −5. Which is true?
(x) The derivative with respect to $x$ is 0 at this point :: $5 + (-5)$. Elsewhere it may be anything.
( ) $x$ has no influence on the loss: it may be left out of the graph :: Along each path it has. To first order the two influences cancel, here.
( ) The derivative is −25 :: Products belong along a path; across paths add.
( ) One of the paths may be left out :: Then the derivative would be 5 or −5.

? What is the local derivative of $y = e^x$?
( ) $x$ :: At $x = 0$ that would make the curve flat. Its slope there is 1.
(x) $y$, its own output :: $e^x$ is its own derivative.
( ) $x\,e^{x-1}$ :: That would be the rule for $x^n$. Here $x$ is the exponent.
( ) 1 :: Only at $x = 0$.

? $L$ has been computed, and $dL/dw = -16$. What has happened to $w$?
( ) It has moved by $-16$ :: The gradient is a slope, not a step.
( ) It has moved to where the loss is smallest :: One gradient does not know where that is.
( ) It has moved by 16 times the learning rate :: That is what gradient descent *would* do next.
(x) Nothing :: Computing a derivative changes nothing. An update is an act of its own, with a learning rate and a direction: against the gradient.

? Somebody wants more accurate finite differences and replaces $h = 10^{-5}$ by $10^{-12}$. What do you say?
(x) Worse: rounding errors grow like $\varepsilon/h$ :: Near $10^{-5}$ truncation and rounding are in balance for central differences.
( ) Good: the smaller $h$, the closer to the limit :: In exact arithmetic yes. With 16 digits, the difference of two nearly equal numbers has hardly any left.
( ) It makes no difference, both are tiny :: You saw the plot: the error of the central difference grows from about $10^{-10}$ to about $10^{-4}$.
( ) Good, but only for the one-sided difference :: That one is best near $10^{-8}$. At $10^{-12}$ rounding rules there too.

? A gradient check passes at twenty random points. Which conclusions are justified? Tick all.
[x] For the loss as it is written, the gradient is very probably right :: That is what the check compares.
[ ] The loss is the right one :: A wrong mask or a missing term passes happily: it is in both sides of the comparison.
[ ] The learning rate is right :: A step size is no property of the derivative.
[x] It is worth more than a check at one point with zeros in it :: At $(2, -1)$ tanh's slope is multiplied by $v = 0$: there a wrong rule for tanh passes too.

? Why does nobody use the sum over all paths to train a network?
( ) It is only approximate :: It is exact. Finite differences are approximate.
( ) It fails for nodes with fan-out :: It handles them exactly right. That is what the sum is for.
(x) There are far too many paths :: They grow exponentially, though the edges are few: 40 edges, 1,048,576 paths on the ladder of 20 rungs. Lessons 2 and 3 visit each edge once.
( ) It needs a formula for the whole loss :: It needs local derivatives only, as numbers.
""")

# %% [markdown]
# ## Common mix-ups
#
# - **The edge and the derivative.** The number on the edge $a \to v$ holds everything else at $v$ still. The derivative of $v$ with respect to $a$ lets everything move that depends on $a$.
# - **Multiply and add.** Along a path multiply; across paths add.
# - **Gradient and update.** A gradient is computed. An update is decided.
# - **The value and the slope.** $L = 0$ does not make the slope 0, and a large loss does not make it steep.
# - **The computational graph and the network's diagram.** In the graph, weights are nodes.
# - **A gradient of 0 and no influence.** Two paths may cancel.
# - **A check that passes and a loss that is right.** The check compares derivatives of the loss that you wrote.

# %% [markdown]
# ## What it can and cannot explain
#
# A derivative answers one precise question: how would *this* number change under a tiny change of *that* one, *here*? It does not say what a large change would do: a learning rate of 0.5 showed that. It does not tell what a weight "means", and it is no causal account of a model's answer. Such questions need other experiments.
#
# And it trusts the graph. What is not in the graph does not exist for it: a term left out, a mask forgotten, a value treated as a constant.

# %% [markdown]
# ## Real-world reps
#
# - [ ] On paper: $y = 3x + 1$, $z = y^2$ at $x = -1$. Write down $y$, $dz/dy$, $dy/dx$ and $dz/dx$, then let 1.1 confirm.
# - [ ] Draw a formula of your own as a graph: the area of a circle ring, compound interest, the length of a vector. Put numbers on the edges, predict one derivative, and let `sum_over_paths` and `central_difference` judge.
# - [ ] Take a function from code that you use (a distance, a score, a physics formula) and run `numerical_gradient` on it. Does the sign of every entry make sense to you?
# - [ ] Find a point at which a *wrong product rule*, $(ab)' = (1, 1)$, passes a check of $ab$. Then one that exposes it.
# - [ ] Tomorrow, without looking: write down the sum over paths for the running example, all four products.

# %% [markdown]
# ## Take it with you
#
# - Any computation is a graph of small steps. Its topological order is the order in which it can be run.
# - A local derivative belongs to an edge, with the other slots held still.
# - Along a path multiply; across paths add. That is the chain rule, for every graph.
# - Differentiating and updating are two acts.
# - Finite differences are an independent witness: central, $h$ near $10^{-5}$, random points. They judge the derivative, not the loss.
# - Paths are too many. Edges are few.
#
# **Next:** lesson 2 visits every edge just once, on the way forward, and gets the derivative with respect to one input for little more than the price of the value itself.

# %% [markdown]
# ## Going further
#
# - Olah: [*Calculus on Computational Graphs: Backpropagation*](https://colah.github.io/posts/2015-08-Backprop/) (2015). An essay with pictures; how to escape from too many paths, in ten minutes.
# - Baydin, Pearlmutter, Radul, Siskind: [*Automatic Differentiation in Machine Learning: a Survey*](https://arxiv.org/abs/1502.05767) (2018). Section 2 sets automatic differentiation beside differences and formulas, as this lesson did.
# - Griewank, Walther: *Evaluating Derivatives* (2nd edition, 2008). The book: evaluation procedures as graphs, from the first chapter on.
# - PyTorch: [*Autograd mechanics*](https://docs.pytorch.org/docs/stable/notes/autograd.html). How a library records the graph that you typed in by hand here.

# %% [markdown] tags=["self-study"]
# More on the [resources page](../resources.ipynb). Every term is in the [glossary](../glossary.ipynb); look up those that felt slippery.

# %% [markdown]
# ## Not landing?
#
# Go back to the primary source: for this lesson Olah's essay, or the second section of the survey. A lesson compresses, and compression is where understanding leaks.
#
# And if it is the lesson that is unclear, not the matter: that is a defect. Please open an issue and say where you stopped.
