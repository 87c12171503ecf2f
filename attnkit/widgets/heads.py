"""How many heads are enough: models really trained with 1, 2, 4 … heads, and their maps."""

import math
import textwrap
from typing import TYPE_CHECKING, Any

import torch
import traitlets
from traitlets import TraitError, observe, validate

from attnkit.widgets import heads_runs, maps, packing
from attnkit.widgets.base import WIDTHS, CourseWidget
from attnkit.widgets.heads_picture import heads_picture
from attnkit.widgets.traits import WholeNumber

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NONE_OF_THEM = 0
# Heights in rem of heads.css: padding and margins; slider and read-outs; the question without its
# text; a guess that was skipped, and the answer without its text; chart; what stands around the
# large map; the toggles of the tables.
FRAME, SLIDER, ASK, SKIPPED, ANSWER = 3.625, 10.08, 7.5, 2.75, 4.75
CHART, CHART_WIDE, MAP, TABLES = 14.76, 16.76, 6.5, 6.0
GAP = 0.3125  # between thumbnails
LINE, LETTER = 1.45, 0.59  # of text: height of a line, mean width of a letter


def lines(text: str, room: float) -> int:
    """Lines of a text in a column of `room` rem."""
    return len(textwrap.wrap(text, int(room / LETTER)))


def rows_of(widths: list[float], room: float, gap: float = 1.25) -> int:
    """Rows that boxes of these widths take when they wrap inside `room`."""
    rows, left = 1, room
    for width in widths:
        if width > left:
            rows, left = rows + 1, room
        left -= width + gap
    return rows


