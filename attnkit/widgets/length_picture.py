"""The static picture of LengthWidget: answers as text, the map, accuracy against length."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from attnkit.widgets import align, drawing, pairs
from attnkit.widgets.examples import Checked

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Spread = tuple[float, float, float]  # median, low, high

# How a word of an answer is written where nothing but text can be drawn.
MARKS = {
    align.RIGHT: "{}",
    align.WRONG: "✗{}",
    align.MISSING: "[missing]",
    align.EXTRA: "✗{} (extra)",
    align.BLANK: "",
}


def draw(
    chosen: Checked,
    accuracy: Mapping[str, Sequence[Spread]],
    lengths: Sequence[int],
    *,
    length: int,
    model: str,
) -> "Figure":
    """One example of `length` digits with all answers; the map is that of `model`, if any.

    `accuracy` holds (median, low, high) for each of `lengths`, by model.
    """
    figure = drawing.new_figure(9.0, 5.0)
    parts: Any = figure.subfigures(2, 1, height_ratios=(1.0, 2.2))
    top, bottom = parts
    for part in (top, bottom):
        part.set_facecolor(drawing.CARD)
    _write(top, chosen, length)
    if model and chosen.pairs[model].words:
        left, right = bottom.subplots(1, 2, width_ratios=(1.4, 1.0))
        _draw_map(left, chosen, model)
    else:
        right = bottom.subplots()
    _draw_accuracy(right, accuracy, lengths, length)
    return figure


def _write(figure: Any, chosen: Checked, length: int) -> None:
    lines = [("right", [slot.word for slot in chosen.right if slot.kind != align.BLANK])]
    for model in chosen.answers:
        lines.append((model, [MARKS[s.kind].format(s.word) for s in chosen.answers[model]]))
    text = "\n".join(
        f"{name}: {drawing.sentence([word for word in words if word], 105 - len(name))}"
        for name, words in lines
    )
    number = pairs.numeral(chosen.source)
    source = "".join(drawing.drawable(["".join(chosen.source)], longest=99))
    title = f"{source}  {number}   ({length} digits)"
    options = {"x": 0.01, "ha": "left", "va": "top", "color": drawing.INK, "parse_math": False}
    figure.text(y=0.97, s=title, fontsize=12, family=drawing.font_families(), **options)
    figure.text(y=0.76, s=text, fontsize=8.5, linespacing=1.35, **options)


def _draw_map(axes: Any, chosen: Checked, model: str) -> None:
    words = chosen.pairs[model].words
    axes.imshow(
        chosen.pairs[model].weights().numpy(), vmin=0, vmax=1, cmap="cividis", aspect="auto"
    )
    drawing.clean_axes(axes, f"Where “{model}” looks")
    axes.set_xticks(
        range(len(chosen.source)), drawing.drawable(list(chosen.source)), parse_math=False
    )
    axes.set_yticks(range(len(words)), drawing.drawable(list(words)), parse_math=False, fontsize=7)
    axes.tick_params(length=0, colors=drawing.INK)
    for label in axes.get_xticklabels():
        label.set(fontfamily=drawing.font_families(), fontsize=8)


def _draw_accuracy(
    axes: Any, accuracy: Mapping[str, Sequence[Spread]], lengths: Sequence[int], length: int
) -> None:
    for i, (model, spreads) in enumerate(accuracy.items()):
        colour = drawing.MODELS[i]
        low, high = [s[1] for s in spreads], [s[2] for s in spreads]
        axes.fill_between(lengths, low, high, color=colour, alpha=0.2, lw=0)
        axes.plot(
            lengths,
            [s[0] for s in spreads],
            color=colour,
            ls=drawing.MODEL_DASHES[i],
            marker="osD^"[i],
            ms=4,
            label=model.replace("$", r"\$"),
        )
    axes.axvline(length, color=drawing.MUTED, lw=1, ls=":")
    axes.set_ylim(-0.03, 1.03)
    axes.set_yticks([0, 0.5, 1], ["0 %", "50 %", "100 %"])
    drawing.clean_axes(axes, "Right, by number of digits")
    axes.set_xticks(lengths if len(lengths) <= 12 else lengths[::2])
    axes.legend(frameon=False, fontsize=8, loc="lower left", labelcolor=drawing.INK)
