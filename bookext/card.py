"""What others read of a page: its description, the card of a shared link, a few lines of data.

A page's description is its own, ``myst: html_meta: description`` in its front matter, or else its
first sentences. Addresses stand in a page only where that of the site is known (`html_baseurl`); a
card without one still has its title and text.
"""

import html
import json
import re

from docutils import nodes

from bookext.plain import plain

LONGEST = 160
LICENCE = "https://creativecommons.org/licenses/by/4.0/"
#: Begins each chapter, and says nothing to who sees only the first sentences.
LEAD = re.compile(r"^The question\.\s*")
PICTURE = "_static/card.png"
OWN = re.compile(r'<meta (?=[^>]*\bname="description")[^>]*>\n?')


def description(doctree: nodes.document | None) -> str:
    """The page's own, or its first sentences."""
    if doctree is None:
        return ""
    for meta in doctree.findall(nodes.meta):
        if meta.get("name") == "description":
            return " ".join(meta["content"].split())
    for paragraph in doctree.findall(nodes.paragraph):
        if isinstance(paragraph.parent, nodes.section):
            words = LEAD.sub("", plain(paragraph))
            if len(words) > 20:
                return shortened(words)
    return ""


def shortened(words: str) -> str:
    """Whole sentences where they say enough, else whole words."""
    if len(words) <= LONGEST:
        return words
    sentences = re.match(rf".{{70,{LONGEST - 1}}}[.?!](?=\s)", words)
    return (
        sentences[0] if sentences else words[: LONGEST - 2].rsplit(" ", 1)[0].rstrip(",;:") + " …"
    )


def page(app, pagename, templatename, context, doctree):
    """After the frame (theme.py) has set title and description."""
    context["metatags"] = OWN.sub("", context.get("metatags") or "")
    kind = "website" if pagename == app.config.root_doc else "article"
    context["card"] = card(app, kind, context["plain_title"], context.get("pageurl") or "")
    is_page = pagename in app.env.all_docs
    context["linked_data"] = linked_data(app, context, pagename) if is_page else ""


def card(app, kind: str, title: str, address: str) -> dict[str, str]:
    """What ``card.html`` asks for."""
    base = app.config.html_baseurl
    return {
        "kind": kind,
        "title": title,
        "site": html.escape(app.config.html_title),
        "picture": base + PICTURE if base else "",
        "address": address,
    }


def front(app, doctree: nodes.document) -> dict:
    """For index.html, which leads on to the first page: that page's words and address."""
    base, title = app.config.html_baseurl, html.escape(app.config.html_title)
    address = base + app.builder.get_target_uri(app.config.root_doc) if base else ""
    return {
        "description": html.escape(description(doctree)),
        "card": card(app, "website", title, address),
    }


def linked_data(app, context, pagename: str) -> str:
    """schema.org's words for a page of a course, as JSON-LD that cannot end its script element."""
    base, root = app.config.html_baseurl, app.config.root_doc
    course = {"@type": "Course", "name": app.config.html_title}
    if base:
        course["url"] = base + app.builder.get_target_uri(root)
    about = {
        "@context": "https://schema.org",
        "@type": "Course" if pagename == root else "LearningResource",
        "name": html.unescape(context["plain_title"]),
        "description": html.unescape(context["description"]),
        "inLanguage": app.config.language or "en",
        "license": LICENCE,
        "isAccessibleForFree": True,
    }
    if pagename == root:
        about["provider"] = {"@type": "Organization", "name": app.config.author}
    else:
        about |= {"learningResourceType": "textbook", "educationalUse": "self-study"}
        about["isPartOf"] = course
    if base:
        about["url"] = base + app.builder.get_target_uri(pagename)
    return json.dumps(about, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def setup(app):
    app.connect("html-page-context", page, priority=955)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
