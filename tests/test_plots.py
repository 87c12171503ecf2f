"""Figures in words: what is drawn is read back from the artists, with its numbers."""

import subprocess
import sys

import nbformat
import numpy as np
import pytest
from matplotlib import colors, rcParams
from matplotlib.figure import Figure
from nbclient import NotebookClient

from attnkit import plots
from attnkit.plots.style import COLOURS, PAPER


@pytest.fixture
def ax():
    return Figure().add_subplot()


def test_lines_are_told_by_ends_and_turns(ax):
    ax.plot([0, 1, 2, 3], [1, 5, -2, 2], label="scaled")
    ax.set(xlabel="step", ylabel="loss", title="Training")
    assert plots.describe(ax) == (
        'Training. Plot of loss against step. Line "scaled": from 1 at 0 to 2 at 3, '
        "lowest −2 at 2, highest 5 at 1."
    )


def test_an_unlabelled_and_a_constant_line(ax):
    ax.plot([2, 3, 7], [0.5, 0.5, 0.5])
    assert plots.describe(ax) == "Line: 0.5 from 2 to 7."


def test_gaps_in_a_line_are_passed_over(ax):
    ax.plot([0, 1, 2, 3], [np.nan, 1, 2, np.inf])
    assert plots.describe(ax) == "Line: from 1 at 1 to 2 at 2."


def test_rules_log_axes_and_tex_labels(ax):
    ax.loglog([1, 1024], [1, 32], label=r"$\sqrt{d_k}$")
    ax.axhline(0.25, label="theory")
    ax.axvline(64)
    ax.set(xlabel="$d_k$", ylabel=r"cost\$5")
    assert plots.describe(ax) == (
        "Plot of cost$5 (logarithmic) against d_k (logarithmic). "
        'Line "√(d_k)": from 1 at 1 to 32 at 1024. '
        'Horizontal line "theory" at 0.25. Vertical line at 64.'
    )


def test_of_many_lines_the_first_are_read_and_the_rest_counted(ax):
    for i in range(11):
        ax.plot([0, 1], [0, i], label=f"run {i}")
    text = plots.describe(ax)
    assert 'Line "run 5": from 0 at 0 to 5 at 1.' in text
    assert "run 6" not in text and "And 5 more; all lie between 0 and 10." in text


def test_bars_are_named_by_their_ticks(ax):
    ax.bar(["我", "爱", "中国"], [0.125, 0.25, 0.625])
    assert plots.describe(ax) == "Bars: 我 0.125, 爱 0.25, 中国 0.625."


def test_horizontal_and_many_bars(ax):
    ax.barh(np.arange(11) * 2, np.arange(11) + 1.5, label="time")
    assert plots.describe(ax) == 'Bars "time": 11 of them, highest 11.5 at 20, lowest 1.5 at 0.'


def test_histograms_give_range_and_peak(ax):
    ax.hist([0.5, 1.5, 1.6, 1.7, 3.5], bins=[-2, -1, 0, 1, 2, 3, 4, 5], label="scores")
    assert plots.describe(ax) == (
        'Histogram "scores": values from 0 to 4, most (3) between 1 and 2.'
    )


def test_stairs_and_step_histograms(ax):
    ax.stairs([0, 3, 1], [0, 1, 2, 3], label="a")
    ax.hist([0.5, 0.6, 1.5], bins=[0, 1, 2], histtype="step", label="b")
    text = plots.describe(ax)
    assert 'Histogram "a": values from 1 to 3, most (3) between 1 and 2.' in text
    assert 'Outline "b": from 0 to 2, highest 2 at 0.' in text


def test_heatmaps_name_the_highest_of_each_row_and_count_blocked_cells(ax):
    weights = np.ma.masked_equal([[0.9, 0.1, -1], [0.2, 0.3, 0.5]], -1)
    ax.imshow(weights)
    ax.set_xticks(range(3), ["I", "love", "China"])
    ax.set_yticks(range(2), ["我", "爱"])
    ax.set(xlabel="key", ylabel="query")
    assert plots.describe(ax) == (
        "Heatmap, rows: query and columns: key. 2 by 3 cells, 1 of them blank, from 0.1 to 0.9. "
        "Highest in each row: 我: 0.9 at I; 爱: 0.5 at China."
    )