class HeadsWidget(CourseWidget, files="heads"):
    """Accuracy against the number of heads, and all heads of the model of that number.

    >>> from attnkit.widgets import HeadsRun
    >>> maps = torch.softmax(torch.arange(27.0).sin().reshape(3, 3, 3), -1)
    >>> runs = {1: HeadsRun(maps[:1], (0.25, 0.5), 6), 2: HeadsRun(maps[1:], (1.0, 0.75), 3)}
    >>> HeadsWidget(runs, ["a", "b", "c"], num_heads=2)
    HeadsWidget(models with 1, 2 heads, 3 queries × 3 keys, num_heads=2, head=0, query=2)

    The reader is asked first which number of heads is enough: the smallest for which the median
    of the seeds reaches 95 %.

    Args:
        runs: a dict of number of heads → HeadsRun(weights, accuracy, d_head): the maps of one
            trained model, the accuracy of each seed, and the features of a head.
        tokens: labels of the queries; of the keys too, unless `key_tokens` are given. None
            numbers them.

    Traits:
        num_heads: int, which of the runs
        head: int, which of its maps is large
        query: int, the row that is read aloud; the last one at first
        prediction: None, or the reader's guess: one of the numbers of heads, or 0 for none of them
        revealed: bool; False asks for the guess before it shows accuracies and maps

    Raises:
        TypeError, ValueError: runs that do not fit together, or weights that are none.
    """

    num_heads = WholeNumber(1, 1, heads_runs.MOST_HEADS).tag(sync=True)
    head = WholeNumber(0, 0, heads_runs.MOST_HEADS - 1).tag(sync=True)
    query = WholeNumber(0, 0, heads_runs.LONGEST - 1).tag(sync=True)
    prediction = WholeNumber(None, 0, heads_runs.MOST_HEADS, allow_none=True).tag(sync=True)
    revealed = traitlets.Bool(False).tag(sync=True)

    _runs = traitlets.List(traitlets.Dict()).tag(sync=True)
    _shape = traitlets.List(traitlets.Int()).tag(sync=True)
    _query_tokens = traitlets.List(traitlets.Unicode()).tag(sync=True)
    _key_tokens = traitlets.List(traitlets.Unicode()).tag(sync=True)
    _question = traitlets.Unicode().tag(sync=True)
    _enough = traitlets.Float(heads_runs.ENOUGH).tag(sync=True)

    def __init__(
        self, runs: Any, tokens: Any = None, *, key_tokens: Any = None, **traits: Any
    ) -> None:
        self._checked = heads_runs.checked(runs)
        shape = next(iter(self._checked.values())).weights.shape[1:]
        queries, keys = maps.read_axes("HeadsWidget", tokens, key_tokens, shape)
        codes = {heads: packing.encode(run.weights) for heads, run in self._checked.items()}
        self._maps = {heads: packing.decode(code) for heads, code in codes.items()}
        traits.setdefault("num_heads", min(self._checked))
        traits.setdefault("query", len(queries) - 1)
        super().__init__(
            _runs=[
                {
                    "heads": heads,
                    "d_head": run.d_head,
                    "accuracy": list(run.accuracy),
                    "codes": packing.digits(codes[heads]),
                }
                for heads, run in self._checked.items()
            ],
            _question=heads_runs.question(self._checked),
            _shape=list(shape),
            _query_tokens=queries,
            _key_tokens=keys,
            **traits,
        )

    @validate("num_heads", "prediction")
    def _one_of_the_runs(self, proposal: dict) -> int | None:
        value, name = proposal["value"], proposal["trait"].name
        allowed = [NONE_OF_THEM, *self._checked] if name == "prediction" else [*self._checked]
        if value is not None and value not in allowed:
            raise TraitError(
                f"HeadsWidget.{name}: expected one of {', '.join(map(str, allowed))}, got {value}. "
                "Those are the numbers of heads for which there is a model"
                + (", and 0 for none of them." if name == "prediction" else ".")
            )
        return value

    @validate("head", "query")
    def _exists(self, proposal: dict) -> int:
        axis, things = (0, "heads") if proposal["trait"].name == "head" else (1, "queries")
        return maps.in_range(proposal, self._maps[self.num_heads].shape[axis], things)

    @observe("num_heads")
    def _keep_a_head(self, change: dict) -> None:
        if self.head >= self.num_heads:
            self.head = 0

    def weights(self) -> torch.Tensor:
        """(queries, keys) float64: the weights of the chosen head, as shown."""
        return self._maps[self.num_heads][self.head].clone()

    def accuracy(self) -> tuple[float, ...]:
        """The accuracy of each seed with the chosen number of heads."""
        return self._checked[self.num_heads].accuracy

    def enough(self) -> int:
        """The smallest number of heads whose median accuracy is at least 95 %; 0: none."""
        return heads_runs.enough(self._checked)

    def shown(self) -> dict[str, Any]:
        """Which model, head and query, and the guess when there is one."""
        names = ["num_heads", "head", "query"]
        names += ["prediction"] * (self.prediction is not None) + ["revealed"] * self.revealed
        return {name: getattr(self, name) for name in names}

    def __repr__(self) -> str:
        n_queries, n_keys = self._shape
        traits = ", ".join(f"{name}={value!r}" for name, value in self.shown().items())
        numbers = ", ".join(map(str, self._checked))
        return (
            f"HeadsWidget(models with {numbers} heads, {n_queries} queries × {n_keys} keys, "
            f"{traits})"
        )

    def describe(self) -> str:
        """The alt text of the picture."""
        run = self._checked[self.num_heads]
        curve = "; ".join(f"{heads}: {run.spread()}" for heads, run in self._checked.items())
        size = f"{run.d_head} feature{'s' * (run.d_head != 1)}"
        row = maps.row_read(
            self._query_tokens, self.query, self._key_tokens, self.weights()[self.query]
        )
        return (
            f"Accuracy against the number of heads, one dot for each seed. {curve}.\n"
            f"Beside it the maps of all {self.num_heads} heads of the model with "
            f"{self.num_heads}, {size} each, on one scale. Large: head {self.head}. "
            f"{row[0].upper()}{row[1:]}."
        )

    def heights(self) -> tuple[float, ...]:
        """Height in rem at each of `base.WIDTHS`."""
        return tuple(self._height(width) for width in WIDTHS)

    def _height(self, width: float) -> float:
        inner = max(width + 0.5 * (width == 42), 18) - 2.125  # two columns from 42.1 rem on
        wide = inner >= 40
        column = (inner - 1.5) / 2 if wide else inner
        box = column - 2.25
        start = SLIDER + (SKIPPED if self.prediction is None else ANSWER)
        if not self.revealed:
            items = [max(2.75, 1.875 + 0.6 * len(str(heads))) for heads in self._checked]
            start = SLIDER + ASK + LINE * lines(heads_runs.question(self._checked), box)
            start += 3.0 * (rows_of([*items, 1.875 + 6.0], box) - 1) + 3.0 * (box < 17)
        elif self.prediction is not None:
            more = 2 if list(self._checked.values())[-1].median < heads_runs.ENOUGH else 0
            start += LINE * (math.ceil(95 * LETTER / box) + more)
        start += 2.3 * (column < 16)
        chart = CHART_WIDE if wide else CHART + 1.36 * (column < 18)
        top = max(start, chart) if wide else start + 1 + chart
        if not self.revealed:
            return FRAME + top
        most = max(heads_runs.table_of(heads)[0] for heads in self._checked)
        small = 1.61 + self._thumbnails_height(column)
        small = small if wide else max(small, 2.75 + most * (inner - 3) / 8)
        large = MAP + maps.map_height(column, self._query_tokens, self._key_tokens)
        large += LINE * (column < 16)
        return FRAME + TABLES + top + 1 + (max(small, large) if wide else small + 1 + large)

    def _thumbnails_height(self, column: float) -> float:
        rows, columns = heads_runs.table_of(self.num_heads)
        room = maps.label_room(heads_runs.row_names(self.num_heads))
        size = min(8.0, (column - room) / columns - GAP)
        n_queries, n_keys = self._shape
        return 0.6875 + GAP + rows * (size / min(2.5, max(0.5, n_keys / n_queries)) + GAP)

    def picture(self) -> "Figure":
        """The accuracies, the thumbnails of the chosen model, and one map large."""
        return heads_picture(
            self._checked, self._maps[self.num_heads], self.num_heads, self.head, self.query,
            (self._query_tokens, self._key_tokens), self.prediction,
        )  # fmt: skip
