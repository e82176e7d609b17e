"""Rules about the health of GPU nodes: image names, the Kubernetes version, and new nodes that wait for acceptance."""

from __future__ import annotations

from collections.abc import Iterator

from physical_ai.catalog import nearest
from physical_ai.catalog.acceptance import check_images
from physical_ai.planning.gpu_admission import MUTATION_MINOR
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.rules import registry as rules
from physical_ai.settings.rules.finding import SettingFinding, Trust, error, warning

_ADMIT: Path = ("health", "admit")
_IMAGES: Path = ("health", "acceptance", "images")


def check_health(settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    """Findings of all rules about the health of GPU nodes."""
    if trust(_IMAGES):
        yield from _images(settings)
    if trust(_ADMIT, ("cluster", "kubernetesVersion")) and settings.health.admit == "accepted":
        yield from _admission(settings, trust)


def _images(settings: Settings) -> Iterator[SettingFinding]:
    known = check_images()
    for name in settings.health.acceptance.images:
        if name not in known:
            near = nearest(name, known)
            fix = f"Did you mean '{near}'?" if near else f"Names: {', '.join(known)}."
            yield error((*_IMAGES, name), f"No check uses an image '{name}'.", fix, rule=rules.ACCEPTANCE_IMAGES)


def _admission(settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    version = settings.cluster.kubernetes_version
    if int(version.split(".")[1]) < MUTATION_MINOR:
        problem = f"Kubernetes {version} cannot give new nodes a taint: it has no MutatingAdmissionPolicy of v1."
        fix = f'Write any, or kubernetesVersion "1.{MUTATION_MINOR}".'
        yield error(_ADMIT, problem, fix, others=(("cluster", "kubernetesVersion"),), rule=rules.NODE_ADMISSION)
    growing = [name for name, pool in settings.pools.items() if trust(("pools", name)) and pool.scale.is_autoscaled]
    if growing:
        problem = f"Nodes that the autoscaler adds to {', '.join(growing)} take no work until they are accepted."
        fix = "Run `physai accept --new` on a schedule, within 15 minutes of a scale-up."
        yield warning(_ADMIT, problem, fix, rule=rules.NODE_ADMISSION)
