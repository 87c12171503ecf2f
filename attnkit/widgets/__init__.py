"""Interactive pictures of attention that work with a kernel and without one.

Each widget is an ipywidget (its traits are read, set, observed and linked from Python) whose ES
module draws its own labelled native controls, so that the same object lives on a static page.
"""

try:
    import anywidget as _anywidget  # noqa: F401
except ImportError as error:  # pragma: no cover - depends on what is installed
    raise ImportError(
        "attnkit.widgets needs the package anywidget, which is not installed. "
        "Install it with: pip install anywidget"
    ) from error

from attnkit.widgets.base import CourseWidget
from attnkit.widgets.bottleneck import BottleneckGame
from attnkit.widgets.cost import CostWidget
from attnkit.widgets.deletion import DeletionWidget
from attnkit.widgets.deletion_data import DeletionExample
from attnkit.widgets.examples import LengthExample
from attnkit.widgets.head_browser import HeadBrowser
from attnkit.widgets.heads import HeadsWidget
from attnkit.widgets.heads_runs import HeadsRun
from attnkit.widgets.length import LengthWidget
from attnkit.widgets.mask_editor import MaskEditor
from attnkit.widgets.position import PositionWidget
from attnkit.widgets.scaling import ScalingWidget
from attnkit.widgets.snapshots import SnapshotWidget
from attnkit.widgets.softmax import SoftmaxWidget
from attnkit.widgets.temperature import TemperatureWidget
from attnkit.widgets.thresholds import ThresholdWidget
from attnkit.widgets.thresholds_rule import SimpleThresholds
from attnkit.widgets.translation import TranslationWidget

__all__ = [
    "BottleneckGame",
    "CostWidget",
    "CourseWidget",
    "DeletionExample",
    "DeletionWidget",
    "HeadBrowser",
    "HeadsRun",
    "HeadsWidget",
    "LengthExample",
    "LengthWidget",
    "MaskEditor",
    "PositionWidget",
    "ScalingWidget",
    "SimpleThresholds",
    "SnapshotWidget",
    "SoftmaxWidget",
    "TemperatureWidget",
    "ThresholdWidget",
    "TranslationWidget",
]
