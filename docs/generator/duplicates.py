"""Functions with the same statements as another function of the checkout."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from docs.generator.packages import Checkout

LEAST = 4
"""Statements, at any depth, from which on a function is compared: shorter ones agree by chance."""


def duplicates(checkout: Checkout) -> list[tuple[str, ...]]:
    """Groups of functions, as path and name, whose bodies are equal but for docstrings and annotations."""
    by_body: dict[str, list[str]] = {}
    for path in checkout.modules:
        for function in _functions(ast.parse((checkout.root / path).read_text(encoding="utf-8"))):
            body = _without_docstring(function)
            if sum(isinstance(node, ast.stmt) for each in body for node in ast.walk(each)) >= LEAST:
                parameters = [each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg)]
                key = f"{parameters}{[ast.dump(each) for each in body]}"
                by_body.setdefault(key, []).append(f"{path}:{function.name}")
    return [tuple(places) for places in by_body.values() if len(places) > 1]


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    yield from (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def _without_docstring(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.stmt]:
    return function.body[1:] if ast.get_docstring(function) is not None else function.body
