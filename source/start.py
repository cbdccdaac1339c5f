# %% [markdown]
# # The Backward Pass
#
# **Training a language model comes down to one question, asked millions of times: how would the loss move if this number were a little larger?** This course shows how a program answers it, for every number at once, and lets you build the program.
#
# ![The course's running example as a graph: values on the way forward, one number on the way back along every edge](start.svg)
#
# *Values go forward, in blue. Then one number comes back along every edge, in orange; what arrives at a node is added up. By lesson 3 you have built this.*
#
# Five lessons, each a notebook that you work in. You write the code that matters, in pieces of a few lines, and every piece is checked the moment you ask. At the end you train a small language model with what you know.

# %% [markdown]
# ## Where you are
#
# Click into the next cell and press Shift and Enter: it draws the way through the course, with what your checks have found so far.

# %%
from autograder.student import show_progress

show_progress()

# %% [markdown]
# ## The lessons
#
# | | lesson | the idea | what you build |
# |---|---|---|---|
# | **1** | **[The chain rule](1-chain-rule/chain_rule.ipynb)** | A derivative is a sum over paths. | graphs as data, finite differences as a witness |
# | **2** | **[Forward mode](2-forward-mode/forward_mode.ipynb)** | Carry a tangent along: one pass for each input. | dual numbers |
# | **3** | **[Reverse mode: the backward pass](3-reverse-mode/reverse_mode.ipynb)** | Send one number back along every edge: one pass for everything. | an automatic differentiation engine |
# | **4** | **[Backprop through softmax and an n-gram network](4-softmax-backprop/softmax_backprop.ipynb)** | The same messages, as arrays. | a language model's backward pass by hand |
# | **5** | **[Training the neural n-gram](5-ngram-training/ngram_training.ipynb)** | A minibatch estimates the gradient; steps use it. | a trained model that writes text |
#
# Plan about 75 minutes for the core of each. Each lesson says what it builds on and brings along whatever earlier lessons made, so you can begin with any of them. **Lesson 1 is the natural place: ten minutes in, you have drawn a graph and predicted a gradient.** One small expression, $L = (ab + a)\tanh b$, runs through all of them, and so does one table of its derivatives, reached in seven ways.
#
# You need Python (functions, lists, dictionaries) and calculus (what a derivative is, and the chain rule in one variable).

# %% [markdown]
# ## How a lesson works
#
# Read a little, run a little, predict, then run again. A lesson alternates between a short explanation, an example with numbers that you can change, a picture of that very computation, and an exercise.
#
# **Run a cell** with Shift and Enter. Start at the top: the first code cells of a lesson load what the rest needs. After that you may run cells in any order, and again.
#
# **An exercise** is a function with a comment `# YOUR CODE HERE`. The line below it, `raise NotImplementedError(...)`, names the exercise. Replace that line by your own code. Dots show how hard it is, *(more)* and ★ mark what lies beyond the core. Empty exercises never stop you: later cells wait politely and tell you what they wait for.
#
# **Questions** with options explain every answer, wrong ones too. Choosing a wrong one is often the quickest way to learn something.

# %% [markdown]
# ## How checks work
#
# Under each exercise stands a cell such as `check("3.1", Value)`. Run it as often as you like.
#
# - It tries your function on the worked examples and on fresh random cases, and compares the results with two independent witnesses: finite differences and PyTorch.
# - It marks parts one by one. A mistake in one operation does not cost you the others.
# - When something is off it shows the smallest case that fails, with your number and the expected one, often as a picture, and tells you which section to reread.
# - It looks at what your code computes, not at how it is written. Any correct way is right.
#
# If your notebook comes from a course, the check there runs the worked examples only; the rest runs at grading.

# %% [markdown]
# ## How to use hints
#
# Below each check there are drawers. Each is titled with a complaint in your own words: *"My gradient is exactly half of what it should be"*. Open the one that sounds like you. Try again before you open the next.
#
# The last drawer holds a full solution with its reasoning. Reading it after an honest attempt teaches a lot; reading it first teaches little.
#
# Stuck for ten minutes? Go on. The text after an exercise never needs your answer, and things often look different an hour later.

# %% [markdown]
# ## Beside the lessons
#
# - [Glossary](glossary.ipynb): every term in a sentence or two.
# - [Resources](resources.ipynb): the primary sources, and why to read each.
#
# If a lesson is unclear, that is a defect. Please open an issue and say at which sentence you stopped.
