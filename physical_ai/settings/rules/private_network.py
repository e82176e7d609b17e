"""Rules about the network modes hybrid and private: required settings, access from outside, name resolution, and
outside address ranges.
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network

from physical_ai.catalog.private_link import api_server_zone
from physical_ai.settings.facts.network_access import private_api_server, private_endpoints
from physical_ai.settings.facts.private_network import (
    MOST_SUBZONE,
    PRIVATE,
    existing_api_zone,
    has_way_in,
    is_integrated,
    service_subnets,
)
from physical_ai.settings.layers.paths import Path, show
from physical_ai.settings.models.private_network import ApiServer, Hub, PrivateNetwork
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.rules.finding import Rule, SettingFinding, Trust, error, warning

_MODE: Path = ("network", "mode")
_RANGES: Path = ("cluster", "apiAccess", "authorizedIpRanges")
_API: Path = (*PRIVATE, "apiServer")
_HUB: Path = (*PRIVATE, "hub")
_VPN: Path = (*PRIVATE, "vpn")
_FIREWALL: Path = (*PRIVATE, "firewall")

_PRIVATE_CLUSTERS = "AKS docs, private-clusters"
WAY_IN = Rule("private-way-in", f"{_PRIVATE_CLUSTERS}, options for connecting")
HUB_DNS = Rule("private-hub-dns", f"{_PRIVATE_CLUSTERS}, hub and spoke with custom DNS")
AUTHORIZED = Rule("private-authorized-ranges", "AKS docs, api-server-authorized-ip-ranges, limitations")
INTEGRATED = Rule("private-vnet-integration", "AKS docs, api-server-vnet-integration")
VPN_DNS = Rule("private-vpn-dns", "Azure docs, dns-private-resolver-overview; what-is-ip-address-168-63-129-16")
GATEWAYS = Rule("private-two-gateways", "Azure docs, vpn-gateway-peering-gateway-transit")
SIZES = Rule("private-subnet-size", "Azure docs, dns-private-resolver-overview; vpn-gateway-about-vpn-gateway-settings")
ZONE_NAME = Rule("private-zone-name", f"{_PRIVATE_CLUSTERS}, configure a private DNS zone")
ROUTING = Rule("private-routing", "AKS docs, egress-udr")


def check_private_network(settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    """Findings of all rules about private networks."""
    given = settings.network.private
    if not trust(_MODE):
        return
    if not private_endpoints(settings):
        if given is not None and trust(PRIVATE):
            yield warning(PRIVATE, "It has no effect in the mode public.", "network.mode: hybrid, or private.")
        return
    if given is None:
        problem = f"The mode {settings.network.mode} needs a subnet for private endpoints."
        yield error(_MODE, problem, "Write network.private.endpointSubnet, a /28 or larger (docs/networks.md).")
        return
    if not trust(PRIVATE):
        return
    yield from _api_server(settings, given, trust)
    yield from _existing_zone(settings, given.api_server, trust)
    yield from _names(settings, given)
    yield from _sizes(settings)
    if given.hub is not None:
        yield from _hub_ranges(settings, given.hub, trust)
    if given.vpn is not None:
        yield from _client_range(settings, given, trust)
    yield from _firewall(settings, given, trust)


def _api_server(settings: Settings, given: PrivateNetwork, trust: Trust) -> Iterator[SettingFinding]:
    if not private_api_server(settings):
        if given.api_server != ApiServer():
            yield error(_API, "The API server is public in the mode hybrid.", "Remove it, or write mode: private.")
        return
    if not has_way_in(given):
        problem = "The API server would be unreachable, for the deployment too: the network has no way in."
        fix = "Add network.private.vpn or network.private.hub, or write runnersInside: true if deployments run inside."
        yield error(_MODE, problem, fix, others=(PRIVATE,), rule=WAY_IN)
    if settings.cluster.api_access.authorized_ip_ranges and trust(_RANGES):
        problem = "A private API server has no public address, so AKS refuses ranges that may reach it."
        yield error(_RANGES, problem, "authorizedIpRanges: []", others=(_MODE,), rule=AUTHORIZED)
    api, path = given.api_server, (*_API, "subnet")
    if api.form == "vnetIntegration" and api.subnet is None:
        yield error(_API, "vnetIntegration needs a subnet for the API server.", "Add subnet, a /28.", rule=INTEGRATED)
    if api.form == "privateEndpoint" and api.subnet is not None:
        yield error(path, "Only vnetIntegration has a subnet of its own.", "Remove it.", rule=INTEGRATED)


def _existing_zone(settings: Settings, api: ApiServer, trust: Trust) -> Iterator[SettingFinding]:
    zone, path = existing_api_zone(settings), (*_API, "dnsZone")
    if zone is None:
        if api.zone_role != ApiServer().zone_role and private_api_server(settings):
            problem = "It has no effect: only an existing zone has a role that is assigned outside the stack."
            yield warning((*_API, "zoneRole"), problem, "Remove it, or write the id of a zone to dnsZone.")
        return
    wanted, name = api_server_zone(settings.region, integrated=is_integrated(settings)), zone.rpartition("/")[2]
    label = name.removesuffix(f".{wanted}")
    fits = name == wanted or (name.endswith(f".{wanted}") and "." not in label and len(label) <= MOST_SUBZONE)
    if not fits and trust(("region",)):
        problem = f"AKS refuses the zone {name} for a cluster in {settings.region}."
        fix = f"A zone of the name {wanted}, or <label>.{wanted} with at most {MOST_SUBZONE} characters."
        yield error(path, problem, fix, others=(("region",), (*_API, "form")), rule=ZONE_NAME)


def _names(settings: Settings, given: PrivateNetwork) -> Iterator[SettingFinding]:
    hub, own_dns = given.hub, bool(given.hub and given.hub.dns_servers)
    if private_api_server(settings) and own_dns and given.api_server.dns_zone == "system":
        problem = "The hub's DNS servers can't resolve the API server's name: AKS links its own zone to this network"
        problem += " only, and the nodes would never join."
        yield error((*_API, "dnsZone"), problem, "dnsZone: stack, or none.", others=(_HUB,), rule=HUB_DNS)
    if given.vpn is not None and given.resolver is None and not own_dns:
        problem = "VPN clients can't resolve private names: Azure's DNS answers inside the network only."
        yield error(_VPN, problem, "Add network.private.resolver.subnet, a /28.", rule=VPN_DNS)
    if hub is not None and hub.dns_zones is not None and not own_dns:
        problem = "The zones of the hub are resolved by the hub's DNS servers, and none is named."
        yield error((*_HUB, "dnsZones"), problem, "Add network.private.hub.dnsServers.", rule=HUB_DNS)
    if hub is not None and hub.use_gateway and given.vpn is not None:
        problem = "A network with a gateway of its own can't use the hub's."
        yield error((*_HUB, "useGateway"), problem, "Remove it, or vpn.", others=(_VPN,), rule=GATEWAYS)


def _sizes(settings: Settings) -> Iterator[SettingFinding]:
    for subnet in service_subnets(settings):
        if subnet.cidr.prefixlen > subnet.largest_prefix:
            problem = f"{subnet.cidr} is too small for {subnet.name}."
            yield error(subnet.path, problem, f"Use a /{subnet.largest_prefix} or larger.", rule=SIZES)
        elif subnet.path[-2:] == ("resolver", "subnet") and subnet.cidr.prefixlen < 24:
            problem = f"{subnet.cidr} is too large for a resolver."
            yield error(subnet.path, problem, "Use a /28 to /24.", rule=SIZES)


def _own_ranges(settings: Settings, trust: Trust) -> dict[Path, IPv4Network]:
    network = settings.network
    found: dict[Path, IPv4Network] = {
        ("network", "addressSpace"): network.address_space,
        ("network", "podCidr"): network.pod_cidr,
        ("network", "serviceCidr"): network.service_cidr,
    }
    return {path: block for path, block in found.items() if trust(path)}


def _hub_ranges(settings: Settings, hub: Hub, trust: Trust) -> Iterator[SettingFinding]:
    for index, theirs in enumerate(hub.address_spaces):
        for path, own in _own_ranges(settings, trust).items():
            if theirs.overlaps(own):
                problem = f"{show(path)} {own} overlaps {theirs} of the hub, so that one of them can't be reached."
                if path[-1] == "addressSpace":
                    problem = f"{show(path)} {own} overlaps {theirs} of the hub, and Azure refuses the peering."
                place = (*_HUB, "addressSpaces", index)
                yield error(place, problem, "Choose another range for one of them.", others=(path,))


def _client_range(settings: Settings, given: PrivateNetwork, trust: Trust) -> Iterator[SettingFinding]:
    assert given.vpn is not None
    clients, path = given.vpn.client_range, (*_VPN, "clientRange")
    reached = _own_ranges(settings, trust)
    for index, block in enumerate(given.hub.address_spaces if given.hub else ()):
        reached[(*_HUB, "addressSpaces", index)] = block
    for other, block in reached.items():
        if clients.overlaps(block):
            problem = f"{show(path)} {clients} overlaps {show(other)} {block}."
            yield error(path, problem, "Choose a range that no network uses, like 192.168.200.0/24.", others=(other,))
    if not clients.is_private:
        yield error(path, f"{clients} is not private.", "Choose a range like 192.168.200.0/24.")


def _firewall(settings: Settings, given: PrivateNetwork, trust: Trust) -> Iterator[SettingFinding]:
    if given.firewall is None:
        return
    address = given.firewall.address
    reached = [settings.network.address_space, *(given.hub.address_spaces if given.hub else ())]
    if not any(address in block for block in reached):
        problem = f"{address} is neither in this network nor in the hub, so no packet would reach it."
        yield error((*_FIREWALL, "address"), problem, "Add network.private.hub, or correct it.", rule=ROUTING)
    outbound = settings.network.outbound
    if outbound.form is not None or outbound.next is not None:
        problem = "Nodes leave through the firewall, so there are no NAT gateways."
        yield error(("network", "outbound"), problem, "Remove it.", others=(_FIREWALL,), rule=ROUTING)
    ranges = settings.cluster.api_access.authorized_ip_ranges
    if not private_api_server(settings) and ranges and not given.firewall.public_addresses and trust(_RANGES):
        problem = "The API server accepts authorizedIpRanges only, and the nodes' address behind the firewall is"
        problem += " unknown: they would never join."
        fix = "List the firewall's addresses in publicAddresses."
        yield error((*_FIREWALL, "publicAddresses"), problem, fix, others=(_RANGES,), rule=ROUTING)
