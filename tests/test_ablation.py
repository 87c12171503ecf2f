"""ablate: each kind does what its formula says, and the model is the same again afterwards."""

import copy
import doctest
import importlib
import io
import math
import threading

import numpy as np
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
    T_K,
    Own,
    Stack,
    T,
    attention,
    by_hand,
    close,
    inputs,
    stack_by_hand,
)
from torch import nn
from torch.utils.checkpoint import checkpoint

from attnkit import AttentionOutput, MultiHeadAttention, causal_mask, padding_mask
from attnkit.ablation import ablate, attention_modules, mean_outputs
from attnkit.capture import capture_attention
from attnkit.transformer import EncoderLayer


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(11)


@pytest.mark.parametrize("module", ["found", "context", "probes"])
def test_doctests(module):
    result = doctest.testmod(importlib.import_module(f"attnkit.ablation.{module}"))
    assert result.attempted and not result.failed


MEANS = [torch.randn(HEADS, D_HEAD, dtype=torch.float64) for _ in range(LAYERS)]
CHOSEN = {
    "zero": {(0, 1): "zero"},
    "uniform": {(0, 2): "uniform", (1, 0): "uniform"},
    "mean": {(0, 0): "mean", (1, 2): "mean"},
    "gate": {(1, 1): 0.25, (0, 0): 0.7},
    "gate 0": {(0, 1): 0},
    "gate 1": {(0, 1): 1.0},
    "all kinds": {(0, 0): "zero", (0, 1): 0.5, (0, 2): "uniform", (1, 0): "mean", (1, 2): "zero"},
    "a layer": dict.fromkeys([(0, 0), (0, 1), (0, 2)], "zero"),
    "none": {},
}


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("chosen", CHOSEN)
def test_each_kind_is_its_formula(chosen, mask, need_weights):
    model, x, heads = Stack(), inputs(), CHOSEN[chosen]
    with ablate(model, heads, means=MEANS):
        got, weights = model(x, MASKS[mask], need_weights)
    want, computed = stack_by_hand(model, x, MASKS[mask], heads, means=MEANS)
    close(got, want)
    if not need_weights:
        assert weights == [None, None]
        return
    for layer in range(LAYERS):
        for head in range(HEADS):
            rows, own = weights[layer][:, head], computed[layer][:, head]
            if heads.get((layer, head)) == "uniform":
                allowed = torch.ones(BATCH, HEADS, T, T, dtype=torch.bool)
                if MASKS[mask] is not None:
                    allowed &= MASKS[mask]
                allowed = allowed[:, head].double()
                own = allowed / allowed.sum(-1, keepdim=True).clamp(min=1)
            close(rows, own)


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("kind", ["zero", "uniform", "mean", 0.3])
def test_cross_attention_and_unbatched_inputs(kind, need_weights):
    module, heads = attention(), {("", 1): kind}
    for shape in ((BATCH,), ()):
        query, key, value = (inputs(*shape, n, D_MODEL) for n in (T, T_K, T_K))
        mask = torch.rand(T, T_K) < 0.5
        with ablate(module, heads, means=MEANS[:1]):
            got = module(query, key, value, mask, need_weights=need_weights)
        want, _ = by_hand(module, query, key, value, mask, {1: kind}, means=MEANS[0])
        close(got.output, want)


def test_the_padding_mask_of_one_sequence_without_a_batch():
    module, x = attention(), inputs(T, D_MODEL)
    with ablate(module, {(0, 1): "uniform"}):
        got = module(x, mask=padding_mask(torch.tensor([3]), T))
    want, _ = by_hand(module, x, mask=padding_mask(torch.tensor([3]), T)[0], kinds={1: "uniform"})
    close(got.output, want)
    close(got.weights[1, :, :3], torch.full((T, 3), 1 / 3, dtype=torch.float64))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_every_precision(dtype):
    module, x = attention().to(dtype), inputs().to(dtype)
    heads = {(0, 0): "uniform", (0, 1): 0.5, (0, 2): "mean"}
    with ablate(module, heads, means=MEANS[:1]):
        got = module(x)
    assert got.output.dtype == got.weights.dtype == dtype
    kinds = {head: kind for (_, head), kind in heads.items()}
    want, _ = by_hand(module.double(), x.double(), kinds=kinds, means=MEANS[0])
    close(got.output.double(), want, 40 * torch.finfo(dtype).eps)


def test_what_is_not_finite_in_a_head_that_is_zeroed_stays_there():
    module, x = attention(), inputs()
    with torch.no_grad():
        module.value_proj.bias[D_HEAD] = torch.inf
    with ablate(module, {(0, 1): "zero"}):
        assert module(x).output.isfinite().all()
    assert not module(x).output.isfinite().all()


def test_one_head_is_one_slice_of_the_output_projection():
    module, x = attention(), inputs()
    full = module(x)
    value = module.split_heads(module.value_proj(x))
    for head in range(HEADS):
        with ablate(module, {(0, head): "zero"}):
            got = module(x).output
        columns = module.output_proj.weight[:, head * D_HEAD : (head + 1) * D_HEAD]
        close(full.output - got, (full.weights[:, head] @ value[:, head]) @ columns.T)


