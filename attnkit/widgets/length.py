"""The same number through several models, at every length: answers, weights and accuracy."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
import traitlets
from traitlets import TraitError, observe, validate

from attnkit.widgets import align, drawing, length_picture, measures, pairs
from attnkit.widgets import examples as given
from attnkit.widgets.base import WIDTHS, CourseWidget
from attnkit.widgets.examples import Checked, LengthExample
from attnkit.widgets.traits import WholeNumber

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Sizes of length.css in rem: a character, its gap and height; a place (narrow and wide: rem for
# each letter, and more) and the height of a line.
TILE, TILE_GAP, TILE_HEIGHT = 2.25, 0.25, 3.5
WORD, WORD_HEIGHT = ((0.53, 0.5), (0.6, 0.75)), 1.75
CELL = 1.125  # height of a row of the map where the most words are
# All but tiles, words and map; controls and number; chart; head of an answer.
FRAME, CONTROLS, CHART, ANSWER = (23.2, 19.2), (8.5, 8.5), (13.0, 15.0), (6.25, 3.5)


class LengthWidget(CourseWidget, files="length"):
    """A slider over the number of digits: what each model answers, and how often it is right.

    Args:
        examples: ``LengthExample(digits, source, words, answers)`` for every length, each with
            the answers of the same models: translations with ``source``, ``words`` and
            ``weights`` (or None for a model that does not attend).
        accuracy: model → length → (median, low, high), shares from 0 to 1, for the same models
            and lengths.
        glosses: a dict of character → meaning, shown under each character; None takes
            ``attnkit.numerals.GLOSSES``.
        fresh: over how many fresh numbers of each length the accuracy was measured.
        seeds: over how many trained models median, lowest and highest were taken.

    An answer is aligned with the right words by the fewest edits, so that one missing word does
    not make all that follow wrong. The page carries one byte for each weight; none is off by
    more than 0.005.

    Traits:
        length: int, one of the lengths given; the longest at the start
        example: int, which example of that length; 0 where the length has fewer
        model: str, whose weights the map shows; "" where no model has weights

    Raises:
        TypeError, ValueError: examples or accuracy that are empty, do not fit each other, or hold
            weights that are none.
    """

    length = WholeNumber(1, 1, 10**6).tag(sync=True)
    example = WholeNumber(0, 0, given.MANY - 1).tag(sync=True)
    model = traitlets.Unicode().tag(sync=True)

    _lengths = traitlets.List(traitlets.Int()).tag(sync=True)
    _names = traitlets.List(traitlets.Unicode()).tag(sync=True)
    _mapped = traitlets.List(traitlets.Unicode()).tag(sync=True)
    _examples = traitlets.List().tag(sync=True)
    _accuracy = traitlets.List().tag(sync=True)
    _over = traitlets.List().tag(sync=True)
    _glosses = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        examples: Sequence[LengthExample],
        accuracy: Mapping[str, Mapping[int, tuple[float, float, float]]],
        *,
        glosses: Mapping[str, str] | None = None,
        fresh: int | None = None,
        seeds: int | None = None,
        **traits: Any,
    ) -> None:
        self._checked = given.checked_examples(examples)
        lengths = list(self._checked)
        first = self._checked[lengths[0]][0]
        models = list(first.pairs)
        self._spread = given.checked_accuracy(accuracy, models, lengths)
        mapped = [model for model in models if first.pairs[model].codes is not None]
        for name, value in (("fresh", fresh), ("seeds", seeds)):
            whole = isinstance(value, int) and not isinstance(value, bool) and value > 0
            if value is not None and not whole:
                cure = "Leave it out where it is not known."
                pairs.refuse(ValueError, f"LengthWidget.{name}", "a number from 1", value, cure)
        self._allowed = {"length": lengths, "model": mapped or [""]}
        super().__init__(
            _lengths=lengths,
            _names=models,
            _mapped=mapped,
            _examples=[[_for_page(item) for item in self._checked[n]] for n in lengths],
            _accuracy=[[list(spread) for spread in self._spread[model]] for model in models],
            _over=[fresh, seeds],
            _glosses=pairs.gloss_table(type(self).__name__, glosses),
            **{"length": lengths[-1], "model": mapped[-1] if mapped else ""} | traits,
        )

    @validate("length", "model")
    def _given(self, proposal: dict) -> Any:
        value, name = proposal["value"], proposal["trait"].name
        if value not in self._allowed[name]:
            raise TraitError(
                f"LengthWidget.{name}: expected one of "
                f"{', '.join(map(repr, self._allowed[name]))}, got {value!r}. "
                f"{'Lengths' if name == 'length' else 'Weights'} come with the examples."
            )
        return value

    @validate("example")
    def _exists(self, proposal: dict) -> int:
        value, number = proposal["value"], len(self._checked[self.length])
        if value >= number:
            raise TraitError(
                f"LengthWidget.example: expected a position below {number}, the number of examples "
                f"with {self.length} digits, got {value}. Positions count from 0."
            )
        return value

    @observe("length")
    def _keep_an_example(self, change: dict) -> None:
        if self.example >= len(self._checked[self.length]):
            self.example = 0

    @property
    def _chosen(self) -> Checked:
        return self._checked[self.length][self.example]

    @property
    def source(self) -> tuple[str, ...]:
        """The characters of the chosen example."""
        return self._chosen.source

    def answer(self, model: str) -> tuple[str, ...]:
        """The words of a model for the chosen example."""
        return self._chosen.pairs[self._named(model)].words

    def errors(self, model: str) -> int:
        """How many words of a model are wrong, missing or too many in the chosen example."""
        return align.errors(self._chosen.answers[self._named(model)])

    def accuracy(self, model: str) -> tuple[float, float, float]:
        """(median, low, high) of a model at the chosen length."""
        return self._spread[self._named(model)][self._allowed["length"].index(self.length)]

    def weights(self) -> torch.Tensor:
        """(words, source) float64: the weights that the map shows."""
        if not self.model:
            raise ValueError("LengthWidget.weights: no model of this widget has weights.")
        return self._chosen.pairs[self.model].weights()

    def _named(self, model: str) -> str:
        if model not in self._spread:
            names = ", ".join(map(repr, self._spread))
            raise ValueError(f"LengthWidget: expected a model out of {names}, got {model!r}.")
        return model

    def shown(self) -> dict[str, Any]:
        """Length, example, and the model of the map where there are several."""
        always = {"length": self.length, "example": self.example}
        return always | ({"model": self.model} if len(self._mapped) > 1 else {})

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={value!r}" for name, value in self.shown().items())
        number = sum(map(len, self._checked.values()))
        return f"LengthWidget({number} example{'s' if number > 1 else ''}, {inside})"

    def describe(self) -> str:
        """The alt text of the picture."""
        chosen = self._chosen
        number = pairs.numeral(chosen.source)
        right = " ".join(slot.word for slot in chosen.right if slot.kind != align.BLANK)
        parts = [
            f"{''.join(chosen.source)}{f' ({number})' if number else ''}, {self.length} digits: "
            f'right is "{right}".'
        ]
        for model in self._names:
            wrong = self.errors(model)
            said = " ".join(self.answer(model)) or "nothing"
            verdict = "right" if not wrong else f'{wrong} not right: "{said}"'
            parts.append(
                f"{model}: {verdict}; of {self._numbers()} {_range(self.accuracy(model))} right."
            )
        ends = (self._lengths[0], self._lengths[-1])
        for model in self._names:
            medians = [measures.whole_percent(s[0]) for s in self._spread[model]]
            parts.append(f"{model} from {ends[0]} to {ends[1]} digits: {', '.join(medians)}.")
        return " ".join(parts)

    def _numbers(self) -> str:
        return f"{self._over[0]:,} fresh numbers" if self._over[0] else "fresh numbers"

    def heights(self) -> tuple[float, ...]:
        """Height in rem at each of `base.WIDTHS`: the place of the longest example is kept."""
        every = [item for items in self._checked.values() for item in items]
        tiles = max(len(item.source) for item in every)
        places = max(len(item.right) for item in every)
        words = [slot.word for e in every for row in (e.right, *e.answers.values()) for slot in row]
        letters = max(4, *map(len, words))
        mapped = [len(item.pairs[model].words) for item in every for model in self._mapped]
        found = []
        for width in WIDTHS:
            wide = int(width >= 42)
            inner = max(width + 0.5 * (width == 42), 18) - 2.125  # wide from 42.1 rem on
            size = WORD[wide][0] * letters + WORD[wide][1]
            column = (inner - 1.5) / 2 if wide else inner
            start = CONTROLS[wide] + drawing.rows(tiles, column, TILE, TILE_GAP, TILE_HEIGHT)
            height = max(start, CHART[wide]) if wide else start + CHART[wide]
            height += FRAME[wide] + ANSWER[wide] * len(self._names)
            in_rows = drawing.rows(places, inner, size, 0.0, WORD_HEIGHT)
            height += in_rows * (1 + len(self._names))
            height += CELL * max(mapped, default=0)
            found.append(height)
        return tuple(found)

    def picture(self) -> "Figure":
        """The answers as text, the map, and accuracy against length."""
        return length_picture.draw(
            self._chosen, self._spread, self._lengths, length=self.length, model=self.model
        )


def _for_page(item: Checked) -> dict[str, Any]:
    rows = []
    for model, slots in item.answers.items():
        codes = item.pairs[model].codes
        row = {
            "kinds": "".join(slot.kind for slot in slots),
            "words": [slot.word for slot in slots],
        }
        rows.append(row | ({} if codes is None else {"weights": pairs.packed(codes)}))
    return {
        "source": list(item.source),
        "name": pairs.numeral(item.source),
        "right": [slot.word for slot in item.right],
        "answers": rows,
    }


def _range(spread: tuple[float, float, float]) -> str:
    """As core.js has it: 37 % (30–44), without the brackets where nothing varies."""
    median, low, high = map(measures.whole_percent, spread)
    return (
        median if low == high else f"{median} ({low.removesuffix(' %')}–{high.removesuffix(' %')})"
    )
