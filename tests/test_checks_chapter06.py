"""Chapter 6's exercises: right answers pass in any style, each wrong one is called by its name."""

import math

import numpy as np
import pytest
import torch
from answers import assert_passes, numbered
from measured_results import assert_names_are_reached, verdict_on

from attnkit import checks
from attnkit.checks import _exercises

MEAN = "np.nanmean(np.where(mask, weights, np.nan), axis=0)"
UNIFORM = "(mask / mask.sum(axis=1, keepdims=True))"
RECEIVED = [
    ("column-sum", "weights.sum(axis=0)"),
    ("mean-over-all-queries", "weights.mean(axis=0)"),
    ("mean-over-all-queries", "weights.sum(axis=0) / weights.sum()"),
    ("row-mean", "weights.mean(axis=1)"),
    ("row-mean", "np.nanmean(np.where(mask, weights, np.nan), axis=1)"),
    ("row-mean", "weights.sum(axis=1)"),
    ("zero-weights-not-counted", "weights.sum(axis=0) / (weights > 0).sum(axis=0)"),
    ("zero-weights-not-counted", "np.nanmean(np.where(weights == 0, np.nan, weights), axis=0)"),
    ("polarity-flipped", "np.nanmean(np.where(mask, np.nan, weights), axis=0)"),
    ("polarity-flipped", "weights.sum(axis=0) / (~mask).sum(axis=0)"),
    ("polarity-flipped", "(weights * ~mask).sum(axis=0)"),
    ("divided-by-the-keys", "weights.sum(axis=0) / weights.shape[1]"),
    ("divided-by-the-keys", "weights.sum(axis=0) / mask.sum(axis=1)"),
    ("largest-weight", "weights.max(axis=0)"),
    ("normalised", f"{MEAN} / np.nansum({MEAN})"),
    (
        "own-token-left-out",
        "np.nanmean(np.where(mask & ~np.eye(*mask.shape, mask.shape[1] - len(mask), dtype=bool),"
        " weights, np.nan), axis=0)",
    ),
    ("compared-with-uniform", f"weights.sum(axis=0) / {UNIFORM}.sum(axis=0)"),
    (
        "compared-with-uniform",
        "(weights * mask.sum(axis=1, keepdims=True)).sum(axis=0) / mask.sum(axis=0)",
    ),
    ("mask-for-weights", "mask.sum(axis=0)"),
    ("mask-for-weights", "mask.mean(axis=0)"),
    ("mask-for-weights", f"{UNIFORM}.sum(axis=0)"),
    ("one-number", "weights[mask].mean()"),
    ("one-number", f"np.nanmean({MEAN})"),
    ("a-number-for-unseen-keys", f"np.nan_to_num({MEAN})"),
    ("a-number-for-unseen-keys", "weights.sum(axis=0) / np.maximum(mask.sum(axis=0), 1)"),
    ("a-number-for-unseen-keys", "weights.sum(axis=0) / (mask.sum(axis=0) + 1e-12)"),
    ("a-number-for-unseen-keys", f"np.where(mask.any(axis=0), {MEAN}, -1)"),
    # Failures that any exercise can have.
    ("wrong-shape", f"{MEAN}[mask.any(axis=0)]"),
    ("wrong-type", f"dict(enumerate({MEAN}))"),
    ("changes-its-input", f"({MEAN}, weights.fill(0))[0]"),
    ("hard-coded", "np.array([0.625, 0.75])"),
    ("not-a-number", "weights.sum(axis=0) / mask.all(axis=0)"),
    ("raised", "weights.sum(axis=0) / masks.sum(axis=0)"),
    ("wrong", f"{MEAN} + 1"),
]  # fmt: skip

