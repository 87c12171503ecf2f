"""The encoder-decoder: one difference between contexts, no influence of padding, clear answers."""

import copy
import json

import pytest
import torch
import torch.nn.functional as F

import attnkit
from attnkit.numerals import to_english
from attnkit.seq2seq import Seq2Seq, Translation, exact_match, shifted_right
from attnkit.tasks import Batch, ChineseNumerals, Vocabulary

TASK = ChineseNumerals(digits=(1, 7))
VOCABULARIES = TASK.source_vocabulary, TASK.target_vocabulary
N_WORDS = len(TASK.target_vocabulary)
CONTEXTS = ("fixed", "additive", "dot")
NUMBERS = (3, 120_304, 10, 7_777_777, 90_000)  # numerals of 1, 8, 1, 13 and 2 characters


def build(context="additive", seed=3, dtype=torch.float64):
    torch.manual_seed(seed)
    return Seq2Seq(*VOCABULARIES, context, d_embedding=5, d_hidden=11).to(dtype)


@pytest.fixture(params=CONTEXTS)
def model(request):
    return build(request.param)


@pytest.fixture(params=CONTEXTS[1:])
def attentive(request):
    return build(request.param)


@pytest.fixture(scope="module", params=CONTEXTS)
def trained(request):
    """A model that has learned numbers of one and two digits, and what it was trained on."""
    task = ChineseNumerals(digits=(1, 2))
    torch.manual_seed(0)
    model = Seq2Seq(*VOCABULARIES, request.param, d_embedding=16, d_hidden=32)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-2)
    for step in range(100):
        optimizer.zero_grad()
        model.loss(task.training_batch(step, 24)).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return model


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
    grads = {n: p.grad.clone() for n, p in model.named_parameters() if p.grad is not None}
    assert set(grads) == {name for name, _ in model.named_parameters()}
    return loss.detach(), grads


# One difference


def test_models_of_one_seed_differ_in_the_context_alone():
    models = {context: build(context) for context in CONTEXTS}
    shared = {c: {n: p for n, p in m.state_dict().items() if not n.startswith("context.")}
              for c, m in models.items()}  # fmt: skip
    for context in CONTEXTS[1:]:
        assert shared[context].keys() == shared["fixed"].keys()
        assert all(torch.equal(p, shared["fixed"][n]) for n, p in shared[context].items())
    assert not list(models["fixed"].context.parameters())
    own = {
        c: {n: tuple(p.shape) for n, p in m.context.named_parameters()} for c, m in models.items()
    }
    projections = {"query_proj.weight": (11, 11), "key_proj.weight": (11, 22)}
    assert own["dot"] == projections
    assert own["additive"] == {**projections, "score_proj.weight": (1, 11)}


def test_a_context_taken_from_another_model_is_the_whole_difference():
    batch = TASK.batch(NUMBERS)
    fixed, attentive = build("fixed"), build("additive")
    assert fixed.loss(batch) != attentive.loss(batch)
    attentive.context = fixed.context
    assert fixed.loss(batch) == attentive.loss(batch)


def test_the_fixed_vector_is_the_last_state_of_either_direction():
    model, batch = build("fixed"), TASK.batch(NUMBERS)
    memory = model.encode(batch.source, batch.source_lengths)
    context, weights = model.context(model.start(memory), memory, model.context.prepare(memory))
    last = torch.stack([memory.states[i, n - 1, :11] for i, n in enumerate(batch.source_lengths)])
    torch.testing.assert_close(context, torch.cat([last, memory.states[:, 0, 11:]], -1))
    assert weights is None


def one_step(model):
    batch = TASK.batch(NUMBERS)
    memory = model.encode(batch.source, batch.source_lengths)
    state = torch.randn(len(NUMBERS), 11, dtype=torch.float64, requires_grad=True)
    return state, memory, model.context(state, memory, model.context.prepare(memory))


def gradients(output, state, model):
    cotangent = torch.linspace(-1, 1, output.numel(), dtype=output.dtype).view_as(output)
    inputs = [state, *model.context.parameters(), *model.encoder.parameters()]
    return torch.autograd.grad(output, inputs, cotangent, retain_graph=True)


