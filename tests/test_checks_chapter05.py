"""Chapter 5's exercises: right answers pass in any style, each wrong one is called by its name."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from answers import assert_passes, numbered
from measured_results import assert_names_are_reached, verdict_on

from attnkit import checks
from attnkit.checks import _exercises

CUT = "x.reshape(*x.shape[:2], num_heads, -1)"
FIRST = "x[..., : x.shape[-1] // num_heads]"
SPLIT = [
    ("reshaped-without-moving-an-axis", "x.reshape(len(x), num_heads, x.shape[1], -1)"),
    (
        "reshaped-without-moving-an-axis",
        "x.swapaxes(1, 2).reshape(len(x), num_heads, x.shape[1], -1)",
    ),
    (
        "reshaped-without-moving-an-axis",
        "x.reshape(len(x), num_heads, -1, x.shape[1]).swapaxes(2, 3)",
    ),
    ("heads-interleaved", "np.stack([x[..., h::num_heads] for h in range(num_heads)], axis=1)"),
    ("axes-not-swapped", CUT),
    ("axes-not-swapped", "x.reshape(*x.shape[:2], -1, num_heads).swapaxes(2, 3)"),
    ("heads-before-the-batch", "np.split(x, num_heads, axis=-1)"),
    ("heads-before-the-batch", "[x[..., h::num_heads] for h in range(num_heads)]"),
    ("heads-before-the-batch", f"np.moveaxis({CUT}, 2, 0)"),
    ("d-head-before-the-tokens", f"{CUT}.transpose(0, 2, 3, 1)"),
    ("tokens-before-the-batch", f"{CUT}.transpose(1, 2, 0, 3)"),
    ("sequence-split", "x.reshape(len(x), num_heads, -1, x.shape[-1])"),
    ("every-head-the-whole-vector", "np.stack([x] * num_heads, axis=1)"),
    ("heads-folded-into-the-batch", "np.concatenate(np.split(x, num_heads, axis=2))"),
    (
        "heads-folded-into-the-batch",
        f"{CUT}.swapaxes(1, 2).reshape(len(x) * num_heads, x.shape[1], -1)",
    ),
    ("d-head-for-num-heads", "x.reshape(*x.shape[:2], -1, num_heads).swapaxes(1, 2)"),
    ("first-head-only", FIRST),
    ("first-head-only", f"np.stack([{FIRST}] * num_heads, axis=1)"),
    ("slices-averaged", f"{CUT}.mean(axis=2)"),
    ("slices-averaged", "sum(np.split(x, num_heads, axis=-1))"),
    ("not-split", "x"),
    ("not-split", "x[:, None]"),
    # Failures that any exercise can have.
    ("wrong-type", "{'heads': x}"),
    ("wrong-shape", f"{CUT}[..., None]"),
    ("changes-its-input", f"x.fill(1) or {CUT}.swapaxes(1, 2)"),
    ("hard-coded", "np.zeros((1, 2, 2, 2))"),
    ("raised", "x.view_as_heads(num_heads)"),
    ("wrong", f"-{CUT}.swapaxes(1, 2)"),
]

# One right answer, cut into pieces so that each wrong one is a change of one piece.
PIECES = {
    "q": "x @ w_q.T",
    "k": "x @ w_k.T",
    "v": "x @ w_v.T",
    "split": "p.reshape(len(p), num_heads, -1).swapaxes(0, 1)",
    "scores": "q @ k.swapaxes(1, 2)",
    "scale": "np.sqrt(q.shape[-1])",
    "weights": "softmax(scores)",
    "heads": "weights @ v",
    "join": "heads.swapaxes(0, 1).reshape(len(x), -1)",
    "return": "joined @ w_o.T",
}
TEMPLATE = """
def softmax(scores, axis=-1):
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)

def multi_head(x, w_q, w_k, w_v, w_o, num_heads):
    d = x.shape[1] // num_heads
    blocks = [slice(h * d, h * d + d) for h in range(num_heads)]
    q, k, v = ({split} for p in ({q}, {k}, {v}))
    scores = {scores}
    scores = scores / {scale}
    weights = {weights}
    heads = {heads}
    joined = {join}
    return {return}
