"""Exercise ch12-claims: what cheaper attention saves, and what it loses."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F

from attnkit.checks import _wrong_attention as wa
from attnkit.checks._choice import ChoiceExercise, Finding, Slip, Statement, measured
from attnkit.masks import causal_mask, sliding_window_mask, strided_mask

#: The sections of chapter 12 that messages link to.
SECTIONS = {
    "ch12": "cheaper attention",
    "ch12-cost": "what n × n costs",
    "ch12-mask": "what a mask saves",
    "ch12-windowed": "a window, block by block",
    "ch12-strided": "a stride",
    "ch12-linear": "without the softmax",
    "ch12-fused": "the same, without the map",
    "ch12-measured": "five curves in one run",
    "ch12-distillation": "taught where to look",
}

_QUERY = np.array([[1.0, 0.0], [0.5, -1.0]])
_KEY = np.array([[1.0, 0.5], [0.0, 2.0], [-1.0, 1.0]])
_VALUE = np.array([[1.0], [2.0], [6.0]])


def _fused() -> Finding:
    q, k, v = (torch.tensor(x)[None, None] for x in (_QUERY, _KEY, _VALUE))
    found = {
        "all weights kept": wa.right(_QUERY, _KEY, _VALUE)[0],
        "fused": F.scaled_dot_product_attention(q, k, v)[0, 0].numpy(),
    }
    kept, fused = found.values()
    example = {"query": _QUERY, "key": _KEY, "value": _VALUE}
    return Finding(not np.allclose(kept, fused), example, found)


def _three_layers() -> Finding:
    window = sliding_window_mask(12, 4).double().numpy()
    reached = np.flatnonzero(np.linalg.matrix_power(window, 3)[11])
    found = {"furthest place before it that the last output can depend on": int(11 - reached[0])}
    return Finding(bool(reached[0] <= 2), {"layers": 3, "window": 4}, found)


def _features(x: np.ndarray) -> np.ndarray:
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))


def _linear() -> Finding:
    products = _features(_QUERY) @ _features(_KEY).T
    found = {
        "softmax attention": wa.right(_QUERY, _KEY, _VALUE)[0],
        "linear attention": products / products.sum(axis=1, keepdims=True) @ _VALUE,
    }
    softmax, linear = found.values()
    example = {"query": _QUERY, "key": _KEY, "value": _VALUE}
    return Finding(bool(np.allclose(softmax, linear)), example, found)


def _kept(n_tokens: int) -> int:
    """Numbers of both sums, Σ φ(k) vᵀ and Σ φ(k), after so many tokens."""
    key, value = np.ones((n_tokens, 4)), np.ones((n_tokens, 3))
    return (key.T @ value).size + key.sum(axis=0).size


def _state() -> Finding:
    found = {f"numbers kept after {n:,} tokens": _kept(n) for n in (10, 10_000)}
    few, many = found.values()
    return Finding(few == many, {"d": 4, "d_value": 3}, found)


def _window_and_stride() -> Finding:
    n, s = 9, 3
    both = sliding_window_mask(n, s).double() @ strided_mask(n, s).double()
    reached = (both > 0).numpy()
    found = {"tokens that the last one can depend on": int(reached[-1].sum())}
    holds = bool((reached == causal_mask(n).numpy()).all())
    return Finding(holds, {"tokens": n, "window and stride": s}, found)


CLAIMS = ChoiceExercise(
    id="ch12-claims",
    title="What is saved, and what is lost?",
    link="ch12",
    sections=SECTIONS,
    options=(
        Statement(
            "A",
            "A mask that leaves every query 16 of 1,024 keys makes full attention several times "
            "faster.",
            measured(False, "full attention takes about as long with the mask as without it"),
        ),
        Statement(
            "B",
            "Fused attention saves memory because it leaves small weights out, so its outputs are "
            "an approximation.",
            _fused,
        ),
        Statement(
            "C",
            "In three causal layers with a window of 4 each, an output can depend on the token 9 "
            "places before it.",
            _three_layers,
        ),
        Statement(
            "D",
            "Linear attention gives the outputs of softmax attention with the products taken in "
            "another order.",
            _linear,
        ),
        Statement(
            "E",
            "What causal linear attention keeps from step to step has the same size after 10 "
            "tokens as after 10,000.",
            _state,
        ),
        Statement(
            "F",
            "The windowed form needs fewer multiplications than full attention, so it takes less "
            "time at every length, 16 tokens included.",
            measured(False, "with 16 tokens the windowed form takes longer than the whole table"),
        ),
        Statement(
            "G",
            "A layer with a window of s and a layer with a stride of s together let a token depend "
            "on every token before it.",
            _window_and_stride,
        ),
    ),
    misconceptions=(
        Slip(
            "chose-the-wrong-ones",
            "These are exactly the statements that do not hold. The question is which do.",
            "ch12",
            rule=lambda chosen, right: chosen == set("ABCDEFG") - right,
        ),
        Slip(
            "chose-everything",
            "Not all of them hold. Begin with {B}: compare the outputs of both on a few tokens.",
            "ch12-fused",
            rule=lambda chosen, right: chosen == set("ABCDEFG"),
        ),
        Slip(
            "mask-taken-for-saving",
            "The scores of the blocked keys are computed all the same, and thrown away. Time is "
            "saved by what is never computed.",
            "ch12-mask",
            letter="A",
        ),
        Slip(
            "fused-taken-for-approximate",
            "It goes through the keys in blocks and keeps running sums, so that the table is never "
            "whole in memory. Every key counts: the numbers are those of full attention.",
            "ch12-fused",
            letter="B",
        ),
        Slip(
            "window-taken-for-reach",
            "A window limits what one layer sees. The keys it sees have looked back themselves: "
            "each layer adds window − 1 places.",
            "ch12-windowed",
            letter="C",
        ),
        Slip(
            "linear-taken-for-exact",
            "The order of the products may be changed because φ has taken the place of the exp. "
            "That gives other weights: the outputs are not those of the softmax.",
            "ch12-linear",
            letter="D",
        ),
        Slip(
            "state-taken-for-a-cache",
            "A cache has one key and one value for each token. Here they are added up: one matrix "
            "of d × d_value and one vector of d, however many there were.",
            "ch12-linear",
            letter="E",
        ),
        Slip(
            "count-taken-for-time",
            "Multiplications are one part of the time. Cutting into blocks and calling more "
            "kernels costs something too, and at 16 tokens that is more than the whole table.",
            "ch12-measured",
            letter="F",
        ),
        Slip(
            "stride-taken-for-gaps",
            "Each layer alone has gaps, but a key that the stride reaches has seen the s − 1 "
            "before it through the window. Together they leave out nothing.",
            "ch12-strided",
            letter="G",
        ),
    ),
)

EXERCISES = (CLAIMS,)
