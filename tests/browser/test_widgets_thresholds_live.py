"""ThresholdWidget in a browser: the rules against PyTorch's side, the grid, keys, moves, maps."""

import json
import math
import random

import pytest
from map_samples import causal, words
from playwright.sync_api import expect
from threshold_samples import example, table, threshold_widget, two_models
from widget_page import check_heads_scroll_inside, load_functions, spoken, unfold

from attnkit.patterns import HeadRow, Measure, Thresholds
from attnkit.widgets import SimpleThresholds, ThresholdWidget, maps, thresholds_rule
from attnkit.widgets.thresholds_data import packed_table
from attnkit.widgets.thresholds_rule import LOOKS, MEASURES, RULES

# ------------------------------------------------------------------ arithmetic, against Python


@pytest.fixture(scope="module")
def own(browser):
    """own("expression", given): JavaScript on functions of the joined module, as `own`."""
    page = browser.new_page()
    load_functions(page, "thresholds", "kindOf", "why", "fixed", "readRows")
    yield page.evaluate
    page.close()


def random_measure(rng, *, share=True):
    """A measure of a head: often near a threshold, now and then undefined or without room."""
    if rng.random() < 0.08:
        return Measure(math.nan, math.nan, math.nan)
    baseline = rng.choice([0.0, 0.1, rng.random(), rng.random(), 1.0, 1.0000001])
    if not share:
        return Measure(rng.choice([0.0, 1.0, 2.0, 5 * rng.random()]), 0.1, 5 * rng.random())
    lift = rng.choice([0.5, 0.3, 0.9, 1.0, rng.gauss(0.4, 0.4)])
    mean = rng.choice([baseline + lift * (1 - baseline), 0.5, 0.7, 0.8, rng.random()])
    return Measure(mean, rng.choice([math.nan, 0.0, rng.random()]), baseline)


def random_rows(count, seed):
    rng = random.Random(seed)
    rows = []
    for i in range(count):
        found = {name: random_measure(rng, share=name != "entropy") for name in MEASURES}
        if i % 5 == 0:  # the same lift twice: the first of the places counts
            found["sink"] = found["induction"] = found["previous"]
        queries = rng.choice([1, 29, 30, 31, 5000])
        rows.append(HeadRow(layer=0, head=i, inputs=1, queries=queries, kind="", **found))
    return rows


def random_thresholds(rng, rule):
    values = [rng.choice([0.0, 0.3, 0.5, 0.9, 1.0, round(rng.random(), 3)]) for _ in range(5)]
    if rule == "corrected":
        return Thresholds(*values, queries=rng.choice([1, 30, 31]))
    return SimpleThresholds(*values[:3], entropy=3 * values[3], diffuse=3 * values[4])


@pytest.mark.parametrize("rule", RULES)
def test_the_page_classifies_as_python_does(own, rule):
    """4,000 heads, many of them on a threshold, tied or undefined; 12 settings."""
    rng = random.Random(11)
    rows = random_rows(4000, seed=7)
    settings = [random_thresholds(rng, rule) for _ in range(11)]
    settings.append(Thresholds() if rule == "corrected" else SimpleThresholds())
    script = """(given) => {
        const [table, rule, settings, names] = JSON.parse(given); // quicker than Playwright's own
        const heads = own.readRows(table)[0];
        return settings.map((t) => [
          heads.map((head) => own.kindOf(head, rule, t)),
          heads.slice(0, 200).map((head) => own.why(head, rule, t, names)),
        ]);
    }"""
    given = [packed_table([rows]), rule, [t._asdict() for t in settings], MEASURES]
    seen = set()
    for thresholds, found in zip(settings, own(script, json.dumps(given)), strict=True):
        kinds = [thresholds_rule.kind_of(row, rule, thresholds) for row in rows]
        assert found[0] == kinds
        assert found[1] == [thresholds_rule.why(row, rule, thresholds) for row in rows[:200]]
        seen |= set(kinds)
    assert seen == set(RULES[rule])


def test_lifts_are_pythons_to_the_last_bit(own):
    rows = random_rows(500, seed=3)
    script = "(table) => own.readRows(table)[0].map((head) => head.sink.lift)"
    found = own(script, packed_table([rows]))
    assert all(
        math.isnan(row.sink.lift) if value is None or math.isnan(value) else value == row.sink.lift
        for row, value in zip(rows, found, strict=True)
    )


