"""Join a widget's ES module with core.js: one module, no bundler."""

import re
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
_IMPORT = re.compile(r'^import\s*\{([^}]*)\}\s*from\s*"\./core\.js";[ \t]*\n', re.MULTILINE)
_ANY_IMPORT = re.compile(r"^import\b.*$", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async function\*?|function\*?|class|const|let)\s*(\w+))", re.M)


def join_modules(core: str, module: str, name: str = "module") -> str:
    """One ES module in which the names that `module` imports from core.js are local names.

    The exports of `core` lose the word `export`; the `import {…} from "./core.js";` of `module`
    goes. Anything this cannot join faithfully is refused.

    >>> print(join_modules(
    ...     "export const two = 2;\\n",
    ...     'import { two } from "./core.js";\\nexport default { render: () => two };\\n',
    ... ))
    const two = 2;
    export default { render: () => two };
    <BLANKLINE>
    """
    offered = {match.group(1) for match in _EXPORT.finditer(core)}
    joined_core = _EXPORT.sub("", core)
    own = _IMPORT.sub("", module)
    wanted = {word.strip() for found in _IMPORT.findall(module) for word in found.split(",")} - {""}
    if unknown := sorted(wanted - offered):
        raise ValueError(
            f"{name} imports {', '.join(unknown)} from core.js, which exports no such name. "
            "Export it there, under the same name (`as` is not understood)."
        )
    if left := _ANY_IMPORT.search(joined_core) or _ANY_IMPORT.search(own):
        raise ValueError(
            f'{name}: expected only imports of the form `import {{ … }} from "./core.js";`, '
            f"got `{left.group()}`. A widget is one self-contained module."
        )
    if re.search(r"^export\b", joined_core, re.MULTILINE):
        raise ValueError("core.js may export functions, classes and constants by name only.")
    return joined_core.rstrip("\n") + "\n" + own


@cache
def esm(name: str) -> str:
    """The ES module of widget `name`: core.js and name.js joined."""
    read = lambda file: (HERE / file).read_text(encoding="utf-8")  # noqa: E731
    return join_modules(read("core.js"), read(f"{name}.js"), f"{name}.js")


@cache
def css(name: str) -> str:
    """The style sheet of widget `name`: shared.css and name.css."""
    return "\n".join(
        (HERE / file).read_text(encoding="utf-8") for file in ("shared.css", f"{name}.css")
    )
