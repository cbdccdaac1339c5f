"""Wrong answers that learners hand in, as edits of the reference answers: what `autograder simulate` draws from.

How often each comes is a guess from tutorials and public engines, not a measurement; the order of magnitude is what
makes a made-up class look like one. `name` is the misconception that the check then names, "" where it only locates.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class WrongAnswer:
    """`old` becomes `new` in the answer to `exercise`; `weight` is how common it is.

    `written_in` is the exercise in whose answer the mistake stands, where that is another one.
    """

    exercise: str
    weight: float
    name: str
    old: str
    new: str
    written_in: str = ""

    def applied(self, texts: Mapping[str, str]) -> dict[str, str]:
        """The cells among `texts` (tag → source) that change, changed."""
        cells = f"{self.written_in or self.exercise}-"
        return {
            tag: text.replace(self.old, self.new)
            for tag, text in texts.items()
            if tag.startswith(cells) and self.old in text
        }


_ROWS: tuple[tuple[str, float, str, str, str], ...] = (
    ("1.1", 4, "adds-along-a-path", "dz_dy * dy_dx", "dz_dy + dy_dx"),
    ("1.1", 3, "stops-at-the-outer-step", '"dz_dx": dz_dy * dy_dx', '"dz_dx": dz_dy'),
    ("1.1", 2, "square-loses-its-two", "2 * y", "y"),
    ("1.2", 4, "error-turned-round", "2 * (z - y)", "2 * (y - z)"),
    ("1.2", 3, "steps-uphill", "w - lr * grad", "w + lr * grad"),
    ("1.2", 3, "square-loses-its-two", "2 * (z - y)", "(z - y)"),
    ("1.2", 1, "step-without-learning-rate", "lr * grad", "grad"),
    ("1.3", 4, "children-first", "return order", "return order[::-1]"),
    ("1.3", 2, "as-listed", "return order", "return list(parents)"),
    ("1.3", 3, "no-eye-for-cycles", "if len(order) < len(parents)", "if not parents and order"),
    ("1.4", 4, "difference-sends-plus", "(1.0, -1.0)", "(1.0, 1.0)"),
    ("1.4", 5, "tanh-from-the-input", "1 - output**2", "1 - x[0] ** 2"),
    ("1.4", 2, "tanh-not-squared", "1 - output**2", "1 - output"),
    ("1.4", 3, "exp-slope-is-its-input", "(output,)", "(x[0],)"),
    ("1.4", 3, "quotient-denominator-not-squared", "x[1] ** 2", "x[1]"),
    ("1.4", 3, "own-factor", "(x[1], x[0])", "(x[0], x[1])"),
    ("1.4", 2, "power-keeps-its-exponent", "** (n - 1)", "** n"),
    ("1.4", 1, "relu-always-open", "1.0 if x[0] > 0 else 0.0", "1.0"),
    ("1.5", 4, "computes-as-listed", "topological_order({name: node.parents for name, node in graph.items()})", "graph"),
    ("1.5", 2, "", ", node.n)", ")"),
    ("1.6", 5, "", "parent) * slope for", "parent) + slope for"),
    ("1.6", 2, "largest-path-only", "sum((sum_over_paths(graph, values, source, parent) * slope for parent, slope in steps), 0.0)",
     "max((sum_over_paths(graph, values, source, parent) * slope for parent, slope in steps), default=0.0)"),
    ("1.6", 2, "every-input-is-the-source", "    node = graph[sink]\n", "    node = graph[sink]\n    if not node.parents:\n        return 1.0\n"),
    ("1.7", 5, "two-h-missing", "/ (2 * h)", "/ h"),
    ("1.7", 3, "absolute-error", " / max(1.0, abs(g), abs(g_hat))", ""),
    ("1.7", 2, "no-floor", "max(1.0, abs(g), abs(g_hat))", "max(abs(g), abs(g_hat))"),
    ("1.7", 2, "both-copies-moved", "up, down = theta.copy(), theta.copy()", "up = down = theta.copy()"),
    ("1.8", 4, "signed-errors", "abs(", "("),
    ("1.8", 2, "two-h-missing", "/ (2 * h)", "/ h"),
    ("1.9", 2, "the-rule-is-right", "1 - x**2", "1 - t**2"),
    ("2.0", 4, "ignores-incoming-tangent", "slope * tangents[parent]", "slope"),
    ("2.0", 2, "adds-instead-of-multiplies", "slope * tangents[parent]", "slope + tangents[parent]"),
    ("2.0", 2, "trusts-dict-order", "topological_order({name: node.parents for name, node in graph.items()})", "graph"),
    ("2.1", 5, "product-multiplies-its-two-terms", "r.tangent * s.value + r.value * s.tangent", "r.tangent * s.value * r.value * s.tangent"),
    ("2.1", 4, "product-of-tangents", "r.tangent * s.value + r.value * s.tangent", "r.tangent * s.tangent"),
    ("2.1", 3, "quotient-adds", "r.tangent - q * s.tangent", "r.tangent + q * s.tangent"),
    ("2.1", 2, "subtraction-adds", "r.tangent - s.tangent", "r.tangent + s.tangent"),
    ("2.1", 2, "power-rule-keeps-the-exponent", "** (n - 1)", "** n"),
    ("2.1", 1, "negation-keeps-the-tangent", "-r.tangent)", "r.tangent)"),
    ("2.2", 5, "ignores-incoming-tangent", "y * x.tangent", "y"),
    ("2.2", 3, "tanh-slope-not-squared", "1.0 - t * t", "1.0 - t"),
    ("2.2", 3, "exp-slope-is-its-input", "y * x.tangent", "x.value * x.tangent"),
    ("2.2", 2, "log-slope-is-its-input", "x.tangent / x.value", "x.tangent * x.value"),
    ("2.3", 3, "returns-the-value", ".tangent", ".value"),
    ("2.3", 2, "seed-missing", "Dual(x, 1.0)", "Dual(x, 0.0)"),
    ("2.4", 4, "seed-dropped", "Dual(x, r)", "Dual(x, 1.0)"),
    ("2.4", 2, "tangent-before-value", "y.value, y.tangent", "y.tangent, y.value"),
    ("2.5", 5, "all-seeds-at-once", "float(i == j)", "1.0"),
    ("2.6", 5, "transposed", "np.array(columns).T", "np.array(columns)"),
    ("2.6", 2, "all-seeds-at-once", "float(i == j)", "1.0"),
    ("2.7", 4, "one-pass-gives-the-gradient", '"forward_gradient": P', '"forward_gradient": 1'),
    ("2.7", 3, "central-shares-a-call", "2 * P", "P + 1"),
    ("2.7", 2, "forgets-the-base-point", '"one_sided": P + 1', '"one_sided": P'),
    ("2.8", 4, "wraps-plain-numbers-only", "x if tag_of(x) == tag", "x if tag_of(x)"),
    ("2.8", 1, "", "max(tag_of", "min(tag_of"),
    ("2.8", 1, "constants-move", "Tagged(x, 0.0, tag)", "Tagged(x, 1.0, tag)"),
    ("3.0", 5, "overwrites-gradient", "+=", "="),
    ("3.0", 2, "adds-instead-of-multiplies", "adjoints[child] * slope", "adjoints[child] + slope"),
    ("3.0", 2, "ignores-upstream", "adjoints[child] * slope", "slope"),
    ("3.0", 2, "", "reversed(graph_order({name: node.parents for name, node in graph.items()}))",
     "graph_order({name: node.parents for name, node in graph.items()})"),
    ("3.1", 8, "overwrites-gradient", "+=", "="),
    ("3.1", 3, "ignores-upstream", "g * ", ""),
    ("3.1", 2, "uses-own-data", "r.grad += g * s.data\n        s.grad += g * r.data", "r.grad += g * r.data\n        s.grad += g * s.data"),
    ("3.1", 1, "multiplies-like-add", "r.grad += g * s.data\n        s.grad += g * r.data", "r.grad += g\n        s.grad += g"),
    ("3.2", 5, "tanh-from-input", "1.0 - t * t", "1.0 - r.data * r.data"),
    ("3.2", 3, "tanh-one-minus", "1.0 - t * t", "1.0 - t"),
    ("3.2", 4, "exp-is-input", "g * y", "g * r.data"),
    ("3.2", 3, "ignores-upstream", "g * y", "y"),
    ("3.2", 2, "log-is-input", "g / r.data", "g * r.data"),
    ("3.2", 2, "relu-always-one", "if r.data > 0:\n            r.grad += g", "r.grad += g"),
    ("3.2", 2, "power-rule-missing-n", "g * n * r.data", "g * r.data"),
    ("3.2", 2, "power-rule-missing-minus-one", "** (n - 1)", "** n"),
    ("3.3", 4, "children-first", "stack.append((node, True))\n", "order.append(node)\n"),
    ("3.3", 1, "leaves-missing", "return order", "return [node for node in order if node._parents]"),
    ("3.4", 5, "recursion-fires-every-path",
     "    order = topological_order(root)\n", "    def send(node):\n        if node._backward is not None:\n            node._backward(node.grad)\n"
     "        for parent in dict.fromkeys(node._parents):\n            send(parent)\n\n    root.grad = 1.0\n    return send(root)\n\n    order = []\n"),
    ("3.4", 3, "", "reversed(order)", "order"),
    ("3.4", 2, "seed-missing", "    root.grad = 1.0\n", ""),
    ("3.5", 3, "zero-grad-clears-data", "value.grad = 0.0", "value.data = 0.0"),
    ("3.5", 2, "zero-grad-first-only", "value.grad = 0.0", "value.grad = 0.0\n        break"),
    ("3.6", 3, "log-without-minus", "log(exp(z_inside) + exp(z_outside)) - z_inside", "z_inside - log(exp(z_inside) + exp(z_outside))"),
    ("3.6", 2, "target-outside", ") - z_inside", ") - z_outside"),
    ("3.6", 3, "positive-inputs-only", "(relu(x1) + relu(-x1) + relu(x2) + relu(-x2))", "(relu(x1) + relu(x2))"),
    ("3.6", 2, "one-logit", "gamma * s, -gamma * s", "gamma * s, 0.0 * s"),
    ("3.7", 2, "largest-not-first", "next((i for i, error in enumerate(worst) if error > 1e-5), None)",
     "worst.index(max(worst)) if max(worst) > 1e-5 else None"),
    ("3.7", 2, "blames-the-engine", "without[0] if len(without) == 1 else None", '"engine" if first is not None else None'),
    ("3.8", 2, "hidden-at-zero", '{"a": 3.0}', '{"a": 0.0}'),
    ("3.9", 2, "pair-reversed", '("v", "u")', '("u", "v")'),
    ("3.10", 3, "counts-nodes", "sum(len(node._parents) for node in nodes), visits", "len(topological_order(root)), len(topological_order(root))"),
    ("3.11", 5, "gradients-overwrite-by-default", "[6.0, 12.0, 18.0]", "[6.0, 6.0, 6.0]"),
    ("3.11", 2, "doubles-each-pass", "[6.0, 12.0, 18.0]", "[6.0, 12.0, 24.0]"),
    ("3.11", 3, "detach-ignored", '"detached": 3.0', '"detached": 6.0'),
    ("3.12", 3, "", '2: "overwrites-gradient"', '2: "stale-intermediates"'),
    ("4.1", 5, "overflow", "m = z.max(axis=-1, keepdims=True)", "m = np.zeros_like(z[..., :1])"),
    ("4.1", 3, "wrong-axis", "e / e.sum(axis=-1, keepdims=True)", "e / e.sum(axis=0, keepdims=True)"),
    ("4.1", 3, "one-maximum-for-batch", "z.max(axis=-1, keepdims=True)", "z.max(keepdims=True)"),
    ("4.2", 3, "sign-flipped", "logsumexp(z) - pick(z, y)", "pick(z, y) - logsumexp(z)"),
    ("4.2", 2, "mean-instead-of-each", "logsumexp(z) - pick(z, y)", "(logsumexp(z) - pick(z, y)).mean()"),
    ("4.2", 3, "epsilon-saturates", "logsumexp(z) - pick(z, y)", "-np.log(pick(softmax(z), y) + 1e-7)"),
    ("4.3", 4, "one-hot-not-subtracted", " - one_hot(y, z.shape[-1])", ""),
    ("4.3", 3, "sign-flipped", "softmax(z) - one_hot(y, z.shape[-1])", "one_hot(y, z.shape[-1]) - softmax(z)"),
    ("4.3", 3, "double-softmax", "softmax(z) -", "softmax(softmax(z)) -"),
    ("4.4", 4, "transposed-weight-gradient", "examples_q_bar.T @ examples_r", "examples_r.T @ examples_q_bar"),
    ("4.4", 3, "bias-averaged", ".sum(axis=0)", ".mean(axis=0)"),
    ("4.5", 4, "tanh-from-preactivation", "h * h", "np.tanh(h) ** 2"),
    ("4.5", 3, "ignores-upstream", "h_bar * (1 - h * h)", "1 - h * h"),
    ("4.5", 2, "slope-without-square", "1 - h * h", "1 - h"),
    ("4.6", 6, "last-index-wins", "np.add.at(C_bar, context, x_bar.reshape(*context.shape, d))",
     "C_bar[context] += x_bar.reshape(*context.shape, d)"),
    ("4.7", 4, "missing-batch-mean", " / len(targets)", ""),
    ("4.7", 2, "activation-missing", "h = np.tanh(u)", "h = u"),
    ("4.7", 2, "", ' + params["b1"]', ""),
    ("4.8", 3, "signed-difference", "np.abs(mine[name] - theirs[name])", "(mine[name] - theirs[name])"),
    ("4.8", 2, "mean-difference", ".max()", ".mean()"),
    ("5.1", 5, "target-not-shifted", "return contexts, ids[k:]", "return contexts, ids[k - 1 : -1]"),
    ("5.1", 3, "vocabulary-unsorted", "sorted(set(text))", "list(dict.fromkeys(text))"),
    ("5.1", 2, "window-lost", "return contexts, ids[k:]", "return contexts[:-1], ids[k:-1]"),
    ("5.1", 1, "split-overlaps", "ids[:n], ids[n:]", "ids[: n + 1], ids[n:]"),
    ("5.2", 4, "embedding-for-each-place", "V * d +", "k * V * d +"),
    ("5.2", 3, "table-without-next", "V ** (k + 1)", "V**k"),
    ("5.2", 2, "biases-not-counted", "* h + h + h * V + V", "* h + h * V"),
    ("5.2", 1, "context-not-in-first-layer", "(k * d) * h", "d * h"),
    ("5.3", 4, "probabilities-for-logits", 'return h @ params["W2"].T + params["b2"]',
     'return F.softmax(h @ params["W2"].T + params["b2"], dim=-1)'),
    ("5.3", 3, "activation-missing", 'torch.tanh(x @ params["W1"].T + params["b1"])', 'x @ params["W1"].T + params["b1"]'),
    ("5.3", 3, "", "0.2 * torch.randn(", "torch.randn("),
    ("5.3", 2, "no-gradient-asked-for", "p.requires_grad_()", "p"),
    ("5.9", 4, "columns-not-permuted", 'params["W2"][:, perm]', 'params["W2"]'),
    ("5.9", 2, "bias-not-permuted", 'params["b1"][perm]', 'params["b1"]'),
    ("5.11", 4, "gradients-overwrite-by-default", "[30.0, 60.0, 90.0]", "[30.0, 30.0, 30.0]"),
    ("5.11", 2, "doubles-each-pass", "[30.0, 60.0, 90.0]", "[30.0, 60.0, 120.0]"),
    ("5.4", 7, "gradients-not-cleared", "    for p in params.values():\n        p.grad = None\n", ""),
    ("5.4", 3, "loss-keeps-graph", "return loss.item()", "return loss"),
    ("5.4", 2, "cleared-too-late", "    loss.backward()\n", "    loss.backward()\n    for p in params.values():\n        p.grad = torch.zeros_like(p)\n"),
    ("5.4", 2, "step-uphill", "p -= lr", "p += lr"),
    ("5.4", 1, "update-inside-graph", "    with torch.no_grad():\n        for p in params.values():\n            p -= lr * p.grad\n",
     "    for p in params.values():\n        p -= lr * p.grad\n"),
    ("5.5", 5, "ragged-average", 'F.cross_entropy(ngram_logits(params, c), t, reduction="sum").item()\n    return total / len(targets)',
     "F.cross_entropy(ngram_logits(params, c), t).item()\n    return total / len(contexts.split(batch_size))"),
    ("5.5", 3, "bits-multiplied", "nats / math.log(2)", "nats * math.log(2)"),
    ("5.5", 2, "wrong-axis", "sum(dim=1, keepdim=True)", "sum(dim=0, keepdim=True)"),
    ("5.5", 2, "not-smoothed", "1.0 + torch.bincount", "torch.bincount"),
    ("5.6", 4, "without-replacement", "torch.randint(n, (size,), generator=rng)", "torch.randperm(n, generator=rng)[:size]"),
    ("5.6", 3, "generator-ignored", ", generator=rng", ""),
    ("5.6", 1, "last-example-never", "randint(n,", "randint(n - 1,"),
    ("5.7", 4, "schedule-not-followed", "lr(step))", "lr(0))"),
    ("5.7", 2, "callback-forgotten", "        if callback is not None:\n            callback(step, losses[-1])\n", ""),
    ("5.7", 2, "one-batch-for-all-steps",
     "    for step in range(steps):\n        batch = minibatch(rng, len(targets), batch_size)\n",
     "    batch = minibatch(rng, len(targets), batch_size)\n    for step in range(steps):\n"),
    ("5.7", 1, "a-step-too-many", "range(steps)", "range(steps + 1)"),
    ("5.10", 4, "peak-without-segment", "(checkpoints + every - 1) * h * B", "checkpoints * h * B"),
    ("5.10", 3, "everything-recomputed", "(L - checkpoints) * h * B", "L * h * B"),
    ("5.10", 2, "batch-forgotten", " * h * B", " * h"),
    ("5.8", 4, "takes-the-most-likely", "torch.multinomial(torch.softmax(z, dim=0), 1, generator=rng).item()", "z.argmax().item()"),
    ("5.8", 3, "prompt-returned", "ids[len(prompt) :]", "ids"),
    ("5.8", 2, "first-characters-as-context", "ids[-k:]", "ids[:k]"),
    ("5.8", 1, "window-does-not-slide", "ids[-k:]", "list(prompt)[-k:]"),
)  # fmt: skip
_STALE = WrongAnswer(
    "3.5", 4, "stale-intermediates", "node.grad = 0.0  # exercise 3.5", "pass  # exercise 3.5", written_in="3.4"
)
WRONG_ANSWERS = (*(WrongAnswer(*row) for row in _ROWS), _STALE)


def wrong_answers(exercise: str) -> list[WrongAnswer]:
    return [answer for answer in WRONG_ANSWERS if answer.exercise == exercise]


# Slips that are nobody's theory: (pattern, replacement), the first place where one fits.
SLIPS: tuple[tuple[str, str], ...] = (
    (r" - ", " + "),
    (r" \* ", " + "),
    (r" \+ ", " - "),
    (r"\breturn [^\n]+", "pass  # return it"),
    (r"\b1\.0\b", "1"),
    (r"\breturn (\w+)", r"return resutl"),
    (r"\)\n", "))\n"),
)


def slipped(text: str, which: float) -> str:
    """`text` with one slip in it; `which`, in [0, 1), chooses."""
    changed = [t for old, new in SLIPS if (t := re.sub(old, new, text, count=1)) != text]
    return changed[int(which * len(changed))] if changed else text
