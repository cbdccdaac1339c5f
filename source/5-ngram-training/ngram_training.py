# %% [markdown]
# # Lesson 5. Training the neural n-gram
#
# > **The idea to hold on to.** Backpropagation gives a direction; what comes of it depends on the data, the steps and the honesty of the measurement. When a model does badly, first ask whether it *cannot* or whether it *was not trained to*.
#
# **After this lesson you can**
#
# - turn a text into examples without letting the test leak into the training;
# - write a training step that clears, differentiates and updates in the right order;
# - say what a minibatch gradient estimates, and how its noise depends on the batch size;
# - measure a loss, in nats and in bits, and hold it against a counted baseline;
# - read a sweep without claiming more than it shows, and test a suspicion by an experiment of your own.
#
# **Time.** About 75 minutes for the core; the exercises marked (more) and the written questions come on top. [Place your bet](#Place-your-bet) is a good place for a break. From there on the computer has work too: two trainings, about half a minute each. Exercises are numbered by topic, so 5.9 and 5.11 come before 5.4.
#
# **Before this.** Lesson 4: the n-gram network and its backward pass. Lesson 3: gradients accumulate. A little PyTorch helps: a tensor is an array that can be asked for gradients. You need no other notebook.
#
# **Where this sits.** This is what the course was for. The chain rule, the two modes, the rules for arrays: PyTorch has them all inside, and you know what it does there. Now you train a language model with them, character by character, and let it write.

# %%
import itertools
import math
import random
import sys

import torch
import torch.nn.functional as F

from autograder.student import check, load_corpus, plot_style, quiet, quiz, start, when_ready

start("5-ngram-training", edition="classroom")
torch.set_num_threads(1)  # arrays this small are done faster by one thread than by two

# %% [markdown]
# Under every exercise stands one cell that calls `check`. Run it as often as you like. Below it are drawers with hints, each titled with a complaint; open the one that sounds like yours. When you are stuck for ten minutes, move on: every section can be read without the exercises before it.
#
# The next cell is folded. It holds helpers that draw. Run it; unfold it when you are curious.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "given-display", "locked": true, "solution": false, "task": false} jupyter={"source_hidden": true}
# Helpers that draw. Given: run it and go on.
if not quiet():
    import matplotlib.pyplot as plt

    plot_style()


def draw_windows(text: str, k: int, border: int) -> None:
    """A short text in boxes, cut at the border, with the windows of both parts below it."""
    _, ax = plt.subplots(figsize=(9, 3.4))
    ax.axis("off")
    for i, c in enumerate(text):
        colour = "#cfe3f1" if i < border else "#f7dcc9"
        box = plt.Rectangle((i, 0), 0.92, 0.92, facecolor=colour, edgecolor="#56606b")
        ax.add_patch(box)
        ax.text(i + 0.46, 0.46, c if c != " " else "␣", ha="center", va="center", family="monospace", fontsize=13)
    ax.axvline(border - 0.04, color="#1a1f26", linewidth=2, linestyle="-", marker="", ymin=0.05, ymax=0.95)
    row = 0
    for first, last in ((0, border), (border, len(text))):
        for i in range(first, last - k):
            y = -0.55 - 0.34 * (row % 5)
            ax.plot([i + 0.1, i + k - 0.2], [y, y], color="#0072B2", linewidth=4, linestyle="-", marker="")
            ax.plot([i + k + 0.46], [y], color="#D55E00", marker="D", linestyle="", markersize=6)
            row += 1
    ax.text(0, 1.25, "training", color="#00568a", fontsize=11)
    ax.text(border + 0.1, 1.25, "validation", color="#a34400", fontsize=11)
    ax.set(xlim=(-0.3, len(text) + 0.2), ylim=(-2.3, 1.7))
    ax.set_title(f"No window of {k} characters (bar) and target (diamond) crosses the border")
    plt.show()


def draw_network(d: int = 16, h: int = 128, V: int = 65) -> None:
    """The n-gram network with a context of three characters."""
    _, ax = plt.subplots(figsize=(9.2, 1.7))
    ax.set(xlim=(-0.7, 10.4), ylim=(-0.5, 1.2))
    ax.axis("off")
    box = {"boxstyle": "round,pad=0.4", "fc": "white", "ec": "#56606b"}
    values = [("context", "t h e"), ("x", f"3 × {d} numbers"), ("h", f"{h} hidden units"), ("z", f"{V} scores"), ("p", "probabilities")]
    nodes = [
        ax.text(2.4 * i, 0, f"{name}\n{what}", ha="center", va="center", fontsize=9, bbox=box) for i, (name, what) in enumerate(values)
    ]
    for i, step in enumerate(("C: look up", "W1, b1: affine,\nthen tanh", "W2, b2: affine", "softmax")):
        ends = {"patchA": nodes[i].get_bbox_patch(), "patchB": nodes[i + 1].get_bbox_patch(), "shrinkA": 2, "shrinkB": 2}
        ax.annotate("", (2.4 * i + 2.4, 0), (2.4 * i, 0), arrowprops={"arrowstyle": "-|>", "color": "#0072B2", "lw": 1.8, **ends})
        ax.text(2.4 * i + 1.2, 0.5, step, ha="center", va="bottom", fontsize=9, color="#00568a")
    ax.set_title("What is learned: C, W1, b1, W2, b2")
    plt.show()


def draw_lines(x, lines: dict, title: str, xlabel: str, ylabel: str, **settings) -> None:
    """One line for each entry of `lines`; settings go to the axes."""
    _, ax = plt.subplots()
    for label, y in lines.items():
        ax.plot(x, y, label=label, markevery=max(1, len(x) // 10))
    ax.set(xlabel=xlabel, ylabel=ylabel, **settings)
    ax.set_title(title)
    ax.legend()
    plt.show()


def draw_bars(heights: dict, title: str, ylabel: str, digits: int = 3) -> None:
    """One bar for each entry, with its number."""
    _, ax = plt.subplots(figsize=(6.8, 3.2))
    ax.bar(list(heights), list(heights.values()), color="#0072B2", width=0.55)
    for i, x in enumerate(heights.values()):
        ax.annotate(f"{x:.{digits}f}".replace("-", "−"), (i, x), (0, 3), textcoords="offset points", ha="center", fontsize=10)
    ax.margins(y=0.15)
    ax.set_ylabel(ylabel)
    ax.set_title(title)
    plt.show()


def draw_units(before: dict, after: dict, perm) -> None:
    """W1 and W2 of a small network before and after its hidden units are permuted."""
    fig, axes = plt.subplots(1, 4, figsize=(9, 2.8))
    old = [f"unit {i}" for i in range(len(perm))]
    new = [f"was {int(i)}" for i in perm]
    for ax, array, title, rows, columns in (
        (axes[0], before["W1"], "W1 before", old, None),
        (axes[1], before["W2"], "W2 before", None, old),
        (axes[2], after["W1"], "W1 after", new, None),
        (axes[3], after["W2"], "W2 after", None, new),
    ):
        array = array.detach().numpy()
        ax.imshow(array, cmap="PuOr", vmin=-abs(array).max(), vmax=abs(array).max(), aspect="auto")
        ax.set_xticks(range(array.shape[1]), columns or [""] * array.shape[1], rotation=90)
        ax.set_yticks(range(array.shape[0]), rows or [""] * array.shape[0])
        ax.tick_params(length=0)
        ax.grid(False)
        ax.set_title(title, fontsize=10, loc="center")
    fig.suptitle("Rows of W1 and columns of W2 move together", x=0.01, ha="left", fontweight="bold")
    plt.show()


def draw_curves(runs: dict, title: str) -> None:
    """Training loss against the step, one line for each run; each point is a mean over minibatches."""
    _, ax = plt.subplots(figsize=(7, 3.8))
    for label, run_ in runs.items():
        ax.plot(*zip(*run_["curve"], strict=True), label=label, markevery=8)
    ax.set(xlabel="step", ylabel="training loss (nats)")
    ax.set_ylim(top=min(3.2, ax.get_ylim()[1]))
    ax.set_title(title)
    ax.legend()
    plt.show()


def draw_by_context(lines: dict, title: str) -> None:
    """Losses against the context length; each line is a dict k → loss, entries that are None are left out."""
    _, ax = plt.subplots(figsize=(7, 3.8))
    for label, losses in lines.items():
        points = [(k, x) for k, x in losses.items() if x is not None]
        if points:
            ax.plot(*zip(*points, strict=True), label=label)
    ax.set_xticks([1, 3, 5, 8])
    ax.set(xlabel="context length k", ylabel="loss (nats per character)")
    ax.set_title(title)
    ax.legend()
    plt.show()

# %% [markdown]
# ## Warm-up
#
# Three questions on what you already know. Answer from memory first; that is what makes them work.

# %% tags=["quiz"]
quiz("5.warm-up", r"""
? A character stands at two places of a context. What is the gradient of its row of $C$?
( ) The one from the later place :: A widely held belief. By default contributions do not overwrite.
( ) The average of the two :: Nothing in the chain rule averages.
( ) There are two rows, one for each place :: A shared parameter has one value everywhere.
(x) The sum of what both places send back :: One row, read twice: fan-out. Its messages are added.

? The target had probability 0.25. What arrives at its score from this one example?
(x) −0.75 :: $p_y - 1$. A step against the gradient raises this score.
( ) 0.25 :: That is $p_y$. The one-hot vector still has to be taken off.
( ) 1.386 :: That is the loss, $-\log 0.25$.
( ) 4 :: $1/p_y$ is the size of the slope of $-\log p$ by the probability, not by the score.

? Which of these sentences are true? Tick all.
[ ] Backpropagation is another name for gradient descent :: One computes derivatives, the other is one way of using them.
[x] One backward pass gives the derivative of the loss by every parameter :: That is the cheap-gradient principle of lesson 3.
[x] A small step against the gradient lowers the loss on that batch :: If it is small enough. What it does on other text is another question.
[ ] A small step against the gradient lowers the loss on every text :: The gradient knows only the examples that it was computed from.
""")

# %% [markdown]
# ## Characters become numbers
#
# A language model needs [tokens](../glossary.ipynb#token). Ours are single characters. Take the text `abracadabra`. Its different characters, sorted, are `a b c d r`: the [vocabulary](../glossary.ipynb#vocabulary), $V = 5$. A character's number, its id, is its place there, so the text becomes
#
# $$0, 1, 4, 0, 2, 0, 3, 0, 1, 4, 0.$$
#
# The numbers are names. That `r` is 4 and `b` is 1 does not make `r` larger; it says which row of $C$ to look up. Sorting makes sure that everybody who has the text gets the same numbers.
#
# Here is the text that this lesson trains on. `load_corpus` says which one it is: tiny Shakespeare, about a million characters from his plays, if it can be fetched; otherwise something that every Python carries.

# %%
text = load_corpus()

if not quiet():
    print()
    print(text[:200])

# %% [markdown]
# The next cell needs no exercise. Change the word and run it again.

# %%
word = "abracadabra"

characters = sorted(set(word))
print("vocabulary:", characters)
print("numbers:   ", [characters.index(c) for c in word])

# %% [markdown]
# ## Split first, then cut windows
#
# How would we know that a model has learned something about the language, and not the text by heart? By text that it was not trained on. So the last tenth is held out: the [validation set](../glossary.ipynb#validation-set). The rest is the [training set](../glossary.ipynb#training-set).
#
# An example is a [window](../glossary.ipynb#context-length) of $k$ characters, the context, and the character right after it, the target. From `abracadabra` with $k = 3$ come `abr → a`, `bra → c`, `rac → a`, … From $n$ ids come $n - k$ examples: every id but the first $k$ is a target once.
#
# **The order matters.** Cut the windows first and deal them out at random, and nearly every validation window overlaps with windows that were trained on. The test has leaked. Split the *ids* first, at one place; then cut windows within each part. No window crosses the border.

# %%
line, k = "to be or not to be that is the question whether tis nobler in the mind to suffer", 3  # change k
border = int(0.9 * len(line))
parts = {"training": line[:border], "validation": line[border:]}
for name, part in parts.items():
    windows = [f"{part[i : i + k]!r} → {part[i + k]!r}" for i in range(len(part) - k)]
    print(f"{name}: {len(part)} characters, {len(windows)} windows: {', '.join(windows[:3])} …")

if not quiet():
    draw_windows("to be or not", 3, 8)

# %% [markdown]
# *Below each part: its windows, one under the other. No bar and no diamond belongs to both colours.*

# %% tags=["quiz"]
quiz("5.predict-data", r"""
? A text has 1,000 ids; split at 90 percent, then windows with $k = 8$. How many examples are there in all?
( ) 1,000 :: Then the first window of each part would have to begin before its part does.
( ) 992 :: That would be without the split. Each part loses $k$ of its own.
(x) 984 :: $900 - 8$ and $100 - 8$. What the split costs is 8 examples, and that is cheap.
( ) 124 :: That lays windows of 8 end to end, 112 in one part and 12 in the other. They overlap: the next one begins one character later.

? Somebody makes the target the *last* character of its own context. What will training look like?
(x) The loss goes to 0, on the validation set too :: The answer stands in the question. Such a model copies its last input, and is useless for writing.
( ) It fails with an error :: Shapes and numbers are all in order. Nothing complains.
( ) The loss stays near that of guessing :: It would if the target could not be told from the context. It can, perfectly.
( ) It works as usual, only one character earlier :: The target has to be a character that the context does not contain.
""")

# %% [markdown]
# ### Exercise 5.1 From text to examples
#
# ●●○○○ · 10 minutes · two cells
#
# Write five short functions.
#
# - **`build_vocabulary(text)`** returns the list of the characters that occur in `text`, each once, sorted.
# - **`encode(text, vocabulary)`** returns an int64 tensor `(n,)` with each character's place in `vocabulary`.
# - **`decode(ids, vocabulary)`** undoes it: `ids` is a tensor or a list of whole numbers; returns a string.
# - **`split(ids, fraction=0.9)`** returns two tensors: the first `int(fraction * n)` ids, and the rest.
# - **`make_dataset(ids, k)`** returns `contexts`, int64 `(n - k, k)`, and `targets`, int64 `(n - k,)`, in the order of the text. No padding.
#
# The text has a million characters, so look a character's number up in a dict rather than searching the list each time. No errors to raise.
#
# Example: `make_dataset(torch.tensor([3, 1, 4, 1, 5]), 3)` returns `[[3, 1, 4], [1, 4, 1]]` and `[1, 5]`.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "5_1-solution", "locked": false, "solution": true, "task": false}
def build_vocabulary(text: str) -> list[str]:
    """The different characters of text, sorted."""
    ### BEGIN SOLUTION
    return sorted(set(text))
    ### END SOLUTION


def encode(text: str, vocabulary: list[str]) -> torch.Tensor:
    """The place of each character in the vocabulary: int64 (n,)."""
    ### BEGIN SOLUTION
    number = {c: i for i, c in enumerate(vocabulary)}
    return torch.tensor([number[c] for c in text])
    ### END SOLUTION


def decode(ids, vocabulary: list[str]) -> str:
    """The text that the ids stand for."""
    ### BEGIN SOLUTION
    return "".join(vocabulary[int(i)] for i in ids)
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "5_1-solution-2", "locked": false, "solution": true, "task": false}
def split(ids: torch.Tensor, fraction: float = 0.9) -> tuple[torch.Tensor, torch.Tensor]:
    """The first int(fraction · n) ids for training, the rest for validation."""
    ### BEGIN SOLUTION
    n = int(fraction * len(ids))
    return ids[:n], ids[n:]
    ### END SOLUTION


def make_dataset(ids: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    """All windows of k ids (n − k, k), and the id after each (n − k,)."""
    ### BEGIN SOLUTION
    contexts = torch.stack([ids[i : len(ids) - k + i] for i in range(k)], dim=1)
    return contexts, ids[k:]
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "5_1", "locked": true, "points": 7, "solution": false, "task": false}
check("5.1", build_vocabulary, encode, decode, split, make_dataset)
### BEGIN HIDDEN TESTS
from autograder.student import grade
grade("5.1", build_vocabulary, encode, decode, split, make_dataset)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>I have one window too many, or too few</summary>
#
# Write down the windows of `[3, 1, 4, 1, 5]` with $k = 3$ by hand. The last window is the last one that still has an id after it.
#
# </details>
# <details><summary>My windows are right and the targets are off by one</summary>
#
# The window that begins at `i` ends at `i + k - 1`. Its target stands at the next place.
#
# </details>
# <details><summary>A Python loop over a million windows takes for ever</summary>
#
# Think in columns. Column 0 of all contexts is the text without its end; column 1 is the same, begun one id later. `torch.stack(columns, dim=1)` puts $k$ columns side by side. (`ids.unfold(0, k, 1)` gives all windows too, including the last, which has no target.)
#
# </details>
# <details><summary>My validation part is not what was expected</summary>
#
# Two slices of one tensor, cut at the same place. Nothing is shuffled, nothing is in both, nothing is lost.
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# The dict turns a search through the vocabulary into one look-up. In `make_dataset`, column $i$ of the contexts is a slice of the ids that begins at $i$ and stops early enough that all columns are equally long.
#
# {{solution 5.1}}

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "given-data", "locked": true, "solution": false, "task": false} jupyter={"source_hidden": true}
# Your functions of 5.1, put together. Given: run it and go on.
_encoded = {}


