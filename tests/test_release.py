"""What has to agree before a version goes out: versions, dates, licences; and who says so."""

import re
import subprocess
from fnmatch import fnmatch
from pathlib import Path

import pytest

from release import ready, versions

ROOT = Path(__file__).resolve().parents[1]
NOTICE = (ROOT / "NOTICE").read_text(encoding="utf-8")


def tree(folder, *, project="1.2.0", cited="1.2.0", day="2026-12-01", changes="1.2.0 - 2026-12-01"):
    """A source tree with nothing but its versions."""
    (folder / "pyproject.toml").write_text(f'[project]\nversion = "{project}"\n')
    (folder / "CITATION.cff").write_text(f'version: {cited}\ndate-released: "{day}"\n')
    log = f"# Changelog\n\n## Unreleased\n\n## {changes}\n\n- A thing.\n\n## 1.1.0 - 2026-11-01\n"
    (folder / "CHANGELOG.md").write_text(log)
    return folder


def test_version_and_date_are_the_same_everywhere():
    assert versions.disagreements() == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"cited": "1.1.0"}, "CITATION.cff has version 1.1.0, pyproject.toml 1.2.0"),
        ({"project": "1.3.0", "cited": "1.3.0"}, "CHANGELOG.md begins with 1.2.0"),
        ({"day": "2026-12-02"}, "CHANGELOG.md dates 1.2.0 2026-12-01, CITATION.cff 2026-12-02"),
        ({"changes": "1.2.0 - 2026-10-01", "day": "2026-10-01"}, "the newest version comes first"),
        ({"changes": "1.2 of December"}, "CHANGELOG.md begins with 1.1.0"),
    ],
)
def test_a_version_that_disagrees_is_named(tmp_path, change, said):
    assert versions.disagreements(tree(tmp_path)) == []
    (fault, *others) = versions.disagreements(tree(tmp_path, **change))
    assert said in fault and not others


def test_changes_that_belong_to_no_version_hold_a_release_up(tmp_path):
    assert ready.changelog(tree(tmp_path)) == []
    log = tmp_path / "CHANGELOG.md"
    log.write_text(
        log.read_text().replace("## Unreleased\n", "## Unreleased\n\n- Another thing.\n")
    )
    assert ready.changelog(tmp_path) == ["CHANGELOG.md: what is under Unreleased belongs to 1.2.0"]


def test_a_tree_that_is_not_committed_or_tagged_elsewhere_holds_a_release_up(tmp_path):
    def git(*arguments):
        who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
        subprocess.run(["git", *who, *arguments], cwd=tmp_path, check=True, capture_output=True)

    git("init")
    tree(tmp_path)
    assert ready.work_tree(tmp_path) == [
        "not committed: CHANGELOG.md, CITATION.cff, pyproject.toml"
    ]
    git("add", ".")
    git("commit", "-m", "One")
    assert ready.work_tree(tmp_path) == []
    git("tag", "v1.2.0")
    assert ready.work_tree(tmp_path) == []
    git("commit", "--allow-empty", "-m", "Two")
    (fault,) = ready.work_tree(tmp_path)
    assert fault.startswith("v1.2.0 is another commit already")


def test_missing_packages_and_a_book_without_an_address_hold_a_release_up(tmp_path):
    (fault,) = ready.packages(tmp_path)
    assert f"no attnkit-{versions.version()}.tar.gz" in fault and "make package" in fault
    assert "COURSE_URL" in ready.site(tmp_path)[0]
    (tmp_path / "index.html").write_text("<head></head>")
    assert "no address" in ready.site(tmp_path)[0]
    (tmp_path / "index.html").write_text('<link rel="canonical" href="https://example.org/a/">')
    assert ready.site(tmp_path) == []


def test_every_font_has_its_licence_and_its_line_in_notice():
    fonts = ROOT / "bookext" / "assets" / "fonts"
    named = re.findall(r"bookext/assets/fonts/[\w.*-]+\w", NOTICE)
    for font in fonts.glob("*.woff2"):
        name = font.relative_to(ROOT).as_posix()
        assert [pattern for pattern in named if fnmatch(name, pattern)], f"NOTICE lacks {name}"
    for text in fonts.glob("*.txt"):
        assert text.relative_to(ROOT).as_posix() in named


def test_what_notice_names_is_there():
    for name in re.findall(r"(?:bookext|attnkit|experiments|docs)/[\w./*-]+[\w*]", NOTICE):
        assert [*ROOT.glob(name)], f"NOTICE names {name}"
    licence = (ROOT / "docs" / "licences" / "Unicode-3.0.txt").read_text(encoding="utf-8")
    assert licence.startswith("UNICODE LICENSE V3") and "2004-2025 Unicode, Inc." in licence


def test_data_of_others_has_its_line_in_notice():
    """Data that says it was measured on CLDR, Carroll or MiniLM."""
    for data in sorted((ROOT / "attnkit" / "data").glob("*.json")):
        if re.search(r"CLDR|Carroll|[Mm]ini[Ll][Mm]|\bAlice\b", data.read_text(encoding="utf-8")):
            assert f"attnkit/data/{data.name}" in NOTICE
