"""What holds for the static picture of every widget."""

from attnkit.widgets.base import WIDTHS


def check_picture(widget):
    """The same bytes twice, its alt text beside it, a height for each width, no figure left."""
    import matplotlib.pyplot as plt

    assert widget.png() == widget.png() and widget.png().startswith(b"\x89PNG")
    assert plt.get_fignums() == []
    bundle = widget._repr_mimebundle_()
    assert bundle is not None and bundle[1]["image/png"]["alt"] == widget.describe()
    assert len(widget.heights()) == len(WIDTHS) and min(widget.heights()) > 10
