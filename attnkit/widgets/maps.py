"""What the widgets that draw weight maps share in Python: reading, words and sizes."""

import re
from collections.abc import Sequence
from typing import Any

import torch
from traitlets import TraitError

from attnkit import weights as reading
from attnkit.widgets import drawing, measures

LONGEST = 128  # queries or keys: on a phone a cell is then two pixels wide
MOST_CELLS = 12 * 12 * 64 * 64  # what a page can carry in 300 kB of gzip
LABEL = 12  # characters of a label on an axis


def read(
    owner: str, weights: Any, axes: tuple[str, ...], mask: Any
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Weights with `axes`, and the mask broadcast to them, if a widget can show so many.

    Raises:
        ValueError: more than 128 queries or keys, or more than 589,824 cells in all.
    """
    found = reading.read_weights(weights, axes=axes, mask=mask, name=f"{owner}: weights")
    shape = tuple(found.shape)
    if max(shape[-2:]) > LONGEST:
        raise ValueError(
            f"{owner}: weights: expected at most {LONGEST} queries and {LONGEST} keys, got "
            f"{shape[-2]} × {shape[-1]}. Show a part, such as weights[..., :{LONGEST}, "
            f":{LONGEST}] of rows that see no further, or sum blocks of keys first."
        )
    if found.numel() > MOST_CELLS:
        shown = " × ".join(map(str, shape))
        fewer = max(1, MOST_CELLS * shape[0] // found.numel())
        raise ValueError(
            f"{owner}: weights: expected at most {MOST_CELLS:,} cells in all (12 × 12 heads of "
            f"64 × 64), got {shown} = {found.numel():,}. Show fewer {axes[0]} at a time, such as "
            f"weights[:{fewer}]."
        )
    seen = None if mask is None else reading.read_mask(mask, shape, name=f"{owner}: mask")
    return found, seen


def read_axes(owner: str, query_tokens: Any, key_tokens: Any, shape: Sequence[int]) -> list[list]:
    """Tokens of queries and keys; a square map has the same for both unless they are given."""
    n_queries, n_keys = shape[-2:]
    if key_tokens is None and n_queries == n_keys:
        key_tokens = query_tokens
    return [
        reading.read_tokens(tokens, n, name=f"{owner}: {name}")
        for tokens, n, name in (
            (query_tokens, n_queries, "query_tokens"),
            (key_tokens, n_keys, "key_tokens"),
        )
    ]


def in_range(proposal: dict, number: int, things: str) -> int:
    """The proposed position, if it is below `number`."""
    value = proposal["value"]
    if value >= number:
        owner = type(proposal["owner"]).__name__
        raise TraitError(
            f"{owner}.{proposal['trait'].name}: expected a position below {number}, the number of "
            f"{things}, got {value}. Positions count from 0."
        )
    return value


def kept(weights: torch.Tensor, mass: float) -> torch.Tensor:
    """(queries, keys) bool: the fewest keys of each row, the largest first, that hold `mass`.

    Of equal weights the earlier key comes first; a key without weight is never one of them.

    >>> kept(torch.tensor([[0.1, 0.6, 0.3], [0.0, 1.0, 0.0]]), 0.8).tolist()
    [[False, True, True], [False, True, False]]
    """
    ordered, places = weights.double().sort(dim=-1, descending=True, stable=True)
    before = ordered.cumsum(-1) - ordered
    chosen = (before < mass - 1e-6) & (ordered > 0)
    return torch.zeros_like(chosen).scatter(-1, places, chosen)


def largest(weights: torch.Tensor, blocked: torch.Tensor | None) -> float:
    """The largest weight of a map, of the rows that have more than one key to choose from.

    >>> largest(torch.tensor([[1.0, 0.0], [0.4, 0.6]]), torch.tensor([[False, True], [False] * 2]))
    0.6000000238418579
    """
    choice = None if blocked is None else (~blocked).sum(-1) > 1
    rows = weights if choice is None or not bool(choice.any()) else weights[choice]
    return float(rows.max()) or float(weights.max())


# ---------------------------------------------------------------- words


def row_read(
    queries: Sequence[str],
    query: int,
    keys: Sequence[str],
    row: torch.Tensor,
    blocked: torch.Tensor | None = None,
    named: int = 3,
) -> str:
    """A row read aloud, as `rowRead` in maps.js does.

    >>> row_read(["我"], 0, ["I", "a", "I"], torch.tensor([0.3, 0.1, 0.6]))
    'query 我: 60 % to I (2nd), 30 % to I (1st), 10 % to a'
    """
    values = row.tolist()
    start = f"query {placed(queries, query)}"
    open_keys = [key for key in range(len(keys)) if blocked is None or not blocked[key]]
    order = sorted(open_keys, key=lambda key: (-values[key], key))
    if not order or not values[order[0]] > 0:
        return f"{start} may attend to nothing"
    large = [key for rank, key in enumerate(order[:named]) if values[key] >= 0.05 or rank == 0]
    listed = ", ".join(f"{measures.whole_percent(values[k])} to {placed(keys, k)}" for k in large)
    rest = sum(values[key] for key in order[len(large) :])
    others = len(order) - len(large)
    if others:
        listed += f", {measures.whole_percent(rest)} to {others} other" + "s" * (others > 1)
    return f"{start}: {listed}"


def placed(tokens: Sequence[str], place: int) -> str:
    """A token in a sentence; where it occurs more than once, which of them."""
    same = [i for i, other in enumerate(tokens) if other == tokens[place]]
    shown = shortened(tokens[place], 40)
    if len(same) == 1:
        return shown
    n = same.index(place) + 1
    ending = "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{shown} ({n}{ending})"


def shortened(text: str, longest: int = LABEL) -> str:
    """A label with its white space visible, in at most `longest` characters."""
    shown = drawing.visible(text)
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"


# ---------------------------------------------------------------- sizes, as maps.css has them


def label_room(labels: Sequence[str]) -> float:
    """Rem that the labels of an axis take, as `labelRoom` in maps.js."""
    widths = [
        sum(1.75 if re.match("[\u1100-\uffef]", sign) else 1 for sign in shortened(label))
        for label in labels
    ]
    return min(6.0, 0.6 + 0.46 * max(1.0, *widths, 0.0))


def map_height(width: float, queries: Sequence[str], keys: Sequence[str]) -> float:
    """Height in rem of a map in a column of `width` rem."""
    n_queries, n_keys = len(queries), len(keys)
    across = min(3.0 * n_keys, width - max(2.75, label_room(queries)) - 0.25)
    return label_room(keys) + 0.25 + max(across * n_queries / n_keys, min(n_queries, 16) * 1.15)


def thumbnails_height(
    width: float,
    names: Sequence[str],
    columns: int,
    shape: Sequence[int],
    least: float,
    most: float = 5.0,
    gap: float = 0.1875,
) -> float:
    """Height in rem of a table of thumbnails, one row for each of `names`."""
    room = min(3.5, label_room(names))
    size = min(most, max(least, (width - room) / columns - gap))
    tall = size / min(2.5, max(0.5, shape[1] / shape[0]))
    return 0.875 + len(names) * (tall + gap)
