"""The translation and the length widget in a browser: choosing, marks, map, lines, languages."""

import pytest
from numeral_samples import (
    Translation,
    length_examples,
    length_widget,
    translation,
    translation_widget,
)
from playwright.sync_api import expect
from widget_page import spoken, unfold

from attnkit import numerals
from attnkit.widgets import LengthExample, LengthWidget, TranslationWidget, measures


def shown(view, selector):
    return [node.inner_text() for node in view.locator(selector).all() if node.is_visible()]


def percents(row):
    return [measures.whole_percent(w).replace("< ", "<").replace("> ", ">") for w in row]


# ------------------------------------------------------------------ one word of a translation


def test_a_word_shows_its_weights(board):
    widget = translation_widget()
    view = board.mount(widget)
    view.get_by_role("radio", name="thousand").click()
    board.settled()
    assert board.get("word") == 4
    widget.word = 4
    row = widget.weights()[4].tolist()
    assert shown(view, ".aw-tile-share") == percents(row)
    assert shown(view, ".aw-tile-sign") == list("十二万零三百零四")
    assert shown(view, ".aw-tile-gloss")[:3] == ["10", "2", "10⁴"]
    tops = view.locator(".aw-tile-top .aw-tile-sign").all_inner_texts()
    assert tops == ["十二万零三百零四"[row.index(max(row))]]
    summary = view.locator(".aw-summary")
    expect(summary).to_contain_text("thousand: 54 % on 三, 38 % on 零 (1st), 8 % on 6 others")
    expect(view.locator("[aria-live=polite]")).to_contain_text("thousand: 54 % on 三")


def test_bars_are_as_tall_as_the_weights(board):
    widget = translation_widget(word=4)
    view = board.mount(widget)
    for bar, weight in zip(
        view.locator(".aw-tile-bar").all(), widget.weights()[4].tolist(), strict=False
    ):
        size = bar.evaluate("(node) => node.style.backgroundSize")
        assert float(size.split()[1].rstrip("%")) == pytest.approx(100 * weight, abs=0.06)


def test_lines_go_from_the_word_to_its_characters_and_are_as_thick(board):
    widget = translation_widget(word=4)
    view = board.mount(widget)
    thick = view.locator(".aw-line").evaluate_all(
        "(lines) => lines.map((line) => Number(line.getAttribute('stroke-width')))"
    )
    weights = [w for w in widget.weights()[4].tolist() if w >= 0.01]
    assert thick == pytest.approx([max(1, 12 * w) for w in weights], abs=0.06)
    ends = view.locator(".aw-line").first.evaluate(
        """(line) => {
             const page = line.getScreenCTM();
             return [0, line.getTotalLength()].map((at) => {
               const point = line.getPointAtLength(at);
               return [point.x + page.e, point.y + page.f];
             });
           }"""
    )
    first = next(i for i, w in enumerate(widget.weights()[4].tolist()) if w >= 0.01)
    tile = view.locator(".aw-tile").nth(first).bounding_box()
    word = view.get_by_role("radio", name="thousand").bounding_box()
    for (x, y), box, edge in zip(ends, (tile, word), (1, 0), strict=True):
        assert x == pytest.approx(box["x"] + box["width"] / 2, abs=1.5)
        assert y == pytest.approx(box["y"] + edge * box["height"], abs=3)
    board.set("example", 1)  # two rows of characters: lines could not be followed
    assert view.locator(".aw-line").count() == 0


def test_arrow_keys_walk_through_the_words(board):
    view = board.mount(translation_widget(example=1))
    words = view.get_by_role("radio")
    tabbed = [w.get_attribute("tabindex") for w in words.all() if w.is_visible()]
    assert tabbed == ["0"] + ["-1"] * 22
    words.first.focus()
    across = len({w.bounding_box()["x"] for w in words.all() if w.is_visible()})
    assert 1 < across < 23
    for key, expected in [
        ("ArrowRight", 1),
        ("ArrowLeft", 0),
        ("ArrowLeft", 0),
        ("ArrowDown", across),
        ("ArrowUp", 0),
        ("End", 22),
        ("ArrowDown", 22),
        ("ArrowRight", 22),
        ("Home", 0),
    ]:
        board.page.keyboard.press(key)
        assert board.get("word") == expected
        expect(words.nth(expected)).to_be_focused()
        expect(words.nth(expected)).to_have_attribute("aria-checked", "true")
    assert view.locator("[role=radio][aria-checked=true]").count() == 1