def token_ids():
    """(vocabulary, training ids, validation ids) of the text; made anew when you change one of your functions, or the text."""
    key = (build_vocabulary, encode, split, text)
    if key not in _encoded:
        vocabulary = build_vocabulary(text)
        _encoded.clear()
        _encoded[key] = (vocabulary, *split(encode(text, vocabulary)))
    return _encoded[key]


def data(k):
    """(contexts, targets) for training and (contexts, targets) for validation."""
    _, train_ids, val_ids = token_ids()
    return make_dataset(train_ids, k), make_dataset(val_ids, k)

# %%
with when_ready("5.1"):
    vocabulary, train_ids, val_ids = token_ids()
    print(f"V = {len(vocabulary)}: {''.join(vocabulary)!r}")
    print(f"{len(train_ids):,} ids to train on, {len(val_ids):,} to validate on")
    contexts, targets = make_dataset(train_ids, 3)
    for i in range(3):
        print(f"{decode(contexts[i], vocabulary)!r} → {decode(targets[i : i + 1], vocabulary)!r}")
    print("there and back:", decode(encode(text[:40], vocabulary), vocabulary) == text[:40])

# %% [markdown]
# ## How many numbers to learn
#
# The plainest model is a table: for each context, how often did each character come next? With $V = 65$ and $k = 1$ it has $65^2 = 4{,}225$ entries. With $k = 3$ it has $65^4 = 17{,}850{,}625$, and most contexts never occur in a million characters. In general $V^{k+1}$: each further character *multiplies* the table by 65.
#
# The network of lesson 4 shares. All contexts use the same five arrays; a longer context only makes $W_1$ wider. With $d = 16$, $h = 128$ and $k = 3$ they have $1{,}040 + 6{,}144 + 128 + 8{,}320 + 65 = 15{,}697$ entries. In general its count of [parameters](../glossary.ipynb#parameter) is
#
# $$Vd + (kd)h + h + hV + V$$
#
# for $C$, $W_1$, $b_1$, $W_2$, $b_2$. Each further character *adds* $dh$, here $16\cdot 128 = 2{,}048$.

# %%
V, d, h = 65, 16, 128  # change h
for k in (1, 3, 5, 8):
    pieces = {"C": V * d, "W1": k * d * h, "b1": h, "W2": h * V, "b2": V}
    print(f"k = {k}: {pieces}")
    print(f"       together {sum(pieces.values()):,}; a table has {V ** (k + 1):,}")

if not quiet():
    ks = list(range(1, 9))
    network = [V * d + k * d * h + h + h * V + V for k in ks]
    draw_lines(
        ks,
        {"table": [V ** (k + 1) for k in ks], "network": network},
        "A table explodes, the network grows by a little",
        "context length k",
        "numbers to learn",
        yscale="log",
    )

# %% [markdown]
# *A logarithmic axis: the straight line rises by a factor of 65 with every character.*

# %% tags=["quiz"]
quiz("5.predict-count", r"""
? By how many parameters does the network grow when $k$ goes from 3 to 5?
( ) It becomes 65² times as large :: That is how the table grows: each further character multiplies it by 65. The network shares.
( ) By 2,080: two more copies of $C$, 65 rows of 16 numbers each :: All places read the same $C$.
( ) By none :: $W_1$ has a column for each of the $kd$ inputs.
(x) By 4,096 :: Two more places of $d = 16$ numbers, each seen by $h = 128$ units: $2 \cdot 16 \cdot 128$.
""")

# %% [markdown]
# ### Exercise 5.2 Counting parameters
#
# ●○○○○ · 3 minutes
#
# Write **`count_parameters(V, d, k, h)`** and **`count_table(V, k)`**.
#
# - All arguments are whole numbers: $V$ characters, embeddings of length $d$, contexts of length $k$, $h$ hidden units.
# - `count_parameters` returns the number of entries of `C (V, d)`, `W1 (h, k*d)`, `b1 (h,)`, `W2 (V, h)`, `b2 (V,)` together.
# - `count_table` returns the number of entries of a table with one row for each context of length $k$ and one column for each next character.
# - No errors to raise.
#
# Example: `count_parameters(65, 16, 1, 128)` is 11,601, and `count_table(65, 1)` is 4,225.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "5_2-solution", "locked": false, "solution": true, "task": false}
def count_parameters(V: int, d: int, k: int, h: int) -> int:
    """The number of parameters of the neural n-gram."""
    ### BEGIN SOLUTION
    return V * d + (k * d) * h + h + h * V + V
    ### END SOLUTION


def count_table(V: int, k: int) -> int:
    """The number of entries of a table of all contexts."""
    ### BEGIN SOLUTION
    return V ** (k + 1)
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "5_2", "locked": true, "points": 3, "solution": false, "task": false}
check("5.2", count_parameters, count_table)
### BEGIN HIDDEN TESTS
from autograder.student import grade
grade("5.2", count_parameters, count_table)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>I am off by 193, or by 128, or by 65</summary>
#
# Count the arrays: there are five. Two of them are easily overlooked, because they are only vectors.
#
# </details>
# <details><summary>My table is too small by a factor of V</summary>
#
# How many contexts are there? And how many entries does each need?
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# Five arrays, five terms. For the table, $k$ characters can be chosen in $V^k$ ways, and each context needs $V$ entries.
#
# {{solution 5.2}}

# %%
with when_ready("5.2"):
    for k in (1, 3, 5, 8):
        print(f"k = {k}: network {count_parameters(65, 16, k, 128):,}, table {count_table(65, k):,}")

# %% [markdown]
# ## The model in PyTorch
#
# The parameters are a plain dict of tensors. Each must be a [leaf](../glossary.ipynb#leaf): made directly, not computed from something that is recorded, and with `requires_grad=True`, which asks PyTorch to leave a gradient in `.grad`. A trap: `torch.randn(3, requires_grad=True) * 0.2` is a *result*; the leaf is the tensor before the multiplication, which nobody has a name for any more.
#
# **Where to start.** Not at zero, and no two units alike (the next section says why). And not too large: a sum of 48 products of size 1 with random signs is about $\sqrt{48} = 6.9$ in size, where tanh is flat. The recipe here, with $N$ for random numbers of mean 0 and standard deviation 1:
#
# | $C$ | $W_1$ | $b_1$ | $W_2$ | $b_2$ |
# |---|---|---|---|---|
# | $N$ | $0.2\,N$ | $0.01\,N$ | $0.01\,N$ | $0$ |
#
# The scores are then near 0 and all characters about equally likely. So the first loss is near $\log 65 = 4.1744$: the price of knowing nothing.
#
# All chance comes from one `torch.Generator`, handed in as `rng`. Then an experiment can be repeated exactly.

# %%
rng = torch.Generator().manual_seed(0)
x = torch.randn(1000, 48, generator=rng)  # what 1,000 contexts of three characters look like

shares = {}
for scale in (0.05, 0.2, 1.0):  # add a scale of your own
    u = x @ (scale * torch.randn(48, 128, generator=rng))
    slope = 1 - torch.tanh(u) ** 2
    shares[f"W1 = {scale} N"] = slope.mean().item()
    print(f"W1 = {scale} N: typical |u| {u.abs().mean():.2f}, mean slope of tanh {slope.mean():.3f}")

a = torch.randn(3, requires_grad=True) * 0.2
print("leaf?", a.is_leaf, " and made in two steps?", (torch.randn(3) * 0.2).requires_grad_().is_leaf)

