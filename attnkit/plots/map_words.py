"""Attention maps in words: numbers, whole tokens, what is blocked."""

from __future__ import annotations

from typing import Any

import numpy as np

from attnkit.labels import named, visible
from attnkit.plots.map_data import LONGEST, SMALL, Map
from attnkit.plots.words import number

#: Of more rows, heads or lines than these the extremes are told.
ROWS, HEADS, LINES = 8, 12, 10
#: Characters: where the keys of all rows take more, only their numbers are told.
AT_LENGTH = 600


def words_of_map(drawn: Map, vmax: float = 1.0) -> str:
    """What :func:`describe` says of one attention map."""
    weights = drawn.weights
    said = [
        f"Attention weights, rows: {count(len(drawn.queries), 'query', 'queries')}, columns: "
        f"{count(len(drawn.keys), 'key', 'keys')}; colours from 0 to {number(vmax)}."
    ]
    said += _said_of_blocks(weights.shape)
    said += _said_of_mask(drawn)
    sees = np.flatnonzero(weights.any(-1))
    if not len(sees):
        return " ".join(said)
    if len(drawn.queries) <= ROWS:
        queries, keys = named(drawn.queries), named(drawn.keys)
        peaks = [
            f"{queries[i]}: {two(weights[i].max())} at {keys[int(weights[i].argmax())]}"
            for i in sees
        ]
        said.append(f"Largest weight of each query: {'; '.join(peaks)}.")
    else:
        said.append(f"Largest weight: {_largest(drawn)}.")
        tops = weights[sees].max(-1)
        said.append(
            f"The largest weight of a query lies between {two(tops.min())} and {two(tops.max())}."
        )
        said.append(_received(drawn))
    if weights.max() <= SMALL:
        said.append(f"All weights are small, at most {two(weights.max())}.")
    return " ".join(said)


def words_of_grid(
    array: np.ndarray, first: Map, titles: list[str], rows: list[str], masked: bool
) -> str:
    """What :func:`describe` says of a grid of heads."""
    layers, heads, n_queries, n_keys = array.shape
    of_heads = count(heads, "head", "heads")
    said = [
        f"Attention weights of {f'{layers} layers (rows) of ' if layers > 1 else ''}{of_heads}, "
        f"each {count(n_queries, 'query', 'queries')} by {count(n_keys, 'key', 'keys')}; one scale "
        "from 0 to 1." + (" Blocked cells are hatched." if masked else "")
    ]
    said += _said_of_blocks((n_queries, n_keys))
    flat = array.reshape(-1, n_queries, n_keys)
    names = [visible(t) for t in titles]
    if layers > 1:
        names = [f"{visible(r)}, head {h}" for r in rows for h in range(heads)]
    means = [_mean_top(w) for w in flat]
    if len(flat) <= HEADS:
        peaks = "; ".join(
            f"{name} {two(mean)}, most {_largest(first._replace(weights=w))}"
            for name, mean, w in zip(names, means, flat, strict=True)
        )
        said.append(f"Mean of the largest weight of each query, by head: {peaks}.")
    else:
        order = np.argsort(means)
        said.append(
            "Mean of the largest weight of each query: "
            f"lowest {two(means[order[0]])} ({names[order[0]]}), "
            f"highest {two(means[order[-1]])} ({names[order[-1]]}), "
            f"median over the heads {two(float(np.median(means)))}."
        )
    return " ".join(said)


def words_of_mask(mask: np.ndarray, queries: list[str], keys: list[str]) -> str:
    """What :func:`describe` says of a mask."""
    n_queries, n_keys = mask.shape
    blocked = int((~mask).sum())
    said = [
        f"Mask, rows: {count(n_queries, 'query', 'queries')}, columns: "
        f"{count(n_keys, 'key', 'keys')}; {blocked} of {mask.size} pairs are blocked (hatched)."
    ]
    said += _said_of_blocks(mask.shape, "some")
    if n_queries <= ROWS:
        names = named(keys)
        rows = [f"{q}: {_ranges(row, names)}" for q, row in zip(named(queries), mask, strict=True)]
        each = f"Each query may attend to: {'; '.join(rows)}."
        if len(each) <= AT_LENGTH:
            return " ".join([*said, each])
    seen = mask.sum(-1)
    said.append(f"A query may attend to between {seen.min()} and {seen.max()} keys.")
    if seen.min() == 0:
        said.append(f"{count(int((seen == 0).sum()), 'query', 'queries')} may see nothing.")
    return " ".join(said)


