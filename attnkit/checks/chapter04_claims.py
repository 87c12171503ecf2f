"""Exercise ch4-claims: order, masks before and after the softmax, padding, leaks."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F

from attnkit.checks import _wrong_masked as wm
from attnkit.checks._choice import ChoiceExercise, Finding, Slip, Statement, measured
from attnkit.checks._wrong_attention import softmax

#: The sections of chapter 4 that messages link to.
SECTIONS = {
    "ch4": "masks",
    "ch4-self": "self-attention, and what it does not see",
    "ch4-order": "positions that are learned",
    "ch4-causal": "the causal mask",
    "ch4-mask-order": "what a causal mask tells of the order",
    "ch4-formula": "−10⁹, −∞ and booleans",
    "ch4-padding": "padding",
    "ch4-window": "windows and combinations",
    "ch4-conventions": "what True means where",
    "ch4-empty": "rows that may see nothing",
    "ch4-leak": "a leak, seen against the floor",
    "ch4-context": "how much context a model needs",
    "ch4-breaks": "wrong masks on purpose",
}

#: Three tokens, their vectors short and all different.
_X = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
_SCORES, _BLOCK_LAST = np.array([[1.0, 2.0, 3.0]]), np.array([[True, True, False]])


def _equal(*arrays: np.ndarray) -> bool:
    first, second = arrays
    return first.shape == second.shape and bool(np.allclose(first, second))


def _shuffled_outputs() -> Finding:
    order, all_allowed = np.array([2, 0, 1]), np.ones((3, 3), bool)
    outputs, after = wm.self_attention(_X, all_allowed), wm.self_attention(_X[order], all_allowed)
    found = {"outputs, shuffled": outputs[order], "outputs of the shuffled tokens": after}
    return Finding(_equal(*found.values()), {"tokens": _X, "order": order}, found)


def _order_of_the_prefix() -> Finding:
    causal = np.tri(3, dtype=bool)
    found = {
        "last output": wm.self_attention(_X, causal)[-1],
        "last output, the tokens before it swapped": wm.self_attention(_X[[1, 0, 2]], causal)[-1],
    }
    return Finding(not _equal(*found.values()), {"tokens": _X}, found)


def _zero_afterwards() -> Finding:
    found = {
        "blocked after the softmax": softmax(_SCORES) * _BLOCK_LAST,
        "blocked before the softmax": wm.right(_SCORES, _BLOCK_LAST),
    }
    return Finding(_equal(*found.values()), {"scores": _SCORES, "mask": _BLOCK_LAST}, found)


def _padding_queries() -> Finding:
    padded = np.concatenate([_X, [[9.0, -9.0]]])
    keys = np.array([[True, True, True, False]])
    found = {
        "outputs of the sentence alone": wm.self_attention(_X, np.ones((3, 3), bool)),
        "outputs of its tokens, padded": wm.self_attention(padded, keys)[:3],
    }
    example = {"tokens": _X, "a padding position": padded[3], "mask, the same for all rows": keys}
    return Finding(_equal(*found.values()), example, found)


def _conventions() -> Finding:
    """One mask handed to both; identities for the projections, and the scale as it is in both."""
    x, mask = torch.tensor(_X), torch.tensor([[True, False, False]]).expand(3, 3)
    ours = F.scaled_dot_product_attention(x[None], x[None], x[None], attn_mask=mask)[0]
    one, none = torch.eye(2, dtype=x.dtype), torch.zeros(6, dtype=x.dtype)
    theirs, _ = F.multi_head_attention_forward(
        x[:, None], x[:, None], x[:, None], 2, 1, one.repeat(3, 1), none, None, None, False, 0.0,
        one, none[:2], attn_mask=mask, need_weights=False,
    )  # fmt: skip
    found = {
        "scaled_dot_product_attention": ours.numpy(),
        "nn.MultiheadAttention": theirs[:, 0].numpy(),
    }
    return Finding(_equal(*found.values()), {"tokens": _X, "mask": mask.numpy()}, found)


def _empty_row() -> Finding:
    weights = wm.filled(-1e9)(_SCORES, np.zeros((1, 3), bool))
    found = {"weights, all three blocked with −10⁹": weights}
    return Finding(not weights.any(), {"scores": _SCORES}, found)


CLAIMS = ChoiceExercise(
    id="ch4-claims",
    title="Which statements about masks hold?",
    link="ch4",
    sections=SECTIONS,
    options=(
        Statement(
            "A",
            "Without positions and without a mask, shuffling the tokens shuffles the outputs of "
            "self-attention in the same way and changes nothing else.",
            _shuffled_outputs,
        ),
        Statement(
            "B",
            "In one causal layer without positions, the output of the last token depends on the "
            "order of the tokens before it.",
            _order_of_the_prefix,
        ),
        Statement(
            "C",
            "Setting the blocked weights to zero after the softmax gives the same weights as "
            "masking the scores before it.",
            _zero_afterwards,
        ),
        Statement(
            "D",
            "It is enough to block the padding keys: when the outputs of the padding queries are "
            "left out of the loss, their rows need no mask.",
            _padding_queries,
        ),
        Statement(
            "E",
            "A boolean mask means the same to PyTorch's scaled_dot_product_attention and to its "
            "nn.MultiheadAttention.",
            _conventions,
        ),
        Statement(
            "F",
            "On fresh data, a mean loss far below the exact entropy of the task shows that the "
            "model sees what it has to predict.",
            measured(True, "only the model whose mask is off by one falls through the floor"),
        ),
        Statement(
            "G",
            "With a large negative number in place of −∞, a row that may see nothing gets weights "
            "of zero.",
            _empty_row,
        ),
    ),
    misconceptions=(
        Slip(
            "chose-the-wrong-ones",
            "These are exactly the statements that do not hold. The question is which do.",
            "ch4",
            rule=lambda chosen, right: chosen == set("ABCDEFG") - right,
        ),
        Slip(
            "chose-everything",
            "Not all of them hold. Begin with {E}: look the two functions up in the table of "
            "conventions.",
            "ch4-conventions",
            rule=lambda chosen, right: chosen == set("ABCDEFG"),
        ),
        Slip(
            "order-taken-for-seen",
            "Every output is a weighted sum over all tokens, and a sum does not know the order of "
            "its terms. Shuffled tokens give the same outputs, shuffled.",
            "ch4-self",
            letter="A",
        ),
        Slip(
            "causal-mask-taken-for-positions",
            "The last token sees all the others in either order, and its output is a weighted sum "
            "over them: the same one. In one layer the mask alone tells it nothing about their "
            "order.",
            "ch4-mask-order",
            letter="B",
        ),
        Slip(
            "mask-after-softmax-taken-for-the-same",
            "The blocked keys have had their share in the sum below the bar. Setting them to 0 "
            "afterwards leaves a row that sums to less than 1.",
            "ch4-formula",
            letter="C",
        ),
        Slip(
            "padding-rows-taken-for-harmful",
            "A row is one query's own business: what a padding query looks at moves no other "
            "row. Only as a key can padding reach a real token, and there it is blocked.",
            "ch4-padding",
            letter="D",
        ),
        Slip(
            "one-convention-for-all",
            "One function reads True as “may attend”, the other as “blocked”. The same mask gives "
            "two results, and neither of them complains.",
            "ch4-conventions",
            letter="E",
        ),
        Slip(
            "leak-taken-for-skill",
            "On fresh data nobody can predict better than the entropy of the task allows. Who "
            "does has read the answer: look at the mask first.",
            "ch4-leak",
            letter="F",
        ),
        Slip(
            "large-negative-taken-for-infinity",
            "The softmax sees differences only. When all scores of a row are −10⁹ they are equal, "
            "and all keys get the same share.",
            "ch4-empty",
            letter="G",
        ),
    ),
)

EXERCISES = (CLAIMS,)
