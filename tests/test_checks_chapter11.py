"""Chapter 11's exercises: right answers pass in any style, each wrong one is called by its name."""

from collections import Counter, defaultdict
from itertools import groupby

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from answers import (
    assert_called,
    assert_every_name_is_reached,
    assert_passes,
    numbered,
    written,
)

from attnkit import checks
from attnkit.checks import _exercises
from attnkit.checks._wrong_flips import Reader

# One right answer to each, cut into pieces so that each wrong one is a change of one piece.
CEILING_TEMPLATE = """
def ceiling(pairs):
    from collections import Counter
    pairs = {pairs}
    table = {{}}
    for name, language in pairs:
        table.setdefault(name, Counter())[language] += 1
    right = {right}
    return {return}
"""
CEILING_PIECES = {
    "pairs": "pairs",
    "right": "sum(max(c.values()) for c in table.values())",
    "return": "right / len(pairs)",
}
EACH_NAME = "sum({} for c in table.values())"
CEILING = [
    ("names-counted-for-answers", {"right": "len(table)"}),
    ("ambiguous-pairs-given-up", {"right": EACH_NAME.format("c.total() * (len(c) == 1)")}),
    ("ambiguous-pairs-given-up", {
        "right": EACH_NAME.format("len(c) == 1"), "return": "right / len(table)"}),
    ("ambiguous-pairs-given-up", {"right": EACH_NAME.format("len(c) == 1")}),
    ("ambiguous-pairs-given-up", {"right": EACH_NAME.format("c.total() == 1")}),
    ("one-language-for-all-names", {"right": "max(Counter(l for _, l in pairs).values())"}),
    ("every-name-counts-once", {
        "right": EACH_NAME.format("max(c.values()) / c.total()"), "return": "right / len(table)"}),
    ("first-or-last-language-said", {
        "right": "sum(dict(pairs)[name] == language for name, language in pairs)"}),
    ("first-or-last-language-said", {
        "right": "sum(dict(reversed(pairs))[name] == language for name, language in pairs)"}),
    ("no-ceiling", {"right": "sum(pair in set(pairs) for pair in pairs)"}),
    ("guessed-by-the-shares", {
        "right": EACH_NAME.format("sum(n * n for n in c.values()) / c.total()")}),
    ("guessed-evenly", {"right": EACH_NAME.format("c.total() / len(c)")}),
    ("repeated-pairs-dropped", {"pairs": "set(pairs)"}),
    ("mistakes-counted", {"return": "1 - right / len(pairs)"}),
    ("divided-by-the-names", {"return": "right / len(table)"}),
    ("count-not-share", {"return": "right"}),
    ("in-per-cent", {"return": "100 * right / len(pairs)"}),
    ("spelling-made-alike", {"pairs": "[(name.lower(), language) for name, language in pairs]"}),
    # Failures that any exercise can have.
    ("wrong-shape", {"return": "[right / len(pairs)] * 2"}),
    ("wrong-type", {"return": "str(right / len(pairs))"}),
    ("changes-its-input", {"pairs": "pairs.sort() or pairs"}),
    ("changes-its-input", {"return": "right / (len(pairs), pairs.clear())[0]"}),
    ("hard-coded", {"return": "2 / 3"}),
    ("not-a-number", {"return": "right / len(pairs) if len(pairs) > 3 else float('nan')"}),
    ("raised", {"right": "max(table)"}),
    ("wrong", {"return": "right / (len(pairs) + 7)"}),
]  # fmt: skip