def words_of_graph(drawn: Map, at_least: float) -> str:
    """What :func:`describe` says of a graph."""
    weights = drawn.weights
    i, j = np.nonzero(weights >= at_least)
    order = np.argsort(-weights[i, j], kind="stable")
    queries, keys = named(drawn.queries), named(drawn.keys)
    lines = [f"{queries[i[o]]} → {keys[j[o]]} {two(weights[i[o], j[o]])}" for o in order[:LINES]]
    said = [
        f"Attention as a graph: {count(len(queries), 'query', 'queries')} at the left, "
        f"{count(len(keys), 'key', 'keys')} at the right, "
        f"{count(len(order), 'line', 'lines')}, one for every weight of at least "
        f"{number(at_least)}."
    ]
    if lines:
        more = f", and {len(order) - LINES} more" if len(order) > LINES else ""
        said.append(f"The widest: {', '.join(lines)}{more}.")
    return " ".join([*said, *_said_of_mask(drawn, "")])


def two(value: Any) -> str:
    """Two places, or two digits of what is smaller; 1 where it is that."""
    return f"{value:.2g}" if 0 < value < 0.095 else f"{value:.2f}".replace("1.00", "1")


def count(n: int, one: str, many: str) -> str:
    """ "1 query", "3 queries"."""
    return f"{n} {one if n == 1 else many}"


def _said_of_blocks(shape: tuple[int, ...], kind: str = "") -> list[str]:
    if max(shape) <= LONGEST:
        return []
    by, bx = (-(-n // LONGEST) for n in shape)
    if kind:
        return [f"Drawn in blocks of {by} by {bx}."]
    keys, queries = count(bx, "key", "keys"), count(by, "query", "queries")
    return [f"Drawn in blocks of {by} by {bx}: the share given to {keys}, mean of {queries}."]


def _said_of_mask(drawn: Map, hatched: str = " (hatched)") -> list[str]:
    said = []
    mask = drawn.mask
    if mask is not None and not mask.all():
        said.append(f"{int((~mask).sum())} of {mask.size} pairs are blocked{hatched}.")
    sees = drawn.weights.any(-1) if mask is None else mask.any(-1)
    nothing = np.flatnonzero(~sees).tolist()
    if nothing and len(nothing) <= ROWS:
        said.append(f"May see nothing: {', '.join(named(drawn.queries, nothing))}.")
    elif nothing:
        said.append(f"{len(nothing)} queries may see nothing.")
    return said


def words_of_largest(drawn: Map) -> tuple[float, str]:
    """The largest weight of a map, and where it is."""
    return float(drawn.weights.max()), _largest(drawn)


def _largest(drawn: Map) -> str:
    i, j = np.unravel_index(int(drawn.weights.argmax()), drawn.weights.shape)
    (query,), (key,) = named(drawn.queries, [int(i)]), named(drawn.keys, [int(j)])
    return f"{two(drawn.weights[i, j])} at {query} → {key}"


def _received(drawn: Map) -> str:
    """The keys that get most, a mean over the queries that may attend to them."""
    weights = drawn.weights
    may = np.broadcast_to(np.asarray(weights.any(-1))[:, None], weights.shape)
    may = may if drawn.mask is None else drawn.mask
    mean = weights.sum(0) / np.maximum(may.sum(0), 1)
    top = np.argsort(-mean, kind="stable")[:3].tolist()
    keys = named(drawn.keys, top)
    listed = ", ".join(f"{key} {two(mean[j])}" for key, j in zip(keys, top, strict=True))
    return f"Keys that get most, on average over the queries that may attend to them: {listed}."


def _mean_top(weights: np.ndarray) -> float:
    sees = weights.any(-1)
    return float(weights[sees].max(-1).mean()) if sees.any() else 0.0


def _ranges(row: np.ndarray, names: list[str]) -> str:
    """ "a to c, e": the names of the keys of a row of the mask."""
    if not row.any():
        return "nothing"
    if row.all() and len(row) > 1:
        return "all"
    steps = np.flatnonzero(np.diff(np.concatenate(([False], row, [False])).astype(int)))
    parts = []
    for start, end in steps.reshape(-1, 2).tolist():
        first, last = names[start], names[end - 1]
        parts.append(first if end - start == 1 else f"{first} to {last}")
    return ", ".join(parts)
