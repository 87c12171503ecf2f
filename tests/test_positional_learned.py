import pytest
import torch

from attnkit import LearnedEncoding

N_POSITIONS, D_MODEL = 11, 7


@pytest.mark.parametrize("leading", [(), (3,), (3, 5), (0,)])
@pytest.mark.parametrize("n", [0, 1, 5, N_POSITIONS])
def test_adds_the_first_rows_of_the_table(leading, n):
    module = LearnedEncoding(N_POSITIONS, D_MODEL)
    embedding = torch.randn(*leading, n, D_MODEL)
    kept = embedding.clone()
    output = module(embedding)
    assert output.shape == embedding.shape
    for p in range(n):
        torch.testing.assert_close(output[..., p, :], embedding[..., p, :] + module.table[p])
    assert torch.equal(embedding, kept)


def test_equals_an_embedding_of_the_positions():
    module, oracle = LearnedEncoding(N_POSITIONS, D_MODEL), torch.nn.Embedding(11, D_MODEL)
    oracle.weight.data.copy_(module.table.data)
    embedding, upstream = torch.randn(2, 3, 5, D_MODEL)
    module(embedding).backward(upstream)
    (embedding + oracle(torch.arange(5))).backward(upstream)
    torch.testing.assert_close(module.table.grad, oracle.weight.grad)
    assert module.table.grad[:5].any() and not module.table.grad[5:].any()


def test_the_table_is_the_only_parameter_and_starts_small():
    torch.manual_seed(0)
    module = LearnedEncoding(1009, 61)
    assert list(module.state_dict()) == ["table"] and module.table.shape == (1009, 61)
    assert module.table.std().item() == pytest.approx(0.02, rel=0.03)
    assert abs(module.table.mean().item()) < 0.001
    before = module.table.clone()
    module.reset_parameters()
    assert not torch.equal(module.table, before)
    assert "n_positions=1009, d_model=61" in repr(module)


def test_runs_in_half_precision():
    module = LearnedEncoding(N_POSITIONS, D_MODEL).to(torch.bfloat16)
    assert module(torch.zeros(5, D_MODEL, dtype=torch.bfloat16)).dtype == torch.bfloat16


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: LearnedEncoding(0, 4), ValueError, "n_positions must be at least 1, got 0"),
        (lambda: LearnedEncoding(3, 0), ValueError, "d_model must be at least 1, got 0"),
        (lambda: LearnedEncoding(3.0, 4), TypeError, "n_positions must be an integer"),
        (
            lambda: LearnedEncoding(3, 4)(torch.zeros(2, 5, 4)),
            ValueError,
            r"at most 3 positions.*got 5: position 3 has no row.*train a LearnedEncoding\(5, 4\)",
        ),
        (lambda: LearnedEncoding(3, 4)(torch.zeros(3, 6)), ValueError, r"must be 4 \(d_model of"),
        (lambda: LearnedEncoding(3, 4)(torch.zeros(4)), ValueError, r"axes \(\.\.\., T, d_model"),
        (lambda: LearnedEncoding(3, 4)(torch.zeros(3, 4).long()), TypeError, "floating point"),
        (lambda: LearnedEncoding(3, 4)(torch.zeros(3, 4).double()), TypeError, "dtype of the mod"),
    ],
)
def test_refusals_say_what_came(call, error, words):
    with pytest.raises(error, match=words):
        call()
