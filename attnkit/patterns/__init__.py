"""What attention heads do, measured: metrics of their maps, baselines, kinds of heads.

Weights are ``(..., T_q, T_k)``; the query is the row. A metric of a map is the mean over the
queries that count and have it. Beside each value belongs that of the uniform head under the same
mask.
"""

from attnkit.patterns.describe import describe_heads
from attnkit.patterns.kinds import KINDS, Measure, Thresholds, classify
from attnkit.patterns.metrics import (
    concentration,
    diagonal_strength,
    effective_keys,
    entropy,
    induction_score,
    local_focus,
    mean_distance,
    normalized_entropy,
    sink_mass,
    uniform,
)
from attnkit.patterns.similarity import gradient_importance, head_similarity
from attnkit.patterns.table import HeadRow, HeadTable

__all__ = [
    "KINDS",
    "HeadRow",
    "HeadTable",
    "Measure",
    "Thresholds",
    "classify",
    "concentration",
    "describe_heads",
    "diagonal_strength",
    "effective_keys",
    "entropy",
    "gradient_importance",
    "head_similarity",
    "induction_score",
    "local_focus",
    "mean_distance",
    "normalized_entropy",
    "sink_mass",
    "uniform",
]