if not quiet():
    draw_network()
    draw_bars(shares, "Large weights make tanh flat, and flat lets nothing through", "mean slope of tanh")

# %% [markdown]
# *With weights of size 1 most hidden units start at the flat ends of tanh; of each message that comes back, little gets through.*

# %% tags=["quiz"]
quiz("5.predict-init", r"""
? `W = torch.randn(3, 2, requires_grad=True) * 0.2`. After a backward pass, what is `W.grad`?
( ) A tensor of shape (3, 2) :: It would be, if `W` were a leaf.
( ) Zeros :: No gradient was computed *for keeping*; that is not the same as zero.
(x) `None`, with a warning :: The leaf was the tensor before the multiplication. `W` is a result, and PyTorch keeps no gradient for results.
( ) An error at once :: Nothing fails here. The failure comes later, in the update.

? All parameters start at 0. What is the loss of the first batch, and what happens then?
( ) 0, and the model stays there :: With scores of 0 all characters are equally likely.
( ) $\log V$, and training goes on as usual :: Follow what comes back through $W_2 = 0$.
( ) Infinity :: $-\log(1/V)$ is finite.
(x) $\log V$, and only $b_2$ learns :: $h = \tanh 0 = 0$, so the gradient of $W_2$ is 0; $W_2 = 0$, so nothing gets through to $W_1$, $b_1$ and $C$. Only the biases of the scores can move.
""")

# %% [markdown]
# ### Exercise 5.3 Parameters and logits
#
# ●●●○○ · 8 minutes
#
# Write **`init_params(V, d, k, h, rng)`** and **`ngram_logits(params, contexts)`**.
#
# - `init_params` returns a dict of leaf tensors with `requires_grad=True`: `C (V, d)`, `W1 (h, k*d)`, `b1 (h,)`, `W2 (V, h)`, `b2 (V,)`, by the recipe above. Every random number is drawn with `generator=rng`. PyTorch's usual float32 will do.
# - `ngram_logits` takes such a dict and int64 `contexts (B, k)`, and returns the scores `(B, V)`: lesson 4's forward pass, $z = W_2\tanh(W_1 x + b_1) + b_2$, where $x$ holds the $k$ rows of $C$ end to end. It must work for parameters of any float type. `backward` from the scores must reach all five parameters.
# - No errors to raise.
#
# Example: `init_params(65, 16, 3, 128, rng)` returns 15,697 numbers in five tensors. With them, `ngram_logits` turns contexts of shape `(4, 3)` into scores of shape `(4, 65)`. If every parameter is 0 except `b2 = [1, 2, 3]`, each row of scores is `[1, 2, 3]`.
#
# Useful: `torch.randn(3, 2, generator=rng)`, `tensor.requires_grad_()`, `C[contexts]` of shape `(B, k, d)`, `.flatten(1)`.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "5_3-solution", "locked": false, "solution": true, "task": false}
def init_params(V: int, d: int, k: int, h: int, rng: torch.Generator) -> dict:
    """Fresh parameters: leaf tensors that ask for gradients."""
    ### BEGIN SOLUTION
    params = {
        "C": torch.randn(V, d, generator=rng),
        "W1": 0.2 * torch.randn(h, k * d, generator=rng),
        "b1": 0.01 * torch.randn(h, generator=rng),
        "W2": 0.01 * torch.randn(V, h, generator=rng),
        "b2": torch.zeros(V),
    }
    return {name: p.requires_grad_() for name, p in params.items()}
    ### END SOLUTION


def ngram_logits(params: dict, contexts: torch.Tensor) -> torch.Tensor:
    """The scores (B, V) of the next character after each of B contexts (B, k)."""
    ### BEGIN SOLUTION
    x = F.embedding(contexts, params["C"]).flatten(1)
    h = torch.tanh(x @ params["W1"].T + params["b1"])
    return h @ params["W2"].T + params["b2"]
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "5_3", "locked": true, "points": 6, "solution": false, "task": false}
check("5.3", init_params, ngram_logits)
### BEGIN HIDDEN TESTS
from autograder.student import grade
grade("5.3", init_params, ngram_logits)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>It says that a parameter is the result of an operation</summary>
#
# You asked for the gradient first and multiplied afterwards. Make the finished numbers, then call `.requires_grad_()` on them.
#
# </details>
# <details><summary>mat1 and mat2 shapes cannot be multiplied</summary>
#
# Examples are rows: `x` is `(B, k*d)` and `W1` is `(h, k*d)`. Which of them has to be transposed so that the two inner sizes meet?
#
# </details>
# <details><summary>My shape is (B, k, V)</summary>
#
# `C[contexts]` has one row of $d$ numbers for each place. Lay the $k$ rows of an example end to end: `.flatten(1)`.
#
# </details>
# <details><summary>Two generators with the same seed give me different parameters</summary>
#
# Some call draws from PyTorch's own generator. Every `randn` needs `generator=rng`.
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# First the numbers, then the request for gradients. The forward pass is lesson 4's, line for line; `F.embedding` looks up rows as `C[contexts]` does, and its backward pass is quicker.
#
# {{solution 5.3}}

# %%
with when_ready("5.1", "5.3"):
    vocabulary, _, _ = token_ids()
    (contexts, targets), _ = data(3)
    params = init_params(len(vocabulary), 16, 3, 128, torch.Generator().manual_seed(0))
    first_loss = F.cross_entropy(ngram_logits(params, contexts[:512]), targets[:512]).item()
    print(f"first loss {first_loss:.3f}, log V = {math.log(len(vocabulary)):.4f}")

# %% [markdown]
# ## Hidden units have no order
#
# Take a trained network and exchange hidden units 0 and 1: swap two rows of $W_1$, two entries of $b_1$, and the two columns of $W_2$ that listen to them. What it computes is the same, since $W_2 h = \sum_i (\text{column } i)\cdot h_i$ and a sum does not care for order. With $h = 128$ there are $128!$ ways to write down one and the same function.
#
# **Why that matters at the start.** Suppose that two units begin exactly alike: same row, same bias, same column. Swap them: nothing changes, neither the function nor the parameters. So their gradients are the same too. After a step they are alike again; and so on for ever. Two units, one of them for nothing. If *all* begin alike, 128 units count as one. Random numbers break the tie.

# %%
rng = torch.Generator().manual_seed(1)
W1, W2 = torch.randn(4, 3, generator=rng), torch.randn(5, 4, generator=rng)
W1[1], W2[:, 1] = W1[0], W2[:, 0]  # units 0 and 1 start alike; make others alike, or none
twins = {"W1": W1.requires_grad_(), "W2": W2.requires_grad_()}
x, y = torch.randn(20, 3, generator=rng), torch.randint(5, (20,), generator=rng)

for _ in range(50):
    loss = F.cross_entropy(torch.tanh(x @ twins["W1"].T) @ twins["W2"].T, y)
    gradients = torch.autograd.grad(loss, list(twins.values()))
    with torch.no_grad():
        for p, gradient in zip(twins.values(), gradients, strict=True):
            p -= 0.5 * gradient

print("after 50 steps, rows of W1:")
for i, row in enumerate(twins["W1"].tolist()):
    print(f"  unit {i}:", [round(w, 3) for w in row])

# %% [markdown]
# *Units 0 and 1 have learned, and have learned the same.*

# %% tags=["quiz"]
quiz("5.predict-twins", r"""
? Two units have the same row of $W_1$ and the same bias, but different columns of $W_2$. Do they stay alike?
( ) Yes: their values $h$ are equal :: They are, at first. But what comes back to them?
( ) Yes: gradients depend on the forward values only :: Adjoints come from the other side.
(x) No: different messages come back to them :: Unit $i$ receives $\bar h_i = \sum_v W_{2,vi}\,\bar z_v$, and the columns differ. After one step the rows differ too.
( ) That cannot be said without the data :: Except for freak data, different columns send different messages.
""")

# %% [markdown]
# ### Exercise 5.9 Permuting hidden units (more)
#
# ●●○○○ · 4 minutes
#
# Write **`permute_hidden(params, perm)`**.
#
# - `params`: the dict of 5.3; `perm`: int64 `(h,)`, each of $0, \dots, h - 1$ once.
# - Returns a **new** dict with the same five names. New hidden unit $i$ is old unit `perm[i]`: $h'_i = h_{\texttt{perm}[i]}$. The function stays the same. The old dict and its tensors stay as they were.
# - No errors to raise.
#
# Example: with `perm = [1, 0]` the two hidden units change places.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "5_9-solution", "locked": false, "solution": true, "task": false}
def permute_hidden(params: dict, perm: torch.Tensor) -> dict:
    """The same function, its hidden units in another order: h'_i = h_perm[i]."""
    ### BEGIN SOLUTION
    return {**params, "W1": params["W1"][perm], "b1": params["b1"][perm], "W2": params["W2"][:, perm]}
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "5_9", "locked": true, "points": 3, "solution": false, "task": false}
check("5.9", permute_hidden)
### BEGIN HIDDEN TESTS
from autograder.student import grade
grade("5.9", permute_hidden)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>The scores have changed</summary>
#
# Where does a unit have its numbers? A row of W1 and an entry of b1 make it, and a column of W2 listens to it. All three have to move.
#
# </details>
# <details><summary>The function is the same, but the order is not the one asked for</summary>
#
# `a[perm]` has in place i what was in place `perm[i]`. If you assign (`new[perm] = old`), it goes the other way round.
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# Indexing with a tensor copies, so the old tensors stay as they are. $C$ and $b_2$ know nothing of hidden units.
#
# {{solution 5.9}}

# %%
with when_ready("5.3", "5.9"):
    rng = torch.Generator().manual_seed(0)
    small = init_params(6, 2, 2, 5, rng)
    perm = torch.randperm(5, generator=rng)
    other = permute_hidden(small, perm)
    some = torch.randint(6, (4, 2), generator=rng)
    difference = (ngram_logits(small, some) - ngram_logits(other, some)).abs().max().item()
    print(f"perm = {perm.tolist()}, largest difference of the scores {difference:.1e}")
    if not quiet():
        draw_units(small, other, perm)

# %% [markdown]
# ## Gradients pile up
#
# PyTorch *adds* to `.grad`. That is what fan-out needs within one graph, and it makes no difference between one graph and the next: a second backward pass adds to what the first one left. Sometimes that is wanted. A training step has to clear first.
#
# Three lines make a step: **clear**, **backward**, **update**. Their order is all there is to get wrong.

# %% [markdown]
# ### Exercise 5.11 Predict, then run
#
# ●●○○○ · 3 minutes
#
# Predict two things, on paper, before you run anything. Throughout, $w = 2$ is a leaf tensor that requires a gradient.
#
# 1. Three identical rounds: build `loss = (3 * w - 1) ** 2`, call `loss.backward()`, clear nothing, update nothing. What is `w.grad` after the first, the second, the third round?
# 2. From a fresh $w = 2$: build the same loss, call `backward()`, then set `w.grad` to zero, *then* update with a learning rate of 0.1: `w -= 0.1 * w.grad`, under `torch.no_grad()`. What is $w$ now?
#
# Write **`my_prediction()`**. It returns the dict `{"passes": [g1, g2, g3], "too_late": w}` with plain numbers. No errors to raise.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "5_11-solution", "locked": false, "solution": true, "task": false}
def my_prediction() -> dict:
    """What w.grad will be after each of three rounds, and w after a step that was cleared too late."""
    ### BEGIN SOLUTION
    return {"passes": [30.0, 60.0, 90.0], "too_late": 2.0}
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "5_11", "locked": true, "points": 2, "solution": false, "task": false}
check("5.11", my_prediction)
### BEGIN HIDDEN TESTS
from autograder.student import grade
grade("5.11", my_prediction)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>My numbers are three times too small</summary>
#
# The chain rule: the square gives $2(3w - 1)$, and what is inside the square has a derivative as well.
#
# </details>
# <details><summary>I do not see what clearing could spoil</summary>
#
# Go through the lines one by one, and write down next to each what stands in `w.grad`. Which number does the update read?
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# One round sends $2(3\cdot 2 - 1)\cdot 3 = 30$. Nothing is cleared, so the second and third rounds add 30 each: $n$ rounds, $n$ times the gradient. In the second part the gradient is thrown away before anybody reads it; the update takes off $0.1 \cdot 0$.
#
# {{solution 5.11}}

# %%
w = torch.tensor(2.0, requires_grad=True)
piled = []
for _ in range(3):
    ((3 * w - 1) ** 2).backward()
    piled.append(w.grad.item())
