"""Does the answer hang on the characters that are attended to? Delete them and see."""

import base64
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
import traitlets
from traitlets import observe, validate

from attnkit.widgets import drawing, measures, packing, pairs
from attnkit.widgets.base import WIDTHS, CourseWidget
from attnkit.widgets.deletion_data import DeletionExample, remaining
from attnkit.widgets.maps import in_range
from attnkit.widgets.traits import Places, WholeNumber, refuse

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MANY = 50
# Rem of deletion.css: all but the characters at base.WIDTHS; a character, its gap and height.
FRAME = (37.39, 36.55, 36.55, 36.55, 36.55, 36.55, 33.3, 23.75, 23.75, 23.75)
SIGN, GAP, TALL = 2.75, 0.375, 4.0


class DeletionWidget(CourseWidget, files="deletion"):
    """Names whose characters are deleted and restored; the answer of the model follows.

    Args:
        examples: 1 to 50 :class:`DeletionExample`, all with the same languages.

    Traits:
        name: int, which of the examples is shown
        deleted: list of int, places of the characters that are deleted, counted from 0; a shorter
            name keeps those that it has

    The page carries the three best languages for all that deletions can leave of a name, with one
    byte for each probability and one base64 digit for each weight; no weight is off by more than
    0.005. Where nothing is left there is no answer: the model was not asked.

    Raises:
        TypeError, ValueError: examples that are none, or whose languages differ.
    """

    name = WholeNumber(0, 0, MANY - 1).tag(sync=True)
    deleted = Places().tag(sync=True)

    _languages = traitlets.List().tag(sync=True)
    _items = traitlets.List().tag(sync=True)

    def __init__(self, examples: Sequence[DeletionExample], name: Any = 0, deleted: Any = ()):
        self._examples = _checked(examples)
        codes = [packing.encode(example.weights) for example in self._examples]
        self._weights = [packing.decode(one) for one in codes]
        super().__init__(
            _languages=list(self._examples[0].languages),
            _items=[_packed(*one) for one in zip(self._examples, codes, strict=True)],
            name=name,
            deleted=deleted,
        )

    @validate("name")
    def _exists(self, proposal: dict) -> int:
        return in_range(proposal, len(self._examples), "examples")

    @validate("deleted")
    def _inside(self, proposal: dict) -> list[int]:
        if self.name < len(self._examples):  # else the name is refused
            text, places = self._examples[self.name].text, proposal["value"]
            if places and places[-1] >= len(text):
                expected = f"places below {len(text)}, the number of characters of {text!r}"
                refuse(proposal["trait"], self, expected, places, "They count from 0.")
        return proposal["value"]

    @observe("name")
    def _keep_places(self, change: dict) -> None:
        n = len(self.example.text)
        self.deleted = [place for place in self.deleted if place < n]

    @property
    def example(self) -> DeletionExample:
        """The example that is shown."""
        return self._examples[self.name]

    @property
    def subset(self) -> int:
        """One bit for each character that is deleted; a row of the example’s tables."""
        return sum(1 << place for place in self.deleted)

    @property
    def text(self) -> str:
        """What is left of the name."""
        return remaining(self.example.text, self.subset)

    def answer(self) -> str | None:
        """The most probable language of what is left; None where nothing is."""
        return self.example.answer(self.subset)

    def flipped(self) -> bool:
        """Whether the answer is another one than that to the whole name."""
        return self.example.flips(self.subset)

    def best(self) -> list[tuple[str, float]]:
        """The three most probable languages and their probabilities as shown; [] where none is."""
        if self.answer() is None:
            return []
        places = self.example.best[self.subset].tolist()
        shares = _shown(self.example.probabilities[self.subset]).tolist()
        return [(self.example.languages[i], share) for i, share in zip(places, shares, strict=True)]

    def weights(self) -> torch.Tensor:
        """(characters,) float64: the weights as shown, 0 for what is deleted."""
        return self._weights[self.name][self.subset].clone()

    def most_attended(self) -> int | None:
        """The place of the largest weight; None where nothing is left."""
        return int(self.weights().argmax()) if self.text else None

    def shown(self) -> dict[str, Any]:
        """Which name, and what is deleted."""
        return {"name": self.name, "deleted": self.deleted}

    def __repr__(self) -> str:
        n = len(self._examples)
        inside = ", ".join(f"{name}={value!r}" for name, value in self.shown().items())
        return f"DeletionWidget({n} name{'s' * (n > 1)}, {inside})"

    def describe(self) -> str:
        """The alt text of the picture."""
        example, whole = self.example, self.example.answer(0)
        weights = self.weights().tolist()
        signs = [
            f"{drawing.visible(sign)} deleted"
            if place in self.deleted
            else f"{drawing.visible(sign)} {measures.whole_percent(weights[place])}"
            for place, sign in enumerate(example.text)
        ]
        said = f"“{example.text}” is {example.label}. Weights: {', '.join(signs)}. "
        if self.answer() is None:
            return f"{said}Nothing is left: the model is not asked. The whole name is {whole}."
        best = ", ".join(f"{name} {measures.whole_percent(share)}" for name, share in self.best())
        was = measures.whole_percent(float(_shown(example.probabilities[0, 0])))
        verdict = "flipped" if self.flipped() else "as"
        verdict += f" from {whole}, {was}" if self.flipped() else f" for the whole name, {was}"
        if not self.deleted:
            verdict = "right" if whole == example.label else "wrong"
        return f"{said}Answer to “{self.text}”: {best}; {verdict}."

    def heights(self) -> tuple[float, ...]:
        """Height in rem at each of `base.WIDTHS`: the place of the longest name is kept."""
        n = max(len(example.text) for example in self._examples)
        inner = [max(width + 0.5 * (width == 42), 18) - 2.125 for width in WIDTHS]
        return tuple(
            frame + drawing.rows(n, room, SIGN, GAP, TALL)
            for frame, room in zip(FRAME, inner, strict=True)
        )

    def picture(self) -> "Figure":
        """A bar for the weight of each character, and one for each of the three languages."""
        example, weights = self.example, self.weights().tolist()
        figure = drawing.new_figure(8.0, 2.9)
        left, right = figure.subplots(1, 2, width_ratios=(1.3, 1))
        places = range(len(example.text))
        left.bar(places, weights, width=0.75, color=drawing.WEIGHT, edgecolor=drawing.MUTED)
        for place in places:
            gone = place in self.deleted
            text = "deleted" if gone else measures.whole_percent(weights[place]).replace("< ", "<")
            options = {"ha": "center", "va": "bottom", "fontsize": 7.5, "color": drawing.INK}
            left.text(place, weights[place] + 0.01, text, rotation=90 if gone else 0, **options)
        left.set_xticks(places, drawing.drawable(list(example.text)), parse_math=False, fontsize=13)
        for label in left.get_xticklabels():
            label.set(fontfamily=drawing.font_families(), color=drawing.INK)
        left.set_yticks([0, 0.5, 1], ["0 %", "50 %", "100 %"])
        left.set_ylim(0, 1.12)
        if any(unicodedata.bidirectional(sign) in ("R", "AL") for sign in example.text):
            left.invert_xaxis()
        drawing.clean_axes(left, "Weight of each character")
        self._draw_answers(right)
        return figure

    def _draw_answers(self, axes: Any) -> None:
        best = self.best()
        flipped = ": flipped" if self.flipped() else ""
        (label,) = drawing.drawable([self.example.label], longest=30)
        title = f"Answer{flipped}; right: {label}" if best else "Nothing is left"
        drawing.clean_axes(axes, title)
        colours = [drawing.TOP] + [drawing.WEIGHT] * 2
        axes.barh(range(len(best)), [p for _, p in best], height=0.6, color=colours[: len(best)])
        labels = drawing.drawable([name for name, _ in best], longest=30)
        names = [
            f"{name}  {measures.whole_percent(share)}"
            for name, (_, share) in zip(labels, best, strict=True)
        ]
        axes.set_yticks(range(len(best)), names, parse_math=False, fontsize=10)
        axes.tick_params(axis="y", length=0, colors=drawing.INK)
        for text in (*axes.get_yticklabels(), axes.title, axes._left_title):
            text.set_fontfamily(drawing.font_families())
        axes.set_ylim(2.6, -0.6)
        axes.set_xlim(0, 1)
        axes.set_xticks([0, 0.5, 1], ["0 %", "50 %", "100 %"])


