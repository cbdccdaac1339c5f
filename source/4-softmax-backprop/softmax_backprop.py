# %% [markdown]
# # Lesson 4. Backprop through softmax and an n-gram network
#
# > **The idea to hold on to.** The backward pass of a whole language model is four short rules on arrays, and the shapes of the forward pass all but dictate them.
#
# **After this lesson you can**
#
# - turn scores into probabilities, and probabilities into a loss, without overflow;
# - derive the error signal $p - e_y$ from which everything else starts, and say what it is not;
# - write the backward rule of an affine map, of tanh and of an embedding, for one example or many, without ever building a Jacobian;
# - put them together into the complete backward pass of a neural language model;
# - read off a table of differences which rule of a backward pass is at fault.
#
# **Time.** About 75 minutes for the core, which ends with the whole backward pass (4.7). [A row that is read twice](#A-row-that-is-read-twice) is a good place for a break. The table of faults after it and the written questions take another half hour.
#
# **Before this.** Lesson 3: adjoints, messages, the vector–Jacobian product. The engine that you built there is given below, so you need no other notebook. Some NumPy: shapes, `axis=`, `@`.
#
# **Where this sits.** The course ends with a language model that you train yourself. Lesson 3 found all derivatives in one pass, one number at a time. Nobody trains a language model one number at a time. This lesson does the same pass on whole arrays, by hand, for the very model that lesson 5 trains.

# %%
import math
import time

import numpy as np
import torch

from autograder.student import check, plot_style, quiet, quiz, show_graph, start, when_ready

start("4-softmax-backprop", edition="classroom")
np.set_printoptions(precision=6, suppress=True)

# %% [markdown]
# Under every exercise stands one cell that calls `check`. Run it as often as you like. Below it are drawers with hints, each titled with a complaint; open the one that sounds like yours. When you are stuck for ten minutes, move on: every section can be read without the exercises before it.
#
# The next two cells are folded. The first holds what lessons 1 and 3 built: the engine `Value` and finite differences. The second draws arrays. Run them; unfold them when you are curious.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "given-engine", "locked": true, "solution": false, "task": false} jupyter={"source_hidden": true}
# What lessons 1 and 3 built. Given: run it and go on.
class Value:
    """A number that remembers how it was computed."""

    __slots__ = ("_backward", "_parents", "data", "grad")

    def __init__(self, data, parents=(), backward=None):
        self.data, self.grad = float(data), 0.0
        self._parents, self._backward = parents, backward

    def __add__(self, other):
        return value_add(self, number_or_value(other))

    def __mul__(self, other):
        return value_mul(self, number_or_value(other))

    def __neg__(self):
        return value_mul(self, Value(-1.0))

    def __sub__(self, other):
        return self + -number_or_value(other)

    __radd__, __rmul__ = __add__, __mul__

    def exp(self):
        return value_exp(self)

    def log(self):
        return value_log(self)

    def backward(self):
        value_backward(self)

    def __repr__(self):
        return f"Value(data={self.data + 0.0:g}, grad={self.grad + 0.0:g})"


def number_or_value(x):
    return x if hasattr(x, "_backward") else Value(x)


def value_add(r, s):
    def backward(g):
        r.grad += g
        s.grad += g

    return Value(r.data + s.data, (r, s), backward)


def value_mul(r, s):
    def backward(g):
        r.grad += g * s.data
        s.grad += g * r.data

    return Value(r.data * s.data, (r, s), backward)


def value_exp(r):
    y = math.exp(r.data)

    def backward(g):
        r.grad += g * y

    return Value(y, (r,), backward)


def value_log(r):
    def backward(g):
        r.grad += g / r.data

    return Value(math.log(r.data), (r,), backward)


def value_backward(root):
    order, met, stack = [], set(), [(root, False)]
    while stack:
        node, parents_are_done = stack.pop()
        if parents_are_done:
            order.append(node)
        elif id(node) not in met:
            met.add(id(node))
            stack.append((node, True))
            stack.extend((parent, False) for parent in node._parents)
    for node in order:
        if node._backward is not None:
            node.grad = 0.0
    root.grad = 1.0
    for node in reversed(order):
        if node._backward is not None:
            node._backward(node.grad)


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

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "given-display", "locked": true, "solution": false, "task": false} jupyter={"source_hidden": true}
# Helpers that draw arrays. Given: run it and go on.
if not quiet():
    import matplotlib.pyplot as plt

    plot_style()


def shown(x) -> str:
    """x to six places, with 0 instead of Python's −0."""
    return f"{round(float(x), 6) + 0.0:.6f}"


def draw_array(ax, array, title: str, rows=None, columns=None, largest=None) -> None:
    """An array as coloured squares with its numbers in them; a vector as one column."""
    array = np.asarray(array, dtype=float)
    array = array[:, None] if array.ndim == 1 else array
    largest = largest or max(np.abs(array).max(), 1e-9)
    ax.imshow(array, cmap="PuOr", vmin=-largest, vmax=largest)
    for (i, j), x in np.ndenumerate(array):
        ink = "white" if abs(x) > 0.6 * largest else "black"
        ax.text(j, i, f"{x + 0.0:.3g}".replace("-", "−"), ha="center", va="center", fontsize=10, color=ink)
    ax.set_xticks(range(array.shape[1]), columns or [""] * array.shape[1])
    ax.set_yticks(range(array.shape[0]), rows or [""] * array.shape[0])
    ax.tick_params(length=0)
    ax.grid(False)
    ax.spines[:].set_visible(False)
    ax.set_title(title, fontsize=10, loc="center")


def draw_bars(ax, heights, labels, title: str, ylabel: str = "") -> None:
    """One bar for each number, with the number at its end."""
    ax.bar(labels, heights, color=["#0072B2" if x >= 0 else "#D55E00" for x in heights], width=0.6)
    for i, x in enumerate(heights):
        ax.annotate(
            f"{x:.3f}".replace("-", "−"), (i, x), (0, 2 if x >= 0 else -3), textcoords="offset points",
            ha="center", va="bottom" if x >= 0 else "top", fontsize=9,
        )
    ax.axhline(0, color="#1a1f26", linewidth=0.8, linestyle="-", marker="")
    ax.margins(y=0.2)
    ax.set_ylabel(ylabel)
    ax.set_title(title, fontsize=10, loc="center")


def draw_softmax(z, shifts) -> None:
    """Scores and their probabilities, for scores raised by each of the shifts."""
    fig, axes = plt.subplots(1, 2 * len(shifts), figsize=(9, 2.6))
    labels = [str(i) for i in range(len(z))]
    for k, shift in enumerate(shifts):
        e = np.exp(z + shift)
        draw_bars(axes[2 * k], z + shift, labels, f"scores + {shift:g}" if shift else "scores", "" if k else "score z")
        draw_bars(axes[2 * k + 1], e / e.sum(), labels, "probabilities", "" if k else "probability p")
    for ax in axes:
        ax.set_xlabel("token")
    fig.suptitle("A common shift of all scores changes no probability", x=0.01, ha="left", fontweight="bold")
    plt.show()


def draw_signal(p, e_y, signal) -> None:
    """p, e_y and their difference, side by side."""
    _, axes = plt.subplots(1, 3, figsize=(8, 2.6), sharey=True)
    titles = ("$p$: what was expected", "$e_y$: what came", "$p - e_y$: the error signal")
    for ax, heights, title in zip(axes, (p, e_y, signal), titles, strict=True):
        draw_bars(ax, heights, [str(i) for i in range(len(p))], title)
        ax.set_xlabel("token")
    axes[0].set_ylabel("probability")
    plt.show()


def draw_affine(W, r, q_bar) -> None:
    """The two products of the affine rule, entry by entry."""
    fig, axes = plt.subplots(1, 4, figsize=(9, 2.9), width_ratios=[1, 2, 1, 2])
    outputs, inputs = [f"output {i}" for i in range(len(q_bar))], [f"input {j}" for j in range(len(r))]
    draw_array(axes[0], q_bar, "q̄", rows=outputs)
    draw_array(axes[1], np.outer(q_bar, r), "W̄ = q̄ rᵀ", columns=inputs)
    draw_array(axes[2], r, "r", rows=inputs)
    draw_array(axes[3], W.T * q_bar, "Wᵀ q̄: each row adds up to r̄", rows=inputs, columns=[str(i) for i in range(len(q_bar))])
    fig.suptitle("Each weight receives: adjoint of its output times value of its input", x=0.01, ha="left", fontweight="bold")
    plt.show()


def draw_jacobian(J, m: int, n: int) -> None:
    """The Jacobian (m, m·n) of an affine map by its weights."""
    _, ax = plt.subplots(figsize=(8, 2.4))
    largest = np.abs(J).max()
    ax.imshow(J, cmap="PuOr", vmin=-largest, vmax=largest, aspect="auto")
    ax.set_xticks(range(0, m * n, n), [f"row {i} of W" for i in range(m)], ha="left")
    ax.set_yticks(range(m), [f"$q_{i}$" for i in range(m)])
    ax.grid(False)
    ax.set(xlabel=f"the {m * n} entries of W, row after row", ylabel="output")
    ax.set_title(f"{m} × {n} weights: a Jacobian of {J.size} entries, {(J == 0).sum()} of them zero")
    plt.show()


def draw_scatter(x_bar, context, C_bar, tokens: str) -> None:
    """Blocks of x̄ on the left, the rows of C̄ into which they are added on the right."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(7.6, 2.8))
    largest = 1.1 * np.abs(C_bar).max()
    positions = [f"position {r}: token {tokens[a]}" for r, a in enumerate(context)]
    draw_array(left, x_bar.reshape(len(context), -1), "x̄, cut into blocks", rows=positions, largest=largest)
    draw_array(right, C_bar, "C̄", rows=[f"row {a}" for a in tokens], largest=largest)
    right.yaxis.tick_right()
    for r, a in enumerate(context):
        at = (-0.55, a + 0.3 * (r - a) / len(context))
        style = {"arrowstyle": "-|>", "color": "#D55E00", "lw": 1.8, "shrinkA": 2, "shrinkB": 2}
        right.annotate("", at, (C_bar.shape[1] - 0.45, r), textcoords=left.transData, arrowprops=style, annotation_clip=False)
    fig.suptitle("Both blocks of token a are added into row a", x=0.01, ha="left", fontweight="bold")
    plt.show()


def draw_network() -> None:
    """The n-gram network: shapes on the way forward above, what travels back below."""
    values = [("contexts", "(B, k)"), ("x", "(B, kd)"), ("u", "(B, h)"), ("h", "(B, h)"), ("z", "(B, V)"), ("loss", "()")]
    steps = [  # forward: parameters and rule; backward: rule and the gradients that it makes
        ("C (V, d)\nlook up", "embedding_vjp\n→ C"),
        ("W1 (h, kd), b1 (h,)\naffine", "affine_vjp\n→ W1, b1"),
        ("tanh", "tanh_vjp"),
        ("W2 (V, h), b2 (V,)\naffine", "affine_vjp\n→ W2, b2"),
        ("targets (B,)\ncross-entropy", "(p − e_y) / B"),
    ]
    _, ax = plt.subplots(figsize=(9.4, 2.7))
    ax.set(xlim=(-0.6, 10.5), ylim=(-1.35, 1.35))
    ax.axis("off")
    box = {"boxstyle": "round,pad=0.4", "fc": "white", "ec": "#56606b"}
    for i, (name, shape) in enumerate(values):
        ax.text(2 * i, 0, f"{name}\n{shape}", ha="center", va="center", fontsize=10, bbox=box)
    for i, (forward, backward) in enumerate(steps):
        start_, end = 2 * i + 0.55, 2 * i + 1.45
        ax.annotate("", (end, 0.4), (start_, 0.4), arrowprops={"arrowstyle": "-|>", "color": "#0072B2", "lw": 1.8})
        ax.annotate("", (start_, -0.4), (end, -0.4), arrowprops={"arrowstyle": "-|>", "color": "#D55E00", "lw": 1.8, "ls": "--"})
        ax.text(2 * i + 1, 0.6, forward, ha="center", va="bottom", fontsize=9, color="#00568a")
        ax.text(2 * i + 1, -0.6, backward, ha="center", va="top", fontsize=9, color="#a34400")
    ax.set_title("Every array comes back as an adjoint of its own shape")
    plt.show()


def draw_verdicts(table: dict[str, list[bool]], rows) -> None:
    """Which rows are close (✓) and which are not (✗), one column for each experiment."""
    _, ax = plt.subplots(figsize=(7.4, 4.0))
    marks = np.array([[float(ok) for ok in column] for column in table.values()]).T
    ax.imshow(marks, cmap="cividis", vmin=-0.6, vmax=1.6, aspect="auto")
    for (i, j), ok in np.ndenumerate(marks):
        ax.text(j, i, "✓ right" if ok else "✗ broken", ha="center", va="center", color="black" if ok else "white")
    ax.set_xticks(range(len(table)), list(table))
    ax.set_yticks(range(len(rows)), rows)
    ax.tick_params(length=0)
    ax.grid(False)
    ax.set(xlabel="what was dropped", ylabel="row of compare")
    ax.set_title("A fault breaks its own row and all that is made from it")
    plt.show()

# %% [markdown]
# ## Warm-up
#
# Three questions on what you already know. Answer from memory first; that is what makes them work.

# %% tags=["quiz"]
quiz("4.warm-up", r"""
? $y = \varphi(x)$ takes 1,000 numbers to 1,000 numbers, and $\bar y$ has arrived. What does reverse mode send on to $x$?
( ) The Jacobian of $\varphi$, a table of 1,000,000 numbers :: That is what the rule is made of, but it need never be written down.
( ) $J\,\bar y$, 1,000 numbers :: That has the right length only because input and output happen to be equally long. Forward mode multiplies by $J$, reverse mode by $J^\top$.
( ) One number, the derivative of the loss :: There is one derivative for each entry of $x$.
(x) $\bar x = J^\top \bar y$, 1,000 numbers :: A vector–Jacobian product. The adjoint of $x$ has the shape of $x$.