def test_other_numbers_are_chosen_by_name_or_in_turn(board):
    view = board.mount(translation_widget(word=7))
    choice = view.get_by_label("Number")
    assert choice.locator("option").all_inner_texts()[:3] == ["120,304", "987,654,321,777", "12"]
    choice.select_option("12")
    board.settled()
    assert (board.get("example"), board.get("word")) == (2, 0)
    assert shown(view, ".aw-word-text") == ["twelve"]
    view.get_by_role("button", name="Next").click()
    board.settled()
    assert board.get("example") == 3 and choice.input_value() == "3"
    for _ in range(4):
        view.get_by_role("button", name="Previous").click()
    board.settled()
    assert board.get("example") == 4
    # Two presses before the next frame are both heard.
    view.get_by_role("button", name="Next").evaluate("(b) => { b.click(); b.click(); }")
    assert board.get("example") == 1


def test_the_page_keeps_to_words_that_exist(board):
    view = board.mount(translation_widget(example=1, word=20))
    board.set("example", 2)  # as a link in the browser would: no Python puts the word right
    assert view.locator("[role=radio][aria-checked=true]").inner_text() == "twelve"


def test_wrong_words_are_marked_and_named(board):
    view = board.mount(translation_widget())
    wrong = view.locator(".aw-wrong")
    assert wrong.locator(".aw-word-text").all_inner_texts() == ["and", "three"]
    line = wrong.first.locator(".aw-word-text").evaluate(
        "(node) => getComputedStyle(node).textDecorationLine"
    )
    assert line == "underline"
    expect(view.get_by_role("radio", name="and (wrong)")).to_be_visible()
    wrong.first.click()
    expect(view.locator(".aw-summary")).to_contain_text("and (a wrong word):")
    unfold(view.locator("summary"))
    assert "and (wrong)" in view.locator("tbody th").all_inner_texts()
    board.set("example", 2)
    assert view.locator(".aw-wrong").count() == 0


def test_the_table_has_all_weights_of_this_translation(board):
    widget = translation_widget(example=2)
    view = board.mount(widget)
    unfold(view.locator("summary"))
    assert view.locator("thead th").all_inner_texts() == ["Word", "十", "二"]
    board.set("example", 0)
    widget.example = 0
    assert view.locator("thead th").all_inner_texts() == ["Word", *"十二万零三百零四"]
    cells = view.locator("tbody td").all_inner_texts()
    assert cells == [measures.whole_percent(w) for w in widget.weights().flatten().tolist()]


def test_chinese_carries_its_language_everywhere(board):
    board.mount(translation_widget(), "word")
    board.mount(length_widget(), "length")
    board.unfold_all()
    bare = board.page.evaluate(
        r"""() => {
          const main = document.querySelector("main");
          const texts = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
          const found = [];
          while (texts.nextNode()) {
            const { data, parentElement } = texts.currentNode;
            const { lang } = parentElement.closest("[lang]");
            if (/\p{Script=Han}/u.test(data) && lang !== "zh-Hans") found.push(data);
          }
          return found;
        }"""
    )
    assert bare == []


# ------------------------------------------------------------------ the same number, two models


def test_the_slider_chooses_the_length(board):
    view = board.mount(length_widget(length=3))
    slider = view.get_by_role("slider", name="Digits")
    slider.focus()
    for key, expected in [("ArrowRight", 6), ("Home", 1), ("End", 12), ("ArrowLeft", 9)]:
        board.page.keyboard.press(key)
        assert board.get("length") == expected
    board.settled()
    assert slider.get_attribute("aria-valuetext") == "9 digits"
    assert view.locator(".aw-figure").inner_text() == "987,654,321"
    assert shown(view, ".aw-mark-sign") == list(numerals.to_chinese(987_654_321))
    rates = view.locator(".aw-rate")
    expect(rates.first).to_have_text("Of 500 fresh numbers of this length right: 8 % (6–8)")
    expect(rates.last).to_have_text("Of 500 fresh numbers of this length right: 99 % (99–100)")
    expect(view.locator("[aria-live=polite]")).to_contain_text("9 digits. 九亿")


def words_of(row):
    """The text of a row as a screen reader gets it: places joined by blanks."""
    return " ".join(row.evaluate("(node) => node.textContent").replace("\u00a0", " ").split())


