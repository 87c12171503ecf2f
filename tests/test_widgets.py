"""The widgets' Python side: traits, errors, tables, static picture (tests/browser has the rest)."""

import base64
import gzip
import math
import struct

import ipywidgets
import nbformat
import numpy as np
import pytest
import torch
from nbclient import NotebookClient
from traitlets import TraitError

from attnkit.widgets import ScalingWidget, SoftmaxWidget, assets, tables
from attnkit.widgets.drawing import drawable
from attnkit.widgets.measures import entropy, jacobian_norm, softmax_row


@pytest.mark.parametrize(
    ("widget", "text"),
    [
        (ScalingWidget(), "ScalingWidget(d_k=64, scale=True, temperature=1.0)"),
        (
            ScalingWidget(d_k=7, scale=False, temperature=2, prediction=0.25, revealed=True),
            "ScalingWidget(d_k=7, scale=False, temperature=2.0, prediction=0.25, revealed=True)",
        ),
        (
            SoftmaxWidget([1, 2], ["a", "b"], shift=3),
            "SoftmaxWidget(scores=[1.0, 2.0], labels=['a', 'b'], temperature=1.0, shift=3.0)",
        ),
    ],
)
def test_repr_can_be_typed_back(widget, text):
    assert repr(widget) == text
    assert repr(eval(text)) == text


# ------------------------------------------------------------------ what is refused, and how


@pytest.mark.parametrize(
    ("trait", "value", "says"),
    [
        ("d_k", 0, "from 1 to 1024, got 0"),
        ("d_k", 1025, "from 1 to 1024, got 1025"),
        ("d_k", 64.0, r"got 64\.0 \(float\)\. Convert it with int"),
        ("d_k", True, "got True"),
        ("d_k", "64", "got '64'"),
        ("d_k", None, "got None"),
        ("temperature", 0, "greater than 0, got 0"),
        ("temperature", -1.5, r"greater than 0, got -1\.5"),
        ("temperature", math.nan, "got nan"),
        ("temperature", math.inf, "got inf"),
        ("temperature", True, "got True"),
        ("sample", 8, "from 0 to 7, got 8"),
        ("prediction", 1.01, "from 0 to 1 or None, got 1.01"),
        ("prediction", "half", "got 'half'"),
        ("prediction", math.nan, "got nan"),
    ],
)
def test_scaling_refuses(trait, value, says):
    widget = ScalingWidget()
    before = repr(widget)
    with pytest.raises(TraitError, match=rf"ScalingWidget\.{trait}: expected .*{says}"):
        setattr(widget, trait, value)
    with pytest.raises(TraitError, match=rf"ScalingWidget\.{trait}: expected .*{says}"):
        ScalingWidget(**{trait: value})
    assert repr(widget) == before


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"scores": []}, "scores: expected a list of 1 to 64 .* 0 numbers"),
        ({"scores": list(range(65))}, "expected a list of 1 to 64 .* 65 numbers"),
        ({"scores": [1.0, math.nan]}, "Number 2 of the list is nan"),
        ({"scores": [1.0, -math.inf]}, "leave it out"),
        ({"scores": [[1.0, 2.0]]}, r"Number 1 of the list is \[1\.0, 2\.0\]"),
        ({"scores": [True]}, "Number 1 of the list is True"),
        ({"scores": 3.0}, "Pass one row of scores"),
        ({"scores": "123"}, "Pass one row of scores"),
        ({"scores": torch.zeros(2, 3)}, "Number 1 of the list"),
        ({"scores": torch.tensor(3.0)}, "Pass one row of scores"),
        ({"scores": [1.0, 2.0], "labels": ["a"]}, "as many labels as scores"),
        ({"scores": [1.0, 2.0], "labels": "ab"}, "Split the text into tokens"),
        ({"scores": [1.0, 2.0], "labels": ["a", 7]}, r"Label 2 is 7: convert it with str"),
        ({"temperature": 0.0}, "greater than 0"),
        ({"shift": math.inf}, "a finite number, got inf"),
    ],
)
def test_softmax_refuses(arguments, says):
    with pytest.raises(TraitError, match=says):
        SoftmaxWidget(**arguments)


