"""Chapter 10's exercises: right answers pass in any style, each wrong one is called by its name."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from answers import assert_passes, forms_without_an_answer, numbered

from attnkit import checks
from attnkit.checks import _exercises

# One right answer to each, cut into pieces so that each wrong one is a change of one piece.
POOL_PIECES = {
    "first": "pass",
    "real": "torch.arange(hidden.shape[1]) < lengths[:, None]",
    "total": "(hidden * real[..., None]).sum(1)",
    "count": "real.sum(1, keepdim=True)",
    "mean": "total / count",
    "return": "F.normalize(mean, dim=-1)",
}
POOL_TEMPLATE = """
def embed(hidden, lengths):
    {first}
    real = {real}
    total = {total}
    count = {count}
    mean = {mean}
    return {return}
"""
BARE = {"return": "mean"}
UNIT = {"first": "hidden = F.normalize(hidden, dim=-1)"}
POOL = [
    ("padding-averaged-in", {"mean": "hidden.mean(1)"}),
    ("padding-averaged-in", BARE | {"mean": "hidden.mean(1)"}),
    ("padding-averaged-in", {"real": "torch.ones_like(hidden[..., 0], dtype=torch.bool)"}),
    ("padding-averaged-in", BARE | {"total": "hidden.sum(1)"}),
    ("cls-vector", {"mean": "hidden[:, 0]"}),
    ("cls-vector", {"return": "hidden[:, 0]"}),
    ("last-token", {"mean": "hidden[:, -1]"}),
    ("last-token", {"return": "hidden[:, -1]"}),
    ("last-token", {"return": "hidden[torch.arange(len(hidden)), lengths - 1]"}),
    ("last-token", {"mean": "hidden[torch.arange(len(hidden)), lengths - 1]"}),
    ("not-normalised", BARE),
    ("not-normalised", {"return": "total"}),
    ("not-normalised", BARE | {"mean": "total / hidden.shape[1]"}),
    ("not-normalised", {"return": "mean / hidden.shape[-1] ** 0.5"}),
    ("normalised-before-the-mean", UNIT),
    ("normalised-before-the-mean", UNIT | BARE),
    ("normalised-before-the-mean", UNIT | {"return": "total"}),
    ("largest-number", {"mean": "hidden.masked_fill(~real[..., None], -torch.inf).amax(1)"}),
    ("largest-number", BARE | {"mean": "hidden.amax(1)"}),
    ("largest-number", {"mean": "hidden.amax(1)"}),
    ("largest-number", {"return": "hidden.masked_fill(~real[..., None], -torch.inf).amax(1)"}),
    ("special-tokens-left-out", {"real": "torch.arange(hidden.shape[1]) < lengths[:, None] - 1"}),
    ("special-tokens-left-out", {
        "real": "(torch.arange(hidden.shape[1]) < lengths[:, None] - 1)"
                " & (torch.arange(hidden.shape[1]) > 0)"}),
    ("special-tokens-left-out", {"first": "hidden, lengths = hidden[:, 1:], lengths - 1"}),
    ("special-tokens-left-out", BARE | {"first": "lengths = lengths - 1"}),
    ("special-tokens-left-out", BARE | {"first": "hidden, lengths = hidden[:, 1:], lengths - 1"}),
    ("special-tokens-left-out", BARE | {"first": "hidden, lengths = hidden[:, 1:], lengths - 2"}),
    ("one-position-too-many", {"real": "torch.arange(hidden.shape[1]) <= lengths[:, None]"}),
    ("one-position-too-many", BARE | {"first": "lengths = lengths + 1"}),
    ("polarity-flipped", {"real": "torch.arange(hidden.shape[1]) >= lengths[:, None]"}),
    ("polarity-flipped", BARE | {"real": "torch.arange(hidden.shape[1]) >= lengths[:, None]"}),
    ("one-length-for-all", {"mean": "hidden[:, : lengths.max()].mean(1)"}),
    ("one-length-for-all", {"mean": "hidden[:, : lengths[0]].mean(1)"}),
    ("one-length-for-all", {"mean": "hidden[:, : lengths.min()].mean(1)"}),
    ("one-length-for-all", {"mean": "hidden[:, : lengths[-1]].mean(1)"}),
    ("one-length-for-all", {"mean": "hidden[:, : round(lengths.double().mean().item())].mean(1)"}),
    ("normalised-over-the-batch", {"return": "F.normalize(mean, dim=0)"}),
    ("normalised-over-the-batch", {"return": "mean / mean.norm()"}),
    ("another-length", {"return": "mean / mean.sum(-1, keepdim=True)"}),
    ("another-length", {"return": "F.normalize(mean, p=1, dim=-1)"}),
    ("another-length", {"return": "mean / mean.amax(-1, keepdim=True)"}),
    ("another-length", {"return": "F.normalize(mean, p=torch.inf, dim=-1)"}),
    ("another-length", {"return": "mean / (mean @ mean.mT).diagonal()[:, None]"}),
    ("another-length", {"return": "mean.softmax(-1)"}),
    ("another-length", {"return": "F.layer_norm(mean, mean.shape[-1:])"}),
    ("mean-over-the-numbers", {"return": "F.normalize(hidden.mean(-1), dim=-1)"}),
    ("mean-over-the-numbers", {"return": "hidden.mean(-1)"}),
    ("sentences-averaged", {"return": "F.normalize(mean.mean(0), dim=-1)"}),
    ("sentences-averaged", {"return": "F.normalize(mean, dim=-1).mean(0)"}),
    ("sentences-averaged", {"return": "F.normalize(hidden.mean(0), dim=-1)"}),
    ("sentences-averaged", {"return": "hidden.mean(0)"}),
    ("tokens-not-averaged", {"return": "F.normalize(hidden, dim=-1)"}),
    ("tokens-not-averaged", {"return": "hidden"}),
    # Failures that any exercise can have.
    ("wrong-shape", {"return": "F.normalize(mean, dim=-1)[:, None]"}),
    ("wrong-type", {"return": "{'vectors': F.normalize(mean, dim=-1)}"}),
    ("changes-its-input", {"total": "hidden.mul_(real[..., None]).sum(1)"}),
    ("hard-coded", {"return": "torch.tensor([[1.0, 3.0]]) / 10**0.5"}),
    ("not-a-number", {"mean": "total / 0"}),
    ("raised", {"mean": "total / counts"}),
    ("wrong", {"return": "-F.normalize(mean, dim=-1)"}),
]  # fmt: skip

CONTRIBUTION_PIECES = {
    "blocks": "o.reshape(len(o), heads, d_head).permute(1, 2, 0)",
    "written": "v @ blocks",
    "size": "written.norm(dim=-1)",
    "return": "w * size[:, None]",
}
CONTRIBUTION_TEMPLATE = """
def contributions(w, v, o):
    heads, _, d_head = v.shape
    blocks = {blocks}
    written = {written}
    size = {size}
    return {return}
