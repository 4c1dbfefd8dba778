"""Finds iterations over sets, whose order differs from process to process.

A heuristic: it knows literals, comprehensions, calls of `set` and `frozenset`, operators on those, and names that
are assigned or annotated as such.
"""

from __future__ import annotations

import ast

SET_TYPES = ("set", "frozenset", "Set", "FrozenSet", "AbstractSet", "MutableSet")
SET_METHODS = ("union", "intersection", "difference", "symmetric_difference", "copy")
ORDERING_CALLS = ("list", "tuple", "iter", "enumerate", "zip", "map", "filter", "next", "reversed", "extend", "join")
"""Calls whose result shows the order of what they are given."""


def set_iterations(tree: ast.AST) -> list[int]:
    """The lines on which a set is iterated."""
    finder = _Finder(_names_of_sets(tree))
    finder.visit(tree)
    return sorted(finder.lines)


def _names_of_sets(tree: ast.AST) -> tuple[str, ...]:
    """Names of variables, parameters and fields that hold sets."""
    found: list[str] = []
    for node in ast.walk(tree):
        match node:
            case ast.AnnAssign(target=target, annotation=annotation) if _is_set_type(annotation):
                found.append(_last_name(target))
            case ast.arg(arg=name, annotation=ast.expr() as annotation) if _is_set_type(annotation):
                found.append(name)
            case ast.Assign(targets=targets, value=value) if _is_set(value, ()):
                found += [_last_name(target) for target in targets]
    return tuple(found)


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _is_set_type(annotation: ast.expr) -> bool:
    match annotation:
        case ast.Subscript(value=value):
            return _is_set_type(value)
        case ast.BinOp(left=left, right=right, op=ast.BitOr()):
            return _is_set_type(left) or _is_set_type(right)
        case _:
            return _last_name(annotation) in SET_TYPES


def _is_set(node: ast.expr, names: tuple[str, ...]) -> bool:
    match node:
        case ast.Set() | ast.SetComp():
            return True
        case ast.Call(func=ast.Name(id=name)):
            return name in SET_TYPES
        case ast.Call(func=ast.Attribute(value=value, attr=method)):
            return method in SET_METHODS and _is_set(value, names)
        case ast.BinOp(left=left, op=ast.BitOr() | ast.BitAnd() | ast.Sub() | ast.BitXor(), right=right):
            return _is_set(left, names) or _is_set(right, names)
        case ast.Name() | ast.Attribute():
            return _last_name(node) in names
        case _:
            return False


class _Finder(ast.NodeVisitor):
    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.lines: list[int] = []

    def _check(self, node: ast.expr) -> None:
        if _is_set(node, self.names):
            self.lines.append(node.lineno)

    def visit_For(self, node: ast.For) -> None:
        self._check(node.iter)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        self._check(node.iter)
        self.generic_visit(node)

    def visit_Starred(self, node: ast.Starred) -> None:
        self._check(node.value)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        if _last_name(node.func) in ORDERING_CALLS:
            for argument in node.args:
                self._check(argument)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "pop" and not node.args:
            self._check(node.func.value)
        self.generic_visit(node)
