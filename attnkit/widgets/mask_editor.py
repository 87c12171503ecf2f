"""An editor for masks: who may look at whom, and what a softmax then makes of fixed scores."""

from textwrap import wrap
from typing import TYPE_CHECKING, Any

import torch
import traitlets
from traitlets import TraitError, default, observe, validate

from attnkit.functional import masked_softmax
from attnkit.widgets import mask_rules, measures
from attnkit.widgets.base import WIDTHS, CourseWidget
from attnkit.widgets.mask_picture import mask_picture
from attnkit.widgets.mask_traits import MaskTable, ScoreTable
from attnkit.widgets.traits import Choice, TextList, WholeNumber

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TOKENS = ["我", "爱", "北京", "天安门", "。", "你", "呢", "？"]
REAL = 5  # of them: one sentence; the next three make the one after it
FEWEST, MOST = 2, 12
# Heights in rem at base.WIDTHS; from index WIDE on the code stands beside the grid. LETTERS of code
# fit into a line; a long shape takes two lines below 23.5 rem.
WIDE, LINE, TWO_LINES = 7, 1.178, 1.27
LETTERS = (29, 33, 35, 37, 40, 43, 53, 31, 34, 38)
CELL = (2.25,) * 7 + (2.5,) * 3
GRID = (0.0,) * 7 + (23.25, 19.07, 18.46)
SIDE = (52.69, 51.84, 51.84, 51.84, 51.84, 47.67, 46.5, 30.68, 29.84, 29.23)
PADDING = "〈pad〉"