def test_numbers_are_written_as_python_writes_them(own):
    rng = random.Random(2)
    pairs = [[rng.uniform(-2, 12), rng.choice([0.5, 0.125, rng.random()])] for _ in range(2000)]
    pairs += [[0.125, None], [0.375, None], [-0.001, None], [-1.5, 0.5], [0.4996, 0.5], [0.5, 0.5]]
    pairs += [[t + d, t] for t in (0.5, 0.07, 1.0) for d in (1e-3, -1e-4, 1e-5, -1e-6, 0.0)]
    script = "(rows) => rows.map(([value, limit]) => own.fixed(value, limit ?? undefined))"
    assert own(script, pairs) == [thresholds_rule.fixed(*pair) for pair in pairs]


# ------------------------------------------------------------------ the grid


def marks(view):
    return view.locator(".aw-thumb").all_inner_texts()


def expected_marks(widget):
    return [LOOKS[kind].mark for kind in widget.kinds().values()]


def colours(view):
    return view.locator(".aw-thumb").evaluate_all(
        "(cells) => cells.map((cell) => getComputedStyle(cell).backgroundColor)"
    )


def rgb(colour):
    return f"rgb({', '.join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))})"


def counted(view):
    return [int(text) for text in view.locator(".aw-th-count:visible").all_inner_texts()]


@pytest.mark.parametrize("rule", RULES)
def test_each_head_has_the_letter_colour_and_name_of_its_class(board, rule):
    widget = threshold_widget(rule=rule)
    view = board.mount(widget)
    assert marks(view) == expected_marks(widget)
    kinds = list(widget.kinds().values())
    assert colours(view) == [rgb(LOOKS[kind].ground) for kind in kinds]
    names = view.get_by_role("gridcell").evaluate_all(
        "(cells) => cells.map((cell) => cell.getAttribute('aria-label'))"
    )
    assert names == [
        f"layer {i // 6}, head {i % 6}: {LOOKS[kind].name}" for i, kind in enumerate(kinds)
    ]
    assert counted(view) == list(widget.counts().values())
    legend = view.locator(".aw-th-kind").all_inner_texts()
    assert legend == [LOOKS[kind].name for kind in RULES[rule]]


def test_arrow_keys_move_between_heads_and_there_is_one_tab_stop(board):
    view = board.mount(threshold_widget())
    cells = view.get_by_role("gridcell")
    assert view.locator(".aw-thumb[tabindex='0']").count() == 1
    cells.first.focus()
    for key, at in [("ArrowRight", (0, 1)), ("ArrowDown", (1, 1)), ("End", (1, 5)),
                    ("Home", (1, 0)), ("Control+End", (3, 5)), ("ArrowDown", (3, 5)),
                    ("PageUp", (0, 5))]:  # fmt: skip
        board.page.keyboard.press(key)
        board.settled()
        assert (board.get("layer"), board.get("head")) == at
        expect(cells.nth(6 * at[0] + at[1])).to_be_focused()
        assert view.locator(".aw-th-title").inner_text().endswith(
            cells.nth(6 * at[0] + at[1]).get_attribute("aria-label").split(": ", 1)[1]
        )  # fmt: skip
    cells.nth(8).click()
    assert (board.get("layer"), board.get("head")) == (1, 2)


def test_a_head_shows_its_measures_and_why_it_has_its_class(board):
    widget = threshold_widget(layer=1, head=5)
    view = board.mount(widget)
    for rule, thresholds in [("corrected", {}), ("corrected", {"diagonal": 0.98}), ("simple", {})]:
        widget.rule, widget.thresholds = rule, Thresholds(**thresholds)
        board.set_all({"rule": rule, "thresholds": widget.thresholds._asdict()})
        assert view.locator(".aw-th-why").inner_text() == widget.why()
        name = LOOKS[widget.kinds()[1, 5]].name
        assert view.locator(".aw-th-title").inner_text().endswith(f"Layer 1, head 5: {name}")
    board.set("rule", "corrected")
    cells = [
        line.locator("th, td").all_inner_texts()
        for line in view.locator(".aw-th-measures tbody tr").all()
    ]
    row, fixed = widget.row(), thresholds_rule.fixed
    for name, (head, mean, baseline, lift, asked) in zip(MEASURES, cells, strict=True):
        measure = getattr(row, name)
        assert head == MEASURES[name] and mean == f"{fixed(measure.mean)} ± {fixed(measure.sd)}"
        assert baseline == fixed(measure.baseline)
        share = name not in ("entropy", "effective_keys", "mean_distance")
        assert lift == (fixed(measure.lift) if share else "")
        assert bool(asked.strip()) == share
    usual = Thresholds()
    assert cells[0][-1].split() == ["≥", f"{usual.diagonal:.2f}", "✓"]
    assert cells[4][-1].split() == ["≥", f"{usual.sink:.2f}"]


