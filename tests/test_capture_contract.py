"""capture_attention: what it says, what it refuses, and that nothing of it stays behind."""

import copy
import gc
import math
import pickle
import threading
import weakref

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention.bias import causal_lower_right, causal_upper_left
from torch.overrides import TorchFunctionMode, has_torch_function
from torch.utils.checkpoint import checkpoint

from attnkit import MultiHeadAttention, ScaledDotProductAttention, causal_mask
from attnkit.capture import Attended, capture_attention

BATCH, T, D_MODEL, HEADS = 2, 5, 12, 3
X = torch.randn(BATCH, T, D_MODEL, generator=torch.Generator().manual_seed(3))


@pytest.fixture(autouse=True)
def nothing_stays_behind():
    torch.manual_seed(11)
    yield
    assert not has_torch_function((torch.ones(2),))  # true while a mode is active


class Attends(nn.Module):
    """Projects and calls the fused function, with dropout as it was told."""

    def __init__(self, dropout=0.0):
        super().__init__()
        self.projection, self.dropout = nn.Linear(D_MODEL, 3 * D_MODEL), dropout

    def forward(self, x):
        q, k, v = (
            part.unflatten(-1, (HEADS, -1)).transpose(1, 2)
            for part in self.projection(x).chunk(3, -1)
        )
        return F.scaled_dot_product_attention(q, k, v, dropout_p=self.dropout)


class ByHand(nn.Module):
    """What capture cannot see: a softmax written out."""

    def forward(self, x):
        weights = (x @ x.mT / math.sqrt(D_MODEL)).softmax(-1)
        return weights @ x, weights


class Stack(nn.Module):
    def __init__(self, *layers):
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
            x = x.transpose(1, 2).flatten(-2) if x.ndim == 4 else x
        return x


def encoder(dropout=0.0, layers=2):
    layer = nn.TransformerEncoderLayer(D_MODEL, 2, 17, dropout, batch_first=True)
    return nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)


def names(captured):
    return [(found.name, found.call) for found in captured]


# what is said at the end


def test_a_model_that_was_not_called():
    with (
        pytest.raises(RuntimeError, match=r"ByHand was not called inside the context.*with"),
        capture_attention(ByHand()),
    ):
        ByHand()(X)


def test_a_softmax_by_hand_is_an_error_that_says_what_to_do():
    model = ByHand()
    words = r"(?s)no attention was seen.*dot_product_attention.*readers=.*eager.*output_att"
    with pytest.raises(RuntimeError, match=words), capture_attention(model):
        model(X)


def test_an_error_in_the_body_is_left_alone():
    with pytest.raises(KeyError, match="mine") as caught, capture_attention(ByHand()):
        raise KeyError("mine")
    assert caught.value.__context__ is None


def test_attention_outside_the_model_does_not_count():
    inside, outside = Attends(), Attends()
    with capture_attention(inside) as captured:
        outside(X)
        F.scaled_dot_product_attention(X, X, X)
        assert not captured.maps
        inside(X)
        outside(X)
    assert names(captured) == [("", 0)]


# dropout


def test_maps_of_a_model_that_trains_are_those_before_dropout():
    model = encoder(dropout=0.3)
    attention = model.layers[0].self_attn
    state = torch.random.get_rng_state()
    plain = model(X)
    torch.random.set_rng_state(state)
    words = r"dropout 0\.3 .*'layers\.0\.self_attn' and 1 other module.*before it.*model\.eval\(\)"
    with pytest.warns(UserWarning, match=words) as warned, capture_attention(model) as captured:
        got = model(X)
    assert torch.equal(got, plain)
    assert [warning.filename for warning in warned] == [__file__]
    want = attention.eval()(X, X, X, average_attn_weights=False)[1]
    torch.testing.assert_close(captured.maps[0].weights, want.detach(), rtol=0, atol=1e-6)


@pytest.mark.parametrize("need_weights", [True, False])
def test_our_module_in_training(need_weights):
    module = MultiHeadAttention(D_MODEL, HEADS, dropout=0.4)
    with pytest.warns(UserWarning, match=r"dropout 0\.4"), capture_attention(module) as captured:
        module(X, need_weights=need_weights)
    want = module.eval()(X).weights
    torch.testing.assert_close(captured.maps[0].weights, want.detach(), rtol=0, atol=1e-6)
    dot = ScaledDotProductAttention(dropout=0.4)
    with pytest.warns(UserWarning, match=r"dropout 0\.4"), capture_attention(dot) as captured:
        _, weights = dot(X, X, X)
    torch.testing.assert_close(captured.maps[0].weights[:, 0], weights, rtol=0, atol=0)


