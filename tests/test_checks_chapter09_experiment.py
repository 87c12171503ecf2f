"""Chapter 9's experiment, measured with the chapter's own models: right and wrong measurements."""

from functools import cache
from importlib.resources import files

import pytest
import torch
import torch.nn.functional as F

from attnkit import checks
from attnkit.seq2seq import shifted_right
from attnkit.tasks import ChineseNumerals
from attnkit.training import load
from attnkit.transformer import Transformer

PREDICTION = {"GRU": 0.9, "Transformer": 0.9}
EXPLANATION = (
    "One of them is led astray by its own word, the other one by something else, it seems. " * 2
)


@cache
def model(name):
    path = files("attnkit") / "data" / f"ch9-{name.lower()}.safetensors"
    return load(path, Transformer.from_settings) if name == "Transformer" else load(path)


@cache
def batch_of(seed):
    task = ChineseNumerals((12, 12), characters=(14, 23))
    return task.batch(task.numbers(100, "test", seed=seed))


@cache
@torch.no_grad()
def said(name, seed, fed):
    """What a model says at each place, fed the right words, those to be said, or its own."""
    batch = batch_of(seed)
    width = batch.target.shape[1]
    if fed == "own":
        written, _ = model(name).greedy(batch.source, batch.source_lengths, width)
        return F.pad(written, (0, width - written.shape[1]))
    read = shifted_right(batch.target) if fed == "right" else batch.target
    return model(name)(batch.source, batch.source_lengths, read)[0].argmax(dim=-1)


def measuring(count, fed="right", of=lambda name: name):
    """``measure``: count(right, word) of what is said; both (sentences, places)."""

    def measure(name, seed):
        batch = batch_of(seed)
        word = torch.arange(batch.target.shape[1]) < batch.target_lengths[:, None]
        return count(said(of(name), seed, fed) == batch.target, word)

    return measure


def behind(right, word):
    missed = word & ~right
    return word & (missed.cumsum(dim=1) > missed.long())


def share_behind(right, word):
    return right[behind(right, word)].float().mean().item()


def by_loops(right, word):
    found = []
    for row, length in zip(right.tolist(), word.sum(dim=1).tolist(), strict=True):
        row = row[:length]
        if False in row:
            found += row[row.index(False) + 1 :]
    return sum(found) / len(found)


def by_counting(right, word):
    lengths = word.sum(dim=1)
    first = (word & ~right).int().argmax(dim=1)
    wrong = (word & ~right).any(dim=1)
    count = (lengths - first - 1)[wrong].sum()
    hits = ((right & word).sum(dim=1) - first)[wrong].sum()
    return hits / count  # a tensor


def mean_of_the_sentences(right, word):
    rows = zip(right, behind(right, word), strict=True)
    return torch.stack([r[b].float().mean() for r, b in rows if b.any()]).mean()


def everything(right, word):
    return right[word].float().mean()


def next_word(right, word):
    missed = (word & ~right).cumsum(dim=1)
    just = F.pad((word & ~right) & (missed == 1), (1, 0))[:, :-1]
    return right[just & word].float().mean()


RIGHT = [
    share_behind,
    by_loops,
    by_counting,
    mean_of_the_sentences,
    lambda right, word: [share_behind(right, word)],
]
WRONG = [
    ("one-model-for-both", measuring(share_behind, of=lambda name: "Transformer")),
    ("one-model-for-both", measuring(share_behind, of=lambda name: "GRU")),
    ("fed-what-it-should-say", measuring(share_behind, fed="target")),
    ("fed-what-it-should-say", measuring(everything, fed="target")),
    ("fed-its-own-words", measuring(share_behind, fed="own")),
    ("fed-its-own-words", measuring(everything, fed="own")),
    ("whole-sentences-counted", measuring(lambda right, word: (
        (right | ~word).all(dim=1).float().mean()))),
    ("wrong-words-counted", measuring(lambda right, word: 1 - share_behind(right, word))),
    ("wrong-words-counted", measuring(lambda right, word: 1 - everything(right, word))),
    ("padding-counted", measuring(lambda right, word: share_behind(right, word | True))),
    ("padding-counted", measuring(lambda right, word: right.float().mean())),
    ("padding-counted", measuring(lambda right, word: (
        right[behind(right, word).any(dim=1, keepdim=True) & behind(right, word | True)]
        .float().mean()))),
    ("mistake-itself-counted", measuring(lambda right, word: (
        right[word & ((word & ~right).cumsum(dim=1) > 0)].float().mean()))),
    ("words-before-counted", measuring(everything)),
    ("words-before-counted", measuring(lambda right, word: (
        right[word & (word & ~right).any(dim=1, keepdim=True)].float().mean()))),
    ("next-word-only", measuring(next_word)),
    # Failures that any experiment can have.
    ("in-percent", measuring(lambda right, word: 100 * share_behind(right, word))),
    ("wrong-shape", measuring(lambda right, word: right.float().mean(dim=1))),
    ("ignores-its-argument", lambda name, seed: measuring(share_behind)(name, 0)),
    ("measured-otherwise", measuring(lambda right, word: share_behind(right, word) ** 2)),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(RIGHT)))
def test_a_right_measurement_passes_however_it_is_written(number):
    verdict = checks.check("ch9-experiment", (PREDICTION, measuring(RIGHT[number]), EXPLANATION))
    assert verdict.passed, str(verdict)


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_another_measurement_is_called_by_its_name(number):
    name, measure = WRONG[number]
    verdict = checks.check("ch9-experiment", (PREDICTION, measure, EXPLANATION))
    assert (verdict.name, verdict.passed) == (name, False), str(verdict)


def test_every_name_of_the_experiment_is_reached():
    named = {row.name for row in checks.misconceptions() if row.id == "ch9-experiment"}
    assert len(named) >= 6
    assert named <= {name for name, _ in WRONG}


def test_the_measurement_holds_for_the_seeds_of_another_copy():
    answer = (PREDICTION, measuring(share_behind), EXPLANATION)
    verdict = checks.check("ch9-experiment", answer, variation="another copy")
    assert verdict.passed, str(verdict)
