"""What the model of the cluster autoscaler decides: templates, growth, the words for those who get none, and rest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from physical_ai import catalog
from physical_ai.kubernetes.fit import Offer, why_not
from physical_ai.readiness.workloads import declared_pools
from physical_ai.readiness.workloads.azure_causes import backoff
from physical_ai.settings import load
from simulator.azure.autoscaling import ScaledPool, scaled_pools
from simulator.azure.nodes import taint
from simulator.scheduling.autoscaler.growth import Group, ScaleUp, is_candidate, scale_up
from simulator.scheduling.autoscaler.idle import IdleNodes, blocks_scale_down, is_removable, minutes
from simulator.scheduling.autoscaler.pools import Scaled
from simulator.scheduling.autoscaler.report import status
from simulator.scheduling.autoscaler.template import instance_of, predicted_taint, template, works
from tests.support.azure_fakes import SPOT, Azure
from tests.support.scheduling import GPU, GPU_TAINT, GPU_TOLERATED, node, pod, unschedulable

H100, CPU = "Standard_NC40ads_H100_v5", "Standard_D8ds_v5"


@pytest.fixture
def azure(tmp_path: Path) -> Azure:
    made = Azure(tmp_path / "azure.json")
    made.platform()
    return made


def scaled(azure: Azure, name: str = "h100gpu", size: str = H100, **more: Any) -> ScaledPool:
    """An autoscaled pool of 0 to 3 nodes, as Azure reports it to the autoscaler."""
    bounds = {"enableAutoScaling": True, "minCount": 0, "maxCount": 3, "count": 0}
    azure.pool(**{**bounds, "agentPoolName": name, "vmSize": size, "nodeTaints": [GPU_TAINT], **more})
    return next(each for each in scaled_pools(azure.cluster_id, azure.cloud.azure()) if each.pool == name)


def grown(found: ScaleUp) -> tuple[str, int] | None:
    return (found.growth.group.pool.pool, found.growth.added) if found.growth else None


def group(pool: ScaledPool, **more: Any) -> Group:
    return Group(pool, template(pool, (), ()), **more)


GPU_POD = unschedulable(pod("train", gpus=1, nodeSelector={"agentpool": "h100gpu"}))


# Templates


def test_an_empty_pool_is_known_by_its_size_its_labels_and_its_taints(azure: Azure) -> None:
    found = template(scaled(azure, **{**SPOT, "nodeLabels": {"physical-ai/gpu-driver": "operator"}}), (), ())
    labels = found.node["metadata"]["labels"]
    known = {"agentpool": "h100gpu", "physical-ai/gpu-driver": "operator", "kubernetes.azure.com/accelerator": "nvidia"}
    assert labels.items() >= known.items()
    assert labels["kubernetes.azure.com/scalesetpriority"] == "spot"
    assert "nvidia.com/gpu.product" not in labels
    size = catalog.vm_size(H100)
    assert (found.free[GPU], found.free["cpu"], found.free["memory"]) == (1, size.vcpus * 1000, size.memory_gib << 30)
    spot = "kubernetes.azure.com/scalesetpriority=spot:NoSchedule"
    assert found.node["spec"]["taints"] == [taint(GPU_TAINT), taint(spot)]


def test_of_shared_gpus_and_mig_instances_an_empty_pool_knows_nothing(azure: Azure) -> None:
    found = template(scaled(azure), (), ())
    for resource in ("nvidia.com/gpu.shared", "nvidia.com/mig-1g.12gb"):
        wish = pod("wish")
        wish["spec"]["containers"][0]["resources"]["requests"] = {resource: "1"}
        assert why_not(wish, found) == (f"Insufficient {resource}",)


def test_tags_say_what_an_empty_pool_would_offer(azure: Azure) -> None:
    head = "k8s.io_cluster-autoscaler_node-template_resources_"
    tags = {f"{head}nvidia.com_gpu": "7", f"{head}nvidia.com_mig-1g.12gb": "3", f"{head}cpu": "much", "team": "4"}
    found = template(scaled(azure, tags=tags), (), ())
    assert (found.free[GPU], found.free["nvidia.com/mig-1g.12gb"]) == (7, 3)
    assert found.free["cpu"] == catalog.vm_size(H100).vcpus * 1000
    gang = [unschedulable(pod(f"train-{number}", gpus=1)) for number in range(7)]
    tagged = group(scaled(azure, tags=tags))
    assert grown(scale_up(gang, [], [tagged])) == ("h100gpu", 1)
    assert grown(scale_up(gang, [], [group(scaled(azure))])) == ("h100gpu", 3)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("nvidia.com/gpu=present:NoSchedule", "nvidia.com/gpu"),
        ("nvidia.com/gpu=:NoSchedule", "nvidia.com/gpu"),
        ("nvidia.com/gpu:NoSchedule", None),
        ("a=b=c:NoSchedule", None),
        ("a=b:Sometimes", None),
    ],
)
def test_a_taint_without_a_value_gets_lost(text: str, key: str | None) -> None:
    found = predicted_taint(text)
    assert (found and found["key"]) == key


def test_a_node_that_is_there_is_the_better_template(azure: Azure) -> None:
    pool = scaled(azure, count=1, nodeTaints=["nvidia.com/gpu:NoSchedule"])
    live = {**pool.sample, "status": {"allocatable": {"cpu": "39", "pods": "250", "nvidia.com/mig-1g.12gb": "7"}}}
    live["spec"] = {"taints": [taint("nvidia.com/gpu:NoSchedule"), taint("node.kubernetes.io/not-ready:NoSchedule")]}
    found = template(pool, [Offer.of(live)], ())
    assert found.node["spec"]["taints"] == [taint("nvidia.com/gpu:NoSchedule")]
    assert (found.free["cpu"], found.free["nvidia.com/mig-1g.12gb"]) == (39000, 7)


def test_daemonsets_that_start_with_a_node_take_their_part(azure: Azure) -> None:
    spec = {"containers": [{"resources": {"requests": {"cpu": "39"}}}]}
    there = {"spec": {"template": {"spec": {**spec, "tolerations": GPU_TOLERATED}}}}
    elsewhere = {"spec": {"template": {"spec": spec}}}
    pool = scaled(azure)
    assert template(pool, (), [there, elsewhere]).free["cpu"] == template(pool, (), ()).free["cpu"] - 39000


# Growth


def test_a_pod_makes_the_one_pool_grow_whose_nodes_would_take_it(azure: Azure) -> None:
    groups = [group(scaled(azure)), group(scaled(azure, "cpu", CPU, nodeTaints=[]))]
    assert grown(scale_up([GPU_POD], [], groups)) == ("h100gpu", 1)
    assert grown(scale_up([unschedulable(pod("web", tolerations=[]))], [], groups)) == ("cpu", 1)


def test_a_gang_makes_a_pool_grow_by_as_many_nodes_as_it_needs_and_as_there_may_be(azure: Azure) -> None:
    gang = [unschedulable(pod(f"train-{number}", gpus=1)) for number in range(5)]
    pool = scaled(azure)
    assert grown(scale_up(gang[:2], [], [group(pool)])) == ("h100gpu", 2)
    found = scale_up(gang, [], [group(pool)])
    assert grown(found) == ("h100gpu", 3)
    assert found.growth is not None
    assert str(found.growth) == f"{{{pool.scale_set} 0->3 (max: 3)}}"


def test_pods_that_fit_on_what_is_there_or_on_its_way_make_nothing_grow(azure: Azure) -> None:
    pool = scaled(azure)
    ready = Offer.of(node("ready", GPU_TAINT, gpus=1, labels={"agentpool": "h100gpu"}))
    found = scale_up([GPU_POD], [ready], [group(pool)])
    assert (found.growth, found.refused, found.needed) == (None, (), frozenset({"ready"}))
    assert scale_up([GPU_POD], [], [group(pool, upcoming=1)]).growth is None
    second = unschedulable(pod("second", gpus=1))
    assert grown(scale_up([GPU_POD, second], [], [group(pool, upcoming=1)])) == ("h100gpu", 1)


def test_an_unschedulable_pod_gets_a_reason_for_each_pool(azure: Azure) -> None:
    full = scaled(azure, "full", maxCount=1, count=1)
    groups = [
        group(scaled(azure)),
        group(scaled(azure, "cpu", CPU, nodeTaints=[])),
        group(scaled(azure, "broken"), in_backoff=True),
        group(full, upcoming=0),
    ]
    found = scale_up([unschedulable(pod("wish", gpus=1, tolerations=[]))], [], groups)
    ((_, message),) = found.refused
    assert message == (
        "pod didn't trigger scale-up: 1 Insufficient nvidia.com/gpu, 1 in backoff after failed scale-up,"
        " 1 max node group size reached, 1 node(s) had untolerated taint(s)"
    )


def test_a_value_less_taint_makes_an_empty_gpu_pool_grow_for_a_pod_that_cannot_run_there(azure: Azure) -> None:
    web = unschedulable(pod("web", tolerations=[]))
    pool = scaled(azure, nodeTaints=["nvidia.com/gpu:NoSchedule"])
    assert grown(scale_up([web], [], [group(pool)])) == ("h100gpu", 1)
    assert why_not(web, Offer.of(pool.sample)) == ("node(s) had untolerated taint(s)",)
    assert scale_up([web], [], [group(scaled(azure, "tainted"))]).growth is None


@pytest.mark.parametrize(
    ("change", "counts"),
    [
        ({}, True),
        ({"spec": {"nodeName": "node"}}, False),
        ({"spec": {"priority": -11}}, False),
        ({"metadata": {"deletionTimestamp": "2026-11-21T00:00:00Z"}}, False),
        ({"metadata": {"ownerReferences": [{"kind": "DaemonSet", "controller": True}]}}, False),
        ({"status": {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]}}, False),
        ({"status": {"conditions": []}}, False),
    ],
)
def test_only_pods_that_a_scheduler_gave_up_on_are_candidates(change: dict[str, Any], counts: bool) -> None:
    given = {key: {**value, **change.get(key, {})} for key, value in GPU_POD.items() if isinstance(value, dict)}
    assert is_candidate(given) == counts


def test_a_node_works_once_its_gpus_are_offered_and_the_taint_of_a_new_node_is_gone() -> None:
    labels = {"kubernetes.azure.com/accelerator": "nvidia"}
    assert not works(node("new", labels=labels))
    assert works(node("done", labels=labels, gpus=1))
    assert works(node("cpu"))
    assert not works(node("cpu", "node.kubernetes.io/not-ready:NoSchedule"))
    assert not works(node("cpu", "startup-taint.cluster-autoscaler.kubernetes.io/not-accepted=present:NoSchedule"))


# IdleNodes


def test_a_node_rests_when_nothing_but_daemonsets_runs_on_it() -> None:
    of_daemonset = pod("exporter", on="n")
    of_daemonset["metadata"]["ownerReferences"] = [{"kind": "DaemonSet", "controller": True}]
    mirror = pod("static", on="n")
    mirror["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "x"}
    ended = {**pod("job", on="n"), "status": {"phase": "Succeeded"}}
    assert not any(map(blocks_scale_down, (of_daemonset, mirror, ended)))
    assert blocks_scale_down(pod("train", on="n"))


def test_a_node_remains_for_running_pods_pending_pods_and_annotated_pods() -> None:
    idle = node("n")
    assert is_removable(idle, busy=(), needed=())
    assert not is_removable(idle, busy=("n",), needed=())
    assert not is_removable(idle, busy=(), needed=("n",))
    idle["metadata"]["annotations"] = {"cluster-autoscaler.kubernetes.io/scale-down-disabled": "true"}
    assert not is_removable(idle, busy=(), needed=())


def test_rest_starts_again_after_work() -> None:
    rest = IdleNodes()
    rest.note(["a", "b"], 100.0)
    rest.note(["a"], 200.0)
    rest.note(["a", "b"], 300.0)
    assert (rest.due("a", 600), rest.due("b", 600)) == (700.0, 900.0)


def test_how_long_a_node_rests_is_the_clusters_setting() -> None:
    assert minutes({"scale-down-unneeded-time": "15m"}, "scale-down-unneeded-time") == 15
    assert minutes({}, "scale-down-unneeded-time") == 10
    assert minutes({}, "scale-down-unready-time") == 20


def test_a_nodes_machine_is_found_by_its_provider_id(azure: Azure) -> None:
    pool = scaled(azure)
    assert instance_of(pool.sample) == 0
    assert instance_of(node("elsewhere")) == -1


# What it says of itself


def test_its_status_has_azures_refusal_while_it_waits_and_the_diagnosis_reads_it(azure: Azure) -> None:
    pools = Scaled(pools=(scaled(azure),))
    (working,) = status(pools, (), (), {})["nodeGroups"]
    assert working["scaleUp"] == {"status": "NoActivity"}
    document = status(pools, (), (), {"h100gpu": "QuotaExceeded: no cores"})
    (declared,) = (each for each in declared_pools(load("dev-westus2").settings) if each.name == "h100gpu")
    assert backoff(declared, document) == "scaleUp: Backoff cloudProviderError QuotaExceeded: no cores"
    assert backoff(declared, status(pools, (), (), {})) == ""
