"""Make the mark's pictures from mark.svg: two icons, and the card that a shared link shows.

    python -m bookext.assets.make_pictures

Chromium draws them. The card's letters are the book's own face, so it looks alike on every machine.
Run it after a change of the mark or the title.
"""

import base64
import io
from pathlib import Path

from PIL import Image

from bookext.pdf.chromium import browser, find

HERE = Path(__file__).parent
MARK = (HERE / "mark.svg").read_text(encoding="utf-8")
TITLE = "Attention, Measured"
LINE = (
    "From one cramped vector to the heads of a real encoder: every claim measured, "
    "every control live."
)
#: A flat picture: so many colours are enough, and a third of the bytes.
COLOURS = 64


def face(weight: int) -> str:
    font = (HERE / "fonts" / f"source-serif-4-{weight}-normal.woff2").read_bytes()
    data = base64.b64encode(font).decode()
    return (
        f'@font-face {{ font-family: "Source Serif 4"; font-weight: {weight};'
        f' src: url("data:font/woff2;base64,{data}") }}'
    )


def icon(edge: int, margin: int, ground: str) -> str:
    return (
        f"<style>body {{ margin: 0; background: {ground} }}"
        f" svg {{ display: block; width: {edge - 2 * margin}px; margin: {margin}px }}</style>{MARK}"
    )


CARD = f"""<style>
{face(400)} {face(600)}
body {{ margin: 0; width: 1200px; height: 630px; background: #fffdf9; color: #1f2429; display: grid;
  grid-template-columns: 300px 1fr; gap: 72px; align-items: center; padding: 0 84px;
  box-sizing: border-box; font: 38px/1.4 "Source Serif 4"; border-bottom: 16px solid #b04a12 }}
h1 {{ margin: 0 0 28px; font-size: 92px; line-height: 1.05; font-weight: 600 }}
p {{ margin: 0; color: #585d63; text-wrap: balance }}
</style>{MARK}<div><h1>{TITLE}</h1><p>{LINE}</p></div>"""

#: name -> (document, width, height)
PICTURES = {
    "mark-32.png": (icon(32, 0, "transparent"), 32, 32),
    "mark-180.png": (icon(180, 24, "#fffdf9"), 180, 180),
    "card.png": (CARD, 1200, 630),
}


def main() -> None:
    with browser(find()) as chromium:
        page = chromium.new_page(color_scheme="light")
        for name, (document, width, height) in PICTURES.items():
            page.set_viewport_size({"width": width, "height": height})
            page.set_content(document)
            page.evaluate("document.fonts.ready")
            drawn = Image.open(io.BytesIO(page.screenshot(omit_background=True)))
            drawn = drawn if name == "mark-32.png" else drawn.convert("RGB").quantize(COLOURS)
            drawn.save(HERE / name, optimize=True)
            print(f"{name}: {(HERE / name).stat().st_size:,d} bytes")


if __name__ == "__main__":
    main()
