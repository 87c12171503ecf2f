"""DeletionWidget in a browser: each subset's answer, buttons, keys, what is said, right to left."""

import random

import pytest
from deletion_samples import deletion_widget, examples
from playwright.sync_api import expect
from widget_page import unfold

from attnkit.widgets import DeletionExample, DeletionWidget, measures


def shares(view):
    return view.locator(".aw-del-sign:not(.aw-del-blank) .aw-del-share").all_inner_texts()


def bars(view):
    rows = view.locator(".aw-del-bar:not(.aw-del-blank)")
    names = rows.locator(".aw-del-language").all_inner_texts()
    return list(zip(names, rows.locator(".aw-del-percent").all_inner_texts(), strict=True))


def check(board, view, widget):
    """The page shows what Python has for the same traits."""
    weights = widget.weights().tolist()
    wanted = [
        "deleted" if i in widget.deleted else measures.whole_percent(w).replace("< ", "<")
        for i, w in enumerate(weights)
    ]
    assert [text.replace("> ", ">") for text in shares(view)] == [
        text.replace("> ", ">") for text in wanted
    ]
    assert bars(view) == [(name, measures.whole_percent(p)) for name, p in widget.best()]
    verdict = view.locator(".aw-del-verdict").inner_text()
    assert verdict.startswith("Flipped: ") == widget.flipped()
    flag = view.locator(".aw-del-flipped").count() == 1
    assert flag == widget.flipped()
    if widget.answer() is not None:
        assert f"{widget.answer()}, " in verdict
    assert view.locator(".aw-del-left").inner_text() == (widget.text or "(nothing)")


@pytest.mark.parametrize("name", [0, 1])
def test_the_page_shows_the_answer_of_every_subset(board, name):
    widget = deletion_widget(name)
    view = board.mount(widget)
    n = len(widget.example.text)
    rng = random.Random(5)
    subsets = range(2**n) if n < 6 else [0, 2**n - 1, *(rng.randrange(2**n) for _ in range(28))]
    for subset in subsets:
        widget.deleted = [i for i in range(n) if subset >> i & 1]
        board.set("deleted", widget.deleted)
        check(board, view, widget)


def test_a_press_deletes_and_restores(board):
    widget = deletion_widget(1)
    view = board.mount(widget)
    second = view.get_by_role("button", name="Delete s (2nd)")
    second.press("Space")
    assert board.get("deleted") == [3]
    board.settled()
    restore = view.get_by_role("button", name="Restore s (2nd), deleted")
    expect(restore).to_be_focused()
    view.get_by_role("button", name="Delete M").click()
    assert board.get("deleted") == [0, 3]
    board.settled()
    widget.deleted = [0, 3]
    check(board, view, widget)
    restore.press("Enter")
    assert board.get("deleted") == [0]
    view.get_by_role("button", name="Restore all").click()
    assert board.get("deleted") == []


def test_keys_move_and_delete(board):
    view = board.mount(deletion_widget(1))
    signs = view.locator(".aw-del-sign")
    signs.first.focus()
    for key, at in [
        ("ArrowRight", 1),
        ("End", 9),
        ("ArrowRight", 9),
        ("ArrowLeft", 8),
        ("Home", 0),
    ]:
        board.page.keyboard.press(key)
        expect(signs.nth(at)).to_be_focused()
    board.page.keyboard.press("Delete")
    assert board.get("deleted") == [0]
    board.page.keyboard.press("Backspace")  # already gone
    assert board.get("deleted") == [0]
    board.page.keyboard.press("ArrowRight")
    board.page.keyboard.press("Backspace")
    assert board.get("deleted") == [0, 1]


def test_the_most_attended_is_deleted_until_nothing_is_left(board):
    widget = deletion_widget()
    view = board.mount(widget)
    press = view.get_by_role("button", name="Delete the most attended")
    for _ in range(3):
        widget.deleted = [*widget.deleted, widget.most_attended()]
        press.click()
        board.settled()
        assert board.get("deleted") == widget.deleted
        check(board, view, widget)
    press.evaluate("(b) => { b.click(); b.click(); }")  # both, before the next frame
    board.settled()
    assert "Nothing is left: the model is not asked" in view.locator(".aw-del-verdict").inner_text()
    assert bars(view) == []
    assert press.get_attribute("aria-disabled") == "true"
    press.press("Enter")
    assert board.get("deleted") == [0, 1, 2, 3, 4]
    assert board.page.evaluate("afm.models.w.saves") == 5