"""
SLICES = "np.hstack([x[:, b] @ w_{}[b, b].T for b in blocks])"
INTERLEAVED = {"split": "p.reshape(len(p), -1, num_heads).transpose(2, 0, 1)"}
MULTI_HEAD = [
    ("input-split", {name: SLICES.format(name) for name in "qkv"}),
    ("heads-averaged", {"join": "np.tile(heads.mean(axis=0), num_heads)"}),
    ("heads-averaged", {"join": "np.hstack([heads.sum(axis=0)] * num_heads)"}),
    ("heads-averaged", {"return": "heads.mean(axis=0)"}),
    ("maps-averaged", {"heads": "weights.mean(axis=0) @ v"}),
    ("one-head-only", {"split": "p[None]"}),
    ("one-head-only", {"scores": "q @ k.swapaxes(1, 2); scores = scores.sum(axis=0)"}),
    ("scaled-by-d-model", {"scale": "np.sqrt(x.shape[1])"}),
    ("scaled-by-d-head", {"scale": "d"}),
    ("not-scaled", {"scale": "1"}),
    ("scale-upside-down", {"scale": "d**-0.5"}),
    ("scaled-by-a-count", {"scale": "num_heads**0.5"}),
    ("scaled-by-a-count", {"scale": "len(x) ** 0.5"}),
    ("scaled-after-the-softmax", {"scale": "1", "weights": "softmax(scores) / d**0.5"}),
    ("key-and-value-swapped", {"k": "x @ w_v.T", "v": "x @ w_k.T"}),
    ("input-added", {"return": "x + joined @ w_o.T"}),
    ("projection-not-transposed", {name: f"x @ w_{name}" for name in "qkv"}),
    ("projection-not-transposed", {"return": "joined @ w_o"}),
    (
        "projection-not-transposed",
        {name: f"x @ w_{name}" for name in "qkv"} | {"return": "joined @ w_o"},
    ),
    (
        "projection-not-transposed",
        {"return": "sum(h @ w_o[b] for h, b in zip(heads, blocks))"},
    ),
    ("no-output-projection", {"return": "joined"}),
    ("heads-not-joined", {"return": "heads"}),
    ("heads-not-joined", {"return": "list(heads)"}),
    ("joined-without-swapping-back", {"join": "heads.reshape(len(x), -1)"}),
    ("split-without-swapping", {"split": "p.reshape(num_heads, len(p), -1)"}),
    (
        "heads-attend-to-heads",
        {"split": "p.reshape(len(p), num_heads, -1)", "join": "heads.reshape(len(x), -1)"},
    ),
    ("heads-interleaved", INTERLEAVED),
    (
        "heads-interleaved",
        INTERLEAVED | {"join": "heads.transpose(1, 2, 0).reshape(len(x), -1)"},
    ),
    ("heads-not-mixed", {"return": "np.hstack([h @ w_o[b, b].T for h, b in zip(heads, blocks)])"}),
    ("softmax-over-queries", {"weights": "softmax(scores, axis=-2)"}),
    ("softmax-over-heads", {"weights": "softmax(scores, axis=0)"}),
    ("softmax-over-everything", {"weights": "softmax(scores, axis=None)"}),
    ("softmax-over-everything", {"weights": "softmax(scores, axis=(1, 2))"}),
    ("no-softmax", {"weights": "scores"}),
    ("query-and-key-swapped", {"scores": "k @ q.swapaxes(1, 2)"}),
    ("values-not-projected", {"v": "x"}),
    ("values-not-projected", {"q": "x", "k": "x", "v": "x"}),
    ("one-projection-for-two", {"k": "x @ w_q.T"}),
    ("one-projection-for-two", {"v": "x @ w_k.T"}),
    ("masks-the-future", {"weights": "softmax(np.where(np.tri(len(x)), scores, -np.inf))"}),
    # Failures that any exercise can have.
    ("wrong-type", {"return": "(joined @ w_o.T, weights[0])"}),
    ("wrong-shape", {"return": "(joined @ w_o.T).ravel()"}),
    ("changes-its-input", {"return": "(joined @ w_o.T, x.fill(0))[0]"}),
    ("not-repeatable", {"return": "joined @ w_o.T * (1 + np.random.rand())"}),
    ("not-a-number", {"scale": "0"}),
    ("raised", {"return": "joined @ W_o"}),
    ("wrong", {"return": "2 * joined @ w_o.T"}),
]


def split_heads(expression):
    return eval(f"lambda x, num_heads: {expression}", {"np": np})


def built(changes):
    """The function that the template gives with some pieces changed."""
    space = {"np": np}
    exec(TEMPLATE.format(**PIECES | changes), space)
    return space["multi_head"]


@pytest.mark.parametrize(("name", "expression"), SPLIT)
def test_a_wrong_split_is_called_by_its_name(name, expression):
    verdict = checks.check("ch5-split", split_heads(expression))
    assert (verdict.name, verdict.passed) == (name, False), str(verdict)


@pytest.mark.parametrize(("name", "changes"), MULTI_HEAD)
def test_a_changed_line_of_multi_head_attention_is_called_by_its_name(name, changes):
    verdict = checks.check("ch5-multi-head", built(changes))
    assert (verdict.name, verdict.passed) == (name, False), str(verdict)


@pytest.mark.parametrize(("id", "table"), [("ch5-split", SPLIT), ("ch5-multi-head", MULTI_HEAD)])
def test_every_name_is_reached_by_an_answer_that_a_learner_could_write(id, table):
    names = {wrong.name for wrong in _exercises()[id].misconceptions}
    assert len(names) >= 10
    assert names <= {name for name, _ in table}
    assert {name for name, _ in table} <= names | set(checks.common_failures())


def split_by_loops(x, num_heads):
    d_head = len(x[0][0]) // num_heads
    starts = [head * d_head for head in range(num_heads)]
    return [
        [[[float(n) for n in token[s : s + d_head]] for token in rows] for s in starts]
        for rows in x
    ]


def split_by_filling_in(x, num_heads):
    batch, length, d_model = x.shape
    heads = np.empty((batch, num_heads, length, d_model // num_heads), dtype=np.float32)
    for number in range(d_model):
        head, place = divmod(number, d_model // num_heads)
        heads[:, head, :, place] = x[:, :, number]
    return heads


def head_by_head(x, w_q, w_k, w_v, w_o, num_heads):
    """A loop; each head adds its own part of the output."""
    output, d_head = 0, x.shape[1] // num_heads
    for head in range(num_heads):
        rows = slice(head * d_head, (head + 1) * d_head)
        q, k, v = x @ w_q[rows].T, x @ w_k[rows].T, x @ w_v[rows].T
        powers = np.exp(q @ k.T / d_head**0.5)
        output = output + powers / powers.sum(1, keepdims=True) @ v @ w_o[:, rows].T
    return output


def by_einsum(x, w_q, w_k, w_v, w_o, num_heads):
    q, k, v = (
        np.einsum("td,hed->hte", x, w.reshape(num_heads, -1, len(w))) for w in (w_q, w_k, w_v)
    )
    powers = np.exp(np.einsum("hqe,hke->hqk", q, k) / q.shape[-1] ** 0.5)
    weights = powers / powers.sum(-1)[..., None]
    return np.einsum("hqk,hke,ohe->qo", weights, v, w_o.reshape(len(w_o), num_heads, -1))


def by_fused_kernel(x, w_q, w_k, w_v, w_o, num_heads):
    q, k, v = ((x @ w.T).unflatten(-1, (num_heads, -1)).transpose(-2, -3) for w in (w_q, w_k, w_v))
    heads = F.scaled_dot_product_attention(q, k, v)
    return F.linear(heads.transpose(-2, -3).flatten(-2), w_o)


def by_pytorch(x, w_q, w_k, w_v, w_o, num_heads):
    x, w_q, w_k, w_v, w_o = (torch.as_tensor(a) for a in (x, w_q, w_k, w_v, w_o))
    attend = torch.nn.MultiheadAttention(len(w_o), num_heads, bias=False, dtype=x.dtype)
    with torch.no_grad():
        attend.in_proj_weight.copy_(torch.cat([w_q, w_k, w_v]))
        attend.out_proj.weight.copy_(w_o)
        return attend(x, x, x, need_weights=False)[0]


def in_float32(*arguments):
    *arrays, num_heads = arguments
    return head_by_head(*(np.float32(array) for array in arrays), num_heads)


RIGHT = {
    "ch5-split": [
        split_by_loops, split_by_filling_in,
        split_heads(f"{CUT}.swapaxes(1, 2)"),
        split_heads(f"np.einsum('bthd->bhtd', {CUT})"),
        lambda x, h: np.stack(np.split(x, h, axis=-1), axis=1),
        lambda x, h: x.view(x.size(0), x.size(1), h, -1).transpose(1, 2),
        lambda x, h: torch.stack(torch.as_tensor(x).chunk(h, dim=-1), dim=1).contiguous(),
        lambda x, h: x.unflatten(-1, (h, -1)).permute(0, 2, 1, 3).half(),
        lambda x, h: np.int64(x.reshape(*x.shape[:2], h, -1).swapaxes(1, 2)),
    ],
    "ch5-multi-head": [
        built({}), head_by_head, by_einsum, by_fused_kernel, by_pytorch, in_float32,
        lambda *arguments: torch.tensor(head_by_head(*arguments)),
    ],
    "ch5-claims": [{"B", "E", "F"}, "BEF", "b, e and f", ["F", "E", "B"], ("b)", "e)", "f)")],
}  # fmt: skip


@pytest.mark.parametrize(("id", "number"), numbered(RIGHT))
def test_a_right_answer_passes_however_it_is_written(id, number):
    assert_passes(id, RIGHT[id][number])


def test_a_batch_is_mentioned_when_it_works_and_never_held_against():
    assert "extra axes" in checks.check("ch5-multi-head", by_fused_kernel).message
    only_flat = checks.check("ch5-multi-head", head_by_head)
    assert only_flat.passed and "extra axes" not in only_flat.message


def test_what_the_check_calls_right_is_what_pytorch_computes():
    """With every size another prime but d_model, which the heads must divide."""
    draw = np.random.default_rng(11).normal
    x, weights = draw(size=(5, 21)), draw(size=(4, 21, 21)) / 4
    ours = _exercises()["ch5-multi-head"].right(x, *weights, 7)
    np.testing.assert_allclose(ours, by_pytorch(x, *weights, 7), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    ("chosen", "name"),
    [
        ("ABEF", "head-sees-a-slice"),
        ("EF", "heads-cost-parameters"),
        ("BCEF", "heads-vote"),
        ("BDEF", "heads-share-one-budget"),
        ("BF", "several-heads-taken-for-necessary"),
        ("BE", "weights-taken-for-free"),
        ("BEFG", "more-heads-always-better"),
        ("ACDG", "chose-the-wrong-ones"),
        ("ABCDEFG", "chose-everything"),
    ],
)
def test_statements_that_are_wrongly_taken_or_left_have_a_name(chosen, name):
    assert checks.check("ch5-claims", chosen).name == name


def test_head_0_moves_when_only_the_other_inputs_do():
    before, after = checks.check("ch5-claims", "ABEF").expected.values()
    assert before.shape == after.shape == (3, 2)
    assert not np.isclose(before, after).any()


def test_the_heads_of_a_query_add_up_to_their_number():
    (sums,) = checks.check("ch5-claims", "BDEF").expected.values()
    np.testing.assert_allclose(sums, 2)


#: What a learner may have on paper: the weights are (0.9, 0.1) and (0.2, 0.8).
TWO_HEADS = [
    ("right", {"output": (-1.2, 6.6), "averaged": (-2.6, 11.5)}),
    ("right", [[-1.2, 6.6], [-2.6, 11.5]]),
    ("right", (np.array([-1.2, 6.604]), torch.tensor([-2.6, 11.5]))),
    ("average-changes-nothing", [[-1.2, 6.6], [-1.2, 6.6]]),
    ("average-changes-nothing", [[-2.6, 11.5], [-2.6, 11.5]]),
    ("answers-exchanged", [[-2.6, 11.5], [-1.2, 6.6]]),
    ("weights-added-up", [[-1.2, 6.6], [-5.2, 23.0]]),
    ("heads-averaged", [[0.0, 6.0], [0.0, 10.2]]),  # 1.5 for both heads, then 2.55
    ("heads-averaged", [[-0.6, 3.3], [-1.3, 5.75]]),
    ("heads-averaged", [[-1.2, 6.6], [0.0, 6.0]]),
    ("heads-averaged", [[-1.2, 6.6], [-0.6, 3.3]]),
    ("no-output-projection", [[1.2, 1.8], [1.9, 3.2]]),
    ("each-head-its-own-number", [[2.4, 5.4], [3.8, 9.6]]),
    ("rows-of-w-o-for-columns", [[4.2, 3.0], [7.0, 5.8]]),
    ("one-head-left-out", [[2.4, 1.2], [3.8, 1.9]]),
    ("one-head-left-out", [[-3.6, 5.4], [-6.4, 9.6]]),
    ("values-shared", [[-2.8, 9.0], [0.0, 7.6]]),
    ("values-shared", [[5.6, 10.0], [0.0, 12.8]]),
    ("heads-exchanged", [[-4.0, 16.4], [-2.6, 11.5]]),
    ("largest-weight-only", [[0.0, 4.0], [-2.6, 11.5]]),
    ("largest-weight-only", [[0.0, 4.0], [-8.0, 16.0]]),
    # Failures that any exercise by hand can have.
    ("wrong", [[-1.2, 6.6], [-2.6, 11.6]]),
    ("wrong-shape", [1.2, 1.8]),
    ("wrong-count", {"output": (-1.2, 6.6), "averaged": None}),
    ("not-written-yet", {"output": None, "averaged": None}),
]


@pytest.mark.parametrize(("name", "answer"), TWO_HEADS)
def test_what_two_heads_write_by_hand_is_called_by_its_name(name, answer):
    verdict = checks.check("ch5-two-heads", answer)
    assert verdict.name == name, str(verdict)


def test_every_name_of_the_exercise_by_hand_is_reached():
    names = {wrong.name for wrong in _exercises()["ch5-two-heads"].misconceptions}
    assert names <= {name for name, _ in TWO_HEADS}


def test_two_heads_by_hand_are_what_the_layer_computes():
    given = {
        name: torch.tensor(value) for name, value in _exercises()["ch5-two-heads"].given.items()
    }
    heads = [given[f"weights_{h}"] @ given[f"values_{h}"] for h in range(2)]
    torch.testing.assert_close(torch.stack(heads) @ given["w_o"], torch.tensor([-1.2, 6.6]))


#: Measured: one head, two heads with the first seed and with the second, four heads.
THREE_NEIGHBOURS = [
    ("right", (0.0073, 0.4042, 0.1438, 1.0)),
    ("right", (0.0108, 0.0659, 0.6586, 1.0)),
    ("right", (0.0135, 0.9455, 0.8402, 1.0)),  # after 600 steps
    ("number-of-heads-not-used", (0.0073, 0.0073, 0.0168, 0.0073)),
    ("number-of-heads-not-used", (1.0, 1.0, 1.0, 1.0)),
    ("loss-taken-for-share", (1.62, 0.57, 0.91, 0.01)),
    ("errors-counted", (0.9927, 0.5958, 0.8562, 0.0)),
    ("any-taken-for-all", (0.991, 1.0, 1.0, 1.0)),
    ("any-taken-for-all", (0.812, 0.998, 1.0, 1.0)),
    ("two-questions-only", (0.1002, 1.0, 1.0, 1.0)),
    ("two-questions-only", (0.577, 1.0, 1.0, 1.0)),
    ("each-card-by-itself", (0.388, 0.8, 0.706, 1.0)),
    ("each-card-by-itself", (0.423, 0.98, 0.765, 1.0)),
    ("not-trained", (0.0003, 0.0002, 0.0004, 0.0002)),
    # Failures that any experiment can have.
    ("in-percent", (0.73, 40.42, 14.38, 100.0)),
    ("ignores-its-argument", (0.0073, 0.4042, 0.4042, 1.0) + (0.0073, 0.4042, 1.0) * 3),
    ("wrong-shape", ([0.4, 0.4, 0.4],) * 4),
]


@pytest.mark.parametrize(("name", "results"), THREE_NEIGHBOURS)
def test_what_an_experiment_with_three_neighbours_gives_is_called_by_its_name(name, results):
    verdict = verdict_on("ch5-experiment", *results)
    assert verdict.name == name, str(verdict)


def test_every_name_of_the_experiment_is_reached_by_a_measurement():
    assert_names_are_reached("ch5-experiment", [name for name, _ in THREE_NEIGHBOURS])
