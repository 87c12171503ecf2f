"""Widgets beside JupyterLab's style sheet and shortcuts look and work as they do on a page."""

import pytest
from heads_samples import heads_widget

from attnkit.widgets import BottleneckGame, PositionWidget, ScalingWidget, SoftmaxWidget

#: What JupyterLab's style sheet says of lists in any output, behind the widgets' own rules.
LISTS = """
.jp-OutputArea-output dl, .jp-OutputArea-output dt, .jp-OutputArea-output dd { display: block }
.jp-OutputArea-output dl { width: 100%; overflow: hidden; padding: 0; margin: 0 }
.jp-OutputArea-output dt { font-weight: bold; float: left; width: 20%; padding: 0; margin: 0 }
.jp-OutputArea-output dd { float: left; width: 80%; padding: 0; margin: 0 }
"""
PLACES = """(view) => [...view.querySelectorAll("dl, dt, dd")].map((node) => {
  const { x, y, width, height } = node.getBoundingClientRect();
  return [node.tagName, ...[x, y, width, height].map(Math.round)];
})"""
CURVES = {"fixed": {4: (1.0, 1.0, 1.0), 12: (0.2, 0.1, 0.3)}}
WIDGETS = {
    "softmax": SoftmaxWidget,
    "scaling": lambda: ScalingWidget(revealed=True),
    "position": PositionWidget,
    "heads": lambda: heads_widget(num_heads=16, prediction=4, revealed=True),
    "game": lambda: BottleneckGame(CURVES),
}


@pytest.mark.parametrize("name", WIDGETS)
def test_lists_of_numbers_stay_where_they_are(board, name):
    view = board.mount(WIDGETS[name]())
    before = view.evaluate(PLACES)
    assert len(before) >= 5 and any(width > 0 for _, _, _, width, _ in before)
    board.page.add_style_tag(content=LISTS)
    view.evaluate("(view) => view.classList.add('jp-OutputArea-output')")
    board.settled()
    assert view.evaluate(PLACES) == before


@pytest.mark.parametrize("name", WIDGETS)
def test_keys_pressed_in_a_widget_are_not_shortcuts_of_jupyterlab(board, name):
    """Without this an arrow key on a slider moves to another cell, and x cuts the cell."""
    view = board.mount(WIDGETS[name]())
    controls = view.locator("button, input, select, summary").locator("visible=true")
    assert controls.count() >= 1
    for control in controls.all():
        control.focus()
        assert control.get_attribute("data-lm-suppress-shortcuts") == "true"