def test_what_reaches_its_threshold_is_ticked(board):
    widget = threshold_widget(layer=0, head=1)
    view = board.mount(widget)
    row = widget.row()
    usual = Thresholds()
    limits = dict.fromkeys(("previous", "same", "next", "induction"), usual.diagonal)
    limits |= {"sink": usual.sink, "local_focus": usual.local, "concentration": usual.focused}
    expected = [MEASURES[name] for name, t in limits.items() if getattr(row, name).lift >= t]
    assert row.kind == "same" and len(expected) == 3
    met = view.locator(".aw-th-met")
    assert met.locator("th").all_inner_texts() == expected
    assert all("✓" in text for text in met.all_inner_texts())
    board.set_all({"rule": "simple", "simple_thresholds": SimpleThresholds(diffuse=0)._asdict()})
    entropy = view.locator(".aw-th-measures tr", has_text="entropy, nats").locator("td").last
    assert entropy.inner_text().split() == ["<", "1.00", ">", "0.00", "✓"]


# ------------------------------------------------------------------ sliders


def test_a_slider_moves_the_classes_and_marks_what_it_changed(board):
    widget = threshold_widget()
    view = board.mount(widget)
    before = widget.kinds()
    view.get_by_role("slider", name="Sink: lift").press("Home")
    board.settled()
    widget.thresholds = widget.thresholds._replace(sink=0.0)
    assert board.get("thresholds") == widget.thresholds._asdict()
    assert marks(view) == expected_marks(widget)
    after = widget.kinds()
    moved = [i for i, place in enumerate(before) if before[place] != after[place]]
    assert 0 < len(moved) < 24
    marked = view.locator(".aw-thumb").evaluate_all(
        "(cells) => cells.flatMap((cell, i) => cell.matches('.aw-th-changed') ? [i] : [])"
    )
    assert marked == moved
    cell = view.locator(".aw-th-changed").first
    was, now = (LOOKS[kinds[divmod(moved[0], 6)]].name for kinds in (before, after))
    assert cell.get_attribute("aria-label").endswith(f": {now}, was {was}")
    assert cell.evaluate("(c) => getComputedStyle(c).backgroundImage").startswith("linear")
    news = view.locator(".aw-th-news").inner_text()
    assert news.startswith(f"The last move changed {len(moved)} heads: ")
    view.get_by_role("slider", name="Local: lift").press("ArrowRight")
    board.settled()
    assert view.locator(".aw-th-changed").count() == 0
    assert view.locator(".aw-th-news").inner_text() == "The last move changed no head."


def test_a_whole_drag_is_one_move(board):
    widget = threshold_widget()
    view = board.mount(widget)
    box = view.get_by_role("slider", name="Sink: lift").bounding_box()
    y = box["y"] + box["height"] / 2
    board.page.mouse.move(box["x"] + 8 + 0.3 * (box["width"] - 16), y)
    board.page.mouse.down()
    board.page.mouse.move(box["x"] + 1, y, steps=12)
    board.page.mouse.up()
    board.settled()
    widget.thresholds = Thresholds(sink=0.0)
    changed = sum(
        now != was for now, was in
        zip(widget.kinds().values(), threshold_widget().kinds().values(), strict=True)
    )  # fmt: skip
    assert board.get("thresholds")["sink"] == 0
    assert view.locator(".aw-th-changed").count() == changed > 1


def test_python_s_change_is_a_move_too_and_other_rules_and_models_are_none(board):
    widget = two_models()
    view = board.mount(widget)
    board.set("thresholds", Thresholds(sink=0.0)._asdict())
    assert view.locator(".aw-th-changed").count() > 0
    assert view.get_by_role("slider", name="Sink: lift").input_value() == "0"
    view.get_by_role("radio", name="simple rule").check()
    board.settled()
    assert board.get("rule") == "simple" and view.locator(".aw-th-changed").count() == 0
    assert "is marked" in view.locator(".aw-th-news").inner_text()


def test_the_default_has_a_tick_and_a_button_leads_back(board):
    view = board.mount(threshold_widget(thresholds=Thresholds(broad=0.2)))
    slider = view.get_by_role("slider", name="Broad")
    box, tick = slider.bounding_box(), view.locator(".aw-th-tick").nth(4).bounding_box()
    usual = Thresholds().broad
    at = box["x"] + 8 + usual * (box["width"] - 16)
    assert tick["x"] + tick["width"] / 2 == pytest.approx(at, abs=1.5)
    assert slider.get_attribute("aria-valuetext") == "0.20"
    back = view.get_by_role("button", name="Back to the defaults")
    assert back.get_attribute("aria-disabled") is None
    back.press("Enter")
    board.settled()
    assert board.get("thresholds") == Thresholds()._asdict()
    assert slider.get_attribute("aria-valuetext") == f"{usual:.2f}, the default"
    assert marks(view) == expected_marks(threshold_widget())
    assert back.get_attribute("aria-disabled") == "true"
    assert view.locator(".aw-th-changed").count() > 0
    expect(back).to_be_focused()
    saves = board.page.evaluate("afm.models.w.saves")
    back.press("Enter")
    assert board.page.evaluate("afm.models.w.saves") == saves


