"""Chapter 10's experiment, measured with the chapter's own model: right and wrong measurements."""

import json
from functools import cache
from importlib.resources import files

import pytest
import torch
import torch.nn.functional as F

from attnkit import checks
from attnkit.pretrained import load_minilm

PREDICTION = {"[CLS]": 0.8, "first piece": 0.3, "full stop": 0.1}
EXPLANATION = (
    "One place that has read all the others is nearly enough, and a word's place is not. " * 2
)
ROWS, OWN = torch.arange(128), torch.arange(64)


@cache
@torch.no_grad()
def read():
    """Lengths of the 128 sentences and their hidden states before and behind every layer."""
    written = json.loads((files("attnkit") / "data" / "ch10-pairs.json").read_text())
    pairs = [pair for topic in written["pairs"].values() for pair in topic]
    model = load_minilm()
    tokens = model.tokenize([one for one, _ in pairs] + [other for _, other in pairs])
    assert all(pieces[-2] == "." for pieces in tokens.pieces)  # as the exercise says
    return tokens.lengths, model(tokens).hidden_states


def at(place, layer=-1, padded=False):
    lengths, states = read()
    hidden = states[layer]
    ends = torch.full_like(lengths, hidden.shape[1]) if padded else lengths
    return hidden[ROWS, place % ends]


def mean():
    lengths, states = read()
    real = torch.arange(states[-1].shape[1]) < lengths[:, None]
    return (states[-1] * real[..., None]).sum(1) / lengths[:, None]


def sides(vectors):
    vectors = F.normalize(vectors, dim=-1)
    return vectors[:64], vectors[64:]


def found(likeness):
    return sum((x.argmax(1) == OWN).sum().item() for x in (likeness, likeness.T))


def share(vectors):
    left, right = sides(vectors)
    return found(left @ right.T) / 128


def by_loops(place):
    lengths, states = read()
    ends = zip(states[-1], lengths, strict=True)
    vectors = [row[place if place >= 0 else n + place] for row, n in ends]
    hits = 0
    for i, vector in enumerate(vectors):
        rivals = torch.stack(vectors[64:] if i < 64 else vectors[:64])
        hits += int(F.cosine_similarity(vector[None], rivals).argmax() == i % 64)
    return hits / 128


def by_distance_of_unit_vectors(place):
    left, right = sides(at(place))
    return torch.tensor(found(-torch.cdist(left, right)) / 128)


def as_the_mean_of_both_sides(place):
    left, right = sides(at(place))
    cosines = left @ right.T
    return torch.stack([(x.argmax(1) == OWN).float().mean() for x in (cosines, cosines.T)]).mean()


def all_but(place):
    lengths, states = read()
    real = torch.arange(states[-1].shape[1]) < lengths[:, None]
    real[ROWS, place % lengths] = False
    return share((states[-1] * real[..., None]).sum(1))


def one_side(place):
    left, right = sides(at(place))
    return ((left @ right.T).argmax(1) == OWN).float().mean()


def among_all(place):
    vectors = torch.cat(sides(at(place)))
    likeness = (vectors @ vectors.T).fill_diagonal_(-1)
    return (likeness.argmax(1) == (ROWS + 64) % 128).float().mean()


def cosine(place):
    left, right = sides(at(place))
    return (left * right).sum(-1).mean()


RIGHT = [lambda p: share(at(p)), by_loops, by_distance_of_unit_vectors, as_the_mean_of_both_sides]
WRONG = [
    ("padding-taken-for-the-end", lambda p: share(at(p, padded=True))),
    ("lengths-left-in", lambda p: found(at(p)[:64] @ at(p)[64:].T) / 128),
    ("distance-in-place-of-cosine", lambda p: found(-torch.cdist(at(p)[:64], at(p)[64:])) / 128),
    ("mean-taken", lambda p: share(mean())),
    ("mean-taken", all_but),
    ("mean-on-the-other-side", lambda p: found(sides(at(p))[0] @ sides(mean())[1].T) / 128),
    ("mean-on-the-other-side", lambda p: found(sides(mean())[0] @ sides(at(p))[1].T) / 128),
    ("earlier-layer", lambda p: share(at(p, layer=-2))),
    ("bare-embeddings", lambda p: share(at(p, layer=0))),
    ("one-side-only", one_side),
    ("own-side-among-the-rivals", among_all),
    ("not-a-share", lambda p: 128 * share(at(p))),
    ("not-a-share", lambda p: 2 * share(at(p))),
    ("cosine-taken-for-look-ups", cosine),
    # Failures that any experiment can have.
    ("in-percent", lambda p: 100 * share(at(p))),
    ("hard-coded", lambda p: 0.5),
    ("measured-otherwise", lambda p: 1 - share(at(p))),
]


@pytest.mark.parametrize("number", range(len(RIGHT)))
def test_a_right_measurement_passes_however_it_is_written(number):
    verdict = checks.check("ch10-experiment", (PREDICTION, RIGHT[number], EXPLANATION))
    assert verdict.passed, str(verdict)


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_another_measurement_is_called_by_its_name(number):
    name, measure = WRONG[number]
    verdict = checks.check("ch10-experiment", (PREDICTION, measure, EXPLANATION))
    assert (verdict.name, verdict.passed) == (name, False), str(verdict)


def test_every_name_of_the_experiment_is_reached():
    named = {row.name for row in checks.misconceptions() if row.id == "ch10-experiment"}
    assert len(named) >= 6
    assert named <= {name for name, _ in WRONG}
