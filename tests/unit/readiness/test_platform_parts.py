"""What a stack installs and is missing, switched off or not available: each part is named, and a whole platform is not.

The table is derived: every part that the stack's plans, Helm's records and the operators' resources speak of.
"""

from __future__ import annotations

import base64
import copy
import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
import yaml

from physical_ai.catalog.osmo import KAI_NAMESPACE, KAI_OPERATOR, SERVICE_ACCOUNT, WORKFLOWS_NAMESPACE
from physical_ai.readiness.answers import Missing, Unreachable
from physical_ai.readiness.platform.absence import QUEUES, PlatformState, absences
from physical_ai.readiness.platform.parts import KINDS, Installed, Part, installed, made_by_operators
from physical_ai.readiness.platform.read import NAMESPACES, SECRETS, read_platform
from physical_ai.readiness.workloads import Workloads, doctor, explain
from tests.support import workload_objects as make
from tests.support.cases import in_one_test
from tests.support.stacks import load

Json = dict[str, Any]
Key = tuple[str, str, str]
GPU = "gpu-operator"
NODE = make.labeled(make.node("h100gpu"), {"nvidia.com/gpu.present": "true"})
KAI_CONFIG: Json = {"kind": "Config", "metadata": {"name": "kai-config"}, "spec": {"namespace": KAI_NAMESPACE}}
SHARD: Json = {"kind": "SchedulingShard", "metadata": {"name": "default"}, "spec": {}}
QUEUE: Json = {"kind": "Queue", "metadata": {"name": f"{QUEUES}default"}, "spec": {}}


def workload(kind: str, space: str, name: str, **spec: Any) -> Json:
    spec = {"replicas": 1, **spec} if kind != "DaemonSet" else spec
    return {"kind": kind, "metadata": {"name": name, "namespace": space}, "spec": spec}


MOUNTED: Sequence[Json] = [
    {"configMap": {"name": "of-chart"}},
    {"configMap": {"name": "of-stack"}},
    {"configMap": {"name": "not-needed", "optional": True}},
]
NFD = f"{GPU}-node-feature-discovery"
CHARTS: Mapping[tuple[str, str], Sequence[Json]] = {
    (GPU, GPU): (
        workload("Deployment", GPU, GPU),
        *(workload("Deployment", GPU, f"{NFD}-{part}") for part in ("master", "gc")),
        workload("DaemonSet", GPU, f"{NFD}-worker"),
        {"kind": "ClusterPolicy", "metadata": {"name": "cluster-policy"}, "spec": {}},
        {"kind": "ServiceAccount", "metadata": {"name": GPU}},
        {"kind": "ClusterRole", "metadata": {"name": GPU}},
        {"kind": "ClusterRoleBinding", "metadata": {"name": GPU}},
        {"kind": "Service", "metadata": {"name": GPU}, "spec": {"selector": {"app": GPU}}},
        {"kind": "ValidatingWebhookConfiguration", "metadata": {"name": "nfd"}},
    ),
    ("osmo-operator", "osmo-operator"): (
        workload("Deployment", "", "agent", template={"spec": {"volumes": MOUNTED}}),
        {"kind": "ConfigMap", "metadata": {"name": "of-chart"}, "data": {"key": "  name: of-stack"}},
    ),
    (KAI_NAMESPACE, "kai-scheduler"): (workload("Deployment", KAI_NAMESPACE, KAI_OPERATOR), SHARD),
    ("monitoring", "kube-prometheus"): (
        workload("StatefulSet", "", "loki"),
        workload("Deployment", "", "off", replicas=0),
    ),
}


def record(space: str, release: str, objects: Sequence[Json], revision: int = 3) -> Json:
    """A record as Helm writes it."""
    manifest = "".join(f"---\n# Source: {release}\n{yaml.safe_dump(each)}" for each in objects)
    packed = base64.b64encode(gzip.compress(json.dumps({"name": release, "manifest": manifest}).encode()))
    labels = {"owner": "helm", "name": release, "status": "deployed", "version": str(revision)}
    data = {"release": base64.b64encode(packed).decode()}
    return {"metadata": {"name": f"{release}.v{revision}", "namespace": space, "labels": labels}, "data": data}