? A value is used three times, and the three messages that come back are 2, −5 and 4. What is its adjoint?
(x) 1, their sum :: $2 - 5 + 4$. One value, one adjoint: the sum of all messages. You will need this when a token stands twice in a context.
( ) 4, the one that came last :: A widely held belief. By default gradients do not overwrite; messages are added.
( ) 1/3, their average :: Nothing in the chain rule divides by the number of uses.
( ) Three adjoints, one for each use :: There is one value, so there is one question: how does the loss move when *it* moves?

? A model gives the right answer a probability of $p = 0.001$. How steep is the penalty $-\log p$ there, and how steep would $1 - p$ be?
( ) Both have slope −1 :: That is so for $1 - p$ everywhere. The logarithm is steeper the smaller $p$ is.
( ) −3 and −1 :: $\log_{10} 0.001 = -3$ is a value, not a slope.
(x) −1000 and −1 :: $-\log p$ has slope $-1/p$. It insists on correcting what is badly wrong; $1 - p$ hardly cares.
( ) −0.001 and −1 :: You have $-p$. The derivative of $\log p$ is $1/p$.
""")

# %% [markdown]
# ## From scores to probabilities
#
# A language model looks at a few [tokens](../glossary.ipynb#token), characters say, and gives every token that might come next a score: any number, positive or negative. Such a score is called a [logit](../glossary.ipynb#logit). [Softmax](../glossary.ipynb#softmax) makes probabilities of the scores.
#
# Take three tokens, numbered 0, 1, 2 as Python counts, with scores $z = (0, \log 2, \log 3)$; log is the natural logarithm, here and everywhere in the course. Exponentiate: $1, 2, 3$. Their sum is 6. Divide: $p = (\tfrac{1}{6}, \tfrac{1}{3}, \tfrac{1}{2})$. In general, with $V$ tokens,
#
# $$p_j = \frac{e^{z_j}}{\sum_{c} e^{z_c}}.$$
#
# The logarithm of that sum is worth a name of its own, [log-sum-exp](../glossary.ipynb#log-sum-exp): $\operatorname{lse}(z) = \log\sum_c e^{z_c}$. Here it is $\log 6 = 1.791759$. Then $p_j = e^{z_j - \operatorname{lse}(z)}$, and that is all of softmax.
#
# Add 5 to every score. Every exponential grows by the same factor $e^5$, which cancels: the probabilities stay, and lse grows by exactly 5. **Only differences between scores count.**

# %%
z = np.array([0.0, np.log(2), np.log(3)])  # change the scores

for shift in (0.0, 5.0):
    e = np.exp(z + shift)
    print(f"shift {shift:g}:  e^z = {e}, their sum {shown(e.sum())}")
    print(f"          lse = {shown(np.log(e.sum()))}, p = {e / e.sum()}")

if not quiet():
    draw_softmax(z, (0.0, 5.0))

# %% [markdown]
# *Left: the scores and their probabilities. Right: all scores raised by 5. Same probabilities.*
#
# On paper that is the end of it. In a computer a number has a largest size: `np.exp(710)` is already `inf`.

# %% tags=["quiz"]
quiz("4.predict-large", r"""
? What does the formula, typed in as it stands, give for the scores $(1000, 1001)$?
( ) The same as for $(0, 1)$: about 0.269 and 0.731 :: That is the right answer, and what the shift promises. The computer does not know that the two huge numbers will cancel.
( ) 0.5 and 0.5 :: The two scores differ by 1, so the probabilities differ too.
( ) 0 and 1 :: That is right for scores 1000 apart. These are 1 apart, and the formula as it stands finds neither answer.
(x) Not a number, twice :: Both exponentials are `inf`, and `inf / inf` is `nan`.

? And for $(-1000, -1001)$?
(x) Not a number, twice :: $0/0$. Very negative scores are as bad as very large ones.
( ) 0 and 0 :: Close: both exponentials underflow to 0, but then 0 is divided by 0.
( ) The right answer, because nothing overflows :: Nothing overflows, but everything underflows.
( ) 0.5 and 0.5 :: The scores differ by 1.
""")

# %%
with np.errstate(all="ignore"):
    for scores in ([0.0, 1.0], [1000.0, 1001.0], [-1000.0, -1001.0]):
        e = np.exp(np.array(scores))
        print(f"{scores!s:<20} e^z = {e}   p = {e / e.sum()}   lse = {np.log(e.sum()):g}")

# %% [markdown]
# The shift that did nothing on paper saves us. Take the largest score off every score: $(1000, 1001)$ becomes $(-1, 0)$. The exponentials are $0.367879$ and $1$, the logarithm of their sum is $0.313262$; give the 1001 back, and $\operatorname{lse} = 1001.313262$. In general, with the largest score $m = \max_c z_c$, the largest exponent is 0, so nothing overflows, and the sum is at least 1, so nothing is divided by 0:
#
# $$\operatorname{lse}(z) = m + \log\sum_c e^{z_c - m}.$$
#
# **Many examples at once.** From here on an array may have further axes in front: `z` of shape `(..., V)`. The scores of one example always lie along the *last* axis, and each example is treated by itself. That is what `axis=-1` says. One trap: `z.max(axis=-1)` of a `(4, 3)` array has shape `(4,)`. NumPy lines shapes up from the right, so in `(4, 3) - (4,)` the 3 meets the 4: an error. With `keepdims=True` the maximum keeps shape `(4, 1)`, and each row loses its own maximum.
#
# ### Exercise 4.1 Log-sum-exp and softmax
#
# ●●○○○ · 8 minutes
#
# Write **`logsumexp(z)`** and **`softmax(z)`**.
#
# - `z`: float64 array of shape `(..., V)`: one vector `(V,)`, a batch `(B, V)`, or more axes in front.
# - `logsumexp` returns shape `(...)`, one number for each vector. `softmax` returns shape `(..., V)`, each vector along the last axis summing to 1.
# - Scores of ±1000 must not overflow. `z` itself stays as it was.
# - No errors to raise.
#
# Example: for `z = np.log([1.0, 2.0, 3.0])` they return $\log 6 = 1.791759$ and $(\tfrac{1}{6}, \tfrac{1}{3}, \tfrac{1}{2})$. For `np.array([[0.0, 1.0], [1000.0, 1001.0]])` both rows of `softmax` are $(0.268941, 0.731059)$.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "4_1-solution", "locked": false, "solution": true, "task": false}
def logsumexp(z: np.ndarray) -> np.ndarray:
    """log Σ exp(z) along the last axis: (..., V) → (...)."""
    ### BEGIN SOLUTION
    m = z.max(axis=-1, keepdims=True)
    return m[..., 0] + np.log(np.exp(z - m).sum(axis=-1))
    ### END SOLUTION


def softmax(z: np.ndarray) -> np.ndarray:
    """The probabilities of the scores along the last axis: (..., V) → (..., V)."""
    ### BEGIN SOLUTION
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "4_1", "locked": true, "points": 6, "solution": false, "task": false}
check("4.1", logsumexp, softmax)
### BEGIN HIDDEN TESTS
from autograder.student import grade
grade("4.1", logsumexp, softmax)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>I get nan or inf for large scores</summary>
#
# Somewhere `np.exp` still sees the scores as they came. Shift them first, so that the largest is 0. `logsumexp` has to give the shift back afterwards, outside the logarithm.
#
# </details>
# <details><summary>operands could not be broadcast together</summary>
#
# A maximum or a sum along an axis loses that axis. Either keep it (`keepdims=True`), or put it back: `a[..., None]` adds an axis of length 1 at the end.
#
# </details>
# <details><summary>One vector is right, a batch is wrong, and no error is raised</summary>
#
# Is every `max` and every `sum` along `axis=-1`? Without an axis NumPy takes the whole array; with `axis=0` it runs down the columns, across the examples. If the array is square, a missing `keepdims` goes unnoticed as well: row 0 then loses the maximum of some other row.
#
# </details>
# <details><summary>[[0, 1], [1000, 1001]] gives nan in the first row</summary>
#
# You take off one maximum for the whole array. For the first row that leaves −1001 and −1000, whose exponentials are 0. Each row needs its own.
#
# </details>
# <details><summary>It says that I changed z</summary>
#
# `z -= m` writes into the caller's array. `z - m` makes a new one.
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# In `logsumexp` the maximum keeps its axis for the subtraction, and drops it (`m[..., 0]`) for the result. In `softmax` the shift needs no undoing, because it cancels in the fraction.
#
# {{solution 4.1}}
#
# `np.exp(z - logsumexp(z)[..., None])` is one line and passes as well. It is a little less exact for scores near 1000: a float64 of that size has three digits fewer left behind the point.

# %%
with when_ready("4.1"):
    batch = np.array([[0.0, 1.0], [1000.0, 1001.0], [-1000.0, -1001.0], [0.0, 1000.0]])
    for scores, lse, p in zip(batch, logsumexp(batch), softmax(batch), strict=True):
        print(f"{scores!s:<16} lse {shown(lse):>12}   p = {p}")

# %% [markdown]
# *The first two rows have the same probabilities, because they have the same differences. Their lse differs by exactly 1000.*

# %% [markdown]
# ## The price of a surprise
#
# Then the next token comes. Say it is token 1, to which the model gave $\tfrac{1}{3}$. The loss is $-\log\tfrac{1}{3} = \log 3 = 1.098612$. In general, when token number $y$ comes, the loss is the [cross-entropy](../glossary.ipynb#cross-entropy) $\ell = -\log p_y$: small when the model expected the token, large when it is surprised. With natural logarithms the unit is the [nat](../glossary.ipynb#nat).
#
# Do not compute it that way. Put $p_y = e^{z_y - \operatorname{lse}(z)}$ into the logarithm and the exponential goes away:
#
# $$\ell = -\log p_y = -z_y + \operatorname{lse}(z).$$
#
# Here: $-\log 2 + \log 6 = \log 3$. No probability is ever formed. Why that matters shows when the model is *very* wrong, say with scores $(1000, 0)$ when token 1 comes.

# %% tags=["quiz"]
quiz("4.predict-gap", r"""
? Scores $(1000, 0)$, and token 1 comes. What is the loss in nats, exactly to all digits that float64 has?
( ) 1 :: That would be $1 - p_1$. Cross-entropy has no upper limit.
( ) 16.1 :: That is $-\log 10^{-7}$: what you get with a little something added inside the logarithm "for safety". The loss then cannot rise above 16.1, and beyond that it is flat: no slope, nothing to learn from.
(x) 1000 :: $-z_y + \operatorname{lse}(z) = 0 + \log(e^{1000} + 1) = 1000$, and what is missing is smaller than $10^{-434}$. A gap of 1000 costs 1000.
( ) Infinite :: That is what a computer says that forms the probability first: $e^{-1000}$ is 0 in float64, and $-\log 0 = \infty$. But $e^{-1000}$ is not 0.

