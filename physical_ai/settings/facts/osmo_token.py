"""Names of the token with which OSMO's agents log in, and of its secrets and annotations, if the stack's own control
plane creates the token.
"""

from __future__ import annotations

from collections.abc import Sequence

from parts.in_cluster_data.facts import in_cluster
from physical_ai.settings.facts.data_services import restore_stamp
from physical_ai.settings.models.tree import Settings

ROTATION_ANNOTATION = "physical-ai/token-rotation"
"""Annotation of the agents' Pods that changes with each rotation and so restarts them.

They read their token only when they start, from a file that kubelet does not renew, since the chart mounts it by
`subPath`.
"""
TOKEN_ANNOTATION = "physical-ai/token-"  # noqa: S105 - a name
"""Prefix of the annotations of the agents' Secret about the token: `name`, `previous-name`, `expires`, `state`."""
SOURCE_ANNOTATION, FROM_JOB = "physical-ai/token-source", "job"
"""Annotation, and its value, of the agents' Secret whose token comes from a Job instead of the settings."""
VALID = "valid"
"""Value of the annotation `state` for a token that the control plane accepts."""

WARN_DAYS = 30
"""Number of days before a token's expiry at which reports about the token begin."""


def token_user(settings: Settings) -> str:
    """Name of the OSMO user that the agents' token belongs to."""
    return served_user(settings.osmo.backend_name)


def token_name(settings: Settings) -> str:
    """Name of the agents' token; it changes with each rotation."""
    return served_token(settings, settings.osmo.backend_name)


def token_epoch(settings: Settings) -> str:
    """Text that changes whenever a deployment has to create a token: with each rotation, and with each restore of the
    database, because a restored database may not contain the present token. A restore does not change the token's name.
    """
    data = settings.data_services
    restore = data.postgres.restore if data is not None else None
    rotation = settings.osmo.token_rotation
    if (inside := in_cluster(settings)) is not None and inside.restores:
        return f"{rotation}-{inside.restores[-1]}"
    return rotation if restore is None else f"{rotation}-{restore_stamp(restore.at)}"


def served_secret(backend: str) -> str:
    """Name of a secret in the vault of the control plane's stack: the token for the agents of another stack."""
    return f"osmo-agents-{backend}"


def served_token(settings: Settings, backend: str) -> str:
    """Name of the token for the agents of another stack.

    Both stacks derive the same name, because both have the same `osmo.tokenRotation`.
    """
    return f"{backend}-{settings.osmo.token_rotation}"


def served_user(backend: str) -> str:
    """Name of the OSMO user that the token of a backend's agents belongs to."""
    return f"{backend}-agents"


def served_backends(served: Sequence[Settings]) -> dict[str, str]:
    """Backend names, as OSMO knows them, of the served stacks whose agents log in with a token, by stack name."""
    return {other.stack: other.osmo.backend_name for other in served if other.osmo.login == "token"}
