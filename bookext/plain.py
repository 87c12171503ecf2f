"""What a node says in plain letters: formulas as one would type them, α_ij for \\alpha_{ij}.

For what shows no markup: a page's description, excerpts and words of the search.
"""

import re
from collections.abc import Iterator
from functools import cache

from docutils import nodes
from pylatexenc.latex2text import LatexNodes2Text

NOT_TEXT = (nodes.raw, nodes.comment, nodes.Invisible, nodes.image)
_to_text = LatexNodes2Text(math_mode="text")


@cache
def formula(tex: str) -> str:
    r"""A formula in a line of text.

    >>> formula(r"\\frac{q \\cdot k}{\\sqrt{d_k}}")
    'q · k/√d_k'
    """
    tex = re.sub(r"\\(?:label\{[^{}]*\}|nonumber|notag)|\\middle(?=\W)|&", " ", tex)
    tex = re.sub(r"\\tfrac(?![a-zA-Z])", r"\\frac", tex)
    text = _to_text.latex_to_text(tex.replace(r"\\", "; "))
    text = re.sub(r"√\((\w+)\)", r"√\1", text)
    text = re.sub(r"([·×±≤≥≠=<>])(?=\w)", r"\1 ", text)
    return " ".join(text.split())


def pieces(node: nodes.Node, *, left_out: tuple[type, ...] = ()) -> Iterator[str]:
    """The texts below a node, formulas translated; a blank between blocks."""
    if isinstance(node, nodes.Text):
        yield node.astext()
    elif isinstance(node, nodes.math | nodes.math_block):
        yield (
            f" {formula(node.astext())} "
            if node.tagname == "math_block"
            else formula(node.astext())
        )
    elif not isinstance(node, (*NOT_TEXT, *left_out)):
        block = not isinstance(node, nodes.Inline)
        for child in node.children:
            yield from pieces(child, left_out=left_out)
        if block:
            yield " "


def plain(node: nodes.Node, *, left_out: tuple[type, ...] = ()) -> str:
    return " ".join("".join(pieces(node, left_out=left_out)).split())
