"""The picture of the README shows the default stack: its files, its pools, and what is installed."""

from __future__ import annotations

import re

from physical_ai.planning.plan import make_plan
from physical_ai.repository import DOCS, ROOT
from physical_ai.settings import DriverSource, Pool, Priority, Scale, load
from physical_ai.settings.facts.pools import node_pools

STACK = "dev-westus2"
TEXTS = re.findall(r"<text[^>]*>([^<]*)</text>", (DOCS / "img" / "platform.svg").read_text(encoding="utf-8"))
CHARTS = {"gpu-operator": "GPU Operator", "kai-scheduler": "KAI scheduler", "backend-operator": "OSMO agents"}
INSTALLERS = {DriverSource.OPERATOR: "driver by the GPU Operator", DriverSource.GRID: "driver by the GRID driver agent"}


def nodes(scale: Scale) -> str:
    if scale.count is None:
        return f"{scale.min} to {scale.max} nodes"
    return "1 node" if scale.count == 1 else f"{scale.count} nodes"


def test_the_picture_shows_every_pool() -> None:
    pools = node_pools(load(STACK).settings)
    gpu = [pool for pool in pools.values() if isinstance(pool, Pool)]
    spot = {name for name, pool in pools.items() if isinstance(pool, Pool) and pool.priority is Priority.SPOT}
    titles = [f"{name}: {nodes(pool.scale)}{', Spot' * (name in spot)}" for name, pool in pools.items()]
    assert [each for each in TEXTS if re.search(r": .* nodes?\b", each)] == titles
    assert [each for each in TEXTS if each.startswith("Standard_")] == [pool.sku for pool in pools.values()]
    assert [each for each in TEXTS if each.startswith("driver ")] == [INSTALLERS[pool.driver.source] for pool in gpu]


def test_the_picture_shows_every_chart() -> None:
    assert [CHARTS[each.name] for each in make_plan(load(STACK).settings).charts] == [
        each for each in TEXTS if each in CHARTS.values()
    ]


def test_the_picture_shows_settings_as_they_are() -> None:
    settings = load(STACK).settings
    assert f"{settings.network.address_space}, NAT gateway" in TEXTS
    assert f"{settings.monitoring.retention_days} days" in TEXTS


def test_the_files_in_the_picture_exist() -> None:
    folders = [each for each in TEXTS if each.endswith("/")]
    files = [f"stacks/{each}" for each in TEXTS if each.endswith((".yaml", ".yml"))]
    assert "stacks/" in folders
    assert f"stacks/Pulumi.{STACK}.yaml" in files
    assert [path for path in folders + files if not (ROOT / path).exists()] == []
