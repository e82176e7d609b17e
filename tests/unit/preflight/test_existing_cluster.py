"""Preconditions of a cluster that exists already: each has a cluster that meets it, and one that does not."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

import pytest

from parts.cluster_services.model import LoadBalancer, Longhorn, MetalLb, Storage
from physical_ai.findings import Finding, Severity
from physical_ai.settings import Overlay, Settings, load
from tests.support import existing_cluster as world
from tests.support.cases import in_one_test
from tests.support.existing_cluster import changed, found, lists, named
from workbench.preflight.existing import Found, Wanted, judge_cluster, read_cluster
from workbench.preflight.existing.reading import ADDRESS_POOLS, NODES, SNAPSHOT_CLASSES
from workbench.preflight.existing.software import judge_gateway

TODAY = datetime.date(2025, 11, 20)
"""When Kubernetes 1.32 still had patches."""
ALL = world.reference()
NODES_THERE: list[Any] = ALL["nodes"]


def settings(*, longhorn: Longhorn | None = None, metallb: MetalLb | None = None, nri: bool = False) -> Settings:
    """A stack with the classes of the reference. Its skus are servers, which a stack on Azure can't name."""
    base = load("dev-westus2", [Overlay.assign(["gpuOperator.version=v26.3.3"])]).settings
    pool = base.pools["h100gpu"]
    return base.model_copy(
        update={
            "gpu_operator": base.gpu_operator.model_copy(update={"nri": nri}),
            "pools": {
                world.B200: pool.model_copy(update={"sku": "hgx-b200"}),
                world.RTX: pool.model_copy(update={"sku": "rtx-pro-server"}),
            },
            "storage": Storage(longhorn=longhorn),
            "load_balancer": LoadBalancer(metallb=metallb),
        }
    )


def judged(given: Found, *, today: datetime.date = TODAY, of: Settings | None = None) -> list[Finding]:
    selectors = {name: {"physical-ai/class": name} for name in (world.B200, world.RTX)}
    return judge_cluster(Wanted(of or settings(), selectors), given, today)


def of_rule(findings: Sequence[Finding], rule: str, severity: Severity) -> list[Finding]:
    return [each for each in findings if each.rule == rule and each.severity is severity]


def test_the_reference_s_own_cluster_has_no_fault() -> None:
    findings = judged(found())
    assert [each for each in findings if each.severity in (Severity.ERROR, Severity.WARNING)] == []
    known = {each.rule for each in findings if each.severity is Severity.OK}
    assert known >= {"kubernetes", "operator", "runtime", "kernel", "control-plane", "etcd", "virtual-ip", "storage"}
    assert known >= {"snapshots", "gpu", "rails", "nic-driver", "firmware", "vbios", "device-plugin"}
    gpus = [each.problem for each in of_rule(findings, "gpu", Severity.OK)]
    assert sum(int(text.split()[0]) for text in gpus) == 24


def runtime(text: str) -> Found:
    return found(nodes=changed(NODES_THERE, "hgx1", "status/nodeInfo/containerRuntimeVersion", text))


def labeled(name: str, **labels: str) -> Found:
    held = next(each for each in NODES_THERE if each["metadata"]["name"] == name)["metadata"]["labels"]
    return found(nodes=changed(NODES_THERE, name, "metadata/labels", {**held, **labels}))


def noted(name: str, **notes: str) -> Found:
    held = next(each for each in NODES_THERE if each["metadata"]["name"] == name)["metadata"]["annotations"]
    given = {f"physical-ai/{key.replace('_', '-')}": value for key, value in notes.items()}
    return found(nodes=changed(NODES_THERE, name, "metadata/annotations", {**held, **given}))


def without(prefix: str) -> list[Any]:
    return [each for each in NODES_THERE if not each["metadata"]["name"].startswith(prefix)]


