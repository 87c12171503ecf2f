"""The works that a page cites, as a Markdown list."""

import re

from pybtex.backends.markdown import Backend
from sphinx.errors import ExtensionError


def references(app, docname: str) -> str:
    """The reference list of a page, in the order of the bibliography; '' when it cites nothing."""
    try:
        domain = app.env.get_domain("cite")
    except ExtensionError:  # a book without bibliography
        return ""
    cited = {t.key for ref in domain.citation_refs if ref.docname == docname for t in ref.targets}
    entries = {}
    for citation in domain.citations:
        key = citation.entry.key
        if key in cited and key not in entries:
            entries[key] = citation.formatted_entry.text.render(Backend())
    return "\n".join(f"- {tidy(text)}" for text in entries.values())


def tidy(text: str) -> str:
    """Pybtex escapes every full stop; in a list none needs it."""
    return " ".join(re.sub(r"\\([.()!+#{}-])", r"\1", text).replace("&amp;", "&").split())