? A classmate feeds softmax's *output* into a loss that takes scores, so softmax is applied twice. With $V = 3$ tokens and a model that is as right as can be, how small can that loss become?
( ) 0 :: It would, with one softmax. But the second one sees numbers between 0 and 1 only.
(x) 0.551445 :: The best case is $p = (1, 0, 0)$, and softmax of that gives the target $e/(e + 2)$: a loss of $\log(1 + 2/e)$. In general the floor is $\log(1 + (V-1)/e)$.
( ) 1.098612 :: That is $\log 3$, the loss of knowing nothing at all. The double softmax is not quite that bad.
( ) It becomes negative :: A cross-entropy is never negative.
""")

# %%
z, y = np.array([1000.0, 0.0]), 1

with np.errstate(all="ignore"):
    e = np.exp(z - z.max())
    p = e / e.sum()
    print("probability first:          ", -np.log(p[y]))
    print("with 1e-7 for safety:       ", -np.log(p[y] + 1e-7))
    print("from the scores:            ", -z[y] + z.max() + np.log(e.sum()))

for V in (2, 3, 65):
    print(f"floor of a double softmax with {V:>2} tokens: {math.log(1 + (V - 1) / math.e):.6f}")

# %% [markdown]
# *To the computer $e^{-1000}$ is 0, and its logarithm is gone. A small constant hides that, and stops at 16.1. The last lines are about another slip, the double softmax: probabilities are handed to a loss that takes scores, so softmax is applied to its own output. Then even a perfect model cannot get below $\log(1 + (V-1)/e)$.*

# %% [markdown]
# Two small helpers for what comes next: from an array of scores, pick one for each example; and make a [one-hot vector](../glossary.ipynb#one-hot-vector) $e_y$, which has a 1 in place $y$ and 0 elsewhere.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "given-pick", "locked": true, "solution": false, "task": false}
def pick(z: np.ndarray, y) -> np.ndarray:
    """z_y for each vector along the last axis: (..., V), (...) → (...)."""
    return np.take_along_axis(z, np.asarray(y)[..., None], axis=-1)[..., 0]


def one_hot(y, n: int) -> np.ndarray:
    """e_y for each entry of y: (...) → (..., n)."""
    return np.eye(n)[y]


scores = np.array([[10.0, 20.0, 30.0], [40.0, 50.0, 60.0]])
print(pick(scores, np.array([2, 0])))
print(one_hot(np.array([2, 0]), 3))

# %% [markdown]
# ### Exercise 4.2 Cross-entropy
#
# ●○○○○ · 4 minutes
#
# Write **`cross_entropy(z, y)`**.
#
# - `z`: float64 array `(..., V)` of scores; `y`: whole numbers `(...)`, the token that came for each vector of scores, from 0 to $V - 1$. For a single vector `z` of shape `(V,)`, `y` is a single whole number.
# - Returns shape `(...)`: the loss of **each example, in nats**. No mean over the batch; that comes later, once.
# - A gap of 1000 between the scores must cost 1000, not `inf`.
# - No errors to raise. You may use what you have written.
#
# Example: `cross_entropy(np.log([1.0, 2.0, 3.0]), 1)` is $\log 3 = 1.098612$.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "4_2-solution", "locked": false, "solution": true, "task": false}
def cross_entropy(z: np.ndarray, y: np.ndarray) -> np.ndarray:
    """−log softmax(z)_y for each example, in nats: (..., V), (...) → (...)."""
    ### BEGIN SOLUTION
    return logsumexp(z) - pick(z, y)
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "4_2", "locked": true, "points": 4, "solution": false, "task": false}
check("4.2", cross_entropy)
### BEGIN HIDDEN TESTS
from autograder.student import grade
grade("4.2", cross_entropy)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>My loss is inf, or stuck near 16</summary>
#
# You go through a probability. Is there a way from the scores to the loss that forms none? Look at the last formula of the section.
#
# </details>
# <details><summary>A batch of 4 gives me 4 × 4 numbers</summary>
#
# `z[..., y]` takes *every* target's score from *every* row. `pick` takes one from each.
#
# </details>
# <details><summary>My loss has the wrong sign</summary>
#
# A loss is never negative: $\operatorname{lse}(z)$ is at least as large as every score.
#
# </details>
# <details><summary>It fails on one vector with "object is not subscriptable"</summary>
#
# There `y` is one number, without axes. `np.asarray(y)` makes an array of it, and then `[..., None]` works in every case. `pick` does that for you.
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# The formula, as it stands. `logsumexp` takes care of large scores, and nothing else can overflow.
#
# {{solution 4.2}}

# %%
with when_ready("4.1", "4.2"):
    gaps = np.linspace(0, 60, 241)
    scores = np.stack([gaps, np.zeros_like(gaps)], axis=-1)  # token 1 comes, token 0 is favoured by the gap
    exact = cross_entropy(scores, np.ones(len(gaps), dtype=int))
    capped = -np.log(softmax(scores)[:, 1] + 1e-7)
    twice = cross_entropy(softmax(scores), np.ones(len(gaps), dtype=int))
    print(f"a gap of 60 costs {exact[-1]:.4f}; with 1e-7 {capped[-1]:.4f}; with two softmaxes {twice[-1]:.4f}")

    if not quiet():
        fig, ax = plt.subplots()
        ax.plot(gaps, exact, label="from the scores", markevery=40)
        ax.plot(gaps, capped, label="−log(p + 1e-7)", markevery=40)
        ax.plot(gaps, twice, label="double softmax", markevery=40)
        ax.set(xlabel="gap: how much the wrong token is favoured", ylabel="loss (nats)")
        ax.set_title("Only the loss from the scores keeps its slope")
        ax.legend()
        plt.show()

# %% [markdown]
# *A gap of 60 costs 60. The other two curves go flat: the model is ever more wrong, and neither the loss nor its gradient says so.*

# %% [markdown]
# ## The output error signal
#
# Now the first step back. How does the loss of one example answer to each score? Look at its two terms, $\ell = -z_y + \operatorname{lse}(z)$, for our three tokens with token 1 coming.
#
# - $-z_1$ answers to $z_1$ with $-1$, and to no other score: $(0, -1, 0)$.
# - $\operatorname{lse}(z) = \log\sum_c e^{z_c}$ answers to $z_j$ with $\dfrac{e^{z_j}}{\sum_c e^{z_c}}$. That is $p_j$: $(\tfrac{1}{6}, \tfrac{1}{3}, \tfrac{1}{2})$.
#
# Together: $(\tfrac{1}{6}, -\tfrac{2}{3}, \tfrac{1}{2})$. In general, with $\nabla_z\,\ell$ for the gradient, the derivatives by all scores in one vector,
#
# $$\bar z = \nabla_z\,\ell = p - e_y.$$
#
# Each wrong score is pushed down by its own probability, and the right one is pulled up by $1 - p_y$. (Down and up: a descent step goes *against* the gradient.)
#
# The entries sum to 0. They must: a common shift of all scores changes nothing.
#
# This vector is called the [output error signal](../glossary.ipynb#output-error-signal). It is a difference of two probability vectors. It is **not** the predicted token minus the token that came: token numbers are names, and names have no distance.

# %%
z, y = np.log([1.0, 2.0, 3.0]), 1  # change y to 2, and the scores
p = np.exp(z) / np.exp(z).sum()
signal = p - one_hot(y, 3)
print("p − e_y =", signal, "  sum", shown(signal.sum()))
print("differences:", numerical_gradient(lambda z: np.log(np.exp(z).sum()) - z[y], z))

if not quiet():
    draw_signal(p, one_hot(y, 3), signal)

# %% [markdown]
# *The difference of two vectors that each sum to 1 sums to 0.*
#
# **The long way round.** Many go from the loss to the probabilities first, and from there to the scores. For the second step one has to know how $p$ answers to a score. Raise $z_2$ by a tiny $\varepsilon$. Its exponential, 3, grows by $3\varepsilon$, and so does the sum, 6. So $p_2 = \tfrac{3}{6}$ grows by $\tfrac{3}{6}\varepsilon - \tfrac{3}{6}\cdot\tfrac{3}{6}\varepsilon = \tfrac{1}{4}\varepsilon$. The others only see the sum grow: $p_0$ falls by $\tfrac{1}{6}\cdot\tfrac{1}{2}\varepsilon = \tfrac{1}{12}\varepsilon$ and $p_1$ by $\tfrac{1}{3}\cdot\tfrac{1}{2}\varepsilon = \tfrac{1}{6}\varepsilon$. In general $\partial p_i/\partial z_j$ is $p_i(1 - p_i)$ for $i = j$ and $-p_i\,p_j$ otherwise. The whole table is the Jacobian of softmax, $J = \operatorname{diag}(p) - p\,p^\top$.

# %% tags=["quiz"]
quiz("4.predict-signal", r"""
? Three models see the same token come. They had given it 0.99, 0.5 and 0.01. Whose score for that token gets the largest correction?
( ) The first: it was right, and is rewarded :: The entry at the target is $p_y - 1$: here $-0.01$, hardly anything. Who knew it already has little to learn.
( ) The second: it was undecided :: Its entry is $-0.5$. There is a larger one.
(x) The third: it gave the token little probability :: Its entry is $-0.99$. The correction is $1 - p_y$: the largest where the surprise is largest.
( ) All three get the same, because the same token came :: The token enters through $e_y$. What they expected enters through $p$, and differs.

? A classmate goes step by step: loss → probabilities → scores. The first step gives $\partial\ell/\partial p = (0, -1/p_y, 0)$. She multiplies by $p_y(1 - p_y)$, "the derivative of softmax". What comes out for our three tokens with token 1?
(x) $(0, -\tfrac{2}{3}, 0)$ :: $-3\cdot\tfrac{1}{3}\cdot\tfrac{2}{3} = -\tfrac{2}{3}$ is right for the target. But $p_1$ answers to the *other* scores as well: they share the sum below the fraction line. Those entries are missing, and the row no longer sums to 0.
( ) $(\tfrac{1}{6}, -\tfrac{2}{3}, \tfrac{1}{2})$ :: It would, with the whole derivative of softmax, which is a $3 \times 3$ table.
( ) $(\tfrac{1}{6}, \tfrac{1}{3}, \tfrac{1}{2})$ :: That is $p$: the one-hot vector was not subtracted. It sums to 1.
( ) $(0, 0, 0)$ :: The first step gave −3, and nothing that she multiplies by is 0.
""")

# %%
p, e = np.array([1 / 6, 1 / 3, 1 / 2]), np.array([0.0, 1.0, 0.0])
by_p = 0 - e / p  # ∂ℓ/∂p
J = np.diag(p) - np.outer(p, p)  # ∂p_i/∂z_j, the whole table
print("how p answers to z_2:       ", J[:, 2])
print("through the whole Jacobian: ", J.T @ by_p)
print("through its diagonal only:  ", np.diag(J) * by_p + 0)
print("the Jacobian once too often:", J.T @ (p - e))

# %% [markdown]
# *The first line is the last column of $J$: $-\tfrac{1}{12}$, $-\tfrac{1}{6}$, $\tfrac{1}{4}$. The second is $p - e_y$: the detour through the probabilities leads to the same place. The last line is what you get when you start from $p - e_y$ and apply softmax's derivative once more. It sums to 0 as well, so only its values give it away.*
#
# ### Exercise 4.3 The gradient at the scores
#
# ●●○○○ · 5 minutes
#
# Write **`cross_entropy_grad(z, y)`**.
#
# - `z`: float64 array `(..., V)`; `y`: whole numbers `(...)`, as before.
# - Returns shape `(..., V)`: for each example the derivative of **its own** loss by each of its scores. No division by the batch size.
# - Large scores must not give `nan`. No errors to raise.
#
# Example: `cross_entropy_grad(np.log([1.0, 2.0, 3.0]), 1)` is $(\tfrac{1}{6}, -\tfrac{2}{3}, \tfrac{1}{2})$.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "4_3-solution", "locked": false, "solution": true, "task": false}
def cross_entropy_grad(z: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The derivative of each example's loss by its scores: (..., V), (...) → (..., V)."""
    ### BEGIN SOLUTION
    return softmax(z) - one_hot(y, z.shape[-1])
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "4_3", "locked": true, "points": 5, "solution": false, "task": false}
check("4.3", cross_entropy_grad)
### BEGIN HIDDEN TESTS
from autograder.student import grade
grade("4.3", cross_entropy_grad)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>My rows sum to 1</summary>
#
# Then they are probabilities, and nothing has been subtracted. Which vector sums to 1 and knows which token came?
#
# </details>
# <details><summary>My rows sum to 0, yet the values are wrong</summary>
#
# Do you multiply by a derivative of softmax somewhere? $p - e_y$ is the derivative by the scores already; softmax is done.
#
# </details>
# <details><summary>Right for one vector, wrong for a batch</summary>
#
# `p[..., y] -= 1` takes the columns of *all* targets in *every* row. Each row loses 1 in one place only.
#
# </details>
# <details><summary>Everything is too small by the same factor</summary>
#
# Is there a division by the number of examples? Here each example is by itself.
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# What was expected minus what came. The one-hot vectors are made for all examples at once, and line up with the probabilities.
#
# {{solution 4.3}}

