"""Capacity of pools: pools that serve one platform, and the order in which they grow."""

from __future__ import annotations

import pytest
import yaml

from physical_ai.catalog.capacity import capacity_limits, limit
from physical_ai.catalog.load import CatalogError
from physical_ai.planning.autoscaler import priority_expander
from physical_ai.planning.gpu_admission import kinds
from physical_ai.planning.osmo_platforms import platform, platform_template
from physical_ai.settings import Overlay, SettingsError, load
from physical_ai.settings.facts.capacity import falls_back
from physical_ai.settings.facts.node_labels import pool_labels
from physical_ai.settings.facts.osmo import OsmoPlatformFacts, gpu_capacity, gpu_platforms
from physical_ai.settings.models.tree import Settings
from simulator.scheduling.autoscaler.expander import parsed
from tests.unit.settings.settings_faults import expect, faults_of, warned

SPOT, REGULAR = "pools.h100gpu.capacity", "pools.h100reg.capacity"
STAND_IN = (
    "pools.h100reg={sku: Standard_NC40ads_H100_v5, driver: {source: operator}, subnet: 10.40.3.0/26,"
    " priority: Regular, scale: {min: 0, max: 2}, osDisk: {type: Managed, sizeGb: 512}, capacity: {platform: h100}}"
)
PAIR = (f"{SPOT}={{platform: h100}}", STAND_IN)


def settings_of(*assignments: str) -> Settings:
    return load("dev-westus2", [Overlay.assign(assignments)]).settings


def platform_of(settings: Settings, pool: str) -> OsmoPlatformFacts:
    (found,) = [each for each in gpu_platforms(settings) if each.pool == pool]
    return found


def test_a_pair_of_pools_is_one_platform_of_osmo() -> None:
    settings = settings_of(*PAIR)
    assert [each.name for each in gpu_platforms(settings)] == ["h100", "rtxpro"]
    found = platform_of(settings, "h100gpu")
    assert (found.pools, found.nodes, found.is_spot) == (("h100gpu", "h100reg"), 4, True)
    assert gpu_capacity(settings) == {"nvidia.com/gpu": 6}
    assert platform(found)["description"].startswith("Node pools h100gpu, h100reg")


def test_its_tasks_select_the_label_that_both_pools_have_and_tolerate_both() -> None:
    settings = settings_of(*PAIR)
    spec = platform_template(settings, platform_of(settings, "h100gpu"))["spec"]
    assert spec["nodeSelector"] == {"physical-ai/platform": "h100"}
    for name in ("h100gpu", "h100reg"):
        assert spec["nodeSelector"].items() <= pool_labels(name, settings.pools[name]).items()
    assert {each["key"] for each in spec["tolerations"]} == {
        "nvidia.com/gpu",
        "kubernetes.azure.com/scalesetpriority",
    }
    assert kinds(settings)["physical-ai/platform"] == {"h100": "H100 NVL"}


def test_the_autoscaler_grows_spot_first_and_knows_every_other_pool() -> None:
    (config_map,) = priority_expander(settings_of(*PAIR))
    assert config_map["metadata"] == {"name": "cluster-autoscaler-priority-expander", "namespace": "kube-system"}
    written = config_map["data"]["priorities"]
    assert yaml.safe_load(written) == parsed(written) == {50: ["^aks-h100gpu-"], 10: [".*"]}


def test_without_an_on_demand_pool_nothing_is_ordered_and_nothing_is_labelled() -> None:
    settings = settings_of()
    assert priority_expander(settings) == []
    assert falls_back(settings) == ()
    assert "physical-ai/platform" not in pool_labels("h100gpu", settings.pools["h100gpu"])
    two_spots = (f"{SPOT}={{platform: h100}}", STAND_IN.replace("Regular", "Spot"))
    assert priority_expander(settings_of(*two_spots)) == []


def test_the_spot_pool_leads_wherever_it_is_written() -> None:
    settings = settings_of("pools.h100gpu.priority=Regular", PAIR[0], STAND_IN.replace("Regular", "Spot"))
    assert platform_of(settings, "h100reg").pools == ("h100reg", "h100gpu")
    assert falls_back(settings) == ("h100reg",)


def test_another_pool_of_the_model_keeps_its_own_name() -> None:
    third = STAND_IN.replace("h100reg", "h100big").replace("10.40.3.0", "10.40.4.0").replace(
        ", capacity: {platform: h100}", ""
    )
    assert [each.name for each in gpu_platforms(settings_of(*PAIR, third))] == ["h100", "rtxpro", "h100big"]


@pytest.mark.parametrize(
    ("assignments", "path", "problem", "fix"),
    [
        ((f"{SPOT}={{platform: h100}}",), f"{SPOT}.platform", "No other pool serves", "osmo.platforms.h100gpu.name"),
        ((f"{SPOT}={{platform: H100}}",), f"{SPOT}.platform", "is not a platform's name", ""),
        ((f"{SPOT}={{plattform: h100}}",), f"{SPOT}.plattform", "not a setting", "platform"),
        (
            (*PAIR, "pools.h100reg.sku=Standard_NC80adis_H100_v5"),
            "pools.h100reg.sku",
            "sku differs",
            "pools.h100gpu",
        ),
        (
            (*PAIR, "pools.h100reg.sharing={timeSlicing: {replicas: 2}}"),
            "pools.h100reg.sharing",
            "sharing differs",
            "another platform",
        ),
        (
            (*PAIR, "pools.h100reg.scale={count: 1, min: null, max: null}"),
            "pools.h100reg.scale",
            "fixed number",
            "min: 0",
        ),
        ((*PAIR, "osmo.platforms.h100reg={}"), "osmo.platforms.h100reg", "have no effect", "osmo.platforms.h100gpu"),
        (
            (*PAIR, "osmo.platforms.h100gpu={name: training}"),
            "osmo.platforms.h100gpu.name",
            "two names",
            "Remove one",
        ),
    ],
)
def test_refused(assignments: tuple[str, ...], path: str, problem: str, fix: str) -> None:
    expect(faults_of(*assignments), path, problem, fix)


def test_what_serves_is_accepted_without_a_word() -> None:
    assert not [each for each in warned(*PAIR) if "capacity" in each.where or "h100reg" in each.where]


def test_nodes_that_exist_have_no_capacity_to_ask_for() -> None:
    with pytest.raises(SettingsError) as caught:
        load("onprem-lab", [Overlay.assign(["pools.b200.capacity={platform: b200}"])])
    assert [each.where for each in caught.value.faults] == ["pools.b200.capacity"]


def test_each_limit_has_its_own_id_and_an_unknown_one_is_an_error() -> None:
    ids = [each.id for each in capacity_limits()]
    assert len(ids) == len(set(ids))
    with pytest.raises(CatalogError, match="no row 'nowhere'"):
        limit("nowhere")
