"""What the search looks through: every section, term, exercise and function, with its text.

Sphinx's own index knows which words are on which page, so results are pages, and for an excerpt the
browser fetches each of them whole, which a page opened as a file may not. Here a page is cut into
its sections; one script, `search-sections.js`, has their titles and texts, and the browser makes
the index of it (book-search.js). A section is also found by its labels, and by the terms of the
glossary that point at it, in English and in Chinese.
"""

import json
import re
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urldefrag

from docutils import nodes
from sphinx import addnodes

from bookext.plain import pieces, plain
from bookext.search import SAME, TRADITIONAL

FILE = "search-sections.js"
BEFORE, AFTER = "bookSearch(", ");\n"
#: Names in code, found but not shown: with a capital, a digit or a stroke, or called of something.
NAME = re.compile(r"\b[A-Za-z]\w*[_A-Z0-9]\w*\b|(?<=\.)[a-z]\w{2,}(?=\()")
#: The part of a label that tells chapters apart, and what docutils makes up.
EXERCISE = re.compile(r"exercise_\w*node")
MADE_UP = {"exercise-content", "solution-content"}
NO_WORD = re.compile(r"^(?:ch|ex|a)\d+-|^(?:id|term|index)-?\d*$|^ex-ch\d+-")


class Entry(dict):
    """A place: its ``ids`` (the first leads there), t(itle), (te)x(t), n(ames) and c(ode).

    Of some: its k(ind), where it r(efers), the g(lossary)'s words for it.
    """


def entries(doctree: nodes.document, location: str) -> list[Entry]:
    """The places of a page, in order; the first is the page itself.

    Names are labels and entries of the index; a function has its own name alone.
    """
    found: list[Entry] = []
    page = Entry(t="", x=[], ids=[], c=set())
    _walk(doctree, page, found, location)
    indexed = {}
    for node in doctree.findall(addnodes.index):
        for _, words, target, *_ in node["entries"]:
            indexed.setdefault(target, []).append(words.replace(";", ","))
    for entry in found:
        entry["x"] = " ".join("".join(entry["x"]).split())
        own = nodes.make_id(entry["t"])
        labels = [NO_WORD.sub("", i) for i in entry["ids"] if i != own and entry.get("k") != "code"]
        if entry.get("k") != "code":
            words = [one for i in entry["ids"] for one in indexed.get(i, ())]
            labels += [one for one in words if one not in entry["t"]]
        names = {
            "n": " · ".join(label.replace("-", " ") for label in labels if label),
            "c": " ".join(sorted(entry.pop("c") - set(NAME.findall(entry["x"])))),
        }
        entry.update({key: value for key, value in names.items() if value})
    return found


def _walk(node: nodes.Node, entry: Entry, found: list[Entry], location: str) -> None:
    if isinstance(node, nodes.document):
        for child in node.children:
            _walk(child, entry, found, location)
    elif isinstance(node, nodes.section) and set(node["ids"]) & MADE_UP:
        for child in node.children:
            _walk(child, entry, found, location)
    elif isinstance(node, nodes.section):
        first = not found
        place = entry if first else _place(node, "")
        place["ids"] = list(node["ids"])
        found.append(place)
        for child in node.children:
            if isinstance(child, nodes.title) and not place["t"]:
                place["t"] = plain(child)
            else:
                _walk(child, place, found, location)
    elif isinstance(node, nodes.definition_list_item) and _is_term(node):
        terms = [child for child in node.children if isinstance(child, nodes.term)]
        place = _place(terms[0], " · ".join(plain(term) for term in terms))
        place["k"] = "term"
        place["r"] = [_target(link, location) for link in node.findall(nodes.reference)]
        found.append(place)
        for child in node.children:
            if not isinstance(child, nodes.term):
                _walk(child, place, found, location)
    elif isinstance(node, nodes.row) and _is_symbol(node):
        cells = [plain(cell) for cell in node.children]
        place = Entry(t=f"{cells[0]}: {cells[1]}", x=[" · ".join(filter(None, cells[2:]))])
        found.append(Entry(place, ids=entry["ids"], c=set(), k="term"))
    elif isinstance(node, nodes.paragraph) and "formula-sheet" in entry["ids"] and node["ids"]:
        lead = next(iter(node.findall(nodes.strong)), node)
        place = _place(node, plain(lead).rstrip("."))
        found.append(Entry(place, x=[*pieces(node)], k="term"))
    elif isinstance(node, addnodes.desc):
        head = next(iter(node.findall(addnodes.desc_signature)))
        place = _place(head, head.get("fullname") or plain(head))
        place["k"] = "code"
        found.append(place)
        for child in node.children:
            if not isinstance(child, addnodes.desc_signature):
                _walk(child, place, found, location)
    elif EXERCISE.match(type(node).__name__) and node["ids"]:
        title = next(iter(node.findall(nodes.title)), None)
        name = plain(title).strip("() ") if title else ""
        place = _place(node, f"Exercise: {name}" if name else "Exercise")
        found.append(place)
        for child in node.children:
            if child is not title:
                _walk(child, place, found, location)
    elif isinstance(node, nodes.literal_block | nodes.doctest_block):
        entry["c"].update(NAME.findall(node.astext()))
    elif isinstance(node, nodes.Element) and "cell_output" in node.get("classes", ()):
        return
    elif isinstance(node, nodes.Text | nodes.math | nodes.math_block | nodes.Inline):
        entry["x"] += pieces(node)
    elif isinstance(node, nodes.Element) and not isinstance(node, nodes.raw | nodes.Invisible):
        for child in node.children:
            _walk(child, entry, found, location)
        entry["x"].append(" ")