print("w.grad after one, two, three rounds:", piled)

w = torch.tensor(2.0, requires_grad=True)
((3 * w - 1) ** 2).backward()
w.grad.zero_()
with torch.no_grad():
    w -= 0.1 * w.grad
print("cleared between backward and update: w =", w.item())

if not quiet():
    rounds = {f"round {i + 1}": g for i, g in enumerate(piled)}
    draw_bars(rounds, "n rounds without clearing: n times the gradient", "w.grad", 0)

# %% [markdown]
# *If you ever see gradients that are exactly $n$ times too large after $n$ steps, you know which line is missing.*

# %% [markdown]
# ## One step downhill
#
# Take $L = (3w-1)^2$ at $w = 2$, where the gradient is 30. A step with rate 0.01 goes $0.01\cdot 30 = 0.3$ against it: $w$ becomes $1.7$ and the loss falls from 25 to 16.81. With rate 0.2, $w$ becomes $-4$ and the loss *rises* to 169. The gradient gives the direction; how far it holds, it does not say.
#
# A step of [gradient descent](../glossary.ipynb#gradient-descent) does this with every parameter at once, for the loss $L$ of a batch: $\theta \leftarrow \theta - \eta\,\nabla L$. The letter $\theta$ stands for all parameters, $\nabla L$ for the derivatives by them, and $\eta$ is the [learning rate](../glossary.ipynb#learning-rate).
#
# Two things about PyTorch:
#
# - **The update is not part of the model.** Inside [`torch.no_grad()`](../glossary.ipynb#no_grad) nothing is recorded. Without it, `p -= …` on a leaf is an error.
# - **Change the tensor, not the name.** `p -= lr * p.grad` writes into the parameter. `p = p - lr * p.grad` makes a new tensor and calls it `p`; the one in the dict stays.

# %%
for rate in (0.01, 0.05, 0.1, 0.2):  # change the rates
    w_new = 2 - rate * 30
    print(f"learning rate {rate}: w = {w_new:.2f}, loss {(3 * w_new - 1) ** 2:.2f}")

if not quiet():
    rates = torch.linspace(0, 0.13, 53)
    draw_lines(
        rates,
        {"loss after the step": (3 * (2 - 30 * rates) - 1) ** 2, "loss before": torch.full_like(rates, 25.0)},
        "Downhill, but only so far",
        "learning rate",
        "loss",
    )

# %% [markdown]
# *The step is best at 1/18: it lands on $w = \tfrac13$, where the loss is 0. At 1/9 it has gone just as far beyond, and is useless; from there on it makes things worse.*

# %% tags=["quiz"]
quiz("5.predict-step", r"""
? A loop keeps the losses of 15,000 steps in a list: `losses.append(loss)`. What is wrong with that?
(x) Each holds on to the graph that it came from: memory fills up :: `backward` frees the numbers saved in a graph, not the graph. Keep `loss.item()`, a plain number.
( ) Nothing: a loss is one number, and 15,000 numbers are little :: `loss` is a tensor, and a tensor remembers how it was made.
( ) The list changes the gradients :: It does not. It only prevents memory from being freed.
( ) The losses will all be the same :: Each is a tensor of its own.

? A batch of 64 is cut into two halves of 32. For each half: its mean loss times ½, then `backward()`. No clearing in between, one update at the end. Compared with one step on all 64, the new parameters are …
( ) … off by a factor of 2 :: They would be without the ½: two means add up to twice the mean of all.
( ) … slightly different, because the second half sees new weights :: No update happens in between.
( ) … only those of the second half :: Gradients do not overwrite by default.
(x) … the same, up to rounding :: Gradients pile up, and here that is wanted: $\tfrac12\cdot$ mean $+\ \tfrac12\cdot$ mean is the mean of all 64. Such halves are called microbatches.
""")

# %% [markdown]
# ### Exercise 5.4 One training step
#
# ●●●○○ · 10 minutes
#
# Write **`train_step(params, contexts, targets, lr)`**.
#
# - `params`: the dict of 5.3; `contexts`: int64 `(B, k)`; `targets`: int64 `(B,)`; `lr`: the learning rate.
# - Computes the **mean** cross-entropy of the batch in nats, its gradient, and one update $\theta\leftarrow\theta-\texttt{lr}\cdot\nabla L$ of all five parameters, in place.
# - Returns the loss from before the update, as a plain Python float.
# - Whatever stands in a `.grad` when it is called must not matter. Afterwards the parameters are the same leaf tensors as before, with new numbers in them.
# - No errors to raise. No optimizer from `torch.optim`: this exercise *is* the optimizer.
#
# Example: let all parameters be 0, $V = 3$, and one example with target 1. A step with `lr = 0.3` returns $\log 3 = 1.098612$. Lesson 4 told the gradient of `b2`, $(\tfrac13, -\tfrac23, \tfrac13)$; so `b2` is then $(-0.1, 0.2, -0.1)$, and everything else is still 0.
#
# Useful: `F.cross_entropy(z, targets)` takes scores and returns the mean.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "5_4-solution", "locked": false, "solution": true, "task": false}
def train_step(params: dict, contexts: torch.Tensor, targets: torch.Tensor, lr: float) -> float:
    """One step of gradient descent on a batch; returns its mean loss before the step."""
    ### BEGIN SOLUTION
    for p in params.values():
        p.grad = None
    loss = F.cross_entropy(ngram_logits(params, contexts), targets)
    loss.backward()
    with torch.no_grad():
        for p in params.values():
            p -= lr * p.grad
    return loss.item()
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "5_4", "locked": true, "points": 7, "solution": false, "task": false}
check("5.4", train_step)
### BEGIN HIDDEN TESTS
from autograder.student import grade
grade("5.4", train_step)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>a leaf Variable that requires grad is being used in an in-place operation</summary>
#
# PyTorch is recording, and refuses to record a change of a parameter. Put the update, and only the update, under `with torch.no_grad():`.
#
# </details>
# <details><summary>The parameters do not move</summary>
#
# Two usual reasons. You clear between `backward` and the update, so the update reads zeros. Or you write `p = p - …`, which gives a name to a new tensor and leaves the old one in the dict.
#
# </details>
# <details><summary>The first step is right, the second one is not</summary>
#
# Is what the first one left in `.grad` still there? Or did the dict get new tensors that are no leaves? Print `p.is_leaf` and `p.requires_grad` after a step.
#
# </details>
# <details><summary>It wants a float and I return a tensor</summary>
#
# `loss.item()` is the number alone, without the graph behind it.
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# Clear, forward, backward, update; the update is not recorded and writes into the tensors. `p.grad = None` clears as well as zeros do, and saves an addition.
#
# {{solution 5.4}}
#
# Clearing at the *end* of the step instead would do for a loop of your own, but not for somebody who calls `backward` in between.

# %%
with when_ready("5.1", "5.3", "5.4"):
    vocabulary, _, _ = token_ids()
    (contexts, targets), _ = data(3)
    contexts, targets = contexts[:64], targets[:64]

    whole = init_params(len(vocabulary), 16, 3, 128, torch.Generator().manual_seed(0))
    halves = {name: p.detach().clone().requires_grad_() for name, p in whole.items()}
    train_step(whole, contexts, targets, 0.1)

    for part in (slice(0, 32), slice(32, 64)):  # two microbatches, no clearing in between
        (0.5 * F.cross_entropy(ngram_logits(halves, contexts[part]), targets[part])).backward()
    with torch.no_grad():
        for p in halves.values():
            p -= 0.1 * p.grad
    apart = max((whole[name] - halves[name]).abs().max().item() for name in whole)
    print(f"one batch of 64 against two halves: largest difference of a parameter {apart:.1e}")

    losses = [train_step(whole, contexts, targets, 0.1) for _ in range(100)]
    print(f"100 steps on the same 64 examples: loss {losses[0]:.3f} → {losses[-1]:.3f}")

# %% [markdown]
# *The two ways differ by rounding only. Accumulation is a nuisance when you forget it and a tool when you know it.*

# %% [markdown]
# ## What the loss means
#
# The loss is a mean of $-\log p$ over characters, in [nats](../glossary.ipynb#nat). People compare text models in [bits](../glossary.ipynb#bit): logarithms to base 2. One bit is $\log 2$ nats, so a loss of 1.9821 nats is $1.9821/\log 2 = 2.860$ bits per character.
#
# **The mean over all.** The validation set does not fit into one batch, and the last batch is smaller. Say a batch of 5 examples has mean loss 1, and the last, with a single example, has 3. The mean over the 6 examples is $(5\cdot 1 + 1\cdot 3)/6 = 1.333$. The mean of the two means is 2: that one example got the weight of five.
#
# **Something to compare with.** Is 1.98 good? Two baselines. *Uniform*: guess evenly, $\log 65 = 4.1744$. *[Bigram](../glossary.ipynb#bigram-model)*: count in the training text how often each character follows each other one, add 1 to every count so that nothing is impossible, and divide each row by its sum. On tiny Shakespeare's validation part that gives 2.4819. No gradient, no network, one pass over the text. A model with $k = 1$ knows no more than the bigram does: the same single character. It should come out near it.

# %%
batches = [(1.0, 5), (3.0, 1)]  # (mean loss, number of examples); change them
by_batch = sum(loss for loss, _ in batches) / len(batches)
by_example = sum(loss * n for loss, n in batches) / sum(n for _, n in batches)
print(f"mean of the means {by_batch:.3f}, mean over the examples {by_example:.3f}")

pairs = [0, 1, 0, 1, 0]  # a training text of two characters
counts = torch.ones(2, 2)
for a, b in itertools.pairwise(pairs):
    counts[a, b] += 1
table = counts / counts.sum(dim=1, keepdim=True)
print("add-one probabilities of the next character, one row for each character:", table.tolist())
print(f"loss on the validation text 0 1 1: {-(table[0, 1].log() + table[1, 1].log()).item() / 2:.6f}")

if not quiet():
    draw_bars(
        {"evenly": math.log(65), "bigram": 2.4819, "reference\nnetwork, k = 3": 1.9821},
        "Each step down is something learned about the text", "validation loss (nats)", 2,
    )

# %% [markdown]
# *Tiny Shakespeare's validation part. From the first bar to the second: letters follow letters. From the second to the third: three letters tell more than one.*

# %% tags=["quiz"]
quiz("5.predict-measure", r"""
? A loss of 2.0 nats is how many bits?
( ) 1.39 :: That is $2\log 2$. A nat is larger than a bit, so there must be more bits than nats.
( ) 2.0 :: Nats and bits are different units.
(x) 2.89 :: $2/\log 2$.
( ) 7.39 :: That is $e^2$, the perplexity: as unsure as between about seven equally likely characters.

? Why add 1 to every count of the bigram?
(x) So that an unseen pair does not cost infinitely much :: A pair that never came in training would have the probability 0. $-\log 0 = \infty$, and one such pair would make the whole mean infinite.
( ) So that every row sums to 1, as probabilities have to do :: Dividing by the sum does that in any case.
( ) Because tokens are counted from 0 :: The numbers of tokens have nothing to do with it.
( ) To make the bigram as good as the network :: It is a little worse for it, on pairs that do occur.
""")

# %% [markdown]
# ### Exercise 5.5 Measuring
#
# ●●○○○ · 8 minutes
#
# Write **`evaluate(params, contexts, targets, batch_size=4096)`**, **`bits_per_character(nats)`** and **`bigram_loss(train_ids, val_ids, V)`**.
#
# - `evaluate` returns the mean cross-entropy in nats over **all** examples, a float, computed in batches of `batch_size`; the last batch may be smaller. It changes nothing: no parameter, no `.grad`. Nothing needs to be recorded.
# - `bits_per_character` turns a loss in nats into bits.
# - `bigram_loss` counts the pairs in `train_ids` (int64), adds 1 to each of the $V^2$ counts, and returns the mean of $-\log p(\text{next} \mid \text{previous})$ over the pairs within `val_ids`, in nats.
# - No errors to raise.
#
# Example: `bigram_loss(torch.tensor([0, 1, 0, 1, 0]), torch.tensor([0, 1, 1]), 2)` is 0.836988.
#
# Useful: `tensor.split(batch_size)` cuts a tensor into pieces. `torch.bincount(train_ids[:-1] * V + train_ids[1:], minlength=V * V)` counts all pairs at once.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "5_5-solution", "locked": false, "solution": true, "task": false}
def evaluate(params: dict, contexts: torch.Tensor, targets: torch.Tensor, batch_size: int = 4096) -> float:
    """The mean loss over all examples, in nats."""
    ### BEGIN SOLUTION
    total = 0.0
    with torch.no_grad():
        for c, t in zip(contexts.split(batch_size), targets.split(batch_size), strict=True):
            total += F.cross_entropy(ngram_logits(params, c), t, reduction="sum").item()
    return total / len(targets)
    ### END SOLUTION


