"""head_importance is the slope of the loss by each head's gate, and mean_outputs is a mean."""

import copy

import pytest
import torch
import torch.nn.functional as F
from ablation_models import (
    BATCH,
    D_HEAD,
    D_MODEL,
    HEADS,
    LAYERS,
    MASKS,
    Own,
    Stack,
    T,
    attention,
    close,
    inputs,
    stack_by_hand,
)
from torch import nn

from attnkit import padding_mask
from attnkit.ablation import ablate, head_importance, mean_outputs
from attnkit.patterns import gradient_importance
from attnkit.tasks import RepeatedSequences


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(7)


class Language(nn.Module):
    """A causal model of tokens, with dropout."""

    def __init__(self, dropout=0.3):
        super().__init__()
        self.embedding = nn.Embedding(10, D_MODEL).double()
        self.stack = Stack(dropout=dropout)

    def forward(self, tokens):
        x, _ = self.stack(self.embedding(tokens), torch.ones(2 * [tokens.shape[1]]).tril() > 0)
        return x @ self.embedding.weight.T


def losses(model, tokens):
    logits = model(tokens[:, :-1])
    return F.cross_entropy(logits.mT, tokens[:, 1:], reduction="none").mean(-1)


def batches(n=3, size=4):
    task = RepeatedSequences(vocabulary=9, periods=(2, 5))
    return [task.training_batch(step, size + step).tokens for step in range(n)]


def all_heads():
    return [(layer, head) for layer in range(LAYERS) for head in range(HEADS)]


# The importance of heads


def test_importance_is_the_slope_by_finite_differences():
    model = Language().eval()
    want, examples = torch.zeros(LAYERS, HEADS, dtype=torch.float64), 0
    with torch.no_grad():
        for batch in batches():
            examples += len(batch)
            full = losses(model, batch)
            for key in all_heads():
                at = []
                for step in (1e-4, 2e-4):  # a gate is not above 1: both steps go down
                    with ablate(model, {key: 1 - step}):
                        at.append(losses(model, batch))
                slope = (3 * full - 4 * at[0] + at[1]) / 2e-4
                want[key] += slope.abs().sum()
    got = head_importance(model, batches(), losses)
    assert got.shape == (LAYERS, HEADS) and got.dtype == torch.float64
    close(got, want / examples, 1e-7)
    assert got.min() > 1e-4 and got.max() > 2 * got.min()


def test_importance_is_the_gradient_of_a_gate_for_each_example():
    model = Language().eval()
    want, examples = torch.zeros(LAYERS, HEADS, dtype=torch.float64), 0
    for batch in batches():
        for example in batch:
            examples += 1
            gates = {
                key: torch.ones((), dtype=torch.float64, requires_grad=True) for key in all_heads()
            }
            with ablate(model, gates):
                losses(model, example[None]).sum().backward()
            for key, gate in gates.items():
                want[key] += gate.grad.abs()
    model.zero_grad()
    close(head_importance(model, batches(), losses), want / examples)


def test_importance_is_that_of_the_outputs_and_their_gradients():
    model, mask = Stack(layers=1), MASKS["causal"]
    (module,), x, target = model.layers, inputs(), inputs()

    def distance(model, x):
        return (model(x, mask)[0] - target).square().sum((1, 2))

    weights = module(x, mask=mask).weights
    outputs = (weights @ module.split_heads(module.value_proj(x))).detach().requires_grad_()
    whole = x + module.output_proj(outputs.transpose(1, 2).flatten(2))
    (slopes,) = torch.autograd.grad((whole - target).square().sum(), outputs)
    got = head_importance(model, [x], distance)
    close(got[0], gradient_importance(outputs, slopes).double())


def test_examples_of_opposite_sign_do_not_cancel():
    module = attention()
    x = inputs(1, T, D_MODEL).expand(2, -1, -1)
    sign = torch.tensor([1.0, -1.0], dtype=torch.float64)

    def opposite(model, x):
        return sign * model(x).output.sum((1, 2))

    got = head_importance(module, [x], opposite)
    one = head_importance(module, [x[:1]], lambda model, x: model(x).output.sum((1, 2)))
    assert got.min() > 0.01
    close(got, one)


def test_importance_leaves_the_model_and_the_random_numbers_alone():
    model = Language(dropout=0.5)
    model.train()
    model.stack.layers[1].eval()
    model.embedding.weight.grad = torch.full_like(model.embedding.weight, 3.0)
    before, modes = copy.deepcopy(model.state_dict()), [m.training for m in model.modules()]
    state = torch.get_rng_state()
    first = head_importance(model, batches(), losses)
    assert torch.equal(torch.get_rng_state(), state)
    assert [m.training for m in model.modules()] == modes
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, before[name])
    for name, parameter in model.named_parameters():
        if name == "embedding.weight":
            assert (parameter.grad == 3).all()
        else:
            assert parameter.grad is None and parameter.requires_grad
    assert torch.equal(head_importance(model.eval(), batches(), losses), first), "no dropout in it"


