"""Facts that follow from the settings of runners, as pure functions."""

from __future__ import annotations

from parts.runners import names
from parts.runners.model import Runners
from physical_ai.catalog.images import image
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.tree import Settings

RUNNERS: Path = ("runners",)
POOL: Path = (*RUNNERS, "pool")


def runner_label(settings: Settings) -> str:
    """Label that jobs name in `runs-on`.

    >>> from physical_ai.settings import load
    >>> runner_label(load("prod-westeurope").settings)
    'physical-ai-prod-westeurope'
    """
    given = settings.runners
    if given is not None and given.label is not None:
        return given.label
    return f"physical-ai-{settings.stack}"[: names.LONGEST_NAME].rstrip("-")


def runner_image(given: Runners) -> str:
    return given.image or image(names.IMAGE).at(names.REGISTRY)


def runner_secrets(settings: Settings) -> list[tuple[Path, str]]:
    """Secrets that the stack must have for its runners: pairs of the setting that needs a secret, and the secret's
    name.
    """
    return [((*RUNNERS, "app"), names.PRIVATE_KEY)] if settings.runners is not None else []
