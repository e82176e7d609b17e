"""The picture of the README shows the default stack: its files, its pools, and what is installed."""

from __future__ import annotations

from docs.generator.pictures.platform import CHARTS, STACK
from physical_ai.planning.plan import make_plan
from physical_ai.repository import ROOT
from physical_ai.settings import load
from physical_ai.settings.facts.pools import node_pools
from tests.support.documentation import parts

[PICTURE] = [block.text.replace("<br>", " ") for block in parts(ROOT / "README.md")[1] if block.info == "mermaid"]


def test_the_picture_shows_every_pool_with_its_size() -> None:
    pools = node_pools(load(STACK).settings)
    assert [
        name
        for name, pool in pools.items()
        if f'["{name}: ' not in PICTURE or pool.sku.removeprefix("Standard_") not in PICTURE
    ] == []
    assert "h100gpu: 0 to 2 nodes, Spot" in PICTURE
    assert "driver by the GRID driver agent" in PICTURE


def test_the_picture_shows_every_chart() -> None:
    charts = make_plan(load(STACK).settings).charts
    assert [each.name for each in charts if CHARTS[each.name] not in PICTURE] == []


def test_the_picture_shows_every_file_of_the_stack() -> None:
    labels = [layer.label for layer in load(STACK).merged.layers]
    assert f"stacks/Pulumi.{STACK}.yaml" in labels
    assert [label for label in labels if label not in PICTURE or not (ROOT / label).is_file()] == []
