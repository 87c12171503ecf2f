"""Multi-head attention in NumPy, right and wrong in every way that has a name.

The arguments are always (x, W_q, W_k, W_v, W_o, num_heads), the weights (out, in). A leading axis
of sentences may stand before the tokens where the answer is right.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attnkit.checks._wrong_attention import softmax


def split(x: np.ndarray, num_heads: int) -> np.ndarray:
    """(…, T, d_model) → (…, heads, T, d_head)."""
    return x.reshape(*x.shape[:-1], num_heads, x.shape[-1] // num_heads).swapaxes(-2, -3)


def interleaved(x: np.ndarray, num_heads: int) -> np.ndarray:
    """Head h gets every num_heads-th number, from the h-th on."""
    cut = x.reshape(*x.shape[:-1], x.shape[-1] // num_heads, num_heads)
    return np.moveaxis(cut, -1, -3)


def viewed(x: np.ndarray, num_heads: int) -> np.ndarray:
    """The right shape, filled in the order of memory."""
    *batch, length, d_model = x.shape
    return x.reshape(*batch, num_heads, length, d_model // num_heads)


def join(heads: np.ndarray) -> np.ndarray:
    """(…, heads, T, d_head) → (…, T, d_model)."""
    apart = heads.swapaxes(-2, -3)
    return apart.reshape(*apart.shape[:-2], -1)


def weigh(q: np.ndarray, k: np.ndarray) -> np.ndarray:
    return softmax(q @ k.swapaxes(-2, -1) / np.sqrt(q.shape[-1]))


def scaled(scores: np.ndarray, d_head: int, d_model: int) -> np.ndarray:
    return scores / np.sqrt(d_head)


def right(x, w_q, w_k, w_v, w_o, num_heads) -> np.ndarray:
    q, k, v = (split(x @ w.T, num_heads) for w in (w_q, w_k, w_v))
    return join(weigh(q, k) @ v) @ w_o.T


def with_projections(project: Callable, out: Callable = lambda joined, w_o: joined @ w_o.T):
    """Other projections: project(x, W_q, W_k, W_v) gives what is cut into heads."""

    def wrong(x, w_q, w_k, w_v, w_o, num_heads):
        q, k, v = (split(part, num_heads) for part in project(x, w_q, w_k, w_v))
        return out(join(weigh(q, k) @ v), w_o)

    return wrong


def with_split(cut: Callable, glue: Callable = join) -> Callable:
    """Another way into heads, or back."""

    def wrong(x, w_q, w_k, w_v, w_o, num_heads):
        q, k, v = (cut(x @ w.T, num_heads) for w in (w_q, w_k, w_v))
        return glue(weigh(q, k) @ v) @ w_o.T

    return wrong


def with_weights(make: Callable) -> Callable:
    """Something else of the unscaled scores: make(scores, d_head, d_model)."""

    def wrong(x, w_q, w_k, w_v, w_o, num_heads):
        q, k, v = (split(x @ w.T, num_heads) for w in (w_q, w_k, w_v))
        return join(make(q @ k.swapaxes(-2, -1), q.shape[-1], x.shape[-1]) @ v) @ w_o.T

    return wrong


def with_heads(change: Callable) -> Callable:
    """Something else of the heads' outputs: change(heads, W_o), heads (heads, T, d_head)."""

    def wrong(x, w_q, w_k, w_v, w_o, num_heads):
        q, k, v = (split(x @ w.T, num_heads) for w in (w_q, w_k, w_v))
        return change(weigh(q, k) @ v, w_o)

    return wrong


def input_split(x, w_q, w_k, w_v, w_o, num_heads) -> np.ndarray:
    """Each head projects its own slice of the input with its own block of the weights."""
    parts = split(x, num_heads)
    d_head = parts.shape[-1]
    blocks = [slice(h * d_head, (h + 1) * d_head) for h in range(num_heads)]

    def project(w):
        return np.stack([p @ w[b, b].T for p, b in zip(parts, blocks, strict=True)])

    return join(weigh(project(w_q), project(w_k)) @ project(w_v)) @ w_o.T


def one_head(scale: Callable) -> Callable:
    """One softmax over the scores of all numbers together."""

    def wrong(x, w_q, w_k, w_v, w_o, num_heads):
        q, k, v = x @ w_q.T, x @ w_k.T, x @ w_v.T
        return softmax(q @ k.T * scale(x.shape[1], num_heads)) @ v @ w_o.T

    return wrong


def blocks_of_the_output(heads: np.ndarray, w_o: np.ndarray) -> np.ndarray:
    """Each head goes through its own block of W_o, and the results lie side by side."""
    d_head = heads.shape[-1]
    blocks = [slice(h * d_head, (h + 1) * d_head) for h in range(len(heads))]
    return np.concatenate(
        [head @ w_o[b, b].T for head, b in zip(heads, blocks, strict=True)], axis=1
    )
