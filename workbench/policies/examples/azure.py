"""Examples for the rules on access to the cluster, its network, and permissions."""

from __future__ import annotations

from workbench.policies.azure import GUARDED_TYPES, ROLE_ASSIGNMENT, SUBNET, VIRTUAL_NETWORK
from workbench.policies.examples.model import CLUSTER_URN, ENTRA, IDENTITY, IDENTITY_URN, OUTBOUND, Example
from workbench.policies.model import UNKNOWN
from workbench.policies.node_pools import MANAGED_CLUSTER

EXAMPLES: dict[str, list[Example]] = {
    "protected-in-production": [
        Example(kind, options={"protect": True}, bad_options={"protect": False}, environment="prod")
        for kind in GUARDED_TYPES
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
        *(
            Example(MANAGED_CLUSTER, {}, {"apiServerAccessProfile": {"authorizedIPRanges": ranges}})
            for ranges in (["0.0.0.0/0"], ["0.0.0.0/1", "128.0.0.0/1"], ["8.0.0.0/8", "20.0.0.0/9"], ["::/0"])
        ),
        Example(
            MANAGED_CLUSTER,
            {"apiServerAccessProfile": {"enablePrivateCluster": True}},
            {"apiServerAccessProfile": {"enablePrivateCluster": False}},
            environment="prod",
        ),
    ],
    "api-server-ranges": [
        Example(
            MANAGED_CLUSTER,
            {"apiServerAccessProfile": {"authorizedIPRanges": ["20.1.2.0/24", "20.1.9.0/24"]}},
            {"apiServerAccessProfile": {"authorizedIPRanges": ranges}},
        )
        for ranges in (["20.1.2.0/23"], ["20.1.2.0/24", "20.1.3.0/24"], ["0.0.0.0/0"])
    ],
    "no-run-command": [
        Example(MANAGED_CLUSTER, {"apiServerAccessProfile": {"disableRunCommand": True}}, access)
        for access in ({"apiServerAccessProfile": None}, {"apiServerAccessProfile": {"disableRunCommand": False}})
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
        # A principal that existed before the deployment needs no type.
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
    "subnet-outbound": [
        Example(SUBNET, OUTBOUND, {"defaultOutboundAccess": None}),
        Example(SUBNET, OUTBOUND, {"natGateway": None}),
        Example(SUBNET, OUTBOUND, {"networkSecurityGroup": None}),
        Example(SUBNET, {**OUTBOUND, "natGateway": None, "routeTable": {"id": UNKNOWN}}, {"routeTable": None}),
        Example(SUBNET, {"subnetName": "GatewaySubnet"}, {"subnetName": "snet-gpu"}),
    ],
}
