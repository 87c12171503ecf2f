"""Maps of attention weights in one base64 digit a cell (docs/decisions/0011)."""

import base64
import gzip

import numpy as np
import torch

FINEST, COARSEST = 63, 11  # codes of a row run to at most 63: one base64 digit
TOLERANCE = 0.005  # no weight is off by more: whole percents stay right within one
BUDGET = 240_000  # bytes of gzip, before rows that need more levels have them
_OFFSET = 0.75  # code 1 stands for a quarter of a step: a weight that is nearly nothing
_DIGITS = np.frombuffer(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", dtype=np.uint8
)


def encode(weights: torch.Tensor, budget: int = BUDGET) -> torch.Tensor:
    """(…, keys) weights → uint8 codes: c = ⌊(L − ¾) √(w ÷ largest of the row) + ¾⌉, at least 1.

    0 stands for 0 alone. L, the number of levels, is the largest code of the row, so that it
    travels with the row. A row has as many levels as the page can afford (63 up to some 300,000
    cells, 11 at the most of them), and others, up to 63, where its error would exceed 0.005.
    `budget`: bytes of gzip, less than all of them where a page has several.

    >>> encode(torch.tensor([[0.5, 0.5, 0.0], [0.9, 0.1, 0.0]])).tolist()
    [[63, 63, 0], [63, 22, 0]]
    """
    rows = weights.detach().to("cpu", torch.float64).reshape(-1, weights.shape[-1])
    levels = FINEST
    for levels in (FINEST, 47, 31, 23, 15, COARSEST):
        codes = _quantised(rows, levels)
        if len(gzip.compress(digits(codes).encode(), 6)) <= budget:
            break
    worst = _errors(codes, rows)
    step = 2 if levels < 31 else 4  # where bytes are short, no more levels than it takes
    others = [*range(levels + step, FINEST, step), *range(FINEST, COARSEST - 1, -1)]
    for other in others:
        bad = (worst > TOLERANCE).nonzero()[:, 0]
        if not len(bad):
            break
        tried = _quantised(rows[bad], other)
        errors = _errors(tried, rows[bad])
        better = errors < worst[bad]
        codes[bad[better]], worst[bad[better]] = tried[better], errors[better]
    return codes.reshape(weights.shape)


def decode(codes: torch.Tensor) -> torch.Tensor:
    """float64 weights whose rows sum to 1 (or are all zeros), as `packed.js` has them."""
    codes = codes.double()
    levels = codes.amax(-1, keepdim=True)
    share = ((codes - _OFFSET) / (levels - _OFFSET)).square() * (codes > 0)
    return share / share.sum(-1, keepdim=True).clamp_min(torch.finfo(torch.float64).tiny)


def _quantised(rows: torch.Tensor, levels: int) -> torch.Tensor:
    tiny = torch.finfo(rows.dtype).tiny
    share = rows / rows.amax(-1, keepdim=True).clamp_min(tiny)
    codes = (share.sqrt() * (levels - _OFFSET) + _OFFSET).round().clamp(1, levels)
    return torch.where(rows > 0, codes, 0).to(torch.uint8)


def _errors(codes: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    return (decode(codes) - rows).abs().amax(-1)


def digits(codes: torch.Tensor) -> str:
    """One base64 digit for each code, row after row."""
    return _DIGITS[codes.flatten().numpy()].tobytes().decode("ascii")


def masks(mask: torch.Tensor | None) -> tuple[list[str], list[int]]:
    """(…, queries, keys) bool, True = may attend → the different masks, and which each map has.

    A mask travels as its bits, row after row, 1 = blocked, in base64; no mask as nothing.
    """
    if mask is None:
        return [], []
    tables = (~mask).reshape(-1, mask.shape[-2] * mask.shape[-1]).numpy()
    texts = [base64.b64encode(np.packbits(table).tobytes()).decode("ascii") for table in tables]
    different = list(dict.fromkeys(texts))
    if different == [base64.b64encode(bytes(len(np.packbits(tables[0])))).decode("ascii")]:
        return [], []  # a mask that blocks nothing
    return different, [different.index(text) for text in texts]
