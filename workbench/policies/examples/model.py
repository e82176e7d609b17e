"""Class of the examples for rules, and the resources that several examples share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from physical_ai.settings.facts.pools import IMMUTABLE_POOL_PROPERTIES
from workbench.policies.model import UNKNOWN, Options, Resource, Stack

COMPONENT = "urn:pulumi:s::p::physical-ai:index:Platform$physical-ai:azure:Cluster::c"
PROVIDER = "urn:pulumi:s::p::pulumi:providers:kubernetes::k8s::id"
NAMESPACE = "kubernetes:core/v1:Namespace"
SECRET = "kubernetes:core/v1:Secret"  # noqa: S105 - a type token
CLUSTER_URN = "urn:pulumi:s::p::azure-native:containerservice:ManagedCluster::aks"
IDENTITY_URN = (
    "urn:pulumi:s::p::physical-ai:azure:Identities$azure-native:managedidentity:UserAssignedIdentity::control-plane"
)
PROTECTED_CLUSTER = Resource("test:index:Cluster", "aks", {}, Options(protect=True), CLUSTER_URN, custom=False)
SPOT_LABEL = {"kubernetes.azure.com/scalesetpriority": "spot"}
SPOT_TAINTS = ["nvidia.com/gpu=present:NoSchedule", "kubernetes.azure.com/scalesetpriority=spot:NoSchedule"]


@dataclass(frozen=True)
class Example:
    """Two versions of a resource: one that complies with a rule, and one with changes that violate the rule.

    `bad` has the changed inputs, where None removes an input, and `bad_options` the changed options. `others` are the
    other resources of the stack; in the stack that violates the rule, `bad_others` replaces `others` unless
    `bad_others` is None.
    """

    type: str
    inputs: dict[str, Any] = field(default_factory=dict[str, Any])
    bad: dict[str, Any] = field(default_factory=dict[str, Any])
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    bad_options: dict[str, Any] = field(default_factory=dict[str, Any])
    environment: str = "dev"
    region: str = "westus2"
    secrets: frozenset[str] = frozenset()
    others: tuple[Resource, ...] = ()
    bad_others: tuple[Resource, ...] | None = None

    def stack(self, *, broken: bool) -> Stack:
        """A stack whose first resource is the example's resource. `broken`: True for the version that violates the
        rule.
        """
        others = self.bad_others if broken and self.bad_others is not None else self.others
        options: dict[str, Any] = {"parent": COMPONENT, **self.shown_options(broken=broken)}
        resource = Resource(self.type, "it", self.shown(broken=broken), Options(**options), "urn")
        return Stack(self.environment, (resource, PROTECTED_CLUSTER, *others), self.secrets, self.region)

    def shown(self, *, broken: bool) -> dict[str, Any]:
        """Inputs of the example's resource; with `broken`, the inputs that violate the rule."""
        inputs = {**self.inputs, **(self.bad if broken else {})}
        return {key: value for key, value in inputs.items() if value is not None}

    def shown_options(self, *, broken: bool) -> dict[str, Any]:
        """Options of the example's resource that are shown for the rule; with `broken`, the options that violate the
        rule.
        """
        return {**self.options, **(self.bad_options if broken else {})}


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
    """Inputs of a workload that violates no rule unless the given values make it do so."""
    containers = [{"image": DIGEST, "resources": REQUESTS, **(container or {})}]
    return {"updateStrategy": ROLLING, "template": {"spec": {"containers": containers, **pod}}}


AGENT = {"metadata": {"name": "gpu-grid-driver-installer"}, "spec": workload(hostPID=True)}
KNOWN_SECRET = frozenset({"hunter2"})
