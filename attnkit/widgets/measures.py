"""Numbers that the widgets read out, computed by PyTorch (core.js does the same)."""

import math

import torch


def softmax_row(scores: torch.Tensor, temperature: float = 1.0) -> torch.Tensor:
    """softmax(scores / temperature) over the last axis, safe for every finite score.

    The largest score goes first, the temperature second: nothing can overflow upwards.
    """
    shifted = scores - scores.amax(-1, keepdim=True)
    return torch.softmax(shifted / temperature, dim=-1)


def entropy(weights: torch.Tensor) -> float:
    """Entropy of one row of weights in nats, with 0 · ln 0 = 0."""
    return float(torch.special.entr(weights).sum())


def jacobian_norm(weights: torch.Tensor) -> float:
    """Frobenius norm of the softmax Jacobian, J_ij = w_i (δ_ij − w_j), of one row.

    It says how much the weights answer when what goes into the softmax moves a little:
    0 where one key has all the weight.
    """
    jacobian = torch.diag(weights) - torch.outer(weights, weights)
    return float(torch.linalg.matrix_norm(jacobian))


def slopes(weights: torch.Tensor, temperature: float = 1.0) -> torch.Tensor:
    """Slope of each weight against its own score, w (1 − w) / T; same shape as `weights`.

    1 − w is summed from the other weights, so that it keeps its digits near w = 1.
    """
    best = int(weights.argmax())
    rest = 1 - weights
    rest[best] = weights[:best].sum() + weights[best + 1 :].sum()
    return weights * rest / temperature


def percent(weight: float) -> str:
    """A weight as text, never rounded to a false 0 % or 100 %.

    >>> percent(0.6204), percent(0.0), percent(2e-5), percent(0.99999)
    ('62.0 %', '0 %', '< 0.1 %', '> 99.9 %')
    """
    if weight in (0.0, 1.0):
        return f"{100 * weight:.0f} %"
    if weight < 0.0005:
        return "< 0.1 %"
    if weight >= 0.9995:
        return "> 99.9 %"
    return f"{100 * weight:.1f} %"


def whole_percent(weight: float) -> str:
    """A weight in whole percent, never rounded to a false 0 % or 100 %.

    >>> whole_percent(0.6204), whole_percent(0.0), whole_percent(2e-5), whole_percent(0.999)
    ('62 %', '0 %', '< 1 %', '> 99 %')
    """
    if weight in (0.0, 1.0):
        return f"{100 * weight:.0f} %"
    if weight < 0.005:
        return "< 1 %"
    if weight >= 0.995:
        return "> 99 %"
    return f"{math.floor(100 * weight + 0.5)} %"
