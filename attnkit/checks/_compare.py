"""When two results count as the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np


def named(outcome: object, names: Sequence[str]) -> dict[str, np.ndarray]:
    """The results of a function as arrays by name."""
    parts = outcome if isinstance(outcome, tuple) else (outcome,)
    return {name: np.asarray(part) for name, part in zip(names, parts, strict=True)}


def trimmed(array: np.ndarray, ndim: int) -> np.ndarray:
    """Without the leading axes of length 1 that are too many."""
    while array.ndim > ndim and array.shape[0] == 1:
        array = array[0]
    return array


def fitted(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray | None:
    """With this shape when only axes of length 1 differ, otherwise None."""
    if array.shape == shape:
        return array
    long_axes = [[length for length in axes if length != 1] for axes in (array.shape, shape)]
    return array.reshape(shape) if long_axes[0] == long_axes[1] else None


def close(got: np.ndarray, expected: np.ndarray) -> bool:
    """Equal to about three digits (two in half precision), nan equal to nan."""
    got = trimmed(got, expected.ndim)
    half = got.dtype.kind == "f" and got.dtype.itemsize == 2
    rtol, atol = (2e-2, 5e-3) if half else (1e-3, 1e-4)
    if got.shape != expected.shape:
        return False
    got = got.astype(np.float64)
    if np.isfinite(got).all() and np.isfinite(expected).all():  # allclose, at a third of its time
        with np.errstate(over="ignore"):
            return bool((np.abs(got - expected) <= atol + rtol * np.abs(expected)).all())
    return bool(np.allclose(got, expected, rtol=rtol, atol=atol, equal_nan=True))


def all_close(got: Mapping[str, np.ndarray], expected: Mapping[str, np.ndarray]) -> bool:
    return all(name in got and close(got[name], array) for name, array in expected.items())


def all_right(got: Mapping[str, np.ndarray], expected: Mapping[str, np.ndarray]) -> bool:
    """Every number close, and booleans where booleans are expected."""
    kinds = all(got[name].dtype == bool for name, a in expected.items() if a.dtype == bool)
    return kinds and all_close(got, expected)
