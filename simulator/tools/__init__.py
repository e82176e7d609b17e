"""The engine and control-plane commands that the simulator runs: pinned, and downloaded or built when missing.

Standard library only: `python -m simulator.tools` installs them before there are any Python packages.
"""

from simulator.tools.errors import BuildFailed
from simulator.tools.families import DELIVERY, FAMILIES, HELM, KUBECTL, LINTERS, TELEMETRY, Progress
from simulator.tools.install import Origin, Toolbox, toolbox

__all__ = [
    "DELIVERY",
    "FAMILIES",
    "HELM",
    "KUBECTL",
    "LINTERS",
    "TELEMETRY",
    "BuildFailed",
    "Origin",
    "Progress",
    "Toolbox",
    "toolbox",
]
