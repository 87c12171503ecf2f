"""Labels: any string is drawn literally, in a font that has it, or its absence is said once."""

import doctest
import shutil
import warnings

import pytest
import torch
from matplotlib import font_manager, ft2font, pyplot, rc_context, rcParams
from matplotlib.figure import Figure
from matplotlib.text import Text

from attnkit import fonts, labels, plots
from attnkit.fonts import drawable, families
from attnkit.labels import named, shortened, visible, width
from attnkit.plots.map_cells import literal

ODD = [
    "cost$5 and $6", "$x$", "<s>", "_", "\\", "\\frac{1}{2}", "##ing", "▁the", "Ġthe", "{}", "^",
    "שלום", "مرحبا", "é", "e\u0301", "\u0301", "中国", "，", "a\u200bb", "\u200d", "\x00", "\u3000",
    " the", "\n", "\r\n", "\t", "", "  ", "\ud800", "x" * 99,
]  # fmt: skip


@pytest.fixture
def bare_machine(monkeypatch):
    """Only the fonts that matplotlib brings along."""
    every = font_manager.fontManager.ttflist
    own = [e for e in every if "mpl-data" in e.fname]
    monkeypatch.setattr(font_manager.fontManager, "ttflist", own)
    monkeypatch.setattr(font_manager, "findSystemFonts", lambda: [])
    monkeypatch.setattr(fonts, "_others", [])
    monkeypatch.setattr(fonts, "_warned", set())
    fonts._add_new_fonts.cache_clear()
    yield every
    fonts._add_new_fonts.cache_clear()


def drawn(figure):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure.canvas.draw()


@pytest.mark.parametrize("kind", ["title", "grid", "film", "layers"])
def test_titles_that_no_font_has_are_spelled_and_the_cure_is_said(bare_machine, kind):
    weights, words = torch.eye(3), ["of 中国", "$x"]
    with pytest.warns(UserWarning, match=r"中 \(U\+4E2D\).*fonts-noto-cjk"):
        if kind == "title":
            figure = plots.heatmap(weights, title=words[0]).figure
        elif kind == "film":
            film = plots.animate(weights.repeat(2, 1, 1), names=words)
            film._draw_was_started, figure = True, film._fig
        else:
            shape = (2, 1, 1) if kind == "grid" else (2, 2, 1, 1)
            figure = plots.head_grid(weights.repeat(shape), names=words)
    drawn(figure)
    texts = [text.get_text() for text in figure.findobj(Text)]
    assert "of [U+4E2D][U+56FD]" in texts
    pyplot.close("all")


def test_white_space_and_what_shows_nothing_is_made_visible():
    assert [visible(t) for t in (" the", "the ", "a b", "\n", "\r\n", "\t", "", " ")] == [
        "␣the", "the␣", "a b", "⏎", "⏎", "⇥", "(empty)", "␣",
    ]  # fmt: skip
    assert visible("\u200b") == "[U+200B]" and visible("\xa0x") == "[U+00A0]x"
    assert visible("\ud800") == "[U+D800]" and visible("\x00") == "[U+0000]"
    assert visible("\u0301x") == "◌\u0301x"
    assert visible("क\u200dष") == "क\u200dष"
    assert visible("cost$5 and $6") == "cost$5 and $6"


def test_long_labels_are_cut_by_their_width():
    assert shortened("x" * 24) == "x" * 24 and shortened("x" * 25) == "x" * 23 + "…"
    assert shortened("中" * 12) == "中" * 12 and shortened("中" * 13) == "中" * 11 + "…"
    assert width("e\u0301") == 1


def test_repeated_tokens_are_told_apart_by_their_position():
    assert named(["the", "cat", "the"], [2, 1]) == ["the (2)", "cat"]
    assert named([*map(str, range(1009)), "7"], [7, 8, 1009]) == ["7 (7)", "8", "7 (1009)"]


@pytest.mark.parametrize("number", range(len(ODD)))
def test_every_token_is_drawn_as_it_is(number):
    token = ODD[number]
    figure = Figure()
    ax = plots.heatmap([[0.25, 0.75], [1.0, 0.0]], [token, "b"], ax=figure.add_subplot())
    label = ax.get_xticklabels()[0]
    drawn(figure)
    assert label.get_text() == shortened(visible(token), 14)
    assert not label.get_parse_math() and not label.get_usetex()
    if len(visible(token)) < 99:
        assert f"{' '.join(visible(token).split())}: 0.75 at b" in plots.describe(ax)


def test_the_font_is_found_for_the_label_and_after_that_of_the_user():
    assert families(["key"]) == list(rcParams["font.family"])
    with rc_context():
        rcParams["font.family"] = ["DejaVu Serif"]
        found = families(["注意"])
    assert found[0] == "DejaVu Serif" and len(found) == 2
    path = font_manager.findfont(found[1])
    entry = next(e for e in font_manager.fontManager.ttflist if e.name == found[1])
    index = getattr(entry, "index", 0)  # Matplotlib before 3.11 knows the first face alone
    font = ft2font.FT2Font(entry.fname, **({"face_index": index} if index else {}))
    assert ord("注") in font.get_charmap() and path


def test_without_a_chinese_font_the_cure_is_said_once(bare_machine):
    with pytest.warns(UserWarning, match=r"我 \(U\+6211\).*fonts-noto-cjk.*Homebrew") as said:
        ax = plots.heatmap([[0.25, 0.75], [1.0, 0.0]], ["我", "b"], ax=Figure().add_subplot())
    assert len(said) == 1 and said[0].filename == __file__
    assert [t.get_text() for t in ax.get_xticklabels()] == ["token 1", "b"]
    assert "我: 0.75 at b" in plots.describe(ax)
    drawn(ax.figure)
    figure = plots.head_grid([[[0.25, 0.75], [1.0, 0.0]]], ["我", "爱"])  # no second warning
    drawn(figure)
    plots.attention_graph([[1.0]], ["中国"], ax=(other := Figure().add_subplot()))
    drawn(other.figure)
    pyplot.close(figure)


def test_emoji_and_the_rest_have_cures_of_their_own(bare_machine):
    with pytest.warns(UserWarning, match="fonts-symbola"):
        assert drawable(["👍", "a"], warn=True) == ["token 1", "a"]
    with pytest.warns(UserWarning, match="the Noto fonts"):
        assert drawable(["a", "ꦲ"], warn=True) == ["a", "token 2"]
    assert drawable(["👍", "中"]) == ["token 1", "token 2"]


def test_a_font_that_matplotlib_has_not_listed_is_found(bare_machine, monkeypatch, tmp_path):
    """Matplotlib keeps its list of fonts: one installed later is not in it."""
    cjk = next((e.fname for e in bare_machine if "CJK" in e.name and e.weight == 400), None)
    if cjk is None:
        pytest.skip("no Chinese font is installed here")
    new = shutil.copy(cjk, tmp_path)
    monkeypatch.setattr(font_manager, "findSystemFonts", lambda: [str(new)])
    assert drawable(["我"], warn=True) == ["我"]
    figure = Figure()
    literal(figure.text(0.5, 0.5, "我"))
    drawn(figure)


def test_fonts_of_boxes_do_not_count():
    boxes = [e.name for e in font_manager.fontManager.ttflist if "Last Resort" in e.name]
    for name in boxes:
        assert name not in families(["\U0010fffd"])
    assert drawable(["\U0010fffd"]) == ["token 1"]


@pytest.mark.parametrize("module", [labels, fonts])
def test_doctests(module):
    result = doctest.testmod(module)
    assert result.attempted and not result.failed
