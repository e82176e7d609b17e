"""Each rule has an example that passes and one that fails, and tolerates what is not known yet."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from policies import RULES, UNKNOWN, Options, Resource, Secret, Stack, evaluate
from policies.azure import GUARDED_TYPES, ROLE_ASSIGNMENT, SUBNET, VIRTUAL_NETWORK
from policies.node_pools import AGENT_POOL, MANAGED_CLUSTER
from policies.workloads import DAEMON_SET
from settings.facts import IMMUTABLE_POOL_PROPERTIES
from settings.labels import is_reserved

COMPONENT = "urn:pulumi:s::p::physical-ai:index:Platform$physical-ai:azure:Cluster::c"
PROVIDER = "urn:pulumi:s::p::pulumi:providers:kubernetes::k8s::id"
NAMESPACE = "kubernetes:core/v1:Namespace"
SECRET = "kubernetes:core/v1:Secret"
CLUSTER_URN = "urn:pulumi:s::p::azure-native:containerservice:ManagedCluster::aks"
IDENTITY_URN = (
    "urn:pulumi:s::p::physical-ai:azure:Identities$azure-native:managedidentity:UserAssignedIdentity::control-plane"
)
PROTECTED_CLUSTER = Resource("test:index:Cluster", "aks", {}, Options(protect=True), CLUSTER_URN, custom=False)
SPOT_LABEL = {"kubernetes.azure.com/scalesetpriority": "spot"}
SPOT_TAINTS = ["nvidia.com/gpu=present:NoSchedule", "kubernetes.azure.com/scalesetpriority=spot:NoSchedule"]


@dataclass(frozen=True)
class Example:
    """Inputs and options of a resource of `type`, and what to change in them to break the rule."""

    type: str
    inputs: dict[str, Any] = field(default_factory=dict[str, Any])
    bad: dict[str, Any] = field(default_factory=dict[str, Any])
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    bad_options: dict[str, Any] = field(default_factory=dict[str, Any])
    environment: str = "dev"
    secrets: frozenset[str] = frozenset()

    def stack(self, *, broken: bool) -> Stack:
        inputs = {**self.inputs, **(self.bad if broken else {})}
        given = {"parent": COMPONENT, **self.options, **(self.bad_options if broken else {})}
        inputs = {key: value for key, value in inputs.items() if value is not None}
        resource = Resource(self.type, "it", inputs, Options(**given), "urn")
        return Stack(self.environment, (resource, PROTECTED_CLUSTER), self.secrets)


SPOT = {
    "scaleSetPriority": "Spot",
    "scaleSetEvictionPolicy": "Delete",
    "nodeLabels": SPOT_LABEL,
    "nodeTaints": SPOT_TAINTS,
}
SYSTEM = {"name": "system", "mode": "System", "nodeTaints": ["CriticalAddonsOnly=true:NoSchedule"]}
GPU = {"gpuProfile": {"driver": "None"}, "nodeTaints": ["nvidia.com/gpu=present:NoSchedule"]}
ENTRA = {"disableLocalAccounts": True, "aadProfile": {"managed": True, "enableAzureRBAC": True}}
IDENTITY = {"oidcIssuerProfile": {"enabled": True}, "securityProfile": {"workloadIdentity": {"enabled": True}}}
OUTBOUND = {"defaultOutboundAccess": False, "natGateway": {"id": UNKNOWN}, "networkSecurityGroup": {"id": UNKNOWN}}
REPLACING = {"replace_on_changes": IMMUTABLE_POOL_PROPERTIES, "delete_before_replace": True}
DIGEST = f"docker.io/library/ubuntu@sha256:{'0' * 64}"
REQUESTS = {"requests": {"cpu": "10m", "memory": "16Mi"}}
ROLLING = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}}


def workload(container: dict[str, Any] | None = None, **pod: Any) -> dict[str, Any]:
    """Inputs of a workload that breaks no rule but for what is given."""
    containers = [{"image": DIGEST, "resources": REQUESTS, **(container or {})}]
    return {"updateStrategy": ROLLING, "template": {"spec": {"containers": containers, **pod}}}


AGENT = {"metadata": {"name": "gpu-grid-driver-installer"}, "spec": workload(hostPID=True)}
KNOWN_SECRET = frozenset({"hunter2"})

EXAMPLES: dict[str, list[Example]] = {
    "explicit-provider": [
        Example(NAMESPACE, options={"provider": PROVIDER}, bad_options={"provider": ""}),
        Example(
            NAMESPACE,
            options={"provider": PROVIDER},
            bad_options={"provider": "urn:pulumi:s::p::pulumi:providers:kubernetes::default_4_34_2::id"},
        ),
    ],
    "component-parent": [
        Example(NAMESPACE, options={"provider": PROVIDER}, bad_options={"parent": ""}),
        Example(SUBNET, OUTBOUND, bad_options={"parent": "urn:pulumi:s::p::pulumi:pulumi:Stack::p-s"}),
    ],
    "no-plaintext-secret": [
        Example(MANAGED_CLUSTER, {"adminPassword": Secret("x")}, {"adminPassword": "x"}),
        Example(SECRET, {"stringData": {"k": Secret("x")}}, {"stringData": {"k": "x"}}),
        Example(NAMESPACE, {"note": "harmless"}, {"note": "it is hunter2"}, secrets=KNOWN_SECRET),
        Example(NAMESPACE, {"kubeconfig": "users: []"}, {"kubeconfig": "user: {client-key-data: QQ==}"}),
    ],
    "camel-case-paths": [
        Example(SUBNET, OUTBOUND, options={"ignore_changes": ("tags",)}, bad_options={"ignore_changes": ("a.b_c",)}),
        Example(SUBNET, OUTBOUND, bad_options={"replace_on_changes": ("gpu_profile.driver",)}),
    ],
    "immutable-pool-properties": [
        Example(AGENT_POOL, {"vmSize": "x"}, options=REPLACING, bad_options={"replace_on_changes": ("osDiskType",)}),
        Example(AGENT_POOL, {"maxPods": 30}, options=REPLACING, bad_options={"delete_before_replace": False}),
    ],
    "spot-pool": [
        Example(AGENT_POOL, SPOT, {"upgradeSettings": {"maxSurge": "1"}}),
        Example(AGENT_POOL, SPOT, {"scaleSetEvictionPolicy": "Deallocate"}),
        Example(AGENT_POOL, SPOT, {"nodeLabels": {}}),
        Example(AGENT_POOL, SPOT, {"nodeTaints": SPOT_TAINTS[:1]}),
        Example(AGENT_POOL, {"scaleSetPriority": "Regular"}, {"spotMaxPrice": -1}),
        Example(
            MANAGED_CLUSTER,
            {"agentPoolProfiles": [SYSTEM]},
            {"agentPoolProfiles": [{**SYSTEM, "scaleSetEvictionPolicy": "Delete"}]},
        ),
    ],
    "taint-form": [
        Example(AGENT_POOL, {"nodeTaints": ["nvidia.com/gpu=present:NoSchedule"]}, {"nodeTaints": ["a/b:NoSchedule"]}),
        Example(AGENT_POOL, {"nodeTaints": ["a=b:NoExecute"]}, {"nodeTaints": ["a=b:noexecute"]}),
        Example(AGENT_POOL, {"nodeTaints": ["a=b:PreferNoSchedule"]}, {"nodeTaints": ["a=b"]}),
        Example(AGENT_POOL, {"nodeTaints": []}, {"nodeTaints": ["a=:NoSchedule"]}),
    ],
    "gpu-taint": [Example(AGENT_POOL, GPU, {"nodeTaints": ["nvidia.com/gpux=present:NoSchedule"]})],
    "label-form": [
        Example(AGENT_POOL, {"nodeLabels": {"physical-ai/x": "y"}}, {"nodeLabels": {"kubernetes.azure.com/x": "y"}}),
        Example(AGENT_POOL, SPOT, {"nodeLabels": {**SPOT_LABEL, "node.kubernetes.io/x": "y"}}),
        Example(AGENT_POOL, {"nodeLabels": {"x": "v" * 63}}, {"nodeLabels": {"x": "v" * 64}}),
        Example(AGENT_POOL, {"nodeLabels": {"x": ""}}, {"nodeLabels": {"x/": "y"}}),
        Example(AGENT_POOL, {"nodeLabels": {}}, {"nodeLabels": SPOT_LABEL}),
        Example(AGENT_POOL, {"nodeLabels": {"pool": "a"}}, {"nodeLabels": {"agentpool": "a"}}),
    ],
    "autoscaled-count": [
        Example(
            AGENT_POOL,
            {"enableAutoScaling": True},
            options={"ignore_changes": ("count",)},
            bad_options={"ignore_changes": ()},
        ),
        Example(AGENT_POOL, {"enableAutoScaling": False}, bad_options={"ignore_changes": ("count",)}),
        Example(
            MANAGED_CLUSTER,
            {"agentPoolProfiles": [{**SYSTEM, "enableAutoScaling": True}]},
            options={"ignore_changes": ("agentPoolProfiles[0].count",)},
            bad_options={"ignore_changes": ("agentPoolProfiles",)},
        ),
    ],
    "pool-choices-stated": [
        Example(AGENT_POOL, {"type": "VirtualMachineScaleSets", "scaleDownMode": "Delete"}, {"type": None}),
        Example(
            AGENT_POOL,
            {"type": "VirtualMachineScaleSets", "scaleDownMode": "Delete"},
            {"scaleDownMode": "Deallocate"},
        ),
    ],
    "gpu-driver-stated": [
        Example(AGENT_POOL, GPU, {"gpuProfile": {"driver": "none"}}),
        Example(AGENT_POOL, GPU, {"gpuProfile": {}}),
    ],
    "system-pool": [
        Example(MANAGED_CLUSTER, {"agentPoolProfiles": [SYSTEM]}, {"agentPoolProfiles": [SYSTEM, SYSTEM]}),
        Example(
            MANAGED_CLUSTER, {"agentPoolProfiles": [SYSTEM]}, {"agentPoolProfiles": [{**SYSTEM, "nodeTaints": []}]}
        ),
        Example(
            MANAGED_CLUSTER,
            {"agentPoolProfiles": [SYSTEM]},
            {"agentPoolProfiles": [{**SYSTEM, "upgradeSettings": {"maxSurge": "0", "maxUnavailable": "1"}}]},
        ),
    ],
    "protected-in-production": [
        Example(kind, options={"protect": True}, bad_options={"protect": False}, environment="prod")
        for kind in GUARDED_TYPES
    ],
    "replaced-together": [
        Example(
            NAMESPACE,
            options={"deleted_with": CLUSTER_URN, "replace_with": (CLUSTER_URN,), "provider": PROVIDER},
            bad_options={"replace_with": ()},
        ),
    ],
    "protected-together": [
        Example(
            AGENT_POOL,
            options={"deleted_with": CLUSTER_URN, "protect": True},
            bad_options={"protect": False},
        ),
    ],
    "entra-only": [
        Example(MANAGED_CLUSTER, ENTRA, {"disableLocalAccounts": None}),
        Example(MANAGED_CLUSTER, ENTRA, {"aadProfile": {"managed": True}}),
    ],
    "api-server-reach": [
        Example(
            MANAGED_CLUSTER,
            {"apiServerAccessProfile": {"authorizedIPRanges": ["20.1.2.0/24", UNKNOWN]}},
            {"apiServerAccessProfile": None},
            environment="prod",
        ),
        Example(MANAGED_CLUSTER, {}, {"apiServerAccessProfile": {"authorizedIPRanges": ["0.0.0.0/0"]}}),
        Example(
            MANAGED_CLUSTER,
            {"apiServerAccessProfile": {"enablePrivateCluster": True}},
            {"apiServerAccessProfile": {"enablePrivateCluster": False}},
            environment="prod",
        ),
    ],
    "workload-identity": [
        Example(MANAGED_CLUSTER, IDENTITY, {"oidcIssuerProfile": {"enabled": False}}),
        Example(MANAGED_CLUSTER, IDENTITY, {"securityProfile": {}}),
    ],
    "role-principal-type": [
        Example(
            ROLE_ASSIGNMENT,
            {"principalType": "ServicePrincipal"},
            {"principalType": None},
            options={"depends_on": (CLUSTER_URN, IDENTITY_URN)},
        ),
        # A principal that stood before the deployment needs none.
        Example(
            ROLE_ASSIGNMENT,
            options={"depends_on": (CLUSTER_URN,)},
            bad_options={"depends_on": (IDENTITY_URN,)},
        ),
    ],
    "role-scope": [
        Example(ROLE_ASSIGNMENT, {"scope": "/subscriptions/s/resourceGroups/g"}, {"scope": "/subscriptions/s"}),
        Example(
            ROLE_ASSIGNMENT,
            {"scope": UNKNOWN},
            {"scope": "/providers/Microsoft.Management/managementGroups/root"},
        ),
        Example(ROLE_ASSIGNMENT, {"scope": "/subscriptions/s/resourceGroups/g/providers/p/t/n"}, {"scope": "/"}),
    ],
    "no-inline-subnets": [Example(VIRTUAL_NETWORK, {}, {"subnets": [{"name": "x"}]})],
    "image-by-digest": [
        Example(DAEMON_SET, {"spec": workload()}, {"spec": workload({"image": "docker.io/library/ubuntu:22.04"})}),
        Example(
            DAEMON_SET,
            {"spec": workload({"image": UNKNOWN})},
            {"spec": workload(initContainers=[{"image": "ubuntu", "resources": REQUESTS}])},
        ),
    ],
    "on-the-host": [
        Example(DAEMON_SET, AGENT, {"metadata": {"name": "another"}}),
        Example(DAEMON_SET, {"spec": workload()}, {"spec": workload(hostNetwork=True)}),
        Example(DAEMON_SET, {"spec": workload()}, {"spec": workload({"securityContext": {"privileged": True}})}),
        Example(DAEMON_SET, {"spec": workload()}, {"spec": workload(volumes=[{"hostPath": {"path": "/"}}])}),
    ],
    "workload-requests": [
        Example(DAEMON_SET, {"spec": workload()}, {"spec": workload({"resources": {"requests": {"cpu": "1"}}})}),
    ],
    "one-node-after-the-other": [
        Example(DAEMON_SET, {"spec": workload()}, {"spec": {**workload(), "updateStrategy": {}}}),
        Example(
            DAEMON_SET,
            {"spec": {**workload(), "updateStrategy": {"type": "OnDelete"}}},
            {"spec": {**workload(), "updateStrategy": {"rollingUpdate": {"maxUnavailable": "25%"}}}},
        ),
    ],
    "subnet-outbound": [
        Example(SUBNET, OUTBOUND, {"defaultOutboundAccess": None}),
        Example(SUBNET, OUTBOUND, {"natGateway": None}),
        Example(SUBNET, OUTBOUND, {"networkSecurityGroup": None}),
    ],
}

CASES = [
    pytest.param(rule, example, id=f"{rule}-{i}") for rule, all_ in EXAMPLES.items() for i, example in enumerate(all_)
]


def rules_broken(stack: Stack, only: str) -> list[str]:
    return [finding.message for finding in evaluate(stack, [rule for rule in RULES if rule.id == only])]


def test_every_rule_has_examples_and_a_name_of_its_own() -> None:
    assert [rule.id for rule in RULES] == list(dict.fromkeys(rule.id for rule in RULES))
    assert {rule.id for rule in RULES} == set(EXAMPLES)


@pytest.mark.parametrize(("rule", "example"), CASES)
def test_passing_example(rule: str, example: Example) -> None:
    assert rules_broken(example.stack(broken=False), rule) == []


@pytest.mark.parametrize(("rule", "example"), CASES)
def test_failing_example_says_what_to_do(rule: str, example: Example) -> None:
    messages = rules_broken(example.stack(broken=True), rule)
    assert messages
    assert all(len(message) > 5 for message in messages)


@pytest.mark.parametrize(("rule", "example"), CASES)
def test_what_is_not_known_yet_raises_nothing(rule: str, example: Example) -> None:
    stack = example.stack(broken=False)
    resource, cluster = stack.resources
    blank = replace(resource, inputs=dict.fromkeys(resource.inputs, UNKNOWN))
    rules_broken(replace(stack, resources=(blank, cluster)), rule)


def test_every_rule_gives_a_reason_in_a_sentence() -> None:
    assert all(rule.reason.endswith(".") and rule.reason[0].isupper() for rule in RULES)


def test_components_are_not_judged_as_resources() -> None:
    component = Resource("physical-ai:index:Platform", "physical-ai", custom=False)
    assert evaluate(Stack("prod", (component,))) == []


def test_a_finding_reads_as_place_remedy_and_reason() -> None:
    stack = EXAMPLES["role-scope"][0].stack(broken=True)
    (finding,) = evaluate(stack, [rule for rule in RULES if rule.id == "role-scope"])
    assert str(finding).splitlines() == [
        "error role-scope: azure-native:authorization:RoleAssignment it scope",
        "  /subscriptions/s is too wide; assign on the resource that is used",
        "  A role on the subscription reaches everything that will ever be in it.",
    ]


def test_a_secret_does_not_show_in_a_failed_assertion() -> None:
    assert "hunter2" not in repr(Secret("hunter2"))


@pytest.mark.parametrize(
    ("key", "reserved"),
    [
        ("kubernetes.azure.com/mode", True),
        ("topology.kubernetes.io/zone", True),
        ("x.k8s.io/y", True),
        ("nvidia.com/gpu.deploy.driver", False),
        ("mykubernetes.io/x", False),
        ("kubernetes.io", False),
        ("plain", False),
        ("agentpool", True),
        ("Accelerator", True),
        ("storageprofile", True),
        ("storagetier", True),
        ("example.com/accelerator", False),
    ],
)
def test_reserved_labels(key: str, reserved: bool) -> None:
    assert is_reserved(key) is reserved
