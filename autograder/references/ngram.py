"""The neural n-gram of lessons 4 and 5 as references know it: its mean loss in NumPy, its gradients by PyTorch.

params: C (V, d), W1 (h, kd), b1 (h,), W2 (V, h), b2 (V,); contexts (B, k) and targets (B,) hold token numbers.
Architecture: Bengio, Ducharme, Vincent and Jauvin, A Neural Probabilistic Language Model, 2003, without the direct
connections.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from autograder.references.arrays import one_thread

Params = Mapping[str, np.ndarray]
PARAMETERS = ("C", "W1", "b1", "W2", "b2")
INTERMEDIATES = ("x", "u", "h", "z")


def forward(params: Params, contexts: np.ndarray) -> dict[str, np.ndarray]:
    """x (B, kd), u (B, h), h (B, h), z (B, V)."""
    x = np.stack([np.concatenate([params["C"][a] for a in context]) for context in contexts])
    u = x @ params["W1"].T + params["b1"]
    h = np.tanh(u)
    return {"x": x, "u": u, "h": h, "z": h @ params["W2"].T + params["b2"]}


def mean_loss(params: Params, contexts: np.ndarray, targets: np.ndarray) -> float:
    """The mean over the batch of −z_y + log Σ e^z, in nats."""
    z = forward(params, contexts)["z"]
    return float(np.mean(np.log(np.exp(z).sum(axis=1)) - z[np.arange(len(z)), targets]))


def gradients(params: Params, contexts: np.ndarray, targets: np.ndarray) -> tuple[float, dict[str, np.ndarray]]:
    """(mean loss, its derivatives by PyTorch in float64): for the intermediates z, h, u, x and every parameter."""
    import torch
    from torch.nn.functional import cross_entropy, embedding, linear

    with one_thread(), torch.enable_grad():
        t: dict[str, Any] = {
            name: torch.tensor(params[name], dtype=torch.float64, requires_grad=True) for name in PARAMETERS
        }
        t["x"] = embedding(torch.tensor(contexts), t["C"]).flatten(1)
        t["u"] = linear(t["x"], t["W1"], t["b1"])
        t["h"] = torch.tanh(t["u"])
        t["z"] = linear(t["h"], t["W2"], t["b2"])
        loss = cross_entropy(t["z"], torch.tensor(targets))
        grads = torch.autograd.grad(loss, list(t.values()))
    return float(loss.detach()), {name: np.asarray(g.numpy()) for name, g in zip(t, grads, strict=True)}
