"""Functions with the same statements as another function of the checkout."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from docs.generator.packages import Checkout, shape, statements, without_docstring

LEAST = 4
"""Statements, at any depth, from which on a function is compared: shorter ones agree by chance."""


def duplicates(checkout: Checkout) -> list[tuple[str, ...]]:
    """Groups of functions, as path and name, whose bodies are equal but for docstrings and annotations.

    Only functions of one shape are compared, and only files that have some are parsed.
    """
    counted = Counter(each for module in checkout.modules.values() for each in module.shapes)
    shared = {each for each, number in counted.items() if number > 1 and len(each[1]) >= LEAST}
    by_body: dict[str, list[str]] = {}
    for path, module in checkout.modules.items():
        if shared.isdisjoint(module.shapes):
            continue
        for function in _functions(ast.parse((checkout.root / path).read_text(encoding="utf-8"))):
            if (own := shape(function)) in shared:
                key = f"{own[0]}{[ast.dump(each) for each in without_docstring(function)]}"
                by_body.setdefault(key, []).append(f"{path}:{function.name}")
    return [tuple(places) for places in by_body.values() if len(places) > 1]


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    yield from (node for node in statements(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
