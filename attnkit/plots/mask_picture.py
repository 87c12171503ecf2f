"""A mask as a picture: which query may attend to which key."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.patches import Patch

from attnkit.plots.map_cells import BLOCKED, HATCH, draw_map, label_axes, literal
from attnkit.plots.map_data import LONGEST, Cells, Map, mean_of_blocks
from attnkit.plots.map_words import words_of_mask
from attnkit.plots.maps import check_title, figure_size, inches_of, layout, title_lines
from attnkit.plots.told import tell
from attnkit.weights import mask_tensor, read_mask, read_tokens

#: May attend, and in a picture of blocks: a part of the block may.
ALLOWED, PARTLY = "#0072b2", "#8fc1df"
#: Iterables that are no tokens; read_tokens says so.
_NO = (str, bytes, Set, Mapping)
_COLOURS = LinearSegmentedColormap.from_list("may attend", [PARTLY, ALLOWED]).with_extremes(
    bad=(0, 0, 0, 0)
)


def mask_diagram(
    mask: Any,
    query_tokens: Sequence[str] | None = None,
    key_tokens: Sequence[str] | None = None,
    *,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Draw a mask: a row per query, a column per key, blocked cells hatched grey.

    Of more than 128 queries or keys it is drawn in blocks, a lighter blue where a part of a block
    is blocked.

    Args:
        mask: Boolean, True = may attend, ``(queries, keys)`` with any leading axes of size 1. Of a
            mask with one row for all queries, as :func:`attnkit.masks.padding_mask` makes them,
            there are as many rows as query tokens.
        query_tokens: The tokens of the rows; numbers from 0 if left out.
        key_tokens: The tokens of the columns; left out, those of the rows if the mask is square.
        ax: Where to draw, and nowhere else. None makes a new pyplot figure.
        title: A title, drawn literally.

    Returns:
        The axes.

    Raises:
        TypeError: The mask is not boolean, or the tokens are no strings.
        ValueError: Several masks, none, or tokens that do not fit.
    """
    may, queries, keys = _read(mask, query_tokens, key_tokens)
    check_title(title)
    drawn = Map(may.astype(float), may, queries, keys)
    block = (math.ceil(may.shape[0] / LONGEST), math.ceil(may.shape[1] / LONGEST))
    share = mean_of_blocks(may, block)
    values = np.ma.masked_array(np.where(share == 1, 1.0, 0.0), share == 0)
    cells = Cells(values, (share == 0).all(-1), block)
    if ax is None:
        from matplotlib import pyplot

        across, high, size = figure_size(drawn, title, bar=0.1)
        ax = pyplot.figure(figsize=(across, high + 0.3), layout=layout()).add_subplot()
    else:
        size = inches_of(ax)
    image = draw_map(ax, cells, 1.0, size, numbers=False)
    image.set_cmap(_COLOURS)
    # White lines between the cells, as long as these are wider than a few lines.
    if size[0] / may.shape[1] > 0.09 and block == (1, 1):
        for draw, across, along in ((ax.vlines, 1, 0), (ax.hlines, 0, 1)):
            inner = np.arange(1, may.shape[across]) - 0.5
            draw(inner, -0.5, may.shape[along] - 0.5, colors="white", linewidth=0.8, zorder=1.5)
    notes = [f"blocks of {block[0]} × {block[1]}"] if block != (1, 1) else []
    label_axes(ax, drawn, cells, 1.0, size, notes)
    handles = [Patch(color=ALLOWED, label="may attend")]
    if (values == 0).any():
        handles.append(Patch(color=PARTLY, label="some of the block"))
    if (share == 0).any():
        blocked = {"facecolor": BLOCKED, "edgecolor": HATCH, "hatch": "////", "linewidth": 0}
        handles.append(Patch(label="blocked", **blocked))
    ax.legend(
        handles=handles, loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False,
        borderaxespad=0.2, handlelength=1.2, handleheight=1.2, columnspacing=1.2, fontsize=9,
        borderpad=0,
    )  # fmt: skip
    if title is not None:
        literal(ax.set_title(title_lines(title, size[0]), pad=22))
    tell(image, lambda: words_of_mask(may, queries, keys))
    return ax


def _read(mask: Any, query_tokens: Any, key_tokens: Any) -> tuple[np.ndarray, list[str], list[str]]:
    tensor = mask_tensor(mask)
    while tensor.dim() > 2 and tensor.shape[0] == 1:
        tensor = tensor[0]
    if tensor.dim() != 2:
        cure = "A row for all queries: mask[None]." if tensor.dim() == 1 else (
            f"Choose one of several: mask[{', '.join('0' * (tensor.dim() - 2))}]."
        )  # fmt: skip
        raise ValueError(
            f"mask must have the axes (queries, keys), got the shape {tuple(tensor.shape)}. {cure}"
        )
    if tensor.numel() == 0:
        raise ValueError(
            f"mask must have at least one query and one key, got the shape {tuple(tensor.shape)}."
        )
    n_queries, n_keys = tensor.shape
    if n_queries == 1 and isinstance(query_tokens, Iterable) and not isinstance(query_tokens, _NO):
        query_tokens = list(query_tokens)
        n_queries = max(1, len(query_tokens))
    may = read_mask(tensor, (n_queries, n_keys)).numpy()
    queries = read_tokens(query_tokens, n_queries, name="query_tokens")
    if key_tokens is None and n_queries == n_keys:
        key_tokens = queries
    return may, queries, read_tokens(key_tokens, n_keys, name="key_tokens")
