"""A Chromium without a window, and how it prints a page. Tests and benchmarks find it here, too."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Error, Page, sync_playwright

#: The first that there is. The headless shell is the same engine, quickest to start, and a page
#: costs a fifth of the CPU time.
PROGRAMS = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
CURE = (
    "Set CHROMIUM to its path, or install one: `apt-get install chromium-headless-shell`, "
    "`apt-get install chromium` or `playwright install chromium`."
)
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PAPERS = ("A4", "Letter")
#: Faces and pictures are there, those below the fold too; gives the pictures that are not.
READY = """async () => {
  const images = [...document.images];
  for (const image of images) image.loading = "eager";
  const missing = await Promise.all(
    images.map((one) => one.decode().then(() => "", () => one.src)),
  );
  await document.fonts.ready;
  return missing.filter(Boolean);
}"""
PATIENCE = 600_000  # milliseconds: a whole book on a machine that has other things to do


class NoChromium(RuntimeError):
    """There is no browser to print with."""


class MissingPictures(RuntimeError):
    """A page asks for pictures that the built book does not hold."""


def find() -> str:
    """The path of ``$CHROMIUM``, of the first of PROGRAMS, or of Playwright's own browser."""
    named = os.environ.get("CHROMIUM")
    if named:
        found = shutil.which(named)
        if found is None:
            raise NoChromium(f"CHROMIUM={named}: there is no such program. {CURE}")
        return found
    found = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if found:
        return found
    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    if not Path(own).is_file():
        raise NoChromium(f"No Chromium found. {CURE}")
    return own


@contextmanager
def browser(program: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        try:
            started = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        except Error as error:  # it lacks a library, or is no browser: its own words say which
            raise NoChromium(f"{error.message}\n{program} does not start. {CURE}") from error
        try:
            yield started
        finally:
            started.close()


@contextmanager
def opened(browser: Browser, file: Path) -> Iterator[Page]:
    """A file in a page, all of it there. Widgets stay pictures: paper has no use for them."""
    context = browser.new_context(color_scheme="light", reduced_motion="reduce", offline=True)
    try:
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.route("**/widget-host.js*", lambda route: route.abort())
        page.goto(file.resolve().as_uri())
        missing = page.evaluate(READY)
        if missing:
            raise MissingPictures(
                f"{file.name} shows pictures that are not in the built book: "
                f"{', '.join(missing[:3])}. Build it again: make book."
            )
        yield page
    finally:
        context.close()


def to_pdf(page: Page, target: Path, paper: str) -> None:
    """Print as a reader's own dialog would, with tags for screen readers and an outline."""
    target.parent.mkdir(parents=True, exist_ok=True)
    page.pdf(path=target, format=paper, tagged=True, outline=True)
