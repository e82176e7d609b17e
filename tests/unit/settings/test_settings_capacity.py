"""Capacity of pools: pools that serve one platform, and the order in which they grow."""

from __future__ import annotations

import pytest
import yaml

from physical_ai.catalog.capacity import capacity_limits, limit, reservable
from physical_ai.catalog.load import CatalogError
from physical_ai.findings import Severity
from physical_ai.planning.autoscaler import priority_expander
from physical_ai.planning.gpu_admission import kinds
from physical_ai.planning.osmo_platforms import platform, platform_template
from physical_ai.planning.warm_nodes import warm_nodes
from physical_ai.settings import Overlay, SettingsError, load
from physical_ai.settings.facts.capacity import autoscaler_tags, falls_back, reserved_machines
from physical_ai.settings.facts.node_labels import pool_labels
from physical_ai.settings.facts.osmo import OsmoPlatformFacts, gpu_capacity, gpu_platforms
from physical_ai.settings.facts.quota import quota_needs
from physical_ai.settings.models.tree import Settings
from physical_ai.subscription.capabilities import capability_findings
from simulator.scheduling.autoscaler.expander import parsed
from simulator.scheduling.kai.queues import queues_of
from simulator.scheduling.kai.reclaim import is_due_nothing
from tests.unit.settings.settings_faults import expect, faults_of, warned
from workbench.costs import Span, estimate

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
    third = (
        STAND_IN.replace("h100reg", "h100big")
        .replace("10.40.3.0", "10.40.4.0")
        .replace(", capacity: {platform: h100}", "")
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


# Reservations

A100 = (
    "pools.a100={sku: Standard_NC24ads_A100_v4, driver: {source: operator}, subnet: 10.40.3.0/26, priority: Regular,"
    " scale: {min: 0, max: 2}, capacity: {reservation: {machines: 2}}}"
)
GROUP = (
    "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/shared/providers/Microsoft.Compute"
    "/capacityReservationGroups/gpus"
)
PLACE = "pools.a100.capacity.reservation"
RTX_RESERVED = ("pools.rtxprogpu.priority=Regular", "pools.rtxprogpu.capacity={reservation: {machines: 1}}")


def needs_of(settings: Settings) -> dict[str, tuple[int, int]]:
    return {each.usage: (each.initial, each.maximum) for each in quota_needs(settings)}


def test_a_reservation_needs_its_quota_from_the_first_day() -> None:
    with_none = needs_of(settings_of(A100, f"{PLACE}=null"))
    reserved = needs_of(settings_of(A100))
    family = "StandardNCADSA100v4Family"
    assert (with_none[family], reserved[family]) == ((0, 48), (48, 48))
    assert reserved["cores"][0] - with_none["cores"][0] == 48


def test_a_reservation_in_zones_is_one_in_each() -> None:
    settings = settings_of(A100, 'pools.a100.zones=["1", "2"]')
    assert reserved_machines(settings.pools["a100"]) == 4
    assert (
        reserved_machines(settings_of(A100, f"{PLACE}={{group: {GROUP}}}", f"{PLACE}.machines=null").pools["a100"]) == 0
    )


@pytest.mark.parametrize(
    ("assignments", "path", "problem", "fix"),
    [
        ((A100, f"{PLACE}={{machines: null}}"), PLACE, "either machines, to reserve them, or group", ""),
        ((A100, f"{PLACE}={{machines: 1, group: {GROUP}}}"), PLACE, "either machines", ""),
        ((A100, f"{PLACE}={{machines: null, group: gpus}}"), f"{PLACE}.group", "is not the id of a capacity", ""),
        ((A100, "pools.a100.priority=Spot"), PLACE, "cannot be from a capacity reservation", "Regular"),
        (
            ("pools.h100gpu.priority=Regular", f"{SPOT}={{reservation: {{machines: 1}}}}"),
            f"{SPOT}.reservation",
            "no capacity reservations of Standard_NC40ads_H100_v5",
            "capacity_reservations.yaml",
        ),
    ],
)
def test_reservations_that_azure_would_refuse(assignments: tuple[str, ...], path: str, problem: str, fix: str) -> None:
    expect(faults_of(*assignments), path, problem, fix)


@pytest.mark.parametrize(
    ("assignments", "path", "problem"),
    [
        (RTX_RESERVED, "rtxprogpu.capacity.reservation", "not documented"),
        ((A100, f"{PLACE}.machines=3"), "a100.capacity.reservation.machines", "3 machines are reserved and billed"),
    ],
)  # fmt: skip
def test_doubtful_reservations(assignments: tuple[str, ...], path: str, problem: str) -> None:
    found = [each for each in warned(*assignments) if each.where == f"pools.{path}"]
    assert [each.problem for each in found if problem in each.problem], found


def test_azures_own_answer_decides_where_the_catalogue_has_none() -> None:
    pools = settings_of(*RTX_RESERVED).pools
    said = list(capability_findings("rtxprogpu", pools["rtxprogpu"], {"CapacityReservationSupported": "False"}))
    assert [each.severity for each in said if each.rule == "reservation"] == [Severity.ERROR]
    said = list(capability_findings("rtxprogpu", pools["rtxprogpu"], {"CapacityReservationSupported": "True"}))
    assert [each.fix for each in said if "capacity reservations" in each.problem] == [
        "Enter it as seen in physical_ai/catalog/data/capacity_reservations.yaml."
    ]


def test_reserved_machines_cost_what_running_ones_do() -> None:
    found = estimate(settings_of(A100)).pool("a100")
    assert (found.nodes, found.without_work) == (Span(2, 2, 2), 2)
    assert estimate(settings_of()).pool("h100gpu").without_work == 0


@pytest.mark.parametrize(
    ("series", "known"), [("NCadsA100v4", "yes"), ("NCadsH100v5", "no"), ("NDsrH200v5", "no"), ("other", "unknown")]
)
def test_series_that_can_be_reserved(series: str, known: str) -> None:
    assert reservable(series) == known


# Nodes that are kept ready

WARM = "pools.h100gpu.capacity.warm=1"


def test_a_warm_node_is_held_whole_by_a_pod_that_every_queue_may_evict() -> None:
    planned = warm_nodes(settings_of(WARM))
    assert planned is not None
    priority, deployment = planned.objects
    assert priority["value"] == -10
    pod = deployment["spec"]["template"]
    assert (deployment["metadata"]["name"], deployment["spec"]["replicas"]) == ("warm-h100gpu", 1)
    assert deployment["spec"]["selector"]["matchLabels"].items() <= pod["metadata"]["labels"].items()
    assert pod["metadata"]["labels"]["kai.scheduler/queue"] == planned.queue["metadata"]["name"]
    assert pod["spec"]["nodeSelector"] == {"kubernetes.azure.com/agentpool": "h100gpu"}
    assert pod["spec"]["priorityClassName"] == priority["metadata"]["name"]
    (container,) = pod["spec"]["containers"]
    assert container["resources"]["limits"]["nvidia.com/gpu"] == "1"
    assert is_due_nothing("physical-ai-warm", queues_of([planned.queue]))


def test_without_one_nothing_is_planned() -> None:
    assert warm_nodes(settings_of()) is None


def test_all_gpus_of_a_node_are_held() -> None:
    planned = warm_nodes(settings_of(WARM, "pools.h100gpu.sku=Standard_NC80adis_H100_v5"))
    assert planned is not None
    (container,) = planned.objects[1]["spec"]["template"]["spec"]["containers"]
    assert container["resources"]["requests"]["nvidia.com/gpu"] == "2"


def test_warm_nodes_are_billed_from_the_first_hour() -> None:
    found = estimate(settings_of(WARM)).pool("h100gpu")
    assert (found.nodes, found.without_work) == (Span(1, 1, 2), 1)
    reserved = estimate(settings_of(A100, "pools.a100.capacity.warm=1")).pool("a100")
    assert (reserved.nodes, reserved.without_work) == (Span(2, 2, 2), 2)


@pytest.mark.parametrize(
    ("assignments", "path", "problem", "fix"),
    [
        (("pools.h100gpu.capacity.warm=3",), f"{SPOT}.warm", "at most 2", "larger scale.max"),
        (
            (WARM, "pools.h100gpu.sharing={timeSlicing: {replicas: 2}}"),
            f"{SPOT}.warm",
            "all shares",
            "scale.min",
        ),
        ((WARM, "osmo.mode=namespaces"), f"{SPOT}.warm", "does not install it", "backend or platform"),
        (("pools.h100gpu.capacity.warm=-1",), f"{SPOT}.warm", "", ""),
    ],
)
def test_warm_nodes_that_nobody_could_use(assignments: tuple[str, ...], path: str, problem: str, fix: str) -> None:
    expect(faults_of(*assignments), path, problem, fix)


# Empty pools, and other kinds of pools

TAG = "k8s.io_cluster-autoscaler_node-template_resources_nvidia.com_gpu"
CUT = "pools.h100gpu.sharing={mig: {strategy: single, profiles: {1g.12gb: 7}}}"
MIXED = "pools.h100gpu.sharing={mig: {strategy: mixed, profiles: {1g.12gb: 7}}}"
ANNOUNCED = "pools.h100gpu.capacity.announced=true"


def test_an_empty_pool_says_how_many_shares_its_next_node_has() -> None:
    assert autoscaler_tags(settings_of(CUT, ANNOUNCED).pools["h100gpu"]) == {TAG: "7"}
    assert autoscaler_tags(settings_of(CUT).pools["h100gpu"]) == {}


def test_without_it_the_autoscaler_takes_a_share_for_a_node() -> None:
    found = [each.problem for each in warned(CUT) if each.rule == "empty-count"]
    assert found == [
        "The autoscaler expects 1 × nvidia.com/gpu of the first node, which offers 7: for 7 Pods it adds 7 nodes."
    ]
    assert not [each for each in warned(CUT, ANNOUNCED) if each.rule == "empty-count"]
    assert not [each for each in warned(CUT, "pools.h100gpu.scale.min=1") if each.rule == "empty-count"]


@pytest.mark.parametrize(
    ("assignments", "path", "problem", "fix"),
    [
        ((MIXED, ANNOUNCED), f"{SPOT}.announced", "never counts nodes as ready", "single strategy"),
        (("pools.h100gpu.capacity.kind=managedGpu",), f"{SPOT}.kind", "preview", "driver.source: aks"),
        (("pools.h100gpu.capacity.kind=autoProvisioned",), f"{SPOT}.kind", "GPU Operator", "capacity.platform"),
        (("pools.h100gpu.capacity.kind=karpenter",), f"{SPOT}.kind", "", "nodePool"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_reason(
    assignments: tuple[str, ...], path: str, problem: str, fix: str
) -> None:
    expect(faults_of(*assignments), path, problem, fix)
