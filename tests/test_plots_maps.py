"""Heatmaps and grids: the artists hold the weights, on one scale, and say what is left out."""

import gc

import matplotlib
import nbformat
import numpy as np
import pytest
import torch
from matplotlib import colors
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from nbclient import NotebookClient

from attnkit import causal_mask, masked_softmax, plots
from attnkit.plots.map_cells import HATCH, NOTHING, ink_on, weight_colours
from attnkit.plots.map_data import LONGEST

WORDS = ["the", "cat", "sat", "on", "the"]


def some(*shape, mask=None, spread=1.0):
    generator = torch.Generator().manual_seed(0)
    return masked_softmax(spread * torch.randn(shape, generator=generator), mask)


@pytest.fixture
def ax():
    return Figure(figsize=(5, 4)).add_subplot()


@pytest.fixture(autouse=True)
def no_figure_stays_open():
    yield
    plt.close("all")


def ticks(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def test_a_row_is_a_query_and_a_column_a_key(ax):
    weights = some(3, 5)
    assert plots.heatmap(weights, ["a", "b", "c"], WORDS, ax=ax, title="One head") is ax
    (image,) = ax.images
    assert torch.equal(torch.as_tensor(image.get_array().data), weights)
    assert image.get_clim() == (0, 1) and image.get_cmap().name == "cividis"
    assert ticks(ax.xaxis) == WORDS and ticks(ax.yaxis) == ["a", "b", "c"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("key", "query")
    assert ax.get_ylim() == (2.5, -0.5)  # the first query is at the top
    assert ax.figure.axes == [ax]  # no colour bar where axes were given
    assert ax.title.get_text() == "One head"


def test_other_peoples_defaults_do_not_turn_a_map_over():
    with matplotlib.rc_context({"image.origin": "lower"}):
        for ax in (plots.heatmap(torch.eye(3)), plots.mask_diagram(causal_mask(3))):
            # the first row of the array at the top, where the limits put the first query
            assert ax.images[0].origin == "upper" and ax.get_ylim() == (2.5, -0.5)


def test_square_maps_take_the_query_tokens_for_the_keys(ax):
    plots.heatmap(some(1, 1, 5, 5).numpy(), iter(WORDS), ax=ax)
    assert ticks(ax.xaxis) == ticks(ax.yaxis) == WORDS
    with pytest.raises(ValueError, match="query_tokens has 5 tokens, the map has 3 queries"):
        plots.heatmap(some(3, 5), WORDS)
    plots.heatmap(some(3, 5), ["a", "b", "c"], ax=(other := Figure().add_subplot()))
    assert ticks(other.xaxis) == ["0", "1", "2", "3", "4"]


def test_what_is_no_map_is_refused_before_anything_is_drawn():
    for wrong in (torch.randn(3, 5), torch.ones(3, 5), some(2, 3, 5), some(3, 5) * 1.1):
        with pytest.raises(ValueError, match="weights"):
            plots.heatmap(wrong)
    assert not plt.get_fignums()


def test_without_axes_a_pyplot_figure_gets_one_colour_bar():
    ax = plots.heatmap(some(5, 5), WORDS)
    assert plt.figure(plt.get_fignums()[0]) is ax.figure
    map_axes, bar = ax.figure.axes
    assert map_axes is ax and bar.get_label() == "<colorbar>" and bar.get_ylabel() == "weight"
    assert bar.get_ylim() == (0, 1)
    assert ax.figure.get_size_inches()[0] <= 5


def test_cells_hold_their_weights_and_a_zero_is_not_a_small_number(ax):
    plots.heatmap([[0.0, 0.001, 0.999], [1.0, 0.0, -0.0], [0.25, 0.375, 0.375]], ax=ax)
    held = {tuple(map(round, t.get_position())): t.get_text() for t in ax.texts}
    assert [held[j, 0] for j in range(3)] == ["0", "0.00", "1.00"]
    assert [held[j, 1] for j in range(3)] == ["1", "0", "0"]
    assert [held[j, 2] for j in range(3)] == ["0.25", "0.38", "0.38"]


def contrast(a, b):
    def light(colour):
        linear = [
            v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4
            for v in colors.to_rgb(colour)
        ]
        return float(np.dot(linear, [0.2126, 0.7152, 0.0722])) + 0.05

    x, y = sorted((light(a), light(b)))
    return y / x


def test_numbers_keep_their_contrast_at_every_weight(ax):
    for value in np.linspace(0, 1, 2001):
        colour = weight_colours()(float(value))
        assert contrast(ink_on(colour), colour[:3]) >= 4.5, value
    weights = torch.linspace(0, 0.5, 11)
    plots.heatmap(torch.stack([weights, 1 - weights], -1), ax=ax)
    assert len(ax.texts) == 22
    for text in ax.texts:
        j, i = map(round, text.get_position())
        cell = ax.images[0].to_rgba(ax.images[0].get_array())[i, j]
        assert contrast(text.get_color(), cell[:3]) >= 4.5


def blocked_cells(ax):
    """The cells that hatching covers, from the path that was drawn."""
    (patch,) = (p for p in ax.patches if isinstance(p, PathPatch))
    assert patch.get_hatch() and colors.same_color(patch.get_edgecolor(), HATCH)
    found = set()
    for corners in patch.get_path().vertices.reshape(-1, 5, 2):
        (left, top), (right, bottom) = corners.min(0) + 0.5, corners.max(0) + 0.5
        found |= {
            (i, j) for i in range(int(top), int(bottom)) for j in range(int(left), int(right))
        }
    return found


def test_blocked_cells_are_hatched_and_hold_no_number(ax):
    mask = causal_mask(5)
    mask[3] = False
    plots.heatmap(some(5, 5, mask=mask), WORDS, mask=mask, ax=ax)
    blocked = {tuple(at) for at in (~mask).nonzero().tolist()}
    assert blocked_cells(ax) == blocked
    assert np.ma.getmaskarray(ax.images[0].get_array()).tolist() == (~mask).tolist()
    numbers = [t for t in ax.texts if t.get_text() != NOTHING]
    held = {tuple(map(round, t.get_position()))[::-1] for t in numbers}
    assert held == {tuple(at) for at in mask.nonzero().tolist()}
    (nothing,) = (t for t in ax.texts if t.get_text() == NOTHING)
    assert nothing.get_position() == (2, 3)
    text = plots.describe(ax)
    assert "14 of 25 pairs are blocked (hatched)." in text and "May see nothing: on." in text


def test_a_row_of_zeros_may_see_nothing_without_a_mask_too(ax):
    plots.heatmap([[0.25, 0.75], [0.0, 0.0]], ax=ax)
    assert blocked_cells(ax) == {(1, 0), (1, 1)} and NOTHING in [t.get_text() for t in ax.texts]


def test_a_mask_that_the_weights_do_not_keep_is_refused():
    with pytest.raises(ValueError, match="where the mask blocks"):
        plots.heatmap(some(5, 5), mask=causal_mask(5))


@pytest.mark.parametrize("n", [37, 97])
def test_longer_maps_lose_numbers_and_some_labels(ax, n):
    plots.heatmap(some(n, n), [f"w{i}" for i in range(n)], ax=ax)
    assert not ax.texts
    shown = ticks(ax.xaxis)
    step = int(shown[1][1:])
    assert shown == [f"w{i}" for i in range(0, n, step)] and 1 < step <= 10
    assert ax.get_xlabel().startswith(f"key (every {step}")
    assert ax.images[0].get_array().shape == (n, n)


def test_beyond_the_limit_blocks_hold_shares_and_rows_still_sum_to_1(ax):
    n, keys = 3 * LONGEST - 5, 2 * LONGEST - 3
    weights = some(n, keys, spread=3)
    plots.heatmap(weights, ax=ax)
    cells = ax.images[0].get_array()
    assert cells.shape == (LONGEST - 1, LONGEST - 1)
    assert np.allclose(cells.sum(-1), 1, atol=1e-5)
    assert cells[2, 5] == pytest.approx(float(weights[6:9, 10:12].sum(-1).mean()))
    assert cells[-1, -1] == pytest.approx(float(weights[378:, 252:].sum(-1).mean()), rel=1e-5)
    assert ax.images[0].get_extent() == [-0.5, 253.5, 380.5, -0.5]  # places are still tokens
    assert "blocks of 3 × 2: share given to 2 keys, mean of 3 queries" in ax.get_xlabel()
    assert "Drawn in blocks of 3 by 2" in plots.describe(ax)
    assert plots.heatmap(some(LONGEST, 2)).images[0].get_array().shape == (LONGEST, 2)


def test_blocks_are_hatched_where_all_is_blocked_and_skip_queries_that_see_nothing(ax):
    n = 2 * LONGEST
    mask = causal_mask(n)
    mask[4] = False
    mask[8:10] = False
    weights = some(n, n, mask=mask)
    plots.heatmap(weights, mask=mask, ax=ax)
    cells = ax.images[0].get_array()
    hidden = np.ma.getmaskarray(cells)
    assert not hidden[7, :8].any() and hidden[7, 8:].all() and hidden[4].all()
    assert cells[2, 0] == pytest.approx(float(weights[5, :2].sum()))


def test_small_weights_are_said_and_never_rescaled(ax):
    plots.heatmap(torch.full((3, 11), 1 / 11), ax=ax)
    assert ax.images[0].get_clim() == (0, 1)
    assert ax.get_xlabel() == "key\nlargest weight 0.091"
    assert "All weights are small, at most 0.091." in plots.describe(ax)


def test_numbers_of_numpy_are_numbers():
    assert plots.heatmap(some(3, 5), vmax=np.float32(0.5)).images[0].get_clim() == (0, 0.5)
    panels = plots.head_grid(some(3, 5, 5), columns=np.int64(1)).axes[:3]
    assert len({panel.get_position().x0 for panel in panels}) == 1
    with pytest.raises(ValueError, match=r"vmax\.item\(\)"):
        plots.heatmap(some(3, 5), vmax=torch.tensor(0.5))


@pytest.mark.parametrize("draw", [plots.heatmap, plots.mask_diagram, plots.attention_graph])
def test_axes_that_cannot_be_drawn_into(draw, ax):
    given = torch.eye(3) if draw is not plots.mask_diagram else causal_mask(3)
    removed = ax.figure.add_subplot()
    removed.remove()
    for wrong, error, message in (
        (ax.figure, TypeError, r"got Figure\..*add_subplot"),
        (np.array([ax]), TypeError, r"got ndarray.*axes\[0\]"),
        (removed, ValueError, "was removed from its figure"),
        (Figure().add_subplot(projection="polar"), ValueError, "the projection 'polar'"),
    ):
        with pytest.raises(error, match=message):
            draw(given, ax=wrong)
    if draw is not plots.attention_graph:
        with pytest.raises(TypeError, match=r"title must be a string, got 5"):
            draw(given, ax=ax, title=5)
    assert not (ax.images or ax.collections or ax.texts or plt.get_fignums())


@pytest.mark.parametrize("draw", [plots.heatmap, plots.mask_diagram])
def test_tokens_without_an_order_are_refused(draw):
    given = torch.eye(3) if draw is plots.heatmap else causal_mask(3)
    for wrong in ({"a", "b", "c"}, {"a": 0, "b": 1, "c": 2}, 5):
        with pytest.raises(TypeError, match="in the order of the axis"):
            draw(given, wrong)
        with pytest.raises(TypeError, match="in the order of the axis"):
            draw(given[:1], wrong)


def test_another_scale_is_asked_for_and_said():
    ax = plots.heatmap(some(3, 5), vmax=0.2)
    assert ax.images[0].get_clim() == (0, 0.2)
    assert ax.get_xlabel() == "key\ncolours from 0 to 0.2 only; larger ones look the same"
    assert ax.figure.axes[1].get_ylim() == (0, 0.2)
    assert "colours from 0 to 0.2" in plots.describe(ax)
    for wrong in (0, 1.5, -1, True, "max"):
        with pytest.raises(ValueError, match="vmax must be above 0"):
            plots.heatmap(some(3, 5), vmax=wrong)


def test_the_words_hold_numbers_and_whole_tokens(ax):
    long = "internationalisation" * 2
    plots.heatmap([[0.25, 0.75], [0.875, 0.125]], ["$x$", long], title="Head $7$", ax=ax)
    assert plots.describe(ax) == (
        "Head $7$. Attention weights, rows: 2 queries, columns: 2 keys; colours from 0 to 1. "
        f"Largest weight of each query: $x$: 0.75 at {long}; {long}: 0.88 at $x$."
    )
    ax.clear()
    assert plots.describe(ax) == "Empty axes."


def test_words_of_long_maps_stay_short():
    n = 997
    mask = causal_mask(n)
    ax = plots.heatmap(some(n, n, mask=mask), ["word" * 9] * n, mask=mask)
    text = plots.describe(ax.figure)
    assert len(text) <= 800 and "Keys that get most" in text and f"{'word' * 9} (0)" in text


def test_a_grid_has_one_scale_and_one_colour_bar():
    weights = some(7, 5, 5)
    figure = plots.head_grid(weights, WORDS)
    *panels, bar = figure.axes
    assert len(panels) == 7 and bar.get_label() == "<colorbar>"
    for head, panel in enumerate(panels):
        assert np.array_equal(panel.images[0].get_array().data, weights[head])
        assert panel.images[0].get_clim() == (0, 1)
        assert panel.get_title(loc="center") == f"head {head}"
    assert ticks(panels[0].yaxis) == WORDS and ticks(panels[1].yaxis) == []
    assert ticks(panels[0].xaxis) == [] and ticks(panels[6].xaxis) == WORDS
    text = plots.describe(figure)
    assert "7 heads, each 5 queries by 5 keys" in text and "head 6 0." in text


def test_a_row_of_the_grid_is_a_layer():
    layers = [some(1, 3, 5, 7), some(1, 3, 5, 7).flip(1)]
    figure = plots.head_grid(layers, names=["early", "late"])
    panels = figure.axes[:6]
    assert np.array_equal(panels[4].images[0].get_array().data, layers[1][0, 1])
    assert [p.get_ylabel() for p in panels] == ["early", "", "", "late", "", ""]
    assert [p.get_title(loc="center") for p in panels[:3]] == ["head 0", "head 1", "head 2"]
    with pytest.raises(ValueError, match="3 names, there are 2 layers"):
        plots.head_grid(layers, names=["a", "b", "c"])
    with pytest.raises(ValueError, match="columns cannot be chosen for 2 layers"):
        plots.head_grid(layers, columns=2)


def test_columns_and_names_of_one_layer():
    figure = plots.head_grid(some(3, 5, 5), columns=1, names=["a", "$b$", "c"])
    panels = figure.axes[:3]
    assert len({p.get_position().x0 for p in panels}) == 1
    assert [p.title.get_text() for p in panels] == ["a", "$b$", "c"]
    assert not any(p.title.get_parse_math() for p in panels)
    with pytest.raises(ValueError, match="columns must be at least 1"):
        plots.head_grid(some(3, 5, 5), columns=0)
    with pytest.raises(TypeError, match="sequence of strings, got 'abc'"):
        plots.head_grid(some(3, 5, 5), names="abc")


def test_masks_reach_every_head():
    mask = causal_mask(5)
    figure = plots.head_grid(some(2, 3, 5, 5, mask=mask), WORDS, mask=mask)
    blocked = {tuple(at) for at in (~mask).nonzero().tolist()}
    assert all(blocked_cells(panel) == blocked for panel in figure.axes[:6])
    assert "Blocked cells are hatched." in plots.describe(figure)


def test_twelve_by_twelve_heads():
    figure = plots.head_grid(some(12, 12, 11, 11))
    assert len(figure.axes) == 145
    places = [ax.get_position() for ax in figure.axes]
    assert all(0 < p.x0 < p.x1 < 1 and 0 < p.y0 < p.y1 < 1 for p in places)
    assert "layer" in plots.describe(figure) and len(plots.describe(figure)) <= 800


def test_heatmaps_in_given_axes_leave_nothing_behind():
    mask = causal_mask(2)
    weights = some(2, 2, mask=mask)

    def draw(times):
        for _ in range(times):
            plots.heatmap(weights, ["我", "$a$"], mask=mask, ax=Figure().add_subplot())
        gc.collect()
        return len(gc.get_objects())

    before = draw(20)
    assert draw(100) - before < 100
    assert not plt.get_fignums()


def test_30_heatmaps_in_notebook_cells_leave_no_figure_open():
    """From the 21st open figure on pyplot warns."""
    first = (
        "%matplotlib inline\nimport torch\nfrom matplotlib import pyplot\n"
        "from attnkit import plots\npyplot.rcParams['figure.dpi'] = 30\n"
    )
    draw = "plots.heatmap(torch.eye(3))"
    cells = [first + draw, *[draw] * 29, "pyplot.get_fignums()"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
    NotebookClient(notebook, kernel_name="python3", timeout=120).execute()
    for cell in notebook.cells[:-1]:
        (picture,) = (o for o in cell.outputs if "image/png" in o.data)
        assert "Attention weights, rows: 3 queries" in picture.metadata["image/png"]["alt"]
    assert notebook.cells[-1].outputs[0].data["text/plain"] == "[]"


def test_only_the_given_axes_are_touched():
    before = matplotlib.rcParams.copy()
    figure, (left, right) = plt.subplots(1, 2)
    plt.sca(left)
    plots.heatmap(some(3, 5), ax=right)
    assert plt.gca() is left and not left.images and figure.axes == [left, right]
    assert matplotlib.rcParams.copy() == before and len(plt.get_fignums()) == 1
