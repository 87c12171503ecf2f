"""An assert of a chapter is a claim: one that fails is noted with its line, and the rest goes on.

Each ``assert``, each call of an ``assert_...`` and each ``with pytest.raises`` of a cell is put
into a context that notes whether it held. Those inside functions stay: whoever calls decides.
"""

import ast
from dataclasses import dataclass, field
from typing import Any

CONTEXT = "__claim__"
APART = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


@dataclass
class Claims:
    """What held and what did not, by line of the chapter."""

    held: set[int] = field(default_factory=set)
    failed: dict[int, tuple[str, str]] = field(default_factory=dict)  # line: claim, what happened

    def context(self, line: int, claim: str) -> "_Claim":
        return _Claim(self, line, claim)


class _Claim:
    def __init__(self, claims: Claims, line: int, claim: str):
        self.claims, self.line, self.claim = claims, line, claim

    def __enter__(self):
        return None

    def __exit__(self, kind, error, trace) -> bool:
        if error is None:
            self.claims.held.add(self.line)
            return False
        if not isinstance(error, Exception) or isinstance(error, ModuleNotFoundError):
            return False  # an interruption, or a package that is missing, says nothing of the claim
        said = " ".join(str(error).split())[:200]
        what = said if isinstance(error, AssertionError) else f"{kind.__name__}: {said}"
        self.claims.failed.setdefault(self.line, (self.claim, what))
        return True


class Watch(ast.NodeTransformer):
    """Put each claim of a cell into its context. ``first`` is the chapter's line of the cell."""

    def __init__(self, source: str, first: int):
        self.source, self.first = source, first

    def visit(self, node: ast.AST) -> Any:
        return node if isinstance(node, APART) else super().visit(node)

    def visit_Assert(self, node):
        return self._watched(node, node.test)

    def visit_Expr(self, node):
        claim = isinstance(node.value, ast.Call) and _called(node.value).startswith("assert")
        return self._watched(node, node) if claim else node

    def visit_With(self, node):
        if any(_expects(item) for item in node.items):
            return self._watched(node, node)
        return self.generic_visit(node)

    def _watched(self, node: ast.stmt, said: ast.AST) -> ast.With:
        claim = " ".join((ast.get_source_segment(self.source, said) or "").split())
        arguments: list[ast.expr] = [
            ast.Constant(self.first + node.lineno - 1),
            ast.Constant(claim),
        ]
        call = ast.Call(ast.Name(CONTEXT, ast.Load()), arguments, [])
        watched = ast.With([ast.withitem(call)], [node])
        return ast.fix_missing_locations(ast.copy_location(watched, node))


def _called(call: ast.Call) -> str:
    return getattr(call.func, "id", getattr(call.func, "attr", "")).lstrip("_")


def _expects(item: ast.withitem) -> bool:
    return isinstance(item.context_expr, ast.Call) and _called(item.context_expr) in {
        "raises",
        "warns",
    }
