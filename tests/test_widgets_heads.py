"""HeadsWidget from Python: which runs fit together, what is enough, the guess, the picture."""

import math

import pytest
import torch
from heads_samples import NUMBERS, PLACES, heads_run, heads_runs, heads_widget
from traitlets import TraitError

from attnkit.widgets import HeadsRun, HeadsWidget, drawing, measures
from attnkit.widgets import heads_runs as runs_module

TOKENS = [f"t{i}" for i in range(PLACES)]


def test_repr_and_traits():
    widget = heads_widget(num_heads=4, head=3, query=2)
    assert repr(widget) == (
        "HeadsWidget(models with 1, 2, 4, 16, 32 heads, 11 queries × 11 keys, num_heads=4, "
        "head=3, query=2)"
    )
    assert heads_widget().num_heads == 1 and heads_widget().query == PLACES - 1
    assert heads_widget((4, 2)).num_heads == 2  # the runs are sorted


def test_weights_are_those_given_within_half_a_percent():
    widget = heads_widget(num_heads=16, head=5)
    given = heads_run(16).weights[5]
    assert (widget.weights() - given).abs().max() <= 0.005
    torch.testing.assert_close(widget.weights().sum(-1), torch.ones(PLACES).double())
    widget.weights().zero_()
    assert widget.weights().sum() > 0
    assert widget.accuracy() == heads_run(16).accuracy


def test_a_head_that_the_next_model_lacks_becomes_the_first():
    widget = heads_widget(num_heads=16, head=5)
    widget.num_heads = 4
    assert widget.head == 0
    widget.head = 3
    widget.num_heads = 16
    assert widget.head == 3
    with pytest.raises(TraitError, match="below 16, the number of heads, got 16"):
        widget.head = 16


@pytest.mark.parametrize(
    ("medians", "enough"),
    [((0.2, 0.95, 0.99), 3), ((0.2, 0.949, 0.99), 5), ((0.2, 0.3, 0.9), 0), ((1.0, 0.1, 0.1), 2)],
)
def test_enough_is_the_first_number_whose_median_reaches_95_percent(medians, enough):
    maps = torch.eye(7).expand(5, 7, 7)
    runs = {
        heads: HeadsRun(maps[:heads], (0.0, median, 1.0), 2)
        for heads, median in zip((2, 3, 5), medians, strict=True)
    }
    assert HeadsWidget(runs).enough() == enough


def test_the_guess_is_one_of_the_runs_or_none_of_them():
    widget = heads_widget()
    assert widget.prediction is None and widget.revealed is False
    for guess in (*NUMBERS, 0, None):
        widget.prediction = guess
    for guess in (3, 64):
        with pytest.raises(TraitError, match=r"one of 0, 1, 2, 4, 16, 32, got .*none of them"):
            widget.prediction = guess
    with pytest.raises(TraitError, match=r"num_heads: expected one of 1, 2, 4, 16, 32, got 8"):
        widget.num_heads = 8


EYE = torch.eye(7)[None]


