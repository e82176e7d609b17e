"""Namespaces that a stack needs, and which of them it creates."""

from __future__ import annotations

from parts.registry import PARTS
from physical_ai.catalog.definitions import CLEANUP_NAMESPACE
from physical_ai.catalog.osmo import KAI_NAMESPACE
from physical_ai.planning import manifests
from physical_ai.planning.plan import Plan
from physical_ai.settings.facts.gpu import OPERATOR_NAMESPACE, installs_operator
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.target import leaves_nothing


def not_needed(plan: Plan) -> tuple[str, ...]:
    """Namespaces among the manifests that this stack does not need."""
    return (
        *((KAI_NAMESPACE,) if not plan.osmo else ()),
        *(own for part in PARTS for own in part.namespaces if own not in _in_use(plan)),
    )


def _in_use(plan: Plan) -> frozenset[str]:
    """Namespaces of the optional parts that the stack installs: those of each part's releases or, for a part without
    releases, all namespaces of the part.
    """
    releases = (release for planned in plan.parts.values() for release in planned.releases)
    without = (part for part in PARTS if part.name in plan.parts and not plan.parts[part.name].releases)
    return frozenset(
        (
            *(namespace for release in releases for namespace in release.namespaces),
            *(namespace for part in without for namespace in part.namespaces),
        )
    )


def used(settings: Settings) -> tuple[str, ...]:
    """Namespaces that the stack installs into but does not create."""
    return () if installs_operator(settings) else (OPERATOR_NAMESPACE,)


def created(settings: Settings, plan: Plan) -> list[str]:
    """Names of the namespaces that the stack creates."""
    left_out = {*not_needed(plan), *used(settings)}
    names = (str(manifest["metadata"]["name"]) for manifest in manifests.namespaces())
    own = [CLEANUP_NAMESPACE] if leaves_nothing(settings) else []
    return [*(name for name in names if name not in left_out), *own]
