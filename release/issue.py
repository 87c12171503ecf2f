"""Keep one issue of a repository as a report says: ``python -m release.issue TITLE REPORT``.

A weekly report that opens a new issue each week is read once. This one opens an issue where there
is none with its label, writes the text of the one there is, and closes it when the step that was
reported succeeded. ``GITHUB_REPOSITORY`` and ``GH_TOKEN`` say where and by whom.
"""

from __future__ import annotations

import argparse
import json
import os
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import quote

#: GitHub takes 65,536 characters.
LONGEST = 60_000


class Repository:
    """The issues of one repository, by GitHub's REST interface."""

    def __init__(self, name: str, token: str, api: str = "https://api.github.com") -> None:
        self.base = f"{api.rstrip('/')}/repos/{name}"
        self.token = token

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """What GitHub answers; ``urllib`` raises where it refuses."""
        request = urllib.request.Request(
            f"{self.base}/{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Authorization": f"Bearer {self.token}",
                "Accept": "application/vnd.github+json",
                "X-GitHub-Api-Version": "2022-11-28",
                "Content-Type": "application/json",
            },
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def open_issue(self, label: str) -> dict[str, Any] | None:
        """The open issue with a label, the oldest if there are several; never a pull request."""
        found = self.call("GET", f"issues?state=open&labels={quote(label)}&per_page=100")
        issues = [issue for issue in found if "pull_request" not in issue]
        return min(issues, key=lambda issue: issue["number"], default=None)

    def keep(self, label: str, title: str, text: str, *, good: bool) -> str:
        """Open, rewrite or close the one issue; what was done, in words."""
        if len(text) > LONGEST:
            text = text[:LONGEST] + "\n\n(cut off here; the whole report is in the run's summary)"
        there = self.open_issue(label)
        if there is None:
            if good:
                return "nothing to report, and no issue is open"
            made = self.call("POST", "issues", {"title": title, "body": text, "labels": [label]})
            return f"opened #{made['number']}"
        number = there["number"]
        change = {"title": title, "body": text} | ({"state": "closed"} if good else {})
        self.call("PATCH", f"issues/{number}", change)
        return f"{'closed' if good else 'rewrote'} #{number}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m release.issue", description=__doc__)
    parser.add_argument("title")
    parser.add_argument("report", type=Path, help="a file in Markdown")
    parser.add_argument("--label", required=True, help="by which the issue is found again")
    parser.add_argument(
        "--outcome",
        default="failure",
        help="what GitHub says of a step: 'success' closes the issue",
    )
    parser.add_argument("--summary", action="store_true", help="add the report to the run's page")
    options = parser.parse_args(arguments)
    missing = [name for name in ("GITHUB_REPOSITORY", "GH_TOKEN") if not os.environ.get(name)]
    if missing:
        parser.error(f"set {' and '.join(missing)}: which repository, and a token for its issues")
    repository = Repository(
        os.environ["GITHUB_REPOSITORY"],
        os.environ["GH_TOKEN"],
        os.environ.get("GITHUB_API_URL", "https://api.github.com"),
    )
    good = options.outcome == "success"
    if options.report.is_file():
        text = options.report.read_text(encoding="utf-8")
    else:  # the step ended before it could write one
        text, good = f"There is no report ({options.report}): see the run's log.\n", False
    if options.summary and os.environ.get("GITHUB_STEP_SUMMARY"):
        with open(os.environ["GITHUB_STEP_SUMMARY"], "a", encoding="utf-8") as page:
            page.write(f"# {options.title}\n\n{text}")
    print(repository.keep(options.label, options.title, text, good=good))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
