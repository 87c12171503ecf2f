"""A browser, the built site on a local server, and pages that remember what they asked for.

``open_page(url)`` opens a page in a fresh context and returns a `Visit`; every host but this
machine is out of reach, so a page that needs the network shows it. Used by all browser tests.
"""

import contextlib
import functools
import re
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright
from widget_page import WidgetPage

from bookext.pdf import chromium

ROOT = Path(__file__).resolve().parents[2]
HTML = ROOT / "_build" / "html"
SUB_PATH = "/attention-measured/"
#: No other machine is found.
ALONE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1"
#: Milliseconds that a test waits for what it expects; a machine may be busy with other things.
PATIENCE = 30_000
expect.set_options(timeout=PATIENCE)
SHIFT = """() => new Promise((done) => {
  let sum = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) sum += entry.value;
  }).observe({ type: "layout-shift", buffered: true });
  setTimeout(() => done(sum), 300);
})"""
#: Nothing more will move by itself: fonts and pictures are there, and each widget is live or has
#: said why it is not (a page without the widgets' script has none to wait for).
READY = """async () => {
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  await document.fonts.ready;
  const coming = [...document.images].filter((one) => !one.complete && one.loading !== "lazy");
  await Promise.all(coming.map((one) => new Promise((done) => (one.onload = one.onerror = done))));
  const waits = () => "attnWidgets" in window && [...document.querySelectorAll(".attn-widget")]
    .some((place) => !["live", "static"].includes(place.dataset.attnState));
  while (waits()) await frame();
  await frame();
  await frame();
}"""


@dataclass
class Visit:
    """A page with everything it asked for and complained about since it was opened."""

    page: Page
    requests: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    console: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    #: The layout shift of a page when it had loaded; of a `first_look` alone.
    shifted: float = float("nan")

    def ready(self) -> None:
        """Wait until the page has come to rest."""
        self.page.evaluate(READY)

    def shift(self) -> float:
        """The sum of all layout shifts since the page was opened."""
        return self.page.evaluate(SHIFT)

    @property
    def off_site(self) -> list[str]:
        """Requests to any other machine."""
        return [url for url in self.requests if not _is_local(url)]

    @property
    def complaints(self) -> list[str]:
        """Whatever would be red in the console, with the other failures of loading."""
        return [*self.console, *self.errors, *self.failed]


