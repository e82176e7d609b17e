"""The work of a diagnosis grows with the cluster, and not with its square: function calls are counted, not seconds."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from parts.slurm import names as slurm_names
from physical_ai.readiness.diagnosis import diagnose
from physical_ai.readiness.model import AmdObjects, Cluster, Expected
from physical_ai.readiness.nodes.signs import Alert
from physical_ai.readiness.workloads import Workloads, doctor
from tests.support import workload_objects as make
from tests.support.cases import in_one_test
from tests.support.readiness_objects import NODE, Situation
from tests.support.readiness_situations import with_ports
from tests.unit.readiness.test_amd_gates import World
from tests.unit.readiness.test_gates_slurm import CONTROLLER
from tests.unit.readiness.test_gates_slurm import pod as slurm_pod
from tests.unit.readiness.test_workload_claims import claim, slice_of
from tests.unit.readiness.test_workload_claims import waiting as waits_for_claim

Json = dict[str, Any]
SMALL, LARGE = 24, 96
MOST = 1.25
"""How much more than the cluster the work may grow: sorting, and what is prepared once, pull to either side."""
H100: Json = {"nodeSelector": {"agentpool": "h100gpu"}}
FULL = "0/1000 nodes are available: 1000 Insufficient nvidia.com/gpu."
TIMEOUT = "[rank0]:[E] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7, OpType=ALLREDUCE"


def hosts(count: int) -> list[Json]:
    return [make.node("h100gpu", number) for number in range(count)]


def running(host: Json, number: int = 0) -> Json:
    ready = [{"type": "Ready", "status": "True"}]
    own = host["metadata"]["name"]
    return make.on(own, make.pod(f"{own}-{number}"), phase="Running", conditions=ready)


def full(count: int) -> Workloads:
    """All GPUs in use, and half as many Pods that wait for one."""
    nodes = hosts(count)
    pods = [running(host, number) for host in nodes for number in range(2)]
    pods += [make.unschedulable(make.pod(f"waits-{number}", **H100), FULL) for number in range(count // 2)]
    return make.Scene(pods, nodes).workloads()


def gangs(count: int) -> Workloads:
    """One incomplete gang for each node."""
    pods = [make.unschedulable(make.kai(make.pod(f"g-{n}", **H100), f"gang-{n}"), FULL) for n in range(count)]
    groups = [make.group(f"gang-{n}", 2) for n in range(count)]
    return replace(make.Scene(pods, hosts(count)).workloads(), groups=groups)


def hanging(count: int) -> Workloads:
    """Workflows whose Pods all ended in a timeout of NCCL."""
    failed = make.crashing(1, message=TIMEOUT)
    pods = [
        make.of_workflow(make.on(host["metadata"]["name"], make.pod(f"rank-{n}"), status=failed), f"train-{n}")
        for n, host in enumerate(hosts(count))
    ]
    return make.Scene(pods, hosts(count)).workloads()


def storm(count: int) -> Workloads:
    """The autoscaler says the same of its pool again and again, while Pods wait."""
    given = full(count)
    failed = [make.autoscaler("FailedToScaleUpGroup", f"aks-h100gpu-1: QuotaExceeded {n}") for n in range(count * 20)]
    return replace(given, nodes=(), events=failed)


def claims(count: int) -> Workloads:
    """Pods whose claims find no device free, as others hold all of them."""
    pods = [
        waits_for_claim() | {"metadata": {"name": f"p-{n}", "namespace": make.WHERE, "uid": f"u-{n}"}}
        for n in range(count)
    ]
    held = [claim("mine"), *(claim(f"c-{n}", device=f"gpu-{n}") for n in range(count))]
    return replace(make.Scene(pods, hosts(2)).workloads(), claims=held, slices=[slice_of(count)])


def slurm(count: int) -> Workloads:
    nodes = hosts(count)
    pods = [slurm_pod(slurm_names.NODE, host["metadata"]["name"], Drain="fans") for host in nodes]
    return make.Scene(pods, nodes).workloads()


def owned(count: int) -> Workloads:
    """Jobs and Deployments that lack Pods: refused ones, failed ones, and some of a CronJob."""
    jobs: list[Json] = []
    pods: list[Json] = []
    events: list[Json] = []
    for number in range(count):
        by = [{"kind": "CronJob", "name": f"c-{number % 3}", "uid": f"c-{number % 3}"}]
        metadata = {"name": f"j-{number}", "namespace": make.WHERE, "uid": f"j-{number}", "ownerReferences": by}
        jobs.append({"metadata": metadata, "spec": {}, "status": {"conditions": []}})
        failed = make.on("aks-h100gpu-0", make.pod(f"j-{number}-x"), phase="Failed", status=make.crashing(1))
        failed["metadata"]["ownerReferences"] = [{"kind": "Job", "name": f"j-{number}", "uid": f"j-{number}"}]
        pods.append(failed)
        message = f'Error creating: pods "j-{number}-y" is forbidden: exceeded quota: q, requested: pods=1'
        events += [make.event(jobs[-1], "FailedCreate", message, "Job")] * 3
    sets = [{"metadata": {"name": f"d-{n}", "namespace": make.WHERE}, "spec": {}, "status": {}} for n in range(count)]
    given = make.Scene(pods, hosts(2)).workloads()
    return replace(given, owners={"Job": jobs, "Deployment": sets}, events=events)


def ports(count: int) -> Workloads:
    """Pods that wait for a port of the node."""
    message = "0/2 nodes are available: 2 node(s) didn't have free ports for the requested pod ports."
    containers = [{"name": "train", "ports": [{"hostPort": 80}]}]
    waits = [make.unschedulable(make.pod(f"p-{n}", containers=containers), message) for n in range(count)]
    held = [make.on("aks-h100gpu-0", make.pod(f"h-{n}", containers=containers), phase="Running") for n in range(count)]
    return make.Scene([*waits, *held], hosts(2)).workloads()


def signs(count: int) -> Workloads:
    """A record, an event and an alert of each node."""
    nodes = hosts(count)
    names = [host["metadata"]["name"] for host in nodes]
    records = [{"metadata": {"name": f"r-{own}", "labels": {"physical-ai/evidence": own}}, "data": {}} for own in names]
    events = [make.event(host, "XidError", "Xid 79", kind="Node") for host in nodes]
    alerts = [Alert("XidFault", {"node": own, "xid": "79"}) for own in names]
    return replace(make.Scene((), nodes).workloads(), records=records, events=events, alerts=alerts)


def absent(count: int) -> Workloads:
    """Parts of the platform are missing, on which all nodes, and all Pods that wait, depend."""
    nodes = [make.labeled(host, {"nvidia.com/gpu.present": "true"}) for host in hosts(count)]
    return replace(gangs(count), nodes=nodes, platform=make.nothing_installed())


def renamed(item: Mapping[str, Any], number: int) -> Json:
    """An object of the one node, as of another one."""
    found: Json = copy.deepcopy(dict(item))
    metadata = found["metadata"]
    if metadata.get("name") == NODE:
        metadata["name"] = f"{NODE}-{number}"
    elif "nodeName" in found.get("spec", {}):
        metadata["name"] += str(number)
        found["spec"]["nodeName"] = f"{NODE}-{number}"
    if label := metadata.get("labels", {}).get("physical-ai/evidence"):
        metadata["labels"]["physical-ai/evidence"] = f"{label}-{number}"
    return found


def many(situation: Situation, count: int, **more: Any) -> Callable[[], object]:
    """The one node of a situation, many times."""
    one = situation.cluster()
    cluster = replace(
        one,
        nodes=[renamed(each, n) for each in one.nodes for n in range(count)],
        pods=[renamed(each, n) for each in one.pods for n in range(count)],
        records=[renamed(each, n) for each in one.records for n in range(count)],
        **more,
    )
    return lambda: diagnose([situation.expected], cluster)


def without_operator(count: int) -> Callable[[], object]:
    situation = Situation().gpus({"nvidia.com/gpu": 0})
    situation.deployments["gpu-operator"]["status"]["availableReplicas"] = 0
    del situation.labels["nvidia.com/gpu.present"]
    return many(situation, count)


def slurm_gates(count: int) -> Callable[[], object]:
    situation = Situation()
    situation.expected = replace(situation.expected, slurm=True)
    pods = [slurm_pod(slurm_names.NODE, f"{NODE}-{n}", ready=False) for n in range(count)]
    return many(situation, count, slurm=[CONTROLLER, *pods])


def amd_gates(count: int) -> Callable[[], object]:
    world = World()
    world.node["status"]["allocatable"] = {}
    nodes, pods = [copy.deepcopy(world.node) for _ in range(count)], [world.pod("x") for _ in range(count)]
    for number, (node, pod) in enumerate(zip(nodes, pods, strict=True)):
        node["metadata"]["name"] = pod["spec"]["nodeName"] = f"a-{number}"
    deployments = [{"metadata": {"name": key}, **each} for key, each in world.deployments.items()]
    objects = AmdObjects([world.config], [world.daemonset], deployments, pods)
    expected = Expected("mi300x", {"amd.com/gpu": 8}, "operator")
    return lambda: diagnose([expected], Cluster(nodes=nodes, amd=objects))


SCENES: dict[str, Callable[[int], Callable[[], object]]] = {
    **{
        make_scene.__name__: lambda count, make_scene=make_scene: lambda: doctor(make_scene(count))
        for make_scene in (full, gangs, hanging, storm, claims, slurm, signs, owned, ports, absent)
    },
    "without operator": without_operator,
    "slurm gates": slurm_gates,
    "amd gates": amd_gates,
    "ports": lambda count: many(with_ports(["DOWN"] * 8), count),
}


def calls(act: Callable[[], object]) -> int:
    """The function calls of an act, those of C included."""
    count = 0

    def counted(frame: object, event: str, argument: object) -> None:
        nonlocal count
        del frame, argument
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        act()
    finally:
        sys.setprofile(before)
    return count


@in_one_test("scene", SCENES)
def test_four_times_the_cluster_is_four_times_the_work(scene: str) -> None:
    SCENES[scene](2)()  # what is read once for all
    small, large = (calls(SCENES[scene](count)) for count in (SMALL, LARGE))
    assert large <= small * LARGE / SMALL * MOST, f"{small} calls become {large}"
