"""Rules about NAT gateways: what the region offers, and zones whose failure would cut off nodes of other zones."""

from __future__ import annotations

from collections.abc import Iterator

from physical_ai.catalog import regions
from physical_ai.catalog.api_versions import (
    NAT_GATEWAY,
    STANDARD_V2,
    api_versions,
    published_value,
    sends_standard_v2,
)
from physical_ai.settings.facts.outbound import NONZONAL, outbound_facts, outbound_form, subnet_zones
from physical_ai.settings.facts.private_network import uses_firewall
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.rules.finding import Rule, SettingFinding, Trust, error, warning

_FORM: Path = ("network", "outbound", "form")
_NEXT: Path = ("network", "outbound", "next")
_REGION = Rule("nat-region", "Azure docs, nat-gateway/nat-overview, 2026-04-14")
_VERSION = Rule(
    "nat-api-version", "physical_ai/catalog/data/api_versions.yaml: azure-rest-api-specs, Azure/azure-cli#31245"
)
_ONE_ZONE = Rule("nat-one-zone", "Azure docs, nat-gateway/nat-overview, availability zones")


def check_outbound(settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    """Findings of all rules about NAT gateways."""
    region = regions().get(settings.region)
    if region is None or not trust(_FORM, _NEXT) or uses_firewall(settings):
        return
    outbound = settings.network.outbound
    for path, form in ((_FORM, outbound.form), (_NEXT, outbound.next)):
        if form == "zone-redundant" and region.nat_standard_v2 == "no":
            problem = f"{region.name} has no NAT gateways of the SKU StandardV2."
            yield error(path, problem, "Write zonal, or leave it out.", rule=_REGION)
        elif form == "zone-redundant" and not sends_standard_v2():
            yield warning(
                path, _unpublished(), "Try it on a stack without users first, or leave it out.", rule=_VERSION
            )
        elif form == "zonal" and not region.zones:
            yield error(
                path, f"{region.name} has no availability zones.", "Write nonzonal, or leave it out.", rule=_REGION
            )
    zones = {("systemPool", "zones"), ("cpuPool", "zones"), *(("pools", name, "zones") for name in settings.pools)}
    if not trust(*zones):
        return
    if outbound.next == outbound_form(settings):
        problem = f"The stack has the form {outbound.next} already."
        yield error(_NEXT, problem, "Remove network.outbound.next.", others=(_FORM,))
    if outbound.next is None:
        yield from _one_zone(settings)


def _unpublished() -> str:
    sent = api_versions().types[NAT_GATEWAY].sent
    known = published_value(NAT_GATEWAY, "sku.name", STANDARD_V2)
    first = f", but first with {known.published}" if known is not None else ""
    return (
        f"{api_versions().sdk} sends NAT gateways with API version {sent}, which is not published with"
        f" StandardV2{first}. Azure may accept it (Azure/azure-cli#31245); nobody here has seen that, and the simulated"
        " Azure refuses it."
    )


def _one_zone(settings: Settings) -> Iterator[SettingFinding]:
    gateways = outbound_facts(settings).by_subnet
    several = [name for name, zones in subnet_zones(settings).items() if len(zones) > 1 and gateways[name] == NONZONAL]
    if several:
        problem = f"The nodes in subnet {', '.join(several)} are in several zones, and their NAT gateway is in one."
        fix = "Give the pools of a subnet one zone, or change to zone-redundant where Azure accepts it."
        yield warning(_FORM, problem, fix, rule=_ONE_ZONE)
