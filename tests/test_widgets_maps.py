"""Widgets that draw weight maps, their Python side: packing, arithmetic, refusals, pictures."""

import doctest
import gzip
import importlib
import json
import math

import numpy as np
import pytest
import torch
from map_samples import causal, heads, words
from pictured import check_picture
from traitlets import TraitError

from attnkit.widgets import HeadBrowser, SnapshotWidget, maps, packing

KINDS = (HeadBrowser, SnapshotWidget)


def browser(**options):
    weights = heads(2, 3, 5, 5, mask=causal(5))
    return HeadBrowser(weights, words(5), mask=causal(5), **options)


def snapshots(**options):
    options = {"losses": [2.5, 1.25, 0.5, 0.25], **options}
    return SnapshotWidget(heads(4, 3, 5, 7), [0, 10, 40, 200], words(5), words(7), **options)


# ------------------------------------------------------------ one base64 digit for each weight


@pytest.mark.parametrize("n_keys", [1, 2, 3, 17, 64, 128])
def test_no_weight_is_off_by_more_than_is_said(n_keys):
    generator = torch.Generator().manual_seed(n_keys)
    rows = [
        torch.softmax(s * torch.randn(50, n_keys, generator=generator, dtype=torch.float64), -1)
        for s in (0.01, 0.3, 1.0, 3.0, 10.0, 50.0)
    ]
    for top in torch.linspace(0.01, 0.9999, 61, dtype=torch.float64):  # a few large, a flat tail
        for large in {1, 2, min(9, n_keys - 1)} - {0, n_keys}:
            row = torch.full((1, n_keys), float(1 - top) / max(1, n_keys - large)).double()
            row[0, :large] = top / large
            rows.append(row / row.sum())
    weights = torch.cat(rows)
    codes = packing.encode(weights)
    shown = packing.decode(codes)
    torch.testing.assert_close(shown, weights, rtol=0, atol=packing.TOLERANCE)
    torch.testing.assert_close(shown.sum(-1), torch.ones(len(weights), dtype=torch.float64))
    assert torch.equal(shown > 0, weights > 0)  # never a false nought
    assert torch.equal(shown.argmax(-1), shown.max(-1).indices) and int(codes.max()) <= 63
    largest = weights.gather(-1, shown.argmax(-1, keepdim=True))[:, 0]
    torch.testing.assert_close(largest, weights.amax(-1), rtol=0.1, atol=0)


def test_what_is_exact_stays_exact():
    exact = torch.tensor([[0, 1, 0, 0], [0.25] * 4, [0.5, 0, 0.5, 0], [0] * 4]).double()
    assert torch.equal(packing.decode(packing.encode(exact)), exact)


def test_the_largest_browser_weighs_less_than_300_kilobytes():
    """12 × 12 heads of 64 × 64, no mask, the noisiest weights: the worst that is allowed."""
    noise = torch.randn(12, 12, 64, 64, generator=torch.Generator().manual_seed(0))
    weights = torch.softmax(1.5 * noise, -1)
    widget = HeadBrowser(weights)
    code = ("_model", "_view_", "_esm", "_css")
    state = {k: v for k, v in widget.get_state().items() if not k.startswith(code)}
    assert len(gzip.compress(json.dumps(state).encode(), 6)) < 300_000
    torch.testing.assert_close(widget.weights(), weights[0, 0].double(), rtol=0, atol=0.005)


def test_masks_travel_once():
    assert packing.masks(None) == ([], [])
    assert packing.masks(torch.ones(2, 3, 5, 7).bool()) == ([], [])
    mask = torch.ones(2, 3, 5, 7).bool()
    mask[1, 2] = causal(5, 7)
    different, which = packing.masks(mask)
    assert len(different) == 2 and which == [0, 0, 0, 0, 0, 1]


# ------------------------------------------------------------------ arithmetic


@pytest.mark.parametrize("mass", [0.01, 0.3, 0.5, 0.9, 0.999, 1.0])
def test_the_kept_keys_are_the_fewest_that_hold_the_mass(mass):
    weights = heads(13, 5, 11).flatten(0, 1)
    for row, chosen in zip(weights, maps.kept(weights, mass), strict=True):
        ordered = row.sort(descending=True).values
        count = int(chosen.sum())
        assert ordered[:count].sum() >= mass - 1e-5
        assert count == 1 or ordered[: count - 1].sum() < mass
        assert torch.equal(row[chosen].sort(descending=True).values, ordered[:count])


def test_equal_weights_are_kept_from_the_first_on_and_noughts_never():
    row = torch.tensor([[0.0, 0.25, 0.25, 0.25, 0.25, 0.0]])
    assert maps.kept(row, 0.5).tolist() == [[False, True, True, False, False, False]]
    assert maps.kept(row, 1.0).tolist() == [[False, True, True, True, True, False]]
    assert not maps.kept(torch.zeros(1, 3), 0.5).any()


