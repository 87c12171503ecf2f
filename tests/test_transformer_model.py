"""The encoder-decoder of transformer layers: PyTorch's stacks, the interface of Seq2Seq, caches."""

import copy
import json

import pytest
import torch
import torch.nn.functional as F
from pytorch_layers import DECODER, ENCODER, stack_by_their_names
from torch import nn

from attnkit import MultiHeadAttention, SinusoidalEncoding
from attnkit.ablation import ablate, attention_modules, head_importance, mean_outputs
from attnkit.capture import capture_attention
from attnkit.checkpoints import load, save
from attnkit.functional import AttentionOutput
from attnkit.grouped_query import GroupedQueryAttention
from attnkit.numerals import to_english
from attnkit.seq2seq import Seq2Seq, Translation, exact_match, shifted_right
from attnkit.tasks import Batch, ChineseNumerals, Vocabulary
from attnkit.training import fit
from attnkit.transformer import KeyValueCache, Transformer, TransformerMaps

TASK = ChineseNumerals(digits=(1, 7))
VOCABULARIES = TASK.source_vocabulary, TASK.target_vocabulary
N_WORDS = len(TASK.target_vocabulary)
NUMBERS = (3, 120_304, 10, 7_777_777, 90_000)  # numerals of 1, 8, 1, 13 and 2 characters
BATCH = TASK.batch(NUMBERS)
PREVIOUS = shifted_right(BATCH.target)
N_SOURCE, N_TARGET = BATCH.source.shape[1], BATCH.target.shape[1]
HEADS, LAYERS, D_MODEL, D_HIDDEN = 3, 2, 18, 11
NORMS = pytest.mark.parametrize("norm_first", [True, False], ids=["pre-norm", "post-norm"])
CACHE = pytest.mark.parametrize("cache", [True, False], ids=["cached", "computed again"])


def build(seed=3, dtype=torch.float64, **options):
    torch.manual_seed(seed)
    sizes = {"d_model": D_MODEL, "num_heads": HEADS, "num_layers": LAYERS, "d_hidden": D_HIDDEN}
    return Transformer(*VOCABULARIES, **sizes | options).to(dtype)


def drawn(model):
    """No bias is zero and no scale is one: a part left out would show."""
    torch.manual_seed(4)
    for parameter in model.parameters():
        nn.init.normal_(parameter, 0.1, 0.3)
    return model


@pytest.fixture(scope="module")
def trained():
    """A model that has learned numbers of one and two digits."""
    task = ChineseNumerals(digits=(1, 2))
    torch.manual_seed(0)
    model = Transformer(*VOCABULARIES, d_model=24, num_heads=3, d_hidden=36)
    fit(model, lambda step: task.training_batch(step, 24), steps=150, lr=1e-2, progress=False)
    return model.double()


def close(ours, theirs, at_most=1e-12):
    torch.testing.assert_close(ours, theirs, atol=at_most, rtol=at_most)


def padded(batch, more=4, source_id=0):
    """The same batch with more padding on both sides; the source's padding holds any token."""
    source = F.pad(batch.source, (0, more))
    places = torch.arange(source.shape[1])
    source = source.where(places < batch.source_lengths[:, None], source_id)
    return batch._replace(source=source, target=F.pad(batch.target, (0, more)))


def results(model, batch):
    """Loss and gradients."""
    model.zero_grad()
    loss = model.loss(batch)
    loss.backward()
    return loss.detach(), {name: p.grad.clone() for name, p in model.named_parameters()}


def embedded(embedding, ids):
    """√d_model times the embedding, plus the sines and cosines."""
    return SinusoidalEncoding(D_MODEL)(embedding(ids) * D_MODEL**0.5)


# PyTorch's stacks


OUTSIDE = ("source_embedding", "target_embedding", "readout")


