"""``make serve``: the book on a port of this machine, or a sentence that says why not."""

import os
import signal
import socket
import subprocess
import sys
from urllib.request import urlopen

import pytest

from bookext.serve import main


@pytest.fixture
def book(tmp_path):
    (tmp_path / "index.html").write_text("the start", "utf-8")
    return tmp_path


def test_it_shows_the_book_until_it_is_interrupted(book):
    command = [sys.executable, "-m", "bookext.serve", "0", "--site", str(book)]
    environment = os.environ | {"BROWSER": "true"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env=environment, **pipes) as running:
        said = running.stdout.readline()
        with urlopen(said.split()[4], timeout=30) as answer:
            assert answer.read() == b"the start"
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=30)
    assert running.returncode == 0 and "Traceback" not in errors


def test_a_port_that_is_taken_is_named_and_no_browser_opens(book, monkeypatch, capsys):
    monkeypatch.setattr("webbrowser.open", lambda address: pytest.fail("opened another's page"))
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert main([str(port), "--site", str(book)]) == 1
    told = capsys.readouterr().err
    assert f"Port {port} cannot be had" in told and "make PORT=8001 serve" in told
    assert main(["99999", "--site", str(book)]) == 1
    assert "Port 99999 cannot be had" in capsys.readouterr().err


def test_without_a_book_it_says_how_to_make_one(tmp_path, capsys):
    assert main(["0", "--site", str(tmp_path)]) == 1
    assert "`make book` makes it" in capsys.readouterr().err