PLUGIN = named(
    "nvidia-device-plugin",
    "kube-system",
    spec={"template": {"spec": {"containers": [{"image": "nvcr.io/nvidia/k8s-device-plugin:v0.17.4"}]}}},
)
DRIVERS = named("nvidia-driver-daemonset-550", "gpu", spec={"template": {"spec": {"containers": []}}})
RUNAI = named("runai-scheduler", "runai")


def kai(version: str) -> dict[str, Any]:
    container = {"name": "scheduler", "image": f"ghcr.io/nvidia/kai-scheduler/scheduler:{version}"}
    return named("kai-scheduler-default", "kai-scheduler") | {
        "spec": {"template": {"spec": {"containers": [container]}}}
    }


WORKER = "node-role.kubernetes.io/runai-gpu-worker"
E, W, U = Severity.ERROR, Severity.WARNING, Severity.UNKNOWN
CASES: list[tuple[str, Found, str, Severity, str]] = [
    (
        "old kubelet",
        found(nodes=changed(NODES_THERE, "rtx1", "status/nodeInfo/kubeletVersion", "v1.28.2")),
        "kubernetes",
        E,
        "three minors",
    ),
    (
        "too new",
        found(nodes=changed(NODES_THERE, "rtx1", "status/nodeInfo/kubeletVersion", "v1.37.0")),
        "operator",
        E,
        "1.32 to 1.36",
    ),
    ("docker", runtime("docker://24.0"), "runtime", E, "containerd and CRI-O only"),
    ("two runtimes", runtime("cri-o://1.32.1"), "runtime", E, "one toolkit for all"),
    (
        "another kernel",
        found(nodes=changed(NODES_THERE, "rtx2", "status/nodeInfo/kernelVersion", "6.14.0-1")),
        "kernel",
        Severity.INFO,
        "rtx2",
    ),
    (
        "two systems",
        found(nodes=changed(NODES_THERE, "rtx2", "status/nodeInfo/osImage", "Ubuntu 22.04")),
        "system",
        W,
        "one driver image",
    ),
    ("cgroups", found(), "cgroups", U, "does not report"),
    (
        "one control plane",
        found(nodes=[world.control_plane(1), *without("cp")]),
        "control-plane",
        W,
        "loss of the cluster",
    ),
    ("two control planes", found(nodes=[*without("cp3")]), "control-plane", W, "survive the loss of no more"),
    ("operated by others", found(nodes=without("cp")), "control-plane", U, "managed outside"),
    ("etcd on hosts", found(system_pods=[world.pod("kube-vip-cp1")]), "etcd", U, "runs on the hosts"),
    ("a lost member", found(system_pods=ALL["system_pods"][1:]), "etcd", W, "2 members of etcd on 3"),
    ("no virtual address", found(system_pods=ALL["system_pods"][:3]), "virtual-ip", U, "outage"),
    ("no default class", found(classes=[world.storage_class("a", "b", default=False)]), "storage", E, "stay Pending"),
    (
        "two default classes",
        found(classes=[*ALL["classes"], world.storage_class("nfs", "n", default=True)]),
        "storage",
        E,
        "local, nfs",
    ),
    ("no kinds of snapshots", found(snapshot_classes=None), "snapshots", W, "no kinds of snapshots"),
    ("snapshots of others", found(snapshot_classes=[{"driver": "other"}]), "snapshots", W, "rancher.io/local-path"),
    (
        "nobody gives addresses",
        found(services=[named("web", "a", spec={"type": "LoadBalancer"})]),
        "load-balancer",
        W,
        "web wait",
    ),
    ("no node", found(nodes=without("rtx")), "class", E, "matches no node"),
    (
        "another model",
        labeled("hgx1", **{"nvidia.com/gpu.product": "NVIDIA-H100-NVL"}),
        "gpu",
        E,
        "a hgx-b200 has NVIDIA-B200",
    ),
    ("a lost GPU", labeled("rtx1", **{"nvidia.com/gpu.count": "7"}), "gpu", E, "7 GPUs of 8"),
    ("unequal nodes", found(nodes=changed(NODES_THERE, "rtx2", "status/capacity/cpu", "96")), "shape", W, "96"),
    (
        "a lost rail",
        found(nodes=changed(NODES_THERE, "hgx1", "status/allocatable", {"rdma/a": "1"})),
        "rails",
        E,
        "1 rails of 8",
    ),
    (
        "nothing about rails",
        found(nodes=changed(NODES_THERE, "hgx1", "status/allocatable", {})),
        "rails",
        U,
        "9 are expected",
    ),
    ("older firmware", noted("hgx1", firmware_bundle="25.06.2"), "firmware", W, "25.06.2 is older"),
    ("newer firmware", noted("hgx1", firmware_bundle="25.12"), "firmware", W, "newer"),
    ("no firmware", found(), "firmware", U, "rtx-pro-server"),
    ("older VBIOS", found(evidence=[world.evidence("hgx1", "97.00.5a.00.01")]), "vbios", W, "97.00.5A.00.01 is older"),
    ("no evidence", found(evidence=[]), "vbios", U, "97.00.6E.00.07 is expected"),
    ("OFED", noted("rtx1", nic_driver="DOCA-OFED 3.1"), "nic-driver", W, "not the kernel's own"),
    ("second plugin", found(daemon_sets=[PLUGIN]), "device-plugin", E, "kube-system/nvidia-device-plugin"),
    (
        "driver of the host",
        labeled("hgx1", **{"nvidia.com/gpu.deploy.driver": "pre-installed"}),
        "driver",
        E,
        "leaves them alone",
    ),
    ("driver of others", found(daemon_sets=[DRIVERS]), "driver", E, "installs drivers there already"),
    ("Run:ai everywhere", found(deployments=[RUNAI]), "scheduler", E, "every GPU node"),
    ("Volcano", found(deployments=[named("volcano-scheduler", "volcano-system")]), "scheduler", W, "Volcano"),
    ("KAI, retracted", found(deployments=[kai("v0.20.1")]), "scheduler", W, "v0.20.1, which was retracted"),
    ("not to be read", Found(refused=("/api/v1/nodes",)), "rights", U, "No permission to read"),
]


