"""Managed cluster rules on the network profile: plugin combinations and address ranges."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from ipaddress import IPv4Network
from typing import Any

from simulator.azure import clusters, ids
from simulator.azure.bodies import get, items, table
from simulator.azure.errors import Refusal
from simulator.azure.rules.base import Put, on_put, pools_of, refuse
from simulator.azure.rules.pool_subnets import prefixes

RESERVED = tuple(
    ipaddress.IPv4Network(text) for text in ("169.254.0.0/16", "172.30.0.0/16", "172.31.0.0/16", "192.0.2.0/24")
)
POD_BLOCK = 24
"""Prefix length of each overlay node's part of podCidr."""


def profile(put: Put) -> dict[str, Any]:
    """The network profile with AKS's defaults."""
    return clusters.effective(put.body, put.id)["properties"]["networkProfile"]


def network(text: Any) -> IPv4Network | None:
    try:
        return ipaddress.IPv4Network(str(text))
    except ValueError:
        return None


@on_put(
    "ManagedCluster",
    "net-plugin-mode",
    "net-mode-azure",
    "net-cilium-policy",
    "net-cilium-dataplane",
    "net-cilium-plugin",
    "net-policy-kubenet",
    "net-policy-none",
    "mc-acns",
)
def combinations(put: Put) -> Iterator[Refusal]:
    net, at = profile(put), "properties.networkProfile"
    plugin, mode, policy = net["networkPlugin"], net.get("networkPluginMode"), net["networkPolicy"]
    dataplane = net.get("networkDataplane")
    if mode == "overlay" and plugin != "azure":
        yield refuse(put, "net-plugin-mode", "networkPluginMode overlay needs networkPlugin azure.", at)
    if net.get("networkMode") and plugin != "azure":
        yield refuse(put, "net-mode-azure", "networkMode needs networkPlugin azure.", at)
    if policy == "cilium" and dataplane != "cilium":
        yield refuse(put, "net-cilium-policy", "networkPolicy cilium needs networkDataplane cilium.", at)
    if dataplane == "cilium" and policy in ("azure", "calico"):
        message = f"networkDataplane cilium cannot be used with networkPolicy {policy}."
        yield refuse(put, "net-cilium-dataplane", message, at)
    own_subnets = any(pool.spec.get("podSubnetID") or pool.spec.get("vnetSubnetID") for pool in pools_of(put))
    if dataplane == "cilium" and (plugin != "azure" or not (mode == "overlay" or own_subnets)):
        message = "networkDataplane cilium needs networkPlugin azure with overlay, or pools with subnets."
        yield refuse(put, "net-cilium-plugin", message, at)
    if plugin == "kubenet" and policy == "azure":
        yield refuse(put, "net-policy-kubenet", "networkPolicy azure is not supported with kubenet; use calico.", at)
    if plugin == "none" and policy != "none":
        yield refuse(put, "net-policy-none", "networkPolicy is not supported without a network plugin.", at)
    if get(net, "advancedNetworking.security.enabled") and dataplane != "cilium":
        yield refuse(put, "mc-acns", "advancedNetworking.security needs networkDataplane cilium.", at)


@on_put("ManagedCluster", "net-cidr-parse", "net-svc-size", "net-svc-reserved", "net-svc-pod")
def ranges(put: Put) -> Iterator[Refusal]:
    net, found = profile(put), dict[str, IPv4Network]()
    for name in ("serviceCidr", "podCidr"):
        if net.get(name) is None:
            continue
        target, parsed = f"properties.networkProfile.{name}", network(net[name])
        if parsed is None:
            message = f"'{net[name]}' is not a CIDR with all host bits zero."
            yield refuse(put, "net-cidr-parse", message, target)
            continue
        found[name] = parsed
        if any(parsed.overlaps(reserved) for reserved in RESERVED):
            message = f"{name} {parsed} overlaps a range AKS reserves: {', '.join(map(str, RESERVED))}."
            yield refuse(put, "net-svc-reserved", message, target)
    service, pods = found.get("serviceCidr"), found.get("podCidr")
    if service and service.prefixlen < 12:
        message = f"serviceCidr {service} must not be larger than a /12."
        yield refuse(put, "net-svc-size", message, "properties.networkProfile.serviceCidr")
    if service and pods and service.overlaps(pods):
        message = f"podCidr {pods} overlaps serviceCidr {service}."
        yield refuse(put, "net-svc-pod", message, "properties.networkProfile.podCidr")


