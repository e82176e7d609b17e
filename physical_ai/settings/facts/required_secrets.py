"""Secrets that a stack must have, and the settings that name them. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator

from parts.registry import PARTS
from physical_ai.settings.facts.osmo_access import service_secrets
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.monitoring import Monitoring
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.part_answers import needed_secrets

_MONITORING: Path = ("monitoring",)


def required_secrets(settings: Settings) -> list[tuple[Path, str]]:
    """Settings that need a secret, each with the secret's name."""
    monitoring = settings.monitoring
    return [
        *(alert_secrets(monitoring) if monitoring.is_measured else ()),
        *service_secrets(settings),
        *(each for part in PARTS for each in needed_secrets(part, settings)),
    ]


def alert_secrets(monitoring: Monitoring) -> Iterator[tuple[Path, str]]:
    """Settings about receivers of alerts that need a secret, each with the secret's name."""
    for name, receiver in monitoring.receivers.items():
        if receiver.webhook_secret is not None:
            yield (*_MONITORING, "receivers", name, "webhookSecret"), receiver.webhook_secret
    if monitoring.smtp is not None and monitoring.smtp.password_secret is not None:
        yield (*_MONITORING, "smtp", "passwordSecret"), monitoring.smtp.password_secret