def test_each_rule_has_its_own_sliders(board):
    widget = threshold_widget()
    view = board.mount(widget)
    expect(view.locator(".aw-range:visible")).to_have_count(6)
    view.get_by_role("radio", name="corrected classes").press(
        "ArrowRight"
    )  # radio buttons: arrows choose
    board.settled()
    assert board.get("rule") == "simple"
    expect(view.locator(".aw-range:visible")).to_have_count(5)
    view.get_by_role("slider", name="Diffuse: nats above").press("Home")
    board.settled()
    widget.rule, widget.simple_thresholds = "simple", SimpleThresholds(diffuse=0.0)
    assert board.get("simple_thresholds")["diffuse"] == 0
    assert board.get("thresholds") == Thresholds()._asdict()
    assert marks(view) == expected_marks(widget)


# ------------------------------------------------------------------ models and maps


def test_another_model_has_its_own_heads_and_maps(board):
    widget = two_models(layer=3, head=5, query=10)
    view = board.mount(widget)
    expect(view.locator(".aw-map")).to_be_visible()
    view.get_by_label("Model").select_option("small")
    board.settled()
    got = [board.get(trait) for trait in ("model", "layer", "head", "query")]
    assert got == ["small", 1, 2, 0]
    widget.model = "small"
    assert marks(view) == expected_marks(widget)
    expect(view.locator(".aw-map")).to_be_hidden()
    expect(view.get_by_text("Weights of this head as a table")).to_be_hidden()
    view.get_by_label("Model").select_option("<b>causal</b>")
    board.settled()
    expect(view.locator(".aw-map")).to_be_visible()
    assert view.locator(".aw-thumb").count() == 24


def test_the_map_is_read_aloud_as_python_does(board):
    widget = two_models(layer=1, head=2, query=4)
    view = board.mount(widget)
    row = maps.row_read(words(11), 4, words(11), widget.weights()[4], ~causal(11)[4])
    reading = view.locator(".aw-th-reading")
    assert reading.inner_text().replace("\u00a0", " ") == f"{row}."
    view.locator(".aw-map-area").focus()
    board.page.keyboard.press("ArrowUp")
    board.settled()
    assert board.get("query") == 3 and "query <b>bold</b>" in reading.inner_text()


def test_the_summary_speaks_only_after_a_pause(board):
    widget = threshold_widget()
    view = board.mount(widget)
    live = view.locator("[aria-live=polite]")
    counts = [(LOOKS[kind].name, n) for kind, n in widget.counts().items() if n]
    start = f"corrected classes: {counts[0][1]} of 24 heads {counts[0][0]}, {counts[1][1]} "
    said, _ = spoken(live, lambda: board.set_in_turn("rule", "simple", "corrected"))
    assert said.startswith(start + counts[1][0])
    slider = view.get_by_role("slider", name="Sink: lift")
    news, pause = spoken(live, lambda: slider.press("Home"))
    assert "The last move changed" in news and pause > 500
    view.get_by_role("gridcell").nth(7).click()
    expect(live).to_contain_text("layer 1, head 1: ")
    expect(live).to_contain_text("query é: ")


def test_all_heads_stand_in_a_table(board):
    widget = threshold_widget(2, 3)
    view = board.mount(widget)
    unfold(view.locator("summary").first)
    lines = view.locator(".aw-details tbody tr")
    expect(lines).to_have_count(6)
    cells = [line.locator("th, td").all_inner_texts() for line in lines.all()]
    kinds = list(widget.kinds().values())
    assert [c[:2] for c in cells] == [
        [f"layer {i // 3}, head {i % 3}", LOOKS[kind].name] for i, kind in enumerate(kinds)
    ]
    first = widget._rows["model"][0][0].previous
    fixed = thresholds_rule.fixed
    assert cells[0][2] == f"{fixed(first.mean)} ± {fixed(first.sd)}" and len(cells[0]) == 13
    board.set("thresholds", Thresholds(queries=100)._asdict())
    expect(lines.nth(1).locator("td").first).to_have_text("unclassified")


