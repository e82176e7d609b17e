"""Registries from which a stack pulls images: the public registries of the images, or the stack's own registry, which
caches other registries.

If an admission policy rewrites every image to the stack's registry, an image can be pulled if a cache rule covers its
registry (Azure docs, container-registry artifact-cache-overview). Images that somebody has imported can be pulled, too,
but no resource shows them.
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
    """The images of the stack's charts, by registry. Images that depend on a value of the chart are left out."""
    found: dict[str, list[str]] = {}
    for release in of_type(resources, RELEASE):
        for image in images_of(_chart(release)):
            if image.only is None:
                found.setdefault(image.host, []).append(image.image)
    return found


def _chart(release: Resource) -> str:
    """The chart's name. The input of the release may be the name, an address in a registry, or the file name of an
    archive.
    """
    last = str(known(release.inputs.get("chart"), "")).rpartition("/")[2]
    return next((name for name in chart_images() if last == name or last.startswith((f"{name}-v", f"{name}-1"))), last)


def renaming(resources: Sequence[Resource]) -> Resource | None:
    """The admission policy that makes Pods pull only from the stack's registry; None if the stack has none."""
    for each in of_type(resources, POLICY):
        if known(known_map(each.inputs.get("metadata")).get("name")) == POLICY_NAME:
            return each
    return None


def has(host: str, images: Sequence[str], resources: Sequence[Resource]) -> Verdict:
    """Verdict on pulling `images` of the registry `host` through the stack's own registry: open if a cache rule of the
    stack's registry covers `host`, and unknown otherwise.
    """
    for rule in of_type(resources, CACHE_RULE):
        if str(known(rule.inputs.get("sourceRepository"), "")).partition("/")[0] == host:
            return Verdict(True, f"cache rule {known(rule.inputs.get('cacheRuleName'), rule.name)}", rule)
    return Verdict(
        None, f"whether somebody imported {', '.join(images)}: no cache rule has {host}", renaming(resources)
    )
