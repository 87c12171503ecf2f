"""The package as it leaves the house: what wheel and sdist hold, and that they work elsewhere."""

import doctest
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from leaks import hidden_lines, squeeze

from attnkit.verify.source import read
from release import contents, package
from release.versions import version

ROOT = Path(__file__).resolve().parents[1]
#: What a work tree may hold that Git does not know: a stray file, a cache, an earlier build.
STRAY = ("attnkit/data/stray.json", "attnkit/__pycache__/masks.pyc", "build/lib/attnkit/old.py")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Wheel and sdist of this tree."""
    return package.build(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory):
    """A folder with the installed wheel, and nothing else of ours."""
    folder = tmp_path_factory.mktemp("installed") / "lib"
    pip = ("-m", "pip", "install", "-q", "--no-deps", "--no-index", "--disable-pip-version-check")
    subprocess.run([sys.executable, *pip, "--target", folder, built[0]], check=True)
    return folder


def python(code, folder):
    """What a program prints that finds attnkit in the folder alone."""
    environment = os.environ | {"PYTHONPATH": str(folder)}
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_wheel_and_sdist_have_what_they_should_and_no_more(built):
    assert contents.faults(*built) == []


def test_the_sdist_has_the_tests_that_need_attnkit_alone(built):
    names = set(contents.in_sdist(built[1]))
    assert {"tests/conftest.py", "tests/test_masks.py", "tests/map_samples.py"} <= names
    assert not [name for name in names if name.startswith(("bookext", "chapters", "classroom"))]
    assert "tests/test_public.py" not in names  # of bookext
    assert "tests/test_instructors.py" not in names  # of bookext, by a helper
    assert "tests/small_book.py" not in names
    assert not [name for name in names if name.count("/") > 1 and name.startswith("tests/")]


def test_both_carry_the_code_of_the_chapters_and_no_solution(built):
    """What `python -m attnkit.verify` runs where there is no repository."""
    pages = {path: path.read_text("utf-8") for path in (ROOT / "chapters").glob("*.md")}
    hidden = hidden_lines(pages)
    with zipfile.ZipFile(built[0]) as wheel, tarfile.open(built[1]) as sdist:
        own = [name for name in wheel.namelist() if name.startswith("attnkit/verify/chapters/")]
        top = sdist.getnames()[0].partition("/")[0]
        for name in own:
            text = wheel.read(name)
            assert text == sdist.extractfile(f"{top}/{name}").read()
            squeezed = squeeze(text.decode())
            assert not [line for key, line in hidden.items() if key in squeezed], name
    ran = [path for path, text in pages.items() if read(text).run]
    assert {Path(name).name for name in own} == {"intro.md", *(path.name for path in ran)}


def test_no_test_of_the_sdist_reads_what_it_has_not(built):
    """A file opened by its path, a package imported in a string: no import says that.

    What is named here belongs into MANIFEST.in, in a line with ``exclude``."""
    with tarfile.open(built[1]) as archive:
        files = {m.name.rpartition("/")[2]: m for m in archive if "/tests/test_" in m.name}
        texts = {name: archive.extractfile(m).read().decode() for name, m in files.items()}
    course = re.compile(r"import bookext|from bookext|_build\b|ROOT / |__file__\).*parent")
    known = {"test_pretrained.py", "test_tasks_cldr_names.py"}  # requirements, which are there
    assert {name for name, text in texts.items() if course.search(text)} <= known


def test_the_same_sources_give_the_same_bytes(built, tmp_path):
    """Another folder, other times, other modes, a stray file, what an earlier build has left."""
    for name in package.sources():
        (tmp_path / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
        target = Path(shutil.copyfile(ROOT / name, tmp_path / "tree" / name))
        target.chmod(0o600)
    for command in (["init", "--quiet"], ["add", "--all", "--force"]):
        subprocess.run(["git", *command], cwd=tmp_path / "tree", check=True)
    for stray in STRAY:
        (tmp_path / "tree" / stray).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tree" / stray).write_text("left behind\n", encoding="utf-8")
    again = package.build(tmp_path / "dist", tmp_path / "tree")
    for first, second in zip(built, again, strict=True):
        assert first.name == second.name
        assert first.read_bytes() == second.read_bytes()


def test_an_installed_wheel_reads_its_data_and_draws_its_widgets(installed):
    said = python(
        "import attnkit\n"
        "from importlib.resources import files\n"
        ""
        "print(attnkit.__file__, attnkit.__version__)\n"
        "data = files('attnkit') / 'data'\n"
        "print(len([f for f in data.iterdir() if f.name.endswith('.safetensors')]))\n"
        "from attnkit.widgets import MaskEditor\n"
        "print(len(MaskEditor()._esm) > 1000, len(MaskEditor()._css) > 100)\n",
        installed,
    ).split()
    assert said[0].startswith(str(installed)) and said[1] == version()
    assert int(said[2]) == len([*(ROOT / "attnkit" / "data").glob("*.safetensors")])
    assert said[3:] == ["True", "True"]


def test_attnkit_is_imported_where_torch_alone_is_installed(installed):
    """Nothing but torch and what torch itself asks for, in a folder of its own."""
    python(
        "import sys\n"
        "class Missing:\n"
        "    names = {'matplotlib', 'ipywidgets', 'anywidget', 'safetensors', 'tokenizers',\n"
        "             'babel', 'tqdm', 'IPython', 'traitlets'}\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] in self.names:\n"
        "            raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Missing())\n"
        "import attnkit, attnkit.tasks, attnkit.patterns, attnkit.capture, attnkit.transformer\n",
        installed,
    )


def test_the_installed_package_says_that_it_is_typed(installed):
    assert (installed / "attnkit" / "py.typed").is_file()


def test_the_readme_of_the_package_works():
    result = doctest.testfile(str(ROOT / "docs" / "attnkit.md"), module_relative=False)
    assert result.attempted > 4 and not result.failed


def test_what_is_wrong_with_a_wheel_is_said(built, tmp_path):
    wheel, sdist = built
    broken = tmp_path / wheel.name
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(broken, "w") as new:
        for name in old.namelist():
            if not name.endswith(("py.typed", "/NOTICE", "core.js")):
                data = old.read(name)
                new.writestr(name, data.replace(b"\nVersion: ", b"\nVersion: 9."))
        new.writestr("tests/test_masks.py", "")
        new.writestr("attnkit/__pycache__/masks.pyc", "")
    assert contents.faults(broken, sdist) == [
        "wheel: without attnkit/py.typed",
        "wheel: without attnkit/widgets/core.js",
        "wheel: has attnkit/__pycache__/masks.pyc",
        "wheel: has tests/test_masks.py",
        "wheel: without the licence file NOTICE",
        f"wheel: version 9.{version()}, pyproject.toml has {version()}",
    ]


def test_what_is_wrong_with_an_sdist_is_said(built, tmp_path):
    wheel, sdist = built
    with tarfile.open(sdist) as old:
        old.extractall(tmp_path / "tree", filter="data")
    (tree,) = (tmp_path / "tree").iterdir()
    (tree / "LICENSE").unlink()
    (tree / "tests" / "conftest.py").unlink()
    broken = tmp_path / sdist.name
    with tarfile.open(broken, "w") as new:
        new.add(tree, tree.name)
    assert contents.faults(wheel, broken) == [
        "sdist: without LICENSE",
        "sdist: without tests/conftest.py",
        "sdist: without the licence file LICENSE",
    ]


def test_metadata_says_what_an_index_shows(built):
    said = contents.metadata(built[0])
    assert said["Name"] == "attnkit" and said["License-Expression"] == "MIT AND Unicode-3.0"
    classifiers = said.get_all("Classifier")
    pythons = [c.rpartition(" ")[2] for c in classifiers if re.search(r"Python :: 3\.\d+$", c)]
    assert pythons == ["3.11", "3.12", "3.13"] and said["Requires-Python"] == ">=3.11"
    assert "Typing :: Typed" in classifiers
    assert [r for r in said.get_all("Requires-Dist") if "extra" not in r] == ["torch<3,>=2.6"]
    assert said.get_all("Project-URL") is None  # an address belongs to who publishes
