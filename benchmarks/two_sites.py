"""One server on this machine for both sites and for the CDNs that the default build asks.

The CDNs' packages come from the npm registry, by ``npm pack``, and are served under the CDNs' own
addresses: the browser resolves their names to this server, which has a certificate of its own. So
everything goes through the browser's network stack and its throttling. Text is compressed with
gzip, as GitHub Pages does.
"""

from __future__ import annotations

import gzip
import mimetypes
import re
import ssl
import subprocess
import sys
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: What the defaults load, by npm's names: require.js is on cdnjs, the others on jsDelivr.
PACKAGES = ("mathjax@3", "requirejs@2.3.4", "@jupyter-widgets/html-manager@1.0.6", "anywidget@0.11")
HOSTS = ("cdn.jsdelivr.net", "cdnjs.cloudflare.com", "unpkg.com")
TEXT = re.compile(r"text/|javascript|json|svg|xml")
TYPES = {".js": "text/javascript", ".woff2": "font/woff2", ".woff": "font/woff"}


def fetch(folder: Path) -> dict[str, Path]:
    """The unpacked packages, by name without version."""
    folder.mkdir(parents=True, exist_ok=True)
    found = {}
    for package in PACKAGES:
        name = package.rpartition("@")[0]
        target = folder / name.replace("/", "-").lstrip("@")
        if not target.is_dir():
            done = subprocess.run(
                ["npm", "pack", "--silent", package], cwd=folder, capture_output=True, text=True
            )
            if done.returncode:
                sys.exit(f"npm pack {package} failed:\n{done.stderr}")
            with tarfile.open(folder / done.stdout.split()[-1]) as packed:
                packed.extractall(target, filter="data")
        found[name] = target / "package"
    minify(found["requirejs"])
    return found


def minify(package: Path) -> None:
    """require.js as cdnjs has it: npm carries it with all its comments, and the tool beside it."""
    if not (package / "require.min.js").is_file():
        command = "node bin/r.js -o baseUrl=. name=require out=require.min.js".split()
        subprocess.run(command, cwd=package, check=True, capture_output=True)


def of_cdn(path: str, packages: dict[str, Path]) -> Path | None:
    """The file that a CDN's address names: ``/npm/NAME@VERSION/FILE``, or require.js on cdnjs."""
    if "/require.js/" in path:
        return packages["requirejs"] / "require.min.js"
    for name, folder in packages.items():
        if match := re.search(rf"/{re.escape(name)}@[^/]*/(.+)", path):
            file = folder / match[1]
            return file if file.is_file() else file.with_name(file.name + ".js")
    return None


@cache
def answer(file: Path) -> tuple[bytes, str, bool]:
    """Content, type, and whether it is compressed."""
    kind = TYPES.get(file.suffix) or mimetypes.guess_type(file.name)[0] or "text/plain"
    data = file.read_bytes()
    small = gzip.compress(data, 6) if TEXT.search(kind) else data
    return (small, kind, True) if len(small) < len(data) else (data, kind, False)


def certificate(folder: Path) -> Path:
    """A certificate for a day, in one file with its key."""
    file = folder / "local.pem"
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost".split()
    subprocess.run(
        [*command, "-keyout", str(file), "-out", str(folder / "crt.pem")],
        check=True,
        capture_output=True,
    )
    with file.open("ab") as joined:
        joined.write((folder / "crt.pem").read_bytes())
    return file


@contextmanager
def serving(sites: dict[str, Path], folder: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    """Serve; gives the address, the browser's flags, and a list of what was asked for in vain.

    A site is below its name: ``https://localhost:PORT/NAME/``.
    """
    packages, missing = fetch(folder / "cdn"), []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            path = unquote(urlsplit(self.path).path)
            host = (self.headers.get("Host") or "").partition(":")[0]
            if host in HOSTS:
                file = of_cdn(path, packages)
            else:
                name, _, rest = path.lstrip("/").partition("/")
                file = sites[name] / rest if name in sites else None
            if file is None or not file.is_file():
                missing.append(f"{host}{path}")
                self.send_response(404)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            data, kind, packed = answer(file)
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.send_header("Access-Control-Allow-Origin", "*")
            self.send_header("Cache-Control", "max-age=600")
            if packed:
                self.send_header("Content-Encoding", "gzip")
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate(folder))
    # The handshake belongs to the thread of a connection, not to the one that accepts them.
    server.socket = context.wrap_socket(
        server.socket, server_side=True, do_handshake_on_connect=False
    )
    port = server.server_port
    rules = [f"MAP {host}:443 127.0.0.1:{port}" for host in HOSTS]
    rules += ["MAP * ~NOTFOUND", "EXCLUDE localhost", "EXCLUDE 127.0.0.1"]
    flags = ["--ignore-certificate-errors", f"--host-resolver-rules={', '.join(rules)}"]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"https://localhost:{port}/", flags, missing
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
