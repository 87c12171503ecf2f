"""Runs of Chinese are marked as such: screen readers change their voice, browsers their font.

MyST reads ``[我]{lang=zh-Hans}`` but drops the attribute, and an author would forget it one day. So
every run of Chinese characters in the text is found here, whoever wrote it. An attribute cannot
hold a mark: the words of a picture's alt text stay in the page's language.
"""

import html
import re

from docutils import nodes
from sphinx.transforms import SphinxTransform

LANGUAGE = "zh-Hans"
#: Sphinx's writer drops ``lang``, but keeps this class, which the page turns into ``lang`` again.
CSS_CLASS = f"lang-{LANGUAGE}"
#: Han characters; full-width punctuation only between or after them.
RUN = re.compile(
    r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff〇]"
    r"(?:[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff〇，。、：；？！（）《》“”]*"
    r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff〇，。、：；？！）》”])?"
)
LEFT_ALONE = (nodes.literal_block, nodes.raw, nodes.comment, nodes.math, nodes.math_block)


class MarkChinese(SphinxTransform):
    """Wrap each run of Chinese in an inline node that says so."""

    default_priority = 880

    def apply(self, **kwargs) -> None:
        for text in list(self.document.findall(nodes.Text)):
            if RUN.search(text) and not _left_alone(text):
                text.parent.replace(text, list(marked(text.astext())))


def marked(text: str):
    """The text as nodes, its runs of Chinese marked."""
    end = 0
    for run in RUN.finditer(text):
        if run.start() > end:
            yield nodes.Text(text[end : run.start()])
        yield nodes.inline("", run[0], classes=[CSS_CLASS], lang=LANGUAGE)
        end = run.end()
    if end < len(text):
        yield nodes.Text(text[end:])


def _left_alone(node: nodes.Node) -> bool:
    while node.parent is not None:
        node = node.parent
        if isinstance(node, LEFT_ALONE) or CSS_CLASS in getattr(node, "attributes", {}).get(
            "classes", ()
        ):
            return True
    return False


PRE = re.compile(r"<pre\b.*?</pre>", re.S)
BETWEEN_TAGS = re.compile(r">[^<]+")


def in_code(markup: str) -> str:
    """Mark the runs in code and outputs, which Pygments and notebooks write as HTML."""

    return PRE.sub(
        lambda listing: BETWEEN_TAGS.sub(lambda text: in_markup(text[0]), listing[0]), markup
    )


def in_markup(text: str) -> str:
    """Mark the runs in a text that is markup and holds no tags."""
    return RUN.sub(lambda run: f'<span lang="{LANGUAGE}">{run[0]}</span>', text)


def one_list_of_chinese(entries):
    """The index has a heading for each first letter: one for all Chinese terms, not sixty."""
    chinese = [entry for key, column in entries if RUN.match(key) for entry in column]
    latin = [(key, column) for key, column in entries if not RUN.match(key)]
    return [*latin, ("中文", chinese)] if chinese else latin


def write_attribute(app, pagename, templatename, context, doctree):
    """Turn the class into the attribute, wherever the page holds a text."""

    def mend(markup):
        return str(markup).replace(f'<span class="{CSS_CLASS}">', f'<span lang="{LANGUAGE}">')

    for place in ("body", "title", "toc", "chapters", "here"):
        if context.get(place):
            context[place] = mend(context[place])
    for place in ("prev", "next"):
        if context.get(place):
            context[place] = {**context[place], "title": mend(context[place]["title"])}
    if context.get("body"):
        context["body"] = in_code(context["body"])
    if "genindexentries" in context:
        context["genindexentries"] = one_list_of_chinese(context["genindexentries"])
    context["spoken"] = lambda text: RUN.sub(
        lambda run: f'<span lang="{LANGUAGE}">{run[0]}</span>', html.escape(text)
    )


def setup(app):
    app.connect("html-page-context", write_attribute, priority=960)
    app.add_transform(MarkChinese)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