def test_wrong_missing_and_extra_words_are_marked_apart(board):
    view = board.mount(length_widget(length=12))
    right, fixed, attention = view.locator(".aw-places").all()
    assert words_of(attention) == words_of(right) == " ".join(numerals.to_english(987_654_321_777))
    assert words_of(fixed).startswith("nine hundred hundred (extra) and ninety (wrong) seven")
    assert words_of(fixed).endswith("hundred and –seventy (missing) seven")
    expect(view.locator(".aw-judged").first).to_have_text("✗ 6 of 23 words not right")
    expect(view.locator(".aw-judged").last).to_have_text("✓ right")
    styles = [
        fixed.locator(f".aw-is-{kind}").first.evaluate(
            """(node) => {
                 const style = getComputedStyle(node);
                 return [style.textDecorationLine, style.borderTopStyle];
               }"""
        )
        for kind in ("wrong", "extra", "missing")
    ]
    assert styles == [["underline", "none"], ["line-through", "none"], ["none", "dashed"]]


@pytest.mark.parametrize("width", [1000, 700, 360, 320])
def test_a_word_stands_below_the_right_one(open_board, width):
    """In every row a word of the same place has the same distance from the row's corner."""
    board = open_board(viewport={"width": width, "height": 900})
    view = board.mount(length_widget(length=12))
    places = view.locator(".aw-places").evaluate_all(
        r"""(rows) => rows.map((row) => {
              const corner = row.getBoundingClientRect();
              const texts = document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
              const found = [];
              while (texts.nextNode()) {
                const node = texts.currentNode;
                if (node.parentElement.matches(".aw-hidden")) continue;
                for (const word of node.data.matchAll(/[^\s]+/g)) {
                  const range = document.createRange();
                  range.setStart(node, word.index);
                  range.setEnd(node, word.index + 1);
                  const box = range.getBoundingClientRect();
                  found.push([word[0], box.left - corner.left, box.bottom - corner.top]);
                }
              }
              return found;
            })"""
    )
    right, fixed, attention = places
    assert attention == right
    spots = {(round(x), round(y / 4)) for _, x, y in right}
    same = [
        (word, x, y)
        for word, x, y in fixed
        if word not in ("–", "ninety") and (round(x), round(y / 4)) not in spots
    ]
    assert [word for word, _, _ in same] == ["hundred"]  # the extra one
    assert len(right) == 23 and len(fixed) == 24


def test_nothing_moves_when_the_length_changes(board):
    view = board.mount(length_widget(length=12))
    tall = view.bounding_box()["height"]
    tops = [
        p.bounding_box()["y"] for p in view.locator(".aw-places, .aw-length-map, summary").all()
    ]
    for length in (1, 2, 3, 6, 9):
        board.set("length", length)
        assert view.bounding_box()["height"] == tall
        found = [
            p.bounding_box()["y"] for p in view.locator(".aw-places, .aw-length-map, summary").all()
        ]
        assert found == tops


def test_the_map_has_a_pixel_for_each_weight(board):
    widget = length_widget(length=6)
    view = board.mount(widget)
    pixels = view.locator("canvas").evaluate(
        """(canvas) => [canvas.width, canvas.height,
             [...canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data]]"""
    )
    weights = widget.weights()
    assert pixels[:2] == [weights.shape[1], weights.shape[0]]
    import matplotlib

    expected = 255 * matplotlib.colormaps["cividis"](weights.flatten().numpy())
    for i, colour in enumerate(expected):
        assert pixels[2][4 * i : 4 * i + 4] == pytest.approx(colour, abs=8)
    assert view.locator(".aw-length-map-words").inner_text().split() == numerals.to_english(987_654)
    assert shown(view, ".aw-length-map-sign") == list(numerals.to_chinese(987_654))


def test_the_chart_marks_the_chosen_length(board):
    view = board.mount(length_widget(length=6))
    place = lambda node: node.evaluate("(n) => [n.style.left, n.style.top]")  # noqa: E731
    dots = view.locator(".aw-dot")
    assert place(view.locator(".aw-chosen"))[0] == "45.45%"  # (6 − 1) ÷ (12 − 1)
    assert place(dots.first) == ["45.45%", "50.00%"] or place(dots.first) == ["45.45%", "50%"]
    assert place(dots.last) == ["45.45%", "1%"] or place(dots.last) == ["45.45%", "1.00%"]
    unfold(view.locator("summary", has_text="Accuracy"))
    rows = view.locator("details", has_text="Accuracy").locator("tbody tr").all_inner_texts()
    assert rows[3].split("\t") == ["6", "50\u00a0%\u00a0(43–55)", "99\u00a0%\u00a0(99–100)"]