def test_unknown_arguments_and_seeds_are_refused():
    with pytest.raises(TypeError, match=r"'d_key'\. Use: d_k, prediction, revealed"):
        ScalingWidget(d_key=64)
    with pytest.raises(TypeError, match="expected seed to be an int"):
        ScalingWidget(seed=0.5)


def test_a_refused_pair_leaves_the_widget_as_it_was():
    widget = SoftmaxWidget([1.0, 2.0], ["a", "b"])
    with pytest.raises(TraitError), widget.hold_trait_notifications():
        widget.scores = [1.0, 2.0, 3.0]
        widget.labels = ["a"]
    assert (widget.scores, widget.labels) == ([1.0, 2.0], ["a", "b"])
    with widget.hold_trait_notifications():
        widget.scores = [1.0, 2.0, 3.0]
        widget.labels = ["a", "b", "c"]
    assert widget.weights().shape == (3,)


# ------------------------------------------------------------------ traits as ipywidgets use them


def test_numbers_of_other_libraries_are_taken_and_nothing_of_the_caller_is_kept():
    scores = torch.tensor([0.5, 1.0], dtype=torch.float64)
    labels = ["x", "y"]
    widget = SoftmaxWidget(scores, labels)
    widget.scores[0] = 99.0
    widget.labels[0] = "changed"
    assert scores.tolist() == [0.5, 1.0] and labels == ["x", "y"]
    scaling = ScalingWidget(d_k=torch.tensor([5]).numpy()[0])
    assert scaling.d_k == 5 and type(scaling.d_k) is int
    scaling.key_vectors.zero_()
    scaling.query_vector.zero_()
    assert scaling.scores().abs().sum() > 0


def test_labels_are_numbered_when_none_are_given():
    assert SoftmaxWidget([3.0, 1.0]).labels == ["token 1", "token 2"]
    assert SoftmaxWidget().labels == ["我", "爱", "中国"]


def test_traits_observe_and_link():
    widget, other, slider = ScalingWidget(), ScalingWidget(), ipywidgets.IntSlider(max=1024)
    seen = []
    widget.observe(lambda change: seen.append(change["new"]), "d_k")
    ipywidgets.link((widget, "d_k"), (slider, "value"))
    ipywidgets.dlink((widget, "d_k"), (other, "d_k"))
    slider.value = 97
    assert seen == [64, 97][-len(seen) :] and widget.d_k == 97 and other.d_k == 97
    widget.d_k = 31
    assert slider.value == 31


def test_a_message_of_the_browser_sets_the_traits():
    widget = ScalingWidget()
    widget.set_state({"d_k": 128, "scale": False, "temperature": 2, "prediction": 0.5})
    assert (widget.d_k, widget.scale, widget.temperature, widget.prediction) == (128, False, 2, 0.5)


# ------------------------------------------------------------------ numbers


@pytest.mark.parametrize("d_k", [1, 2, 63, 256, 1023, 1024])
@pytest.mark.parametrize("scale", [True, False])
def test_scaling_is_pytorchs_attention(d_k, scale):
    widget = ScalingWidget(d_k=d_k, scale=scale, sample=3, temperature=0.7)
    query = widget.query_vector[None, :d_k]
    keys = widget.key_vectors[:, :d_k]
    identity = torch.eye(64, dtype=torch.float64)
    unit = 1 / math.sqrt(d_k) if scale else 1.0
    expected = torch.nn.functional.scaled_dot_product_attention(
        query, keys, identity, scale=unit / 0.7
    )
    torch.testing.assert_close(widget.weights(), expected[0], rtol=1e-12, atol=1e-15)


def test_measure_is_autograds_jacobian():
    widget = ScalingWidget(d_k=16, temperature=0.5)
    inputs = widget.scores() / 0.5
    jacobian = torch.autograd.functional.jacobian(lambda z: z.softmax(-1), inputs)
    measured = widget.measure()
    assert measured["jacobian_norm"] == pytest.approx(float(torch.linalg.norm(jacobian)), rel=1e-12)
    p = widget.weights()
    assert measured["entropy"] == pytest.approx(float(-(p * p.log()).sum()), rel=1e-12)
    assert measured["normalized_entropy"] == pytest.approx(measured["entropy"] / math.log(64))
    assert measured["largest_weight"] == float(p.max())


