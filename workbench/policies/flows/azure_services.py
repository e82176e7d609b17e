"""Azure services in a stack: the addresses at which they are reached, and the callers that their firewalls admit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.policies.data_services import PUBLIC_ACCESS
from workbench.policies.flows.verdicts import Verdict
from workbench.policies.model import Resource, known, known_map

SERVER, FIREWALL_RULE = "azure-native:dbforpostgresql:Server", "azure-native:dbforpostgresql:FirewallRule"
REDIS = "azure-native:redisenterprise:RedisEnterprise"
PUBLIC_ADDRESS, ENDPOINT = "azure-native:network:PublicIPAddress", "azure-native:network:PrivateEndpoint"
COLLECTION = "azure-native:monitor:DataCollectionEndpoint"
SCOPE, SCOPED = "azure-native:monitor:PrivateLinkScope", "azure-native:monitor:PrivateLinkScopedResource"
KINDS: Mapping[str, tuple[str, int]] = {
    SERVER: ("database", 5432),
    REDIS: ("cache", 10000),
    "azure-native:keyvault:Vault": ("vault", 443),
    "azure-native:storage:StorageAccount": ("storage", 443),
    "azure-native:containerregistry:Registry": ("registry", 443),
    COLLECTION: ("collection", 443),
    "azure-native:monitor:AzureMonitorWorkspace": ("metrics", 443),
    "azure-native:dashboard:Grafana": ("grafana", 443),
}
"""Name of an Azure service in `declared.yaml`, and the port on which the service listens, by resource type."""
TAGS: Mapping[str, str] = {
    "database": "AzureCloud",
    "cache": "AzureCloud",
    "vault": "AzureKeyVault",
    "storage": "Storage",
    "registry": "AzureContainerRegistry",
    "collection": "AzureMonitor",
    "metrics": "AzureMonitor",
    "grafana": "AzureCloud",
}
"""Service tag of each service's public endpoint (Azure docs, service-tags-overview); AzureCloud if the service has no
tag.
"""
HOSTS: Mapping[str, str] = {
    "database": "*.postgres.database.azure.com",
    "cache": "*.redis.azure.net",
    "vault": "*.vault.azure.net",
    "storage": "*.blob.core.windows.net",
    "registry": "*.azurecr.io",
    "collection": "*.ingest.monitor.azure.com",
    "metrics": "*.prometheus.monitor.azure.com",
    "grafana": "*.grafana.azure.com",
}
"""Pattern that the names of each service's public endpoints match (Azure docs, private-endpoint-dns)."""
_CLOSED: Mapping[str, str] = {
    **PUBLIC_ACCESS,
    REDIS: "publicNetworkAccess",
    COLLECTION: "networkAcls.publicNetworkAccess",
    "azure-native:monitor:AzureMonitorWorkspace": "publicNetworkAccess",
    "azure-native:dashboard:Grafana": "properties.publicNetworkAccess",
}
_RULES: Mapping[str, str] = {
    "azure-native:keyvault:Vault": "properties.networkAcls.defaultAction",
    "azure-native:storage:StorageAccount": "networkRuleSet.defaultAction",
    "azure-native:containerregistry:Registry": "networkRuleSet.defaultAction",
}
"""Property with the default action of a service's firewall, by resource type. With `Deny`, addresses that no firewall
rule names are refused; with `Allow` or without the property, they are admitted.
"""
AZURE_SERVICES = "0.0.0.0"  # noqa: S104 - no address to listen on
"""Start and end address of the firewall rule that admits all connections from within Azure (Azure docs, postgresql
concepts-firewall).
"""


@dataclass(frozen=True)
class Service:
    kind: str
    resource: Resource
    port: int
    firewall: tuple[Resource, ...]
    """Firewall rules that admit addresses. Only a database has them."""
    nodes: frozenset[str]
    """URNs of the public addresses with which nodes leave the network."""
    endpoints: tuple[Resource, ...]
    is_reached_elsewhere: bool = False
    """True if the service is in a private link scope of another stack, whose private endpoints are not known."""

    def lets_in_nodes(self) -> Verdict:
        """Verdict on connections from the nodes to the service's public endpoint."""
        public = self._public()
        if public.open is not True or self.resource.type != SERVER:
            return public
        for rule in self.firewall:
            start = known(rule.inputs.get("startIpAddress"))
            if start == AZURE_SERVICES or self.nodes & set(rule.options.depends_on):
                return Verdict(True, f"firewall rule {_name(rule, 'firewallRuleName')}", rule)
        return Verdict(False, f"firewall of {self.name}, which has no rule for the nodes", self.resource)

    def lets_in_anybody(self) -> Verdict:
        """Verdict on connections from any address on the internet to the service's public endpoint."""
        public = self._public()
        if public.open is not True or self.resource.type != SERVER:
            return public
        for rule in self.firewall:
            ends = (known(rule.inputs.get("startIpAddress")), known(rule.inputs.get("endIpAddress")))
            if ends[0] != ends[1] or AZURE_SERVICES in ends:
                return Verdict(True, f"firewall rule {_name(rule, 'firewallRuleName')}", rule)
        return Verdict(False, f"firewall of {self.name}", self.resource)

    @property
    def name(self) -> str:
        return self.resource.name

    def _public(self) -> Verdict:
        access = _at(self.resource.inputs, _CLOSED[self.resource.type])
        if access in ("Disabled", "SecuredByPerimeter"):
            if self.is_reached_elsewhere:
                by = f"the private link scope of {self.name}, which is not of the stack"
                return Verdict(None, by, self.resource)
            return Verdict(False, f"no public access to {self.name}", self.resource)
        default = _at(self.resource.inputs, _RULES.get(self.resource.type, ""))
        if default == "Deny":
            return Verdict(False, f"rules of {self.name}", self.resource)
        return Verdict(True, f"public access to {self.name}", self.resource)


def services(resources: Sequence[Resource]) -> Iterator[Service]:
    nodes = frozenset(each.urn for each in resources if each.type == PUBLIC_ADDRESS)
    firewall = tuple(each for each in resources if each.type == FIREWALL_RULE)
    endpoints = [each for each in resources if each.type == ENDPOINT]
    for each in resources:
        # Pulumi components may have the same type name, but they have no inputs.
        if each.type in KINDS and each.custom:
            kind, port = KINDS[each.type]
            scoped = [found for found in resources if found.type == SCOPED and each.urn in found.options.depends_on]
            own = tuple(found for found in endpoints if _leads_to(found, each, *scoped))
            elsewhere = bool(scoped) and not any(found.type == SCOPE and found.custom for found in resources)
            yield Service(kind, each, port, firewall if each.type == SERVER else (), nodes, own, elsewhere)


def _leads_to(endpoint: Resource, *services: Resource) -> bool:
    """True if a private endpoint leads to one of `services`: to the service itself, or to the private link scope that
    contains the service.
    """
    return any(each.urn in endpoint.options.depends_on for each in services)


def _name(resource: Resource, key: str) -> str:
    return str(known(resource.inputs.get(key), resource.name))


def _at(inputs: Mapping[str, Any], path: str) -> Any:
    value: Any = dict(inputs)
    for step in path.split(".") if path else ():
        value = known_map(value).get(step)
    return known(value) if path and not isinstance(value, dict) else None