def bits_per_character(nats: float) -> float:
    """A loss in nats, in bits."""
    ### BEGIN SOLUTION
    return nats / math.log(2)
    ### END SOLUTION


def bigram_loss(train_ids: torch.Tensor, val_ids: torch.Tensor, V: int) -> float:
    """The loss in nats on val_ids of the bigram counted on train_ids, with 1 added to every count."""
    ### BEGIN SOLUTION
    counts = 1.0 + torch.bincount(train_ids[:-1] * V + train_ids[1:], minlength=V * V).reshape(V, V)
    log_p = torch.log(counts / counts.sum(dim=1, keepdim=True))
    return -log_p[val_ids[:-1], val_ids[1:]].mean().item()
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "5_5", "locked": true, "points": 7, "solution": false, "task": false}
check("5.5", evaluate, bits_per_character, bigram_loss)
### BEGIN HIDDEN TESTS
from autograder.student import grade
grade("5.5", evaluate, bits_per_character, bigram_loss)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>I am right when the batches fit, and wrong when they do not</summary>
#
# A mean of means gives every batch the same weight. Add up the *sums* of the batches (`reduction="sum"`), and divide once, by the number of examples.
#
# </details>
# <details><summary>My bigram loss is inf</summary>
#
# Some pair of the validation text never came in training. Is 1 added to every count, also to those that are 0?
#
# </details>
# <details><summary>My rows do not sum to 1</summary>
#
# Add 1 first, then divide each row by its own sum: `sum(dim=1, keepdim=True)`. Without `keepdim` the sums would be lined up with the columns.
#
# </details>
# <details><summary>The check says that gradients are left behind</summary>
#
# Measuring needs a forward pass only. No `backward`; and `with torch.no_grad():` saves the memory for a graph that nobody will walk.
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# Sums add up to sums, whatever the sizes of the batches; the mean is taken once. In the bigram, `previous * V + next` numbers the pairs, and `bincount` counts them.
#
# {{solution 5.5}}

# %%
with when_ready("5.1", "5.3", "5.5"):
    vocabulary, train_ids, val_ids = token_ids()
    V = len(vocabulary)
    _, (contexts, targets) = data(3)
    untrained = init_params(V, 16, 3, 128, torch.Generator().manual_seed(0))
    print(f"evenly:          {math.log(V):.4f} nats")
    print(f"untrained model: {evaluate(untrained, contexts, targets):.4f} nats")
    counted = bigram_loss(train_ids, val_ids, V)
    print(f"counted bigram:  {counted:.4f} nats = {bits_per_character(counted):.3f} bits per character")

# %% [markdown]
# ## A few examples for all
#
# The training set has about a million examples. One exact gradient of their mean loss takes a pass over all of them, for a single step. [Stochastic gradient descent](../glossary.ipynb#stochastic-gradient-descent) takes a few at random, a [minibatch](../glossary.ipynb#minibatch), and uses *their* mean gradient.
#
# Is that allowed? Say three examples have the derivatives $1, 4$ and $7$ by some weight. The full gradient is their mean, 4. Draw one example: you get 1, 4 or 7. None may be right, but on average you get 4. An estimate that is right on average is called unbiased. How far off is it? By $-3$, $0$ or $3$: its variance, the mean of the squares, is $(9 + 0 + 9)/3 = 6$. Draw 4 of them independently and take the mean: still right on average, and the variance is $6/4 = 1.5$. With $B$ draws it is $B$ times smaller.
#
# Four times the batch size costs four times the work and halves the typical error. That is why small batches are popular.
#
# **The chain rule has not changed.** Each minibatch loss is differentiated exactly. What is random is *which* loss.

# %%
derivatives = [1.0, 4.0, 7.0]  # change them
chance = random.Random(0)
averages, spreads = {}, {}
for size in (1, 4, 16):
    means = [sum(chance.choices(derivatives, k=size)) / size for _ in range(4000)]
    averages[size] = sum(means) / len(means)
    spreads[size] = sum((m - averages[size]) ** 2 for m in means) / len(means)
    print(f"batch size {size:>2}: average {averages[size]:.2f}, variance {spreads[size]:.2f}, times size {spreads[size] * size:.1f}")

if not quiet():
    draw_bars({f"B = {size}": x for size, x in spreads.items()}, "Four times the batch, a quarter of the variance", "variance", 2)

# %% tags=["quiz"]
quiz("5.predict-estimate", r"""
? What does minibatching change?
( ) The chain rule: it becomes an approximation, a worse one the smaller the batch :: The gradient of the minibatch's loss is exact.
( ) The minimum of the full loss :: That stays where it is. What changes is the way there.
(x) The estimator: another, random loss is differentiated at each step :: On average its gradient is that of the full loss.
( ) Nothing, on average and otherwise :: On average nothing. But each single step is noisy.

? The batch size goes from 64 to 256. What happens to the typical error of the gradient (not its square)?
( ) It is 4 times smaller :: That is the variance, which is in squares.
(x) It is halved :: $\sqrt{1/4}$. Four times the work for half the error.
( ) It stays :: Then averaging would be useless.
( ) It vanishes :: Only the full training set has no error, as far as the training loss is concerned.
""")

# %% [markdown]
# ### Exercise 5.6 A minibatch
#
# ●○○○○ · 3 minutes
#
# Write **`minibatch(rng, n, size)`**.
#
# - `rng`: a `torch.Generator`; `n`: how many examples there are; `size`: how many to draw.
# - Returns an int64 tensor `(size,)` of indices from $0$ to $n - 1$. Each is drawn independently and evenly, **with replacement**: the same index may come twice, and `size` may be larger than `n`.
# - All chance comes from `rng`. No errors to raise.
#
# Example: `minibatch(rng, 3, 5)` may be `tensor([2, 0, 2, 1, 0])`.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "5_6-solution", "locked": false, "solution": true, "task": false}
def minibatch(rng: torch.Generator, n: int, size: int) -> torch.Tensor:
    """size indices below n, drawn independently."""
    ### BEGIN SOLUTION
    return torch.randint(n, (size,), generator=rng)
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "5_6", "locked": true, "points": 3, "solution": false, "task": false}
check("5.6", minibatch)
### BEGIN HIDDEN TESTS
from autograder.student import grade
grade("5.6", minibatch)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>No index ever comes twice</summary>
#
# A shuffled list, cut off, is drawing *without* replacement. Draw each index by itself: `torch.randint`.
#
# </details>
# <details><summary>The last example never comes</summary>
#
# `torch.randint(low, high, …)` stops before `high`. It needs no −1.
#
# </details>
# <details><summary>The same seed gives me other numbers</summary>
#
# Hand the generator on: `generator=rng`.
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# One call. The upper end is not included, which suits indices that start at 0.
#
# {{solution 5.6}}

# %%
with when_ready("5.1", "5.3", "5.6"):
    vocabulary, _, _ = token_ids()
    (contexts, targets), _ = data(3)
    contexts, targets = contexts[:4000], targets[:4000]  # take these for the full training set
    rng = torch.Generator().manual_seed(0)
    params = init_params(len(vocabulary), 16, 3, 128, rng)

    def gradient(batch) -> torch.Tensor:
        """The gradient of the mean loss of some examples, all parameters in one vector."""
        loss = F.cross_entropy(ngram_logits(params, contexts[batch]), targets[batch])
        return torch.cat([g.flatten() for g in torch.autograd.grad(loss, list(params.values()))])

    full = gradient(slice(None))
    sizes, draws = (1, 4, 16, 64, 256), 20 if quiet() else 200
    variance, off = {}, {}
    for size in sizes:
        drawn = torch.stack([gradient(minibatch(rng, len(targets), size)) for _ in range(draws)])
        variance[size] = ((drawn - full) ** 2).sum(dim=1).mean().item()
        off[size] = ((drawn.mean(dim=0) - full).norm() / full.norm()).item()
        print(
            f"B = {size:>3}: variance {variance[size]:.5f}, times B {variance[size] * size:.3f}; "
            f"mean of {draws} draws off by {100 * off[size]:.0f} %"
        )

    if not quiet():
        draw_lines(
            sizes,
            {"measured": list(variance.values()), "∝ 1/B": [variance[1] / size for size in sizes]},
            "The variance falls like 1/B",
            "batch size B",
            "squared distance from the full gradient",
            xscale="log",
            yscale="log",
        )

# %% [markdown]
# *For a whole gradient the variance is the mean squared distance from the full gradient. Its product with the batch size stays about the same. And the mean of many minibatch gradients closes in on the full gradient, from every batch size.*

# %% [markdown]
# ## The training loop
#
# Draw, step, note the loss, again. The learning rate may depend on the step: large at first, to get ahead; small at the end, so that the noise of the minibatches dies down. Robbins and Monro said in 1951 how it may fall so that such a method converges. Ours has two values, 0.1 and, for the last quarter, 0.01.
#
# The loop calls a function after every step, if it is given one: a *callback*. That is how a progress bar gets in, or a curve, without the loop knowing of either.
#
# ### Exercise 5.7 The training loop
#
# ●●○○○ · 6 minutes
#
# Write **`train(params, contexts, targets, *, steps, batch_size, lr, rng, callback=None)`**.
#
# - `params`, `contexts`, `targets` as in 5.4, but with all $n$ training examples; `steps`, `batch_size`: whole numbers; `lr`: a **function**, `lr(step)` is the learning rate of a step, counted from 0; `rng`: a `torch.Generator`.
# - Each step draws a new minibatch and makes one training step with it. The parameters are changed in place.
# - If there is a callback, `callback(step, loss)` is called after each step.
# - Returns the list of the losses, one float for each step. No errors to raise.
#
# Example: with `steps=3` it asks for `lr(0)`, `lr(1)` and `lr(2)`, and returns three losses. A callback hears `(0, first loss)`, `(1, second loss)`, `(2, third loss)`.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "5_7-solution", "locked": false, "solution": true, "task": false}
def train(params, contexts, targets, *, steps, batch_size, lr, rng, callback=None) -> list[float]:
    """Minibatch gradient descent; returns the loss of every step."""
    ### BEGIN SOLUTION
    losses = []
    for step in range(steps):
        batch = minibatch(rng, len(targets), batch_size)
        losses.append(train_step(params, contexts[batch], targets[batch], lr(step)))
        if callback is not None:
            callback(step, losses[-1])
    return losses
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "5_7", "locked": true, "points": 6, "solution": false, "task": false}
check("5.7", train)
### BEGIN HIDDEN TESTS
from autograder.student import grade
grade("5.7", train)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>'function' object cannot be multiplied, or similar</summary>
#
# `lr` is a function here. `lr(step)` is the number.
#
# </details>
# <details><summary>It says that only some examples ever come up</summary>
#
# Is the minibatch drawn inside the loop?
#
# </details>
# <details><summary>It fails when there is no callback</summary>
#
# Then `callback` is `None`, and cannot be called. Ask first.
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# Everything it needs you have written already.
#
# {{solution 5.7}}

# %% [markdown]
# ## Place your bet
#
# Four models, alike in everything but the context length: $k = 1, 3, 5, 8$; $d = 16$, $h = 128$; batches of 64; 15,000 steps of plain gradient descent, with the schedule above. The longer the context, the more the model gets to see.
#
# **Before you run it: what will the four validation losses be?** The counted bigram has 2.48 on tiny Shakespeare. Put your four numbers into the next cell, and run it. Nobody sees them but you; and the result will teach you more if you have committed yourself.

# %%
my_bet = {1: None, 3: None, 5: None, 8: None}  # your four validation losses in nats, instead of None

if None in my_bet.values():
    print("No bet yet. Write four numbers, for example {1: 2.5, ...}, and run this cell again.")
elif not quiet():
    draw_by_context({"my bet": my_bet}, "My bet")