def test_extremes_stay_finite():
    for scores, temperature in ([1e308, -1e308, 0.0], 1e-300), ([1e4, -1e4], 1e300), ([7.0], 3.0):
        weights = softmax_row(torch.tensor(scores, dtype=torch.float64), temperature)
        assert weights.isfinite().all() and weights.sum() == pytest.approx(1)
        assert math.isfinite(entropy(weights)) and math.isfinite(jacobian_norm(weights))


def test_tables_agree_with_theory_and_say_so_exactly():
    drawn = tables.score_tables(0)
    theory = torch.arange(1, 1025).sqrt()
    assert (drawn.spread / theory - 1).abs().max() < 0.05
    assert (drawn.spread / theory - 1).abs().max() > 0  # measured, not the formula
    at_256 = drawn.density[tables.HISTOGRAM_D.index(256)]
    centres = torch.linspace(-3.9, 3.9, 40, dtype=torch.float64)
    normal = torch.exp(-centres.square() / 2) / math.sqrt(2 * math.pi)
    assert (at_256 - normal).abs().max() < 0.04
    # At d_k = 1 a product of two normals is peaked: the normal curve is the limit, not the law.
    assert drawn.density[0].max() > 0.8
    vectors = torch.cat([drawn.queries, drawn.keys])
    assert torch.equal((vectors * 8).round(), vectors * 8)
    assert vectors.std().item() == pytest.approx(1, abs=0.01)
    assert vectors.mean().item() == pytest.approx(0, abs=0.01)


def test_packing_round_trips():
    vectors = tables.score_tables(0).keys[:3]
    digits = tables.pack_digits(vectors)
    assert len(digits) == vectors.numel()
    back = torch.tensor([(tables.BASE64.index(d) - 32) / 8 for d in digits], dtype=torch.float64)
    assert torch.equal(back.view_as(vectors), vectors)
    values = torch.tensor([0.0, 1.5, -2.25, 6e-8, 65504.0])
    packed = base64.b64decode(tables.pack_float16(values))
    assert list(struct.unpack("<5e", packed)) == values.half().tolist()


def test_seeds_differ_and_repeat():
    assert torch.equal(ScalingWidget(seed=1).weights(), ScalingWidget(seed=1).weights())
    assert not torch.equal(ScalingWidget(seed=1).weights(), ScalingWidget(seed=2).weights())


def test_the_caller_s_random_state_is_left_alone():
    tables.score_tables.cache_clear()
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    ScalingWidget()
    assert torch.equal(torch.rand(1), expected)


def test_weight_of_the_state_on_a_page():
    state = ScalingWidget().get_state()
    carried = "".join(str(value) for value in state.values())
    assert len(gzip.compress(carried.encode())) < 80_000


# ------------------------------------------------------------------ the static picture


@pytest.mark.parametrize("widget", [ScalingWidget(d_k=4, scale=False), SoftmaxWidget()])
def test_bundle_has_view_text_and_picture_with_alt(widget):
    data, metadata = widget._repr_mimebundle_()
    assert data["text/plain"] == repr(widget)
    assert data["application/vnd.jupyter.widget-view+json"]["model_id"] == widget.model_id
    assert base64.b64decode(data["image/png"]).startswith(b"\x89PNG")
    assert metadata["image/png"]["alt"] == widget.describe()
    assert widget._repr_mimebundle_(include=None, exclude=None)[0].keys() == data.keys()


def test_picture_is_deterministic_and_follows_the_traits():
    widget = SoftmaxWidget()
    first = widget.png()
    assert first == SoftmaxWidget().png()
    widget.temperature = 4.0
    assert widget.png() != first
    bars = [patch.get_width() for patch in widget.picture().axes[0].patches]
    assert bars == pytest.approx(widget.weights().tolist())


def test_scaling_picture_draws_the_weights_and_the_guess():
    widget = ScalingWidget(d_k=256, scale=False, prediction=0.3)
    scores, weights = widget.picture().axes
    assert [p.get_height() for p in weights.patches] == pytest.approx(widget.weights().tolist())
    assert weights.get_ylim() == (0, 1)
    assert [line.get_ydata()[0] for line in weights.lines] == [0.3]
    assert max(scores.lines[0].get_ydata()) == pytest.approx(1 / (16 * math.sqrt(2 * math.pi)))


