"""The model of Slurm's operator: its Pods, what Slurm says of a node, and whose drain it leaves alone."""

from __future__ import annotations

from typing import Any

import pytest

from parts.slurm import names
from simulator.slurm import nodes as model
from simulator.slurm import objects

Json = dict[str, Any]
TAINT = {"key": names.TAINT_KEY, "value": "present", "effect": "NoSchedule"}


def nodeset(**spec: Any) -> Json:
    pod = {
        "hostname": "h100gpu-",
        "nodeSelector": {"agentpool": "h100gpu"},
        "tolerations": [{"key": names.TAINT_KEY, "operator": "Exists", "effect": "NoSchedule"}],
    }
    gpus = {"nvidia.com/gpu": 2}
    slurmd = {"image": "slurmd:1", "resources": {"limits": gpus, "requests": gpus}}
    given = {"controllerRef": {"name": "slurm"}, "extraConf": "Gres=gpu:2", "slurmd": slurmd, "template": {"spec": pod}}
    metadata = {"name": "slurm-worker-h100gpu", "namespace": "slurm", "uid": "n", "generation": 1}
    return {"kind": "NodeSet", "metadata": metadata, "spec": {**given, **spec}}


def node(key: str, pool: str = "h100gpu", **spec: Any) -> Json:
    return {"metadata": {"name": key, "labels": {"agentpool": pool}}, "spec": {"taints": [TAINT], **spec}, "status": {}}


def placed(key: str, of: Json, on: str, **annotations: str) -> Json:
    """A Pod that the scheduler has placed."""
    made = model.pod(of, on)
    made["metadata"] |= {"name": key, "annotations": annotations}
    made["spec"]["nodeName"] = on
    made["status"] = {"conditions": [{"type": "SlurmNodeStateIdle", "status": "True", "message": ""}]}
    return made


def said(pod: Json, of: Json, on: Json, propagated: tuple[str, ...] = (), condemned: str = "") -> Json:
    """The states after a look; the Pod keeps them, as in the cluster."""
    found = model.judge(pod, of, on, propagated, condemned)
    pod["status"]["conditions"] = model.conditions(pod, found, "now")
    return found.states


def test_a_pod_for_each_node_of_the_pool_whose_taints_it_tolerates() -> None:
    other = {"key": "dedicated", "value": "x", "effect": "NoSchedule"}
    nodes = [node("a"), node("b", pool="cpu"), node("c", taints=[TAINT, other]), node("d", taints=[])]
    todo = model.work(nodeset(), nodes, [])
    assert todo.create == ("a", "d")
    made = model.pod(nodeset(), "a.example")
    assert (made["spec"]["hostname"], made["spec"]["containers"][0]["name"]) == ("a", "slurmd")
    assert made["spec"]["containers"][0]["resources"]["limits"] == {"nvidia.com/gpu": 2}
    assert made["metadata"]["labels"]["app.kubernetes.io/name"] == names.NODE
    assert objects.slurm_name(nodeset()) == "h100gpu"


def test_a_cordoned_node_keeps_its_pod_and_gets_no_new_one() -> None:
    cordon = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
    ill = node("a", taints=[TAINT, cordon], unschedulable=True)
    assert model.work(nodeset(), [ill], []).create == ()
    assert model.work(nodeset(), [ill], [placed("p", nodeset(), "a")]).condemned == {}
    gone = node("a", taints=[TAINT, {"key": "out", "effect": "NoExecute"}])
    assert "scale-in" in model.work(nodeset(), [gone], [placed("p", nodeset(), "a")]).condemned["p"]


def test_a_cordon_drains_with_the_nodes_conditions_as_the_reason_and_the_first_reason_stays() -> None:
    of, on, pod = nodeset(), node("a", unschedulable=True), placed("p", nodeset(), "a", **{model.GPUS_IN_USE: "1"})
    on["status"]["conditions"] = [
        {"type": "GpuMemWatch", "status": "True", "reason": "GpuMemWatchIsNotHealthy", "message": "ECC"},
        {"type": "Other", "status": "True", "reason": "R", "message": "M"},
    ]
    reason = "slurm-operator: (GpuMemWatchIsNotHealthy: ECC)"
    assert said(pod, of, on, ("GpuMemWatch",)) == {"Mixed": "", "Drain": reason}
    on["metadata"]["annotations"] = {names.CORDON_REASON: "a later\nword"}
    assert said(pod, of, on, ("GpuMemWatch",))["Drain"] == reason
    on["spec"]["unschedulable"] = False
    assert said(pod, of, on) == {"Mixed": ""}
    on["spec"]["unschedulable"] = True
    assert said(pod, of, on)["Drain"] == "slurm-operator: a later word"


def test_a_drain_of_an_administrator_is_left_alone() -> None:
    of, pod = nodeset(), placed("p", nodeset(), "a", **{model.EXTERNAL_DRAIN: "fans"})
    assert said(pod, of, node("a", unschedulable=True))["Drain"] == "fans"
    assert said(pod, of, node("a"))["Drain"] == "fans"
    del pod["metadata"]["annotations"][model.EXTERNAL_DRAIN]
    assert said(pod, of, node("a")) == {"Idle": ""}


def test_a_node_with_fewer_gpus_than_its_configuration_takes_no_jobs() -> None:
    of = nodeset(extraConf="Features=h100gpu Gres=gpu:4")
    found = said(placed("p", of, "a"), of, node("a"))
    assert found["Drain"] == found["InvalidReg"] == "gres/gpu count reported lower than configured (2 < 4)"


@pytest.mark.parametrize(("used", "state"), [("0", "Idle"), ("1", "Mixed"), ("2", "Allocated"), ("many", "Idle")])
def test_the_state_follows_from_the_gpus_that_jobs_hold(used: str, state: str) -> None:
    assert state in said(placed("p", nodeset(), "a", **{model.GPUS_IN_USE: used}), nodeset(), node("a"))


def test_a_change_of_the_nodeset_replaces_a_quarter_of_the_pods_at_a_time() -> None:
    nodes = [node(each) for each in "abcdefgh"]
    old, new = nodeset(), nodeset(slurmd={"image": "slurmd:2"})
    pods = [placed(f"p-{each}", old, each) for each in "abcdefgh"]
    assert sorted(model.work(new, nodes, pods).condemned) == ["p-a", "p-b"]
    pods[0] = {**placed("q-a", new, "a"), "status": {}}
    assert sorted(model.work(new, nodes, pods).condemned) == ["p-b"], "one of two is not registered again"
    assert model.work(old, nodes, [placed(f"p-{each}", old, each) for each in "abcdefgh"]).condemned == {}


def test_the_status_counts_the_states() -> None:
    of, nodes = nodeset(), [node("a"), node("b", unschedulable=True)]
    pods = [placed("p", of, "a"), placed("q", of, "b", **{model.GPUS_IN_USE: "2"})]
    for pod, on in zip(pods, nodes, strict=True):
        said(pod, of, on)
    found = model.status(of, nodes, pods, ["p", "q"])
    shown = [found[key] for key in ("desired", "readyReplicas", "slurmIdle", "slurmAllocated", "slurmDrain")]
    assert shown == [2, 2, 1, 1, 1]
