"""Search that finds Chinese words: runs of Chinese characters are cut into pairs.

Sphinx splits at what is no letter, so 注意力机制是什么 would be one word, found by nobody. Here
it is indexed as its characters and their pairs (注意, 意力, 力机 ...), and what the reader types is
cut the same way in the browser, so that every stretch of a sentence finds it. English stays as it
is.
"""

import re
from itertools import pairwise

from sphinx.search.en import SearchEnglish

#: Chinese characters (with the extensions on the next plane), kana and Hangul need no spaces.
IDEOGRAPHS = r"\u3005\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
RUN = re.compile(rf"[{IDEOGRAPHS}\U00020000-\U0003fffd]+|[^\W{IDEOGRAPHS}\U00020000-\U0003fffd]+")
IS_IDEOGRAPHIC = re.compile(rf"[{IDEOGRAPHS}\U00020000-\U0003fffd]")

SPLITTER = r"""
const ideographs = /[IDEOGRAPHS\u{20000}-\u{3fffd}]+/gu;
function splitQuery(query) {
  return query
    .split(/[^\p{Letter}\p{Number}_\p{Emoji_Presentation}]+/gu)
    .flatMap((word) => word.replace(ideographs, " $& ").split(" "))
    .filter((word) => word !== "")
    .flatMap((word) => {
      const letters = [...word];
      if (letters.length < 3 || word.replace(ideographs, "") !== "") return [word];
      return letters.slice(1).map((letter, i) => letters[i] + letter);
    });
}
""".replace("IDEOGRAPHS", IDEOGRAPHS)


def split(text: str) -> list[str]:
    """The words of a text; of a run of ideographs, each character and each pair.

    >>> split("softmax 注意力 d_k")
    ['softmax', '注', '意', '力', '注意', '意力', 'd_k']
    """
    words = []
    for run in RUN.findall(text):
        if IS_IDEOGRAPHIC.match(run):
            words += [*run, *(a + b for a, b in pairwise(run))]
        else:
            words.append(run)
    return words


class SearchEnglishAndChinese(SearchEnglish):
    js_splitter_code = SPLITTER

    def split(self, input: str) -> list[str]:
        return split(input)

    def word_filter(self, word: str) -> bool:
        return IS_IDEOGRAPHIC.match(word) is not None or super().word_filter(word)


def setup(app):
    app.add_search_language(SearchEnglishAndChinese)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
