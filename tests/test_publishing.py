"""Publishing: the address of a fork, the branch that is served, one issue, addresses outside."""

import json
import os
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from release import issue, links, pages


@pytest.fixture
def serve():
    """Start a server whose handler is a function of method, path and body; its address."""
    running = []

    def start(answer):
        class Handler(BaseHTTPRequestHandler):
            def reply(self):
                length = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(length)) if length else None
                status, headers, said = answer(self.command, self.path, body)
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(said)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(said)

            do_GET = do_HEAD = do_POST = do_PATCH = reply

            def log_message(self, *_):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        running.append((server, thread))
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server, thread in running:
        server.shutdown()
        server.server_close()
        thread.join()


# ------------------------------------------------------------------------------------------ pages


@pytest.mark.parametrize(
    ("repository", "url", "site"),
    [
        ("Owner/attention", "", "https://owner.github.io/attention/"),
        ("Owner/owner.github.io", "", "https://owner.github.io/"),
        ("owner/attention", "https://attention.example.org/", "https://attention.example.org/"),
    ],
)
def test_a_fork_is_published_under_its_own_address(repository, url, site, capsys):
    assert pages.main(["address", repository, "--url", url]) == 0
    said = dict(line.split("=", 1) for line in capsys.readouterr().out.splitlines())
    assert said == {"COURSE_URL": site, "COURSE_REPOSITORY": repository}


@pytest.mark.parametrize("repository", ["attention", "", "a/b/c", "https://github.com/a/b"])
def test_what_is_no_repository_is_refused(repository):
    with pytest.raises(ValueError, match="expected owner/name"):
        pages.address(repository)