@pytest.mark.parametrize(
    ("runs", "error", "says"),
    [
        ([heads_run(1)], TypeError, "a dict of 1 to 12 numbers of heads"),
        ({}, ValueError, "got 0 of them"),
        ({1: (EYE, (1.0,), 4)}, TypeError, "a HeadsRun"),
        ({True: HeadsRun(EYE, (1.0,), 4)}, ValueError, "whole numbers of heads from 1 to 64"),
        ({2: HeadsRun(EYE, (1.0,), 4)}, ValueError, r"runs\[2\]\.weights: expected 2 maps, got 1"),
        ({1: HeadsRun(2 * EYE, (1.0,), 4)}, ValueError, r"runs\[1\]: weights"),
        ({1: HeadsRun(EYE, (), 4)}, ValueError, "shares from 0 to 1, one for each seed"),
        ({1: HeadsRun(EYE, 0.9, 4)}, ValueError, r"A single one is \(0\.98,\)"),
        ({1: HeadsRun(EYE, (98.0,), 4)}, ValueError, "got 98.0. Shares .*, not percent"),
        ({1: HeadsRun(EYE, (math.nan,), 4)}, ValueError, "got nan"),
        ({1: HeadsRun(EYE, (1.0,), 0.5)}, ValueError, "d_model divided by the number of heads"),
        (
            {1: HeadsRun(EYE, (1.0,), 4), 2: HeadsRun(torch.eye(5).expand(2, 5, 5), (1.0,), 2)},
            ValueError,
            "maps of one shape in all runs, got 1 heads: 7 × 7, 2 heads: 5 × 5",
        ),
        ({1: HeadsRun(torch.eye(67)[None], (1.0,), 4)}, ValueError, "at most 64 queries"),
    ],
)
def test_runs_that_do_not_fit_are_refused(runs, error, says):
    with pytest.raises(error, match=says):
        HeadsWidget(runs)


def test_tokens_must_be_as_many_as_queries():
    with pytest.raises(ValueError, match=r"HeadsWidget: query_tokens"):
        heads_widget(tokens=TOKENS[:-1])
    with pytest.raises(TypeError, match="unknown argument 'seed'"):
        heads_widget(seed=3)


def test_maps_need_not_be_square():
    maps = torch.softmax(torch.arange(30.0).reshape(2, 3, 5).sin(), -1)
    runs = {1: HeadsRun(maps[:1], (0.5,), 2), 2: HeadsRun(maps, (1.0,), 1)}
    widget = HeadsWidget(runs, list("abc"), key_tokens=list("vwxyz"), num_heads=2, head=1)
    assert widget.weights().shape == (3, 5)
    assert "query c" in widget.describe().lower()
    assert widget.png().startswith(b"\x89PNG")


def test_thumbnails_are_in_rows_of_at_most_eight_where_that_is_even():
    for heads in range(1, 65):
        rows, columns = runs_module.table_of(heads)
        assert rows * columns == heads and len(runs_module.row_names(heads)) == rows
        assert columns <= 8 or rows == 1


def test_the_description_has_every_number():
    text = heads_widget(num_heads=2, head=1, query=3, tokens=TOKENS).describe()
    for heads, run in heads_runs().items():
        accuracy = sorted(run.accuracy)
        low, median, high = (measures.percent(accuracy[i]) for i in (0, 2, 4))
        assert f"{heads}: median {median}, from {low} to {high} over 5 seeds" in text
    assert "all 2 heads of the model with 2, 16 features each" in text
    assert "Large: head 1. Query t3: " in text and "% to t3" in text


def test_the_picture_draws_every_seed_the_median_and_the_guess():
    widget = heads_widget(num_heads=4, head=2, prediction=16)
    chart, thumbs, large = widget.picture().axes
    seeds = [line for line in chart.lines if line.get_marker() == "o"]
    assert [list(line.get_ydata()) for line in seeds] == [
        list(heads_run(heads).accuracy) for heads in NUMBERS
    ]
    (median,) = [line for line in chart.lines if len(line.get_ydata()) == 5 and line not in seeds]
    assert list(median.get_ydata()) == [sorted(heads_run(h).accuracy)[2] for h in NUMBERS]
    (guess,) = [line for line in chart.lines if line.get_color() == drawing.GUESS]
    assert list(guess.get_xdata()) == [3, 3]
    assert thumbs.get_title(loc="left") == "4 heads of 8 features"
    assert large.get_title(loc="left") == "Head 2 (0 to 100 %)"
    assert widget.png() == heads_widget(num_heads=4, head=2, prediction=16).png()


def test_what_a_page_carries_is_small():
    carried = heads_widget()._runs
    assert sum(len(run["codes"]) for run in carried) == sum(NUMBERS) * PLACES**2