# %% tags=["quiz"]
quiz("5.bet", r"""
? A model with $k = 8$ could ignore five of its eight places: set their columns of $W_1$ to 0, and it *is* a model with $k = 3$. What follows from that?
( ) After training as long as $k = 3$ was, its training loss is at most as high :: Only if training finds such weights, or better ones.
( ) Its validation loss is at most that of $k = 3$ :: Not even the best possible training loss promises anything about other text.
( ) It will overfit :: It might. Nothing here says so.
(x) The best training loss that is *possible* for it is at most that of $k = 3$ :: Its family of functions contains that of $k = 3$. But possible is not the same as found. Keep that apart, and the rest of this lesson is easy.
""")

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "given-sweep", "locked": true, "solution": false, "task": false} jupyter={"source_hidden": true}
# The experiment, with your functions. Given: run it and go on.
KS, D, H, BATCH, STEPS = (1, 3, 5, 8), 16, 128, 64, 15_000
REFERENCE = {  # k: parameters, training loss, validation loss, bits per character: a reference run on tiny Shakespeare
    1: (11_601, 2.4706, 2.4805, 3.579),
    3: (15_697, 1.9171, 1.9821, 2.860),
    5: (19_793, 1.9054, 2.0018, 2.888),
    8: (25_937, 1.9372, 2.0329, 2.933),
}
sweep, better = {}, {}


def two_rates(steps):
    """0.1 for three quarters of the steps, then 0.01."""
    return lambda step: 0.1 if step < 0.75 * steps else 0.01


def progress(label, steps):
    """(callback that moves a bar and shows the loss, list of (step, mean loss) that it fills)."""
    curve, recent, bar = [], [], None
    if not quiet():
        from tqdm import tqdm

        bar = tqdm(total=steps, desc=label, file=sys.stdout, mininterval=0.5, bar_format="{desc} |{bar:30}| {percentage:3.0f} %{postfix}")

    def callback(step, loss):
        recent.append(loss)
        if len(recent) == 250 or step == steps - 1:
            curve.append((step + 1, sum(recent) / len(recent)))
            if bar is not None:
                bar.set_postfix_str(f"loss {curve[-1][1]:.3f}", refresh=False)
                bar.update(len(recent))
            recent.clear()
        if step == steps - 1 and bar is not None:
            bar.close()

    return callback, curve


def with_adam(params, contexts, targets, *, steps, batch_size, lr, rng, callback=None):
    """As train, with Adam instead of plain gradient descent."""
    adam = torch.optim.Adam(params.values(), fused=True)  # all five arrays in one call: nearly twice as fast
    losses = []
    for step in range(steps):
        batch = minibatch(rng, len(targets), batch_size)
        adam.param_groups[0]["lr"] = lr(step)
        adam.zero_grad()
        loss = F.cross_entropy(ngram_logits(params, contexts[batch]), targets[batch])
        loss.backward()
        adam.step()
        losses.append(loss.item())
        if callback is not None:
            callback(step, losses[-1])
    return losses


def run(k, steps=STEPS, seed=0, trainer=None, lr=None, label=None):
    """Train one model and measure it: a dict with k, params, curve, parameters, train, validation."""
    (contexts, targets), validation = data(k)
    rng = torch.Generator().manual_seed(seed)
    params = init_params(len(token_ids()[0]), D, k, H, rng)
    callback, curve = progress(label or f"k = {k}", steps)
    (trainer or train)(
        params, contexts, targets, steps=steps, batch_size=BATCH, lr=lr or two_rates(steps), rng=rng, callback=callback
    )
    return {
        "k": k,
        "params": params,
        "curve": curve,
        "parameters": sum(p.numel() for p in params.values()),
        "train": evaluate(params, contexts, targets),
        "validation": evaluate(params, *validation),
    }


def print_sweep(runs):
    """Your results beside the reference run's."""
    print(f"{'':>3}{'':>12}   {'yours':^31}   {'reference run':^31}")
    print(f"{'k':>3}{'parameters':>12}   " + 2 * f"{'training':>9}{'validation':>12}{'bits':>8}     ")
    for k, r in runs.items():
        yours = (r["train"], r["validation"], bits_per_character(r["validation"]))
        rows = "     ".join(f"{a:>9.4f}{b:>12.4f}{c:>8.3f}" for a, b, c in (yours, REFERENCE[k][1:]))
        print(f"{k:>3}{r['parameters']:>12,}   {rows}")

# %% [markdown]
# Now run it. Four models, 60,000 training steps: about half a minute on a quiet machine. The bar shows the loss as it falls.

# %%
with when_ready("5.1", "5.3", "5.4", "5.5", "5.6", "5.7"):
    token_ids(), train_step, train  # what a short check of your functions would miss
    if quiet():
        run(1, steps=2)
    else:
        sweep = {k: run(k) for k in KS}
        print()
        print_sweep(sweep)
        _, train_ids, val_ids = token_ids()
        print(f"\ncounted bigram, validation: {bigram_loss(train_ids, val_ids, len(token_ids()[0])):.4f}")
        draw_curves({f"k = {k}": r for k, r in sweep.items()}, "Does a longer context get lower?")
        draw_by_context(
            {
                "validation": {k: r["validation"] for k, r in sweep.items()},
                "training": {k: r["train"] for k, r in sweep.items()},
                "my bet": my_bet,
                "reference, validation": {k: row[2] for k, row in REFERENCE.items()},
            },
            f"Best in this sweep: k = {min(sweep, key=lambda k: sweep[k]['validation'])}",
        )

# %% [markdown]
# *Read the table from left to right. $k = 1$ lands near the counted bigram, as it should: both know one character. From 1 to 3 there is a big gain. And then, on tiny Shakespeare, the validation loss goes up again: 5 is a little worse than 3, and 8 is worse still. (On Python's help texts, which stand in when nothing can be fetched, 5 is about as good as 3. There too 8 is worse than 3, on training and on validation.)*
#
# The gap between 3 and 5 is small: about 0.01 or 0.02, and another seed moves it. That 8 is worse than 3 holds on every seed that we tried.

# %% [markdown]
# ## What kind of worse
#
# The model with $k = 8$ has most parameters and does worst of the three. "It overfits", many will say. Look at the other column before you do. [Overfitting](../glossary.ipynb#overfitting) has a signature: the *training* loss is better, the validation loss is worse. What does the table say?

# %% tags=["quiz"]
quiz("5.reading", r"""
? Reference run: $k = 3$ has 1.9171 on training and 1.9821 on validation; $k = 8$ has 1.9372 and 2.0329. Which word fits $k = 8$?
( ) Overfitting: more parameters, worse validation :: Then its training loss would be lower than that of $k = 3$. It is higher.
(x) Underfitting: it is worse on training as well :: It has not even learned the text that it was shown as well as the small model has.
( ) Neither: the differences are too small to mean anything :: They come out the same way on every seed that we tried.
( ) Both at once :: A gap between training and validation is there in both rows, and it is a little larger for 8. But the training loss decides first: it is worse.

? The family of $k = 8$ contains that of $k = 3$. Yet its training loss is higher. Where is the fault?
( ) In the family: 128 hidden units cannot express what a context of eight needs :: It can express all that $k = 3$ does: set the columns for the five older places to 0.
( ) In the data: long contexts are rare :: That would show on the validation set, not on the training set.
(x) In the search: training has not found a point of the family that exists :: That much follows from the containment. It is called an *optimization bottleneck*.
( ) In the backward pass :: It is exact, and the checks passed.
""")

# %% [markdown]
# Two ways to underfit. With a [representational bottleneck](../glossary.ipynb#representational-bottleneck) no member of the [family](../glossary.ipynb#model-family) is good enough: the [capacity](../glossary.ipynb#capacity) is too small. With an [optimization bottleneck](../glossary.ipynb#optimization-bottleneck) good members exist and training did not get there. The two call for different cures: a wider network, or better training.
#
# How to tell them apart? **Change one thing and look.** Keep the model exactly as it is, width and all, and train it better: more steps, or another optimizer. If the loss then falls below that of $k = 3$, the model could do it all along.
#
# That is the experiment of the next section. Before you run it: will $k = 5$ and $k = 8$ overtake $k = 3$? What would it mean if not?

# %% [markdown]
# ## The same models, trained better
#
# One change, then: the training. Adam is an optimizer that gives each parameter a step size of its own, made from the sizes of its recent gradients. It takes 20,000 steps; the rate falls in a straight line from 0.003 to 0. Same width, same start, same batches of 64, for $k = 3, 5, 8$. It takes about 35 seconds on a quiet machine.
#
# The other way to train better is plain gradient descent as before, with 30,000 steps instead of 15,000. That takes about as long again, so it is switched off. Its numbers stand in the table below; put `more_steps = True` if you want to see them come about.

# %%
more_steps = False  # True: also plain gradient descent with 30,000 steps, for k = 3 and 5

with when_ready("5.1", "5.3", "5.4", "5.5", "5.6", "5.7"):
    if quiet():
        run(1, steps=2, trainer=with_adam, lr=lambda step: 0.003)
    else:
        rows = {"SGD, 15,000 steps": sweep}
        if more_steps:
            rows["SGD, 30,000 steps"] = {k: run(k, steps=30_000, label=f"SGD,  k = {k}") for k in (3, 5)}
        better = {
            k: run(k, steps=20_000, trainer=with_adam, lr=lambda step: 0.003 * (1 - step / 20_000), label=f"Adam, k = {k}")
            for k in (3, 5, 8)
        }
        rows["Adam, 20,000 steps"] = better
        print(f"\n{'':<22}{'validation':^32}    {'training':^32}")
        print(f"{'':<22}" + 2 * ("".join(f"{f'k = {k}':>8}" for k in KS) + "    "))
        for name, runs in rows.items():
            cells = ["".join(f"{runs[k][what]:>8.3f}" if k in runs else f"{'':>8}" for k in KS) for what in ("validation", "train")]
            print(f"{name:<22}{cells[0]}    {cells[1]}")
        draw_by_context(
            {name: {k: r["validation"] for k, r in runs.items()} for name, runs in rows.items()},
            "The same models, trained better: who is best now?",
        )

# %% [markdown]
# *On tiny Shakespeare both $k = 5$ and $k = 8$ now pass $k = 3$ ($k = 8$ by little), and the training loss of $k = 8$ falls clearly below that of $k = 3$. Nothing about the models has changed. So at least part of what held them back was the training.*
#
# More steps alone do some of it. With 30,000 steps of plain gradient descent $k = 5$ passes $k = 3$: 1.912 against 1.935. With 15,000 it did not.
#
# Longer runs, measured once for this lesson, tell the rest. Validation losses on tiny Shakespeare:
#
# | training | $k = 1$ | $k = 3$ | $k = 5$ | $k = 8$ |
# |---|---|---|---|---|
# | SGD, 15,000 steps (five seeds) | 2.494 to 2.503 | 1.977 to 1.987 | 1.984 to 1.997 | 2.053 to 2.060 |
# | SGD, 30,000 steps | 2.494 | 1.935 | 1.912 | 1.957 |
# | SGD, 100,000 steps | 2.489 | 1.879 | 1.821 | 1.845 |
# | Adam, 0.003, 20,000 steps (two seeds) | 2.489 | 1.895 and 1.899 | 1.868 and 1.859 | 1.890 and 1.877 |
# | Adam, 0.005, batches of 256, 80,000 steps | 2.482 | 1.838 | 1.775 | 1.773 |
#
# With plain gradient descent $k = 8$ needs about 100,000 steps to pass $k = 3$. Which of 5 and 8 is best is **not settled**: most rows say 5, the last says 8 by a hair, and another start or rate can turn it round.

# %% tags=["quiz"]
quiz("5.longer", r"""
? Which of these sentences does the table support?
( ) $k = 8$ is the best context length :: Only the last row says so, by 0.002 nats. In the other four 5 or 3 is better.
( ) With 128 hidden units contexts longer than 3 do not help :: The first row says so. In the other four, with the same 128 units, 5 is better than 3.
(x) With 128 hidden units it depends on the training whether more than 3 characters help :: The models are the same in every row. Only the training changes, and with it the order.
( ) Adam is better than plain gradient descent :: Compare rows 3 and 4: plain descent with 100,000 steps ends lower than Adam with 20,000. Budgets that differ cannot settle that.
""")

# %% [markdown]
# So the sentence "longer contexts do not help" was true, and far too short. The whole of it is: *at this width, this budget, this start and with this optimizer*, longer contexts did not help. The first sweep measured the training as much as the model. That holds for many a table that you will read.