def test_the_additive_context_is_additive_attention_with_the_same_weights():
    model = build("additive")
    state, memory, (context, weights) = one_step(model)
    reference = attnkit.AdditiveAttention(11, 22, 11).double()
    reference.load_state_dict(model.context.state_dict())
    expected = reference(state, memory.states, mask=memory.mask)
    torch.testing.assert_close(context, expected.output)
    torch.testing.assert_close(weights, expected.weights)
    inputs = [state, *model.encoder.parameters()]
    for got, want in zip(
        torch.autograd.grad(context.square().sum(), inputs, retain_graph=True),
        torch.autograd.grad(expected.output.square().sum(), inputs),
        strict=True,
    ):
        torch.testing.assert_close(got, want)


def test_the_dot_context_is_scaled_dot_product_attention_of_the_projections():
    model = build("dot")
    state, memory, (context, weights) = one_step(model)
    query = state @ model.context.query_proj.weight.T
    key = memory.states @ model.context.key_proj.weight.T
    for function in (attnkit.scaled_dot_product_attention, F.scaled_dot_product_attention):
        mask = memory.mask[:, None, :]
        expected = function(query[:, None], key, memory.states, mask)
        output = expected if isinstance(expected, torch.Tensor) else expected.output
        torch.testing.assert_close(context, output[:, 0])
        for got, want in zip(
            gradients(context, state, model), gradients(output[:, 0], state, model), strict=True
        ):
            torch.testing.assert_close(got, want)
    expected = attnkit.scaled_dot_product_attention(query[:, None], key, memory.states, mask)
    torch.testing.assert_close(weights, expected.weights[:, 0])


def test_the_outputs_are_the_formulas(attentive):
    batch = TASK.batch([4_321])
    logits, weights = attentive(batch.source, batch.source_lengths, shifted_right(batch.target))
    m = attentive
    states, last = m.encoder(m.source_embedding(batch.source))
    state = torch.tanh(m.bridge(torch.cat([last[0], last[1]], -1)))
    for t, word in enumerate([1, *batch.target[0, :-1].tolist()]):
        query, key = state @ m.context.query_proj.weight.T, states @ m.context.key_proj.weight.T
        if m.settings["context"] == "additive":
            scores = torch.tanh(query[:, None] + key) @ m.context.score_proj.weight[0]
        else:
            scores = (key * query[:, None]).sum(-1) / 11**0.5
        alpha = scores.softmax(-1)
        context = (alpha[..., None] * states).sum(1)
        state = m.decoder(torch.cat([m.target_embedding.weight[word][None], context], -1), state)
        torch.testing.assert_close(weights[:, t], alpha)
        torch.testing.assert_close(logits[:, t], m.readout(torch.cat([state, context], -1)))


# Padding


def test_a_sentence_alone_is_the_sentence_in_a_batch(model):
    batch = TASK.batch(NUMBERS)
    logits, weights = model(batch.source, batch.source_lengths, shifted_right(batch.target))
    for i, number in enumerate(NUMBERS):
        alone = TASK.batch([number])
        n_s, n_t = int(alone.source_lengths), int(alone.target_lengths)
        expected = model(alone.source, alone.source_lengths, shifted_right(alone.target))
        torch.testing.assert_close(logits[i : i + 1, :n_t], expected[0])
        if weights is None:
            assert expected[1] is None
        else:
            torch.testing.assert_close(weights[i : i + 1, :n_t, :n_s], expected[1])


@pytest.mark.parametrize("source_id", [0, 2, 9])
def test_padding_changes_neither_outputs_nor_loss_nor_gradients(model, source_id):
    batch = TASK.batch(NUMBERS)
    more = padded(batch, source_id=source_id)
    loss, grads = results(model, batch)
    padded_loss, padded_grads = results(model, more)
    torch.testing.assert_close(padded_loss, loss, atol=1e-14, rtol=0)
    for name, grad in grads.items():
        torch.testing.assert_close(padded_grads[name], grad, atol=1e-14, rtol=1e-12, msg=name)
    ids, weights = model.greedy(batch.source, batch.source_lengths, 9)
    padded_ids, padded_weights = model.greedy(more.source, more.source_lengths, 9)
    assert torch.equal(ids, padded_ids)
    if weights is not None:
        assert not padded_weights[..., batch.source.shape[1] :].any()
        torch.testing.assert_close(padded_weights[..., : batch.source.shape[1]], weights)


