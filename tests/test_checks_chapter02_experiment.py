"""Chapter 2's experiment, measured with the chapter's own model: right and wrong measurements."""

from functools import cache
from importlib.resources import files

import pytest
import torch
import torch.nn.functional as F

from attnkit import checks
from attnkit.seq2seq import Seq2Seq, exact_match, shifted_right
from attnkit.tasks import ChineseNumerals
from attnkit.training import load

TASK = ChineseNumerals(digits=(1, 12), sparse=0.5)
EXPLANATION = "Theft alone does not order the results: one digit loses more than two do. " * 2


class Unmasked(Seq2Seq):
    def encode(self, source, source_lengths):
        memory = super().encode(source, source_lengths)
        return memory._replace(mask=torch.ones_like(memory.mask))


@cache
def model(masked):
    trained = load(files("attnkit") / "data" / "ch1-translator-additive-0.safetensors")
    if masked:
        return trained
    unmasked = Unmasked.from_settings(trained.settings)
    unmasked.load_state_dict(trained.state_dict())
    return unmasked


@cache
def batch_of(digits, every=True):
    numbers = range(10 ** (digits - 1), 10**digits)
    if digits > 2 or not every:
        numbers = ChineseNumerals(digits=(digits, digits)).numbers(100)
    return TASK.batch(list(numbers))


def padded(batch, width):
    return F.pad(batch.source, (0, max(0, width - batch.source.shape[1])))


@cache
@torch.no_grad()
def written(digits, width=24, masked=False, every=True, read=False):
    """What is written, beside what should be, and the weight that padding gets at each word."""
    batch = batch_of(digits, every)
    source, n = padded(batch, width), batch.target.shape[1]
    lengths = torch.full_like(batch.source_lengths, width) if read else batch.source_lengths
    words, weights = model(masked).greedy(source, lengths, n)
    stolen = (weights * (source == 0).unsqueeze(1)).sum(-1)[words > 0]
    return F.pad(words, (0, n - words.shape[1])), batch.target, stolen


def whole(digits, **how):
    words, target, _ = written(digits, **how)
    return (words == target).all(dim=1).double().mean()


def in_words(digits):
    words, target, _ = written(digits)
    return (words == target)[target > 0].double().mean()


@torch.no_grad()
def taught(digits):
    """The loss with the right words before."""
    batch = batch_of(digits)
    fed = shifted_right(batch.target)
    logits, _ = model(False)(padded(batch, 24), batch.source_lengths, fed)
    return F.cross_entropy(logits.mT, batch.target, ignore_index=0)


def with_exact_match(digits):
    batch = batch_of(digits)
    return exact_match(model(False), batch._replace(source=padded(batch, 24))).float().mean().item()


def by_hand(digits):
    words, target, _ = written(digits)
    right = [a == b for a, b in zip(words.tolist(), target.tolist(), strict=True)]
    return sum(right) / len(right)


MEASURED = [
    ("right", whole),
    ("right", with_exact_match),
    ("right", by_hand),
    ("mask-left-on", lambda digits: whole(digits, masked=True)),
    ("not-padded", lambda digits: whole(digits, width=0)),
    ("padding-read-as-text", lambda digits: whole(digits, read=True)),
    ("words-for-numbers", in_words),
    ("mistakes-for-right", lambda digits: 1 - whole(digits)),
    ("theft-for-harm", lambda digits: written(digits)[2].mean()),
    ("loss-for-accuracy", taught),
    ("only-the-test-numbers", lambda digits: whole(digits, every=False)),
    ("counts-for-shares", lambda digits: whole(digits) * len(written(digits)[1])),
    ("in-percent", lambda digits: 100 * whole(digits)),
    ("hard-coded", lambda digits: 0.11),
]


@pytest.mark.parametrize(("name", "measure"), MEASURED)
def test_what_was_measured_without_a_mask_has_a_name(name, measure):
    verdict = checks.check("ch2-experiment", (0.9, measure, EXPLANATION))
    assert verdict.name == name, str(verdict)


def test_every_name_is_reached_by_a_measurement():
    names = {wrong.name for wrong in checks.exercise("ch2-experiment").misconceptions}
    assert names <= {name for name, _ in MEASURED}