POOL_TEMPLATE = """
def pool(states, scores, lengths):
    lengths = {lengths}
    real = {real}
    masked = {masked}
    weights = {weights}
    total = {total}
    return {return}
"""
POOL_PIECES = {
    "lengths": "lengths",
    "real": "torch.arange(scores.shape[1]) < lengths[:, None]",
    "masked": "scores.masked_fill(~real, -torch.inf)",
    "weights": "masked.softmax(1)",
    "total": "(weights[..., None] * states).sum(1)",
    "return": "total",
}
SHARE = "scores * real / (scores * real).sum(1, keepdim=True)"
POOL = [
    ("padding-weighed", {"masked": "scores"}),
    ("padding-weighed", {"lengths": "lengths * 0 + lengths.max()"}),
    ("masked-after-the-softmax", {"weights": "scores.softmax(1) * real"}),
    ("masked-with-zero", {"masked": "scores * real"}),
    ("masked-with-zero", {"masked": "scores.masked_fill(~real, 0)",
                          "weights": "masked.softmax(1) * real"}),
    ("scores-not-used", {"weights": "real / real.sum(1, keepdim=True)"}),
    ("scores-not-used", {"return": "states.mean(1)"}),
    ("softmax-over-the-names", {"weights": "masked.softmax(0)"}),
    ("softmax-over-the-names", {"weights": "scores.softmax(0) * real"}),
    ("softmax-over-the-names", {"weights": "scores.softmax(0)"}),
    ("softmax-over-everything", {"weights": "masked.flatten().softmax(0).reshape(masked.shape)"}),
    ("no-softmax", {"weights": "scores * real"}),
    ("no-softmax", {"weights": SHARE}),
    ("no-softmax", {"weights": "scores"}),
    ("not-divided", {"weights": "masked.exp()"}),
    ("top-character-only", {"return": "states[torch.arange(len(states)), masked.argmax(1)]"}),
    ("top-character-only", {"return": "states[torch.arange(len(states)), scores.argmax(1)]"}),
    ("largest-numbers", {"return": "states.masked_fill(~real[..., None], -torch.inf).amax(1)"}),
    ("largest-numbers", {"return": "states.amax(1)"}),
    ("polarity-flipped", {"masked": "scores.masked_fill(real, -torch.inf)"}),
    ("polarity-flipped", {"masked": "scores.masked_fill(real, -1e9)"}),
    ("polarity-flipped", {"masked": "scores.masked_fill(real, -torch.inf)",
                          "weights": "masked.softmax(1).nan_to_num()"}),
    ("length-off-by-one", {"lengths": "lengths + 1"}),
    ("length-off-by-one", {"lengths": "lengths - 1"}),
    ("one-length-for-all", {"lengths": "lengths * 0 + lengths.min()"}),
    ("one-length-for-all", {"lengths": "lengths * 0 + lengths[0]"}),
    ("one-length-for-all", {"lengths": "lengths * 0 + lengths[-1]"}),
    ("divided-by-the-length", {"return": "total / lengths[:, None]"}),
    ("divided-by-the-length", {"return": "(weights[..., None] * states).mean(1)"}),
    ("scores-scaled", {"weights": "(masked / states.shape[-1] ** 0.5).softmax(1)"}),
    ("weights-returned", {"return": "weights"}),
    ("states-not-added", {"return": "weights[..., None] * states"}),
    ("overflows", {"weights": "masked.exp() / masked.exp().sum(1, keepdim=True)"}),
    ("padding-not-low-enough", {"masked": "scores.masked_fill(~real, -1e3)"}),
    ("padding-not-low-enough", {"masked": "scores.masked_fill(~real, -100.0)"}),
    # Failures that any exercise can have.
    ("wrong-shape", {"return": "total[..., None]"}),
    ("wrong-type", {"return": "{'pooled': total}"}),
    ("changes-its-input", {"masked": "scores.masked_fill_(~real, -torch.inf)"}),
    ("hard-coded", {"return": "torch.tensor([[6.9]])"}),
    ("not-a-number", {"return": "total / 0 * 0"}),
    ("raised", {"weights": "masked.softmax(2)"}),
    # Not all names of a batch need be as long as its rows, and one name is a batch too.
    ("raised", {"real": "torch.arange(int(lengths.max())) < lengths[:, None]"}),
    ("wrong-shape", {"return": "total.squeeze(0)"}),
    ("wrong", {"return": "-total"}),
]  # fmt: skip