def test_the_loss_of_a_batch_is_the_mean_over_its_tokens(model):
    batch = TASK.batch(NUMBERS)
    alone = [TASK.batch([number]) for number in NUMBERS]
    total = sum(model.loss(one) * int(one.target_lengths) for one in alone)
    torch.testing.assert_close(model.loss(batch), total / int(batch.target_lengths.sum()))


def test_the_embedding_of_padding_stays_zero(model):
    _, grads = results(model, padded(TASK.batch(NUMBERS)))
    for embedding in ("source_embedding", "target_embedding"):
        assert not model.get_parameter(f"{embedding}.weight")[0].any()
        assert not grads[f"{embedding}.weight"][0].any()


def test_the_order_of_a_batch_does_not_matter(model):
    batch, order = TASK.batch(NUMBERS), torch.tensor([3, 0, 4, 2, 1])
    ids, _ = model.greedy(batch.source, batch.source_lengths, 9)
    other, _ = model.greedy(batch.source[order], batch.source_lengths[order], 9)
    assert torch.equal(other, ids[order])


def test_no_step_sees_a_later_word(model):
    batch = TASK.batch(NUMBERS)
    previous = shifted_right(batch.target)
    logits, _ = model(batch.source, batch.source_lengths, previous)
    previous[:, 3:] = 7
    changed, _ = model(batch.source, batch.source_lengths, previous)
    assert torch.equal(changed[:, :3], logits[:, :3])
    assert not torch.equal(changed[:, 3:], logits[:, 3:])


def test_weights_sum_to_one_and_are_zero_on_padding(attentive):
    batch = padded(TASK.batch(NUMBERS))
    logits, weights = attentive(batch.source, batch.source_lengths, shifted_right(batch.target))
    n_t, n_s = batch.target.shape[1], batch.source.shape[1]
    assert logits.shape == (len(NUMBERS), n_t, N_WORDS)
    assert weights.shape == (len(NUMBERS), n_t, n_s)
    assert (weights >= 0).all()
    torch.testing.assert_close(weights.sum(-1), torch.ones(len(NUMBERS), n_t).double())
    mask = torch.arange(n_s) < batch.source_lengths[:, None]
    assert not weights[~mask[:, None].expand_as(weights)].any()
    assert (weights[mask[:, None].expand_as(weights)] > 0).all()


def test_one_character_has_all_the_weight(attentive):
    batch = TASK.batch([7])
    logits, weights = attentive(batch.source, batch.source_lengths, torch.tensor([[1]]))
    assert logits.shape == (1, 1, N_WORDS)
    assert weights.tolist() == [[[1.0]]]


# Greedy decoding


def biased(model, bias):
    """A model that knows nothing but how likely each word is."""
    with torch.no_grad():
        model.readout[-1].weight.zero_()
        model.readout[-1].bias.copy_(torch.tensor(bias, dtype=torch.float64))
    return model


def test_greedy_stops_when_all_have_ended(model):
    batch = TASK.batch(NUMBERS)
    ids, weights = biased(model, [0, 0, 1, *[0] * (N_WORDS - 3)]).greedy(
        batch.source, batch.source_lengths
    )
    assert ids.tolist() == [[2]] * len(NUMBERS)
    assert weights is None or weights.shape == (len(NUMBERS), 1, batch.source.shape[1])


def test_greedy_is_cut_at_the_longest_allowed(model):
    batch = TASK.batch(NUMBERS)
    endless = biased(model, [0, 0, 0, 1, *[0] * (N_WORDS - 4)])
    ids, _ = endless.greedy(batch.source, batch.source_lengths, max_length=7)
    assert ids.tolist() == [[3] * 7] * len(NUMBERS)
    assert endless.greedy(batch.source, batch.source_lengths)[0].shape[1] == 64
    translation = endless.translate("十二", max_length=3)
    assert (translation.words, translation.ended) == (["zero"] * 3, False)
    assert str(translation) == "十二 → zero zero zero …"
    assert translation._repr_html_().endswith("→ zero zero zero …</p>")


def test_padding_and_begin_are_never_written(attentive):
    # However likely an untrained model finds them: words and rows would come apart.
    likes_specials = biased(attentive, [9, 8, 1, 2, *[0] * (N_WORDS - 4)])
    translation = likes_specials.translate("十二", max_length=5)
    assert translation.words == ["zero"] * 5
    assert translation.weights.shape == (5, 2)


