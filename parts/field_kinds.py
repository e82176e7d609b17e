"""Check that each field of a `Part` has a value of the right kind: a text, a tuple, a mapping, or a function with
certain parameters.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, cast

from physical_ai.input_errors import PartError

_PARAMETERS = {
    "wanted": ("settings",),
    "plan": ("settings", "root"),
    "node_policies": ("settings",),
    "images": ("settings",),
    "exporters": ("settings",),
    "secrets": ("settings",),
    "rules": ("settings", "trust"),
    "azure_rules": ("settings", "trust"),
    "existing_rules": ("settings", "trust"),
}
"""Parameter names that each function in a field of `Part` must have, by the name of the field."""
_TUPLES = ("setting", "examples", "needs", "rules", "azure_rules", "existing_rules")
_MAPPINGS = ("owned", "privileged", "chart_images", "floating_images")
_TEXTS = ("name", "title", "resource_type", "resource_name")


def check_kinds(name: str, fields: Mapping[str, Any]) -> None:
    """Checks a part's fields before any of them is used.

    Raises:
        PartError: A field has a value of another kind, or a function with other parameters.
    """
    problems = [*_kind_problems(fields), *_function_problems(fields)]
    if problems:
        raise PartError("\n".join(f"parts/{name}/part.py: {key}\n  {text}\n  {fix}" for key, text, fix in problems))


def _kind_problems(fields: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    for key in _TEXTS:
        if not isinstance(fields[key], str):
            yield key, f"The value is a {type(fields[key]).__name__}, not a text.", f'Write {key}="…".'
    for key in _TUPLES:
        value = fields[key]
        if not isinstance(value, tuple):
            written = f'"{value}"' if isinstance(value, str) else getattr(value, "__name__", "…")
            yield key, f"The value is a {type(value).__name__}, not a tuple.", f"Write {key}=({written},)."
    for key in _MAPPINGS:
        if not isinstance(fields[key], Mapping):
            yield key, f"The value is a {type(fields[key]).__name__}, not a mapping.", f"Write {key}={{… : …}}."


def _function_problems(fields: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    for key, parameters in _PARAMETERS.items():
        value = fields[key]
        for function in _functions(key, value):
            listed = ", ".join(parameters)
            if not callable(function):
                problem = f"The value is a {type(function).__name__}, not a function."
                yield key, problem, f"Write the name of a function of ({listed}), without calling it."
            elif not _accepts(function, len(parameters)):
                problem = f"The function {getattr(function, '__name__', function)} does not take ({listed})."
                yield key, problem, f"Write its parameters: ({listed})."


def _functions(key: str, value: Any) -> Iterable[Any]:
    if key not in _TUPLES:
        return (value,)
    return cast("tuple[Any, ...]", value) if isinstance(value, tuple) else ()


def _accepts(function: Callable[..., Any], count: int) -> bool:
    try:
        inspect.signature(function).bind(*range(count))
    except (TypeError, ValueError):
        return False
    return True
