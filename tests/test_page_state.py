"""What of a notebook's saved widget state goes to its page (bookext/widgets.py)."""

import json

import pytest

from bookext.widgets import heights, page_state, script

LONG = "export default {};" + " " * 300


def model(name="AnyModel", buffers=None, **state):
    saved = {"model_name": name, "state": {"_model_name": name, "_view_count": None} | state}
    return saved | ({"buffers": buffers} if buffers else {})


def layout(**state):
    return model("LayoutModel", **{"width": None, "height": None} | state)


def link(name, a, b):
    return model(name, source=[f"IPY_MODEL_{a}", "x"], target=[f"IPY_MODEL_{b}", "x"])


def test_only_what_the_views_reach_is_kept():
    models = {
        "a": model(_esm="a", child="IPY_MODEL_b", deep={"x": [1, {"y": "anywidget:c"}]}),
        "b": model("IntSliderModel", value=3, back="IPY_MODEL_a", lost="IPY_MODEL_zz"),
        "c": model(_esm="c", buffers=[{"path": ["raw"], "encoding": "base64", "data": "AA=="}]),
        "d": model(_esm="d"),
    }
    state = page_state(models, ["a"])["state"]
    assert state.keys() == {"a", "b", "c"}
    assert state["b"]["state"] == {
        "value": 3,
        "back": "IPY_MODEL_a",
        "lost": "IPY_MODEL_zz",
    }
    assert state["c"]["buffers"] == models["c"]["buffers"]


def test_a_stock_control_or_an_unknown_view_needs_no_state():
    models = {"b": model("IntSliderModel", value=3)}
    assert page_state(models, ["b", "nowhere"])["state"] == {}


def test_a_layout_is_kept_where_it_asks_for_something():
    models = {
        "a": model(_esm="a", layout="IPY_MODEL_empty"),
        "b": model(_esm="b", layout="IPY_MODEL_wide"),
        "empty": layout(),
        "wide": layout(width="50%"),
    }
    state = page_state(models, ["a", "b"])["state"]
    assert state.keys() == {"a", "b", "wide"}
    assert "layout" not in state["a"]["state"]


def test_links_are_kept_when_both_ends_are_on_the_page():
    models = {
        "a": model(_esm="a"),
        "b": model(_esm="b"),
        "ab": link("LinkModel", "a", "b"),
        "ac": link("DirectionalLinkModel", "a", "c"),
        "c": model(_esm="c"),
    }
    state = page_state(models, ["a", "b"])["state"]
    assert state.keys() == {"a", "b", "ab"}
    assert state["ab"]["model_name"] == "LinkModel"


def test_a_long_text_of_several_models_is_put_once_and_none_is_lost():
    models = {
        "a": model(_esm=LONG, _css="p {}", own="x" * 999),
        "b": model(_esm=LONG, table=LONG),
        "c": model(_esm="c"),
    }
    page = page_state(models, ["a", "b", "c"])
    assert json.dumps(page).count(LONG) == 1
    for name, saved in page["state"].items():
        texts = {trait: page["texts"][key] for trait, key in saved.get("shared", {}).items()}
        whole = saved["state"] | texts
        expected = {
            k: v for k, v in models[name]["state"].items() if k[:5] not in ("_mode", "_view")
        }
        assert whole == expected


def test_nothing_that_means_something_is_dropped():
    state = page_state({"a": model(_esm="a", guess=None, tooltip=None, zero=0, none=[])}, ["a"])
    assert state["state"]["a"]["state"] == {"_esm": "a", "guess": None, "zero": 0, "none": []}
    asked = {"tooltip": "t", "_dom_classes": ["c"]}
    state = page_state({"a": model(_esm="a", **asked)}, ["a"])["state"]["a"]["state"]
    assert state == asked | {"_esm": "a"}


def test_numbers_that_json_does_not_know_do_not_break_the_page():
    page = page_state({"a": model(_esm="a", x=[float("nan"), {"y": float("-inf")}])}, ["a"])
    text = script("x", page)
    assert '"x":["nan",{"y":"-inf"}]' in text


def test_a_script_cannot_be_ended_by_a_string():
    data = {"text": "</script><!-- <script> ]]> \u2028 中国 \ud83d"}
    text = script("x", data)
    assert text.count("<") == 2
    assert text.isascii()
    assert json.loads(text[text.index(">") + 1 : text.rindex("<")]) == data


@pytest.mark.parametrize(
    "metadata", [None, {}, {"heights": 3}, {"heights": {}}, {"heights": {"0": "tall"}},
                 {"heights": {"0": -1}}, {"heights": {"0": float("nan")}}]
)  # fmt: skip
def test_heights_that_say_nothing_keep_nothing_free(metadata):
    assert heights(metadata) == []
