"""References for functions of arrays: the whole gradient by PyTorch, any one entry of it by a central difference.

The function is written twice, once with torch and once with NumPy, so that the two witnesses share nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from autograder.references import finite_difference

Arrays = Mapping[str, np.ndarray]
Index = tuple[int, ...]


@contextmanager
def one_thread() -> Iterator[None]:
    """PyTorch on one thread: on arrays this small, handing work to others costs more than the work."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def gradients(f: Callable[[dict[str, Any]], Any], arrays: Arrays) -> dict[str, np.ndarray]:
    """∂f/∂array for every array in `arrays`, by PyTorch in float64; f gets them as tensors and returns one number."""
    import torch

    with one_thread(), torch.enable_grad():
        tensors = {name: torch.tensor(x, dtype=torch.float64, requires_grad=True) for name, x in arrays.items()}
        grads = torch.autograd.grad(f(tensors), list(tensors.values()), allow_unused=True)
    return {
        name: np.zeros_like(arrays[name]) if g is None else np.asarray(g.numpy())
        for name, g in zip(tensors, grads, strict=True)
    }


def difference(f: Callable[[dict[str, np.ndarray]], float], arrays: Arrays, name: str, index: Index) -> float:
    """∂f/∂arrays[name][index]: that entry alone is moved a little both ways. `arrays` stay as they are."""

    def moved(x: float) -> float:
        changed = arrays[name].copy()
        changed[index] = x
        return float(f({**arrays, name: changed}))

    return finite_difference.central(moved, float(arrays[name][index]))
