"""Impact of changes on running work, predicted by a preview and then made: what was said is what happens to the Pods.

The simulated cluster is the witness: its API server, controllers and models know nothing of ways.yaml.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from physical_ai.catalog.aks import SPOT_TAINT
from simulator.kubernetes.client import Client
from simulator.simulation import Simulation
from tests.simulator.physai import fixed, physai
from tests.support.scheduling import GPU_TOLERATED
from tests.support.waiting import until

pytestmark = pytest.mark.deep
SPOT = {"key": SPOT_TAINT.split("=")[0], "operator": "Exists"}
NAMESPACE = "default"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
GONE = ("ended", "restarted")
NEWER = "gpuOperator.version=v26.7.2"


@dataclass(frozen=True)
class Change:
    """A change of settings, and the fate of work that the preview has to name for it."""

    settings: tuple[str, ...]
    says: Mapping[str, str]
    """Fate by the work's name, as far as this test expects one; certain or not."""
    has_way_back: bool = True


def sets(*settings: str) -> tuple[str, ...]:
    return tuple(word for each in settings for word in ("--set", each))


CHANGES = {
    "labels of nodes": Change(sets("pools.h100gpu.labels={team: vision}"), {"serve": "untouched"}),
    "a higher maximum": Change(sets("pools.h100gpu.scale.max=3"), {"serve": "untouched"}),
    "a taint for new Pods": Change(sets("pools.h100gpu.taints=['team=a:NoSchedule']"), {"serve": "untouched"}),
    "a taint that evicts": Change(sets("pools.h100gpu.taints=['team=a:NoExecute']"), {"serve": "ended"}),
    "shared GPUs": Change(sets("pools.h100gpu.sharing={timeSlicing: {replicas: 4}}"), {"serve": "untouched"}),
    "another driver": Change(sets("gpuOperator.driver.version=580.178.04"), {"serve": "restarted"}),
    "another size": Change(sets("pools.h100gpu.sku=Standard_NC80adis_H100_v5"), {"serve": "restarted"}),
    "a larger disk": Change(sets("pools.h100gpu.osDisk.sizeGb=1024"), {"serve": "restarted"}),
    "no Spot": Change(sets("pools.rtxprogpu.priority=Regular"), {"render": "ended", "serve": "untouched"}),
    "a refusing admission": Change(sets("admission.podSecurity=deny"), {"serve": "untouched"}),
    "fixed nodes": Change(fixed("h100gpu", 1), {"serve": "untouched"}),
    # The last ones. NVIDIA supports no way back from a newer operator, and the program refuses it.
    "a newer operator": Change(sets(NEWER), {"serve": "untouched"}, has_way_back=False),
    # The files of the removed GRID agent stay in the cluster, and cannot be created a second time.
    "no vGPU pool": Change(
        sets(NEWER, "pools.rtxprogpu=null"), {"render": "ended", "web": "untouched"}, has_way_back=False
    ),
}


def container(gpus: int) -> dict[str, Any]:
    amounts = {"nvidia.com/gpu": str(gpus)} if gpus else {}
    return {"name": "main", "image": "image", "resources": {"requests": amounts, "limits": amounts}}


def pod_spec(pool: str, gpus: int) -> dict[str, Any]:
    return {
        "nodeSelector": {"agentpool": pool},
        "tolerations": [*GPU_TOLERATED, SPOT],
        "containers": [container(gpus)],
    }


def deployment(name: str, pool: str, gpus: int) -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": name}}, "spec": pod_spec(pool, gpus)}
    return {
        "metadata": {"name": name},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": name}}, "template": template},
    }


def works(client: Client) -> dict[str, str]:
    """UID of the running Pod by the name of its owner, without Pods that are being deleted, or whose node is gone."""
    pods: list[dict[str, Any]] = client.get(PODS)["items"]
    nodes = {each["metadata"]["name"] for each in client.get("/api/v1/nodes")["items"]}
    return {
        str((each["metadata"].get("labels") or {}).get("app") or each["metadata"]["name"]): each["metadata"]["uid"]
        for each in pods
        if each["status"].get("phase") == "Running"
        and "deletionTimestamp" not in each["metadata"]
        and each["spec"]["nodeName"] in nodes
    }


def begin(client: Client) -> dict[str, str]:
    """Starts what is missing of the work, and waits until all of it runs."""
    deployments = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments"
    present = {each["metadata"]["name"] for each in client.get(deployments)["items"]}
    for name, pool, gpus in (("serve", "h100gpu", 1), ("web", "cpu", 0)):
        if name not in present:
            client.request("POST", deployments, deployment(name, pool, gpus))
    if "render" not in {each["metadata"]["name"] for each in client.get(PODS)["items"]}:
        client.request("POST", PODS, {"metadata": {"name": "render"}, "spec": pod_spec("rtxprogpu", 1)})
    until(lambda: set(works(client)) == {"serve", "web", "render"}, "the work does not run")
    return works(client)


def predicted(options: tuple[str, ...]) -> dict[str, tuple[str, bool]]:
    """Fate of each work and its certainty, as the preview of the change says it."""
    shown = physai("preview", "--json", *options).json["impact"]
    assert shown["workKnown"], shown
    assert shown["notJudged"] == [], shown["notJudged"]
    return {str(each["owner"]).rpartition("/")[2]: (str(each["fate"]), bool(each["sure"])) for each in shown["work"]}


def made(simulation: Simulation, options: tuple[str, ...]) -> dict[str, str]:
    """Makes a change, and compares the fate of each work with the prediction, which is returned."""
    client = cluster(simulation)
    before, said = works(client), predicted(options)
    physai("up", *options)
    client = cluster(simulation)
    for work, (fate, sure) in said.items():
        if sure and fate in GONE:
            leaves(client, work, before)
        elif sure and work in before:
            assert works(client).get(work) == before[work], f"{work} does not run on, but is {fate} in the preview"
    returns(client, {work for work, (fate, sure) in said.items() if sure and fate == "restarted"})
    return {work: fate for work, (fate, _) in said.items()}


def cluster(simulation: Simulation) -> Client:
    return simulation.clusters().client(simulation.clusters().ids()[0])


def leaves(client: Client, work: str, before: Mapping[str, str]) -> None:
    until(lambda: works(client).get(work) != before.get(work), f"{work} runs on, but ends in the preview")


def returns(client: Client, expected: set[str]) -> None:
    until(lambda: expected <= set(works(client)), f"of {expected}, which restart in the preview, some do not come back")


@pytest.mark.parametrize("name", CHANGES)
def test_what_the_preview_says_happens_to_the_work(running: Simulation, name: str) -> None:
    """The change, and the way back: each is predicted and made."""
    begin(cluster(running))
    change = CHANGES[name]
    said = made(running, change.settings)
    assert {each: said[each] for each in change.says} == dict(change.says)
    if change.has_way_back:
        made(running, ())
