"""What a page says to those who do not see it: names, row headers, code and its output."""

import re

import pytest
from small_book import build

from bookext.assistive import cells, links, write

PAGE = """# A page

Some text.

## A *second* heading with $x^2$

| mask | keys ahead |
|---|---|
| causal | none |
| window | none |

```{code-block} python
print("我")
```
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> str:
    folder = tmp_path_factory.mktemp("assistive")
    built = build(folder, {"index": PAGE}, parts=("mathml", "assistive"))
    assert built.status == 0, built.log
    return built.page()


def test_a_heading_is_its_own_link_and_says_nothing_else(page):
    headings = re.findall(r"<h\d>(.*?)</h\d>", page.partition('role="main"')[2], re.S)[:2]
    assert len(headings) == 2
    for heading in headings:
        assert re.fullmatch(r'<a class="own-link" href="#[^"]+">.*</a>', heading, re.S), heading
    assert 'class="headerlink"' not in page


def test_the_first_cell_of_a_row_names_the_row(page):
    assert re.findall(r'<th scope="row"[^>]*><p>(.*?)</p>', page) == ["causal", "window"]
    assert re.findall(r'<th scope="col"[^>]*><p>(.*?)</p>', page) == ["mask", "keys ahead"]


def test_code_is_told_from_what_it_prints():
    body = (
        '<div class="cell_input docutils"></div><div class="output stream x"></div>'
        '<div class="output image_png"></div><div class="cell_input docutils"></div>'
    )
    labels = re.findall(r'role="group" aria-label="([^"]*)"', cells(body))
    assert labels == ["Code 1", "Output of code 1", "Code 2"]


def test_a_year_is_no_name_of_a_paper():
    cited = (
        '<span class="bibtex-citation" id="id1">Cho <em>et al.</em> '
        '[<a href="b.html#id9" title="…">2014</a>]</span>'
    )
    assert 'aria-label="Cho et al. 2014" href' in links(cited)


def test_a_sign_that_is_a_link_says_what_it_leads_to():
    sign = '<a class="headerlink" href="#{}" title="Link to {}">#</a>'.format
    signs = sign("term-mask", "this term") + sign("attnkit.fit", "this definition")
    names = re.findall(r'aria-label="([^"]*)"><span aria-hidden="true">#</span></a>', links(signs))
    assert names == ["Link to term", "Link to attnkit.fit"]


def test_a_list_of_chapters_has_the_name_of_its_part():
    part = '<p class="caption" role="heading"><span>Where &amp; why</span></p>\n<ul class="x">'
    context = {"body": "", "chapters": part}
    write(None, "one", "page.html", context, None)
    assert '<ul aria-label="Where &amp; why" class="x">' in context["chapters"]
    assert '<p class="caption" aria-hidden="true">' in context["chapters"], "it is not read twice"
