r"""Formulas as MathML, made at build time: no script, no reflow, nothing to fetch but one font.

Sphinx hands every kind of formula to the renderer registered here: inline and block, numbered
equations, amsmath environments, ``text/latex`` outputs. ``math-core`` translates them. Numbers are
Sphinx's, so environments that would number their lines themselves become their inner forms
(``align`` is set as ``aligned``). What cannot be translated, or has a letter that the font of
formulas lacks, is a warning with file and line, which fails the build (``-W``).
"""

import html
import re
from functools import cache
from pathlib import Path

import math_core
import pydata_sphinx_theme.toctree
from docutils import nodes
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

from bookext.places import location

logger = logging.getLogger(__name__)

FONT = Path(__file__).parent / "assets" / "fonts" / "latin-modern-math.woff2"
ENVIRONMENT = re.compile(r"\\(begin|end)\{(\w+\*?)\}")
#: Environments that number their lines, and what sets the same formula without the numbers.
INNER = {
    "align": "aligned",
    "alignat": "aligned",
    "eqnarray": "aligned",
    "flalign": "aligned",
    "gather": "gathered",
    "multline": "gathered",
    "split": "aligned",
}
UNNUMBERED = {"equation", "displaymath", "math"}
#: Has no shape of its own: invisible operators, spaces, variation selectors.
SHAPELESS = re.compile(r"[\s\u2061-\u2064\u200b-\u200d\ufe00-\ufe0f]")


class Formulas:
    """One translator for a build; equal formulas are translated once."""

    def __init__(self, macros: dict[str, str]):
        self._plain = math_core.LatexToMathML(macros=macros, fancy_error=False)
        self._annotated = math_core.LatexToMathML(macros=macros, fancy_error=False, annotation=True)
        self.mathml = cache(self._mathml)

    def _mathml(self, tex: str, block: bool, annotated: bool) -> str:
        """The ``<math>`` element.

        Raises:
            math_core.LatexError: what could not be translated, and at which character.
        """
        translator = self._annotated if annotated else self._plain
        return translator.convert_with_local_state(prepared(tex), displaystyle=block)


def prepared(tex: str) -> str:
    """Sphinx's reading of a formula: unnumbered, lines outside of an environment stacked."""
    tex = re.sub(r"\\label\{[^{}]*\}|\\(?:nonumber|notag)(?![a-zA-Z])", "", tex).strip()
    tex = ENVIRONMENT.sub(_inner, re.sub(r"(\\begin\{alignat\*?\})\s*\{\d+\}", r"\1", tex))
    paragraphs = [part.strip() for part in re.split(r"\n\s*\n", tex) if part.strip()]
    tex = r" \\ ".join(paragraphs)
    outside = _outside(tex)
    if r"\\" not in outside:
        return tex
    environment = "aligned" if "&" in outside.replace(r"\&", "") else "gathered"
    return f"\\begin{{{environment}}} {tex} \\end{{{environment}}}"


def _inner(found: re.Match[str]) -> str:
    name = found[2].removesuffix("*")
    if name in UNNUMBERED:
        return ""
    return f"\\{found[1]}{{{INNER.get(name, found[2])}}}"


def _outside(tex: str) -> str:
    """The formula without what stands inside braces or an environment."""
    kept, depth = [], 0
    for token in re.findall(r"\\begin\{\w+\*?\}|\\end\{\w+\*?\}|\\.|[{}]|[^\\{}]+", tex, re.DOTALL):
        if token.startswith(r"\begin") or token == "{":
            depth += 1
        elif token.startswith(r"\end{") or token == "}":
            depth -= 1
        elif depth == 0:
            kept.append(token)
    return "".join(kept)


@cache
def letters() -> frozenset[int]:
    """The code points that the font of formulas has."""
    from fontTools.ttLib import TTFont

    with TTFont(FONT) as font:
        return frozenset(font.getBestCmap())


def missing(mathml: str) -> str:
    """The letters of a formula (not of the words in it) that the font lacks."""
    shown = re.sub(r"<annotation.*?</annotation>|<mtext.*?</mtext>|<[^>]*>", "", mathml, flags=re.S)
    text = SHAPELESS.sub("", html.unescape(shown))
    return "".join(sorted({letter for letter in text if ord(letter) not in letters()}))


def _render(translator, node, block: bool) -> str:
    """The MathML of a node; the TeX itself, with a warning, where there is none."""
    tex = node.astext()
    try:
        if re.search(r"\\(eq)?ref(?![a-zA-Z])", tex):
            raise math_core.LatexError("0: A reference inside of a formula leads nowhere.")
        mathml = translator.builder.formulas.mathml(tex, block, not _in_title(node))
    except math_core.LatexError as error:
        logger.warning(
            "this formula cannot be set as MathML: %s Formula: %s. Write it with commands that "
            "math-core knows, or define the unknown one in mathml_macros (_config.yml).",
            re.sub(r"^(\d+):", r"at character \1:", str(error)),
            " ".join(tex.split()),
            location=location(node, translator.builder.current_docname),
            type="mathml",
        )
        return f"<code>{html.escape(tex)}</code>"
    lacking = missing(mathml)
    if lacking:
        logger.warning(
            "the font of formulas lacks %s, used in: %s. Add the letters to "
            "bookext/assets/fonts/make_fonts.py and run it.",
            ", ".join(f"{letter} (U+{ord(letter):04X})" for letter in lacking),
            " ".join(tex.split()),
            location=location(node, translator.builder.current_docname),
            type="mathml",
        )
    return mathml


def _in_title(node) -> bool:
    """Titles are copied into lists and the window's title, where the TeX beside would show."""
    around = node.parent
    while around is not None and not isinstance(around, nodes.section):
        if isinstance(around, nodes.title | nodes.reference):
            return True
        around = around.parent
    return around is None


def visit_math(translator, node):
    classes = "math notranslate nohighlight"
    translator.body.append(translator.starttag(node, "span", "", CLASS=classes))
    translator.body.append(_render(translator, node, block=False) + "</span>")
    raise nodes.SkipNode


def visit_block(translator, node):
    classes = "math notranslate nohighlight" + (" numbered" if node["number"] else "")
    translator.body.append(translator.starttag(node, "div", "", CLASS=classes))
    formula = _render(translator, node, block=True)
    translator.body.append(f'<div class="math-scroll">{formula}</div>')
    if node["number"]:
        number = get_node_equation_number(translator, node)
        translator.body.append(f'<span class="eqno">({number})')
        translator.add_permalink_ref(node, "Link to this equation")
        translator.body.append("</span>")
    translator.body.append("</div>\n")
    raise nodes.SkipNode


def use(app, config):
    config.html_math_renderer = "mathml"


def start(app):
    app.builder.formulas = formulas = Formulas(dict(app.config.mathml_macros))

    def in_list(node) -> str:
        """A formula in a title, as the theme lists it beside the page."""
        try:
            return formulas.mathml(node.astext(), False, False)
        except math_core.LatexError:  # told where the title itself is rendered
            return html.escape(node.astext())

    pydata_sphinx_theme.toctree.add_inline_math = in_list


def setup(app):
    app.add_config_value("mathml_macros", {}, "html", types=[dict])
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_block, None))
    app.connect("config-inited", use)
    app.connect("builder-inited", start)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
