"""Examples for the rules on how resources are declared."""

from __future__ import annotations

from workbench.policies.azure import SUBNET
from workbench.policies.declarations import VAULT_SECRET
from workbench.policies.examples.model import (
    CLUSTER_URN,
    KNOWN_SECRET,
    NAMESPACE,
    OUTBOUND,
    PROVIDER,
    SECRET,
    Example,
)
from workbench.policies.model import Secret
from workbench.policies.node_pools import AGENT_POOL, MANAGED_CLUSTER

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
        Example(VAULT_SECRET, {"properties": {"value": Secret("x")}}, {"properties": {"value": "x"}}),
        Example(NAMESPACE, {"note": "harmless"}, {"note": "it is hunter2"}, secrets=KNOWN_SECRET),
        Example(NAMESPACE, {"kubeconfig": "users: []"}, {"kubeconfig": "user: {client-key-data: QQ==}"}),
    ],
    "camel-case-paths": [
        Example(SUBNET, OUTBOUND, options={"ignore_changes": ("tags",)}, bad_options={"ignore_changes": ("a.b_c",)}),
        Example(SUBNET, OUTBOUND, bad_options={"replace_on_changes": ("gpu_profile.driver",)}),
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
}
