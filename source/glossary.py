# %% [markdown]
# # Glossary
#
# Every term of the course in a sentence or two. Lessons link here from where a word is first used. Back to the [start page](start.ipynb).

# %% [markdown]
# ## A
#
# ### absolute error
#
# $|g - \hat g|$, the distance between two numbers. Strict for large numbers and lenient for small ones; see [relative error](#relative-error).
#
# ### activation
#
# A value computed on the way forward, above all the outputs of a network's layers. Training has to keep activations until the backward pass has used them.
#
# ### acyclic graph
#
# A directed graph without a directed cycle: following the arrows you never come back to where you started. See [DAG](#DAG).
#
# ### adjoint
#
# The adjoint $\bar v = \partial L/\partial v$ of a node $v$: how fast the loss moves when this node alone is nudged. PyTorch calls it the gradient of $v$.
#
# ### adjoint identity
#
# $\bar y^\top(J\dot x) = (J^\top\bar y)^\top\dot x$: forward and reverse mode must agree on this number, which makes it a test that needs no finite differences.
#
# ### affine map
#
# $q = W r + b$: a matrix times a vector, plus a bias. Its backward rules are $\bar r = W^\top\bar q$, $\bar W = \bar q\,r^\top$ and $\bar b = \bar q$.
#
# ### arithmetic circuit
#
# A computational graph whose operations are $+$, $-$, $\times$ and $/$ only. Its size is the number of its operation nodes.
#
# ### autograd
#
# The everyday name for software that records operations and differentiates them for you, as PyTorch does. It is automatic differentiation put to use, not another kind of calculus.
#
# ### automatic differentiation
#
# Computing derivatives by letting a program apply the chain rule, step by step, to numbers. It builds no formula (that would be symbolic) and nudges nothing (that would be numerical).

# %% [markdown]
# ## B
#
# ### backpropagation
#
# Reverse-mode automatic differentiation of a network's loss. It computes the gradient; what is done with the gradient is another matter.
#
# ### backward pass
#
# Going through a graph from the root to the leaves, children before parents, sending one message along each edge.
#
# ### basis vector
#
# A vector with one 1 and otherwise zeros. As the seed of a forward pass it singles out one input.
#
# ### batch size
#
# How many examples a minibatch holds. A larger one gives a steadier estimate of the gradient and costs more; it is chosen together with the learning rate.
#
# ### bigram model
#
# A language model that looks at one preceding token only. It can be had by counting pairs.
#
# ### bit
#
# The unit of information for logarithms to base 2. Nats divided by $\log 2$ are bits.

# %% [markdown]
# ## C
#
# ### capacity
#
# How wide a range of functions, and how complicated ones, a model family can represent.
#
# ### central difference
#
# $[f(x + h) - f(x - h)]/(2h)$, an estimate of $f'(x)$ whose error falls with $h^2$, until rounding takes over.
#
# ### chain rule
#
# If $r$ influences $q$ through $s_1, \dots, s_m$, then $dq/dr$ is the sum over $j$ of $\partial q/\partial s_j\cdot\partial s_j/\partial r$. On a graph: multiply along each path, add across paths.
#
# ### cheap-gradient principle
#
# All partial derivatives of one scalar cost, together, only a constant factor more arithmetic than the scalar itself. Baur and Strassen proved it for arithmetic circuits; the price is memory.
#
# ### checkpointing
#
# Keeping only some of the forward values, and recomputing the others during the backward pass: less memory for more work.
#
# ### child
#
# A node at the head of an arrow: it is computed directly from its parents.
#
# ### closure
#
# A function that remembers the variables of the place where it was made. A backward rule is a closure over the node's parents.
#
# ### computational graph
#
# A record of a computation: one node for each value, one arrow from each value to every value computed directly from it. It is not the diagram of a neural network.
#
# ### concatenation
#
# Joining vectors end to end.
#
# ### context length
#
# How many preceding tokens a language model is given; $k$ in this course.
#
# ### cross-entropy
#
# The loss $-\log p_y$: minus the logarithm of the probability that the model gave to what really came. In nats with the natural logarithm.

# %% [markdown]
# ## D
#
# ### DAG
#
# A directed acyclic graph. One forward pass of any program makes one.
#
# ### depth-first search
#
# Exploring a graph by following one path as far as it goes before trying the next. Appending each node after its parents gives a topological order.
#
# ### detach
#
# To go on with a value's number but without its history. Nothing flows back through a detached value. Intended in a log, an accident inside a model.
#
# ### directed cycle
#
# A directed path of at least one edge that ends where it began.
#
# ### directed graph
#
# Nodes, and arrows between some of them.
#
# ### directed path
#
# A sequence of edges, each followed in the direction of its arrow, each beginning where the last one ended.
#
# ### directional derivative
#
# How fast $f$ moves when its inputs move in direction $r$: $\nabla f^\top r$. One forward pass seeded with $r$ computes it.
#
# ### dual number
#
# A value together with its tangent, with arithmetic that carries both along. Forward mode in the shape of a number.

