"""A resolved page as plain Markdown that Jupyter, VS Code, Colab and GitHub show alike.

The page's doctree is the source, not its MyST text: references are resolved there, exercises and
equations numbered, glued values formatted. A node that has no plain form stops the build and names
file and line, so that no directive or role reaches a reader raw.
"""

import re
from collections.abc import Callable, Iterator
from textwrap import indent

from docutils import nodes
from markdown_it import MarkdownIt

from bookext.public import is_code_cell
from bookext.source import SourceError

#: Nodes that leave nothing behind.
SILENT = (
    "comment target substitution_definition index docinfo toctree meta sd_tab_input pending "
    "exercise_end_node solution_end_node widget_state colspec bibliography sd_line_break"
).split()
#: Containers that are written as their children.
OPEN = (
    "document section container compound glossary PassthroughTextElement div exercise_node figure "
    "legend only start_of_file bibliography definition"
).split()
TITLES = {"seealso": "See also", "versionmodified": ""}
SPECIAL = re.compile(
    r"[\\`*$]|(?<![^\W_])_|_(?![^\W_])|<(?=[\w/!?])|&(?=#?\w+;)|~(?=~)|\[(?=\^|[^\]]*\][(\[:])"
)
LINE_START = re.compile(r"^(\s*)([#>+-]|\d+[.)])(?=\s)", re.M)
RAW_BLOCK = re.compile(r"^[ >]*(?:`{3,}|~{3,}|:{3,})\s*\{[^}\n]*|^\([\w-]+\)=\s*$", re.M)
RAW_INLINE = re.compile(r"\{[a-z][\w:.+-]*\}`|\]\{[^}]*=[^}]*\}")