# One right answer, cut into pieces so that each wrong one is a change of one piece.
PIECES = {
    "first": "pass",
    "rows": "range(0, len(weights), block)",
    "columns": "range(0, weights.shape[1], block)",
    "part": "weights[i : i + block, j : j + block]",
    "cell": "part.sum(axis=1).mean()",
    "return": "small",
}
TEMPLATE = """
def shrink(weights, block):
    {first}
    n_queries, n_keys = weights.shape
    small = []
    for i in {rows}:
        row = []
        for j in {columns}:
            part = {part}
            row.append({cell})
        small.append(row)
    small = np.array(small)
    return {return}
"""
ROW_SUMS = "small.sum(axis=1, keepdims=True)"
WHOLE = {"rows": "range(0, n_queries - block + 1, block)"}
WHOLE_KEYS = {"columns": "range(0, n_keys - block + 1, block)"}
PADDED = "more = [(0, -n % block) for n in weights.shape]; weights = np.pad(weights, more{})"
BLOCKS = "weights.reshape(n_queries // block, block, n_keys // block, block)"
EVEN = "np.array_split({}, -(-len({}) // block))"
SHRINK = [
    ("mean-over-both", {"cell": "part.mean()"}),
    ("mean-over-both", {"cell": "part.sum() / block**2"}),
    ("mean-times-block", {"cell": "part.mean() * block"}),
    ("sum-over-both", {"cell": "part.sum()"}),
    ("axes-exchanged", {"cell": "part.sum(axis=0).mean()"}),
    ("largest-weight", {"cell": "part.max()"}),
    ("largest-weight", {"cell": "part.max(axis=1).mean()"}),
    ("sampled", {"return": "weights[::block, ::block]"}),
    ("sampled", {"cell": "part[0].sum()"}),
    ("last-block-dropped", WHOLE | WHOLE_KEYS),
    ("last-block-dropped", WHOLE),
    ("last-block-dropped", WHOLE_KEYS),
    ("padding-counted", {"first": PADDED.format("")}),
    ("padding-counted", {"first": PADDED.format(", mode='edge'")}),
    ("padding-counted", {"cell": "part.sum() / block"}),
    ("multiples-only", {"return": f"{BLOCKS}.sum(axis=3).mean(axis=1)"}),
    ("renormalised-afterwards", {"cell": "part.mean()", "return": f"small / {ROW_SUMS}"}),
    ("renormalised-afterwards", {"cell": "part.max()", "return": f"small / {ROW_SUMS}"}),
    ("renormalised-afterwards", WHOLE | WHOLE_KEYS | {"return": f"small / {ROW_SUMS}"}),
    ("share-of-the-whole-map", {"cell": "part.sum()", "return": "small / small.sum()"}),
    ("one-axis-only", {"part": "weights[i : i + block, j]", "columns": "range(n_keys)",
                       "cell": "part.mean()"}),
    ("one-axis-only", {"part": "weights[i, j : j + block]", "rows": "range(n_queries)",
                       "cell": "part.sum()"}),
    ("block-taken-for-count", {
        "rows": "np.array_split(np.arange(n_queries), block)",
        "columns": "np.array_split(np.arange(n_keys), block)",
        "part": "weights[np.ix_(i, j)]",
        "cell": "part.sum(axis=1).mean() if part.size else 0",
    }),
    ("blocks-cut-across-rows", {
        "return": "weights.reshape(n_queries // block, n_keys // block, block, block)"
        ".sum(axis=3).mean(axis=2)",
    }),
    ("blocks-of-even-size", {
        "rows": EVEN.format(*["np.arange(n_queries)"] * 2),
        "columns": EVEN.format(*["np.arange(n_keys)"] * 2),
        "part": "weights[np.ix_(i, j)]",
    }),
    ("moving-window", {"rows": "range(n_queries - block + 1)",
                       "columns": "range(n_keys - block + 1)"}),
    ("square-only", {"columns": "range(0, n_queries, block)"}),
    ("transposed", {"return": "small.T"}),
    ("unchanged", {"return": "weights"}),
    # Failures that any exercise can have.
    ("wrong-shape", {"return": "small.ravel()"}),
    ("wrong-type", {"return": "{'map': small}"}),
    ("changes-its-input", {"return": "(small, weights.fill(0))[0]"}),
    ("hard-coded", {"return": "np.ones((1, 2)) / 2"}),
    ("raised", {"return": "smal"}),
    ("wrong", {"return": "1 - small"}),
]  # fmt: skip


