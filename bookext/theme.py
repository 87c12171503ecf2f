"""The frame around the text: own templates, one style sheet, one small script.

sphinx-book-theme sends 830 kB, of which 542 are one icon script. Its templates are replaced
through ``templates_path``, its style sheets, Bootstrap and scripts are left out, and what pages
need of them stands in ``assets/book.css`` and ``assets/book.js``. What other extensions add to a
page (widgets) stays.

Boxes that open (``:class: dropdown``) become ``<details>``: they work by keyboard, without a
script, and in print. Some roles that docutils and myst-nb write are wrong for assistive technology
and are mended here, in the page, not by a script.
"""

import html
import re
from pathlib import Path
from posixpath import basename
from shutil import copyfile

from docutils import nodes
from sphinx.locale import admonitionlabels
from sphinx.util.display import status_iterator

from bookext.card import description, front

HERE = Path(__file__).parent
ASSETS = HERE / "assets"
FONTS = ("source-serif-4-400-normal", "source-serif-4-400-italic", "source-serif-4-600-normal")
PICTURES = ("mark.svg", "mark-32.png", "mark-180.png", "card.png")
#: The mark's shapes; the page gives them its colours, which the reader may have switched.
MARK = "".join(re.findall(r"<path[^>]*/>", (ASSETS / "mark.svg").read_text(encoding="utf-8")))
#: Replaced by book.css and book.js, or not wanted (thebe, the jumping highlight).
STYLES_LEFT_OUT = re.compile(
    r"^(basic|pygments|sphinx-book-theme|togglebutton|copybutton|sphinx-thebe|exercise|theme|alabaster"
    r"|pydata-sphinx-theme|mystnb\.[0-9a-f]*)\.css$"
)
SCRIPTS_LEFT_OUT = re.compile(
    r"^(documentation_options|doctools|sphinx_highlight|clipboard\.min|copybutton|togglebutton"
    r"|sphinx-book-theme|sphinx-thebe|mathjax|tex-mml-chtml|require)(\.min)?\.js$"
)
INLINE_LEFT_OUT = re.compile(
    r"THEBE|thebe|togglebutton|toggleHint|toggleOpen|MathJax|DOCUMENTATION_"
)
#: Only sent with pages that use it.
DESIGN = re.compile(r"^(sphinx-design\.min\.css|design-tabs\.js)$")
DESIGN_USED = re.compile(r'class="[^"]*\bsd-(?:tab|row|col|container|badge|btn|card[ "])')
#: Of the pages that Sphinx makes.
TITLES = {"search": "Search", "genindex": "Index", "py-modindex": "Modules"}
SAYING = {
    "search": "Search every section, term, exercise and function, in English and in Chinese.",
    "genindex": "Every term and every function of the course, from A to Z, with its place.",
    "404": "There is no page at this address; here are a search field and all chapters.",
}
MENDED = [
    # a list whose children have a role that is deprecated, and none of a list (docutils)
    (
        re.compile(r'(<div class="citation" id="[^"]*") role="doc-biblioentry"'),
        r'\1 role="listitem"',
    ),
    # a name that is not what is written on the control (myst-nb's hidden input)
    (re.compile(r'<summary aria-label="Toggle hidden content">'), "<summary>"),
    # sphinx-design's dropdown: the same box as all others, without its 8 kB of styles
    (re.compile(r'class="sd-sphinx-override sd-dropdown sd-card[^"]*"'), 'class="admonition more"'),
    (re.compile(r'<summary class="sd-summary-title[^"]*">'), "<summary>"),
    (re.compile(r'<span class="sd-summary-(?:icon|state-marker)[^>]*><svg.*?</svg></span>'), ""),
    (re.compile(r'class="sd-summary-content sd-card-body[^"]*"'), 'class="opened"'),
    # the same id in every exercise (sphinx-exercise)
    (re.compile(r'<section id="(?:exercise|solution)-content">'), "<section>"),
    # a heading inside of a list of links
    (re.compile(r' aria-level="\d" class="caption" role="heading"'), ' class="caption"'),
]


# --- boxes that open ------------------------------------------------------------------------------


def open_by_details(app, doctree, docname):
    """Turn every box of class ``dropdown`` into ``<details>``."""
    if app.builder.format != "html":
        return
    for box in list(doctree.findall(nodes.Admonition)):
        if "dropdown" in box["classes"]:
            box.parent.replace(box, _details(box))


def _details(box) -> list[nodes.Node]:
    children = list(box.children)
    if children and isinstance(children[0], nodes.title):
        title = children.pop(0).children
    else:
        title = [nodes.Text(admonitionlabels.get(type(box).__name__, "More"))]
    kind = type(box).__name__.removesuffix("_node")
    classes = {"admonition", kind, *box["classes"]} - {"toggle-shown"}
    ids = box["ids"]
    attributes = f' id="{html.escape(ids[0])}"' if ids else ""
    attributes += " open" if "toggle-shown" in box["classes"] else ""
    spans = "".join(f'<span id="{html.escape(i)}"></span>' for i in ids[1:])
    head = f'<details class="{" ".join(sorted(classes))}"{attributes}>{spans}<summary>'
    summary = nodes.inline("", "", *title)
    for link in list(summary.findall(nodes.reference)):  # a button may not hold a link
        link.parent.replace(link, link.children)
    return [_raw(head), summary, _raw("</summary>"), *children, _raw("</details>")]


