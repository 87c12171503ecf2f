"""What the search page needs of Sphinx: its stemmer; and words that say the same.

The search is made of sections (sections.py, book-search.js). Of Sphinx's own index only the frame
is kept, because without it a second build warns: no text goes into it, and no page asks for it. The
stemmer comes with it, in language_data.js.
"""

from sphinx.search.en import SearchEnglish

#: What readers type, and what the book says. Both are looked for.
SAME = {
    "bpe": "subword",
    "ffn": "feed forward",
    "flash": "fused",
    "gqa": "grouped query",
    "kv": "key value",
    "lstm": "recurrent",
    "mha": "multi head attention",
    "mlp": "feed forward",
    "mqa": "multi query",
    "qkv": "q k v",
    "sdpa": "scaled dot product attention",
}

#: Traditional characters of the book's Chinese words, each before its simplified one (by OpenCC).
TRADITIONAL = (
    "並并 傳传 億亿 兩两 動动 匯汇 參参 單单 國国 圖图 學学 實实 對对 層层 師师 "
    "強强 愛爱 態态 換换 損损 數数 會会 機机 權权 歸归 殘残 沒没 溫温 熱热 狀状 "
    "環环 碼码 種种 積积 納纳 組组 絡络 經经 網网 線线 編编 緩缓 縮缩 習习 萬万 "
    "詞词 詢询 識识 變变 貪贪 軟软 轉转 連连 鍵键 長长 門门 隨随 隱隐 頭头 頸颈 "
    "餾馏 饋馈 點点 齊齐"
)


class StemmerAlone(SearchEnglish):
    """English, for which nothing is indexed."""

    def split(self, input: str) -> list[str]:
        return []


def setup(app):
    app.setup_extension("bookext.sections")
    app.add_search_language(StemmerAlone)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
