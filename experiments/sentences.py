"""Chapter 10: three hundred sentences of two public-domain texts.

    python -m experiments.sentences brotli-1.2.1.tar.gz

The texts are test data of the Brotli compressor, in its source distribution on PyPI (``pip download
--no-deps --no-binary :all: brotli==1.2.1``). Both files are checked by their SHA-256.
"""

import hashlib
import json
import random
import re
import sys
import tarfile
from pathlib import Path

OUT = Path(__file__).parents[1] / "attnkit" / "data" / "ch10-sentences.json"
SEED, EACH, WORDS = 10, 150, (6, 40)
SOURCES = {
    "alice": {
        "title": "Alice's Adventures in Wonderland",
        "author": "Lewis Carroll",
        "year": 1865,
        "file": "tests/testdata/alice29.txt",
        "sha256": "7467306ee0feed4971260f3c87421154a05be571d944e9cb021a5713700c38f0",
    },
    "workshop": {
        "title": "Workshop on Electronic Texts: Proceedings",
        "author": "Library of Congress, edited by James Daly",
        "year": 1992,
        "file": "tests/testdata/lcet10.txt",
        "sha256": "5314ba1dbb03f471df88bec6cd120a938ef60d0fd3511c5c1dce61bf7463245f",
    },
}
ABBREVIATIONS = r"(?:\b(?:Mr|Mrs|Dr|St|vs|etc|e\.g|i\.e|Inc|U\.S|D\.C|No|[A-Z])\.)$"


def text_of(archive: Path, source: dict) -> str:
    """The text of a file in the archive, if it is the one that we used."""
    with tarfile.open(archive) as tar:
        name = next(name for name in tar.getnames() if name.endswith("/" + source["file"]))
        member = tar.extractfile(name)
        assert member is not None
        data = member.read()
    found = hashlib.sha256(data).hexdigest()
    if found != source["sha256"]:
        raise SystemExit(f"{name} has the SHA-256 {found}, expected {source['sha256']}.")
    return data.decode("ascii").replace("\r", "")


def paragraphs(text: str) -> list[str]:
    """Running prose: no poems, headings, lists, tables or notes, which are indented or marked."""
    found = []
    for block in re.split(r"\n\s*\n", text.replace("\x1a", "")):
        first, *rest = block.strip("\n").split("\n")
        indented = any(line.startswith(" ") for line in rest) or first.startswith("   ")
        if rest and not indented and not re.match(r"\s*[*+(]|.*\+\+\+", first):
            joined = re.sub(r"(?<=[a-z])-\s*\n\s*(?=[a-z])", "-", block)
            found.append(re.sub(r"\s+", " ", joined).replace("- -", "--").strip())
    return found


def with_plain_quotes(text: str) -> str:
    """`He said' becomes "He said"; apostrophes stay."""
    return re.sub(r"'(?![A-Za-z])|(?<![A-Za-z.,!?s])'(?=[A-Z])", '"', text.replace("`", '"'))


def sentences(paragraph: str) -> list[str]:
    """Cut behind . ! ? where a capital or a quote follows, but not behind abbreviations."""
    found = [""]
    for piece in re.split(r"(?<=[.!?])\s+(?=[\"A-Z(])|(?<=[.!?][\")])\s+(?=[\"A-Z(])", paragraph):
        if found[-1] and not re.search(ABBREVIATIONS, found[-1]):
            found.append(piece)
        else:
            found[-1] = f"{found[-1]} {piece}".strip()
    return found


def is_whole(sentence: str) -> bool:
    """Whether it begins and ends as a sentence does, with its quotes and brackets closed."""
    closed = sentence.count('"') % 2 == 0 and sentence.count("(") == sentence.count(")")
    number = len(sentence.split())
    whole = re.fullmatch(r"\"?[A-Z][^+*_@\[\]]*[.!?]\"?", sentence)
    return bool(whole) and closed and '""' not in sentence and WORDS[0] <= number <= WORDS[1]


def main() -> None:
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    sample, rng = {}, random.Random(SEED)
    for name, source in SOURCES.items():
        prose = paragraphs(text_of(Path(sys.argv[1]), source))
        cut = [s for p in prose for s in sentences(with_plain_quotes(p)) if is_whole(s)]
        places = sorted(rng.sample(range(len(cut)), EACH))
        sample[name] = [cut[place] for place in places]
        print(f"{name}: {len(prose)} paragraphs, {len(cut)} whole sentences, {EACH} drawn")
    table = {
        "made_by": "python -m experiments.sentences brotli-1.2.1.tar.gz",
        "seed": SEED,
        "words": WORDS,
        "sources": SOURCES,
        "sentences": sample,
    }
    OUT.write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()