FLIPS_TEMPLATE = """
def flips(predict, names, weights):
    shorter = []
    for name, row in zip(names, weights, strict=True):
        k = {place}
        shorter.append({shorter})
    before, after = predict(names), predict(shorter)
    changed = {changed}
    return {return}
"""
FLIPS_PIECES = {
    "place": "int(row[: len(name)].argmax())",
    "shorter": "name[:k] + name[k + 1 :]",
    "changed": "[a != b for a, b in zip(before, after)]",
    "return": "sum(changed) / len(names)",
}
FLIPS = [
    ("best-possible-taken", {"changed": "[any(predict([n[:i] + n[i + 1 :]]) != predict([n]) "
        "for i in range(len(n))) for n in names]"}),
    ("any-character-at-random", {"changed": "[sum(predict([n[:i] + n[i + 1 :]]) != predict([n]) "
        "for i in range(len(n))) / len(n) for n in names]"}),
    ("least-attended-deleted", {"place": "int(row[: len(name)].argmin())"}),
    ("least-attended-deleted", {"place": "int(row.argmin())"}),
    ("replaced-not-deleted", {"shorter": "name[:k] + ' ' + name[k + 1 :]"}),
    ("replaced-not-deleted", {"shorter": "name[:k] + '?' + name[k + 1 :]"}),
    ("every-occurrence-deleted", {"shorter": "name.replace(name[k], '')"}),
    ("first-like-it-deleted", {"shorter": "name.replace(name[k], '', 1)"}),
    ("last-of-the-tied", {"place": "len(name) - 1 - int(row[: len(name)].flip(0).argmax())"}),
    ("all-of-the-tied", {
        "shorter": "''.join(c for c, w in zip(name, row) if w < row.max())"}),
    ("only-the-character-kept", {"shorter": "name[k]"}),
    ("cut-off-there", {"shorter": "name[:k]"}),
    ("cut-off-there", {"shorter": "name[k + 1 :]"}),
    ("cut-off-there", {"shorter": "name[: k + 1]"}),
    ("neighbour-deleted", {"place": "int(row[: len(name)].argmax()) + 1"}),
    ("neighbour-deleted", {"shorter": "name[: k - 1] + name[k:]"}),
    ("neighbour-deleted", {"place": "max(int(row[: len(name)].argmax()) - 1, 0)"}),
    ("one-place-for-all-names", {"place": "int(weights.mean(0).argmax())"}),
    ("one-place-for-all-names", {"place": "int(weights[0].argmax())"}),
    ("one-place-for-all-names", {"place": "int(weights.amax(0).argmax())"}),
    ("weights-not-used", {"shorter": "name[1:]"}),
    ("weights-not-used", {"shorter": "name[:-1]"}),
    ("share-that-stays", {"return": "1 - sum(changed) / len(names)"}),
    ("share-that-stays", {"changed": "[a == b for a, b in zip(before, after)]"}),
    ("count-not-share", {"return": "sum(changed)"}),
    ("in-per-cent", {"return": "100 * sum(changed) / len(names)"}),
    ("lists-compared-as-a-whole", {"return": "before != after"}),
    ("names-compared", {"changed": "[a != b for a, b in zip(names, shorter)]"}),
    ("averaged-over-the-labels", {
        "return": "np.mean([np.mean([c for c, b in zip(changed, before) if b == label])"
                  " for label in set(before)])"}),
    ("divided-by-the-characters", {"return": "sum(changed) / len(''.join(names))"}),
    ("divided-by-the-characters", {"return": "sum(changed) / weights.shape[1]"}),
    # Failures that any exercise can have.
    ("wrong-shape", {"return": "changed + [True]"}),
    ("wrong-type", {"return": "str(changed)"}),
    ("changes-its-input", {"place": "int(row.neg_()[: len(name)].argmin())"}),
    ("changes-its-input", {"return": "sum(changed) / (len(names), names.clear())[0]"}),
    ("hard-coded", {"return": "1 / 4"}),
    ("not-a-number", {"return": "sum(changed) / len(names) if len(names) > 2 else float('nan')"}),
    ("raised", {"shorter": "name.pop(k)"}),
    ("raised", {"changed": "[predict(a) != predict(b) for a, b in zip(names, shorter)]"}),
    ("wrong", {"return": "sum(changed) / len(names) + 1"}),
    ("wrong", {"shorter": "name[:k] + name[k + 1 :] or name"}),  # one of one character
]  # fmt: skip