def _checked(examples: Any) -> list[DeletionExample]:
    expected = f"a list of 1 to {MANY} DeletionExamples"
    if isinstance(examples, (str, DeletionExample)) or not isinstance(examples, Sequence):
        cure = "Put a single one into a list: [example]."
        pairs.refuse(TypeError, "DeletionWidget.examples", expected, examples, cure)
    if not 1 <= len(examples) <= MANY:
        cure = "A few names whose answers differ are plenty."
        got = f"{len(examples)} of them"
        pairs.refuse(ValueError, "DeletionWidget.examples", expected, got, cure)
    for i, example in enumerate(examples):
        name = f"DeletionWidget.examples[{i}]"
        if not isinstance(example, DeletionExample):
            cure = "DeletionExample.of(predict, text, label, languages) makes one."
            pairs.refuse(TypeError, name, "a DeletionExample", example, cure)
        if example.languages != examples[0].languages:
            cure = "Give all examples the answers of one model."
            got = f"{len(example.languages)} others"
            pairs.refuse(ValueError, name, "the languages of the first example", got, cure)
    return list(examples)


def _packed(example: DeletionExample, codes: torch.Tensor) -> dict[str, Any]:
    return {
        "text": list(example.text),
        "label": example.languages.index(example.label),
        "best": _bytes(example.best),
        "shares": _bytes(_coded(example.probabilities)),
        "right": _bytes(_coded(example.right)),
        "weights": packing.digits(codes),
    }


def _coded(shares: torch.Tensor) -> torch.Tensor:
    """A byte each, 0 and 255 for 0 and 1 alone."""
    inside = (255 * shares).round().clamp(1, 254)
    return torch.where(shares <= 0, 0, torch.where(shares >= 1, 255, inside))


def _shown(shares: torch.Tensor) -> torch.Tensor:
    """What the page reads from the bytes."""
    return _coded(shares) / 255


def _bytes(codes: torch.Tensor) -> str:
    return base64.b64encode(codes.to(torch.uint8).numpy().tobytes()).decode("ascii")
