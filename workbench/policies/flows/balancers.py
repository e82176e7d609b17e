"""Services of type LoadBalancer in a stack: Services that the program declares, and OSMO's gateway, which its chart
creates.

Annotations: cloud-provider-azure docs, topics/loadbalancer; AKS docs, internal-lb and load-balancer-standard.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Any

from workbench.policies.flows.parties import INTERNET, Source
from workbench.policies.gateway import INTERNAL, RELEASE, gateway_section
from workbench.policies.model import Resource, known, known_list, known_map

SERVICE = "kubernetes:core/v1:Service"
_PREFIX = "service.beta.kubernetes.io/"
ALLOWED_TAGS = f"{_PREFIX}azure-allowed-service-tags"
ALLOWED_RANGES = (f"{_PREFIX}azure-allowed-ip-ranges", f"{_PREFIX}load-balancer-source-ranges")
NO_FLOATING_ADDRESS = f"{_PREFIX}azure-disable-load-balancer-floating-ip"
HTTP, HTTPS = 80, 443


@dataclass(frozen=True)
class Balancer:
    """Load balancer of a Kubernetes Service. `ports`: the ports that clients connect to."""

    resource: Resource
    name: str
    ports: tuple[int, ...]
    internal: bool
    sources: tuple[Source, ...]
    """Sources that the load balancer accepts. Empty for an internal load balancer without source ranges, which
    accepts all clients that reach the network.
    """
    floating: bool = True
    """True if the load balancer leaves a packet's target address and port as they are. False if it replaces them by a
    node's address and port.
    """


def balancers(resources: Sequence[Resource]) -> list[Balancer]:
    return [*_declared(resources), *_gateways(resources)]


def _declared(resources: Sequence[Resource]) -> Iterator[Balancer]:
    for each in resources:
        spec = known_map(each.inputs.get("spec"))
        if each.type != SERVICE or known(spec.get("type")) != "LoadBalancer":
            continue
        metadata = known_map(each.inputs.get("metadata"))
        ports = [known_map(port) for port in known_list(spec.get("ports"))]
        tcp = tuple(int(known(port.get("port"), 0)) for port in ports if known(port.get("protocol"), "TCP") == "TCP")
        ranges = [str(given) for given in known_list(spec.get("loadBalancerSourceRanges"))]
        yield _balancer(each, str(known(metadata.get("name"), each.name)), tcp, metadata, ranges)


def _gateways(resources: Sequence[Resource]) -> Iterator[Balancer]:
    """Load balancers of OSMO's gateway, from the values of OSMO's chart.

    The chart sets the type LoadBalancer by default, and has values for annotations but not for source ranges
    (NVIDIA/OSMO deployments/charts/service/templates/gateway.yaml, 6.3.1). Port 80 of the Service leads to the same
    listener as its HTTPS port.
    """
    for each in resources:
        envoy = gateway_section(each)[1] if each.type == RELEASE else {}
        service = known_map(envoy.get("service"))
        if not envoy or known(service.get("type"), "LoadBalancer") != "LoadBalancer":
            continue
        port = int(known(service.get("httpsPort"), HTTP))
        yield _balancer(each, "osmo-gateway", (port,), service, [])


def _balancer(
    resource: Resource, name: str, ports: tuple[int, ...], metadata: Mapping[str, Any], ranges: list[str]
) -> Balancer:
    notes = known_map(metadata.get("annotations"))
    internal = known(notes.get(INTERNAL)) == "true"
    listed = [*ranges, *(part for key in ALLOWED_RANGES for part in _split(notes.get(key)))]
    sources: list[Source] = [IPv4Network(each) for each in listed if ":" not in each]
    sources += _split(notes.get(ALLOWED_TAGS))
    if not sources and not internal:
        sources = [INTERNET]
    floating = known(notes.get(NO_FLOATING_ADDRESS)) != "true"
    return Balancer(resource, name, ports, internal, tuple(sources), floating)


def _split(value: Any) -> list[str]:
    return [part.strip() for part in str(known(value, "")).split(",") if part.strip()]