# %% [markdown]
# ### Five scores, four witnesses
#
# How sure are you? As sure as the independent ways that agree. Five random scores; your rule, lesson 3's engine (which knows nothing of softmax, only of sums, exponentials and a logarithm), finite differences and PyTorch.

# %%
with when_ready("4.1", "4.3"):
    rng = np.random.default_rng()  # new scores each time you run this
    z, y = rng.normal(size=5), int(rng.integers(5))

    leaves = [Value(score) for score in z]
    powers = [leaf.exp() for leaf in leaves]
    total = sum(powers[1:], powers[0])
    loss = total.log() - leaves[y]
    loss.backward()

    t = torch.tensor(z, requires_grad=True)
    torch.nn.functional.cross_entropy(t[None], torch.tensor([y])).backward()

    witnesses = {
        "cross_entropy_grad": cross_entropy_grad(z, y),
        "Value": np.array([leaf.grad for leaf in leaves]),
        "differences": numerical_gradient(lambda z: np.log(np.exp(z).sum()) - z[y], z),
        "PyTorch": t.grad.numpy(),
    }
    print(f"scores {z}, token {y} comes, loss {loss.data:.6f}")
    for name, gradient in witnesses.items():
        print(f"{name:<20}{gradient}   sum {shown(gradient.sum())}")
    spread = np.ptp(np.array(list(witnesses.values())), axis=0).max()
    print(f"largest disagreement: {spread:.1e}")
    show_graph(loss)

# %% [markdown]
# *The engine needed 18 nodes and a backward pass to find what your rule says in one line. That is the bargain of this lesson: find the rule of a whole block once, by hand, and never take the block apart again.*

# %% [markdown]
# ## Shapes tell you the rule
#
# The scores come out of an [affine map](../glossary.ipynb#affine-map): $q = W r + b$. Here is one with $n = 2$ inputs and $m = 3$ outputs. Say the adjoint $\bar q$ has arrived from above. What goes to $r$, to $W$, to $b$?
#
# | | forward | backward | shape of both |
# |---|---|---|---|
# | $r$ | `[1, 2]` | $\bar r$ = ? | `(2,)` |
# | $W$ | `[[1, 2], [0, −1], [3, 1]]` | $\bar W$ = ? | `(3, 2)` |
# | $b$ | `[0, 0, 0]` | $\bar b$ = ? | `(3,)` |
# | $q$ | `[5, −2, 5]` | $\bar q$ = `[1, −1, 2]` | `(3,)` |
#
# Go entry by entry. The input $r_0$ takes part in all three outputs, with the factors $1, 0, 3$ (column 0 of $W$), so it receives $1\cdot 1 + 0\cdot(-1) + 3\cdot 2 = 7$. In the same way $r_1$ receives $2\cdot 1 - 1\cdot(-1) + 1\cdot 2 = 5$. The weight $W_{01} = 2$ takes part in $q_0$ alone, with the factor $r_1 = 2$: it receives $1\cdot 2 = 2$. And each $b_i$ takes part in $q_i$ alone, with the factor 1. In general
#
# $$\bar r = W^\top\bar q,\qquad \bar W = \bar q\, r^\top,\qquad \bar b = \bar q.$$
#
# The entry $(i, j)$ of the [outer product](../glossary.ipynb#outer-product) $\bar q\,r^\top$ is $\bar q_i\,r_j$. And you need not remember which is which. Every adjoint has the [shape](../glossary.ipynb#shape) of what it is the adjoint of: of $W$ and $\bar q$, only $W^\top\bar q$ has shape `(2,)`; of $\bar q$ and $r$, only $\bar q\,r^\top$ has shape `(3, 2)`.

# %%
W = np.array([[1.0, 2.0], [0.0, -1.0], [3.0, 1.0]])
r, b = np.array([1.0, 2.0]), np.zeros(3)
q = W @ r + b
q_bar = np.array([1.0, -1.0, 2.0])  # change what arrives from above

print("q     =", q)
print("r_bar =", W.T @ q_bar)
print("W_bar =", np.outer(q_bar, r).tolist())
print("by differences:", numerical_gradient(lambda W: q_bar @ (W @ r + b), W).round(6).tolist())

if not quiet():
    draw_affine(W, r, q_bar)

# %% [markdown]
# *Second picture: row $i$ is $\bar q_i$ times the inputs. Fourth picture: what each output sends to each input; the sum of a row is that input's adjoint, $7$ and $5$.*
#
# **Several examples.** Put $B$ examples below each other, as rows: $r$ has shape `(B, n)` and $q$ has shape `(B, m)`. Each example has its own $\bar r$. But there is only **one** $W$ and one $b$, and every example uses them. They have fan-out, so they receive one message from each example, and messages are added.

# %% tags=["quiz"]
quiz("4.predict-batch", r"""
? `q_bar` has shape `(5, 3)` (5 examples, 3 outputs) and `r` has shape `(5, 2)`. Which expression has the shape of $W$, `(3, 2)`, and adds up the examples?
( ) `r.T @ q_bar` :: Shape `(2, 3)`: rows and columns exchanged. With a square $W$ nothing but the numbers would tell.
( ) `q_bar @ r.T` :: `(5, 3) @ (2, 5)` does not even fit.
( ) `(q_bar.T @ r) / 5` :: The shape fits, but the chain rule adds. If the loss is a mean, its 1/5 is already inside `q_bar`.
(x) `q_bar.T @ r` :: `(3, 5) @ (5, 2)`: the examples are what is summed over. Entry $(i, j)$ is $\sum_{\text{examples}} \bar q_i r_j$.

? And the gradient of $b$, shape `(3,)`?
( ) `q_bar` :: That has one row for each example. There is one $b$.
(x) `q_bar.sum(axis=0)` :: One message from each example, added, for each of the three outputs.
( ) `q_bar.mean(axis=0)` :: The right shape, and 5 times too small: contributions are added, not averaged.
( ) `q_bar.sum()` :: One number. Each output has a bias of its own.
""")

# %% [markdown]
# **A test without differences.** The check below uses a test of its own. Send a tangent forward through the example, $\dot r = (1, -1)$: $\dot q = W\dot r = (-1, 1, 2)$. Its dot product with $\bar q = (1, -1, 2)$ is $-1 - 1 + 4 = 2$. Now send $\bar q$ back, $\bar r = (7, 5)$, and take the dot product with $\dot r$: $7 - 5 = 2$. Whatever the two directions, both ways lead to one number. This is the [adjoint identity](../glossary.ipynb#adjoint-identity), with $\langle\cdot,\cdot\rangle$ for the dot product and $J$ for the Jacobian (of $q$ by $r$: $J = W$):
#
# $$\langle \bar q,\; J\dot r\rangle = \langle J^\top\bar q,\; \dot r\rangle = \langle\bar r,\; \dot r\rangle.$$

# %%
W = np.array([[1.0, 2.0], [0.0, -1.0], [3.0, 1.0]])
q_bar, r_dot = np.array([1.0, -1.0, 2.0]), np.array([1.0, -1.0])  # change both directions

print("forward: W r_dot =", W @ r_dot, "  dot product with q_bar:", q_bar @ (W @ r_dot))
print("back:    r_bar   =", W.T @ q_bar, "  dot product with r_dot:", (W.T @ q_bar) @ r_dot)