"""
VECTORS = "w[..., None] * written[:, None]"
CONTRIBUTION = [
    ("no-output-weight", {"size": "v.norm(dim=-1)"}),
    ("no-output-weight", {"return": "(w[..., None] * v[:, None]).norm(dim=-1)"}),
    ("size-of-the-matrix", {"size": "v.norm(dim=-1) * blocks.flatten(1).norm(dim=1)[:, None]"}),
    ("size-of-the-matrix", {"size": "v.norm(dim=-1) * o.norm()"}),
    ("size-of-the-matrix", {
        "size": "v.norm(dim=-1) * torch.linalg.matrix_norm(blocks, 2)[:, None]"}),
    ("size-of-the-matrix", {"size": "v.norm(dim=-1) * torch.linalg.matrix_norm(o, 2)"}),
    ("whole-matrix-for-each-head", {"written": "torch.cat([v] * heads, -1) @ o.T"}),
    ("whole-matrix-for-each-head", {
        "written": "v.transpose(0, 1).flatten(1) @ o.T", "return": "w * size"}),
    ("one-block-for-all-heads", {"blocks": "o[:, :d_head].T"}),
    ("rows-for-columns", {
        "blocks": "torch.stack([o[h * d_head : (h + 1) * d_head] for h in range(heads)])"}),
    ("blocks-in-the-order-of-memory", {"blocks": "o.reshape(heads, d_head, len(o))"}),
    ("blocks-in-the-order-of-memory", {"blocks": "o.reshape(heads, len(o), d_head).mT"}),
    ("heads-interleaved", {"blocks": "o.reshape(len(o), d_head, heads).permute(2, 1, 0)"}),
    ("heads-interleaved", {"blocks": "torch.stack([o[:, h::heads].T for h in range(heads)])"}),
    ("heads-in-another-order", {
        "blocks": "o.reshape(len(o), heads, d_head).permute(1, 2, 0).flip(0)"}),
    ("weight-forgotten", {"return": "size"}),
    ("weight-forgotten", {"return": "size[:, None].expand_as(w)"}),
    ("weight-twice", {"return": f"w * ({VECTORS}).norm(dim=-1)"}),
    ("length-squared", {"return": f"({VECTORS}).pow(2).sum(-1)"}),
    ("length-squared", {"size": "(written**2).sum(-1)"}),
    ("another-size", {"size": "written.abs().sum(-1)"}),
    ("another-size", {"size": "written.sum(-1)"}),
    ("another-size", {"size": "written.sum(-1).abs()"}),
    ("another-size", {"size": "written.mean(-1)"}),
    ("another-size", {"size": "written.abs().amax(-1)"}),
    ("another-size", {"size": "written.pow(2).mean(-1).sqrt()"}),
    ("keys-added-first", {"return": "(w @ written).norm(dim=-1)"}),
    ("keys-added-first", {"return": "(w @ written).norm(dim=-1, keepdim=True).expand_as(w)"}),
    ("keys-added-first", {
        "written": "(w @ v).transpose(0, 1).flatten(1) @ o.T", "return": "written"}),
    ("keys-added-first", {
        "written": "(w @ v).transpose(0, 1).flatten(1) @ o.T", "return": "size"}),
    ("heads-added-up", {"return": f"({VECTORS}).sum(0).norm(dim=-1)"}),
    ("heads-added-up", {"return": "(w * size[:, None]).sum(0)"}),
    ("heads-added-up", {"return": "(w * size[:, None]).mean(0)"}),
    ("vectors-not-lengths", {"return": VECTORS}),
    ("value-of-the-query", {"return": "w * size[..., None]"}),
    ("shares-of-the-sum", {"return": "F.normalize(w * size[:, None], p=1, dim=-1)"}),
    ("shares-of-the-sum", {"return": "F.normalize(w * size[:, None], p=1, dim=0)"}),
    ("shares-of-the-sum", {
        "return": "w * size[:, None] / (w * size[:, None]).sum((1, 2), keepdim=True)"}),
    ("transposed", {"return": "(w * size[:, None]).mT"}),
    ("transposed", {"return": "(w * size[:, None]).permute(1, 2, 0)"}),
    ("weights-unchanged", {"return": "w"}),
    # Failures that any exercise can have.
    ("wrong-shape", {"return": "(w * size[:, None]).flatten(1)"}),
    ("wrong-type", {"return": "[str(x) for x in w * size[:, None]]"}),
    ("changes-its-input", {"return": "w.mul_(size[:, None])"}),
    ("hard-coded", {"return": "torch.ones(2, 1, 2)"}),
    ("not-a-number", {"return": "w * size[:, None] / 0"}),
    ("raised", {"written": "v @ o"}),
    ("wrong", {"return": "w * size[:, None] + 1"}),
]  # fmt: skip

WORDS_PIECES = {
    "first": "pass",
    "words": "range(max(word_of) + 1)",
    "pieces": "[[i for i, n in enumerate(word_of) if n == word] for word in words]",
    "part": "weights[rows][:, keys]",
    "cell": "part.sum(1).mean()",
    "return": "small",
}
WORDS_TEMPLATE = """
def word_map(weights, word_of):
    {first}
    words = {words}
    pieces = {pieces}
    small = []
    for rows in pieces:
        for keys in pieces:
            part = {part}
            small.append({cell})
    small = torch.stack(small).reshape(len(words), len(words))
    return {return}
