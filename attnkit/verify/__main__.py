"""Run the chapters again on this machine and set every number beside the one that the book prints.

    python -m attnkit.verify                  the whole book, some minutes
    python -m attnkit.verify --chapter 3      one chapter, or several: --chapter 3 --chapter a7
    python -m attnkit.verify --list           what there is

It writes a certificate, one page of HTML, which says what was measured and what was only read again
from a recorded run. The exit status is 0 when all that was asked for was reached and is within its
tolerance, 1 when something is not, 2 when the command cannot be understood, 130 when it was
interrupted.
"""

import argparse
import json
import os
import sys
from pathlib import Path

from attnkit.verify import certificate, screen
from attnkit.verify.compare import Verdict, compare
from attnkit.verify.machine import machine
from attnkit.verify.measure import Result, measure_all
from attnkit.verify.needs import cure
from attnkit.verify.pages import CHECKOUT, Source, UnknownPage, in_checkout, select, sources
from attnkit.verify.progress import Progress
from attnkit.verify.record import FILE, Record, RecordError, load, of_build

CERTIFICATE = "attention-measured-certificate.html"


def positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def parser() -> argparse.ArgumentParser:
    said = argparse.ArgumentParser(
        prog="python -m attnkit.verify",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = said.add_argument
    add("--chapter", action="append", default=[], metavar="N", help="3, a7 or a name; repeat it")
    add("--list", action="store_true", help="list the chapters and stop")
    where = f"the certificate; default: {CERTIFICATE}"
    add("--to", type=Path, default=Path(CERTIFICATE), metavar="FILE", help=where)
    add("--json", type=Path, metavar="FILE", help="every number, for a program to read")
    add("--quiet", action="store_true", help="print the summary alone")
    add(
        "--threads",
        type=positive,
        default=1,
        metavar="N",
        help="threads of each page; default: the book's 1",
    )
    add("--jobs", type=positive, metavar="N", help="pages side by side; default: at most 2")
    return said


def printed_record(pages: list[Source]) -> tuple[Record, str]:
    """The numbers to compare with, and where they come from."""
    record = load()
    built = CHECKOUT / "_build" / "executed"
    if in_checkout() and built.is_dir():
        newest = max((p.stat().st_mtime for p in built.rglob("*.ipynb")), default=0)
        if newest > FILE.stat().st_mtime:
            try:
                made = of_build(built, pages, record)
            except ValueError:  # a chapter has more or fewer cells than when it was built
                return record, "the record of the package; the built book is of older chapters"
            return Record(
                record.pages | made.pages, record.scripts
            ), "the book built in this checkout"
    return record, "the record of the package"


def refuse_unwritable(file: Path) -> None:
    """Before minutes of measuring. Rights alone do not tell: a file system may be read-only."""
    new = not file.exists()
    try:
        file.open("ab").close()
    except OSError as error:
        raise UnknownPage(
            f"{file} cannot be written ({error.strerror}): with --to and --json, name a file in a "
            "folder that exists and is yours."
        ) from error
    if new:
        file.unlink()


def main(arguments: list[str] | None = None) -> int:
    said = parser()
    options = said.parse_args(arguments)
    out = screen.Screen()
    everything = sources()
    try:
        chosen = select(options.chapter, everything)
        if not everything:
            raise UnknownPage("This copy of attnkit has no chapters. Install it from its wheel.")
        if options.list:
            for source in chosen:
                out.write(f"{source.number:>6}  {source.slug:<24} {source.page.title}")
            return 0
        record, origin = printed_record(everything)
        for file in filter(None, (options.to, options.json)):
            refuse_unwritable(file)
    except (UnknownPage, RecordError) as error:
        print(error, file=sys.stderr)
        return 2
    here = machine(options.threads)
    for line in screen.wrapped(f"{here.line}. Compared with {origin}, {record.digest}.", ""):
        out.write(line)
    verdicts, interrupted = run(chosen, record, options, out)
    for line in screen.total(verdicts):
        out.write(line)
    paper = certificate.Paper(
        verdicts, here, record, origin, len(chosen), len(everything), interrupted
    )
    options.to.write_text(certificate.html(paper), "utf-8")
    out.write(f"Certificate: {options.to}")
    if options.json:
        options.json.write_text(json.dumps(certificate.plain(paper), indent=1), "utf-8")
    if interrupted:
        return 130
    return 0 if all(verdict.good for verdict in verdicts) else 1


def run(
    chosen: list[Source], record: Record, options: argparse.Namespace, out: screen.Screen
) -> tuple[list[Verdict], bool]:
    """Measure page after page; what was reached before an interruption is kept."""
    verdicts: dict[str, Verdict] = {}
    latest: dict[str, tuple[Source, Result]] = {}
    jobs = options.jobs or min(2, os.cpu_count() or 1)

    def judged(source: Source, result: Result) -> Verdict | None:
        printed = record.pages.get(source.slug)
        if printed is None:
            return None
        verdict = compare(source.slug, source.label, printed, result)
        if result.raised and result.raised["needs"]:
            verdict.why += ". " + cure(result.raised["needs"])
        if printed.code != source.page.digest:
            verdict.note = (
                "The code of this page is not that of the record. In a checkout: build the book, "
                f"then python -m experiments.printed --chapter {source.number}"
            )
        return verdict

    def tell(source: Source, result: Result, done: bool) -> None:
        progress.at(source.slug, source.label, result.seconds)
        latest[source.slug] = source, result
        if not done:
            return
        progress.done(source.slug)
        verdict = judged(source, result)
        if verdict:
            verdicts[source.slug] = verdict
            for line in screen.wrong(verdict) if options.quiet else screen.page(verdict):
                progress.write(lambda line=line: out.write(line))

    known = {source.slug: record.pages.get(source.slug) for source in chosen}
    interrupted = False
    with Progress({s: page.seconds if page else [] for s, page in known.items()}, jobs) as progress:
        try:
            measure_all(
                chosen,
                lambda source: bool((page := known[source.slug]) and page.times),
                threads=options.threads,
                jobs=jobs,
                tell=tell,
            )
        except KeyboardInterrupt:
            interrupted = True
    if interrupted:
        for slug, (source, result) in latest.items():
            if slug not in verdicts and (verdict := judged(source, result)):
                verdict.why = "interrupted"
                verdicts[slug] = verdict
    return [verdicts[s.slug] for s in chosen if s.slug in verdicts], interrupted


def on_a_pipe() -> int:
    """The command, ended without a word where nobody reads on: behind it were head, or a pager."""
    try:
        try:
            return main()
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # Python writes at its end what the buffer still holds.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


if __name__ == "__main__":
    sys.exit(on_a_pipe())
