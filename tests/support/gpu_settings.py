"""Settings about GPUs for tests: keys of a committed stack."""

from __future__ import annotations

from physical_ai.settings import Loaded, Overlay, load

H100 = "pools.h100gpu"
RTX = "pools.rtxprogpu"
SINGLE = "{mig: {strategy: single, profiles: {1g.12gb: 7}}}"
MIXED = "{mig: {strategy: mixed, profiles: {1g.12gb: 3, 3g.47gb: 1}}}"


def given_settings(*assignments: str) -> Loaded:
    return load("dev-westus2", [Overlay.assign(assignments)])
