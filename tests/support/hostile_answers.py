# ruff: noqa: E501 - objects of a line each
"""A cluster as its API server lists it, in which one field is changed at a time, and all readers of such a cluster."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from functools import cache
from typing import Any

from parts.slurm import names as slurm
from physical_ai.catalog.acceptance import ACCEPTED_CONDITION, CHECK_LABEL
from physical_ai.catalog.osmo import (
    CONTROL_NAMESPACE,
    FINALIZER,
    KAI_NAMESPACE,
    KAI_POD_GROUP_API,
    KAI_QUEUE_API,
    OPERATOR_NAMESPACE,
    TOKEN_SECRET,
    WORKFLOWS_NAMESPACE,
)
from physical_ai.readiness import expected_pools, osmo, read_reports
from physical_ai.readiness.existing import changes, survey
from physical_ai.readiness.existing_owners import judge
from physical_ai.readiness.reader import Get, Missing
from physical_ai.readiness.releases import stuck_releases
from physical_ai.readiness.shapes import checked
from physical_ai.readiness.upgrade_budgets import PATH as BUDGETS
from physical_ai.readiness.upgrade_budgets import blocking
from physical_ai.readiness.workloads import UnknownSubject, declared_pools, doctor, explain, read_workloads
from physical_ai.settings import load
from tests.support import workload_objects as make
from tests.support.readiness_objects import Situation
from tests.unit.readiness.test_gates_slurm import CONTROLLER
from tests.unit.readiness.test_gates_slurm import pod as slurm_pod
from tests.unit.readiness.test_workload_claims import claim, slice_of
from workbench.health.acceptance.choosing import choose, not_ready
from workbench.health.acceptance.collecting import collect
from workbench.health.evidence.markdown import document, markdown
from workbench.health.evidence.read import read_node_evidence
from workbench.health.replacement.cluster import RepairCluster, boot_id, held_by, is_cordoned, uid
from workbench.preflight.existing import Wanted, judge_cluster, read_cluster

Json = dict[str, Any]
Steps = tuple[Any, ...]
HOST = "aks-h100gpu-0"
GPU = "gpu-operator"
WHEN = "2026-11-22T10:00:00Z"
WRONG: tuple[Any, ...] = (
    None, True, -1, 1.5, 10**40, "", "x", "\ud800", "1k", "1e999999999", [], {}, [1], [None], [[]], [{}], {"a": 1}, {"a": None},
)  # fmt: skip
"""Values that a hostile answer may have in place of a field's value."""
GONE = object()
"""Mark that stands for a field which is left out."""