def test_rows_end_with_each_sequence(trained):
    batch = ChineseNumerals((1, 2)).batch([7, 20, 23, 99])
    ids, weights = trained.greedy(batch.source, batch.source_lengths)
    lengths = (ids != 0).sum(-1)
    assert lengths.min() < lengths.max() == ids.shape[1]
    for row, length in zip(ids, lengths, strict=True):
        assert row[length - 1] == Vocabulary.eos
        assert (row[: length - 1] > Vocabulary.eos).all()
    if trained.settings["context"] == "fixed":
        assert weights is None
    else:
        going = torch.arange(ids.shape[1]) < lengths[:, None]
        torch.testing.assert_close(weights.sum(-1), going.float())


def test_greedy_words_are_the_likeliest_after_their_own_words(trained):
    batch = ChineseNumerals((1, 5)).batch([7, 20, 12_345, 99_999])
    ids, weights = trained.greedy(batch.source, batch.source_lengths, max_length=9)
    logits, forced = trained(batch.source, batch.source_lengths, shifted_right(ids))
    written = ids != 0
    assert torch.equal(logits.argmax(-1)[written], ids[written])
    if weights is not None:
        torch.testing.assert_close(weights[written], forced[written])


def test_greedy_changes_nothing(model):
    batch = TASK.batch(NUMBERS)
    kept, rng = copy.deepcopy(model.state_dict()), torch.get_rng_state()
    for training in (True, False):
        model.train(training)
        ids, weights = model.greedy(batch.source, batch.source_lengths, 5)
        exact_match(model, batch)
        translation = model.translate("十二", 4)
        assert all(module.training == training for module in model.modules())
    for tensor in (ids, weights, translation.weights):
        assert tensor is None or not tensor.requires_grad
    assert all(p.grad is None for p in model.parameters())
    assert all(torch.equal(p, kept[n]) for n, p in model.state_dict().items())
    assert torch.equal(torch.get_rng_state(), rng)
    assert torch.is_grad_enabled()


# Learning


def test_a_small_model_learns_from_each_context(trained):
    task = ChineseNumerals((1, 2))
    seen = exact_match(trained, task.batch(task.numbers(99, "train"))).double().mean()
    fresh = exact_match(trained, task.batch(task.numbers(99, "test"))).double().mean()
    assert seen > 0.9
    assert fresh > 0.2  # by chance one in a hundred


def test_teacher_forcing_and_greedy_agree_where_the_words_are_right(trained):
    task = ChineseNumerals((1, 2))
    batch = task.batch(task.numbers(99, "train"))
    logits, _ = trained(batch.source, batch.source_lengths, shifted_right(batch.target))
    forced = ((logits.argmax(-1) == batch.target) | (batch.target == 0)).all(-1)
    assert torch.equal(forced, exact_match(trained, batch))


def test_exact_match_is_a_comparison_word_by_word(trained):
    numbers = [*range(1, 100, 2), 105, 120_304]
    batch = TASK.batch(numbers)
    expected = [
        trained.translate(TASK.pair(n).source)[1::2] == (to_english(n), True) for n in numbers
    ]
    found = exact_match(trained, batch)
    assert found.dtype == torch.bool
    assert found.tolist() == expected
    assert 0 < sum(expected) < len(numbers)
    alone = [bool(exact_match(trained, TASK.batch([n]))) for n in numbers]
    assert alone == expected


def test_exact_match_wants_the_end_as_well():
    endless = biased(build(), [0, 0, 0, 1, *[0] * (N_WORDS - 4)])
    source, lengths = TASK.batch([5]).source, torch.tensor([1])
    for target, right in (([[3, 2]], False), ([[3, 3]], True), ([[3, 3, 2]], False)):
        batch = Batch(source, lengths, torch.tensor(target), torch.tensor([len(target[0])]))
        assert exact_match(endless, batch).tolist() == [right]


# Translations


def test_a_translation_can_be_read(trained):
    translation = trained.translate("七")
    assert isinstance(translation, Translation)
    assert (translation.source, translation.words) == (["七"], ["seven"])
    assert translation.ended
    assert str(translation) == repr(translation) == "七 → seven"
    assert translation._repr_html_() == '<p><span lang="zh-Hans">七</span> → seven</p>'


