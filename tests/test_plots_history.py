"""plots.history: the curves are those of the run, and the words tell both axes."""

import math

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure

from attnkit import plots
from attnkit.history import History, Row

NAN = math.nan


def run(n, every=0, top=1.0):
    """A loss that halves each step, a validation that grows linearly to ``top``."""
    return History(
        Row(s, 0.5**s, 0.01, top * s / n if every and s % every == 0 else NAN, float(s))
        for s in range(1, n + 1)
    )


@pytest.fixture
def ax():
    return Figure(figsize=(6.4, 3.6)).add_subplot()


def test_a_short_run_is_drawn_as_it_is_with_validations_on_the_right(ax):
    h = run(12, every=5)
    assert plots.history(h, ax) is ax
    left, right = ax.figure.axes
    (loss,) = left.lines
    assert loss.get_xydata().tolist() == [[row.step, row.loss] for row in h]
    assert right.lines[0].get_xydata().tolist() == [[5, 5 / 12], [10, 10 / 12]]
    assert right.get_ylabel() == "validation" and right.yaxis.get_label_position() == "right"
    assert right.spines["right"].get_visible()
    assert right.get_ylim() == (-0.03, 1.03) and left.get_ylim()[0] == 0
    assert [t.get_text() for t in left.get_legend().get_texts()] == ["loss", "validation"]


def test_a_long_run_has_its_running_mean_in_the_middle_of_what_it_averages(ax):
    h = run(75)
    plots.history(h, ax)
    each, mean = ax.lines
    assert len(each.get_xdata()) == 75 and each.get_linewidth() < mean.get_linewidth()
    assert mean.get_label() == "mean of 3 steps"
    np.testing.assert_allclose(mean.get_xdata(), np.arange(2, 75))
    np.testing.assert_allclose(mean.get_ydata(), 0.5 ** np.arange(2, 75) * (2 + 1 + 0.5) / 3)
    assert len(ax.figure.axes) == 1, "no right axis without validations"


def test_validations_of_another_scale_keep_it_and_a_negative_loss_is_not_cut(ax):
    h = History([Row(1, 2.0, 0.1, -7.0, 0.1), Row(2, -1.0, 0.1, -5.0, 0.2)])
    plots.history(h, ax)
    left, right = ax.figure.axes
    assert left.get_ylim()[0] < -1 and right.get_ylim()[0] < -7 and right.get_ylim()[1] < 0


def test_one_step_can_be_seen(ax):
    plots.history(run(1), ax)
    assert ax.lines[0].get_marker() == "o" and ax.get_legend() is None


def test_both_axes_are_put_into_words_as_one_panel(ax):
    plots.history(run(4, every=2), ax).set_title("A run")
    expected = (
        'A run. Plot of loss against step. Line "loss": from 0.5 at 1 to 0.0625 at 4. '
        'Plot of validation against step. Line "validation": from 0.5 at 2 to 1 at 4.'
    )
    for drawn in (False, True):
        assert plots.describe(ax) == plots.describe(ax.figure) == expected, drawn
        assert plots.describe(ax.figure.axes[1]) == expected
        ax.figure.draw_without_rendering()


def test_two_runs_side_by_side_are_two_panels():
    figure = Figure(layout="constrained")
    left, right = figure.subplots(1, 2, sharex=True, sharey=True)
    plots.history(run(4, every=2), left)
    plots.history(run(4), right)
    figure.draw_without_rendering()
    text = plots.describe(figure)
    assert text.startswith("Figure with 2 panels. Panel 1: Plot of loss")
    assert text.count("Plot of validation") == 1 and text.count("Plot of loss") == 2
    assert left.get_position().width > 0.3, "the legend does not push the curves together"


def test_the_legend_covers_no_curve_and_no_label():
    for size in [(6.4, 3.6), (3.2, 3.0), (9, 2)]:
        figure = Figure(figsize=size, layout="constrained")
        ax = plots.history(run(60, every=20), figure.add_subplot())
        figure.draw_without_rendering()
        box = ax.get_legend().get_window_extent()
        assert not box.overlaps(ax.get_window_extent())
        assert not box.overlaps(ax.xaxis.label.get_window_extent())
        assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= figure.bbox.x1


def test_without_axes_a_pyplot_figure_is_made():
    from matplotlib import pyplot

    matplotlib.use("Agg")
    before = pyplot.get_fignums()
    ax = plots.history(run(3))
    try:
        assert pyplot.gcf() is ax.figure and len(pyplot.get_fignums()) == len(before) + 1
    finally:
        pyplot.close(ax.figure)


@pytest.mark.parametrize("bad", [None, 3, [1.0, 2.0], {"loss": [1]}])
def test_what_is_no_history_is_refused(bad):
    with pytest.raises(TypeError, match=r"wants the History that fit returns, got .*h = fit\("):
        plots.history(bad)


def test_a_run_without_steps_is_refused():
    with pytest.raises(ValueError, match="no steps to draw"):
        plots.history(History([]))
