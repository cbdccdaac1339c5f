# %% [markdown]
# # Resources
#
# The sources behind the course, and why to read each. Back to the [start page](start.ipynb).

# %% [markdown]
# ## Automatic differentiation
#
# - **Baydin, Pearlmutter, Radul, Siskind, *Automatic Differentiation in Machine Learning: a Survey*.** Journal of Machine Learning Research 18, 2018. [arXiv:1502.05767](https://arxiv.org/abs/1502.05767). *Why:* both modes side by side, what automatic differentiation is not, and a history full of rediscoveries. The best single next step.
# - **Griewank, Walther, *Evaluating Derivatives: Principles and Techniques of Algorithmic Differentiation*.** 2nd edition, SIAM, 2008. *Why:* the standard book. Exact counts of operations and memory, and checkpointing done properly.
# - **Baur, Strassen, *The Complexity of Partial Derivatives*.** Theoretical Computer Science 22, 1983. *Why:* the theorem behind "one pass gives everything": all partial derivatives for a constant factor.
# - **Olah, *Calculus on Computational Graphs: Backpropagation*.** 2015. [colah.github.io](https://colah.github.io/posts/2015-08-Backprop/). *Why:* the clearest pictures of paths, factoring, and the two directions.

# %% [markdown]
# ## In practice
#
# - **PyTorch, *Autograd mechanics*.** [docs.pytorch.org](https://docs.pytorch.org/docs/stable/notes/autograd.html). *Why:* how a real system encodes the history, what it saves for the backward pass, and what `no_grad` and in-place operations do.
# - **PyTorch, *Automatic differentiation with torch.autograd*.** [docs.pytorch.org](https://docs.pytorch.org/tutorials/beginner/basics/autogradqs_tutorial.html). *Why:* a first walk through `requires_grad`, `backward` and `detach`.
# - **Karpathy, *nanoGPT*.** [github.com/karpathy/nanoGPT](https://github.com/karpathy/nanoGPT). *Why:* a training loop that you can read in one sitting. Find where gradients are cleared, computed and used.
# - **Karpathy, *micrograd*.** [github.com/karpathy/micrograd](https://github.com/karpathy/micrograd). *Why:* an engine like the one of lesson 3 in about 100 lines. Having written yours, find two places where it behaves differently.

# %% [markdown]
# ## Optimization and language models
#
# - **Robbins, Monro, *A Stochastic Approximation Method*.** Annals of Mathematical Statistics 22, 1951. *Why:* where stochastic gradient steps come from: following noisy estimates still leads somewhere.
# - **Bengio, Ducharme, Vincent, Jauvin, *A Neural Probabilistic Language Model*.** Journal of Machine Learning Research 3, 2003. [jmlr.org](https://www.jmlr.org/papers/v3/bengio03a.html). *Why:* the model of lessons 4 and 5: embeddings, a tanh layer, a softmax.
