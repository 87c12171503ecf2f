"""``python -m bookext.pdf``: each page of the built book as PDF, and the whole book as one.

python -m bookext.pdf                                    everything, into _build/pdf
python -m bookext.pdf chapters/03-scaled-dot-product     one page; how its name begins is enough
python -m bookext.pdf chapters/03 --to chapter-3.pdf
python -m bookext.pdf --whole                            the whole book alone
"""

import argparse
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import yaml
from tqdm.auto import tqdm

from bookext.pdf import chromium, compose, whole
from bookext.pdf.finish import finish

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "_build" / "html"
PDF = ROOT / "_build" / "pdf"
WHOLE = "attention-measured.pdf"


class Mistake(Exception):
    """What was asked for cannot be done; the message says what can."""


def chosen(asked: str, names: list[str]) -> str:
    """The page that is asked for: its name, its source, or how one of them begins."""
    name = asked.removesuffix(".md").removesuffix(".html").removeprefix("./")
    found = [one for one in names if one == name] or [
        one for one in names if one.startswith(name) or one.partition("/")[2].startswith(name)
    ]
    if len(found) != 1:
        said = "no page begins so" if not found else f"{len(found)} pages begin so"
        raise Mistake(f"{asked!r}: {said}. The pages are {', '.join(found or names)}.")
    return found[0]


def print_page(browser, site: Path, name: str, target: Path, paper: str, author: str) -> None:
    with chromium.opened(browser, site / f"{name}.html") as page:
        chromium.to_pdf(page, target, paper)
    finish(target, author)


def print_pages(
    program: str, book: whole.Book, targets: dict[str, Path], paper: str, tell: Callable[[], None]
) -> None:
    with chromium.browser(program) as browser:
        for name, target in targets.items():
            print_page(browser, book.site, name, target, paper, book.author)
            tell()


def print_whole(program: str, book: whole.Book, target: Path, paper: str, tell) -> None:
    with chromium.browser(program) as browser:
        whole.make(browser, book, target, paper, tell)


def run(arguments: argparse.Namespace) -> list[Path]:
    """Print what is asked for, pages beside the whole book; gives the files."""
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    root = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))["root"]
    if not (arguments.site / f"{root}.html").is_file():
        raise Mistake(
            f"The book is not built: {arguments.site} holds no {root}.html. Run `make book`, "
            "or `jupyter-book build . -W -n --keep-going`."
        )
    if arguments.to and (len(arguments.pages) + arguments.whole != 1):
        raise Mistake("--to names one file: say which page is to be printed into it, or --whole.")
    program = chromium.find()
    book = whole.described(arguments.site, root, config)
    names = [page.name for page in compose.pages(book.site, root)]
    everything = not arguments.pages and not arguments.whole
    pages = names if everything else [chosen(asked, names) for asked in arguments.pages]
    targets = {n: arguments.to or PDF / f"{n.rpartition('/')[2]}.pdf" for n in pages}
    to_whole = (arguments.to or PDF / WHOLE) if everything or arguments.whole else None
    steps = len(targets) + (whole.STEPS if to_whole else 0)
    with tqdm(total=steps, desc="printing", unit="step") as bar, ThreadPoolExecutor(2) as pool:
        jobs = []
        if to_whole:
            jobs.append(
                pool.submit(print_whole, program, book, to_whole, arguments.paper, bar.update)
            )
        if targets:
            jobs.append(
                pool.submit(print_pages, program, book, targets, arguments.paper, bar.update)
            )
        for job in jobs:
            job.result()
    return [*targets.values(), *([to_whole] if to_whole else [])]


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bookext.pdf",
        description="Print the built book into _build/pdf: as one file, and each page as one. "
        "Or what is named alone.",
    )
    parser.add_argument(
        "pages", nargs="*", metavar="PAGE", help="how the name of a page begins: chapters/03"
    )
    parser.add_argument("--whole", action="store_true", help="the whole book as one file")
    parser.add_argument("--to", type=Path, metavar="FILE", help="where to write one PDF")
    parser.add_argument("--paper", choices=chromium.PAPERS, default="A4", help="default: A4")
    parser.add_argument("--site", type=Path, default=SITE, help="the built book")
    try:
        files = run(parser.parse_args(words))
    except (Mistake, chromium.NoChromium, chromium.MissingPictures, whole.Unsettled) as error:
        print(error, file=sys.stderr)
        return 1
    for file in files[-1:]:
        print(f"{file}: {file.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
