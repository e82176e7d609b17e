"""What the admission policies of a stack say about Pods, and the known ways around them.

Their expressions are evaluated here by physical_ai/kubernetes/cel.py; tests/simulator/test_gpu_admission.py asks a real
API server.
"""

from __future__ import annotations

from typing import Any

import pytest

from physical_ai.kubernetes.cel import evaluate
from physical_ai.planning import manifests
from physical_ai.planning.gpu_admission import policies
from physical_ai.planning.gpu_nodes import gpu_node_policies
from physical_ai.planning.pod_security import exempt, pod_security_policies
from physical_ai.settings import Overlay, Settings, load
from tests.support.cases import in_one_test
from tests.unit.settings.settings_faults import expect, faults_of

Json = dict[str, Any]
NODE: Json = {"nodeName": "aks-h100gpu-1"}


def settings(*assignments: str) -> Settings:
    return load("dev-westus2", [Overlay.assign(list(assignments))] if assignments else []).settings


def policy(name: str, *assignments: str) -> Json:
    stack = settings(*assignments)
    declared = [*policies(stack), *gpu_node_policies(stack), *pod_security_policies(stack)]
    return next(each["spec"] for each in declared if (each["kind"], each["metadata"]["name"]) == (VALIDATING, name))


VALIDATING = "ValidatingAdmissionPolicy"


def variables(spec: Json, *names: str, **scope: Any) -> Json:
    own = [each for each in spec["variables"] if not names or each["name"] in names]
    return {each["name"]: evaluate(each["expression"], scope) for each in own}


def complaints(pod: Json) -> list[str]:
    """What the Pod Security policy says about a Pod."""
    spec = policy("pod-security")
    scope = {"object": pod, "variables": variables(spec, object=pod)}
    return [each["message"] for each in spec["validations"] if not evaluate(each["expression"], scope)]


def pod(container: Json | None = None, annotations: Json | None = None, **spec: Any) -> Json:
    metadata: Json = {"name": "it", **({"annotations": annotations} if annotations else {})}
    return {"metadata": metadata, "spec": {"containers": [{"name": "main", "image": "i", **(container or {})}], **spec}}


def secured(**context: Any) -> Json:
    return {"securityContext": context}


@in_one_test(
    ("made", "words"),
    [
        (pod(hostNetwork=True), "hostNetwork"),
        (pod(hostPID=True), "hostPID"),
        (pod(hostIPC=True), "hostIPC"),
        (pod(secured(privileged=True)), "privileged"),
        (pod(initContainers=[{"name": "a", **secured(privileged=True)}]), "privileged"),
        (pod(ephemeralContainers=[{"name": "a", **secured(privileged=True)}]), "privileged"),
        (pod(volumes=[{"name": "gpus", "hostPath": {"path": "/dev"}}]), "path of its node"),
        (pod({"ports": [{"containerPort": 80, "hostPort": 80}]}), "hostPort"),
        (pod(secured(capabilities={"add": ["CHOWN", "SYS_ADMIN"]})), "capabilities.add"),
        (pod(secured(procMount="Unmasked")), "procMount"),
        (pod(secured(seccompProfile={"type": "Unconfined"})), "seccompProfile"),
        (pod(securityContext={"seccompProfile": {"type": "Unconfined"}}), "seccompProfile"),
        (pod(secured(appArmorProfile={"type": "Unconfined"})), "AppArmor"),
        (pod(secured(seLinuxOptions={"type": "spc_t"})), "SELinux"),
        (pod(securityContext={"seLinuxOptions": {"user": "system_u"}}), "SELinux"),
        (pod(securityContext={"sysctls": [{"name": "kernel.msgmax", "value": "1"}]}), "sysctls"),
        (pod({"livenessProbe": {"httpGet": {"host": "169.254.169.254", "port": 80}}}), "metadata service"),
        (pod({"readinessProbe": {"tcpSocket": {"host": "10.0.0.4", "port": 80}}}), "metadata service"),
        (pod({"lifecycle": {"postStart": {"httpGet": {"host": "x", "port": 80}}}}), "metadata service"),
        (pod(initContainers=[{"name": "a", "startupProbe": {"httpGet": {"host": "x", "port": 1}}}]), "metadata"),
        (pod(securityContext={"windowsOptions": {"hostProcess": True}}), "Windows"),
        (pod(annotations={"container.apparmor.security.beta.kubernetes.io/main": "unconfined"}), "AppArmor"),
    ],
)
def test_a_pod_with_rights_of_its_node_is_found(made: Json, words: str) -> None:
    (found,) = complaints(made)
    assert words in found


