"""Being found, and what is shown where nothing was found: 404.html, sitemap.xml, robots.txt.

A server hands out 404.html for any address below the site, at any depth. Where the address of the
site is known (`html_baseurl`), sphinx-notfound-page writes the links from the root of the host.
Where it is not, they stay relative, and the page itself looks for the level at which the book
begins.

The two files for search engines exist only with an address. sitemap.xml is written here, in a few
lines: sphinx-sitemap names only the pages that were written anew in this build, so a warm build has
none or a torn one. It has no dates: those of a checkout are not those of the text.
"""

from pathlib import Path
from urllib.parse import urlsplit
from xml.sax.saxutils import escape

NOT_FOUND = "404"
#: Pages of Sphinx that are no text: not found by others.
UNLISTED = {"search", NOT_FOUND}
RELATIVE = ("pathto", "toctree", "css_tag", "js_tag")


def use(app, config):
    config.notfound_urls_prefix = urlsplit(app.config.html_baseurl).path or "/"
    config.notfound_template = "404.html"
    config.notfound_context = {"title": "Page not found", "body": ""}


def keep_relative(app, pagename, templatename, context, doctree):
    if pagename == NOT_FOUND:
        context["relative"] = {name: context[name] for name in RELATIVE}


def make_relative(app, pagename, templatename, context, doctree):
    """Undo sphinx-notfound-page's links from the host's root, where that of the site is unknown."""
    if pagename == NOT_FOUND and not app.config.html_baseurl:
        context.update(context.pop("relative"))


def unlisted(app, pagename, templatename, context, doctree):
    """No address for a page that has none of its own."""
    if pagename in UNLISTED:
        context["pageurl"] = None


def for_search_engines(app, error):
    """sitemap.xml and robots.txt; none of an earlier build that had an address."""
    if error or app.builder.name != "html":
        return
    sitemap, robots = Path(app.outdir, "sitemap.xml"), Path(app.outdir, "robots.txt")
    base = app.config.html_baseurl
    if not base:
        sitemap.unlink(missing_ok=True)
        robots.unlink(missing_ok=True)
        return
    targets = [app.builder.get_target_uri(name) for name in sorted(app.env.found_docs)]
    lines = [f"  <url><loc>{escape(base + target)}</loc></url>\n" for target in targets]
    sitemap.write_text(
        '<?xml version="1.0" encoding="utf-8"?>\n'
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
        f"{''.join(lines)}</urlset>\n",
        encoding="utf-8",
    )
    robots.write_text(f"User-agent: *\nAllow: /\n\nSitemap: {base}sitemap.xml\n", encoding="utf-8")


def setup(app):
    app.setup_extension("notfound.extension")
    app.connect("config-inited", use, priority=950)
    app.connect("html-page-context", keep_relative, priority=390)  # notfound's is at 400
    app.connect("html-page-context", make_relative, priority=410)
    app.connect("html-page-context", unlisted, priority=420)
    app.connect("build-finished", for_search_engines)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
