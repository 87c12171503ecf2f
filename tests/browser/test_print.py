"""Pages on paper, and the whole book: what a PDF that Chromium prints of them holds, read back."""

import re
import shutil
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace

import pytest
from docutils import nodes
from leaks import hidden_lines, squeeze
from pypdf import PdfReader

from bookext import widgets
from bookext.pdf import chromium, compose, whole
from bookext.pdf.__main__ import main
from bookext.pdf.finish import once

ROOT = Path(__file__).resolve().parents[2]
CHAPTER = "chapters/03-scaled-dot-product"
#: Of a small whole book: pictures and widgets, boxes, one sheet, long signatures.
CHOSEN = ["intro", CHAPTER, "chapters/a01-prerequisites", "chapters/a04-formulas"]
#: CSS pixels between the margins of an A4 sheet, and of a letter sheet (print.css).
TEXT_WIDTH = {"A4": 627, "Letter": 649}
#: What reaches beyond the sheet, or hides behind its own edge.
CUT_OFF = """(width) => [...document.querySelectorAll("main *")].filter((one) => {
  const box = one.getBoundingClientRect();
  if (!box.width || one.closest("math, .unseen")) return false;
  const style = getComputedStyle(one);
  const hides = style.overflowX !== "visible" && one.scrollWidth > one.clientWidth + 1;
  const falls = style.overflowY !== "visible" && one.scrollHeight > one.clientHeight + 1;
  return box.right > width + 1 || hides || falls;
}).map((one) => `${one.tagName} ${one.className}: ${one.textContent.trim().slice(0, 60)}`)"""


def texts(pdf: PdfReader) -> list[str]:
    return [page.extract_text() for page in pdf.pages]


def printed(page, **options) -> PdfReader:
    return PdfReader(BytesIO(page.pdf(tagged=True, outline=True, **{"format": "A4"} | options)))