@pytest.mark.parametrize(
    "made",
    [
        pod(),
        pod(secured(privileged=False, capabilities={"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]})),
        pod({"ports": [{"containerPort": 80}]}, volumes=[{"name": "d", "emptyDir": {}}], hostNetwork=False),
        pod(securityContext={"sysctls": [{"name": "net.ipv4.tcp_rmem", "value": "1"}], "runAsUser": 0}),
        pod(secured(seccompProfile={"type": "RuntimeDefault"}, seLinuxOptions={"type": "container_t"})),
    ],
)
def test_a_pod_of_level_baseline_is_accepted(made: Json) -> None:
    assert complaints(made) == []


def test_a_user_namespace_may_see_proc_unmasked_where_the_standard_says_so() -> None:
    made = pod(secured(procMount="Unmasked"), hostUsers=False)
    assert complaints(made) == []
    assert complaints(pod(secured(procMount="Unmasked"), hostUsers=True)) != []

    def trusts(version: str) -> str:
        (policy, _) = pod_security_policies(settings(f"cluster.kubernetesVersion='{version}'"))
        return next(each["expression"] for each in policy["spec"]["variables"] if each["name"] == "userNamespaces")

    assert (trusts("1.34"), trusts("1.35")) == ("false", "true")


TOLERATES_GPUS = [{"key": "nvidia.com/gpu", "operator": "Exists"}]
ONE_GPU = {"resources": {"limits": {"nvidia.com/gpu": "1"}}}
SPOT = [{"key": "kubernetes.azure.com/scalesetpriority", "operator": "Exists"}]


@in_one_test(
    ("made", "words"),
    [
        (pod(tolerations=[{"operator": "Exists"}], nodeSelector={"agentpool": "h100gpu"}), "tolerates the taint"),
        (pod(tolerations=[{"operator": "Exists", "effect": "NoSchedule"}]), "tolerates the taint"),
        (pod(tolerations=[*SPOT, *TOLERATES_GPUS]), "tolerates the taint"),
        (pod({"resources": {"limits": {"nvidia.com/gpu": "0"}}}, tolerations=TOLERATES_GPUS), "tolerates the taint"),
        (pod(**NODE), "names its node"),
        (pod(priorityClassName="system-node-critical"), "priority"),
        (
            pod({"resources": {"limits": {"nvidia.com/gpu": "1"}}}, priorityClassName="system-cluster-critical"),
            "priority",
        ),
        (pod({"resources": {"limits": {"nvidia.com/gpu": "1"}}}, tolerations=TOLERATES_GPUS), ""),
        (pod({"resources": {"limits": {"nvidia.com/mig-1g.12gb": "1"}}}, tolerations=TOLERATES_GPUS), ""),
        (pod(resourceClaims=[{"name": "gpu", "resourceClaimName": "mine"}], tolerations=TOLERATES_GPUS), ""),
        (pod(tolerations=SPOT), ""),
        (pod(priorityClassName="training"), ""),
        (pod(), ""),
    ],
)
def test_gpu_nodes_are_for_work_with_gpus_and_no_work_has_the_clusters_priority(made: Json, words: str) -> None:
    spec = policy("gpu-nodes")
    scope = {"object": made, "variables": variables(spec, object=made)}
    said = [each["message"] for each in spec["validations"] if not evaluate(each["expression"], scope)]
    assert [words in each for each in said] == ([True] if words else [])


def test_agents_of_nodes_and_mirrors_of_a_kubelet_are_left_alone() -> None:
    spec = policy("gpu-nodes", "admission.podSecurityExempt=[datadog]")
    (selector,) = spec["matchConstraints"]["namespaceSelector"]["matchExpressions"]
    left = {"kube-system", "gpu-operator", "osmo-workflows", "kai-resource-reservation", "datadog"}
    assert left <= set(selector["values"])
    (condition,) = spec["matchConditions"]
    for groups, concerned in ((["system:nodes"], False), (["system:authenticated"], True), ([], True)):
        assert evaluate(condition["expression"], {"request": {"userInfo": {"groups": groups}}}) is concerned
    assert gpu_node_policies(settings("admission.gpuPods=off")) == []
    denied = gpu_node_policies(settings("admission.gpuPods=deny"))
    assert (denied[0]["spec"]["failurePolicy"], denied[1]["spec"]["validationActions"]) == ("Fail", ["Deny", "Audit"])


def test_pod_security_warns_first_and_denies_by_the_settings() -> None:
    def declared(action: str) -> tuple[str, list[str]]:
        own = pod_security_policies(settings(f"admission.podSecurity={action}"))
        return own[0]["spec"]["failurePolicy"], own[1]["spec"]["validationActions"]

    assert declared("warn") == ("Ignore", ["Warn", "Audit"])
    assert declared("deny") == ("Fail", ["Deny", "Audit"])
    assert pod_security_policies(settings("admission.podSecurity=off")) == []
    assert policy("pod-security")["failurePolicy"] == "Ignore"


def test_namespaces_with_a_level_of_their_own_and_those_of_aks_are_exempt() -> None:
    stack = settings("admission.podSecurityExempt=[storage]")
    (selector,) = pod_security_policies(stack)[0]["spec"]["matchConstraints"]["namespaceSelector"]["matchExpressions"]
    assert (selector["key"], selector["operator"]) == ("kubernetes.io/metadata.name", "NotIn")
    assert selector["values"] == list(exempt(stack))
    assert {"kube-system", "gatekeeper-system", "gpu-operator", "storage"} <= set(selector["values"])
    assert "team-vision" not in selector["values"]
    assert not {"telemetry", "monitoring"} & set(selector["values"])
    assert "telemetry" in exempt(settings("monitoring.traces.endpoint=https://traces.example.com"))
    for each in manifests.namespaces():
        assert "pod-security.kubernetes.io/enforce" in each["metadata"]["labels"]
    path = "admission.podSecurityExempt[0]"
    expect(faults_of("admission.podSecurityExempt=['Team A']"), path, "the name of a Kubernetes namespace")


def limits(name: str, count: str = "1") -> Json:
    return {"resources": {"limits": {name: count}}}


@in_one_test(
    ("made", "asks"),
    [
        (pod(limits("nvidia.com/gpu")), True),
        (pod(limits("nvidia.com/gpu", "0")), False),
        (pod(initContainers=[{"name": "a", **limits("nvidia.com/gpu")}]), True),
        (pod(resourceClaims=[{"name": "gpu", "resourceClaimName": "mine"}]), True),
        (pod(limits("deviceclass.resource.kubernetes.io/gpu.nvidia.com")), True),
        (pod(annotations={"gpu-fraction": "0.5"}), False),  # refused by gpu-requests
        (pod(limits("nvidia.com/mig-1g.12gb")), False),  # its name tells the kind of GPU
        (pod(annotations={"note": "none"}), False),
        (pod(), False),
    ],
)
def test_every_way_to_ask_for_a_gpu_needs_a_placement(made: Json, asks: bool) -> None:
    (condition,) = policy("gpu-placement")["matchConditions"]
    assert evaluate(condition["expression"], {"object": made}) is asks


@in_one_test("families", [(), ("pools.rtxprogpu=null",)])
@in_one_test(
    ("made", "accepted"),
    [
        (pod(limits("nvidia.com/gpu")), True),
        (pod(limits("nvidia.com/gpu"), **NODE), False),
        (pod(limits("nvidia.com/mig-1g.12gb"), **NODE), False),
        (pod(resourceClaims=[{"name": "gpu", "resourceClaimName": "mine"}], **NODE), False),
        (pod(**NODE), True),
        (pod(limits("nvidia.com/gpu", "0"), **NODE), True),
    ],
)
def test_a_gpu_pod_does_not_name_its_node_with_one_kind_of_gpu_either(
    made: Json, accepted: bool, families: tuple[str, ...]
) -> None:
    (rule,) = policy("gpu-scheduling", *families)["validations"]
    assert evaluate(rule["expression"], {"object": made}) is accepted


@pytest.mark.parametrize(
    ("user", "groups", "accepted"),
    [
        ("system:kube-scheduler", ["system:authenticated"], True),
        ("system:serviceaccount:kai-scheduler:binder", ["system:serviceaccounts:kai-scheduler"], True),
        ("system:serviceaccount:team:mine", ["system:serviceaccounts:team"], False),
        ("system:serviceaccount:team:kai-scheduler", ["system:serviceaccounts:team"], False),
        ("someone@contoso.com", [], False),
        ("system:serviceaccount:volcano-system:volcano-scheduler", [], True),
    ],
)
def test_pods_are_bound_to_nodes_by_schedulers_alone(user: str, groups: list[str], accepted: bool) -> None:
    spec = policy("gpu-binding", "admission.schedulers=['system:serviceaccount:volcano-system:volcano-scheduler']")
    assert spec["matchConstraints"]["resourceRules"][0]["resources"] == ["pods/binding", "bindings"]
    request = {"userInfo": {"username": user, "groups": groups}}
    (rule,) = spec["validations"]
    assert evaluate(rule["expression"], {"request": request, "variables": variables(spec)}) is accepted


@pytest.mark.parametrize("kind", ["containers", "initContainers", "ephemeralContainers"])
def test_a_mount_gives_no_gpu_that_is_not_requested(kind: str) -> None:
    spec = policy("gpu-requests")
    rule = next(each for each in spec["validations"] if "nvidia-container-devices" in each["expression"])

    def accepted(path: str) -> bool:
        made = pod()
        mount = {"name": "d", "mountPath": path}
        made["spec"].setdefault(kind, []).append({"name": "other", "volumeMounts": [mount]})
        request = {"operation": "CREATE"}
        known = variables(spec, "created", "containers", object=made, request=request)
        scope = {"object": made, "request": request, "variables": known}
        return evaluate(rule["expression"], scope)

    root = "nvidia-container-devices"
    for path in (f"/var/run/{root}/all", f"/var//run/{root}/all", f"/var/./run/{root}/all", f"//var/run/./{root}/0"):
        assert not accepted(path), path
    for path in (f"var/run/{root}/all", f"./var/run/{root}", f"/x/../var/run/{root}/all", "/var/run/..", "../run"):
        assert not accepted(path), path
    for path in ("/var/run/mine", f"/data/var/run/{root}", "/var/run/..data", "/etc/a..b/c", "/var.d/run"):
        assert accepted(path), path


def test_debugging_containers_are_checked_too() -> None:
    for name in ("gpu-requests", "pod-security"):
        rules = policy(name)["matchConstraints"]["resourceRules"]
        assert [(each["operations"], each["resources"]) for each in rules] == [
            (["CREATE"], ["pods"]),
            (
                ["UPDATE"],
                ["pods/ephemeralcontainers"] if name == "pod-security" else ["pods", "pods/ephemeralcontainers"],
            ),
        ]
