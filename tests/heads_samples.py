"""Made-up models with 1 to 32 heads for the widget tests: no model has been trained."""

import torch

from attnkit.widgets import HeadsRun, HeadsWidget

PLACES = 11
NUMBERS = (1, 2, 4, 16, 32)


def heads_run(heads, *, seeds=5, places=PLACES):
    """Head h looks at the place h − 1 further on; accuracies rise with two heads, fall with 32."""
    generator = torch.Generator().manual_seed(heads)
    scores = torch.randn(heads, places, places, generator=generator, dtype=torch.float64)
    for h in range(heads):
        for i in range(places):
            scores[h, i, (i + h - 1) % places] += 5
    best = 0.17 if heads == 1 else 0.76 if heads == 32 else 0.999
    accuracy = tuple(best - 0.01 * ((3 * s) % 5) / 4 for s in range(seeds))
    return HeadsRun(scores.softmax(-1), accuracy, 32 // heads)


def heads_runs(numbers=NUMBERS, **options):
    return {heads: heads_run(heads, **options) for heads in numbers}


def heads_widget(numbers=NUMBERS, tokens=None, **traits):
    return HeadsWidget(heads_runs(numbers), tokens, **traits)