class Writer:
    """Writes one page. ``link(node)`` gives a reference's address or None, ``image(node)`` the
    address of a picture, ``number(node)`` the number of an exercise, figure or table, and
    ``anchors(section)`` the labels that lead to a section."""

    def __init__(
        self, path: str, link: Callable, image: Callable, number: Callable, anchors: Callable
    ):
        self.path, self.link, self.image, self.number = path, link, image, number
        self.anchors = anchors
        self.in_table = False

    # ---------------------------------------------------------------------------------- the stream

    def stream(self, node, level: int = 0) -> Iterator[tuple[str, int, str | int]]:
        """("heading" | "text" | "cell", line, Markdown or index of the cell), in order."""
        for child in node.children:
            name = type(child).__name__
            if is_code_cell(child):
                yield "cell", line_of(child), child["cell_index"]
            elif name == "section":
                yield from self.stream(child, level + 1)
            elif name in {"exercise_node", "exercise_enumerable_node"}:
                heading = f"{'#' * min(level + 1, 6)} {self.exercise_title(child)}"
                yield "heading", line_of(child), heading
                yield from self.stream(nodes.container("", *child.children[1:]), level)
            elif name == "title":
                heading = f"{'#' * min(level, 6)} {self.inline(child)}"
                places = self.anchors(node) if level > 1 else ()  # a notebook begins with its title
                places = "".join(f'<a id="{place}"></a>\n\n' for place in places)
                yield "heading", line_of(child), places + heading
            elif name in OPEN and any(child.findall(is_code_cell)):
                yield from self.stream(child, level)
            elif text := self.block(child):
                yield "text", line_of(child), text

    def exercise_title(self, node) -> str:
        title = self.inline(node.children[0]).strip()
        if type(node).__name__ == "exercise_enumerable_node":
            return f"Exercise {self.number(node)} {title}".strip()
        return title or "Exercise"

    # ----------------------------------------------------------------------------------- the blocks

    def blocks(self, children) -> str:
        return "\n\n".join(filter(None, map(self.block, children)))

    def block(self, node) -> str:
        name = type(node).__name__
        if name in SILENT:
            return ""
        method = getattr(self, f"block_{name}", None)
        if method:
            return method(node)
        if is_code_cell(node):
            self.fail(node, "a code cell inside another block")
        component = node.get("design_component") if isinstance(node, nodes.Element) else None
        if component == "card-title":
            return f"**{self.inline(node).strip()}**"
        if name in OPEN:
            return self.blocks(node.children)
        if isinstance(node, (nodes.Admonition, nodes.topic, nodes.sidebar)) or name in TITLES:
            return self.admonition(node)
        if isinstance(node, (nodes.Inline, nodes.Text)) or hasattr(self, f"inline_{name}"):
            return self.one_inline(node).strip()
        return self.fail(node, f"a {name!r}")

    def block_paragraph(self, node):
        text = self.inline(node).strip()
        return LINE_START.sub(r"\1\\\2", text)

    def block_title(self, node):
        return f"**{self.inline(node).strip()}**"

    block_rubric = block_sd_tab_label = block_caption = block_title

    def block_figure(self, node):
        caption = next((c for c in node.children if isinstance(c, nodes.caption)), None)
        rest = [child for child in node.children if child is not caption]
        text = self.blocks(rest)
        if caption is None:
            return text
        number = self.number(node)
        label = f"**Figure {number}.** " if number else ""
        return f"{text}\n\n{label}{self.inline(caption).strip()}"

    def block_image(self, node):
        return self.inline_image(node)

    def block_literal_block(self, node):
        text = node.astext().rstrip()
        language = node.get("language", "")
        if language in {"none", "default", "myst-ansi", "text"}:
            language = ""
        language = "python" if language == "ipython3" else language
        ticks = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", text))])
        return f"{ticks}{language}\n{text}\n{ticks}"

    block_doctest_block = block_literal_block

    def block_math_block(self, node):
        text = node.astext().strip()
        if (number := node.get("number")) and "\\tag" not in text and "\\begin{align" not in text:
            text += f" \\tag{{{number}}}"
        return f"$$\n{text}\n$$"

    def block_bullet_list(self, node):
        return "\n".join(self.item(item, "- ") for item in node.children)

    def block_enumerated_list(self, node):
        first = int(node.get("start", 1))
        return "\n".join(self.item(item, f"{n}. ") for n, item in enumerate(node.children, first))

    def item(self, node, mark: str) -> str:
        text = self.blocks(node.children) or " "
        loose = "\n" if "\n\n" in text else ""
        return mark + indent(text, " " * len(mark)).lstrip() + loose

    def block_definition_list(self, node):
        items = []
        for item in node.children:
            terms = [self.inline(c).strip() for c in item.children if isinstance(c, nodes.term)]
            body = self.blocks(c for c in item.children if isinstance(c, nodes.definition))
            text = f"**{', '.join(terms)}**: {body}"
            items.append("- " + indent(text, "  ").lstrip())
        return "\n".join(items)

    def block_block_quote(self, node):
        return quote(self.blocks(node.children))

    def block_attribution(self, node):
        return f"— {self.inline(node)}"

    def block_transition(self, node):
        return "" if "footnotes" in node.get("classes", []) else "---"

    def block_footnote(self, node):
        label, *body = node.children
        return f"<sup>{label.astext()}</sup> {self.blocks(body)}"

    block_citation = block_footnote

    def block_line_block(self, node):
        return "  \n".join(self.block(child) for child in node.children)

    def block_line(self, node):
        return self.inline(node)

    def block_raw(self, node):
        return node.astext().strip() if "html" in node["format"].split() else ""

    def block_table(self, node):
        title = next((c for c in node.children if isinstance(c, nodes.title)), None)
        head = [row for part in node.findall(nodes.thead) for row in part.children]
        body = [row for part in node.findall(nodes.tbody) for row in part.children]
        self.in_table = True
        rows = [self.row(row) for row in (head[-1:] or [None]) + head[:-1] + body]
        self.in_table = False
        width = max(len(row) for row in rows)
        rows = [row + [""] * (width - len(row)) for row in rows]
        rows.insert(1, alignment((head + body)[0], width))
        table = "\n".join("| " + " | ".join(row) + " |" for row in rows)
        if title is None:
            return table
        number = self.number(node)
        label = f"Table {number}. " if number else ""
        return f"**{label}{self.inline(title).strip()}**\n\n{table}"

    def row(self, row) -> list[str]:
        cells: list[str] = []
        for entry in row.children if row is not None else []:
            parts = self.blocks(entry.children).split("\n\n")
            cells.append("<br>".join(part.replace("\n", " ") for part in parts))
            cells += [""] * int(entry.get("morecols", 0))
        return cells

    def admonition(self, node) -> str:
        name = type(node).__name__
        children = list(node.children)
        if name == "solution_node" or isinstance(children[0] if children else None, nodes.title):
            title = self.inline(children.pop(0)).strip()
        else:
            title = TITLES.get(name, name.capitalize())
        body = self.blocks(children)
        if "dropdown" in node.get("classes", []):
            return details(title, body)
        return quote(f"**{title}**\n\n{body}" if title else body)

    def block_dropdown_main(self, node):
        title, *body = node.children
        return details(self.inline(title).strip(), self.blocks(body))

    def block_widget_view(self, node):
        return self.blocks(node.children)

    # ---------------------------------------------------------------------------------- the inlines

    def inline(self, node) -> str:
        return "".join(map(self.one_inline, node.children))

    def one_inline(self, node) -> str:
        name = type(node).__name__
        if name in SILENT:
            return ""
        method = getattr(self, f"inline_{name}", None)
        if method:
            return method(node)
        if name in {"paragraph", "container"}:  # glued Markdown inside a line
            return self.inline(node)
        return self.fail(node, f"the role or inline {name!r}")

    def inline_Text(self, node):
        text = SPECIAL.sub(lambda match: escape(match.group()), node.astext())
        return text.replace("|", "\\|") if self.in_table else text

    def inline_inline(self, node):
        classes = node.get("classes", [])
        if "sd-summary-state-marker" in classes:
            return ""
        text = self.inline(node)
        if "bibtex-citation" in classes:
            return self.citation(node)
        language = node.get("lang")
        return f'<span lang="{language}">{text}</span>' if language else text

    def citation(self, node) -> str:
        """In round brackets: square ones mean links in Markdown."""
        node = node.deepcopy()
        for text in list(node.findall(nodes.Text)):
            if not isinstance(text.parent, nodes.reference):
                new = text.astext().replace("[", "(").replace("]", ")")
                text.parent.replace(text, nodes.Text(new))
        return self.inline(node)

    inline_generated = inline_title_reference = inline_term = inline_inline
    inline_PassthroughTextElement = inline_inline

    def inline_emphasis(self, node):
        return wrap(self.inline(node), "*", "*")

    def inline_strong(self, node):
        return wrap(self.inline(node), "**", "**")

    def inline_literal(self, node):
        text = node.astext().replace("\n", " ")
        ticks = "`" * (max([0, *map(len, re.findall("`+", text))]) + 1)
        pad = " " if text.startswith("`") or text.endswith("`") else ""
        text = text.replace("|", "\\|") if self.in_table else text
        return f"{ticks}{pad}{text}{pad}{ticks}"

    inline_literal_strong = inline_literal_emphasis = inline_literal

    def inline_math(self, node):
        text = node.astext().strip()
        return f"${text.replace('|', chr(92) + '|') if self.in_table else text}$"

    def inline_subscript(self, node):
        return f"<sub>{self.inline(node)}</sub>"

    def inline_superscript(self, node):
        return f"<sup>{self.inline(node)}</sup>"

    def inline_abbreviation(self, node):
        said = node.get("explanation")
        return f"{self.inline(node)} ({said})" if said else self.inline(node)

    def inline_reference(self, node):
        text, address = self.inline(node), self.link(node)
        if not address and "sd-hide-link-text" in node.get("classes", []):
            return ""  # a card that leads to a page without notebook
        return wrap(text, "[", f"]({address})") if address else text

    inline_number_reference = inline_download_reference = inline_reference

    def inline_footnote_reference(self, node):
        return f"<sup>{node.astext()}</sup>"

    def inline_raw(self, node):
        return node.astext() if "html" in node["format"].split() else ""

    def inline_image(self, node):
        alt = re.sub(r"([\[\]])", r"\\\1", " ".join(node.get("alt", "").split()))
        return f"![{alt}]({self.image(node)})"

    inline_widget_picture = block_widget_picture = inline_image

    # -------------------------------------------------------------------------------------- failing

    def fail(self, node, what: str):
        raise SourceError(
            self.path,
            line_of(node),
            f"{what} has no plain Markdown form for the notebook: "
            f"{node.astext()[:60]!r}. Say it with a directive that bookext/markdown.py knows, or "
            "teach it this one",
        )


