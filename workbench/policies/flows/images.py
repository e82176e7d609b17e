"""Registries that a stack's charts pull from: by themselves, or through the stack's own registry, which caches others.

Where an admission policy names every image anew in the stack's registry, an image is pulled if a cache rule has its
host (Azure docs, container-registry artifact-cache-overview), or if somebody imported it, which no resource shows.
"""

from __future__ import annotations

from collections.abc import Sequence

from physical_ai.catalog.chart_images import chart_images, images_of
from workbench.policies.flows.identity import of_type
from workbench.policies.flows.verdicts import Verdict
from workbench.policies.gateway import RELEASE
from workbench.policies.images import CACHE_RULE, POLICY, POLICY_NAME
from workbench.policies.model import Resource, known, known_map

TARGET = "images"


def pulled(resources: Sequence[Resource]) -> dict[str, list[str]]:
    """The images of the stack's charts by their registry. Those that depend on a value of the chart are left out."""
    found: dict[str, list[str]] = {}
    for release in of_type(resources, RELEASE):
        for image in images_of(_chart(release)):
            if image.only is None:
                found.setdefault(image.host, []).append(image.image)
    return found


def _chart(release: Resource) -> str:
    """The chart's name, from a name, a registry's address, or the file of an archive."""
    last = str(known(release.inputs.get("chart"), "")).rpartition("/")[2]
    return next((name for name in chart_images() if last == name or last.startswith((f"{name}-v", f"{name}-1"))), last)


def renaming(resources: Sequence[Resource]) -> Resource | None:
    """The policy that makes Pods pull from the stack's registry only; None in a stack without it."""
    for each in of_type(resources, POLICY):
        if known(known_map(each.inputs.get("metadata")).get("name")) == POLICY_NAME:
            return each
    return None


def has(host: str, images: Sequence[str], resources: Sequence[Resource]) -> Verdict:
    """Verdict whether the stack's registry has the images of another one."""
    for rule in of_type(resources, CACHE_RULE):
        if str(known(rule.inputs.get("sourceRepository"), "")).partition("/")[0] == host:
            return Verdict(True, f"cache rule {known(rule.inputs.get('cacheRuleName'), rule.name)}", rule)
    return Verdict(
        None, f"whether somebody imported {', '.join(images)}: no cache rule has {host}", renaming(resources)
    )
