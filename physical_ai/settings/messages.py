"""Messages for Pydantic's errors: the problem, and the nearest valid value."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from ipaddress import IPv4Address, IPv4Network
from typing import Any

from pydantic_core import ErrorDetails

from physical_ai.catalog import kubernetes_minors, nearest
from physical_ai.settings.layers.examples import choices, example, in_list, in_map, written
from physical_ai.settings.layers.merge import unknown_key
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.layers.shape import Shape, shape_at
from physical_ai.settings.models.base import FORMS

Message = tuple[str, str | None]

_BOOLS = {"true": "true", "yes": "true", "on": "true", "1": "true", "false": "false", "no": "false", "off": "false"}


def message(error: ErrorDetails, path: Path) -> Message:
    """Problem and fix for one of Pydantic's errors at `path`."""
    problem, fix = _told(error, path)
    if fix is None and error["type"] != "value_error":  # a value_error's text says what to write
        fix = "Give it a name of that form." if "[key]" in error["loc"] else _otherwise(path)
        if fix and _for_none(error["input"], path):
            fix = f"For none, leave the line out. {fix}"
    return problem, fix


def _told(error: ErrorDetails, path: Path) -> Message:
    kind, value = error["type"], error["input"]
    context: Mapping[str, Any] = error.get("ctx", {})
    if kind in _SAY:
        return _SAY[kind](value, context, path)
    if kind == "value_error":
        here = shape_at(path)
        if here is not None and here.type in _PARSED:
            return _PARSED[here.type](value)
        return _sentence(str(context.get("error", error["msg"]))), None
    return _sentence(f"{_quote(value)}: {error['msg']}"), None


def _unknown(_value: Any, _context: Mapping[str, Any], path: Path) -> Message:
    return unknown_key(path)


def _missing(_value: Any, _context: Mapping[str, Any], path: Path) -> Message:
    value, here = example(path), shape_at(path)
    given = f", such as {path[-1]}: {written(value)}" if value is not None else ""
    return f"'{path[-1]}' is missing.", f"Add it{given}.  {_description(here) or ''}".strip()


_NOTHING = ("", "0", "no", "none", "never", "off", "false")


def _for_none(value: Any, path: Path) -> bool:
    """Returns true for a value that says "none", at a setting that is absent where there is none."""
    here = shape_at(path)
    absent = here is not None and here.info is not None and not here.info.is_required() and here.info.default is None
    return absent and str(value).lower() in _NOTHING


def _otherwise(path: Path) -> str | None:
    """Description of the values that the setting at `path` accepts; None if no setting has this path."""
    here, value = shape_at(path), example(path)
    if here is None:
        return None
    if here.type is bool:
        return "Write true or false."
    if here.kind == "value" and (known := choices(here)):
        return f"One of: {', '.join(known)}."
    if value is not None:
        return f"Write for example: {written(value)}"
    described = _description(here) or _description(shape_at(path[:-1]))
    return described or "Write text."


def _description(shape: Shape | None) -> str | None:
    return shape.info.description if shape is not None and shape.info is not None else None


def _whole_number(value: Any, _context: Mapping[str, Any], _path: Path) -> Message:
    if isinstance(value, str) and re.fullmatch(r"-?\d{1,18}", value):
        return f"{_quote(value)} is text; a whole number is expected.", f"Write it without quotes: {int(value)}"
    if isinstance(value, float):
        return f"{value} is not a whole number.", f"Write {round(value)}."
    return f"{_quote(value)} is not a whole number.", None


def _number(value: Any, _context: Mapping[str, Any], _path: Path) -> Message:
    if isinstance(value, str) and re.fullmatch(r"-?\d{1,12}(\.\d{1,12})?", value):
        return f"{_quote(value)} is text; a number is expected.", f"Write it without quotes: {value}"
    return f"{_quote(value)} is not a number.", None


def _text(value: Any, _context: Mapping[str, Any], _path: Path) -> Message:
    if isinstance(value, (bool, int, float)):
        return f"{_quote(value)} is not text.", f'Put it in quotes: "{json.dumps(value)}"'
    return f"{_quote(value)} is not text.", None


