"""HeadsWidget in a browser: the guess first, then accuracies and the maps of every model."""

import re
from statistics import median

import pytest
from heads_samples import NUMBERS, PLACES, heads_run, heads_widget
from playwright.sync_api import expect
from widget_page import spoken, unfold

from attnkit.widgets import HeadsRun, HeadsWidget, maps, measures

TOKENS = ["我", "爱", "北京", "b", "<b>c</b>", "cost$5 and $6", "", "مرحبا", "x" * 80, "爱", "👍🏽"]
PERCENT = {heads: measures.percent(median(heads_run(heads).accuracy)) for heads in NUMBERS}


def text(node):
    return " ".join(node.inner_text().replace("\xa0", " ").split())


def readouts(view):
    return view.locator(".aw-value").all_inner_texts()


# ------------------------------------------------------------------ the guess


def test_nothing_is_shown_before_the_guess(board):
    view = board.mount(heads_widget())
    slider = view.get_by_role("slider", name="Number of heads")
    said, _ = spoken(view.locator(".aw-live"), lambda: slider.press("End"))
    assert readouts(view) == ["1", "?"]  # d_head may be seen, the accuracy not
    for part in (".aw-heads-maps", ".aw-heads-course", ".aw-heads-seeds", ".aw-heads-dot"):
        expect(view.locator(part)).to_be_hidden()
    expect(view.locator("details").first).to_be_hidden()
    shown = view.inner_text() + said
    assert not set(re.findall(r"[\d.]+ %", shown)) - {"0 %", "50 %", "100 %", "95 %"}
    expect(view.get_by_role("button", name="Measure")).to_be_disabled()


@pytest.mark.parametrize(
    ("guess", "says"),
    [
        ("2", f"You guessed 2, and 2 heads are enough (median {PERCENT[2]}, from"),
        ("16", f"You guessed 16. Measured: 2 heads are enough (median {PERCENT[2]}, from"),
        ("none of them", "You guessed none of them. Measured: 2 heads are enough"),
    ],
)
def test_guess_and_measurement_stand_together(board, guess, says):
    view = board.mount(heads_widget())
    view.get_by_label(guess, exact=True).check()
    board.settled()
    assert board.get("prediction") == (0 if guess == "none of them" else int(guess))
    view.get_by_role("button", name="Measure").press("Enter")
    board.settled()
    verdict = view.locator(".aw-verdict")
    expect(verdict).to_be_focused()
    assert says in text(verdict)
    assert f"More is not always better: 32 heads give {PERCENT[32]}." in text(verdict)
    line = view.locator(".aw-heads-guess").get_attribute("d")
    place = {"2": "M300 ", "16": "M700 "}.get(guess, "")
    assert (line or "").startswith(place) and bool(line) == bool(place)
    expect(view.locator(".aw-heads-maps")).to_be_visible()
    view.get_by_role("button", name="Guess again").click()
    board.settled()
    expect(view.get_by_label(guess, exact=True)).to_be_focused()
    expect(view.locator(".aw-heads-maps")).to_be_hidden()


def test_no_number_may_be_enough(board):
    runs = {h: HeadsRun(heads_run(h).weights, (0.5, 0.6, 0.9), 8) for h in (1, 2)}
    view = board.mount(HeadsWidget(runs, prediction=0, revealed=True))
    assert text(view.locator(".aw-verdict")) == (
        "You guessed none of them. No number is enough: the best median is 60.0 %."
    )


def test_the_guess_can_be_skipped(board):
    view = board.mount(heads_widget())
    view.get_by_label("4", exact=True).check()
    view.get_by_role("button", name="Skip the guess").click()
    board.settled()
    assert board.get("prediction") is None and board.get("revealed") is True
    expect(view.locator(".aw-verdict")).to_be_hidden()
    expect(view.get_by_role("button", name="Make a guess")).to_be_focused()


def test_the_chart_takes_the_guess_and_later_the_number(board):
    view = board.mount(heads_widget())
    area = view.locator(".aw-heads-plot")
    box = area.bounding_box()
    area.click(position={"x": 0.5 * box["width"], "y": 30})
    board.settled()
    assert board.get("prediction") == 4 and board.get("num_heads") == 1
    assert view.get_by_label("4", exact=True).is_checked()
    board.set("revealed", True)
    area.click(position={"x": 0.7 * box["width"], "y": 30})
    board.settled()
    assert board.get("prediction") == 4 and board.get("num_heads") == 16


# ------------------------------------------------------------------ accuracies


