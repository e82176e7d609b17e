"""Images that the program itself names, and images of charts and operators whose images are all known."""

from __future__ import annotations

from collections.abc import Mapping

from parts.registry import PARTS
from physical_ai.catalog.chart_images import images_of
from physical_ai.catalog.images import MICROSOFT, PYTHON_IMAGE, image
from physical_ai.settings.facts.capacity import warm_pools
from physical_ai.settings.facts.gpu import installs_operator
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.part_answers import chosen_images
from physical_ai.settings.target import leaves_nothing

AGENTS_IMAGE = "library/ubuntu"
"""Image of the agents on nodes, which use programs of the node itself."""


def chart_images(settings: Settings) -> Mapping[str, Path]:
    """Images of the charts that a stack installs, each with the setting that makes the stack install the chart.

    A repository without a tag stands for all images in it.
    """
    monitoring = settings.monitoring
    is_on = {"entra": settings.osmo.access.login == "entra", "grafana": monitoring.grafana.enabled}
    return {
        each.image: path
        for chart, path in _charts(settings).items()
        for each in images_of(chart)
        if each.only is None or is_on[each.only]
    }


def _charts(settings: Settings) -> Mapping[str, Path]:
    """Charts whose images are in the catalogue, each with the setting that makes the stack install the chart."""
    mode: Path = ("osmo", "mode")
    return {
        chart: path
        for chart, path, installed in (
            ("gpu-operator", ("gpuOperator",), installs_operator(settings)),
            ("kai-scheduler", mode, settings.osmo.installs_backend),
            ("backend-operator", mode, settings.osmo.installs_backend),
            ("service", mode, settings.osmo.installs_service),
            *((chart, part.setting, part.wanted(settings)) for part in PARTS for chart in part.charts),
        )
        if installed
    }


def import_command(image: str, registry: str = "REGISTRY") -> str:
    """Azure command that copies an image into the stack's registry, with the name under which Pods pull it.

    >>> import_command("docker.io/otel/opentelemetry-collector-contrib")
    'az acr import --name REGISTRY --source docker.io/otel/opentelemetry-collector-contrib:TAG --image \
docker.io/otel/opentelemetry-collector-contrib:TAG'
    """
    # Without a tag the command would copy latest, which no Pod pulls.
    name = image.partition("@")[0]
    source = image if ":" in name.rpartition("/")[2] or "@" in image else f"{image}:TAG"
    return f"az acr import --name {registry} --source {source} --image {source.partition('@')[0]}"


def program_images(settings: Settings) -> Mapping[str, Path]:
    """Images that the program itself names, with their registry, each with the setting that determines it."""
    grid = settings.grid_driver
    found: dict[str, Path] = {image(AGENTS_IMAGE).at(grid.image_registry): ("gridDriver", "imageRegistry")}
    if leaves_nothing(settings):
        found[image(PYTHON_IMAGE).at(MICROSOFT)] = ("target", "leave")
    if settings.osmo.installs_service:
        found[image(PYTHON_IMAGE).at(MICROSOFT)] = ("osmo", "mode")
    for name in warm_pools(settings):
        found[image(PYTHON_IMAGE).at(MICROSOFT)] = ("pools", name, "capacity", "warm")
    for part in PARTS:
        found |= chosen_images(part, settings)
    for name, own in settings.health.acceptance.images.items():
        found[own] = ("health", "acceptance", "images", name)
    return found
