"""Boolean masks: True = this query may attend to this key. Combine them with ``&`` and ``|``.

The axes are ``(batch, heads, queries, keys)``; an axis of size 1 stands for "the same for all".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from attnkit import expect

if TYPE_CHECKING:
    from attnkit.shapes import Bool, Int, Shaped


def causal_mask(n_queries: int, n_keys: int | None = None) -> Bool[Tensor, "n_queries n_keys"]:
    """Let each query attend to the keys up to its own position.

    The queries are the *last* ``n_queries`` of the ``n_keys`` positions (bottom-right alignment):
    query i may attend to key j when :math:`j \\le i + n_k - n_q`. So a decoder that keeps the keys
    of earlier steps asks for ``causal_mask(1, n_keys)``.

    >>> causal_mask(3).int()
    tensor([[1, 0, 0],
            [1, 1, 0],
            [1, 1, 1]], dtype=torch.int32)
    >>> causal_mask(2, 4).int()
    tensor([[1, 1, 1, 0],
            [1, 1, 1, 1]], dtype=torch.int32)

    Args:
        n_queries: Number of queries.
        n_keys: Number of keys; as many as queries when left out.

    Returns:
        A boolean tensor of shape ``(n_queries, n_keys)``.

    Raises:
        TypeError: A size is not an integer.
        ValueError: A size is negative, or there are more queries than keys.
    """
    query, key = _positions(n_queries, n_keys)
    return key <= query


def sliding_window_mask(
    n_queries: int, window: int, n_keys: int | None = None
) -> Bool[Tensor, "n_queries n_keys"]:
    """Let each query attend to its own key and the ``window - 1`` keys before it.

    Bottom-right aligned like :func:`causal_mask`. With as many queries as keys the two-sided
    window is ``mask | mask.mT`` (Beltagy et al., 2020).

    >>> sliding_window_mask(4, window=2).int()
    tensor([[1, 0, 0, 0],
            [1, 1, 0, 0],
            [0, 1, 1, 0],
            [0, 0, 1, 1]], dtype=torch.int32)

    Args:
        n_queries: Number of queries.
        window: Number of keys in the window, the query's own included; at least 1.
        n_keys: Number of keys; as many as queries when left out.

    Returns:
        A boolean tensor of shape ``(n_queries, n_keys)``.

    Raises:
        TypeError: A size is not an integer.
        ValueError: A size is negative, the window is empty, or there are more queries than keys.
    """
    window = expect.integer("window", window, at_least=1)
    query, key = _positions(n_queries, n_keys)
    return (key <= query) & (key > query - window)


def strided_mask(
    n_queries: int, stride: int, n_keys: int | None = None
) -> Bool[Tensor, "n_queries n_keys"]:
    """Let each query attend to its own key and to those ``stride``, ``2 * stride``, … before it.

    Query i may attend to key j when :math:`j \\le i` and :math:`i - j` is a multiple of the stride.
    Bottom-right aligned like :func:`causal_mask`, which it is with ``stride=1``.

    >>> strided_mask(4, stride=2).int()
    tensor([[1, 0, 0, 0],
            [0, 1, 0, 0],
            [1, 0, 1, 0],
            [0, 1, 0, 1]], dtype=torch.int32)

    Args:
        n_queries: Number of queries.
        stride: Distance from one of the keys to the next; at least 1.
        n_keys: Number of keys; as many as queries when left out.

    Returns:
        A boolean tensor of shape ``(n_queries, n_keys)``.

    Raises:
        TypeError: A size is not an integer.
        ValueError: A size is negative, the stride is less than 1, or there are more queries than
            keys.

    After the strided pattern of Child et al., 2019, section 4.2.
    """
    stride = expect.integer("stride", stride, at_least=1)
    query, key = _positions(n_queries, n_keys)
    return (key <= query) & ((query - key) % stride == 0)


def padding_mask(
    lengths: Sequence[int] | Int[Tensor, " batch"], n_keys: int | None = None
) -> Bool[Tensor, "batch 1 1 n_keys"]:
    """Let every query attend to the first ``lengths[b]`` keys of sequence b: not to the padding.

    >>> padding_mask([1, 3]).int()
    tensor([[[[1, 0, 0]]],
    <BLANKLINE>
    <BLANKLINE>
            [[[1, 1, 1]]]], dtype=torch.int32)

    Args:
        lengths: Number of real tokens of each sequence: a list, an array or a tensor of integers.
        n_keys: Number of keys, padding included; the greatest length when left out.

    Returns:
        A boolean tensor of shape ``(batch, 1, 1, n_keys)`` on the device of ``lengths``.

    Raises:
        TypeError: The lengths are not integers.
        ValueError: The lengths are not one axis, or one is negative or greater than ``n_keys``.
    """
    counts = _lengths(lengths)
    longest = int(counts.max()) if counts.numel() else 0
    n_keys = longest if n_keys is None else expect.integer("n_keys", n_keys)
    if counts.numel() and int(counts.min()) < 0:
        raise ValueError(f"lengths must be at least 0, got {int(counts.min())}.")
    if longest > n_keys:
        raise ValueError(
            f"lengths must be at most n_keys={n_keys}, got {longest}. Truncate the sequences or "
            f"leave n_keys out."
        )
    return (torch.arange(n_keys, device=counts.device) < counts[:, None])[:, None, None, :]


def from_blocked(blocked: Shaped[Tensor, "*shape"]) -> Bool[Tensor, "*shape"]:
    """Turn a mask in which 1 (or True) marks a *blocked* key into ours, where True is allowed.

    PyTorch's ``key_padding_mask`` and the boolean ``attn_mask`` of ``torch.nn.MultiheadAttention``
    are of that kind. The argument is not changed.

    >>> from_blocked(torch.tensor([0, 0, 1]))
    tensor([ True,  True, False])

    Args:
        blocked: A tensor or array of booleans, or of numbers that are all 0 or 1; any shape.

    Returns:
        A boolean tensor of the same shape, True = this query may attend to this key.

    Raises:
        TypeError: The argument cannot become a tensor.
        ValueError: A number other than 0 and 1 is in it.
    """
    try:
        blocked = torch.as_tensor(blocked)
    except (TypeError, ValueError, RuntimeError) as error:
        raise TypeError(
            f"blocked must be a tensor of booleans or of 0 and 1, got {type(blocked).__name__}."
        ) from error
    if blocked.dtype == torch.bool:
        return ~blocked
    allowed = blocked == 0
    strange = ~(allowed | (blocked == 1))
    if strange.any():
        raise ValueError(
            f"blocked must hold only 0 (allowed) and 1 (blocked), got {blocked[strange][0].item()}."
            " A mask that is added to the scores (0 and -inf) becomes ours by: mask == 0."
        )
    return allowed


def _positions(n_queries: int, n_keys: int | None) -> tuple[Tensor, Tensor]:
    """Positions of the queries, as a column, and of the keys, as a row; the last ones coincide."""
    n_queries = expect.integer("n_queries", n_queries)
    n_keys = n_queries if n_keys is None else expect.integer("n_keys", n_keys)
    if n_queries > n_keys:
        raise ValueError(
            f"n_queries must be at most n_keys={n_keys}, got {n_queries}: the queries are the last "
            "positions, so the first ones would have no key. Are the two arguments swapped?"
        )
    key = torch.arange(n_keys)
    return key[n_keys - n_queries :, None], key


def _lengths(lengths: object) -> Tensor:
    cure = "padding_mask wants the number of real tokens of each sequence, such as [3, 5]"
    try:
        counts = torch.as_tensor(lengths)
    except (TypeError, ValueError, RuntimeError) as error:
        raise TypeError(f"lengths must be integers, got {lengths!r}: {cure}.") from error
    if counts.numel() == 0 and counts.ndim == 1:
        return counts.long()
    listed = lengths if isinstance(lengths, (list, tuple)) else ()
    if counts.dtype == torch.bool or any(isinstance(item, bool) for item in listed):
        raise TypeError(
            f"lengths must be integers, got booleans: {cure}. If True marks the real tokens, "
            "tokens[:, None, None, :] is the mask already."
        )
    if counts.is_floating_point() or counts.is_complex():
        raise TypeError(f"lengths must be integers, got {counts.dtype}: {cure}.")
    if counts.ndim != 1:
        raise ValueError(
            f"lengths must have one axis, (batch,), got the shape {tuple(counts.shape)}: {cure}."
        )
    return counts.long()