# %% [markdown]
# ### Exercise 4.4 The affine rule
#
# ●●●○○ · 10 minutes
#
# Write **`affine_vjp(W, r, q_bar)`**, the backward rule of $q = W r + b$.
#
# - `W`: `(m, n)`; `r`: `(..., n)`; `q_bar`: `(..., m)`, with the same axes in front: none for one vector, `(B,)` for a batch, or more. All float64.
# - Returns three arrays, in this order: `r_bar` of shape `(..., n)`; `W_bar` of shape `(m, n)` and `b_bar` of shape `(m,)`, both **summed over all axes in front**.
# - No errors to raise. Build no Jacobian.
#
# Useful: `a.reshape(-1, a.shape[-1])` lays all examples below each other, however many axes there are; of a single vector it makes one row.
#
# Example: for the $W$, $r$ and $\bar q$ above it returns `[7, 5]`, `[[1, 2], [−1, −2], [2, 4]]` and `[1, −1, 2]`.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "4_4-solution", "locked": false, "solution": true, "task": false}
def affine_vjp(W: np.ndarray, r: np.ndarray, q_bar: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The adjoints (r_bar, W_bar, b_bar) for q = W r + b, examples along the axes in front."""
    ### BEGIN SOLUTION
    examples_r = r.reshape(-1, r.shape[-1])
    examples_q_bar = q_bar.reshape(-1, q_bar.shape[-1])
    return q_bar @ W, examples_q_bar.T @ examples_r, examples_q_bar.sum(axis=0)
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "4_4", "locked": true, "points": 6, "solution": false, "task": false}
check("4.4", affine_vjp)
### BEGIN HIDDEN TESTS
from autograder.student import grade
grade("4.4", affine_vjp)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>matmul: mismatch in its core dimension</summary>
#
# Write the shapes under your expression and look at the two that meet. With examples as rows, $W^\top\bar q$ for every row at once is `q_bar @ W`: `(..., m) @ (m, n)`. It works for a single vector too.
#
# </details>
# <details><summary>My W_bar has the wrong shape, or the right one with the wrong numbers</summary>
#
# It must come out as `(m, n)`, like W. `(m, examples) @ (examples, n)` does that. The other way round it is transposed, and when W is square no shape complains.
#
# </details>
# <details><summary>Right for a batch, an error for one vector</summary>
#
# A single vector has no axis of examples to sum over. Give it one with `reshape(-1, ...)` before you multiply and sum.
#
# </details>
# <details><summary>My gradients of W and b are too small by the number of examples</summary>
#
# You average. The rule adds. Whoever wants a mean puts its 1/B into the loss, and from there it is in `q_bar` already.
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# Bring everything to one form first: examples as rows. Then one matrix product multiplies and adds up at the same time.
#
# {{solution 4.4}}
#
# For the middle one, `np.einsum("bi,bj->ij", examples_q_bar, examples_r)` says the same in letters: keep $i$ and $j$, sum over the examples $b$.

# %%
with when_ready("4.4"):
    rng = np.random.default_rng()
    for m, n in ((3, 2), (2, 5), (4, 4)):
        W, r, q_bar = rng.normal(size=(m, n)), rng.normal(size=n), rng.normal(size=m)
        r_dot = rng.normal(size=n)  # any direction
        r_bar, _, _ = affine_vjp(W, r, q_bar)
        forward, back = q_bar @ (W @ r_dot), r_bar @ r_dot
        print(f"W {m} × {n}:   forward ⟨q̄, W ṙ⟩ = {forward:+.12f}   back ⟨r̄, ṙ⟩ = {back:+.12f}")

# %% [markdown]
# *The adjoint identity, on your rule. If the two numbers differ, one of the two directions is wrong.*

# %% [markdown]
# ## Never build the Jacobian
#
# The rule $\bar W = \bar q\,r^\top$ looks too cheap. Where did the Jacobian go?
#
# Seen as a function of $W$, the map takes $m\cdot n$ numbers to $m$ numbers, so its Jacobian has $m\cdot mn$ entries. In the network of lesson 5 the first affine map has 128 outputs and 48 inputs. The gradient of its matrix has $128\cdot 48 = 6{,}144$ entries. The Jacobian on the way to it would have $128\cdot 6{,}144 = 786{,}432$. For a single example.
#
# And nearly all of it is 0: $W_{ij}$ enters $q_i$ and no other output.

# %%
def jacobian_by_weights(m: int, r: np.ndarray) -> np.ndarray:
    """∂q_i/∂W for q = W r + b, all of it: (m, m·n)."""
    J = np.zeros((m, m, len(r)))
    for i in range(m):
        J[i, i] = r
    return J.reshape(m, -1)


m, n = 128, 48  # the first affine map of lesson 5's network
rng = np.random.default_rng(4)
r, q_bar = rng.normal(size=n), rng.normal(size=m)


def seconds(f, repeat: int = 20) -> float:
    """The shortest of several runs."""
    times = []
    for _ in range(repeat):
        began = time.perf_counter()
        f()
        times.append(time.perf_counter() - began)
    return min(times)


J = jacobian_by_weights(m, r)
long_way, short_way = (J.T @ q_bar).reshape(m, n), np.outer(q_bar, r)
slow = seconds(lambda: jacobian_by_weights(m, r).T @ q_bar)
fast = seconds(lambda: np.outer(q_bar, r))
print(f"gradient: {short_way.size:,} entries")
print(f"Jacobian: {J.size:,} entries, of them zero: {(J == 0).sum():,}")
print(f"same numbers? largest difference {np.abs(long_way - short_way).max():.1e}")
print(f"with the Jacobian {slow * 1e6:,.0f} µs, outer product {fast * 1e6:,.0f} µs")

if not quiet():
    draw_jacobian(jacobian_by_weights(4, np.array([1.0, -0.5, 0.8, 0.3, -1.2, 0.6])), 4, 6)

# %% [markdown]
# *The picture is the Jacobian of a map with $m = 4$, $n = 6$: the input $r$, once in each row, and white zeros everywhere else. The outer product uses what is there and never writes down the rest. That is why libraries store one [VJP](../glossary.ipynb#VJP) for each operation, not one Jacobian.*

# %% [markdown]
# ## Back through the tanh
#
# Between the two affine maps of our model stands $h = \tanh u$, entry by entry. The vector $u$, before the tanh, is the [preactivation](../glossary.ipynb#preactivation). As in lesson 3, the slope of tanh comes from its *output*: if $h = 0.5$, the slope is $1 - 0.25 = 0.75$, and an upstream of $2$ becomes $1.5$. Nobody needs to remember $u$.
#
# Entry $i$ of $h$ depends on entry $i$ of $u$ alone. So the Jacobian is diagonal, and the whole rule is a product entry by entry, a [Hadamard product](../glossary.ipynb#Hadamard-product), written $\odot$:
#
# $$\bar u = \bar h\odot(1 - h\odot h).$$

# %% tags=["quiz"]
quiz("4.predict-tanh", r"""
? A hidden unit has gone to $h = -0.99$. An adjoint of $\bar h = 10$ arrives. About how much of it gets through to $u$?
( ) 19.9 :: That is $10\,(1 - h)$. The slope is $1 - h^2$: the same for $h$ and $-h$, and never above 1.
( ) 10 :: Then the slope would be 1, as it is at $h = 0$.
(x) 0.2 :: $1 - 0.9801 = 0.0199$, times 10. At the ends tanh is flat, and hardly anything gets through: the unit is *saturated*.
( ) −0.2 :: The slope of tanh is never negative.

? You have $u = 1$ and $h = \tanh 1 = 0.761594$. What happens if you compute the slope as $1 - u^2$?
( ) The same, because $u$ and $h$ are close :: They are not close enough: $1 - h^2 = 0.419974$.
( ) It says 1 :: That is the slope at 0.
( ) It says 0.419974 after all :: That is $1 - h^2$, from the output.
(x) It says 0, and blocks the signal completely :: $1 - 1 = 0$, where $0.419974$ is right. For larger $u$ it even turns the sign.
""")

# %%
if not quiet():
    u = np.linspace(-3, 3, 121)
    h = np.tanh(u)
    fig, ax = plt.subplots()
    ax.plot(u, h, label="h = tanh u", markevery=20)
    ax.plot(u, 1 - h**2, label="slope 1 − h²", markevery=20)
    ax.set(xlabel="preactivation u", ylabel="value", title="Where tanh is flat, nothing gets through")
    ax.legend()
    plt.show()

# %% [markdown]
# *The slope is 1 in the middle and falls to 0 at both ends.*
#
# ### Exercise 4.5 The tanh rule
#
# ●○○○○ · 3 minutes
#
# Write **`tanh_vjp(h, h_bar)`**.
#
# - `h`: the **output** of tanh, float64, any shape; `h_bar`: its adjoint, same shape.
# - Returns `u_bar`, same shape. Both arguments stay as they were.
# - No errors to raise.
#
# Example: `tanh_vjp(np.array([0.0, 0.5, -0.8]), np.array([1.0, 2.0, -1.0]))` is $(1, 1.5, -0.36)$.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "4_5-solution", "locked": false, "solution": true, "task": false}
def tanh_vjp(h: np.ndarray, h_bar: np.ndarray) -> np.ndarray:
    """The adjoint of u for h = tanh(u), from the output h."""
    ### BEGIN SOLUTION
    return h_bar * (1 - h * h)
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "4_5", "locked": true, "points": 3, "solution": false, "task": false}
check("4.5", tanh_vjp)
### BEGIN HIDDEN TESTS
from autograder.student import grade
grade("4.5", tanh_vjp)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>I do not have u</summary>
#
# You do not need it. $1 - \tanh^2 u$ is $1 - h^2$.
#
# </details>
# <details><summary>It is a little off everywhere except at 0</summary>
#
# Do you apply tanh once more? `h` is the output already.
#
# </details>
# <details><summary>It says that I changed an argument</summary>
#
# `h_bar *= ...` writes into the array that you were given.
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# Upstream times slope, entry by entry. `*` is the Hadamard product.
#
# {{solution 4.5}}

# %% [markdown]
# ## A row that is read twice
#
# How does a token, a mere number, get into a network? Through a table: the [embedding](../glossary.ipynb#embedding) matrix $C$, with one row of $d$ numbers for each token. A context of $k$ tokens reads its $k$ rows and joins them end to end, by [concatenation](../glossary.ipynb#concatenation), into one vector $x$ of length $kd$.
#
# Take $V = 3$ tokens, $d = 2$, and the context $(a, b, a) = (0, 1, 0)$. Then $x = (C_0, C_1, C_0)$, six numbers. Say $\bar x = (1, 2,\; 3, 4,\; 5, 6)$ comes back. Cut it into blocks of length $d$. Block 0, $(1, 2)$, belongs to what stood at position 0: row $a$. Block 1, $(3, 4)$: row $b$. Block 2, $(5, 6)$: row $a$ again. Row $a$ was read twice, so it has fan-out and receives two messages:
#
# $$\bar C_a = (1, 2) + (5, 6) = (6, 8),\qquad \bar C_b = (3, 4),\qquad \bar C_c = (0, 0).$$
#
# Row $c$ was not read. Nudging it cannot move the loss, so its gradient is exactly 0.
#
# Adding blocks into rows named by an index is called [scatter-add](../glossary.ipynb#scatter-add). That one row serves many positions is [parameter sharing](../glossary.ipynb#parameter-sharing): one row, one value, one gradient, summed over all its uses.

# %% tags=["quiz"]
quiz("4.predict-scatter", r"""
? Three marks are put into an array of zeros by index, in one line: `a[[0, 1, 0]] += 1`. What is `a` afterwards?
( ) `[2, 1, 0]` :: So one would think: index 0 is named twice. Run the next cell.
( ) `[1, 1, 1]` :: Index 2 is not named at all.
(x) `[1, 1, 0]` :: NumPy reads `a[[0, 1, 0]]` once, adds 1 to the three numbers that it got, and writes them back. Place 0 is written twice, both times with 1.
( ) An error: index 0 occurs twice :: No error, no warning. That is what makes it dangerous.
""")

# %%
a = np.zeros(3)
a[[0, 1, 0]] += 1
print("a[[0, 1, 0]] += 1        ", a)

a = np.zeros(3)
for index in [0, 1, 0]:
    a[index] += 1
print("the same, one at a time  ", a)

if not quiet():
    draw_scatter(np.arange(1.0, 7.0), [0, 1, 0], np.array([[6.0, 8.0], [3.0, 4.0], [0.0, 0.0]]), "abc")

# %% [markdown]
# *Two arrows end at row a, none at row c.*
#
# ### Exercise 4.6 The embedding rule
#
# ●●●○○ · 8 minutes
#
# Write **`embedding_vjp(vocab_size, context, x_bar)`**.
#
# - `vocab_size`: $V$; `context`: int64 array `(..., k)` of token numbers; `x_bar`: float64 `(..., k*d)`. $d$ follows from the two shapes.
# - Returns `C_bar` of shape `(V, d)`: all blocks of all examples, each added into the row of its token. Rows of tokens that do not occur are exactly 0.
# - No errors to raise.
#
# Example: `embedding_vjp(3, np.array([0, 1, 0]), np.array([1.0, 2, 3, 4, 5, 6]))` is `[[6, 8], [3, 4], [0, 0]]`.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "4_6-solution", "locked": false, "solution": true, "task": false}
def embedding_vjp(vocab_size: int, context: np.ndarray, x_bar: np.ndarray) -> np.ndarray:
    """The gradient of the embedding matrix C (V, d), given that of the concatenated rows."""
    ### BEGIN SOLUTION
    d = x_bar.shape[-1] // context.shape[-1]
    C_bar = np.zeros((vocab_size, d))
    np.add.at(C_bar, context, x_bar.reshape(*context.shape, d))
    return C_bar
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "4_6", "locked": true, "points": 6, "solution": false, "task": false}
check("4.6", embedding_vjp)
### BEGIN HIDDEN TESTS
from autograder.student import grade
grade("4.6", embedding_vjp)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>I do not know how to cut x_bar into blocks</summary>
#
# `x_bar.reshape(*context.shape, d)` has one block of length `d` for each entry of `context`, in the same places. Mind the order of the axes: position first, then the `d` numbers.
#
# </details>
# <details><summary>A token that stands twice gets only its last block</summary>
#
# That is the trap of the prediction above. Add one block at a time, in a loop, or let NumPy do so: `np.add.at(array, indices, values)` adds every value, repeated indices and all.
#
# </details>
# <details><summary>One example is right, a batch is not</summary>
#
# All examples read the same table. Lay positions of all examples below each other, tokens in one list, blocks in another, and go through both together.
#
# </details>
# <details><summary>Rows of absent tokens hold strange numbers</summary>
#
# `np.empty` takes memory as it finds it. Start from `np.zeros`.
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# Cut, then scatter. `np.add.at` is the addition that does not forget repeated indices.
#
# {{solution 4.6}}
#
# A loop is as good: `for token, block in zip(context.reshape(-1), x_bar.reshape(-1, d)): C_bar[token] += block`. So is a product with one-hot rows, `one_hot(tokens, V).T @ blocks`: looking up a row is multiplying by a one-hot vector, so this is the affine rule in disguise. It is slower, because it multiplies mostly zeros.

# %% [markdown]
# ## One complete backward pass
#
# Now all the pieces of the model are there. It is the neural [n-gram model](../glossary.ipynb#n-gram-model) of Bengio, Ducharme, Vincent and Jauvin (2003), in its simplest form. It looks at $k$ tokens and predicts the next one; $n = k + 1$ tokens in a row are an n-gram.
#
# $$\text{context}\to x \xrightarrow{\;W_1, b_1\;} u \xrightarrow{\;\tanh\;} h \xrightarrow{\;W_2, b_2\;} z \longrightarrow \ell = -z_y + \operatorname{lse}(z)$$
#
# Its parameters are a plain dict. With $V$ tokens, embeddings of length $d$, a context of $k$ tokens and $h$ hidden units:
#
# | name | shape | what it is |
# |---|---|---|
# | `C` | `(V, d)` | embedding matrix |
# | `W1`, `b1` | `(h, k*d)`, `(h,)` | first affine map, to the hidden layer |
# | `W2`, `b2` | `(V, h)`, `(V,)` | second affine map, to the scores |
#
# The entries of $h$ are called hidden units: they are neither input nor output. The vector $h$ is the hidden [representation](../glossary.ipynb#representation) of the context. (The letter also counts the hidden units. The shapes tell which is meant.)

# %%
if not quiet():
    draw_network()

# %% [markdown]
# *Solid, above: the forward pass and its parameters. Dashed, below: the backward pass, which meets the same arrays in the opposite order; an arrow → names the parameters whose gradient a rule makes. At each step it needs the values that the forward pass left: `x` and `h` for the two affine rules, `h` for tanh, `z` for the error signal. So the forward pass keeps them.*
#
# ## The batch coordinate
#
# $B$ examples travel together: contexts `(B, k)`, targets `(B,)`, and every value in between gets an axis of length $B$ in front. A single example is $B = 1$; it needs no rule of its own. Examples are rows, so the affine map reads $u = x\,W_1^\top + b_1$: `x @ W1.T + b1`, `(B, kd) @ (kd, h)`.
#
# The loss of the batch is the **mean** of its losses. If two examples have losses 1 and 3, the mean is 2, and a nudge that raises the first loss by $\varepsilon$ raises the mean by $\tfrac12\varepsilon$. So each error signal is halved. In general,
#
# $$L = \frac1B\sum_{i=1}^{B}\ell_i,\qquad\text{so}\qquad \bar z = \frac1B\,(p - e_y)\ \text{ for each example.}$$
#
# That is the one place where $1/B$ enters: at the scores. From there every adjoint carries it along, and the rules of 4.4 and 4.6 simply add. Put it in twice and all gradients are $B$ times too small. Forget it, and they are $B$ times too large.

# %% tags=["quiz"]
quiz("4.predict-order", r"""
? In which order does the backward pass make the gradients of the parameters?
(x) `W2` and `b2`, then `W1` and `b1`, then `C` :: Each needs the adjoint of what its map produced, and those arrive from the loss: $\bar z$, then $\bar u$, then $\bar x$.
( ) `C`, `W1`, `b1`, `W2`, `b2`: the order in which they are used :: That is the forward order. Going back, the last map comes first.
( ) All at once; they do not depend on each other :: $\bar u$ is needed for $\bar W_1$, and it comes from $\bar h$, which comes from $\bar z$.
( ) Any order will do, as long as all are made :: Whoever fires early has not received its messages yet.

? You have $\bar W_2$, and to save memory you update $W_2$ at once, before going on. What happens?
( ) Nothing: $W_2$ is not needed any more :: It is. $\bar h = W_2^\top\bar z$ needs it.
( ) The training gets faster, because newer weights are better weights :: The derivative is that of the loss which was computed, with the weights that computed it.
(x) $\bar h$ is computed with a $W_2$ that the forward pass never saw :: And with $\bar h$ everything further back is a little wrong: $\bar u$, $\bar W_1$, $\bar b_1$, $\bar x$, $\bar C$. First all gradients, then the updates.
( ) An error is raised :: Nobody notices. That is what makes it dangerous.
""")

# %% [markdown]
# ### Exercise 4.7 Forward and backward
#
# ●●●●○ · 15 minutes
#
# Write **`ngram_forward(params, contexts)`** and **`ngram_backward(params, contexts, targets)`**.
#
# - `params`: dict with float64 arrays `C (V, d)`, `W1 (h, k*d)`, `b1 (h,)`, `W2 (V, h)`, `b2 (V,)`; `contexts`: int64 `(B, k)`; `targets`: int64 `(B,)`.
# - `ngram_forward` returns a dict with `x (B, k*d)`, `u (B, h)`, `h (B, h)`, `z (B, V)`.
# - `ngram_backward` returns a pair `(loss, gradients)`: the **mean** loss in nats, a float; and a dict with nine arrays. Under `"z"`, `"h"`, `"u"`, `"x"` stand the adjoints of those four; under `"W2"`, `"b2"`, `"W1"`, `"b1"`, `"C"` the gradients of the parameters. All of them are derivatives of the mean loss, and each has the shape of what it belongs to.
# - Nothing in `params` is changed. No errors to raise. Use the rules that you have.
#
# Looking up rows: `C[contexts]` has shape `(B, k, d)`.
#
# Example: let all parameters be 0, $V = 3$, and one example ($B = 1$) with target 1. Every token gets probability $\tfrac{1}{3}$, so the loss is $\log 3 = 1.098612$. `"z"` holds `[[1/3, −2/3, 1/3]]`, `"b2"` the same three numbers, and everything further back is 0.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "4_7-solution", "locked": false, "solution": true, "task": false}
def ngram_forward(params: dict, contexts: np.ndarray) -> dict:
    """The values x, u, h, z of a batch."""
    ### BEGIN SOLUTION
    x = params["C"][contexts].reshape(len(contexts), -1)
    u = x @ params["W1"].T + params["b1"]
    h = np.tanh(u)
    z = h @ params["W2"].T + params["b2"]
    return {"x": x, "u": u, "h": h, "z": z}
    ### END SOLUTION


def ngram_backward(params: dict, contexts: np.ndarray, targets: np.ndarray) -> tuple[float, dict]:
    """The mean loss of a batch, and its derivatives: z, h, u, x, W2, b2, W1, b1, C."""
    ### BEGIN SOLUTION
    values = ngram_forward(params, contexts)
    loss = float(cross_entropy(values["z"], targets).mean())
    bar = {"z": cross_entropy_grad(values["z"], targets) / len(targets)}
    bar["h"], bar["W2"], bar["b2"] = affine_vjp(params["W2"], values["h"], bar["z"])
    bar["u"] = tanh_vjp(values["h"], bar["h"])
    bar["x"], bar["W1"], bar["b1"] = affine_vjp(params["W1"], values["x"], bar["u"])
    bar["C"] = embedding_vjp(len(params["C"]), contexts, bar["x"])
    return loss, bar
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "4_7", "locked": true, "points": 10, "solution": false, "task": false}
check("4.7", ngram_forward, ngram_backward)
### BEGIN HIDDEN TESTS
from autograder.student import grade
grade("4.7", ngram_forward, ngram_backward)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>I do not know where to begin with the backward pass</summary>
#
# At the loss. Read the forward pass from its last line up. For each line there is one rule of yours, and each rule wants two things: what the forward pass left there, and the adjoint of that line's result.
#
# </details>
# <details><summary>All my gradients are exactly B times too large, or too small</summary>
#
# 1/B enters once, at `z`. Too large: it is missing. Too small: it is there twice, perhaps a `mean` in one of the rules.
#
# </details>
# <details><summary>My gradient of W2 is wrong although its shape is right</summary>
#
# The affine rule wants what W2 was multiplied with. Was that `u` or `h`?
#
# </details>
# <details><summary>x comes out in a strange order</summary>
#
# `C[contexts]` has the axes batch, position, coordinate. Join the last two: `reshape(B, -1)` keeps the order, first the whole row of the first token, then that of the second.
#
# </details>
# <details><summary>Everything is right for z, W2, b2 and wrong from h on</summary>
#
# Is `params["W2"]` still what it was on the way forward?
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# Five steps forward, five back. Read the two functions side by side, one from the top, the other from the bottom.
#
# {{solution 4.7}}
#
# Nothing here is special to this network. Another layer would be one more line forward and one more rule back. That is what PyTorch does for you: it keeps the list of lines, and it brings the rules.

# %% [markdown]
# Now set it against two witnesses, in a network of lesson 5's size: 65 tokens, $d = 16$, $k = 3$, 128 hidden units. Finite differences need two forward passes for *each* parameter, so we ask them about a few random ones only.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "given-torch", "locked": true, "solution": false, "task": false} jupyter={"source_hidden": true}
# PyTorch as a witness, and a network to try things on. Given: run it and go on.
def torch_gradients(params: dict, contexts: np.ndarray, targets: np.ndarray) -> dict:
    """The derivatives of the mean loss for z, h, u, x, W2, b2, W1, b1, C, by PyTorch in float64."""
    t = {name: torch.tensor(array, dtype=torch.float64, requires_grad=True) for name, array in params.items()}
    t["x"] = t["C"][torch.tensor(contexts)].flatten(1)
    t["u"] = t["x"] @ t["W1"].T + t["b1"]
    t["h"] = torch.tanh(t["u"])
    t["z"] = t["h"] @ t["W2"].T + t["b2"]
    loss = torch.nn.functional.cross_entropy(t["z"], torch.tensor(targets))
    names = ["z", "h", "u", "x", "W2", "b2", "W1", "b1", "C"]
    return {n: g.numpy() for n, g in zip(names, torch.autograd.grad(loss, [t[n] for n in names]), strict=True)}


def random_network(V: int, d: int, k: int, h: int, B: int, scale: float = 0.3):
    """Random parameters, contexts and targets."""
    rng = np.random.default_rng(4)
    shapes = {"C": (V, d), "W1": (h, k * d), "b1": (h,), "W2": (V, h), "b2": (V,)}
    params = {name: rng.normal(scale=scale, size=shape) for name, shape in shapes.items()}
    return params, rng.integers(V, size=(B, k)), rng.integers(V, size=B)

# %%
with when_ready("4.1", "4.2", "4.3", "4.4", "4.5", "4.6", "4.7"):
    params, contexts, targets = random_network(V=65, d=16, k=3, h=128, B=32, scale=0.1)
    loss, gradients = ngram_backward(params, contexts, targets)
    theirs = torch_gradients(params, contexts, targets)
    P = sum(array.size for array in params.values())
    print(f"{P:,} parameters; mean loss {loss:.4f} nats; knowing nothing costs log 65 = {math.log(65):.4f}")

    rng = np.random.default_rng()
    print(f"{'parameter':<16}{'yours':>14}{'differences':>14}{'PyTorch':>14}")
    for name in ("C", "W1", "b1", "W2", "b2"):
        place = tuple(int(rng.integers(n)) for n in params[name].shape)
        if name == "C":
            place = (int(contexts[0, 0]), place[1])  # a row that is read

        def loss_with(entry, name=name, place=place):
            changed = params[name].copy()
            changed[place] = entry
            values = ngram_forward({**params, name: changed}, contexts)
            return cross_entropy(values["z"], targets).mean()

        step = 1e-5
        slope = (loss_with(params[name][place] + step) - loss_with(params[name][place] - step)) / (2 * step)
        three = (gradients[name][place], slope, theirs[name][place])
        print(f"{name + str(list(place)):<16}" + "".join(f"{x:>14.9f}" for x in three))

    one = seconds(lambda: ngram_forward(params, contexts), 5)
    both = seconds(lambda: ngram_backward(params, contexts, targets), 5)
    print(f"one forward pass {one * 1e3:.2f} ms; forward and backward {both * 1e3:.2f} ms")
    print(f"all derivatives by differences: {2 * P:,} forward passes, {2 * P * one * 1e3:,.0f} ms")

# %% [markdown]
# *All 15,697 derivatives for the price of a few forward passes: lesson 3's cheap-gradient principle, on arrays. Guessing evenly gives each token $\tfrac{1}{65}$ and costs $\log 65$. A network with random weights has learned nothing yet, and costs about as much. Lesson 5 runs this pass many thousand times, through PyTorch, and changes that.*

# %% [markdown]
# ## Which rows break
#
# When a backward pass is wrong, the final gradients say little. What helps is to hold *every* array of the pass against a trusted one: first the four adjoints from the loss back, `z h u x`, then the gradients that they lead to, `W2 b2 W1 b1 C`. And then to look for the **first** that departs.
#
# Three questions about two arrays of the same shape:
#
# - Are they **exactly** equal, in every bit? Two correct programs may differ here: floating-point sums depend on their order.
# - Are they **close**, equal up to rounding? `np.allclose(a, b)`.
# - What is the **largest difference**, in size, between two entries in the same place?
#
# ### Exercise 4.8 Compare
#
# ●●○○○ · 6 minutes
#
# Write **`compare(params, contexts, targets)`**.
#
# - It calls `ngram_backward(params, contexts, targets)` and `torch_gradients(params, contexts, targets)`, by these names. The second was given above; it returns a dict with the same nine names.
# - Returns a list of nine dicts, in the order `z h u x W2 b2 W1 b1 C`, each with `"name"` (a string), `"exact"` and `"close"` (True or False) and `"max_difference"` (a float).
# - No errors to raise.
#
# Example: if an entry of yours is 0.25 below PyTorch's and all others are equal, its row says `exact` False, `close` False, `max_difference` 0.25.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "4_8-solution", "locked": false, "solution": true, "task": false}
def compare(params: dict, contexts: np.ndarray, targets: np.ndarray) -> list[dict]:
    """Your nine arrays against PyTorch's: z h u x W2 b2 W1 b1 C."""
    ### BEGIN SOLUTION
    _, mine = ngram_backward(params, contexts, targets)
    theirs = torch_gradients(params, contexts, targets)
    return [
        {
            "name": name,
            "exact": np.array_equal(mine[name], theirs[name]),
            "close": np.allclose(mine[name], theirs[name]),
            "max_difference": float(np.abs(mine[name] - theirs[name]).max()),
        }
        for name in ("z", "h", "u", "x", "W2", "b2", "W1", "b1", "C")
    ]
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "4_8", "locked": true, "points": 4, "solution": false, "task": false}
check("4.8", compare)
### BEGIN HIDDEN TESTS
from autograder.student import grade
grade("4.8", compare)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>exact is an array of True and False</summary>
#
# `a == b` compares entry by entry. All of them have to be equal: `np.array_equal(a, b)`.
#
# </details>
# <details><summary>max_difference is 0, or negative, although the arrays differ</summary>
#
# Differences have signs, and the largest of `-0.25` and `0` is 0. Take sizes (`np.abs`) before you take the largest.
#
# </details>
# <details><summary>exact is False although everything is right</summary>
#
# That may well be. PyTorch adds in another order than NumPy, and the last bits differ. Ask `close`.
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# Three questions about two arrays, three calls. Sizes are taken before the largest is, so that a difference below counts like one above.
#
# {{solution 4.8}}
#
# Why ask for `exact` at all? If a row is exact, nothing about it needs explaining. If it is merely close, you know that the two programs did the same sums in another order.

