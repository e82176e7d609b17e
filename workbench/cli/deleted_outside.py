"""Recognition of errors about objects that are in Pulumi's state and that somebody has deleted outside of Pulumi."""

from __future__ import annotations

import re
from collections.abc import Iterable

from workbench.cli.changes import Message

_NAME = r'"(?P<name>[^"]+)"'
_OF_OBJECTS = (
    # Messages of the API server, with plural kinds: events of a Pod have singular ones
    # (`secret "x" not found`).
    re.compile(rf"\b[a-z]+s(?:\.[a-z0-9.-]+)? {_NAME} not found\s*$", re.MULTILINE),
    # Messages of Helm about an upgrade and an uninstallation (pulumi-kubernetes,
    # provider/pkg/provider/helm_release.go).
    re.compile(rf"{_NAME} has no deployed releases\s*$", re.MULTILINE),
    re.compile(r"\bRelease not loaded: (?P<name>[\w.-]+): release: not found\s*$", re.MULTILINE),
    # Messages of Azure about a resource whose group or parent is gone.
    re.compile(r"\bCode=.?(?:ResourceGroup|ParentResource|Resource)NotFound\b.*'(?P<name>[^']+)'"),
)


def deleted_outside(messages: Iterable[Message]) -> list[str]:
    """Names of the objects that error messages report as not found, in the order of the messages: objects in Pulumi's
    state that were deleted outside of Pulumi.
    """
    errors = [message.text for message in messages if message.severity == "error" and message.urn]
    found = (match["name"] for text in errors for pattern in _OF_OBJECTS for match in pattern.finditer(text))
    return list(dict.fromkeys(found))


def advice(names: Iterable[str]) -> str:
    """Advice about objects that were deleted outside of Pulumi, to append to a sentence; empty if there are none."""
    joined = ", ".join(names)
    if not joined:
        return ""
    return (
        f". In Pulumi's state and not found: {joined}. If somebody deleted it outside of Pulumi, the same command fails"
        " in the same way until its --refresh takes it out of the state; then it is created again"
    )
