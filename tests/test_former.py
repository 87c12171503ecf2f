"""What has left the book leaves the site."""

from small_book import build

PICTURE = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="9"><path d="M0 0h9v9z"/></svg>'
)


def test_a_renamed_page_and_its_picture_leave_the_site(tmp_path):
    (tmp_path / "old.svg").write_text(PICTURE.format(9))
    (tmp_path / "new.svg").write_text(PICTURE.format(10))
    pages = {"index": "# Start\n\n```{toctree}\nold\n```\n", "old": "# A\n\n![A square](old.svg)\n"}
    built = build(tmp_path, pages, parts=("former",))
    assert built.status == 0, built.log
    assert (built.folder / "old.html").exists()
    assert [p.name for p in (built.folder / "_images").iterdir()] == ["old.svg"]

    (tmp_path / "old.md").unlink()
    pages = {"index": "# Start\n\n```{toctree}\nnew\n```\n", "new": "# B\n\n![A square](new.svg)\n"}
    built = build(tmp_path, pages, parts=("former",))
    assert built.status == 0, built.log
    assert {p.name for p in built.folder.glob("*.html")} == {
        "index.html",
        "new.html",
        "genindex.html",
        "search.html",
    }
    assert [p.name for p in (built.folder / "_images").iterdir()] == ["new.svg"]


def test_pictures_of_pages_that_were_not_read_again_stay(tmp_path):
    (tmp_path / "old.svg").write_text(PICTURE.format(9))
    pages = {"index": "# Start\n\n```{toctree}\nold\n```\n", "old": "# A\n\n![A square](old.svg)\n"}
    build(tmp_path, pages, parts=("former",))
    index = tmp_path / "index.md"
    index.write_text(index.read_text() + "\nMore.\n")
    old_page = (tmp_path / "old.md").stat().st_mtime
    built = build(tmp_path, {}, parts=("former",))
    assert built.status == 0, built.log
    assert (tmp_path / "old.md").stat().st_mtime == old_page
    assert (built.folder / "_images" / "old.svg").exists()
    assert "More." in built.page()
