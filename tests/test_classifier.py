"""The classifier: its formula, what padding may not do, and what its weights are."""

import doctest

import pytest
import torch
import torch.nn.functional as F

from attnkit import classifier
from attnkit.classifier import POOLINGS, ClassifierOutput, SequenceClassifier
from attnkit.tasks import CLDRNames, Vocabulary
from attnkit.training import fit, load, save

VOCABULARY = Vocabulary("abcdefg")
LENGTHS = [7, 1, 4, 11]


def model(pooling="attention", width=3, seed=0, **sizes):
    torch.manual_seed(seed)
    sizes = {"d_embedding": 5, "d_hidden": 13} | sizes
    return SequenceClassifier(VOCABULARY, 3, pooling=pooling, width=width, **sizes).double()


def sequences(seed=0):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randint(3, 10, (n,), generator=generator) for n in LENGTHS]


def padded(rows, longest=None, filling=0):
    longest = longest or max(map(len, rows))
    return torch.stack([F.pad(row, (0, longest - len(row)), value=filling) for row in rows])


def test_doctests():
    result = doctest.testmod(classifier)
    assert result.attempted and not result.failed


# The formula


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("width", [1, 3, 5, 15])
def test_each_sequence_by_itself_follows_the_formula(pooling, width):
    m, rows = model(pooling, width), sequences()
    output = m(padded(rows), torch.tensor(LENGTHS))
    assert isinstance(output, ClassifierOutput)
    assert output.logits.shape == (4, 3) and output.weights.shape == (4, 11)
    weight, bias, r = m.convolution.weight, m.convolution.bias, width // 2
    for row, logits, weights in zip(rows, *output, strict=True):
        n, x = len(row), m.embedding.weight[row]
        beyond = x.new_zeros(r, 5)
        x = torch.cat([beyond, x, beyond])
        states = torch.stack(
            [(sum(weight[..., k] @ x[t + k] for k in range(width)) + bias).relu() for t in range(n)]
        )
        a = torch.full((n,), 1 / n).double()
        if pooling == "attention":
            a = (states @ m.score_proj.weight[0]).softmax(0)
        torch.testing.assert_close(weights[:n], a)
        torch.testing.assert_close(logits, m.readout(a @ states))


def test_poolings_start_from_the_same_numbers():
    attention, mean = (dict(model(pooling).named_parameters()) for pooling in POOLINGS)
    assert set(attention) - set(mean) == {"score_proj.weight"}
    assert all(torch.equal(attention[name], tensor) for name, tensor in mean.items())


def test_without_scores_attention_is_the_mean():
    attention, mean = model("attention"), model("mean")
    torch.nn.init.zeros_(attention.score_proj.weight)
    inputs = padded(sequences()), torch.tensor(LENGTHS)
    for one, other in zip(attention(*inputs), mean(*inputs), strict=True):
        torch.testing.assert_close(one, other)


def test_one_score_vector_serves_every_sequence():
    m = model("attention")
    assert m.score_proj.weight.shape == (1, 13) and m.score_proj.bias is None


# Weights


@pytest.mark.parametrize("pooling", POOLINGS)
def test_weights_sum_to_one_over_the_tokens(pooling):
    weights = model(pooling)(padded(sequences(), 17), torch.tensor(LENGTHS)).weights
    torch.testing.assert_close(weights.sum(-1), torch.ones(4).double())
    beyond = torch.arange(17) >= torch.tensor(LENGTHS)[:, None]
    assert (weights[beyond] == 0).all() and (weights[~beyond] > 0).all()


@pytest.mark.parametrize("pooling", POOLINGS)
def test_logits_are_the_same_without_the_weights(pooling):
    m, inputs = model(pooling), (padded(sequences()), torch.tensor(LENGTHS))
    without = m(*inputs, need_weights=False)
    assert without.weights is None and torch.equal(without.logits, m(*inputs).logits)


def test_width_one_sees_no_neighbours_and_no_order():
    m, row = model(width=1), torch.tensor([[3, 4, 5, 6, 7]])
    order = torch.tensor([4, 0, 3, 1, 2])
    one, other = m(row, torch.tensor([5])), m(row[:, order], torch.tensor([5]))
    torch.testing.assert_close(one.logits, other.logits)
    torch.testing.assert_close(one.weights[:, order], other.weights)