# %% [markdown]
# ## E
#
# ### edge
#
# An arrow $u \to v$ of a computational graph: $v$ is computed directly from $u$. It carries a local derivative. An operation that takes the same value twice has two edges from it.
#
# ### embedding
#
# A learned vector that stands for a token. The embedding matrix has one row for each token of the vocabulary; looking up a token reads its row.
#
# ### empirical loss
#
# The average of the loss over the examples at hand. Empirical: over data that was observed.
#
# ### evaluation
#
# The unit in which the cost of a derivative is measured: computing the function once, each primitive once.
#
# ### expression swell
#
# What happens to a formula when a part that is used twice is written out twice, again and again: it grows exponentially while the program stays short.

# %% [markdown]
# ## F
#
# ### fan-out
#
# A node has fan-out when more than one arrow leaves it, so that it influences the result in several ways. Its adjoint is then a sum of several messages.
#
# ### finite differences
#
# Estimating a derivative by nudging an input and dividing the change of the result by the nudge. Independent of all rules, approximate, and costly with many inputs.
#
# ### forward mode
#
# Automatic differentiation that carries tangents along with the values, from the inputs to the outputs. One pass for each input, all outputs at once.
#
# ### forward pass
#
# Computing the values of all nodes, parents before children.
#
# ### full-batch gradient descent
#
# Gradient descent whose every step uses all examples.

# %% [markdown]
# ## G
#
# ### gradient
#
# The vector of the partial derivatives of one number with respect to all parameters. In code also the `grad` of a single value: its adjoint.
#
# ### gradient check
#
# Comparing a gradient with finite differences. Agreement says that the derivative is right, not that the loss is.
#
# ### gradient descent
#
# Moving the parameters a little against the gradient, again and again. It uses gradients; it does not compute them.

# %% [markdown]
# ## H
#
# ### Hadamard product
#
# The product of two vectors entry by entry, written $\odot$.
#
# ### hidden constant
#
# The constant factor that $O$ and $\Theta$ leave unsaid.

# %% [markdown]
# ## I
#
# ### identity path
#
# In $y = x + S(x)$ the direct edge from $x$ to $y$. Its local derivative is exactly 1, so it sends $\bar y$ on unchanged; the sum that $x$ receives may still be anything.
#
# ### indicator
#
# $\mathbf 1_E$ is 1 where the statement $E$ is true and 0 where it is not.
#
# ### intermediate value
#
# A value between the inputs and the result.
#
# ### iteration
#
# One execution of an update rule.

# %% [markdown]
# ## J
#
# ### Jacobian
#
# The table of all partial derivatives $\partial y_i/\partial x_j$ of a function from vectors to vectors: one row for each output, one column for each input. Rarely written down; usually only multiplied with.
#
# ### Jacobian-vector product
#
# See [JVP](#JVP).
#
# ### JVP
#
# A Jacobian–vector product, $\dot y = J\dot x$: what forward mode computes at each step.

# %% [markdown]
# ## L
#
# ### leaf
#
# A node that was made directly, not computed from others: a parameter or an input. Gradients of leaves are kept from call to call.
#
# ### learning rate
#
# The factor $\eta$ in front of the gradient in an update: how large the step is. Also called step size.
#
# ### local derivative
#
# The derivative of a single operation with respect to one of its parents, the other parents held still. It belongs to an edge.
#
# ### log-sum-exp
#
# $\operatorname{lse}(z) = \log\sum_c e^{z_c}$. Cross-entropy is $\operatorname{lse}(z) - z_y$. Computed after taking out the largest $z$, so that nothing overflows.
#
# ### logit
#
# An unconstrained score, one for each possible answer. Softmax turns logits into probabilities.
#
# ### loss
#
# The number that training tries to make small.

# %% [markdown]
# ## M
#
# ### message
#
# What a child sends to a parent in a backward pass: the child's adjoint times the local derivative on the edge. Messages are added.
#
# ### microbatch
#
# A small part of a batch that is processed by itself to save memory, its gradients added to those of the other parts.
#
# ### minibatch
#
# A few examples drawn at random, whose average gradient estimates that of all examples.
#
# ### model family
#
# All functions that a model can be by choosing its parameters. Also called hypothesis class.

# %% [markdown]
# ## N
#
# ### n-gram model
#
# A language model that predicts the next token from a fixed number of tokens before it.
#
# ### nat
#
# The unit of information for natural logarithms.
#
# ### no_grad
#
# PyTorch's switch for not recording operations, used for updates and wherever no gradient is wanted.
#
# ### node
#
# A value in a computational graph: an input, or the result of one operation.
#
# ### numerical differentiation
#
# Estimating derivatives from values of the function, by finite differences.

