"""attnkit.verify from the outside: a small course is measured, and what is wrong is named."""

import getpass
import json
import os
import platform
import re
import socket
import subprocess
import sys

import pytest
from verify_course import GOOD, ROOT, course, verify

from attnkit.verify import record
from attnkit.verify.__main__ import main
from attnkit.verify.measure import Result

NUMERICS = (ROOT / "attnkit" / "numerics.py").read_text("utf-8")


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return course(tmp_path_factory.mktemp("course"))


@pytest.fixture(scope="module")
def whole(small):
    """One run over all three pages; its words and what it wrote."""
    done = verify(small, "--json", "all.json", "--jobs", "3")
    assert not done.stderr, done.stderr
    return done, json.loads((small / "elsewhere" / "all.json").read_text("utf-8"))


def page(whole, slug):
    return next(page for page in whole[1]["pages"] if page["slug"] == slug)


def test_a_page_that_is_as_printed_is_good(whole):
    good = page(whole, "01-good")
    assert good["good"] and not good["failed"] and good["held"] == 2
    lines = {line["name"]: line for line in good["lines"] if line["place"] == "prose"}
    assert lines["good-weight"]["printed"] == lines["good-weight"]["found"] == "0.48"
    assert (
        lines["good-weight"]["tolerance"] == "±0.01" and lines["good-count"]["tolerance"] == "equal"
    )
    assert len(good["lines"]) == 8  # two in the prose, six in the output


def test_each_number_stands_beside_the_printed_one_with_its_tolerance(whole):
    row = next(line for line in whole[0].stdout.splitlines() if "good-weight" in line)
    assert re.split(r"\s{2,}", row.strip()) == ["good-weight", "0.48", "0.48", "±0.01", "rounded"]
    assert "6 of 6 within, output" in whole[0].stdout


def test_a_claim_that_fails_is_named_and_the_rest_goes_on(whole):
    (claim,) = page(whole, "02-broken")["failed"]
    assert claim["claim"] == "1 + 1 == 3" and claim["what"] == "no"
    assert page(whole, "02-broken")["held"] == 1
    assert f"line {claim['line']}, a claim that did not hold: 1 + 1 == 3 (no)" in whole[0].stdout


def test_a_cell_that_raises_ends_its_page_alone(whole):
    broken = page(whole, "02-broken")
    assert 'of "Later": NameError' in broken["why"] and broken["missed"] == 1
    assert [line["name"] for line in broken["lines"]] == ["bad-first"]


def test_a_page_that_lacks_a_package_says_what_installs_it(whole):
    lacking = page(whole, "03-lacking")
    assert lacking["why"].startswith("needs not_installed_here. Install it: pip install")
    assert whole[1]["whole"] is False and whole[0].returncode == 1


def test_one_page_alone_and_within_gives_status_0(small):
    done = verify(small, "--chapter", "1", "--quiet", "--to", "one.html")
    assert done.returncode == 0, done.stdout
    assert "good-weight" not in done.stdout and "1 A small page" in done.stdout
    loud = verify(small, "--chapter", "2", "--quiet").stdout
    assert "a claim that did not hold: 1 + 1 == 3" in loud and "bad-first" not in loud
    paper = (small / "elsewhere" / "one.html").read_text("utf-8")
    assert "In part" in paper and "1 of the 3 pages" in paper


def test_another_scale_is_outside(tmp_path):
    """A constant of attnkit is changed: the number that hangs on it is named, with status 1."""
    folder = course(tmp_path, {"01-good": GOOD})
    (folder / "attnkit" / "numerics.py").unlink()
    other = NUMERICS.replace("1.0 / math.sqrt(", "1.0 / (", 1)
    assert other != NUMERICS
    (folder / "attnkit" / "numerics.py").write_text(other, "utf-8")
    done = verify(folder)
    assert done.returncode == 1
    (row,) = [line for line in done.stdout.splitlines() if "! good-weight" in line]
    assert re.split(r"\s{2,}", row.strip())[1:3] == ["0.48", "0.35"]
    assert (
        "good-weight" in (folder / "elsewhere" / "attention-measured-certificate.html").read_text()
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--chapter", "77"], "There is no chapter '77'"),
        (["--to", "nowhere/at/all.html"], "all.html cannot be written (No such file or directory)"),
        (["--to", "."], "cannot be written (Is a directory)"),
        (["--json", "/proc/self/here.json"], "here.json cannot be written"),  # to nobody
        (["--jobs", "none"], "'none' is not a whole number"),
    ],
)
def test_what_cannot_be_understood_gives_status_2_and_the_cure(arguments, said, capsys):
    try:
        status = main(arguments)
    except SystemExit as refused:  # argparse
        status = refused.code
    told = capsys.readouterr().err
    assert status == 2 and said in told
    if "77" in arguments:
        assert "03-scaled-dot-product" in told and "Mask table" in told


@pytest.mark.parametrize("said", ["--list", "--help"])
@pytest.mark.parametrize("buffer", [{}, {"PYTHONUNBUFFERED": "1"}], ids=["buffer", "no buffer"])
def test_a_reader_who_reads_no_further_gets_no_traceback(said, buffer):
    command = [sys.executable, "-m", "attnkit.verify", said]
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, env=env | buffer) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
        # argparse itself says nothing of a help text that nobody has read
        assert process.wait() in ([1] if said == "--list" else [0, 1])


def test_a_record_that_is_missing_is_named(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(record.load, "__defaults__", (tmp_path / "printed.json",))
    assert main(["--chapter", "3"]) == 2
    assert "python -m experiments.printed" in capsys.readouterr().err


@pytest.fixture
def interrupted(monkeypatch, tmp_path):
    """The certificate of a run over two pages that ends after the first, made in this process."""

    def measured(sources, alone, *, tell, **options):
        first = next(source for source in sources if source.number == "a7")
        kept = record.load().pages[first.slug]
        glued = {name: each.value for name, each in kept.glued.items()}
        tell(first, Result(first.slug, glued, seconds=[1.0]), False)
        raise KeyboardInterrupt

    def run() -> str:
        assert main(["--chapter", "3", "--chapter", "a7"]) == 130
        return (tmp_path / "attention-measured-certificate.html").read_text("utf-8")

    monkeypatch.setattr("attnkit.verify.__main__.measure_all", measured)
    monkeypatch.chdir(tmp_path)
    return run


def test_an_interruption_keeps_what_was_measured(interrupted, capsys):
    paper = interrupted()
    assert "was interrupted and reached 1 of" in paper
    assert "break-bugs" not in paper  # as printed, so nothing of it is outside
    assert "not measured to its end: interrupted" in capsys.readouterr().out


def test_a_certificate_names_no_folder(whole, small):
    paper = (small / "elsewhere" / "attention-measured-certificate.html").read_text("utf-8")
    assert str(small) not in paper and str(ROOT) not in paper


def test_a_certificate_names_no_person_or_host(interrupted, monkeypatch):
    """Names that the paper has no other reason to hold: a real one may be a word of it."""
    names = {"person": "quokka-in-person", "host": "zebrafish-of-its-own"}
    system, _, *rest = os.uname()
    monkeypatch.setattr(os, "uname", lambda: os.uname_result((system, names["host"], *rest)))
    monkeypatch.setattr(socket, "gethostname", lambda: names["host"])
    monkeypatch.setattr(platform, "_uname_cache", None)
    for variable in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.setenv(variable, names["person"])
    assert (getpass.getuser(), platform.node()) == tuple(names.values())
    paper = interrupted()
    assert "Certificate" in paper and not [name for name in names.values() if name in paper]