def _is_local(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme in {"file", "data", "blob", "about"} or parts.hostname in {
        "localhost",
        "127.0.0.1",
    }


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves one folder below a sub-path; whatever is asked for outside of it is not found."""

    prefix = SUB_PATH

    def translate_path(self, path: str) -> str:
        path = urlsplit(path).path
        if not path.startswith(self.prefix):
            return str(Path(self.directory) / "outside-of-the-sub-path")
        return super().translate_path("/" + path.removeprefix(self.prefix))

    def log_message(self, format, *args):
        pass


@contextlib.contextmanager
def serving(folder: Path, prefix: str = SUB_PATH, answers=QuietHandler) -> Iterator[str]:
    """Serve a folder on this machine; gives the address, which ends with a slash."""
    handler = type("Handler", (answers,), {"prefix": prefix})
    server = ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(handler, directory=str(folder))
    )
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}{prefix}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(scope="session")
def chromium_path() -> str:
    try:
        return chromium.find()
    except chromium.NoChromium as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture(scope="session")
def browser(chromium_path: str) -> Iterator[Browser]:
    flags = [*chromium.FLAGS, ALONE]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path, args=flags)
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Callable[..., Visit]]:
    """``open_page(url, width=1280, height=800, scheme="light", **context options) -> Visit``.

    Options of Playwright's ``new_context`` pass through: ``java_script_enabled=False``,
    ``reduced_motion="reduce"``, ``has_touch=True``. ``url=None`` opens an empty page.
    """
    contexts = []

    def open_(
        url: str | None = None, *, width=1280, height=800, scheme="light", **options
    ) -> Visit:
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, **options
        )
        contexts.append(context)
        context.set_default_timeout(PATIENCE)
        visit = record(context.new_page())
        if url is not None:
            visit.page.goto(url, wait_until="load")
        return visit

    yield open_
    for context in contexts:
        context.close()


def record(page: Page) -> Visit:
    """Let a page remember its requests, failures, console errors and uncaught exceptions."""
    visit = Visit(page)
    page.on("request", lambda request: visit.requests.append(request.url))
    page.on(
        "requestfailed",
        lambda request: visit.failed.append(f"{request.failure}: {request.url}"),
    )
    page.on(
        "response",
        lambda answer: (
            visit.failed.append(f"{answer.status}: {answer.url}") if answer.status >= 400 else None
        ),
    )
    page.on(
        "console",
        lambda message: (
            visit.console.append(f"{message.type}: {message.text}")
            if message.type == "error"
            else None
        ),
    )
    page.on("pageerror", lambda error: visit.errors.append(f"uncaught: {error}"))
    return visit


@pytest.fixture(scope="session")
def html() -> Path:
    """The folder of the built site."""
    if not (HTML / "index.html").is_file():
        pytest.fail(
            f"The book is not built: {HTML} holds no index.html. Run `make book` first.",
            pytrace=False,
        )
    return HTML


@pytest.fixture(scope="session")
def site(html: Path) -> Iterator[str]:
    """Address of the built site, served below a sub-path as a project page would be."""
    with serving(html) as address:
        yield address


@pytest.fixture(scope="session")
def serve() -> Iterator[Callable[[Path], str]]:
    """``serve(folder) -> address``: for small books that a test builds itself."""
    with contextlib.ExitStack() as stack:
        yield lambda folder, prefix=SUB_PATH: stack.enter_context(serving(folder, prefix))


@pytest.fixture(scope="session")
def first_look(browser: Browser, site: str) -> Iterator[Callable[[str, int], Visit]]:
    """``first_look(page, width) -> Visit``: one visit for all that is asked of a page at a width.

    It is open until another page is looked at. Its layout shift is measured at once, before a test
    opens boxes.
    """
    kept: dict[tuple[str, int], Visit] = {}

    def look(name: str, width: int) -> Visit:
        for key in [key for key in kept if key[0] != name]:
            kept.pop(key).page.context.close()
        if (name, width) not in kept:
            context = browser.new_context(viewport={"width": width, "height": 800})
            context.set_default_timeout(PATIENCE)
            visit = record(context.new_page())
            visit.page.goto(site + name)
            visit.ready()
            visit.shifted = visit.shift()
            kept[name, width] = visit
        return kept[name, width]

    yield look
    for visit in kept.values():
        visit.page.context.close()


@pytest.fixture(scope="session")
def unpacked(html: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The course as a reader has it who has downloaded and unpacked it: a folder of its own."""
    archive = html / "attention-measured.zip"
    if not archive.is_file():
        pytest.fail(f"{archive} is not there. Run `make book` first.", pytrace=False)
    target = tmp_path_factory.mktemp("offline")
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(target)
    return target / "attention-measured"


@pytest.fixture(scope="session")
def from_disk(browser: Browser, html: Path, unpacked: Path) -> Iterator[Callable[[str], Visit]]:
    """``from_disk(page) -> Visit``: the page of the unpacked course (or of the site, if it is for
    servers alone), opened as a file, in dark colours and without motion."""
    kept: dict[str, Visit] = {}

    def look(name: str) -> Visit:
        if name not in kept:
            for visit in kept.values():
                visit.page.context.close()
            kept.clear()
            context = browser.new_context(color_scheme="dark", reduced_motion="reduce")
            context.set_default_timeout(PATIENCE)
            visit = kept[name] = record(context.new_page())
            folder = unpacked if (unpacked / name).is_file() else html
            visit.page.goto((folder / name).as_uri())
            visit.ready()
        return kept[name]

    yield look
    for visit in kept.values():
        visit.page.context.close()


def built_pages() -> list[str]:
    """Every page of the built site, as a path relative to it."""
    found = sorted(p.relative_to(HTML).as_posix() for p in HTML.rglob("*.html"))
    return [p for p in found if not p.startswith(("_static/", "notebooks/"))]


@pytest.fixture(scope="session")
def pages(html: Path) -> list[str]:
    return built_pages()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """``whole_page``: each page but the redirect at the front door; ``chapter``: each chapter."""
    whole = [page for page in built_pages() if page != "index.html"]
    chapters = [page for page in whole if re.match(r"chapters/\d\d-", page)]
    for name, found in (("whole_page", whole), ("chapter", chapters)):
        if name in metafunc.fixturenames:  # without a book, one test that says so
            metafunc.parametrize(name, found or ["no book"])


@pytest.fixture
def open_board(browser: Browser) -> Iterator[Callable[..., WidgetPage]]:
    """Open a page for widgets alone; at the end no page may have logged an error."""
    opened = []

    def open_(**options) -> WidgetPage:
        context = browser.new_context(**options)
        opened.append((context, WidgetPage(context.new_page())))
        return opened[-1][1]

    yield open_
    for context, board in opened:
        assert board.errors == []
        context.close()


@pytest.fixture
def board(open_board: Callable[..., WidgetPage]) -> WidgetPage:
    """A page for widgets, as wide as a screen."""
    return open_board(viewport={"width": 1000, "height": 900})