def attention_received(expression):
    return eval(f"lambda weights, mask: {expression}", {"np": np})


def built(changes):
    """The function that the template gives with some pieces changed."""
    space = {"np": np}
    exec(TEMPLATE.format(**PIECES | changes), space)
    return space["shrink"]


@pytest.mark.parametrize(("name", "expression"), RECEIVED)
def test_a_wrong_attention_received_is_called_by_its_name(name, expression):
    verdict = checks.check("ch6-received", attention_received(expression))
    assert (verdict.name, verdict.passed) == (name, False), str(verdict)


@pytest.mark.parametrize(("name", "changes"), SHRINK)
def test_a_changed_line_of_shrink_is_called_by_its_name(name, changes):
    verdict = checks.check("ch6-shrink", built(changes))
    assert (verdict.name, verdict.passed) == (name, False), str(verdict)


@pytest.mark.parametrize(("id", "table"), [("ch6-received", RECEIVED), ("ch6-shrink", SHRINK)])
def test_every_name_is_reached_by_an_answer_that_a_learner_could_write(id, table):
    names = {wrong.name for wrong in _exercises()[id].misconceptions}
    assert len(names) >= 10
    assert names <= {name for name, _ in table}
    assert {name for name, _ in table} <= names | set(checks.common_failures())


def received_by_loops(weights, mask):
    """Plain Python, key by key."""
    columns = zip(
        zip(*weights.tolist(), strict=True), zip(*mask.tolist(), strict=True), strict=True
    )
    means = []
    for column, allowed in columns:
        given = [w for w, a in zip(column, allowed, strict=True) if a]
        means.append(sum(given) / len(given) if given else math.nan)
    return means


def received_by_torch(weights, mask):
    weights, mask = torch.as_tensor(weights), torch.as_tensor(mask)
    return weights.masked_fill(~mask, torch.nan).nanmean(dim=0).float()


