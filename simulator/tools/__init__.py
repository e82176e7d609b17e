"""The engine and control-plane commands that the simulator runs: pinned, and downloaded or built when missing.

Standard library only: `python -m simulator.tools` installs them before there are any Python packages.
"""

from simulator.tools.families import DELIVERY, FAMILIES, HELM, LINTERS, TELEMETRY, BuildFailed, Progress
from simulator.tools.install import Origin, Toolbox, toolbox

__all__ = [
    "DELIVERY",
    "FAMILIES",
    "HELM",
    "LINTERS",
    "TELEMETRY",
    "BuildFailed",
    "Origin",
    "Progress",
    "Toolbox",
    "toolbox",
]
