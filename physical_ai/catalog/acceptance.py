"""Acceptance of GPU nodes as data: the checks, their images, and the least bandwidths for each VM size.

>>> floors()["Standard_NC40ads_H100_v5"].host_device
48.0
"""

from __future__ import annotations

import datetime
from functools import lru_cache
from typing import Annotated, Literal

from pydantic import Field

from physical_ai.catalog.images import image
from physical_ai.catalog.load import DATA, CatalogError, read_rows, row
from physical_ai.catalog.rows import Row, Text

AcceptanceLevel = Literal["quick", "full", "burn-in"]
LEVELS: tuple[AcceptanceLevel, ...] = ("quick", "full", "burn-in")
"""Levels of acceptance, from the shortest to the most thorough; each includes the previous ones."""
CheckLevel = Literal["quick", "full", "burn-in", "task"]
PoolKind = Literal["all", "graphics", "passthrough", "peers", "fabric"]
OutputKind = Literal[
    "vector-add",
    "stack",
    "graphics",
    "graphics-absent",
    "vulkan",
    "isaac-sim",
    "nvbandwidth",
    "nccl",
    "nccl-fabric",
    "diag",
]
CHECK_LABEL = "physical-ai/acceptance-check"
"""Label of the Jobs and Pods of acceptance checks; its value is the check's name."""
ACCEPTED_CONDITION = "physical-ai/Accepted"
"""Type of a node condition: True after a passed acceptance run, False after a failed one; absent before the first
run.
"""
TASK_DIAGNOSTIC = "gpu-diagnostic"
"""Name of the init container that checks the GPUs before the main container of a workflow's task starts."""
FOLDER = DATA / "acceptance"


class Check(Row):
    """A check of acceptance, as a row of acceptance/checks.yaml, which explains the fields."""

    name: Text
    title: Text
    level: CheckLevel
    pools: PoolKind
    gpus: Literal["one", "every", "all"]
    nodes: Literal[1, 2] = 1
    capabilities: Text
    image: Text
    command: tuple[str, ...] = ()
    output: OutputKind
    replaces: str | None = None
    tests: tuple[Text, ...] = ()
    minutes: Annotated[int, Field(ge=1, le=240)]
    source: Text
    date: datetime.date
    unverified: tuple[Text, ...] = ()


class CheckImage(Row):
    """Image of a check: `pinned` is the name of a pinned image; otherwise `reference` is the image to pull."""

    name: Text
    reference: str | None = None
    pinned: str | None = None
    source: Text
    date: datetime.date
    unverified: tuple[Text, ...] = ()

    def at(self, registry: str) -> str | None:
        """Reference of the image to pull, from `registry` for a pinned image; None if the settings of the stack have to
        name the image.
        """
        return image(self.pinned).at(registry) if self.pinned is not None else self.reference


class NcclFloor(Row):
    """Least average bus bandwidth, in GB/s, that an all-reduce over all GPUs of a node reaches with one message
    size.
    """

    bytes: Annotated[str, Field(pattern=r"^\d+[KMG]$")]
    bus_gb_s: Annotated[float, Field(gt=0)]


class Floor(Row):
    """Least bandwidths that a node of one VM size reaches, in GB/s; None where no source has a figure."""

    size: Text
    host_device: Annotated[float, Field(gt=0)] | None = None
    peer: Annotated[float, Field(gt=0)] | None = None
    nccl: NcclFloor | None = None
    source: Text
    date: datetime.date


@lru_cache(maxsize=1)
def checks() -> dict[str, Check]:
    """All checks by name, in the order in which they run."""
    rows = [
        row(Check, data, f"acceptance/checks.yaml: {data.get('name')}") for data in read_rows(FOLDER / "checks.yaml")
    ]
    found = {each.name: each for each in rows}
    if len(found) != len(rows):
        raise CatalogError("acceptance/checks.yaml: duplicate check")
    for each in rows:
        if each.image not in check_images() or (each.replaces is not None and each.replaces not in found):
            raise CatalogError(f"acceptance/checks.yaml: {each.name} names an image or a check that there is none of")
    return found


@lru_cache(maxsize=1)
def check_images() -> dict[str, CheckImage]:
    """The images of the checks by name."""
    rows = [
        row(CheckImage, data, f"acceptance/images.yaml: {data.get('name')}")
        for data in read_rows(FOLDER / "images.yaml")
    ]
    return {each.name: each for each in rows}


@lru_cache(maxsize=1)
def floors() -> dict[str, Floor]:
    """Least bandwidths of nodes, by VM size."""
    rows = [
        row(Floor, data, f"acceptance/floors.yaml: {data.get('size')}") for data in read_rows(FOLDER / "floors.yaml")
    ]
    return {each.size: each for each in rows}
