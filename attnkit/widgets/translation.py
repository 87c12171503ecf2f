"""A translated numeral: choose a word and see which characters it looks at."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
import traitlets
from traitlets import TraitError, observe, validate

from attnkit.widgets import drawing, measures, pairs
from attnkit.widgets.base import WIDTHS, CourseWidget
from attnkit.widgets.traits import WholeNumber

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MANY = 1000
# Sizes of translation.css in rem, narrow and wide: tile, word, their gaps, and their heights.
TILE, TILE_GAP, TILE_HEIGHT = (2.3, 3.0), (0.2, 0.375), (6.225, 8.75)
WORD, WORD_GAP, WORD_HEIGHT = ((0.53, 0.35), (0.6, 0.75)), (0.2, 0.375), (2.5, 2.75)
# All but tiles and words; the chooser; the line that explains the mark of a wrong word.
FRAME, CHOOSER, KEY = (11.8, 12.0), (6.5, 3.5), 1.45


class TranslationWidget(CourseWidget, files="translation"):
    """Translations with their attention weights, one word at a time.

    >>> widget = TranslationWidget([(["十", "二"], ["twelve"], [[0.25, 0.75]])])
    >>> widget
    TranslationWidget(1 translation, example=0, word=0)
    >>> widget.describe().splitlines()[0]
    'Attention of one word: 十二 (12) is translated as "twelve".'

    Args:
        translations: one or more, each with ``source`` (characters), ``words`` and ``weights``
            (words × characters, rows that sum to 1), as ``model.translate`` gives them, or a
            tuple of the three. The page carries one byte for each weight; none is off by more
            than 0.005.
        glosses: a dict of character → meaning, shown under each character; None takes
            ``attnkit.numerals.GLOSSES``.
        wrong: for each translation the positions of its wrong words (from 0); they are marked.

    Traits:
        example: int, which of the translations
        word: int, which word of it; 0 when a shorter translation lacks the word

    Raises:
        TypeError, ValueError: no translations, other sizes, or weights that are none.
    """

    example = WholeNumber(0, 0, MANY - 1).tag(sync=True)
    word = WholeNumber(0, 0, pairs.LONGEST - 1).tag(sync=True)

    _items = traitlets.List(traitlets.Dict()).tag(sync=True)
    _glosses = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        translations: Sequence[Any],
        *,
        glosses: Mapping[str, str] | None = None,
        wrong: Sequence[Sequence[int]] | None = None,
        **traits: Any,
    ) -> None:
        self._pairs = _checked(translations)
        self._wrong = _positions(wrong, self._pairs)
        super().__init__(
            _items=[
                {
                    "source": list(pair.source),
                    "name": pairs.numeral(pair.source),
                    "words": list(pair.words),
                    "weights": pairs.packed(pair.codes),
                    "wrong": list(positions),
                }
                for pair, positions in zip(self._pairs, self._wrong, strict=True)
                if pair.codes is not None
            ],
            _glosses=pairs.gloss_table(type(self).__name__, glosses),
            **traits,
        )

    @validate("example", "word")
    def _exists(self, proposal: dict) -> int:
        value, name = proposal["value"], proposal["trait"].name
        number = len(self._pairs) if name == "example" else len(self._pairs[self.example].words)
        if value >= number:
            things = "translations" if name == "example" else "words in this translation"
            raise TraitError(
                f"TranslationWidget.{name}: expected a position below {number}, the number of "
                f"{things}, got {value}. Positions count from 0."
            )
        return value

    @observe("example")
    def _keep_a_word(self, change: dict) -> None:
        if self.word >= len(self._pairs[self.example].words):
            self.word = 0

    @property
    def source(self) -> tuple[str, ...]:
        """The characters of the chosen translation."""
        return self._pairs[self.example].source

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the chosen translation."""
        return self._pairs[self.example].words

    def weights(self) -> torch.Tensor:
        """(words, source) float64: the weights of the chosen translation, as shown."""
        return self._pairs[self.example].weights()

    def shown(self) -> dict[str, Any]:
        """Which translation, which word."""
        return {"example": self.example, "word": self.word}

    def __repr__(self) -> str:
        number = len(self._pairs)
        count = f"{number} translation{'s' if number > 1 else ''}"
        return f"TranslationWidget({count}, example={self.example}, word={self.word})"

    def describe(self) -> str:
        """The alt text of the picture."""
        number = pairs.numeral(self.source)
        named = f" ({number})" if number else ""
        row = self.weights()[self.word].tolist()
        listed = ", ".join(
            f"{c} {measures.whole_percent(w)}" for c, w in zip(self.source, row, strict=True)
        )
        wrong = self._wrong[self.example]
        marked = "".join(f' Word {i + 1}, "{self.words[i]}", is wrong.' for i in wrong)
        return (
            f"Attention of one word: {''.join(self.source)}{named} is translated as "
            f'"{" ".join(self.words)}".{marked}\n'
            f'The word "{self.words[self.word]}" (number {self.word + 1}) looks at {listed}.'
        )

    def heights(self) -> tuple[float, ...]:
        """Height in rem at each of `base.WIDTHS`."""
        letters = max(4, *(len(word) for pair in self._pairs for word in pair.words))
        found = []
        for width in WIDTHS:
            wide = int(width >= 42)
            inner = max(width + 0.5 * (width == 42), 18) - 2.125  # wide from 42.1 rem on
            size = WORD[wide][0] * letters + WORD[wide][1]
            height = FRAME[wide] + (CHOOSER[wide] if len(self._pairs) > 1 else 1.8)
            height += KEY if any(self._wrong) else 0
            height += drawing.rows(
                len(self.source), inner, TILE[wide], TILE_GAP[wide], TILE_HEIGHT[wide]
            )
            height += drawing.rows(len(self.words), inner, size, WORD_GAP[wide], WORD_HEIGHT[wide])
            found.append(height)
        return tuple(found)

    def picture(self) -> "Figure":
        """One bar for each character; above them the words, the chosen one in brackets."""
        row = self.weights()[self.word].tolist()
        n = len(row)
        figure = drawing.new_figure(max(4.0, min(9.0, 1.4 + 0.42 * n)), 3.1)
        axes = figure.subplots()
        best = max(row)
        colours = [drawing.TOP if w == best else drawing.WEIGHT for w in row]
        bars = axes.bar(range(n), row, width=0.8, color=colours)
        small = 9 if n <= 12 else 6.5
        for bar, weight in zip(bars, row, strict=True):
            place = (bar.get_x() + bar.get_width() / 2, bar.get_height() + 0.015)
            text = measures.whole_percent(weight).replace(" %", "")
            axes.text(*place, text, ha="center", fontsize=small, color=drawing.INK)
        axes.set_ylim(0, 1.1)
        axes.set_yticks([0, 0.5, 1], ["0 %", "50 %", "100 %"])
        drawing.clean_axes(axes, f"“{drawing.visible(self.words[self.word])}” looks at")
        labels = [
            f"{label}\n{self._glosses.get(character, '').replace(' ', chr(10))}".rstrip()
            for label, character in zip(
                drawing.drawable(list(self.source)), self.source, strict=True
            )
        ]
        axes.set_xticks(range(n), labels, parse_math=False, fontsize=10 if n <= 12 else 8)
        axes.tick_params(axis="x", colors=drawing.INK, length=0)
        for label in axes.get_xticklabels():
            label.set_fontfamily(drawing.font_families())
        sentence = drawing.sentence(
            [f"[{word}]" if i == self.word else word for i, word in enumerate(self.words)],
            int(figure.get_figwidth() * 13),
        )
        options = {"fontsize": 10, "color": drawing.INK, "parse_math": False}
        figure.suptitle(sentence, x=0.02, ha="left", **options)
        return figure


