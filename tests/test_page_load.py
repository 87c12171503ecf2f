"""The measurement of page loads: its sums, its CDN, its default book."""

from pathlib import Path

import pytest

from benchmarks import default_book, page_load, two_sites


def test_blocking_time_counts_what_is_over_50_ms_after_the_first_paint():
    tasks = [[0, 900], [950, 150], [1200, 49], [1300, 80], [1500, 250]]
    # Of the second task 100 ms come after the paint at 1000.
    assert page_load.blocking_time(1000, tasks) == 50 + 0 + 30 + 200
    assert page_load.blocking_time(5000, tasks) == 0


def test_layout_shift_is_the_worst_session():
    apart = [[0, 0.1], [900, 0.1], [2000, 0.15]]
    assert page_load.layout_shift(apart) == pytest.approx(0.2)
    long = [[900 * i, 0.01] for i in range(12)]  # a session ends after five seconds
    assert page_load.layout_shift(long) == pytest.approx(0.06)
    assert page_load.layout_shift([]) == 0


def test_the_addresses_of_the_cdns_name_files_of_the_packages(tmp_path):
    packages = {name: tmp_path / name for name in ("mathjax", "requirejs", "anywidget")}
    for file in ("mathjax/es5/tex-mml-chtml.js", "anywidget/dist/index.js"):
        (tmp_path / file).parent.mkdir(parents=True)
        (tmp_path / file).write_text("x")
    found = {
        path: two_sites.of_cdn(path, packages)
        for path in (
            "/npm/mathjax@3/es5/tex-mml-chtml.js",
            "/npm/anywidget@~0.11.*/dist/index",
            "/ajax/libs/require.js/2.3.4/require.min.js",
            "/npm/unknown@1/index.js",
        )
    }
    assert [file and file.relative_to(tmp_path).as_posix() for file in found.values()] == [
        "mathjax/es5/tex-mml-chtml.js",
        "anywidget/dist/index.js",
        "requirejs/require.min.js",
        None,
    ]


def test_other_pages_keep_their_titles_and_the_labels_that_are_referred_to():
    text = (
        "---\na: b\n---\n\n(ch3)=\n# Title\n\nText.\n\n(ch3-a)=\n## Part\n\n# no title\n## Bare\n"
    )
    assert default_book.outline(text, "x") == "(ch3)=\n# Title\n\n(ch3-a)=\n## Part\n"
    assert default_book.outline("Text.\n", "x") == "# x\n"


def test_what_was_measured_takes_its_place_on_the_page():
    page = Path(page_load.PAGE).read_text("utf-8")
    once = page_load.fill(page, "TABLE 1")
    twice = page_load.fill(once, "TABLE 2")
    assert "TABLE 1" in once and "TABLE 1" not in twice and "TABLE 2" in twice
    assert twice.startswith(page.partition("<!--")[0]) and "## How it is measured" in twice
    with pytest.raises(SystemExit, match="no place for the tables"):
        page_load.fill("# Other\n", "TABLE")


def test_a_table_has_medians_and_the_spread_of_all_loads():
    both = {
        site: {key: page_load.summary([by * n for n in (1, 2, 4)]) for key in page_load.MEASURES}
        for site, by in (("default", 1000), ("ours", 500))
    }
    rows = page_load.table(both).splitlines()
    assert rows[2] == "| First contentful paint | 2.00 s (1.00 to 4.00) | 1.00 s (0.50 to 2.00) |"
    assert rows[6] == "| On the wire | 2 kB (1 to 4) | 1 kB (0 to 2) |"
