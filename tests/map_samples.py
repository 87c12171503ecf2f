"""Weight maps of many kinds, seeded, for the tests of what draws them."""

import torch

WORDS = ["The", "quick", "中国", "<b>bold</b>", "cost$5", "▁the", "##ing", "a\nb", " x", "the", "é"]


def words(n: int) -> list[str]:
    """n tokens, some of them hostile, some repeated."""
    return [WORDS[i % len(WORDS)] for i in range(n)]


def causal(n_queries: int, n_keys: int | None = None) -> torch.Tensor:
    """(n_queries, n_keys) bool, True = may attend, bottom-right aligned."""
    n_keys = n_queries if n_keys is None else n_keys
    return torch.ones(n_queries, n_keys).tril(n_keys - n_queries).bool()


def heads(*shape: int, mask: torch.Tensor | None = None, seed: int = 0) -> torch.Tensor:
    """(…, queries, keys) float64 weights as heads have them: diffuse, sharp, diagonal, a sink."""
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn(*shape, generator=generator, dtype=torch.float64)
    flat = scores.view(-1, *shape[-2:])
    rows, columns = torch.arange(shape[-2])[:, None], torch.arange(shape[-1])
    for i, head in enumerate(flat):
        head *= (0.3, 1.0, 3.0, 6.0)[i % 4]
        head += 4.0 * (columns == rows - i % 3) * (i % 2) + 3.0 * (columns == 0) * (i % 5 == 0)
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return torch.softmax(scores, -1).nan_to_num(0.0)
