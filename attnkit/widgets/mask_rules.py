"""Masks that attnkit's functions make, and the code of a mask (mask_rules.js does the same).

A preset is a rule for who may look at whom. A mask drawn by hand may still be a rule: the code of
a mask is the simplest combination of functions that gives it, and a literal where none does.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

import torch

from attnkit.masks import causal_mask, padding_mask, sliding_window_mask

#: What the preset menu offers, in its order; "custom" is whatever was drawn by hand.
PRESETS = (
    "all",
    "causal",
    "window",
    "two-sided window",
    "padding",
    "causal + padding",
    "window + padding",
    "custom",
)
SPACED = 8  # rows of more numbers are written without spaces, to fit
MEANING = "# True = may attend"


class Rule(NamedTuple):
    """A mask made by functions: lines that come first, an expression, and what it gives."""

    setup: str
    expression: str
    mask: torch.Tensor  # (n, n), (1, 1, 1, n) or (1, 1, n, n) bool, as the expression gives it

    def square(self) -> torch.Tensor:
        """(n, n) bool: one row for each query."""
        n = self.mask.shape[-1]
        return self.mask.expand(1, 1, n, n)[0, 0] if self.mask.ndim == 4 else self.mask


def rule(preset: str, n: int, window: int, length: int) -> Rule:
    """The rule of a preset other than "custom", for n tokens.

    >>> rule("window + padding", 8, window=3, length=5).expression
    'sliding_window_mask(8, 3) & padding_mask([5], 8)'
    """
    base, _, padded = preset.partition(" + ")
    if base == "padding":
        return _padding(n, length)
    made = {
        "all": lambda: _all(n),
        "causal": lambda: _causal(n),
        "window": lambda: _window(n, window),
        "two-sided window": lambda: _two_sided(n, window),
    }[base]()
    return _joined(made, "&", _padding(n, length)) if padded else made


def simplest(mask: torch.Tensor) -> Rule | None:
    """The simplest rule that gives the (n, n) mask, or None.

    >>> simplest(causal_mask(5) | padding_mask([2], 5)[0, 0]).expression
    'causal_mask(5) | padding_mask([2], 5)'
    """
    found = (made for made in _rules(mask.shape[0]) if torch.equal(made.square(), mask))
    return next(found, None)


def recognised(mask: torch.Tensor) -> tuple[str, int, int] | None:
    """Preset, window and length that give the (n, n) mask, or None.

    >>> recognised(sliding_window_mask(8, 4) & padding_mask([6], 8)[0, 0])
    ('window + padding', 4, 6)
    """
    n = mask.shape[0]
    for preset in PRESETS[:-1]:
        windows = range(1, n + 1) if "window" in preset else (1,)
        lengths = range(n + 1) if "padding" in preset else (n,)
        for window in windows:
            for length in lengths:
                if torch.equal(rule(preset, n, window, length).square(), mask):
                    return preset, window, length
    return None


def code(mask: torch.Tensor, made: Rule | None) -> str:
    """Python that makes the (n, n) mask: by a rule, or number by number.

    >>> print(code(causal_mask(2), None))
    import torch
    <BLANKLINE>
    # True = may attend
    mask = torch.tensor([
        [1, 0],
        [1, 1],
    ]).bool()
    """
    if made is None:
        comma = ", " if len(mask) <= SPACED else ","
        rows = "".join(f"    [{comma.join(map(str, row))}],\n" for row in mask.int().tolist())
        return f"import torch\n\n{MEANING}\nmask = torch.tensor([\n{rows}]).bool()"
    lines = made.setup + "mask = " + made.expression
    names = sorted(set(re.findall(r"\w+_mask(?=\()", lines)))
    imported = f"from attnkit import {', '.join(names)}" if names else "import torch"
    return f"{imported}\n\n{MEANING}\n{lines}"


def _rules(n: int) -> Iterator[Rule]:
    bases = [_causal(n)]
    bases += [_window(n, w) for w in range(1, n)]
    bases += [_two_sided(n, w) for w in range(2, n)]
    bases += [Rule("", f"causal_mask({n}).mT", causal_mask(n).mT)]
    yield _all(n)
    yield from (_padding(n, length) for length in range(n))
    yield from bases
    for sign in "&|":
        for base in bases:
            yield from (_joined(base, sign, _padding(n, length)) for length in range(1, n))


def _all(n: int) -> Rule:
    ones = torch.ones(n, n, dtype=torch.bool)
    return Rule("", f"torch.ones({n}, {n}, dtype=torch.bool)", ones)


def _causal(n: int) -> Rule:
    return Rule("", f"causal_mask({n})", causal_mask(n))


def _window(n: int, window: int) -> Rule:
    return Rule("", f"sliding_window_mask({n}, {window})", sliding_window_mask(n, window))


def _two_sided(n: int, window: int) -> Rule:
    near = sliding_window_mask(n, window)
    return Rule(f"near = sliding_window_mask({n}, {window})\n", "near | near.mT", near | near.mT)


def _padding(n: int, length: int) -> Rule:
    return Rule("", f"padding_mask([{length}], {n})", padding_mask([length], n))


def _joined(base: Rule, sign: str, padding: Rule) -> Rule:
    left = f"({base.expression})" if "|" in base.expression else base.expression
    mask = base.mask & padding.mask if sign == "&" else base.mask | padding.mask
    return Rule(base.setup, f"{left} {sign} {padding.expression}", mask)