@cache
def of_stack() -> Installed:
    loaded = load("dev-westus2")
    found = installed(loaded.settings, loaded.plan, agents=False)
    releases = {release: space for space, release in CHARTS}
    return replace(found, releases=releases, namespaces=found.namespaces | set(releases.values()))


@cache
def parts() -> Mapping[Key, Part]:
    """Everything that should be there."""
    live = {"ClusterPolicy": [CHARTS[GPU, GPU][4]], "Config": [KAI_CONFIG], "SchedulingShard": [SHARD]}
    read = read_platform(api({}), of_stack(), {}, [])
    assert read is not None
    every = (*read.recorded, *of_stack().own, *made_by_operators(live, [NODE], of_stack()))
    return {(each.kind, each.namespace, each.name): each for each in every}


def healthy() -> dict[Key, Json]:
    """Each of them, in order."""
    return {key: running(part) for key, part in parts().items()} | {("Queue", "", QUEUE["metadata"]["name"]): QUEUE}


def running(part: Part) -> Json:
    spec: Json = {"replicas": part.replicas, "template": {"spec": {"nodeSelector": dict(part.selector)}}}
    ready = part.replicas
    status = {"availableReplicas": ready, "readyReplicas": ready, "numberAvailable": 1, "desiredNumberScheduled": 1}
    metadata = {"name": part.name, **({"namespace": part.namespace} if part.namespace else {})}
    own: Mapping[str, Json] = {
        "Config": KAI_CONFIG["spec"],
        "ClusterPolicy": {},
        "SchedulingShard": {},
        "Service": {"selector": dict(part.selector)},
    }
    return {"kind": part.kind, "metadata": metadata, "spec": own.get(part.kind, spec), "status": status}


def api(
    held: Mapping[Key, Json],
    refused: str = "",
    status: int = 403,
    releases: Mapping[tuple[str, str], Sequence[Json]] = CHARTS,
    allowed: str = "-",
) -> Any:
    """An API server that has these objects."""

    def get(path: str, parameters: Mapping[str, str]) -> Any:
        if refused and path.endswith(refused.rpartition("/")[2]) and not path.startswith(f"{NAMESPACES}/{allowed}/"):
            raise Unreachable(f"{status} {path}", status)
        if path.endswith("/secrets"):
            assert parameters["labelSelector"].startswith("owner=helm")
            home = path.removeprefix(f"{NAMESPACES}/").removesuffix("/secrets")
            held_in = [each for each in releases.items() if path == SECRETS or each[0][0] == home]
            return {"items": [record(space, release, objects) for (space, release), objects in held_in]}
        if path == NAMESPACES:
            return {"items": [{"metadata": {"name": each}} for each in of_stack().namespaces]}
        space, _, name = path.removeprefix(f"{NAMESPACES}/").partition("/configmaps/")
        if name:
            if ("ConfigMap", space, name) not in held:
                raise Missing(path)
            return held["ConfigMap", space, name]
        kinds = [kind for kind, where in KINDS.items() if where == path]
        return {"items": [each for (kind, _, _), each in held.items() if kind in kinds]}

    return get


def cluster(held: Mapping[Key, Json], **options: Any) -> Workloads:
    unread: list[str] = []
    platform = read_platform(api(held, **options), of_stack(), {}, unread)
    kinds = ("Deployment", "DaemonSet", "StatefulSet")
    owners = {kind: [each for (own, _, _), each in held.items() if own == kind] for kind in kinds}
    usual = make.Scene(nodes=(NODE,)).workloads()
    queues = [each for (kind, _, _), each in held.items() if kind == "Queue"]
    return replace(usual, platform=platform, owners=owners, queues=queues, unread=tuple(unread))


def named(given: Workloads) -> list[str]:
    return [f"{each.first.cause} {each.first.subject} {each.first.reason} {each.first.fix}" for each in doctor(given)]


