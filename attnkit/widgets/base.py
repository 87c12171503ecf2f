"""What all widgets of the course share: assets, a stable repr, a static picture with alt text."""

import base64
import io
from typing import TYPE_CHECKING, Any

import anywidget

from attnkit.widgets import assets

if TYPE_CHECKING:
    from matplotlib.figure import Figure

VIEW = "application/vnd.jupyter.widget-view+json"
#: Widths in rem from which on a widget states its height; the last one holds beyond.
WIDTHS = (0, 20, 21, 22, 23.5, 25, 30, 42, 45, 50)


class CourseWidget(anywidget.AnyWidget):
    """An anywidget with a stable repr and a static picture for pages that run no script.

    A subclass names its files (`class W(CourseWidget, files="w")` reads w.js and w.css, joined
    with core.js and shared.css) and says how it is drawn and described.
    """

    def __init_subclass__(cls, *, files: str | None = None, **kwargs: Any) -> None:
        if files is not None:  # None: traitlets derives a class whenever it adds a trait
            cls._esm = assets.esm(files)
            cls._css = assets.css(files)
        super().__init_subclass__(**kwargs)

    def __init__(self, **traits: Any) -> None:
        unknown = sorted(set(traits) - set(self.trait_names()))
        if unknown:
            inherited = anywidget.AnyWidget.class_trait_names()
            own = ", ".join(n for n in self.trait_names() if n not in inherited and n[0] != "_")
            raise TypeError(f"{type(self).__name__}: unknown argument {unknown[0]!r}. Use: {own}.")
        super().__init__(**traits)

    def shown(self) -> dict[str, Any]:
        """The traits that the repr shows, in order."""
        raise NotImplementedError

    def picture(self) -> "Figure":
        """A matplotlib figure of the widget as it stands."""
        raise NotImplementedError

    def describe(self) -> str:
        """The alt text of the picture, numbers included."""
        raise NotImplementedError

    def heights(self) -> tuple[float, ...]:
        """Height in rem at each of WIDTHS, for pages that keep the place free while they load."""
        raise NotImplementedError

    def png(self) -> bytes:
        """The static picture as PNG: the same bytes for the same traits."""
        figure = self.picture()
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=144, metadata={"Software": None})
        return buffer.getvalue()

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={value!r}" for name, value in self.shown().items())
        return f"{type(self).__name__}({inside})"

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict, dict] | None:
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle is None:
            return None
        data, metadata = bundle
        data = {
            **data,
            "text/plain": repr(self),
            "image/png": base64.b64encode(self.png()).decode("ascii"),
        }
        heights = dict(zip(map(str, WIDTHS), self.heights(), strict=True))
        return data, {
            **metadata,
            VIEW: {"heights": heights},
            "image/png": {"alt": self.describe()},
        }
