"""Which temperature gives two weights a wanted ratio, and whether one gives them all."""

import math
from typing import NamedTuple

#: Temperatures that differ by less than this share of themselves count as the same.
SAME = 1e-6


class Answer(NamedTuple):
    """`kind` is what the temperature is worth.

    "one" the only T; "any" every T; "zero" and "infinite" only the limits T → 0 and T → ∞;
    "none" no T > 0; "undefined" 0 : 0 is no ratio. `temperature` is NaN for the last two and "any".
    """

    kind: str
    temperature: float


class Pair(NamedTuple):
    """Two tokens by position, the larger wanted share first (if equal, the larger score)."""

    first: int
    second: int
    kind: str
    temperature: float


def ratio_temperature(score_a: float, score_b: float, a: float, b: float) -> Answer:
    """The temperature at which softmax gives two scores weights in the ratio a : b.

    T = (score_a − score_b) / ln(a / b), because w_a / w_b = exp((score_a − score_b) / T).

    >>> round(ratio_temperature(0.1, 0.05, 10, 5).temperature, 3)
    0.072
    >>> ratio_temperature(1.0, 2.0, 10, 5).kind
    'none'
    """
    if a == 0 and b == 0:
        return Answer("undefined", math.nan)
    if score_a == score_b:
        return Answer("any" if a == b else "none", math.nan)
    if a == b:
        return Answer("infinite", math.inf)
    if (a > b) != (score_a > score_b):
        return Answer("none", math.nan)
    ratio = a / b if b > 0 else math.inf
    if 0 < ratio < math.inf:
        logarithm = math.log(ratio)
    else:
        logarithm = (math.log(a) if a else -math.inf) - (math.log(b) if b else -math.inf)
    temperature = ((score_a / 2 - score_b / 2) / logarithm) * 2  # halves cannot overflow
    if temperature == 0:
        return Answer("zero", 0.0)
    return Answer("infinite" if math.isinf(temperature) else "one", temperature)


def wanted_pairs(scores: list[float], wanted: list[float]) -> list[Pair]:
    """Every pair of tokens with the temperature it needs."""
    pairs = []
    for i in range(len(scores)):
        for j in range(i):
            first, second = (i, j) if (wanted[i], scores[i]) > (wanted[j], scores[j]) else (j, i)
            answer = ratio_temperature(scores[first], scores[second], wanted[first], wanted[second])
            pairs.append(Pair(first, second, *answer))
    return pairs


def common_temperature(pairs: list[Pair]) -> Answer:
    """The temperature that serves all pairs; "none" where they need different ones."""
    kinds = {pair.kind for pair in pairs} - {"any", "undefined"}
    if not kinds:
        return Answer("any", math.nan)
    if len(kinds) > 1 or kinds == {"none"}:
        return Answer("none", math.nan)
    needed = [pair.temperature for pair in pairs if pair.kind in kinds]
    if kinds == {"one"} and max(needed) - min(needed) > SAME * min(needed):
        return Answer("none", math.nan)
    return Answer(kinds.pop(), needed[0])
