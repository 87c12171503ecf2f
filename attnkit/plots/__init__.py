"""Figures: their look, and the words that stand for them where they cannot be seen.

The only part of attnkit that imports matplotlib. Import it by name: ``from attnkit import plots``.
Inside IPython that import also makes every figure shown carry its alternative text.
"""

from attnkit.plots.curves import history
from attnkit.plots.description import describe
from attnkit.plots.film import animate
from attnkit.plots.graph import attention_graph
from attnkit.plots.grid import head_grid
from attnkit.plots.maps import heatmap
from attnkit.plots.mask_picture import mask_diagram
from attnkit.plots.shown import alt, register
from attnkit.plots.style import style

__all__ = [
    "alt",
    "animate",
    "attention_graph",
    "describe",
    "head_grid",
    "heatmap",
    "history",
    "mask_diagram",
    "style",
]

register()