@pytest.mark.parametrize("norm_first", [True, False])
def test_in_an_encoder_a_zeroed_head_is_columns_of_zeros(norm_first):
    layers = [EncoderLayer(D_MODEL, HEADS, 17, norm_first=norm_first) for _ in range(LAYERS)]
    model, x, mask = nn.ModuleList(layers).double().eval(), inputs(), MASKS["both"]

    def run(need_weights):
        hidden = x
        for layer in model:
            hidden = layer(hidden, mask, need_weights=need_weights).output
        return hidden

    assert [name for name, _ in attention_modules(model)] == ["0.attention", "1.attention"]
    with ablate(model, {(0, 2): "zero", ("1.attention", 0): "zero"}):
        got = [run(True), run(False)]
    with torch.no_grad():
        model[0].attention.output_proj.weight[:, 2 * D_HEAD :] = 0
        model[1].attention.output_proj.weight[:, :D_HEAD] = 0
    for one in got:
        close(one, run(True))


# Frozen patterns


def recorded_run(model, x, mask=None):
    with capture_attention(model) as captured:
        output, weights = model(x, mask)
    return captured, [w.detach() for w in weights], output


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("how", ["captured", "list", "tensor", "numpy"])
def test_frozen_patterns_leave_later_layers_only_the_values(how, need_weights):
    model, x, mask = Stack(), inputs(), causal_mask(T)
    captured, weights, plain = recorded_run(model, x, mask)
    given = {
        "captured": captured,
        "list": weights,
        "tensor": torch.stack(weights),
        "numpy": [w.numpy() for w in weights],
    }[how]
    heads = {(0, 1): "zero", (0, 2): 0.5}
    with ablate(model, heads, frozen=given):
        got, used = model(x, mask, need_weights)
    want, computed = stack_by_hand(model, x, mask, heads, frozen=weights)
    close(got, want)
    apart = stack_by_hand(model, x, mask, heads)[0]
    assert (apart - want).abs().max() > 1e-3, "freezing must make a difference"
    assert (computed[1] - weights[1]).abs().max() > 1e-3
    for one, two in zip(used, weights, strict=True):
        assert one is None if not need_weights else torch.equal(one, two)
    with ablate(model, {}, frozen=given):
        close(model(x, mask)[0], plain)


def test_an_even_row_goes_before_a_frozen_one():
    model, x = Stack(), inputs()
    captured, weights, _ = recorded_run(model, x)
    with ablate(model, {(0, 0): "uniform"}, frozen=captured):
        got, used = model(x)
    weights[0][:, 0] = 1 / T
    close(got, stack_by_hand(model, x, None, {}, frozen=weights)[0])
    close(used[0], weights[0])


def test_a_module_that_is_called_again_takes_its_recorded_calls_in_turn():
    module = attention()
    x, y = inputs(), inputs(BATCH, T_K, D_MODEL)
    with capture_attention(module) as captured:
        first, second = module(x), module(y)
    with ablate(module, {(0, 0): 1.0}, frozen=captured):
        for _ in range(2):
            close(module(x).output, first.output)
            close(module(y, need_weights=False).output, second.output)
    with (
        ablate(module, {}, frozen=captured),
        pytest.raises(ValueError, match=r"must have the shape.*\(2, 3, 7, 7\), got \(2, 3, 5, 5\)"),
    ):
        module(y)


def test_a_capture_of_a_frozen_module_that_is_called_again():
    module, x, y = attention(), inputs(), inputs()
    with capture_attention(module) as recorded:
        module(x), module(y)
    with ablate(module, {}, frozen=recorded), capture_attention(module) as captured:
        module(y), module(y, need_weights=False), module(x)
    first, second = recorded.maps
    for seen, used in zip(captured, (first, second, first), strict=True):
        assert torch.equal(seen.weights, used.weights)


def test_frozen_weights_of_other_inputs_are_refused_where_a_mask_tells():
    model, x = Stack(), inputs()
    lengths = torch.tensor([2, 4])
    captured, _, _ = recorded_run(model, x, padding_mask(lengths, T))
    with (
        pytest.raises(ValueError, match="other inputs, or from these in another order"),
        ablate(model, {}, frozen=captured),
    ):
        model(x.flip(0), padding_mask(lengths.flip(0), T))


def test_frozen_weights_without_a_batch():
    module, x = attention(), inputs(T, D_MODEL)
    plain = module(x)
    with ablate(module, {(0, 0): "zero"}, frozen=[plain.weights.detach()]):
        got = module(x)
    close(got.output, by_hand(module, x, kinds={0: "zero"})[0])


# Gradients, dropout, training


@pytest.mark.parametrize("need_weights", [True, False])
def test_gradients_are_those_of_the_formula(need_weights):
    model, x = Stack(), inputs().requires_grad_()
    heads, mask = CHOSEN["all kinds"], MASKS["both"]

    def gradients(output):
        wanted = [x, *model.parameters()]
        return torch.autograd.grad(output.square().sum(), wanted, allow_unused=True)

    want = gradients(stack_by_hand(model, x, mask, heads, means=MEANS)[0])
    with ablate(model, heads, means=MEANS):
        inside = gradients(model(x, mask, need_weights)[0])
        later = model(x, mask, need_weights)[0]
    for got in (inside, gradients(later)):
        for one, two in zip(got, want, strict=True):
            close(torch.zeros(()) if one is None else one, torch.zeros(()) if two is None else two)