def test_a_large_mesh_and_a_blank_one(ax):
    cells = np.zeros((13, 17))
    cells[5, 11] = 2
    ax.pcolormesh(cells)
    assert plots.describe(ax) == (
        "Heatmap. 13 by 17 cells, from 0 to 2. Highest at row 5.5, column 11.5."
    )
    blank = Figure().add_subplot()
    blank.imshow(np.full((2, 3), np.nan))
    assert plots.describe(blank) == "Heatmap. 2 by 3 cells, 6 of them blank."


def test_scatter_bands_and_error_bars(ax):
    ax.scatter([1, 2, 7], [0, -3, 5], label="heads")
    ax.fill_between([0, 1], [0, 0.25], [1, 2], label="spread")
    ax.errorbar([0, 1], [2, 3], yerr=0.5, label="mean")
    text = plots.describe(ax)
    assert '3 points "heads": horizontally from 1 to 7, vertically from −3 to 5.' in text
    assert 'Band "spread" between 0 and 2.' in text
    assert 'Line "mean": from 2 at 0 to 3 at 1.' in text


def test_every_panel_is_told_and_colour_bars_are_not():
    figure = Figure()
    left, right = figure.subplots(1, 2)
    figure.suptitle("Two heads")
    image = left.imshow([[0.0, 1.0]])
    figure.colorbar(image)
    right.plot([0, 1], [3, 4])
    text = plots.describe(figure)
    assert text.startswith("Two heads. 2 panels. Panel 1: Heatmap. 1 by 2 cells")
    assert text.endswith("Panel 2: Line: from 3 at 0 to 4 at 1.")


def test_diagrams_and_empty_figures(ax):
    assert plots.describe(ax) == "Empty axes."
    ax.text(0, 0, "$Q$")
    ax.text(0, 0, "softmax")
    assert plots.describe(ax) == "Diagram with the labels Q, softmax."
    assert plots.describe(Figure()) == "Empty figure."


def test_descriptions_stay_short_enough_to_be_heard():
    figure = Figure()
    for panel in figure.subplots(3, 3).flat:
        for i in range(9):
            panel.plot([0, 1], [i, i + 0.123456], label=f"a long label for run number {i}")
    assert len(plots.describe(figure)) <= 840


def test_alt_returns_what_it_got_and_refuses_what_is_no_text(ax):
    assert plots.alt(ax, " The loss\n falls. ") is ax
    assert plots.alt(ax.figure, "The loss falls.") is ax.figure
    with pytest.raises(TypeError, match=r"got ndarray.*alt\(axes\[0\], text\)"):
        plots.alt(np.array([ax]), "text")
    with pytest.raises(TypeError, match="must be a str, got int"):
        plots.alt(ax, 3)
    with pytest.raises(ValueError, match="is empty"):
        plots.alt(ax, " \n")
    with pytest.raises(ValueError, match="has 801 characters, at most 800"):
        plots.alt(ax, "x" * 801)
    with pytest.raises(TypeError, match="got list"):
        plots.describe([ax])


def _contrast(a: str, b: str) -> float:
    def light(colour):
        linear = [
            v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4
            for v in colors.to_rgb(colour)
        ]
        return float(np.dot(linear, [0.2126, 0.7152, 0.0722])) + 0.05

    x, y = sorted((light(a), light(b)))
    return y / x


@pytest.mark.parametrize("colour", COLOURS)
def test_colours_stand_out_from_the_paper(colour):
    assert _contrast(colour, PAPER) >= 3


def test_style_makes_figures_that_are_the_same_twice(tmp_path):
    before = dict(rcParams)
    try:
        plots.style()
        files = []
        for name in ("a.png", "b.png"):
            figure = Figure()
            figure.add_subplot().plot([1, 2])
            figure.savefig(tmp_path / name)
            files.append((tmp_path / name).read_bytes())
        assert files[0] == files[1]
        assert rcParams["axes.prop_cycle"].by_key()["color"] == list(COLOURS)
    finally:
        rcParams.update(before)