# %%
def print_rows(rows) -> None:
    """The rows of compare as a table."""
    print(f"{'':<5}{'exact':<8}{'close':<8}largest difference")
    for row in rows:
        exact, close = ("yes" if row[key] else "no" for key in ("exact", "close"))
        print(f"{row['name']:<5}{exact:<8}{close:<8}{row['max_difference']:.1e}")


with when_ready("4.1", "4.2", "4.3", "4.4", "4.5", "4.6", "4.7", "4.8"):
    small = random_network(V=6, d=2, k=3, h=4, B=4)
    print_rows(compare(*small))

# %% [markdown]
# *Close everywhere, with differences around $10^{-17}$. Exact in few rows or in none: PyTorch adds up in another order, and the last bits depend on that.*
#
# Now break it on purpose. The next cell puts another function in place of one of yours, for a moment.

# %% tags=["quiz"]
quiz("4.predict-rows", r"""
? You drop the factor $1 - h^2$ from the tanh rule. Which rows break?
( ) All nine :: What the pass made before it reached tanh cannot know: `z`, `W2`, `b2`, `h` are done by then.
( ) Only `u` :: `W1`, `b1` and `x` are computed from the adjoint of `u`, and `C` from that of `x`.
( ) `h` and `u` :: The adjoint of `h` is made by the affine rule of the *second* map, before tanh has its turn.
(x) `u`, `x`, `W1`, `b1`, `C` :: `u` is the first that the factor touches, and everything further back is made from it.

? The embedding rule keeps only the last block of a repeated token. Which rows break?
( ) `x` and `C` :: The adjoint of `x` is what the rule is given.
(x) Only `C`, and only if some token repeats in the batch :: It is the last rule of the pass; nothing is made from its result. Without repetition it even looks right.
( ) All rows of the first layer :: They are done before.
( ) None: a repeated token has the same row anyway :: That is why both of its blocks must be added there.
""")

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "given-instead", "locked": true, "solution": false, "task": false} jupyter={"source_hidden": true}
# Put another function in place of one of yours, for a moment. Given: run it and go on.
from contextlib import contextmanager