def test_dropout_that_stays_on_in_eval_is_named():
    model = Attends(dropout=0.5).eval()
    words = r"'Attends': .*stays on in eval unless the module passes dropout_p=0\.0"
    with pytest.warns(UserWarning, match=words), capture_attention(model) as captured:
        model(X)
    sums = captured.maps[0].weights.sum(-1)
    torch.testing.assert_close(sums, torch.ones(BATCH, HEADS, T))


def test_a_training_step_inside_is_the_same_step():
    one = encoder(dropout=0.3)
    two = copy.deepcopy(one)
    results = []
    for model in (one, two):
        torch.manual_seed(5)
        optimizer = torch.optim.AdamW(model.parameters())
        for _ in range(2):
            if model is two:
                with pytest.warns(UserWarning, match="dropout"), capture_attention(model):
                    loss = model(X).square().mean()
                    loss.backward()
            else:
                model(X).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
        results.append([parameter.detach() for parameter in model.parameters()])
    for before, after in zip(*results, strict=True):
        assert torch.equal(before, after)


# calls


def test_calls_of_one_layer_are_kept_apart():
    shared = Attends()
    model = Stack(shared, Attends(), shared)
    with capture_attention(model) as captured:
        model(X)
        model(X)
    want = [("layers.0", 0), ("layers.1", 0), ("layers.0", 1)]
    want += [("layers.0", 2), ("layers.1", 1), ("layers.0", 3)]
    assert names(captured) == want
    first, third = captured.maps[0].weights, captured.maps[2].weights
    assert not torch.equal(first, third)
    torch.testing.assert_close(first, captured.maps[3].weights)
    assert [found.call for found in captured["layers.0"]] == [0, 1, 2, 3]


def test_a_loop_that_grows_its_input_keeps_every_step():
    model = encoder().eval()
    with capture_attention(model, only="layers.1") as captured, torch.no_grad():
        for length in range(1, T + 1):
            model(X[:, :length], mask=~causal_mask(length), is_causal=True)
    assert [tuple(found.weights.shape[2:]) for found in captured] == [
        (length, length) for length in range(1, T + 1)
    ]