EXERCISES = {
    "ch11-ceiling": (CEILING_TEMPLATE, CEILING_PIECES, CEILING),
    "ch11-pool": (POOL_TEMPLATE, POOL_PIECES, POOL),
    "ch11-flips": (FLIPS_TEMPLATE, FLIPS_PIECES, FLIPS),
}
NAMED = [(id, *row) for id, (_, _, table) in EXERCISES.items() for row in table]


def built(id, changes):
    template, pieces, _ = EXERCISES[id]
    return written(template, pieces, changes)


@pytest.mark.parametrize(("id", "name", "changes"), NAMED)
def test_a_changed_line_is_called_by_its_name(id, name, changes):
    assert_called(id, name, built(id, changes))


@pytest.mark.parametrize("id", EXERCISES)
def test_every_name_and_form_is_reached_by_an_answer_that_a_learner_could_write(id):
    answers = [(name, built(id, changes)) for name, changes in EXERCISES[id][2]]
    assert_every_name_is_reached(id, answers, at_least=13)


def ceiling_by_most_common(pairs):
    table = defaultdict(Counter)
    for name, language in pairs:
        table[name][language] += 1
    return np.float32(sum(c.most_common(1)[0][1] for c in table.values()) / len(pairs))


def ceiling_by_groups(pairs):
    right = 0
    for _, group in groupby(sorted(pairs), key=lambda pair: pair[0]):
        languages = [language for _, language in group]
        right += max(languages.count(language) for language in languages)
    return torch.tensor(right / len(pairs))


def ceiling_by_a_reader(pairs):
    """The reader that learns the best answer by heart, then answers."""
    names, languages = zip(*pairs, strict=True)
    best = {n: max(languages, key=lambda language: pairs.count((n, language))) for n in names}
    return np.mean([best[name] == language for name, language in pairs])


def pool_by_loops(states, scores, lengths):
    pooled = []
    for h, s, n in zip(np.asarray(states), np.asarray(scores), np.asarray(lengths), strict=True):
        powers = np.exp(s[:n] - s[:n].max())
        pooled.append(powers @ h[:n] / powers.sum())
    return np.float32(pooled)


def pool_by_products(states, scores, lengths):
    bias = torch.zeros_like(scores)
    bias[torch.arange(scores.shape[1]) >= lengths[:, None]] = torch.finfo(scores.dtype).min
    return (F.softmax(scores + bias, dim=-1).unsqueeze(1) @ states).squeeze(1)


def pool_by_cutting(states, scores, lengths):
    return [s[:n].softmax(0) @ h[:n] for h, s, n in zip(states, scores, lengths, strict=True)]


def flips_by_arrays(predict, names, weights):
    tops = np.argmax(np.asarray(weights), axis=1)
    pairs = zip(names, tops, strict=True)
    shorter = ["".join(c for i, c in enumerate(name) if i != k) for name, k in pairs]
    return np.mean(np.array(predict(names)) != np.array(predict(shorter)))


def flips_one_by_one(predict, names, weights):
    count = 0
    for name, row in zip(names, weights.tolist(), strict=True):
        letters = list(name)
        del letters[row.index(max(row))]
        count += predict([name])[0] != predict(["".join(letters)])[0]
    return torch.tensor(count / len(names))