@contextmanager
def instead_of(**functions):
    """Inside `with instead_of(tanh_vjp=f)` the name tanh_vjp means f; afterwards everything is as before."""
    before = {name: globals()[name] for name in functions}
    globals().update(functions)
    try:
        yield
    finally:
        globals().update(before)

# %%
with when_ready("4.1", "4.2", "4.3", "4.4", "4.5", "4.6", "4.7", "4.8"):
    small = random_network(V=6, d=2, k=3, h=4, B=4)
    original = affine_vjp

    def without_the_bias_sum(W, r, q_bar):
        r_bar, W_bar, _ = original(W, r, q_bar)
        return r_bar, W_bar, q_bar[0]  # the first example only

    def last_block_only(vocab_size, context, x_bar):
        C_bar = np.zeros((vocab_size, x_bar.shape[-1] // context.shape[-1]))
        C_bar[context] += x_bar.reshape(*context.shape, -1)
        return C_bar

    dropped = {
        "− e_y": {"cross_entropy_grad": lambda z, y: softmax(z)},
        "1 − h²": {"tanh_vjp": lambda h, h_bar: h_bar},
        "sum for b": {"affine_vjp": without_the_bias_sum},
        "repeats": {"embedding_vjp": last_block_only},
    }
    verdicts = {}
    for what, functions in dropped.items():
        with instead_of(**functions):
            rows = compare(*small)
        verdicts[what] = [row["close"] for row in rows]
        broken = [row["name"] for row in rows if not row["close"]]
        print(f"without {what:<10} breaks: {' '.join(broken) or 'nothing'}")
    names = [row["name"] for row in rows]
    if not quiet():
        draw_verdicts(verdicts, names)

# %% [markdown]
# *Read each column from the top: the first ✗ names the place to look at. Without $1 - h^2$ that is `u`, the result of the tanh rule. If the adjoints are all right and only a gradient is not, the fault is in the rule that makes that gradient: nothing further is made from it. (If a column shows no ✗ at all, your `ngram_backward` does not call that function: you have written its rule out in place.)*

# %% [markdown]
# ## The reunion table
#
# The course keeps one table: the two derivatives of the running example $L = (ab + a)\tanh b$ at $(1.5, -0.7)$, reached in ever other ways. This lesson adds the last row, with the array rules. A product of two numbers is an affine map with a $1 \times 1$ matrix: $u = ab$ has $W = (b)$ and $r = (a)$, so $\bar r$ is $\bar a$ and $\bar W$ is $\bar b$.

# %%
with when_ready("4.4", "4.5"):
    a, b = 1.5, -0.7
    v, w = a * b + a, math.tanh(b)
    one = np.ones(1)

    v_bar, w_bar, _ = affine_vjp(np.array([[w]]), np.array([v]), one)  # L = w·v
    b_from_w = tanh_vjp(np.array([w]), w_bar[0])  # w = tanh b
    a_from_u, b_from_u, _ = affine_vjp(np.array([[b]]), np.array([a]), v_bar)  # u = b·a, and ū = v̄
    a_bar, b_bar = v_bar + a_from_u, b_from_w + b_from_u[0]

    def running(ab):
        return (ab[0] * ab[1] + ab[0]) * math.tanh(ab[1])

    t = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in (a, b)]
    ((t[0] * t[1] + t[0]) * torch.tanh(t[1])).backward()
    reunion = {
        "1  differences": numerical_gradient(running, [a, b]),
        "3  adjoints by hand": [w + w * b, v * (1 - w * w) + w * a],
        "3  PyTorch": [x.grad.item() for x in t],
        "4  array rules": [a_bar[0], b_bar[0]],
    }
    print(f"{'lesson, way':<26}{'∂L/∂a':>12}{'∂L/∂b':>12}")
    for way, (da, db) in reunion.items():
        print(f"{way:<26}{shown(da):>12}{shown(db):>12}")

# %% [markdown]
# *−0.181310 and −0.620919, once more. The other rows (paths, tangents, Dual, Value) stand in the notebooks of lessons 1 to 3.*

# %% [markdown]
# ## In your own words
#
# Two questions, marked by a person against a rubric. Write as if to a classmate who missed this lesson: full sentences, formulas where they help. Half a page each is plenty.

# %% [markdown] nbgrader={"schema_version": 3, "grade": false, "grade_id": "4_written-rubric", "locked": true, "points": 0, "solution": false, "task": true}
# **(a) The error signal.** Derive $\nabla_z\,\ell = p - e_y$ from $\ell = -z_y + \operatorname{lse}(z)$. Then explain, without adding up the entries of your formula, why they must sum to 0.
#
# **(b) The affine rule.** Let $q = W r + b$ with $W \in \mathbb R^{m\times n}$, and let $\bar q$ be given. Derive $\bar r$, $\bar W$ and $\bar b$ coordinate by coordinate, then write each of them as a formula with arrays, and check the three shapes. What changes when $B$ examples share $W$ and $b$?
#
# ### BEGIN MARK SCHEME
# **Rubric, 8 points.**
#
# (a), 4 points
#
# - 1: $\partial(-z_y)/\partial z_j$ is $-1$ for $j = y$ and 0 otherwise, that is $-e_y$.
# - 1: $\partial\operatorname{lse}/\partial z_j = e^{z_j}/\sum_c e^{z_c} = p_j$, with the chain rule for log and sum visible.
# - 1: the two are added, for every $j$, to $p - e_y$.
# - 1: the sum is the derivative in the direction $(1, \dots, 1)$, a common shift of all scores, and a common shift leaves the loss as it is: lse grows by exactly what $z_y$ grows. ("p and e_y both sum to 1" is true but is the addition that the question excludes: no point.)
#
# (b), 4 points
#
# - 1: $q_i = \sum_j W_{ij} r_j + b_i$ is the starting point, and messages are summed over the outputs: $\bar r_j = \sum_i \bar q_i W_{ij}$.
# - 1: $\bar W_{ij} = \bar q_i r_j$ (only $q_i$ depends on $W_{ij}$) and $\bar b_i = \bar q_i$.
# - 1: $\bar r = W^\top\bar q$ of shape $(n,)$, $\bar W = \bar q\,r^\top$ of shape $(m, n)$, $\bar b = \bar q$ of shape $(m,)$: all three, each with the shape of what it belongs to.
# - 1: with $B$ examples $\bar r$ stays one for each example, $\bar W$ and $\bar b$ are sums over the examples, because the one $W$ and the one $b$ are used by all of them.
#
# **Comments ready to use.** Type a code, `#two-terms` say, into the comment box under the answer, several if you like, with words of your own around them. The student's feedback shows the whole text instead.
#
# - `#two-terms` Take the two terms of the loss one by one, and let each answer to one score, the target's or another. Reread *The output error signal*.
# - `#log-of-a-sum` How lse answers to a score is stated and not derived. Two functions stand one inside the other; give the derivative of each. Reread *The output error signal*.
# - `#without-adding` This adds up the entries, which the question rules out. Look for a change of the scores of which the loss takes no notice, and say what derivative that makes zero. Reread *From scores to probabilities*.
# - `#coordinates` Begin with a single entry of q, written as a sum. Then ask of each entry of r, of W and of b: which entries of q does it take part in? Reread *Shapes tell you the rule*.
# - `#all-messages` An entry of r takes part in more than one output; your formula has the message of one. Reread *Shapes tell you the rule*.
# - `#shapes` Check the shapes: an adjoint has the shape of what it belongs to. At least one of your three products does not. Reread *Shapes tell you the rule*.
# - `#examples` With B examples, ask of each of the three: does every example have one of its own, or do they share it? What does the chain rule do where something is shared? Reread *The batch coordinate*.
#
# **Model answer.**
#
# (a) The loss has two terms. The first, $-z_y$, depends on $z_y$ only: its derivative by $z_j$ is $-1$ if $j = y$ and 0 otherwise, so its gradient is $-e_y$. The second is the logarithm of $s = \sum_c e^{z_c}$. The derivative of $\log s$ is $1/s$, and $\partial s/\partial z_j = e^{z_j}$, since only one summand contains $z_j$. So $\partial\operatorname{lse}/\partial z_j = e^{z_j}/\sum_c e^{z_c} = p_j$. Together $\partial\ell/\partial z_j = p_j - (e_y)_j$ for every $j$. Now the sum: if all scores are raised by the same $t$, then $z_y$ grows by $t$ and so does lse, because $\log\sum_c e^{z_c + t} = t + \log\sum_c e^{z_c}$. The loss does not change. Its derivative in the direction $(1, \dots, 1)$ is therefore 0, and that derivative is $\sum_j \partial\ell/\partial z_j\cdot 1$, the sum of the entries.
#
# (b) By coordinates $q_i = \sum_j W_{ij} r_j + b_i$. The input $r_j$ enters every output, $q_i$ with local derivative $W_{ij}$, so it receives $m$ messages: $\bar r_j = \sum_i \bar q_i W_{ij}$, which is entry $j$ of $W^\top\bar q$, of shape $(n,)$. The weight $W_{ij}$ enters $q_i$ only, with local derivative $r_j$: one message, $\bar W_{ij} = \bar q_i r_j$, which is entry $(i, j)$ of the outer product $\bar q\,r^\top$, of shape $(m, n)$. The bias $b_i$ enters $q_i$ only, with local derivative 1: $\bar b_i = \bar q_i$, of shape $(m,)$. With $B$ examples each has its own $r$ and $q$, so each has its own $\bar r$. But $W$ and $b$ are the same for all: they have fan-out over the examples, and receive one such message from each. So $\bar W = \sum_e \bar q^{(e)} r^{(e)\top}$ and $\bar b = \sum_e \bar q^{(e)}$. With examples as rows that is $\bar q^\top r$ with shapes $(m, B)(B, n)$, and the column sums of $\bar q$. No mean is taken here; if the loss is a mean, its $1/B$ is inside $\bar q$.
# ### END MARK SCHEME

# %% [markdown] nbgrader={"schema_version": 3, "grade": true, "grade_id": "4_written", "locked": false, "points": 8, "solution": true, "task": false}
# *Write your answer here, in place of this line.*

# %% [markdown]
# ## Check yourself
#
# Every option has something to say, the right ones too. Try as often as you like; nothing is stored or sent.

# %% tags=["quiz"]
quiz("4.quiz", r"""
? When is the correction at the scores largest?
( ) When the target was likely: success is rewarded :: At the target the entry is $p_y - 1$. For a likely target that is close to 0.
( ) When all probabilities are equal :: Then it is $1 - 1/V$ at the target. A model that was sure of something else gets more.
(x) When the target was unlikely :: The target's score is pulled up by $1 - p_y$, which is near 1 when the model was badly surprised.
( ) It has the same size for every example :: The entries add up to 0, but their size depends on $p$.

? What is $p - e_y$?
(x) The probabilities the model gave, minus the vector with all probability on what came :: A difference of two probability vectors. It is the adjoint of the scores.
( ) The predicted token minus the token that came :: Tokens are numbered, but the numbers are names. Token 7 is not "3 more" than token 4.
( ) The loss of each token :: The loss is one number, $-\log p_y$.
( ) The change of the scores that the optimizer makes :: It is a gradient. What is done with it is the optimizer's affair, and scores are not parameters.

? Every row of your gradient at the scores sums to 0, and yet it is wrong. What do you suspect?
( ) The one-hot vector was not subtracted :: Then the rows would sum to 1.
(x) An extra derivative of softmax :: Softmax's derivative $J$ times *any* vector sums to 0, so $J(p - e_y)$ does too. Compare the values.
( ) Only the diagonal of softmax's derivative was used :: Then the rows would not sum to 0.
( ) Nothing: rows that sum to 0 are right :: Necessary, not sufficient.

? Your gradients are all exactly 32 times too small, with batches of 32. What do you suspect?
( ) Old gradients were not cleared :: That makes them grow from step to step.
(x) The mean was taken twice :: Once at the scores, and once more in some rule on the way. It enters once.
( ) The mean over the batch is missing :: Then they would be 32 times too large.
( ) The learning rate is too small :: The gradient knows nothing of it.

? $W$ has shape $(m, n)$ with $m = n$. Your code computes $r^\top$ and $\bar q$ the wrong way round for $\bar W$. Which test notices? Tick all.
[ ] Comparing shapes :: Both are $(n, n)$. This is why one tests with shapes that are not square.
[x] Finite differences at a few random entries :: The numbers of a matrix and of its transpose differ, off the diagonal.
[ ] Whether the loss is right :: The loss comes from the forward pass. It says nothing about the backward pass.
[x] The same code on a map with $m \neq n$ :: Now the shape is wrong at once.

? A bias is used by all 8 examples of a batch. Its gradient, for the mean loss, is …
(x) … the sum of the 8 adjoints that arrive at it :: One message from each use, added. Each of them carries 1/8.
( ) … the mean of the 8 adjoints that arrive at it, since the loss is a mean :: The 1/8 is inside those adjoints already. Another mean would be one too many.
( ) … 8 gradients, one for each example :: One bias, one gradient.
( ) … that of the last example :: Gradients do not overwrite by default.

? The token "e" stands at positions 0 and 2 of a context. Then …
( ) … its embedding has a value for position 0 and another for position 2 :: A shared parameter has one value everywhere. What differs by position are the weights in $W_1$ that it meets.
( ) … its row receives the average of two blocks :: Nothing in the chain rule averages.
( ) … its row receives the block of position 2 only :: That is what `C_bar[context] += blocks` does, and it is wrong.
(x) … its row of $C$ receives the sum of two blocks :: One row, read twice: fan-out.

? Why is the Jacobian of the affine map by its weights never built?
(x) Because its product with the adjoint can be had directly, as an outer product :: 6,144 numbers instead of 786,432, nearly all of them zero.
( ) Because it does not exist for matrices :: It does. In the text you saw one.
( ) Because it would only be an approximation :: It is exact, and so is the rule without it.
( ) Because NumPy cannot multiply arrays of that size :: It can; 786,432 numbers are little. It is wasted work all the same, and grows fast.

? What is the least that has to be kept from the forward pass for the backward rule of $h = \tanh u$?
( ) $u$ and $h$, both :: One of them is enough.
( ) Only $\bar h$ :: That comes from the other side. The slope needs a value from the forward pass.
(x) $h$ :: The slope is $1 - h^2$. ($u$ instead would do, at the price of a second tanh.)
( ) Nothing :: Then the slope would have to be the same everywhere.

? Scores of $(0, 800)$ and the token 0 comes. Your code says `inf`. Where is the fault?
( ) Nowhere: the loss is infinite :: It is 800.
(x) The probability is formed before the logarithm :: $e^{-800}$ is 0 in float64, and $-\log 0$ is `inf`. From the scores: $-0 + 800$.
( ) A small constant is missing inside the logarithm :: It would hide the `inf` and say 16.1, still far from 800.
( ) float64 cannot hold 800 :: It holds numbers up to about $10^{308}$.

? By default gradients of a parameter that is used several times …
( ) … overwrite each other :: A widely held belief, and the fault behind many wrong engines.
( ) … are averaged :: They are added. If the loss is an average, its factor is inside each message already.
( ) … raise an error :: Parameter sharing is the normal case: every example uses all of $W_2$.
(x) … are added :: One message for each use.
""")

# %% [markdown]
# ## Common mix-ups
#
# - **Scores and probabilities.** A loss that takes scores must get scores. Softmax applied twice never gets below $\log(1 + (V-1)/e)$.
# - **$p - e_y$ and a difference of token numbers.** Token numbers are names.
# - **The sum and the mean.** Rules add. A mean enters once, with the loss.
# - **$W$ forward and $W^\top$ back.** The adjoint travels from outputs to inputs, so the matrix is transposed on the way back. A square $W$ hides the mistake.
# - **One gradient and one for each example.** $\bar r$ has the batch axis, $\bar W$ and $\bar b$ have not.
# - **Output and preactivation.** $1 - h^2$ with $h$, not with $u$.
# - **`+=` with repeated indices.** `C_bar[context] += blocks` keeps the last block only. `np.add.at` keeps all.
# - **Right shape and right numbers.** Shapes catch many mistakes before any number is looked at. They do not catch the rest.

# %% [markdown]
# ## What it can and cannot explain
#
# You can now say exactly how every parameter of this model affects the loss on a batch, and you know that nothing is hidden in it: four rules, and a sum wherever something is used more than once.
#
# You cannot say yet whether the model learns anything. A gradient is a direction for one small step on this batch. How large the step should be, which examples to take next, and whether the model does well on text that it has not seen are questions of optimization and of data: lesson 5.
#
# And a row of $C$ with a large gradient is a row whose nudge would change the loss a lot, here. It does not say what the row stands for.

# %% [markdown]
# ## Real-world reps
#
# - [ ] Take `logsumexp` to `[0.0, -np.inf]`. What should it be, and what does yours say? (A score of $-\infty$ is how masks forbid a token.)
# - [ ] In PyTorch, run `torch.nn.functional.cross_entropy` on probabilities instead of scores, for a model that is perfectly right. Find the floor $\log(1 + (V-1)/e)$ in the output.
# - [ ] Replace tanh in the network by ReLU: one line forward, one rule back. Let `compare` judge it (and change `torch_gradients` with it).
# - [ ] Add a second hidden layer. How many lines does your backward pass grow by?
# - [ ] Break one rule on purpose, hide which, and let a classmate find it from the table of `compare` alone.
# - [ ] Write down $\bar C$ for the context $(b, b, b)$ with $\bar x = (1, 2, 3, 4, 5, 6)$ before you run `embedding_vjp`.

# %%
with when_ready("4.6"):
    print(embedding_vjp(3, np.array([1, 1, 1]), np.arange(1.0, 7.0)))

# %% [markdown]
# ## Take it with you
#
# - From scores to the loss without a probability: $\ell = -z_y + \operatorname{lse}(z)$, with the largest score taken off first.
# - The backward pass starts from $p - e_y$, divided by $B$ once.
# - $\bar r = W^\top\bar q$, $\bar W = \bar q\,r^\top$, $\bar b = \bar q$. Every adjoint has the shape of its value; what is shared is summed.
# - tanh: times $1 - h^2$. Embedding: add each block into its token's row.
# - When a pass is wrong, compare array by array and look at the first one that departs.
#
# **Next:** lesson 5 hands this pass to PyTorch, and trains the model on text.

# %% [markdown]
# ## Going further
#
# - Bengio, Ducharme, Vincent, Jauvin: *A Neural Probabilistic Language Model* (2003). The model of this lesson, with its backward pass written out in the paper.
# - Griewank, Walther: *Evaluating Derivatives* (2nd edition, 2008). Why products with Jacobians are cheap and Jacobians are not.
# - Baydin, Pearlmutter, Radul, Siskind: *Automatic Differentiation in Machine Learning: a Survey* (2018). Where VJPs sit among everything else.
# - Olah: *Calculus on Computational Graphs: Backpropagation* (2015). Factoring paths, in pictures.
# - PyTorch: *Autograd mechanics*. Which values a real system keeps for the way back.
# - Karpathy: *nanoGPT*. Find the call of `cross_entropy` in it. Does it get scores or probabilities?
#
# More on the [resources page](../resources.ipynb); every term is in the [glossary](../glossary.ipynb).

# %% [markdown]
# ## Not landing?
#
# Go back to the primary source: for this lesson sections 2 and 3 of Bengio et al., or lesson 3's section on vectors if it is the VJP that feels slippery. A lesson compresses, and compression is where understanding leaks. Look up the terms in the [glossary](../glossary.ipynb).
#
# And if it is the lesson that is unclear, not the matter: that is a defect. Please open an issue and say where you stopped.
