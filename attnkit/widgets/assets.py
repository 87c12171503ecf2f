"""Join a widget's ES module with the shared modules it imports: one module, no bundler."""

import re
from collections import Counter
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
_IMPORT = re.compile(r'^import\s*\{([^}]*)\}\s*from\s*"\./([a-z_]+)\.js";[ \t]*\n', re.MULTILINE)
_ANY_IMPORT = re.compile(r"^import\b.*$", re.MULTILINE)
_DECLARED = r"(?:async function\*?|function\*?|class|const|let)\s*(\w+)"
_EXPORT = re.compile(rf"^export (?={_DECLARED})", re.MULTILINE)
_TOP_LEVEL = re.compile(rf"^(?:export )?{_DECLARED}", re.MULTILINE)


def join_modules(shared: dict[str, str], module: str, name: str = "module") -> str:
    """One ES module in which the names that `module` imports from `shared` are local names.

    `shared` holds the text of each shared module by its name, those first that others import.
    Their exports lose the word `export`; each `import {…} from "./core.js";` goes. Anything this
    cannot join faithfully is refused.

    >>> print(join_modules(
    ...     {"core": "export const two = 2;\\n"},
    ...     'import { two } from "./core.js";\\nexport default { render: () => two };\\n',
    ... ))
    const two = 2;
    export default { render: () => two };
    <BLANKLINE>
    """
    offered: dict[str, set[str]] = {}
    joined = []
    for own, text in [*shared.items(), ("", module)]:
        file = f"{own}.js" if own else name
        for words, source in _IMPORT.findall(text):
            wanted = {word.strip() for word in words.split(",")} - {""}
            if unknown := sorted(wanted - offered.get(source, set())):
                raise ValueError(
                    f"{file} imports {', '.join(unknown)} from {source}.js, which exports no such "
                    "name. Export it there, under the same name (`as` is not understood)."
                )
        text = _IMPORT.sub("", text)
        if own:
            offered[own] = {match.group(1) for match in _EXPORT.finditer(text)}
            text = _EXPORT.sub("", text)
            if re.search(r"^export\b", text, re.MULTILINE):
                raise ValueError(
                    f"{file} may export functions, classes and constants by name only."
                )
        if left := _ANY_IMPORT.search(text):
            raise ValueError(
                f'{file}: expected only imports of the form `import {{ … }} from "./core.js";`, '
                f"got `{left.group()}`. A widget is one self-contained module."
            )
        joined.append(text)
    declared = Counter(word for text in joined for word in _TOP_LEVEL.findall(text))
    if twice := sorted(word for word, count in declared.items() if count > 1):
        raise ValueError(
            f"{name}: {', '.join(twice)} stands at the top level of two joined modules. "
            "Rename one of them: the modules become one."
        )
    return "".join(text.rstrip("\n") + "\n" for text in joined)


def _imported(name: str) -> list[str]:
    """The shared modules that name.js needs, those first that others import."""
    found: list[str] = []
    for _, source in _IMPORT.findall(_read(f"{name}.js")):
        found += [each for each in [*_imported(source), source] if each not in found]
    return found


@cache
def _read(file: str) -> str:
    return (HERE / file).read_text(encoding="utf-8")


@cache
def esm(name: str) -> str:
    """The ES module of widget `name`: name.js and the modules that it imports, joined."""
    shared = {each: _read(f"{each}.js") for each in _imported(name)}
    return join_modules(shared, _read(f"{name}.js"), f"{name}.js")


@cache
def css(name: str) -> str:
    """The style sheet of widget `name`: shared.css, those of the modules it imports, name.css."""
    files = ["shared.css", *(f"{each}.css" for each in _imported(name)), f"{name}.css"]
    return "\n".join(_read(file) for file in files if (HERE / file).exists())
