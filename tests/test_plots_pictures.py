"""Mask diagrams, graphs and animations: their artists hold what was given."""

import gc
import math
import weakref

import numpy as np
import pytest
import torch
from matplotlib import colors
from matplotlib import pyplot as plt
from matplotlib.animation import FuncAnimation
from matplotlib.figure import Figure
from PIL import Image

from attnkit import causal_mask, masked_softmax, padding_mask, plots, sliding_window_mask
from attnkit.plots import graph, map_data
from attnkit.plots.map_cells import NOTHING
from attnkit.plots.mask_picture import ALLOWED, PARTLY

WORDS = ["the", "cat", "sat", "on", "the"]


def some(*shape, mask=None):
    generator = torch.Generator().manual_seed(0)
    return masked_softmax(2 * torch.randn(shape, generator=generator), mask)


@pytest.fixture
def ax():
    return Figure(figsize=(5, 4)).add_subplot()


# --- masks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [lambda m: m, lambda m: m.numpy(), lambda m: m.tolist()])
def test_a_mask_shows_who_may_attend_to_whom(ax, kind):
    mask = causal_mask(3, 5)
    assert plots.mask_diagram(kind(mask), WORDS[:3], WORDS, ax=ax, title="$m$") is ax
    cells = ax.images[0].get_array()
    assert (~np.ma.getmaskarray(cells)).tolist() == mask.tolist()
    may = ax.images[0].to_rgba(cells)[0, 0]
    assert colors.same_color(may, ALLOWED)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("key", "query")
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["may attend", "blocked"]
    assert not ax.title.get_parse_math() and ax.figure.axes == [ax]
    assert plots.describe(ax) == (
        "$m$. Mask, rows: 3 queries, columns: 5 keys; 3 of 15 pairs are blocked (hatched). "
        "Each query may attend to: the: the (0) to sat; cat: the (0) to on; sat: all."
    )


def test_a_row_for_all_queries_is_repeated_for_their_tokens(ax):
    plots.mask_diagram(padding_mask([3], 5), WORDS, ax=ax)
    shown = ~np.ma.getmaskarray(ax.images[0].get_array())
    assert shown.tolist() == [[True] * 3 + [False] * 2] * 5


def test_a_query_that_may_see_nothing_is_named(ax):
    mask = causal_mask(5)
    mask[2] = False
    plots.mask_diagram(mask, WORDS, ax=ax)
    (nothing,) = ax.texts
    assert nothing.get_text() == NOTHING and nothing.get_position()[1] == 2
    assert "sat: nothing" in plots.describe(ax)


def test_large_masks_are_drawn_in_blocks():
    n = 2 * map_data.LONGEST - 1
    ax = plots.mask_diagram(sliding_window_mask(n, 20))
    try:
        cells = ax.images[0].get_array()
        assert cells.shape == (map_data.LONGEST, map_data.LONGEST)
        colour = ax.images[0].to_rgba(cells)
        assert colors.same_color(colour[50, 45], ALLOWED)
        assert colors.same_color(colour[50, 50], PARTLY)
        assert ax.get_xlabel() == "key\nblocks of 2 × 2"
        assert "some of the block" in [t.get_text() for t in ax.get_legend().get_texts()]
        assert "between 1 and 20 keys" in plots.describe(ax)
    finally:
        plt.close(ax.figure)


@pytest.mark.parametrize(
    ("mask", "error", "message"),
    [
        (torch.eye(3), TypeError, "must be boolean"),
        (causal_mask(3)[0], ValueError, r"mask\[None\]"),
        (torch.ones(2, 1, 3, 3, dtype=torch.bool), ValueError, r"Choose one.*mask\[0, 0\]"),
        (torch.ones(0, 3, dtype=torch.bool), ValueError, "at least one query"),
        (None, TypeError, "must be boolean.*got NoneType"),
        ("causal", TypeError, "must be boolean.*got str"),
        ([[True, False], [True]], TypeError, "must be boolean.*got list"),
    ],
)
def test_masks_that_cannot_be_drawn(mask, error, message):
    with pytest.raises(error, match=message):
        plots.mask_diagram(mask)
    assert not plt.get_fignums()


# --- graphs ---------------------------------------------------------------------------------------