def test_another_number_of_the_same_length(board):
    view = board.mount(length_widget(length=3))
    button = view.get_by_role("button", name="Another number")
    expect(button).to_have_text("Another number (1 of 3)")
    for expected in (1, 2, 0):
        button.press("Enter")
        board.settled()
        assert board.get("example") == expected
    button.evaluate("(b) => { b.click(); b.click(); }")  # both, before the next frame
    assert board.get("example") == 2
    board.set("example", 2)
    assert view.locator(".aw-figure").inner_text() == "973"


def test_one_model_without_weights_and_an_empty_answer(board):
    example = LengthExample(1, "九", ["nine"], {"fixed": (["九"], [], None)})
    view = board.mount(LengthWidget([example], {"fixed": {1: (0.25, 0.25, 0.25)}}))
    expect(view.locator(".aw-looks")).to_be_hidden()
    expect(view.locator("details", has_text="Weights")).to_be_hidden()
    expect(view.get_by_role("button", name="Another number")).to_be_disabled()
    expect(view.locator(".aw-rate")).to_have_text("Of fresh numbers of this length right: 25 %")
    expect(view.locator(".aw-judged")).to_have_text("✗ 1 of 1 words not right")


def test_the_reader_chooses_whose_weights_are_drawn(board):
    right = translation(12)
    other = right._replace(weights=right.weights.flip(1))
    example = LengthExample(2, right.source, right.words, {"additive": right, "dot": other})
    rates = {2: (0.5, 0.5, 0.5)}
    widget = LengthWidget([example], {"additive": rates, "dot": rates})
    view = board.mount(widget)
    assert widget.model == "dot"
    read = "(c) => [...c.getContext('2d').getImageData(0, 0, c.width, c.height).data]"
    before = view.locator("canvas").evaluate(read)
    view.get_by_role("combobox", name="Weights of").select_option("additive")
    board.settled()
    assert board.get("model") == "additive"
    after = view.locator("canvas").evaluate(read)
    assert after == before[4:] + before[:4] != before


# ------------------------------------------------------------------ both


HOSTILE = ["<img src=x onerror=alert(1)>", "cost$5", "a\nb", ""]


def test_tokens_are_text(board):
    weights = [[0.25] * 4] * 4
    board.mount(TranslationWidget([(HOSTILE, HOSTILE, weights)]), "word")
    answer = Translation(HOSTILE, HOSTILE[:3], weights[:3])
    example = LengthExample(1, HOSTILE, HOSTILE, {"<b>model</b>": answer})
    widget = LengthWidget([example], {"<b>model</b>": {1: (0.5, 0.5, 0.5)}})
    view = board.mount(widget, "length")
    assert board.page.locator("main img, main b").count() == 0
    assert view.locator(".aw-model-head strong").last.inner_text() == "<b>model</b>"
    assert shown(view, ".aw-mark-sign")[2:] == ["a⏎b", "(empty)"]


def test_two_views_stay_in_step_and_cleanup_leaves_nothing(board):
    for name, widget, trait, value in [
        ("word", translation_widget(), "word", 3),
        ("length", length_widget(), "length", 6),
    ]:
        views = board.mount(widget, name, views=2)
        board.set(trait, value, name)
        for view in (views.first, views.last):
            if name == "word":
                chosen = view.locator("[role=radio][aria-checked=true]")
                assert chosen.inner_text() == "twenty"
            else:
                assert view.locator(".aw-figure").inner_text() == "987,654"
        model = f"afm.models.{name}"
        board.page.evaluate(f"{model}.cleanups.forEach((clean) => clean())")
        assert board.page.evaluate(f"{model}.count()") == 0
        assert board.page.locator(f".view.{name} > *").count() == 0
        board.set(trait, 1, name)


def test_a_move_is_announced_when_the_reader_pauses(board):
    view = board.mount(length_widget(length=12))
    live = view.locator("[aria-live=polite]")
    _, pause = spoken(live, lambda: view.get_by_role("slider", name="Digits").press("Home"))
    assert pause > 500
    expect(live).to_contain_text("1 digits. 九 9. fixed vector: right")


def test_reduced_motion_is_respected(open_board):
    board = open_board(reduced_motion="reduce")
    view = board.mount(translation_widget())
    moving = view.locator("*").evaluate_all(
        "(nodes) => nodes.filter((n) => getComputedStyle(n).transitionDuration !== '0s').length"
    )
    assert moving == 0


def test_examples_are_what_they_say():
    for example in length_examples():
        assert len(str(numerals.from_chinese("".join(example.source)))) == example.digits