SWITCHES: Mapping[str, Sequence[str]] = {
    "Deployment": ("scaled-down", "unavailable"),
    "StatefulSet": ("scaled-down", "unavailable"),
    "DaemonSet": ("selects-none", "unavailable"),
    "CronJob": ("scaled-down",),
    "Service": ("serves-none",),
}
CASES = [
    (key, state) for key in healthy() for state in ("missing", *(SWITCHES.get(key[0], ()) if key[2] != "off" else ()))
]


def without(key: Key, state: str) -> dict[Key, Json]:
    """A whole platform, of which one part is in a state."""
    held = copy.deepcopy(healthy())
    item = held[key]
    if state == "missing":
        del held[key]
    elif state == "scaled-down":
        item["spec"] |= {"replicas": 0, "suspend": True}
        item["status"] = {}
    elif state == "serves-none":
        item["spec"]["selector"] = {"app": "other"}
    elif state == "unavailable":
        item["status"] |= {"availableReplicas": 0, "readyReplicas": 0, "numberAvailable": 0}
    else:
        item["spec"]["template"]["spec"]["nodeSelector"] = {"nowhere": "true"}
        item["status"] = {"desiredNumberScheduled": 0}
    return held


def test_a_whole_platform_has_nothing_to_say() -> None:
    assert len(CASES) > 60
    assert named(cluster(healthy())) == []


@in_one_test(("key", "state"), CASES, ids=lambda each: "/".join(each) if isinstance(each, tuple) else each)
def test_each_part_is_named_with_what_brings_it_back(key: Key, state: str) -> None:
    held = without(key, state)
    found = [each for each in doctor(cluster(held)) if each.first.needs_action]
    own = [each for each in found if (key[2] in " ".join((*each.subjects, each.first.reason))) or key[0] == "Queue"]
    assert own, f"not named in {[each.first.reason for each in found]}"
    assert any(word in own[0].first.fix for word in ("kubectl -n", "helm -n", "pulumi up --refresh"))
    if state != "unavailable":
        assert own[0].first.where


@pytest.mark.parametrize("state", ["missing", "scaled-down", "selects-none", "unavailable"])
def test_the_comparison_alone_knows_the_state_of_each_part(state: str) -> None:
    """The doctor names some of them by other signs, too."""
    whole = cluster(healthy()).platform
    assert whole is not None
    for key in (key for key, each in CASES if each == state and key[0] != "Queue"):
        held = without(key, state)
        live = {kind: [each for (own, _, _), each in held.items() if own == kind] for kind in whole.live}
        found = absences(replace(whole, live=live), [NODE])
        assert (*key, state) in [(each.part.kind, each.part.namespace, each.part.name, each.state) for each in found]
        assert state == "missing" or len(found) == 1


def test_kais_operator_makes_what_its_configuration_asks_for() -> None:
    def made(**spec: Any) -> set[str]:
        live = {"Config": [{**KAI_CONFIG, "spec": spec}]}
        return {each.name for each in made_by_operators(live, [], of_stack()) if each.kind == "Deployment"}

    off, on = ({"service": {"enabled": each}} for each in (False, True))
    assert "binder" in made()
    assert made() - made(binder=off) == {"binder"}
    # The only operand that is off where nothing is said of it.
    assert made(nodeScaleAdjuster=on) - made() == {"node-scale-adjuster"}


def test_a_release_that_is_gone_is_named() -> None:
    left = {key: each for key, each in CHARTS.items() if key[1] != "kai-scheduler"}
    whole = {each: item for each, item in healthy().items() if each[0] != "Config"}
    (found,) = (each for each in named(cluster(whole, releases=left)) if each.startswith("part-"))
    assert found.startswith("part-not-installed release kai-scheduler/kai-scheduler")