def test_importance_puts_the_mode_back_after_an_exception():
    model = Language().train()

    def fails(model, batch):
        raise KeyError("no")

    with pytest.raises(KeyError):
        head_importance(model, batches(), fails)
    assert all(m.training for m in model.modules())
    assert "forward" not in model.stack.layers[0].__dict__


@pytest.mark.parametrize("outside", [torch.no_grad, torch.inference_mode])
def test_importance_where_gradients_are_off(outside):
    model, given = Language(), batches()
    want = head_importance(model, given, losses)
    with outside():
        got = head_importance(model, given, losses)
    close(got, want)


def test_importance_of_a_model_without_trainable_parameters():
    model = Language()
    want = head_importance(model, batches(), losses)
    model.requires_grad_(False)
    close(head_importance(model, batches(), losses), want)


def test_importance_does_not_depend_on_the_cut_into_batches():
    model, tokens = Language(), batches(1, 6)[0]
    want = head_importance(model, [tokens], losses)
    close(head_importance(model, tokens.split(1), losses), want)
    close(head_importance(model, iter(tokens.split([2, 4])), losses), want)


def test_importance_of_many_batches_in_low_precision_is_their_mean():
    module, x = attention().to(torch.bfloat16), inputs(1, T, D_MODEL).to(torch.bfloat16)

    def losses(model, x):
        return model(x).output.square().sum((1, 2))

    got = head_importance(module, [x] * 600, losses)
    assert got.dtype == torch.bfloat16
    assert torch.equal(got, head_importance(module, [x], losses))


def test_importance_of_one_sequence_with_one_number():
    module, x = attention(), inputs(T, D_MODEL)
    got = head_importance(module, [x], lambda model, x: model(x).output.square().sum())
    want = head_importance(module, [x[None]], lambda model, x: model(x).output.square().sum())
    close(got, want)


def test_importance_is_divided_by_its_norm_layer_by_layer():
    model = Language()
    plain = head_importance(model, batches(), losses)
    got = head_importance(model, batches(), losses, normalize=True)
    close(got, plain / plain.square().sum(-1, keepdim=True).sqrt())
    close(got.norm(dim=-1), torch.ones(LAYERS).double())


def test_importance_of_layers_of_different_width():
    class Uneven(nn.Module):
        def __init__(self):
            super().__init__()
            self.wide, self.narrow = attention(), Own(D_MODEL, 2)
            self.idle = attention()

        def forward(self, x):
            return self.narrow(self.wide(x).output).output

    model, x = Uneven(), inputs()
    got = head_importance(model, [x], lambda m, x: m(x).square().sum((1, 2)))
    assert got.isnan().tolist() == [[False] * 3, [False, False, True], [False] * 3]
    assert (got[0] > 0).all() and (got[1, :2] > 0).all() and (got[2] == 0).all()
    got = head_importance(model, [x], lambda m, x: m(x).square().sum((1, 2)), normalize=True)
    assert got[1, :2].norm().item() == pytest.approx(1) and (got[2] == 0).all()


def test_importance_of_a_module_that_runs_twice_is_that_of_both_runs():
    model, x = Stack(layers=1), inputs()

    def twice(model, x):
        return model(model(x)[0])[0].square().sum((1, 2))

    got = head_importance(model, [x], twice)
    want = []
    for head in range(HEADS):
        gate = torch.ones((), dtype=torch.float64, requires_grad=True)
        total = 0.0
        for example in x:
            with ablate(model, {(0, head): gate}):
                (slope,) = torch.autograd.grad(twice(model, example[None]).sum(), gate)
            total += slope.abs()
        want.append(total / BATCH)
    close(got[0], torch.stack(want))


def test_importance_within_an_ablation_is_that_of_the_ablated_model():
    model = Language().eval()
    with ablate(model, {(0, 1): "zero", (1, 0): "uniform"}):
        got = head_importance(model, batches(), losses)
    plain = head_importance(model, batches(), losses)
    assert got[0, 1] == 0 and got[1, 0] > 0
    assert ((got - plain).abs() > 1e-5).sum() > 3


@pytest.mark.parametrize(
    ("batches", "losses", "error", "words"),
    [
        ([], losses, ValueError, "at least one batch"),
        (
            batches(1),
            lambda m, b: losses(m, b).mean(),
            ValueError,
            r"shape \(4,\), got \(\).*cancel",
        ),
        (batches(1), lambda m, b: losses(m, b)[:3], ValueError, r"shape \(4,\), got \(3,\)"),
        (batches(1), lambda m, b: losses(m, b).detach(), ValueError, "was detached"),
        (batches(1), lambda m, b: torch.zeros(4), ValueError, "no attention of it ran"),
        (batches(1), lambda m, b: losses(m, b).tolist(), TypeError, "give a tensor, got list"),
        (
            batches(1),
            lambda m, b: losses(m, b) + losses(m, b[:2]).sum(),
            ValueError,
            r"the same batch each time, got \(4,\) and \(2,\)",
        ),
    ],
)
def test_importance_says_what_it_refuses(batches, losses, error, words):
    model = Language()
    with pytest.raises(error, match=words):
        head_importance(model, batches, losses)
    assert "forward" not in model.stack.layers[0].__dict__
    with pytest.raises(TypeError, match="no attention whose heads"):
        head_importance(nn.Linear(2, 2), batches, losses)


