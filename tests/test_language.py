"""Chinese in the text is marked as Chinese, whoever wrote it; nothing else is."""

import re

from small_book import build

PAGE = """# 注意力 in words

The word 爱 and [中国]{lang=zh-Hans}, **中国** too; 我爱中国。 ends a sentence, 你好，世界 does not.

| token | gloss |
|---|---|
| 零 | zero |

Code `万` and Latin "quotes", café, Ω.

```python
x = "我"
```
"""


def test_every_run_of_chinese_says_so_and_nothing_else_does(tmp_path):
    built = build(tmp_path, {"index": PAGE}, parts=("language",))
    assert built.status == 0, built.log
    body = built.page().partition("<body>")[2]
    marked = re.findall(r'<span lang="zh-Hans">(?:<span class="pre">)?([^<]*)</span>', body)
    expected = ["注意力", "爱", "中国", "中国", "我爱中国。", "你好，世界", "零", "万"]
    assert [run for run in marked if run in expected][: len(expected)] == expected
    assert set(marked) == set(expected)
    assert "lang-zh-Hans" not in body
    text = re.sub(r"<[^>]*>", "", body)
    assert "The word 爱 and 中国, 中国 too; 我爱中国。 ends" in text