def _truth(value: Any, _context: Mapping[str, Any], _path: Path) -> Message:
    near = _BOOLS.get(str(value).lower())
    return f"{_quote(value)} is neither true nor false.", f"Write it without quotes: {near}" if near else None


def _choice(value: Any, context: Mapping[str, Any], _path: Path) -> Message:
    known = re.findall(r"'([^']*)'", str(context["expected"])) or [str(context["expected"])]
    near = nearest(str(value), known)
    if not isinstance(value, str) and str(value) in known:
        return f"{_quote(value)} is not text.", f'Put it in quotes: "{value}"'
    listed = f"One of: {', '.join(known)}."
    return f"{_quote(value)} is not possible here.", f"Did you mean '{near}'?  {listed}" if near else listed


def _pattern(value: Any, context: Mapping[str, Any], path: Path) -> Message:
    pattern = str(context["pattern"])
    if path[-1] in _KUBERNETES:
        known = f"Known: {', '.join(json.dumps(minor) for minor in kubernetes_minors())}."
        if re.fullmatch(r"v?\d+(\.\d+){0,2}", str(value)):
            return f"There is no Kubernetes version {_quote(value)} in the catalogue.", known
        return f"{_quote(value)} is not {FORMS[pattern]}.", known
    name = re.sub(r"[^a-z0-9]", "", str(value).lower()).lstrip("0123456789")[:12]
    is_name = pattern == r"^[a-z][a-z0-9]{0,11}$"
    return f"{_quote(value)} is not {FORMS[pattern]}.", f"Such as '{name or 'gpupool'}'." if is_name else None


def _at_least(value: Any, context: Mapping[str, Any], _path: Path) -> Message:
    return f"{_quote(value)} is too small.", f"At least {context['ge']}."


def _at_most(value: Any, context: Mapping[str, Any], _path: Path) -> Message:
    return f"{_quote(value)} is too large.", f"At most {context['le']}."


def _mapping(value: Any, _context: Mapping[str, Any], path: Path) -> Message:
    problem, here = f"{_quote(value)} is not a map of settings.", shape_at(path)
    if (found := in_map(value, path)) is not None:
        return problem, f"Write it as: {written(found)}"
    return problem, f"Its keys: {', '.join(here.fields)}." if here is not None else None


def _list(value: Any, _context: Mapping[str, Any], path: Path) -> Message:
    return f"{_quote(value)} is not a list.", f"Write it as: {written(in_list(value, path))}"


def _network(value: Any) -> Message:
    try:
        fixed = IPv4Network(value if isinstance(value, str) else "", strict=False)
    except ValueError:
        return f"{_quote(value)} is not an IPv4 range.", "Write it in CIDR form, like 10.40.1.0/24."
    return f"{_quote(value)} is not the first address of its range.", f"Write {fixed}."


def _address(value: Any) -> Message:
    return f"{_quote(value)} is not an IPv4 address.", "Write it like 10.41.0.10."


_KUBERNETES = ("kubernetesVersion", "nodesVersion")
_SAY: dict[str, Callable[[Any, Mapping[str, Any], Path], Message]] = {
    "extra_forbidden": _unknown,
    "missing": _missing,
    "string_pattern_mismatch": _pattern,
    "model_type": _mapping,
    "dict_type": _mapping,
    "model_attributes_type": _mapping,
    "tuple_type": _list,
    "list_type": _list,
    "int_type": _whole_number,
    "int_from_float": _whole_number,
    "int_parsing": _whole_number,
    "int_parsing_size": _whole_number,
    "float_type": _number,
    "float_parsing": _number,
    "finite_number": _number,
    "string_type": _text,
    "bool_type": _truth,
    "bool_parsing": _truth,
    "literal_error": _choice,
    "enum": _choice,
    "greater_than_equal": _at_least,
    "less_than_equal": _at_most,
}
_PARSED: dict[Any, Callable[[Any], Message]] = {IPv4Network: _network, IPv4Address: _address}


def _quote(value: Any) -> str:
    text = f"'{value}'" if isinstance(value, str) else json.dumps(value, default=str)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith(".") else f"{text}."