# Mean outputs


def means_by_hand(model, runs):
    """The mean output of each head over the counted queries, one layer after the other."""
    sums = [torch.zeros(HEADS, D_HEAD, dtype=torch.float64) for _ in model.layers]
    number = [torch.zeros(HEADS, 1, dtype=torch.float64) for _ in model.layers]
    for x, mask, counted in runs:
        for i, layer in enumerate(model.layers):
            output = layer(x, mask=mask)
            outputs = output.weights @ layer.split_heads(layer.value_proj(x))
            for b in range(len(x)):
                for head in range(HEADS):
                    for query in range(x.shape[1]):
                        if counted[b, query] and output.weights[b, head, query].sum() > 0:
                            sums[i][head] += outputs[b, head, query].detach()
                            number[i][head] += 1
            x = x + output.output
    return [s / n for s, n in zip(sums, number, strict=True)]


@pytest.mark.parametrize("mask", ["none", "both", "a query that sees nothing", "per head"])
def test_means_are_those_of_the_counted_queries(mask):
    model = Stack(dropout=0.5).train()
    runs = [
        (inputs(), MASKS[mask], torch.tensor([[1, 1, 0, 0, 1], [1, 0, 0, 1, 0]]) > 0)
        for _ in range(2)
    ]
    state = torch.get_rng_state()
    got = mean_outputs(model, runs, lambda m, run: m(*run[:2]), counted=lambda run: run[2])
    assert torch.equal(torch.get_rng_state(), state)
    assert all(m.training for m in model.modules())
    model.eval()
    for one, two in zip(got, means_by_hand(model, runs), strict=True):
        close(one, two)
        assert not one.requires_grad
    every = [(x, mask, torch.ones(BATCH, T) > 0) for x, mask, _ in runs]
    got = mean_outputs(model, every, lambda m, run: m(*run[:2]))
    for one, two in zip(got, means_by_hand(model, every), strict=True):
        close(one, two)


def test_a_padding_mask_says_which_queries_count():
    model, x, real = Stack(), inputs(), padding_mask([T, 2])
    got = mean_outputs(model, [x], counted=lambda x: real)
    want = mean_outputs(model, [x], counted=lambda x: real[:, 0, 0])
    for one, two in zip(got, want, strict=True):
        close(one, two)


def test_means_put_in_the_place_of_a_constant_head_change_nothing():
    model = Stack(layers=1)
    (module,) = model.layers
    with torch.no_grad():
        module.value_proj.weight[:D_HEAD] = 0  # head 0 says the same to every input
    x = inputs()
    means = mean_outputs(model, [inputs()])
    close(means[0][0], module.value_proj.bias[:D_HEAD].detach())
    with ablate(model, {(0, 0): "mean"}, means=means):
        close(model(x)[0], stack_by_hand(model, x, None, {})[0])


def test_padding_moves_the_means_where_it_counts():
    model, x, lengths = Stack(), inputs(), torch.tensor([5, 2])
    mask = padding_mask(lengths)

    def run(model, x):
        model(x, mask)

    kept = mean_outputs(model, [x], run, counted=lambda x: mask[:, 0, 0])
    alone = mean_outputs(model, [x[:1], x[1:, :2]])
    padded = mean_outputs(model, [x], run)
    for one, two, three in zip(kept, alone, padded, strict=True):
        close(one, two)
        assert (one - three).abs().max() > 1e-3


def test_means_come_in_the_precision_of_the_model():
    model = Stack().to(torch.bfloat16)
    means = mean_outputs(model, [inputs().to(torch.bfloat16)])
    assert {mean.dtype for mean in means} == {torch.bfloat16}


@pytest.mark.parametrize(
    ("batches", "counted", "error", "words"),
    [
        ([], None, ValueError, "no query was counted in 'layers.0'"),
        ([inputs()], lambda x: torch.zeros(BATCH, T) > 0, ValueError, "does counted keep a query"),
        ([inputs()], lambda x: torch.ones(BATCH, T), TypeError, "boolean.*got torch.float32"),
        ([inputs()], lambda x: [True], TypeError, "boolean.*got list"),
        (
            [inputs()],
            lambda x: torch.ones(BATCH, T + 1) > 0,
            ValueError,
            r"\(batch, T_q\) of the queries, \(2, 5\), got \(2, 6\)",
        ),
        (
            [inputs()],
            lambda x: torch.ones(BATCH, 1, T) > 0,
            ValueError,
            r"\(batch, T_q\) of the queries, \(2, 5\), got \(2, 1, 5\)",
        ),
    ],
)
def test_means_say_what_they_refuse(batches, counted, error, words):
    with pytest.raises(error, match=words):
        mean_outputs(Stack(), batches, counted=counted)
