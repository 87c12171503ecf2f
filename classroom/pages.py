"""The frame of the pages that grade and report write: one file each, with nothing fetched.

Text from students comes in through :func:`text` and :func:`block` alone, which escape it.
"""

from __future__ import annotations

from html import escape

STYLE = """
:root { color-scheme: light dark;
  --paper: light-dark(#fffdf9, #15181c); --raised: light-dark(#f6f2ea, #1d2126);
  --ink: light-dark(#1f2429, #e6e3dc); --muted: light-dark(#585d63, #a9adb3);
  --line: light-dark(#e2dccf, #343a41); --edge: light-dark(#8a8579, #7d838b);
  --link: light-dark(#0b5680, #86c5ea); --good: light-dark(#22693a, #8fd19e);
  --warn: light-dark(#9a3f00, #f3b27a);
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "PingFang SC",
    "Microsoft YaHei", "Noto Sans CJK SC", sans-serif;
  --serif: Georgia, "DejaVu Serif", "Noto Serif", serif;
  --mono: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.55 var(--sans);
  overflow-wrap: anywhere; }
header, main, footer { max-width: var(--wide, 46rem); margin: 0 auto; padding: 0 1.1rem; }
header { padding-top: 2rem; }
main { padding-bottom: 2rem; }
footer { padding-top: 1rem; padding-bottom: 2.5rem; color: var(--muted); font-size: .9rem; }
h1, h2, h3 { font-family: var(--serif); line-height: 1.25; text-wrap: balance; margin: 0; }
h1 { font-size: 1.75rem; } h2 { font-size: 1.3rem; margin: 2.4rem 0 .8rem; }
h3 { font-size: 1.08rem; } .total { font-size: 1.3rem; margin: .6rem 0 0; }
p { margin: .5rem 0; max-width: 42rem; }
a { color: var(--link); text-underline-offset: .18em; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; border-radius: 3px; }
.over { color: var(--muted); margin: 0 0 .3rem; } .quiet { color: var(--muted); }
.small { font-size: .9rem; }
code, pre { font-family: var(--mono); font-size: .88em; }
pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 4; }
pre.code { background: var(--raised); border: 1px solid var(--line); border-radius: .4rem;
  padding: .6rem .8rem; line-height: 1.45; }
.card { border: 1px solid var(--line); border-left: .3rem solid var(--edge); border-radius: .4rem;
  padding: .8rem 1rem; margin: .8rem 0; background: var(--raised); }
.card.good { border-left-color: var(--good); } .card.warn { border-left-color: var(--warn); }
.head { display: flex; flex-wrap: wrap; gap: .1rem 1rem; justify-content: space-between;
  align-items: baseline; }
.points { font-variant-numeric: tabular-nums; white-space: nowrap; font-weight: 600; }
.state { font-weight: 600; margin: .3rem 0; } .good > .state, .is-good { color: var(--good); }
.warn > .state, .is-warn { color: var(--warn); }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: .35rem .7rem .35rem 0;
  border-bottom: 1px solid var(--line); }
th { font-weight: 600; } td.n, th.n { text-align: right; white-space: nowrap; }
caption { text-align: left; white-space: nowrap; color: var(--muted); padding-bottom: .3rem; }
.scroll { overflow-x: auto; }
table.pairs { width: auto; } .pairs th { font-weight: 400; padding-right: 1.6rem; }
.bar { height: .6rem; border-radius: .3rem; border: 1px solid var(--edge); overflow: hidden;
  margin: .6rem 0; max-width: 24rem; }
.bar > span { display: block; height: 100%; background: var(--good); }
svg { display: block; max-width: 100%; overflow: visible; }
@media print { :root { color-scheme: light; } .card { break-inside: avoid; }
  body { font-size: 10pt; } }
"""


def page(title: str, top: str, body: str, foot: str, style: str = "") -> str:
    """A whole page: its header, its main part and its footer are HTML already."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="robots" content="noindex">\n'
        # Were anything of a student's ever taken for markup, it still could not run or fetch.
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n"
        f"<title>{text(title)}</title>\n<style>{STYLE}{style}</style>\n</head>\n<body>\n"
        f"<header>\n{top}\n</header>\n<main>\n{body}\n</main>\n<footer>\n{foot}\n</footer>\n"
        "</body>\n</html>\n"
    )


def text(value: object) -> str:
    """Any text as HTML that shows it; control characters, which HTML forbids, become �."""
    shown = str(value)
    if not shown.isprintable():
        shown = "".join(s if s.isprintable() or s in "\n\t" else _mark(s) for s in shown)
    return escape(shown)


def _mark(sign: str) -> str:
    """Spaces of other kinds stay, and so does what joins letters; all else becomes �."""
    return sign if (sign.isspace() and sign > "\x9f") or sign in "\u200c\u200d\ufe0f" else "�"


def block(source: str) -> str:
    """A piece of code as it stands."""
    return f'<pre class="code" tabindex="0">{text(source)}</pre>'


def link(address: str, words: str) -> str:
    """A link; the words alone when there is no address."""
    return f'<a href="{text(address)}">{text(words)}</a>' if address else text(words)


def many(count: int, one: str, more: str = "") -> str:
    """A number with its noun: 1 answer, 2 answers."""
    return f"{count} {one if count == 1 else more or one + 's'}"