def test_the_projections_of_a_zeroed_head_get_no_gradient():
    module, x = attention(), inputs()
    with ablate(module, {(0, 1): "zero"}):
        module(x).output.square().sum().backward()
    part = slice(D_HEAD, 2 * D_HEAD)
    for projection in (module.query_proj, module.key_proj, module.value_proj):
        assert not projection.weight.grad[part].any()
        assert projection.weight.grad[:D_HEAD].any()
    assert not module.output_proj.weight.grad[:, part].any()


def test_a_gate_may_be_a_tensor_and_gets_its_gradient():
    module, x = attention(), inputs()
    gate = torch.tensor([0.4], dtype=torch.float64, requires_grad=True)
    with ablate(module, {(0, 2): gate}):
        module(x).output.sum().backward()
    with ablate(module, {(0, 2): 1.0}):
        full = module(x).output.sum()
    with ablate(module, {(0, 2): 0.0}):
        none = module(x).output.sum()
    close(gate.grad, (full - none).detach().reshape(1))


@pytest.mark.parametrize("kind", ["zero", 0.5, 1.0])
def test_dropout_in_training_is_that_of_the_model(kind):
    # The reference: the same random numbers, and the head's slice of the joined heads turned down.
    model, x = Stack(layers=1, dropout=0.4), inputs()
    model.train()
    (module,) = model.layers
    keep = {"zero": 0.0}.get(kind, kind)

    def turned_down(_, args):
        (joined,) = args
        factor = torch.ones(D_MODEL, dtype=joined.dtype)
        factor[D_HEAD : 2 * D_HEAD] = keep
        return (joined * factor,)

    torch.manual_seed(5)
    with ablate(model, {(0, 1): kind}):
        got, weights = model(x)
    after = torch.get_rng_state()
    torch.manual_seed(5)
    handle = module.output_proj.register_forward_pre_hook(turned_down)
    want, _ = model(x)
    handle.remove()
    close(got, want)
    assert torch.equal(torch.get_rng_state(), after)
    close(weights[0].sum(-1), torch.ones(BATCH, HEADS, T).double())  # before dropout


@pytest.mark.parametrize("kind", ["uniform", "mean"])
def test_what_takes_the_place_of_weights_is_not_dropped(kind):
    module, x = attention(dropout=0.9), inputs()
    heads = {(0, head): kind for head in range(HEADS)}
    module.train()
    with ablate(module, heads, means=MEANS[:1]):
        got = module(x).output
    close(got, by_hand(module, x, kinds=dict.fromkeys(range(HEADS), kind), means=MEANS[0])[0])


def test_no_dropout_in_eval_without_weights():
    module, x = attention(dropout=0.9).eval(), inputs()
    with ablate(module, {(0, 0): "zero"}):
        got = module(x, need_weights=False).output
    close(got, by_hand(module, x, kinds={0: "zero"})[0])


def test_without_heads_the_model_is_what_it_is_bit_by_bit():
    model, x = Stack(dropout=0.3), inputs()
    for need_weights in (True, False):
        torch.manual_seed(1)
        plain = model(x, None, need_weights)[0]
        torch.manual_seed(1)
        with ablate(model, {}):
            assert torch.equal(model(x, None, need_weights)[0], plain)


def test_training_goes_on_through_an_ablated_model():
    model, x = Stack(), inputs()
    before = copy.deepcopy(model.state_dict())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with ablate(model, {(0, 0): "zero"}):
        for _ in range(3):
            optimizer.zero_grad()
            model(x)[0].square().mean().backward()
            optimizer.step()
    for name in ("query_proj", "key_proj", "value_proj"):
        moved = getattr(model.layers[0], name).weight != before[f"layers.0.{name}.weight"]
        assert not moved[:D_HEAD].any() and moved[D_HEAD:].any(), name


@pytest.mark.parametrize("reentrant", [True, False])
def test_checkpointed_layers_are_ablated_again_in_the_backward_pass(reentrant):
    module, x = attention(), inputs().requires_grad_()
    (want,) = torch.autograd.grad(
        by_hand(module, x, kinds={1: "uniform", 0: "zero"})[0].square().sum(), x
    )
    with ablate(module, {(0, 1): "uniform", (0, 0): "zero"}):
        output = checkpoint(lambda y: module(y).output, x, use_reentrant=reentrant)
        output.square().sum().backward()
    close(x.grad, want)


# Nothing stays behind


def traces(model):
    return {
        name: (sorted(module.__dict__), len(module._forward_hooks), len(module._forward_pre_hooks))
        for name, module in model.named_modules()
    }


def test_the_model_is_the_same_again():
    model, x = Stack(), inputs()
    before, plain = traces(model), model(x, None, False)[0]
    state = copy.deepcopy(model.state_dict())
    with ablate(model, CHOSEN["all kinds"], means=MEANS):
        inside = model(x, None, False)[0]
        assert list(model.state_dict()) == list(state)
    assert (inside - plain).abs().max() > 1e-2
    assert traces(model) == before
    assert torch.equal(model(x, None, False)[0], plain)
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, state[name])


class Stopped(Exception):
    pass