def test_methods_other_than_forward_are_inside_the_model():
    class Generates(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = Attends()

        def generate(self, x):
            return F.scaled_dot_product_attention(x, x, x), self.layer(x)

    model = Generates()
    with capture_attention(model) as captured:
        model.generate(X)
    assert names(captured) == [("", 0), ("layer", 0)]


@pytest.mark.parametrize("reentrant", [True, False])
@pytest.mark.parametrize("backward", [torch.Tensor.backward, torch.autograd.backward])
def test_a_checkpointed_layer_is_not_counted_again_in_the_backward_pass(reentrant, backward):
    model = nn.ModuleList([encoder(layers=1), MultiHeadAttention(D_MODEL, HEADS)])

    def run(x):
        return model[1](model[0](x)).output

    with capture_attention(model) as captured:
        for _ in range(2):
            x = X.clone().requires_grad_()
            backward(checkpoint(run, x, use_reentrant=reentrant).sum())
    assert names(captured) == [(name, i) for i in (0, 1) for name in ("0.layers.0.self_attn", "1")]


def test_captures_in_each_other_and_one_after_the_other():
    model = encoder().eval()
    with capture_attention(model) as outer:
        model(X)
        with capture_attention(model.layers[1]) as inner:
            model(X)
        with capture_attention(model) as second:
            model(X)
    assert names(inner) == [("self_attn", 0)]
    assert names(second) == [("layers.0.self_attn", 0), ("layers.1.self_attn", 0)]
    assert len(outer) == 6
    for got, want in zip(second, outer.maps[4:], strict=True):
        assert torch.equal(got.weights, want.weights)


def test_nested_captures_see_dropout_once_each():
    model = Attends(dropout=0.5)
    with pytest.warns(UserWarning, match="dropout"), capture_attention(model) as outer:
        with capture_attention(model) as inner:
            model(X)
    assert names(outer) == names(inner) == [("", 0)]


# nothing leaks


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_forward_that_raises_leaves_names_right(error):
    model = encoder()

    def stop(*_):
        raise error("stop")

    handle = model.layers[1].register_forward_pre_hook(stop)
    with capture_attention(model) as captured:
        with pytest.raises(error, match="stop"):
            model(X)
        handle.remove()
        model(X)
    assert names(captured) == [
        ("layers.0.self_attn", 0),
        ("layers.0.self_attn", 1),
        ("layers.1.self_attn", 0),
    ]


def test_the_model_carries_nothing():
    model = encoder()
    functions = F.scaled_dot_product_attention, F.multi_head_attention_forward
    before = [dict(module.__dict__) for module in model.modules()]
    with capture_attention(model) as captured:
        inside = [dict(module.__dict__) for module in model.modules()]
        assert (F.scaled_dot_product_attention, F.multi_head_attention_forward) == functions
        copied = copy.deepcopy(model)
        copied(X)
        model(X)
    assert inside == before
    assert len(captured) == 2


def test_hooks_that_read_our_modules_are_taken_off():
    model = nn.ModuleList([MultiHeadAttention(D_MODEL, HEADS), ByHand()])
    with pytest.raises(KeyError), capture_attention(model, readers={ByHand: read}) as captured:
        copied = copy.deepcopy(model)
        copied[0](X)
        model[0](X)
        assert len(captured) == 1
        raise KeyError
    assert not any(module._forward_hooks for module in model.modules())
    copied[1](X)
    assert len(captured) == 1


def test_copies_and_files_made_inside_can_be_read_and_tell_nobody():
    model = MultiHeadAttention(D_MODEL, HEADS)
    with capture_attention(model) as captured:
        copied, stored = copy.deepcopy(model), pickle.dumps(model)
        read_back = pickle.loads(stored)
        for module in (model, copied, read_back):
            module(X)
    assert len(captured) == 1
    pickle.dumps(copied)


def test_what_the_caller_lets_go_is_freed():
    model = encoder()
    with capture_attention(model) as captured:
        model(torch.relu(X))  # a call from this frame, not from the model
    gone = [weakref.ref(model), weakref.ref(captured.maps[0].weights)]
    del model, captured
    gc.collect()
    assert [ref() for ref in gone] == [None, None]


@pytest.mark.filterwarnings("ignore:.*torch.jit")
def test_a_scripted_module_cannot_be_watched():
    model = torch.jit.trace(Attends(), X)
    words = "capture the module that it was made from"
    with pytest.raises(RuntimeError, match=words), capture_attention(model):
        model(X)


def test_maps_do_not_change_when_the_caller_changes_what_it_got():
    module = MultiHeadAttention(D_MODEL, HEADS)
    with capture_attention(module) as captured, torch.no_grad():
        _, weights = module(X)
        weights.zero_()
    assert captured.maps[0].weights.any()


def test_other_modes_stay_in_their_places():
    class Counts(TorchFunctionMode):
        calls = 0

        def __torch_function__(self, func, types, args=(), kwargs=None):
            self.calls += func is F.scaled_dot_product_attention
            return func(*args, **(kwargs or {}))

    model = Attends()
    with Counts() as outside, torch.device("cpu"), capture_attention(model) as captured:
        with Counts() as inside:
            model(X)
    assert len(captured) == outside.calls == inside.calls == 1


def test_a_thread_of_its_own():
    model, found = Attends(), []

    def run():
        with capture_attention(model) as captured:
            model(X)
        found.extend(captured.maps)

    with capture_attention(model) as captured:
        model(X)
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    assert len(captured) == len(found) == 1
    assert torch.equal(found[0].weights, captured.maps[0].weights)


def test_a_hook_of_another_thread_is_called_without_keywords():
    model = MultiHeadAttention(D_MODEL, HEADS)
    with capture_attention(model) as captured:
        model(X)
        keywords = dict(model._forward_hooks_with_kwargs)
        model._forward_hooks_with_kwargs.clear()  # a race between two captures leaves this
        model(X)
        model._forward_hooks_with_kwargs.update(keywords)
    assert len(captured) == 1


def test_a_call_in_another_thread_is_not_seen_and_said():
    model = Attends()
    with (
        pytest.raises(RuntimeError, match="in the thread that entered it"),
        capture_attention(model),
    ):
        thread = threading.Thread(target=model, args=(X,))
        thread.start()
        thread.join()


def test_a_compiled_model_runs_uncompiled_meanwhile():
    torch._dynamo.reset()
    runs = []

    def backend(graph, example_inputs):
        def run(*args):
            runs.append(1)
            return graph.forward(*args)

        return run

    model = Attends()
    compiled = torch.compile(model, backend=backend)
    plain = compiled(X)
    assert runs == [1]
    with capture_attention(model) as captured:
        got = compiled(X)
    assert runs == [1] and torch.equal(got, plain)
    assert names(captured) == [("", 0)]
    compiled(X)
    assert runs == [1, 1]


# what cannot be read


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors is in prototype")
def test_nested_tensors_are_refused_with_the_cure():
    class Own(nn.Module):
        def forward(self, x):
            return F.scaled_dot_product_attention(x, x, x)

    sequences = [torch.randn(n, HEADS, 8) for n in (3, 5)]
    x = torch.nested.nested_tensor(sequences, layout=torch.jagged).transpose(1, 2)
    model = Own()
    with pytest.raises(NotImplementedError, match="Pad the sequences"), capture_attention(model):
        model(x)


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors is in prototype")
def test_an_encoder_that_is_given_nested_tensors_says_so():
    model = encoder().eval()
    x = torch.nested.nested_tensor([torch.randn(3, D_MODEL), torch.randn(5, D_MODEL)])
    with pytest.raises(AssertionError, match="NestedTensor") as caught, torch.no_grad():
        with capture_attention(model):
            model(x)
    assert "key_padding_mask" in caught.value.__notes__[0]


@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_vmap_is_refused():
    model = Attends()
    with pytest.raises(RuntimeError, match="vmap") as caught, capture_attention(model):
        torch.func.vmap(model)(torch.stack([X, X]))
    assert "give the model a batch" in caught.value.__notes__[0]


@pytest.mark.parametrize("sizes", [(0, T), (BATCH, 0), (1, 1)])
def test_batches_and_sequences_of_none_and_one(sizes):
    model = Attends()
    with capture_attention(model) as captured:
        model(torch.randn(*sizes, D_MODEL))
    assert captured.maps[0].weights.shape == (sizes[0], HEADS, sizes[1], sizes[1])


@pytest.mark.parametrize("bias, offset", [(causal_lower_right, 2), (causal_upper_left, 0)])
def test_causal_biases_of_pytorch(bias, offset):
    class Own(nn.Module):
        def forward(self, q, k):
            return F.scaled_dot_product_attention(q, k, k, attn_mask=bias(5, 7))

    model = Own()
    with capture_attention(model) as captured:
        model(torch.randn(BATCH, HEADS, 5, 8), torch.randn(BATCH, HEADS, 7, 8))
    seen = captured.maps[0].weights[0, 0] > 0
    assert torch.equal(seen, torch.ones(5, 7).tril(offset).bool())


# the proof


def test_a_wrong_map_is_an_error(monkeypatch):
    from attnkit.capture import recompute

    right = recompute.softmax_weights
    monkeypatch.setattr(recompute, "softmax_weights", lambda *args: right(*args).flip(-1))
    for model in (Attends(), encoder().eval()):
        words = r"the map of .* is not proved: .* differ by"
        with pytest.raises(RuntimeError, match=words), capture_attention(model):
            model(X)


@pytest.mark.parametrize("error", [1e-3, 1e-4])
def test_the_proof_sees_small_errors(monkeypatch, error):
    from attnkit.capture import recompute

    right = recompute.softmax_weights

    def wrong(*args):
        weights = right(*args)
        weights[0, 0, 0, 0] += error
        return weights

    monkeypatch.setattr(recompute, "softmax_weights", wrong)
    model = Attends()
    with pytest.raises(RuntimeError, match="not proved"), capture_attention(model):
        model(X)


def test_an_output_projection_of_rank_zero_hides_nothing(monkeypatch):
    from attnkit.capture import recompute

    module = nn.MultiheadAttention(D_MODEL, HEADS, batch_first=True)
    nn.init.zeros_(module.out_proj.weight)
    right = recompute.softmax_weights
    monkeypatch.setattr(recompute, "softmax_weights", lambda *args: right(*args).flip(-1))
    with pytest.raises(RuntimeError, match="not proved"), capture_attention(module):
        module(X, X, X, need_weights=False)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("size", [1e-3, 1.0, 30.0])
def test_rounding_is_no_error(dtype, size):
    model = Stack(Attends(), nn.TransformerEncoderLayer(D_MODEL, 2, 17, 0.0, batch_first=True))
    ours = MultiHeadAttention(D_MODEL, HEADS)
    x = (size * torch.randn(3, 61, D_MODEL)).to(dtype)
    for module in (model.to(dtype), ours.to(dtype)):
        with capture_attention(module) as captured:
            module(x)
        sums = captured.maps[-1].weights.sum(-1).float()
        torch.testing.assert_close(sums, torch.ones_like(sums), rtol=0, atol=0.02)


# readers


def read(module, args, kwargs, output):
    return Attended(output[1], args[0], output[0], "self")


def test_a_reader_for_a_softmax_by_hand():
    model = ByHand()
    with capture_attention(model, readers={ByHand: read}) as captured:
        _, weights = model(X)
    (found,) = captured
    assert found.kind == "self" and torch.equal(found.weights[:, 0], weights)


def test_a_reader_is_inherited_and_must_prove_its_map():
    class Child(ByHand):
        pass

    def wrong(module, args, kwargs, output):
        return Attended(output[1].mT, args[0], output[0])

    model = Child()
    with capture_attention(model, readers={ByHand: read}) as captured:
        model(X)
    assert len(captured) == 1
    with pytest.raises(RuntimeError, match=r"not proved.*reader"):
        with capture_attention(model, readers={ByHand: wrong}):
            model(X)


def test_hooks_that_change_the_output_come_later():
    models = ScaledDotProductAttention(), MultiHeadAttention(D_MODEL, HEADS)
    for model, arguments in zip(models, ((X, X, X), (X,)), strict=True):
        model.register_forward_hook(lambda module, args, out: out.output * 2)
        with capture_attention(model) as captured:
            assert torch.equal(model(*arguments), model(*arguments))
        assert [found.call for found in captured] == [0, 1]


def test_a_subclass_that_returns_something_else_needs_its_own_reader():
    class Child(MultiHeadAttention):
        def forward(self, x):
            return super().forward(x).output

    model = Stack(Child(D_MODEL, HEADS))
    words = r"reader of 'layers\.0' does not fit its class, Child: .*readers=\{Child: \.\.\.\}"
    with pytest.raises(RuntimeError, match=words), capture_attention(model):
        model(X)


# only


def test_only_keeps_what_is_named_and_what_is_in_it():
    model = nn.ModuleDict({"one": encoder().eval(), "onerous": encoder().eval()})
    with capture_attention(model, only=["one", "onerous.layers.1"]) as captured:
        model["one"](X)
        model["onerous"](X)
    assert [found.name for found in captured] == [
        "one.layers.0.self_attn",
        "one.layers.1.self_attn",
        "onerous.layers.1.self_attn",
    ]


def test_a_shared_module_is_known_by_all_its_names():
    shared = encoder(layers=1)
    model = nn.ModuleDict({"one": shared, "two": nn.ModuleList([shared]), "three": encoder()})
    for only in ("two", "two.0.layers"):
        with capture_attention(model, only=only) as captured:
            model["two"][0](X)
            model["three"](X)
        assert names(captured) == [("one.layers.0.self_attn", 0)]


def test_only_without_attention_names_where_there_is_some():
    model = encoder()
    words = (
        r"no attention ran in 'layers\.1\.linear1'.*'layers\.0\.self_attn', 'layers\.1\.self_attn'"
    )
    with pytest.raises(RuntimeError, match=words):
        with capture_attention(model, only="layers.1.linear1"):
            model(X)


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda: capture_attention(lambda x: x), TypeError, r"torch\.nn\.Module, got function"),
        (lambda: capture_attention(encoder(), only="layers.7"), ValueError, r"'layers\.0'"),
        (lambda: capture_attention(encoder(), only=[0]), TypeError, "names of modules, got 0"),
        (lambda: capture_attention(encoder(), only=0), TypeError, "names of modules, got 0"),
        (lambda: capture_attention(encoder(), only=[]), ValueError, "no name"),
    ],
)
def test_refusals(call, error, words):
    with pytest.raises(error, match=words), call():
        pass


# what is handed back


def test_maps_unpack_and_print_short():
    model = encoder()
    with capture_attention(model) as captured:
        model(X)
    name, call, kind, weights = captured.maps[1]
    assert (name, call, kind, weights.shape) == ("layers.1.self_attn", 0, "self", (BATCH, 2, T, T))
    assert repr(captured.maps[1]) == (
        "AttentionMap(name='layers.1.self_attn', call=0, kind='self', weights=(2, 2, 5, 5))"
    )
    assert "layers.0.self_attn  call 0  self     (2, 2, 5, 5)" in repr(captured)
    assert len(captured) == len(captured.of("self")) == 2
    with pytest.raises(ValueError, match="no map is of the kind 'cross'; there are: 'self'"):
        captured.of("cross")
    with pytest.raises(KeyError, match=r"no map of 'layers\.2'; there are: 'layers\.0\.self_attn'"):
        captured["layers.2"]
    with pytest.raises(TypeError, match=r"captured\.maps\[0\]"):
        captured[0]
