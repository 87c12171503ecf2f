"""Made-up models whose heads are of all kinds, for the tests of the threshold widget."""

import torch
from map_samples import causal, words

from attnkit.patterns import describe_heads
from attnkit.widgets import ThresholdWidget

PERIOD = 5


def model_weights(layers=4, heads=6, length=11, *, batch=6, mask=None, seed=0):
    """(layers, batch, heads, length, length): each head prefers one place, more or less clearly."""
    generator = torch.Generator().manual_seed(seed)
    shape = (layers, batch, heads, length, length)
    scores = 0.6 * torch.randn(shape, generator=generator, dtype=torch.float64)
    rows, columns = torch.arange(length)[:, None], torch.arange(length)
    offset = columns - rows
    preferred = [
        offset == -1, offset == 0, offset == 1, offset == 1 - PERIOD,
        (columns == 0).expand(length, length), offset.abs() <= 2, None, None,
    ]  # fmt: skip
    for i in range(layers):
        for j in range(heads):
            which = preferred[(3 * i + j) % len(preferred)]
            clearly = 1.0 + 4.0 * ((5 * i + 3 * j) % 7) / 6
            if which is not None:
                scores[i, :, j] += clearly * which
            elif (i + j) % 2:
                scores[i, :, j] *= 2.0 * clearly
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return scores.softmax(-1)


def table(layers=4, heads=6, length=11, *, mask=None, seed=0, **options):
    """The head table of such a model."""
    weights = model_weights(layers, heads, length, mask=mask, seed=seed)
    return describe_heads(weights, mask, period=PERIOD if length > 2 * PERIOD else None, **options)


def example(layers=4, heads=6, length=11, *, mask=None, seed=0):
    """(layers, heads, length, length): the maps of its first input."""
    return model_weights(layers, heads, length, mask=mask, seed=seed)[:, 0]


def threshold_widget(layers=4, heads=6, length=11, *, mask=None, seed=0, maps=True, **traits):
    """One model, with maps of one example."""
    sizes = {"mask": mask, "seed": seed}
    given = {}
    if maps:
        given = {
            "maps": example(layers, heads, length, **sizes), "tokens": words(length), "mask": mask,
        }  # fmt: skip
    return ThresholdWidget(table(layers, heads, length, **sizes), **given, **traits)


def two_models(**traits):
    """A causal model with maps, and a smaller one without."""
    mask = causal(11)
    return ThresholdWidget(
        {"<b>causal</b>": table(mask=mask), "small": table(2, 3, 4, seed=1)},
        maps={"<b>causal</b>": example(mask=mask)},
        tokens=words(11),
        mask={"<b>causal</b>": mask},
        **traits,
    )