def test_remedies_depend_on_who_made_it() -> None:
    def fix(*key: str) -> str:
        held = {each: item for each, item in healthy().items() if each != key}
        return " ".join(named(cluster(held)))

    assert f"helm -n {GPU} rollback {GPU} 3" in fix("Deployment", GPU, f"{NFD}-master")
    assert f"helm -n {KAI_NAMESPACE} get manifest" in fix("Deployment", KAI_NAMESPACE, KAI_OPERATOR)
    assert f"rollout restart deployment {KAI_OPERATOR}" in fix("Deployment", KAI_NAMESPACE, "binder")
    assert f"rollout restart deployment {GPU}" in fix("DaemonSet", GPU, "nvidia-dcgm-exporter")
    assert "helm -n osmo-operator rollback osmo-operator 3" in fix("ConfigMap", "osmo-operator", "of-chart")
    assert "pulumi up --refresh creates it" in fix("ConfigMap", "osmo-operator", "of-stack")
    assert "pulumi up --refresh creates it" in fix("ServiceAccount", WORKFLOWS_NAMESPACE, SERVICE_ACCOUNT)


def test_what_depends_on_it_says_so() -> None:
    held = {each: item for each, item in healthy().items() if each[2] not in ("binder", "nvidia-dcgm-exporter")}
    given = cluster(held)
    _, node = explain(str(NODE["metadata"]["name"]), given)
    assert [each.cause for each in node if "nvidia-dcgm-exporter" in each.reason] == ["part-missing"]
    pod = make.kai(make.pod())
    _, waits = explain("train-0", replace(given, pods=(pod,)))
    assert any(each.cause == "part-missing" and "binder" in each.reason for each in waits)
    gone = cluster({each: item for each, item in healthy().items() if each != ("Deployment", GPU, GPU)})
    _, pool = explain("h100gpu", replace(gone, nodes=()))
    assert [each.cause for each in pool if GPU in each.reason] == ["part-missing"]
    title, itself = explain("kai-scheduler/binder", given)
    assert title == "deployment kai-scheduler/binder"
    assert itself[0].cause == "part-missing"


@pytest.mark.parametrize("status", [403, 0])
def test_helms_records_that_cannot_be_read_are_named_and_the_rest_is_compared(status: int) -> None:
    held = {each: item for each, item in healthy().items() if each[2] not in ("binder", SERVICE_ACCOUNT)}
    given = cluster(held, refused=SECRETS, status=status)
    assert [each for each in given.unread if "Helm's records" in each]
    words = {word.strip(",").rpartition("/")[2] for each in named(given) for word in each.split(" ")}
    assert {"binder", SERVICE_ACCOUNT} <= words


def test_a_record_that_cannot_be_read_says_nothing() -> None:
    bad: Json = record(GPU, GPU, ())
    bad["data"]["release"] = "no record"
    platform = read_platform(lambda *_: {"items": [bad]}, of_stack(), {}, [])
    assert platform is not None
    assert list(platform.recorded) == []


def test_a_cluster_that_was_not_read_has_no_absences() -> None:
    assert read_platform(lambda *_: {"items": []}, of_stack(), {}, []) is None
    homes = frozenset(of_stack().releases.values())
    assert absences(PlatformState(of_stack(), unrecorded=homes), []) == []


AT = {"namespace": "hooks", "name": "checks"}
HOOK: Json = {
    "name": "pods.example.com",
    "clientConfig": {"service": AT},
    "rules": [{"operations": ["CREATE"], "resources": ["pods", "jobs"]}],
}
SERVICE: Json = {"kind": "Service", "metadata": {**AT}, "spec": {"selector": {"app": "checks"}}}


def answering(*, ready: bool) -> Json:
    pod = make.labeled(make.pod("checks-0"), {"app": "checks"})
    pod["metadata"]["namespace"] = "hooks"
    return make.on("aks-cpu-0", pod, phase="Running", conditions=[{"type": "Ready", "status": str(ready)}])


def hooked(
    hook: Json, *pods: Json, services: Sequence[Json] = (SERVICE,), labels: Mapping[str, str] | None = None
) -> list[str]:
    """What is said of webhooks in a cluster with this one."""
    item: Json = {"metadata": {"name": "checks", "labels": dict(labels or {})}, "webhooks": [hook]}
    given = cluster(healthy())
    assert given.platform is not None
    live = {**given.platform.live, "ValidatingWebhookConfiguration": [item], "Service": services}
    live = {kind: items for kind, items in live.items() if kind != "MutatingWebhookConfiguration"}
    found = absences(replace(given.platform, recorded=[], live=live), [NODE], pods)
    index = replace(given, platform=replace(given.platform, recorded=[], live=live), pods=pods)
    told = [each for each in named(index) if each.startswith("part-unanswered")]
    assert len(told) == sum(each.state == "unanswered" for each in found)
    return told


