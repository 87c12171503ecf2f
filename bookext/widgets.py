"""Widgets on the static page: a picture, the saved state, and a small host of our own.

An output that holds a widget becomes ``<div class="attn-widget">`` with the static picture of the
same output, one line for readers without JavaScript, and the view script. The page carries the
state of the models that its views need and nothing else, and ``assets/widget-host.js`` mounts them.
html-manager, require.js and their CDNs, which myst-nb would add, are not used.

The steps, in Sphinx's order: a mime renderer turns a view into a node; when the doctree has been
read, the saved state leaves myst-nb's list of scripts and becomes a node too; a post-transform puts
picture and view together, before myst-nb chooses one mime type; a late one, when it is known which
views stay on the page, reduces the state to them. The picture's text and size are alttext.py's.
"""

import html
import json
import math
import re
from collections import Counter
from pathlib import Path
from shutil import copyfile
from textwrap import shorten

from docutils import nodes
from myst_nb.core.render import WIDGET_STATE_MIMETYPE, WIDGET_VIEW_MIMETYPE, load_mime_renders
from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging

from bookext.language import in_markup

ASSETS = Path(__file__).parent / "assets"
HOST, STYLE = "widget-host.js", "widget-host.css"
#: What may stand for the widget where it does not run, best first.
PICTURES = (
    "image/svg+xml",
    "image/png",
    "image/jpeg",
    "image/gif",
    "text/html",
    "text/plain",
)
#: Builders that make HTML but run no scripts: they get the picture as if it were the only output.
SCRIPTLESS = ("epub", "applehelp", "devhelp", "htmlhelp", "qthelp")
#: Widths in rem at which the page can keep a height free (widget-host.css). A widget says its
#: heights in the metadata of its view: {"heights": {"0": 60, "42": 40}}, in rem, from a width on.
WIDTHS = (0, 20, 21, 22, 23.5, 25, 30, 42, 45, 50)
NO_SCRIPT = "This widget needs JavaScript; what stands here is its state at the start."
NO_KERNEL = "This control needs a running notebook."
NO_STATE = "The saved state of this widget is missing on this page."

#: Traits that only a Jupyter front end reads, and those of every DOMWidget where they say nothing.
FRONT_END_ONLY = re.compile(r"_(model|view)_(name|module|module_version|count)$")
SILENT = {"tabbable": None, "tooltip": None, "_dom_classes": []}
REFERENCE = re.compile(r"(?:IPY_MODEL_|anywidget:)(\w+)$")
LINKS = ("LinkModel", "DirectionalLinkModel")
#: The same as in widget-host.js: a module that is an address or imports from one is never loaded.
REMOTE = re.compile(r"^\s*https?://|\b(?:from|import)\s*\(?\s*[\"'`]https?://", re.IGNORECASE)
#: The caption on paper: the first sentence of the picture's text, no longer than that.
FIRST_SENTENCE = re.compile(r".*?[.?!](?=\s|$)|.*", re.DOTALL)
LONGEST_CAPTION = 180
SHARED_FROM = 256  # characters: below that, a reference saves nothing

logger = logging.getLogger(__name__)


# ---------------------------------------------------------------------------------------- the state


def references(value):
    """The ids of the models that a trait's value refers to, at any depth."""
    if isinstance(value, str):
        match = REFERENCE.match(value)
        return {match[1]} if match else set()
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, list):
        return set()
    return set().union(*map(references, value))


def is_mountable(model):
    return isinstance(model["state"].get("_esm"), str)


def is_default(model):
    """Whether a layout asks for nothing."""
    return all(value is None for name, value in model["state"].items() if name[0] != "_")


def height(models, model):
    """The height that the layout of a model asks for, which the page keeps free from the start."""
    layouts = [
        models[key]["state"] for key in references(model["state"].get("layout")) & models.keys()
    ]
    asked = next((str(layout.get("min_height")) for layout in layouts), "")
    return asked if re.fullmatch(r"\d+(\.\d+)?(px|r?em|vh|vw)", asked) else None


def heights(metadata):
    """The height in rem at each of WIDTHS that a view's metadata states, or nothing.

    >>> heights({"heights": {"0": 60, "42": 40}})
    [60.0, 60.0, 60.0, 60.0, 60.0, 60.0, 60.0, 40.0, 40.0, 40.0]
    """
    try:
        stated = sorted((float(w), float(h)) for w, h in metadata["heights"].items())
    except (AttributeError, KeyError, TypeError, ValueError):
        return []
    if not stated or not all(math.isfinite(h) and h > 0 for _, h in stated):
        return []
    return [next((h for w, h in reversed(stated) if w <= width), stated[0][1]) for width in WIDTHS]