class PyTorchs(nn.Module):
    """nn.TransformerEncoder and nn.TransformerDecoder between our embeddings and our read-out."""

    def __init__(self, ours, norm_first):
        super().__init__()
        options = {"dropout": 0.0, "batch_first": True, "norm_first": norm_first}
        norms = [nn.LayerNorm(D_MODEL) if norm_first else None for _ in range(2)]
        encoder = nn.TransformerEncoderLayer(D_MODEL, HEADS, D_HIDDEN, **options)
        decoder = nn.TransformerDecoderLayer(D_MODEL, HEADS, D_HIDDEN, **options)
        self.encoder = nn.TransformerEncoder(encoder, LAYERS, norms[0], enable_nested_tensor=False)
        self.decoder = nn.TransformerDecoder(decoder, LAYERS, norms[1])
        self.to(ours.readout.weight.dtype)
        state = dict(ours.named_parameters())
        self.encoder.load_state_dict(stack_by_their_names(state, "encoder", ENCODER, LAYERS))
        self.decoder.load_state_dict(stack_by_their_names(state, "decoder", DECODER, LAYERS))
        for name in OUTSIDE:
            self.add_module(name, copy.deepcopy(getattr(ours, name)))

    def forward(self, source, source_lengths, previous):
        padding = torch.arange(source.shape[1]) >= source_lengths[:, None]
        x = embedded(self.source_embedding, source)
        memory = self.encoder(x, src_key_padding_mask=padding)
        later = torch.ones(previous.shape[1], previous.shape[1]).triu(1).bool()
        x = embedded(self.target_embedding, previous)
        x = self.decoder(x, memory, tgt_mask=later, memory_key_padding_mask=padding)
        return self.readout(x)


@NORMS
def test_logits_and_gradients_are_those_of_pytorchs_stacks(norm_first):
    ours = drawn(build(norm_first=norm_first))
    theirs = PyTorchs(ours, norm_first)
    expected = theirs(BATCH.source, BATCH.source_lengths, PREVIOUS)
    push = torch.linspace(-1, 2, expected.numel(), dtype=expected.dtype).view_as(expected)
    names = [name for name, _ in theirs.named_parameters()]
    wanted = torch.autograd.grad((expected * push).sum(), list(theirs.parameters()))
    wanted = dict(zip(names, wanted, strict=True))
    for need_weights in (True, False):
        logits, maps = ours(BATCH.source, BATCH.source_lengths, PREVIOUS, need_weights=need_weights)
        close(logits, expected)
        assert (maps is not None) == need_weights
        gradients = torch.autograd.grad((logits * push).sum(), list(ours.parameters()))
        named = dict(zip((n for n, _ in ours.named_parameters()), gradients, strict=True))
        got = {n: named[n] for n in named if n.partition(".")[0] in OUTSIDE}
        for part, kind in (("encoder", ENCODER), ("decoder", DECODER)):
            stack = stack_by_their_names(named, part, kind, LAYERS)
            got |= {f"{part}.{n}": tensor for n, tensor in stack.items()}
        assert got.keys() == wanted.keys()
        for name, gradient in wanted.items():
            close(got[name], gradient, 1e-10)


@NORMS
def test_float32(norm_first):
    ours = build(norm_first=norm_first, dtype=torch.float32).eval()
    theirs = PyTorchs(ours, norm_first).eval()
    with torch.no_grad():
        expected = theirs(BATCH.source, BATCH.source_lengths, PREVIOUS)
        close(ours(BATCH.source, BATCH.source_lengths, PREVIOUS)[0], expected, 1e-6)


def test_maps_are_those_of_the_attentions():
    model = build()
    logits, maps = model(BATCH.source, BATCH.source_lengths, PREVIOUS)
    assert isinstance(maps, TransformerMaps)
    shapes = ((N_SOURCE, N_SOURCE), (N_TARGET, N_TARGET), (N_TARGET, N_SOURCE))
    for of_kind, shape in zip(maps, shapes, strict=True):
        assert [m.shape for m in of_kind] == [(len(NUMBERS), HEADS, *shape)] * LAYERS
    with capture_attention(model) as captured:
        again, none = model(BATCH.source, BATCH.source_lengths, PREVIOUS, need_weights=False)
    assert none is None
    close(again, logits)
    for i in range(LAYERS):
        for name, of_kind in (
            (f"encoder.{i}.attention", maps.encoder),
            (f"decoder.{i}.self_attention", maps.decoder),
            (f"decoder.{i}.cross_attention", maps.cross),
        ):
            (map_,) = captured[name]
            assert map_.kind == ("cross" if of_kind is maps.cross else "self")
            close(map_.weights, of_kind[i].detach())


