"""Facts about which namespaces of the platform deny all traffic that no policy allows. Pure functions."""

from __future__ import annotations

from parts.registry import PARTS
from physical_ai.catalog import osmo
from physical_ai.settings.models.tree import Settings

ALWAYS = (
    osmo.WORKFLOWS_NAMESPACE,
    osmo.OPERATOR_NAMESPACE,
    *(namespace for part in PARTS if part.isolated for namespace in part.namespaces),
)


def is_isolated(settings: Settings, namespace: str) -> bool:
    """True where the namespace's Pods have only the connections that a policy allows.

    A control plane that the stack installs is isolated; a control plane that somebody else installed may need more.
    """
    installed = namespace == osmo.CONTROL_NAMESPACE and settings.osmo.installs_service
    return namespace in ALWAYS or settings.isolation.denies or installed
