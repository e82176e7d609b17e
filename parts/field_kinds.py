"""Check that each field of a `Part` has a value of the right kind: a text, a truth value, a tuple, a mapping, or a
function with certain parameters; and that what is in a tuple or mapping has the right kind too.
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
_TEXTS = ("name", "title", "resource_type", "resource_name", "stage")
_FLAGS = ("offers_gpus", "isolated")


def check_kinds(name: str, fields: Mapping[str, Any]) -> None:
    """Checks a part's fields before any of them is used.

    Raises:
        PartError: A field has a value of another kind, or a function with other parameters.
    """
    problems = [*_kind_problems(fields), *_function_problems(fields)] or [*_content_problems(fields)]
    if problems:
        raise PartError("\n".join(f"parts/{name}/part.py: {key}\n  {text}\n  {fix}" for key, text, fix in problems))


def _kind_problems(fields: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    for key in _TEXTS:
        if not isinstance(fields[key], str):
            yield key, f"The value is a {type(fields[key]).__name__}, not a text.", f'Write {key}="…".'
    for key in _FLAGS:
        if not isinstance(fields[key], bool):
            yield key, f"The value is a {type(fields[key]).__name__}, not a truth value.", f"Write {key}=True or False."
    for key in _TUPLES:
        value = fields[key]
        if not isinstance(value, tuple):
            written = f'"{value}"' if isinstance(value, str) else getattr(value, "__name__", "…")
            yield key, f"The value is a {type(value).__name__}, not a tuple.", f"Write {key}=({written},)."
    for key in _MAPPINGS:
        if not isinstance(fields[key], Mapping):
            yield key, f"The value is a {type(fields[key]).__name__}, not a mapping.", f"Write {key}={{… : …}}."


def _content_problems(fields: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Problems of what is in tuples and mappings."""
    for key in ("setting", "needs"):
        for each in fields[key]:
            if not isinstance(each, str):
                yield key, f"{each!r} is a {type(each).__name__}, not a text.", f'Write {key}=("{each}",).'
    for each in fields["examples"]:
        if not _is_example(each):
            problem = f"{each!r} is no pair of the name of a stack and its settings."
            yield "examples", problem, 'Write examples=(("dev-westus2", {…}),).'
    for key in _MAPPINGS:
        kind, fits, written = _VALUES[key]
        for name, value in fields[key].items():
            if not isinstance(name, str):
                problem = f"The key {name!r} is a {type(name).__name__}, not a text."
                yield key, problem, f'Write {key}={{"{name}": {written}}}.'
            elif not fits(value):
                problem = f"The value of '{name}' is a {type(value).__name__}, and not {kind}."
                yield key, problem, f'Write {key}={{"{name}": {written}}}.'


def _is_example(value: object) -> bool:
    pair = cast("tuple[Any, ...]", value) if isinstance(value, tuple) else ()
    return len(pair) == 2 and isinstance(pair[0], str) and isinstance(pair[1], Mapping)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _are_texts(value: object) -> bool:
    return isinstance(value, tuple) and all(map(_is_text, cast("tuple[Any, ...]", value)))


def _is_table(value: object) -> bool:
    if not isinstance(value, Mapping):
        return False
    table = cast("Mapping[Any, Any]", value)
    return all(map(_is_text, [*table, *table.values()]))


_VALUES: Mapping[str, tuple[str, Callable[[object], bool], str]] = {
    "owned": ("a mapping of texts", _is_table, '{"key": "the setting, or the reason"}'),
    "privileged": ("a text", _is_text, '"the reason"'),
    "chart_images": ("a tuple of texts", _are_texts, '("the image",)'),
    "floating_images": ("a text", _is_text, '"the reason"'),
}
"""Kind of the values of each mapping, in words and as a check, and what to write for a value."""


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
