"""A History as a table: for programs, in a terminal, in a notebook."""

import json
import math
import re

from attnkit.history import History, Row

NAN = math.nan


def rows(n, validated=()):
    return [
        Row(s, 4 / s, 0.006 / s, s / 1000 if s in validated else NAN, 0.1 * s)
        for s in range(1, n + 1)
    ]


def cells(history):
    """The table as text: of each row the cells."""
    html = history._repr_html_()
    found = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", r) for r in re.findall(r"<tr>.*?</tr>", html)]
    return found[0], found[1:]


def test_rows_come_out_as_they_went_in():
    history = History(rows(7, {7}))
    assert len(history) == 7 and list(history)[2] == history[2] and history[-1].step == 7
    assert history[2]._replace(validation=0) == Row(3, 4 / 3, 0.002, 0, 0.1 * 3)
    assert [row.loss for row in history] == [4 / s for s in range(1, 8)]


def test_the_best_row_is_the_first_of_equal_ones():
    values = [NAN, 0.5, 0.75, NAN, 0.75, 0.25]
    history = History([Row(i + 1, 1.0, 0.1, v, 0.0) for i, v in enumerate(values)])
    assert history.best == history[2]
    assert History(rows(3)).best is None and History([]).best is None


def test_columns_are_ready_for_json():
    columns = History(rows(3, {3})).to_dict()
    assert json.loads(json.dumps(columns, allow_nan=False)) == columns
    assert list(columns) == ["step", "loss", "lr", "validation", "seconds"]
    assert columns["step"] == [1, 2, 3] and columns["validation"] == [None, None, 0.003]


def test_the_line_in_a_terminal():
    assert repr(History(rows(8, {4, 8}))) == (
        "History(8 steps, loss 4 to 0.5, best validation 0.008 at step 8)"
    )
    assert repr(History(rows(1))) == "History(1 step, loss 4 to 4)"
    assert repr(History([])) == "History(no steps)"


def test_what_is_shown_holds_no_times():
    fast, slow = (History([r._replace(seconds=k * r.step) for r in rows(9, {9})]) for k in (1, 7))
    assert repr(fast) == repr(slow) and fast._repr_html_() == slow._repr_html_()


def test_a_short_table_is_whole():
    head, body = cells(History(rows(12)))
    assert head == ["step", "loss", "learning rate"]
    assert [row[0] for row in body] == [str(s) for s in range(1, 13)]
    assert body[2] == ["3", "1.333", "0.002"]


def test_a_long_table_is_shortened_in_the_middle_and_says_so():
    _, body = cells(History(rows(1000)))
    assert [row[0] for row in body] == [
        *"123456",
        "… 988 steps left out …",
        *("995", "996", "997", "998", "999", "1000"),
    ]


def test_with_validations_their_rows_are_shown():
    head, body = cells(History(rows(25, {10, 20, 21, 23, 25})))
    assert head[-1] == "validation"
    assert [row[0] for row in body] == [
        "1",
        "… 8 steps left out …",
        "10",
        "… 9 steps left out …",
        *("20", "21"),
        "… 1 step left out …",
        "23",
        "… 1 step left out …",
        "25",
    ]
    assert body[0][-1] == "none" and body[2][-1] == "0.01"
    _, body = cells(History(rows(5000, set(range(100, 5001, 100)))))
    shown = [int(row[0]) for row in body if len(row) == 4]
    assert shown == [1, 100, 200, 300, 400, 500, 4500, 4600, 4700, 4800, 4900, 5000]


def test_the_table_can_be_read_aloud():
    html = History(rows(30, {30}))._repr_html_()
    caption = "30 steps, loss 4 to 0.133, best validation 0.03 at step 30"
    assert re.search(rf"<table[^>]*><caption[^>]*>{caption}</caption><thead>", html)
    assert html.count('<th scope="col"') == 4 and html.count('<th scope="row"') == 2
    assert not re.search(r"(?<!-)(color|background):(?!inherit|none)", html)


def test_an_empty_history_shows_itself_too():
    assert "no steps" in History([])._repr_html_()