def test_a_line_for_every_weight_above_the_threshold_and_its_width(ax):
    weights = torch.tensor([[0.5, 0.25, 0.25], [0.05, 0.9, 0.05], [0.0, 0.0, 1.0]])
    assert plots.attention_graph(weights, ["a", "b", "a"], at_least=0.1, ax=ax) is ax
    (lines,) = ax.collections
    ends = {
        (round(-s[0, 1] - 0.5), round(-s[-1, 1] - 0.5)): w
        for s, w in zip(lines.get_segments(), lines.get_linewidths(), strict=True)
    }
    assert set(ends) == {(0, 0), (0, 1), (0, 2), (1, 1), (2, 2)}
    for (i, j), wide in ends.items():
        assert wide == pytest.approx(graph.WIDEST * float(weights[i, j]))
    alphas = lines.get_colors()[:, 3]
    assert (np.diff(alphas) >= 0).all() and alphas[0] < alphas[-1]  # strong lines lie on top
    assert ax.get_xlabel() == (
        "weights of at least 0.1: 97 % of all attention; 2 smaller not drawn"
    )


def test_repeated_tokens_are_nodes_of_their_own(ax):
    plots.attention_graph(some(5, 5), WORDS, ax=ax)
    left = [t for t in ax.texts if t.get_text() == "the" and t.get_ha() == "right"]
    assert len(left) == 2 and left[0].get_position()[1] != left[1].get_position()[1]
    assert not any(t.get_parse_math() for t in left)
    text = plots.describe(ax)
    assert text.startswith("Attention as a graph: 5 queries at the left, 5 keys at the right, ")
    assert "the (0) → " in text and "the (4) → " in text


def test_other_keys_stand_at_the_right(ax):
    plots.attention_graph(some(2, 7), ["我", "爱"], list("abcdefg"), ax=ax)
    right = [t.get_text() for t in ax.texts if t.get_ha() == "left"]
    assert right == [*"abcdefg", "key"]


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True, "0.1"])
def test_thresholds_that_are_refused(wrong):
    with pytest.raises(ValueError, match="at_least must be a weight"):
        plots.attention_graph(some(2, 3), at_least=wrong)


def test_thresholds_of_numpy_are_numbers(ax):
    plots.attention_graph([[0.75, 0.25]], at_least=np.float32(0.5), ax=ax)
    assert len(ax.collections[0].get_segments()) == 1


def test_words_of_masks_with_many_gaps_hold_numbers(ax):
    mask = torch.arange(1009).repeat(3, 1) % 2 == 0
    text = plots.describe(plots.mask_diagram(mask, ax=ax))
    assert text.endswith("A query may attend to between 505 and 505 keys.")


def test_graphs_have_a_largest_size():
    with pytest.raises(ValueError, match=r"at most 128 tokens.*plots\.heatmap"):
        plots.attention_graph(some(2, 129))
    assert not plt.get_fignums()


# --- animations -----------------------------------------------------------------------------------


def test_an_animation_goes_through_the_snapshots_on_one_scale():
    run = some(7, 3, 5, 5)
    animation = plots.animate(run, WORDS, names=[f"step {100 * i}" for i in range(7)], interval=50)
    assert isinstance(animation, FuncAnimation) and not plt.get_fignums()
    figure = animation._fig
    images = [ax.images[0] for ax in figure.axes[:3]]
    for step in (5, 2):
        animation._func(step)
        assert all(np.array_equal(i.get_array(), w) for i, w in zip(images, run[step], strict=True))
        assert figure.get_suptitle() == f"step {100 * step}"
        assert all(image.get_clim() == (0, 1) for image in images)
    page = animation.to_jshtml()
    assert page.count("data:image/png;base64") == 7
    text = plots.describe(figure)
    assert "over 7 snapshots, 3 heads, 5 queries" in text and "at step 600" in text


def test_an_animation_of_one_head_saves_with_pillow(tmp_path):
    mask = causal_mask(5)
    run = some(3, 5, 5, mask=mask)
    animation = plots.animate(run, WORDS, mask=mask)
    animation.save(tmp_path / "run.gif", writer="pillow", dpi=30)
    with Image.open(tmp_path / "run.gif") as film:
        assert film.n_frames == 3
    ax = animation._fig.axes[0]
    assert ax.title.get_text() == "snapshot 2" and not ax.texts  # no number of another snapshot


def test_nothing_is_left_of_an_animation():
    animation = plots.animate(some(2, 3, 3))
    animation._fig.set_dpi(20)
    animation.to_jshtml()
    figure = weakref.ref(animation._fig)
    del animation
    gc.collect()
    assert figure() is None


def test_animations_that_are_refused():
    with pytest.raises(ValueError, match="2 names, there are 3 snapshots"):
        plots.animate(some(3, 5, 5), names=["a", "b"])
    for wrong in (0, math.nan, math.inf):
        with pytest.raises(ValueError, match="interval must be"):
            plots.animate(some(3, 5, 5), interval=wrong)
    with pytest.raises(TypeError, match="names must be a sequence of strings, got 3"):
        plots.animate(some(3, 5, 5), names=3)
    with pytest.raises(ValueError, match="batch of 2"):
        plots.animate(some(3, 2, 7, 5, 5))
