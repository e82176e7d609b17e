"""Which namespaces of the platform deny what is not named. Pure."""

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
    """Whether only what a policy names reaches the namespace's Pods, and is reached by them.

    A control plane that the stack installs is; one that was installed outside the stack may need more.
    """
    installed = namespace == osmo.CONTROL_NAMESPACE and settings.osmo.installs_service
    return namespace in ALWAYS or settings.isolation.denies or installed