def test_a_translation_holds_a_row_for_each_word(attentive):
    translation = attentive.translate("十二万零三百零四", max_length=6)
    assert translation.source == list("十二万零三百零四")
    assert translation.weights.shape == (len(translation.words), 8)
    torch.testing.assert_close(
        translation.weights.sum(-1), torch.ones(len(translation.words)).double()
    )


def test_the_row_of_the_end_is_left_out(trained):
    translation = trained.translate("二十三")
    assert translation.words == ["twenty", "three"]
    if trained.settings["context"] == "fixed":
        assert translation.weights is None
    else:
        assert translation.weights.shape == (2, 3)


def test_a_translation_is_what_greedy_writes(model):
    text = "十二万零三百零四"
    batch = TASK.batch([120_304])
    ids, weights = model.greedy(batch.source, batch.source_lengths, 6)
    translation = model.translate(text, 6)
    assert translation.words == TASK.target_vocabulary.decode(ids[0])
    if weights is None:
        assert translation.weights is None
    else:
        assert torch.equal(translation.weights, weights[0, : len(translation.words)])


def test_markup_in_tokens_is_shown_as_text():
    shown = Translation(["<b>", "&"], ["<i>", '"x"'], None)._repr_html_()
    assert '<span lang="zh-Hans">&lt;b&gt;&amp;</span>' in shown
    assert "&lt;i&gt;" in shown
    assert "<b>" not in shown and "<i>" not in shown


@pytest.mark.parametrize(
    ("variant", "standard"),
    [("一十二", "十二"), ("两百〇五", "二百零五"), ("十二萬", "十二万"), ("三億", "三亿")],
)
def test_variants_are_translated_like_the_standard_form(attentive, variant, standard):
    found, expected = attentive.translate(variant, 5), attentive.translate(standard, 5)
    assert found.source == list(standard)
    assert found.words == expected.words
    assert torch.equal(found.weights, expected.weights)


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("", ValueError, "at least one character, got an empty string"),
        ("十猫", ValueError, "'猫' at position 2, which is no numeral"),
        ("12", ValueError, "'1' at position 1"),
        ("一百五", ValueError, "105 is written 一百零五"),
        ("二二", ValueError, "not a well-formed numeral"),
        (12, TypeError, r"must be a str, got int. to_chinese\(12\) writes it"),
        (None, TypeError, "must be a str, got NoneType"),
    ],
)
def test_what_cannot_be_translated_is_refused(model, text, error, words):
    with pytest.raises(error, match=words):
        model.translate(text)


# Settings


def test_settings_rebuild_the_model(model):
    settings = json.loads(json.dumps(model.settings))
    torch.manual_seed(9)
    again = Seq2Seq.from_settings(settings).double()
    assert again.settings == model.settings == settings
    assert again.source_vocabulary == model.source_vocabulary
    assert again.target_vocabulary == model.target_vocabulary
    again.load_state_dict(model.state_dict())
    batch = TASK.batch(NUMBERS)
    assert torch.equal(again.loss(batch), model.loss(batch))


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        (lambda s: s.pop("context"), ValueError, "settings must be context, d_embedding"),
        (lambda s: s.update(layers=2), ValueError, "settings must be.*got .*layers"),
        (lambda s: s.clear(), ValueError, "settings must be"),
        (lambda s: s.update(context="none"), ValueError, "context must be one of"),
        (lambda s: s.update(d_hidden=1.5), TypeError, "d_hidden must be an integer"),
        (lambda s: s.update(source_tokens=["a", "a"]), ValueError, "got 'a' twice"),
    ],
)
def test_settings_that_do_not_fit_are_refused(change, error, words):
    settings = dict(build().settings)
    change(settings)
    with pytest.raises(error, match=words):
        Seq2Seq.from_settings(settings)


def test_the_printed_model_names_its_context(model):
    assert f"context='{model.settings['context']}'" in repr(model)


