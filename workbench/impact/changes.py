"""Interface of one planned change of a resource, with the fields that the impact rules read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from physical_ai.catalog.engine_values import UNKNOWNS
from physical_ai.nested import at_path


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


def changed(change: Change) -> tuple[str, ...]:
    """Paths of the properties that the preview knows to change.

    A value that is not known before the operation is no evidence of a change: the engine lists such a value whenever
    the resource that it comes from changes.
    """
    return tuple(path for path in change.properties if not _is_unknown(at_path(change.new, path)))


def _is_unknown(value: Any) -> bool:
    return isinstance(value, str) and value in UNKNOWNS


def touches(change: Change, prefixes: tuple[str, ...]) -> bool:
    """True if the change concerns a property at or below one of the property paths `prefixes`."""
    return any(
        path == prefix or path.startswith((f"{prefix}.", f"{prefix}["))
        for path in changed(change)
        for prefix in prefixes
    )


def only_touches(change: Change, prefixes: tuple[str, ...]) -> bool:
    """True if all changed properties are at or below the property paths `prefixes`; False if no property changes."""
    paths = changed(change)
    return bool(paths) and all(
        any(path == prefix or path.startswith((f"{prefix}.", f"{prefix}[")) for prefix in prefixes) for path in paths
    )