def test_a_webhook_that_nothing_answers_is_named_with_what_is_refused() -> None:
    [found] = hooked(HOOK)
    assert "the API server refuses create of pods, create of jobs" in found
    assert "kubectl delete validatingwebhookconfiguration checks" in found
    assert "physai why" not in found  # nothing makes its Pods
    assert len(hooked(HOOK, answering(ready=False))) == 1
    assert len(hooked(HOOK, services=())) == 1


def test_a_webhook_that_stops_nothing_is_not_named() -> None:
    assert hooked(HOOK, answering(ready=True)) == []
    assert hooked({**HOOK, "failurePolicy": "Ignore"}) == []
    assert hooked({**HOOK, "clientConfig": {"url": "https://example.com"}}) == []
    assert hooked(HOOK, services=[{**SERVICE, "spec": {}}]) == []  # somebody writes its endpoints
    assert hooked(HOOK, labels={"kubernetes.azure.com/managedby": "aks"}) == []


def test_without_helms_records_a_service_bears_witness_to_what_is_gone() -> None:
    """A login that may read no Secrets sees by Helm's annotations what a release has made."""
    told = {"meta.helm.sh/release-name": GPU, "meta.helm.sh/release-namespace": GPU}
    service = {"kind": "Service", "metadata": {"name": "x", "namespace": GPU, "annotations": told}}
    held = {**healthy(), ("Service", GPU, "x"): {**service, "spec": {"selector": {"app": "gone"}}}}
    found = [each for each in named(cluster(held, refused=SECRETS)) if each.startswith("part-serves-none")]
    assert len(found) == 1
    assert f"service {GPU}/x" in found[0]
    assert f"helm -n {GPU} get manifest {GPU} | kubectl apply -f -" in found[0]
    made = workload("Deployment", GPU, "x", template={"metadata": {"labels": {"app": "gone"}}})
    held["Deployment", GPU, "x"] = {**made, "status": {"availableReplicas": 1}}
    assert [each for each in named(cluster(held, refused=SECRETS)) if each.startswith("part-serves-none")] == []


def made_by(release: str, home: str, item: Json) -> Json:
    told = {"meta.helm.sh/release-name": release, "meta.helm.sh/release-namespace": home}
    return {**item, "metadata": {**item["metadata"], "annotations": told}}


def test_without_helms_records_a_release_is_known_by_what_it_has_made() -> None:
    held = {key: made_by(parts()[key].release, parts()[key].home, each) if key in parts() else each
            for key, each in healthy().items() if key[2] != "off"}  # fmt: skip
    held["Deployment", GPU, GPU]["spec"]["template"]["metadata"] = {"labels": {"app": GPU}}
    assert named(cluster(held, refused=SECRETS)) == []
    left = {key: each for key, each in held.items() if "kube-prometheus" not in str(each["metadata"])}
    [found] = named(cluster(left, refused=SECRETS))
    assert found.startswith("part-not-installed release monitoring/kube-prometheus")
    evidence = [each.evidence for each in cluster_absences(left)]
    assert evidence == ["no object has the annotation meta.helm.sh/release-name: kube-prometheus"]


def cluster_absences(held: Mapping[Key, Json]) -> list[Any]:
    platform = cluster(held, refused=SECRETS).platform
    assert platform is not None
    return absences(platform, [NODE])


def test_records_are_read_in_the_namespaces_in_which_the_login_may() -> None:
    held = {each: item for each, item in healthy().items() if each[2] != f"{NFD}-master"}
    given = cluster(held, refused=SECRETS, allowed=GPU)
    assert [each for each in named(given) if each.startswith("part-missing") and f"{NFD}-master" in each]
    assert given.platform is not None
    assert GPU not in given.platform.unrecorded
    assert "monitoring" in given.platform.unrecorded