# %% [markdown]
# ## O
#
# ### O and Theta
#
# $A = O(B)$: $A/B$ stays bounded as the problem grows. $A = \Theta(B)$: it stays between two positive constants. Both leave constant factors unsaid.
#
# ### objective
#
# The function that is being minimized.
#
# ### one-hot vector
#
# A vector with 1 at one place and 0 everywhere else.
#
# ### optimization bottleneck
#
# Training does not find the good members of a model family that has some.
#
# ### optimizer
#
# The rule that changes parameters, given their gradients.
#
# ### outer product
#
# A column times a row: the matrix with entries $q_i r_j$.
#
# ### output error signal
#
# $p - e_y$, the adjoint at the logits of softmax with cross-entropy: the difference of two probability vectors, not of a token and a number.
#
# ### overfitting
#
# The training loss goes on falling while the loss on unseen data rises.

# %% [markdown]
# ## P
#
# ### parameter
#
# A number whose value training chooses.
#
# ### parameter sharing
#
# One parameter takes part in several places of a computation. It has one value, and its gradient is the sum of the contributions from all places.
#
# ### parent
#
# A node at the tail of an arrow: its child is computed directly from it.
#
# ### perturbation confusion
#
# In nested forward mode, mixing up the tangents of the inner and the outer derivative. Each needs a mark of its own.
#
# ### preactivation
#
# A hidden unit's value before the nonlinear function is applied.
#
# ### primal
#
# The ordinary value of an input, as opposed to its tangent.
#
# ### primitive
#
# An operation that a graph does not take apart further, and whose derivative is known.

# %% [markdown]
# ## R
#
# ### relative error
#
# $|g - \hat g|/\max(1, |g|, |\hat g|)$. For numbers below 1 it is their distance; for large ones it is measured against their size.
#
# ### ReLU
#
# $\max(x, 0)$. Its slope is 1 for positive and 0 for negative inputs; at 0 any number from 0 to 1 will do.
#
# ### representation
#
# The vector by which a network stands for something, such as the hidden representation of a context.
#
# ### representational bottleneck
#
# No member of the model family can express the function that is needed.
#
# ### residual connection
#
# Adding a layer's input to its output, $y = x + S(x)$. It opens an identity path.
#
# ### reverse accumulation
#
# Another name of reverse mode: derivative contributions pile up while one moves against the arrows.
#
# ### reverse mode
#
# Automatic differentiation that carries adjoints from one result back to everything it depends on. One pass for all inputs.
#
# ### root
#
# The node from which a backward pass starts, usually the loss.
#
# ### rounding error
#
# The difference between a number and the nearest one that the machine can hold, about $10^{-16}$ of its size for float64. Subtracting nearly equal numbers makes it count; see [finite differences](#finite-differences).

# %% [markdown]
# ## S
#
# ### scatter-add
#
# Adding values into places of a larger array that are given by indices; repeated indices add up.
#
# ### seed
#
# What a pass starts from. In forward mode a direction in the inputs, one pass for each; in reverse mode the 1 at the loss.
#
# ### shape
#
# The lengths of an array along its axes. A gradient has the shape of what it is the gradient of.
#
# ### sink
#
# A node without children: an arrow ends there and none begins.
#
# ### slot
#
# A place for one operand of an operation. $a\cdot a$ has two slots, both filled by $a$: two edges, two local derivatives.
#
# ### softmax
#
# $p_j = e^{z_j}/\sum_c e^{z_c}$: turns scores into probabilities.
#
# ### source
#
# A node without parents: an input or a parameter.
#
# ### stochastic gradient descent
#
# Gradient descent with a minibatch's estimate in place of the full gradient. SGD for short.
#
# ### symbolic differentiation
#
# Deriving a formula for the derivative. Exact, but the formula may grow far beyond the program that it came from.

# %% [markdown]
# ## T
#
# ### tangent
#
# The tangent $\dot v$ of a node: how fast it moves when the inputs move in the direction of the seed.
#
# ### tensor
#
# An array of numbers with any number of axes: a vector has one, a matrix two.
#
# ### token
#
# A piece of text that a language model reads and predicts as a unit: here one character.
#
# ### topological order
#
# A list of the nodes in which every parent comes before its child. Every finite DAG has at least one, often several.
#
# ### topological sort
#
# An algorithm that finds a topological order.
#
# ### training set
#
# The examples that the parameters are fitted to.
#
# ### truncation error
#
# What an approximation leaves out. The central difference leaves out about $h^2 f'''(x)/6$; smaller steps make it smaller.

# %% [markdown]
# ## U
#
# ### underfitting
#
# Patterns that matter are missed even on the training set.
#
# ### upstream
#
# Short for upstream gradient: the adjoint of the node itself, as it arrives at the node's backward rule. It stands for everything between this node and the loss.

# %% [markdown]
# ## V
#
# ### validation set
#
# Examples kept out of training, to estimate how a model does on data that it has not seen.
#
# ### vector-Jacobian product
#
# See [VJP](#VJP).
#
# ### VJP
#
# A vector–Jacobian product, $\bar x = J^\top\bar y$: what reverse mode computes at each step, and what a backward rule is.
#
# ### vocabulary
#
# All tokens that a model knows, each with a number.

# %% [markdown]
# ## Z
#
# ### zeroing
#
# Setting the gradients of the parameters back to 0 before the next backward pass, because passes add.
