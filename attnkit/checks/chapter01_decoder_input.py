"""Exercise ch1-decoder-input: what the decoder reads while it is taught."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attnkit.checks._engine import FunctionExercise, Misconception, Trial
from attnkit.checks.chapter01_claims import SECTIONS

_EOS, _PAD = 2, 0


def _column(target: np.ndarray, token: int) -> np.ndarray:
    return np.full((*target.shape[:-1], 1), token)


def _led_by(token: int) -> Callable:
    """The target moved one place to the right, with another token in front."""
    return lambda target, bos: _right(target, token)


def _right(target: np.ndarray, bos: int) -> np.ndarray:
    return np.concatenate([_column(target, bos), target[..., :-1]], axis=-1)


def _overwritten(target: np.ndarray, bos: int) -> np.ndarray:
    return np.concatenate([_column(target, bos), target[:, 1:]], axis=1)


def _moved_left(last: Callable[[int], int], *, moved: bool = True) -> Callable:
    """The target without its first column, ``last(bos)`` behind it."""

    def wrong(target, bos):
        return np.concatenate([target[:, 1 if moved else 0 :], _column(target, last(bos))], axis=1)

    return wrong


def _flattened(target: np.ndarray, bos: int) -> np.ndarray:
    return np.concatenate([[bos], target.ravel()[:-1]]).reshape(target.shape)


def _first_row_full(target: np.ndarray, bos: int) -> np.ndarray:
    moved = np.concatenate([_column(target, _PAD), target[:, :-1]], axis=1)
    moved[0] = bos
    return moved


def _first_row_overwritten(target: np.ndarray, bos: int) -> np.ndarray:
    rolled = np.roll(target, 1, axis=-1)
    rolled[0] = bos
    return rolled


def _without_end(target: np.ndarray, bos: int) -> np.ndarray:
    moved = _right(target, bos)
    return np.where(moved == _EOS, _PAD, moved)


def _smeared(target: np.ndarray, bos: int) -> np.ndarray:
    first = np.repeat(target[:, :1], target.shape[1], axis=1)
    return np.concatenate([_column(target, bos), first[:, 1:]], axis=1)


def _pads_kept(target: np.ndarray, bos: int) -> np.ndarray:
    return np.where(target == _PAD, _PAD, _right(target, bos))


def _trial(name: str, target: list[list[int]], bos: int) -> Trial:
    return Trial(name, {"target": np.array(target), "bos": bos})


_TRIALS = (
    _trial("one word", [[5, 2]], 1),
    _trial("two sentences, one padded", [[7, 2, 0], [4, 6, 2]], 1),
    _trial("another number for <bos>", [[3, 8, 2], [9, 2, 0]], 14),
    _trial("three sentences", [[5, 9, 4, 2], [8, 2, 0, 0], [6, 3, 2, 0]], 1),
    _trial("long", [[11, 7, 5, 13, 2, 0, 0], [9, 4, 4, 17, 8, 12, 2], [21, 2, 0, 0, 0, 0, 0]], 1),
    Trial(
        "extra axes",
        {"target": np.array([[[5, 7, 2], [8, 2, 0]], [[4, 2, 0], [6, 9, 2]]]), "bos": 1},
        required=False,
    ),
)

DECODER_INPUT = FunctionExercise(
    id="ch1-decoder-input",
    title="What does the decoder read?",
    link="ch1-models",
    call="decoder_input(target, bos)",
    results=("previous",),
    styles=("numpy", "torch"),
    sections=SECTIONS,
    right=_right,
    trials=_TRIALS,
    misconceptions=(
        Misconception(
            "sees-the-answer",
            "This is the target itself: at every step the decoder would read the very word it has "
            "to say. It must read the word before.",
            "ch1-models",
            (lambda target, bos: target,),
        ),
        Misconception(
            "shifted-left",
            "The target has moved to the left: the decoder would read the word after the one it "
            "has to say. Move it to the right.",
            "ch1-models",
            (
                _moved_left(lambda bos: _PAD),
                _moved_left(lambda bos: _EOS),
                lambda target, bos: np.roll(target, -1, axis=1),
                lambda target, bos: target[:, 1:],
                lambda target, bos: np.concatenate([_column(target, bos), target[:, 2:]], axis=1),
            ),
        ),
        Misconception(
            "bos-at-the-end",
            "<bos> stands at the end. It opens the sentence: it is what the decoder reads when it "
            "has said nothing yet.",
            "ch1-models",
            (
                _moved_left(lambda bos: bos),
                _moved_left(lambda bos: bos, moved=False),
                lambda target, bos: np.concatenate([target[:, :-1], _column(target, bos)], axis=1),
            ),
        ),
        Misconception(
            "last-column-kept",
            "It is one column longer than the target: for each word to be said there is one to "
            "read. The last column is never read, so it goes.",
            "ch1-models",
            (lambda target, bos: np.concatenate([_column(target, bos), target], axis=1),),
        ),
        Misconception(
            "bos-missing",
            "The last column is dropped and nothing put in front: the first word would be said "
            "after reading itself. Put a column of <bos> in front.",
            "ch1-models",
            (lambda target, bos: target[:, :-1],),
        ),
        Misconception(
            "last-token-wraps",
            "Rolling brings the last token round to the front. What the decoder reads first is "
            "<bos>: overwrite the first column after rolling.",
            "ch1-models",
            (lambda target, bos: np.roll(target, 1, axis=1),),
        ),
        Misconception(
            "bos-overwrites-the-first-word",
            "<bos> stands where the first word was, and the rest has not moved: from the second "
            "step on the decoder reads the word it has to say.",
            "ch1-models",
            (_overwritten,),
        ),
        Misconception(
            "shifted-along-the-batch",
            "The sentences have changed places: the shift runs along the batch. Words move inside "
            "their own sentence, along the last axis.",
            "ch1-models",
            (
                lambda target, bos: np.roll(target, 1, axis=0),
                lambda target, bos: np.concatenate([np.full_like(target[:1], bos), target[:-1]]),
                lambda target, bos: np.concatenate([np.full_like(target[:1], bos), target]),
            ),
        ),
        Misconception(
            "bos-fills-the-first-sentence",
            "The first sentence is all <bos>, and the others have none: x[0] is a row. The first "
            "column is x[:, 0].",
            "ch1-models",
            (_first_row_full, _first_row_overwritten),
        ),
        Misconception(
            "shifted-through-the-rows",
            "The last token of one sentence has become the first of the next: the shift ran "
            "through the flattened array. Every row starts with its own <bos>.",
            "ch1-models",
            (_flattened, lambda target, bos: np.roll(target, 1)),
        ),
        Misconception(
            "pad-in-front",
            "The shift is right, and padding stands in front. Say where a sentence begins: put "
            "<bos> there.",
            "ch1-models",
            (_led_by(_PAD),),
        ),
        Misconception(
            "eos-in-front",
            "The shift is right, and <eos> stands in front. Some systems do so; here the sentence "
            "begins with the bos that is handed over.",
            "ch1-models",
            (_led_by(_EOS),),
        ),
        Misconception(
            "bos-hard-coded",
            "A 1 stands in front whatever bos is. Use the argument: another vocabulary has another "
            "number.",
            "ch1-task",
            (_led_by(1),),
        ),
        Misconception(
            "bos-everywhere",
            "Every place holds <bos>: the decoder would never learn what was said before.",
            "ch1-models",
            (lambda target, bos: np.full_like(target, bos),),
        ),
        Misconception(
            "first-word-smeared",
            "Every place holds the first word: a loop from left to right copied what it had just "
            "written. Go from right to left, or copy the slice at once.",
            "ch1-models",
            (_smeared,),
        ),
        Misconception(
            "reversed",
            "The words stand in reverse order. The decoder reads them as they are said, one step "
            "late.",
            "ch1-models",
            (
                lambda target, bos: target[:, ::-1].copy(),
                lambda target, bos: _right(target[:, ::-1], bos),
            ),
        ),
        Misconception(
            "end-token-removed",
            "<eos> has been taken out. It does no harm there: where it is read the target is "
            "padding, which the loss leaves out. Shift, and change nothing else.",
            "ch1-models",
            (_without_end, _pads_kept),
        ),
        Misconception(
            "pads-overwritten",
            "The padding is gone as well: only the first column is new. What was padding in the "
            "target moves along and stays padding.",
            "ch1-models",
            (lambda target, bos: np.where(_right(target, bos) == _PAD, bos, _right(target, bos)),),
        ),
    ),
)

EXERCISES = (DECODER_INPUT,)