def tidy(value):
    """The value as JSON can say it: NaN and infinities by name, which is how Jupyter sends them."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {key: tidy(item) for key, item in value.items()}
    return [tidy(item) for item in value] if isinstance(value, list) else value


def page_state(models, views):
    """The state that a page with these views needs, in the notebook format's widget-state schema.

    Models that no view reaches are left out, so are empty layouts and what only Jupyter reads. A
    long text that several models have in common (a module, a style sheet, a table) is put once, in
    ``texts``; a model's ``shared`` says which trait has which.

    >>> page_state({"a": {"state": {"_esm": "x", "n": 1}}, "b": {"state": {}}}, ["a"])["state"]
    {'a': {'state': {'_esm': 'x', 'n': 1}}}
    """
    kept = {}
    queue = [view for view in views if view in models and is_mountable(models[view])]
    while queue or (queue := _links_between(models, kept)):
        name = queue.pop()
        if name in kept or name not in models:
            continue
        state = {
            key: tidy(value)
            for key, value in models[name]["state"].items()
            if not FRONT_END_ONLY.match(key) and not (key in SILENT and value == SILENT[key])
        }
        layout = references(state.get("layout"))
        if any(key not in models or is_default(models[key]) for key in layout):
            del state["layout"]
        kept[name] = {"state": state}
        if models[name].get("model_name") in LINKS:
            kept[name]["model_name"] = models[name]["model_name"]
        if buffers := models[name].get("buffers"):
            kept[name]["buffers"] = buffers
        queue.extend(sorted(references(state)))
    return {"version_major": 2, "version_minor": 0, "state": kept} | _share(kept)


def _links_between(models, kept):
    """The jslinks whose two ends are both on the page."""
    return [
        name
        for name, model in models.items()
        if model.get("model_name") in LINKS
        and name not in kept
        and references([model["state"].get("source"), model["state"].get("target")]) <= kept.keys()
    ]


def _share(kept):
    """Move the long texts that several models have in common into one table."""
    counts = Counter(
        value
        for model in kept.values()
        for value in model["state"].values()
        if isinstance(value, str) and len(value) >= SHARED_FROM
    )
    keys = {text: f"t{i}" for i, text in enumerate(t for t, count in counts.items() if count > 1)}
    for model in kept.values():
        shared = {
            name: keys[value]
            for name, value in model["state"].items()
            if isinstance(value, str) and value in keys
        }
        if shared:
            model["shared"] = shared
            for name in shared:
                del model["state"][name]
    return {"texts": {key: text for text, key in keys.items()}} if keys else {}


def script(mime, data):
    """A script element with JSON in it. No ``<`` is left, so no string can end or nest it."""
    body = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    return f'<script type="{mime}">{body}</script>\n'


# ---------------------------------------------------------------------------------------- the nodes


class widget_view(nodes.General, nodes.Element):
    """One view of a model; its children are what stands for it where it does not run."""


class widget_state(nodes.Invisible, nodes.Element):
    """The saved state of the models of a document."""


class WidgetRenderer:
    """myst-nb's plugin for widget views (``MimeRenderPlugin``)."""

    mime_priority_overrides = tuple((builder, WIDGET_VIEW_MIMETYPE, None) for builder in SCRIPTLESS)

    @staticmethod
    def handle_mime(renderer, data, inline):
        if data.mime_type != WIDGET_VIEW_MIMETYPE:
            return None
        stated = heights(data.output_metadata.get(WIDGET_VIEW_MIMETYPE))
        return [widget_view(model_id=data.content["model_id"], inline=inline, heights=stated)]


def take_state(app, doctree):
    """Move the saved state from the head, where myst-nb puts it, to the end of the page."""
    scripts = NbMetadataCollector.get_js_files(app.env, app.env.docname)
    _, attributes = scripts.pop("ipywidgets_state", (None, None))
    if attributes:
        doctree += widget_state(models=json.loads(attributes["body"])["state"])


class PairPictures(SphinxPostTransform):
    """Give each view the picture of its output."""

    default_priority = 3  # myst-nb picks one mime type of the bundle at 4

    def run(self, **kwargs):
        for view in list(self.document.findall(widget_view)):
            types = {
                box["mime_type"]: box.children
                for box in view.parent.parent or ()
                if isinstance(box, nodes.container) and "mime_type" in box
            }
            mime = next((mime for mime in PICTURES if types.get(mime)), None)
            if mime is None:
                continue
            view += [child.deepcopy() for child in types[mime]]
            for image in view.findall(nodes.image):
                # Sphinx would make a link of an image with a size of its own.
                image["classes"].append("no-scaled-link")


class ReduceState(SphinxPostTransform):
    """Keep the state of the views that are still on the page when all else has been removed."""

    default_priority = 900

    def run(self, **kwargs):
        states = list(self.document.findall(widget_state))
        models = {name: model for node in states for name, model in node["models"].items()}
        views = list(self.document.findall(widget_view))
        for view in views:
            model = models.get(view["model_id"])
            view["live"] = model is not None and is_mountable(model)
            view["note"] = NO_STATE if model is None else NO_KERNEL
            view["height"] = height(models, model) if view["live"] else None
            needs = page_state(models, [view["model_id"]])["state"]
            if model is None:
                self.warn(
                    "state",
                    view,
                    "a widget is shown, but its state was not saved, so it cannot run on the page. "
                    "Let the build execute the notebook that makes it, on the page that shows it.",
                )
            elif any(REMOTE.search(models[need]["state"].get("_esm", "")) for need in needs):
                self.warn(
                    "remote",
                    view,
                    "the module of a widget is to be fetched from another site, which the page "
                    "will not do: the picture stays. Put the code itself into _esm.",
                )
        shown = [view["model_id"] for view in views if view["live"]]
        for node in states:
            node["models"] = page_state(node["models"], shown)

    def warn(self, subtype, view, message):
        logger.warning(message, type="widgets", subtype=subtype, location=view)