def test_the_chosen_head_is_read_from_python():
    weights = heads(2, 3, 5, 7)
    widget = HeadBrowser(weights, layer=1, head=2, mass=0.75)
    torch.testing.assert_close(widget.weights(), weights[1, 2], rtol=0, atol=0.005)
    assert torch.equal(widget.kept(), maps.kept(widget.weights(), 0.75))
    widget.layer, widget.mass = 0, 1.0
    torch.testing.assert_close(widget.weights(), weights[0, 2], rtol=0, atol=0.005)
    assert widget.kept().all()
    film = snapshots(step=40, head=1)
    torch.testing.assert_close(film.weights(), heads(4, 3, 5, 7)[2, 1], rtol=0, atol=0.005)
    assert film.loss() == 0.5 and snapshots(losses=None).loss() is None


@pytest.mark.parametrize(
    "weights",
    [
        heads(2, 3, 5, 5).float().requires_grad_(),
        heads(2, 3, 5, 5).bfloat16(),
        heads(2, 3, 5, 5).numpy().astype(np.float32),
        heads(2, 3, 5, 5).tolist(),
        [layer[None] for layer in heads(2, 3, 5, 5)],
    ],
)
def test_weights_come_as_people_hold_them(weights):
    widget = HeadBrowser(weights)
    assert repr(widget).startswith("HeadBrowser(2 layers × 3 heads, 5 queries × 5 keys")
    torch.testing.assert_close(widget.weights(), heads(2, 3, 5, 5)[0, 0], rtol=0, atol=0.01)


def test_one_map_is_one_head():
    assert "1 layer × 1 head, 5 queries × 7 keys" in repr(HeadBrowser(heads(5, 7)))
    assert "1 layer × 3 heads, 1 query × 1 key," in repr(HeadBrowser(heads(3, 1, 1)))
    film = SnapshotWidget(heads(4, 5, 7), [1, 2, 3, 4])
    assert film.weights().shape == (5, 7) and repr(film).startswith("SnapshotWidget(4 snapshots")


# ------------------------------------------------------------------ what is refused, and how


@pytest.mark.parametrize(
    ("weights", "options", "says"),
    [
        (None, {}, "got None"),
        (torch.ones(2, 3, 5, 5).bool(), {}, "got booleans"),
        (heads(2, 3, 5, 5) * 2, {}, "weights"),
        (torch.randn(2, 3, 5, 5), {}, "weights"),
        (heads(7, 2, 3, 5, 5), {}, "batch of 2"),
        (heads(1, 129), {}, "at most 128 queries and 128 keys, got 1 × 129"),
        (heads(13, 12, 64, 64), {}, r"got 13 × 12 × 64 × 64 = 638,976\. .*weights\[:12\]"),
        (heads(2, 3, 5, 5), {"query_tokens": "words"}, "a string is not a list of tokens"),
        (heads(2, 3, 5, 5), {"query_tokens": ["a"] * 4}, "query_tokens has 4 tokens, the map has"),
        (heads(2, 3, 5, 7), {"key_tokens": [1] * 7}, "key_tokens must hold strings"),
        (heads(2, 3, 5, 5), {"mask": causal(5)}, "mask"),
        (heads(2, 3, 5, 5), {"mask": torch.ones(5, 5)}, "boolean"),
        (heads(2, 3, 5, 5), {"names": ["only one"]}, "names has 1 tokens, the map has 2"),
        (heads(2, 3, 5, 5), {"layer": 2}, "below 2, the number of layers, got 2"),
        (heads(2, 3, 5, 5), {"head": 3}, "below 3, the number of heads, got 3"),
        (heads(2, 3, 5, 5), {"query": 5}, "below 5, the number of queries, got 5"),
        (heads(2, 3, 5, 5), {"head": 1.0}, r"Convert it with int"),
        (heads(2, 3, 5, 5), {"scale": "own"}, "one of 'shared', 'head', got 'own'"),
        (heads(2, 3, 5, 5), {"mass": 0}, "a number from 0.01 to 1, got 0"),
        (heads(2, 3, 5, 5), {"mass": 90}, "a number from 0.01 to 1, got 90"),
        (heads(2, 3, 5, 5), {"tokens": []}, "unknown argument 'tokens'. Use: head, layer, mass"),
    ],
)
def test_the_browser_refuses(weights, options, says):
    with pytest.raises((TypeError, ValueError, TraitError), match=says):
        HeadBrowser(weights, **options)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"steps": [0, 10, 40]}, "4 rising whole numbers, one for each snapshot, got 3 of them"),
        ({"steps": [0, 10, 10, 40]}, "Sort the snapshots"),
        ({"steps": [0, 10, 40, 80.5]}, r"got 80.5 \(float\)"),
        ({"steps": "0123"}, "as a list"),
        ({"losses": [1.0]}, r"got 1 of them\. Keep the loss at the snapshots"),
        ({"losses": [1.0, 2.0, math.nan, 1.0]}, "finite numbers"),
        ({"step": 41}, r"there is a snapshot, got 41\. The nearest one is 40"),
        ({"head": 3}, "below 3, the number of heads"),
        ({"query": 5}, "below 5, the number of queries"),
        ({"loss": []}, "unknown argument 'loss'"),
    ],
)
def test_snapshots_refuse(change, says):
    steps = change.pop("steps", [0, 10, 40, 80])
    with pytest.raises((TypeError, ValueError, TraitError), match=rf"SnapshotWidget.*{says}"):
        SnapshotWidget(heads(4, 3, 5, 7), steps, **change)