def _raw(text: str) -> nodes.raw:
    return nodes.raw("", text, format="html")


# --- the page -------------------------------------------------------------------------------------


def fill(app, pagename, templatename, context, doctree):
    """What the templates ask for; and the theme's own files taken out of the page."""
    body = context.get("body") or ""
    for wrong, right in MENDED:
        body = wrong.sub(right, body)
    context["body"] = body
    wants_design = DESIGN_USED.search(body) is not None

    def keep(file, left_out) -> bool:
        name = basename(str(getattr(file, "filename", file) or "").partition("?")[0])
        if DESIGN.match(name):
            return wants_design
        if not name:
            return not INLINE_LEFT_OUT.search(file.attributes.get("body", ""))
        return not left_out.match(name)

    context["css_files"] = [f for f in context["css_files"] if keep(f, STYLES_LEFT_OUT)]
    context["script_files"] = [f for f in context["script_files"] if keep(f, SCRIPTS_LEFT_OUT)]

    title = html.unescape(re.sub(r"<[^>]*>", "", context.get("title") or "")).strip()
    title = title or TITLES.get(pagename, "")
    book = app.config.html_title
    context["plain_title"] = html.escape(title or book)
    context["window_title"] = html.escape(
        title if title == book or not title else f"{title} · {book}"
    )
    context["description"] = html.escape(
        description(doctree) or SAYING.get(pagename, f"{title}: {book}")
    )
    context["chapters"] = _mend(_toctree(context))
    context["here"] = _here(context.get("toc") or "") if context.get("display_toc") else ""
    context["mark"] = MARK
    context["spoken"] = html.escape  # language.py marks the runs of Chinese
    context.setdefault("author", app.config.author)


def _toctree(context) -> str:
    return context["toctree"](collapse=True, titles_only=True, maxdepth=1, includehidden=True)


def _mend(markup: str) -> str:
    for wrong, right in MENDED:
        markup = wrong.sub(right, markup)
    return re.sub(r'(<a class="current reference internal")', r'\1 aria-current="page"', markup)


def _here(toc: str) -> str:
    """The sections below the page's own title."""
    inner = re.search(r"<ul>\s*<li><a[^>]*>.*?</a>\s*(<ul>.*</ul>)\s*</li>\s*</ul>", toc, re.S)
    return inner[1] if inner else ""


# --- files ----------------------------------------------------------------------------------------


def use(app, config):
    config.templates_path = [str(HERE / "templates"), *config.templates_path]
    config.html_domain_indices = False
    config.nb_code_prompt_show = "Show the {type}"
    config.nb_code_prompt_hide = "Hide the {type}"


def copy_assets(app):
    """Before any page is written, so that the links carry the files' hashes."""
    if app.builder.format != "html":
        return
    target = Path(app.outdir, "_static")
    (target / "fonts").mkdir(parents=True, exist_ok=True)
    fonts = [f"fonts/{name}.woff2" for name in (*FONTS, "latin-modern-math")]
    scripts = ("book.js", "print.js", "book-search.js", "minisearch.js")
    for name in ["book.css", "print.css", *scripts, *PICTURES, *fonts]:
        copyfile(ASSETS / name, target / name)


def drop_unused(app, error):
    """The theme's own files, which no page asks for."""
    if error or app.builder.format != "html":
        return
    static = Path(app.outdir, "_static")
    patterns = ("vendor/**/*", "scripts/*", "styles/*", "*webpack-macros.html", "*.map")
    unused = [f for p in patterns for f in static.glob(p) if f.is_file()]
    for file in status_iterator(unused, "leaving out the theme's files... ", length=len(unused)):
        file.unlink()


def redirect(app, error):
    """jupyter-book's index.html, with what a page must have and what a shared link shows."""
    index = Path(app.outdir, "index.html")
    if error or app.builder.format != "html" or app.config.root_doc == "index":
        return
    root = app.config.root_doc
    context = {
        "target": app.builder.get_target_uri(root),
        "title": html.escape(app.config.html_title),
        "pathto": lambda path, resource: path,
        **front(app, app.env.get_doctree(root)),
    }
    index.write_text(app.builder.templates.render("redirect.html", context), encoding="utf-8")


def setup(app):
    app.setup_extension("bookext.card")
    app.add_css_file("book.css", priority=100)
    app.add_css_file("print.css", priority=900, media="print")
    for script in ("book.js", "print.js"):
        app.add_js_file(script, loading_method="defer")
    app.connect("config-inited", use, priority=900)
    app.connect("builder-inited", copy_assets)
    app.connect("doctree-resolved", open_by_details, priority=900)
    app.connect("html-page-context", fill, priority=950)
    app.connect("build-finished", redirect, priority=900)
    app.connect("build-finished", drop_unused, priority=910)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
