"""Where the book is published: one place for addresses, which the environment may override.

``_config.yml`` says ``html.baseurl`` (the address of the site, "" while it has none) and
``repository`` (its ``url``, "" for none, and the ``branch`` that holds the *published* site, which
Colab and Binder open notebooks from). ``COURSE_URL`` and ``COURSE_REPOSITORY`` override both, so
that a fork's workflow publishes with the fork's own addresses and without an edit.

The theme would take the same options to point Colab and Binder at .md files, which they cannot
open; so it does not get them.
"""

import os
import re
from typing import NamedTuple
from urllib.parse import quote

from sphinx.errors import ConfigError

BRANCH = "gh-pages"
OWNED = ("launch_buttons", "repository_url", "repository_branch", "path_to_docs")
PART = re.compile(r"\w[\w.-]*")
#: A host, perhaps its port, and a path; nobody's password, and nothing that ends a string of code.
ADDRESS = re.compile(
    r"""(?P<host>https?://\w[\w.-]*(:\d+)?)(?P<path>(/[^\s"<>\\^`{|}?#]*)?)""", re.IGNORECASE
)


class Repository(NamedTuple):
    """Where the published site is kept; the owner of a GitLab project may be a path."""

    url: str
    host: str
    owner: str
    name: str
    branch: str


def site(config) -> str:
    """The address of the published site, with a slash at its end, or "" when it has none."""
    said = os.environ.get("COURSE_URL", "").strip() or (config.html_baseurl or "").strip()
    if not said:
        return ""
    found = ADDRESS.fullmatch(said)
    if not found or found["path"].endswith((".html", ".htm")):
        raise ConfigError(
            f"the address of the site is {said!r}; expected that of its folder, such as "
            "https://owner.github.io/course/ (html: baseurl in _config.yml, or COURSE_URL in the "
            "environment), or nothing"
        )
    # pages, sitemap and notebooks get it as it goes over the wire; a % has been encoded already
    return found["host"].lower() + quote(found["path"].rstrip("/"), safe="/%:@!$&'()*+,;=~") + "/"


def repository(config) -> Repository | None:
    """The repository that holds the published site, or None."""
    return config.bookext_repository


def read_repository(said: str, branch: str = BRANCH) -> Repository | None:
    """A repository from its address as people write it: ``owner/name`` means GitHub."""
    text = re.sub(r"^(https?://|ssh://)?(git@)?", "", said.strip()).replace(":", "/", 1)
    text = re.split(r"[?#]|/(?:-/)?(?:tree|blob)/", text)[0].strip("/").removesuffix(".git")
    if not said.strip():
        return None
    host, _, path = text.partition("/")
    if "." not in host:
        host, path = "github.com", text
        named = re.match(r"https?://|ssh://|git@", said.strip())
    else:
        named = None
    host = host.lower().removeprefix("www.")
    *owner, name = path.split("/")
    right = all(PART.fullmatch(part) for part in (*owner, name)) and owner and not named
    if not right or (host == "github.com" and len(owner) != 1):
        raise ConfigError(
            f"the repository is {said!r}; expected owner/name or an address such as "
            "https://github.com/owner/name (repository: url in _config.yml, or COURSE_REPOSITORY "
            "in the environment), or nothing"
        )
    if not re.fullmatch(r"[\w.-]+(/[\w.-]+)*", branch):
        raise ConfigError(
            f"repository: branch is {branch!r}; expected the name of the branch that holds the "
            f"published site, such as {BRANCH}"
        )
    address = f"https://{host}/{'/'.join(owner)}/{name}"
    return Repository(address, host, "/".join(owner), name, branch)


def use(app, config):
    """Before anything else reads an address: `html_baseurl` is "" or ends with a slash."""
    config.html_baseurl = site(config)
    options = dict(config.html_theme_options)
    theirs = {name: options.pop(name, None) or "" for name in OWNED}
    config.html_theme_options = options
    said = os.environ.get("COURSE_REPOSITORY", "").strip() or theirs["repository_url"]
    config.bookext_repository = read_repository(said, theirs["repository_branch"] or BRANCH)
    config.bookext_launch = dict(theirs["launch_buttons"] or {})


def tell_pages(app, pagename, templatename, context, doctree) -> None:
    """The foot of each page links the project, which a reader needs to build the book."""
    place = repository(app.config)
    context["project_address"] = place.url if place else ""


def setup(app):
    app.add_config_value("bookext_repository", None, "html", [Repository])
    app.add_config_value("bookext_launch", {}, "html", [dict])
    app.connect("config-inited", use, priority=100)
    app.connect("html-page-context", tell_pages)
    return {"version": "0.1", "parallel_read_safe": True, "parallel_write_safe": True}