def test_every_seed_is_a_dot(board):
    view = board.mount(heads_widget(revealed=True))
    dots = re.findall(r"M([\d.]+) ([\d.]+)h0", view.locator(".aw-heads-seeds").get_attribute("d"))
    assert len(dots) == 5 * len(NUMBERS)
    expected = [share for heads in NUMBERS for share in heads_run(heads).accuracy]
    assert [(1 - float(y) / 1000) / 0.96 for _, y in dots] == pytest.approx(expected, abs=2e-4)
    for i in range(len(NUMBERS)):  # side by side in the room of their number of heads
        places = [float(x) for x, _ in dots[5 * i : 5 * i + 5]]
        assert places == sorted(set(places)) and 200 * i < places[0] < places[-1] < 200 * (i + 1)


def test_the_slider_moves_through_the_models(board):
    view = board.mount(heads_widget(revealed=True))
    slider = view.get_by_role("slider", name="Number of heads")
    for i, heads in enumerate(NUMBERS):
        assert board.get("num_heads") == heads
        assert readouts(view) == [str(32 // heads), PERCENT[heads]]
        assert slider.get_attribute("aria-valuetext") == f"{heads} head{'s' * (heads > 1)}"
        assert view.get_by_role("gridcell").count() == heads
        left = view.locator(".aw-heads-dot").evaluate("(n) => parseFloat(n.style.left)")
        assert left == pytest.approx(100 * (i + 0.5) / len(NUMBERS))
        slider.press("ArrowRight")
        board.settled()


def test_tables_hold_the_numbers(board):
    view = board.mount(heads_widget(revealed=True, num_heads=2, head=1))
    for summary in view.locator("summary").all():
        unfold(summary)
    rates, weights = view.locator("tbody").all()
    first = rates.locator("tr").first.locator("th, td").all_inner_texts()
    accuracy = sorted(heads_run(1).accuracy)
    expected = [measures.percent(accuracy[i]) for i in (2, 0, 4)]
    assert first == ["1", "32", *expected, "5"]
    cells = weights.locator("tr").nth(3).locator("td").all_inner_texts()
    python = heads_widget(num_heads=2, head=1)
    assert cells == [measures.whole_percent(w) for w in python.weights()[3].tolist()]


# ------------------------------------------------------------------ the maps


def test_a_head_is_chosen_by_key_and_read_aloud(board):
    widget = heads_widget(tokens=TOKENS, revealed=True, num_heads=16)
    view = board.mount(widget)
    heads = view.get_by_role("grid", name="Heads of this model")
    assert heads.get_by_role("gridcell").count() == 16
    assert heads.locator("[tabindex='0']").count() == 1
    heads.get_by_role("gridcell").first.focus()
    for key in ("ArrowDown", "ArrowRight", "ArrowRight"):
        board.page.keyboard.press(key)
    board.settled()
    assert board.get("head") == 10
    expect(heads.get_by_role("gridcell", name="head 10")).to_be_focused()
    assert view.locator(".aw-heads-right .aw-panel-title").inner_text().startswith("Head 10:")
    view.get_by_role("application").focus()
    board.page.keyboard.press("PageUp")
    board.page.keyboard.press("ArrowDown")
    board.settled()
    assert board.get("query") == 1
    widget.head, widget.query = 10, 1
    expected = maps.row_read(TOKENS, 1, TOKENS, widget.weights()[1])
    assert text(view.locator(".aw-heads-reading")) == " ".join(expected.split()) + "."


def test_a_model_without_the_head_shows_its_first(board):
    view = board.mount(heads_widget(revealed=True, num_heads=16, head=9))
    view.get_by_role("slider", name="Number of heads").press("Home")
    board.settled()
    assert (board.get("num_heads"), board.get("head")) == (1, 0)
    board.set_all({"num_heads": 4, "head": 9})  # no Python puts it right on a page
    assert view.locator(".aw-heads-right .aw-panel-title").inner_text().startswith("Head 0:")


def test_tokens_are_text(board):
    view = board.mount(heads_widget(tokens=TOKENS, revealed=True))
    assert view.locator("b").count() == 0
    labels = view.locator(".aw-map-queries .aw-token").all_text_contents()
    assert len(labels) == PLACES and labels[4] == "<b>c</b>" and labels[6] == "(empty)"


def test_two_views_stay_in_step_and_leave_nothing(board):
    views = board.mount(heads_widget(), views=2)
    views.first.get_by_label("4", exact=True).check()
    board.settled()
    assert views.last.get_by_label("4", exact=True).is_checked()
    assert views.first.get_by_label("4", exact=True).is_checked()
    model = "afm.models.w"
    board.page.evaluate(f"{model}.cleanups.forEach((clean) => clean())")
    assert board.page.evaluate(f"{model}.count()") == 0
    assert board.page.locator(".view.w > *").count() == 0


def test_the_summary_speaks_after_a_pause(board):
    view = board.mount(heads_widget(tokens=TOKENS, revealed=True))
    view.get_by_role("slider", name="Number of heads").press("End")
    live = view.locator("[aria-live=polite]")
    expect(live).to_contain_text(f"32 heads of 1 feature: median {PERCENT[32]}, from")