def git(*arguments, cwd):
    done = subprocess.run(["git", *arguments], cwd=cwd, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_publishing_replaces_the_branch_by_one_commit(tmp_path):
    remote, site = tmp_path / "remote.git", tmp_path / "site"
    git("init", "--bare", "--quiet", str(remote), cwd=tmp_path)
    (site / "_static").mkdir(parents=True)
    (site / "index.html").write_text("first")
    (site / "old.html").write_text("gone later")
    (site / "_static" / "one.ipynb").write_text("{}")
    (site / ".gitignore").write_text("*.ipynb\n")
    pages.publish(site, str(remote))
    (site / "old.html").unlink()
    commit = pages.publish(site, str(remote), message="Publish abc")
    assert git("rev-parse", "gh-pages", cwd=remote) == commit
    files = set(git("ls-tree", "-r", "--name-only", "gh-pages", cwd=remote).splitlines())
    assert files == {".gitignore", ".nojekyll", "_static/one.ipynb", "index.html"}
    assert git("rev-list", "--count", "gh-pages", cwd=remote) == "1"
    assert git("log", "-1", "--format=%s", "gh-pages", cwd=remote) == "Publish abc"
    assert not (site / ".nojekyll").exists() and not (site / ".git").exists()


def test_a_domain_that_pages_wrote_to_the_branch_is_kept(tmp_path):
    remote, site = tmp_path / "remote.git", tmp_path / "site"
    git("init", "--bare", "--quiet", str(remote), cwd=tmp_path)
    site.mkdir()
    (site / "index.html").write_text("first")
    (site / "CNAME").write_text("course.example.org")
    pages.publish(site, str(remote))
    (site / "CNAME").unlink()
    pages.publish(site, str(remote))
    assert git("show", "gh-pages:CNAME", cwd=remote) == "course.example.org"
    assert git("rev-list", "--count", "gh-pages", cwd=remote) == "1"


@pytest.mark.parametrize(("status", "said"), [(201, "were asked"), (404, "switched on")])
def test_pages_are_asked_to_serve_what_was_pushed(serve, monkeypatch, status, said):
    """404 is GitHub's answer where Pages are off: the push stands, and the log says what to do."""
    asked = []

    def answer(method, path, body):
        asked.append((method, path))
        return status, {}, b"{}"

    monkeypatch.setenv("GITHUB_API_URL", serve(answer))
    monkeypatch.setenv("GITHUB_REPOSITORY", "owner/attention")
    monkeypatch.setenv("GH_TOKEN", "a token")
    assert said in pages.serve()
    assert asked == [("POST", "/repos/owner/attention/pages/builds")]
    monkeypatch.delenv("GH_TOKEN")
    assert "GH_TOKEN" in pages.serve() and len(asked) == 1


def test_what_cannot_be_published_is_refused_before_anything_is_pushed(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match="make book"):
        pages.publish(tmp_path, "nowhere")
    (tmp_path / "index.html").write_text("a book")
    with pytest.raises(RuntimeError, match="git ls-remote failed"):
        pages.publish(tmp_path, str(tmp_path / "nowhere"))
    monkeypatch.setattr(pages, "LARGEST", 3)
    with pytest.raises(ValueError, match=r"GitHub refuses: .*index\.html"):
        pages.publish(tmp_path, "nowhere")


def test_a_token_stands_in_no_command(monkeypatch):
    monkeypatch.delenv("GH_TOKEN", raising=False)
    assert pages.access() == {}
    monkeypatch.setenv("GH_TOKEN", "secret")
    environment = os.environ | pages.access()
    command = ["git", "config", "http.extraHeader"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "Authorization: Basic eC1hY2Nlc3MtdG9rZW46c2VjcmV0"


# ------------------------------------------------------------------------------------------ issue


class GitHub:
    """As much of its interface as one issue needs."""

    def __init__(self):
        self.issues = []

    def __call__(self, method, path, body):
        parts = path.partition("?")[0].strip("/").split("/")
        assert parts[:4] == ["repos", "owner", "course", "issues"]
        if method == "GET":
            assert "labels=drift" in path and "state=open" in path
            found = [i for i in self.issues if i["state"] == "open" and "drift" in i["labels"]]
            return 200, {}, json.dumps(found).encode()
        if method == "POST":
            made = {"number": len(self.issues) + 1, "state": "open", **body}
            self.issues.append(made)
            return 201, {}, json.dumps(made).encode()
        made = next(i for i in self.issues if i["number"] == int(parts[4]))
        made.update(body)
        return 200, {}, json.dumps(made).encode()


@pytest.fixture
def github(serve, monkeypatch, tmp_path):
    hub = GitHub()
    monkeypatch.setenv("GITHUB_API_URL", serve(hub))
    monkeypatch.setenv("GITHUB_REPOSITORY", "owner/course")
    monkeypatch.setenv("GH_TOKEN", "secret")
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    monkeypatch.chdir(tmp_path)
    return hub


def tell(text, outcome, *more):
    with open("report.md", "w", encoding="utf-8") as report:
        report.write(text)
    command = ["What changed", "report.md", "--label", "drift", "--outcome", outcome, *more]
    assert issue.main(command) == 0


def test_there_is_one_issue_opened_rewritten_closed(github, capsys):
    tell("all well", "success")
    assert github.issues == []
    tell("numpy 3", "failure")
    tell("numpy 3, torch 3", "failure")
    assert [(i["title"], i["body"], i["state"]) for i in github.issues] == [
        ("What changed", "numpy 3, torch 3", "open")
    ]
    tell("all well again", "success")
    assert [(i["body"], i["state"]) for i in github.issues] == [("all well again", "closed")]
    tell("numpy 4", "failure")
    assert [i["state"] for i in github.issues] == ["closed", "open"]
    said = capsys.readouterr().out.splitlines()
    assert said[1:] == ["opened #1", "rewrote #1", "closed #1", "opened #2"]


def test_issues_and_pull_requests_of_others_are_left_alone(github):
    other = {"number": 1, "state": "open", "labels": ["bug"], "title": "A bug", "body": "mine"}
    pull = {**other, "number": 2, "labels": ["drift"], "pull_request": {}}
    github.issues += [dict(other), dict(pull)]
    tell("numpy 3", "failure")
    assert github.issues[:2] == [other, pull] and github.issues[2]["body"] == "numpy 3"


def test_a_long_report_is_cut_and_the_summary_has_all_of_it(github, monkeypatch, tmp_path):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    tell("x" * 70_000, "failure", "--summary")
    assert len(github.issues[0]["body"]) < 65_000 and "cut off" in github.issues[0]["body"]
    assert len((tmp_path / "summary.md").read_text()) > 70_000


def test_a_step_that_left_no_report_is_no_success(github):
    assert issue.main(["What changed", "none.md", "--label", "drift", "--outcome", "success"]) == 0
    assert "no report" in github.issues[0]["body"] and github.issues[0]["state"] == "open"


def test_without_a_token_the_cure_is_said(monkeypatch, capsys):
    monkeypatch.delenv("GH_TOKEN", raising=False)
    monkeypatch.setenv("GITHUB_REPOSITORY", "owner/course")
    with pytest.raises(SystemExit):
        issue.main(["What changed", "report.md", "--label", "drift"])
    assert "set GH_TOKEN" in capsys.readouterr().err


# ------------------------------------------------------------------------------------------ links


def test_addresses_are_found_where_people_write_them():
    text = "See <https://a.org/x>, [b](https://b.org/y_(z)) (https://c.org/q).\n`https://d.org/…`\n"
    assert list(links.in_text(text)) == [
        ("https://a.org/x", 1),
        ("https://b.org/y_(z)", 1),
        ("https://c.org/q", 1),
    ]
    entry = "@a{b,\n  doi = {10.1/x},\n  eprint = {1706.03762},\n  url = {https://e.org/}\n}"
    assert dict(links.in_text(entry, bibliography=True)) == {
        "https://e.org/": 4,
        "https://doi.org/10.1/x": 2,
        "https://arxiv.org/abs/1706.03762": 3,
    }


def test_every_kind_of_source_is_read():
    places = links.collect()
    files = {place.file for where in places.values() for place in where}
    assert {"README.md", "references.bib", "NOTICE", "bookext/templates/layout.html"} <= files
    assert "https://arxiv.org/abs/1706.03762" in places


def test_dead_addresses_are_named_with_file_and_line(serve):
    asked = []

    def answer(method, path, body):
        asked.append(path)
        if path == "/moved":
            return 301, {"Location": "/there"}, b""
        return (404, {}, b"") if path == "/gone" else (200, {"Content-Type": "text/html"}, b"ok")

    host = serve(answer)
    places = {
        f"{host}/there": [links.Place("README.md", 3)],
        f"{host}/gone": [links.Place("a.md", 7), links.Place("b.md", 8)],
        f"{host}/moved": [links.Place("c.md", 1)],
        f"{host}/private": [links.Place("d.md", 1)],
    }
    answers = links.ask(list(places), {rf"{host}/private": "mine"})
    found = {answer.address.removeprefix(host): answer.status for answer in answers}
    assert found == {
        "/there": "working",
        "/gone": "broken",
        "/moved": "redirected",
        "/private": "ignored",
    }
    assert "/private" not in asked
    text = links.report(places, answers)
    (dead,) = [line for line in text.splitlines() if "/gone" in line]
    assert "`a.md:7`, `b.md:8`" in dead and "404" in dead
    assert "Moved for good" in text and "`c.md:1`" in text and "4 addresses: " in text
    assert "README.md" not in text