def test_weight_on_a_blocked_key_is_refused_even_where_it_is_small():
    weights = heads(2, 3, 5, 5, mask=causal(5))
    HeadBrowser(weights, mask=causal(5))
    with pytest.raises(ValueError, match="flipped"):
        HeadBrowser(weights, mask=~causal(5) | torch.eye(5).bool())


# ------------------------------------------------------------------ words, pictures, heights


def test_descriptions_have_the_numbers():
    widget = browser(layer=1, head=2, query=3)
    row = widget.weights()[3]
    text = widget.describe()
    assert text.startswith("Attention maps of 2 × 3 heads (layer 0, layer 1), 5 queries × 5 keys;")
    assert "Large: layer 1, head 2" in text and "40 % of its cells are blocked" in text
    best = int(row.argmax())
    assert f"Query <b>bold</b>: {100 * row[best]:.0f} % to {words(5)[best]}" in text
    assert "on its own scale" not in text
    widget.scale, widget.mass = "head", 0.5
    largest = math.floor(100 * widget.weights()[1:].max() + 0.5)  # the first has no choice
    assert f"each map on its own scale, this one from 0 to {largest} %" in widget.describe()
    assert f"{int(widget.kept()[3].sum())} keys of this query." in widget.describe()
    text = snapshots(step=10, head=1).describe()
    assert "head 1 of 3, 5 queries × 7 keys, at 4 snapshots" in text
    assert "steps 0 to 200. The loss goes from 2.5 to 0.25." in text
    assert [part in text for part in ("At step 0,", "At step 10,", "At step 200,")] == [True] * 3


def test_a_row_that_may_see_nothing_says_so():
    mask = causal(5)
    mask[2] = False
    weights = heads(1, 1, 5, 5, mask=mask)
    assert float(weights[0, 0, 2].sum()) == 0
    text = HeadBrowser(weights, mask=mask, query=2).describe()
    assert "Query 2 may attend to nothing." in text


def test_repr_is_stable_and_short():
    assert repr(browser()) == (
        "HeadBrowser(2 layers × 3 heads, 5 queries × 5 keys, layer=0, head=0, query=4)"
    )
    assert repr(browser(scale="head", mass=0.9, query=1)).endswith(
        "query=1, scale='head', mass=0.9)"
    )
    assert repr(snapshots()) == "SnapshotWidget(4 snapshots, step=200, head=0, query=4)"


@pytest.mark.parametrize(
    "make",
    [
        browser,
        lambda: browser(scale="head", mass=0.5),
        lambda: HeadBrowser(heads(7, 3), ["a", "b", "c", "d", "$x$", "\\frac", "中"], words(3)),
        snapshots,
        lambda: SnapshotWidget(heads(1, 1, 2, 2), [7]),
        lambda: SnapshotWidget(heads(11, 2, 5, 5, mask=causal(5)), range(11), mask=causal(5)),
    ],
)
def test_pictures_are_drawn_and_leave_no_figure(make):
    check_picture(make())


def test_the_picture_shows_the_chosen_map():
    widget = browser(layer=1, head=1)
    large = widget.picture().axes[1]
    shown = np.asarray(large.images[0].get_array())
    import matplotlib

    expected = matplotlib.colormaps["cividis"](widget.weights().numpy())
    seen = causal(5).numpy()
    assert np.allclose(shown[seen], expected[seen]) and "layer 1, head 1" in large.get_title("left")
    film = snapshots(step=10)
    titles = [axes.get_title("left") for axes in film.picture().axes]
    assert titles == ["step 0\nloss 2.5", "step 10\nloss 1.25", "step 40\nloss 0.5",
                      "step 200\nloss 0.25"]  # fmt: skip


@pytest.mark.parametrize("name", ["maps", "packing", "head_browser", "snapshots", "assets"])
def test_doctests(name):
    result = doctest.testmod(importlib.import_module(f"attnkit.widgets.{name}"))
    assert result.attempted and not result.failed
