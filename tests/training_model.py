"""A small model: its training is random (dropout), and it has a state beside its weights."""

from typing import Any

import torch
from torch import nn

N_IN, N_HIDDEN, N_OUT, N_BATCH = 5, 11, 3, 7
STEPS = 13


class Small(nn.Module):
    def __init__(self, n_hidden: int = N_HIDDEN, seed: int = 0):
        super().__init__()
        self.settings = {"n_hidden": n_hidden}
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.inner = nn.Linear(N_IN, n_hidden)
            self.norm = nn.BatchNorm1d(n_hidden)
            self.dropout = nn.Dropout(0.5)
            self.outer = nn.Linear(n_hidden, N_OUT)

    @classmethod
    def from_settings(cls, settings: dict[str, Any]):
        return cls(**settings)

    def forward(self, x):
        return self.outer(self.dropout(self.norm(self.inner(x)).relu()))

    def loss(self, batch):
        x, y = batch
        return nn.functional.cross_entropy(self(x), y)


def batch_at(step: int, seed: int = 0):
    generator = torch.Generator().manual_seed(1000 * seed + step)
    x = torch.randn(N_BATCH, N_IN, generator=generator)
    return x, x[:, :N_OUT].argmax(-1)


def accuracy(model: nn.Module) -> float:
    torch.rand(3)  # what validation draws must not matter
    x, y = batch_at(10_000)
    return (model(x).argmax(-1) == y).double().mean().item()


def same(a: nn.Module, b: nn.Module) -> bool:
    ours, theirs = a.state_dict(), b.state_dict()
    return ours.keys() == theirs.keys() and all(torch.equal(ours[n], theirs[n]) for n in ours)


def told(history) -> list[tuple]:
    """The rows as text (nan equals nan) without the seconds, which no two runs share."""
    return [tuple(map(repr, row[:-1])) for row in history]
