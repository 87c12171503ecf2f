"""Publish the built book: where it will stand, and the push to the branch that Pages serve.

``python -m release.pages address OWNER/NAME`` prints the two variables that the build reads
(``COURSE_URL``, ``COURSE_REPOSITORY``), so that a fork's pages know the fork's addresses.
``python -m release.pages publish _build/html`` makes one commit of the site and replaces the branch
with it. Colab and Binder open notebooks from that branch. A file CNAME in it, by which Pages know a
domain of one's own, is kept. In a workflow Pages are asked to serve what was pushed.
"""

from __future__ import annotations

import argparse
import base64
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from urllib.error import HTTPError

from release import issue

BRANCH = "gh-pages"
#: Pages write it to the branch when a domain is set, and forget the domain when it is gone.
DOMAIN = "CNAME"
#: GitHub refuses a larger file; it warns from half of it on.
LARGEST = 100_000_000


def address(repository: str, url: str = "") -> dict[str, str]:
    """The variables for a GitHub repository; ``url`` where it has a domain of its own.

    >>> address("Owner/course")["COURSE_URL"]
    'https://owner.github.io/course/'
    >>> address("owner/Owner.github.io")["COURSE_URL"]
    'https://owner.github.io/'
    """
    owner, _, name = repository.strip().partition("/")
    if not re.fullmatch(r"[\w-]+/[\w.-]+", repository.strip()):
        raise ValueError(f"the repository is {repository!r}; expected owner/name, as GitHub has it")
    host = f"{owner.lower()}.github.io"
    ours = f"https://{host}/" if name.lower() == host else f"https://{host}/{name}/"
    return {"COURSE_URL": url.strip() or ours, "COURSE_REPOSITORY": f"{owner}/{name}"}


def publish(site: Path, remote: str, branch: str = BRANCH, message: str = "Publish") -> str:
    """Replace a branch of ``remote`` with one commit that holds the site; the commit."""
    if not (site / "index.html").is_file():
        raise FileNotFoundError(f"{site} holds no book (no index.html); run: make book")
    large = [p for p in site.rglob("*") if p.is_file() and p.stat().st_size > LARGEST]
    if large:
        raise ValueError(f"over {LARGEST / 1e6:.0f} MB, which GitHub refuses: {large[0]}")
    with tempfile.TemporaryDirectory() as made:
        copy = Path(made) / "site"
        shutil.copytree(site, copy)
        (copy / ".nojekyll").touch()  # or Pages would leave out _static and its like

        def git(*arguments: str) -> str:
            done = subprocess.run(
                ["git", *arguments],
                cwd=copy,
                env=os.environ | access(),
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                raise RuntimeError(f"git {arguments[0]} failed:\n{done.stderr.strip()}")
            return done.stdout.strip()

        git("init", "--quiet", "--initial-branch", branch)
        for key, value in IDENTITY.items():
            git("config", key, value)
        if git("ls-remote", "--heads", remote, branch):
            git("fetch", "--quiet", "--depth", "1", remote, branch)
            if git("ls-tree", "--name-only", "FETCH_HEAD", DOMAIN):
                (copy / DOMAIN).write_text(git("show", f"FETCH_HEAD:{DOMAIN}") + "\n")
        git("add", "--all", "--force")
        git("commit", "--quiet", "--message", message)
        git("push", "--quiet", "--force", remote, f"HEAD:refs/heads/{branch}")
        return git("rev-parse", "HEAD")


#: Who a workflow commits as: the account that GitHub shows for its own tokens.
IDENTITY = {
    "user.name": "github-actions[bot]",
    "user.email": "41898282+github-actions[bot]@users.noreply.github.com",
    "core.autocrlf": "false",
}


def access() -> dict[str, str]:
    """Git's own variables for a token in ``GH_TOKEN``: it stands in no command and no file."""
    token = os.environ.get("GH_TOKEN", "")
    if not token:
        return {}
    secret = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    return {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "http.extraHeader",
        "GIT_CONFIG_VALUE_0": f"Authorization: Basic {secret}",
    }


def serve() -> str:
    """Ask Pages to serve the branch; what came of it. A push by a workflow's own token need not
    start that, as GitHub's documentation has it."""
    name, token = os.environ.get("GITHUB_REPOSITORY"), os.environ.get("GH_TOKEN")
    if not name or not token:
        return "Pages were not asked to serve it: GITHUB_REPOSITORY and GH_TOKEN are not set"
    try:
        api = os.environ.get("GITHUB_API_URL", "https://api.github.com")
        issue.Repository(name, token, api).call("POST", "pages/builds")
    except HTTPError as refused:
        return (
            f"Pages did not take it ({refused.code}). Are they switched on? Settings, Pages, "
            f'"Deploy from a branch", {BRANCH}, /(root)'
        )
    return "Pages were asked to serve it"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m release.pages", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    where = commands.add_parser("address", help="print COURSE_URL and COURSE_REPOSITORY")
    where.add_argument("repository", help="owner/name")
    where.add_argument("--url", default="", help="the address, if it is not GitHub's own")
    push = commands.add_parser("publish", help="replace the branch gh-pages with a built site")
    push.add_argument("site", type=Path)
    push.add_argument("--remote", required=True, help="a Git remote or its address")
    push.add_argument("--message", default="Publish")
    options = parser.parse_args(arguments)
    if options.command == "address":
        print("\n".join(f"{k}={v}" for k, v in address(options.repository, options.url).items()))
    else:
        print(publish(options.site, options.remote, message=options.message))
        print(serve())
    return 0


if __name__ == "__main__":
    try:
        raise SystemExit(main())
    except (FileNotFoundError, ValueError, RuntimeError) as error:
        raise SystemExit(f"release.pages: {error}") from None
