"""One file that somebody else wrote: what it holds, or by name what is wrong with it."""

import json
import os

import pytest
from class_samples import FILE, RIGHT, cell, notebook

from classroom import reading
from classroom.reading import LARGEST, Read, Trouble, read_notebook, written

GOOD = notebook(RIGHT)
TEXT = json.dumps(GOOD, ensure_ascii=False)


def read(tmp_path, data):
    path = tmp_path / FILE
    path.write_bytes(data if isinstance(data, bytes) else json.dumps(data).encode())
    return read_notebook(path)


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"", "not-json"),
        (b"<!DOCTYPE html><title>Log in</title>", "not-json"),
        (TEXT.encode()[:-20], "not-json"),
        (b"[" * 100_000, "not-json"),
        (b'{"cells": ' + b"9" * 5000 + b"}", "not-json"),
        (b"\xff\xfe\x00", "not-json"),
        (b"[1]", "not-a-notebook"),
        (b"null", "not-a-notebook"),
        (b'{"cells": {}}', "not-a-notebook"),
        ({"cells": [{}] * (reading.MOST_CELLS + 1)}, "too-large"),
    ],
    ids=["empty", "page", "cut", "deep", "digits", "utf16", "list", "null", "object", "cells"],
)
def test_what_is_no_notebook_is_named(tmp_path, data, name):
    found = read(tmp_path, data)
    assert isinstance(found, Trouble) and found.name == name
    assert found.message[0].isupper() and "{" not in found.message


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_encodings_with_and_without_a_mark_are_read(tmp_path, encoding):
    accented = notebook(RIGHT | {"explain": "explanation = 'déjà 注意'"})
    found = read(tmp_path, json.dumps(accented, ensure_ascii=False).encode(encoding))
    assert isinstance(found, Read) and found.answers["explain"] == ("explanation = 'déjà 注意'",)


def test_sources_are_text_a_list_or_nothing(tmp_path):
    sources = {"text": "a\r\nb", "list": ["a\n", "b", 7], "none": None, "number": 3}
    cells = [*(cell(id, source) for id, source in sources.items()), {"metadata": {}}, None, "x"]
    found = read(tmp_path, {"cells": cells})
    assert isinstance(found, Read)
    assert found.answers == {"text": ("a\nb",), "list": ("a\nb",), "none": ("",), "number": ("",)}


@pytest.mark.parametrize(
    "wrong", [None, [], "text", 3, {"nbgrader": []}, {"nbgrader": {"grade_id": 1}}]
)
def test_metadata_of_any_type_is_survived(tmp_path, wrong):
    cells = [{"metadata": wrong, "source": "x"}, cell("variance", "y")]
    found = read(tmp_path, {"cells": cells, "metadata": wrong})
    assert isinstance(found, Read) and found.answers == {"variance": ("y",)}
    assert (found.assignment, found.notebook, found.student) == ("", "", "")


def test_worksheets_of_an_old_notebook_are_read(tmp_path):
    old = {"input": ["x = 1"], "metadata": {"nbgrader": {"grade_id": "variance"}}}
    found = read(tmp_path, {"nbformat": 3, "worksheets": [{"cells": [old]}, {"cells": None}, 1]})
    assert isinstance(found, Read) and found.answers == {"variance": ("x = 1",)}


def test_every_copy_of_a_cell_is_kept(tmp_path):
    found = read(tmp_path, GOOD | {"cells": [cell("a", "1"), cell("a", "2"), cell("b", "3")]})
    assert isinstance(found, Read) and found.answers == {"a": ("1", "2"), "b": ("3",)}


@pytest.mark.parametrize(
    ("metadata", "language"),
    [
        ({"kernelspec": {"language": "R", "name": "ir"}}, "R"),
        ({"kernelspec": {"name": "julia-1.11"}}, "julia"),
        ({"kernelspec": {"language": "python"}, "language_info": {"name": "julia"}}, "julia"),
        ({"kernelspec": {"language": "python", "name": "conda-env-x"}}, ""),
        ({"kernelspec": {"name": "python3"}, "language_info": {"name": "ipython"}}, ""),
        ({"kernelspec": [], "language_info": 3}, ""),
        ({}, ""),
    ],
)
def test_the_language_of_the_kernel_is_told(tmp_path, metadata, language):
    found = read(tmp_path, GOOD | {"metadata": metadata})
    assert isinstance(found, Read) and found.language == language


def test_half_a_character_becomes_one_that_can_be_written(tmp_path):
    found = read(tmp_path, {"cells": [cell("a", "x = '\ud800'")]})
    assert isinstance(found, Read)
    found.answers["a"][0].encode("utf-8")


def test_a_file_above_the_limit_is_not_opened(tmp_path):
    path = tmp_path / FILE
    with open(path, "wb") as file:
        file.truncate(LARGEST + 1)
    found = read_notebook(path)
    assert isinstance(found, Trouble) and found.name == "too-large" and "20 MB" in found.message


def test_links_folders_and_pipes_are_not_opened(tmp_path):
    (tmp_path / "real").write_text(TEXT, "utf-8")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "folder", "pipe", "nowhere"):
        found = read_notebook(tmp_path / name)
        assert isinstance(found, Trouble) and found.name == "unreadable", name


def test_a_file_that_may_not_be_read_says_so(tmp_path, monkeypatch):
    (tmp_path / FILE).write_text(TEXT, "utf-8")

    def refused(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(reading.os, "open", refused)  # root may read everything
    found = read_notebook(tmp_path / FILE)
    assert found == reading.trouble("unreadable", why="Permission denied")


def test_a_stub_with_other_blanks_is_still_a_stub():
    stub = "def f(x):\n    # YOUR CODE HERE\n    raise NotImplementedError()"
    assert not written(stub.replace("\n", "  \n\n") + "\n", stub)
    assert not written("\n  \n", stub)
    assert written(stub + "\nx = 1", stub)
