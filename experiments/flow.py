"""Which recorded runs the values of a page come from, read off its code.

Changing the floats of a record shows which numbers move (experiments/variations.py). It does not
show where a count, a name or the length of a list was only read again. So every name of a page that
a record flows into is followed through assignments, loops, functions and calls; a number that no
change moved but that comes from such a name is still called recorded, never measured.
"""

import ast
import re
from collections import defaultdict

from attnkit.verify.source import Page

Files = frozenset[str]
NONE: Files = frozenset()
#: Methods that put what they are given into their object.
FILLS = {"append", "extend", "insert", "add", "update", "setdefault"}


class Flow(ast.NodeVisitor):
    """Follows recorded data through the cells of a page, in order."""

    def __init__(self, records: Files):
        self.records = records
        self.names: dict[str, Files] = defaultdict(frozenset)
        self.glued: dict[str, Files] = {}  # a pattern of names, as it is written: its records
        self.printed: dict[int, Files] = {}
        self.cell = 0

    def of(self, node: ast.AST | None) -> Files:
        """The records that flow into an expression, or into the body of a function."""
        found: set[str] = set()
        for part in ast.walk(node) if node else ():
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
                found |= self.names[part.id]
            elif isinstance(part, ast.Constant) and isinstance(part.value, str):
                found |= {name for name in self.records if part.value.endswith(name)}
        return frozenset(found)

    def assign(self, target: ast.AST, files: Files, replace: bool = True) -> None:
        if isinstance(target, ast.Name):
            self.names[target.id] = files if replace else self.names[target.id] | files
        elif isinstance(target, ast.Tuple | ast.List):
            for each in target.elts:
                self.assign(each, files, replace)
        elif isinstance(target, ast.Starred | ast.Subscript | ast.Attribute):
            self.assign(target.value, files, replace=False)

    def visit_Assign(self, node):
        self.generic_visit(node)
        pairs = [(target, node.value) for target in node.targets]
        for target, value in pairs:
            if (
                isinstance(target, ast.Tuple)
                and isinstance(value, ast.Tuple)
                and len(target.elts) == len(value.elts)
            ):
                files = [self.of(each) for each in value.elts]
                for each, came in zip(target.elts, files, strict=True):
                    self.assign(each, came)
            else:
                self.assign(target, self.of(value))

    def visit_AnnAssign(self, node):
        self.assign(node.target, self.of(node.value))

    def visit_AugAssign(self, node):
        self.assign(node.target, self.of(node.value), replace=False)

    def visit_NamedExpr(self, node):
        self.assign(node.target, self.of(node.value), replace=False)

    def visit_For(self, node):
        for _ in range(2):  # what one turn leaves, the next may read
            self.assign(node.target, self.of(node.iter), replace=False)
            for statement in [*node.body, *node.orelse]:
                self.visit(statement)

    def visit_With(self, node):
        for item in node.items:
            if item.optional_vars:
                self.assign(item.optional_vars, self.of(item.context_expr))
        self.generic_visit(node)

    def visit_FunctionDef(self, node):
        self.names[node.name] = self.of(node)

    visit_ClassDef = visit_FunctionDef

    def visit_comprehension_of(self, node):
        for part in node.generators:
            self.assign(part.target, self.of(part.iter), replace=False)
        self.generic_visit(node)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_comprehension_of

    def visit_Call(self, node):
        self.generic_visit(node)
        values = [*node.args, *(keyword.value for keyword in node.keywords)]
        files = frozenset().union(*map(self.of, values)) if values else NONE
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if name == "glue" and len(node.args) > 1:
            written = pattern(node.args[0])
            self.glued[written] = self.glued.get(written, NONE) | self.of(node.args[1])
        elif name == "print":
            self.printed[self.cell] = self.printed.get(self.cell, NONE) | files
        elif isinstance(node.func, ast.Attribute) and name in FILLS:
            self.assign(node.func.value, files, replace=False)  # rows.append(value)


def pattern(name: ast.expr) -> str:
    """The names that a glue call may give, as a regular expression: f"ch1-{x}" is any of ch1-…"""
    if isinstance(name, ast.Constant):
        return re.escape(str(name.value))
    parts = name.values if isinstance(name, ast.JoinedStr) else [name]
    return "".join(pattern(p) if isinstance(p, ast.Constant) else ".*" for p in parts)


def behind(name: str, glued: dict[str, Files]) -> Files:
    """The records behind a glued name: of the calls that may have given it, the most particular."""
    fits = [written for written in glued if re.fullmatch(written, name)]
    return glued[max(fits, key=lambda written: len(written.replace(".*", "")))] if fits else NONE


def follow(page: Page, records: Files) -> tuple[dict[str, Files], dict[int, Files]]:
    """The records behind each glue call, by its names, and behind what each cell shows, by cell.

    What a cell shows is what it prints and its last expression; a picture shows whatever the cell
    reads.
    """
    flow = Flow(records)
    for flow.cell, cell in enumerate(page.run):
        source = re.sub(r"^([ \t]*)[%!](?!%).*$", r"\1pass", cell.source, flags=re.M)
        body = ast.parse(source).body
        for statement in body:
            flow.visit(statement)
        if body and isinstance(body[-1], ast.Expr):
            flow.printed[flow.cell] = flow.printed.get(flow.cell, NONE) | flow.of(body[-1].value)
    return flow.glued, flow.printed


def pictured(page: Page, records: Files) -> dict[int, Files]:
    """The records behind whatever each cell reads: its picture may show any of it."""
    flow, found = Flow(records), {}
    for flow.cell, cell in enumerate(page.run):
        source = re.sub(r"^([ \t]*)[%!](?!%).*$", r"\1pass", cell.source, flags=re.M)
        tree = ast.parse(source)
        before = flow.of(tree)
        for statement in tree.body:
            flow.visit(statement)
        found[flow.cell] = before | flow.of(tree)
    return found