def _checked(translations: Any) -> list[pairs.Pair]:
    name = "TranslationWidget.translations"
    expected = f"a list of 1 to {MANY} translations"
    single = hasattr(translations, "words") or isinstance(translations, str)
    if single or not isinstance(translations, Sequence):
        cure = "Put a single one into a list: [translation]."
        pairs.refuse(TypeError, name, expected, translations, cure)
    if not 1 <= len(translations) <= MANY:
        pairs.refuse(ValueError, name, expected, f"{len(translations)} of them", "Choose fewer.")
    return [pairs.pair(f"{name}[{i}]", item) for i, item in enumerate(translations)]


def _positions(wrong: Any, checked: list[pairs.Pair]) -> list[tuple[int, ...]]:
    if wrong is None:
        return [()] * len(checked)
    name = "TranslationWidget.wrong"
    if not isinstance(wrong, Sequence) or len(wrong) != len(checked):
        expected = f"{len(checked)} lists of positions, one for each translation"
        pairs.refuse(ValueError, name, expected, wrong, "A right translation has the list [].")
    found = []
    for i, (positions, pair) in enumerate(zip(wrong, checked, strict=True)):
        inside = isinstance(positions, Sequence | set | frozenset) and all(
            isinstance(p, int) and not isinstance(p, bool) and 0 <= p < len(pair.words)
            for p in positions
        )
        if not inside:
            expected = f"positions from 0 to {len(pair.words) - 1}"
            pairs.refuse(ValueError, f"{name}[{i}]", expected, positions, "Count words from 0.")
        found.append(tuple(sorted(set(positions))))
    return found
