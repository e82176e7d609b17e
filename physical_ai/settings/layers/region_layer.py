"""Check of a region's layer: it says what the region offers, and nothing that belongs to the environment.

A scale or a priority in a region's layer would hold for production and for development in that region alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from physical_ai.findings import Severity
from physical_ai.settings.faults import Fault
from physical_ai.settings.guards import is_map
from physical_ai.settings.layers.merge import Layer
from physical_ai.settings.layers.paths import Path

OF_POOLS = ("scale", "priority", "spot")
OF_ENVIRONMENT: tuple[Path, ...] = (
    ("protect",),
    ("admission",),
    ("charts",),
    ("network", "isolation"),
    ("cluster", "tier"),
    ("monitoring", "dailyQuotaGb"),
    ("monitoring", "retentionDays"),
    *((pool, key) for pool in ("systemPool", "cpuPool") for key in OF_POOLS),
)
"""Settings that belong to the environment, not to a region. For each pool under `pools`, the keys in `OF_POOLS` belong
to the environment, too.
"""


def environments_values(layer: Layer) -> Iterator[Fault]:
    """A warning for each setting of a region's layer that belongs to the environment."""
    pools = layer.data.get("pools")
    of_pools = [("pools", name, key) for name in pools for key in OF_POOLS] if is_map(pools) else []
    for path in (*OF_ENVIRONMENT, *of_pools):
        if not _sets(layer.data, path):
            continue
        fix = "Write it in layers/env, or in the files of the stacks that need it."
        if path[0] == "pools":
            fix += " A pool that takes another one's place has that pool's value with 'replaces: POOL'."
        problem = "A region's layer sets what belongs to the environment: dev and prod in this region both get it."
        yield layer.fault(path, problem, fix, severity=Severity.WARNING)


def _sets(data: Any, path: Path) -> bool:
    for key in path:
        if not is_map(data) or key not in data:
            return False
        data = data[str(key)]
    return True
