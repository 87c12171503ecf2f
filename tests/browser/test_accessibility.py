"""The judge of accessibility: what it leaves out of axe's work does not hide a fault."""

import pytest
from accessibility import violations

SHELL = """<!doctype html><html lang="en"><head><title>Faults</title><style>
body { background: #fff; color: #222 } .dim { color: #bbb } .box { background: #555 }
.box.light { background: #eee }</style></head>
<body><main><h1>Faults</h1>BODY</main></body></html>"""
MANY = "<p>" + "<span>some text</span> " * 300 + "</p>"


def found(page, body, **options):
    page.set_content(SHELL.replace("BODY", body))
    return {v["id"]: [n["html"] for n in v["nodes"]] for v in violations(page, options)}


@pytest.fixture
def page(browser):
    page = browser.new_page()
    yield page
    page.close()


def test_a_page_without_faults_has_none(page):
    assert found(page, MANY + '<p class="box light">On a ground of its own</p>') == {}


@pytest.mark.parametrize(
    "fault",
    [
        '<span class="dim">pale</span>',  # by its own colour
        '<div class="box"><span>dark on dark</span></div>',  # by the ground that it stands on
        '<b style="opacity: .3">thin</b>',
        '<input aria-label="field" class="dim" value="typed">',
    ],
)
@pytest.mark.parametrize("place", ["{} " + MANY, MANY + "{}", MANY + "{}" + MANY])
def test_one_pale_text_among_many_is_found(page, fault, place):
    body = place.format(f"<div>{fault}</div>")
    assert list(found(page, body)) == ["color-contrast"]
    assert list(found(page, body, runOnly=["color-contrast", "link-in-text-block"])) == [
        "color-contrast"
    ]


def test_many_that_are_pale_alike_are_named_by_three(page):
    pale = MANY.replace("<span>", '<span class="dim">')
    assert [len(nodes) for nodes in found(page, pale).values()] == [3]


def test_every_other_rule_sees_the_whole_page(page):
    nameless = MANY + "<button></button>" + MANY + '<img src="data:,">'
    assert set(found(page, nameless)) == {"button-name", "image-alt"}
