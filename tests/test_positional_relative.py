import doctest
import importlib
import math

import pytest
import torch
import torch.nn.functional as F

from attnkit import alibi_bias, causal_mask, masked_softmax, rotary, sinusoidal_encoding

BATCH, HEADS, N, D = 2, 3, 11, 14


@pytest.mark.parametrize("module", ["sinusoidal", "learned", "relative"])
def test_doctests(module):
    result = doctest.testmod(importlib.import_module(f"attnkit.positional.{module}"))
    assert result.attempted and not result.failed


def turned(x, positions, base):
    """The same rotation as multiplication of complex numbers, one pair at a time."""
    result = torch.empty_like(x)
    for i in range(x.shape[-1] // 2):
        speed = base ** (-2 * i / x.shape[-1])
        for t, p in enumerate(positions):
            number = torch.complex(x[..., t, 2 * i], x[..., t, 2 * i + 1])
            number = number * complex(math.cos(p * speed), math.sin(p * speed))
            result[..., t, 2 * i], result[..., t, 2 * i + 1] = number.real, number.imag
    return result


@pytest.mark.parametrize("base", [10_000.0, 100, 0.5])
@pytest.mark.parametrize("leading", [(), (BATCH,), (BATCH, HEADS), (0,)])
def test_rotary_is_the_papers_formula(leading, base):
    x = torch.randn(*leading, N, D, dtype=torch.float64)
    kept = x.clone()
    torch.testing.assert_close(rotary(x, base=base), turned(x, range(N), base))
    positions = torch.randint(-50, 5000, (N,))
    torch.testing.assert_close(rotary(x, positions, base=base), turned(x, positions.tolist(), base))
    assert torch.equal(x, kept)


def test_rotary_gradients_are_those_of_the_rotation():
    x = torch.randn(HEADS, 5, 6, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(rotary, (x,))
    upstream = torch.randn_like(x)
    rotary(x).backward(upstream)  # the transpose of a rotation turns back
    torch.testing.assert_close(x.grad, rotary(upstream, -torch.arange(5)))


def test_scores_of_rotated_vectors_depend_on_the_offset_only():
    query, key = torch.randn(2, HEADS, N, D, dtype=torch.float64)
    scores = rotary(query) @ rotary(key).mT
    moved = torch.arange(N) + 100_000
    torch.testing.assert_close(rotary(query, moved) @ rotary(key, moved).mT, scores)
    same = torch.randn(D, dtype=torch.float64).expand(N, D)
    diagonals = rotary(same) @ rotary(torch.randn(D, dtype=torch.float64).expand(N, D)).mT
    for offset in range(1 - N, N):
        diagonal = diagonals.diagonal(offset)
        torch.testing.assert_close(diagonal, diagonal[:1].expand_as(diagonal))
    assert diagonals[0].std() > 0.1  # and on the offset they do depend


def test_rotary_keeps_lengths_and_adds_up():
    x = torch.randn(N, D, dtype=torch.float64)
    torch.testing.assert_close(rotary(x).norm(dim=-1), x.norm(dim=-1))
    torch.testing.assert_close(rotary(rotary(x, [3.0] * N), [4.5] * N), rotary(x, [7.5] * N))
    assert torch.equal(rotary(x)[0], x[0])


def test_rotary_shifts_the_sinusoidal_encoding():
    # (sin, cos) of the encoding, as a point (cos, sin) that turns with the position
    points = sinusoidal_encoding(N + 5, D).double().unflatten(-1, (-1, 2)).flip(-1).flatten(-2)
    shifted = rotary(points[:N], torch.full((N,), 5))
    torch.testing.assert_close(shifted, points[5:], atol=1e-6, rtol=0)


def test_one_new_key_is_rotated_as_in_the_whole_sequence():
    x = torch.randn(BATCH, HEADS, N, D)
    for positions in ([N - 1], N - 1, torch.tensor([N - 1]), torch.tensor(N - 1.0)):
        torch.testing.assert_close(rotary(x[..., -1:, :], positions), rotary(x)[..., -1:, :])


def test_each_sequence_can_have_its_own_positions():
    x = torch.randn(BATCH, HEADS, N, D)
    positions = torch.stack([torch.arange(N), torch.arange(N) - 4])
    output = rotary(x, positions[:, None])
    for row in range(BATCH):
        torch.testing.assert_close(output[row], rotary(x[row], positions[row]))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_rotary_is_rounded_once_even_far_away(dtype):
    x = torch.randn(N, D).to(dtype)
    far = torch.arange(N) + 1_000_003
    output = rotary(x, far)
    assert output.dtype == dtype and output.shape == x.shape
    expected = turned(x.double(), far.tolist(), 10_000)
    size = x.double().abs().max().item()
    wide = max(torch.finfo(torch.float32).eps, torch.finfo(dtype).eps)
    atol = 1e-9 if dtype == torch.float64 else 2 * size * wide
    torch.testing.assert_close(output.double(), expected, atol=atol, rtol=0)
    if dtype in (torch.float16, torch.bfloat16):  # not cosines in half precision, rounded before
        assert (output == expected.to(dtype)).float().mean() > 0.97


def test_rotary_runs_where_the_input_is():
    assert rotary(torch.zeros(N, D, device="meta")).device.type == "meta"
    assert rotary(torch.zeros(BATCH, 0, D)).shape == (BATCH, 0, D)


@pytest.mark.parametrize(
    ("num_heads", "slopes"),
    [
        (1, [2**-8]),
        (2, [2**-4, 2**-8]),
        (3, [2**-4, 2**-8, 2**-2]),
        (6, [2**-2, 2**-4, 2**-6, 2**-8, 2**-1, 2**-3]),
        (8, [2**-1, 2**-2, 2**-3, 2**-4, 2**-5, 2**-6, 2**-7, 2**-8]),
        (12, [2.0**-h for h in range(1, 9)] + [2.0 ** -(h / 2) for h in (1, 3, 5, 7)]),
    ],
)
def test_alibi_has_the_papers_slopes(num_heads, slopes):
    bias = alibi_bias(num_heads, 5)
    assert bias.shape == (num_heads, 5, 5)
    for h, slope in enumerate(slopes):
        for i in range(5):
            for j in range(5):
                assert bias[h, i, j].item() == pytest.approx(-slope * abs(i - j), rel=1e-6)


@pytest.mark.parametrize("n_queries", [0, 1, 4, 7])
def test_alibi_queries_are_the_last_positions(n_queries):
    whole = alibi_bias(HEADS, 7)
    assert torch.equal(alibi_bias(HEADS, n_queries, 7), whole[:, 7 - n_queries :])
    assert alibi_bias(HEADS, 7).dtype == torch.get_default_dtype()


def test_attention_with_alibi_is_pytorchs_with_a_float_mask():
    query, key, value = torch.randn(3, BATCH, HEADS, N, D, dtype=torch.float64)
    bias, mask = alibi_bias(HEADS, N).double(), causal_mask(N)
    ours = [x.clone().requires_grad_() for x in (query, key, value)]
    weights = masked_softmax(ours[0] @ ours[1].mT / D**0.5 + bias, mask)
    theirs = [x.clone().requires_grad_() for x in (query, key, value)]
    output = F.scaled_dot_product_attention(
        *theirs, attn_mask=bias.masked_fill(~mask, float("-inf"))
    )
    torch.testing.assert_close(weights @ ours[2], output)
    upstream = torch.randn_like(output)
    (weights @ ours[2]).backward(upstream)
    output.backward(upstream)
    for mine, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine.grad, other.grad)


def test_far_keys_lose_most_where_the_slope_is_steep():
    weights = masked_softmax(alibi_bias(8, 40), causal_mask(40))[:, -1]
    distance = (weights * torch.arange(39, -1, -1)).sum(-1)
    assert (distance.diff() > 0).all()
    assert distance[0] < 2 < 15 < distance[-1]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: rotary(torch.zeros(3, 7)), ValueError, "must be even, got 7.*Split the heads"),
        (lambda: rotary(torch.zeros(3, 0)), ValueError, "must be even, got 0"),
        (lambda: rotary(torch.zeros(4)), ValueError, r"axes \(\.\.\., T, d\), got the shape \(4,"),
        (lambda: rotary(torch.zeros(3, 4).long()), TypeError, "floating point"),
        (lambda: rotary([[0.0, 1.0]]), TypeError, "x must be a torch.Tensor"),
        (
            lambda: rotary(torch.zeros(2, 5, 3, 4), torch.zeros(2, 3)),
            ValueError,
            r"broadcast to \(2, 5, 3\).*got \(2, 3\).*positions\[:, None\]",
        ),
        (lambda: rotary(torch.zeros(1, 4), torch.arange(3)), ValueError, r"got \(3,\)"),
        (lambda: rotary(torch.zeros(3, 4), torch.zeros(1, 3)), ValueError, r"got \(1, 3\)"),
        (lambda: rotary(torch.zeros(3, 4), "abc"), TypeError, "positions must be numbers"),
        (lambda: rotary(torch.zeros(1, 4), [True]), TypeError, "integers or floats, got torch.b"),
        (lambda: rotary(torch.zeros(1, 4), base=0), ValueError, "base must be greater than 0"),
        (lambda: rotary(torch.zeros(1, 4), base="e"), TypeError, "base must be a number"),
        (lambda: alibi_bias(0, 3), ValueError, "num_heads must be at least 1, got 0"),
        (lambda: alibi_bias(2.0, 3), TypeError, "num_heads must be an integer"),
        (lambda: alibi_bias(2, -1), ValueError, "n_queries must be at least 0"),
        (lambda: alibi_bias(2, 5, 3), ValueError, "at most n_keys=3, got 5.*swapped"),
    ],
)
def test_refusals_say_what_came(call, error, words):
    with pytest.raises(error, match=words):
        call()
