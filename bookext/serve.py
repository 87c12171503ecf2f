"""``python -m bookext.serve [PORT]``: the built book on this machine, opened in a browser."""

import argparse
import sys
import threading
import webbrowser
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / "_build" / "html"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser("python -m bookext.serve", description=__doc__)
    parser.add_argument("port", nargs="?", type=int, default=8000, help="default: 8000")
    parser.add_argument("--site", type=Path, default=SITE, help="the built book")
    chosen = parser.parse_args(arguments)
    if not (chosen.site / "index.html").is_file():
        print(f"There is no book in {chosen.site}: `make book` makes it.", file=sys.stderr)
        return 1
    handler = partial(SimpleHTTPRequestHandler, directory=chosen.site)
    try:
        server = ThreadingHTTPServer(("127.0.0.1", chosen.port), handler)
    except (OSError, OverflowError) as error:
        print(
            f"Port {chosen.port} cannot be had: {error}. Take another one: make PORT=8001 serve",
            file=sys.stderr,
        )
        return 1
    with server:
        address = f"http://localhost:{server.server_port}"
        print(f"The book is on {address} until Ctrl-C.", flush=True)
        # beside the server: a browser in the terminal comes back only when it is closed
        threading.Thread(target=webbrowser.open, args=[address], daemon=True).start()
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