def _place(node: nodes.Element, title: str) -> Entry:
    return Entry(t=title, x=[], ids=list(node["ids"]), c=set())


def _is_term(node: nodes.Node) -> bool:
    return isinstance(node.parent, nodes.Element) and "glossary" in node.parent.get("classes", ())


def _is_symbol(row: nodes.row) -> bool:
    """In the body of a table whose first column is headed so."""
    if isinstance(row.parent, nodes.thead):
        return False
    head = next(iter(row.parent.parent.findall(nodes.thead)), None)
    return head is not None and plain(next(iter(head.findall(nodes.entry)))) == "symbol"


def _target(link: nodes.reference, location: str) -> str:
    """``page.html#label`` that a reference leads to, from the site's root."""
    address, label = urldefrag(link.get("refuri") or f"#{link.get('refid', '')}")
    path = PurePosixPath(location).parent / address if address else PurePosixPath(location)
    return f"{path}#{unquote(label)}"


# --- kept from build to build: only changed pages are written -------------------------------------


def start(app):
    app.book_sections = {}
    file = Path(app.outdir, FILE)
    if app.builder.name == "html" and file.is_file():
        kept = file.read_text(encoding="utf-8").removeprefix(BEFORE).removesuffix(AFTER)
        try:
            app.book_sections = {page.pop("doc"): page for page in json.loads(kept)["pages"]}
        except (ValueError, KeyError):  # of another version: made anew below
            app.book_sections = {}


def collect(app, doctree, docname):
    if app.builder.name == "html":
        url = app.builder.get_target_uri(docname)
        app.book_sections[docname] = {"u": url, "s": entries(doctree, url)}


def write(app, error):
    if error or app.builder.name != "html":
        return
    env = app.env
    order = dict.fromkeys([env.config.root_doc, *_in_order(env), *sorted(env.found_docs)])
    for docname in order:
        if docname not in app.book_sections:  # nothing was to be written, and no file was there
            collect(app, env.get_and_resolve_doctree(docname, app.builder), docname)
    pages = [{"doc": docname, **app.book_sections[docname]} for docname in order]
    _name_by_glossary(pages)
    book = {"same": SAME, "traditional": TRADITIONAL, "pages": pages}
    text = json.dumps(book, ensure_ascii=False, separators=(",", ":"), default=sorted)
    Path(app.outdir, FILE).write_text(BEFORE + text + AFTER, encoding="utf-8")


def _in_order(env):
    """The pages as the table of contents has them."""
    waiting = [env.config.root_doc]
    while waiting:
        name = waiting.pop(0)
        yield name
        waiting = [*env.toctree_includes.get(name, []), *waiting]


def _name_by_glossary(pages: list[dict]) -> None:
    """Give each section the terms whose explanation points at it; ``g`` for glossary."""
    places = {
        f"{page['u']}#{i}": entry
        for page in pages
        for number, entry in enumerate(page["s"])
        for i in [*entry["ids"], *([""] if number == 0 else [])]
    }
    for entry in places.values():
        entry.pop("g", None)
    for page in pages:
        for entry in page["s"]:
            for target in entry.get("r", ()):
                place = places.get(target)
                if place is not None and place is not entry:
                    place["g"] = " · ".join(filter(None, [place.get("g"), entry["t"]]))


def setup(app):
    app.connect("builder-inited", start)
    app.connect("doctree-resolved", collect, priority=850)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
