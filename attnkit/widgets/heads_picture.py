"""The static picture of HeadsWidget: accuracy against heads, thumbnails, one map large."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch

from attnkit.widgets import drawing, map_picture
from attnkit.widgets.heads_runs import ENOUGH, Checked, row_names, table_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def heads_picture(
    runs: Mapping[int, Checked],
    weights: torch.Tensor,
    num_heads: int,
    head: int,
    query: int,
    tokens: tuple[Sequence[str], Sequence[str]],
    prediction: int | None,
) -> "Figure":
    """Three charts side by side; `weights` (heads, queries, keys) are those of `num_heads`."""
    figure = drawing.new_figure(10.0, 3.6)
    left, middle, right = figure.subplots(1, 3, width_ratios=[1.1, 1.0, 1.1])
    accuracies(left, runs, num_heads, prediction)
    rows, columns = table_of(num_heads)
    table = weights.unflatten(0, (rows, columns))
    names = row_names(num_heads)
    map_picture.draw_thumbnails(middle, table, None, names, divmod(head, columns), False)
    middle.set_aspect("equal")
    size = runs[num_heads].d_head
    heads = f"{num_heads} head{'s' * (num_heads != 1)}"
    drawing.headline(middle, f"{heads} of {size} feature{'s' * (size != 1)}")
    map_picture.draw_map(right, weights[head], None, *tokens)
    map_picture.frame_row(right, query, weights.shape[-1])
    drawing.headline(right, f"Head {head} (0 to 100 %)")
    return figure


def accuracies(
    axes: Any, runs: Mapping[int, Checked], num_heads: int, prediction: int | None
) -> None:
    """A dot for each seed, a line through the medians, the chosen number of heads marked."""
    numbers = list(runs)
    axes.axhline(ENOUGH, color=drawing.MUTED, lw=1, ls=(0, (4, 3)), zorder=1)
    for i, run in enumerate(runs.values()):
        n = len(run.accuracy)
        across = [i + 0.5 * ((s + 0.5) / n - 0.5) for s in range(n)]
        axes.plot(across, run.accuracy, "o", ms=4, color=drawing.WEIGHT, alpha=0.8, zorder=3)
    medians = [run.median for run in runs.values()]
    axes.plot(range(len(runs)), medians, color=drawing.TOP, lw=2, zorder=2)
    at = numbers.index(num_heads)
    axes.axvline(at, color=drawing.MUTED, lw=1.5, ls=":", zorder=1)
    axes.plot([at], [medians[at]], "s", ms=8, color=drawing.TOP, zorder=4)
    if prediction:
        place = numbers.index(prediction)
        axes.axvline(place, color=drawing.GUESS, lw=2, ls="--", zorder=1)
    drawing.clean_axes(axes, "Right answers")
    axes.set_xticks(range(len(numbers)), list(map(str, numbers)))
    axes.set_xlim(-0.5, len(numbers) - 0.5)
    axes.set_ylim(0, 1.04)
    axes.set_yticks([0, 0.5, 1], ["0 %", "50 %", "100 %"])
    options = {"color": drawing.MUTED, "fontsize": 9}
    guessed = f"; your guess: {prediction or 'none'}" if prediction is not None else ""
    axes.set_xlabel(f"number of heads (dots: seeds; line: median{guessed})", **options)
