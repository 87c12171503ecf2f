"""Chapter 11's experiment, measured with the chapter's own models: right and wrong measurements."""

from functools import cache
from importlib.resources import files

import pytest
import torch
from safetensors.torch import load_file

from attnkit import checks
from attnkit.classifier import SequenceClassifier
from attnkit.tasks import CLDRNames

EXPLANATION = (
    "A stranger's weights do nearly as well, so flips are no evidence for one model's own. " * 2
)


@cache
def task():
    return CLDRNames()


@cache
def few():
    return [name for name, _ in task().test[:500]]


@cache
def model(seed):
    kept = load_file(files("attnkit") / "data" / "ch11-names.safetensors")
    start = f"attention/{seed}/"
    state = {k.removeprefix(start): kept[k] for k in kept if k.startswith(start)}
    made = SequenceClassifier(task().vocabulary, 30, pooling="attention")
    made.load_state_dict(state)
    return made.requires_grad_(False)


@cache
def answers(seed, names):
    logits, weights = model(seed)(*task().encode(list(names)))
    return logits.argmax(dim=-1), weights


def highest(scores, names):
    lengths = torch.tensor([len(name) for name in names])
    real = torch.arange(scores.shape[1]) < lengths[:, None]
    return scores.masked_fill(~real, -torch.inf).argmax(dim=1)


def top(seed, sign=1):
    return highest(sign * answers(seed, tuple(few()))[1], few())


@cache
def steepest(seed):
    """Where gradient × input is greatest."""
    seen = []
    hook = model(seed).embedding.register_forward_hook(
        lambda module, inputs, output: seen.append(output.requires_grad_())
    )
    logits, _ = model(seed)(*task().encode(few()))
    hook.remove()
    (slope,) = torch.autograd.grad(logits.amax(dim=-1).sum(), seen[0])
    return highest((slope * seen[0]).sum(dim=-1).detach(), few())


def said(seed, places=None, every=False):
    """What a model says to the names, whole or without the characters at these places."""
    names = few()
    if places is not None:
        pairs = list(zip(names, places.tolist(), strict=True))
        names = [n.replace(n[t], "") if every else n[:t] + n[t + 1 :] for n, t in pairs]
    return answers(seed, tuple(names))[0]


def flips(seed, places, **how):
    return (said(seed, places, **how) != said(seed)).float().mean().item()


def from_the_pool(seed, places):
    states = model(seed).states(*task().encode(few()))
    left = answers(seed, tuple(few()))[1].scatter(1, places[:, None], 0)
    pooled = ((left / left.sum(dim=1, keepdim=True))[..., None] * states).sum(dim=1)
    return (model(seed).readout(pooled).argmax(dim=-1) != said(seed)).float().mean()


def languages():
    return torch.tensor([task().languages.index(code) for _, code in task().test[:500]])


def in_numpy(reader, guide):
    """No weight behind the end of a name is as large as the largest before it."""
    places = answers(guide, tuple(few()))[1].numpy().argmax(axis=1)
    before, after = said(reader).tolist(), said(reader, torch.tensor(places)).tolist()
    return sum(one != other for one, other in zip(before, after, strict=True)) / 500


def of_one_batch(reader, guide):
    """Whole and shortened names side by side, more padding for both."""
    pairs = zip(few(), top(guide).tolist(), strict=True)
    shorter = [name[:t] + name[t + 1 :] for name, t in pairs]
    before, after = answers(reader, (*few(), *shorter))[0].split(500)
    return (before != after).float().mean()


RIGHT = [lambda reader, guide: flips(reader, top(guide)), in_numpy, of_one_batch]
WRONG = [
    ("own-weights-taken", lambda r, g: flips(r, top(r))),
    ("guide-reads-too", lambda r, g: flips(g, top(g))),
    ("roles-exchanged", lambda r, g: flips(g, top(r))),
    ("least-attended-deleted", lambda r, g: flips(r, top(g, sign=-1))),
    ("slope-taken-for-weight", lambda r, g: flips(r, steepest(g))),
    ("slope-taken-for-weight", lambda r, g: flips(r, steepest(r))),
    ("deleted-from-the-pool", lambda r, g: from_the_pool(r, top(g))),
    ("every-copy-deleted", lambda r, g: flips(r, top(g), every=True)),
    ("answers-of-two-models-compared", lambda r, g: (
        (said(r, top(g)) != said(g)).float().mean())),
    ("answers-of-two-models-compared", lambda r, g: (said(r) != said(g)).float().mean()),
    ("compared-with-the-language", lambda r, g: (said(r, top(g)) != languages()).float().mean()),
    ("compared-with-the-language", lambda r, g: (
        ((said(r, top(g)) != languages()) & (said(r) == languages())).float().mean())),
    ("kept-answers-counted", lambda r, g: 1 - flips(r, top(g))),
    ("places-compared", lambda r, g: (top(r) == top(g)).float().mean()),
    # Failures that any experiment can have.
    ("in-percent", lambda r, g: 100 * flips(r, top(g))),
    ("wrong-shape", lambda r, g: said(r, top(g)) != said(r)),
    ("measured-otherwise", lambda r, g: flips(r, 0 * top(g))),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(RIGHT)))
def test_a_right_measurement_passes_however_it_is_written(number):
    verdict = checks.check("ch11-experiment", (0.4, RIGHT[number], EXPLANATION))
    assert verdict.passed, str(verdict)


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_another_measurement_is_called_by_its_name(number):
    name, measure = WRONG[number]
    verdict = checks.check("ch11-experiment", (0.4, measure, EXPLANATION))
    assert (verdict.name, verdict.passed) == (name, False), str(verdict)


def test_all_the_test_names_in_place_of_the_first_five_hundred_pass_as_well():
    found = dict(zip([(3, 1), (1, 3), (2, 2), (2, 1)], [0.639, 0.561, 0.618, 0.620], strict=True))
    verdict = checks.check("ch11-experiment", (0.4, lambda r, g: found[r, g], EXPLANATION))
    assert verdict.passed, str(verdict)


def test_every_name_of_the_experiment_is_reached():
    named = {row.name for row in checks.misconceptions() if row.id == "ch11-experiment"}
    assert len(named) >= 6
    assert named <= {name for name, _ in WRONG}