class MaskEditor(CourseWidget, files="mask_editor"):
    """A grid of queries × keys over fixed scores; each row is a softmax over the allowed keys.

    >>> widget = MaskEditor(preset="causal + padding", length=5)
    >>> widget
    MaskEditor(preset='causal + padding', window=3, length=5)
    >>> widget.mask[6]
    [True, True, True, True, True, False, False, False]
    >>> print(widget.code().splitlines()[-1])
    mask = causal_mask(8) & padding_mask([5], 8)

    The number of tokens stays as it was when the widget was made, 2 to 12.

    Traits:
        tokens: list of str; drawn literally
        scores: n rows of n finite numbers; without them a fixed table of random ones
        mask: n rows of n bools, True = this query may attend to this key; a tensor that broadcasts
            to (n, n) may be given. A mask that no preset gives makes the preset "custom"
        preset: "all", "causal", "window", "two-sided window", "padding", "causal + padding",
            "window + padding" or "custom"; "custom" brings back the mask that was drawn last
        window: int from 1 to n; keys in the window, the query's own included
        length: int from 0 to n; the tokens after it are shown as 〈pad〉, whatever the mask says
    """

    tokens = TextList(TOKENS).tag(sync=True)
    scores = ScoreTable().tag(sync=True)
    mask = MaskTable().tag(sync=True)
    preset = Choice("causal", mask_rules.PRESETS).tag(sync=True)
    window = WholeNumber(3, 1, MOST).tag(sync=True)
    length = WholeNumber(REAL, 0, MOST).tag(sync=True)

    _drawn = traitlets.List().tag(sync=True)  # the mask drawn last, as rows; at first none

    def __init__(self, tokens: Any = None, *, mask: Any = None, **traits: Any) -> None:
        preset = traits.get("preset")
        if mask is not None and preset not in (None, "custom"):
            raise TypeError(
                f"MaskEditor: expected a mask or a preset, got a mask and preset={preset!r}. "
                "Leave the preset out: the mask tells it."
            )
        self.n_tokens = _count(tokens, traits.get("scores"), mask)
        self._follows = False
        if tokens is not None:
            traits["tokens"] = tokens
        elif self.n_tokens != len(TOKENS):
            traits["tokens"] = [*TOKENS, *(f"token {i}" for i in range(9, 13))][: self.n_tokens]
        traits.setdefault("window", min(3, self.n_tokens))
        real = self.n_tokens if tokens is not None else min(REAL, self.n_tokens)
        traits.setdefault("length", real)
        if mask is not None:
            traits["mask"] = mask
        super().__init__(**traits)
        self._follows = True
        if mask is not None:
            self._mask_was_set()
        self._rule_was_set()

    @default("scores")
    def _some_scores(self) -> list[list[float]]:
        return [row[: self.n_tokens] for row in _table()[: self.n_tokens]]

    @default("mask")
    def _causal(self) -> list[list[bool]]:
        return self._of("causal").square().tolist()

    @validate("tokens")
    def _number_of_tokens(self, proposal: dict) -> list[str]:
        if len(proposal["value"]) != self.n_tokens:
            raise TraitError(
                f"MaskEditor.tokens: expected {self.n_tokens} tokens, as at the start, got "
                f"{len(proposal['value'])}. Make a new MaskEditor for another number of them."
            )
        return proposal["value"]

    @validate("window", "length")
    def _inside(self, proposal: dict) -> int:
        if proposal["value"] > self.n_tokens:
            raise TraitError(
                f"MaskEditor.{proposal['trait'].name}: expected at most {self.n_tokens}, the "
                f"number of tokens, got {proposal['value']}. Choose a value inside the range."
            )
        return proposal["value"]

    @observe("preset", "window", "length")
    def _rule_was_set(self, change: dict | None = None) -> None:
        if not self._follows:
            return
        self._follows = False
        if self.preset != "custom":
            self.mask = self._of(self.preset).square().tolist()
        elif change and change["name"] == "preset":
            self.mask = self._drawn = self._drawn or self.mask
        self._follows = True

    @observe("mask")
    def _mask_was_set(self, change: dict | None = None) -> None:
        if not self._follows:
            return
        mask = torch.tensor(self.mask)
        if self.preset != "custom" and torch.equal(self._of(self.preset).square(), mask):
            return
        found = self._find(mask)
        self._follows = False
        if found:
            self.preset, self.window, self.length = found
        else:
            self.preset, self._drawn = "custom", self.mask
        self._follows = True

    def set_state(self, sync_data: dict) -> None:
        """Take what the browser sends: it has kept mask and preset in step already."""
        self._follows = not {"mask", "preset"} <= sync_data.keys()
        try:
            super().set_state(sync_data)
        finally:
            self._follows = True
        self._rule_was_set()

    def _of(self, preset: str) -> mask_rules.Rule:
        return mask_rules.rule(preset, self.n_tokens, self.window, self.length)

    def _find(self, mask: torch.Tensor) -> tuple[str, int, int] | None:
        """Preset, window and length of a mask; those that make no difference stay as they are."""
        found = mask_rules.recognised(mask)
        if found is None:
            return None
        preset, window, length = found
        window = window if "window" in preset else self.window
        return preset, window, length if "padding" in preset else self.length

    def weights(self) -> torch.Tensor:
        """(n, n) float64: masked_softmax(scores, mask); a row that sees nothing is zeros."""
        scores = torch.tensor(self.scores, dtype=torch.float64)
        return masked_softmax(scores, torch.tensor(self.mask))

    def code(self) -> str:
        """Python that makes the mask with attnkit's functions, or number by number."""
        mask = torch.tensor(self.mask)
        custom = self.preset == "custom"
        return mask_rules.code(mask, mask_rules.simplest(mask) if custom else self._of(self.preset))

    def shape(self) -> str:
        """The shape of the mask that the code makes; padding brings axes for batch and heads."""
        mask = torch.tensor(self.mask)
        made = mask_rules.simplest(mask) if self.preset == "custom" else self._of(self.preset)
        return str(tuple(made.mask.shape if made else mask.shape))

    def labels(self) -> list[str]:
        """The tokens as shown: 〈pad〉 after `length`."""
        return self.tokens[: self.length] + [PADDING] * (self.n_tokens - self.length)

    def shown(self) -> dict[str, Any]:
        """What is not as at the start, and preset, window and length, or the custom mask."""
        names = ["tokens"] if self.tokens != TOKENS else []
        names += ["scores"] if self.scores != self._some_scores() else []
        names += ["preset", "window", "length"] + ["mask"] * (self.preset == "custom")
        return {name: getattr(self, name) for name in names}

    def describe(self) -> str:
        """The alt text of the picture."""
        rows = []
        for i, (row, allowed) in enumerate(zip(self.weights().tolist(), self.mask, strict=True)):
            query = f"query {i + 1} {self.labels()[i]}"
            if not any(allowed):
                rows.append(f"{query} sees nothing, its weights are 0")
                continue
            best = max(range(self.n_tokens), key=row.__getitem__)
            most = f"{self.labels()[best]} (key {best + 1}) {measures.whole_percent(row[best])}"
            rows.append(f"{query} sees {sum(allowed)} of {self.n_tokens} keys, most of all {most}")
        return (
            f"Grid of attention weights, {self.n_tokens} queries by {self.n_tokens} keys, under "
            f"the mask “{self.preset}”, blocked cells hatched: {'; '.join(rows)}."
        )

    def heights(self) -> tuple[float, ...]:
        """Height in rem at each of `base.WIDTHS`."""
        n, text = self.n_tokens, self.code()
        long_shape = "(1, 1" in self.shape()
        found = []
        for i in range(len(WIDTHS)):
            lines = sum(len(wrap(line, LETTERS[i])) or 1 for line in text.split("\n"))
            side = SIDE[i] + LINE * lines + (TWO_LINES if long_shape and i < 4 else 0)
            grid = GRID[i] + CELL[i] * n
            found.append(grid + side if i < WIDE else max(grid, side))
        return tuple(found)

    def picture(self) -> "Figure":
        """The grid, hatched where a key is blocked."""
        return mask_picture(
            self.weights().tolist(), self.mask, self.labels(), f"Mask: {self.preset}"
        )


def _table() -> list[list[float]]:
    """12 × 12 scores with one decimal, from −2 to 2; the same for any number of tokens."""
    drawn = torch.randn(MOST, MOST, generator=torch.Generator().manual_seed(4))
    tenths = (10 * drawn.clamp(-2, 2)).round().int().tolist()
    return [[score / 10 for score in row] for row in tenths]


def _count(tokens: Any, scores: Any, mask: Any) -> int:
    """How many tokens the arguments are for; what cannot be read is refused by its trait."""
    for given in (tokens, scores):
        if given is not None and hasattr(given, "__len__") and not isinstance(given, str):
            if not FEWEST <= len(given) <= MOST:
                raise ValueError(
                    f"MaskEditor: expected {FEWEST} to {MOST} tokens, got {len(given)}. Larger "
                    "masks are drawn by attnkit.plots.mask_diagram."
                )
            return len(given)
    shape = getattr(mask, "shape", None)
    size = shape[-1] if shape else len(mask) if isinstance(mask, (list, tuple)) else len(TOKENS)
    return min(max(int(size), FEWEST), MOST)
