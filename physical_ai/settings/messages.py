"""Messages for Pydantic's errors: what is wrong, and the nearest valid value."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from ipaddress import IPv4Address, IPv4Network
from typing import Any

from pydantic_core import ErrorDetails

from physical_ai.catalog import nearest
from physical_ai.settings.layers.merge import unknown_key
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.base import FORMS
from physical_ai.settings.shape import shape_at

Message = tuple[str, str | None]

_BOOLS = {"true": "true", "yes": "true", "on": "true", "1": "true", "false": "false", "no": "false", "off": "false"}


def message(error: ErrorDetails, path: Path) -> Message:
    """The problem and the fix for one of Pydantic's errors at `path`."""
    kind, value = error["type"], error["input"]
    context: Mapping[str, Any] = error.get("ctx", {})
    if kind == "extra_forbidden":
        return unknown_key(path)
    if kind == "missing":
        return _missing(path)
    if kind == "value_error":
        here = shape_at(path)
        if here is not None and here.type in _PARSED:
            return _PARSED[here.type](value, context)
        return _sentence(str(context.get("error", error["msg"]))), None
    if kind in _SAY:
        return _SAY[kind](value, context)
    return _sentence(f"{_quote(value)}: {error['msg']}"), None


def _missing(path: Path) -> Message:
    here = shape_at(path)
    description = here.info.description if here and here.info else None
    return f"'{path[-1]}' is missing.", f"Add it. {description or ''}".strip()


def _whole_number(value: Any, _context: Mapping[str, Any]) -> Message:
    if isinstance(value, str) and re.fullmatch(r"-?\d{1,18}", value):
        return f"{_quote(value)} is text; a whole number is expected.", f"Write it without quotes: {int(value)}"
    if isinstance(value, float):
        return f"{value} is not a whole number.", f"Write {round(value)}."
    return f"{_quote(value)} is not a whole number.", None


def _number(value: Any, _context: Mapping[str, Any]) -> Message:
    if isinstance(value, str) and re.fullmatch(r"-?\d{1,12}(\.\d{1,12})?", value):
        return f"{_quote(value)} is text; a number is expected.", f"Write it without quotes: {value}"
    return f"{_quote(value)} is not a number.", None


def _text(value: Any, _context: Mapping[str, Any]) -> Message:
    if isinstance(value, (bool, int, float)):
        return f"{_quote(value)} is not text.", f'Put it in quotes: "{json.dumps(value)}"'
    return f"{_quote(value)} is not text.", None


def _truth(value: Any, _context: Mapping[str, Any]) -> Message:
    near = _BOOLS.get(str(value).lower())
    return f"{_quote(value)} is neither true nor false.", f"Write it without quotes: {near}" if near else None


def _choice(value: Any, context: Mapping[str, Any]) -> Message:
    known = re.findall(r"'([^']*)'", str(context["expected"])) or [str(context["expected"])]
    near = nearest(str(value), known)
    if not isinstance(value, str) and str(value) in known:
        return f"{_quote(value)} is not text.", f'Put it in quotes: "{value}"'
    choices = f"One of: {', '.join(known)}."
    return f"{_quote(value)} is not possible here.", f"Did you mean '{near}'?  {choices}" if near else choices


def _pattern(value: Any, context: Mapping[str, Any]) -> Message:
    pattern = str(context["pattern"])
    name = re.sub(r"[^a-z0-9]", "", str(value).lower()).lstrip("0123456789")[:12]
    is_name = pattern == r"^[a-z][a-z0-9]{0,11}$"
    return f"{_quote(value)} is not {FORMS[pattern]}.", f"Such as '{name}'." if is_name and name else None


def _at_least(value: Any, context: Mapping[str, Any]) -> Message:
    return f"{_quote(value)} is too small.", f"At least {context['ge']}."


def _at_most(value: Any, context: Mapping[str, Any]) -> Message:
    return f"{_quote(value)} is too large.", f"At most {context['le']}."


def _mapping(value: Any, _context: Mapping[str, Any]) -> Message:
    return f"{_quote(value)} is not a map of settings.", "Write it as: {key: value}"


def _list(value: Any, _context: Mapping[str, Any]) -> Message:
    return f"{_quote(value)} is not a list.", f"Write it as: [{json.dumps(value)}]"


def _network(value: Any, _context: Mapping[str, Any]) -> Message:
    try:
        fixed = IPv4Network(value if isinstance(value, str) else "", strict=False)
    except ValueError:
        return f"{_quote(value)} is not an IPv4 range.", "Write it in CIDR form, like 10.40.1.0/24."
    return f"{_quote(value)} is not the first address of its range.", f"Write {fixed}."


def _address(value: Any, _context: Mapping[str, Any]) -> Message:
    return f"{_quote(value)} is not an IPv4 address.", "Write it like 10.41.0.10."


_SAY: dict[str, Callable[[Any, Mapping[str, Any]], Message]] = {
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
    "string_pattern_mismatch": _pattern,
    "greater_than_equal": _at_least,
    "less_than_equal": _at_most,
    "model_type": _mapping,
    "dict_type": _mapping,
    "model_attributes_type": _mapping,
    "tuple_type": _list,
    "list_type": _list,
}
_PARSED: dict[Any, Callable[[Any, Mapping[str, Any]], Message]] = {IPv4Network: _network, IPv4Address: _address}


def _quote(value: Any) -> str:
    text = f"'{value}'" if isinstance(value, str) else json.dumps(value, default=str)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith(".") else f"{text}."
