"""Health of GPU nodes: acceptance before they get work, evidence about their faults, and repairs."""

from __future__ import annotations

import sys

from physical_ai.repository import GRID_AGENT

# The GRID agent has the reader of nvidia-smi. In an installation its package is among the data of the platform.
if str(GRID_AGENT) not in sys.path:
    sys.path.append(str(GRID_AGENT))
