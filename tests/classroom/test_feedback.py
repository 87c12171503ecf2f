"""The page of a student: theirs alone, safe to open, and with a way on."""

import re
from html.parser import HTMLParser

import pytest
from class_samples import RIGHT, WRONG, Class, notebook

from classroom.assignment import ClassroomError
from classroom.feedback import file_names
from classroom.pages import text

EVIL = "<script>alert(1)</script>"


@pytest.fixture
def school(tmp_path):
    return Class(tmp_path)


class Tags(HTMLParser):
    """The tags of a page that are not closed, and all that there are."""

    def __init__(self, page):
        super().__init__()
        self.open, self.all = [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.all.append(tag)
        if tag not in ("meta", "br", "rect"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_a_wrong_answer_is_named_with_its_smallest_input(school):
    school.hand_in("ada", notebook(WRONG))
    school.grade()
    page = school.page("ada")
    assert "std-taken-for-variance" in page and "The smallest input that shows it" in page
    assert re.search(r"expected variance</th><td><pre>\d", page)
    assert "0 of 8 points" in page and "not read yet" in page


def test_the_page_is_well_formed_and_has_landmarks(school):
    school.hand_in("ada", notebook(WRONG | {"letters": RIGHT["letters"]}))
    school.grade()
    tags = Tags(school.page("ada"))
    assert not tags.open and tags.all.count("h1") == tags.all.count("main") == 1
    assert {"header", "footer", "h2", "h3", "title"} <= set(tags.all)
    assert '<html lang="en">' in school.page("ada")


def test_nothing_of_others_and_no_solution_is_on_it(school):
    school.hand_in("ada", notebook(WRONG))
    school.hand_in("bobby", notebook(RIGHT))
    school.grade()
    page = school.page("ada")
    for secret in ("bobby", "std**4", "secret", "Says why", "model solution"):
        assert secret not in page


def test_a_notebook_that_cannot_be_read_is_said_once(school):
    school.hand_in("ada", b"{")
    school.grade()
    assert school.page("ada").count("not-json") == 1
    assert school.page("ada").count("<li>About ") == 3 and "3 not graded" in school.page("ada")


def test_links_need_the_address_of_the_book(school):
    school.hand_in("ada", notebook(WRONG))
    school.grade()
    assert "<a " not in school.page("ada") and "Read again:" in school.page("ada")
    school.grade(book="https://example.org/book/index.html")
    address = r'href="https://example\.org/book/chapters/03-[\w-]+\.html#ch3-[\w-]+"'
    assert re.search(address, school.page("ada"))
    with pytest.raises(ClassroomError, match="--book"):
        school.grade(book="javascript:alert(1)")


def test_no_text_of_a_student_becomes_markup(school):
    bad = f"def score_variance(d_key, std):\n    raise ValueError('''{EVIL}''')"
    letters = f"letters = {{'{EVIL}'}}"
    said = {"variance": bad, "letters": letters, "explain": f"explanation = '{EVIL}\\x00'"}
    school.hand_in("a & <b>", notebook(said, student=EVIL, assignment=EVIL))
    school.grade()
    pages = [*school.to.parent.rglob("*.html")]
    assert len(pages) == 2
    for path in pages:
        page = path.read_text("utf-8")
        assert "<script" not in page and "<b>" not in page and "\0" not in page
        assert "&lt;script&gt;" in page and "a &amp; &lt;b&gt;" in page
        assert not Tags(page).open


def test_file_names_stay_in_the_folder_and_are_all_different():
    students = ["../../etc/passwd", "a/b", "a\\b", "..", ".", "", "ADA", "ada", "CON", "nul.x",
                "x" * 300, "x" * 301, "Zoë 注意", "a_b", "x\0y", "trailing. "]  # fmt: skip
    names = file_names(students)
    assert len({name.casefold() for name in names.values()}) == len(students)
    for name in names.values():
        assert re.fullmatch(r"[\w @,()-][\w @.,()-]*\.html", name) and len(name) < 110
        assert not re.match(r"(?i)(con|nul)\.", name)
    assert names["Zoë 注意"] == "Zoë 注意.html" and names["ADA"] == "ADA.html"


def test_the_same_class_gives_the_same_names():
    assert file_names(["a/b", "ada"]) == file_names(["a/b", "ada"])


def test_text_shows_what_it_is_given():
    assert text("<&>\"'") == "&lt;&amp;&gt;&quot;&#x27;"
    assert text("a\x1bb\u202ec\nd\u3000e\u200df") == "a�b�c\nd\u3000e\u200df"