def test_nothing_looks_at_padding_and_no_word_at_later_ones():
    _, maps = build()(BATCH.source, BATCH.source_lengths, PREVIOUS)
    padding = torch.arange(N_SOURCE) >= BATCH.source_lengths[:, None]
    for weights in (*maps.encoder, *maps.cross):
        assert not weights.where(padding[:, None, None], 0.0).any()
        close(weights.sum(-1), torch.ones_like(weights[..., 0]))
    for weights in maps.decoder:
        assert not weights.triu(1).any() and weights.diagonal(dim1=-2, dim2=-1).all()


@NORMS
def test_padding_changes_neither_loss_nor_gradients(norm_first):
    model = build(norm_first=norm_first)
    loss, gradients = results(model, BATCH)
    for source_id in (0, 5):
        other_loss, others = results(model, padded(BATCH, source_id=source_id))
        close(other_loss, loss)
        for name, gradient in gradients.items():
            close(others[name], gradient, 1e-10)


def test_a_sequence_alone_is_as_in_a_batch():
    model = build()
    logits, _ = model(BATCH.source, BATCH.source_lengths, PREVIOUS)
    for i, number in enumerate(NUMBERS):
        alone = TASK.batch([number])
        n = alone.target.shape[1]
        got, _ = model(alone.source, alone.source_lengths, shifted_right(alone.target))
        close(got[0], logits[i, :n])


def test_a_later_word_changes_no_earlier_logits():
    model = build()
    logits, _ = model(BATCH.source, BATCH.source_lengths, PREVIOUS)
    other = PREVIOUS.clone()
    other[:, 4:] = 7
    changed, _ = model(BATCH.source, BATCH.source_lengths, other)
    assert torch.equal(changed[:, :4], logits[:, :4])
    assert not torch.equal(changed[:, 4:], logits[:, 4:])


def test_the_first_layers_get_scaled_embeddings_and_positions():
    model, seen = build(), {}
    for name in ("encoder", "decoder"):
        getattr(model, name)[0].register_forward_pre_hook(
            lambda module, args, name=name: seen.update({name: args[0]})
        )
    model(BATCH.source, BATCH.source_lengths, PREVIOUS)
    close(seen["encoder"], embedded(model.source_embedding, BATCH.source))
    close(seen["decoder"], embedded(model.target_embedding, PREVIOUS))


def test_embeddings_start_with_the_stated_variance():
    torch.manual_seed(0)
    tokens = [str(i) for i in range(500)]
    model = Transformer(Vocabulary(tokens), Vocabulary(tokens), d_model=64)
    for embedding in (model.source_embedding, model.target_embedding):
        assert abs(embedding.weight[1:].std() * 64**0.5 - 1) < 0.02
        assert not embedding.weight[Vocabulary.pad].any()


def test_without_positions_the_source_is_a_bag():
    source, lengths = torch.tensor([[3, 4, 5, 6]]), torch.tensor([4])
    for positions, same in (("none", True), ("sinusoidal", False)):
        model = build(positions=positions)
        logits, _ = model(source, lengths, PREVIOUS[:1])
        turned, _ = model(source.flip(1), lengths, PREVIOUS[:1])
        assert torch.allclose(turned, logits, atol=1e-12) == same


def test_dropout_acts_in_training_alone():
    model = build(dropout=0.3)
    assert {m.dropout for m in model.modules() if hasattr(m, "dropout")} == {0.3}
    model.eval()
    assert torch.equal(model.loss(BATCH), model.loss(BATCH))
    model.train()
    assert not torch.equal(model.loss(BATCH), model.loss(BATCH))
    for layer in (*model.encoder, *model.decoder):  # embeddings with positions alone
        layer.eval()
    assert not torch.equal(model.loss(BATCH), model.loss(BATCH))


# Greedy decoding, with the keys and values kept or not


def biased(model, bias):
    """A model that knows nothing but how likely each word is."""
    with torch.no_grad():
        model.readout.weight.zero_()
        model.readout.bias.copy_(torch.tensor(bias, dtype=torch.float64))
    return model


@CACHE
def test_greedy_stops_when_all_have_ended(cache):
    model = biased(build(), [0, 0, 1, *[0] * (N_WORDS - 3)])
    ids, weights = model.greedy(BATCH.source, BATCH.source_lengths, cache=cache)
    assert ids.tolist() == [[2]] * len(NUMBERS)
    assert weights.shape == (len(NUMBERS), 1, N_SOURCE)