"""
SHARED = "small / small.sum(1, keepdim=True)"
WORDS = [
    ("mean-over-both", {"cell": "part.mean()"}),
    ("mean-over-both", {"cell": "part.sum() / (len(rows) * len(keys))"}),
    ("sum-over-both", {"cell": "part.sum()"}),
    ("sum-and-mean-exchanged", {"cell": "part.sum(0).mean()"}),
    ("sum-and-mean-exchanged", {"cell": "part.sum() / len(keys)"}),
    ("one-piece-for-the-word", {"cell": "part[0, 0]"}),
    ("one-piece-for-the-word", {"cell": "part[0].sum()"}),
    ("one-piece-for-the-word", {"cell": "part[-1, -1]"}),
    ("one-piece-for-the-word", {"cell": "part[-1].sum()"}),
    ("one-piece-for-the-word", {"cell": "part[:, 0].mean()"}),
    ("one-piece-for-the-word", {"cell": "part[:, -1].mean()"}),
    ("largest-weight", {"cell": "part.max()"}),
    ("largest-weight", {"cell": "part.amax(1).mean()"}),
    ("largest-weight", {"cell": "part.sum(1).max()"}),
    ("renormalised-afterwards", {"cell": "part.mean()", "return": SHARED}),
    ("renormalised-afterwards", {"cell": "part.max()", "return": SHARED}),
    ("renormalised-afterwards", {"cell": "part[0, 0]", "return": SHARED}),
    ("renormalised-afterwards", {"cell": "part[-1, -1]", "return": SHARED}),
    ("renormalised-afterwards", {"cell": "part[:, 0].mean()", "return": SHARED}),
    ("renormalised-afterwards", {"cell": "part.sum(0).mean()", "return": SHARED}),
    ("divided-by-one-number", {"cell": "part.sum() / len(word_of)"}),
    ("divided-by-one-number", {"cell": "part.sum() / len(words)"}),
    ("divided-by-one-number", {"cell": "part.sum() / 2"}),
    ("divided-by-one-number", {"cell": "part.sum() * len(words) / len(word_of)"}),
    ("keys-only", {"return": "torch.stack([weights[:, keys].sum(1) for keys in pieces], 1)"}),
    ("keys-only", {"return": "torch.stack([weights[:, keys].mean(1) for keys in pieces], 1)"}),
    ("queries-only", {"return": "torch.stack([weights[rows].mean(0) for rows in pieces])"}),
    ("queries-only", {"return": "torch.stack([weights[rows].sum(0) for rows in pieces])"}),
    ("words-taken-for-pieces", {"return": "weights[word_of][:, word_of]"}),
    ("words-taken-for-pieces", {"return": "weights[: len(words), : len(words)]"}),
    ("spread-over-the-pieces", {"return": "small[word_of][:, word_of]"}),
    ("spread-over-the-pieces", {"cell": "part.mean()", "return": "small[word_of][:, word_of]"}),
    ("spread-over-the-pieces", {"cell": "part.sum()", "return": "small[word_of][:, word_of]"}),
    ("transposed", {"return": "small.T"}),
    ("columns-for-rows", {"first": "weights = weights.T"}),
    ("unchanged", {"return": "weights"}),
    # Failures that any exercise can have.
    ("wrong-shape", {"return": "small.flatten()"}),
    ("wrong-type", {"return": "dict(enumerate(small))"}),
    ("changes-its-input", {"return": "(small, weights.zero_())[0]"}),
    ("changes-its-input", {"return": "(small, word_of.clear())[0]"}),
    ("changes-its-input", {"return": "(small, word_of.reverse())[0]"}),
    ("hard-coded", {"return": "torch.eye(2)"}),
    ("not-a-number", {"return": "small / 0"}),
    ("raised", {"cell": "parts.sum()"}),
    ("wrong", {"return": "1 - small"}),
]  # fmt: skip

EXERCISES = {
    "ch10-pool": (POOL_TEMPLATE, POOL_PIECES, POOL),
    "ch10-contribution": (CONTRIBUTION_TEMPLATE, CONTRIBUTION_PIECES, CONTRIBUTION),
    "ch10-words": (WORDS_TEMPLATE, WORDS_PIECES, WORDS),
}
NAMED = [(id, *row) for id, (_, _, table) in EXERCISES.items() for row in table]


def built(id, changes):
    """The function that the template of an exercise gives with some pieces changed."""
    template, pieces, _ = EXERCISES[id]
    assert changes.keys() <= pieces.keys()
    space = {"torch": torch, "F": F}
    exec(template.format(**pieces | changes), space)
    return next(value for name, value in space.items() if name in template and callable(value))


@pytest.mark.parametrize(("id", "name", "changes"), NAMED)
def test_a_changed_line_is_called_by_its_name(id, name, changes):
    verdict = checks.check(id, built(id, changes))
    assert (verdict.name, verdict.passed) == (name, False), str(verdict)


@pytest.mark.parametrize("id", EXERCISES)
def test_every_name_and_form_is_reached_by_an_answer_that_a_learner_could_write(id):
    names = {wrong.name for wrong in _exercises()[id].misconceptions}
    reached = {name for name, _ in EXERCISES[id][2]}
    assert len(names) >= 14
    assert names <= reached
    assert reached <= names | set(checks.common_failures())
    answers = [(name, built(id, changes)) for name, changes in EXERCISES[id][2]]
    assert not forms_without_an_answer(id, answers)


def embed_by_loops(hidden, lengths):
    """Plain Python, sentence by sentence."""
    vectors = []
    for tokens, length in zip(hidden.tolist(), lengths.tolist(), strict=True):
        sums = [sum(column) for column in zip(*tokens[:length], strict=True)]
        size = sum(number**2 for number in sums) ** 0.5
        vectors.append([number / size for number in sums])
    return vectors


def embed_by_numpy(hidden, lengths):
    hidden, lengths = np.array(hidden), np.array(lengths)
    hidden[np.arange(hidden.shape[1]) >= lengths[:, None]] = 0
    mean = np.float32(hidden.sum(axis=1) / lengths[:, None])
    return mean / np.linalg.norm(mean, axis=1, keepdims=True)


def embed_by_products(hidden, lengths):
    """A row of weights for each sentence: the head that prefers nothing."""
    real = (torch.arange(hidden.shape[1]) < lengths[:, None]).to(hidden.dtype)
    mean = (real / real.sum(1, keepdim=True))[:, None] @ hidden
    return (mean * torch.rsqrt((mean * mean).sum(-1, keepdim=True))).squeeze(1)


def contributions_by_loops(weights, value, output_weight):
    heads, d_head = len(value), value.shape[-1]
    result = np.empty(weights.shape)
    for head in range(heads):
        block = np.asarray(output_weight)[:, head * d_head : (head + 1) * d_head]
        for query, row in enumerate(np.asarray(weights)[head]):
            for key, weight in enumerate(row):
                vector = weight * (block @ np.asarray(value)[head, key])
                result[head, query, key] = np.sqrt(vector @ vector)
    return result


def contributions_by_einsum(weights, value, output_weight):
    blocks = output_weight.unflatten(1, (len(value), -1))
    vectors = torch.einsum("hij,hjd,mhd->hijm", weights, value, blocks)
    return torch.linalg.vector_norm(vectors, dim=-1).float()


def contributions_with_zeros(weights, value, output_weight):
    """The whole of W_O, with the values of one head and zeros in the place of the others."""
    heads, n_keys, d_head = value.shape
    alone = torch.zeros(heads, n_keys, heads, d_head, dtype=value.dtype)
    alone[torch.arange(heads), :, torch.arange(heads)] = value
    return weights * (alone.flatten(2) @ output_weight.T).norm(dim=-1).unsqueeze(1)


def words_by_products(weights, word_of):
    belongs = F.one_hot(torch.tensor(word_of)).to(weights.dtype)
    return (belongs / belongs.sum(0)).T @ weights @ belongs


def words_by_index_add(weights, word_of):
    index = torch.tensor(word_of)
    size = weights.new_zeros(max(word_of) + 1).index_add_(0, index, weights.new_ones(len(word_of)))
    keys = weights.new_zeros(len(word_of), len(size)).index_add_(1, index, weights)
    both = weights.new_zeros(len(size), len(size)).index_add_(0, index, keys)
    return both.div_(size[:, None]).float()


def words_by_reduceat(weights, word_of):
    starts = np.flatnonzero(np.diff(word_of, prepend=-1))
    summed = np.add.reduceat(np.add.reduceat(np.asarray(weights), starts, axis=1), starts, axis=0)
    return (summed / np.bincount(word_of)[:, None]).tolist()


def words_by_dictionaries(weights, word_of):
    cells, count = {}, {}
    for i, query in enumerate(word_of):
        count[query] = count.get(query, 0) + 1
        for j, key in enumerate(word_of):
            cells[query, key] = cells.get((query, key), 0) + float(weights[i, j])
    return [[cells[query, key] / count[query] for key in count] for query in count]


RIGHT = {
    "ch10-pool": [
        built("ch10-pool", {}), embed_by_loops, embed_by_numpy, embed_by_products,
        # Divided by anything positive: the length is 1 afterwards.
        built("ch10-pool", {"mean": "total / hidden.shape[1]"}),
        built("ch10-pool", {"mean": "total"}),
        lambda hidden, lengths: torch.stack(
            [F.normalize(h[:n].mean(0), dim=0) for h, n in zip(hidden, lengths, strict=True)]
        ),
    ],
    "ch10-contribution": [
        built("ch10-contribution", {}), contributions_by_loops, contributions_by_einsum,
        contributions_with_zeros,
        built("ch10-contribution", {"return": f"({VECTORS}).norm(dim=-1)"}),
        built("ch10-contribution", {"blocks": "torch.stack(o.split(d_head, dim=1)).mT"}),
        built("ch10-contribution", {"blocks": "o.T.reshape(heads, d_head, len(o))"}),
    ],
    "ch10-words": [
        built("ch10-words", {}), words_by_products, words_by_index_add, words_by_reduceat,
        words_by_dictionaries,
        # The sums of the rows are right by what the cells are, so that dividing by them is allowed.
        built("ch10-words", {"cell": "part.sum()", "return": SHARED}),
    ],
    "ch10-claims": [{"C", "E", "G"}, "CEG", "c, e and g", ["G", "E", "C"], ("c)", "e)", "g)")],
}  # fmt: skip


@pytest.mark.parametrize(("id", "number"), numbered(RIGHT))
def test_a_right_answer_passes_however_it_is_written(id, number):
    assert_passes(id, RIGHT[id][number])


def test_the_vector_of_a_sentence_does_not_depend_on_its_padding():
    right = _exercises()["ch10-pool"].right
    for trial in _exercises()["ch10-pool"].trials:
        hidden, lengths = trial.inputs.values()
        vectors = right(hidden, lengths)
        for sentence, length, vector in zip(hidden, lengths, vectors, strict=True):
            np.testing.assert_allclose(right(sentence[None, :length], [length])[0], vector)
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1)


def test_contributions_are_what_the_output_of_multi_head_attention_is_made_of():
    """With one key for each head, the lengths are those of the outputs of the heads alone."""
    right = _exercises()["ch10-contribution"].right
    generator = torch.Generator().manual_seed(10)
    value = torch.randn(3, 1, 2, generator=generator, dtype=torch.float64)
    output = torch.nn.Linear(6, 5, bias=False, dtype=torch.float64)
    lengths = right(np.ones((3, 1, 1)), value.numpy(), output.weight.detach().numpy())
    for head in range(3):
        joined = torch.zeros(3, 2, dtype=torch.float64)
        joined[head] = value[head, 0]
        written = output(joined.flatten())
        np.testing.assert_allclose(lengths[head, 0, 0], written.norm().item())


def test_rows_of_a_map_of_words_still_sum_to_one_on_every_input():
    exercise = _exercises()["ch10-words"]
    for trial in exercise.trials:
        weights, word_of = trial.inputs.values()
        np.testing.assert_allclose(weights.sum(axis=1), 1)
        small = exercise.right(weights, word_of)
        assert small.shape == (len(set(word_of)),) * 2
        np.testing.assert_allclose(small.sum(axis=1), 1)


def test_a_list_that_an_answer_empties_is_whole_in_the_next_trial():
    right = RIGHT["ch10-words"][1]
    before = [list(trial.inputs["word_of"]) for trial in _exercises()["ch10-words"].trials]

    def emptied(weights, word_of):
        result = right(weights, word_of)
        word_of.clear()
        return result

    verdict = checks.check("ch10-words", emptied)
    assert verdict.name == "changes-its-input"
    assert verdict.got == {"word_of": "overwritten"}
    assert [trial.inputs["word_of"] for trial in _exercises()["ch10-words"].trials] == before


@pytest.mark.parametrize(
    ("chosen", "name"),
    [
        ("ACEG", "weight-taken-for-contribution"),
        ("BCEG", "padding-averaged-in"),
        ("EG", "pieces-not-counted"),
        ("CDEG", "shuffling-taken-for-every-baseline"),
        ("CG", "lengths-taken-for-shares"),
        ("CEFG", "ablations-taken-for-one"),
        ("CE", "head-number-taken-for-meaning"),
        ("ABDF", "chose-the-wrong-ones"),
        ("ABCDEFG", "chose-everything"),
    ],
)
def test_statements_that_are_wrongly_taken_or_left_have_a_name(chosen, name):
    assert checks.check("ch10-claims", chosen).name == name


def test_exchanged_heads_leave_the_output_and_exchange_their_maps():
    output, after, zero, one_after = checks.check("ch10-claims", "CE").expected.values()
    np.testing.assert_allclose(output, after)
    np.testing.assert_allclose(zero, one_after)


def test_what_two_keys_write_can_cancel():
    added, whole = checks.check("ch10-claims", "CG").expected.values()
    assert added > 2 * whole
