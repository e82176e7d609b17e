"""The engine and control-plane commands the simulator runs, pinned as Go modules and built when they are missing."""

from physical_ai.simulator.tools.build import LINTERS, BuildFailed, Progress, Toolbox, toolbox

__all__ = ["LINTERS", "BuildFailed", "Progress", "Toolbox", "toolbox"]
