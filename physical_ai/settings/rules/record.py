"""Rule about stacks with `record: true`, which document a past architecture."""

from __future__ import annotations

from collections.abc import Iterator

from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.rules.finding import SettingFinding, Trust, warning

_HERE: Path = ("record",)


def check_record(settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    """Warning about a stack with `record: true`, which documents a past architecture. Such a stack only runs in the
    simulator; a deployment to Azure is refused.
    """
    if settings.record and trust(_HERE):
        named = f"Profile {settings.profile} records" if settings.profile else "This stack records"
        problem = f"{named} an architecture of the past, for simulation and comparison; do not deploy it to Azure."
        fix = "To deploy, remove profile." if settings.profile else "record: false"
        yield warning(_HERE, problem, fix, stand_in=True)