# %% [markdown]
# ## What the backward pass must remember
#
# The backward rule of tanh needs the hidden outputs that the forward pass left. So they are kept: for 16 layers of 128 units and a batch of 64 that is $16\cdot 128\cdot 64 = 131{,}072$ numbers. In general, for $L$ layers of width $h$ and a batch of $B$, it is $L\cdot h\cdot B$; with $L = 16$, $16hB$. Such outputs are called activations. They, and not the weights, are often what fills the memory of large models.
#
# [Checkpointing](../glossary.ipynb#checkpointing) trades time for memory. Keep only every 4th layer's output: the checkpoints 4, 8, 12 and 16. On the way back, when layers 13 to 15 are needed, compute them once more from checkpoint 12; use them; forget them; go on with 9 to 11. At the worst moment there are 4 checkpoints and 3 recomputed layers: $7hB$ instead of $16hB$. The price: $16 - 4 = 12$ layers were computed twice, $12hB$ numbers.
#
# In general, with a checkpoint after every `every` layers: stored at the peak $(L/\texttt{every} + \texttt{every} - 1)\,hB$, recomputed $(L - L/\texttt{every})\,hB$.

# %%
L = 16
for every in (1, 2, 4, 8, 16):  # change L, to another power of two
    kept = [layer for layer in range(1, L + 1) if layer % every == 0]
    again = [layer for layer in range(1, L + 1) if layer % every]
    print(f"every {every:>2}: kept {len(kept):>2} layers, at the peak {len(kept) + every - 1:>2}, recomputed {len(again):>2}")

