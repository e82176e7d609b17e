"""Azure roles: roles for Azure's management plane, and roles that give rights inside a Kubernetes cluster."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from simulator.azure.data import by_key, load_json

GUID = re.compile(r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$", re.IGNORECASE)
ROLE_ID = re.compile(r"(^|/)providers/Microsoft\.Authorization/roleDefinitions/([^/]+)$", re.IGNORECASE)


@dataclass(frozen=True)
class Role:
    """An Azure role, built-in (Azure docs, built-in roles) or created by `physai bootstrap`, with the properties that
    the simulator uses.
    """

    guid: str
    name: str
    actions: Sequence[str]
    not_actions: Sequence[str]
    in_kubernetes: bool
    """True if Azure RBAC gives the role a meaning inside a cluster."""

    def allows(self, action: str) -> bool:
        return _matches(self.actions, action) and not _matches(self.not_actions, action)


def _matches(patterns: Sequence[str], action: str) -> bool:
    def pattern(text: str) -> str:
        return ".*".join(re.escape(part) for part in text.split("*"))

    return any(re.fullmatch(pattern(p), action, re.IGNORECASE) for p in patterns)


@cache
def builtin_roles() -> Mapping[str, Role]:
    """Built-in roles by GUID."""
    table: dict[str, dict[str, Any]] = load_json("builtin_roles.json")
    return {
        guid: Role(guid, row["name"], row["actions"], row.get("notActions", ()), row.get("kubernetes", False))
        for guid, row in table.items()
    }


def role_guid(role_definition_id: Any) -> str:
    """The GUID at the end of a role definition id; empty if the id has another form."""
    match = ROLE_ID.search(role_definition_id) if isinstance(role_definition_id, str) else None
    return match.group(2).lower() if match else ""


def guid_of(name: str) -> str:
    """The GUID of a built-in role. Raises KeyError if the simulator does not know the name."""
    return by_key((role.name, guid) for guid, role in builtin_roles().items())[name]


def role_of(role_definition_id: Any) -> Role | None:
    return builtin_roles().get(role_guid(role_definition_id))
