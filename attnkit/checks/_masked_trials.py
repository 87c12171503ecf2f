"""Inputs on which every wrong masked softmax shows, and what they show by nan or by zeros."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from attnkit.checks._engine import Seen, Trial

_EMPTY, _INFINITE, _LOW = "a row that may see nothing", "scores of −∞", "scores far below 0"
_LARGE, _AHEAD, _FAR_AHEAD = "large scores", "a blocked key leads", "a blocked key leads by far"


def _trial(name: str, scores: list, mask: list[str], compared: bool = True) -> Trial:
    allowed = np.array([[letter == "x" for letter in row] for row in mask])
    return Trial(name, {"scores": np.array(scores), "mask": allowed}, compared)


#: In the compared trials each row has an allowed and a blocked key, each column an allowed one.
TRIALS = (
    _trial("two queries, two keys", [[1.0, 2.0], [3.0, 0.5]], ["x.", ".x"]),
    _trial(_EMPTY, [[1.0, 2.0], [3.0, 0.0]], ["..", "x."], compared=False),
    _trial("two queries, three keys", [[1.0, 0.5, 2.0], [2.5, 1.0, 3.0]], ["xx.", ".xx"]),
    _trial(
        "three queries, three keys",
        [[0.2, 1.0, -0.7], [1.5, 0.4, 2.0], [-1.0, 0.6, 0.9]],
        ["x.x", "xx.", ".xx"],
    ),
    _trial(
        "three queries, five keys",
        [[0.4, -1.2, 0.7, 2.1, 0.3], [1.3, 0.2, -0.5, 0.8, 1.9], [-0.6, 1.1, 0.5, -1.4, 0.1]],
        ["x.xx.", ".xx.x", "xx..x"],
    ),
    _trial(_INFINITE, [[0.0, -np.inf, 1.0], [-np.inf, 2.0, 0.0]], ["x.x", "xx."], compared=False),
    _trial(_LOW, [[-2000.0, -2001.0, -3000.0]], ["xx."], compared=False),
    _trial(
        _LARGE, [[1000.0, 1001.0, 5.0], [-1000.0, -1001.0, -3000.0]], ["xx.", "xx."], compared=False
    ),
    _trial(_AHEAD, [[1.0, 2.0, 40.0]], ["xx."], compared=False),
    _trial(_FAR_AHEAD, [[1.0, 2.0, 3000.0]], ["xx."], compared=False),
)


def _after(*names: str) -> Callable:
    """For a mistake that shows in special trials only: ordinary ones and ``names`` are right."""

    def decorate(rule: Callable[[dict[str, Seen]], bool]) -> Callable[[Sequence[Seen]], bool]:
        def when(trials: Sequence[Seen]) -> bool:
            by_name = {seen.trial.name: seen for seen in trials}
            before = [s for s in trials if s.trial.compared or s.trial.name in names]
            return all(seen.right for seen in before) and bool(rule(by_name))

        return when

    return decorate


def _weights(seen: Seen) -> np.ndarray:
    """What came back, in the shape that was expected; nan when nothing of the kind did."""
    expected = seen.expected["weights"]
    got = seen.got["weights"].astype(np.float64) if seen.shaped else np.full(expected.shape, np.nan)
    return got.reshape(expected.shape)


@_after()
def nan_in_an_empty_row(seen: dict[str, Seen]) -> bool:
    weights = _weights(seen[_EMPTY])
    return seen[_EMPTY].returned and not np.isfinite(weights[0]).any()


@_after()
def share_in_an_empty_row(seen: dict[str, Seen]) -> bool:
    return bool((_weights(seen[_EMPTY])[0] > 0.01).any())


@_after(_EMPTY)
def breaks_on_infinity(seen: dict[str, Seen]) -> bool:
    return not seen[_INFINITE].right


@_after(_EMPTY, _INFINITE)
def fill_not_low_enough(seen: dict[str, Seen]) -> bool:
    """Far below 0 the blocked keys take all, and a row of large scores is right."""
    return (
        not seen[_LOW].right
        and _weights(seen[_LOW])[0, :2].sum() < 0.5
        and np.allclose(_weights(seen[_LARGE])[0], seen[_LARGE].expected["weights"][0], atol=1e-2)
    )


@_after(_EMPTY, _INFINITE, _LOW)
def one_maximum(seen: dict[str, Seen]) -> bool:
    """A row far below the largest score breaks, and a row by itself does not."""
    first, second = _weights(seen[_LARGE])
    lost = bool(np.isnan(second).any()) or second.sum() < 0.5
    return bool(np.isfinite(first).all()) and first.sum() > 0.5 and lost


@_after(_EMPTY, _INFINITE, _LOW, _LARGE)
def epsilon_below(seen: dict[str, Seen]) -> bool:
    return _weights(seen[_AHEAD]).sum() < 0.5


@_after(_EMPTY, _INFINITE, _LOW, _LARGE, _AHEAD)
def blocked_in_the_maximum(seen: dict[str, Seen]) -> bool:
    return not seen[_FAR_AHEAD].right


@_after(_EMPTY, _INFINITE)
def overflows(seen: dict[str, Seen]) -> bool:
    return any(not np.isfinite(_weights(seen[name])[0]).all() for name in (_LOW, _LARGE))


@_after(_EMPTY, _INFINITE)
def finite_but_wrong(seen: dict[str, Seen]) -> bool:
    """No nan anywhere, but not the weights of the first row of large scores."""
    large = _weights(seen[_LARGE])
    finite = np.isfinite(large).all() and np.isfinite(_weights(seen[_LOW])).all()
    return bool(finite) and not np.allclose(
        large[0], seen[_LARGE].expected["weights"][0], atol=1e-2
    )


def nan_where_allowed(trials: Sequence[Seen]) -> bool:
    """No allowed key has a number, in any ordinary trial."""
    return all(
        seen.shaped and np.isnan(_weights(seen)[np.asarray(seen.trial.inputs["mask"])]).all()
        for seen in trials
        if seen.trial.compared
    )


def blocked_keys_dropped(trials: Sequence[Seen]) -> bool:
    """As many numbers as allowed keys, or a list whose rows are not equally long."""

    def dropped(seen: Seen) -> bool:
        if seen.record["status"] == "type":
            return seen.record.get("type") in ("list", "tuple")
        n_allowed = np.sum(seen.trial.inputs["mask"])  # type: ignore[arg-type]
        return not seen.shaped and seen.returned and seen.got["weights"].size == n_allowed

    return all(dropped(seen) for seen in trials if seen.trial.compared)