if not quiet():
    steps_between = [1, 2, 4, 8, 16]
    draw_lines(
        steps_between,
        {
            "stored at the peak": [16 // e + e - 1 for e in steps_between],
            "recomputed": [16 - 16 // e for e in steps_between],
        },
        "Memory is least in the middle, near √L", "layers from checkpoint to checkpoint", "layers (of hB numbers each)",
    )

# %% [markdown]
# *Few checkpoints: long segments to recompute at once. Many checkpoints: many to keep. For 16 layers every 4th is best.*

# %% tags=["quiz"]
quiz("5.predict-memory", r"""
? What does checkpointing change about the gradient?
( ) It becomes a little less exact :: The same numbers are computed from the same numbers, only later.
(x) Nothing :: What was forgotten is computed again, and is what it was. (Unless something random is drawn anew.)
( ) It skips the layers that were not kept :: They are recomputed, not skipped.
( ) It is an average over segments :: Nothing is averaged.
""")

# %% [markdown]
# ### Exercise 5.10 What is stored (more)
#
# ●●○○○ · 4 minutes
#
# Write **`activations_stored(L, h, B)`** and **`checkpointed(L, h, B, every)`**.
#
# - `activations_stored` returns how many hidden outputs an $L$-layer network of width $h$ keeps for a batch of $B$.
# - `checkpointed` returns a pair: the number of hidden outputs in memory at the worst moment, and the number that is computed a second time, when the output of every `every`-th layer is kept. `every` divides `L`.
# - All whole numbers. No errors to raise.
#
# Example: `checkpointed(16, 1, 1, 4)` is `(7, 12)`.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "5_10-solution", "locked": false, "solution": true, "task": false}
def activations_stored(L: int, h: int, B: int) -> int:
    """Hidden outputs kept for the backward pass."""
    ### BEGIN SOLUTION
    return L * h * B
    ### END SOLUTION


def checkpointed(L: int, h: int, B: int, every: int) -> tuple[int, int]:
    """(stored at the peak, recomputed) when every every-th layer is kept."""
    ### BEGIN SOLUTION
    checkpoints = L // every
    return (checkpoints + every - 1) * h * B, (L - checkpoints) * h * B
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "5_10", "locked": true, "points": 3, "solution": false, "task": false}
check("5.10", activations_stored, checkpointed)
### BEGIN HIDDEN TESTS
from autograder.student import grade
grade("5.10", activations_stored, checkpointed)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>My peak is one layer too high</summary>
#
# The last layer of a segment is a checkpoint, and has been counted.
#
# </details>
# <details><summary>How many are recomputed, one segment or all?</summary>
#
# In memory there is one segment at a time. But in the course of the pass every segment has its turn.
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# $L/\texttt{every}$ checkpoints stay all the time; while a segment is worked on, its other $\texttt{every} - 1$ layers are there as well. Whatever is no checkpoint is computed twice.
#
# {{solution 5.10}}

# %%
with when_ready("5.10"):
    stored, (peak, again) = activations_stored(16, 128, 64), checkpointed(16, 128, 64, 4)
    print(f"16 layers of 128 units, batch of 64: {stored:,} numbers; with checkpoints {peak:,}, and {again:,} computed twice")

# %% [markdown]
# ## The model writes
#
# A language model gives probabilities for the next character. To write, draw one, append it, move the window on by one, and again. *Draw*: if `e` has probability 0.3, it should come in 3 cases of 10. Always taking the most likely character is not writing; such text soon runs in circles.
#
# Where does the first context come from? From a prompt of at least $k$ characters. Of a longer one only the last $k$ count: a model with $k = 3$ has forgotten the rest.

# %%
scores = torch.tensor([2.0, 1.0, 0.0])  # change them
p = torch.softmax(scores, dim=0)
draws = torch.multinomial(p, 2000, replacement=True, generator=torch.Generator().manual_seed(0))
shares = [(draws == i).float().mean().item() for i in range(3)]
print("probabilities", [round(x, 3) for x in p.tolist()])
print("drawn        ", [round(x, 3) for x in shares])

if not quiet():
    bars = {f"p({i}) = {x:.2f}": share for i, (x, share) in enumerate(zip(p.tolist(), shares, strict=True))}
    draw_bars(bars, "Drawn as often as the model says", "share of 2,000 draws")

# %% tags=["quiz"]
quiz("5.predict-writing", r"""
? You sample 200 characters from the *untrained* model. What do you expect?
( ) The most frequent letters of English, in no particular order :: It has not seen any English yet.
(x) A jumble in which all characters are about equally frequent :: The recipe makes all scores nearly 0, so softmax is nearly even.
( ) 200 times the same character :: That would be a model that is sure of something.
( ) An error: it has to be trained first :: Any parameters give probabilities.
""")

# %% [markdown]
# ### Exercise 5.8 Sampling text
#
# ●●●○○ · 8 minutes
#
# Write **`generate(params, prompt, n, rng)`**.
#
# - `params`: the dict of 5.3; `prompt`: a list of at least $k$ token numbers; `n`: how many new ones to draw; `rng`: a `torch.Generator`.
# - Each new id is drawn with the model's probabilities after the last $k$ ids, those just drawn included. $k$ follows from the shapes: `W1.shape[1] // C.shape[1]`.
# - Returns the `n` new ids as a list of whole numbers, without the prompt. The prompt stays as it was. No errors to raise.
#
# Example: say $k = 3$, the prompt is `[3, 1, 4, 1, 5]` and `n` is 2. The first id is drawn with the probabilities after `4, 1, 5`. If it is 9, the second is drawn after `1, 5, 9`. If that is 2, the answer is `[9, 2]`.
#
# Useful: `torch.multinomial(p, 1, generator=rng)` draws one index with the probabilities `p`.

# %% nbgrader={"schema_version": 3, "grade": false, "grade_id": "5_8-solution", "locked": false, "solution": true, "task": false}
def generate(params: dict, prompt: list[int], n: int, rng: torch.Generator) -> list[int]:
    """n new token numbers that go on from the prompt."""
    ### BEGIN SOLUTION
    k = params["W1"].shape[1] // params["C"].shape[1]
    ids = list(prompt)
    with torch.no_grad():
        for _ in range(n):
            z = ngram_logits(params, torch.tensor([ids[-k:]]))[0]
            ids.append(torch.multinomial(torch.softmax(z, dim=0), 1, generator=rng).item())
    return ids[len(prompt) :]
    ### END SOLUTION

# %% nbgrader={"schema_version": 3, "grade": true, "grade_id": "5_8", "locked": true, "points": 5, "solution": false, "task": false}
check("5.8", generate)
### BEGIN HIDDEN TESTS
from autograder.student import grade
grade("5.8", generate)
### END HIDDEN TESTS

# %% [markdown] tags=["hints"]
# <details><summary>Shape errors in ngram_logits</summary>
#
# It takes a batch: contexts of shape `(B, k)`. One context is a batch of one: `torch.tensor([last_k])`. Then take row 0 of the scores.
#
# </details>
# <details><summary>My text runs in circles</summary>
#
# Either you take the largest score instead of drawing, or your context does not move on. Is what you have just drawn part of the next context?
#
# </details>
# <details><summary>It says that the prompt has changed</summary>
#
# `prompt.append` writes into the list that you were given. Copy it first: `list(prompt)`.
#
# </details>
# <details><summary>multinomial complains about negative numbers</summary>
#
# It wants probabilities, and the model gives scores. Softmax lies between them.
#
# </details>

# %% [markdown] tags=["solution-drawer", "self-study"]
# A copy of the prompt grows; its last $k$ entries are the context; what was not in the prompt is the answer.
#
# {{solution 5.8}}

# %%
with when_ready("5.1", "5.3", "5.4", "5.5", "5.6", "5.7", "5.8"):
    vocabulary, train_ids, _ = token_ids()
    rng = torch.Generator().manual_seed(1)
    prompt = train_ids[:13].tolist()  # the first words; a model with k = 3 sees the last three characters of them
    n = 5 if quiet() else 300
    texts = {"before training, k = 3": init_params(len(vocabulary), 16, 3, 128, rng)}
    if sweep:
        texts |= {f"after the sweep, k = {k}": sweep[k]["params"] for k in (1, 3)}
    if better:
        texts["trained with Adam, k = 8"] = better[8]["params"]
    for name, params in texts.items():
        written = decode(generate(params, prompt, n, rng), vocabulary)
        if not quiet():
            print(f"——— {name}\n{decode(prompt, vocabulary)}{written}\n")

# %% [markdown]
# *Before training: noise. $k = 1$: pairs of letters that go together, and no words. $k = 3$: syllables, spaces at the right distances, short words, speakers' names if the text has any. $k = 8$: more of the words exist. None of it means anything, and for a model of some twenty thousand numbers that never sees more than eight characters, that is a great deal.*

# %% [markdown]
# ## In your own words
#
# Three questions, marked by a person against a rubric. Write as if to a classmate who missed this lesson: full sentences, numbers where they help. Half a page each is plenty.

# %% [markdown] nbgrader={"schema_version": 3, "grade": false, "grade_id": "5_written-rubric", "locked": true, "points": 0, "solution": false, "task": true}
# **(a) What kind of worse.** In the first sweep the model with $k = 8$ is worse than that with $k = 3$ on the training set *and* on the validation set. A classmate says "too many parameters, it overfits". Answer with the numbers of your table. (If you have no sweep of your own, use the reference run.)
#
# **(b) Which bottleneck.** Name two interventions that tell an optimization bottleneck from a representational one. For each, say what you would expect to see in either case. Then say what the experiments of this lesson showed, and what they did not show.
#
# **(c) Twins.** Why does permuting hidden units leave the function unchanged? Hence explain why two hidden units that start exactly alike stay alike under gradient descent.
#
# ### BEGIN MARK SCHEME
# **Rubric, 8 points.**
#
# (a), 2 points
#
# - 1: names the signature of overfitting (training better, validation worse) and finds that it is absent: training is worse too, with the two training losses stated (about 1.94 against 1.92 in the reference run).
# - 1: concludes underfitting. (A remark that the gap between training and validation is somewhat larger for k = 8 is fine, as long as it does not replace the conclusion.)
#
# (b), 4 points
#
# - 1: an intervention on the training that leaves the family as it is (more steps, another optimizer, another start, a tuned learning rate): if the training loss falls below that of k = 3, training was the bottleneck; if it stays however it is trained, that speaks for representation.
# - 1: an intervention on the family with the training kept (wider hidden layer, or a check that the family contains the smaller model: initialize k = 8 from a trained k = 3 with zero columns): if a wider model trained alike is no better, width was not what was missing. Two different interventions of the first kind also earn this point if their outcomes are told apart.
# - 1: evidence: with 30,000 steps k = 5 passes k = 3; with Adam k = 5 and k = 8 pass it, and the training loss of k = 8 falls below that of k = 3. So an optimization bottleneck was there.
# - 1: the limits: shown at this width, budget and start, on one text; it does not show that no representational limit exists as well; which of 5 and 8 is best is not settled. One such limit, clearly stated, is enough.
#
# (c), 2 points
#
# - 1: the scores depend on the hidden units only through a sum over units, each term being (column of W2) times h_i, and h_i comes from row i and bias i alone; moving all three together reorders the sum.
# - 1: swapping two units that are alike changes neither function nor parameters; hence by symmetry their gradients are equal; equal parameters minus equal steps are equal again, at every step.
#
# **Comments ready to use.** Type a code, `#numbers` say, into the comment box under the answer, several if you like, with words of your own around them. The student's feedback shows the whole text instead.
#
# - `#numbers` Argue with numbers: both losses of both models, from your table or the reference run. Reread *What kind of worse*.
# - `#signature` Before you choose the word, write down which way each of the two losses has to go if it fits. Then look at the table. Reread *What kind of worse*.
# - `#one-thing` Your two interventions change the same thing, or several things at once. What changes the search alone, what the family alone? Reread *What kind of worse*.
# - `#either-way` Say for each intervention what you would see in the one case and what in the other. An experiment that comes out the same either way tells nothing. Reread *The same models, trained better*.
# - `#evidence` Say what the longer and the other training showed, with the numbers, and what follows from them. Reread *The same models, trained better*.
# - `#how-far` Say where the evidence ends. What was the same in all these runs, so that they cannot tell what it does? Reread *The same models, trained better*.
# - `#sum` That the function stays the same is said and not shown. Write one score as it is made from the hidden values, and see what moves when two units change places. Reread *Hidden units have no order*.
# - `#every-step` You say that the units begin alike. Why do they get equal gradients, and what follows for the next step? Reread *Hidden units have no order*.
#
# **Model answer.**
#
# (a) Overfitting would mean that the model has learned the training text too well: its training loss would be lower, and only the validation loss higher. In the reference run k = 8 has 1.9372 on training against 1.9171 for k = 3, and 2.0329 against 1.9821 on validation. It is worse on both. It has not even learned the text that it was shown as well as the smaller model. That is underfitting.
#
# (b) First: train the same model better, with more steps or with Adam. If the bottleneck is optimization, the loss of k = 8 falls below that of k = 3, since the model is the same and only the search has changed. If it is representation, it stays above, however long one trains. Second: widen the hidden layer and train exactly as before. If width was missing, the loss falls; if it does not, width was not the problem. One can also start k = 8 from a trained k = 3, with zeros in the columns for the older characters: it then begins at the loss of k = 3, which proves that its family contains such a point. What the lesson showed: with 30,000 steps k = 5 passes k = 3, and with Adam both k = 5 and k = 8 do; the training loss of k = 8 then lies below that of k = 3. So the first sweep was held back by optimization. What it did not show: that the width plays no part, or which of 5 and 8 is best; and all of it is one text and one width.
#
# (c) The scores are z = W2 h + b2, and W2 h is the sum over the units of (column i of W2) times h_i. The value h_i is made from row i of W1 and entry i of b1. If all three move to another place together, the same terms are added in another order, and the sum is the same. Now let units 0 and 1 be alike in row, bias and column. Swapping them leaves all parameters as they are. The derivative of the loss by a weight of unit 0 must then be the same as that by the same weight of unit 1, because the swap exchanges the two and changes nothing. So both get the same step and are alike afterwards, and the argument starts again. They stay alike for ever.
# ### END MARK SCHEME

# %% [markdown] nbgrader={"schema_version": 3, "grade": true, "grade_id": "5_written", "locked": false, "points": 8, "solution": true, "task": false}
# *Write your answer here, in place of this line.*

# %% [markdown]
# ## Check yourself
#
# Every option has something to say, the right ones too. Try as often as you like; nothing is stored or sent.

# %% tags=["quiz"]
quiz("5.quiz", r"""
? Minibatching changes …
( ) … the chain rule: gradients become approximate :: The gradient of each minibatch's loss is exact.
( ) … the model :: The same functions, the same parameters.
( ) … the validation loss, because it is measured on fewer examples :: It is measured on all of them.
(x) … the estimator: an exact gradient, but of another, random loss :: On average it is the gradient of the full loss.

? "Let us double the batch size, that is free: the machine computes in parallel." Is it?
( ) Yes: the gradient gets better, and nothing else has to change for it :: Twice the work for each step, and fewer steps in the same time.
( ) Yes, as long as it fits into memory :: Memory is one price. Steps are another.
(x) No: batch size, learning rate and throughput are chosen together :: A less noisy gradient may allow a larger step. Whether that pays depends on the machine and on the schedule.
( ) No: larger batches make gradients biased :: Every batch size is right on average.

? Your loss curve falls to 0 within a minute, on the validation set too. What do you suspect first?
(x) The target can be read off the context :: It was not shifted, or shifted the wrong way, and stands in the context itself.
( ) A model that has understood how the language works :: No model of eight characters predicts text with certainty.
( ) A learning rate that is too small :: That makes curves slow.
( ) Overfitting :: Then the validation loss would not fall.

? Your gradients grow from step to step by the same amount. Which line is missing?
( ) `with torch.no_grad()` around the update :: Without it, the update would raise an error.
(x) The one that clears the gradients :: PyTorch adds to `.grad`. After $n$ rounds there is $n$ times the gradient.
( ) `loss.item()` :: That one is about memory.
( ) The update :: Without an update the gradient would be the same each time, if it were cleared.

? Somebody clears the gradients once per epoch (a pass over all examples), not once per step. What is the update then made with?
(x) The sum of all minibatch gradients since the last clearing :: The older ones were taken at older parameters. The steps get longer and longer, and point to where the loss once fell.
( ) The gradient of the newest minibatch :: Only right after clearing.
( ) The mean of all minibatch gradients of the epoch so far :: Nothing divides.
( ) Zeros :: One gets them, or nothing at all, by clearing between backward and update.

? `losses` has shape (64,) and `weights` has shape (64, 1). What is the shape of `losses * weights`?
( ) (64,) :: So it was meant.
(x) (64, 64) :: A row against a column makes a square: every loss with every weight. Its mean is a number too, and nothing complains.
( ) (64, 1) :: The row is not turned into a column.
( ) An error :: Both shapes fit, by the rules of broadcasting.

? Why is the validation part cut off *before* windows are made?
( ) Because windows take memory :: They do, but that is not the reason.
( ) So that both parts get equally many windows to be measured on :: They do not: nine tenths of the text is for training.
( ) Because shuffling the windows would destroy the text :: Each window keeps its characters in order, wherever it is put.
(x) So that no window contains characters of both parts :: Otherwise the model is tested on text that it has partly seen.

? The family of functions with $k = 8$ contains that with $k = 3$. So …
(x) … if $k = 8$ has the higher training loss, the search was at fault :: A point as good as that of $k = 3$ exists in its family and was not found.
( ) … $k = 8$ trains to a lower training loss :: Only the best *possible* training loss is at most as high.
( ) … $k = 8$ has the lower validation loss, if it is trained long enough :: Not even the best possible training loss promises that.
( ) … $k = 8$ overfits, with more parameters for the same text :: That would be a lower training loss with a higher validation loss.

? With Adam, $k = 8$ gets below $k = 3$ on the training set. What has been shown?
( ) That Adam is the best optimizer :: One comparison, one text.
(x) That an optimization bottleneck held the first sweep back :: The model stayed the same; only the training changed. So the model could do better than the first sweep let it.
( ) That longer contexts are always better, if trained well enough :: Which of 5 and 8 is best is not even settled here.
( ) That width does not matter :: Nobody changed the width.

? All 128 hidden units start with the same row of $W_1$, the same bias and the same column of $W_2$. What becomes of them?
( ) They specialize after some time :: What should make them different?
( ) They get no gradients :: They get gradients, and all the same ones.
( ) They become random through the minibatches :: A minibatch is the same for all units.
(x) They stay alike, and count as one :: Same start, same gradients, for ever.

? A loss of 1.9821 nats per character is …
( ) … 0.861 bits :: Divided by $\log 10$: these are decimal digits.
( ) … 1.374 bits :: Multiplied by $\log 2$; a nat is more than a bit.
(x) … 2.860 bits :: Divided by $\log 2$.
( ) … 7.258 bits :: $e^{1.9821}$ is the perplexity.

? What does `with torch.no_grad()` around the update prevent?
(x) That the update is recorded, as a part of what is differentiated :: It is no part of the model.
( ) That old gradients are added to new ones :: For that one clears.
( ) That parameters which have been changed get gradients in the next step :: They remain leaves that ask for gradients.
( ) Overflow :: It has nothing to do with sizes.
""")

# %% [markdown]
# ## Common mix-ups
#
# - **Backpropagation and gradient descent.** One finds the direction. The other is one of many ways to use it; Adam is another.
# - **Clearing and not recording.** `.grad = None` is about old gradients, `no_grad` about new graphs. A step needs both.
# - **A name and a tensor.** `p = p - …` renames, `p -= …` changes.
# - **Training loss and validation loss.** The same formula on two sets. Overfitting is a statement about *both*.
# - **Can and did.** What a family contains, and what training found in it.
# - **Mean of means and mean.** They differ as soon as the last batch is smaller.
# - **Nats and bits.** Divide by $\log 2$.
# - **Unbiased and exact.** A minibatch gradient is right on average, and wrong each time.

# %% [markdown]
# ## What it can and cannot explain
#
# You have trained a language model from nothing: every line between the text and the sampled text is yours, and the one that is not, `backward`, you have written twice in other lessons.
#
# The sweep tells how four models did with one training procedure on one text. It does not tell what context length is "right". The better-trained runs tell that the procedure was a bottleneck; they do not tell that it was the only one.
#
# A low loss says that the model predicts characters well, on text like this. It does not say that it understands, and a row of $C$ that lies near another one is a fact about use in this text, not a meaning.

# %% [markdown]
# ## Real-world reps
#
# - [ ] Start $k = 8$ from your trained $k = 3$: copy everything, with zeros in the columns of $W_1$ for the five older characters. Where does its training loss begin? Where does it go?
# - [ ] Double the width, with 15,000 steps as before. Does $k = 8$ now pass $k = 3$? What does that say about the bottleneck?
# - [ ] Take the last quarter with rate 0.01 out of the schedule. What happens to the noise in the curve?
# - [ ] Forget to clear, on purpose. After how many steps does the loss tell you?
# - [ ] Point the environment variable `AUTOGRADER_CORPUS` at a text of your own, start the notebook again, and let the model write.
# - [ ] Divide the scores by a temperature of 0.5 before the softmax in `generate`, then by 2. Which text do you like better?
# - [ ] Print the rows of $C$ that lie nearest to the row of `e`. Vowels?

# %% [markdown]
# ## Take it with you
#
# - Split first, then cut windows.
# - A step: clear, forward, backward, update; the update is not recorded.
# - A minibatch gradient is an unbiased estimate; its variance falls like $1/B$.
# - Know your baselines: $\log V$, and the counted bigram.
# - Worse on training too means underfitting. Then ask: cannot, or was not trained to? Change one thing and look.
# - Say what you measured: *at this width, budget and start*.
#
# **Next:** that was the last lesson. The course ends where a larger one could begin: the same loop, with a transformer in place of `ngram_logits`.

# %% [markdown]
# ## Going further
#
# - Robbins, Monro: *A Stochastic Approximation Method* (1951). Where stochastic gradient descent comes from, in a dozen pages.
# - Bengio, Ducharme, Vincent, Jauvin: *A Neural Probabilistic Language Model* (2003). The model of lessons 4 and 5, on words.
# - Karpathy: *nanoGPT*. Find the three lines of a training step in `train.py`. Where does it accumulate microbatches?
# - PyTorch: *Autograd mechanics*. On leaves, `no_grad` and in-place changes.
# - Griewank, Walther: *Evaluating Derivatives* (2nd edition, 2008). The chapters on checkpointing: memory against time, done properly.
# - Baydin, Pearlmutter, Radul, Siskind: *Automatic Differentiation in Machine Learning: a Survey* (2018).
#
# More on the [resources page](../resources.ipynb); every term is in the [glossary](../glossary.ipynb).

# %% [markdown]
# ## Not landing?
#
# Go back to the primary source: for this lesson PyTorch's page on autograd mechanics, or Bengio et al. for the model. A lesson compresses, and compression is where understanding leaks. Look up the terms in the [glossary](../glossary.ipynb).
#
# And if it is the lesson that is unclear, not the matter: that is a defect. Please open an issue and say where you stopped.