def test_other_vocabularies_and_single_precision_work():
    torch.manual_seed(0)
    model = Seq2Seq(Vocabulary("ab"), Vocabulary("xyz"), d_embedding=2, d_hidden=3)
    logits, weights = model(torch.tensor([[3, 4, 0]]), torch.tensor([2]), torch.tensor([[1, 5]]))
    assert logits.shape == (1, 2, 6)
    assert (logits.dtype, weights.dtype) == (torch.float32, torch.float32)
    with pytest.raises(ValueError, match="'十' at position 1 is not in the vocabulary"):
        model.translate("十")


def test_shifted_right_begins_with_begin_and_keeps_its_argument():
    target = torch.tensor([[7, 8, 2], [9, 2, 0]])
    kept = target.clone()
    assert shifted_right(target).tolist() == [[1, 7, 8], [1, 9, 2]]
    assert torch.equal(target, kept)


# Refusals


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((*VOCABULARIES, "luong"), ValueError, "one of 'fixed', 'additive', 'dot', got 'luong'"),
        ((*VOCABULARIES, None), ValueError, "context must be one of.*got None"),
        ((*VOCABULARIES, ["dot"]), ValueError, r"context must be one of.*got \['dot'\]"),
        ((list("ab"), VOCABULARIES[1]), TypeError, "source_vocabulary must be a Vocab.*got list"),
        ((VOCABULARIES[0], 34), TypeError, "target_vocabulary must be a Vocabulary, got int"),
    ],
)
def test_a_model_says_what_it_refuses(arguments, error, words):
    with pytest.raises(error, match=words):
        Seq2Seq(*arguments)


@pytest.mark.parametrize("size", ["d_embedding", "d_hidden"])
@pytest.mark.parametrize(
    ("value", "error"), [(0, ValueError), (-3, ValueError), (1.5, TypeError), (True, TypeError)]
)
def test_sizes_are_positive_integers(size, value, error):
    with pytest.raises(error, match=f"{size} must be"):
        Seq2Seq(*VOCABULARIES, **{size: value})


BATCH = TASK.batch(NUMBERS)
PREVIOUS = shifted_right(BATCH.target)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"source": BATCH.source.tolist()}, TypeError, "source must be a tensor of.*got list"),
        ({"source": BATCH.source.float()}, TypeError, "source must be a tensor of torch.int64"),
        ({"source": BATCH.source.int()}, TypeError, "got torch.int32.*Convert it"),
        ({"source": BATCH.source > 0}, TypeError, "got torch.bool"),
        ({"source": BATCH.source[0]}, ValueError, r"source must have the shape \(batch, T\)"),
        ({"source": BATCH.source[:0]}, ValueError, "axis 0 of source_lengths must be 0"),
        ({"source": BATCH.source + 40}, ValueError, "token numbers of its .* to 17, got 40 to"),
        ({"source": BATCH.source - 1}, ValueError, "token numbers of its .* to 17, got -1 to"),
        ({"source_lengths": [1] * 5}, TypeError, "source_lengths must be a tensor.*got list"),
        ({"source_lengths": torch.ones(5)}, TypeError, "got torch.float32"),
        ({"source_lengths": BATCH.source_lengths.int()}, TypeError, "got torch.int32"),
        ({"source_lengths": torch.tensor(3)}, ValueError, r"the shape \(batch,\), got \(\)"),
        ({"source_lengths": torch.ones(4).long()}, ValueError, "must be 5 .the batch.* got 4"),
        ({"source_lengths": torch.zeros(5).long()}, ValueError, "from 1 to T_s = 13, got 0 to 0"),
        ({"source_lengths": BATCH.source_lengths + 1}, ValueError, "T_s = 13, got 2 to 14"),
        ({"previous": PREVIOUS.float()}, TypeError, "previous must be a tensor of torch.int64"),
        ({"previous": PREVIOUS[0]}, ValueError, r"previous must have the shape \(batch, T\)"),
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


def test_no_sequence_at_all_is_refused():
    with pytest.raises(ValueError, match="source must have at least one sequence, got none"):
        build().greedy(BATCH.source[:0], BATCH.source_lengths[:0])


@pytest.mark.parametrize(("value", "error"), [(0, ValueError), (2.5, TypeError)])
def test_the_longest_translation_is_a_positive_integer(value, error):
    for call in (lambda m: m.translate("十", value), lambda m: m.greedy(*BATCH[:2], value)):
        with pytest.raises(error, match="max_length must be"):
            call(build())
