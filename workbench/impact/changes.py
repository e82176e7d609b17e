"""Interface of one planned change of a resource, with the fields that the impact rules read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class Change(Protocol):
    """One operation of a preview on one resource. A replacement is one change."""

    @property
    def name(self) -> str:
        """Name of the resource in the program."""
        ...

    @property
    def kind(self) -> str:
        """Last part of the type token, such as `AgentPool`."""
        ...

    @property
    def type(self) -> str:
        """Type token of the resource, such as `azure-native:containerservice:AgentPool`."""
        ...

    @property
    def op(self) -> str:
        """Operation: `create`, `update`, `replace` or `delete`."""
        ...

    @property
    def properties(self) -> tuple[str, ...]:
        """Paths of the properties that change; empty for a creation or deletion."""
        ...

    @property
    def old(self) -> Mapping[str, Any]:
        """Inputs of the resource before the change; empty for a creation."""
        ...

    @property
    def new(self) -> Mapping[str, Any]:
        """Inputs of the resource after the change; empty for a deletion."""
        ...


def touches(change: Change, prefixes: tuple[str, ...]) -> bool:
    """True if the change concerns a property at or below one of the property paths `prefixes`."""
    return any(
        path == prefix or path.startswith((f"{prefix}.", f"{prefix}["))
        for path in change.properties
        for prefix in prefixes
    )


def only_touches(change: Change, prefixes: tuple[str, ...]) -> bool:
    """True if all changed properties are at or below the property paths `prefixes`; False if no property changes."""
    return bool(change.properties) and all(
        any(path == prefix or path.startswith((f"{prefix}.", f"{prefix}[")) for prefix in prefixes)
        for path in change.properties
    )