@pytest.mark.parametrize("width", [1, 3, 5])
def test_a_state_sees_its_neighbours_up_to_half_the_width(width):
    m = model(width=width, d_hidden=97)
    rows = torch.full((2, 11), 3)
    rows[1, 5] = 4
    states = m.states(rows, torch.tensor([11, 11]))
    differs = ((states[0] - states[1]).abs() > 1e-9).any(-1).nonzero().flatten().tolist()
    assert differs == list(range(5 - width // 2, 5 + width // 2 + 1))


# Padding


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("width", [1, 3, 7])
def test_padding_changes_nothing(pooling, width):
    m, rows, lengths = model(pooling, width), sequences(), torch.tensor(LENGTHS)
    alone = [m(row[None], torch.tensor([len(row)])) for row in rows]
    for longest, filling in ((11, 0), (11, 9), (29, 0), (29, 1), (29, 7)):
        logits, weights = m(padded(rows, longest, filling), lengths)
        for i, one in enumerate(alone):
            torch.testing.assert_close(logits[i], one.logits[0], atol=1e-14, rtol=1e-12)
            torch.testing.assert_close(weights[i, : len(rows[i])], one.weights[0])


def test_not_even_a_number_that_is_no_token_is_read_in_the_padding():
    m, rows, lengths = model(), sequences(), torch.tensor(LENGTHS)
    strange = padded(rows, 13, filling=10**6)
    assert torch.equal(m(strange, lengths).logits, m(padded(rows, 13), lengths).logits)


def test_a_padding_embedding_that_is_not_zero_changes_nothing():
    m, inputs = model(), (padded(sequences(), 13), torch.tensor(LENGTHS))
    before = m(*inputs)
    with torch.no_grad():
        m.embedding.weight[0] = torch.nan
    assert torch.equal(m(*inputs).logits, before.logits)


def test_states_behind_the_length_are_zero():
    m, lengths = model(), torch.tensor(LENGTHS)
    states = m.states(padded(sequences(), 13), lengths)
    beyond = torch.arange(13) >= lengths[:, None]
    assert (states[beyond] == 0).all() and (states[~beyond] != 0).any(-1).all()


@pytest.mark.parametrize("pooling", POOLINGS)
def test_padding_changes_no_gradient(pooling):
    rows, lengths, classes = sequences(), torch.tensor(LENGTHS), torch.tensor([0, 2, 1, 1])
    gradients = []
    for longest, filling in ((11, 0), (31, 8)):
        m = model(pooling)
        m.loss((padded(rows, longest, filling), lengths, classes)).backward()
        gradients.append([p.grad for p in m.parameters()])
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other, atol=1e-14, rtol=1e-12)
    assert (gradients[1][0][0] == 0).all()


@pytest.mark.parametrize("pooling", POOLINGS)
def test_a_sequence_of_no_tokens_has_the_readouts_bias(pooling):
    m = model(pooling)
    rows = torch.tensor([[3, 4], [5, 6]])
    output = m(rows, torch.tensor([0, 2]))
    assert torch.equal(output.logits[0], m.readout.bias)
    assert output.weights[0].tolist() == [0, 0]
    m.loss((rows, torch.tensor([0, 2]), torch.tensor([0, 1]))).backward()
    assert all(torch.isfinite(p.grad).all() for p in m.parameters())
    nothing = m(torch.zeros(1, 0, dtype=torch.int64), torch.tensor([0]))
    assert torch.equal(nothing.logits[0], m.readout.bias) and nothing.weights.shape == (1, 0)


# Training, files


def test_loss_is_the_cross_entropy_of_a_batch():
    m, rows, lengths = model(), padded(sequences()), torch.tensor(LENGTHS)
    classes = torch.tensor([0, 2, 1, 1])
    logits = m(rows, lengths).logits
    wanted = -logits.log_softmax(-1)[range(4), classes].mean()
    torch.testing.assert_close(m.loss((rows, lengths, classes)), wanted)


@pytest.mark.parametrize("pooling", POOLINGS)
def test_it_learns_which_token_is_there(pooling):
    """The class is the one of a, b, c that stands somewhere among d, e, f, g."""

    def batch_at(step):
        generator = torch.Generator().manual_seed(step)
        rows = torch.randint(6, 10, (64, 9), generator=generator)
        classes = torch.randint(0, 3, (64,), generator=generator)
        lengths = torch.randint(2, 10, (64,), generator=generator)
        places = (torch.rand(64, generator=generator) * lengths).long()
        rows[range(64), places] = 3 + classes
        return rows, lengths, classes

    torch.manual_seed(0)
    m = SequenceClassifier(VOCABULARY, 3, pooling=pooling, d_embedding=8, d_hidden=16)
    fit(m, batch_at, steps=150, progress=False)
    rows, lengths, classes = batch_at(10_000)
    assert (m(rows, lengths).logits.argmax(-1) == classes).float().mean() > 0.98


def test_it_learns_from_batches_of_names(tmp_path):
    task = CLDRNames(("fi", "vi"))
    torch.manual_seed(0)
    m = SequenceClassifier(task.vocabulary, 2, d_embedding=8, d_hidden=16)
    history = fit(m, task.training_batch, steps=150, progress=False)
    test = task.batch(task.test)
    logits = m(test.characters, test.lengths).logits
    assert (logits.argmax(-1) == test.languages).float().mean() > 0.9
    save(m, tmp_path / "names.safetensors", history)
    again = load(tmp_path / "names.safetensors", SequenceClassifier.from_settings)
    assert again.vocabulary == task.vocabulary and again.settings == m.settings
    assert torch.equal(again(test.characters, test.lengths).logits, logits)


@pytest.mark.parametrize("pooling", POOLINGS)
def test_settings_build_an_equal_model(pooling):
    m = model(pooling, width=5)
    again = SequenceClassifier.from_settings(m.settings).double()
    again.load_state_dict(m.state_dict())
    inputs = padded(sequences()), torch.tensor(LENGTHS)
    assert torch.equal(again(*inputs).logits, m(*inputs).logits)
    assert again.settings == m.settings and f"pooling='{pooling}'" in repr(again)


# Bad input


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"vocabulary": "abc"}, TypeError, "vocabulary must be a Vocabulary, got str"),
        ({"n_classes": 1}, ValueError, "n_classes must be at least 2, got 1"),
        ({"n_classes": 2.0}, TypeError, "n_classes must be an integer"),
        ({"pooling": "max"}, ValueError, "pooling must be one of .* got 'max'"),
        ({"pooling": ["mean"]}, ValueError, "pooling must be one of"),
        ({"d_embedding": 0}, ValueError, "d_embedding must be at least 1"),
        ({"d_hidden": 0}, ValueError, "d_hidden must be at least 1"),
        ({"width": 0}, ValueError, "width must be at least 1"),
        ({"width": 4}, ValueError, "width must be odd.*got 4. Take 5"),
    ],
)
def test_models_that_cannot_be(arguments, error, words):
    with pytest.raises(error, match=words):
        SequenceClassifier(**{"vocabulary": VOCABULARY, "n_classes": 3} | arguments)


