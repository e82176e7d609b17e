"""Recognition of images that contain Isaac Sim or Isaac Lab, and of their Isaac Sim version, by name and tag."""

from __future__ import annotations

import re
from dataclasses import dataclass

from workbench.osmo.names import Image

FIRST_ON_CUT_VGPU = (6, 0)
"""First version of Isaac Sim that runs on vGPUs partitioned by MIG (Azure VM docs, nc-rtxpro6000-bse-v6 FAQ;
isaac-sim/IsaacSim#794).
"""

_LAB_TO_SIM = {1: (4, 0), 2: (5, 0), 3: (6, 1)}
"""Isaac Sim version that the checks assume for each major version of Isaac Lab. In fact 2.x has 4.5 to 5.1, and 3.x has
6.1 or 6.2 (Isaac Sim 6.2 docs, compatibility; Isaac Lab release notes).
"""

_NAME = re.compile(r"isaac-?(sim|lab)(-[a-z0-9.]+)*")
_VERSION = re.compile(r"v?(\d+)\.(\d+)")


@dataclass(frozen=True)
class Isaac:
    """An image that contains Isaac Sim."""

    product: str
    version: str
    sim: tuple[int, int] | None
    """Version of Isaac Sim that follows from the image's tag; None if no version follows."""

    @property
    def runs_on_cut_vgpu(self) -> bool | None:
        """True if this version renders on a vGPU partitioned by MIG; None if the version is not known."""
        return None if self.sim is None else self.sim >= FIRST_ON_CUT_VGPU


def isaac(image: Image) -> Isaac | None:
    """The Isaac product in an image, recognized by name and tag; None for other images."""
    name = image.name.rpartition("/")[2]
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    found = _VERSION.match(image.tag or "")
    version = (int(found[1]), int(found[2])) if found else None
    if match[1] == "sim":
        return Isaac("Isaac Sim", image.tag or "", version)
    sim = _LAB_TO_SIM.get(version[0], FIRST_ON_CUT_VGPU if version[0] > max(_LAB_TO_SIM) else None) if version else None
    return Isaac("Isaac Lab", image.tag or "", sim)
