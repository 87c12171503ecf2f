r"""Make ``latin-modern-math.woff2``: the letters a course on attention needs, of Latin Modern Math.

The original is in Debian's package ``fonts-lmodern`` and in every TeX distribution:

    apt-get download fonts-lmodern && dpkg-deb -x fonts-lmodern_*.deb lmodern
    python bookext/assets/fonts/make_fonts.py \
        lmodern/usr/share/texmf/fonts/opentype/public/lm-math/latinmodern-math.otf

The table of mathematical measures (MATH), with every size of the stretchy brackets, is kept. Its
licence (GUST) is beside it, as that of Source Serif (OFL), whose files are those of the npm package
@fontsource/source-serif-4 5.3.1, unchanged.
"""

import hashlib
import sys
from pathlib import Path

from fontTools import subset
from fontTools.pens.boundsPen import BoundsPen
from fontTools.pens.t2CharStringPen import T2CharStringPen
from fontTools.pens.transformPen import TransformPen

ORIGINAL = "6075562b771f8b82f0c179e363389684f2dd09de30038269e2628e504bd7be0f"  # version 1.959
TARGET = Path(__file__).with_name("latin-modern-math.woff2")
#: First and last code point of each run.
RUNS = [
    (0x20, 0x7E),  # ASCII
    (0xA0, 0xFF),  # Latin-1
    (0x131, 0x131),  # dotless i
    (0x237, 0x237),  # dotless j
    (0x2C6, 0x2DD),  # accents
    (0x300, 0x30C),
    (0x332, 0x338),
    (0x391, 0x3F6),  # Greek
    (0x2010, 0x2063),  # dashes, primes, invisible operators
    (0x20D6, 0x20D7),  # vectors
    (0x2102, 0x213F),  # letterlike
    (0x2190, 0x219F),  # arrows
    (0x21A6, 0x21A6),
    (0x21BC, 0x21CC),
    (0x21D0, 0x21D5),
    (0x27F5, 0x27FC),
    (0x2200, 0x228B),  # operators and relations
    (0x2291, 0x22A5),
    (0x22B2, 0x22CF),
    (0x22D6, 0x22D7),
    (0x22EE, 0x22F1),
    (0x27C2, 0x27C2),
    (0x2A00, 0x2A06),
    (0x2A7D, 0x2A7E),
    (0x2AAF, 0x2AB0),
    (0x2308, 0x230B),  # brackets and braces
    (0x23B4, 0x23B5),
    (0x23DC, 0x23E1),
    (0x27E6, 0x27EB),
    (0x25A1, 0x25A1),  # shapes
    (0x25B3, 0x25B3),
    (0x25C7, 0x25C7),
    (0x25CB, 0x25CB),
    (0x1D400, 0x1D49B),  # bold, italic, bold italic
    (0x1D49C, 0x1D4B5),  # script capitals
    (0x1D538, 0x1D551),  # double-struck capitals and digits
    (0x1D7D8, 0x1D7E1),
    (0x1D5A0, 0x1D5D3),  # sans-serif
    (0x1D6A4, 0x1D6A5),  # dotless i and j
    (0x1D6A8, 0x1D755),  # Greek: bold, italic, bold italic
    (0x1D7CE, 0x1D7D7),  # bold digits
]


#: Combining arrows, which hang to the left of their place. Browsers centre an accent by its width,
#: and these have none: they get the width of what they draw.
HANGING = (0x20D6, 0x20D7)


def set_upright(font, code_point: int) -> None:
    """Move a combining glyph to the right of its origin and give it the width of its outline."""
    name = font.getBestCmap()[code_point]
    glyphs = font.getGlyphSet()
    bounds = BoundsPen(glyphs)
    glyphs[name].draw(bounds)
    left, _, right, _ = bounds.bounds
    width = round(right - left)
    pen = T2CharStringPen(width, glyphs)
    glyphs[name].draw(TransformPen(pen, (1, 0, 0, 1, -left, 0)))
    table = font["CFF "].cff
    charstrings = table[table.fontNames[0]].CharStrings
    old = charstrings[name]
    charstrings[name] = pen.getCharString(private=old.private, globalSubrs=old.globalSubrs)
    font["hmtx"][name] = (width, 0)
    accents = font["MATH"].table.MathGlyphInfo.MathTopAccentAttachment
    place = accents.TopAccentCoverage.glyphs.index(name)
    accents.TopAccentAttachment[place].Value = width // 2


def main(original: Path) -> None:
    found = hashlib.sha256(original.read_bytes()).hexdigest()
    if found != ORIGINAL:
        sys.exit(f"{original} is not version 1.959 of Latin Modern Math: its sha256 is {found}.")
    options = subset.Options()
    options.flavor = "woff2"
    options.layout_features = []  # ssty doubles the size: scripts are scaled down instead
    options.hinting = False
    options.name_IDs = ["*"]  # copyright and licence stay inside
    options.notdef_outline = True
    options.drop_tables += ["FFTM"]
    font = subset.load_font(str(original), options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=[c for first, last in RUNS for c in range(first, last + 1)])
    subsetter.subset(font)
    for code_point in HANGING:
        set_upright(font, code_point)
    font["head"].modified = font["head"].created  # the same bytes every time
    font.recalcTimestamp = False
    subset.save_font(font, str(TARGET), options)
    print(f"{TARGET.name}: {TARGET.stat().st_size} bytes, {len(font.getGlyphOrder())} glyphs")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