def test_names_are_text(board):
    tokens = ["<img src=x onerror=alert(1)>", "cost$5", "a\nb", "", "مرحبا", *"abcdef"]
    tables = {"<img src=y>": table(), "two": table(1, 1)}
    widget = ThresholdWidget(tables, maps={"<img src=y>": example()}, tokens=tokens)
    view = board.mount(widget)
    board.unfold_all()
    assert board.page.locator("main img").count() == 0
    assert view.locator("option").all_inner_texts() == ["<img src=y>", "two"]
    labels = view.locator(".aw-map-queries bdi").all_inner_texts()
    assert labels[:4] == ["<img src=x …", "cost$5", "a⏎b", "(empty)"]


# ------------------------------------------------------------------ pages and people


@pytest.mark.parametrize("width", [360, 320])
def test_many_heads_scroll_inside_themselves_on_a_phone(open_board, width):
    board = open_board(viewport={"width": width, "height": 800})
    board.mount(threshold_widget(12, 12, 31))
    check_heads_scroll_inside(board, width)


def test_twelve_heads_and_their_measures_fit_in_the_width_of_a_page(board):
    board.page.evaluate("document.querySelector('main').style.cssText = 'padding: 0; width: 678px'")
    view = board.mount(threshold_widget(6, 12))
    board.settled()
    for selector in (".aw-thumbs-scroll", ".aw-th-left >> nth=0", ".aw-th-left >> nth=1"):
        sizes = view.locator(selector).evaluate("(n) => [n.scrollWidth, n.clientWidth]")
        assert sizes[0] <= sizes[1] + 8 * (selector != ".aw-thumbs-scroll"), (selector, sizes)
    cut = view.locator(".aw-th-kind").evaluate_all(
        "(names) => names.filter((n) => n.scrollWidth > n.clientWidth).map((n) => n.textContent)"
    )
    assert cut == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_letters_and_edges_stand_out_in_both_schemes(board, theme):
    from test_widgets_controls import GROUNDS, luminance

    board.page.evaluate("(t) => { document.documentElement.dataset.theme = t; }", theme)
    view = board.mount(threshold_widget())
    view.get_by_role("slider", name="Sink: lift").press("Home")
    board.settled()
    found = view.locator(".aw-thumb, .aw-th-chip").evaluate_all(
        """(cells) => cells.map((cell) => { const s = getComputedStyle(cell);
             return [s.backgroundColor, s.color, s.borderTopColor]; })"""
    )
    ratio = lambda a, b: (max(a, b) + 0.05) / (min(a, b) + 0.05)  # noqa: E731
    for ground, ink, edge in found:
        assert ratio(luminance(ground), luminance(ink)) >= 4.5
        assert ratio(luminance(edge), luminance(GROUNDS[theme])) >= 3
    tick = view.locator(".aw-th-tick").first.evaluate("(n) => getComputedStyle(n).backgroundColor")
    assert ratio(luminance(tick), luminance(GROUNDS[theme])) >= 3


def test_nothing_moves_by_itself_and_forced_colours_keep_the_classes(open_board):
    board = open_board(forced_colors="active", reduced_motion="reduce")
    widget = threshold_widget()
    view = board.mount(widget)
    view.get_by_role("slider", name="Sink: lift").press("Home")
    board.settled()
    assert board.page.evaluate("document.getAnimations().length") == 0
    widget.thresholds = Thresholds(sink=0.0)
    assert colours(view) == [rgb(LOOKS[kind].ground) for kind in widget.kinds().values()]


def test_two_views_stay_in_step_and_cleanup_leaves_nothing(board):
    widget = threshold_widget()
    views = board.mount(widget, views=2)
    views.first.get_by_role("slider", name="Sink: lift").press("Home")
    board.settled()
    widget.thresholds = Thresholds(sink=0.0)
    for i in range(2):
        assert marks(views.nth(i)) == expected_marks(widget)
        assert views.nth(i).locator(".aw-th-changed").count() > 0
    views.nth(1).get_by_role("radio", name="simple rule").check()
    board.settled()
    assert views.first.get_by_role("radio", name="simple rule").is_checked()
    board.page.evaluate("afm.models.w.cleanups.forEach((clean) => clean())")
    assert board.page.evaluate("afm.models.w.count()") == 0
    assert board.page.locator(".view.w > *").count() == 0


def test_one_head_is_enough(board):
    view = board.mount(threshold_widget(1, 1, 4, maps=False))
    expect(view.locator(".aw-thumb")).to_have_count(1)
    expect(view.get_by_label("Model")).to_be_hidden()
    said, _ = spoken(view.locator("[aria-live]"), lambda: board.set("rule", "simple"))
    assert "1 of 1 head " in said
