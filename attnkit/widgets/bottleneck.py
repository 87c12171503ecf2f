"""Beat the bottleneck: keep a number in mind, then look at it; two models' curves beside yours."""

import numbers
from typing import TYPE_CHECKING, Any, NamedTuple

import traitlets

from attnkit.widgets import drawing, measures
from attnkit.widgets.base import CourseWidget
from attnkit.widgets.traits import Number, PlainList, WholeNumber, refuse

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LONGEST = 15  # digits
MOST_MODELS = 4
# Height in rem at base.WIDTHS before the first round.
START = (87.5, 82, 81, 80, 76, 76, 70.5, 46.25, 45, 43.5)

Point = tuple[float, float, float]


def _is_whole(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


class Accuracy(traitlets.TraitType):
    """dict: model name → dict: number of digits → (median, low, high), each from 0 to 1."""

    default_value: Any = traitlets.Undefined

    def make_dynamic_default(self) -> dict:
        return {}

    def validate(self, obj: Any, value: Any) -> dict[str, dict[int, Point]]:
        expected = "a dict: model name → dict: number of digits → (median, low, high)"
        curves = value.values() if isinstance(value, dict) else [None]
        if not all(isinstance(curve, dict) and curve for curve in curves):
            cure = 'Such as {"attention": {4: (0.99, 0.98, 1.0)}}.'
            refuse(self, obj, expected, value, cure)
        if len(value) > MOST_MODELS:
            refuse(self, obj, expected, value, f"At most {MOST_MODELS} models can be told apart.")
        return {
            str(name): {
                int(length): self._point(obj, expected, f"{name}, {length} digits", point, length)
                for length, point in sorted(curve.items(), key=lambda item: str(item[0]).zfill(3))
            }
            for name, curve in value.items()
        }

    def _point(self, obj: Any, expected: str, where: str, point: Any, length: Any) -> Point:
        if not _is_whole(length) or not 1 <= length <= LONGEST:
            cure = f"The number of digits is an int from 1 to {LONGEST}."
            refuse(self, obj, expected, length, cure)
        try:
            median, low, high = (float(value) for value in point)
        except (TypeError, ValueError):
            refuse(self, obj, expected, point, f"{where}: three numbers are needed.")
        if not 0 <= low <= median <= high <= 1:
            cure = f"{where}: 0 ≤ low ≤ median ≤ high ≤ 1 must hold (shares, not percent)."
            refuse(self, obj, expected, point, cure)
        return (median, low, high)


class Lengths(PlainList):
    """Rising numbers of digits, one round each."""

    def validate(self, obj: Any, value: Any) -> list[int]:
        expected = f"1 to 10 rising whole numbers from 1 to {LONGEST}"
        items = list(value) if isinstance(value, (list, tuple, range)) else None
        if items is None or not 1 <= len(items) <= 10:
            refuse(self, obj, expected, value, "Such as (4, 6, 8, 10, 12).")
        for item in items:
            if not _is_whole(item) or not 1 <= item <= LONGEST:
                refuse(self, obj, expected, value, f"{item!r} is not such a number.")
        if sorted(set(items)) != items:
            refuse(self, obj, expected, value, "Sort them, each once.")
        return [int(item) for item in items]


class Rounds(PlainList):
    """The rounds played: dicts with looking, asked and typed; the rest is worked out from them."""

    def validate(self, obj: Any, value: Any) -> list[dict[str, Any]]:
        expected = 'a list of dicts such as {"looking": False, "asked": "4711", "typed": "4717"}'
        if not isinstance(value, (list, tuple)):
            refuse(self, obj, expected, value, "An empty list forgets all rounds.")
        return [self._round(obj, expected, played) for played in value]

    def _round(self, obj: Any, expected: str, played: Any) -> dict[str, Any]:
        try:
            looking, asked, typed = played["looking"], played["asked"], played["typed"]
        except (TypeError, KeyError):
            refuse(self, obj, expected, played, "looking, asked and typed are needed.")
        texts = isinstance(asked, str) and isinstance(typed, str)
        if not texts or not f"{asked}0{typed}".isascii() or not f"{asked}0{typed}".isdigit():
            refuse(self, obj, expected, played, "asked and typed are texts of the digits 0 to 9.")
        if not 1 <= len(asked) <= LONGEST:
            refuse(self, obj, expected, played, f"asked has 1 to {LONGEST} digits.")
        if not isinstance(looking, bool):
            refuse(self, obj, expected, played, "looking is True or False.")
        in_place = sum(a == b for a, b in zip(asked, typed, strict=False))
        return {
            "looking": looking,
            "length": len(asked),
            "asked": asked,
            "typed": typed,
            "right": asked == typed,
            "digits_right": in_place / len(asked),
        }


class Trials(NamedTuple):
    """The reader's rounds with one number of digits: how many, how many right, digits in place."""

    length: int
    trials: int
    right: int
    digits_right: float


class BottleneckGame(CourseWidget, files="bottleneck"):
    """A number is shown, hidden and asked for, ever longer; then again with looking allowed.

    >>> game = BottleneckGame({"attention": {4: (1.0, 0.99, 1.0)}}, lengths=(4, 6))
    >>> game.rounds = [{"looking": False, "asked": "4711", "typed": "4717"}]
    >>> game.rounds[0]["right"], game.rounds[0]["digits_right"]
    (False, 0.75)
    >>> game.curve(looking=False)
    [Trials(length=4, trials=1, right=0, digits_right=0.75)]

    Traits:
        accuracy: dict: model name → dict: number of digits → (median, low, high), at most 4 models
        lengths: rising numbers of digits, one round for each
        seconds: how long a number is shown, 1 to 60; None: until the reader hides it
        seed: int for the same numbers each time, or None
        revealed: bool; False keeps the models' curves back until the first round is over
        rounds: list of dicts, one for each answer: looking, length, asked, typed, right,
            digits_right

    Accuracy is the share of numbers that a model gets right as a whole, over its training runs.
    `digits_right` is the share of the digits asked for that were typed at their place, counted from
    the left. The rounds stay with the widget: on a page without a kernel, in the page until it is
    closed.
    """

    accuracy = Accuracy().tag(
        sync=True,
        to_json=lambda value, _: [
            [name, [[length, *point] for length, point in curve.items()]]
            for name, curve in value.items()
        ],
    )
    lengths = Lengths(traitlets.Int(), [4, 6, 8, 10, 12]).tag(sync=True)
    seconds = Number(4.0, lowest=1.0, highest=60.0, allow_none=True).tag(sync=True)
    seed = WholeNumber(None, 0, 2**31 - 1, allow_none=True).tag(sync=True)
    revealed = traitlets.Bool(False).tag(sync=True)
    rounds = Rounds(traitlets.Dict(), []).tag(sync=True)

    def __init__(
        self, accuracy: Any = None, lengths: Any = (4, 6, 8, 10, 12), **traits: Any
    ) -> None:
        super().__init__(accuracy={} if accuracy is None else accuracy, lengths=lengths, **traits)

    def curve(self, *, looking: bool) -> list[Trials]:
        """The reader's rounds, by number of digits."""
        lengths = sorted({r["length"] for r in self.rounds if r["looking"] == looking})
        found = []
        for length in lengths:
            own = [r for r in self.rounds if (r["looking"], r["length"]) == (looking, length)]
            right = sum(r["right"] for r in own)
            in_place = sum(r["digits_right"] for r in own) / len(own)
            found.append(Trials(length, len(own), right, in_place))
        return found

    def shown(self) -> dict[str, Any]:
        """accuracy and lengths, and what else is not as it was at the start."""
        rest = {"seconds": 4.0, "seed": None, "revealed": False, "rounds": []}
        changed = {n: getattr(self, n) for n, v in rest.items() if getattr(self, n) != v}
        return {"accuracy": self.accuracy, "lengths": tuple(self.lengths)} | changed

    def describe(self) -> str:
        """The alt text of the picture."""
        parts = [
            f"{name}: "
            + ", ".join(
                f"{length} digits {measures.percent(median)} ({measures.percent(low)} to "
                f"{measures.percent(high)})"
                for length, (median, low, high) in curve.items()
            )
            for name, curve in self.accuracy.items()
        ]
        for looking, name in ((False, "you, from memory"), (True, "you, looking allowed")):
            if trials := self.curve(looking=looking):
                listed = ", ".join(f"{t.length} digits {t.right} of {t.trials}" for t in trials)
                parts.append(f"{name}: {listed}")
        yours = "" if self.rounds else " Your own curve is missing: it is drawn as you play."
        return (
            "Line chart: share of numbers right as a whole against the number of digits, median "
            f"(lowest to highest). {'. '.join(parts) or 'No curves'}.{yours}"
        )

    def heights(self) -> tuple[float, ...]:
        """Height in rem at each of `base.WIDTHS`."""
        return START

    def picture(self) -> "Figure":
        """The models' curves, with room for the reader's."""
        figure = drawing.new_figure(7.0, 3.1)
        axes = figure.subplots()
        names = list(self.accuracy)
        for index, curve in enumerate(self.accuracy.values()):
            colour, dashes = drawing.MODELS[index], drawing.MODEL_DASHES[index]
            lengths = list(curve)
            median, low, high = (list(column) for column in zip(*curve.values(), strict=True))
            axes.fill_between(lengths, low, high, color=colour, alpha=0.2, lw=0)
            axes.plot(lengths, median, color=colour, ls=dashes, lw=2)
        for looking, name, marker in (
            (False, "you, from memory", "o"),
            (True, "you, looking allowed", "s"),
        ):
            trials = self.curve(looking=looking)
            if trials or not looking:
                names.append(name if trials else "you: not played yet")
                axes.plot(
                    [t.length for t in trials],
                    [t.right / t.trials for t in trials],
                    color=drawing.INK if looking else drawing.GUESS,
                    marker=marker,
                    lw=1.5,
                )
        shown = [*self.lengths, *(played["length"] for played in self.rounds)]
        shown += [length for curve in self.accuracy.values() for length in curve]
        axes.set_xlim(min(shown) - 0.5, max(shown) + 0.5)
        axes.set_xticks(sorted(set(shown)))
        axes.set_ylim(-0.03, 1.04)
        axes.set_yticks([0, 0.5, 1], ["0 %", "50 %", "100 %"])
        drawing.clean_axes(axes, "Numbers right as a whole")
        axes.set_xlabel("number of digits", color=drawing.MUTED, fontsize=9)
        handles = axes.lines
        legend = axes.legend(
            handles, [str(i) for i in range(len(handles))], frameon=False, loc="center left",
            bbox_to_anchor=(1.0, 0.5),
        )  # fmt: skip
        for text, name in zip(legend.get_texts(), drawing.drawable(names), strict=True):
            text.set(text=name, parse_math=False, fontsize=9, color=drawing.INK)
            text.set_fontfamily(drawing.font_families())
        return figure