@in_one_test(("given", "rule", "severity", "text"), [case[1:] for case in CASES], ids=[c[0] for c in CASES])
def test_what_is_missing_is_found_with_what_it_costs(given: Found, rule: str, severity: Severity, text: str) -> None:
    matching = [each for each in of_rule(judged(given), rule, severity) if text in each.problem]
    assert matching
    if severity in (E, W):
        assert all(each.fix for each in matching)
        assert not [each for each in of_rule(judged(found()), rule, severity) if text in each.problem]


def test_kubernetes_without_patches_is_doubtful() -> None:
    late = judged(found(), today=datetime.date(2026, 3, 2))
    assert [each.where for each in of_rule(late, "kubernetes", W)] == ["1.32"]


@pytest.mark.parametrize(
    ("text", "refused"), [("cri-o://1.32.1", True), ("containerd://2.0.5", True), ("containerd://2.1.0", False)]
)
def test_nri_needs_a_containerd_that_has_it(text: str, refused: bool) -> None:
    nodes = NODES_THERE
    for name in ("hgx1", "rtx1", "rtx2"):
        nodes = changed(nodes, name, "status/nodeInfo/containerRuntimeVersion", text)
    assert bool(of_rule(judged(found(nodes=nodes), of=settings(nri=True)), "runtime", E)) is refused
    assert not of_rule(judged(found(nodes=nodes)), "runtime", E)


@pytest.mark.parametrize(
    ("text", "named"), [("cri-o://1.32.1", True), ("containerd://1.7.30", True), ("containerd://2.0.5", False)]
)
def test_the_gateway_needs_a_runtime_that_lets_it_listen_on_its_port(text: str, named: bool) -> None:
    nodes = [{"status": {"nodeInfo": {"containerRuntimeVersion": text}}}]
    assert ["port 443" in each.problem for each in judge_gateway(nodes)] == ([True] if named else [])


