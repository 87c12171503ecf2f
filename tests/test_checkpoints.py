"""save and load: the same model comes back, and what is not one of ours is refused."""

import json
import os
import pickle

import pytest
import safetensors
import safetensors.torch
import torch
from torch import nn
from training_model import Small, batch_at, same

from attnkit.seq2seq import Seq2Seq
from attnkit.tasks import ChineseNumerals
from attnkit.training import fit, load, save


@pytest.fixture
def saved(tmp_path):
    """A trained model and its file."""
    model = Small(13)
    history = fit(model, batch_at, steps=5)
    path = tmp_path / "model.safetensors"
    save(model, path, history)
    return model, path


def test_the_same_model_comes_back_ready_for_use(saved):
    model, path = saved
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)

    def build(settings):
        torch.rand(5)
        return Small(**settings)

    loaded = load(path, build)
    assert torch.equal(torch.rand(3), expected), "what building draws is not the caller's"
    assert same(loaded, model) and loaded.settings == {"n_hidden": 13} and not loaded.training
    x, _ = batch_at(0)
    assert torch.equal(loaded(x), model.eval()(x))
    assert load(os.fspath(path), Small.from_settings) is not loaded


def test_the_file_says_what_it_holds_to_any_reader_of_safetensors(saved):
    _, path = saved
    with safetensors.safe_open(path, framework="pt") as file:
        told = json.loads(file.metadata()["attnkit"])
        names = set(file.keys())
    assert told == {
        "kind": "model",
        "class": "Small",
        "settings": {"n_hidden": 13},
        "steps": 5,
        "torch": torch.__version__,
    }
    assert names == set(Small(13).state_dict())


def test_the_same_model_gives_the_same_bytes_and_nothing_is_left_beside_the_file(saved):
    model, path = saved
    before = path.read_bytes()
    for _ in range(5):
        save(model, path.parent / "again")
        save(load(path, Small.from_settings), path.parent / "loaded")
    assert (path.parent / "again").read_bytes() == (path.parent / "loaded").read_bytes()
    save(Small(), path)
    assert path.read_bytes() != before
    assert sorted(p.name for p in path.parent.iterdir()) == ["again", "loaded", path.name]


class Tied(nn.Module):
    """Two names for one tensor, and one that is not contiguous."""

    def __init__(self, size):
        super().__init__()
        self.settings = {"size": size}
        self.a = nn.Linear(size, size, bias=False)
        self.b = nn.Linear(size, size, bias=False)
        self.b.weight = self.a.weight
        self.register_buffer("turned", torch.arange(float(2 * size)).view(2, size).mT)


def test_shared_and_turned_tensors(tmp_path):
    model = Tied(3)
    save(model, tmp_path / "new" / "tied")
    loaded = load(tmp_path / "new" / "tied", lambda settings: Tied(**settings))
    assert same(model, loaded) and loaded.a.weight is loaded.b.weight


class Unnamed(nn.Linear):
    settings = None


def test_models_that_cannot_be_built_again_are_not_saved(tmp_path):
    path = tmp_path / "x"
    with pytest.raises(TypeError, match=r"Unnamed has no settings.*self.settings = \{"):
        save(Unnamed(2, 1), path)
    for settings, reason in [
        ([1], "got list"),
        ({"a": {1}}, "set"),
        ({"a": 1e999}, "Out of range"),
    ]:
        model = nn.Linear(2, 1)
        model.settings = settings
        with pytest.raises(TypeError, match=f"settings of Linear must be a dict.*{reason}"):
            save(model, path)
    model = type("Extra", (Small,), {"get_extra_state": lambda self: "text"})()
    with pytest.raises(TypeError, match="holds '_extra_state', a str; only tensors"):
        save(model, path)
    with pytest.raises(TypeError, match=r"nn\.Module, got OrderedDict"):
        save(Small().state_dict(), path)
    assert not path.exists()


def _refused(path, message, build=Small.from_settings):
    with pytest.raises(ValueError, match=message):
        load(path, build)


def test_a_file_that_is_not_safetensors_is_refused_and_never_unpickled(tmp_path):
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "ran"),)

    path = tmp_path / "model.pt"
    for content in (b"", b"hello", pickle.dumps(Trap())):
        path.write_bytes(content)
        _refused(path, "model.pt is not a whole safetensors file: .*Pickled files")
    torch.save(Small().state_dict(), path)
    _refused(path, "not a whole safetensors file")
    assert not (tmp_path / "ran").exists()
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none", Small.from_settings)


def test_a_file_that_was_cut_is_refused(saved):
    _, path = saved
    path.write_bytes(path.read_bytes()[:-1])
    _refused(path, "not a whole safetensors file")


@pytest.mark.parametrize("metadata", [None, {"format": "pt"}, {"attnkit": "{"}])
def test_a_file_without_our_settings_is_refused(metadata, tmp_path):
    path = tmp_path / "foreign"
    safetensors.torch.save_file(Small().state_dict(), path, metadata=metadata)
    _refused(path, r"no settings that attnkit wrote. For bare weights: .*load_file\(path\)")


@pytest.mark.parametrize("told", [[], {}, {"kind": "cake"}, 3])
def test_metadata_of_another_kind_are_refused(told, tmp_path):
    path = tmp_path / "foreign"
    metadata = {"attnkit": json.dumps(told)}
    safetensors.torch.save_file(Small().state_dict(), path, metadata=metadata)
    _refused(path, "expected a model")


class Other(nn.Module):
    def __init__(self, n_hidden):
        super().__init__()


def test_another_class_is_refused(saved):
    _, path = saved
    _refused(path, r"holds a Small, build made a Other.*load\(path, Small.from_settings\)",
             lambda settings: Other(**settings))  # fmt: skip
    _refused(path, r"settings \{'n_hidden': 13\} do not build: TypeError.*Small.from_settings",
             lambda settings: nn.Linear(**settings))  # fmt: skip
    _refused(path, "do not build: KeyError", lambda settings: settings["d_model"])


def test_other_names_shapes_and_dtypes_are_refused(saved):
    _, path = saved

    def changed(change):
        def build(settings):
            model = Small(**settings)
            change(model)
            return model

        return build

    _refused(path, r"does not fit .*inner.weight is float32 \(13, 5\) and not float32 \(13, 6\)",
             changed(lambda m: setattr(m, "inner", nn.Linear(6, 13))))  # fmt: skip
    _refused(path, "last.weight is missing.*train and save",
             changed(lambda m: setattr(m, "last", nn.Linear(2, 2))))  # fmt: skip
    _refused(path, "outer.bias is unknown to the model; outer.weight is unknown to the model",
             changed(lambda m: delattr(m, "outer")))  # fmt: skip
    _refused(
        path, r"is float32 \(13,\) and not float64 \(13,\).* and 3 more", changed(nn.Module.double)
    )


def test_the_courses_model_needs_no_builder(tmp_path, saved):
    task = ChineseNumerals((1, 3))
    model = Seq2Seq(task.source_vocabulary, task.target_vocabulary, d_embedding=5, d_hidden=7)
    history = fit(model, lambda step: task.training_batch(step, 11), steps=3)
    save(model, tmp_path / "numerals", history)
    loaded = load(tmp_path / "numerals")
    assert same(model, loaded) and loaded.settings == model.settings
    assert loaded.translate("十二").words == model.eval().translate("十二").words
    _refused(saved[1], "holds a Small, and its settings .* do not build", build=None)