def shrink_by_products(weights, block):
    """Two matrices: one averages queries, one adds up keys."""
    queries, keys = (np.arange(n) // block for n in np.shape(weights))
    average = np.equal.outer(np.unique(queries), queries).astype(float)
    average /= average.sum(axis=1, keepdims=True)
    return average @ np.asarray(weights) @ np.equal.outer(keys, np.unique(keys))


def shrink_by_padding(weights, block):
    """Filled up with zeros; what is there is counted by shrinking ones."""
    weights = np.asarray(weights)
    more = [(0, -n % block) for n in weights.shape]
    there = np.pad(np.ones(len(weights)), more[0]).reshape(-1, block).sum(axis=1)
    blocks = np.pad(weights, more).reshape(len(there), block, -1, block)
    return np.float32(blocks.sum(axis=(1, 3)) / there[:, None])


def shrink_by_torch(weights, block):
    weights = torch.as_tensor(weights)
    keys = [part.sum(dim=1) for part in weights.split(block, dim=1)]
    return torch.stack([part.mean(dim=0) for part in torch.stack(keys, 1).split(block)])


def shrink_by_reduceat(weights, block):
    rows, columns = (np.arange(0, n, block) for n in weights.shape)
    summed = np.add.reduceat(np.add.reduceat(weights, rows, axis=0), columns, axis=1)
    return summed / np.diff(np.append(rows, len(weights)))[:, None]


RIGHT = {
    "ch6-received": [
        received_by_loops, received_by_torch, attention_received(MEAN),
        lambda w, m: np.where(m, w, 0).sum(0) / np.where(m.any(0), m.sum(0), np.nan),
        lambda w, m: np.ma.masked_array(w, ~m).mean(axis=0).filled(np.nan),
        lambda w, m: np.einsum("qk,qk->k", w, m * 1.0) / np.float64(m.sum(0)),
        lambda w, m: [np.float32(w[m[:, k], k].mean()) for k in range(w.shape[1])],
        lambda w, m: (w * m).sum(0) / m.sum(0),
    ],
    "ch6-shrink": [
        built({}), shrink_by_products, shrink_by_padding, shrink_by_torch, shrink_by_reduceat,
        # The sums of the rows are right by what the cells are, so that dividing by them is allowed.
        built({"cell": "part.sum()", "return": f"small / {ROW_SUMS}"}),
        lambda w, b: built({})(np.asarray(w), b).tolist(),
    ],
    "ch6-claims": [{"B", "E", "G"}, "BEG", "b, e and g", ["G", "E", "B"], ("b)", "e)", "g)")],
}  # fmt: skip


@pytest.mark.parametrize(("id", "number"), numbered(RIGHT))
def test_a_right_answer_passes_however_it_is_written(id, number):
    assert_passes(id, RIGHT[id][number])


def test_rows_of_a_smaller_map_still_sum_to_one_on_every_input():
    exercise = _exercises()["ch6-shrink"]
    for trial in exercise.trials:
        weights, block = trial.inputs.values()
        np.testing.assert_allclose(weights.sum(axis=1), 1)
        small = exercise.right(weights, block)
        assert small.shape == tuple(math.ceil(n / block) for n in weights.shape)
        np.testing.assert_allclose(small.sum(axis=1), 1)


def test_the_maps_of_attention_received_are_weights_that_respect_their_masks():
    for trial in _exercises()["ch6-received"].trials:
        weights, mask = trial.inputs.values()
        np.testing.assert_allclose(weights.sum(axis=1), 1)
        assert not weights[~mask].any(), trial.name


def test_an_answer_for_whole_blocks_is_told_what_stopped_it():
    whole = built({"return": f"{BLOCKS}.sum(axis=3).mean(axis=1)"})
    verdict = checks.check("ch6-shrink", whole)
    assert verdict.name == "multiples-only"
    assert "ValueError" in verdict.got["error"]


@pytest.mark.parametrize(
    ("chosen", "name"),
    [
        ("ABEG", "weight-taken-for-contribution"),
        ("EG", "own-scales-taken-for-comparable"),
        ("BCEG", "average-taken-for-the-heads"),
        ("BDEG", "hatched-taken-for-zero"),
        ("BG", "column-sum-taken-for-importance"),
        ("BEFG", "rows-taken-for-columns"),
        ("BE", "weights-after-dropout-taken-for-weights"),
        ("ACDF", "chose-the-wrong-ones"),
        ("ABCDEFG", "chose-everything"),
    ],
)
def test_statements_that_are_wrongly_taken_or_left_have_a_name(chosen, name):
    assert checks.check("ch6-claims", chosen).name == name


def test_the_first_column_of_a_uniform_causal_head_has_the_largest_sum():
    (sums,) = checks.check("ch6-claims", "BG").expected.values()
    np.testing.assert_allclose(sums, [1 + 1 / 2 + 1 / 3 + 1 / 4, 13 / 12, 7 / 12, 1 / 4])


def test_a_score_in_a_hatched_cell_has_no_say():
    before, after = checks.check("ch6-claims", "BDEG").expected.values()
    np.testing.assert_array_equal(before, after)
    assert before[0, 1] == 0


#: What a learner may have on paper: the column of the second key is 0, 0.6, 0.3, 0.5.
COLUMN = [
    ("right", {"received": 1.4, "nothing": 1.08, "ratio": 1.29}),
    ("right", [1.4, 13 / 12, 1.4 / 1.08]),
    ("right", {"ratio": torch.tensor(1.3), "received": np.float32(1.4), "nothing": 1.083}),
    ("row-taken-for-column", [1, 1.08, 0.92]),
    ("row-taken-for-column", [1, 1, 1]),
    ("mask-forgotten-in-the-baseline", [1.4, 0.75, 1.87]),
    ("mask-forgotten-in-the-baseline", [1.4, 1, 1.4]),
    ("one-query-for-the-baseline", [1.4, 0.5, 2.8]),
    ("mean-for-sum", [0.47, 0.36, 1.29]),
    ("mean-for-sum", [0.35, 0.27, 1.29]),
    ("mean-for-sum", [0.47, 1.08, 0.43]),
    ("mean-for-sum", [0.35, 1.08, 0.32]),
    ("own-token-left-out", [0.8, 0.58, 1.37]),
    ("own-token-left-out", [0.8, 1.08, 0.74]),
    ("own-token-left-out", [1.4, 0.58, 2.4]),
    ("difference-for-ratio", [1.4, 1.08, 0.32]),
    ("difference-for-ratio", [1.4, 1.08, -0.32]),
    ("ratio-upside-down", [1.4, 1.08, 0.77]),
    ("keys-counted-from-one", [1.7, 2.08, 0.82]),
    ("largest-weight", [0.6, 1.08, 0.55]),
    # Failures that any exercise by hand can have.
    ("wrong", [1.4, 1.08, 1.5]),
    ("wrong-count", [1.4, 1.08]),
    ("wrong-type", ["1.4", "1.08", "1.29"]),
    ("not-written-yet", {"received": None, "nothing": None, "ratio": None}),
]


@pytest.mark.parametrize(("name", "answer"), COLUMN)
def test_what_a_column_by_hand_comes_to_is_called_by_its_name(name, answer):
    verdict = checks.check("ch6-column", answer)
    assert verdict.name == name, str(verdict)


def test_every_name_of_the_exercise_by_hand_is_reached():
    names = {wrong.name for wrong in _exercises()["ch6-column"].misconceptions}
    assert names <= {name for name, _ in COLUMN}


def test_every_map_of_a_column_has_rows_of_weights_under_a_causal_mask():
    for code in ("", "a1", "b2", "c3", "d4"):
        looks = np.array(checks.exercise("ch6-column", code).given["looks"])
        np.testing.assert_allclose(looks.sum(axis=1), 1)
        assert not np.triu(looks, 1).any()


#: Measured: all six averaged with the first seed and with the second, then none.
AVERAGES = [
    ("right", (0.55, 0.61, 0.99)),
    ("right", (0.50, 0.66, 1.0)),
    ("right", (0.61, np.float32(0.55), torch.tensor(0.99))),
    ("errors-counted", (0.45, 0.39, 0.01)),
    ("averages-left-on", (0.55, 0.61, 0.61)),
    ("averages-left-on", (0.50, 0.50, 0.55)),
    ("not-of-a-hundred", (0.6425, 0.6692, 0.9987)),  # words, each at its place
    ("not-of-a-hundred", (0.9313, 0.9196, 0.9989)),  # the next word, the right ones before it given
    ("not-of-a-hundred", (0.585, 0.555, 0.995)),  # 200 numbers
    ("not-all-at-once", (0.99, 0.99, 0.99)),
    ("not-all-at-once", (0.97, 0.96, 0.99)),  # one of the six
    ("not-the-trained-model", (0.0, 0.0, 0.0)),
    # Failures that any experiment can have.
    ("in-percent", (55, 61, 99)),
    ("ignores-its-argument", (0.55, 0.55, 0.99) + (0.55, 0.99) * 3),
    ("measured-otherwise", (0.1, 0.2, 0.99)),
]


@pytest.mark.parametrize(("name", "results"), AVERAGES)
def test_what_an_experiment_with_averages_gives_is_called_by_its_name(name, results):
    verdict = verdict_on("ch6-experiment", *results)
    assert verdict.name == name, str(verdict)


def test_every_name_of_the_experiment_is_reached_by_a_measurement():
    assert_names_are_reached("ch6-experiment", [name for name, _ in AVERAGES])
