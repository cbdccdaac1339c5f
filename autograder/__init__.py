"""The Backward Pass: an interactive course on automatic differentiation, and its autograder.

Importing this package is cheap; everything heavy (torch, matplotlib, Jupyter) is imported where it is used.
"""

__version__ = "0.1.0"