def test_runai_and_kai_each_with_nodes_of_their_own() -> None:
    own = world.node("other", "10.0.9.40", labels={WORKER: "true"})
    apart = found(deployments=[RUNAI], nodes=[*NODES_THERE, own])
    assert not of_rule(judged(apart), "scheduler", E)
    shared = found(deployments=[RUNAI], nodes=[*(labeled("rtx2", **{WORKER: "true"}).nodes or ()), own])
    (finding,) = of_rule(judged(shared), "scheduler", E)
    assert finding.problem.startswith("rtx2 belong to Run:ai and to a pool")


def test_runai_has_a_range_of_kubernetes_of_its_own() -> None:
    own = world.node("other", "10.0.9.40", labels={WORKER: "true"}, kubeletVersion="v1.34.1")
    findings = judged(found(deployments=[RUNAI], nodes=[*NODES_THERE, own]))
    assert "1.30 to 1.33" in of_rule(findings, "scheduler", W)[0].problem


def test_a_plugin_that_its_selector_keeps_away_is_no_second_one() -> None:
    inner = {**PLUGIN["spec"]["template"]["spec"], "nodeSelector": {"a": "b"}}
    away = {**PLUGIN, "spec": {"template": {"spec": inner}}}
    assert not of_rule(judged(found(daemon_sets=[away])), "device-plugin", E)


def test_longhorn_needs_as_many_labeled_nodes_as_replicas() -> None:
    chosen = Longhorn(default_class=False)
    assert not of_rule(judged(found(), of=settings(longhorn=chosen)), "storage", E)
    expected = ((2, E, "3 replicas need as many"), (3, None, ""), (4, W, "storage.longhorn.nodes says"))
    for count, severity, text in expected:
        nodes = [*(world.control_plane(index) for index in range(1, count + 1)), *without("cp")]
        findings = judged(found(nodes=nodes), of=settings(longhorn=chosen))
        about = [each for each in findings if each.where == "longhorn" and each.severity is not Severity.OK]
        assert [(each.severity, text in each.problem) for each in about] == ([(severity, True)] if severity else [])


def test_longhorn_as_a_second_default_class_is_refused() -> None:
    assert "local, longhorn" in of_rule(judged(found(), of=settings(longhorn=Longhorn())), "storage", E)[0].problem
    alone = found(classes=[])
    assert not of_rule(judged(alone, of=settings(longhorn=Longhorn())), "storage", E)


@pytest.mark.parametrize(
    ("text", "who"),
    [
        ("10.0.9.10-10.0.9.12", "nodes: hgx1"),
        ("10.0.9.0/28", "cp1, cp2, cp3 and 1 more"),
        ("10.233.64.0/28", "Pods of nodes"),
        ("10.233.0.0/28", "Services: kubernetes"),
        ("10.0.9.200-10.0.9.220", ""),
    ],
)
def test_addresses_of_metallb_are_not_in_use(text: str, who: str) -> None:
    findings = judged(found(), of=settings(metallb=MetalLb(addresses=(text,))))
    problems = [each.problem for each in of_rule(findings, "load-balancer", E)]
    assert [who in problem for problem in problems] == ([True] if who else [])


def test_pools_of_another_metallb_are_doubtful_and_ours_are_not() -> None:
    chosen = settings(metallb=MetalLb(addresses=("10.0.9.200/31",)))
    for name, count in (("default", 0), ("first", 1)):
        given = found(address_pools=[named(name, "metallb-system")])
        assert len(of_rule(judged(given, of=chosen), "load-balancer", W)) == count


def test_only_lists_are_read_and_what_is_refused_is_left_open() -> None:
    read: list[str] = []
    whole = lists(found())

    def answer(path: str) -> Sequence[Any] | None:
        read.append(path)
        if path in (NODES, ADDRESS_POOLS):
            return None
        return whole["snapshot_classes"] if path == SNAPSHOT_CLASSES else []

    given = read_cluster(answer)
    assert len(read) == len(set(read)) == 9
    assert given.refused == (NODES,)
    assert given.address_pools is None
    assert [each.where for each in judged(given)] == [NODES]