# ------------------------------------------------------------------------------------------ writing


def visit_view(self, node):
    live, inline = node.get("live"), node["inline"]
    state = "" if live else ' data-attn-state="static"'
    names, style = "attn-widget", []
    if node.get("height"):
        style.append(f"--attn-height: {node['height']}")
    elif live and not inline and node.get("heights"):
        names += " attn-sized"
        style += [f"--attn-{step}: {size:g}rem" for step, size in enumerate(node["heights"])]
    if style:
        state += f' style="{"; ".join(style)}"'
    self.body.append(f'<{_tag(node)} class="{names}"{state}>\n')
    if node.children:
        only_text = "" if any(node.findall(nodes.image)) else " attn-text"
        self.body.append(f'<{_tag(node)} class="attn-picture{only_text}">\n')


def depart_view(self, node):
    if node.children:
        self.body.append(f"</{_tag(node)}>\n")
    if node.get("live"):
        self.body.append(f'<noscript><{_line(node)} class="attn-note">{NO_SCRIPT}</{_line(node)}>')
        self.body.append("</noscript>\n")
        view = {"version_major": 2, "version_minor": 0, "model_id": node["model_id"]}
        self.body.append(script(WIDGET_VIEW_MIMETYPE, view))
        if not node["inline"]:
            self.body.append(_on_paper(self, node))
    else:
        self.body.append(f'<{_line(node)} class="attn-note">{node["note"]}</{_line(node)}>\n')
    self.body.append(f"</{_tag(node)}>\n")


def _on_paper(translator, node):
    """The line under a printed picture: what it shows, and where it moves."""
    shown = next((image.get("alt", "") for image in node.findall(nodes.image)), "")
    shown = FIRST_SENTENCE.match(shown)[0]
    if len(shown) > LONGEST_CAPTION:  # what follows a colon are the numbers, which the picture has
        head = re.split(r"[:;] ", shown[:LONGEST_CAPTION])
        shown = (
            f"{head[0]}." if len(head) > 1 else shorten(shown, LONGEST_CAPTION, placeholder=" …")
        )
    base = translator.builder.config.html_baseurl
    where = "on the page"
    if base:
        docname = translator.builder.current_docname
        address = base + translator.builder.get_target_uri(docname)
        section = node
        while section is not None and not isinstance(section, nodes.section):
            section = section.parent
        address = html.escape(address + (f"#{section['ids'][0]}" if section else ""))
        where = f'at <a class="printed" href="{address}">{address}</a>'
    if shown and shown[-1] not in ".?!…":
        shown += "."
    words = in_markup(html.escape(f"{shown} ".lstrip(), quote=False))
    return f'<p class="attn-paper">{words}Interactive {where}.</p>\n'


def _tag(node):
    return "span" if node["inline"] else "div"


def _line(node):
    return "span" if node["inline"] else "p"


def visit_state(self, node):
    if node["models"].get("state"):
        self.body.append(script(WIDGET_STATE_MIMETYPE, node["models"]))
    raise nodes.SkipNode


def skip(self, node):
    raise nodes.SkipNode


def go_on(self, node):
    """Other formats get the picture: the children are written as they are."""


def add_host(app, pagename, templatename, context, doctree):
    """Load the host where there is something to mount, its style where a widget stands."""
    views = list(doctree.findall(widget_view)) if doctree else []
    if views:
        app.add_css_file(STYLE)
    if any(view.get("live") for view in views):
        app.add_js_file(HOST, loading_method="defer")


def copy_assets(app):
    """Before the pages are written: Sphinx puts a checksum of the files into their addresses."""
    if app.builder.format == "html":
        target = Path(app.outdir, "_static")
        target.mkdir(parents=True, exist_ok=True)
        for name in (HOST, STYLE):
            copyfile(ASSETS / name, target / name)


def without_cdn(app, config):
    config.nb_ipywidgets_js = {}


def setup(app):
    if WidgetRenderer not in load_mime_renders():
        # The documented way is an entry point, which an extension that is never installed lacks.
        load_mime_renders().append(WidgetRenderer)
    others = {name: (go_on, go_on) for name in ("latex", "text", "man", "texinfo")}
    app.add_node(widget_view, html=(visit_view, depart_view), **others)
    others = {name: (skip, None) for name in ("latex", "text", "man", "texinfo")}
    app.add_node(widget_state, html=(visit_state, None), **others)
    app.add_post_transform(PairPictures)
    app.add_post_transform(ReduceState)
    app.connect("config-inited", without_cdn, priority=400)
    app.connect("doctree-read", take_state)
    app.connect("builder-inited", copy_assets)
    app.connect("html-page-context", add_host)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
