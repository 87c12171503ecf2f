"""Addresses from one place: what people write is put right, or refused with what was expected."""

from types import SimpleNamespace

import pytest
from sphinx.errors import ConfigError

from bookext.address import Repository, read_repository, site, use
from bookext.launch import launches

OURS = Repository("https://github.com/o-x/n.y", "github.com", "o-x", "n.y", "gh-pages")
GROUP = Repository("https://gitlab.com/a/b/n", "gitlab.com", "a/b", "n", "gh-pages")
BOTH = {"colab_url": "https://colab.example", "binderhub_url": "https://binder.example/"}


def config(**said):
    known = {"html_baseurl": "", "html_theme_options": {}}
    return SimpleNamespace(**known | said)


@pytest.fixture(autouse=True)
def no_environment(monkeypatch):
    monkeypatch.delenv("COURSE_URL", raising=False)
    monkeypatch.delenv("COURSE_REPOSITORY", raising=False)


@pytest.mark.parametrize(
    "said",
    [
        "o-x/n.y",
        " https://github.com/o-x/n.y/ ",
        "http://www.github.com/o-x/n.y.git",
        "https://GitHub.com/o-x/n.y/tree/main/chapters",
        "https://github.com/o-x/n.y/blob/main/README.md#top",
        "github.com/o-x/n.y",
        "git@github.com:o-x/n.y.git",
        "ssh://git@github.com/o-x/n.y.git",
    ],
)
def test_a_repository_is_known_however_it_is_written(said):
    assert read_repository(said) == OURS


def test_a_project_of_gitlab_may_lie_in_a_group_of_a_group():
    for said in ("https://gitlab.com/a/b/n.git", "https://gitlab.com/a/b/n/-/tree/main"):
        assert read_repository(said) == GROUP


@pytest.mark.parametrize(
    "said",
    ["foo", "http://github.com/x", "github.com/x", "https://foo/bar/n", "o/n/extra", "o n/x", "o/"],
)
def test_what_is_no_repository_is_refused_with_what_was_expected(said):
    with pytest.raises(ConfigError, match="expected owner/name or an address") as caught:
        read_repository(said)
    assert repr(said) in str(caught.value) and "COURSE_REPOSITORY" in str(caught.value)


def test_a_branch_that_cannot_be_one_is_refused():
    with pytest.raises(ConfigError, match="branch is 'my pages'; expected the name of the branch"):
        read_repository("o/n", "my pages")


def test_no_repository_is_none():
    assert read_repository("") is None and read_repository("  ") is None


@pytest.mark.parametrize(
    "said, right",
    [
        ("", ""),
        ("https://a.b", "https://a.b/"),
        (" https://a.b/c// ", "https://a.b/c/"),
        ("http://localhost:8000", "http://localhost:8000/"),
        ("HTTPS://A.b/C", "https://a.b/C/"),
        ("https://a.b/课/%E7%A8%8B/", "https://a.b/%E8%AF%BE/%E7%A8%8B/"),
    ],
)
def test_the_sites_address_is_one_for_links_and_ends_with_a_slash(said, right):
    assert site(config(html_baseurl=said)) == right


@pytest.mark.parametrize(
    "said",
    [
        *("foo", "a.b/c", "ftp://a.b", "https://", "https://[a", "https://a:b/"),
        *("https://a.b/?x=1", "https://a.b/my course/", 'https://a.b/"/', "https://me:pass@a.b/"),
        "https://a.b/c/index.html",
    ],
)
def test_what_is_no_address_is_refused_with_an_example(said):
    with pytest.raises(ConfigError, match=r"its folder, such as https://owner\.github\.io"):
        site(config(html_baseurl=said))


def test_the_environment_overrides_the_configuration_and_the_theme_gets_nothing(monkeypatch):
    options = {
        "repository_url": "https://github.com/theirs/theirs",
        "repository_branch": "pages",
        "launch_buttons": BOTH,
        "path_to_docs": "x",
        "kept": 1,
    }
    said = config(html_baseurl="https://theirs.example", html_theme_options=options)
    use(None, said)
    assert said.bookext_repository.owner == "theirs" and said.bookext_repository.branch == "pages"
    monkeypatch.setenv("COURSE_URL", "https://ours.example/c")
    monkeypatch.setenv("COURSE_REPOSITORY", "o-x/n.y")
    said.html_theme_options = options
    use(None, said)
    assert said.html_baseurl == "https://ours.example/c/"
    assert said.bookext_repository == OURS._replace(branch="pages")
    assert said.bookext_launch == BOTH
    assert said.html_theme_options == {"kept": 1}, "or the theme adds links to .md files"
    monkeypatch.setenv("COURSE_URL", "")
    said.html_baseurl = "https://theirs.example"
    use(None, said)
    assert said.html_baseurl == "https://theirs.example/", "an empty variable is none"


def links(place, **services):
    said = config(bookext_repository=place, bookext_launch=BOTH | services)
    return dict(launches(said, "notebooks/é x.ipynb"))


def test_colab_and_binder_open_the_published_notebook():
    assert links(OURS._replace(branch="a/b")) == {
        "Open in Colab": (
            "https://colab.example/github/o-x/n.y/blob/a%2Fb/notebooks/%C3%A9%20x.ipynb"
        ),
        "Open in Binder": (
            "https://binder.example/v2/gh/o-x/n.y/a%2Fb"
            "?urlpath=lab%2Ftree%2Fnotebooks%2F%25C3%25A9%2520x.ipynb"
        ),
    }


def test_what_a_service_cannot_open_has_no_link():
    """Colab reads GitHub alone; a project of GitLab is one escaped part of Binder's address."""
    assert links(GROUP) == {
        "Open in Binder": (
            "https://binder.example/v2/gl/a%2Fb%2Fn/gh-pages"
            "?urlpath=lab%2Ftree%2Fnotebooks%2F%25C3%25A9%2520x.ipynb"
        )
    }
    assert links(read_repository("https://codeberg.org/o/n")) == {}
    assert links(None) == {}
    assert list(links(OURS, colab_url="")) == ["Open in Binder"]
    assert list(links(OURS, binderhub_url="")) == ["Open in Colab"]
