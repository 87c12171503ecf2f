import copy
import math

import pytest
import torch

from attnkit import SinusoidalEncoding, sinusoidal_encoding

N_POSITIONS, D_MODEL = 11, 14


def test_each_entry_is_the_papers_formula():
    encoding = sinusoidal_encoding(N_POSITIONS, D_MODEL)
    assert encoding.shape == (N_POSITIONS, D_MODEL)
    for position in range(N_POSITIONS):
        for i in range(D_MODEL // 2):
            angle = position / 10_000 ** (2 * i / D_MODEL)
            assert encoding[position, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-7)
            assert encoding[position, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-7)


def test_far_positions_keep_their_digits():
    encoding = sinusoidal_encoding(100_001, 2)
    assert encoding[100_000, 0].item() == pytest.approx(math.sin(100_000), abs=1e-7)


def test_inner_product_depends_on_the_offset_only():
    encoding = sinusoidal_encoding(N_POSITIONS, D_MODEL).double()
    products = encoding @ encoding.T
    for offset in range(N_POSITIONS):
        diagonal = products.diagonal(offset)
        torch.testing.assert_close(
            diagonal, diagonal[:1].expand_as(diagonal), atol=1e-5, rtol=0
        )  # fmt: skip


@pytest.mark.parametrize("leading", [(), (3,), (3, 5), (0,)])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_module_adds_along_the_positions(leading, dtype):
    embedding = torch.randn(*leading, N_POSITIONS, D_MODEL).to(dtype)
    kept = embedding.clone()
    output = SinusoidalEncoding(D_MODEL)(embedding)
    assert output.dtype == dtype
    expected = embedding.double() + sinusoidal_encoding(N_POSITIONS, D_MODEL)
    # Rounded twice: the table to the embedding's precision, and the sum.
    atol = 4 * max(torch.finfo(dtype).eps, torch.finfo(torch.float32).eps)
    torch.testing.assert_close(output.double(), expected, atol=atol, rtol=0)
    assert torch.equal(embedding, kept)


def test_module_has_no_greatest_length_and_nothing_to_save():
    module = SinusoidalEncoding(D_MODEL)
    short = module(torch.zeros(3, D_MODEL))
    long = module(torch.zeros(1000, D_MODEL))
    assert torch.equal(long[:3], short)
    assert torch.equal(module(torch.zeros(3, D_MODEL)), short)
    assert torch.equal(copy.deepcopy(module)(torch.zeros(1000, D_MODEL)), long)
    assert module(torch.zeros(0, D_MODEL)).shape == (0, D_MODEL)
    assert not module.state_dict() and not list(module.parameters())
    assert "d_model=14" in repr(module)


def test_module_converted_to_half_keeps_the_accuracy_of_its_input():
    module = SinusoidalEncoding(D_MODEL)
    module(torch.zeros(300, D_MODEL))
    output = module.half().float()(torch.zeros(300, D_MODEL))
    torch.testing.assert_close(output, sinusoidal_encoding(300, D_MODEL))


def test_module_is_exact_in_double_precision():
    output = SinusoidalEncoding(2)(torch.zeros(1001, 2, dtype=torch.float64))
    assert output[1000].tolist() == pytest.approx([math.sin(1000), math.cos(1000)], abs=1e-12)


def test_what_the_module_saw_before_does_not_matter():
    embedding = torch.randn(N_POSITIONS, D_MODEL)
    expected = SinusoidalEncoding(D_MODEL)(embedding)
    module = SinusoidalEncoding(D_MODEL)
    module(torch.zeros(50, D_MODEL, device="meta"))
    assert torch.equal(module(embedding), expected)
    default = torch.get_default_dtype()
    try:
        torch.set_default_dtype(torch.bfloat16)
        SinusoidalEncoding(D_MODEL)
        module(torch.zeros(50, D_MODEL))
    finally:
        torch.set_default_dtype(default)
    assert torch.equal(module(embedding), expected)
    with torch.inference_mode():
        module(torch.zeros(90, D_MODEL))
    assert torch.equal(module(embedding), expected)


def test_gradient_passes_unchanged():
    embedding = torch.randn(N_POSITIONS, D_MODEL, requires_grad=True)
    SinusoidalEncoding(D_MODEL)(embedding).sum().backward()
    assert torch.equal(embedding.grad, torch.ones_like(embedding))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: sinusoidal_encoding(3, 7), ValueError, "d_model must be even, got 7.*Use 8"),
        (lambda: sinusoidal_encoding(3, 0), ValueError, "d_model must be at least 2, got 0"),
        (lambda: sinusoidal_encoding(-1, 4), ValueError, "n_positions must be at least 0, got -1"),
        (lambda: sinusoidal_encoding(3.0, 4), TypeError, "n_positions must be an integer"),
        (lambda: SinusoidalEncoding(5), ValueError, "d_model must be even"),
        (lambda: SinusoidalEncoding(True), TypeError, "d_model must be an integer"),
        (
            lambda: SinusoidalEncoding(4)(torch.zeros(2, 3, 6)),
            ValueError,
            r"embedding must be 4 \(d_model of the module\), got 6",
        ),
        (lambda: SinusoidalEncoding(4)(torch.zeros(4)), ValueError, r"axes \(..., T, d_model\)"),
        (lambda: SinusoidalEncoding(4)(torch.zeros(2, 4).long()), TypeError, "floating point"),
    ],
)
def test_refusals_say_what_came(call, error, words):
    with pytest.raises(error, match=words):
        call()