def test_another_name_begins_whole(board):
    widget = deletion_widget(1, [2, 3])
    view = board.mount(widget)
    view.get_by_role("combobox", name="Name").select_option("2")
    assert (board.get("name"), board.get("deleted")) == (2, [])
    board.settled()
    check(board, view, deletion_widget(2))
    assert view.locator(".aw-del-letter").first.get_attribute("lang") == "zh-Hans"
    assert view.locator(".aw-del-sign:visible").count() == 2
    board.set("name", 0)
    board.set("deleted", [0, 7])  # places of another name: Python has not answered yet
    check(board, view, deletion_widget(0, [0]))


def test_a_name_from_right_to_left(board):
    view = board.mount(deletion_widget(3))
    signs = view.locator(".aw-del-sign:visible")
    boxes = [sign.bounding_box()["x"] for sign in signs.all()]
    assert boxes == sorted(boxes, reverse=True)
    signs.first.focus()
    board.page.keyboard.press("ArrowLeft")
    expect(signs.nth(1)).to_be_focused()


def test_what_is_said(board):
    widget = deletion_widget()
    view = board.mount(deletion_widget(0, [0]))
    live = view.locator("[aria-live=polite]")
    board.set("deleted", [])
    best, share = widget.best()[0]
    expect(live).to_contain_text(
        f"Åland: {best}, {measures.whole_percent(share)}".replace(" %", "\u00a0%")
    )
    flipping = min((s for s in range(31) if widget.example.flips(s)), key=int.bit_count)
    places = [i for i in range(5) if flipping >> i & 1]
    was = measures.whole_percent(share)
    for place in places:
        view.locator(".aw-del-sign").nth(place).click()
    widget.deleted = places
    expect(live).to_contain_text("Without " + ", ".join("Åland"[i] for i in places) + ": Flipped: ")
    expect(live).to_contain_text(f"The whole name is {best} ({was})".replace(" %", "\u00a0%"))
    expect(live).to_contain_text("Most weight: ")


def test_the_table_tells_what_each_deletion_would_do(board):
    widget = deletion_widget(1, [4])
    view = board.mount(widget)
    unfold(view.locator("summary"))
    rows = [row.inner_text().split("\t") for row in view.locator("tbody tr").all()]
    assert len(rows) == 9
    left = [i for i in range(10) if i != 4]
    for place, (sign, weight, answer, share, flips) in zip(left, rows, strict=True):
        assert sign[0] == "Mississipi"[place]
        assert weight == measures.whole_percent(float(widget.weights()[place]))
        then = DeletionWidget(examples(), 1, [4, place])
        assert (answer, share) == (then.best()[0][0], measures.whole_percent(then.best()[0][1]))
        assert flips == ("yes" if then.flipped() else "no")
    board.set("deleted", [i for i in range(10) if i != 6])
    (row,) = view.locator("tbody tr").all()
    assert row.inner_text().split("\t")[2:] == ["nothing left", "–", "–"]


def test_names_and_languages_are_text(board):
    hostile = ["<b>x</b>", "<img src=x onerror=alert(1)>"]
    example = DeletionExample.of(
        lambda names: ([[0.3, 0.7]] * len(names), [[1 / len(n)] * len(n) for n in names]),
        "<i> \n&", hostile[0], hostile,
    )  # fmt: skip
    view = board.mount(DeletionWidget([example]))
    assert bars(view)[0][0] == hostile[1] and view.locator("img, b, i").count() == 0
    letters = view.locator(".aw-del-letter").all_inner_texts()
    assert letters == ["<", "i", ">", "␣", "⏎", "&"]


def test_two_views_stay_in_step_and_leave_nothing(board):
    views = board.mount(deletion_widget(), views=2)
    views.first.locator(".aw-del-sign").first.click()
    board.settled()
    assert shares(views.first) == shares(views.last) and shares(views.last)[0] == "deleted"
    assert board.page.evaluate("afm.models.w.saves") == 1
    board.page.evaluate("afm.models.w.cleanups.forEach((clean) => clean())")
    assert board.page.evaluate("afm.models.w.count()") == 0