@on_put("ManagedCluster", "net-dns-in-svc", "net-dns-first", "net-dns-broadcast")
def dns_address(put: Put) -> Iterator[Refusal]:
    net, target = profile(put), "properties.networkProfile.dnsServiceIP"
    service = network(net["serviceCidr"])
    try:
        address = ipaddress.IPv4Address(net["dnsServiceIP"])
    except ValueError:
        return
    if service is None:
        return
    if address not in service:
        yield refuse(put, "net-dns-in-svc", f"dnsServiceIP {address} is not inside serviceCidr {service}.", target)
    elif address == service.network_address + 1:
        message = f"dnsServiceIP {address} is the first address of serviceCidr, which the kubernetes Service has."
        yield refuse(put, "net-dns-first", message, target)
    elif address == service.broadcast_address:
        yield refuse(put, "net-dns-broadcast", f"dnsServiceIP {address} is the broadcast address.", target)


@on_put(("ManagedCluster", "AgentPool"), "net-svc-subnet", "net-pod-subnet")
def ranges_beside_subnets(put: Put) -> Iterator[Refusal]:
    """Refusals of Service or overlay Pod address ranges that overlap a subnet of the node network."""
    seen: set[str] = set()
    for pool in pools_of(put):
        network_id = ids.key(ids.parent(str(pool.spec.get("vnetSubnetID") or "//")))
        net = table(pool.cluster, "properties.networkProfile")
        if not network_id or network_id in seen:
            continue
        seen.add(network_id)
        for subnet in put.azure.children(network_id, "Subnet"):
            for text in prefixes(subnet):
                taken = network(text)
                for name, rule in (("serviceCidr", "net-svc-subnet"), ("podCidr", "net-pod-subnet")):
                    mine = network(net[name]) if net.get(name) else None
                    if mine and taken and mine.overlaps(taken):
                        message = f"{name} {mine} overlaps subnet {ids.name(subnet.id)} ({taken})."
                        yield refuse(put, rule, message, f"properties.networkProfile.{name}")


@on_put(("ManagedCluster", "AgentPool"), "net-pod-capacity")
def pod_blocks(put: Put) -> Iterator[Refusal]:
    """Refusals of a podCidr that is too small: overlay gives each node a /24, and the maximum node counts of all pools
    must fit.
    """
    declared = pools_of(put)
    if not declared:
        return
    net = table(declared[0].cluster, "properties.networkProfile")
    pods = network(net.get("podCidr")) if net.get("networkPluginMode") == "overlay" else None
    if pods is None:
        return
    # For the last pool of the request, all others are siblings, so checking it covers every pool.
    last = declared[-1]
    every = [last.spec, *last.siblings.values()]
    nodes = sum(int((s.get("maxCount") if s.get("enableAutoScaling") else s.get("count")) or 0) for s in every)
    blocks = 2 ** max(POD_BLOCK - pods.prefixlen, 0) if pods.prefixlen <= POD_BLOCK else 0
    if nodes > blocks:
        message = f"podCidr {pods} holds {blocks} nodes (a /{POD_BLOCK} each); the pools may grow to {nodes}."
        yield refuse(put, "net-pod-capacity", message, "properties.networkProfile.podCidr")


@on_put("ManagedCluster", "net-udr-lbprofile", "net-lb-basic", "net-lb-ports")
def load_balancer(put: Put) -> Iterator[Refusal]:
    net, at = profile(put), "properties.networkProfile"
    balancer = table(net, "loadBalancerProfile")
    if net["outboundType"] == "userDefinedRouting" and any(key.endswith(("IPs", "Prefixes")) for key in balancer):
        message = "loadBalancerProfile cannot be used with outboundType userDefinedRouting."
        yield refuse(put, "net-udr-lbprofile", message, f"{at}.loadBalancerProfile")
    if str(net["loadBalancerSku"]).lower() == "basic" and put.old is None:
        message = "loadBalancerSku basic is retired; use standard."
        yield refuse(put, "net-lb-basic", message, f"{at}.loadBalancerSku", "InvalidLoadBalancerSku")
    ports = balancer.get("allocatedOutboundPorts")
    if ports is not None and ports % 8:
        message = f"allocatedOutboundPorts {ports} is not a multiple of 8."
        code = "LoadBalancerProfileAllocatedOutboundPortsMustBeMultipleOfEight"
        yield refuse(put, "net-lb-ports", message, f"{at}.loadBalancerProfile.allocatedOutboundPorts", code)


@on_put("ManagedCluster")
def node_subnets_not_reserved(put: Put) -> Iterator[Refusal]:
    for profile_ in items(put.body, "properties.agentPoolProfiles"):
        subnet = put.azure.get(profile_.get("vnetSubnetID"), "Subnet")
        for text in prefixes(subnet) if subnet else ():
            taken = network(text)
            if taken and any(taken.overlaps(reserved) for reserved in RESERVED):
                message = f"Subnet {ids.name(subnet.id) if subnet else ''} ({taken}) overlaps a range AKS reserves."
                yield refuse(put, "net-svc-reserved", message, "properties.agentPoolProfiles")