def test_description_has_the_numbers():
    text = SoftmaxWidget().describe()
    assert "中国: score 5.8, 99.4 %" in text and "我: score 0.05, 0.3 %" in text
    text = ScalingWidget(d_k=256, scale=False).describe()
    assert "d_k = 256" in text and "theory 16" in text and "not scaled" in text


def test_labels_are_drawn_literally_and_never_as_boxes():
    odd = ["cost$5 and $6", "<b>", " the", "a\nb", "", "\U0010fffd", "x" * 99]
    assert drawable(odd)[:5] == ["cost$5 and $6", "<b>", "␣the", "a⏎b", "(empty)"]
    assert drawable(odd)[5] == "token 6"
    assert len(drawable(odd)[6]) == 24
    labels = SoftmaxWidget([1.0] * 7, odd).picture().axes[0].get_yticklabels()
    assert not any(label.get_parse_math() for label in labels)
    assert SoftmaxWidget([1.0] * 7, odd).png().startswith(b"\x89PNG")


def test_a_notebook_stores_picture_and_alt():
    source = "from attnkit.widgets import SoftmaxWidget\nSoftmaxWidget([0.0, 1.0])"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    NotebookClient(notebook, kernel_name="python3", timeout=120).execute()
    (output,) = notebook.cells[0].outputs
    assert base64.b64decode(output.data["image/png"]).startswith(b"\x89PNG")
    assert output.metadata["image/png"]["alt"].startswith("Bar chart of softmax weights")
    assert output.data["text/plain"].startswith("SoftmaxWidget(scores=[0.0, 1.0]")


# ------------------------------------------------------------------ joining modules


@pytest.mark.parametrize(
    "name",
    [
        "bottleneck",
        "cost",
        "deletion",
        "head_browser",
        "heads",
        "length",
        "mask_editor",
        "position",
        "scaling",
        "snapshots",
        "softmax",
        "temperature",
        "thresholds",
        "translation",
    ],
)
def test_joined_modules_import_nothing(name):
    source = assets.esm(name)
    assert source.count("export ") == 1 and source.rstrip().endswith("export default { render };")
    assert "import {" not in source.split("*/", 1)[1]
    assert " id=" not in source and "innerHTML" not in source


CORE = "export function half(x) {\n  return x / 2;\n}\nexport const TWO = 2;\n"


@pytest.mark.parametrize(
    ("core", "module", "says"),
    [
        (CORE, 'import { third } from "./core.js";\n', "imports third from core.js"),
        (CORE, 'import { half as h } from "./core.js";\n', "half as h"),
        (CORE, 'import * as core from "./core.js";\n', r"got `import \* as core"),
        (CORE, 'import x from "https://example.org/x.js";\n', "got `import x"),
        (CORE, 'import { half } from "./maps.js";\n', "imports half from maps.js"),
        (CORE, "const TWO = 3;\n", "TWO stands at the top level of two"),
        ("export { a };\n", "", "by name only"),
    ],
)
def test_what_cannot_be_joined_is_refused(core, module, says):
    with pytest.raises(ValueError, match=says):
        assets.join_modules({"core": core}, module)


def test_a_long_import_list_is_joined():
    joined = assets.join_modules(
        {"core": CORE},
        'import {\n  half, TWO,\n} from "./core.js";\nexport default { a: half(TWO) };\n',
    )
    assert joined.startswith("function half(x)") and "const TWO = 2;\nexport default" in joined


def test_a_shared_module_may_import_another():
    maps = 'import { half } from "./core.js";\nexport const map = half(1);\n'
    module = 'import { map } from "./maps.js";\nexport default { map };\n'
    joined = assets.join_modules({"core": CORE, "maps": maps}, module)
    assert joined == f"{CORE}const map = half(1);\nexport default {{ map }};\n".replace(
        "export func", "func"
    ).replace("export const", "const")
    with pytest.raises(ValueError, match=r"maps\.js imports half from core\.js"):
        assets.join_modules({"maps": maps, "core": CORE}, module)  # the other way round


def test_labels_may_be_an_array():
    widget = SoftmaxWidget([1.0, 2.0], np.array(["a", "b"]))
    assert widget.labels == ["a", "b"] and type(widget.labels[0]) is str
