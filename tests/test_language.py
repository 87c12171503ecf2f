"""Chinese in the text is marked as Chinese, whoever wrote it; nothing else is."""

import re

import pytest
from small_book import build

from bookext.language import write_attribute

PAGE = """# 注意力 in words

The word 爱 and [中国]{lang=zh-Hans}, **中国** too; 我爱中国。 ends a sentence, 你好，世界 does not.

| token | gloss |
|---|---|
| 零 | zero |

Code `万` and Latin "quotes", café, Ω.

```python
x = "我"
```

```{glossary}
mask
掩码
  What hides.

weight
权重
  What counts.
```
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    built = build(tmp_path_factory.mktemp("language"), {"index": PAGE}, parts=("language",))
    assert built.status == 0, built.log
    return built


def test_every_run_of_chinese_says_so_and_nothing_else_does(built):
    body = built.page().partition("<body>")[2]
    marked = re.findall(r'<span lang="zh-Hans">(?:<span class="pre">)?([^<]*)</span>', body)
    expected = ["注意力", "爱", "中国", "中国", "我爱中国。", "你好，世界", "零", "万", "我"]
    expected += ["掩码", "权重"]
    assert [run for run in marked if run in expected][: len(expected)] == expected
    assert set(marked) == set(expected)
    assert "lang-zh-Hans" not in body
    text = re.sub(r"<[^>]*>", "", body)
    assert "The word 爱 and 中国, 中国 too; 我爱中国。 ends" in text


def test_the_index_has_one_heading_for_all_chinese_terms(built):
    headings = re.findall(r"<h2[^>]*>(.*?)</h2>", built.page("genindex"))
    assert headings == ["M", "W", "中文"]
    assert built.page("genindex").count("掩码") == built.page("genindex").count("权重") == 1


def test_titles_around_the_page_say_so_too():
    made, said = '<span class="lang-zh-Hans">我</span>', '<span lang="zh-Hans">我</span>'
    places = ("body", "title", "toc", "chapters", "here")
    context = dict.fromkeys(places, made) | {"prev": {"title": made, "link": "a.html"}}
    context["next"] = {"title": made}
    write_attribute(None, "one", "page.html", context, None)
    assert [context[place] for place in places] == [said] * len(places)
    assert context["prev"] == {"title": said, "link": "a.html"}
    assert context["next"] == {"title": said}
    assert context["spoken"]("a <我>") == f"a &lt;{said}&gt;"