@CACHE
def test_greedy_is_cut_at_the_longest_allowed(cache):
    endless = biased(build(), [0, 0, 0, 1, *[0] * (N_WORDS - 4)])
    ids, weights = endless.greedy(BATCH.source, BATCH.source_lengths, 7, cache=cache)
    assert ids.tolist() == [[3] * 7] * len(NUMBERS)
    assert weights.shape == (len(NUMBERS), 7, N_SOURCE)
    assert endless.greedy(BATCH.source, BATCH.source_lengths, cache=cache)[0].shape[1] == 64
    translation = endless.translate("十二", max_length=3)
    assert (translation.words, translation.ended) == (["zero"] * 3, False)


@CACHE
def test_padding_and_begin_are_never_written(cache):
    likes_specials = biased(build(), [9, 8, 1, 2, *[0] * (N_WORDS - 4)])
    ids, _ = likes_specials.greedy(BATCH.source, BATCH.source_lengths, 5, cache=cache)
    assert ids.tolist() == [[3] * 5] * len(NUMBERS)


@CACHE
def test_rows_end_with_each_sequence(trained, cache):
    batch = ChineseNumerals((1, 2)).batch([7, 20, 23, 99])
    ids, weights = trained.greedy(batch.source, batch.source_lengths, cache=cache)
    lengths = (ids != 0).sum(-1)
    assert lengths.min() < lengths.max() == ids.shape[1]
    for row, length in zip(ids, lengths, strict=True):
        assert row[length - 1] == Vocabulary.eos
        assert (row[: length - 1] > Vocabulary.eos).all()
    going = torch.arange(ids.shape[1]) < lengths[:, None]
    close(weights.sum(-1), going.double())


@CACHE
def test_greedy_words_are_the_likeliest_after_their_own_words(trained, cache):
    batch = ChineseNumerals((1, 5)).batch([7, 20, 12_345, 99_999])
    ids, weights = trained.greedy(batch.source, batch.source_lengths, 9, cache=cache)
    logits, maps = trained(batch.source, batch.source_lengths, shifted_right(ids))
    written = ids != 0
    assert torch.equal(logits.argmax(-1)[written], ids[written])
    close(weights[written], maps.cross[-1].mean(1)[written])


def grouped(model):
    for name, module in attention_modules(model):
        if name.startswith("decoder"):
            parent, _, part = name.rpartition(".")
            own = GroupedQueryAttention(D_MODEL, HEADS, 1).to(module.query_proj.weight.dtype)
            setattr(model.get_submodule(parent), part, own)
    return drawn(model)


