"""Examples for the rules on flows through several resources."""

from __future__ import annotations

from typing import Any

from workbench.policies.examples.gateway import PUBLIC, gateway_release
from workbench.policies.examples.model import Example
from workbench.policies.flows.azure_services import FIREWALL_RULE, PUBLIC_ADDRESS, SERVER
from workbench.policies.flows.security_groups import GROUP
from workbench.policies.flows.world import NAMESPACE, NETWORK_POLICY, SUBNET
from workbench.policies.gateway import RELEASE
from workbench.policies.model import Options, Resource

_RULE: dict[str, Any] = {
    "name": "https",
    "priority": 100,
    "direction": "Inbound",
    "access": "Allow",
    "protocol": "Tcp",
    "sourceAddressPrefix": "Internet",
    "destinationAddressPrefix": "*",
    "destinationPortRange": "443",
}
_SUBNET = Resource(
    SUBNET,
    "snet-system",
    {
        "addressPrefix": "10.0.0.0/24",
        "networkSecurityGroup": {"id": "/resourceGroups/rg/providers/Microsoft.Network/networkSecurityGroups/nsg"},
        "natGateway": {"id": "/resourceGroups/rg/providers/Microsoft.Network/natGateways/ng"},
    },
)
_GATEWAY = Resource(RELEASE, "osmo", gateway_release({"service": {**PUBLIC, "httpsPort": 443}}))
_NODES = "urn:pulumi:s::p::azure-native:network:PublicIPAddress::nodes"


def _tasks(**rule: Any) -> dict[str, Any]:
    private = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "169.254.0.0/16", "168.63.129.16/32"]
    anywhere = {"to": [{"ipBlock": {"cidr": "0.0.0.0/0", "except": private}}], **rule}
    return {"podSelector": {}, "policyTypes": ["Ingress", "Egress"], "egress": [_DNS, anywhere]}


_DNS = {
    "to": [{"namespaceSelector": {}, "podSelector": {"matchLabels": {"k8s-app": "kube-dns"}}}],
    "ports": [{"port": 53, "protocol": "UDP"}],
}
_ALL_BUT_POSTGRES = [
    {"port": 1, "endPort": 5431, "protocol": "TCP"},
    {"port": 5433, "endPort": 65535, "protocol": "TCP"},
]
_DATABASE = (
    Resource(NAMESPACE, "workflows", {"metadata": {"name": "osmo-workflows"}}),
    Resource(SERVER, "database", {"network": {"publicNetworkAccess": "Enabled"}}),
    Resource(PUBLIC_ADDRESS, "nodes", {}, urn=_NODES),
    Resource(
        FIREWALL_RULE,
        "nodes",
        {"startIpAddress": "20.1.2.3", "endIpAddress": "20.1.2.3"},
        Options(depends_on=(_NODES,)),
    ),
)

EXAMPLES: dict[str, list[Example]] = {
    "needed-flows-open": [
        Example(
            GROUP,
            {"networkSecurityGroupName": "nsg", "securityRules": [_RULE]},
            {"securityRules": [{**_RULE, "destinationPortRange": "8443"}]},
            others=(_SUBNET, _GATEWAY),
        ),
        # Packets through a load balancer keep its address as their destination, which is not in the network.
        Example(
            GROUP,
            {"networkSecurityGroupName": "nsg", "securityRules": [_RULE]},
            {"securityRules": [{**_RULE, "destinationAddressPrefix": "VirtualNetwork"}]},
            others=(_SUBNET, _GATEWAY),
        ),
        Example(
            GROUP,
            {"networkSecurityGroupName": "nsg", "securityRules": [_RULE]},
            {"securityRules": [_RULE, {**_RULE, "name": "no", "priority": 90, "access": "Deny"}]},
            others=(_SUBNET, _GATEWAY),
        ),
    ],
    "forbidden-flows-closed": [
        Example(
            NETWORK_POLICY,
            {
                "metadata": {"name": "tasks", "namespace": "osmo-workflows"},
                "spec": _tasks(ports=_ALL_BUT_POSTGRES),
            },
            {"spec": _tasks()},
            others=_DATABASE,
        ),
        Example(
            GROUP,
            {"networkSecurityGroupName": "nsg", "securityRules": [_RULE]},
            {"securityRules": [{**_RULE, "sourceAddressPrefix": "20.0.0.0/8", "destinationPortRange": "20-25"}]},
            others=(_SUBNET,),
        ),
    ],
}