def flips_in_one_call(predict, names, weights):
    tops = [max(range(len(n)), key=lambda i: float(w[i])) for n, w in zip(names, weights)]  # noqa
    labels = predict([*names, *(n[:k] + n[k + 1 :] for n, k in zip(names, tops, strict=True))])
    half = len(names)
    return sum(map(str.__ne__, labels[:half], labels[half:])) / half


RIGHT = {
    "ch11-ceiling": [
        built("ch11-ceiling", {}), ceiling_by_most_common, ceiling_by_groups,
        ceiling_by_a_reader,
    ],
    "ch11-pool": [
        built("ch11-pool", {}), pool_by_loops, pool_by_products, pool_by_cutting,
        # Under the softmax a number far below every score is as good as −∞.
        built("ch11-pool", {"masked": "scores.masked_fill(~real, -1e9)"}),
        built("ch11-pool", {"weights": "masked.softmax(1) * real",
                            "total": "torch.einsum('bt,btd->bd', weights, states)"}),
    ],
    "ch11-flips": [
        built("ch11-flips", {}), flips_by_arrays, flips_one_by_one, flips_in_one_call,
        built("ch11-flips", {"place": "int(row.argmax())"}),
    ],
    "ch11-claims": [{"C", "F", "G"}, "CFG", "c, f and g", ["G", "F", "C"], ("c)", "f)", "g)")],
}  # fmt: skip


@pytest.mark.parametrize(("id", "number"), numbered(RIGHT))
def test_a_right_answer_passes_however_it_is_written(id, number):
    assert_passes(id, RIGHT[id][number])


def test_the_best_of_all_readers_reaches_the_ceiling_and_none_gets_beyond_it():
    verdict = checks.check("ch11-claims", "ACFG")
    shares, ceiling = verdict.expected.values()
    assert max(shares) == pytest.approx(ceiling)
    assert _exercises()["ch11-ceiling"].right(verdict.example["pairs"]) == pytest.approx(ceiling)


def test_the_names_are_deleted_from_by_whatever_model_is_handed_over():
    """A model with its own state: the answer may call it once or twice, and on lists only."""
    asked = []

    def rule(name):
        asked.append(name)
        return name[:1]

    flips = built("ch11-flips", {})
    assert flips(Reader(rule, "first"), ["ab", "ba"], torch.tensor([[0.9, 0.1], [0.2, 0.8]])) == 0.5
    assert asked == ["ab", "ba", "b", "b"]
    with pytest.raises(TypeError, match="a list of names"):
        Reader(rule, "first")("ab")


def test_a_diagnosis_says_what_the_model_does():
    verdict = checks.check("ch11-flips", built("ch11-flips", {"shorter": "name[k]"}))
    assert "predict = label = whether longer than 4" in str(verdict)
    assert "0x" not in str(verdict.to_dict())


@pytest.mark.parametrize(
    ("chosen", "name"),
    [
        ("ACFG", "ceiling-taken-for-a-goal"),
        ("BCFG", "attention-taken-for-better"),
        ("FG", "attention-taken-for-noise"),
        ("CDFG", "pool-taken-for-the-input"),
        ("CEFG", "weight-taken-for-place"),
        ("CG", "map-taken-for-the-reason"),
        ("CF", "queries-and-keys-exchanged"),
        ("ABDE", "chose-the-wrong-ones"),
        ("ABCDEFG", "chose-everything"),
    ],
)
def test_statements_that_are_wrongly_taken_or_left_have_a_name(chosen, name):
    assert checks.check("ch11-claims", chosen).name == name


def test_a_weight_of_zero_leaves_the_character_in_its_neighbours_states():
    before, after = checks.check("ch11-claims", "CDFG").expected.values()
    assert after - before == pytest.approx(0.5 * (7 - 2) * 2)