@pytest.fixture(scope="module")
def live(site, browser):
    """A chapter as a reader has it: its widgets live and moved, one box of code opened, dark."""
    context = browser.new_context(color_scheme="dark", viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.goto(f"{site}{CHAPTER}.html")
    for widget in page.locator(".attn-widget").all():
        widget.scroll_into_view_if_needed()
        widget.and_(page.locator("[data-attn-state=live]")).wait_for()
    page.locator(".attn-mount input[type=range]:visible").first.press("ArrowRight")
    page.locator("details.hide").last.evaluate("box => (box.open = true)")
    yield page
    context.close()


@pytest.fixture(scope="module")
def paper(live) -> list[str]:
    """The text of each sheet of it."""
    return texts(printed(live))


def test_a_widget_is_printed_as_its_picture(live, paper):
    live.emulate_media(media="print")
    widgets = live.locator(".attn-widget")
    assert widgets.count() == live.locator(".attn-picture img:visible").count() > 1
    assert live.locator(".attn-mount:visible, main :is(input, button, select):visible").count() == 0
    text = " ".join(" ".join(paper).split())
    assert text.count("Interactive on the page.") == widgets.count()
    assert "Bar chart of softmax weights at temperature 1. Interactive" in text
    live.emulate_media(media="screen")
    assert live.locator(".attn-picture:visible, .attn-paper:visible").count() == 0


def test_questions_stay_and_answers_go_to_the_end(live, paper):
    text = " ".join(" ".join(paper).split())
    question, answer = "components with", "The division removes"
    sections = [text.index(f" {title} ") for title in ("Summary", "Exercises")]
    assert text.index(question) < sections[0] < sections[1] < text.index("Answers and hints")
    assert text.count(answer) == 1 and text.index(answer) > text.index("Answers and hints")
    assert text.count("→ answer") == live.locator("details.more").count() > 3


def test_after_printing_the_page_is_as_before(live):
    article = live.locator("article")
    before, styles = article.inner_html(), live.locator("head style").count()
    live.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert live.locator(".answer").count() == live.locator("details.more").count()
    live.evaluate("dispatchEvent(new Event('afterprint'))")
    assert article.inner_html() == before and live.locator("head style").count() == styles


def test_without_a_script_the_answers_stand_in_their_boxes(site, browser):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{site}{CHAPTER}.html")
    text = " ".join(" ".join(texts(printed(page))).split())
    context.close()
    assert text.index("The division removes") < text.index(" Summary ")
    assert "Answers and hints" not in text


def test_code_that_only_draws_is_printed_where_the_reader_opened_it(live, paper):
    boxes = live.locator("details.hide")
    codes = [squeeze(code) for code in boxes.locator("pre").all_text_contents()]
    text = squeeze("".join(paper))
    assert [code[:60] in text for code in codes] == [False] * (len(codes) - 1) + [True]
    assert "Showthesource" not in text and "Hidethesource" not in text


def test_each_sheet_says_where_it_is_from(paper):
    for number, lines in enumerate(paper, start=1):
        assert "Scaled dot-product attention" in lines and "Attention, Measured" in lines
        assert re.search(rf"(?m)^{number}$", lines), f"sheet {number} has no number"


def test_frame_and_controls_of_the_page_are_not_printed(paper):
    text = "".join(paper)
    for words in ("Search", "On this page", "Previous", "Download", "Copy the code", "Chapters"):
        assert words not in text, words


@pytest.mark.parametrize("size", chromium.PAPERS)
def test_the_formula_sheet_is_one_sheet(site, open_page, size):
    page = open_page(f"{site}chapters/a04-formulas.html").page
    assert len(printed(page, format=size).pages) == 1


@pytest.mark.parametrize(
    "name", ["01-rnn-bottleneck", "10-a-real-encoder", "12-cheaper-attention", "a05-mask-table"]
)
def test_nothing_is_cut_off_at_the_edge_of_the_sheet(site, open_page, name):
    width = TEXT_WIDTH["A4"]
    page = open_page(f"{site}chapters/{name}.html", width=width).page
    page.evaluate("document.querySelectorAll('details').forEach((box) => (box.open = true))")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(CUT_OFF, width) == []


# --- the whole book -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def book(html, browser, tmp_path_factory) -> PdfReader:
    """A whole book of a few pages."""
    every = compose.pages
    config = {"title": "Attention, Measured", "author": "Its authors"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compose, "pages", lambda *a: [p for p in every(*a) if p.name in CHOSEN])
        target = tmp_path_factory.mktemp("pdf") / "whole.pdf"
        steps = []
        whole.make(
            browser, whole.described(html, "intro", config), target, "A4", lambda: steps.append(1)
        )
    assert len(steps) == whole.STEPS and [p.name for p in target.parent.iterdir()] == [target.name]
    return PdfReader(target)


@pytest.fixture(scope="module")
def sheets(book) -> list[str]:
    return texts(book)


def test_the_contents_tell_the_right_pages(book, sheets):
    contents = " ".join(sheets[1].split())
    outline = list(flat(book, book.outline))
    listed = {
        title: int(found[1])
        for title, _ in outline[1:]  # the title page is not listed
        if (found := re.search(rf"(?<!\w){re.escape(title)} (\d+)", contents))
    }
    assert listed.keys() >= {"Start", "Scaled dot-product attention", "Summary", "Formula sheet"}
    assert listed == {title: page for title, page in outline[1:] if title in listed}
    for title, page in listed.items():
        assert title in " ".join(sheets[page - 1].split()), f"{title} is not on page {page}"


def flat(book: PdfReader, outline):
    for entry in outline:
        if isinstance(entry, list):
            yield from flat(book, entry)
        else:
            yield entry.title, book.get_destination_page_number(entry) + 1


def test_links_lead_on_inside_of_the_book(book):
    inside = 0
    for page in book.pages:
        for link in page.get("/Annots", []):
            link = link.get_object()
            if "/Dest" in link:
                inside += 1
                assert link["/Dest"] in book.named_destinations
            else:
                assert link["/A"]["/URI"].startswith("https://"), link["/A"]
    assert inside > 60


def test_the_book_says_what_it_is(book):
    root = book.trailer["/Root"]
    assert book.metadata.title == "Attention, Measured" and book.metadata.author == "Its authors"
    assert root["/Lang"] == "en" and root["/MarkInfo"]["/Marked"] and "/StructTreeRoot" in root
    titles = [title for title, _ in flat(book, book.outline)]
    assert titles[:3] == ["Attention, Measured", "Contents", "Start"]
    assert [title for title in titles if once(title) != title] == []


def test_nothing_hidden_is_printed(sheets):
    sources = {ROOT / f"{n}.md": (ROOT / f"{n}.md").read_text("utf-8") for n in CHOSEN}
    text = squeeze("".join(sheets))
    assert len(hidden_lines(sources)) > 5
    assert [line for key, line in hidden_lines(sources).items() if key in text] == []


def test_answers_stay_with_their_chapter(book):
    titles = [title for title, _ in flat(book, book.outline)]
    assert titles.count("Answers and hints") == 2
    assert titles.index("Answers and hints") < titles.index("Prerequisites, with self-tests")


# --- composing, and what is told when it cannot be done -------------------------------------------


def page_of(body: str, nav: str = "") -> str:
    return f'<nav id="chapters">{nav}</nav><article class="text">{body}</article>'


def test_ids_and_links_of_composed_pages(tmp_path):
    nav = '<p><span class="caption-text">One</span></p><a class="x" href="ch/01-b.html">B</a>'
    (tmp_path / "ch").mkdir()
    (tmp_path / "intro.html").write_text(
        page_of('<a href="ch/01-b.html#x">b</a><a href="notebooks/b.ipynb">n</a>', nav), "utf-8"
    )
    (tmp_path / "ch" / "01-b.html").write_text(
        page_of(
            '<section id="s"><span id="x"></span><h2>T &amp; U<a class="headerlink" href="#s">#</a>'
            '</h2><a href="#x">x</a><a href="../intro.html">i</a><a href="https://a.b/?c=1&amp;d">e</a>'
            '<img loading="lazy" src="../_images/p.png" alt="a &quot;b&quot;"><script>no</script>'
            "</section>"
        ),
        "utf-8",
    )
    first, second = pages = compose.pages(tmp_path, "intro")
    for page in pages:
        compose.fill(page, tmp_path, pages, "../html/", "")
    assert first.body == '<a href="#01-b--x">b</a><a>n</a>'
    assert second.body == (
        '<section id="01-b--s"><h2><span id="01-b--x"></span>T &amp; U'
        '<a class="headerlink" href="#01-b--s">#</a></h2><a href="#01-b--x">x</a>'
        '<a href="#intro">i</a><a href="https://a.b/?c=1&amp;d">e</a>'
        '<img src="../html/_images/p.png" alt="a &quot;b&quot;"></section>'
    )
    assert second.sections == [("01-b--s", "T &amp; U")]
    assert (second.part, second.number, second.title) == ("One", "1", "B")
    compose.fill(first, tmp_path, pages, "../html/", "https://course.example/")
    assert '<a href="https://course.example/notebooks/b.ipynb">' in first.body


@pytest.mark.parametrize(
    "words, said",
    [
        (["chapters/nix"], "no page begins so. The pages are intro, chapters/01-"),
        (["chapters/a0"], "pages begin so"),
        (["--to", "x.pdf"], "--to names one file"),
        (["--site", "nowhere"], "The book is not built: nowhere holds no intro.html. Run `make"),
    ],
)
def test_what_cannot_be_printed_is_told(html, words, said, capsys):
    assert main(words) == 1
    assert said in capsys.readouterr().err


def test_without_chromium_it_says_how_to_get_one(html, monkeypatch, capsys):
    monkeypatch.setenv("CHROMIUM", "no-such-browser")
    assert main(["chapters/03"]) == 1
    assert "CHROMIUM=no-such-browser: there is no such program. Set" in capsys.readouterr().err


def test_a_browser_that_does_not_start_says_why_and_what_helps(html, monkeypatch, tmp_path, capsys):
    program = tmp_path / "browser"
    program.write_text("#!/bin/sh\necho libnss3.so is missing >&2\nexit 1\n", "utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("CHROMIUM", str(program))
    assert main(["chapters/a04"]) == 1
    said = capsys.readouterr().err
    assert "libnss3.so is missing" in said and f"{program} does not start. Set CHROMIUM" in said


def test_a_missing_picture_is_told(html, browser, tmp_path):
    page = tmp_path / "page.html"
    shutil.copy(html / "intro.html", page)
    with (
        pytest.raises(chromium.MissingPictures, match=r"page\.html shows pictures .* make book"),
        chromium.opened(browser, page),
    ):
        pass


def test_one_page_into_a_file(html, tmp_path, chromium_path, monkeypatch):
    monkeypatch.setenv("CHROMIUM", chromium_path)
    target = tmp_path / "sheet.pdf"
    assert main(["chapters/a04-formulas.md", "--to", str(target), "--paper", "Letter"]) == 0
    pdf = PdfReader(target)
    assert len(pdf.pages) == 1 and round(float(pdf.pages[0].mediabox.width)) == 612
    assert pdf.metadata.author == "The authors of Attention, Measured"


@pytest.mark.parametrize(
    "base, alt, line",
    [
        ("", "Two bars. Left: one.", "Two bars. Interactive on the page."),
        ("", "No full stop", "No full stop. Interactive on the page."),
        ("", f"A grid: {'x ' * 200}", "A grid. Interactive on the page."),
        (
            "https://course.example/book/",
            "a < b.",
            'a &lt; b. Interactive at <a class="printed" href="{0}">{0}</a>.',
        ),
    ],
)
def test_the_line_under_a_printed_widget(base, alt, line):
    builder = SimpleNamespace(
        config=SimpleNamespace(html_baseurl=base),
        current_docname="ch/one",
        get_target_uri=lambda name: f"{name}.html",
    )
    view = widgets.widget_view("", nodes.image(alt=alt))
    nodes.section("", view, ids=["sliders"])
    address = "https://course.example/book/ch/one.html#sliders"
    assert widgets._on_paper(SimpleNamespace(builder=builder), view) == (
        f'<p class="attn-paper">{line.format(address)}</p>\n'
    )