def test_the_model_is_the_same_again_after_an_exception():
    model, x = Stack(), inputs()
    before, plain = traces(model), model(x)[0]
    with pytest.raises(Stopped), ablate(model, {(0, 0): "zero"}):
        model(x)
        raise Stopped
    assert traces(model) == before and torch.equal(model(x)[0], plain)

    def fails(*args):
        raise Stopped

    handle = model.layers[1].value_proj.register_forward_hook(fails)
    with ablate(model, {(0, 0): "zero"}):
        with pytest.raises(Stopped):
            model(x)
        handle.remove()
        close(model(x)[0], stack_by_hand(model, x, None, {(0, 0): "zero"})[0])
    assert traces(model) == before and torch.equal(model(x)[0], plain)


def test_wrong_arguments_raise_what_they_always_raise():
    module = attention()
    with ablate(module, {(0, 0): "zero"}):
        for call, error in (
            (lambda: module(), TypeError),
            (lambda: module(inputs(), msk=None), TypeError),
            (lambda: module(inputs(BATCH, T, D_MODEL + 1)), ValueError),
            (lambda: module(inputs(), mask=torch.ones(T, T)), TypeError),
        ):
            with pytest.raises(error):
                call()
        close(module(inputs()).weights.sum(-1), torch.ones(BATCH, HEADS, T).double())


def test_contexts_nest_and_the_outer_one_acts_first():
    model, x = Stack(), inputs()
    before = traces(model)

    def now(heads):
        close(model(x)[0], stack_by_hand(model, x, None, heads)[0])

    with ablate(model, {(0, 0): 0.5, (0, 1): "zero"}):
        now({(0, 0): 0.5, (0, 1): "zero"})
        with ablate(model, {(0, 0): 0.5, (0, 1): "uniform", (1, 2): "zero"}):
            now({(0, 0): 0.25, (0, 1): "zero", (1, 2): "zero"})
        now({(0, 0): 0.5, (0, 1): "zero"})
        with pytest.raises(Stopped), ablate(model, {(0, 2): "zero"}):
            raise Stopped
        now({(0, 0): 0.5, (0, 1): "zero"})
    now({})
    assert traces(model) == before


def test_a_mean_put_in_an_inner_context_takes_the_place_of_a_zero():
    module, x = attention(), inputs()
    with ablate(module, {(0, 0): "zero"}), ablate(module, {(0, 0): "mean"}, means=MEANS[:1]):
        close(module(x).output, by_hand(module, x, kinds={0: "mean"}, means=MEANS[0])[0])


def test_generators_that_end_in_any_order():
    model, x = Stack(), inputs()
    before = traces(model)

    def ablated(head, kind):
        with ablate(model, {(0, head): kind}):
            while True:
                yield model(x)[0]

    one, two = ablated(0, "zero"), ablated(1, "uniform")
    next(one)
    close(next(two), stack_by_hand(model, x, None, {(0, 0): "zero", (0, 1): "uniform"})[0])
    one.close()  # the outer one first
    close(next(two), stack_by_hand(model, x, None, {(0, 1): "uniform"})[0])
    close(model(x)[0], stack_by_hand(model, x, None, {(0, 1): "uniform"})[0])
    two.close()
    close(model(x)[0], stack_by_hand(model, x, None, {})[0])
    assert traces(model) == before


def test_as_a_decorator():
    model, x = Stack(), inputs()

    @ablate(model, {(0, 0): "zero"})
    def run():
        return model(x)[0]

    for _ in range(2):
        close(run(), stack_by_hand(model, x, None, {(0, 0): "zero"})[0])
    close(model(x)[0], stack_by_hand(model, x, None, {})[0])


