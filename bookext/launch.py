"""One line under each page's title: open its notebook in Colab or Binder, download it, its source.

Colab and Binder are given the *published* notebook, never the page's .md file, which Colab cannot
open and Binder shows as text. Without a repository in the configuration there is no such link, and
none for a host that the service does not know (Colab reads GitHub alone). ``launch_buttons`` in
``_config.yml`` has the addresses of both services; an empty one leaves its link out.
"""

import re
from html import escape
from pathlib import Path
from urllib.parse import quote, urlencode

from bookext.address import Repository, repository
from bookext.notebooks import makes_downloads, name_of, notebook_pages

WHOLE = "attention-measured.zip"
#: BinderHub's names of hosts.
BINDER = {"github.com": "gh", "gitlab.com": "gl"}


def colab(service: str, place: Repository, path: str) -> str:
    """Colab's address of a file in the repository; "" where Colab cannot open it."""
    if not service or place.host != "github.com":
        return ""
    branch = quote(place.branch, safe="")
    return f"{service.rstrip('/')}/github/{place.owner}/{place.name}/blob/{branch}/{quote(path)}"


def binder(service: str, place: Repository, path: str) -> str:
    """Binder's address of a file in the repository, in JupyterLab; "" for a host it lacks."""
    kind = BINDER.get(place.host)
    if not service or not kind:
        return ""
    # a path of groups is one part of the address at GitLab, and two parts are at GitHub
    project = f"{place.owner}/{place.name}"
    project = quote(project, safe="/" if kind == "gh" else "")
    query = urlencode({"urlpath": f"lab/tree/{quote(path)}"})
    return f"{service.rstrip('/')}/v2/{kind}/{project}/{quote(place.branch, safe='')}?{query}"


def launches(config, path: str) -> list[tuple[str, str]]:
    """(what is written on the link, its address) of each service that can open the file."""
    place = repository(config)
    if place is None:
        return []
    services = config.bookext_launch
    found = [
        ("Open in Colab", colab(services.get("colab_url", ""), place, path)),
        ("Open in Binder", binder(services.get("binderhub_url", ""), place, path)),
    ]
    return [(words, url) for words, url in found if url]


def line(opened: list[tuple[str, str]], files: list[tuple[str, str]], whole: str = "") -> str:
    """The line's markup. ``whole`` is the address of the course's zip, which does not hold
    itself: what is in ``online`` is left out of it."""
    parts = [f'<a class="launch" href="{escape(url)}">{words}</a>' for words, url in opened]
    links = [f'<a href="{escape(url)}" download>{words}</a>' for words, url in files]
    said = " · ".join(links)
    if whole:
        url = escape(whole)
        said += f'<span class="online"> · <a href="{url}" download>whole course (zip)</a></span>'
    parts.append(f"<span>Download: {said}</span>")
    return f'<p class="page-downloads">{" ".join(parts)}</p>'


def add_line(app, pagename, templatename, context, doctree) -> None:
    """Put it under the title of each page that has a source of its own."""
    if doctree is None or not makes_downloads(app) or pagename not in app.env.found_docs:
        return
    if Path(app.env.doc2path(pagename)).suffix != ".md":
        return
    name, opened, whole = name_of(pagename), [], ""
    files = [("MyST source", context["pathto"](f"sources/{name}.md", resource=True))]
    if pagename in notebook_pages(app):
        path = f"notebooks/{name}.ipynb"
        files.insert(0, ("notebook", context["pathto"](path, resource=True)))
        opened = launches(app.config, path)
    if pagename == app.config.root_doc and "bookext_offline" in app.config:
        whole = context["pathto"](WHOLE, resource=True)
    added, body = line(opened, files, whole), context.get("body", "")
    context["body"] = re.sub(r"</h1>", lambda end: f"</h1>\n{added}", body, count=1)
    if context["body"] == body:
        context["body"] = added + body


def setup(app):
    app.connect("html-page-context", add_line)
    return {"version": "0.1", "parallel_read_safe": True, "parallel_write_safe": True}
