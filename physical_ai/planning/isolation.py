"""NetworkPolicies of the platform's own namespaces, and the address ranges that these policies do not count as the
internet.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable
from ipaddress import IPv4Network, ip_address
from typing import Any
from urllib.parse import urlsplit

from parts.in_cluster_data.facts import in_cluster
from parts.in_cluster_data.network import task_egress, with_data_service_policies
from parts.kube_prometheus.names import NAMESPACE as METRICS_NAMESPACE
from physical_ai.catalog import osmo
from physical_ai.catalog.azure_addresses import AZURE_DNS, LINK_LOCAL
from physical_ai.catalog.osmo_service import UPSTREAMS
from physical_ai.planning import manifests
from physical_ai.planning.scraping import exporters
from physical_ai.settings.facts.addresses import ANY_ADDRESS, METADATA_ADDRESSES, PRIVATE, SHARED
from physical_ai.settings.facts.data_services import public_ports
from physical_ai.settings.facts.isolation import is_isolated
from physical_ai.settings.models.tree import Settings

NOT_INTERNET = (*map(str, PRIVATE), str(SHARED), LINK_LOCAL, f"{AZURE_DNS}/32")
"""Ranges that do not count as the internet: RFC 1918, RFC 6598, link-local addresses with the instance metadata
service, and Azure's DNS address.
"""
HTTPS, HTTP, LAST_PORT = 443, 80, 65535
_NAME = "kubernetes.io/metadata.name"
_DNS: dict[str, Any] = {
    "to": [
        {
            "namespaceSelector": {"matchLabels": {_NAME: "kube-system"}},
            "podSelector": {"matchLabels": {"k8s-app": "kube-dns"}},
        }
    ],
    "ports": [{"port": 53, "protocol": "UDP"}, {"port": 53, "protocol": "TCP"}],
}


def isolation_objects(settings: Settings, namespaces: Collection[str]) -> list[dict[str, Any]]:
    """NetworkPolicies for the isolated namespaces of a stack: for each namespace, one policy that denies all traffic;
    in addition, the policies in the files `isolation.yaml` of the core and of parts.
    """
    isolated = {each for each in namespaces if is_isolated(settings, each)}
    allowed = [each for each in manifests.isolation() if _namespace(each) in isolated]
    for each in allowed:
        _name_upstreams(each)
        _resolve_names(each)
        _leave_out(each, NOT_INTERNET)
        if _namespace(each) == METRICS_NAMESPACE:
            each["spec"]["egress"] += [*_targets(settings), *_mail(settings)]
    if in_cluster(settings) is not None:
        allowed = with_data_service_policies(allowed)
    denied = [default_deny(namespace) for namespace in dict.fromkeys(map(_namespace, allowed))]
    return [*denied, *allowed]


def _name_upstreams(policy: dict[str, Any]) -> None:
    """Replaces each empty list of values in the Pod selector of `policy` by the names of the Services behind OSMO's
    gateway, which are the values of the Pods' label `app`.
    """
    for expression in policy["spec"]["podSelector"].get("matchExpressions", ()):
        if not expression["values"]:
            expression["values"] = list(UPSTREAMS)


def default_deny(namespace: str) -> dict[str, Any]:
    """NetworkPolicy that denies all traffic of a namespace that no other policy allows."""
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": "default-deny", "namespace": namespace},
        "spec": {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]},
    }


def limit_osmo(policy: dict[str, Any], settings: Settings) -> None:
    """Completes a NetworkPolicy of manifests/osmo.yaml for a stack."""
    name, namespace = policy["metadata"]["name"], _namespace(policy)
    is_tasks = (namespace, name) == (osmo.WORKFLOWS_NAMESPACE, "tasks")
    _leave_out(policy, NOT_INTERNET if is_tasks else METADATA_ADDRESSES)
    if is_tasks:
        _leave_out_ports(policy, public_ports(settings))
        policy["spec"]["egress"] += [*_private_ways(settings), *task_egress(settings)]
    if (namespace, name) == (osmo.OPERATOR_NAMESPACE, "agents"):
        policy["spec"]["egress"] += _control_plane(settings)


def _private_ways(settings: Settings) -> list[dict[str, Any]]:
    """Egress rules for the private addresses that tasks may reach: the ranges that the settings list, and private
    endpoints of storage and registry.
    """
    found = [_to(block) for block in settings.isolation.task_ranges]
    if settings.private is not None:
        found.append(_to(settings.private.endpoint_subnet, HTTPS))
    address, port = _service(settings)
    if address is not None and not address.is_global:
        found.append(_to(IPv4Network(f"{address}/32"), port))
    return found


def _control_plane(settings: Settings) -> list[dict[str, Any]]:
    """Egress rule for the port of a control plane outside this cluster, at any address, since the control plane may
    have a private address.

    Empty for port 443, and for a control plane in this cluster, which Pods reach at its gateway.
    """
    _, port = _service(settings)
    return [] if port in (None, HTTPS) else [{"to": [_everywhere()], "ports": _tcp(port)}]


def _everywhere() -> dict[str, Any]:
    return {"ipBlock": {"cidr": ANY_ADDRESS, "except": list(METADATA_ADDRESSES)}}


def _service(settings: Settings) -> tuple[Any, int | None]:
    """IP address and port of the control plane in `osmo.serviceUrl`. The address is None if the URL has a host name.

    Both are None without a URL, and for a control plane in this cluster.
    """
    parts = urlsplit(settings.osmo.service_url or "")
    host = parts.hostname or ""
    if not host or host.endswith((".svc", ".svc.cluster.local")):
        return None, None
    port = parts.port or (HTTPS if parts.scheme == "https" else HTTP)
    try:
        return ip_address(host), port
    except ValueError:
        return None, port


def _to(block: IPv4Network, port: int | None = None) -> dict[str, Any]:
    peer: dict[str, Any] = {"to": [{"ipBlock": {"cidr": str(block)}}]}
    return peer if port is None else {**peer, "ports": _tcp(port)}


def _tcp(*ports: int | None) -> list[dict[str, Any]]:
    return [{"port": port, "protocol": "TCP"} for port in ports]


def _targets(settings: Settings) -> Iterable[dict[str, Any]]:
    """Egress rules for the targets of Prometheus: the exporters of the stack, and the Pods for which the charts have
    monitors.
    """
    ports: dict[str, set[int]] = {}
    for each in sorted(exporters(settings), key=lambda each: each.has_monitor):
        ports.setdefault(each.namespace, set()).add(each.number)
    for namespace, numbers in ports.items():
        yield {"to": [{"namespaceSelector": {"matchLabels": {_NAME: namespace}}}], "ports": _tcp(*sorted(numbers))}


def _mail(settings: Settings) -> Iterable[dict[str, Any]]:
    smtp = settings.monitoring.smtp
    if smtp is not None:
        yield {"to": [_everywhere()], "ports": _tcp(int(smtp.host.rpartition(":")[2]))}


def _resolve_names(policy: dict[str, Any]) -> None:
    if "Egress" in policy["spec"]["policyTypes"]:
        policy["spec"].setdefault("egress", []).insert(0, copy.deepcopy(_DNS))


def _leave_out(policy: dict[str, Any], addresses: Collection[str]) -> None:
    for rule in policy["spec"].get("egress", ()):
        for peer in rule.get("to", ()):
            if peer.get("ipBlock", {}).get("cidr") == ANY_ADDRESS:
                peer["ipBlock"].setdefault("except", list(addresses))


def _leave_out_ports(policy: dict[str, Any], closed: Collection[int]) -> None:
    """Removes the ports `closed` from the egress rule of `policy` that allows the whole internet.

    A task's packets leave with the nodes' public address, which the stack's public data services accept. Only their
    ports can be closed: the services' own addresses change, so a policy cannot name them.
    """
    for rule in policy["spec"]["egress"]:
        if closed and any(peer.get("ipBlock", {}).get("cidr") == ANY_ADDRESS for peer in rule.get("to", ())):
            rule["ports"] = [*_all_but(closed), {"port": 1, "endPort": LAST_PORT, "protocol": "UDP"}]


def _all_but(closed: Collection[int]) -> Iterable[dict[str, Any]]:
    first = 1
    for port in [*sorted(closed), LAST_PORT + 1]:
        if first < port:
            yield {"port": first, "endPort": port - 1, "protocol": "TCP"}
        first = port + 1


def _namespace(item: dict[str, Any]) -> str:
    return str(item["metadata"]["namespace"])