def test_other_threads_see_their_own_heads():
    model, x = Stack(), inputs()
    chosen = [{(0, 0): "zero"}, {(0, 1): "uniform"}, {(1, 2): 0.5}, {}]
    want = [stack_by_hand(model, x, None, heads)[0] for heads in chosen]
    meet, wrong = threading.Barrier(len(chosen), timeout=30), []

    def run(heads, want):
        meet.wait()
        for _ in range(20):
            with ablate(model, heads):
                got = model(x, None, False)[0]
            if (got - want).abs().max() > 1e-12:
                wrong.append(heads)

    threads = [threading.Thread(target=run, args=both) for both in zip(chosen, want, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    close(model(x)[0], want[-1])


def test_a_context_without_effect_is_not_passed_over_in_silence():
    model, x = Stack(), inputs()
    other = copy.deepcopy(model)
    with (
        pytest.raises(RuntimeError, match=r"'layers.0', 'layers.1' did not run inside"),
        ablate(model, {(0, 0): "zero", (1, 0): "zero"}),
    ):
        other(x)
    with (
        pytest.raises(RuntimeError, match=r"^'layers.1' did not run"),
        ablate(model, {(0, 0): "zero", (1, 0): "zero"}),
    ):
        model.layers[0](x)
    with pytest.raises(RuntimeError, match="did not run"), ablate(model, {}, frozen=[T_MAP] * 2):
        pass

    def elsewhere():
        thread = threading.Thread(target=lambda: model(x))
        thread.start()
        thread.join()

    with (
        pytest.raises(RuntimeError, match="in the thread that entered it"),
        ablate(model, {(0, 0): "zero"}),
    ):
        elsewhere()


T_MAP = torch.eye(T).expand(1, HEADS, T, T)


# Copies, compiled models, wrappers


@pytest.mark.parametrize("make", ["deepcopy", "pickle"])
def test_a_copy_made_inside_is_an_ordinary_model(make):
    model, x = Stack(), inputs()
    with ablate(model, {(0, 0): "zero"}):
        if make == "deepcopy":
            other = copy.deepcopy(model)
        else:
            file = io.BytesIO()
            torch.save(model, file)
            file.seek(0)
            other = torch.load(file, weights_only=False)
        close(other(x)[0], stack_by_hand(model, x, None, {})[0])
        with ablate(other, {(0, 1): "zero"}):
            close(other(x)[0], stack_by_hand(model, x, None, {(0, 1): "zero"})[0])
        close(model(x)[0], stack_by_hand(model, x, None, {(0, 0): "zero"})[0])
        again = copy.deepcopy(other)
    with torch.no_grad():
        model.layers[0].value_proj.weight.zero_()
    for one in (other, again):
        close(one(x)[0], stack_by_hand(one, x, None, {})[0])
        assert (one(x)[0] - model(x)[0]).abs().max() > 1e-3


def test_a_copy_made_before_is_ablated_alone():
    model, x = Stack(), inputs()
    other = copy.deepcopy(model)
    with ablate(other, {(0, 0): "zero"}):
        close(model(x)[0], stack_by_hand(model, x, None, {})[0])
        close(other(x)[0], stack_by_hand(model, x, None, {(0, 0): "zero"})[0])


def test_compiled_models():
    model, x = Stack(), inputs()
    calls = []

    def backend(graph, example):
        calls.append(1)
        return graph.forward

    heads = {(0, 0): "zero", (1, 1): "uniform"}
    want = stack_by_hand(model, x, None, heads)[0]
    compiled = torch.compile(model, backend=backend)
    plain = compiled(x, None, False)[0]
    assert calls, "it was compiled"
    for _ in range(2):
        with ablate(compiled, heads):
            with ablate(compiled, {(0, 0): "uniform"}):
                compiled(x, None, False)
            close(compiled(x, None, False)[0], want)
        with ablate(model, heads):
            close(compiled(x)[0], want)
        close(compiled(x, None, False)[0], plain)
    assert [name for name, _ in attention_modules(compiled)] == [
        "_orig_mod.layers.0",
        "_orig_mod.layers.1",
    ]
    in_place = Stack()
    in_place.compile(backend=backend)
    in_place(x)
    with ablate(in_place, heads):
        close(in_place(x)[0], stack_by_hand(in_place, x, None, heads)[0])


def test_a_compiled_layer_is_one_layer():
    model, x = Stack(), inputs()
    model.layers[0] = torch.compile(model.layers[0], backend="eager")
    assert [name for name, _ in attention_modules(model)] == ["layers.0._orig_mod", "layers.1"]
    plain = model(x)[0]
    with ablate(model, {(0, 0): "zero", ("layers.1", 1): "zero"}):
        got = model(x)[0]
    model.layers[0] = model.layers[0]._orig_mod
    close(got, stack_by_hand(model, x, None, {(0, 0): "zero", (1, 1): "zero"})[0])
    close(plain, stack_by_hand(model, x, None, {})[0])


def test_a_model_that_is_first_compiled_inside():
    model, x = Stack(), inputs()
    with ablate(model, {(0, 0): "zero"}):
        compiled = torch.compile(model, backend="eager")
        close(compiled(x)[0], stack_by_hand(model, x, None, {(0, 0): "zero"})[0])
    close(compiled(x)[0], stack_by_hand(model, x, None, {})[0])


def test_parameters_that_are_put_in_for_a_call():
    module, other, x = attention(), attention(), inputs()
    with ablate(module, {(0, 0): "zero"}):
        got = torch.func.functional_call(module, dict(other.named_parameters()), (x,))
    close(got.output, by_hand(other, x, kinds={0: "zero"})[0])


def test_a_method_that_somebody_has_replaced_is_kept():
    module, x = attention(), inputs()
    plain = module.forward
    module.forward = lambda *args, **kwargs: plain(*args, **kwargs)
    mine, mask = module.forward, causal_mask(T)
    with ablate(module, {(0, 0): "zero", (0, 1): "uniform"}):
        want = by_hand(module, x, mask=mask, kinds={0: "zero", 1: "uniform"})[0]
        close(module(x, mask=mask).output, want)
    assert module.forward is mine
    with ablate(module, {(0, 0): "zero"}):
        inner = module.forward
        module.forward = lambda *args, **kwargs: inner(*args, **kwargs)  # and leaves it there
        left = module.forward
        with ablate(module, {(0, 1): "zero"}):
            close(module(x).output, by_hand(module, x, kinds={0: "zero", 1: "zero"})[0])
    assert module.forward is left and "combine_heads" not in module.__dict__
    close(module(x).output, by_hand(module, x)[0])


# Modules that run several times, and in several places


def test_a_shared_module_is_one_layer_and_is_ablated_at_each_call():
    model, x = Stack(), inputs()
    model.layers[1] = model.layers[0]
    assert [name for name, _ in attention_modules(model)] == ["layers.0"]
    heads = {(0, 0): "zero", (0, 2): "uniform"}
    want = stack_by_hand(model, x, None, {**heads, (1, 0): "zero", (1, 2): "uniform"})[0]
    with ablate(model, heads):
        close(model(x)[0], want)
    with ablate(model, {("layers.1", head): kind for (_, head), kind in heads.items()}):
        close(model(x)[0], want)
    with (
        pytest.raises(ValueError, match=r"head 1 of layer 0 \('layers.0'\) is named twice"),
        ablate(model, {(0, 1): "zero", ("layers.1", 1): "uniform"}),
    ):
        pass


def test_a_model_that_is_called_several_times_with_other_masks():
    model, x = Stack(), inputs()
    heads = {(0, 0): "uniform"}
    with ablate(model, heads):
        for mask in (MASKS["causal"], None, MASKS["padding"], MASKS["causal"]):
            close(model(x, mask)[0], stack_by_hand(model, x, mask, heads)[0])


# Modules of another class


class Louder(MultiHeadAttention):
    """A subclass with its own way to put heads together."""

    def combine_heads(self, weights, value):
        return 2 * super().combine_heads(weights, value)


class Renamed(MultiHeadAttention):
    """A subclass with its own forward: a residual inside, and a mask by keyword only."""

    def forward(self, x, *, mask=None):
        query, key, value = (
            self.split_heads(projection(x))
            for projection in (self.query_proj, self.key_proj, self.value_proj)
        )
        scores = query @ key.mT / self.d_head**0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e9)
        weights = scores.softmax(-1)
        return x + self.output_proj(self.combine_heads(weights, value)), weights


class Fused(Own):
    """Like Own, with the fused kernel: there is no place between weights and values."""

    def forward(self, x, mask=None, *, need_weights=True):
        if need_weights:
            return super().forward(x, mask=mask)
        q, k, v = (
            self.split_heads(projection(x))
            for projection in (self.query_proj, self.key_proj, self.value_proj)
        )
        heads = F.scaled_dot_product_attention(q, k, v, mask)
        return AttentionOutput(self.output_proj(heads.transpose(-2, -3).flatten(-2)), None)


class Bare(nn.Module):
    """An attention with nothing to hold on to."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(D_MODEL, D_MODEL).double()

    def forward(self, x, mask=None, *, need_weights=True):
        return AttentionOutput(self.inner(x), None)


@pytest.mark.parametrize("mask", ["none", "causal", "padding"])
@pytest.mark.parametrize("kind", ["zero", "uniform", "mean", 0.3])
def test_a_subclass_puts_its_heads_together_itself(kind, mask):
    module, x = Louder(D_MODEL, HEADS).double(), inputs()
    with ablate(module, {(0, 1): kind}, means=MEANS[:1]):
        got = module(x, mask=MASKS[mask]).output
        with pytest.raises(RuntimeError, match=r"Louder.forward ran without self.combine_heads"):
            module(x, mask=MASKS[mask], need_weights=False)  # which does not call it
    want = by_hand(module, x, mask=MASKS[mask], kinds={1: kind}, means=MEANS[0])[0]
    close(got, 2 * (want - module.output_proj.bias) + module.output_proj.bias)


@pytest.mark.parametrize("mask", ["none", "causal", "padding"])
@pytest.mark.parametrize("kind", ["zero", "uniform", "mean", 0.3])
def test_a_subclass_with_its_own_forward(kind, mask):
    module, x = Renamed(D_MODEL, HEADS).double(), inputs()
    with ablate(module, {(0, 1): kind}, means=MEANS[:1]):
        got, weights = module(x, mask=MASKS[mask])
    want, computed = by_hand(module, x, mask=MASKS[mask], kinds={1: kind}, means=MEANS[0])
    close(got, x + want)
    if kind != "uniform":
        close(weights, computed)
    else:
        close(weights[:, [0, 2]], computed[:, [0, 2]])
        seen = (computed[:, 1] > 0).double()
        close(weights[:, 1], seen / seen.sum(-1, keepdim=True))


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("kind", ["zero", "uniform", "mean", 0.3])
def test_the_readers_own_class_in_place_of_ours(kind, need_weights):
    model, x, mask = Stack(), inputs(), MASKS["both"]
    own = Own(D_MODEL, HEADS)
    own.load_state_dict(model.layers[1].state_dict())
    model.layers[1] = own
    heads = {(0, 2): "zero", (1, 1): kind}
    with ablate(model, heads, means=MEANS):
        got, weights = model(x, mask, need_weights)
    close(got, stack_by_hand(model, x, mask, heads, means=MEANS)[0])
    if need_weights and kind == "uniform":
        close(weights[1][0, 1, 4], torch.tensor([1, 1, 0, 0, 0]).double() / 2)
    else:
        assert need_weights or weights == [None, None]


def test_a_class_that_passes_combine_heads_by_is_told_so():
    module, x = Fused(D_MODEL, HEADS), inputs()
    with ablate(module, {(0, 1): "zero"}):
        close(module(x).output, by_hand(module, x, kinds={1: "zero"})[0])
        with pytest.raises(RuntimeError, match=r"Fused.forward ran without self.combine_heads"):
            module(x, need_weights=False)
    close(module(x, need_weights=False).output, by_hand(module, x)[0])


class Additive(Own):
    """Takes what is added to the scores in place of a mask."""

    def forward(self, x, added=None):
        query, key, value = (
            self.split_heads(projection(x))
            for projection in (self.query_proj, self.key_proj, self.value_proj)
        )
        scores = query @ key.mT / self.d_head**0.5 + (0.0 if added is None else added)
        return self.output_proj(self.combine_heads(scores.softmax(-1), value))


class CalledMask(Additive):
    """Calls it a mask all the same."""

    def forward(self, x, mask=None):
        return super().forward(x, mask)


@pytest.mark.parametrize("kind", ["uniform", "mean"])
def test_a_class_that_does_not_tell_its_mask_is_refused_where_it_matters(kind):
    module, x = Additive(D_MODEL, HEADS), inputs()
    added = torch.where(causal_mask(T), 0.0, -torch.inf)
    with ablate(module, {(0, 1): "zero", (0, 0): 0.5}):
        got = module(x, added)
    close(got, by_hand(module, x, mask=causal_mask(T), kinds={1: "zero", 0: 0.5})[0])
    with (
        pytest.raises(TypeError, match=f"Additive, must have a parameter mask .*'{kind}' needs"),
        ablate(module, {(0, 1): kind}, means=MEANS[:1]),
    ):
        pass
    module = CalledMask(D_MODEL, HEADS)
    with (
        pytest.raises(TypeError, match=r"mask must be boolean.*got torch.float"),
        ablate(module, {(0, 1): kind}, means=MEANS[:1]),
    ):
        module(x, mask=added)


def test_combine_heads_called_by_somebody_else_is_left_alone():
    module, x = attention(), inputs()
    weights, value = torch.rand(BATCH, HEADS, T, T), torch.rand(BATCH, HEADS, T, D_HEAD)
    want = module.combine_heads(weights, value)
    with ablate(module, {(0, 0): "zero"}):
        module(x)
        assert torch.equal(module.combine_heads(weights, value), want)


def test_heads_that_are_not_where_they_should_be():
    class Flat(Own):
        def split_heads(self, x):
            return x.unsqueeze(-3)  # one head that is all

    module = Flat(D_MODEL, HEADS)
    module.d_head = D_MODEL
    with (
        pytest.raises(ValueError, match=r"weights \(..., 3, T_q, T_k\).*got \(2, 1, 5, 5\)"),
        ablate(module, {(0, 0): "zero"}),
    ):
        module(inputs())


# With a capture


@pytest.mark.parametrize("order", ["capture inside", "capture outside"])
@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("chosen", [*CHOSEN, "frozen"])
def test_a_capture_shows_the_weights_that_were_used(chosen, need_weights, order):
    model, x, mask = Stack(), inputs(), MASKS["both"]
    frozen = None
    if chosen == "frozen":
        frozen = recorded_run(model, x, mask)[0]
    heads = CHOSEN.get(chosen, {(0, 1): "zero", (1, 0): "uniform"})
    with ablate(model, heads, means=MEANS, frozen=frozen):
        want, weights = model(x, mask)
    if order == "capture inside":
        with (
            ablate(model, heads, means=MEANS, frozen=frozen),
            capture_attention(model) as captured,
        ):
            got = model(x, mask, need_weights)[0]
    else:
        with (
            capture_attention(model) as captured,
            ablate(model, heads, means=MEANS, frozen=frozen),
        ):
            got = model(x, mask, need_weights)[0]
    close(got, want)
    assert [m.name for m in captured] == ["layers.0", "layers.1"]
    for seen, used in zip(captured, weights, strict=True):
        close(seen.weights, used.detach())


def test_a_capture_around_and_a_shorter_ablation_in_it():
    model, x = Stack(), inputs()
    plain = model(x)[1]
    with capture_attention(model) as captured:
        model(x)
        with ablate(model, {(0, 0): "uniform"}):
            model(x)
        model(x)
    first, second, third = captured["layers.0"]
    assert torch.equal(first.weights, third.weights)
    close(first.weights, plain[0].detach())
    close(second.weights[:, 0], torch.full((BATCH, T, T), 1 / T, dtype=torch.float64))


# What is refused


def test_attention_modules_come_in_the_order_of_the_model():
    model = nn.ModuleDict({"b": attention(), "a": nn.Sequential(nn.Linear(2, 2), attention())})
    assert attention_modules(model) == [("b", model["b"]), ("a.1", model["a"][1])]
    assert attention_modules(model["b"]) == [("", model["b"])]
    own = nn.ModuleList([Own(D_MODEL, HEADS), Renamed(D_MODEL, HEADS)])
    assert [name for name, _ in attention_modules(own)] == ["0", "1"]


def stranger(module, name="attention"):
    model = Stack()
    model.layers[1] = nn.ModuleDict({name: module})
    return model


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("no module", "model must be a torch.nn.Module, got str"),
        (nn.Linear(3, 3), "Linear has no attention whose heads can be taken out. What is wanted"),
        (nn.MultiheadAttention(4, 2), r"'MultiheadAttention' \(torch.*copy its weights"),
        (nn.TransformerEncoderLayer(4, 2, 3), r"'self_attn' \(torch.nn.*MultiheadAttention\)"),
        (stranger(nn.MultiheadAttention(4, 2), "x"), r"'layers.1.x' .*counted wrongly"),
        (stranger(Bare()), r"'layers.1.attention' .*Bare\).*split_heads\(projected\) and combine"),
    ],
    ids=["str", "linear", "torch", "encoder", "mixed", "bare"],
)
def test_a_model_with_other_attention_is_refused(model, words):
    with pytest.raises(TypeError, match=words), ablate(model, {(0, 0): "zero"}):
        pass
    with pytest.raises(TypeError, match=words):
        attention_modules(model)


MODEL = Stack()


@pytest.mark.parametrize(
    ("heads", "options", "error", "words"),
    [
        ([(0, 1)], {}, TypeError, r"heads must be a dict .*got list.*dict.fromkeys"),
        ({0: "zero"}, {}, TypeError, r"keys \(layer, head\), got 0"),
        ({(0, 1, 2): "zero"}, {}, TypeError, r"keys \(layer, head\), got \(0, 1, 2\)"),
        ({(2, 0): "zero"}, {}, ValueError, "layer must be below 2, got 2"),
        ({(-1, 0): "zero"}, {}, ValueError, "layer must be at least 0, got -1"),
        (
            {(0, 3): "zero"},
            {},
            ValueError,
            r"head must be below 3 in layer 0 \('layers.0'\), got 3",
        ),
        ({(0, -1): "zero"}, {}, ValueError, "head must be at least 0, got -1"),
        ({(0.0, 1): "zero"}, {}, TypeError, "layer must be an integer"),
        ({(0, "1"): "zero"}, {}, TypeError, "head must be an integer"),
        ({(0, True): "zero"}, {}, TypeError, "head must be an integer"),
        ({("layer.0", 1): "zero"}, {}, ValueError, "'layer.0' names no attention.*'layers.0'"),
        ({("layers", 1): "zero"}, {}, ValueError, "'layers' names no attention"),
        (
            {(0, 1): "zero", ("layers.0", 1): "zero"},
            {},
            ValueError,
            r"head 1 of layer 0 \('layers.0'\) is named twice",
        ),
        ({(0, 1): "zeros"}, {}, ValueError, r"must be one of 'zero', .*got 'zeros'.*'zero' meant"),
        ({(0, 1): "off"}, {}, ValueError, r"head \(0, 1\) must be one of .*a gate.*'off'.$"),
        ({(0, 1): None}, {}, TypeError, r"the kind of head \(0, 1\) must be a number.*named kinds"),
        ({(0, 1): True}, {}, TypeError, "must be a number"),
        ({(0, 1): 1.01}, {}, ValueError, "a gate, which must be from 0 to 1, got 1.01"),
        ({(0, 1): -0.1}, {}, ValueError, "from 0 to 1, got -0.1"),
        ({(0, 1): math.nan}, {}, ValueError, "must be finite"),
        ({(0, 1): torch.tensor(2.0)}, {}, ValueError, "from 0 to 1, got 2.0"),
        ({(0, 1): torch.tensor(math.nan)}, {}, ValueError, "from 0 to 1, got nan"),
        ({(0, 1): torch.ones(2)}, {}, TypeError, r"one number from 0 to 1, got a tensor"),
        (
            {(0, 1): torch.tensor(1)},
            {},
            TypeError,
            "one number from 0 to 1, got a tensor of torch.i",
        ),
        ({(0, 1): "mean"}, {}, ValueError, "there are no means.*mean_outputs"),
        ({(0, 1): "mean"}, {"means": MEANS[:1]}, ValueError, "each of the 2 layers.*got 1"),
        ({(0, 1): "mean"}, {"means": [0.0, 1.0]}, TypeError, r"a tensor \(heads, d_head\)"),
        (
            {(0, 1): "mean"},
            {"means": [MEANS[0], MEANS[1][:2]]},
            ValueError,
            r"means\[1\] must have the shape \(3, d_head\) for the layer 'layers.1', got \(2, 4\)",
        ),
        ({}, {"frozen": "weights"}, TypeError, "what capture_attention recorded"),
        ({}, {"frozen": [T_MAP]}, ValueError, "frozen must have one entry for each of the 2"),
        ({}, {"frozen": [T_MAP, 3 * T_MAP]}, ValueError, r"frozen\[1\] must sum to 1"),
        (
            {},
            {"frozen": [T_MAP, None]},
            TypeError,
            r"frozen\[1\] must be attention weights, got None",
        ),
    ],
)
def test_what_is_refused_is_named(heads, options, error, words):
    before = traces(MODEL)
    with pytest.raises(error, match=words), ablate(MODEL, heads, **options):
        pass
    assert traces(MODEL) == before


def test_numbers_of_numpy_are_numbers():
    model, x = Stack(), inputs()
    with ablate(model, {(np.int64(0), np.int32(1)): np.float32(0.5)}):
        close(model(x)[0], stack_by_hand(model, x, None, {(0, 1): 0.5})[0])


def test_a_capture_of_a_part_cannot_freeze_the_whole():
    model, x = Stack(), inputs()
    with capture_attention(model, only="layers.0") as captured:
        model(x)
    with (
        pytest.raises(ValueError, match=r"no weights of 'layers.1', but of 'layers.0'"),
        ablate(model, {}, frozen=captured),
    ):
        pass


def test_a_mean_of_the_wrong_size_is_refused_when_it_is_put_in():
    module = attention()
    means = mean_outputs(module, [inputs()])
    with (
        pytest.raises(ValueError, match="means must have 4 numbers a head, as the values, got 5"),
        ablate(module, {(0, 0): "mean"}, means=[F.pad(means[0], (0, 1))]),
    ):
        module(inputs())
