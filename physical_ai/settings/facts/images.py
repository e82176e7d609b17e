"""Images that the program itself names, and those of charts and operators of which all are known."""

from __future__ import annotations

from collections.abc import Mapping

from physical_ai.catalog import amd, otel, slurm
from physical_ai.catalog.images import MICROSOFT, image
from physical_ai.settings.facts.runners import RUNNERS, runner_image
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.target import leaves_nothing

AMD: Path = ("amdGpuOperator",)
AGENTS_IMAGE = "library/ubuntu"
"""What the agents of nodes run in: they use the node's own programs."""
PYTHON_IMAGE = "azurelinux/distroless/python"
"""What programs of this project run in that need nothing but the standard library."""


def program_images(settings: Settings) -> Mapping[str, Path]:
    """Images with their registry, and the setting that each follows from."""
    grid = settings.grid_driver
    found: dict[str, Path] = {image(AGENTS_IMAGE).at(grid.image_registry): ("gridDriver", "imageRegistry")}
    if leaves_nothing(settings):
        found[image(PYTHON_IMAGE).at(MICROSOFT)] = ("target", "leave")
    if settings.osmo.installs_service:
        found[image(PYTHON_IMAGE).at(MICROSOFT)] = ("osmo", "mode")
    if settings.monitoring.traces is not None:
        found[f"docker.io/{otel.IMAGE}"] = ("monitoring", "traces")
    if settings.runners is not None:
        found[runner_image(settings.runners)] = RUNNERS
    if settings.slurm is not None:
        found |= dict.fromkeys(slurm.image_names(), ("slurm",))
    amds = settings.amd_gpu_operator
    if amds is not None:
        found |= dict.fromkeys(amd.IMAGES, AMD)
        found[amds.device_plugin_image or amd.PLUGIN_IMAGE] = (*AMD, "devicePluginImage")
        found[amds.node_labeller_image or amd.LABELLER_IMAGE] = (*AMD, "nodeLabellerImage")
    for name, own in settings.health.acceptance.images.items():
        found[own] = ("health", "acceptance", "images", name)
    return found
