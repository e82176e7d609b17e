"""Readers of ARM's answers to validation and what-if. Pure functions.

Shapes: azure-rest-api-specs, Microsoft.Resources/deployments/stable/2022-09-01 (`DeploymentValidateResult`,
`WhatIfOperationResult`) and common-types `ErrorResponse`; `additionalInfo` of a policy: ARM docs,
error-policy-requestdisallowedbypolicy.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from workbench.verdict.model import Change, Said

_DEEPEST = 20
_UNAUTHORIZED = re.compile(
    r"Authorization failed for template resource '[^']+' of type '[^']+'\..*?perform action '[^']+' at scope '([^']+)'"
)
"""Pattern of one missing right in ARM's message. ARM lists all missing rights in one text, without a code for each."""
_POLICY = "PolicyViolation"


def errors(document: Any) -> list[Said]:
    """The messages in ARM's error document. An error that only announces the errors inside of it is left out."""
    body = _map(document)
    inner = body.get("error", body)
    return list(dict.fromkeys(_said(_map(inner), 0))) if _map(inner) else []


def _said(error: Mapping[str, Any], depth: int) -> Iterator[Said]:
    inside = [*_details(error), *_in_message(error)] if depth < _DEEPEST else []
    found = [each for one in inside for each in _said(one, depth + 1)]
    unauthorized = list(_UNAUTHORIZED.finditer(_text(error, "message")))
    if found:
        yield from found
    elif unauthorized:
        yield from (Said("AuthorizationFailed", f"{each[0]}.", each[1]) for each in unauthorized)
    elif _text(error, "code") or _text(error, "message"):
        yield Said(
            _text(error, "code") or "unnamed",
            " ".join(_text(error, "message").split()),
            _text(error, "target"),
            tuple(_policies(error)),
        )


def _details(error: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found = error.get("details")
    return [_map(each) for each in cast("list[Any]", found)] if isinstance(found, list) else []


def _in_message(error: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The inner error of an error whose message is itself a JSON error document, as some services send it; empty if the
    message is plain text.
    """
    text = _text(error, "message").strip()
    if not text.startswith("{"):
        return []
    try:
        found = _map(json.loads(text))
    except (ValueError, RecursionError):
        return []
    return [_map(found.get("error", found))]


def _policies(error: Mapping[str, Any]) -> Iterator[str]:
    rows = error.get("additionalInfo")
    for row in cast("list[Any]", rows) if isinstance(rows, list) else []:
        info = _map(_map(row).get("info"))
        if _map(row).get("type") == _POLICY:
            names = ("policyAssignmentDisplayName", "policyAssignmentName", "policyDefinitionDisplayName")
            yield next((text for name in names if (text := _text(info, name))), "a policy without a name")


def changes(document: Any) -> list[Change]:
    """Changes that a what-if answer lists. An unknown change type is kept as ARM names it."""
    rows = _map(_map(document).get("properties", document)).get("changes")
    found: list[Change] = []
    for row in cast("list[Any]", rows) if isinstance(rows, list) else []:
        each = _map(row)
        delta = each.get("delta")
        paths = [_text(_map(one), "path") for one in cast("list[Any]", delta)] if isinstance(delta, list) else []
        found.append(
            Change(
                _text(each, "resourceId"),
                _text(each, "changeType") or "unnamed",
                tuple(path for path in paths if path),
                _text(each, "unsupportedReason"),
            )
        )
    return found


def _map(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _text(row: Mapping[str, Any], key: str) -> str:
    value = row.get(key)
    return value if isinstance(value, str) else ""