def test_settings_that_are_none():
    settings = model().settings
    with pytest.raises(ValueError, match="settings must be tokens, n_classes"):
        SequenceClassifier.from_settings(settings | {"dropout": 0.1})
    with pytest.raises(ValueError, match="settings must be tokens"):
        SequenceClassifier.from_settings({"n_classes": 3})


@pytest.mark.parametrize(
    ("characters", "lengths", "error", "words"),
    [
        ([[3, 4]], torch.tensor([2]), TypeError, "characters must be a tensor of torch.int64"),
        (torch.tensor([[3, 4]]), [2], TypeError, "lengths must be a tensor of torch.int64"),
        (torch.tensor([[3.0]]), torch.tensor([1]), TypeError, "characters must be a tensor of"),
        (torch.tensor([3, 4]), torch.tensor([2]), ValueError, r"shape \(batch, T\), got \(2,\)"),
        (torch.tensor([[3, 4]]), torch.tensor([2, 1]), ValueError, "lengths must be 1"),
        (torch.tensor([[3, 4]]), torch.tensor([3]), ValueError, "from 0 to T = 2, got 3 to 3"),
        (torch.tensor([[3, 4]]), torch.tensor([-1]), ValueError, "from 0 to T = 2, got -1"),
        (torch.tensor([[3, 10]]), torch.tensor([2]), ValueError, "characters must have the token"),
        (torch.tensor([[-1, 3]]), torch.tensor([2]), ValueError, "characters must have the token"),
        (torch.zeros(0, 2).long(), torch.zeros(0).long(), ValueError, "at least one sequence"),
    ],
)
def test_bad_sequences(characters, lengths, error, words):
    with pytest.raises(error, match=words):
        model()(characters, lengths)