@cache
def cluster() -> Mapping[str, Any]:
    """Every list and object that a reader asks for, by path, with all fields that readers look at. The cluster has
    several problems, so that readers look further.
    """
    situation = Situation().gpus({"nvidia.com/gpu": 0}, {"nvidia.com/gpu": 1})
    situation.fails("toolkit", "no driver").says("toolkit", "back-off").error("Failed", "no")
    node = situation.node
    node["metadata"] |= {"uid": "u1", "creationTimestamp": WHEN, "annotations": {"physical-ai/nic-driver": "inbox"}}
    node["metadata"]["labels"] |= make.node("h100gpu")["metadata"]["labels"]
    node["metadata"]["managedFields"] = [
        {"manager": "physical-ai", "fieldsV1": {"f:metadata": {"f:labels": {"a": {}}}}}
    ]
    node["spec"] |= {"providerID": "azure:///x", "unschedulable": False}
    node["spec"]["taints"] += [{"key": "example.com/a", "value": "b", "effect": "NoExecute", "timeAdded": WHEN}]
    node["status"]["nodeInfo"] = {"systemUUID": "a", "bootID": "b", "kubeletVersion": "v1.36.1", "osImage": "Ubuntu",
                                  "containerRuntimeVersion": "containerd://2.0.5", "kernelVersion": "6"}  # fmt: skip
    node["status"]["addresses"] = [{"type": "InternalIP", "address": "10.0.0.4"}]
    node["status"]["conditions"] += [
        {"type": ACCEPTED_CONDITION, "status": "False", "reason": "Failed", "message": "Xid 79", "lastTransitionTime": WHEN}
    ]  # fmt: skip
    waits = make.unschedulable(
        make.kai(make.pod("waits"), "gang"), "0/3 nodes are available: 3 cannot allocate all claims."
    )
    waits["metadata"] |= {"creationTimestamp": WHEN, "ownerReferences": [{"kind": "Job", "name": "j", "uid": "u"}]}
    waits["spec"] |= {
        "resourceClaims": [{"name": "gpu", "resourceClaimName": "mine"}],
        "nodeSelector": {"agentpool": "h100gpu"},
        "overhead": {"cpu": "1"},
        "initContainers": [{"name": "i", "restartPolicy": "Always", "resources": {"requests": {"cpu": "1"}}}],
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["1"]}]}]}}},
    }  # fmt: skip
    waits["status"]["resourceClaimStatuses"] = [{"name": "gpu", "resourceClaimName": "mine"}]
    selects = make.unschedulable(make.pod("selects", nodeSelector={"a": "b"}), "0/3 nodes are available")
    crashes = make.of_workflow(make.on(HOST, make.pod("crashes"), status=make.crashing(1, message="Xid")), "train")
    crashes["metadata"]["labels"][CHECK_LABEL] = "cuda-sample"
    crashes["spec"]["containers"][0]["resources"]["limits"] = {"nvidia.com/gpu": "1"}
    ends = make.deleted(make.on(HOST, make.pod("ends"), status=make.waiting("ImagePullBackOff", "no such image")))
    ends["metadata"]["resourceVersion"] = "7"
    events = [
        *situation.events,
        {**make.event(waits, "NotTriggerScaleUp", "no", minute=1), "type": "Warning", "count": 2},
        {**make.event(ends, "Failed", "no"), "series": {"lastObservedTime": WHEN}, "eventTime": None},
        {**make.event(node, "XidError", "Xid 79", kind="Node"), "firstTimestamp": WHEN},
        make.event({"metadata": {"name": "j", "namespace": "x"}}, "FailedCreate", "exceeded quota", "Job"),
        make.autoscaler("FailedToScaleUpGroup", "aks-h100gpu-1: OutOfcapacity"),
    ]
    for number, each in enumerate(events):
        each["metadata"] = {"name": f"e{number}", "namespace": "x", "creationTimestamp": WHEN}
    agents = [make.agent("listener", 0), make.agent("worker")]
    kai = [make.deployment(KAI_NAMESPACE, "kai-scheduler-default", 0)]
    budget = {"metadata": {"name": "b", "namespace": "x"}, "spec": {"minAvailable": "100%", "selector": {}},
              "status": {"expectedPods": 2, "disruptionsAllowed": 0}}  # fmt: skip
    record = {
        "metadata": {"name": "r", "labels": {"physical-ai/evidence": HOST}, "annotations": {"physical-ai/evidence-seen": WHEN}},
        "data": {"machine.json": json.dumps({"node": HOST, "vmUniqueId": "a", "pci": [{"class": "0x0302"}], "gpus": []})},
    }  # fmt: skip
    available = [{"type": "Available", "status": "True", "observedGeneration": 1}]
    token = {
        "metadata": {"name": TOKEN_SECRET, "labels": {"physical-ai/managed": "true"},
                     "annotations": {"physical-ai/osmo-token-name": "t", "physical-ai/osmo-token-expires": "2026-12-01"}},
        "data": {"token": "eA=="},
    }  # fmt: skip
    policy = {**situation.policies[0]}
    policy["spec"] = {**policy["spec"], "mig": {"strategy": "single"}, "daemonsets": {"tolerations": [{"key": "a"}]},
                      "toolkit": {"version": "v1", "env": [{"name": "A", "value": "b"}]}}  # fmt: skip
    daemonsets = list(situation.daemonsets.values())
    for each in daemonsets:
        each["metadata"] |= {"generation": 2, "ownerReferences": [{"kind": "NVIDIADriver", "name": "h100"}]}
        each["status"] = {
            "numberUnavailable": 1,
            "observedGeneration": 2,
            "desiredNumberScheduled": 2,
            "updatedNumberScheduled": 1,
        }
        each["spec"]["template"]["spec"]["containers"] = [{"name": "main", "image": "a:b", "env": [{"name": "A"}]}]  # fmt: skip
    storage = {
        "metadata": {"name": "s", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
        "provisioner": "p",
    }
    lists: dict[str, Sequence[Any]] = {
        "/api/v1/nodes": [node, make.node("cpu")],
        "/api/v1/pods": [waits, selects, crashes, ends, CONTROLLER, slurm_pod(slurm.NODE, HOST, Drain="fans")],
        "/api/v1/events": events,
        f"/apis/{KAI_POD_GROUP_API}/podgroups": [make.group("gang", 2)],
        f"/apis/{KAI_QUEUE_API}/queues": [make.queue("osmo-default", "osmo"), make.queue("osmo")],
        f"/apis/apps/v1/namespaces/{KAI_NAMESPACE}/deployments": kai,
        f"/apis/apps/v1/namespaces/{OPERATOR_NAMESPACE}/deployments": agents,
        f"/apis/apps/v1/namespaces/{CONTROL_NAMESPACE}/deployments": [],
        f"/api/v1/namespaces/{OPERATOR_NAMESPACE}/pods": [ends],
        "/apis/resource.k8s.io/v1/resourceslices": [{"metadata": {"name": "s"}, **slice_of(1)}],
        "/apis/resource.k8s.io/v1/resourceclaims": [claim("mine", "a"), claim("other", device="gpu-0")],
        "/apis/nvidia.com/v1/clusterpolicies": [policy],
        "/apis/nvidia.com/v1alpha1/nvidiadrivers": situation.drivers,
        f"/apis/apps/v1/namespaces/{GPU}/daemonsets": daemonsets,
        f"/apis/apps/v1/namespaces/{GPU}/deployments": list(situation.deployments.values()),
        f"/api/v1/namespaces/{GPU}/pods": [*situation.pods.values(), crashes],
        f"/api/v1/namespaces/{GPU}/events": events,
        f"/api/v1/namespaces/{GPU}/configmaps": [record],
        f"/api/v1/namespaces/{slurm.NAMESPACE}/pods": [CONTROLLER, slurm_pod(slurm.NODE, HOST, Drain="fans")],
        f"/api/v1/namespaces/{WORKFLOWS_NAMESPACE}/pods": [ends],
        "/apis/kai.scheduler/v1/schedulingshards": [{"metadata": {"name": "s", "generation": 1}, "status": {"conditions": available}}],
        "/apis/kai.scheduler/v1/configs": [{"metadata": {"name": "c", "generation": 1}, "status": {"conditions": available}}],
        "/api/v1/namespaces": [{"metadata": {"name": "kube-system", "uid": "u", "labels": {"physical-ai/stack": "x"}}}],
        "/api/v1/namespaces/x/secrets": [{"metadata": {"name": "h", "labels": {"version": "3", "status": "failed"}}}],
        BUDGETS: [budget],
        "/api/v1/namespaces/kube-system/pods": [{"metadata": {"name": "etcd", "labels": {"component": "etcd"}}, "spec": {}}],
        "/api/v1/services": [{"metadata": {"name": "k", "namespace": "x"}, "spec": {"type": "LoadBalancer", "clusterIP": "1"}}],
        "/apis/apps/v1/daemonsets": daemonsets,
        "/apis/apps/v1/deployments": [*agents, *kai],
        "/apis/apps/v1/replicasets": [{**_short("rs"), "metadata": {"name": "rs", "namespace": "x", "uid": "r", "ownerReferences": [{"kind": "Deployment", "name": "d", "uid": "d"}]}}],
        "/apis/apps/v1/statefulsets": [_short("set")],
        "/apis/batch/v1/jobs": [{**_short("j"), "spec": {"parallelism": 2, "completions": 2, "backoffLimit": 1, "suspend": False, "managedBy": ""}, "status": {"active": 1, "ready": 0, "succeeded": 0, "conditions": [{"type": "Failed", "status": "True", "reason": "FailedIndexes", "message": "x"}], "failedIndexes": "0"}}],
        "/apis/batch/v1/cronjobs": [{**_short("cron"), "spec": {"schedule": "0 2 * * *", "timeZone": "Etc/UTC", "concurrencyPolicy": "Forbid", "suspend": False}, "status": {"lastScheduleTime": "2026-11-20T02:00:00Z", "active": [{"name": "j"}]}}],
        "/apis/storage.k8s.io/v1/storageclasses": [storage],
        "/apis/snapshot.storage.k8s.io/v1/volumesnapshotclasses": [{"metadata": {"name": "v"}, "driver": "d"}],
        "/apis/metallb.io/v1beta1/ipaddresspools": [{"metadata": {"name": "p"}, "spec": {"addresses": ["10.0.0.1-10.0.0.9"]}}],
    }  # fmt: skip
    status = {
        "nodeGroups": [
            {
                "name": "aks-h100gpu-1",
                "scaleUp": {"status": "Backoff", "backoffInfo": {"errorCode": "a", "errorMessage": "b"}},
            }
        ]
    }
    objects: dict[str, Any] = {
        f"/api/v1/nodes/{HOST}": node,
        "/api/v1/namespaces/kube-system/configmaps/cluster-autoscaler-status": {
            "metadata": {"name": "cluster-autoscaler-status"}, "data": {"status": json.dumps(status)},
        },
        f"/api/v1/namespaces/{OPERATOR_NAMESPACE}/secrets/{TOKEN_SECRET}": token,
        "/apis": {"groups": [{"name": "kai.scheduler", "versions": [{"groupVersion": "kai.scheduler/v1"}]}]},
        "/apis/kai.scheduler/v1": {"resources": [{"name": "configs", "kind": "Config"}]},
    }  # fmt: skip
    found = {path: {"metadata": {"resourceVersion": "1"}, "items": items} for path, items in lists.items()} | objects
    assert FINALIZER
    return copy.deepcopy(found)


def _short(name: str) -> Json:
    """Controller that has fewer Pods than it wants."""
    metadata = {"name": name, "namespace": "x", "uid": name, "creationTimestamp": WHEN}
    return {
        "metadata": metadata,
        "spec": {"replicas": 2, "template": {}},
        "status": {"replicas": 1, "readyReplicas": 0},
    }


def serving(documents: Mapping[str, Any]) -> Get:
    """Client that answers from the documents."""

    def get(path: str, parameters: Mapping[str, str]) -> Any:
        del parameters
        if path.endswith("/log"):
            return "CUDA error"
        if path not in documents:
            raise Missing(path)
        if documents[path] is cluster().get(path):
            return copy.deepcopy(_whole()[path])
        return checked(copy.deepcopy(documents[path]), path)

    return get


@cache
def _whole() -> Mapping[str, Any]:
    """Documents of the unchanged cluster, which are checked once."""
    return {path: checked(copy.deepcopy(document), path) for path, document in cluster().items()}


def _sending(get: Get) -> Callable[..., Any]:
    def send(method: str, path: str, parameters: Mapping[str, str], body: Any = None) -> Any:
        return get(path, parameters) if method == "GET" else body

    return send


def _workloads(get: Get) -> None:
    settings = load(make.STACK).settings
    given = read_workloads(get, expected_pools(settings), declared_pools(settings), make.STACK)
    doctor(given)
    for wanted in ("h100gpu", HOST, "train", "waits", "crashes", "ends", "j", "cron", "set", "rs", "nothing"):
        try:
            explain(wanted, given)
        except UnknownSubject:
            continue


def _gates(get: Get) -> None:
    for report in read_reports(get, expected_pools(load(make.STACK).settings)):
        report.document()


def _osmo(get: Get) -> None:
    osmo.not_ready(get, service=True)
    osmo.is_managed(get)
    osmo.token_problem(get, date(2026, 11, 22))
    osmo.workflow_pods(get)
    osmo.remove_finalizers(_sending(get))


def _existing(get: Get) -> None:
    loaded = load("onprem-lab")
    found = survey(get)
    judge(loaded.settings, loaded.plan, found)
    changes(loaded.settings, found)
    read = read_cluster(lambda path: get(path, {}).get("items"))
    selectors = {name: pool.node_selector for name, pool in loaded.settings.pools.items()}
    list(judge_cluster(Wanted(loaded.settings, selectors), read, date(2026, 11, 22)))


def _budgets(get: Get) -> None:
    blocking(get)
    stuck_releases(get, {"h": "x"})


def _evidence(get: Get) -> None:
    found = read_node_evidence(get, HOST)
    markdown(found)
    document(found)


def _repair(get: Get) -> None:
    repair = RepairCluster(_sending(get))
    repair.pods(HOST)
    for each in [*repair.nodes("h100gpu"), repair.node(HOST) or {}]:
        for read in (is_cordoned, held_by, uid, boot_id):
            read(each)


def _accept(get: Get) -> None:
    nodes = get("/api/v1/nodes", {})["items"]
    targets = choose(nodes, ["h100gpu"])
    not_ready(nodes, targets, ["h100gpu"])
    collect(_sending(get), load(make.STACK).settings, targets)


READERS: Mapping[str, Callable[[Get], None]] = {
    each.__name__.strip("_"): each
    for each in (_workloads, _gates, _osmo, _existing, _budgets, _evidence, _repair, _accept)
}


@cache
def asked(reader: str) -> frozenset[str]:
    """Paths that a reader asks for in the unchanged cluster. A change at another path cannot reach the reader."""
    found: set[str] = set()
    get = serving(cluster())

    def noting(path: str, parameters: Mapping[str, str]) -> Any:
        found.add(path)
        return get(path, parameters)

    READERS[reader](noting)
    return frozenset(found)


def places(value: Any, steps: Steps = ()) -> Iterator[Steps]:
    """Paths (keys and indexes) to all values in a document."""
    yield steps
    if isinstance(value, dict):
        for key, each in value.items():
            yield from places(each, (*steps, key))
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from places(each, (*steps, number))


def changed(value: Any, steps: Steps, instead: Any) -> Any:
    """Copy of a document with another value at one place."""
    if not steps:
        return instead
    found = copy.deepcopy(value)
    here = found
    for step in steps[:-1]:
        here = here[step]
    if instead is GONE:
        del here[steps[-1]]
    else:
        here[steps[-1]] = copy.deepcopy(instead)
    return found


NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
