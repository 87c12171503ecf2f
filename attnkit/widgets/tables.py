"""What the scaling widget shows, computed by PyTorch and packed for the browser."""

import base64
from functools import lru_cache
from typing import NamedTuple

import torch

D_MAX, N_KEYS, N_QUERIES, N_PAIRS = 1024, 64, 8, 8192
GRID_STEPS = 8  # components are rounded to 1/8: one base64 digit each, and exact sums
BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
# d_k at which the histogram was measured: 1, 2, 3, 4, 6, 8, 12, … 768, 1024
HISTOGRAM_D = sorted({1} | {2**k for k in range(1, 11)} | {3 * 2**k for k in range(9)})
BINS, REACH = 40, 4.0  # bins of score / √d_k from −4 to 4


class ScoreTables(NamedTuple):
    """Seeded vectors, and the histogram and spread of many scores."""

    queries: torch.Tensor  # (8, 1024) float64, multiples of 1/8
    keys: torch.Tensor  # (64, 1024) float64, multiples of 1/8
    density: torch.Tensor  # (20, 40) float64: density of score / √d_k, at each HISTOGRAM_D
    spread: torch.Tensor  # (1024,) float64: measured standard deviation of the score at each d_k


@lru_cache(maxsize=8)
def score_tables(seed: int) -> ScoreTables:
    """Draw q and k with independent N(0, 1) components, and measure q·k.

    One draw serves every d_k: the score at d_k is the sum of the first d_k products. Histogram
    and spread come from 8,192 pairs of their own. Both travel as float16 (three digits).
    """
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randn(N_QUERIES + N_KEYS, D_MAX, generator=generator)
    limit = len(BASE64) // 2
    digits = (drawn * GRID_STEPS).round().clamp(-limit, limit - 1)
    vectors = digits.double() / GRID_STEPS

    steps = torch.arange(1, D_MAX + 1, dtype=torch.float32)
    at = torch.tensor(HISTOGRAM_D) - 1
    counts = torch.zeros(len(HISTOGRAM_D), BINS, dtype=torch.float64)
    squares = torch.zeros(D_MAX, dtype=torch.float64)
    for _ in range(N_PAIRS // 512):
        q, k = torch.randn(2, 512, D_MAX, generator=generator)
        scores = (q * k).cumsum(-1)
        squares += scores.square().sum(0, dtype=torch.float64)
        standard = scores[:, at] / steps[at].sqrt()
        for row, values in enumerate(standard.T):
            counts[row] += torch.histc(values, BINS, -REACH, REACH)
    density = counts / (N_PAIRS * 2 * REACH / BINS)
    spread = (squares / N_PAIRS).sqrt()
    return ScoreTables(
        vectors[:N_QUERIES], vectors[N_QUERIES:], density.half().double(), spread.half().double()
    )


def pack_digits(vectors: torch.Tensor) -> str:
    """One base64 digit for each component, row after row: value = (digit − 32) / 8."""
    digits = (vectors * GRID_STEPS).long() + len(BASE64) // 2
    return "".join(BASE64[digit] for digit in digits.flatten().tolist())


def pack_float16(values: torch.Tensor) -> str:
    """Little-endian float16, base64."""
    return base64.b64encode(values.half().numpy().astype("<f2").tobytes()).decode("ascii")