def alignment(row, width: int) -> list[str]:
    marks = {"text-right": "--:", "text-center": ":-:", "text-left": ":--"}
    found = [
        next((marks[name] for name in entry.get("classes", []) if name in marks), "---")
        for entry in row.children
    ]
    return (found + ["---"] * width)[:width]


def escape(text: str) -> str:
    return {"<": "&lt;", "&": "&amp;"}.get(text, "\\" + text)


def wrap(text: str, first: str, last: str) -> str:
    """Markup that leaves blanks outside, or Markdown does not see it."""
    inner = text.strip()
    if not inner:
        return text
    before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    return f"{before}{first}{inner}{last}{after}"


def quote(text: str) -> str:
    return indent(text, "> ", lambda line: True).replace("> \n", ">\n").rstrip()


def details(title: str, body: str) -> str:
    """A box that unfolds. A formula stands above it: VS Code shows none inside of an HTML tag."""
    above = ""
    if re.search(r"(?<!\\)\$", title):
        above, title = f"{title}\n\n", "Answer" if title.endswith("?") else "Unfold"
    title = MarkdownIt().renderInline(title)  # in an HTML tag Markdown is not rendered
    return f"{above}<details>\n<summary>{title}</summary>\n\n{body}\n\n</details>"


def line_of(node) -> int:
    """The line of a node, or the nearest that has one."""
    if getattr(node, "line", None):
        return node.line
    if isinstance(node, nodes.Element):
        for child in node.findall():
            if getattr(child, "line", None):
                return child.line
    while node.parent is not None:
        node = node.parent
        if getattr(node, "line", None):
            return node.line
    return 1


def raw_myst(markdown: str) -> str | None:
    """What looks like a directive, role, label or comment of MyST outside of code, if anything."""
    prose = re.sub(r"^( *>? *)(`{3,})[^{\n]*\n.*?\n\1\2`*\s*$", "", markdown, flags=re.M | re.S)
    spans = re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "`", prose, flags=re.S)
    match = RAW_BLOCK.search(prose) or RAW_INLINE.search(spans)
    return match.group().strip() if match else None