@pytest.mark.parametrize("make", [drawn, grouped], ids=["multi-head", "grouped"])
@NORMS
@pytest.mark.parametrize("positions", ["sinusoidal", "none"])
def test_cached_logits_are_those_of_all_at_once(make, norm_first, positions):
    model = make(build(norm_first=norm_first, positions=positions))
    memory = model.encode(BATCH.source, BATCH.source_lengths)
    expected, own, cross = model.decode(PREVIOUS, memory)
    caches, done = model.new_caches(), 0
    for n in (1, 1, 3, 1, N_TARGET - 6):
        new = slice(done, done + n)
        logits, own_rows, cross_rows = model.decode(PREVIOUS[:, new], memory, caches=caches)
        close(logits, expected[:, new])
        for i in range(LAYERS):
            close(own_rows[i], own[i][:, :, new, : done + n])
            close(cross_rows[i], cross[i][:, :, new])
        done += n
    heads = 1 if make is grouped else HEADS
    for cache in caches:
        assert cache.self_attention.keys.shape == (len(NUMBERS), heads, N_TARGET, D_MODEL // HEADS)
        assert cache.cross_attention.keys.shape[1:3] == (heads, N_SOURCE)
        assert cache.n_bytes == 2 * 8 * len(NUMBERS) * heads * (N_TARGET + N_SOURCE) * 6


def test_cached_and_computed_again_are_the_same_after_some_have_ended():
    task = ChineseNumerals((1, 4))
    model = build(dtype=torch.float32)
    fit(model, lambda step: task.training_batch(step, 24), steps=60, lr=1e-2, progress=False)
    model.double()
    numbers = [7, 20, 12_345, 99, 10, 9_999_999, 31, 777]
    batch = TASK.batch(numbers)
    with_cache, without = (
        model.greedy(batch.source, batch.source_lengths, 12, cache=cache) for cache in (True, False)
    )
    assert torch.equal(with_cache[0], without[0])
    close(with_cache[1], without[1])
    lengths = (with_cache[0] != 0).sum(-1)
    assert lengths.unique().numel() >= 3
    for i, number in enumerate(numbers):  # and each as if it were alone
        alone = TASK.batch([number])
        ids, weights = model.greedy(alone.source, alone.source_lengths, 12)
        assert torch.equal(ids[0], with_cache[0][i, : lengths[i]])
        close(weights[0], with_cache[1][i, : lengths[i], : alone.source.shape[1]])


class Spy(MultiHeadAttention):
    """Keeps the masks that it is given, and how many positions it projects."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.masks, self.projected = [], []
        self.key_proj.register_forward_hook(
            lambda module, args, output: self.projected.append(output.shape[1])
        )

    def forward(self, query, key=None, value=None, mask=None, **options):
        self.masks.append(mask)
        return super().forward(query, key, value, mask, **options)


@CACHE
def test_what_is_computed_at_each_step(cache):
    model = biased(build(), [0, 0, 0, 1, *[0] * (N_WORDS - 4)])
    own, cross = Spy(D_MODEL, HEADS).double(), Spy(D_MODEL, HEADS).double()
    model.decoder[1].self_attention, model.decoder[1].cross_attention = own, cross
    model.greedy(BATCH.source, BATCH.source_lengths, 5, cache=cache)
    steps = range(1, 6)
    if cache:
        # one new query, the last of the positions: it may see every key
        assert [tuple(mask.shape) for mask in own.masks] == [(1, n) for n in steps]
        assert all(mask.all() for mask in own.masks)
        assert (own.projected, cross.projected) == ([1] * 5, [N_SOURCE])
    else:
        assert [tuple(mask.shape) for mask in own.masks] == [(n, n) for n in steps]
        assert all(torch.equal(mask, torch.ones_like(mask).tril()) for mask in own.masks)
        assert (own.projected, cross.projected) == ([*steps], [N_SOURCE] * 5)


def test_greedy_changes_nothing():
    model = build(dropout=0.0)
    kept, rng = copy.deepcopy(model.state_dict()), torch.get_rng_state()
    for training in (True, False):
        model.train(training)
        ids, weights = model.greedy(BATCH.source, BATCH.source_lengths, 5)
        exact_match(model, BATCH)
        translation = model.translate("十二", 4)
        found = model.maps("十二", 4)
        assert all(module.training == training for module in model.modules())
    for tensor in (ids, weights, translation.weights, *found.maps.cross):
        assert not tensor.requires_grad
    assert all(p.grad is None for p in model.parameters())
    assert all(torch.equal(p, kept[n]) for n, p in model.state_dict().items())
    assert torch.equal(torch.get_rng_state(), rng) and torch.is_grad_enabled()


# Capture and ablation


@CACHE
def test_capture_sees_each_step(trained, cache):
    batch = TASK.batch([7, 23])
    with capture_attention(trained) as captured:
        ids, weights = trained.greedy(batch.source, batch.source_lengths, cache=cache)
    assert torch.equal(ids, trained.greedy(batch.source, batch.source_lengths)[0])
    steps = ids.shape[1]
    rows = [map_.weights[:, :, -1] for map_ in captured["decoder.1.cross_attention"]]
    own = captured["decoder.0.self_attention"]
    assert [m.weights.shape[-2:] for m in own] == [
        (1 if cache else n, n) for n in range(1, steps + 1)
    ]
    assert len(captured["encoder.0.attention"]) == 1
    _, maps = trained(batch.source, batch.source_lengths, shifted_right(ids))
    for t, map_ in enumerate(own):
        close(map_.weights[:, :, -1], maps.decoder[0][:, :, t, : t + 1].detach())
    going = (ids != 0)[..., None]
    close(torch.stack(rows, 1).mean(2) * going, weights)


@pytest.mark.parametrize("kind", ["zero", "uniform", 0.3, "mean"])
def test_ablated_it_writes_the_same_with_and_without_a_cache(trained, kind):
    batch = TASK.batch([7, 20, 12_345, 99])
    means = mean_outputs(trained, [batch], lambda model, batch: model.loss(batch))
    heads = {("decoder.0.self_attention", 1): kind, ("decoder.1.cross_attention", 2): kind,
             ("encoder.1.attention", 0): kind}  # fmt: skip
    whole = trained.greedy(batch.source, batch.source_lengths, 9)
    found = []
    for cache in (True, False):
        with ablate(trained, heads, means=means):
            found.append(trained.greedy(batch.source, batch.source_lengths, 9, cache=cache))
    assert torch.equal(found[0][0], found[1][0])
    close(found[0][1], found[1][1])
    assert found[0][1].shape != whole[1].shape or not torch.allclose(found[0][1], whole[1])


def test_frozen_patterns_are_those_of_each_step(trained):
    batch = TASK.batch([7, 23])
    inputs = batch.source, batch.source_lengths
    with capture_attention(trained) as captured:
        expected = trained.greedy(*inputs)
    with ablate(trained, {}, frozen=captured):
        for got, want in zip(trained.greedy(*inputs), expected, strict=True):
            close(got, want)


def test_heads_are_counted_in_the_order_of_the_layers():
    model = build()
    assert [name for name, _ in attention_modules(model)] == [
        "encoder.0.attention",
        "encoder.1.attention",
        "decoder.0.self_attention",
        "decoder.0.cross_attention",
        "decoder.1.self_attention",
        "decoder.1.cross_attention",
    ]

    def losses(model, batch):
        logits, _ = model(batch.source, batch.source_lengths, shifted_right(batch.target))
        found = F.cross_entropy(logits.mT, batch.target, ignore_index=0, reduction="none")
        return found.sum(-1)

    importance = head_importance(model, [BATCH], losses)
    assert importance.shape == (6, HEADS) and (importance > 0).all()
    model.readout.weight.data.zero_()
    assert not head_importance(model, [BATCH], losses).any()


# Learning, translations, files


def test_a_small_model_learns(trained):
    task = ChineseNumerals((1, 2))
    seen = exact_match(trained, task.batch(task.numbers(99, "train"))).double().mean()
    fresh = exact_match(trained, task.batch(task.numbers(99, "test"))).double().mean()
    assert seen > 0.9
    assert fresh > 0.2  # by chance one in a hundred


def test_exact_match_is_a_comparison_word_by_word(trained):
    numbers = [*range(1, 100, 7), 105, 120_304]
    found = exact_match(trained, TASK.batch(numbers))
    expected = [
        trained.translate(TASK.pair(n).source)[1::2] == (to_english(n), True) for n in numbers
    ]
    assert found.tolist() == expected
    assert 0 < sum(expected) < len(numbers)


def test_a_translation_and_its_maps(trained):
    translation = trained.translate("二十三")
    assert isinstance(translation, Translation)
    assert str(translation) == "二十三 → twenty three"
    found = trained.maps("二十三")
    assert found.source == translation.source == list("二十三")
    assert found.words == translation.words == ["twenty", "three"]
    assert found.fed == ["<bos>", "twenty"]
    assert [w.shape for w in found.maps.encoder] == [(1, 3, 3, 3)] * 2
    assert [w.shape for w in found.maps.decoder] == [(1, 3, 2, 2)] * 2
    assert [w.shape for w in found.maps.cross] == [(1, 3, 2, 3)] * 2
    close(found.maps.cross[-1][0].mean(0), translation.weights)
    for weights in (*found.maps.encoder, *found.maps.decoder, *found.maps.cross):
        close(weights.sum(-1), torch.ones_like(weights[..., 0]))
    with capture_attention(trained) as captured:
        trained.greedy(torch.tensor([TASK.source_vocabulary.encode("二十三")]), torch.tensor([3]))
    steps = captured["decoder.0.self_attention"]
    close(found.maps.decoder[0][:, :, 1], steps[1].weights[:, :, 0])


def test_maps_where_nothing_is_written_and_where_it_was_cut():
    found = biased(build(), [0, 0, 1, *[0] * (N_WORDS - 3)]).maps("十二")
    assert (found.words, found.fed) == ([], [])
    assert found.maps.cross[0].shape == (1, HEADS, 0, 2)
    assert found.maps.decoder[0].shape == (1, HEADS, 0, 0)
    endless = biased(build(), [0, 0, 0, 1, *[0] * (N_WORDS - 4)])
    found = endless.maps("十二", max_length=4)
    assert (found.words, found.fed) == (["zero"] * 4, ["<bos>", *["zero"] * 3])
    assert found.maps.cross[0].shape == (1, HEADS, 4, 2)


def test_variants_are_translated_like_the_standard_form(trained):
    found, expected = trained.translate("一十二"), trained.translate("十二")
    assert found.source == expected.source and found.words == expected.words


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("", ValueError, "at least one character, got an empty string"),
        ("十猫", ValueError, "'猫' at position 2, which is no numeral"),
        (12, TypeError, r"must be a str, got int. to_chinese\(12\) writes it"),
    ],
)
def test_what_cannot_be_translated_is_refused(text, error, words):
    for call in (build().translate, build().maps):
        with pytest.raises(error, match=words):
            call(text)


@NORMS
def test_settings_rebuild_the_model_from_a_file(norm_first, tmp_path):
    model = build(norm_first=norm_first, positions="none", dropout=0.1, dtype=torch.float32).eval()
    assert json.loads(json.dumps(model.settings)) == model.settings
    save(model, tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors", Transformer.from_settings)
    assert again.settings == model.settings
    assert again.source_vocabulary == model.source_vocabulary
    assert torch.equal(again.loss(BATCH), model.loss(BATCH))
    with pytest.raises(ValueError, match=r"holds a Transformer.*Transformer\.from_settings"):
        load(tmp_path / "model.safetensors")


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        (lambda s: s.pop("d_model"), ValueError, "settings must be d_model, num_heads"),
        (lambda s: s.update(layers=2), ValueError, "settings must be.*got .*layers"),
        (lambda s: s.update(positions="rotary"), ValueError, "positions must be one of"),
        (lambda s: s.update(num_heads=5), ValueError, "multiple of num_heads"),
        (lambda s: s.update(source_tokens=["a", "a"]), ValueError, "got 'a' twice"),
    ],
)
def test_settings_that_do_not_fit_are_refused(change, error, words):
    settings = dict(build().settings)
    change(settings)
    with pytest.raises(error, match=words):
        Transformer.from_settings(settings)


def test_a_copy_and_a_whole_state_are_the_same_model():
    model = drawn(build())
    again = build(seed=9)
    again.load_state_dict(model.state_dict())
    expected = model.greedy(BATCH.source, BATCH.source_lengths, 5)
    for other in (again, copy.deepcopy(model)):
        for got, want in zip(
            other.greedy(BATCH.source, BATCH.source_lengths, 5), expected, strict=True
        ):
            assert torch.equal(got, want)


def test_it_has_the_interface_of_seq2seq():
    for name in ("encode", "loss", "greedy", "translate", "from_settings", "forward"):
        assert callable(getattr(Transformer, name)) and callable(getattr(Seq2Seq, name))
    assert "positions='sinusoidal'" in repr(build())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision(trained, dtype):
    model = copy.deepcopy(trained).to(dtype)
    task = ChineseNumerals((1, 2))
    batch = task.batch([7, 20, 23, 99])
    loss, gradients = results(model, batch)
    assert loss.dtype == dtype and loss.isfinite()
    assert all(gradient.isfinite().all() for gradient in gradients.values())
    for cache in (True, False):
        ids, weights = model.greedy(batch.source, batch.source_lengths, cache=cache)
        assert weights.dtype == dtype
        assert torch.equal(ids, trained.greedy(batch.source, batch.source_lengths)[0])


# Refusals


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"num_layers": 0}, ValueError, "num_layers must be at least 1"),
        ({"num_layers": 1.5}, TypeError, "num_layers must be an integer"),
        ({"d_model": 15}, ValueError, "d_model must be even"),
        ({"num_heads": 4}, ValueError, "multiple of num_heads"),
        ({"d_hidden": 0}, ValueError, "d_hidden must be at least 1"),
        ({"dropout": 1.0}, ValueError, "dropout is the share"),
        ({"positions": "learned"}, ValueError, "'sinusoidal', 'none', got 'learned'"),
        ({"positions": None}, ValueError, "got None"),
        ({"positions": ["none"]}, ValueError, r"got \['none'\]"),
    ],
)
def test_a_model_says_what_it_refuses(options, error, words):
    with pytest.raises(error, match=words):
        build(**options)


def test_vocabularies_are_wanted():
    with pytest.raises(TypeError, match="target_vocabulary must be a Vocabulary, got int"):
        Transformer(VOCABULARIES[0], 34)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"source": BATCH.source.tolist()}, TypeError, "source must be a tensor of.*got list"),
        ({"source": BATCH.source.float()}, TypeError, "source must be a tensor of torch.int64"),
        ({"source": BATCH.source[0]}, ValueError, r"source must have the shape \(batch, T\)"),
        ({"source": BATCH.source + 40}, ValueError, "token numbers of its .* to 17, got 40 to"),
        ({"source_lengths": [1] * 5}, TypeError, "source_lengths must be a tensor.*got list"),
        ({"source_lengths": torch.ones(4).long()}, ValueError, "must be 5 .the batch.* got 4"),
        ({"source_lengths": BATCH.source_lengths + 1}, ValueError, "T_s = 13, got 2 to 14"),
        ({"previous": PREVIOUS.float()}, TypeError, "previous must be a tensor of torch.int64"),
        ({"previous": PREVIOUS[:3]}, ValueError, "axis 0 of previous must be 5"),
        ({"previous": PREVIOUS[:, :0]}, ValueError, "at least one step, <bos>, got none"),
        ({"previous": PREVIOUS + 30}, ValueError, "previous must have the token.* 0 to 36"),
    ],
)
def test_forward_says_what_it_refuses(change, error, words):
    arguments = {"source": BATCH.source, "source_lengths": BATCH.source_lengths} | change
    with pytest.raises(error, match=words):
        build()(**{"previous": PREVIOUS, **arguments})
    if "previous" not in change:
        with pytest.raises(error, match=words):
            build().greedy(**arguments)


def test_no_sequence_at_all_and_no_length_are_refused():
    with pytest.raises(ValueError, match="source must have at least one sequence, got none"):
        build().greedy(BATCH.source[:0], BATCH.source_lengths[:0])
    with pytest.raises(ValueError, match="max_length must be"):
        build().greedy(BATCH.source, BATCH.source_lengths, 0)


def test_caches_that_do_not_fit_are_refused():
    model = build()
    memory = model.encode(BATCH.source, BATCH.source_lengths)
    caches = model.new_caches()
    for few in (caches[:1], [cache.self_attention for cache in caches], []):
        with pytest.raises(ValueError, match=r"each of the 2 decoder layers, .*new_caches\(\)"):
            model.decode(PREVIOUS, memory, caches=few)
    for other in (caches[0], KeyValueCache(), True):
        with pytest.raises(TypeError, match=r"caches must hold.*new_caches\(\)"):
            model.decode(PREVIOUS, memory, caches=other)
    with pytest.raises(TypeError, match=r"memory must be what model.encode.*got Tensor"):
        model.decode(PREVIOUS, memory.states)
    model.decode(PREVIOUS, memory, caches=caches)
    few = Batch(*(tensor[:2] for tensor in BATCH))
    other = model.encode(few.source, few.source_lengths)
    with pytest.raises(ValueError, match="A new batch begins with a new cache"):
        model.decode(PREVIOUS[:2, :1], other, caches=caches)
    with pytest.raises(ValueError, match="a cache belongs to one attention"):
        build().decode(PREVIOUS[:, :1], memory, caches=caches)


def test_an_attention_that_knows_no_cache_says_so():
    class Plain(nn.Module):
        def forward(self, query, key, value, mask=None):
            return AttentionOutput(query, query.new_zeros(1, 1, 1, 1))

    model = build()
    model.decoder[0].self_attention = Plain()
    with pytest.raises(TypeError, match="cache"):
        model.greedy(BATCH.source, BATCH.source_lengths)
    assert model.greedy(BATCH.source, BATCH.source_lengths, 3, cache=False)[0].shape[1] <= 3
