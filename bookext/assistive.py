"""What a page says to those who do not see it: names, row headers, code told from its output.

docutils and myst-nb write elements that look right and say little: a table without row names, code
that cannot be told from what it prints, hundreds of links called “#”. They are mended in the page,
so that it is whole without a script. A heading is its own link, as its name would otherwise end in
that of the link beside it.
"""

import html
import re

from docutils import nodes

#: Text of a heading or term that holds no link, and the sign after it that is one.
NAMED = r'((?:(?!</h\d>|</dt>|<a ).)*)<a class="headerlink" href="([^"]*)"[^>]*>[^<]*</a>'
OWN_LINK = re.compile(r'(<h[1-6]>|<dt id="[^"]*">)' + NAMED, re.S)
OTHER_LINK = re.compile(
    r'<a class="headerlink" href="#([^"]*)" title="Link to ([^"]*)"[^>]*>[^<]*</a>'
)
CELL = re.compile(
    r'<div class="cell_input|<div class="output (?:stream|text_plain|traceback|text_html)'
)
YEAR = re.compile(
    r'(<span class="bibtex-citation"[^>]*>)([^\[\]]*?) \[(<a )([^>]*>)(\d{4}\w?)</a>\]', re.S
)
CAPTION = re.compile(r'<p class="caption"[^>]*>(.*?)</p>\s*<ul', re.S)


def text_of(markup: str) -> str:
    """The text of a piece of a page, fit for an attribute."""
    return html.escape(html.unescape(re.sub(r"<[^>]*>", "", markup)).strip())


def name_rows(app, doctree, docname):
    """In a table with heads, the first cell of a row says what the row is about."""
    for table in doctree.findall(nodes.tgroup):
        columns = list(table.findall(nodes.colspec))
        if len(columns) > 1 and any(isinstance(part, nodes.thead) for part in table.children):
            columns[0]["stub"] = 1


def links(body: str) -> str:
    """Headings and terms link to themselves; other “#” say what they lead to."""
    body = OWN_LINK.sub(r'\1<a class="own-link" href="\3">\2</a>', body)

    def name(found: re.Match) -> str:
        target, what = found[1], found[2]
        known = target if what == "this definition" else what.removeprefix("this ")
        return (
            f'<a class="headerlink" href="#{target}" aria-label="Link to {known}">'
            '<span aria-hidden="true">#</span></a>'
        )

    body = OTHER_LINK.sub(name, body)
    # A year alone is no name of a paper.
    return YEAR.sub(lambda found: _cited(*found.groups()), body)


def _cited(span: str, authors: str, start: str, rest: str, year: str) -> str:
    label = f'aria-label="{text_of(authors)} {year}"'
    return f"{span}{authors} [{start}{label} {rest}{year}</a>]"


def cells(body: str) -> str:
    """Number the cells, and tell code from what it prints."""
    number = 0

    def name(found: re.Match) -> str:
        nonlocal number
        is_code = found[0].endswith("cell_input")
        number += is_code
        label = f"Code {number}" if is_code else f"Output of code {number}"
        return found[0].replace("<div", f'<div role="group" aria-label="{label}"', 1)

    return CELL.sub(name, body)


def tables(body: str) -> str:
    """Say which cells a head is for: a row, where it is not above a column."""
    body = body.replace('<th class="head', '<th scope="col" class="head')
    return re.sub(r'<th class="((?:[\w-]+ )*?stub)\b', r'<th scope="row" class="\1', body)


def write(app, pagename, templatename, context, doctree):
    body = context.get("body") or ""
    context["body"] = tables(cells(links(body)))
    context["chapters"] = CAPTION.sub(
        lambda found: (
            f'<p class="caption" aria-hidden="true">{found[1]}</p>\n'
            f'<ul aria-label="{text_of(found[1])}"'
        ),
        context.get("chapters") or "",
    )


def setup(app):
    app.connect("doctree-resolved", name_rows)
    app.connect("html-page-context", write, priority=955)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