def test_importing_attnkit_does_not_import_matplotlib_and_plots_changes_nothing():
    code = (
        "import sys, attnkit; assert 'matplotlib' not in sys.modules\n"
        "import matplotlib; before = matplotlib.rcParams.copy()\n"
        "import attnkit.plots; assert matplotlib.rcParams.copy() == before\n"
        "assert 'IPython' not in sys.modules and 'matplotlib.pyplot' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_shown_figures_carry_their_text_in_a_notebook():
    cells = [
        "from attnkit import plots\nplots.style()",
        "import matplotlib.pyplot as plt\n"
        "fig, ax = plt.subplots()\nax.plot([0, 1], [3, 4])\nplots.alt(ax, 'Given text.');",
        "fig, ax = plt.subplots()\nax.plot([0, 1], [3, 4]);",
        "%matplotlib inline\nfig, ax = plt.subplots()\nax.plot([0, 1], [5, 6])\nplt.show()",
        "display(fig)",
        "for _ in range(2):\n    plots.alt(plt.figure().add_subplot(), 'One of two.')",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
    NotebookClient(notebook, timeout=120).execute()
    shown = [
        [o.metadata["image/png"]["alt"] for o in c.outputs if "image/png" in o.get("data", {})]
        for c in notebook.cells
    ]
    assert shown == [
        [],
        ["Given text."],
        ["Line: from 3 at 0 to 4 at 1."],
        ["Line: from 5 at 0 to 6 at 1."],
        ["Line: from 5 at 0 to 6 at 1."],
        ["One of two."] * 2,
    ]


def described(draw, **kwargs):
    """What is said of a figure, before it is drawn and after: the same."""
    figure = Figure()
    draw(figure.add_subplot(**kwargs))
    said = plots.describe(figure)
    figure.canvas.draw()
    assert plots.describe(figure) == said
    return said


def test_places_on_a_logarithmic_axis_are_numbers():
    said = described(lambda ax: ax.plot([1, 10, 100], [0.5, 3, 4]), xscale="log", yscale="log")
    assert said == "Line: from 0.5 at 1 to 4 at 100."


def test_bars_without_a_number_are_said_to_have_none():
    assert described(lambda ax: ax.bar(range(9), [np.nan] * 9)) == (
        "Bars: 9 of them, none with a number."
    )
    assert "empty" in described(lambda ax: ax.hist([], bins=[0, 1, 2, 3]))


@pytest.mark.parametrize(
    ("draw", "kwargs"),
    [
        (lambda ax: ax.contourf(np.arange(12).reshape(3, 4)), {}),
        (lambda ax: ax.quiver([0, 1], [0, 1], [1, 1], [1, 0]), {}),
        (lambda ax: ax.hexbin([1.0, 2, 3], [1.0, 2, 3], gridsize=3), {}),
        (lambda ax: ax.vlines([1, 2], 0, 1), {}),
        (lambda ax: ax.plot([0, 1], [1, 2], [2, 3]), {"projection": "3d"}),
        (lambda ax: ax.plot_surface(*np.mgrid[:3, :3], np.eye(3)), {"projection": "3d"}),
    ],
)
def test_what_has_no_words_is_neither_called_empty_nor_given_false_numbers(draw, kwargs):
    figure = Figure()
    ax = figure.add_subplot(**kwargs)
    draw(ax)
    for _ in range(2):
        said = plots.describe(figure)
        assert said.startswith("Drawing: horizontal axis from ")
        assert "Band" not in said and "Line" not in said
        figure.canvas.draw()


def test_one_point_is_one_point():
    assert described(lambda ax: ax.scatter([2], [3])).startswith("1 point:")


def test_the_longest_description_is_as_long_as_a_text_given_by_hand():
    said = described(lambda ax: ax.set_title("word " * 400))
    figure = Figure()
    assert len(said) <= 800 and plots.alt(figure, said) is figure
